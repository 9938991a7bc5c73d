//! Rows, pulled.

use std::marker::PhantomData;

use rowferry_dialect::Result;
use rowferry_dialect::plan::{Command, ResultColumn};

use crate::ValueRef;

/// A running query. It outlives other statements of its session; dropping it gives its resources back.
#[derive(Debug)]
pub struct Cursor {
    columns: Vec<ResultColumn>,
    command: Command,
}

/// The row where a cursor stands.
#[derive(Debug)]
pub struct Row<'a> {
    cursor: PhantomData<&'a Cursor>,
}

impl Cursor {
    /// The columns of every row.
    pub fn columns(&self) -> &[ResultColumn] {
        &self.columns
    }

    /// The word for its completion.
    pub fn command(&self) -> Command {
        self.command
    }

    /// Goes to the next row; `None` after the last.
    #[allow(clippy::should_implement_trait, reason = "rows borrow from the cursor, which an Iterator cannot say")]
    pub fn next(&mut self) -> Result<Option<Row<'_>>> {
        Ok(None)
    }

    /// How many rows INSERT, UPDATE or DELETE changed; all of them are changed before the first row is returned.
    pub fn rows_affected(&self) -> u64 {
        0
    }
}

impl Row<'_> {
    /// The number of columns.
    pub fn len(&self) -> usize {
        0
    }

    /// True for a row without columns.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A column's value, counted from 0.
    pub fn get(&self, _column: usize) -> ValueRef<'_> {
        ValueRef::Null
    }
}
