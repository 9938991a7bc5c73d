//! What statements lock, and what becomes of those that find things locked.
//!
//! | who                          | locks                                                                      |
//! |------------------------------|----------------------------------------------------------------------------|
//! | any statement                | its tables, in the mode of its kind, until the transaction's end            |
//! | FOR UPDATE and its kin       | the rows that it yields                                                    |
//! | INSERT, UPDATE, DELETE, DDL  | the write lock; the rows that it has changed count as locked               |
//!
//! Locking rows does not need the write lock. A row is locked first and looked at again then: when somebody has changed
//! its table since the query's snapshot was taken, or had the row when it was asked for, the query runs once more on
//! what is there now (under READ COMMITTED; otherwise it fails with `40001`). Rows that it has locked stay locked, so
//! the second run rarely finds anything new.
//!
//! A statement that has changed rows which others have locked has to wait for them. If its transaction had written
//! nothing before, the change is undone and the write lock given up meanwhile, so that those others can write; otherwise
//! it waits with the write lock in its hands.

use std::collections::HashSet;
use std::sync::Arc;

use parking_lot::Mutex;
use rowferry_dialect::ir::{LockMode, LockTable, LockWait, RelationLocks, Value};
use rowferry_dialect::schema::{Relation, RelationKind};
use rowferry_dialect::{Condition, Error, Language, Result};

use super::transaction::{Block, Open};
use super::{Outcome, Prepared, Session};
use crate::locks::{ALL_ROWS, Got, Hold, Patience, Refusal, Tag};

/// What the run of one statement has to do with rows' locks.
#[derive(Debug, Default)]
pub struct RowLocking {
    /// Rows that it has locked, or found locked by its own transaction.
    pub rows: HashSet<Tag>,
    /// It has locked one that was not locked before.
    pub fresh: bool,
    /// It has met one that somebody else has locked, and wants to wait for it.
    pub wait_for: Option<(Tag, LockMode)>,
}

/// Where a statement's row locks are noted while it runs.
pub type SharedRowLocking = Mutex<RowLocking>;

impl super::state::State {
    /// Locks a row for a running query; false when it is to be skipped.
    ///
    /// # Errors
    /// `55P03` for NOWAIT. A row that has to be waited for ends the run with an error, too: nobody waits inside a
    /// statement, whose snapshot would be old when it goes on. See `run_locking_query`.
    pub fn lock_row(&self, relation: u32, row: Option<i64>, mode: LockMode, wait: LockWait) -> Result<bool> {
        let database = self.database.upgrade().ok_or_else(|| Error::internal("the database is closed"))?;
        let row = row.unwrap_or(ALL_ROWS);
        let tag = Tag::Row { relation, row };
        match database.locks.try_row(&self.owner, relation, row, mode) {
            Some(got) => {
                let mut locking = self.row_locking.lock();
                locking.fresh |= got != Got::Already;
                locking.rows.insert(tag);
                Ok(true)
            }
            None if wait == LockWait::Skip => Ok(false),
            None if wait == LockWait::Fail => Err(self.row_is_locked(relation)),
            None => {
                self.row_locking.lock().wait_for = Some((tag, mode));
                Err(Error::new(Condition::LockNotAvailable, "the row is locked"))
            }
        }
    }

    fn row_is_locked(&self, relation: u32) -> Error {
        use rowferry_dialect::Schema as _;
        let name = self.schema.read().relation_by_oid(relation).map(|relation| relation.name.clone());
        let message = format!("could not obtain lock on row in relation \"{}\"", name.unwrap_or_default());
        Error::new(Condition::LockNotAvailable, message)
    }
}

impl Session {
    pub(super) fn patience(&self) -> Patience {
        let variables = self.state.variables.read();
        Patience { timeout: variables.lock_timeout(), deadlock: variables.timeouts().deadlock }
    }

