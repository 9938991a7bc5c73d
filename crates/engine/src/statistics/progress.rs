//! How far a COPY has come.

use super::database::Cell;

/// How far a COPY has come; its session alone counts.
#[derive(Debug)]
pub struct Progress {
    /// Object id of the table; 0 of a query.
    pub table: u32,
    /// COPY FROM.
    pub from: bool,
    bytes: Cell,
    rows: Cell,
    excluded: Cell,
}

impl Progress {
    /// It begins.
    pub fn new(table: u32, from: bool) -> Self {
        Self { table, from, bytes: Cell::default(), rows: Cell::default(), excluded: Cell::default() }
    }

    /// So many bytes and rows more.
    pub fn add(&self, bytes: u64, rows: u64) {
        self.bytes.add(bytes);
        self.rows.add(rows);
    }

    /// A row was written, or none was.
    pub fn row(&self, written: u64) {
        self.rows.add(written);
        self.excluded.add(u64::from(written == 0));
    }

    /// Bytes of its data until now.
    pub fn bytes(&self) -> u64 {
        self.bytes.get()
    }

    /// Rows until now.
    pub fn rows(&self) -> u64 {
        self.rows.get()
    }

    /// Rows that were left out.
    pub fn excluded(&self) -> u64 {
        self.excluded.get()
    }
}
