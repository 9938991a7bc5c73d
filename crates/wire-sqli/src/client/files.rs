//! `SQ_FILE`: in the middle of an answer, the server wants to read or write a file of the client's.
//!
//! Nothing here touches a file: the caller is asked, and decides. There is no word in the protocol by which a client
//! could refuse; whoever wants to must [disconnect](super::Client::disconnect).

use super::operation::Operation;
use super::{Client, Event, Failure, Misuse, Step};
use crate::Widths;
use crate::messages::{ClientMessage, FileRequest};

/// What the server wants of a file.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum FileEvent {
    /// Open the file of this name: [`Client::file_done`] says that it is.
    Open(Vec<u8>),
    /// Send this many bytes of it, or all when none: [`Client::file_total`] says how many there are.
    Read(Option<usize>),
    /// There is room for up to this many more of the bytes announced: [`Client::file_chunk`].
    Wanted(usize),
    /// Write these bytes. Nothing is to be answered.
    Write(Vec<u8>),
    /// Close it: [`Client::file_done`] says that it is.
    Close,
}

/// Where the dialogue about a file stands.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum FileTurn {
    /// The server is speaking: its turn ends in `SQ_EOT`.
    Asked(FileEvent),
    /// It is writing; so many bytes came.
    Writing(usize),
    /// The caller has the word: to open or close.
    Acknowledge,
    /// The caller has the word: to say how many bytes there are.
    Announce,
    /// The caller has so many bytes left to send.
    Sending(usize),
}

impl FileTurn {
    /// What the server asks for, and the size of the chunks that it wants.
    pub(super) fn asked(request: &FileRequest<'_>) -> (Self, usize) {
        let mut size = CHUNK;
        let turn = match *request {
            FileRequest::Open { name, .. } => Self::Asked(FileEvent::Open(name.to_vec())),
            FileRequest::Close => Self::Asked(FileEvent::Close),
            FileRequest::Read { buffer, amount } => {
                if let Ok(wanted @ 1..) = usize::try_from(buffer) {
                    size = wanted.min(CHUNK);
                }
                Self::Asked(FileEvent::Read(usize::try_from(amount).ok()))
            }
            FileRequest::Write => Self::Writing(0),
        };
        (turn, size)
    }
}

/// Bytes of a chunk that we send, unless the server wants smaller ones.
const CHUNK: usize = 32_000;

impl Client {
    /// The server has said what it wants of a file.
    pub(super) fn file_asked(&mut self, asked: (FileTurn, usize)) -> Result<Step, Failure> {
        if self.file.is_some() || self.operation.runs_independently() {
            return Err(Failure::Unexpected { state: self.operation.name(), got: "SQ_FILE" });
        }
        let (turn, buffer) = asked;
        self.file = Some(turn);
        self.file_buffer = buffer;
        Ok(Step::Again)
    }

    /// A chunk to be written has come.
    pub(super) fn file_written(&mut self, chunk: Vec<u8>) -> Result<Step, Failure> {
        let Some(FileTurn::Writing(total)) = &mut self.file else {
            return Err(Failure::Unexpected { state: self.operation.name(), got: "SQ_FILE_WRITE" });
        };
        *total += chunk.len();
        Ok(Step::Event(Event::File(FileEvent::Write(chunk))))
    }

    /// The server's turn is over.
    pub(super) fn file_turn_over(&mut self, turn: FileTurn) -> Result<Step, Failure> {
        let event = match turn {
            FileTurn::Asked(event) => event,
            FileTurn::Writing(total) => {
                let Ok(total) = i32::try_from(total) else {
                    return Err(Failure::Unsupported("a file of more than two gigabytes"));
                };
                self.answer_file(&[ClientMessage::FileWritten(total)])?;
                return Ok(Step::Again);
            }
            FileTurn::Acknowledge | FileTurn::Announce | FileTurn::Sending(_) => {
                return Err(Failure::Unexpected { state: "answering about a file", got: "the end of a group" });
            }
        };
        self.file = Some(if matches!(event, FileEvent::Read(_)) { FileTurn::Announce } else { FileTurn::Acknowledge });
        Ok(Step::Event(Event::File(event)))
    }

    /// The caller's turn in the dialogue: what it still has to do.
    pub(super) fn step_file(&self) -> Option<Step> {
        match self.file {
            Some(FileTurn::Sending(left)) => Some(Step::Event(Event::File(FileEvent::Wanted(left)))),
            _ => None,
        }
    }

    /// The file is open, or closed, as the server wants it.
    pub fn file_done(&mut self) -> Result<(), Misuse> {
        if self.file != Some(FileTurn::Acknowledge) {
            return Err(Misuse::Busy);
        }
        self.file = None;
        ClientMessage::Eot.encode(&mut self.output, Widths::default())?;
        Ok(())
    }

    /// So many bytes of the file follow.
    pub fn file_total(&mut self, total: usize) -> Result<(), Misuse> {
        if self.file != Some(FileTurn::Announce) {
            return Err(Misuse::Busy);
        }
        let what = "file";
        let size = i32::try_from(total).map_err(|_| crate::TooLong { what, limit: i32::MAX as usize })?;
        ClientMessage::FileTotal(size).encode(&mut self.output, Widths::default())?;
        self.file = Some(FileTurn::Sending(total));
        self.end_sending()
    }

    /// Bytes of the file, no more than are wanted.
    pub fn file_chunk(&mut self, bytes: &[u8]) -> Result<(), Misuse> {
        let Some(FileTurn::Sending(left)) = &mut self.file else { return Err(Misuse::Busy) };
        let what = "part of a file";
        *left = left.checked_sub(bytes.len()).ok_or(crate::TooLong { what, limit: *left })?;
        for chunk in bytes.chunks(self.file_buffer) {
            ClientMessage::FileChunk(chunk).encode(&mut self.output, Widths::default())?;
        }
        self.end_sending()
    }

    fn end_sending(&mut self) -> Result<(), Misuse> {
        if self.file == Some(FileTurn::Sending(0)) {
            self.file = None;
            ClientMessage::Eot.encode(&mut self.output, Widths::default())?;
        }
        Ok(())
    }

    fn answer_file(&mut self, messages: &[ClientMessage<'_>]) -> Result<(), Failure> {
        for message in messages.iter().chain(&[ClientMessage::Eot]) {
            message
                .encode(&mut self.output, Widths::default())
                .map_err(|_| Failure::Unsupported("an answer of this size"))?;
        }
        Ok(())
    }
}

impl Operation {
    /// True when groups of the operation are on their way beyond the one that is being answered.
    fn runs_independently(&self) -> bool {
        matches!(self, Self::Batch(batch) if batch.independent) || matches!(self, Self::Scroll { .. })
    }
}
