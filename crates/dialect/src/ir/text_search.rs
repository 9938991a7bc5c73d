//! Statements about configurations and dictionaries of text search.

use std::sync::Arc;

use crate::schema::QualifiedName;
use crate::text_search::{Body, Kind, SearchObject, Verb};

/// A change of text search objects.
#[derive(Clone, Debug, PartialEq)]
pub enum SearchChange {
    /// CREATE.
    Create {
        /// What is made.
        kind: Kind,
        /// Its name, the schema decided.
        name: QualifiedName,
        /// What it is made of.
        body: Body,
    },
    /// ALTER … MAPPING, ALTER … (options).
    Alter {
        /// The object.
        object: Arc<SearchObject>,
        /// What it is made of from now on.
        body: Body,
    },
    /// RENAME TO, SET SCHEMA.
    Move {
        /// The object.
        object: Arc<SearchObject>,
        /// Its new name, with the schema.
        to: QualifiedName,
    },
    /// COMMENT ON.
    Comment {
        /// The object.
        object: Arc<SearchObject>,
        /// The text; `None` removes it.
        text: Option<String>,
    },
    /// DROP.
    Drop {
        /// What is dropped.
        kind: Kind,
        /// The objects.
        objects: Vec<Arc<SearchObject>>,
        /// CASCADE.
        cascade: bool,
    },
}

impl SearchChange {
    /// The completion tag.
    pub fn tag(&self) -> &'static str {
        match self {
            Self::Create { kind, .. } => kind.tag(Verb::Create),
            Self::Alter { object, .. } | Self::Move { object, .. } => object.kind().tag(Verb::Alter),
            Self::Comment { .. } => "COMMENT",
            Self::Drop { kind, .. } => kind.tag(Verb::Drop),
        }
    }
}
