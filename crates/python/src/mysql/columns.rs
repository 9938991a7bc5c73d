//! From cells on the wire to Python objects: one decoder for each column, resolved once for each shape of result.

mod tuples;

use std::collections::HashSet;
use std::ffi::CString;
use std::ptr;
use std::sync::Arc;

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDateTime, PyDict, PyString, PyTuple, PyTzInfo};
use rowferry_wire::Malformed;
use rowferry_wire_mysql::messages::resultset::{BinaryRow, ColumnDefinition, Columns, DateTime, TextRow, Time};
use rowferry_wire_mysql::types::{BinaryForm, ColumnType};

use super::spelling::{
    date_text, datetime_text, fixed, float_text, is_date, parse_date, parse_datetime, parse_float, parse_int,
    parse_time, read_int, read_unsigned, time_text,
};
use crate::cells::{self, Object};
use crate::moments;
use crate::mysql::days::Days;
use tuples::Usual;

/// What becomes of dates that no calendar has, such as `0000-00-00`.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum ZeroDates {
    /// The server's text.
    #[default]
    Text,
    /// `None`.
    Null,
    /// An error.
    Refuse,
}

/// What the caller wants values to look like.
#[derive(Debug, Default)]
pub struct Taste {
    /// Python's name of the connection's character set; `None` for UTF-8.
    pub encoding: Option<CString>,
    /// See [`ZeroDates`].
    pub zero_dates: ZeroDates,
    /// Functions of the caller by type code: `f(text or bytes) -> value`; `None` leaves the text as it is.
    pub converters: Option<Py<PyDict>>,
    /// Text columns answer bytes.
    pub raw: bool,
    /// Functions of the caller by kind of column; see `rowferry.mysql._parameters.Presentation`.
    pub shown: Option<Py<PyDict>>,
    /// The zone of TIMESTAMP columns, which are in UTC on the wire then, and what Arrow calls it.
    pub zone: Option<(Py<PyAny>, String)>,
}

/// How a column's cells become objects.
#[derive(Debug)]
enum Kind {
    Bytes,
    Date,
    DateTime {
        decimals: u8,
    },
    /// In UTC on the wire, aware in this zone as an object.
    Zoned {
        zone: Py<PyAny>,
        decimals: u8,
    },
    Decimal {
        decimals: u8,
    },
    Double,
    /// A single: six digits, or the column's own number of decimals: see [`float_text`].
    Float {
        decimals: u8,
    },
    Int,
    Text,
    EncodedText,
    Time {
        decimals: u8,
    },
    Unsigned,
    /// The caller's function, on text or bytes; `plain` is what the column is without it.
    Converted {
        function: Py<PyAny>,
        inner: Box<Kind>,
        plain: Box<Kind>,
    },
}

/// A column's decoder.
#[derive(Debug)]
struct Decoder {
    kind: Kind,
    form: BinaryForm,
    usual: Usual,
}

/// Everything that depends on the shape of a result only.
#[derive(Debug)]
pub struct Plan {
    /// What the plan is for.
    pub columns: Arc<Columns>,
    decoders: Vec<Decoder>,
    /// See [`Taste`].
    pub zero_dates: ZeroDates,
    /// See [`Taste`].
    pub encoding: Option<CString>,
    /// Bits are numbers or truth values: see [`Taste::shown`].
    pub bits: (bool, bool),
    /// The name of the zone of TIMESTAMP columns.
    pub zone_name: Option<String>,
    atomic: bool,
    /// PEP 249's description.
    pub description: Py<PyTuple>,
    /// The keys of rows as dicts.
    pub names: Vec<Py<PyString>>,
}

/// Why a row was not built.
pub enum RowError {
    /// The bytes are no row: the connection is of no further use.
    Malformed(Malformed),
    /// A Python exception is set: this row is lost, the connection is fine.
    Raised,
}

impl From<Malformed> for RowError {
    fn from(malformed: Malformed) -> Self {
        Self::Malformed(malformed)
    }
}

impl Plan {
    /// True when rows of both are of one length.
    pub fn is_like(&self, other: &Self) -> bool {
        self.columns.definitions.len() == other.columns.definitions.len()
    }

