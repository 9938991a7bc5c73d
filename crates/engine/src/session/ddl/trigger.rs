//! Triggers: entries of their relations, of which nobody but the engine knows.

use std::sync::Arc;

use rowferry_dialect::Error;
use rowferry_dialect::ir::{ChangeTrigger, TriggerChange, TriggerState};
use rowferry_dialect::schema::{Relation, Trigger};

use super::{Changer, Done, cannot_drop, describe};

impl Changer<'_> {
    pub(super) fn change_trigger(&self, change: &ChangeTrigger) -> Done {
        let relation = &*change.relation;
        self.entry(relation)?;
        match &change.change {
            TriggerChange::Create(trigger) => self.store.record_trigger(relation, trigger)?,
            TriggerChange::Drop(trigger) => self.store.forget_trigger(relation, &trigger.name)?,
            TriggerChange::Rename(trigger, to) => self.store.rename_trigger(relation, &trigger.name, to)?,
            TriggerChange::Comment(trigger, text) => {
                self.store.comment_trigger(relation, &trigger.name, text.as_deref())?;
            }
        }
        self.bump()
    }

    /// ENABLE and DISABLE TRIGGER.
    pub(super) fn set_triggers(
        &self,
        table: &Relation,
        triggers: &[Arc<Trigger>],
        state: TriggerState,
        all: bool,
    ) -> Done {
        let keys = !table.foreign_keys.is_empty() || self.schema().children(table).next().is_some();
        if all && state == TriggerState::Disabled && keys {
            // PostgreSQL would no longer look at them.
            return Err(Error::unsupported("DISABLE TRIGGER ALL on a table with foreign keys").into());
        }
        for trigger in triggers {
            self.store.set_trigger_state(table, &trigger.name, state)?;
        }
        self.touch(table.physical.database, table.oid);
        self.bump()
    }

    /// A column's new name in UPDATE OF and WHEN.
    pub(super) fn rename_in_triggers(&self, table: &Relation, column: usize, to: &str) -> Done {
        let schema = self.schema();
        for trigger in table.named_triggers() {
            let mut renamed = Trigger::clone(trigger);
            if let Some(text) = &trigger.condition {
                renamed.condition = Some(self.session.renamed_in_condition(text, table, column, to, &schema)?);
            }
            let mut after = table.clone();
            to.clone_into(&mut after.columns[column].name);
            self.store.record_trigger(&after, &renamed)?;
        }
        Ok(())
    }

    /// What needs a column that is to go: triggers that name it. With CASCADE they go, too.
    pub(super) fn drop_triggers_of_column(&self, table: &Relation, column: usize, cascade: bool) -> Done {
        let schema = self.schema();
        let mut naming: Vec<&Arc<Trigger>> = Vec::new();
        for trigger in table.named_triggers() {
            let named = match &trigger.condition {
                Some(text) => self.session.condition_names(text, table, column, &schema)?,
                None => false,
            };
            if named || trigger.columns.contains(&column) {
                naming.push(trigger);
            }
        }
        if naming.is_empty() {
            return Ok(());
        }
        let name = &table.columns[column].name;
        let shown = format!("column {name} of {}", describe(table));
        let dependents: Vec<(String, String)> = naming
            .iter()
            .map(|trigger| (format!("trigger {} on {}", trigger.name, describe(table)), shown.clone()))
            .collect();
        if !cascade {
            return Err(cannot_drop(&shown, &dependents));
        }
        self.drop_triggers(naming.into_iter().map(|trigger| (table, &**trigger)))
    }

    /// The triggers that call a function, with their relations; DROP FUNCTION takes them along with CASCADE alone.
    pub(super) fn drop_triggers_of_function(&self, function: u32, shown: &str, cascade: bool) -> Done {
        let schema = self.schema();
        let triggered: Vec<Arc<Relation>> = schema.main.triggered().chain(schema.temp.triggered()).cloned().collect();
        let mut found: Vec<(Arc<Relation>, Arc<Trigger>)> = Vec::new();
        for relation in &triggered {
            let calling = relation.triggers.iter().filter(|trigger| trigger.function == function);
            found.extend(calling.map(|trigger| (relation.clone(), trigger.clone())));
        }
        if found.is_empty() {
            return Ok(());
        }
        let names: Vec<String> =
            found.iter().map(|(relation, t)| format!("trigger {} on {}", t.name, describe(relation))).collect();
        if !cascade {
            let lines: Vec<(String, String)> = names.into_iter().map(|name| (name, shown.to_owned())).collect();
            return Err(cannot_drop(shown, &lines));
        }
        self.tell_cascade(&names);
        self.drop_triggers(found.iter().map(|(relation, trigger)| (&**relation, &**trigger)))
    }

    fn drop_triggers<'t>(&self, triggers: impl Iterator<Item = (&'t Relation, &'t Trigger)>) -> Done {
        for (relation, trigger) in triggers {
            self.store.forget_trigger(relation, &trigger.name)?;
            self.touch(relation.physical.database, relation.oid);
        }
        self.bump()
    }
}
