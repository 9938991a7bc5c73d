//! What the functions that return rows yield.

use std::cmp::Ordering;

use rowferry_dialect::informix::values::composite::{self, Member};
use rowferry_dialect::informix::values::computed;
use rowferry_dialect::ir::Value;
use rowferry_dialect::values::{Decimal, Interval, json, range, timestamp};
use rowferry_dialect::{Condition, Error, Result, work};

use super::jsonpath_datetime::Zone;
use super::rows::{Rows, Source};
use super::rows_catalogs as catalogs;
use super::{Context, arrays, datetime, json as parts, jsonpath, regex, search, strings};

/// Every function that returns rows: its name, the columns of its rows, its arguments.
pub(super) const SOURCES: &[Rows] = &[
    Rows::new(c"rf_generate_series_int", 1, 3, series_int),
    Rows::new(c"rf_generate_series_numeric", 1, 3, series_numeric),
    Rows::new(c"rf_generate_series_timestamp", 1, 3, series_timestamp),
    Rows::new(c"rf_generate_series_timestamptz", 1, 3, series_timestamptz),
    Rows::new(c"rf_ifx_routine_rows", 64, 16, routine),
    Rows::new(c"rf_ifx_routine_rows_packed", 64, 1, |call| unpacked(call, routine)),
    Rows::new(c"rf_module_rows", 64, 16, super::modules::rows),
    Rows::new(c"rf_stored_function_rows", 64, 16, stored_function),
    Rows::new(c"rf_stored_function_rows_packed", 64, 1, |call| unpacked(call, stored_function)),
    Rows::new(c"rf_stored_result_rows", 64, 1, stored_result),
    Rows::new(c"rf_unnest", 1, 2, unnest).of_one_value(),
    Rows::new(c"rf_ts_token_type", 3, 1, ts_token_type),
    Rows::new(c"rf_ts_parse", 2, 2, ts_parse),
    Rows::new(c"rf_ts_stat", 3, 2, ts_stat),
    Rows::new(c"rf_ts_debug", 6, 2, ts_debug),
    Rows::new(c"rf_unnest_tsvector", 3, 1, unnest_tsvector).of_one_value(),
    Rows::new(c"rf_pg_expandarray", 2, 1, numbered).of_one_value(),
    Rows::new(c"rf_unnest_multirange", 1, 1, unnest_multirange).of_one_value(),
    Rows::new(c"rf_array_items", 1, 2, array_items).of_one_value(),
    Rows::new(c"rf_lateral", 64, 1, super::lateral::rows),
    Rows::new(c"rf_lateral_wide", 1_000, 1, super::lateral::rows),
    Rows::new(c"rf_kept", 1_664, 1, kept),
    Rows::new(c"rf_generate_subscripts", 1, 3, subscripts).of_one_value(),
    Rows::new(c"rf_string_to_table", 1, 3, string_to_table).of_one_value(),
    Rows::new(c"rf_ifx_regex_extract", 1, 4, |call| informix_regex(call, true)).of_one_value(),
    Rows::new(c"rf_ifx_regex_split", 1, 4, |call| informix_regex(call, false)).of_one_value(),
    Rows::new(c"rf_ifx_members", 1, 2, informix_members).of_one_value(),
    Rows::new(c"rf_regexp_split_to_table", 1, 3, regexp_split).of_one_value(),
    Rows::new(c"rf_regexp_matches", 1, 3, regexp_matches).of_one_value(),
    Rows::new(c"rf_json_array_elements", 1, 1, |call| elements(call, "json_array_elements", false)).of_one_value(),
    Rows::new(c"rf_jsonb_array_elements", 1, 1, |call| elements(call, "jsonb_array_elements", false)).of_one_value(),
    Rows::new(c"rf_json_array_elements_text", 1, 2, |call| elements(call, "json_array_elements_text", true))
        .of_one_value(),
    Rows::new(c"rf_json_object_keys", 1, 2, keys).of_one_value(),
    Rows::new(c"rf_jsonb_path_query", 1, 5, path_query).of_one_value(),
    Rows::new(c"rf_json_each", 2, 1, |call| each(call, "json_each", false)).of_one_value(),
    Rows::new(c"rf_jsonb_each", 2, 1, |call| each(call, "jsonb_each", false)).of_one_value(),
    Rows::new(c"rf_json_each_text", 2, 2, |call| each(call, "json_each_text", true)).of_one_value(),
    Rows::new(c"rf_json_records", 1, 5, super::json_records::rows),
    Rows::new(c"rf_mysql_match_rows", 1, 3, |call| {
        let rows = super::mysql::fulltext::rows(call)?;
        Ok(Box::new(rows.into_iter().map(|row| Ok(vec![Value::Integer(row)]))))
    }),
    Rows::new(c"rf_pg_get_keywords", 5, 0, |_| Ok(catalogs::keywords())),
    Rows::new(c"rf_pg_listening_channels", 1, 0, listening),
    Rows::new(c"rf_pg_options_to_table", 2, 1, catalogs::options).of_one_value(),
    Rows::new(c"rf_pg_partition_tree", 4, 1, catalogs::partition_tree),
    Rows::new(c"rf_pg_partition_ancestors", 1, 1, catalogs::partition_ancestors),
    Rows::new(c"rf_pg_extension_update_paths", 3, 1, catalogs::extension_paths),
    Rows::new(c"rf_pg_get_catalog_foreign_keys", 6, 0, catalogs::foreign_keys),
    Rows::new(c"rf_pg_sequence_parameters", 7, 1, catalogs::sequence_parameters).of_one_value(),
    Rows::new(c"rf_snapshot_running", 1, 1, |call| catalogs::running(call, true)),
    Rows::new(c"rf_snapshot_running_numbers", 1, 1, |call| catalogs::running(call, false)),
    Rows::new(c"rf_pg_identify_object", 4, 3, catalogs::identified).of_one_value(),
    Rows::new(c"rf_pg_identify_object_as_address", 3, 3, catalogs::addressed).of_one_value(),
    Rows::new(c"rf_pg_get_object_address", 3, 3, catalogs::object_address).of_one_value(),
    Rows::new(c"rf_aclexplode", 4, 1, catalogs::privileges).of_one_value(),
];