    /// Resolves decoders for `columns`.
    pub fn new(py: Python<'_>, columns: Arc<Columns>, taste: &Taste) -> PyResult<Self> {
        let mut decoders = Vec::with_capacity(columns.definitions.len());
        let mut description = Vec::with_capacity(columns.definitions.len());
        let mut names: Vec<Py<PyString>> = Vec::with_capacity(columns.definitions.len());
        let mut taken = HashSet::with_capacity(columns.definitions.len());
        let mut atomic = true;
        for column in &columns.definitions {
            let form = column.column_type.binary_form().ok_or_else(|| {
                let message = format!("column `{}` has the unknown type {:?}", column.name, column.column_type);
                crate::errors::error(py, crate::errors::Class::NotSupported, None, &message)
            })?;
            let kind = Kind::of(py, column, taste)?;
            // A caller's time zone may run Python code as well as a caller's function.
            atomic &= !matches!(kind, Kind::Converted { .. } | Kind::Zoned { .. });
            decoders.push(Decoder { usual: Usual::of(&kind, form), kind, form });
            let width = column.length / bytes_per_character(column.charset);
            description.push((
                column.name.as_str(),
                column.column_type.0,
                None::<u8>,
                width,
                width,
                column.decimals,
                column.flags & rowferry_wire_mysql::types::column_flag::NOT_NULL == 0,
            ));
            // A set: a server may describe tens of thousands.
            let name = if !taken.insert(column.name.as_str()) {
                format!("{}.{}", column.table, column.name)
            } else {
                column.name.clone()
            };
            names.push(PyString::intern(py, &name).unbind());
        }
        let description = PyTuple::new(py, description)?.unbind();
        let (zero_dates, encoding) = (taste.zero_dates, taste.encoding.clone());
        let zone_name = taste.zone.as_ref().map(|(_, name)| name.clone());
        let bits = match &taste.shown {
            Some(shown) => {
                let shown = shown.bind(py);
                let (bit, bool) = (shown.get_item("bit")?, shown.get_item("bool")?);
                // A function of its own for single bits is that for truth values.
                let truth = bool.is_some_and(|bool| bit.as_ref().is_none_or(|bit| !bit.is(&bool)));
                (bit.is_some(), truth)
            }
            None => (false, false),
        };
        Ok(Self { columns, decoders, zero_dates, encoding, bits, zone_name, atomic, description, names })
    }

    /// True when no Python code runs and nothing is made that can be part of a cycle, whatever the rows hold.
    pub const fn is_atomic(&self) -> bool {
        self.atomic
    }

    /// Builds a row of the text or binary protocol, as a tuple or as a dict.
    #[inline]
    pub fn row(&self, payload: &[u8], binary: bool, as_dict: bool, days: &mut Days) -> Result<Object, RowError> {
        match (binary, as_dict) {
            (false, false) => self.text_tuple(payload, days),
            (true, false) => self.binary_tuple(payload, days),
            (false, true) => {
                let mut cells = TextRow::new(payload);
                let row = self.collect(|decoder| {
                    Ok(match cells.cell()? {
                        None => cells::none(),
                        Some(text) => self.text_cell(&decoder.kind, text),
                    })
                })?;
                exactly(row, cells.finish())
            }
            (true, true) => {
                let mut cells = BinaryRow::new(payload, self.decoders.len())?;
                let row = self.collect(|decoder| {
                    Ok(match cells.cell(decoder.form)? {
                        None => cells::none(),
                        Some(body) => self.binary_cell(&decoder.kind, decoder.form, body)?,
                    })
                })?;
                exactly(row, cells.finish())
            }
        }
    }

    fn collect(&self, mut cell: impl FnMut(&Decoder) -> Result<Object, Malformed>) -> Result<Object, RowError> {
        let mut malformed = None;
        let row = self.dict(&mut |decoder: &Decoder| {
            cell(decoder).unwrap_or_else(|error| {
                malformed = Some(error);
                ptr::null_mut()
            })
        });
        match (row.is_null(), malformed) {
            (false, _) => Ok(row),
            (true, Some(malformed)) => Err(malformed.into()),
            (true, None) => Err(RowError::Raised),
        }
    }

