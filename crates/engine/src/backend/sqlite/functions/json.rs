//! JSON: making it, reading it.
//!
//! Parts of a `json` are cut out of its text as they stand there; `jsonb` texts are normal already, so that the same
//! cuts are right for both.

use rowferry_dialect::ir::Value;
use rowferry_dialect::values::array::{Array, Dimension};
use rowferry_dialect::values::{self, Decimal, Settings, ValueRef, array, json, record};
use rowferry_dialect::{Condition, Error, Result, Type, work};
use serde_json::Value as Json;

use super::call::{boolean, integer, text};
use super::cast::type_at;
use super::{Call, Row};

pub(super) const ROWS: &[Row] = &[
    Row::new("rf_to_json", 2, |call| match call.len() > 2 && call.boolean(2)? {
        true => text(lined(&argument(call, 0)?)?),
        false => argument(call, 0).map(Value::Text),
    })
    .optional(2),
    Row::new("rf_json_object", 2, object).optional(1),
    Row::new("rf_to_jsonb", 2, |call| Ok(Value::Text(json::normalize(&argument(call, 0)?)?))),
    Row::new("rf_json_build_object", 0, |call| build_object(call, false).map(Value::Text)).variadic().lenient(),
    Row::new("rf_jsonb_build_object", 0, |call| Ok(Value::Text(json::normalize(&build_object(call, true)?)?)))
        .variadic()
        .lenient(),
    Row::new("rf_json_build_array", 0, |call| build_array(call).map(Value::Text)).variadic().lenient(),
    Row::new("rf_jsonb_build_array", 0, |call| Ok(Value::Text(json::normalize(&build_array(call)?)?)))
        .variadic()
        .lenient(),
    Row::new("rf_json_get", 2, get),
    Row::new("rf_json_get_at", 2, get_at),
    Row::new("rf_jsonb_get", 2, get),
    Row::new("rf_jsonb_get_at", 2, get_at),
    Row::new("rf_json_get_text", 2, |call| shown(member(call.text(0)?, call.text(1)?)?)),
    Row::new("rf_json_get_text_at", 2, |call| shown(element(call.text(0)?, call.integer(1)?)?)),
    Row::new("rf_json_path", 2, |call| part(followed(call)?)),
    Row::new("rf_jsonb_path", 2, |call| part(followed(call)?)),
    Row::new("rf_json_path_text", 2, |call| shown(followed(call)?)),
    Row::new("rf_json_extract_path", 1, |call| part(follow(call.text(0)?, &steps(call)?)?)).variadic(),
    Row::new("rf_jsonb_extract_path", 1, |call| part(follow(call.text(0)?, &steps(call)?)?)).variadic(),
    Row::new("rf_json_extract_path_text", 1, |call| shown(follow(call.text(0)?, &steps(call)?)?)).variadic(),
    Row::new("rf_json_typeof", 1, |call| text(kind(call.text(0)?))),
    Row::new("rf_json_array_length", 1, |call| {
        let all = call.text(0)?;
        let invalid = |message| Err(Error::new(Condition::InvalidParameterValue, message));
        match kind(all) {
            "array" => integer(parts(all)?.len() as i64),
            "object" => invalid("cannot get array length of a non-array"),
            _ => invalid("cannot get array length of a scalar"),
        }
    }),
    Row::new("rf_jsonb_contains", 2, |call| {
        let (all, sought) = (json::parse(call.text(0)?)?, json::parse(call.text(1)?)?);
        boolean(contains(&all, &sought, true)?)
    }),
    Row::new("rf_jsonb_exists", 2, |call| boolean(exists(call.text(0)?, call.text(1)?)?)),
    Row::new("rf_jsonb_exists_any", 2, |call| {
        let all = call.text(0)?;
        boolean(path(call, 1)?.iter().any(|key| exists(all, key).unwrap_or(false)))
    }),
    Row::new("rf_jsonb_exists_all", 2, |call| {
        let all = call.text(0)?;
        boolean(path(call, 1)?.iter().all(|key| exists(all, key).unwrap_or(false)))
    }),
];

