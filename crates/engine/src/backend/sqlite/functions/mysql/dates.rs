//! Dates and times.

use std::time::{SystemTime, UNIX_EPOCH};

use rowferry_dialect::ir::Value;
use rowferry_dialect::values::datetime_text::{HOUR, MINUTE, SECOND, days_in_month};
use rowferry_dialect::values::mysql::moments::{self, DAYS_TO_1970, Moment, Unit};
use rowferry_dialect::values::mysql::{format, numbers};
use rowferry_dialect::values::{Decimal, zone as zones};

use super::super::call::{integer, text};
use super::super::{Call, Row};
use super::conversions::stored_time;
use super::{maybe, zone};

pub(in super::super) const ROWS: &[Row] = &[
    Row::new("rf_mysql_year_of_number", 1, |call| integer(moments::year_of_number(call.integer(0)?))),
    Row::new("rf_mysql_year_of_text", 1, |call| {
        let given = call.text(0)?;
        text(moments::year_of_text(given).map_or_else(|| given.to_owned(), |year| year.to_string()))
    }),
    // The clock: digits of the fraction.
    Row::new("rf_mysql_now", 1, |call| maybe(now(call), |now| text(cut(now, call.integer(0)?).stored()))),
    Row::new("rf_mysql_sysdate", 1, |call| {
        let clock = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_micros() as i64);
        let local = Moment::of_micros(zones::to_local(&zone(call), clock));
        maybe(local, |now| text(cut(now, call.integer(0)?).stored()))
    })
    .volatile(),
    Row::new("rf_mysql_utc", 1, |call| {
        maybe(Moment::of_micros(call.context().times().statement), |now| text(cut(now, call.integer(0)?).stored()))
    }),
    Row::new("rf_mysql_utc_time", 1, |call| {
        maybe(Moment::of_micros(call.context().times().statement), |now| {
            text(stored_time(cut(now, call.integer(0)?).micros))
        })
    }),
    Row::new("rf_mysql_curtime", 1, |call| {
        maybe(now(call), |now| text(stored_time(cut(now, call.integer(0)?).micros)))
    }),
    // Parts.
    Row::new("rf_mysql_part", 2, |call| {
        let unit = call.text(0)?;
        // Of a time alone there are no days.
        let of_time = Unit::named(unit).is_some_and(Unit::is_of_time) && !unit.starts_with("day");
        let moment = if of_time { time_or_moment(call, 1) } else { moment(call, 1) };
        maybe(moment.and_then(|moment| moments::extract(unit, &moment)), integer)
    }),
    Row::new("rf_mysql_quarter", 1, |call| maybe(moment(call, 0), |moment| integer((moment.month + 2) / 3))),
    Row::new("rf_mysql_weekday", 1, |call| maybe(moment(call, 0).and_then(|moment| moment.weekday()), integer)),
    Row::new("rf_mysql_dayofweek", 1, |call| {
        maybe(moment(call, 0).and_then(|moment| moment.weekday()), |day| integer((day + 1) % 7 + 1))
    }),
    Row::new("rf_mysql_dayofyear", 1, |call| maybe(moment(call, 0).and_then(|moment| moment.day_of_year()), integer)),
    Row::new("rf_mysql_week", 2, |call| {
        let mode = call.integer(1)?;
        maybe(moment(call, 0).and_then(|moment| moment.week(mode, false)), |(week, _)| integer(week))
    }),
    Row::new("rf_mysql_yearweek", 2, |call| {
        let mode = call.integer(1)?;
        maybe(moment(call, 0).and_then(|moment| moment.week(mode, true)), |(week, year)| integer(year * 100 + week))
    }),
    Row::new("rf_mysql_dayname", 1, |call| {
        maybe(moment(call, 0).and_then(|moment| moment.weekday()), |day| text(format::DAYS[day as usize]))
    }),
    Row::new("rf_mysql_monthname", 1, |call| {
        let month = moment(call, 0).filter(|moment| moment.month > 0);
        maybe(month, |moment| text(format::MONTHS[moment.month as usize - 1]))
    }),
    Row::new("rf_mysql_last_day", 1, |call| {
        maybe(moment(call, 0).filter(|moment| moment.month > 0), |moment| {
            let day = days_in_month(moment.year, moment.month);
            text(Moment { day, ..moment }.date_text())
        })
    }),
    // Numbers of days and seconds.
    Row::new("rf_mysql_to_days", 1, |call| {
        maybe(moment(call, 0).and_then(|moment| moment.days()), |days| integer(days + DAYS_TO_1970))
    }),
    Row::new("rf_mysql_from_days", 1, |call| {
        let days = call.integer(0)?;
        // Days of the year 0 are none.
        let found = if days < 366 { None } else { Moment::of_days(days.saturating_sub(DAYS_TO_1970), 0, false) };
        maybe(found, |moment| text(moment.date_text()))
    }),
    Row::new("rf_mysql_to_seconds", 1, |call| {
        maybe(moment(call, 0).and_then(|moment| moment.since_1970()), |micros| {
            integer(micros.div_euclid(SECOND) + DAYS_TO_1970 * 86_400)
        })
    }),
    Row::new("rf_mysql_time_to_sec", 1, |call| maybe(time(call, 0), |micros| integer(micros / SECOND))),
    Row::new("rf_mysql_sec_to_time", 1, |call| {
        let micros = micros_of(&call.decimal(0)?);
        maybe(Some(moments::clipped(micros)), |micros| text(moments::time_text(micros)))
    }),
    Row::new("rf_mysql_makedate", 2, |call| {
        let (year, day) = (call.integer(0)?, call.integer(1)?);
        let year = if (0..100).contains(&year) { moments::year_of_two(year) } else { year };
        let first = Moment { year, month: 1, day: 1, ..Moment::default() };
        let days = if day < 1 || !(0..=9_999).contains(&year) { None } else { first.days() };
        let found = days.and_then(|days| Moment::of_days(days.saturating_add(day - 1), 0, false));
        maybe(found, |moment| text(moment.date_text()))
    }),
    Row::new("rf_mysql_maketime", 3, |call| {
        let (hour, minute, second) = (call.integer(0)?, call.integer(1)?, micros_of(&call.decimal(2)?));
        if !(0..60).contains(&minute) || !(0..60 * SECOND).contains(&second) {
            return Ok(Value::Null);
        }
        let hours = hour.abs().min(1_000_000);
        let micros = moments::clipped(hours * HOUR + minute * MINUTE + second);
        text(moments::time_text(if hour < 0 { -micros } else { micros }))
    }),
    Row::new("rf_mysql_period_add", 2, |call| {
        let period = call.integer(0)?;
        match months_of_period(period) {
            Some(months) => integer(period_of_months(months.saturating_add(call.integer(1)?))),
            None => Err(wrong("period_add")),
        }
    }),
    Row::new("rf_mysql_period_diff", 2, |call| {
        match (months_of_period(call.integer(0)?), months_of_period(call.integer(1)?)) {
            (Some(left), Some(right)) => integer(left - right),
            _ => Err(wrong("period_diff")),
        }
    }),
    // Differences.
    Row::new("rf_mysql_datediff", 2, |call| {
        let days = moment(call, 0).and_then(|moment| moment.days()).zip(moment(call, 1).and_then(|end| end.days()));
        maybe(days, |(left, right)| integer(left - right))
    }),
    Row::new("rf_mysql_timediff", 2, |call| {
        let (left, right) = (mixed(call, 0), mixed(call, 1));
        let micros = match (left, right) {
            (Some((left, true)), Some((right, true))) | (Some((left, false)), Some((right, false))) => {
                Some(left - right)
            }
            _ => None,
        };
        maybe(micros, |micros| text(moments::time_text(moments::clipped(micros))))
    }),
    // (unit, from, to)
    Row::new("rf_mysql_timestampdiff", 3, |call| {
        let pair = moment(call, 1).zip(moment(call, 2));
        maybe(pair.and_then(|(from, to)| moments::difference(call.text(0).ok()?, from, to)), integer)
    }),
    // (moment, number, unit, 1 or -1, `d`ate, `t`imestamp, ti`m`e or a te`x`t)
    Row::new("rf_mysql_date_add", 5, |call| {
        let Some(unit) = Unit::named(call.text(2)?) else { return Err(wrong("date_add")) };
        // A decimal is rounded. A text of the same letters, which is to be cut off, is not told from it.
        let is_decimal = call.shown(1).is_ok_and(|text| numbers::prefix(&text).len() == text.len());
        let step = unit.of(call.value(1), is_decimal);
        let step = if call.integer(3)? < 0 { step.and_then(moments::Step::negated) } else { step };
        let Some(step) = step else { return Ok(Value::Null) };
        let wanted = call.text(4)?;
        if wanted == "m" {
            let sum = time(call, 0).and_then(|start| start.checked_add(step.of_time()?));
            return maybe(sum, |micros| text(moments::time_text(moments::clipped(micros))));
        }
        let timed = wanted == "t" || wanted == "x" && unit.is_of_time();
        maybe(moment(call, 0).and_then(|start| step.from(start, timed)), |sum| {
            text(match wanted {
                "d" => sum.date_text(),
                "t" => sum.stored(),
                _ if sum.timed => sum.datetime_text(),
                _ => sum.date_text(),
            })
        })
    }),
    // (moment or time, time, 1 or -1)
    Row::new("rf_mysql_add_time", 3, |call| {
        let sign = call.integer(2)?;
        let (start, step) = (mixed(call, 0), time(call, 1));
        let Some(((start, is_moment), step)) = start.zip(step) else { return Ok(Value::Null) };
        let sum = start + sign * step;
        match is_moment {
            true => maybe(Moment::of_micros(sum), |moment| text(moment.datetime_text())),
            false => text(moments::time_text(moments::clipped(sum))),
        }
    }),
    // Formats.
    Row::new("rf_mysql_date_format", 2, |call| {
        maybe(moment(call, 0).and_then(|moment| format::moment_text(&moment, call.text(1).ok()?, false)), text)
    }),
    Row::new("rf_mysql_time_format", 2, |call| {
        let time = time(call, 0).map(|micros| Moment { micros, timed: true, ..Moment::default() });
        maybe(time.and_then(|time| format::moment_text(&time, call.text(1).ok()?, true)), text)
    }),
    Row::new("rf_mysql_str_to_date", 2, |call| {
        let shape = format::shape(call.text(1)?);
        maybe(format::moment_of_text(call.text(0)?, call.text(1)?), |moment| match shape {
            format::Shape::Time => text(moments::time_text(moment.micros)),
            // A date of which a part is 0 is none.
            _ if moment.days().is_none() => Ok(Value::Null),
            format::Shape::Date => text(moment.date_text()),
            format::Shape::Both => text(moment.datetime_text()),
        })
    }),
    Row::new("rf_mysql_get_format", 2, |call| {
        let kind = call.text(0)?.to_ascii_uppercase();
        maybe(get_format(&kind, &call.text(1)?.to_ascii_uppercase()), text)
    }),
    // Seconds since 1970.
    Row::new("rf_mysql_unix_now", 0, |call| integer(call.context().times().statement.div_euclid(SECOND))),
    Row::new("rf_mysql_unix_timestamp", 1, |call| {
        let local = moment(call, 0).and_then(|moment| moment.since_1970());
        maybe(local, |local| {
            let micros = zones::to_instant(&zone(call), local).max(0);
            match micros % SECOND {
                0 => text((micros / SECOND).to_string()),
                _ => text(Decimal::from_parts(i128::from(micros), 6).to_string()),
            }
        })
    }),
    Row::new("rf_mysql_from_unixtime", 1, |call| {
        let micros = micros_of(&call.decimal(0)?);
        // Beyond the year 3001 there is none.
        let found = (0..32_536_771_200 * SECOND).contains(&micros).then(|| zones::to_local(&zone(call), micros));
        maybe(found.and_then(Moment::of_micros), |moment| text(moment.stored()))
    }),
    Row::new("rf_mysql_convert_tz", 3, |call| {
        let zones = named_zone(call, 1).zip(named_zone(call, 2));
        let local = moment(call, 0).and_then(|moment| moment.since_1970()).zip(zones);
        let found = local
            .and_then(|(local, (from, to))| Moment::of_micros(zones::to_local(&to, zones::to_instant(&from, local))));
        maybe(found, |moment| text(moment.stored()))
    }),
    Row::new("rf_mysql_timestamp_of", 2, |call| {
        let sum = moment(call, 0).and_then(|moment| moment.since_1970()).zip(time(call, 1));
        maybe(sum.and_then(|(start, time)| Moment::of_micros(start + time)), |moment| text(moment.stored()))
    }),
];

