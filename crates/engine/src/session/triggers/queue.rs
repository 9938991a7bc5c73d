//! What one statement has changed, and whom it will tell when it is done.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use rowferry_dialect::ir::{TriggerEvent, TriggerLevel, TriggerTime, Value};
use rowferry_dialect::schema::{Relation, Trigger};
use rowferry_dialect::{Error, Result};

use super::super::{Prepared, Session};
use super::{Firing, exclusion};
use crate::spool::Spool;

/// A row: a value for each column, in the canonical form of its type.
pub(super) type Row = Arc<Vec<Value>>;

/// A call that is due.
#[derive(Clone, Debug)]
pub(crate) struct Event {
    pub trigger: Arc<Trigger>,
    pub relation: Arc<Relation>,
    pub event: TriggerEvent,
    pub old: Option<Row>,
    pub new: Option<Row>,
    /// The identity of the new row, where it is known.
    pub rowid: Option<i64>,
    /// The columns that SET names, for functions that are built in.
    pub assigned: Vec<usize>,
}

/// What one statement has changed.
#[derive(Debug)]
pub(in super::super) struct Changes {
    pub(super) relation: Arc<Relation>,
    /// Calls that wait for the statement's end.
    pub(super) queue: Vec<Event>,
    /// Those of the statements that foreign keys have made of it; they come last.
    pub(super) below: Vec<Changes>,
    /// Rows for transition tables, by event.
    pub(super) transition: HashMap<TriggerEvent, Transition>,
    /// Rows that the statement has written.
    pub(super) written: HashSet<i64>,
    /// Rows that a BEFORE trigger has kept from being changed.
    pub(super) kept: u64,
    /// A trigger has changed rows while the statement ran.
    pub(super) meddled: bool,
    /// RETURNING.
    pub(in super::super) returned: Spool,
    /// Rows changed.
    pub(in super::super) changed: u64,
    /// The rowid of the last row inserted.
    pub(in super::super) last_rowid: Option<i64>,
}

/// The rows of a statement, as its triggers see them.
#[derive(Debug, Default)]
pub(super) struct Transition {
    pub(super) old: Vec<Row>,
    pub(super) new: Vec<Row>,
}

impl Changes {
    /// Nothing yet, of a statement with so many columns of RETURNING.
    fn of(relation: Arc<Relation>, returned: usize) -> Self {
        Self {
            relation,
            queue: Vec::new(),
            below: Vec::new(),
            transition: HashMap::new(),
            written: HashSet::new(),
            kept: 0,
            meddled: false,
            returned: Spool::new(returned),
            changed: 0,
            last_rowid: None,
        }
    }

    /// Takes out the calls that wait, with what they need.
    fn take_calls(&mut self) -> Self {
        let mut calls = Self::of(self.relation.clone(), 0);
        calls.queue = std::mem::take(&mut self.queue);
        calls.below = std::mem::take(&mut self.below);
        calls.transition = std::mem::take(&mut self.transition);
        calls
    }

    /// Puts rows behind those that RETURNING has made before.
    pub(super) fn add_returned(&mut self, returned: Spool) -> Result<()> {
        if self.returned.rows() == 0 {
            self.returned = returned;
            return Ok(());
        }
        let mut rows = returned.into_reader()?;
        let width = rows.columns();
        while width > 0 && rows.advance()? {
            self.returned.push((0..width).map(|at| rows.column(at)))?;
        }
        Ok(())
    }
}

impl Session {
    /// Tells the statement triggers that a change is about to begin.
    pub(in super::super) fn start_changes(&mut self, plan: &Prepared, firing: &Firing) -> Result<Changes> {
        let relation = match &plan.bound.statement {
            rowferry_dialect::ir::Statement::Dml(dml) => dml.target.clone(),
            _ => return Err(rowferry_dialect::Error::internal("a change without its table")),
        };
        let changes = Changes::of(relation.clone(), plan.bound.columns.len());
        for event in firing.events.iter().filter(|_| !firing.heir) {
            for trigger in self.due(&relation, TriggerTime::Before, TriggerLevel::Statement, *event, &firing.assigned) {
                if self.condition_holds(&relation, &trigger, None, None)? {
                    let event = Event {
                        trigger,
                        relation: relation.clone(),
                        event: *event,
                        old: None,
                        new: None,
                        rowid: None,
                        assigned: Vec::new(),
                    };
                    self.fire(&event)?;
                }
            }
        }
        Ok(changes)
    }

    /// The changes of a family's members are those of one statement: what waits for its end waits behind the first's.
    ///
    /// # Errors
    /// Those of the rows that RETURNING has kept.
    pub(in super::super) fn join_changes(head: &mut Changes, heir: Changes) -> Result<()> {
        head.queue.extend(heir.queue);
        head.below.extend(heir.below);
        head.add_returned(heir.returned)
    }

