//! How the server spells values: numbers, dates and durations out of text and out of the binary protocol, and the latter
//! as the former.

use rowferry_wire::{Malformed, civil, digits};
use rowferry_wire_mysql::messages::resultset::{DateTime, Time};
use rowferry_wire_mysql::types::BinaryForm;

/// The value of `decimals` in columns whose number of decimals is not fixed.
const NOT_FIXED: u8 = 31;

/// A signed integer of the binary protocol.
#[inline]
pub fn read_int(form: BinaryForm, body: &[u8]) -> Result<i64, Malformed> {
    Ok(match form {
        BinaryForm::Fixed(1) => i64::from(i8::from_le_bytes(fixed(body)?)),
        BinaryForm::Fixed(2) => i64::from(i16::from_le_bytes(fixed(body)?)),
        BinaryForm::Fixed(4) => i64::from(i32::from_le_bytes(fixed(body)?)),
        _ => i64::from_le_bytes(fixed(body)?),
    })
}

/// An unsigned integer of the binary protocol.
#[inline]
pub fn read_unsigned(form: BinaryForm, body: &[u8]) -> Result<u64, Malformed> {
    Ok(match form {
        BinaryForm::Fixed(1) => u64::from(u8::from_le_bytes(fixed(body)?)),
        BinaryForm::Fixed(2) => u64::from(u16::from_le_bytes(fixed(body)?)),
        BinaryForm::Fixed(4) => u64::from(u32::from_le_bytes(fixed(body)?)),
        _ => u64::from_le_bytes(fixed(body)?),
    })
}

/// A single as the text protocol spells it: six digits, or the column's own number of decimals.
///
/// A value that does not fit these decimals is spelled in full instead. What is stored in a FLOAT(M,D) always fits; there
/// are servers that say 0 decimals of every FLOAT, and 1.5 is not 2 for that.
pub fn float_text(value: f32, decimals: u8) -> String {
    if decimals >= NOT_FIXED {
        return format!("{value:.5e}");
    }
    let spelled = format!("{:.*}", usize::from(decimals), f64::from(value));
    if spelled.parse() == Ok(value) { spelled } else { value.to_string() }
}

/// The bytes of a value whose width its type says.
#[inline]
pub fn fixed<const N: usize>(body: &[u8]) -> Result<[u8; N], Malformed> {
    body.try_into().map_err(|_| Malformed::new("width of a number"))
}

/// True for days that the calendar has.
#[inline]
pub fn is_date(value: DateTime) -> bool {
    let DateTime { year, month, day, .. } = value;
    // Most days need no calendar.
    let is_day = matches!((month, day), (1..=12, 1..=28)) || day <= civil::days_in_month(i64::from(year), month);
    year > 0 && year < 10_000 && day > 0 && is_day
}

/// A whole number with a sign.
#[inline]
pub fn parse_int(text: &[u8]) -> Option<i64> {
    let (negative, spelled) = signed(text);
    match digits::parse(spelled).map(i64::try_from) {
        Some(Ok(value)) => Some(if negative { -value } else { value }),
        // The least of all has no positive counterpart; signs and zeros may stand where we do not expect them.
        _ => std::str::from_utf8(text).ok()?.parse().ok(),
    }
}

