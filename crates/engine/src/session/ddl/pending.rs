//! Tables of which constraint triggers, or keys that may wait, still have something to ask.

use rowferry_dialect::ir::{AlterTable, Ddl};
use rowferry_dialect::schema::{Relation, Schema as _};
use rowferry_dialect::{Condition, Error};

use super::{Changer, Done};

impl Changer<'_> {
    /// Refuses to change what calls that wait for COMMIT are about.
    pub(super) fn check_nothing_waits(&self, ddl: &Ddl) -> Done {
        match ddl {
            Ddl::CreateIndex(index) => self.check_not_awaited(&index.table, "CREATE INDEX"),
            Ddl::AlterTable { table, actions, heirs } => {
                let own =
                    std::iter::once((table, actions)).chain(heirs.iter().map(|(table, actions)| (table, actions)));
                let mut changed = own.filter(|(_, actions)| actions.iter().any(|action| !only_renames(action)));
                changed.try_for_each(|(table, actions)| {
                    self.check_not_awaited(table, "ALTER TABLE")?;
                    // A foreign key goes from both tables.
                    let dropped = actions.iter().filter_map(|action| match action {
                        AlterTable::DropConstraint { name, .. } => {
                            table.foreign_keys.iter().find(|key| key.name == *name)
                        }
                        _ => None,
                    });
                    let schema = self.schema();
                    let mut targets = dropped.filter_map(|key| schema.relation(&key.target));
                    targets.try_for_each(|target| self.check_not_awaited(&target, "ALTER TABLE"))
                })
            }
            Ddl::Truncate { tables, .. } => {
                tables.iter().try_for_each(|table| self.check_not_awaited(table, "TRUNCATE"))
            }
            _ => Ok(()),
        }
    }

    /// Refuses to do something to a table of which a call that waits is about.
    pub(super) fn check_not_awaited(&self, table: &Relation, what: &str) -> Done {
        if self.session.is_in_use(table) {
            let message =
                format!("cannot {what} \"{}\" because it is being used by active queries in this session", table.name);
            return Err(Error::new(Condition::ObjectInUse, message).into());
        }
        if !self.session.state.deferred.lock().is_about(table.oid) {
            return Ok(());
        }
        let message = format!("cannot {what} \"{}\" because it has pending trigger events", table.name);
        Err(Error::new(Condition::ObjectInUse, message).into())
    }
}

/// Names change under everybody's eyes.
const fn only_renames(action: &AlterTable) -> bool {
    matches!(
        action,
        AlterTable::RenameColumn { .. }
            | AlterTable::RenameTable(_)
            | AlterTable::RenameConstraint { .. }
            | AlterTable::SetSchema(_)
    )
}
