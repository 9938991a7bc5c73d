//! SET CONSTRAINTS: when foreign keys are checked.
//!
//! The back end knows keys that wait for COMMIT by their declaration, and one switch that makes all of them wait. Informix
//! means that switch. PostgreSQL names keys, and means those that are DEFERRABLE: when one of them is to wait that does
//! not by its declaration, all wait there, and after each change those are looked at that may not.

use std::collections::BTreeMap;
use std::sync::Arc;

use rowferry_dialect::ir::{DmlAction, Statement};
use rowferry_dialect::schema::{ForeignKey, Index, QualifiedName, ReferentialAction, Relation};
use rowferry_dialect::{Condition, Error, Language, Result};

use super::ddl::constraints::{not_present, shown};
use super::transaction::{Block, Open};
use super::{Prepared, Session};
use crate::backend::{Failure, Handle};
use crate::catalog::describe::{constraint_oid, target_columns};

/// A foreign key that does not hold: the table that refers, which of its keys, and the identity of a row of it.
pub(super) type BrokenKey = (Arc<Relation>, usize, Option<i64>);

/// What SET CONSTRAINTS has said in this transaction.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(super) enum Checking {
    /// Nothing: keys are checked as they are declared.
    #[default]
    Declared,
    /// All wait for COMMIT.
    Deferred,
    /// None waits.
    Immediate,
    /// PostgreSQL's: all that may wait, and after that some by their object ids; true is DEFERRED.
    Chosen(Option<bool>, BTreeMap<u32, bool>),
    /// Informix's, for which every key may wait: all, and after that some by their object ids.
    Named(Option<bool>, BTreeMap<u32, bool>),
}

impl Checking {
    /// What a savepoint remembers, once more has been said behind it: the back end's switch stays as that has put it, so
    /// that keys are looked at one by one from then on.
    pub(super) fn after(self, more: &Self) -> Self {
        match more {
            Self::Chosen(..) if self == Self::Declared => Self::Chosen(None, BTreeMap::new()),
            Self::Named(..) if self == Self::Declared => Self::Named(None, BTreeMap::new()),
            _ => self,
        }
    }

    /// True when a key may be violated until COMMIT.
    pub(super) fn waits(&self, key: &ForeignKey) -> bool {
        match self {
            Self::Declared => key.rules.deferred,
            Self::Deferred => true,
            Self::Immediate => false,
            Self::Chosen(..) if !key.rules.deferrable => false,
            Self::Chosen(all, keys) | Self::Named(all, keys) => {
                keys.get(&key.oid).copied().or(*all).unwrap_or(key.rules.deferred)
            }
        }
    }
}

impl Session {
    pub(super) fn set_constraints(&mut self, names: &[QualifiedName], deferred: bool) -> Result<()> {
        let informix = self.language() == Language::Informix;
        let alone = self.transaction.block == Block::None;
        if alone && !informix {
            let message = "SET CONSTRAINTS can only be used in transaction blocks";
            self.warn(Condition::NoActiveSqlTransaction, message);
        }
        let (triggers, keys) = match informix {
            true => (Vec::new(), self.keys_of_informix(names, deferred)?),
            false => self.named_constraints(names)?,
        };
        if alone && informix {
            return Err(Error::new(Condition::NoActiveSqlTransaction, "not in a transaction"));
        }
        if alone {
            return Ok(());
        }
        let before = self.transaction.checking.clone();
        self.transaction.checking = match (deferred, informix) {
            (deferred, true) if !names.is_empty() => also_named(&before, &keys, deferred),
            (true, true) => Checking::Deferred,
            (false, true) => Checking::Immediate,
            (deferred, false) => chosen(before.clone(), names.is_empty(), &keys, deferred),
        };
        // The back end forgets what is open when its switch goes back: only when nothing is.
        if let Err(error) = self.check_now() {
            self.transaction.checking = before;
            return Err(error);
        }
        if matches!(self.transaction.open, Open::Write { .. }) {
            self.apply_checking()?;
        }
        let checking = self.transaction.checking.clone();
        self.state.deferred.lock().keep_keys(&|key| checking.waits(key));
        self.set_constraint_triggers((!names.is_empty()).then_some(triggers.as_slice()), deferred)
    }

