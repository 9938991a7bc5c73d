//! Arrays, in their stored form: JSON texts of the elements' stored forms.

use rowferry_dialect::ir::Value;
use rowferry_dialect::values::{self, Decimal, array, json};
use rowferry_dialect::{Condition, Error, Result, Type, work};
use serde_json::Value as Json;

use super::call::{boolean, integer, text};
use super::cast::type_at;
use super::json::element_type;
use super::{Call, Row};

pub(super) const ROWS: &[Row] = &[
    Row::new("rf_make_array", 0, make_array).variadic().lenient(),
    Row::new("rf_make_array_nested", 0, make_nested).variadic().lenient(),
    Row::new("rf_array_get", 2, |call| Ok(member_at(&members(call, 0)?, call.integer(1)?))),
    Row::new("rf_array_length", 2, |call| dimension(call).map(|length| length.map_or(Value::Null, Value::Integer))),
    Row::new("rf_array_lower", 2, |call| {
        dimension(call).map(|length| length.map_or(Value::Null, |_| Value::Integer(1)))
    }),
    Row::new("rf_array_ndims", 1, |call| {
        let dimensions = dimensions(&members(call, 0)?);
        Ok(if dimensions.is_empty() { Value::Null } else { Value::Integer(dimensions.len() as i64) })
    }),
    Row::new("rf_array_dims", 1, |call| {
        let dimensions = dimensions(&members(call, 0)?);
        if dimensions.is_empty() {
            return Ok(Value::Null);
        }
        text(dimensions.iter().map(|length| format!("[1:{length}]")).collect::<String>())
    }),
    Row::new("rf_cardinality", 1, |call| {
        let dimensions = dimensions(&members(call, 0)?);
        integer(if dimensions.is_empty() { 0 } else { dimensions.iter().product::<i64>() })
    }),
    Row::new("rf_array_append", 2, |call| {
        let mut all = members_or_none(call, 0)?;
        all.push(element(call, 1)?);
        stored(all)
    })
    .lenient(),
    Row::new("rf_array_prepend", 2, |call| {
        let mut all = members_or_none(call, 1)?;
        all.insert(0, element(call, 0)?);
        stored(all)
    })
    .lenient(),
    Row::new("rf_array_cat", 2, concatenate).lenient(),
    Row::new("rf_array_remove", 2, |call| {
        if call.is_null(0) {
            return Ok(Value::Null);
        }
        let gone = element(call, 1)?;
        let mut all = members(call, 0)?;
        remove(&mut all, &gone)?;
        stored(all)
    })
    .lenient(),
    Row::new("rf_array_replace", 3, |call| {
        if call.is_null(0) {
            return Ok(Value::Null);
        }
        let (old, new) = (element(call, 1)?, element(call, 2)?);
        let replaced = members(call, 0)?.into_iter();
        stored(replaced.map(|member| if same(&member, &old) { new.clone() } else { member }).collect())
    })
    .lenient(),
    Row::new("rf_array_position", 2, |call| {
        if call.is_null(0) {
            return Ok(Value::Null);
        }
        let start = if call.given(2).is_some() { (call.integer(2)? - 1).max(0) as usize } else { 0 };
        let sought = element(call, 1)?;
        let found = members(call, 0)?.iter().skip(start).position(|member| same(member, &sought));
        Ok(found.map_or(Value::Null, |at| Value::Integer((start + at) as i64 + 1)))
    })
    .optional(1)
    .lenient(),
    Row::new("rf_array_positions", 2, |call| {
        if call.is_null(0) {
            return Ok(Value::Null);
        }
        let sought = element(call, 1)?;
        let all = members(call, 0)?;
        let places = all.iter().enumerate().filter(|(_, member)| same(member, &sought));
        stored(places.map(|(at, _)| Json::from(at + 1)).collect())
    })
    .lenient(),
    Row::new("rf_array_to_string", 3, to_string).optional(1).lenient(),
    Row::new("rf_array_fill", 2, fill).lenient(),
    Row::new("rf_trim_array", 2, |call| {
        let mut all = members(call, 0)?;
        let count = call.integer(1)?;
        if count < 0 || count > all.len() as i64 {
            let message = format!("number of elements to trim must be between 0 and {}", all.len());
            return Err(Error::new(Condition::IllegalSubscript, message));
        }
        all.truncate(all.len() - count as usize);
        stored(all)
    }),
    Row::new("rf_array_contains", 2, |call| {
        let (all, sought) = (flat(members(call, 0)?)?, flat(members(call, 1)?)?);
        for sought in &sought {
            if sought.is_null() || !holds(&all, sought)? {
                return boolean(false);
            }
        }
        boolean(true)
    }),
    Row::new("rf_array_overlaps", 2, |call| {
        let (all, sought) = (flat(members(call, 0)?)?, flat(members(call, 1)?)?);
        for sought in &sought {
            if !sought.is_null() && holds(&all, sought)? {
                return boolean(true);
            }
        }
        boolean(false)
    }),
];