    /// What a row of a routed change has left: calls that wait, in the order of the rows, and what RETURNING makes of it.
    ///
    /// # Errors
    /// Those of the rows that RETURNING has kept.
    pub(in super::super) fn hand_over(changes: &mut Changes, waiting: &mut Vec<Event>, to: &mut Spool) -> Result<()> {
        waiting.append(&mut changes.queue);
        if changes.returned.rows() == 0 {
            return Ok(());
        }
        let returned = std::mem::replace(&mut changes.returned, Spool::new(0));
        let mut rows = returned.into_reader()?;
        let width = rows.columns();
        changes.returned = Spool::new(width);
        while rows.advance()? {
            to.push((0..width).map(|at| rows.column(at)))?;
        }
        Ok(())
    }

    /// The calls that wait for a routed change are one statement's.
    pub(in super::super) fn take_up(changes: &mut Changes, waiting: Vec<Event>) {
        changes.queue = waiting;
    }

    /// Tells everybody who waits for the statement's end.
    pub(in super::super) fn finish_changes(&mut self, firing: &Firing, mut changes: Changes) -> Result<Changes> {
        self.queue_statement_triggers(firing, &mut changes)?;
        match &mut self.referential.held {
            Some(held) => held.push(changes.take_calls()),
            None => self.tell(&mut changes)?,
        }
        Ok(changes)
    }

    pub(super) fn queue_statement_triggers(&mut self, firing: &Firing, changes: &mut Changes) -> Result<()> {
        let relation = changes.relation.clone();
        // DO UPDATE's come before the INSERT's own.
        for event in firing.events.iter().rev().filter(|_| !firing.heir) {
            for trigger in self.due(&relation, TriggerTime::After, TriggerLevel::Statement, *event, &firing.assigned) {
                if self.condition_holds(&relation, &trigger, None, None)? {
                    let relation = relation.clone();
                    changes.queue.push(Event {
                        trigger,
                        relation,
                        event: *event,
                        old: None,
                        new: None,
                        rowid: None,
                        assigned: Vec::new(),
                    });
                }
            }
        }
        Ok(())
    }

    /// Makes the calls that wait, those of foreign keys' statements last.
    fn tell(&mut self, changes: &mut Changes) -> Result<()> {
        for event in std::mem::take(&mut changes.queue) {
            if event.trigger.level == TriggerLevel::Row && self.is_deferred(&event.trigger) {
                self.state.deferred.lock().push(event);
                continue;
            }
            if let Some(below) = self.change_referring(&event)? {
                changes.below.extend(below);
                continue;
            }
            self.call_with_tables(&event, changes.transition.get(&event.event))?;
        }
        for mut below in std::mem::take(&mut changes.below) {
            self.tell(&mut below)?;
        }
        Ok(())
    }

    /// Notes a row that has been written: for the triggers that wait for the end, and their tables.
    pub(super) fn note_row(
        &mut self,
        firing: &Firing,
        changes: &mut Changes,
        event: TriggerEvent,
        old: Option<Row>,
        new: Option<Row>,
        rowid: &Value,
    ) -> Result<()> {
        let relation = changes.relation.clone();
        let level = TriggerLevel::Row;
        let rowid = if let Value::Integer(rowid) = rowid { Some(*rowid) } else { None };
        let due = self.due(&relation, TriggerTime::After, level, event, &firing.assigned);
        // An EXCLUDE stands before all triggers that somebody has made.
        let (excludes, triggers): (Vec<_>, Vec<_>) =
            due.into_iter().partition(|trigger| exclusion::index_of(&relation, trigger).is_some());
        for trigger in excludes {
            let Some(row) = rowid else { return Err(Error::internal("a row without rowid")) };
            if trigger.constraint.is_none() {
                self.ask_exclusion(&relation, &trigger, row)?;
            } else if self.is_excluded(&relation, &trigger, row)? {
                let (old, new, relation) = (old.clone(), new.clone(), relation.clone());
                changes.queue.push(Event { trigger, relation, event, old, new, rowid, assigned: Vec::new() });
            }
        }
        if let Some(old) = &old {
            self.note_referred(&firing.referred, changes, event, old, new.as_ref());
        }
        for trigger in triggers {
            if !self.may_refer(&trigger, &relation, old.as_ref(), new.as_ref()) {
                continue;
            }
            if self.condition_holds(&relation, &trigger, old.as_deref(), new.as_deref())? {
                let (old, new) = (old.clone(), new.clone());
                changes.queue.push(Event {
                    trigger,
                    relation: relation.clone(),
                    event,
                    old,
                    new,
                    rowid,
                    assigned: Vec::new(),
                });
            }
        }
        let wanted = |trigger: &Arc<Trigger>| trigger.has_transition_tables() && trigger.waits_for(event);
        if relation.triggers.iter().any(wanted) {
            let transition = changes.transition.entry(event).or_default();
            transition.old.extend(old);
            transition.new.extend(new);
        }
        Ok(())
    }
}
