//! How a client breaks the protocol.

use std::fmt;

/// What a client has sent at a point where it means nothing, or of a size that nobody takes. `Display` says what.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Violation {
    /// Another message than those of a file in a turn that is about one.
    AmidFile,
    /// Another message than a release behind a statement that needs the client's files.
    BeforeFile,
    /// A turn without a message while it is asked who it is.
    EmptyTurn,
    /// A file of the client's is longer than [`MAX_OBJECT`](super::MAX_OBJECT).
    FileTooLarge,
    /// A message while it was the server's turn.
    OutOfTurn,
    /// A part of a file that was not asked for.
    UnaskedFile,
    /// Another message than the one by which it says who it is.
    Unproved,
    /// A value that comes in chunks is longer than [`MAX_OBJECT`](super::MAX_OBJECT).
    ValueTooLarge,
}

impl Violation {
    /// True when the connection must be closed.
    pub const fn is_fatal(&self) -> bool {
        !matches!(self, Self::ValueTooLarge)
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::AmidFile => "another message in the middle of a file",
            Self::BeforeFile => "more statements in a group that transfers a file",
            Self::EmptyTurn => "a turn without a message while authenticating",
            Self::FileTooLarge => "the client's file is too large",
            Self::OutOfTurn => "a message out of turn",
            Self::UnaskedFile => "a part of a file that nobody asked for",
            // Not printed: it may be a password in the wrong place.
            Self::Unproved => "another message while the password was awaited",
            Self::ValueTooLarge => "a BYTE or TEXT value is too large",
        })
    }
}

impl std::error::Error for Violation {}
