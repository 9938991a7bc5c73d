//! A prepared SQLite statement, raw: the row loop is hot.

use std::ffi::{CStr, c_char, c_int};
use std::ptr;
use std::sync::Arc;

use libsqlite3_sys as ffi;
use rowferry_dialect::ir::Value;
use rowferry_dialect::stack;

use super::functions::known;
use super::mapped;
use crate::ValueRef;
use crate::statistics::Reads;

unsafe extern "C" {
    /// SQLite's first preparation interface (`sqlite3.h`), which the bindings leave out.
    ///
    /// A statement of `sqlite3_prepare_v2` prepares itself again when the schema has changed under it, silently; one of
    /// this fails with SQLITE_SCHEMA, so that it is compiled anew from the user's text against the schema of today.
    fn sqlite3_prepare(
        db: *mut ffi::sqlite3,
        sql: *const c_char,
        length: c_int,
        statement: *mut *mut ffi::sqlite3_stmt,
        tail: *mut *const c_char,
    ) -> c_int;
}

/// The stack that SQLite's walks over a statement's tree need at most: it nests as deep as its text has levels, each of
/// which takes some characters.
fn stack_to_prepare(sql: &str) -> usize {
    const LEVEL_TEXT: usize = 4;
    const LEVEL_STACK: usize = 2 * 1024;
    (sql.len() / LEVEL_TEXT).min(stack::MAX_DEPTH as usize * 2) * LEVEL_STACK
}

/// A failure as SQLite reports it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Failure {
    /// Extended result code.
    pub code: c_int,
    /// SQLite's message.
    pub message: String,
}

impl Failure {
    /// The primary result code.
    pub fn primary(&self) -> c_int {
        self.code & 0xff
    }

    /// The statement was prepared against a schema that is no more.
    pub fn is_stale(&self) -> bool {
        self.primary() == ffi::SQLITE_SCHEMA
    }

    /// A statement that would be prepared against a schema that is no more.
    pub fn schema() -> Self {
        Self::of(ffi::SQLITE_SCHEMA)
    }

    /// Somebody else holds a lock.
    pub fn is_busy(&self) -> bool {
        self.primary() == ffi::SQLITE_BUSY
    }

    /// A foreign key does not hold.
    pub fn breaks_foreign_key(&self) -> bool {
        self.code == ffi::SQLITE_CONSTRAINT_FOREIGNKEY
    }

    /// There is something wrong with the statement itself: what it names is not there, say.
    pub fn is_of_the_statement(&self) -> bool {
        self.code == ffi::SQLITE_ERROR
    }

    /// Two rows have the same key.
    pub fn breaks_unique_key(&self) -> bool {
        matches!(
            self.code,
            ffi::SQLITE_CONSTRAINT_UNIQUE | ffi::SQLITE_CONSTRAINT_PRIMARYKEY | ffi::SQLITE_CONSTRAINT_ROWID
        )
    }

    /// A failure of which only the code is known.
    pub fn of(code: c_int) -> Self {
        // SAFETY: the texts are static.
        let message = unsafe { CStr::from_ptr(ffi::sqlite3_errstr(code)) }.to_string_lossy().into_owned();
        Self { code, message }
    }

    /// What was read was not there.
    fn missing_page() -> Self {
        let message = "a part of the database file could not be read: it was cut short, or the disk fails".to_owned();
        Self { code: ffi::SQLITE_IOERR_SHORT_READ, message }
    }

    /// The last failure of a handle.
    ///
    /// # Safety
    /// `db` is open and used by this thread only.
    pub unsafe fn last(db: *mut ffi::sqlite3) -> Self {
        // SAFETY: by the caller's promise; the message is copied before anything else happens to the handle.
        unsafe {
            let message = CStr::from_ptr(ffi::sqlite3_errmsg(db)).to_string_lossy().into_owned();
            Self { code: ffi::sqlite3_extended_errcode(db), message }
        }
    }
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        match error {
            rusqlite::Error::SqliteFailure(failure, message) => {
                Self { code: failure.extended_code, message: message.unwrap_or_else(|| failure.to_string()) }
            }
            rusqlite::Error::SqlInputError { error, msg, .. } => Self { code: error.extended_code, message: msg },
            other => Self { code: ffi::SQLITE_ERROR, message: other.to_string() },
        }
    }
}

/// What a step has led to.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Step {
    /// A row stands ready.
    Row,
    /// There are no more.
    Done,
}

/// A prepared statement; finalised when dropped.
///
/// Whoever holds one also holds the lock of its handle while using (and dropping) it.
#[derive(Debug)]
pub struct Statement {
    raw: *mut ffi::sqlite3_stmt,
    columns: usize,
    /// What it reads, where that is counted.
    pub(super) reads: Option<Arc<Reads>>,
    /// It has run since counts were drained for the so-manieth time.
    pub(super) noted: u64,
}

