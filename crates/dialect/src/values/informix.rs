//! Informix `DATETIME` and `INTERVAL` with qualifiers: the fields' own digits, as Informix prints them.
//!
//! `DATETIME YEAR TO FRACTION(3)` is `2026-11-21 12:30:45.123`, `HOUR TO MINUTE` is `12:30`. `INTERVAL DAY(3) TO SECOND`
//! is `  5 12:30:45` outside; stored, the leading field has no blanks before it and a minus sign when negative.

use rowferry_wire::civil::days_from_civil;

use super::Interval;
use super::datetime_text::valid_date;
use crate::types::{Field, IntervalQualifier, Qualifier};
use crate::{Condition, Error, Result};

/// The fields of a datetime or interval by place, year to second, and the fraction in hundred-thousandths.
pub type Fields = [i64; 7];

/// Place of a field: 0 for YEAR to 6 for FRACTION.
pub fn place(field: Field) -> usize {
    match field {
        Field::Year => 0,
        Field::Month => 1,
        Field::Day => 2,
        Field::Hour => 3,
        Field::Minute => 4,
        Field::Second => 5,
        Field::Fraction(_) => 6,
    }
}

/// What stands before a field that is not the first.
fn separator(place: usize) -> char {
    match place {
        1 | 2 => '-',
        3 => ' ',
        6 => '.',
        _ => ':',
    }
}

fn fraction_digits(field: Field) -> usize {
    match field {
        Field::Fraction(digits) => usize::from(digits.clamp(1, 5)),
        _ => 0,
    }
}

/// Reads a datetime of a qualifier and gives its stored text.
pub fn datetime_input(text: &str, qualifier: Qualifier) -> Result<String> {
    let fields = datetime_fields(text, qualifier)?;
    Ok(datetime_text(&fields, qualifier))
}

/// The fields of a datetime text of a qualifier; fields outside of it are 0.
#[allow(clippy::needless_range_loop)] // `at` is a field's place, not only an index.
pub fn datetime_fields(text: &str, qualifier: Qualifier) -> Result<Fields> {
    let bad = || {
        let message =
            format!("invalid datetime value \"{text}\" for DATETIME {} TO {}", qualifier.first, qualifier.last);
        Error::new(Condition::InvalidDatetimeFormat, message)
    };
    let mut fields = [0; 7];
    // ISO 8601's `T` is taken for the blank before the hour.
    let mut rest = text.trim();
    let (first, last) = (place(qualifier.first), place(qualifier.last));
    for at in first..=last {
        if at > first {
            let mut chars = rest.chars();
            match chars.next() {
                Some(c) if c == separator(at) || (at == 3 && c == 'T') => rest = chars.as_str(),
                // A fraction that is left out is zero.
                None if at == 6 => break,
                _ => return Err(bad()),
            }
        }
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let digits = &rest[..end];
        rest = &rest[end..];
        fields[at] = if at == 6 {
            fraction(digits).ok_or_else(bad)?
        } else {
            if digits.is_empty() || digits.len() > if at == 0 { 4 } else { 2 } {
                return Err(bad());
            }
            digits.parse().map_err(|_| bad())?
        };
    }
    // A fraction of zeros behind the last field is no loss.
    if let Some(zeros) = rest.strip_prefix('.')
        && last == 5
        && zeros.bytes().all(|b| b == b'0')
    {
        rest = "";
    }
    if !rest.is_empty() {
        return Err(bad());
    }
    if first == 0 && last >= 2 && !valid_date(fields[0], fields[1], fields[2]) {
        return Err(out_of_range(text));
    }
    let limits: [(i64, i64); 7] = [(1, 9999), (1, 12), (1, 31), (0, 23), (0, 59), (0, 59), (0, 99_999)];
    for at in first..=last {
        if fields[at] < limits[at].0 || fields[at] > limits[at].1 {
            return Err(out_of_range(text));
        }
    }
    Ok(fields)
}

fn out_of_range(text: &str) -> Error {
    Error::new(
        Condition::DatetimeFieldOverflow,
        format!("field value out of range in datetime or interval: \"{text}\""),
    )
}

/// Hundred-thousandths of the digits behind the point.
fn fraction(digits: &str) -> Option<i64> {
    if digits.is_empty() {
        return None;
    }
    let mut value = 0;
    for at in 0..5 {
        value = value * 10 + digits.as_bytes().get(at).map_or(0, |byte| i64::from(byte - b'0'));
    }
    Some(value)
}

