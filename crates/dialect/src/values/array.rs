//! Arrays: PostgreSQL's text (`{1,2,NULL}`) outside, JSON text inside.
//!
//! In JSON, NULL is `null`, booleans are 1 and 0, integers and floats are numbers, everything else (exact decimals too,
//! whose digits JSON readers would round) is a string of the element's stored text; bytes are the string of their hex
//! form. An array of more dimensions is an array of arrays. One whose subscripts do not all begin at 1 is an object of
//! the lower bounds and the array: `{"lower":[0],"members":[1,2]}`.

use std::fmt::Write as _;

use serde_json::Value as Json;

use super::array_text::{self, Piece};
use super::{Settings, ValueRef, float, input, integer, json, misfit, write as write_element};
use crate::ir::Value;
use crate::types::Storage;
use crate::{Condition, Error, Result, Type, work};

/// PostgreSQL's limit of dimensions.
pub const MAX_DIMENSIONS: usize = 6;
/// PostgreSQL's limit of elements.
pub const MAX_ELEMENTS: i64 = 134_217_727;

/// A dimension of an array.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Dimension {
    /// The first subscript.
    pub lower: i32,
    /// How many members.
    pub length: usize,
}

impl Dimension {
    /// The last subscript.
    pub fn upper(self) -> i64 {
        i64::from(self.lower) + self.length as i64 - 1
    }

    /// The place of a subscript, from 0; `None` outside.
    pub fn place(self, subscript: i64) -> Option<usize> {
        usize::try_from(subscript - i64::from(self.lower)).ok().filter(|at| *at < self.length)
    }
}

/// An array taken apart. The empty array has no dimensions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Array {
    /// From the outermost inwards.
    pub dimensions: Vec<Dimension>,
    /// The elements, the last subscript running fastest, each in its JSON form.
    pub members: Vec<Json>,
}

impl Array {
    /// Members of one text get another.
    pub fn rename(&mut self, from: &str, to: &str) {
        for member in self.members.iter_mut().filter(|member| member.as_str() == Some(from)) {
            *member = Json::String(to.to_owned());
        }
    }

    /// An array of one dimension that begins at 1.
    pub fn of(members: Vec<Json>) -> Self {
        Self::with_bounds(vec![Dimension { lower: 1, length: members.len() }], members)
    }

    /// An array of these dimensions; the empty array when one of them has no members.
    pub fn with_bounds(dimensions: Vec<Dimension>, members: Vec<Json>) -> Self {
        if members.is_empty() { Self::default() } else { Self { dimensions, members } }
    }

    /// Takes a stored array apart.
    pub fn read(stored: &[u8]) -> Result<Self> {
        let Some((lower, members)) = json::read(stored)?.ok().and_then(opened) else {
            let shown = String::from_utf8_lossy(stored);
            return Err(Error::new(Condition::DataCorrupted, format!("stored value \"{shown}\" is not an array")));
        };
        let mut dimensions = lengths(&members);
        for (dimension, lower) in dimensions.iter_mut().zip(lower) {
            dimension.lower = lower;
        }
        if dimensions.len() <= 1 {
            return Ok(Self::with_bounds(dimensions, members));
        }
        let mut flat = Vec::new();
        flatten(members, &mut flat)?;
        Ok(Self::with_bounds(dimensions, flat))
    }

    /// The stored form.
    pub fn stored(&self) -> Result<String> {
        let mut out = String::new();
        let bounded = self.dimensions.iter().any(|dimension| dimension.lower != 1);
        if bounded {
            open_bounded(&mut out, self.dimensions.iter().map(|dimension| dimension.lower));
        }
        let mut members = self.members.iter();
        push_nested(&mut out, &self.dimensions, &mut members)?;
        if bounded {
            out.push('}');
        }
        Ok(out)
    }

    /// Checks that an array may have these dimensions, and counts its elements.
    pub fn check_size(dimensions: &[Dimension]) -> Result<usize> {
        let total = dimensions.iter().try_fold(1_i64, |total, dimension| {
            let length = i64::try_from(dimension.length).ok()?;
            total.checked_mul(length).filter(|total| *total <= MAX_ELEMENTS)
        });
        let Some(total) = total else {
            return Err(too_many_elements());
        };
        for dimension in dimensions {
            if dimension.upper() >= i64::from(i32::MAX) {
                let message = format!("array lower bound is too large: {}", dimension.lower);
                return Err(Error::new(Condition::ProgramLimitExceeded, message));
            }
        }
        Ok(if dimensions.is_empty() { 0 } else { total as usize })
    }
}

/// The error for an array that would be too large.
pub fn too_many_elements() -> Error {
    let message = format!("array size exceeds the maximum allowed ({MAX_ELEMENTS})");
    Error::new(Condition::ProgramLimitExceeded, message)
}

/// The error for an array of too many dimensions.
pub fn too_deep(dimensions: usize) -> Error {
    let message = format!("number of array dimensions ({dimensions}) exceeds the maximum allowed ({MAX_DIMENSIONS})");
    Error::new(Condition::ProgramLimitExceeded, message)
}

