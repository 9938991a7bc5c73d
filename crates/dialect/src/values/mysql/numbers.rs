//! Numbers: what stands at the beginning of a text, and how doubles are printed.

use std::fmt::Write as _;

use super::super::{Decimal, ValueRef};

/// A double as MySQL prints it: the fewest digits that read back as the same, `1e20` from sixteen digits on.
pub fn double_text(value: f64) -> String {
    written(&format!("{value:e}"))
}

/// A number as a DOUBLE(M,D) keeps it: rounded to so many digits behind the point.
pub fn with_fraction(value: f64, digits: i32) -> f64 {
    let whole = value.floor();
    let tens = 10_f64.powi(digits);
    if value.is_finite() { whole + ((value - whole) * tens).round_ties_even() / tens } else { value }
}

/// A single as MySQL prints it: six digits.
pub fn float_text(value: f64) -> String {
    written(&format!("{value:.5e}"))
}

/// The same as a text that is worked with, which has an exponent where it had more letters than a FLOAT shows.
pub fn float_as_text(value: f64) -> String {
    const WIDTH: usize = 12;
    match float_text(value) {
        wide if wide.len() > WIDTH => with_exponent(&format!("{value:.5e}")),
        text => text,
    }
}

/// Digits as they are or with an exponent, of a text with an exponent.
fn written(scientific: &str) -> String {
    let Some((mantissa, exponent)) = scientific.split_once('e') else { return scientific.to_owned() };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let (sign, mantissa) = mantissa.strip_prefix('-').map_or(("", mantissa), |rest| ("-", rest));
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    let digits = match digits.trim_end_matches('0') {
        "" => "0",
        digits => digits,
    };
    let mut out = sign.to_owned();
    match exponent {
        0..=14 => {
            let whole = usize::try_from(exponent).unwrap_or(0) + 1;
            if digits.len() <= whole {
                out.push_str(digits);
                out.extend(std::iter::repeat_n('0', whole - digits.len()));
            } else {
                let (whole, fraction) = digits.split_at(whole);
                let _ = write!(out, "{whole}.{fraction}");
            }
        }
        -15..=-1 => {
            out.push_str("0.");
            out.extend(std::iter::repeat_n('0', usize::try_from(-exponent - 1).unwrap_or(0)));
            out.push_str(digits);
        }
        _ => return with_exponent(scientific),
    }
    out
}

/// Digits with an exponent, without the zeros at their end.
fn with_exponent(scientific: &str) -> String {
    let Some((mantissa, exponent)) = scientific.split_once('e') else { return scientific.to_owned() };
    let mantissa = match mantissa.contains('.') {
        true => mantissa.trim_end_matches('0').trim_end_matches('.'),
        false => mantissa,
    };
    format!("{mantissa}e{exponent}")
}

/// The number at the beginning of a text, behind blanks; empty where there is none.
pub fn prefix(text: &str) -> &str {
    let text = text.trim_start_matches([' ', '\t', '\n', '\r', '\u{b}', '\u{c}']);
    let bytes = text.as_bytes();
    let digits = |from: usize| bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut at = usize::from(matches!(bytes.first(), Some(b'+' | b'-')));
    let mut found = digits(at);
    at += found;
    if bytes.get(at) == Some(&b'.') {
        let fraction = digits(at + 1);
        found += fraction;
        at += 1 + fraction;
    }
    if found == 0 {
        return "";
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
        let exponent = if at + 1 + sign <= bytes.len() { digits(at + 1 + sign) } else { 0 };
        if exponent > 0 {
            at += 1 + sign + exponent;
        }
    }
    &text[..at]
}

/// A text as a double: the number at its beginning, or 0.
pub fn double_of_text(text: &str) -> f64 {
    match prefix(text) {
        "" => 0.0,
        number => {
            let value: f64 = number.parse().unwrap_or(0.0);
            value.clamp(f64::MIN, f64::MAX)
        }
    }
}

/// A text as a decimal: the number at its beginning, or 0.
pub fn decimal_of_text(text: &str) -> Decimal {
    match prefix(text) {
        "" => Decimal::ZERO,
        number => {
            // An exponent beyond what a decimal holds is an overflow, which MySQL cuts off at 65 digits.
            let exponent = number.split_once(['e', 'E']).and_then(|(_, exponent)| exponent.parse::<i64>().ok());
            match exponent {
                Some(81..) => {
                    let nines = "9".repeat(65);
                    Decimal::parse(&if number.starts_with('-') { format!("-{nines}") } else { nines })
                }
                Some(..-80) => Ok(Decimal::ZERO),
                _ => Decimal::parse(number.trim_end_matches('.')),
            }
            .unwrap_or(Decimal::ZERO)
        }
    }
}

/// A text as an integer: the whole number at its beginning, or 0. One beyond 63 bits and within 64 is the negative
/// number of the same bits; what is beyond that is cut off.
pub fn integer_of_text(text: &str) -> i64 {
    let number = prefix(text);
    let end = number.find(['.', 'e', 'E']).unwrap_or(number.len());
    match number[..end].parse::<i128>() {
        Ok(value) => wrapped(value),
        // No digits before the point, or more than fit.
        Err(_) if number[..end].len() < 3 => 0,
        Err(_) if number.starts_with('-') => i64::MIN,
        Err(_) => -1,
    }
}

