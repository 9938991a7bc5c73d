//! An INSERT that runs for each of many rows, without what a statement begins and ends with: the rows of a COPY FROM.

use std::borrow::Cow;
use std::sync::Arc;

use rowferry_dialect::Result;
use rowferry_dialect::ir::{DmlAction, Statement as Ir, Value};
use rowferry_dialect::values::Settings;

use super::transaction::{Block, Open};
use super::{Prepared, Session};
use crate::backend::{Failure, Statement, Step, errors};

/// The statement of the back end, ready for the next row.
#[derive(Debug)]
pub struct Each {
    plan: Arc<Prepared>,
    statement: Statement,
    settings: Arc<Settings>,
}

impl Session {
    /// Holds an INSERT ready that [`Session::execute`] has just run within a transaction. `None` when there is more to a
    /// row than the back end's own statement (triggers, rows that are returned, partitions): then each is a statement.
    ///
    /// Until [`Session::end_each`] the session does nothing else.
    pub fn begin_each(&mut self, prepared: &Arc<Prepared>) -> Result<Option<Each>> {
        let plan = self.renew(prepared)?;
        let inserts = matches!(&plan.bound.statement, Ir::Dml(dml) if matches!(dml.action, DmlAction::Insert { .. }));
        let is_plain = inserts && plan.bound.columns.is_empty() && plan.triggers.is_none() && !plan.in_parts;
        let is_open = self.transaction.block != Block::None && matches!(self.transaction.open, Open::Write { .. });
        if !is_plain || !is_open || plan.direct.is_some() || self.inner || self.language().undoes_statements() {
            return Ok(None);
        }
        let Some(program) = &plan.program else { return Ok(None) };
        let handle = self.handle()?;
        let Ok(statement) = handle.lock().start(plan.id, program, &self.state) else { return Ok(None) };
        let timeout = self.state.variables.read().statement_timeout();
        self.interrupter.arm(timeout);
        let settings = self.state.settings();
        Ok(Some(Each { plan, statement, settings }))
    }

    /// Inserts one more row; how many are there in the end: one, or none where a condition leaves it out.
    ///
    /// # Errors
    /// Those of [`Session::execute`], with the same effects on the transaction.
    pub fn execute_each(&mut self, each: &mut Each, row: &[Value]) -> Result<u64> {
        let inserted = self.insert_one(each, row).map_err(|error| {
            self.without_hidden_values(error, &super::identity::changed_columns(&each.plan.bound.statement))
        });
        if inserted.is_err() {
            self.statement_failed();
        }
        inserted
    }

    fn insert_one(&mut self, each: &mut Each, row: &[Value]) -> Result<u64> {
        if self.interrupter.must_stop() {
            return Err(self.interrupter.error());
        }
        let handle = self.handle()?;
        loop {
            errors::clear();
            let guard = handle.lock();
            let failure = match step(each, row)? {
                Ok(()) => {
                    let changes = guard.changes();
                    drop(guard);
                    self.check_now()?;
                    self.note_waiting_keys(&each.plan, changes);
                    return Ok(changes);
                }
                Err(failure) => failure,
            };
            drop(guard);
            let error = self.translate(&failure, &each.plan, row);
            // It runs again when it has met rows that others had locked.
            if !self.settle_rows(&each.plan, false, false)? {
                return Err(error);
            }
        }
    }

    /// No more rows come, or one has failed. The locks learn of those that were inserted.
    pub fn end_each(&mut self, each: Each) -> Result<()> {
        let Each { plan, statement, .. } = each;
        let handle = self.handle()?;
        let guard = handle.lock();
        guard.put_back(plan.id, statement);
        if self.transaction.failed {
            // What the rows before the one that failed have changed goes with them.
            guard.drain_changes(|_, _, _| {});
        }
        drop(guard);
        self.interrupter.disarm();
        self.sync_variables();
        if self.transaction.failed {
            return Ok(());
        }
        self.settle_rows(&plan, false, true)?;
        self.remember_serial(&plan)?;
        self.publish_activity();
        Ok(())
    }
}

/// Runs the statement with a row's values.
fn step(each: &mut Each, row: &[Value]) -> Result<std::result::Result<(), Failure>> {
    let Each { plan, statement, settings } = each;
    let params = plan.program.as_ref().map(|program| program.params.as_slice()).unwrap_or_default();
    for (index, used) in params.iter().enumerate() {
        let bound = match used.form.apply(&row[used.param], settings)? {
            // SAFETY: the row lives until the statement has run and was reset, below; its bindings are replaced by the
            // next row's, or cleared when it is put back.
            Cow::Borrowed(value) => unsafe { statement.bind_borrowed(index + 1, value) },
            Cow::Owned(value) => statement.bind(index + 1, &value),
        };
        if let Err(failure) = bound {
            return Ok(Err(failure));
        }
    }
    loop {
        match statement.step() {
            Ok(Step::Row) => {}
            Ok(Step::Done) => return Ok(statement.reset()),
            Err(failure) => return Ok(Err(failure)),
        }
    }
}
