//! The client's role: conversations over the messages of a server.
//!
//! Command the [`Client`] ([`prepare`](Client::prepare), [`run`](Client::run), [`fetch`](Client::fetch), …), move its
//! bytes by [`rowferry_wire::Core`], and [`poll`](Client::poll) until the operation's last event. There is one operation
//! at a time; errors are drained to the end of their group before they are told, so that the connection stays usable.
//!
//! Running a statement takes two steps, because what it needs is known only after the server has described it:
//! [`prepare`](Client::prepare) leads to [`Event::Prepared`], and [`run`](Client::run) with the parameters to
//! [`Event::Row`]s and [`Event::Done`]. A statement that was run before is prepared already: the first step then sends
//! nothing. When it turns out that its tables have changed since, it is prepared again and [`Event::Prepared`] comes a
//! second time.

mod batch;
mod commands;
mod connect;
mod cursors;
mod failure;
mod files;
mod objects;
mod operation;
mod outbox;
mod params;
mod replies;
mod statement;

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use rowferry_wire::Core;

use crate::messages::{LoReply, ServerMessage};
use crate::{Decoder, FromServer, Widths};

pub use connect::{Options, Session};
pub use cursors::{CursorOptions, ScrollTo};
pub use failure::{Failure, Misuse, SqlError};
pub use files::FileEvent;
pub use objects::{Returned, ReturnedValue};
pub use params::Params;
pub use statement::{Column, Prepared};

use connect::{Connect, LOGIN_REFUSED, Phase};
use files::FileTurn;
use operation::{Awaited, Operation, Reply};

/// What happened.
#[derive(Debug)]
pub enum Event<'a> {
    /// More bytes must come first.
    Pending,
    /// We are in, and the database is open.
    Connected,
    /// The server asks for an answer: call [`Client::answer`].
    Challenge {
        /// 1: do not show the answer; 2: show it; 3 and 4: only show this text.
        style: i16,
        /// The question.
        text: Vec<u8>,
    },
    /// The server sends us to another one, by its words `server=host|port`. This connection is over.
    Redirect(Vec<u8>),
    /// The statement is described: call [`Client::run`], [`Client::start_batch`] or [`Client::abandon`].
    Prepared(Arc<Prepared>),
    /// A row; see [`Prepared::decode_row`].
    Row(&'a [u8]),
    /// A `BYTE` or `TEXT` value, whole.
    Blob(Vec<u8>),
    /// Bytes of a smart large object.
    LoData(Vec<u8>),
    /// A routine of the fast path: the database that it lives in, and its handle.
    Routine(Vec<u8>, i32),
    /// What a routine returned: its `OUT` parameters, then its result. The operation is over.
    Returned(Vec<Returned>),
    /// The server wants to read or write a file of the client's.
    File(FileEvent),
    /// The statement returns a column that cannot be read, by these words; it was released, and the operation is over.
    Unsupported(String),
    /// The batch takes rows: call [`Client::batch`] or [`Client::end_batch`].
    BatchReady,
    /// A row of an independent batch has failed; the batch goes on.
    RowFailed(SqlError),
    /// The operation has succeeded.
    Done(Outcome),
    /// The server has refused; the operation is over. The connection goes on, unless it was connecting.
    Error(SqlError),
}

/// What an operation has done.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Outcome {
    /// Rows affected, or delivered by the cursor so far.
    pub rows: i64,
    /// The value that a `SERIAL`, `SERIAL8` or `BIGSERIAL` column was given by an `INSERT`; 0 when none.
    pub serial: i64,
    /// The cursor may have more rows: [`Client::fetch`] or [`Client::close`] it.
    pub more: bool,
    /// The cursor is open, whether it has more rows or not: [`Client::close`] it.
    pub open: bool,
    /// The number of the last row delivered, from 1, by a scroll cursor; else 0.
    pub position: i64,
}

/// The client's half of a connection.
#[derive(Debug)]
pub struct Client {
    decoder: Decoder<FromServer>,
    output: Vec<u8>,
    sent: usize,
    operation: Operation,
    awaited: VecDeque<Awaited>,
    reply: Reply,
    session: Session,
    kept: HashMap<Box<[u8]>, Arc<Prepared>>,
    /// Texts of the kept statements, the longest unused first.
    kept_order: VecDeque<Box<[u8]>>,
    keep: usize,
    /// Groups that close cursors and release statements, to be sent with the next operation.
    cleanup: Vec<u8>,
    cleanup_groups: usize,
    cursors: u64,
    fetch_bytes: i32,
    /// Where a dialogue about a file of ours stands.
    file: Option<FileTurn>,
    /// The size of the chunks that the server wants of it.
    file_buffer: usize,
    eof: bool,
    closed: bool,
}

enum Step {
    Again,
    Row,
    Event(Event<'static>),
}

impl Client {
    /// Bytes of a group of a batch, about which it is sent.
    const BATCH_BYTES: usize = 32_000;

