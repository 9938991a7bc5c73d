//! Values without strict modes: what does not fit a column becomes the nearest that does, with a warning.

use rowferry_dialect::ir::Value;
use rowferry_dialect::values::mysql::numbers;
use rowferry_dialect::values::{Decimal, ValueRef};
use rowferry_dialect::{Condition, Error, Result};

use super::super::call::{integer, text};
use super::super::{Call, Row};
use super::number;

pub(in super::super) const ROWS: &[Row] = &[
    // (value, least, greatest, column)
    Row::new("rf_mysql_fitting_integer", 4, |call| {
        let value = given(call, 3)?;
        let whole = numbers::integer_of_decimal(&value);
        let fits = i64::try_from(whole).unwrap_or(if whole < 0 { i64::MIN } else { i64::MAX });
        let kept = fits.clamp(call.integer(1)?, call.integer(2)?);
        if i128::from(kept) != whole {
            warn(call, 3, 1264, "Out of range value")?;
        }
        integer(kept)
    })
    .volatile(),
    // (value, digits in all, digits behind the point, 1 where it has a sign, column)
    Row::new("rf_mysql_fitting_decimal", 5, |call| {
        let value = given(call, 4)?.rounded(call.integer(2)?);
        let (kept, _) = nearest(&value, call.integer(1)?, call.integer(2)?)?;
        let kept = if kept.signum() < 0 && call.integer(3)? == 0 { Decimal::ZERO } else { kept };
        if kept.compare(&value).is_ne() {
            warn(call, 4, 1264, "Out of range value")?;
        }
        number(&kept)
    })
    .volatile(),
    // (text, letters, column)
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
    // (bytes, how many, column)
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
];

/// A value as a number; of a text that is none, or not wholly, there is a warning.
fn given(call: &Call<'_>, column: usize) -> Result<Decimal> {
    let value = call.value(0);
    if let ValueRef::Text(bytes) = value {
        let text = String::from_utf8_lossy(bytes);
        match numbers::prefix(&text) {
            "" => warn(call, column, 1366, &format!("Incorrect number value: '{text}'"))?,
            found if found.len() < text.trim().len() => warn(call, column, 1265, "Data truncated")?,
            _ => {}
        }
    }
    Ok(numbers::decimal_of(value).unwrap_or(Decimal::ZERO))
}

fn warn(call: &Call<'_>, column: usize, code: u16, what: &str) -> Result<()> {
    let message = format!("{what} for column '{}' at row 1", call.text(column)?);
    call.context().state().notice(Error::new(Condition::Warning, message).with_mysql(code, "01000"));
    Ok(())
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
