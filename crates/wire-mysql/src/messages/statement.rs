//! Prepared statements.

use rowferry_wire::{Malformed, Reader, Writer};

use super::attributes::Attributes;
use super::command::Command;
use super::resultset::{DateTime, Time};
use crate::lenenc;
use crate::types::ColumnType;

/// The number that the server gave a prepared statement.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct StatementId(pub u32);

impl StatementId {
    /// MariaDB: the statement prepared last, whatever its number; lets an execution follow its preparation at once.
    pub const LAST_PREPARED: Self = Self(0xffff_ffff);
}

/// The server accepted a `COM_STMT_PREPARE`.
///
/// Wire: status `00`, statement id `u32le`, columns `u16le`, parameters `u16le`, one reserved byte, warnings `u16le`.
/// Some peers stop after the reserved byte, so warnings default to zero.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct PrepareOk {
    /// What to execute.
    pub statement: StatementId,
    /// How many columns a row will have; 0 for statements without rows.
    pub columns: u16,
    /// How many `?` there are.
    pub params: u16,
    /// How many warnings `SHOW WARNINGS` would list.
    pub warnings: u16,
}

impl PrepareOk {
    /// Decodes a payload.
    pub fn decode(payload: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(payload);
        if reader.u8("prepare status")? != 0 {
            return Err(Malformed::new("prepare status"));
        }
        let statement = StatementId(reader.u32_le("statement id")?);
        let columns = reader.u16_le("prepared columns")?;
        let params = reader.u16_le("prepared parameters")?;
        reader.u8("reserved")?;
        let warnings = if reader.is_empty() { 0 } else { reader.u16_le("prepare warnings")? };
        // MySQL adds a flag when metadata is optional; we never ask for that.
        Ok(Self { statement, columns, params, warnings })
    }

    /// Appends the payload.
    pub fn encode(self, bytes: &mut Vec<u8>) {
        let mut writer = Writer::new(bytes);
        writer.u8(0).u32_le(self.statement.0).u16_le(self.columns).u16_le(self.params).u8(0).u16_le(self.warnings);
    }
}

/// The values of one execution, in the order of the `?`.
///
/// Wire, behind the statement's id, a flags byte and an iteration count of 1: a bit for each NULL, `01` for "types
/// follow", type and sign of each, then the values that are not NULL.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Params {
    nulls: Vec<u8>,
    types: Vec<u8>,
    values: Vec<u8>,
    count: usize,
}

impl Params {
    /// The sign byte of an unsigned integer.
    const UNSIGNED: u8 = 0x80;
    /// The flag of an execution that says how many values there are, attributes included; all then have names.
    const COUNT_FOLLOWS: u8 = 0x08;

    /// How many values there are.
    pub const fn len(&self) -> usize {
        self.count
    }

    /// True when there are none.
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// About how many bytes they take on the wire.
    pub const fn size(&self) -> usize {
        self.types.len() + self.values.len()
    }

