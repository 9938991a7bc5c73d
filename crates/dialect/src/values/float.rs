//! `real` and `double precision`.
//!
//! Stored as REAL, except NaN, which no REAL can be: it is the text `NaN`, which compares above every
//! number and equal to itself, as PostgreSQL has it.

use super::{Settings, datetime_fields, invalid_syntax};
use crate::ir::Value;
use crate::{Condition, Error, Result};

/// How NaN is stored.
pub const STORED_NAN: &str = "NaN";

/// The stored form of a float.
pub fn to_value(value: f64) -> Value {
    if value.is_nan() { Value::Text(STORED_NAN.to_owned()) } else { Value::Real(value) }
}

/// Reads a `double precision`.
pub fn parse8(text: &str) -> Result<f64> {
    let trimmed = datetime_fields::trim(text);
    if let Some(special) = special(trimmed) {
        return Ok(special);
    }
    let value: f64 = if is_number(trimmed) { trimmed.parse().ok() } else { None }
        .ok_or_else(|| invalid_syntax("double precision", text))?;
    if value.is_infinite() || (value == 0.0 && has_nonzero_digit(trimmed)) {
        let message = format!("\"{trimmed}\" is out of range for type double precision");
        return Err(Error::new(Condition::NumericValueOutOfRange, message));
    }
    Ok(value)
}

/// Reads a `real`.
pub fn parse4(text: &str) -> Result<f32> {
    let trimmed = datetime_fields::trim(text);
    if let Some(special) = special(trimmed) {
        return Ok(special as f32);
    }
    let value: f32 =
        if is_number(trimmed) { trimmed.parse().ok() } else { None }.ok_or_else(|| invalid_syntax("real", text))?;
    if value.is_infinite() || (value == 0.0 && has_nonzero_digit(trimmed)) {
        let message = format!("\"{trimmed}\" is out of range for type real");
        return Err(Error::new(Condition::NumericValueOutOfRange, message));
    }
    Ok(value)
}

/// The words for values that have no digits.
pub(super) fn special(text: &str) -> Option<f64> {
    let word = text.to_ascii_lowercase();
    Some(match word.as_str() {
        "nan" => f64::NAN,
        "infinity" | "+infinity" | "inf" | "+inf" => f64::INFINITY,
        "-infinity" | "-inf" => f64::NEG_INFINITY,
        _ => return None,
    })
}

fn is_number(text: &str) -> bool {
    text.bytes().any(|b| b.is_ascii_digit())
        && text.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'+' | b'-' | b'.' | b'e' | b'E'))
}

fn has_nonzero_digit(text: &str) -> bool {
    text.bytes().take_while(|b| !matches!(b, b'e' | b'E')).any(|b| (b'1'..=b'9').contains(&b))
}

/// Appends a `double precision`: the shortest text that reads back exactly, or `%.{15 + n}g` for
/// `extra_float_digits` of 0 and below.
pub fn write8(out: &mut Vec<u8>, value: f64, settings: &Settings) {
    if settings.extra_float_digits > 0 {
        let scientific = format!("{value:e}");
        write_shortest(out, value, &scientific, 15);
    } else {
        write_digits(out, value, (15 + settings.extra_float_digits).max(1));
    }
}

/// Appends a `real`.
pub fn write4(out: &mut Vec<u8>, value: f32, settings: &Settings) {
    if settings.extra_float_digits > 0 {
        let scientific = format!("{value:e}");
        write_shortest(out, f64::from(value), &scientific, 6);
    } else {
        write_digits(out, f64::from(value), (6 + settings.extra_float_digits).max(1));
    }
}

/// `scientific` is Rust's shortest `d.ddde±n`; exponents below -4 and from `limit` on stay in that form.
fn write_shortest(out: &mut Vec<u8>, value: f64, scientific: &str, limit: i32) {
    if !value.is_finite() {
        write_special(out, value);
        return;
    }
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    write_parts(out, mantissa, exponent, limit);
}

fn write_digits(out: &mut Vec<u8>, value: f64, digits: i32) {
    if !value.is_finite() {
        write_special(out, value);
        return;
    }
    let scientific = format!("{value:.*e}", digits as usize - 1);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let mantissa = if mantissa.contains('.') { mantissa.trim_end_matches('0').trim_end_matches('.') } else { mantissa };
    write_parts(out, mantissa, exponent.parse().unwrap_or(0), digits);
}

fn write_special(out: &mut Vec<u8>, value: f64) {
    let word = if value.is_nan() {
        "NaN"
    } else if value > 0.0 {
        "Infinity"
    } else {
        "-Infinity"
    };
    out.extend_from_slice(word.as_bytes());
}

fn write_parts(out: &mut Vec<u8>, mantissa: &str, exponent: i32, limit: i32) {
    if exponent < -4 || exponent >= limit {
        out.extend_from_slice(mantissa.as_bytes());
        let sign = if exponent < 0 { '-' } else { '+' };
        out.extend_from_slice(format!("e{sign}{:02}", exponent.unsigned_abs()).as_bytes());
        return;
    }
    let (sign, mantissa) = match mantissa.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", mantissa),
    };
    out.extend_from_slice(sign.as_bytes());
    let digits: Vec<u8> = mantissa.bytes().filter(|b| *b != b'.').collect();
    if exponent < 0 {
        out.extend_from_slice(b"0.");
        out.extend(std::iter::repeat_n(b'0', (-exponent - 1) as usize));
        out.extend_from_slice(&digits);
        return;
    }
    let whole = exponent as usize + 1;
    if digits.len() <= whole {
        out.extend_from_slice(&digits);
        out.extend(std::iter::repeat_n(b'0', whole - digits.len()));
    } else {
        out.extend_from_slice(&digits[..whole]);
        out.push(b'.');
        out.extend_from_slice(&digits[whole..]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text8(value: f64) -> String {
        let mut out = Vec::new();
        write8(&mut out, value, &Settings::default());
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn writes_as_postgres() {
        for (value, text) in [
            (0.1 + 0.2, "0.30000000000000004"),
            (1e15, "1e+15"),
            (123_456_789_012_345.0, "123456789012345"),
            (0.0001, "0.0001"),
            (0.000_01, "1e-05"),
            (-1.5e-7, "-1.5e-07"),
            (1e300, "1e+300"),
            (-0.0, "-0"),
            (f64::NAN, "NaN"),
            (f64::NEG_INFINITY, "-Infinity"),
        ] {
            assert_eq!(text8(value), text);
        }
        let mut out = Vec::new();
        write4(&mut out, 1_234_567.0, &Settings::default());
        assert_eq!(out, b"1.234567e+06");
        out.clear();
        write8(&mut out, 0.1 + 0.2, &Settings { extra_float_digits: 0, ..Settings::default() });
        assert_eq!(out, b"0.3");
    }

    #[test]
    fn refuses_what_does_not_fit() {
        assert_eq!(parse8("1e400").unwrap_err().condition().sqlstate(), "22003");
        assert_eq!(parse8("1e-400").unwrap_err().condition().sqlstate(), "22003");
        assert_eq!(parse4("1e39").unwrap_err().condition().sqlstate(), "22003");
        assert_eq!(parse8("1x").unwrap_err().condition().sqlstate(), "22P02");
        assert_eq!(parse8("").unwrap_err().condition().sqlstate(), "22P02");
        assert!(parse8("nan").unwrap().is_nan());
        assert_eq!(parse8("0e500").unwrap(), 0.0);
    }
}
