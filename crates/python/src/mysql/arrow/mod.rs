//! From rows on the wire to Arrow's columns: no Python object stands between, except for the text of connections whose
//! character set is not UTF-8.

mod blocks;
mod cells;
mod exact;
mod objects;

use std::ffi::CString;
use std::ops::Range;

use arrow_schema::SchemaRef;
use pyo3::prelude::*;
use pyo3::types::PyString;
use rowferry_wire::{Malformed, civil};
use rowferry_wire_mysql::messages::resultset::{ColumnDefinition, DateTime, Time};
use rowferry_wire_mysql::types::{BinaryForm, ColumnType};

use super::columns::{Plan, ZeroDates};
use super::spelling::{fixed, float_text, is_date, parse_date, parse_datetime, parse_int, parse_time};
use crate::arrow::column::{self, BATCH_BYTES, Column};
use crate::arrow::{ArrowBatch, failed};
use crate::cells as objects_of;
use crate::errors::{Class, error};
use cells::{BLOCK, Places};
use exact::{long_unscaled, unscaled};

pub use objects::RowsToArrow;

/// Why a row cannot become part of columns.
#[derive(Debug)]
pub enum Refused {
    /// The bytes are no row: the connection is of no further use.
    Malformed(Malformed),
    /// A value that Arrow's type does not hold: the column's place, and what is wrong.
    Value(usize, String),
}

impl From<Malformed> for Refused {
    fn from(malformed: Malformed) -> Self {
        Self::Malformed(malformed)
    }
}

/// A column under construction, and what its cells look like on the wire.
#[derive(Debug)]
struct Slot {
    column: Column,
    decimals: u8,
    /// Bits are sent as bytes, but wanted as a number.
    bits: bool,
    /// Text in the connection's character set, which is not UTF-8.
    encoded: bool,
}

/// Rows of one result set, by columns, up to a batch.
#[derive(Debug)]
pub struct ArrowRows {
    schema: SchemaRef,
    slots: Vec<Slot>,
    forms: Vec<BinaryForm>,
    places: Places,
    zero_dates: ZeroDates,
    encoding: Option<CString>,
    rows: usize,
    bytes: usize,
    limit: usize,
}

/// What the connection says of its columns beyond their definitions.
#[derive(Clone, Copy, Default)]
struct Looks<'a> {
    /// See [`Plan::bits`].
    bits: (bool, bool),
    /// See [`Plan::zone_name`].
    zone: Option<&'a str>,
    /// Text is not in UTF-8.
    encoded: bool,
}

/// A batch of so many rows will probably have as many as it may have.
const GROWN: usize = 4 * BLOCK;

/// Room is made for so many rows at most; what is not used is never touched.
const MOST_RESERVED: usize = 131_072;

impl ArrowRows {
    /// Columns as `plan` has them, for at most `limit` rows.
    pub fn new(py: Python<'_>, plan: &Plan, limit: usize) -> PyResult<Self> {
        let (bits, zone) = (plan.bits, plan.zone_name.as_deref());
        let looks = Looks { bits, zone, encoded: plan.encoding.is_some() };
        let mut slots = Vec::with_capacity(plan.columns.definitions.len());
        let mut forms = Vec::with_capacity(slots.capacity());
        for definition in &plan.columns.definitions {
            slots.push(Slot::new(definition, looks));
            forms.push(definition.column_type.binary_form().unwrap_or(BinaryForm::Bytes));
        }
        let mut names = Vec::with_capacity(slots.len());
        for name in &plan.names {
            names.push(name.bind(py).to_str()?);
        }
        // What a server says of NULL does not hold for every kind of join and roll-up.
        let schema = column::schema(names.into_iter().zip(&slots).map(|(name, slot)| (name, true, &slot.column)));
        let (zero_dates, encoding) = (plan.zero_dates, plan.encoding.clone());
        let places = Places::default();
        Ok(Self { schema, slots, forms, places, zero_dates, encoding, rows: 0, bytes: 0, limit })
    }

    /// Columns of these definitions, for rows of the text protocol in UTF-8.
    pub fn of(definitions: &[ColumnDefinition], zero_dates: ZeroDates) -> Self {
        let slots: Vec<_> = definitions.iter().map(|definition| Slot::new(definition, Looks::default())).collect();
        let named = definitions.iter().zip(&slots);
        let schema = column::schema(named.map(|(definition, slot)| (definition.name.as_str(), true, &slot.column)));
        let forms = vec![BinaryForm::Bytes; slots.len()];
        let places = Places::default();
        Self { schema, slots, forms, places, zero_dates, encoding: None, rows: 0, bytes: 0, limit: usize::MAX }
    }

