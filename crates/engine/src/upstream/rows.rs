//! The rows of a query there, pulled by a cursor here.

use std::sync::Arc;

use rowferry_dialect::Result;
use rowferry_dialect::values::ValueRef;

use super::line::Next;
use super::values::Reader;
use super::{Line, RowBytes};
use crate::ir::Value;
use crate::spool::SpoolReader;

/// Rows that come from the server behind.
#[derive(Debug)]
pub(crate) struct Rows {
    line: Arc<Line>,
    ticket: u64,
    readers: Arc<[Reader]>,
    /// The row as it came, which of its cells are values as they came, and the others' values.
    row: RowBytes,
    plain: Vec<bool>,
    converted: Vec<Value>,
    /// Rows that had been put aside.
    aside: Option<SpoolReader>,
    over: bool,
}

impl Rows {
    pub fn new(line: Arc<Line>, ticket: u64, readers: Arc<[Reader]>) -> Self {
        let (plain, converted) = (vec![false; readers.len()], vec![Value::Null; readers.len()]);
        Self { line, ticket, readers, row: RowBytes::default(), plain, converted, aside: None, over: false }
    }

    /// Goes to the next row; false after the last.
    ///
    /// # Errors
    /// What the query fails with there, or the connection.
    pub fn advance(&mut self) -> Result<bool> {
        loop {
            if let Some(aside) = &mut self.aside {
                if aside.advance()? {
                    return Ok(true);
                }
                self.aside = None;
            }
            if self.over {
                return Ok(false);
            }
            match self.line.next(self.ticket, &mut self.row)? {
                Next::Row => {
                    for (at, reader) in self.readers.iter().enumerate() {
                        let Some(cell) = self.row.cell(at) else { continue };
                        self.plain[at] = reader.is_plain(cell);
                        if !self.plain[at] {
                            self.converted[at] = reader.read(cell)?;
                        }
                    }
                    return Ok(true);
                }
                Next::Rows(rows) => self.aside = Some(rows),
                Next::End => self.over = true,
            }
        }
    }

    /// A column of the row, from 0.
    pub fn column(&self, at: usize) -> ValueRef<'_> {
        if let Some(aside) = &self.aside {
            return aside.column(at);
        }
        match self.row.cell(at) {
            None => ValueRef::Null,
            Some(cell) if self.plain[at] => self.readers[at].plain(cell),
            Some(_) => self.converted[at].as_ref(),
        }
    }

    /// How many columns there are.
    pub fn columns(&self) -> usize {
        self.readers.len()
    }

    /// Reads what is still to come, so that its transaction may end.
    ///
    /// # Errors
    /// As [`Self::advance`].
    pub fn read_ahead(&self) -> Result<()> {
        if self.over { Ok(()) } else { self.line.read_ahead(self.ticket) }
    }
}

impl Drop for Rows {
    fn drop(&mut self) {
        if !self.over {
            self.line.forget(self.ticket);
        }
    }
}
