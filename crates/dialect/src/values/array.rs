//! Arrays: PostgreSQL's text (`{1,2,NULL}`) outside, JSON text inside.
//!
//! In JSON, NULL is `null`, booleans are 1 and 0, integers and floats are numbers, everything else (exact decimals too,
//! whose digits JSON readers would round) is a string of the element's stored text; bytes are the string of their hex
//! form. An array of more dimensions is an array of arrays.

use serde_json::Value as Json;

use super::{Settings, ValueRef, float, input, json, misfit, write as write_element};
use crate::ir::Value;
use crate::types::Storage;
use crate::{Condition, Error, Result, Type, work};

/// Members of an array in stored form, one dimension; deeper ones are texts of arrays.
pub fn elements(stored: &[u8], element: &Type) -> Result<Vec<Value>> {
    let corrupt = || misfit(ValueRef::Text(stored), &Type::Array(Box::new(element.clone())));
    let Ok(Json::Array(members)) = json::read(stored)? else { return Err(corrupt()) };
    members
        .iter()
        .map(|member| {
            work::step(16)?;
            from_json(member, element).ok_or_else(corrupt)
        })
        .collect()
}

/// The stored text of an array with these members.
pub fn from_elements<'a>(members: impl IntoIterator<Item = ValueRef<'a>>, element: &Type) -> String {
    let mut out = "[".to_owned();
    for (at, member) in members.into_iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        push_element(&mut out, member, element);
    }
    out.push(']');
    out
}

/// Appends one member in its JSON form.
pub fn push_element(out: &mut String, member: ValueRef<'_>, element: &Type) {
    match member {
        ValueRef::Null => out.push_str("null"),
        ValueRef::Integer(value) if element.storage() == Storage::Integer => out.push_str(&value.to_string()),
        ValueRef::Integer(value) if element.storage() == Storage::Real => out.push_str(&format!("{:?}", value as f64)),
        ValueRef::Real(value) if element.storage() == Storage::Real && value.is_finite() => {
            out.push_str(&format!("{value:?}"));
        }
        ValueRef::Integer(_) | ValueRef::Real(_) => {
            let mut text = Vec::new();
            // A native decimal; writing one cannot fail.
            if element.is_decimal() && write_element(&mut text, member, element, &Settings::default()).is_ok() {
                json::quote(out, &String::from_utf8_lossy(&text));
            } else {
                float::write8(
                    &mut text,
                    if let ValueRef::Real(value) = member { value } else { f64::NAN },
                    &Settings::default(),
                );
                json::quote(out, &String::from_utf8_lossy(&text));
            }
        }
        // An array within an array stays JSON.
        ValueRef::Text(bytes) if matches!(element, Type::Array(_)) => out.push_str(&String::from_utf8_lossy(bytes)),
        ValueRef::Text(bytes) => json::quote(out, &String::from_utf8_lossy(bytes)),
        ValueRef::Blob(bytes) => {
            let mut text = Vec::new();
            super::bytea::write(&mut text, bytes, &Settings::default());
            json::quote(out, &String::from_utf8_lossy(&text));
        }
    }
}

/// A member from its JSON form; `None` if it does not fit the element type.
fn from_json(member: &Json, element: &Type) -> Option<Value> {
    Some(match (member, element.storage()) {
        (Json::Null, _) => Value::Null,
        (Json::Bool(value), Storage::Integer) => Value::Integer(i64::from(*value)),
        (Json::Number(number), Storage::Integer) => Value::Integer(number.as_i64()?),
        (Json::Number(number), Storage::Real) => Value::Real(number.as_f64()?),
        (Json::String(text), Storage::Real) => float::to_value(float::parse8(text).ok()?),
        (Json::Number(number), Storage::NativeDecimal | Storage::DecimalText) => Value::Text(number.to_string()),
        (Json::String(text), Storage::Blob) => Value::Blob(super::bytea::parse(text).ok()?),
        (Json::String(text), _) => Value::Text(text.clone()),
        (Json::Array(_), _) => Value::Text(member.to_string()),
        (Json::Number(number), Storage::Text) => Value::Text(number.to_string()),
        _ => return None,
    })
}

