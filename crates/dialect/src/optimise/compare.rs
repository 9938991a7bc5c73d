//! Comparisons in the storage of what is compared.
//!
//! A date beside a timestamp becomes a timestamp for every row. The dates before a moment are those before a day, which
//! a column of dates tells by itself. The places of two rows (`ctid`) are the same where the rows' identities are, which
//! are keys, and may be negative, where places may not.

use crate::Type;
use crate::ir::{Body, CompareOp, Expr, ExprKind, Query, Value};
use crate::values::datetime_text::DAY;
use crate::values::{date, moments, timestamp};

/// Rewrites a comparison whose other side is known.
pub(super) fn in_storage(expr: &mut Expr) {
    let (op, left, right) = match &mut expr.kind {
        ExprKind::Compare { op, left, right } => (op, left, right),
        ExprKind::Quantified { op: CompareOp::Equal | CompareOp::NotEqual, arg, query, .. } => {
            return among_rows(arg, query);
        }
        ExprKind::InQuery { row, query, .. } => {
            return if let [one] = row.as_mut_slice() {
                among_rows(one, query)
            };
        }
        _ => return,
    };
    if let (CompareOp::Equal | CompareOp::NotEqual, Some(one), Some(other)) = (*op, identity(left), identity(right)) {
        (**left, **right) = (one, other);
        return;
    }
    if let Some((met, day)) = day_before(*op, left, right) {
        (*op, **right) = (met, day);
        uncast(left);
    } else if let Some((met, day)) = day_before(op.commuted(), right, left) {
        (*op, **left) = (met.commuted(), day);
        uncast(right);
    }
}

/// A row's place among those of a query's rows.
fn among_rows(one: &mut Expr, query: &mut Query) {
    let Body::Select(select) = &mut query.body else { return };
    let ([item], [column]) = (select.items.as_mut_slice(), query.columns.as_mut_slice()) else { return };
    if let (Some(own), Some(other)) = (identity(one), identity(item)) {
        (*one, *item) = (own, other);
        column.ty = Type::Int8;
    }
}

/// The identity of the row whose place an expression is.
fn identity(place: &Expr) -> Option<Expr> {
    match &place.kind {
        ExprKind::Call { function, args } if function.name == "place of a row" => args.first().cloned(),
        _ => None,
    }
}

/// The date that a date is to be compared with, in the place of a moment, and how.
fn day_before(op: CompareOp, dates: &Expr, moment: &Expr) -> Option<(CompareOp, Expr)> {
    let ExprKind::Cast { arg, .. } = &dates.kind else { return None };
    if arg.ty != Type::Date || dates.ty != Type::Timestamp(None) || moment.ty != Type::Timestamp(None) {
        return None;
    }
    let ExprKind::Literal(Value::Text(text)) = &moment.kind else { return None };
    let micros = timestamp::micros(text.as_bytes()).ok().filter(|micros| !moments::is_infinite(*micros))?;
    let (day, rest) = (micros.div_euclid(DAY), micros.rem_euclid(DAY));
    let op = match op {
        // A day begins with its midnight: what is later on that day is after the date itself.
        CompareOp::Less | CompareOp::LessOrEqual if rest != 0 => CompareOp::LessOrEqual,
        CompareOp::Greater | CompareOp::GreaterOrEqual if rest != 0 => CompareOp::Greater,
        CompareOp::Equal | CompareOp::NotEqual if rest != 0 => return None,
        op => op,
    };
    Some((op, Expr::new(ExprKind::Literal(Value::Text(date::to_stored(day).ok()?)), Type::Date)))
}

fn uncast(side: &mut Expr) {
    if let ExprKind::Cast { arg, .. } = &mut side.kind {
        let inner = std::mem::replace(&mut **arg, Expr::null(Type::Unknown));
        *side = inner;
    }
}