    fn dict(&self, cell: &mut impl FnMut(&Decoder) -> Object) -> Object {
        // SAFETY: references are counted as the C API says; `SetItem` takes its own.
        unsafe {
            let dict = ffi::PyDict_New();
            if dict.is_null() {
                return dict;
            }
            for (decoder, name) in self.decoders.iter().zip(&self.names) {
                let object = cell(decoder);
                let failed = object.is_null() || ffi::PyDict_SetItem(dict, name.as_ptr(), object) != 0;
                ffi::Py_XDECREF(object);
                if failed {
                    ffi::Py_DECREF(dict);
                    return ptr::null_mut();
                }
            }
            dict
        }
    }

    #[inline]
    fn text_cell(&self, kind: &Kind, text: &[u8]) -> Object {
        match kind {
            Kind::Int => match parse_int(text) {
                Some(value) => cells::int(value),
                None => self.number_by_python(text),
            },
            Kind::Unsigned => match parse_int(text) {
                Some(value) => cells::int(value),
                None => match std::str::from_utf8(text).ok().and_then(|text| text.parse().ok()) {
                    Some(value) => cells::uint(value),
                    None => self.number_by_python(text),
                },
            },
            Kind::Text => cells::text(text),
            Kind::Decimal { decimals } => cells::scaled_decimal(text, *decimals),
            Kind::DateTime { .. } => match parse_datetime(text) {
                Some(value) => self.datetime(value, || text.to_vec()),
                None => self.no_date(text),
            },
            Kind::Zoned { zone, .. } => match parse_datetime(text) {
                Some(value) => in_zone(self.datetime(value, || text.to_vec()), zone),
                None => self.no_date(text),
            },
            Kind::Date => match parse_date(text) {
                Some(value) => self.date(value, || text.to_vec()),
                None => self.no_date(text),
            },
            Kind::Time { .. } => match parse_time(text) {
                Some(value) => timedelta(value),
                None => cells::text(text),
            },
            Kind::Double | Kind::Float { .. } => match parse_float(text) {
                Some(value) => cells::float(value),
                None => self.number_by_python(text),
            },
            Kind::Bytes => cells::bytes(text),
            Kind::EncodedText => match &self.encoding {
                Some(encoding) => cells::encoded_text(text, encoding),
                None => cells::text(text),
            },
            Kind::Converted { function, inner, .. } => convert(function, self.text_cell(inner, text)),
        }
    }

    #[inline]
    fn binary_cell(&self, kind: &Kind, form: BinaryForm, body: &[u8]) -> Result<Object, Malformed> {
        Ok(match kind {
            Kind::Int => cells::int(read_int(form, body)?),
            Kind::Unsigned => cells::uint(read_unsigned(form, body)?),
            Kind::Double => cells::float(f64::from_le_bytes(fixed(body)?)),
            Kind::Float { decimals } => {
                let value = f32::from_le_bytes(fixed(body)?);
                cells::float(float_text(value, *decimals).parse().unwrap_or_else(|_| f64::from(value)))
            }
            Kind::DateTime { decimals } => {
                let value = DateTime::decode(body)?;
                self.datetime(value, || datetime_text(value, *decimals))
            }
            Kind::Zoned { zone, decimals } => {
                let value = DateTime::decode(body)?;
                in_zone(self.datetime(value, || datetime_text(value, *decimals)), zone)
            }
            Kind::Date => {
                let value = DateTime::decode(body)?;
                self.date(value, || date_text(value))
            }
            Kind::Time { .. } => timedelta(Time::decode(body)?),
            // The caller's functions know the text protocol.
            Kind::Converted { function, inner, plain } => {
                convert(function, self.text_cell(inner, &spelled(plain, form, body)?))
            }
            Kind::Bytes | Kind::Decimal { .. } | Kind::Text | Kind::EncodedText => self.text_cell(kind, body),
        })
    }

