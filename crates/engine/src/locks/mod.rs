//! Locks by object: tables, rows, advisory keys, and the one write lock.
//!
//! A lock is a promise between the sessions of this server, kept in memory. Tables have PostgreSQL's eight modes; rows
//! have the four of FOR UPDATE and its kin; the write lock has one. Whoever must wait stands in one line for each
//! object and is woken when its turn has come; every wait ends with a grant, a time-out, a cancel, or the discovery
//! that it would never end (`40P01`).
//!
//! ```text
//! Locks ─ Table (one mutex): objects with holders and waiters; rows that the writer has changed
//!    └── Owner, one for each session: weak table locks of its transaction (a mutex of its own)
//! ```
//!
//! What statements take all the time costs little: a table lock in one of the three *weak* modes, which do not conflict
//! with each other, is a line in the session's own list as long as nobody has asked for a *strong* mode on that table;
//! whoever does counts itself in first, and then moves those lines into the table of locks.
//!
//! There is one writer at a time, and what it has changed is known row by row: whoever locks rows finds them locked by
//! it, although nothing of its changes can be seen yet.

mod owner;
mod table;
mod tag;
#[cfg(test)]
mod tests;
mod xid;

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rowferry_dialect::ir::LockMode;
use rowferry_dialect::{Condition, Error};

use crate::interrupt::{Interrupter, Wake};
use table::{Attempt, Request, Table};

pub use owner::{Mark, Owner};
pub use table::{Hold, LockRow};
pub use tag::{ALL_ROWS, AdvisoryKey, Tag};
pub use xid::{TransactionStatus, Xids};

/// Tables are sorted into this many groups by their object id; a strong lock in a group costs its neighbours the fast
/// path.
const GROUPS: usize = 256;

/// How long to wait, and when to look for a deadlock.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// `lock_timeout`; zero is for ever.
    pub timeout: Duration,
    /// `deadlock_timeout`.
    pub deadlock: Duration,
}

/// What became of a wish for a lock.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Got {
    /// The transaction had it already.
    Already,
    /// It was free.
    Free,
    /// It was waited for.
    Waited,
}

/// The locks of one database.
#[derive(Debug)]
pub struct Locks {
    table: Mutex<Table>,
    /// Strong table locks that are held or asked for, by group.
    strong: Vec<AtomicU32>,
    /// Numbers of transactions.
    pub xids: Xids,
    /// Deadlocks that were found.
    pub deadlocks: AtomicU64,
    /// Waits that are over, and how long they took together, in microseconds.
    pub waits: AtomicU64,
    pub waited: AtomicU64,
    /// The database's object id, for messages.
    database: u32,
}

/// The right to write, given back when it is dropped.
#[derive(Debug)]
pub struct Permit {
    locks: Arc<Locks>,
    owner: Arc<Owner>,
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.locks.table.lock().release_write(self.owner.pid);
    }
}

/// A strong lock is asked for: its group has no fast path until the locks that are held in it are given back.
struct StrongGuard<'a> {
    locks: &'a Locks,
    relation: u32,
    keep: bool,
}

impl Drop for StrongGuard<'_> {
    fn drop(&mut self) {
        if !self.keep {
            self.locks.group(self.relation).fetch_sub(1, Ordering::SeqCst);
        }
    }
}

impl Locks {
    /// The locks of a database, none of them taken.
    pub fn new(database: u32) -> Self {
        let strong = (0..GROUPS).map(|_| AtomicU32::new(0)).collect();
        Self {
            table: Mutex::default(),
            strong,
            xids: Xids::default(),
            deadlocks: AtomicU64::new(0),
            waits: AtomicU64::new(0),
            waited: AtomicU64::new(0),
            database,
        }
    }

    /// A session begins.
    pub fn enter(&self, pid: u32, interrupter: Interrupter) -> Arc<Owner> {
        let owner = Arc::new(Owner::new(pid, interrupter));
        self.table.lock().enter(&owner);
        owner
    }

