//! Constraint triggers that wait for COMMIT.

use std::collections::HashMap;

use rowferry_dialect::Result;
use rowferry_dialect::schema::{ForeignKey, Trigger};

use super::super::Session;
use super::super::transaction::Block;
use super::queue::Event;

/// What waits for the end of a session's transaction.
#[derive(Debug, Default)]
pub struct Deferred {
    /// Calls, in the order in which they became due.
    events: Vec<Event>,
    /// Foreign keys that the back end will ask, each with the table of which rows are new or gone.
    keys: Vec<(u32, ForeignKey)>,
    /// SET CONSTRAINTS ALL.
    all: Option<bool>,
    /// SET CONSTRAINTS of some, by object id.
    some: HashMap<u32, bool>,
}

/// How many calls waited at a savepoint, and what SET CONSTRAINTS had said.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    events: usize,
    keys: usize,
    all: Option<bool>,
    some: HashMap<u32, bool>,
}

impl Deferred {
    pub(super) fn push(&mut self, event: Event) {
        self.events.push(event);
    }

    /// What a savepoint remembers.
    pub(crate) fn mark(&self) -> Asked {
        Asked { events: self.events.len(), keys: self.keys.len(), all: self.all, some: self.some.clone() }
    }

    /// What has become due since a savepoint is undone, and what SET CONSTRAINTS has said.
    pub(crate) fn return_to(&mut self, mark: &Asked) {
        self.undo(mark.events);
        self.keys.truncate(mark.keys);
        self.all = mark.all;
        self.some.clone_from(&mark.some);
    }

    /// What has become due since there were so many calls is undone.
    pub(crate) fn undo(&mut self, events: usize) {
        self.events.truncate(events);
    }

    /// True when a call waits that is about a relation, or a key does.
    pub(crate) fn is_about(&self, relation: u32) -> bool {
        self.events.iter().any(|event| event.relation.oid == relation)
            || self.keys.iter().any(|(table, _)| *table == relation)
    }

    /// A foreign key will be asked about rows of a table.
    pub(crate) fn note_key(&mut self, relation: u32, key: &ForeignKey) {
        if !self.keys.iter().any(|(table, known)| *table == relation && known.oid == key.oid) {
            self.keys.push((relation, key.clone()));
        }
    }

    /// Forgets foreign keys that have been asked: those that no longer wait.
    pub(crate) fn keep_keys(&mut self, waits: &dyn Fn(&ForeignKey) -> bool) {
        self.keys.retain(|(_, key)| waits(key));
    }

    /// The transaction is over.
    pub(crate) fn clear(&mut self) {
        if !self.events.is_empty() || !self.keys.is_empty() || self.all.is_some() || !self.some.is_empty() {
            *self = Self::default();
        }
    }

    fn is_deferred(&self, trigger: &Trigger) -> bool {
        let Some(constraint) = trigger.constraint.filter(|constraint| constraint.deferrable) else { return false };
        self.some.get(&trigger.oid).copied().or(self.all).unwrap_or(constraint.deferred)
    }
}

impl Session {
    /// True when a constraint trigger waits for COMMIT at present.
    pub(super) fn is_deferred(&self, trigger: &Trigger) -> bool {
        trigger.constraint.is_some() && self.state.deferred.lock().is_deferred(trigger)
    }

    /// SET CONSTRAINTS ALL, or of some triggers.
    pub(in super::super) fn set_constraint_triggers(&mut self, triggers: Option<&[u32]>, deferred: bool) -> Result<()> {
        {
            let mut state = self.state.deferred.lock();
            match triggers {
                None => {
                    state.some.clear();
                    state.all = Some(deferred);
                }
                Some(triggers) => state.some.extend(triggers.iter().map(|oid| (*oid, deferred))),
            }
        }
        if deferred { Ok(()) } else { self.tell_deferred(false) }
    }

    /// Makes the calls that wait: all of them at COMMIT, else those whose triggers no longer wait. What they do may have
    /// others follow.
    pub(in super::super) fn tell_deferred(&mut self, all: bool) -> Result<()> {
        loop {
            let due: Vec<Event> = {
                let mut state = self.state.deferred.lock();
                if state.events.is_empty() {
                    return Ok(());
                }
                let events = std::mem::take(&mut state.events);
                let (waiting, due) = events.into_iter().partition(|event| !all && state.is_deferred(&event.trigger));
                state.events = waiting;
                due
            };
            if due.is_empty() {
                return Ok(());
            }
            // A statement of its own is a transaction: what the triggers do belongs to it.
            let alone = self.transaction.block == Block::None;
            if alone {
                self.transaction.block = Block::Implicit;
            }
            let result = due.iter().try_for_each(|event| self.fire(event).map(drop));
            if alone {
                self.transaction.block = Block::None;
            }
            result?;
        }
    }
}
