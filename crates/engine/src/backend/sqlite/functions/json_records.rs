//! JSON objects as rows: `json_populate_record` and its kin.

use rowferry_dialect::composite::live;
use rowferry_dialect::ir::Value;
use rowferry_dialect::values::record::{self, Row as Record};
use rowferry_dialect::values::{self, Settings, ValueRef, array, json};
use rowferry_dialect::{Condition, Error, Result, Type, work};

use super::cast::{type_at, type_from_words};
use super::json::{kind, parts};
use super::rows::Source;
use super::rows_sources::{Arguments, none};
use super::{Call, Row};

pub(super) const ROWS: &[Row] = &[Row::new("rf_json_record", 4, one).lenient()];

/// The row that an object (0) makes of another (1), of a type (2), for a function (3).
fn one(call: &Call<'_>) -> Result<Value> {
    let base = if call.is_null(1) { None } else { Some(call.bytes(1)?) };
    if call.is_null(0) {
        return Ok(call.owned(1));
    }
    let ty = type_at(call, 2)?;
    if ty == Type::RECORD && base.is_none() {
        return Err(no_type(call.text(3)?));
    }
    let object = call.text(0)?;
    call.with_settings(|settings| composite(object, &ty, base, settings))
}

fn no_type(function: &str) -> Error {
    Error::new(Condition::FeatureNotSupported, format!("could not determine row type for result of {function}")).hint(
        "Provide a non-null record argument, or call the function in the FROM clause using a column definition \
             list.",
    )
}

/// The rows that a JSON value (0) makes: of an array each member, where the function (3) is one of sets.
pub(super) fn rows(call: &Arguments<'_>) -> Result<Source> {
    let function = call.needed(3)?;
    let ty = type_from_words(call.needed(2)?);
    let base = call.text(1)?.map(str::to_owned);
    let settings = call.context.settings();
    let all = call.text(0)?;
    let checked = |rows: Vec<Value>| -> Result<Source> {
        if let Some(rules) = call.text(4)? {
            call.context.state().check_rules(rules, &rows)?;
        }
        Ok(Box::new(rows.into_iter().map(|row| Ok(vec![row]))))
    };
    if ty == Type::RECORD && base.is_none() {
        return Err(no_type(function));
    }
    let base = base.as_deref().map(str::as_bytes);
    if !function.ends_with("set") {
        let row = match (all, base) {
            (Some(all), base) => composite(all, &ty, base, &settings)?,
            (None, Some(base)) => ValueRef::Text(base).to_value(),
            (None, None) => Value::Null,
        };
        return checked(vec![row]);
    }
    let Some(all) = all else { return none() };
    let refused =
        |what: &str| Err(Error::new(Condition::InvalidParameterValue, format!("cannot call {function} on {what}")));
    match (kind(all), function.starts_with("jsonb")) {
        ("array", _) => {}
        (_, true) => return refused("a non-array"),
        ("object", false) => return refused("an object"),
        _ => return refused("a scalar"),
    }
    let mut made = Vec::new();
    for (_, member) in parts(all)? {
        if kind(member) != "object" {
            let message = format!("argument of {function} must be an array of objects");
            return Err(Error::new(Condition::InvalidParameterValue, message));
        }
        made.push(composite(member, &ty, base, &settings)?);
    }
    checked(made)
}

/// An object as a row of a type; fields that it does not have are those of another row.
fn composite(object: &str, ty: &Type, base: Option<&[u8]>, settings: &Settings) -> Result<Value> {
    match kind(object) {
        "object" => {}
        "array" => {
            let message = "cannot call populate_composite on an array";
            return Err(Error::new(Condition::InvalidParameterValue, message));
        }
        _ => {
            let message = "cannot call populate_composite on a scalar";
            return Err(Error::new(Condition::InvalidParameterValue, message));
        }
    }
    let base = base.map(|base| Record::read(base, ty)).transpose()?;
    let fields = match (&base, ty.row_fields()) {
        (Some(base), _) => base.fields(),
        (None, Some(fields)) => fields,
        (None, None) => return Err(not_a_row()),
    };
    let members = parts(object)?;
    if members.is_empty()
        && let Some(base) = &base
        && !matches!(ty, Type::Record(_))
    {
        let values = (0..fields.len()).map(|at| base.value(at)).collect::<Result<Vec<_>>>()?;
        return record::stored(values.iter().map(Value::as_ref)).map(Value::Text);
    }
    let keys: Vec<(String, &str)> = members
        .into_iter()
        .filter_map(|(key, value)| Some((serde_json::from_str::<String>(key?).ok()?, value)))
        .collect();
    let mut made = Vec::with_capacity(fields.len());
    for (at, field) in fields.iter().enumerate() {
        let found = keys.iter().rev().find(|(key, _)| !field.dropped && *key == field.name);
        made.push(match (found, &base) {
            (Some((key, value)), base) => {
                let before = base.as_ref().map(|base| base.value(at)).transpose()?;
                value_of(value, &field.ty, before.as_ref(), &Place { key, indexes: Vec::new() }, settings)?
            }
            (None, Some(base)) => base.value(at)?,
            (None, None) => Value::Null,
        });
    }
    if let Type::Record(_) = ty {
        let told = live(fields).map(|(_, field)| (field.name.as_str(), &field.ty));
        let told = rowferry_dialect::user_type::told_fields(told);
        return record::stored_record(&told, made.iter().map(Value::as_ref)).map(Value::Text);
    }
    record::stored(made.iter().map(Value::as_ref)).map(Value::Text)
}

