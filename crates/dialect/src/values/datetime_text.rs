//! Dates and times as text: what people write, and what is stored.
//!
//! One reader for `date`, `time`, `timestamp` and their kin with zones; what it accepts is PostgreSQL's.
//!
//! **Stored years.** The order of stored texts is the order of dates, so years beyond four digits stand behind a `Y` and
//! have seven (`Y0012024-05-06`), and those before 1 AD behind a point, counted from the hundred thousandth before it
//! (`.095288-05-06` is in the year 4713 BC). `-infinity` sorts before, `infinity` behind all of them.

use jiff::tz::TimeZone;
use rowferry_wire::civil::{civil_from_days, days_from_civil};

use super::datetime_read::{JULIAN_1970, Problem, read};
use super::{Settings, datetime_fields, invalid_syntax, zone};
use crate::{Condition, Error, Result};

pub use super::datetime_read::{DAYS, MONTHS, fraction_micros, month_name};

/// Microseconds of a day.
pub const DAY: i64 = 86_400_000_000;
/// Microseconds of an hour.
pub const HOUR: i64 = 3_600_000_000;
/// Microseconds of a minute.
pub const MINUTE: i64 = 60_000_000;
/// Microseconds of a second.
pub const SECOND: i64 = 1_000_000;
/// `infinity`, for days and for microseconds.
pub const INFINITY: i64 = i64::MAX;
/// `-infinity`, for days and for microseconds.
pub const NEGATIVE_INFINITY: i64 = i64::MIN;
/// The first day, 24 November 4714 BC: Julian day 0.
pub const FIRST_DAY: i64 = -JULIAN_1970;
/// The last day, 5874897-12-31.
pub const LAST_DAY: i64 = 2_147_483_493 - JULIAN_1970;
/// The last day of a timestamp, 294246-12-31. PostgreSQL counts microseconds from 2000 and gets 30 years farther.
pub const LAST_TIMESTAMP_DAY: i64 = 106_751_981;

/// What a text says.
#[derive(Clone, Debug, Default)]
pub struct Parsed {
    /// Day number since 1970-01-01.
    pub days: Option<i64>,
    /// Microseconds of the day, up to and including 24:00.
    pub micros: i64,
    /// The zone.
    pub zone: Option<Zone>,
    /// The text was `now`, `epoch` or an infinity: an instant, in microseconds since 1970 UTC.
    pub instant: Option<i64>,
}

/// A zone in a text.
#[derive(Clone, Debug)]
pub enum Zone {
    /// Seconds east of Greenwich.
    At(i32),
    /// A zone of the database, or of a rule.
    Named(TimeZone),
    /// An abbreviation that has meant different offsets in this zone.
    Abbreviated(TimeZone, String),
}

impl Zone {
    /// Seconds east of Greenwich when the clocks show `local`.
    pub fn offset_at_local(&self, local: i64) -> i32 {
        match self {
            Self::At(offset) => *offset,
            Self::Named(zone) => zone::offset_at_local(zone, local),
            Self::Abbreviated(zone, name) => zone::offset_of_abbreviation(zone, name, local),
        }
    }

    /// True when the offset does not depend on the date.
    pub fn is_fixed(&self) -> bool {
        match self {
            Self::At(_) => true,
            Self::Named(zone) => zone.to_fixed_offset().is_ok(),
            Self::Abbreviated(..) => false,
        }
    }
}

/// What a text is read for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Wanted {
    /// A date, with a time perhaps.
    DateTime,
    /// A time of day; a date may say which offset its zone has.
    Time,
}

/// Reads a text as a value of the type that messages call `name`.
pub fn parse(text: &str, wanted: Wanted, name: &str, settings: &Settings) -> Result<Parsed> {
    read(text, wanted, settings).map_err(|problem| match problem {
        Problem::Syntax => Error::new(Condition::InvalidDatetimeFormat, invalid_syntax(name, text).message.clone()),
        Problem::Overflow => field_overflow(text),
        Problem::DateOrder => field_overflow(text).hint("Perhaps you need a different \"datestyle\" setting."),
        Problem::Zone(zone) => zone::not_recognized(&zone),
        Problem::ZoneOffset => Error::new(
            Condition::InvalidTimeZoneDisplacement,
            format!("time zone displacement out of range: \"{text}\""),
        ),
        Problem::NeedsNow => {
            Error::unsupported(format!("\"{}\" in a constant of this place", datetime_fields::trim(text)))
        }
    })
}

/// `date/time field value out of range`, 22008.
pub fn field_overflow(text: &str) -> Error {
    Error::new(Condition::DatetimeFieldOverflow, format!("date/time field value out of range: \"{text}\""))
}

/// `timestamp out of range`, 22008: a result beyond the type.
pub fn out_of_range(name: &str) -> Error {
    Error::new(Condition::DatetimeFieldOverflow, format!("{name} out of range"))
}

/// Reads the digits at the front of a byte string as a number of exactly `N` digits.
pub fn fixed_digits<const N: usize>(bytes: &[u8]) -> Option<i64> {
    let digits = bytes.get(..N)?;
    digits.iter().try_fold(0, |value, byte| byte.is_ascii_digit().then(|| value * 10 + i64::from(byte - b'0')))
}

