//! PL/pgSQL: what the steps of a function do with a session.
//!
//! As with SPL, each statement is prepared once for a schema and executed as if a client had sent it, with variables for
//! parameters. What differs is what the languages differ in: rows as variables, errors that undo their block, values that
//! are assigned as into columns.

mod exceptions;
mod frame;
mod loops;
mod mysql;
mod raise;
mod returning;
mod statements;
mod variables;

use std::sync::Arc;

use rowferry_dialect::ir::Value;
use rowferry_dialect::postgres::plpgsql::Function;
use rowferry_dialect::values::array::{Array, Dimension};
use rowferry_dialect::{Error, Result};

use super::stored::{Compiled, Returned, Returns, shape_of};
use super::trigger::TriggerCall;
use crate::session::Session;

pub(super) use returning::check_record;
pub(super) use statements::statement_line;
pub(super) use variables::{CachedPlan, SlotKind, slot_kinds};

use frame::Frame;
use variables::Slot;

/// Runs a function; `ends` says that it may end the transaction.
pub(super) fn run(session: &mut Session, compiled: &Compiled, args: Vec<Value>, ends: bool) -> Result<Returned> {
    session.routine_state().running.enter(&compiled.function);
    let result = session.in_language(&compiled.function, |session| run_frame(session, compiled, args, ends));
    session.routine_state().running.leave();
    result
}

fn run_frame(session: &mut Session, compiled: &Compiled, args: Vec<Value>, ends: bool) -> Result<Returned> {
    let body = compiled.function.plpgsql()?.clone();
    let mut frame = Frame::new(session, compiled, &body)?;
    frame.ends_transactions = ends;
    for ((slot, value), ty) in body.inputs.iter().zip(args).zip(&compiled.inputs) {
        frame.set_argument(*slot, value, ty)?;
    }
    frame.run()
}

/// Runs the function of a trigger.
pub(super) fn run_trigger(
    session: &mut Session,
    compiled: &Compiled,
    call: &TriggerCall<'_>,
) -> Result<Option<Vec<Value>>> {
    session.routine_state().running.enter(&compiled.function);
    let result = session.in_language(&compiled.function, |session| run_trigger_frame(session, compiled, call));
    session.routine_state().running.leave();
    result
}

fn run_trigger_frame(session: &mut Session, compiled: &Compiled, call: &TriggerCall<'_>) -> Result<Option<Vec<Value>>> {
    let body = compiled.function.plpgsql()?.clone();
    let Some(slots) = body.trigger else { return Err(Error::internal("a trigger function without its variables")) };
    let mut frame = Frame::new(session, compiled, &body)?;
    let shape = shape_of(call.relation);
    for (slot, row) in [(slots[0], call.new), (slots[1], call.old)] {
        let Some(values) = row else {
            frame.slots[slot] = Slot::null_row(shape.clone());
            continue;
        };
        let mut imported = Vec::with_capacity(values.len());
        for ((value, column), (_, ty)) in values.iter().zip(&call.relation.columns).zip(shape.iter()) {
            imported.push(frame.session.converted(value, &column.ty, ty)?);
        }
        frame.slots[slot] = Slot::row(shape.clone(), imported);
    }
    let text = |words: &str| Value::Text(words.to_owned());
    // Its subscripts begin at 0.
    let members: Vec<serde_json::Value> = call.args.iter().map(|arg| arg.as_str().into()).collect();
    let dimension = Dimension { lower: 0, length: members.len() };
    let arguments = Array::with_bounds(vec![dimension], members).stored()?;
    let values = [
        text(call.name),
        text(call.when.words()),
        text(call.level.words()),
        text(call.event.words()),
        Value::Integer(call.relation.oid.into()),
        text(&call.relation.name),
        text(&call.relation.name),
        text(&call.relation.namespace),
        Value::Integer(call.args.len() as i64),
        Value::Text(arguments),
    ];
    for (slot, value) in slots[2..].iter().zip(values) {
        if let Slot::Value { value: held, .. } = &mut frame.slots[*slot] {
            *held = value;
        }
    }
    let Some(row) = frame.run_trigger()? else { return Ok(None) };
    let mut stored = Vec::with_capacity(row.len());
    for ((value, column), (_, ty)) in row.iter().zip(&call.relation.columns).zip(shape.iter()) {
        stored.push(frame.session.converted(value, ty, &column.ty)?);
    }
    Ok(Some(stored))
}

/// Where a function's result is one row of its OUT parameters.
fn has_outputs(body: &Function) -> bool {
    !body.outputs.is_empty()
}

/// The body and what was made of it.
type Parts<'f> = (&'f Compiled, &'f Arc<Function>);

fn returns_set(parts: Parts<'_>) -> bool {
    parts.0.function.definition.set
}

fn is_void(returns: &Returns) -> bool {
    matches!(returns, Returns::Void)
}
