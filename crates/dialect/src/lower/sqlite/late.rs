//! Volatile functions in the select list of a sorted query: they are called when the rows stand in their order, and only
//! for those that LIMIT lets pass.

use super::apart::is_of_rows;
use super::variables;
use crate::Type;
use crate::functions::{Function, Volatility};
use crate::ir::{
    Body, ColumnIndex, ColumnRef, Distinct, Expr, ExprKind, From, OutputColumn, Query, RelId, Select, walk,
};

/// Relations that are made here have numbers beyond those of the binder, and of others who make some.
const SORTED: u32 = 5 << 29;
/// The bits of a query's own number that they keep: those of parts that others make are the last that there are.
const OWN: u32 = (1 << 28) - 1;

/// The query with its volatile functions around its sorted rows; `None` where that changes nothing.
pub(super) fn after_sorting(query: &Query) -> Option<Query> {
    let Body::Select(select) = &query.body else { return None };
    if query.order_by.is_empty() || query.with_ties || select.distinct != Distinct::All {
        return None;
    }
    let is_key = |at: usize| query.order_by.iter().any(|key| place_of(query, &key.expr) == Some(at));
    let is_late = |(at, item): (usize, &Expr)| is_volatile(item) && !is_key(at);
    if !select.items.iter().enumerate().any(is_late) {
        return None;
    }
    let of_rows = is_of_rows(select);
    let sorts_by_late = || {
        let places =
            query.order_by.iter().map(|key| place_of(query, &key.expr).map_or(&key.expr, |at| &select.items[at]));
        places.into_iter().any(is_volatile)
    };
    // MySQL sets variables before it sorts groups, and rows by what is set.
    if select.items.iter().any(variables::sets) && (!of_rows || sorts_by_late()) {
        return None;
    }
    let mut rows = query.clone();
    let own = select.from.as_ref().filter(|_| of_rows).map(From::relations).unwrap_or_default();
    let mut sorted = Sorted { id: RelId(SORTED | query.output.0 & OWN), parts: Vec::new(), own };
    let mut items = select.items.clone();
    let mut places = Vec::with_capacity(items.len());
    for (at, item) in items.iter_mut().enumerate() {
        places.push(sorted.parts.len());
        if is_late((at, item)) { sorted.split(item) } else { sorted.hold(item) }
    }
    for key in &mut rows.order_by {
        if let Some(at) = place_of(query, &key.expr) {
            set_place(&mut key.expr, places[at]);
        }
    }
    if sorted.parts.is_empty() {
        sorted.parts.push(Expr::integer(1, Type::Int4));
    }
    rows.columns =
        sorted.parts.iter().map(|part| OutputColumn { name: "value".to_owned(), ty: part.ty.clone() }).collect();
    rows.body = Body::Select(Box::new(Select { items: sorted.parts, ..(**select).clone() }));
    // Rows that OFFSET leaves out have their values computed, too; but MySQL sets no variable for them.
    let offset = if select.items.iter().any(variables::sets) { None } else { rows.offset.take() };
    let window = offset.map(|offset| (rows.limit.take(), Some(offset)));
    if rows.limit.is_none() && rows.offset.is_none() {
        rows.offset = barrier();
    }
    let computed = around(query, sorted.id, rows, items);
    Some(match window {
        None => computed,
        Some((limit, offset)) => {
            let id = RelId(SORTED | 1 << 28 | query.output.0 & OWN);
            let columns = query.columns.iter().enumerate().map(|(at, column)| Expr::column(id, at, column.ty.clone()));
            let all = around(query, id, Query { offset: barrier(), ..computed }, columns.collect());
            Query { limit, offset, ..all }
        }
    })
}

/// An OFFSET that keeps SQLite from making one query of two.
fn barrier() -> Option<Expr> {
    Some(Expr::integer(0, Type::Int8))
}

/// The query's columns, computed of rows.
fn around(query: &Query, id: RelId, rows: Query, items: Vec<Expr>) -> Query {
    let select = Select::of(items, Some(From::Query { id, query: Box::new(rows), lateral: false }));
    Query::of(Body::Select(Box::new(select)), query.columns.clone(), query.output)
}

/// True for a call that may return others the next time.
pub(super) fn may_change(function: &Function) -> bool {
    function.volatility == Volatility::Volatile || matches!(function.name, "stored function rows" | "stored function")
}

/// True for what is left where it is: aggregates, windows and subqueries are computed before the rows are sorted,
/// whatever stands in them.
pub(super) fn is_volatile(expr: &Expr) -> bool {
    let mut found = false;
    walk::expr(expr, &mut |part| {
        found |= matches!(part.kind, ExprKind::Call { function, .. } if may_change(function));
        // For each row it is another where variables are set.
        found |= part.kind.query().is_some() && variables::touches(part);
        let before = matches!(part.kind, ExprKind::Aggregate(_) | ExprKind::Window(_)) || part.kind.query().is_some();
        !found && !before
    });
    found
}

fn place_of(query: &Query, key: &Expr) -> Option<usize> {
    match &key.kind {
        ExprKind::Column(ColumnRef { relation, column: ColumnIndex::At(at) }) if *relation == query.output => Some(*at),
        ExprKind::Collate { arg, .. } => place_of(query, arg),
        _ => None,
    }
}

fn set_place(key: &mut Expr, place: usize) {
    match &mut key.kind {
        ExprKind::Column(column) => column.column = ColumnIndex::At(place),
        ExprKind::Collate { arg, .. } => set_place(arg, place),
        _ => {}
    }
}

/// What is computed before the rows are sorted.
struct Sorted {
    id: RelId,
    parts: Vec<Expr>,
    /// The relations whose rows are sorted; none where they are grouped.
    own: Vec<RelId>,
}

impl Sorted {
    /// Leaves the volatile calls, and what is made of them, where they are.
    fn split(&mut self, expr: &mut Expr) {
        match &expr.kind {
            ExprKind::Literal(_) | ExprKind::Param(_) | ExprKind::Rules(_) => {}
            ExprKind::Aggregate(_) | ExprKind::Window(_) => self.hold(expr),
            kind if kind.query().is_some() && (self.own.is_empty() || !variables::touches(expr)) => self.hold(expr),
            _ if !is_volatile(expr) => self.hold(expr),
            // What it names of the rows is all that is made before.
            kind if kind.query().is_some() => walk::expr_mut(expr, &mut |part| {
                if matches!(&part.kind, ExprKind::Column(column) if self.own.contains(&column.relation)) {
                    self.hold(part);
                }
                true
            }),
            _ => walk::parts_mut(expr, &mut |part| {
                self.split(part);
                false
            }),
        }
    }

    fn hold(&mut self, expr: &mut Expr) {
        let column = Expr::column(self.id, self.parts.len(), expr.ty.clone());
        self.parts.push(std::mem::replace(expr, column));
    }
}
