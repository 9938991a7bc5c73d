//! Opens the file, and closes its log.

use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use libsqlite3_sys as ffi;
use rowferry_dialect::{Condition, Error, Result};
use rusqlite::{Connection, OpenFlags};

use super::connection::Opened;
use super::mapped;
use super::statement::Failure;
use crate::database::{JournalModes, Shared};
use crate::schema::{self, Snapshot};
use crate::{Durability, Journal, Options};

/// How every handle is opened. Its own file has a path, which is none of SQLite's names (`file:…`); those of other
/// databases have such names.
pub(super) const FLAGS: OpenFlags =
    OpenFlags::SQLITE_OPEN_NO_MUTEX.union(OpenFlags::SQLITE_OPEN_EXRESCODE).union(OpenFlags::SQLITE_OPEN_URI);

impl Shared {
    /// A new handle, ready to write.
    pub fn connect(&self) -> std::result::Result<Opened, Failure> {
        let connection = self.open()?;
        connection.execute_batch(self.durability_words())?;
        Ok(Opened(connection))
    }

    /// Bytes of the file, and of the log beside it; 0 of what is not there.
    pub fn sizes(&self) -> (u64, u64) {
        let size = |path: &Path| std::fs::metadata(path).map_or(0, |metadata| metadata.len());
        (size(&self.path), size(&super::file_watch::log_of(&self.path)))
    }

    /// Whether the file is still the one that is served, and answers a handle that looks into it.
    ///
    /// # Errors
    /// `58030` when it is not, and what the look fails with.
    pub fn check_readable(&self) -> Result<()> {
        self.file.look()?;
        let read = || -> std::result::Result<(), Failure> {
            let connection = self.open()?;
            connection.busy_timeout(Duration::from_secs(1))?;
            connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
            Ok(())
        };
        read().map_err(|failure| self.open_error(&failure))
    }

    /// What a handle is told before it writes. SQLite reads the whole schema to hear it.
    pub fn durability_words(&self) -> &'static str {
        match self.options.durability {
            // Without a log it is the removal of the journal that commits: EXTRA makes that safe, too.
            Durability::Full if !self.flushes_log() => "PRAGMA synchronous = EXTRA",
            Durability::Full | Durability::Normal => "PRAGMA synchronous = NORMAL",
            Durability::Off => "PRAGMA synchronous = OFF",
        }
    }

    /// A new handle, with what every handle needs. Whoever writes through it tells it [`Shared::durability_words`] before.
    pub(super) fn open(&self) -> std::result::Result<Connection, Failure> {
        super::memory::install();
        let mut flags = FLAGS;
        flags |=
            if self.options.read_only { OpenFlags::SQLITE_OPEN_READ_ONLY } else { OpenFlags::SQLITE_OPEN_READ_WRITE };
        // Only the first handle makes the file: a later one would put an empty one in the place of one that was removed.
        if self.options.create && !self.file.is_watched() {
            flags |= OpenFlags::SQLITE_OPEN_CREATE;
        }
        let moved = || Failure::of(ffi::SQLITE_READONLY_DBMOVED);
        self.file.look().map_err(|_| moved())?;
        let connection = Connection::open_with_flags(&self.path, flags)?;
        // Before anything is read: whoever reads in WAL mode opens the log, and the last to close brings it into the
        // file, which is the watch's to decide.
        connection.set_db_config(rusqlite::config::DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        self.file.look().map_err(|_| moved())?;
        connection.busy_timeout(self.options.lock_timeout.min(Duration::from_secs(60)))?;
        // A misspelt column must not become a text, as SQLite has it for compatibility.
        connection.set_db_config(rusqlite::config::DbConfig::SQLITE_DBCONFIG_DQS_DML, false)?;
        super::explain::set_counting(&connection, false)?;
        connection.pragma_update(None, "foreign_keys", true)?;
        if self.options.mapped > 0 {
            mapped::map(&connection, self.options.mapped)?;
        }
        connection.set_prepared_statement_cache_capacity(16);
        Ok(connection)
    }

    /// Switches the file to WAL mode unless its own is to be kept: readers and the writer must not stand in each other's
    /// way.
    pub fn prepare_file(&self, opened: &Opened) -> Result<JournalModes> {
        let connection = &opened.0;
        let ask = |sql| connection.query_row(sql, [], |row| row.get::<_, String>(0));
        let before = ask("PRAGMA main.journal_mode").map_err(|error| self.open_error(&error.into()))?;
        if self.options.read_only || self.options.journal == Journal::Keep {
            return Ok(JournalModes { now: before.clone(), before });
        }
        match ask("PRAGMA main.journal_mode = WAL") {
            Ok(now) if now.eq_ignore_ascii_case("wal") => Ok(JournalModes { before, now }),
            Ok(mode) => Err(Error::new(
                Condition::IoError,
                format!(
                    "could not switch \"{}\" to write-ahead logging (it stays in mode {mode})",
                    self.path.display()
                ),
            )
            .hint(
                "The file must lie in a writable directory of a local file system; --journal keep serves it as it is.",
            )),
            Err(error) => Err(self.open_error(&error.into())),
        }
    }

    /// True when readers and writers of the file block each other.
    pub fn has_rollback_journal(&self) -> bool {
        self.journal.get().is_some_and(|journal| !journal.now.eq_ignore_ascii_case("wal"))
    }

    /// True when it is not SQLite that waits for the disk at a commit.
    pub fn flushes_log(&self) -> bool {
        let has_log = self.journal.get().is_some_and(|journal| journal.now.eq_ignore_ascii_case("wal"));
        has_log && self.options.durability != Durability::Off && !self.options.read_only
    }

    /// Why the file could not be opened.
    pub fn open_error(&self, failure: &Failure) -> Error {
        let path = self.path.display();
        if failure.code == ffi::SQLITE_READONLY_DBMOVED {
            return self.file.moved();
        }
        match failure.primary() {
            ffi::SQLITE_NOTADB => not_a_database(&self.path),
            ffi::SQLITE_CORRUPT => {
                Error::new(Condition::DataCorrupted, format!("\"{path}\" is damaged: {}", failure.message))
            }
            ffi::SQLITE_BUSY => {
                Error::new(Condition::LockNotAvailable, format!("\"{path}\" is locked by another program"))
            }
            ffi::SQLITE_READONLY | ffi::SQLITE_PERM => {
                Error::new(Condition::IoError, format!("\"{path}\" cannot be written: {}", failure.message))
                    .hint("Open it for reading only, or change its permissions.")
            }
            _ if no_descriptor_left(&self.path) => {
                Error::new(Condition::InsufficientResources, format!("could not open \"{path}\": too many open files"))
                    .hint("Let the server open more files (ulimit -n), or fewer clients in (--max-connections).")
            }
            _ => Error::new(Condition::IoError, format!("could not open \"{path}\": {}", failure.message)),
        }
    }

    /// Reads the schema anew if the file's is not the one known here. The handle is in no transaction.
    pub fn refresh(&self, through: super::connection::Connection<'_>) -> std::result::Result<Arc<Snapshot>, Failure> {
        let connection = through.bound();
        let _one = self.reload.lock();
        let cookie: i64 = connection.query_row("PRAGMA main.schema_version", [], |row| row.get(0))?;
        let current = self.current();
        if current.cookie == cookie {
            return Ok(current);
        }
        connection.execute_batch("BEGIN")?;
        let loaded = schema::load(connection, "main");
        connection.execute_batch("COMMIT")?;
        let snapshot = Arc::new(loaded?);
        self.publish(snapshot.clone());
        Ok(snapshot)
    }

    /// The same on a handle of its own, for those who have none of this database.
    pub fn refresh_apart(&self) -> Result<Arc<Snapshot>> {
        let connection = self.connect().map_err(|failure| self.open_error(&failure))?;
        self.refresh(connection.connection()).map_err(|failure| self.open_error(&failure))
    }

    /// Moves the write-ahead log into the file; false when a part of it had to stay.
    ///
    /// On a handle of its own: those of sessions may be inside a transaction.
    pub fn checkpoint(&self) -> Result<std::result::Result<bool, Failure>> {
        let done = self.file.with_connection(|connection| checkpoint(connection, self.options.lock_timeout))?;
        self.file.committed();
        Ok(done.unwrap_or(Ok(true)))
    }
}

