//! Conversions, and the small functions that the lowering puts around values.

use rowferry_dialect::ir::{CastContext, Value};
use rowferry_dialect::lower::sqlite::{native_decimal, types};
use rowferry_dialect::schema::QualifiedName;
use rowferry_dialect::values::{self, ValueRef};
use rowferry_dialect::{Condition, Error, Language, Result, Type, postgres, work};

use super::call::{decimal, integer};
use super::{Call, Row};

pub(super) const ROWS: &[Row] = &[
    Row::new("rf_cast", 4, cast),
    Row::new("rf_with_modifier", 5, with_modifier),
    Row::new("rf_numeric_text", 1, numeric_text).optional(1),
    Row::new("rf_numeric_native", 1, |call| Ok(native_decimal(&call.owned(0)).into_owned())),
    Row::new("rf_not_null", 3, not_null).lenient(),
    Row::new("rf_check_failed", 2, check_failed).volatile(),
    Row::new("rf_view_check_failed", 2, view_check_failed).variadic().lenient().volatile(),
    Row::new("rf_refuse_arbiter", 2, refuse_arbiter).volatile(),
    Row::new("rf_limit", 1, limit).lenient(),
    Row::new("rf_offset", 1, offset).lenient(),
];

/// A type from its words at an argument; read once per place of the statement.
pub(super) fn type_at(call: &Call<'_>, at: usize) -> Result<Type> {
    call.prepared(at, || Ok(type_from_words(call.text(at)?)))
}

/// The type that the lowering's words stand for.
pub(super) fn type_from_words(words: &str) -> Type {
    match words {
        "unknown" => Type::Unknown,
        _ => rowferry_dialect::user_type::from_told(words).unwrap_or_else(|| types::parse(words, Language::Postgres)),
    }
}

fn cast(call: &Call<'_>) -> Result<Value> {
    let (from, to) = (type_at(call, 1)?, type_at(call, 2)?);
    let context = match call.text(3)? {
        "a" => CastContext::Assignment,
        "e" => CastContext::Explicit,
        _ => CastContext::Implicit,
    };
    call.with_settings(|settings| values::cast(&call.owned(0), &from, &to, context, settings))
}

/// A value (0) of a type (1) as one of another (2) with a modifier (3), in the way of an explicit cast or not (4).
fn with_modifier(call: &Call<'_>) -> Result<Value> {
    let ty = |at: usize| {
        let oid = u32::try_from(call.integer(at)?).unwrap_or_default();
        postgres::types::from_oid(oid).ok_or_else(|| Error::internal(format!("no type {oid}")))
    };
    let modifier = i32::try_from(call.integer(3)?).unwrap_or(-1);
    let to = ty(2)?;
    match to {
        Type::Timestamp(_) | Type::TimestampTz(_) if modifier != -1 && !(0..=6).contains(&modifier) => {
            let message = format!("timestamp({modifier}) precision must be between 0 and 6");
            return Err(Error::new(Condition::InvalidParameterValue, message));
        }
        // Only blanks would come of it.
        Type::Char(_) if modifier as usize > work::LONGEST_VALUE => return Err(work::too_large(modifier as usize)),
        // No bits are of such a length.
        Type::Scalar(..) if modifier > i32::MAX - 8 => return Ok(call.owned(0)),
        _ => {}
    }
    let to = postgres::types::with_typmod(&to, modifier);
    let context = if call.boolean(4)? { CastContext::Explicit } else { CastContext::Assignment };
    let value = call.with_settings(|settings| values::cast(&call.owned(0), &ty(1)?, &to, context, settings))?;
    Ok(match (to, value) {
        // As a `bpchar` of any length it has its blanks.
        (Type::Char(width), Value::Text(text)) if width > 0 => {
            Value::Text(format!("{text:width$}", width = width as usize))
        }
        (_, value) => value,
    })
}

fn numeric_text(call: &Call<'_>) -> Result<Value> {
    if call.len() == 1 {
        return match call.value(0) {
            ValueRef::Integer(value) => Ok(Value::Text(value.to_string())),
            _ => decimal(&call.decimal(0)?),
        };
    }
    let scale = call.integer(1)?;
    let number = call.decimal(0)?;
    let short = number.finite().is_some_and(|finite| i64::from(finite.scale()) < scale);
    decimal(&if short { number.rounded(scale) } else { number })
}

fn not_null(call: &Call<'_>) -> Result<Value> {
    if !call.is_null(0) {
        return Ok(call.owned(0));
    }
    let (table, column) = (call.text(1)?, call.text(2)?);
    let message = format!("null value in column \"{column}\" of relation \"{table}\" violates not-null constraint");
    let mut error = Error::new(Condition::NotNullViolation, message).column(column);
    error.table = Some(table.to_owned());
    Err(error)
}

fn check_failed(call: &Call<'_>) -> Result<Value> {
    let (table, constraint) = (call.text(0)?, call.text(1)?);
    let message = format!("new row for relation \"{table}\" violates check constraint \"{constraint}\"");
    let mut error = Error::new(Condition::CheckViolation, message).constraint(constraint);
    error.table = Some(table.to_owned());
    Err(error)
}

/// A row that ON CONFLICT would have a constraint decide on that may wait.
fn refuse_arbiter(call: &Call<'_>) -> Result<Value> {
    let index = QualifiedName::new(call.text(0)?, call.text(1)?);
    let found = call.context().state().schema().index(&index);
    let (relation, at) = found.ok_or_else(|| Error::internal("an index that has vanished"))?;
    Err(postgres::deferrable_arbiter(&relation, &relation.indexes[at]))
}

/// A row that has been stored and that the view (0) does not show, though it must: the table's (1) columns follow.
fn view_check_failed(call: &Call<'_>) -> Result<Value> {
    let message = format!("new row violates check option for view \"{}\"", call.text(0)?);
    let mut error = Error::new(Condition::WithCheckOptionViolation, message);
    let table = call.context().state().schema().relation_by_oid(call.integer(1)? as u32);
    if let Some(table) = table.filter(|_| call.len() > 2) {
        let row: Vec<Value> = (2..call.len()).map(|at| call.owned(at)).collect();
        let row = call.with_settings(|settings| crate::backend::errors::row_text(&table, &row, settings));
        error = error.failing_row(row);
    }
    Err(error)
}

fn limit(call: &Call<'_>) -> Result<Value> {
    if call.is_null(0) {
        return integer(-1);
    }
    match call.integer(0)? {
        count @ 0.. => integer(count),
        _ => Err(Error::new(Condition::InvalidRowCountInLimit, "LIMIT must not be negative")),
    }
}

fn offset(call: &Call<'_>) -> Result<Value> {
    if call.is_null(0) {
        return integer(0);
    }
    match call.integer(0)? {
        count @ 0.. => integer(count),
        _ => Err(Error::new(Condition::InvalidRowCountInOffset, "OFFSET must not be negative")),
    }
}
