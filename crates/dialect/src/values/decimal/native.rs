//! Decimals of at most fifteen digits, which lie in the file as the back end's own numbers: written without arithmetic on
//! digits.

use super::ValueRef;
use crate::ir::Value;

/// Powers of ten that a double holds exactly, as far as fifteen digits go.
const POWERS: [i64; 16] = {
    let mut powers = [1; 16];
    let mut at = 1;
    while at < powers.len() {
        powers[at] = powers[at - 1] * 10;
        at += 1;
    }
    powers
};
/// Below this every number of its decimals is a double that reads back as the same digits.
const LIMIT: i64 = 1_000_000_000_000_000;

/// A decimal that fits.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Native {
    /// The value without its point.
    unscaled: i64,
    /// Digits behind the point.
    scale: usize,
}

impl Native {
    /// What a stored number is with exactly so many digits behind the point. `None` when it has more, or is too long:
    /// then the long way knows what to do.
    #[inline]
    pub fn of(value: ValueRef<'_>, scale: usize) -> Option<Self> {
        let power = *POWERS.get(scale)?;
        let unscaled = match value {
            ValueRef::Integer(value) => value.checked_mul(power)?,
            // The quotient of two numbers that are exact is rounded correctly: when it is the stored double, these digits
            // are what that double was made from.
            ValueRef::Real(value) => {
                let product = value * power as f64;
                // To the nearest, in the processor's own instructions. What is no number is zero here, and not equal.
                let unscaled = (product + 0.5_f64.copysign(product)) as i64;
                if unscaled.unsigned_abs() >= LIMIT.unsigned_abs() || unscaled as f64 / power as f64 != value {
                    return None;
                }
                unscaled
            }
            _ => return None,
        };
        (unscaled.unsigned_abs() < LIMIT.unsigned_abs()).then_some(Self { unscaled, scale })
    }

