//! Arithmetic of dates, times and intervals: sums, differences, ages, fields, truncation. All pure; zones are arguments.

use jiff::tz::TimeZone;
use rowferry_wire::civil::{civil_from_days, days_from_civil};

use super::datetime_text::{DAY, HOUR, INFINITY, MINUTE, NEGATIVE_INFINITY, SECOND, days_in_month};
use super::time::TimeTz;
use super::{Decimal, Interval, date, interval, timestamp, zone};
use crate::{Condition, Error, Result};

/// True for `infinity` and `-infinity`.
pub fn is_infinite(moment: i64) -> bool {
    moment == INFINITY || moment == NEGATIVE_INFINITY
}

/// A timestamp plus an interval: months first (the day stays within its month), then days, then time.
pub fn add(micros: i64, interval: Interval) -> Result<i64> {
    if is_infinite(micros) {
        return Ok(micros);
    }
    let moved = add_days(add_months(micros, interval.months)?, interval.days)?;
    timestamp::check(moved.checked_add(interval.micros).ok_or_else(out_of_range)?)
}

/// An instant plus an interval: months and days by the zone's calendar and clocks, time as it passes.
pub fn add_to_instant(instant: i64, interval: Interval, zone: &TimeZone) -> Result<i64> {
    if is_infinite(instant) {
        return Ok(instant);
    }
    let mut moved = instant;
    if interval.months != 0 {
        moved = zone::to_instant(zone, add_months(zone::to_local(zone, moved), interval.months)?);
    }
    if interval.days != 0 {
        moved = zone::to_instant(zone, add_days(zone::to_local(zone, moved), interval.days)?);
    }
    timestamp::check(moved.checked_add(interval.micros).ok_or_else(out_of_range)?)
}

fn add_months(micros: i64, months: i32) -> Result<i64> {
    if months == 0 {
        return Ok(micros);
    }
    let (year, month, day) = civil_from_days(micros.div_euclid(DAY));
    let total = year * 12 + i64::from(month) - 1 + i64::from(months);
    let (year, month) = (total.div_euclid(12), total.rem_euclid(12) + 1);
    let day = i64::from(day).min(days_in_month(year, month));
    let days = days_from_civil(year, month, day);
    timestamp::check(days.checked_mul(DAY).ok_or_else(out_of_range)? + micros.rem_euclid(DAY))
}

fn add_days(micros: i64, days: i32) -> Result<i64> {
    timestamp::check(
        micros.checked_add(i64::from(days).checked_mul(DAY).ok_or_else(out_of_range)?).ok_or_else(out_of_range)?,
    )
}

fn out_of_range() -> Error {
    super::datetime_text::out_of_range("timestamp")
}

/// The time between two timestamps, whole days apart.
pub fn difference(left: i64, right: i64) -> Result<Interval> {
    if is_infinite(left) || is_infinite(right) {
        return Err(Error::new(Condition::DatetimeFieldOverflow, "cannot subtract infinite timestamps"));
    }
    Interval { months: 0, days: 0, micros: left.checked_sub(right).ok_or_else(interval::out_of_range)? }.justify_hours()
}

/// The years, months and days between two timestamps, as people count them.
pub fn age(left: i64, right: i64) -> Result<Interval> {
    if is_infinite(left) || is_infinite(right) {
        return Err(Error::new(Condition::DatetimeFieldOverflow, "cannot subtract infinite timestamps"));
    }
    if left < right {
        return age_forwards(right, left).neg();
    }
    Ok(age_forwards(left, right))
}

/// `later` minus `earlier`, field by field; days borrowed come from the earlier month.
fn age_forwards(later: i64, earlier: i64) -> Interval {
    let (year, month, day) = civil_from_days(later.div_euclid(DAY));
    let (from_year, from_month, from_day) = civil_from_days(earlier.div_euclid(DAY));
    let mut micros = later.rem_euclid(DAY) - earlier.rem_euclid(DAY);
    let mut days = i64::from(day) - i64::from(from_day);
    let mut months = (year - from_year) * 12 + i64::from(month) - i64::from(from_month);
    if micros < 0 {
        micros += DAY;
        days -= 1;
    }
    if days < 0 {
        days += days_in_month(from_year, i64::from(from_month));
        months -= 1;
    }
    Interval { months: months as i32, days: days as i32, micros }
}