// SAFETY: a statement is only used under its handle's lock (see `handle::Handle`), one thread at a time.
unsafe impl Send for Statement {}

impl Statement {
    /// Prepares one statement.
    ///
    /// # Safety
    /// `db` is open, stays open longer than the statement, and is used under its lock.
    pub unsafe fn prepare(db: *mut ffi::sqlite3, sql: &str) -> Result<Self, Failure> {
        let mut raw = ptr::null_mut();
        let length = c_int::try_from(sql.len())
            .map_err(|_| Failure { code: ffi::SQLITE_TOOBIG, message: "statement too long".into() })?;
        let mut prepare = || {
            // SAFETY: the text is `length` bytes long; SQLite copies what it keeps.
            let prepare = || unsafe { sqlite3_prepare(db, sql.as_ptr().cast(), length, &mut raw, ptr::null_mut()) };
            match stack::with_room(stack_to_prepare(sql), prepare) {
                None => Err(Failure::of(ffi::SQLITE_NOMEM)),
                Some(ffi::SQLITE_OK) => Ok(()),
                // SAFETY: the caller's promise.
                Some(_) => Err(unsafe { Failure::last(db) }),
            }
        };
        // SAFETY: the caller's promise.
        unsafe { known::learn(db, sql) };
        match prepare() {
            Err(failure) if known::is_missing(&failure.message) => {
                // What the file's schema calls does not stand in the text.
                // SAFETY: the caller's promise.
                unsafe { known::learn_all(db) };
                prepare()?;
            }
            done => done?,
        }
        if raw.is_null() {
            return Err(Failure { code: ffi::SQLITE_ERROR, message: "empty statement".into() });
        }
        // SAFETY: `raw` is a statement.
        let columns = unsafe { ffi::sqlite3_column_count(raw) } as usize;
        Ok(Self { raw, columns, reads: None, noted: 0 })
    }

    /// What it reads is to be counted, if that is not so already.
    pub fn count_reads(&mut self, reads: impl FnOnce() -> Arc<Reads>) {
        if self.reads.is_none() {
            self.reads = Some(reads());
        }
    }

    /// How often it has run, and how many steps it has gone through whole tables, since this was asked last.
    pub(super) fn take_counts(&self) -> (u64, u64) {
        // SAFETY: `raw` is a live statement.
        let take = |what| unsafe { ffi::sqlite3_stmt_status(self.raw, what, 1) };
        let count = |what| u64::from(take(what).cast_unsigned());
        (count(ffi::SQLITE_STMTSTATUS_RUN), count(ffi::SQLITE_STMTSTATUS_FULLSCAN_STEP))
    }

    /// For what else SQLite knows of it.
    pub(super) fn raw(&self) -> *mut ffi::sqlite3_stmt {
        self.raw
    }

    /// True for a statement of this handle.
    pub fn is_of(&self, db: *mut ffi::sqlite3) -> bool {
        // SAFETY: `raw` is a live statement.
        std::ptr::eq(unsafe { ffi::sqlite3_db_handle(self.raw) }, db)
    }

    /// Bytes of the statement's own SQL.
    pub fn text_length(&self) -> usize {
        // SAFETY: `raw` is a live statement; SQLite keeps its NUL-terminated text as long as the statement lives.
        unsafe {
            let text = ffi::sqlite3_sql(self.raw);
            if text.is_null() { 0 } else { std::ffi::CStr::from_ptr(text).to_bytes().len() }
        }
    }

    /// Gives parameter `index` (from 1) a value, which is copied.
    pub fn bind(&mut self, index: usize, value: &Value) -> Result<(), Failure> {
        // SAFETY: SQLite copies it.
        unsafe { self.bind_as(index, value, ffi::SQLITE_TRANSIENT()) }
    }

    /// Gives parameter `index` (from 1) a value, which is not copied.
    ///
    /// # Safety
    /// The value lives, and stays as it is, until the statement has been reset after its run; before it runs again the
    /// parameter has another one, or its bindings are cleared.
    pub unsafe fn bind_borrowed(&mut self, index: usize, value: &Value) -> Result<(), Failure> {
        // SAFETY: the caller's promise.
        unsafe { self.bind_as(index, value, ffi::SQLITE_STATIC()) }
    }

