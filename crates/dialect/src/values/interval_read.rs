//! Intervals as people write them: PostgreSQL's words, the SQL standard's fields, ISO 8601's designators.
//!
//! Numbers are told apart from the end: a unit stands behind its number, a time of day makes the number before it days.

use super::datetime_fields::{Field, Kind, split, trim};
use super::datetime_read::{Problem, clock, word_is_known};
use super::datetime_text::{DAY, HOUR, MINUTE, SECOND};
use super::interval::out_of_range;
use super::interval_fields::Smallest;
use super::{Interval, IntervalModifier, IntervalStyle, invalid_syntax};
use crate::{Condition, Error, Result};

/// Reads an interval under a session's `IntervalStyle`, which decides how far a leading minus reaches.
pub(super) fn read(text: &str, style: IntervalStyle, modifier: Option<IntervalModifier>) -> Result<Interval> {
    let found = words(text, style, modifier).or_else(|problem| match problem {
        Problem::Syntax => designators(trim(text)),
        other => Err(other),
    });
    match found {
        Ok(parts) => parts.finish(),
        Err(Problem::Syntax) => {
            Err(Error::new(Condition::InvalidDatetimeFormat, invalid_syntax("interval", text).message.clone()))
        }
        Err(_) => {
            Err(Error::new(Condition::IntervalFieldOverflow, format!("interval field value out of range: \"{text}\"")))
        }
    }
}

/// What a number counts.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Unit {
    Microsecond,
    Millisecond,
    Second,
    Minute,
    Hour,
    Day,
    Week,
    Month,
    Year,
    Decade,
    Century,
    Millennium,
    /// Known, but no unit of an interval.
    Other,
}

impl Unit {
    /// PostgreSQL compares ten characters of a word at most.
    fn named(word: &str) -> Option<Self> {
        Some(match word.get(..10).unwrap_or(word) {
            "microsecon" | "us" | "usec" | "usecs" | "useconds" => Self::Microsecond,
            "millisecon" | "ms" | "msec" | "msecs" | "mseconds" => Self::Millisecond,
            "s" | "sec" | "secs" | "second" | "seconds" => Self::Second,
            "m" | "min" | "mins" | "minute" | "minutes" => Self::Minute,
            "h" | "hr" | "hrs" | "hour" | "hours" => Self::Hour,
            "d" | "day" | "days" => Self::Day,
            "w" | "week" | "weeks" => Self::Week,
            "mon" | "mons" | "month" | "months" => Self::Month,
            "y" | "yr" | "yrs" | "year" | "years" => Self::Year,
            "dec" | "decs" | "decade" | "decades" => Self::Decade,
            "c" | "cent" | "century" | "centuries" => Self::Century,
            "mil" | "mils" | "millennia" | "millennium" => Self::Millennium,
            "qtr" | "quarter" | "timezone" => Self::Other,
            _ => return None,
        })
    }
}

#[derive(Default)]
struct Parts {
    years: i32,
    months: i32,
    days: i32,
    micros: i64,
}

type Step = std::result::Result<(), Problem>;

impl Parts {
    fn add(&mut self, whole: i64, part: f64, unit: Unit) -> Step {
        match unit {
            Unit::Microsecond => self.add_micros(whole, part, 1),
            Unit::Millisecond => self.add_micros(whole, part, 1_000),
            Unit::Second => self.add_micros(whole, part, SECOND),
            Unit::Minute => self.add_micros(whole, part, MINUTE),
            Unit::Hour => self.add_micros(whole, part, HOUR),
            Unit::Day => {
                add_to(&mut self.days, whole, 1)?;
                self.add_micros(0, part, DAY)
            }
            Unit::Week => {
                add_to(&mut self.days, whole, 7)?;
                self.add_part_of_days(part, 7.0)
            }
            Unit::Month => {
                add_to(&mut self.months, whole, 1)?;
                self.add_part_of_days(part, 30.0)
            }
            Unit::Year => self.add_years(whole, part, 1),
            Unit::Decade => self.add_years(whole, part, 10),
            Unit::Century => self.add_years(whole, part, 100),
            Unit::Millennium => self.add_years(whole, part, 1_000),
            Unit::Other => Err(Problem::Syntax),
        }
    }

