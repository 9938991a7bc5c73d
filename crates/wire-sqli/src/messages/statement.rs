//! Statements: prepare and run, cursors, fetches.

use rowferry_wire::Writer;

use super::StatementId;
use crate::put::Put;
use crate::scan::{Scan, Stop, malformed};
use crate::tag::Tag;
use crate::{DecodeError, MAX_PAYLOAD, TooLong, TypeCode, Widths};

/// SQL text with its number of `?` placeholders: `SQ_COMMAND` (1) and `SQ_PREPARE` (2).
///
/// Wire: `i16` placeholders (0 in `SQ_COMMAND`), then the text as `LCHAR` or `CHAR`. Vectors: `command.*`, `*.prepare.*`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct SqlText<'a> {
    /// How many `?` the client counted.
    pub params: u16,
    /// The text, in the code set of the client.
    pub sql: &'a [u8],
}

impl<'a> SqlText<'a> {
    pub(super) fn decode(scan: &mut Scan<'a>, widths: Widths) -> Result<Self, Stop> {
        Ok(Self { params: scan.u16()?, sql: scan.sql(widths)? })
    }

    pub(super) fn encode(&self, w: &mut Writer<'_>, tag: Tag, widths: Widths) -> Result<(), TooLong> {
        w.u16(tag.0).u16(self.params).sql(self.sql, widths)?;
        Ok(())
    }
}

/// `SQ_NFETCH` (9): fetch rows while their payloads fit in so many bytes, but at least one.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct NFetch {
    /// Byte budget for row payloads.
    pub buffer: i32,
    /// Always 0.
    pub reserved: i16,
}

impl NFetch {
    pub(super) fn decode(scan: &mut Scan<'_>) -> Result<Self, Stop> {
        Ok(Self { buffer: scan.i32()?, reserved: scan.i16()? })
    }

    pub(super) fn encode(&self, w: &mut Writer<'_>) {
        w.u16(Tag::NFETCH.0).i32(self.buffer).i16(self.reserved);
    }
}

rowferry_wire::open_enum! {
    /// Which row `SQ_SFETCH` wants. Numbers 2, 3 and 5 are not seen on any wire: their meaning is inferred.
    pub struct FetchKind(i16) {
        /// The next row; the first when nothing was fetched.
        NEXT = 1,
        /// The row before.
        PREVIOUS = 2,
        /// The first row.
        FIRST = 3,
        /// The last row.
        LAST = 4,
        /// So many rows on from the current one.
        RELATIVE = 5,
        /// The row of this number, from 1.
        ABSOLUTE = 6,
    }
}

/// `SQ_SFETCH` (23): one row of a scroll cursor.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct SFetch {
    /// Which row.
    pub kind: FetchKind,
    /// Its number, for kinds that need one.
    pub row: i32,
    /// Byte budget.
    pub buffer: i32,
}

impl SFetch {
    pub(super) fn decode(scan: &mut Scan<'_>) -> Result<Self, Stop> {
        Ok(Self { kind: FetchKind(scan.i16()?), row: scan.i32()?, buffer: scan.i32()? })
    }

    pub(super) fn encode(&self, w: &mut Writer<'_>) {
        w.u16(Tag::SFETCH.0).i16(self.kind.0).i32(self.row).i32(self.buffer);
    }
}

/// One column of [`RetType`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct RequestedType<'a> {
    /// The type whose encoding the client wants.
    pub code: TypeCode,
    /// Owner of a named type; empty for others.
    pub owner: &'a [u8],
    /// Name of a named type; empty for others.
    pub name: &'a [u8],
    /// As in a field descriptor.
    pub encoded_length: i32,
}

/// `SQ_RET_TYPE` (100): the row format that the client wants from, or sends to, the current statement.
///
/// Vectors: `types.fetch.jdbc.request`, `column.bo.fetch.request`, `put.request`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RetType<'a> {
    /// True for rows to fetch, false for rows to put.
    pub fetch: bool,
    /// One per column.
    pub types: Vec<RequestedType<'a>>,
}

