//! Rows that an index finds, fetched in the order in which they lie.
//!
//! An index yields rows in its own order, and each of them lies somewhere else: a range of some ten thousand rows costs a walk
//! from the root and several misses of the machine's caches for each. Where all rows are wanted and their order matters to
//! nobody, their numbers are gathered first and sorted:
//! `FROM (SELECT rf_row_numbers(r0.rowid) AS c0 FROM t AS r0 WHERE k > …) AS found CROSS JOIN rf_groups(found.c0) AS
//! numbers CROSS JOIN t AS r0 ON r0.rowid = numbers.c0`. Whether SQLite would take the index at all only SQLite knows: a
//! program comes in both forms, and who runs it looks ([`super::Program::in_order`]).

use super::spec::{Gather, Spec};
use super::{Lowering, Source};
use crate::Result;
use crate::ir::{ColumnIndex, ColumnRef, CompareOp, Expr, ExprKind, From, RelId, Select};
use crate::optimise::asked;
use crate::schema::{Relation, RelationKind};

/// The name of the subquery whose row is the numbers of all rows.
pub const FOUND: &str = "found";

/// A table and the column by a range of which its rows would be found.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranged {
    /// The table.
    pub relation: RelId,
    /// The column.
    pub column: String,
}

impl Lowering<'_> {
    /// FROM and WHERE of one table whose rows are fetched in their order, if an index may find them by a range and what is
    /// gathered of them is the same in any order.
    pub(super) fn in_order(&mut self, from: &From, filter: &Expr, spec: &Spec) -> Result<Option<(String, String)>> {
        if !crate::optimise::passes().rewrite || !spec.decimals.is_empty() || !hangs_on_no_order(spec) {
            return Ok(None);
        }
        let From::Relation { id, relation, filter: None } = from else { return Ok(None) };
        if relation.kind != RelationKind::Table || relation.without_identity {
            return Ok(None);
        }
        let Some(Source::Table { qualifier, .. }) = self.sources.get(id) else { return Ok(None) };
        let qualifier = qualifier.clone();
        let conditions = asked(filter);
        let Some(at) = conditions.iter().find_map(|condition| ranged(condition, *id, relation)) else {
            return Ok(None);
        };
        self.ranged.push(Ranged { relation: *id, column: relation.columns[at].name.clone() });
        if !self.fetches_in_order {
            return Ok(None);
        }
        let (mut found, mut rest) = (Vec::new(), Vec::new());
        for condition in conditions {
            let sql = self.expr(condition)?.sql;
            let place = if ranged(condition, *id, relation) == Some(at) { &mut found } else { &mut rest };
            place.push(sql);
        }
        let table = self.table(relation);
        let found = found.join(" AND ");
        let filter = if rest.is_empty() { String::new() } else { format!(" WHERE {}", rest.join(" AND ")) };
        let from = format!(
            "(SELECT rf_row_numbers({qualifier}.rowid) AS c0 FROM {table} AS {qualifier} WHERE {found}) AS {FOUND} \
             CROSS JOIN rf_groups({FOUND}.c0) AS numbers CROSS JOIN {table} AS {qualifier} ON {qualifier}.rowid = numbers.c0"
        );
        Ok(Some((from, filter)))
    }
}

/// True for a query of one table whose rows an index may find by a range.
pub(super) fn may_be(select: &Select) -> bool {
    match (&select.from, &select.filter) {
        (Some(From::Relation { id, relation, filter: None }), Some(filter)) => {
            asked(filter).into_iter().any(|condition| ranged(condition, *id, relation).is_some())
        }
        _ => false,
    }
}

/// The column whose values lie in a range, by this condition, if an index begins with it.
fn ranged(condition: &Expr, table: RelId, relation: &Relation) -> Option<usize> {
    let ExprKind::Compare { op, left, right } = &condition.kind else { return None };
    if matches!(op, CompareOp::Equal | CompareOp::NotEqual) {
        return None;
    }
    let at = [(left, right), (right, left)].into_iter().find_map(|(side, other)| match &side.kind {
        ExprKind::Column(ColumnRef { relation, column: ColumnIndex::At(at) }) if *relation == table => {
            is_steady(other).then_some(*at)
        }
        _ => None,
    })?;
    let begins = |index: &crate::schema::Index| index.predicate.is_none() && index.columns.first() == Some(&Some(at));
    let other = !relation.columns[at].row_identity && relation.indexes.iter().any(begins);
    other.then_some(at)
}

/// A value that is the same for all rows.
fn is_steady(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Literal(_) | ExprKind::Param(_) => true,
        ExprKind::Cast { arg, .. } => is_steady(arg),
        _ => false,
    }
}

/// True for what comes to the same in any order of the rows: floats do not add up so.
fn hangs_on_no_order(spec: &Spec) -> bool {
    spec.aggregates.iter().all(|gathered| {
        matches!(
            gathered.what,
            Gather::Rows
                | Gather::Count(_)
                | Gather::Sum(_)
                | Gather::Average(_)
                | Gather::IntegerSum(_)
                | Gather::Least(..)
                | Gather::Greatest(..)
        )
    })
}
