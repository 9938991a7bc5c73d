//! Rows to bytes.

use rowferry_dialect::ir::{CopyFormat, CopyHeader, CopyOptions};
use rowferry_dialect::values::{Settings, ValueRef};
use rowferry_dialect::work;
use rowferry_engine::{Error, Result, Type};
use rowferry_wire_pg::Format;

use super::super::values;
use super::{Column, SIGNATURE};

/// Writes the rows of a COPY TO.
#[derive(Debug)]
pub(in super::super) struct CopyOut {
    options: CopyOptions,
    columns: Vec<Column>,
    writers: Vec<Writer>,
    /// A field before it is escaped.
    field: Vec<u8>,
}

#[derive(Debug)]
struct Writer {
    write: values::Write,
    plain: Plain,
}

/// What is written in letters, digits and signs that the options give no meaning, so that it may be sent as it is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Plain {
    /// Nobody knows.
    Perhaps,
    /// Values that are stored as numbers.
    Numbers,
    /// Texts of usual characters, which are filled up with blanks to so many.
    Text(u32),
    /// All values.
    All,
}

impl CopyOut {
    pub(in super::super) fn new(options: CopyOptions, columns: Vec<Column>) -> Result<Self> {
        let format = if options.format == CopyFormat::Binary { Format::BINARY } else { Format::TEXT };
        let usual = are_usual(&options);
        let writers = columns.iter().map(|Column { ty, .. }| {
            let plain = if usual { plain(ty) } else { Plain::Perhaps };
            Ok(Writer { write: values::writer(ty, format)?, plain })
        });
        let writers = writers.collect::<Result<_>>()?;
        Ok(Self { options, columns, writers, field: Vec::new() })
    }

    /// How many columns there are.
    pub(in super::super) fn len(&self) -> usize {
        self.columns.len()
    }

    /// What comes before the first row; may be empty.
    pub(in super::super) fn begin(&mut self, out: &mut Vec<u8>) {
        match self.options.format {
            CopyFormat::Binary => {
                out.extend_from_slice(SIGNATURE);
                out.extend_from_slice(&[0; 8]);
            }
            CopyFormat::Csv | CopyFormat::Text if self.options.header != CopyHeader::None => {
                for index in 0..self.columns.len() {
                    self.field.clear();
                    self.field.extend_from_slice(self.columns[index].name.as_bytes());
                    self.separate(out, index);
                    self.put_field(out, false);
                }
                out.push(b'\n');
            }
            CopyFormat::Csv | CopyFormat::Text => {}
        }
    }

