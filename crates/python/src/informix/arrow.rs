//! From rows on the wire to Arrow's columns. No Python object stands between, except for `BYTE` and `TEXT` values, which
//! were fetched one by one, and for code sets that only Python knows.

use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::types::IntervalMonthDayNanoType;
use arrow_schema::SchemaRef;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString, PyTuple};
use rowferry_wire::{Malformed, Reader, civil};
use rowferry_wire_sqli::TypeCode;
use rowferry_wire_sqli::types::TimeUnit;
use rowferry_wire_sqli::values::composite::{CompositeType, Element, ElementType};
use rowferry_wire_sqli::values::{Cell, CellFormat, DateTime, Interval};

use super::columns::Plan;
use super::result::{QueryResult, RawRows};
use super::text::Encoding;
use crate::arrow::column::{self, BATCH_BYTES, Column};
use crate::arrow::{ArrowBatch, failed};
use crate::errors::{Class, error};

/// Why rows cannot become columns.
enum Refused {
    /// The bytes are no row.
    Malformed(Malformed),
    /// A value that Arrow's type does not hold: the column, and what is wrong.
    Value(usize, String),
    Python(PyErr),
}

impl From<Malformed> for Refused {
    fn from(malformed: Malformed) -> Self {
        Self::Malformed(malformed)
    }
}

impl From<PyErr> for Refused {
    fn from(error: PyErr) -> Self {
        Self::Python(error)
    }
}

/// What is wrong with one value.
enum Wrong {
    Value(&'static str),
    Python(PyErr),
}

impl From<PyErr> for Wrong {
    fn from(error: PyErr) -> Self {
        Self::Python(error)
    }
}

const OUT_OF_PLACE: Wrong = Wrong::Value("it is of another type than its column");

/// Collects rows of one result set into columns.
#[pyclass(frozen, module = "rowferry._core.informix")]
pub struct RowsToArrow {
    plan: Arc<Plan>,
    state: Mutex<State>,
}

struct State {
    schema: SchemaRef,
    columns: Vec<Column>,
    rows: usize,
}

#[pymethods]
impl RowsToArrow {
    /// Columns as `result` describes them.
    #[new]
    fn new(py: Python<'_>, result: &QueryResult) -> PyResult<Self> {
        let plan = match &result.plan {
            Some(plan) if plan.prepared.is_query() => plan.clone(),
            _ => return Err(error(py, Class::Programming, None, "the statement has no rows to fetch")),
        };
        let described = &plan.prepared.columns;
        let columns: Vec<_> = described
            .iter()
            .enumerate()
            .map(|(at, column)| builder(column.code, column.format, plan.composite_type(at)))
            .collect();
        let names = plan.names(py)?;
        let described = names.iter().zip(described).zip(&columns);
        let schema = column::schema(described.map(|((name, told), column)| (name.as_str(), !told.not_null, column)));
        Ok(Self { plan, state: Mutex::new(State { schema, columns, rows: 0 }) })
    }

    /// Appends at most `limit` rows of `result`, from its row `start`; answers how many. Fewer when the batch has grown
    /// large: take it and come back.
    fn append(&self, py: Python<'_>, result: &QueryResult, start: usize, limit: usize) -> PyResult<usize> {
        let lobs = match &result.rows {
            Some(rows) if self.plan.prepared.has_lobs() => Some(rows.clone_ref(py)),
            _ => None,
        };
        let (plan, raw) = (&self.plan, &result.raw);
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let state = &mut *state;
        let outcome = match lobs {
            Some(lobs) => state.append(plan, raw, start, limit, Some(lobs.bind(py))),
            None => py.detach(|| state.append(plan, raw, start, limit, None)),
        };
        outcome.map_err(|refused| match refused {
            Refused::Python(error) => error,
            Refused::Malformed(malformed) => error(py, Class::Operational, None, &malformed.to_string()),
            Refused::Value(at, what) => {
                let name = plan.names(py).ok().and_then(|names| names.get(at).cloned()).unwrap_or_default();
                error(py, Class::Data, None, &format!("column {name}: a value does not fit Arrow's type: {what}"))
            }
        })
    }

    /// How many rows wait to be taken.
    #[getter]
    fn rows(&self) -> usize {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).rows
    }

