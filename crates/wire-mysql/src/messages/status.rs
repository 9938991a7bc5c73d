//! OK, ERR and EOF: how a server ends an exchange.

use std::fmt;

use rowferry_wire::{Malformed, Reader, Writer};

use crate::lenenc;

/// Flags of the server's status.
pub mod status_flag {
    /// A transaction is open.
    pub const IN_TRANSACTION: u16 = 0x0001;
    /// Each statement commits by itself.
    pub const AUTOCOMMIT: u16 = 0x0002;
    /// Another result follows.
    pub const MORE_RESULTS: u16 = 0x0008;
    /// The statement has left a cursor open: its rows are to be fetched.
    pub const CURSOR_EXISTS: u16 = 0x0040;
    /// The cursor is at its end.
    pub const LAST_ROW_SENT: u16 = 0x0080;
    /// `\` is an ordinary character in literals.
    pub const NO_BACKSLASH_ESCAPES: u16 = 0x0200;
    /// A prepared statement's columns have changed.
    pub const METADATA_CHANGED: u16 = 0x0400;
    /// The row is that of a procedure's OUT and INOUT parameters.
    pub const PS_OUT_PARAMS: u16 = 0x1000;
    /// The open transaction is read only.
    pub const IN_READONLY_TRANSACTION: u16 = 0x2000;
    /// Session state changed; its description follows the message.
    pub const SESSION_STATE_CHANGED: u16 = 0x4000;
}

/// A statement is done.
///
/// Wire: header `00` (or `FE` at the end of rows), affected rows and last insert id as length-encoded integers, status
/// `u16le`, warnings `u16le`, then the human-readable message up to the end; with session tracking it has a length, and
/// the flag [`SESSION_STATE_CHANGED`](status_flag::SESSION_STATE_CHANGED) says that changes follow. Vectors:
/// `tests/messages.rs`.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Ok {
    /// Rows inserted, changed or deleted.
    pub affected_rows: u64,
    /// The first number that AUTO_INCREMENT gave out, 0 when none.
    pub last_insert_id: u64,
    /// See [`status_flag`].
    pub status: u16,
    /// How many warnings `SHOW WARNINGS` would list.
    pub warnings: u16,
    /// What the server adds for people.
    pub info: String,
    /// Changes of session state, for [`StateChange`](super::session_state::StateChange); empty without session tracking.
    pub state: Vec<u8>,
}

impl Ok {
    /// Header of an OK in place of a result set.
    pub const HEADER: u8 = 0x00;
    /// Header of an OK at the end of rows.
    pub const END_HEADER: u8 = 0xfe;

    /// Decodes a payload whose header is [`HEADER`](Self::HEADER) or [`END_HEADER`](Self::END_HEADER).
    pub fn decode(payload: &[u8], session_track: bool) -> Result<Self, Malformed> {
        let mut reader = Reader::new(payload);
        if !matches!(reader.u8("OK header")?, Self::HEADER | Self::END_HEADER) {
            return Err(Malformed::new("OK header"));
        }
        let affected_rows = lenenc::integer(&mut reader, "OK affected rows")?;
        let last_insert_id = lenenc::integer(&mut reader, "OK last insert id")?;
        let status = reader.u16_le("OK status")?;
        let warnings = reader.u16_le("OK warnings")?;
        let mut state = Vec::new();
        let info = if session_track && !reader.is_empty() {
            let info = lenenc::bytes(&mut reader, "OK info")?;
            if status & status_flag::SESSION_STATE_CHANGED != 0 {
                state.extend_from_slice(lenenc::bytes(&mut reader, "OK session state")?);
            }
            reader.finish("OK trailer")?;
            info
        } else {
            let rest = reader.rest();
            // Without session tracking the text goes to the end; some servers put its length in front all the same.
            match rest.split_first() {
                Some((&len, text)) if usize::from(len) == text.len() => text,
                _ => rest,
            }
        };
        let info = String::from_utf8_lossy(info).into_owned();
        Result::Ok(Self { affected_rows, last_insert_id, status, warnings, info, state })
    }

    /// Appends the payload.
    pub fn encode(&self, header: u8, bytes: &mut Vec<u8>) {
        let mut writer = Writer::new(bytes);
        writer.u8(header);
        lenenc::put_integer(&mut writer, self.affected_rows);
        lenenc::put_integer(&mut writer, self.last_insert_id);
        writer.u16_le(self.status).u16_le(self.warnings);
        if !self.info.is_empty() || !self.state.is_empty() {
            lenenc::put_bytes(&mut writer, self.info.as_bytes());
        }
        if !self.state.is_empty() {
            lenenc::put_bytes(&mut writer, &self.state);
        }
    }
}

/// Columns or rows are over, for clients that did not ask for OK in its place.
///
/// Wire: header `FE`, warnings `u16le`, status `u16le`; a payload of less than nine bytes.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Eof {
    /// How many warnings `SHOW WARNINGS` would list.
    pub warnings: u16,
    /// See [`status_flag`].
    pub status: u16,
}

impl Eof {
    /// The first byte.
    pub const HEADER: u8 = 0xfe;

    /// Decodes a payload.
    pub fn decode(payload: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(payload);
        if reader.u8("EOF header")? != Self::HEADER {
            return Err(Malformed::new("EOF header"));
        }
        let warnings = reader.u16_le("EOF warnings")?;
        let status = reader.u16_le("EOF status")?;
        reader.finish("EOF trailer")?;
        Result::Ok(Self { warnings, status })
    }

    /// Appends the payload.
    pub fn encode(self, bytes: &mut Vec<u8>) {
        Writer::new(bytes).u8(Self::HEADER).u16_le(self.warnings).u16_le(self.status);
    }
}

/// The server refused.
///
/// Wire: header `FF`, code `u16le`, then `#` and five bytes of SQLSTATE (absent before the handshake is over), then the
/// message up to the end.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ServerError {
    /// The server's own number.
    pub code: u16,
    /// Five characters; `HY000` when the server sent none.
    pub sqlstate: String,
    /// For people.
    pub message: String,
}

impl ServerError {
    /// The first byte.
    pub const HEADER: u8 = 0xff;

    /// Decodes a payload.
    pub fn decode(payload: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(payload);
        if reader.u8("ERR header")? != Self::HEADER {
            return Err(Malformed::new("ERR header"));
        }
        let code = reader.u16_le("ERR code")?;
        let rest = reader.rest();
        let (sqlstate, message) = match rest.split_first() {
            Some((b'#', tail)) if tail.len() >= 5 => tail.split_at(5),
            _ => (&b"HY000"[..], rest),
        };
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        Result::Ok(Self { code, sqlstate: text(sqlstate), message: text(message) })
    }

    /// Appends the payload.
    pub fn encode(&self, bytes: &mut Vec<u8>) {
        let mut writer = Writer::new(bytes);
        writer.u8(Self::HEADER).u16_le(self.code).u8(b'#');
        writer.raw(self.sqlstate.as_bytes()).raw(self.message.as_bytes());
    }
}

impl fmt::Display for ServerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}): {}", self.code, self.sqlstate, self.message)
    }
}

impl std::error::Error for ServerError {}
