//! Foreign keys that the engine keeps.
//!
//! | a row of the table that | is | becomes due | and when it is time |
//! |---|---|---|---|
//! | refers | written, with another key | a question | refused, if no row has what it refers to and it is still there |
//! | is referred to | deleted, or gets another key | a question (NO ACTION, RESTRICT) | refused, if rows still refer to it |
//! | | | a change (the other actions) | a statement on the table that refers |
//!
//! What PostgreSQL does by triggers of its own is done by the same statements, which ask nobody for privileges or policies.
//! What a change of that kind makes due waits behind what was due before it.

use std::collections::HashSet;
use std::sync::Arc;

use rowferry_dialect::ir::{ReferentialChange, TriggerEvent, TriggerLevel, TriggerState, TriggerTime, Value};
use rowferry_dialect::postgres::quote_ident as quote;
use rowferry_dialect::schema::{
    Column, ConstraintTrigger, ForeignKey, ReferentialAction, Relation, Trigger, TriggerKey,
};
use rowferry_dialect::{Condition, Error, Result, Schema as _, Type};

use super::super::ddl::constraints::{mixed_nulls, not_present, shown};
use super::super::execute::RunError;
use super::super::{Prepared, Session};
use super::queue::{Changes, Event, Gathered, Row};
use crate::catalog::describe::target_columns;
use crate::schema::SessionSchema;

/// What a session has in hand of foreign keys while a statement runs.
#[derive(Debug, Default)]
pub(in super::super) struct Referential {
    /// What statements of foreign keys, and the parts of a statement, have made due: whoever has run them tells of it.
    pub(super) held: Option<Vec<Changes>>,
    /// What the statement does, by table and event.
    pub(super) gathered: Vec<Arc<Gathered>>,
    /// Its rows come one by one, and there are more.
    pub(super) rows_follow: bool,
    /// A row is on its way from one partition to another.
    pub(in super::super) moving: Option<Moving>,
}

/// A row that leaves a partition for another.
#[derive(Debug)]
pub(in super::super) struct Moving {
    /// The foreign keys for which that is an UPDATE of the whole table.
    keys: HashSet<u32>,
    /// The partition that it leaves.
    from: u32,
    /// The row as it was, once it has left.
    old: Option<Row>,
}

/// The statements that a foreign key has the engine run.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum KeyStatement {
    /// A row that is referred to.
    Parent,
    /// A row that refers.
    Child,
    /// A row that is referred to, asked at the table where it was.
    Again,
    /// A row that refers, asked there.
    Referring,
    /// What an event changes in the table that refers.
    Change(TriggerEvent),
}

/// The triggers of foreign keys at a table that is referred to, for the events that matter.
pub(super) fn referred(schema: &SessionSchema, relation: &Arc<Relation>, events: &[TriggerEvent]) -> Vec<Arc<Trigger>> {
    let wanted: Vec<TriggerEvent> =
        events.iter().copied().filter(|event| matches!(event, TriggerEvent::Delete | TriggerEvent::Update)).collect();
    if wanted.is_empty() {
        return Vec::new();
    }
    let keys = schema.keys_by_engine(relation);
    let asked = keys.iter().filter(|(_, key)| !key.disabled.there);
    let triggers = asked.flat_map(|(_, key)| wanted.iter().map(|event| Arc::new(trigger(key, *event))));
    triggers.collect()
}

fn trigger(key: &ForeignKey, event: TriggerEvent) -> Trigger {
    let waits = (key.rules.deferrable || key.rules.deferred) && action(key, event) == ReferentialAction::NoAction;
    Trigger {
        oid: key.oid,
        name: format!("RI_ConstraintTrigger_a_{}", key.oid),
        function: 0,
        time: TriggerTime::After,
        level: TriggerLevel::Row,
        events: event.bit(),
        columns: Vec::new(),
        condition: None,
        args: Vec::new(),
        old_table: None,
        new_table: None,
        constraint: waits.then_some(ConstraintTrigger { deferrable: true, deferred: key.rules.deferred, from: 0 }),
        state: TriggerState::Origin,
        comment: None,
        key: Some(TriggerKey::Referred(key.oid)),
    }
}

