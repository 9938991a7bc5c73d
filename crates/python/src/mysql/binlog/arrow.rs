//! Rows of the log as Arrow's columns, with the types that a SELECT's would have: each image is spelled as a row of the
//! text protocol, whose way into columns is then shared.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::PyString;
use rowferry_wire::Malformed;
use rowferry_wire_mysql::binlog::json::Json;
use rowferry_wire_mysql::binlog::json_diff;
use rowferry_wire_mysql::binlog::rows::{Cell, Change};
use rowferry_wire_mysql::binlog::table::{BLOB_COMPRESSED, VARCHAR_COMPRESSED};
use rowferry_wire_mysql::binlog::value::{Value, expand};
use rowferry_wire_mysql::messages::resultset::ColumnDefinition;
use rowferry_wire_mysql::types::{CHARSET_BINARY, ColumnType, column_flag};

use super::rows::{BinlogRows, NOT_FIXED, RowPlan, malformed};
use crate::arrow::ArrowBatch;
use crate::errors::{Class, error};
use crate::mysql::arrow::{ArrowRows, Refused};
use crate::mysql::driver::client_errno;
use crate::mysql::spelling::{date_text, datetime_text, float_text, time_text};

/// The column in front that says what happened to a row.
const CHANGE: &str = "_change";

/// The collation of text that we have decoded.
const UTF8MB4: u16 = 45;

/// A row begins with NULL, or with a length of 9 bytes in front of each cell.
const NULL: u8 = 0xfb;
const LONG: u8 = 0xfe;

impl RowPlan {
    /// The column as a SELECT would describe it.
    fn definition(&self, at: usize) -> ColumnDefinition {
        let column = &self.columns[at];
        let is_unsigned = column.is_unsigned.unwrap_or(false);
        let mut definition = ColumnDefinition {
            name: self.name(at),
            charset: if self.is_bytes(at) { CHARSET_BINARY } else { UTF8MB4 },
            column_type: match column.column_type {
                ColumnType::TIME2 => ColumnType::TIME,
                ColumnType::DATETIME2 => ColumnType::DATETIME,
                ColumnType::TIMESTAMP2 => ColumnType::TIMESTAMP,
                BLOB_COMPRESSED => ColumnType::BLOB,
                VARCHAR_COMPRESSED => ColumnType::VAR_STRING,
                // Numbers, where the members are not known.
                ColumnType::ENUM | ColumnType::SET if self.members(at).is_none() => ColumnType::LONGLONG,
                other => other,
            },
            flags: if is_unsigned { column_flag::UNSIGNED } else { 0 },
            decimals: NOT_FIXED,
            length: u32::from(column.metadata),
            schema: String::new(),
            table: String::new(),
            org_table: String::new(),
            org_name: String::new(),
            extended: Vec::new(),
        };
        match column.column_type {
            ColumnType::NEWDECIMAL => {
                let [precision, scale] = column.metadata.to_be_bytes();
                definition.decimals = scale;
                definition.length = u32::from(precision) + u32::from(scale > 0) + u32::from(!is_unsigned);
            }
            ColumnType::VECTOR => definition.length = column.dimensions.unwrap_or(0).saturating_mul(4),
            ColumnType::SET if definition.column_type == ColumnType::LONGLONG => {
                definition.flags |= column_flag::UNSIGNED;
            }
            _ => {}
        }
        definition
    }

    /// Appends a value as the text protocol spells it.
    fn spell(&self, at: usize, value: Value<'_>, out: &mut Vec<u8>) -> Result<(), Unfit> {
        match value {
            Value::Int(value) => out.extend_from_slice(value.to_string().as_bytes()),
            Value::Unsigned(value) => out.extend_from_slice(value.to_string().as_bytes()),
            Value::Float(value) => out.extend_from_slice(float_text(value, NOT_FIXED).as_bytes()),
            Value::Double(value) => out.extend_from_slice(format!("{value:?}").as_bytes()),
            Value::Decimal(number) => out.extend_from_slice(number.as_bytes()),
            Value::Year(year) => out.extend_from_slice(year.to_string().as_bytes()),
            Value::Date(date) => out.extend_from_slice(&date_text(date)),
            Value::DateTime(moment, _) => out.extend_from_slice(&datetime_text(moment, 6)),
            Value::Timestamp(seconds, microseconds, _) => {
                out.extend_from_slice(&datetime_text(self.moment(seconds, microseconds), 6));
            }
            Value::Time(time) => out.extend_from_slice(&time_text(time, 6)),
            Value::Bits(bits) => out.extend_from_slice(bits),
            Value::Enum(_) | Value::Set(_) => self.decode(at, value, out)?,
            Value::Bytes(bytes) if self.is_plain(at) => out.extend_from_slice(bytes),
            Value::Padded(bytes, size) if self.is_plain(at) => {
                let end = out.len() + size;
                out.extend_from_slice(bytes);
                out.resize(end, 0);
            }
            Value::Compressed(bytes) if self.is_plain(at) => out.extend_from_slice(&expand(bytes)?),
            Value::Bytes(_) | Value::Padded(..) | Value::Compressed(_) => self.decode(at, value, out)?,
            Value::Json(document) => out.extend_from_slice(Json::decode(document)?.text()?.as_bytes()),
            Value::Null => {}
        }
        Ok(())
    }

