//! Foreign keys that change rows under a trigger's eyes.
//!
//! The back end would change them by itself, and tell nobody. So the engine does it first, by a statement on the referencing
//! table whose own triggers fire; the back end then finds nothing left to do.

use std::sync::Arc;

use rowferry_dialect::ir::{ReferentialChange, TriggerEvent, Value};
use rowferry_dialect::schema::Relation;
use rowferry_dialect::{Error, Result, Type};

use super::super::{Prepared, Session};
use super::foreign_keys::{KeyStatement, change_of, words_of};
use super::plan::leads_to;
use super::queue::{Changes, Row};

impl Session {
    /// Does what foreign keys do about a row that goes, or gets another key.
    pub(super) fn cascade(
        &mut self,
        changes: &mut Changes,
        event: TriggerEvent,
        old: &Row,
        new: Option<&Row>,
    ) -> Result<()> {
        // Foreign keys do nothing about what comes from elsewhere.
        if self.keys_off {
            return Ok(());
        }
        let parent = changes.relation.clone();
        let children: Vec<Arc<Relation>> = self.schema.children(&parent).cloned().collect();
        for child in children {
            for key in child.foreign_keys.iter().filter(|key| leads_to(key, &parent)) {
                let Some(change) = ReferentialChange::of(key, event) else { continue };
                let columns = crate::catalog::describe::target_columns(&parent, key);
                let types: Vec<Type> = columns.iter().map(|at| parent.columns[*at].ty.clone()).collect();
                let values = |row: &Row| -> Vec<Value> { columns.iter().map(|at| row[*at].clone()).collect() };
                let from = values(old);
                let to = new.map(&values);
                if to.as_ref() == Some(&from) || from.contains(&Value::Null) {
                    continue;
                }
                let (params, given) = match (change, to) {
                    (ReferentialChange::Follow, Some(to)) => ([from, to].concat(), [types.clone(), types].concat()),
                    _ => (from, types),
                };
                let place = (parent.oid, key.oid, KeyStatement::Change(event));
                let plan = self.key_plan(place, &given, || change_of(&child, key, &parent, change, event))?;
                let words = words_of(&child, key, change, event);
                let below = self.as_statement_of_key(words, |session| session.change_below(&plan, &params))?;
                if let Some(below) = below {
                    changes.meddled = true;
                    changes.below.push(below);
                }
            }
        }
        Ok(())
    }

    fn change_below(&mut self, plan: &Arc<Prepared>, params: &[Value]) -> Result<Option<Changes>> {
        let Some(firing) = plan.triggers.clone() else {
            self.run_part(plan, params)?;
            return Ok(None);
        };
        let mut below = self.start_changes(plan, &firing)?;
        if firing.steps.is_some() {
            self.change_by_rows(&firing, params, &mut below)?;
            if below.kept > 0 {
                return Err(Error::unsupported("a BEFORE trigger that keeps a row from what a foreign key does to it"));
            }
        } else {
            self.run_part(plan, params)?;
        }
        self.queue_statement_triggers(&firing, &mut below)?;
        Ok(Some(below))
    }
}
