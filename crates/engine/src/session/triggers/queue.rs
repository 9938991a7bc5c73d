//! What one statement has changed, and whom it will tell when it is done.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use parking_lot::Mutex;
use rowferry_dialect::ir::{Statement, TriggerEvent, TriggerLevel, TriggerTime, Value};
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
    /// For one that waits for the statement's end: what it has gathered.
    pub gathered: Option<Told>,
}

/// What a statement has gathered, and for the how-manieth time a trigger is due.
#[derive(Clone, Debug)]
pub(crate) struct Told {
    gathered: Arc<Gathered>,
    turn: u32,
}

/// What a statement, together with those that foreign keys make of it and that its WITH has, does to a table by an event: for
/// the table's statement triggers and transition tables it is one.
#[derive(Debug)]
pub(super) struct Gathered {
    relation: u32,
    event: TriggerEvent,
    state: Mutex<Gathering>,
}

#[derive(Debug, Default)]
struct Gathering {
    /// BEFORE triggers that have been told.
    before: HashSet<u32>,
    /// How often AFTER triggers have become due: only the last time counts.
    after: HashMap<u32, u32>,
    /// The rows, where triggers want them.
    rows: Transition,
    /// A trigger has seen the rows: what follows is another table.
    closed: bool,
}

impl Gathered {
    /// A BEFORE trigger is to be told; false where it knows already.
    fn tells_before(&self, trigger: &Trigger) -> bool {
        self.state.lock().before.insert(trigger.oid)
    }

    /// An AFTER trigger is due, and not when it was due before.
    fn next_turn(&self, trigger: &Trigger) -> u32 {
        let mut state = self.state.lock();
        let turn = state.after.entry(trigger.oid).or_default();
        *turn += 1;
        *turn
    }
}

/// What one statement has changed.
#[derive(Debug)]
pub(in super::super) struct Changes {
    pub(super) relation: Arc<Relation>,
    /// Calls that wait for the statement's end.
    pub(super) queue: Vec<Event>,
    /// Those of the statements that foreign keys have made of it; they come last.
    pub(super) below: Vec<Changes>,
    /// Rows that the statement has written.
    pub(super) written: HashSet<i64>,
    /// Rows that a BEFORE trigger has kept from being changed.
    pub(super) kept: u64,
    /// The statement is a MERGE.
    pub(in super::super) merges: bool,
    /// A trigger has changed rows while the statement ran.
    pub(super) meddled: bool,
    /// RETURNING.
    pub(in super::super) returned: Spool,
    /// Rows changed.
    pub(in super::super) changed: u64,
    /// The rowid of the last row inserted.
    pub(in super::super) last_rowid: Option<i64>,
    /// It is that of a row which has numbered itself.
    pub(in super::super) first_numbered: bool,
    /// A number that the last row was to have, which has not become one: MySQL's next row has it.
    pub(super) spare: Option<i64>,
    /// They are written one by one.
    pub(in super::super) by_rows: bool,
}

