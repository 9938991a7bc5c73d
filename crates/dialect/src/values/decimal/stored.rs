//! Decimals as they lie in a file: texts, or the store's own numbers.

use std::cmp::Ordering;

use super::native::Native;
use super::read::parse_plain;
use super::{Decimal, ValueRef};
use crate::types::NumericModifier;
use crate::{Result, Type};

/// Order of two stored decimal texts: the `decimal` collation. A text that is no number comes behind all numbers, in
/// the order of its bytes, so that the order is total whatever lies in the file.
pub fn compare_text(left: &str, right: &str) -> Ordering {
    if left == right {
        return Ordering::Equal;
    }
    if let (Some(a), Some(b)) = (parse_plain(left.as_bytes()), parse_plain(right.as_bytes())) {
        return a.compare(&b);
    }
    match (Decimal::parse(left), Decimal::parse(right)) {
        (Ok(a), Ok(b)) => a.compare(&b),
        (Ok(_), Err(_)) => Ordering::Less,
        (Err(_), Ok(_)) => Ordering::Greater,
        (Err(_), Err(_)) => left.cmp(right),
    }
}

/// The digits behind the point that a type asks for.
pub fn scale_of(ty: &Type) -> usize {
    match ty {
        Type::Numeric(Some(modifier)) | Type::Money(modifier) => usize::try_from(modifier.scale).unwrap_or(0),
        _ => 0,
    }
}

/// Appends a stored decimal, native or text, with at least the digits of its type's scale behind the point.
pub fn write(out: &mut Vec<u8>, value: ValueRef<'_>, ty: &Type) -> Result<()> {
    let scale = scale_of(ty);
    if let Some(native) = Native::of(value, scale) {
        native.write(out);
        return Ok(());
    }
    match value {
        ValueRef::Null => {}
        ValueRef::Integer(value) => {
            crate::values::integer::write(out, value);
            if scale > 0 {
                out.push(b'.');
                out.extend(std::iter::repeat_n(b'0', scale));
            }
        }
        ValueRef::Real(value) if value.is_finite() => {
            // Rust prints the shortest digits that read back as the same double, never an exponent.
            let text = format!("{value}");
            let text = if text == "-0" { "0" } else { &text };
            out.extend_from_slice(text.as_bytes());
            let behind = text.find('.').map_or(0, |point| text.len() - point - 1);
            if behind < scale {
                if behind == 0 {
                    out.push(b'.');
                }
                out.extend(std::iter::repeat_n(b'0', scale - behind));
            }
        }
        ValueRef::Real(value) => out.extend_from_slice(Decimal::from_f64(value).to_string().as_bytes()),
        ValueRef::Text(bytes) if is_canonical(bytes) => out.extend_from_slice(bytes),
        ValueRef::Text(_) | ValueRef::Blob(_) => {
            let number = Decimal::from_stored(value).map_err(|_| crate::values::misfit(value, ty))?;
            out.extend_from_slice(number.to_string().as_bytes());
        }
    }
    Ok(())
}

/// True for a canonical text of a number that needs no rounding to fit the type, and has as many digits behind the point as
/// it says; any of up to 100 digits where it says nothing.
pub fn is_plain(text: &[u8], modifier: Option<NumericModifier>) -> bool {
    match (places(text), modifier) {
        (None, _) => false,
        (Some((whole, scale)), None) => whole + scale <= 100,
        (Some((_, scale)), Some(modifier)) => {
            i64::try_from(scale) == Ok(i64::from(modifier.scale)) && fits(text, Some(modifier))
        }
    }
}

/// True for a canonical text of a number of up to 100 digits that the type takes as it is, perhaps with more zeros behind the
/// point.
pub fn fits(text: &[u8], modifier: Option<NumericModifier>) -> bool {
    let Some((whole, scale)) = places(text) else { return false };
    whole + scale <= 100
        && modifier.is_none_or(|NumericModifier { precision, scale: wanted }| {
            let significant = if text.strip_prefix(b"-").unwrap_or(text).starts_with(b"0") { 0 } else { whole };
            i64::try_from(scale).is_ok_and(|scale| scale <= i64::from(wanted))
                && significant as i64 <= i64::from(precision) - i64::from(wanted)
        })
}

