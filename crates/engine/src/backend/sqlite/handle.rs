//! A session's SQLite handle, its cached statements, and the cursors that read through it.

use std::cell::{Cell, RefCell, RefMut};
use std::sync::{Arc, Weak};
use std::time::Duration;

use foldhash::{HashMap, HashSet, HashSetExt as _};
use libsqlite3_sys as ffi;
use parking_lot::{ReentrantMutex, ReentrantMutexGuard};
use rowferry_dialect::Error;
use rowferry_dialect::ir::Value;

use super::busy::BusyHandler;
use super::connection::Connection;
use super::functions::{OnceChecker, known};
use super::statement::{Failure, Statement, Step};
use crate::backend::Program;
use crate::cursor::CursorState;
use crate::session::state::State;
use crate::statistics::Reads;

/// Prepared statements that a session keeps for their next run.
const CACHED_STATEMENTS: usize = 100;

/// A SQLite handle that a session and its cursors share.
///
/// SQLite's own mutexes are off (`SQLITE_OPEN_NOMUTEX`): locking once for a row is cheaper than twice for a value. So
/// everything that touches the handle, statements and their rows included, holds [`SharedHandle::lock`]. The lock is
/// re-entrant because SQL functions run statements of their own while one is running.
#[derive(Clone, Debug)]
pub struct SharedHandle(Arc<ReentrantMutex<Handle>>);

/// A handle that lives as long as its session.
#[derive(Clone, Debug, Default)]
pub struct WeakHandle(Weak<ReentrantMutex<Handle>>);

impl WeakHandle {
    /// The handle, while there is one.
    pub fn upgrade(&self) -> Option<SharedHandle> {
        self.0.upgrade().map(SharedHandle)
    }
}

/// What a text of our own calls of our functions, which SQLite is told of when they are needed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Calls {
    /// Nothing.
    Nothing,
    /// What it names.
    Named,
    /// What stands in the file's schema, too: behind its tables, indexes and triggers.
    Stored,
}

/// What [`SharedHandle::lock`] guards.
#[derive(Debug)]
pub struct Handle {
    // Fields are dropped in order: statements before their handle.
    statements: RefCell<StatementCache>,
    cursors: RefCell<Vec<Weak<CursorState>>>,
    connection: rusqlite::Connection,
    db: *mut ffi::sqlite3,
    /// Runs what reads no table of the file as long as `connection` need not know the file's schema, which costs SQLite time and
    /// memory for each of its tables.
    apart: RefCell<Option<Apart>>,
    /// `connection` has read the file's schema, or is about to.
    knows_file: Cell<bool>,
    /// `connection` has been told how to write.
    may_write: Cell<bool>,
    /// Pages that it had written when that was last asked.
    pages_written: Cell<i32>,
    parts: Parts,
    changes: Box<Changes>,
    compared: RefCell<Compared>,
    /// Catalog relations that SQLite knows, by their object ids.
    known_catalogs: RefCell<HashSet<u32>>,
    /// Files of other databases.
    pub(super) attached: RefCell<Vec<super::attached::Attached>>,
    counting: Counting,
}

/// What is counted of the statements that are kept.
#[derive(Debug, Default)]
struct Counting {
    /// How often counts have been drained, from 1 on.
    drained: Cell<u64>,
    /// Statements that have run since then.
    ran: RefCell<Vec<u64>>,
    /// Counts of statements that are kept no more.
    gone: RefCell<Vec<(Arc<Reads>, u64, u64)>>,
}

impl Counting {
    fn note(&self, key: u64, statement: &mut Statement) {
        let drained = self.drained.get() + 1;
        if statement.noted != drained && statement.reads.is_some() {
            statement.noted = drained;
            self.ran.borrow_mut().push(key);
        }
    }

    fn lose(&self, statement: &Statement) {
        if let Some(reads) = statement.reads.as_ref().filter(|reads| reads.is_of_tables()) {
            let (runs, steps) = statement.take_counts();
            if runs > 0 {
                self.gone.borrow_mut().push((reads.clone(), runs, steps));
            }
        }
    }
}

