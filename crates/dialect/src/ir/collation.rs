//! Changes of the collations that users make.

use std::sync::Arc;

use crate::collation::Collation;
use crate::schema::QualifiedName;

/// A change of collations.
#[derive(Clone, Debug, PartialEq)]
pub enum CollationChange {
    /// CREATE COLLATION.
    Create {
        /// Its name, the schema decided.
        name: QualifiedName,
        /// What it is, see [`Collation::from_definition`].
        definition: String,
    },
    /// ALTER COLLATION … RENAME TO.
    Rename {
        /// The collation.
        collation: Arc<Collation>,
        /// Its new name.
        to: String,
    },
    /// ALTER COLLATION … SET SCHEMA.
    SetSchema {
        /// The collation.
        collation: Arc<Collation>,
        /// The schema.
        to: String,
    },
    /// COMMENT ON COLLATION.
    Comment {
        /// The collation.
        collation: Arc<Collation>,
        /// The text; `None` removes it.
        text: Option<String>,
    },
    /// DROP COLLATION.
    Drop {
        /// The collations.
        collations: Vec<Arc<Collation>>,
        /// CASCADE.
        cascade: bool,
    },
}

impl CollationChange {
    /// The completion tag.
    pub const fn tag(&self) -> &'static str {
        match self {
            Self::Create { .. } => "CREATE COLLATION",
            Self::Rename { .. } | Self::SetSchema { .. } => "ALTER COLLATION",
            Self::Comment { .. } => "COMMENT",
            Self::Drop { .. } => "DROP COLLATION",
        }
    }
}
