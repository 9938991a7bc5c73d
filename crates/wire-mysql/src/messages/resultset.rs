//! Columns and rows.

use rowferry_wire::{Malformed, Reader, Writer};

use crate::lenenc;
use crate::types::{BinaryForm, CHARSET_BINARY, ColumnType, column_flag};

/// What the server says about a column.
///
/// Wire: catalog (always `def`), schema, table, original table, name, original name as length-encoded strings; where
/// MariaDB's extended metadata was asked for, what it adds, behind its length; the length `0C` of what follows, character set `u16le`, display length `u32le`, type `u8`, flags `u16le`, decimals
/// `u8`, two reserved bytes.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ColumnDefinition {
    /// The database.
    pub schema: String,
    /// The table, or its alias.
    pub table: String,
    /// The table without alias.
    pub org_table: String,
    /// The column, or its alias.
    pub name: String,
    /// The column without alias.
    pub org_name: String,
    /// The collation's number, [`CHARSET_BINARY`] for bytes.
    pub charset: u16,
    /// The display length.
    pub length: u32,
    /// The type's code.
    pub column_type: ColumnType,
    /// See [`column_flag`].
    pub flags: u16,
    /// Digits behind the point; `1F` when not fixed.
    pub decimals: u8,
    /// What MariaDB adds: a kind (`00` the type's name, `01` the format of text) and a length-encoded string, each.
    pub extended: Vec<u8>,
}

impl ColumnDefinition {
    /// Decodes a payload.
    pub fn decode(payload: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(payload);
        let mut text = |what| -> Result<String, Malformed> {
            Ok(String::from_utf8_lossy(lenenc::bytes(&mut reader, what)?).into_owned())
        };
        text("column catalog")?;
        let schema = text("column schema")?;
        let table = text("column table")?;
        let org_table = text("column original table")?;
        let name = text("column name")?;
        let org_name = text("column original name")?;
        let mut fixed = lenenc::bytes(&mut reader, "column details")?;
        let mut extended = &[][..];
        if !reader.is_empty() {
            (extended, fixed) = (fixed, lenenc::bytes(&mut reader, "column details")?);
        }
        // `COM_FIELD_LIST` would add a default value; nothing else may follow.
        reader.finish("column trailer")?;
        let mut reader = Reader::new(fixed);
        Ok(Self {
            schema,
            table,
            org_table,
            name,
            org_name,
            charset: reader.u16_le("column charset")?,
            length: reader.u32_le("column length")?,
            column_type: ColumnType(reader.u8("column type")?),
            flags: reader.u16_le("column flags")?,
            decimals: reader.u8("column decimals")?,
            extended: extended.to_vec(),
        })
    }

    /// Appends the payload.
    pub fn encode(&self, bytes: &mut Vec<u8>) {
        let mut writer = Writer::new(bytes);
        for text in ["def", &self.schema, &self.table, &self.org_table, &self.name, &self.org_name] {
            lenenc::put_bytes(&mut writer, text.as_bytes());
        }
        if !self.extended.is_empty() {
            lenenc::put_bytes(&mut writer, &self.extended);
        }
        writer.u8(0x0c).u16_le(self.charset).u32_le(self.length).u8(self.column_type.0).u16_le(self.flags);
        writer.u8(self.decimals).raw(&[0; 2]);
    }

    /// True when the value is bytes rather than text.
    pub const fn is_binary(&self) -> bool {
        self.charset == CHARSET_BINARY
    }

    /// True when the text is JSON: by its type, or as MariaDB adds.
    pub fn is_json(&self) -> bool {
        self.column_type == ColumnType::JSON || self.added(1) == Some(b"json")
    }

    /// True when the text is an UUID, as MariaDB adds.
    pub fn is_uuid(&self) -> bool {
        self.added(0) == Some(b"uuid")
    }

    /// True when the text is some of a list.
    pub const fn is_set(&self) -> bool {
        self.flags & column_flag::SET != 0
    }

    /// What MariaDB adds of this kind.
    fn added(&self, kind: u8) -> Option<&[u8]> {
        let mut reader = Reader::new(&self.extended);
        while !reader.is_empty() {
            let found = reader.u8("kind").ok()?;
            let text = lenenc::bytes(&mut reader, "what is added").ok()?;
            if found == kind {
                return Some(text);
            }
        }
        None
    }

    /// True when the number has no sign.
    pub const fn is_unsigned(&self) -> bool {
        self.flags & column_flag::UNSIGNED != 0
    }
}

/// The columns of a result set, shared by all results of the same shape.
#[derive(Debug, Default, Eq, PartialEq)]
pub struct Columns {
    /// In the order of the select list.
    pub definitions: Vec<ColumnDefinition>,
    /// The payloads they were decoded from, each behind its length.
    raw: Vec<u8>,
}

