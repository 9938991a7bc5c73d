use std::fmt;

use rowferry_wire::Malformed;

/// Why a stream cannot be decoded any further.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum DecodeError {
    /// Bytes that contradict the protocol.
    Malformed(Malformed),
    /// A tag that this role never receives, or that nobody knows. Its length is unknown, so the stream is lost.
    UnknownTag(u16),
    /// A form of a message whose layout is not known.
    Unsupported(&'static str),
}

impl From<Malformed> for DecodeError {
    fn from(malformed: Malformed) -> Self {
        Self::Malformed(malformed)
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(malformed) => malformed.fmt(f),
            Self::UnknownTag(tag) => write!(f, "unknown message tag {tag} ({tag:#06x})"),
            Self::Unsupported(what) => write!(f, "unsupported: {what}"),
        }
    }
}

impl std::error::Error for DecodeError {}

/// A value that does not fit the length field of its place in the protocol.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct TooLong {
    /// The field.
    pub what: &'static str,
    /// How long it may be, in bytes.
    pub limit: usize,
}

impl fmt::Display for TooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is longer than {} bytes", self.what, self.limit)
    }
}

impl std::error::Error for TooLong {}
