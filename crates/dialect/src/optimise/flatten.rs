//! Groups over a subquery that does nothing but compute.
//!
//! `SELECT k, sum(v) FROM (SELECT … AS k, price * rate AS v FROM …) GROUP BY k` is `… sum(price * rate) …`: an aggregate then
//! sees the expression whole.

use crate::Type;
use crate::functions::Volatility;
use crate::ir::{Body, ColumnIndex, Distinct, Expr, ExprKind, From, GroupBy, Query, RelId, Select, SortKey, walk};

/// Puts the tables of a subquery in its place where groups are made of its rows alone.
pub(super) fn groups(select: &mut Select, order_by: &mut [SortKey]) {
    if !matches!(select.group_by, GroupBy::Keys(_)) || !matches!(select.distinct, Distinct::All | Distinct::Rows) {
        return;
    }
    let Some(From::Query { id, query, lateral: false }) = &select.from else { return };
    if !is_plain(query) {
        return;
    }
    let id = *id;
    let Some(From::Query { query, .. }) = select.from.take() else { return };
    let Body::Select(inner) = query.body else { return };
    let Select { items, from, filter, .. } = *inner;
    let mut put = |part: &mut Expr| put_in_place(part, id, &items);
    let keys = match &mut select.group_by {
        GroupBy::Keys(keys) => keys.as_mut_slice(),
        _ => &mut [],
    };
    let sorted = order_by.iter_mut().map(|key| &mut key.expr);
    for expr in select.items.iter_mut().chain(keys).chain(&mut select.having).chain(&mut select.filter).chain(sorted) {
        walk::expr_mut(expr, &mut put);
    }
    select.from = from;
    select.filter = match (filter, select.filter.take()) {
        (Some(inner), Some(outer)) => Some(Expr::new(ExprKind::And(vec![inner, outer]), Type::Bool)),
        (inner, outer) => inner.or(outer),
    };
}

fn put_in_place(part: &mut Expr, id: RelId, items: &[Expr]) -> bool {
    if let ExprKind::Column(column) = &part.kind
        && column.relation == id
        && let ColumnIndex::At(at) = column.column
        && let Some(item) = items.get(at)
    {
        *part = item.clone();
        return false;
    }
    true
}

/// A subquery of which every row is one of its tables' rows.
fn is_plain(query: &Query) -> bool {
    let bare = query.ctes.is_empty()
        && query.order_by.is_empty()
        && query.limit.is_none()
        && query.offset.is_none()
        && query.locking.is_empty();
    let Body::Select(select) = &query.body else { return false };
    let Some(from) = &select.from else { return false };
    let own = from.relations();
    bare && select.distinct == Distinct::All
        && select.group_by == GroupBy::None
        && select.having.is_none()
        && select.items.iter().zip(&query.columns).all(|(item, column)| item.ty == column.ty && computes(item, &own))
}

/// An expression over these relations that may be computed as often as it is named.
fn computes(item: &Expr, own: &[RelId]) -> bool {
    let mut only = true;
    walk::expr(item, &mut |part| {
        only &= match &part.kind {
            // An aggregate of another query's columns alone would be that query's.
            ExprKind::Column(column) => own.contains(&column.relation),
            ExprKind::Aggregate(_) | ExprKind::Window(_) | ExprKind::Checked { .. } | ExprKind::Default => false,
            ExprKind::Call { function, .. } => function.volatility != Volatility::Volatile,
            kind => kind.query().is_none(),
        };
        only
    });
    only
}
