//! The Informix SQLI protocol as a sans-IO core, both roles.
//!
//! After the login packets the stream is a sequence of messages without lengths: a tag, then a body whose extent
//! follows from the tag, the negotiated [`Capabilities`] and the fields read so far. So a [`Decoder`] either yields a
//! whole message, asks for more bytes, or gives up for good: nothing behind an unknown tag can be parsed.
//!
//! - [`messages`]: every message, decoded and encoded in the same file.
//! - [`login`]: the connect request and its answers.
//! - [`values`]: cells of rows and parameters: base-100 numbers, `DATETIME`, `INTERVAL`, the envelopes.
//! - [`types`]: type codes, qualifiers, statement types.
//! - [`server`] and [`client`]: the two roles over those.

#![forbid(unsafe_code)]

mod capability;
pub mod client;
mod codeset;
mod decoder;
mod error;
pub mod login;
pub mod messages;
mod put;
mod scan;
pub mod server;
pub mod tag;
pub mod types;
pub mod values;

pub use capability::{Capabilities, Capability, Widths};
pub use codeset::CodeSet;
pub use decoder::{Decoder, FromClient, FromServer, Side, State};
pub use error::{DecodeError, TooLong};
pub use types::{Qualifier, StatementType, TypeCode};

/// The longest SQL text or routine signature that is accepted, in bytes.
pub const MAX_SQL: usize = 16 * 1024 * 1024;

/// The longest row payload, insert-cursor tuple or opaque parameter that is accepted, in bytes.
pub const MAX_PAYLOAD: usize = 64 * 1024 * 1024;

/// The longest string table of a [`messages::Describe`], in bytes.
pub const MAX_STRING_TABLE: usize = 4 * 1024 * 1024;

/// The byte that a client sends as TCP urgent data to interrupt its running statement.
pub const URGENT_INTERRUPT: u8 = b'B';
