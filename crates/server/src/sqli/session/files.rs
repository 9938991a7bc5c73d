//! The client's files: read for a statement, or written by one.

use rowferry_engine::smart_objects;
use rowferry_wire_sqli::messages::{ClientMessage, FileRequest, ServerMessage};

use super::{FILE_CHUNK, MAX_FILES, MAX_OBJECT, Next, Pending, SqliSession};
use crate::Ending;

impl SqliSession<'_> {
    /// Does what the client's files have to do with a statement, then ends its group.
    pub(super) fn files(&mut self, pending: Pending) -> Result<(), Ending> {
        // The dialogue begins when the client has had its turn: what is left of the group is a RELEASE at most.
        let mut release = false;
        loop {
            match self.decoder.next() {
                Ok(Some(ClientMessage::Eot)) => break,
                Ok(Some(ClientMessage::Release)) => release = true,
                Ok(Some(_)) => {
                    return Err(Ending::Protocol("more statements in a group that transfers a file".into()));
                }
                Ok(None) => self.fill()?,
                Err(error) => return Err(Ending::Protocol(error.to_string())),
            }
        }
        self.transfer(pending)?;
        if release {
            self.commands.release();
        }
        self.commands.end_group();
        Ok(())
    }

    /// Fetches the client's files that a statement wants, and runs it again; or writes the files that it has made.
    fn transfer(&mut self, pending: Pending) -> Result<(), Ending> {
        let (mut name, resume) = match pending {
            Pending::Read(name, resume) => (name, resume),
            Pending::Write(files, reply) => {
                for (name, bytes) in files {
                    self.write_file(&name, &bytes)?;
                }
                self.commands.out.extend_from_slice(&reply);
                return Ok(());
            }
        };
        for _ in 0..MAX_FILES {
            let bytes = self.read_file(&name)?;
            smart_objects::with(|objects| objects.provide(name, bytes));
            match self.commands.resume(resume) {
                Ok(Next::Go) => break,
                Ok(Next::Files(Pending::Read(next, _))) => name = next,
                Ok(Next::Files(Pending::Write(..))) => break,
                Err(ending) => return Err(ending),
            }
        }
        smart_objects::with(smart_objects::SmartObjects::forget_files);
        Ok(())
    }

    /// Sends one turn of the file dialogue and waits for the answer's EOT; yields the file's bytes, if any came.
    fn file_turn(&mut self, messages: &[ServerMessage<'_>]) -> Result<Vec<u8>, Ending> {
        for message in messages {
            self.commands.send(message);
        }
        self.commands.send(&ServerMessage::Eot);
        self.flush()?;
        let mut bytes = Vec::new();
        loop {
            match self.decoder.next() {
                Ok(Some(ClientMessage::Eot)) => return Ok(bytes),
                Ok(Some(ClientMessage::FileChunk(chunk))) => bytes.extend_from_slice(chunk),
                Ok(Some(ClientMessage::FileTotal(_) | ClientMessage::FileWritten(_))) => {}
                Ok(Some(_)) => return Err(Ending::Protocol("another message in the middle of a file".into())),
                Ok(None) => self.fill()?,
                Err(error) => return Err(Ending::Protocol(error.to_string())),
            }
            if bytes.len() > MAX_OBJECT {
                return Err(Ending::Protocol("the client's file is too large".into()));
            }
        }
    }

    fn read_file(&mut self, name: &str) -> Result<Vec<u8>, Ending> {
        self.file_turn(&[open_file(name)])?;
        let bytes =
            self.file_turn(&[ServerMessage::File(FileRequest::Read { buffer: FILE_CHUNK as i16, amount: -1 })])?;
        self.file_turn(&[ServerMessage::File(FileRequest::Close)])?;
        Ok(bytes)
    }

    fn write_file(&mut self, name: &str, bytes: &[u8]) -> Result<(), Ending> {
        self.file_turn(&[open_file(name)])?;
        let mut messages = vec![ServerMessage::File(FileRequest::Write)];
        messages.extend(bytes.chunks(FILE_CHUNK).map(ServerMessage::FileChunk));
        self.file_turn(&messages)?;
        self.file_turn(&[ServerMessage::File(FileRequest::Close)])?;
        Ok(())
    }
}

fn open_file(name: &str) -> ServerMessage<'_> {
    ServerMessage::File(FileRequest::Open { name: name.as_bytes(), mode: 0, flags: 0, offset: 0 })
}
