//! JSON_SCHEMA_VALID and its report: draft 4 of JSON Schema.
//!
//! Source: "JSON Schema: interactive and non interactive validation", draft-fge-json-schema-validation-00; MySQL 9.7 Reference Manual, 14.17.7.
//! What refers to another document (`$ref`) is refused, as MySQL's manual has it.

use rowferry_dialect::values::mysql::json;
use rowferry_dialect::values::mysql::json::push_order;
use rowferry_dialect::{Condition, Error, Result, work};
use serde_json::{Map, Value as Json, json as made};

use super::super::call::{boolean, text};
use super::super::{Call, Row, regex};
use super::json::document;

pub(in super::super) const ROWS: &[Row] = &[
    // (schema, document)
    Row::new("rf_mysql_json_schema_valid", 2, |call| boolean(failure(call, "json_schema_valid")?.is_none())),
    Row::new("rf_mysql_json_schema_report", 2, |call| {
        let report = match failure(call, "json_schema_validation_report")? {
            None => made!({ "valid": true }),
            Some(failed) => made!({
                "valid": false,
                "reason": format!(
                    "The JSON document location '#{}' failed requirement '{}' at JSON Schema location '#{}'",
                    failed.document, failed.keyword, failed.schema
                ),
                "schema-location": format!("#{}", failed.schema),
                "document-location": format!("#{}", failed.document),
                "schema-failed-keyword": failed.keyword,
            }),
        };
        let mut shown = String::new();
        json::write(&report, &mut shown)?;
        text(shown)
    }),
];

/// Where a document is not as a schema has it.
struct Failure {
    /// The place in the document.
    document: String,
    /// The place in the schema.
    schema: String,
    keyword: &'static str,
}

type Checked = Result<Option<Failure>>;

fn failure(call: &Call<'_>, function: &str) -> Checked {
    let schema = document(call, 0)?;
    let document = document(call, 1)?;
    if !schema.is_object() {
        let message = format!("Invalid JSON type in argument 1 to function {function}; an object is required.");
        return Err(Error::new(Condition::InvalidParameterValue, message).with_mysql(3853, "22032"));
    }
    check(&schema, &document, &Place { root: &schema, schema: String::new(), document: String::new() }, 0)
}

/// How deep schemas may nest.
const DEEPEST: usize = 100;

struct Place<'s> {
    /// The whole schema.
    root: &'s Json,
    schema: String,
    document: String,
}

impl Place<'_> {
    fn failed(&self, keyword: &'static str) -> Checked {
        Ok(Some(Failure { document: self.document.clone(), schema: self.schema.clone(), keyword }))
    }

    fn at(&self, schema: &str, document: Option<&str>) -> Self {
        let of_member = document.map_or_else(|| self.document.clone(), |part| self.member(part));
        Self { root: self.root, schema: format!("{}/{schema}", self.schema), document: of_member }
    }

    /// The place of a member of what stands here.
    fn member(&self, name: &str) -> String {
        format!("{}/{}", self.document, escaped(name))
    }
}

/// A part of a pointer.
fn escaped(part: &str) -> String {
    part.replace('~', "~0").replace('/', "~1")
}

fn is_of(document: &Json, ty: &str) -> bool {
    match ty {
        "null" => document.is_null(),
        "boolean" => document.is_boolean(),
        "object" => document.is_object(),
        "array" => document.is_array(),
        "string" => document.is_string(),
        "number" => document.is_number(),
        "integer" => document.is_i64() || document.is_u64(),
        _ => false,
    }
}

/// Two documents are the same by MySQL's order of them.
fn same(a: &Json, b: &Json) -> Result<bool> {
    let (mut left, mut right) = (Vec::new(), Vec::new());
    push_order(a, &mut left)?;
    push_order(b, &mut right)?;
    Ok(left == right)
}

