//! The conversation and the connection that it goes over.

use std::io;

use rowferry_wire::Core;
use rowferry_wire_mysql::client::Failure;
use rowferry_wire_mysql::messages::status::ServerError;
use rowferry_wire_mysql::server::{Request, Server};

use super::report;
use crate::kit::{FLUSH_AT, Outbox, READ_AT_MOST};
use crate::{Connection, Ending, kit};

/// A client's conversation.
pub(super) struct Wire<'c> {
    pub(super) connection: &'c mut Connection,
    pub(super) server: Server,
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

    /// Reads more bytes: how many.
    pub(super) fn read(&mut self) -> io::Result<usize> {
        let least = self.server.missing().min(READ_AT_MOST);
        let count = self.connection.read(self.server.receive_space(least))?;
        self.server.received(count);
        Ok(count)
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
        kit::flush(self.connection, &mut self.server)
    }
}

impl Outbox for Server {
    fn output(&self) -> &[u8] {
        Core::output(self)
    }

    fn sent(&mut self, count: usize) {
        Core::sent(self, count);
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
