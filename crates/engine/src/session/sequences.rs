//! Sequences: `nextval`, `currval`, `setval`, `lastval`.
//!
//! A number that was given is never given again while the server runs, whatever becomes of the transaction that took
//! it: the counters are kept in memory beside the file's.
//!
//! Nobody waits for the write lock to be given a number or to set a counter. Who has it writes the counter when it
//! commits; who could have it at once does so, too; otherwise the counter is written by the next who commits anything.
//! So a number that lies in the file is never given again by a later run of the server.
//!
//! ALTER SEQUENCE and TRUNCATE … RESTART IDENTITY are transactional: they give the sequence another stamp, under which
//! a new counter begins. A session counts by the stamp that its schema has, so that a rollback brings back the old one.
//!
//! Others may insert rows that the back end numbers. A sequence that numbers a table's rowids is therefore compared with the
//! greatest of them, once in each transaction that writes. Rows that were numbered by hand through us are none of its
//! affair, as in PostgreSQL.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use rowferry_dialect::access::Privileges;
use rowferry_dialect::{Condition, Error, Result};

use super::Session;
use super::state::{SequenceState, State};
use crate::backend::{Connection, Failure, greatest_identity, read_counter, store_counter};
use crate::database::Shared;
use crate::schema::SequenceDetails;

/// How many numbers PostgreSQL logs ahead: `log_cnt` counts down from there.
const LOGGED_AHEAD: i64 = 32;

/// Counters by their keys. The keys are our own numbers, for which a multiplication spreads well enough.
pub type Counters<T> = HashMap<CounterKey, T, BuildHasherDefault<KeyHasher>>;

/// Hashes one number.
#[derive(Debug, Default)]
pub struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0.rotate_left(23) ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

/// Whose counter it is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct CounterKey {
    /// The session that has it, if it is temporary.
    pid: u32,
    oid: u32,
    stamp: i64,
}

impl Hash for CounterKey {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        hasher.write_u64(u64::from(self.oid) << 32 | u64::from(self.pid));
        hasher.write_u64(self.stamp.cast_unsigned());
    }
}

/// Where a sequence stands.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Counter {
    /// The last number; the next one unless `called`.
    pub last: i64,
    /// The last number has been given.
    pub called: bool,
    /// `log_cnt`: how many numbers may follow before PostgreSQL would write its log.
    pub ahead: i64,
    /// Rowids up to this one are our own doing.
    known: i64,
    /// How often rows had been numbered by hand through us when `known` was found.
    by_hand: u64,
    /// The transaction that has compared it with the file.
    checked: u64,
    /// No file has it yet.
    unsaved: bool,
}

/// Numbers that a session has in store (CACHE).
#[derive(Clone, Copy, Debug)]
pub struct Stored {
    stamp: i64,
    last: i64,
    left: i64,
}

/// A sequence that a transaction takes numbers from one after the other.
#[derive(Clone, Debug)]
pub struct Hot {
    /// The transaction.
    writing: u64,
    details: Arc<SequenceDetails>,
}

/// A short way to a sequence that numbers the rows of a statement: what it knows holds as long as the transaction and
/// the schema are the same.
pub struct Numbers {
    state: Arc<State>,
    database: Arc<Shared>,
    details: Arc<SequenceDetails>,
    key: CounterKey,
    writing: u64,
    cooled: u64,
}

impl crate::functions::Numbers for Numbers {
    fn next(&self) -> Option<i64> {
        if self.state.write_serial.load(Ordering::Relaxed) != self.writing {
            return None;
        }
        let mut own = self.state.sequences.lock();
        if own.cooled != self.cooled {
            return None;
        }
        self.state.next_of_hot(&mut own, &self.database, &self.details, self.key, self.writing)
    }
}

impl Counter {
    /// A sequence that stands at a number.
    pub const fn at(last: i64, called: bool, known: i64) -> Self {
        Self { last, called, ahead: 0, known, by_hand: 0, checked: 0, unsaved: false }
    }

    /// True when another counter of the same sequence is further on.
    fn is_behind(&self, other: &Self, up: bool) -> bool {
        match (self.called, other.called) {
            (false, true) => true,
            (true, false) => false,
            _ if up => other.last > self.last,
            _ => other.last < self.last,
        }
    }
}

impl SequenceDetails {
    /// Its counter's key, for the session of this number.
    pub(crate) fn key(&self, pid: u32) -> CounterKey {
        let pid = if self.database == "temp" { pid } else { 0 };
        CounterKey { pid, oid: self.sequence.oid, stamp: self.stamp }
    }

