use std::fmt;

use rowferry_wire::Malformed;

/// Why a conversation cannot go on. The connection is of no further use.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Failure {
    /// Bytes that do not say what their place requires.
    Malformed(Malformed),
    /// A packet's number is not the next one.
    OutOfSequence {
        /// The number that should have come.
        expected: u8,
        /// The number that came.
        got: u8,
    },
    /// The peer's message is larger than this client takes.
    TooLarge {
        /// The limit, in bytes.
        limit: usize,
    },
    /// A message that has no place here.
    Unexpected {
        /// What was awaited.
        state: &'static str,
        /// The first byte of what came.
        got: u8,
    },
    /// An honest gap: what the server asks for is not spoken here.
    Unsupported(String),
    /// The peer closed the connection within a conversation.
    Closed,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(malformed) => malformed.fmt(f),
            Self::OutOfSequence { expected, got } => {
                write!(f, "packet {got} came where packet {expected} was due")
            }
            Self::TooLarge { limit } => write!(f, "the server's message exceeds the limit of {limit} bytes"),
            Self::Unexpected { state, got } => write!(f, "unexpected message {got:#04x} while waiting for {state}"),
            Self::Unsupported(what) => f.write_str(what),
            Self::Closed => f.write_str("the server closed the connection"),
        }
    }
}

impl std::error::Error for Failure {}

impl From<Malformed> for Failure {
    fn from(malformed: Malformed) -> Self {
        Self::Malformed(malformed)
    }
}

/// The caller asked for something out of place; nothing was sent.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Misuse {
    /// The connection is not established yet.
    NotConnected,
    /// An answer is awaited.
    Busy,
    /// The connection is closed or broken.
    Closed,
    /// The server has not asked for a file.
    NoFile,
}

impl fmt::Display for Misuse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotConnected => "the connection is not established yet",
            Self::Busy => "an answer is awaited",
            Self::Closed => "the connection is closed",
            Self::NoFile => "the server has not asked for a file",
        })
    }
}

impl std::error::Error for Misuse {}