    /// The rows that were appended, as a batch.
    fn take(&self, py: Python<'_>) -> PyResult<ArrowBatch> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let State { schema, columns, rows } = &mut *state;
        let batch = column::batch(schema, columns, std::mem::take(rows)).map_err(|failure| failed(py, &failure))?;
        Ok(ArrowBatch::new(batch))
    }
}

impl State {
    fn append(
        &mut self,
        plan: &Plan,
        raw: &RawRows,
        start: usize,
        limit: usize,
        lobs: Option<&Bound<'_, PyList>>,
    ) -> Result<usize, Refused> {
        let mut appended = 0;
        for at in start..raw.len().min(start.saturating_add(limit)) {
            if self.columns.iter().any(|column| column.longest() >= BATCH_BYTES) {
                break;
            }
            let lobs = match lobs {
                Some(rows) => Some(rows.get_item(at)?.cast_into::<PyTuple>().map_err(PyErr::from)?),
                None => None,
            };
            let mut row = Reader::new(raw.row(at));
            for (at, (column, described)) in self.columns.iter_mut().zip(&plan.prepared.columns).enumerate() {
                let cell = described.format.decode(&mut row)?;
                let outcome = match (cell, &lobs) {
                    (Cell::SimpleLob(_), Some(row)) => push_lob(column, &row.get_item(at)?),
                    (Cell::Text(text), _) => match plan.composite_type(at) {
                        Some(ty) => push_composite(column, text, ty, plan.encoding()),
                        None => push(column, described.format, cell, plan.encoding()),
                    },
                    _ => push(column, described.format, cell, plan.encoding()),
                };
                outcome.map_err(|wrong| match wrong {
                    Wrong::Value(what) => Refused::Value(at, what.to_owned()),
                    Wrong::Python(error) => Refused::Python(error),
                })?;
            }
            row.finish("row longer than its columns")?;
            appended += 1;
            self.rows += 1;
        }
        Ok(appended)
    }
}

/// The column that holds cells of a format.
fn builder(code: TypeCode, format: CellFormat, composite: Option<&CompositeType>) -> Column {
    match format {
        CellFormat::SmallInt => Column::int(2),
        CellFormat::Integer => Column::int(4),
        CellFormat::BigInt | CellFormat::Int8 => Column::int(8),
        CellFormat::Float => Column::float(false),
        CellFormat::SmallFloat => Column::float(true),
        CellFormat::Decimal { precision, scale: Some(scale) } => Column::decimal(precision, scale),
        // Exponents up to 10^125: no decimal of Arrow's holds them.
        CellFormat::Decimal { scale: None, .. } => Column::text(),
        CellFormat::Date => Column::date(),
        CellFormat::DateTime(qualifier) => moment(qualifier),
        CellFormat::Interval(qualifier) => span(qualifier),
        CellFormat::BooleanText | CellFormat::BooleanBinary => Column::bool(),
        CellFormat::Opaque | CellFormat::Described | CellFormat::LocatorHex | CellFormat::LocatorRaw => {
            Column::binary()
        }
        CellFormat::SimpleLob(_) if code == TypeCode::BYTE => Column::binary(),
        CellFormat::LongText => composite.map_or_else(Column::text, composite_builder),
        CellFormat::Char(_) | CellFormat::VarChar(_) | CellFormat::SimpleLob(_) => Column::text(),
    }
}

fn moment(qualifier: rowferry_wire_sqli::Qualifier) -> Column {
    if qualifier.first().0 >= TimeUnit::HOUR.0 {
        Column::time()
    } else if qualifier.last().0 <= TimeUnit::DAY.0 {
        Column::date()
    } else {
        Column::timestamp()
    }
}

fn span(qualifier: rowferry_wire_sqli::Qualifier) -> Column {
    if qualifier.is_year_month() { Column::interval() } else { Column::duration() }
}

fn composite_builder(ty: &CompositeType) -> Column {
    match ty {
        // Fields that are not told cannot become columns: the literal is kept.
        CompositeType::Row(None) => Column::text(),
        CompositeType::Row(Some(fields)) => {
            Column::record(fields.iter().map(|(name, ty)| (name.clone(), element_builder(ty))).collect())
        }
        CompositeType::Collection(_, element) => Column::list(element_builder(element)),
    }
}

