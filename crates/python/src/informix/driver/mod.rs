//! The conversations of a connection, whatever moves its bytes.
//!
//! A conversation is an [`Operation`], in a file of its own; [`Driver`] begins it and feeds it events. A new one needs a
//! type that implements the trait, a method of [`Driver`] that checks by [`Driver::check`], commands the [`Client`] and
//! calls [`Driver::start`], and a method in `commands`.

mod batch;
mod command;
mod drain;
mod errors;
mod login;
mod statement;
mod texts;

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use rowferry_client::informix::Known;
use rowferry_wire_sqli::client::{Client, Event, Outcome, Params, Prepared, Returned, SqlError};
use texts::{Text, Texts};

use super::columns::Plan;
use super::files::Files;
use super::result::{QueryResult, RawRows};
use super::routines;
use super::settings::SettingsRead;
use super::text::Encoding;
use crate::errors::{Class, error};
use crate::pump::{Conversation, Encryption};

pub use crate::pump::Step;
pub use errors::{broken, busy, closed, forked, lost, misused, not_built, out_of_place, server_error, transport_error};

/// A conversation: from a request to the last event of its answer. An event that an operation has no method for is
/// answered here, as most of them take it.
pub trait Operation: Send {
    /// Called before the core is polled: takes rows the fast way. What it answers ends the operation.
    fn before(&mut self, _: Python<'_>, _: &mut Client, _: &mut Shared) -> PyResult<Option<Step>> {
        Ok(None)
    }

    /// We are in, and the database is open.
    fn connected(&mut self, py: Python<'_>, _: &Client, _: &mut Shared) -> PyResult<Step> {
        Err(out_of_place(py, "the login's end"))
    }

    /// The conversation cannot go on.
    fn broken(&self, _: &mut Shared) {}

    /// The statement is described.
    fn prepared(&mut self, py: Python<'_>, _: Arc<Prepared>, client: &mut Client, _: &mut Shared) -> PyResult<()> {
        client.abandon();
        Err(out_of_place(py, "a statement's description"))
    }

    /// A row.
    fn row(&mut self, _: Python<'_>, _: &[u8], _: &mut Shared) -> PyResult<()> {
        Ok(())
    }

    /// A `BYTE` or `TEXT` value, whole.
    fn blob(&mut self, py: Python<'_>, _: Vec<u8>, _: &mut Client, _: &mut Shared) -> PyResult<Option<Step>> {
        Err(out_of_place(py, "a BYTE or TEXT value"))
    }

    /// The batch takes rows.
    fn batch_ready(&mut self, _: Python<'_>, client: &mut Client, _: &mut Shared) -> PyResult<Option<Step>> {
        client.abandon();
        Ok(None)
    }

