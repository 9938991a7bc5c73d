//! The conversations of a connection, whatever moves its bytes.

use std::sync::Arc;

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyList, PyString};
use rowferry_client::mysql::Template;
use rowferry_wire_mysql::client::{Client, Event, Failure, Misuse};
use rowferry_wire_mysql::messages::resultset::Columns;
use rowferry_wire_mysql::messages::statement::Params;
use rowferry_wire_mysql::messages::status::{Ok as OkPacket, ServerError, status_flag};

use super::columns::{Plan, RowError, Taste};
use super::result::{Draft, Prepared, QueryResult};
use super::values::Encoding;
use crate::errors::{Class, error};

/// Client errors, by the numbers that MySQL's own client library gave them.
pub mod client_errno {
    pub const CANNOT_CONNECT: u16 = 2003;
    pub const SERVER_GONE: u16 = 2006;
    pub const SERVER_LOST: u16 = 2013;
    pub const OUT_OF_SYNC: u16 = 2014;
    pub const TLS: u16 = 2026;
    pub const MALFORMED: u16 = 2027;
    pub const AUTH_PLUGIN: u16 = 2059;
}

/// What the pump should do next.
pub enum Step {
    /// Move bytes.
    Pending,
    /// Flush, set TLS up, tell the core.
    StartTls,
    /// The operation is over; this is its outcome.
    Done(Py<PyAny>),
}

/// How rows should be built.
#[derive(Clone, Copy)]
pub struct Shape {
    pub binary: bool,
    pub as_dict: bool,
}

/// What is going on.
enum Operation {
    Login,
    /// Results are collected until the last.
    Collect {
        shape: Shape,
        drafts: Vec<Draft>,
        current: Option<Current>,
        failed: Option<PyErr>,
    },
    /// The head of a result whose rows are fetched bit by bit.
    OpenStream {
        shape: Shape,
    },
    /// The next rows of such a result.
    Fetch {
        left: usize,
        rows: Py<PyList>,
    },
    Prepare,
    /// Whatever comes is read and dropped, up to the end of the last command.
    Drain,
}

struct Current {
    plan: Arc<Plan>,
    rows: Py<PyList>,
}

/// A result whose rows are still on the wire.
struct Stream {
    plan: Arc<Plan>,
    shape: Shape,
    failed: Option<PyErr>,
}

/// See the module.
pub struct Driver {
    taste: Taste,
    pub encoding: Encoding,
    plans: Vec<Arc<Plan>>,
    operation: Option<Operation>,
    stream: Option<Stream>,
    /// A stream's result was the last but one: another follows on the wire.
    follows: bool,
    sql: Vec<u8>,
}

/// How many shapes of results are remembered.
const PLANS: usize = 16;

impl Driver {
    pub const fn new(taste: Taste, encoding: Encoding) -> Self {
        Self { taste, encoding, plans: Vec::new(), operation: None, stream: None, follows: false, sql: Vec::new() }
    }

    /// True while an answer is awaited.
    pub const fn is_busy(&self) -> bool {
        self.operation.is_some()
    }

    /// True when the operation may be over without another byte: rows are asked for of a stream that has ended.
    pub const fn may_be_done(&self) -> bool {
        matches!(self.operation, Some(Operation::Fetch { .. }))
    }

    /// True while rows of a stream, or results behind it, are still on the wire.
    pub const fn is_streaming(&self) -> bool {
        self.stream.is_some() || self.follows
    }

    /// Waits for the login to be over.
    pub fn login(&mut self) {
        self.operation = Some(Operation::Login);
    }

    /// Takes the server's SQL mode over: what a backslash means in literals.
    pub const fn obey(&mut self, client: &Client) {
        self.encoding.no_backslash_escapes = client.session().status & status_flag::NO_BACKSLASH_ESCAPES != 0;
    }

