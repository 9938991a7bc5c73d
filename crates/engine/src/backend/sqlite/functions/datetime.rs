//! Dates, times, intervals, and what the clock says.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rowferry_dialect::ir::Value;
use rowferry_dialect::values::datetime_text::{DAY, HOUR, INFINITY, MINUTE, NEGATIVE_INFINITY, SECOND};
use rowferry_dialect::values::moments::{self, Unit, is_infinite, unit_not_supported};
use rowferry_dialect::values::time::TimeTz;
use rowferry_dialect::values::{Interval, date, from_char, interval, time, timestamp, to_char, zone};
use rowferry_dialect::{Condition, Error, Result};

pub(super) use rowferry_dialect::values::moments::{add, add_to_instant};

use super::call::{boolean, decimal, integer, text};
use super::{Call, Row};

pub(super) const ROWS: &[Row] = &[
    // The clock.
    Row::new("rf_now", 0, |call| instant(call.context().times().transaction)),
    Row::new("rf_statement_timestamp", 0, |call| instant(call.context().times().statement)),
    Row::new("rf_clock_timestamp", 0, |_| instant(clock())).volatile(),
    Row::new("rf_timeofday", 0, time_of_day).volatile(),
    Row::new("rf_current_date", 0, |call| text(date::to_stored(local_now(call).div_euclid(DAY))?)),
    Row::new("rf_current_time", 0, |call| {
        let now = call.context().times().transaction;
        let offset = call.with_settings(|settings| zone::offset_at(&settings.time_zone, now));
        text(time::TimeTz { micros: local_now(call).rem_euclid(DAY), offset }.to_stored())
    }),
    Row::new("rf_localtime", 0, |call| text(time::to_stored(local_now(call).rem_euclid(DAY)))),
    Row::new("rf_localtimestamp", 0, |call| local(local_now(call))),
    Row::new("rf_today_midnight", 0, |call| local(local_now(call).div_euclid(DAY) * DAY)),
    Row::new("rf_today_midnight_tz", 0, |call| {
        let midnight = local_now(call).div_euclid(DAY) * DAY;
        instant(call.with_settings(|settings| zone::to_instant(&settings.time_zone, midnight)))
    }),
    Row::new("rf_pg_sleep", 1, |call| {
        let seconds = call.float(0)?;
        if seconds > 0.0 {
            // A year is as good as for ever, and fits a duration.
            call.context().state().sleep(Duration::from_secs_f64(seconds.min(31_536_000.0)))?;
        }
        Ok(Value::Text(String::new()))
    })
    .volatile(),
    // Sums and differences.
    Row::new("rf_date_add", 2, |call| add_days(call, 1)),
    Row::new("rf_date_sub", 2, |call| add_days(call, -1)),
    Row::new("rf_date_diff", 2, |call| {
        let (left, right) = (date::days(call.bytes(0)?)?, date::days(call.bytes(1)?)?);
        if is_infinite(left) || is_infinite(right) {
            return Err(Error::new(Condition::DatetimeFieldOverflow, "cannot subtract infinite dates"));
        }
        integer(left - right)
    }),
    Row::new("rf_date_add_time", 2, |call| match date::days(call.bytes(0)?)? {
        infinite @ (INFINITY | NEGATIVE_INFINITY) => local(infinite),
        days => local(midnight(days)?.saturating_add(time::micros(call.bytes(1)?)?)),
    }),
    Row::new("rf_timestamp_add_interval", 2, |call| local(add(moment(call, 0)?, span(call, 1)?)?)),
    Row::new("rf_timestamp_sub_interval", 2, |call| local(add(moment(call, 0)?, span(call, 1)?.neg()?)?)),
    Row::new("rf_timestamp_diff", 2, |call| shown(moments::difference(moment(call, 0)?, moment(call, 1)?)?)),
    Row::new("rf_timestamptz_add_interval", 2, |call| {
        let (start, step) = (moment(call, 0)?, span(call, 1)?);
        instant(call.with_settings(|settings| add_to_instant(start, step, &settings.time_zone))?)
    }),
    Row::new("rf_timestamptz_sub_interval", 2, |call| {
        let (start, step) = (moment(call, 0)?, span(call, 1)?.neg()?);
        instant(call.with_settings(|settings| add_to_instant(start, step, &settings.time_zone))?)
    }),
    Row::new("rf_timestamptz_diff", 2, |call| shown(moments::difference(moment(call, 0)?, moment(call, 1)?)?)),
    Row::new("rf_time_add_interval", 2, |call| {
        text(time::to_stored((time::micros(call.bytes(0)?)? + span(call, 1)?.micros % DAY).rem_euclid(DAY)))
    }),
    Row::new("rf_time_sub_interval", 2, |call| {
        text(time::to_stored((time::micros(call.bytes(0)?)? - span(call, 1)?.micros % DAY).rem_euclid(DAY)))
    }),
    Row::new("rf_timetz_add", 3, |call| {
        let TimeTz { micros, offset } = TimeTz::from_stored(call.bytes(0)?)?;
        let micros = (micros + call.integer(2)? * (span(call, 1)?.micros % DAY)).rem_euclid(DAY);
        text(TimeTz { micros, offset }.to_stored())
    }),
    Row::new("rf_date_add_timetz", 2, |call| match date::days(call.bytes(0)?)? {
        infinite @ (INFINITY | NEGATIVE_INFINITY) => instant(infinite),
        days => {
            let TimeTz { micros, offset } = TimeTz::from_stored(call.bytes(1)?)?;
            instant(midnight(days)?.saturating_add(micros).saturating_sub(i64::from(offset) * SECOND))
        }
    }),
    Row::new("rf_overlaps", 5, overlaps).lenient(),
    Row::new("rf_time_diff", 2, |call| {
        let micros = time::micros(call.bytes(0)?)? - time::micros(call.bytes(1)?)?;
        shown(Interval { months: 0, days: 0, micros })
    }),
    Row::new("rf_interval_add", 2, |call| shown(span(call, 0)?.add(span(call, 1)?)?)),
    Row::new("rf_interval_sub", 2, |call| shown(span(call, 0)?.add(span(call, 1)?.neg()?)?)),
    Row::new("rf_interval_neg", 1, |call| shown(span(call, 0)?.neg()?)),
    Row::new("rf_interval_mul", 2, |call| shown(span(call, 0)?.mul(call.float(1)?)?)),
    Row::new("rf_interval_div", 2, |call| shown(span(call, 0)?.div(call.float(1)?)?)),
    Row::new("rf_justify_days", 1, |call| shown(span(call, 0)?.justify_days()?)),
    Row::new("rf_justify_hours", 1, |call| shown(span(call, 0)?.justify_hours()?)),
    Row::new("rf_justify_interval", 1, |call| shown(span(call, 0)?.justify_interval()?)),
    Row::new("rf_age", 2, |call| shown(moments::age(moment(call, 0)?, moment(call, 1)?)?)),
    Row::new("rf_age_timestamptz", 2, |call| {
        let (left, right) = (moment(call, 0)?, moment(call, 1)?);
        let here = |moment: i64| match is_infinite(moment) {
            true => moment,
            false => call.with_settings(|settings| zone::to_local(&settings.time_zone, moment)),
        };
        shown(moments::age(here(left), here(right))?)
    }),
    Row::new("rf_isfinite", 1, |call| boolean(!matches!(call.bytes(0)?, b"infinity" | b"-infinity"))),
    // Fields.
    Row::new("rf_extract_date", 2, extract_date),
    Row::new("rf_extract_timestamp", 2, extract_timestamp),
    Row::new("rf_extract_timestamptz", 2, extract_timestamptz),
    Row::new("rf_extract_time", 2, |call| {
        let word = call.text(0)?;
        let name = "time without time zone";
        let field = moments::extract_time(Unit::named(word, name)?, time::micros(call.bytes(1)?)?);
        decimal(&field.ok_or_else(|| unit_not_supported(word, name))?)
    }),
    Row::new("rf_extract_timetz", 2, |call| {
        let word = call.text(0)?;
        let name = "time with time zone";
        let field = moments::extract_timetz(Unit::named(word, name)?, TimeTz::from_stored(call.bytes(1)?)?);
        decimal(&field.ok_or_else(|| unit_not_supported(word, name))?)
    }),
    Row::new("rf_extract_interval", 2, |call| {
        let word = call.text(0)?;
        let field = moments::extract_interval(Unit::named(word, "interval")?, span(call, 1)?);
        decimal(&field.ok_or_else(|| unit_not_supported(word, "interval"))?)
    }),
    Row::new("rf_date_trunc_timestamp", 2, |call| {
        let word = call.text(0)?;
        let stored = call.bytes(1)?;
        if let Some(cut) = Unit::parse(word).and_then(|unit| moments::truncate_stored(unit, stored)) {
            return text(String::from_utf8_lossy(&cut));
        }
        truncated(word, stored).map(Value::Text)
    }),
    Row::new("rf_date_trunc_timestamptz", 2, |call| {
        let word = call.text(0)?;
        let name = "timestamp with time zone";
        let at = moment(call, 1)?;
        if is_infinite(at) {
            return instant(at);
        }
        let zone = match call.given(2) {
            Some(_) => zone::named(call.text(2)?)?,
            None => call.with_settings(|settings| settings.time_zone.clone()),
        };
        let cut = moments::truncate_instant(Unit::cutting(word, name)?, at, &zone);
        instant(cut.ok_or_else(|| unit_not_supported(word, name))?)
    })
    .optional(1),
    Row::new("rf_date_trunc_interval", 2, |call| {
        let word = call.text(0)?;
        let cut = moments::truncate_interval(Unit::cutting(word, "interval")?, span(call, 1)?);
        shown(cut.ok_or_else(|| unit_not_supported(word, "interval"))?)
    }),
    Row::new("rf_date_bin", 3, |call| {
        let bin = moments::bin(span(call, 0)?, moment(call, 1)?, moment(call, 2)?)?;
        if call.len() > 3 { instant(bin) } else { local(bin) }
    })
    .optional(1),
    // Zones.
    Row::new("rf_timezone_to_utc", 2, |call| match moment(call, 1)? {
        // Nobody looks at the zone.
        infinite @ (INFINITY | NEGATIVE_INFINITY) => instant(infinite),
        local => instant(zone::named_to_instant(call.text(0)?, local)?),
    }),
    Row::new("rf_timezone_from_utc", 2, |call| match moment(call, 1)? {
        infinite @ (INFINITY | NEGATIVE_INFINITY) => local(infinite),
        at => local(zone::to_local(&zone::named(call.text(0)?)?, at)),
    }),
    Row::new("rf_timezone_timetz", 2, |call| {
        let name = call.text(0)?;
        let now = call.context().times().transaction;
        let offset = match zone::abbreviated(name) {
            Some(zone::Abbreviation::Fixed { offset, .. }) => offset,
            Some(zone::Abbreviation::Of(zone)) => zone::offset_of_abbreviation(&zone, name, zone::to_local(&zone, now)),
            None => zone::offset_at(&zone::named(name)?, now),
        };
        text(moved(TimeTz::from_stored(call.bytes(1)?)?, offset).to_stored())
    }),
    Row::new("rf_timezone_interval", 3, timezone_interval),
    // Making.
    Row::new("rf_make_timestamptz", 6, make_instant).optional(1),
    Row::new("rf_make_date", 3, |call| {
        text(date::to_stored(moments::make_date(call.integer(0)?, call.integer(1)?, call.integer(2)?)?)?)
    }),
    Row::new("rf_make_time", 3, |call| {
        text(time::to_stored(moments::make_time(call.integer(0)?, call.integer(1)?, call.float(2)?)?))
    }),
    Row::new("rf_make_timestamp", 6, |call| {
        let days = moments::make_date(call.integer(0)?, call.integer(1)?, call.integer(2)?)?;
        local(midnight(days)? + moments::make_time(call.integer(3)?, call.integer(4)?, call.float(5)?)?)
    }),
    Row::new("rf_make_interval", 0, make_interval).optional(7),
    Row::new("rf_to_timestamp", 1, |call| {
        let seconds = call.float(0)?;
        if seconds.is_nan() {
            return Err(Error::new(Condition::DatetimeFieldOverflow, "timestamp cannot be NaN"));
        }
        if seconds.is_infinite() {
            return instant(if seconds > 0.0 { INFINITY } else { NEGATIVE_INFINITY });
        }
        if seconds.abs() > 1e12 {
            let message = format!("timestamp out of range: \"{seconds}\"");
            return Err(Error::new(Condition::DatetimeFieldOverflow, message));
        }
        instant((seconds * 1e6).round_ties_even() as i64)
    }),
    // By templates.
    Row::new("rf_to_char_timestamp", 2, |call| to_char_moment(call, false)),
    Row::new("rf_to_char_timestamptz", 2, |call| to_char_moment(call, true)),
    Row::new("rf_to_char_interval", 2, |call| text(to_char::interval(span(call, 0)?, call.text(1)?)?)),
    Row::new("rf_to_date", 2, |call| {
        let parts = from_char::parse(call.text(0)?, call.text(1)?)?;
        let out_of_range = |_| {
            let message = format!("date out of range: \"{}\"", call.text(0).unwrap_or_default());
            Error::new(Condition::DatetimeFieldOverflow, message)
        };
        text(date::to_stored(parts.days).map_err(out_of_range)?)
    }),
    Row::new("rf_to_timestamp_text", 2, |call| {
        let parts = from_char::parse(call.text(0)?, call.text(1)?)?;
        // Only the instant must be in range: the local clock may be an offset beyond it.
        let local = parts.days.checked_mul(DAY).and_then(|midnight| midnight.checked_add(parts.micros));
        let local = local
            .filter(|local| local.unsigned_abs() < i64::MAX as u64 - DAY as u64)
            .ok_or_else(|| Error::new(Condition::DatetimeFieldOverflow, "timestamp out of range"))?;
        let at = match parts.offset {
            Some(offset) => local - i64::from(offset) * SECOND,
            None => call.with_settings(|settings| zone::to_instant(&settings.time_zone, local)),
        };
        instant(timestamp::round(at, parts.precision))
    }),
];

