//! Arrays: PostgreSQL's text (`{1,2,NULL}`) outside, JSON text inside.
//!
//! In JSON, NULL is `null`, booleans are 1 and 0, integers and floats are numbers, everything else (exact decimals too,
//! whose digits JSON readers would round) is a string of the element's stored text; bytes are the string of their hex
//! form. An array of more dimensions is an array of arrays.

use serde_json::Value as Json;

use super::array_text::{self, Piece};
use super::{Settings, ValueRef, float, input, json, misfit, write as write_element};
use crate::ir::Value;
use crate::types::Storage;
use crate::{Result, Type, work};

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

/// The stored text of an array whose members, in all its dimensions, become what `each` makes of them.
pub fn map(stored: &[u8], from: &Type, to: &Type, each: &mut dyn FnMut(&Value) -> Result<Value>) -> Result<String> {
    let corrupt = || misfit(ValueRef::Text(stored), &Type::Array(Box::new(from.clone())));
    let Ok(Json::Array(members)) = json::read(stored)? else { return Err(corrupt()) };
    let mut out = work::text(stored.len())?;
    map_members(&mut out, &members, from, to, each)?.ok_or_else(corrupt)?;
    Ok(out)
}

fn map_members(
    out: &mut String,
    members: &[Json],
    from: &Type,
    to: &Type,
    each: &mut dyn FnMut(&Value) -> Result<Value>,
) -> Result<Option<()>> {
    out.push('[');
    for (at, member) in members.iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        if let Json::Array(inner) = member {
            if map_members(out, inner, from, to, each)?.is_none() {
                return Ok(None);
            }
            continue;
        }
        work::step(16)?;
        let Some(value) = from_json(member, from) else { return Ok(None) };
        push_element(out, each(&value)?.as_ref(), to);
    }
    out.push(']');
    Ok(Some(()))
}

/// Reads PostgreSQL's text form and gives the stored form.
pub fn parse(text: &str, element: &Type, settings: &Settings) -> Result<String> {
    parse_with(text, element, &mut |member| input(member, element, settings))
}

/// As [`parse`], with members read by `each`.
pub fn parse_with(text: &str, element: &Type, each: &mut dyn FnMut(&str) -> Result<Value>) -> Result<String> {
    let (bounds, braces) = array_text::bounds(text)?;
    let pieces = array_text::split(braces)?;
    if !bounds.is_empty() {
        array_text::check_bounds(text, &bounds, &pieces)?;
    }
    let mut out = work::text(braces.len())?;
    let mut follows = false;
    for piece in pieces {
        match piece {
            Piece::Close => out.push(']'),
            _ if follows => out.push(','),
            _ => {}
        }
        follows = !matches!(piece, Piece::Open);
        match piece {
            Piece::Open => out.push('['),
            Piece::Close => {}
            Piece::Null => out.push_str("null"),
            Piece::Member(member) => {
                work::step(member.len() + 16)?;
                let value = each(&member)?;
                work::reserve_text(&mut out, member.len() + 2)?;
                push_element(&mut out, value.as_ref(), element);
            }
        }
    }
    Ok(out)
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
            ("[1:1][1:2]={{1,2}}", Type::Int4, "[[1,2]]", "{{1,2}}"),
            (" { \u{b}1\u{c},\t2 }\r\n", Type::Int4, "[1,2]", "{1,2}"),
            ("{\u{3000},\u{a0}x}", Type::Text, "[\"\u{3000}\",\"\u{a0}x\"]", "{\u{3000},\u{a0}x}"),
            ("{a b , c\\ }", Type::Text, "[\"a b\",\"c \"]", "{\"a b\",\"c \"}"),
            ("{2024-05-06}", Type::Date, "[\"2024-05-06\"]", "{2024-05-06}"),
        ] {
            assert_eq!(round_trip(text, &element), (stored.to_owned(), printed.to_owned()), "{text}");
        }
    }

    #[test]
    fn refuses_what_postgres_refuses() {
        let blanks = ["\u{a0}{1}", "{1}\u{3000}", "{\u{85}1}", "{\u{3000}}", "{1\u{2028}}"];
        let texts = ["", "1,2", "{1,2", "{1,}", "{1}}", "{{1},2}", "{{1},{2,3}}", "{x}", "{\"a\"b}", "[1:3]={1,2}"];
        for text in texts.into_iter().chain(blanks) {
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