    /// A refusal in the words of the session's dialect; `doing` is Informix's code for what could not be done.
    pub(super) fn refused(&self, refusal: Refusal, doing: i16, busy: impl FnOnce() -> String) -> Error {
        const RECORD_IS_LOCKED: i16 = -107;
        const LOCK_TIMEOUT_EXPIRED: i16 = -154;
        const DEADLOCK: i16 = -143;
        let isam = match &refusal {
            Refusal::Busy => RECORD_IS_LOCKED,
            // SET LOCK MODE TO NOT WAIT is the shortest of times.
            Refusal::TimedOut if self.patience().timeout.as_millis() <= 1 => RECORD_IS_LOCKED,
            Refusal::TimedOut => LOCK_TIMEOUT_EXPIRED,
            Refusal::Deadlock(_) => DEADLOCK,
            Refusal::Stopped(_) => return refusal.error(busy),
        };
        let error = refusal.error(busy);
        if self.language() == Language::Informix { error.codes(doing, isam) } else { error }
    }

    /// Takes the locks on tables that a statement takes by itself.
    pub(super) fn lock_tables(&mut self, prepared: &Prepared) -> Result<()> {
        let tables = &prepared.uses.tables;
        if tables.is_empty() {
            return Ok(());
        }
        // A query that is its own transaction reads a snapshot; it only has to wait for whoever keeps it out. Informix
        // keeps nothing locked that a transaction has only read, below REPEATABLE READ.
        let alone = self.transaction.block == Block::None && !self.inner;
        let keeps_nothing = alone || self.language() == Language::Informix && !self.transaction.is_snapshot();
        let mut waited = false;
        for lock in tables {
            let oid = lock.relation.oid;
            let locks = &self.database.shared.locks;
            if keeps_nothing && lock.mode == LockMode::AccessShare {
                if !locks.is_calm(oid) {
                    let result = locks.pass_table(&self.state.owner, oid, self.patience());
                    result.map_err(|refusal| self.table_refused(refusal, &lock.relation.name))?;
                    waited = true;
                }
                continue;
            }
            waited |= self.lock_table(oid, &lock.relation.name, lock.mode, true)?;
        }
        if waited {
            self.refresh_schema();
        }
        Ok(())
    }

    /// Locks one table; true when it had to wait.
    pub(super) fn lock_table(&mut self, oid: u32, name: &str, mode: LockMode, wait: bool) -> Result<bool> {
        let locks = &self.database.shared.locks;
        let owner = &self.state.owner;
        if mode.is_weak() && locks.weak(owner, oid, mode) {
            return Ok(false);
        }
        let patience = wait.then(|| self.patience());
        let got = locks.lock_table(owner, oid, mode, patience);
        got.map(|got| got == Got::Waited).map_err(|refusal| self.table_refused(refusal, name))
    }

    fn table_refused(&self, refusal: Refusal, name: &str) -> Error {
        const CANNOT_LOCK_TABLE: i16 = -289;
        self.refused(refusal, CANNOT_LOCK_TABLE, || format!("could not obtain lock on relation \"{name}\""))
    }

    /// Locks what a change of the schema names: tables that are to be dropped.
    pub(super) fn lock_named(&mut self, names: &RelationLocks) -> Result<()> {
        use rowferry_dialect::Schema as _;
        for name in &names.names {
            let relation = match self.schema.relation(name) {
                Some(relation) => relation,
                None => match self.schema.index(name) {
                    Some((relation, _)) => relation,
                    None => continue,
                },
            };
            if !relation.is_temporary() && self.lock_table(relation.oid, &relation.name, names.mode, true)? {
                self.refresh_schema();
            }
        }
        Ok(())
    }

    /// LOCK TABLE.
    pub(super) fn lock_statement(&mut self, lock: &LockTable) -> Result<()> {
        if matches!(self.transaction.block, Block::None | Block::Pipeline) {
            let message = "LOCK TABLE can only be used in transaction blocks";
            return Err(Error::new(Condition::NoActiveSqlTransaction, message));
        }
        if self.is_read_only() && lock.mode > LockMode::RowShare {
            return Err(Error::new(
                Condition::ReadOnlySqlTransaction,
                "cannot execute LOCK TABLE in a read-only transaction",
            ));
        }
        for relation in &lock.relations {
            // Who may lock a table may lock those that inherit from it.
            if lock.relations.iter().any(|named| relation.parents().contains(&named.oid)) {
                self.lock_one(relation, lock)?;
                continue;
            }
            let role = self.rights().role();
            self.lock_with_base(relation, role, lock, &mut Vec::new())?;
        }
        Ok(())
    }

