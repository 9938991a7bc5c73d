//! Arrays, in their stored form: JSON texts of the elements' stored forms.

use std::cmp::Ordering;

use rowferry_dialect::ir::Value;
use rowferry_dialect::scalar;
use rowferry_dialect::user_type;
use rowferry_dialect::values::array::{self, Array, Dimension};
use rowferry_dialect::values::order::{self, compare_jsonb};
use rowferry_dialect::values::{self, Decimal, decimal};
use rowferry_dialect::{Condition, Error, Result, Type, work};
use serde_json::Value as Json;

use super::call::{boolean, integer, text};
use super::cast::type_at;
use super::json::element_type;
use super::{Call, Row};

pub(super) const ROWS: &[Row] = &[
    Row::new("rf_make_array", 0, make_array).variadic().lenient(),
    Row::new("rf_make_array_nested", 0, make_nested).variadic().lenient(),
    Row::new("rf_array_upper", 2, |call| {
        Ok(dimension(call)?.map_or(Value::Null, |dimension| Value::Integer(dimension.upper())))
    }),
    Row::new("rf_array_length", 2, |call| {
        Ok(dimension(call)?.map_or(Value::Null, |dimension| Value::Integer(dimension.length as i64)))
    }),
    Row::new("rf_array_lower", 2, |call| {
        Ok(dimension(call)?.map_or(Value::Null, |dimension| Value::Integer(dimension.lower.into())))
    }),
    Row::new("rf_array_ndims", 1, |call| {
        let dimensions = array_at(call, 0)?.dimensions;
        Ok(if dimensions.is_empty() { Value::Null } else { Value::Integer(dimensions.len() as i64) })
    }),
    Row::new("rf_array_dims", 1, |call| {
        let dimensions = array_at(call, 0)?.dimensions;
        if dimensions.is_empty() {
            return Ok(Value::Null);
        }
        text(dimensions.iter().map(|one| format!("[{}:{}]", one.lower, one.upper())).collect::<String>())
    }),
    Row::new("rf_cardinality", 1, |call| integer(array_at(call, 0)?.members.len() as i64)),
    Row::new("rf_array_append", 2, |call| join(call, 0, 1)).lenient(),
    Row::new("rf_array_prepend", 2, |call| join(call, 1, 0)).lenient(),
    Row::new("rf_array_cat", 2, concatenate).lenient(),
    Row::new("rf_array_remove", 3, |call| {
        if call.is_null(1) {
            return Ok(Value::Null);
        }
        let gone = element(call, 2)?;
        let mut all = array_at(call, 1)?;
        if all.dimensions.len() > 1 {
            return Err(not_supported("removing elements from multidimensional arrays is not supported"));
        }
        remove(&mut all.members, &gone, texts(call)?)?;
        for dimension in &mut all.dimensions {
            dimension.length = all.members.len();
        }
        stored(Array::with_bounds(all.dimensions, all.members))
    })
    .lenient(),
    Row::new("rf_array_replace", 4, |call| {
        if call.is_null(1) {
            return Ok(Value::Null);
        }
        let texts = texts(call)?;
        let (old, new) = (element(call, 2)?, element(call, 3)?);
        let mut all = array_at(call, 1)?;
        for member in &mut all.members {
            work::step(8)?;
            if same(member, &old, texts) {
                *member = new.clone();
            }
        }
        stored(all)
    })
    .lenient(),
    Row::new("rf_enum_range", 3, enum_range).lenient(),
    Row::new("rf_array_bucket", 3, bucket),
    Row::new("rf_array_position", 3, position).optional(1).lenient(),
    Row::new("rf_array_positions", 3, |call| {
        if call.is_null(1) {
            return Ok(Value::Null);
        }
        let places = places(call)?.map(Json::from).collect();
        stored(Array::of(places))
    })
    .lenient(),
    Row::new("rf_vector_members", 2, vector_members),
    Row::new("rf_array_to_string", 3, to_string).optional(1).lenient(),
    Row::new("rf_array_fill", 2, fill).optional(1).lenient(),
    Row::new("rf_trim_array", 2, |call| {
        let all = array_at(call, 0)?;
        let length = all.dimensions.first().map_or(0, |outer| outer.length);
        let count = call.integer(1)?;
        let Some(kept) = usize::try_from(count).ok().and_then(|count| length.checked_sub(count)) else {
            let message = format!("number of elements to trim must be between 0 and {length}");
            return Err(Error::new(Condition::IllegalSubscript, message));
        };
        let Array { mut dimensions, mut members } = all;
        members.truncate(members.len() / length.max(1) * kept);
        for (at, dimension) in dimensions.iter_mut().enumerate() {
            dimension.lower = 1;
            if at == 0 {
                dimension.length = kept;
            }
        }
        stored(Array::with_bounds(dimensions, members))
    }),
    Row::new("rf_array_contains", 3, |call| {
        let texts = texts(call)?;
        let (all, sought) = (members(call, 1)?, members(call, 2)?);
        for sought in &sought {
            if sought.is_null() || !holds(&all, sought, texts)? {
                return boolean(false);
            }
        }
        boolean(true)
    }),
    Row::new("rf_array_overlaps", 3, |call| {
        let texts = texts(call)?;
        let (all, sought) = (members(call, 1)?, members(call, 2)?);
        for sought in &sought {
            if !sought.is_null() && holds(&all, sought, texts)? {
                return boolean(true);
            }
        }
        boolean(false)
    }),
];

