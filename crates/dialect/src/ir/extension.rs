//! Changes of the extensions that a file has.

use std::sync::Arc;

use crate::extension::Installed;

/// A change of extensions.
#[derive(Clone, Debug, PartialEq)]
pub enum ExtensionChange {
    /// CREATE EXTENSION.
    Create {
        /// Its name: one of those that are here.
        name: &'static str,
        /// The schema that its members are to be in.
        namespace: String,
    },
    /// ALTER EXTENSION … SET SCHEMA.
    SetSchema {
        /// The extension.
        extension: Arc<Installed>,
        /// The schema.
        to: String,
    },
    /// COMMENT ON EXTENSION.
    Comment {
        /// The extension.
        extension: Arc<Installed>,
        /// The text; `None` removes it.
        text: Option<String>,
    },
    /// DROP EXTENSION.
    Drop {
        /// The extensions.
        extensions: Vec<Arc<Installed>>,
        /// CASCADE.
        cascade: bool,
    },
}

impl ExtensionChange {
    /// The completion tag.
    pub const fn tag(&self) -> &'static str {
        match self {
            Self::Create { .. } => "CREATE EXTENSION",
            Self::SetSchema { .. } => "ALTER EXTENSION",
            Self::Comment { .. } => "COMMENT",
            Self::Drop { .. } => "DROP EXTENSION",
        }
    }
}
