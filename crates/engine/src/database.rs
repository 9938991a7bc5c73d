//! One database file.

use std::collections::{BTreeMap, HashMap};
use std::ffi::{c_int, c_void};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::{Duration, Instant};

use libsqlite3_sys as ffi;
use parking_lot::{Mutex, RwLock};
use rowferry_dialect::informix::Logging;
use rowferry_dialect::{Condition, Error, Result};
use rusqlite::{Connection, OpenFlags};

use crate::databases::Siblings;
use crate::file_watch::{self, FileWatch};
use crate::interrupt::{Interrupter, Wake};
use crate::locks::Locks;
use crate::log_sync::LogSync;
use crate::plans::PlanCache;
use crate::schema::{self, Snapshot};
use crate::session::sequences::{Counter, Counters};
use crate::session::state::State;
use crate::statement::Failure;
use crate::{Durability, Journal, Options, Session, SessionOptions};

/// One database file, shared by all its sessions. Cloning is cheap.
#[derive(Clone, Debug)]
pub struct Database {
    pub(crate) shared: Arc<Shared>,
}

/// A file's journal mode as SQLite calls it: `wal`, `delete`, `truncate`, `persist` and so on.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct JournalModes {
    /// Before the file was opened here.
    pub before: String,
    /// Since then.
    pub now: String,
}

/// What the sessions of a database share.
#[derive(Debug)]
pub struct Shared {
    pub name: String,
    pub path: PathBuf,
    pub options: Options,
    /// Who holds and who waits for what.
    pub locks: Arc<Locks>,
    pub plans: PlanCache,
    /// Rows of catalogs that have been made.
    pub catalogs: crate::catalog::cache::Cache,
    /// The newest committed schema that is known here.
    current: RwLock<Arc<Snapshot>>,
    generation: AtomicU64,
    /// Transactions committed by this server.
    commits: AtomicU64,
    /// One session at a time reads the schema of the file anew.
    reload: Mutex<()>,
    sessions: Mutex<HashMap<u32, Weak<State>>>,
    /// Settings that the server tells of itself.
    announced: RwLock<Arc<BTreeMap<&'static str, String>>>,
    /// Where sequences stand, committed or not.
    pub sequences: Mutex<Counters<Counter>>,
    /// Sequences whose counter stands in no file yet; the next who commits writes it.
    pub unsaved_sequences: Mutex<Counters<Arc<crate::schema::SequenceDetails>>>,
    /// There are such sequences.
    pub has_unsaved_sequences: AtomicBool,
    /// How often rows of tables have been numbered by hand.
    pub by_hand: Mutex<HashMap<u32, u64>>,
    /// The journal mode of the file at the start, before and after it was opened here.
    journal: OnceLock<JournalModes>,
    /// Whether the file is still the one at its path. Closed before the directory goes.
    pub file: FileWatch,
    pub log_sync: LogSync,
    directory: Option<PathBuf>,
    /// The databases beside this one.
    pub siblings: OnceLock<Siblings>,
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.file.close();
        if let Some(directory) = &self.directory
            && let Err(error) = std::fs::remove_dir_all(directory)
        {
            tracing::warn!(directory = %directory.display(), %error, "a temporary database stays behind");
        }
    }
}

impl Database {
    /// Opens a file.
    ///
    /// # Errors
    /// `58P01` when there is none and `options.create` is false; `XX001` when it is not a SQLite database.
    pub fn open(path: &Path, options: Options) -> Result<Self> {
        let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        Self::open_named(name, path, options, None)
    }

    /// A new database that is gone with the last handle to it.
    ///
    /// It is a file nevertheless, in memory where the system has a place for such files (`/dev/shm`) and in the
    /// temporary directory elsewhere: SQLite's own in-memory databases cannot be read while they are written.
    pub fn memory(name: &str, mut options: Options) -> Result<Self> {
        let shm = Path::new("/dev/shm");
        let base = if shm.is_dir() { shm.to_path_buf() } else { std::env::temp_dir() };
        let directory = base.join(format!("rowferry-{}-{:016x}", std::process::id(), rand::random::<u64>()));
        let failed = |error: std::io::Error| {
            Error::new(Condition::IoError, format!("could not create \"{}\": {error}", directory.display()))
        };
        remove_stale(&base);
        std::fs::create_dir(&directory).map_err(failed)?;
        options.create = true;
        options.read_only = false;
        options.durability = Durability::Off;
        Self::open_named(name.to_owned(), &directory.join("memory.db"), options, Some(directory.clone()))
    }

