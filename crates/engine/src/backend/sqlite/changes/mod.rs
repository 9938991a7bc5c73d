//! Committed changes of chosen tables, row by row: what keeps them, and who reads them.
//!
//! Triggers of SQLite's own write each change of a row into `rowferry_changes`, in the transaction that makes it. So what was
//! rolled back was never there, who writes through the `sqlite3` shell is seen like everybody, and since SQLite has one writer at
//! a time the numbers of the changes are in the order of the commits. A session of ours notes at its commit which changes are
//! its transaction's, in `rowferry_change_commits`; transactions of others have no such note.
//!
//! | table                    | a row                                                                               |
//! |--------------------------|-------------------------------------------------------------------------------------|
//! | `rowferry_changes`       | a change: its position, what was done to which row of which table, the row before and after |
//! | `rowferry_change_commits`| a transaction of ours: its first and last change, its number, its time              |
//! | `rowferry_change_limits` | one row: how many changes are kept                                                  |
//!
//! Rows are kept as JSON, with the column's values as SQLite stores them: numbers, texts and NULL as they are, a real as
//! `{"real": digits}` and bytes as `{"blob": hex}`, which JSON has not.

mod capture;
mod feed;

use std::path::Path;

use rowferry_dialect::{Condition, Error, Result};
use rusqlite::{Connection, OpenFlags};

pub use capture::Lifted;
pub use feed::{Change, Feed, Operation, Status};

/// The table of changes: where a session's handle looks whether its transaction has made any.
pub(super) const TABLE: &str = "rowferry_changes";

/// How many changes are kept unless somebody says otherwise.
pub const KEPT: u64 = 1_000_000;

/// How long a lock that somebody else holds is waited for.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(30);

/// From now on changes of these tables are kept, the last `keep` of all of them (as before, or [`KEPT`]).
///
/// # Errors
/// `42P01` for a table that is not there, `42809` for one whose rows lie elsewhere, `55P03` when somebody else writes for too
/// long, `58030` for what SQLite says.
pub fn enable(path: &Path, tables: &[String], keep: Option<u64>) -> Result<()> {
    write(path, |connection| {
        let snapshot = super::schema::load(connection, "main").map_err(|error| failed(path, &error))?;
        capture::prepare(connection, keep).map_err(|error| failed(path, &error))?;
        capture::renew(connection).map_err(|error| failed(path, &error))?;
        for name in tables {
            let table = capture::find(&snapshot, name)?;
            capture::capture(connection, &table.physical.name).map_err(|error| failed(path, &error))?;
        }
        Ok(())
    })
}

/// From now on changes of these tables are not kept any more; those that are stay.
///
/// # Errors
/// `42704` for a table whose changes are not kept; else as [`enable`].
pub fn disable(path: &Path, tables: &[String]) -> Result<()> {
    write(path, |connection| {
        let snapshot = super::schema::load(connection, "main").map_err(|error| failed(path, &error))?;
        for name in tables {
            // The table may be one that is no more.
            let known =
                capture::find(&snapshot, name).map_or_else(|_| name.clone(), |table| table.physical.name.clone());
            if !capture::release(connection, &known).map_err(|error| failed(path, &error))? {
                let message = format!("changes of table \"{name}\" are not kept");
                return Err(Error::new(Condition::UndefinedObject, message));
            }
        }
        Ok(())
    })
}

/// Forgets changes up to a position, that one included; how many there were. The newest always stays: the next is numbered by it.
///
/// # Errors
/// As [`enable`].
pub fn forget(path: &Path, up_to: i64) -> Result<usize> {
    write(path, |connection| {
        if !capture::exists(connection).map_err(|error| failed(path, &error))? {
            return Ok(0);
        }
        capture::forget(connection, up_to).map_err(|error| failed(path, &error))
    })
}

/// Changes a file in one transaction.
fn write<T>(path: &Path, work: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
    super::check_file(path, &crate::Options::default())?;
    super::file_watch::check_log(path)?;
    let fail = |error: rusqlite::Error| failed(path, &error);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_EXRESCODE;
    let connection = Connection::open_with_flags(path, flags).map_err(fail)?;
    connection.busy_timeout(PATIENCE).map_err(fail)?;
    connection.execute_batch("BEGIN IMMEDIATE").map_err(fail)?;
    let value = work(&connection)?;
    connection.execute_batch("COMMIT").map_err(fail)?;
    Ok(value)
}

fn failed(path: &Path, error: &rusqlite::Error) -> Error {
    let condition = match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::DatabaseBusy | rusqlite::ErrorCode::DatabaseLocked) => Condition::LockNotAvailable,
        Some(rusqlite::ErrorCode::DatabaseCorrupt | rusqlite::ErrorCode::NotADatabase) => Condition::DataCorrupted,
        _ => Condition::IoError,
    };
    Error::new(condition, format!("\"{}\": {error}", path.display()))
}
