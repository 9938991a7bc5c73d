//! Values without strict modes: what does not fit a column becomes the nearest that does, with a warning.

use rowferry_dialect::ir::Value;
use rowferry_dialect::values::mysql::{members, moments, numbers, unsigned as wide};
use rowferry_dialect::values::{Decimal, ValueRef};
use rowferry_dialect::{Condition, Error, Result};

use super::super::call::{boolean, integer, text};
use super::super::{Call, Row};
use super::number;

pub(in super::super) const ROWS: &[Row] = &[
    // (value, least, greatest, where)
    Row::new("rf_mysql_fitting_integer", 4, |call| {
        let value = given(call, 3, "integer")?;
        let whole = numbers::integer_of_decimal(&value);
        let fits = i64::try_from(whole).unwrap_or(if whole < 0 { i64::MIN } else { i64::MAX });
        let kept = fits.clamp(call.integer(1)?, call.integer(2)?);
        if i128::from(kept) != whole {
            warn(call, 3, 1264, "Out of range value")?;
        }
        integer(kept)
    })
    .volatile(),
    // (value, where)
    Row::new("rf_mysql_fitting_wide", 2, |call| {
        let kept = wide::of_decimal(&given(call, 1, "integer")?);
        if kept.is_err() {
            warn(call, 1, 1264, "Out of range value")?;
        }
        Ok(wide::stored(kept.unwrap_or_else(|nearest| nearest)))
    })
    .volatile(),
    // (value, digits in all, digits behind the point, 1 where it has a sign, where)
    Row::new("rf_mysql_fitting_decimal", 5, |call| {
        let value = given(call, 4, "decimal")?.rounded(call.integer(2)?);
        let (kept, _) = nearest(&value, call.integer(1)?, call.integer(2)?)?;
        let kept = if kept.signum() < 0 && call.integer(3)? == 0 { Decimal::ZERO } else { kept };
        if kept.compare(&value).is_ne() {
            warn(call, 4, 1264, "Out of range value")?;
        }
        number(&kept)
    })
    .volatile(),
    // (text, letters, where)
    Row::new("rf_mysql_fitting_text", 3, |call| {
        let value = call.text(0)?;
        let most = usize::try_from(call.integer(1)?).unwrap_or(0);
        let Some((end, _)) = value.char_indices().nth(most) else { return Ok(call.owned(0)) };
        if value[end..].bytes().any(|byte| byte != b' ') {
            warn(call, 2, 1265, "Data truncated")?;
        }
        text(&value[..end])
    })
    .volatile(),
    // (bytes, how many, where)
    Row::new("rf_mysql_fitting_bytes", 3, |call| {
        let value = call.bytes(0)?;
        let most = usize::try_from(call.integer(1)?).unwrap_or(0);
        if value.len() <= most {
            return Ok(call.owned(0));
        }
        warn(call, 2, 1265, "Data truncated")?;
        Ok(Value::Blob(value[..most].to_vec()))
    })
    .volatile(),
    // (text, bytes, where)
    Row::new("rf_mysql_fitting_octets", 3, |call| {
        let value = call.text(0)?;
        let most = usize::try_from(call.integer(1)?).unwrap_or(0);
        if value.len() <= most {
            return Ok(call.owned(0));
        }
        warn(call, 2, 1265, "Data truncated")?;
        let end = (0..=most).rev().find(|at| value.is_char_boundary(*at)).unwrap_or(0);
        text(&value[..end])
    })
    .volatile(),
    // (value, FLOAT or DOUBLE, where)
    Row::new("rf_mysql_fitting_double", 3, |call| {
        if let ValueRef::Text(bytes) = call.value(0) {
            let text = String::from_utf8_lossy(bytes);
            if numbers::prefix(&text).len() < text.trim().len() || text.trim().is_empty() {
                let kind = call.text(1)?;
                warn(call, 2, 1366, &format!("Incorrect {kind} value: '{text}'"))?;
            }
        }
        Ok(Value::Real(numbers::double_of(call.value(0)).unwrap_or(0.0)))
    })
    .volatile(),
    Row::new("rf_mysql_fitting_date", 2, |call| moment(call, "0000-00-00", |moment| moment.date_text())).volatile(),
    Row::new("rf_mysql_fitting_datetime", 2, |call| moment(call, "0000-00-00 00:00:00", |moment| moment.stored()))
        .volatile(),
    // (text, the type's words, where)
    Row::new("rf_mysql_fitting_set", 3, |call| {
        let labels = members::labels(call.text(1)?);
        let value = call.text(0)?;
        let known = |member: &&str| {
            labels.iter().any(|label| members::set_of_text(&labels, member).is_some() && !label.is_empty())
        };
        let kept: Vec<&str> = value.split(',').filter(|member| !member.is_empty()).filter(known).collect();
        let kept = kept.join(",");
        if members::set_of_text(&labels, value).is_none() {
            warn(call, 2, 1265, "Data truncated")?;
        }
        text(members::set_of_text(&labels, &kept).unwrap_or_default())
    })
    .volatile(),
    // (column)
    Row::new("rf_mysql_warned_of_null", 1, |call| {
        let column = call.text(0)?;
        if !column.is_empty() {
            let message = format!("Column '{column}' cannot be null");
            call.context().state().notice(Error::new(Condition::Warning, message).with_mysql(1048, "23000"));
        }
        boolean(true)
    })
    .volatile(),
];

