//! From Python objects to parameters.

use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{
    PyBool, PyByteArray, PyBytes, PyDate, PyDateAccess, PyDateTime, PyDelta, PyDeltaAccess, PyFloat, PyInt, PyMapping,
    PyMemoryView, PySequence, PyString, PyTime, PyTimeAccess, PyTuple, PyTzInfoAccess,
};
use rowferry_client::informix::{List, Placeholder};
use rowferry_wire::civil;
use rowferry_wire_sqli::client::Params;
use rowferry_wire_sqli::messages::{Param, ParamValue};
use rowferry_wire_sqli::values::{Base100, DateTime, Interval, Misfit};
use rowferry_wire_sqli::{Qualifier, TooLong, TypeCode, Widths};

use super::columns::datetime_qualifier;
use super::text::Encoding;
use crate::errors::{Class, error};

/// Precision words that clients send beside their values.
mod precision {
    pub const INTEGER: u16 = 0x0a00;
    pub const BIGINT: u16 = 0x1300;
    pub const LOCATOR: u16 = 0x0048;
}

/// A longer text does not fit the length field of a `CHAR` parameter.
const LONGEST_CHAR: usize = 32_767;

/// Digits of the widest `DECIMAL`.
const DECIMAL_DIGITS: usize = 32;

/// Encodes parameters.
pub struct Encoder<'a> {
    /// The code set of the client.
    pub encoding: &'a Encoding,
    /// What was negotiated.
    pub widths: Widths,
    /// Memory for texts.
    pub scratch: &'a mut Vec<u8>,
    /// Where lists for IN are noted, by the number of their placeholder; without it they are refused.
    pub lists: Option<&'a mut Vec<(usize, List)>>,
}

/// A list of other than so many values is padded with its last one: statements of many lengths are few, and stay prepared.
const MOST_PADDED: usize = 1_024;