/// The labels of an enum type (0) from one (1) to another (2); NULL is the first, or the last.
fn enum_range(call: &Call<'_>) -> Result<Value> {
    let ty = call.prepared(0, || match user_type::from_told(call.text(0)?) {
        Some(Type::User(ty)) if ty.labels().is_some() => Ok(ty),
        _ => Err(Error::internal("labels of no enum type")),
    })?;
    let labels = ty.labels().ok_or_else(|| Error::internal("labels of no enum type"))?;
    let place = |at: usize, open: usize| -> Result<usize> {
        if call.is_null(at) {
            return Ok(open);
        }
        let found = labels.position(call.text(at)?);
        found.ok_or_else(|| values::misfit(call.value(at), &Type::Text))
    };
    let (low, high) = (place(1, 0)?, place(2, labels.all().len())?);
    let within = labels.all().iter().enumerate().filter(|(at, _)| (low..=high).contains(at));
    let texts = within.map(|(_, label)| ty.check_committed(label).map(|()| Json::String(label.text.clone())));
    stored(Array::of(texts.collect::<Result<_>>()?))
}

/// A stored array taken apart.
pub(super) fn parse(stored: &str) -> Result<Array> {
    Array::read(stored.as_bytes())
}

pub(super) fn array_at(call: &Call<'_>, at: usize) -> Result<Array> {
    parse(call.text(at)?)
}

/// All elements of all dimensions.
fn members(call: &Call<'_>, at: usize) -> Result<Vec<Json>> {
    Ok(array_at(call, at)?.members)
}

/// An argument as a member.
pub(super) fn element(call: &Call<'_>, at: usize) -> Result<Json> {
    let mut member = String::new();
    array::push_element(&mut member, call.value(at), &element_type(call.value(at)));
    serde_json::from_str(&member).map_err(|_| Error::internal("an array element is not JSON"))
}

pub(super) fn stored(array: Array) -> Result<Value> {
    text(array.stored()?)
}