/// The lower bounds, when they are spelled out, and the members of the outermost dimension.
fn opened(stored: Json) -> Option<(Vec<i32>, Vec<Json>)> {
    match stored {
        Json::Array(members) => Some((Vec::new(), members)),
        Json::Object(mut parts) => {
            let Json::Array(lower) = parts.remove("lower")? else { return None };
            let lower = lower.iter().map(|bound| i32::try_from(bound.as_i64()?).ok()).collect::<Option<_>>()?;
            let Json::Array(members) = parts.remove("members")? else { return None };
            Some((lower, members))
        }
        _ => None,
    }
}

fn lengths(members: &[Json]) -> Vec<Dimension> {
    let mut lengths = Vec::new();
    let mut members = members;
    loop {
        lengths.push(Dimension { lower: 1, length: members.len() });
        match members.first() {
            Some(Json::Array(inner)) => members = inner,
            _ => return lengths,
        }
    }
}

fn flatten(members: Vec<Json>, all: &mut Vec<Json>) -> Result<()> {
    for member in members {
        work::step(size_of::<Json>())?;
        match member {
            Json::Array(inner) => flatten(inner, all)?,
            single => all.push(single),
        }
    }
    Ok(())
}

/// Appends what stands before the members of an array whose lower bounds are spelled out; `}` ends it.
pub fn open_bounded(out: &mut String, lower: impl Iterator<Item = i32>) {
    out.push_str("{\"lower\":[");
    for (at, lower) in lower.enumerate() {
        if at > 0 {
            out.push(',');
        }
        out.push_str(&lower.to_string());
    }
    out.push_str("],\"members\":");
}

fn push_nested<'a>(
    out: &mut String,
    dimensions: &[Dimension],
    members: &mut impl Iterator<Item = &'a Json>,
) -> Result<()> {
    out.push('[');
    let (outer, inner) = match dimensions.split_first() {
        Some((outer, inner)) => (outer.length, inner),
        None => (0, dimensions),
    };
    for at in 0..outer {
        if at > 0 {
            out.push(',');
        }
        work::step(16)?;
        if !inner.is_empty() {
            push_nested(out, inner, members)?;
            continue;
        }
        match members.next() {
            Some(Json::String(text)) => json::quote_long(out, text)?,
            Some(Json::Null) | None => work::append_text(out, "null")?,
            Some(other) => work::append_text(out, &other.to_string())?,
        }
    }
    out.push(']');
    Ok(())
}