/// True when an UPDATE of columns may change what foreign keys refer to.
pub(super) fn touches(
    schema: &SessionSchema,
    relation: &Arc<Relation>,
    triggers: &[Arc<Trigger>],
    set: &[usize],
) -> bool {
    triggers.iter().any(|trigger| {
        let Some(TriggerKey::Referred(oid)) = trigger.key else { return false };
        trigger.waits_for(TriggerEvent::Update)
            && schema
                .foreign_key(oid)
                .is_some_and(|(_, key)| target_columns(relation, &key).iter().any(|at| set.contains(at)))
    })
}

const fn action(key: &ForeignKey, event: TriggerEvent) -> ReferentialAction {
    match event {
        TriggerEvent::Delete => key.rules.on_delete,
        _ => key.rules.on_update,
    }
}

fn values_of(row: &[Value], columns: &[usize]) -> Vec<Value> {
    columns.iter().map(|at| row[*at].clone()).collect()
}

impl Session {
    /// The rows of a COPY FROM are written to partitions, each by itself.
    pub(in super::super) const fn copies_into_parts(&self) -> bool {
        self.referential.rows_follow
    }

    /// Whether the row of a table that refers is to be asked about.
    pub(super) fn may_refer(
        &self,
        trigger: &Trigger,
        relation: &Relation,
        old: Option<&Row>,
        new: Option<&Row>,
    ) -> bool {
        let Some(TriggerKey::Refers(oid)) = trigger.key else { return true };
        let (Some(key), Some(new)) = (relation.foreign_keys.iter().find(|key| key.oid == oid), new) else {
            return false;
        };
        let values = values_of(new, &key.columns);
        let nulls = values.iter().filter(|value| **value == Value::Null).count();
        let refers = if key.rules.full { nulls < values.len() } else { nulls == 0 };
        // Who is asked at COMMIT is asked of the row as it then is, so that nothing that was due is lost.
        let same = old.is_some_and(|old| values_of(old, &key.columns) == values);
        refers && (!same || self.is_deferred(trigger))
    }

    /// What is due for a row that others may refer to.
    pub(super) fn note_referred(
        &mut self,
        triggers: &[Arc<Trigger>],
        changes: &mut Changes,
        event: TriggerEvent,
        old: &Row,
        new: Option<&Row>,
    ) {
        if triggers.is_empty() || self.state.variables.read().is_replica() {
            return;
        }
        let relation = changes.relation.clone();
        let mut moved = HashSet::new();
        if let Some(moving) = self.referential.moving.as_mut().filter(|moving| moving.from == relation.oid) {
            moving.old = Some(old.clone());
            moved.clone_from(&moving.keys);
        }
        for trigger in triggers.iter().filter(|trigger| trigger.waits_for(event) && !moved.contains(&trigger.oid)) {
            if let Some(event) = self.referred_event(trigger, &relation, event, old, new) {
                changes.queue.push(event);
            }
        }
    }

    fn referred_event(
        &self,
        trigger: &Arc<Trigger>,
        relation: &Arc<Relation>,
        event: TriggerEvent,
        old: &Row,
        new: Option<&Row>,
    ) -> Option<Event> {
        let (_, key) = self.schema.foreign_key(trigger.oid)?;
        let columns = target_columns(relation, &key);
        let before = values_of(old, &columns);
        let same = new.is_some_and(|new| values_of(new, &columns) == before);
        if same || before.contains(&Value::Null) {
            return None;
        }
        let (trigger, relation) = (trigger.clone(), relation.clone());
        let (old, new) = (Some(old.clone()), new.cloned());
        Some(Event { trigger, relation, event, old, new, rowid: None, assigned: Vec::new(), gathered: None })
    }

    /// A row begins to leave a partition of `head` for another.
    ///
    /// # Errors
    /// `0A000` where a foreign key leads to a table between the two: for it the row would be gone.
    pub(in super::super) fn begin_move(&mut self, from: &Arc<Relation>, head: &Arc<Relation>) -> Result<()> {
        let mut level = from.clone();
        while level.oid != head.oid {
            let Some(above) = rowferry_dialect::heritage::parents(&self.schema, &level).into_iter().next() else {
                break;
            };
            level = above;
            if level.oid != head.oid && self.schema.children(&level).next().is_some() {
                let message = "cannot move tuple across partitions when a non-root ancestor of the source partition is \
                               directly referenced in a foreign key";
                let detail = format!(
                    "A foreign key points to ancestor \"{}\" but not the root ancestor \"{}\".",
                    level.name, head.name
                );
                return Err(Error::new(Condition::FeatureNotSupported, message)
                    .detail(detail)
                    .hint(format!("Consider defining the foreign key on table \"{}\".", head.name)));
            }
        }
        let keys = self.schema.keys_by_engine(head).into_iter().map(|(_, key)| key.oid).collect();
        self.referential.moving = Some(Moving { keys, from: from.oid, old: None });
        Ok(())
    }