    /// # Safety
    /// The value lives as long as `lifetime` says.
    unsafe fn bind_as(
        &mut self,
        index: usize,
        value: &Value,
        lifetime: ffi::sqlite3_destructor_type,
    ) -> Result<(), Failure> {
        let index = index as c_int;
        // SAFETY: lengths are those of the values; the caller's promise.
        let code = unsafe {
            match value {
                Value::Null => ffi::sqlite3_bind_null(self.raw, index),
                Value::Integer(value) => ffi::sqlite3_bind_int64(self.raw, index, *value),
                Value::Real(value) => ffi::sqlite3_bind_double(self.raw, index, *value),
                Value::Text(text) => ffi::sqlite3_bind_text64(
                    self.raw,
                    index,
                    text.as_ptr().cast(),
                    text.len() as u64,
                    lifetime,
                    ffi::SQLITE_UTF8 as u8,
                ),
                Value::Blob(bytes) if bytes.is_empty() => ffi::sqlite3_bind_zeroblob(self.raw, index, 0),
                Value::Blob(bytes) => {
                    ffi::sqlite3_bind_blob64(self.raw, index, bytes.as_ptr().cast(), bytes.len() as u64, lifetime)
                }
            }
        };
        if code == ffi::SQLITE_OK { Ok(()) } else { Err(self.failure()) }
    }

    /// Runs to the next row. After a failure the statement has been reset, which is when SQLite tells the reason.
    pub fn step(&mut self) -> Result<Step, Failure> {
        let losses = mapped::losses_of_thread();
        // SAFETY: `raw` is a statement.
        match unsafe { ffi::sqlite3_step(self.raw) } {
            // Whatever SQLite made of what it read.
            _ if mapped::losses_of_thread() != losses => {
                // SAFETY: as above.
                unsafe { ffi::sqlite3_reset(self.raw) };
                Err(Failure::missing_page())
            }
            ffi::SQLITE_ROW => Ok(Step::Row),
            ffi::SQLITE_DONE => Ok(Step::Done),
            _ => {
                // SAFETY: as above.
                let code = unsafe { ffi::sqlite3_reset(self.raw) };
                let failure = self.failure();
                // A statement that has expired before it ran leaves no trace in the handle.
                Err(if failure.primary() == code & 0xff { failure } else { Failure::of(code) })
            }
        }
    }

    /// Makes it ready to run again; what it did is done, and an autocommit transaction of its own ends.
    pub fn reset(&mut self) -> Result<(), Failure> {
        // SAFETY: as above.
        let code = unsafe { ffi::sqlite3_reset(self.raw) };
        if code == ffi::SQLITE_OK { Ok(()) } else { Err(self.failure()) }
    }

    /// Forgets the parameters' values.
    pub fn clear_bindings(&mut self) {
        // SAFETY: as above.
        unsafe { ffi::sqlite3_clear_bindings(self.raw) };
    }

    /// Columns of a row.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// A column of the current row.
    #[inline]
    pub fn column(&self, index: usize) -> ValueRef<'_> {
        debug_assert!(index < self.columns);
        // SAFETY: the statement stands on a row, and its handle is this thread's alone (see `Send`), which is all that
        // SQLite asks of whoever looks into the value itself instead of asking the statement thrice. Pointers that it
        // hands out stay valid until the next step, for which `&mut self` is needed. A text is asked for before its
        // length, in the encoding that it is kept in, so that nothing is converted.
        unsafe {
            let value = ffi::sqlite3_column_value(self.raw, index as c_int);
            match ffi::sqlite3_value_type(value) {
                ffi::SQLITE_INTEGER => ValueRef::Integer(ffi::sqlite3_value_int64(value)),
                ffi::SQLITE_FLOAT => ValueRef::Real(ffi::sqlite3_value_double(value)),
                ffi::SQLITE_TEXT => {
                    let text = ffi::sqlite3_value_text(value);
                    ValueRef::Text(slice(text, ffi::sqlite3_value_bytes(value)))
                }
                ffi::SQLITE_BLOB => {
                    let bytes = ffi::sqlite3_value_blob(value);
                    ValueRef::Blob(slice(bytes.cast(), ffi::sqlite3_value_bytes(value)))
                }
                _ => ValueRef::Null,
            }
        }
    }

    fn failure(&self) -> Failure {
        // SAFETY: the statement's handle is open and locked by this thread.
        unsafe { Failure::last(ffi::sqlite3_db_handle(self.raw)) }
    }
}

impl Drop for Statement {
    fn drop(&mut self) {
        // SAFETY: nobody else has the statement.
        unsafe { ffi::sqlite3_finalize(self.raw) };
    }
}

/// # Safety
/// `bytes` points to `length` bytes, or is null.
unsafe fn slice<'a>(bytes: *const u8, length: c_int) -> &'a [u8] {
    if bytes.is_null() || length <= 0 {
        return &[];
    }
    // SAFETY: by the caller's promise.
    unsafe { std::slice::from_raw_parts(bytes, length as usize) }
}
