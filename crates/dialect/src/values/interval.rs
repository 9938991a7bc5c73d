//! `interval`: months, days and microseconds, each with its own sign; stored in the text of the `postgres` style.

use std::cmp::Ordering;
use std::fmt;

use super::datetime_text::{self, DAY, HOUR, MINUTE, SECOND};
use super::{IntervalModifier, IntervalStyle, Settings, ValueRef, interval_read, misfit};
use crate::{Condition, Error, Result, Type};

/// An interval.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct Interval {
    /// Months; twelve make a year.
    pub months: i32,
    /// Days.
    pub days: i32,
    /// Microseconds.
    pub micros: i64,
}

// These sums and products can fail, which the operators' traits cannot.
#[allow(clippy::should_implement_trait)]
impl Interval {
    /// Reads PostgreSQL's, the SQL standard's and ISO 8601's forms, under the default `IntervalStyle`.
    pub fn parse(text: &str) -> Result<Self> {
        Self::parse_in(text, IntervalStyle::default())
    }

    /// As [`Interval::parse`], under a session's `IntervalStyle`.
    pub fn parse_in(text: &str, style: IntervalStyle) -> Result<Self> {
        Self::parse_for(text, style, None)
    }

    /// As [`Interval::parse_in`], for a type with modifiers: they say what a number without a unit counts, and what is kept.
    pub fn parse_for(text: &str, style: IntervalStyle, modifier: Option<IntervalModifier>) -> Result<Self> {
        let value = interval_read::read(text, style, modifier)?;
        Ok(modifier.map_or(value, |modifier| modifier.fit(value)))
    }

    /// A stored interval.
    pub fn from_stored(stored: &[u8]) -> Result<Self> {
        let text = std::str::from_utf8(stored).ok();
        let canonical = text.and_then(read_canonical).or_else(|| text.and_then(|text| Self::parse(text).ok()));
        canonical.ok_or_else(|| misfit(ValueRef::Text(stored), &Type::Interval(None)))
    }

    /// The length for comparisons: thirty days make a month, twenty-four hours a day.
    pub fn total_micros(self) -> i128 {
        (i128::from(self.months) * 30 + i128::from(self.days)) * i128::from(DAY) + i128::from(self.micros)
    }

    /// Order by length.
    pub fn compare(self, other: Self) -> Ordering {
        self.total_micros().cmp(&other.total_micros())
    }

    /// Sum, field by field.
    pub fn add(self, other: Self) -> Result<Self> {
        Ok(Self {
            months: self.months.checked_add(other.months).ok_or_else(out_of_range)?,
            days: self.days.checked_add(other.days).ok_or_else(out_of_range)?,
            micros: self.micros.checked_add(other.micros).ok_or_else(out_of_range)?,
        })
    }

    /// Negation, field by field.
    pub fn neg(self) -> Result<Self> {
        Ok(Self {
            months: self.months.checked_neg().ok_or_else(out_of_range)?,
            days: self.days.checked_neg().ok_or_else(out_of_range)?,
            micros: self.micros.checked_neg().ok_or_else(out_of_range)?,
        })
    }

    /// Product with a number; fractions of months spill into days, of days into time.
    pub fn mul(self, factor: f64) -> Result<Self> {
        self.scaled(|field| field * factor)
    }

    /// Quotient; spills as a product does.
    pub fn div(self, divisor: f64) -> Result<Self> {
        if divisor == 0.0 {
            return Err(super::decimal::division_by_zero());
        }
        self.scaled(|field| field / divisor)
    }

    fn scaled(self, scale: impl Fn(f64) -> f64) -> Result<Self> {
        let months = scale(f64::from(self.months));
        let days = scale(f64::from(self.days));
        let limit = |value: f64| {
            let fits = (-2_147_483_648.0..2_147_483_648.0).contains(&value);
            if fits { Ok(value.trunc() as i32) } else { Err(out_of_range()) }
        };
        let (whole_months, mut whole_days) = (limit(months)?, limit(days)?);
        // Rounded to microseconds of a day, as PostgreSQL does against the noise of binary fractions.
        let round_to_micros = |value: f64| (value * 1e6).round_ties_even() / 1e6;
        let spilled_days = round_to_micros((months - f64::from(whole_months)) * 30.0);
        let mut seconds =
            round_to_micros((days - f64::from(whole_days) + spilled_days - spilled_days.trunc()) * 86_400.0);
        if seconds.abs() >= 86_400.0 {
            let more = (seconds / 86_400.0).trunc();
            whole_days = whole_days.checked_add(more as i32).ok_or_else(out_of_range)?;
            seconds -= more * 86_400.0;
        }
        whole_days = whole_days.checked_add(spilled_days as i32).ok_or_else(out_of_range)?;
        let micros = (scale(self.micros as f64) + seconds * 1e6).round_ties_even();
        if !(-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&micros) {
            return Err(out_of_range());
        }
        Ok(Self { months: whole_months, days: whole_days, micros: micros as i64 })
    }