/// A unit of `date_trunc` and `extract`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Unit {
    /// Microseconds.
    Microseconds,
    /// Milliseconds.
    Milliseconds,
    /// Seconds.
    Second,
    /// Minutes.
    Minute,
    /// Hours.
    Hour,
    /// Days.
    Day,
    /// ISO 8601 weeks.
    Week,
    /// Months.
    Month,
    /// Quarters.
    Quarter,
    /// Years.
    Year,
    /// Decades.
    Decade,
    /// Centuries.
    Century,
    /// Millennia.
    Millennium,
    /// Seconds since 1970.
    Epoch,
    /// Day of the week, Sunday is 0.
    DayOfWeek,
    /// Day of the week, Monday is 1.
    IsoDayOfWeek,
    /// Day of the year.
    DayOfYear,
    /// Year of the ISO 8601 week.
    IsoYear,
    /// Julian day with its fraction.
    Julian,
    /// Offset from Greenwich in seconds.
    Timezone,
    /// Hours of that.
    TimezoneHour,
    /// Minutes of that.
    TimezoneMinute,
}

impl Unit {
    /// The unit of a word.
    pub fn parse(word: &str) -> Option<Self> {
        Some(match word.to_ascii_lowercase().as_str() {
            "microseconds" | "microsecond" | "us" | "usec" | "usecs" => Self::Microseconds,
            "milliseconds" | "millisecond" | "ms" | "msec" | "msecs" => Self::Milliseconds,
            "second" | "seconds" | "sec" | "secs" | "s" => Self::Second,
            "minute" | "minutes" | "min" | "mins" | "m" => Self::Minute,
            "hour" | "hours" | "hr" | "hrs" | "h" => Self::Hour,
            "day" | "days" | "d" => Self::Day,
            "week" | "weeks" | "w" => Self::Week,
            "month" | "months" | "mon" | "mons" => Self::Month,
            "quarter" | "qtr" => Self::Quarter,
            "year" | "years" | "yr" | "yrs" | "y" => Self::Year,
            "decade" | "decades" | "dec" | "decs" => Self::Decade,
            "century" | "centuries" | "cent" | "c" => Self::Century,
            "millennium" | "millennia" | "mil" | "mils" => Self::Millennium,
            "epoch" => Self::Epoch,
            "dow" => Self::DayOfWeek,
            "isodow" => Self::IsoDayOfWeek,
            "doy" => Self::DayOfYear,
            "isoyear" => Self::IsoYear,
            "julian" | "j" => Self::Julian,
            "timezone" => Self::Timezone,
            "timezone_hour" | "timezone_h" => Self::TimezoneHour,
            "timezone_minute" | "timezone_m" => Self::TimezoneMinute,
            _ => return None,
        })
    }

    /// The same of `date_trunc`, to which the words of what is only a field are unknown.
    pub fn cutting(word: &str, type_name: &str) -> Result<Self> {
        let field = matches!(
            Self::parse(word),
            Some(Self::Epoch | Self::DayOfWeek | Self::IsoDayOfWeek | Self::DayOfYear | Self::IsoYear | Self::Julian)
        );
        if field { Err(not_recognized(word, type_name)) } else { Self::named(word, type_name) }
    }

