//! The conversations of a connection, whatever moves its bytes.
//!
//! A conversation is an [`Operation`], in a file of its own; [`Driver`] begins it and feeds it events. A new one needs a
//! type that implements the trait, a method of [`Driver`] that checks by [`Driver::begin`], commands the [`Client`] and
//! calls [`Driver::start`], and a method in each pump (`blocking`, `aio`) that calls `run`.

mod arrow;
mod collect;
mod command;
mod errors;
mod execute;
mod long_data;
mod rows;
mod session;
mod stream;

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyString};
use rowferry_client::mysql::{Template, only_reads};
use rowferry_wire_mysql::client::{Client, Event, Misuse};
use rowferry_wire_mysql::messages::resultset::Columns;
use rowferry_wire_mysql::messages::statement::StatementId;
use rowferry_wire_mysql::messages::status::{ServerError, status_flag};

use super::columns::{Plan, Taste};
use super::local_file::{Allowed, LocalFiles};
use super::result::QueryResult;
use super::settings::Settings;
use super::values::Encoding;
use crate::errors::{Class, error};
use crate::pump::{Conversation, Encryption};

pub use crate::pump::Step;
pub use collect::Collect;
pub use errors::{
    broken, busy, client_errno, forked, gone, is_of_the_wire, is_overdue, lost, misused, overdue, server_error,
    transport_error,
};
pub use rows::Rows;

/// The operation is over with this result.
pub fn done(py: Python<'_>, result: Option<Py<QueryResult>>) -> Option<Step> {
    Some(Step::Done(result.map_or_else(|| py.None(), Py::into_any)))
}

/// How rows should be built.
#[derive(Clone, Copy)]
pub struct Shape {
    pub binary: bool,
    pub as_dict: bool,
}

/// A conversation: from a request to the last event of its answer.
pub trait Operation: Send {
    /// Called before the core is polled: takes rows the fast way, or sends more. What it answers goes to the pump; the
    /// core is then not polled.
    fn before(&mut self, _: Python<'_>, _: &mut Client, _: &mut Shared) -> PyResult<Option<Step>> {
        Ok(None)
    }

    /// Takes an event of the core, never `Pending` or `StartTls`. [`Step::Done`] and errors end the operation.
    fn event(&mut self, py: Python<'_>, event: Event<'_>, shared: &mut Shared) -> PyResult<Option<Step>>;

    /// The core needs more bytes.
    fn pending(&self, _: Python<'_>) -> Step {
        Step::Pending
    }

    /// Another operation takes this one's place, to read away what it awaits.
    fn abandon(&mut self, _: &mut Shared) {}

    /// True when the operation may go on, or be over, without another byte.
    fn may_be_done(&self) -> bool {
        false
    }
}

/// What operations find and leave.
pub struct Shared {
    taste: Taste,
    plans: Vec<Arc<Plan>>,
    stream: Option<stream::RowStream>,
    /// A stream's result was the last but one: another follows on the wire.
    follows: bool,
    /// Nothing is lost when the stream's statement is ended early.
    only_reads: bool,
    /// How many warnings the server counted for the stream that ended last.
    warnings: u16,
    /// What was prepared for someone who does not wait for it any more; closed once nothing is awaited.
    pub orphans: Vec<StatementId>,
    /// The server's `max_allowed_packet`, once it was asked for.
    pub packet_limit: Option<usize>,
    files: LocalFiles,
    /// Statements for which pieces of values were sent that nobody will use.
    unsettled: Vec<StatementId>,
}

/// How many shapes of results are remembered.
const PLANS: usize = 16;

impl Shared {
    /// How to build rows of these columns.
    pub fn plan(&mut self, py: Python<'_>, columns: Arc<Columns>) -> PyResult<Arc<Plan>> {
        if let Some(known) = self.plans.iter().find(|plan| Arc::ptr_eq(&plan.columns, &columns)) {
            return Ok(known.clone());
        }
        let plan = Arc::new(Plan::new(py, columns, &self.taste)?);
        if self.plans.len() == PLANS {
            self.plans.remove(0);
        }
        self.plans.push(plan.clone());
        Ok(plan)
    }

    fn forget_stream(&mut self) {
        self.stream = None;
        self.follows = false;
    }
}

/// See the module.
pub struct Driver {
    pub encoding: Encoding,
    operation: Option<Box<dyn Operation>>,
    /// Waits for a file that the caller pushes.
    paused: Option<Box<dyn Operation>>,
    shared: Shared,
    sql: Vec<u8>,
    followed: session::Followed,
}

