//! Rows, pulled.

use std::cell::RefCell;
use std::sync::Arc;

use rowferry_dialect::ir::Statement as Ir;
use rowferry_dialect::plan::{Command, ResultColumn};
use rowferry_dialect::values::Settings;
use rowferry_dialect::{Condition, Error, Result};

use crate::ValueRef;
use crate::backend::errors;
use crate::backend::{Backend as _, InUse};
use crate::backend::{Guard, SharedHandle};
use crate::backend::{Statement, Step};
use crate::interrupt::Interrupter;
use crate::session::Prepared;
use crate::session::watched::Watched;
use crate::spool::{Spool, SpoolReader};
use crate::statistics::Measured;

/// A running query. It outlives other statements of its session; dropping it gives its resources back.
#[derive(Debug)]
pub struct Cursor {
    handle: Option<SharedHandle>,
    state: Arc<CursorState>,
    plan: Arc<Prepared>,
    interrupter: Interrupter,
    rows_affected: u64,
    /// Who wants to know of it when it is over.
    watched: Option<Box<Watched>>,
    /// The same for who counts it.
    measured: Option<Measured>,
    /// How its rows are shown where that ends with the statement: its functions have set something for its transaction.
    shown: Option<Arc<Settings>>,
}

/// What a cursor and its session share. Used under the handle's lock only.
#[derive(Debug)]
pub struct CursorState {
    source: RefCell<Source>,
}

// SAFETY: a cursor with a handle touches its source under the handle's lock only; one without is not registered with
// any session, so its cursor is the only owner.
unsafe impl Send for CursorState {}
// SAFETY: as above.
unsafe impl Sync for CursorState {}

#[derive(Debug)]
enum Source {
    /// A statement that is running; `fresh` while its first row has been made but not asked for.
    Live { key: u64, statement: Statement, fresh: bool },
    /// Rows read ahead.
    Spooled(SpoolReader),
    /// Rows of the server behind.
    Upstream(Box<crate::upstream::Rows>),
    /// All rows have been read.
    Done,
    /// Closed by its transaction's end.
    Closed(Error),
}

/// The row where a cursor stands.
#[derive(Debug)]
pub struct Row<'a> {
    // Dropped in this order: the borrow ends under the lock.
    source: std::cell::Ref<'a, Source>,
    _guard: Option<Guard<'a>>,
}

impl Cursor {
    /// A cursor on a statement whose first row has been made.
    pub(crate) fn live(
        handle: SharedHandle,
        key: u64,
        statement: Statement,
        plan: Arc<Prepared>,
        interrupter: Interrupter,
    ) -> Self {
        let state = Arc::new(CursorState { source: RefCell::new(Source::Live { key, statement, fresh: true }) });
        handle.lock().register(&state);
        Self {
            handle: Some(handle),
            state,
            plan,
            interrupter,
            rows_affected: 0,
            watched: None,
            measured: None,
            shown: None,
        }
    }

    /// A cursor on rows that have been read.
    pub(crate) fn spooled(
        reader: SpoolReader,
        plan: Arc<Prepared>,
        interrupter: Interrupter,
        rows_affected: u64,
    ) -> Self {
        let state = Arc::new(CursorState { source: RefCell::new(Source::Spooled(reader)) });
        Self { handle: None, state, plan, interrupter, rows_affected, watched: None, measured: None, shown: None }
    }

    /// A cursor on rows of the server behind.
    pub(crate) fn upstream(rows: crate::upstream::Rows, plan: Arc<Prepared>, interrupter: Interrupter) -> Self {
        let state = Arc::new(CursorState { source: RefCell::new(Source::Upstream(Box::new(rows))) });
        Self { handle: None, state, plan, interrupter, rows_affected: 0, watched: None, measured: None, shown: None }
    }

    /// Its rows are shown as these settings want them, whatever the session's are by then.
    pub(crate) fn show_as(&mut self, settings: Arc<Settings>) {
        self.shown = Some(settings);
    }

    /// How its rows are to be shown; `None` is as its session has it.
    pub fn shown(&self) -> Option<Arc<Settings>> {
        self.shown.clone()
    }

    /// The columns of every row.
    pub fn columns(&self) -> &[ResultColumn] {
        &self.plan.bound.columns
    }