/// Rows that are there already.
fn table(rows: Vec<Vec<Value>>) -> Result<Source> {
    Ok(Box::new(rows.into_iter().map(Ok)))
}

/// What the session listens to.
fn listening(call: &Arguments<'_>) -> Result<Source> {
    table(call.context.state().listening().into_iter().map(|channel| vec![Value::Text(channel)]).collect())
}

fn ts_token_type(call: &Arguments<'_>) -> Result<Source> {
    match &call.given[0] {
        Some(parser) if !call.any_null() => table(search::ts_token_type(parser)?),
        _ => none(),
    }
}

fn ts_parse(call: &Arguments<'_>) -> Result<Source> {
    match &call.given[0] {
        Some(parser) if !call.any_null() => table(search::ts_parse(parser, call.needed(1)?)?),
        _ => none(),
    }
}

/// The configuration may be left out.
fn ts_debug(call: &Arguments<'_>) -> Result<Source> {
    if call.any_null() {
        return none();
    }
    match call.given[0] {
        Some(Value::Integer(oid)) => table(search::ts_debug(call.context, oid, call.needed(1)?)?),
        _ => table(search::ts_debug(call.context, 0, call.needed(0)?)?),
    }
}

fn ts_stat(call: &Arguments<'_>) -> Result<Source> {
    if call.any_null() {
        return none();
    }
    table(search::ts_stat(call.context, call.needed(0)?, call.text(1)?.unwrap_or_default())?)
}

fn unnest_tsvector(call: &Arguments<'_>) -> Result<Source> {
    if call.any_null() { none() } else { table(search::unnest(call.needed(0)?)?) }
}

/// A call whose arguments are packed, since SQLite asks those behind the sixteenth of each row once more.
fn unpacked(call: &Arguments<'_>, open: fn(&Arguments<'_>) -> Result<Source>) -> Result<Source> {
    let given: Vec<Option<Value>> = super::lateral::values(call.value(0))?.into_iter().map(Some).collect();
    open(&Arguments { given: &given, context: call.context })
}

