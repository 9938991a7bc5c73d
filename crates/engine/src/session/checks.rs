//! Checks that need more than SQLite has.
//!
//! Such a check cannot stand in the file: whoever else writes to it lacks our functions. It stands in the metadata
//! tables instead, and each session that writes has temporary triggers for it on its own handle.

use rowferry_dialect::lower::sqlite::create_table::quote;
use rowferry_dialect::lower::sqlite::quote_text;
use rowferry_dialect::{Result, Schema as _};

use super::Session;

impl Session {
    /// Makes the triggers for the schema of the transaction that has just begun to write.
    pub(super) fn install_checks(&mut self) -> Result<()> {
        let generation = self.schema.generation();
        if self.checks_of == Some(generation) {
            return Ok(());
        }
        self.drop_checks()?;
        let mut statements = Vec::new();
        for (relation, details) in self.schema.main.checked().chain(self.schema.temp.checked()) {
            for (number, (name, sql)) in details.engine_checks.iter().enumerate() {
                for event in ["INSERT", "UPDATE"] {
                    let trigger = format!("rowferry_check_{}_{number}_{event}", relation.oid);
                    statements.push((
                        trigger.clone(),
                        format!(
                            "CREATE TEMP TRIGGER {} AFTER {event} ON {}.{} WHEN NOT ({sql})
                             BEGIN SELECT rf_check_failed({}, {}); END",
                            quote(&trigger),
                            relation.physical.database,
                            quote(&relation.physical.name),
                            quote_text(&relation.name),
                            quote_text(name),
                        ),
                    ));
                }
            }
        }
        if !statements.is_empty() {
            let handle = self.handle()?;
            let guard = handle.lock();
            for (name, sql) in statements {
                self.checked(guard.batch(&sql))?;
                if !self.check_triggers.contains(&name) {
                    self.check_triggers.push(name);
                }
            }
        }
        self.checks_of = Some(generation);
        Ok(())
    }

    /// Drops them: before the schema changes, which they would stand in the way of.
    pub(super) fn drop_checks(&mut self) -> Result<()> {
        self.checks_of = None;
        if self.check_triggers.is_empty() {
            return Ok(());
        }
        // Names are kept: a rollback brings the triggers back that were dropped in it. Their table may be gone, too.
        let handle = self.handle()?;
        let guard = handle.lock();
        let mut names = self.check_triggers.iter();
        names.try_for_each(|name| self.checked(guard.batch(&format!("DROP TRIGGER IF EXISTS temp.{}", quote(name)))))
    }
}
