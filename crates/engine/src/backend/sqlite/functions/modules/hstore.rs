//! `hstore`.

use std::cmp::Ordering;

use rowferry_dialect::ir::Value;
use rowferry_dialect::scalar::hstore::{Hstore, Pair, compare, null_key};
use rowferry_dialect::values::array::{Array, Dimension};
use rowferry_dialect::values::record::Row as Record;
use rowferry_dialect::values::{self, json};
use rowferry_dialect::{Condition, Error, Result};
use serde_json::Value as Json;

use super::super::arrays::{parse, stored};
use super::super::call::{boolean, integer, text};
use super::super::cast::type_at;
use super::super::rows::Source;
use super::super::rows_sources::Arguments;
use super::{Call, Member, RowsMember};

pub(super) const MEMBERS: &[Member] = &[
    Member::new("hstore_akeys", |call| texts(pairs(call, 0)?.into_pairs().into_iter().map(|(key, _)| Some(key)))),
    Member::new("hstore_avals", |call| texts(pairs(call, 0)?.into_pairs().into_iter().map(|(_, value)| value))),
    Member::new("hstore_cmp", |call| integer(order(call)? as i32)),
    Member::new("hstore_concat", |call| {
        let mut all = pairs(call, 1)?.into_pairs();
        all.extend(pairs(call, 0)?.into_pairs());
        made(Hstore::new(all))
    }),
    Member::new("hstore_contained", |call| contains(&pairs(call, 1)?, &pairs(call, 0)?)),
    Member::new("hstore_contains", |call| contains(&pairs(call, 0)?, &pairs(call, 1)?)),
    Member::new("hstore_defined", |call| boolean(matches!(pairs(call, 0)?.get(call.text(1)?), Some(Some(_))))),
    Member::new("hstore_delete", |call| {
        let gone = call.text(1)?;
        kept(call, |(key, _)| key != gone)
    }),
    Member::new("hstore_delete_array", |call| {
        let gone = keys(call, 1)?;
        kept(call, |(key, _)| !gone.iter().flatten().any(|other| other == key))
    }),
    Member::new("hstore_delete_hstore", |call| {
        let gone = pairs(call, 1)?;
        kept(call, |(key, value)| gone.get(key) != Some(value.as_deref()))
    }),
    Member::new("hstore_eq", |call| boolean(order(call)?.is_eq())),
    Member::new("hstore_exists", |call| boolean(pairs(call, 0)?.get(call.text(1)?).is_some())),
    Member::new("hstore_exists_all", |call| {
        let pairs = pairs(call, 0)?;
        boolean(keys(call, 1)?.iter().flatten().all(|key| pairs.get(key).is_some()))
    }),
    Member::new("hstore_exists_any", |call| {
        let pairs = pairs(call, 0)?;
        boolean(keys(call, 1)?.iter().flatten().any(|key| pairs.get(key).is_some()))
    }),
    Member::new("hstore_fetchval", |call| match pairs(call, 0)?.get(call.text(1)?) {
        Some(Some(value)) => text(value),
        _ => Ok(Value::Null),
    }),
    Member::new("hstore_from_array", |call| made(Hstore::from_array(&parse(call.text(0)?)?)?)),
    Member::new("hstore_from_arrays", from_arrays).lenient(),
    Member::new("hstore_from_record", from_record).lenient(),
    Member::new("hstore_from_text", |call| {
        if call.is_null(0) {
            return Ok(Value::Null);
        }
        made(Hstore::new(vec![(call.text(0)?.to_owned(), optional(call, 1)?)]))
    })
    .lenient(),
    Member::new("hstore_ge", |call| boolean(order(call)?.is_ge())),
    Member::new("hstore_gt", |call| boolean(order(call)?.is_gt())),
    Member::new("hstore_le", |call| boolean(order(call)?.is_le())),
    Member::new("hstore_lt", |call| boolean(order(call)?.is_lt())),
    Member::new("hstore_ne", |call| boolean(order(call)?.is_ne())),
    Member::new("hstore_slice_to_array", |call| {
        let pairs = pairs(call, 0)?;
        let mut keys = parse(call.text(1)?)?;
        for key in &mut keys.members {
            *key = key.as_str().and_then(|key| pairs.get(key)).flatten().map_or(Json::Null, Json::from);
        }
        stored(keys)
    }),
    Member::new("hstore_slice_to_hstore", |call| {
        let pairs = pairs(call, 0)?;
        let keys = keys(call, 1)?.into_iter().flatten();
        let found =
            keys.filter_map(|key| pairs.get(&key).map(|value| value.map(str::to_owned)).map(|value| (key, value)));
        made(Hstore::new(found.collect()))
    }),
    Member::new("hstore_subscript_assign", |call| {
        if call.is_null(2) {
            let message = "hstore subscript in assignment must not be null";
            return Err(Error::new(Condition::NullValueNotAllowed, message));
        }
        let mut all = vec![(call.text(2)?.to_owned(), optional(call, 1)?)];
        if !call.is_null(0) {
            all.extend(pairs(call, 0)?.into_pairs());
        }
        made(Hstore::new(all))
    })
    .lenient(),
    Member::new("hstore_to_array", |call| {
        texts(pairs(call, 0)?.into_pairs().into_iter().flat_map(|(key, value)| [Some(key), value]))
    }),
    Member::new("hstore_to_json", |call| text(pairs(call, 0)?.to_json(false))),
    Member::new("hstore_to_json_loose", |call| text(pairs(call, 0)?.to_json(true))),
    Member::new("hstore_to_jsonb", |call| text(json::normalize(&pairs(call, 0)?.to_json(false))?)),
    Member::new("hstore_to_jsonb_loose", |call| text(json::normalize(&pairs(call, 0)?.to_json(true))?)),
    Member::new("hstore_to_matrix", |call| {
        let pairs = pairs(call, 0)?.into_pairs();
        let dimensions = [pairs.len(), 2].map(|length| Dimension { lower: 1, length }).to_vec();
        let members = pairs.into_iter().flat_map(|(key, value)| [Json::from(key), Json::from(value)]).collect();
        stored(Array::with_bounds(dimensions, members))
    }),
    // Values of the second format that there was.
    Member::new("hstore_version_diag", |_| integer(2)),
];

