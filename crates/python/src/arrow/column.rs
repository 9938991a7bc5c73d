//! Columns under construction, in the types that our databases need.

use std::sync::Arc;

use arrow_array::builder::{BooleanBufferBuilder, NullBufferBuilder};
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Decimal128Type, Decimal256Type, DurationMicrosecondType, Float32Type, Float64Type,
    Int8Type, Int16Type, Int32Type, Int64Type, IntervalMonthDayNanoType, Time64MicrosecondType,
    TimestampMicrosecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, FixedSizeListArray, ListArray, PrimitiveArray, RecordBatch,
    RecordBatchOptions, StringArray, StructArray,
};
use arrow_buffer::{BooleanBuffer, Buffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, DataType, Field, Fields, IntervalUnit, Schema, SchemaRef, TimeUnit};

use super::recycle;

/// Texts and bytes of one column of a batch: 32-bit offsets reach no further, and a batch is cut long before.
pub const BATCH_BYTES: usize = 256 * 1024 * 1024;

/// Values of one width.
#[derive(Debug)]
pub struct Fixed<T: ArrowPrimitiveType> {
    values: Vec<T::Native>,
    nulls: NullBufferBuilder,
}

impl<T: ArrowPrimitiveType> Fixed<T> {
    fn new() -> Self {
        Self { values: Vec::new(), nulls: NullBufferBuilder::new(0) }
    }

    /// Appends a value.
    #[inline]
    pub fn push(&mut self, value: T::Native) {
        self.values.push(value);
        self.nulls.append_non_null();
    }

    /// Makes room for so many values more.
    fn reserve(&mut self, values: usize) {
        recycle::reserve(&mut self.values, values);
    }

    /// The values and which of them are NULL, to append to both alike.
    pub const fn parts(&mut self) -> (&mut Vec<T::Native>, &mut NullBufferBuilder) {
        (&mut self.values, &mut self.nulls)
    }

    fn push_null(&mut self) {
        self.values.push(T::Native::default());
        self.nulls.append_null();
    }

    fn finish(&mut self, data_type: &DataType) -> ArrayRef {
        let values = ScalarBuffer::from(recycle::buffer(std::mem::take(&mut self.values)));
        let array = PrimitiveArray::<T>::new(values, self.nulls.finish());
        Arc::new(array.with_data_type(data_type.clone()))
    }
}

/// Values of any length.
#[derive(Debug)]
pub struct Bytes {
    bytes: Vec<u8>,
    offsets: Vec<i32>,
    nulls: NullBufferBuilder,
}

impl Bytes {
    fn new() -> Self {
        Self { bytes: Vec::new(), offsets: vec![0], nulls: NullBufferBuilder::new(0) }
    }

    /// Appends a value, which `write` appends to the bytes of those before. Texts must be UTF-8. When it fails,
    /// nothing has changed.
    #[inline]
    pub fn push_with<E>(&mut self, write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>) -> Result<(), E> {
        let before = self.bytes.len();
        if let Err(failure) = write(&mut self.bytes) {
            self.bytes.truncate(before);
            return Err(failure);
        }
        self.end();
        self.nulls.append_non_null();
        Ok(())
    }

    /// Appends a value.
    #[inline]
    pub fn push(&mut self, value: &[u8]) {
        self.bytes.extend_from_slice(value);
        self.end();
        self.nulls.append_non_null();
    }

    #[inline]
    fn end(&mut self) {
        // Batches are cut at `BATCH_BYTES`, and one value is shorter than a row may be: far from 2 GiB.
        self.offsets.push(self.bytes.len() as i32);
    }

    /// Appends NULL.
    #[inline]
    pub fn push_null(&mut self) {
        self.end();
        self.nulls.append_null();
    }