impl Columns {
    /// Decodes payloads that were put together by [`push_raw`](Self::push_raw).
    pub(crate) fn from_raw(raw: Vec<u8>) -> Result<Self, Malformed> {
        let mut definitions = Vec::new();
        let mut reader = Reader::new(&raw);
        while !reader.is_empty() {
            let len = reader.u32_le("column")?;
            definitions.push(ColumnDefinition::decode(reader.take(len as usize, "column")?)?);
        }
        Ok(Self { definitions, raw })
    }

    /// Appends a payload to those of the columns before.
    pub(crate) fn push_raw(raw: &mut Vec<u8>, payload: &[u8]) {
        raw.extend_from_slice(&(payload.len() as u32).to_le_bytes());
        raw.extend_from_slice(payload);
    }

    /// True when these are the columns that `raw` would decode to.
    pub(crate) fn is_from(&self, raw: &[u8]) -> bool {
        self.raw == raw
    }
}

/// Walks over the cells of a row of the text protocol: length-encoded strings, `FB` for NULL.
///
/// Call [`finish`](Self::finish) after the last column: a row must consume its payload exactly.
#[derive(Clone, Debug)]
pub struct TextRow<'a> {
    rest: &'a [u8],
}

impl<'a> TextRow<'a> {
    /// Starts at the first cell of a row.
    #[inline]
    pub const fn new(payload: &'a [u8]) -> Self {
        Self { rest: payload }
    }

    /// The next cell, `None` for NULL.
    #[inline]
    pub fn cell(&mut self) -> Result<Option<&'a [u8]>, Malformed> {
        lenenc::cut_nullable(&mut self.rest, "text cell")
    }

    /// Refuses bytes behind the last cell.
    #[inline]
    pub const fn finish(&self) -> Result<(), Malformed> {
        nothing_behind(self.rest)
    }

    /// Appends a cell.
    pub fn encode_cell(cell: Option<&[u8]>, bytes: &mut Vec<u8>) {
        let mut writer = Writer::new(bytes);
        match cell {
            Some(value) => lenenc::put_bytes(&mut writer, value),
            None => {
                writer.u8(0xfb);
            }
        }
    }
}

/// Walks over the cells of a row of the binary protocol.
///
/// Wire: header `00`, a bit for each column that is NULL (the first two bits unused), then the values that are not, in
/// the form of their type.
#[derive(Clone, Debug)]
pub struct BinaryRow<'a> {
    nulls: &'a [u8],
    at: usize,
    rest: &'a [u8],
}

impl<'a> BinaryRow<'a> {
    /// The first byte.
    pub const HEADER: u8 = 0x00;
    /// Unused bits in front of the NULL bits of a row.
    const OFFSET: usize = 2;

    /// Starts at the first cell of a row of `columns` columns.
    #[inline]
    pub fn new(payload: &'a [u8], columns: usize) -> Result<Self, Malformed> {
        let [Self::HEADER, behind @ ..] = payload else { return Err(Malformed::new("row header")) };
        let (nulls, rest) =
            behind.split_at_checked((columns + Self::OFFSET).div_ceil(8)).ok_or(Malformed::new("row NULL bits"))?;
        Ok(Self { nulls, at: 0, rest })
    }

    /// The next cell's bytes: exactly the width of a fixed type, the body of a temporal or of a string. `None` for NULL.
    #[inline]
    pub fn cell(&mut self, form: BinaryForm) -> Result<Option<&'a [u8]>, Malformed> {
        let null = self.is_null(self.at);
        self.at += 1;
        if null { Ok(None) } else { self.value(form).map(Some) }
    }

    /// True when a cell may be NULL. Most rows have none, and need not be asked for each.
    #[inline]
    pub fn has_nulls(&self) -> bool {
        self.nulls.iter().any(|&bits| bits != 0)
    }

    /// True when the cell of this column, counted from 0, is NULL.
    #[inline]
    pub fn is_null(&self, column: usize) -> bool {
        let at = column + Self::OFFSET;
        self.nulls.get(at / 8).is_some_and(|bits| bits >> (at % 8) & 1 == 1)
    }

    /// The bytes of the next cell that is not NULL, for callers that ask [`is_null`](Self::is_null) themselves.
    #[inline]
    pub fn value(&mut self, form: BinaryForm) -> Result<&'a [u8], Malformed> {
        match form {
            BinaryForm::Fixed(len) => self.cut(len),
            BinaryForm::Temporal => self.temporal(),
            BinaryForm::Bytes => self.string(),
            BinaryForm::Nothing => Ok(&[]),
        }
    }

    /// The next cell that is not NULL, of a type of this width.
    #[inline]
    pub fn fixed<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let (cell, behind) = self.rest.split_first_chunk::<N>().ok_or(Malformed::new("binary cell"))?;
        self.rest = behind;
        Ok(*cell)
    }

    /// The body of the next cell that is not NULL, of a temporal type.
    #[inline]
    pub fn temporal(&mut self) -> Result<&'a [u8], Malformed> {
        let [len] = self.fixed()?;
        self.cut(usize::from(len))
    }

    /// The next cell that is not NULL, of a type with a length in front.
    #[inline]
    pub fn string(&mut self) -> Result<&'a [u8], Malformed> {
        lenenc::cut(&mut self.rest, "binary cell")
    }

    /// Refuses bytes behind the last cell.
    #[inline]
    pub const fn finish(&self) -> Result<(), Malformed> {
        nothing_behind(self.rest)
    }

    #[inline]
    fn cut(&mut self, len: usize) -> Result<&'a [u8], Malformed> {
        let (cell, behind) = self.rest.split_at_checked(len).ok_or(Malformed::new("binary cell"))?;
        self.rest = behind;
        Ok(cell)
    }
}

