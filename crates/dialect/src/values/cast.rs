//! Conversions between types, as values in their stored form.
//!
//! One function for all of them: constants are folded with it, parameters are brought to their places with it, and the
//! engine's `rf_cast` is this function. Which conversions a statement may ask for at all is the binder's business.

use std::borrow::Cow;

use super::IntervalModifier;
use super::datetime_text::{DAY, INFINITY, NEGATIVE_INFINITY, SECOND};
use super::{
    Decimal, Interval, Settings, ValueRef, array, date, float, input, integer, interval, json, misfit, output, record,
    text, time, timestamp, type_name, zone,
};
use crate::ir::{CastContext, Value};
use crate::scalar::{Order, Scalar};
use crate::types::Storage;
use crate::{Condition, Error, Result, Type};

/// Converts a stored value of type `from` to the stored form of type `to`, modifiers included.
///
/// Decimals may come in their native form (INTEGER, REAL); they leave as canonical text. Over-long text is cut off when
/// `context` is explicit, and refused otherwise unless the excess is blank.
pub fn cast(value: &Value, from: &Type, to: &Type, context: CastContext, settings: &Settings) -> Result<Value> {
    if *value == Value::Null {
        return Ok(Value::Null);
    }
    let (from, to) = (from.through_domains(), to.through_domains());
    if from == to && !to.is_decimal() {
        return Ok(value.clone());
    }
    match (from, to) {
        (Type::Int4, Type::InternalChar) => {
            let byte = i8::try_from(integer_of(value, from)?)
                .map_err(|_| Error::new(Condition::NumericValueOutOfRange, "\"char\" out of range"))?;
            return Ok(Value::Text(text::print_byte(byte as u8)));
        }
        (Type::InternalChar, Type::Int4) => {
            return Ok(Value::Integer(i64::from(text::byte_of(text_of(value)?.as_bytes()) as i8)));
        }
        _ => {}
    }
    if let Type::Scalar(scalar, _) = from
        && let Some(converted) = (scalar.casts.into)(value, to)
    {
        return match converted? {
            Value::Text(text) if is_text(to) => cast(&Value::Text(text), &Type::Text, to, context, settings),
            converted => Ok(converted),
        };
    }
    if let Type::Scalar(scalar, modifier) = to
        && let Some(converted) = (scalar.casts.from)(value, from, *modifier)
    {
        return converted;
    }
    if let (Value::Text(text), Type::Char(_) | Type::Nchar(_), Type::Char(0)) = (value, from, to) {
        return Ok(Value::Text(text::padded(text, from).into_owned()));
    }
    if let (Value::Text(range), Type::User(user)) = (value, to)
        && let Some(of) = user.range_of_multirange()
        && matches!(from, Type::User(from) if from == of)
    {
        return Ok(crate::scalar::ranges::multirange_of(range));
    }
    if is_text(to) {
        let shown = to_text(value, from, settings)?;
        let text = if context == CastContext::Explicit { text::cast(&shown, to) } else { text::assign(&shown, to)? };
        return Ok(Value::Text(text.into_owned()));
    }
    if is_text(from) && !matches!(to, Type::Scalar(..)) {
        return read(text_of(value)?, to, context, settings);
    }
    if let (Value::Text(stored), true, true) = (value, from.is_row(), to.is_row()) {
        let each = |value: &Value, from: &Type, to: &Type| cast(value, from, to, context, settings);
        return record::convert(stored.as_bytes(), from, to, &each).map(Value::Text);
    }
    match (from, to) {
        (Type::Array(from), Type::Array(to)) => cast_array(value, from, to, context, settings),
        _ if is_integral(from) && is_integral(to) => {
            let number = integer_of(value, from)?;
            Ok(Value::Integer(match to {
                Type::Bool => i64::from(number != 0),
                // Object ids are unsigned; negative 32-bit numbers wrap, as in PostgreSQL.
                Type::Oid | Type::Reg(_) if matches!(from, Type::Int2 | Type::Int4) => i64::from(number as u32),
                Type::Int4 if matches!(from, Type::Oid | Type::Reg(_)) => i64::from(number as u32 as i32),
                _ => integer::checked(number, to)?,
            }))
        }
        _ if is_integral(from) && to.is_decimal() => {
            Ok(Value::Text(Decimal::from_i64(integer_of(value, from)?).constrained(to)?.to_string()))
        }
        (Type::Scalar(from, _), Type::Scalar(to, modifier)) if from == to => {
            to.fit(value.clone(), *modifier, context == CastContext::Explicit)
        }
        // Through its text; where a cast was asked for, what is too long is cut.
        (_, Type::Scalar(to, modifier)) => {
            let text = to_text(value, from, settings)?;
            to.fit((to.input)(&text, settings)?, *modifier, context == CastContext::Explicit)
        }
        _ if is_integral(from) && is_float(to) => float_value(integer_of(value, from)? as f64, to),
        _ if is_float(from) && is_integral(to) => float_to_integer(float_of(value)?, to),
        _ if is_float(from) && to.is_decimal() => {
            let number = float_of(value)?;
            let decimal =
                if *from == Type::Float4 { Decimal::from_f32(number as f32) } else { Decimal::from_f64(number) };
            Ok(Value::Text(decimal.constrained(to)?.to_string()))
        }
        _ if is_float(from) && is_float(to) => float_value(float_of(value)?, to),
        _ if from.is_decimal() && to.is_decimal() => {
            Ok(Value::Text(decimal_of(value, from)?.constrained(to)?.to_string()))
        }
        _ if from.is_decimal() && is_integral(to) => Ok(Value::Integer(decimal_of(value, from)?.to_integer(to)?)),
        _ if from.is_decimal() && is_float(to) => {
            let decimal = decimal_of(value, from)?;
            let number = decimal.to_f64();
            if number.is_infinite() && decimal.finite().is_some() {
                let message = format!("\"{decimal}\" is out of range for type {}", type_name(to));
                return Err(Error::new(Condition::NumericValueOutOfRange, message));
            }
            float_value(number, to)
        }
        // The text of the one says no units, which its qualifier does.
        (Type::QualifiedInterval(qualifier), Type::Interval(_)) => {
            let interval = super::informix::interval_of(text_of(value)?, *qualifier)?;
            input(&interval.to_string(), to, settings)
        }
        (Type::Interval(_), Type::QualifiedInterval(qualifier)) => {
            let interval = Interval::from_stored(text_of(value)?.as_bytes())?;
            super::informix::interval_from(interval, *qualifier).map(Value::Text)
        }
        (Type::Json, Type::Jsonb) => Ok(Value::Text(json::normalize(text_of(value)?)?)),
        (Type::Jsonb, Type::Json) => Ok(value.clone()),
        (Type::Json | Type::Jsonb, Type::Bool) => json_scalar(text_of(value)?, from, to, settings),
        (Type::Json | Type::Jsonb, _) if to.is_number() => json_scalar(text_of(value)?, from, to, settings),
        _ if is_moment(from) && is_moment(to) => cast_moment(text_of(value)?, from, to, settings),
        // Bytes of one kind of large object are those of another.
        _ if from.storage() == Storage::Blob && to.storage() == Storage::Blob => Ok(value.clone()),
        // Everything else goes through its text, as PostgreSQL's I/O conversions do.
        _ => input(&output(value, from, settings)?, to, settings),
    }
}