fn not_supported(message: &str) -> Error {
    Error::new(Condition::FeatureNotSupported, message)
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

/// A member of an array of bytes as a value by itself.
pub(super) fn bytes_value(member: &Json) -> Value {
    array::from_json(member, &Type::Bytea).unwrap_or(Value::Null)
}

/// How texts among elements are compared: the first argument of the functions that look for elements says what they
/// stand for.
type Texts = fn(&str, &str) -> Ordering;

fn texts(call: &Call<'_>) -> Result<Texts> {
    Ok(match call.text(0)? {
        "rf_array_decimal" => decimal::compare_text,
        "rf_array_interval" => order::intervals,
        "rf_array_timetz" => order::times,
        "rf_array_jsonb" => compare_jsonb,
        "rf_array_bpchar" => order::blanks_aside,
        "" | "rf_array" => |a, b| a.cmp(b),
        named => scalar::all()
            .chain(scalar::of_extensions())
            .find_map(|scalar| match scalar.order {
                scalar::Order::By { of_arrays, compare, .. } if of_arrays == named => Some(compare),
                _ => None,
            })
            .unwrap_or(|a, b| a.cmp(b)),
    })
}

/// Equal as elements: numbers by value, texts by what they stand for.
fn same(a: &Json, b: &Json, texts: Texts) -> bool {
    match (a, b) {
        (Json::Number(x), Json::Number(y)) if x != y => {
            matches!((Decimal::parse(&x.to_string()), Decimal::parse(&y.to_string())), (Ok(x), Ok(y)) if x == y)
        }
        (Json::String(a), Json::String(b)) => texts(a, b).is_eq(),
        _ => a == b,
    }
}

/// True if one of the members is this.
fn holds(members: &[Json], sought: &Json, texts: Texts) -> Result<bool> {
    for member in members {
        work::step(8)?;
        if same(member, sought, texts) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn remove(members: &mut Vec<Json>, gone: &Json, texts: Texts) -> Result<()> {
    work::step(members.len())?;
    members.retain(|member| !same(member, gone, texts));
    Ok(())
}

/// The dimension that the second argument names.
fn dimension(call: &Call<'_>) -> Result<Option<Dimension>> {
    let dimensions = array_at(call, 0)?.dimensions;
    let at = usize::try_from(call.integer(1)? - 1).ok();
    Ok(at.and_then(|at| dimensions.get(at).copied()))
}

/// An element joins an array at its end, or at its begin when it stands before it.
fn join(call: &Call<'_>, array: usize, new: usize) -> Result<Value> {
    let mut all = if call.is_null(array) { Array::default() } else { array_at(call, array)? };
    let new_member = element(call, new)?;
    match all.dimensions.as_mut_slice() {
        [] => return stored(Array::of(vec![new_member])),
        [only] if new < array && only.lower == i32::MIN => {
            return Err(Error::new(Condition::NumericValueOutOfRange, "integer out of range"));
        }
        [only] => {
            only.length += 1;
            Array::check_size(&[*only])?;
        }
        _ => return Err(Error::new(Condition::DataException, "argument must be empty or one-dimensional array")),
    }
    if new > array {
        all.members.push(new_member);
    } else {
        all.members.insert(0, new_member);
    }
    stored(all)
}

/// The subscripts of the elements that equal the second argument.
fn places(call: &Call<'_>) -> Result<impl Iterator<Item = i64> + use<>> {
    let all = array_at(call, 1)?;
    if all.dimensions.len() > 1 {
        return Err(not_supported("searching for elements in multidimensional arrays is not supported"));
    }
    let texts = texts(call)?;
    let sought = element(call, 2)?;
    work::step(all.members.len())?;
    let lower = all.dimensions.first().map_or(1, |outer| i64::from(outer.lower));
    let found = all.members.into_iter().enumerate().filter(move |(_, member)| same(member, &sought, texts));
    Ok(found.map(move |(at, _)| lower + at as i64))
}

/// How many of the thresholds (2), in ascending order, are not above the operand (1).
fn bucket(call: &Call<'_>) -> Result<Value> {
    let thresholds = array_at(call, 2)?;
    if thresholds.dimensions.len() > 1 {
        return Err(Error::new(Condition::IllegalSubscript, "thresholds must be one-dimensional array"));
    }
    if thresholds.members.contains(&Json::Null) {
        return Err(Error::new(Condition::NullValueNotAllowed, "thresholds array must not contain NULLs"));
    }
    let texts = texts(call)?;
    let operand = element(call, 1)?;
    work::step(thresholds.members.len())?;
    let below = thresholds.members.partition_point(|one| order::elements(one, &operand, texts).is_le());
    integer(below as i64)
}

fn position(call: &Call<'_>) -> Result<Value> {
    if call.is_null(1) {
        return Ok(Value::Null);
    }
    let start = if call.len() < 4 {
        i64::MIN
    } else if call.is_null(3) {
        if call.is_null(2) && !array_at(call, 1)?.members.contains(&Json::Null) {
            return Ok(Value::Null);
        }
        return Err(Error::new(Condition::NullValueNotAllowed, "initial position must not be null"));
    } else {
        call.integer(3)?
    };
    let found = places(call)?.find(|at| *at >= start);
    Ok(found.map_or(Value::Null, Value::Integer))
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
    let mismatch = || {
        let message = "multidimensional arrays must have array expressions with matching dimensions";
        Error::new(Condition::IllegalSubscript, message)
    };
    let mut shape: Option<Vec<Dimension>> = None;
    let mut all = Vec::new();
    for at in 0..call.len() {
        // A NULL among them is an empty array, which fits other empty ones only.
        let inner = if call.is_null(at) { Array::default() } else { array_at(call, at)? };
        if *shape.get_or_insert_with(|| inner.dimensions.clone()) != inner.dimensions {
            return Err(mismatch());
        }
        all.extend(inner.members);
    }
    let inner = shape.unwrap_or_default();
    if inner.len() >= array::MAX_DIMENSIONS {
        return Err(array::too_deep(inner.len() + 1));
    }
    let outer = Dimension { lower: 1, length: call.len() };
    stored(Array::with_bounds(std::iter::once(outer).chain(inner).collect(), all))
}

fn concatenate(call: &Call<'_>) -> Result<Value> {
    if call.is_null(0) || call.is_null(1) {
        return Ok(call.owned(usize::from(call.is_null(0))));
    }
    let (left, right) = (array_at(call, 0)?, array_at(call, 1)?);
    let incompatible = |detail: String| {
        Error::new(Condition::IllegalSubscript, "cannot concatenate incompatible arrays").detail(detail)
    };
    let differing = |what: &str| {
        incompatible(format!("Arrays with differing {what}dimensions are not compatible for concatenation."))
    };
    let (a, b) = (left.dimensions.len(), right.dimensions.len());
    if a == 0 {
        return Ok(call.owned(1));
    }
    if b == 0 {
        return Ok(call.owned(0));
    }
    if a.abs_diff(b) > 1 {
        return Err(incompatible(format!("Arrays of {a} and {b} dimensions are not compatible for concatenation.")));
    }
    // The longer list of dimensions gives the shape; an array of fewer is one row of it.
    let (mut dimensions, inner) = match a.cmp(&b) {
        Ordering::Less => (right.dimensions, left.dimensions),
        Ordering::Equal => (left.dimensions, right.dimensions[1..].to_vec()),
        Ordering::Greater => (left.dimensions, right.dimensions),
    };
    if dimensions[1..] != inner[..] {
        return Err(differing(if a == b { "element " } else { "" }));
    }
    dimensions[0].length += match a == b {
        true => right.members.len() / inner.iter().map(|one| one.length).product::<usize>().max(1),
        false => 1,
    };
    Array::check_size(&dimensions)?;
    let mut members = left.members;
    members.extend(right.members);
    stored(Array { dimensions, members })
}

/// `vector members(array of numbers, vector's type)`: as the vector is written. Like PostgreSQL's, it has one dimension and no
/// NULL.
fn vector_members(call: &Call<'_>) -> Result<Value> {
    let array = array_at(call, 0)?;
    let invalid = || {
        Error::new(Condition::DatatypeMismatch, format!("array is not a valid {}", call.text(1).unwrap_or_default()))
    };
    if array.dimensions.len() != 1 {
        return Err(invalid());
    }
    let numbers: Option<Vec<String>> =
        array.members.iter().map(|member| member.as_i64().map(|number| number.to_string())).collect();
    text(numbers.ok_or_else(invalid)?.join(" "))
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
    for member in members(call, 0)? {
        work::step(64)?;
        let text = match array::from_json(&member, &ty) {
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
    let null = |message: &str| Error::new(Condition::NullValueNotAllowed, message);
    let wrong =
        |detail: &str| Error::new(Condition::IllegalSubscript, "wrong number of array subscripts").detail(detail);
    if call.is_null(1) || (call.len() > 2 && call.is_null(2)) {
        return Err(null("dimension array or low bound array cannot be null"));
    }
    let numbers = |at: usize, what: &str| -> Result<Vec<i32>> {
        let array = array_at(call, at)?;
        if array.dimensions.len() > 1 {
            return Err(wrong(what));
        }
        let number = |member: &Json| member.as_i64().and_then(|number| i32::try_from(number).ok());
        array.members.iter().map(|one| number(one).ok_or_else(|| null("dimension values cannot be null"))).collect()
    };
    let lengths = numbers(1, "Dimension array must be one dimensional.")?;
    let lower = match call.len() {
        0..=2 => vec![1; lengths.len()],
        _ => numbers(2, "Dimension array must be one dimensional.")?,
    };
    if lengths.len() > array::MAX_DIMENSIONS {
        return Err(array::too_deep(lengths.len()));
    }
    if lower.len() != lengths.len() {
        return Err(wrong("Low bound array has different size than dimensions array."));
    }
    let mut dimensions = Vec::with_capacity(lengths.len());
    for (length, lower) in lengths.into_iter().zip(lower) {
        let length = usize::try_from(length).map_err(|_| array::too_many_elements())?;
        dimensions.push(Dimension { lower, length });
    }
    if dimensions.iter().any(|one| one.length == 0) {
        return text("[]");
    }
    let total = Array::check_size(&dimensions)?;
    if total == 0 {
        return text("[]");
    }
    let member = element(call, 0)?;
    work::room_to_work(total.saturating_mul(size_of::<Json>() + call.length(0)))?;
    let mut members = Vec::with_capacity(total);
    for _ in 0..total {
        work::step(size_of::<Json>())?;
        members.push(member.clone());
    }
    stored(Array { dimensions, members })
}