/// A connection without a file.
#[derive(Debug)]
struct Apart {
    connection: rusqlite::Connection,
    known_catalogs: HashSet<u32>,
}

/// What a handle is made with.
pub struct Parts {
    /// Waits for locks.
    pub busy: Box<BusyHandler>,
    /// Opens a connection without a file.
    pub apart: Box<dyn Fn() -> rusqlite::Result<rusqlite::Connection> + Send>,
    /// What is said before the first write.
    pub durability: &'static str,
}

impl std::fmt::Debug for Parts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Parts").field("busy", &self.busy).field("durability", &self.durability).finish_non_exhaustive()
    }
}

/// Sequences whose counters are those of the file, as long as the file is what it was.
#[derive(Debug, Default)]
pub struct Compared {
    /// The file's content, see [`Handle::data_version`].
    pub version: u32,
    /// Their oids.
    pub sequences: Vec<u32>,
}

// SAFETY: the raw pointer is the connection's own, which is `Send`; statements are, too.
unsafe impl Send for Handle {}

/// The lock's guard.
pub type Guard<'a> = ReentrantMutexGuard<'a, Handle>;

impl SharedHandle {
    /// Shares a connection.
    pub fn new(connection: rusqlite::Connection, parts: Parts) -> Self {
        // SAFETY: the pointer is used as long as the connection lives, beside which it stands.
        let db = unsafe { connection.handle() };
        let changes = Changes::install(db);
        Self(Arc::new(ReentrantMutex::new(Handle {
            statements: RefCell::default(),
            cursors: RefCell::default(),
            connection,
            db,
            apart: RefCell::default(),
            knows_file: Cell::new(false),
            may_write: Cell::new(false),
            parts,
            changes,
            compared: RefCell::default(),
            known_catalogs: RefCell::default(),
            attached: RefCell::default(),
            pages_written: Cell::default(),
            counting: Counting::default(),
        })))
    }

    /// For those who must not keep it alive.
    pub fn downgrade(&self) -> WeakHandle {
        WeakHandle(Arc::downgrade(&self.0))
    }

    /// The handle, for this thread.
    pub fn lock(&self) -> Guard<'_> {
        self.0.lock()
    }

    /// The handle, for another thread than the session's, unless a statement runs on it.
    pub fn try_lock(&self) -> Option<Guard<'_>> {
        self.0.try_lock()
    }
}

impl Handle {
    /// What the binding offers, for the operations of this folder. It knows all functions of ours, which costs some hundred
    /// kilobytes: what every session does is for [`Self::bare`].
    pub(super) fn bound(&self) -> &rusqlite::Connection {
        // SAFETY: the connection is open and locked.
        unsafe { known::learn_all(self.db) };
        &self.connection
    }

    /// The same for texts that name no function of ours, and touch no table whose definition might.
    pub(super) fn bare(&self) -> &rusqlite::Connection {
        &self.connection
    }