    /// Appends values that are `total` bytes together, none of them NULL.
    #[inline]
    pub fn extend<'a>(&mut self, total: usize, values: impl Iterator<Item = &'a [u8]>) {
        self.bytes.reserve(total);
        let before = self.offsets.len();
        for value in values {
            self.bytes.extend_from_slice(value);
            self.end();
        }
        self.nulls.append_n_non_nulls(self.offsets.len() - before);
    }

    /// Makes room for so many bytes more.
    pub fn reserve(&mut self, bytes: usize) {
        self.bytes.reserve(bytes);
    }

    /// Makes room for so many values more, as long on average as those that are there.
    fn reserve_alike(&mut self, values: usize) {
        let average = self.bytes.len() / (self.offsets.len() - 1).max(1) + 1;
        recycle::reserve(&mut self.bytes, average.saturating_mul(values).min(BATCH_BYTES / 4));
        recycle::reserve(&mut self.offsets, values);
    }

    /// Bytes so far.
    pub const fn len(&self) -> usize {
        self.bytes.len()
    }

    /// True when all bytes behind the first `start` are ASCII.
    pub fn is_ascii_from(&self, start: usize) -> bool {
        self.bytes.get(start..).is_none_or(<[u8]>::is_ascii)
    }

    fn take(&mut self) -> (OffsetBuffer<i32>, Buffer, Option<arrow_buffer::NullBuffer>) {
        let offsets = std::mem::replace(&mut self.offsets, vec![0]);
        let bytes = recycle::buffer(std::mem::take(&mut self.bytes));
        (OffsetBuffer::new(ScalarBuffer::from(recycle::buffer(offsets))), bytes, self.nulls.finish())
    }
}

/// A column under construction.
#[derive(Debug)]
#[allow(missing_docs, reason = "each is the type of its name")]
pub enum Column {
    Int8(Fixed<Int8Type>),
    Int16(Fixed<Int16Type>),
    Int32(Fixed<Int32Type>),
    Int64(Fixed<Int64Type>),
    UInt8(Fixed<UInt8Type>),
    UInt16(Fixed<UInt16Type>),
    UInt32(Fixed<UInt32Type>),
    UInt64(Fixed<UInt64Type>),
    Float32(Fixed<Float32Type>),
    Float64(Fixed<Float64Type>),
    /// Digits without their point.
    Decimal(Fixed<Decimal128Type>, DataType),
    /// The same, of more than 38 digits.
    LongDecimal(Fixed<Decimal256Type>, DataType),
    /// Days since 1970.
    Date(Fixed<Date32Type>),
    /// Microseconds since 1970, without a time zone, or in UTC and to be shown in the zone that the type names.
    Timestamp(Fixed<TimestampMicrosecondType>, DataType),
    /// Microseconds since midnight.
    Time(Fixed<Time64MicrosecondType>),
    /// Microseconds.
    Duration(Fixed<DurationMicrosecondType>),
    /// Months, days, nanoseconds.
    Interval(Fixed<IntervalMonthDayNanoType>),
    Bool(BooleanBufferBuilder, NullBufferBuilder),
    Text(Bytes),
    Binary(Bytes),
    /// The elements, where each list ends among them, and which lists are NULL.
    List(Box<Self>, Vec<i32>, NullBufferBuilder),
    /// Lists of so many singles each.
    Vector(i32, Vec<f32>, NullBufferBuilder),
    /// The fields by name.
    Struct(Vec<(String, Self)>, NullBufferBuilder),
}

impl Column {
    /// Decimals of at most 38 digits.
    pub fn decimal(precision: u8, scale: u8) -> Self {
        Self::Decimal(Fixed::new(), DataType::Decimal128(precision, scale as i8))
    }

    /// Decimals of at most 76 digits.
    pub fn long_decimal(precision: u8, scale: u8) -> Self {
        Self::LongDecimal(Fixed::new(), DataType::Decimal256(precision, scale as i8))
    }

    /// Lists of `size` singles each.
    pub fn vector(size: i32) -> Self {
        Self::Vector(size, Vec::new(), NullBufferBuilder::new(0))
    }

    /// Moments that are shown in the named time zone.
    pub fn timestamp_in(zone: &str) -> Self {
        Self::Timestamp(Fixed::new(), DataType::Timestamp(TimeUnit::Microsecond, Some(zone.into())))
    }