/// The machine's clock: microseconds since 1970 UTC.
pub(crate) fn clock() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_micros()).unwrap_or(0)
}

fn instant(micros: i64) -> Result<Value> {
    text(timestamp::to_stored_tz(micros)?)
}

/// A stored timestamp cut off to a unit.
pub(super) fn truncated(word: &str, stored: &[u8]) -> Result<String> {
    let name = "timestamp without time zone";
    let at = timestamp::micros(stored)?;
    if is_infinite(at) {
        // Nobody looks at the unit.
        return timestamp::to_stored(at);
    }
    let cut = moments::truncate(Unit::cutting(word, name)?, at);
    timestamp::to_stored(cut.ok_or_else(|| unit_not_supported(word, name))?)
}

fn local(micros: i64) -> Result<Value> {
    text(timestamp::to_stored(micros)?)
}

fn shown(value: Interval) -> Result<Value> {
    text(value.to_string())
}

fn moment(call: &Call<'_>, at: usize) -> Result<i64> {
    timestamp::micros(call.bytes(at)?)
}

/// A time of day by the clocks of another offset.
fn moved(time: TimeTz, offset: i32) -> TimeTz {
    TimeTz { micros: (time.micros + i64::from(offset - time.offset) * SECOND).rem_euclid(DAY), offset }
}

