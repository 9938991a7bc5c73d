//! The server's half of every conversation.
//!
//! [`poll`](Server::poll) the [`Server`] for what the client wants and answer by its methods; move its bytes by
//! [`rowferry_wire::Core`]. Answers gather until they are written. The order of things:
//!
//! ```text
//! greeting ──► StartTls? ──► Login ──► Password or Proof, when asked for ──► accept ──► Command, Command, …
//!                              ▲                                                          │
//!                              └────────────────────── CHANGE_USER ◄──────────────────────┘
//! ```

mod answers;
mod key;
mod login;

use std::sync::Arc;

use rowferry_wire::{Core, Malformed, Secret};

use crate::client::Failure;
use crate::compression::{Algorithm, Framing};
use crate::messages::command::Command;
use crate::messages::handshake::{ChangeUser, Handshake, HandshakeResponse, SslRequest, capability};
use crate::packet::{self, Inbox};

pub use answers::RowWriter;
pub use key::Key;

use login::Awaited;

/// What a client wants.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Request {
    /// TLS follows: take what has come already ([`Server::take_rest`]), set TLS up, call [`Server::tls_started`].
    StartTls,
    /// It says who it is. Ask for a proof, or [`accept`](Server::accept) or [`refuse`](Server::refuse) it.
    Login(Box<Login>),
    /// The password that was asked for.
    Password(Secret),
    /// What the client's plugin has made of what it was asked.
    Proof(Vec<u8>),
    /// A command, for [`Asked`](crate::messages::asked::Asked).
    Command(Command, Vec<u8>),
    /// A piece of the file that was asked for; an empty one is the end.
    File(Vec<u8>),
}

/// Who logs in.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Login {
    /// What the client says. At a change of the user, its head is that of the first login but for the collation.
    pub response: HandshakeResponse,
    /// Somebody was in before.
    pub is_again: bool,
}

/// Where the conversation is, with what it then needs.
#[derive(Debug)]
enum State {
    /// The greeting is out.
    Greeted,
    /// TLS is being set up.
    Tls,
    /// It is known who the client is; the caller decides what follows.
    Deciding(Login),
    /// The client was asked for a proof.
    Proving(Login, Awaited),
    /// Commands.
    Ready,
    /// The client sends a file.
    File,
    /// Nothing more is read.
    Over,
}

/// Compression in force.
#[derive(Debug)]
struct Compressed {
    framing: Framing,
    /// The number of the next frame out.
    number: u8,
}

/// The server's half of a connection.
#[derive(Debug)]
pub struct Server {
    inbox: Inbox,
    output: Vec<u8>,
    /// The output up to here is written.
    sent: usize,
    /// The output up to here is as it goes out; what follows waits for its frame.
    sealed: usize,
    /// The number of the next packet out.
    sequence: u8,
    state: State,
    greeting: Handshake,
    /// What both sides have.
    capabilities: u64,
    compressed: Option<Box<Compressed>>,
}

impl Server {
    /// A server that has just let a client in, and greets it. Messages of more than `limit` bytes are refused. What is
    /// not in the greeting's capabilities is never done.
    pub fn new(greeting: Handshake, limit: usize) -> Self {
        let mut payload = Vec::new();
        greeting.encode(&mut payload);
        let mut output = Vec::new();
        packet::put(&mut output, 0, &payload);
        let mut inbox = Inbox::with_step(limit, STEP);
        inbox.sequence = 1;
        Self {
            inbox,
            sealed: output.len(),
            output,
            sent: 0,
            sequence: 1,
            state: State::Greeted,
            greeting,
            capabilities: 0,
            compressed: None,
        }
    }

    /// What both sides have; nothing before the login.
    pub const fn capabilities(&self) -> u64 {
        self.capabilities
    }

    /// True when both sides have this.
    pub const fn has(&self, flag: u64) -> bool {
        self.capabilities & flag != 0
    }

    /// Turns a capability on or off that may change during a session.
    pub fn set_capability(&mut self, flag: u64, on: bool) {
        if on {
            self.capabilities |= flag;
        } else {
            self.capabilities &= !flag;
        }
    }

    /// What has come and was not looked at: before TLS, the beginning of its handshake.
    pub fn take_rest(&mut self) -> Vec<u8> {
        self.inbox.take_rest()
    }

    /// TLS stands.
    pub fn tls_started(&mut self) {
        if matches!(self.state, State::Tls) {
            self.state = State::Greeted;
        }
    }

    /// True when a part of a message has come.
    pub fn is_amid_message(&self) -> bool {
        self.inbox.waiting() > 0
            || self.inbox.joining
            || self.compressed.as_ref().is_some_and(|compressed| !compressed.framing.packed.unread().is_empty())
    }

    /// About how many bytes the message that is coming still lacks; 1 at least.
    pub fn missing(&self) -> usize {
        if self.compressed.is_some() { 1 } else { self.inbox.missing().max(1) }
    }

    /// The next request; `None` until more bytes have come, or the last one was decided. After a [`Failure`] nothing
    /// more is read; the client can be told.
    pub fn poll(&mut self) -> Result<Option<Request>, Failure> {
        let outcome = self.step();
        if outcome.is_err() {
            self.state = State::Over;
        }
        outcome
    }

