//! The server's half of the conversation.
//!
//! [`poll`](Server::poll) says what the client wants of the bytes in an [`Inbox`]; answers are methods, and gather in
//! [`output`](Server::output) until they are written. The order of things:
//!
//! ```text
//! StartTls? ──► Startup ──► a proof, when asked for ──► accept ──► ready ──► Query, FunctionCall ───────► ready
//!                                                                   ▲  ├───► Parse, Bind, Execute, … Sync ──┤
//!                                                                   │  └───► either, with a COPY amid it ───┤
//!                                                                   └───────────────────────────────────────┘
//! ```
//!
//! A command is answered before the next is read: between a [`Request::Query`] and [`Server::ready`], `poll` says nothing.
//! What the client breaks of the protocol is a [`Violation`].

mod answers;
mod inbox;
mod login;
mod texts;
mod violation;

use rowferry_wire::Malformed;

use crate::frame::{FrameLimits, HEADER, cut_frontend, missing};
use crate::messages::{
    Bind, CancelRequest, Execute, Frontend, FunctionCall, Parse, StartupMessage, Target, TransactionStatus,
};
use crate::scram::ScramError;

pub use inbox::Inbox;
pub use texts::{Texts, Utf8};
pub use violation::Violation;

use login::Login;

/// What a client wants.
#[derive(Clone, Debug, PartialEq)]
pub enum Request<'a> {
    /// To make a portal of a statement.
    Bind(Bind<'a>),
    /// That another session's statement is stopped. There is no answer, and nothing more is read.
    Cancel(CancelRequest<'a>),
    /// To forget a statement or a portal.
    Close(Target<'a>),
    /// A piece of the data that [`Server::copy_in`] has asked for.
    CopyData(&'a [u8]),
    /// The data are complete.
    CopyDone,
    /// The data cannot be completed, and why.
    CopyFail(&'a [u8]),
    /// To know what a statement or a portal is.
    Describe(Target<'a>),
    /// To run a portal.
    Execute {
        /// Which, and how far.
        execute: Execute<'a>,
        /// The series is known to end behind it.
        is_last: bool,
    },
    /// What was answered so far.
    Flush,
    /// To call a function by its oid. [`Server::ready`] ends the answer.
    FunctionCall(FunctionCall<'a>),
    /// To prepare a statement.
    Parse(Parse<'a>),
    /// The password that [`Server::ask_password`] has asked for.
    Password(&'a [u8]),
    /// What its answer to [`Server::challenge`] is worth. A right one has had its own answer.
    Proof(Result<(), ScramError>),
    /// To run statements. [`Server::ready`] ends the answer.
    Query(&'a [u8]),
    /// To be challenged, which [`Server::ask_scram`] has offered: its first message.
    Scram(&'a [u8]),
    /// TLS: [`Server::begin_tls`] or [`Server::refuse_tls`].
    StartTls,
    /// To come in. Ask for a proof, or [`accept`](Server::accept) or [`refuse`](Server::fatal) it.
    Startup(StartupMessage<'a>),
    /// To end a series. [`Server::ready`] is the answer.
    Sync,
    /// To go.
    Terminate,
}

/// What a COPY is a part of.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Part {
    /// A simple query.
    Query,
    /// A series of the extended query.
    Series,
}

impl Part {
    /// Where the conversation is behind it.
    const fn rest(self) -> State {
        match self {
            Self::Query => State::Command,
            Self::Series => State::Series,
        }
    }

    /// Where the conversation is when it has failed.
    const fn failed(self) -> State {
        match self {
            Self::Query => State::Command,
            Self::Series => State::Skipping,
        }
    }
}

/// Where the conversation is, with what it then needs.
#[derive(Debug)]
enum State {
    /// The client is not in yet.
    Login(Box<Login>),
    /// It was told that the server is ready, and has begun no command since.
    Idle(TransactionStatus),
    /// What it was told to be ready behind is being answered: a simple query, a function call, the end of a series.
    Command,
    /// In a series of the extended query, which Sync ends.
    Series,
    /// An error has ended the series: what comes up to Sync is passed over.
    Skipping,
    /// The client sends the data of a COPY.
    CopyIn(Part),
    /// The client is sent the data of a COPY.
    CopyOut(Part),
    /// Nothing more is read.
    Closed,
}

/// The server's half of a connection, which writes texts as `T` does.
#[derive(Debug)]
pub struct Server<T = Utf8> {
    state: State,
    /// What a message may measure once the client is in.
    limits: FrameLimits,
    output: Vec<u8>,
    /// The output up to here is written.
    sent: usize,
    texts: T,
}

impl<T: Texts> Server<T> {
    /// A server that awaits a client's first words. Messages of more than `limit` bytes are refused.
    pub fn new(limit: usize, texts: T) -> Self {
        Self {
            state: State::Login(Box::default()),
            limits: FrameLimits::session(limit),
            output: Vec::new(),
            sent: 0,
            texts,
        }
    }

    /// The next request; `None` until more bytes have come, or the last one was answered. What the last request borrowed
    /// is gone.
    ///
    /// # Errors
    /// Behind a violation that [is fatal](Violation::is_fatal) nothing more is read; the client can be told. Behind any
    /// other it must be told, by [`error`](Server::error), and the conversation goes on.
    pub fn poll<'i>(&mut self, inbox: &'i mut Inbox) -> Result<Option<Request<'i>>, Violation> {
        inbox.settle();
        loop {
            match &mut self.state {
                State::Login(login) => {
                    let outcome = login.poll(inbox, &mut self.output);
                    if matches!(outcome, Err(_) | Ok(Some(Request::Cancel(_) | Request::Terminate))) {
                        self.state = State::Closed;
                    }
                    return outcome;
                }
                State::Command | State::CopyOut(_) | State::Closed => return Ok(None),
                State::Idle(_) | State::Series | State::Skipping | State::CopyIn(_) => {}
            }
            let (tag, len) = match cut_frontend(inbox.unread(), self.limits) {
                Ok(Some(frame)) => (frame.tag, frame.len),
                Ok(None) => return Ok(None),
                Err(error) => {
                    self.state = State::Closed;
                    return Err(Violation::Frame(error));
                }
            };
            if self.passes_over(tag, &inbox.unread()[HEADER..len]) {
                inbox.consume(len);
                continue;
            }
            let behind = inbox.unread().get(len).copied();
            return self.handle(tag, inbox.lend(len), behind).map(Some);
        }
    }

    /// True for messages that mean nothing here.
    fn passes_over(&self, tag: u8, body: &[u8]) -> bool {
        match self.state {
            State::Skipping => !matches!(tag, b'S' | b'X' | b'p'),
            // The Sync that closes the command has often been sent with it.
            State::CopyIn(_) => matches!(tag, b'H' | b'S'),
            // After a COPY that failed the client may still be sending its data.
            _ => matches!(tag, b'c' | b'd' | b'f') && Frontend::decode(tag, body).is_ok(),
        }
    }

    /// Takes a message. `behind` is the tag of the one behind it, if that has come.
    fn handle<'f>(&mut self, tag: u8, body: &'f [u8], behind: Option<u8>) -> Result<Request<'f>, Violation> {
        let message = match Frontend::decode(tag, body) {
            // Whatever stands in it.
            _ if tag == b'X' => Frontend::Terminate,
            Ok(message) => message,
            Err(malformed) => return Err(self.misread(tag, malformed)),
        };
        if matches!(self.state, State::CopyIn(_)) {
            return match message {
                Frontend::CopyData(data) => Ok(Request::CopyData(data)),
                Frontend::CopyDone => Ok(Request::CopyDone),
                Frontend::CopyFail(why) => Ok(Request::CopyFail(why)),
                Frontend::Terminate => Ok(self.end()),
                _ => Err(Violation::AmidCopy { tag }),
            };
        }
        Ok(match message {
            Frontend::Query(sql) => self.begin(Request::Query(sql)),
            Frontend::FunctionCall(call) => self.begin(Request::FunctionCall(call)),
            Frontend::Sync => self.begin(Request::Sync),
            Frontend::Parse(parse) => self.go_on(Request::Parse(parse)),
            Frontend::Bind(bind) => self.go_on(Request::Bind(bind)),
            Frontend::Describe(target) => self.go_on(Request::Describe(target)),
            Frontend::Execute(execute) => self.go_on(Request::Execute { execute, is_last: behind == Some(b'S') }),
            // No command begins with these: a Flush for good measure, the close of a statement that waits for the next.
            Frontend::Close(target) => Request::Close(target),
            Frontend::Flush => Request::Flush,
            Frontend::Terminate => self.end(),
            Frontend::Password(_) | Frontend::CopyData(_) | Frontend::CopyDone | Frontend::CopyFail(_) => {
                self.state = State::Closed;
                return Err(Violation::Message { tag });
            }
        })
    }

    /// A command begins that `ready` ends.
    fn begin<'f>(&mut self, request: Request<'f>) -> Request<'f> {
        self.state = State::Command;
        request
    }

    /// A series begins, or goes on.
    fn go_on<'f>(&mut self, request: Request<'f>) -> Request<'f> {
        self.state = State::Series;
        request
    }

    fn end<'f>(&mut self) -> Request<'f> {
        self.state = State::Closed;
        Request::Terminate
    }

    /// A message makes no sense in itself. The simple query, the function call and Sync end by themselves; behind the others
    /// the error skips to Sync.
    fn misread(&mut self, tag: u8, malformed: Malformed) -> Violation {
        match (&self.state, tag) {
            (State::CopyIn(_), b'c' | b'd' | b'f') => {}
            (State::CopyIn(_), _) => return Violation::AmidCopy { tag },
            (_, b'Q' | b'F' | b'S') => self.state = State::Command,
            _ => self.state = State::Series,
        }
        Violation::Malformed(malformed)
    }

    /// True when the client waits for [`ready`](Server::ready).
    pub const fn awaits_ready(&self) -> bool {
        matches!(self.state, State::Command)
    }

    /// True when the client has been told that the server is ready, outside of a transaction, and has begun nothing since:
    /// it can be told what it did not ask for.
    pub const fn is_at_rest(&self) -> bool {
        matches!(self.state, State::Idle(TransactionStatus::IDLE))
    }

    /// About how many bytes the message that is coming still lacks; 1 at least.
    pub fn missing(&self, inbox: &Inbox) -> usize {
        match &self.state {
            // Its first packets have no tag.
            State::Login(login) if login.is_opening() => 1,
            _ => missing(inbox.unread()),
        }
    }

    /// How texts are written.
    pub const fn texts(&self) -> &T {
        &self.texts
    }

    /// Texts are written differently from now on.
    pub fn set_texts(&mut self, texts: T) {
        self.texts = texts;
    }

    /// Bytes that wait to be written.
    pub fn output(&self) -> &[u8] {
        &self.output[self.sent..]
    }

    /// The first `count` bytes of [`output`](Server::output) were written.
    pub fn sent(&mut self, count: usize) {
        self.sent = (self.sent + count).min(self.output.len());
        if self.sent == self.output.len() {
            self.output.clear();
            self.output.shrink_to(KEEP);
            self.sent = 0;
        }
    }
}

/// An output that has grown beyond this is given back once it was written.
const KEEP: usize = 256 * 1024;