/// Reads a text as a value of a type; where a cast was asked for, members that are too long are cut off.
fn read(text: &str, to: &Type, context: CastContext, settings: &Settings) -> Result<Value> {
    match to {
        Type::Array(element) if context == CastContext::Explicit && text::limit(element).is_some() => {
            let stored = array::parse_with(text, element, &mut |member| {
                Ok(Value::Text(text::cast(member, element).into_owned()))
            });
            stored.map(Value::Text)
        }
        _ => input(text, to, settings),
    }
}

fn is_text(ty: &Type) -> bool {
    ty.is_text() || matches!(ty, Type::Unknown)
}

fn is_float(ty: &Type) -> bool {
    matches!(ty, Type::Float4 | Type::Float8)
}

fn is_integral(ty: &Type) -> bool {
    ty.storage() == Storage::Integer && !matches!(ty, Type::Scalar(..))
}

/// Dates and times.
fn is_moment(ty: &Type) -> bool {
    matches!(
        ty,
        Type::Date | Type::Time(_) | Type::TimeTz(_) | Type::Timestamp(_) | Type::TimestampTz(_) | Type::Interval(_)
    )
}

/// The text that a cast to `text` yields: output, except that booleans are words.
pub fn to_text<'a>(value: &'a Value, from: &Type, settings: &Settings) -> Result<Cow<'a, str>> {
    match (value, from) {
        // Its blanks are lost where it becomes another text.
        (Value::Text(text), Type::Char(0)) => Ok(Cow::Borrowed(text.trim_end_matches(' '))),
        (Value::Text(text), from) if is_text(from) => Ok(Cow::Borrowed(text)),
        (Value::Integer(value), Type::Bool) => Ok(Cow::Borrowed(if *value == 0 { "false" } else { "true" })),
        (value, Type::Scalar(scalar, _))
            if let Some(Value::Text(text)) = (scalar.casts.into)(value, &Type::Text).transpose()? =>
        {
            Ok(Cow::Owned(text))
        }
        _ => Ok(Cow::Owned(output(value, from, settings)?)),
    }
}

