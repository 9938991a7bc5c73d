//! The conversation after the login: groups of messages, each answered by one group.

mod cursors;
mod database;
mod dispatch;
mod files;
mod puts;
mod routines;
mod statements;

use std::sync::Arc;

use rowferry_dialect::informix::values::DateFormat;
use rowferry_engine::{Condition, Databases, Error, Interrupter, Logging, Session, smart_objects};
use rowferry_wire_sqli::messages::ClientMessage;
use rowferry_wire_sqli::server::{Decoder, Request, Server};

use super::cursor::Statements;
use super::objects::Objects;
use super::report::Texts;
use super::text::CodeSet;
use super::urgent::{self, Registration};
pub(in crate::sqli) use database::Admission;

use crate::kit::{Failure, Obeyed, Outbox, Silence, Wait};
use crate::{Connection, Ending, kit};

/// How much is read at once.
const READ: usize = 16 * 1024;
/// Answers beyond this many bytes go out even when more input waits.
const FLUSH_AT: usize = 4 * 1024 * 1024;
/// The largest fetch buffer that is honoured.
const MAX_FETCH: usize = 8 * 1024 * 1024;
/// Bytes of a chunk of BYTE and TEXT data.
const BLOB_CHUNK: usize = 1_024;
/// Bytes of a chunk of a client's file, and of a smart large object.
const FILE_CHUNK: usize = 4_096;
const LO_CHUNK: usize = 32_000;
/// The database without transactions that is always there.
const SYSMASTER: &str = "sysmaster";
/// How often a statement is run again because it wants another file of the client's.
const MAX_FILES: usize = 64;

/// A client that has come in.
pub(in crate::sqli) struct SqliSession<'c> {
    connection: &'c mut Connection,
    decoder: Decoder,
    commands: Commands,
    /// Whether the client's interrupts are looked for.
    urgent: Urgent,
    /// The last read took all that there was room for: more may wait.
    full: bool,
}

/// Whether somebody looks for a client's urgent byte. Nothing can be interrupted before the first statement, and who only
/// connects should not pay for it.
enum Urgent {
    /// Nobody yet; what is to be done when it comes.
    Unwatched(Box<dyn Fn() + Send + Sync>),
    /// For as long as this is held; `None` when it cannot be done.
    Watched(Option<Registration>),
}

impl Urgent {
    /// The session works on what its client has sent.
    fn work(&self) {
        if let Self::Watched(Some(registration)) = self {
            registration.work();
        }
    }

    /// The session waits for its client.
    fn rest(&self) {
        if let Self::Watched(Some(registration)) = self {
            registration.rest();
        }
    }
}

/// All but the socket and the inbox, so that a request can be read in place while it is obeyed.
struct Commands {
    databases: Databases,
    admission: Arc<Admission>,
    user: String,
    server_name: String,
    code_set: CodeSet,
    /// The client has DELIMIDENT: `"x"` is a name.
    delimited: bool,
    /// The form that the client gives dates in text, where it is not the usual one.
    dates: Option<DateFormat>,
    /// What the client makes of the texts of errors.
    texts: Texts,
    server: Server,
    /// The open database, if any: its session and its name.
    open: Option<Open>,
    peer: String,
    interrupt: Arc<parking_lot::Mutex<Option<Interrupter>>>,
    /// Wakes this thread when it waits for the client.
    wake: Arc<dyn Fn() + Send + Sync>,
    statements: Statements,
    objects: Objects,
    /// The statement that messages are about.
    current: usize,
    /// The statement of an `SQ_COMMAND`, which lives no longer than its group.
    command: Option<usize>,
    /// Routines of users that the client has asked for.
    routines: crate::sqli::fast_path::Routines,
}

struct Open {
    session: Session,
    name: String,
    /// What its transactions are.
    logging: Logging,
}

/// What has to happen with the socket before the next message is obeyed.
enum Next {
    Go,
    /// The client's files are involved: the rest of a statement waits for them.
    Files(Pending),
}

/// A statement that stopped at a file of the client's.
enum Pending {
    /// Fetch this file, then run the statement again.
    Read(String, Resume),
    /// Write these files, then send this reply.
    Write(Vec<(String, Vec<u8>)>, Vec<u8>),
}

#[derive(Clone, Copy)]
enum Resume {
    Execute,
    Open,
}

impl<'c> SqliSession<'c> {
    pub(in crate::sqli) fn new(
        databases: Databases,
        connection: &'c mut Connection,
        (decoder, server): (Decoder, Server),
        user: String,
        server_name: String,
        (code_set, delimited, dates, texts): (CodeSet, bool, Option<DateFormat>, Texts),
        admission: Admission,
    ) -> Self {
        smart_objects::with(|objects| objects.reset(Box::new(code_set)));
        let interrupt: Arc<parking_lot::Mutex<Option<Interrupter>>> = Arc::default();
        let target = interrupt.clone();
        let interrupt_statement = move || {
            if let Some(interrupter) = &*target.lock() {
                interrupter.interrupt();
            }
        };
        let urgent = Urgent::Unwatched(Box::new(interrupt_statement.clone()));
        connection.on_interrupt(interrupt_statement);
        connection.look_after_whichever(interrupt.clone());
        let commands = Commands {
            databases,
            admission: Arc::new(admission),
            user,
            server_name,
            code_set,
            delimited,
            dates,
            texts,
            server,
            open: None,
            peer: connection.peer().to_string(),
            interrupt,
            wake: Arc::new(connection.waker()),
            statements: Statements::default(),
            objects: Objects::default(),
            current: 0,
            command: None,
            routines: crate::sqli::fast_path::Routines::default(),
        };
        Self { connection, decoder, commands, urgent, full: false }
    }

