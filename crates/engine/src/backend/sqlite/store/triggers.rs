//! Triggers: rows of our own table, of which SQLite knows nothing.

use rowferry_dialect::ir::TriggerState;
use rowferry_dialect::schema::{Relation, Trigger};
use rusqlite::params;

use super::Store;
use crate::backend::Done;
use crate::backend::sqlite::schema::metadata;

impl Store<'_> {
    /// Writes a trigger as it is to be; one that takes another's place keeps its object id.
    pub fn record_trigger(&self, relation: &Relation, trigger: &Trigger) -> Done {
        let database = relation.physical.database;
        metadata::create_triggers(self.handle.bound(), database)?;
        let json = |texts: Vec<&str>| (!texts.is_empty()).then(|| serde_json::Value::from(texts).to_string());
        let events: Vec<&str> = trigger.each_event().map(|event| event.words()).collect();
        let checked = trigger.constraint.map(|constraint| match (constraint.deferrable, constraint.deferred) {
            (_, true) => "deferred",
            (true, false) => "deferrable",
            (false, false) => "immediate",
        });
        let known = relation.trigger(&trigger.name).map(|known| known.oid);
        let oid = known
            .unwrap_or_else(|| metadata::derived_oid("trigger", database, &[&relation.oid.to_string(), &trigger.name]));
        let sql = format!(
            "INSERT OR REPLACE INTO {database}.rowferry_triggers
             (oid, name, trigger_oid, function, time, level, events, columns, condition, arguments, old_table,
              new_table, checked, referenced, enabled, comment)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)"
        );
        self.execute(
            &sql,
            params![
                relation.oid,
                trigger.name,
                oid,
                trigger.function,
                trigger.time.words(),
                trigger.level.words(),
                events.join(" "),
                json(trigger.columns.iter().map(|at| relation.columns[*at].name.as_str()).collect()),
                trigger.condition,
                json(trigger.args.iter().map(String::as_str).collect()),
                trigger.old_table,
                trigger.new_table,
                checked,
                trigger.constraint.map(|constraint| constraint.from),
                trigger.state.letter(),
                trigger.comment,
            ],
        )?;
        Ok(())
    }

    /// A trigger is gone.
    pub fn forget_trigger(&self, relation: &Relation, name: &str) -> Done {
        let sql = format!("DELETE FROM {}.rowferry_triggers WHERE oid = ?1 AND name = ?2", relation.physical.database);
        self.execute(&sql, params![relation.oid, name])?;
        Ok(())
    }

    /// A trigger has another name.
    pub fn rename_trigger(&self, relation: &Relation, name: &str, to: &str) -> Done {
        self.change_trigger(relation, name, "name", Some(to))
    }

    /// Writes what is said of a trigger.
    pub fn comment_trigger(&self, relation: &Relation, name: &str, text: Option<&str>) -> Done {
        self.change_trigger(relation, name, "comment", text)
    }

    /// Writes when a trigger fires.
    pub fn set_trigger_state(&self, relation: &Relation, name: &str, state: TriggerState) -> Done {
        self.change_trigger(relation, name, "enabled", Some(state.letter()))
    }

    fn change_trigger(&self, relation: &Relation, name: &str, column: &str, value: Option<&str>) -> Done {
        let database = relation.physical.database;
        let sql = format!("UPDATE {database}.rowferry_triggers SET {column} = ?3 WHERE oid = ?1 AND name = ?2");
        self.execute(&sql, params![relation.oid, name, value])?;
        Ok(())
    }
}
