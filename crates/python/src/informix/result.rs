use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use rowferry_wire_sqli::client::Outcome;

use super::columns::Plan;

/// What a statement led to: the rows of its first fetch, or what it changed.
#[pyclass(frozen, module = "rowferry._core.informix")]
pub struct QueryResult {
    pub plan: Option<Arc<Plan>>,
    /// A list of rows; None for statements without rows.
    #[pyo3(get)]
    rows: Option<Py<PyList>>,
    outcome: Outcome,
}

impl QueryResult {
    pub const fn new(plan: Option<Arc<Plan>>, rows: Option<Py<PyList>>, outcome: Outcome) -> Self {
        Self { plan, rows, outcome }
    }
}

#[pymethods]
impl QueryResult {
    /// PEP 249's description; None for statements without rows.
    #[getter]
    fn description(&self, py: Python<'_>) -> Option<Py<PyTuple>> {
        Some(self.plan.as_ref()?.description.as_ref()?.clone_ref(py))
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

    /// What the statement is, by the server's number.
    #[getter]
    fn statement_type(&self) -> Option<u16> {
        Some(self.plan.as_ref()?.prepared.statement_type.0)
    }
}
