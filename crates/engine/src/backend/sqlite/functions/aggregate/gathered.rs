//! What keeps the values of its rows: texts and bytes joined, the value at a place, arrays and JSON.

use std::collections::VecDeque;

use rowferry_dialect::ir::Value;
use rowferry_dialect::values::array;
use rowferry_dialect::values::array::{Array, Dimension};
use rowferry_dialect::{Condition, Error, Result, Type, work};

use super::super::cast::type_at;
use super::super::{Call, arrays, json};
use super::{Accumulator, ROW};

/// Values joined one behind the other as they come, so that they are in memory once; those of a window leave in front.
#[derive(Default)]
pub(super) struct Joined {
    bytes: Vec<u8>,
    /// Where the first separator that counts begins.
    start: usize,
    /// The lengths of each row's separator and value.
    rows: VecDeque<(usize, usize)>,
}

impl Joined {
    /// Adds a row's value; `write` appends it.
    fn push(&mut self, separator: &[u8], write: impl FnOnce(&mut Vec<u8>) -> Result<()>) -> Result<()> {
        let start = self.bytes.len();
        work::append(&mut self.bytes, separator)?;
        let middle = self.bytes.len();
        if let Err(error) = write(&mut self.bytes) {
            self.bytes.truncate(start);
            return Err(error);
        }
        work::step(self.bytes.len() - start)?;
        if self.rows.len() == self.rows.capacity() {
            work::room_to_work(self.rows.len() * size_of::<(usize, usize)>())?;
        }
        self.rows.push_back((middle - start, self.bytes.len() - middle));
        Ok(())
    }

    /// The first row leaves.
    fn leave(&mut self) {
        let Some((separator, value)) = self.rows.pop_front() else { return };
        self.start += separator + value;
        if self.start > self.bytes.len() / 2 {
            self.bytes.drain(..self.start);
            self.start = 0;
        }
    }

    /// The values with the separators between them; `None` without rows.
    fn joined(&self) -> Option<&[u8]> {
        let (separator, _) = self.rows.front()?;
        Some(&self.bytes[self.start + separator..])
    }

    /// The same, taken.
    fn take(&mut self) -> Option<Vec<u8>> {
        let (separator, _) = *self.rows.front()?;
        let mut bytes = std::mem::take(&mut self.bytes);
        bytes.drain(..self.start + separator);
        *self = Self::default();
        Some(bytes)
    }
}

fn into_text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// Texts or bytes joined; the first separator does not show.
#[derive(Default)]
pub(super) struct Strings {
    bytes: bool,
    joined: Joined,
}

impl Strings {
    /// BYTEA in place of text.
    pub(super) fn of_bytes() -> Self {
        Self { bytes: true, ..Self::default() }
    }

    fn result(&self, joined: Option<Vec<u8>>) -> Value {
        match joined {
            None => Value::Null,
            Some(joined) if self.bytes => Value::Blob(joined),
            Some(joined) => Value::Text(into_text(joined)),
        }
    }
}

impl Accumulator for Strings {
    fn step(&mut self, call: &Call<'_>) -> Result<()> {
        let separator = if call.is_null(1) { &[] } else { call.bytes(1)? };
        let value = call.bytes(0)?;
        self.joined.push(separator, |out| work::append(out, value))
    }

    fn inverse(&mut self, _: &Call<'_>) -> Result<()> {
        self.joined.leave();
        Ok(())
    }

    fn value(&mut self) -> Result<Value> {
        let joined = self.joined.joined().map(copied).transpose()?;
        Ok(self.result(joined))
    }

    fn finish(&mut self) -> Result<Value> {
        let joined = self.joined.take();
        Ok(self.result(joined))
    }
}

fn copied(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut copy = work::bytes(bytes.len())?;
    copy.extend_from_slice(bytes);
    Ok(copy)
}

/// The value at a place among those of a frame that are not NULL, counted from 1, or from the end with -1.
#[derive(Default)]
pub(super) struct Known {
    values: VecDeque<Value>,
    place: i64,
}

impl Accumulator for Known {
    fn step(&mut self, call: &Call<'_>) -> Result<()> {
        self.place = call.integer(1)?;
        work::room(ROW + call.length(0))?;
        self.values.push_back(call.owned(0));
        Ok(())
    }

    fn inverse(&mut self, _: &Call<'_>) -> Result<()> {
        self.values.pop_front();
        Ok(())
    }

    fn value(&mut self) -> Result<Value> {
        let back = self.place < 0;
        let Some(at) = self.place.unsigned_abs().checked_sub(1).and_then(|at| usize::try_from(at).ok()) else {
            return Ok(Value::Null);
        };
        let found = if back { self.values.iter().rev().nth(at) } else { self.values.get(at) };
        Ok(found.cloned().unwrap_or(Value::Null))
    }
}

