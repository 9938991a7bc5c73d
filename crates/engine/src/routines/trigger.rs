//! Functions of triggers: what they are told, and the row that they give back.

use std::sync::Arc;

use rowferry_dialect::ir::{TriggerEvent, TriggerLevel, TriggerTime, Value};
use rowferry_dialect::schema::Relation;
use rowferry_dialect::{Condition, Error, Result, Schema as _};

use super::{built_in_triggers, plpgsql};
use crate::session::Session;

/// What a trigger function is told. Values are in the stored form of the relation's column types, in column order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TriggerCall<'a> {
    /// TG_NAME.
    pub name: &'a str,
    /// TG_WHEN.
    pub when: TriggerTime,
    /// TG_LEVEL.
    pub level: TriggerLevel,
    /// TG_OP.
    pub event: TriggerEvent,
    /// TG_RELID, TG_TABLE_NAME, TG_TABLE_SCHEMA.
    pub relation: &'a Arc<Relation>,
    /// TG_ARGV.
    pub args: &'a [String],
    /// NEW; without it NEW is NULL.
    pub new: Option<&'a [Value]>,
    /// OLD; without it OLD is NULL.
    pub old: Option<&'a [Value]>,
    /// The columns that SET names, for functions that are built in.
    pub assigned: &'a [usize],
}

impl Session {
    /// Runs a function that returns `trigger`, in this session and its transaction.
    ///
    /// `None` is RETURN NULL; otherwise the row that it returns, each value of its column's type. Of AFTER triggers and
    /// those of statements the answer means nothing.
    pub(crate) fn call_trigger(&mut self, function: u32, call: &TriggerCall<'_>) -> Result<Option<Vec<Value>>> {
        if let Some(built_in) = built_in_triggers::by_oid(function) {
            return built_in(self, call);
        }
        let _nested = self.enter_routine()?;
        let found = self.schema().function_by_oid(function);
        let function = found.ok_or_else(|| Error::internal(format!("cache lookup failed for function {function}")))?;
        if !function.returns_trigger() {
            let message = format!("function {} must return type trigger", function.name);
            return Err(Error::new(Condition::InvalidObjectDefinition, message));
        }
        let compiled = self.compile_stored(&function, None, call.relation.oid)?;
        self.count_call(&function, |session| {
            session.as_function(&function, |session| plpgsql::run_trigger(session, &compiled, call))
        })
    }
}
