use std::fmt::Write;

use rowferry_wire::{Malformed, civil};

use super::{Base100, Misfit};
use crate::Qualifier;
use crate::types::TimeUnit;

/// A `DATETIME`: the fields that its [`Qualifier`] names; the others are 0.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct DateTime {
    /// 1 to 9999.
    pub year: u16,
    /// 1 to 12.
    pub month: u8,
    /// 1 to 31.
    pub day: u8,
    /// 0 to 23.
    pub hour: u8,
    /// 0 to 59.
    pub minute: u8,
    /// 0 to 59.
    pub second: u8,
    /// Millionths of a second; the wire has five digits.
    pub micros: u32,
}

/// Where a field stands in a base-100 number: seconds are the units, whether the qualifier names them or not.
pub(super) const fn place(unit: TimeUnit) -> i32 {
    if unit.0 >= 11 { 0 } else { 6 - unit.0 as i32 / 2 }
}

/// The fraction in millionths, from the digits behind the point.
pub(super) fn micros(number: &Base100) -> u32 {
    u32::from(number.pair(0)) * 10_000 + u32::from(number.pair(-1)) * 100 + u32::from(number.pair(-2))
}

/// The digits of the fraction, cut to those of the qualifier.
pub(super) fn fraction_pairs(micros: u32, qualifier: Qualifier) -> ([u8; 3], usize) {
    let digits = u32::from(qualifier.fraction_digits());
    let unit = 10u32.pow(6 - digits.min(6));
    let cut = micros / unit * unit;
    ([(cut / 10_000) as u8, (cut / 100 % 100) as u8, (cut % 100) as u8], digits.div_ceil(2) as usize)
}

impl DateTime {
    /// Decodes a cell or parameter; `None` is NULL.
    pub fn decode(bytes: &[u8], qualifier: Qualifier) -> Result<Option<Self>, Malformed> {
        let Some(number) = Base100::decode(bytes)? else { return Ok(None) };
        let value = Self::of_number(&number, qualifier).ok_or(Malformed::new("DATETIME"))?;
        Ok(Some(value))
    }

    fn of_number(number: &Base100, qualifier: Qualifier) -> Option<Self> {
        let has = |unit: TimeUnit| qualifier.first().0 <= unit.0 && unit.0 <= qualifier.last().0;
        let field = |unit: TimeUnit| if has(unit) { number.pair(place(unit)) } else { 0 };
        let value = Self {
            year: u16::from(field(TimeUnit::YEAR))
                + if has(TimeUnit::YEAR) { u16::from(number.pair(7)) * 100 } else { 0 },
            month: field(TimeUnit::MONTH),
            day: field(TimeUnit::DAY),
            hour: field(TimeUnit::HOUR),
            minute: field(TimeUnit::MINUTE),
            second: field(TimeUnit::SECOND),
            micros: if qualifier.fraction_digits() > 0 { micros(number) } else { 0 },
        };
        let first = if has(TimeUnit::YEAR) { 7 } else { place(qualifier.first()) };
        let last = if qualifier.fraction_digits() > 0 { -2 } else { place(qualifier.last()) };
        let inside = number.places().is_none_or(|(top, bottom)| top <= first && bottom >= last);
        (inside && !number.is_negative() && value.is_valid(qualifier)).then_some(value)
    }

    /// True when every field that the qualifier names is in its range.
    pub fn is_valid(&self, qualifier: Qualifier) -> bool {
        let has = |unit: TimeUnit| qualifier.first().0 <= unit.0 && unit.0 <= qualifier.last().0;
        let month_days = match (has(TimeUnit::YEAR), has(TimeUnit::MONTH)) {
            (true, true) => civil::days_in_month(i64::from(self.year), self.month),
            // Without a year February may have 29 days.
            (false, true) => civil::days_in_month(2000, self.month),
            _ => 31,
        };
        (!has(TimeUnit::YEAR) || (1..=9999).contains(&self.year))
            && (!has(TimeUnit::MONTH) || (1..=12).contains(&self.month))
            && (!has(TimeUnit::DAY) || (1..=month_days).contains(&self.day))
            && self.hour <= 23
            && self.minute <= 59
            && self.second <= 59
            && self.micros <= 999_999
    }

