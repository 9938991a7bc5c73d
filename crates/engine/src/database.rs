//! One database file.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex, RwLock};
use rowferry_dialect::informix::Logging;
use rowferry_dialect::{Condition, Error, Result};

use crate::backend::file_watch::{self, FileWatch};
use crate::backend::{self, Backend as _, InUse, LogSync};
use crate::databases::Siblings;
use crate::locks::Locks;
use crate::plans::{Cache, PlanCache};
use crate::schema::Snapshot;
use crate::session::sequences::{Counter, Counters};
use crate::session::state::State;
use crate::session::variables::Variables;
use crate::session::{Lifts, Seen};
use crate::{Durability, Options, Session, SessionOptions};

/// One database file, shared by all its sessions. Cloning is cheap.
#[derive(Clone, Debug)]
pub struct Database {
    pub(crate) shared: Arc<Shared>,
}

/// A file's journal mode as the back end calls it: `wal`, `delete`, `truncate`, `persist` and so on.
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
    /// Plans of texts that differ in their literals alone.
    pub lifts: Cache<Arc<Lifts>>,
    /// Shapes of texts that have come once.
    pub shapes_seen: Seen,
    /// What is counted.
    pub statistics: crate::statistics::Statistics,
    /// Who listens to what.
    pub exchange: crate::notifications::Exchange,
    /// Snapshots that others may read.
    pub exported: Arc<crate::exported::Registry>,
    /// Rows of catalogs that have been made.
    pub catalogs: crate::catalog::cache::Cache,
    /// The newest committed schema that is known here.
    current: RwLock<Arc<Snapshot>>,
    generation: AtomicU64,
    /// The number of the latest transaction when the schema was published.
    schema_writer: AtomicI64,
    /// Transactions committed by this server.
    commits: AtomicU64,
    /// One session at a time reads the schema of the file anew.
    pub(crate) reload: Mutex<()>,
    sessions: Mutex<HashMap<u32, Weak<State>>>,
    /// One of them has ended.
    left: Condvar,
    /// Settings that the server tells of itself.
    announced: RwLock<Arc<BTreeMap<&'static str, String>>>,
    /// The settings of a new session, of nobody yet.
    first_variables: Mutex<Option<Variables>>,
    /// Where sequences stand, committed or not.
    pub sequences: Mutex<Counters<Counter>>,
    /// Sequences whose counter stands in no file yet; the next who commits writes it.
    pub unsaved_sequences: Mutex<Counters<Arc<crate::schema::SequenceDetails>>>,
    /// There are such sequences.
    pub has_unsaved_sequences: AtomicBool,
    /// How often rows of tables have been numbered by hand.
    pub by_hand: Mutex<HashMap<u32, u64>>,
    /// The journal mode of the file at the start, before and after it was opened here.
    pub(crate) journal: OnceLock<JournalModes>,
    /// Whether the file is still the one at its path. Closed before the directory goes.
    pub file: FileWatch,
    pub log_sync: LogSync,
    directory: Option<PathBuf>,
    /// The server's rules of who may come in, where it has any.
    pub host_rules: OnceLock<crate::HostRules>,
    /// The server's user name maps, where it has any.
    pub name_mappings: OnceLock<crate::NameMappings>,
    /// The databases beside this one.
    pub siblings: OnceLock<Siblings>,
    /// The server that has the tables, where it is not the file that does.
    pub behind: OnceLock<crate::upstream::Behind>,
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
    /// `58P01` when there is none and `options.create` is false; `XX001` when it is no database.
    pub fn open(path: &Path, options: Options) -> Result<Self> {
        let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        Self::open_named(name, path, options, None)
    }

    /// Opens the file of a database of this name.
    pub(crate) fn open_as(name: &str, path: &Path, options: Options) -> Result<Self> {
        Self::open_named(name.to_owned(), path, options, None)
    }

    /// Opens a file in which stands what the server of `options.upstream` cannot have; the database has this name.
    ///
    /// # Errors
    /// As [`Self::open`], and the server's.
    pub fn open_beside(name: &str, path: &Path, options: Options) -> Result<Self> {
        Self::open_named(name.to_owned(), path, options, None)
    }

    /// Whether the file has roles of its own: then they say who may come in.
    pub fn has_roles(&self) -> bool {
        !self.shared.current().roles.is_simple()
    }

    /// A new database that is gone with the last handle to it.
    ///
    /// It is a file nevertheless, in memory where the system has a place for such files (`/dev/shm`) and in the
    /// temporary directory elsewhere: the back end's own in-memory databases cannot be read while they are written.
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
        backend::check_file(path, &options)?;
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
            lifts: Cache::default(),
            shapes_seen: Seen::default(),
            statistics: Default::default(),
            exchange: Default::default(),
            exported: Default::default(),
            catalogs: crate::catalog::cache::Cache::default(),
            current: RwLock::default(),
            generation: AtomicU64::new(0),
            schema_writer: AtomicI64::new(0),
            commits: AtomicU64::new(0),
            reload: Mutex::default(),
            sessions: Mutex::default(),
            left: Condvar::new(),
            announced: RwLock::default(),
            first_variables: Mutex::default(),
            sequences: Mutex::default(),
            unsaved_sequences: Mutex::default(),
            has_unsaved_sequences: AtomicBool::new(false),
            by_hand: Mutex::default(),
            journal: OnceLock::new(),
            file,
            log_sync: LogSync::default(),
            directory,
            host_rules: OnceLock::new(),
            name_mappings: OnceLock::new(),
            siblings: OnceLock::new(),
            behind: OnceLock::new(),
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
        let snapshot = InUse::load(connection.connection(), "main").map_err(|failure| shared.open_error(&failure))?;
        shared.publish(Arc::new(snapshot));
        shared.file.begin(connection)?;
        if shared.flushes_log() {
            let log = file_watch::log_of(&shared.path);
            shared.log_sync.begin(&log).map_err(|error| {
                Error::new(Condition::IoError, format!("could not open \"{}\": {error}", log.display()))
            })?;
        }
        let (upstream, placements) = (shared.options.upstream.clone(), shared.options.placements.clone());
        let database = Self { shared: Arc::new(shared) };
        if let Some(server) = upstream {
            crate::upstream::Behind::begin(&database, server, placements)?;
        }
        Ok(database)
    }

    /// Lets `SHOW` tell something of the server that serves the database (`port`, `max_connections`): in sessions that
    /// begin from now on. The value is in the setting's unit.
    pub fn announce(&self, setting: &'static str, value: impl Into<String>) {
        let mut announced = self.shared.announced.write();
        Arc::make_mut(&mut announced).insert(setting, value.into());
    }

    /// What a setting is in sessions that begin from now on, unless their client or role says otherwise: as the settings of
    /// PostgreSQL's command line. The value is written as SET takes it.
    ///
    /// # Errors
    /// `42704` for what is no setting, `22023` for what is no value of it, `0A000` for what would have no effect here.
    pub fn set_default(&self, name: &str, value: &str) -> Result<()> {
        let unknown = || {
            let message = format!("unrecognized configuration parameter \"{name}\"");
            Error::new(Condition::UndefinedObject, message)
        };
        let setting = crate::settings::find(name).ok_or_else(unknown)?;
        let value = crate::settings::read(setting, value)?;
        // Sessions look for them in lower case; there is one such name for each setting and process.
        let key: &'static str = match setting.name.bytes().any(|byte| byte.is_ascii_uppercase()) {
            true => Box::leak(setting.name.to_ascii_lowercase().into_boxed_str()),
            false => setting.name,
        };
        self.announce(key, value);
        Ok(())
    }

    /// Lets `pg_hba_file_rules` tell the server's rules of who may come in.
    pub fn announce_rules(&self, rules: crate::HostRules) {
        self.shared.host_rules.set(rules).ok();
    }

    /// Lets `pg_ident_file_mappings` tell the server's user name maps.
    pub fn announce_name_mappings(&self, mappings: crate::NameMappings) {
        self.shared.name_mappings.set(mappings).ok();
    }

    /// Begins a session; the back end's handle is opened at the first statement.
    pub fn session(&self, options: SessionOptions) -> Session {
        self.session_numbered(options, next_pid())
    }

    /// The same for a client that was told its number before it was known who it is; see [`session_number`].
    pub fn session_numbered(&self, options: SessionOptions, number: u32) -> Session {
        Session::new(self.clone(), options, number)
    }

    /// True where the server behind has what MySQL's rules need, as this version of ours wants it.
    pub fn is_ready_for_mysql(&self) -> bool {
        let installed = self.shared.behind.get().map(crate::upstream::Behind::installed);
        installed.is_none_or(|version| version == Some(rowferry_dialect::lower::postgres::VERSION))
    }

    /// Where the server is that has the tables, if it is not the file that does.
    pub fn upstream(&self) -> Option<String> {
        self.shared.options.upstream.as_ref().map(|server| server.place())
    }

    /// It is gone with the last handle to it.
    pub(crate) fn is_temporary(&self) -> bool {
        self.shared.directory.is_some()
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
    /// A line of a session's own to the server that has the tables.
    pub fn line(&self, user: &str, interrupter: &crate::Interrupter) -> Option<Arc<crate::upstream::Line>> {
        self.behind.get().map(|behind| behind.line(user, interrupter))
    }

    /// What the settings of new sessions are where the table's value is not true.
    pub fn announced(&self) -> Arc<BTreeMap<&'static str, String>> {
        self.announced.read().clone()
    }

    /// The settings of a new session of this user.
    pub fn first_variables(&self, user: &str) -> Variables {
        let announced = self.announced();
        let mut first = self.first_variables.lock();
        if !first.as_ref().is_some_and(|first| first.are_on(&announced)) {
            *first = None;
        }
        let first = first.get_or_insert_with(|| Variables::on("", self.options.lock_timeout, announced));
        // The same few users come again and again.
        if first.user() != user {
            *first = first.of(user);
        }
        first.clone()
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

    /// Waits until what has been committed is on disk. To be called after the write lock was passed on.
    ///
    /// # Errors
    /// `58030` when it cannot be made safe; every statement is refused from then on.
    pub fn make_safe(&self) -> Result<()> {
        self.log_sync.wait().map_err(|error| self.file.could_not_flush(&error))
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
        self.schema_writer.store(self.locks.xids.next() - 1, Ordering::Release);
        self.generation.store(generation, Ordering::Release);
    }

    /// The latest transaction that may have changed the schema.
    pub fn schema_writer(&self) -> i64 {
        self.schema_writer.load(Ordering::Acquire)
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
        self.left.notify_all();
    }

    /// Waits until it has no sessions, or for so long.
    pub fn wait_until_left(&self, patience: Duration) {
        let deadline = Instant::now() + patience;
        let mut sessions = self.sessions.lock();
        while sessions.values().any(|session| session.strong_count() > 0) {
            if self.left.wait_until(&mut sessions, deadline).timed_out() {
                return;
            }
        }
    }

    /// Tells of the server what another database tells.
    pub fn take_announced(&self, other: &Self) {
        let mut announced = self.announced.write();
        let announced = Arc::make_mut(&mut announced);
        for (name, value) in other.announced().iter() {
            announced.entry(name).or_insert_with(|| value.clone());
        }
        if let Some(rules) = other.host_rules.get() {
            self.host_rules.set(rules.clone()).ok();
        }
        if let Some(mappings) = other.name_mappings.get() {
            self.name_mappings.set(mappings.clone()).ok();
        }
    }

    /// The database's object id as its server tells it.
    pub fn oid(&self) -> u32 {
        let all = self.siblings.get().and_then(Siblings::databases);
        all.map_or(crate::catalog::DATABASE, |all| all.oid(&self.name))
    }

    /// The databases of this server that are open, this one among them.
    pub fn neighbours(self: &Arc<Self>) -> Vec<Arc<Self>> {
        match self.siblings.get().and_then(Siblings::databases) {
            Some(databases) => databases.opened(),
            None => vec![self.clone()],
        }
    }

    /// The sessions that are open.
    pub fn sessions(&self) -> Vec<Arc<State>> {
        self.sessions.lock().values().filter_map(Weak::upgrade).collect()
    }
}

/// A number for a session that is to come, which no other has: for [`Database::session_numbered`].
pub fn session_number() -> u32 {
    next_pid()
}

/// The next session's number: what `pg_backend_pid()` says.
pub(crate) fn next_pid() -> u32 {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// When this process first opened a database: microseconds since 1970.
pub fn server_start() -> i64 {
    static START: std::sync::OnceLock<i64> = std::sync::OnceLock::new();
    *START.get_or_init(crate::session::state::now)
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
