//! What goes to the client: gathered, then written at once.

use std::io;

use rowferry_encodings::Encoding;
use rowferry_engine::Error;
use rowferry_wire_pg::Backend;
use rowferry_wire_pg::messages::{Notice, map_texts};

use super::report;
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
    /// What the client wants texts in, where that is not UTF-8.
    pub(super) encoding: Option<&'static Encoding>,
}

impl<'c> Output<'c> {
    pub(super) fn new(connection: &'c mut Connection) -> Self {
        Self { connection, pending: Vec::new(), encoding: None }
    }

    /// Adds a message. Where the client's encoding lacks a character of an error or a notice, that is what it is told
    /// instead; in a setting's value a question mark stands for it.
    pub(super) fn send(&mut self, message: &Backend<'_>) {
        let Some(encoding) = self.encoding else {
            message.encode(&mut self.pending);
            return;
        };
        let Err(error) = self.send_in(message, encoding) else { return };
        let other = |notice: &Notice<'_>| Notice::new(notice.severity, error.sqlstate(), error.message.clone());
        match message {
            Backend::ErrorResponse(notice) => Backend::ErrorResponse(other(notice)).encode(&mut self.pending),
            Backend::NoticeResponse(notice) => Backend::NoticeResponse(other(notice)).encode(&mut self.pending),
            message => {
                let mut plain = Vec::new();
                message.encode(&mut plain);
                let question = |byte: &u8| if byte.is_ascii() { *byte } else { b'?' };
                let lossy = map_texts(&plain, &mut self.pending, |text, out| {
                    out.extend(text.iter().map(question));
                    Ok::<(), std::convert::Infallible>(())
                });
                match lossy {
                    Ok(()) => {}
                    Err(never) => match never {},
                }
            }
        }
    }

    /// Adds a message whose texts the client must be able to read.
    ///
    /// # Errors
    /// `22P05` for a character that the client's encoding does not have; nothing is added.
    pub(super) fn try_send(&mut self, message: &Backend<'_>) -> Result<(), Error> {
        match self.encoding {
            Some(encoding) => self.send_in(message, encoding),
            None => {
                message.encode(&mut self.pending);
                Ok(())
            }
        }
    }

    fn send_in(&mut self, message: &Backend<'_>, encoding: &'static Encoding) -> Result<(), Error> {
        let mut plain = Vec::new();
        message.encode(&mut plain);
        map_texts(&plain, &mut self.pending, |text, out| {
            let start = out.len();
            out.extend_from_slice(text);
            report::recode(out, start, encoding)
        })
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
