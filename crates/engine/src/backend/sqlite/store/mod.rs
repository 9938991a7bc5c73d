//! Writes changes of the schema into the file: SQLite's statements, and the entries in our own tables beside.
//!
//! What is allowed, what stands in the way and what goes along is decided above; each operation does one thing, all of it
//! or with an error.

mod access;
mod entries;
mod policies;
mod triggers;

use rusqlite::Params;

use super::handle::Handle;
use super::statement::Failure;
use crate::backend::{Done, Failed};

pub use access::PrivilegeRow;
pub use entries::{Entry, Fact};

/// What writes a change of the schema.
pub struct Store<'a> {
    handle: &'a Handle,
}

impl From<rusqlite::Error> for Failed {
    fn from(error: rusqlite::Error) -> Self {
        Self::Storage(Failure::from(error))
    }
}

impl<'a> Store<'a> {
    /// Through a session's handle, in its transaction.
    pub fn new(handle: &'a Handle) -> Self {
        Self { handle }
    }

    /// Runs a statement; tells how many rows it has changed.
    fn execute(&self, sql: &str, params: impl Params) -> Done<usize> {
        Ok(self.handle.prepare_cached(sql)?.execute(params)?)
    }

    /// Runs a text of several statements.
    fn batch(&self, sql: &str) -> Done {
        Ok(self.handle.execute_batch(sql)?)
    }

    /// Lets other handles, of other processes too, see that the schema is another.
    pub fn announce(&self) -> Done {
        let cookie: i64 = self.handle.query_row("PRAGMA main.schema_version", [], |row| row.get(0))?;
        self.batch(&format!("PRAGMA main.schema_version = {}", cookie + 1))
    }
}