fn check(schema: &Json, document: &Json, place: &Place<'_>, depth: usize) -> Checked {
    work::step(1)?;
    let Json::Object(schema) = schema else { return Ok(None) };
    if depth > DEEPEST {
        return Err(Error::new(Condition::StatementTooComplex, "the JSON Schema nests too deeply"));
    }
    if let Some(Json::String(to)) = schema.get("$ref") {
        let Some(pointer) = to.strip_prefix('#') else { return Err(Error::unsupported("references in JSON Schema")) };
        // What leads nowhere asks nothing.
        let Some(of) = place.root.pointer(pointer) else { return Ok(None) };
        let there = Place { root: place.root, schema: pointer.to_owned(), document: place.document.clone() };
        return check(of, document, &there, depth + 1);
    }
    let deeper = depth + 1;
    let is_typed = match schema.get("type") {
        Some(Json::String(ty)) => is_of(document, ty),
        Some(Json::Array(types)) => types.iter().filter_map(Json::as_str).any(|ty| is_of(document, ty)),
        _ => true,
    };
    if !is_typed {
        return place.failed("type");
    }
    if let Some(Json::Array(members)) = schema.get("enum") {
        let mut known = false;
        for member in members {
            known |= same(member, document)?;
        }
        if !known {
            return place.failed("enum");
        }
    }
    let of_kind = match document {
        Json::Number(number) => number.as_f64().map_or(Ok(None), |number| of_number(schema, number, place)),
        Json::String(letters) => of_text(schema, letters, place),
        Json::Array(members) => of_array(schema, members, place, deeper),
        Json::Object(members) => of_object(schema, members, place, deeper),
        Json::Null | Json::Bool(_) => Ok(None),
    };
    if let Some(failed) = of_kind? {
        return Ok(Some(failed));
    }
    of_several(schema, document, place, deeper)
}

fn of_number(schema: &Map<String, Json>, number: f64, place: &Place<'_>) -> Checked {
    let bound = |key: &str| schema.get(key).and_then(Json::as_f64);
    let is_exclusive = |key: &str| schema.get(key).and_then(Json::as_bool).unwrap_or(false);
    if let Some(least) = bound("minimum") {
        let exclusive = is_exclusive("exclusiveMinimum");
        if number < least || exclusive && number == least {
            return place.failed(if exclusive && number == least { "exclusiveMinimum" } else { "minimum" });
        }
    }
    if let Some(most) = bound("maximum") {
        let exclusive = is_exclusive("exclusiveMaximum");
        if number > most || exclusive && number == most {
            return place.failed(if exclusive && number == most { "exclusiveMaximum" } else { "maximum" });
        }
    }
    match bound("multipleOf").filter(|step| *step > 0.0) {
        Some(step) if ((number / step) - (number / step).round()).abs() > 1e-9 => place.failed("multipleOf"),
        _ => Ok(None),
    }
}

fn of_text(schema: &Map<String, Json>, letters: &str, place: &Place<'_>) -> Checked {
    let count = letters.chars().count() as u64;
    let bound = |key: &str| schema.get(key).and_then(Json::as_u64);
    if bound("maxLength").is_some_and(|most| count > most) {
        return place.failed("maxLength");
    }
    if bound("minLength").is_some_and(|least| count < least) {
        return place.failed("minLength");
    }
    match schema.get("pattern").and_then(Json::as_str) {
        Some(pattern) if !regex::is_match(letters, pattern, "")? => place.failed("pattern"),
        _ => Ok(None),
    }
}

fn of_array(schema: &Map<String, Json>, members: &[Json], place: &Place<'_>, depth: usize) -> Checked {
    let bound = |key: &str| schema.get(key).and_then(Json::as_u64);
    let count = members.len() as u64;
    for (at, member) in members.iter().enumerate() {
        let number = at.to_string();
        let (of, keyword) = match schema.get("items") {
            Some(Json::Array(items)) => match items.get(at) {
                Some(item) => (Some(item), format!("items/{at}")),
                None => match schema.get("additionalItems") {
                    Some(Json::Bool(false)) => return place.failed("additionalItems"),
                    other => (other, "additionalItems".to_owned()),
                },
            },
            other => (other, "items".to_owned()),
        };
        if let Some(of) = of
            && let Some(failed) = check(of, member, &place.at(&keyword, Some(&number)), depth)?
        {
            return Ok(Some(failed));
        }
    }
    if bound("minItems").is_some_and(|least| count < least) {
        return place.failed("minItems");
    }
    if bound("maxItems").is_some_and(|most| count > most) {
        return place.failed("maxItems");
    }
    if schema.get("uniqueItems").and_then(Json::as_bool) == Some(true) {
        let mut known = std::collections::HashSet::new();
        for member in members {
            let mut key = Vec::new();
            push_order(member, &mut key)?;
            if !known.insert(key) {
                return place.failed("uniqueItems");
            }
        }
    }
    Ok(None)
}