    /// A client that is about to log in.
    pub fn new(options: Options) -> Result<Self, Misuse> {
        let mut output = Vec::new();
        options.login.encode(&mut output)?;
        let (keep, fetch_bytes) = (options.kept_statements, options.fetch_bytes);
        let mut connect = Connect::new(options);
        connect.send_early(&mut output)?;
        Ok(Self {
            decoder: Decoder::new(),
            output,
            sent: 0,
            operation: Operation::Connect(Box::new(connect)),
            awaited: VecDeque::from([Awaited::Operation]),
            reply: Reply::default(),
            session: Session::default(),
            kept: HashMap::new(),
            kept_order: VecDeque::new(),
            keep,
            cleanup: Vec::new(),
            cleanup_groups: 0,
            cursors: 0,
            fetch_bytes,
            file: None,
            file_buffer: 0,
            eof: false,
            closed: false,
        })
    }

    /// Bytes do not move any more: from here on everything fails.
    pub fn disconnect(&mut self) {
        self.closed = true;
        self.operation = Operation::None;
        self.output.clear();
        self.sent = 0;
    }

    /// What the server has said about itself and the session.
    pub const fn session(&self) -> &Session {
        &self.session
    }

    /// The widths in force, which parameters are encoded by.
    pub const fn widths(&self) -> Widths {
        self.decoder.widths()
    }

    /// True when no operation is under way and the connection can be used.
    pub const fn is_idle(&self) -> bool {
        matches!(self.operation, Operation::None) && !self.closed
    }

    /// True once the connection cannot be used any more.
    pub const fn is_closed(&self) -> bool {
        self.closed
    }

    /// Hands rows that have come to `visit` until it answers false: the fast way between events.
    ///
    /// The outcome is false when `visit` stopped it.
    pub fn visit_rows(&mut self, mut visit: impl FnMut(&[u8]) -> bool) -> bool {
        if !self.is_fetching() {
            return true;
        }
        let mut seen = false;
        let go_on = self.decoder.visit_tuples(|payload| {
            seen = true;
            visit(payload)
        });
        if seen {
            self.reply.done = None;
            self.reply.tuples += 1;
        }
        go_on
    }

    /// The next event. After a [`Failure`] the connection is of no further use.
    pub fn poll(&mut self) -> Result<Event<'_>, Failure> {
        loop {
            match self.step() {
                Ok(Step::Again) => {}
                Ok(Step::Row) => return Ok(Event::Row(self.decoder.last_tuple())),
                Ok(Step::Event(event)) => return Ok(event),
                Err(failure) => {
                    self.closed = true;
                    return Err(failure);
                }
            }
        }
    }

    fn is_fetching(&self) -> bool {
        self.awaited.front() == Some(&Awaited::Operation)
            && match &self.operation {
                Operation::Run(running) => running.prepared.is_query(),
                Operation::Fetch { .. } => true,
                _ => false,
            }
    }

