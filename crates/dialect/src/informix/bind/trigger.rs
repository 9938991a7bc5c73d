//! CREATE TRIGGER, DROP TRIGGER: a trigger is kept as one of the engine's for each of its lists of actions.

use std::sync::Arc;

use super::Binder;
use crate::informix::ast::{CreateTrigger, ObjectName};
use crate::ir::{self, ChangeTrigger, Ddl, TriggerChange, TriggerEvent, TriggerLevel, TriggerState, TriggerTime};
use crate::schema::{Relation, RelationKind, Trigger, TriggerPart};
use crate::{Condition, Result};

impl Binder<'_> {
    pub(super) fn create_trigger(&mut self, create: &CreateTrigger) -> Result<ir::Statement> {
        self.changes_schema();
        let definition = &create.trigger;
        let relation = self.relation(&create.table)?;
        self.check_place(create, &relation)?;
        let mut gone = Vec::new();
        if let Some((on, parts)) = self.trigger_parts(&definition.name) {
            if create.if_not_exists {
                return Ok(ir::Statement::Nothing { tag: "CREATE TRIGGER" });
            }
            if !create.or_replace || on.oid != relation.oid {
                let message = format!("the trigger ({}) already exists in the database", definition.name);
                return Err(self.error(Condition::DuplicateTrigger, message, create.at).column(&*definition.name));
            }
            gone = parts;
        }
        let mut columns = Vec::new();
        for (name, at) in &definition.columns {
            let Some(column) = relation.column(name) else {
                let message = format!("column ({name}) not found in table {}", relation.name);
                return Err(self.error(Condition::UndefinedColumn, message, *at).column(&**name));
            };
            if columns.contains(&column) {
                let message = format!("column ({name}) is named twice");
                return Err(self.error(Condition::DuplicateColumn, message, *at).column(&**name));
            }
            columns.push(column);
        }
        let text = &self.kept(create.text);
        let mut made = Vec::new();
        for (part, routine) in &definition.parts {
            // What its variables are is looked at now, so that a wrong name does not wait for the first row.
            for variable in &routine.variables {
                let ty = variable.ty.resolve(self.schema);
                self.placed(ty, create.at)?;
            }
            let (time, level) = match part {
                TriggerPart::Before => (TriggerTime::Before, TriggerLevel::Statement),
                TriggerPart::EachRow if definition.instead => (TriggerTime::InsteadOf, TriggerLevel::Row),
                TriggerPart::EachRow if definition.sets_row => (TriggerTime::Before, TriggerLevel::Row),
                TriggerPart::EachRow => (TriggerTime::After, TriggerLevel::Row),
                TriggerPart::After => (TriggerTime::After, TriggerLevel::Statement),
            };
            made.push(Trigger {
                oid: 0,
                name: part.name_of(&definition.name),
                function: Trigger::ACTIONS,
                time,
                level,
                events: definition.event.bit(),
                columns: columns.clone(),
                condition: None,
                args: vec![definition.name.clone(), part.word().to_owned(), text.to_owned()],
                old_table: None,
                new_table: None,
                constraint: None,
                state: if create.disabled { TriggerState::Disabled } else { TriggerState::Origin },
                comment: None,
                key: None,
            });
        }
        let change = TriggerChange::Actions { gone, made };
        Ok(ir::Statement::Ddl(Box::new(Ddl::Trigger(ChangeTrigger { relation, change }))))
    }

    fn check_place(&self, create: &CreateTrigger, relation: &Relation) -> Result<()> {
        let at = create.table.at;
        if relation.kind == RelationKind::Catalog {
            let message = format!("the catalog table {} cannot have triggers", relation.name);
            return Err(self.error(Condition::InsufficientPrivilege, message, at));
        }
        let is_view = matches!(relation.kind, RelationKind::View { .. });
        if create.trigger.instead {
            return if is_view { Ok(()) } else { self.unsupported("INSTEAD OF at other than a view", at) };
        }
        if relation.kind != RelationKind::Table {
            return self.unsupported("a trigger at a view other than INSTEAD OF", at);
        }
        if relation.without_identity || relation.is_temporary() || relation.bound().is_some() {
            return self.unsupported("a trigger at a temporary table, a partition or a table without rowid", at);
        }
        if create.trigger.sets_row && create.trigger.event == TriggerEvent::Delete {
            return self.unsupported("EXECUTE FUNCTION … INTO columns of a row that is deleted", at);
        }
        Ok(())
    }

    pub(super) fn drop_trigger(&mut self, name: &ObjectName, if_exists: bool) -> Result<ir::Statement> {
        self.changes_schema();
        let Some((relation, gone)) = self.trigger_parts(&name.name) else {
            if if_exists {
                return Ok(ir::Statement::Nothing { tag: "DROP TRIGGER" });
            }
            return Err(self.no_trigger(name));
        };
        let change = TriggerChange::Actions { gone, made: Vec::new() };
        Ok(ir::Statement::Ddl(Box::new(Ddl::Trigger(ChangeTrigger { relation, change }))))
    }

    /// The triggers that a trigger of this door's is kept as, and their table.
    fn trigger_parts(&self, name: &str) -> Option<(Arc<Relation>, Vec<Arc<Trigger>>)> {
        self.schema.triggered().into_iter().find_map(|relation| {
            let of_name = |trigger: &&Arc<Trigger>| trigger.actions().is_some_and(|actions| actions.trigger == name);
            let parts: Vec<_> = relation.named_triggers().filter(of_name).cloned().collect();
            (!parts.is_empty()).then_some((relation, parts))
        })
    }

    /// SET TRIGGERS: by their names, or all of a table.
    pub(super) fn set_triggers(
        &mut self,
        table: Option<&ObjectName>,
        names: &[ObjectName],
        disabled: bool,
    ) -> Result<ir::Statement> {
        self.changes_schema();
        let mut triggers: Vec<Arc<Trigger>> = Vec::new();
        let mut on = table.map(|table| self.relation(table)).transpose()?;
        if let Some(relation) = &on {
            let own = relation.named_triggers().filter(|trigger| trigger.actions().is_some());
            triggers.extend(own.cloned());
        }
        for name in names {
            let Some((relation, parts)) = self.trigger_parts(&name.name) else {
                return Err(self.no_trigger(name));
            };
            if on.as_ref().is_some_and(|on| on.oid != relation.oid) {
                return self.unsupported("SET TRIGGERS of several tables", name.at);
            }
            on = Some(relation);
            triggers.extend(parts);
        }
        let Some(table) = on else { return Err(crate::Error::internal("SET TRIGGERS of none")) };
        let state = if disabled { TriggerState::Disabled } else { TriggerState::Origin };
        let actions = vec![ir::AlterTable::SetTriggers { triggers, state, all: false, only: false }];
        Ok(ir::Statement::Ddl(Box::new(Ddl::AlterTable { table, actions, heirs: Vec::new() })))
    }

    fn no_trigger(&self, name: &ObjectName) -> crate::Error {
        let message = format!("the trigger ({}) is not in the database", name.name);
        self.error(Condition::UndefinedObject, message, name.at).column(&*name.name)
    }
}