/// The rows of a statement, as its triggers see them.
#[derive(Clone, Debug, Default)]
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
            written: HashSet::new(),
            kept: 0,
            merges: false,
            meddled: false,
            returned: Spool::new(returned),
            changed: 0,
            last_rowid: None,
            first_numbered: false,
            spare: None,
            by_rows: false,
        }
    }

    /// Takes out the calls that wait, with what they need.
    fn take_calls(&mut self) -> Self {
        let mut calls = Self::of(self.relation.clone(), 0);
        calls.queue = std::mem::take(&mut self.queue);
        calls.below = std::mem::take(&mut self.below);
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
            Statement::Dml(dml) => dml.target.clone(),
            _ => return Err(rowferry_dialect::Error::internal("a change without its table")),
        };
        let changes = Changes::of(relation.clone(), plan.bound.columns.len());
        for event in firing.events.iter().filter(|_| firing.heir.is_none()) {
            let due = self.due(&relation, TriggerTime::Before, TriggerLevel::Statement, *event, &firing.assigned);
            if due.is_empty() {
                continue;
            }
            let gathered = self.gathered(relation.oid, *event);
            for trigger in due.into_iter().filter(|trigger| gathered.tells_before(trigger)) {
                if self.condition_holds(&relation, &trigger, None, None)? {
                    self.fire(&Event::of_statement(trigger, relation.clone(), *event, None))?;
                }
            }
        }
        Ok(changes)
    }

    /// What the statement does to a table by an event.
    fn gathered(&mut self, relation: u32, event: TriggerEvent) -> Arc<Gathered> {
        let open =
            |known: &&Arc<Gathered>| known.relation == relation && known.event == event && !known.state.lock().closed;
        if let Some(known) = self.referential.gathered.iter().find(open) {
            return known.clone();
        }
        let gathered = Arc::new(Gathered { relation, event, state: Mutex::default() });
        self.referential.gathered.push(gathered.clone());
        gathered
    }

    /// A change of a table goes on.
    pub(in super::super) fn is_in_use(&self, table: &Relation) -> bool {
        self.in_use.contains(&table.oid)
    }

    /// Runs a change of a table that is none of those that foreign keys make of another.
    pub(in super::super) fn as_statement<T, E>(
        &mut self,
        plan: &Prepared,
        run: impl FnOnce(&mut Self) -> std::result::Result<T, E>,
    ) -> std::result::Result<T, E> {
        let outer = std::mem::take(&mut self.referential);
        let count = self.in_use.len();
        self.in_use.extend(match &plan.bound.statement {
            Statement::Dml(dml) => Some(dml.target.oid),
            Statement::Merge(merge) => Some(merge.target.oid),
            _ => None,
        });
        let result = run(self);
        self.in_use.truncate(count);
        self.referential = outer;
        result
    }

    /// What a row of a change with several actions has left: calls that wait, in the order of the rows, and what RETURNING
    /// makes of it.
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

    /// A change with several actions is done: tells everybody who waits for its end, rows first.
    pub(in super::super) fn finish_actions<'f>(
        &mut self,
        actions: impl Iterator<Item = (&'f Firing, Changes)>,
        waiting: Vec<Event>,
    ) -> Result<()> {
        let mut actions: Vec<(&Firing, Changes)> = actions.collect();
        let Some((_, first)) = actions.first() else { return Ok(()) };
        let mut all = Changes::of(first.relation.clone(), 0);
        all.queue = waiting;
        actions.sort_by_key(|(firing, _)| std::cmp::Reverse(order(firing.events.first())));
        for (firing, mut changes) in actions {
            self.queue_statement_triggers(firing, &mut changes)?;
            all.queue.append(&mut changes.queue);
            all.below.append(&mut changes.below);
        }
        self.tell_at_the_end(&mut all)
    }

    /// Tells everybody who waits for the statement's end.
    pub(in super::super) fn finish_changes(&mut self, firing: &Firing, mut changes: Changes) -> Result<Changes> {
        self.queue_statement_triggers(firing, &mut changes)?;
        self.tell_at_the_end(&mut changes)?;
        Ok(changes)
    }

    fn tell_at_the_end(&mut self, changes: &mut Changes) -> Result<()> {
        match &mut self.referential.held {
            Some(_) if changes.queue.is_empty() && changes.below.is_empty() => {}
            Some(held) => held.push(changes.take_calls()),
            None => self.tell(changes)?,
        }
        Ok(())
    }

    /// Tells nobody before all parts of a statement have run.
    pub(in super::super) fn telling_at_the_end<T, E: From<Error>>(
        &mut self,
        run: impl FnOnce(&mut Self) -> std::result::Result<T, E>,
    ) -> std::result::Result<T, E> {
        if self.referential.held.is_some() {
            return run(self);
        }
        self.referential.held = Some(Vec::new());
        let result = run(self);
        let held = self.referential.held.take();
        let value = result?;
        for mut changes in held.into_iter().flatten() {
            self.tell(&mut changes)?;
        }
        Ok(value)
    }

    pub(super) fn queue_statement_triggers(&mut self, firing: &Firing, changes: &mut Changes) -> Result<()> {
        let relation = changes.relation.clone();
        if self.referential.rows_follow {
            return Ok(());
        }
        // DO UPDATE's come before the INSERT's own.
        for event in firing.events.iter().rev().filter(|_| firing.heir.is_none()) {
            let due = self.due(&relation, TriggerTime::After, TriggerLevel::Statement, *event, &firing.assigned);
            if due.is_empty() {
                continue;
            }
            let gathered = self.gathered(relation.oid, *event);
            for trigger in due {
                if self.condition_holds(&relation, &trigger, None, None)? {
                    let told = Told { gathered: gathered.clone(), turn: gathered.next_turn(&trigger) };
                    changes.queue.push(Event::of_statement(trigger, relation.clone(), *event, Some(told)));
                }
            }
        }
        Ok(())
    }

    /// Rows that came one by one, each a statement for its partition, are all written.
    pub(super) fn tell_of_copied(&mut self, plan: &Prepared, firing: &Firing) -> Result<()> {
        let Statement::Dml(dml) = &plan.bound.statement else { return Ok(()) };
        let held = self.referential.held.take();
        self.referential.rows_follow = false;
        let mut all = Changes::of(dml.target.clone(), 0);
        for mut changes in held.into_iter().flatten() {
            all.queue.append(&mut changes.queue);
            all.below.append(&mut changes.below);
        }
        self.queue_statement_triggers(firing, &mut all)?;
        self.tell(&mut all)
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
            if event.is_over() {
                continue;
            }
            self.call_with_tables(&event)?;
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
        self.gather_row(firing, &relation, event, old.as_ref(), new.as_ref());
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
                let assigned = Vec::new();
                changes.queue.push(Event { trigger, relation, event, old, new, rowid, assigned, gathered: None });
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
                let (relation, old, new) = (relation.clone(), old.clone(), new.clone());
                let gathered = trigger
                    .has_transition_tables()
                    .then(|| Told { gathered: self.gathered(relation.oid, event), turn: 0 });
                let assigned = Vec::new();
                let at_once = trigger.mysql_body().is_some();
                let event = Event { trigger, relation, event, old, new, rowid, assigned, gathered };
                if at_once {
                    // Before the next row, as in MySQL.
                    self.fire(&event)?;
                } else {
                    changes.queue.push(event);
                }
            }
        }
        Ok(())
    }

    /// Keeps a row for those who want the statement's rows as tables, in the columns of the table that it names.
    fn gather_row(
        &mut self,
        firing: &Firing,
        relation: &Relation,
        event: TriggerEvent,
        old: Option<&Row>,
        new: Option<&Row>,
    ) {
        let (head, event) = match &firing.heir {
            Some(heir) => (&*heir.head, heir.event(event)),
            None => (relation, event),
        };
        if !head.shows_rows(event) {
            return;
        }
        let in_head = |row: &Row| match &firing.heir {
            None => row.clone(),
            Some(_) => super::super::routing::in_columns_of(head, relation, row),
        };
        let gathered = self.gathered(head.oid, event);
        let mut state = gathered.state.lock();
        state.rows.old.extend(old.map(in_head));
        state.rows.new.extend(new.map(in_head));
    }
}