    /// Its word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Microseconds => "microseconds",
            Self::Milliseconds => "milliseconds",
            Self::Second => "second",
            Self::Minute => "minute",
            Self::Hour => "hour",
            Self::Day => "day",
            Self::Week => "week",
            Self::Month => "month",
            Self::Quarter => "quarter",
            Self::Year => "year",
            Self::Decade => "decade",
            Self::Century => "century",
            Self::Millennium => "millennium",
            Self::Epoch => "epoch",
            Self::DayOfWeek => "dow",
            Self::IsoDayOfWeek => "isodow",
            Self::DayOfYear => "doy",
            Self::IsoYear => "isoyear",
            Self::Julian => "julian",
            Self::Timezone => "timezone",
            Self::TimezoneHour => "timezone_hour",
            Self::TimezoneMinute => "timezone_minute",
        }
    }

    /// The stored text of a timestamp shows where it begins: [`truncate_stored`] serves it.
    pub const fn is_shown(self) -> bool {
        matches!(self, Self::Second | Self::Minute | Self::Hour | Self::Day | Self::Month | Self::Quarter | Self::Year)
    }

    /// The unit of a word for values of a type; an unknown word is 22023.
    pub fn named(word: &str, type_name: &str) -> Result<Self> {
        Self::parse(word).ok_or_else(|| not_recognized(word, type_name))
    }
}

fn not_recognized(word: &str, type_name: &str) -> Error {
    let message = format!("unit \"{word}\" not recognized for type {type_name}");
    Error::new(Condition::InvalidParameterValue, message)
}

/// `unit … not supported for type …`.
pub fn unit_not_supported(word: &str, type_name: &str) -> Error {
    Error::new(Condition::FeatureNotSupported, format!("unit \"{word}\" not supported for type {type_name}"))
}

/// A timestamp cut off to a unit; `None` if the unit cannot cut.
pub fn truncate(unit: Unit, micros: i64) -> Option<i64> {
    if is_infinite(micros) {
        return Some(micros);
    }
    let days = micros.div_euclid(DAY);
    let (year, month, _) = civil_from_days(days);
    let first = |year: i64, month: i64| days_from_civil(year, month, 1) * DAY;
    let down = |size: i64| micros.div_euclid(size) * size;
    Some(match unit {
        Unit::Microseconds => micros,
        Unit::Milliseconds => down(1_000),
        Unit::Second => down(SECOND),
        Unit::Minute => down(MINUTE),
        Unit::Hour => down(HOUR),
        Unit::Day => down(DAY),
        // Day 0 was a Thursday.
        Unit::Week => (days - (days + 3).rem_euclid(7)) * DAY,
        Unit::Month => first(year, i64::from(month)),
        Unit::Quarter => first(year, (i64::from(month) - 1) / 3 * 3 + 1),
        Unit::Year => first(year, 1),
        Unit::Decade => first(year.div_euclid(10) * 10, 1),
        Unit::Century => first((year - 1).div_euclid(100) * 100 + 1, 1),
        Unit::Millennium => first((year - 1).div_euclid(1_000) * 1_000 + 1, 1),
        _ => return None,
    })
}

/// A stored timestamp cut off to a unit, without being computed; `None` for what must be: units that its text does not
/// show, years before 1 and behind 9999, infinity, and texts that are not canonical.
pub fn truncate_stored(unit: Unit, stored: &[u8]) -> Option<[u8; 19]> {
    let (text, fraction) = stored.split_first_chunk::<19>()?;
    let two = |at: usize| {
        let (tens, ones) = (text[at].wrapping_sub(b'0'), text[at + 1].wrapping_sub(b'0'));
        (tens < 10 && ones < 10).then(|| tens * 10 + ones)
    };
    let (century, year, month, day) = (two(0)?, two(2)?, two(5)?, two(8)?);
    let whole = matches!((two(11)?, two(14)?, two(17)?), (..24, ..60, ..60));
    let between = [text[4], text[7], text[10], text[13], text[16]] == *b"-- ::";
    let fraction = match fraction {
        [] => true,
        [b'.', digits @ ..] => (1..=6).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit),
        _ => false,
    };
    let date = (century > 0 || year > 0) && (1..=12).contains(&month) && day > 0;
    let last = || days_in_month(i64::from(century) * 100 + i64::from(year), i64::from(month));
    if !(whole && between && fraction && date && (day <= 28 || i64::from(day) <= last())) {
        return None;
    }
    let kept = match unit {
        Unit::Year => 4,
        Unit::Month | Unit::Quarter => 7,
        Unit::Day => 10,
        Unit::Hour => 13,
        Unit::Minute => 16,
        Unit::Second => 19,
        _ => return None,
    };
    let mut cut = *b"0000-01-01 00:00:00";
    cut[..kept].copy_from_slice(&text[..kept]);
    if unit == Unit::Quarter {
        let first = (month - 1) / 3 * 3 + 1;
        cut[5..7].copy_from_slice(&[b'0' + first / 10, b'0' + first % 10]);
    }
    Some(cut)
}

