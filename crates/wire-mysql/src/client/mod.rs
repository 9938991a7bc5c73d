//! The client's half of every conversation.
//!
//! Command the [`Client`] ([`query`](Client::query), [`prepare`](Client::prepare), …), move its bytes by
//! [`rowferry_wire::Core`], and [`poll`](Client::poll) until the conversation's last event. Several commands may be
//! given before the first is answered: their conversations wait in line, and the server answers in order.

mod bulk;
mod connect;
mod failure;
mod local_file;
mod long_data;
mod metadata;
mod prepare;
mod replication;
mod results;
mod session;

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use rowferry_wire::{Core, Malformed, Secret};

use crate::compression::Framing;
use crate::messages::attributes::Attributes;
use crate::messages::command::Command;
use crate::messages::handshake::{Login, capability};
use crate::messages::resultset::Columns;
use crate::messages::statement::{Params, StatementId};
use crate::messages::status::{Ok as OkPacket, ServerError, status_flag};
use crate::packet::{self, HEADER, Inbox, MAX_PAYLOAD, Place};

pub use bulk::MOST_STATEMENTS;
pub use connect::{Compression, TlsPolicy};
pub use failure::{Failure, Misuse};
pub use session::{Session, SessionState};

use connect::{Connect, Greeted};
use metadata::ColumnCache;
use prepare::Prepare;
use results::Results;

/// Messages beyond this are refused; MySQL's own largest `max_allowed_packet`.
pub const MESSAGE_LIMIT: usize = 1 << 30;

/// How to introduce ourselves. See the fields for their defaults.
#[derive(Clone, Debug)]
pub struct Options {
    /// Who connects, with which password, to which database.
    pub login: Login,
    /// Whether to ask for TLS. Default: never.
    pub tls: TlsPolicy,
    /// The transport protects a password by itself, as a unix socket does. Default: no.
    pub secure_transport: bool,
    /// Capabilities beyond those that are always asked for; see [`capability`].
    pub capabilities: u64,
    /// The connection's collation. Default: 45, `utf8mb4_general_ci`, which every server knows.
    pub collation: u8,
    /// The largest packet that we take, as told to the server.
    pub max_packet: u32,
    /// What the program says of itself.
    pub attributes: Vec<(String, String)>,
    /// The server's RSA key in PEM, when known: it is then not asked for over the wire.
    pub server_public_key: Option<Vec<u8>>,
    /// Whether to compress. Default: no.
    pub compression: Compression,
    /// The passwords of the second and third factor, and the answers to further questions of the `dialog` plugin.
    pub more_passwords: Vec<Secret>,
    /// 32 fresh random bytes, for the padding of a password under RSA and for nonces.
    pub seed: [u8; 32],
}

impl Default for Options {
    fn default() -> Self {
        Self {
            login: Login::default(),
            tls: TlsPolicy::Never,
            secure_transport: false,
            capabilities: 0,
            collation: 45,
            max_packet: MAX_PAYLOAD as u32 + 1,
            attributes: Vec::new(),
            server_public_key: None,
            compression: Compression::default(),
            more_passwords: Vec::new(),
            seed: [0; 32],
        }
    }
}

/// A statement that the server has prepared.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// What to execute.
    pub statement: StatementId,
    /// How many `?` there are.
    pub params: usize,
    /// The columns of its rows, `None` for statements without.
    pub columns: Option<Arc<Columns>>,
}

/// What happened on the wire.
#[derive(Debug)]
pub enum Event<'a> {
    /// More bytes must come first.
    Pending,
    /// Write the output, set TLS up, then call [`Client::tls_started`].
    StartTls,
    /// We are in.
    Connected,
    /// A result without rows, or the answer to a command. `more` results follow.
    Done {
        /// What the server says.
        ok: OkPacket,
        /// Another result of the same command follows.
        more: bool,
    },
    /// A result with rows begins.
    Columns(Arc<Columns>),
    /// A row, to be walked by [`TextRow`](crate::messages::resultset::TextRow) or
    /// [`BinaryRow`](crate::messages::resultset::BinaryRow).
    Row(&'a [u8]),
    /// The rows are over. `more` results may follow.
    EndOfRows {
        /// What the server says; affected rows are 0.
        ok: OkPacket,
        /// Another result of the same command follows.
        more: bool,
    },
    /// The server asks for a file of the client by this name. It gets what [`Client::put_file`] is given until
    /// [`Client::end_file`], and answers then.
    LocalFile(Vec<u8>),
    /// A statement is prepared.
    Prepared(Prepared),
    /// The server refused; the conversation is over. While connecting, the connection is, too.
    Error(ServerError),
}