impl Driver {
    pub fn new(taste: Taste, encoding: Encoding, allowed: Allowed) -> Self {
        let shared = Shared {
            taste,
            plans: Vec::new(),
            stream: None,
            follows: false,
            only_reads: false,
            warnings: 0,
            orphans: Vec::new(),
            unsettled: Vec::new(),
            packet_limit: None,
            files: LocalFiles::new(allowed),
        };
        Self {
            encoding,
            operation: None,
            paused: None,
            shared,
            sql: Vec::new(),
            followed: session::Followed::default(),
        }
    }

    /// True while rows of a stream, or results behind it, are still on the wire.
    pub const fn is_streaming(&self) -> bool {
        self.shared.stream.is_some() || self.shared.follows || self.paused.is_some()
    }

    /// True when the connection can be used and nothing is left of its last use: no answer, no transaction.
    pub fn is_clean(&self, client: &Client) -> bool {
        let idle = client.is_idle() && !self.is_busy() && !self.is_streaming();
        idle && client.session().status & status_flag::IN_TRANSACTION == 0
    }

    /// True when nothing is lost by ending the stream's statement on the server.
    pub const fn may_end_stream(&self) -> bool {
        self.shared.only_reads
    }

    /// How many warnings the server counted for the stream that ended last.
    pub const fn stream_warnings(&self) -> u16 {
        self.shared.warnings
    }

    /// Waits for the login to be over.
    pub fn login(&mut self) {
        self.start(command::Login);
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
        let bytes: &[u8] = match (sql.cast::<PyString>(), sql.cast::<PyBytes>(), args) {
            (Ok(sql), _, Some(args)) if self.encoding.name.is_some() => {
                let (bytes, template) = self.encoding.template(sql)?;
                self.encoding.fill(&mut self.sql, &bytes, &template, args)?;
                return Ok(&self.sql);
            }
            (Ok(sql), ..) => {
                text = self.encoding.encode(sql)?;
                &text
            }
            (_, Ok(sql), _) => sql.as_bytes(),
            _ if sql.is_instance_of::<PyByteArray>() => {
                text = std::borrow::Cow::Owned(sql.cast::<PyByteArray>()?.to_vec());
                &text
            }
            _ => return Err(error(py, Class::Programming, None, "SQL must be str or bytes")),
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
        self.start(Collect::new(Shape { binary: false, as_dict }));
        self.shared.files.begin(false);
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
        self.shared.only_reads = only_reads(&self.sql, !self.encoding.no_backslash_escapes);
        self.start(stream::OpenStream { shape: Shape { binary: false, as_dict } });
        Ok(())
    }

    /// Goes on to the result behind a stream.
    pub fn next_stream(&mut self, py: Python<'_>, as_dict: bool) -> PyResult<()> {
        if self.operation.is_some() || self.shared.stream.is_some() || !self.shared.follows {
            return Err(error(py, Class::Programming, None, "there is no further result to go on to"));
        }
        self.shared.follows = false;
        self.start(stream::OpenStream { shape: Shape { binary: false, as_dict } });
        Ok(())
    }

    /// Reads up to `most` rows of the stream.
    pub fn fetch(&mut self, py: Python<'_>, most: usize) -> PyResult<()> {
        if self.operation.is_some() {
            return Err(busy(py));
        }
        self.start(stream::Fetch::new(py, most));
        Ok(())
    }

    /// Reads and drops what is still to come, without building rows: up to `most` bytes of them.
    pub fn drain(&mut self, most: Option<usize>) {
        self.shared.files.refuse_quietly();
        self.start(stream::Drain::new(most.unwrap_or(usize::MAX)));
    }

    /// Sends a statement whose answer is read and dropped.
    pub fn discard(&mut self, py: Python<'_>, client: &mut Client, sql: &[u8]) -> PyResult<()> {
        self.begin(py, client)?;
        client.query(sql).map_err(|misuse| misused(py, misuse))?;
        self.drain(None);
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
        self.start(Collect::new(Shape { binary: false, as_dict: false }));
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
        if self.paused.is_some() {
            return Err(busy(py));
        }
        if self.is_streaming() {
            let message = "an unbuffered cursor still has rows to fetch; fetch them or close it first";
            return Err(error(py, Class::Programming, Some(client_errno::OUT_OF_SYNC), message));
        }
        Ok(())
    }

    /// The files that the server may ask for.
    pub const fn files(&mut self) -> &mut LocalFiles {
        &mut self.shared.files
    }

    /// Goes on with what waited for a file.
    pub fn resume(&mut self) {
        self.operation = self.paused.take();
    }

    /// Goes on with `operation`, whose request has been given to the client.
    pub fn start(&mut self, operation: impl Operation + 'static) {
        if let Some(mut abandoned) = self.operation.replace(Box::new(operation)) {
            abandoned.abandon(&mut self.shared);
        }
    }

    fn advance(&mut self, py: Python<'_>, client: &mut Client) -> PyResult<Step> {
        let Self { operation: Some(operation), shared, sql, encoding, followed, .. } = self else {
            return Ok(Step::Pending);
        };
        loop {
            if let Some(step) = shared.files.advance(py, client)? {
                return Ok(step);
            }
            if let Some(step) = operation.before(py, client, shared)? {
                return Ok(step);
            }
            match client.poll().map_err(|failure| broken(py, &failure))? {
                Event::Pending => return Ok(operation.pending(py)),
                Event::StartTls => return Ok(Step::StartTls),
                Event::LocalFile(name) => shared.files.asked(py, name, sql, !encoding.no_backslash_escapes),
                event => {
                    let outcome = operation.event(py, event, shared);
                    followed.follow(py, &client.session().state, encoding, shared);
                    if let Some(step) = outcome? {
                        return Ok(step);
                    }
                }
            }
        }
    }
}

impl Conversation for Driver {
    type Client = Client;
    type Settings = Settings;

