use std::fmt;
use std::io;

/// What the pump was doing when it failed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Waiting {
    /// Resolving the name or opening the socket.
    Connect,
    /// Waiting for bytes of the peer.
    Read,
    /// Waiting until the peer takes bytes.
    Write,
}

impl fmt::Display for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Connect => "connecting",
            Self::Read => "reading",
            Self::Write => "writing",
        })
    }
}

/// Why bytes do not move any more. The connection is of no further use after any of these.
#[derive(Debug)]
pub enum Error {
    /// The peer closed the connection.
    Closed,
    /// The caller's hook asked to stop (a signal came).
    Interrupted,
    /// The operating system refused.
    Io(Waiting, io::Error),
    /// The time-out of this wait has passed.
    TimedOut(Waiting),
    /// TLS could not be set up, or the peer broke it.
    Tls(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed => f.write_str("the server closed the connection"),
            Self::Interrupted => f.write_str("interrupted"),
            Self::Io(waiting, error) => write!(f, "{waiting} failed: {error}"),
            Self::TimedOut(waiting) => write!(f, "timed out while {waiting}"),
            Self::Tls(message) => write!(f, "TLS: {message}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io(_, error) => Some(error),
            _ => None,
        }
    }
}
