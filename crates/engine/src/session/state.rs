//! What a session shares with its SQL functions, its catalogs and its neighbours.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::SystemTime;

use parking_lot::{Mutex, RwLock};
use rowferry_dialect::types::Reg;
use rowferry_dialect::values::{RegNames, Settings};
use rowferry_dialect::{Error, Language, Result};

use crate::database::Shared;
use crate::interrupt::Interrupter;
use crate::schema::SessionSchema;
use crate::session::names::Shown;
use crate::session::variables::Variables;

/// Wakes a session's thread from another one.
pub type Waker = Arc<dyn Fn() + Send + Sync>;

/// What ON CONFLICT has met.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Met {
    #[default]
    Nobody,
    /// A row, of this identity.
    Row(Option<i64>),
}

/// A session as its SQL functions, its catalogs and other sessions see it.
pub struct State {
    /// What `pg_backend_pid()` says.
    pub pid: u32,
    /// The database; kept weakly, since its registry knows this state.
    pub database: std::sync::Weak<Shared>,
    /// The database's name.
    pub database_name: String,
    /// The user.
    pub user: String,
    /// The dialect.
    pub language: Language,
    /// Where the client is.
    pub client_address: String,
    /// Where the client has met the server.
    pub server_address: String,
    /// Stops the running statement.
    pub interrupter: Interrupter,
    /// Its locks.
    pub owner: Arc<crate::locks::Owner>,
    /// What the running statement does about rows' locks.
    pub row_locking: super::locking::SharedRowLocking,
    /// The row that WHERE CURRENT OF means in the statement that runs.
    pub cursor_row: Mutex<Option<i64>>,
    /// What ON CONFLICT has met in the statement of one row that runs.
    pub met: Mutex<Met>,
    /// Wakes the session's thread when it waits for its client.
    pub waker: Mutex<Option<Waker>>,
    /// Wakes it when others notify it.
    pub bell: Mutex<Option<Arc<dyn crate::notifications::Bell>>>,
    /// What others have told it; there from its first LISTEN on.
    pub mailbox: std::sync::OnceLock<Arc<crate::notifications::Mailbox>>,
    /// What its transaction will tell others. Who adds to it says so in `has_outgoing`.
    pub outgoing: Mutex<crate::notifications::Outgoing>,
    /// `outgoing` is not empty: most transactions end without a look at it.
    pub has_outgoing: std::sync::atomic::AtomicBool,
    /// Large objects that its transaction has open; `has_descriptors` says whether there may be some.
    pub descriptors: Mutex<crate::large_objects::Descriptors>,
    pub has_descriptors: std::sync::atomic::AtomicBool,
    /// The schema that the running statement was bound against.
    pub schema: RwLock<SessionSchema>,
    /// Variables.
    pub variables: RwLock<Variables>,
    /// What the session does.
    pub activity: Mutex<Activity>,
    /// The COPY that it runs.
    pub copying: Mutex<Option<Arc<crate::statistics::Progress>>>,
    /// Statements whose plans are to be logged; `has_slow` says whether there are some.
    pub slow: Mutex<Vec<super::logged::Slow>>,
    pub has_slow: std::sync::atomic::AtomicBool,
    /// What it counts as it goes.
    pub tally: crate::statistics::Tally,
    /// What its statements have read and changed.
    pub counts: Mutex<crate::statistics::SessionCounts>,
    /// The number of the transaction in which it writes, 0 while it does not.
    pub write_serial: std::sync::atomic::AtomicU64,
    /// What sequences gave to this session.
    pub sequences: Mutex<SequenceState>,
    /// What [`State::settings`] has made, and from what.
    pub settings: Mutex<Option<(Arc<Settings>, Arc<Settings>)>>,
    /// Rows of catalogs that this session alone can see.
    pub catalogs: crate::catalog::cache::Cache,
    /// The session's connection, for functions that run on it.
    pub running: crate::backend::Running,
    /// The same handle, for routines that such functions call.
    pub handle: Mutex<crate::backend::WeakHandle>,
    /// What routines share, and what is known of them.
    pub routines: crate::routines::SessionRoutines,
    /// This state.
    pub this: std::sync::Weak<State>,
    /// Session start.
    pub started: SystemTime,
    /// Messages for the client that are no errors.
    pub notices: Mutex<Vec<rowferry_dialect::Error>>,
    /// Constraint triggers that wait for COMMIT.
    pub deferred: Mutex<super::triggers::Deferred>,
    /// Compiled WHEN conditions of triggers, by the trigger's object id.
    pub conditions: Mutex<HashMap<u32, Arc<super::Prepared>>>,
    /// Where the rows of tables belong, by the table's object id.
    pub placements: Mutex<HashMap<u32, Arc<super::routing::Placement>>>,
    /// Compiled questions for rows in conflict by an EXCLUDE: by the constraint's object id, and whether they are of a row that
    /// is not there yet.
    pub exclusions: Mutex<HashMap<(u32, bool), Arc<super::Prepared>>>,
    /// Statements of foreign keys that the engine keeps: the table where a row has changed, the key, what is done.
    pub key_statements: Mutex<HashMap<(u32, u32, super::triggers::KeyStatement), Arc<super::Prepared>>>,
    /// What MySQL's SHOW WARNINGS tells: level, number, message.
    pub diagnostics: Mutex<Vec<(&'static str, u16, String)>>,
    /// What MySQL's sessions count and have prepared.
    pub mysql: Mutex<super::mysql::State>,
    /// The line to the server that has the tables, where there is one.
    pub line: Option<Arc<crate::upstream::Line>>,
    /// What has been set there.
    pub told_upstream: Mutex<super::upstream::Told>,
    /// What searches for words have found.
    pub searches: Mutex<Vec<super::fulltext::Remembered>>,
    /// What users of MySQL's have named `@name`.
    pub user_variables: Mutex<std::collections::BTreeMap<String, rowferry_dialect::ir::Value>>,
    /// What kinds of values those are: each name with its kind behind it, between separators.
    pub user_kinds: Mutex<Arc<str>>,
    /// What `random()` goes on from; `None` until a seed is set.
    pub random: Mutex<Option<super::random::Generator>>,
    /// How many triggers run inside each other.
    pub trigger_depth: std::sync::atomic::AtomicU32,
    /// Rows that parts of running statements leave for others.
    pub kept: Mutex<super::parts::AllKept>,
    /// Snapshots of its transaction that others may read.
    pub offers: Mutex<Vec<crate::exported::Offer>>,
    /// How many transactions the server had committed when the snapshot of its transaction was taken.
    pub snapshot_commits: std::sync::atomic::AtomicU64,
    /// What domains ask, as far as routines had to know it.
    pub known_rules: super::domains::KnownRules,
    /// What the back end's functions share with the session, and with the routines that they call.
    pub functions: std::sync::OnceLock<Arc<crate::functions::Context>>,
    /// Prepared statements that have names.
    pub statements: Shown<super::named::StatementFacts>,
    /// Portals that have names.
    pub portals: Shown<super::portals::PortalFacts>,
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("State").field("pid", &self.pid).field("user", &self.user).finish_non_exhaustive()
    }
}