    /// The plan that it runs.
    pub fn plan(&self) -> &Arc<Prepared> {
        &self.plan
    }

    /// Its rows are those of a statement that changes some.
    pub(crate) fn is_of_change(&self) -> bool {
        let statement = &self.plan.bound.statement;
        !matches!(statement, Ir::Query(_)) || InUse::runs_in_parts(statement)
    }

    /// The word for its completion.
    pub fn command(&self) -> Command {
        self.plan.command
    }

    /// Goes to the next row; `None` after the last.
    ///
    /// # Errors
    /// Whatever the statement fails with; `34000` when its transaction has ended meanwhile.
    #[allow(clippy::should_implement_trait, reason = "rows borrow from the cursor, which an Iterator cannot say")]
    pub fn next(&mut self) -> Result<Option<Row<'_>>> {
        let guard = self.handle.as_ref().map(SharedHandle::lock);
        let more = self.advance(guard.as_ref());
        match more {
            Ok(true) => {
                if let Some(watched) = &mut self.watched {
                    watched.row();
                }
                if let Some(measured) = &mut self.measured {
                    measured.row();
                }
            }
            Ok(false) => tell(&mut self.watched, &mut self.measured, self.rows_affected),
            Err(_) => {
                // What has failed is counted, and not told of.
                self.watched = None;
                if let Some(measured) = self.measured.take() {
                    measured.fail();
                }
            }
        }
        if !more? {
            return Ok(None);
        }
        Ok(Some(Row { source: self.state.source.borrow(), _guard: guard }))
    }

    /// Somebody wants to know of it when it is over.
    pub(crate) fn watch(&mut self, watched: Option<Box<Watched>>) {
        self.watched = watched;
    }

    /// It is counted when it is over.
    pub(crate) fn measure(&mut self, measured: Option<Measured>) {
        self.measured = measured;
    }

    /// Nothing is asked of it for a while.
    pub(crate) fn pause(&mut self) {
        if let Some(watched) = &mut self.watched {
            watched.pause();
        }
        if let Some(measured) = &mut self.measured {
            measured.pause();
        }
    }

    /// It is asked for rows again.
    pub(crate) fn resume(&mut self) {
        if let Some(watched) = &mut self.watched {
            watched.resume();
        }
        if let Some(measured) = &mut self.measured {
            measured.resume();
        }
    }

    fn advance(&self, guard: Option<&Guard<'_>>) -> Result<bool> {
        let mut source = self.state.source.borrow_mut();
        let more = match &mut *source {
            Source::Live { fresh: fresh @ true, .. } => {
                *fresh = false;
                return Ok(true);
            }
            Source::Live { statement, .. } => {
                if !self.interrupter.is_armed() {
                    self.interrupter.arm(std::time::Duration::ZERO);
                }
                self.interrupter.supervise();
                errors::clear();
                match statement.step() {
                    Ok(step) => Ok(step == Step::Row),
                    Err(failure) => Err(errors::translate(&failure, &self.interrupter, Some(&self.plan))),
                }
            }
            Source::Spooled(reader) => reader.advance(),
            Source::Upstream(rows) => {
                if !self.interrupter.is_armed() {
                    self.interrupter.arm(std::time::Duration::ZERO);
                }
                rows.advance()
            }
            Source::Done => Ok(false),
            Source::Closed(error) => Err(error.clone()),
        };
        if !matches!(more, Ok(true)) {
            self.interrupter.disarm();
            let ended = match &more {
                Err(error) => Source::Closed(error.clone()),
                _ => Source::Done,
            };
            let before = std::mem::replace(&mut *source, ended);
            if let (Some(handle), Source::Live { key, statement, .. }) = (guard, before) {
                handle.put_back(key, statement);
            }
        }
        more
    }

    /// Reads all of its rows ahead, so that it outlives its transaction.
    ///
    /// # Errors
    /// Whatever the statement fails with.
    pub fn read_ahead(&mut self) -> Result<()> {
        if let Source::Upstream(rows) = &*self.state.source.borrow() {
            return rows.read_ahead();
        }
        let Some(handle) = &self.handle else { return Ok(()) };
        self.state.materialise(&handle.lock(), &self.interrupter)?;
        match self.state.failure() {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    /// How many rows INSERT, UPDATE or DELETE changed; all of them are changed before the first row is returned.
    pub fn rows_affected(&self) -> u64 {
        self.rows_affected
    }
}

/// It is over, and has changed so many rows.
fn tell(watched: &mut Option<Box<Watched>>, measured: &mut Option<Measured>, changed: u64) {
    if let Some(watched) = watched.take() {
        watched.finish(changed);
    }
    if let Some(measured) = measured.take() {
        measured.finish(changed);
    }
}

impl Drop for Cursor {
    fn drop(&mut self) {
        let guard = self.handle.as_ref().map(SharedHandle::lock);
        let before = std::mem::replace(&mut *self.state.source.borrow_mut(), Source::Done);
        if let (Some(handle), Source::Live { key, statement, .. }) = (guard, before) {
            self.interrupter.disarm();
            handle.put_back(key, statement);
        }
        tell(&mut self.watched, &mut self.measured, self.rows_affected);
    }
}

impl CursorState {
    /// True while the back end's statement is running for it. The caller holds the handle's lock, as for all of these.
    pub fn is_live(&self) -> bool {
        // One that is being stepped at this moment has called a routine, on whose behalf this is asked.
        self.source.try_borrow().is_ok_and(|source| matches!(&*source, Source::Live { .. }))
    }

    /// Reads all remaining rows ahead, so that the statement no longer runs.
    pub fn materialise(&self, handle: &Guard<'_>, interrupter: &Interrupter) -> Result<()> {
        let mut source = self.source.borrow_mut();
        let Source::Live { statement, fresh, .. } = &mut *source else { return Ok(()) };
        let columns = statement.columns();
        let mut spool = Spool::new(columns);
        let mut row = *fresh;
        let result = loop {
            if row && let Err(error) = spool.push((0..columns).map(|index| statement.column(index))) {
                break Err(error);
            }
            match statement.step() {
                Ok(Step::Row) => row = true,
                Ok(Step::Done) => break Ok(()),
                Err(failure) => break Err(errors::translate(&failure, interrupter, None)),
            }
        };
        let ended = match result.and_then(|()| spool.into_reader()) {
            Ok(reader) => Source::Spooled(reader),
            // It is this cursor's failure, to be told when its next row is asked for.
            Err(error) => Source::Closed(error),
        };
        if let Source::Live { key, statement, .. } = std::mem::replace(&mut *source, ended) {
            handle.put_back(key, statement);
        }
        if interrupter.must_stop() { Err(interrupter.error()) } else { Ok(()) }
    }

    /// With what it has failed.
    pub fn failure(&self) -> Option<Error> {
        match &*self.source.borrow() {
            Source::Closed(error) => Some(error.clone()),
            _ => None,
        }
    }

    /// Closes it: its transaction is over.
    pub fn close(&self, handle: &Guard<'_>) {
        let mut source = self.source.borrow_mut();
        if matches!(&*source, Source::Done | Source::Closed(_)) {
            return;
        }
        let error = Error::new(Condition::InvalidCursorName, "the cursor's transaction has ended");
        if let Source::Live { key, statement, .. } = std::mem::replace(&mut *source, Source::Closed(error)) {
            handle.put_back(key, statement);
        }
    }
}

impl Row<'_> {
    /// The number of columns.
    pub fn len(&self) -> usize {
        match &*self.source {
            Source::Live { statement, .. } => statement.columns(),
            Source::Spooled(reader) => reader.columns(),
            Source::Upstream(rows) => rows.columns(),
            Source::Done | Source::Closed(_) => 0,
        }
    }

    /// True for a row without columns.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A column's value, counted from 0.
    ///
    /// # Panics
    /// When there is no such column.
    #[inline]
    pub fn get(&self, column: usize) -> ValueRef<'_> {
        match &*self.source {
            Source::Live { statement, .. } => {
                assert!(column < statement.columns(), "column {column} of {}", statement.columns());
                statement.column(column)
            }
            Source::Spooled(reader) => reader.column(column),
            Source::Upstream(rows) => rows.column(column),
            Source::Done | Source::Closed(_) => ValueRef::Null,
        }
    }
}