    /// The statement with its parameters filled in.
    pub fn fill(
        &mut self,
        py: Python<'_>,
        client: &Client,
        sql: &Bound<'_, PyAny>,
        args: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<&[u8]> {
        self.obey(client);
        self.sql.clear();
        self.sql.shrink_to(1024 * 1024);
        let text;
        let bytes: &[u8] = if let Ok(sql) = sql.cast::<PyString>() {
            text = self.encoding.encode(sql)?;
            &text
        } else if let Ok(sql) = sql.cast::<PyBytes>() {
            sql.as_bytes()
        } else {
            return Err(error(py, Class::Programming, None, "SQL must be str or bytes"));
        };
        match args {
            None => self.sql.extend_from_slice(bytes),
            Some(args) => {
                let template = Template::parse(bytes, !self.encoding.no_backslash_escapes)
                    .map_err(|invalid| error(py, Class::Programming, None, &invalid.to_string()))?;
                self.encoding.fill(&mut self.sql, bytes, &template, args)?;
            }
        }
        Ok(&self.sql)
    }

    /// Sends a statement and collects its results.
    pub fn query(
        &mut self,
        py: Python<'_>,
        client: &mut Client,
        sql: &Bound<'_, PyAny>,
        args: Option<&Bound<'_, PyAny>>,
        as_dict: bool,
    ) -> PyResult<()> {
        self.begin(py, client)?;
        self.fill(py, client, sql, args)?;
        client.query(&self.sql).map_err(|misuse| misused(py, misuse))?;
        self.operation = Some(Operation::collect(Shape { binary: false, as_dict }));
        Ok(())
    }

    /// Sends a statement whose rows are fetched bit by bit.
    pub fn open_stream(
        &mut self,
        py: Python<'_>,
        client: &mut Client,
        sql: &Bound<'_, PyAny>,
        args: Option<&Bound<'_, PyAny>>,
        as_dict: bool,
    ) -> PyResult<()> {
        self.query(py, client, sql, args, as_dict)?;
        self.operation = Some(Operation::OpenStream { shape: Shape { binary: false, as_dict } });
        Ok(())
    }

    /// Goes on to the result behind a stream.
    pub fn next_stream(&mut self, py: Python<'_>, as_dict: bool) -> PyResult<()> {
        if self.operation.is_some() || self.stream.is_some() || !self.follows {
            return Err(error(py, Class::Programming, None, "there is no further result to go on to"));
        }
        self.follows = false;
        self.operation = Some(Operation::OpenStream { shape: Shape { binary: false, as_dict } });
        Ok(())
    }

    /// Reads up to `most` rows of the stream.
    pub fn fetch(&mut self, py: Python<'_>, most: usize) -> PyResult<()> {
        if self.operation.is_some() {
            return Err(busy(py));
        }
        self.operation = Some(Operation::Fetch { left: most, rows: PyList::empty(py).unbind() });
        Ok(())
    }

    /// Reads and drops what is still to come, without building rows.
    pub fn drain(&mut self) {
        self.operation = Some(Operation::Drain);
    }

    /// Prepares a statement.
    pub fn prepare(&mut self, py: Python<'_>, client: &mut Client, sql: &Bound<'_, PyAny>) -> PyResult<()> {
        self.begin(py, client)?;
        self.fill(py, client, sql, None)?;
        client.prepare(&self.sql).map_err(|misuse| misused(py, misuse))?;
        self.operation = Some(Operation::Prepare);
        Ok(())
    }

    /// Runs a prepared statement and collects its results.
    pub fn execute(
        &mut self,
        py: Python<'_>,
        client: &mut Client,
        prepared: &Prepared,
        args: Option<&Bound<'_, PyAny>>,
        as_dict: bool,
    ) -> PyResult<()> {
        self.begin(py, client)?;
        let mut params = Params::default();
        if let Some(args) = args {
            for value in args.try_iter()? {
                self.encoding.bind(&mut params, &value?)?;
            }
        }
        if params.len() != prepared.params {
            let message =
                format!("the statement has {} parameters, but {} values were given", prepared.params, params.len());
            return Err(error(py, Class::Programming, None, &message));
        }
        client.execute(prepared.statement, &params).map_err(|misuse| misused(py, misuse))?;
        self.operation = Some(Operation::collect(Shape { binary: true, as_dict }));
        Ok(())
    }

    /// Sends a command that is answered by OK.
    pub fn command(
        &mut self,
        py: Python<'_>,
        client: &mut Client,
        send: impl FnOnce(&mut Client) -> Result<(), Misuse>,
    ) -> PyResult<()> {
        self.begin(py, client)?;
        send(client).map_err(|misuse| misused(py, misuse))?;
        self.operation = Some(Operation::collect(Shape { binary: false, as_dict: false }));
        Ok(())
    }

    /// Refuses when another operation is under way.
    pub fn begin(&self, py: Python<'_>, client: &Client) -> PyResult<()> {
        if client.is_closed() {
            return Err(gone(py));
        }
        if self.operation.is_some() {
            return Err(busy(py));
        }
        if self.is_streaming() {
            let message = "an unbuffered cursor still has rows to fetch; fetch them or close it first";
            return Err(error(py, Class::Programming, Some(client_errno::OUT_OF_SYNC), message));
        }
        Ok(())
    }

    /// Polls the core until the operation is over or more bytes are needed.
    pub fn step(&mut self, py: Python<'_>, client: &mut Client) -> PyResult<Step> {
        let outcome = self.advance(py, client);
        if !matches!(outcome, Ok(Step::Pending | Step::StartTls)) {
            self.operation = None;
            if client.is_closed() {
                self.stream = None;
                self.follows = false;
            }
        }
        outcome
    }

    fn advance(&mut self, py: Python<'_>, client: &mut Client) -> PyResult<Step> {
        loop {
            let Self { operation, stream, .. } = self;
            match operation {
                None => return Ok(Step::Pending),
                Some(Operation::Collect { shape, current: Some(current), failed, .. }) => {
                    read_rows(py, client, current, *shape, failed)?;
                }
                Some(Operation::Fetch { left, rows }) => {
                    let Some(stream) = stream else { return Ok(Step::Done(rows.clone_ref(py).into_any())) };
                    if let Some(error) = read_some(py, client, stream, left, rows)? {
                        stream.failed = None;
                        return Err(error);
                    }
                    if *left == 0 {
                        return Ok(Step::Done(rows.clone_ref(py).into_any()));
                    }
                }
                Some(Operation::Drain) => {
                    client.visit_rows(|_| true);
                }
                _ => {}
            }
            let event = client.poll().map_err(|failure| broken(py, &failure))?;
            match (event, &mut self.operation) {
                // Rows that are here need not wait for those that are not.
                (Event::Pending, Some(Operation::Fetch { rows, .. })) if !rows.bind(py).is_empty() => {
                    return Ok(Step::Done(rows.clone_ref(py).into_any()));
                }
                (Event::Pending, _) => return Ok(Step::Pending),
                (Event::StartTls, _) => return Ok(Step::StartTls),
                (Event::Connected, _) => return Ok(Step::Done(py.None())),
                (Event::Prepared(prepared), Some(Operation::Prepare)) => {
                    let prepared = Prepared { statement: prepared.statement, params: prepared.params };
                    return Ok(Step::Done(Py::new(py, prepared)?.into_any()));
                }
                (Event::Columns(columns), Some(Operation::Collect { current, .. })) => {
                    let rows = PyList::empty(py).unbind();
                    *current = Some(Current { plan: plan(&mut self.plans, py, columns, &self.taste)?, rows });
                }
                (Event::Columns(columns), Some(Operation::OpenStream { shape })) => {
                    let shape = *shape;
                    let plan = plan(&mut self.plans, py, columns, &self.taste)?;
                    self.stream = Some(Stream { plan: plan.clone(), shape, failed: None });
                    let draft = Draft { plan: Some(plan), rows: None, ok: OkPacket::default(), more: false };
                    return done(py, QueryResult::chain(py, vec![draft], None)?);
                }
                (Event::Row(payload), Some(Operation::Collect { shape, current: Some(current), failed, .. })) => {
                    // Only rows that the fast way leaves over come here: those of 16 MiB and more.
                    push_row(py, payload, &current.plan, *shape, &current.rows, failed).map_err(|m| broken(py, &m))?;
                }
                (Event::Row(payload), Some(Operation::Fetch { left, rows })) => {
                    if let Some(stream) = &mut self.stream {
                        push_row(py, payload, &stream.plan, stream.shape, rows, &mut stream.failed)
                            .map_err(|m| broken(py, &m))?;
                        *left -= 1;
                    }
                }
                (
                    Event::Done { ok, more } | Event::EndOfRows { ok, more },
                    Some(Operation::Collect { drafts, current, failed, .. }),
                ) => {
                    let (plan, rows) = match current.take() {
                        Some(Current { plan, rows }) => {
                            (Some(plan), Some(rows.bind(py).to_tuple().unbind().into_any()))
                        }
                        None => (None, None),
                    };
                    drafts.push(Draft { plan, rows, ok, more: false });
                    if !more {
                        if let Some(error) = failed.take() {
                            return Err(error);
                        }
                        return done(py, QueryResult::chain(py, std::mem::take(drafts), None)?);
                    }
                }
                (Event::Done { ok, more }, Some(Operation::OpenStream { .. })) => {
                    self.follows = more;
                    return done(py, QueryResult::chain(py, vec![Draft { plan: None, rows: None, ok, more }], None)?);
                }
                (Event::EndOfRows { more, .. }, Some(Operation::Fetch { rows, .. })) => {
                    let rows = rows.clone_ref(py).into_any();
                    self.follows = more;
                    if let Some(error) = self.stream.take().and_then(|stream| stream.failed) {
                        return Err(error);
                    }
                    return Ok(Step::Done(rows));
                }
                (Event::Error(refused), Some(Operation::Collect { drafts, failed, .. })) => {
                    let refused = server_error(py, &refused);
                    if let Some(error) = failed.take() {
                        return Err(error);
                    }
                    if drafts.is_empty() {
                        return Err(refused);
                    }
                    return done(py, QueryResult::chain(py, std::mem::take(drafts), Some(refused))?);
                }
                (Event::Error(_), Some(Operation::Drain)) => return Ok(Step::Done(self.drained(py))),
                (Event::Error(refused), _) => {
                    self.stream = None;
                    self.follows = false;
                    return Err(server_error(py, &refused));
                }
                (Event::Done { more: false, .. } | Event::EndOfRows { more: false, .. }, Some(Operation::Drain)) => {
                    return Ok(Step::Done(self.drained(py)));
                }
                (Event::Prepared(_), Some(Operation::Drain)) => return Ok(Step::Done(self.drained(py))),
                (_, Some(Operation::Drain)) => {}
                (event, _) => {
                    let message = format!("event out of place: {event:?}");
                    return Err(error(py, Class::Internal, Some(client_errno::OUT_OF_SYNC), &message));
                }
            }
        }
    }

    fn drained(&mut self, py: Python<'_>) -> Py<PyAny> {
        self.stream = None;
        self.follows = false;
        py.None()
    }
}

impl Operation {
    const fn collect(shape: Shape) -> Self {
        Self::Collect { shape, drafts: Vec::new(), current: None, failed: None }
    }
}

fn done(py: Python<'_>, result: Option<Py<QueryResult>>) -> PyResult<Step> {
    Ok(Step::Done(result.map_or_else(|| py.None(), Py::into_any)))
}

/// Builds the rows that have come. A row that cannot be built is remembered; those behind it are read and dropped, so
/// that the connection stays usable.
fn read_rows(
    py: Python<'_>,
    client: &mut Client,
    current: &Current,
    shape: Shape,
    failed: &mut Option<PyErr>,
) -> PyResult<()> {
    let mut malformed = None;
    client.visit_rows(|payload| match push_row(py, payload, &current.plan, shape, &current.rows, failed) {
        Ok(()) => true,
        Err(failure) => {
            malformed = Some(failure);
            false
        }
    });
    match malformed {
        Some(failure) => Err(broken(py, &failure)),
        None => Ok(()),
    }
}

/// As [`read_rows`], up to `left` rows. Answers the error of a row that could not be built.
fn read_some(
    py: Python<'_>,
    client: &mut Client,
    stream: &mut Stream,
    left: &mut usize,
    rows: &Py<PyList>,
) -> PyResult<Option<PyErr>> {
    let mut malformed = None;
    if *left == 0 {
        return Ok(None);
    }
    let Stream { plan, shape, failed } = stream;
    client.visit_rows(|payload| {
        *left -= 1;
        match push_row(py, payload, plan, *shape, rows, failed) {
            Ok(()) => *left > 0 && failed.is_none(),
            Err(failure) => {
                malformed = Some(failure);
                false
            }
        }
    });
    match malformed {
        Some(failure) => Err(broken(py, &failure)),
        None => Ok(stream.failed.take()),
    }
}

#[inline]
fn push_row(
    py: Python<'_>,
    payload: &[u8],
    plan: &Plan,
    shape: Shape,
    rows: &Py<PyList>,
    failed: &mut Option<PyErr>,
) -> Result<(), Failure> {
    if failed.is_some() {
        return Ok(());
    }
    match plan.row(payload, shape.binary, shape.as_dict) {
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
            *failed = Some(PyErr::fetch(py));
            Ok(())
        }
        Err(RowError::Malformed(malformed)) => Err(malformed.into()),
    }
}