    /// True when rows can be read while other threads run Python.
    pub const fn is_free_of_python(&self) -> bool {
        self.encoding.is_none()
    }

    /// The rows so far; `None` when there are none.
    pub fn take(&mut self, py: Python<'_>) -> PyResult<Option<Py<ArrowBatch>>> {
        if self.rows == 0 {
            return Ok(None);
        }
        self.batch(py).map(Some)
    }

    /// The rows so far, were it none.
    pub fn batch(&mut self, py: Python<'_>) -> PyResult<Py<ArrowBatch>> {
        self.bytes = 0;
        let rows = std::mem::take(&mut self.rows);
        let arrays = self.slots.iter_mut().map(|slot| &mut slot.column);
        let batch = column::batch(&self.schema, arrays, rows).map_err(|failure| failed(py, &failure))?;
        Py::new(py, ArrowBatch::new(batch))
    }

    /// The exception for a value that Arrow's type does not hold.
    pub fn value_error(&self, py: Python<'_>, at: usize, what: &str) -> PyErr {
        let name = self.schema.fields().get(at).map_or("", |field| field.name());
        error(py, Class::Data, None, &format!("column `{name}`: a value does not fit Arrow's type: {what}"))
    }

    /// Appends the rows at these places of `bytes`, of the text or of the binary protocol. After a refusal the columns
    /// are of no further use.
    pub fn push_rows(&mut self, bytes: &[u8], rows: &[Range<usize>], binary: bool) -> Result<(), Refused> {
        let Self { slots, forms, places, zero_dates, encoding, .. } = self;
        for block in rows.chunks(BLOCK) {
            places.cut(bytes, block, forms, binary)?;
            for (at, slot) in slots.iter_mut().enumerate() {
                let cells = places.column(bytes, at);
                slot.push_cells(cells, binary, *zero_dates, encoding.as_ref()).map_err(|wrong| wrong.at(at))?;
            }
            if self.rows < GROWN && self.rows + block.len() >= GROWN {
                let more = self.limit.saturating_sub(self.rows).min(MOST_RESERVED);
                slots.iter_mut().for_each(|slot| slot.column.reserve(more));
            }
            self.rows += block.len();
            self.bytes += block.iter().map(ExactSizeIterator::len).sum::<usize>();
        }
        Ok(())
    }

    /// How many more rows the batch may have, at most a block.
    pub fn room(&self) -> usize {
        if self.bytes >= BATCH_BYTES { 0 } else { self.limit.saturating_sub(self.rows).min(BLOCK) }
    }
}

/// What is wrong with a cell.
enum Wrong {
    Malformed(Malformed),
    /// It is no value of its column's type.
    Value(&'static str),
    /// A day that no calendar has, spelled out.
    NoDate(String),
}

impl From<Malformed> for Wrong {
    fn from(malformed: Malformed) -> Self {
        Self::Malformed(malformed)
    }
}

impl Wrong {
    #[cold]
    fn at(self, at: usize) -> Refused {
        match self {
            Self::Malformed(malformed) => Refused::Malformed(malformed),
            Self::Value(what) => Refused::Value(at, what.into()),
            Self::NoDate(text) => Refused::Value(at, format!("`{text}` is no date of the calendar")),
        }
    }
}

const NO_NUMBER: Wrong = Wrong::Value("it is no number");
const NO_INTEGER: Wrong = Wrong::Value("it is no integer of its column's width");
const NO_DECIMAL: Wrong = Wrong::Value("it has more digits than its column, or is no exact number");
const NO_TIME: Wrong = Wrong::Value("it is no duration");
const NO_UTF8: Wrong = Wrong::Value("it is no UTF-8");

impl Slot {
    fn new(definition: &ColumnDefinition, looks: Looks<'_>) -> Self {
        let (numbers, truths) = looks.bits;
        let bits = definition.column_type == ColumnType::BIT && numbers;
        let column = match (definition.column_type, looks.zone) {
            (ColumnType::BIT, _) if truths && definition.length == 1 => Column::bool(),
            (ColumnType::BIT, _) if numbers => Column::uint(8),
            (ColumnType::TIMESTAMP, Some(zone)) => Column::timestamp_in(zone),
            _ => builder(definition),
        };
        let encoded = looks.encoded && matches!(column, Column::Text(_));
        Self { column, decimals: definition.decimals, bits, encoded }
    }