    fn add_micros(&mut self, whole: i64, part: f64, size: i64) -> Step {
        let part = part * size as f64;
        let cut = part.trunc();
        let rest = part - cut;
        let rounded = cut as i64 + i64::from(rest > 0.5) - i64::from(rest < -0.5);
        let sum = whole.checked_mul(size).and_then(|whole| self.micros.checked_add(whole)?.checked_add(rounded));
        self.micros = sum.ok_or(Problem::Overflow)?;
        Ok(())
    }

    /// A fraction of a unit of so many days.
    fn add_part_of_days(&mut self, part: f64, size: f64) -> Step {
        let part = part * size;
        add_to(&mut self.days, part.trunc() as i64, 1)?;
        self.add_micros(0, part - part.trunc(), DAY)
    }

    /// A fraction of a year counts whole months only.
    fn add_years(&mut self, whole: i64, part: f64, size: i64) -> Step {
        add_to(&mut self.years, whole, size)?;
        add_to(&mut self.months, (part * size as f64 * 12.0).round_ties_even() as i64, 1)
    }

    fn negated(self) -> std::result::Result<Self, Problem> {
        let negated = || {
            Some(Self {
                years: self.years.checked_neg()?,
                months: self.months.checked_neg()?,
                days: self.days.checked_neg()?,
                micros: self.micros.checked_neg()?,
            })
        };
        negated().ok_or(Problem::Overflow)
    }

    fn finish(self) -> Result<Interval> {
        let months = i64::from(self.years) * 12 + i64::from(self.months);
        let months = i32::try_from(months).map_err(|_| out_of_range())?;
        Ok(Interval { months, days: self.days, micros: self.micros })
    }
}

fn add_to(field: &mut i32, value: i64, size: i64) -> Step {
    let value = value.checked_mul(size).and_then(|value| i32::try_from(value).ok());
    *field = value.and_then(|value| field.checked_add(value)).ok_or(Problem::Overflow)?;
    Ok(())
}

/// Numbers with units, times of day, `years-months`.
fn words(text: &str, style: IntervalStyle, modifier: Option<IntervalModifier>) -> std::result::Result<Parts, Problem> {
    let fields = split(text, word_is_known).ok_or(Problem::Syntax)?;
    let signed = |field: &Field| field.text.starts_with(['+', '-']);
    // The standard's `-1 1:00` is negative as a whole, unless another sign says otherwise.
    let all_negative = style == IntervalStyle::SqlStandard
        && fields.first().is_some_and(|field| field.text.starts_with('-'))
        && !fields[1..].iter().any(signed);
    // What stands last has the smallest field's unit.
    let smallest = match modifier.and_then(IntervalModifier::smallest) {
        Some(Smallest::Year) => Unit::Year,
        Some(Smallest::Month) => Unit::Month,
        Some(Smallest::Day) => Unit::Day,
        Some(Smallest::Hour) => Unit::Hour,
        Some(Smallest::Minute) => Unit::Minute,
        Some(Smallest::Second) | None => Unit::Second,
    };
    let minutes = modifier.is_some_and(IntervalModifier::is_minute_to_second);
    let mut reader =
        Reader { parts: Parts::default(), unit: None, smallest, minutes, seen: 0, ago: false, all_negative };
    for field in fields.iter().rev() {
        reader.field(field)?;
    }
    match (reader.seen, reader.ago) {
        (0, _) => Err(Problem::Syntax),
        (_, true) => reader.parts.negated(),
        (_, false) => Ok(reader.parts),
    }
}

struct Reader {
    parts: Parts,
    unit: Option<Unit>,
    /// What a number counts that has no unit.
    smallest: Unit,
    /// Two numbers with a colon are minutes and seconds.
    minutes: bool,
    /// Units that have been given, as bits.
    seen: u32,
    ago: bool,
    all_negative: bool,
}

