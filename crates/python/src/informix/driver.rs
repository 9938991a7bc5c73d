//! The conversations of a connection, whatever moves its bytes.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::{PyOverflowError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyList, PyString};
use rowferry_client::informix::{self, Known};
use rowferry_wire_sqli::client::{
    Client, CursorOptions, Event, Failure, Misuse, Outcome, Params, Prepared, ScrollTo, SqlError,
};
use rowferry_wire_sqli::messages::SimpleLob;

use super::batch::Batch;
use super::columns::{Plan, RowError};
use super::files::Files;
use super::result::{QueryResult, RawRows};
use super::routines;
use super::text::Encoding;
use super::values::Encoder;
use crate::errors::{Class, error};

/// What the pump should do next.
pub enum Step {
    /// Move bytes.
    Pending,
    /// Write what waits, and come back before waiting for bytes: there is more to send meanwhile.
    Flush,
    /// The operation is over; this is its outcome.
    Done(Py<PyAny>),
}

/// What is going on.
enum Operation {
    Login,
    /// A statement, or the next rows of its cursor.
    Statement {
        begin: bool,
        /// Anything but a query is refused.
        query: bool,
        cursor: Arc<CursorOptions>,
        plan: Option<Arc<Plan>>,
        rows: Option<Py<PyList>>,
        lobs: Vec<Lob>,
        failed: Option<PyErr>,
    },
    /// The values of `BYTE` and `TEXT` columns of rows that were fetched.
    Lobs {
        plan: Arc<Plan>,
        cursor: Arc<CursorOptions>,
        rows: Py<PyList>,
        outcome: Outcome,
        /// The one under way is the last.
        lobs: Vec<Lob>,
        failed: Option<PyErr>,
    },
    /// A statement for each of many rows of values.
    Batch(Batch),
    /// Answered by success or an error.
    Command,
    /// Whatever comes is read and dropped, up to the end of the operation under way; its cursor is closed.
    Drain(Option<Arc<Plan>>),
}

/// A `BYTE` or `TEXT` value that is still to be fetched.
struct Lob {
    row: usize,
    column: usize,
    descriptor: Vec<u8>,
}

/// See the module.
pub struct Driver {
    encoding: Encoding,
    /// What is remembered of the server.
    known: Known,
    /// The login under way has brought all that sets the session up.
    early: bool,
    /// Such a login has failed by other than the server's refusal.
    pub displaced: bool,
    plans: Vec<Arc<Plan>>,
    operation: Option<Operation>,
    /// The rows of the statement under way as they came, for Arrow.
    raw: RawRows,
    files: Files,
    params: Params,
    scratch: Vec<u8>,
}

/// Cursors that nobody will fetch from any more. Filled at any time, also by the collector in the middle of an
/// operation; emptied between operations.
#[derive(Default)]
pub struct Discarded(Mutex<Vec<Arc<Prepared>>>);

impl Discarded {
    pub fn add(&self, result: &QueryResult) {
        if let Some(plan) = &result.plan {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).push(plan.prepared.clone());
        }
    }

    pub fn close(&self, client: &mut Client) {
        let statements = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        statements.iter().for_each(|prepared| client.close(prepared));
    }
}

/// How many statements' decoders are remembered.
const PLANS: usize = 64;

impl Driver {
    pub fn new(encoding: Encoding, known: Known) -> Self {
        Self {
            encoding,
            known,
            early: false,
            displaced: false,
            plans: Vec::new(),
            operation: None,
            raw: RawRows::default(),
            files: Files::default(),
            params: Params::default(),
            scratch: Vec::new(),
        }
    }

    /// True while an answer is awaited.
    pub const fn is_busy(&self) -> bool {
        self.operation.is_some()
    }

    /// Waits for the login to be over. The outcome is None, where the server sends us, or a question of PAM with its style.
    pub fn login(&mut self, client: &Client) {
        self.early = client.sent_all_with_login();
        self.operation = Some(Operation::Login);
    }

