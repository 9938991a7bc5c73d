//! Triggers: entries of their relations, of which nobody but the engine knows.

use std::sync::Arc;

use rowferry_dialect::informix::spl::{TriggerEdit, edited_trigger};
use rowferry_dialect::ir::{ChangeTrigger, TriggerChange, TriggerLevel, TriggerState};
use rowferry_dialect::schema::{Relation, Trigger};
use rowferry_dialect::{Condition, Error, Schema as _, heritage};

use super::{Changer, Done, cannot_drop, describe};

/// Changes the text of a trigger that was made in Informix's way.
fn edit_actions(trigger: &mut Trigger, edit: TriggerEdit<'_>) -> rowferry_dialect::Result<()> {
    if trigger.actions().is_some()
        && let Some(text) = trigger.args.last_mut()
    {
        *text = edited_trigger(text, edit)?;
    }
    Ok(())
}

impl Changer<'_> {
    pub(super) fn change_trigger(&self, change: &ChangeTrigger) -> Done {
        let relation = &*change.relation;
        self.entry(relation)?;
        match &change.change {
            TriggerChange::Create { trigger, replace } => {
                self.store.record_trigger(relation, trigger)?;
                if trigger.level == TriggerLevel::Row {
                    for partition in self.partitions_below(relation) {
                        self.clone_trigger(relation, trigger, &partition, *replace)?;
                    }
                }
            }
            TriggerChange::Actions { gone, made } => {
                for trigger in gone {
                    self.store.forget_trigger(relation, &trigger.name)?;
                }
                for trigger in made {
                    self.store.record_trigger(relation, trigger)?;
                }
            }
            TriggerChange::Drop(trigger) => {
                self.check_own_trigger(relation, trigger, "drop")?;
                for partition in self.clones(relation, trigger) {
                    self.delete_trigger(&partition, &trigger.name)?;
                }
                self.store.forget_trigger(relation, &trigger.name)?;
            }
            TriggerChange::Rename(trigger, to) => {
                self.check_own_trigger(relation, trigger, "rename")?;
                let clones = self.clones(relation, trigger);
                if let Some(partition) = clones.iter().find(|partition| partition.trigger(to).is_some()) {
                    let message = format!("trigger \"{to}\" for relation \"{}\" already exists", partition.name);
                    return Err(Error::new(Condition::DuplicateObject, message).into());
                }
                for partition in clones {
                    self.store.rename_trigger(&partition, &trigger.name, to)?;
                    self.touch(partition.physical.database, partition.oid);
                }
                self.store.rename_trigger(relation, &trigger.name, to)?;
            }
            TriggerChange::Comment(trigger, text) => {
                self.store.comment_trigger(relation, &trigger.name, text.as_deref())?;
            }
        }
        self.bump()
    }

    /// All partitions of a table, whatever level they are of.
    fn partitions_below(&self, relation: &Relation) -> Vec<Arc<Relation>> {
        let schema = self.schema();
        match schema.relation_by_oid(relation.oid).filter(|relation| relation.is_partitioned()) {
            Some(relation) => heritage::family(&schema, &relation).into_iter().skip(1).collect(),
            None => Vec::new(),
        }
    }

    /// The partitions that have a table's row trigger.
    fn clones(&self, relation: &Relation, trigger: &Trigger) -> Vec<Arc<Relation>> {
        if trigger.level != TriggerLevel::Row {
            return Vec::new();
        }
        let has = |partition: &Arc<Relation>| partition.trigger(&trigger.name).is_some();
        self.partitions_below(relation).into_iter().filter(has).collect()
    }

    /// A row trigger of a partitioned table is each partition's.
    fn clone_trigger(&self, from: &Relation, trigger: &Trigger, partition: &Arc<Relation>, replace: bool) -> Done {
        if partition.trigger(&trigger.name).is_some() && !replace {
            let message = format!("trigger \"{}\" for relation \"{}\" already exists", trigger.name, partition.name);
            return Err(Error::new(Condition::DuplicateObject, message).into());
        }
        let columns = trigger.columns.iter().filter_map(|at| partition.column(&from.columns[*at].name)).collect();
        let cloned = Trigger { columns, comment: None, ..trigger.clone() };
        self.entry(partition)?;
        self.touch(partition.physical.database, partition.oid);
        self.store.record_trigger(partition, &cloned)
    }

    /// The row triggers of a table for a new partition of it, and for those below.
    pub(super) fn clone_triggers(&self, parent: &Relation, partition: &Arc<Relation>) -> Done {
        let mut any = false;
        for trigger in parent.triggers.iter().filter(|trigger| is_cloned(trigger)) {
            any = true;
            self.clone_trigger(parent, trigger, partition, false)?;
        }
        if any { self.bump() } else { Ok(()) }
    }

    /// A table is no partition any longer: what it has had of its parent's triggers goes.
    pub(super) fn drop_cloned_triggers(&self, parent: &Relation, partition: &Arc<Relation>) -> Done {
        let members: Vec<Arc<Relation>> =
            std::iter::once(partition.clone()).chain(self.partitions_below(partition)).collect();
        let mut any = false;
        for trigger in parent.triggers.iter().filter(|trigger| is_cloned(trigger)) {
            for member in members.iter().filter(|member| member.trigger(&trigger.name).is_some()) {
                any = true;
                self.delete_trigger(member, &trigger.name)?;
            }
        }
        if any { self.bump() } else { Ok(()) }
    }

    fn delete_trigger(&self, relation: &Relation, name: &str) -> Done {
        self.store.forget_trigger(relation, name)?;
        self.touch(relation.physical.database, relation.oid);
        Ok(())
    }

    /// A partition's copy of a trigger changes with the one that it is a copy of.
    fn check_own_trigger(&self, relation: &Relation, trigger: &Trigger, verb: &str) -> Done {
        if relation.bound().is_none() || trigger.level != TriggerLevel::Row {
            return Ok(());
        }
        let parents = heritage::parents(&self.schema(), relation);
        let Some(parent) = parents.iter().find(|parent| parent.trigger(&trigger.name).is_some()) else {
            return Ok(());
        };
        let (name, on, whole) = (&trigger.name, describe(relation), describe(parent));
        if verb == "rename" {
            let message = format!("cannot rename trigger \"{name}\" on table \"{}\"", relation.name);
            return Err(Error::new(Condition::FeatureNotSupported, message)
                .hint(format!("Rename the trigger on the partitioned table \"{}\" instead.", parent.name))
                .into());
        }
        let message = format!("cannot drop trigger {name} on {on} because trigger {name} on {whole} requires it");
        Err(Error::new(Condition::DependentObjectsStillExist, message)
            .hint(format!("You can drop trigger {name} on {whole} instead."))
            .into())
    }

    /// ENABLE and DISABLE TRIGGER.
    pub(super) fn set_triggers(
        &self,
        table: &Relation,
        triggers: &[Arc<Trigger>],
        state: TriggerState,
        (all, only): (bool, bool),
    ) -> Done {
        if all {
            self.set_keys(table, state)?;
        }
        for trigger in triggers {
            for partition in self.clones(table, trigger).into_iter().filter(|_| !only) {
                self.store.set_trigger_state(&partition, &trigger.name, state)?;
                self.touch(partition.physical.database, partition.oid);
            }
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
            edit_actions(&mut renamed, TriggerEdit::RenameColumn(&table.columns[column].name, to))?;
            let mut after = table.clone();
            to.clone_into(&mut after.columns[column].name);
            self.store.record_trigger(&after, &renamed)?;
        }
        Ok(())
    }

    /// The triggers of a table that has got another name, in whose texts it stands.
    pub(super) fn rename_table_in_triggers(&self, table: &Relation, to: &str) -> Done {
        for trigger in table.named_triggers().filter(|trigger| trigger.actions().is_some()) {
            let mut renamed = Trigger::clone(trigger);
            edit_actions(&mut renamed, TriggerEdit::RenameTable(to))?;
            self.store.record_trigger(table, &renamed)?;
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
            // An Informix trigger waits for the other columns that it names.
            if trigger.actions().is_some() && trigger.columns.len() > 1 && trigger.columns.contains(&column) {
                let mut less = Trigger::clone(trigger);
                less.columns.retain(|at| *at != column);
                edit_actions(&mut less, TriggerEdit::DropColumn(&table.columns[column].name))?;
                self.store.record_trigger(table, &less)?;
                continue;
            }
            if named || trigger.columns.contains(&column) {
                naming.push(trigger);
            }
        }
        if naming.is_empty() {
            return Ok(());
        }
        // As they were made.
        naming.sort_by_key(|trigger| trigger.oid);
        let name = &table.columns[column].name;
        let shown = format!("column {name} of {}", describe(table));
        let dependents: Vec<(String, String)> = naming
            .iter()
            .map(|trigger| (format!("trigger {} on {}", trigger.name, describe(table)), shown.clone()))
            .collect();
        if !cascade {
            return Err(cannot_drop(&shown, &dependents));
        }
        self.tell_cascade(&dependents.into_iter().map(|(trigger, _)| trigger).collect::<Vec<_>>());
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

    /// Triggers whose WHEN names a collation, an operator or a cast.
    pub(super) fn triggers_in(&self, named: u32) -> Vec<(Arc<Relation>, Arc<Trigger>)> {
        let schema = self.schema();
        let context = rowferry_dialect::plan::Context::default();
        let mut found = Vec::new();
        for relation in schema.main.triggered().chain(schema.temp.triggered()) {
            for trigger in &relation.triggers {
                let Some(text) = &trigger.condition else { continue };
                let uses = rowferry_dialect::postgres::trigger_condition_uses(text, relation, &schema, &context);
                if uses.is_ok_and(|uses| uses.collations.contains(&named) || uses.routines.contains(&named)) {
                    found.push((relation.clone(), trigger.clone()));
                }
            }
        }
        found
    }

    pub(super) fn drop_triggers<'t>(&self, triggers: impl Iterator<Item = (&'t Relation, &'t Trigger)>) -> Done {
        for (relation, trigger) in triggers {
            self.store.forget_trigger(relation, &trigger.name)?;
            self.touch(relation.physical.database, relation.oid);
        }
        self.bump()
    }
}

/// A partition has the row triggers of its table; those that stand for a key come with the partition's own.
fn is_cloned(trigger: &Trigger) -> bool {
    trigger.level == TriggerLevel::Row && trigger.key.is_none()
}