fn text_of(value: &Value) -> Result<&str> {
    match value {
        Value::Text(text) => Ok(text),
        other => Err(misfit(other.as_ref(), &Type::Text)),
    }
}

/// A stored integer; other storage classes of the same number are taken too.
fn integer_of(value: &Value, ty: &Type) -> Result<i64> {
    match value {
        Value::Integer(value) => Ok(*value),
        Value::Real(real) if real.fract() == 0.0 && real.abs() < 9.2e18 => Ok(*real as i64),
        other => Err(misfit(other.as_ref(), ty)),
    }
}

/// A stored float.
pub fn float_of(value: &Value) -> Result<f64> {
    match value {
        Value::Real(real) => Ok(*real),
        Value::Integer(value) => Ok(*value as f64),
        Value::Text(text) if text == float::STORED_NAN => Ok(f64::NAN),
        other => Err(misfit(other.as_ref(), &Type::Float8)),
    }
}

/// A stored decimal of a type, padded to the type's scale if it lay in its native form.
pub fn decimal_of(value: &Value, from: &Type) -> Result<Decimal> {
    let decimal = Decimal::from_stored(value.as_ref())?;
    let (Value::Integer(_) | Value::Real(_), Type::Numeric(Some(modifier)) | Type::Money(modifier)) = (value, from)
    else {
        return Ok(decimal);
    };
    let scale = i64::from(modifier.scale);
    Ok(match decimal.finite() {
        Some(number) if i64::from(number.scale()) < scale => decimal.rounded(scale),
        _ => decimal,
    })
}

fn float_value(value: f64, to: &Type) -> Result<Value> {
    if *to != Type::Float4 {
        return Ok(float::to_value(value));
    }
    let single = value as f32;
    if single.is_infinite() && value.is_finite() {
        return Err(Error::new(Condition::NumericValueOutOfRange, "value out of range: overflow"));
    }
    if single == 0.0 && value != 0.0 {
        return Err(Error::new(Condition::NumericValueOutOfRange, "value out of range: underflow"));
    }
    Ok(float::to_value(f64::from(single)))
}

