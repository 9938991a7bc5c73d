//! When a session's counts are gathered: at the end of a transaction that has written or had a block, at savepoints, and when the
//! session is over. What statements of their own have read stays with the back end until somebody asks.

use std::sync::Arc;
use std::time::Instant;

use rowferry_dialect::Result;
use rowferry_dialect::schema::Relation;
use rowferry_dialect::stored_function::{RoutineLanguage, StoredFunction};

use super::Session;
use super::state::State;
use super::transaction::Block;
use super::watched::TrackedFunctions;
use crate::backend::Handle;
use crate::statistics::{self, Mark, Pending};

impl State {
    /// Takes over what the handle has counted, as done in the transaction that is open.
    fn gather_open(&self, handle: &Handle) {
        let mut full = false;
        if self.variables.read().counts() {
            let mut counts = self.counts.lock();
            handle.drain_reads(|reads, runs, steps| full |= counts.open.ran(reads, runs, steps));
            handle.drain_row_counts(|temporary, table, rows| self.count_rows(&mut counts.open, temporary, table, rows));
        } else {
            handle.drain_reads(|_, _, _| {});
            handle.drain_row_counts(|_, _, _| {});
        }
        if full && let Some(database) = self.database.upgrade() {
            let runs = self.counts.lock().open.take_runs();
            database.statistics.settle(&runs, handle);
        }
    }

    fn count_rows(&self, pending: &mut Pending, temporary: bool, table: &str, [inserted, updated, deleted]: [u64; 3]) {
        let schema = self.schema.read();
        let snapshot = if temporary { &schema.temp } else { &schema.main };
        if let Some(relation) = snapshot.relation_by_physical_name(table) {
            pending.changed(relation.oid, inserted, updated, deleted);
        }
    }

    /// Takes over what the handle has counted, in whichever transaction.
    pub(crate) fn gather(&self, handle: &Handle) {
        self.gather_open(handle);
        if !self.tally.is_in_block() {
            self.counts.lock().end(true);
        }
    }

    /// The same, with what is counted of the file's pages.
    pub(crate) fn gather_all(&self, handle: &Handle) {
        self.tally.pages(handle.take_page_counts());
        self.gather(handle);
    }
}

impl Session {
    pub(super) fn gather_open(&self) {
        if let Some(handle) = &self.handle {
            self.state.gather_open(&handle.lock());
        }
    }

    /// Gives what has been counted in transactions that are over to the database.
    pub(super) fn gather_done(&self) {
        statistics::collect(&self.database.shared, &self.state);
    }

    /// Takes over what has been counted until now.
    pub(super) fn gather(&self) {
        if let Some(handle) = &self.handle {
            self.state.gather(&handle.lock());
        }
    }

    /// Whether what the handle has counted must be told apart from what the next transaction does: rows, and what has been
    /// read where somebody asks for that by transaction.
    fn must_gather(&self) -> bool {
        self.handle.as_ref().is_some_and(|handle| self.state.tally.is_asked() || handle.lock().has_row_counts())
    }

    /// A transaction of several statements begins.
    pub(super) fn count_transaction(&self) {
        if self.must_gather() {
            self.gather();
        }
        if self.wanted.functions != TrackedFunctions::None {
            // What was called before is no part of it.
            self.state.counts.lock().end(true);
        }
        self.state.tally.begin(true);
    }

    /// The transaction is over. What a statement of its own has changed stays with the handle until somebody asks.
    pub(super) fn count_end(&self, committed: bool) {
        let alone = self.transaction.block == Block::None;
        if alone
            && !committed
            && let Some(handle) = &self.handle
        {
            // Statements before this one are committed.
            let guard = handle.lock();
            let mut counts = self.state.counts.lock();
            guard.drain_settled_row_counts(|temporary, table, rows| {
                self.state.count_rows(&mut counts.open, temporary, table, rows);
            });
            counts.end(true);
        }
        if !(alone && committed) && self.must_gather() {
            self.gather_open();
        }
        self.state.counts.lock().end(committed);
        self.state.tally.end(committed);
    }

    /// Runs a function and counts the call, where `track_functions` asks for it. One that fails is not counted.
    pub(crate) fn count_call<T>(
        &mut self,
        function: &StoredFunction,
        run: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        let counted = match self.state.variables.read().wanted().functions {
            TrackedFunctions::None => false,
            TrackedFunctions::Procedural => function.definition.language == RoutineLanguage::Plpgsql,
            TrackedFunctions::All => true,
        };
        if !counted || function.oid == 0 {
            return run(self);
        }
        let total_before = self.state.counts.lock().open.function(function.oid).total;
        let others_before = self.state.routines.counted_time();
        let began = Instant::now();
        let result = run(self)?;
        let total = u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX);
        let own = total.saturating_sub(self.state.routines.counted_time() - others_before);
        self.state.routines.count_time(own);
        let mut counts = self.state.counts.lock();
        let counted = counts.open.function(function.oid);
        counted.calls += 1;
        // Calls of itself are a part of this one.
        counted.total = total_before + total;
        counted.own += own;
        Ok(result)
    }

    /// Where the transaction's counts stand.
    pub(super) fn count_mark(&self) -> Mark {
        if self.must_gather() {
            self.gather_open();
        }
        self.state.counts.lock().mark()
    }

    /// What was changed since then is undone.
    pub(super) fn count_back_to(&self, mark: &Mark) {
        self.gather_open();
        self.state.counts.lock().return_to(mark);
    }

    /// Tables have been emptied by TRUNCATE: no row was deleted, and none is there.
    pub(super) fn count_truncated(&self, tables: &[Arc<Relation>]) {
        let Some(handle) = &self.handle else { return };
        if !self.state.variables.read().counts() {
            return;
        }
        let guard = handle.lock();
        let mut counts = self.state.counts.lock();
        guard.drain_row_counts(|temporary, table, [inserted, updated, deleted]| {
            let is_truncated =
                |truncated: &Arc<Relation>| truncated.is_temporary() == temporary && truncated.physical.name == table;
            let deleted = if tables.iter().any(is_truncated) { 0 } else { deleted };
            self.state.count_rows(&mut counts.open, temporary, table, [inserted, updated, deleted]);
        });
        let statistics = &self.database.shared.statistics;
        for table in tables {
            let known = statistics.table(table.oid).map_or(0, |known| known.live);
            let done = counts.done.live(table.oid);
            counts.open.emptied(table.oid, known + done);
        }
    }

    /// The session is over: what it has counted stays with the database.
    pub(super) fn end_counting(&self) {
        let statistics = &self.database.shared.statistics;
        if let Some(handle) = &self.handle {
            let guard = handle.lock();
            self.state.tally.pages(guard.take_page_counts());
            self.state.gather_open(&guard);
            let mut counts = self.state.counts.lock();
            counts.end(self.transaction.block == Block::None);
            let done = std::mem::take(&mut counts.done);
            statistics.take_in(&done);
            statistics.settle(done.runs(), &guard);
        }
        statistics.keep(&self.state.tally.last_counts(statistics::age(&self.state)));
    }
}
