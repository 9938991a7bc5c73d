//! Functions of documents, which lie in MySQL's normal form (`values::mysql::json`): the binder makes documents of texts.

use rowferry_dialect::ir::Value;
use rowferry_dialect::values::mysql::json::{self, ordered, push_order};
use rowferry_dialect::values::mysql::numbers;
use rowferry_dialect::values::{Decimal, ValueRef};
use rowferry_dialect::{Condition, Error, Result, work};
use serde_json::Value as Json;

use super::super::aggregate::Accumulator;
use super::super::call::{boolean, integer, text};
use super::super::{Call, Row};
use super::json_paths::{Change, Path, apply};
use super::{json_storage, maybe};

pub(in super::super) const ROWS: &[Row] = &[
    Row::new("rf_mysql_json_extract", 2, |call| {
        let document = document(call, 0)?;
        let mut found = Vec::new();
        let mut several = call.len() > 2;
        for at in 1..call.len() {
            let path = Path::read(call.text(at)?)?;
            several |= path.is_wild();
            path.find(&document, &mut found);
        }
        match found.as_slice() {
            [] => Ok(Value::Null),
            [only] if !several => shown(only),
            all => shown(&Json::Array(all.iter().map(|found| (*found).clone()).collect())),
        }
    })
    .variadic(),
    Row::new("rf_mysql_json_unquote", 1, |call| {
        let all = call.text(0)?;
        if all.len() < 2 || !all.starts_with('"') || !all.ends_with('"') {
            return text(all);
        }
        match serde_json::from_str::<Json>(all) {
            Ok(Json::String(inner)) => text(inner),
            _ => Err(invalid(1, "json_unquote")),
        }
    }),
    Row::new("rf_mysql_json_bare", 1, |call| match document(call, 0)? {
        Json::String(inner) => text(inner),
        Json::Bool(truth) => text(if truth { "1" } else { "0" }),
        other => shown(&other),
    }),
    Row::new("rf_mysql_json_shown", 1, |call| text(String::from_utf8_lossy(&json::shown(call.bytes(0)?)).into_owned())),
    Row::new("rf_mysql_json_normal", 1, |call| written(call, 0, json::Refused::stored)),
    // (text, which argument of which function it is)
    Row::new("rf_mysql_json_argument", 3, |call| {
        let number = usize::try_from(call.integer(1)?).unwrap_or(1);
        let function = call.text(2)?;
        written(call, 0, |refused| refused.argument(number, function))
    }),
    Row::new("rf_mysql_json_refused", 1, |call| {
        Err(match call.value(0) {
            ValueRef::Blob(_) => {
                let message = "Cannot create a JSON value from a string with CHARACTER SET 'binary'.";
                Error::new(Condition::InvalidTextRepresentation, message).with_mysql(3144, "22032")
            }
            _ => json::not_stored("not a JSON text, may need CAST", 0),
        })
    }),
    // (value, its type)
    Row::new("rf_mysql_json_scalar", 2, |call| shown(&member(call, 0)?)),
    Row::new("rf_mysql_json_order_of", 2, |call| {
        let mut key = Vec::new();
        match (moment_text(call, 0)?, call.value(0)) {
            // Moments come behind all documents, and bytes behind them.
            (Some((kind, moment)), _) => {
                key.push(7 + kind);
                key.extend(moment.into_bytes());
            }
            (None, ValueRef::Blob(bytes)) => {
                key.push(10);
                key.extend(bytes);
            }
            _ => push_order(&member(call, 0)?, &mut key)?,
        }
        Ok(Value::Blob(key))
    }),
    Row::new("rf_mysql_json_value", 2, |call| {
        let document = document(call, 0)?;
        let mut found = Vec::new();
        Path::read(call.text(1)?)?.find(&document, &mut found);
        match found.as_slice() {
            [Json::String(inner)] => text(inner.as_str()),
            [Json::Null] | [] => Ok(Value::Null),
            [only] => shown(only),
            _ => Ok(Value::Null),
        }
    }),
    Row::new("rf_mysql_json_order", 1, |call| {
        let mut key = Vec::new();
        push_order(&document(call, 0)?, &mut key)?;
        Ok(Value::Blob(key))
    }),
    // Values with their types behind each.
    Row::new("rf_mysql_json_array", 0, |call| {
        let members = (0..call.len() / 2).map(|at| member(call, at * 2)).collect::<Result<_>>()?;
        shown(&Json::Array(members))
    })
    .variadic()
    .lenient(),
    Row::new("rf_mysql_json_object", 0, |call| {
        if call.len() % 4 != 0 {
            return Err(wrong_count("json_object"));
        }
        let mut members = serde_json::Map::new();
        for at in (0..call.len()).step_by(4) {
            let Some(key) = numbers::text_of(call.value(at)) else {
                return Err(no_name());
            };
            members.insert(key, member(call, at + 2)?);
        }
        shown(&Json::Object(members))
    })
    .variadic()
    .lenient(),
    Row::new("rf_mysql_json_set", 6, |call| changed(call, "json_set", Change::Set)).variadic().lenient(),
    Row::new("rf_mysql_json_insert", 6, |call| changed(call, "json_insert", Change::Insert)).variadic().lenient(),
    Row::new("rf_mysql_json_replace", 6, |call| changed(call, "json_replace", Change::Replace)).variadic().lenient(),
    Row::new("rf_mysql_json_array_append", 6, |call| changed(call, "json_array_append", Change::Append))
        .variadic()
        .lenient(),
    Row::new("rf_mysql_json_array_insert", 6, |call| changed(call, "json_array_insert", Change::Squeeze))
        .variadic()
        .lenient(),
    Row::new("rf_mysql_json_remove", 2, |call| {
        let mut document = document(call, 0)?;
        for at in 1..call.len() {
            let path = Path::read(call.text(at)?)?;
            path.tame()?;
            path.remove(&mut document)?;
        }
        shown(&document)
    })
    .variadic(),
    Row::new("rf_mysql_json_contains", 2, |call| {
        let (target, candidate) = (document(call, 0)?, document(call, 1)?);
        let target = if call.len() > 2 { only(&target, call, 2)? } else { Some(&target) };
        maybe(target, |target| boolean(contains(target, &candidate)))
    })
    .optional(1),
    Row::new("rf_mysql_json_contains_path", 3, |call| {
        let document = document(call, 0)?;
        let all = one_or_all(call.text(1)?, "json_contains_path")?;
        for at in 2..call.len() {
            let mut found = Vec::new();
            Path::read(call.text(at)?)?.find(&document, &mut found);
            if found.is_empty() == all {
                return boolean(!all);
            }
        }
        boolean(all)
    })
    .variadic(),
    Row::new("rf_mysql_json_keys", 1, |call| {
        let document = document(call, 0)?;
        match if call.len() > 1 { only(&document, call, 1)? } else { Some(&document) } {
            Some(Json::Object(members)) => {
                let mut keys: Vec<&String> = members.keys().collect();
                keys.sort_by_key(|key| (key.len(), key.as_bytes()));
                shown(&Json::Array(keys.into_iter().map(|key| Json::from(key.as_str())).collect()))
            }
            _ => Ok(Value::Null),
        }
    })
    .optional(1),
    Row::new("rf_mysql_json_length", 1, |call| {
        let document = document(call, 0)?;
        let found = if call.len() > 1 { only(&document, call, 1)? } else { Some(&document) };
        maybe(found, |found| {
            integer(match found {
                Json::Array(members) => members.len() as i64,
                Json::Object(members) => members.len() as i64,
                _ => 1,
            })
        })
    })
    .optional(1),
    Row::new("rf_mysql_json_depth", 1, |call| integer(depth(&document(call, 0)?))),
    Row::new("rf_mysql_json_type", 1, |call| {
        text(match document(call, 0)? {
            Json::Null => "NULL",
            Json::Bool(_) => "BOOLEAN",
            Json::Number(number) => json::number_type(&number),
            Json::String(_) => "STRING",
            Json::Array(_) => "ARRAY",
            Json::Object(_) => "OBJECT",
        })
    }),
    Row::new("rf_mysql_json_valid", 1, |call| match call.value(0) {
        ValueRef::Text(bytes) => boolean(std::str::from_utf8(bytes).is_ok_and(|text| json::read(text).is_ok())),
        _ => boolean(false),
    }),
    Row::new("rf_mysql_json_quote", 1, |call| text(Json::from(call.text(0)?).to_string())),
    Row::new("rf_mysql_json_pretty", 1, |call| {
        let mut out = String::new();
        pretty(&document(call, 0)?, 0, &mut out);
        text(out)
    }),
    Row::new("rf_mysql_json_merge_patch", 1, |call| {
        let mut merged = document(call, 0)?;
        for at in 1..call.len() {
            patch(&mut merged, document(call, at)?);
        }
        shown(&merged)
    })
    .variadic(),
    Row::new("rf_mysql_json_merge_preserve", 1, |call| {
        let mut merged = document(call, 0)?;
        for at in 1..call.len() {
            merged = preserved(merged, document(call, at)?);
        }
        shown(&merged)
    })
    .variadic(),
    // (document, one or all, text, escape, paths …)
    Row::new("rf_mysql_json_search", 3, |call| {
        if call.is_null(0) || call.is_null(1) || call.is_null(2) {
            return Ok(Value::Null);
        }
        let document = document(call, 0)?;
        let all = one_or_all(call.text(1)?, "json_search")?;
        let escape = if call.is_null(3) { "\\" } else { call.text(3)? };
        let pattern = super::arithmetic::Pattern::read(call.text(2)?, escape, true)?;
        let mut found = Vec::new();
        let roots: Vec<(String, &Json)> = match call.len() {
            ..=4 => vec![("$".to_owned(), &document)],
            count => {
                let mut roots = Vec::new();
                for at in 4..count {
                    let mut reached = Vec::new();
                    Path::read(call.text(at)?)?.find(&document, &mut reached);
                    roots.extend(reached.into_iter().map(|root| (call.text(at).unwrap_or("$").to_owned(), root)));
                }
                roots
            }
        };
        for (path, root) in roots {
            search(root, &path, &pattern, &mut found)?;
        }
        match found.as_slice() {
            [] => Ok(Value::Null),
            [first, ..] if !all || found.len() == 1 => shown(&Json::from(first.as_str())),
            every => shown(&Json::Array(every.iter().map(|path| Json::from(path.as_str())).collect())),
        }
    })
    .variadic()
    .lenient(),
    Row::new("rf_mysql_json_overlaps", 2, |call| boolean(overlaps(&document(call, 0)?, &document(call, 1)?))),
    // (value, its type, array)
    Row::new("rf_mysql_json_member_of", 3, |call| {
        if call.is_null(0) || call.is_null(2) {
            return Ok(Value::Null);
        }
        let (value, array) = (member(call, 0)?, document(call, 2)?);
        boolean(match &array {
            Json::Array(members) => members.iter().any(|member| same(member, &value)),
            other => same(other, &value),
        })
    })
    .lenient(),
    Row::new("rf_mysql_json_storage_size", 1, |call| integer(json_storage::size(&document(call, 0)?) as i64)),
];