/// The statement's moment, by the session's clock.
fn now(call: &Call<'_>) -> Option<Moment> {
    Moment::of_micros(zones::to_local(&zone(call), call.context().times().statement))
}

/// A moment with so many digits of its fraction.
fn cut(moment: Moment, digits: i64) -> Moment {
    let unit = 10_i64.pow(6 - u32::try_from(digits.clamp(0, 6)).unwrap_or(0));
    Moment { micros: moment.micros / unit * unit, ..moment }
}

fn moment(call: &Call<'_>, at: usize) -> Option<Moment> {
    moments::read(call.value(at), &zone(call))
}

fn time(call: &Call<'_>, at: usize) -> Option<i64> {
    moments::read_time(call.value(at), &zone(call))
}

/// The time of an argument; of a date its midnight.
fn time_or_moment(call: &Call<'_>, at: usize) -> Option<Moment> {
    if let Some(found) = moment(call, at).filter(|moment| moment.timed || is_dashed(call, at)) {
        return Some(found);
    }
    time(call, at).map(|micros| Moment { micros, timed: true, ..Moment::default() })
}

/// A text that looks like a date.
fn is_dashed(call: &Call<'_>, at: usize) -> bool {
    call.shown(at).is_ok_and(|text| text.trim_start().get(1..).is_some_and(|rest| rest.contains('-')))
}

