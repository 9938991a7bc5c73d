//! Sequences: `nextval`, `currval`, `setval`, `lastval`.
//!
//! A number that was given is never given again while the server runs, whatever becomes of the transaction that took
//! it: the last number of each sequence is kept in memory beside the file's.
//!
//! Nobody waits for the write lock to be given a number. Who has it writes the file's counter; who could have it at once
//! does so, too; otherwise the counter is written by the next who commits anything. So a number that lies in the file
//! is never given again by a later run of the server.

use rowferry_dialect::{Condition, Error, Result};
use rusqlite::{Connection, OptionalExtension as _, params};

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::Session;
use super::state::State;
use crate::database::Shared;
use crate::locks::{Patience, Refusal};
use crate::schema::SequenceDetails;
use crate::statement::Failure;

impl State {
    /// The next number.
    pub fn nextval(&self, connection: &Connection, oid: u32) -> Result<i64> {
        let details = self.sequence(oid)?;
        let database = self.database.upgrade().ok_or_else(|| Error::internal("the database is closed"))?;
        self.check_may_change("nextval()")?;
        let mut given = database.sequences.lock();
        let stored = stored(connection, &details).map_err(|error| self.storage_error(error))?;
        let known = given.get(&oid).copied();
        let up = details.increment > 0;
        let last = match (stored, known) {
            (None, None) => None,
            (Some(value), None) | (None, Some(value)) => Some(value),
            (Some(a), Some(b)) => Some(if up { a.max(b) } else { a.min(b) }),
        };
        let next = match last {
            None => details.start,
            Some(last) => match last
                .checked_add(details.increment)
                .filter(|next| if up { *next <= details.max } else { *next >= details.min })
            {
                Some(next) => next,
                None if details.cycle => {
                    if up {
                        details.min
                    } else {
                        details.max
                    }
                }
                None => {
                    let (what, bound) = if up { ("maximum", details.max) } else { ("minimum", details.min) };
                    return Err(Error::new(
                        Condition::SequenceGeneratorLimitExceeded,
                        format!("nextval: reached {what} value of sequence \"{}\" ({bound})", details.sequence.name),
                    ));
                }
            },
        };
        given.insert(oid, next);
        drop(given);
        self.save_counter(&database, connection, &details, next, true, false)?;
        let mut own = self.sequences.lock();
        own.current.insert(oid, next);
        own.last = Some(next);
        Ok(next)
    }

    /// The number that the sequence last gave to this session.
    pub fn currval(&self, oid: u32) -> Result<i64> {
        let details = self.sequence(oid)?;
        self.sequences.lock().current.get(&oid).copied().ok_or_else(|| {
            Error::new(
                Condition::ObjectNotInPrerequisiteState,
                format!("currval of sequence \"{}\" is not yet defined in this session", details.sequence.name),
            )
        })
    }

    /// The number that any sequence last gave to this session.
    pub fn lastval(&self) -> Result<i64> {
        self.sequences.lock().last.ok_or_else(|| {
            Error::new(Condition::ObjectNotInPrerequisiteState, "lastval is not yet defined in this session")
        })
    }

    /// Sets the last number; the next is the one behind it, or itself when `is_called` is false.
    pub fn setval(&self, connection: &Connection, oid: u32, value: i64, is_called: bool) -> Result<i64> {
        let details = self.sequence(oid)?;
        if value < details.min || value > details.max {
            return Err(Error::new(
                Condition::NumericValueOutOfRange,
                format!(
                    "setval: value {value} is out of bounds for sequence \"{}\" ({}..{})",
                    details.sequence.name, details.min, details.max
                ),
            ));
        }
        let database = self.database.upgrade().ok_or_else(|| Error::internal("the database is closed"))?;
        self.check_may_change("setval()")?;
        let last = if is_called { value } else { value.wrapping_sub(details.increment) };
        self.save_counter(&database, connection, &details, value, is_called, true)?;
        database.sequences.lock().insert(oid, last);
        if is_called {
            self.sequences.lock().current.insert(oid, value);
        }
        Ok(value)
    }