/// The stored text of a datetime's fields.
pub fn datetime_text(fields: &Fields, qualifier: Qualifier) -> String {
    let mut out = String::new();
    let (first, last) = (place(qualifier.first), place(qualifier.last));
    for at in first..=last {
        if at > first {
            out.push(separator(at));
        }
        match at {
            0 => out.push_str(&format!("{:04}", fields[0])),
            6 => push_fraction(&mut out, fields[6], fraction_digits(qualifier.last)),
            _ => out.push_str(&format!("{:02}", fields[at])),
        }
    }
    out
}

fn push_fraction(out: &mut String, value: i64, digits: usize) {
    let text = format!("{value:05}");
    out.push_str(&text[..digits.clamp(1, 5)]);
}

/// Reads an interval of a qualifier and gives its stored text.
pub fn interval_input(text: &str, qualifier: IntervalQualifier) -> Result<String> {
    let (negative, fields) = interval_fields(text, qualifier)?;
    Ok(interval_text(negative, &fields, qualifier))
}

/// Sign and fields of an interval text of a qualifier. Fields behind the first carry over at their usual limits only
/// in arithmetic: in text they must be within them.
#[allow(clippy::needless_range_loop)] // As above.
pub fn interval_fields(text: &str, qualifier: IntervalQualifier) -> Result<(bool, Fields)> {
    let bad = || {
        let message =
            format!("invalid interval value \"{text}\" for INTERVAL {} TO {}", qualifier.first, qualifier.last);
        Error::new(Condition::InvalidDatetimeFormat, message)
    };
    let trimmed = text.trim();
    let (negative, mut rest) = match trimmed.as_bytes().first() {
        Some(b'-') => (true, trimmed[1..].trim_start()),
        Some(b'+') => (false, trimmed[1..].trim_start()),
        _ => (false, trimmed),
    };
    let mut fields = [0; 7];
    let (first, last) = (place(qualifier.first), place(qualifier.last));
    for at in first..=last {
        if at > first {
            let mut chars = rest.chars();
            match chars.next() {
                Some(c) if c == separator(at) => rest = chars.as_str().trim_start(),
                None if at == 6 => break,
                _ => return Err(bad()),
            }
        } else if at == 6 {
            rest = rest.strip_prefix('0').unwrap_or(rest);
            rest = rest.strip_prefix('.').unwrap_or(rest);
        }
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let digits = &rest[..end];
        rest = &rest[end..];
        fields[at] = if at == 6 {
            fraction(digits).ok_or_else(bad)?
        } else {
            let limit = if at == first { usize::from(qualifier.precision.clamp(1, 9)) } else { 2 };
            let significant = digits.trim_start_matches('0');
            if digits.is_empty() || significant.len() > 9 {
                return Err(bad());
            }
            if significant.len() > limit {
                return Err(Error::new(
                    Condition::IntervalFieldOverflow,
                    format!(
                        "interval value \"{text}\" overflows INTERVAL {}({}) TO {}",
                        qualifier.first, qualifier.precision, qualifier.last
                    ),
                ));
            }
            digits.parse().map_err(|_| bad())?
        };
    }
    if let Some(zeros) = rest.strip_prefix('.')
        && last == 5
        && zeros.bytes().all(|b| b == b'0')
    {
        rest = "";
    }
    if !rest.is_empty() {
        return Err(bad());
    }
    let limits: [i64; 7] = [i64::MAX, 11, i64::MAX, 23, 59, 59, 99_999];
    for at in first + 1..=last {
        if fields[at] > limits[at] {
            return Err(out_of_range(text));
        }
    }
    Ok((negative, fields))
}

/// The stored text of an interval's fields.
pub fn interval_text(negative: bool, fields: &Fields, qualifier: IntervalQualifier) -> String {
    let (first, last) = (place(qualifier.first), place(qualifier.last));
    let mut out = if negative && fields.iter().any(|field| *field != 0) { "-".to_owned() } else { String::new() };
    for at in first..=last {
        if at > first {
            out.push(separator(at));
        }
        match at {
            6 => {
                if at == first {
                    out.push('.');
                }
                push_fraction(&mut out, fields[6], fraction_digits(qualifier.last));
            }
            _ if at == first => out.push_str(&fields[at].to_string()),
            _ => out.push_str(&format!("{:02}", fields[at])),
        }
    }
    out
}