impl Encoder<'_> {
    /// Encodes what `placeholders` ask for out of `args`: a sequence or a mapping.
    pub fn encode_all(
        &mut self,
        placeholders: &[Placeholder],
        args: &Bound<'_, PyAny>,
        params: &mut Params,
    ) -> PyResult<()> {
        let py = args.py();
        let wrong = |message: String| error(py, Class::Programming, None, &message);
        params.clear();
        if let Some(Placeholder::Name(_)) = placeholders.first() {
            let Ok(mapping) = args.cast::<PyMapping>() else {
                return Err(wrong("placeholders with names take their values from a mapping".into()));
            };
            for (number, placeholder) in placeholders.iter().enumerate() {
                let Placeholder::Name(name) = placeholder else { continue };
                let value = mapping
                    .get_item(name)
                    .map_err(|_| wrong(format!("there is no value for the placeholder `:{name}`")))?;
                self.push_at(number, &value, params)
                    .map_err(|failure| self.locate(py, failure, format!("`:{name}`")))?;
            }
            return Ok(());
        }
        if args.is_instance_of::<PyString>() || args.is_instance_of::<PyBytes>() {
            return Err(wrong("the values of a statement come as a sequence, such as a tuple, not as text".into()));
        }
        let Ok(sequence) = args.cast::<PySequence>() else {
            return Err(wrong("the values of a statement come as a sequence, such as a tuple".into()));
        };
        let given = sequence.len()?;
        let wanted = placeholders
            .iter()
            .map(|placeholder| if let Placeholder::Place(place) = placeholder { place + 1 } else { 0 })
            .max()
            .unwrap_or(0);
        if given != wanted {
            return Err(wrong(format!("the statement takes {wanted} values, but {given} are in the parameter set")));
        }
        for (number, placeholder) in placeholders.iter().enumerate() {
            let Placeholder::Place(place) = placeholder else { continue };
            let value = sequence.get_item(*place)?;
            self.push_at(number, &value, params)
                .map_err(|failure| self.locate(py, failure, format!("{}", place + 1)))?;
        }
        Ok(())
    }

    /// Encodes the value of a placeholder, which may be a list.
    fn push_at(&mut self, number: usize, value: &Bound<'_, PyAny>, params: &mut Params) -> Result<(), Refused> {
        match self.push(value, params) {
            Err(Refused::List) if self.lists.is_some() => {}
            other => return other,
        }
        let py = value.py();
        let values = value.getattr(intern!(py, "values"))?;
        let values = values.cast::<PyTuple>().map_err(PyErr::from)?;
        for value in values {
            self.push(&value, params)?;
        }
        let list = match values.len() {
            0 => List::Empty(value.getattr(intern!(py, "type"))?.extract()?),
            count => {
                let padded = if count > MOST_PADDED { count } else { count.next_power_of_two() };
                let last = values.get_item(count - 1)?;
                for _ in count..padded {
                    self.push(&last, params)?;
                }
                List::Values(padded)
            }
        };
        if let Some(lists) = &mut self.lists {
            lists.push((number, list));
        }
        Ok(())
    }

    /// Encodes one value.
    pub fn encode_one(&mut self, value: &Bound<'_, PyAny>, params: &mut Params) -> PyResult<()> {
        let py = value.py();
        let place = params.len() + 1;
        self.push(value, params).map_err(|failure| self.locate(py, failure, place.to_string()))
    }

    /// Says which value could not be sent.
    fn locate(&self, py: Python<'_>, failure: Refused, which: String) -> PyErr {
        match failure {
            Refused::Python(error) => error,
            Refused::Value(class, message) => error(py, class, None, &format!("value {which}: {message}")),
            Refused::List => {
                let message =
                    "a list for IN is a value of `execute` alone: it makes the statement another for each length";
                error(py, Class::Programming, None, &format!("value {which}: {message}"))
            }
        }
    }

    fn push(&mut self, value: &Bound<'_, PyAny>, params: &mut Params) -> Result<(), Refused> {
        if value.is_none() {
            return put(params, &Param::NULL);
        }
        if let Ok(text) = value.cast::<PyString>() {
            return self.push_text(text, params);
        }
        // Before int, of which it is a kind. Binding BOOLEAN by its column's code hangs a real server.
        if let Ok(flag) = value.cast::<PyBool>() {
            let text: &[u8] = if flag.is_true() { b"t" } else { b"f" };
            return put(params, &Param::new(TypeCode::CHAR, 0, ParamValue::Text(text)));
        }
        if let Ok(number) = value.cast::<PyInt>() {
            return self.push_int(number, params);
        }
        if let Ok(number) = value.cast::<PyFloat>() {
            return push_float(number.value(), params);
        }
        // Before date, of which it is a kind.
        if let Ok(moment) = value.cast::<PyDateTime>() {
            return push_datetime(moment, params);
        }
        if let Ok(date) = value.cast::<PyDate>() {
            let (year, month, day) = (date.get_year(), date.get_month(), date.get_day());
            let days = civil::days_from_civil(i64::from(year), i64::from(month), i64::from(day));
            let days = (days - civil::DAYS_TO_1899_12_31) as i32;
            return put(params, &Param::new(TypeCode::DATE, 0, ParamValue::Date(days)));
        }
        if let Ok(time) = value.cast::<PyTime>() {
            return push_time(time, params);
        }
        if let Ok(delta) = value.cast::<PyDelta>() {
            return push_timedelta(delta, params);
        }
        if let Ok(bytes) = value.cast::<PyBytes>() {
            return lob(params.push_lob(TypeCode::BYTE, bytes.as_bytes(), self.widths));
        }
        if value.is_instance_of::<PyByteArray>() || value.is_instance_of::<PyMemoryView>() {
            let bytes: Vec<u8> = value
                .call_method0(intern!(value.py(), "__bytes__"))
                .and_then(|bytes| bytes.extract())
                .or_else(|_| value.call_method0(intern!(value.py(), "tobytes")).and_then(|bytes| bytes.extract()))
                .or_else(|_| value.extract())?;
            return lob(params.push_lob(TypeCode::BYTE, &bytes, self.widths));
        }
        if value.is_instance(decimal_class(value.py())?)? {
            return push_decimal(value.str()?.to_str()?, params);
        }
        if value.is_instance(interval_class(value.py())?)? {
            let months: i64 = value.getattr(intern!(value.py(), "months"))?.extract()?;
            let qualifier = Qualifier::YEAR9_TO_MONTH;
            let number = Interval::YearMonth(months).to_number(qualifier).map_err(misfit)?;
            return push_number(TypeCode::INTERVAL, qualifier.0, &number, params);
        }
        if let Some(text) = composite_literal(value)? {
            return self.push_text(&text, params);
        }
        for (class, name) in [("BlobLocator", &b"blob"[..]), ("ClobLocator", b"clob")] {
            if value.is_instance(locator_class(value.py(), class)?)? {
                let raw = value.getattr(intern!(value.py(), "raw"))?;
                let value = ParamValue::Opaque(raw.cast::<PyBytes>().map_err(PyErr::from)?.as_bytes());
                let (code, precision) = (TypeCode::SENDRECV, precision::LOCATOR);
                return put(params, &Param { code, owner: b"informix", name, precision, value });
            }
        }
        if value.hasattr(intern!(value.py(), "__index__"))? {
            let number = value.call_method0(intern!(value.py(), "__index__"))?;
            if let Ok(number) = number.cast::<PyInt>() {
                return self.push_int(number, params);
            }
        }
        if value.is_instance(list_class(value.py())?)? {
            return Err(Refused::List);
        }
        let name = value.get_type().name()?.to_string();
        Err(Refused::Value(Class::UnsupportedType, format!("Informix has no type for a {name}")))
    }

    fn push_text(&mut self, text: &Bound<'_, PyString>, params: &mut Params) -> Result<(), Refused> {
        self.scratch.clear();
        self.encoding.encode(text, self.scratch)?;
        if self.scratch.len() > LONGEST_CHAR {
            return put(params, &Param::new(TypeCode::LVARCHAR, 0, ParamValue::Opaque(self.scratch)));
        }
        put(params, &Param::new(TypeCode::CHAR, 0, ParamValue::Text(self.scratch)))
    }

    fn push_int(&self, number: &Bound<'_, PyInt>, params: &mut Params) -> Result<(), Refused> {
        match number.extract::<i64>() {
            // The lowest number of each width means NULL.
            Ok(value) if value > i64::from(i32::MIN) && value <= i64::from(i32::MAX) => {
                let value = ParamValue::Integer(value as i32);
                put(params, &Param::new(TypeCode::INTEGER, precision::INTEGER, value))
            }
            Ok(value) if value > i64::MIN && self.widths.bigserial => {
                put(params, &Param::new(TypeCode::BIGINT, precision::BIGINT, ParamValue::BigInt(value)))
            }
            Ok(value) if value > i64::MIN => {
                put(params, &Param::new(TypeCode::INT8, precision::BIGINT, ParamValue::Int8(value)))
            }
            _ => push_decimal(number.str()?.to_str()?, params),
        }
    }
}

