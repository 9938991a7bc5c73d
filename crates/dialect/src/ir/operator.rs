//! Changes of operators and casts.

use std::sync::Arc;

use crate::schema::QualifiedName;
use crate::user_cast::{self, UserCast};
use crate::user_operator::{Definition, UserOperator};

/// Another operator that CREATE OPERATOR names.
#[derive(Clone, Debug, PartialEq)]
pub enum OtherOperator {
    /// It is there.
    Known(u32),
    /// It is the operator itself.
    Itself,
    /// It is to come: a place is kept for it.
    Shell {
        /// Its name, the schema decided.
        name: QualifiedName,
        /// Object id of its left operand's type, or 0.
        left: u32,
        /// Object id of its right operand's type.
        right: u32,
    },
}

/// A change of an operator.
#[derive(Clone, Debug, PartialEq)]
pub enum OperatorChange {
    /// CREATE OPERATOR.
    Create {
        /// Its name, the schema decided.
        name: QualifiedName,
        /// What it is, without its kin.
        definition: Definition,
        /// Its commutator.
        commutator: Option<OtherOperator>,
        /// Its negator.
        negator: Option<OtherOperator>,
        /// The place that was kept for it.
        shell: Option<u32>,
    },
    /// ALTER OPERATOR … SET.
    Alter {
        /// The operator.
        operator: Arc<UserOperator>,
        /// What it is now.
        definition: Definition,
    },
    /// ALTER OPERATOR … SET SCHEMA.
    Move {
        /// The operator.
        operator: Arc<UserOperator>,
        /// Its new schema.
        to: String,
    },
    /// COMMENT ON OPERATOR.
    Comment {
        /// The operator.
        operator: Arc<UserOperator>,
        /// The text; `None` removes it.
        text: Option<String>,
    },
    /// DROP OPERATOR.
    Drop {
        /// The operators.
        operators: Vec<Arc<UserOperator>>,
        /// CASCADE.
        cascade: bool,
    },
}

impl OperatorChange {
    /// The completion tag.
    pub const fn tag(&self) -> &'static str {
        match self {
            Self::Create { .. } => "CREATE OPERATOR",
            Self::Alter { .. } | Self::Move { .. } => "ALTER OPERATOR",
            Self::Comment { .. } => "COMMENT",
            Self::Drop { .. } => "DROP OPERATOR",
        }
    }
}

/// A change of a cast.
#[derive(Clone, Debug, PartialEq)]
pub enum CastChange {
    /// CREATE CAST.
    Create(user_cast::Definition),
    /// COMMENT ON CAST.
    Comment {
        /// The cast.
        cast: UserCast,
        /// The text; `None` removes it.
        text: Option<String>,
    },
    /// DROP CAST.
    Drop(UserCast),
}

impl CastChange {
    /// The completion tag.
    pub const fn tag(&self) -> &'static str {
        match self {
            Self::Create(_) => "CREATE CAST",
            Self::Comment { .. } => "COMMENT",
            Self::Drop(_) => "DROP CAST",
        }
    }

    /// Object ids of the types that it is about.
    pub const fn types(&self) -> (u32, u32) {
        match self {
            Self::Create(definition) => (definition.source, definition.target),
            Self::Comment { cast, .. } | Self::Drop(cast) => (cast.definition.source, cast.definition.target),
        }
    }
}
