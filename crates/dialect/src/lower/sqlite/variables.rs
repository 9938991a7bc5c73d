//! MySQL's variables of a user, set while the rows of a statement are made (`@n := @n + 1`): each is set once for each row,
//! in the order in which the rows come.
//!
//! A subquery of FROM that sets some has all its rows before the others begin. SQLite works a subquery of an expression out
//! once where it names no column around it; one that reads or sets variables is another for each row, and is tied to
//! the row.

use super::apart::is_of_rows;
use crate::functions::Function;
use crate::ir::{Body, ColumnIndex, ColumnRef, Dml, Expr, ExprKind, From, Query, RelId, Select, walk};
use crate::{Error, Result, Type};

/// The function that sets one, in SQLite.
const SET: &str = "rf_mysql_set_user_variable(";

/// True for the function that sets a variable.
fn sets_one(function: &Function) -> bool {
    function.name == "mysql_set_user_variable"
}

fn touches_one(function: &Function) -> bool {
    sets_one(function) || function.name.starts_with("mysql_user_")
}

/// Whether a call of such a function stands in it, subqueries included.
fn calls(expr: &Expr, is: fn(&Function) -> bool) -> bool {
    walk::any(expr, |part| matches!(part.kind, ExprKind::Call { function, .. } if is(function)))
}

/// True for an expression that sets a variable.
pub(super) fn sets(expr: &Expr) -> bool {
    calls(expr, sets_one)
}

fn reads(expr: &Expr) -> bool {
    calls(expr, |function| touches_one(function) && !sets_one(function))
}

/// True for a query that sets a variable, at whatever depth.
pub(super) fn sets_any(query: &Query) -> bool {
    let mut found = false;
    walk::query(query, &mut |part| {
        found |= matches!(part.kind, ExprKind::Call { function, .. } if sets_one(function));
        !found
    });
    found
}

/// True for an expression that reads or sets variables, in a subquery of its own, too.
pub(super) fn touches(expr: &Expr) -> bool {
    calls(expr, touches_one)
}

/// How often a query sets variables.
pub(super) fn count(query: &Query) -> usize {
    let mut found = 0;
    walk::query(query, &mut |part| {
        found += usize::from(matches!(part.kind, ExprKind::Call { function, .. } if sets_one(function)));
        true
    });
    found
}

/// The same of a change of rows.
pub(super) fn count_in_change(dml: &Dml) -> usize {
    let mut found = 0;
    walk::dml(dml, &mut |part| {
        found += usize::from(matches!(part.kind, ExprKind::Call { function, .. } if sets_one(function)));
        true
    });
    found
}

/// Refuses what would set a variable more often than it is said: where SQLite is told a value twice.
///
/// # Errors
/// `0A000`.
pub(super) fn check(said: usize, sql: &str) -> Result<()> {
    if said > 0 && sql.matches(SET).count() > said {
        return Err(Error::unsupported("a variable that is set (:=) within a value that is worked out twice"));
    }
    Ok(())
}

/// The query with its subqueries tied to its rows; `None` where there is nothing to tie.
///
/// # Errors
/// `0A000` for those that cannot be tied.
pub(super) fn tied(query: &Query) -> Result<Option<Query>> {
    let Body::Select(select) = &query.body else { return Ok(None) };
    // HAVING over a name of the list: MySQL works the value out for the condition, and once more for the row, by then another.
    let again = |expr: &Expr| walk::any(expr, |part| sets(part) && reads(part) && select.items.contains(part));
    if select.filter.iter().chain(&select.having).any(again) {
        return Err(Error::unsupported("HAVING of a value that sets a variable (:=)"));
    }
    let Some(from) = &select.from else { return Ok(None) };
    let own = from.relations();
    let loose = |expr: &Expr| walk::any(expr, |part| is_loose(part, &own));
    let all = select.items.iter().chain(&select.filter).chain(&select.having);
    if !all.chain(query.order_by.iter().map(|key| &key.expr)).any(loose) {
        return Ok(None);
    }
    let Some(row) = is_of_rows(select).then(|| first_column(from)).flatten() else { return Err(untied()) };
    let mut query = query.clone();
    let Body::Select(select) = &mut query.body else { return Ok(None) };
    let Select { items, filter, .. } = &mut **select;
    let keys = query.order_by.iter_mut().map(|key| &mut key.expr);
    let mut failed = false;
    for expr in items.iter_mut().chain(filter).chain(keys) {
        walk::expr_mut(expr, &mut |part| {
            if is_loose(part, &own) {
                failed |= !part.kind.query_mut().is_some_and(|inner| tie(inner, &row));
            }
            true
        });
    }
    if failed { Err(untied()) } else { Ok(Some(query)) }
}

fn untied() -> Error {
    Error::unsupported("a subquery of this kind that reads or sets variables, in a statement that sets some (:=)")
}

/// A subquery that reads or sets variables, and names nothing of the relations around it.
fn is_loose(expr: &Expr, own: &[RelId]) -> bool {
    if expr.kind.query().is_none() || !calls(expr, touches_one) {
        return false;
    }
    let mut names = false;
    if let Some(query) = expr.kind.query() {
        walk::query(query, &mut |part| {
            names |= matches!(&part.kind, ExprKind::Column(column) if own.contains(&column.relation));
            !names
        });
    }
    !names
}

/// A column of what a FROM clause begins with.
fn first_column(from: &From) -> Option<Expr> {
    let (id, ty) = match from {
        From::Join { left, .. } => return first_column(left),
        From::Relation { id, relation, .. } => (*id, relation.columns.first()?.ty.clone()),
        From::Query { id, query, .. } => (*id, query.columns.first()?.ty.clone()),
        From::Cte { id, columns, .. } | From::Kept { id, columns, .. } | From::Function { id, columns, .. } => {
            (*id, columns.first()?.ty.clone())
        }
    };
    Some(Expr::new(ExprKind::Column(ColumnRef { relation: id, column: ColumnIndex::At(0) }), ty))
}

/// Adds a condition that always holds, and names a column.
fn tie(query: &mut Query, row: &Expr) -> bool {
    let Body::Select(select) = &mut query.body else { return false };
    let test = |negated| Expr::new(ExprKind::IsNull { arg: Box::new(row.clone()), negated }, Type::Bool);
    let holds = Expr::new(ExprKind::Or(vec![test(false), test(true)]), Type::Bool);
    select.filter = Some(match select.filter.take() {
        Some(filter) => Expr::new(ExprKind::And(vec![filter, holds]), Type::Bool),
        None => holds,
    });
    true
}