    /// The row has left: what is due for the whole table, whose row it was and is.
    pub(in super::super) fn end_move(&mut self, from: &Relation, head: &Arc<Relation>, new: &Row) -> Vec<Event> {
        let Some(old) = self.referential.moving.take().and_then(|moving| moving.old) else { return Vec::new() };
        let in_head = |column: &Column| from.column(&column.name).map_or(Value::Null, |at| old[at].clone());
        let old: Row = Arc::new(head.columns.iter().map(in_head).collect());
        let event = TriggerEvent::Update;
        let triggers = referred(&self.schema, head, &[event]);
        let due = triggers.iter().filter_map(|trigger| self.referred_event(trigger, head, event, &old, Some(new)));
        due.collect()
    }

    /// Whether a row that refers has what it refers to.
    pub(super) fn ask_reference(&mut self, event: &Event) -> Result<()> {
        let Some(TriggerKey::Refers(oid)) = event.trigger.key else { return Ok(()) };
        let relation = &event.relation;
        let (Some(key), Some(new)) = (relation.foreign_keys.iter().find(|key| key.oid == oid).cloned(), &event.new)
        else {
            return Ok(());
        };
        let Some(parent) = self.schema.relation(&key.target) else { return Ok(()) };
        let values = values_of(new, &key.columns);
        let types: Vec<Type> = key.columns.iter().map(|at| relation.columns[*at].ty.clone()).collect();
        if values.contains(&Value::Null) {
            return Err(mixed_nulls(relation, &key));
        }
        let place = (relation.oid, oid, KeyStatement::Parent);
        if self.finds(place, &types, &values, || row_with_key(&parent, &key.target_columns))? {
            return Ok(());
        }
        // It may have got another key since, or be gone.
        let place = (relation.oid, oid, KeyStatement::Child);
        if !self.finds(place, &types, &values, || referring_row(relation, &key, &parent))? {
            return Ok(());
        }
        if !self.may_see_rows(relation) {
            let detail = format!("Key is not present in table \"{}\".", parent.name);
            return Err(not_present(relation, &key, None).detail(detail));
        }
        Err(not_present(relation, &key, shown(&values, relation, &key.columns, &self.settings()).as_deref()))
    }

    /// Refuses to let a row go, or have another key, that others refer to.
    pub(super) fn ask_referred(&mut self, event: &Event) -> Result<()> {
        let Some(TriggerKey::Referred(oid)) = event.trigger.key else { return Ok(()) };
        let Some((child, key)) = self.schema.foreign_key(oid) else { return Ok(()) };
        let again = action(&key, event.event) != ReferentialAction::Restrict;
        self.refuse_referred(event, &child, &key, again)
    }

    /// The same; `again` says that another row may have got the key.
    fn refuse_referred(&mut self, event: &Event, child: &Relation, key: &ForeignKey, again: bool) -> Result<()> {
        let (oid, Some(old)) = (key.oid, &event.old) else { return Ok(()) };
        let relation = self.schema.relation_by_oid(event.relation.oid).unwrap_or_else(|| event.relation.clone());
        let Some(parent) = self.schema.relation(&key.target) else { return Ok(()) };
        let columns = target_columns(&relation, key);
        let values = values_of(old, &columns);
        let types: Vec<Type> = columns.iter().map(|at| relation.columns[*at].ty.clone()).collect();
        let place = (relation.oid, oid, KeyStatement::Referring);
        if !self.finds(place, &types, &values, || referring_row(child, key, &parent))? {
            return Ok(());
        }
        // Another row may have the key by now.
        let place = (relation.oid, oid, KeyStatement::Again);
        if again && self.finds(place, &types, &values, || row_with_key(&parent, &key.target_columns))? {
            return Ok(());
        }
        let message = format!(
            "update or delete on table \"{}\" violates foreign key constraint \"{}\" on table \"{}\"",
            relation.name,
            key.name_at(relation.oid),
            child.name
        );
        let names: Vec<&str> = columns.iter().map(|at| relation.columns[*at].name.as_str()).collect();
        let shown = shown(&values, &relation, &columns, &self.settings()).filter(|_| self.may_see_rows(&relation));
        let which = shown.map_or_else(|| "Key".to_owned(), |shown| format!("Key ({})=({shown})", names.join(", ")));
        Err(Error::new(Condition::ForeignKeyViolationByParent, message)
            .table(child.namespace.clone(), child.name.clone())
            .constraint(key.name_at(relation.oid))
            .detail(format!("{which} is still referenced from table \"{}\".", child.name)))
    }