impl Reader {
    fn field(&mut self, field: &Field) -> Step {
        match field.kind {
            Kind::Time => self.time(&field.text, false),
            Kind::Offset if field.text.contains(':') && clock(&field.text[1..]).is_ok() => {
                self.time(&field.text[1..], field.text.starts_with('-'))
            }
            Kind::Offset | Kind::Date | Kind::Number => self.number(&field.text),
            Kind::Word | Kind::SignedWord if field.text == "ago" => {
                self.ago = true;
                self.unit = Some(Unit::Other);
                Ok(())
            }
            Kind::Word | Kind::SignedWord => {
                self.unit = Some(Unit::named(&field.text).ok_or(Problem::Syntax)?);
                Ok(())
            }
        }
    }

    fn mark(&mut self, bits: u32) -> Step {
        if self.seen & bits != 0 {
            return Err(Problem::Syntax);
        }
        self.seen |= bits;
        Ok(())
    }

    fn time(&mut self, text: &str, negative: bool) -> Step {
        let (mut hour, mut minute, mut second, fraction) = clock(text)?;
        if self.minutes && text.bytes().filter(|byte| *byte == b':').count() == 1 && !text.contains('.') {
            (hour, minute, second) = (0, hour, minute);
        }
        let micros =
            hour.checked_mul(HOUR).and_then(|hours| hours.checked_add(minute * MINUTE + second * SECOND + fraction));
        let micros = micros.ok_or(Problem::Overflow)?;
        self.parts.micros = if negative || self.all_negative { -micros } else { micros };
        self.unit = Some(Unit::Day);
        let bit = |unit: Unit| 1 << unit as u32;
        self.mark(bit(Unit::Hour) | bit(Unit::Minute) | seconds_and_below())
    }

    fn number(&mut self, text: &str) -> Step {
        let negative = text.starts_with('-');
        let body = text.strip_prefix(['+', '-']).unwrap_or(text);
        let end = body.bytes().take_while(u8::is_ascii_digit).count();
        let (digits, rest) = body.split_at(end);
        let sign = if negative { "-" } else { "" };
        let digits = if digits.is_empty() { "0" } else { digits };
        let mut whole: i64 = format!("{sign}{digits}").parse().map_err(|_| Problem::Overflow)?;
        let mut unit = self.unit.unwrap_or(self.smallest);
        let mut part: f64 = 0.0;
        if let Some(months) = rest.strip_prefix('-') {
            let end = months.bytes().take_while(u8::is_ascii_digit).count();
            let count: i64 = if end == 0 { 0 } else { months[..end].parse().map_err(|_| Problem::Overflow)? };
            if count > 11 {
                return Err(Problem::Overflow);
            }
            if end != months.len() {
                return Err(Problem::Syntax);
            }
            unit = Unit::Month;
            self.unit = Some(unit);
            let total =
                whole.checked_mul(12).and_then(|years| years.checked_add(if negative { -count } else { count }));
            whole = total.ok_or(Problem::Overflow)?;
        } else if let Some(fraction) = rest.strip_prefix('.') {
            if !fraction.bytes().all(|b| b.is_ascii_digit()) {
                return Err(Problem::Syntax);
            }
            part = format!("{sign}0.{fraction}0").parse().map_err(|_| Problem::Syntax)?;
        } else if !rest.is_empty() {
            return Err(Problem::Syntax);
        }
        if self.all_negative {
            (whole, part) = (-whole.abs(), -part.abs());
        }
        if self.unit.is_none() {
            self.unit = Some(self.smallest);
        }
        self.parts.add(whole, part, unit)?;
        if unit == Unit::Hour {
            // A number before hours counts days.
            self.unit = Some(Unit::Day);
        }
        self.mark(if unit == Unit::Second && part != 0.0 { seconds_and_below() } else { 1 << unit as u32 })
    }
}

const fn seconds_and_below() -> u32 {
    1 << Unit::Second as u32 | 1 << Unit::Millisecond as u32 | 1 << Unit::Microsecond as u32
}

