//! How long the results of string functions can be.

use super::expr::{bounded, text_length};
use crate::Type;
use crate::ir::{Expr, ExprKind, Value};

/// The type of a string function's result, when its arguments say how long it can be.
pub(super) fn result_type(name: &str, args: &[Expr]) -> Option<Type> {
    let first = args.first()?;
    match name {
        "upper" | "lower" | "initcap" | "reverse" => match &first.ty {
            Type::Char(_) | Type::Nchar(_) | Type::Varchar(Some(_)) | Type::Nvarchar(_) | Type::Lvarchar(_) => {
                Some(first.ty.clone())
            }
            _ => sized(text_length(first)),
        },
        "substr" | "substring" | "substrb" | "substring_index" | "left" | "right" | "trim" | "ltrim" | "rtrim" => {
            match bounded(&first.ty) {
                Type::Text => sized(text_length(first)),
                ty => Some(ty),
            }
        }
        "lpad" | "rpad" => sized(number(args.get(1)?)),
        "space" => sized(number(first)),
        "concat" => sized(text_length(first)?.checked_add(text_length(args.get(1)?)?)),
        _ => None,
    }
}

fn number(expr: &Expr) -> Option<u32> {
    match expr.kind {
        ExprKind::Literal(Value::Integer(number)) => u32::try_from(number).ok(),
        _ => None,
    }
}

/// A varying string of at most so many characters.
pub(super) fn sized(length: Option<u32>) -> Option<Type> {
    match length? {
        0 => Some(Type::Varchar(Some(1))),
        length @ 1..=255 => Some(Type::Varchar(Some(length))),
        length @ 256..=32_739 => Some(Type::Lvarchar(length)),
        _ => None,
    }
}