/// The rows that a function of users returns.
fn stored_function(call: &Arguments<'_>) -> Result<Source> {
    let oid = call.integer(0)?.and_then(|oid| u32::try_from(oid).ok());
    let Some(oid) = oid else { return Err(Error::internal("a function without an object id")) };
    let args = call.given[2..].iter().map_while(Clone::clone).collect();
    call.context.state().call_function(oid, call.text(1)?, args)
}

/// The rows that a function of users has returned.
fn stored_result(call: &Arguments<'_>) -> Result<Source> {
    let number = call.integer(0)?.unwrap_or(0);
    call.context.state().function_result(number).ok_or_else(|| Error::internal("the rows have been read already"))
}

/// The rows that a routine of users returns.
fn routine(call: &Arguments<'_>) -> Result<Source> {
    let oid = call.integer(0)?.and_then(|oid| u32::try_from(oid).ok());
    let (Some(oid), Some(given)) = (oid, call.text(1)?) else {
        return Err(Error::internal("a routine without an object id"));
    };
    let args = call.given[2..].iter().map_while(Clone::clone).collect();
    call.context.state().call_routine(oid, given, args)
}

/// The arguments of a call; those left out are `None`.
pub(super) struct Arguments<'a> {
    pub(super) given: &'a [Option<Value>],
    pub(super) context: &'a Context,
}

impl Arguments<'_> {
    /// The call without its first argument.
    pub(super) fn rest(&self) -> Self {
        Self { given: self.given.get(1..).unwrap_or_default(), context: self.context }
    }

    /// An argument that is there.
    pub(super) fn value(&self, at: usize) -> Option<&Value> {
        self.given.get(at).and_then(Option::as_ref)
    }

    pub(super) fn any_null(&self) -> bool {
        self.given.contains(&Some(Value::Null))
    }

    pub(super) fn integer(&self, at: usize) -> Result<Option<i64>> {
        match self.given.get(at) {
            Some(Some(Value::Integer(value))) => Ok(Some(*value)),
            Some(Some(Value::Real(value))) if value.fract() == 0.0 => Ok(Some(*value as i64)),
            Some(None | Some(Value::Null)) | None => Ok(None),
            other => Err(wrong(other)),
        }
    }

    pub(super) fn text(&self, at: usize) -> Result<Option<&str>> {
        match self.given.get(at) {
            Some(Some(Value::Text(value))) => Ok(Some(value)),
            Some(None | Some(Value::Null)) | None => Ok(None),
            other => Err(wrong(other)),
        }
    }

    pub(super) fn needed(&self, at: usize) -> Result<&str> {
        self.text(at)?.ok_or_else(|| Error::internal("a row source misses an argument"))
    }

    fn decimal(&self, at: usize) -> Result<Option<Decimal>> {
        self.given.get(at).and_then(Option::as_ref).map(|value| Decimal::from_stored(value.as_ref())).transpose()
    }
}

fn wrong(value: impl std::fmt::Debug) -> Error {
    Error::new(Condition::DataCorrupted, format!("unexpected argument of a row source: {value:?}"))
}

pub(super) fn none() -> Result<Source> {
    Ok(Box::new(std::iter::empty()))
}

fn list(values: Vec<Value>) -> Result<Source> {
    Ok(Box::new(values.into_iter().map(|value| Ok(vec![value]))))
}

/// A part of a text as a value of its own.
fn owned(part: &str) -> Result<Value> {
    work::step(part.len() + size_of::<Value>())?;
    Ok(Value::Text(part.to_owned()))
}

fn zero_step() -> Error {
    Error::new(Condition::InvalidParameterValue, "step size cannot equal zero")
}