    /// Lists of what `element` builds.
    pub fn list(element: Self) -> Self {
        Self::List(Box::new(element), vec![0], NullBufferBuilder::new(0))
    }

    /// Records of named fields.
    pub fn record(fields: Vec<(String, Self)>) -> Self {
        Self::Struct(fields, NullBufferBuilder::new(0))
    }

    /// Truth values.
    pub fn bool() -> Self {
        Self::Bool(BooleanBufferBuilder::new(0), NullBufferBuilder::new(0))
    }

    /// Text, bytes.
    pub fn text() -> Self {
        Self::Text(Bytes::new())
    }

    /// Bytes.
    pub fn binary() -> Self {
        Self::Binary(Bytes::new())
    }

    /// Days, moments, times of day, durations and intervals; see the variants.
    pub fn date() -> Self {
        Self::Date(Fixed::new())
    }

    #[allow(missing_docs, reason = "as above")]
    pub fn timestamp() -> Self {
        Self::Timestamp(Fixed::new(), DataType::Timestamp(TimeUnit::Microsecond, None))
    }

    #[allow(missing_docs, reason = "as above")]
    pub fn time() -> Self {
        Self::Time(Fixed::new())
    }

    #[allow(missing_docs, reason = "as above")]
    pub fn duration() -> Self {
        Self::Duration(Fixed::new())
    }

    #[allow(missing_docs, reason = "as above")]
    pub fn interval() -> Self {
        Self::Interval(Fixed::new())
    }

    /// Signed integers of so many bytes: 1, 2, 4; otherwise 8.
    pub fn int(width: u8) -> Self {
        match width {
            1 => Self::Int8(Fixed::new()),
            2 => Self::Int16(Fixed::new()),
            4 => Self::Int32(Fixed::new()),
            _ => Self::Int64(Fixed::new()),
        }
    }

    /// Unsigned integers of so many bytes: 1, 2, 4; otherwise 8.
    pub fn uint(width: u8) -> Self {
        match width {
            1 => Self::UInt8(Fixed::new()),
            2 => Self::UInt16(Fixed::new()),
            4 => Self::UInt32(Fixed::new()),
            _ => Self::UInt64(Fixed::new()),
        }
    }

    /// Doubles, or singles.
    pub fn float(is_single: bool) -> Self {
        if is_single { Self::Float32(Fixed::new()) } else { Self::Float64(Fixed::new()) }
    }

    /// Appends NULL.
    pub fn push_null(&mut self) {
        match self {
            Self::Int8(column) => column.push_null(),
            Self::Int16(column) => column.push_null(),
            Self::Int32(column) => column.push_null(),
            Self::Int64(column) => column.push_null(),
            Self::UInt8(column) => column.push_null(),
            Self::UInt16(column) => column.push_null(),
            Self::UInt32(column) => column.push_null(),
            Self::UInt64(column) => column.push_null(),
            Self::Float32(column) => column.push_null(),
            Self::Float64(column) => column.push_null(),
            Self::Decimal(column, _) => column.push_null(),
            Self::LongDecimal(column, _) => column.push_null(),
            Self::Date(column) => column.push_null(),
            Self::Timestamp(column, _) => column.push_null(),
            Self::Time(column) => column.push_null(),
            Self::Duration(column) => column.push_null(),
            Self::Interval(column) => column.push_null(),
            Self::Bool(values, nulls) => {
                values.append(false);
                nulls.append_null();
            }
            Self::Text(column) | Self::Binary(column) => column.push_null(),
            Self::List(element, offsets, nulls) => {
                offsets.push(element.len() as i32);
                nulls.append_null();
            }
            Self::Vector(size, values, nulls) => {
                values.resize(values.len() + *size as usize, 0.0);
                nulls.append_null();
            }
            Self::Struct(fields, nulls) => {
                fields.iter_mut().for_each(|(_, field)| field.push_null());
                nulls.append_null();
            }
        }
    }