    fn lock_one(&mut self, relation: &Relation, lock: &LockTable) -> Result<()> {
        if !relation.is_temporary() && self.lock_table(relation.oid, &relation.name, lock.mode, !lock.nowait)? {
            self.refresh_schema();
        }
        Ok(())
    }

    /// LOCK TABLE of a relation, of a view with what it reads: that in the name of its owner, or of its reader where
    /// that is whose rights it has.
    fn lock_with_base(
        &mut self,
        relation: &Arc<Relation>,
        role: u32,
        lock: &LockTable,
        above: &mut Vec<u32>,
    ) -> Result<()> {
        use rowferry_dialect::Schema as _;
        self.check_lock(relation, lock.mode, role)?;
        if above.contains(&relation.oid) {
            let message = format!("infinite recursion detected in rules for relation \"{}\"", relation.name);
            return Err(Error::new(Condition::InvalidObjectDefinition, message));
        }
        self.lock_one(relation, lock)?;
        let RelationKind::View { options, .. } = &relation.kind else { return Ok(()) };
        let role = if options.security_invoker() { role } else { self.rights().owner(relation.oid) };
        let needs = self.schema.details(relation.oid).and_then(|details| details.needs.clone()).unwrap_or_default();
        let mut below: Vec<u32> = needs.into_iter().map(|(target, _)| target).collect();
        below.sort_unstable();
        below.dedup();
        above.push(relation.oid);
        for oid in below {
            let Some(base) = self.schema.relation_by_oid(oid) else { continue };
            if matches!(base.kind, RelationKind::Table | RelationKind::View { .. }) {
                self.lock_with_base(&base, role, lock, above)?;
                for heir in rowferry_dialect::heritage::family(&self.schema, &base).iter().skip(1) {
                    self.lock_one(heir, lock)?;
                }
            }
        }
        above.pop();
        Ok(())
    }

    // Rows.

    /// A query that locks rows: all its rows are locked, and read, before the first is returned.
    pub(super) fn run_locking_query(&mut self, prepared: &Arc<Prepared>, params: &[Value]) -> Result<Outcome> {
        if self.is_read_only() {
            let message = "cannot execute SELECT FOR UPDATE in a read-only transaction";
            return Err(Error::new(Condition::ReadOnlySqlTransaction, message));
        }
        let shared = self.database.shared.clone();
        let owner = self.state.owner.clone();
        shared.locks.xids.assign(&owner);
        let mark = shared.locks.row_mark();
        let mut runs = 0;
        loop {
            runs += 1;
            // Before the snapshot is taken: a commit in between makes the query run once more, for nothing.
            let now = shared.commits();
            self.open_read()?;
            let seen = self.transaction.snapshot_commits.unwrap_or(now);
            let result = self.run_noting_rows(prepared, params);
            let noted = std::mem::take(&mut *self.state.row_locking.lock());
            let writing = matches!(self.transaction.open, Open::Write { .. } | Open::Outer { .. });
            let changed = |rows: &[u32]| !writing && !shared.locks.unchanged_since(rows.iter().copied(), seen);
            let (plan, spool) = match (result, noted.wait_for) {
                (Ok(done), _) => done,
                (Err(_), Some((tag, mode))) => {
                    self.wait_for_row(tag, mode)?;
                    if self.transaction.is_snapshot() && changed(&prepared.uses.rows) {
                        return Err(concurrent_update());
                    }
                    continue;
                }
                (Err(error), None) => return Err(error),
            };
            if noted.fresh && changed(&plan.uses.rows) {
                if self.transaction.is_snapshot() {
                    return Err(concurrent_update());
                }
                continue;
            }
            if runs > 1 {
                shared.locks.release_rows(&owner, mark, &noted.rows);
            }
            return self.rows_done(&plan, spool, 0);
        }
    }