    /// A session ends; whatever it still holds is given back.
    pub fn leave(&self, owner: &Arc<Owner>) {
        self.end_transaction(owner, false);
        let mut table = self.table.lock();
        table.release_all(owner.pid);
        table.leave(owner.pid);
    }

    fn group(&self, relation: u32) -> &AtomicU32 {
        &self.strong[relation.wrapping_mul(0x9e37_79b1) as usize >> 8 & (GROUPS - 1)]
    }

    // Tables.

    /// True while nobody holds or asks for a lock on this table with which a weak one could conflict.
    pub fn is_calm(&self, relation: u32) -> bool {
        self.group(relation).load(Ordering::SeqCst) == 0
    }

    /// Locks a table for the transaction.
    ///
    /// # Errors
    /// `55P03`, `57014`, `40P01`.
    pub fn lock_table(
        &self,
        owner: &Arc<Owner>,
        relation: u32,
        mode: LockMode,
        patience: Option<Patience>,
    ) -> std::result::Result<Got, Refusal> {
        if mode.is_weak() && self.weak(owner, relation, mode) {
            return Ok(Got::Free);
        }
        let tag = Tag::Relation(relation);
        if mode.is_weak() || mode == LockMode::ShareUpdateExclusive {
            return self.acquire(owner, tag, mode, Hold::Transaction, patience);
        }
        self.group(relation).fetch_add(1, Ordering::SeqCst);
        let mut guard = StrongGuard { locks: self, relation, keep: false };
        self.table.lock().transfer_weak(relation);
        let got = self.acquire(owner, tag, mode, Hold::Transaction, patience)?;
        // The count goes with the lock: see `end_transaction`.
        guard.keep = got != Got::Already;
        if guard.keep {
            owner.strong.lock().push(relation);
        }
        Ok(got)
    }

    /// Notes a weak lock with its owner alone; false when somebody may be in the way of it.
    pub fn weak(&self, owner: &Owner, relation: u32, mode: LockMode) -> bool {
        let mut weak = owner.weak.lock();
        if weak.iter().any(|lock| lock.relation == relation && lock.mode == mode) {
            return true;
        }
        if !self.is_calm(relation) {
            return false;
        }
        weak.push(owner::WeakLock { relation, mode, transferred: false });
        true
    }

    /// Waits until a table could be read, without keeping anything: a query outside a transaction.
    pub fn pass_table(
        &self,
        owner: &Arc<Owner>,
        relation: u32,
        patience: Patience,
    ) -> std::result::Result<(), Refusal> {
        if self.is_calm(relation) {
            return Ok(());
        }
        let tag = Tag::Relation(relation);
        if self.acquire(owner, tag, LockMode::AccessShare, Hold::Transaction, Some(patience))? != Got::Already {
            self.table.lock().release_one(owner.pid, tag, LockMode::AccessShare, Hold::Transaction);
        }
        Ok(())
    }

    // Rows.

    /// Locks a row if nobody stands in the way; `None` when somebody does.
    pub fn try_row(&self, owner: &Owner, relation: u32, row: i64, mode: LockMode) -> Option<Got> {
        match self.table.lock().attempt(owner, Tag::Row { relation, row }, mode, Hold::Transaction) {
            Attempt::Already => Some(Got::Already),
            Attempt::New => Some(Got::Free),
            Attempt::Busy => None,
        }
    }

    /// The holder of the write lock has changed rows, and whole tables. Yields rows that others have locked: it has to
    /// wait for these before it can be done.
    pub fn wrote(&self, owner: &Owner, rows: &[(u32, i64)], whole: &[u32], mode: LockMode) -> Vec<Tag> {
        self.table.lock().wrote(owner.pid, rows, whole, mode)
    }

    /// What the owner has written is committed, as the server's commit of this number.
    pub fn committed(&self, owner: &Owner, number: u64) {
        self.table.lock().committed(owner.pid, number);
    }

