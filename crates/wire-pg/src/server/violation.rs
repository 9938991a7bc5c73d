//! How a client breaks the protocol.

use std::fmt;

use rowferry_wire::Malformed;

use crate::frame::FrameError;

/// What a client has done that the protocol does not know. Its SQLSTATE is `08P01`, its message what `Display` writes.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Violation {
    /// Another message than those of a COPY while its data come. The COPY has failed.
    AmidCopy {
        /// Its type byte.
        tag: u8,
    },
    /// Bytes in the clear behind the wish for encryption, sent perhaps by somebody in between.
    Clear(Encryption),
    /// Encryption was asked for twice.
    EncryptedTwice,
    /// Message boundaries were lost.
    Frame(FrameError),
    /// A message makes no sense in itself.
    Malformed(Malformed),
    /// A SASL mechanism that was not offered.
    Mechanism,
    /// A message that has no place in a session.
    Message {
        /// Its type byte.
        tag: u8,
    },
    /// What should hold a password does not.
    Password,
    /// The choice of a SASL mechanism makes no sense in itself.
    Sasl(Malformed),
    /// A packet of the start-up makes no sense in itself.
    Startup(Malformed),
    /// Something else than the proof that was asked for.
    Unproved {
        /// Its type byte.
        tag: u8,
    },
}

/// What a client may wish for before it says who it is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Encryption {
    /// GSSAPI's.
    Gss,
    /// TLS.
    Tls,
}

impl Violation {
    /// True when the connection must be closed.
    pub const fn is_fatal(&self) -> bool {
        !matches!(self, Self::AmidCopy { .. } | Self::Malformed(_))
    }

    /// What the message leaves open.
    pub fn detail(&self) -> Option<String> {
        match self {
            Self::Malformed(malformed) => Some(format!("Cannot read: {}.", malformed.what)),
            _ => None,
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AmidCopy { .. } => f.write_str("unexpected message type during COPY from stdin"),
            Self::Clear(Encryption::Gss) => f.write_str("received unencrypted data after GSSAPI encryption request"),
            Self::Clear(Encryption::Tls) => f.write_str("received unencrypted data after SSL request"),
            Self::EncryptedTwice => f.write_str("encryption was asked for twice"),
            Self::Frame(error) => error.fmt(f),
            Self::Malformed(_) => f.write_str("invalid message format"),
            Self::Mechanism => f.write_str("client selected an invalid SASL authentication mechanism"),
            Self::Message { tag } => write!(f, "invalid frontend message type {tag}"),
            Self::Password => f.write_str("invalid password packet size"),
            Self::Sasl(malformed) => write!(f, "invalid SASL message: {}", malformed.what),
            Self::Startup(malformed) => write!(f, "invalid startup packet: {}", malformed.what),
            Self::Unproved { tag } => write!(f, "expected SASL response, got message type {tag}"),
        }
    }
}

impl std::error::Error for Violation {}
