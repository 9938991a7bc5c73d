//! Columns of a relation, and what is said of their values.

use std::sync::Arc;

use super::QualifiedName;
use crate::Type;
use crate::collation::Collation;

/// A column of a relation.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Name as created.
    pub name: String,
    /// Declared type.
    pub ty: Type,
    /// NULL is refused.
    pub not_null: bool,
    /// What an INSERT that leaves the column out stores.
    pub default: Option<ColumnDefault>,
    /// The column is given numbers by itself.
    pub identity: Option<Identity>,
    /// Computed from other columns.
    pub generated: Option<Generated>,
    /// The column's value is the row's identity: whoever changes it makes another row of it.
    pub row_identity: bool,
    /// COLLATE; `None` is the type's own.
    pub collation: Option<Arc<Collation>>,
}

/// What a column is computed from.
#[derive(Clone, Debug, PartialEq)]
pub struct Generated {
    /// The expression's text, in the relation's language.
    pub text: String,
    /// The back end computes it; otherwise the engine does, for each row that it writes.
    pub native: bool,
}

impl Column {
    /// The engine computes the column for each row that it writes.
    pub fn is_computed(&self) -> bool {
        self.generated.as_ref().is_some_and(|generated| !generated.native)
    }
}

/// A default value.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnDefault {
    /// The expression's text, in the relation's language.
    pub text: String,
    /// The back end knows it too: a column that is left out gets it without our help.
    pub native: bool,
    /// It is the next number of this sequence, and nothing else.
    pub next_of: Option<QualifiedName>,
}

/// Numbers given by the database.
#[derive(Clone, Debug, PartialEq)]
pub struct Identity {
    /// `GENERATED ALWAYS`: an explicit value is refused.
    pub always: bool,
    /// Informix SERIAL: 0 (and NULL) ask for the next number too.
    pub zero_is_next: bool,
    /// The sequence behind it; `None` when the back end gives the numbers with the rows' identities.
    pub sequence: Option<QualifiedName>,
}

/// A check constraint.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// Constraint's object id.
    pub oid: u32,
    /// Constraint's name.
    pub name: String,
    /// The condition's text, in the relation's language.
    pub text: String,
    /// The back end enforces it; otherwise the engine does.
    pub native: bool,
    /// Every row holds it; NOT VALID otherwise.
    pub valid: bool,
    /// NO INHERIT.
    pub no_inherit: bool,
}

impl Check {
    /// It says how MySQL's door parts the table's rows, and no catalog tells of it as a check.
    pub fn is_of_partitions(&self) -> bool {
        self.name == crate::values::mysql::partitions::NAME
    }
}

impl Column {
    /// The sequence that numbers the column, as its identity or its default.
    pub fn numbering(&self) -> Option<&QualifiedName> {
        let identity = self.identity.as_ref().and_then(|identity| identity.sequence.as_ref());
        identity.or_else(|| self.default.as_ref()?.next_of.as_ref())
    }

    /// The column numbers itself: by an identity, or, as PostgreSQL's `serial` does, by a default that is a sequence's next number.
    /// To MySQL's clients either is AUTO_INCREMENT.
    pub fn numbers_itself(&self) -> bool {
        self.identity.is_some() || self.numbering().is_some()
    }
}