    fn add(&mut self, column_type: ColumnType, flag: u8) -> Writer<'_> {
        if self.count.is_multiple_of(8) {
            self.nulls.push(0);
        }
        self.count += 1;
        self.types.extend_from_slice(&[column_type.0, flag]);
        Writer::new(&mut self.values)
    }

    /// Adds NULL.
    pub fn null(&mut self) {
        self.add(ColumnType::NULL, 0);
        let at = self.count - 1;
        self.nulls[at / 8] |= 1 << (at % 8);
    }

    /// Adds a signed integer.
    pub fn int(&mut self, value: i64) {
        self.add(ColumnType::LONGLONG, 0).u64_le(value as u64);
    }

    /// Adds an unsigned integer.
    pub fn uint(&mut self, value: u64) {
        self.add(ColumnType::LONGLONG, Self::UNSIGNED).u64_le(value);
    }

    /// Adds a double.
    pub fn double(&mut self, value: f64) {
        self.add(ColumnType::DOUBLE, 0).f64_le(value);
    }

    /// Adds text in the connection's character set.
    pub fn text(&mut self, value: &[u8]) {
        lenenc::put_bytes(&mut self.add(ColumnType::VAR_STRING, 0), value);
    }

    /// Adds bytes.
    pub fn bytes(&mut self, value: &[u8]) {
        lenenc::put_bytes(&mut self.add(ColumnType::LONG_BLOB, 0), value);
    }

    /// Adds an exact number, spelled out.
    pub fn decimal(&mut self, value: &[u8]) {
        lenenc::put_bytes(&mut self.add(ColumnType::NEWDECIMAL, 0), value);
    }

    /// Adds a value that is sent before the execution, piece by piece: text, or else bytes.
    pub fn long(&mut self, is_text: bool) {
        self.add(if is_text { ColumnType::VAR_STRING } else { ColumnType::LONG_BLOB }, 0);
    }

    /// A value that was added by [`long`](Self::long) has turned out to be text, or bytes.
    pub fn set_long(&mut self, at: usize, is_text: bool) {
        if let Some(code) = self.types.get_mut(2 * at) {
            *code = if is_text { ColumnType::VAR_STRING.0 } else { ColumnType::LONG_BLOB.0 };
        }
    }

    /// Adds a date.
    pub fn date(&mut self, value: DateTime) {
        value.encode(self.add(ColumnType::DATE, 0).bytes);
    }

    /// Adds a date and time.
    pub fn datetime(&mut self, value: DateTime) {
        value.encode(self.add(ColumnType::DATETIME, 0).bytes);
    }

    /// Adds a duration.
    pub fn time(&mut self, value: Time) {
        value.encode(self.add(ColumnType::TIME, 0).bytes);
    }

    /// Appends the whole request. `attributes` travel with it where the server takes any, `None` where it does not.
    pub fn encode_execute(&self, statement: StatementId, attributes: Option<&Attributes>, bytes: &mut Vec<u8>) {
        bytes.reserve(12 + self.nulls.len() + self.types.len() + self.values.len());
        let mut writer = Writer::new(bytes);
        writer.u8(Command::STMT_EXECUTE.0).u32_le(statement.0);
        if let Some(attributes) = attributes {
            // MySQL 9 refuses values without the flag, whatever its manual says.
            writer.u8(Self::COUNT_FOLLOWS).u32_le(1);
            let count = self.count + attributes.values.count;
            lenenc::put_integer(&mut writer, count as u64);
            if count > 0 {
                attributes.values.encode_named(Some(self), attributes, bytes);
            }
            return;
        }
        writer.u8(0).u32_le(1);
        if self.count > 0 {
            writer.raw(&self.nulls).u8(1).raw(&self.types).raw(&self.values);
        }
    }

    /// Appends NULL bits, types with names, and values: those of `first`, which have no names, then the attributes'.
    pub(super) fn encode_named(&self, first: Option<&Self>, attributes: &Attributes, bytes: &mut Vec<u8>) {
        let none = Self::default();
        let first = first.unwrap_or(&none);
        let mut nulls = first.nulls.clone();
        nulls.resize((first.count + self.count).div_ceil(8), 0);
        for at in 0..self.count {
            if self.nulls[at / 8] & 1 << (at % 8) != 0 {
                let place = first.count + at;
                nulls[place / 8] |= 1 << (place % 8);
            }
        }
        let mut writer = Writer::new(bytes);
        writer.raw(&nulls).u8(1);
        for kind in first.types.chunks(2) {
            writer.raw(kind).u8(0);
        }
        for (kind, name) in self.types.chunks(2).zip(&attributes.names) {
            writer.raw(kind);
            lenenc::put_bytes(&mut writer, name);
        }
        writer.raw(&first.values).raw(&self.values);
    }
}

/// Takes the values of parameters, in the order of the `?`.
pub trait Bind {
    /// NULL.
    fn null(&mut self);
    /// A signed integer.
    fn int(&mut self, value: i64);
    /// An unsigned integer.
    fn uint(&mut self, value: u64);
    /// A double.
    fn double(&mut self, value: f64);
    /// Text in the connection's character set.
    fn text(&mut self, value: &[u8]);
    /// Bytes.
    fn bytes(&mut self, value: &[u8]);
    /// An exact number, spelled out.
    fn decimal(&mut self, value: &[u8]);
    /// A date.
    fn date(&mut self, value: DateTime);
    /// A date and time.
    fn datetime(&mut self, value: DateTime);
    /// A duration.
    fn time(&mut self, value: Time);
}

impl Bind for Params {
    fn null(&mut self) {
        self.null();
    }

    fn int(&mut self, value: i64) {
        self.int(value);
    }

    fn uint(&mut self, value: u64) {
        self.uint(value);
    }

    fn double(&mut self, value: f64) {
        self.double(value);
    }

    fn text(&mut self, value: &[u8]) {
        self.text(value);
    }

    fn bytes(&mut self, value: &[u8]) {
        self.bytes(value);
    }

    fn decimal(&mut self, value: &[u8]) {
        self.decimal(value);
    }

    fn date(&mut self, value: DateTime) {
        self.date(value);
    }

    fn datetime(&mut self, value: DateTime) {
        self.datetime(value);
    }

    fn time(&mut self, value: Time) {
        self.time(value);
    }
}