/// An integer of 64 bits, with a sign or without, as one with a sign.
pub fn wrapped(value: i128) -> i64 {
    match i64::try_from(value) {
        Ok(value) => value,
        Err(_) if value < 0 => i64::MIN,
        Err(_) => u64::try_from(value).unwrap_or(u64::MAX) as i64,
    }
}

/// A double, rounded to the nearest integer, to an even one in the middle.
pub fn integer_of_double(value: f64) -> i64 {
    value.round_ties_even() as i64
}

/// A decimal, rounded to the nearest integer, away from zero in the middle.
pub fn integer_of_decimal(value: &Decimal) -> i128 {
    match value.rounded(0).small() {
        Some((unscaled, 0)) => unscaled,
        _ if value.signum() < 0 => i128::from(i64::MIN),
        _ => i128::from(u64::MAX),
    }
}

/// A double's digits as a decimal.
pub fn decimal_of_double(value: f64) -> Decimal {
    Decimal::parse(&double_text(value)).unwrap_or(Decimal::ZERO)
}

/// A stored value as MySQL prints it; `None` for NULL.
pub fn text_of(value: ValueRef<'_>) -> Option<String> {
    Some(match value {
        ValueRef::Null => return None,
        ValueRef::Integer(value) => value.to_string(),
        ValueRef::Real(value) => double_text(value),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => String::from_utf8_lossy(bytes).into_owned(),
    })
}

/// A stored value as a double; `None` for NULL.
pub fn double_of(value: ValueRef<'_>) -> Option<f64> {
    Some(match value {
        ValueRef::Null => return None,
        ValueRef::Integer(value) => value as f64,
        ValueRef::Real(value) => value,
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => double_of_text(&String::from_utf8_lossy(bytes)),
    })
}

/// A stored value as a decimal; `None` for NULL.
pub fn decimal_of(value: ValueRef<'_>) -> Option<Decimal> {
    Some(match value {
        ValueRef::Null => return None,
        ValueRef::Integer(value) => Decimal::from_i64(value),
        ValueRef::Real(value) => decimal_of_double(value),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => decimal_of_text(&String::from_utf8_lossy(bytes)),
    })
}

/// A stored value as an integer; `None` for NULL.
pub fn integer_of(value: ValueRef<'_>) -> Option<i64> {
    Some(match value {
        ValueRef::Null => return None,
        ValueRef::Integer(value) => value,
        ValueRef::Real(value) => integer_of_double(value),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => integer_of_text(&String::from_utf8_lossy(bytes)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_are_printed_as_mysql_does() {
        for (value, wanted) in [
            (1e15, "1e15"),
            (1e14, "100000000000000"),
            (1e-5, "0.00001"),
            (1e-14, "0.00000000000001"),
            (1e-15, "0.000000000000001"),
            (1e-16, "1e-16"),
            (0.1 / 3.0, "0.03333333333333333"),
            (1.234_567_891_23e15, "1.23456789123e15"),
            (1e20, "1e20"),
            (-1.5e300, "-1.5e300"),
            (12.5, "12.5"),
            (0.0, "0"),
            (-100.0, "-100"),
        ] {
            assert_eq!(double_text(value), wanted);
        }
        assert_eq!(float_text(f64::from(1.1_f32)), "1.1");
        assert_eq!(float_text(f64::from(1_234_567.0_f32)), "1234570");
        for (value, shown, worked_with) in [
            (1e10_f32, "10000000000", "10000000000"),
            (1.5e13, "15000000000000", "1.5e13"),
            (1e-10, "0.0000000001", "0.0000000001"),
            (-1.23457e-8, "-0.0000000123457", "-1.23457e-8"),
            (1e20, "1e20", "1e20"),
        ] {
            assert_eq!(float_text(f64::from(value)), shown);
            assert_eq!(float_as_text(f64::from(value)), worked_with);
        }
    }

    #[test]
    fn numbers_are_read_at_the_beginning_of_texts() {
        assert_eq!(prefix("  12abc"), "12");
        assert_eq!(prefix("-1.5e3x"), "-1.5e3");
        assert_eq!(prefix("1e"), "1");
        assert_eq!(prefix(".5."), ".5");
        assert_eq!(prefix("abc"), "");
        assert_eq!(prefix("-."), "");
        assert_eq!(double_of_text("12abc").to_string(), "12");
        assert_eq!(decimal_of_text("1.50x").to_string(), "1.50");
        assert_eq!(decimal_of_text("3.").to_string(), "3");
        assert_eq!(integer_of_text("18446744073709551615"), -1);
        assert_eq!(integer_of_text("1.9"), 1);
        assert_eq!(integer_of_text(".9"), 0);
        assert_eq!(integer_of_text("-5x"), -5);
    }
}
