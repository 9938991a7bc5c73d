//! Triggers of the Informix door: their actions are routines that see columns of the old and the new row, and so are
//! the routines that they call WITH TRIGGER REFERENCES.

use std::sync::Arc;

use rowferry_dialect::informix::spl::{self, OfRow};
use rowferry_dialect::informix::values::computed;
use rowferry_dialect::ir::{TriggerEvent, Value};
use rowferry_dialect::schema::{Relation, Routine, Trigger};
use rowferry_dialect::{Condition, Error, Result};

use super::trigger::TriggerCall;
use super::{Compiled, interpreter};
use crate::session::Session;

/// What a trigger whose actions run is about.
#[derive(Clone, Debug)]
pub(super) struct Rows {
    relation: Arc<Relation>,
    event: TriggerEvent,
    old: Option<Vec<Value>>,
    new: Option<Vec<Value>>,
}

/// Runs a trigger's actions; the row as they leave it.
pub(super) fn run(session: &mut Session, call: &TriggerCall<'_>) -> Result<Option<Vec<Value>>> {
    let Some(trigger) = call.relation.trigger(call.name) else {
        return Err(Error::internal(format!("a trigger {} that is not there", call.name)));
    };
    let routine = session.actions_of(trigger)?;
    let _nested = session.enter_routine()?;
    let compiled = session.compile_routine(&routine)?;
    let rows = Rows {
        relation: call.relation.clone(),
        event: call.event,
        old: call.old.map(<[Value]>::to_vec),
        new: call.new.map(<[Value]>::to_vec),
    };
    session.routine_state().rows.lock().push(rows);
    let result = interpreter::run_actions(session, &compiled);
    let rows = session.routine_state().rows.lock().pop();
    result.map_err(|mut error| {
        // A position in the trigger's text is none in the client's.
        error.position = None;
        error
    })?;
    Ok(rows.and_then(|rows| rows.new.or(rows.old)))
}

/// Fills the variables that have something of a trigger's row.
pub(super) fn read_row(session: &Session, compiled: &Compiled, values: &mut [Option<Value>]) -> Result<()> {
    if compiled.parsed.variables.iter().all(|variable| variable.row.is_none()) && compiled.parsed.of_table.is_none() {
        return Ok(());
    }
    let state = session.routine_state();
    let all = state.rows.lock();
    let rows = all.last().ok_or_else(|| of_no_trigger(&compiled.parsed))?;
    let of_table = &compiled.parsed.of_table;
    if of_table.as_ref().is_some_and(|table| !table.name.eq_ignore_ascii_case(&rows.relation.name)) {
        return Err(of_no_trigger(&compiled.parsed));
    }
    let variables = compiled.parsed.variables.iter().zip(&compiled.types);
    for ((variable, ty), value) in variables.zip(values) {
        let (row, column) = match &variable.row {
            Some(OfRow::Old(column)) => (&rows.old, column),
            Some(OfRow::New(column)) => (&rows.new, column),
            Some(OfRow::Event(event)) => {
                *value = Some(Value::Integer((*event == rows.event).into()));
                continue;
            }
            None => continue,
        };
        *value = Some(match (row, rows.relation.column(column)) {
            (Some(row), Some(at)) => computed(&row[at], &rows.relation.columns[at].ty, ty)?,
            _ => Value::Null,
        });
    }
    Ok(())
}

/// Hands what a routine has made of the new row back to its trigger.
pub(super) fn write_row(
    session: &Session,
    compiled: &Compiled,
    before: &[Option<Value>],
    after: &[Option<Value>],
) -> Result<()> {
    let state = session.routine_state();
    let mut all = state.rows.lock();
    let variables = compiled.parsed.variables.iter().zip(&compiled.types);
    for ((variable, ty), (before, after)) in variables.zip(before.iter().zip(after)) {
        let (Some(OfRow::New(column)), Some(value)) = (&variable.row, after) else { continue };
        // What has not been changed here may have been changed by a routine that was called.
        if before.as_ref() == Some(value) {
            continue;
        }
        let Some(rows) = all.last_mut() else { continue };
        if let (Some(at), Some(new)) = (rows.relation.column(column), &mut rows.new) {
            new[at] = computed(value, ty, &rows.relation.columns[at].ty)?;
        }
    }
    Ok(())
}

fn of_no_trigger(routine: &spl::Routine) -> Error {
    let message = format!("the routine ({}) can only be called by a trigger of its table", routine.name);
    Error::new(Condition::RoutineStatement, message).column(routine.name.clone())
}

impl Session {
    /// A trigger's actions as a routine, parsed once.
    fn actions_of(&self, trigger: &Trigger) -> Result<Arc<Routine>> {
        let Some(actions) = trigger.actions() else {
            return Err(Error::internal(format!("trigger {} has no actions", trigger.name)));
        };
        let known = self.routine_state().actions.lock().get(&trigger.oid).cloned();
        if let Some(known) = known.filter(|known| known.definition == actions.text && known.signature == actions.part) {
            return Ok(known);
        }
        let definition = spl::parse_trigger(actions.text)?;
        let part = definition.parts.into_iter().find(|(part, _)| part.word() == actions.part);
        let Some((_, parsed)) = part else {
            return Err(Error::internal(format!("trigger {} has no part {}", trigger.name, actions.part)));
        };
        let name = actions.trigger.to_owned();
        let routine = Routine::of(trigger.oid, name, actions.part.to_owned(), actions.text.to_owned(), parsed);
        let routine = Arc::new(routine);
        self.routine_state().actions.lock().insert(trigger.oid, routine.clone());
        Ok(routine)
    }
}