    /// The fields of the qualifier as a number. Digits of the fraction beyond it are cut off.
    pub fn to_number(&self, qualifier: Qualifier) -> Result<Base100, Misfit> {
        if !qualifier.is_valid() || !self.is_valid(qualifier) {
            return Err(Misfit::Range);
        }
        let (mut pairs, mut len) = ([0u8; 10], 0);
        let mut push = |pair: u8| {
            pairs[len] = pair;
            len += 1;
        };
        let fields = [
            (TimeUnit::MONTH, self.month),
            (TimeUnit::DAY, self.day),
            (TimeUnit::HOUR, self.hour),
            (TimeUnit::MINUTE, self.minute),
            (TimeUnit::SECOND, self.second),
        ];
        let (first, last) = (qualifier.first(), qualifier.last());
        let exponent = if first == TimeUnit::YEAR {
            push((self.year / 100) as u8);
            push((self.year % 100) as u8);
            7
        } else {
            place(first)
        };
        for (unit, value) in fields {
            if first.0 <= unit.0 && unit.0 <= last.0 {
                push(value);
            }
        }
        let (fraction, count) = fraction_pairs(self.micros, qualifier);
        fraction[..count].iter().for_each(|&pair| push(pair));
        Base100::from_pairs(false, exponent, &pairs[..len])
    }

    /// Appends the value as a cell.
    pub fn encode(&self, qualifier: Qualifier, out: &mut Vec<u8>) -> Result<(), Misfit> {
        self.to_number(qualifier)?.encode(qualifier.width(), out)
    }

    /// The fields of the qualifier as Informix prints them: `2026-06-20 12:34:56.12345`.
    pub fn to_text(&self, qualifier: Qualifier) -> String {
        let mut text = String::with_capacity(26);
        let (first, last) = (qualifier.first(), qualifier.last());
        let fields = [
            (TimeUnit::YEAR, "", u32::from(self.year), 4),
            (TimeUnit::MONTH, "-", u32::from(self.month), 2),
            (TimeUnit::DAY, "-", u32::from(self.day), 2),
            (TimeUnit::HOUR, " ", u32::from(self.hour), 2),
            (TimeUnit::MINUTE, ":", u32::from(self.minute), 2),
            (TimeUnit::SECOND, ":", u32::from(self.second), 2),
        ];
        for (unit, separator, value, width) in fields {
            if first.0 <= unit.0 && unit.0 <= last.0 {
                if unit != first {
                    text.push_str(separator);
                }
                // Writing to a String cannot fail.
                let _ = write!(text, "{value:0width$}");
            }
        }
        push_fraction(self.micros, qualifier, &mut text);
        text
    }

    /// Reads the text form of the qualifier. Separators must be right; the fraction may be shorter.
    pub fn from_text(text: &str, qualifier: Qualifier) -> Result<Self, Misfit> {
        let mut rest = text.trim().as_bytes();
        let mut value = Self::default();
        let (first, last) = (qualifier.first(), qualifier.last());
        for (unit, separator) in [
            (TimeUnit::YEAR, b' '),
            (TimeUnit::MONTH, b'-'),
            (TimeUnit::DAY, b'-'),
            (TimeUnit::HOUR, b' '),
            (TimeUnit::MINUTE, b':'),
            (TimeUnit::SECOND, b':'),
        ] {
            if unit.0 < first.0 || unit.0 > last.0 {
                continue;
            }
            if unit != first {
                rest = rest.strip_prefix(&[separator]).ok_or(Misfit::Invalid)?;
            }
            let (mut field, mut digits) = (0_u16, 0);
            while let [digit @ b'0'..=b'9', tail @ ..] = rest {
                if digits == 4 {
                    return Err(Misfit::Invalid);
                }
                (field, digits, rest) = (field * 10 + u16::from(digit - b'0'), digits + 1, tail);
            }
            if digits == 0 {
                return Err(Misfit::Invalid);
            }
            let small = u8::try_from(field).map_err(|_| Misfit::Range);
            match unit {
                TimeUnit::YEAR => value.year = field,
                TimeUnit::MONTH => value.month = small?,
                TimeUnit::DAY => value.day = small?,
                TimeUnit::HOUR => value.hour = small?,
                TimeUnit::MINUTE => value.minute = small?,
                _ => value.second = small?,
            }
        }
        value.micros = take_fraction(rest, qualifier)?;
        if value.is_valid(qualifier) { Ok(value) } else { Err(Misfit::Range) }
    }

