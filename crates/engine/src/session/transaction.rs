//! Transactions as PostgreSQL means them, on those of a back end that has one writer at a time.
//!
//! | the user's transaction            | the back end's                                                       |
//! |-----------------------------------|----------------------------------------------------------------------|
//! | READ COMMITTED, nothing written   | none: each statement reads its own snapshot                          |
//! | REPEATABLE READ, SERIALIZABLE     | one that begins at the first statement: one snapshot                 |
//! | from its first write on           | one that writes, holding the write lock until its end                |
//!
//! A savepoint set before the back end's transaction begins is kept in mind and set when it does. Whoever holds the write lock has
//! the newest state of the file, unless its snapshot is older than that: then its first write fails with `40001`.
//! SERIALIZABLE is thereby serializable: writers run one after the other, each on what its predecessor left.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use rowferry_dialect::informix::Logging;
use rowferry_dialect::ir::{Isolation, TransactionModes};
use rowferry_dialect::{Condition, Error, Language, Result};

use super::constraints::Checking;
use super::savepoints::Savepoint;
use super::variables::Modes;
use super::{Session, TransactionStatus};
use crate::backend::errors;
use crate::backend::{Backend as _, Failure, Handle, InUse};
use crate::exported::Exported;
use crate::locks::Permit;

/// How long a commit waits for readers, with a rollback journal and without a lock time-out.
pub(super) const LONGEST_WAIT_FOR_READERS: Duration = Duration::from_secs(60);

/// The session's transaction.
#[derive(Debug, Default)]
pub struct Transaction {
    /// Who began it.
    pub block: Block,
    /// An error has ended it: only ROLLBACK helps.
    pub failed: bool,
    /// Isolation level; decided when it begins.
    pub isolation: Option<Isolation>,
    /// READ ONLY.
    pub read_only: bool,
    /// DEFERRABLE.
    pub deferrable: bool,
    /// When foreign keys are checked.
    pub(super) checking: Checking,
    /// The back end's transaction.
    pub open: Open,
    /// Savepoints, the outermost first.
    pub savepoints: Vec<Savepoint>,
    /// The schema has been changed in it.
    pub schema_changed: bool,
    /// Tables that it has made or emptied, with how many savepoints there were.
    pub(super) fresh: Vec<(u32, usize)>,
    /// A statement has run in it: its isolation level is fixed.
    pub used: bool,
    /// What it had changed in another database has been undone there: only ROLLBACK helps.
    pub lost_there: bool,
    /// How many transactions the server had committed when its snapshot was taken, where it has one throughout.
    pub snapshot_commits: Option<u64>,
}

/// Who began a transaction.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Block {
    /// Nobody: each statement is one.
    #[default]
    None,
    /// The door, around several statements of one text. It counts as a block, but savepoints are not for it.
    Implicit,
    /// The door, around the statements of a pipeline up to Sync. It does not count as a block.
    Pipeline,
    /// The user.
    Explicit,
}

/// The back end's transaction.
#[derive(Debug, Default)]
pub enum Open {
    /// None.
    #[default]
    No,
    /// It reads one snapshot.
    Snapshot,
    /// It has changed temporary tables, and not looked into the file.
    Temporary,
    /// It belongs to the statement inside which this session's run.
    Outer { write: bool },
    /// It may write. The write lock goes to the next when this is dropped.
    Write { _permit: Permit },
}

impl Transaction {
    /// That of a statement inside which others run.
    pub fn inside(write: bool) -> Self {
        Self { block: Block::Explicit, open: Open::Outer { write }, used: true, ..Self::default() }
    }

    /// Reads one snapshot throughout.
    pub fn is_snapshot(&self) -> bool {
        matches!(self.isolation, Some(Isolation::RepeatableRead | Isolation::Serializable))
    }
}

impl Session {
    /// Where the session stands.
    pub fn transaction_status(&self) -> TransactionStatus {
        match self.transaction.block {
            Block::Explicit if self.transaction.failed => TransactionStatus::Failed,
            Block::Explicit => TransactionStatus::Active,
            Block::None | Block::Implicit | Block::Pipeline => TransactionStatus::Idle,
        }
    }