    fn run_noting_rows(
        &mut self,
        prepared: &Arc<Prepared>,
        params: &[Value],
    ) -> Result<(Arc<Prepared>, crate::spool::Spool)> {
        *self.state.row_locking.lock() = RowLocking::default();
        self.with_renewals(prepared, params, |session, plan| {
            let statement = session.start(plan, params)?;
            session.read_all_of(plan, statement)
        })
    }

    /// Waits until a row is free, and locks it.
    fn wait_for_row(&mut self, tag: Tag, mode: LockMode) -> Result<()> {
        const COULD_NOT_FETCH: i16 = -244;
        let patience = self.patience();
        let owner = self.state.owner.clone();
        let got = self.database.shared.locks.acquire(&owner, tag, mode, Hold::Transaction, Some(patience));
        got.map(|_| ()).map_err(|refusal| self.refused(refusal, COULD_NOT_FETCH, String::new))
    }

    /// What a change of rows has to wait for before it is done. True when it must run again: it has been undone, or
    /// has not come to its end.
    pub(super) fn settle_rows(&mut self, plan: &Prepared, first: bool, finished: bool) -> Result<bool> {
        let noted = std::mem::take(&mut *self.state.row_locking.lock());
        let mut wanted: Vec<(Tag, LockMode)> = noted.wait_for.into_iter().collect();
        if finished {
            let (tags, mode) = self.note_written(plan)?;
            wanted.extend(tags.into_iter().map(|tag| (tag, mode)));
        } else if let Some(handle) = &self.handle {
            handle.lock().drain_changes(|_, _, _| {});
        }
        let undo = first && !self.transaction.is_snapshot();
        // What runs again is counted when it does.
        let again = !wanted.is_empty() && (undo || !finished);
        if (finished || again)
            && let Some(handle) = &self.handle
        {
            handle.lock().settle_row_counts(!again);
        }
        if wanted.is_empty() {
            return Ok(false);
        }
        if undo {
            self.close_transaction();
            // Triggers will be told again.
            self.state.deferred.lock().undo(0);
        }
        for (tag, mode) in wanted {
            self.wait_for_row(tag, mode)?;
        }
        Ok(undo || !finished)
    }

    /// Tells the locks which rows have been changed since the last time; yields those that others have locked.
    pub(super) fn note_written(&mut self, plan: &Prepared) -> Result<(Vec<Tag>, LockMode)> {
        let Some(handle) = &self.handle else { return Ok((Vec::new(), LockMode::Exclusive)) };
        let mut rows = Vec::new();
        let mut mode = if plan.uses.changes_keys { LockMode::AccessExclusive } else { LockMode::Exclusive };
        let main = &self.schema.main;
        let mut last: Option<(String, Option<u32>)> = None;
        handle.lock().drain_changes(|table, row, deleted| {
            if last.as_ref().is_none_or(|(name, _)| name != table) {
                let oid = main.relation_by_physical_name(table).map(|relation| relation.oid);
                last = Some((table.to_owned(), oid));
            }
            if let Some((_, Some(oid))) = &last {
                rows.push((*oid, row));
                if deleted {
                    mode = LockMode::AccessExclusive;
                }
            }
        });
        let whole = &plan.uses.whole;
        if rows.is_empty() && whole.is_empty() {
            return Ok((Vec::new(), mode));
        }
        if !matches!(self.transaction.open, Open::Write { .. } | Open::Outer { write: true }) {
            return Ok((Vec::new(), mode));
        }
        Ok((self.database.shared.locks.wrote(&self.state.owner, &rows, whole, mode), mode))
    }

    // The end.

    /// The transaction is over: what it has locked is free.
    pub(super) fn end_locks(&mut self, committed: bool) {
        if self.inner {
            return;
        }
        self.interrupter.set_transaction_deadline(None);
        self.release_locks(committed);
    }

    /// Frees what the transaction has locked, though its block may go on.
    pub(super) fn release_locks(&mut self, committed: bool) {
        let locks = &self.database.shared.locks;
        if !self.state.owner.is_clean() {
            locks.end_transaction(&self.state.owner, committed);
        }
    }
}

fn concurrent_update() -> Error {
    Error::new(Condition::SerializationFailure, "could not serialize access due to concurrent update")
}