/// Moves the log into the file; false when a part of it had to stay.
fn checkpoint(connection: &Connection, patience: Duration) -> std::result::Result<bool, Failure> {
    let run = |pragma: &str| -> std::result::Result<(i64, i64, i64), Failure> {
        Ok(connection.query_row(pragma, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?)
    };
    let (busy, pages, moved) = run("PRAGMA main.wal_checkpoint(PASSIVE)")?;
    if busy != 0 || moved < pages {
        return Ok(false);
    }
    // Whoever is at it now keeps the log at its length; it will be written from its beginning.
    connection.busy_timeout(Duration::ZERO)?;
    let cut = run("PRAGMA main.wal_checkpoint(TRUNCATE)");
    connection.busy_timeout(patience.min(Duration::from_secs(60)))?;
    cut.map(|_| true)
}

/// True when the process, or the machine, cannot open any more files: SQLite does not say why it could not.
fn no_descriptor_left(path: &Path) -> bool {
    std::fs::File::open(path).is_err_and(|error| matches!(error.raw_os_error(), Some(libc::EMFILE | libc::ENFILE)))
}

/// Refuses what cannot be a database before SQLite would touch it.
pub fn check_file(path: &Path, options: &Options) -> Result<()> {
    let shown = path.display();
    let mut file = match std::fs::File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            if options.create {
                return match path.parent() {
                    Some(parent) if !parent.as_os_str().is_empty() && !parent.is_dir() => Err(Error::new(
                        Condition::UndefinedFile,
                        format!("the directory \"{}\" does not exist", parent.display()),
                    )),
                    _ => Ok(()),
                };
            }
            return Err(Error::new(Condition::UndefinedFile, format!("the file \"{shown}\" does not exist")));
        }
        Err(error) => return Err(Error::new(Condition::IoError, format!("could not open \"{shown}\": {error}"))),
    };
    if file.metadata().is_ok_and(|metadata| metadata.is_dir()) {
        return Err(Error::new(Condition::IoError, format!("\"{shown}\" is a directory")));
    }
    let mut header = Vec::with_capacity(16);
    let read = file.by_ref().take(16).read_to_end(&mut header);
    read.map_err(|error| Error::new(Condition::IoError, format!("could not read \"{shown}\": {error}")))?;
    if header.is_empty() || header == b"SQLite format 3\0" { Ok(()) } else { Err(not_a_database(path)) }
}

fn not_a_database(path: &Path) -> Error {
    Error::new(Condition::DataCorrupted, format!("\"{}\" is not a SQLite database", path.display()))
        .hint("It may be encrypted, or of another kind altogether.")
}