/// The type that a stored value by itself has as an array's element.
pub(super) fn element_type(value: ValueRef<'_>) -> Type {
    match value {
        ValueRef::Integer(_) => Type::Int8,
        ValueRef::Real(_) => Type::Float8,
        ValueRef::Blob(_) => Type::Bytea,
        ValueRef::Text(_) | ValueRef::Null => Type::Text,
    }
}

/// The argument at `at`, of the type whose words stand behind it, as JSON.
pub(super) fn argument(call: &Call<'_>, at: usize) -> Result<String> {
    let ty = type_at(call, at + 1)?;
    let value = call.owned(at);
    let mut out = String::new();
    call.with_settings(|settings| write(&mut out, &value, &ty, settings))?;
    Ok(out)
}

/// The argument at `at` as an object's key.
pub(super) fn key_argument(call: &Call<'_>, at: usize) -> Result<String> {
    let ty = type_at(call, at + 1)?;
    if ty.is_row() || matches!(ty, Type::Array(_) | Type::Json | Type::Jsonb) {
        let message = "key value must be scalar, not array, composite, or json";
        return Err(Error::new(Condition::InvalidParameterValue, message));
    }
    // A key is written as a value is, and always between quotes.
    let written = argument(call, at)?;
    if written.starts_with('"') {
        return Ok(written);
    }
    let mut out = String::new();
    json::quote_long(&mut out, &written)?;
    Ok(out)
}

/// Appends a stored value of a type as JSON.
pub(in crate::backend::sqlite) fn write(out: &mut String, value: &Value, ty: &Type, settings: &Settings) -> Result<()> {
    match (value, ty) {
        (Value::Null, _) => out.push_str("null"),
        (Value::Integer(value), Type::Bool) => out.push_str(if *value == 0 { "false" } else { "true" }),
        (Value::Text(text), Type::Json | Type::Jsonb) => out.push_str(text),
        // A type of an extension may have a cast to JSON, as `hstore` has.
        (value, Type::Scalar(scalar, _))
            if let Some(Value::Text(text)) = (scalar.casts.into)(value, &Type::Json).transpose()? =>
        {
            out.push_str(&text);
        }
        (Value::Text(stored), ty) if ty.is_row() => {
            let row = record::Row::read(stored.as_bytes(), ty)?;
            out.push('{');
            for (at, (field, value)) in row.live()?.into_iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                json::quote(out, &field.name);
                out.push(':');
                write(out, &value, &field.ty, settings)?;
            }
            out.push('}');
        }
        (Value::Text(stored), Type::Array(element)) => {
            let array = Array::read(stored.as_bytes())?;
            write_array(out, &array.dimensions, &mut array.members.iter(), element, settings)?;
        }
        _ if ty.is_number() => {
            let shown = values::output(value, ty, settings)?;
            // NaN and infinities are no JSON numbers.
            if shown.ends_with(|c: char| c.is_ascii_digit()) { out.push_str(&shown) } else { json::quote(out, &shown) }
        }
        (_, Type::Timestamp(_) | Type::TimestampTz(_) | Type::Date) => {
            let iso = Settings { date_style: values::DateStyle::Iso, ..settings.clone() };
            let shown = values::output(value, ty, &iso)?;
            let (moment, era) = shown.strip_suffix(" BC").map_or((shown.as_str(), ""), |moment| (moment, " BC"));
            let moment = moment.replacen(' ', "T", 1);
            // Offsets have minutes here.
            let short = matches!(ty, Type::TimestampTz(_)) && matches!(moment.as_bytes(), [.., b'+' | b'-', _, _]);
            json::quote(out, &format!("{moment}{}{era}", if short { ":00" } else { "" }));
        }
        _ => json::quote_long(out, &values::output(value, ty, settings)?)?,
    }
    Ok(())
}