    #[inline]
    fn push_text(&mut self, text: &[u8], zero_dates: ZeroDates, encoding: Option<&CString>) -> Result<(), Wrong> {
        let small = |text| parse_int(text).ok_or(NO_INTEGER);
        match &mut self.column {
            Column::Int32(column) => column.push(small(text)?.try_into().map_err(|_| NO_INTEGER)?),
            Column::Int64(column) => column.push(small(text)?),
            Column::Text(column) if !self.encoded => {
                if !text.is_ascii() && std::str::from_utf8(text).is_err() {
                    return Err(NO_UTF8);
                }
                column.push(text);
            }
            Column::Decimal(column, data_type) => column.push(unscaled(text, data_type).ok_or(NO_DECIMAL)?),
            Column::Float64(column) => column.push(number(text)?),
            Column::Date(column) => match parse_date(text).and_then(unix_day) {
                Some(day) => column.push(day),
                None => {
                    no_date(text, false, zero_dates)?;
                    self.column.push_null();
                }
            },
            Column::Timestamp(column, _) => match parse_datetime(text).and_then(unix_moment) {
                Some(moment) => column.push(moment),
                None => {
                    no_date(text, false, zero_dates)?;
                    self.column.push_null();
                }
            },
            Column::Duration(column) => column.push(microseconds(parse_time(text).ok_or(NO_TIME)?)),
            Column::Binary(column) => column.push(text),
            Column::Int8(column) => column.push(small(text)?.try_into().map_err(|_| NO_INTEGER)?),
            Column::Int16(column) => column.push(small(text)?.try_into().map_err(|_| NO_INTEGER)?),
            Column::UInt8(column) => column.push(small(text)?.try_into().map_err(|_| NO_INTEGER)?),
            Column::UInt16(column) => column.push(small(text)?.try_into().map_err(|_| NO_INTEGER)?),
            Column::UInt32(column) => column.push(small(text)?.try_into().map_err(|_| NO_INTEGER)?),
            Column::UInt64(column) if self.bits => column.push(bits(text)?),
            Column::UInt64(column) => column.push(match parse_int(text) {
                Some(value) => value.try_into().map_err(|_| NO_INTEGER)?,
                // Beyond 63 bits.
                None => number(text).map_err(|_| NO_INTEGER)?,
            }),
            Column::Float32(column) => column.push(number(text)?),
            Column::LongDecimal(column, data_type) => column.push(long_unscaled(text, data_type).ok_or(NO_DECIMAL)?),
            Column::Bool(values, nulls) => {
                values.append(bits(text)? != 0);
                nulls.append_non_null();
            }
            Column::Text(column) => {
                let Some(encoding) = encoding else { return Err(NO_UTF8) };
                column.push_with(|out| append_decoded(text, encoding, out))?;
            }
            Column::Vector(size, values, nulls) => {
                if text.len() != *size as usize * 4 {
                    return Err(Wrong::Value("the vector has fewer numbers than its column"));
                }
                values.extend(text.chunks_exact(4).map(|single| match *single {
                    [a, b, c, d] => f32::from_le_bytes([a, b, c, d]),
                    _ => 0.0,
                }));
                nulls.append_non_null();
            }
            Column::Time(_) | Column::Interval(_) | Column::List(..) | Column::Struct(..) => {
                return Err(Wrong::Value("MySQL has no such type"));
            }
        }
        Ok(())
    }