/// The most elements that `array_fill` makes.
const MAX_ELEMENTS: i64 = 10_000_000;

/// The members of a stored array.
pub(super) fn parse(stored: &str) -> Result<Vec<Json>> {
    match json::read(stored.as_bytes())? {
        Ok(Json::Array(members)) => Ok(members),
        _ => Err(Error::new(Condition::DataCorrupted, format!("stored value \"{stored}\" is not an array"))),
    }
}

fn members(call: &Call<'_>, at: usize) -> Result<Vec<Json>> {
    parse(call.text(at)?)
}

fn members_or_none(call: &Call<'_>, at: usize) -> Result<Vec<Json>> {
    if call.is_null(at) { Ok(Vec::new()) } else { members(call, at) }
}

/// An argument as a member.
fn element(call: &Call<'_>, at: usize) -> Result<Json> {
    let mut member = String::new();
    array::push_element(&mut member, call.value(at), &element_type(call.value(at)));
    serde_json::from_str(&member).map_err(|_| Error::internal("an array element is not JSON"))
}

fn stored(members: Vec<Json>) -> Result<Value> {
    text(json::print(&Json::Array(members))?)
}

/// A member as a value by itself.
pub(super) fn value(member: &Json) -> Value {
    match member {
        Json::Null => Value::Null,
        Json::Bool(value) => Value::Integer(i64::from(*value)),
        Json::Number(number) => match number.as_i64() {
            Some(whole) => Value::Integer(whole),
            None => number.as_f64().map_or_else(|| Value::Text(number.to_string()), Value::Real),
        },
        Json::String(text) => Value::Text(text.clone()),
        nested => Value::Text(nested.to_string()),
    }
}

fn member_at(members: &[Json], index: i64) -> Value {
    let at = usize::try_from(index - 1).ok();
    at.and_then(|at| members.get(at)).map_or(Value::Null, value)
}

/// Equal as elements: numbers and texts of numbers by value, everything else by its text.
fn same(a: &Json, b: &Json) -> bool {
    match (a, b) {
        (Json::Number(x), Json::Number(y)) if x != y => {
            matches!((Decimal::parse(&x.to_string()), Decimal::parse(&y.to_string())), (Ok(x), Ok(y)) if x == y)
        }
        _ => a == b,
    }
}