fn write_array<'a>(
    out: &mut String,
    dimensions: &[Dimension],
    members: &mut impl Iterator<Item = &'a Json>,
    element: &Type,
    settings: &Settings,
) -> Result<()> {
    let (length, inner) = dimensions.split_first().map_or((0, dimensions), |(outer, inner)| (outer.length, inner));
    out.push('[');
    for at in 0..length {
        if at > 0 {
            out.push(',');
        }
        work::step(16)?;
        if !inner.is_empty() {
            write_array(out, inner, members, element, settings)?;
            continue;
        }
        let member = members.next().and_then(|member| array::from_json(member, element)).unwrap_or(Value::Null);
        write(out, &member, element, settings)?;
    }
    out.push(']');
    Ok(())
}

/// An array or object with each of its members in a line of its own.
fn lined(all: &str) -> Result<String> {
    let found = parts(all)?;
    let (open, close) = match kind(all) {
        "array" => ('[', ']'),
        "object" => ('{', '}'),
        _ => return Ok(all.to_owned()),
    };
    let mut out = String::from(open);
    for (at, (key, value)) in found.into_iter().enumerate() {
        if at > 0 {
            out.push_str(",\n ");
        }
        if let Some(key) = key {
            out.push_str(key);
            out.push(':');
        }
        work::append_text(&mut out, value)?;
    }
    out.push(close);
    Ok(out)
}

/// `json_object` of texts: keys and values by turns or in two columns, or in two arrays.
fn object(call: &Call<'_>) -> Result<Value> {
    let wrong = |message: &str| Error::new(Condition::IllegalSubscript, message);
    let keys = super::arrays::array_at(call, 1)?;
    let pairs: Vec<(Json, Json)> = if call.len() > 2 {
        let values = super::arrays::array_at(call, 2)?;
        if keys.dimensions.len() > 1 || keys.dimensions.len() != values.dimensions.len() {
            return Err(wrong("wrong number of array subscripts"));
        }
        if keys.members.len() != values.members.len() {
            return Err(wrong("mismatched array dimensions"));
        }
        keys.members.into_iter().zip(values.members).collect()
    } else {
        match keys.dimensions.as_slice() {
            [] => {}
            [only] if only.length % 2 == 1 => return Err(wrong("array must have even number of elements")),
            [_] => {}
            [_, inner] if inner.length == 2 => {}
            [_, _] => return Err(wrong("array must have two columns")),
            _ => return Err(wrong("wrong number of array subscripts")),
        }
        keys.members.chunks_exact(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect()
    };
    let mut out = "{".to_owned();
    for (at, (key, value)) in pairs.into_iter().enumerate() {
        let Json::String(key) = key else {
            return Err(Error::new(Condition::NullValueNotAllowed, "null value not allowed for object key"));
        };
        if at > 0 {
            out.push_str(", ");
        }
        json::quote_long(&mut out, &key)?;
        out.push_str(" : ");
        match value {
            Json::String(value) => json::quote_long(&mut out, &value)?,
            _ => out.push_str("null"),
        }
    }
    out.push('}');
    text(if call.boolean(0)? { json::normalize(&out)? } else { out })
}

fn build_object(call: &Call<'_>, binary: bool) -> Result<String> {
    if !call.len().is_multiple_of(4) {
        let message = "argument list must have even number of elements";
        return Err(Error::new(Condition::InvalidParameterValue, message).hint(format!(
            "The arguments of json{}_build_object() must consist of alternating keys and values.",
            if binary { "b" } else { "" }
        )));
    }
    let mut out = "{".to_owned();
    for at in (0..call.len()).step_by(4) {
        if call.is_null(at) {
            let (message, hint) = match binary {
                true => (format!("argument {}: key must not be null", at / 2 + 1), None),
                false => (format!("argument {} cannot be null", at / 2 + 1), Some("Object keys should be text.")),
            };
            let error = Error::new(Condition::InvalidParameterValue, message);
            return Err(match hint {
                Some(hint) => error.hint(hint),
                None => error,
            });
        }
        if at > 0 {
            out.push_str(", ");
        }
        out.push_str(&key_argument(call, at)?);
        out.push_str(" : ");
        out.push_str(&argument(call, at + 2)?);
    }
    out.push('}');
    Ok(out)
}

fn build_array(call: &Call<'_>) -> Result<String> {
    let members = (0..call.len()).step_by(2).map(|at| argument(call, at)).collect::<Result<Vec<_>>>()?;
    Ok(format!("[{}]", members.join(", ")))
}

fn get(call: &Call<'_>) -> Result<Value> {
    part(member(call.text(0)?, call.text(1)?)?)
}

fn get_at(call: &Call<'_>) -> Result<Value> {
    part(element(call.text(0)?, call.integer(1)?)?)
}

/// A part as JSON.
fn part(found: Option<&str>) -> Result<Value> {
    Ok(found.map_or(Value::Null, |found| Value::Text(found.to_owned())))
}

/// A part as text: strings without quotes, `null` as NULL.
pub(super) fn shown(found: Option<&str>) -> Result<Value> {
    Ok(match found {
        None | Some("null") => Value::Null,
        Some(found) if found.starts_with('"') => match json::parse(found)? {
            Json::String(text) => Value::Text(text),
            other => Value::Text(other.to_string()),
        },
        Some(found) => Value::Text(found.to_owned()),
    })
}

/// What a JSON text is, by its first character.
pub(super) fn kind(all: &str) -> &'static str {
    match all.trim_start().as_bytes().first() {
        Some(b'{') => "object",
        Some(b'[') => "array",
        Some(b'"') => "string",
        Some(b't' | b'f') => "boolean",
        Some(b'n') => "null",
        _ => "number",
    }
}