    /// Writes a row, whose values `get` knows by their number. The error comes with the column that cannot be sent.
    #[inline]
    pub(in super::super) fn row<'v>(
        &mut self,
        out: &mut Vec<u8>,
        get: impl Fn(usize) -> ValueRef<'v>,
        settings: &Settings,
    ) -> std::result::Result<(), (usize, Error)> {
        if self.options.format == CopyFormat::Binary {
            return self.binary_row(out, get, settings);
        }
        for index in 0..self.columns.len() {
            self.separate(out, index);
            match get(index) {
                ValueRef::Null => out.extend_from_slice(self.options.null.as_bytes()),
                value => {
                    let plain = self.writers[index].plain;
                    if let (Plain::Text(width), ValueRef::Text(bytes)) = (plain, value)
                        && self.is_usual(bytes)
                    {
                        work::reserve(out, bytes.len()).map_err(|error| (index, error))?;
                        out.extend_from_slice(bytes);
                        out.resize(out.len() + (width as usize).saturating_sub(bytes.len()), b' ');
                        continue;
                    }
                    let start = out.len();
                    self.write(out, index, value, settings).map_err(|error| (index, error))?;
                    match (plain, value) {
                        (Plain::All, _) | (Plain::Numbers, ValueRef::Integer(_) | ValueRef::Real(_)) => {}
                        _ => self.escape(out, start, index),
                    }
                }
            }
        }
        out.push(b'\n');
        Ok(())
    }

    fn binary_row<'v>(
        &self,
        out: &mut Vec<u8>,
        get: impl Fn(usize) -> ValueRef<'v>,
        settings: &Settings,
    ) -> std::result::Result<(), (usize, Error)> {
        out.extend_from_slice(&(self.columns.len() as i16).to_be_bytes());
        for index in 0..self.columns.len() {
            let length = out.len();
            out.extend_from_slice(&(-1i32).to_be_bytes());
            match get(index) {
                ValueRef::Null => {}
                value => {
                    self.write(out, index, value, settings).map_err(|error| (index, error))?;
                    let written = (out.len() - length - 4) as i32;
                    out[length..length + 4].copy_from_slice(&written.to_be_bytes());
                }
            }
        }
        Ok(())
    }

    /// What comes behind the last row; may be empty.
    pub(in super::super) fn end(&self, out: &mut Vec<u8>) {
        if self.options.format == CopyFormat::Binary {
            out.extend_from_slice(&(-1i16).to_be_bytes());
        }
    }

    #[inline]
    fn write(&self, out: &mut Vec<u8>, index: usize, value: ValueRef<'_>, settings: &Settings) -> Result<()> {
        work::reserve(out, values::length(value))?;
        (self.writers[index].write)(out, value, &self.columns[index].ty, settings)
    }

    /// Escapes or quotes the field that was written from `start` on, if it needs that. Most fields are as they must be.
    fn escape(&mut self, out: &mut Vec<u8>, start: usize, index: usize) {
        let force_quote = self.options.force_quote.contains(&index);
        if force_quote || self.may_be_special(&out[start..]) {
            self.field.clear();
            self.field.extend_from_slice(&out[start..]);
            out.truncate(start);
            self.put_field(out, force_quote);
        }
    }

    /// True for a text that is sent as it is, of which a byte is a character. The options are the usual ones.
    #[inline]
    fn is_usual(&self, text: &[u8]) -> bool {
        let quote = if self.options.format == CopyFormat::Csv { self.options.quote } else { b'\\' };
        !text.is_empty() && is_usual(text, [b'\\', self.options.delimiter, quote])
    }

    /// True for a field that may not be sent as it is. Every byte is looked at, which the processor does eight at a time.
    fn may_be_special(&self, field: &[u8]) -> bool {
        let options = &self.options;
        has_control_or(field, b'\\', options.delimiter)
            || options.format == CopyFormat::Csv && (field.contains(&options.quote) || field == options.null.as_bytes())
    }

    fn separate(&self, out: &mut Vec<u8>, index: usize) {
        if index > 0 {
            out.push(self.options.delimiter);
        }
    }

    fn put_field(&self, out: &mut Vec<u8>, force_quote: bool) {
        let options = &self.options;
        if options.format == CopyFormat::Text {
            for &byte in &self.field {
                match byte {
                    b'\\' => out.extend_from_slice(b"\\\\"),
                    0x08 => out.extend_from_slice(b"\\b"),
                    0x0c => out.extend_from_slice(b"\\f"),
                    b'\n' => out.extend_from_slice(b"\\n"),
                    b'\r' => out.extend_from_slice(b"\\r"),
                    b'\t' => out.extend_from_slice(b"\\t"),
                    0x0b => out.extend_from_slice(b"\\v"),
                    byte if byte == options.delimiter => out.extend_from_slice(&[b'\\', byte]),
                    byte => out.push(byte),
                }
            }
            return;
        }
        let special = |byte: &u8| *byte == options.delimiter || *byte == options.quote || matches!(byte, b'\n' | b'\r');
        // Quotes tell an empty text from NULL, and `\.` from the end of the data.
        let quoted = force_quote
            || self.field == options.null.as_bytes()
            || self.field == b"\\."
            || self.field.iter().any(special);
        if !quoted {
            out.extend_from_slice(&self.field);
            return;
        }
        out.push(options.quote);
        for &byte in &self.field {
            if byte == options.quote || byte == options.escape {
                out.push(options.escape);
            }
            out.push(byte);
        }
        out.push(options.quote);
    }
}