/// Day number of `YYYY-MM-DD`.
pub fn iso_date(bytes: &[u8]) -> Option<i64> {
    let [.., b'-', _, _, b'-', _, _] = bytes else { return None };
    let (year, month, day) =
        (fixed_digits::<4>(bytes)?, fixed_digits::<2>(&bytes[5..])?, fixed_digits::<2>(&bytes[8..])?);
    (bytes.len() == 10 && year > 0 && valid_date(year, month, day)).then(|| days_from_civil(year, month, day))
}

/// Microseconds of `HH:MM:SS[.ffffff]`, up to 24:00:00, with the bytes behind it.
pub fn iso_time(bytes: &[u8]) -> Option<(i64, &[u8])> {
    let (hour, minute, second) =
        (fixed_digits::<2>(bytes)?, fixed_digits::<2>(bytes.get(3..)?)?, fixed_digits::<2>(bytes.get(6..)?)?);
    if bytes[2] != b':' || bytes[5] != b':' || minute > 59 || second > 59 {
        return None;
    }
    let mut micros = hour * HOUR + minute * MINUTE + second * SECOND;
    let mut rest = &bytes[8..];
    if let [b'.', digits @ ..] = rest {
        let count = digits.iter().take_while(|b| b.is_ascii_digit()).count();
        if count == 0 || count > 6 {
            return None;
        }
        let fraction = digits[..count].iter().fold(0, |value, byte| value * 10 + i64::from(byte - b'0'));
        micros += fraction * 10_i64.pow(6 - count as u32);
        rest = &digits[count..];
    }
    (micros <= DAY).then_some((micros, rest))
}

/// True for dates that exist.
pub fn valid_date(year: i64, month: i64, day: i64) -> bool {
    (1..=12).contains(&month) && day >= 1 && day <= days_in_month(year, month)
}

/// 28 to 31.
pub const fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        _ => 31,
    }
}

/// True for `YYYY-MM-DD` of a day that exists, years 1 to 9999: stored as it is shown in ISO style.
pub fn is_shown_date(bytes: &[u8]) -> bool {
    let [y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2] = bytes else { return false };
    let digits = [y1, y2, y3, y4, m1, m2, d1, d2];
    if !digits.iter().all(|byte| byte.is_ascii_digit()) {
        return false;
    }
    let two = |tens: &u8, ones: &u8| i64::from(tens - b'0') * 10 + i64::from(ones - b'0');
    let year = two(y1, y2) * 100 + two(y3, y4);
    year > 0 && valid_date(year, two(m1, m2), two(d1, d2))
}

/// True for `HH:MM:SS[.ffffff]` before 24:00 and without zeros at the end of the fraction: stored as it is shown.
pub fn is_shown_time(bytes: &[u8]) -> bool {
    let [h1, h2, b':', m1, m2, b':', s1, s2, fraction @ ..] = bytes else { return false };
    let whole = [h1, h2, m1, m2, s1, s2].iter().all(|byte| byte.is_ascii_digit())
        && (*h1 < b'2' || *h1 == b'2' && *h2 < b'4')
        && *m1 < b'6'
        && *s1 < b'6';
    whole
        && match fraction {
            [] => true,
            [b'.', digits @ ..] => {
                matches!(digits, [_, .., b'1'..=b'9'] | [b'1'..=b'9'])
                    && digits.len() <= 6
                    && digits.iter().all(u8::is_ascii_digit)
            }
            _ => false,
        }
}

/// True for `YYYY-MM-DD HH:MM:SS[.ffffff]`, see [`is_shown_date`] and [`is_shown_time`].
pub fn is_shown_timestamp(bytes: &[u8]) -> bool {
    match bytes.split_at_checked(10) {
        Some((date, [b' ', time @ ..])) => is_shown_date(date) && is_shown_time(time),
        _ => false,
    }
}

/// Appends a day as it is stored.
pub fn write_stored_date(out: &mut Vec<u8>, days: i64) {
    let (year, month, day) = civil_from_days(days);
    match year {
        1..=9_999 => push_digits(out, year, 4),
        10_000.. => {
            out.push(b'Y');
            push_digits(out, year, 7);
        }
        _ => {
            out.push(b'.');
            push_digits(out, year + BEFORE_CHRIST, 6);
        }
    }
    push_month_and_day(out, month, day);
}

/// What is added to years before 1 AD, so that their texts sort.
const BEFORE_CHRIST: i64 = 100_000;

/// The day that a stored text begins with, and what stands behind it.
pub fn stored_date(bytes: &[u8]) -> Option<(i64, &[u8])> {
    let (year, rest) = match bytes.first()? {
        b'Y' => (fixed_digits::<7>(&bytes[1..])?, &bytes[8..]),
        b'.' => (fixed_digits::<6>(&bytes[1..])? - BEFORE_CHRIST, &bytes[7..]),
        _ => (fixed_digits::<4>(bytes).filter(|year| *year > 0)?, &bytes[4..]),
    };
    let [b'-', _, _, b'-', _, _, rest @ ..] = rest else { return None };
    let tail = &bytes[bytes.len() - rest.len() - 5..];
    let (month, day) = (fixed_digits::<2>(tail)?, fixed_digits::<2>(&tail[3..])?);
    valid_date(year, month, day).then(|| (days_from_civil(year, month, day), rest))
}

