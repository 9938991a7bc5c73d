//! From cells on the wire to Python objects: one decoder for each column, resolved once for each statement.

use std::ptr;
use std::sync::Arc;

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyTuple;
use rowferry_client::informix::Column;
use rowferry_wire::{Malformed, Reader, civil};
use rowferry_wire_sqli::client::Prepared;
use rowferry_wire_sqli::types::TimeUnit;
use rowferry_wire_sqli::values::composite::CompositeType;
use rowferry_wire_sqli::values::{Cell, CellFormat, DateTime, Interval};
use rowferry_wire_sqli::{Qualifier, TypeCode};

use super::composites::Composite;
use super::text::Encoding;
use crate::cells::{self, Object};
use crate::errors::{Class, error};

/// A class of `rowferry.informix._values`, made from one argument.
#[derive(Clone, Copy, Debug)]
enum Made {
    BlobLocator,
    ClobLocator,
    IntervalYM,
}

impl Made {
    fn class(self, py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
        static CLASSES: [PyOnceLock<Py<PyAny>>; 3] = [PyOnceLock::new(), PyOnceLock::new(), PyOnceLock::new()];
        let (place, name) = match self {
            Self::BlobLocator => (0, "BlobLocator"),
            Self::ClobLocator => (1, "ClobLocator"),
            Self::IntervalYM => (2, "IntervalYM"),
        };
        CLASSES[place].import(py, "rowferry.informix._values", name)
    }
}

/// How a column's cells become objects.
#[derive(Clone, Copy, Debug)]
enum Kind {
    /// As the cell says.
    Plain,
    /// `CHAR`: its padding is cut off.
    Padded,
    /// `DATETIME` with and without a date, and with a date alone.
    DateAndTime,
    DateOnly,
    TimeOnly,
    Decimal(Option<u8>),
    /// A locator, in hexadecimal on the wire.
    Locator(Made),
    /// A row or collection, by its place among those of the statement.
    Composite(usize),
}

/// Everything that depends on the statement only.
pub struct Plan {
    /// What the plan is for.
    pub prepared: Arc<Prepared>,
    decoders: Vec<(CellFormat, Kind)>,
    composites: Vec<Composite>,
    encoding: Encoding,
    atomic: bool,
    /// PEP 249's description; None when no rows come back.
    pub description: Option<Py<PyTuple>>,
}

/// Why a row was not built.
pub enum RowError {
    /// The bytes are no row: the connection is of no further use.
    Malformed(Malformed),
    /// A Python exception is set: this row is lost, the connection is fine.
    Raised,
}

fn kind_of(format: CellFormat, type_name: &[u8]) -> Kind {
    match format {
        CellFormat::Char(_) => Kind::Padded,
        CellFormat::DateTime(qualifier) if qualifier.first().0 >= TimeUnit::HOUR.0 => Kind::TimeOnly,
        CellFormat::DateTime(qualifier) if qualifier.last().0 <= TimeUnit::DAY.0 => Kind::DateOnly,
        CellFormat::DateTime(_) => Kind::DateAndTime,
        CellFormat::Decimal { scale, .. } => Kind::Decimal(scale),
        CellFormat::LocatorHex if type_name == b"clob" => Kind::Locator(Made::ClobLocator),
        CellFormat::LocatorHex => Kind::Locator(Made::BlobLocator),
        _ => Kind::Plain,
    }
}

/// Sizes, precision and scale as PEP 249 has them.
fn sizes(column: &Column) -> (Option<i32>, Option<u8>, Option<u8>) {
    match column.format {
        CellFormat::Decimal { precision, scale } => (None, Some(precision), scale),
        CellFormat::Char(_) | CellFormat::VarChar(_) | CellFormat::LongText => {
            (Some(column.encoded_length & if column.code == TypeCode::VARCHAR { 0xff } else { i32::MAX }), None, None)
        }
        CellFormat::LocatorHex => (Some(column.encoded_length), None, None),
        format => (format.fixed_width().map(|width| width as i32), None, None),
    }
}