/// The length of an interval: months if its fields are years and months, else hundred-thousandths of a second.
pub fn interval_units(negative: bool, fields: &Fields, qualifier: IntervalQualifier) -> i64 {
    let magnitude = if place(qualifier.first) <= 1 {
        fields[0] * 12 + fields[1]
    } else {
        (((fields[2] * 24 + fields[3]) * 60 + fields[4]) * 60 + fields[5]) * 100_000 + fields[6]
    };
    if negative { -magnitude } else { magnitude }
}

/// The fields of a length, carried into the qualifier's first field; the opposite of [`interval_units`].
pub fn interval_from_units(units: i64, qualifier: IntervalQualifier) -> (bool, Fields) {
    let mut fields = [0; 7];
    let mut rest = units.abs();
    let first = place(qualifier.first);
    if first <= 1 {
        fields[1] = if first == 1 { rest } else { rest % 12 };
        fields[0] = if first == 1 { 0 } else { rest / 12 };
        return (units < 0, fields);
    }
    for (at, size) in [(6, 100_000), (5, 60), (4, 60), (3, 24)] {
        if at == first {
            fields[at] = rest;
            return (units < 0, fields);
        }
        fields[at] = rest % size;
        rest /= size;
    }
    fields[2] = rest;
    (units < 0, fields)
}

/// PostgreSQL's interval of an interval's stored text.
///
/// # Errors
/// `22007` for text that is no interval of the qualifier, `22008` for one that PostgreSQL's cannot hold.
pub fn interval_of(text: &str, qualifier: IntervalQualifier) -> Result<Interval> {
    let (negative, fields) = interval_fields(text, qualifier)?;
    let sign = if negative { -1 } else { 1 };
    let narrow = |value: i64| i32::try_from(sign * value).map_err(|_| super::interval::out_of_range());
    Ok(Interval {
        months: narrow(fields[0] * 12 + fields[1])?,
        days: narrow(fields[2])?,
        micros: sign * (((fields[3] * 60 + fields[4]) * 60 + fields[5]) * 1_000_000 + fields[6] * 10),
    })
}

/// The stored text of PostgreSQL's interval in a column of a qualifier, which keeps no fields behind its last.
///
/// # Errors
/// `22015` for months where days are counted and the other way round, and for more than the first field holds.
pub fn interval_from(interval: Interval, qualifier: IntervalQualifier) -> Result<String> {
    let in_months = place(qualifier.first) <= 1;
    let other = if in_months { interval.days != 0 || interval.micros != 0 } else { interval.months != 0 };
    let overflow = |what: &str| {
        let message =
            format!("interval value \"{interval}\" {what} INTERVAL {} TO {}", qualifier.first, qualifier.last);
        Error::new(Condition::IntervalFieldOverflow, message)
    };
    if other {
        return Err(overflow("has fields that are not in"));
    }
    let units = if in_months {
        i64::from(interval.months)
    } else {
        let micros = i128::from(interval.days) * 86_400_000_000 + i128::from(interval.micros);
        i64::try_from(micros / 10).map_err(|_| overflow("overflows"))?
    };
    let (negative, mut fields) = interval_from_units(units, qualifier);
    fields[place(qualifier.last) + 1..].fill(0);
    let text = interval_text(negative, &fields, qualifier);
    // The first field's digits are counted by who reads it.
    interval_input(&text, qualifier)
}