/// What a session does, for `pg_stat_activity` and for `now()`.
#[derive(Clone, Debug)]
pub struct Activity {
    /// The statement that runs or ran last.
    pub query: Arc<str>,
    /// Its number, where somebody wants to know it.
    pub query_id: Option<i64>,
    /// When it began: microseconds since 1970.
    pub statement_start: i64,
    /// When the transaction began; what `now()` says.
    pub transaction_start: i64,
    /// `active`, `idle`, `idle in transaction`, `idle in transaction (aborted)`.
    pub state: &'static str,
    /// Since when: microseconds since 1970, by a clock that is cheap to read.
    pub state_change: i64,
    /// It holds the write lock.
    pub writing: bool,
}

/// The last numbers that sequences gave to a session.
#[derive(Debug, Default)]
pub struct SequenceState {
    /// The sequence that gave the last of all, and its number.
    last: Option<(u32, i64)>,
    /// Numbers of other sequences, by their oid.
    others: HashMap<u32, i64>,
    /// Sequences that number rows in the session's transaction.
    pub hot: Vec<super::sequences::Hot>,
    /// Counts how often sequences that were hot have ceased to be.
    pub cooled: u64,
    /// What the session has in store (CACHE), by the sequence's oid.
    pub stored: HashMap<u32, super::sequences::Stored>,
    /// The last SERIAL.
    pub serial: Option<i64>,
    /// What a client of MySQL's is told that its statement's rows are numbered by.
    pub told: Option<Told>,
}