    /// The connection, lent.
    pub fn connection(&self) -> Connection<'_> {
        Connection::of(&self.connection)
    }

    /// True while a transaction is open on it.
    pub fn is_in_transaction(&self) -> bool {
        self.connection().is_in_transaction()
    }

    /// Fails for a value that does not hold what a checker asks, which keeps no statement.
    pub(crate) fn check(&self, checker: &OnceChecker, value: &Value) -> Result<(), Error> {
        // SAFETY: the handle is open and locked; the statements of this checker end with each check.
        unsafe { checker.check(self.db, value) }
    }

    /// The statement of the plan `key`, from the cache or prepared now.
    pub fn start(&self, key: u64, program: &Program, state: &Arc<State>) -> Result<Statement, Failure> {
        if let Some(statement) = self.statements.borrow_mut().take(key) {
            return Ok(statement);
        }
        self.learn_file();
        self.make_known(&program.catalogs, state)?;
        self.statement(key, &program.sql)
    }

    /// The same for a program that reads no table of the file, on a connection that has no file.
    pub fn start_apart(&self, key: u64, program: &Program, state: &Arc<State>) -> Result<Statement, Failure> {
        if let Some(statement) = self.statements.borrow_mut().take(key) {
            return Ok(statement);
        }
        let mut apart = self.apart.borrow_mut();
        let apart = match &mut *apart {
            Some(apart) => apart,
            none => none.insert(Apart { connection: (self.parts.apart)()?, known_catalogs: HashSet::new() }),
        };
        for &oid in &program.catalogs {
            if !apart.known_catalogs.contains(&oid) {
                super::catalog::register(&apart.connection, oid, state)?;
                apart.known_catalogs.insert(oid);
            }
        }
        // SAFETY: the connection is open and locked; it lives as long as the handle, and statements are dropped before it.
        unsafe { Statement::prepare(apart.connection.handle(), &program.sql) }
    }

    /// Takes the statement of the plan `key` out of the cache.
    pub(super) fn take(&self, key: u64) -> Option<Statement> {
        self.statements.borrow_mut().take(key)
    }

    /// True when SQLite has read the file's schema on behalf of a statement.
    pub fn knows_file(&self) -> bool {
        self.knows_file.get()
    }

    /// From now on nothing runs apart.
    pub(super) fn learn_file(&self) {
        if !self.knows_file.replace(true) && self.apart.borrow().is_some() {
            self.statements.borrow_mut().clear();
        }
    }

    /// A statement for the plan `key`, from the cache or prepared now.
    fn statement(&self, key: u64, sql: &str) -> Result<Statement, Failure> {
        if let Some(statement) = self.statements.borrow_mut().take(key) {
            return Ok(statement);
        }
        // SAFETY: the connection is open and locked; statements are dropped before it.
        unsafe { Statement::prepare(self.db, sql) }
    }

    /// Makes SQLite know the catalog relations of a statement, which few sessions ever read, before it is prepared.
    pub fn make_known(&self, catalogs: &[u32], state: &Arc<State>) -> Result<(), Failure> {
        for &oid in catalogs {
            if self.known_catalogs.borrow().contains(&oid) {
                continue;
            }
            super::catalog::register(&self.connection, oid, state)?;
            self.known_catalogs.borrow_mut().insert(oid);
        }
        Ok(())
    }

    /// Puts a statement back for its next run; a very long one is dropped, since its plan is not kept either.
    pub fn put_back(&self, key: u64, mut statement: Statement) {
        if statement.text_length() > crate::plans::LONGEST_TEXT {
            return self.counting.lose(&statement);
        }
        if self.knows_file.get() && !statement.is_of(self.db) {
            return;
        }
        self.counting.note(key, &mut statement);
        // A failed reset repeats the failure of the step before it, which has been reported.
        let _ = statement.reset();
        statement.clear_bindings();
        if let Some(oldest) = self.statements.borrow_mut().put(key, statement) {
            self.counting.lose(&oldest);
        }
    }

    /// Tells what statements have read since the last call: what each reads, how often it has run, and how many steps it has gone
    /// through whole tables.
    pub fn drain_reads(&self, mut each: impl FnMut(&Arc<Reads>, u64, u64)) {
        let statements = self.statements.borrow();
        self.counting.drained.set(self.counting.drained.get() + 1);
        for key in self.counting.ran.borrow_mut().drain(..) {
            let Some(statement) = statements.get(key) else { continue };
            if let Some(reads) = statement.reads.as_ref().filter(|reads| reads.is_of_tables()) {
                let (runs, steps) = statement.take_counts();
                each(reads, runs, steps);
            }
        }
        for (reads, runs, steps) in self.counting.gone.borrow_mut().drain(..) {
            each(&reads, runs, steps);
        }
    }

    /// Tells how many rows of tables have been inserted, updated and deleted since the last call: whether the table is temporary, its
    /// name in the file, and the numbers.
    pub fn drain_row_counts(&self, mut each: impl FnMut(bool, &str, [u64; 3])) {
        for counted in self.changes.0.borrow_mut().counts.drain(..) {
            each(counted.temporary, &counted.table, counted.rows);
        }
    }

    /// There are such numbers.
    pub fn has_row_counts(&self) -> bool {
        !self.changes.0.borrow().counts.is_empty()
    }

    /// The same of statements that have ended well; what others have changed stays.
    pub fn drain_settled_row_counts(&self, mut each: impl FnMut(bool, &str, [u64; 3])) {
        for counted in &mut self.changes.0.borrow_mut().counts {
            each(counted.temporary, &counted.table, counted.settled);
            counted.rows = std::array::from_fn(|kind| counted.rows[kind] - counted.settled[kind]);
            counted.settled = [0; 3];
        }
    }

    /// What has been counted of changed rows is so: `false` says that the statement will run again.
    pub fn settle_row_counts(&self, stays: bool) {
        for counted in &mut self.changes.0.borrow_mut().counts {
            if stays {
                counted.settled = counted.rows;
            } else {
                counted.rows = counted.settled;
            }
        }
    }

    /// Pages that were in the cache, pages that had to be read, and pages written, since the last call.
    pub fn take_page_counts(&self) -> [u64; 3] {
        let take = |what| {
            let (mut now, mut high) = (0, 0);
            // SAFETY: the handle is open as long as `self` lives; SQLite writes two integers.
            unsafe { ffi::sqlite3_db_status(self.db, what, &raw mut now, &raw mut high, 1) };
            u64::from(now.cast_unsigned())
        };
        [ffi::SQLITE_DBSTATUS_CACHE_HIT, ffi::SQLITE_DBSTATUS_CACHE_MISS, ffi::SQLITE_DBSTATUS_CACHE_WRITE].map(take)
    }

    /// Runs a statement of our own that returns no rows. It is kept under its text.
    pub fn run(&self, sql: &'static str) -> Result<(), Failure> {
        let key = sql.as_ptr() as u64 | OWN_STATEMENT;
        loop {
            let mut statement = self.statement(key, sql)?;
            let result = loop {
                match statement.step() {
                    Ok(Step::Row) => {}
                    Ok(Step::Done) => break Ok(()),
                    Err(failure) => break Err(failure),
                }
            };
            match result {
                // Another schema: the next one is prepared against it.
                Err(failure) if failure.primary() == ffi::SQLITE_SCHEMA => drop(statement),
                result => {
                    self.put_back(key, statement);
                    return result;
                }
            }
        }
    }

    /// Says how safe a commit is to be, once.
    pub fn prepare_to_write(&self) -> Result<(), Failure> {
        if !self.may_write.get() {
            self.batch(self.parts.durability, Calls::Nothing)?;
            self.may_write.set(true);
        }
        Ok(())
    }

    /// Runs a text of several statements, of which is said what they call.
    pub fn batch(&self, sql: &str, calls: Calls) -> Result<(), Failure> {
        match calls {
            Calls::Nothing => {}
            Calls::Named => {
                // SAFETY: the connection is open and locked.
                unsafe { known::learn(self.db, sql) }
            }
            Calls::Stored => {
                // SAFETY: as above.
                unsafe { known::learn_all(self.db) }
            }
        }
        self.connection.execute_batch(sql).map_err(Failure::from)
    }

    /// How long a lock that is held outside is waited for.
    pub fn set_busy_timeout(&self, timeout: Duration) {
        self.parts.busy.set_timeout(timeout);
    }

    /// Rows of the file's tables that have been changed or deleted since the last call: the table's name, the rowid,
    /// and whether the row is gone.
    pub fn drain_changes(&self, mut each: impl FnMut(&str, i64, bool)) {
        self.changes.drain(&mut each);
    }

    /// The first of the transaction's changes that the file keeps, if there is any; forgotten then.
    pub(super) fn take_first_change(&self) -> Option<i64> {
        self.changes.0.borrow_mut().first_kept.take()
    }

    /// Whether rows have been noted whose words are to be taken in; forgotten then.
    pub(super) fn take_pending(&self) -> bool {
        std::mem::take(&mut self.changes.0.borrow_mut().words_wait)
    }

    /// Forgets all cached statements.
    pub fn clear_statements(&self) {
        let mut statements = self.statements.borrow_mut();
        for key in self.counting.ran.borrow_mut().drain(..) {
            if let Some(statement) = statements.get(key) {
                self.counting.lose(statement);
            }
        }
        statements.clear();
    }

    /// Rows that the last INSERT, UPDATE or DELETE changed.
    pub fn changes(&self) -> u64 {
        self.connection.changes()
    }

    /// Rows that the handle has changed since it was opened, by triggers and foreign keys, too.
    pub fn total_changes(&self) -> u64 {
        // SAFETY: the handle is open as long as `self` lives.
        let total = unsafe { ffi::sqlite3_total_changes64(self.connection.handle()) };
        u64::try_from(total).unwrap_or_default()
    }

    /// Whether pages have been written, to the log or besides, since this was last asked.
    pub fn has_written(&self) -> bool {
        let (mut pages, mut highest) = (0, 0);
        // SAFETY: the handle is open as long as `self` lives, and SQLite writes two integers.
        unsafe {
            let kind = ffi::SQLITE_DBSTATUS_CACHE_WRITE;
            ffi::sqlite3_db_status(self.db, kind, &raw mut pages, &raw mut highest, 0);
        }
        self.pages_written.replace(pages) != pages
    }

    /// A number that is another one when the file has changed: by a commit on this handle, or by somebody else's once this
    /// handle has begun to read behind it.
    pub fn data_version(&self) -> u32 {
        let mut version: u32 = 0;
        // SAFETY: the handle is open as long as `self` lives, and SQLite writes an unsigned integer.
        unsafe {
            ffi::sqlite3_file_control(
                self.db,
                c"main".as_ptr(),
                ffi::SQLITE_FCNTL_DATA_VERSION,
                std::ptr::from_mut(&mut version).cast(),
            );
        }
        version
    }

    /// Sequences whose counters need no look at the file; those of another version of it are forgotten.
    pub fn compared(&self) -> RefMut<'_, Compared> {
        let mut compared = self.compared.borrow_mut();
        let version = self.data_version();
        if compared.version != version {
            *compared = Compared { version, sequences: Vec::new() };
        }
        compared
    }

    /// The counters are known to be those of this version of the file.
    pub(super) fn compared_at(&self, version: u32) {
        self.compared.borrow_mut().version = version;
    }

    /// The identity that the last row inserted has.
    pub fn last_identity_given(&self) -> i64 {
        self.connection.last_insert_rowid()
    }

    /// Keeps an eye on a cursor.
    pub fn register(&self, cursor: &Arc<CursorState>) {
        let mut cursors = self.cursors.borrow_mut();
        if cursors.len() >= 32 && cursors.len().is_power_of_two() {
            cursors.retain(|cursor| cursor.strong_count() > 0);
        }
        cursors.push(Arc::downgrade(cursor));
    }

    /// The cursors that are still in use.
    pub fn cursors(&self) -> Vec<Arc<CursorState>> {
        let mut cursors = self.cursors.borrow_mut();
        if cursors.is_empty() {
            return Vec::new();
        }
        cursors.retain(|cursor| cursor.strong_count() > 0);
        cursors.iter().filter_map(Weak::upgrade).collect()
    }
}

