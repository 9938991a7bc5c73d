//! `json` and `jsonb`.
//!
//! `json` keeps its text. `jsonb` is kept as the text that PostgreSQL prints for it: keys sorted by length and then by
//! bytes, the last of equal keys, one blank behind `:` and `,`, numbers as decimals. Equal values have equal texts.

use serde_json::Value as Json;

use super::{Decimal, json_check};
use crate::{Condition, Error, Result, work};

/// The text, if it is JSON.
pub fn check(text: &str) -> Result<&str> {
    json_check::check(text, false)?;
    Ok(text)
}

/// Checks that the escapes in a JSON text stand for characters.
pub fn check_escapes(text: &str) -> Result<()> {
    json_check::check(text, true)
}

pub use super::json_check::strip_nulls;

/// Longer texts are read in steps, which takes twice as long.
const LONG: usize = 256 * 1024;

/// Reads JSON text; the inner result is what the text is, the outer one whether there was time and memory to read it.
pub fn read(text: &[u8]) -> Result<serde_json::Result<Json>> {
    if text.len() <= LONG {
        work::step(text.len())?;
        return Ok(serde_json::from_slice(text));
    }
    let mut reader = work::Stepping::new(text);
    let read = serde_json::from_reader(&mut reader);
    reader.stopped.map_or(Ok(read), Err)
}

/// The text of a JSON value, without blanks.
pub fn print(value: &Json) -> Result<String> {
    let mut out = work::Gathering::default();
    let written = serde_json::to_writer(&mut out, value);
    match (out.stopped, written) {
        (Some(error), _) => Err(error),
        (None, Err(error)) => Err(Error::internal(format!("JSON cannot be written: {error}"))),
        // SAFETY: JSON is written as UTF-8.
        (None, Ok(())) => Ok(unsafe { String::from_utf8_unchecked(out.bytes) }),
    }
}

/// The value of a text.
pub fn parse(text: &str) -> Result<Json> {
    read(text.as_bytes())?.map_err(|_| match json_check::check(text, true) {
        Err(fault) => fault,
        // What is read becomes a tree, whose depth is bounded.
        Ok(()) => json_check::too_deep(),
    })
}

/// The `jsonb` text of a JSON text.
pub fn normalize(text: &str) -> Result<String> {
    let value = parse(text)?;
    let mut out = work::text(text.len())?;
    write(&mut out, &value)?;
    Ok(out)
}

/// Appends a value's `jsonb` text.
pub fn write(out: &mut String, value: &Json) -> Result<()> {
    work::step(8)?;
    match value {
        Json::Null => out.push_str("null"),
        Json::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Json::Number(number) => out.push_str(&Decimal::parse(&number.to_string())?.to_string()),
        Json::String(text) => write_string(out, text)?,
        Json::Array(members) => {
            out.push('[');
            for (at, member) in members.iter().enumerate() {
                if at > 0 {
                    out.push_str(", ");
                }
                write(out, member)?;
            }
            out.push(']');
        }
        Json::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_by(|(a, _), (b, _)| a.len().cmp(&b.len()).then_with(|| a.cmp(b)));
            out.push('{');
            for (at, (key, member)) in members.into_iter().enumerate() {
                if at > 0 {
                    out.push_str(", ");
                }
                write_string(out, key)?;
                out.push_str(": ");
                write(out, member)?;
            }
            out.push('}');
        }
    }
    Ok(())
}

fn write_string(out: &mut String, text: &str) -> Result<()> {
    if text.contains('\0') {
        return Err(Error::new(Condition::UntranslatableCharacter, "unsupported Unicode escape sequence")
            .detail("\\u0000 cannot be converted to text."));
    }
    quote_long(out, text)
}

/// Appends a JSON string literal, which may be long.
pub fn quote_long(out: &mut String, text: &str) -> Result<()> {
    out.push('"');
    for piece in work::pieces(text) {
        work::step(piece.len())?;
        work::reserve_text(out, piece.len() + 2)?;
        escape(out, piece);
    }
    out.push('"');
    Ok(())
}

/// Appends a JSON string literal.
pub fn quote(out: &mut String, text: &str) {
    out.push('"');
    escape(out, text);
    out.push('"');
}

fn escape(out: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if u32::from(c) < 0x20 => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jsonb_has_one_text_for_each_value() {
        for (text, normal) in [
            ("{\"bb\":1,\"a\":2,\"a\":3}", "{\"a\": 3, \"bb\": 1}"),
            (" [1, 2.50, 1e2, -0] ", "[1, 2.50, 100, 0]"),
            ("\"\\u00e9\\n\"", "\"é\\n\""),
            ("{\"a\": {\"b\": [null,true]}}", "{\"a\": {\"b\": [null, true]}}"),
            (
                "12345678901234567890.123456789012345678901234567890",
                "12345678901234567890.123456789012345678901234567890",
            ),
        ] {
            assert_eq!(normalize(text).unwrap(), normal);
            assert_eq!(normalize(normal).unwrap(), normal);
        }
    }

    #[test]
    fn refuses_what_is_not_json() {
        for text in ["", "{", "{a:1}", "[1,]", "'x'", "nul"] {
            let error = check(text).unwrap_err();
            assert_eq!(error.condition().sqlstate(), "22P02", "{text}");
            assert_eq!(error.to_string(), "invalid input syntax for type json");
        }
        assert_eq!(check(" {\"a\" : 1} ").unwrap(), " {\"a\" : 1} ");
        assert_eq!(normalize("\"\\u0000\"").unwrap_err().condition().sqlstate(), "22P05");
    }
}