    /// BEGIN. In a transaction it only warns, in Informix it fails.
    pub fn begin(&mut self, modes: TransactionModes) -> Result<()> {
        let next = std::mem::take(&mut self.next_modes);
        let modes = TransactionModes {
            isolation: modes.isolation.or(next.isolation),
            read_only: modes.read_only.or(next.read_only),
            ..modes
        };
        if self.transaction.block == Block::Explicit {
            if self.language() == Language::Mysql {
                // MySQL commits what is open.
                self.end_commit()?;
                return self.begin(modes);
            }
            if self.language() == Language::Informix {
                return Err(Error::new(Condition::ActiveSqlTransaction, "already in a transaction"));
            }
            self.warn(Condition::ActiveSqlTransaction, "there is already a transaction in progress");
            return self.set_modes(modes);
        }
        if self.language() == Language::Informix && self.database.logging() == Logging::None {
            return Err(Error::new(
                Condition::TransactionNotAvailable,
                "transaction not available: the database has no log",
            ));
        }
        if self.transaction.block == Block::None {
            self.start_transaction(Block::Explicit);
        } else {
            // What the implicit block has done so far becomes part of it, as in PostgreSQL.
            self.transaction.block = Block::Explicit;
        }
        self.set_modes(modes)
    }

    /// COMMIT; false when the transaction had failed and was rolled back instead.
    pub fn commit(&mut self) -> Result<bool> {
        if self.transaction.block != Block::Explicit {
            self.no_transaction()?;
        }
        if self.transaction.failed {
            self.end_rollback();
            return Ok(false);
        }
        self.end_commit()?;
        Ok(true)
    }

    /// ROLLBACK.
    pub fn rollback(&mut self) -> Result<()> {
        if self.transaction.block != Block::Explicit {
            self.no_transaction()?;
        }
        self.end_rollback();
        Ok(())
    }

    /// The statement that follows is part of a text of several, which are one transaction unless they control
    /// transactions themselves: said before each of them, since a COMMIT ends it. Does nothing inside a transaction.
    pub fn begin_implicit(&mut self) {
        if self.transaction.block == Block::None {
            self.start_transaction(Block::Implicit);
        }
    }

    /// The same for a statement of a pipeline, which is one transaction up to its Sync.
    pub fn begin_pipeline(&mut self) {
        if self.transaction.block == Block::None {
            self.start_transaction(Block::Pipeline);
        }
    }

    /// Ends what [`Session::begin_implicit`] or [`Session::begin_pipeline`] began: commits, or rolls back after an error.
    pub fn end_implicit(&mut self) -> Result<()> {
        self.interrupter.disarm();
        match self.transaction.block {
            Block::Explicit => Ok(()),
            Block::None => {
                self.end_autocommitted();
                self.commit_portals()?;
                self.notify_now()
            }
            Block::Implicit | Block::Pipeline if self.transaction.failed => {
                self.end_rollback();
                Ok(())
            }
            Block::Implicit | Block::Pipeline => self.end_commit(),
        }
    }

    /// Runs what is one statement to its client and several to us: in a transaction of its own, unless there is one.
    pub(crate) fn as_one_transaction<T>(&mut self, run: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.inner || self.transaction.block != Block::None {
            return run(self);
        }
        self.start_transaction(Block::Implicit);
        match run(self) {
            Ok(value) => {
                self.end_commit()?;
                Ok(value)
            }
            Err(error) => {
                self.end_rollback();
                Err(error)
            }
        }
    }

    /// A savepoint of our own begins: the block of a routine that handles errors.
    pub(crate) fn begin_subtransaction(&mut self) -> Result<()> {
        self.push_savepoint("")
    }

    /// It ends well: what it has done is its surroundings'.
    pub(crate) fn end_subtransaction(&mut self) -> Result<()> {
        let Some(at) = self.transaction.savepoints.len().checked_sub(1) else { return Ok(()) };
        self.release_at(at)
    }

    /// Nothing of what was done since it began stays.
    pub(crate) fn undo_subtransaction(&mut self) -> Result<()> {
        let Some(at) = self.transaction.savepoints.len().checked_sub(1) else { return Ok(()) };
        self.go_back_to(at)?;
        self.release_at(at)
    }

