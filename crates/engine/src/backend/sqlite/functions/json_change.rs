//! JSON changed: `jsonb` with parts set, inserted, removed, joined.

use rowferry_dialect::ir::Value;
use rowferry_dialect::values::json;
use rowferry_dialect::{Condition, Error, Result};
use serde_json::Value as Json;

use super::call::text;
use super::json::path_with_nulls;
use super::{Call, Row};

pub(super) const ROWS: &[Row] = &[
    Row::new("rf_jsonb_concat", 2, |call| normal(&concatenate(parsed(call, 0)?, parsed(call, 1)?))),
    Row::new("rf_jsonb_delete", 2, |call| delete_keys(call, &[call.text(1)?.to_owned()])),
    Row::new("rf_jsonb_delete_all", 2, |call| {
        delete_keys(call, &steps(call)?.into_iter().flatten().collect::<Vec<_>>())
    }),
    Row::new("rf_jsonb_delete_at", 2, delete_at),
    Row::new("rf_jsonb_delete_path", 2, |call| {
        let steps = steps(call)?;
        let mut all = container(call, "cannot delete path in scalar")?;
        if !is_empty(&all) {
            change(&mut all, &steps, 0, &Change::Remove)?;
        }
        normal(&all)
    }),
    Row::new("rf_jsonb_set", 3, |call| {
        let create = call.given(3).is_none() || call.boolean(3)?;
        let (steps, new) = (steps(call)?, parsed(call, 2)?);
        let mut all = container(call, "cannot set path in scalar")?;
        if create || !is_empty(&all) {
            change(&mut all, &steps, 0, &Change::Set { new, create })?;
        }
        normal(&all)
    })
    .optional(1),
    Row::new("rf_jsonb_set_lax", 3, set_lax).optional(2).lenient(),
    Row::new("rf_jsonb_insert", 3, |call| {
        let after = call.given(3).is_some() && call.boolean(3)?;
        let (steps, new) = (steps(call)?, parsed(call, 2)?);
        let mut all = container(call, "cannot set path in scalar")?;
        change(&mut all, &steps, 0, &Change::Insert { new, after })?;
        normal(&all)
    })
    .optional(1),
    Row::new("rf_jsonb_pretty", 1, |call| {
        let mut out = String::new();
        pretty(&mut out, &parsed(call, 0)?, 0)?;
        text(out)
    }),
    Row::new("rf_json_strip_nulls", 1, |call| text(json::strip_nulls(call.text(0)?)?)),
    Row::new("rf_jsonb_strip_nulls", 1, |call| normal(&strip(parsed(call, 0)?))),
];

/// The steps of a path; an array of one dimension.
fn steps(call: &Call<'_>) -> Result<Vec<Option<String>>> {
    if super::arrays::parse(call.text(1)?)?.dimensions.len() > 1 {
        return Err(Error::new(Condition::ArraySubscriptError, "wrong number of array subscripts"));
    }
    path_with_nulls(call, 1)
}

fn parsed(call: &Call<'_>, at: usize) -> Result<Json> {
    json::parse(call.text(at)?)
}

fn normal(value: &Json) -> Result<Value> {
    let mut out = String::new();
    json::write(&mut out, value)?;
    text(out)
}

fn invalid(message: impl Into<String>) -> Error {
    Error::new(Condition::InvalidParameterValue, message)
}

/// `jsonb_set_lax(target, path, value, create, what NULL does)`.
fn set_lax(call: &Call<'_>) -> Result<Value> {
    let treatment = match call.len() {
        0..=4 => "use_json_null",
        _ if call.is_null(4) => "",
        _ => call.text(4)?,
    };
    if call.is_null(0) || call.is_null(1) || (call.len() > 3 && call.is_null(3)) {
        return Ok(Value::Null);
    }
    let known = matches!(treatment, "raise_exception" | "use_json_null" | "delete_key" | "return_target");
    if !known && (call.len() > 4 && call.is_null(4) || call.is_null(2)) {
        return Err(invalid(
            "null_value_treatment must be \"delete_key\", \"return_target\", \"use_json_null\", or \"raise_exception\"",
        ));
    }
    let create = call.given(3).is_none() || call.boolean(3)?;
    let what = match (call.is_null(2), treatment) {
        (false, _) => Change::Set { new: parsed(call, 2)?, create },
        (true, "use_json_null") => Change::Set { new: Json::Null, create },
        (true, "delete_key") => Change::Remove,
        (true, "return_target") => return Ok(call.owned(0)),
        (true, _) => {
            return Err(Error::new(Condition::NullValueNotAllowed, "JSON value must not be null")
                .detail("Exception was raised because null_value_treatment is \"raise_exception\".")
                .hint(
                    "To avoid, either change the null_value_treatment argument or ensure that an SQL NULL is not passed.",
                ));
        }
    };
    let refusal =
        if matches!(what, Change::Remove) { "cannot delete path in scalar" } else { "cannot set path in scalar" };
    let mut all = container(call, refusal)?;
    if !is_empty(&all) || matches!(what, Change::Set { create: true, .. }) {
        change(&mut all, &steps(call)?, 0, &what)?;
    }
    normal(&all)
}

