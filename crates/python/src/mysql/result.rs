use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple, PyType};
use rowferry_wire_mysql::client::SessionState;
use rowferry_wire_mysql::messages::statement::StatementId;
use rowferry_wire_mysql::messages::status::{Ok as OkPacket, status_flag};

use super::columns::Plan;

/// One result of a statement.
#[pyclass(frozen, module = "rowferry._core.mysql")]
pub struct QueryResult {
    /// How its rows are built; `None` for results without rows.
    pub plan: Option<Arc<Plan>>,
    /// A list of rows; None for results without rows, and for rows that are still to be fetched.
    #[pyo3(get)]
    rows: Option<Py<PyAny>>,
    ok: OkPacket,
    /// Another result follows on the wire: only for results that are fetched bit by bit.
    #[pyo3(get)]
    more: bool,
    /// The next result of the same statement.
    #[pyo3(get)]
    next: Option<Py<QueryResult>>,
    /// What the server refused after this result.
    error: Option<PyErr>,
}

/// A result while it is read.
pub struct Draft {
    pub plan: Option<Arc<Plan>>,
    pub rows: Option<Py<PyAny>>,
    pub ok: OkPacket,
    pub more: bool,
}

impl QueryResult {
    /// Makes a chain of `drafts`, which must not be empty; `error` came behind the last.
    pub fn chain(py: Python<'_>, drafts: Vec<Draft>, mut error: Option<PyErr>) -> PyResult<Option<Py<Self>>> {
        let mut next = None;
        for Draft { plan, rows, ok, more } in drafts.into_iter().rev() {
            next = Some(Py::new(py, Self { plan, rows, ok, more, next, error: error.take() })?);
        }
        Ok(next)
    }
}

#[pymethods]
impl QueryResult {
    /// PEP 249's description; None for results without rows.
    #[getter]
    fn description(&self, py: Python<'_>) -> Option<Py<PyTuple>> {
        Some(self.plan.as_ref()?.description.clone_ref(py))
    }

    /// The columns as objects with `name` and `type_code`, for programs that look into a cursor's `_result`, as
    /// Tortoise does; None for results without rows.
    #[getter]
    fn fields<'py>(&self, py: Python<'py>) -> PyResult<Option<Vec<Bound<'py, PyAny>>>> {
        static NAMESPACE: PyOnceLock<Py<PyType>> = PyOnceLock::new();
        let Some(plan) = &self.plan else { return Ok(None) };
        let class = NAMESPACE.import(py, "types", "SimpleNamespace")?;
        let field = |column: Bound<'py, PyAny>| {
            let members = PyDict::new(py);
            members.set_item("name", column.get_item(0)?)?;
            members.set_item("type_code", column.get_item(1)?)?;
            class.call((), Some(&members))
        };
        plan.description.bind(py).iter().map(field).collect::<PyResult<_>>().map(Some)
    }

    /// Rows inserted, changed or deleted.
    #[getter]
    fn affected_rows(&self) -> u64 {
        self.ok.affected_rows
    }

    /// The first number that AUTO_INCREMENT gave out, 0 when none.
    #[getter]
    fn insert_id(&self) -> u64 {
        self.ok.last_insert_id
    }

    /// How many warnings SHOW WARNINGS would list.
    #[getter]
    fn warning_count(&self) -> u16 {
        self.ok.warnings
    }

    /// The server's status flags.
    #[getter]
    fn server_status(&self) -> u16 {
        self.ok.status
    }

    /// True when the row holds a procedure's OUT and INOUT parameters: the statement was prepared.
    #[getter]
    fn is_out_parameters(&self) -> bool {
        self.ok.status & status_flag::PS_OUT_PARAMS != 0
    }

    /// What the server adds for people.
    #[getter]
    fn info(&self) -> &str {
        &self.ok.info
    }

    /// What the server refused after this result, as an exception to raise.
    #[getter]
    fn error(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        Some(self.error.as_ref()?.value(py).clone().unbind().into_any())
    }
}

/// A statement that the server has prepared, or will at its first execution.
#[pyclass(frozen, module = "rowferry._core.mysql")]
pub struct Prepared {
    /// The server's number and count of `?`.
    known: OnceLock<(StatementId, usize)>,
    /// What to prepare.
    pub sql: Vec<u8>,
    /// How many `?` our lexer has counted; `None` where that depends on the server.
    pub counted: Option<usize>,
    /// The names of the values in their order; empty for values that come in a sequence.
    pub names: Vec<String>,
}

impl Prepared {
    /// One that the first execution prepares.
    pub const fn new(sql: Vec<u8>, counted: Option<usize>) -> Self {
        Self { known: OnceLock::new(), sql, counted, names: Vec::new() }
    }

    /// The server's number, once it is prepared.
    #[inline]
    pub fn statement(&self) -> Option<StatementId> {
        Some(self.known.get()?.0)
    }

    /// The server has prepared it. Once only: later calls change nothing.
    pub fn is(&self, statement: StatementId, params: usize) {
        let _ = self.known.set((statement, params));
    }

    /// How many `?` there are, as far as it is known.
    pub fn count(&self) -> Option<usize> {
        self.known.get().map_or(self.counted, |known| Some(known.1))
    }
}

#[pymethods]
impl Prepared {
    /// How many `?` there are; 0 as long as nobody knows.
    #[getter]
    fn params(&self) -> usize {
        self.count().unwrap_or(0)
    }

    /// True once the server has prepared it.
    #[getter]
    fn is_prepared(&self) -> bool {
        self.known.get().is_some()
    }
}

/// Database, variables, GTIDs, transaction's state and characteristics.
pub type StateTuple = (Option<String>, BTreeMap<String, String>, Option<String>, Option<String>, Option<String>);

/// What the server has told of changes.
pub fn state_tuple(state: &SessionState) -> StateTuple {
    let SessionState { schema, variables, gtids, transaction_state, transaction_characteristics, .. } = state.clone();
    (schema, variables, gtids, transaction_state, transaction_characteristics)
}
