use std::fmt::Write;

use rowferry_wire::Malformed;

use super::datetime::{fraction_pairs, micros, place, push_fraction, take_fraction};
use super::{Base100, Misfit};
use crate::Qualifier;
use crate::types::TimeUnit;

/// An `INTERVAL`, of one of its two families.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Interval {
    /// Days to fractions of a second, with one sign for all.
    DayTime {
        /// True when it reaches back.
        negative: bool,
        /// Whole seconds.
        seconds: u64,
        /// Millionths of a second; the wire has five digits.
        micros: u32,
    },
    /// Years and months, as months.
    YearMonth(i64),
}

/// Seconds in a field of the day-time family.
const fn seconds_in(unit: TimeUnit) -> u64 {
    match unit.0 {
        4 => 86_400,
        6 => 3_600,
        8 => 60,
        _ => 1,
    }
}

const DAY_TIME_UNITS: [TimeUnit; 4] = [TimeUnit::DAY, TimeUnit::HOUR, TimeUnit::MINUTE, TimeUnit::SECOND];

/// Base-100 digits that the first field of an interval may have: nine decimal digits, and one to spare.
const LEADING_PAIRS: usize = 5;

impl Interval {
    /// Decodes a cell or parameter; `None` is NULL.
    pub fn decode(bytes: &[u8], qualifier: Qualifier) -> Result<Option<Self>, Malformed> {
        let Some(number) = Base100::decode(bytes)? else { return Ok(None) };
        Self::of_number(&number, qualifier).map(Some).ok_or(Malformed::new("INTERVAL"))
    }

    fn of_number(number: &Base100, qualifier: Qualifier) -> Option<Self> {
        let (first, last) = (qualifier.first(), qualifier.last());
        if !qualifier.is_valid() {
            return None;
        }
        // The first field takes all digits from its place up.
        let top = number.places().map_or(place(first), |(top, _)| top);
        if top - place(first) > 5 {
            return None;
        }
        let leading =
            (place(first)..=top.max(place(first))).rev().fold(0u64, |sum, at| sum * 100 + u64::from(number.pair(at)));
        let bottom = if qualifier.fraction_digits() > 0 { -2 } else { place(last) };
        if number.places().is_some_and(|(_, lowest)| lowest < bottom) {
            return None;
        }
        if qualifier.is_year_month() {
            let months = match first {
                TimeUnit::YEAR if last == TimeUnit::MONTH => leading * 12 + u64::from(number.pair(place(last))),
                TimeUnit::YEAR => leading * 12,
                _ => leading,
            };
            let months = i64::try_from(months).ok()?;
            return Some(Self::YearMonth(if number.is_negative() { -months } else { months }));
        }
        let mut seconds = if first.0 >= 12 { 0 } else { leading * seconds_in(first) };
        for unit in DAY_TIME_UNITS {
            if unit.0 > first.0 && unit.0 <= last.0 {
                seconds += u64::from(number.pair(place(unit))) * seconds_in(unit);
            }
        }
        let micros = if qualifier.fraction_digits() > 0 { micros(number) } else { 0 };
        Some(Self::DayTime { negative: number.is_negative(), seconds, micros })
    }

    /// The interval as a number. What is smaller than the last field is cut off; what exceeds the first is an error.
    pub fn to_number(&self, qualifier: Qualifier) -> Result<Base100, Misfit> {
        let (first, last) = (qualifier.first(), qualifier.last());
        if !qualifier.is_valid() {
            return Err(Misfit::Range);
        }
        // Five pairs of the first field, then at most four fields and a fraction of three pairs.
        let (mut pairs, mut len) = ([0u8; 16], LEADING_PAIRS);
        let mut push = |pair: u8| {
            pairs[len] = pair;
            len += 1;
        };
        let (negative, leading) = match *self {
            Self::YearMonth(months) if qualifier.is_year_month() => {
                let magnitude = months.unsigned_abs();
                let leading = if first == TimeUnit::YEAR { magnitude / 12 } else { magnitude };
                if first == TimeUnit::YEAR && last == TimeUnit::MONTH {
                    push((magnitude % 12) as u8);
                }
                (months < 0, leading)
            }
            Self::DayTime { negative, seconds, micros } if !qualifier.is_year_month() => {
                let leading = if first.0 >= 12 { seconds } else { seconds / seconds_in(first) };
                let mut rest = seconds % seconds_in(first);
                for unit in DAY_TIME_UNITS {
                    if unit.0 > first.0 && unit.0 <= last.0 {
                        push((rest / seconds_in(unit)) as u8);
                        rest %= seconds_in(unit);
                    }
                }
                let (fraction, count) = fraction_pairs(micros, qualifier);
                fraction[..count].iter().for_each(|&pair| push(pair));
                (negative, leading)
            }
            _ => return Err(Misfit::Kind),
        };
        let limit = if first.0 >= 12 { 1 } else { 10u64.pow(u32::from(qualifier.first_digits())) };
        if leading >= limit {
            return Err(Misfit::Range);
        }
        // A fraction that comes first has no field before it.
        if first.0 >= 12 {
            return Base100::from_pairs(negative, 0, &pairs[LEADING_PAIRS..len]);
        }
        for (at, pair) in pairs[..LEADING_PAIRS].iter_mut().rev().enumerate() {
            *pair = (leading / 100u64.pow(at as u32) % 100) as u8;
        }
        Base100::from_pairs(negative, place(first) + LEADING_PAIRS as i32 - 1, &pairs[..len])
    }

    /// Appends the value as a cell.
    pub fn encode(&self, qualifier: Qualifier, out: &mut Vec<u8>) -> Result<(), Misfit> {
        self.to_number(qualifier)?.encode(qualifier.width(), out)
    }

