use std::sync::Arc;

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};
use rowferry_client::informix;
use rowferry_wire_sqli::client::{Client, CursorOptions, Failure, Outcome, Prepared, ScrollTo, SqlError};
use rowferry_wire_sqli::messages::SimpleLob;

use super::{Driver, Operation, Shared, Step, broken, done, misused, not_built, prepare, server_error};
use crate::cells;
use crate::errors::{Class, error};
use crate::informix::columns::{Plan, RowError};
use crate::informix::files::Files;
use crate::informix::result::{QueryResult, RawRows};
use crate::informix::values::Encoder;

/// A statement, or the next rows of its cursor.
struct Statement {
    begin: bool,
    /// Anything but a query is refused.
    query: bool,
    cursor: Arc<CursorOptions>,
    /// Of a query that is described.
    fetched: Option<Fetched>,
    /// How it went, while the values of `BYTE` and `TEXT` columns are still to be fetched.
    outcome: Option<Outcome>,
}

/// The rows of a query.
struct Fetched {
    plan: Arc<Plan>,
    /// None for a statement without rows.
    rows: Option<Py<PyList>>,
    /// `BYTE` and `TEXT` values that are still to be fetched; the one under way is the last.
    lobs: Vec<Lob>,
    /// The first row that could not be built.
    failed: Option<PyErr>,
}

/// A `BYTE` or `TEXT` value that is still to be fetched.
struct Lob {
    row: usize,
    column: usize,
    descriptor: Vec<u8>,
}

impl Driver {
    /// Runs a statement; when `begin` is true, within a transaction.
    #[allow(clippy::too_many_arguments)] // They are the caller's.
    pub fn execute(
        &mut self,
        py: Python<'_>,
        client: &mut Client,
        sql: &Bound<'_, PyAny>,
        args: Option<&Bound<'_, PyAny>>,
        begin: bool,
        query: bool,
        cursor: CursorOptions,
        files: Option<Py<PyAny>>,
    ) -> PyResult<()> {
        self.check(py, client)?;
        let shared = &mut self.shared;
        shared.files = Files::new(files);
        shared.params.clear();
        let text = text_of(sql)?;
        let Some(args) = args else {
            if informix::count_questions(text.to_str()?) > 0 {
                let message = "the statement has placeholders, but no values were given";
                return Err(error(py, Class::Programming, None, message));
            }
            shared.scratch.clear();
            shared.encoding.encode(text, &mut shared.scratch)?;
            prepare(py, client, &shared.scratch, 0)?;
            self.start(Statement { begin, query, cursor: Arc::new(cursor), fetched: None, outcome: None });
            return Ok(());
        };
        let known = shared.text(text)?;
        // Values are looked at before anything is sent.
        let Shared { encoding, scratch, params, .. } = &mut *shared;
        let mut lists = Vec::new();
        let mut encoder = Encoder { encoding, widths: client.widths(), scratch, lists: Some(&mut lists) };
        encoder.encode_all(&known.statement.params, args, params)?;
        if lists.is_empty() {
            prepare(py, client, &known.encoded, known.statement.params.len())?;
        } else {
            let expanded = informix::expand(&known.statement.sql, &lists).ok_or_else(|| {
                let message = "a list stands alone behind IN: `IN ?` or `IN (?)`";
                error(py, Class::Programming, None, message)
            })?;
            scratch.clear();
            encoding.encode(&PyString::new(py, &expanded), scratch)?;
            prepare(py, client, scratch, params.len())?;
        }
        self.start(Statement { begin, query, cursor: Arc::new(cursor), fetched: None, outcome: None });
        Ok(())
    }

    /// Fetches the next rows of a cursor.
    pub fn fetch(
        &mut self,
        py: Python<'_>,
        client: &mut Client,
        result: &QueryResult,
        files: Option<Py<PyAny>>,
    ) -> PyResult<()> {
        self.check(py, client)?;
        self.shared.files = Files::new(files);
        let (plan, cursor) = cursor_of(py, result)?;
        client.fetch_cursor(&plan.prepared, &cursor).map_err(|misuse| misused(py, misuse))?;
        self.start(Statement::of_rows(py, plan, cursor));
        Ok(())
    }

    /// Fetches the next rows of a cursor as they are on the wire, for Arrow; with `BYTE` and `TEXT` columns, as ever.
    pub fn fetch_raw(&mut self, py: Python<'_>, client: &mut Client, result: &QueryResult) -> PyResult<()> {
        self.fetch(py, client, result, None)?;
        self.shared.raw.only = result.plan.as_ref().is_some_and(|plan| !plan.prepared.has_lobs());
        Ok(())
    }