/// An instant cut off to a unit by a zone's clocks; `None` if the unit cannot cut.
pub fn truncate_instant(unit: Unit, instant: i64, zone: &TimeZone) -> Option<i64> {
    if is_infinite(instant) {
        return Some(instant);
    }
    let offset = i64::from(zone::offset_at(zone, instant)) * SECOND;
    let local = truncate(unit, instant + offset)?;
    // Units up to hours keep the offset, so that the repeated hour of autumn stays itself.
    let small = matches!(unit, Unit::Microseconds | Unit::Milliseconds | Unit::Second | Unit::Minute | Unit::Hour);
    Some(if small { local - offset } else { zone::to_instant(zone, local) })
}

/// An interval cut off to a unit; `None` if the unit cannot cut.
pub fn truncate_interval(unit: Unit, value: Interval) -> Option<Interval> {
    let months = |size: i32| Interval { months: value.months / size * size, days: 0, micros: 0 };
    let micros = |size: i64| Interval { micros: value.micros / size * size, ..value };
    Some(match unit {
        Unit::Millennium => months(12_000),
        Unit::Century => months(1_200),
        Unit::Decade => months(120),
        Unit::Year => months(12),
        Unit::Quarter => months(3),
        Unit::Month => months(1),
        Unit::Day => Interval { micros: 0, ..value },
        Unit::Hour => micros(HOUR),
        Unit::Minute => micros(MINUTE),
        Unit::Second => micros(SECOND),
        Unit::Milliseconds => micros(1_000),
        Unit::Microseconds => value,
        _ => return None,
    })
}

/// ISO 8601's year and week of a day.
pub fn iso_week(days: i64) -> (i64, i64) {
    // The week belongs to the year of its Thursday.
    let thursday = days - (days + 3).rem_euclid(7) + 3;
    let (year, _, _) = civil_from_days(thursday);
    (year, (thursday - days_from_civil(year, 1, 1)) / 7 + 1)
}

/// 0 for Sunday to 6 for Saturday.
pub fn day_of_week(days: i64) -> i64 {
    (days + 4).rem_euclid(7)
}

/// 1 for the first of January.
pub fn day_of_year(days: i64) -> i64 {
    let (year, _, _) = civil_from_days(days);
    days - days_from_civil(year, 1, 1) + 1
}

fn whole(value: i64) -> Option<Decimal> {
    Some(Decimal::from_i64(value))
}

/// Microseconds as seconds (`scale` 6) or milliseconds (`scale` 3).
fn seconds(micros: i64, scale: u32) -> Option<Decimal> {
    Some(Decimal::from_parts(i128::from(micros), scale))
}

fn time_field(unit: Unit, micros_of_day: i64) -> Option<Decimal> {
    match unit {
        Unit::Microseconds => whole(micros_of_day % MINUTE),
        Unit::Milliseconds => seconds(micros_of_day % MINUTE, 3),
        Unit::Second => seconds(micros_of_day % MINUTE, 6),
        Unit::Minute => whole(micros_of_day / MINUTE % 60),
        Unit::Hour => whole(micros_of_day / HOUR),
        _ => None,
    }
}

/// A field of a timestamp given by its local clocks, with its offset if it is an instant; `None` if it has no such
/// field.
pub fn extract(unit: Unit, local: i64, offset: Option<i32>) -> Option<Decimal> {
    match unit {
        Unit::Epoch => seconds(local - i64::from(offset.unwrap_or(0)) * SECOND, 6),
        Unit::Julian => {
            let fraction = Decimal::from_i64(local.rem_euclid(DAY)).div(&Decimal::from_i64(DAY)).ok()?;
            Decimal::from_i64(local.div_euclid(DAY) + 2_440_588).add(&fraction).ok()
        }
        Unit::Timezone => whole(i64::from(offset?)),
        Unit::TimezoneHour => whole(i64::from(offset? / 3_600)),
        Unit::TimezoneMinute => whole(i64::from(offset? / 60 % 60)),
        _ => extract_calendar(unit, local.div_euclid(DAY)).or_else(|| time_field(unit, local.rem_euclid(DAY))),
    }
}