    fn exhausted(&self) -> Error {
        let (what, bound) = if self.increment > 0 { ("maximum", self.max) } else { ("minimum", self.min) };
        Error::new(
            Condition::SequenceGeneratorLimitExceeded,
            format!("nextval: reached {what} value of sequence \"{}\" ({bound})", self.sequence.name),
        )
    }

    /// The number behind a counter; `None` when there is none.
    fn next(&self, counter: &Counter) -> Option<i64> {
        if !counter.called {
            return Some(counter.last);
        }
        let next = counter.last.checked_add(self.increment);
        let up = self.increment > 0;
        match next.filter(|next| if up { *next <= self.max } else { *next >= self.min }) {
            None if self.cycle => Some(if up { self.min } else { self.max }),
            next => next,
        }
    }
}

impl SequenceState {
    /// A transaction will take further numbers of a sequence; those of which a session has some in store are not hot.
    fn heat(&mut self, writing: u64, details: Arc<SequenceDetails>) {
        if writing != 0 && details.cache == 1 {
            self.hot.retain(|hot| hot.writing == writing && hot.details.sequence.oid != details.sequence.oid);
            self.hot.push(Hot { writing, details });
        }
    }
}

impl State {
    /// The next number of a sequence that numbers the rows of the session's transaction: without a look at the schema or
    /// at the file.
    pub fn nextval_again(&self, oid: u32) -> Option<i64> {
        let writing = self.write_serial.load(Ordering::Relaxed);
        if writing == 0 {
            return None;
        }
        let mut own = self.sequences.lock();
        let hot = own.hot.iter().find(|hot| hot.details.sequence.oid == oid && hot.writing == writing)?;
        let details = hot.details.clone();
        let database = self.database.upgrade()?;
        self.next_of_hot(&mut own, &database, &details, details.key(self.pid), writing)
    }

    /// The next number, under the lock of what is the session's own; `None` where it takes more than that.
    fn next_of_hot(
        &self,
        own: &mut SequenceState,
        database: &Shared,
        details: &Arc<SequenceDetails>,
        key: CounterKey,
        writing: u64,
    ) -> Option<i64> {
        let mut counters = database.sequences.lock();
        let counter = counters.get_mut(&key)?;
        if counter.checked != writing {
            return None;
        }
        let next = details.next(counter)?;
        counter.ahead = if !counter.called || counter.ahead < 1 { LOGGED_AHEAD } else { counter.ahead - 1 };
        counter.last = next;
        counter.called = true;
        let marked = std::mem::replace(&mut counter.unsaved, key.pid == 0);
        drop(counters);
        if !marked && details.database == "main" {
            database.save_sequence_later(details, key);
        }
        own.give(details.sequence.oid, next);
        Some(next)
    }

    /// A short way to the further numbers of a sequence, for a statement.
    pub fn numbers(self: &Arc<Self>, oid: u32) -> Option<Numbers> {
        let writing = self.write_serial.load(Ordering::Relaxed);
        let database = self.database.upgrade()?;
        let own = self.sequences.lock();
        let hot = own.hot.iter().find(|hot| hot.details.sequence.oid == oid && hot.writing == writing)?;
        let (details, cooled) = (hot.details.clone(), own.cooled);
        drop(own);
        let key = details.key(self.pid);
        Some(Numbers { state: self.clone(), database, details, key, writing, cooled })
    }

    /// The next number.
    pub fn nextval(&self, connection: Connection<'_>, oid: u32) -> Result<i64> {
        let details = self.sequence(oid)?;
        self.check_sequence(&details, Privileges::USAGE | Privileges::UPDATE)?;
        {
            let mut own = self.sequences.lock();
            if let Some(stored) = own.stored.get_mut(&oid)
                && stored.stamp == details.stamp
                && stored.left > 0
            {
                stored.left -= 1;
                stored.last += details.increment;
                let next = stored.last;
                own.give(oid, next);
                return Ok(next);
            }
        }
        let database = self.database.upgrade().ok_or_else(|| Error::internal("the database is closed"))?;
        self.check_may_change(&details, "nextval()")?;
        let key = details.key(self.pid);
        let mut counters = database.sequences.lock();
        let counter = self.counter(&database, connection, &details, &mut counters)?;
        let first = details.next(&counter).ok_or_else(|| details.exhausted())?;
        let mut now = Counter { last: first, called: true, ..counter };
        let mut left = 0;
        // The store of a session ends with the sequence, and does not reach over to its other end.
        while left + 1 < details.cache
            && let Some(next) = now.last.checked_add(details.increment)
            && next <= details.max
            && next >= details.min
        {
            now.last = next;
            left += 1;
        }
        now.ahead = if !counter.called || counter.ahead < 1 + left { LOGGED_AHEAD } else { counter.ahead - 1 - left };
        let marked = now.unsaved;
        now.unsaved = key.pid == 0;
        counters.insert(key, now);
        drop(counters);
        if !marked {
            self.save_counter(&database, connection, &details, key, now)?;
        }
        let mut own = self.sequences.lock();
        if details.cache > 1 {
            own.stored.insert(oid, Stored { stamp: details.stamp, last: first, left });
        }
        own.give(oid, first);
        let writing = self.write_serial.load(Ordering::Relaxed);
        own.heat(writing, details);
        Ok(first)
    }

