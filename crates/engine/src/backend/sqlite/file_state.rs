//! States of the file that connections hand to each other.

use std::ptr::{self, NonNull};

use libsqlite3_sys as ffi;

use super::connection::Connection;
use super::handle::Handle;
use super::statement::Failure;

const MAIN: &std::ffi::CStr = c"main";

/// A state of the file, which other connections can read as long as one does.
#[derive(Debug)]
pub struct FileState {
    /// `None` is that of a file to which nothing has been written since its log was made.
    snapshot: Option<NonNull<ffi::sqlite3_snapshot>>,
}

// SAFETY: a snapshot is a value of some bytes, which SQLite reads and nobody changes.
unsafe impl Send for FileState {}
// SAFETY: as above.
unsafe impl Sync for FileState {}

impl Drop for FileState {
    fn drop(&mut self) {
        if let Some(snapshot) = self.snapshot {
            // SAFETY: SQLite has made it, and it is freed once.
            unsafe { ffi::sqlite3_snapshot_free(snapshot.as_ptr()) }
        }
    }
}

impl FileState {
    /// What a connection reads in its transaction.
    fn of(db: *mut ffi::sqlite3) -> Self {
        let mut snapshot = ptr::null_mut();
        // SAFETY: the connection is open and in use by this thread; on success the pointer is a snapshot of ours.
        let code = unsafe { ffi::sqlite3_snapshot_get(db, MAIN.as_ptr(), &raw mut snapshot) };
        Self { snapshot: if code == ffi::SQLITE_OK { NonNull::new(snapshot) } else { None } }
    }
}

impl Connection<'_> {
    /// The state of the file that the transaction reads.
    pub fn file_state(self) -> FileState {
        // SAFETY: the handle is asked while the connection is lent.
        FileState::of(unsafe { self.bound().handle() })
    }
}

impl Handle {
    /// Begins a transaction that reads a state which another one reads; false, and no transaction, when nobody does any more.
    pub fn begin_snapshot_of(&self, state: &FileState) -> Result<bool, Failure> {
        self.begin_snapshot()?;
        // SAFETY: the connection is open, and the handle's lock is held.
        let db = unsafe { self.bare().handle() };
        let is_it = match state.snapshot {
            // SAFETY: as above; no statement of the connection is being read, and the snapshot lives as long as its state.
            Some(snapshot) => unsafe {
                ffi::sqlite3_snapshot_open(db, MAIN.as_ptr(), snapshot.as_ptr()) == ffi::SQLITE_OK
            },
            None => FileState::of(db).snapshot.is_none(),
        };
        if !is_it {
            self.roll_back()?;
        }
        Ok(is_it)
    }
}