/// Plans are numbered from 1 and never reach this bit; our own statements are known by their text's address.
const OWN_STATEMENT: u64 = 1 << 63;

/// Statements that wait for their next run, the least recently used dropped first.
#[derive(Debug, Default)]
struct StatementCache {
    statements: HashMap<u64, (u64, Statement)>,
    tick: u64,
}

impl StatementCache {
    fn take(&mut self, key: u64) -> Option<Statement> {
        self.statements.remove(&key).map(|(_, statement)| statement)
    }

    fn get(&self, key: u64) -> Option<&Statement> {
        self.statements.get(&key).map(|(_, statement)| statement)
    }

    /// Keeps a statement; the one that has to go for it.
    fn put(&mut self, key: u64, statement: Statement) -> Option<Statement> {
        let mut gone = None;
        if self.statements.len() >= CACHED_STATEMENTS {
            let oldest = self.statements.iter().min_by_key(|(_, (used, _))| *used).map(|(key, _)| *key);
            gone = oldest.and_then(|key| self.take(key));
        }
        self.tick += 1;
        self.statements.insert(key, (self.tick, statement));
        gone
    }

    fn clear(&mut self) {
        self.statements.clear();
    }
}

/// Rows that statements have changed, as SQLite tells them one by one.
///
/// Used by the thread that holds the handle's lock, like everything of the handle.
#[derive(Debug, Default)]
pub struct Changes(RefCell<ChangeList>);