/// Reads PostgreSQL's text form and gives the stored form.
pub fn parse(text: &str, element: &Type, settings: &Settings) -> Result<String> {
    let malformed = |detail: &str| {
        Error::new(Condition::InvalidTextRepresentation, format!("malformed array literal: \"{text}\"")).detail(detail)
    };
    let trimmed = text.trim();
    let body = if trimmed.starts_with('[') && trimmed.contains('=') {
        // Bounds such as `[1:3]=`; only those that an array has anyway can be kept.
        let (bounds, body) = trimmed.split_once('=').unwrap_or(("", trimmed));
        if bounds.trim().trim_matches(['[', ']']).split("][").any(|bound| !bound.starts_with("1:")) {
            return Err(Error::unsupported("an array whose lower bound is not 1"));
        }
        body
    } else {
        trimmed
    };
    let mut reader = Reader { rest: body, element, settings, out: String::with_capacity(body.len()) };
    match reader.array(0) {
        Ok(()) if reader.rest.trim().is_empty() => Ok(reader.out),
        Ok(()) => Err(malformed("Junk after closing right brace.")),
        Err(Fault::Malformed(detail)) => Err(malformed(detail)),
        Err(Fault::Element(error)) => Err(error),
    }
}

enum Fault {
    Malformed(&'static str),
    Element(Error),
}

/// PostgreSQL's limit of dimensions.
const MAX_DIMENSIONS: usize = 6;

struct Reader<'a> {
    rest: &'a str,
    element: &'a Type,
    settings: &'a Settings,
    out: String,
}

impl Reader<'_> {
    fn array(&mut self, depth: usize) -> Result<(), Fault> {
        if depth == MAX_DIMENSIONS {
            let message = format!("number of array dimensions exceeds the maximum allowed ({MAX_DIMENSIONS})");
            return Err(Fault::Element(Error::new(Condition::ProgramLimitExceeded, message)));
        }
        self.rest = self
            .rest
            .trim_start()
            .strip_prefix('{')
            .ok_or(Fault::Malformed("Array value must start with \"{\" or dimension information."))?
            .trim_start();
        self.out.push('[');
        if let Some(rest) = self.rest.strip_prefix('}') {
            self.rest = rest;
            self.out.push(']');
            return Ok(());
        }
        let mut nested_length = None;
        let nested = self.rest.starts_with('{');
        loop {
            self.rest = self.rest.trim_start();
            if nested != self.rest.starts_with('{') {
                return Err(Fault::Malformed("Multidimensional arrays must have sub-arrays with matching dimensions."));
            }
            if nested {
                let start = self.out.len();
                self.array(depth + 1)?;
                let length = serde_json::from_str::<Vec<Json>>(&self.out[start..]).map_or(0, |members| members.len());
                if *nested_length.get_or_insert(length) != length {
                    return Err(Fault::Malformed(
                        "Multidimensional arrays must have sub-arrays with matching dimensions.",
                    ));
                }
            } else {
                self.member()?;
            }
            self.rest = self.rest.trim_start();
            let mut chars = self.rest.chars();
            match chars.next() {
                Some(',') => self.out.push(','),
                Some('}') => {
                    self.rest = chars.as_str();
                    self.out.push(']');
                    return Ok(());
                }
                Some(_) => return Err(Fault::Malformed("Unexpected array element.")),
                None => return Err(Fault::Malformed("Unexpected end of input.")),
            }
            self.rest = chars.as_str();
        }
    }

    fn member(&mut self) -> Result<(), Fault> {
        let mut text = String::new();
        let mut quoted = false;
        let mut keep = 0;
        let mut chars = self.rest.chars();
        if let Some(body) = self.rest.strip_prefix('"') {
            quoted = true;
            chars = body.chars();
            loop {
                match chars.next() {
                    Some('"') => break,
                    Some('\\') => text.push(chars.next().ok_or(Fault::Malformed("Unexpected end of input."))?),
                    Some(c) => text.push(c),
                    None => return Err(Fault::Malformed("Unexpected end of input.")),
                }
            }
            self.rest = chars.as_str();
        } else {
            loop {
                let before = chars.as_str();
                match chars.next() {
                    Some(',' | '}') => {
                        self.rest = before;
                        break;
                    }
                    Some('\\') => {
                        text.push(chars.next().ok_or(Fault::Malformed("Unexpected end of input."))?);
                        keep = text.len();
                        quoted = true;
                    }
                    Some('"' | '{') => return Err(Fault::Malformed("Incorrectly quoted array element.")),
                    Some(c) => text.push(c),
                    None => return Err(Fault::Malformed("Unexpected end of input.")),
                }
            }
            // Blanks at the end do not count unless they were escaped.
            let end = text.trim_end().len().max(keep);
            text.truncate(end);
            if text.is_empty() && !quoted {
                return Err(Fault::Malformed("Unexpected \",\" or \"}\" character."));
            }
        }
        if !quoted && text.eq_ignore_ascii_case("null") {
            self.out.push_str("null");
            return Ok(());
        }
        work::step(text.len() + 16).map_err(Fault::Element)?;
        let value = input(&text, self.element, self.settings).map_err(Fault::Element)?;
        work::reserve_text(&mut self.out, text.len() + 2).map_err(Fault::Element)?;
        push_element(&mut self.out, value.as_ref(), self.element);
        Ok(())
    }
}

