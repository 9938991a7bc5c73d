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

mod connect;
mod failure;
mod params;
mod statement;

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use rowferry_wire::{Core, Writer};

use crate::login::{CAPABILITY_LEVEL, PacketType};
use crate::messages::{
    ClientMessage, Done, InsertDone, NFetch, ServerMessage, SetSavepoint, SimpleLob, SqlText, StatementId, warning,
};
use crate::tag::Tag;
use crate::{Capabilities, Capability, Decoder, FromServer, StatementType, TooLong, Widths};

pub use connect::{Options, Session};
pub use failure::{Failure, Misuse, SqlError};
pub use params::Params;
pub use statement::{Column, Prepared};

use connect::{Connect, Phase};

/// Errors that mean: the statement was prepared before its tables changed.
const STALE: [i16; 4] = [-710, -206, -217, -258];

/// Errors to `SQ_BEGIN` that mean: this database has no transactions.
const NO_TRANSACTIONS: [i16; 2] = [-201, -256];

/// A `SQ_BEGIN` inside a transaction.
const ALREADY_IN_TRANSACTION: i16 = -535;

/// The code of a refusal that gives none: user or password.
const LOGIN_REFUSED: i16 = -951;

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
    /// The batch takes rows: call [`Client::batch`] or [`Client::end_batch`].
    BatchReady,
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
}

/// A reply that is awaited.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Awaited {
    /// To the current operation.
    Operation,
    /// To the closing of a cursor or the release of a statement; it does not matter what it says.
    Cleanup,
}

#[derive(Debug)]
enum Operation {
    None,
    Connect(Box<Connect>),
    Prepare {
        key: Option<Box<[u8]>>,
        sql: Arc<[u8]>,
        params: u16,
    },
    /// Described; the caller has the next word.
    Described(Running),
    /// `SQ_BEGIN` is on its way; then these bytes follow.
    Begin {
        then: Vec<u8>,
        next: Box<Operation>,
    },
    Run(Running),
    Batch(Batch),
    Fetch {
        prepared: Arc<Prepared>,
    },
    /// A value of this many bytes.
    Blob {
        size: usize,
    },
    /// One group whose reply is of no further interest; what it does to the transaction is.
    Simple(Transaction),
    Exit,
}

/// A statement with what it takes to prepare it again.
#[derive(Clone, Debug)]
struct Running {
    prepared: Arc<Prepared>,
    sql: Arc<[u8]>,
    params: u16,
    /// Prepared by an earlier operation, so that the schema may have changed since.
    reused: bool,
}

/// A batch of executions, sent in groups of which one is under way while the next is collected.
#[derive(Debug)]
struct Batch {
    prepared: Arc<Prepared>,
    /// Executions of the group under way.
    sent: u64,
    /// Executions whose success was told.
    done: u64,
    rows: i64,
    serial: i64,
    /// Messages of the next group.
    next: Vec<u8>,
    /// Executions in it.
    collected: u64,
    ended: bool,
    begin: bool,
}

/// What an operation does to the transaction.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Transaction {
    Unchanged,
    Begins,
    Ends,
}

impl Transaction {
    fn of(statement_type: StatementType) -> Self {
        match statement_type {
            StatementType::BEGIN_WORK => Self::Begins,
            StatementType::COMMIT_WORK | StatementType::ROLLBACK_WORK => Self::Ends,
            _ => Self::Unchanged,
        }
    }
}

