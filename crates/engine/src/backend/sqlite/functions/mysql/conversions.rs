//! What the front end puts around arguments: MySQL's conversions from any type.

use rowferry_dialect::ir::Value;
use rowferry_dialect::values::datetime_text::DAY;
use rowferry_dialect::values::mysql::{moments, numbers};
use rowferry_dialect::values::{ValueRef, zone as zones};
use rowferry_dialect::{Error, Result};

use super::super::Row;
use super::super::call::{boolean, integer, text};
use super::{maybe, number, zone};

pub(in super::super) const ROWS: &[Row] = &[
    Row::new("rf_mysql_double", 1, |call| maybe(numbers::double_of(call.value(0)), |value| Ok(Value::Real(value)))),
    Row::new("rf_mysql_integer", 1, |call| maybe(numbers::integer_of(call.value(0)), integer)),
    // A decimal is rounded.
    Row::new("rf_mysql_decimal_integer", 1, |call| {
        integer(numbers::wrapped(numbers::integer_of_decimal(&call.decimal(0)?)))
    }),
    Row::new("rf_mysql_decimal", 1, |call| maybe(numbers::decimal_of(call.value(0)), |value| number(&value))),
    Row::new("rf_mysql_text", 1, |call| maybe(numbers::text_of(call.value(0)), text)),
    Row::new("rf_mysql_bytes", 1, |call| match call.value(0) {
        ValueRef::Blob(_) => Ok(call.owned(0)),
        value => maybe(numbers::text_of(value), |text| Ok(Value::Blob(text.into_bytes()))),
    }),
    Row::new("rf_mysql_float_text", 1, |call| text(numbers::float_text(call.float(0)?))),
    Row::new("rf_mysql_instant_text", 1, |call| {
        maybe(moments::read(call.value(0), &zone(call)), |moment| text(moment.datetime_text()))
    }),
    // Of a stored time, date or moment.
    Row::new("rf_mysql_moment_number", 1, |call| {
        let zone = zone(call);
        maybe(moments::read(call.value(0), &zone), |moment| {
            let fraction = if moment.timed { moment.micros % 1_000_000 } else { 0 };
            numbered(moment.number(), fraction)
        })
    }),
    Row::new("rf_mysql_time_number", 1, |call| {
        let zone = zone(call);
        maybe(moments::read_time(call.value(0), &zone), |micros| {
            numbered(moments::time_number(micros), micros.abs() % 1_000_000)
        })
    }),
    Row::new("rf_mysql_date", 1, |call| {
        maybe(moments::read(call.value(0), &zone(call)).filter(|moment| moment.days().is_some()), |moment| {
            text(moment.date_text())
        })
    }),
    Row::new("rf_mysql_datetime", 1, |call| {
        maybe(moments::read(call.value(0), &zone(call)).filter(|moment| moment.days().is_some()), |moment| {
            text(moment.stored())
        })
    }),
    // A time of today.
    Row::new("rf_mysql_time_datetime", 1, |call| {
        let zone = zone(call);
        let today = zones::to_local(&zone, call.context().times().statement).div_euclid(DAY) * DAY;
        let moment = moments::read_time(call.value(0), &zone).and_then(|time| moments::Moment::of_micros(today + time));
        maybe(moment, |moment| text(moment.stored()))
    }),
    // As it is stored: within a day.
    Row::new("rf_mysql_time", 1, |call| {
        maybe(moments::read_time(call.value(0), &zone(call)), |micros| {
            if !(0..DAY).contains(&micros) {
                return Err(Error::unsupported("a TIME below 00:00:00 or beyond 23:59:59"));
            }
            text(stored_time(micros))
        })
    }),
    Row::new("rf_mysql_time_text", 1, |call| {
        maybe(moments::read_time(call.value(0), &zone(call)), |micros| text(moments::time_text(micros)))
    }),
    Row::new("rf_mysql_truth", 1, |call| match call.value(0) {
        ValueRef::Integer(value) => boolean(value != 0),
        value => maybe(numbers::double_of(value), |value| boolean(value != 0.0)),
    }),
];

/// A number with microseconds behind its point, where there are any.
fn numbered(whole: i64, fraction: i64) -> Result<Value> {
    match fraction {
        0 => text(whole.to_string()),
        fraction => text(format!("{whole}.{fraction:06}")),
    }
}

/// A time without zeros at the end of its fraction.
pub(super) fn stored_time(micros: i64) -> String {
    let text = moments::time_text(micros);
    if text.contains('.') { text.trim_end_matches('0').to_owned() } else { text }
}
