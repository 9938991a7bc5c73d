//! What is counted while statements run: rows and scans of tables, transactions and times of sessions.
//!
//! Counting costs a statement next to nothing. The back end counts by itself how often a statement has run and how many
//! steps it went through a whole table; it tells each changed row anyway; sessions keep the rest in cells that they
//! alone write. [`Session`](crate::Session) gathers these at the end of a transaction block; what statements of their own
//! have read and changed is fetched by whoever asks ([`collect`]). Only then are counts given to tables and indexes by
//! the steps in which the back end runs a statement ([`Reads`]).
//!
//! All of it lives as long as the server; the file keeps none of it.

mod collect;
mod database;
mod functions;
mod pending;
mod progress;
mod reads;
pub mod statements;
mod tables;
mod work;

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use parking_lot::Mutex;
use rowferry_dialect::{Condition, Error, Result};

pub use collect::{age, collect, functions_of_transaction, gather, of_transaction};
pub use database::{DatabaseCounts, Tally};
pub use functions::FunctionCounts;
pub use pending::{Mark, Pending, Run, SessionCounts};
pub use progress::Progress;
pub use reads::{Reads, Ways};
pub use tables::{IndexCounts, TableCounts};
pub use work::{BUCKETS, Kind, Measured};

use crate::backend::Handle;
use crate::session::state::now;

/// What a database's server has counted since it began, or since somebody has set it back.
#[derive(Debug)]
pub struct Statistics {
    tables: Mutex<HashMap<u32, TableCounts>>,
    indexes: Mutex<HashMap<u32, IndexCounts>>,
    functions: Mutex<BTreeMap<u32, FunctionCounts>>,
    /// What is known of statements.
    pub statements: statements::Statements,
    /// What sessions that are gone have left.
    gone: Mutex<DatabaseCounts>,
    /// What all that had been counted came to when it was set back.
    before: Mutex<DatabaseCounts>,
    /// When it was set back: microseconds since 1970, 0 for never.
    database_reset: AtomicI64,
    /// The same of what `pg_stat_reset_shared` sets back.
    pub archiver_reset: AtomicI64,
    pub bgwriter_reset: AtomicI64,
    pub wal_reset: AtomicI64,
    /// CHECKPOINTs.
    checkpoints: AtomicU64,
    /// Plans that had to be made.
    pub plans_made: AtomicU64,
    /// Errors that clients were told, by the class of their SQLSTATE.
    errors: Mutex<BTreeMap<String, u64>>,
}

impl Default for Statistics {
    fn default() -> Self {
        let now = now();
        Self {
            tables: Mutex::default(),
            functions: Mutex::default(),
            indexes: Mutex::default(),
            statements: Default::default(),
            gone: Mutex::default(),
            before: Mutex::default(),
            database_reset: AtomicI64::new(0),
            archiver_reset: AtomicI64::new(now),
            bgwriter_reset: AtomicI64::new(now),
            wal_reset: AtomicI64::new(now),
            checkpoints: AtomicU64::new(0),
            plans_made: AtomicU64::new(0),
            errors: Mutex::default(),
        }
    }
}

impl Statistics {
    /// What is known of a table; nothing where nothing has been counted.
    pub fn table(&self, oid: u32) -> Option<TableCounts> {
        self.tables.lock().get(&oid).copied()
    }

    /// What is known of an index.
    pub fn index(&self, oid: u32) -> Option<IndexCounts> {
        self.indexes.lock().get(&oid).copied()
    }

    /// What is known of functions, by their object ids.
    pub fn functions(&self) -> BTreeMap<u32, FunctionCounts> {
        self.functions.lock().clone()
    }

    /// CHECKPOINT.
    pub fn checkpointed(&self) {
        self.checkpoints.fetch_add(1, Ordering::Relaxed);
    }

    /// A client was told of an error.
    pub fn told(&self, sqlstate: &str) {
        let class = sqlstate.get(..2).unwrap_or(sqlstate);
        let mut errors = self.errors.lock();
        match errors.get_mut(class) {
            Some(count) => *count += 1,
            None => drop(errors.insert(class.to_owned(), 1)),
        }
    }

    /// Errors that clients were told.
    pub fn errors(&self) -> BTreeMap<String, u64> {
        self.errors.lock().clone()
    }

    /// A session is over: its part stays.
    pub fn keep(&self, counts: &DatabaseCounts) {
        self.gone.lock().add(counts);
    }

    /// What sessions that are gone and tables have left, before anything is taken off.
    fn whole(&self) -> DatabaseCounts {
        let mut counts = self.gone.lock().clone();
        counts.checkpoints = self.checkpoints.load(Ordering::Relaxed);
        counts
    }