/// Why a value cannot be sent.
enum Refused {
    /// For this reason.
    Value(Class, String),
    /// It is a list for IN.
    List,
    /// Python said so.
    Python(PyErr),
}

impl From<PyErr> for Refused {
    fn from(error: PyErr) -> Self {
        Self::Python(error)
    }
}

fn misfit(misfit: Misfit) -> Refused {
    Refused::Value(Class::Data, misfit.to_string())
}

fn lob(pushed: Result<(), TooLong>) -> Result<(), Refused> {
    pushed.map_err(|too_long| Refused::Value(Class::Data, too_long.to_string()))
}

fn put(params: &mut Params, param: &Param<'_>) -> Result<(), Refused> {
    lob(params.push(param))
}

fn push_number(code: TypeCode, precision: u16, number: &Base100, params: &mut Params) -> Result<(), Refused> {
    let mut bytes = Vec::with_capacity(20);
    number.encode_short(&mut bytes);
    put(params, &Param::new(code, precision, ParamValue::Base100(&bytes)))
}

fn push_float(value: f64, params: &mut Params) -> Result<(), Refused> {
    if !value.is_finite() {
        return Err(Refused::Value(Class::Data, format!("Informix has no {value}")));
    }
    put(params, &Param::new(TypeCode::FLOAT, 0, ParamValue::Float(value)))
}

