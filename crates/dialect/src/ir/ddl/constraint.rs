//! What tables demand of their rows.

use super::{IndexKeyDefinition, Text};
use crate::schema::{KeyRules, QualifiedName};

/// A table constraint.
#[derive(Clone, Debug, PartialEq)]
pub struct Constraint {
    /// Its name; always decided (PostgreSQL's default names, such as `orders_pkey`).
    pub name: String,
    /// The user gave the name.
    pub named: bool,
    /// What it demands.
    pub kind: ConstraintKind,
    /// How it is kept.
    pub options: ConstraintOptions,
}

/// How a constraint is kept.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct ConstraintOptions {
    /// NOT VALID: rows that are there already are not looked at.
    pub not_valid: bool,
    /// NO INHERIT, of a check.
    pub no_inherit: bool,
}

/// What a constraint demands.
#[derive(Clone, Debug, PartialEq)]
pub enum ConstraintKind {
    /// PRIMARY KEY, columns by position.
    PrimaryKey(Vec<usize>),
    /// UNIQUE, columns by position.
    Unique(Vec<usize>),
    /// UNIQUE … DEFERRABLE, or a primary key of the kind: rows that share a key may stand beside each other until the
    /// statement, or the transaction, ends.
    DeferrableUnique {
        /// Columns by position.
        columns: Vec<usize>,
        /// INITIALLY DEFERRED.
        deferred: bool,
        /// PRIMARY KEY.
        primary: bool,
    },
    /// UNIQUE NULLS NOT DISTINCT, columns by position.
    UniqueNullsAlike(Vec<usize>),
    /// EXCLUDE.
    Exclusion(Box<Exclusion>),
    /// CHECK.
    Check(Text),
    /// FOREIGN KEY.
    ForeignKey(Box<ForeignKeyDefinition>),
}

/// FOREIGN KEY.
#[derive(Clone, Debug, PartialEq)]
pub struct ForeignKeyDefinition {
    /// Columns here, by position.
    pub columns: Vec<usize>,
    /// The table referenced (perhaps the one under definition).
    pub target: QualifiedName,
    /// The columns referenced, by name; decided.
    pub target_columns: Vec<String>,
    /// What it asks for, and when.
    pub rules: KeyRules,
    /// The engine keeps it, not the back end.
    pub by_engine: bool,
    /// The columns, by position, to which SET NULL and SET DEFAULT of ON DELETE are confined; empty is all.
    pub set_columns: Vec<usize>,
}

/// EXCLUDE.
#[derive(Clone, Debug, PartialEq)]
pub struct Exclusion {
    /// The keys.
    pub keys: Vec<IndexKeyDefinition>,
    /// WHERE.
    pub predicate: Option<Text>,
    /// How keys are compared, and when.
    pub rule: crate::exclusion::Exclusion,
    /// What the catalogs show of its index beyond its keys.
    pub properties: Vec<(String, String)>,
}

impl ConstraintKind {
    /// The columns of a primary key, by position.
    pub fn primary_key(&self) -> Option<&[usize]> {
        match self {
            Self::PrimaryKey(columns) | Self::DeferrableUnique { columns, primary: true, .. } => Some(columns),
            _ => None,
        }
    }

    /// The columns of a plain PRIMARY KEY or UNIQUE, by position.
    pub fn key(&self) -> Option<&[usize]> {
        match self {
            Self::PrimaryKey(columns) | Self::Unique(columns) => Some(columns),
            _ => None,
        }
    }

    /// True of two keys that ask the same of the same columns, be one of them the primary key or not.
    pub fn is_same_key(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::UniqueNullsAlike(columns), Self::UniqueNullsAlike(others)) => columns == others,
            (
                Self::DeferrableUnique { columns, deferred, .. },
                Self::DeferrableUnique { columns: others, deferred: waits, .. },
            ) => (columns, deferred) == (others, waits),
            _ => self.key().is_some() && self.key() == other.key(),
        }
    }

    /// A key as another, whose index this is, of these columns.
    pub fn of_index(index: &crate::schema::Index, columns: Vec<usize>) -> Self {
        match index.deferrability() {
            Some(deferred) => Self::DeferrableUnique { columns, deferred, primary: index.primary },
            None if index.primary => Self::PrimaryKey(columns),
            None if index.nulls_alike => Self::UniqueNullsAlike(columns),
            None => Self::Unique(columns),
        }
    }

    /// A foreign key as another, of these columns.
    pub fn of_key(key: &crate::schema::ForeignKey, columns: Vec<usize>) -> Self {
        let place = |at: &usize| key.columns.iter().position(|own| own == at).map(|place| columns[place]);
        Self::ForeignKey(Box::new(ForeignKeyDefinition {
            by_engine: key.by_engine,
            set_columns: key.set_columns.iter().filter_map(place).collect(),
            columns,
            target: key.target.clone(),
            target_columns: key.target_columns.clone(),
            rules: key.rules,
        }))
    }
}