/// A number as Python's `float` has it.
#[inline]
pub fn parse_float(text: &[u8]) -> Option<f64> {
    // Up to so many digits, and powers of ten up to 10^22, are exact as doubles: one division rounds as it should.
    const EXACT: usize = 15;
    let (negative, spelled) = signed(text);
    if spelled.len() <= EXACT + 1
        && let Some((value, decimals)) = digits::parse_fixed(spelled, 1)
        && value < digits::POWERS[EXACT]
    {
        let value = value as f64 / digits::POWERS[decimals] as f64;
        return Some(if negative { -value } else { value });
    }
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// The text without its minus, and whether it had one.
#[inline]
const fn signed(text: &[u8]) -> (bool, &[u8]) {
    match text {
        [b'-', rest @ ..] => (true, rest),
        rest => (false, rest),
    }
}

/// Two digits.
#[inline]
fn two(text: &[u8], at: usize) -> Option<u8> {
    let (a, b) = (text.get(at)?.wrapping_sub(b'0'), text.get(at + 1)?.wrapping_sub(b'0'));
    (a <= 9 && b <= 9).then_some(a * 10 + b)
}

/// Checks eight bytes against a pattern of `0`, for any digit, and other characters, which must stand where they stand.
/// Answers the digits with zeros between them.
#[inline]
const fn matching(text: [u8; 8], pattern: [u8; 8]) -> Option<[u8; 8]> {
    let mut limits = [0_u8; 8];
    let mut at = 0;
    while at < 8 {
        // What a byte may be at most before this sum reaches its uppermost bit: 9 or 0.
        limits[at] = if pattern[at] == b'0' { 0x7f - 9 } else { 0x7f };
        at += 1;
    }
    let rest = u64::from_le_bytes(text) ^ u64::from_le_bytes(pattern);
    if (rest.wrapping_add(u64::from_le_bytes(limits)) | rest) & 0x8080_8080_8080_8080 != 0 {
        return None;
    }
    Some(rest.to_le_bytes())
}

/// `YYYY-MM-DD`.
#[inline]
pub fn parse_date(text: &[u8]) -> Option<DateTime> {
    let text: &[u8; 10] = text.try_into().ok()?;
    let [a, b, c, d, _, e, f, _] = matching(*text.first_chunk()?, *b"0000-00-")?;
    let year = u16::from(a * 10 + b) * 100 + u16::from(c * 10 + d);
    Some(DateTime { year, month: e * 10 + f, day: two(text, 8)?, ..DateTime::default() })
}

/// `YYYY-MM-DD HH:MM:SS[.ffffff]`.
#[inline]
pub fn parse_datetime(text: &[u8]) -> Option<DateTime> {
    let (moment, fraction) = text.split_first_chunk::<19>()?;
    let (date, time) = moment.split_first_chunk::<10>()?;
    if !matches!(time[0], b' ' | b'T') {
        return None;
    }
    let [h, hh, _, m, mm, _, s, ss] = matching(*time.last_chunk()?, *b"00:00:00")?;
    let (hour, minute, second) = (h * 10 + hh, m * 10 + mm, s * 10 + ss);
    let microsecond = if fraction.is_empty() { 0 } else { parse_fraction(fraction)? };
    Some(DateTime { hour, minute, second, microsecond, ..parse_date(date)? })
}

/// Nothing, or `.` and up to six digits: microseconds.
#[inline]
fn parse_fraction(text: &[u8]) -> Option<u32> {
    match text {
        [] => Some(0),
        [b'.', digits @ ..] if digits.len() <= 6 => {
            let mut value = 0;
            for at in 0..6 {
                let digit = digits.get(at).map_or(0, |byte| byte.wrapping_sub(b'0'));
                if digit > 9 {
                    return None;
                }
                value = value * 10 + u32::from(digit);
            }
            Some(value)
        }
        _ => None,
    }
}

/// `[-]H…HH:MM:SS[.ffffff]`.
pub fn parse_time(text: &[u8]) -> Option<Time> {
    let (negative, text) = match text {
        [b'-', text @ ..] => (true, text),
        text => (false, text),
    };
    let colon = text.iter().position(|&byte| byte == b':')?;
    let hours = u32::try_from(parse_int(&text[..colon])?).ok()?;
    let rest = &text[colon..];
    if rest.len() < 6 || rest[3] != b':' {
        return None;
    }
    Some(Time {
        negative,
        days: hours / 24,
        hours: (hours % 24) as u8,
        minutes: two(rest, 1)?,
        seconds: two(rest, 4)?,
        microseconds: parse_fraction(&rest[6..])?,
    })
}

/// `YYYY-MM-DD`.
pub fn date_text(value: DateTime) -> Vec<u8> {
    format!("{:04}-{:02}-{:02}", value.year, value.month, value.day).into_bytes()
}

/// `YYYY-MM-DD HH:MM:SS`, with the column's number of decimals.
pub fn datetime_text(value: DateTime, decimals: u8) -> Vec<u8> {
    let DateTime { year, month, day, hour, minute, second, microsecond } = value;
    let mut text = format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}");
    push_fraction(&mut text, microsecond, decimals);
    text.into_bytes()
}

/// `[-]HH:MM:SS`, with the column's number of decimals.
pub fn time_text(value: Time, decimals: u8) -> Vec<u8> {
    let hours = value.days.saturating_mul(24) + u32::from(value.hours);
    let sign = if value.negative { "-" } else { "" };
    let mut text = format!("{sign}{hours:02}:{:02}:{:02}", value.minutes, value.seconds);
    push_fraction(&mut text, value.microseconds, decimals);
    text.into_bytes()
}

/// A fraction of a second with the column's number of decimals, or with more where these would not hold it.
fn push_fraction(text: &mut String, microseconds: u32, decimals: u8) {
    let fraction = format!("{microseconds:06}");
    let needed = fraction.trim_end_matches('0').len();
    let shown = if decimals <= 6 { usize::from(decimals).max(needed) } else { needed };
    if shown > 0 {
        text.push('.');
        text.push_str(&fraction[..shown]);
    }
}
