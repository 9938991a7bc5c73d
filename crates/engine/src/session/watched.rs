//! Statements that somebody wants to know about when they have run: `pg_stat_statements`, and the log.
//!
//! Where nobody does, none of this is made, and no clock is read.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rowferry_dialect::Error;
use rowferry_dialect::extension::PG_STAT_STATEMENTS;
use rowferry_dialect::ir::{Statement as Ir, Value};
use rowferry_dialect::plan::Command;

use super::logged::{Line, Logged};
use super::state::State;
use super::{Prepared, Session};
use crate::statistics::Measured;
use crate::statistics::statements::Key;

/// Which statements are told of to `pg_stat_statements` (`pg_stat_statements.track`).
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Track {
    /// None.
    None,
    /// Those of clients.
    #[default]
    Top,
    /// Those of functions, too.
    All,
}

/// What is wanted of statements, by the session's settings.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Wanted {
    /// `pg_stat_statements.track`.
    pub track: Track,
    /// `pg_stat_statements.track_utility` is off.
    pub no_utility: bool,
    /// `compute_query_id`: `None` is `auto`, with which it is computed where somebody uses it.
    pub query_id: Option<bool>,
    /// What is logged.
    pub logged: Logged,
    /// `track_functions`.
    pub functions: TrackedFunctions,
}

/// Which functions are counted when they are called.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum TrackedFunctions {
    /// None.
    #[default]
    None,
    /// Those in PL/pgSQL.
    Procedural,
    /// Those in SQL, too.
    All,
}

/// A statement that runs, and is told of when it has run.
#[derive(Debug)]
pub(crate) struct Watched {
    plan: Arc<Prepared>,
    state: Arc<State>,
    /// For `pg_stat_statements`.
    key: Option<Key>,
    /// For the log.
    line: Option<Box<Line>>,
    /// How long it has run before.
    spent: Duration,
    /// Since when it runs; `None` while it waits to be asked for more rows.
    since: Option<Instant>,
    rows: u64,
}

impl Session {
    /// Whether the file has the extension that is told of statements.
    pub(super) fn has_statement_statistics(&self) -> bool {
        self.schema.main.extensions.iter().any(|extension| extension.name() == PG_STAT_STATEMENTS)
    }

    /// The statement's number, where somebody wants to know it.
    pub(super) fn wanted_query_id(&self, prepared: &Prepared) -> Option<i64> {
        match self.wanted.query_id {
            Some(true) => Some(prepared.query_id()),
            None if self.has_statement_statistics() => Some(prepared.query_id()),
            _ => None,
        }
    }

    /// Begins to measure a statement of a client's, if the server is measured.
    pub(super) fn measure(&self, prepared: &Prepared) -> Option<Measured> {
        let measured = self.database.shared.options.measured
            && !self.inner
            && self.batch.is_none()
            && self.copying.is_none()
            && !self.interrupter.is_nested();
        measured.then(|| Measured::begin(&self.state, prepared))
    }

    /// A client was told of an error.
    pub fn count_error(&self, error: &Error) {
        self.database.shared.statistics.told(error.sqlstate());
    }

    /// Begins to watch a statement, if somebody wants to know of it.
    pub(super) fn watch(
        &mut self,
        prepared: &Arc<Prepared>,
        params: &[Value],
        text: Option<&Arc<str>>,
    ) -> Option<Box<Watched>> {
        // It is this statement's, logged or not.
        let source = self.source.take();
        if self.batch.is_some() || self.copying.is_some() {
            return None;
        }
        let top = !self.inner && !self.interrupter.is_nested();
        let line =
            if self.wanted.logged.any() { self.log_beginning(prepared, params, text, source, top) } else { None };
        let key = if self.has_statement_statistics() { self.watched_key(prepared, top) } else { None };
        if key.is_none() && line.is_none() {
            return None;
        }
        let (key, plan) = match key {
            Some((key, plan)) => (Some(key), plan),
            None => (None, prepared.clone()),
        };
        let state = self.state.clone();
        if let Some(handle) = &self.handle {
            state.tally.pages(handle.lock().take_page_counts());
        }
        let since = Some(Instant::now());
        Some(Box::new(Watched { plan, state, key, line, spent: Duration::ZERO, since, rows: 0 }))
    }

    /// Under what `pg_stat_statements` keeps a statement, if it does.
    fn watched_key(&self, prepared: &Arc<Prepared>, top: bool) -> Option<(Key, Arc<Prepared>)> {
        let plan = match &prepared.bound.statement {
            // What is told of is the statement that it runs.
            Ir::ExecutePrepared { name, .. } => self.named_statement(name).ok().flatten()?,
            _ => prepared.clone(),
        };
        let tracked = match self.wanted.track {
            Track::None => false,
            Track::Top => top,
            Track::All => true,
        };
        let told = !matches!(plan.bound.statement, Ir::Prepare { .. } | Ir::Deallocate(_));
        let normalized = plan.normalized();
        let key = (tracked && told && (normalized.plannable || !self.wanted.no_utility)).then(|| Key {
            user: self.schema.identity.current,
            query: plan.query_id(),
            top,
        });
        key.map(|key| (key, plan))
    }
}

impl Watched {
    /// It has yielded a row.
    pub(crate) fn row(&mut self) {
        self.rows += 1;
    }

    /// It waits to be asked for more.
    pub(crate) fn pause(&mut self) {
        if let Some(since) = self.since.take() {
            self.spent += since.elapsed();
        }
    }

    /// It goes on.
    pub(crate) fn resume(&mut self) {
        self.since.get_or_insert_with(Instant::now);
    }

    /// It is over; `rows` are those that it has changed.
    pub(crate) fn finish(mut self, rows: u64) {
        self.pause();
        if let Some(line) = self.line.take() {
            line.end(&self.plan, &self.state, self.spent);
        }
        let handle = self.state.handle.lock().upgrade();
        let pages = handle.map_or([0; 3], |handle| handle.lock().take_page_counts());
        self.state.tally.pages(pages);
        let Some((key, database)) = self.key.zip(self.state.database.upgrade()) else { return };
        let rows = match self.plan.command {
            Command::Utility(words) if !words.starts_with("SELECT") && !words.starts_with("REFRESH") => 0,
            Command::Move => 0,
            _ => rows.max(self.rows),
        };
        let milliseconds = self.spent.as_secs_f64() * 1_000.0;
        database.statistics.statements.ran(key, self.plan.normalized(), milliseconds, rows, pages);
    }
}