    /// True when no commit behind this number has changed rows of these tables.
    pub fn unchanged_since(&self, relations: impl IntoIterator<Item = u32>, number: u64) -> bool {
        let table = self.table.lock();
        relations.into_iter().all(|relation| table.last_change(relation) <= number)
    }

    /// Where row locks that are taken from now on begin.
    pub fn row_mark(&self) -> u64 {
        self.table.lock().serial()
    }

    /// Gives back row locks taken behind a mark that turned out not to be needed.
    pub fn release_rows(&self, owner: &Owner, mark: u64, kept: &HashSet<Tag>) {
        self.table.lock().release_rows(owner.pid, mark, kept);
    }

    // The write lock.

    /// The right to write; without `patience` only if nobody has it. The owner has it not.
    pub fn write_within(
        self: &Arc<Self>,
        owner: &Arc<Owner>,
        patience: Option<Patience>,
    ) -> std::result::Result<Permit, Refusal> {
        self.acquire(owner, Tag::Write, LockMode::Exclusive, Hold::Transaction, patience)?;
        Ok(Permit { locks: self.clone(), owner: owner.clone() })
    }

    /// The right to write, if it is free.
    pub fn try_write(self: &Arc<Self>, owner: &Arc<Owner>) -> Option<Permit> {
        self.write_within(owner, None).ok()
    }

    // Advisory locks.

    /// Gives an advisory lock of the session back; false when it is not held.
    pub fn release_advisory(&self, owner: &Owner, key: AdvisoryKey, mode: LockMode) -> bool {
        self.table.lock().release_one(owner.pid, Tag::Advisory(key), mode, Hold::Session)
    }

    /// Gives all advisory locks of the session back, and says how many.
    pub fn release_session(&self, owner: &Owner) -> usize {
        self.table.lock().release_session(owner.pid)
    }

    // Transactions.

    /// Where the transaction stands.
    pub fn mark(&self, owner: &Owner) -> Mark {
        Mark { weak: owner.weak.lock().len(), held: self.table.lock().serial() }
    }

    /// Gives back what was taken behind a mark.
    pub fn rollback_to(&self, owner: &Owner, mark: Mark) {
        let kept: Vec<_> = {
            let mut weak = owner.weak.lock();
            weak.truncate(mark.weak);
            weak.iter().filter(|lock| lock.transferred).map(|lock| (lock.relation, lock.mode)).collect()
        };
        self.table.lock().release_behind(owner.pid, mark.held, &kept);
    }

    /// The transaction is over: all its locks go, and its number.
    pub fn end_transaction(&self, owner: &Owner, committed: bool) {
        owner.weak.lock().clear();
        if owner.held.load(Ordering::Acquire) > 0 {
            self.table.lock().release_transaction(owner.pid);
        }
        for relation in owner.strong.lock().drain(..) {
            self.group(relation).fetch_sub(1, Ordering::SeqCst);
        }
        self.xids.end(owner, committed);
    }

    // Waiting.

    /// Takes a lock; without `patience` only if it is free.
    pub fn acquire(
        &self,
        owner: &Arc<Owner>,
        tag: Tag,
        mode: LockMode,
        hold: Hold,
        patience: Option<Patience>,
    ) -> std::result::Result<Got, Refusal> {
        let request = {
            let mut table = self.table.lock();
            match table.attempt(owner, tag, mode, hold) {
                Attempt::Already => return Ok(Got::Already),
                Attempt::New => return Ok(Got::Free),
                Attempt::Busy => {}
            }
            if patience.is_none() {
                return Err(Refusal::Busy);
            }
            let request = Arc::new(Request {
                owner: owner.clone(),
                mode,
                hold,
                granted: AtomicBool::new(false),
                since: crate::session::state::now(),
            });
            table.enqueue(tag, &request);
            request
        };
        let patience = patience.unwrap_or(Patience { timeout: Duration::ZERO, deadlock: Duration::ZERO });
        let result = self.wait(owner, tag, &request, patience);
        self.waits.fetch_add(1, Ordering::Relaxed);
        let waited = u64::try_from(crate::session::state::now() - request.since).unwrap_or(0);
        self.waited.fetch_add(waited, Ordering::Relaxed);
        if result.is_err() {
            let mut table = self.table.lock();
            table.stop_waiting(tag, &request);
            // The grant may have come at the last moment.
            if request.granted.load(Ordering::Acquire) {
                table.release_one(owner.pid, tag, mode, hold);
            }
        }
        result.map(|()| Got::Waited)
    }