    /// Answers a question of PAM, and goes on with the login; without an answer the server's words are only taken note
    /// of.
    pub fn answer(&mut self, py: Python<'_>, client: &mut Client, answer: Option<&[u8]>) -> PyResult<()> {
        let told = match answer {
            Some(answer) => client.answer(answer),
            None => client.acknowledge(),
        };
        told.map_err(|misuse| misused(py, misuse))?;
        self.login(client);
        Ok(())
    }

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
        self.files = Files::new(files);
        self.params.clear();
        let text = text_of(sql)?;
        let mut rewritten = None;
        let statement = if let Some(args) = args {
            let mut statement = parse(text)?;
            // Values are looked at before anything is sent.
            let Self { encoding, scratch, params, .. } = self;
            let mut lists = Vec::new();
            let mut encoder = Encoder { encoding, widths: client.widths(), scratch, lists: Some(&mut lists) };
            encoder.encode_all(&statement.params, args, params)?;
            if !lists.is_empty() {
                statement.sql = informix::expand(&statement.sql, &lists).ok_or_else(|| {
                    let message = "a list stands alone behind IN: `IN ?` or `IN (?)`";
                    error(py, Class::Programming, None, message)
                })?;
                rewritten = Some(params.len());
            }
            statement
        } else if informix::count_questions(text.to_str()?) > 0 {
            let message = "the statement has placeholders, but no values were given";
            return Err(error(py, Class::Programming, None, message));
        } else {
            informix::Statement { sql: String::new(), params: Vec::new() }
        };
        self.prepare(client, text, &statement, rewritten)?;
        self.operation = Some(Operation::Statement {
            begin,
            query,
            cursor: Arc::new(cursor),
            plan: None,
            rows: None,
            lobs: Vec::new(),
            failed: None,
        });
        Ok(())
    }

    /// Prepares a statement. When lists have made another of it, it is told how many values that has.
    fn prepare(
        &mut self,
        client: &mut Client,
        text: &Bound<'_, PyString>,
        statement: &informix::Statement,
        rewritten: Option<usize>,
    ) -> PyResult<()> {
        let py = text.py();
        self.scratch.clear();
        if statement.params.is_empty() {
            self.encoding.encode(text, &mut self.scratch)?;
        } else {
            self.encoding.encode(&PyString::new(py, &statement.sql), &mut self.scratch)?;
        }
        let count = u16::try_from(rewritten.unwrap_or(statement.params.len())).unwrap_or(u16::MAX);
        client.prepare(&self.scratch, count).map_err(|misuse| misused(py, misuse))?;
        self.scratch.shrink_to(1024 * 1024);
        Ok(())
    }

    /// Runs a statement for each row of values; when `begin` is true, within a transaction. Rows that fail end it, or,
    /// when `go_on` is given, only more than so many.
    #[allow(clippy::too_many_arguments)] // They are the caller's.
    pub fn execute_many(
        &mut self,
        py: Python<'_>,
        client: &mut Client,
        sql: &Bound<'_, PyAny>,
        rows: &Bound<'_, PyAny>,
        begin: bool,
        go_on: Option<usize>,
        files: Option<Py<PyAny>>,
    ) -> PyResult<()> {
        self.check(py, client)?;
        self.files = Files::new(files);
        let rows = rows.try_iter()?.unbind();
        let text = text_of(sql)?;
        let statement = parse(text)?;
        if informix::wants_list(&statement.sql) {
            let message = "a list for IN is a value of `execute` alone: it makes the statement another for each length";
            return Err(error(py, Class::Programming, None, message));
        }
        self.prepare(client, text, &statement, None)?;
        self.operation = Some(Operation::Batch(Batch::new(begin, statement.params, rows, go_on)));
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
        self.files = Files::new(files);
        let (plan, cursor) = Self::cursor_of(py, result)?;
        client.fetch_cursor(&plan.prepared, &cursor).map_err(|misuse| misused(py, misuse))?;
        self.await_rows(py, plan, cursor);
        Ok(())
    }

    /// Fetches the next rows of a cursor as they are on the wire, for Arrow; with `BYTE` and `TEXT` columns, as ever.
    pub fn fetch_raw(&mut self, py: Python<'_>, client: &mut Client, result: &QueryResult) -> PyResult<()> {
        self.fetch(py, client, result, None)?;
        self.raw.only = result.plan.as_ref().is_some_and(|plan| !plan.prepared.has_lobs());
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
        self.files = Files::default();
        let (plan, cursor) = Self::cursor_of(py, result)?;
        let first = row.map_or(ScrollTo::Last, ScrollTo::Row);
        client.scroll(&plan.prepared, first, count).map_err(|misuse| misused(py, misuse))?;
        self.await_rows(py, plan, cursor);
        Ok(())
    }

    fn cursor_of(py: Python<'_>, result: &QueryResult) -> PyResult<(Arc<Plan>, Arc<CursorOptions>)> {
        match &result.plan {
            Some(plan) => Ok((plan.clone(), result.cursor.clone())),
            None => Err(error(py, Class::Programming, None, "the statement has no rows to fetch")),
        }
    }

    fn await_rows(&mut self, py: Python<'_>, plan: Arc<Plan>, cursor: Arc<CursorOptions>) {
        let (plan, rows) = (Some(plan), Some(PyList::empty(py).unbind()));
        self.operation = Some(Operation::Statement {
            begin: false,
            query: false,
            cursor,
            plan,
            rows,
            lobs: Vec::new(),
            failed: None,
        });
    }

    /// Calls a routine of the fast path. Values are bound by the types of its signature.
    #[allow(clippy::too_many_arguments)] // They are the caller's.
    pub fn call_routine(
        &mut self,
        py: Python<'_>,
        client: &mut Client,
        signature: &str,
        database: &str,
        handle: i32,
        args: &Bound<'_, PyAny>,
        begin: bool,
    ) -> PyResult<()> {
        let Self { encoding, scratch, params, .. } = self;
        let mut encoder = Encoder { encoding, widths: client.widths(), scratch, lists: None };
        routines::encode_arguments(&mut encoder, signature, args, params)?;
        let params = std::mem::take(&mut self.params);
        let called =
            self.command(py, client, |client| client.call_routine(database.as_bytes(), handle, &params, begin));
        self.params = params;
        called
    }

    /// Sends a command that is answered by success or an error.
    pub fn command(
        &mut self,
        py: Python<'_>,
        client: &mut Client,
        send: impl FnOnce(&mut Client) -> Result<(), Misuse>,
    ) -> PyResult<()> {
        self.check(py, client)?;
        self.files = Files::default();
        send(client).map_err(|misuse| misused(py, misuse))?;
        self.operation = Some(Operation::Command);
        Ok(())
    }

    /// Reads and drops what is still to come of the operation under way.
    pub fn drain(&mut self) {
        let plan = match self.operation.take() {
            Some(Operation::Statement { plan, .. }) => plan,
            Some(Operation::Lobs { plan, .. }) => Some(plan),
            Some(Operation::Drain(plan)) => plan,
            _ => None,
        };
        self.files = Files::default();
        self.operation = Some(Operation::Drain(plan));
    }

    /// Refuses when the connection is closed or another operation is under way.
    fn check(&self, py: Python<'_>, client: &Client) -> PyResult<()> {
        if client.is_closed() {
            return Err(closed(py));
        }
        if self.operation.is_some() || !client.is_idle() {
            return Err(busy(py));
        }
        Ok(())
    }

    /// Polls the core until the operation is over or bytes must move.
    pub fn step(&mut self, py: Python<'_>, client: &mut Client) -> PyResult<Step> {
        let outcome = self.advance(py, client);
        if !matches!(outcome, Ok(Step::Pending | Step::Flush)) {
            self.operation = None;
            self.raw = RawRows::default();
        }
        outcome
    }

    fn advance(&mut self, py: Python<'_>, client: &mut Client) -> PyResult<Step> {
        loop {
            match &mut self.operation {
                None => return Ok(Step::Pending),
                Some(Operation::Statement { plan: Some(plan), rows: Some(rows), lobs, failed, .. }) => {
                    read_rows(py, client, plan, rows, &mut self.raw, lobs, failed)?;
                }
                Some(Operation::Drain(_)) => {
                    if client.is_idle() {
                        return Ok(Step::Done(py.None()));
                    }
                    client.visit_rows(|_| true);
                }
                _ => {}
            }
            let logs_in = matches!(self.operation, Some(Operation::Login));
            let event = match client.poll() {
                Ok(Event::Connected) if logs_in => {
                    self.known.opened(client.session().takes_groups_ahead);
                    return Ok(Step::Done(py.None()));
                }
                Ok(event) => event,
                Err(failure) => {
                    if logs_in {
                        self.known.opened(false);
                        self.displaced = self.early;
                    }
                    return Err(broken(py, &failure));
                }
            };
            match (event, &mut self.operation) {
                (Event::Pending, _) => return Ok(Step::Pending),
                (Event::Redirect(detail), _) => {
                    let detail = String::from_utf8_lossy(&detail).into_owned();
                    return Ok(Step::Done(PyString::new(py, &detail).unbind().into_any()));
                }
                (Event::Challenge { style, text }, _) => {
                    // SAFETY: `decode` answers a new reference or null with an exception set.
                    let text = unsafe { Bound::from_owned_ptr_or_err(py, self.encoding.decode(&text)) }?;
                    return Ok(Step::Done((style, text).into_pyobject(py)?.unbind().into_any()));
                }
                (Event::Prepared(_), Some(Operation::Drain(_))) => client.abandon(),
                (
                    Event::Prepared(prepared),
                    Some(Operation::Statement { begin, query, cursor, plan: current, rows, .. }),
                ) => {
                    if *query && !prepared.is_query() {
                        client.abandon();
                        let message = "this takes a statement that returns rows: a SELECT … FROM …";
                        return Err(error(py, Class::Programming, None, message));
                    }
                    let resolved = plan(&mut self.plans, py, prepared, &self.encoding);
                    let resolved = resolved.inspect_err(|_| client.abandon())?;
                    *rows = resolved.prepared.is_query().then(|| PyList::empty(py).unbind());
                    *current = Some(resolved);
                    client.run_cursor(&self.params, *begin, cursor).map_err(|misuse| misused(py, misuse))?;
                }
                (Event::Prepared(prepared), Some(Operation::Batch(batch))) => {
                    if prepared.is_query() {
                        client.abandon();
                        let message =
                            "executemany is not for SELECT and other statements that return rows; use execute";
                        return Err(error(py, Class::NotSupported, None, message));
                    }
                    batch.start(client).map_err(|misuse| misused(py, misuse))?;
                }
                (Event::BatchReady, Some(Operation::Batch(batch))) => {
                    // What was collected before is on its way while the next rows are encoded.
                    let Self { encoding, params, scratch, .. } = self;
                    let mut encoder = Encoder { encoding, widths: client.widths(), scratch, lists: None };
                    batch.fill(py, client, &mut encoder, params).map_err(|misuse| misused(py, misuse))?;
                    return Ok(Step::Flush);
                }
                (Event::RowFailed(refused), Some(Operation::Batch(batch))) => {
                    let row = batch.place_of(refused.row.unwrap_or(0));
                    batch.add_failure(py, row, server_error(py, &SqlError { row: Some(row), ..refused }), client);
                }
                (Event::RowFailed(_), _) => {}
                (Event::BatchReady, _) => client.abandon(),
                (
                    Event::Row(payload),
                    Some(Operation::Statement { plan: Some(plan), rows: Some(rows), lobs, failed, .. }),
                ) => {
                    push_row(py, payload, plan, rows, &mut self.raw, lobs, failed)
                        .map_err(|failure| broken(py, &failure))?;
                }
                (Event::Row(_), _) => {}
                (Event::Done(outcome), Some(Operation::Statement { cursor, plan, rows, lobs, failed, .. })) => {
                    let (plan, rows, failed) = (plan.take(), rows.take(), failed.take().or(self.files.failed.take()));
                    let cursor = cursor.clone();
                    match (plan, rows) {
                        (Some(plan), Some(rows)) if plan.prepared.has_lobs() || failed.is_some() => {
                            let lobs = std::mem::take(lobs);
                            self.operation = Some(Operation::Lobs { plan, cursor, rows, outcome, lobs, failed });
                            if let Some(done) = self.next_lob(py, client)? {
                                return Ok(done);
                            }
                        }
                        (plan, rows) => {
                            return match failed {
                                Some(failed) => Err(failed),
                                None => {
                                    let raw = std::mem::take(&mut self.raw);
                                    done(py, QueryResult::new(plan, rows, outcome, cursor).with_raw(raw))
                                }
                            };
                        }
                    }
                }
                (Event::Blob(contents), Some(Operation::Lobs { .. })) => {
                    self.put_lob(py, &contents);
                    if let Some(done) = self.next_lob(py, client)? {
                        return Ok(done);
                    }
                }
                (Event::Blob(_), Some(Operation::Drain(plan))) => {
                    if let Some(plan) = plan {
                        client.close(&plan.prepared);
                    }
                    return Ok(Step::Done(py.None()));
                }
                (Event::Error(refused), Some(Operation::Lobs { plan, .. })) => {
                    client.close(&plan.prepared);
                    return Err(server_error(py, &refused));
                }
                (Event::Done(outcome), Some(Operation::Batch(batch))) => {
                    let failed = batch.failed.take().or(self.files.failed.take());
                    return match failed {
                        Some(failed) => Err(failed),
                        None => done(py, batch.result(py, outcome)?),
                    };
                }
                (Event::Done(outcome), Some(Operation::Drain(plan))) => {
                    if let Some(plan) = plan.as_ref().filter(|_| outcome.open) {
                        client.close(&plan.prepared);
                    }
                    return Ok(Step::Done(py.None()));
                }
                (Event::Done(outcome), _) => return done(py, QueryResult::without_rows(outcome)),
                (
                    Event::Error(_)
                    | Event::Unsupported(_)
                    | Event::Routine(..)
                    | Event::Returned(_)
                    | Event::LoData(_),
                    Some(Operation::Drain(_)),
                ) => return Ok(Step::Done(py.None())),
                (Event::Error(refused), _) => {
                    let raised = server_error(py, &refused);
                    // What went wrong with a file is why the server has failed.
                    if let Some(cause) = self.files.failed.take() {
                        raised.set_cause(py, Some(cause));
                    }
                    return Err(raised);
                }
                (Event::Unsupported(why), _) => return Err(error(py, Class::NotSupported, None, &why)),
                (Event::Routine(database, handle), _) => {
                    let database = String::from_utf8_lossy(&database).into_owned();
                    return Ok(Step::Done((database, handle).into_pyobject(py)?.into_any().unbind()));
                }
                (Event::Returned(values), _) => {
                    return Ok(Step::Done(routines::returned(py, &values, &self.encoding)?));
                }
                (Event::LoData(bytes), _) => return Ok(Step::Done(PyBytes::new(py, &bytes).unbind().into_any())),
                (Event::File(asked), operation) => {
                    let draining = matches!(operation, Some(Operation::Drain(_)));
                    match self.files.answer(py, client, asked, &self.encoding, draining) {
                        Ok(true) => return Ok(Step::Flush),
                        Ok(false) => {}
                        Err(refused) => {
                            client.disconnect();
                            return Err(refused);
                        }
                    }
                }
                (event, _) => {
                    let message = format!("event out of place: {event:?}");
                    return Err(error(py, Class::Internal, None, &message));
                }
            }
        }
    }

    /// Asks for the next `BYTE` or `TEXT` value; at the end, or when something has failed, the operation is over.
    fn next_lob(&mut self, py: Python<'_>, client: &mut Client) -> PyResult<Option<Step>> {
        let Some(Operation::Lobs { plan, lobs, failed, .. }) = &mut self.operation else { return Ok(None) };
        if let (None, Some(lob)) = (&failed, lobs.last()) {
            let asked = client.fetch_blob(&plan.prepared, SimpleLob(&lob.descriptor));
            return asked.map(|()| None).map_err(|misuse| misused(py, misuse));
        }
        let Some(Operation::Lobs { plan, cursor, rows, mut outcome, failed, .. }) = self.operation.take() else {
            return Ok(None);
        };
        // The core leaves cursors with such columns open at their end.
        let is_over = failed.is_some() || (!outcome.more && !cursor.stays_open());
        if outcome.open && is_over {
            client.close(&plan.prepared);
            outcome.open = false;
        }
        match failed {
            Some(failed) => Err(failed),
            None => {
                let raw = std::mem::take(&mut self.raw);
                done(py, QueryResult::new(Some(plan), Some(rows), outcome, cursor).with_raw(raw)).map(Some)
            }
        }
    }

    /// Puts a value into the row that it belongs to.
    fn put_lob(&mut self, py: Python<'_>, contents: &[u8]) {
        let Some(Operation::Lobs { plan, rows, lobs, failed, .. }) = &mut self.operation else { return };
        let Some(lob) = lobs.pop() else { return };
        let object = plan.lob(lob.column, contents);
        if object.is_null() {
            *failed = Some(not_built(py, PyErr::fetch(py)));
            return;
        }
        // SAFETY: the list and the place in it are ours. The row is a tuple that nobody but the list has seen, as
        // `PyTuple_SetItem` demands (and checks); it takes the reference to the object in any case.
        unsafe {
            let row = ffi::PyList_GetItem(rows.as_ptr(), lob.row as ffi::Py_ssize_t);
            if row.is_null() || ffi::PyTuple_SetItem(row, lob.column as ffi::Py_ssize_t, object) != 0 {
                *failed = Some(PyErr::fetch(py));
            }
        }
    }
}