    /// The last number in the file; `None` when it has given none.
    pub fn sequence_last_value(&self, connection: &Connection, oid: u32) -> Result<Option<i64>> {
        let details = self.sequence(oid)?;
        stored(connection, &details).map_err(|error| self.storage_error(error))
    }

    fn check_may_change(&self, what: &str) -> Result<()> {
        if self.variables.read().get("transaction_read_only").as_deref() == Some("on") {
            let message = format!("cannot execute {what} in a read-only transaction");
            return Err(Error::new(Condition::ReadOnlySqlTransaction, message));
        }
        Ok(())
    }

    /// Writes a counter into the file, now or with the next commit of anybody; `wait` for the write lock if need be.
    fn save_counter(
        &self,
        database: &Shared,
        connection: &Connection,
        details: &Arc<SequenceDetails>,
        value: i64,
        is_called: bool,
        wait: bool,
    ) -> Result<()> {
        let write = || store(connection, details, value, is_called).map_err(|error| self.storage_error(error));
        if details.database != "main" {
            return write();
        }
        if self.activity.lock().writing {
            // If its transaction is rolled back, the counter is not.
            database.save_sequence_later(details);
            return write();
        }
        let patience = wait.then(|| {
            let variables = self.variables.read();
            Patience { timeout: variables.lock_timeout(), deadlock: variables.timeouts().deadlock }
        });
        let permit = match database.locks.write_within(&self.owner, patience) {
            Ok(permit) => Some(permit),
            Err(Refusal::Busy) => None,
            Err(refusal) => return Err(refusal.error(String::new)),
        };
        // Inside a snapshot nothing can be written but on it, and with it.
        if permit.is_some() && connection.is_autocommit() && !database.has_rollback_journal() {
            database.file.look_before_commit()?;
            if store(connection, details, value, is_called).is_ok() {
                database.file.committed();
                return Ok(());
            }
        }
        database.save_sequence_later(details);
        Ok(())
    }

    fn sequence(&self, oid: u32) -> Result<std::sync::Arc<SequenceDetails>> {
        let schema = self.schema.read();
        let found = schema.sequence_by_oid(oid).cloned();
        found.ok_or_else(|| Error::new(Condition::UndefinedTable, format!("could not open relation with OID {oid}")))
    }

    fn storage_error(&self, error: rusqlite::Error) -> Error {
        let failure = Failure::from(error);
        crate::errors::translate(&failure, &self.interrupter, None)
    }
}