/// The number of a statement's rows that a client of MySQL's is told.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Told {
    /// The statement has said it: LAST_INSERT_ID(n).
    Said(i64),
    /// A row has it.
    Row(i64),
}

impl SequenceState {
    /// A sequence has given a number.
    pub fn give(&mut self, oid: u32, number: i64) {
        match &mut self.last {
            Some((last, current)) if *last == oid => *current = number,
            last => {
                if let Some((oid, number)) = last.replace((oid, number)) {
                    self.others.insert(oid, number);
                }
            }
        }
    }

    /// A sequence stands at a number, but did not give it.
    pub fn set(&mut self, oid: u32, number: i64) {
        match &mut self.last {
            Some((last, current)) if *last == oid => *current = number,
            _ => drop(self.others.insert(oid, number)),
        }
    }

    /// The number at which a sequence stands for this session.
    pub fn current(&self, oid: u32) -> Option<i64> {
        match self.last {
            Some((last, number)) if last == oid => Some(number),
            _ => self.others.get(&oid).copied(),
        }
    }

    /// The sequence that gave the last number of all, and the number.
    pub fn last(&self) -> Option<(u32, i64)> {
        self.last
    }

    /// The schema may be another one: sequences are looked up again.
    pub fn cool(&mut self) {
        self.hot.clear();
        self.cooled += 1;
    }

    /// No sequence has given anything.
    pub fn forget(&mut self) {
        *self = Self { cooled: self.cooled + 1, ..Self::default() };
    }
}

impl State {
    /// How values are printed and read, with the transaction's time as `now`.
    pub fn settings(&self) -> Arc<Settings> {
        let base = self.variables.read().settings();
        let now = self.activity.lock().transaction_start;
        let mut made = self.settings.lock();
        let settings = match &*made {
            Some((of, settings)) if Arc::ptr_eq(of, &base) => {
                if settings.now == Some(now) {
                    return settings.clone();
                }
                Settings { now: Some(now), ..(**settings).clone() }
            }
            _ => Settings { now: Some(now), names: Some(Arc::new(Names(self.this.clone()))), ..(*base).clone() },
        };
        let settings = Arc::new(settings);
        *made = Some((base, settings.clone()));
        settings
    }

    /// What the transaction will tell others, to be added to.
    pub fn outgoing(&self) -> parking_lot::MutexGuard<'_, crate::notifications::Outgoing> {
        self.has_outgoing.store(true, std::sync::atomic::Ordering::Release);
        self.outgoing.lock()
    }

    /// It will tell nothing.
    pub fn forget_outgoing(&self) {
        if self.has_outgoing.swap(false, std::sync::atomic::Ordering::AcqRel) {
            self.outgoing.lock().clear();
        }
    }

    /// The transaction is over: nobody can import its snapshots, and large objects that it had open are closed.
    pub fn close_large_objects(&self) {
        self.offers.lock().clear();
        self.searches.lock().clear();
        if self.has_descriptors.swap(false, std::sync::atomic::Ordering::AcqRel) {
            *self.descriptors.lock() = Default::default();
        }
    }

    /// The schema of the running statement.
    pub fn schema(&self) -> SessionSchema {
        self.schema.read().clone()
    }
}

/// Names and ids of objects, as this session's search path has them.
struct Names(std::sync::Weak<State>);

impl RegNames for Names {
    fn name(&self, reg: Reg, oid: u32) -> Option<String> {
        crate::catalog::names::name(&*self.0.upgrade()?, reg, oid)
    }

    fn oid(&self, reg: Reg, name: &str) -> Result<u32> {
        let state = self.0.upgrade().ok_or_else(|| Error::internal("the session is gone"))?;
        crate::catalog::names::oid(&state, reg, name)
    }
}

/// The same by a clock that is read in next to no time, and is some milliseconds behind.
pub fn coarse_now() -> i64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the system writes the time there.
    unsafe { libc::clock_gettime(libc::CLOCK_REALTIME_COARSE, &raw mut time) };
    time.tv_sec * 1_000_000 + time.tv_nsec / 1_000
}

/// Microseconds since 1970.
pub fn now() -> i64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_micros() as i64)
}