fn float_to_integer(value: f64, to: &Type) -> Result<Value> {
    let rounded = value.round_ties_even();
    // 2^63 itself is a double; the greatest integer is not.
    if !(-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&rounded) {
        return Err(integer::out_of_range(to));
    }
    let number = rounded as i64;
    Ok(Value::Integer(if *to == Type::Bool { i64::from(number != 0) } else { integer::checked(number, to)? }))
}

fn cast_array(value: &Value, from: &Type, to: &Type, context: CastContext, settings: &Settings) -> Result<Value> {
    let stored = text_of(value)?.as_bytes();
    array::map(stored, from, to, &mut |member| cast(member, from, to, context, settings)).map(Value::Text)
}

fn json_scalar(text: &str, from: &Type, to: &Type, settings: &Settings) -> Result<Value> {
    use serde_json::Value as Json;
    let kind = match json::parse(text)? {
        Json::Bool(value) if *to == Type::Bool => return Ok(Value::Integer(i64::from(value))),
        Json::Number(number) if to.is_number() => {
            let decimal = Value::Text(Decimal::parse(&number.to_string())?.to_string());
            return cast(&decimal, &Type::Numeric(None), to, CastContext::Explicit, settings);
        }
        Json::Null => "null",
        Json::Bool(_) => "boolean",
        Json::Number(_) => "numeric",
        Json::String(_) => "string",
        Json::Array(_) => "array",
        Json::Object(_) => "object",
    };
    let name = if *from == Type::Json { "json" } else { "jsonb" };
    let message = format!("cannot cast {name} {kind} to type {}", type_name(to));
    Err(Error::new(Condition::InvalidParameterValue, message))
}

/// What a type with modifiers keeps of an interval, as it is stored.
fn fitted(value: Interval, modifier: Option<IntervalModifier>) -> String {
    modifier.map_or(value, |modifier| modifier.fit(value)).to_string()
}

fn cast_moment(text: &str, from: &Type, to: &Type, settings: &Settings) -> Result<Value> {
    let stored = text.as_bytes();
    let zone = &settings.time_zone;
    let infinite = |micros: i64| micros == INFINITY || micros == NEGATIVE_INFINITY;
    let unsupported =
        || Error::new(Condition::CannotCoerce, format!("cannot cast type {} to {}", type_name(from), type_name(to)));
    // What MySQL keeps where there is no date stays what it is.
    if text.starts_with(super::ZERO_DATE)
        && let (Type::Date | Type::Timestamp(_), Some(zero)) = (from, super::zero_date(text, to))
    {
        return Ok(Value::Text(zero.to_owned()));
    }
    // Every value as local time, as an instant where it is one, or as a time of day.
    let local = match from {
        Type::Date => match date::days(stored)? {
            days @ (INFINITY | NEGATIVE_INFINITY) => days,
            // A date keeps its own range where it stays a date.
            days if *to == Type::Date => return Ok(Value::Text(date::to_stored(days)?)),
            days => timestamp::at(days, 0)
                .ok_or_else(|| Error::new(Condition::DatetimeFieldOverflow, "date out of range for timestamp"))?,
        },
        Type::Timestamp(_) => timestamp::micros(stored)?,
        Type::TimestampTz(_) => {
            let instant = timestamp::micros(stored)?;
            match to {
                Type::TimestampTz(digits) => {
                    return Ok(Value::Text(timestamp::to_stored_tz(timestamp::round(instant, *digits))?));
                }
                Type::TimeTz(digits) if !infinite(instant) => {
                    let offset = zone::offset_at(zone, instant);
                    let micros = (instant + i64::from(offset) * SECOND).rem_euclid(DAY);
                    return Ok(Value::Text(time::TimeTz { micros: time::round(micros, *digits), offset }.to_stored()));
                }
                Type::TimeTz(_) => return Ok(Value::Null),
                _ if infinite(instant) => instant,
                _ => zone::to_local(zone, instant),
            }
        }
        Type::Time(_) | Type::TimeTz(_) => {
            let (micros, offset) = match from {
                Type::TimeTz(_) => {
                    let value = time::TimeTz::from_stored(stored)?;
                    (value.micros, Some(value.offset))
                }
                _ => (time::micros(stored)?, None),
            };
            return Ok(Value::Text(match to {
                Type::Time(digits) => time::to_stored(time::round(micros, *digits)),
                Type::TimeTz(digits) => {
                    let offset = offset.unwrap_or_else(|| zone::offset_at(zone, settings.now.unwrap_or(0)));
                    time::TimeTz { micros: time::round(micros, *digits), offset }.to_stored()
                }
                Type::Interval(modifier) => fitted(Interval { months: 0, days: 0, micros }, *modifier),
                _ => return Err(unsupported()),
            }));
        }
        _ => {
            let value = Interval::from_stored(stored)?;
            return Ok(Value::Text(match to {
                Type::Interval(modifier) => fitted(value, *modifier),
                Type::Time(digits) => time::to_stored(time::round(value.micros.rem_euclid(DAY), *digits)),
                _ => return Err(unsupported()),
            }));
        }
    };
    Ok(Value::Text(match to {
        Type::Date if infinite(local) => date::to_stored(local)?,
        Type::Date => date::to_stored(local.div_euclid(DAY))?,
        Type::Timestamp(digits) => timestamp::to_stored(timestamp::round(local, *digits))?,
        Type::TimestampTz(_) if infinite(local) => timestamp::to_stored_tz(local)?,
        Type::TimestampTz(digits) => timestamp::to_stored_tz(timestamp::round(zone::to_instant(zone, local), *digits))?,
        Type::Time(_) if infinite(local) => return Ok(Value::Null),
        Type::Time(digits) => time::to_stored(time::round(local.rem_euclid(DAY), *digits)),
        _ => return Err(unsupported()),
    }))
}

