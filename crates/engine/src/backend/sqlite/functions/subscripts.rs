//! Subscripts: elements and slices of arrays, members of `jsonb`, and assignments to them.
//!
//! A slice's bounds arrive as pairs behind a word with one letter for each dimension, which says what of it is there:
//! `b`oth bounds, the `l`ower one, the `u`pper one, or `n`one.

use rowferry_dialect::ir::Value;
use rowferry_dialect::values::array::{self, Array, Dimension};
use rowferry_dialect::values::json;
use rowferry_dialect::values::text::print_byte;
use rowferry_dialect::{Condition, Error, Result, work};
use serde_json::Value as Json;

use super::arrays::{array_at, bytes_value, element, stored, value};
use super::{Call, Row};

pub(super) const ROWS: &[Row] = &[
    Row::new("rf_array_get", 1, |call| get(call, value)).variadic(),
    Row::new("rf_array_get_bytes", 1, |call| get(call, bytes_value)).variadic(),
    Row::new("rf_name_get", 2, name_get),
    Row::new("rf_array_slice", 2, slice).variadic().lenient(),
    Row::new("rf_array_set", 2, set).variadic().lenient(),
    Row::new("rf_array_set_slice", 3, set_slice).variadic().lenient(),
    Row::new("rf_jsonb_get_subscript", 1, jsonb_get).variadic(),
    Row::new("rf_jsonb_set_subscript", 2, jsonb_set).variadic().lenient(),
];

fn wrong(message: &str) -> Error {
    Error::new(Condition::IllegalSubscript, message)
}

fn null_subscript(what: &str) -> Error {
    let message = format!("{what} subscript in assignment must not be null");
    Error::new(Condition::NullValueNotAllowed, message)
}

/// `array[i][j]…`: NULL when there is no such element.
fn get(call: &Call<'_>, value: fn(&Json) -> Value) -> Result<Value> {
    let array = array_at(call, 0)?;
    if call.len() - 1 != array.dimensions.len() {
        return Ok(Value::Null);
    }
    let mut offset = 0;
    for (at, dimension) in array.dimensions.iter().enumerate() {
        let Some(place) = dimension.place(call.integer(at + 1)?) else { return Ok(Value::Null) };
        offset = offset * dimension.length + place;
    }
    Ok(array.members.get(offset).map_or(Value::Null, value))
}

/// `name[i]`: one of its 64 bytes, which are 0 behind its end.
fn name_get(call: &Call<'_>) -> Result<Value> {
    const BYTES: usize = 64;
    let Ok(at @ ..BYTES) = usize::try_from(call.integer(1)?) else { return Ok(Value::Null) };
    Ok(Value::Text(print_byte(call.text(0)?.as_bytes().get(at).copied().unwrap_or(0))))
}

/// The bounds of a slice as they were given.
struct Bounds {
    lower: Option<i64>,
    upper: Option<i64>,
}

/// The bounds behind the word at `at`; `None` when one of them is NULL.
fn bounds(call: &Call<'_>, at: usize) -> Result<Option<Vec<Bounds>>> {
    let mut all = Vec::new();
    for (dimension, letter) in call.text(at)?.bytes().enumerate() {
        let bound = |given: bool, at: usize| -> Result<Option<Option<i64>>> {
            Ok(match (given, given && call.is_null(at)) {
                (false, _) => Some(None),
                (true, true) => None,
                (true, false) => Some(Some(call.integer(at)?)),
            })
        };
        let first = at + 1 + 2 * dimension;
        let lower = bound(matches!(letter, b'b' | b'l'), first)?;
        let upper = bound(matches!(letter, b'b' | b'u'), first + 1)?;
        let (Some(lower), Some(upper)) = (lower, upper) else { return Ok(None) };
        all.push(Bounds { lower, upper });
    }
    Ok(Some(all))
}

/// A range of places in each dimension, from 0 and without its end.
type Window = Vec<(usize, usize)>;

/// Calls `each` with the offset of every element in a window.
fn walk(dimensions: &[Dimension], window: &Window, each: &mut dyn FnMut(usize) -> Result<()>) -> Result<()> {
    fn level(
        dimensions: &[Dimension],
        window: &[(usize, usize)],
        offset: usize,
        each: &mut dyn FnMut(usize) -> Result<()>,
    ) -> Result<()> {
        let (Some((outer, inner)), Some((range, ranges))) = (dimensions.split_first(), window.split_first()) else {
            return each(offset);
        };
        for at in range.0..range.1 {
            work::step(16)?;
            level(inner, ranges, offset * outer.length + at, each)?;
        }
        Ok(())
    }
    level(dimensions, window, 0, each)
}

