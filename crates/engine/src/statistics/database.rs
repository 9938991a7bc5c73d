//! What is counted of sessions and their transactions.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};

use super::work::{Work, WorkTally};

/// What is counted of all sessions of a database.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DatabaseCounts {
    /// Transactions committed.
    pub commits: u64,
    /// Transactions rolled back.
    pub rollbacks: u64,
    /// Pages that were in the cache.
    pub pages_hit: u64,
    /// Pages that had to be read.
    pub pages_read: u64,
    /// Pages written.
    pub pages_written: u64,
    /// CHECKPOINTs.
    pub checkpoints: u64,
    /// Rows read from whole tables and indexes, as far as they are known.
    pub rows_returned: u64,
    /// Rows inserted.
    pub rows_inserted: u64,
    /// Rows updated.
    pub rows_updated: u64,
    /// Rows deleted.
    pub rows_deleted: u64,
    /// Deadlocks found.
    pub deadlocks: u64,
    /// Sessions begun.
    pub sessions: u64,
    /// Sessions whose client has gone without a word.
    pub abandoned: u64,
    /// Sessions that an error has ended.
    pub fatal: u64,
    /// Sessions that somebody has ended.
    pub killed: u64,
    /// How long sessions have been there, in microseconds.
    pub session_time: u64,
    /// How long they have run statements.
    pub active_time: u64,
    /// How long they have waited for their clients inside transactions.
    pub idle_in_transaction_time: u64,
    /// What their statements came to.
    pub work: Work,
}

macro_rules! each {
    ($self:ident, $other:ident, $way:ident; $($field:ident),* $(,)?) => {
        $($self.$field = $self.$field.$way($other.$field);)*
    };
}

impl DatabaseCounts {
    /// Adds other counts.
    pub fn add(&mut self, other: &Self) {
        each!(self, other, wrapping_add; commits, rollbacks, pages_hit, pages_read, pages_written,
            checkpoints, rows_returned, rows_inserted, rows_updated, rows_deleted, deadlocks, sessions, abandoned,
            fatal, killed, session_time, active_time, idle_in_transaction_time);
        self.work.add(&other.work);
    }

    /// Takes off what was there before.
    pub(super) fn without(mut self, before: &Self) -> Self {
        let counts = &mut self;
        each!(counts, before, saturating_sub; commits, rollbacks, pages_hit, pages_read, pages_written,
            checkpoints, rows_returned, rows_inserted, rows_updated, rows_deleted, deadlocks, sessions, abandoned,
            fatal, killed, session_time, active_time, idle_in_transaction_time);
        self
    }
}

/// A cell that its session alone writes, and everybody may read.
#[derive(Debug, Default)]
pub struct Cell(AtomicU64);

impl Cell {
    /// Counts more.
    pub fn add(&self, more: u64) {
        self.0.store(self.0.load(Ordering::Relaxed).wrapping_add(more), Ordering::Relaxed);
    }

    /// How much has been counted.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Why a session is over.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Close {
    /// Its client has said so.
    #[default]
    Goodbye,
    /// Its client is gone.
    Abandoned,
    /// An error has ended it.
    Fatal,
    /// Somebody has ended it.
    Killed,
}

/// What a session counts as it goes.
#[derive(Debug, Default)]
pub struct Tally {
    commits: Cell,
    rollbacks: Cell,
    /// A transaction has begun and not been counted.
    begun: AtomicBool,
    /// It is of several statements.
    block: AtomicBool,
    /// A rollback was counted of which the door will hear.
    failed: AtomicBool,
    /// How long it has run statements, in microseconds.
    active: Cell,
    /// How long it has waited for its client inside a transaction.
    idle_in_transaction: Cell,
    pages_hit: Cell,
    pages_read: Cell,
    pages_written: Cell,
    /// Somebody has asked what the open transaction has read.
    asked: AtomicBool,
    /// What its statements came to.
    pub work: WorkTally,
    close: AtomicU8,
}

