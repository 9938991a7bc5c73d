//! The conversation and the connection that it goes over.

use std::io::ErrorKind;

use rowferry_wire::Core as _;
use rowferry_wire_mysql::client::Failure;
use rowferry_wire_mysql::messages::status::ServerError;
use rowferry_wire_mysql::server::{Request, Server};

use super::report;
use crate::{Connection, Ending};

/// Answers beyond this many bytes go out without waiting for their end.
const FLUSH_AT: usize = 64 * 1024;
/// The most that is asked of the kernel at once for a long message, in bytes.
const READ_AT_MOST: usize = 1024 * 1024;

/// A client's conversation.
pub(super) struct Wire<'c> {
    pub(super) connection: &'c mut Connection,
    pub(super) server: Server,
}

/// Why a read ended without bytes.
#[derive(Debug)]
pub(super) enum Silence {
    /// The end of the stream.
    End,
    /// Nothing came in time.
    TimedOut,
    /// The connection broke.
    Broken(std::io::Error),
}

impl Wire<'_> {
    /// The next request, if it has come.
    pub(super) fn poll(&mut self) -> Result<Option<Request>, Ending> {
        match self.server.poll() {
            Ok(request) => Ok(request),
            Err(failure) => {
                let ending = Ending::Protocol(report::protocol(&failure));
                let told = match failure {
                    Failure::Unsupported(_) => ServerError {
                        code: 1251,
                        sqlstate: "08004".into(),
                        message:
                            "Client does not support authentication protocol requested by server; consider upgrading \
                                  MySQL client"
                                .into(),
                    },
                    failure => report::broken(&failure),
                };
                self.server.error(&told);
                // Whether or not it can still be told, nothing after this can be read.
                let _ = self.flush();
                Err(ending)
            }
        }
    }

    /// Reads more bytes.
    pub(super) fn read(&mut self) -> Result<(), Silence> {
        let least = self.server.missing().min(READ_AT_MOST);
        match self.connection.read(self.server.receive_space(least)) {
            Ok(0) => Err(Silence::End),
            Ok(count) => {
                self.server.received(count);
                Ok(())
            }
            Err(error) if error.kind() == ErrorKind::TimedOut => Err(Silence::TimedOut),
            Err(error) => Err(Silence::Broken(error)),
        }
    }

    /// Writes what waits, if it is much: called between rows.
    #[inline]
    pub(super) fn relieve(&mut self) -> Result<(), Ending> {
        if self.server.waiting() < FLUSH_AT {
            return Ok(());
        }
        self.flush()
    }

    /// Writes what waits.
    pub(super) fn flush(&mut self) -> Result<(), Ending> {
        self.server.seal();
        let output = self.server.output();
        if output.is_empty() {
            return Ok(());
        }
        let count = output.len();
        let result = self.connection.write_all(output);
        self.server.sent(count);
        result.map_err(|error| match error.kind() {
            ErrorKind::TimedOut => Ending::TimedOut("the client takes no bytes"),
            ErrorKind::BrokenPipe | ErrorKind::ConnectionReset => Ending::Gone,
            _ => Ending::Broken(error),
        })
    }
}

/// What a client is told in the place of a greeting: nobody knows yet whether it understands SQLSTATEs.
pub(super) fn first_words(error: &ServerError) -> Vec<u8> {
    let mut payload = vec![ServerError::HEADER];
    payload.extend_from_slice(&error.code.to_le_bytes());
    payload.extend_from_slice(error.message.as_bytes());
    let mut packet = (payload.len() as u32).to_le_bytes()[..3].to_vec();
    packet.push(0);
    packet.extend_from_slice(&payload);
    packet
}