/// `timezone(interval, value)`: what kind of value comes first.
fn timezone_interval(call: &Call<'_>) -> Result<Value> {
    let zone = span(call, 1)?;
    // What is infinite is so by all clocks.
    match call.text(0)? {
        "timestamp" if is_infinite(moment(call, 2)?) => return instant(moment(call, 2)?),
        "timestamptz" if is_infinite(moment(call, 2)?) => return local(moment(call, 2)?),
        _ => {}
    }
    if zone.months != 0 || zone.days != 0 {
        let message = format!("interval time zone \"{zone}\" must not include months or days");
        return Err(Error::new(Condition::InvalidParameterValue, message));
    }
    let offset = zone.micros / SECOND;
    match call.text(0)? {
        "timetz" => {
            let offset = i32::try_from(offset).map_err(|_| interval::out_of_range())?;
            text(moved(TimeTz::from_stored(call.bytes(2)?)?, offset).to_stored())
        }
        kind => match moment(call, 2)? {
            at if kind == "timestamp" => instant(at.saturating_sub(offset * SECOND)),
            at => local(at.saturating_add(offset * SECOND)),
        },
    }
}

/// `make_timestamptz`: in the session's zone, or in one that is named.
fn make_instant(call: &Call<'_>) -> Result<Value> {
    let days = moments::make_date(call.integer(0)?, call.integer(1)?, call.integer(2)?)?;
    let clock = midnight(days)? + moments::make_time(call.integer(3)?, call.integer(4)?, call.float(5)?)?;
    if call.len() < 7 {
        return instant(call.with_settings(|settings| zone::to_instant(&settings.time_zone, clock)));
    }
    let name = call.text(6)?;
    let invalid = |message: String| Error::new(Condition::InvalidParameterValue, message);
    if name.starts_with(|c: char| c.is_ascii_digit()) {
        return Err(invalid(format!("invalid input syntax for type numeric time zone: \"{name}\""))
            .hint("Numeric time zones must have \"-\" or \"+\" as first character."));
    }
    let number = name.strip_prefix(['+', '-']).filter(|rest| rest.bytes().all(|b| b.is_ascii_digit() || b == b':'));
    instant(match (zone::parse_offset(name), number) {
        (Some(offset), _) => clock.saturating_sub(i64::from(offset) * SECOND),
        (None, Some(digits)) if !digits.is_empty() => {
            return Err(invalid(format!("numeric time zone \"{name}\" out of range")));
        }
        _ => zone::named_to_instant(name, clock)?,
    })
}