const ONES: u64 = u64::from_ne_bytes([1; 8]);
const TOPS: u64 = ONES << 7;

/// The top bit of each byte that is below `limit`, and perhaps of one that stands beside such a byte.
#[inline]
const fn below(word: u64, limit: u8) -> u64 {
    word.wrapping_sub(ONES * limit as u64) & !word & TOPS
}

/// The same of each byte that is this one.
#[inline]
const fn equal(word: u64, byte: u8) -> u64 {
    below(word ^ (ONES * byte as u64), 1)
}

/// True when a field has ASCII characters alone, none of these and none below a space.
#[inline]
fn is_usual(field: &[u8], but: [u8; 3]) -> bool {
    let found = |word: u64| {
        let special = equal(word, but[0]) | equal(word, but[1]) | equal(word, but[2]);
        special | below(word, b' ') | word & TOPS
    };
    let Some(last) = field.last_chunk::<8>() else {
        return field.iter().all(|byte| (b' '..0x80).contains(byte) && !but.contains(byte));
    };
    let (words, _) = field.as_chunks::<8>();
    words.iter().fold(found(u64::from_le_bytes(*last)), |all, word| all | found(u64::from_le_bytes(*word))) == 0
}

/// True when a field has one of these bytes, or one below a space.
fn has_control_or(field: &[u8], one: u8, other: u8) -> bool {
    let found = |word: u64| below(word, b' ') | equal(word, one) | equal(word, other);
    let Some(last) = field.last_chunk::<8>() else {
        return field.iter().any(|byte| *byte < b' ' || *byte == one || *byte == other);
    };
    let (words, _) = field.as_chunks::<8>();
    words.iter().fold(found(u64::from_le_bytes(*last)), |all, word| all | found(u64::from_le_bytes(*word))) != 0
}

/// True for options that give no meaning to what numbers and moments are written in.
fn are_usual(options: &CopyOptions) -> bool {
    let harmless = match options.format {
        CopyFormat::Text => true,
        CopyFormat::Csv => options.quote == b'"' && options.null.is_empty() && options.force_quote.is_empty(),
        CopyFormat::Binary => false,
    };
    harmless && matches!(options.delimiter, b'\t' | b',' | b'|' | b';')
}

/// Numbers and moments are written in letters, digits, signs, colons, points, slashes and spaces. A text in a column of
/// numbers is somebody else's.
fn plain(ty: &Type) -> Plain {
    match ty {
        Type::Bool | Type::Int2 | Type::Int4 | Type::Int8 | Type::Oid => Plain::Numbers,
        Type::Float4 | Type::Float8 | Type::Numeric(_) => Plain::Numbers,
        Type::Date | Type::Time(_) | Type::Timestamp(_) | Type::TimestampTz(_) => Plain::All,
        Type::Text | Type::Varchar(_) | Type::Name | Type::Uuid | Type::Json | Type::Jsonb => Plain::Text(0),
        Type::Char(width) => Plain::Text(*width),
        _ => Plain::Perhaps,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_byte_is_looked_at(
            mut field in proptest::collection::vec(b' '..=255, 0..40), at: usize, byte: u8, one: u8, other: u8
        ) {
            if !field.is_empty() {
                let at = at % field.len();
                field[at] = byte;
            }
            let found = field.iter().any(|byte| *byte < b' ' || *byte == one || *byte == other);
            prop_assert_eq!(has_control_or(&field, one, other), found);
            let usual = field.iter().all(|byte| (b' '..0x80).contains(byte) && *byte != one && *byte != other);
            prop_assert_eq!(is_usual(&field, [one, other, one]), usual);
        }
    }
}
