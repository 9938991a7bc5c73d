//! Constants: what is computed of literals alone, when nothing but the literals decides what comes out.

use crate::Type;
use crate::functions::{Function, FunctionKind};
use crate::ir::{CastContext, Expr, ExprKind, Value};
use crate::values::{self, Decimal, Interval, Settings, date, integer, moments, timestamp};

/// Puts a literal in the place of an operator over literals. What would fail stays.
pub(super) fn constant(expr: &mut Expr) {
    let (function, args) = match &expr.kind {
        ExprKind::Call { function, args } => (function, args),
        ExprKind::Cast { arg, context: CastContext::Implicit } if is_value(arg) && is_steady(&arg.ty, &expr.ty) => {
            let ExprKind::Literal(value) = &arg.kind else { return };
            if let Ok(value) = values::cast(value, &arg.ty, &expr.ty, CastContext::Implicit, &Settings::default()) {
                expr.kind = ExprKind::Literal(value);
            }
            return;
        }
        _ => return,
    };
    if function.kind != FunctionKind::Operator || !args.iter().all(is_value) {
        return;
    }
    if let Some(value) = computed(function, args, &expr.ty) {
        expr.kind = ExprKind::Literal(value);
    }
}

fn is_value(expr: &Expr) -> bool {
    matches!(&expr.kind, ExprKind::Literal(value) if *value != Value::Null)
}

/// A conversion that nothing but the value decides, between forms that literals have.
fn is_steady(from: &Type, to: &Type) -> bool {
    match to {
        Type::Interval(None) => matches!(from, Type::Interval(_)),
        Type::Timestamp(None) => matches!(from, Type::Date | Type::Timestamp(_)),
        Type::Numeric(None) => is_plain_integer(from) || matches!(from, Type::Numeric(_)),
        Type::Int4 | Type::Int8 => is_plain_integer(from),
        _ => false,
    }
}

fn computed(function: &Function, args: &[Expr], ty: &Type) -> Option<Value> {
    let types = (&args.first()?.ty, args.get(1).map(|arg| &arg.ty));
    match (function.name, types) {
        (sign, (Type::Numeric(None), Some(Type::Numeric(None)))) if *ty == Type::Numeric(None) => {
            let (left, right) = (decimal(&args[0])?, decimal(&args[1])?);
            let result = match sign {
                "+" => left.add(&right),
                "-" => left.sub(&right),
                "*" => left.mul(&right),
                "/" => left.div(&right),
                _ => return None,
            };
            result.ok().map(|number| Value::Text(number.to_string()))
        }
        ("-", (Type::Numeric(None), None)) => Some(Value::Text(decimal(&args[0])?.neg().to_string())),
        (sign, (left, Some(right))) if left == right && left == ty && is_plain_integer(ty) => {
            let (left, right) = (whole(&args[0])?, whole(&args[1])?);
            let result = match sign {
                "+" => left.checked_add(right),
                "-" => left.checked_sub(right),
                "*" => left.checked_mul(right),
                _ => return None,
            };
            integer::checked(result?, ty).ok().map(Value::Integer)
        }
        (sign @ ("+" | "-"), (Type::Date, Some(Type::Int4))) if *ty == Type::Date => {
            let days = date::days(text(&args[0])?.as_bytes()).ok().filter(|days| !moments::is_infinite(*days))?;
            let by = whole(&args[1])?;
            let moved = if sign == "+" { days.checked_add(by) } else { days.checked_sub(by) };
            date::to_stored(moved.filter(|days| !moments::is_infinite(*days))?).ok().map(Value::Text)
        }
        (sign @ ("+" | "-"), (Type::Date | Type::Timestamp(_), Some(Type::Interval(_))))
            if *ty == Type::Timestamp(None) =>
        {
            let by = Interval::from_stored(text(&args[1])?.as_bytes()).ok()?;
            moved(text(&args[0])?, if sign == "+" { by } else { by.neg().ok()? })
        }
        ("+", (Type::Interval(_), Some(Type::Date | Type::Timestamp(_)))) if *ty == Type::Timestamp(None) => {
            moved(text(&args[1])?, Interval::from_stored(text(&args[0])?.as_bytes()).ok()?)
        }
        _ => None,
    }
}

fn moved(moment: &str, by: Interval) -> Option<Value> {
    let start = timestamp::micros(moment.as_bytes()).ok()?;
    timestamp::to_stored(moments::add(start, by).ok()?).ok().map(Value::Text)
}

fn is_plain_integer(ty: &Type) -> bool {
    matches!(ty, Type::Int2 | Type::Int4 | Type::Int8)
}

fn decimal(expr: &Expr) -> Option<Decimal> {
    match &expr.kind {
        ExprKind::Literal(Value::Text(text)) => Decimal::parse(text).ok(),
        ExprKind::Literal(Value::Integer(number)) => Some(Decimal::from_i64(*number)),
        _ => None,
    }
}

fn whole(expr: &Expr) -> Option<i64> {
    match &expr.kind {
        ExprKind::Literal(Value::Integer(number)) => Some(*number),
        _ => None,
    }
}

fn text(expr: &Expr) -> Option<&str> {
    match &expr.kind {
        ExprKind::Literal(Value::Text(text)) => Some(text),
        _ => None,
    }
}
