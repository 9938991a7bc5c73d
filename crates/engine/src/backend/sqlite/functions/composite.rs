//! Rows as values: made, taken apart, compared.

use std::cmp::Ordering;

use rowferry_dialect::composite::Field;
use rowferry_dialect::ir::Value;
use rowferry_dialect::postgres::types;
use rowferry_dialect::values::order::order;
use rowferry_dialect::values::record::{self, Row as Record};
use rowferry_dialect::{Condition, Error, Result, Type};

use super::call::boolean;
use super::cast::type_at;
use super::{Call, Row};

pub(super) const ROWS: &[Row] = &[
    Row::new("rf_row", 0, |call| values(call, 0).map(Value::Text)).variadic().lenient(),
    Row::new("rf_record", 1, |call| {
        record::stored_record(call.text(0)?, (1..call.len()).map(|at| call.value(at))).map(Value::Text)
    })
    .variadic()
    .lenient(),
    Row::new("rf_row_more", 2, more).variadic().lenient(),
    Row::new("rf_field", 3, field),
    Row::new("rf_record_field", 3, record_field),
    Row::new("rf_set_field", 4, |call| {
        let row = if call.is_null(0) { None } else { Some(call.bytes(0)?) };
        let (count, at) = (place(call, 1)?, place(call, 2)?);
        record::replaced(row, count, at, call.value(3)).map(Value::Text)
    })
    .lenient(),
    Row::new("rf_row_is_null", 3, |call| {
        if call.is_null(0) {
            return boolean(call.boolean(2)?);
        }
        boolean(record::all_null(call.bytes(0)?, &type_at(call, 1)?, call.boolean(2)?)?)
    })
    .lenient(),
    Row::new("rf_record_equal", 2, |call| boolean(compare_records(call, true)?.is_eq())),
    Row::new("rf_record_compare", 2, |call| Ok(Value::Integer(compare_records(call, false)? as i64))),
    Row::new("rf_record_distinct", 2, |call| match (call.is_null(0), call.is_null(1)) {
        (false, false) => boolean(compare_records(call, true)?.is_ne()),
        (left, right) => boolean(left != right),
    })
    .lenient(),
    Row::new("rf_record_image", 2, |call| Ok(Value::Integer(compare_images(call)? as i64))),
];

fn values(call: &Call<'_>, from: usize) -> Result<String> {
    record::stored((from..call.len()).map(|at| call.value(at)))
}

/// More fields behind those of a row that is too wide for one call.
fn more(call: &Call<'_>) -> Result<Value> {
    let (first, rest) = (call.text(0)?, values(call, 1)?);
    Ok(Value::Text(format!("{},{}", first.strip_suffix(']').unwrap_or(first), rest.trim_start_matches('['))))
}

fn place(call: &Call<'_>, at: usize) -> Result<usize> {
    usize::try_from(call.integer(at)?).map_err(|_| Error::internal("a field before the first"))
}

/// The field at a place (1) of a row of a type with a name, of a type (2).
fn field(call: &Call<'_>) -> Result<Value> {
    let (ty, at) = (type_at(call, 2)?, place(call, 1)?);
    record::member(call.bytes(0)?, at, &ty)
}

/// The same of a row without a name, which must have such a field.
fn record_field(call: &Call<'_>) -> Result<Value> {
    let (ty, at) = (type_at(call, 2)?, place(call, 1)?);
    let row = Record::read(call.bytes(0)?, &Type::RECORD)?;
    let Some(field) = row.fields().get(at) else {
        let message = format!("attribute number {} exceeds number of columns {}", at + 1, row.fields().len());
        return Err(Error::new(Condition::InternalError, message));
    };
    if types::oid(&field.ty) != types::oid(&ty) {
        let message = format!("attribute {} has wrong type", at + 1);
        let detail = format!("Table has type {}, but query expects {}.", types::words(&field.ty), types::words(&ty));
        return Err(Error::new(Condition::DatatypeMismatch, message).detail(detail));
    }
    row.value(at)
}

fn compare_records(call: &Call<'_>, equality: bool) -> Result<Ordering> {
    let (left, right) = (Record::read(call.bytes(0)?, &Type::RECORD)?, Record::read(call.bytes(1)?, &Type::RECORD)?);
    compare(&left, &right, equality)
}

/// Two rows, field by field; NULL is equal to NULL and comes behind everything else.
fn compare(left: &Record<'_>, right: &Record<'_>, equality: bool) -> Result<Ordering> {
    let (mut lefts, mut rights) = (left.live()?.into_iter(), right.live()?.into_iter());
    let mut column = 0;
    loop {
        column += 1;
        let ((a, left), (b, right)) = match (lefts.next(), rights.next()) {
            (Some(left), Some(right)) => (left, right),
            (None, None) => return Ok(Ordering::Equal),
            _ => {
                let message = "cannot compare record types with different numbers of columns";
                return Err(Error::new(Condition::DatatypeMismatch, message));
            }
        };
        check_comparable(a, b, column, equality)?;
        let order = order(&left, &right, &a.ty);
        if order.is_ne() {
            return Ok(order);
        }
    }
}

fn check_comparable(a: &Field, b: &Field, column: usize, equality: bool) -> Result<()> {
    if types::oid(&a.ty) != types::oid(&b.ty) {
        let message = format!(
            "cannot compare dissimilar column types {} and {} at record column {column}",
            types::words(&a.ty),
            types::words(&b.ty)
        );
        return Err(Error::new(Condition::DatatypeMismatch, message));
    }
    let fits = if equality { a.ty.is_comparable() } else { a.ty.is_ordered() };
    if !fits {
        let what = if equality { "an equality operator" } else { "a comparison function" };
        let message = format!("could not identify {what} for type {}", types::words(&a.ty));
        return Err(Error::new(Condition::UndefinedFunction, message));
    }
    Ok(())
}

/// Two rows by how their fields lie: what `*=` and its kin ask.
fn compare_images(call: &Call<'_>) -> Result<Ordering> {
    let (left, right) = (Record::read(call.bytes(0)?, &Type::RECORD)?, Record::read(call.bytes(1)?, &Type::RECORD)?);
    let (lefts, rights) = (left.live()?, right.live()?);
    for (at, ((a, left), (b, right))) in lefts.iter().zip(&rights).enumerate() {
        if types::oid(&a.ty) != types::oid(&b.ty) {
            let message = format!(
                "cannot compare dissimilar column types {} and {} at record column {}",
                types::words(&a.ty),
                types::words(&b.ty),
                at + 1
            );
            return Err(Error::new(Condition::DatatypeMismatch, message));
        }
        let order = image(left, right);
        if order.is_ne() {
            return Ok(order);
        }
    }
    if lefts.len() != rights.len() {
        let message = "cannot compare record types with different numbers of columns";
        return Err(Error::new(Condition::DatatypeMismatch, message));
    }
    Ok(Ordering::Equal)
}

fn image(left: &Value, right: &Value) -> Ordering {
    match (left, right) {
        (Value::Text(a), Value::Text(b)) => a.cmp(b),
        // As PostgreSQL compares what it keeps of numbers: without their sign.
        (Value::Integer(a), Value::Integer(b)) => (*a as u64).cmp(&(*b as u64)),
        (Value::Real(a), Value::Real(b)) => a.to_bits().cmp(&b.to_bits()),
        (left, right) => order(left, right, &Type::Int8),
    }
}