    /// Makes room for so many values more, where there will probably be as many: growing bit by bit costs copies.
    pub fn reserve(&mut self, values: usize) {
        match self {
            Self::Int8(column) => column.reserve(values),
            Self::Int16(column) => column.reserve(values),
            Self::Int32(column) => column.reserve(values),
            Self::Int64(column) => column.reserve(values),
            Self::UInt8(column) => column.reserve(values),
            Self::UInt16(column) => column.reserve(values),
            Self::UInt32(column) => column.reserve(values),
            Self::UInt64(column) => column.reserve(values),
            Self::Float32(column) => column.reserve(values),
            Self::Float64(column) => column.reserve(values),
            Self::Decimal(column, _) => column.reserve(values),
            Self::LongDecimal(column, _) => column.reserve(values),
            Self::Date(column) => column.reserve(values),
            Self::Timestamp(column, _) => column.reserve(values),
            Self::Time(column) => column.reserve(values),
            Self::Duration(column) => column.reserve(values),
            Self::Interval(column) => column.reserve(values),
            Self::Text(column) | Self::Binary(column) => column.reserve_alike(values),
            Self::Bool(..) | Self::List(..) | Self::Vector(..) | Self::Struct(..) => {}
        }
    }

    /// How many values.
    pub fn len(&self) -> usize {
        match self {
            Self::Int8(column) => column.values.len(),
            Self::Int16(column) => column.values.len(),
            Self::Int32(column) => column.values.len(),
            Self::Int64(column) => column.values.len(),
            Self::UInt8(column) => column.values.len(),
            Self::UInt16(column) => column.values.len(),
            Self::UInt32(column) => column.values.len(),
            Self::UInt64(column) => column.values.len(),
            Self::Float32(column) => column.values.len(),
            Self::Float64(column) => column.values.len(),
            Self::Decimal(column, _) => column.values.len(),
            Self::LongDecimal(column, _) => column.values.len(),
            Self::Date(column) => column.values.len(),
            Self::Timestamp(column, _) => column.values.len(),
            Self::Time(column) => column.values.len(),
            Self::Duration(column) => column.values.len(),
            Self::Interval(column) => column.values.len(),
            Self::Bool(values, _) => values.len(),
            Self::Text(column) | Self::Binary(column) => column.offsets.len() - 1,
            Self::List(_, offsets, _) => offsets.len() - 1,
            Self::Vector(_, _, nulls) | Self::Struct(_, nulls) => nulls.len(),
        }
    }

    /// Bytes of the longest buffer of texts or bytes in it.
    pub fn longest(&self) -> usize {
        match self {
            Self::Text(column) | Self::Binary(column) => column.bytes.len(),
            Self::List(element, ..) => element.longest(),
            Self::Struct(fields, _) => fields.iter().map(|(_, field)| field.longest()).max().unwrap_or(0),
            _ => 0,
        }
    }

    /// The type in Arrow's terms.
    pub fn data_type(&self) -> DataType {
        match self {
            Self::Int8(_) => DataType::Int8,
            Self::Int16(_) => DataType::Int16,
            Self::Int32(_) => DataType::Int32,
            Self::Int64(_) => DataType::Int64,
            Self::UInt8(_) => DataType::UInt8,
            Self::UInt16(_) => DataType::UInt16,
            Self::UInt32(_) => DataType::UInt32,
            Self::UInt64(_) => DataType::UInt64,
            Self::Float32(_) => DataType::Float32,
            Self::Float64(_) => DataType::Float64,
            Self::Decimal(_, data_type) | Self::LongDecimal(_, data_type) | Self::Timestamp(_, data_type) => {
                data_type.clone()
            }
            Self::Date(_) => DataType::Date32,
            Self::Time(_) => DataType::Time64(TimeUnit::Microsecond),
            Self::Duration(_) => DataType::Duration(TimeUnit::Microsecond),
            Self::Interval(_) => DataType::Interval(IntervalUnit::MonthDayNano),
            Self::Bool(..) => DataType::Boolean,
            Self::Text(_) => DataType::Utf8,
            Self::Binary(_) => DataType::Binary,
            Self::List(element, ..) => DataType::List(Arc::new(Field::new("item", element.data_type(), true))),
            Self::Vector(size, ..) => DataType::FixedSizeList(Arc::new(single()), *size),
            Self::Struct(fields, _) => DataType::Struct(fields_of(fields)),
        }
    }

