//! `BIGINT UNSIGNED` and `BIT(64)` as they lie in a file: an integer up to 2^63-1, beyond it the eight bytes of the
//! number, greatest first. A file sorts bytes behind all numbers and byte by byte, so that its own order, keys and
//! comparisons are those of the numbers.

use super::super::{Decimal, ValueRef};
use super::numbers;
use crate::Type;
use crate::ir::Value;
use crate::mysql::types::SCHEMA;

/// Values of the type lie so.
pub fn is_wide(ty: &Type) -> bool {
    match ty {
        Type::User(user) => {
            user.namespace == SCHEMA
                && matches!(user.name.as_str(), "bigint unsigned" | "bit(64)")
                && *ty.through_domains() == Type::Int8
        }
        _ => false,
    }
}

/// A number as it lies.
pub fn stored(number: u64) -> Value {
    match i64::try_from(number) {
        Ok(number) => Value::Integer(number),
        Err(_) => Value::Blob(number.to_be_bytes().to_vec()),
    }
}

/// The number beyond 2^63-1 that lies so; `None` for anything else.
#[inline]
pub fn of_bytes(bytes: &[u8]) -> Option<u64> {
    let number = u64::from_be_bytes(bytes.try_into().ok()?);
    (number > i64::MAX.cast_unsigned()).then_some(number)
}

/// A decimal, to the nearest whole number; the nearer end where it is beyond both.
///
/// # Errors
/// That end.
pub fn of_decimal(number: &Decimal) -> Result<u64, u64> {
    let whole = number.rounded(0);
    if whole.signum() < 0 {
        return Err(0);
    }
    let whole = whole.small().and_then(|(digits, scale)| (scale == 0).then_some(digits));
    whole.and_then(|whole| u64::try_from(whole).ok()).ok_or(u64::MAX)
}

/// Any number as what stands among those that lie so where it does: compared with them, it is less, equal or greater as
/// the file has it. A text is the number that it begins with, a double unless it is whole.
pub fn beside(value: ValueRef<'_>) -> Value {
    let text = match value {
        ValueRef::Null => return Value::Null,
        ValueRef::Integer(number) => return Value::Integer(number),
        ValueRef::Real(number) => return beside_double(number),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => String::from_utf8_lossy(bytes),
    };
    let number = numbers::prefix(&text);
    if number.contains(['.', 'e', 'E']) {
        return beside_double(numbers::double_of_text(number));
    }
    match number.trim_start_matches('+').parse::<i128>() {
        Ok(whole) if whole < 0 => Value::Integer(i64::try_from(whole).unwrap_or(i64::MIN)),
        Ok(whole) => u64::try_from(whole).map_or_else(|_| above(), stored),
        Err(_) => beside_double(numbers::double_of_text(number)),
    }
}

fn beside_double(number: f64) -> Value {
    const FIRST: f64 = 9_223_372_036_854_775_808.0;
    if number < FIRST {
        Value::Real(number)
    } else if number < FIRST * 2.0 {
        // Doubles of this size are whole numbers.
        stored(number as u64)
    } else {
        above()
    }
}

/// Greater than all of them.
fn above() -> Value {
    Value::Blob(vec![u8::MAX; 9])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(value: &Value) -> (u8, f64, Vec<u8>) {
        match value {
            Value::Integer(number) => (0, *number as f64, Vec::new()),
            Value::Real(number) => (0, *number, Vec::new()),
            Value::Blob(bytes) => (1, 0.0, bytes.clone()),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn numbers_lie_in_their_order() {
        let ascending = [
            "-18446744073709551616",
            "-1",
            "0",
            "0.5",
            "1",
            "9223372036854775807",
            "9223372036854775808",
            "9223372036854775809",
            "18446744073709551615",
            "18446744073709551616",
        ];
        for pair in ascending.windows(2) {
            let [low, high] = [pair[0], pair[1]].map(|text| place(&beside(ValueRef::Text(text.as_bytes()))));
            assert!(low < high, "{pair:?}");
        }
        for number in [0, 1, i64::MAX as u64, 1 << 63, (1 << 63) + 1, u64::MAX] {
            assert_eq!(beside(ValueRef::Text(number.to_string().as_bytes())), stored(number));
        }
        assert_eq!(beside(ValueRef::Real(1.844_674_407_370_955_2e19)), above());
        assert_eq!(beside(ValueRef::Real(1e19)), stored(10_000_000_000_000_000_000));
        assert_eq!(beside(ValueRef::Text(b"12 apples")), Value::Integer(12));
        assert_eq!(beside(ValueRef::Text(b"apples")), Value::Real(0.0));
    }

    #[test]
    fn bytes_are_numbers_beyond_those_that_are_integers() {
        assert_eq!(of_bytes(&u64::MAX.to_be_bytes()), Some(u64::MAX));
        assert_eq!(of_bytes(&[0x7f; 8]), None);
        assert_eq!(of_bytes(b"\xff\xff"), None);
        let of = |text: &str| of_decimal(&Decimal::parse(text).unwrap());
        assert_eq!(of("18446744073709551615.4"), Ok(u64::MAX));
        assert_eq!(of("18446744073709551615.5"), Err(u64::MAX));
        assert_eq!(of("1e60"), Err(u64::MAX));
        assert_eq!(of("-0.5"), Err(0));
        assert_eq!(of("-0.4"), Ok(0));
    }
}
