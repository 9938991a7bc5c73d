//! `uuid`.

use super::invalid_syntax;
use crate::Result;

/// Reads the standard form, also with braces, in upper case, and with hyphens after any group of four digits; gives
/// the canonical text.
pub fn parse(text: &str) -> Result<String> {
    bytes(text).map(format)
}

/// The sixteen bytes of a text.
pub fn bytes(text: &str) -> Result<[u8; 16]> {
    let invalid = || invalid_syntax("uuid", text);
    let body = match text.strip_prefix('{') {
        Some(rest) => rest.strip_suffix('}').ok_or_else(invalid)?,
        None => text,
    };
    let mut bytes = [0; 16];
    let mut digits = 0;
    let mut after_hyphen = true;
    for c in body.chars() {
        if c == '-' {
            if after_hyphen || digits % 4 != 0 || digits == 32 {
                return Err(invalid());
            }
            after_hyphen = true;
            continue;
        }
        let digit = c.to_digit(16).ok_or_else(invalid)? as u8;
        if digits == 32 {
            return Err(invalid());
        }
        bytes[digits / 2] |= if digits % 2 == 0 { digit << 4 } else { digit };
        digits += 1;
        after_hyphen = false;
    }
    if digits == 32 { Ok(bytes) } else { Err(invalid()) }
}

/// The canonical text of sixteen bytes.
pub fn format(bytes: [u8; 16]) -> String {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let mut text = String::with_capacity(36);
    for (at, byte) in bytes.into_iter().enumerate() {
        if matches!(at, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        text.push(char::from(HEX[usize::from(byte >> 4)]));
        text.push(char::from(HEX[usize::from(byte & 0x0f)]));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_every_form() {
        let canonical = "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11";
        for text in [
            canonical,
            "A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11",
            "{a0eebc999c0b4ef8bb6d6bb9bd380a11}",
            "a0ee-bc99-9c0b-4ef8-bb6d-6bb9-bd38-0a11",
        ] {
            assert_eq!(parse(text).unwrap(), canonical);
        }
        for text in [
            "",
            "a0eebc99",
            "{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
            "a0eebc99--9c0b-4ef8-bb6d-6bb9bd380a11",
            "g0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
        ] {
            assert_eq!(parse(text).unwrap_err().condition().sqlstate(), "22P02", "{text}");
        }
    }
}
