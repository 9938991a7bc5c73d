//! What domains ask of values that come to be outside of SQL: variables and results of routines.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use rowferry_dialect::ir::Value;
use rowferry_dialect::{Result, Schema as _, Type, postgres};

use super::Session;
use crate::backend::rules_words;
use crate::functions::{Checker, OnceChecker};

/// The rules that a session has read, by the object ids of their types.
#[derive(Default)]
pub struct KnownRules(Mutex<Known>);

#[derive(Default)]
struct Known {
    /// The schema's generation that they are of.
    generation: u64,
    rules: HashMap<u32, Arc<OnceChecker>>,
}

impl Session {
    /// Fails for a value of a type's stored form that its domains refuse.
    pub(crate) fn check_domains(&self, value: &Value, ty: &Type) -> Result<()> {
        if !ty.is_constrained() {
            return Ok(());
        }
        let checker = self.rules_of(ty)?;
        let Some(handle) = &self.handle else {
            return Err(rowferry_dialect::Error::internal("no handle is open"));
        };
        let guard = handle.lock();
        guard.check(&checker, value)
    }

    fn rules_of(&self, ty: &Type) -> Result<Arc<OnceChecker>> {
        let oid = postgres::types::oid(ty);
        let generation = self.schema.generation();
        let mut known = self.state.known_rules.0.lock();
        if known.generation != generation {
            *known = Known { generation, rules: HashMap::new() };
        }
        if let Some(found) = known.rules.get(&oid).filter(|_| oid != 0) {
            return Ok(found.clone());
        }
        let rules = postgres::rules_of(ty, &self.schema, &self.postgres_context())?;
        let words = rules.map_or(Ok("{}".to_owned()), |rules| rules_words(&rules))?;
        let checker = Arc::new(Checker::read(&words)?.once());
        known.rules.insert(oid, checker.clone());
        Ok(checker)
    }
}
