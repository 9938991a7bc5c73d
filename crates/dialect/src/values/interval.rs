//! `interval`: months, days and microseconds, each with its own sign; stored in the text of the `postgres` style.

use std::cmp::Ordering;
use std::fmt;

use super::datetime_text::{self, DAY, HOUR, MINUTE, SECOND};
use super::{IntervalStyle, Settings, ValueRef, misfit};
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

/// What a number in an interval counts.
#[derive(Clone, Copy)]
enum Unit {
    Micros(i64),
    Days(i64),
    Months(i64),
}

/// Sums with fractions spilling downwards, as PostgreSQL spreads them.
#[derive(Default)]
struct Sum {
    months: i128,
    days: i128,
    micros: i128,
}

impl Sum {
    /// Adds `whole` and a fraction (in billionths) of a unit.
    fn add(&mut self, whole: i128, billionths: i128, unit: Unit) {
        match unit {
            Unit::Micros(size) => self.add_micros(whole * i128::from(size), billionths * i128::from(size)),
            Unit::Days(size) => self.add_days(whole * i128::from(size), billionths * i128::from(size)),
            Unit::Months(size) => {
                self.months += whole * i128::from(size);
                if size == 1 {
                    // Thirty days make a month where a fraction of one is asked for.
                    self.add_days(0, billionths * 30);
                } else {
                    // A fraction of a year counts whole months only.
                    let rounded = (billionths * i128::from(size)) as f64 / 1e9;
                    self.months += rounded.round_ties_even() as i128;
                }
            }
        }
    }

    fn add_days(&mut self, whole: i128, billionths: i128) {
        self.days += whole + billionths / BILLION;
        self.add_micros(0, billionths % BILLION * i128::from(DAY));
    }

    fn add_micros(&mut self, whole: i128, billionths: i128) {
        let half = if billionths < 0 { -BILLION / 2 } else { BILLION / 2 };
        self.micros += whole + (billionths + half) / BILLION;
    }

    fn finish(self, text: &str) -> Result<Interval> {
        let overflow =
            || Error::new(Condition::DatetimeFieldOverflow, format!("interval field value out of range: \"{text}\""));
        Ok(Interval {
            months: i32::try_from(self.months).map_err(|_| overflow())?,
            days: i32::try_from(self.days).map_err(|_| overflow())?,
            micros: i64::try_from(self.micros).map_err(|_| overflow())?,
        })
    }
}

const BILLION: i128 = 1_000_000_000;

// These sums and products can fail, which the operators' traits cannot.
#[allow(clippy::should_implement_trait)]
impl Interval {
    /// Reads PostgreSQL's, the SQL standard's and ISO 8601's forms.
    pub fn parse(text: &str) -> Result<Self> {
        let trimmed = text.trim();
        let sum = match trimmed.strip_prefix(['P', 'p']) {
            Some(rest) => parse_iso(rest),
            None => parse_words(trimmed),
        };
        sum.ok_or_else(|| {
            Error::new(Condition::InvalidDatetimeFormat, format!("invalid input syntax for type interval: \"{text}\""))
        })?
        .finish(text)
    }