/// How many digits a canonical text of a number has before the point and behind it.
fn places(text: &[u8]) -> Option<(usize, usize)> {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    let whole = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let scale = match &digits[whole..] {
        [] => 0,
        [b'.', behind @ ..] if !behind.is_empty() && behind.iter().all(u8::is_ascii_digit) => behind.len(),
        _ => return None,
    };
    // Numbers do not begin with zeros, and zero has no sign.
    let begins = match digits {
        [b'0', b'0'..=b'9', ..] | [] => false,
        [b'0', ..] => digits.len() == text.len() || digits.iter().any(|byte| matches!(byte, b'1'..=b'9')),
        [b'1'..=b'9', ..] => true,
        _ => false,
    };
    begins.then_some((whole, scale))
}

/// Sign, digits, perhaps a point and digits: what we store.
fn is_canonical(bytes: &[u8]) -> bool {
    let digits = bytes.strip_prefix(b"-").unwrap_or(bytes);
    digits.first().is_some_and(u8::is_ascii_digit)
        && digits.last().is_some_and(u8::is_ascii_digit)
        && digits.iter().filter(|b| **b == b'.').count() <= 1
        && digits.iter().all(|b| b.is_ascii_digit() || *b == b'.')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_plain_is_stored_as_it_comes(
            text in "-?[0-9]{0,6}(\\.[0-9]{0,4})?", precision in 1..9_u16, scale in -2..6_i16, constrained: bool
        ) {
            let modifier = constrained.then_some(NumericModifier { precision, scale });
            if is_plain(text.as_bytes(), modifier) {
                let ty = Type::Numeric(modifier);
                prop_assert_eq!(Decimal::parse(&text).unwrap().constrained(&ty).unwrap().to_string(), text.clone());
            }
            if fits(text.as_bytes(), modifier) {
                let (number, ty) = (Decimal::parse(&text).unwrap(), Type::Numeric(modifier));
                prop_assert_eq!(number.clone().constrained(&ty).unwrap().compare(&number), Ordering::Equal);
            }
        }
    }

    #[test]
    fn plain_texts() {
        let two = Some(NumericModifier { precision: 5, scale: 2 });
        for (text, modifier, plain) in [
            ("0", None, true),
            ("-1.50", None, true),
            ("-0", None, false),
            ("-0.0", None, false),
            ("-0.01", None, true),
            ("01", None, false),
            ("1.", None, false),
            (".5", None, false),
            ("1e3", None, false),
            ("NaN", None, false),
            ("", None, false),
            ("-", None, false),
            ("123.45", two, true),
            ("1234.56", two, false),
            ("1.5", two, false),
            ("0.00", two, true),
        ] {
            assert_eq!(is_plain(text.as_bytes(), modifier), plain, "{text}");
        }
    }

    #[test]
    fn prints_native_values_with_their_scale() {
        let ty = Type::Numeric(Some(NumericModifier { precision: 10, scale: 2 }));
        for (value, text) in [
            (ValueRef::Integer(5), "5.00"),
            (ValueRef::Real(12.5), "12.50"),
            (ValueRef::Real(0.1), "0.10"),
            (ValueRef::Real(1.005), "1.005"),
            (ValueRef::Text(b"7.25"), "7.25"),
        ] {
            let mut out = Vec::new();
            write(&mut out, value, &ty).unwrap();
            assert_eq!(String::from_utf8(out).unwrap(), text);
        }
        assert_eq!(write(&mut Vec::new(), ValueRef::Text(b"cheap"), &ty).unwrap_err().condition().sqlstate(), "XX001");
    }

    #[test]
    fn orders_by_value() {
        let mut texts = ["10", "9.5", "-1", "NaN", "Infinity", "0.10", "-Infinity", "apple"];
        texts.sort_by(|a, b| compare_text(a, b));
        assert_eq!(texts, ["-Infinity", "-1", "0.10", "9.5", "10", "Infinity", "NaN", "apple"]);
        assert_eq!(compare_text("1.5", "1.50"), Ordering::Equal);
    }
}
