//! The client's files: read for a statement, or written by one.

use rowferry_engine::smart_objects;
use rowferry_wire_sqli::messages::FileRequest;
use rowferry_wire_sqli::server::Request;

use super::{FILE_CHUNK, MAX_FILES, Next, Pending, SqliSession};
use crate::Ending;

impl SqliSession<'_> {
    /// Does what the client's files have to do with a statement, then ends its group.
    pub(super) fn files(&mut self, pending: Pending) -> Result<(), Ending> {
        // The dialogue begins when the client has had its turn: what is left of the group is a RELEASE at most.
        self.commands.server.await_turn();
        let release = self.answered(|request| match request {
            Request::Turn { release } => Some(release),
            _ => None,
        })?;
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
                self.commands.server.put_encoded(&reply);
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

    /// Waits for what the client was asked for.
    fn answered<R>(&mut self, wanted: impl Fn(Request<'_>) -> Option<R>) -> Result<R, Ending> {
        loop {
            let message = match self.decoder.next() {
                Ok(Some(message)) => message,
                Ok(None) => {
                    self.fill()?;
                    continue;
                }
                Err(error) => return Err(Ending::Protocol(error.to_string())),
            };
            match self.commands.server.handle(message) {
                Ok(None) => {}
                Ok(Some(request)) => {
                    let unasked = || Ending::Protocol("a message that nobody asked for".into());
                    return wanted(request).ok_or_else(unasked);
                }
                Err(violation) => return Err(Ending::Protocol(violation.to_string())),
            }
        }
    }

    /// Has one turn of the file dialogue; yields the file's bytes, if any came.
    fn file_turn(&mut self, request: FileRequest<'_>, chunks: &[&[u8]]) -> Result<Vec<u8>, Ending> {
        self.commands.server.ask_file(request, chunks).map_err(|error| Ending::Failed(error.to_string()))?;
        self.flush()?;
        self.answered(|request| match request {
            Request::File(bytes) => Some(bytes),
            _ => None,
        })
    }

    fn read_file(&mut self, name: &str) -> Result<Vec<u8>, Ending> {
        self.file_turn(open_file(name), &[])?;
        let bytes = self.file_turn(FileRequest::Read { buffer: FILE_CHUNK as i16, amount: -1 }, &[])?;
        self.file_turn(FileRequest::Close, &[])?;
        Ok(bytes)
    }

    fn write_file(&mut self, name: &str, bytes: &[u8]) -> Result<(), Ending> {
        self.file_turn(open_file(name), &[])?;
        let chunks: Vec<&[u8]> = bytes.chunks(FILE_CHUNK).collect();
        self.file_turn(FileRequest::Write, &chunks)?;
        self.file_turn(FileRequest::Close, &[])?;
        Ok(())
    }
}

fn open_file(name: &str) -> FileRequest<'_> {
    FileRequest::Open { name: name.as_bytes(), mode: 0, flags: 0, offset: 0 }
}
