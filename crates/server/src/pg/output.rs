//! What goes to the client: gathered, then written at once.

use std::io;

use rowferry_wire_pg::Backend;

use crate::{Connection, Ending};

/// Answers beyond this many bytes go out without waiting for the end of the command.
const FLUSH_AT: usize = 64 * 1024;

/// A buffer that has grown beyond this is given back after it was written.
const KEEP: usize = 256 * 1024;

/// A connection and the answers that wait to be written to it.
#[derive(Debug)]
pub(super) struct Output<'c> {
    pub(super) connection: &'c mut Connection,
    /// Whole messages.
    pub(super) pending: Vec<u8>,
}

impl<'c> Output<'c> {
    pub(super) fn new(connection: &'c mut Connection) -> Self {
        Self { connection, pending: Vec::new() }
    }

    /// Adds a message.
    pub(super) fn send(&mut self, message: &Backend<'_>) {
        message.encode(&mut self.pending);
    }

    /// Writes what waits, if it is much: called between rows.
    #[inline]
    pub(super) fn relieve(&mut self) -> Result<(), Ending> {
        if self.pending.len() >= FLUSH_AT { self.flush() } else { Ok(()) }
    }

    /// Writes what waits.
    pub(super) fn flush(&mut self) -> Result<(), Ending> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let result = self.connection.write_all(&self.pending);
        self.pending.clear();
        self.pending.shrink_to(KEEP);
        result.map_err(write_failed)
    }
}

fn write_failed(error: io::Error) -> Ending {
    match error.kind() {
        io::ErrorKind::TimedOut => Ending::TimedOut("the client takes no bytes"),
        io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset => Ending::Gone,
        _ => Ending::Broken(error),
    }
}