/// Order of two stored values of a type, for values that are not NULL.
pub fn compare(left: ValueRef<'_>, right: ValueRef<'_>, ty: &Type) -> std::cmp::Ordering {
    use std::cmp::Ordering;
    match (left, right) {
        _ if ty.is_decimal() => match (Decimal::from_stored(left), Decimal::from_stored(right)) {
            (Ok(a), Ok(b)) => a.compare(&b),
            _ => Ordering::Equal,
        },
        (ValueRef::Integer(a), ValueRef::Integer(b)) => a.cmp(&b),
        (ValueRef::Real(a), ValueRef::Real(b)) => a.total_cmp(&b),
        (ValueRef::Integer(a), ValueRef::Real(b)) => (a as f64).total_cmp(&b),
        (ValueRef::Real(a), ValueRef::Integer(b)) => a.total_cmp(&(b as f64)),
        (ValueRef::Text(a), ValueRef::Text(b)) => match ty {
            Type::Interval(_) => interval::compare_stored(a, b),
            Type::TimeTz(_) => time::compare_stored(a, b),
            Type::Scalar(Scalar { order: Order::By { compare, .. }, .. }, _) => {
                compare(&String::from_utf8_lossy(a), &String::from_utf8_lossy(b))
            }
            _ => a.cmp(b),
        },
        (ValueRef::Blob(a), ValueRef::Blob(b)) => a.cmp(b),
        // The order of storage classes: a float's NaN is text and comes behind its numbers.
        (ValueRef::Text(_), _) => Ordering::Greater,
        (_, ValueRef::Text(_)) => Ordering::Less,
        _ => Ordering::Equal,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::NumericModifier;

    fn text(text: &str) -> Value {
        Value::Text(text.to_owned())
    }

    fn run(value: Value, from: Type, to: Type) -> Result<Value> {
        let settings = Settings { time_zone: zone::find("Europe/Vienna").unwrap(), ..Settings::default() };
        cast(&value, &from, &to, CastContext::Explicit, &settings)
    }

    #[test]
    fn converts_as_postgres() {
        let numeric = |precision, scale| Type::Numeric(Some(NumericModifier { precision, scale }));
        for (value, from, to, result) in [
            (Value::Integer(5), Type::Int4, Type::Text, text("5")),
            (Value::Integer(1), Type::Bool, Type::Text, text("true")),
            (Value::Integer(5), Type::Int4, numeric(10, 2), text("5.00")),
            (Value::Real(2.5), Type::Float8, Type::Int4, Value::Integer(2)),
            (Value::Real(3.5), Type::Float8, Type::Int4, Value::Integer(4)),
            (text("2.5"), Type::Numeric(None), Type::Int4, Value::Integer(3)),
            (text("-2.5"), Type::Numeric(None), Type::Int4, Value::Integer(-3)),
            (Value::Real(12.5), numeric(10, 2), Type::Numeric(None), text("12.50")),
            (Value::Real(12.5), numeric(10, 2), Type::Text, text("12.50")),
            (text("1.256"), Type::Numeric(None), numeric(10, 2), text("1.26")),
            (Value::Real(0.1), Type::Float8, Type::Numeric(None), text("0.1")),
            (text("abcdef"), Type::Text, Type::Varchar(Some(3)), text("abc")),
            (text(" 42 "), Type::Text, Type::Int4, Value::Integer(42)),
            (text("2024-05-06"), Type::Date, Type::Timestamp(None), text("2024-05-06 00:00:00")),
            (text("2024-05-06"), Type::Date, Type::TimestampTz(None), text("2024-05-05 22:00:00+00")),
            (text("2024-05-06 23:30:00+00"), Type::TimestampTz(None), Type::Date, text("2024-05-07")),
            (
                text("2024-05-06 12:30:45.678"),
                Type::Timestamp(None),
                Type::Timestamp(Some(0)),
                text("2024-05-06 12:30:46"),
            ),
            (text("2024-05-06 12:30:45"), Type::Timestamp(None), Type::Time(None), text("12:30:45")),
            (
                text("[1,2]"),
                Type::Array(Box::new(Type::Int4)),
                Type::Array(Box::new(Type::Text)),
                text("[\"1\",\"2\"]"),
            ),
            (text("[1,2]"), Type::Array(Box::new(Type::Int4)), Type::Text, text("{1,2}")),
            (text("5"), Type::Jsonb, Type::Int4, Value::Integer(5)),
            (text("{\"b\":1,\"a\":2}"), Type::Json, Type::Jsonb, text("{\"a\": 2, \"b\": 1}")),
            (Value::Null, Type::Int4, Type::Text, Value::Null),
        ] {
            assert_eq!(run(value.clone(), from.clone(), to.clone()).unwrap(), result, "{value:?} {from:?} -> {to:?}");
        }
    }

    #[test]
    fn refuses_as_postgres() {
        for (value, from, to, sqlstate) in [
            (Value::Integer(40_000), Type::Int4, Type::Int2, "22003"),
            (Value::Real(1e10), Type::Float8, Type::Int4, "22003"),
            (text("NaN"), Type::Float8, Type::Int4, "22003"),
            (text("1e2x"), Type::Text, Type::Int4, "22P02"),
            (Value::Real(1e300), Type::Float8, Type::Float4, "22003"),
            (text("\"x\""), Type::Jsonb, Type::Int4, "22023"),
        ] {
            let error = run(value.clone(), from, to).unwrap_err();
            assert_eq!(error.condition().sqlstate(), sqlstate, "{value:?}: {error}");
        }
        let error =
            cast(&text("abcd"), &Type::Text, &Type::Varchar(Some(3)), CastContext::Assignment, &Settings::default());
        assert_eq!(error.unwrap_err().condition().sqlstate(), "22001");
    }
}
