//! Which triggers fire, their conditions, and their calls.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use rowferry_dialect::ir::trigger::{NEW_ROW, OLD_ROW};
use rowferry_dialect::ir::{
    Body, ColumnIndex, ColumnRef, Expr, ExprKind, OutputColumn, Query, RelId, Select, TriggerEvent, TriggerLevel,
    TriggerState, TriggerTime, Value, walk,
};
use rowferry_dialect::schema::{Relation, Trigger, TriggerKey};
use rowferry_dialect::types::Storage;
use rowferry_dialect::values::{self, Settings};
use rowferry_dialect::{Condition, Error, Result, Schema as _, Type, heritage};

use super::super::execute::RunError;
use super::super::{Prepared, Session};
use super::queue::{Event, Row};
use crate::routines::trigger::TriggerCall;
use crate::spool::SpoolReader;

/// How deep triggers may cause each other to fire.
const MAX_DEPTH: u32 = 256;

impl Session {
    /// The triggers that an event fires, in the order of their names.
    pub(super) fn due(
        &self,
        relation: &Relation,
        time: TriggerTime,
        level: TriggerLevel,
        event: TriggerEvent,
        assigned: &[usize],
    ) -> Vec<Arc<Trigger>> {
        if relation.triggers.is_empty() {
            return Vec::new();
        }
        let replica = self.state.variables.read().is_replica();
        let due = relation.triggers.iter().filter(|trigger| {
            let enabled = match trigger.state {
                TriggerState::Always => true,
                TriggerState::Disabled => false,
                TriggerState::Origin => !replica,
                TriggerState::Replica => replica,
            };
            let concerned = event != TriggerEvent::Update
                || trigger.columns.is_empty()
                || trigger.columns.iter().any(|column| assigned.contains(column));
            enabled && concerned && trigger.time == time && trigger.level == level && trigger.waits_for(event)
        });
        due.cloned().collect()
    }

    /// WHEN.
    pub(super) fn condition_holds(
        &mut self,
        relation: &Arc<Relation>,
        trigger: &Trigger,
        old: Option<&Vec<Value>>,
        new: Option<&Vec<Value>>,
    ) -> Result<bool> {
        let Some(text) = &trigger.condition else { return Ok(true) };
        let plan = self.condition_plan(relation, trigger, text)?;
        let width = relation.columns.len();
        let mut params = Vec::with_capacity(2 * width);
        for row in [old, new] {
            match row {
                Some(row) => params.extend(row.iter().cloned()),
                None => params.extend(std::iter::repeat_n(Value::Null, width)),
            }
        }
        let mut rows = self.run_part(&plan, &params)?;
        Ok(rows.advance()? && rows.column(0).to_value() == Value::Integer(1))
    }

    fn condition_plan(&mut self, relation: &Arc<Relation>, trigger: &Trigger, text: &str) -> Result<Arc<Prepared>> {
        let generation = self.schema.generation();
        let known = self.state.conditions.lock().get(&trigger.oid).cloned();
        if let Some(known) = known.filter(|known| known.bound.generation == generation) {
            return Ok(known);
        }
        let width = relation.columns.len();
        let mut condition = self.bind_trigger_condition(text, relation)?;
        walk::expr_mut(&mut condition, &mut |expr| {
            if let ExprKind::Column(ColumnRef { relation, column: ColumnIndex::At(at) }) = expr.kind {
                if relation == OLD_ROW {
                    expr.kind = ExprKind::Param(at);
                } else if relation == NEW_ROW {
                    expr.kind = ExprKind::Param(width + at);
                }
            }
            true
        });
        let types: Vec<Type> = relation.columns.iter().map(|column| column.ty.clone()).collect();
        let params = [types.clone(), types].concat();
        let plan = Arc::new(Prepared::of_query(value_query(condition), params, generation, text)?);
        self.state.conditions.lock().insert(trigger.oid, plan.clone());
        Ok(plan)
    }