    /// Days since 1970-01-01 of a value with year, month and day.
    pub fn days(&self) -> i64 {
        civil::days_from_civil(i64::from(self.year), i64::from(self.month), i64::from(self.day))
    }
}

/// Appends a point and the digits of the fraction, if the qualifier has one.
pub(super) fn push_fraction(micros: u32, qualifier: Qualifier, text: &mut String) {
    let digits = usize::from(qualifier.fraction_digits()).min(6);
    if digits > 0 {
        let all = format!("{micros:06}");
        text.push('.');
        text.push_str(&all[..digits]);
    }
}

/// Reads what is left of a text: nothing, or a point and digits. Digits beyond the qualifier must be zeros.
pub(super) fn take_fraction(rest: &[u8], qualifier: Qualifier) -> Result<u32, Misfit> {
    if rest.is_empty() {
        return Ok(0);
    }
    let digits = rest.strip_prefix(b".").ok_or(Misfit::Invalid)?;
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Err(Misfit::Invalid);
    }
    let (kept, beyond) = digits.split_at(digits.len().min(usize::from(qualifier.fraction_digits())));
    if beyond.iter().any(|digit| *digit != b'0') {
        return Err(Misfit::Invalid);
    }
    Ok(kept
        .iter()
        .copied()
        .chain(std::iter::repeat(b'0'))
        .take(6)
        .fold(0, |sum, digit| sum * 10 + u32::from(digit - b'0')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_fraction_and_the_missing_seconds() {
        let value = DateTime { hour: 23, minute: 59, ..DateTime::default() };
        let mut out = Vec::new();
        value.encode(Qualifier(0x0468), &mut out).unwrap();
        assert_eq!(out, [0xc3, 0x17, 0x3b]);
        let text = "2026-01-02 03:04:05.12345";
        let value = DateTime::from_text(text, Qualifier::YEAR_TO_FRACTION5).unwrap();
        out.clear();
        value.encode(Qualifier::YEAR_TO_FRACTION5, &mut out).unwrap();
        assert_eq!(out, [0xc7, 0x14, 0x1a, 1, 2, 3, 4, 5, 0x0c, 0x22, 0x32]);
        assert_eq!(
            DateTime::decode(&out, Qualifier::YEAR_TO_FRACTION5)
                .unwrap()
                .unwrap()
                .to_text(Qualifier::YEAR_TO_FRACTION5),
            text
        );
    }

    #[test]
    fn refuses_fields_out_of_range() {
        for text in ["2026-02-29 00:00:00", "2026-13-01 00:00:00", "2026-01-01 24:00:00", "0000-01-01 00:00:00"] {
            assert_eq!(DateTime::from_text(text, Qualifier::YEAR_TO_SECOND), Err(Misfit::Range), "{text}");
        }
        for text in ["", "2026", "2026-01-01", "2026-01-01 00:00:00x", "2026-01-01T00:00:00", "2026-01-01 00:00:00.5"] {
            assert_eq!(DateTime::from_text(text, Qualifier::YEAR_TO_SECOND), Err(Misfit::Invalid), "{text}");
        }
        assert!(DateTime::decode(&[0xc3, 0x18, 0x00], Qualifier(0x0468)).is_err());
        assert!(DateTime::decode(&[0xc4, 0x01, 0x00], Qualifier(0x0468)).is_err(), "a day before HOUR TO MINUTE");
    }
}
