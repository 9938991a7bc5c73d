//! Rows and collections: from their text to `RowValue` and `CollectionValue`.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyString, PyTuple};
use rowferry_client::informix::Column;
use rowferry_wire_sqli::TypeCode;
use rowferry_wire_sqli::values::composite::{CompositeType, Element};
use rowferry_wire_sqli::values::{Cell, CellFormat};

use super::columns;
use super::text::Encoding;
use crate::cells::{self, Object};

/// A column of rows or collections.
#[derive(Debug)]
pub struct Composite {
    ty: CompositeType,
    schema: String,
}

impl Composite {
    /// What reads the cells of `column`; `None` when it holds no rows or collections.
    pub fn of(py: Python<'_>, column: &Column, encoding: &Encoding) -> PyResult<Option<Self>> {
        let codes = [TypeCode::SET, TypeCode::MULTISET, TypeCode::LIST, TypeCode::ROW, TypeCode::COLLECTION];
        if !codes.contains(&column.code) {
            return Ok(None);
        }
        // SAFETY: `decode` answers a new reference or null with an exception set.
        let schema = unsafe { Bound::from_owned_ptr_or_err(py, encoding.decode(&column.type_name)) }?;
        let schema: String = schema.extract()?;
        Ok(Some(Self { ty: CompositeType::described(column.code, &schema), schema }))
    }

    /// The type.
    pub const fn ty(&self) -> &CompositeType {
        &self.ty
    }

    /// A cell. Text that is no such value becomes an object without members, which says so when they are asked for.
    pub fn object<'py>(&self, py: Python<'py>, text: &[u8], encoding: &Encoding) -> PyResult<Bound<'py, PyAny>> {
        match self.ty.parse(text) {
            Ok(element) => made(py, &element, &self.schema, encoding),
            Err(problem) => {
                let problem = format!("{problem}: it is no value of the type {}", self.schema);
                let nothing = PyTuple::empty(py);
                wrap(py, &self.ty, text, &self.schema, &nothing, Some(problem))
            }
        }
    }
}

/// Reads a value by the text of its type, for values that Python code makes: names of fields, members, and what was
/// wrong.
#[pyfunction]
pub fn parse_composite<'py>(
    py: Python<'py>,
    raw: &[u8],
    schema: &str,
) -> PyResult<(Bound<'py, PyTuple>, Bound<'py, PyTuple>, Option<String>)> {
    let encoding = if std::str::from_utf8(raw).is_ok() { Encoding::Utf8 } else { Encoding::Latin1 };
    let ty = CompositeType::described(TypeCode::ROW, schema);
    match ty.parse(raw) {
        Ok(element) => Ok((fields(py, &ty)?, members(py, &element, &encoding)?, None)),
        Err(problem) => {
            let problem = format!("{problem}: it is no value of the type {schema}");
            Ok((PyTuple::empty(py), PyTuple::empty(py), Some(problem)))
        }
    }
}

fn fields<'py>(py: Python<'py>, ty: &CompositeType) -> PyResult<Bound<'py, PyTuple>> {
    match ty {
        CompositeType::Row(Some(fields)) => PyTuple::new(py, fields.iter().map(|(name, _)| name)),
        _ => Ok(PyTuple::empty(py)),
    }
}

fn members<'py>(py: Python<'py>, element: &Element<'_>, encoding: &Encoding) -> PyResult<Bound<'py, PyTuple>> {
    let (Element::Row(members, ..) | Element::Collection(members, ..)) = element else {
        return Ok(PyTuple::empty(py));
    };
    let objects = members.iter().map(|member| object(py, member, encoding)).collect::<PyResult<Vec<_>>>()?;
    PyTuple::new(py, objects)
}

fn made<'py>(py: Python<'py>, element: &Element<'_>, schema: &str, encoding: &Encoding) -> PyResult<Bound<'py, PyAny>> {
    let (Element::Row(_, ty, raw) | Element::Collection(_, ty, raw)) = element else {
        return object(py, element, encoding);
    };
    wrap(py, ty, raw, schema, &members(py, element, encoding)?, None)
}

fn wrap<'py>(
    py: Python<'py>,
    ty: &CompositeType,
    raw: &[u8],
    schema: &str,
    members: &Bound<'py, PyTuple>,
    problem: Option<String>,
) -> PyResult<Bound<'py, PyAny>> {
    static ROW: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    static COLLECTION: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    const MODULE: &str = "rowferry.informix._composites";
    let (raw, schema) = (PyBytes::new(py, raw), PyString::new(py, schema));
    match ty {
        CompositeType::Row(_) => {
            ROW.import(py, MODULE, "_row")?.call1((raw, schema, fields(py, ty)?, members, problem))
        }
        CompositeType::Collection(kind, _) => {
            COLLECTION.import(py, MODULE, "_collection")?.call1((raw, kind.name(), schema, members, problem))
        }
    }
}

fn object<'py>(py: Python<'py>, element: &Element<'_>, encoding: &Encoding) -> PyResult<Bound<'py, PyAny>> {
    let object: Object = match element {
        Element::Null => cells::none(),
        Element::Text(text) => encoding.decode(text),
        Element::Decimal(number, scale) => cells::decimal(number.to_text(*scale).as_bytes()),
        Element::Int(value) => cells::int(*value),
        Element::Float(value) => cells::float(*value),
        Element::SmallFloat(value) => cells::float(f64::from(*value)),
        Element::Date(days) => columns::object(py, CellFormat::Date, Cell::Date(*days), encoding),
        Element::DateTime(value, qualifier) => {
            columns::object(py, CellFormat::DateTime(*qualifier), Cell::DateTime(*value), encoding)
        }
        Element::Interval(value) => columns::object(py, CellFormat::LongText, Cell::Interval(*value), encoding),
        Element::Boolean(value) => columns::object(py, CellFormat::BooleanText, Cell::Boolean(*value), encoding),
        Element::Row(..) | Element::Collection(..) => return made(py, element, "", encoding),
    };
    // SAFETY: each of them answers a new reference or null with an exception set.
    unsafe { Bound::from_owned_ptr_or_err(py, object) }
}