/// What orders moments of one kind.
type Moment = (i64, i32);

/// `(start, end) OVERLAPS (start, end)`; the kind of the four comes first. An end that is NULL is not known, and that may
/// not matter.
fn overlaps(call: &Call<'_>) -> Result<Value> {
    let kind = call.text(0)?;
    let key = |at: usize| -> Result<Option<Moment>> {
        if call.is_null(at) {
            return Ok(None);
        }
        Ok(Some(match kind {
            "timetz" => TimeTz::from_stored(call.bytes(at)?)?.sort_key(),
            "time" => (time::micros(call.bytes(at)?)?, 0),
            _ => (moment(call, at)?, 0),
        }))
    };
    let period = |at: usize| -> Result<Option<(Moment, Option<Moment>)>> {
        Ok(match (key(at)?, key(at + 1)?) {
            (None, None) => None,
            (Some(only), None) | (None, Some(only)) => Some((only, None)),
            (Some(one), Some(other)) => Some((one.min(other), Some(one.max(other)))),
        })
    };
    let (Some(first), Some(second)) = (period(1)?, period(3)?) else { return Ok(Value::Null) };
    if first.0 == second.0 {
        return Ok(if first.1.is_some() && second.1.is_some() { Value::Integer(1) } else { Value::Null });
    }
    let (earlier, later) = if first.0 < second.0 { (first, second) } else { (second, first) };
    Ok(match (earlier.1, later.1) {
        (None, _) => Value::Null,
        (Some(end), _) if later.0 < end => Value::Integer(1),
        (Some(_), None) => Value::Null,
        (Some(_), Some(_)) => Value::Integer(0),
    })
}

