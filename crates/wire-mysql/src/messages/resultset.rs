//! Columns and rows.

use rowferry_wire::{Malformed, Reader, Writer};

use crate::lenenc;
use crate::types::{BinaryForm, CHARSET_BINARY, ColumnType, column_flag};

/// What the server says about a column.
///
/// Wire: catalog (always `def`), schema, table, original table, name, original name as length-encoded strings, the
/// length `0C` of what follows, character set `u16le`, display length `u32le`, type `u8`, flags `u16le`, decimals
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
        let fixed = lenenc::bytes(&mut reader, "column details")?;
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
        })
    }

    /// Appends the payload.
    pub fn encode(&self, bytes: &mut Vec<u8>) {
        let mut writer = Writer::new(bytes);
        for text in ["def", &self.schema, &self.table, &self.org_table, &self.name, &self.org_name] {
            lenenc::put_bytes(&mut writer, text.as_bytes());
        }
        writer.u8(0x0c).u16_le(self.charset).u32_le(self.length).u8(self.column_type.0).u16_le(self.flags);
        writer.u8(self.decimals).raw(&[0; 2]);
    }

    /// True when the value is bytes rather than text.
    pub const fn is_binary(&self) -> bool {
        self.charset == CHARSET_BINARY
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
pub struct TextRow<'a>(Reader<'a>);

impl<'a> TextRow<'a> {
    /// Starts at the first cell of a row.
    #[inline]
    pub const fn new(payload: &'a [u8]) -> Self {
        Self(Reader::new(payload))
    }

    /// The next cell, `None` for NULL.
    #[inline]
    pub fn cell(&mut self) -> Result<Option<&'a [u8]>, Malformed> {
        lenenc::nullable(&mut self.0, "text cell")
    }

    /// Refuses bytes behind the last cell.
    #[inline]
    pub fn finish(&self) -> Result<(), Malformed> {
        self.0.finish("bytes behind the last cell")
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
    reader: Reader<'a>,
}

impl<'a> BinaryRow<'a> {
    /// The first byte.
    pub const HEADER: u8 = 0x00;
    /// Unused bits in front of the NULL bits of a row.
    const OFFSET: usize = 2;

    /// Starts at the first cell of a row of `columns` columns.
    #[inline]
    pub fn new(payload: &'a [u8], columns: usize) -> Result<Self, Malformed> {
        let mut reader = Reader::new(payload);
        if reader.u8("row header")? != Self::HEADER {
            return Err(Malformed::new("row header"));
        }
        let nulls = reader.take((columns + Self::OFFSET).div_ceil(8), "row NULL bits")?;
        Ok(Self { nulls, at: Self::OFFSET, reader })
    }

    /// The next cell's bytes: exactly the width of a fixed type, the body of a temporal or of a string. `None` for NULL.
    #[inline]
    pub fn cell(&mut self, form: BinaryForm) -> Result<Option<&'a [u8]>, Malformed> {
        let bits = self.nulls.get(self.at / 8).ok_or(Malformed::new("row NULL bits"))?;
        let null = bits >> (self.at % 8) & 1 == 1;
        self.at += 1;
        if null {
            return Ok(None);
        }
        match form {
            BinaryForm::Fixed(len) => self.reader.take(len, "binary cell"),
            BinaryForm::Temporal => {
                let len = self.reader.u8("temporal length")?;
                self.reader.take(usize::from(len), "temporal cell")
            }
            BinaryForm::Bytes => lenenc::bytes(&mut self.reader, "binary cell"),
            BinaryForm::Nothing => Ok(&[][..]),
        }
        .map(Some)
    }

    /// Refuses bytes behind the last cell.
    #[inline]
    pub fn finish(&self) -> Result<(), Malformed> {
        self.reader.finish("bytes behind the last cell")
    }
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
    pub fn decode(body: &[u8]) -> Result<Self, Malformed> {
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
