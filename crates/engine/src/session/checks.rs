//! Checks that the engine enforces.
//!
//! Such a check cannot stand in the table's own form: whoever else writes to it lacks our functions. It stands beside,
//! and each session that writes has it watched on its own handle.

use rowferry_dialect::{Error, Result, Schema as _};

use super::Session;

impl Session {
    /// Has the checks watched for the schema of the transaction that has just begun to write.
    pub(super) fn install_checks(&mut self) -> Result<()> {
        let generation = self.schema.generation();
        if self.checks_of == Some(generation) {
            return Ok(());
        }
        self.drop_checks()?;
        let checked: Vec<_> = self.schema.main.checked().chain(self.schema.temp.checked()).collect();
        if !checked.is_empty() {
            let handle = self.handle.clone().ok_or_else(|| Error::internal("a transaction without a handle"))?;
            let guard = handle.lock();
            let watches = &mut self.watches;
            let watched = checked.into_iter().try_for_each(|(relation, details)| {
                details.engine_checks.iter().enumerate().try_for_each(|(number, (name, sql))| {
                    guard.watch(relation, number, name, sql, &mut |watch| {
                        if !watches.contains(&watch) {
                            watches.push(watch);
                        }
                    })
                })
            });
            self.checked(watched)?;
        }
        self.checks_of = Some(generation);
        Ok(())
    }

    /// No longer: before the schema changes, which they would stand in the way of.
    pub(super) fn drop_checks(&mut self) -> Result<()> {
        self.checks_of = None;
        if self.watches.is_empty() {
            return Ok(());
        }
        // They are kept in mind: a rollback brings back those that were taken away in it. Their table may be gone, too.
        let handle = self.handle()?;
        let guard = handle.lock();
        self.watches.iter().try_for_each(|watch| self.checked(guard.unwatch(watch)))
    }
}
