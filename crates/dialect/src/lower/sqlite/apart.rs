//! Subqueries of FROM whose columns are other values each time. PostgreSQL computes such a column once for each row of the
//! subquery, whoever reads it; SQLite would compute it wherever it is read, and not at all where nobody reads it.

use foldhash::{HashMap, HashMapExt as _};

use super::{late, variables};
use crate::ir::{
    Body, ColumnIndex, ColumnRef, Distinct, Expr, ExprKind, From, GroupBy, Query, RelId, Select, SetOp, walk,
};

/// How SQLite is kept from making one query of a subquery and the query that reads it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Fence {
    /// Conditions on other columns may go inside.
    Open,
    /// Nothing goes inside: a condition would have its column computed once more.
    Closed,
    /// All its rows are made before the others begin: variables are set in it.
    Made,
}

/// The subqueries in FROM of a query that must stay subqueries.
pub(super) fn fences(query: &Query) -> Vec<(RelId, Fence)> {
    let Body::Select(select) = &query.body else { return Vec::new() };
    let mut found: Vec<(RelId, Vec<usize>, bool)> = Vec::new();
    let mut made = Vec::new();
    // Rows that variables are set for come in the order of a subquery, where it has one.
    let in_order = query.order_by.is_empty() && select.items.iter().any(variables::sets);
    for from in select.from.iter() {
        each_subquery(from, &mut |id, inner| {
            if variables::sets_any(inner) {
                made.push((id, Fence::Made));
                return;
            }
            if in_order && !inner.order_by.is_empty() && inner.limit.is_none() {
                made.push((id, Fence::Closed));
                return;
            }
            let columns = changing_columns(inner);
            if !columns.is_empty() {
                found.push((id, columns, is_plain(inner)));
            }
        });
    }
    if found.is_empty() {
        return made;
    }
    let mut reads: HashMap<(RelId, usize), usize> = HashMap::new();
    walk::query(query, &mut |part| {
        if let ExprKind::Column(ColumnRef { relation, column }) = &part.kind
            && let Some((id, columns, _)) = found.iter().find(|(id, ..)| id == relation)
        {
            let read = |at: &usize| !matches!(column, ColumnIndex::At(one) if one != at);
            columns.iter().filter(|at| read(at)).for_each(|at| *reads.entry((*id, *at)).or_default() += 1);
        }
        true
    });
    let fence = |(id, columns, plain): (RelId, Vec<usize>, bool)| {
        let read = |at: &usize| reads.get(&(id, *at)).copied().unwrap_or_default();
        if columns.iter().all(|at| read(at) == 1) {
            return None;
        }
        let open = plain && columns.iter().all(|at| read(at) == 0);
        Some((id, if open { Fence::Open } else { Fence::Closed }))
    };
    found.into_iter().filter_map(fence).chain(made).collect()
}

/// The subqueries beside a table that is changed whose rows are made before the others begin.
pub(super) fn made_first(from: &From) -> Vec<(RelId, Fence)> {
    let mut made = Vec::new();
    each_subquery(from, &mut |id, inner| {
        if variables::sets_any(inner) {
            made.push((id, Fence::Made));
        }
    });
    made
}

/// True for a query with a call in it, at whatever depth, that may return other values the next time.
pub(super) fn may_change(query: &Query) -> bool {
    let mut found = false;
    walk::query(query, &mut |part| {
        found |= matches!(part.kind, ExprKind::Call { function, .. } if late::may_change(function));
        !found
    });
    found
}

fn each_subquery<'q>(from: &'q From, see: &mut dyn FnMut(RelId, &'q Query)) {
    match from {
        From::Query { id, query, .. } => see(*id, query),
        From::Join { left, right, .. } => {
            each_subquery(left, see);
            each_subquery(right, see);
        }
        _ => {}
    }
}

/// A query to which another can be added by UNION ALL.
fn is_plain(query: &Query) -> bool {
    let bare = query.ctes.is_empty() && query.order_by.is_empty() && query.locking.is_empty();
    let whole = query.limit.is_none() && query.offset.is_none() && !query.with_ties;
    let Body::Select(select) = &query.body else { return false };
    bare && whole && select.from.is_some() && is_of_rows(select)
}

/// The select list is computed for each row of FROM.
pub(super) fn is_of_rows(select: &Select) -> bool {
    select.distinct == Distinct::All
        && select.group_by == GroupBy::None
        && select.having.is_none()
        && !select
            .items
            .iter()
            .any(|item| has(item, &|part| matches!(part, ExprKind::Aggregate(_) | ExprKind::Window(_))))
}

/// The columns of a subquery that are other values each time, where SQLite may take the subquery apart.
fn changing_columns(query: &Query) -> Vec<usize> {
    (0..query.columns.len()).filter(|at| changes(query, *at)).collect()
}

fn changes(query: &Query, at: usize) -> bool {
    match &query.body {
        Body::Select(select) => {
            is_of_rows(select) && select.items.get(at).is_some_and(|item| changes_each_time(select, item))
        }
        Body::Set { op: SetOp::Union, all: true, left, right } => changes(left, at) || changes(right, at),
        Body::Set { .. } | Body::Values(_) => false,
    }
}

fn changes_each_time(select: &Select, item: &Expr) -> bool {
    has(item, &|part| match part {
        ExprKind::Call { function, .. } => late::may_change(function),
        ExprKind::Column(ColumnRef { relation, column: ColumnIndex::At(at) }) => {
            let mut found = false;
            for from in select.from.iter() {
                each_subquery(from, &mut |id, inner| found |= id == *relation && changes(inner, *at));
            }
            found
        }
        _ => false,
    })
}

/// Whether an expression, or a part of it outside of subqueries, is of some kind.
fn has(expr: &Expr, is: &dyn Fn(&ExprKind) -> bool) -> bool {
    let mut found = false;
    walk::expr(expr, &mut |part| {
        found |= is(&part.kind);
        !found && part.kind.query().is_none()
    });
    found
}
