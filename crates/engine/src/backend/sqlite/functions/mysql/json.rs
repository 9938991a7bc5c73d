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
use super::maybe;

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
    Row::new("rf_mysql_json_storage_size", 1, |call| integer(storage::size(&document(call, 0)?) as i64)),
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

/// A leg of a path.
#[derive(Clone, Debug)]
enum Leg {
    Key(String),
    AnyKey,
    Place(Place),
    Range(Place, Place),
    AnyPlace,
    Everywhere,
}

/// A place in an array, from its beginning or from its end.
#[derive(Clone, Copy, Debug)]
enum Place {
    First(usize),
    Last(usize),
}

impl Place {
    fn of(self, length: usize) -> Option<usize> {
        match self {
            Self::First(at) => Some(at),
            Self::Last(back) => length.checked_sub(back + 1),
        }
    }
}

/// A path of MySQL's.
#[derive(Debug)]
pub(super) struct Path(Vec<Leg>);

impl Path {
    pub(super) fn read(written: &str) -> Result<Self> {
        let wrong = |at: usize| {
            let message = format!("Invalid JSON path expression. The error is around character position {at}.");
            Error::new(Condition::InvalidParameterValue, message).with_mysql(3143, "42000")
        };
        let mut rest = written.trim().strip_prefix('$').ok_or_else(|| wrong(1))?;
        let mut legs = Vec::new();
        let here = |rest: &str| written.len() - rest.len() + 1;
        loop {
            rest = rest.trim_start();
            let Some(sign) = rest.chars().next() else { break };
            match sign {
                '*' if rest.starts_with("**") => {
                    legs.push(Leg::Everywhere);
                    rest = &rest[2..];
                }
                '.' => {
                    rest = rest[1..].trim_start();
                    if let Some(behind) = rest.strip_prefix('*') {
                        legs.push(Leg::AnyKey);
                        rest = behind;
                    } else if rest.starts_with('"') {
                        let mut stream = serde_json::Deserializer::from_str(rest).into_iter::<Json>();
                        let Some(Ok(Json::String(key))) = stream.next() else { return Err(wrong(here(rest))) };
                        rest = &rest[stream.byte_offset()..];
                        legs.push(Leg::Key(key));
                    } else {
                        let goes_on = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
                        let end = rest.find(|c| !goes_on(c)).unwrap_or(rest.len());
                        if end == 0 || rest.starts_with(|c: char| c.is_ascii_digit()) {
                            return Err(wrong(here(rest)));
                        }
                        legs.push(Leg::Key(rest[..end].to_owned()));
                        rest = &rest[end..];
                    }
                }
                '[' => {
                    let (inner, behind) = rest[1..].split_once(']').ok_or_else(|| wrong(written.len()))?;
                    let place = |text: &str| {
                        let text = text.trim();
                        match text.strip_prefix("last") {
                            Some(back) => match back.trim().strip_prefix('-') {
                                Some(back) => back.trim().parse().ok().map(Place::Last),
                                None => back.trim().is_empty().then_some(Place::Last(0)),
                            },
                            None => text.parse().ok().map(Place::First),
                        }
                    };
                    let leg = match (inner.trim(), inner.split_once(" to ")) {
                        ("*", _) => Some(Leg::AnyPlace),
                        (_, Some((from, to))) => place(from).zip(place(to)).map(|(from, to)| Leg::Range(from, to)),
                        (single, None) => place(single).map(Leg::Place),
                    };
                    legs.push(leg.ok_or_else(|| wrong(here(rest)))?);
                    rest = behind;
                }
                _ => return Err(wrong(here(rest))),
            }
        }
        if matches!(legs.last(), Some(Leg::Everywhere)) {
            return Err(wrong(written.len()));
        }
        Ok(Self(legs))
    }

    fn is_wild(&self) -> bool {
        self.0.iter().any(|leg| !matches!(leg, Leg::Key(_) | Leg::Place(_)))
    }

