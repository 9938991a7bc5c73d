//! What is known of statements that have run (`pg_stat_statements`).

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use rowferry_dialect::postgres::Normalized;

use crate::session::state::now;

/// How many statements are told apart; of more, those that ran least are forgotten (`pg_stat_statements.max`).
const CAPACITY: usize = 5_000;

/// One of so many is forgotten then.
const FORGOTTEN: usize = 20;

/// Which statement, and whose.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Key {
    /// Object id of the role.
    pub user: u32,
    /// `queryid`.
    pub query: i64,
    /// It was not called by a function.
    pub top: bool,
}

/// What is known of a statement.
#[derive(Clone, Debug)]
pub struct Statement {
    /// Its text, without constants.
    pub text: Arc<str>,
    /// How often it has run to its end.
    pub calls: u64,
    /// How long it has run, in milliseconds.
    pub times: Times,
    /// Rows that it has returned or changed.
    pub rows: u64,
    /// Pages found in the cache, read and written.
    pub pages: [u64; 3],
}

/// Times in milliseconds, as a mean is kept one by one (Welford).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Times {
    /// Their sum.
    pub total: f64,
    /// The shortest.
    pub min: f64,
    /// The longest.
    pub max: f64,
    /// Their mean.
    pub mean: f64,
    squares: f64,
}

impl Times {
    fn add(&mut self, time: f64, count: u64) {
        #[allow(clippy::cast_precision_loss, reason = "a mean")]
        let count = count as f64;
        self.total += time;
        if count <= 1.0 {
            (self.min, self.max, self.mean) = (time, time, time);
            return;
        }
        let before = self.mean;
        self.mean += (time - before) / count;
        self.squares += (time - before) * (time - self.mean);
        self.min = self.min.min(time);
        self.max = self.max.max(time);
    }

    /// How much they differ: the standard deviation of all.
    pub fn deviation(&self, count: u64) -> f64 {
        #[allow(clippy::cast_precision_loss, reason = "a mean")]
        if count > 1 { (self.squares / count as f64).sqrt() } else { 0.0 }
    }
}

/// The statements of a database.
#[derive(Debug)]
pub struct Statements(Mutex<Known>);

#[derive(Debug)]
struct Known {
    statements: HashMap<Key, Statement>,
    /// How often some had to be forgotten.
    forgotten: u64,
    /// When all were forgotten, by somebody's wish or the server's start: microseconds since 1970.
    reset: i64,
}

impl Default for Statements {
    fn default() -> Self {
        Self(Mutex::new(Known { statements: HashMap::new(), forgotten: 0, reset: now() }))
    }
}

impl Statements {
    /// A statement has run to its end.
    pub fn ran(&self, key: Key, normalized: &Normalized, milliseconds: f64, rows: u64, pages: [u64; 3]) {
        let mut known = self.0.lock();
        if known.statements.len() >= CAPACITY && !known.statements.contains_key(&key) {
            known.forget_some();
        }
        let statement = known.statements.entry(key).or_insert_with(|| Statement {
            text: normalized.text.as_str().into(),
            calls: 0,
            times: Times::default(),
            rows: 0,
            pages: [0; 3],
        });
        statement.calls += 1;
        statement.times.add(milliseconds, statement.calls);
        statement.rows += rows;
        statement.pages.iter_mut().zip(pages).for_each(|(all, more)| *all += more);
    }

    /// All of them.
    pub fn all(&self) -> Vec<(Key, Statement)> {
        self.0.lock().statements.iter().map(|(key, statement)| (*key, statement.clone())).collect()
    }

    /// How often some had to be forgotten, and when all were.
    pub fn facts(&self) -> (u64, i64) {
        let known = self.0.lock();
        (known.forgotten, known.reset)
    }

    /// Forgets those of a role and of a query; 0 stands for every one.
    pub fn reset(&self, user: u32, query: i64) {
        let mut known = self.0.lock();
        known.statements.retain(|key, _| !((user == 0 || key.user == user) && (query == 0 || key.query == query)));
        if user == 0 && query == 0 {
            (known.forgotten, known.reset) = (0, now());
        }
    }
}

impl Known {
    fn forget_some(&mut self) {
        let mut calls: Vec<(u64, Key)> =
            self.statements.iter().map(|(key, statement)| (statement.calls, *key)).collect();
        calls.sort_unstable_by_key(|(calls, _)| *calls);
        for (_, key) in calls.iter().take(CAPACITY / FORGOTTEN) {
            self.statements.remove(key);
        }
        self.forgotten += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ran(statements: &Statements, query: i64, milliseconds: f64) {
        let normalized = Normalized { text: format!("select {query}"), fingerprint: 1, plannable: true };
        statements.ran(Key { user: 10, query, top: true }, &normalized, milliseconds, 2, [1, 0, 0]);
    }

    #[test]
    fn times_have_a_mean_and_a_deviation() {
        let statements = Statements::default();
        for time in [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0] {
            ran(&statements, 1, time);
        }
        let (_, statement) = statements.all().remove(0);
        assert_eq!((statement.calls, statement.rows, statement.pages), (8, 16, [8, 0, 0]));
        let times = statement.times;
        assert_eq!((times.total, times.min, times.max, times.mean), (40.0, 2.0, 9.0, 5.0));
        assert!((times.deviation(statement.calls) - 2.0).abs() < 1e-9);
    }

    #[test]
    fn those_that_ran_least_are_forgotten() {
        let statements = Statements::default();
        ran(&statements, 1, 1.0);
        ran(&statements, 1, 1.0);
        for query in 2..=CAPACITY as i64 + 1 {
            ran(&statements, query, 1.0);
        }
        let all = statements.all();
        assert_eq!((all.len(), statements.facts().0), (CAPACITY - CAPACITY / FORGOTTEN + 1, 1));
        assert!(all.iter().any(|(key, _)| key.query == 1));
        statements.reset(0, 1);
        assert!(!statements.all().iter().any(|(key, _)| key.query == 1));
        statements.reset(11, 0);
        assert!(!statements.all().is_empty());
        statements.reset(0, 0);
        assert_eq!((statements.all().len(), statements.facts().0), (0, 0));
    }
}