/// A moment (`true`) or a time, in microseconds.
fn mixed(call: &Call<'_>, at: usize) -> Option<(i64, bool)> {
    if is_dashed(call, at) {
        return moment(call, at).and_then(|moment| moment.since_1970()).map(|micros| (micros, true));
    }
    time(call, at).map(|micros| (micros, false))
}

/// Seconds as microseconds.
fn micros_of(seconds: &Decimal) -> i64 {
    let micros = seconds.mul(&Decimal::from_i64(SECOND)).map(|micros| numbers::integer_of_decimal(&micros));
    micros.map_or(0, |micros| micros.clamp(i128::from(-i64::MAX / 4), i128::from(i64::MAX / 4)) as i64)
}

/// Months of a period, `YYMM` or `YYYYMM`.
fn months_of_period(period: i64) -> Option<i64> {
    let (year, month) = (period / 100, period % 100);
    if period <= 0 || !(1..=12).contains(&month) {
        return None;
    }
    let year = if year < 100 { moments::year_of_two(year) } else { year };
    Some(year * 12 + month - 1)
}

fn period_of_months(months: i64) -> i64 {
    months.div_euclid(12) * 100 + months.rem_euclid(12) + 1
}

fn wrong(function: &str) -> rowferry_dialect::Error {
    rowferry_dialect::Error::new(
        rowferry_dialect::Condition::InvalidParameterValue,
        format!("Incorrect arguments to {function}"),
    )
}

