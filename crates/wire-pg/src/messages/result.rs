//! Rows and what they look like.

use rowferry_wire::{Malformed, Reader, Writer};

use super::query::Values;
use super::{put_text, text};
use crate::Format;

/// The most columns that a result can have. PostgreSQL's own limit for a target list.
pub const MAX_COLUMNS: usize = 1_664;

/// A column of a result.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct FieldDescription<'a> {
    /// Its name.
    pub name: &'a str,
    /// The oid of the table it comes from; 0 for an expression.
    pub table: u32,
    /// Its number in that table, from 1; 0 for an expression.
    pub column: i16,
    /// The oid of its type.
    pub type_oid: u32,
    /// The type's width in bytes; -1 varies, -2 is terminated.
    pub type_size: i16,
    /// The type's modifier (length, precision and scale); -1 for none.
    pub type_modifier: i32,
    /// How values will be written. TEXT when a statement is described, before `Bind` has said.
    pub format: Format,
}

impl<'a> FieldDescription<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<Self, Malformed> {
        Ok(Self {
            name: text(reader, "field name")?,
            table: reader.u32("field table")?,
            column: reader.i16("field column")?,
            type_oid: reader.u32("field type")?,
            type_size: reader.i16("field type size")?,
            type_modifier: reader.i32("field type modifier")?,
            format: Format(reader.u16("field format")?),
        })
    }

    fn encode(&self, writer: &mut Writer<'_>) {
        put_text(writer, self.name);
        writer.u32(self.table).i16(self.column).u32(self.type_oid);
        writer.i16(self.type_size).i32(self.type_modifier).u16(self.format.0);
    }
}

/// What the rows to come look like.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RowDescription<'a> {
    /// The columns in order.
    pub fields: Vec<FieldDescription<'a>>,
}

impl<'a> RowDescription<'a> {
    pub(super) fn decode(reader: &mut Reader<'a>) -> Result<Self, Malformed> {
        let count = usize::from(reader.u16("number of fields")?);
        // A name's terminator and eighteen bytes of numbers.
        reader.fits(count, 19, "number of fields")?;
        let fields = (0..count).map(|_| FieldDescription::decode(reader)).collect::<Result<_, _>>()?;
        Ok(Self { fields })
    }

    pub(super) fn encode(&self, writer: &mut Writer<'_>) {
        let count = u16::try_from(self.fields.len()).unwrap_or(u16::MAX);
        writer.u16(count);
        for field in &self.fields[..usize::from(count)] {
            field.encode(writer);
        }
    }
}

/// A row; its values are read in place.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct DataRow<'a> {
    /// The values in order.
    pub values: Values<'a>,
}

impl<'a> DataRow<'a> {
    pub(super) fn decode(reader: &mut Reader<'a>) -> Result<Self, Malformed> {
        Ok(Self { values: Values::decode(reader)? })
    }

    pub(super) fn encode(&self, writer: &mut Writer<'_>) {
        self.values.encode(writer);
    }
}

/// Writes one `DataRow` straight into the output, value by value, without a detour.
///
/// The row is complete only after [`finish`](RowEncoder::finish); [`abandon`](RowEncoder::abandon) takes back what was
/// written, for when a value turns out to be impossible.
#[derive(Debug)]
pub struct RowEncoder<'a> {
    out: &'a mut Vec<u8>,
    start: usize,
}

impl<'a> RowEncoder<'a> {
    /// Begins a row of `columns` values.
    #[inline]
    pub fn begin(out: &'a mut Vec<u8>, columns: u16) -> Self {
        let start = out.len();
        let [high, low] = columns.to_be_bytes();
        out.extend_from_slice(&[b'D', 0, 0, 0, 0, high, low]);
        Self { out, start }
    }

    /// Writes NULL.
    #[inline]
    pub fn null(&mut self) {
        self.out.extend_from_slice(&[0xff; 4]);
    }

    /// Writes a value that is at hand.
    #[inline]
    pub fn value(&mut self, bytes: &[u8]) {
        let length = i32::try_from(bytes.len()).unwrap_or(i32::MAX);
        self.out.extend_from_slice(&length.to_be_bytes());
        self.out.extend_from_slice(bytes);
    }

    /// Writes a value that `write` appends; its length is filled in afterwards.
    #[inline]
    pub fn value_with<E>(&mut self, write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>) -> Result<(), E> {
        let at = self.out.len();
        self.out.extend_from_slice(&[0; 4]);
        write(self.out)?;
        let length = i32::try_from(self.out.len() - at - 4).unwrap_or(i32::MAX);
        self.out[at..at + 4].copy_from_slice(&length.to_be_bytes());
        Ok(())
    }

    /// Fills in the row's length. False, and nothing is written, when the row is longer than a message can be.
    #[inline]
    #[must_use]
    pub fn finish(self) -> bool {
        match i32::try_from(self.out.len() - self.start - 1) {
            Ok(length) => {
                self.out[self.start + 1..self.start + 5].copy_from_slice(&length.to_be_bytes());
                true
            }
            Err(_) => {
                self.out.truncate(self.start);
                false
            }
        }
    }

    /// Takes the row back.
    pub fn abandon(self) {
        self.out.truncate(self.start);
    }
}