fn plan(plans: &mut Vec<Arc<Plan>>, py: Python<'_>, columns: Arc<Columns>, taste: &Taste) -> PyResult<Arc<Plan>> {
    if let Some(known) = plans.iter().find(|plan| Arc::ptr_eq(&plan.columns, &columns)) {
        return Ok(known.clone());
    }
    let plan = Arc::new(Plan::new(py, columns, taste)?);
    if plans.len() == PLANS {
        plans.remove(0);
    }
    plans.push(plan.clone());
    Ok(plan)
}

/// The exception for what the server refused.
pub fn server_error(py: Python<'_>, refused: &ServerError) -> PyErr {
    static MAKE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let make = || -> PyResult<PyErr> {
        let make = MAKE.import(py, "rowferry.mysql.err", "server_error")?;
        Ok(PyErr::from_value(make.call1((refused.code, &refused.sqlstate, &refused.message))?))
    };
    make().unwrap_or_else(|error| error)
}

/// The exception for a conversation that cannot go on.
pub fn broken(py: Python<'_>, failure: &Failure) -> PyErr {
    let (class, errno) = match failure {
        Failure::Closed => (Class::Operational, client_errno::SERVER_LOST),
        Failure::Malformed(_) | Failure::TooLarge { .. } => (Class::Operational, client_errno::MALFORMED),
        Failure::OutOfSequence { .. } | Failure::Unexpected { .. } => (Class::Internal, client_errno::OUT_OF_SYNC),
        Failure::Unsupported(_) => (Class::NotSupported, client_errno::AUTH_PLUGIN),
        _ => (Class::Internal, client_errno::OUT_OF_SYNC),
    };
    error(py, class, Some(errno), &failure.to_string())
}