    fn step(&mut self) -> Result<Option<Request>, Failure> {
        loop {
            if let State::Proving(_, awaited) = &mut self.state
                && let Some(known) = awaited.take_known()
            {
                self.decide();
                return Ok(Some(Request::Password(known)));
            }
            if matches!(self.state, State::Tls | State::Deciding(_) | State::Over) {
                return Ok(None);
            }
            let Some(place) = self.inbox.next()? else {
                let Some(compressed) = &mut self.compressed else { return Ok(None) };
                let Some(number) = compressed.framing.expand_next(&mut self.inbox.buffer)? else { return Ok(None) };
                // What was answered before belongs to frames of its own.
                if self.sealed < self.output.len() {
                    compressed.framing.seal(&mut self.output, self.sealed, compressed.number);
                    self.sealed = self.output.len();
                }
                compressed.number = number.wrapping_add(1);
                continue;
            };
            let payload = self.inbox.take(place);
            self.sequence = self.inbox.sequence;
            match std::mem::replace(&mut self.state, State::Over) {
                State::Greeted => return self.greeted(&payload).map(Some),
                State::Proving(login, awaited) => {
                    if let Some(request) = self.proved(login, awaited, payload)? {
                        return Ok(Some(request));
                    }
                }
                State::Ready => return self.command(payload).map(Some),
                State::File => {
                    let is_last = payload.is_empty();
                    self.state = if is_last { State::Ready } else { State::File };
                    if is_last {
                        self.inbox.sequence = 0;
                    }
                    return Ok(Some(Request::File(payload)));
                }
                State::Tls | State::Deciding(_) | State::Over => return Ok(None),
            }
        }
    }

    fn greeted(&mut self, payload: &[u8]) -> Result<Request, Failure> {
        if payload.len() == SSL_REQUEST && self.offers(capability::SSL) {
            let request = SslRequest::decode(payload)?;
            if request.capabilities & capability::SSL != 0 {
                self.state = State::Tls;
                return Ok(Request::StartTls);
            }
        }
        let response = HandshakeResponse::decode(payload)?;
        if response.head.capabilities & capability::PROTOCOL_41 == 0 {
            return Err(Failure::Unsupported("a client of the protocol before MySQL 4.1".into()));
        }
        self.capabilities = response.head.capabilities & self.greeting.capabilities;
        let login = Login { response, is_again: false };
        self.state = State::Deciding(login.clone());
        Ok(Request::Login(Box::new(login)))
    }

    fn command(&mut self, mut payload: Vec<u8>) -> Result<Request, Failure> {
        // The next command begins anew, whether or not this one is answered.
        self.inbox.sequence = 0;
        let code = Command(*payload.first().ok_or(Malformed::new("empty command"))?);
        if code != Command::CHANGE_USER {
            payload.remove(0);
            self.state = State::Ready;
            return Ok(Request::Command(code, payload));
        }
        let change = ChangeUser::decode(&payload[1..], self.capabilities)?;
        let head = SslRequest {
            capabilities: self.capabilities,
            max_packet: u32::MAX,
            collation: u8::try_from(change.collation).unwrap_or(0),
        };
        let response = HandshakeResponse {
            head,
            user: change.user,
            scramble: change.scramble,
            database: change.database,
            plugin: change.plugin,
            attributes: change.attributes,
            zstd_level: 0,
        };
        let login = Login { response, is_again: true };
        self.state = State::Deciding(login.clone());
        Ok(Request::Login(Box::new(login)))
    }

    const fn offers(&self, flag: u64) -> bool {
        self.greeting.capabilities & flag != 0
    }

    /// Compression begins behind the login, as the client has asked for it.
    fn compress(&mut self, login: &Login) {
        let algorithm = if self.has(capability::COMPRESS) {
            Algorithm::Zlib
        } else if self.has(capability::ZSTD) {
            Algorithm::Zstd { level: login.response.zstd_level.clamp(1, 22) }
        } else {
            return;
        };
        let mut framing = Framing::new(algorithm);
        // A client that does not wait has sent frames already.
        let rest = self.inbox.take_rest();
        framing.packed.space(rest.len())[..rest.len()].copy_from_slice(&rest);
        framing.packed.filled(rest.len());
        self.compressed = Some(Box::new(Compressed { framing, number: 0 }));
        self.inbox.is_numbered = false;
    }

    /// What was answered so far can go out.
    pub fn seal(&mut self) {
        if let Some(compressed) = &mut self.compressed
            && self.sealed < self.output.len()
        {
            compressed.number = compressed.framing.seal(&mut self.output, self.sealed, compressed.number);
        }
        self.sealed = self.output.len();
    }

    /// How many bytes of answers wait, as they were written.
    pub fn waiting(&self) -> usize {
        self.output.len() - self.sent
    }

    /// The key of a login's proof, which a proof without TLS needs.
    pub const fn nonce(&self) -> &[u8] {
        self.greeting.nonce.as_slice()
    }
}

/// The inbox grows in steps of this many bytes.
const STEP: usize = 16 * 1024;

/// An [`SslRequest`], in bytes.
const SSL_REQUEST: usize = 32;

/// A key that several sessions share.
pub type SharedKey = Arc<Key>;

impl Core for Server {
    fn receive_space(&mut self, least: usize) -> &mut [u8] {
        self.inbox.settle();
        match &mut self.compressed {
            Some(compressed) => compressed.framing.packed.space(least),
            None => self.inbox.buffer.space(least),
        }
    }

    fn received(&mut self, count: usize) {
        match &mut self.compressed {
            Some(compressed) => compressed.framing.packed.filled(count),
            None => self.inbox.buffer.filled(count),
        }
    }

    fn received_eof(&mut self) {}

    fn output(&self) -> &[u8] {
        let end = if self.compressed.is_some() { self.sealed } else { self.output.len() };
        &self.output[self.sent..end]
    }

    fn sent(&mut self, count: usize) {
        self.sent = (self.sent + count).min(self.output.len());
        if self.sent == self.output.len() {
            self.output.clear();
            self.output.shrink_to(KEEP);
            self.sent = 0;
            self.sealed = 0;
        }
    }
}

/// An output that has grown beyond this is given back once it was written.
const KEEP: usize = 256 * 1024;