    /// Thirty-day groups become months (`justify_days`).
    pub fn justify_days(self) -> Result<Self> {
        let mut value = self;
        let months = value.days / 30;
        value.days -= months * 30;
        value.months = value.months.checked_add(months).ok_or_else(out_of_range)?;
        if value.months > 0 && value.days < 0 {
            value.days += 30;
            value.months -= 1;
        } else if value.months < 0 && value.days > 0 {
            value.days -= 30;
            value.months += 1;
        }
        Ok(value)
    }

    /// Twenty-four hours become days (`justify_hours`).
    pub fn justify_hours(self) -> Result<Self> {
        let mut value = self;
        let days = i32::try_from(value.micros / DAY).map_err(|_| out_of_range())?;
        value.micros -= i64::from(days) * DAY;
        value.days = value.days.checked_add(days).ok_or_else(out_of_range)?;
        if value.days > 0 && value.micros < 0 {
            value.micros += DAY;
            value.days -= 1;
        } else if value.days < 0 && value.micros > 0 {
            value.micros -= DAY;
            value.days += 1;
        }
        Ok(value)
    }

    /// Days and months full, and one sign for all three (`justify_interval`).
    pub fn justify_interval(self) -> Result<Self> {
        let mut value = self;
        // Full months first where days and time would run beyond the range together.
        if i64::from(value.days.signum()) * value.micros.signum() > 0 {
            value.take_full_months()?;
        }
        value.days += i32::try_from(value.micros / DAY).map_err(|_| out_of_range())?;
        value.micros %= DAY;
        value.take_full_months()?;
        let below = value.days < 0 || (value.days == 0 && value.micros < 0);
        let above = value.days > 0 || (value.days == 0 && value.micros > 0);
        if value.months > 0 && below {
            value.days += 30;
            value.months -= 1;
        } else if value.months < 0 && above {
            value.days -= 30;
            value.months += 1;
        }
        if value.days > 0 && value.micros < 0 {
            value.micros += DAY;
            value.days -= 1;
        } else if value.days < 0 && value.micros > 0 {
            value.micros -= DAY;
            value.days += 1;
        }
        Ok(value)
    }

    fn take_full_months(&mut self) -> Result<()> {
        let months = self.days / 30;
        self.days -= months * 30;
        self.months = self.months.checked_add(months).ok_or_else(out_of_range)?;
        Ok(())
    }

    /// The text in a style.
    pub fn to_text(self, style: IntervalStyle) -> String {
        match style {
            IntervalStyle::Postgres => self.to_postgres(),
            IntervalStyle::PostgresVerbose => self.to_verbose(),
            IntervalStyle::Iso8601 => self.to_iso(),
            IntervalStyle::SqlStandard => self.to_standard(),
        }
    }

    fn to_postgres(self) -> String {
        let mut out = String::new();
        let mut before_negative = false;
        let mut part = |value: i32, unit: &str| {
            if value != 0 {
                if !out.is_empty() {
                    out.push(' ');
                }
                // A positive number behind a negative one says so.
                let sign = if before_negative && value > 0 { "+" } else { "" };
                let plural = if value == 1 { "" } else { "s" };
                out.push_str(&format!("{sign}{value} {unit}{plural}"));
                before_negative = value < 0;
            }
        };
        part(self.months / 12, "year");
        part(self.months % 12, "mon");
        part(self.days, "day");
        if self.micros != 0 || out.is_empty() {
            if !out.is_empty() {
                out.push(' ');
            }
            let sign = if self.micros < 0 {
                "-"
            } else if before_negative {
                "+"
            } else {
                ""
            };
            out.push_str(sign);
            out.push_str(&clock(self.micros, 2));
        }
        out
    }

    fn to_verbose(self) -> String {
        if self == Self::default() {
            return "@ 0".to_owned();
        }
        let mut parts = Vec::new();
        let mut ago = None;
        let mut part = |value: i64, unit: &str| {
            if value != 0 {
                let negative = *ago.get_or_insert(value < 0);
                let shown = if negative { -value } else { value };
                parts.push(format!("{shown} {unit}{}", if shown == 1 { "" } else { "s" }));
            }
        };
        part(i64::from(self.months / 12), "year");
        part(i64::from(self.months % 12), "mon");
        part(i64::from(self.days), "day");
        part(self.micros / HOUR, "hour");
        part(self.micros / MINUTE % 60, "min");
        let rest = self.micros % MINUTE;
        let negative = *ago.get_or_insert(rest < 0);
        if rest != 0 {
            let shown = if negative { -rest } else { rest };
            let sign = if shown < 0 { "-" } else { "" };
            let mut text = Vec::new();
            datetime_text::write_fraction(&mut text, shown.abs() % SECOND);
            let fraction = String::from_utf8(text).unwrap_or_default();
            let plural = if shown.abs() == SECOND { "" } else { "s" };
            parts.push(format!("{sign}{}{fraction} sec{plural}", shown.abs() / SECOND));
        }
        format!("@ {}{}", parts.join(" "), if negative { " ago" } else { "" })
    }