#[derive(Debug)]
enum Conversation {
    /// Packets of a binary log.
    Binlog,
    Simple,
    Results(Results),
    Prepare(Prepare),
}

#[derive(Debug)]
enum Phase {
    Connecting(Box<Connect>),
    Ready,
    Closed,
}

/// The client's half of a connection.
#[derive(Debug)]
pub struct Client {
    inbox: Inbox,
    output: Vec<u8>,
    sent: usize,
    phase: Phase,
    /// Each with the number of the first packet of its answer.
    queue: VecDeque<(u8, Conversation)>,
    session: Session,
    columns: ColumnCache,
    greeted: Greeted,
    /// What travels with statements; `None` where the server takes none.
    attributes: Option<Attributes>,
    /// The same, as it stands in front of a query's text.
    query_head: Vec<u8>,
    eof: bool,
    scratch: Vec<u8>,
    /// Compression, once it is in force.
    framing: Option<Box<Framing>>,
    /// What was wrong with the frames that came; the next poll tells.
    broken: Option<Malformed>,
}

/// What `step` hands out; a place instead of a slice, so that states can be changed while it is computed.
enum Outcome {
    Event(Event<'static>),
    Row(Place),
    Again,
}

impl Client {
    /// A client that waits for the server's greeting.
    pub fn new(options: Options) -> Self {
        Self {
            inbox: Inbox::new(MESSAGE_LIMIT),
            output: Vec::new(),
            sent: 0,
            phase: Phase::Connecting(Box::new(Connect::new(options))),
            queue: VecDeque::new(),
            session: Session::default(),
            columns: ColumnCache::default(),
            greeted: Greeted::default(),
            attributes: None,
            query_head: Vec::new(),
            eof: false,
            scratch: Vec::new(),
            framing: None,
            broken: None,
        }
    }

    /// TLS stands: goes on with the handshake that [`Event::StartTls`] interrupted.
    pub fn tls_started(&mut self) {
        if let Phase::Connecting(connect) = &mut self.phase {
            connect.tls_started(&mut self.output, &mut self.inbox.sequence);
        }
    }

    /// Sends SQL. Events: for each result [`Event::Done`], or [`Event::Columns`], rows and [`Event::EndOfRows`].
    pub fn query(&mut self, sql: &[u8]) -> Result<(), Misuse> {
        let head = std::mem::take(&mut self.query_head);
        let sent = self.command_behind(Command::QUERY, &head, sql, Conversation::Results(Results::new()));
        self.query_head = head;
        sent
    }

    /// Prepares SQL with `?` for values. Event: [`Event::Prepared`].
    pub fn prepare(&mut self, sql: &[u8]) -> Result<(), Misuse> {
        self.command(Command::STMT_PREPARE, sql, Conversation::Prepare(Prepare::new()))
    }

    /// Runs a prepared statement. Events as those of [`query`](Self::query), with binary rows. The number of values must
    /// be that of the statement's parameters: servers do not check it in all cases.
    pub fn execute(&mut self, statement: StatementId, params: &Params) -> Result<(), Misuse> {
        self.ready()?;
        let mut payload = std::mem::take(&mut self.scratch);
        payload.clear();
        params.encode_execute(statement, self.attributes.as_ref(), &mut payload);
        let following = self.put(&payload);
        self.scratch = payload;
        self.begin(following, Conversation::Results(Results::of(statement)));
        Ok(())
    }

    /// True when [`StatementId::LAST_PREPARED`] can be executed: a preparation and its first execution then travel
    /// together. When the preparation is refused, the execution is, too.
    pub fn executes_last_prepared(&self) -> bool {
        // Both came with MariaDB 10.2.
        self.session.has(capability::MARIADB_BULK)
    }

    /// True when the server takes attributes.
    pub fn takes_attributes(&self) -> bool {
        self.session.has(capability::QUERY_ATTRIBUTES)
    }

    /// Sends these attributes with every later query and execution; none where the server does not take any.
    pub fn set_attributes(&mut self, attributes: Attributes) {
        if self.takes_attributes() {
            self.put_attributes(attributes);
        }
    }

    fn put_attributes(&mut self, attributes: Attributes) {
        self.query_head.clear();
        attributes.encode_query(&mut self.query_head);
        self.attributes = Some(attributes);
    }

    /// Forgets a prepared statement. Nothing is answered.
    pub fn close_statement(&mut self, statement: StatementId) -> Result<(), Misuse> {
        self.ready()?;
        let mut payload = vec![Command::STMT_CLOSE.0];
        payload.extend_from_slice(&statement.0.to_le_bytes());
        self.put(&payload);
        self.columns.closed(statement);
        Ok(())
    }