    #[inline]
    fn push_binary(&mut self, body: &[u8], zero_dates: ZeroDates, encoding: Option<&CString>) -> Result<(), Wrong> {
        match &mut self.column {
            Column::Duration(column) => column.push(microseconds(Time::decode(body)?)),
            // Rounded as the text protocol rounds it.
            Column::Float32(column) => {
                column.push(number(float_text(f32::from_le_bytes(fixed(body)?), self.decimals).as_bytes())?);
            }
            // The same bytes in both protocols.
            _ => self.push_text(body, zero_dates, encoding)?,
        }
        Ok(())
    }
}

/// A day that no calendar has: an error, or NULL, as Arrow's dates have no text.
#[cold]
fn no_date(body: &[u8], binary: bool, zero_dates: ZeroDates) -> Result<(), Wrong> {
    if zero_dates != ZeroDates::Refuse {
        return Ok(());
    }
    let text = if binary { spelled(DateTime::decode(body)?) } else { body.to_vec() };
    Err(Wrong::NoDate(String::from_utf8_lossy(&text).into_owned()))
}

/// The column that holds cells of a definition.
fn builder(definition: &ColumnDefinition) -> Column {
    let integer = |width| if definition.is_unsigned() { Column::uint(width) } else { Column::int(width) };
    match definition.column_type {
        ColumnType::TINY => integer(1),
        ColumnType::SHORT => integer(2),
        ColumnType::LONG | ColumnType::INT24 => integer(4),
        ColumnType::LONGLONG => integer(8),
        // Up to 2155, whatever its flags say.
        ColumnType::YEAR => Column::int(2),
        ColumnType::FLOAT => Column::float(true),
        ColumnType::DOUBLE => Column::float(false),
        ColumnType::DECIMAL | ColumnType::NEWDECIMAL => decimal(definition),
        ColumnType::DATE | ColumnType::NEWDATE => Column::date(),
        ColumnType::DATETIME | ColumnType::TIMESTAMP => Column::timestamp(),
        ColumnType::TIME => Column::duration(),
        ColumnType::JSON => Column::text(),
        ColumnType::VECTOR if vector_size(definition) > 0 => Column::vector(vector_size(definition)),
        ColumnType::BIT | ColumnType::GEOMETRY | ColumnType::VECTOR => Column::binary(),
        _ if definition.is_binary() => Column::binary(),
        _ => Column::text(),
    }
}

/// How many numbers, of four bytes each.
fn vector_size(definition: &ColumnDefinition) -> i32 {
    i32::try_from(definition.length / 4).unwrap_or(0)
}

/// The display width counts the digits, a point where there are decimals, and a sign where there may be one.
fn decimal(definition: &ColumnDefinition) -> Column {
    let scale = definition.decimals.min(38);
    let beside = u32::from(scale > 0) + u32::from(!definition.is_unsigned());
    let digits = definition.length.saturating_sub(beside).clamp(u32::from(scale).max(1), 76) as u8;
    if digits <= 38 { Column::decimal(digits, scale) } else { Column::long_decimal(digits, scale) }
}

/// Days since 1970; `None` when the calendar has no such day.
fn unix_day(value: DateTime) -> Option<i32> {
    is_date(value)
        .then(|| civil::days_from_civil(i64::from(value.year), i64::from(value.month), i64::from(value.day)) as i32)
}

/// Microseconds since 1970.
fn unix_moment(value: DateTime) -> Option<i64> {
    let DateTime { hour, minute, second, microsecond, .. } = value;
    if hour > 23 || minute > 59 || second > 59 || microsecond > 999_999 {
        return None;
    }
    let seconds = i64::from(hour) * 3_600 + i64::from(minute) * 60 + i64::from(second);
    Some((i64::from(unix_day(value)?) * 86_400 + seconds) * 1_000_000 + i64::from(microsecond))
}

fn microseconds(value: Time) -> i64 {
    let hours = i64::from(value.days) * 24 + i64::from(value.hours);
    let seconds = hours * 3_600 + i64::from(value.minutes) * 60 + i64::from(value.seconds);
    let total = seconds * 1_000_000 + i64::from(value.microseconds);
    if value.negative { -total } else { total }
}

#[inline]
fn number<T: std::str::FromStr>(text: &[u8]) -> Result<T, Wrong> {
    std::str::from_utf8(text).ok().and_then(|text| text.parse().ok()).ok_or(NO_NUMBER)
}

/// Up to 64 bits, most significant first.
fn bits(bytes: &[u8]) -> Result<u64, Wrong> {
    if bytes.len() > 8 {
        return Err(Wrong::Value("it has more than 64 bits"));
    }
    Ok(bytes.iter().fold(0, |value, &byte| value << 8 | u64::from(byte)))
}

fn spelled(value: DateTime) -> Vec<u8> {
    let DateTime { year, month, day, hour, minute, second, .. } = value;
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}").into_bytes()
}

/// Text in an encoding that Python knows, as UTF-8.
fn append_decoded(text: &[u8], encoding: &CString, out: &mut Vec<u8>) -> Result<(), Wrong> {
    const UNKNOWN: Wrong = Wrong::Value("it is no text of the connection's character set");
    Python::attach(|py| {
        // SAFETY: the GIL is held; the function answers a new reference, or null with an exception set.
        let decoded = unsafe { Bound::from_owned_ptr_or_err(py, objects_of::encoded_text(text, encoding)) };
        let decoded = decoded.map_err(|_| UNKNOWN)?;
        let decoded = decoded.cast::<PyString>().map_err(|_| UNKNOWN)?;
        out.extend_from_slice(decoded.to_str().map_err(|_| UNKNOWN)?.as_bytes());
        if i32::try_from(out.len()).is_err() {
            return Err(Wrong::Value("the batch would be beyond 2 GiB"));
        }
        Ok(())
    })
}