    /// Obeys the client until the end.
    pub(in crate::sqli) fn run(mut self) -> Ending {
        match self.serve() {
            Ok(never) => match never {},
            Err(ending) => ending,
        }
    }

    fn serve(&mut self) -> Result<std::convert::Infallible, Ending> {
        loop {
            let message = match self.decoder.next() {
                Ok(Some(message)) => message,
                Ok(None) => {
                    self.fill()?;
                    continue;
                }
                Err(error) => {
                    let text = error.to_string();
                    self.commands.last_words(&Error::new(Condition::ProtocolViolation, text.clone()));
                    // Whether or not it can still be told, nothing after this can be read.
                    let _ = self.flush();
                    return Err(Ending::Protocol(text));
                }
            };
            if !opens_or_ends(&message) {
                watch_urgent(&mut self.urgent, self.connection);
            }
            let request = match self.commands.server.handle(message) {
                Ok(Some(Request::Protocols(active))) => {
                    self.decoder.activate(&active);
                    continue;
                }
                Ok(Some(request)) => Ok(request),
                Ok(None) => continue,
                Err(violation) if violation.is_fatal() => {
                    let _ = self.flush();
                    return Err(Ending::Protocol(violation.to_string()));
                }
                Err(violation) => Err(violation),
            };
            let exiting = matches!(request, Ok(Request::Exit));
            let next = self.commands.obey(request);
            match next {
                Ok(Next::Go) => {}
                Ok(Next::Files(pending)) => self.files(pending)?,
                Err(ending) => {
                    let _ = self.flush();
                    return Err(ending);
                }
            }
            self.end_if_over()?;
            if exiting {
                // Drivers that do not wait for the answer have gone by now; a late one would only be sent back.
                if !self.connection.peer_has_closed() {
                    self.flush()?;
                }
                return Err(Ending::Goodbye);
            }
            if self.commands.server.output().len() >= FLUSH_AT {
                self.flush()?;
            }
        }
    }

    /// Writes what waits, then waits for more bytes.
    fn fill(&mut self) -> Result<(), Ending> {
        // While more input waits the answers wait too: a client may write much before it reads.
        if !self.commands.server.output().is_empty() && !self.runs_ahead() {
            self.flush()?;
        }
        let wait = Wait::begin(self.connection, self.commands.open.as_ref().map(|open| &open.session));
        self.urgent.rest();
        let space = self.decoder.space(READ);
        let room = space.len();
        let read = self.connection.read(space);
        self.full = read.as_ref().is_ok_and(|&count| count == room);
        self.urgent.work();
        let session = self.commands.open.as_ref().map(|open| &open.session);
        match wait.end(read, self.connection, session, !self.decoder.is_empty()) {
            Ok(count) => {
                self.decoder.filled(count);
                Ok(())
            }
            Err(Silence::Stopping) => Err(Ending::Stopped),
            Err(Silence::Ended) => self.end_if_over(),
            Err(Silence::Limited(error)) => self.say_last(&error),
            Err(Silence::Idle { in_transaction }) => Err(kit::idle(in_transaction)),
            Err(Silence::Over(ending)) => Err(ending),
        }
    }

    /// True when the client has sent more than was read. It is not looked for behind the end of a group in a read that had
    /// room left: who waits for an answer would wait for that as well.
    fn runs_ahead(&self) -> bool {
        (self.full || !self.decoder.is_empty()) && self.connection.input_waits()
    }

    /// The session may have been ended by somebody else, or by a limit of its own: the client is told as the last thing.
    fn end_if_over(&mut self) -> Result<(), Ending> {
        match self.commands.ended() {
            Some(error) => self.say_last(&error),
            None => Ok(()),
        }
    }

    fn say_last(&mut self, error: &Error) -> Result<(), Ending> {
        self.commands.last_words(error);
        // The session is over whether or not the client can still be told.
        let _ = self.flush();
        Err(Ending::Ended(error.message.clone()))
    }

    fn flush(&mut self) -> Result<(), Ending> {
        kit::flush(self.connection, &mut self.commands.server)
    }
}

impl Outbox for Server {
    fn output(&self) -> &[u8] {
        Self::output(self)
    }

    fn sent(&mut self, count: usize) {
        Self::sent(self, count);
    }
}

/// Messages by which a session is set up, or ends: none of them runs a statement.
fn opens_or_ends(message: &ClientMessage<'_>) -> bool {
    matches!(
        message,
        ClientMessage::Protocols(_)
            | ClientMessage::Environment(_)
            | ClientMessage::DbOpen(_)
            | ClientMessage::DbClose
            | ClientMessage::DbList
            | ClientMessage::Version
            | ClientMessage::Eot
            | ClientMessage::Exit
    )
}

/// From now on the client's interrupts are looked for.
fn watch_urgent(urgent: &mut Urgent, connection: &Connection) {
    if let Urgent::Unwatched(_) = urgent
        && let Urgent::Unwatched(interrupt) = std::mem::replace(urgent, Urgent::Watched(None))
    {
        *urgent = Urgent::Watched(connection.socket_fd().and_then(|fd| urgent::watch(fd, interrupt)));
    }
}
