//! Routines of the fast path: arguments by the types of a signature, and what comes back.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyInt, PyList, PySequence, PyString};
use rowferry_wire_sqli::Qualifier;
use rowferry_wire_sqli::TypeCode;
use rowferry_wire_sqli::client::{Params, Returned, ReturnedValue};
use rowferry_wire_sqli::messages::{Param, ParamValue};
use rowferry_wire_sqli::values::{Base100, Cell, CellFormat, DateTime, Interval};

use super::columns;
use super::text::Encoding;
use super::values::Encoder;
use crate::errors::{Class, error};

/// The types in the parentheses of a signature such as `function informix.ifx_lo_open(blob ,integer)`.
fn types_of(signature: &str) -> Vec<String> {
    let inner =
        signature.split_once('(').map_or("", |(_, rest)| rest.rsplit_once(')').map_or(rest, |(inner, _)| inner));
    let (mut types, mut depth) = (vec![String::new()], 0);
    for character in inner.chars() {
        match character {
            ',' if depth == 0 => {
                types.push(String::new());
                continue;
            }
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if let Some(last) = types.last_mut() {
            last.push(character);
        }
    }
    types.iter().map(|name| name.trim().to_ascii_lowercase()).filter(|name| !name.is_empty()).collect()
}

/// Encodes the arguments of a routine. Whole numbers take the width that the signature names, bytes and locators its
/// opaque types; everything else is bound as in SQL.
pub fn encode_arguments(
    encoder: &mut Encoder<'_>,
    signature: &str,
    args: &Bound<'_, PyAny>,
    params: &mut Params,
) -> PyResult<()> {
    let types = types_of(signature);
    params.clear();
    for (place, value) in args.cast::<PySequence>()?.try_iter()?.enumerate() {
        let value = value?;
        let declared = types.get(place).map_or("", String::as_str);
        if push_declared(encoder, declared, &value, params)? {
            continue;
        }
        encoder.encode_one(&value, params)?;
    }
    Ok(())
}

/// True when the declared type decided.
fn push_declared(
    encoder: &mut Encoder<'_>,
    declared: &str,
    value: &Bound<'_, PyAny>,
    params: &mut Params,
) -> PyResult<bool> {
    let py = value.py();
    let refuse = |message: &str| error(py, Class::Data, None, message);
    let mut push =
        |param: &Param<'_>| params.push(param).map(|()| true).map_err(|too_long| refuse(&too_long.to_string()));
    if value.is_exact_instance_of::<PyInt>() {
        let number: i64 = match (declared, value.extract::<i64>()) {
            ("smallint" | "int" | "integer" | "int8" | "bigint", Ok(number)) => number,
            _ => return Ok(false),
        };
        let out_of_range = || refuse(&format!("{number} is out of the range of {declared}"));
        return match declared {
            "smallint" => {
                let number = i16::try_from(number).ok().filter(|&number| number > i16::MIN).ok_or_else(out_of_range)?;
                push(&Param::new(TypeCode::SMALLINT, 0x0500, ParamValue::SmallInt(number)))
            }
            "int8" => push(&Param::new(TypeCode::INT8, 0x1300, ParamValue::Int8(number))),
            "bigint" => push(&Param::new(TypeCode::BIGINT, 0x1300, ParamValue::BigInt(number))),
            _ => {
                let number = i32::try_from(number).ok().filter(|&number| number > i32::MIN).ok_or_else(out_of_range)?;
                push(&Param::new(TypeCode::INTEGER, 0x0a00, ParamValue::Integer(number)))
            }
        };
    }
    let opaque = |name, bytes| Param {
        code: TypeCode::SENDRECV,
        owner: b"",
        name,
        precision: 0,
        value: ParamValue::Opaque(bytes),
    };
    if declared == "lvarchar"
        && let Ok(text) = value.cast::<PyString>()
    {
        encoder.scratch.clear();
        encoder.encoding.encode(text, encoder.scratch)?;
        let value = ParamValue::Opaque(encoder.scratch);
        return push(&Param { code: TypeCode::LVARCHAR, owner: b"", name: b"lvarchar", precision: 0, value });
    }
    if matches!(declared, "" | "byte" | "text" | "references byte" | "references text") {
        return Ok(false);
    }
    if let Ok(bytes) = value.cast::<PyBytes>() {
        return push(&opaque(declared.as_bytes(), bytes.as_bytes()));
    }
    if matches!(declared, "blob" | "clob")
        && let Ok(raw) = value.getattr("raw")
        && let Ok(raw) = raw.cast::<PyBytes>()
    {
        return push(&opaque(declared.as_bytes(), raw.as_bytes()));
    }
    Ok(false)
}

/// The values that a routine returned, as a list.
pub fn returned(py: Python<'_>, values: &[Returned], encoding: &Encoding) -> PyResult<Py<PyAny>> {
    let list = PyList::empty(py);
    for value in values {
        list.append(object(py, value, encoding)?)?;
    }
    Ok(list.unbind().into_any())
}

fn object<'py>(py: Python<'py>, returned: &Returned, encoding: &Encoding) -> PyResult<Bound<'py, PyAny>> {
    let malformed = |malformed: rowferry_wire::Malformed| error(py, Class::Data, None, &malformed.to_string());
    let qualifier = Qualifier(returned.precision);
    let (format, cell) = match &returned.value {
        ReturnedValue::Null => return Ok(py.None().into_bound(py)),
        ReturnedValue::Int(number) => (CellFormat::BigInt, Cell::Int(*number)),
        ReturnedValue::Float(number) => (CellFormat::Float, Cell::Float(*number)),
        ReturnedValue::Date(days) => (CellFormat::Date, Cell::Date(*days)),
        ReturnedValue::Text(text) => (CellFormat::LongText, Cell::Text(text)),
        ReturnedValue::Opaque(bytes) => match &returned.type_name[..] {
            b"boolean" => (CellFormat::BooleanBinary, Cell::Boolean(bytes.first() == Some(&1) || bytes == b"t")),
            b"blob" | b"clob" => return columns::locator(py, &returned.type_name, bytes),
            _ => (CellFormat::Opaque, Cell::Opaque(bytes)),
        },
        ReturnedValue::Base100(bytes) => match returned.code {
            TypeCode::DATETIME if qualifier.is_valid() => {
                let value = DateTime::decode(bytes, qualifier).map_err(malformed)?;
                (CellFormat::DateTime(qualifier), value.map_or(Cell::Null, Cell::DateTime))
            }
            TypeCode::INTERVAL if qualifier.is_valid() => {
                let value = Interval::decode(bytes, qualifier).map_err(malformed)?;
                (CellFormat::Interval(qualifier), value.map_or(Cell::Null, Cell::Interval))
            }
            TypeCode::DATETIME | TypeCode::INTERVAL => {
                return Err(error(py, Class::Data, None, "a DATETIME or INTERVAL came without its qualifier"));
            }
            _ => {
                let value = Base100::decode(bytes).map_err(malformed)?;
                let format = CellFormat::Decimal { precision: 32, scale: None };
                (format, value.map_or(Cell::Null, Cell::Decimal))
            }
        },
    };
    // SAFETY: `object` answers a new reference or null with an exception set.
    unsafe { Bound::from_owned_ptr_or_err(py, columns::object(py, format, cell, encoding)) }
}

#[cfg(test)]
mod tests {
    use super::types_of;

    #[test]
    fn the_types_of_a_signature() {
        assert_eq!(types_of("function informix.ifx_lo_open(blob ,integer)"), ["blob", "integer"]);
        assert_eq!(types_of("function f(decimal(10,2), LIST(int not null))"), ["decimal(10,2)", "list(int not null)"]);
        assert!(types_of("function f()").is_empty());
        assert!(types_of("function f").is_empty());
    }
}