    /// Fails on wildcards.
    fn tame(&self) -> Result<()> {
        if !self.is_wild() {
            return Ok(());
        }
        let message = "In this situation, path expressions may not contain the * and ** tokens or an array range.";
        Err(Error::new(Condition::InvalidParameterValue, message).with_mysql(3149, "42000"))
    }

    pub(super) fn find<'j>(&self, document: &'j Json, found: &mut Vec<&'j Json>) {
        follow(&self.0, document, found);
    }

    fn remove(&self, document: &mut Json) -> Result<()> {
        let Some((last, legs)) = self.0.split_last() else {
            let message = "The path expression '$' is not allowed in this context.";
            return Err(Error::new(Condition::InvalidParameterValue, message).with_mysql(3153, "42000"));
        };
        match (reach(legs, document), last) {
            (Some(Json::Object(members)), Leg::Key(key)) => {
                members.shift_remove(key);
            }
            (Some(Json::Array(members)), Leg::Place(place)) => {
                if let Some(at) = place.of(members.len()).filter(|at| *at < members.len()) {
                    members.remove(at);
                }
            }
            _ => {}
        }
        Ok(())
    }
}

fn follow<'j>(legs: &[Leg], document: &'j Json, found: &mut Vec<&'j Json>) {
    let Some((leg, rest)) = legs.split_first() else {
        if !found.iter().any(|known| std::ptr::eq(*known, document)) {
            found.push(document);
        }
        return;
    };
    match (leg, document) {
        (Leg::Key(key), Json::Object(members)) => {
            if let Some(member) = members.get(key) {
                follow(rest, member, found);
            }
        }
        (Leg::AnyKey, Json::Object(members)) => {
            ordered(members).into_iter().for_each(|(_, member)| follow(rest, member, found));
        }
        (Leg::Place(place), Json::Array(members)) => {
            if let Some(member) = place.of(members.len()).and_then(|at| members.get(at)) {
                follow(rest, member, found);
            }
        }
        // What is no array is one of itself.
        (Leg::Place(place), other) if place.of(1) == Some(0) => follow(rest, other, found),
        (Leg::Range(from, to), Json::Array(members)) => {
            if let Some((from, to)) = from.of(members.len()).zip(to.of(members.len())) {
                members.iter().take(to + 1).skip(from).for_each(|member| follow(rest, member, found));
            }
        }
        (Leg::AnyPlace, Json::Array(members)) => members.iter().for_each(|member| follow(rest, member, found)),
        (Leg::Everywhere, document) => {
            follow(rest, document, found);
            match document {
                Json::Array(members) => members.iter().for_each(|member| follow(legs, member, found)),
                Json::Object(members) => {
                    ordered(members).into_iter().for_each(|(_, member)| follow(legs, member, found));
                }
                _ => {}
            }
        }
        _ => {}
    }
}

/// What a path without wildcards leads to, to be changed.
fn reach<'j>(legs: &[Leg], document: &'j mut Json) -> Option<&'j mut Json> {
    let Some((leg, rest)) = legs.split_first() else { return Some(document) };
    match leg {
        Leg::Key(key) => match document {
            Json::Object(members) => reach(rest, members.get_mut(key)?),
            _ => None,
        },
        Leg::Place(place) => match document {
            Json::Array(members) => {
                let at = place.of(members.len())?;
                reach(rest, members.get_mut(at)?)
            }
            other => (place.of(1) == Some(0)).then(|| reach(rest, other)).flatten(),
        },
        _ => None,
    }
}