    fn to_iso(self) -> String {
        if self == Self::default() {
            return "PT0S".to_owned();
        }
        let mut out = "P".to_owned();
        for (value, unit) in [(self.months / 12, 'Y'), (self.months % 12, 'M'), (self.days, 'D')] {
            if value != 0 {
                out.push_str(&format!("{value}{unit}"));
            }
        }
        if self.micros != 0 {
            out.push('T');
            for (value, unit) in [(self.micros / HOUR, 'H'), (self.micros / MINUTE % 60, 'M')] {
                if value != 0 {
                    out.push_str(&format!("{value}{unit}"));
                }
            }
            let rest = self.micros % MINUTE;
            if rest != 0 {
                let mut text = Vec::new();
                datetime_text::write_fraction(&mut text, rest.abs() % SECOND);
                let sign = if rest < 0 { "-" } else { "" };
                out.push_str(&format!("{sign}{}{}S", rest.abs() / SECOND, String::from_utf8(text).unwrap_or_default()));
            }
        }
        out
    }

    fn to_standard(self) -> String {
        let negative = self.months < 0 || self.days < 0 || self.micros < 0;
        let positive = self.months > 0 || self.days > 0 || self.micros > 0;
        let has_months = self.months != 0;
        let has_days = self.days != 0 || self.micros != 0;
        if !negative && !positive {
            return "0".to_owned();
        }
        let sign = |value: i64| if value < 0 { '-' } else { '+' };
        if (negative && positive) || (has_months && has_days) {
            // What the standard has no literal for is printed with all signs.
            return format!(
                "{}{}-{} {}{} {}{}",
                sign(i64::from(self.months)),
                (self.months / 12).abs(),
                (self.months % 12).abs(),
                sign(i64::from(self.days)),
                self.days.unsigned_abs(),
                sign(self.micros),
                clock(self.micros, 1)
            );
        }
        let lead = if negative { "-" } else { "" };
        if has_months {
            format!("{lead}{}-{}", (self.months / 12).abs(), (self.months % 12).abs())
        } else if self.days != 0 {
            format!("{lead}{} {}", self.days.unsigned_abs(), clock(self.micros, 1))
        } else {
            format!("{lead}{}", clock(self.micros, 1))
        }
    }
}

/// `HH:MM:SS[.ffffff]` of a magnitude; hours have as many digits as they need.
fn clock(micros: i64, hour_digits: usize) -> String {
    let magnitude = micros.unsigned_abs();
    let (hour, minute, second) = (HOUR as u64, MINUTE as u64, SECOND as u64);
    let mut fraction = Vec::new();
    datetime_text::write_fraction(&mut fraction, (magnitude % second) as i64);
    format!(
        "{:0hour_digits$}:{:02}:{:02}{}",
        magnitude / hour,
        magnitude / minute % 60,
        magnitude / second % 60,
        String::from_utf8(fraction).unwrap_or_default()
    )
}

/// `interval out of range`, 22008.
pub fn out_of_range() -> Error {
    Error::new(Condition::DatetimeFieldOverflow, "interval out of range")
}

impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_postgres())
    }
}

/// Order of two stored intervals by length; texts that are none come last.
pub fn compare_stored(left: &[u8], right: &[u8]) -> Ordering {
    match (Interval::from_stored(left), Interval::from_stored(right)) {
        (Ok(a), Ok(b)) => a.compare(b),
        (Ok(_), Err(_)) => Ordering::Less,
        (Err(_), Ok(_)) => Ordering::Greater,
        (Err(_), Err(_)) => left.cmp(right),
    }
}

/// Appends a stored interval in the session's style.
pub fn write(out: &mut Vec<u8>, stored: &[u8], settings: &Settings) -> Result<()> {
    let interval = Interval::from_stored(stored)?;
    out.extend_from_slice(interval.to_text(settings.interval_style).as_bytes());
    Ok(())
}