/// In what is empty nothing can be replaced or removed, whatever the path says.
fn is_empty(all: &Json) -> bool {
    all.as_array().is_some_and(Vec::is_empty) || all.as_object().is_some_and(serde_json::Map::is_empty)
}

fn container(call: &Call<'_>, refusal: &str) -> Result<Json> {
    let all = parsed(call, 0)?;
    if all.is_object() || all.is_array() { Ok(all) } else { Err(invalid(refusal)) }
}

fn concatenate(left: Json, right: Json) -> Json {
    match (left, right) {
        (Json::Object(mut left), Json::Object(right)) => {
            left.extend(right);
            Json::Object(left)
        }
        (left, right) => {
            let members = |value| match value {
                Json::Array(members) => members,
                single => vec![single],
            };
            let mut all = members(left);
            all.extend(members(right));
            Json::Array(all)
        }
    }
}

fn delete_keys(call: &Call<'_>, keys: &[String]) -> Result<Value> {
    let mut all = container(call, "cannot delete from scalar")?;
    match &mut all {
        Json::Object(members) => members.retain(|key, _| !keys.contains(key)),
        Json::Array(members) => {
            members.retain(|member| !member.as_str().is_some_and(|text| keys.iter().any(|key| key == text)));
        }
        _ => {}
    }
    normal(&all)
}

fn delete_at(call: &Call<'_>) -> Result<Value> {
    let index = call.integer(1)?;
    match container(call, "cannot delete from scalar")? {
        Json::Array(mut members) => {
            if let Some(at) = place(index, members.len()) {
                members.remove(at);
            }
            normal(&Json::Array(members))
        }
        _ => Err(invalid("cannot delete from object using integer index")),
    }
}

fn place(index: i64, length: usize) -> Option<usize> {
    let at = if index < 0 { index + length as i64 } else { index };
    usize::try_from(at).ok().filter(|at| *at < length)
}

enum Change {
    Remove,
    Set { new: Json, create: bool },
    Insert { new: Json, after: bool },
}

fn change(here: &mut Json, steps: &[Option<String>], depth: usize, what: &Change) -> Result<()> {
    let Some(step) = steps.get(depth) else { return Ok(()) };
    let step = step.as_ref().ok_or_else(|| {
        Error::new(Condition::NullValueNotAllowed, format!("path element at position {} is null", depth + 1))
    })?;
    let last = depth + 1 == steps.len();
    match here {
        Json::Object(members) => {
            if !last {
                return members.get_mut(step).map_or(Ok(()), |member| change(member, steps, depth + 1, what));
            }
            match what {
                Change::Remove => {
                    members.shift_remove(step);
                }
                Change::Set { new, create } => {
                    if *create || members.contains_key(step) {
                        members.insert(step.clone(), new.clone());
                    }
                }
                Change::Insert { new, .. } => {
                    if members.contains_key(step) {
                        return Err(invalid("cannot replace existing key")
                            .hint("Try using the function jsonb_set to replace key value."));
                    }
                    members.insert(step.clone(), new.clone());
                }
            }
            Ok(())
        }
        Json::Array(members) => {
            let index: i64 = step.trim().parse().map_err(|_| {
                Error::new(
                    Condition::InvalidTextRepresentation,
                    format!("path element at position {} is not an integer: \"{step}\"", depth + 1),
                )
            })?;
            let found = place(index, members.len());
            if !last {
                return found.map_or(Ok(()), |at| change(&mut members[at], steps, depth + 1, what));
            }
            match (what, found) {
                (Change::Remove, Some(at)) => {
                    members.remove(at);
                }
                (Change::Remove, None) => {}
                (Change::Set { new, .. }, Some(at)) => members[at] = new.clone(),
                (Change::Insert { new, after }, Some(at)) => members.insert(at + usize::from(*after), new.clone()),
                // Beyond the ends a new element joins at that end.
                (Change::Set { new, create: true } | Change::Insert { new, .. }, None) => {
                    members.insert(if index < 0 { 0 } else { members.len() }, new.clone());
                }
                (Change::Set { .. }, None) => {}
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

fn strip(value: Json) -> Json {
    match value {
        Json::Object(members) => Json::Object(
            members
                .into_iter()
                .filter(|(_, member)| !member.is_null())
                .map(|(key, member)| (key, strip(member)))
                .collect(),
        ),
        Json::Array(members) => Json::Array(members.into_iter().map(strip).collect()),
        other => other,
    }
}

fn pretty(out: &mut String, value: &Json, depth: usize) -> Result<()> {
    let indent = |out: &mut String, depth: usize| {
        out.push('\n');
        out.push_str(&"    ".repeat(depth));
    };
    match value {
        Json::Array(members) => {
            out.push('[');
            for (at, member) in members.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                indent(out, depth + 1);
                pretty(out, member, depth + 1)?;
            }
            indent(out, depth);
            out.push(']');
        }
        Json::Object(members) => {
            out.push('{');
            for (at, (key, member)) in members.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                indent(out, depth + 1);
                json::quote(out, key);
                out.push_str(": ");
                pretty(out, member, depth + 1)?;
            }
            indent(out, depth);
            out.push('}');
        }
        scalar => json::write(out, scalar)?,
    }
    Ok(())
}