/// ISO 8601: `P1Y2M3DT4H5M6S`, `P0001-02-03T04:05:06`, `P00010203T040506`.
fn designators(text: &str) -> std::result::Result<Parts, Problem> {
    let mut rest = text.strip_prefix('P').filter(|rest| !rest.is_empty()).ok_or(Problem::Syntax)?;
    let mut parts = Parts::default();
    let (mut in_time, mut any) = (false, false);
    while !rest.is_empty() {
        if let Some(time) = rest.strip_prefix('T') {
            (in_time, any, rest) = (true, false, time);
            continue;
        }
        let field = rest;
        let (whole, part, behind) = number(rest)?;
        let width = field.trim_start_matches('-').bytes().take_while(u8::is_ascii_digit).count();
        let designator = behind.chars().next();
        let unit = match (designator, in_time) {
            (Some('Y'), false) => Unit::Year,
            (Some('M'), false) => Unit::Month,
            (Some('W'), false) => Unit::Week,
            (Some('D'), false) => Unit::Day,
            (Some('H'), true) => Unit::Hour,
            (Some('M'), true) => Unit::Minute,
            (Some('S'), true) => Unit::Second,
            (None | Some('T'), false) if width == 8 && !any => {
                parts.add(whole / 10_000, 0.0, Unit::Year)?;
                parts.add(whole / 100 % 100, 0.0, Unit::Month)?;
                parts.add(whole % 100, part, Unit::Day)?;
                rest = behind;
                continue;
            }
            (None, true) if width == 6 && !any => {
                parts.add(whole / 10_000, 0.0, Unit::Hour)?;
                parts.add(whole / 100 % 100, 0.0, Unit::Minute)?;
                parts.add(whole % 100, 0.0, Unit::Second)?;
                parts.add(0, part, Unit::Microsecond)?;
                return Ok(parts);
            }
            (None | Some('T' | '-'), false) if !any => {
                rest = separated(field, '-', [Unit::Year, Unit::Month, Unit::Day], &mut parts)?;
                if !rest.is_empty() && !rest.starts_with('T') {
                    return Err(Problem::Syntax);
                }
                continue;
            }
            (None | Some(':'), true) if !any => {
                let behind = separated(field, ':', [Unit::Hour, Unit::Minute, Unit::Second], &mut parts)?;
                return if behind.is_empty() { Ok(parts) } else { Err(Problem::Syntax) };
            }
            _ => return Err(Problem::Syntax),
        };
        parts.add(whole, part, unit)?;
        any = true;
        rest = &behind[1..];
    }
    Ok(parts)
}

/// Up to three numbers with a separator between them, and what stands behind.
fn separated<'a>(
    text: &'a str,
    separator: char,
    units: [Unit; 3],
    parts: &mut Parts,
) -> std::result::Result<&'a str, Problem> {
    let mut rest = text;
    for (at, unit) in units.into_iter().enumerate() {
        let (whole, part, behind) = number(rest)?;
        parts.add(whole, part, unit)?;
        match behind.strip_prefix(separator) {
            Some(next) if at < 2 => rest = next,
            _ => return Ok(behind),
        }
    }
    Ok(rest)
}

/// A decimal number, with an exponent perhaps: its whole part, its fraction, and what stands behind it.
fn number(text: &str) -> std::result::Result<(i64, f64, &str), Problem> {
    let bytes = text.as_bytes();
    let digits = |from: usize| from + bytes[from..].iter().take_while(|b| b.is_ascii_digit()).count();
    let start = usize::from(text.starts_with('-'));
    let mut end = digits(start);
    let mut any = end > start;
    if bytes.get(end) == Some(&b'.') {
        let fraction = digits(end + 1);
        any |= fraction > end + 1;
        end = fraction;
    }
    if !any {
        return Err(Problem::Syntax);
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let exponent = digits(end + 1 + sign);
        if exponent > end + 1 + sign {
            end = exponent;
        }
    }
    let value: f64 = text[..end].parse().map_err(|_| Problem::Syntax)?;
    if value.abs() > 1e15 {
        return Err(Problem::Overflow);
    }
    Ok((value.trunc() as i64, value - value.trunc(), &text[end..]))
}
