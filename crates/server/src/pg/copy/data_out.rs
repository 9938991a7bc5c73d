//! Rows to bytes.

use rowferry_dialect::ir::{CopyFormat, CopyHeader, CopyOptions};
use rowferry_dialect::values::{Settings, ValueRef};
use rowferry_engine::{Error, Result};
use rowferry_wire_pg::Format;

use super::super::values;
use super::{Column, SIGNATURE};

/// Writes the rows of a COPY TO.
#[derive(Debug)]
pub(in super::super) struct CopyOut {
    options: CopyOptions,
    columns: Vec<Column>,
    writers: Vec<values::Write>,
    /// A field before it is escaped.
    field: Vec<u8>,
}

impl CopyOut {
    pub(in super::super) fn new(options: CopyOptions, columns: Vec<Column>) -> Result<Self> {
        let format = if options.format == CopyFormat::Binary { Format::BINARY } else { Format::TEXT };
        let writers = columns.iter().map(|column| values::writer(&column.ty, format)).collect::<Result<_>>()?;
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

    /// Writes a row. The error comes with the column that cannot be sent.
    pub(in super::super) fn row<'v>(
        &mut self,
        out: &mut Vec<u8>,
        row: impl Iterator<Item = ValueRef<'v>>,
        settings: &Settings,
    ) -> std::result::Result<(), (usize, Error)> {
        if self.options.format == CopyFormat::Binary {
            out.extend_from_slice(&(self.columns.len() as i16).to_be_bytes());
        }
        for (index, value) in row.enumerate().take(self.columns.len()) {
            let is_null = value == ValueRef::Null;
            if self.options.format == CopyFormat::Binary {
                let length = out.len();
                out.extend_from_slice(&(-1i32).to_be_bytes());
                if !is_null {
                    self.write(out, index, value, settings)?;
                    let written = (out.len() - length - 4) as i32;
                    out[length..length + 4].copy_from_slice(&written.to_be_bytes());
                }
                continue;
            }
            self.separate(out, index);
            if is_null {
                out.extend_from_slice(self.options.null.as_bytes());
                continue;
            }
            let start = out.len();
            self.write(out, index, value, settings)?;
            let force_quote = self.options.force_quote.contains(&index);
            // Most fields are as they must be once they are written.
            if force_quote || self.may_be_special(&out[start..]) {
                self.field.clear();
                self.field.extend_from_slice(&out[start..]);
                out.truncate(start);
                self.put_field(out, force_quote);
            }
        }
        if self.options.format != CopyFormat::Binary {
            out.push(b'\n');
        }
        Ok(())
    }

    /// What comes behind the last row; may be empty.
    pub(in super::super) fn end(&self, out: &mut Vec<u8>) {
        if self.options.format == CopyFormat::Binary {
            out.extend_from_slice(&(-1i16).to_be_bytes());
        }
    }

    fn write(
        &self,
        out: &mut Vec<u8>,
        index: usize,
        value: ValueRef<'_>,
        settings: &Settings,
    ) -> std::result::Result<(), (usize, Error)> {
        self.writers[index](out, value, &self.columns[index].ty, settings).map_err(|error| (index, error))
    }

    /// True for a field that may not be sent as it is. Every byte is looked at, which the processor does many at a time.
    fn may_be_special(&self, field: &[u8]) -> bool {
        let options = &self.options;
        let delimiter = options.delimiter;
        let escaped = |found, &byte: &u8| found | (byte < b' ') | (byte == b'\\') | (byte == delimiter);
        field.iter().fold(false, escaped)
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