#[derive(Debug, Default)]
struct ChangeList {
    /// Names of tables, without repetition in a row.
    names: Vec<String>,
    /// The name's place, the rowid, whether the row is gone.
    rows: Vec<(u32, i64, bool)>,
    /// The least position of a change that the transaction has put down: see [`super::changes`].
    first_kept: Option<i64>,
    /// Rows have been noted for full-text indexes: see [`super::fulltext`].
    words_wait: bool,
    /// How many rows of which tables.
    counts: Vec<RowCounts>,
    /// The one that was counted last.
    last_counted: usize,
}

/// How many rows of a table have been inserted, updated and deleted.
#[derive(Debug)]
struct RowCounts {
    temporary: bool,
    table: String,
    rows: [u64; 3],
    /// What they were before the statement that runs.
    settled: [u64; 3],
}

impl ChangeList {
    fn count(&mut self, operation: std::ffi::c_int, temporary: bool, table: &[u8]) {
        let is_it = |counted: &RowCounts| counted.temporary == temporary && counted.table.as_bytes() == table;
        if !self.counts.get(self.last_counted).is_some_and(is_it) {
            self.last_counted = self.counts.iter().position(is_it).unwrap_or_else(|| {
                let table = String::from_utf8_lossy(table).into_owned();
                self.counts.push(RowCounts { temporary, table, rows: [0; 3], settled: [0; 3] });
                self.counts.len() - 1
            });
        }
        let kind = match operation {
            ffi::SQLITE_INSERT => 0,
            ffi::SQLITE_UPDATE => 1,
            _ => 2,
        };
        self.counts[self.last_counted].rows[kind] += 1;
    }
}