    fn open_named(name: String, path: &Path, options: Options, directory: Option<PathBuf>) -> Result<Self> {
        server_start();
        check_file(path, &options)?;
        // Sessions may begin after the process has changed its directory.
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
        file_watch::check_log(&path)?;
        let file = FileWatch::new(path.clone(), directory.is_some());
        let shared = Shared {
            name,
            path,
            options,
            locks: Arc::new(Locks::new(crate::catalog::DATABASE)),
            plans: PlanCache::default(),
            catalogs: crate::catalog::cache::Cache::default(),
            current: RwLock::default(),
            generation: AtomicU64::new(0),
            commits: AtomicU64::new(0),
            reload: Mutex::default(),
            sessions: Mutex::default(),
            announced: RwLock::default(),
            sequences: Mutex::default(),
            unsaved_sequences: Mutex::default(),
            has_unsaved_sequences: AtomicBool::new(false),
            by_hand: Mutex::default(),
            journal: OnceLock::new(),
            file,
            log_sync: LogSync::default(),
            directory,
            siblings: OnceLock::new(),
        };
        shared.announce_options();
        let connection = shared.connect().map_err(|failure| shared.open_error(&failure))?;
        let journal = shared.prepare_file(&connection)?;
        if journal.before != journal.now {
            tracing::info!(
                path = %shared.path.display(),
                from = journal.before,
                to = journal.now,
                "the file's journal mode was changed, for good"
            );
        }
        shared.journal.set(journal).ok();
        let snapshot = schema::load(&connection, "main").map_err(|error| shared.open_error(&error.into()))?;
        shared.publish(Arc::new(snapshot));
        shared.file.begin(connection)?;
        if shared.flushes_log() {
            let log = file_watch::log_of(&shared.path);
            shared.log_sync.begin(&log).map_err(|error| {
                Error::new(Condition::IoError, format!("could not open \"{}\": {error}", log.display()))
            })?;
        }
        Ok(Self { shared: Arc::new(shared) })
    }

    /// Lets `SHOW` tell something of the server that serves the database (`port`, `max_connections`): in sessions that
    /// begin from now on. The value is in the setting's unit.
    pub fn announce(&self, setting: &'static str, value: impl Into<String>) {
        let mut announced = self.shared.announced.write();
        Arc::make_mut(&mut announced).insert(setting, value.into());
    }

    /// Begins a session; SQLite's handle is opened at the first statement.
    pub fn session(&self, options: SessionOptions) -> Session {
        Session::new(self.clone(), options)
    }

    /// The database's name: the file's, without its extension.
    pub fn name(&self) -> &str {
        &self.shared.name
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.shared.path
    }

    /// What transactions Informix clients have.
    pub fn logging(&self) -> Logging {
        self.shared.options.logging
    }

    /// Sessions that are open.
    pub fn sessions(&self) -> usize {
        self.shared.sessions().len()
    }

    /// The file's journal mode, and what it was before it was opened here.
    pub fn journal(&self) -> JournalModes {
        self.shared.journal.get().cloned().unwrap_or_default()
    }
}