    /// A row of a batch has failed, which goes on.
    fn row_failed(&mut self, _: Python<'_>, _: SqlError, _: &mut Client) {}

    /// It has succeeded, or that part of it that was asked for last.
    fn done(&mut self, py: Python<'_>, outcome: Outcome, _: &mut Client, _: &mut Shared) -> PyResult<Option<Step>> {
        done(py, QueryResult::without_rows(outcome)).map(Some)
    }

    /// It has succeeded with a value.
    fn answered(&mut self, py: Python<'_>, answer: Answer, shared: &mut Shared) -> PyResult<Step> {
        answer.into_object(py, shared).map(Step::Done)
    }

    /// The server has refused it.
    fn refused(&mut self, py: Python<'_>, refused: SqlError, _: &mut Client, shared: &mut Shared) -> PyResult<Step> {
        Err(shared.refusal(py, &refused))
    }

    /// The query whose cursor is to be closed by whoever reads the rest of the answer away.
    fn cursor(&self) -> Option<Arc<Plan>> {
        None
    }

    /// True when nobody wants what comes.
    fn drains(&self) -> bool {
        false
    }
}

/// The value that an operation ends with.
pub enum Answer {
    /// Bytes of a smart large object.
    Bytes(Vec<u8>),
    /// A routine: its database and its handle.
    Routine(Vec<u8>, i32),
    /// What a routine has returned.
    Returned(Vec<Returned>),
    /// Nothing: the statement has a column that cannot be read, by these words.
    Unsupported(String),
}

impl Answer {
    fn into_object(self, py: Python<'_>, shared: &Shared) -> PyResult<Py<PyAny>> {
        match self {
            Self::Bytes(bytes) => Ok(PyBytes::new(py, &bytes).unbind().into_any()),
            Self::Routine(database, handle) => {
                let database = String::from_utf8_lossy(&database).into_owned();
                Ok((database, handle).into_pyobject(py)?.into_any().unbind())
            }
            Self::Returned(values) => routines::returned(py, &values, &shared.encoding),
            Self::Unsupported(why) => Err(error(py, Class::NotSupported, None, &why)),
        }
    }
}

/// What operations find and leave.
pub struct Shared {
    encoding: Encoding,
    /// What is remembered of the server.
    known: Known,
    /// The login has failed by which the server was sent more than one that is not known takes.
    pub displaced: bool,
    plans: Vec<Arc<Plan>>,
    /// The rows of the statement under way as they came, for Arrow.
    raw: RawRows,
    files: Files,
    params: Params,
    scratch: Vec<u8>,
    texts: Texts,
}

/// Prepares a statement of so many values.
fn prepare(py: Python<'_>, client: &mut Client, encoded: &[u8], values: usize) -> PyResult<()> {
    let values = u16::try_from(values).unwrap_or(u16::MAX);
    client.prepare(encoded, values).map_err(|misuse| misused(py, misuse))
}

/// How many statements' decoders are remembered.
const PLANS: usize = 64;

impl Shared {
    /// What is known of a statement's text.
    fn text(&mut self, text: &Bound<'_, PyString>) -> PyResult<Arc<Text>> {
        self.texts.of(text, &self.encoding)
    }

    /// How to build the rows of a statement.
    fn plan(&mut self, py: Python<'_>, prepared: Arc<Prepared>) -> PyResult<Arc<Plan>> {
        if let Some(known) = self.plans.iter().find(|plan| Arc::ptr_eq(&plan.prepared, &prepared)) {
            return Ok(known.clone());
        }
        let plan = Arc::new(Plan::new(py, prepared, &self.encoding)?);
        if self.plans.len() == PLANS {
            self.plans.remove(0);
        }
        self.plans.push(plan.clone());
        Ok(plan)
    }

