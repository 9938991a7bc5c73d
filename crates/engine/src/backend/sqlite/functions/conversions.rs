//! Texts in other encodings: `convert`, `convert_from`, `convert_to`, and `length` of bytes that are a text.

use rowferry_dialect::ir::Value;
use rowferry_dialect::{Condition, Error, Result, work};
use rowferry_encodings::{Encoding, Failure};

use super::call::{integer, text};
use super::{Call, Row};

pub(super) const ROWS: &[Row] = &[
    Row::new("rf_convert", 3, convert),
    Row::new("rf_convert_from", 2, |call| {
        let from = named(call.text(1)?, "source ")?;
        verify(from, call.bytes(0)?)?;
        text(decode(from, call.bytes(0)?)?)
    }),
    Row::new("rf_convert_to", 2, |call| {
        let to = named(call.text(1)?, "destination ")?;
        encode(to, call.text(0)?).map(Value::Blob)
    }),
    Row::new("rf_length_in", 2, |call| {
        let (encoding, mut bytes) = (named(call.text(1)?, "")?, call.bytes(0)?);
        verify(encoding, bytes)?;
        let mut length = 0;
        while !bytes.is_empty() {
            work::step(1)?;
            bytes = &bytes[encoding.first(bytes)..];
            length += 1;
        }
        integer(length)
    }),
];

/// `what` is the role of the encoding, with a blank behind it.
fn named(name: &str, what: &str) -> Result<&'static Encoding> {
    let unknown = || Error::new(Condition::InvalidParameterValue, format!("invalid {what}encoding name \"{name}\""));
    Encoding::find(name).ok_or_else(unknown)
}

fn failed(failure: &Failure) -> Error {
    let condition = match failure {
        Failure::Invalid { .. } => Condition::CharacterNotInRepertoire,
        Failure::Untranslatable { .. } => Condition::UntranslatableCharacter,
    };
    Error::new(condition, failure.to_string())
}

/// Whole characters, some thousand bytes at a time; what is no whole character at the end is the last.
fn pieces<'b>(encoding: &'static Encoding, mut bytes: &'b [u8]) -> impl Iterator<Item = &'b [u8]> {
    std::iter::from_fn(move || {
        let whole = encoding.whole(&bytes[..bytes.len().min(work::STRIDE)]);
        let (piece, rest) = bytes.split_at(if whole == 0 { bytes.len() } else { whole });
        bytes = rest;
        (!piece.is_empty()).then_some(piece)
    })
}

fn verify(encoding: &'static Encoding, bytes: &[u8]) -> Result<()> {
    for piece in pieces(encoding, bytes) {
        work::step(piece.len())?;
        encoding.verify(piece).map_err(|failure| failed(&failure))?;
    }
    Ok(())
}

fn no_conversion(from: &Encoding, to: &Encoding) -> Error {
    let (from, to) = (from.name(), to.name());
    let message = format!("default conversion function for encoding \"{from}\" to \"{to}\" does not exist");
    Error::new(Condition::UndefinedFunction, message)
}

fn utf8() -> Result<&'static Encoding> {
    named("UTF8", "")
}

fn decode(from: &'static Encoding, bytes: &[u8]) -> Result<String> {
    if !from.converts() {
        return Err(no_conversion(from, utf8()?));
    }
    let mut decoded = work::text(bytes.len())?;
    for piece in pieces(from, bytes) {
        work::step(piece.len())?;
        let piece = from.decode(piece).map_err(|failure| failed(&failure))?;
        work::reserve_text(&mut decoded, piece.len())?;
        decoded.push_str(&piece);
    }
    Ok(decoded)
}

fn encode(to: &'static Encoding, text: &str) -> Result<Vec<u8>> {
    if !to.converts() {
        return Err(no_conversion(utf8()?, to));
    }
    let mut encoded = work::bytes(text.len())?;
    let mut rest = text;
    while !rest.is_empty() {
        let mut end = rest.len().min(work::STRIDE);
        while !rest.is_char_boundary(end) {
            end += 1;
        }
        work::step(end)?;
        let (mut piece, mut behind) = rest.split_at(end);
        // A character that the next one changes goes with it.
        if let (Some((at, _)), false) = (piece.char_indices().next_back(), behind.is_empty())
            && at > 0
        {
            (piece, behind) = rest.split_at(at);
        }
        work::reserve(&mut encoded, piece.len() * 2)?;
        to.encode(piece, &mut encoded).map_err(|failure| failed(&failure))?;
        rest = behind;
    }
    Ok(encoded)
}

fn convert(call: &Call<'_>) -> Result<Value> {
    let bytes = call.bytes(0)?;
    let from = named(call.text(1)?, "source ")?;
    let to = named(call.text(2)?, "destination ")?;
    verify(from, bytes)?;
    let ascii = "SQL_ASCII";
    let converted = match (from.name(), to.name()) {
        (a, b) if a == b || b == ascii || bytes.is_empty() => bytes.to_vec(),
        (a, _) if a == ascii => {
            verify(to, bytes)?;
            bytes.to_vec()
        }
        ("UTF8", _) => encode(to, std::str::from_utf8(bytes).map_err(|_| no_conversion(from, to))?)?,
        (_, "UTF8") => decode(from, bytes)?.into_bytes(),
        _ if let Some(converted) = from.convert(bytes, to) => {
            work::step(bytes.len())?;
            converted.map_err(|failure| failed(&failure))?
        }
        _ => return Err(no_conversion(from, to)),
    };
    Ok(Value::Blob(converted))
}