    /// Asks whether the server is there. Event: [`Event::Done`].
    pub fn ping(&mut self) -> Result<(), Misuse> {
        self.command(Command::PING, &[], Conversation::Simple)
    }

    /// Forgets all session state but the login and the database. Event: [`Event::Done`].
    pub fn reset(&mut self) -> Result<(), Misuse> {
        self.columns.reset();
        self.command(Command::RESET_CONNECTION, &[], Conversation::Simple)
    }

    /// Logs in again, as `options` say, on the same connection; nothing must be awaited. All session state is gone then.
    /// Events as those of the first login, without TLS.
    pub fn change_user(&mut self, options: Options) -> Result<(), Misuse> {
        self.ready()?;
        if !self.queue.is_empty() {
            return Err(Misuse::Busy);
        }
        let (connect, payload) = Connect::again(options, &self.greeted, &self.session);
        self.inbox.sequence = self.put(&payload);
        self.columns.reset();
        self.session.state = SessionState { revision: self.session.state.revision + 1, ..SessionState::default() };
        self.phase = Phase::Connecting(Box::new(connect));
        Ok(())
    }

    /// Changes the default database. Event: [`Event::Done`].
    pub fn select_database(&mut self, name: &[u8]) -> Result<(), Misuse> {
        self.command(Command::INIT_DB, name, Conversation::Simple)
    }

    /// Says good bye. Nothing is answered; the connection is closed.
    pub fn quit(&mut self) -> Result<(), Misuse> {
        self.ready()?;
        self.put(&[Command::QUIT.0]);
        self.phase = Phase::Closed;
        Ok(())
    }

    /// The transport is gone or given up: every later poll fails, nothing more is sent.
    pub fn abandon(&mut self) {
        self.phase = Phase::Closed;
        self.output.clear();
        self.sent = 0;
    }

    /// How many bytes have come and are not looked at yet.
    pub fn backlog(&self) -> usize {
        self.inbox.waiting()
    }

    /// What the server has said about itself and the session.
    pub const fn session(&self) -> &Session {
        &self.session
    }

    /// True when no answer is awaited and the connection can be used.
    pub fn is_idle(&self) -> bool {
        matches!(self.phase, Phase::Ready) && self.queue.is_empty()
    }

    /// True once the connection cannot be used any more.
    pub const fn is_closed(&self) -> bool {
        matches!(self.phase, Phase::Closed)
    }

    /// How many commands still wait for (the rest of) their answer.
    pub fn awaited(&self) -> usize {
        self.queue.len()
    }

    /// The next event. After a [`Failure`] the connection is of no further use.
    pub fn poll(&mut self) -> Result<Event<'_>, Failure> {
        loop {
            match self.step() {
                Ok(Outcome::Again) => {}
                Ok(Outcome::Event(event)) => return Ok(event),
                Ok(Outcome::Row(place)) => return Ok(Event::Row(self.inbox.payload(place))),
                Err(failure) => {
                    self.phase = Phase::Closed;
                    return Err(failure);
                }
            }
        }
    }

    /// Hands the rows that have come to `visit` until it answers false: the fast way between
    /// [`Event::Columns`] and [`Event::EndOfRows`]. Whatever is not a whole row waits for [`poll`](Self::poll).
    ///
    /// The outcome is false when `visit` stopped it.
    pub fn visit_rows(&mut self, mut visit: impl FnMut(&[u8]) -> bool) -> bool {
        self.inbox.settle();
        let Some((_, Conversation::Results(Results { state: results::State::InRows, .. }))) = self.queue.front() else {
            return true;
        };
        if self.inbox.joining {
            // What comes next is the rest of a row.
            return true;
        }
        let deprecate_eof = self.session.has(capability::DEPRECATE_EOF);
        let unread = self.inbox.buffer.unread();
        let mut at = 0;
        let mut go_on = true;
        while let Some(&[a, b, c, sequence, first]) = unread[at..].first_chunk::<5>() {
            let len = u32::from_le_bytes([a, b, c, 0]) as usize;
            // Anything but an ordinary whole row is for `poll` to judge.
            if len == 0
                || len == MAX_PAYLOAD
                || (sequence != self.inbox.sequence && self.inbox.is_numbered)
                || unread.len() - at < HEADER + len
                || results::ends_rows(first, len, deprecate_eof)
            {
                break;
            }
            self.inbox.sequence = sequence.wrapping_add(1);
            go_on = visit(&unread[at + HEADER..at + HEADER + len]);
            at += HEADER + len;
            if !go_on {
                break;
            }
        }
        self.inbox.buffer.consume(at);
        go_on
    }

