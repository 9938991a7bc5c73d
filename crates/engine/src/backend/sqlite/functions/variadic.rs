//! Functions of any number of arguments of any types, given as one array behind the word VARIADIC.

use std::borrow::Cow;

use rowferry_dialect::ir::Value;
use rowferry_dialect::values::array::{self, Array};
use rowferry_dialect::values::{self, json};
use rowferry_dialect::{Condition, Error, Result, Type, work};
use serde_json::Value as Json;

use super::call::{integer, text};
use super::cast::type_at;
use super::{Call, Row, arrays, strings};

pub(super) const ROWS: &[Row] = &[
    Row::new("rf_format_array", 3, format).lenient(),
    Row::new("rf_num_nulls_array", 1, |call| {
        integer(arrays::array_at(call, 0)?.members.iter().filter(|member| member.is_null()).count() as i64)
    }),
    Row::new("rf_num_nonnulls_array", 1, |call| {
        integer(arrays::array_at(call, 0)?.members.iter().filter(|member| !member.is_null()).count() as i64)
    }),
    Row::new("rf_json_build_array_of", 2, |call| text(build_array(call)?)),
    Row::new("rf_jsonb_build_array_of", 2, |call| text(json::normalize(&build_array(call)?)?)),
    Row::new("rf_json_build_object_of", 2, |call| text(build_object(call, false)?)),
    Row::new("rf_jsonb_build_object_of", 2, |call| text(json::normalize(&build_object(call, true)?)?)),
];

/// The type of an array's members, from its words.
fn element_type(call: &Call<'_>, at: usize) -> Result<Type> {
    Ok(match type_at(call, at)? {
        Type::Array(element) => *element,
        element => element,
    })
}

/// `format(pattern, element type, array)`: no array is one without members.
fn format(call: &Call<'_>) -> Result<Value> {
    if call.is_null(0) {
        return Ok(Value::Null);
    }
    let element = element_type(call, 1)?;
    let members = if call.is_null(2) { Vec::new() } else { arrays::array_at(call, 2)?.members };
    let argument = |at: usize| -> Result<Option<Cow<'static, str>>> {
        match members.get(at - 1).and_then(|member| array::from_json(member, &element)) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => {
                call.with_settings(|settings| values::output(&value, &element, settings)).map(|text| Some(text.into()))
            }
        }
    };
    strings::formatted(call.text(0)?, members.len() + 1, &argument)
}

/// `array, its type`: each member as JSON.
fn members(call: &Call<'_>) -> Result<Vec<(Json, String)>> {
    let element = element_type(call, 1)?;
    let Array { members, .. } = arrays::array_at(call, 0)?;
    let mut shown = Vec::with_capacity(members.len());
    for member in members {
        work::step(64)?;
        let value = array::from_json(&member, &element).unwrap_or(Value::Null);
        let mut out = String::new();
        call.with_settings(|settings| super::json::write(&mut out, &value, &element, settings))?;
        shown.push((member, out));
    }
    Ok(shown)
}

fn build_array(call: &Call<'_>) -> Result<String> {
    let members: Vec<String> = members(call)?.into_iter().map(|(_, shown)| shown).collect();
    Ok(format!("[{}]", members.join(", ")))
}

fn build_object(call: &Call<'_>, binary: bool) -> Result<String> {
    let element = element_type(call, 1)?;
    let members = members(call)?;
    let name = if binary { "jsonb_build_object" } else { "json_build_object" };
    if members.len() % 2 != 0 {
        let message = "argument list must have even number of elements";
        return Err(Error::new(Condition::InvalidParameterValue, message)
            .hint(format!("The arguments of {name}() must consist of alternating keys and values.")));
    }
    let mut out = "{".to_owned();
    for (at, pair) in members.chunks_exact(2).enumerate() {
        let [(key, _), (_, value)] = pair else { return Err(Error::internal("a pair of another length")) };
        let Some(key) = array::from_json(key, &element).filter(|key| *key != Value::Null) else {
            let number = at * 2 + 1;
            let invalid = |message: String| Error::new(Condition::InvalidParameterValue, message);
            return Err(match binary {
                true => invalid(format!("argument {number}: key must not be null")),
                false => invalid(format!("argument {number} cannot be null")).hint("Object keys should be text."),
            });
        };
        let key = call.with_settings(|settings| values::output(&key, &element, settings))?;
        out.push_str(if at > 0 { ", " } else { "" });
        json::quote_long(&mut out, &key)?;
        out.push_str(" : ");
        work::append_text(&mut out, value)?;
    }
    out.push('}');
    Ok(out)
}