    /// The number that the sequence last gave to this session.
    pub fn currval(&self, oid: u32) -> Result<i64> {
        let details = self.sequence(oid)?;
        self.check_sequence(&details, Privileges::SELECT | Privileges::USAGE)?;
        self.sequences.lock().current(oid).ok_or_else(|| {
            Error::new(
                Condition::ObjectNotInPrerequisiteState,
                format!("currval of sequence \"{}\" is not yet defined in this session", details.sequence.name),
            )
        })
    }

    /// The number that any sequence last gave to this session.
    pub fn lastval(&self) -> Result<i64> {
        let last = self.sequences.lock().last();
        // One that is dropped gave nothing.
        last.filter(|(oid, _)| self.sequence(*oid).is_ok()).map(|(_, value)| value).ok_or_else(|| {
            Error::new(Condition::ObjectNotInPrerequisiteState, "lastval is not yet defined in this session")
        })
    }

    /// Sets the last number; the next is the one behind it, or itself when `is_called` is false.
    pub fn setval(&self, connection: Connection<'_>, oid: u32, value: i64, is_called: bool) -> Result<i64> {
        let details = self.sequence(oid)?;
        self.check_sequence(&details, Privileges::UPDATE)?;
        let database = self.database.upgrade().ok_or_else(|| Error::internal("the database is closed"))?;
        self.check_may_change(&details, "setval()")?;
        if value < details.min || value > details.max {
            return Err(Error::new(
                Condition::NumericValueOutOfRange,
                format!(
                    "setval: value {value} is out of bounds for sequence \"{}\" ({}..{})",
                    details.sequence.name, details.min, details.max
                ),
            ));
        }
        let key = details.key(self.pid);
        let counter = {
            let mut counters = database.sequences.lock();
            let known = greatest_identity(connection, &details).map_err(|error| self.storage_error(error))?;
            let mut counter = Counter::at(value, is_called, known.unwrap_or(i64::MIN));
            counter.unsaved = key.pid == 0;
            counters.insert(key, counter);
            counter
        };
        self.save_counter(&database, connection, &details, key, counter)?;
        let mut own = self.sequences.lock();
        own.stored.remove(&oid);
        if is_called {
            own.set(oid, value);
        }
        Ok(value)
    }

    /// The last number that a sequence has given to anybody; `None` when it has given none.
    pub fn sequence_last_value(&self, connection: Connection<'_>, oid: u32) -> Result<Option<i64>> {
        let details = self.sequence(oid)?;
        let counter = self.sequence_counter(connection, &details)?;
        Ok(counter.called.then_some(counter.last))
    }

    /// The last number of a sequence, for the catalogs, which are read on the session's handle.
    pub fn last_value(&self, details: &Arc<SequenceDetails>) -> Option<i64> {
        let counter = self.running.with(|connection| self.sequence_counter(connection, details)).ok()?;
        counter.called.then_some(counter.last)
    }

    /// What a sequence yields next, as far as is known.
    pub fn next_value(&self, details: &Arc<SequenceDetails>) -> Option<i64> {
        let counter = self.running.with(|connection| self.sequence_counter(connection, details)).ok()?;
        if counter.called { counter.last.checked_add(details.increment) } else { Some(counter.last) }
    }

    /// Where a sequence stands.
    pub fn sequence_counter(&self, connection: Connection<'_>, details: &Arc<SequenceDetails>) -> Result<Counter> {
        let database = self.database.upgrade().ok_or_else(|| Error::internal("the database is closed"))?;
        let known = database.sequences.lock().get(&details.key(self.pid)).copied();
        match known {
            Some(counter) if details.rowid_of.is_none() => Ok(counter),
            _ => read_counter(connection, details).map_err(|error| self.storage_error(error)),
        }
    }

