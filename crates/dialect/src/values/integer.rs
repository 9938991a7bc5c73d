//! `smallint`, `integer`, `bigint`, `oid`.

use super::{datetime_fields, invalid_syntax, type_name};
use crate::{Condition, Error, Result, Type};

/// The least and the greatest value of an integer type. Informix keeps the least two's complement value for NULL; its
/// front end narrows the range itself.
pub fn range(ty: &Type) -> (i64, i64) {
    match ty {
        Type::Int2 => (i64::from(i16::MIN), i64::from(i16::MAX)),
        Type::Int4 => (i64::from(i32::MIN), i64::from(i32::MAX)),
        Type::Oid | Type::Reg(_) => (0, i64::from(u32::MAX)),
        _ => (i64::MIN, i64::MAX),
    }
}

/// Reads an integer: blanks around, a sign, decimal digits; also PostgreSQL 16's `0x`, `0o`, `0b` and single `_`
/// between digits.
pub fn parse(text: &str, ty: &Type) -> Result<i64> {
    let trimmed = datetime_fields::trim(text);
    let (negative, body) = match trimmed.as_bytes().first() {
        Some(b'-') => (true, &trimmed[1..]),
        Some(b'+') => (false, &trimmed[1..]),
        _ => (false, trimmed),
    };
    let (radix, digits) = match body.as_bytes() {
        [b'0', b'x' | b'X', ..] => (16, &body[2..]),
        [b'0', b'o' | b'O', ..] => (8, &body[2..]),
        [b'0', b'b' | b'B', ..] => (2, &body[2..]),
        _ => (10, body),
    };
    let mut value: u64 = 0;
    let mut overflow = false;
    let mut previous_digit = radix != 10;
    let mut any = false;
    for byte in digits.bytes() {
        if byte == b'_' && previous_digit {
            previous_digit = false;
            continue;
        }
        let digit = char::from(byte).to_digit(radix).ok_or_else(|| invalid_syntax(type_name(ty), text))?;
        any = true;
        previous_digit = true;
        match value.checked_mul(u64::from(radix)).and_then(|value| value.checked_add(u64::from(digit))) {
            Some(next) => value = next,
            None => overflow = true,
        }
    }
    if !any || !previous_digit {
        return Err(invalid_syntax(type_name(ty), text));
    }
    let (least, greatest) = range(ty);
    let signed = if negative { -i128::from(value) } else { i128::from(value) };
    if overflow || signed < i128::from(least) || signed > i128::from(greatest) {
        let message = format!("value \"{text}\" is out of range for type {}", type_name(ty));
        return Err(Error::new(Condition::NumericValueOutOfRange, message));
    }
    Ok(signed as i64)
}

/// Reads an object id; negative numbers wrap as in PostgreSQL.
pub fn parse_oid(text: &str) -> Result<i64> {
    let value = parse(text, &Type::Int8).map_err(|error| match error.condition() {
        Condition::InvalidTextRepresentation => invalid_syntax("oid", text),
        condition => Error::new(condition, format!("value \"{text}\" is out of range for type oid")),
    })?;
    if value < i64::from(i32::MIN) || value > i64::from(u32::MAX) {
        let message = format!("value \"{text}\" is out of range for type oid");
        return Err(Error::new(Condition::NumericValueOutOfRange, message));
    }
    Ok(i64::from(value as u32))
}

/// The error for a result beyond a type's range: `integer out of range`.
pub fn out_of_range(ty: &Type) -> Error {
    let name = if matches!(ty, Type::Oid) { "OID" } else { type_name(ty) };
    // One SQLSTATE; Informix tells the types apart.
    let condition = match ty {
        Type::Int2 => Condition::SmallintOutOfRange,
        Type::Int4 => Condition::IntegerOutOfRange,
        Type::Int8 => Condition::BigintOutOfRange,
        _ => Condition::NumericValueOutOfRange,
    };
    Error::new(condition, format!("{name} out of range"))
}

/// The value if it is within a type's range.
pub fn checked(value: i64, ty: &Type) -> Result<i64> {
    let (least, greatest) = range(ty);
    if (least..=greatest).contains(&value) { Ok(value) } else { Err(out_of_range(ty)) }
}

/// Appends the digits.
pub fn write(out: &mut Vec<u8>, value: i64) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_refuses_as_postgres() {
        assert_eq!(parse(" -32768 ", &Type::Int2).unwrap(), -32768);
        assert_eq!(parse("0x7fff_ffff", &Type::Int4).unwrap(), 0x7fff_ffff);
        assert_eq!(parse("-9223372036854775808", &Type::Int8).unwrap(), i64::MIN);
        for (text, ty, sqlstate) in [
            ("32768", Type::Int2, "22003"),
            ("99999999999999999999999", Type::Int8, "22003"),
            ("", Type::Int4, "22P02"),
            ("1.5", Type::Int4, "22P02"),
            ("1__0", Type::Int4, "22P02"),
            ("1_", Type::Int4, "22P02"),
            ("- 1", Type::Int4, "22P02"),
        ] {
            assert_eq!(parse(text, &ty).unwrap_err().condition().sqlstate(), sqlstate, "{text}");
        }
        assert_eq!(parse("x", &Type::Int4).unwrap_err().to_string(), "invalid input syntax for type integer: \"x\"");
        assert_eq!(parse_oid("-1").unwrap(), 4_294_967_295);
    }

    #[test]
    fn writes_extremes() {
        for value in [0, 7, -10, i64::MIN, i64::MAX] {
            let mut out = Vec::new();
            write(&mut out, value);
            assert_eq!(out, value.to_string().as_bytes());
        }
    }
}