impl Plan {
    /// Resolves decoders for the columns of `prepared`.
    pub fn new(py: Python<'_>, prepared: Arc<Prepared>, encoding: &Encoding) -> PyResult<Self> {
        let description = if prepared.is_query() {
            let mut columns = Vec::with_capacity(prepared.columns.len());
            for column in &prepared.columns {
                // SAFETY: `decode` answers a new reference or null with an exception set.
                let name = unsafe { Bound::from_owned_ptr_or_err(py, encoding.decode(&column.name)) }?;
                let (size, precision, scale) = sizes(column);
                columns.push((name, column.code.0, size, size, precision, scale, !column.not_null));
            }
            Some(PyTuple::new(py, columns)?.unbind())
        } else {
            None
        };
        let mut composites = Vec::new();
        let mut decoders = Vec::with_capacity(prepared.columns.len());
        for column in &prepared.columns {
            let kind = match Composite::of(py, column, encoding)? {
                Some(composite) => {
                    composites.push(composite);
                    Kind::Composite(composites.len() - 1)
                }
                None => kind_of(column.format, &column.type_name),
            };
            decoders.push((column.format, kind));
        }
        let atomic = !prepared
            .columns
            .iter()
            .any(|column| matches!(column.format, CellFormat::Interval(_) | CellFormat::LocatorHex));
        let atomic = atomic && composites.is_empty();
        Ok(Self { decoders, composites, encoding: encoding.clone(), atomic, description, prepared })
    }

    /// The code set of the client.
    pub const fn encoding(&self) -> &Encoding {
        &self.encoding
    }

    /// The names of the columns.
    pub fn names(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let name = |column: &Column| -> PyResult<String> {
            // SAFETY: `decode` answers a new reference or null with an exception set.
            unsafe { Bound::from_owned_ptr_or_err(py, self.encoding.decode(&column.name)) }?.extract()
        };
        self.prepared.columns.iter().map(name).collect()
    }

    /// The type of a column of rows or collections; `None` for other columns.
    pub fn composite_type(&self, column: usize) -> Option<&CompositeType> {
        match self.decoders.get(column)? {
            (_, Kind::Composite(place)) => Some(self.composites[*place].ty()),
            _ => None,
        }
    }

    /// The value of a `BYTE` or `TEXT` column from its contents; null with an exception set when it is no text.
    pub fn lob(&self, column: usize, contents: &[u8]) -> Object {
        match self.prepared.columns.get(column) {
            Some(column) if column.code == TypeCode::TEXT => self.encoding.decode(contents),
            _ => cells::bytes(contents),
        }
    }

    /// Builds a row, which must be consumed exactly. `BYTE` and `TEXT` values are None, and their columns and
    /// descriptors handed to `lob`.
    #[inline]
    pub fn row(&self, py: Python<'_>, payload: &[u8], mut lob: impl FnMut(usize, &[u8])) -> Result<Object, RowError> {
        let mut reader = Reader::new(payload);
        let mut malformed = None;
        let row = cells::tuple(self.decoders.len(), self.atomic, |at| {
            let (format, kind) = self.decoders[at];
            match format.decode(&mut reader) {
                Ok(Cell::SimpleLob(descriptor)) => {
                    lob(at, descriptor.0);
                    cells::none()
                }
                Ok(Cell::Text(text)) if let Kind::Composite(place) = kind => self.composite(py, place, text),
                Ok(cell) => cell_object(py, format, kind, cell, &self.encoding),
                Err(error) => {
                    malformed = Some(error);
                    ptr::null_mut()
                }
            }
        });
        match (row.is_null(), malformed) {
            (_, Some(malformed)) => Err(RowError::Malformed(malformed)),
            (true, None) => Err(RowError::Raised),
            (false, None) => match reader.finish("row longer than its columns") {
                Ok(()) => Ok(row),
                Err(malformed) => {
                    // SAFETY: the reference that `tuple` answered.
                    unsafe { ffi::Py_DECREF(row) };
                    Err(RowError::Malformed(malformed))
                }
            },
        }
    }

    fn composite(&self, py: Python<'_>, place: usize, text: &[u8]) -> Object {
        match self.composites[place].object(py, text, &self.encoding) {
            Ok(object) => object.into_ptr(),
            Err(error) => raise(error),
        }
    }
}

/// The locator of a smart large object.
pub fn locator<'py>(py: Python<'py>, type_name: &[u8], raw: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    let made = if type_name == b"clob" { Made::ClobLocator } else { Made::BlobLocator };
    made.class(py)?.call1((raw,))
}

/// The object for a value that stands in no row of its own: a field of a `ROW`, an element of a collection.
pub fn object(py: Python<'_>, format: CellFormat, cell: Cell<'_>, encoding: &Encoding) -> Object {
    cell_object(py, format, kind_of(format, b""), cell, encoding)
}