    /// Appends its text.
    pub fn write(self, out: &mut Vec<u8>) {
        // A sign, fifteen digits, a zero before the point, the point.
        let mut text = [0; 20];
        let mut at = text.len();
        let mut rest = self.unscaled.unsigned_abs();
        let mut push = |byte| {
            at -= 1;
            text[at] = byte;
        };
        for _ in 0..self.scale {
            push(b'0' + (rest % 10) as u8);
            rest /= 10;
        }
        if self.scale > 0 {
            push(b'.');
        }
        loop {
            push(b'0' + (rest % 10) as u8);
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        if self.unscaled < 0 {
            push(b'-');
        }
        out.extend_from_slice(&text[at..]);
    }

    /// Appends it as `numeric_send` does: digits of base 10000, without those that are zero at either end.
    pub fn send(self, out: &mut Vec<u8>) {
        const BASE: u64 = 10_000;
        let power = POWERS[self.scale].unsigned_abs();
        let (mut whole, part) = (self.unscaled.unsigned_abs() / power, self.unscaled.unsigned_abs() % power);
        let behind = self.scale.div_ceil(4);
        // Before the point there are at most four, behind it, too.
        let mut digits = [0_u16; 8];
        let mut part = part * POWERS[behind * 4 - self.scale].unsigned_abs();
        for digit in digits[4..4 + behind].iter_mut().rev() {
            (*digit, part) = ((part % BASE) as u16, part / BASE);
        }
        for digit in digits[..4].iter_mut().rev() {
            (*digit, whole) = ((whole % BASE) as u16, whole / BASE);
        }
        let first = digits.iter().position(|digit| *digit != 0);
        let last = digits.iter().rposition(|digit| *digit != 0);
        let (used, weight) = match (first, last) {
            (Some(first), Some(last)) => (&digits[first..=last], 3 - first as i16),
            _ => (&[][..], 0),
        };
        let sign = if self.unscaled < 0 { super::binary::NEGATIVE } else { super::binary::POSITIVE };
        for word in [used.len() as u16, weight as u16, sign, self.scale as u16] {
            out.extend_from_slice(&word.to_be_bytes());
        }
        for digit in used {
            out.extend_from_slice(&digit.to_be_bytes());
        }
    }
}

/// The number that a canonical decimal text of at most 15 significant digits is in a column of the back end's numbers:
/// an integer where it has no fraction.
pub fn stored_number(text: &str) -> Option<Value> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let (mut unscaled, mut point, mut behind) = (0_i64, false, 0_usize);
    for byte in digits.bytes() {
        match byte {
            b'0'..=b'9' => {
                unscaled = unscaled * 10 + i64::from(byte - b'0');
                if unscaled >= LIMIT {
                    return None;
                }
                behind += usize::from(point);
            }
            b'.' if !point => point = true,
            _ => return None,
        }
    }
    if digits.len() == usize::from(point) {
        return None;
    }
    let sign = if digits.len() == text.len() { 1 } else { -1 };
    match POWERS.get(behind) {
        Some(power) if unscaled % power == 0 => Some(Value::Integer(sign * (unscaled / power))),
        // Both are exact as doubles, so that their quotient is rounded as the text's own value would be.
        Some(power) => Some(Value::Real((sign * unscaled) as f64 / *power as f64)),
        None if unscaled == 0 => Some(Value::Integer(0)),
        None => text.parse().ok().map(Value::Real),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::values::Decimal;
    use crate::values::decimal::binary;

    fn text(native: Native) -> String {
        let mut out = Vec::new();
        native.write(&mut out);
        String::from_utf8(out).unwrap()
    }

    fn check(unscaled: i64, scale: usize) {
        let expected = Decimal::from_parts(i128::from(unscaled), scale as u32);
        let stored = ValueRef::Real(expected.to_string().parse().unwrap());
        let native = Native::of(stored, scale).unwrap();
        assert_eq!(text(native), expected.to_string());
        let (mut short, mut long) = (Vec::new(), Vec::new());
        native.send(&mut short);
        binary::send(&mut long, &expected);
        assert_eq!(short, long, "{expected}");
    }

    proptest! {
        #[test]
        fn is_written_and_sent_as_any_decimal(digits in -999_999_999_999_999_i64..=999_999_999_999_999, cut in 0..15_u32, scale in 0..=15_usize) {
            check(digits / 10_i64.pow(cut), scale);
        }

        #[test]
        fn takes_no_number_that_has_other_digits(value: f64, scale in 0..=15_usize) {
            if let Some(native) = Native::of(ValueRef::Real(value), scale) {
                prop_assert_eq!(text(native).parse::<f64>().unwrap(), value);
            }
        }
    }

    #[test]
    fn a_decimal_of_fifteen_digits_is_a_number_in_a_numeric_column() {
        assert_eq!(stored_number("12.50"), Some(Value::Real(12.5)));
        assert_eq!(stored_number("-12.00"), Some(Value::Integer(-12)));
        assert_eq!(stored_number("0.000000000000001"), Some(Value::Real(1e-15)));
        assert_eq!(stored_number("1234567890123456"), None);
        assert_eq!(stored_number("NaN"), None);
        for none in ["", "-", ".", "1.2.3", "1e5"] {
            assert_eq!(stored_number(none), None, "{none}");
        }
    }

    proptest! {
        #[test]
        fn the_number_of_a_decimal_is_the_one_nearest_to_it(text in "-?(0|[1-9][0-9]{0,7})(\\.[0-9]{1,25})?") {
            let digits = text.replace(['-', '.'], "");
            match stored_number(&text) {
                None => prop_assert!(digits.trim_start_matches('0').len() > 15),
                Some(Value::Integer(number)) => prop_assert_eq!(number as f64, text.parse::<f64>().unwrap()),
                Some(number) => {
                    prop_assert!(text.contains('.') && text.parse::<f64>().unwrap().fract() != 0.0);
                    prop_assert_eq!(number, Value::Real(text.parse().unwrap()));
                }
            }
        }
    }

    #[test]
    fn edges() {
        for scale in 0..=15 {
            for unscaled in [0, 1, -1, 9, 10_000, -10_000, 100_000_000, 999_999_999_999_999, -999_999_999_999_999] {
                check(unscaled, scale);
            }
        }
        assert_eq!(Native::of(ValueRef::Real(1.005), 2), None);
        assert_eq!(Native::of(ValueRef::Real(f64::NAN), 2), None);
        assert_eq!(Native::of(ValueRef::Real(f64::INFINITY), 2), None);
        assert_eq!(Native::of(ValueRef::Real(1e15), 0), None);
        assert_eq!(Native::of(ValueRef::Integer(i64::MAX), 2), None);
        assert_eq!(Native::of(ValueRef::Integer(1), 16), None);
        assert_eq!(text(Native::of(ValueRef::Real(-0.0), 2).unwrap()), "0.00");
        assert_eq!(text(Native::of(ValueRef::Integer(-7), 2).unwrap()), "-7.00");
    }
}
