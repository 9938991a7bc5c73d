//! Which queries cannot have more than one row.

use crate::ir::{Body, ColumnIndex, CompareOp, Expr, ExprKind, From, GroupBy, Query, RelId, Select, Value, walk};
use crate::schema::Relation;

/// True for a query that yields at most one row, whatever its tables hold.
pub(super) fn has_one_row(query: &Query) -> bool {
    let limited = |limit: &Expr| matches!(limit.kind, ExprKind::Literal(Value::Integer(0 | 1)));
    if query.limit.as_ref().is_some_and(limited) {
        return true;
    }
    match &query.body {
        Body::Select(select) => select.from.is_none() || is_aggregate(select) || is_lookup(select),
        Body::Values(rows) => rows.len() <= 1,
        Body::Set { .. } => false,
    }
}

/// Aggregates without GROUP BY make one row of all.
fn is_aggregate(select: &Select) -> bool {
    select.group_by == GroupBy::None && (select.having.is_some() || has_aggregate(select.from.as_ref(), &select.items))
}

/// HAVING alone says that all rows are one group.
pub(super) fn is_silent_group(select: &Select) -> bool {
    select.group_by == GroupBy::None && select.having.is_some() && !has_aggregate(select.from.as_ref(), &select.items)
}

/// The one row of such a group without an order, whose keys may be aggregates; `None` for another query.
pub(super) fn unsorted(query: &Query) -> Option<Query> {
    let silent = matches!(&query.body, Body::Select(select) if is_silent_group(select));
    (silent && !query.order_by.is_empty()).then(|| Query { order_by: Vec::new(), with_ties: false, ..query.clone() })
}

/// An aggregate of its own.
pub(super) fn has_aggregate(from: Option<&From>, items: &[Expr]) -> bool {
    let own = from.map(From::relations).unwrap_or_default();
    let mut found = false;
    for item in items {
        walk::expr(item, &mut |part| {
            found |= matches!(part.kind, ExprKind::Aggregate(_)) && !is_outer(part, &own);
            // What stands in a nested query is that query's.
            !found && part.kind.query().is_none()
        });
    }
    found
}

/// An aggregate that takes columns of other queries only is one of theirs.
fn is_outer(aggregate: &Expr, own: &[RelId]) -> bool {
    let (mut other, mut inner) = (false, false);
    walk::expr(aggregate, &mut |part| {
        if let ExprKind::Column(column) = &part.kind {
            *(if own.contains(&column.relation) { &mut inner } else { &mut other }) = true;
        }
        // What a query inside it names may be its own.
        inner |= part.kind.query().is_some();
        !inner
    });
    other && !inner
}

/// One table, of which a unique key is given.
fn is_lookup(select: &Select) -> bool {
    let Some(From::Relation { id, relation, .. }) = &select.from else { return false };
    let mut given: Vec<ColumnIndex> = Vec::new();
    let conditions: Vec<&Expr> = match select.filter.as_ref().map(|filter| (&filter.kind, filter)) {
        Some((ExprKind::And(members), _)) => members.iter().collect(),
        Some((_, filter)) => vec![filter],
        None => Vec::new(),
    };
    for condition in conditions {
        let ExprKind::Compare { op: CompareOp::Equal, left, right } = &condition.kind else { continue };
        for (side, other) in [(left, right), (right, left)] {
            let mut own = false;
            walk::expr(other, &mut |part| {
                own |= matches!(&part.kind, ExprKind::Column(column) if column.relation == *id);
                !own
            });
            if let ExprKind::Column(column) = &side.kind
                && column.relation == *id
                && !own
            {
                given.push(column.column);
            }
        }
    }
    given.contains(&ColumnIndex::RowIdentity) || has_key(relation, &given)
}

fn has_key(relation: &Relation, given: &[ColumnIndex]) -> bool {
    relation.indexes.iter().any(|index| {
        index.unique
            && index.predicate.is_none()
            && !index.columns.is_empty()
            && index.columns.iter().all(|column| column.is_some_and(|at| given.contains(&ColumnIndex::At(at))))
    })
}