/// In which order the BEFORE triggers of a statement's actions are told; AFTER triggers are told the other way round.
pub(in super::super) fn order(event: Option<&TriggerEvent>) -> u8 {
    match event {
        Some(TriggerEvent::Insert) => 0,
        Some(TriggerEvent::Update) => 1,
        _ => 2,
    }
}

impl Event {
    /// A statement trigger's.
    pub(super) const fn of_statement(
        trigger: Arc<Trigger>,
        relation: Arc<Relation>,
        event: TriggerEvent,
        gathered: Option<Told>,
    ) -> Self {
        Self { trigger, relation, event, old: None, new: None, rowid: None, assigned: Vec::new(), gathered }
    }

    /// The trigger is due again later.
    fn is_over(&self) -> bool {
        let due = |told: &Told| told.gathered.state.lock().after.get(&self.trigger.oid) == Some(&told.turn);
        self.trigger.level == TriggerLevel::Statement && self.gathered.as_ref().is_some_and(|told| !due(told))
    }

    /// The rows that the statement has changed until now; those that follow are others'.
    pub(super) fn rows(&self) -> Transition {
        let Some(told) = &self.gathered else { return Transition::default() };
        let mut state = told.gathered.state.lock();
        state.closed = true;
        state.rows.clone()
    }
}
