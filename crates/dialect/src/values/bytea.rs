//! `bytea`.

use super::Settings;
use crate::{Condition, Error, Result, work};

/// Reads the hex form (`\x…`) and the escape form.
pub fn parse(text: &str) -> Result<Vec<u8>> {
    match text.strip_prefix("\\x") {
        Some(digits) => parse_hex(digits),
        None => parse_escape(text),
    }
}

/// Reads hexadecimal digits.
pub fn parse_hex(digits: &str) -> Result<Vec<u8>> {
    let mut bytes = work::bytes(digits.len() / 2)?;
    let mut high = None;
    for c in digits.chars() {
        work::step(1)?;
        if high.is_none() && matches!(c, ' ' | '\n' | '\t' | '\r') {
            continue;
        }
        let digit = c.to_digit(16).ok_or_else(|| {
            Error::new(Condition::InvalidParameterValue, format!("invalid hexadecimal digit: \"{c}\""))
        })? as u8;
        match high.take() {
            None => high = Some(digit),
            Some(high) => bytes.push(high << 4 | digit),
        }
    }
    match high {
        None => Ok(bytes),
        Some(_) => Err(Error::new(Condition::InvalidParameterValue, "invalid hexadecimal data: odd number of digits")),
    }
}

/// Reads the escape form.
pub fn parse_escape(text: &str) -> Result<Vec<u8>> {
    let mut bytes = work::bytes(text.len())?;
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        work::step(1)?;
        if *first != b'\\' {
            bytes.push(*first);
            rest = tail;
            continue;
        }
        match tail {
            [b'\\', tail @ ..] => {
                bytes.push(b'\\');
                rest = tail;
            }
            [a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', tail @ ..] => {
                bytes.push((a - b'0') << 6 | (b - b'0') << 3 | (c - b'0'));
                rest = tail;
            }
            _ => return Err(Error::new(Condition::InvalidTextRepresentation, "invalid input syntax for type bytea")),
        }
    }
    Ok(bytes)
}

/// Appends bytes in the form that `bytea_output` asks for.
pub fn write(out: &mut Vec<u8>, bytes: &[u8], settings: &Settings) {
    if settings.bytea_hex {
        out.reserve(2 + bytes.len() * 2);
        out.extend_from_slice(b"\\x");
        for byte in bytes {
            out.push(HEX[usize::from(byte >> 4)]);
            out.push(HEX[usize::from(byte & 0x0f)]);
        }
        return;
    }
    for byte in bytes {
        match byte {
            b'\\' => out.extend_from_slice(b"\\\\"),
            0x20..=0x7e => out.push(*byte),
            _ => out.extend_from_slice(format!("\\{byte:03o}").as_bytes()),
        }
    }
}

const HEX: &[u8; 16] = b"0123456789abcdef";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_both_forms() {
        assert_eq!(parse("\\xDE adBE").unwrap(), [0xde, 0xad, 0xbe]);
        assert_eq!(parse("a\\\\b\\001").unwrap(), b"a\\b\x01");
        assert_eq!(parse("\\x1").unwrap_err().condition().sqlstate(), "22023");
        assert_eq!(parse("\\9").unwrap_err().condition().sqlstate(), "22P02");
    }

    #[test]
    fn writes_both_forms() {
        let mut out = Vec::new();
        write(&mut out, &[0, 0xff], &Settings::default());
        write(&mut out, b"a\\\x00", &Settings { bytea_hex: false, ..Settings::default() });
        assert_eq!(out, b"\\x00ffa\\\\\\000");
    }
}
