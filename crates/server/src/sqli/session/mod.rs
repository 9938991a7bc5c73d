//! The conversation after the login: groups of messages, each answered by one group.

mod cursors;
mod database;
mod dispatch;
mod files;
mod puts;
mod routines;
mod statements;

use std::io::ErrorKind;
use std::sync::Arc;

use rowferry_dialect::informix::values::DateFormat;
use rowferry_engine::{Condition, Databases, Error, Interrupter, Logging, Session, smart_objects};
use rowferry_wire_sqli::messages::{ClientMessage, ServerMessage};
use rowferry_wire_sqli::server::Decoder;
use rowferry_wire_sqli::{Capabilities, Widths};

use super::cursor::Statements;
use super::objects::Objects;
use super::report::Texts;
use super::text::CodeSet;
use super::urgent::{self, Registration};
pub(in crate::sqli) use database::Admission;

use crate::{Connection, Ending};

/// How much is read at once.
const READ: usize = 16 * 1024;
/// Answers beyond this many bytes go out even when more input waits.
const FLUSH_AT: usize = 4 * 1024 * 1024;
/// A buffer that has grown beyond this is given back after it was written.
const KEEP: usize = 256 * 1024;
/// The largest fetch buffer that is honoured.
const MAX_FETCH: usize = 8 * 1024 * 1024;
/// Bytes of a chunk of BYTE and TEXT data.
const BLOB_CHUNK: usize = 1_024;
/// Bytes of a chunk of a client's file, and of a smart large object.
const FILE_CHUNK: usize = 4_096;
const LO_CHUNK: usize = 32_000;
/// The largest value that arrives in chunks.
const MAX_OBJECT: usize = 1 << 30;
/// The database without transactions that is always there.
const SYSMASTER: &str = "sysmaster";
/// How often a statement is run again because it wants another file of the client's.
const MAX_FILES: usize = 64;

/// Why a message was not obeyed.
#[derive(Debug)]
enum Failure {
    /// The client is told, and the rest of the group is skipped.
    Error(Error),
    /// The session is over.
    End(Ending),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

impl From<Ending> for Failure {
    fn from(ending: Ending) -> Self {
        Self::End(ending)
    }
}

type Obeyed<T = ()> = Result<T, Failure>;

/// A client that has come in.
pub(in crate::sqli) struct SqliSession<'c> {
    connection: &'c mut Connection,
    decoder: Decoder,
    commands: Commands,
    /// Whether the client's interrupts are looked for.
    urgent: Urgent,
    /// Nothing was answered yet.
    fresh: bool,
}