fn invalid(at: usize, function: &str) -> Error {
    let message = format!("Invalid JSON text in argument {at} to function {function}");
    Error::new(Condition::InvalidTextRepresentation, message).with_mysql(3141, "22032")
}

fn wrong_count(function: &str) -> Error {
    let message = format!("Incorrect parameter count in the call to native function '{function}'");
    Error::new(Condition::InvalidParameterValue, message).with_mysql(1582, "42000")
}

/// An argument that is a document.
pub(super) fn document(call: &Call<'_>, at: usize) -> Result<Json> {
    let lying = call.text(at)?;
    work::step(lying.len())?;
    work::room_to_work(lying.len().saturating_mul(8))?;
    json::kept(lying).map_err(|refused| refused.argument(at + 1, "a JSON function"))
}

/// A text that a client has written, in the normal form.
fn written(call: &Call<'_>, at: usize, told: impl Fn(&json::Refused) -> Error) -> Result<Value> {
    let lying = call.text(at)?;
    work::step(lying.len())?;
    work::room_to_work(lying.len().saturating_mul(8))?;
    text(json::normal(lying).map_err(|refused| told(&refused))?)
}

fn no_name() -> Error {
    let message = "JSON documents may not contain NULL member names.";
    Error::new(Condition::InvalidParameterValue, message).with_mysql(3158, "22032")
}

