//! Savepoints of a transaction: set in mind before the back end's transaction begins, and in it from then on.

use std::sync::Arc;

use rowferry_dialect::{Condition, Error, Result};

use super::Session;
use super::constraints::Checking;
use super::transaction::{Open, lost};
use super::triggers::Asked;
use crate::backend::Point;
use crate::locks::Mark;
use crate::schema::Snapshot;

/// A savepoint.
#[derive(Debug)]
pub struct Savepoint {
    pub(super) name: String,
    /// Its number on the server behind.
    upstream: usize,
    /// The back end has it too.
    pub(super) set: bool,
    /// How many changes of variables there were.
    variables: usize,
    /// The schema had been changed before.
    schema_changed: bool,
    /// The transaction was READ ONLY before.
    read_only: bool,
    /// How many constraint triggers waited, and what SET CONSTRAINTS had said.
    deferred: Asked,
    /// What it had said of foreign keys.
    checking: Checking,
    /// What was told before.
    outgoing: crate::notifications::Mark,
    /// How many large objects had been opened before.
    opened: u64,
    /// What was counted before.
    counted: crate::statistics::Mark,
    /// What was locked before.
    pub(super) locks: Mark,
    /// The schema as it was here; kept from the first change behind it on.
    schema: Option<(Arc<Snapshot>, Arc<Snapshot>)>,
}

impl Session {
    /// SAVEPOINT.
    pub fn savepoint(&mut self, name: &str) -> Result<()> {
        self.need_block("SAVEPOINT")?;
        self.push_savepoint(name)
    }

    pub(super) fn push_savepoint(&mut self, name: &str) -> Result<()> {
        if let Some(there) = &mut self.there {
            there.push_savepoint(name)?;
        }
        let savepoint = Savepoint {
            name: name.to_owned(),
            upstream: self.line().map_or(0, |line| line.deepen()),
            set: false,
            variables: self.state.variables.read().mark(),
            schema_changed: self.transaction.schema_changed,
            read_only: self.transaction.read_only,
            deferred: self.state.deferred.lock().mark(),
            checking: self.transaction.checking.clone(),
            outgoing: self.state.outgoing.lock().mark(),
            opened: self.state.descriptors.lock().mark(),
            locks: self.database.shared.locks.mark(&self.state.owner),
            counted: self.count_mark(),
            schema: None,
        };
        self.transaction.savepoints.push(savepoint);
        if matches!(self.transaction.open, Open::No) { Ok(()) } else { self.set_savepoints() }
    }

    /// RELEASE.
    pub fn release(&mut self, name: &str) -> Result<()> {
        self.need_block("RELEASE SAVEPOINT")?;
        let at = self.find_savepoint(name)?;
        self.release_at(at)
    }

    pub(super) fn release_at(&mut self, at: usize) -> Result<()> {
        if let Some(there) = &mut self.there {
            there.release_at(at)?;
        }
        if let Some(line) = self.line() {
            line.release(self.transaction.savepoints[at].upstream)?;
        }
        if self.transaction.savepoints[at].set {
            self.on_handle(|handle| handle.forget_point(Point::User(at)))?;
        }
        self.transaction.read_only = self.transaction.savepoints[at].read_only;
        self.transaction.savepoints.truncate(at);
        // What was done since is the work of whoever has set the savepoint.
        self.transaction.fresh.iter_mut().for_each(|(_, level)| *level = (*level).min(at));
        self.publish_modes();
        self.release_portals(at);
        Ok(())
    }

    /// ROLLBACK TO.
    pub fn rollback_to(&mut self, name: &str) -> Result<()> {
        self.need_block("ROLLBACK TO SAVEPOINT")?;
        let at = self.find_savepoint(name)?;
        self.go_back_to(at)
    }

    pub(super) fn go_back_to(&mut self, at: usize) -> Result<()> {
        if let Some(there) = &mut self.there {
            there.go_back_to(at)?;
        }
        if let Some(line) = self.line() {
            line.go_back_to(self.transaction.savepoints[at].upstream)?;
        }
        self.roll_back_portals_to(at);
        self.count_back_to(&self.transaction.savepoints[at].counted);
        if self.transaction.savepoints[at].set {
            if self.is_lost() {
                return Err(lost());
            }
            self.materialise_cursors()?;
            self.on_handle(|handle| handle.go_back_to(Point::User(at)))?;
            self.checks_of = None;
            self.restore_schema(at);
        } else if !matches!(self.transaction.open, Open::No) {
            // Everything that the back end's transaction has done came behind the savepoint.
            self.materialise_cursors()?;
            self.close_transaction();
            if self.transaction.schema_changed {
                self.schema.main = self.database.shared.current();
                self.load_temporary_schema()?;
            }
        }
        let savepoint = &self.transaction.savepoints[at];
        let (variables, schema_changed) = (savepoint.variables, savepoint.schema_changed);
        self.state.deferred.lock().return_to(&savepoint.deferred);
        self.transaction.checking = savepoint.checking.clone().after(&self.transaction.checking);
        self.state.outgoing.lock().undo(savepoint.outgoing);
        self.state.descriptors.lock().undo(savepoint.opened);
        self.database.shared.locks.rollback_to(&self.state.owner, savepoint.locks);
        self.transaction.failed = false;
        self.transaction.read_only = savepoint.read_only;
        self.transaction.savepoints.truncate(at + 1);
        self.transaction.fresh.retain(|(_, level)| *level <= at);
        self.state.variables.write().undo(variables);
        self.publish_modes();
        self.transaction.schema_changed = schema_changed;
        self.sync_variables();
        Ok(())
    }

    /// The schema is about to change: savepoints keep what it was.
    pub(super) fn remember_schema(&mut self) {
        for savepoint in &mut self.transaction.savepoints {
            savepoint.schema.get_or_insert_with(|| (self.schema.main.clone(), self.schema.temp.clone()));
        }
    }

    /// The schema as it was at a savepoint.
    fn restore_schema(&mut self, at: usize) {
        if let Some((main, temp)) = self.transaction.savepoints[at].schema.take() {
            self.schema.main = main;
            self.schema.temp = temp;
            self.schema_moved();
        }
    }

    fn find_savepoint(&self, name: &str) -> Result<usize> {
        self.transaction
            .savepoints
            .iter()
            .rposition(|savepoint| savepoint.name == name)
            .ok_or_else(|| Error::new(Condition::SavepointException, format!("savepoint \"{name}\" does not exist")))
    }

    /// Gives the back end the savepoints that it does not have yet.
    pub(super) fn set_savepoints(&mut self) -> Result<()> {
        for at in 0..self.transaction.savepoints.len() {
            if !self.transaction.savepoints[at].set {
                self.on_handle(|handle| handle.set_point(Point::User(at)))?;
                self.transaction.savepoints[at].set = true;
            }
        }
        Ok(())
    }
}