    /// Runs a part of a statement to its end.
    pub(in super::super) fn run_part(&mut self, part: &Prepared, params: &[Value]) -> Result<SpoolReader> {
        if let Some(there) = part.upstream.clone() {
            return self.part_upstream(part, &there, params);
        }
        match self.read_kept(part, params) {
            Ok(spool) => spool.into_reader(),
            Err(RunError::Other(error)) => Err(error),
            Err(RunError::Failed(failure)) => Err(self.translate(&failure, part, params)),
        }
    }

    /// The BEFORE (or INSTEAD OF) row triggers of an event, each told what the one before has made of the row; `None`
    /// when one of them does not want it done.
    pub(super) fn before_row(
        &mut self,
        relation: &Arc<Relation>,
        time: TriggerTime,
        event: TriggerEvent,
        assigned: &[usize],
        old: Option<&Row>,
        new: Option<Row>,
    ) -> Result<Option<Option<Row>>> {
        let mut new = new;
        for trigger in self.due(relation, time, TriggerLevel::Row, event, assigned) {
            if !self.condition_holds(relation, &trigger, old.map(|row| &**row), new.as_deref())? {
                continue;
            }
            let assigned = if trigger.calls_built_in() { assigned.to_vec() } else { Vec::new() };
            let (relation, old) = (relation.clone(), old.cloned());
            let new_row = new.clone();
            let call = Event { trigger, relation, event, old, new: new_row, rowid: None, assigned, gathered: None };
            let Some(returned) = self.fire(&call)? else { return Ok(None) };
            if let Some(before) = &mut new {
                let after = Arc::new(returned);
                if time == TriggerTime::Before
                    && event == TriggerEvent::Insert
                    && self.is_parted(&call.relation, before, &after)
                {
                    self.check_still_here(&call.relation, &call.trigger, &after)?;
                }
                *before = after;
            }
        }
        Ok(Some(new))
    }

    /// A trigger that a partition has from its parent has made another row of it: it must not be one of another partition.
    fn check_still_here(&mut self, partition: &Arc<Relation>, trigger: &Trigger, row: &Row) -> Result<()> {
        let parents = heritage::parents(&self.schema, partition);
        let copied = parents.iter().any(|parent| parent.is_partitioned() && parent.trigger(&trigger.name).is_some());
        if !copied || self.place_of(partition, row)?.is_ok() {
            return Ok(());
        }
        let message = "moving row to another partition during a BEFORE FOR EACH ROW trigger is not supported";
        let (name, place) = (&trigger.name, format!("{}.{}", partition.namespace, partition.name));
        let detail = format!("Before executing trigger \"{name}\", the row was to be in partition \"{place}\".");
        Err(Error::new(Condition::FeatureNotSupported, message).detail(detail))
    }

    /// Calls a trigger's function, with the statement's rows as tables where it wants them.
    pub(super) fn call_with_tables(&mut self, event: &Event) -> Result<()> {
        if !event.trigger.has_transition_tables() {
            return self.fire(event).map(drop);
        }
        let before = self.show_transition_tables(event)?;
        let result = self.fire(event);
        self.hide_transition_tables(before);
        result.map(drop)
    }

    /// Calls a trigger's function; `None` for NULL.
    pub(super) fn fire(&mut self, event: &Event) -> Result<Option<Vec<Value>>> {
        if let Some(key) = &event.trigger.key {
            if matches!(key, TriggerKey::Referred(_)) {
                return self.ask_referred(event).map(|()| None);
            }
            let Some(event) = &self.with_present_names(event) else { return Ok(None) };
            if matches!(key, TriggerKey::Refers(_)) {
                return self.ask_reference(event).map(|()| None);
            }
            if super::exclusion::index_of(&event.relation, &event.trigger).is_some() {
                let Some(rowid) = event.rowid else { return Ok(None) };
                return self.ask_exclusion(&event.relation, &event.trigger, rowid).map(|()| None);
            }
            return self.ask_key(event).map(|()| None);
        }
        let depth = self.state.trigger_depth.load(Ordering::Relaxed);
        if depth >= MAX_DEPTH {
            return Err(Error::new(Condition::StatementTooComplex, "stack depth limit exceeded")
                .hint("Is there a trigger that fires itself without an end?"));
        }
        self.state.trigger_depth.store(depth + 1, Ordering::Relaxed);
        let call = TriggerCall {
            name: &event.trigger.name,
            when: event.trigger.time,
            level: event.trigger.level,
            event: event.event,
            relation: &event.relation,
            args: &event.trigger.args,
            new: event.new.as_ref().map(|row| row.as_slice()),
            old: event.old.as_ref().map(|row| row.as_slice()),
            assigned: &event.assigned,
        };
        // What its own statements make due is told when they end.
        let outer = std::mem::take(&mut self.referential);
        let result = self.call_trigger(event.trigger.function, &call);
        self.referential = outer;
        self.state.trigger_depth.store(depth, Ordering::Relaxed);
        result
    }