/// What is done at the end of a path.
#[derive(Clone, Copy, PartialEq)]
enum Change {
    Set,
    Insert,
    Replace,
    Append,
    Squeeze,
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

fn apply(document: &mut Json, path: &Path, value: Json, change: Change) {
    if change == Change::Append {
        if let Some(target) = reach(&path.0, document) {
            match target {
                Json::Array(members) => members.push(value),
                other => *other = Json::Array(vec![other.take(), value]),
            }
        }
        return;
    }
    let Some((last, legs)) = path.0.split_last() else {
        if matches!(change, Change::Set | Change::Replace) {
            *document = value;
        }
        return;
    };
    let Some(parent) = reach(legs, document) else { return };
    match (last, parent) {
        (Leg::Key(key), Json::Object(members)) => {
            let there = members.contains_key(key);
            if change == Change::Set || there == (change == Change::Replace) && change != Change::Squeeze {
                members.insert(key.clone(), value);
            }
        }
        (Leg::Place(place), Json::Array(members)) => {
            let at = place.of(members.len());
            if change == Change::Squeeze {
                members.insert(at.unwrap_or(0).min(members.len()), value);
                return;
            }
            match at.and_then(|at| members.get_mut(at)) {
                Some(member) if change != Change::Insert => *member = value,
                None if change != Change::Replace => members.push(value),
                _ => {}
            }
        }
        // What is no array is one of itself.
        (Leg::Place(place), other) if change != Change::Squeeze => match place.of(1) {
            Some(0) if change != Change::Insert => *other = value,
            Some(0) => {}
            _ if change != Change::Replace => *other = Json::Array(vec![other.take(), value]),
            _ => {}
        },
        _ => {}
    }
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

/// How many bytes MySQL's own form of a document takes, which JSON_STORAGE_SIZE tells.
///
/// Source: the binary format of JSON columns as MySQL's internals document describes it.
mod storage {
    use super::Json;

    /// With the byte that says what it is.
    pub(super) fn size(document: &Json) -> usize {
        1 + value(document)
    }

    fn value(document: &Json) -> usize {
        match document {
            Json::Null | Json::Bool(_) => 1,
            Json::Number(number) => match (number.as_i64(), number.as_u64()) {
                (Some(value), _) if i16::try_from(value).is_ok() => 2,
                (Some(value), _) if i32::try_from(value).is_ok() => 4,
                (None, _) if super::json::number_type(number) == "DECIMAL" => decimal(&number.to_string()),
                (_, Some(value)) if u16::try_from(value).is_ok() => 2,
                (_, Some(value)) if u32::try_from(value).is_ok() => 4,
                _ => 8,
            },
            Json::String(text) => varied(text.len()) + text.len(),
            Json::Array(_) | Json::Object(_) => match container(document, 2) {
                small if small <= usize::from(u16::MAX) => small,
                _ => container(document, 4),
            },
        }
    }

    /// The number of members and of bytes, then an entry for each, then what has no room in its entry.
    fn container(document: &Json, width: usize) -> usize {
        let behind = |member: &Json| match value(member) {
            _ if matches!(member, Json::Null | Json::Bool(_)) => 0,
            inner if matches!(member, Json::Number(_)) && inner <= width && inner < 8 => 0,
            inner => inner,
        };
        match document {
            Json::Array(members) => 2 * width + members.iter().map(|member| 1 + width + behind(member)).sum::<usize>(),
            Json::Object(members) => {
                let of_member = |(key, member): (&String, &Json)| width + 2 + key.len() + 1 + width + behind(member);
                2 * width + members.iter().map(of_member).sum::<usize>()
            }
            _ => 0,
        }
    }

    /// A length with seven bits to a byte.
    fn varied(length: usize) -> usize {
        let bits = usize::BITS - length.leading_zeros();
        bits.div_ceil(7).max(1) as usize
    }

    /// What it is, its length, its digits in all and behind the point, then nine digits to four bytes.
    fn decimal(written: &str) -> usize {
        const BYTES: [usize; 10] = [0, 1, 1, 2, 2, 3, 3, 4, 4, 4];
        let digits = written.trim_start_matches('-');
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let whole = whole.trim_start_matches('0').len();
        let bytes = |digits: usize| digits / 9 * 4 + BYTES[digits % 9];
        let inner = 2 + bytes(whole) + bytes(fraction.len());
        1 + varied(inner) + inner
    }
}
