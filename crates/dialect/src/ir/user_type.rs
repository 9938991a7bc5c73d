//! Changes of types that users make.

use std::sync::Arc;

use crate::Type;
use crate::schema::QualifiedName;
use crate::user_type::UserType;

/// A change of users' types.
#[derive(Clone, Debug, PartialEq)]
pub enum UserTypeChange {
    /// CREATE TYPE … AS ENUM, CREATE DOMAIN.
    Create {
        /// The name; its schema is decided.
        name: QualifiedName,
        /// What it is.
        kind: NewUserType,
    },
    /// ALTER TYPE, ALTER DOMAIN, COMMENT ON TYPE.
    Alter {
        /// The type.
        ty: Arc<UserType>,
        /// What becomes of it.
        action: AlterUserType,
        /// The completion tag.
        tag: &'static str,
    },
    /// DROP TYPE, DROP DOMAIN.
    Drop {
        /// The types.
        types: Vec<Arc<UserType>>,
        /// CASCADE.
        cascade: bool,
        /// The completion tag.
        tag: &'static str,
    },
}

/// A user's type to be.
#[derive(Clone, Debug, PartialEq)]
pub enum NewUserType {
    /// An enum type, with its labels.
    Enum(Vec<String>),
    /// A domain.
    Domain {
        /// The type that it is over.
        base: Type,
        /// NOT NULL.
        not_null: bool,
        /// DEFAULT.
        default: Option<String>,
        /// Its CHECKs: names, which are decided, and conditions.
        checks: Vec<(String, String)>,
    },
}

/// A change of one user's type.
#[derive(Clone, Debug, PartialEq)]
pub enum AlterUserType {
    /// ADD VALUE.
    AddValue {
        /// The new label.
        label: String,
        /// Its place among those that are there.
        at: usize,
    },
    /// RENAME VALUE.
    RenameValue {
        /// The label's old text.
        from: String,
        /// Its new text.
        to: String,
    },
    /// RENAME TO.
    Rename(String),
    /// SET SCHEMA.
    SetSchema(String),
    /// COMMENT ON.
    Comment(Option<String>),
    /// SET DEFAULT, DROP DEFAULT.
    SetDefault(Option<String>),
    /// SET NOT NULL, DROP NOT NULL.
    SetNotNull(bool),
    /// ADD CONSTRAINT.
    AddCheck {
        /// Its name.
        name: String,
        /// The condition.
        text: String,
        /// Stored values are to hold it, too; NOT VALID otherwise.
        valid: bool,
    },
    /// DROP CONSTRAINT.
    DropCheck(String),
    /// VALIDATE CONSTRAINT.
    ValidateCheck(String),
    /// RENAME CONSTRAINT.
    RenameCheck {
        /// Its old name.
        from: String,
        /// Its new name.
        to: String,
    },
}

impl UserTypeChange {
    /// The completion tag.
    pub const fn tag(&self) -> &'static str {
        match self {
            Self::Create { kind: NewUserType::Enum(_), .. } => "CREATE TYPE",
            Self::Create { kind: NewUserType::Domain { .. }, .. } => "CREATE DOMAIN",
            Self::Alter { tag, .. } | Self::Drop { tag, .. } => tag,
        }
    }
}
