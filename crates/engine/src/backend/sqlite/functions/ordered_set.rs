//! Aggregates that pick a value from a group in order: the most frequent, or that at a part of the way.

use rowferry_dialect::ir::Value;
use rowferry_dialect::values::array::{self, Array};
use rowferry_dialect::values::cast::{compare, float_of};
use rowferry_dialect::values::{Interval, ValueRef, float};
use rowferry_dialect::{Condition, Error, Result, Type, work};
use serde_json::Value as Json;

use super::Call;
use super::aggregate::Accumulator;
use super::cast::type_at;

/// What is picked.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Pick {
    /// The value that is there most often, the first of several.
    Mode,
    /// The first value at or behind a part of the way.
    Discrete,
    /// What lies there between two values.
    Continuous,
}

/// The values of a group in their order, without NULLs; the arguments are the value, its type and the part of the way.
pub(super) struct Picked {
    pick: Pick,
    /// Several parts of the way.
    many: bool,
    values: Vec<Value>,
    ty: Option<Type>,
    /// The part of the way, or the array of them.
    way: Option<Value>,
}

impl Picked {
    pub(super) fn new(pick: Pick, many: bool) -> Self {
        Self { pick, many, values: Vec::new(), ty: None, way: None }
    }

    fn ty(&self) -> Type {
        self.ty.clone().unwrap_or(Type::Text)
    }

    fn mode(&self) -> Value {
        let ty = self.ty();
        let (mut best, mut most) = (0, 0);
        let mut first = 0;
        for at in 0..self.values.len() {
            if at > first && !compare(reference(&self.values[at]), reference(&self.values[first]), &ty).is_eq() {
                first = at;
            }
            if at + 1 - first > most {
                (best, most) = (first, at + 1 - first);
            }
        }
        self.values.get(best).cloned().unwrap_or(Value::Null)
    }

    fn at(&self, part: f64) -> Result<Value> {
        if !(0.0..=1.0).contains(&part) {
            let message = format!("percentile value {} is not between 0 and 1", short(part));
            return Err(Error::new(Condition::NumericValueOutOfRange, message));
        }
        let Some(last) = self.values.len().checked_sub(1) else { return Ok(Value::Null) };
        if self.pick == Pick::Discrete {
            let at = (part * self.values.len() as f64).ceil() as usize;
            return Ok(self.values[at.saturating_sub(1).min(last)].clone());
        }
        let place = part * last as f64;
        let (low, high) = (place.floor(), place.ceil());
        let (first, second) = (&self.values[low as usize], &self.values[high as usize]);
        if low == high {
            return Ok(first.clone());
        }
        between(first, second, place - low, &self.ty())
    }

    fn all(&self, parts: &Value) -> Result<Value> {
        let Value::Text(stored) = parts else { return Err(Error::internal("an array that is no text")) };
        let Array { dimensions, members } = Array::read(stored.as_bytes())?;
        let ty = self.ty();
        let mut picked = Vec::with_capacity(members.len());
        for part in members {
            work::step(64)?;
            let value = match array::from_json(&part, &Type::Float8) {
                None | Some(Value::Null) => Value::Null,
                Some(part) => self.at(float_of(&part)?)?,
            };
            let mut member = String::new();
            array::push_element(&mut member, reference(&value), &ty);
            let member: Json =
                serde_json::from_str(&member).map_err(|_| Error::internal("an array element is not JSON"))?;
            picked.push(member);
        }
        Ok(Value::Text(Array::with_bounds(dimensions, picked).stored()?))
    }
}

impl Accumulator for Picked {
    fn step(&mut self, call: &Call<'_>) -> Result<()> {
        if self.ty.is_none() {
            self.ty = Some(type_at(call, 1)?);
            self.way = (call.len() > 2).then(|| call.owned(2));
        }
        if !call.is_null(0) {
            work::room(call.length(0))?;
            if self.values.len() == self.values.capacity() {
                work::room_to_work(self.values.len() * 2 * size_of::<Value>())?;
            }
            self.values.push(call.owned(0));
        }
        Ok(())
    }

    fn inverse(&mut self, _: &Call<'_>) -> Result<()> {
        Err(Error::unsupported("an ordered-set aggregate over a window"))
    }

    fn value(&mut self) -> Result<Value> {
        match (&self.way, self.pick) {
            (_, Pick::Mode) => Ok(self.mode()),
            (None | Some(Value::Null), _) => Ok(Value::Null),
            (Some(_), _) if self.values.is_empty() => Ok(Value::Null),
            (Some(way), _) if self.many => self.all(way),
            (Some(way), _) => self.at(float_of(way)?),
        }
    }
}

fn reference(value: &Value) -> ValueRef<'_> {
    match value {
        Value::Null => ValueRef::Null,
        Value::Integer(value) => ValueRef::Integer(*value),
        Value::Real(value) => ValueRef::Real(*value),
        Value::Text(text) => ValueRef::Text(text.as_bytes()),
        Value::Blob(bytes) => ValueRef::Blob(bytes),
    }
}

/// A part of the way from one value to another.
fn between(low: &Value, high: &Value, part: f64, ty: &Type) -> Result<Value> {
    if *ty == Type::Float8 {
        let (low, high) = (float_of(low)?, float_of(high)?);
        return Ok(float::to_value(low + part * (high - low)));
    }
    let interval = |value: &Value| match value {
        Value::Text(text) => Interval::from_stored(text.as_bytes()),
        _ => Err(Error::internal("an interval that is no text")),
    };
    let (low, high) = (interval(low)?, interval(high)?);
    let way = high.add(low.neg()?)?.mul(part)?;
    Ok(Value::Text(low.add(way)?.to_string()))
}

/// A number as C prints it with `%g`, as far as messages need that.
fn short(number: f64) -> String {
    if number.is_nan() { "nan".to_owned() } else { format!("{number}") }
}
