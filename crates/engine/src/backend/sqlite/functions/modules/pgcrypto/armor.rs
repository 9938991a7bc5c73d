//! Bytes as text for messages: OpenPGP's ASCII armour.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rowferry_dialect::ir::Value;
use rowferry_dialect::{Condition, Error, Result};
use serde_json::Value as Json;

use super::super::super::arrays::parse;
use super::super::super::call::text;
use super::{Call, failed};

/// Characters of a line.
const WIDTH: usize = 76;

/// `armor(bytes)`, `armor(bytes, keys, values)`.
pub(super) fn armored(call: &Call<'_>) -> Result<Value> {
    let data = call.bytes(0)?;
    let mut out = String::from("-----BEGIN PGP MESSAGE-----\n");
    if call.len() == 3 {
        for (key, value) in headers(call)? {
            out.push_str(&format!("{key}: {value}\n"));
        }
    }
    out.push('\n');
    let body = STANDARD.encode(data);
    for line in body.as_bytes().chunks(WIDTH) {
        out.push_str(&String::from_utf8_lossy(line));
        out.push('\n');
    }
    out.push('=');
    out.push_str(&STANDARD.encode(&crc24(data).to_be_bytes()[1..]));
    out.push_str("\n-----END PGP MESSAGE-----\n");
    text(out)
}

fn headers(call: &Call<'_>) -> Result<Vec<(String, String)>> {
    let wrong = |message: &str| Err(Error::new(Condition::ArraySubscriptError, message));
    let refused = |message: &str| Err(super::invalid(message));
    let (keys, values) = (parse(call.text(1)?)?, parse(call.text(2)?)?);
    if keys.dimensions.len() > 1 || values.dimensions.len() > 1 {
        return wrong("wrong number of array subscripts");
    }
    if keys.members.len() != values.members.len() {
        return wrong("mismatched array dimensions");
    }
    let mut headers = Vec::with_capacity(keys.members.len());
    for (key, value) in keys.members.iter().zip(&values.members) {
        let (Json::String(key), Json::String(value)) = (key, value) else {
            let what = if key.is_null() { "key" } else { "value" };
            let message = format!("null value not allowed for header {what}");
            return Err(Error::new(Condition::NullValueNotAllowed, message));
        };
        if !key.is_ascii() {
            return refused("header key must not contain non-ASCII characters");
        }
        if !value.is_ascii() {
            return refused("header value must not contain non-ASCII characters");
        }
        if key.contains(": ") {
            return refused("header key must not contain \": \"");
        }
        if key.contains('\n') {
            return refused("header key must not contain newlines");
        }
        if value.contains('\n') {
            return refused("header value must not contain newlines");
        }
        headers.push((key.clone(), value.clone()));
    }
    Ok(headers)
}

/// The bytes of an armoured text.
pub(super) fn read(text: &str) -> Result<Vec<u8>> {
    let corrupt = || failed("Corrupt ascii-armor");
    let mut lines = text.lines().map(str::trim_end);
    lines.find(|line| line.starts_with("-----BEGIN ") && line.ends_with("-----")).ok_or_else(corrupt)?;
    // Headers end with an empty line.
    lines.find(|line| line.is_empty()).ok_or_else(corrupt)?;
    let (mut body, mut sum) = (String::new(), None);
    loop {
        let line = lines.next().ok_or_else(corrupt)?;
        if line.starts_with("-----END ") && line.ends_with("-----") {
            break;
        }
        match line.strip_prefix('=') {
            Some(word) if word.len() == 4 => sum = Some(STANDARD.decode(word).map_err(|_| corrupt())?),
            _ => body.push_str(line.trim()),
        }
    }
    let data = STANDARD.decode(body).map_err(|_| corrupt())?;
    match sum {
        Some(sum) if sum == crc24(&data).to_be_bytes()[1..] => Ok(data),
        _ => Err(corrupt()),
    }
}

/// OpenPGP's checksum.
fn crc24(data: &[u8]) -> u32 {
    let mut sum = 0x00b7_04ce_u32;
    for byte in data {
        sum ^= u32::from(*byte) << 16;
        for _ in 0..8 {
            sum <<= 1;
            if sum & 0x0100_0000 != 0 {
                sum ^= 0x0186_4cfb;
            }
        }
    }
    sum & 0x00ff_ffff
}