/// Whether somebody looks for a client's urgent byte. Nothing can be interrupted before the first statement, and who only
/// connects should not pay for it.
enum Urgent {
    /// Nobody yet; what is to be done when it comes.
    Unwatched(Box<dyn Fn() + Send + Sync>),
    /// For as long as this is held; `None` when it cannot be done.
    Watched(#[allow(dead_code, reason = "held for its drop")] Option<Registration>),
}

/// All but the socket and the inbox, so that a message can be read in place while it is obeyed.
struct Commands {
    databases: Databases,
    admission: Arc<Admission>,
    user: String,
    server: String,
    code_set: CodeSet,
    /// The client has DELIMIDENT: `"x"` is a name.
    delimited: bool,
    /// The form that the client gives dates in text, where it is not the usual one.
    dates: Option<DateFormat>,
    /// What the client makes of the texts of errors.
    texts: Texts,
    widths: Widths,
    out: Vec<u8>,
    /// The open database, if any: its session and its name.
    open: Option<Open>,
    peer: String,
    interrupt: Arc<parking_lot::Mutex<Option<Interrupter>>>,
    /// Wakes this thread when it waits for the client.
    wake: Arc<dyn Fn() + Send + Sync>,
    statements: Statements,
    objects: Objects,
    /// The statement that the rest of the group is about.
    current: usize,
    /// An error has ended the group: messages up to EOT are not obeyed.
    skipping: bool,
    /// The statement of an `SQ_COMMAND`, which lives no longer than its group.
    command: Option<usize>,
    /// Values that arrive in chunks: which bound parameters still wait, and the chunks so far.
    awaited: Vec<usize>,
    chunks: Vec<u8>,
    /// A write to a smart large object whose chunks arrive: the object and how many bytes were announced.
    writing: Option<(i16, i32)>,
    written: i32,
    /// A call whose arguments arrive in the next message.
    calling: Option<i32>,
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
        (decoder, out): (Decoder, Vec<u8>),
        user: String,
        server: String,
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
            server,
            code_set,
            delimited,
            dates,
            texts,
            widths: decoder.widths(),
            out,
            open: None,
            peer: connection.peer().to_string(),
            interrupt,
            wake: Arc::new(connection.waker()),
            statements: Statements::default(),
            objects: Objects::default(),
            current: 0,
            skipping: false,
            command: None,
            awaited: Vec::new(),
            chunks: Vec::new(),
            writing: None,
            written: 0,
            calling: None,
            routines: crate::sqli::fast_path::Routines::default(),
        };
        Self { connection, decoder, commands, urgent, fresh: true }
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
                    let told = Error::new(Condition::ProtocolViolation, text.clone());
                    self.commands.failed(&told);
                    self.commands.send(&ServerMessage::Eot);
                    // Whether or not it can still be told, nothing after this can be read.
                    let _ = self.flush();
                    return Err(Ending::Protocol(text));
                }
            };
            if let ClientMessage::Protocols(offer) = &message {
                let ours = Capabilities::server_15();
                let active = offer.and(&ours);
                self.commands.send(&ServerMessage::Protocols(ours));
                self.decoder.activate(&active);
                self.commands.widths = self.decoder.widths();
                continue;
            }
            let exiting = matches!(message, ClientMessage::Exit);
            if !opens_or_ends(&message) {
                watch_urgent(&mut self.urgent, self.connection);
            }
            let next = self.commands.obey(message);
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
                // Before the client hangs up, which would wake the thread that watches.
                self.urgent = Urgent::Watched(None);
                // Drivers that do not wait for the answer have gone by now; a late one would only be sent back.
                if !self.connection.peer_has_closed() {
                    self.flush()?;
                }
                return Err(Ending::Goodbye);
            }
            if self.commands.out.len() >= FLUSH_AT {
                self.flush()?;
            }
        }
    }

    /// Writes what waits, then waits for more bytes.
    fn fill(&mut self) -> Result<(), Ending> {
        // While more input waits the answers wait too: a client may write much before it reads.
        // It is not looked for when the session is opened: who connects waits for that, whatever was sent ahead.
        if !self.commands.out.is_empty() && (std::mem::take(&mut self.fresh) || !self.connection.input_waits()) {
            self.flush()?;
        }
        let in_transaction = self.commands.in_transaction();
        let limit = self.commands.open.as_ref().and_then(|open| open.session.idle_limit());
        let own = self.connection.expect_command(in_transaction, limit.as_ref().map(|limit| limit.0));
        match self.connection.read(self.decoder.space(READ)) {
            Ok(0) if self.connection.stopping() => Err(Ending::Stopped),
            Ok(0) if self.commands.ended().is_some() => self.end_if_over(),
            Ok(0) if self.decoder.is_empty() => Err(Ending::Gone),
            Ok(0) => Err(Ending::Protocol("connection closed in the middle of a message".into())),
            Ok(count) => {
                self.decoder.filled(count);
                Ok(())
            }
            Err(error) if error.kind() == ErrorKind::TimedOut && own => {
                let Some((_, error)) = limit else { return Err(Ending::TimedOut("idle session")) };
                self.say_last(&error)
            }
            Err(error) if error.kind() == ErrorKind::TimedOut => {
                Err(Ending::TimedOut(if in_transaction { "idle in a transaction" } else { "idle session" }))
            }
            Err(error) => Err(Ending::Broken(error)),
        }
    }

    /// The session may have been ended by somebody else, or by a limit of its own: the client is told as the last thing.
    fn end_if_over(&mut self) -> Result<(), Ending> {
        match self.commands.ended() {
            Some(error) => self.say_last(&error),
            None => Ok(()),
        }
    }

    fn say_last(&mut self, error: &Error) -> Result<(), Ending> {
        self.commands.failed(error);
        self.commands.send(&ServerMessage::Eot);
        // The session is over whether or not the client can still be told.
        let _ = self.flush();
        Err(Ending::Ended(error.message.clone()))
    }

    fn flush(&mut self) -> Result<(), Ending> {
        if self.commands.out.is_empty() {
            return Ok(());
        }
        let result = self.connection.write_all(&self.commands.out);
        self.commands.out.clear();
        self.commands.out.shrink_to(KEEP);
        result.map_err(|error| match error.kind() {
            ErrorKind::TimedOut => Ending::TimedOut("the client takes no bytes"),
            ErrorKind::BrokenPipe | ErrorKind::ConnectionReset => Ending::Gone,
            _ => Ending::Broken(error),
        })
    }
}

/// Messages by which a session is set up, or ends: none of them runs a statement.
fn opens_or_ends(message: &ClientMessage<'_>) -> bool {
    matches!(
        message,
        ClientMessage::Environment(_)
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