    /// The same by way of Python's object, for text that only Python decodes and for members of lists.
    fn decode(&self, at: usize, value: Value<'_>, out: &mut Vec<u8>) -> Result<(), Unfit> {
        let object = self.value(at, value)?;
        // SAFETY: cells are built with the GIL held; the object is new and ours, or null with an exception set.
        let object = unsafe { Bound::from_owned_ptr_or_err(Python::assume_attached(), object) }?;
        match object.cast::<PyString>() {
            Ok(text) => out.extend_from_slice(text.to_str()?.as_bytes()),
            Err(_) => out.extend_from_slice(object.str()?.to_str()?.as_bytes()),
        }
        Ok(())
    }

    fn name(&self, at: usize) -> String {
        // SAFETY: called with the GIL held.
        let py = unsafe { Python::assume_attached() };
        self.names[at].bind(py).to_string_lossy().into_owned()
    }
}

/// Why a cell is not spelled.
enum Unfit {
    Malformed(Malformed),
    Python(PyErr),
}

impl From<Malformed> for Unfit {
    fn from(failure: Malformed) -> Self {
        Self::Malformed(failure)
    }
}

impl From<PyErr> for Unfit {
    fn from(failure: PyErr) -> Self {
        Self::Python(failure)
    }
}

/// Rows of events, by columns.
struct Collected {
    plan: Arc<RowPlan>,
    columns: ArrowRows,
    rows: usize,
}

/// Collects the rows of one table's events into batches. With `with_change`, the first column says what happened:
/// `insert`, `update` or `delete`.
#[pyclass(frozen, module = "rowferry._core.mysql")]
pub struct BinlogToArrow {
    with_change: bool,
    state: Mutex<Option<Collected>>,
}

#[pymethods]
impl BinlogToArrow {
    #[new]
    fn new(with_change: bool) -> Self {
        Self { with_change, state: Mutex::new(None) }
    }

    /// Appends the rows after the change, of deleted ones those before. A batch comes back when the table's shape has
    /// changed: it has the rows before these. `after` chooses one side.
    #[pyo3(signature = (rows, after=None))]
    fn append(&self, py: Python<'_>, rows: &BinlogRows, after: Option<bool>) -> PyResult<Option<Py<ArrowBatch>>> {
        let mut state = self.state.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner);
        let mut finished = None;
        if let Some(mut collected) = state.take_if(|collected| !Arc::ptr_eq(&collected.plan, &rows.plan)) {
            finished = collected.columns.take(py)?;
        }
        let collected = state.get_or_insert_with(|| Collected::new(&rows.plan, self.with_change));
        let outcome = collected.append(py, rows, after, self.with_change);
        if outcome.is_err() {
            // Columns of unequal length are of no use.
            *state = None;
        }
        outcome.map(|()| finished)
    }

    /// How many rows wait to be taken.
    #[getter]
    fn rows(&self, py: Python<'_>) -> usize {
        self.state
            .lock_py_attached(py)
            .unwrap_or_else(PoisonError::into_inner)
            .as_ref()
            .map_or(0, |collected| collected.rows)
    }

    /// The rows that were appended, as a batch; None when there are none.
    fn take(&self, py: Python<'_>) -> PyResult<Option<Py<ArrowBatch>>> {
        match &mut *self.state.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner) {
            None => Ok(None),
            Some(collected) => {
                collected.rows = 0;
                collected.columns.take(py)
            }
        }
    }

    /// The same; a batch without rows when there are none.
    fn take_all(&self, py: Python<'_>) -> PyResult<Option<Py<ArrowBatch>>> {
        match &mut *self.state.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner) {
            None => Ok(None),
            Some(collected) => {
                collected.rows = 0;
                collected.columns.batch(py).map(Some)
            }
        }
    }
}