    fn wait(
        &self,
        owner: &Owner,
        tag: Tag,
        request: &Arc<Request>,
        patience: Patience,
    ) -> std::result::Result<(), Refusal> {
        let until = (!patience.timeout.is_zero()).then(|| Instant::now() + patience.timeout);
        loop {
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            // A deadlock is looked for now and then, not at once: most waits are short.
            let look = patience.deadlock.max(Duration::from_millis(1));
            let pause = left.map_or(look, |left| left.min(look));
            match owner.interrupter.wait(Some(pause), || request.granted.load(Ordering::Acquire)) {
                Wake::Ready => return Ok(()),
                Wake::Stopped => return Err(Refusal::Stopped(owner.interrupter.error())),
                Wake::TimedOut if left.is_some_and(|left| left <= pause) => return Err(Refusal::TimedOut),
                Wake::TimedOut => self.check_deadlock(owner, tag, request)?,
            }
        }
    }

    fn check_deadlock(&self, owner: &Owner, tag: Tag, request: &Arc<Request>) -> std::result::Result<(), Refusal> {
        let mut table = self.table.lock();
        if request.granted.load(Ordering::Acquire) {
            return Ok(());
        }
        let Some(circle) = table.circle(owner.pid) else { return Ok(()) };
        let lines: Vec<String> = circle
            .iter()
            .enumerate()
            .map(|(at, pid)| {
                let next = circle[(at + 1) % circle.len()];
                let wait = table.describe_wait(*pid, next, self.database);
                format!("Process {pid} waits for {wait}; blocked by process {next}.")
            })
            .collect();
        // Before anybody else in the circle looks: one victim is enough.
        table.stop_waiting(tag, request);
        self.deadlocks.fetch_add(1, Ordering::Relaxed);
        Err(Refusal::Deadlock(lines.join("\n")))
    }

    // What others see.

    /// Every lock.
    pub fn rows(&self) -> Vec<LockRow> {
        self.table.lock().rows()
    }

    /// Those for whom a session waits.
    pub fn blockers(&self, pid: u32) -> Vec<u32> {
        self.table.lock().blockers(pid)
    }

    /// What a session waits for.
    pub fn waits_for(&self, pid: u32) -> Option<Tag> {
        self.table.lock().waits_for(pid)
    }
}

/// Why a lock was not given.
#[derive(Debug)]
pub enum Refusal {
    /// It is not free, and nobody wanted to wait.
    Busy,
    /// The wait has taken too long.
    TimedOut,
    /// The statement was cancelled, or its time is over.
    Stopped(Error),
    /// Nobody in a circle of waiting sessions could ever go on.
    Deadlock(String),
}

impl Refusal {
    /// The error; `busy` is the message for a lock that is not free.
    pub fn error(self, busy: impl FnOnce() -> String) -> Error {
        match self {
            Self::Busy => Error::new(Condition::LockNotAvailable, busy()),
            Self::TimedOut => lock_timeout(),
            Self::Stopped(error) => error,
            Self::Deadlock(detail) => Error::new(Condition::DeadlockDetected, "deadlock detected")
                .detail(detail)
                .hint("See server log for query details."),
        }
    }
}

/// The lock did not come in time.
pub fn lock_timeout() -> Error {
    Error::new(Condition::LockNotAvailable, "canceling statement due to lock timeout")
}