fn series_int(call: &Arguments<'_>) -> Result<Source> {
    if call.any_null() {
        return none();
    }
    let (Some(start), Some(stop)) = (call.integer(0)?, call.integer(1)?) else { return none() };
    let step = call.integer(2)?.unwrap_or(1);
    if step == 0 {
        return Err(zero_step());
    }
    let mut next = Some(start);
    Ok(Box::new(std::iter::from_fn(move || {
        let value = next.filter(|value| if step > 0 { *value <= stop } else { *value >= stop })?;
        next = value.checked_add(step);
        Some(Ok(vec![Value::Integer(value)]))
    })))
}

fn series_numeric(call: &Arguments<'_>) -> Result<Source> {
    if call.any_null() {
        return none();
    }
    let (Some(start), Some(stop)) = (call.decimal(0)?, call.decimal(1)?) else { return none() };
    let step = call.decimal(2)?.unwrap_or(Decimal::from_i64(1));
    for (value, name) in [(&start, "start value"), (&stop, "stop value"), (&step, "step size")] {
        if value.finite().is_none() {
            let what = if matches!(value, Decimal::NaN) { "NaN" } else { "infinity" };
            return Err(Error::new(Condition::InvalidParameterValue, format!("{name} cannot be {what}")));
        }
    }
    let up = match step.signum() {
        0 => return Err(zero_step()),
        sign => sign > 0,
    };
    let mut next = start;
    Ok(Box::new(std::iter::from_fn(move || {
        let order = next.compare(&stop);
        if order == if up { Ordering::Greater } else { Ordering::Less } {
            return None;
        }
        let value = next.clone();
        match next.add(&step) {
            Ok(sum) => next = sum,
            Err(error) => return Some(Err(error)),
        }
        Some(Ok(vec![Value::Text(value.to_string())]))
    })))
}

fn series_timestamp(call: &Arguments<'_>) -> Result<Source> {
    series_of_moments(call, None)
}

fn series_timestamptz(call: &Arguments<'_>) -> Result<Source> {
    series_of_moments(call, Some(call.context.settings().time_zone))
}

fn series_of_moments(call: &Arguments<'_>, zone: Option<jiff::tz::TimeZone>) -> Result<Source> {
    if call.any_null() {
        return none();
    }
    let start = timestamp::micros(call.needed(0)?.as_bytes())?;
    let stop = timestamp::micros(call.needed(1)?.as_bytes())?;
    let step = Interval::from_stored(call.needed(2)?.as_bytes())?;
    let up = match step.total_micros().signum() {
        0 => return Err(zero_step()),
        sign => sign > 0,
    };
    let mut next = start;
    let mut done = false;
    Ok(Box::new(std::iter::from_fn(move || {
        if done || if up { next > stop } else { next < stop } {
            return None;
        }
        let value = next;
        let following = match &zone {
            Some(zone) => datetime::add_to_instant(value, step, zone),
            None => datetime::add(value, step),
        };
        match following {
            // An infinite end is where the calendar ends.
            Ok(following) if following != value => next = following,
            _ => done = true,
        }
        let stored = if zone.is_some() { timestamp::to_stored_tz(value) } else { timestamp::to_stored(value) };
        Some(stored.map(|stored| vec![Value::Text(stored)]))
    })))
}

/// Rows that a part of the running statement has left for others.
fn kept(call: &Arguments<'_>) -> Result<Source> {
    let number = call.integer(0)?.and_then(|number| u32::try_from(number).ok());
    let Some(kept) = number.and_then(|number| call.context.state().kept(number)) else {
        return Err(rowferry_dialect::Error::internal("rows that nobody has kept"));
    };
    let mut at = 0;
    Ok(Box::new(std::iter::from_fn(move || {
        let row = kept.row(at).cloned();
        at += 1;
        row.map(Ok)
    })))
}

/// The elements of an array; they are bytes when a second argument says so.
fn unnest(call: &Arguments<'_>) -> Result<Source> {
    let Some(stored) = call.text(0)? else { return none() };
    let members = arrays::parse(stored)?.members;
    work::step(members.len() * size_of::<Value>())?;
    if call.integer(1)?.unwrap_or(0) != 0 {
        return list(members.iter().map(arrays::bytes_value).collect());
    }
    list(members.iter().map(arrays::value).collect())
}