/// Hundred-thousandths of a second since 1970-01-01 of a datetime's fields, those before the qualifier's first taken
/// from `today` (year, month, day), those behind its last the least possible.
pub fn datetime_units(fields: &Fields, qualifier: Qualifier, today: (i64, i64, i64)) -> i64 {
    let first = place(qualifier.first);
    let last = place(qualifier.last);
    let year = if first == 0 { fields[0] } else { today.0 };
    let month = if first > 1 {
        today.1
    } else if last < 1 {
        1
    } else {
        fields[1]
    };
    let day = if first > 2 {
        today.2
    } else if last < 2 {
        1
    } else {
        fields[2]
    };
    let days = days_from_civil(year, month, day);
    (((days * 24 + fields[3]) * 60 + fields[4]) * 60 + fields[5]) * 100_000 + fields[6]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn qualifier(first: Field, last: Field) -> Qualifier {
        Qualifier { first, last }
    }

    #[test]
    fn datetimes_have_their_fields_digits() {
        for (text, first, last, stored) in [
            ("2026-11-21 12:30:45.123", Field::Year, Field::Fraction(3), "2026-11-21 12:30:45.123"),
            ("2026-11-21 12:30:45", Field::Year, Field::Fraction(5), "2026-11-21 12:30:45.00000"),
            ("2026-1-2 3:4:5", Field::Year, Field::Second, "2026-01-02 03:04:05"),
            ("12:30", Field::Hour, Field::Minute, "12:30"),
            ("2026-11", Field::Year, Field::Month, "2026-11"),
            ("2026-11-21T12:30:45", Field::Year, Field::Second, "2026-11-21 12:30:45"),
        ] {
            assert_eq!(datetime_input(text, qualifier(first, last)).unwrap(), stored);
        }
        for (text, sqlstate) in
            [("2026-02-30", "22008"), ("2026-13-01", "22008"), ("2026-11", "22007"), ("x", "22007"), ("", "22007")]
        {
            let error = datetime_input(text, qualifier(Field::Year, Field::Day)).unwrap_err();
            assert_eq!(error.condition().sqlstate(), sqlstate, "{text}");
        }
    }

    #[test]
    fn intervals_are_those_of_postgresql_with_units() {
        let qualifier = |first, last| IntervalQualifier { first, precision: 3, last };
        let there_and_back = [
            ("5", qualifier(Field::Hour, Field::Hour), "05:00:00"),
            ("-3", qualifier(Field::Day, Field::Day), "-3 days"),
            ("12:34", qualifier(Field::Minute, Field::Second), "00:12:34"),
            ("100:05:06", qualifier(Field::Hour, Field::Second), "100:05:06"),
            ("2-03", qualifier(Field::Year, Field::Month), "2 years 3 mons"),
            ("7", qualifier(Field::Month, Field::Month), "7 mons"),
            ("-1 02:03:04.50000", qualifier(Field::Day, Field::Fraction(5)), "-1 days -02:03:04.5"),
        ];
        for (text, qualifier, shown) in there_and_back {
            let interval = interval_of(text, qualifier).unwrap();
            assert_eq!(interval.to_string(), shown);
            assert_eq!(interval_from(interval, qualifier).unwrap(), text);
        }
        let from = |text: &str, first, last| interval_from(Interval::parse(text).unwrap(), qualifier(first, last));
        // What stands behind the last field is not kept, and what is before the first is counted in it.
        assert_eq!(from("1 day 02:30:00", Field::Hour, Field::Hour).unwrap(), "26");
        assert_eq!(from("1 mon", Field::Day, Field::Second).unwrap_err().condition().sqlstate(), "22015");
        assert_eq!(from("1 day", Field::Year, Field::Month).unwrap_err().condition().sqlstate(), "22015");
        assert_eq!(from("1000 days", Field::Day, Field::Day).unwrap_err().condition().sqlstate(), "22015");
    }

    #[test]
    fn intervals_have_a_sign_and_a_wide_first_field() {
        let day_to_second = IntervalQualifier { first: Field::Day, precision: 3, last: Field::Second };
        assert_eq!(interval_input("  -5 12:30:45", day_to_second).unwrap(), "-5 12:30:45");
        assert_eq!(interval_input("1000 00:00:00", day_to_second).unwrap_err().condition().sqlstate(), "22015");
        assert_eq!(interval_input("5 24:00:00", day_to_second).unwrap_err().condition().sqlstate(), "22008");
        let year_to_month = IntervalQualifier { first: Field::Year, precision: 4, last: Field::Month };
        assert_eq!(interval_input("12-11", year_to_month).unwrap(), "12-11");
        let hours = IntervalQualifier { first: Field::Hour, precision: 4, last: Field::Fraction(2) };
        assert_eq!(interval_input("100:05:06.789", hours).unwrap(), "100:05:06.78");
        let (negative, fields) = interval_fields("-100:05:06.78", hours).unwrap();
        let units = interval_units(negative, &fields, hours);
        assert_eq!(interval_from_units(units, hours), (negative, fields));
    }
}
