//! Rows that were fetched as Python objects already, by columns.

use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString, PyTuple};

use super::{ArrowRows, NO_INTEGER, Slot, Wrong};
use crate::arrow::ArrowBatch;
use crate::arrow::column::Column;
use crate::errors::{Class, error};
use crate::mysql::columns::ZeroDates;
use crate::mysql::result::QueryResult;
use crate::mysql::values::spell;

/// Collects rows of one result, tuples or dicts, into columns.
#[pyclass(frozen, module = "rowferry._core.mysql")]
pub struct RowsToArrow {
    rows: Mutex<ArrowRows>,
}

#[pymethods]
impl RowsToArrow {
    /// Columns as `result` describes them.
    #[new]
    fn new(py: Python<'_>, result: &QueryResult) -> PyResult<Self> {
        let Some(plan) = &result.plan else {
            return Err(error(py, Class::Programming, None, "there are no rows to fetch: the statement returned none"));
        };
        Ok(Self { rows: Mutex::new(ArrowRows::new(py, plan, usize::MAX)?) })
    }

    /// Appends a row.
    fn append(&self, row: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = row.py();
        let row = match row.cast::<PyDict>() {
            Ok(dict) => dict.values().to_tuple(),
            Err(_) => row.cast::<PyTuple>()?.clone(),
        };
        let mut rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        let rows = &mut *rows;
        if row.len() != rows.slots.len() {
            return Err(error(py, Class::Interface, None, "a row has not as many values as there are columns"));
        }
        for (at, (slot, value)) in rows.slots.iter_mut().zip(row.iter_borrowed()).enumerate() {
            let what = match slot.push_object(&value, rows.zero_dates) {
                Ok(()) => continue,
                Err(Unfit::Raised(raised)) => return Err(raised),
                Err(Unfit::Wrong(Wrong::Value(what))) => what.to_owned(),
                Err(Unfit::Wrong(Wrong::NoDate(text))) => format!("`{text}` is no date of the calendar"),
                Err(Unfit::Wrong(Wrong::Malformed(malformed))) => malformed.to_string(),
            };
            return Err(rows.value_error(py, at, &what));
        }
        rows.rows += 1;
        Ok(())
    }

    /// The rows that were appended, as a batch.
    fn take(&self, py: Python<'_>) -> PyResult<Py<ArrowBatch>> {
        self.rows.lock().unwrap_or_else(PoisonError::into_inner).batch(py)
    }
}

enum Unfit {
    Wrong(Wrong),
    Raised(PyErr),
}

impl From<PyErr> for Unfit {
    fn from(raised: PyErr) -> Self {
        Self::Raised(raised)
    }
}

impl From<Wrong> for Unfit {
    fn from(wrong: Wrong) -> Self {
        Self::Wrong(wrong)
    }
}

impl Slot {
    fn push_object(&mut self, value: &Bound<'_, PyAny>, zero_dates: ZeroDates) -> Result<(), Unfit> {
        let bytes = value.cast::<PyBytes>().ok();
        match &mut self.column {
            column if value.is_none() => column.push_null(),
            Column::Text(column) => match value.cast::<PyString>() {
                Ok(text) => column.push(text.to_str()?.as_bytes()),
                Err(_) => column.push(&spell(value)?),
            },
            Column::UInt64(column) if self.bits && bytes.is_none() => {
                column.push(value.extract().map_err(|_| NO_INTEGER)?);
            }
            Column::Bool(values, nulls) if bytes.is_none() => {
                values.append(value.is_truthy()?);
                nulls.append_non_null();
            }
            Column::Vector(..) if bytes.is_none() => {
                let singles: Vec<f32> = value.extract()?;
                let bytes: Vec<u8> = singles.into_iter().flat_map(f32::to_le_bytes).collect();
                self.push_text(&bytes, zero_dates, None)?;
            }
            _ => match bytes {
                Some(bytes) => self.push_text(bytes.as_bytes(), zero_dates, None)?,
                None => self.push_text(&spell(value)?, zero_dates, None)?,
            },
        }
        Ok(())
    }
}