/// True if one of the members is this.
fn holds(members: &[Json], sought: &Json) -> Result<bool> {
    for member in members {
        work::step(8)?;
        if same(member, sought) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn remove(members: &mut Vec<Json>, gone: &Json) -> Result<()> {
    work::step(members.len())?;
    members.retain(|member| !same(member, gone));
    Ok(())
}

/// All elements of all dimensions.
fn flat(members: Vec<Json>) -> Result<Vec<Json>> {
    fn gather(members: Vec<Json>, all: &mut Vec<Json>) -> Result<()> {
        for member in members {
            work::step(size_of::<Json>())?;
            match member {
                Json::Array(inner) => gather(inner, all)?,
                single => all.push(single),
            }
        }
        Ok(())
    }
    let mut all = Vec::new();
    gather(members, &mut all)?;
    Ok(all)
}

pub(super) fn dimensions(members: &[Json]) -> Vec<i64> {
    if members.is_empty() {
        return Vec::new();
    }
    let mut lengths = vec![members.len() as i64];
    if let Some(Json::Array(inner)) = members.first() {
        lengths.extend(dimensions(inner));
    }
    lengths
}

/// The length of the dimension that the second argument names.
fn dimension(call: &Call<'_>) -> Result<Option<i64>> {
    let dimensions = dimensions(&members(call, 0)?);
    let at = usize::try_from(call.integer(1)? - 1).ok();
    Ok(at.and_then(|at| dimensions.get(at).copied()))
}

fn make_array(call: &Call<'_>) -> Result<Value> {
    let mut out = "[".to_owned();
    for at in 0..call.len() {
        if at > 0 {
            out.push(',');
        }
        work::step(call.length(at) + 1)?;
        work::reserve_text(&mut out, call.length(at) + 4)?;
        array::push_element(&mut out, call.value(at), &element_type(call.value(at)));
    }
    out.push(']');
    text(out)
}

/// An array of arrays, which must all be of one shape.
fn make_nested(call: &Call<'_>) -> Result<Value> {
    let mut all = Vec::with_capacity(call.len());
    for at in 0..call.len() {
        if call.is_null(at) {
            let message = "multidimensional arrays must have array expressions with matching dimensions";
            return Err(Error::new(Condition::IllegalSubscript, message));
        }
        all.push(Json::Array(members(call, at)?));
    }
    let shape = |member: &Json| member.as_array().map(|members| dimensions(members));
    if all.windows(2).any(|pair| shape(&pair[0]) != shape(&pair[1])) {
        let message = "multidimensional arrays must have array expressions with matching dimensions";
        return Err(Error::new(Condition::IllegalSubscript, message));
    }
    stored(all)
}

fn concatenate(call: &Call<'_>) -> Result<Value> {
    if call.is_null(0) || call.is_null(1) {
        return Ok(call.owned(usize::from(call.is_null(0))));
    }
    let (mut left, right) = (members(call, 0)?, members(call, 1)?);
    let deep = |members: &[Json]| dimensions(members).len();
    let incompatible = || Error::new(Condition::IllegalSubscript, "cannot concatenate incompatible arrays");
    match (deep(&left), deep(&right)) {
        (0, _) => return stored(right),
        (_, 0) => return stored(left),
        (a, b) if a == b => left.extend(right),
        // A row joins the array of rows.
        (a, b) if a == b + 1 => left.push(Json::Array(right)),
        (a, b) if a + 1 == b => left = std::iter::once(Json::Array(left)).chain(right).collect(),
        _ => return Err(incompatible()),
    }
    stored(left)
}

/// `array_to_string(array, element type, separator[, text for NULL])`.
fn to_string(call: &Call<'_>) -> Result<Value> {
    if call.is_null(0) || call.is_null(2) {
        return Ok(Value::Null);
    }
    let ty = match type_at(call, 1)? {
        Type::Array(element) => *element,
        element => element,
    };
    let null = if call.given(3).is_some() { Some(call.text(3)?) } else { None };
    let separator = call.text(2)?;
    let mut shown = String::new();
    let mut any = false;
    for member in flat(members(call, 0)?)? {
        work::step(64)?;
        let stored = Json::Array(vec![member]).to_string();
        let text = match array::elements(stored.as_bytes(), &ty)?.into_iter().next() {
            None | Some(Value::Null) => match null {
                Some(null) => null.to_owned(),
                None => continue,
            },
            Some(value) => call.with_settings(|settings| values::output(&value, &ty, settings))?,
        };
        work::step(text.len() + separator.len())?;
        for part in [if any { separator } else { "" }, &text] {
            work::append_text(&mut shown, part)?;
        }
        any = true;
    }
    text(shown)
}

fn fill(call: &Call<'_>) -> Result<Value> {
    if call.is_null(1) {
        return Err(Error::new(Condition::NullValueNotAllowed, "dimension array or low bound array cannot be null"));
    }
    let lengths: Vec<i64> = members(call, 1)?.iter().map(|length| length.as_i64().unwrap_or(0)).collect();
    let total = lengths.iter().try_fold(1_i64, |total, length| total.checked_mul(*length));
    if lengths.iter().any(|length| *length < 0) || total.is_none_or(|total| total > MAX_ELEMENTS) {
        return Err(Error::new(
            Condition::ProgramLimitExceeded,
            format!("array size exceeds the maximum allowed ({MAX_ELEMENTS})"),
        ));
    }
    if lengths.is_empty() {
        return text("[]");
    }
    let mut filled = json::print(&element(call, 0)?)?;
    for length in lengths.iter().rev() {
        let mut out = "[".to_owned();
        for at in 0..*length {
            work::step(filled.len() + 1)?;
            work::reserve_text(&mut out, filled.len() + 2)?;
            if at > 0 {
                out.push(',');
            }
            out.push_str(&filled);
        }
        out.push(']');
        filled = out;
    }
    text(filled)
}