impl Shared {
    /// What the settings of new sessions are where the table's value is not true.
    pub fn announced(&self) -> Arc<BTreeMap<&'static str, String>> {
        self.announced.read().clone()
    }

    /// Settings that follow from how the database was opened.
    fn announce_options(&self) {
        let mut announced = self.announced.write();
        let announced = Arc::make_mut(&mut announced);
        if let Some(directory) = self.path.parent() {
            announced.insert("data_directory", directory.display().to_string());
        }
        if self.options.durability != Durability::Full {
            announced.insert("synchronous_commit", "off".into());
        }
        if self.options.durability == Durability::Off {
            announced.insert("fsync", "off".into());
        }
        if self.options.read_only {
            announced.insert("default_transaction_read_only", "on".into());
        }
    }

    /// A new handle, with what every handle needs.
    pub fn connect(&self) -> std::result::Result<Connection, Failure> {
        crate::memory::sqlite::install();
        let mut flags = OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_EXRESCODE;
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
        connection.pragma_update(None, "foreign_keys", true)?;
        let synchronous = match self.options.durability {
            // Without a log it is the removal of the journal that commits: EXTRA makes that safe, too.
            Durability::Full if !self.flushes_log() => "EXTRA",
            Durability::Full | Durability::Normal => "NORMAL",
            Durability::Off => "OFF",
        };
        connection.pragma_update(None, "synchronous", synchronous)?;
        connection.set_prepared_statement_cache_capacity(16);
        Ok(connection)
    }

    /// Switches the file to WAL mode unless its own is to be kept: readers and the writer must not stand in each other's
    /// way.
    fn prepare_file(&self, connection: &Connection) -> Result<JournalModes> {
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
    fn flushes_log(&self) -> bool {
        let has_log = self.journal.get().is_some_and(|journal| journal.now.eq_ignore_ascii_case("wal"));
        has_log && self.options.durability != Durability::Off && !self.options.read_only
    }

    /// Waits until what has been committed is on disk. To be called after the write lock was passed on.
    ///
    /// # Errors
    /// `58030` when it cannot be made safe; every statement is refused from then on.
    pub fn make_safe(&self) -> Result<()> {
        self.log_sync.wait().map_err(|error| self.file.could_not_flush(&error))
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

    /// The newest committed schema that is known here.
    pub fn current(&self) -> Arc<Snapshot> {
        self.current.read().clone()
    }

    /// The generation of [`Shared::current`].
    pub fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// Makes a schema known to all sessions.
    pub fn publish(&self, snapshot: Arc<Snapshot>) {
        let generation = snapshot.generation;
        *self.current.write() = snapshot;
        self.generation.store(generation, Ordering::Release);
    }

    /// Reads the schema anew if the file's is not the one known here. The handle is in no transaction.
    pub fn refresh(&self, connection: &Connection) -> std::result::Result<Arc<Snapshot>, Failure> {
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

    /// How many transactions this server has committed.
    pub fn commits(&self) -> u64 {
        self.commits.load(Ordering::Acquire)
    }

    /// One more transaction is committed; its number.
    pub fn committed(&self) -> u64 {
        self.commits.fetch_add(1, Ordering::AcqRel) + 1
    }

    /// Enters a session into the registry.
    pub fn register(&self, state: &Arc<State>) {
        self.sessions.lock().insert(state.pid, Arc::downgrade(state));
    }

    /// Strikes a session off the registry.
    pub fn unregister(&self, pid: u32) {
        self.sessions.lock().remove(&pid);
    }

    /// Moves the write-ahead log into the file; false when a part of it had to stay.
    ///
    /// On a handle of its own: those of sessions may be inside a transaction.
    pub fn checkpoint(&self) -> Result<std::result::Result<bool, Failure>> {
        let done = self.file.with_connection(|connection| checkpoint(connection, self.options.lock_timeout))?;
        self.file.committed();
        Ok(done.unwrap_or(Ok(true)))
    }

    /// The sessions that are open.
    pub fn sessions(&self) -> Vec<Arc<State>> {
        self.sessions.lock().values().filter_map(Weak::upgrade).collect()
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

/// The next session's number: what `pg_backend_pid()` says.
pub fn next_pid() -> u32 {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// When this process first opened a database: microseconds since 1970.
pub fn server_start() -> i64 {
    static START: std::sync::OnceLock<i64> = std::sync::OnceLock::new();
    *START.get_or_init(crate::session::state::now)
}

/// True when the process, or the machine, cannot open any more files: SQLite does not say why it could not.
fn no_descriptor_left(path: &Path) -> bool {
    std::fs::File::open(path).is_err_and(|error| matches!(error.raw_os_error(), Some(libc::EMFILE | libc::ENFILE)))
}

/// Refuses what cannot be a database before SQLite would touch it.
fn check_file(path: &Path, options: &Options) -> Result<()> {
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

/// Removes what killed processes have left in memory.
fn remove_stale(base: &Path) {
    let Ok(entries) = std::fs::read_dir(base) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let pid = name.to_str().and_then(|name| name.strip_prefix("rowferry-")?.split('-').next()?.parse::<i32>().ok());
        // SAFETY: signal 0 only asks whether the process exists.
        let dead = pid.is_some_and(|pid| pid > 0 && unsafe { libc::kill(pid, 0) } != 0 && errno() == libc::ESRCH);
        if dead && entry.path().join("memory.db").exists() {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

fn errno() -> i32 {
    std::io::Error::last_os_error().raw_os_error().unwrap_or(0)
}

/// Waits for a lock that somebody outside the server holds: as long as the session's lock time-out allows, and no
/// longer than its statement may run.
#[derive(Debug)]
pub struct BusyHandler {
    interrupter: Interrupter,
    timeout: Mutex<Duration>,
    since: Mutex<Option<Instant>>,
}

impl BusyHandler {
    /// Installs a handler; it must live as long as the connection.
    pub fn install(connection: &Connection, interrupter: Interrupter, timeout: Duration) -> Box<Self> {
        let handler = Box::new(Self { interrupter, timeout: Mutex::new(timeout), since: Mutex::default() });
        // SAFETY: the box's content does not move, and the handle drops its connection before the box.
        unsafe {
            ffi::sqlite3_busy_handler(
                connection.handle(),
                Some(Self::call),
                std::ptr::from_ref(&*handler).cast_mut().cast(),
            );
        }
        handler
    }

    /// Changes how long it waits; zero is for ever.
    pub fn set_timeout(&self, timeout: Duration) {
        *self.timeout.lock() = timeout;
    }

    unsafe extern "C" fn call(data: *mut c_void, count: c_int) -> c_int {
        // SAFETY: `data` is the handler, see `install`.
        let handler = unsafe { &*data.cast::<Self>() };
        let mut since = handler.since.lock();
        let now = Instant::now();
        let start = if count == 0 { *since.insert(now) } else { *since.get_or_insert(now) };
        let timeout = *handler.timeout.lock();
        let waited = now - start;
        if !timeout.is_zero() && waited >= timeout {
            return 0;
        }
        // Nobody tells when a lock of another process is free: ask again, less and less often.
        let pause = Duration::from_micros(200 << count.clamp(0, 8));
        let pause = if timeout.is_zero() { pause } else { pause.min(timeout - waited) };
        match handler.interrupter.wait(Some(pause), || false) {
            Wake::Stopped => 0,
            Wake::Ready | Wake::TimedOut => 1,
        }
    }
}