/// A value that is a moment, with its type behind it, as a document tells it; dates come before times and those before both
/// together.
fn moment_text(call: &Call<'_>, at: usize) -> Result<Option<(u8, String)>> {
    if !matches!(call.value(at), ValueRef::Text(_)) {
        return Ok(None);
    }
    let words = call.text(at + 1)?;
    let kind = match words {
        "date" => return Ok(Some((0, call.text(at)?.to_owned()))),
        words if words.starts_with("interval") || words.starts_with("time ") || words.starts_with("time(") => 1,
        "time" => 1,
        words if words.starts_with("timestamp") => 2,
        _ => return Ok(None),
    };
    let mut moment = call.text(at)?.to_owned();
    let digits = moment.rsplit_once('.').map(|(_, fraction)| fraction.len());
    if digits.is_none() {
        moment.push('.');
    }
    moment.extend(std::iter::repeat_n('0', 6_usize.saturating_sub(digits.unwrap_or(0))));
    Ok(Some((kind, moment)))
}

/// A value, with its type behind it, as a member of a document.
fn member(call: &Call<'_>, at: usize) -> Result<Json> {
    if let Some((_, moment)) = moment_text(call, at)? {
        return Ok(Json::from(moment));
    }
    let words = call.text(at + 1)?;
    Ok(match (words, call.value(at)) {
        (_, ValueRef::Null) => Json::Null,
        ("boolean", ValueRef::Integer(value)) => Json::Bool(value != 0),
        (_, ValueRef::Integer(value)) => Json::from(value),
        (_, ValueRef::Real(value)) if words.starts_with("numeric") => json::number(&numbers::double_text(value)),
        (_, ValueRef::Real(value)) => json::double(value),
        (words, ValueRef::Text(_)) if words.starts_with("json") => document(call, at)?,
        (words, ValueRef::Text(_)) if words.starts_with("numeric") => {
            json::number(&Decimal::parse(call.text(at)?)?.to_string())
        }
        (_, ValueRef::Text(_)) => Json::from(call.text(at)?),
        (words, ValueRef::Blob(bytes)) => {
            use base64::Engine as _;
            let kind = match words.split('(').next().unwrap_or_default() {
                "binary" => 254,
                "tinyblob" | "mediumblob" | "longblob" | "blob" => 252,
                _ => 15,
            };
            let coded = base64::engine::general_purpose::STANDARD.encode(bytes);
            Json::from(format!("base64:type{kind}:{coded}"))
        }
    })
}

