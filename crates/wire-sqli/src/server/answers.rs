//! What the client is told.

use super::asking::Asking;
use super::{Doing, Server, State};
use crate::TooLong;
use crate::login::LoginReply;
use crate::messages::{FileRequest, ServerError, ServerMessage, XactStat};

impl Server {
    /// Answers the login packet: the client is in.
    ///
    /// # Errors
    /// When the reply holds what is too long; nothing is said.
    pub fn accept(&mut self, reply: &LoginReply) -> Result<(), TooLong> {
        self.answer_login(reply, State::Group(Doing::Statements))
    }

    /// The same, but the client is asked who it is: [`Request::Question`](super::Request::Question) says that it is ready.
    ///
    /// # Errors
    /// As [`accept`](Self::accept).
    pub fn accept_and_ask(&mut self, reply: &LoginReply) -> Result<(), TooLong> {
        self.answer_login(reply, State::Asking(Asking::Protocols))
    }

    /// Answers the login packet: the client is not let in, or is to go elsewhere.
    ///
    /// # Errors
    /// As [`accept`](Self::accept).
    pub fn reject(&mut self, reply: &LoginReply) -> Result<(), TooLong> {
        self.answer_login(reply, State::Closed)
    }

    fn answer_login(&mut self, reply: &LoginReply, state: State) -> Result<(), TooLong> {
        let before = self.output.len();
        reply.encode(&mut self.output).inspect_err(|_| self.output.truncate(before))?;
        self.state = state;
        Ok(())
    }

    /// Says a part of the answer.
    ///
    /// # Errors
    /// When it holds what is too long; nothing is said.
    pub fn put(&mut self, message: &ServerMessage<'_>) -> Result<(), TooLong> {
        let before = self.output.len();
        message.encode(&mut self.output, self.widths).inspect_err(|_| self.output.truncate(before))
    }

    /// Says parts of the answer that were encoded before, in the [widths](Self::widths) in force.
    pub fn put_encoded(&mut self, messages: &[u8]) {
        self.output.extend_from_slice(messages);
    }

    /// What was asked for has failed: the rest of the group is passed over.
    ///
    /// # Errors
    /// As [`put`](Self::put).
    pub fn error(&mut self, error: ServerError<'_>) -> Result<(), TooLong> {
        if let State::Group(_) = self.state {
            self.state = State::Skipping;
        }
        self.put(&ServerMessage::Error(error))
    }

    /// The answer to a group is whole.
    pub fn end_group(&mut self) {
        self.put_eot();
        if let State::Group(_) | State::Skipping | State::Transferring = self.state {
            self.state = State::Group(Doing::Statements);
        }
    }

    pub(super) fn put_eot(&mut self) {
        // It has no parts.
        let _ = self.put(&ServerMessage::Eot);
    }

    /// Says goodbye, and whether a transaction of the client's was undone.
    pub fn exit(&mut self, undone: bool) {
        if undone {
            let _ = self.put(&ServerMessage::XactStat(XactStat::ROLLBACK));
        }
        let _ = self.put(&ServerMessage::Exit);
        self.state = State::Closed;
    }

    /// A statement needs the client's files, which can be asked for at the end of its group:
    /// [`Request::Turn`](super::Request::Turn) says that it is there.
    pub fn await_turn(&mut self) {
        if let State::Group(_) = self.state {
            self.state = State::Turning { release: false };
        }
    }

    /// Asks for something about a file, or sends chunks of one behind the wish to write it. What has come in answer is in
    /// [`Request::File`](super::Request::File).
    ///
    /// # Errors
    /// As [`put`](Self::put).
    pub fn ask_file(&mut self, request: FileRequest<'_>, chunks: &[&[u8]]) -> Result<(), TooLong> {
        self.put(&ServerMessage::File(request))?;
        for chunk in chunks {
            self.put(&ServerMessage::FileChunk(chunk))?;
        }
        self.put_eot();
        if let State::Transferring = self.state {
            self.state = State::File(Vec::new());
        }
        Ok(())
    }
}