/// `array[l:u][l:u]…`: what of the array lies within; it begins at 1 in every dimension.
fn slice(call: &Call<'_>) -> Result<Value> {
    if call.is_null(0) {
        return Ok(Value::Null);
    }
    let Some(bounds) = bounds(call, 1)? else { return Ok(Value::Null) };
    let array = array_at(call, 0)?;
    if array.dimensions.len() < bounds.len() {
        return stored(Array::default());
    }
    let mut window = Window::new();
    for (at, dimension) in array.dimensions.iter().enumerate() {
        let (first, last) = (i64::from(dimension.lower), dimension.upper());
        let given = bounds.get(at);
        let lower = given.and_then(|given| given.lower).map_or(first, |lower| lower.max(first));
        let upper = given.and_then(|given| given.upper).map_or(last, |upper| upper.min(last));
        if lower > upper {
            return stored(Array::default());
        }
        window.push(((lower - first) as usize, (upper - first + 1) as usize));
    }
    let mut members = Vec::new();
    walk(&array.dimensions, &window, &mut |offset| {
        members.push(array.members.get(offset).cloned().unwrap_or(Json::Null));
        Ok(())
    })?;
    let dimensions = window.iter().map(|(start, end)| Dimension { lower: 1, length: end - start }).collect();
    stored(Array::with_bounds(dimensions, members))
}

/// Widens an array of one dimension to hold the subscripts from `lower` to `upper`; new elements are NULL.
fn widen(array: &mut Array, lower: i64, upper: i64) -> Result<()> {
    let [dimension] = array.dimensions.as_mut_slice() else { return Ok(()) };
    let before = (i64::from(dimension.lower) - lower).max(0);
    let after = (upper - dimension.upper()).max(0);
    let length = dimension.length as i64 + before + after;
    if length > array::MAX_ELEMENTS {
        return Err(array::too_many_elements());
    }
    *dimension = Dimension { lower: dimension.lower.min(lower as i32), length: length as usize };
    Array::check_size(&[*dimension])?;
    work::room_to_work((before + after) as usize * size_of::<Json>())?;
    array.members.splice(..0, (0..before).map(|_| Json::Null));
    array.members.extend((0..after).map(|_| Json::Null));
    Ok(())
}

/// `array[i][j]… = value`; arguments: the array, the value, the subscripts.
fn set(call: &Call<'_>) -> Result<Value> {
    let mut array = if call.is_null(0) { Array::default() } else { array_at(call, 0)? };
    let new = element(call, 1)?;
    let mut subscripts = Vec::with_capacity(call.len() - 2);
    for at in 2..call.len() {
        if call.is_null(at) {
            return Err(null_subscript("array"));
        }
        subscripts.push(call.integer(at)?);
    }
    if array.dimensions.is_empty() {
        let dimensions: Vec<_> =
            subscripts.iter().map(|subscript| Dimension { lower: *subscript as i32, length: 1 }).collect();
        Array::check_size(&dimensions)?;
        return stored(Array { dimensions, members: vec![new] });
    }
    if array.dimensions.len() != subscripts.len() {
        return Err(wrong("wrong number of array subscripts"));
    }
    if let [only] = subscripts.as_slice() {
        widen(&mut array, *only, *only)?;
    }
    let mut offset = 0;
    for (dimension, subscript) in array.dimensions.iter().zip(&subscripts) {
        let place = dimension.place(*subscript).ok_or_else(|| wrong("array subscript out of range"))?;
        offset = offset * dimension.length + place;
    }
    array.members[offset] = new;
    stored(array)
}

/// `array[l:u]… = source`; arguments: the array, the source, the word, the bounds.
fn set_slice(call: &Call<'_>) -> Result<Value> {
    let mut array = if call.is_null(0) { Array::default() } else { array_at(call, 0)? };
    let bounds = bounds(call, 2)?.ok_or_else(|| null_subscript("array"))?;
    if call.is_null(1) {
        // Nothing is assigned.
        return stored(array);
    }
    let source = array_at(call, 1)?.members;
    let too_small = || wrong("source array too small");
    let disordered = || wrong("upper bound cannot be less than lower bound");
    if array.dimensions.is_empty() {
        let mut dimensions = Vec::with_capacity(bounds.len());
        for given in &bounds {
            let (Some(lower), Some(upper)) = (given.lower, given.upper) else {
                return Err(wrong("array slice subscript must provide both boundaries").detail(
                    "When assigning to a slice of an empty array value, slice boundaries must be fully specified.",
                ));
            };
            let length = usize::try_from(upper - lower + 1).map_err(|_| disordered())?;
            dimensions.push(Dimension { lower: lower as i32, length });
        }
        let total = Array::check_size(&dimensions)?;
        if total > source.len() {
            return Err(too_small());
        }
        return stored(Array::with_bounds(dimensions, source.into_iter().take(total).collect()));
    }
    if array.dimensions.len() < bounds.len() {
        return Err(wrong("wrong number of array subscripts"));
    }
    let single = array.dimensions.len() == 1;
    let mut window = Window::new();
    for at in 0..array.dimensions.len() {
        let dimension = array.dimensions[at];
        let given = bounds.get(at);
        let lower = given.and_then(|given| given.lower).unwrap_or(i64::from(dimension.lower));
        let upper = given.and_then(|given| given.upper).unwrap_or(dimension.upper());
        if lower > upper {
            return Err(disordered());
        }
        if single {
            widen(&mut array, lower, upper)?;
        }
        let range = (array.dimensions[at].place(lower), array.dimensions[at].place(upper));
        let (Some(start), Some(last)) = range else { return Err(wrong("array subscript out of range")) };
        window.push((start, last + 1));
    }
    let total: usize = window.iter().map(|(start, end)| end - start).product();
    if total > source.len() {
        return Err(too_small());
    }
    let Array { dimensions, mut members } = array;
    let mut source = source.into_iter();
    walk(&dimensions, &window, &mut |offset| {
        if let (Some(member), Some(new)) = (members.get_mut(offset), source.next()) {
            *member = new;
        }
        Ok(())
    })?;
    stored(Array { dimensions, members })
}

