//! What is counted of statements for who watches the server from outside: how many, of which kind, how long.
//!
//! Only a server that was opened to be measured counts them ([`crate::Options::measured`]); a session counts in cells that it
//! alone writes, and nothing is allocated for it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rowferry_dialect::ir::Statement as Ir;
use rowferry_dialect::plan::Command;

use super::database::Cell;
use crate::session::Prepared;
use crate::session::state::State;

/// What a statement is, roughly.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Kind {
    /// SELECT, VALUES, TABLE, and rows of a cursor.
    Select,
    /// INSERT.
    Insert,
    /// UPDATE.
    Update,
    /// DELETE.
    Delete,
    /// MERGE.
    Merge,
    /// COPY, in both directions.
    Copy,
    /// CALL, DO and EXECUTE FUNCTION.
    Call,
    /// BEGIN, COMMIT, SAVEPOINT and their kin.
    Transaction,
    /// A change of the schema.
    Ddl,
    /// All else.
    Other,
}

impl Kind {
    /// Every kind, in the order of the counts of [`Work`].
    pub const ALL: [Self; 10] = [
        Self::Select,
        Self::Insert,
        Self::Update,
        Self::Delete,
        Self::Merge,
        Self::Copy,
        Self::Call,
        Self::Transaction,
        Self::Ddl,
        Self::Other,
    ];

    /// Its name in lower case.
    pub fn name(self) -> &'static str {
        match self {
            Self::Select => "select",
            Self::Insert => "insert",
            Self::Update => "update",
            Self::Delete => "delete",
            Self::Merge => "merge",
            Self::Copy => "copy",
            Self::Call => "call",
            Self::Transaction => "transaction",
            Self::Ddl => "ddl",
            Self::Other => "other",
        }
    }

    fn of(plan: &Prepared) -> Self {
        match plan.command {
            Command::Insert => Self::Insert,
            Command::Update => Self::Update,
            Command::Delete => Self::Delete,
            Command::Merge => Self::Merge,
            Command::Copy => Self::Copy,
            _ => match &plan.bound.statement {
                Ir::Query(_) | Ir::Fetch { .. } => Self::Select,
                Ir::CallRoutine(_) | Ir::CallProcedure(_) | Ir::Do(_) => Self::Call,
                Ir::Transaction(_) => Self::Transaction,
                Ir::Ddl(_) | Ir::CreateTableAs(_) | Ir::CreateTableOfPrepared(_) | Ir::RefreshView(_) => Self::Ddl,
                _ => Self::Other,
            },
        }
    }
}

/// What the times of statements are sorted by: each bucket takes those that took no longer; those that took longer than the
/// last stand in one more.
pub const BUCKETS: [Duration; 12] = [
    Duration::from_micros(100),
    Duration::from_micros(250),
    Duration::from_micros(500),
    Duration::from_millis(1),
    Duration::from_micros(2_500),
    Duration::from_millis(5),
    Duration::from_millis(10),
    Duration::from_millis(50),
    Duration::from_millis(100),
    Duration::from_millis(500),
    Duration::from_secs(1),
    Duration::from_secs(10),
];

/// What statements came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Work {
    /// Statements that ran to their end, by [`Kind::ALL`].
    pub completed: [u64; Kind::ALL.len()],
    /// Statements that failed when they ran, by [`Kind::ALL`]; those that could not be understood are not among them.
    pub failed: [u64; Kind::ALL.len()],
    /// Rows that statements have returned or changed.
    pub rows: u64,
    /// How many statements took how long, by [`BUCKETS`].
    pub times: [u64; BUCKETS.len() + 1],
    /// How long all of them took, in nanoseconds.
    pub nanoseconds: u64,
    /// Statements whose plan was there.
    pub plans_found: u64,
}

