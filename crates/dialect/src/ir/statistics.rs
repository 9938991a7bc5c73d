//! Changes of the objects of CREATE STATISTICS.

use std::sync::Arc;

use crate::schema::{QualifiedName, Relation};
use crate::statistics::{Definition, StatisticsObject};

/// A change of objects of CREATE STATISTICS.
#[derive(Clone, Debug, PartialEq)]
pub enum StatisticsChange {
    /// CREATE STATISTICS.
    Create {
        /// Its name, the schema decided.
        name: QualifiedName,
        /// The table.
        table: Arc<Relation>,
        /// What it asks for.
        definition: Definition,
    },
    /// ALTER STATISTICS … SET STATISTICS.
    Alter {
        /// The object.
        object: Arc<StatisticsObject>,
        /// What it is now.
        definition: Definition,
    },
    /// ALTER STATISTICS … RENAME TO, SET SCHEMA.
    Move {
        /// The object.
        object: Arc<StatisticsObject>,
        /// Its new name, with its schema.
        to: QualifiedName,
    },
    /// COMMENT ON STATISTICS.
    Comment {
        /// The object.
        object: Arc<StatisticsObject>,
        /// The text; `None` removes it.
        text: Option<String>,
    },
    /// DROP STATISTICS.
    Drop(Vec<Arc<StatisticsObject>>),
}

impl StatisticsChange {
    /// The completion tag.
    pub const fn tag(&self) -> &'static str {
        match self {
            Self::Create { .. } => "CREATE STATISTICS",
            Self::Alter { .. } | Self::Move { .. } => "ALTER STATISTICS",
            Self::Comment { .. } => "COMMENT",
            Self::Drop(_) => "DROP STATISTICS",
        }
    }
}