fn text_of<'a, 'py>(sql: &'a Bound<'py, PyAny>) -> PyResult<&'a Bound<'py, PyString>> {
    sql.cast::<PyString>().map_err(|_| error(sql.py(), Class::Programming, None, "SQL must be str"))
}

fn parse(text: &Bound<'_, PyString>) -> PyResult<informix::Statement> {
    informix::parse(text.to_str()?).map_err(|invalid| error(text.py(), Class::Programming, None, &invalid.to_string()))
}

fn done(py: Python<'_>, result: QueryResult) -> PyResult<Step> {
    Ok(Step::Done(Py::new(py, result)?.into_any()))
}

/// Builds the rows that have come. A row that cannot be built is remembered; those behind it are read and dropped, so
/// that the connection stays usable.
fn read_rows(
    py: Python<'_>,
    client: &mut Client,
    plan: &Plan,
    rows: &Py<PyList>,
    raw: &mut RawRows,
    lobs: &mut Vec<Lob>,
    failed: &mut Option<PyErr>,
) -> PyResult<()> {
    let mut malformed = None;
    client.visit_rows(|payload| match push_row(py, payload, plan, rows, raw, lobs, failed) {
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
fn push_row(
    py: Python<'_>,
    payload: &[u8],
    plan: &Plan,
    rows: &Py<PyList>,
    raw: &mut RawRows,
    lobs: &mut Vec<Lob>,
    failed: &mut Option<PyErr>,
) -> Result<(), Failure> {
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
            // SAFETY: both are live objects; the list takes a reference of its own.
            let appended = unsafe { ffi::PyList_Append(rows.as_ptr(), row) };
            // SAFETY: the reference that `row` answered.
            unsafe { ffi::Py_DECREF(row) };
            if appended != 0 {
                *failed = Some(PyErr::fetch(py));
            }
            Ok(())
        }
        Err(RowError::Raised) => {
            *failed = Some(not_built(py, PyErr::fetch(py)));
            Ok(())
        }
        Err(RowError::Malformed(malformed)) => Err(malformed.into()),
    }
}

/// Python's words for values that its types do not hold, in the class that PEP 249 has for them.
pub fn not_built(py: Python<'_>, cause: PyErr) -> PyErr {
    if !cause.is_instance_of::<PyValueError>(py) && !cause.is_instance_of::<PyOverflowError>(py) {
        return cause;
    }
    let raised = error(py, Class::Data, None, &format!("a value cannot be read: {}", cause.value(py)));
    raised.set_cause(py, Some(cause));
    raised
}

fn plan(
    plans: &mut Vec<Arc<Plan>>,
    py: Python<'_>,
    prepared: Arc<Prepared>,
    encoding: &Encoding,
) -> PyResult<Arc<Plan>> {
    if let Some(known) = plans.iter().find(|plan| Arc::ptr_eq(&plan.prepared, &prepared)) {
        return Ok(known.clone());
    }
    let plan = Arc::new(Plan::new(py, prepared, encoding)?);
    if plans.len() == PLANS {
        plans.remove(0);
    }
    plans.push(plan.clone());
    Ok(plan)
}

/// The exception for what the server refused.
fn server_error(py: Python<'_>, refused: &SqlError) -> PyErr {
    static MAKE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let make = || -> PyResult<PyErr> {
        let make = MAKE.import(py, "rowferry.informix._errors", "server_error")?;
        let kind = match informix::error_kind(refused.sqlcode) {
            informix::Kind::Data => "DataError",
            informix::Kind::Database => "DatabaseError",
            informix::Kind::Integrity => "IntegrityError",
            informix::Kind::Operational => "OperationalError",
            informix::Kind::Programming => "ProgrammingError",
            informix::Kind::NotSupported => "NotSupportedError",
        };
        let token = String::from_utf8_lossy(&refused.token);
        let message = informix::message(refused);
        let arguments = (kind, message, refused.sqlcode, refused.isam, refused.offset, token, refused.row);
        Ok(PyErr::from_value(make.call1(arguments)?))
    };
    make().unwrap_or_else(|error| error)
}

/// The exception for a conversation that cannot go on.
pub fn broken(py: Python<'_>, failure: &Failure) -> PyErr {
    let class = match failure {
        Failure::Unsupported(_) => Class::NotSupported,
        Failure::Unexpected { .. } => Class::Internal,
        _ => Class::Operational,
    };
    error(py, class, None, &failure.to_string())
}

/// The exception for a transport that does not move bytes any more.
pub fn transport_error(py: Python<'_>, failure: &rowferry_client::Error, connecting: Option<&str>) -> PyErr {
    use rowferry_client::{Error, Waiting};
    let message = match (failure, connecting) {
        (Error::Io(Waiting::Connect, _) | Error::TimedOut(Waiting::Connect), Some(place)) => {
            format!("cannot connect to {place}: {failure}")
        }
        _ => format!("connection lost: {failure}"),
    };
    error(py, Class::Operational, None, &message)
}

fn misused(py: Python<'_>, misuse: Misuse) -> PyErr {
    match misuse {
        Misuse::Busy => busy(py),
        Misuse::Closed | Misuse::NotConnected => closed(py),
        Misuse::TooLong(too_long) => error(py, Class::Data, None, &too_long.to_string()),
    }
}

/// The exception for a closed connection.
pub fn closed(py: Python<'_>) -> PyErr {
    error(py, Class::Interface, None, "the connection is closed")
}

/// The exception for a second operation on a busy connection.
pub fn busy(py: Python<'_>) -> PyErr {
    let message = "another operation is under way on this connection; use one connection for each task or thread";
    error(py, Class::Interface, None, message)
}