impl Work {
    /// Adds what others came to.
    pub(super) fn add(&mut self, other: &Self) {
        let add = |own: &mut [u64], other: &[u64]| {
            own.iter_mut().zip(other).for_each(|(own, other)| *own = own.wrapping_add(*other));
        };
        add(&mut self.completed, &other.completed);
        add(&mut self.failed, &other.failed);
        add(&mut self.times, &other.times);
        self.rows = self.rows.wrapping_add(other.rows);
        self.nanoseconds = self.nanoseconds.wrapping_add(other.nanoseconds);
        self.plans_found = self.plans_found.wrapping_add(other.plans_found);
    }
}

/// The same as a session counts it.
#[derive(Debug, Default)]
pub struct WorkTally {
    completed: [Cell; Kind::ALL.len()],
    failed: [Cell; Kind::ALL.len()],
    rows: Cell,
    times: [Cell; BUCKETS.len() + 1],
    nanoseconds: Cell,
    plans_found: Cell,
}

impl WorkTally {
    /// A statement's plan was there.
    pub fn plan_found(&self) {
        self.plans_found.add(1);
    }

    /// What has been counted.
    pub fn work(&self) -> Work {
        Work {
            completed: self.completed.each_ref().map(Cell::get),
            failed: self.failed.each_ref().map(Cell::get),
            rows: self.rows.get(),
            times: self.times.each_ref().map(Cell::get),
            nanoseconds: self.nanoseconds.get(),
            plans_found: self.plans_found.get(),
        }
    }

    fn took(&self, time: Duration) {
        let bucket = BUCKETS.iter().position(|longest| time <= *longest).unwrap_or(BUCKETS.len());
        self.times[bucket].add(1);
        self.nanoseconds.add(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
    }
}

/// A statement that runs and is counted when it is over.
#[derive(Debug)]
pub struct Measured {
    state: Arc<State>,
    kind: Kind,
    rows: u64,
    spent: Duration,
    /// Since when it runs; `None` while it waits to be asked for more rows.
    since: Option<Instant>,
}

impl Measured {
    /// It begins.
    pub fn begin(state: &Arc<State>, plan: &Prepared) -> Self {
        let kind = if state.copying.lock().is_some() { Kind::Copy } else { Kind::of(plan) };
        Self { state: state.clone(), kind, rows: 0, spent: Duration::ZERO, since: Some(Instant::now()) }
    }

    /// It has yielded a row.
    pub fn row(&mut self) {
        self.rows += 1;
    }

    /// It waits to be asked for more.
    pub fn pause(&mut self) {
        if let Some(since) = self.since.take() {
            self.spent += since.elapsed();
        }
    }

    /// It goes on.
    pub fn resume(&mut self) {
        self.since.get_or_insert_with(Instant::now);
    }

    /// It has run to its end; `rows` are those that it has changed.
    pub fn finish(mut self, rows: u64) {
        self.pause();
        let work = &self.state.tally.work;
        work.completed[self.kind as usize].add(1);
        work.rows.add(rows.max(self.rows));
        work.took(self.spent);
    }

    /// It has failed.
    pub fn fail(mut self) {
        self.pause();
        let work = &self.state.tally.work;
        work.failed[self.kind as usize].add(1);
        work.took(self.spent);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_counted_in_the_first_bucket_that_takes_it() {
        let tally = WorkTally::default();
        for time in [Duration::ZERO, BUCKETS[0], BUCKETS[0] + Duration::from_nanos(1), Duration::from_secs(11)] {
            tally.took(time);
        }
        let work = tally.work();
        assert_eq!((work.times[0], work.times[1], work.times[BUCKETS.len()]), (2, 1, 1));
        assert_eq!(work.times.iter().sum::<u64>(), 4);
        assert_eq!(work.nanoseconds, 11_000_000_000 + 200_001);
    }

    #[test]
    fn kinds_stand_where_their_number_says() {
        for (at, kind) in Kind::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, at, "{}", kind.name());
        }
        assert!(BUCKETS.is_sorted());
    }
}