/// The last number as the file has it.
fn stored(connection: &Connection, details: &SequenceDetails) -> rusqlite::Result<Option<i64>> {
    let database = details.database;
    if let Some(table) = &details.rowid_of {
        let counted = if has_sqlite_sequence(connection, database)? {
            connection
                .prepare_cached(&format!("SELECT seq FROM {database}.sqlite_sequence WHERE name = ?1"))?
                .query_row([table], |row| row.get(0))
                .optional()?
        } else {
            None
        };
        let quoted = rowferry_dialect::lower::sqlite::create_table::quote(table);
        let greatest: Option<i64> =
            connection.query_row(&format!("SELECT max(rowid) FROM {database}.{quoted}"), [], |row| row.get(0))?;
        return Ok(counted.max(greatest));
    }
    let (last, called): (i64, bool) = connection
        .prepare_cached(&format!("SELECT last_value, is_called FROM {database}.rowferry_sequences WHERE oid = ?1"))?
        .query_row([details.sequence.oid], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(if called {
        Some(last)
    } else if last == details.start {
        None
    } else {
        Some(last.wrapping_sub(details.increment))
    })
}

fn store(connection: &Connection, details: &SequenceDetails, value: i64, is_called: bool) -> rusqlite::Result<()> {
    let database = details.database;
    if let Some(table) = &details.rowid_of {
        // Without AUTOINCREMENT the rowid counts from what lies in the table; there is nothing to set.
        if has_sqlite_sequence(connection, database)? {
            let seq = if is_called { value } else { value - 1 };
            let changed = connection
                .prepare_cached(&format!("UPDATE {database}.sqlite_sequence SET seq = ?2 WHERE name = ?1"))?
                .execute(params![table, seq])?;
            if changed == 0 {
                connection
                    .prepare_cached(&format!("INSERT INTO {database}.sqlite_sequence (name, seq) VALUES (?1, ?2)"))?
                    .execute(params![table, seq])?;
            }
        }
        return Ok(());
    }
    connection
        .prepare_cached(&format!(
            "UPDATE {database}.rowferry_sequences SET last_value = ?2, is_called = ?3 WHERE oid = ?1"
        ))?
        .execute(params![details.sequence.oid, value, is_called])?;
    Ok(())
}

fn has_sqlite_sequence(connection: &Connection, database: &str) -> rusqlite::Result<bool> {
    connection
        .prepare_cached(&format!("SELECT 1 FROM {database}.sqlite_schema WHERE name = 'sqlite_sequence'"))?
        .exists([])
}

impl Shared {
    /// The sequence's last number is to be written by the next who commits.
    fn save_sequence_later(&self, details: &Arc<SequenceDetails>) {
        let mut unsaved = self.unsaved_sequences.lock();
        unsaved.insert(details.sequence.oid, details.clone());
        self.has_unsaved_sequences.store(true, Ordering::Release);
    }
}

impl Session {
    /// Writes the counters that no file has yet; the caller holds the write lock, and says when they are committed.
    pub(super) fn save_sequences(&self, connection: &Connection) -> rusqlite::Result<Vec<(u32, i64)>> {
        if !self.database.shared.has_unsaved_sequences.load(Ordering::Acquire) {
            return Ok(Vec::new());
        }
        let unsaved: Vec<_> = self.database.shared.unsaved_sequences.lock().values().cloned().collect();
        let mut saved = Vec::with_capacity(unsaved.len());
        for details in unsaved {
            let oid = details.sequence.oid;
            let given = self.database.shared.sequences.lock().get(&oid).copied();
            if let Some(value) = given {
                store(connection, &details, value, true)?;
                saved.push((oid, value));
            }
        }
        Ok(saved)
    }

    /// These counters are committed.
    pub(super) fn sequences_saved(&self, saved: &[(u32, i64)]) {
        for (oid, value) in saved {
            let mut unsaved = self.database.shared.unsaved_sequences.lock();
            // Another number may have been given meanwhile.
            if self.database.shared.sequences.lock().get(oid) == Some(value) {
                unsaved.remove(oid);
            }
            self.database.shared.has_unsaved_sequences.store(!unsaved.is_empty(), Ordering::Release);
        }
    }

    /// Writes the counters that no file has yet in a transaction of their own, if that is possible at once.
    pub(super) fn save_sequences_now(&mut self) {
        if self.inner || !self.database.shared.has_unsaved_sequences.load(Ordering::Acquire) {
            return;
        }
        let Some(handle) = self.handle.clone() else { return };
        let Some(permit) = self.database.shared.locks.try_write(&self.state.owner) else { return };
        let guard = handle.lock();
        let moved = self.database.shared.file.look().is_err();
        if moved || !guard.is_autocommit() || guard.cursors().iter().any(|cursor| cursor.is_live()) {
            return;
        }
        let saved = guard.run("BEGIN IMMEDIATE").and_then(|()| {
            let saved = self.save_sequences(&guard)?;
            guard.run("COMMIT").map(|()| self.sequences_saved(&saved))
        });
        self.database.shared.file.committed();
        if let Err(failure) = saved {
            tracing::debug!(failure.message, "counters of sequences are written later");
            if !guard.is_autocommit() {
                let _ = guard.run("ROLLBACK");
            }
        }
        drop(permit);
    }

    /// A rowid has numbered a row: `currval` and `lastval` say so.
    pub(super) fn remember_rowid_sequence(&mut self, relation: u32, rowid: i64) {
        let details = self.schema.sequences_of(relation).find(|details| details.rowid_of.is_some());
        if let Some(details) = details {
            let mut own = self.state.sequences.lock();
            own.current.insert(details.sequence.oid, rowid);
            own.last = Some(rowid);
        }
    }
}
