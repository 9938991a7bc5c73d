//! The server's half of the conversation.
//!
//! The client's messages come in *groups*, each answered by one group. [`Decoder`] cuts messages;
//! [`handle`](Server::handle) makes requests of them, which are answered by methods that append to
//! [`output`](Server::output); a row's cells are encoded by [`values::CellFormat`](crate::values::CellFormat). The order of
//! things:
//!
//! ```text
//! login packet ──► accept ──► Question ──► ask ──► Answer ──► accept_answer      (with PAM)
//!                    │                      ▲_________│            │
//!                    └──► Message, Call, Value, … ◄────────────────┘
//!                           ▲      │
//!                           │   EndOfGroup ──► end_group
//!                           └──────┘   or, for the client's files: await_turn ──► Turn ──► ask_file ──► File ──► … end_group
//! ```
//!
//! ```
//! use rowferry_wire_sqli::Capabilities;
//! use rowferry_wire_sqli::login::LoginReply;
//! use rowferry_wire_sqli::messages::{ClientMessage, Done, ServerMessage};
//! use rowferry_wire_sqli::server::{Decoder, Request, Server};
//!
//! let mut server = Server::new(Capabilities::server_15());
//! server.accept(&LoginReply::accept(b"Informix", b"serial", b"here", 0))?;
//! server.sent(server.output().len());
//! let mut decoder = Decoder::new();
//! decoder.push(&[0x00, 0x23, 0x00, 0x0c]);
//! while let Some(message) = decoder.next()? {
//!     match server.handle(message)? {
//!         Some(Request::Message(ClientMessage::Begin)) => server.put(&ServerMessage::Done(Done::default()))?,
//!         Some(Request::EndOfGroup) => server.end_group(),
//!         other => unreachable!("only those two were sent, and not {other:?}"),
//!     }
//! }
//! assert!(server.output().ends_with(&[0x00, 0x0c]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod answers;
mod asking;
mod violation;

use crate::messages::{ClientMessage, LoAction, LoReply, Param, ServerMessage};
use crate::{Capabilities, Widths};

pub use violation::Violation;

use asking::Asking;

/// Reads what a client sends.
pub type Decoder = crate::Decoder<crate::FromClient>;

/// The largest value that arrives in chunks, in bytes.
pub const MAX_OBJECT: usize = 1 << 30;

/// What a client wants.
#[derive(Clone, Debug, PartialEq)]
pub enum Request<'a> {
    /// Its answer to [`Server::ask`]: ask again, [accept](Server::accept_answer) or [refuse](Server::refuse) it.
    Answer(Vec<u8>),
    /// To call a routine.
    Call {
        /// By the handle that it was told.
        handle: i32,
        /// With these arguments.
        params: Vec<Param<'a>>,
    },
    /// The answer of its group: [`Server::end_group`].
    EndOfGroup,
    /// To go: [`Server::exit`].
    Exit,
    /// What [`Server::ask_files`] has asked for: the bytes of a file, or none.
    File(Vec<u8>),
    /// What the message says.
    Message(ClientMessage<'a>),
    /// Both sides have these from now on; tell the [`Decoder`]. The client has been answered.
    Protocols(Capabilities),
    /// To be [asked](Server::ask).
    Question,
    /// To be asked for its files: its group is over.
    Turn {
        /// The statement is to be released, too.
        release: bool,
    },
    /// That this is the next `BYTE` or `TEXT` value of those that were bound.
    Value(Vec<u8>),
    /// To write to a smart large object. How much was written is told at the end of the group.
    Write {
        /// Which.
        lofd: i16,
        /// A piece of what it announced.
        chunk: &'a [u8],
    },
}

/// What the rest of a group is about, besides a statement.
#[derive(Debug)]
enum Doing {
    /// Nothing.
    Statements,
    /// A routine, whose arguments come in the next message.
    Calling(i32),
    /// A routine that takes none, and is called already; some clients send an empty list of them.
    Called,
    /// A value that comes in chunks; those so far.
    Value(Vec<u8>),
    /// A smart large object, to which so many bytes were written.
    Writing { lofd: i16, written: i32 },
}

/// Where the conversation is, with what it then needs.
#[derive(Debug)]
enum State {
    /// The login packet was not answered yet.
    Login,
    /// The client is asked who it is.
    Asking(Asking),
    /// Messages are obeyed, up to the end of their group.
    Group(Doing),
    /// An error has ended the group: messages are passed over, up to its end.
    Skipping,
    /// The client's files are needed: the end of its group is awaited.
    Turning { release: bool },
    /// It is the server's turn amid a group whose end has come.
    Transferring,
    /// A turn about files; what has come of one.
    File(Vec<u8>),
    /// Nothing more is read.
    Closed,
}

/// The server's half of a connection.
#[derive(Debug)]
pub struct Server {
    state: State,
    capabilities: Capabilities,
    widths: Widths,
    output: Vec<u8>,
}

impl Server {
    /// A server with these capabilities, which awaits a login packet.
    pub fn new(capabilities: Capabilities) -> Self {
        Self { state: State::Login, capabilities, widths: Widths::default(), output: Vec::new() }
    }

