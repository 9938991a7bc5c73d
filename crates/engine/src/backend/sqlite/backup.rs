//! A copy of a file as it was at one moment, made while others go on writing to it.
//!
//! One read transaction is held from the first page to the last. In WAL mode it keeps nobody from writing, and SQLite's backup
//! never has to begin anew: what is copied is what the transaction sees. With a rollback journal commits wait for it.

use std::path::Path;
use std::time::Duration;

use rowferry_dialect::lower::sqlite::create_table::quote;
use rowferry_dialect::{Condition, Error, Result};
use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags};

use super::file_watch;

/// Pages that are copied between two reports.
const PAGES_AT_ONCE: i32 = 256;

/// How long a lock that somebody else holds is waited for.
const PATIENCE: Duration = Duration::from_secs(30);

/// How far a copy has come.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Progress {
    /// Bytes that are copied.
    pub done: u64,
    /// Bytes of the whole file.
    pub total: u64,
}

/// What was copied.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Copied {
    /// Bytes of the copy.
    pub bytes: u64,
    /// Rows of each table, by the name that SQLite has for it.
    pub tables: Vec<(String, u64)>,
    /// The source is in WAL mode; the copy is not yet, so that it can be looked at without files beside it.
    pub wal: bool,
    /// The file keeps roles, and with them what is kept of their passwords.
    pub has_roles: bool,
}

/// Copies the file at `from` to `to`, which exists and is empty. `go_on` is told how far it is, and ends it by `false`.
///
/// # Errors
/// `58P01` when there is no source, `XX001` when it is no database, `57014` when it was ended, `58030` for what the system or
/// SQLite says.
pub fn copy(from: &Path, to: &Path, go_on: &mut dyn FnMut(Progress) -> bool) -> Result<Copied> {
    super::check_file(from, &crate::Options::default())?;
    file_watch::check_log(from)?;
    let read = |error: rusqlite::Error| failed("read", from, &error);
    let write = |error: rusqlite::Error| failed("write", to, &error);
    let fresh = !file_watch::log_of(from).exists();
    let source = open_to_read(from).map_err(read)?;
    let wal = journal_mode(&source).map_err(read)?.eq_ignore_ascii_case("wal");
    source.execute_batch("BEGIN; SELECT 1 FROM sqlite_schema LIMIT 1").map_err(read)?;
    let page: u32 = source.query_row("PRAGMA page_size", [], |row| row.get(0)).map_err(read)?;
    let page = u64::from(page);
    let mut copied = Copied { wal, ..Copied::default() };
    {
        let mut target = Connection::open_with_flags(to, OpenFlags::SQLITE_OPEN_READ_WRITE).map_err(write)?;
        target.pragma_update(None, "synchronous", "OFF").map_err(write)?;
        let backup = Backup::new(&source, &mut target).map_err(write)?;
        loop {
            let step = backup.step(PAGES_AT_ONCE).map_err(write)?;
            let at = backup.progress();
            let total = u64::try_from(at.pagecount).unwrap_or_default() * page;
            let left = u64::try_from(at.remaining).unwrap_or_default() * page;
            copied.bytes = total;
            if !go_on(Progress { done: total - left, total }) {
                return Err(Error::new(Condition::QueryCanceled, "the backup was interrupted"));
            }
            match step {
                StepResult::Done => break,
                StepResult::More => {}
                _ => return Err(Error::new(Condition::LockNotAvailable, format!("\"{}\" is locked", from.display()))),
            }
        }
        drop(backup);
        target.query_row("PRAGMA journal_mode = DELETE", [], |_| Ok(())).map_err(write)?;
    }
    copied.tables = count(&source).map_err(read)?;
    copied.has_roles = super::schema::access::exist(&source, "main").map_err(read)?;
    source.execute_batch("COMMIT").map_err(read)?;
    drop(source);
    if wal && fresh {
        remove_empty_log(from);
    }
    Ok(copied)
}