/// Reads what [`Interval::to_text`] writes in the `postgres` style, without the general reader's effort.
fn read_canonical(text: &str) -> Option<Interval> {
    let mut value = Interval::default();
    let mut words = text.split(' ');
    while let Some(word) = words.next() {
        if word.contains(':') {
            let (negative, body) = match word.as_bytes().first()? {
                b'-' => (true, &word[1..]),
                b'+' => (false, &word[1..]),
                _ => (false, word),
            };
            let (hours, rest) = body.split_once(':')?;
            // The rest has the form of a time of day with hour 00.
            let mut clock = *b"00:00:00.000000";
            let rest = rest.as_bytes();
            clock.get_mut(3..3 + rest.len())?.copy_from_slice(rest);
            let (micros, []) = datetime_text::iso_time(&clock[..3 + rest.len()])? else { return None };
            // Downwards there is room for one microsecond more.
            let hours = hours.parse::<i64>().ok()?.checked_neg()?.checked_mul(HOUR)?;
            let micros = hours.checked_sub(micros)?;
            value.micros = if negative { micros } else { micros.checked_neg()? };
            return words.next().is_none().then_some(value);
        }
        let number: i32 = word.parse().ok()?;
        match words.next()? {
            "year" | "years" => value.months = number.checked_mul(12)?,
            "mon" | "mons" => value.months = value.months.checked_add(number)?,
            "day" | "days" => value.days = number,
            _ => return None,
        }
    }
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_postgres_reads() {
        // Left what PostgreSQL 15 was given, right what it printed.
        for (text, printed) in [
            ("1 year 2 mons 3 days 4:05:06.7", "1 year 2 mons 3 days 04:05:06.7"),
            ("P1Y2M3DT4H5M6S", "1 year 2 mons 3 days 04:05:06"),
            ("1-2 3 4:05:06", "1 year 2 mons 3 days 04:05:06"),
            ("@ 1 hour ago", "-01:00:00"),
            ("1.5 months", "1 mon 15 days"),
            ("-1 day +02:03", "-1 days +02:03:00"),
            ("3 weeks", "21 days"),
            ("1.5 hours 30 min", "02:00:00"),
            ("5", "00:00:05"),
            ("1 decade 1 century 2 ms", "110 years 00:00:00.002"),
            ("1 day -1:00", "1 day -01:00:00"),
            ("0.5 years", "6 mons"),
            ("P0001-02-03T04:05:06", "1 year 2 mons 3 days 04:05:06"),
            ("2:30", "02:30:00"),
            ("1 2:30", "1 day 02:30:00"),
            ("100:00:00.5", "100:00:00.5"),
            ("1.5 days", "1 day 12:00:00"),
            ("0", "00:00:00"),
            ("1day", "1 day"),
        ] {
            let interval = Interval::parse(text).unwrap();
            assert_eq!(interval.to_string(), printed, "{text}");
            assert_eq!(Interval::parse(printed).unwrap(), interval, "{printed}");
        }
        for (text, sqlstate) in [
            ("x", "22007"),
            ("1 foo", "22007"),
            ("", "22007"),
            ("999999999999999 years", "22015"),
            ("\u{a0}1 day", "22007"),
            ("P", "22007"),
        ] {
            assert_eq!(Interval::parse(text).unwrap_err().condition().sqlstate(), sqlstate, "{text}");
        }
    }

    #[test]
    fn prints_in_every_style() {
        let interval = Interval::parse("1 year 2 mons -3 days 4:05:06.7").unwrap();
        assert_eq!(interval.to_text(IntervalStyle::Postgres), "1 year 2 mons -3 days +04:05:06.7");
        assert_eq!(interval.to_text(IntervalStyle::PostgresVerbose), "@ 1 year 2 mons -3 days 4 hours 5 mins 6.7 secs");
        assert_eq!(interval.to_text(IntervalStyle::Iso8601), "P1Y2M-3DT4H5M6.7S");
        assert_eq!(interval.to_text(IntervalStyle::SqlStandard), "+1-2 -3 +4:05:06.7");
    }

    #[test]
    fn compares_by_length() {
        let interval = |text| Interval::parse(text).unwrap();
        assert_eq!(interval("1 mon").compare(interval("30 days")), Ordering::Equal);
        assert_eq!(interval("1 day").compare(interval("25:00")), Ordering::Less);
    }

    #[test]
    fn scales_with_spill() {
        let interval = |text| Interval::parse(text).unwrap();
        assert_eq!(interval("1 month").mul(0.5).unwrap().to_string(), "15 days");
        assert_eq!(interval("1 day").mul(1.5).unwrap().to_string(), "1 day 12:00:00");
        assert_eq!(interval("1 hour").div(3.0).unwrap().to_string(), "00:20:00");
        assert_eq!(interval("1 year").div(7.0).unwrap().to_string(), "1 mon 21 days 10:17:08.5344");
    }
}
