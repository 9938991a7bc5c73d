use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use rowferry_wire_sqli::client::{Client, CursorOptions, Outcome};

use super::columns::{Plan, RowError};
use crate::errors::{Class, error};

/// Rows as they are on the wire.
#[derive(Debug, Default)]
pub struct RawRows {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    /// Nobody wants them as objects.
    pub only: bool,
}

impl RawRows {
    const EMPTY: Self = Self { bytes: Vec::new(), ends: Vec::new(), only: false };

    /// Appends a row.
    #[inline]
    pub fn push(&mut self, payload: &[u8]) {
        self.bytes.extend_from_slice(payload);
        self.ends.push(self.bytes.len());
    }

    /// How many.
    pub const fn len(&self) -> usize {
        self.ends.len()
    }

    /// A row; empty where there is none.
    pub fn row(&self, at: usize) -> &[u8] {
        let start = if at == 0 { Some(0) } else { self.ends.get(at - 1).copied() };
        match (start, self.ends.get(at)) {
            (Some(start), Some(&end)) => &self.bytes[start..end],
            _ => &[],
        }
    }
}

/// What a statement led to: the rows of its first fetch, or what it changed.
#[pyclass(frozen, module = "rowferry._core.informix")]
pub struct QueryResult {
    pub plan: Option<Arc<Plan>>,
    /// A list of rows; None for statements without rows.
    #[pyo3(get)]
    pub rows: Option<Py<PyList>>,
    /// What `executemany` was told to go on after: exceptions, by row.
    #[pyo3(get)]
    errors: Option<Py<PyList>>,
    outcome: Outcome,
    /// How the cursor was opened.
    pub cursor: Arc<CursorOptions>,
    /// The same rows as they came.
    pub raw: RawRows,
}

impl QueryResult {
    pub const fn new(
        plan: Option<Arc<Plan>>,
        rows: Option<Py<PyList>>,
        outcome: Outcome,
        cursor: Arc<CursorOptions>,
    ) -> Self {
        Self { plan, rows, errors: None, outcome, cursor, raw: RawRows::EMPTY }
    }

    /// The effect of something that returns no rows.
    pub fn without_rows(outcome: Outcome) -> Self {
        Self::new(None, None, outcome, Arc::default())
    }

    /// The effect of a batch of which these rows have failed.
    pub fn of_batch(outcome: Outcome, errors: Py<PyList>) -> Self {
        Self { errors: Some(errors), ..Self::without_rows(outcome) }
    }

    /// Closes the cursor of which nobody will read the rest.
    pub fn close_unread(&self, client: &mut Client) {
        if let Some(plan) = self.plan.as_ref().filter(|_| self.outcome.open) {
            client.close(&plan.prepared);
        }
    }

    /// Keeps the rows as they came.
    pub fn with_raw(self, raw: RawRows) -> Self {
        Self { raw, ..self }
    }
}

#[pymethods]
impl QueryResult {
    /// PEP 249's description; None for statements without rows.
    #[getter]
    fn description(&self, py: Python<'_>) -> Option<Py<PyTuple>> {
        Some(self.plan.as_ref()?.description.as_ref()?.clone_ref(py))
    }

    /// How many rows it holds as they came, for Arrow.
    #[getter]
    const fn raw_rows(&self) -> usize {
        self.raw.len()
    }

    /// All rows as objects, those too that were fetched for Arrow.
    fn decoded(&self, py: Python<'_>) -> PyResult<Option<Py<PyList>>> {
        let Some(plan) = self.plan.as_ref().filter(|_| self.raw.only) else {
            return Ok(self.rows.as_ref().map(|rows| rows.clone_ref(py)));
        };
        let rows = PyList::empty(py);
        for at in 0..self.raw.len() {
            let row = match plan.row(py, self.raw.row(at), |_, _| ()) {
                // SAFETY: the reference that `row` answered.
                Ok(row) => unsafe { Bound::from_owned_ptr_or_err(py, row) }?,
                Err(RowError::Raised) => return Err(PyErr::fetch(py)),
                Err(RowError::Malformed(malformed)) => {
                    return Err(error(py, Class::Operational, None, &malformed.to_string()));
                }
            };
            rows.append(row)?;
        }
        Ok(Some(rows.unbind()))
    }

    /// Rows changed; for a query, rows delivered so far.
    #[getter]
    const fn count(&self) -> i64 {
        self.outcome.rows
    }

    /// The value that a serial column was given, 0 when none.
    #[getter]
    const fn serial(&self) -> i64 {
        self.outcome.serial
    }

    /// The cursor may have more rows: `fetch` or `discard` it.
    #[getter]
    const fn more(&self) -> bool {
        self.outcome.more
    }

    /// The cursor is open on the server: `discard` it.
    #[getter]
    const fn open(&self) -> bool {
        self.outcome.open
    }

    /// The number of the last row delivered, from 1, by a scroll cursor; else 0.
    #[getter]
    const fn position(&self) -> i64 {
        self.outcome.position
    }

    /// What the statement is, by the server's number.
    #[getter]
    fn statement_type(&self) -> Option<u16> {
        Some(self.plan.as_ref()?.prepared.statement_type.0)
    }
}
