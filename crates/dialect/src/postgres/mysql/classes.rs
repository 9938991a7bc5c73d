//! What values are to MySQL's rules, and the type that several have in common.

use super::super::binder::BoundQuery;
use super::super::coerce::{base, same};
use super::super::types;
use crate::Type;
use crate::ir::{Body, ExprKind, Value};
use crate::types::NumericModifier;

/// What a value is to MySQL's rules.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Class {
    Truth,
    Integer,
    Decimal,
    Float,
    Text,
    Bytes,
    Moment,
    /// A literal or parameter of no type yet.
    Open,
    Other,
}

pub(super) fn class(ty: &Type) -> Class {
    match ty.through_domains() {
        Type::Bool => Class::Truth,
        Type::Unknown => Class::Open,
        Type::Float4 | Type::Float8 => Class::Float,
        ty if ty.is_integer() => Class::Integer,
        ty if ty.is_decimal() => Class::Decimal,
        Type::Bytea | Type::Byte | Type::Blob => Class::Bytes,
        Type::Date
        | Type::Time(_)
        | Type::TimeTz(_)
        | Type::Interval(_)
        | Type::Timestamp(_)
        | Type::TimestampTz(_) => Class::Moment,
        ty if ty.is_text() => Class::Text,
        _ => Class::Other,
    }
}

impl Class {
    pub(super) const fn is_number(self) -> bool {
        matches!(self, Self::Truth | Self::Integer | Self::Decimal | Self::Float)
    }
}

pub(in crate::postgres) use crate::mysql::types::{own_words, without_zerofill};

pub(in crate::postgres) use crate::values::mysql::unsigned::is_wide;

/// The function that says which number a value of ENUM or SET is, for types that are one of these.
pub(in crate::postgres) fn position_function(ty: &Type) -> Option<(&'static str, &str)> {
    let words = own_words(ty)?;
    let starts = |head: &str| words.get(..head.len()).is_some_and(|found| found.eq_ignore_ascii_case(head));
    match words {
        words if starts("enum(") => Some(("mysql_enum_number", words)),
        words if starts("set(") => Some(("mysql_set_number", words)),
        _ => None,
    }
}

/// A time, from -838:59:59 to 838:59:59: an interval. Tables that others have made have times of the day.
pub(super) fn is_time(ty: &Type) -> bool {
    matches!(ty.through_domains(), Type::Time(_) | Type::TimeTz(_) | Type::Interval(_))
}

/// A date or a moment without a fraction of a second: a whole number beside numbers.
pub(super) fn is_of_seconds(ty: &Type) -> bool {
    own_words(ty) == Some("time")
        || matches!(ty.through_domains(), Type::Date | Type::Timestamp(Some(0)) | Type::TimestampTz(Some(0)))
}

/// How many digits behind the point a moment or a time shows, however many of them are zeros; 0 where that is not known.
pub(super) fn fraction_digits(ty: &Type) -> u8 {
    match ty.through_domains() {
        Type::Timestamp(digits) | Type::TimestampTz(digits) => digits.unwrap_or(0),
        Type::Interval(_) => {
            let words = own_words(ty).and_then(|words| words.strip_prefix("time(")?.strip_suffix(')'));
            words.and_then(|digits| digits.parse().ok()).unwrap_or(0)
        }
        _ => 0,
    }
}

/// How many digits behind the point a date or a moment has; `None` where that is not known, and for what is neither.
pub(super) fn moment_digits(ty: &Type) -> Option<u8> {
    match ty.through_domains() {
        Type::Date => Some(0),
        Type::Timestamp(digits) | Type::TimestampTz(digits) => *digits,
        _ => None,
    }
}

/// How many digits behind the point a DOUBLE(M,D) or FLOAT(M,D) has; `None` for other types.
pub(super) fn scale(ty: &Type) -> Option<u8> {
    crate::mysql::types::scaled(own_words(ty)?).map(|(_, scale)| scale)
}

/// What is stored of a value follows from the type's own words.
pub(in crate::postgres) fn is_fitted(ty: &Type) -> bool {
    own_words(ty).is_some_and(|words| {
        ["enum(", "set(", "char(", "binary(", "bit(", "time(", "double(", "float("]
            .iter()
            .any(|head| words.starts_with(head))
            || matches!(words, "time" | "year")
    }) || is_wide(ty)
}

