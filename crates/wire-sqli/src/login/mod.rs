//! The login exchange: one packet each way, before any message.
//!
//! These packets, unlike everything after them, begin with their length. Their strings end in a NUL that is counted and
//! are not padded.

mod reply;
mod request;

use std::fmt;

use rowferry_wire::{Malformed, Reader, Writer};

pub use reply::{LoginReply, LoginResult, PacketType, ReplyBlock};
pub use request::{ApplicationInfo, LoginRequest, ProcessInfo, RequestBlock};

use crate::{DecodeError, TooLong};

/// The client's protocol level that announces capability negotiation.
pub const CAPABILITY_LEVEL: i32 = 316;

/// The first byte pair of the text packet with which native clients begin.
const NATIVE_PREFIX: &[u8; 2] = b"sq";

/// The session-layer header in front of each packet.
const HEADER: usize = 6;

/// The protocol number in it.
const PROTOCOL: u8 = 60;

/// A packet that begins with its length.
pub(crate) trait Packet: Sized {
    /// True for the packet types that this side receives.
    fn accepts(kind: u8) -> bool;

    /// Decodes one whole packet.
    fn decode(bytes: &[u8]) -> Result<Self, DecodeError>;

    /// How long the packet is, once it is there whole.
    fn frame(unread: &[u8]) -> Result<Option<usize>, DecodeError> {
        if unread.starts_with(NATIVE_PREFIX) {
            return Err(DecodeError::Unsupported("the login packet of native (CSDK) clients"));
        }
        let Some(header) = unread.first_chunk::<HEADER>() else { return Ok(None) };
        let len = usize::from(u16::from_be_bytes([header[0], header[1]]));
        if header[3] != PROTOCOL || !Self::accepts(header[2]) || len < HEADER {
            return Err(Malformed::new("header of the login packet").into());
        }
        Ok((unread.len() >= len).then_some(len))
    }
}

/// A password in the bytes of the wire. Never printed.
#[derive(Clone, Default, Eq, PartialEq)]
pub struct Password(pub Vec<u8>);

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password(…)")
    }
}

/// Reads a string whose counted length includes its NUL; a missing one is empty.
fn text(reader: &mut Reader<'_>, what: &'static str) -> Result<Vec<u8>, Malformed> {
    let len = usize::from(reader.u16(what)?);
    let bytes = reader.take(len, what)?;
    Ok(bytes.strip_suffix(b"\0").unwrap_or(bytes).to_vec())
}

/// Writes a string with its NUL, or a length of 0 when it is empty.
fn put_text(w: &mut Writer<'_>, text: &[u8], what: &'static str) -> Result<(), TooLong> {
    if text.is_empty() {
        w.u16(0);
        return Ok(());
    }
    match u16::try_from(text.len() + 1) {
        Ok(len) => w.u16(len).terminated(text),
        Err(_) => return Err(TooLong { what, limit: usize::from(u16::MAX) - 1 }),
    };
    Ok(())
}

/// Writes a header, the body, and then the length into the header. On error `out` is as before.
fn put_packet(
    out: &mut Vec<u8>,
    kind: u8,
    options: u16,
    body: impl FnOnce(&mut Writer<'_>) -> Result<(), TooLong>,
) -> Result<(), TooLong> {
    let start = out.len();
    let mut w = Writer::new(out);
    w.u16(0).u8(kind).u8(PROTOCOL).u16(options);
    let result = body(&mut w).and_then(|()| {
        let limit = usize::from(u16::MAX);
        u16::try_from(w.len() - start).map_err(|_| TooLong { what: "login packet", limit })
    });
    match result {
        Ok(len) => {
            out[start..start + 2].copy_from_slice(&len.to_be_bytes());
            Ok(())
        }
        Err(error) => {
            out.truncate(start);
            Err(error)
        }
    }
}

fn expect(reader: &mut Reader<'_>, value: u16, what: &'static str) -> Result<(), Malformed> {
    if reader.u16(what)? == value { Ok(()) } else { Err(Malformed::new(what)) }
}

/// The markers that begin the blocks of a login packet.
mod marker {
    pub const ASSOCIATION: u16 = 100;
    pub const BINARY: u16 = 101;
    pub const RESPONSE: u16 = 102;
    pub const REDIRECT: u16 = 103;
    pub const CONNECT: u16 = 104;
    pub const ENVIRONMENT: u16 = 106;
    pub const PROCESS: u16 = 107;
    pub const PARAMETERS: u16 = 108;
    pub const APPLICATION: u16 = 116;
    pub const END: u16 = 127;
}
