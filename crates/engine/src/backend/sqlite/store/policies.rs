//! Policies: rows of our own table.

use rowferry_dialect::schema::{Policy, Relation};
use rusqlite::params;

use super::Store;
use crate::backend::Done;
use crate::backend::sqlite::schema::metadata;

impl Store<'_> {
    /// Writes a policy of a table as it is to be.
    pub fn record_policy(&self, table: &Relation, policy: &Policy) -> Done {
        metadata::create_policies(self.handle.bound(), table.physical.database)?;
        let sql = format!(
            "INSERT OR REPLACE INTO {}.rowferry_policies
             (oid, name, policy_oid, permissive, command, roles, using_text, check_text, needs, comment)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
            table.physical.database
        );
        self.execute(
            &sql,
            params![
                table.oid,
                policy.name,
                policy.oid,
                policy.permissive,
                policy.command.word(),
                serde_json::Value::from(policy.roles.clone()).to_string(),
                policy.using,
                policy.check,
                serde_json::to_string(&policy.needs).unwrap_or_default(),
                policy.comment,
            ],
        )?;
        Ok(())
    }

    /// A policy is gone.
    pub fn forget_policy(&self, table: &Relation, policy: &Policy) -> Done {
        let sql = format!("DELETE FROM {}.rowferry_policies WHERE oid = ?1 AND name = ?2", table.physical.database);
        self.execute(&sql, params![table.oid, policy.name])?;
        Ok(())
    }
}