fn of_object(schema: &Map<String, Json>, members: &Map<String, Json>, place: &Place<'_>, depth: usize) -> Checked {
    let object = |key: &str| schema.get(key).and_then(Json::as_object);
    for (name, member) in members {
        let mut is_known = false;
        if let Some(of) = object("properties").and_then(|all| all.get(name)) {
            is_known = true;
            let place = place.at(&format!("properties/{}", escaped(name)), Some(name));
            if let Some(failed) = check(of, member, &place, depth)? {
                return Ok(Some(failed));
            }
        }
        for (pattern, of) in object("patternProperties").into_iter().flatten() {
            if !regex::is_match(name, pattern, "")? {
                continue;
            }
            is_known = true;
            let place = place.at(&format!("patternProperties/{}", escaped(pattern)), Some(name));
            if let Some(failed) = check(of, member, &place, depth)? {
                return Ok(Some(failed));
            }
        }
        match schema.get("additionalProperties").filter(|_| !is_known) {
            Some(Json::Bool(false)) => {
                let (document, schema) = (place.member(name), place.schema.clone());
                return Ok(Some(Failure { document, schema, keyword: "additionalProperties" }));
            }
            Some(of) => {
                if let Some(failed) = check(of, member, &place.at("additionalProperties", Some(name)), depth)? {
                    return Ok(Some(failed));
                }
            }
            None => {}
        }
    }
    let mut required = schema.get("required").and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str);
    if required.any(|name| !members.contains_key(name)) {
        return place.failed("required");
    }
    let count = members.len() as u64;
    let bound = |key: &str| schema.get(key).and_then(Json::as_u64);
    if bound("minProperties").is_some_and(|least| count < least) {
        return place.failed("minProperties");
    }
    if bound("maxProperties").is_some_and(|most| count > most) {
        return place.failed("maxProperties");
    }
    for (name, of) in object("dependencies").into_iter().flatten().filter(|(name, _)| members.contains_key(*name)) {
        match of {
            Json::Array(names) => {
                if names.iter().filter_map(Json::as_str).any(|name| !members.contains_key(name)) {
                    return place.failed("dependencies");
                }
            }
            of => {
                let place = place.at(&format!("dependencies/{}", escaped(name)), None);
                if let Some(failed) = check(of, &Json::Object(members.clone()), &place, depth)? {
                    return Ok(Some(failed));
                }
            }
        }
    }
    Ok(None)
}

/// allOf, anyOf, oneOf, not.
fn of_several(schema: &Map<String, Json>, document: &Json, place: &Place<'_>, depth: usize) -> Checked {
    let all = |key: &str| schema.get(key).and_then(Json::as_array);
    let holding = |key: &str, schemas: &[Json]| -> Result<usize> {
        let mut holding = 0;
        for (at, of) in schemas.iter().enumerate() {
            holding += usize::from(check(of, document, &place.at(&format!("{key}/{at}"), None), depth)?.is_none());
        }
        Ok(holding)
    };
    if let Some(schemas) = all("allOf")
        && holding("allOf", schemas)? < schemas.len()
    {
        return place.failed("allOf");
    }
    if let Some(schemas) = all("anyOf")
        && holding("anyOf", schemas)? == 0
    {
        return place.failed("anyOf");
    }
    if let Some(schemas) = all("oneOf")
        && holding("oneOf", schemas)? != 1
    {
        return place.failed("oneOf");
    }
    if let Some(of) = schema.get("not")
        && check(of, document, &place.at("not", None), depth)?.is_none()
    {
        return place.failed("not");
    }
    Ok(None)
}
