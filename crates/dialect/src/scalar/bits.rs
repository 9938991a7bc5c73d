//! `bit(n)` and `bit varying(n)`, stored as their digits.

use super::{Casts, Modifiers, Order, Scalar, as_stored, malformed, stored_text};
use crate::ir::Value;
use crate::types::Storage;
use crate::values::ValueRef;
use crate::{Condition, Error, Result, Type};

/// The rows.
pub(super) static ROWS: &[&Scalar] = &[&BIT, &VARBIT];

/// Bits of a fixed length.
pub static BIT: Scalar = Scalar {
    name: "bit",
    words: "bit",
    oid: 1560,
    delimiter: ',',
    storage: Storage::Text,
    // Digits compare as PostgreSQL compares bits: the shorter of two that are equal so far comes first.
    order: Order::Stored,
    modifiers: Modifiers::Length(fit_bit),
    casts: Casts { from: from_integer, into: into_integer },
    input: |text, _| Ok(Value::Text(parse(text)?)),
    output: as_stored,
    receive: |bytes| receive(bytes).map(Value::Text),
    send,
};

/// Bits of any length up to a limit.
pub static VARBIT: Scalar = Scalar {
    name: "varbit",
    words: "bit varying",
    oid: 1562,
    delimiter: ',',
    storage: Storage::Text,
    order: Order::Stored,
    modifiers: Modifiers::Length(fit_varbit),
    casts: Casts::TEXT,
    input: |text, _| Ok(Value::Text(parse(text)?)),
    output: as_stored,
    receive: |bytes| receive(bytes).map(Value::Text),
    send,
};

/// The greatest length that a modifier may say.
pub const MAX_LENGTH: i64 = 83_886_080;

fn parse(text: &str) -> Result<String> {
    let wrong = |digit: char, kind: &str| {
        Error::new(Condition::InvalidTextRepresentation, format!("\"{digit}\" is not a valid {kind} digit"))
    };
    if let Some(digits) = text.strip_prefix(['x', 'X']) {
        let mut bits = String::with_capacity(digits.len() * 4);
        for c in digits.chars() {
            let digit = c.to_digit(16).ok_or_else(|| wrong(c, "hexadecimal"))?;
            bits.push_str(&format!("{digit:04b}"));
        }
        return Ok(bits);
    }
    let digits = text.strip_prefix(['b', 'B']).unwrap_or(text);
    match digits.chars().find(|c| !matches!(c, '0' | '1')) {
        Some(c) => Err(wrong(c, "binary")),
        None => Ok(digits.to_owned()),
    }
}

/// The digits of stored bits.
///
/// # Errors
/// `DataCorrupted` for what is none, in a file that another program has written.
pub fn digits(stored: &[u8]) -> Result<&str> {
    match std::str::from_utf8(stored) {
        Ok(bits) if bits.bytes().all(|digit| matches!(digit, b'0' | b'1')) => Ok(bits),
        _ => Err(crate::values::misfit(ValueRef::Text(stored), &Type::Scalar(&VARBIT, None))),
    }
}

fn fit_bit(bits: &str, length: u32, asked: bool) -> Result<String> {
    let bits = digits(bits.as_bytes())?;
    let wanted = length as usize;
    if bits.len() == wanted {
        return Ok(bits.to_owned());
    }
    if !asked {
        return Err(Error::new(
            Condition::StringDataLengthMismatch,
            format!("bit string length {} does not match type bit({length})", bits.len()),
        ));
    }
    crate::work::room(wanted)?;
    Ok(format!("{:0<wanted$}", &bits[..bits.len().min(wanted)]))
}

fn fit_varbit(bits: &str, length: u32, asked: bool) -> Result<String> {
    let bits = digits(bits.as_bytes())?;
    let most = length as usize;
    if bits.len() > most && !asked {
        return Err(Error::new(
            Condition::StringDataRightTruncation,
            format!("bit string too long for type bit varying({length})"),
        ));
    }
    Ok(bits[..bits.len().min(most)].to_owned())
}

/// The lowest bits of an integer; one, where no length is said.
fn from_integer(value: &Value, from: &Type, length: Option<u32>) -> Option<Result<Value>> {
    let (Value::Integer(number), Type::Int4 | Type::Int8) = (value, from) else { return None };
    let length = length.unwrap_or(1);
    if let Err(error) = crate::work::room(length as usize) {
        return Some(Err(error));
    }
    // Beyond 64 bits, the sign.
    let bit = |at: u32| if number >> at.min(63) & 1 == 1 { '1' } else { '0' };
    Some(Ok(Value::Text((0..length).rev().map(bit).collect())))
}

fn into_integer(value: &Value, to: &Type) -> Option<Result<Value>> {
    let Value::Text(bits) = value else { return None };
    if let Err(error) = digits(bits.as_bytes()) {
        return Some(Err(error));
    }
    let number = if bits.is_empty() { Ok(0) } else { u64::from_str_radix(bits, 2) };
    let out_of_range = |name: &str| Err(Error::new(Condition::NumericValueOutOfRange, format!("{name} out of range")));
    match (to, number) {
        (Type::Int4, Ok(number)) if bits.len() <= 32 => Some(Ok(Value::Integer(i64::from(number as u32 as i32)))),
        (Type::Int8, Ok(number)) if bits.len() <= 64 => Some(Ok(Value::Integer(number as i64))),
        (Type::Int4, _) => Some(out_of_range("integer")),
        (Type::Int8, _) => Some(out_of_range("bigint")),
        _ => None,
    }
}

fn receive(bytes: &[u8]) -> Result<String> {
    let wrong = || malformed("bit string");
    let (length, bytes) = bytes.split_first_chunk::<4>().ok_or_else(wrong)?;
    let length = u32::from_be_bytes(*length) as usize;
    if bytes.len() != length.div_ceil(8) {
        return Err(wrong());
    }
    crate::work::room(length)?;
    let bit = |at: usize| if bytes[at / 8] >> (7 - at % 8) & 1 == 1 { '1' } else { '0' };
    Ok((0..length).map(bit).collect())
}

fn send(out: &mut Vec<u8>, value: ValueRef<'_>) -> Result<()> {
    let bits = digits(stored_text(value)?.as_bytes())?.as_bytes();
    out.extend_from_slice(&(bits.len() as u32).to_be_bytes());
    for eight in bits.chunks(8) {
        let byte = eight.iter().enumerate().fold(0, |byte, (at, bit)| byte | u8::from(*bit == b'1') << (7 - at));
        out.push(byte);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::round_trip::{ascends, check, refuses};
    use super::*;

    #[test]
    fn bits_are_read_and_printed_as_postgresql_does() {
        check(&BIT, &[("b101", "101"), ("x1f", "00011111"), ("", ""), ("100000001", "100000001")]);
        refuses(&BIT, &[("2", "\"2\" is not a valid binary digit")]);
        refuses(&VARBIT, &[("xg", "\"g\" is not a valid hexadecimal digit")]);
        ascends(&VARBIT, &["", "0", "01", "1", "100000001", "101", "11"]);
    }

    #[test]
    fn lengths_are_kept_or_made() {
        assert_eq!(fit_bit("101", 2, true).unwrap(), "10");
        assert_eq!(fit_bit("1", 3, true).unwrap(), "100");
        assert_eq!(fit_varbit("1011", 2, true).unwrap(), "10");
        let short = fit_bit("10", 3, false).unwrap_err();
        assert_eq!(short.message, "bit string length 2 does not match type bit(3)");
        let long = fit_varbit("1011", 3, false).unwrap_err();
        assert_eq!(long.message, "bit string too long for type bit varying(3)");
    }
}