#[inline]
fn cell_object(py: Python<'_>, format: CellFormat, kind: Kind, cell: Cell<'_>, encoding: &Encoding) -> Object {
    match (cell, kind) {
        (Cell::Null, _) => cells::none(),
        (Cell::Int(value), _) => cells::int(value),
        (Cell::Text(text), Kind::Padded) => {
            let len = text.iter().rposition(|&byte| byte != b' ').map_or(0, |last| last + 1);
            encoding.decode(&text[..len])
        }
        (Cell::Text(hex), Kind::Locator(made)) => match from_hex(hex) {
            Some(raw) => make(py, made, |class| class.call1((raw.as_slice(),))),
            None => raise(error(py, Class::Data, None, "the locator of a large object is no hexadecimal number")),
        },
        (Cell::Text(text), _) => encoding.decode(text),
        (Cell::Decimal(number), kind) => {
            let scale = if let Kind::Decimal(scale) = kind { scale } else { None };
            cells::decimal(number.to_text(scale).as_bytes())
        }
        (Cell::Float(value), _) => cells::float(value),
        (Cell::SmallFloat(value), _) => cells::float(f64::from(value)),
        (Cell::Date(days), _) => {
            let (year, month, day) = civil::civil_from_days(i64::from(days) + civil::DAYS_TO_1899_12_31);
            cells::date(i32::try_from(year).unwrap_or(0), month, day)
        }
        (Cell::DateTime(value), kind) => datetime(value, format, kind),
        (Cell::Interval(value), _) => interval(py, value),
        (Cell::Boolean(value), _) => {
            // SAFETY: a new reference to a singleton; the GIL is held.
            unsafe { ffi::PyBool_FromLong(value.into()) }
        }
        (Cell::Opaque(bytes), _) => cells::bytes(bytes),
        // Handed to `lob` before it comes here.
        (Cell::SimpleLob(_), _) => cells::none(),
    }
}

/// Years, months and days that the qualifier does not name count as 1, as in informix-driver.
fn datetime(value: DateTime, format: CellFormat, kind: Kind) -> Object {
    let CellFormat::DateTime(qualifier) = format else { return cells::none() };
    let has = |unit: TimeUnit| qualifier.first().0 <= unit.0 && unit.0 <= qualifier.last().0;
    let year = if has(TimeUnit::YEAR) { i32::from(value.year) } else { 1 };
    let month = if has(TimeUnit::MONTH) { value.month } else { 1 };
    let day = if has(TimeUnit::DAY) { value.day } else { 1 };
    let DateTime { hour, minute, second, micros, .. } = value;
    match kind {
        Kind::DateOnly => cells::date(year, month, day),
        Kind::TimeOnly => cells::time(hour, minute, second, micros),
        _ => cells::datetime(year, month, day, hour, minute, second, micros),
    }
}

fn interval(py: Python<'_>, value: Interval) -> Object {
    match value {
        Interval::YearMonth(months) => make(py, Made::IntervalYM, |class| class.call1((months,))),
        Interval::DayTime { negative, seconds, micros } => {
            let sign = if negative { -1 } else { 1 };
            match i32::try_from(seconds / 86_400) {
                Ok(days) => cells::timedelta(sign * days, sign * (seconds % 86_400) as i32, sign * micros as i32),
                Err(_) => raise(error(py, Class::Data, None, "an INTERVAL is longer than a timedelta can be")),
            }
        }
    }
}

/// The qualifier of a `DATETIME` parameter with and without a fraction.
pub const fn datetime_qualifier(has_fraction: bool) -> Qualifier {
    if has_fraction { Qualifier::YEAR_TO_FRACTION5 } else { Qualifier::YEAR_TO_SECOND }
}

fn make<'py>(
    py: Python<'py>,
    made: Made,
    call: impl FnOnce(&Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>>,
) -> Object {
    match made.class(py).and_then(call) {
        Ok(object) => object.into_ptr(),
        Err(error) => raise(error),
    }
}

fn raise(error: PyErr) -> Object {
    // SAFETY: the GIL is held by whoever builds cells.
    error.restore(unsafe { Python::assume_attached() });
    ptr::null_mut()
}

fn from_hex(text: &[u8]) -> Option<Vec<u8>> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16);
    text.chunks(2)
        .map(|pair| match pair {
            [high, low] => Some((digit(high)? * 16 + digit(low)?) as u8),
            _ => None,
        })
        .collect()
}
