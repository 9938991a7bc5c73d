//! Writes changes of the schema into the file: SQLite's statements, and the entries in our own tables beside.
//!
//! What is allowed, what stands in the way and what goes along is decided above; each operation does one thing, all of it
//! or with an error.

mod access;
mod columns;
mod content;
mod entries;
mod form;
mod policies;
mod rules;
mod sequences;
mod tables;
mod triggers;
mod views;

use std::cell::Cell;

use rusqlite::Params;

use super::handle::Handle;
use super::schema::{Touched, refresh};
use super::statement::Failure;
use crate::backend::{Done, Failed};
use crate::schema::Snapshot;

pub use access::PrivilegeRow;
pub use entries::{Entry, Fact};
pub use form::{Form, NewColumn, Source, same_columns};
pub use rowferry_dialect::lower::sqlite::create_table::mentions;
pub use rowferry_dialect::lower::sqlite::ddl::{CheckRecord, ColumnRecord};
pub use views::is_native;

/// How far the schema had grown at a time.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Mark(i64);

/// What writes a change of the schema.
pub struct Store<'a> {
    handle: &'a Handle,
    /// The least that each database's schema has shrunk to since it was last read: what is made then takes rows that
    /// were another's.
    shrunk: [Cell<i64>; 2],
}

impl From<rusqlite::Error> for Failed {
    fn from(error: rusqlite::Error) -> Self {
        Self::Storage(Failure::from(error))
    }
}

impl<'a> Store<'a> {
    /// Through a session's handle, in its transaction.
    pub fn new(handle: &'a Handle) -> Self {
        Self { handle, shrunk: [Cell::new(i64::MAX), Cell::new(i64::MAX)] }
    }

    /// Runs a statement; tells how many rows it has changed.
    fn execute(&self, sql: &str, params: impl Params) -> Done<usize> {
        Ok(self.handle.bound().prepare_cached(sql)?.execute(params)?)
    }

    /// The binding's own, for texts that name no function of ours.
    pub(in crate::backend::sqlite) fn bare(&self) -> &rusqlite::Connection {
        self.handle.bare()
    }

    /// Runs a text of several statements.
    fn batch(&self, sql: &str) -> Done {
        Ok(self.handle.bound().execute_batch(sql)?)
    }

    /// Runs a DROP of something in a database.
    fn drop_in(&self, database: &str, sql: &str) -> Done {
        self.batch(sql)?;
        let shrunk = &self.shrunk[usize::from(database == "temp")];
        shrunk.set(shrunk.get().min(self.mark(database)?.0));
        Ok(())
    }

    /// How far the schema has grown now.
    pub fn mark(&self, database: &str) -> Done<Mark> {
        let sql = format!("SELECT coalesce(max(rowid), 0) FROM {database}.sqlite_schema");
        Ok(Mark(self.handle.bound().prepare_cached(&sql)?.query_row([], |row| row.get(0))?))
    }

    /// The schema after a change: what was before, and what has been touched or was made since the mark read anew.
    pub fn refresh(&self, database: &'static str, before: &Snapshot, touched: &Touched, since: Mark) -> Done<Snapshot> {
        let shrunk = self.shrunk[usize::from(database == "temp")].replace(i64::MAX);
        Ok(refresh(self.handle.bound(), database, before, touched, since.0.min(shrunk))?)
    }

    /// Lets other handles, of other processes too, see that the schema is another.
    pub fn announce(&self) -> Done {
        let cookie: i64 = self.handle.bound().query_row("PRAGMA main.schema_version", [], |row| row.get(0))?;
        self.batch(&format!("PRAGMA main.schema_version = {}", cookie + 1))
    }
}
