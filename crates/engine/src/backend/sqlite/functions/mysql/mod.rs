//! MySQL's functions. Texts are read as MySQL reads them: what is no number is 0, what is no date is NULL.

pub(super) mod aggregates;
pub(super) mod arithmetic;
pub(super) mod codes;
pub(super) mod conversions;
pub(super) mod dates;
pub(super) mod fitting;
pub(super) mod fulltext;
pub(super) mod info;
pub(super) mod json;
mod json_paths;
pub(super) mod json_schema;
mod json_storage;
pub(super) mod json_table;
pub(super) mod numbers;
pub(super) mod partitions;
pub(super) mod patterns;
pub(super) mod strings;

use jiff::tz::TimeZone;
use rowferry_dialect::Result;
use rowferry_dialect::ir::Value;
use rowferry_dialect::values::Decimal;

use super::Call;

/// NULL where there is nothing.
fn maybe<T>(value: Option<T>, made: impl FnOnce(T) -> Result<Value>) -> Result<Value> {
    value.map_or(Ok(Value::Null), made)
}

/// The session's zone.
fn zone(call: &Call<'_>) -> TimeZone {
    call.with_settings(|settings| settings.time_zone.clone())
}

/// An integer without a sign, of 64 bits, as a decimal.
fn unsigned(value: u64) -> Result<Value> {
    Ok(Value::Text(value.to_string()))
}

/// A double that must be a number within MySQL's range.
fn finite(value: f64, shown: &str) -> Result<Value> {
    if value.is_finite() { Ok(Value::Real(value)) } else { Err(out_of_range("DOUBLE", shown)) }
}

fn out_of_range(kind: &str, shown: &str) -> rowferry_dialect::Error {
    rowferry_dialect::Error::new(
        rowferry_dialect::Condition::NumericValueOutOfRange,
        format!("{kind} value is out of range in '{shown}'"),
    )
    .with_mysql(1690, "22003")
}

/// A number with a decimal's digits.
fn number(value: &Decimal) -> Result<Value> {
    Ok(Value::Text(value.to_string()))
}

#[cfg(test)]
mod tests;
