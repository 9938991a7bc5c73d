//! Large objects, files of the client, routines of the fast path.

use rowferry_wire::Writer;

use super::statement::len32;
use crate::put::Put;
use crate::scan::{Scan, Stop, malformed};
use crate::tag::Tag;
use crate::values::{decode_int8, encode_int8};
use crate::{DecodeError, MAX_PAYLOAD, TooLong, Widths};

/// `SQ_LODATA` (97) from the client: read from or write to an open smart large object.
///
/// The chunks of a write follow as bare `u16` lengths with bytes, without a tag, until `bytes` are delivered:
/// [`ClientMessage::LoChunk`](super::ClientMessage::LoChunk).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct LoRequest {
    /// Number of the open object.
    pub lofd: i16,
    /// How many bytes.
    pub bytes: i32,
    /// Largest chunk; 32,000.
    pub chunk: i16,
    /// What to do.
    pub action: LoAction,
}

/// What [`LoRequest`] asks for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum LoAction {
    /// Read on from the current position.
    Read,
    /// Move, then read.
    SeekRead {
        /// Where to.
        offset: Option<i64>,
        /// From where: 0 start, 1 current position, 2 end.
        whence: i16,
    },
    /// Write the chunks that follow.
    Write,
}

impl LoRequest {
    pub(super) fn decode(scan: &mut Scan<'_>) -> Result<Self, Stop> {
        let kind = scan.i16()?;
        let lofd = scan.i16()?;
        let bytes = scan.len32(MAX_PAYLOAD, "length of LODATA")? as i32;
        let chunk = scan.i16()?;
        let action = match kind {
            0 => LoAction::Read,
            1 => LoAction::SeekRead { offset: decode_int8(scan.array()?)?, whence: scan.i16()? },
            2 => LoAction::Write,
            _ => return Err(DecodeError::Unsupported("this form of LODATA").into()),
        };
        Ok(Self { lofd, bytes, chunk, action })
    }

    pub(super) fn encode(&self, w: &mut Writer<'_>) {
        let kind = match self.action {
            LoAction::Read => 0,
            LoAction::SeekRead { .. } => 1,
            LoAction::Write => 2,
        };
        w.u16(Tag::LODATA.0).i16(kind).i16(self.lofd).i32(self.bytes).i16(self.chunk);
        if let LoAction::SeekRead { offset, whence } = self.action {
            w.raw(&encode_int8(offset)).i16(whence);
        }
    }
}

/// `SQ_LODATA` (97) from the server.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum LoReply {
    /// So many bytes were read and follow as [`ServerMessage::LoChunk`](super::ServerMessage::LoChunk)s. Fewer than
    /// asked for: end of the object. With none, an empty chunk follows nevertheless: IBM's driver waits for it. A peer
    /// that sends none is understood, too.
    Read(i32),
    /// So many bytes were written.
    Written(i32),
}

impl LoReply {
    pub(super) fn decode(scan: &mut Scan<'_>) -> Result<Self, Stop> {
        let kind = scan.i16()?;
        let bytes = scan.len32(MAX_PAYLOAD, "length of LODATA")? as i32;
        match kind {
            0 => {
                if bytes == 0 {
                    scan.skip_empty()?;
                }
                Ok(Self::Read(bytes))
            }
            2 => Ok(Self::Written(bytes)),
            _ => Err(DecodeError::Unsupported("this form of LODATA").into()),
        }
    }

    pub(super) fn encode(&self, w: &mut Writer<'_>) {
        match *self {
            Self::Read(0) => w.u16(Tag::LODATA.0).i16(0).i32(0).u16(0),
            Self::Read(bytes) => w.u16(Tag::LODATA.0).i16(0).i32(bytes),
            Self::Written(bytes) => w.u16(Tag::LODATA.0).i16(2).i32(bytes),
        };
    }
}