/// The exception for a transport that does not move bytes any more.
pub fn transport_error(py: Python<'_>, failure: &rowferry_client::Error, connecting: Option<&str>) -> PyErr {
    use rowferry_client::{Error, Waiting};
    match (failure, connecting) {
        (Error::Tls(_), _) => error(py, Class::Operational, Some(client_errno::TLS), &failure.to_string()),
        (Error::Io(Waiting::Connect, _) | Error::TimedOut(Waiting::Connect), Some(place)) => {
            let message = format!("Can't connect to MySQL server on '{place}' ({failure})");
            error(py, Class::Operational, Some(client_errno::CANNOT_CONNECT), &message)
        }
        _ => {
            let message = format!("Lost connection to MySQL server during query ({failure})");
            error(py, Class::Operational, Some(client_errno::SERVER_LOST), &message)
        }
    }
}

fn misused(py: Python<'_>, misuse: Misuse) -> PyErr {
    error(py, Class::Interface, Some(0), &misuse.to_string())
}

/// The exception for a connection that was lost before.
pub fn gone(py: Python<'_>) -> PyErr {
    let message = "MySQL server has gone away (the connection was lost)";
    error(py, Class::Operational, Some(client_errno::SERVER_GONE), message)
}

/// The exception for a second operation on a busy connection.
pub fn busy(py: Python<'_>) -> PyErr {
    let message = "another operation is under way on this connection; use one connection for each task or thread";
    error(py, Class::Interface, Some(client_errno::OUT_OF_SYNC), message)
}