/// A field of a day.
fn extract_calendar(unit: Unit, days: i64) -> Option<Decimal> {
    let (year, month, day) = civil_from_days(days);
    match unit {
        Unit::Day => whole(i64::from(day)),
        Unit::Month => whole(i64::from(month)),
        Unit::Quarter => whole((i64::from(month) - 1) / 3 + 1),
        // There is no year 0: the one before 1 AD is 1 BC.
        Unit::Year => whole(if year > 0 { year } else { year - 1 }),
        Unit::Decade => whole(if year >= 0 { year / 10 } else { -((9 - year) / 10) }),
        Unit::Century => whole(if year > 0 { (year + 99) / 100 } else { -((100 - year) / 100) }),
        Unit::Millennium => whole(if year > 0 { (year + 999) / 1_000 } else { -((1_000 - year) / 1_000) }),
        Unit::Week => whole(iso_week(days).1),
        Unit::IsoYear => {
            let year = iso_week(days).0;
            whole(if year > 0 { year } else { year - 1 })
        }
        Unit::DayOfWeek => whole(day_of_week(days)),
        Unit::IsoDayOfWeek => whole((days + 3).rem_euclid(7) + 1),
        Unit::DayOfYear => whole(day_of_year(days)),
        _ => None,
    }
}

/// A field of an infinite moment: infinite where the field grows without end, else NULL.
pub fn extract_infinite(unit: Unit, moment: i64) -> Option<Decimal> {
    let endless = if moment == INFINITY { Decimal::Infinity } else { Decimal::NegativeInfinity };
    match unit {
        Unit::Year | Unit::Decade | Unit::Century | Unit::Millennium | Unit::Julian | Unit::IsoYear | Unit::Epoch => {
            Some(endless)
        }
        _ => None,
    }
}

/// A field of a date; `None` for fields of times.
pub fn extract_date(unit: Unit, days: i64) -> Option<Decimal> {
    match unit {
        Unit::Epoch => whole(days * 86_400),
        Unit::Julian => whole(days + 2_440_588),
        _ => extract_calendar(unit, days),
    }
}

/// A field of a time of day; `None` for fields of dates.
pub fn extract_time(unit: Unit, micros: i64) -> Option<Decimal> {
    match unit {
        Unit::Epoch => seconds(micros, 6),
        _ => time_field(unit, micros),
    }
}

/// A field of a time of day with an offset; `None` for fields of dates.
pub fn extract_timetz(unit: Unit, value: TimeTz) -> Option<Decimal> {
    let offset = i64::from(value.offset);
    match unit {
        Unit::Epoch => seconds(value.micros - offset * SECOND, 6),
        Unit::Timezone => whole(offset),
        Unit::TimezoneHour => whole(offset / 3_600),
        Unit::TimezoneMinute => whole(offset % 3_600 / 60),
        _ => time_field(unit, value.micros),
    }
}

/// A field of an interval; `None` if it has no such field.
pub fn extract_interval(unit: Unit, value: Interval) -> Option<Decimal> {
    match unit {
        Unit::Day => whole(i64::from(value.days)),
        Unit::Month => whole(i64::from(value.months % 12)),
        Unit::Quarter => whole(i64::from(value.months % 12 / 3 + 1)),
        Unit::Year => whole(i64::from(value.months / 12)),
        Unit::Decade => whole(i64::from(value.months / 120)),
        Unit::Century => whole(i64::from(value.months / 1_200)),
        Unit::Millennium => whole(i64::from(value.months / 12_000)),
        Unit::Epoch => {
            // A year is 365.25 days here, a month 30.
            let days = i128::from(value.months / 12) * 1_461 * i128::from(DAY / 4)
                + (i128::from(value.months % 12) * 30 + i128::from(value.days)) * i128::from(DAY);
            Some(Decimal::from_parts(days + i128::from(value.micros), 6))
        }
        _ => time_field(unit, value.micros),
    }
}