    /// The values, and an empty column in their place.
    pub fn finish(&mut self) -> ArrayRef {
        let data_type = self.data_type();
        match self {
            Self::Int8(column) => column.finish(&data_type),
            Self::Int16(column) => column.finish(&data_type),
            Self::Int32(column) => column.finish(&data_type),
            Self::Int64(column) => column.finish(&data_type),
            Self::UInt8(column) => column.finish(&data_type),
            Self::UInt16(column) => column.finish(&data_type),
            Self::UInt32(column) => column.finish(&data_type),
            Self::UInt64(column) => column.finish(&data_type),
            Self::Float32(column) => column.finish(&data_type),
            Self::Float64(column) => column.finish(&data_type),
            Self::Decimal(column, _) => column.finish(&data_type),
            Self::LongDecimal(column, _) => column.finish(&data_type),
            Self::Date(column) => column.finish(&data_type),
            Self::Timestamp(column, _) => column.finish(&data_type),
            Self::Time(column) => column.finish(&data_type),
            Self::Duration(column) => column.finish(&data_type),
            Self::Interval(column) => column.finish(&data_type),
            Self::Bool(values, nulls) => {
                let values: BooleanBuffer = values.finish();
                Arc::new(BooleanArray::new(values, nulls.finish()))
            }
            Self::Text(column) => {
                let (offsets, bytes, nulls) = column.take();
                // SAFETY: the offsets grow with the bytes, and who pushes texts pushes whole ones in UTF-8.
                Arc::new(unsafe { StringArray::new_unchecked(offsets, bytes, nulls) })
            }
            Self::Binary(column) => {
                let (offsets, bytes, nulls) = column.take();
                Arc::new(BinaryArray::new(offsets, bytes, nulls))
            }
            Self::List(element, offsets, nulls) => {
                let field = Arc::new(Field::new("item", element.data_type(), true));
                let offsets = OffsetBuffer::new(ScalarBuffer::from(std::mem::replace(offsets, vec![0])));
                Arc::new(ListArray::new(field, offsets, element.finish(), nulls.finish()))
            }
            Self::Vector(size, values, nulls) => {
                let singles = ScalarBuffer::from(std::mem::take(values));
                let singles = Arc::new(PrimitiveArray::<Float32Type>::new(singles, None));
                let nulls = nulls.finish();
                Arc::new(FixedSizeListArray::new(Arc::new(single()), *size, singles, nulls))
            }
            Self::Struct(fields, nulls) => {
                let names = fields_of(fields);
                let arrays = fields.iter_mut().map(|(_, field)| field.finish()).collect();
                Arc::new(StructArray::new(names, arrays, nulls.finish()))
            }
        }
    }
}

/// The element of a vector: never NULL, so that its lists become matrices without a copy.
fn single() -> Field {
    Field::new("item", DataType::Float32, false)
}

fn fields_of(fields: &[(String, Column)]) -> Fields {
    fields.iter().map(|(name, field)| Field::new(name, field.data_type(), true)).collect()
}

/// The schema of these columns: names, whether NULL is possible.
pub fn schema<'a>(columns: impl IntoIterator<Item = (&'a str, bool, &'a Column)>) -> SchemaRef {
    let fields = columns.into_iter().map(|(name, nullable, column)| Field::new(name, column.data_type(), nullable));
    Arc::new(Schema::new(fields.collect::<Fields>()))
}

/// A batch of what the columns hold; they are empty afterwards.
pub fn batch<'a>(
    schema: &SchemaRef,
    columns: impl IntoIterator<Item = &'a mut Column>,
    rows: usize,
) -> Result<RecordBatch, ArrowError> {
    let arrays = columns.into_iter().map(Column::finish).collect();
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    RecordBatch::try_new_with_options(Arc::clone(schema), arrays, &options)
}
