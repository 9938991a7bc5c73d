//! How a transaction ends: what a commit writes, and what a rollback takes back.

use rowferry_dialect::{Condition, Error, Result};

use super::Session;
use super::transaction::{Open, Transaction, lost};
use crate::backend::{Guard, errors};

impl Session {
    /// Ends the transaction well.
    pub(super) fn end_commit(&mut self) -> Result<()> {
        let result = self
            .tell_deferred(true)
            .and_then(|()| self.commit_portals())
            .and_then(|()| self.run_on_commit())
            .and_then(|()| self.settle_labels())
            .and_then(|()| self.reserve_notifications())
            .and_then(|reserved| self.commit_there().map(|()| reserved))
            .and_then(|reserved| self.commit_upstream().map(|()| reserved))
            .and_then(|reserved| self.commit_open().map(|wrote| (reserved, wrote)));
        let (reserved, wrote) = match result {
            Ok(done) => done,
            Err(error) => {
                self.end_rollback();
                return Err(error);
            }
        };
        if matches!(self.transaction.open, Open::Write { .. }) {
            self.database.shared.file.committed();
            let number = self.database.shared.committed();
            self.database.shared.locks.committed(&self.state.owner, number);
            self.commits_seen = self.commits_seen.wrapping_add(1);
            if self.transaction.schema_changed {
                self.database.shared.publish(self.schema.main.clone());
            }
        }
        // Read before the setting's own value is that of the next transaction.
        let waits = wrote && self.state.variables.read().is_synchronous();
        // Nobody is told of what a crash may undo; otherwise, the wait for the disk is shared with the next writers.
        let (waits, safe) = match &reserved {
            Some(_) if waits => (false, self.database.shared.make_safe()),
            _ => (waits, Ok(())),
        };
        match reserved {
            Some(reserved) if safe.is_ok() => self.publish_notifications(reserved),
            _ => self.state.forget_outgoing(),
        }
        self.state.deferred.lock().clear();
        self.state.close_large_objects();
        self.count_end(true);
        // The write lock passes on here, after the new schema is known.
        self.transaction = Transaction::default();
        self.end_locks(true);
        self.save_sequences_now();
        self.state.variables.write().commit();
        self.sync_variables();
        self.publish_activity();
        if waits { self.database.shared.make_safe() } else { safe }
    }

    /// True when something has been written that a crash may undo.
    fn commit_open(&mut self) -> Result<bool> {
        match self.transaction.open {
            Open::No | Open::Outer { .. } => Ok(false),
            Open::Snapshot | Open::Temporary | Open::Write { .. } => self.commit_file(),
        }
    }

    fn commit_file(&mut self) -> Result<bool> {
        if self.is_lost() {
            return Err(lost());
        }
        if matches!(self.transaction.open, Open::Snapshot | Open::Temporary) {
            self.materialise_cursors()?;
        } else {
            // Nothing is acknowledged into a file that nobody will find.
            self.database.shared.file.look_before_commit()?;
        }
        let handle = self.handle()?;
        let guard = handle.lock();
        let saved = match self.transaction.open {
            Open::Write { .. } => self.checked(self.save_sequences(guard.connection()))?,
            _ => Vec::new(),
        };
        if matches!(self.transaction.open, Open::Write { .. }) {
            self.take_in_words(&guard)?;
        }
        let xid = || self.database.shared.locks.xids.assign(&self.state.owner);
        let writes = matches!(self.transaction.open, Open::Write { .. });
        if writes {
            self.database.shared.log_sync.reserve();
        }
        let committed = guard.commit(xid).map(|()| {
            self.sequences_saved(&saved);
            writes && guard.has_written()
        });
        committed.map_err(|failure| {
            if failure.breaks_foreign_key() {
                self.deferred_violation(&guard)
            } else {
                errors::translate(&failure, &self.interrupter, None)
            }
        })
    }

    /// Which deferred foreign key a COMMIT has failed on.
    pub(super) fn deferred_violation(&self, guard: &Guard<'_>) -> Error {
        let plain = || Error::new(Condition::ForeignKeyViolation, "a foreign key constraint is violated at commit");
        self.violated_key(guard, &|key| key.valid).unwrap_or_else(plain)
    }

    /// Ends the transaction without effect. Nothing can fail here: what the back end could not undo it has undone before.
    pub(super) fn end_rollback(&mut self) {
        self.roll_back_there();
        self.roll_back_upstream();
        self.roll_back_portals();
        if !matches!(self.transaction.open, Open::No) {
            // Cursors read what the transaction has written, so their rows must come out first.
            let _ = self.materialise_cursors();
            self.close_transaction();
        }
        let schema_changed = self.transaction.schema_changed;
        self.state.deferred.lock().clear();
        self.state.forget_outgoing();
        self.state.close_large_objects();
        self.count_end(false);
        self.transaction = Transaction::default();
        self.end_locks(false);
        self.save_sequences_now();
        self.state.variables.write().undo(0);
        self.state.variables.write().commit();
        if schema_changed {
            self.schema.main = self.database.shared.current();
            if let Err(error) = self.load_temporary_schema() {
                tracing::error!(%error, "could not read the temporary schema after a rollback");
            }
        }
        self.sync_variables();
        self.publish_activity();
    }

    /// ROLLBACK of the back end's transaction, whatever state it is in; the write lock passes on.
    pub(super) fn close_transaction(&mut self) {
        if let Some(handle) = &self.handle {
            let guard = handle.lock();
            if guard.is_in_transaction()
                && let Err(failure) = guard.roll_back()
            {
                tracing::error!(failure.message, "ROLLBACK failed");
            }
        }
        self.transaction.open = Open::No;
        // Triggers made in it are gone with it; those that are not are dropped before new ones are made.
        self.checks_of = None;
        for savepoint in &mut self.transaction.savepoints {
            savepoint.set = false;
        }
    }
}