/// A document in the normal form.
fn shown(document: &Json) -> Result<Value> {
    let mut out = String::new();
    json::write(document, &mut out)?;
    text(out)
}

fn pretty(document: &Json, depth: usize, out: &mut String) {
    let indent = "  ".repeat(depth + 1);
    let end = "  ".repeat(depth);
    match document {
        Json::Array(members) if !members.is_empty() => {
            out.push_str("[\n");
            for (at, member) in members.iter().enumerate() {
                out.push_str(if at > 0 { ",\n" } else { "" });
                out.push_str(&indent);
                pretty(member, depth + 1, out);
            }
            out.push_str(&format!("\n{end}]"));
        }
        Json::Object(members) if !members.is_empty() => {
            out.push_str("{\n");
            for (at, (key, member)) in ordered(members).into_iter().enumerate() {
                out.push_str(if at > 0 { ",\n" } else { "" });
                out.push_str(&format!("{indent}{}: ", Json::from(key.as_str())));
                pretty(member, depth + 1, out);
            }
            out.push_str(&format!("\n{end}}}"));
        }
        Json::Array(_) => out.push_str("[]"),
        Json::Object(_) => out.push_str("{}"),
        Json::Number(number) => out.push_str(&json::number_text(number)),
        other => out.push_str(&other.to_string()),
    }
}

fn depth(document: &Json) -> i64 {
    1 + match document {
        Json::Array(members) => members.iter().map(depth).max().unwrap_or(0),
        Json::Object(members) => members.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

/// Equal, numbers by their value.
fn same(left: &Json, right: &Json) -> bool {
    match (left, right) {
        (Json::Number(a), Json::Number(b)) => {
            a == b || json::compare(&a.to_string(), &b.to_string()) == std::cmp::Ordering::Equal
        }
        (Json::Array(a), Json::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Json::Object(a), Json::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, member)| b.get(key).is_some_and(|other| same(member, other)))
        }
        (a, b) => a == b,
    }
}

fn contains(target: &Json, candidate: &Json) -> bool {
    match (target, candidate) {
        (Json::Array(target), Json::Array(candidates)) => {
            candidates.iter().all(|candidate| target.iter().any(|member| contains(member, candidate)))
        }
        (Json::Array(target), candidate) => target.iter().any(|member| contains(member, candidate)),
        (Json::Object(target), Json::Object(candidate)) => {
            candidate.iter().all(|(key, wanted)| target.get(key).is_some_and(|member| contains(member, wanted)))
        }
        (target, candidate) => same(target, candidate),
    }
}

fn overlaps(left: &Json, right: &Json) -> bool {
    match (left, right) {
        (Json::Array(a), Json::Array(b)) => a.iter().any(|a| b.iter().any(|b| same(a, b))),
        (Json::Array(a), b) => a.iter().any(|a| same(a, b)),
        (a, Json::Array(b)) => b.iter().any(|b| same(a, b)),
        (Json::Object(a), Json::Object(b)) => {
            a.iter().any(|(key, member)| b.get(key).is_some_and(|other| same(member, other)))
        }
        (a, b) => same(a, b),
    }
}