    /// The rows that have come, at most `most`, all at once: the bytes that hold them, and their places appended to
    /// `rows`. As [`visit_rows`](Self::visit_rows) otherwise. They stay where they are until the next call.
    pub fn take_rows(&mut self, most: usize, rows: &mut Vec<Range<usize>>) -> &[u8] {
        self.inbox.settle();
        let in_rows = matches!(
            self.queue.front(),
            Some((_, Conversation::Results(Results { state: results::State::InRows, .. })))
        );
        if !in_rows || self.inbox.joining {
            return &[];
        }
        let deprecate_eof = self.session.has(capability::DEPRECATE_EOF);
        let unread = self.inbox.buffer.unread();
        let mut at = 0;
        for _ in 0..most {
            let Some(&[a, b, c, sequence, first]) = unread[at..].first_chunk::<5>() else { break };
            let len = u32::from_le_bytes([a, b, c, 0]) as usize;
            // Anything but an ordinary whole row is for `poll` to judge.
            if len == 0
                || len == MAX_PAYLOAD
                || (sequence != self.inbox.sequence && self.inbox.is_numbered)
                || unread.len() - at < HEADER + len
                || results::ends_rows(first, len, deprecate_eof)
            {
                break;
            }
            self.inbox.sequence = sequence.wrapping_add(1);
            rows.push(at + HEADER..at + HEADER + len);
            at += HEADER + len;
        }
        self.inbox.lent = at;
        &self.inbox.buffer.unread()[..at]
    }

    fn step(&mut self) -> Result<Outcome, Failure> {
        if matches!(self.phase, Phase::Closed) {
            return Err(Failure::Closed);
        }
        if let Phase::Connecting(connect) = &self.phase
            && connect.awaits_tls()
        {
            return Ok(Outcome::Event(Event::Pending));
        }
        if self.was_left_unfinished() {
            self.finish();
            return Ok(Outcome::Event(Event::Error(bulk::interrupted())));
        }
        let Some(place) = self.inbox.next()? else {
            if let Some(broken) = self.broken.take() {
                return Err(broken.into());
            }
            if self.eof {
                return Err(Failure::Closed);
            }
            return Ok(Outcome::Event(Event::Pending));
        };
        if let Phase::Connecting(connect) = &mut self.phase {
            let payload = self.inbox.payload(place);
            let (start, number) = (self.output.len(), self.inbox.sequence);
            let mut sequence = number;
            let event = connect.handle(payload, &mut sequence, &mut self.output, &mut self.session)?;
            self.inbox.sequence = sequence;
            if let Some(framing) = &self.framing
                && self.output.len() > start
            {
                framing.seal(&mut self.output, start, number);
            }
            return Ok(match event {
                Event::Connected => {
                    if !connect.is_again() {
                        self.framing = connect.algorithm().map(|algorithm| Box::new(Framing::new(algorithm)));
                        self.inbox.is_numbered = self.framing.is_none();
                        self.greeted = connect.greeted_with();
                        if self.session.has(capability::QUERY_ATTRIBUTES) {
                            self.put_attributes(Attributes::default());
                        }
                    }
                    self.phase = Phase::Ready;
                    Outcome::Event(Event::Connected)
                }
                Event::Error(error) => {
                    self.phase = Phase::Closed;
                    Outcome::Event(Event::Error(error))
                }
                Event::Pending => Outcome::Again,
                other => Outcome::Event(other),
            });
        }
        let payload = self.inbox.payload(place);
        let first = *payload.first().ok_or(Malformed::new("empty message"))?;
        let Some((_, conversation)) = self.queue.front_mut() else {
            // Only the news that it is leaving may come from a server that was not asked.
            return Err(match ServerError::decode(payload) {
                Ok(error) => Failure::Unsupported(error.to_string()),
                Err(_) => Failure::Unexpected { state: "a command", got: first },
            });
        };
        if first == ServerError::HEADER {
            let error = ServerError::decode(payload)?;
            match conversation {
                Conversation::Results(results) => results.refused(&mut self.columns),
                Conversation::Prepare(_) => self.columns.not_prepared(),
                Conversation::Binlog | Conversation::Simple => {}
            }
            let uploading = self.is_uploading();
            self.finish();
            if uploading {
                // It does not wait for the end of the file, which it would take for a command.
                self.phase = Phase::Closed;
            }
            return Ok(Outcome::Event(Event::Error(error)));
        }
        let outcome = match conversation {
            Conversation::Simple => match first {
                // `COM_RESET_CONNECTION` and friends answer OK; some old servers answer EOF.
                OkPacket::HEADER => Outcome::Event(Event::Done {
                    ok: OkPacket::decode(payload, self.session.has(capability::SESSION_TRACK))?,
                    more: false,
                }),
                got => return Err(Failure::Unexpected { state: "OK", got }),
            },
            Conversation::Binlog => replication::handle(payload, place)?,
            Conversation::Results(results) => results.handle(payload, place, &self.session, &mut self.columns)?,
            Conversation::Prepare(prepare) => prepare.handle(payload, &self.session, &mut self.columns)?,
        };
        match &outcome {
            Outcome::Event(Event::Done { ok, more } | Event::EndOfRows { ok, more }) => {
                self.session.status = ok.status;
                if !ok.state.is_empty() {
                    self.session.state.apply(&ok.state)?;
                }
                if !more {
                    self.finish();
                }
            }
            Outcome::Event(Event::Prepared(_) | Event::Error(_)) => self.finish(),
            _ => {}
        }
        Ok(outcome)
    }