    /// A question of a key, whose table and columns may have got other names since; `None` when there is no such key any more.
    fn with_present_names(&self, event: &Event) -> Option<Event> {
        let relation = self.schema.relation_by_oid(event.relation.oid)?;
        let same = |trigger: &&Arc<Trigger>| {
            trigger.key.is_some() && (trigger.oid == event.trigger.oid || trigger.key == event.trigger.key)
        };
        let trigger = relation.triggers.iter().find(same)?.clone();
        Some(Event { trigger, relation, ..event.clone() })
    }

    /// A deferrable UNIQUE: whether a row still shares its key with another.
    fn ask_key(&mut self, event: &Event) -> Result<()> {
        let (relation, trigger) = (&event.relation, &event.trigger);
        if !self.condition_holds(relation, trigger, None, event.new.as_deref())? {
            return Ok(());
        }
        let (Some(row), Some(TriggerKey::Index(name))) = (&event.new, &trigger.key) else { return Ok(()) };
        let index = relation.indexes.iter().find(|index| index.name == *name);
        let columns: Vec<usize> = index.into_iter().flat_map(|index| index.columns.iter().flatten().copied()).collect();
        let values: Vec<Value> = columns.iter().map(|at| row[*at].clone()).collect();
        let message = format!("duplicate key value violates unique constraint \"{name}\"");
        let error = Error::new(Condition::UniqueViolation, message)
            .table(relation.namespace.clone(), relation.name.clone())
            .constraint(name.as_str());
        let names: Vec<&str> = columns.iter().map(|at| relation.columns[*at].name.as_str()).collect();
        let shown = super::super::ddl::constraints::shown(&values, relation, &columns, &self.settings());
        Err(match shown {
            Some(shown) => error.detail(format!("Key ({})=({shown}) already exists.", names.join(", "))),
            None => error,
        })
    }

    /// How many changes the handle has made so far: whether a trigger has made some.
    pub(super) fn total_changes(&mut self) -> Result<u64> {
        let handle = self.handle()?;
        let total = handle.lock().total_changes();
        Ok(total)
    }
}

/// Values of a row as they were read, in the canonical form of their types.
pub(super) fn canonical(
    reader: &SpoolReader,
    from: usize,
    relation: &Relation,
    settings: &Settings,
) -> Result<Vec<Value>> {
    let columns = relation.columns.iter().enumerate();
    columns.map(|(at, column)| canonical_value(reader.column(from + at).to_value(), &column.ty, settings)).collect()
}

/// A decimal that lies as a number in the file is text everywhere else.
pub(in super::super) fn canonical_value(value: Value, ty: &Type, settings: &Settings) -> Result<Value> {
    match value {
        Value::Integer(_) | Value::Real(_) if ty.storage() == Storage::NativeDecimal => {
            values::output(&value, ty, settings).map(Value::Text)
        }
        value => Ok(value),
    }
}

/// A query that yields one value.
fn value_query(value: Expr) -> Query {
    let column = OutputColumn { name: "?column?".to_owned(), ty: value.ty.clone() };
    let select = Select::of(vec![value], None);
    Query::of(Body::Select(Box::new(select)), vec![column], RelId(u32::MAX))
}
