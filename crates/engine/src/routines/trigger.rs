//! Functions that triggers call.

use std::sync::Arc;

use rowferry_dialect::ir::{TriggerEvent, TriggerLevel, TriggerTime, Value};
use rowferry_dialect::schema::Relation;
use rowferry_dialect::{Error, Result};

use crate::session::Session;

/// What a trigger function is told. Values are in the stored form of the relation's column types, in column order.
pub(crate) struct TriggerCall<'a> {
    /// TG_NAME.
    pub name: &'a str,
    /// TG_WHEN.
    pub when: TriggerTime,
    /// TG_LEVEL.
    pub level: TriggerLevel,
    /// TG_OP.
    pub event: TriggerEvent,
    /// TG_RELID and its kin.
    pub relation: &'a Arc<Relation>,
    /// TG_ARGV.
    pub args: &'a [String],
    /// NEW; `None` is NULL.
    pub new: Option<&'a [Value]>,
    /// OLD; `None` is NULL.
    pub old: Option<&'a [Value]>,
}

impl Session {
    /// Runs a function RETURNS trigger, in this session and its transaction. `Ok(None)` is RETURN NULL; otherwise the
    /// returned row. For AFTER and statement triggers the answer means nothing.
    pub(crate) fn call_trigger(&mut self, _function: u32, call: &TriggerCall<'_>) -> Result<Option<Vec<Value>>> {
        let TriggerCall { name, when, level, event, relation, args, new, old } = call;
        let _ = (when, level, event, relation, args, new, old);
        Err(Error::unsupported(format!("the function of trigger {name}")))
    }
}