impl Tally {
    /// A transaction begins; one before it, of a statement that has only read, is over.
    pub fn begin(&self, block: bool) {
        if self.begun.load(Ordering::Relaxed) && !block {
            self.commits.add(1);
        }
        self.begun.store(true, Ordering::Relaxed);
        self.block.store(block, Ordering::Relaxed);
    }

    /// A transaction is over.
    pub fn end(&self, committed: bool) {
        if self.begun.load(Ordering::Relaxed) {
            self.begun.store(false, Ordering::Relaxed);
            let cell = if committed { &self.commits } else { &self.rollbacks };
            cell.add(1);
        }
        self.block.store(false, Ordering::Relaxed);
    }

    /// The session has been in a state for so many microseconds.
    pub fn pass(&self, state: &str, time: i64) {
        let time = u64::try_from(time).unwrap_or(0);
        match state {
            "active" => self.active.add(time),
            "idle" => {}
            _ => self.idle_in_transaction.add(time),
        }
    }

    /// Pages were found in the cache, read and written. To be called under the lock of the session's handle.
    pub fn pages(&self, [hit, read, written]: [u64; 3]) {
        self.pages_hit.add(hit);
        self.pages_read.add(read);
        self.pages_written.add(written);
    }

    /// An error has ended a statement that was a transaction of its own; the door will say that it has met it.
    pub fn fail(&self) {
        self.failed.store(true, Ordering::Relaxed);
    }

    /// The door has met an error outside of transactions: one of a statement that never began was a transaction, too.
    pub fn fail_at_door(&self) {
        if !self.failed.swap(false, Ordering::Relaxed) && !self.begun.load(Ordering::Relaxed) {
            self.rollbacks.add(1);
        }
    }

    /// Somebody asks what the open transaction has read; true when somebody has before.
    pub fn ask(&self) -> bool {
        self.asked.swap(true, Ordering::Relaxed)
    }

    /// Somebody has asked so.
    pub fn is_asked(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }

    /// It is in a transaction of several statements.
    pub fn is_in_block(&self) -> bool {
        self.block.load(Ordering::Relaxed)
    }

    /// Why the session will be over.
    pub fn set_close(&self, close: Close) {
        self.close.store(close as u8, Ordering::Relaxed);
    }

    /// What the session has counted; `idle` says that it waits for its client, `age` is for how long it has been there, in
    /// microseconds.
    pub fn counts(&self, idle: bool, age: u64) -> DatabaseCounts {
        let unended = idle && self.begun.load(Ordering::Relaxed) && !self.is_in_block();
        DatabaseCounts {
            commits: self.commits.get() + u64::from(unended),
            rollbacks: self.rollbacks.get(),
            sessions: 1,
            session_time: age,
            active_time: self.active.get(),
            idle_in_transaction_time: self.idle_in_transaction.get(),
            pages_hit: self.pages_hit.get(),
            pages_read: self.pages_read.get(),
            pages_written: self.pages_written.get(),
            work: self.work.work(),
            ..DatabaseCounts::default()
        }
    }

    /// The same of a session that is over.
    pub fn last_counts(&self, age: u64) -> DatabaseCounts {
        let close = self.close.load(Ordering::Relaxed);
        let closed = |of: Close| u64::from(close == of as u8);
        DatabaseCounts {
            abandoned: closed(Close::Abandoned),
            fatal: closed(Close::Fatal),
            killed: closed(Close::Killed),
            ..self.counts(true, age)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transactions_are_counted_when_they_are_over() {
        let tally = Tally::default();
        let counts = |idle| {
            let counts = tally.counts(idle, 0);
            (counts.commits, counts.rollbacks)
        };
        tally.begin(false);
        assert_eq!((counts(false), counts(true)), ((0, 0), (1, 0)));
        // BEGIN is a statement, too.
        tally.begin(false);
        tally.begin(true);
        assert_eq!((counts(false), counts(true)), ((1, 0), (1, 0)));
        tally.end(true);
        tally.end(true);
        assert_eq!(counts(true), (2, 0));
        tally.begin(false);
        tally.end(false);
        assert_eq!(counts(true), (2, 1));
    }
}
