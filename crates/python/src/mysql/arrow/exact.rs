//! Exact numbers without their point, as Arrow's decimals have them.

use arrow_buffer::i256;
use arrow_schema::DataType;

/// The digits of `[-]digits[.digits]` without their point, and how many of them stood behind it.
struct Digits<'a> {
    negative: bool,
    whole: &'a [u8],
    fraction: &'a [u8],
}

impl<'a> Digits<'a> {
    #[inline]
    fn split(text: &'a [u8], precision: u8, scale: i8) -> Option<Self> {
        let (negative, text) = match text {
            [b'-', rest @ ..] => (true, rest),
            _ => (false, text),
        };
        let point = text.iter().position(|&byte| byte == b'.').unwrap_or(text.len());
        let (whole, rest) = text.split_at(point);
        let fraction = rest.get(1..).unwrap_or_default();
        // A zero in front of the point is none of the column's digits.
        let whole = if whole == b"0" { &[] } else { whole };
        let fits = fraction.len() <= scale as usize && whole.len() <= usize::from(precision) - scale as usize;
        (fits && !text.is_empty()).then_some(Self { negative, whole, fraction })
    }
}

/// The value of digits; `None` when some are none.
#[inline]
fn digits(value: u64, text: &[u8]) -> Option<u64> {
    let mut value = value;
    for byte in text {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
    }
    Some(value)
}

/// Powers of ten.
pub const POWERS: [u64; 20] = {
    let mut powers = [1_u64; 20];
    let mut at = 1;
    while at < powers.len() {
        powers[at] = powers[at - 1] * 10;
        at += 1;
    }
    powers
};

/// Digits in all, and behind the point.
pub const fn precision_and_scale(data_type: &DataType) -> (u8, i8) {
    match data_type {
        DataType::Decimal128(precision, scale) | DataType::Decimal256(precision, scale) => (*precision, *scale),
        _ => (0, 0),
    }
}

/// An exact number of at most 38 digits without its point; `None` when it does not fit its column.
#[inline]
pub fn unscaled(text: &[u8], data_type: &DataType) -> Option<i128> {
    let (precision, scale) = precision_and_scale(data_type);
    let Digits { negative, whole, fraction } = Digits::split(text, precision, scale)?;
    let missing = scale as usize - fraction.len();
    let value = if whole.len() + scale as usize <= 19 {
        i128::from(digits(digits(0, whole)?, fraction)? * POWERS[missing])
    } else {
        let padding = std::iter::repeat_n(&b'0', missing);
        whole.iter().chain(fraction).chain(padding).try_fold(0_i128, |value, byte| {
            let digit = byte.wrapping_sub(b'0');
            (digit <= 9).then(|| value * 10 + i128::from(digit))
        })?
    };
    Some(if negative { -value } else { value })
}

/// The same of at most 76 digits.
pub fn long_unscaled(text: &[u8], data_type: &DataType) -> Option<i256> {
    let (precision, scale) = precision_and_scale(data_type);
    let Digits { negative, whole, fraction } = Digits::split(text, precision, scale)?;
    let mut spelled: Vec<u8> = Vec::with_capacity(80);
    if negative {
        spelled.push(b'-');
    }
    spelled.push(b'0');
    spelled.extend_from_slice(whole);
    spelled.extend_from_slice(fraction);
    spelled.resize(spelled.len() + scale as usize - fraction.len(), b'0');
    i256::from_string(std::str::from_utf8(&spelled).ok()?)
}