impl<'a> RetType<'a> {
    pub(super) fn decode(scan: &mut Scan<'a>) -> Result<Self, Stop> {
        let fetch = match scan.i16()? {
            1 => true,
            0 => false,
            _ => return malformed("direction of RET_TYPE"),
        };
        let count = scan.count("number of types in RET_TYPE")?;
        let types = scan.items(count, 6, |scan| {
            let code = type_code(scan.i16()?)?;
            let (owner, name) = if code.is_named() { (scan.char()?, scan.char()?) } else { (&b""[..], &b""[..]) };
            Ok(RequestedType { code, owner, name, encoded_length: scan.i32()? })
        })?;
        Ok(Self { fetch, types })
    }

    pub(super) fn encode(&self, w: &mut Writer<'_>) -> Result<(), TooLong> {
        w.u16(Tag::RET_TYPE.0).i16(i16::from(self.fetch)).count(self.types.len(), "number of columns")?;
        for column in &self.types {
            w.i16(i16::from(column.code.0));
            if column.code.is_named() {
                w.char(column.owner, "owner of a type")?.char(column.name, "name of a type")?;
            }
            w.i32(column.encoded_length);
        }
        Ok(())
    }
}

/// `SQ_PUTINSERT` (17): one row for an insert cursor, in row encoding.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct PutInsert<'a> {
    /// Rows in the tuple; 1.
    pub rows: i16,
    /// The cells, back to back.
    pub tuple: &'a [u8],
}

impl<'a> PutInsert<'a> {
    pub(super) fn decode(scan: &mut Scan<'a>) -> Result<Self, Stop> {
        let len = scan.len32(MAX_PAYLOAD, "length of PUTINSERT")?;
        Ok(Self { rows: scan.i16()?, tuple: scan.take_padded(len)? })
    }

    pub(super) fn encode(&self, w: &mut Writer<'_>) -> Result<(), TooLong> {
        w.u16(Tag::PUTINSERT.0).i32(len32(self.tuple, "row of an insert cursor")?).i16(self.rows).padded(self.tuple);
        Ok(())
    }
}

/// Tag 134: which generated keys the client wants, between the SQL text and `SQ_NDESCRIBE`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum GeneratedKeys<'a> {
    /// All of them.
    All,
    /// Those of these columns, by number.
    Numbers(Vec<i16>),
    /// Those of these columns, by name.
    Names(Vec<&'a [u8]>),
}

impl<'a> GeneratedKeys<'a> {
    pub(super) fn decode(scan: &mut Scan<'a>) -> Result<Self, Stop> {
        match scan.i16()? {
            1 => Ok(Self::All),
            2 => {
                let count = scan.count("number of key columns")?;
                Ok(Self::Numbers(scan.items(count, 2, Scan::i16)?))
            }
            3 => {
                let count = scan.count("number of key columns")?;
                Ok(Self::Names(scan.items(count, 2, Scan::char)?))
            }
            _ => Err(DecodeError::Unsupported("this kind of generated keys").into()),
        }
    }

    pub(super) fn encode(&self, w: &mut Writer<'_>) -> Result<(), TooLong> {
        w.u16(Tag::AUTOGENKEYS.0);
        match self {
            Self::All => {
                w.i16(1);
            }
            Self::Numbers(numbers) => {
                w.i16(2).count(numbers.len(), "number of key columns")?;
                for number in numbers {
                    w.i16(*number);
                }
            }
            Self::Names(names) => {
                w.i16(3).count(names.len(), "number of key columns")?;
                for name in names {
                    w.char(name, "name of a key column")?;
                }
            }
        }
        Ok(())
    }
}

/// `SQ_ID` (4): the statement that the rest of the group is about.
pub(super) fn encode_id(id: StatementId, w: &mut Writer<'_>) {
    w.u16(Tag::ID.0).i16(id.0);
}

/// A type code in a field of two bytes whose high byte must be empty or hold flags that do not matter here.
pub(super) fn type_code(word: i16) -> Result<TypeCode, Stop> {
    match u8::try_from(word) {
        Ok(code) => Ok(TypeCode(code)),
        Err(_) => malformed("type code"),
    }
}

pub(super) fn len32(bytes: &[u8], what: &'static str) -> Result<i32, TooLong> {
    match i32::try_from(bytes.len()) {
        Ok(len) if bytes.len() <= MAX_PAYLOAD => Ok(len),
        _ => Err(TooLong { what, limit: MAX_PAYLOAD }),
    }
}