/// RFC 7396.
fn patch(target: &mut Json, with: Json) {
    match with {
        Json::Object(with) => {
            if !target.is_object() {
                *target = Json::Object(serde_json::Map::new());
            }
            if let Json::Object(target) = target {
                for (key, value) in with {
                    if value.is_null() {
                        target.shift_remove(&key);
                    } else {
                        patch(target.entry(key).or_insert(Json::Null), value);
                    }
                }
            }
        }
        other => *target = other,
    }
}

fn preserved(left: Json, right: Json) -> Json {
    match (left, right) {
        (Json::Object(mut left), Json::Object(right)) => {
            for (key, value) in right {
                let merged = match left.shift_remove(&key) {
                    Some(before) => preserved(before, value),
                    None => value,
                };
                left.insert(key, merged);
            }
            Json::Object(left)
        }
        (left, right) => {
            let members = |of: Json| match of {
                Json::Array(members) => members,
                other => vec![other],
            };
            let mut all = members(left);
            all.extend(members(right));
            Json::Array(all)
        }
    }
}

fn one_or_all(word: &str, function: &str) -> Result<bool> {
    match word.to_ascii_lowercase().as_str() {
        "one" => Ok(false),
        "all" => Ok(true),
        _ => Err(Error::new(
            Condition::InvalidParameterValue,
            format!("The oneOrAll argument to {function} may take these values: 'one' or 'all'."),
        )
        .with_mysql(3154, "42000")),
    }
}

/// What a path without wildcards leads to.
fn only<'j>(document: &'j Json, call: &Call<'_>, at: usize) -> Result<Option<&'j Json>> {
    let path = Path::read(call.text(at)?)?;
    path.tame()?;
    let mut found = Vec::new();
    path.find(document, &mut found);
    Ok(found.first().copied())
}

fn search(document: &Json, path: &str, pattern: &super::arithmetic::Pattern, found: &mut Vec<String>) -> Result<()> {
    match document {
        Json::String(inner) if pattern.matches(inner)? => found.push(path.to_owned()),
        Json::Array(members) => {
            for (at, member) in members.iter().enumerate() {
                search(member, &format!("{path}[{at}]"), pattern, found)?;
            }
        }
        Json::Object(members) => {
            for (key, member) in ordered(members) {
                let plain = key.starts_with(|c: char| c.is_alphabetic() || c == '_' || c == '$')
                    && key.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '$');
                let leg = if plain { key.clone() } else { Json::from(key.as_str()).to_string() };
                search(member, &format!("{path}.{leg}"), pattern, found)?;
            }
        }
        _ => {}
    }
    Ok(())
}

/// (document, its type, then paths and values, each with its type)
fn changed(call: &Call<'_>, function: &str, change: Change) -> Result<Value> {
    if call.len() % 4 != 2 {
        return Err(wrong_count(function));
    }
    if call.is_null(0) {
        return Ok(Value::Null);
    }
    let mut document = document(call, 0)?;
    for at in (2..call.len()).step_by(4) {
        if call.is_null(at) {
            return Ok(Value::Null);
        }
        let path = Path::read(call.text(at)?)?;
        path.tame()?;
        apply(&mut document, &path, member(call, at + 2)?, change);
    }
    shown(&document)
}

/// JSON_ARRAYAGG and JSON_OBJECTAGG, over values with their types.
#[derive(Default)]
pub(in super::super) struct Gathered {
    members: std::collections::VecDeque<(Option<String>, Json)>,
    keyed: bool,
}

impl Gathered {
    /// With keys.
    pub(in super::super) fn keyed() -> Self {
        Self { keyed: true, ..Self::default() }
    }
}

impl Accumulator for Gathered {
    fn step(&mut self, call: &Call<'_>) -> Result<()> {
        work::room(call.length(0) + size_of::<Json>())?;
        let entry = match self.keyed {
            true => {
                let Some(key) = numbers::text_of(call.value(0)) else {
                    return Err(no_name());
                };
                (Some(key), member(call, 2)?)
            }
            false => (None, member(call, 0)?),
        };
        self.members.push_back(entry);
        Ok(())
    }

    fn inverse(&mut self, _: &Call<'_>) -> Result<()> {
        self.members.pop_front();
        Ok(())
    }

    fn value(&mut self) -> Result<Value> {
        if self.members.is_empty() {
            return Ok(Value::Null);
        }
        let members = self.members.iter().cloned();
        shown(&match self.keyed {
            true => Json::Object(members.map(|(key, member)| (key.unwrap_or_default(), member)).collect()),
            false => Json::Array(members.map(|(_, member)| member).collect()),
        })
    }
}