/// Appends one member in its JSON form.
pub fn push_element(out: &mut String, member: ValueRef<'_>, element: &Type) {
    match member {
        ValueRef::Null => out.push_str("null"),
        ValueRef::Integer(value) if element.storage() == Storage::Integer => {
            let _ = write!(out, "{value}");
        }
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
pub fn from_json(member: &Json, element: &Type) -> Option<Value> {
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
    let (lower, members) = json::read(stored)?.ok().and_then(opened).ok_or_else(corrupt)?;
    let mut out = work::text(stored.len())?;
    if !lower.is_empty() {
        open_bounded(&mut out, lower.iter().copied());
    }
    map_members(&mut out, &members, from, to, each)?.ok_or_else(corrupt)?;
    if !lower.is_empty() {
        out.push('}');
    }
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
    let pieces = array_text::split(braces, element.delimiter())?;
    if !bounds.is_empty() {
        array_text::check_bounds(text, &bounds, &pieces)?;
    }
    let mut out = work::text(braces.len())?;
    let bounded = bounds.iter().any(|dimension| dimension.lower != 1);
    if bounded {
        open_bounded(&mut out, bounds.iter().map(|dimension| dimension.lower));
    }
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
    if bounded {
        out.push('}');
    }
    Ok(out)
}

/// The members of a stored array of integers that is in the plainest form: one dimension that begins at 1, nothing between
/// its members but commas. `None` for any other, and where one is out of its type's range.
///
/// # Errors
/// As of [`work`].
pub fn plain_integers(stored: &[u8], element: &Type) -> Result<Option<Vec<Option<i64>>>> {
    let range = match element {
        Type::Int2 => i64::from(i16::MIN)..=i64::from(i16::MAX),
        Type::Int4 => i64::from(i32::MIN)..=i64::from(i32::MAX),
        Type::Int8 => i64::MIN..=i64::MAX,
        _ => return Ok(None),
    };
    let Some(inner) = stored.strip_prefix(b"[").and_then(|rest| rest.strip_suffix(b"]")) else { return Ok(None) };
    work::step(stored.len())?;
    if inner.is_empty() {
        return Ok(Some(Vec::new()));
    }
    work::room_to_work(inner.len().div_ceil(2) * size_of::<Option<i64>>())?;
    let member = |digits: &[u8]| match digits {
        b"null" => Some(None),
        _ => plain_integer(digits).filter(|value| range.contains(value)).map(Some),
    };
    Ok(inner.split(|byte| *byte == b',').map(member).collect())
}

/// A number of at most 18 digits, as JSON writes it.
fn plain_integer(text: &[u8]) -> Option<i64> {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    let plain = match digits {
        [b'0'] => digits.len() == text.len(),
        [b'1'..=b'9', rest @ ..] => rest.len() < 18 && rest.iter().all(u8::is_ascii_digit),
        _ => false,
    };
    let value = || digits.iter().fold(0, |value: i64, digit| value * 10 + i64::from(digit - b'0'));
    plain.then(|| if digits.len() == text.len() { value() } else { -value() })
}

/// Appends a stored array in PostgreSQL's text form.
pub fn write(out: &mut Vec<u8>, stored: &[u8], element: &Type, settings: &Settings) -> Result<()> {
    if let Some(members) = plain_integers(stored, element)? {
        work::reserve(out, stored.len() + 2)?;
        out.push(b'{');
        for (at, member) in members.into_iter().enumerate() {
            if at > 0 {
                out.push(b',');
            }
            match member {
                Some(value) => integer::write(out, value),
                None => out.extend_from_slice(b"NULL"),
            }
        }
        out.push(b'}');
        return Ok(());
    }
    let corrupt = || misfit(ValueRef::Text(stored), &Type::Array(Box::new(element.clone())));
    let (lower, members) = json::read(stored)?.ok().and_then(opened).ok_or_else(corrupt)?;
    if !lower.is_empty() {
        for (lower, dimension) in lower.iter().zip(lengths(&members)) {
            let dimension = Dimension { lower: *lower, ..dimension };
            out.extend_from_slice(format!("[{}:{}]", lower, dimension.upper()).as_bytes());
        }
        out.push(b'=');
    }
    write_members(out, &members, element, settings)?.ok_or_else(corrupt)
}

fn write_members(out: &mut Vec<u8>, members: &[Json], element: &Type, settings: &Settings) -> Result<Option<()>> {
    out.push(b'{');
    for (at, member) in members.iter().enumerate() {
        if at > 0 {
            out.push(element.delimiter() as u8);
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
        write_quoted(out, &text, element.delimiter() as u8);
    }
    out.push(b'}');
    Ok(Some(()))
}

fn write_quoted(out: &mut Vec<u8>, text: &[u8], delimiter: u8) {
    let plain = !text.is_empty()
        && !text.eq_ignore_ascii_case(b"null")
        && !text.iter().any(|b| {
            *b == delimiter || matches!(b, b'{' | b'}' | b'"' | b'\\') || b.is_ascii_whitespace() || *b == 0x0b
        });
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

    #[test]
    fn plain_integers_are_read_without_a_tree() {
        let plain = |stored: &str| plain_integers(stored.as_bytes(), &Type::Int4).unwrap();
        assert_eq!(plain("[]"), Some(vec![]));
        assert_eq!(plain("[1,null,-20,0,2147483647]"), Some(vec![Some(1), None, Some(-20), Some(0), Some(2147483647)]));
        for other in ["[1, 2]", "[[1],[2]]", "[-0]", "[01]", "[1.0]", "[2147483648]", "[1,]", "[\"1\"]", "null", "{}"] {
            assert_eq!(plain(other), None, "{other}");
        }
        assert_eq!(plain_integers(b"[999999999999999999]", &Type::Int8).unwrap(), Some(vec![Some(999999999999999999)]));
        assert_eq!(plain_integers(b"[9223372036854775807]", &Type::Int8).unwrap(), None);
        assert_eq!(plain_integers(b"[1]", &Type::Bool).unwrap(), None);
    }

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
            ("[0:1]={1,NULL}", Type::Int4, "{\"lower\":[0],\"members\":[1,null]}", "[0:1]={1,NULL}"),
            (
                "[-1:0][1:2]={{a,b},{c,d}}",
                Type::Text,
                "{\"lower\":[-1,1],\"members\":[[\"a\",\"b\"],[\"c\",\"d\"]]}",
                "[-1:0][1:2]={{a,b},{c,d}}",
            ),
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
            parse("[2147483646:2147483647]={1,2}", &Type::Int4, &Settings::default()).unwrap_err().message,
            "array lower bound is too large: 2147483646"
        );
        assert_eq!(
            parse("{{{{{{{1}}}}}}}", &Type::Int4, &Settings::default()).unwrap_err().condition().sqlstate(),
            "54000"
        );
    }

    #[test]
    fn is_taken_apart_and_put_together() {
        for stored in ["[]", "[1,null]", "[[1,2],[3,4]]", "{\"lower\":[0,5],\"members\":[[\"a\"],[null]]}"] {
            assert_eq!(Array::read(stored.as_bytes()).unwrap().stored().unwrap(), stored);
        }
        let array = Array::read(b"{\"lower\":[0,5],\"members\":[[\"a\"],[null]]}").unwrap();
        assert_eq!(array.dimensions, [Dimension { lower: 0, length: 2 }, Dimension { lower: 5, length: 1 }]);
        assert_eq!(array.members, [Json::from("a"), Json::Null]);
        assert_eq!(Array::read(b"5").unwrap_err().condition().sqlstate(), "XX001");
    }
}