fn push_decimal(text: &str, params: &mut Params) -> Result<(), Refused> {
    let digits = text.bytes().take_while(|byte| !matches!(byte, b'e' | b'E')).filter(u8::is_ascii_digit);
    let significant: Vec<u8> = digits.skip_while(|&digit| digit == b'0').collect();
    let zeros = significant.iter().rev().take_while(|&&digit| digit == b'0').count();
    if significant.len() - zeros > DECIMAL_DIGITS {
        let message = format!("a DECIMAL has at most {DECIMAL_DIGITS} digits");
        return Err(Refused::Value(Class::Data, message));
    }
    let number = Base100::from_text(text, DECIMAL_DIGITS as u8, None)
        .map_err(|_| Refused::Value(Class::Data, format!("`{text}` is no number that a DECIMAL can hold")))?;
    let scale = text.split_once('.').map_or(0, |(_, fraction)| fraction.bytes().take_while(u8::is_ascii_digit).count());
    let precision = ((significant.len().clamp(1, DECIMAL_DIGITS) as u16) << 8) | scale.min(255) as u16;
    push_number(TypeCode::DECIMAL, precision, &number, params)
}

fn refuse_zone(has_zone: bool) -> Result<(), Refused> {
    if has_zone {
        let message = "a DATETIME has no time zone; convert the value and remove its tzinfo";
        return Err(Refused::Value(Class::Programming, message.into()));
    }
    Ok(())
}

fn push_datetime(moment: &Bound<'_, PyDateTime>, params: &mut Params) -> Result<(), Refused> {
    refuse_zone(moment.get_tzinfo().is_some())?;
    let value = DateTime {
        year: moment.get_year() as u16,
        month: moment.get_month(),
        day: moment.get_day(),
        hour: moment.get_hour(),
        minute: moment.get_minute(),
        second: moment.get_second(),
        micros: moment.get_microsecond(),
    };
    let qualifier = datetime_qualifier(value.micros > 0);
    push_number(TypeCode::DATETIME, qualifier.0, &value.to_number(qualifier).map_err(misfit)?, params)
}

fn push_time(time: &Bound<'_, PyTime>, params: &mut Params) -> Result<(), Refused> {
    refuse_zone(time.get_tzinfo().is_some())?;
    let value = DateTime {
        hour: time.get_hour(),
        minute: time.get_minute(),
        second: time.get_second(),
        micros: time.get_microsecond(),
        ..DateTime::default()
    };
    let qualifier = if value.micros > 0 { Qualifier::HOUR_TO_FRACTION5 } else { Qualifier::HOUR_TO_SECOND };
    push_number(TypeCode::DATETIME, qualifier.0, &value.to_number(qualifier).map_err(misfit)?, params)
}

fn push_timedelta(delta: &Bound<'_, PyDelta>, params: &mut Params) -> Result<(), Refused> {
    let seconds = i128::from(delta.get_days()) * 86_400 + i128::from(delta.get_seconds());
    let micros = seconds * 1_000_000 + i128::from(delta.get_microseconds());
    let magnitude = micros.unsigned_abs();
    let value = Interval::DayTime {
        negative: micros < 0,
        seconds: (magnitude / 1_000_000) as u64,
        micros: (magnitude % 1_000_000) as u32,
    };
    let qualifier = Qualifier::DAY9_TO_FRACTION5;
    push_number(TypeCode::INTERVAL, qualifier.0, &value.to_number(qualifier).map_err(misfit)?, params)
}

/// The text of a row, collection, list or set, which the server casts; `None` for other values.
fn composite_literal<'py>(value: &Bound<'py, PyAny>) -> Result<Option<Bound<'py, PyString>>, Refused> {
    static PARAMETER: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let py = value.py();
    let literal = match PARAMETER.import(py, "rowferry.informix._composites", "parameter")?.call1((value,)) {
        Err(failure) if failure.is_instance_of::<PyTypeError>(py) => {
            return Err(Refused::Value(Class::Programming, failure.value(py).to_string()));
        }
        literal => literal?,
    };
    if literal.is_none() {
        return Ok(None);
    }
    Ok(Some(literal.cast_into().map_err(PyErr::from)?))
}

fn decimal_class(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static CLASS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    CLASS.import(py, "decimal", "Decimal")
}

fn list_class(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static CLASS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    CLASS.import(py, "rowferry.informix._lists", "In")
}

fn interval_class(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static CLASS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    CLASS.import(py, "rowferry.informix._values", "IntervalYM")
}

fn locator_class<'py>(py: Python<'py>, name: &str) -> PyResult<&'py Bound<'py, PyAny>> {
    static CLASSES: [PyOnceLock<Py<PyAny>>; 2] = [PyOnceLock::new(), PyOnceLock::new()];
    CLASSES[usize::from(name == "ClobLocator")].import(py, "rowferry.informix._values", name)
}