/// The start of the `stride`-wide bin from `origin` in which a timestamp lies.
pub fn bin(stride: Interval, micros: i64, origin: i64) -> Result<i64> {
    if stride.months != 0 {
        return Err(Error::new(
            Condition::FeatureNotSupported,
            "timestamps cannot be binned into intervals containing months or years",
        ));
    }
    if is_infinite(origin) {
        return Err(Error::new(Condition::DatetimeFieldOverflow, "origin out of range"));
    }
    if is_infinite(micros) {
        return Ok(micros);
    }
    let size = i64::from(stride.days).checked_mul(DAY).and_then(|days| days.checked_add(stride.micros));
    let size = size.ok_or_else(interval::out_of_range)?;
    if size <= 0 {
        return Err(Error::new(Condition::DatetimeFieldOverflow, "stride must be greater than zero"));
    }
    let distance = micros.checked_sub(origin).ok_or_else(interval::out_of_range)?;
    let start = i128::from(origin) + i128::from(distance.div_euclid(size)) * i128::from(size);
    timestamp::check(i64::try_from(start).map_err(|_| super::datetime_text::out_of_range("timestamp"))?)
}

/// The day number of a year (negative for BC), month and day.
pub fn make_date(year: i64, month: i64, day: i64) -> Result<i64> {
    let invalid = || {
        let message = format!("date field value out of range: {year}-{month:02}-{day:02}");
        Error::new(Condition::DatetimeFieldOverflow, message)
    };
    // Far beyond the last day: what an integer of another program's may be.
    if year == 0 || year.unsigned_abs() > 10_000_000 || !super::datetime_text::valid_date(year.max(1), month, day) {
        return Err(invalid());
    }
    let year = if year < 0 { year + 1 } else { year };
    date::check(days_from_civil(year, month, day)).map_err(|_| invalid())
}