impl Collected {
    fn new(plan: &Arc<RowPlan>, with_change: bool) -> Self {
        let mut definitions = Vec::with_capacity(plan.columns.len() + 1);
        if with_change {
            definitions.push(ColumnDefinition {
                name: CHANGE.into(),
                charset: UTF8MB4,
                column_type: ColumnType::VAR_STRING,
                flags: 0,
                decimals: 0,
                length: 0,
                schema: String::new(),
                table: String::new(),
                org_table: String::new(),
                org_name: String::new(),
                extended: Vec::new(),
            });
        }
        definitions.extend((0..plan.columns.len()).map(|at| plan.definition(at)));
        let columns = ArrowRows::of(&definitions, plan.zero_dates);
        Self { plan: plan.clone(), columns, rows: 0 }
    }

    fn append(&mut self, py: Python<'_>, rows: &BinlogRows, after: Option<bool>, with_change: bool) -> PyResult<()> {
        let (plan, event) = (&self.plan, &rows.event);
        let broken = |failure| malformed(py, &plan.map, failure);
        let mut images = event.images(&plan.layouts, &plan.json).map_err(broken)?;
        let wanted = after.unwrap_or(event.change != Change::Delete);
        let change = match event.change {
            Change::Write => "insert",
            Change::Update => "update",
            Change::Delete => "delete",
        };
        let (mut bytes, mut ranges) = (Vec::new(), Vec::new());
        let mut documents: Vec<Option<&[u8]>> = vec![None; plan.columns.len()];
        let mut is_after = event.change == Change::Write;
        while !images.is_at_end() {
            let start = bytes.len();
            let is_wanted = is_after == wanted;
            if is_wanted && with_change {
                put(&mut bytes, |out| {
                    out.extend_from_slice(change.as_bytes());
                    Ok(())
                })?;
            }
            let walked = images.image::<Unfit>(is_after, |at, cell| {
                if let Cell::Value(Value::Json(document)) = cell {
                    documents[at] = Some(document);
                }
                if !is_wanted {
                    return Ok(());
                }
                match cell {
                    Cell::Absent | Cell::Value(Value::Null) => bytes.push(NULL),
                    Cell::Value(value) => put(&mut bytes, |out| plan.spell(at, value, out))?,
                    Cell::Diffs(diffs) => match documents[at] {
                        None => bytes.push(NULL),
                        Some(document) => {
                            let mut json = Json::decode(document)?;
                            json_diff::apply(&mut json, diffs)?;
                            put(&mut bytes, |out| {
                                out.extend_from_slice(json.text()?.as_bytes());
                                Ok(())
                            })?;
                        }
                    },
                }
                Ok(())
            });
            walked.map_err(|unfit| match unfit {
                Unfit::Malformed(failure) => broken(failure),
                Unfit::Python(failure) => failure,
            })?;
            if is_wanted {
                ranges.push(start..bytes.len());
            }
            is_after ^= event.change == Change::Update;
        }
        self.columns.push_rows(&bytes, &ranges, false).map_err(|refused| match refused {
            Refused::Malformed(failure) => {
                error(py, Class::Internal, Some(client_errno::MALFORMED), &failure.to_string())
            }
            Refused::Value(at, what) => self.columns.value_error(py, at, &what),
        })?;
        self.rows += ranges.len();
        Ok(())
    }
}

/// Appends a cell behind its length.
fn put(bytes: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>) -> Result<(), Unfit>) -> Result<(), Unfit> {
    bytes.push(LONG);
    let place = bytes.len();
    bytes.extend_from_slice(&[0; 8]);
    write(bytes)?;
    let len = (bytes.len() - place - 8) as u64;
    bytes[place..place + 8].copy_from_slice(&len.to_le_bytes());
    Ok(())
}

impl From<Unfit> for PyErr {
    fn from(unfit: Unfit) -> Self {
        match unfit {
            Unfit::Python(failure) => failure,
            Unfit::Malformed(failure) => {
                // SAFETY: cells are built with the GIL held.
                let py = unsafe { Python::assume_attached() };
                error(py, Class::Operational, Some(client_errno::MALFORMED), &failure.to_string())
            }
        }
    }
}
