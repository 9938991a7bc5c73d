//! Statements that read tables of other databases of the server.
//!
//! Such a statement is compiled against the schemas of all of them, and runs on the session's own handle, which has the
//! other files beside its own. Each file is read as it was committed last when the statement begins; a transaction that
//! writes, or that reads one snapshot throughout, goes on to see the other files as they were when it first looked.

use std::sync::Arc;

use rowferry_dialect::access::{Need, Privileges};
use rowferry_dialect::{Condition, Error, Result};

use super::execute::RENEWALS;
use super::{Prepared, Session};
use crate::Database;
use crate::backend::Attachment;
use crate::database::Shared;
use crate::schema::{Neighbours, original_of, seen_by};

impl Session {
    /// Lets statements name tables of the databases beside the session's own, of those that `admits` lets it look into.
    pub fn see_neighbours(&mut self, admits: impl Fn(&Database) -> Result<()> + Send + Sync + 'static) {
        self.schema.neighbours = Neighbours::of(&self.database.shared, Box::new(admits));
        self.schema_moved();
    }

    /// The other databases are those that a plan was made for, and nothing has changed there.
    pub(super) fn is_true_elsewhere(&self, plan: &Prepared) -> bool {
        plan.elsewhere.iter().all(|reached| {
            let same = |database: &Arc<Shared>| {
                std::ptr::eq(reached.database.as_ptr(), Arc::as_ptr(database))
                    && database.generation() == reached.generation
            };
            // What cannot be opened any more is told when the statement is compiled anew.
            self.schema.neighbours.open(&reached.name).is_ok_and(|found| found.is_some_and(|found| same(&found.shared)))
        })
    }

    /// Looks whether somebody else has changed the schema of another database that a statement names.
    pub(super) fn reload_elsewhere(&self) -> bool {
        let changed = |reached: &crate::schema::Reached| {
            let database = reached.database.upgrade()?;
            Some(database.refresh_apart().ok()?.generation != reached.generation)
        };
        // All of them are looked at.
        self.schema.neighbours.reached().iter().filter_map(changed).fold(false, |any, changed| any | changed)
    }

    /// Files of databases that are gone are not kept.
    pub(super) fn forget_gone(&self) {
        if let Some(handle) = &self.handle
            && !self.inner
        {
            let guard = handle.lock();
            if guard.has_attached() {
                guard.detach_gone();
            }
        }
    }

    /// Makes the tables of other databases ready that a statement reads; the plan that is to run.
    pub(super) fn reach(&mut self, prepared: &Arc<Prepared>) -> Result<Arc<Prepared>> {
        if !prepared.uses.rows.is_empty() && prepared.uses.rows.iter().any(|oid| original_of(*oid).is_some()) {
            return Err(Error::unsupported("FOR UPDATE of a table of another database"));
        }
        let mut plan = prepared.clone();
        for _ in 0..RENEWALS {
            plan = self.renew(&plan)?;
            let mut fresh = false;
            let mut moved = false;
            for reached in &plan.elsewhere {
                let gone =
                    || Error::new(Condition::InvalidCatalogName, format!("database \"{}\" is gone", reached.name));
                let database = self.schema.neighbours.open(&reached.name)?.ok_or_else(gone)?;
                let handle = self.handle()?;
                let guard = handle.lock();
                let attached = guard.attach(reached, &database.shared, &plan.elsewhere)?;
                fresh |= self.checked(attached)? == Attachment::New;
                let number = self.checked(guard.schema_number_of(reached.alias))?;
                drop(guard);
                if number == database.shared.current().cookie {
                    continue;
                }
                // Somebody else has changed it, or the transaction looks at what it was.
                if database.shared.refresh_apart()?.cookie != number {
                    let message = format!(
                        "the schema of database \"{}\" has changed since the transaction first read it",
                        reached.name
                    );
                    return Err(Error::new(Condition::SerializationFailure, message));
                }
                moved = true;
            }
            if fresh {
                // Rows that cursors have still to read were there before.
                self.materialise_cursors()?;
            }
            if !moved && self.is_true_elsewhere(&plan) {
                self.check_needs_elsewhere(&plan)?;
                return Ok(plan);
            }
        }
        Err(Error::internal("the schema changes all the time"))
    }

    /// Refuses what the user may not read in other databases, whose roles are theirs.
    fn check_needs_elsewhere(&self, plan: &Prepared) -> Result<()> {
        for need in plan.bound.needs.relations.iter().filter(|need| need.relation.is_elsewhere()) {
            let reached = plan.elsewhere.iter().find(|reached| reached.alias == need.relation.physical.database);
            match reached.and_then(|reached| reached.database.upgrade()) {
                Some(database) => self.check_need_elsewhere(need, &database)?,
                None => return Err(Error::stale_plan()),
            }
        }
        Ok(())
    }

    fn check_need_elsewhere(&self, need: &Need, database: &Shared) -> Result<()> {
        let there = seen_by(database.current(), &self.schema.user, &self.schema.neighbours);
        let rights = there.rights();
        let role = match need.behind {
            None => rights.role(),
            // Whoever has the view needs the privileges.
            Some(view) => match original_of(view) {
                Some((_, original)) => rights.owner(original),
                None => {
                    let owner = self.schema.role_name(self.rights().owner(view));
                    owner.and_then(|owner| there.role_oid(&owner)).unwrap_or(u32::MAX)
                }
            },
        };
        let original = original_of(need.relation.oid).and_then(|(_, oid)| there.main.relation_by_oid(oid).cloned());
        let Some(relation) = original else { return Err(Error::stale_plan()) };
        if there.main.roles.is_simple() {
            return Ok(());
        }
        debug_assert!(!need.privileges.overlaps(Privileges::INSERT), "nothing is written elsewhere");
        need.check_elsewhere(&relation, &rights, role)
    }
}
