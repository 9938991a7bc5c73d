//! Rows that have been read ahead of their reader.
//!
//! A cursor that stays open while its session writes must not see the writes, nor stand in their way; the rows of
//! RETURNING must not keep the write lock until the client has read them. Both are read to the end into a spool: in
//! memory at first, in an anonymous file once they are many, so that memory does not grow with the number of rows.

use std::fs::File;
use std::io::{BufReader, BufWriter, Read as _, Seek as _, SeekFrom, Write as _};

use rowferry_dialect::{Condition, Error, Result, work};

use crate::ValueRef;
use crate::memory::Charge;

/// Rows in memory beyond this many bytes go to a file.
const MEMORY_LIMIT: usize = 8 << 20;

/// Rows are counted as the session's when there are more than this many bytes of them; so much at a time.
const CHARGED: usize = 64 << 10;

/// Rows, first in first out.
#[derive(Debug, Default)]
pub struct Spool {
    columns: usize,
    rows: u64,
    memory: Vec<u8>,
    file: Option<BufWriter<File>>,
    /// For the memory.
    charge: Charge,
    charged: usize,
}

/// A spool being read.
#[derive(Debug)]
pub struct SpoolReader {
    columns: usize,
    rows: u64,
    left: u64,
    memory: Vec<u8>,
    at: usize,
    file: Option<BufReader<File>>,
    /// Bytes of the current row when it comes from the file.
    row: Vec<u8>,
    /// Where each value of the current row begins.
    values: Vec<usize>,
    current: Current,
    /// For the memory.
    _charge: Charge,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Current {
    None,
    Memory,
    File,
}

const NULL: u8 = 0;
const INTEGER: u8 = 1;
const REAL: u8 = 2;
const TEXT: u8 = 3;
const BLOB: u8 = 4;

impl Spool {
    /// An empty spool for rows of so many columns.
    pub fn new(columns: usize) -> Self {
        Self { columns, ..Self::default() }
    }

    /// How many rows there are.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Adds a row.
    pub fn push<'a>(&mut self, values: impl Iterator<Item = ValueRef<'a>>) -> Result<()> {
        let start = self.memory.len();
        self.memory.extend_from_slice(&[0; 8]);
        for value in values {
            let (tag, bytes): (u8, &[u8]) = match &value {
                ValueRef::Null => (NULL, &[]),
                ValueRef::Integer(value) => (INTEGER, &value.to_ne_bytes()),
                ValueRef::Real(value) => (REAL, &value.to_ne_bytes()),
                ValueRef::Text(text) => (TEXT, text),
                ValueRef::Blob(bytes) => (BLOB, bytes),
            };
            work::reserve(&mut self.memory, bytes.len() + 9)?;
            self.memory.push(tag);
            self.memory.extend_from_slice(&(bytes.len() as u64).to_ne_bytes());
            self.memory.extend_from_slice(bytes);
        }
        let length = (self.memory.len() - start - 8) as u64;
        self.memory[start..start + 8].copy_from_slice(&length.to_ne_bytes());
        self.rows += 1;
        work::step(self.memory.len() - start)?;
        if self.memory.len() > MEMORY_LIMIT || !self.charge() {
            self.spill().map_err(|error| spill_error(&error))?;
        }
        Ok(())
    }

    /// Counts what has come; false when the session has no room for it.
    fn charge(&mut self) -> bool {
        let more = self.memory.len().saturating_sub(self.charged);
        if more < CHARGED {
            return true;
        }
        self.charged += more;
        self.charge.grow(more).is_ok()
    }

    fn spill(&mut self) -> std::io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            None => self.file.insert(BufWriter::new(anonymous_file()?)),
        };
        file.write_all(&self.memory)?;
        self.memory = Vec::new();
        self.charge = Charge::default();
        self.charged = 0;
        Ok(())
    }

    /// Reads it from the beginning.
    pub fn into_reader(mut self) -> Result<SpoolReader> {
        let mut file = None;
        if self.file.is_some() {
            self.spill().map_err(|error| spill_error(&error))?;
            if let Some(writer) = self.file.take() {
                let mut inner = writer.into_inner().map_err(|error| spill_error(error.error()))?;
                inner.seek(SeekFrom::Start(0)).map_err(|error| spill_error(&error))?;
                file = Some(BufReader::new(inner));
            }
        }
        Ok(SpoolReader {
            columns: self.columns,
            rows: self.rows,
            left: self.rows,
            memory: self.memory,
            at: 0,
            file,
            row: Vec::new(),
            values: Vec::with_capacity(self.columns),
            current: Current::None,
            _charge: self.charge,
        })
    }
}