    /// A statement that was a transaction of its own is over: what it has set stays, what it has locked is free.
    pub(super) fn end_autocommitted(&mut self) {
        if self.state.variables.read().mark() > 0 {
            self.state.variables.write().commit();
            self.sync_variables();
        }
        self.state.tally.end(true);
        self.state.close_large_objects();
        self.end_locks(true);
        self.save_sequences_now();
    }

    /// Tells the session that the door itself has met an error: a transaction block is aborted, a transaction that the
    /// door began is rolled back, locks and all.
    pub fn fail(&mut self) {
        self.interrupter.disarm();
        if self.language().undoes_statements() {
            return;
        }
        match self.transaction.block {
            Block::Explicit => {
                self.abort();
                self.publish_activity();
            }
            Block::None => {
                self.state.tally.fail_at_door();
                self.end_rollback();
            }
            Block::Implicit | Block::Pipeline => self.end_rollback(),
        }
    }

    /// An error has ended the transaction, although its block goes on until the client says so: what it has locked, the
    /// write lock included, is free from now on. With savepoints it may go on from one of these, and keeps what was
    /// locked before the last of them.
    fn abort(&mut self) {
        if std::mem::replace(&mut self.transaction.failed, true) || self.inner {
            return;
        }
        if let Some(last) = self.transaction.savepoints.last() {
            self.database.shared.locks.rollback_to(&self.state.owner, last.locks);
            return;
        }
        if !matches!(self.transaction.open, Open::No) {
            let _ = self.materialise_cursors();
            self.close_transaction();
        }
        self.release_locks(false);
    }

    /// SET TRANSACTION.
    pub(super) fn set_modes(&mut self, modes: TransactionModes) -> Result<()> {
        let refused = |message: &str| Err(Error::new(Condition::ActiveSqlTransaction, message));
        let (used, nested) = (self.transaction.used, !self.transaction.savepoints.is_empty());
        if let Some(isolation) = modes.isolation
            && self.transaction.isolation != Some(isolation)
        {
            if used {
                return refused("SET TRANSACTION ISOLATION LEVEL must be called before any query");
            }
            if nested {
                return refused("SET TRANSACTION ISOLATION LEVEL must not be called in a subtransaction");
            }
            self.transaction.isolation = Some(isolation);
        }
        if modes.read_only == Some(false) && self.transaction.read_only {
            if nested {
                return refused("cannot set transaction read-write mode inside a read-only transaction");
            }
            if used {
                return refused("transaction read-write mode must be set before any query");
            }
        }
        self.transaction.read_only = modes.read_only.unwrap_or(self.transaction.read_only);
        if let Some(deferrable) = modes.deferrable {
            if nested {
                return refused("SET TRANSACTION [NOT] DEFERRABLE cannot be called within a subtransaction");
            }
            if used {
                return refused("SET TRANSACTION [NOT] DEFERRABLE must be called before any query");
            }
            self.transaction.deferrable = deferrable;
        }
        self.publish_modes();
        Ok(())
    }

    /// Lets `SHOW transaction_isolation` and its kin tell the truth.
    pub(super) fn publish_modes(&mut self) {
        self.state.variables.write().set_transaction(Modes {
            isolation: self.transaction.isolation.unwrap_or(Isolation::ReadCommitted),
            read_only: self.transaction.read_only,
            deferrable: self.transaction.deferrable,
        });
    }

    pub(super) fn start_transaction(&mut self, block: Block) {
        self.count_transaction();
        let modes = {
            let mut variables = self.state.variables.write();
            let modes = variables.defaults();
            variables.set_transaction(modes);
            modes
        };
        self.transaction = Transaction {
            block,
            isolation: Some(modes.isolation),
            read_only: modes.read_only,
            deferrable: modes.deferrable,
            ..Transaction::default()
        };
        self.state.activity.lock().transaction_start = super::state::now();
        let limit = self.state.variables.read().timeouts().transaction;
        self.interrupter.set_transaction_deadline((!limit.is_zero()).then_some(limit));
    }