/// What members are put together to.
#[derive(Clone, Copy, Eq, PartialEq)]
pub(super) enum Shape {
    Array,
    NestedArray,
    Json,
    Jsonb,
    JsonObject,
    JsonbObject,
}

impl Shape {
    /// What stands around the members.
    fn brackets(self) -> (&'static str, &'static str) {
        match self {
            Self::Array | Self::NestedArray | Self::Json | Self::Jsonb => ("[", "]"),
            Self::JsonObject => ("{ ", " }"),
            Self::JsonbObject => ("{", "}"),
        }
    }
}

/// Members in JSON form, NULLs too.
pub(super) struct Members {
    shape: Shape,
    /// The dimensions that all members have which are arrays.
    dimensions: Option<Vec<Dimension>>,
    joined: Joined,
}

impl Members {
    pub(super) fn new(shape: Shape) -> Self {
        Self { shape, dimensions: None, joined: Joined::default() }
    }

    fn result(&self, joined: Option<Vec<u8>>) -> Result<Value> {
        let Some(mut joined) = joined else { return Ok(Value::Null) };
        let (open, close) = self.shape.brackets();
        let lower = || std::iter::once(1).chain(self.dimensions.iter().flatten().map(|one| one.lower));
        if self.shape == Shape::NestedArray && lower().any(|lower| lower != 1) {
            let mut whole = String::new();
            array::open_bounded(&mut whole, lower());
            whole.push_str(open);
            work::append_text(&mut whole, &into_text(joined))?;
            whole.push_str("]}");
            return Ok(Value::Text(whole));
        }
        work::reserve(&mut joined, open.len() + close.len())?;
        joined.splice(..0, open.bytes());
        joined.extend_from_slice(close.as_bytes());
        let joined = into_text(joined);
        Ok(Value::Text(match self.shape {
            Shape::Jsonb | Shape::JsonbObject => rowferry_dialect::values::json::normalize(&joined)?,
            _ => joined,
        }))
    }
}

impl Accumulator for Members {
    fn step(&mut self, call: &Call<'_>) -> Result<()> {
        let mut member = work::text(call.length(0))?;
        match self.shape {
            Shape::Array => array::push_element(&mut member, call.value(0), &json::element_type(call.value(0))),
            Shape::NestedArray => {
                if call.is_null(0) {
                    return Err(Error::new(Condition::NullValueNotAllowed, "cannot accumulate null arrays"));
                }
                let stored = call.text(0)?;
                let Array { dimensions, members } = arrays::parse(stored)?;
                if dimensions.is_empty() && self.dimensions.is_none() {
                    return Err(Error::new(Condition::IllegalSubscript, "cannot accumulate empty arrays"));
                }
                if *self.dimensions.get_or_insert_with(|| dimensions.clone()) != dimensions {
                    let message = "cannot accumulate arrays of different dimensionality";
                    return Err(Error::new(Condition::IllegalSubscript, message));
                }
                // The lower bounds stand before the whole.
                let dimensions = dimensions.into_iter().map(|one| Dimension { lower: 1, ..one }).collect();
                work::append_text(&mut member, &Array { dimensions, members }.stored()?)?;
            }
            Shape::Json | Shape::Jsonb => member = json::argument(call, 0)?,
            Shape::JsonObject | Shape::JsonbObject => {
                if call.is_null(0) {
                    return Err(Error::new(Condition::InvalidParameterValue, "field name must not be null"));
                }
                member.push_str(&json::key_argument(call, 0)?);
                member.push_str(if self.shape == Shape::JsonObject { " : " } else { ": " });
                work::append_text(&mut member, &json::argument(call, 2)?)?;
            }
        }
        let separator: &[u8] = match self.shape {
            Shape::Array | Shape::NestedArray => b",",
            // What has a structure stands in a line of its own.
            Shape::Json if matches!(type_at(call, 1)?, ty if ty.is_row() || matches!(ty, Type::Array(_))) => b", \n ",
            _ => b", ",
        };
        self.joined.push(separator, |out| work::append(out, member.as_bytes()))
    }

    fn inverse(&mut self, _: &Call<'_>) -> Result<()> {
        self.joined.leave();
        Ok(())
    }

    fn value(&mut self) -> Result<Value> {
        let joined = self.joined.joined().map(copied).transpose()?;
        self.result(joined)
    }

    fn finish(&mut self) -> Result<Value> {
        let joined = self.joined.take();
        self.result(joined)
    }
}