    /// What was counted since it was set back, of all that was counted.
    pub fn since_reset(&self, whole: &DatabaseCounts) -> DatabaseCounts {
        whole.clone().without(&self.before.lock())
    }

    /// When everything was set back; `None` for never.
    pub fn reset_at(&self) -> Option<i64> {
        Some(self.database_reset.load(Ordering::Relaxed)).filter(|at| *at != 0)
    }

    /// `pg_stat_reset`: `whole` is what has been counted until now.
    pub fn reset(&self, whole: DatabaseCounts) {
        self.tables.lock().values_mut().for_each(|table| *table = TableCounts::default());
        self.indexes.lock().values_mut().for_each(|index| *index = IndexCounts::default());
        self.functions.lock().values_mut().for_each(|function| *function = FunctionCounts::default());
        *self.before.lock() = whole;
        self.database_reset.store(now(), Ordering::Relaxed);
    }

    /// `pg_stat_reset_single_table_counters`, of a table or an index.
    pub fn reset_one(&self, oid: u32) {
        self.tables.lock().entry(oid).and_modify(|table| *table = TableCounts::default()).or_default();
        self.indexes.lock().entry(oid).and_modify(|index| *index = IndexCounts::default());
        self.database_reset.store(now(), Ordering::Relaxed);
    }

    /// `pg_stat_reset_single_function_counters`.
    pub fn reset_function(&self, oid: u32) {
        self.functions.lock().entry(oid).and_modify(|function| *function = FunctionCounts::default());
        self.database_reset.store(now(), Ordering::Relaxed);
    }

    /// `pg_stat_reset_shared`.
    ///
    /// # Errors
    /// `22023` for what is not counted.
    pub fn reset_shared(&self, what: &str) -> Result<()> {
        let at = match what {
            "archiver" => &self.archiver_reset,
            "bgwriter" => &self.bgwriter_reset,
            "wal" => &self.wal_reset,
            // Nothing is read ahead of a recovery.
            "recovery_prefetch" => return Ok(()),
            _ => {
                let message = format!("unrecognized reset target: \"{what}\"");
                let hint = "Target must be \"archiver\", \"bgwriter\", \"recovery_prefetch\", or \"wal\".";
                return Err(Error::new(Condition::InvalidParameterValue, message).hint(hint));
            }
        };
        at.store(now(), Ordering::Relaxed);
        Ok(())
    }

    /// Takes in what transactions that are over have counted.
    pub fn take_in(&self, pending: &Pending) {
        {
            let mut tables = self.tables.lock();
            for (oid, counted) in pending.tables() {
                tables.entry(*oid).or_default().add(counted);
            }
        }
        if !pending.functions().is_empty() {
            let mut functions = self.functions.lock();
            for (oid, counted) in pending.functions() {
                functions.entry(*oid).or_default().add(counted);
            }
        }
        let mut gone = self.gone.lock();
        for (_, counted) in pending.tables() {
            gone.rows_inserted += counted.inserted;
            gone.rows_updated += counted.updated;
            gone.rows_deleted += counted.deleted;
        }
    }

    /// Gives what statements have read to tables and indexes, by the ways that a handle says they go.
    pub fn settle(&self, runs: &[Run], handle: &Handle) {
        for run in runs {
            self.take_in_reads(&run.reads.ways(handle), run.runs, run.steps);
        }
    }

    /// Takes in what statements have read by known ways.
    fn take_in_reads(&self, ways: &Ways, runs: u64, steps: u64) {
        let mut read = 0;
        {
            let (mut tables, mut indexes) = (self.tables.lock(), self.indexes.lock());
            ways.count(runs, steps, |way, rows| {
                way.count(runs, rows, &mut tables, &mut indexes);
                read += rows.unwrap_or(0);
            });
        }
        self.gone.lock().rows_returned += read;
    }

    /// A table was looked through by ANALYZE, and has so many rows.
    pub fn analyzed(&self, oid: u32, rows: Option<i64>) {
        let mut tables = self.tables.lock();
        let table = tables.entry(oid).or_default();
        if let Some(rows) = rows {
            table.live = rows;
        }
        table.modified = 0;
        table.analyzed = Some(now());
        table.analyses += 1;
    }

    /// A table was cleaned by VACUUM.
    pub fn vacuumed(&self, oid: u32) {
        let mut tables = self.tables.lock();
        let table = tables.entry(oid).or_default();
        table.inserted_since_vacuum = 0;
        table.vacuumed = Some(now());
        table.vacuums += 1;
    }
}