/// Appends `YYYY-MM-DD`, the year as people count it; true when ` BC` has to follow.
pub fn write_iso_date(out: &mut Vec<u8>, days: i64) -> bool {
    let (year, month, day) = civil_from_days(days);
    let (shown, bc) = year_of_era(year);
    push_digits(out, shown, 4);
    push_month_and_day(out, month, day);
    bc
}

/// A year as people count it, and whether it lies before 1 AD.
pub const fn year_of_era(year: i64) -> (i64, bool) {
    if year > 0 { (year, false) } else { (1 - year, true) }
}

fn push_month_and_day(out: &mut Vec<u8>, month: u8, day: u8) {
    out.push(b'-');
    push_digits(out, i64::from(month), 2);
    out.push(b'-');
    push_digits(out, i64::from(day), 2);
}

/// Appends `HH:MM:SS[.ffffff]`, the fraction without trailing zeros.
pub fn write_iso_time(out: &mut Vec<u8>, micros: i64) {
    push_digits(out, micros / HOUR, 2);
    out.push(b':');
    push_digits(out, micros / MINUTE % 60, 2);
    out.push(b':');
    push_digits(out, micros / SECOND % 60, 2);
    write_fraction(out, micros % SECOND);
}

/// Appends a fraction of a second without trailing zeros; nothing for zero.
pub fn write_fraction(out: &mut Vec<u8>, micros: i64) {
    if micros != 0 {
        out.push(b'.');
        push_digits(out, micros, 6);
        while out.last() == Some(&b'0') {
            out.pop();
        }
    }
}

/// A number of at least `width` digits.
fn push_digits(out: &mut Vec<u8>, value: i64, width: usize) {
    if let (2, 0..=99) = (width, value) {
        return out.extend_from_slice(&[b'0' + (value / 10) as u8, b'0' + (value % 10) as u8]);
    }
    let mut width = width;
    while value >= 10_i64.pow(width as u32) {
        width += 1;
    }
    let start = out.len();
    out.resize(start + width, b'0');
    let mut rest = value;
    for digit in out[start..].iter_mut().rev() {
        *digit = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_as_it_is_stored() {
        for (text, shown) in [
            ("2024-02-29 23:59:59", true),
            ("2024-02-29 23:59:59.000001", true),
            ("0001-01-01 00:00:00.5", true),
            ("9999-12-31 00:00:00", true),
            ("2023-02-29 00:00:00", false),
            ("2024-13-01 00:00:00", false),
            ("2024-00-01 00:00:00", false),
            ("2024-01-00 00:00:00", false),
            ("0000-01-01 00:00:00", false),
            ("2024-02-29T23:59:59", false),
            ("2024-02-29 24:00:00", false),
            ("2024-02-29 23:60:00", false),
            ("2024-02-29 23:59:60", false),
            ("2024-02-29 23:59:59.", false),
            ("2024-02-29 23:59:59.50", false),
            ("2024-02-29 23:59:59.0000001", false),
            ("2024-02-29 23:59:59+00", false),
            ("2024-02-29 23:59", false),
            ("2024-02-29", false),
            ("Y0012024-05-06 00:00:00", false),
            (".095288-05-06 00:00:00", false),
            ("2024-02-2é 23:59:59", false),
            ("", false),
        ] {
            assert_eq!(is_shown_timestamp(text.as_bytes()), shown, "{text}");
        }
        for month in 1..=12 {
            for year in [1900, 2000, 2023, 2024] {
                let next = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
                let days = days_from_civil(next.0, next.1, 1) - days_from_civil(year, month, 1);
                assert_eq!(days_in_month(year, month), days);
            }
        }
    }

    #[test]
    fn stored_dates_sort_and_read_back() {
        let days = [
            FIRST_DAY,
            -800_000,
            -719_529,
            -719_528,
            -719_163,
            -719_162,
            0,
            2_932_896,
            2_932_897,
            LAST_TIMESTAMP_DAY,
            LAST_DAY,
        ];
        let texts: Vec<Vec<u8>> = days
            .iter()
            .map(|day| {
                let mut out = Vec::new();
                write_stored_date(&mut out, *day);
                out
            })
            .collect();
        assert!(texts.is_sorted());
        assert!(texts[0].as_slice() > b"-infinity".as_slice() && texts[10].as_slice() < b"infinity".as_slice());
        for (text, day) in texts.iter().zip(days) {
            assert_eq!(stored_date(text), Some((day, &b""[..])), "{}", String::from_utf8_lossy(text));
        }
        assert_eq!(stored_date(b"Y00120"), None);
        assert_eq!(stored_date(b".09528"), None);
        assert_eq!(stored_date(b"2024-02-30"), None);
    }
}