    /// The counter as it stands in memory, after a look at the file where somebody else may have written to it.
    fn counter(
        &self,
        database: &Shared,
        connection: Connection<'_>,
        details: &Arc<SequenceDetails>,
        counters: &mut Counters<Counter>,
    ) -> Result<Counter> {
        let known = counters.get(&details.key(self.pid)).copied();
        let writing = self.write_serial.load(Ordering::Relaxed);
        if let Some(counter) = known
            && (details.database == "temp" || (writing != 0 && counter.checked == writing))
        {
            return Ok(counter);
        }
        let up = details.increment > 0;
        let failed = |error| self.storage_error(error);
        let mut counter = match known {
            None => read_counter(connection, details).map_err(failed)?,
            Some(counter) if counter.unsaved && details.rowid_of.is_none() => counter,
            Some(counter) => {
                let stored = read_counter(connection, details).map_err(failed)?;
                let (last, called) = if counter.is_behind(&stored, up) {
                    (stored.last, stored.called)
                } else {
                    (counter.last, counter.called)
                };
                Counter { last, called, ..counter }
            }
        };
        if let Some(greatest) = greatest_identity(connection, details).map_err(failed)? {
            let by_hand = database.times_by_hand(details);
            if counter.by_hand != by_hand {
                counter.by_hand = by_hand;
                counter.known = counter.known.max(greatest);
            }
            let given = if counter.called { counter.last } else { counter.last.saturating_sub(1) };
            if greatest > given && greatest > counter.known && greatest < details.max {
                counter.last = greatest;
                counter.called = true;
            }
        }
        counter.checked = writing;
        Ok(counter)
    }

    fn check_may_change(&self, details: &SequenceDetails, what: &str) -> Result<()> {
        let writing = self.write_serial.load(Ordering::Relaxed) != 0;
        if writing || details.database == "temp" {
            return Ok(());
        }
        if self.variables.read().get("transaction_read_only").as_deref() == Some("on") {
            let message = format!("cannot execute {what} in a read-only transaction");
            return Err(Error::new(Condition::ReadOnlySqlTransaction, message));
        }
        Ok(())
    }

    /// Writes a counter into the file, now if that is possible at once, or with the next commit of anybody.
    fn save_counter(
        &self,
        database: &Shared,
        connection: Connection<'_>,
        details: &Arc<SequenceDetails>,
        key: CounterKey,
        counter: Counter,
    ) -> Result<()> {
        if details.database != "main" {
            return Ok(());
        }
        // Of a transaction that writes, the commit does it; if it is rolled back, the counter is not.
        database.save_sequence_later(details, key);
        if self.write_serial.load(Ordering::Relaxed) != 0 {
            return Ok(());
        }
        let Some(permit) = database.locks.try_write(&self.owner) else { return Ok(()) };
        // Inside a snapshot nothing can be written but on it, and with it.
        if !connection.is_in_transaction() && !database.has_rollback_journal() {
            database.file.look_before_commit()?;
            if store_counter(connection, details, counter).is_ok() {
                database.file.committed();
                database.sequence_saved(key, counter);
            }
        }
        drop(permit);
        Ok(())
    }

    fn sequence(&self, oid: u32) -> Result<Arc<SequenceDetails>> {
        let schema = self.schema.read();
        let found = schema.sequence_by_oid(oid).cloned();
        found.ok_or_else(|| match schema.class_name(oid) {
            Some(name) => Error::new(Condition::WrongObjectType, format!("\"{name}\" is not a sequence")),
            None => Error::new(Condition::UndefinedTable, format!("could not open relation with OID {oid}")),
        })
    }

    fn storage_error(&self, failure: Failure) -> Error {
        crate::backend::errors::translate(&failure, &self.interrupter, None)
    }
}

impl Shared {
    /// The sequence's counter is to be written by the next who commits.
    fn save_sequence_later(&self, details: &Arc<SequenceDetails>, key: CounterKey) {
        let mut unsaved = self.unsaved_sequences.lock();
        unsaved.insert(key, details.clone());
        self.has_unsaved_sequences.store(true, Ordering::Release);
    }

    /// The file has a counter now.
    fn sequence_saved(&self, key: CounterKey, saved: Counter) {
        let mut counters = self.sequences.lock();
        // Another number may have been given meanwhile.
        if let Some(counter) = counters.get_mut(&key) {
            if (counter.last, counter.called) != (saved.last, saved.called) {
                return;
            }
            counter.unsaved = false;
        }
        // Who is given the next number marks its counter again, which must not be undone here.
        let mut unsaved = self.unsaved_sequences.lock();
        unsaved.remove(&key);
        self.has_unsaved_sequences.store(!unsaved.is_empty(), Ordering::Release);
    }

