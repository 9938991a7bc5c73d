//! What is lent of a connection to those who stand above.
//!
//! Below, everything speaks to SQLite through its binding's own type. Above, a connection can be handed on, asked
//! whether a transaction is open on it, and given to the operations of this folder.

use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use libsqlite3_sys as ffi;

use rowferry_dialect::ir::Value;
use rowferry_dialect::{Error, Result};

use super::functions::Checker;

/// A connection: what the schema is read through, and functions run their own statements on.
#[derive(Clone, Copy)]
pub struct Connection<'c>(&'c rusqlite::Connection);

impl std::fmt::Debug for Connection<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Connection").finish()
    }
}

impl<'c> Connection<'c> {
    /// Lends a connection.
    pub(super) const fn of(connection: &'c rusqlite::Connection) -> Self {
        Self(connection)
    }

    /// The binding's own.
    pub(super) const fn bound(self) -> &'c rusqlite::Connection {
        self.0
    }

    /// Bytes of a page of the file.
    pub fn page_size(self) -> Result<u64> {
        let size = self.bound().pragma_query_value(None, "page_size", |row| row.get::<_, i64>(0));
        size.map(i64::unsigned_abs).map_err(|error| Error::internal(error.to_string()))
    }

    /// Two numbers of which one is another when anything has changed that can be read: by a commit, or by this connection.
    pub fn version(self) -> (u32, u64) {
        let mut version: u32 = 0;
        // SAFETY: the connection is open as long as `self` lives, and SQLite writes an unsigned integer.
        let changes = unsafe {
            ffi::sqlite3_file_control(
                self.0.handle(),
                c"main".as_ptr(),
                ffi::SQLITE_FCNTL_DATA_VERSION,
                ptr::from_mut(&mut version).cast(),
            );
            ffi::sqlite3_total_changes64(self.0.handle())
        };
        (version, u64::try_from(changes).unwrap_or_default())
    }

    /// True while a transaction is open on it.
    pub fn is_in_transaction(self) -> bool {
        !self.0.is_autocommit()
    }

    /// Fails for the first of these values that does not hold what is asked.
    pub(crate) fn check_all(self, checker: Checker, values: &[Value]) -> Result<()> {
        // SAFETY: the connection is open, whoever holds it is the one who uses it, and the checker goes before it.
        values.iter().try_for_each(|value| unsafe { checker.check(self.0.handle(), value) })
    }
}

/// A connection of its own, closed when dropped.
#[derive(Debug)]
pub struct Opened(pub(super) rusqlite::Connection);

impl Opened {
    /// Lends it.
    pub fn connection(&self) -> Connection<'_> {
        Connection(&self.0)
    }
}

/// The connection of a session, for functions that run on it and for the catalogs that are read on it.
#[derive(Debug, Default)]
pub struct Running(AtomicPtr<ffi::sqlite3>);

impl Running {
    /// The session has this connection now.
    pub(super) fn set(&self, db: *mut ffi::sqlite3) {
        self.0.store(db, Ordering::Release);
    }

    /// The session has none any more.
    pub fn clear(&self) {
        self.0.store(ptr::null_mut(), Ordering::Release);
    }

    /// Lends the connection to what it is running right now: a function, or the reader of a catalog.
    ///
    /// # Errors
    /// An internal one when there is none.
    pub fn with<T>(&self, run: impl FnOnce(Connection<'_>) -> Result<T>) -> Result<T> {
        let db = self.0.load(Ordering::Acquire);
        if db.is_null() {
            return Err(Error::internal("no handle is open"));
        }
        // SAFETY: functions are called, and catalogs are read, while their handle steps a statement, under the handle's
        // lock, by this thread; a connection made from a handle does not close it.
        let connection = unsafe { rusqlite::Connection::from_handle(db) }
            .map_err(|error| Error::internal(format!("no connection: {error}")))?;
        run(Connection(&connection))
    }
}
