//! Changes of types that users make.

use std::sync::Arc;

use crate::Type;
use crate::collation::Collation;
use crate::composite::Field;
use crate::schema::QualifiedName;
use crate::user_type::UserType;

/// A change of users' types.
#[derive(Clone, Debug, PartialEq)]
pub enum UserTypeChange {
    /// CREATE TYPE, CREATE DOMAIN.
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
    /// ALTER TYPE of a composite type: one change after the other, and whether CASCADE stands behind it.
    AlterFields {
        /// The type.
        ty: Arc<UserType>,
        /// What becomes of it.
        actions: Vec<(AlterUserType, bool)>,
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
    /// A composite type, with its fields.
    Composite(Vec<Field>),
    /// A range type.
    Range {
        /// What its ranges are of.
        subtype: Type,
        /// Object id of the operator class that orders them.
        operator_class: u32,
        /// The collation, where what they are of has one.
        collation: Option<Arc<Collation>>,
        /// Object id of the function that says how far two values are from each other; 0 for none.
        difference: u32,
        /// The name of its multirange type; the schema is decided.
        multirange: QualifiedName,
    },
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
        /// COLLATE.
        collation: Option<Arc<Collation>>,
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
    /// ADD ATTRIBUTE.
    AddField(Field),
    /// DROP ATTRIBUTE, by its place.
    DropField(usize),
    /// ALTER ATTRIBUTE … TYPE, by its place.
    RetypeField(usize, Type, Option<Arc<Collation>>),
    /// RENAME ATTRIBUTE, by its place.
    RenameField(usize, String),
    /// COMMENT ON COLUMN of an attribute, by its place.
    CommentField(usize, Option<String>),
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
            Self::Create {
                kind: NewUserType::Enum(_) | NewUserType::Composite(_) | NewUserType::Range { .. }, ..
            } => "CREATE TYPE",
            Self::Create { kind: NewUserType::Domain { .. }, .. } => "CREATE DOMAIN",
            Self::AlterFields { .. } => "ALTER TYPE",
            Self::Alter { tag, .. } | Self::Drop { tag, .. } => tag,
        }
    }
}

impl AlterUserType {
    /// What a change of attributes makes of a composite type; others do nothing here.
    pub fn apply(&self, ty: &mut UserType) {
        let crate::user_type::UserKind::Composite(composite) = &mut ty.kind else { return };
        let fields = &mut composite.fields;
        match self {
            Self::AddField(field) => fields.push(field.clone()),
            Self::DropField(at) => fields[*at].dropped = true,
            Self::RetypeField(at, to, collation) => {
                fields[*at].ty = to.clone();
                fields[*at].collation.clone_from(collation);
            }
            Self::RenameField(at, to) => fields[*at].name.clone_from(to),
            _ => {}
        }
    }
}