/// Keys as they stand in a JSON text, with their values; no keys in an array.
type Parts<'a> = Vec<(Option<&'a str>, &'a str)>;

/// What a member counts as work, beside its bytes.
const PART: usize = 32;

/// The members of an array or object as they stand in a JSON text, with their keys in an object.
///
/// The text is JSON already: it was checked when it became a value.
///
/// # Errors
/// `22P02` or `22P05` where an escape of a `json` stands for no character: nobody has looked before.
pub(super) fn parts(all: &str) -> Result<Parts<'_>> {
    if all.contains("\\u") {
        json::check_escapes(all)?;
    }
    let body = all.trim();
    let object = body.starts_with('{');
    if !object && !body.starts_with('[') {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    let mut at = 1;
    let bytes = body.as_bytes();
    loop {
        at += blanks(&bytes[at..]);
        if matches!(bytes.get(at), None | Some(b']' | b'}')) {
            return Ok(found);
        }
        let mut key = None;
        if object {
            let length = value_length(&bytes[at..]);
            key = Some(&body[at..at + length]);
            at += length;
            at += blanks(&bytes[at..]) + 1;
            at = at.min(bytes.len());
            at += blanks(&bytes[at..]);
        }
        let length = value_length(&bytes[at..]);
        if length == 0 {
            return Ok(found);
        }
        work::step(length + PART)?;
        found.push((key, &body[at..at + length]));
        at += length;
        at += blanks(&bytes[at..]);
        if bytes.get(at) == Some(&b',') {
            at += 1;
        }
    }
}

fn blanks(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| byte.is_ascii_whitespace()).count()
}

/// The length of the value at the front.
fn value_length(bytes: &[u8]) -> usize {
    let mut depth = 0_usize;
    let mut inside = false;
    let mut escaped = false;
    for (at, byte) in bytes.iter().enumerate() {
        if inside {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => {
                    inside = false;
                    if depth == 0 {
                        return at + 1;
                    }
                }
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => inside = true,
            b'{' | b'[' => depth += 1,
            b'}' | b']' if depth == 0 => return at,
            b'}' | b']' => {
                depth -= 1;
                if depth == 0 {
                    return at + 1;
                }
            }
            b',' | b':' if depth == 0 => return at,
            byte if depth == 0 && byte.is_ascii_whitespace() => return at,
            _ => {}
        }
    }
    bytes.len()
}

/// True if the key's literal is this name.
fn is_key(literal: &str, name: &str) -> bool {
    if !literal.contains('\\') {
        return literal.len() == name.len() + 2 && &literal[1..literal.len() - 1] == name;
    }
    matches!(serde_json::from_str::<String>(literal), Ok(key) if key == name)
}