/// Microseconds of the day of an hour, minute and second.
pub fn make_time(hour: i64, minute: i64, second: f64) -> Result<i64> {
    let micros = (second * 1e6).round();
    if (0..=24).contains(&hour) && (0..60).contains(&minute) && (0.0..=60e6).contains(&micros) {
        let total = hour * HOUR + minute * MINUTE + micros as i64;
        if total <= DAY {
            return Ok(total);
        }
    }
    let message = format!("time field value out of range: {hour}:{minute:02}:{second:02}");
    Err(Error::new(Condition::DatetimeFieldOverflow, message))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::values::Settings;

    fn moment(text: &str) -> i64 {
        timestamp::parse(text, &Settings::default()).unwrap()
    }

    fn interval(text: &str) -> Interval {
        Interval::parse(text).unwrap()
    }

    #[test]
    fn a_stored_timestamp_is_cut_off_as_a_computed_one() {
        let units = [Unit::Second, Unit::Minute, Unit::Hour, Unit::Day, Unit::Month, Unit::Quarter, Unit::Year];
        let texts =
            ["2024-02-29 23:59:59.999999", "0001-01-01 00:00:00", "9999-12-31 10:11:12.5", "2025-08-30 01:02:03"];
        for text in texts {
            let micros = timestamp::micros(text.as_bytes()).unwrap();
            for unit in units {
                assert!(unit.is_shown());
                assert_eq!(Unit::parse(unit.word()), Some(unit));
                let cut = truncate_stored(unit, text.as_bytes()).unwrap();
                let expected = timestamp::to_stored(truncate(unit, micros).unwrap()).unwrap();
                assert_eq!(std::str::from_utf8(&cut), Ok(expected.as_str()), "{unit:?} {text}");
            }
            assert_eq!(truncate_stored(Unit::Week, text.as_bytes()), None);
        }
        let others = [
            "infinity",
            "2025-01-01",
            "2025-02-29 00:00:00",
            "2025-13-01 00:00:00",
            "2025-01-00 00:00:00",
            "2025-01-01T00:00:00",
            "2025-01-01 24:00:00",
            "2025-01-01 00:60:00",
            "2025-01-01 00:00:60",
            "2025-01-01 00:00:00.",
            "2025-01-01 00:00:00.1234567",
            "2025-01-01 00:00:00+02",
            "0000-01-01 00:00:00",
            "Y0012025-03-31 10:00:00",
            ".099957-03-15 12:00:00",
            "2025-1x-01 00:00:00",
        ];
        for text in others {
            assert_eq!(truncate_stored(Unit::Day, text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn sums_follow_the_calendar() {
        for (start, step, end) in [
            ("2024-01-31", "1 month", "2024-02-29 00:00:00"),
            ("2023-01-31 10:00", "1 month 1 day 2:00", "2023-03-01 12:00:00"),
            ("2024-03-31", "-1 month", "2024-02-29 00:00:00"),
            ("2024-02-29", "1 year", "2025-02-28 00:00:00"),
        ] {
            let sum = add(moment(start), interval(step)).unwrap();
            assert_eq!(timestamp::to_stored(sum).unwrap(), end, "{start} + {step}");
        }
        assert_eq!(add(moment("294246-12-31"), interval("1 year")).unwrap_err().condition().sqlstate(), "22008");
    }

    #[test]
    fn a_day_is_a_day_on_the_clocks_of_the_zone() {
        let zone = zone::find("Europe/Vienna").unwrap();
        let before = moment("2026-03-28 11:00");
        assert_eq!(add_to_instant(before, interval("1 day"), &zone).unwrap() - before, 23 * HOUR);
        assert_eq!(add_to_instant(before, interval("24:00"), &zone).unwrap() - before, 24 * HOUR);
    }

    #[test]
    fn ages_are_counted_as_people_do() {
        // Answers of PostgreSQL 15.
        for (later, earlier, result) in [
            ("2001-04-10", "1957-06-13", "43 years 9 mons 27 days"),
            ("2024-03-01", "2024-01-31", "1 mon 1 day"),
            ("2024-01-31", "2024-03-01", "-1 mons -1 days"),
            ("2024-05-06 12:00", "2024-05-05 13:00", "23:00:00"),
        ] {
            assert_eq!(age(moment(later), moment(earlier)).unwrap().to_string(), result);
        }
        assert_eq!(
            difference(moment("2024-05-06 12:00"), moment("2024-05-01")).unwrap().to_string(),
            "5 days 12:00:00"
        );
    }

    #[test]
    fn fields_have_the_digits_of_postgres() {
        let at = moment("2024-05-06 12:30:45.678");
        for (unit, value) in [
            ("year", "2024"),
            ("month", "5"),
            ("day", "6"),
            ("hour", "12"),
            ("second", "45.678000"),
            ("milliseconds", "45678.000"),
            ("microseconds", "45678000"),
            ("epoch", "1714998645.678000"),
            ("dow", "1"),
            ("isodow", "1"),
            ("doy", "127"),
            ("week", "19"),
            ("quarter", "2"),
            ("century", "21"),
            ("julian", "2460437.52136201388888888889"),
        ] {
            assert_eq!(extract(Unit::parse(unit).unwrap(), at, None).unwrap().to_string(), value, "{unit}");
        }
        assert!(extract(Unit::Timezone, at, None).is_none());
        assert_eq!(extract_interval(Unit::Epoch, interval("1 year 1 day")).unwrap().to_string(), "31644000.000000");
    }

    #[test]
    fn truncation() {
        let at = moment("2024-05-09 12:30:45.678");
        for (unit, result) in [
            ("hour", "2024-05-09 12:00:00"),
            ("week", "2024-05-06 00:00:00"),
            ("quarter", "2024-04-01 00:00:00"),
            ("decade", "2020-01-01 00:00:00"),
            ("century", "2001-01-01 00:00:00"),
        ] {
            assert_eq!(timestamp::to_stored(truncate(Unit::parse(unit).unwrap(), at).unwrap()).unwrap(), result);
        }
        assert_eq!(iso_week(days_from_civil(2021, 1, 3)), (2020, 53));
    }
}