    /// Fetches up to `count` rows of a scroll cursor, from this number (from 1) on, or its last row.
    pub fn scroll(
        &mut self,
        py: Python<'_>,
        client: &mut Client,
        result: &QueryResult,
        row: Option<i32>,
        count: u16,
    ) -> PyResult<()> {
        self.check(py, client)?;
        self.shared.files = Files::default();
        let (plan, cursor) = cursor_of(py, result)?;
        let first = row.map_or(ScrollTo::Last, ScrollTo::Row);
        client.scroll(&plan.prepared, first, count).map_err(|misuse| misused(py, misuse))?;
        self.start(Statement::of_rows(py, plan, cursor));
        Ok(())
    }
}

fn cursor_of(py: Python<'_>, result: &QueryResult) -> PyResult<(Arc<Plan>, Arc<CursorOptions>)> {
    match &result.plan {
        Some(plan) => Ok((plan.clone(), result.cursor.clone())),
        None => Err(error(py, Class::Programming, None, "the statement has no rows to fetch")),
    }
}

impl Statement {
    /// More rows of a cursor.
    fn of_rows(py: Python<'_>, plan: Arc<Plan>, cursor: Arc<CursorOptions>) -> Self {
        let fetched = Fetched { plan, rows: Some(PyList::empty(py).unbind()), lobs: Vec::new(), failed: None };
        Self { begin: false, query: false, cursor, fetched: Some(fetched), outcome: None }
    }

    /// Asks for the next `BYTE` or `TEXT` value; at the end, or when something has failed, the operation is over.
    fn next_lob(&mut self, py: Python<'_>, client: &mut Client, shared: &mut Shared) -> PyResult<Option<Step>> {
        let (Some(mut fetched), Some(mut outcome)) = (self.fetched.take(), self.outcome) else { return Ok(None) };
        if let (None, Some(lob)) = (&fetched.failed, fetched.lobs.last()) {
            let asked = client.fetch_blob(&fetched.plan.prepared, SimpleLob(&lob.descriptor));
            self.fetched = Some(fetched);
            return asked.map(|()| None).map_err(|misuse| misused(py, misuse));
        }
        // The core leaves cursors with such columns open at their end.
        let is_over = fetched.failed.is_some() || (!outcome.more && !self.cursor.stays_open());
        if outcome.open && is_over {
            client.close(&fetched.plan.prepared);
            outcome.open = false;
        }
        match fetched.failed.take() {
            Some(failed) => Err(failed),
            None => self.result(py, Some(fetched), outcome, shared).map(Some),
        }
    }

    fn result(
        &self,
        py: Python<'_>,
        fetched: Option<Fetched>,
        outcome: Outcome,
        shared: &mut Shared,
    ) -> PyResult<Step> {
        let (plan, rows) = fetched.map_or((None, None), |fetched| (Some(fetched.plan), fetched.rows));
        let raw = std::mem::take(&mut shared.raw);
        done(py, QueryResult::new(plan, rows, outcome, self.cursor.clone()).with_raw(raw))
    }
}

impl Operation for Statement {
    fn before(&mut self, py: Python<'_>, client: &mut Client, shared: &mut Shared) -> PyResult<Option<Step>> {
        let Some(fetched) = self.fetched.as_mut().filter(|_| self.outcome.is_none()) else { return Ok(None) };
        fetched.read_rows(py, client, &mut shared.raw)?;
        Ok(None)
    }

    fn prepared(
        &mut self,
        py: Python<'_>,
        prepared: Arc<Prepared>,
        client: &mut Client,
        shared: &mut Shared,
    ) -> PyResult<()> {
        if self.query && !prepared.is_query() {
            client.abandon();
            let message = "this takes a statement that returns rows: a SELECT … FROM …";
            return Err(error(py, Class::Programming, None, message));
        }
        let plan = shared.plan(py, prepared).inspect_err(|_| client.abandon())?;
        let rows = plan.prepared.is_query().then(|| PyList::empty(py).unbind());
        self.fetched = Some(Fetched { plan, rows, lobs: Vec::new(), failed: None });
        client.run_cursor(&shared.params, self.begin, &self.cursor).map_err(|misuse| misused(py, misuse))
    }

    fn row(&mut self, py: Python<'_>, payload: &[u8], shared: &mut Shared) -> PyResult<()> {
        let Some(fetched) = self.fetched.as_mut().filter(|_| self.outcome.is_none()) else { return Ok(()) };
        fetched.push_row(py, payload, &mut shared.raw).map_err(|failure| broken(py, &failure))
    }