/// `jsonb[…][…]`
fn jsonb_get(call: &Call<'_>) -> Result<Value> {
    let mut here = json::parse(call.text(0)?)?;
    for at in 1..call.len() {
        let step = call.shown(at)?;
        let found = match &mut here {
            Json::Object(members) => members.get_mut(step.as_ref()).map(Json::take),
            Json::Array(members) => match step.trim().parse::<i64>() {
                Ok(index) => place(index, members.len()).map(|at| members[at].take()),
                Err(_) => None,
            },
            _ => None,
        };
        let Some(found) = found else { return Ok(Value::Null) };
        here = found;
    }
    normal(&here)
}

fn place(index: i64, length: usize) -> Option<usize> {
    let at = if index < 0 { index + length as i64 } else { index };
    usize::try_from(at).ok().filter(|at| *at < length)
}

fn normal(value: &Json) -> Result<Value> {
    let mut out = String::new();
    json::write(&mut out, value)?;
    Ok(Value::Text(out))
}

/// `jsonb[…][…] = value`; arguments: the whole, the new value, the subscripts.
fn jsonb_set(call: &Call<'_>) -> Result<Value> {
    let mut steps = Vec::with_capacity(call.len() - 2);
    for at in 2..call.len() {
        if call.is_null(at) {
            return Err(null_subscript("jsonb"));
        }
        steps.push(call.shown(at)?.into_owned());
    }
    let new = if call.is_null(1) { Json::Null } else { json::parse(call.text(1)?)? };
    let mut whole = if !call.is_null(0) {
        json::parse(call.text(0)?)?
    } else if call.len() > 2 && matches!(call.value(2), rowferry_dialect::values::ValueRef::Integer(_)) {
        Json::Array(Vec::new())
    } else {
        Json::Object(serde_json::Map::new())
    };
    assign(&mut whole, &steps, 0, new)?;
    normal(&whole)
}

/// Puts a value at a path, and makes what is not there on the way.
fn assign(here: &mut Json, steps: &[String], depth: usize, new: Json) -> Result<()> {
    let Some(step) = steps.get(depth) else {
        *here = new;
        return Ok(());
    };
    match here {
        Json::Object(members) => match members.get_mut(step) {
            Some(member) => assign(member, steps, depth + 1, new),
            None => {
                let member = grown(&steps[depth + 1..], new)?;
                members.insert(step.clone(), member);
                Ok(())
            }
        },
        Json::Array(members) => {
            let at = depth + 1;
            let index: i64 = step.trim().parse().map_err(|_| {
                let message = format!("path element at position {at} is not an integer: \"{step}\"");
                Error::new(Condition::InvalidTextRepresentation, message)
            })?;
            let place = if index < 0 { index + members.len() as i64 } else { index };
            let place = usize::try_from(place).map_err(|_| {
                let message = format!("path element at position {at} is out of range: {index}");
                Error::new(Condition::InvalidParameterValue, message)
            })?;
            if let Some(member) = members.get_mut(place) {
                return assign(member, steps, at, new);
            }
            fill(members, place)?;
            members.push(grown(&steps[at..], new)?);
            Ok(())
        }
        _ => Err(Error::new(Condition::InvalidParameterValue, "cannot replace existing key")
            .detail("The path assumes key is a composite object, but it is a scalar value.")),
    }
}

/// NULLs up to a place of an array.
fn fill(members: &mut Vec<Json>, place: usize) -> Result<()> {
    work::room_to_work(place.saturating_mul(size_of::<Json>()))?;
    while members.len() < place {
        work::step(size_of::<Json>())?;
        members.push(Json::Null);
    }
    Ok(())
}

/// What stands at a path that is not there: an array for a number, an object for a key.
fn grown(steps: &[String], new: Json) -> Result<Json> {
    let mut grown = new;
    for step in steps.iter().rev() {
        grown = match step.trim().parse::<i32>() {
            Ok(index) => {
                let mut members = Vec::new();
                fill(&mut members, usize::try_from(index).unwrap_or(0))?;
                members.push(grown);
                Json::Array(members)
            }
            Err(_) => Json::Object(std::iter::once((step.clone(), grown)).collect()),
        };
    }
    Ok(grown)
}