    /// Notes which foreign keys of the back end wait for COMMIT because of rows that a statement has written or deleted: until
    /// then their tables stay as they are. Of an UPDATE only a key that is violated counts: one that is set to what it was
    /// is not asked.
    pub(super) fn note_waiting_keys(&self, plan: &Prepared, changed: u64) {
        let Statement::Dml(dml) = &plan.bound.statement else { return };
        if changed == 0 || self.transaction.block == Block::None || self.language() == Language::Informix {
            return;
        }
        let checking = &self.transaction.checking;
        let waits = |key: &&ForeignKey| !key.by_engine && checking.waits(key);
        let note = |key: &ForeignKey| self.state.deferred.lock().note_key(dml.target.oid, key);
        let sets = |columns: &[usize]| match &dml.action {
            DmlAction::Update { assignments, .. } => assignments.iter().any(|(at, _)| columns.contains(at)),
            _ => true,
        };
        let updates = matches!(dml.action, DmlAction::Update { .. });
        if updates && !self.handle.as_ref().is_some_and(|handle| handle.lock().has_open_keys()) {
            return;
        }
        if !matches!(dml.action, DmlAction::Delete { .. }) {
            dml.target.foreign_keys.iter().filter(waits).filter(|key| sets(&key.columns)).for_each(note);
        }
        if matches!(dml.action, DmlAction::Insert { .. }) {
            return;
        }
        for child in self.schema.children(&dml.target) {
            for key in child.foreign_keys.iter().filter(waits).filter(|key| key.leads_to(&dml.target)) {
                let action = if updates { key.rules.on_update } else { key.rules.on_delete };
                if action == ReferentialAction::NoAction && sets(&target_columns(&dml.target, key)) {
                    note(key);
                }
            }
        }
    }

    /// The foreign keys of some names, each of which may wait. What else has such a name is checked at once, always.
    fn keys_of_informix(&self, names: &[QualifiedName], deferred: bool) -> Result<Vec<u32>> {
        let mut keys = Vec::new();
        for name in names {
            let mut known = false;
            for relation in self.schema.user_relations() {
                let found = relation.foreign_keys.iter().filter(|key| key.name == name.name);
                let before = keys.len();
                keys.extend(found.map(|key| key.oid));
                let index = |at: &Index| at.constraint && at.name == name.name;
                let others =
                    relation.indexes.iter().any(index) || relation.checks.iter().any(|check| check.name == name.name);
                if others && deferred {
                    let what =
                        format!("SET CONSTRAINTS {} DEFERRED: only foreign keys wait; this constraint", name.name);
                    return Err(Error::unsupported(what));
                }
                known |= others || keys.len() > before;
            }
            if !known {
                let message = format!("constraint ({}) is not in the database", name.name);
                return Err(Error::new(Condition::UndefinedObject, message));
            }
        }
        Ok(keys)
    }

    /// The constraint triggers and the foreign keys of some names.
    fn named_constraints(&self, names: &[QualifiedName]) -> Result<(Vec<u32>, Vec<u32>)> {
        let mut found = Vec::new();
        let mut keys = Vec::new();
        for name in names {
            let before = found.len() + keys.len();
            let here = |namespace: &str| match &name.schema {
                Some(schema) => namespace == schema,
                None => self.schema.search_path.iter().any(|schema| schema == namespace),
            };
            for (relation, trigger) in crate::catalog::pg_trigger::all(&self.schema) {
                if trigger.name != name.name || !here(&relation.namespace) {
                    continue;
                }
                match trigger.constraint {
                    Some(constraint) if constraint.deferrable => found.push(trigger.oid),
                    Some(_) => {
                        let message = format!("constraint \"{}\" is not deferrable", name.name);
                        return Err(Error::new(Condition::WrongObjectType, message));
                    }
                    None => {}
                }
            }
            let mut refused = false;
            for relation in self.schema.user_relations().filter(|relation| here(&relation.namespace)) {
                for key in relation.foreign_keys.iter().filter(|key| key.name == name.name) {
                    match (key.rules.deferrable, key.by_engine) {
                        (false, _) => refused = true,
                        (true, true) => found.push(key.oid),
                        (true, false) => keys.push(key.oid),
                    }
                    if key.rules.deferrable {
                        let parts = self.schema.adopted_keys(relation, key);
                        if key.by_engine { found.extend(parts) } else { keys.extend(parts) }
                    }
                }
                for (at, index) in relation.indexes.iter().enumerate() {
                    if !index.constraint || index.name != name.name {
                        continue;
                    }
                    match index.deferrability() {
                        Some(_) => {
                            found.push(constraint_oid(index));
                            let parts = self.schema.adopted_parts(relation, at);
                            found.extend(parts.iter().map(|(part, at)| constraint_oid(&part.indexes[*at])));
                        }
                        None => refused = true,
                    }
                }
            }
            if found.len() + keys.len() == before || refused {
                return Err(if refused {
                    let message = format!("constraint \"{}\" is not deferrable", name.name);
                    Error::new(Condition::WrongObjectType, message)
                } else {
                    let message = format!("constraint \"{}\" does not exist", name.name);
                    Error::new(Condition::UndefinedObject, message)
                });
            }
        }
        Ok((found, keys))
    }