/// The beginning of a day, if timestamps reach it.
fn midnight(days: i64) -> Result<i64> {
    timestamp::at(days, 0)
        .ok_or_else(|| Error::new(Condition::DatetimeFieldOverflow, "date out of range for timestamp"))
}

fn span(call: &Call<'_>, at: usize) -> Result<Interval> {
    Interval::from_stored(call.bytes(at)?)
}

/// The transaction's start by the session's clocks.
fn local_now(call: &Call<'_>) -> i64 {
    let now = call.context().times().transaction;
    call.with_settings(|settings| zone::to_local(&settings.time_zone, now))
}

fn time_of_day(call: &Call<'_>) -> Result<Value> {
    let now = clock();
    call.with_settings(|settings| {
        let here = zone::to_local(&settings.time_zone, now);
        let shown = to_char::timestamp(here, "Dy Mon DD HH24:MI:SS.US YYYY", None)?;
        text(format!("{shown} {}", zone::abbreviation_at(&settings.time_zone, now)))
    })
}

fn add_days(call: &Call<'_>, sign: i64) -> Result<Value> {
    match date::days(call.bytes(0)?)? {
        infinite @ (INFINITY | NEGATIVE_INFINITY) => text(date::to_stored(infinite)?),
        days => {
            let moved = call.integer(1)?.checked_mul(sign).and_then(|by| days.checked_add(by));
            let out_of_range = || Error::new(Condition::DatetimeFieldOverflow, "date out of range");
            text(date::to_stored(moved.filter(|day| !is_infinite(*day)).ok_or_else(out_of_range)?)?)
        }
    }
}

