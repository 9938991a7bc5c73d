//! The conversation and the connection that it goes over.

use rowferry_encodings::Encoding;
use rowferry_engine::Error;
use rowferry_wire_pg::messages::{Notice, Severity};
use rowferry_wire_pg::server::{Server, Texts};

use super::report;
use crate::kit::{FLUSH_AT, Outbox};
use crate::{Connection, Ending, kit};

/// What a client wants texts in, where that is not UTF-8.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ClientTexts(pub(super) Option<&'static Encoding>);

impl Texts for ClientTexts {
    type Error = Error;

    fn are_utf8(&self) -> bool {
        self.0.is_none()
    }

    fn put(&self, text: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        let start = out.len();
        out.extend_from_slice(text);
        self.0.map_or(Ok(()), |encoding| report::recode(out, start, encoding))
    }

    fn told(error: &Error, severity: Severity) -> Notice<'static> {
        Notice::new(severity, error.sqlstate().to_owned(), error.message.clone())
    }
}

/// A client's conversation.
#[derive(Debug)]
pub(super) struct Wire<'c> {
    pub(super) connection: &'c mut Connection,
    pub(super) server: Server<ClientTexts>,
}

impl<'c> Wire<'c> {
    pub(super) fn new(connection: &'c mut Connection) -> Self {
        let server = Server::new(connection.limits().max_message, ClientTexts::default());
        Self { connection, server }
    }

    /// Tells the client of an error as the last thing that it is told.
    pub(super) fn goodbye(&mut self, error: &Error) {
        self.server.fatal(report::notice(error, Severity::Fatal));
        // The session is over whether or not the client can still be told.
        let _ = self.flush();
    }

    /// Writes what waits, if it is much: called between rows.
    #[inline]
    pub(super) fn relieve(&mut self) -> Result<(), Ending> {
        if self.is_due() { self.flush() } else { Ok(()) }
    }

    /// True when much waits to be written.
    #[inline]
    pub(super) fn is_due(&self) -> bool {
        self.server.output().len() >= FLUSH_AT
    }

    /// Writes what waits.
    pub(super) fn flush(&mut self) -> Result<(), Ending> {
        kit::flush(self.connection, &mut self.server)
    }
}

impl Outbox for Server<ClientTexts> {
    fn output(&self) -> &[u8] {
        Self::output(self)
    }

    fn sent(&mut self, count: usize) {
        Self::sent(self, count);
    }
}
