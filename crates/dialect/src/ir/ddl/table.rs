//! Tables to be, their columns and partitions.

use std::sync::Arc;

use super::super::expr::Expr;
use super::super::query::Query;
use super::{Constraint, CreateSequence, Text};
use crate::collation::Collation;
use crate::schema::{QualifiedName, Relation};
use crate::{Condition, Language, Type};

/// CREATE TABLE.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateTable {
    /// Name; the schema is decided.
    pub name: QualifiedName,
    /// CREATE TEMP TABLE.
    pub temporary: bool,
    /// ON COMMIT.
    pub on_commit: OnCommit,
    /// IF NOT EXISTS.
    pub if_not_exists: bool,
    /// The language of the texts below.
    pub language: Language,
    /// Columns.
    pub columns: Vec<ColumnDefinition>,
    /// Constraints, those written at a column included.
    pub constraints: Vec<Constraint>,
    /// Facts that change no row, each as part (a column's name, or nothing), name and value.
    pub properties: Vec<(String, String, String)>,
    /// Tables of which it takes more than columns and constraints.
    pub likes: Vec<Like>,
    /// Tables that it inherits from.
    pub parents: Vec<Arc<Relation>>,
    /// It is a partition of its one parent.
    pub partition: Option<Box<NewPartition>>,
}

/// A table becomes a partition of another.
#[derive(Clone, Debug, PartialEq)]
pub struct NewPartition {
    /// The partitioned table.
    pub parent: Arc<Relation>,
    /// Which of its rows the partition is to have.
    pub bound: BoundExprs,
    /// Where the values stand in the statement.
    pub places: Vec<Option<u32>>,
}

/// A bound whose values have to be computed; they have the types of the keys.
#[derive(Clone, Debug, PartialEq)]
pub enum BoundExprs {
    /// DEFAULT.
    Default,
    /// WITH (MODULUS, REMAINDER).
    Hash(u32, u32),
    /// IN.
    List(Vec<Expr>),
    /// FROM … TO.
    Range(Vec<EdgeExpr>, Vec<EdgeExpr>),
}

/// A value of an edge of a range.
#[derive(Clone, Debug, PartialEq)]
pub enum EdgeExpr {
    /// MINVALUE.
    Min,
    /// A value.
    Value(Expr),
    /// MAXVALUE.
    Max,
}

/// ALTER TABLE … ATTACH PARTITION, DETACH PARTITION.
#[derive(Clone, Debug, PartialEq)]
pub struct ChangePartition {
    /// The partitioned table.
    pub parent: Arc<Relation>,
    /// The partition, that is or is to be.
    pub partition: Arc<Relation>,
    /// Which rows it is to have; `None` takes it away.
    pub attached: Option<Box<NewPartition>>,
    /// CONCURRENTLY: what is taken away keeps its rows by a check.
    pub concurrently: bool,
}

/// LIKE: what a new table takes of another beyond the columns and constraints that its definition spells out.
#[derive(Clone, Debug, PartialEq)]
pub struct Like {
    /// The other table.
    pub source: Arc<Relation>,
    /// INCLUDING COMMENTS.
    pub comments: bool,
    /// INCLUDING INDEXES: those that no constraint stands for.
    pub indexes: bool,
    /// Facts about columns that go with them, by their names.
    pub properties: Vec<&'static str>,
}

/// What becomes of a temporary table when a transaction commits.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum OnCommit {
    /// It stays as it is.
    #[default]
    PreserveRows,
    /// It is emptied.
    DeleteRows,
    /// It goes.
    Drop,
}

/// A column to be.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnDefinition {
    /// Name.
    pub name: String,
    /// Type.
    pub ty: Type,
    /// NOT NULL.
    pub not_null: bool,
    /// DEFAULT.
    pub default: Option<Text>,
    /// Informix's SERIAL, GENERATED AS IDENTITY.
    pub identity: Option<IdentityDefinition>,
    /// The sequence that is made for the column: PostgreSQL's serial, and behind an identity. A name without schema is
    /// the user's (`SEQUENCE NAME`), an empty one is to be found.
    pub sequence: Option<CreateSequence>,
    /// GENERATED ALWAYS AS (…) STORED.
    pub generated: Option<Text>,
    /// COLLATE; `None` is the type's own.
    pub collation: Option<Arc<Collation>>,
}

impl ColumnDefinition {
    /// A column of which nothing but its type is asked.
    pub fn plain(name: impl Into<String>, ty: Type) -> Self {
        Self {
            name: name.into(),
            ty,
            not_null: false,
            default: None,
            identity: None,
            sequence: None,
            generated: None,
            collation: None,
        }
    }

    /// The columns of a table that a query's rows make; the first of them get the names that are given, the query's, too.
    ///
    /// # Errors
    /// `42601` for too many names, `42701` for two columns of a name.
    pub fn of_query(query: &mut Query, names: &[String]) -> crate::Result<Vec<Self>> {
        if names.len() > query.columns.len() {
            return Err(crate::Error::new(Condition::SyntaxError, "too many column names were specified"));
        }
        for (column, name) in query.columns.iter_mut().zip(names) {
            column.name.clone_from(name);
        }
        let mut columns: Vec<Self> = Vec::with_capacity(query.columns.len());
        for column in &query.columns {
            if columns.iter().any(|known| known.name == column.name) {
                let message = format!("column \"{}\" specified more than once", column.name);
                return Err(crate::Error::new(Condition::DuplicateColumn, message));
            }
            columns.push(Self::plain(&column.name, column.ty.clone()));
        }
        Ok(columns)
    }
}

/// Numbers to be given.
#[derive(Clone, Debug, PartialEq)]
pub struct IdentityDefinition {
    /// GENERATED ALWAYS.
    pub always: bool,
    /// Informix SERIAL rules.
    pub zero_is_next: bool,
    /// The first number.
    pub start: i64,
    /// The step.
    pub increment: i64,
}