    /// Whether statements may write: the transaction says it, or the session's default for a statement of its own.
    pub(super) fn is_read_only(&self) -> bool {
        match self.transaction.block {
            Block::None => self.state.variables.read().defaults().read_only,
            Block::Implicit | Block::Pipeline | Block::Explicit => self.transaction.read_only,
        }
    }

    /// There is no transaction to end.
    fn no_transaction(&mut self) -> Result<()> {
        if self.language() == Language::Informix {
            return Err(Error::new(Condition::NoActiveSqlTransaction, "not in a transaction"));
        }
        if self.language() != Language::Mysql {
            self.warn(Condition::NoActiveSqlTransaction, "there is no transaction in progress");
        }
        Ok(())
    }

    pub(super) fn need_block(&self, command: &str) -> Result<()> {
        match self.transaction.block {
            Block::Explicit => Ok(()),
            Block::None | Block::Implicit | Block::Pipeline => Err(Error::new(
                Condition::NoActiveSqlTransaction,
                format!("{command} can only be used in transaction blocks"),
            )),
        }
    }

    /// A statement is about to read.
    pub(super) fn open_read(&mut self) -> Result<()> {
        self.transaction.used = true;
        if matches!(self.transaction.open, Open::No) {
            if self.transaction.is_snapshot() && self.transaction.block != Block::None {
                self.open_snapshot(None)?;
            } else {
                self.refresh_snapshot_of_cursors()?;
            }
        }
        Ok(())
    }

    /// Begins to read one snapshot: the newest one, or another transaction's.
    fn open_snapshot(&mut self, imported: Option<&Exported>) -> Result<()> {
        self.materialise_cursors()?;
        let handle = self.handle()?;
        let guard = handle.lock();
        self.follow_replication_role(&guard)?;
        let commits = imported.map_or_else(|| self.database.shared.commits(), |imported| imported.commits);
        self.transaction.snapshot_commits = Some(commits);
        self.state.snapshot_commits.store(commits, Ordering::Relaxed);
        match imported {
            None => self.checked(guard.begin_snapshot())?,
            Some(imported) => {
                if !self.checked(guard.begin_snapshot_of(&imported.state))? {
                    let message = "could not import the requested snapshot";
                    return Err(Error::new(Condition::ObjectNotInPrerequisiteState, message)
                        .detail("The source transaction is not running anymore."));
                }
            }
        }
        self.transaction.open = Open::Snapshot;
        drop(guard);
        self.set_savepoints()?;
        self.adopt_committed_schema()
    }

    /// SET TRANSACTION SNAPSHOT: the transaction sees what another one sees.
    pub(super) fn import_snapshot(&mut self, name: &str) -> Result<()> {
        if self.transaction.used || !self.transaction.savepoints.is_empty() {
            let message = "SET TRANSACTION SNAPSHOT must be called before any query";
            return Err(Error::new(Condition::ActiveSqlTransaction, message));
        }
        if !self.transaction.is_snapshot() || self.transaction.block == Block::None {
            let message = "a snapshot-importing transaction must have isolation level SERIALIZABLE or REPEATABLE READ";
            return Err(Error::new(Condition::FeatureNotSupported, message));
        }
        let Some(exported) = self.database.shared.exported.find(name) else {
            let message = format!("invalid snapshot identifier: \"{name}\"");
            return Err(Error::new(Condition::InvalidParameterValue, message));
        };
        if self.transaction.isolation == Some(Isolation::Serializable) {
            let refused = |message: &str| Err(Error::new(Condition::FeatureNotSupported, message));
            if !exported.serializable {
                let message = "a serializable transaction cannot import a snapshot from a non-serializable transaction";
                return refused(message);
            }
            if exported.read_only && !self.transaction.read_only {
                return refused(
                    "a non-read-only serializable transaction cannot import a snapshot from a read-only transaction",
                );
            }
        }
        self.transaction.used = true;
        self.open_snapshot(Some(&exported))
    }

