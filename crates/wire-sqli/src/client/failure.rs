use std::fmt;

use crate::messages::ServerError;
use crate::{DecodeError, TooLong};

/// Why a conversation cannot go on. The connection is of no further use.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Failure {
    /// The server closed the connection.
    Closed,
    /// The server's bytes cannot be decoded.
    Decode(DecodeError),
    /// The server said something that its place in the conversation does not allow.
    Unexpected {
        /// What the conversation was doing.
        state: &'static str,
        /// What came.
        got: &'static str,
    },
    /// The server wants something that this client does not do.
    Unsupported(&'static str),
    /// Nobody who speaks this protocol answers the login; who it seems to be, and what helps.
    Stranger(&'static str),
}

impl From<DecodeError> for Failure {
    fn from(error: DecodeError) -> Self {
        Self::Decode(error)
    }
}

impl From<rowferry_wire::Malformed> for Failure {
    fn from(malformed: rowferry_wire::Malformed) -> Self {
        Self::Decode(malformed.into())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed => f.write_str("the server closed the connection"),
            Self::Decode(error) => write!(f, "cannot read the server's answer: {error}"),
            Self::Unexpected { state, got } => write!(f, "unexpected {got} while {state}"),
            Self::Unsupported(what) => write!(f, "not supported: {what}"),
            Self::Stranger(who) => f.write_str(who),
        }
    }
}

impl std::error::Error for Failure {}

/// Who answers a login with these bytes, where that is no Informix server.
pub(super) fn stranger(answer: &[u8]) -> Option<Failure> {
    Some(Failure::Stranger(match answer {
        // A greeting in version 10 of the protocol, or a refusal in its place, as the first packet.
        [_, _, 0, 0, 10 | 0xff, ..] => "that port speaks MySQL's protocol, not Informix's",
        [b'H', b'T', b'T', b'P', b'/', ..] => "that port speaks HTTP, not Informix's protocol",
        [b'S', b'S', b'H', b'-', ..] => "that port speaks SSH, not Informix's protocol",
        // An error of the start-up, whose length has not this many bytes.
        [b'E', 0, 0, ..] => "that port speaks PostgreSQL's protocol, not Informix's",
        // An alert.
        [0x15, 3, ..] => "that port wants TLS: connect with `tls`",
        _ => return None,
    }))
}

/// What a connection that is closed before anything has come is a sign of.
pub(super) const UNANSWERED: Failure = Failure::Stranger(
    "the server closed the connection without an answer to the login: the port may speak another protocol (PostgreSQL's \
     servers do so), or want TLS (connect with `tls`)",
);

/// A command at a time when it cannot be given; nothing was sent.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Misuse {
    /// The connection is closed.
    Closed,
    /// Another operation is under way.
    Busy,
    /// The login has not succeeded yet.
    NotConnected,
    /// A value is too long for its place in the protocol.
    TooLong(TooLong),
}

impl From<TooLong> for Misuse {
    fn from(too_long: TooLong) -> Self {
        Self::TooLong(too_long)
    }
}

impl fmt::Display for Misuse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed => f.write_str("the connection is closed"),
            Self::Busy => f.write_str("another operation is under way on this connection"),
            Self::NotConnected => f.write_str("the connection is not established yet"),
            Self::TooLong(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Misuse {}

/// What the server refused.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct SqlError {
    /// Informix SQL code, negative.
    pub sqlcode: i16,
    /// ISAM code, negative, or 0.
    pub isam: i16,
    /// Position in the SQL text in characters, from 1; 0 when unknown.
    pub offset: i32,
    /// The name that the error is about, or its text.
    pub token: Vec<u8>,
    /// In a batch, the row that failed, from 0: those before it were executed, it and those behind it were not.
    pub row: Option<u64>,
}

impl From<ServerError<'_>> for SqlError {
    fn from(error: ServerError<'_>) -> Self {
        let token = error.token.strip_suffix(b"\0").unwrap_or(&error.token).to_vec();
        Self { sqlcode: error.sqlcode, isam: error.isam, offset: error.offset, token, row: None }
    }
}

impl fmt::Display for SqlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SQL error {}", self.sqlcode)?;
        if self.isam != 0 {
            write!(f, ", ISAM error {}", self.isam)?;
        }
        if self.offset > 0 {
            write!(f, " at position {}", self.offset)?;
        }
        if !self.token.is_empty() {
            write!(f, " ({})", String::from_utf8_lossy(&self.token))?;
        }
        Ok(())
    }
}