/// What a group of the server has said so far.
#[derive(Debug, Default)]
struct Reply {
    error: Option<SqlError>,
    done: Option<Done>,
    inserted: Option<InsertDone>,
    /// How many `SQ_DONE` came: one for each execution.
    count: u64,
    affected: i64,
    prepared: Option<Prepared>,
    protocols: Option<Capabilities>,
    challenge: Option<(i16, Vec<u8>)>,
    admitted: bool,
    blob: Vec<u8>,
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
        Ok(Self {
            decoder: Decoder::new(),
            output,
            sent: 0,
            operation: Operation::Connect(Box::new(Connect::new(options))),
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
            eof: false,
            closed: false,
        })
    }

    /// Answers [`Event::Challenge`].
    pub fn answer(&mut self, text: &[u8]) -> Result<(), Misuse> {
        match &mut self.operation {
            Operation::Connect(connect) if connect.phase == Phase::Answer => connect.phase = Phase::Pam,
            _ => return Err(self.not_now()),
        }
        Ok(self.ask(&[ClientMessage::PamResponse(text)])?)
    }

    /// Prepares SQL with so many `?`. Event: [`Event::Prepared`].
    pub fn prepare(&mut self, sql: &[u8], params: u16) -> Result<(), Misuse> {
        self.ready()?;
        let kept = self.kept.remove(sql);
        let sql: Arc<[u8]> = sql.into();
        if let Some(prepared) = kept {
            self.kept_order.retain(|key| **key != *sql);
            self.operation = Operation::Described(Running { prepared, sql, params, reused: true });
            return Ok(());
        }
        Ok(self.send_prepare(sql, params)?)
    }

    fn send_prepare(&mut self, sql: Arc<[u8]>, params: u16) -> Result<(), TooLong> {
        let text = SqlText { params, sql: &sql };
        self.ask(&[ClientMessage::Prepare(text), ClientMessage::NDescribe, ClientMessage::WantDone])?;
        let key = (self.keep > 0).then(|| Box::from(&sql[..]));
        self.operation = Operation::Prepare { key, sql, params };
        Ok(())
    }

    /// Runs the statement of [`Event::Prepared`]; when `begin` is true and no transaction is under way, after beginning
    /// one. Events: for a query [`Event::Row`]s, in any case [`Event::Done`].
    pub fn run(&mut self, parameters: &Params, begin: bool) -> Result<(), Misuse> {
        let Operation::Described(running) = &self.operation else { return Err(self.not_now()) };
        let running = running.clone();
        let prepared = &running.prepared;
        let begin = begin && Transaction::of(prepared.statement_type) == Transaction::Unchanged;
        let widths = self.decoder.widths();
        let id = ClientMessage::Id(prepared.statement);
        let mut bytes = Vec::new();
        id.encode(&mut bytes, widths)?;
        if prepared.is_query() {
            self.cursors += 1;
            let name = format!("rowferry{:08x}", self.cursors);
            ClientMessage::CursorName(name.as_bytes()).encode(&mut bytes, widths)?;
            parameters.append_to(&mut bytes);
            ClientMessage::Open.encode(&mut bytes, widths)?;
            id.encode(&mut bytes, widths)?;
            ClientMessage::NFetch(NFetch { buffer: self.fetch_bytes, reserved: 0 }).encode(&mut bytes, widths)?;
        } else {
            parameters.append_to(&mut bytes);
            ClientMessage::Execute.encode(&mut bytes, widths)?;
        }
        ClientMessage::Eot.encode(&mut bytes, widths)?;
        self.send(bytes, Operation::Run(running), begin);
        Ok(())
    }

    /// Runs the statement of [`Event::Prepared`] once for each row of parameters that [`batch`](Self::batch) is given.
    /// Events: [`Event::BatchReady`] whenever rows can be given, at the end [`Event::Done`] with the sum of all rows.
    ///
    /// When a row fails, those before it have been executed, and neither it nor any behind it.
    pub fn start_batch(&mut self, begin: bool) -> Result<(), Misuse> {
        match std::mem::replace(&mut self.operation, Operation::None) {
            Operation::Described(Running { prepared, .. }) => {
                self.operation = Operation::Batch(Batch {
                    prepared,
                    sent: 0,
                    done: 0,
                    rows: 0,
                    serial: 0,
                    next: Vec::new(),
                    collected: 0,
                    ended: false,
                    begin,
                });
                Ok(())
            }
            other => {
                self.operation = other;
                Err(self.not_now())
            }
        }
    }

    /// Adds a row to the batch; true when another one may follow at once.
    pub fn batch(&mut self, parameters: &Params) -> Result<bool, Misuse> {
        let widths = self.decoder.widths();
        let Operation::Batch(batch) = &mut self.operation else { return Err(Misuse::Busy) };
        parameters.append_to(&mut batch.next);
        ClientMessage::Execute.encode(&mut batch.next, widths)?;
        batch.collected += 1;
        Ok(!batch.is_full())
    }

    /// No more rows follow.
    pub fn end_batch(&mut self) -> Result<(), Misuse> {
        let Operation::Batch(batch) = &mut self.operation else { return Err(Misuse::Busy) };
        batch.ended = true;
        Ok(())
    }

    /// Gives up the statement of [`Event::Prepared`], or the rows of a batch that were not sent yet. A batch goes on to
    /// its [`Event::Done`]; after [`Event::Prepared`] the connection is idle at once.
    pub fn abandon(&mut self) {
        match &mut self.operation {
            Operation::Described(running) => {
                let prepared = Arc::clone(&running.prepared);
                self.operation = Operation::None;
                self.keep_or_release(prepared);
            }
            Operation::Batch(batch) => {
                batch.next.clear();
                batch.collected = 0;
                batch.ended = true;
            }
            _ => {}
        }
    }

    /// Fetches more rows of an open cursor. Events: [`Event::Row`]s, then [`Event::Done`].
    pub fn fetch(&mut self, prepared: &Arc<Prepared>) -> Result<(), Misuse> {
        self.ready()?;
        let fetch = NFetch { buffer: self.fetch_bytes, reserved: 0 };
        self.ask(&[ClientMessage::Id(prepared.statement), ClientMessage::NFetch(fetch)])?;
        self.operation = Operation::Fetch { prepared: Arc::clone(prepared) };
        Ok(())
    }

    /// Fetches the `BYTE` or `TEXT` value of a descriptor in a row of an open cursor. Event: [`Event::Blob`].
    pub fn fetch_blob(&mut self, prepared: &Prepared, descriptor: SimpleLob<'_>) -> Result<(), Misuse> {
        self.ready()?;
        let size = usize::try_from(descriptor.size()).unwrap_or(0);
        // Before the clean-up, which may close this very cursor.
        let widths = self.decoder.widths();
        let mut bytes = Vec::new();
        ClientMessage::Id(prepared.statement).encode(&mut bytes, widths)?;
        ClientMessage::FetchBlob(descriptor.0).encode(&mut bytes, widths)?;
        ClientMessage::Eot.encode(&mut bytes, widths)?;
        self.output.extend_from_slice(&bytes);
        self.awaited.push_back(Awaited::Operation);
        self.operation = Operation::Blob { size };
        Ok(())
    }

    /// Closes a cursor that has more rows. It is sent with the next operation, so it may be called at any time.
    pub fn close(&mut self, prepared: &Arc<Prepared>) {
        if !self.closed {
            self.close_cursor(prepared.statement);
            self.keep_or_release(Arc::clone(prepared));
        }
    }

    /// Begins a transaction. Event: [`Event::Done`].
    pub fn begin(&mut self) -> Result<(), Misuse> {
        self.simple(&[ClientMessage::Begin], Transaction::Begins)
    }

    /// Commits. Event: [`Event::Done`].
    pub fn commit(&mut self) -> Result<(), Misuse> {
        self.simple(&[ClientMessage::Commit], Transaction::Ends)
    }

    /// Rolls back. Event: [`Event::Done`].
    pub fn rollback(&mut self) -> Result<(), Misuse> {
        self.simple(&[ClientMessage::Rollback(0)], Transaction::Ends)
    }

    /// Sets a savepoint. Event: [`Event::Done`].
    pub fn set_savepoint(&mut self, name: &[u8]) -> Result<(), Misuse> {
        self.simple(&[ClientMessage::SetSavepoint(SetSavepoint { name, unique: 0 })], Transaction::Unchanged)
    }

    /// Rolls back to a savepoint. Event: [`Event::Done`].
    pub fn rollback_to_savepoint(&mut self, name: &[u8]) -> Result<(), Misuse> {
        self.simple(&[ClientMessage::RollbackToSavepoint(name)], Transaction::Unchanged)
    }

    /// Releases a savepoint. Event: [`Event::Done`].
    pub fn release_savepoint(&mut self, name: &[u8]) -> Result<(), Misuse> {
        self.simple(&[ClientMessage::ReleaseSavepoint(name)], Transaction::Unchanged)
    }

    /// Asks whether the server is there. Event: [`Event::Done`].
    pub fn ping(&mut self) -> Result<(), Misuse> {
        self.simple(&[ClientMessage::Version], Transaction::Unchanged)
    }

    /// Says good bye. Event: [`Event::Done`], after which the connection is closed.
    pub fn exit(&mut self) -> Result<(), Misuse> {
        self.ready()?;
        self.flush_cleanup();
        ClientMessage::Exit.encode(&mut self.output, Widths::default())?;
        self.awaited.push_back(Awaited::Operation);
        self.operation = Operation::Exit;
        Ok(())
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
                return Ok(Step::Row);
            }
            ServerMessage::Eot => return self.end_of_group(),
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
                    reply.prepared = Some(Prepared::of(&describe, widths, key.take())?);
                }
            }
            ServerMessage::Protocols(mask) => reply.protocols = Some(mask),
            ServerMessage::Challenge(challenge) => {
                reply.challenge = Some((challenge.style.0, challenge.text.to_vec()));
            }
            ServerMessage::PamAccept => reply.admitted = true,
            ServerMessage::Blob(chunk) => match self.operation {
                Operation::Blob { size } if reply.blob.len() + chunk.len() <= size => {
                    reply.blob.extend_from_slice(chunk);
                }
                Operation::Blob { .. } => {
                    return Err(Failure::Unexpected { state: "fetching a value", got: "more than its size" });
                }
                _ => return Err(Failure::Unexpected { state: self.operation.name(), got: "SQ_BLOB" }),
            },
            // Estimates, news of the transaction and of cursors, a version: nothing to act on.
            ServerMessage::Cost(_)
            | ServerMessage::XactStat(_)
            | ServerMessage::Close
            | ServerMessage::Version(_)
            | ServerMessage::TupId(_) => {}
            ServerMessage::File(_) => return Err(Failure::Unsupported("files of the client for the server")),
            other => return Err(Failure::Unexpected { state: self.operation.name(), got: name_of(&other) }),
        }
        Ok(Step::Again)
    }

    fn step_login(&mut self) -> Result<Step, Failure> {
        let Some(reply) = self.decoder.login_reply()? else {
            return if self.eof { Err(Failure::Closed) } else { Ok(Step::Event(Event::Pending)) };
        };
        self.awaited.clear();
        let result = reply.result().cloned().unwrap_or_default();
        if let Some(detail) = reply.redirect() {
            self.closed = true;
            return Ok(Step::Event(Event::Redirect(detail.to_vec())));
        }
        if reply.kind != PacketType::ACCEPT || result.service_error != 0 {
            self.closed = true;
            let token = result.messages.into_iter().map(|(_, text)| text).next().unwrap_or_default();
            return Ok(Step::Event(Event::Error(SqlError {
                sqlcode: if result.service_error == 0 { LOGIN_REFUSED } else { result.service_error },
                token,
                ..SqlError::default()
            })));
        }
        if reply.levels[0] != CAPABILITY_LEVEL {
            return Err(Failure::Unsupported("servers without capability negotiation"));
        }
        self.session.server_version = reply.version;
        self.session.server_name = reply.server;
        let Operation::Connect(connect) = &mut self.operation else { return Ok(Step::Again) };
        connect.phase = Phase::Protocols;
        let offer = connect.options.offer.clone();
        self.must(|client| client.ask(&[ClientMessage::Protocols(offer)]))?;
        Ok(Step::Again)
    }

    /// Sends or finishes a batch of which no group is under way.
    fn step_batch(&mut self) -> Result<Step, Failure> {
        let widths = self.decoder.widths();
        let Operation::Batch(batch) = &mut self.operation else { return Ok(Step::Again) };
        if !batch.ended && !batch.is_full() {
            return Ok(Step::Event(Event::BatchReady));
        }
        if batch.collected == 0 {
            let outcome = Outcome { rows: batch.rows, serial: batch.serial, more: false };
            let prepared = Arc::clone(&batch.prepared);
            self.operation = Operation::None;
            self.keep_or_release(prepared);
            return Ok(Step::Event(Event::Done(outcome)));
        }
        let mut bytes = Vec::with_capacity(batch.next.len() + 8);
        let encoded = ClientMessage::Id(batch.prepared.statement).encode(&mut bytes, widths);
        bytes.append(&mut batch.next);
        let encoded = encoded.and_then(|()| ClientMessage::Eot.encode(&mut bytes, widths));
        if encoded.is_err() {
            return Err(Failure::Unsupported("a batch of this size"));
        }
        batch.sent = std::mem::take(&mut batch.collected);
        let begin = std::mem::take(&mut batch.begin);
        let operation = std::mem::replace(&mut self.operation, Operation::None);
        self.send(bytes, operation, begin);
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

    fn end_of_group(&mut self) -> Result<Step, Failure> {
        let mut reply = std::mem::take(&mut self.reply);
        match self.awaited.pop_front() {
            Some(Awaited::Cleanup) | None => return Ok(Step::Again),
            Some(Awaited::Operation) => {}
        }
        let error = reply.error.take();
        let outcome = Outcome { rows: reply.done.map_or(0, |done| done.rows), serial: serial_of(&reply), more: false };
        match std::mem::replace(&mut self.operation, Operation::None) {
            Operation::Connect(connect) => self.connected_further(connect, reply, error),
            Operation::Prepare { sql, params, .. } => match (error, reply.prepared) {
                (Some(error), _) => Ok(Step::Event(Event::Error(error))),
                (None, Some(prepared)) => {
                    let running = Running { prepared: Arc::new(prepared), sql, params, reused: false };
                    self.operation = Operation::Described(running);
                    Ok(Step::Again)
                }
                (None, None) => Err(Failure::Unexpected { state: "preparing", got: "the end without a description" }),
            },
            Operation::Begin { then, next } => match error {
                Some(error) if NO_TRANSACTIONS.contains(&error.sqlcode) => {
                    self.session.logged = false;
                    self.go_on(then, *next)
                }
                Some(error) if error.sqlcode != ALREADY_IN_TRANSACTION => {
                    if let Some(prepared) = next.prepared() {
                        self.release(prepared.statement);
                    }
                    Ok(Step::Event(Event::Error(error)))
                }
                _ => {
                    self.session.in_transaction = true;
                    self.go_on(then, *next)
                }
            },
            Operation::Run(running) => self.ran(running, error, outcome, reply.done.is_some()),
            Operation::Batch(mut batch) => {
                if let Some(mut error) = error {
                    error.row = Some(batch.done + reply.count);
                    self.release(batch.prepared.statement);
                    return Ok(Step::Event(Event::Error(error)));
                }
                if reply.count != batch.sent {
                    return Err(Failure::Unexpected { state: "running a batch", got: "another number of results" });
                }
                batch.done += std::mem::take(&mut batch.sent);
                batch.rows = batch.rows.saturating_add(reply.affected);
                batch.serial = outcome.serial;
                self.operation = Operation::Batch(batch);
                Ok(Step::Again)
            }
            Operation::Fetch { prepared } => match error {
                Some(error) => {
                    self.close_cursor(prepared.statement);
                    self.release(prepared.statement);
                    Ok(Step::Event(Event::Error(error)))
                }
                None => Ok(self.fetched(prepared, outcome, reply.done.is_some())),
            },
            Operation::Blob { size } => match error {
                Some(error) => Ok(Step::Event(Event::Error(error))),
                None if reply.blob.len() == size => Ok(Step::Event(Event::Blob(reply.blob))),
                None => Err(Failure::Unexpected { state: "fetching a value", got: "less than its size" }),
            },
            Operation::Simple(transaction) => {
                if let Some(error) = error {
                    return Ok(Step::Event(Event::Error(error)));
                }
                self.session.apply(transaction);
                Ok(Step::Event(Event::Done(outcome)))
            }
            Operation::Exit => {
                self.closed = true;
                Ok(Step::Event(Event::Done(outcome)))
            }
            operation @ (Operation::None | Operation::Described(_)) => {
                self.operation = operation;
                Err(Failure::Unexpected { state: "nothing was asked", got: "the end of a group" })
            }
        }
    }

    /// The next thing to do after a group of the server while connecting.
    fn connected_further(
        &mut self,
        mut connect: Box<Connect>,
        reply: Reply,
        error: Option<SqlError>,
    ) -> Result<Step, Failure> {
        if let Some(error) = error {
            self.closed = true;
            return Ok(Step::Event(Event::Error(error)));
        }
        match connect.phase {
            Phase::Protocols => {
                let mask = reply
                    .protocols
                    .ok_or(Failure::Unexpected { state: "negotiating capabilities", got: "the end without any" })?;
                let pam = mask.has(Capability::PAM);
                self.session.capabilities = connect.options.offer.and(&mask);
                self.session.server_capabilities = mask;
                self.decoder.activate(&self.session.capabilities);
                if !self.session.capabilities.has(Capability::LARGE_FETCH_BUFFER) {
                    self.fetch_bytes = self.fetch_bytes.min(i32::from(i16::MAX));
                }
                if pam {
                    connect.phase = Phase::Pam;
                    self.must(|client| client.ask(&[ClientMessage::PamAck]))?;
                    self.operation = Operation::Connect(connect);
                    return Ok(Step::Again);
                }
                self.set_up(connect)
            }
            Phase::Pam => {
                if reply.admitted {
                    return self.set_up(connect);
                }
                let Some((style, text)) = reply.challenge else {
                    return Err(Failure::Unexpected { state: "authenticating", got: "the end without a question" });
                };
                connect.phase = Phase::Answer;
                self.operation = Operation::Connect(connect);
                Ok(Step::Event(Event::Challenge { style, text }))
            }
            Phase::Environment if connect.options.database.is_some() => {
                connect.phase = Phase::Database;
                self.operation = Operation::Connect(connect);
                Ok(Step::Again)
            }
            Phase::Database | Phase::Environment => {
                if let Some(done) = reply.done {
                    self.session.database_warnings = done.warnings;
                    self.session.logged = done.warnings & warning::LOGGED != 0;
                }
                Ok(Step::Event(Event::Connected))
            }
            Phase::Accept | Phase::Answer => {
                Err(Failure::Unexpected { state: "connecting", got: "the end of a group" })
            }
        }
    }

    fn set_up(&mut self, mut connect: Box<Connect>) -> Result<Step, Failure> {
        connect.phase = Phase::Environment;
        let widths = self.decoder.widths();
        let replies = connect.setup(&mut self.output, widths);
        let replies = replies.map_err(|_| Failure::Unsupported("an environment of this size"))?;
        self.awaited.extend(std::iter::repeat_n(Awaited::Operation, replies));
        self.operation = Operation::Connect(connect);
        Ok(Step::Again)
    }

    /// A statement was run.
    fn ran(
        &mut self,
        running: Running,
        error: Option<SqlError>,
        outcome: Outcome,
        ended: bool,
    ) -> Result<Step, Failure> {
        let prepared = running.prepared;
        if let Some(error) = error {
            if prepared.is_query() {
                self.close_cursor(prepared.statement);
            }
            self.release(prepared.statement);
            if running.reused && STALE.contains(&error.sqlcode) {
                self.forget_kept();
                self.must(|client| client.send_prepare(running.sql, running.params))?;
                return Ok(Step::Again);
            }
            return Ok(Step::Event(Event::Error(error)));
        }
        if prepared.is_query() {
            return Ok(self.fetched(prepared, outcome, ended));
        }
        self.session.apply(Transaction::of(prepared.statement_type));
        if statement::changes_schema(prepared.statement_type) {
            self.forget_kept();
        }
        self.keep_or_release(prepared);
        Ok(Step::Event(Event::Done(outcome)))
    }

    /// A fetch is over; when it was the last, so is the cursor.
    fn fetched(&mut self, prepared: Arc<Prepared>, outcome: Outcome, ended: bool) -> Step {
        if ended && !prepared.has_lobs() {
            self.close_cursor(prepared.statement);
            self.keep_or_release(prepared);
        }
        Step::Event(Event::Done(Outcome { more: !ended, ..outcome }))
    }

    fn go_on(&mut self, then: Vec<u8>, next: Operation) -> Result<Step, Failure> {
        self.output.extend_from_slice(&then);
        self.awaited.push_back(Awaited::Operation);
        self.operation = next;
        Ok(Step::Again)
    }

    /// Sends the group of an operation, after `SQ_BEGIN` and its answer if one is wanted.
    fn send(&mut self, bytes: Vec<u8>, operation: Operation, begin: bool) {
        self.flush_cleanup();
        if begin && self.session.logged && !self.session.in_transaction {
            Writer::new(&mut self.output).u16(Tag::BEGIN.0).u16(Tag::EOT.0);
            self.operation = Operation::Begin { then: bytes, next: Box::new(operation) };
        } else {
            self.output.extend_from_slice(&bytes);
            self.operation = operation;
        }
        self.awaited.push_back(Awaited::Operation);
    }

    fn simple(&mut self, messages: &[ClientMessage<'_>], transaction: Transaction) -> Result<(), Misuse> {
        self.ready()?;
        self.ask(messages)?;
        self.operation = Operation::Simple(transaction);
        Ok(())
    }

    /// Sends one group, after what waits for the next operation, and awaits its answer. On error nothing was sent.
    fn ask(&mut self, messages: &[ClientMessage<'_>]) -> Result<(), TooLong> {
        let widths = self.decoder.widths();
        let mut bytes = Vec::new();
        for message in messages {
            message.encode(&mut bytes, widths)?;
        }
        ClientMessage::Eot.encode(&mut bytes, widths)?;
        self.flush_cleanup();
        self.output.extend_from_slice(&bytes);
        self.awaited.push_back(Awaited::Operation);
        Ok(())
    }

    /// For messages of our own making, whose size is known to be right.
    fn must(&mut self, ask: impl FnOnce(&mut Self) -> Result<(), TooLong>) -> Result<(), Failure> {
        ask(self).map_err(|_| Failure::Unsupported("a message of this size"))
    }

    /// Keeps a statement for another execution, or releases it.
    fn keep_or_release(&mut self, prepared: Arc<Prepared>) {
        let Some(key) = prepared.key.clone().filter(|key| !self.kept.contains_key(key)) else {
            return self.release(prepared.statement);
        };
        self.kept_order.push_back(key.clone());
        self.kept.insert(key, prepared);
        while self.kept.len() > self.keep {
            let Some(oldest) = self.kept_order.pop_front() else { break };
            if let Some(prepared) = self.kept.remove(&oldest) {
                self.release(prepared.statement);
            }
        }
    }

    fn forget_kept(&mut self) {
        self.kept_order.clear();
        let kept: Vec<StatementId> = self.kept.drain().map(|(_, prepared)| prepared.statement).collect();
        kept.into_iter().for_each(|statement| self.release(statement));
    }

    fn close_cursor(&mut self, statement: StatementId) {
        self.clean_up(statement, Tag::CLOSE);
    }

    fn release(&mut self, statement: StatementId) {
        self.clean_up(statement, Tag::RELEASE);
    }

    fn clean_up(&mut self, statement: StatementId, tag: Tag) {
        Writer::new(&mut self.cleanup).u16(Tag::ID.0).i16(statement.0).u16(tag.0).u16(Tag::EOT.0);
        self.cleanup_groups += 1;
    }

    fn flush_cleanup(&mut self) {
        self.output.append(&mut self.cleanup);
        self.awaited.extend(std::iter::repeat_n(Awaited::Cleanup, std::mem::take(&mut self.cleanup_groups)));
    }

    const fn ready(&self) -> Result<(), Misuse> {
        match self.operation {
            _ if self.closed => Err(Misuse::Closed),
            Operation::None => Ok(()),
            Operation::Connect(_) => Err(Misuse::NotConnected),
            _ => Err(Misuse::Busy),
        }
    }

    /// Why a command that needs a certain state cannot be given in another.
    const fn not_now(&self) -> Misuse {
        match self.ready() {
            Err(misuse) => misuse,
            Ok(()) => Misuse::Busy,
        }
    }
}

impl Batch {
    fn is_full(&self) -> bool {
        self.next.len() >= Client::BATCH_BYTES
    }
}

impl Session {
    fn apply(&mut self, transaction: Transaction) {
        match transaction {
            Transaction::Unchanged => {}
            Transaction::Begins => self.in_transaction = true,
            Transaction::Ends => self.in_transaction = false,
        }
    }
}

impl Operation {
    fn prepared(&self) -> Option<&Arc<Prepared>> {
        match self {
            Self::Described(running) | Self::Run(running) => Some(&running.prepared),
            Self::Batch(batch) => Some(&batch.prepared),
            Self::Fetch { prepared } => Some(prepared),
            _ => None,
        }
    }

    const fn name(&self) -> &'static str {
        match self {
            Self::None => "nothing was asked",
            Self::Connect(_) => "connecting",
            Self::Prepare { .. } | Self::Described(_) => "preparing",
            Self::Begin { .. } => "beginning a transaction",
            Self::Run(_) => "running a statement",
            Self::Batch(_) => "running a batch",
            Self::Fetch { .. } | Self::Blob { .. } => "fetching",
            Self::Simple(_) => "an answer was awaited",
            Self::Exit => "leaving",
        }
    }
}

/// The value that an `INSERT` generated, of whichever serial type.
fn serial_of(reply: &Reply) -> i64 {
    let serial = reply.done.map_or(0, |done| i64::from(done.serial));
    let inserted = reply.inserted.unwrap_or_default();
    [serial, inserted.bigserial, inserted.serial8.unwrap_or(0)].into_iter().find(|&value| value != 0).unwrap_or(0)
}

const fn name_of(message: &ServerMessage<'_>) -> &'static str {
    match message {
        ServerMessage::Describe(_) => "SQ_DESCRIBE",
        ServerMessage::Tuple(_) => "SQ_TUPLE",
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