    fn is_busy(&self) -> bool {
        self.operation.is_some()
    }

    fn may_be_done(&self) -> bool {
        self.operation.as_ref().is_some_and(|operation| operation.may_be_done())
    }

    fn step(&mut self, py: Python<'_>, client: &mut Client) -> PyResult<Step> {
        let outcome = self.advance(py, client);
        if matches!(outcome, Ok(Step::Pending | Step::Flush | Step::StartTls)) {
            return outcome;
        }
        if let Err(failure) = &outcome
            && client.awaited() > 0
            && is_of_the_wire(py, failure)
        {
            // What stands behind a row that cannot be read is not to be taken for the next answer. An error that the
            // caller's own iterator raised comes when nothing is awaited any more.
            client.abandon();
        }
        let operation = self.operation.take();
        if client.is_closed() {
            self.shared.forget_stream();
            self.paused = None;
        } else if self.shared.files.wanted().is_some() {
            self.paused = operation;
        }
        let outcome = match self.shared.files.end() {
            Some(failed) => Err(failed),
            None => outcome,
        };
        match self.followed.take_unfit() {
            Some(unfit) => outcome.and(Err(unfit)),
            None => outcome,
        }
    }

    fn encryption(py: Python<'_>, settings: &Settings) -> PyResult<Option<Encryption>> {
        Ok(Some(Encryption { tls: settings.tls(py)?, address: settings.address(), name: settings.tls_name() }))
    }

    fn tls_started(client: &mut Client) {
        client.tls_started();
    }

    fn is_closed(client: &Client) -> bool {
        client.is_closed()
    }

    fn give_up(client: &mut Client) {
        client.abandon();
    }

    fn say_good_bye(client: &mut Client) -> bool {
        client.quit().is_ok()
    }

    fn backlog(client: &Client) -> usize {
        client.backlog()
    }

    fn transport_error(py: Python<'_>, failure: &rowferry_client::Error, connecting: Option<&str>) -> PyErr {
        transport_error(py, failure, connecting)
    }

    fn lost(py: Python<'_>, reason: Option<&str>) -> PyErr {
        lost(py, reason)
    }

    fn aborted(py: Python<'_>) -> PyErr {
        error(py, Class::Operational, Some(client_errno::SERVER_LOST), "the connection was closed")
    }

    fn closed(py: Python<'_>) -> PyErr {
        gone(py)
    }

    fn busy(py: Python<'_>) -> PyErr {
        busy(py)
    }

    fn forked(py: Python<'_>) -> PyErr {
        forked(py)
    }
}

/// The server refused, and nothing of the operation is left.
fn refused(py: Python<'_>, error: &ServerError, shared: &mut Shared) -> PyErr {
    shared.forget_stream();
    server_error(py, error)
}

/// The core said what this operation cannot have asked for.
pub fn out_of_place(py: Python<'_>, event: &Event<'_>) -> PyErr {
    let message = format!("event out of place: {event:?}");
    error(py, Class::Internal, Some(client_errno::OUT_OF_SYNC), &message)
}