/// The members of an array, each with its number.
fn numbered(call: &Arguments<'_>) -> Result<Source> {
    let mut number = 0;
    let rows = unnest(call)?.map(move |row| {
        number += 1;
        let mut row = row?;
        row.push(Value::Integer(number));
        Ok(row)
    });
    Ok(Box::new(rows))
}

/// The ranges of a multirange.
fn unnest_multirange(call: &Arguments<'_>) -> Result<Source> {
    let Some(stored) = call.text(0)? else { return none() };
    let members = range::text::stored_members(stored)?;
    list(members.into_iter().map(owned).collect::<Result<_>>()?)
}

/// The elements for `op ANY (array)`: a NULL array has one element that nobody knows.
fn array_items(call: &Arguments<'_>) -> Result<Source> {
    if call.any_null() { list(vec![Value::Null]) } else { unnest(call) }
}

fn subscripts(call: &Arguments<'_>) -> Result<Source> {
    if call.any_null() {
        return none();
    }
    let dimensions = arrays::parse(call.needed(0)?)?.dimensions;
    let at = usize::try_from(call.integer(1)?.unwrap_or(1) - 1).ok();
    let Some(dimension) = at.and_then(|at| dimensions.get(at)) else { return none() };
    let mut places: Vec<Value> = (i64::from(dimension.lower)..=dimension.upper()).map(Value::Integer).collect();
    if call.integer(2)?.unwrap_or(0) != 0 {
        places.reverse();
    }
    list(places)
}

fn path_query(call: &Arguments<'_>) -> Result<Source> {
    if call.any_null() {
        return none();
    }
    let path = rowferry_dialect::values::jsonpath::parse(call.needed(1)?)?;
    let silent = call.integer(3)?.unwrap_or(0) != 0;
    let zone = (call.integer(4)?.unwrap_or(0) != 0).then(|| Zone::of(call.context));
    let found = jsonpath::sequence(call.needed(0)?, &path, call.text(2)?, silent, zone.as_ref())?;
    let item = |item: jsonpath::Item| {
        let mut out = String::new();
        json::write(&mut out, &item.into_json()).map(|()| Value::Text(out))
    };
    list(found.into_iter().map(item).collect::<Result<_>>()?)
}

fn string_to_table(call: &Arguments<'_>) -> Result<Source> {
    let Some(all) = call.text(0)? else { return none() };
    let parts = strings::split(all, call.text(1)?, call.text(2)?);
    list(parts.map(|part| part.map_or(Ok(Value::Null), owned)).collect::<Result<_>>()?)
}

fn regexp_split(call: &Arguments<'_>) -> Result<Source> {
    if call.any_null() {
        return none();
    }
    regex::refuse_global("regexp_split_to_table", call.text(2)?.unwrap_or(""))?;
    let parts = regex::split(call.needed(0)?, call.needed(1)?, call.text(2)?.unwrap_or(""))?;
    list(parts.into_iter().map(owned).collect::<Result<_>>()?)
}

/// The matches of a pattern, or what stands between them; nothing that is empty.
fn informix_regex(call: &Arguments<'_>, matches: bool) -> Result<Source> {
    let subject = call.text(0)?.unwrap_or_default();
    let limit = usize::try_from(call.integer(2)?.unwrap_or(0)).unwrap_or(0);
    let limit = if limit == 0 { usize::MAX } else { limit };
    let regex = regex::informix_pattern(call.needed(1)?, call.integer(3)?.unwrap_or(1))?;
    let mut found = Vec::new();
    let mut last = 0;
    for place in regex::all_matches(&regex, subject, false)?.iter().map(regex::Found::whole) {
        let part = if matches { place } else { (last, place.0) };
        if part.0 < part.1 {
            if found.len() == limit {
                break;
            }
            found.push(owned(&subject[part.0..part.1])?);
            last = place.1;
        } else if place.0 < place.1 {
            last = place.1;
        }
    }
    if !matches && found.len() < limit && last < subject.len() {
        found.push(owned(&subject[last..])?);
    }
    list(found)
}

