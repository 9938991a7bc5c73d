//! Changes of tables that have triggers, whole.

use std::sync::Arc;

use rowferry_dialect::ir::{TriggerEvent, TriggerLevel, TriggerTime, Value};
use rowferry_dialect::schema::Relation;
use rowferry_dialect::{Language, Result};

use super::super::execute::RunError;
use super::super::transaction::Block;
use super::super::{Prepared, Session};
use super::queue::Event;
use super::{Changes, Firing, Referential};
use crate::spool::Spool;

/// A row's own number is that of a column.
fn is_row_numbered(relation: &Relation) -> bool {
    relation.columns.iter().any(|column| column.row_identity && column.identity.is_some())
}

impl Session {
    /// Runs a change, and tells its triggers: the rows of RETURNING, and how many rows have been changed.
    pub(in super::super) fn change_under_triggers(
        &mut self,
        plan: &Arc<Prepared>,
        firing: &Firing,
        params: &[Value],
    ) -> Result<(Spool, u64)> {
        if let Some(mut changes) = self.batch.take() {
            let before = changes.changed;
            let result =
                self.as_part_of_transaction(|session| session.make_changes(plan, firing, params, &mut changes));
            let changed = changes.changed - before;
            self.note_rowid(&changes);
            self.batch = Some(changes);
            return result.map(|()| (Spool::new(plan.bound.columns.len()), changed));
        }
        let run = |session: &mut Self| {
            session.as_part_of_transaction(|session| {
                let mut changes = session.start_changes(plan, firing)?;
                session.make_changes(plan, firing, params, &mut changes)?;
                session.finish_changes(firing, changes)
            })
        };
        // What a foreign key, or a part of a statement, changes is that statement's.
        let changes = if self.referential.held.is_some() { run(self)? } else { self.as_statement(plan, run)? };
        self.note_rowid(&changes);
        Ok((changes.returned, changes.changed))
    }

    /// The rows to come are one statement for triggers, until [`Session::end_rows`].
    ///
    /// # Errors
    /// Those of BEFORE triggers.
    pub fn begin_rows(&mut self, plan: &Arc<Prepared>) -> Result<()> {
        self.batch = None;
        self.referential = Referential::default();
        if plan.in_parts {
            // Each row is a statement for its partition; those who are told of the whole are told now.
            let firing = Firing::of_copied();
            self.open_write("COPY FROM")?;
            self.referential.held = Some(Vec::new());
            self.referential.rows_follow = true;
            return self.as_part_of_transaction(|session| session.start_changes(plan, &firing)).map(drop);
        }
        let Some(firing) = plan.triggers.clone().filter(|firing| !firing.there) else { return Ok(()) };
        self.open_write("COPY FROM")?;
        let changes = self.as_part_of_transaction(|session| session.start_changes(plan, &firing))?;
        self.batch = Some(Box::new(changes));
        Ok(())
    }

    /// All rows have come.
    ///
    /// # Errors
    /// Those of AFTER triggers.
    pub fn end_rows(&mut self, plan: &Arc<Prepared>) -> Result<()> {
        if let Some((changes, firing)) = self.batch.take().zip(plan.triggers.clone()) {
            self.as_part_of_transaction(|session| session.finish_changes(&firing, *changes))?;
        }
        if self.referential.rows_follow {
            self.as_part_of_transaction(|session| session.tell_of_copied(plan, &Firing::of_copied()))?;
        }
        self.finish_copy();
        Ok(())
    }

    /// The rows have failed, or are all told of.
    pub fn forget_rows(&mut self) {
        self.batch = None;
        self.referential = Referential::default();
        self.end_copy();
    }

    /// TRUNCATE, and the triggers around it.
    pub(in super::super) fn truncate_under_triggers(
        &mut self,
        tables: &[Arc<Relation>],
        truncate: impl FnOnce(&mut Self) -> Result<()>,
    ) -> Result<()> {
        if tables.iter().all(|table| table.triggers.is_empty()) {
            return truncate(self);
        }
        self.as_part_of_transaction(|session| {
            session.tell_of_truncate(tables, TriggerTime::Before)?;
            truncate(session)?;
            session.tell_of_truncate(tables, TriggerTime::After)
        })
    }

    fn tell_of_truncate(&mut self, tables: &[Arc<Relation>], time: TriggerTime) -> Result<()> {
        let event = TriggerEvent::Truncate;
        for relation in tables {
            for trigger in self.due(relation, time, TriggerLevel::Statement, event, &[]) {
                if self.condition_holds(relation, &trigger, None, None)? {
                    self.fire(&Event::of_statement(trigger, relation.clone(), event, None))?;
                }
            }
        }
        Ok(())
    }

    /// The tables that a TRUNCATE empties.
    pub(in super::super) fn truncated(&self, tables: &[Arc<Relation>], cascade: bool) -> Vec<Arc<Relation>> {
        let mut all = tables.to_vec();
        let mut at = 0;
        while cascade && at < all.len() {
            let parent = all[at].clone();
            for child in self.schema.referring(&parent) {
                if !all.iter().any(|known| known.oid == child.oid) {
                    all.push(child);
                }
            }
            at += 1;
        }
        all
    }

    fn make_changes(
        &mut self,
        plan: &Arc<Prepared>,
        firing: &Firing,
        params: &[Value],
        changes: &mut Changes,
    ) -> Result<()> {
        if firing.steps.is_some() {
            changes.by_rows = true;
            let changed = self.change_by_rows(firing, params, changes);
            return changed.map_err(|error| self.with_unfitting(error, plan, params));
        }
        if let Some(there) = &plan.upstream {
            let (rows, number) = self.change_whole_upstream(plan, there, params)?;
            changes.changed += rows;
            changes.last_rowid = number.or(changes.last_rowid);
            return Ok(());
        }
        let run = |session: &mut Self| {
            let statement = session.start(plan, params)?;
            session.read_all_of(plan, statement)
        };
        let returned = run(self).map_err(|error| match error {
            RunError::Other(error) => error,
            RunError::Failed(failure) => self.translate(&failure, plan, params),
        })?;
        // In a statement in parts a run is one row's.
        changes.add_returned(returned)?;
        let handle = self.handle()?;
        let guard = handle.lock();
        changes.changed += guard.changes();
        changes.last_rowid = Some(guard.last_identity_given());
        Ok(())
    }

    fn note_rowid(&mut self, changes: &Changes) {
        let numbered = changes.relation.columns.iter().any(|column| column.identity.is_some());
        let numbered = numbered && (self.line().is_some() || is_row_numbered(&changes.relation));
        let Some(rowid) = changes.last_rowid.filter(|_| numbered) else { return };
        let before = self.last_serial();
        self.note_serial(changes.relation.oid, rowid);
        // LAST_INSERT_ID() is of rows that have numbered themselves.
        if self.language() == Language::Mysql && changes.by_rows && !changes.first_numbered {
            self.state.sequences.lock().serial = before;
        }
    }

    /// Outside a block a statement is a transaction of its own, to which belongs what its triggers do.
    pub(in super::super) fn as_part_of_transaction<T>(
        &mut self,
        run: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        if self.transaction.block != Block::None {
            return run(self);
        }
        self.transaction.block = Block::Implicit;
        let result = run(self);
        self.transaction.block = Block::None;
        result
    }
}