/// Compares the copy's tables with what was counted in the source.
///
/// # Errors
/// `XX001` naming the first table that differs.
pub fn compare(to: &Path, copied: &Copied) -> Result<()> {
    let read = |error: rusqlite::Error| failed("read", to, &error);
    let target = Connection::open_with_flags(to, OpenFlags::SQLITE_OPEN_READ_ONLY).map_err(read)?;
    let found = count(&target).map_err(read)?;
    let mut pairs = copied.tables.iter().zip(&found);
    let different =
        pairs.find(|(expected, found)| expected != found).map(|(expected, found)| (expected.clone(), found.clone()));
    if found.len() != copied.tables.len() {
        let message = format!("the copy has {} tables, the source has {}", found.len(), copied.tables.len());
        return Err(Error::new(Condition::DataCorrupted, message));
    }
    match different {
        Some(((table, expected), (_, rows))) => {
            let message = format!("the copy of table \"{table}\" has {rows} rows, the source has {expected}");
            Err(Error::new(Condition::DataCorrupted, message))
        }
        None => Ok(()),
    }
}

/// Gives the copy the journal mode of its source, and leaves nothing beside it.
///
/// # Errors
/// `58030` for what SQLite says.
pub fn finish(to: &Path, copied: &Copied) -> Result<()> {
    if !copied.wal {
        return Ok(());
    }
    let write = |error: rusqlite::Error| failed("write", to, &error);
    let target = Connection::open_with_flags(to, OpenFlags::SQLITE_OPEN_READ_WRITE).map_err(write)?;
    target.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(())).map_err(write)?;
    target.close().map_err(|(_, error)| write(error))
}

/// Opens a file that others may have open, for a look.
pub(super) fn open_to_read(path: &Path) -> rusqlite::Result<Connection> {
    let connection =
        Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_EXRESCODE)?;
    connection.busy_timeout(PATIENCE)?;
    Ok(connection)
}

/// Takes away what reading a file in WAL mode has made beside it, where there was nothing before.
pub fn leave_nothing_beside(path: &Path) {
    remove_empty_log(path);
    if !file_watch::log_of(path).exists() {
        let mut note = path.as_os_str().to_owned();
        note.push(file_watch::NOTE);
        let _ = std::fs::remove_file(note);
    }
}

/// Takes away the log that reading a file has made beside it, as SQLite does for those who may write. A log with anything
/// in it is somebody's, and stays.
pub(super) fn remove_empty_log(path: &Path) {
    if std::fs::metadata(file_watch::log_of(path)).is_ok_and(|metadata| metadata.len() == 0) {
        let closed = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)
            .and_then(|connection| connection.query_row("SELECT 1 FROM sqlite_schema LIMIT 1", [], |_| Ok(())));
        if let Err(error) = closed {
            tracing::debug!(path = %path.display(), %error, "an empty log stays beside the file");
        }
    }
}

fn journal_mode(connection: &Connection) -> rusqlite::Result<String> {
    connection.query_row("PRAGMA journal_mode", [], |row| row.get(0))
}

/// Rows of each ordinary table.
fn count(connection: &Connection) -> rusqlite::Result<Vec<(String, u64)>> {
    let mut names =
        connection.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0 ORDER BY name")?;
    let names = names.query_map([], |row| row.get::<_, String>(0))?.collect::<rusqlite::Result<Vec<_>>>()?;
    names
        .into_iter()
        .map(|name| {
            // Without an index, whose order may be one of ours.
            let sql = format!("SELECT count(*) FROM {} NOT INDEXED", quote(&name));
            let rows = connection.query_row(&sql, [], |row| row.get::<_, i64>(0))?;
            Ok((name, u64::try_from(rows).unwrap_or_default()))
        })
        .collect()
}

fn failed(verb: &str, path: &Path, error: &rusqlite::Error) -> Error {
    let condition = match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::DatabaseCorrupt | rusqlite::ErrorCode::NotADatabase) => Condition::DataCorrupted,
        Some(rusqlite::ErrorCode::DatabaseBusy | rusqlite::ErrorCode::DatabaseLocked) => Condition::LockNotAvailable,
        _ => Condition::IoError,
    };
    Error::new(condition, format!("could not {verb} \"{}\": {error}", path.display()))
}