    #[inline]
    fn datetime(&self, value: DateTime, text: impl FnOnce() -> Vec<u8>) -> Object {
        let DateTime { year, month, day, hour, minute, second, microsecond } = value;
        if is_date(value) && hour < 24 && minute < 60 && second < 60 && microsecond < 1_000_000 {
            moments::datetime(year, month, day, hour, minute, second, microsecond)
        } else {
            self.no_date(&text())
        }
    }

    #[inline]
    fn date(&self, value: DateTime, text: impl FnOnce() -> Vec<u8>) -> Object {
        if is_date(value) { moments::date(value.year, value.month, value.day) } else { self.no_date(&text()) }
    }

    #[cold]
    fn no_date(&self, text: &[u8]) -> Object {
        match self.zero_dates {
            ZeroDates::Text => cells::text(text),
            ZeroDates::Null => cells::none(),
            ZeroDates::Refuse => {
                // SAFETY: cells are built with the GIL held.
                let py = unsafe { Python::assume_attached() };
                let message = format!("`{}` is no date of the calendar", String::from_utf8_lossy(text));
                crate::errors::error(py, crate::errors::Class::Data, None, &message).restore(py);
                ptr::null_mut()
            }
        }
    }

    #[cold]
    fn number_by_python(&self, text: &[u8]) -> Object {
        // Whatever a server calls a number and we cannot read is handed on as it is.
        cells::text(text)
    }
}

impl Kind {
    fn of(py: Python<'_>, column: &ColumnDefinition, taste: &Taste) -> PyResult<Self> {
        let decimals = column.decimals;
        let text = || match (&taste.encoding, taste.raw) {
            (_, true) => Self::Bytes,
            (Some(_), false) => Self::EncodedText,
            (None, false) => Self::Text,
        };
        let plain = match column.column_type {
            ColumnType::TINY
            | ColumnType::SHORT
            | ColumnType::LONG
            | ColumnType::LONGLONG
            | ColumnType::INT24
            | ColumnType::YEAR
                if column.is_unsigned() =>
            {
                Self::Unsigned
            }
            ColumnType::TINY
            | ColumnType::SHORT
            | ColumnType::LONG
            | ColumnType::LONGLONG
            | ColumnType::INT24
            | ColumnType::YEAR => Self::Int,
            ColumnType::FLOAT => Self::Float { decimals },
            ColumnType::DOUBLE => Self::Double,
            ColumnType::DECIMAL | ColumnType::NEWDECIMAL => Self::Decimal { decimals },
            ColumnType::DATE | ColumnType::NEWDATE => Self::Date,
            ColumnType::DATETIME | ColumnType::TIMESTAMP => match (&taste.zone, column.column_type) {
                (Some((zone, _)), ColumnType::TIMESTAMP) => Self::Zoned { zone: zone.clone_ref(py), decimals },
                _ => Self::DateTime { decimals },
            },
            ColumnType::TIME => Self::Time { decimals },
            // It comes in the connection's character set, whatever its collation says.
            ColumnType::JSON => text(),
            ColumnType::BIT | ColumnType::GEOMETRY | ColumnType::VECTOR => Self::Bytes,
            _ if column.is_binary() => Self::Bytes,
            _ => text(),
        };
        let converter = match &taste.converters {
            Some(converters) => converters.bind(py).get_item(column.column_type.0)?,
            None => None,
        };
        let shown = || match (&taste.shown, shown_as(column)) {
            (Some(shown), Some(kind)) => shown.bind(py).get_item(kind),
            _ => Ok(None),
        };
        let Some(function) = converter.map_or_else(shown, |function| Ok(Some(function)))? else { return Ok(plain) };
        let inner = if matches!(plain, Self::Bytes) { Self::Bytes } else { text() };
        // `None` wants no conversion: the server's text.
        let function = match (function.is_none(), &inner) {
            (false, _) => function,
            (true, Self::Bytes) => py.get_type::<PyBytes>().into_any(),
            (true, _) => py.get_type::<PyString>().into_any(),
        };
        Ok(Self::Converted { function: function.unbind(), inner: inner.into(), plain: plain.into() })
    }
}

