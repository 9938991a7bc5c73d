//! Bytes and how they are written: digits for bytes, digests.

use rowferry_dialect::ir::Value;
use rowferry_dialect::values::bytea;
use rowferry_dialect::{Condition, Error, Result, work};
use sha2::Digest;

use super::call::text;
use super::{Call, Row};

pub(super) const ROWS: &[Row] = &[
    // A checksum, of no use for secrets.
    Row::new("rf_md5", 1, |call| {
        let mut shown = String::with_capacity(32);
        push_hex(&mut shown, &digest::<md5::Md5>(call)?);
        text(shown)
    }),
    Row::new("rf_sha224", 1, |call| digest::<sha2::Sha224>(call).map(Value::Blob)),
    Row::new("rf_sha256", 1, |call| digest::<sha2::Sha256>(call).map(Value::Blob)),
    Row::new("rf_sha384", 1, |call| digest::<sha2::Sha384>(call).map(Value::Blob)),
    Row::new("rf_sha512", 1, |call| digest::<sha2::Sha512>(call).map(Value::Blob)),
    Row::new("rf_encode", 2, encode),
    Row::new("rf_decode", 2, decode),
    Row::new("rf_bytea_concat", 2, |call| Ok(Value::Blob([call.bytes(0)?, call.bytes(1)?].concat()))),
];

fn digest<D: Digest>(call: &Call<'_>) -> Result<Vec<u8>> {
    let mut digest = D::new();
    for chunk in call.bytes(0)?.chunks(work::STRIDE) {
        work::step(chunk.len())?;
        digest.update(chunk);
    }
    Ok(digest.finalize().to_vec())
}

fn encode(call: &Call<'_>) -> Result<Value> {
    let bytes = call.bytes(0)?;
    match call.text(1)?.to_ascii_lowercase().as_str() {
        "hex" => {
            let mut out = work::text(bytes.len() * 2)?;
            for chunk in bytes.chunks(work::STRIDE) {
                work::step(chunk.len())?;
                push_hex(&mut out, chunk);
            }
            text(out)
        }
        "base64" => text(base64(bytes)?),
        "escape" => {
            let mut out = work::text(bytes.len())?;
            for chunk in bytes.chunks(work::STRIDE) {
                work::step(chunk.len())?;
                work::reserve_text(&mut out, chunk.len() * 4)?;
                for byte in chunk {
                    match byte {
                        b'\\' => out.push_str("\\\\"),
                        0 | 0x80..=0xff => {
                            out.push('\\');
                            out.extend([byte >> 6, byte >> 3 & 7, byte & 7].map(|digit| char::from(b'0' + digit)));
                        }
                        _ => out.push(char::from(*byte)),
                    }
                }
            }
            text(out)
        }
        other => Err(Error::new(Condition::InvalidParameterValue, format!("unrecognized encoding: \"{other}\""))),
    }
}

fn decode(call: &Call<'_>) -> Result<Value> {
    let shown = call.text(0)?;
    match call.text(1)?.to_ascii_lowercase().as_str() {
        "hex" => bytea::parse_hex(shown).map(Value::Blob),
        "base64" => unbase64(shown).map(Value::Blob),
        "escape" => bytea::parse_escape(shown).map(Value::Blob),
        other => Err(Error::new(Condition::InvalidParameterValue, format!("unrecognized encoding: \"{other}\""))),
    }
}

fn push_hex(out: &mut String, bytes: &[u8]) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    for byte in bytes {
        out.push(char::from(DIGITS[usize::from(byte >> 4)]));
        out.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
}

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// RFC 2045 Base64: lines of 76 characters, none ended at the end.
fn base64(bytes: &[u8]) -> Result<String> {
    // Three bytes are four digits, 76 digits are a line.
    let mut out = work::text((bytes.len() / 3 + 1) * 4 * 77 / 76 + 1)?;
    let mut column = 0;
    for chunk in bytes.chunks(3) {
        work::step(3)?;
        if column == 76 {
            out.push('\n');
            column = 0;
        }
        let group = chunk.iter().fold(0_u32, |group, byte| group << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for at in 0..4 {
            let digit = BASE64[(group >> (18 - 6 * at)) as usize & 0x3f];
            out.push(if at <= chunk.len() { char::from(digit) } else { '=' });
        }
        column += 4;
    }
    Ok(out)
}

fn unbase64(shown: &str) -> Result<Vec<u8>> {
    let invalid = |message: String| Error::new(Condition::InvalidParameterValue, message);
    let mut out = work::bytes(shown.len() / 4 * 3)?;
    let mut group = 0_u32;
    let mut count = 0;
    let mut padding = 0;
    for c in shown.chars().filter(|c| !c.is_ascii_whitespace()) {
        work::step(4)?;
        let digit = match c {
            '=' => {
                padding += 1;
                0
            }
            c => match BASE64.iter().position(|digit| char::from(*digit) == c) {
                Some(digit) if padding == 0 => digit as u32,
                _ => return Err(invalid(format!("invalid symbol \"{c}\" found while decoding base64 sequence"))),
            },
        };
        group = group << 6 | digit;
        count += 1;
        if count == 4 {
            if padding > 2 {
                return Err(invalid("invalid base64 end sequence".to_owned()));
            }
            out.extend_from_slice(&group.to_be_bytes()[1..4 - padding]);
            group = 0;
            count = 0;
        }
    }
    if count != 0 {
        return Err(invalid("invalid base64 end sequence".to_owned())
            .hint("Input data is missing padding, is truncated, or is otherwise corrupted."));
    }
    Ok(out)
}