/// `SQ_FILE` (98): the server opens, reads, writes or closes a file of the client. Each turn ends in `SQ_EOT`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum FileRequest<'a> {
    /// Open it.
    Open {
        /// Path at the client.
        name: &'a [u8],
        /// Mode; 0.
        mode: i32,
        /// Flags; 0.
        flags: i32,
        /// Offset; 0.
        offset: i32,
    },
    /// Close it.
    Close,
    /// Send its contents.
    Read {
        /// Bytes in a chunk.
        buffer: i16,
        /// How many bytes; -1 for all.
        amount: i32,
    },
    /// Write the [`ServerMessage::FileChunk`](super::ServerMessage::FileChunk)s that follow.
    Write,
}

impl<'a> FileRequest<'a> {
    pub(super) fn decode(scan: &mut Scan<'a>) -> Result<Self, Stop> {
        Ok(match scan.i16()? {
            0 => Self::Open { name: scan.char()?, mode: scan.i32()?, flags: scan.i32()?, offset: scan.i32()? },
            1 => Self::Close,
            2 => Self::Read { buffer: scan.i16()?, amount: scan.i32()? },
            3 => Self::Write,
            _ => return Err(DecodeError::Unsupported("this form of FILE").into()),
        })
    }

    pub(super) fn encode(&self, w: &mut Writer<'_>) -> Result<(), TooLong> {
        w.u16(Tag::FILE.0);
        match *self {
            Self::Open { name, mode, flags, offset } => {
                w.i16(0).char(name, "name of a file")?.i32(mode).i32(flags).i32(offset);
            }
            Self::Close => {
                w.i16(1);
            }
            Self::Read { buffer, amount } => {
                w.i16(2).i16(buffer).i32(amount);
            }
            Self::Write => {
                w.i16(3);
            }
        }
        Ok(())
    }
}

/// A tag, a `u16` length and bytes: chunks of files and of simple large objects.
pub(super) fn encode_chunk(tag: Tag, bytes: &[u8], w: &mut Writer<'_>) -> Result<(), TooLong> {
    w.u16(tag.0).char(bytes, "chunk")?;
    Ok(())
}

/// A chunk without a tag, which must not run beyond the bytes announced.
pub(super) fn decode_announced_chunk<'a>(scan: &mut Scan<'a>, left: &mut usize) -> Result<&'a [u8], Stop> {
    let len = usize::from(scan.u16()?);
    if len == 0 || len > *left {
        return malformed("length of a chunk");
    }
    let chunk = scan.take_padded(len)?;
    *left -= len;
    Ok(chunk)
}

/// `SQ_GETROUTINE` (101) from the client: find a routine by its signature.
///
/// Wire: the single flag byte shifts what follows to odd offsets; padding still goes by the length of the text.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct GetRoutine<'a> {
    /// For example `function informix.ifx_lo_close(integer)`.
    pub signature: &'a [u8],
    /// Always 0.
    pub reserved: i16,
}

impl<'a> GetRoutine<'a> {
    pub(super) fn decode(scan: &mut Scan<'a>, widths: Widths) -> Result<Self, Stop> {
        if scan.u8()? != 0 {
            return Err(DecodeError::Unsupported("GETROUTINE by anything but its signature").into());
        }
        Ok(Self { signature: scan.sql(widths)?, reserved: scan.i16()? })
    }

    pub(super) fn encode(&self, w: &mut Writer<'_>, widths: Widths) -> Result<(), TooLong> {
        w.u16(Tag::GETROUTINE.0).u8(0).sql(self.signature, widths)?.i16(self.reserved);
        Ok(())
    }
}

/// `SQ_GETROUTINE` (101) from the server: the handle of a routine.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Routine<'a> {
    /// Where it lives.
    pub database: &'a [u8],
    /// Its number for `SQ_EXFPROUTINE`.
    pub handle: i32,
}