    /// Takes a message; `None` when there is nothing to be done about it.
    ///
    /// # Errors
    /// Behind a violation that [is fatal](Violation::is_fatal) nothing more is to be read. Behind any other the client is to
    /// be told, by [`error`](Self::error), and the conversation goes on.
    pub fn handle<'a>(&mut self, message: ClientMessage<'a>) -> Result<Option<Request<'a>>, Violation> {
        match &mut self.state {
            State::Group(_) => return self.handle_in_group(message),
            State::Asking(_) => return self.handle_asking(message),
            State::Skipping => match message {
                ClientMessage::Eot => return Ok(Some(Request::EndOfGroup)),
                ClientMessage::Exit => return Ok(Some(self.leave())),
                ClientMessage::Protocols(offer) => return Ok(Some(self.agree(&offer, self.capabilities.clone()))),
                _ => return Ok(None),
            },
            State::Turning { release } => match message {
                ClientMessage::Release => {
                    *release = true;
                    return Ok(None);
                }
                ClientMessage::Eot => {
                    let release = *release;
                    self.state = State::Transferring;
                    return Ok(Some(Request::Turn { release }));
                }
                _ => {}
            },
            State::File(bytes) => match message {
                ClientMessage::FileTotal(_) | ClientMessage::FileWritten(_) => return Ok(None),
                ClientMessage::FileChunk(chunk) if bytes.len() + chunk.len() > MAX_OBJECT => {
                    return Err(self.broken(Violation::FileTooLarge));
                }
                ClientMessage::FileChunk(chunk) => {
                    bytes.extend_from_slice(chunk);
                    return Ok(None);
                }
                ClientMessage::Eot => {
                    let bytes = std::mem::take(bytes);
                    self.state = State::Transferring;
                    return Ok(Some(Request::File(bytes)));
                }
                _ => return Err(self.broken(Violation::AmidFile)),
            },
            State::Login | State::Transferring | State::Closed => return Err(self.broken(Violation::OutOfTurn)),
        }
        Err(self.broken(Violation::BeforeFile))
    }

    fn handle_in_group<'a>(&mut self, message: ClientMessage<'a>) -> Result<Option<Request<'a>>, Violation> {
        let State::Group(doing) = &mut self.state else { return Ok(None) };
        Ok(Some(match (message, &mut *doing) {
            (ClientMessage::Eot, Doing::Writing { written, .. }) => {
                let written = *written;
                // A number fits.
                let _ = self.put(&ServerMessage::LoData(LoReply::Written(written)));
                Request::EndOfGroup
            }
            (ClientMessage::Eot, _) => Request::EndOfGroup,
            (ClientMessage::Exit, _) => self.leave(),
            (ClientMessage::Protocols(offer), _) => self.agree(&offer, self.capabilities.clone()),
            (ClientMessage::CallRoutine(call), _) if call.params == 0 => {
                *doing = Doing::Called;
                Request::Call { handle: call.handle, params: Vec::new() }
            }
            (ClientMessage::Bind(params), Doing::Called) if params.is_empty() => {
                *doing = Doing::Statements;
                return Ok(None);
            }
            (ClientMessage::CallRoutine(call), _) => {
                *doing = Doing::Calling(call.handle);
                return Ok(None);
            }
            (ClientMessage::Bind(params), Doing::Calling(handle)) => {
                let handle = *handle;
                *doing = Doing::Statements;
                Request::Call { handle, params }
            }
            (ClientMessage::BBind(_), _) => {
                *doing = Doing::Value(Vec::new());
                return Ok(None);
            }
            (ClientMessage::Blob([]), Doing::Value(value)) => Request::Value(std::mem::take(value)),
            (ClientMessage::Blob([]), _) => Request::Value(Vec::new()),
            (ClientMessage::Blob(chunk), Doing::Value(value)) => {
                if value.len() + chunk.len() > MAX_OBJECT {
                    return Err(Violation::ValueTooLarge);
                }
                value.extend_from_slice(chunk);
                return Ok(None);
            }
            (ClientMessage::Blob(chunk), _) => {
                *doing = Doing::Value(chunk.to_vec());
                return Ok(None);
            }
            (ClientMessage::LoData(request), _) if request.action == LoAction::Write => {
                *doing = Doing::Writing { lofd: request.lofd, written: 0 };
                return Ok(None);
            }
            (ClientMessage::LoChunk(chunk), Doing::Writing { lofd, written }) => {
                *written = written.saturating_add(i32::try_from(chunk.len()).unwrap_or(i32::MAX));
                Request::Write { lofd: *lofd, chunk }
            }
            (ClientMessage::LoChunk(_), _) => return Ok(None),
            (ClientMessage::FileTotal(_) | ClientMessage::FileChunk(_) | ClientMessage::FileWritten(_), _) => {
                return Err(self.broken(Violation::UnaskedFile));
            }
            (message, _) => Request::Message(message),
        }))
    }

    /// The client says goodbye.
    fn leave<'a>(&mut self) -> Request<'a> {
        self.state = State::Closed;
        Request::Exit
    }

    /// Answers what the client can do by what the server can.
    fn agree<'a>(&mut self, offer: &Capabilities, ours: Capabilities) -> Request<'a> {
        let active = offer.and(&ours);
        // A mask fits.
        let _ = self.put(&ServerMessage::Protocols(ours));
        self.widths = Widths::of(&active);
        Request::Protocols(active)
    }

    fn broken(&mut self, violation: Violation) -> Violation {
        self.state = State::Closed;
        violation
    }

    /// The widths in force, to encode what goes into answers.
    pub const fn widths(&self) -> Widths {
        self.widths
    }

    /// Bytes that wait to be written.
    pub fn output(&self) -> &[u8] {
        &self.output
    }

    /// The first `count` bytes of [`output`](Self::output) were written.
    pub fn sent(&mut self, count: usize) {
        if count >= self.output.len() {
            self.output.clear();
            self.output.shrink_to(KEEP);
        } else {
            self.output.drain(..count);
        }
    }
}

/// An output that has grown beyond this is given back once it was written.
const KEEP: usize = 256 * 1024;