    /// A stored interval.
    pub fn from_stored(stored: &[u8]) -> Result<Self> {
        let text = std::str::from_utf8(stored).ok();
        text.and_then(|text| Self::parse(text).ok()).ok_or_else(|| misfit(ValueRef::Text(stored), &Type::Interval))
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
            if value.is_nan() || value.abs() > f64::from(i32::MAX) {
                Err(out_of_range())
            } else {
                Ok(value.trunc() as i32)
            }
        };
        let (whole_months, whole_days) = (limit(months)?, limit(days)?);
        // Rounded to microseconds of a day, as PostgreSQL does against the noise of binary fractions.
        let round_to_micros = |value: f64| (value * 1e6).round() / 1e6;
        let spilled_days = round_to_micros((months - f64::from(whole_months)) * 30.0);
        let mut seconds =
            round_to_micros((days - f64::from(whole_days) + spilled_days - spilled_days.trunc()) * 86_400.0);
        let mut total_days = i64::from(whole_days) + spilled_days.trunc() as i64;
        if seconds.abs() >= 86_400.0 {
            total_days += (seconds / 86_400.0).trunc() as i64;
            seconds -= (seconds / 86_400.0).trunc() * 86_400.0;
        }
        let micros = (scale(self.micros as f64) + seconds * 1e6).round_ties_even();
        if micros.is_nan() || micros.abs() > 9.2e18 {
            return Err(out_of_range());
        }
        Ok(Self {
            months: whole_months,
            days: i32::try_from(total_days).map_err(|_| out_of_range())?,
            micros: micros as i64,
        })
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
                self.days.abs(),
                sign(self.micros),
                clock(self.micros, 1)
            );
        }
        let lead = if negative { "-" } else { "" };
        if has_months {
            format!("{lead}{}-{}", (self.months / 12).abs(), (self.months % 12).abs())
        } else if self.days != 0 {
            format!("{lead}{} {}", self.days.abs(), clock(self.micros, 1))
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

/// A decimal number: its whole part, its fraction in billionths (with the sign), and where it ends.
fn decimal(text: &str) -> Option<(i128, i128, &str)> {
    let (negative, body) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let end = body.find(|c: char| !c.is_ascii_digit()).unwrap_or(body.len());
    let (whole, mut rest) = body.split_at(end);
    let mut billionths = 0;
    let mut fraction_digits = 0;
    if let Some(fraction) = rest.strip_prefix('.') {
        let end = fraction.find(|c: char| !c.is_ascii_digit()).unwrap_or(fraction.len());
        fraction_digits = end;
        for at in 0..9 {
            let digit = if at < end { fraction.as_bytes()[at] - b'0' } else { 0 };
            billionths = billionths * 10 + i128::from(digit);
        }
        rest = &fraction[end..];
    }
    if (whole.is_empty() && fraction_digits == 0) || whole.len() > 18 {
        return None;
    }
    let whole: i128 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    Some(if negative { (-whole, -billionths, rest) } else { (whole, billionths, rest) })
}

fn parse_iso(text: &str) -> Option<Sum> {
    let mut sum = Sum::default();
    let (date, time) = match text.find(['T', 't']) {
        Some(at) => (&text[..at], Some(&text[at + 1..])),
        None => (text, None),
    };
    if date.is_empty() && time.is_none_or(str::is_empty) {
        return None;
    }
    // The alternative form has separators in place of units.
    if date.len() > 1 && date[1..].contains('-') && !date.contains(|c: char| c.is_ascii_alphabetic()) {
        let mut parts = date.split('-');
        for unit in [Unit::Months(12), Unit::Months(1), Unit::Days(1)] {
            if let Some(part) = parts.next() {
                sum.add(part.parse().ok()?, 0, unit);
            }
        }
    } else {
        parse_iso_units(date, false, &mut sum)?;
    }
    if let Some(time) = time {
        if time.contains(':') {
            let (micros, rest) = parse_clock(time)?;
            sum.micros += i128::from(micros);
            if !rest.is_empty() {
                return None;
            }
        } else {
            parse_iso_units(time, true, &mut sum)?;
        }
    }
    Some(sum)
}

fn parse_iso_units(mut text: &str, time: bool, sum: &mut Sum) -> Option<()> {
    while !text.is_empty() {
        let (whole, billionths, rest) = decimal(text)?;
        let letter = rest.chars().next()?.to_ascii_uppercase();
        let unit = match (letter, time) {
            ('Y', false) => Unit::Months(12),
            ('M', false) => Unit::Months(1),
            ('W', false) => Unit::Days(7),
            ('D', false) => Unit::Days(1),
            ('H', true) => Unit::Micros(HOUR),
            ('M', true) => Unit::Micros(MINUTE),
            ('S', true) => Unit::Micros(SECOND),
            _ => return None,
        };
        sum.add(whole, billionths, unit);
        text = &rest[1..];
    }
    Some(())
}

/// `[-]H:MM[:SS[.f]]`; two fields are hours and minutes, unless the second has a fraction.
fn parse_clock(text: &str) -> Option<(i64, &str)> {
    let (negative, body) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let digits = |text: &str| text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let end = digits(body);
    let hours: i64 = body[..end].parse().ok()?;
    let rest = body[end..].strip_prefix(':')?;
    let end = digits(rest);
    let minutes: i64 = rest[..end].parse().ok()?;
    let mut rest = &rest[end..];
    let mut seconds = 0;
    let mut fraction = 0;
    let has_seconds = rest.starts_with(':');
    if has_seconds {
        rest = &rest[1..];
        let end = digits(rest);
        seconds = rest[..end].parse().ok()?;
        rest = &rest[end..];
    }
    if let Some(behind) = rest.strip_prefix('.') {
        let end = digits(behind);
        fraction = datetime_text::fraction_micros(&behind[..end]);
        rest = &behind[end..];
    }
    if minutes > 59 || seconds > 60 {
        return None;
    }
    let magnitude = if !has_seconds && fraction != 0 {
        // Minutes and seconds with a fraction.
        hours.checked_mul(MINUTE)?.checked_add(minutes * SECOND + fraction)?
    } else {
        hours.checked_mul(HOUR)?.checked_add(minutes * MINUTE + seconds * SECOND + fraction)?
    };
    Some((if negative { -magnitude } else { magnitude }, rest))
}

fn parse_words(text: &str) -> Option<Sum> {
    let mut sum = Sum::default();
    let mut rest = text.strip_prefix('@').unwrap_or(text).trim_start();
    let mut ago = false;
    let mut any = false;
    while !rest.is_empty() {
        if ago {
            return None;
        }
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let token = &rest[..end];
        if token.eq_ignore_ascii_case("ago") {
            ago = true;
            rest = rest[end..].trim_start();
            continue;
        }
        any = true;
        if token.contains(':') {
            let (micros, behind) = parse_clock(token)?;
            if !behind.is_empty() {
                return None;
            }
            sum.micros += i128::from(micros);
            rest = rest[end..].trim_start();
            continue;
        }
        // `Y-M` of the SQL standard.
        if let Some(at) = token.char_indices().skip(1).find(|(_, c)| *c == '-').map(|(at, _)| at)
            && token[at + 1..].bytes().all(|b| b.is_ascii_digit())
        {
            let years: i128 = token[..at].trim_start_matches('+').parse().ok()?;
            let months: i128 = token[at + 1..].parse().ok()?;
            if months > 11 {
                return None;
            }
            sum.months += if token.starts_with('-') { years * 12 - months } else { years * 12 + months };
            rest = rest[end..].trim_start();
            continue;
        }
        let (whole, billionths, behind) = decimal(rest)?;
        let behind = behind.trim_start();
        let word_end = behind.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(behind.len());
        let word = &behind[..word_end];
        if word.is_empty() || word.eq_ignore_ascii_case("ago") {
            // A number alone is days when a time follows (SQL standard), else seconds.
            let followed_by_clock = behind.split_whitespace().next().is_some_and(|next| next.contains(':'));
            sum.add(whole, billionths, if followed_by_clock { Unit::Days(1) } else { Unit::Micros(SECOND) });
            if !followed_by_clock && !behind.is_empty() && word.is_empty() {
                return None;
            }
            rest = behind;
            continue;
        }
        sum.add(whole, billionths, unit(word)?);
        rest = behind[word_end..].trim_start();
    }
    if !any {
        return None;
    }
    if ago {
        sum = Sum { months: -sum.months, days: -sum.days, micros: -sum.micros };
    }
    Some(sum)
}

fn unit(word: &str) -> Option<Unit> {
    Some(match word.to_ascii_lowercase().as_str() {
        "microsecond" | "microseconds" | "us" | "usec" | "usecs" | "usecond" | "useconds" => Unit::Micros(1),
        "millisecond" | "milliseconds" | "ms" | "msec" | "msecs" | "msecond" | "mseconds" => Unit::Micros(1_000),
        "second" | "seconds" | "sec" | "secs" | "s" => Unit::Micros(SECOND),
        "minute" | "minutes" | "min" | "mins" | "m" => Unit::Micros(MINUTE),
        "hour" | "hours" | "hr" | "hrs" | "h" => Unit::Micros(HOUR),
        "day" | "days" | "d" => Unit::Days(1),
        "week" | "weeks" | "w" => Unit::Days(7),
        "month" | "months" | "mon" | "mons" => Unit::Months(1),
        "quarter" | "quarters" | "qtr" => Unit::Months(3),
        "year" | "years" | "yr" | "yrs" | "y" => Unit::Months(12),
        "decade" | "decades" | "dec" | "decs" => Unit::Months(120),
        "century" | "centuries" | "cent" | "c" => Unit::Months(1_200),
        "millennium" | "millennia" | "mil" | "mils" => Unit::Months(12_000),
        _ => return None,
    })
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
        for (text, sqlstate) in
            [("x", "22007"), ("1 foo", "22007"), ("", "22007"), ("999999999999999 years", "22008"), ("P", "22007")]
        {
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