fn extract_timestamp(call: &Call<'_>) -> Result<Value> {
    let word = call.text(0)?;
    let name = "timestamp without time zone";
    let unit = Unit::named(word, name)?;
    let at = moment(call, 1)?;
    if is_infinite(at) {
        return Ok(infinite_field(unit, at));
    }
    let field = moments::extract(unit, at, None);
    decimal(&field.ok_or_else(|| unit_not_supported(word, name))?)
}

fn extract_date(call: &Call<'_>) -> Result<Value> {
    let word = call.text(0)?;
    let unit = Unit::named(word, "date")?;
    let days = date::days(call.bytes(1)?)?;
    // Which fields a date has does not depend on whether it is infinite.
    let finite = if is_infinite(days) { 0 } else { days };
    let field = moments::extract_date(unit, finite).ok_or_else(|| unit_not_supported(word, "date"))?;
    if is_infinite(days) { Ok(infinite_field(unit, days)) } else { decimal(&field) }
}

/// A field of an infinite moment.
fn infinite_field(unit: Unit, moment: i64) -> Value {
    moments::extract_infinite(unit, moment).map_or(Value::Null, |field| Value::Text(field.to_string()))
}

fn extract_timestamptz(call: &Call<'_>) -> Result<Value> {
    let word = call.text(0)?;
    let name = "timestamp with time zone";
    let unit = Unit::named(word, name)?;
    let at = moment(call, 1)?;
    if is_infinite(at) {
        return Ok(infinite_field(unit, at));
    }
    let offset = call.with_settings(|settings| zone::offset_at(&settings.time_zone, at));
    let field = moments::extract(unit, at + i64::from(offset) * SECOND, Some(offset));
    decimal(&field.ok_or_else(|| unit_not_supported(word, name))?)
}

fn make_interval(call: &Call<'_>) -> Result<Value> {
    let part = |at: usize| if at < call.len() { call.integer(at) } else { Ok(0) };
    let (years, months, weeks, days) = (part(0)?, part(1)?, part(2)?, part(3)?);
    let (hours, minutes) = (part(4)?, part(5)?);
    let seconds = if call.len() > 6 { call.float(6)? } else { 0.0 };
    if !seconds.is_finite() {
        return Err(interval::out_of_range());
    }
    // PostgreSQL 15 looks at nothing else: its integers wrap.
    let narrow = |value: i64| value as i32;
    let seconds = match (seconds * 1e6).round_ties_even() {
        fits if (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&fits) => fits as i64,
        // What its processors make of what does not fit.
        _ => i64::MIN,
    };
    shown(Interval {
        months: narrow(years.wrapping_mul(12).wrapping_add(months)),
        days: narrow(weeks.wrapping_mul(7).wrapping_add(days)),
        micros: hours.wrapping_mul(HOUR).wrapping_add(minutes.wrapping_mul(MINUTE)).wrapping_add(seconds),
    })
}

fn to_char_moment(call: &Call<'_>, with_zone: bool) -> Result<Value> {
    let at = moment(call, 0)?;
    if is_infinite(at) {
        return Ok(Value::Null);
    }
    let template = call.text(1)?;
    if !with_zone {
        return text(to_char::timestamp(at, template, None)?);
    }
    call.with_settings(|settings| {
        let offset = zone::offset_at(&settings.time_zone, at);
        let name = zone::abbreviation_at(&settings.time_zone, at);
        text(to_char::timestamp(at + i64::from(offset) * SECOND, template, Some((offset, &name)))?)
    })
}