    /// The exception for what the server has refused. What went wrong with a file is why.
    fn refusal(&mut self, py: Python<'_>, refused: &SqlError) -> PyErr {
        let raised = server_error(py, refused);
        if let Some(cause) = self.files.failed.take() {
            raised.set_cause(py, Some(cause));
        }
        raised
    }
}

/// See the module.
pub struct Driver {
    operation: Option<Box<dyn Operation>>,
    /// What operations find and leave.
    pub shared: Shared,
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

impl Driver {
    pub fn new(encoding: Encoding, known: Known) -> Self {
        let shared = Shared {
            encoding,
            known,
            displaced: false,
            plans: Vec::new(),
            raw: RawRows::default(),
            files: Files::default(),
            params: Params::default(),
            scratch: Vec::new(),
            texts: Texts::default(),
        };
        Self { operation: None, shared }
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

    /// Goes on with `operation`, whose request has been given to the client.
    fn start(&mut self, operation: impl Operation + 'static) {
        self.operation = Some(Box::new(operation));
    }

    fn advance(&mut self, py: Python<'_>, client: &mut Client) -> PyResult<Step> {
        let Self { operation: Some(operation), shared } = self else { return Ok(Step::Pending) };
        loop {
            if let Some(step) = operation.before(py, client, shared)? {
                return Ok(step);
            }
            let event = client.poll().map_err(|failure| {
                operation.broken(shared);
                broken(py, &failure)
            })?;
            let step = match event {
                Event::Pending => return Ok(Step::Pending),
                Event::Connected => return operation.connected(py, client, shared),
                Event::Redirect(detail) => {
                    let detail = String::from_utf8_lossy(&detail).into_owned();
                    return Ok(Step::Done(PyString::new(py, &detail).unbind().into_any()));
                }
                Event::Challenge { style, text } => {
                    // SAFETY: `decode` answers a new reference or null with an exception set.
                    let text = unsafe { Bound::from_owned_ptr_or_err(py, shared.encoding.decode(&text)) }?;
                    return Ok(Step::Done((style, text).into_pyobject(py)?.unbind().into_any()));
                }
                Event::Prepared(prepared) => operation.prepared(py, prepared, client, shared).map(|()| None),
                Event::Row(payload) => operation.row(py, payload, shared).map(|()| None),
                Event::Blob(contents) => operation.blob(py, contents, client, shared),
                Event::BatchReady => operation.batch_ready(py, client, shared),
                Event::RowFailed(refused) => {
                    operation.row_failed(py, refused, client);
                    Ok(None)
                }
                Event::Done(outcome) => operation.done(py, outcome, client, shared),
                Event::Error(refused) => operation.refused(py, refused, client, shared).map(Some),
                Event::Unsupported(why) => operation.answered(py, Answer::Unsupported(why), shared).map(Some),
                Event::Routine(database, handle) => {
                    operation.answered(py, Answer::Routine(database, handle), shared).map(Some)
                }
                Event::Returned(values) => operation.answered(py, Answer::Returned(values), shared).map(Some),
                Event::LoData(bytes) => operation.answered(py, Answer::Bytes(bytes), shared).map(Some),
                Event::File(asked) => {
                    match shared.files.answer(py, client, asked, &shared.encoding, operation.drains()) {
                        Ok(true) => return Ok(Step::Flush),
                        Ok(false) => Ok(None),
                        Err(refused) => {
                            client.disconnect();
                            return Err(refused);
                        }
                    }
                }
            };
            if let Some(step) = step? {
                return Ok(step);
            }
        }
    }
}

impl Conversation for Driver {
    type Client = Client;
    type Settings = SettingsRead;

    fn is_busy(&self) -> bool {
        self.operation.is_some()
    }

    /// A statement that is prepared already is on its way without a word of the server.
    fn may_be_done(&self) -> bool {
        true
    }

    fn step(&mut self, py: Python<'_>, client: &mut Client) -> PyResult<Step> {
        let outcome = self.advance(py, client);
        if !matches!(outcome, Ok(Step::Pending | Step::Flush)) {
            self.operation = None;
            self.shared.raw = RawRows::default();
        }
        outcome
    }

    fn encryption(py: Python<'_>, settings: &SettingsRead) -> PyResult<Option<Encryption>> {
        let encryption = |tls| Encryption { tls, address: settings.address(), name: settings.tls_name().to_owned() };
        Ok(settings.tls(py)?.map(encryption))
    }

    fn is_closed(client: &Client) -> bool {
        client.is_closed()
    }

    fn give_up(client: &mut Client) {
        client.disconnect();
    }

    fn say_good_bye(client: &mut Client) -> bool {
        client.exit().is_ok()
    }

    /// The cursor of a query for which nobody waits any more is closed.
    fn drop_outcome(outcome: &Bound<'_, PyAny>, client: &mut Client) {
        if let Ok(result) = outcome.cast::<QueryResult>() {
            result.get().close_unread(client);
        }
    }

    fn transport_error(py: Python<'_>, failure: &rowferry_client::Error, connecting: Option<&str>) -> PyErr {
        transport_error(py, failure, connecting)
    }

    fn lost(py: Python<'_>, reason: Option<&str>) -> PyErr {
        lost(py, reason.unwrap_or("the server closed it"))
    }

    fn aborted(py: Python<'_>) -> PyErr {
        error(py, Class::Operational, None, "the connection was closed")
    }

    fn closed(py: Python<'_>) -> PyErr {
        closed(py)
    }

    fn busy(py: Python<'_>) -> PyErr {
        busy(py)
    }

    fn forked(py: Python<'_>) -> PyErr {
        forked(py)
    }
}

fn done(py: Python<'_>, result: QueryResult) -> PyResult<Step> {
    Ok(Step::Done(Py::new(py, result)?.into_any()))
}
