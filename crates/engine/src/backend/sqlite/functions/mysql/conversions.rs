//! What the front end puts around arguments: MySQL's conversions from any type.

use std::sync::Arc;

use rowferry_dialect::ir::Value;
use rowferry_dialect::values::datetime_text::DAY;
use rowferry_dialect::values::mysql::{members, moments, numbers};
use rowferry_dialect::values::{ValueRef, zone as zones};
use rowferry_dialect::{Condition, Error, Result, work};

use super::super::call::{boolean, integer, text};
use super::super::{Call, Row};
use super::fitting::whole;
use super::{maybe, number, zone};

pub(in super::super) const ROWS: &[Row] = &[
    Row::new("rf_mysql_double", 1, |call| maybe(numbers::double_of(call.value(0)), |value| Ok(Value::Real(value)))),
    Row::new("rf_mysql_integer", 1, |call| {
        if let ValueRef::Text(bytes) = call.value(0) {
            whole(call, &String::from_utf8_lossy(bytes));
        }
        maybe(numbers::integer_of(call.value(0)), integer)
    }),
    // A decimal is rounded.
    Row::new("rf_mysql_decimal_integer", 1, |call| {
        integer(numbers::wrapped(numbers::integer_of_decimal(&call.decimal(0)?)))
    }),
    Row::new("rf_mysql_decimal", 1, |call| maybe(numbers::decimal_of(call.value(0)), |value| number(&value))),
    Row::new("rf_mysql_text", 1, |call| maybe(numbers::text_of(call.value(0)), text)),
    Row::new("rf_mysql_fraction", 2, |call| {
        let digits = i32::try_from(call.integer(1)?).unwrap_or(0);
        Ok(Value::Real(numbers::with_fraction(call.float(0)?, digits)))
    }),
    Row::new("rf_mysql_fixed", 2, |call| {
        let digits = usize::try_from(call.integer(1)?).unwrap_or(0);
        text(format!("{:.digits$}", call.float(0)?))
    }),
    Row::new("rf_mysql_digits", 2, |call| {
        text(moments::with_digits(call.text(0)?, usize::try_from(call.integer(1)?).unwrap_or(0)))
    }),
    Row::new("rf_mysql_bytes", 1, |call| match call.value(0) {
        ValueRef::Blob(_) => Ok(call.owned(0)),
        value => maybe(numbers::text_of(value), |text| Ok(Value::Blob(text.into_bytes()))),
    }),
    Row::new("rf_mysql_float_text", 1, |call| text(numbers::float_as_text(call.float(0)?))),
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
    // The same as whole numbers: of the second that is nearest.
    Row::new("rf_mysql_moment_integer", 1, |call| {
        maybe(moments::read(call.value(0), &zone(call)), |moment| integer(moment.to_seconds().number()))
    }),
    Row::new("rf_mysql_time_integer", 1, |call| {
        maybe(moments::read_time(call.value(0), &zone(call)), |micros| {
            integer(moments::time_number(moments::rounded(micros, 0)))
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
    // What a text is beside a date or a moment: one that means none is the least of them.
    Row::new("rf_mysql_beside_date", 1, |call| match call.value(0) {
        ValueRef::Null => Ok(Value::Null),
        value => match moments::read(value, &zone(call)).filter(|moment| moment.days().is_some()) {
            Some(moment) => text(moment.date_text()),
            None => text("0000-00-00".to_owned()),
        },
    }),
    Row::new("rf_mysql_beside_datetime", 1, |call| match call.value(0) {
        ValueRef::Null => Ok(Value::Null),
        value => match moments::read(value, &zone(call)).filter(|moment| moment.days().is_some()) {
            Some(moment) => text(moment.stored()),
            None => text("0000-00-00 00:00:00".to_owned()),
        },
    }),
    // A number that is stored must mean a date; 0 means none, where that is one.
    Row::new("rf_mysql_assigned_date", 1, |call| match assigned_moment(call, "date", "0000-00-00")? {
        Ok(moment) => text(moment.date_text()),
        Err(zero) => text(zero),
    }),
    Row::new("rf_mysql_assigned_datetime", 1, |call| match assigned_moment(call, "datetime", "0000-00-00 00:00:00")? {
        Ok(moment) => text(moment.stored()),
        Err(zero) => text(zero),
    }),
    // A time of today.
    Row::new("rf_mysql_time_datetime", 1, |call| {
        let zone = zone(call);
        let today = zones::to_local(&zone, call.context().times().statement).div_euclid(DAY) * DAY;
        let moment = moments::read_time(call.value(0), &zone).and_then(|time| moments::Moment::of_micros(today + time));
        maybe(moment, |moment| text(moment.stored()))
    }),
    Row::new("rf_mysql_time", 1, |call| {
        maybe(moments::read_time(call.value(0), &zone(call)), |micros| text(stored_time(micros)))
    }),
    // As a column keeps it: (value, digits behind the point)
    Row::new("rf_mysql_kept_time", 2, |call| {
        let digits = call.integer(1)?;
        let micros = match call.value(0) {
            ValueRef::Text(bytes) => {
                let text = String::from_utf8_lossy(bytes);
                let moment = moments::parse(&text, &zone(call)).filter(|moment| moment.timed && text.len() > 12);
                moments::time_of_text(&text).or(moment.map(|moment| moment.micros))
            }
            value => moments::read_time(value, &zone(call)),
        };
        let Some(micros) = micros else {
            let shown = numbers::text_of(call.value(0)).unwrap_or_default();
            let message = format!("Incorrect time value: '{shown}'");
            return Err(Error::new(Condition::InvalidDatetimeFormat, message).with_mysql(1292, "22007"));
        };
        text(stored_time(moments::rounded(micros, digits)))
    }),
    Row::new("rf_mysql_time_text", 1, |call| {
        maybe(moments::read_time(call.value(0), &zone(call)), |micros| text(moments::time_text(micros)))
    }),
    // (value, the words of its type)
    Row::new("rf_mysql_enum_number", 2, |call| {
        let labels = labels(call)?;
        integer(members::enum_number(&labels, call.text(0)?))
    }),
    Row::new("rf_mysql_set_number", 2, |call| {
        let labels = labels(call)?;
        integer(members::set_number(&labels, call.text(0)?).cast_signed())
    }),
    // What is no member stays what it is, for the check of the type.
    Row::new("rf_mysql_enum_of_text", 2, |call| {
        let labels = labels(call)?;
        let given = call.text(0)?;
        text(members::enum_of_text(&labels, given).unwrap_or(given))
    }),
    Row::new("rf_mysql_enum_of_number", 2, |call| {
        let labels = labels(call)?;
        let number = call.integer(0)?;
        text(members::enum_of_number(&labels, number).map_or_else(|| number.to_string(), str::to_owned))
    }),
    Row::new("rf_mysql_set_of_text", 2, |call| {
        let labels = labels(call)?;
        let given = call.text(0)?;
        text(members::set_of_text(&labels, given).unwrap_or_else(|| given.to_owned()))
    }),
    Row::new("rf_mysql_set_of_number", 2, |call| {
        let labels = labels(call)?;
        let number = call.integer(0)?;
        text(members::set_of_number(&labels, number.cast_unsigned()).unwrap_or_else(|| number.to_string()))
    }),
    // (bytes, how many there are at least)
    Row::new("rf_mysql_filled", 2, |call| {
        let bytes = call.bytes(0)?;
        let length = usize::try_from(call.integer(1)?).unwrap_or(0).max(bytes.len());
        work::room(length)?;
        let mut filled = bytes.to_vec();
        filled.resize(length, 0);
        Ok(Value::Blob(filled))
    }),
    Row::new("rf_mysql_number_of_bytes", 1, |call| {
        let bytes = call.bytes(0)?;
        let number = bytes.iter().fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
        let fits = bytes.len() <= 8 || bytes[..bytes.len() - 8].iter().all(|byte| *byte == 0);
        integer(if fits { number.cast_signed() } else { i64::MAX })
    }),
    Row::new("rf_mysql_truth", 1, |call| match call.value(0) {
        ValueRef::Integer(value) => boolean(value != 0),
        value => maybe(numbers::double_of(value), |value| boolean(value != 0.0)),
    }),
];

/// The moment that a number is, or the zero that it means.
fn assigned_moment<'z>(
    call: &Call<'_>,
    kind: &str,
    zero: &'z str,
) -> Result<std::result::Result<moments::Moment, &'z str>> {
    if let Some(moment) = moments::read(call.value(0), &zone(call)).filter(|moment| moment.days().is_some()) {
        return Ok(Ok(moment));
    }
    let number = numbers::text_of(call.value(0)).unwrap_or_default();
    if number.trim_matches('0').is_empty() && call.context().with_settings(|settings| settings.zero_dates) {
        return Ok(Err(zero));
    }
    let message = format!("Incorrect {kind} value: '{number}'");
    Err(Error::new(Condition::InvalidDatetimeFormat, message).with_mysql(1292, "22007"))
}

/// The members of the type whose words are the second argument.
fn labels(call: &Call<'_>) -> Result<Arc<[String]>> {
    call.prepared(1, || Ok(members::labels(call.text(1)?).into()))
}

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