#[inline]
const fn nothing_behind(rest: &[u8]) -> Result<(), Malformed> {
    if rest.is_empty() { Ok(()) } else { Err(Malformed::new("bytes behind the last cell")) }
}

/// A date and time as the binary protocol has it. Zero dates are possible: every field may be 0.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct DateTime {
    /// 0 to 9999.
    pub year: u16,
    /// 0 to 12.
    pub month: u8,
    /// 0 to 31.
    pub day: u8,
    /// 0 to 23.
    pub hour: u8,
    /// 0 to 59.
    pub minute: u8,
    /// 0 to 59.
    pub second: u8,
    /// 0 to 999,999.
    pub microsecond: u32,
}

impl DateTime {
    /// Decodes a body of 0, 4, 7 or 11 bytes: year `u16le`, month, day; hour, minute, second; microseconds `u32le`.
    #[inline]
    pub fn decode(body: &[u8]) -> Result<Self, Malformed> {
        // A date, and a moment without microseconds.
        match *body {
            [low, high, month, day] => {
                return Ok(Self { year: u16::from_le_bytes([low, high]), month, day, ..Self::default() });
            }
            [low, high, month, day, hour, minute, second] => {
                let year = u16::from_le_bytes([low, high]);
                return Ok(Self { year, month, day, hour, minute, second, microsecond: 0 });
            }
            _ => {}
        }
        let mut reader = Reader::new(body);
        let mut value = Self::default();
        if !reader.is_empty() {
            value.year = reader.u16_le("year")?;
            [value.month, value.day] = reader.array("month and day")?;
        }
        if !reader.is_empty() {
            [value.hour, value.minute, value.second] = reader.array("time of day")?;
        }
        if !reader.is_empty() {
            value.microsecond = reader.u32_le("microseconds")?;
        }
        reader.finish("date trailer")?;
        Ok(value)
    }

    /// Appends length and body, as short as the value allows.
    pub fn encode(self, bytes: &mut Vec<u8>) {
        let mut writer = Writer::new(bytes);
        let time = self.hour != 0 || self.minute != 0 || self.second != 0;
        let len = match (self.microsecond != 0, time, self == Self::default()) {
            (true, ..) => 11,
            (_, true, _) => 7,
            (.., false) => 4,
            (.., true) => 0,
        };
        writer.u8(len);
        if len >= 4 {
            writer.u16_le(self.year).u8(self.month).u8(self.day);
        }
        if len >= 7 {
            writer.u8(self.hour).u8(self.minute).u8(self.second);
        }
        if len >= 11 {
            writer.u32_le(self.microsecond);
        }
    }
}

/// A duration as the binary protocol has it.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Time {
    /// True below zero.
    pub negative: bool,
    /// Whole days.
    pub days: u32,
    /// 0 to 23.
    pub hours: u8,
    /// 0 to 59.
    pub minutes: u8,
    /// 0 to 59.
    pub seconds: u8,
    /// 0 to 999,999.
    pub microseconds: u32,
}

impl Time {
    /// Decodes a body of 0, 8 or 12 bytes: sign, days `u32le`, hours, minutes, seconds; microseconds `u32le`.
    pub fn decode(body: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(body);
        let mut value = Self::default();
        if !reader.is_empty() {
            value.negative = reader.u8("sign")? != 0;
            value.days = reader.u32_le("days")?;
            [value.hours, value.minutes, value.seconds] = reader.array("time of day")?;
        }
        if !reader.is_empty() {
            value.microseconds = reader.u32_le("microseconds")?;
        }
        reader.finish("time trailer")?;
        Ok(value)
    }

    /// Appends length and body, as short as the value allows.
    pub fn encode(self, bytes: &mut Vec<u8>) {
        let mut writer = Writer::new(bytes);
        let len = match (self.microseconds != 0, self == Self { negative: self.negative, ..Self::default() }) {
            (true, _) => 12,
            (_, true) => 0,
            _ => 8,
        };
        writer.u8(len);
        if len >= 8 {
            writer.u8(u8::from(self.negative)).u32_le(self.days);
            writer.u8(self.hours).u8(self.minutes).u8(self.seconds);
        }
        if len >= 12 {
            writer.u32_le(self.microseconds);
        }
    }
}