    /// Cursors that are being read keep their snapshot, and the back end has one for a session: when somebody has committed
    /// since, their rows are read ahead so that the next statement sees what is new.
    fn refresh_snapshot_of_cursors(&mut self) -> Result<()> {
        let commits = self.database.shared.commits();
        if self.commits_seen != commits {
            self.materialise_cursors()?;
            self.commits_seen = commits;
        }
        Ok(())
    }

    /// A statement has failed: what it leaves of the transaction.
    pub(super) fn statement_failed(&mut self) {
        self.interrupter.disarm();
        match self.transaction.block {
            Block::None => {
                self.end_rollback();
                self.state.tally.fail();
            }
            Block::Implicit | Block::Pipeline | Block::Explicit => {
                if !self.language().undoes_statements() {
                    self.abort();
                } else if self.is_lost() {
                    // The back end could only undo the whole transaction (a cancelled write, a full disk).
                    self.end_rollback();
                    self.warn(Condition::SerializationFailure, "the transaction has been rolled back");
                }
                self.publish_activity();
            }
        }
    }

    /// The back end has rolled back by itself: it does when a write is interrupted, the disk is full or memory runs out.
    pub(super) fn is_lost(&self) -> bool {
        !matches!(self.transaction.open, Open::No | Open::Outer { .. })
            && self.handle.as_ref().is_some_and(|handle| !handle.lock().is_in_transaction())
    }

    /// Reads ahead what cursors have still to read.
    pub(super) fn materialise_cursors(&mut self) -> Result<()> {
        let Some(handle) = &self.handle else { return Ok(()) };
        let guard = handle.lock();
        for cursor in guard.cursors() {
            if cursor.is_live() {
                cursor.materialise(&guard, &self.interrupter)?;
            }
        }
        Ok(())
    }

    /// With the back end's transaction open, the schema is that of its snapshot.
    pub(super) fn adopt_committed_schema(&mut self) -> Result<()> {
        let handle = self.handle()?;
        let guard = handle.lock();
        let cookie = self.checked(guard.schema_number())?;
        let current = self.database.shared.current();
        // What is in our tables alone (privileges, comments, functions) changes without the file's number: whoever writes sees
        // what the writer before has made known.
        let stale = || {
            matches!(self.transaction.open, Open::Write { .. })
                && current.cookie == cookie
                && current.generation != self.schema.main.generation
        };
        if cookie != self.schema.main.cookie || stale() {
            self.schema.main = if current.cookie == cookie {
                current
            } else {
                let loaded = self.checked(InUse::load(guard.connection(), "main"))?;
                let loaded = Arc::new(loaded);
                // The writer's state of the file is the newest there is.
                if matches!(self.transaction.open, Open::Write { .. }) {
                    self.database.shared.publish(loaded.clone());
                }
                loaded
            };
            drop(guard);
            self.schema_moved();
        }
        Ok(())
    }

    /// Does one thing with the session's handle.
    pub(super) fn on_handle<T>(&mut self, work: impl FnOnce(&Handle) -> std::result::Result<T, Failure>) -> Result<T> {
        let handle = self.handle()?;
        let guard = handle.lock();
        self.checked(work(&guard))
    }

    /// Translates a failure of a statement of our own.
    pub(super) fn checked<T>(&self, result: std::result::Result<T, Failure>) -> Result<T> {
        result.map_err(|failure| errors::translate(&failure, &self.interrupter, None))
    }
}

pub(super) fn lost() -> Error {
    Error::new(Condition::SerializationFailure, "the transaction has been rolled back")
        .detail("A write was interrupted, or storage ran out; nothing of the transaction is left.")
}

pub(super) fn isolation_name(isolation: Isolation) -> &'static str {
    match isolation {
        Isolation::ReadUncommitted => "read uncommitted",
        Isolation::ReadCommitted => "read committed",
        Isolation::RepeatableRead => "repeatable read",
        Isolation::Serializable => "serializable",
    }
}

pub(super) fn isolation_from_name(name: &str) -> Isolation {
    let all =
        [Isolation::ReadUncommitted, Isolation::ReadCommitted, Isolation::RepeatableRead, Isolation::Serializable];
    all.into_iter().find(|isolation| isolation_name(*isolation) == name).unwrap_or(Isolation::ReadCommitted)
}