fn element_builder(ty: &ElementType) -> Column {
    match ty {
        ElementType::Integer => Column::int(8),
        ElementType::Float => Column::float(false),
        ElementType::SmallFloat => Column::float(true),
        ElementType::Decimal { precision, scale: Some(scale) } => Column::decimal((*precision).clamp(1, 38), *scale),
        ElementType::Boolean => Column::bool(),
        ElementType::Date => Column::date(),
        ElementType::DateTime(qualifier) => moment(*qualifier),
        ElementType::Interval(qualifier) => span(*qualifier),
        ElementType::Composite(ty) => composite_builder(ty),
        ElementType::Decimal { scale: None, .. } | ElementType::Char | ElementType::Text | ElementType::Untold => {
            Column::text()
        }
    }
}

#[inline]
fn push(column: &mut Column, format: CellFormat, cell: Cell<'_>, encoding: &Encoding) -> Result<(), Wrong> {
    match (column, cell) {
        (column, Cell::Null) => column.push_null(),
        // The cells of each width hold no other numbers.
        (Column::Int16(column), Cell::Int(value)) => column.push(value as i16),
        (Column::Int32(column), Cell::Int(value)) => column.push(value as i32),
        (Column::Int64(column), Cell::Int(value)) => column.push(value),
        (Column::Float64(column), Cell::Float(value)) => column.push(value),
        (Column::Float32(column), Cell::SmallFloat(value)) => column.push(value),
        (Column::Decimal(column, _), Cell::Decimal(number)) => {
            let CellFormat::Decimal { scale: Some(scale), .. } = format else { return Err(OUT_OF_PLACE) };
            column.push(number.unscaled(scale).ok_or(Wrong::Value("it has more digits than its column"))?);
        }
        (Column::Text(column), Cell::Decimal(number)) => column.push(number.to_text(None).as_bytes()),
        (Column::Date(column), Cell::Date(days)) => column.push(unix_day(days)),
        (column, Cell::DateTime(value)) => {
            let CellFormat::DateTime(qualifier) = format else { return Err(OUT_OF_PLACE) };
            push_moment(column, value, qualifier)?;
        }
        (column, Cell::Interval(value)) => push_span(column, value)?,
        (Column::Bool(values, nulls), Cell::Boolean(value)) => {
            values.append(value);
            nulls.append_non_null();
        }
        (Column::Text(column), Cell::Text(text)) => {
            let text = match format {
                CellFormat::Char(_) => &text[..text.iter().rposition(|&byte| byte != b' ').map_or(0, |last| last + 1)],
                _ => text,
            };
            column.push_with(|out| encoding.append_utf8(text, out))?;
        }
        (Column::Binary(column), Cell::Opaque(bytes)) => column.push(bytes),
        (Column::Binary(column), Cell::Text(hex)) => column.push_with(|out| append_hex(hex, out))?,
        _ => return Err(OUT_OF_PLACE),
    }
    Ok(())
}

/// Days since 1970 from days since 1899-12-31.
fn unix_day(days: i32) -> i32 {
    days.saturating_add(civil::DAYS_TO_1899_12_31 as i32)
}

/// Fields that the qualifier does not name count as in Python: year, month and day as 1.
fn push_moment(column: &mut Column, value: DateTime, qualifier: rowferry_wire_sqli::Qualifier) -> Result<(), Wrong> {
    let has = |unit: TimeUnit| qualifier.first().0 <= unit.0 && unit.0 <= qualifier.last().0;
    let DateTime { hour, minute, second, micros, .. } = value;
    let seconds = i64::from(hour) * 3_600 + i64::from(minute) * 60 + i64::from(second);
    let time = seconds * 1_000_000 + i64::from(micros);
    let days = || {
        let year = if has(TimeUnit::YEAR) { i64::from(value.year) } else { 1 };
        let month = if has(TimeUnit::MONTH) { i64::from(value.month) } else { 1 };
        let day = if has(TimeUnit::DAY) { i64::from(value.day) } else { 1 };
        civil::days_from_civil(year, month, day)
    };
    match column {
        Column::Time(column) => column.push(time),
        Column::Date(column) => column.push(days() as i32),
        Column::Timestamp(column, _) => column.push(days() * 86_400_000_000 + time),
        _ => return Err(OUT_OF_PLACE),
    }
    Ok(())
}