impl Changes {
    fn install(db: *mut ffi::sqlite3) -> Box<Self> {
        let changes = Box::<Self>::default();
        // SAFETY: the box's content does not move, and the handle drops its connection before the box.
        unsafe {
            ffi::sqlite3_update_hook(db, Some(Self::call), std::ptr::from_ref(&*changes).cast_mut().cast());
        }
        changes
    }

    unsafe extern "C" fn call(
        data: *mut std::ffi::c_void,
        operation: std::ffi::c_int,
        database: *const std::ffi::c_char,
        table: *const std::ffi::c_char,
        row: i64,
    ) {
        // SAFETY: `data` is the list, see `install`; both names are NUL-terminated and live during the call.
        let (changes, database, table) =
            unsafe { (&*data.cast::<Self>(), std::ffi::CStr::from_ptr(database), std::ffi::CStr::from_ptr(table)) };
        let mut list = changes.0.borrow_mut();
        let temporary = database.to_bytes() != b"main";
        list.count(operation, temporary, table.to_bytes());
        if operation == ffi::SQLITE_INSERT {
            if table.to_bytes() == super::changes::TABLE.as_bytes() {
                list.first_kept = Some(list.first_kept.map_or(row, |first| first.min(row)));
            }
            list.words_wait |= table.to_bytes() == super::fulltext::PENDING.as_bytes();
            return;
        }
        if temporary {
            return;
        }
        if list.names.last().is_none_or(|name| name.as_bytes() != table.to_bytes()) {
            list.names.push(table.to_string_lossy().into_owned());
        }
        let name = list.names.len() as u32 - 1;
        list.rows.push((name, row, operation == ffi::SQLITE_DELETE));
    }

    fn drain(&self, each: &mut dyn FnMut(&str, i64, bool)) {
        let list = &mut *self.0.borrow_mut();
        if list.names.is_empty() {
            return;
        }
        for (name, row, gone) in list.rows.drain(..) {
            each(&list.names[name as usize], row, gone);
        }
        list.names.clear();
        // A big change is over; the next is probably small.
        list.rows.shrink_to(1_024);
    }
}