impl SpoolReader {
    /// Begins anew.
    pub fn rewind(&mut self) -> Result<()> {
        self.current = Current::None;
        self.left = self.rows;
        self.at = 0;
        if let Some(file) = &mut self.file {
            file.seek(SeekFrom::Start(0)).map_err(|error| spill_error(&error))?;
        }
        Ok(())
    }

    /// Goes to the next row; false after the last.
    pub fn advance(&mut self) -> Result<bool> {
        self.current = Current::None;
        if self.left == 0 {
            return Ok(false);
        }
        self.left -= 1;
        let (bytes, mut at) = match &mut self.file {
            Some(file) => {
                let mut length = [0; 8];
                file.read_exact(&mut length).map_err(|error| spill_error(&error))?;
                let length = u64::from_ne_bytes(length) as usize;
                self.row.clear();
                work::reserve(&mut self.row, length)?;
                self.row.resize(length, 0);
                file.read_exact(&mut self.row).map_err(|error| spill_error(&error))?;
                self.current = Current::File;
                (&self.row, 0)
            }
            None => {
                let start = self.at + 8;
                self.at = start + read_u64(&self.memory, self.at) as usize;
                self.current = Current::Memory;
                (&self.memory, start)
            }
        };
        self.values.clear();
        for _ in 0..self.columns {
            self.values.push(at);
            at += 9 + read_u64(bytes, at + 1) as usize;
        }
        Ok(true)
    }

    /// A column of the current row.
    pub fn column(&self, index: usize) -> ValueRef<'_> {
        let bytes = match self.current {
            Current::None => return ValueRef::Null,
            Current::Memory => &self.memory,
            Current::File => &self.row,
        };
        let at = self.values[index];
        let value = &bytes[at + 9..at + 9 + read_u64(bytes, at + 1) as usize];
        match bytes[at] {
            INTEGER => ValueRef::Integer(read_u64(value, 0) as i64),
            REAL => ValueRef::Real(f64::from_bits(read_u64(value, 0))),
            TEXT => ValueRef::Text(value),
            BLOB => ValueRef::Blob(value),
            _ => ValueRef::Null,
        }
    }

    /// Columns of a row.
    pub fn columns(&self) -> usize {
        self.columns
    }
}

fn read_u64(bytes: &[u8], at: usize) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&bytes[at..at + 8]);
    u64::from_ne_bytes(word)
}

/// A file without a name: it is gone with its last handle, whatever happens to the process.
pub fn anonymous_file() -> std::io::Result<File> {
    let directory = std::env::temp_dir();
    let name = format!("rowferry-spool-{}-{:016x}", std::process::id(), rand::random::<u64>());
    let path = directory.join(name);
    let file = File::options().read(true).write(true).create_new(true).open(&path)?;
    std::fs::remove_file(&path)?;
    Ok(file)
}

fn spill_error(error: &std::io::Error) -> Error {
    let condition =
        if error.kind() == std::io::ErrorKind::StorageFull { Condition::DiskFull } else { Condition::IoError };
    Error::new(condition, format!("could not keep rows in a temporary file: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill(rows: u64, width: usize) -> SpoolReader {
        let mut spool = Spool::new(5);
        let blob = vec![7; width];
        for row in 0..rows {
            let text = row.to_string();
            let values = [
                ValueRef::Null,
                ValueRef::Integer(-(row as i64)),
                ValueRef::Real(row as f64 / 2.0),
                ValueRef::Text(text.as_bytes()),
                ValueRef::Blob(&blob),
            ];
            spool.push(values.into_iter()).unwrap();
        }
        assert_eq!(spool.rows(), rows);
        spool.into_reader().unwrap()
    }

    fn check(rows: u64, width: usize) {
        let mut reader = fill(rows, width);
        for row in 0..rows {
            assert!(reader.advance().unwrap());
            assert_eq!(reader.column(0), ValueRef::Null);
            assert_eq!(reader.column(1), ValueRef::Integer(-(row as i64)));
            assert_eq!(reader.column(2), ValueRef::Real(row as f64 / 2.0));
            assert_eq!(reader.column(3), ValueRef::Text(row.to_string().as_bytes()));
            assert_eq!(reader.column(4), ValueRef::Blob(&vec![7; width]));
        }
        assert!(!reader.advance().unwrap());
    }

    #[test]
    fn few_rows_stay_in_memory() {
        check(0, 0);
        check(3, 0);
        check(100, 10);
    }

    #[test]
    fn many_rows_go_through_a_file() {
        check(300, 64 << 10);
    }
}