fn push_span(column: &mut Column, value: Interval) -> Result<(), Wrong> {
    const TOO_LONG: Wrong = Wrong::Value("the interval is too long");
    match (column, value) {
        (Column::Duration(column), Interval::DayTime { negative, seconds, micros }) => {
            let micros = i64::try_from(seconds)
                .ok()
                .and_then(|seconds| seconds.checked_mul(1_000_000))
                .and_then(|whole| whole.checked_add(i64::from(micros)))
                .ok_or(TOO_LONG)?;
            column.push(if negative { -micros } else { micros });
        }
        (Column::Interval(column), Interval::YearMonth(months)) => {
            let months = i32::try_from(months).map_err(|_| TOO_LONG)?;
            column.push(IntervalMonthDayNanoType::make_value(months, 0, 0));
        }
        _ => return Err(OUT_OF_PLACE),
    }
    Ok(())
}

fn append_hex(hex: &[u8], out: &mut Vec<u8>) -> Result<(), Wrong> {
    const WRONG: Wrong = Wrong::Value("the locator of a large object is no hexadecimal number");
    let digit = |byte: u8| char::from(byte).to_digit(16);
    for pair in hex.chunks(2) {
        let &[high, low] = pair else { return Err(WRONG) };
        let (Some(high), Some(low)) = (digit(high), digit(low)) else { return Err(WRONG) };
        out.push((high * 16 + low) as u8);
    }
    Ok(())
}

/// A `BYTE` or `TEXT` value that was fetched already.
fn push_lob(column: &mut Column, value: &Bound<'_, PyAny>) -> Result<(), Wrong> {
    match column {
        Column::Text(column) => column.push(value.cast::<PyString>().map_err(PyErr::from)?.to_str()?.as_bytes()),
        Column::Binary(column) => column.push(value.cast::<PyBytes>().map_err(PyErr::from)?.as_bytes()),
        _ => return Err(OUT_OF_PLACE),
    }
    Ok(())
}

fn push_composite(column: &mut Column, text: &[u8], ty: &CompositeType, encoding: &Encoding) -> Result<(), Wrong> {
    if let Column::Text(column) = column {
        return Ok(column.push_with(|out| encoding.append_utf8(text, out))?);
    }
    let element = ty.parse(text).map_err(|_| Wrong::Value("it is no row or collection of its type"))?;
    push_element(column, &element, encoding)
}

fn push_element(column: &mut Column, element: &Element<'_>, encoding: &Encoding) -> Result<(), Wrong> {
    match (column, element) {
        (column, Element::Null) => column.push_null(),
        (Column::List(item, offsets, nulls), Element::Collection(members, ..)) => {
            for member in members {
                push_element(item, member, encoding)?;
            }
            offsets.push(item.len() as i32);
            nulls.append_non_null();
        }
        (Column::Struct(fields, nulls), Element::Row(members, ..)) => {
            for ((_, field), member) in fields.iter_mut().zip(members) {
                push_element(field, member, encoding)?;
            }
            nulls.append_non_null();
        }
        // What is not told keeps its literal.
        (Column::Text(column), Element::Row(_, _, raw) | Element::Collection(_, _, raw)) => {
            column.push_with(|out| encoding.append_utf8(raw, out))?;
        }
        (Column::Text(column), Element::Int(value)) => column.push(value.to_string().as_bytes()),
        (Column::Text(column), Element::Decimal(number, scale)) => column.push(number.to_text(*scale).as_bytes()),
        (Column::Text(column), Element::Text(text)) => column.push_with(|out| encoding.append_utf8(text, out))?,
        (Column::Int64(column), Element::Int(value)) => column.push(*value),
        (Column::Float64(column), Element::Float(value)) => column.push(*value),
        (Column::Float32(column), Element::SmallFloat(value)) => column.push(*value),
        (Column::Decimal(column, _), Element::Decimal(number, Some(scale))) => {
            column.push(number.unscaled(*scale).ok_or(Wrong::Value("it has more digits than its type"))?);
        }
        (Column::Date(column), Element::Date(days)) => column.push(unix_day(*days)),
        (Column::Bool(values, nulls), Element::Boolean(value)) => {
            values.append(*value);
            nulls.append_non_null();
        }
        (column, Element::DateTime(value, qualifier)) => push_moment(column, *value, *qualifier)?,
        (column, Element::Interval(value)) => push_span(column, *value)?,
        _ => return Err(OUT_OF_PLACE),
    }
    Ok(())
}