    /// The fields of the qualifier as Informix prints them: `3 03:27:01.12345`, `-1-02`.
    pub fn to_text(&self, qualifier: Qualifier) -> String {
        let (first, last) = (qualifier.first(), qualifier.last());
        let mut text = String::with_capacity(24);
        // Writing to a String cannot fail.
        match *self {
            Self::YearMonth(months) => {
                let sign = if months < 0 { "-" } else { "" };
                let magnitude = months.unsigned_abs();
                let _ = match (first, last) {
                    (TimeUnit::YEAR, TimeUnit::MONTH) => write!(text, "{sign}{}-{:02}", magnitude / 12, magnitude % 12),
                    (TimeUnit::YEAR, _) => write!(text, "{sign}{}", magnitude / 12),
                    _ => write!(text, "{sign}{magnitude}"),
                };
            }
            Self::DayTime { negative, seconds, micros } => {
                if negative {
                    text.push('-');
                }
                let mut rest = seconds;
                for unit in DAY_TIME_UNITS {
                    if unit.0 < first.0 || unit.0 > last.0 {
                        continue;
                    }
                    let value = rest / seconds_in(unit);
                    rest %= seconds_in(unit);
                    let _ = match unit {
                        unit if unit == first => write!(text, "{value}"),
                        TimeUnit::HOUR => write!(text, " {value:02}"),
                        _ => write!(text, ":{value:02}"),
                    };
                }
                push_fraction(micros, qualifier, &mut text);
            }
        }
        text
    }

    /// Reads the text form of the qualifier.
    pub fn from_text(text: &str, qualifier: Qualifier) -> Result<Self, Misfit> {
        let text = text.trim();
        let (negative, mut rest) = match text.as_bytes().first() {
            Some(b'-') => (true, &text[1..]),
            Some(b'+') => (false, &text[1..]),
            _ => (false, text),
        };
        let (first, last) = (qualifier.first(), qualifier.last());
        let mut number = |separator: Option<char>| -> Result<u64, Misfit> {
            if let Some(separator) = separator {
                rest = rest.strip_prefix(separator).ok_or(Misfit::Invalid)?;
            }
            let len = rest.bytes().take_while(u8::is_ascii_digit).count();
            let (digits, tail) = rest.split_at(len);
            rest = tail;
            if len > 9 {
                return Err(Misfit::Range);
            }
            digits.parse().map_err(|_| Misfit::Invalid)
        };
        let value = if qualifier.is_year_month() {
            let leading = number(None)?;
            let months = match (first, last) {
                (TimeUnit::YEAR, TimeUnit::MONTH) => match number(Some('-'))? {
                    months @ 0..=11 => leading * 12 + months,
                    _ => return Err(Misfit::Range),
                },
                (TimeUnit::YEAR, _) => leading * 12,
                _ => leading,
            };
            if !rest.is_empty() {
                return Err(Misfit::Invalid);
            }
            // Ten digits times twelve fit.
            Self::YearMonth(if negative { -(months as i64) } else { months as i64 })
        } else {
            let mut seconds = 0;
            for unit in DAY_TIME_UNITS {
                if unit.0 < first.0 || unit.0 > last.0 {
                    continue;
                }
                let (separator, limit) = match unit {
                    unit if unit == first => (None, u64::MAX),
                    TimeUnit::HOUR => (Some(' '), 24),
                    _ => (Some(':'), 60),
                };
                let value = number(separator)?;
                if value >= limit {
                    return Err(Misfit::Range);
                }
                seconds += value * seconds_in(unit);
            }
            // `0.5` is as good as `.5` for a bare fraction.
            let rest = if first.0 >= 12 { rest.strip_prefix('0').unwrap_or(rest) } else { rest };
            let micros = take_fraction(rest.as_bytes(), qualifier)?;
            Self::DayTime { negative: negative && (seconds > 0 || micros > 0), seconds, micros }
        };
        value.to_number(qualifier).map(|_| value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worked_examples() {
        for (qualifier, text, want) in [
            (0x0e4f, "3 03:27:01.12345", "c403031b010c223200"),
            (0x05ac, "-999.99", "3d5a0001"),
            (0x05cf, "-.00001", "415a0000"),
            (0x094a, "3 01:01:01", "c40301010100"),
            (0x0602, "-1-02", "39626200"),
            (0x144f, "999999999 23:59:59.99999", "c8096363636317 3b3b63635a"),
        ] {
            let qualifier = Qualifier(qualifier);
            let value = Interval::from_text(text, qualifier).unwrap();
            let mut out = Vec::new();
            value.encode(qualifier, &mut out).unwrap();
            let hex: String = out.iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(hex, want.replace(' ', ""), "{text}");
            assert_eq!(Interval::decode(&out, qualifier), Ok(Some(value)), "{text}");
            assert_eq!(value.to_text(qualifier), text);
        }
    }

    #[test]
    fn refuses_what_the_first_field_cannot_hold() {
        let days = |seconds| Interval::DayTime { negative: false, seconds, micros: 0 };
        assert_eq!(days(1000 * 86_400).to_number(Qualifier(0x094a)), Err(Misfit::Range));
        assert_eq!(Interval::YearMonth(1).to_number(Qualifier(0x094a)), Err(Misfit::Kind));
        assert_eq!(days(1).to_number(Qualifier(0x05cf)), Err(Misfit::Range));
        for text in ["", "x", "1", "1 24:00:00", "1 00:60:00", "1 00:00"] {
            assert!(Interval::from_text(text, Qualifier(0x094a)).is_err(), "{text}");
        }
    }
}