    fn ready(&self) -> Result<(), Misuse> {
        match self.phase {
            Phase::Ready => Ok(()),
            Phase::Connecting(_) => Err(Misuse::NotConnected),
            Phase::Closed => Err(Misuse::Closed),
        }
    }

    fn command(&mut self, command: Command, argument: &[u8], conversation: Conversation) -> Result<(), Misuse> {
        self.command_behind(command, &[], argument, conversation)
    }

    /// Sends a command with `head` in front of its argument.
    fn command_behind(
        &mut self,
        command: Command,
        head: &[u8],
        argument: &[u8],
        conversation: Conversation,
    ) -> Result<(), Misuse> {
        self.ready()?;
        let start = self.output.len();
        let mut following = 1;
        let len = 1 + head.len() + argument.len();
        if len < MAX_PAYLOAD {
            self.output.reserve(HEADER + len);
            self.output.extend_from_slice(&(len as u32).to_le_bytes()[..3]);
            self.output.extend_from_slice(&[0, command.0]);
            self.output.extend_from_slice(head);
            self.output.extend_from_slice(argument);
        } else {
            let mut payload = Vec::with_capacity(len);
            payload.push(command.0);
            payload.extend_from_slice(head);
            payload.extend_from_slice(argument);
            following = packet::put(&mut self.output, 0, &payload);
        }
        self.seal(start, 0);
        self.begin(following, conversation);
        Ok(())
    }

    /// Sends a command's payload and returns the number that follows.
    fn put(&mut self, payload: &[u8]) -> u8 {
        let start = self.output.len();
        let following = packet::put(&mut self.output, 0, payload);
        self.seal(start, 0);
        following
    }

    /// Compresses what stands in the output from `start` on, where compression is in force.
    fn seal(&mut self, start: usize, number: u8) {
        if let Some(framing) = &self.framing {
            framing.seal(&mut self.output, start, number);
        }
    }

    /// `following` is the number behind the last packet of the request, where its answer goes on.
    fn begin(&mut self, following: u8, conversation: Conversation) {
        if self.queue.is_empty() {
            self.inbox.sequence = following;
        }
        self.queue.push_back((following, conversation));
    }

    /// The front conversation is over; what comes next answers the one behind it.
    fn finish(&mut self) {
        self.queue.pop_front();
        self.inbox.sequence = self.queue.front().map_or(1, |(first, _)| *first);
    }
}

impl Core for Client {
    fn receive_space(&mut self, least: usize) -> &mut [u8] {
        self.inbox.settle();
        match &mut self.framing {
            Some(framing) => framing.packed.space(least),
            None => self.inbox.buffer.space(least),
        }
    }

    fn received(&mut self, count: usize) {
        match &mut self.framing {
            Some(framing) => {
                framing.packed.filled(count);
                if self.broken.is_none() {
                    self.broken = framing.expand(&mut self.inbox.buffer).err();
                }
            }
            None => self.inbox.buffer.filled(count),
        }
    }

    fn received_eof(&mut self) {
        self.eof = true;
    }

    fn output(&self) -> &[u8] {
        &self.output[self.sent..]
    }

    fn sent(&mut self, count: usize) {
        self.sent = (self.sent + count).min(self.output.len());
        if self.sent == self.output.len() {
            self.output.clear();
            self.sent = 0;
            self.output.shrink_to(64 * 1024);
        }
    }
}

const fn more_results(status: u16) -> bool {
    status & status_flag::MORE_RESULTS != 0
}