/// A value as a moment, written; of what is none there is a warning, and a zero.
fn moment(call: &Call<'_>, zero: &str, written: impl FnOnce(&moments::Moment) -> String) -> Result<Value> {
    let zone = call.context().with_settings(|settings| settings.time_zone.clone());
    let read = moments::read(call.value(0), &zone).filter(|moment| moment.days().is_some());
    match read {
        Some(moment) => text(written(&moment)),
        None => {
            let given = numbers::text_of(call.value(0)).unwrap_or_default();
            if !given.bytes().all(|byte| matches!(byte, b'0' | b'-' | b':' | b' ' | b'.')) || given.is_empty() {
                warn(call, 1, 1265, "Data truncated")?;
            }
            text(zero)
        }
    }
}

/// A value as a number; of a text that is none, or not wholly, there is a warning.
fn given(call: &Call<'_>, place: usize, kind: &str) -> Result<Decimal> {
    let value = call.value(0);
    if let ValueRef::Text(bytes) = value {
        let text = String::from_utf8_lossy(bytes);
        match numbers::prefix(&text) {
            "" => warn(call, place, 1366, &format!("Incorrect {kind} value: '{text}'"))?,
            found if found.len() < text.trim().len() => warn(call, place, 1265, "Data truncated")?,
            _ => {}
        }
    }
    Ok(numbers::decimal_of(value).unwrap_or(Decimal::ZERO))
}

/// Warns of a value; the argument says of which column and row it is.
fn warn(call: &Call<'_>, place: usize, code: u16, what: &str) -> Result<()> {
    let place = call.text(place)?;
    if place.is_empty() {
        return Ok(());
    }
    let message = format!("{what} for column {place}");
    call.context().state().notice(Error::new(Condition::Warning, message).with_mysql(code, "01000"));
    Ok(())
}

/// Warns of a text that is no integer, or not wholly, where it is made one.
pub(super) fn whole(call: &Call<'_>, text: &str) {
    // A sign and digits, as Rust reads them, too; what is too long is none.
    if text.trim_matches([' ', '\t', '\n', '\r', '\u{b}', '\u{c}']).parse::<i64>().is_err() {
        let message = format!("Truncated incorrect INTEGER value: '{text}'");
        call.context().state().notice(Error::new(Condition::Warning, message).with_mysql(1292, "22007"));
    }
}

/// A quotient by zero: NULL, with a warning where `sql_mode` asks for one.
pub(super) fn by_zero(call: &Call<'_>) -> Result<Value> {
    let state = call.context().state();
    let silent = state.variable("mysql.sql_mode").is_some_and(|modes| !modes.contains("ERROR_FOR_DIVISION_BY_ZERO"));
    if !silent {
        state.notice(Error::new(Condition::Warning, "Division by 0").with_mysql(1365, "22012"));
    }
    Ok(Value::Null)
}

/// The nearest number of so many digits in all and behind the point, and whether it is another one.
pub(super) fn nearest(value: &Decimal, digits: i64, behind: i64) -> Result<(Decimal, bool)> {
    let count = |digits: i64| usize::try_from(digits).unwrap_or(0);
    let whole = match count(digits - behind) {
        0 => "0".to_owned(),
        count => "9".repeat(count),
    };
    let most = match count(behind) {
        0 => Decimal::parse(&whole)?,
        count => Decimal::parse(&format!("{whole}.{}", "9".repeat(count)))?,
    };
    let least = Decimal::ZERO.sub(&most)?;
    Ok(match () {
        () if value.compare(&most).is_gt() => (most, true),
        () if value.compare(&least).is_lt() => (least, true),
        () => (value.clone(), false),
    })
}
