//! What comes back: rows, counts, errors.

use std::borrow::Cow;

use rowferry_wire::Writer;

use super::statement::len32;
use crate::put::Put;
use crate::scan::{Scan, Stop};
use crate::tag::Tag;
use crate::values::{decode_int8, encode_int8};
use crate::{MAX_PAYLOAD, TooLong, Widths};

/// `SQ_TUPLE` (14): one row, its cells back to back without alignment.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Tuple<'a> {
    /// Warnings; 0.
    pub warnings: u16,
    /// The cells; their widths add up to exactly these bytes.
    pub payload: &'a [u8],
}

impl<'a> Tuple<'a> {
    #[inline]
    pub(super) fn decode(scan: &mut Scan<'a>) -> Result<Self, Stop> {
        let warnings = scan.u16()?;
        let len = scan.len32(MAX_PAYLOAD, "length of a row")?;
        Ok(Self { warnings, payload: scan.take_padded(len)? })
    }

    /// Under the tag of a query's row, or of an inserted row's keys.
    pub(super) fn encode(&self, tag: Tag, w: &mut Writer<'_>) -> Result<(), TooLong> {
        w.u16(tag.0).u16(self.warnings).i32(len32(self.payload, "row")?).padded(self.payload);
        Ok(())
    }
}

/// Warning bits of [`Done`] that describe a database, in the answer to `SQ_DBOPEN` and at login.
pub mod warning {
    /// The database has transactions.
    pub const LOGGED: u16 = 0x0001;
    /// The database is in ANSI mode.
    pub const ANSI: u16 = 0x0002;
    /// The server is a Dynamic Server.
    pub const DYNAMIC_SERVER: u16 = 0x0004;
    /// `FLOAT` is stored as `DECIMAL`.
    pub const FLOAT_AS_DECIMAL: u16 = 0x0008;
    /// Set by real servers; not established.
    pub const UNKNOWN_10: u16 = 0x0010;
    /// The server can only be read.
    pub const READ_ONLY: u16 = 0x0020;
}

/// `SQ_DONE` (15): a statement finished. In the reply to a fetch: there are no more rows.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Done {
    /// Bits of [`warning`].
    pub warnings: u16,
    /// Rows affected; in fetch replies, rows that the cursor has delivered so far.
    pub rows: i64,
    /// The row touched last, 0 if none.
    pub rowid: i64,
    /// The `SERIAL` value that an `INSERT` generated, otherwise 0.
    pub serial: i32,
}

impl Done {
    pub(super) fn decode(scan: &mut Scan<'_>, widths: Widths) -> Result<Self, Stop> {
        let warnings = scan.u16()?;
        let (rows, rowid) = if widths.long_rowid {
            (scan.i64()?, scan.i64()?)
        } else {
            (i64::from(scan.i32()?), i64::from(scan.i32()?))
        };
        Ok(Self { warnings, rows, rowid, serial: scan.i32()? })
    }

    pub(super) fn encode(&self, w: &mut Writer<'_>, widths: Widths) {
        w.u16(Tag::DONE.0).u16(self.warnings);
        if widths.long_rowid {
            w.i64(self.rows).i64(self.rowid);
        } else {
            let narrow = |value: i64| i32::try_from(value).unwrap_or(i32::MAX);
            w.i32(narrow(self.rows)).i32(narrow(self.rowid));
        }
        w.i32(self.serial);
    }
}

/// `SQ_COST` (55): estimates. Optional everywhere.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Cost {
    /// Estimated rows.
    pub rows: i32,
    /// Estimated cost.
    pub cost: i32,
}

impl Cost {
    pub(super) fn decode(scan: &mut Scan<'_>) -> Result<Self, Stop> {
        Ok(Self { rows: scan.i32()?, cost: scan.i32()? })
    }

    pub(super) fn encode(&self, w: &mut Writer<'_>) {
        w.u16(Tag::COST.0).i32(self.rows).i32(self.cost);
    }
}

