//! A transaction's first write: who waits for the write lock, and how long.

use std::time::Duration;

use rowferry_dialect::{Condition, Error, Result};

use super::Session;
use super::transaction::{LONGEST_WAIT_FOR_READERS, Open};
use crate::backend::{Guard, errors};

impl Session {
    /// A query is about to call functions that may write: they are refused what they may not do in this transaction.
    pub(crate) fn open_for_writers(&mut self) -> Result<()> {
        if self.is_read_only() || self.database.shared.options.read_only {
            return self.open_read();
        }
        self.open_write("SELECT")
    }

    /// A statement is about to write: waits for its turn, once for each transaction.
    pub(super) fn open_write(&mut self, command: &str) -> Result<()> {
        self.may_write(command)?;
        self.take_write_lock_for(command)
    }

    /// Refuses a statement where nothing may be written.
    pub(super) fn may_write(&self, command: &str) -> Result<()> {
        let refused = |message| Err(Error::new(Condition::ReadOnlySqlTransaction, message));
        if self.is_read_only() {
            return refused(format!("cannot execute {command} in a read-only transaction"));
        }
        if self.database.shared.options.read_only {
            return refused(format!("cannot execute {command}: the database is open for reading only"));
        }
        Ok(())
    }

    /// A transaction that has changed temporary tables is about to look into the file.
    pub(super) fn take_write_lock(&mut self) -> Result<()> {
        self.take_write_lock_for("a statement")
    }

    fn take_write_lock_for(&mut self, command: &str) -> Result<()> {
        self.transaction.used = true;
        match self.transaction.open {
            Open::Write { .. } => {
                self.check_replication_role()?;
                self.materialise_cursors()?;
                return self.install_checks();
            }
            Open::Outer { write: true } => return self.materialise_cursors(),
            Open::Outer { write: false } => {
                return Err(Error::new(
                    Condition::RoutineStatement,
                    format!("{command} cannot run in a routine that a query or data change calls"),
                ));
            }
            Open::No | Open::Snapshot | Open::Temporary => self.must_change_nothing_there()?,
        }
        let patience = self.patience();
        let locks = self.database.shared.locks.clone();
        locks.xids.assign(&self.state.owner);
        let permit = match self.transaction.open {
            // With a rollback journal the writer waits at its commit for all who read, so nobody who reads may wait for it;
            // and whoever writes now leaves this snapshot behind.
            Open::Snapshot if self.database.shared.has_rollback_journal() => {
                locks.try_write(&self.state.owner).ok_or_else(errors::serialization_failure)?
            }
            _ => {
                if self.database.shared.has_rollback_journal() {
                    self.materialise_cursors()?;
                }
                let refused = Condition::LockNotAvailable.informix_code();
                let permit = locks.write_within(&self.state.owner, Some(patience));
                permit.map_err(|refusal| self.refused(refusal, refused, String::new))?
            }
        };
        self.state.activity.lock().writing = true;
        self.state.write_serial.store(crate::schema::next_generation(), std::sync::atomic::Ordering::Relaxed);
        // Before anything is written: what cursors have still to read was there before it.
        self.materialise_cursors()?;
        let handle = self.handle()?;
        let guard = handle.lock();
        guard.set_busy_timeout(match patience.timeout {
            // Who waits for readers here is in no lock's queue, where a deadlock would be found.
            Duration::ZERO if self.database.shared.has_rollback_journal() => LONGEST_WAIT_FOR_READERS,
            timeout => timeout,
        });
        match self.transaction.open {
            Open::Snapshot => {
                // The write itself will find out whether the snapshot is still the newest.
                self.check_replication_role()?;
                self.transaction.open = Open::Write { _permit: permit };
            }
            Open::Temporary => {
                self.check_replication_role()?;
                self.checked(guard.start_writing())?;
                self.transaction.open = Open::Write { _permit: permit };
                drop(guard);
                self.adopt_committed_schema()?;
            }
            _ => {
                self.follow_replication_role(&guard)?;
                self.checked(guard.begin_writing())?;
                self.transaction.open = Open::Write { _permit: permit };
                drop(guard);
                self.set_savepoints()?;
                self.adopt_committed_schema()?;
            }
        }
        self.apply_checking()?;
        self.install_checks()
    }

    /// Foreign keys as `session_replication_role` wants them, which can be changed between transactions alone.
    pub(super) fn follow_replication_role(&mut self, guard: &Guard<'_>) -> Result<()> {
        let replica = self.state.variables.read().is_replica();
        if replica != self.keys_off {
            self.checked(guard.look_at_keys(!replica))?;
            self.keys_off = replica;
        }
        Ok(())
    }

    fn check_replication_role(&self) -> Result<()> {
        if self.state.variables.read().is_replica() == self.keys_off {
            return Ok(());
        }
        Err(Error::unsupported("session_replication_role that has changed since the transaction began"))
    }
}
