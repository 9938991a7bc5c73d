//! Rules: rows of our own table.

use rowferry_dialect::schema::{Relation, Rule};
use rusqlite::params;

use super::Store;
use crate::backend::Done;
use crate::backend::sqlite::schema::metadata;

impl Store<'_> {
    /// Writes a rule of a relation as it is to be.
    pub fn record_rule(&self, relation: &Relation, rule: &Rule) -> Done {
        metadata::create_rules(self.handle.bound(), relation.physical.database)?;
        let sql = format!(
            "INSERT OR REPLACE INTO {}.rowferry_rules
             (oid, name, rule_oid, event, instead, condition, actions, enabled, needs, comment)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
            relation.physical.database
        );
        self.execute(
            &sql,
            params![
                relation.oid,
                rule.name,
                rule.oid,
                rule.event.words(),
                rule.instead,
                rule.condition,
                serde_json::Value::from(rule.actions.clone()).to_string(),
                rule.state.letter(),
                serde_json::to_string(&rule.needs).unwrap_or_default(),
                rule.comment,
            ],
        )?;
        Ok(())
    }

    /// A rule is gone.
    pub fn forget_rule(&self, relation: &Relation, rule: &Rule) -> Done {
        let sql = format!("DELETE FROM {}.rowferry_rules WHERE oid = ?1 AND name = ?2", relation.physical.database);
        self.execute(&sql, params![relation.oid, rule.name])?;
        Ok(())
    }
}