    /// Changes the rows that refer to one that is gone or has another key; what that makes due. `None` where the call is
    /// about something else.
    pub(super) fn change_referring(&mut self, event: &Event) -> Result<Option<Vec<Changes>>> {
        let Some(TriggerKey::Referred(oid)) = event.trigger.key else { return Ok(None) };
        let (Some((child, key)), Some(old)) = (self.schema.foreign_key(oid), &event.old) else { return Ok(None) };
        let Some(change) = ReferentialChange::of(&key, event.event) else { return Ok(None) };
        let Some(parent) = self.schema.relation(&key.target) else { return Ok(None) };
        let relation = &event.relation;
        let columns = target_columns(relation, &key);
        let types: Vec<Type> = columns.iter().map(|at| relation.columns[*at].ty.clone()).collect();
        let mut params = values_of(old, &columns);
        let mut given = types.clone();
        if let (ReferentialChange::Follow, Some(new)) = (change, &event.new) {
            params.extend(values_of(new, &columns));
            given.extend(types);
        }
        let place = (relation.oid, oid, KeyStatement::Change(event.event));
        let plan = self.key_plan(place, &given, || change_of(&child, &key, &parent, change, event.event))?;
        let (outer, batch) = (self.referential.held.replace(Vec::new()), self.batch.take());
        let words = words_of(&child, &key, change, event.event);
        let result = self.as_statement_of_key(words, |session| session.run_key_change(&plan, &params));
        let held = std::mem::replace(&mut self.referential.held, outer);
        self.batch = batch;
        result?;
        // Rows that had the defaults already have not been written, and so nobody asks what they refer to.
        if change == ReferentialChange::SetDefault {
            self.refuse_referred(event, &child, &key, true)?;
        }
        Ok(held)
    }

    fn run_key_change(&mut self, plan: &Arc<Prepared>, params: &[Value]) -> Result<()> {
        if plan.in_parts {
            return match self.run_parts(plan, params) {
                Ok(_) => Ok(()),
                Err(RunError::Other(error)) => Err(error),
                Err(RunError::Failed(failure)) => Err(self.translate(&failure, plan, params)),
            };
        }
        match plan.triggers.clone() {
            Some(firing) => self.change_under_triggers(plan, &firing, params).map(drop),
            None => self.run_part(plan, params).map(drop),
        }
    }

    fn finds(
        &mut self,
        place: (u32, u32, KeyStatement),
        types: &[Type],
        values: &[Value],
        text: impl FnOnce() -> String,
    ) -> Result<bool> {
        let plan = self.key_plan(place, types, text)?;
        self.run_part(&plan, values)?.advance()
    }

    /// A statement of the engine's own, with parameters of these types; made once for each schema.
    pub(super) fn key_plan(
        &mut self,
        place: (u32, u32, KeyStatement),
        types: &[Type],
        text: impl FnOnce() -> String,
    ) -> Result<Arc<Prepared>> {
        let generation = self.schema.generation();
        let known = self.state.key_statements.lock().get(&place).cloned();
        if let Some(known) = known.filter(|known| known.bound.generation == generation && known.bound.params == types) {
            return Ok(known);
        }
        let declared: Vec<Option<Type>> = types.iter().cloned().map(Some).collect();
        let (parsed, bound) = self.bind_own(&text(), &declared, &self.schema)?;
        let plan = Arc::new(self.lower(bound, &parsed, &declared)?);
        self.state.key_statements.lock().insert(place, plan.clone());
        Ok(plan)
    }
}