/// The member of an object, the last one of that key.
fn member<'a>(all: &'a str, key: &str) -> Result<Option<&'a str>> {
    if kind(all) != "object" {
        return Ok(None);
    }
    let found = parts(all)?.into_iter().rev().find(|(literal, _)| literal.is_some_and(|literal| is_key(literal, key)));
    Ok(found.map(|(_, value)| value))
}

/// The element of an array, from 0; from the end when negative.
fn element(all: &str, index: i64) -> Result<Option<&str>> {
    if kind(all) != "array" {
        return Ok(None);
    }
    let parts = parts(all)?;
    let at = if index < 0 { index + parts.len() as i64 } else { index };
    Ok(usize::try_from(at).ok().and_then(|at| parts.get(at)).map(|(_, value)| *value))
}

/// Follows a path of keys and indexes.
fn follow<'a>(all: &'a str, steps: &[String]) -> Result<Option<&'a str>> {
    let mut here = all.trim();
    for step in steps {
        let next = match kind(here) {
            "object" => member(here, step)?,
            "array" => match step.trim().parse() {
                Ok(index) => element(here, index)?,
                Err(_) => None,
            },
            _ => None,
        };
        let Some(next) = next else { return Ok(None) };
        here = next;
    }
    Ok(Some(here))
}

/// A stored array of texts; NULLs in it match nothing.
pub(super) fn path(call: &Call<'_>, at: usize) -> Result<Vec<String>> {
    let members = super::arrays::parse(call.text(at)?)?.members;
    Ok(members.into_iter().filter_map(|member| member.as_str().map(str::to_owned)).collect())
}

/// A stored array of texts.
pub(super) fn path_with_nulls(call: &Call<'_>, at: usize) -> Result<Vec<Option<String>>> {
    let members = super::arrays::parse(call.text(at)?)?.members;
    Ok(members.iter().map(|member| member.as_str().map(str::to_owned)).collect())
}

/// What a path leads to: nothing, when one of its steps is NULL.
fn followed<'j>(call: &'j Call<'_>) -> Result<Option<&'j str>> {
    let steps: Option<Vec<String>> = path_with_nulls(call, 1)?.into_iter().collect();
    steps.map_or(Ok(None), |steps| follow(call.text(0)?, &steps))
}

fn steps(call: &Call<'_>) -> Result<Vec<String>> {
    (1..call.len()).map(|at| call.text(at).map(str::to_owned)).collect()
}

fn exists(all: &str, key: &str) -> Result<bool> {
    Ok(match json::parse(all)? {
        Json::Object(members) => members.contains_key(key),
        Json::Array(members) => members.iter().any(|member| member.as_str() == Some(key)),
        Json::String(text) => text == key,
        _ => false,
    })
}

fn same_number(a: &serde_json::Number, b: &serde_json::Number) -> bool {
    a == b || matches!((Decimal::parse(&a.to_string()), Decimal::parse(&b.to_string())), (Ok(a), Ok(b)) if a == b)
}

/// `@>`: every part of `sought` is found at its place in `all`. At the top an array may contain a bare scalar.
fn contains(all: &Json, sought: &Json, top: bool) -> Result<bool> {
    work::step(8)?;
    match (all, sought) {
        (Json::Object(all), Json::Object(sought)) => {
            for (key, sought) in sought {
                match all.get(key) {
                    Some(member) if contains(member, sought, false)? => {}
                    _ => return Ok(false),
                }
            }
            Ok(true)
        }
        (Json::Array(all), Json::Array(sought)) => {
            for sought in sought {
                if !any_contains(all, sought)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        (Json::Array(all), scalar) if !scalar.is_object() => Ok(top && any_contains(all, scalar)?),
        (Json::Number(a), Json::Number(b)) => Ok(same_number(a, b)),
        (a, b) => Ok(a == b),
    }
}

fn any_contains(all: &[Json], sought: &Json) -> Result<bool> {
    for member in all {
        if contains(member, sought, false)? {
            return Ok(true);
        }
    }
    Ok(false)
}