    /// Tells the back end, whose switch goes back by itself when its transaction ends.
    pub(super) fn apply_checking(&mut self) -> Result<()> {
        let wait = match &self.transaction.checking {
            Checking::Declared => return Ok(()),
            Checking::Deferred => true,
            Checking::Immediate => false,
            // Once on, it stays: the back end would forget what is open.
            Checking::Chosen(None | Some(false), keys) | Checking::Named(None | Some(false), keys)
                if !keys.values().any(|deferred| *deferred) =>
            {
                return Ok(());
            }
            Checking::Chosen(..) | Checking::Named(..) => true,
        };
        self.on_handle(|handle| handle.let_keys_wait(wait))
    }

    /// After a change: keys that the back end lets wait, and that may not.
    pub(super) fn check_now(&mut self) -> Result<()> {
        let checking = self.transaction.checking.clone();
        let declared = matches!(checking, Checking::Declared | Checking::Deferred);
        if declared || !matches!(self.transaction.open, Open::Write { .. }) {
            return Ok(());
        }
        let handle = self.handle()?;
        let guard = handle.lock();
        if !guard.has_open_keys() {
            return Ok(());
        }
        match self.violated_key(&guard, &|key| key.valid && !checking.waits(key)) {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    /// Foreign keys of the back end that do not hold: the table that refers, which of its keys, and the row's identity.
    pub(super) fn broken_keys(&self, handle: &Handle) -> std::result::Result<Vec<BrokenKey>, Failure> {
        let mut found = Vec::new();
        for (database, snapshot) in [("main", &self.schema.main), ("temp", &self.schema.temp)] {
            if database == "temp" && self.schema.temp.is_empty() {
                continue;
            }
            for (table, id, identity) in handle.broken_keys(database, None)? {
                let Some(relation) = snapshot.relation_by_physical_name(&table) else { continue };
                let ids = snapshot.details(relation.oid).map(|details| details.foreign_key_ids.as_slice());
                let at = ids.and_then(|ids| ids.iter().position(|known| *known == id));
                found.extend(at.map(|at| (relation.clone(), at, identity)));
            }
        }
        Ok(found)
    }

    /// The first row that violates one of some foreign keys, as an error.
    pub(super) fn violated_key(&self, handle: &Handle, wanted: &dyn Fn(&ForeignKey) -> bool) -> Option<Error> {
        for (relation, at, identity) in self.broken_keys(handle).ok()? {
            let key = &relation.foreign_keys[at];
            if !wanted(key) {
                continue;
            }
            let relation = &relation;
            let values = identity.and_then(|identity| handle.row_of(relation, &key.columns, identity));
            let shown = |values: Vec<_>| shown(&values, relation, &key.columns, &self.settings());
            return Some(not_present(relation, key, values.and_then(shown).as_deref()));
        }
        None
    }
}

/// The same at the Informix door, where some are named.
fn also_named(before: &Checking, keys: &[u32], deferred: bool) -> Checking {
    let (general, mut named) = match before {
        Checking::Named(general, named) => (*general, named.clone()),
        Checking::Deferred => (Some(true), BTreeMap::new()),
        Checking::Immediate => (Some(false), BTreeMap::new()),
        _ => (None, BTreeMap::new()),
    };
    named.extend(keys.iter().map(|key| (*key, deferred)));
    Checking::Named(general, named)
}

/// What SET CONSTRAINTS makes of what it has said before.
fn chosen(before: Checking, all: bool, keys: &[u32], deferred: bool) -> Checking {
    let (general, mut named) = match before {
        Checking::Chosen(general, named) => (general, named),
        _ => (None, BTreeMap::new()),
    };
    if all {
        return Checking::Chosen(Some(deferred), BTreeMap::new());
    }
    named.extend(keys.iter().map(|key| (*key, deferred)));
    Checking::Chosen(general, named)
}