    fn blob(
        &mut self,
        py: Python<'_>,
        contents: Vec<u8>,
        client: &mut Client,
        shared: &mut Shared,
    ) -> PyResult<Option<Step>> {
        if let Some(fetched) = &mut self.fetched {
            fetched.put_lob(py, &contents);
        }
        self.next_lob(py, client, shared)
    }

    fn done(
        &mut self,
        py: Python<'_>,
        outcome: Outcome,
        client: &mut Client,
        shared: &mut Shared,
    ) -> PyResult<Option<Step>> {
        if let Some(fetched) = &mut self.fetched {
            fetched.failed = fetched.failed.take().or_else(|| shared.files.failed.take());
            if fetched.rows.is_some() && (fetched.plan.prepared.has_lobs() || fetched.failed.is_some()) {
                self.outcome = Some(outcome);
                return self.next_lob(py, client, shared);
            }
        }
        let mut fetched = self.fetched.take();
        let failed = fetched.as_mut().and_then(|fetched| fetched.failed.take());
        match failed.or_else(|| shared.files.failed.take()) {
            Some(failed) => Err(failed),
            None => self.result(py, fetched, outcome, shared).map(Some),
        }
    }

    fn refused(
        &mut self,
        py: Python<'_>,
        refused: SqlError,
        client: &mut Client,
        shared: &mut Shared,
    ) -> PyResult<Step> {
        if let (Some(fetched), Some(_)) = (&self.fetched, self.outcome) {
            client.close(&fetched.plan.prepared);
            return Err(server_error(py, &refused));
        }
        Err(shared.refusal(py, &refused))
    }

    fn cursor(&self) -> Option<Arc<Plan>> {
        self.fetched.as_ref().map(|fetched| fetched.plan.clone())
    }
}

impl Fetched {
    /// Builds the rows that have come. A row that cannot be built is remembered; those behind it are read and dropped, so
    /// that the connection stays usable.
    fn read_rows(&mut self, py: Python<'_>, client: &mut Client, raw: &mut RawRows) -> PyResult<()> {
        if self.rows.is_none() {
            return Ok(());
        }
        let mut malformed = None;
        client.visit_rows(|payload| match self.push_row(py, payload, raw) {
            Ok(()) => true,
            Err(failure) => {
                malformed = Some(failure);
                false
            }
        });
        match malformed {
            Some(failure) => {
                client.disconnect();
                Err(broken(py, &failure))
            }
            None => Ok(()),
        }
    }

    #[inline]
    fn push_row(&mut self, py: Python<'_>, payload: &[u8], raw: &mut RawRows) -> Result<(), Failure> {
        let Self { plan, rows: Some(rows), lobs, failed } = self else { return Ok(()) };
        if failed.is_some() {
            return Ok(());
        }
        raw.push(payload);
        if raw.only {
            return Ok(());
        }
        let row = rows.bind(py).len();
        let lob = |column, descriptor: &[u8]| lobs.push(Lob { row, column, descriptor: descriptor.to_vec() });
        match plan.row(py, payload, lob) {
            Ok(row) => {
                // SAFETY: the reference that `row` answered.
                *failed = unsafe { cells::append(rows.bind(py), row) }.err();
                Ok(())
            }
            Err(RowError::Raised) => {
                *failed = Some(not_built(py, PyErr::fetch(py)));
                Ok(())
            }
            Err(RowError::Malformed(malformed)) => Err(malformed.into()),
        }
    }

    /// Puts a value into the row that it belongs to.
    fn put_lob(&mut self, py: Python<'_>, contents: &[u8]) {
        let (Some(rows), Some(lob)) = (&self.rows, self.lobs.pop()) else { return };
        let object = self.plan.lob(lob.column, contents);
        if object.is_null() {
            self.failed = Some(not_built(py, PyErr::fetch(py)));
            return;
        }
        // SAFETY: the list and the place in it are ours. The row is a tuple that nobody but the list has seen, as
        // `PyTuple_SetItem` demands (and checks); it takes the reference to the object in any case.
        unsafe {
            let row = ffi::PyList_GetItem(rows.as_ptr(), lob.row as ffi::Py_ssize_t);
            if row.is_null() || ffi::PyTuple_SetItem(row, lob.column as ffi::Py_ssize_t, object) != 0 {
                self.failed = Some(PyErr::fetch(py));
            }
        }
    }
}

/// A statement's text.
pub(super) fn text_of<'a, 'py>(sql: &'a Bound<'py, PyAny>) -> PyResult<&'a Bound<'py, PyString>> {
    sql.cast::<PyString>().map_err(|_| error(sql.py(), Class::Programming, None, "SQL must be str"))
}