/// A zone by its name, `SYSTEM` or an offset.
fn named_zone(call: &Call<'_>, at: usize) -> Option<jiff::tz::TimeZone> {
    let name = call.text(at).ok()?;
    if name.eq_ignore_ascii_case("system") {
        return Some(jiff::tz::TimeZone::UTC);
    }
    if let Some((sign, rest)) = name.split_at_checked(1).filter(|(sign, _)| matches!(*sign, "+" | "-")) {
        let (hours, minutes) = rest.split_once(':')?;
        let seconds = hours.parse::<i32>().ok()? * 3_600 + minutes.parse::<i32>().ok().filter(|part| *part < 60)? * 60;
        return if seconds > 14 * 3_600 { None } else { zones::fixed(if sign == "-" { -seconds } else { seconds }) };
    }
    zones::find(name)
}

fn get_format(kind: &str, standard: &str) -> Option<&'static str> {
    Some(match (kind, standard) {
        ("DATE", "USA") => "%m.%d.%Y",
        ("DATE", "JIS" | "ISO") => "%Y-%m-%d",
        ("DATE", "EUR") => "%d.%m.%Y",
        ("DATE", "INTERNAL") => "%Y%m%d",
        ("DATETIME" | "TIMESTAMP", "USA" | "EUR") => "%Y-%m-%d %H.%i.%s",
        ("DATETIME" | "TIMESTAMP", "JIS" | "ISO") => "%Y-%m-%d %H:%i:%s",
        ("DATETIME" | "TIMESTAMP", "INTERNAL") => "%Y%m%d%H%i%s",
        ("TIME", "USA") => "%h:%i:%s %p",
        ("TIME", "JIS" | "ISO") => "%H:%i:%s",
        ("TIME", "EUR") => "%H.%i.%s",
        ("TIME", "INTERNAL") => "%H%i%s",
        _ => return None,
    })
}