/// `SQ_INSERTDONE` (94): values that an `INSERT` generated. It does not mean that a row was inserted: a real server also
/// sends it when an `INSERT` of literals is prepared.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct InsertDone {
    /// The `SERIAL8` value; `None` is on the wire when the sign is missing.
    pub serial8: Option<i64>,
    /// The `BIGSERIAL` value; absent (0) without capability 54.
    pub bigserial: i64,
}

impl InsertDone {
    pub(super) fn decode(scan: &mut Scan<'_>, widths: Widths) -> Result<Self, Stop> {
        let serial8 = decode_int8(scan.array()?)?;
        Ok(Self { serial8, bigserial: if widths.bigserial { scan.i64()? } else { 0 } })
    }

    pub(super) fn encode(&self, w: &mut Writer<'_>, widths: Widths) {
        w.u16(Tag::INSERTDONE.0).raw(&encode_int8(self.serial8));
        if widths.bigserial {
            w.i64(self.bigserial);
        }
    }
}

/// `SQ_XACTSTAT` (99): the state of the transaction changed. A client skips it anywhere.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct XactStat {
    /// 1 begin, 2 commit, 3 roll back, as accepted by clients.
    pub event: i16,
    /// Level after it.
    pub new_level: i16,
    /// Level before it.
    pub old_level: i16,
}

impl XactStat {
    /// A transaction began.
    pub const BEGIN: Self = Self { event: 1, new_level: 1, old_level: 0 };
    /// A transaction was committed.
    pub const COMMIT: Self = Self { event: 2, new_level: 0, old_level: 1 };
    /// A transaction was rolled back.
    pub const ROLLBACK: Self = Self { event: 3, new_level: 0, old_level: 1 };

    pub(super) fn decode(scan: &mut Scan<'_>) -> Result<Self, Stop> {
        Ok(Self { event: scan.i16()?, new_level: scan.i16()?, old_level: scan.i16()? })
    }

    pub(super) fn encode(&self, w: &mut Writer<'_>) {
        w.u16(Tag::XACTSTAT.0).i16(self.event).i16(self.new_level).i16(self.old_level);
    }
}

/// `SQ_ERR` (13): what failed. The rest of the group was not executed; `SQ_EOT` follows.
///
/// Wire: `i16` SQL code, `i16` ISAM code, offset of two or four bytes by capability 62, `CHAR` token. The token is not a
/// message but the name that the client puts into its own. Vectors: `error.*`.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct ServerError<'a> {
    /// Informix SQL code, negative.
    pub sqlcode: i16,
    /// ISAM code, negative, or 0.
    pub isam: i16,
    /// Position in the SQL text in characters, from 1; 0 when unknown.
    pub offset: i32,
    /// Table, column, constraint or database; free text for -746.
    pub token: Cow<'a, [u8]>,
}

impl<'a> ServerError<'a> {
    pub(super) fn decode(scan: &mut Scan<'a>, widths: Widths) -> Result<Self, Stop> {
        let (sqlcode, isam) = (scan.i16()?, scan.i16()?);
        let offset = if widths.long_sql { scan.i32()? } else { i32::from(scan.i16()?) };
        Ok(Self { sqlcode, isam, offset, token: Cow::Borrowed(scan.char()?) })
    }

    pub(super) fn encode(&self, w: &mut Writer<'_>, widths: Widths) -> Result<(), TooLong> {
        w.u16(Tag::ERR.0).i16(self.sqlcode).i16(self.isam);
        if widths.long_sql {
            w.i32(self.offset);
        } else {
            w.i16(i16::try_from(self.offset).unwrap_or(0));
        }
        w.char(&self.token, "token of an error")?;
        Ok(())
    }

    /// The same error with a token of its own.
    pub fn into_owned(self) -> ServerError<'static> {
        ServerError { token: Cow::Owned(self.token.into_owned()), ..self }
    }
}