fn not_a_row() -> Error {
    Error::new(Condition::DatatypeMismatch, "first argument must be a row type")
}

/// Where a value stands, for hints.
struct Place<'k> {
    key: &'k str,
    indexes: Vec<usize>,
}

impl Place<'_> {
    fn hint(&self) -> String {
        if self.indexes.is_empty() {
            return format!("See the value of key \"{}\".", self.key);
        }
        let indexes: String = self.indexes.iter().map(|at| format!("[{at}]")).collect();
        format!("See the array element {indexes} of key \"{}\".", self.key)
    }
}

/// A JSON value as a value of a type; what a row does not say is what the value before had there.
fn value_of(part: &str, ty: &Type, before: Option<&Value>, place: &Place<'_>, settings: &Settings) -> Result<Value> {
    work::step(part.len() + 16)?;
    let shown = kind(part);
    if shown == "null" {
        return Ok(Value::Null);
    }
    match ty.through_domains() {
        Type::Json => Ok(Value::Text(part.trim().to_owned())),
        Type::Jsonb => json::normalize(part).map(Value::Text),
        Type::Array(element) if shown != "string" => {
            if shown != "array" {
                return Err(no_array(place));
            }
            let mut out = String::new();
            let depth = depth_of(part)?;
            let mut sizes = vec![None; depth];
            let mut place = Place { key: place.key, indexes: Vec::new() };
            members(&mut out, part, element, &mut sizes, &mut place, settings)?;
            Ok(Value::Text(if sizes.contains(&Some(0)) { "[]".to_owned() } else { out }))
        }
        ty if ty.is_row() && shown != "string" => {
            let base = match before {
                Some(Value::Text(row)) => Some(row.as_bytes()),
                _ => None,
            };
            composite(part, ty, base, settings)
        }
        ty if shown == "string" => {
            let text: String = serde_json::from_str(part.trim())
                .map_err(|_| Error::new(Condition::InvalidTextRepresentation, "invalid input syntax for type json"))?;
            values::input(&text, ty, settings)
        }
        ty => values::input(part.trim(), ty, settings),
    }
}

fn no_array(place: &Place<'_>) -> Error {
    Error::new(Condition::InvalidTextRepresentation, "expected JSON array").hint(place.hint())
}

/// How many arrays are nested at the front.
fn depth_of(part: &str) -> Result<usize> {
    Ok(match parts(part)?.first() {
        Some((_, first)) if kind(first) == "array" => 1 + depth_of(first)?,
        _ => 1,
    })
}

/// The members of an array, in so many dimensions as there are sizes.
fn members(
    out: &mut String,
    part: &str,
    element: &Type,
    sizes: &mut [Option<usize>],
    place: &mut Place<'_>,
    settings: &Settings,
) -> Result<()> {
    let Some((size, inner)) = sizes.split_first_mut() else { return Ok(()) };
    let found = parts(part)?;
    if *size.get_or_insert(found.len()) != found.len() {
        return Err(Error::new(Condition::InvalidTextRepresentation, "malformed JSON array")
            .detail("Multidimensional arrays must have sub-arrays with matching dimensions."));
    }
    out.push('[');
    for (at, (_, member)) in found.into_iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        place.indexes.push(at);
        if inner.is_empty() {
            let value = value_of(member, element, None, place, settings)?;
            array::push_element(out, value.as_ref(), element);
        } else if kind(member) == "array" {
            members(out, member, element, inner, place, settings)?;
        } else {
            return Err(no_array(place));
        }
        place.indexes.pop();
    }
    out.push(']');
    Ok(())
}
