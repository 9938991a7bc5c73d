//! What the doors have in common, whatever they speak: how answers go out, how long a client is waited for, and what keeps
//! a request from being obeyed.

use std::io::{self, ErrorKind};

use rowferry_engine::{Error, Session, TransactionStatus};

use crate::{Connection, Ending};

/// Answers beyond this many bytes go out without waiting for the end of the command.
pub(crate) const FLUSH_AT: usize = 64 * 1024;

/// The most that is asked of the kernel at once for a long message, in bytes.
pub(crate) const READ_AT_MOST: usize = 1024 * 1024;

/// Why a request was not obeyed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The client is told, and the session goes on.
    Error(Error),
    /// The session is over.
    End(Ending),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

impl From<Ending> for Failure {
    fn from(ending: Ending) -> Self {
        Self::End(ending)
    }
}

/// What became of a request.
pub(crate) type Obeyed<T = ()> = Result<T, Failure>;

/// The answers of a conversation, which wait to be written.
pub(crate) trait Outbox {
    /// Those that wait.
    fn output(&self) -> &[u8];

    /// The first `count` bytes of them were written.
    fn sent(&mut self, count: usize);
}

/// Writes what waits. Who does not take it has lost it.
pub(crate) fn flush(connection: &mut Connection, outbox: &mut impl Outbox) -> Result<(), Ending> {
    let output = outbox.output();
    if output.is_empty() {
        return Ok(());
    }
    let count = output.len();
    let result = connection.write_all(output);
    outbox.sent(count);
    result.map_err(|error| match error.kind() {
        ErrorKind::TimedOut => Ending::TimedOut("the client takes no bytes"),
        ErrorKind::BrokenPipe | ErrorKind::ConnectionReset => Ending::Gone,
        _ => Ending::Broken(error),
    })
}

/// A client that is waited for: for how long, and whose limit that is.
#[derive(Debug)]
pub(crate) struct Wait {
    in_transaction: bool,
    /// What it is told when it is silent for too long, where the limit is its session's own.
    own: Option<Error>,
}

impl Wait {
    /// Begins to wait for the client of a session, if it has one already.
    pub(crate) fn begin(connection: &mut Connection, session: Option<&Session>) -> Self {
        let in_transaction = session.is_some_and(|session| session.transaction_status() != TransactionStatus::Idle);
        let limit = session.and_then(Session::idle_limit);
        let is_own = connection.expect_command(in_transaction, limit.as_ref().map(|(time, _)| *time));
        Self { in_transaction, own: limit.filter(|_| is_own).map(|(_, error)| error) }
    }

    /// What a read has brought: so many bytes, or why there are none.
    pub(crate) fn end(
        self,
        read: io::Result<usize>,
        connection: &Connection,
        session: Option<&Session>,
        is_amid_message: bool,
    ) -> Result<usize, Silence> {
        match read {
            Ok(0) if connection.stopping() => Err(Silence::Stopping),
            Ok(0) if session.is_some_and(|session| session.ended().is_some()) => Err(Silence::Ended),
            Ok(0) if !is_amid_message => Err(Silence::Over(Ending::Gone)),
            Ok(0) => Err(Silence::Over(Ending::Protocol("connection closed in the middle of a message".into()))),
            Ok(count) => Ok(count),
            Err(error) if error.kind() == ErrorKind::TimedOut => Err(match self.own {
                Some(error) => Silence::Limited(error),
                None => Silence::Idle { in_transaction: self.in_transaction },
            }),
            Err(error) => Err(Silence::Over(Ending::Broken(error))),
        }
    }
}

/// Why a client that was waited for has said nothing.
#[derive(Debug)]
pub(crate) enum Silence {
    /// The session was ended by somebody else, who has woken the read.
    Ended,
    /// It was silent for longer than the server allows.
    Idle {
        /// Amid a transaction.
        in_transaction: bool,
    },
    /// It was silent for longer than its session allows, by this error.
    Limited(Error),
    /// There is nobody left to be told.
    Over(Ending),
    /// The server stops.
    Stopping,
}

/// How a session ends whose client was silent for longer than the server allows.
pub(crate) fn idle(in_transaction: bool) -> Ending {
    Ending::TimedOut(if in_transaction { "idle in a transaction" } else { "idle session" })
}