/// A table in a statement: without those that inherit from it, as nothing refers to them.
pub(in super::super) fn only(table: &Relation) -> String {
    let name = format!("{}.{}", quote(&table.namespace), quote(&table.name));
    if table.is_partitioned() { name } else { format!("ONLY {name}") }
}

fn row_with_key(parent: &Relation, columns: &[String]) -> String {
    let tests: Vec<String> =
        columns.iter().enumerate().map(|(at, name)| format!("t.{} = ${}", quote(name), at + 1)).collect();
    format!("SELECT 1 FROM {} AS t WHERE {} LIMIT 1", only(parent), tests.join(" AND "))
}

/// The rows that refer to one whose key is the first parameters.
fn referring(child: &Relation, key: &ForeignKey, parent: &Relation) -> String {
    let tests = key.columns.iter().zip(&key.target_columns).enumerate().map(|(at, (own, target))| {
        let own = &child.columns[*own];
        // Keys are compared as the table does that is referred to.
        let above = parent.column(target).and_then(|at| parent.columns[at].collation.as_ref());
        let collation = match above.filter(|above| own.collation.as_ref() != Some(above)) {
            Some(above) => format!(" COLLATE {}.{}", quote(&above.namespace), quote(&above.name)),
            None => String::new(),
        };
        format!("${} = t.{}{collation}", at + 1, quote(&own.name))
    });
    tests.collect::<Vec<_>>().join(" AND ")
}

fn referring_row(child: &Relation, key: &ForeignKey, parent: &Relation) -> String {
    format!("SELECT 1 FROM {} AS t WHERE {} LIMIT 1", only(child), referring(child, key, parent))
}

/// The same as PostgreSQL words it, for messages.
pub(super) fn words_of(child: &Relation, key: &ForeignKey, change: ReferentialChange, event: TriggerEvent) -> String {
    let quoted = |name: &str| format!("\"{}\"", name.replace('"', "\"\""));
    let only = if child.is_partitioned() { "" } else { "ONLY " };
    let table = format!("{only}{}.{}", quoted(&child.namespace), quoted(&child.name));
    let name = |at: &usize| quoted(&child.columns[*at].name);
    let first = if change == ReferentialChange::Follow { key.columns.len() } else { 0 };
    let tests = key.columns.iter().enumerate();
    let tests: Vec<String> =
        tests.map(|(at, own)| format!("${} OPERATOR(pg_catalog.=) {}", first + at + 1, name(own))).collect();
    let filter = tests.join(" AND ");
    if change == ReferentialChange::Delete {
        return format!("DELETE FROM {table} WHERE {filter}");
    }
    let confined = event == TriggerEvent::Delete && !key.set_columns.is_empty();
    let columns = if confined { &key.set_columns } else { &key.columns };
    let value = |at: usize| match change {
        ReferentialChange::Follow => format!("${}", at + 1),
        ReferentialChange::SetDefault => "DEFAULT".to_owned(),
        ReferentialChange::Delete | ReferentialChange::SetNull => "NULL".to_owned(),
    };
    let set: Vec<String> =
        columns.iter().enumerate().map(|(at, own)| format!("{} = {}", name(own), value(at))).collect();
    format!("UPDATE {table} SET {} WHERE {filter}", set.join(", "))
}

pub(super) fn change_of(
    child: &Relation,
    key: &ForeignKey,
    parent: &Relation,
    change: ReferentialChange,
    event: TriggerEvent,
) -> String {
    let (table, filter) = (only(child), referring(child, key, parent));
    let confined = event == TriggerEvent::Delete && !key.set_columns.is_empty();
    let columns = if confined { &key.set_columns } else { &key.columns };
    let value = |place: usize| match change {
        ReferentialChange::Follow => format!("${}", key.columns.len() + place + 1),
        ReferentialChange::SetDefault => "DEFAULT".to_owned(),
        ReferentialChange::Delete | ReferentialChange::SetNull => "NULL".to_owned(),
    };
    if change == ReferentialChange::Delete {
        return format!("DELETE FROM {table} AS t WHERE {filter}");
    }
    let set = columns.iter().enumerate();
    let set: Vec<String> =
        set.map(|(place, at)| format!("{} = {}", quote(&child.columns[*at].name), value(place))).collect();
    format!("UPDATE {table} AS t SET {} WHERE {filter}", set.join(", "))
}
