//! Texts to decimals.

use num_bigint::{BigInt, Sign};

use super::number::{Integer, Number, overflow};
use super::{Decimal, MAX_SCALE, MAX_WHOLE_DIGITS};
use crate::Result;
use crate::values::{datetime_fields, float, invalid_syntax};

/// Plain digits with at most one point and no more than 38 digits: everything that is stored, and most of what is not.
pub(super) fn parse_plain(bytes: &[u8]) -> Option<Number> {
    let (negative, digits) = match bytes {
        [b'-', rest @ ..] => (true, rest),
        rest => (false, rest),
    };
    if digits.is_empty() || digits.len() > 39 {
        return None;
    }
    let mut unscaled: i128 = 0;
    let mut scale = 0;
    let mut point = false;
    let mut count = 0;
    for byte in digits {
        match byte {
            b'0'..=b'9' => {
                count += 1;
                if count > 38 {
                    return None;
                }
                unscaled = unscaled * 10 + i128::from(byte - b'0');
                scale += u32::from(point);
            }
            b'.' if !point => point = true,
            _ => return None,
        }
    }
    if count == 0 {
        return None;
    }
    Some(Number::new(Integer::Small(if negative { -unscaled } else { unscaled }), scale))
}

/// Everything that PostgreSQL reads: exponents, other bases, `_` between digits, `NaN` and the infinities.
pub(super) fn parse_general(text: &str) -> Result<Decimal> {
    let invalid = || invalid_syntax("numeric", text);
    let trimmed = datetime_fields::trim(text);
    if let Some(special) = float::special(trimmed) {
        return Ok(Decimal::from_f64(special));
    }
    let (negative, body) = match trimmed.as_bytes().first() {
        Some(b'-') => (true, &trimmed[1..]),
        Some(b'+') => (false, &trimmed[1..]),
        _ => (false, trimmed),
    };
    for (prefix, radix) in [("0x", 16), ("0o", 8), ("0b", 2)] {
        let has_prefix = body.get(..2).is_some_and(|start| start.eq_ignore_ascii_case(prefix));
        if has_prefix {
            let digits = separated(&body[2..], |c| c.is_digit(radix), true).ok_or_else(invalid)?;
            let value = BigInt::parse_bytes(digits.as_bytes(), radix).ok_or_else(invalid)?;
            return Number::from_big(if negative { -value } else { value }, 0).check_range();
        }
    }
    let (mantissa, exponent) = match body.find(['e', 'E']) {
        Some(at) => (&body[..at], Some(&body[at + 1..])),
        None => (body, None),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if whole.is_empty() && fraction.is_empty() {
        return Err(invalid());
    }
    let is_digit = |c: char| c.is_ascii_digit();
    let whole = separated(whole, is_digit, false).ok_or_else(invalid)?;
    let fraction = separated(fraction, is_digit, false).ok_or_else(invalid)?;
    let exponent: i64 = match exponent {
        None => 0,
        Some(digits) => {
            let unsigned = digits.strip_prefix(['+', '-']).unwrap_or(digits);
            let clean = separated(unsigned, is_digit, false).filter(|clean| !clean.is_empty()).ok_or_else(invalid)?;
            let magnitude: i64 = clean.parse().map_err(|_| overflow())?;
            if digits.starts_with('-') { -magnitude } else { magnitude }
        }
    };
    let digits = format!("{whole}{fraction}");
    let unscaled: BigInt = digits.parse().map_err(|_| invalid())?;
    let scale = fraction.len() as i64 - exponent;
    // An exponent of a few bytes must not ask for gigabytes of zeros.
    if scale < -(MAX_WHOLE_DIGITS as i64) || exponent.abs() > 2 * MAX_WHOLE_DIGITS as i64 {
        return if unscaled.sign() == Sign::NoSign { Ok(Decimal::ZERO) } else { Err(overflow()) };
    }
    if scale > i64::from(MAX_SCALE) && exponent < 0 {
        return Err(overflow());
    }
    let unscaled = Integer::from_big(if negative { -unscaled } else { unscaled });
    let number = if scale < 0 {
        Number::new(unscaled.times_power(scale.unsigned_abs() as u32), 0)
    } else if scale > i64::from(MAX_SCALE) {
        Number::new(unscaled, scale as u32).rounded(i64::from(MAX_SCALE))
    } else {
        Number::new(unscaled, scale as u32)
    };
    number.check_range()
}

/// Digits with single underscores between them taken out; `None` if there is anything else.
fn separated(text: &str, is_digit: impl Fn(char) -> bool, leading: bool) -> Option<String> {
    let mut clean = String::with_capacity(text.len());
    let mut after_digit = leading;
    for c in text.chars() {
        if c == '_' && after_digit {
            after_digit = false;
        } else if is_digit(c) {
            clean.push(c);
            after_digit = true;
        } else {
            return None;
        }
    }
    (after_digit || text.is_empty()).then_some(clean)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(text: &str) -> Decimal {
        Decimal::parse(text).unwrap()
    }

    #[test]
    fn keeps_the_display_scale() {
        for (text, printed) in [
            ("1.50", "1.50"),
            ("-0.10", "-0.10"),
            (" +00012.3400 ", "12.3400"),
            (".5", "0.5"),
            ("5.", "5"),
            ("1e3", "1000"),
            ("1.5e-3", "0.0015"),
            (
                "12345678901234567890123456789012345678901234567890.12",
                "12345678901234567890123456789012345678901234567890.12",
            ),
            ("nan", "NaN"),
            ("-inf", "-Infinity"),
            ("0x1F", "31"),
            ("1_000", "1000"),
            ("-0", "0"),
            ("-0.00", "0.00"),
        ] {
            assert_eq!(decimal(text).to_string(), printed, "{text}");
        }
    }

    #[test]
    fn refuses_what_postgres_refuses() {
        for text in ["", ".", "1.2.3", "1e", "1e+", "abc", "1 2", "1__0", "--1", "0x"] {
            assert_eq!(Decimal::parse(text).unwrap_err().condition().sqlstate(), "22P02", "{text}");
        }
        for text in ["1e131073", "1e99999999999999999999", "1e-99999"] {
            assert_eq!(Decimal::parse(text).unwrap_err().condition().sqlstate(), "22003", "{text}");
        }
    }
}