    fn step(&mut self) -> Result<Step, Failure> {
        if self.closed {
            return Err(Failure::Closed);
        }
        match &self.operation {
            Operation::Described(running) => {
                return Ok(Step::Event(Event::Prepared(Arc::clone(&running.prepared))));
            }
            Operation::Connect(connect) if connect.phase == Phase::Accept => return self.step_login(),
            Operation::Batch(batch) if batch.sent == 0 => return self.step_batch(),
            // The next group is collected while one is under way.
            Operation::Batch(batch) if !batch.ended && !batch.is_full() => return Ok(Step::Event(Event::BatchReady)),
            _ => {}
        }
        if let Some(step) = self.step_file() {
            return Ok(step);
        }
        let fetching = self.is_fetching();
        let widths = self.decoder.widths();
        let Some(message) = self.decoder.next()? else {
            return if self.eof { Err(Failure::Closed) } else { Ok(Step::Event(Event::Pending)) };
        };
        if self.awaited.is_empty() {
            return Err(match message {
                // A server that leaves may say so.
                ServerMessage::Exit => Failure::Closed,
                other => Failure::Unexpected { state: "nothing was asked", got: name_of(&other) },
            });
        }
        let reply = &mut self.reply;
        match message {
            ServerMessage::Tuple(_) if fetching => {
                // A `SQ_DONE` before it belonged to the opening of the cursor.
                reply.done = None;
                reply.tuples += 1;
                return Ok(Step::Row);
            }
            ServerMessage::Tuple(_) if matches!(self.operation, Operation::Scroll { .. }) => {
                reply.tuples += 1;
                // Each request is for one row, which comes first.
                return Ok(if reply.tuples == 1 { Step::Row } else { Step::Again });
            }
            ServerMessage::Eot => {
                return match self.file.take() {
                    Some(turn) => self.file_turn_over(turn),
                    None => self.end_of_group(),
                };
            }
            ServerMessage::Exit => return self.exited(),
            ServerMessage::Error(error) => {
                // The first one says what happened.
                if reply.error.is_none() {
                    reply.error = Some(error.into());
                }
            }
            ServerMessage::Done(done) => {
                reply.count += 1;
                reply.affected = reply.affected.saturating_add(done.rows);
                reply.done = Some(done);
            }
            ServerMessage::InsertDone(inserted) => reply.inserted = Some(inserted),
            ServerMessage::Describe(describe) => {
                if let Operation::Prepare { key, .. } = &mut self.operation {
                    match Prepared::of(&describe, widths, key.take())? {
                        Ok(prepared) => reply.prepared = Some(prepared),
                        Err(why) => reply.unsupported = Some((describe.statement, why)),
                    }
                }
            }
            ServerMessage::Protocols(mask) => reply.protocols = Some(mask),
            ServerMessage::Challenge(challenge) => {
                reply.challenge = Some((challenge.style.0, challenge.text.to_vec()));
            }
            ServerMessage::PamAccept => reply.admitted = true,
            ServerMessage::Blob(chunk) => match &mut self.operation {
                Operation::Blob { size } if reply.blob.len() + chunk.len() <= *size => {
                    reply.blob.extend_from_slice(chunk);
                }
                Operation::Blob { .. } => {
                    return Err(Failure::Unexpected { state: "fetching a value", got: "more than its size" });
                }
                _ => return Err(Failure::Unexpected { state: self.operation.name(), got: "SQ_BLOB" }),
            },
            ServerMessage::TupId(row) => {
                if reply.tuples <= 1 {
                    reply.position = Some(row);
                }
            }
            ServerMessage::Routine(routine) if matches!(self.operation, Operation::FindRoutine) => {
                reply.routine = Some((routine.database.to_vec(), routine.handle))
            }
            ServerMessage::Results(values) if matches!(self.operation, Operation::Call) => {
                reply.returned = Some(values.iter().map(Returned::from).collect())
            }
            ServerMessage::LoData(answer) => match (&mut self.operation, answer) {
                (Operation::LoRead { size }, LoReply::Read(bytes)) if bytes as usize <= *size => {}
                (Operation::LoWrite { written }, LoReply::Written(bytes)) => *written = bytes.into(),
                _ => return Err(Failure::Unexpected { state: self.operation.name(), got: "SQ_LODATA" }),
            },
            ServerMessage::LoChunk(chunk) if matches!(self.operation, Operation::LoRead { .. }) => {
                reply.blob.extend_from_slice(chunk)
            }
            ServerMessage::File(request) => {
                let asked = FileTurn::asked(&request);
                return self.file_asked(asked);
            }
            ServerMessage::FileChunk(chunk) => {
                let chunk = chunk.to_vec();
                return self.file_written(chunk);
            }
            // Estimates, news of the transaction and of cursors, a version: nothing to act on.
            ServerMessage::Cost(_) | ServerMessage::XactStat(_) | ServerMessage::Close | ServerMessage::Version(_) => {}
            other => return Err(Failure::Unexpected { state: self.operation.name(), got: name_of(&other) }),
        }
        Ok(Step::Again)
    }

    /// The server answered `SQ_EXIT`, or leaves by itself.
    fn exited(&mut self) -> Result<Step, Failure> {
        self.closed = true;
        self.awaited.clear();
        match std::mem::replace(&mut self.operation, Operation::None) {
            Operation::Exit => Ok(Step::Event(Event::Done(Outcome::default()))),
            Operation::Connect(_) => {
                let sqlcode = LOGIN_REFUSED;
                Ok(Step::Event(Event::Error(SqlError { sqlcode, ..SqlError::default() })))
            }
            _ => Err(Failure::Closed),
        }
    }
}

const fn name_of(message: &ServerMessage<'_>) -> &'static str {
    match message {
        ServerMessage::Describe(_) => "SQ_DESCRIBE",
        ServerMessage::Tuple(_) => "SQ_TUPLE",
        ServerMessage::KeyDescribe(_) | ServerMessage::KeyTuple(_) => "generated keys",
        ServerMessage::DbList(_) => "SQ_DBLIST",
        ServerMessage::Blob(_) => "SQ_BLOB",
        ServerMessage::LoData(_) | ServerMessage::LoChunk(_) => "SQ_LODATA",
        ServerMessage::Routine(_) => "SQ_GETROUTINE",
        ServerMessage::Results(_) => "SQ_FPROUTINE",
        ServerMessage::FileChunk(_) => "SQ_FILE_WRITE",
        ServerMessage::InputDescribe(_) => "SQ_IDESCRIBE",
        ServerMessage::Error(_) => "SQ_ERR",
        ServerMessage::Done(_) => "SQ_DONE",
        ServerMessage::Eot => "SQ_EOT",
        _ => "message",
    }
}

impl Core for Client {
    fn receive_space(&mut self, least: usize) -> &mut [u8] {
        self.decoder.space(least)
    }

    fn received(&mut self, count: usize) {
        self.decoder.filled(count);
    }

    fn received_eof(&mut self) {
        self.eof = true;
    }

    fn output(&self) -> &[u8] {
        &self.output[self.sent..]
    }

    fn sent(&mut self, count: usize) {
        self.sent += count;
        if self.sent >= self.output.len() {
            self.output.clear();
            self.sent = 0;
        }
    }
}