pub(super) const ROWS: &[RowsMember] = &[
    ("hstore_each", |call| rows(call, |(key, value)| vec![Value::Text(key), value.map_or(Value::Null, Value::Text)])),
    ("hstore_skeys", |call| rows(call, |(key, _)| vec![Value::Text(key)])),
    ("hstore_svals", |call| rows(call, |(_, value)| vec![value.map_or(Value::Null, Value::Text)])),
];

fn rows(call: &Arguments<'_>, row: fn(Pair) -> Vec<Value>) -> Result<Source> {
    let pairs = Hstore::parse(call.needed(0)?)?.into_pairs();
    Ok(Box::new(pairs.into_iter().map(move |pair| Ok(row(pair)))))
}

fn pairs(call: &Call<'_>, at: usize) -> Result<Hstore> {
    Hstore::parse(call.text(at)?)
}

fn made(pairs: Hstore) -> Result<Value> {
    text(pairs.print())
}

/// A text argument, or NULL.
fn optional(call: &Call<'_>, at: usize) -> Result<Option<String>> {
    if call.is_null(at) { Ok(None) } else { Ok(Some(call.text(at)?.to_owned())) }
}

fn order(call: &Call<'_>) -> Result<Ordering> {
    Ok(compare(call.text(0)?, call.text(1)?))
}

/// The members of an array of texts.
fn keys(call: &Call<'_>, at: usize) -> Result<Vec<Option<String>>> {
    let array = parse(call.text(at)?)?;
    Ok(array.members.iter().map(|member| member.as_str().map(str::to_owned)).collect())
}

/// The value without the pairs that do not stay.
fn kept(call: &Call<'_>, stays: impl Fn(&Pair) -> bool) -> Result<Value> {
    made(Hstore::new(pairs(call, 0)?.into_pairs().into_iter().filter(|pair| stays(pair)).collect()))
}

fn contains(whole: &Hstore, part: &Hstore) -> Result<Value> {
    boolean(part.pairs().iter().all(|(key, value)| whole.get(key) == Some(value.as_deref())))
}

fn texts(members: impl Iterator<Item = Option<String>>) -> Result<Value> {
    stored(Array::of(members.map(Json::from).collect()))
}

/// Keys from one array, values from another of the same bounds.
/// The fields of a row (0) of a type (1) with their texts; all of them NULL for no row.
fn from_record(call: &Call<'_>) -> Result<Value> {
    let ty = type_at(call, 1)?;
    let row = if call.is_null(0) { None } else { Some(Record::read(call.bytes(0)?, &ty)?) };
    let fields = match (&row, ty.row_fields()) {
        (_, Some(fields)) => fields,
        (Some(row), None) => row.fields(),
        (None, None) => return Ok(Value::Null),
    };
    let mut pairs: Vec<Pair> = Vec::with_capacity(fields.len());
    for (at, field) in fields.iter().enumerate().filter(|(_, field)| !field.dropped) {
        let value = row.as_ref().map_or(Ok(Value::Null), |row| row.value(at))?;
        let shown = match value {
            Value::Null => None,
            value => Some(call.with_settings(|settings| values::output(&value, &field.ty, settings))?),
        };
        pairs.push((field.name.clone(), shown));
    }
    made(Hstore::new(pairs))
}

fn from_arrays(call: &Call<'_>) -> Result<Value> {
    let wrong = |message: &str| Err(Error::new(Condition::ArraySubscriptError, message));
    if call.is_null(0) {
        return Ok(Value::Null);
    }
    let names = parse(call.text(0)?)?;
    if names.dimensions.len() > 1 {
        return wrong("wrong number of array subscripts");
    }
    let values = if call.is_null(1) { None } else { Some(parse(call.text(1)?)?) };
    if let Some(values) = &values {
        if values.dimensions.len() > 1 {
            return wrong("wrong number of array subscripts");
        }
        if values.dimensions != names.dimensions {
            return wrong("arrays must have same bounds");
        }
    }
    let mut pairs = Vec::with_capacity(names.members.len());
    for (at, name) in names.members.iter().enumerate() {
        let value = values.as_ref().and_then(|values| values.members.get(at)).and_then(Json::as_str);
        pairs.push((name.as_str().ok_or_else(null_key)?.to_owned(), value.map(str::to_owned)));
    }
    made(Hstore::new(pairs))
}
