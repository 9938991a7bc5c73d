//! Columns under construction, and what a value must be to become part of one.

use std::sync::Arc;

use arrow_array::builder::{BinaryBuilder, BooleanBuilder, NullBufferBuilder, PrimitiveBuilder, StringBuilder};
use arrow_array::types::{
    Date32Type, Decimal128Type, DurationMicrosecondType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, Time64MicrosecondType, TimestampMicrosecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{ArrayRef, ListArray};
use arrow_buffer::{OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, FieldRef, TimeUnit};

use super::spelled;
use crate::conversation::typed::Value;

/// Why a value cannot be a column's, in words that end a sentence.
type Misfit = String;

/// A column of a batch.
pub(super) enum Column {
    Bool(BooleanBuilder),
    Int8(PrimitiveBuilder<Int8Type>),
    Int16(PrimitiveBuilder<Int16Type>),
    Int32(PrimitiveBuilder<Int32Type>),
    Int64(PrimitiveBuilder<Int64Type>),
    UInt8(PrimitiveBuilder<UInt8Type>),
    UInt16(PrimitiveBuilder<UInt16Type>),
    UInt32(PrimitiveBuilder<UInt32Type>),
    UInt64(PrimitiveBuilder<UInt64Type>),
    Float32(PrimitiveBuilder<Float32Type>),
    Float64(PrimitiveBuilder<Float64Type>),
    Decimal(PrimitiveBuilder<Decimal128Type>, u8, i8),
    Date(PrimitiveBuilder<Date32Type>),
    Time(PrimitiveBuilder<Time64MicrosecondType>),
    Timestamp(PrimitiveBuilder<TimestampMicrosecondType>),
    /// The same in UTC.
    Moment(PrimitiveBuilder<TimestampMicrosecondType>),
    Duration(PrimitiveBuilder<DurationMicrosecondType>),
    Text(StringBuilder),
    Binary(BinaryBuilder),
    List {
        element: Box<Self>,
        field: FieldRef,
        offsets: Vec<i32>,
        nulls: NullBufferBuilder,
    },
}

/// Does the same with the builder of any column that has nothing but a builder.
macro_rules! with_builder {
    ($column:expr, $builder:ident => $do:expr, $list:pat => $with_list:expr) => {
        match $column {
            Column::Bool($builder) => $do,
            Column::Int8($builder) => $do,
            Column::Int16($builder) => $do,
            Column::Int32($builder) => $do,
            Column::Int64($builder) => $do,
            Column::UInt8($builder) => $do,
            Column::UInt16($builder) => $do,
            Column::UInt32($builder) => $do,
            Column::UInt64($builder) => $do,
            Column::Float32($builder) => $do,
            Column::Float64($builder) => $do,
            Column::Decimal($builder, ..) => $do,
            Column::Date($builder) => $do,
            Column::Time($builder) => $do,
            Column::Timestamp($builder) | Column::Moment($builder) => $do,
            Column::Duration($builder) => $do,
            Column::Text($builder) => $do,
            Column::Binary($builder) => $do,
            $list => $with_list,
        }
    };
}

impl Column {
    /// A column of this type; `None` for types that no database of ours has.
    pub(super) fn new(data_type: &DataType) -> Option<Self> {
        Some(match data_type {
            DataType::Boolean => Self::Bool(BooleanBuilder::new()),
            DataType::Int8 => Self::Int8(PrimitiveBuilder::new()),
            DataType::Int16 => Self::Int16(PrimitiveBuilder::new()),
            DataType::Int32 => Self::Int32(PrimitiveBuilder::new()),
            DataType::Int64 => Self::Int64(PrimitiveBuilder::new()),
            DataType::UInt8 => Self::UInt8(PrimitiveBuilder::new()),
            DataType::UInt16 => Self::UInt16(PrimitiveBuilder::new()),
            DataType::UInt32 => Self::UInt32(PrimitiveBuilder::new()),
            DataType::UInt64 => Self::UInt64(PrimitiveBuilder::new()),
            DataType::Float32 => Self::Float32(PrimitiveBuilder::new()),
            DataType::Float64 => Self::Float64(PrimitiveBuilder::new()),
            &DataType::Decimal128(precision, scale) => {
                Self::Decimal(PrimitiveBuilder::new().with_data_type(data_type.clone()), precision, scale)
            }
            DataType::Date32 => Self::Date(PrimitiveBuilder::new()),
            DataType::Time64(TimeUnit::Microsecond) => Self::Time(PrimitiveBuilder::new()),
            DataType::Timestamp(TimeUnit::Microsecond, None) => Self::Timestamp(PrimitiveBuilder::new()),
            DataType::Timestamp(TimeUnit::Microsecond, Some(_)) => {
                Self::Moment(PrimitiveBuilder::new().with_data_type(data_type.clone()))
            }
            DataType::Duration(TimeUnit::Microsecond) => Self::Duration(PrimitiveBuilder::new()),
            DataType::Utf8 => Self::Text(StringBuilder::new()),
            DataType::Binary => Self::Binary(BinaryBuilder::new()),
            DataType::List(field) => Self::List {
                element: Box::new(Self::new(field.data_type())?),
                field: Arc::clone(field),
                offsets: vec![0],
                nulls: NullBufferBuilder::new(0),
            },
            _ => return None,
        })
    }

    /// Appends a value; the bytes that it takes, about.
    pub(super) fn push(&mut self, value: &Value<'_>) -> Result<usize, Misfit> {
        match value {
            Value::Null => {
                self.push_null();
                return Ok(1);
            }
            Value::Wrong(why) => return Err(why.clone()),
            _ => {}
        }
        match self {
            Self::Bool(column) => column.append_value(boolean(value).ok_or_else(|| shown(value, "truth value"))?),
            Self::Int8(column) => column.append_value(integer(value, "integer of 8 bits")?),
            Self::Int16(column) => column.append_value(integer(value, "integer of 16 bits")?),
            Self::Int32(column) => column.append_value(integer(value, "integer of 32 bits")?),
            Self::Int64(column) => column.append_value(integer(value, "integer of 64 bits")?),
            Self::UInt8(column) => column.append_value(integer(value, "integer of 8 bits without a sign")?),
            Self::UInt16(column) => column.append_value(integer(value, "integer of 16 bits without a sign")?),
            Self::UInt32(column) => column.append_value(integer(value, "integer of 32 bits without a sign")?),
            Self::UInt64(column) => column.append_value(integer(value, "integer of 64 bits without a sign")?),
            Self::Float32(column) => column.append_value(match value {
                Value::Single(number) => *number,
                Value::Spelled(text) => spelled::number(text).ok_or_else(|| shown(value, "number"))?,
                _ => return Err(shown(value, "IEEE single")),
            }),
            Self::Float64(column) => column.append_value(match value {
                Value::Double(number) => *number,
                Value::Single(number) => f64::from(*number),
                Value::Spelled(text) => spelled::number(text).ok_or_else(|| shown(value, "number"))?,
                _ => return Err(shown(value, "IEEE double")),
            }),
            Self::Decimal(column, precision, scale) => column.append_value(exact(value, *precision, *scale)?),
            Self::Date(column) => {
                let days = match value {
                    Value::Days(days) => Some(*days),
                    Value::Spelled(text) => spelled::date(text),
                    _ => None,
                };
                let days = days.and_then(|days| i32::try_from(days).ok());
                column.append_value(days.ok_or_else(|| shown(value, "date of the calendar"))?);
            }
            Self::Time(column) => column.append_value(micros(value, spelled::time, "time of a day")?),
            Self::Timestamp(column) => {
                column.append_value(micros(value, spelled::timestamp, "date and time in microseconds")?);
            }
            Self::Moment(column) => column.append_value(micros(value, spelled::moment, "moment in microseconds")?),
            Self::Duration(column) => column.append_value(micros(value, |_| None, "duration")?),
            Self::Text(column) => {
                let (Value::Spelled(bytes) | Value::Bytes(bytes)) = value else { return Err(shown(value, "text")) };
                let text = std::str::from_utf8(bytes).map_err(|_| "the value is not in UTF-8".to_owned())?;
                check_room(column.values_slice().len(), text.len())?;
                column.append_value(text);
                return Ok(text.len() + 4);
            }
            Self::Binary(column) => {
                let decoded;
                let bytes = match value {
                    Value::Bytes(bytes) => bytes,
                    Value::Spelled(text) => {
                        decoded = spelled::bytes(text).ok_or_else(|| shown(value, "bytes in hexadecimal digits"))?;
                        decoded.as_slice()
                    }
                    _ => return Err(shown(value, "bytes")),
                };
                check_room(column.values_slice().len(), bytes.len())?;
                column.append_value(bytes);
                return Ok(bytes.len() + 4);
            }
            Self::List { element, offsets, nulls, .. } => {
                let Value::Spelled(text) = value else { return Err(shown(value, "array")) };
                let elements = spelled::list(text).map_err(|why| match why {
                    spelled::NoList::Dimensions => {
                        "the array has more than one dimension; its text can be written: ::text".to_owned()
                    }
                    spelled::NoList::Malformed => shown(value, "array"),
                })?;
                let mut taken = 4;
                for item in &elements {
                    taken += element.push(&item.as_deref().map_or(Value::Null, Value::Spelled))?;
                }
                offsets.push(i32::try_from(element.len()).map_err(|_| "the arrays have too many elements".to_owned())?);
                nulls.append_non_null();
                return Ok(taken);
            }
        }
        Ok(8)
    }

    fn push_null(&mut self) {
        with_builder!(self, column => column.append_null(), Self::List { element, offsets, nulls, .. } => {
            offsets.push(i32::try_from(element.len()).unwrap_or(i32::MAX));
            nulls.append_null();
        });
    }

    fn len(&self) -> usize {
        use arrow_array::builder::ArrayBuilder as _;
        with_builder!(self, column => column.len(), Self::List { offsets, .. } => offsets.len() - 1)
    }

    /// The values so far; it begins anew.
    pub(super) fn finish(&mut self) -> ArrayRef {
        with_builder!(self, column => Arc::new(column.finish()), Self::List { element, field, offsets, nulls } => {
            let offsets = std::mem::replace(offsets, vec![0]);
            let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
            Arc::new(ListArray::new(Arc::clone(field), offsets, element.finish(), nulls.finish()))
        })
    }
}

/// Offsets of texts and bytes have 32 bits, and batches end long before: it is one value that may be too long.
fn check_room(taken: usize, more: usize) -> Result<(), Misfit> {
    match i32::try_from(taken.saturating_add(more)) {
        Ok(_) => Ok(()),
        Err(_) => Err(format!("the value has {more} bytes, more than a column of a batch holds")),
    }
}

fn boolean(value: &Value<'_>) -> Option<bool> {
    match value {
        Value::Int(value) => Some(*value != 0),
        Value::Spelled(text) => spelled::boolean(text),
        _ => None,
    }
}

fn integer<T: TryFrom<i64> + TryFrom<u64> + std::str::FromStr>(value: &Value<'_>, what: &str) -> Result<T, Misfit> {
    let number = match value {
        Value::Int(number) => T::try_from(*number).ok(),
        Value::UInt(number) => T::try_from(*number).ok(),
        Value::Spelled(text) => spelled::number(text),
        _ => None,
    };
    number.ok_or_else(|| shown(value, what))
}

fn exact(value: &Value<'_>, precision: u8, scale: i8) -> Result<i128, Misfit> {
    let number = match value {
        Value::Int(number) => spelled::decimal(number.to_string().as_bytes(), precision, scale),
        Value::Spelled(text) => spelled::decimal(text, precision, scale),
        _ => None,
    };
    number.ok_or_else(|| shown(value, &format!("decimal({precision},{scale})")))
}

fn micros(value: &Value<'_>, read: impl Fn(&[u8]) -> Option<i64>, what: &str) -> Result<i64, Misfit> {
    let found = match value {
        Value::Micros(micros) => Some(*micros),
        Value::Spelled(text) => read(text),
        _ => None,
    };
    found.ok_or_else(|| shown(value, what))
}

/// Says that a value is no such thing.
fn shown(value: &Value<'_>, what: &str) -> Misfit {
    /// Of longer ones the beginning tells enough.
    const MOST: usize = 60;
    let text = match value {
        Value::Spelled(text) => super::visible(&String::from_utf8_lossy(text)),
        Value::Bytes(bytes) => format!("a value of {} bytes", bytes.len()),
        Value::Int(number) => number.to_string(),
        Value::UInt(number) => number.to_string(),
        Value::Single(number) => number.to_string(),
        Value::Double(number) => number.to_string(),
        other => format!("{other:?}"),
    };
    let short: String = text.chars().take(MOST).collect();
    let dots = if short.len() < text.len() { "…" } else { "" };
    format!("`{short}{dots}` is no {what}")
}
