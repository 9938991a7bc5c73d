//! The functions behind PostgreSQL's own aggregates: counts and sums of integers, and the sums of floats of which
//! averages and variances are made, as Youngs and Cramer do it.

use rowferry_dialect::ir::Value;
use rowferry_dialect::values::array::{self, Array};
use rowferry_dialect::values::{Decimal, float};
use rowferry_dialect::{Condition, Error, Result, Type};

use super::arrays::array_at;
use super::call::{integer, text};
use super::{Call, Row};

pub(super) const ROWS: &[Row] = &[
    Row::new("rf_accum_count", 2, |call| integer(checked(call.integer(0)?.checked_add(1))?)).optional(1),
    Row::new("rf_accum_discount", 2, |call| integer(checked(call.integer(0)?.checked_sub(1))?)),
    Row::new("rf_accum_sum", 2, |call| match (call.is_null(0), call.is_null(1)) {
        (true, _) => Ok(call.owned(1)),
        (false, true) => Ok(call.owned(0)),
        (false, false) => integer(call.integer(0)?.wrapping_add(call.integer(1)?)),
    })
    .lenient(),
    Row::new("rf_accum_sum_numeric", 2, |call| match (call.is_null(0), call.is_null(1)) {
        (true, true) => Ok(Value::Null),
        (true, false) => text(call.integer(1)?.to_string()),
        (false, true) => Ok(call.owned(0)),
        (false, false) => text(call.decimal(0)?.add(&Decimal::from_i64(call.integer(1)?))?.to_string()),
    })
    .lenient(),
    Row::new("rf_accum_integers", 2, |call| {
        let [count, sum] = integers(call, 0)?;
        of_integers([count.wrapping_add(1), sum.wrapping_add(call.integer(1)?)])
    }),
    Row::new("rf_accum_integers_inv", 2, |call| {
        let [count, sum] = integers(call, 0)?;
        of_integers([count.wrapping_sub(1), sum.wrapping_sub(call.integer(1)?)])
    }),
    Row::new("rf_accum_integers_combine", 2, |call| {
        let ([count, sum], [more, further]) = (integers(call, 0)?, integers(call, 1)?);
        of_integers([count.wrapping_add(more), sum.wrapping_add(further)])
    }),
    Row::new("rf_accum_integers_avg", 1, |call| match integers(call, 0)? {
        [0, _] => Ok(Value::Null),
        [count, sum] => text(Decimal::from_i64(sum).div(&Decimal::from_i64(count))?.to_string()),
    }),
    Row::new("rf_accum_integers_sum", 1, |call| match integers(call, 0)? {
        [0, _] => Ok(Value::Null),
        [_, sum] => integer(sum),
    }),
    Row::new("rf_accum_floats", 2, accumulate),
    Row::new("rf_accum_floats_avg", 1, |call| {
        let [count, sum, _] = floats(call, "float8_avg")?;
        Ok(if count == 0.0 { Value::Null } else { float::to_value(sum / count) })
    }),
    Row::new("rf_accum_floats_var_pop", 1, |call| spread(call, "float8_var_pop", false, false)),
    Row::new("rf_accum_floats_var_samp", 1, |call| spread(call, "float8_var_samp", true, false)),
    Row::new("rf_accum_floats_stddev_pop", 1, |call| spread(call, "float8_stddev_pop", false, true)),
    Row::new("rf_accum_floats_stddev_samp", 1, |call| spread(call, "float8_stddev_samp", true, true)),
];

fn checked(number: Option<i64>) -> Result<i64> {
    number.ok_or_else(|| Error::new(Condition::NumericValueOutOfRange, "bigint out of range"))
}

/// The members of an array of just so many, none of them NULL.
fn members<const N: usize>(call: &Call<'_>, at: usize, element: &Type) -> Result<Option<[Value; N]>> {
    let array = array_at(call, at)?;
    if array.dimensions.len() > 1 {
        return Ok(None);
    }
    let members: Option<Vec<Value>> = array.members.iter().map(|member| array::from_json(member, element)).collect();
    let members = members.filter(|members| !members.contains(&Value::Null));
    Ok(members.and_then(|members| members.try_into().ok()))
}

/// Count and sum.
fn integers(call: &Call<'_>, at: usize) -> Result<[i64; 2]> {
    match members(call, at, &Type::Int8)? {
        Some([Value::Integer(count), Value::Integer(sum)]) => Ok([count, sum]),
        _ => Err(Error::new(Condition::InternalError, "expected 2-element int8 array")),
    }
}

fn of_integers(state: [i64; 2]) -> Result<Value> {
    text(Array::of(state.iter().map(|number| (*number).into()).collect()).stored()?)
}

/// Count, sum, and the sum of squared distances from the mean.
fn floats(call: &Call<'_>, name: &str) -> Result<[f64; 3]> {
    let wrong = || Error::new(Condition::InternalError, format!("{name}: expected 3-element float8 array"));
    let state: [Value; 3] = members(call, 0, &Type::Float8)?.ok_or_else(wrong)?;
    let mut numbers = [0.0; 3];
    for (number, value) in numbers.iter_mut().zip(&state) {
        *number = match value {
            Value::Real(number) => *number,
            Value::Integer(number) => *number as f64,
            Value::Text(text) => float::parse8(text)?,
            _ => return Err(wrong()),
        };
    }
    Ok(numbers)
}

fn accumulate(call: &Call<'_>) -> Result<Value> {
    let [count, sum, squares] = floats(call, "float8_accum")?;
    let value = call.float(1)?;
    let (now, total) = (count + 1.0, sum + value);
    let squares = if count > 0.0 {
        let distance = value * now - total;
        let squares = squares + distance * distance / (now * count);
        if total.is_infinite() || squares.is_infinite() {
            if !sum.is_infinite() && !value.is_infinite() {
                return Err(Error::new(Condition::NumericValueOutOfRange, "value out of range: overflow"));
            }
            f64::NAN
        } else {
            squares
        }
    } else if value.is_finite() {
        squares
    } else {
        f64::NAN
    };
    let mut stored = String::from("[");
    for (at, number) in [now, total, squares].into_iter().enumerate() {
        if at > 0 {
            stored.push(',');
        }
        array::push_element(&mut stored, float::to_value(number).as_ref(), &Type::Float8);
    }
    stored.push(']');
    text(stored)
}

fn spread(call: &Call<'_>, name: &str, sample: bool, root: bool) -> Result<Value> {
    let [count, _, squares] = floats(call, name)?;
    let least = if sample { 1.0 } else { 0.0 };
    if count <= least {
        return Ok(Value::Null);
    }
    let variance = squares / (count - least);
    Ok(float::to_value(if root { variance.sqrt() } else { variance }))
}