/// Appends a stored array in PostgreSQL's text form.
pub fn write(out: &mut Vec<u8>, stored: &[u8], element: &Type, settings: &Settings) -> Result<()> {
    let corrupt = || misfit(ValueRef::Text(stored), &Type::Array(Box::new(element.clone())));
    let Ok(Json::Array(members)) = json::read(stored)? else { return Err(corrupt()) };
    write_members(out, &members, element, settings)?.ok_or_else(corrupt)
}

fn write_members(out: &mut Vec<u8>, members: &[Json], element: &Type, settings: &Settings) -> Result<Option<()>> {
    out.push(b'{');
    for (at, member) in members.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        work::step(16)?;
        if let Json::Array(inner) = member {
            if write_members(out, inner, element, settings)?.is_none() {
                return Ok(None);
            }
            continue;
        }
        let Some(value) = from_json(member, element) else { return Ok(None) };
        if value == Value::Null {
            out.extend_from_slice(b"NULL");
            continue;
        }
        let mut text = Vec::new();
        write_element(&mut text, value.as_ref(), element, settings)?;
        work::step(text.len())?;
        work::reserve(out, text.len() + 2)?;
        write_quoted(out, &text);
    }
    out.push(b'}');
    Ok(Some(()))
}

fn write_quoted(out: &mut Vec<u8>, text: &[u8]) {
    let plain = !text.is_empty()
        && !text.eq_ignore_ascii_case(b"null")
        && !text
            .iter()
            .any(|b| matches!(b, b'{' | b'}' | b',' | b'"' | b'\\') || b.is_ascii_whitespace() || *b == 0x0b);
    if plain {
        return out.extend_from_slice(text);
    }
    out.push(b'"');
    for byte in text {
        if matches!(byte, b'"' | b'\\') {
            out.push(b'\\');
        }
        out.push(*byte);
    }
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip(text: &str, element: &Type) -> (String, String) {
        let settings = Settings::default();
        let stored = parse(text, element, &settings).unwrap();
        let mut out = Vec::new();
        write(&mut out, stored.as_bytes(), element, &settings).unwrap();
        (stored, String::from_utf8(out).unwrap())
    }

    #[test]
    fn goes_into_json_and_back() {
        for (text, element, stored, printed) in [
            ("{1, 2,NULL}", Type::Int4, "[1,2,null]", "{1,2,NULL}"),
            ("{}", Type::Int4, "[]", "{}"),
            ("{t,f}", Type::Bool, "[1,0]", "{t,f}"),
            ("{{1,2},{3,4}}", Type::Int4, "[[1,2],[3,4]]", "{{1,2},{3,4}}"),
            (
                "{a, \"b c\" ,\"x\\\"y\",\"\",\"NULL\"}",
                Type::Text,
                "[\"a\",\"b c\",\"x\\\"y\",\"\",\"NULL\"]",
                "{a,\"b c\",\"x\\\"y\",\"\",\"NULL\"}",
            ),
            ("{1.50,NaN}", Type::Numeric(None), "[\"1.50\",\"NaN\"]", "{1.50,NaN}"),
            ("{1.5,NaN}", Type::Float8, "[1.5,\"NaN\"]", "{1.5,NaN}"),
            ("{\"\\\\x00ff\"}", Type::Bytea, "[\"\\\\x00ff\"]", "{\"\\\\x00ff\"}"),
            ("[1:2]={1,2}", Type::Int4, "[1,2]", "{1,2}"),
            ("{2024-05-06}", Type::Date, "[\"2024-05-06\"]", "{2024-05-06}"),
        ] {
            assert_eq!(round_trip(text, &element), (stored.to_owned(), printed.to_owned()), "{text}");
        }
    }

    #[test]
    fn refuses_what_postgres_refuses() {
        for text in ["", "1,2", "{1,2", "{1,}", "{1}}", "{{1},2}", "{{1},{2,3}}", "{x}", "{\"a\"b}"] {
            let error = parse(text, &Type::Int4, &Settings::default()).unwrap_err();
            assert_eq!(error.condition().sqlstate(), "22P02", "{text}: {error}");
        }
        assert_eq!(
            parse("[2:3]={1,2}", &Type::Int4, &Settings::default()).unwrap_err().condition().sqlstate(),
            "0A000"
        );
        assert_eq!(
            parse("{{{{{{{1}}}}}}}", &Type::Int4, &Settings::default()).unwrap_err().condition().sqlstate(),
            "54000"
        );
    }
}
