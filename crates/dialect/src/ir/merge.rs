//! MERGE as it is said: rows of a source beside those of a table, and what becomes of each.

use std::sync::Arc;

use super::{Cte, Dml, Expr, Family, From, RelId};
use crate::Language;
use crate::schema::Relation;

/// MERGE.
///
/// Each row of the source meets the rows of the target for which the condition is true, or none. The first clause of its
/// kind whose own condition is true says what becomes of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Merge {
    /// WITH.
    pub ctes: Vec<Cte>,
    /// The table that is changed.
    pub target: Arc<Relation>,
    /// Its rows in expressions.
    pub id: RelId,
    /// The tables that inherit from it, where they are changed with it.
    pub family: Option<Box<Family>>,
    /// Which of its rows the statement may see; `None` is all.
    pub visible: Option<Expr>,
    /// What is merged into it.
    pub source: From,
    /// ON.
    pub on: Option<Expr>,
    /// WHEN …, in their order.
    pub clauses: Vec<MergeClause>,
    /// In whose words a row that is to be changed twice is refused.
    pub language: Language,
}

/// WHEN [NOT] MATCHED.
#[derive(Clone, Debug, PartialEq)]
pub struct MergeClause {
    /// It is about rows of the source that meet a row of the target.
    pub matched: bool,
    /// AND ….
    pub condition: Option<Expr>,
    /// UPDATE or DELETE of the row that is met, without a filter; INSERT of one row. `None` is DO NOTHING.
    pub change: Option<Dml>,
}

impl Merge {
    /// What its clauses do.
    pub fn changes(&self) -> impl Iterator<Item = &Dml> {
        self.clauses.iter().filter_map(|clause| clause.change.as_ref())
    }
}