impl<'a> Routine<'a> {
    pub(super) fn decode(scan: &mut Scan<'a>) -> Result<Self, Stop> {
        Ok(Self { database: scan.char()?, handle: scan.i32()? })
    }

    pub(super) fn encode(&self, w: &mut Writer<'_>) -> Result<(), TooLong> {
        w.u16(Tag::GETROUTINE.0).char(self.database, "name of a database")?.i32(self.handle);
        Ok(())
    }
}

/// `SQ_EXFPROUTINE` (102): call a routine with the `SQ_BIND` that follows.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct CallRoutine<'a> {
    /// Where it lives; empty when the client remembers the handle.
    pub database: &'a [u8],
    /// Its number.
    pub handle: i32,
    /// Number of parameters.
    pub params: i16,
    /// Always 0.
    pub reserved: i16,
}

impl<'a> CallRoutine<'a> {
    pub(super) fn decode(scan: &mut Scan<'a>) -> Result<Self, Stop> {
        Ok(Self { database: scan.char()?, handle: scan.i32()?, params: scan.i16()?, reserved: scan.i16()? })
    }

    pub(super) fn encode(&self, w: &mut Writer<'_>) -> Result<(), TooLong> {
        w.u16(Tag::EXFPROUTINE.0).char(self.database, "name of a database")?;
        w.i32(self.handle).i16(self.params).i16(self.reserved);
        Ok(())
    }
}

/// A descriptor of a `BYTE` or `TEXT` value, 56 or 68 bytes, as a row holds it.
///
/// The server's own handle is in the first eight bytes; a client sends the whole back in `SQ_FETCHBLOB`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct SimpleLob<'a>(pub &'a [u8]);

impl SimpleLob<'_> {
    /// True when bit 0 of byte 39 says NULL.
    pub fn is_null(&self) -> bool {
        self.0.get(39).is_some_and(|byte| byte & 1 == 1)
    }

    /// Bytes of the value, by its first and last position.
    pub fn size(&self) -> i64 {
        let word = |at: usize| match self.0.get(at..at + 4) {
            Some(bytes) => i64::from(i32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])),
            None => 0,
        };
        word(12) - word(8) + 1
    }

    /// The descriptor that a server puts into a row; `None` is NULL.
    pub fn row(handle: u64, size: Option<i32>, widths: Widths) -> Vec<u8> {
        let mut bytes = vec![0; widths.simple_lob_descriptor()];
        match size {
            Some(size) => {
                bytes[..8].copy_from_slice(&handle.to_be_bytes());
                bytes[12..16].copy_from_slice(&(size - 1).to_be_bytes());
                bytes[16..20].copy_from_slice(&size.to_be_bytes());
            }
            None => bytes[39] = 1,
        }
        bytes
    }

    /// The descriptor that a client binds for a value of `size` bytes.
    pub fn param(size: i32, widths: Widths) -> Vec<u8> {
        let mut bytes = vec![0; widths.simple_lob_descriptor()];
        let at = if widths.long_rowid { 32 } else { 16 };
        bytes[at..at + 4].copy_from_slice(&size.to_be_bytes());
        bytes
    }
}

/// Encodes a chunk without a tag.
pub(super) fn encode_announced_chunk(bytes: &[u8], w: &mut Writer<'_>) -> Result<(), TooLong> {
    w.char(bytes, "chunk")?;
    Ok(())
}

/// Encodes `SQ_FILE_READ` (106) or `SQ_FILE_WRITE` (107) with the total.
pub(super) fn encode_total(tag: Tag, total: i32, w: &mut Writer<'_>) {
    w.u16(tag.0).i32(total);
}

/// `SQ_FETCHBLOB` (38).
pub(super) fn encode_fetch_blob(descriptor: &[u8], w: &mut Writer<'_>) -> Result<(), TooLong> {
    len32(descriptor, "descriptor")?;
    w.u16(Tag::FETCHBLOB.0).padded(descriptor);
    Ok(())
}