/// Values of the type are sorted by something else than what they are shown as.
pub(in crate::postgres) fn sorts_otherwise(ty: &Type) -> bool {
    *ty == Type::Json || position_function(ty).is_some()
}

impl super::Binder<'_> {
    /// The type that several values have in common.
    pub(in crate::postgres) fn mysql_common_type(&self, members: &[(&Type, i32)]) -> Type {
        let mut common: Option<Type> = None;
        for (ty, _) in members {
            if class(ty) == Class::Open {
                continue;
            }
            let Some(current) = common.take() else {
                common = Some((*ty).clone());
                continue;
            };
            common = Some(if same(&current, ty) && is_wide(&current) == is_wide(ty) {
                widest(current, ty)
            } else {
                together(&current, ty)
            });
        }
        common.unwrap_or(Type::Text)
    }

    /// The type of a query's column in a set operation, where a string that is written is a text.
    pub(in crate::postgres) fn mysql_column_type(&self, bound: &BoundQuery, index: usize) -> Type {
        let ty = self.mysql_shown_type(bound, index);
        let item = match &bound.query.body {
            Body::Select(select) => select.items.get(index),
            Body::Values(rows) => rows.first().and_then(|row| row.get(index)),
            Body::Set { .. } => None,
        };
        match item.map(|item| &item.kind) {
            Some(ExprKind::Literal(Value::Text(_))) if ty == Type::Unknown => Type::Text,
            _ => ty,
        }
    }
}

/// The longer of two types that differ in their modifiers.
fn widest(a: Type, b: &Type) -> Type {
    match (&a, b) {
        _ if a == *b => a,
        (Type::Numeric(_), Type::Numeric(_)) => decimals(&a, b),
        (Type::Timestamp(Some(one)), Type::Timestamp(Some(other))) => Type::Timestamp(Some(*one.max(other))),
        _ => base(&a),
    }
}

/// The decimals of two kinds of numbers.
fn decimals(a: &Type, b: &Type) -> Type {
    let scale = |ty: &Type| match ty.through_domains() {
        Type::Numeric(modifier) => modifier.map(|modifier| modifier.scale),
        _ => Some(0),
    };
    match (scale(a), scale(b)) {
        (Some(a), Some(b)) => Type::Numeric(Some(NumericModifier { precision: 65, scale: a.max(b) })),
        _ => Type::Numeric(None),
    }
}

/// The type in which two of different kinds meet.
fn together(a: &Type, b: &Type) -> Type {
    let (of_a, of_b) = (class(a), class(b));
    // With a sign, numbers beyond 2^63 are decimals.
    let meets_wide = |one: &Type, other: &Type| is_wide(one) && class(other) == Class::Integer && !is_wide(other);
    let has_no_sign = |ty: &Type| {
        own_words(ty).is_some_and(|words| without_zerofill(words).ends_with(" unsigned") || words == "year")
    };
    for (one, other) in [(a, b), (b, a)] {
        if meets_wide(one, other) && has_no_sign(other) && has_no_sign(one) {
            return one.clone();
        }
    }
    if meets_wide(a, b) || meets_wide(b, a) {
        return Type::Numeric(Some(NumericModifier { precision: 20, scale: 0 }));
    }
    if of_a.is_number() && of_b.is_number() {
        return match (of_a, of_b) {
            (Class::Float, _) | (_, Class::Float) => Type::Float8,
            (Class::Decimal, _) | (_, Class::Decimal) => decimals(a, b),
            _ => Type::Int8,
        };
    }
    match (of_a, of_b) {
        (Class::Bytes, Class::Bytes) => Type::Bytea,
        (Class::Moment, Class::Moment) => match (a.through_domains(), b.through_domains()) {
            (a, b) if is_time(a) && is_time(b) => Type::Interval(None),
            (a, b) => Type::Timestamp(moment_digits(a).zip(moment_digits(b)).map(|(a, b)| a.max(b))),
        },
        (Class::Other, Class::Other) => types::import(a),
        (Class::Bytes, _) | (_, Class::Bytes) => Type::Bytea,
        _ => Type::Text,
    }
}