/// The members of a collection; of those of a NULL there are none.
fn informix_members(call: &Arguments<'_>) -> Result<Source> {
    let Some(collection) = call.text(0)? else { return none() };
    let ty = rowferry_dialect::informix::type_from_words(call.needed(1)?)?;
    let Some((_, members)) = composite::members(collection) else {
        return Err(wrong(collection));
    };
    let mut values = Vec::with_capacity(members.len());
    for member in members {
        values.push(match member {
            Member::Composite(text) => owned(&text)?,
            member => computed(&composite::value(&member, &ty)?, &ty, &ty)?,
        });
    }
    list(values)
}

fn regexp_matches(call: &Arguments<'_>) -> Result<Source> {
    if call.any_null() {
        return none();
    }
    let flags = call.text(2)?.unwrap_or("");
    let regex = regex::compiled(call.needed(1)?, flags)?;
    let found = regex::all_matches(&regex, call.needed(0)?, !flags.contains('g'))?;
    let arrays = found.iter().map(|found| strings::texts(regex::groups(found).into_iter()).map(Value::Text));
    list(arrays.collect::<Result<_>>()?)
}

/// Whether a call is of the `jsonb` form of a function that both types have.
fn is_binary(call: &Arguments<'_>, function: &str) -> Result<bool> {
    Ok(function.starts_with("jsonb") || call.text(1)? == Some("jsonb"))
}

fn refused(message: String) -> Error {
    Error::new(Condition::InvalidParameterValue, message)
}

fn elements(call: &Arguments<'_>, function: &str, as_text: bool) -> Result<Source> {
    let Some(all) = call.text(0)? else { return none() };
    match (parts::kind(all), is_binary(call, function)?) {
        ("array", _) => {}
        ("object", true) => return Err(refused("cannot extract elements from an object".to_owned())),
        (_, true) => return Err(refused("cannot extract elements from a scalar".to_owned())),
        ("object", false) => return Err(refused(format!("cannot call {function} on a non-array"))),
        (_, false) => return Err(refused(format!("cannot call {function} on a scalar"))),
    }
    let found = parts::parts(all)?.into_iter().map(|(_, part)| member(part, as_text));
    list(found.collect::<Result<_>>()?)
}

fn member(part: &str, as_text: bool) -> Result<Value> {
    if as_text { parts::shown(Some(part)) } else { owned(part) }
}

fn key(literal: Option<&str>) -> Result<Value> {
    match json::parse(literal.unwrap_or("\"\""))? {
        serde_json::Value::String(key) => Ok(Value::Text(key)),
        other => Err(wrong(other)),
    }
}

fn keys(call: &Arguments<'_>) -> Result<Source> {
    let Some(all) = call.text(0)? else { return none() };
    let function = if is_binary(call, "")? { "jsonb_object_keys" } else { "json_object_keys" };
    match parts::kind(all) {
        "object" => {}
        "array" => return Err(refused(format!("cannot call {function} on an array"))),
        _ => return Err(refused(format!("cannot call {function} on a scalar"))),
    }
    list(parts::parts(all)?.into_iter().map(|(literal, _)| key(literal)).collect::<Result<_>>()?)
}

fn each(call: &Arguments<'_>, function: &str, as_text: bool) -> Result<Source> {
    let Some(all) = call.text(0)? else { return none() };
    match (parts::kind(all), is_binary(call, function)?) {
        ("object", _) => {}
        (_, true) => {
            let function = if as_text { "jsonb_each_text" } else { function };
            return Err(refused(format!("cannot call {function} on a non-object")));
        }
        ("array", false) => return Err(refused("cannot deconstruct an array as an object".to_owned())),
        (_, false) => return Err(refused("cannot deconstruct a scalar".to_owned())),
    }
    let rows: Vec<Vec<Value>> = parts::parts(all)?
        .into_iter()
        .map(|(literal, part)| Ok(vec![key(literal)?, member(part, as_text)?]))
        .collect::<Result<_>>()?;
    Ok(Box::new(rows.into_iter().map(Ok)))
}