    /// Rows of a table may have been numbered by hand.
    pub(super) fn numbered_by_hand(&self, relation: u32) {
        *self.by_hand.lock().entry(relation).or_default() += 1;
    }

    fn times_by_hand(&self, details: &SequenceDetails) -> u64 {
        details.owner.and_then(|(relation, _)| self.by_hand.lock().get(&relation).copied()).unwrap_or_default()
    }

    /// A session's temporary sequences are gone.
    pub(crate) fn forget_sequences_of(&self, pid: u32) {
        self.sequences.lock().retain(|key, _| key.pid != pid);
    }
}

impl Session {
    /// Compares the counters that number an INSERT's rows with the file, once in a transaction.
    pub(super) fn check_counters(&mut self, oids: &[u32]) -> Result<()> {
        let writing = self.state.write_serial.load(Ordering::Relaxed);
        if oids.is_empty() || writing == 0 {
            return Ok(());
        }
        let handle = self.handle()?;
        let guard = handle.lock();
        let mut compared = guard.compared();
        let shared = &self.database.shared;
        for oid in oids {
            let Some(details) = self.schema.sequence_by_oid(*oid) else { continue };
            let key = details.key(self.state.pid);
            let mut counters = shared.sequences.lock();
            let known = counters.get(&key).copied();
            if known.is_some_and(|counter| counter.checked == writing) {
                continue;
            }
            let by_hand = shared.times_by_hand(details);
            let counter = match known {
                Some(counter) if compared.sequences.contains(oid) && counter.by_hand == by_hand => counter,
                _ => self.state.counter(shared, guard.connection(), details, &mut counters)?,
            };
            if !compared.sequences.contains(oid) {
                compared.sequences.push(*oid);
            }
            counters.insert(key, Counter { checked: writing, ..counter });
            drop(counters);
            if self.state.check_sequence(details, Privileges::USAGE | Privileges::UPDATE).is_ok() {
                self.state.sequences.lock().heat(writing, details.clone());
            }
        }
        Ok(())
    }

    /// Writes the counters that no file has yet; the caller holds the write lock, and says when they are committed.
    pub(super) fn save_sequences(
        &self,
        connection: Connection<'_>,
    ) -> std::result::Result<Vec<(CounterKey, Counter)>, Failure> {
        let shared = &self.database.shared;
        if !shared.has_unsaved_sequences.load(Ordering::Acquire) {
            return Ok(Vec::new());
        }
        let unsaved: Vec<_> =
            shared.unsaved_sequences.lock().iter().map(|(key, details)| (*key, details.clone())).collect();
        let mut saved = Vec::with_capacity(unsaved.len());
        for (key, details) in unsaved {
            let Some(counter) = shared.sequences.lock().get(&key).copied() else { continue };
            match store_counter(connection, &details, counter) {
                Ok(()) => saved.push((key, counter)),
                // The sequence was made in a transaction that has been rolled back, our table with it.
                Err(failure) if failure.is_of_the_statement() => saved.push((key, counter)),
                Err(error) => return Err(error),
            }
        }
        Ok(saved)
    }

    /// These counters are committed.
    pub(super) fn sequences_saved(&self, saved: &[(CounterKey, Counter)]) {
        saved.iter().for_each(|(key, counter)| self.database.shared.sequence_saved(*key, *counter));
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
        if moved || guard.is_in_transaction() || guard.cursors().iter().any(|cursor| cursor.is_live()) {
            return;
        }
        let saved = guard.begin_writing().and_then(|()| {
            let saved = self.save_sequences(guard.connection())?;
            guard.commit_counters().map(|()| self.sequences_saved(&saved))
        });
        self.database.shared.file.committed();
        if let Err(failure) = saved {
            tracing::debug!(failure.message, "counters of sequences are written later");
            if guard.is_in_transaction() {
                let _ = guard.roll_back();
            }
        }
        drop(permit);
    }

    /// A rowid has numbered a row: `currval` and `lastval` say so.
    pub(super) fn remember_rowid_sequence(&mut self, relation: u32, rowid: i64) {
        let details = self.schema.sequences_of(relation).find(|details| details.rowid_of.is_some());
        if let Some(details) = details {
            self.state.sequences.lock().give(details.sequence.oid, rowid);
        }
    }
}
