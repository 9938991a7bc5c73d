//! Money in cents, and places in the log.

use rowferry_dialect::ir::Value;
use rowferry_dialect::scalar::numbers::{lsn_out_of_range, parse_lsn, print_lsn};
use rowferry_dialect::values::Decimal;
use rowferry_dialect::{Condition, Error, Result, Type};

use super::call::{integer, text};
use super::{Call, Row};

pub(super) const ROWS: &[Row] = &[
    Row::new("rf_money_add", 2, |call| cents(call.integer(0)?.checked_add(call.integer(1)?))),
    Row::new("rf_money_sub", 2, |call| cents(call.integer(0)?.checked_sub(call.integer(1)?))),
    Row::new("rf_money_mul", 2, |call| cents(call.integer(0)?.checked_mul(call.integer(1)?))),
    Row::new("rf_money_mul_float", 2, |call| rounded(call.integer(0)? as f64 * call.float(1)?)),
    Row::new("rf_money_div", 2, |call| match call.integer(1)? {
        0 => Err(division_by_zero()),
        divisor => cents(call.integer(0)?.checked_div(divisor)),
    }),
    Row::new("rf_money_div_float", 2, |call| match call.float(1)? {
        0.0 => Err(division_by_zero()),
        divisor => rounded(call.integer(0)? as f64 / divisor),
    }),
    Row::new("rf_money_ratio", 2, |call| match call.integer(1)? {
        0 => Err(division_by_zero()),
        divisor => Ok(Value::Real(call.integer(0)? as f64 / divisor as f64)),
    }),
    Row::new("rf_lsn_diff", 2, |call| {
        let distance = i128::from(parse_lsn(call.text(0)?)?) - i128::from(parse_lsn(call.text(1)?)?);
        text(distance.to_string())
    }),
    Row::new("rf_lsn_add", 2, |call| moved(call, 1)),
    Row::new("rf_lsn_sub", 2, |call| moved(call, -1)),
];

fn division_by_zero() -> Error {
    Error::new(Condition::DivisionByZero, "division by zero")
}

fn cents(value: Option<i64>) -> Result<Value> {
    match value {
        Some(value) => integer(value),
        None => Err(Error::new(Condition::NumericValueOutOfRange, "money out of range")),
    }
}

fn rounded(value: f64) -> Result<Value> {
    let value = value.round_ties_even();
    let fits = (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&value);
    cents(fits.then_some(value as i64))
}

/// A place in the log, so many bytes on or back.
fn moved(call: &Call<'_>, direction: i128) -> Result<Value> {
    let place = i128::from(parse_lsn(call.text(0)?)?);
    let by: Decimal = call.decimal(1)?;
    if by == Decimal::NaN {
        let what = if direction < 0 { "subtract NaN from" } else { "add NaN to" };
        return Err(Error::new(Condition::NumericValueOutOfRange, format!("cannot {what} pg_lsn")));
    }
    let by = by.to_integer(&Type::Int8).map_err(|_| lsn_out_of_range())?;
    match u64::try_from(place + direction * i128::from(by)) {
        Ok(place) => text(print_lsn(place)),
        Err(_) => Err(lsn_out_of_range()),
    }
}