/// The kind of a column that the caller may want to look different.
fn shown_as(column: &ColumnDefinition) -> Option<&'static str> {
    Some(match column.column_type {
        ColumnType::BIT if column.length == 1 => "bool",
        ColumnType::BIT => "bit",
        ColumnType::VECTOR => "vector",
        _ if column.is_json() => "json",
        _ if column.is_set() => "set",
        _ if column.is_uuid() => "uuid",
        _ => return None,
    })
}

/// A datetime without zone, in UTC, as an aware one. Anything else (the text of a zero date, an error) stays.
fn in_zone(object: Object, zone: &Py<PyAny>) -> Object {
    // SAFETY: cells are built with the GIL held.
    let py = unsafe { Python::assume_attached() };
    // SAFETY: the object is a new reference of ours, or null with an exception set.
    let Ok(object) = unsafe { Bound::from_owned_ptr_or_err(py, object) }.map_err(|raised| raised.restore(py)) else {
        return ptr::null_mut();
    };
    let aware = || -> PyResult<Bound<'_, PyAny>> {
        let Ok(moment) = object.cast::<PyDateTime>() else { return Ok(object.clone()) };
        let utc = PyTzInfo::utc(py)?;
        let options = PyDict::new(py);
        options.set_item("tzinfo", utc)?;
        let moment = moment.call_method("replace", (), Some(&options))?;
        if zone.is(&*utc) { Ok(moment) } else { moment.call_method1("astimezone", (zone,)) }
    };
    match aware() {
        Ok(aware) => aware.into_ptr(),
        Err(raised) => {
            raised.restore(py);
            ptr::null_mut()
        }
    }
}

/// A value of the binary protocol as the text protocol spells it.
fn spelled(plain: &Kind, form: BinaryForm, body: &[u8]) -> Result<Vec<u8>, Malformed> {
    Ok(match plain {
        Kind::Int => read_int(form, body)?.to_string().into_bytes(),
        Kind::Unsigned => read_unsigned(form, body)?.to_string().into_bytes(),
        Kind::Double => f64::from_le_bytes(fixed(body)?).to_string().into_bytes(),
        Kind::Float { decimals } => float_text(f32::from_le_bytes(fixed(body)?), *decimals).into_bytes(),
        Kind::Date => date_text(DateTime::decode(body)?),
        Kind::DateTime { decimals } | Kind::Zoned { decimals, .. } => datetime_text(DateTime::decode(body)?, *decimals),
        Kind::Time { decimals } => time_text(Time::decode(body)?, *decimals),
        Kind::Bytes | Kind::Decimal { .. } | Kind::Text | Kind::EncodedText | Kind::Converted { .. } => body.to_vec(),
    })
}

fn exactly(row: Object, finished: Result<(), Malformed>) -> Result<Object, RowError> {
    if let Err(malformed) = finished {
        // SAFETY: the row is ours and nobody else's.
        unsafe { ffi::Py_DECREF(row) };
        return Err(malformed.into());
    }
    Ok(row)
}

fn convert(function: &Py<PyAny>, object: Object) -> Object {
    if object.is_null() {
        return object;
    }
    // SAFETY: references are counted as the C API says.
    unsafe {
        let converted = ffi::PyObject_CallOneArg(function.as_ptr(), object);
        ffi::Py_DECREF(object);
        converted
    }
}

pub fn timedelta(value: Time) -> Object {
    let sign = if value.negative { -1 } else { 1 };
    let seconds = i32::from(value.hours) * 3_600 + i32::from(value.minutes) * 60 + i32::from(value.seconds);
    // Beyond Python's range only by a hostile server; Python then raises.
    let days = i32::try_from(value.days).unwrap_or(i32::MAX);
    cells::timedelta(sign * days, sign * seconds, sign * i32::try_from(value.microseconds).unwrap_or(0))
}

/// The most bytes of a character in a collation, for the display width.
const fn bytes_per_character(charset: u16) -> u32 {
    match charset {
        45 | 46 | 224..=247 | 255..=323 | 608..=639 | 2048..=2303 => 4,
        33 | 83 | 192..=215 | 223 | 576..=607 => 3,
        _ => 1,
    }
}
