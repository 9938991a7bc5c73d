//! SET CONSTRAINTS: when foreign keys are checked.
//!
//! SQLite knows keys that wait for COMMIT by their declaration, and one switch that makes all of them wait. Informix
//! means that switch. PostgreSQL's ALL DEFERRED is for keys declared DEFERRABLE INITIALLY IMMEDIATE, which the schema does not tell
//! from others; keys that wait already go on waiting. ALL IMMEDIATE checks at once and after every change that follows.

use rowferry_dialect::schema::QualifiedName;
use rowferry_dialect::{Condition, Error, Language, Result};

use super::Session;
use super::transaction::{Block, Open};

/// What SET CONSTRAINTS has said in this transaction.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) enum Checking {
    /// Nothing: keys are checked as they are declared.
    #[default]
    Declared,
    /// All wait for COMMIT.
    Deferred,
    /// None waits.
    Immediate,
}

impl Session {
    pub(super) fn set_constraints(&mut self, names: &[QualifiedName], deferred: bool) -> Result<()> {
        let informix = self.language() == Language::Informix;
        let triggers = self.constraint_triggers(names)?;
        if self.transaction.block == Block::None {
            if informix {
                return Err(Error::new(Condition::NoActiveSqlTransaction, "not in a transaction"));
            }
            let message = "SET CONSTRAINTS can only be used in transaction blocks";
            self.warn(Condition::NoActiveSqlTransaction, message);
            return Ok(());
        }
        if !names.is_empty() {
            return self.set_constraint_triggers(Some(&triggers), deferred);
        }
        let before = self.transaction.checking;
        self.transaction.checking = match (deferred, informix) {
            (true, true) => Checking::Deferred,
            (true, false) => Checking::Declared,
            (false, _) => Checking::Immediate,
        };
        // SQLite forgets what is open when its switch goes back: only when nothing is.
        if let Err(error) = self.check_now() {
            self.transaction.checking = before;
            return Err(error);
        }
        if matches!(self.transaction.open, Open::Write { .. }) {
            self.apply_checking()?;
        }
        self.set_constraint_triggers(None, deferred)
    }

    /// The constraint triggers of some names. Foreign keys have no switch of their own.
    fn constraint_triggers(&self, names: &[QualifiedName]) -> Result<Vec<u32>> {
        let mut found = Vec::new();
        for name in names {
            let before = found.len();
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
            if found.len() == before {
                let known = self.schema.user_relations().filter(|relation| here(&relation.namespace)).any(|relation| {
                    relation.foreign_keys.iter().any(|key| key.name == name.name)
                        || relation.indexes.iter().any(|index| index.constraint && index.name == name.name)
                });
                return Err(if known {
                    Error::unsupported(format!("SET CONSTRAINTS of constraint \"{}\" alone", name.name))
                } else {
                    let message = format!("constraint \"{}\" does not exist", name.name);
                    Error::new(Condition::UndefinedObject, message)
                });
            }
        }
        Ok(found)
    }

    /// Tells SQLite, whose switch goes back by itself when its transaction ends.
    pub(super) fn apply_checking(&mut self) -> Result<()> {
        if self.transaction.checking == Checking::Declared || self.language() != Language::Informix {
            return Ok(());
        }
        let pragma = match self.transaction.checking {
            Checking::Deferred => "PRAGMA defer_foreign_keys = ON",
            _ => "PRAGMA defer_foreign_keys = OFF",
        };
        let handle = self.handle()?;
        let guard = handle.lock();
        self.checked(guard.run(pragma))
    }

    /// After a change, where no key may wait.
    pub(super) fn check_now(&mut self) -> Result<()> {
        if self.transaction.checking != Checking::Immediate || !matches!(self.transaction.open, Open::Write { .. }) {
            return Ok(());
        }
        let handle = self.handle()?;
        let guard = handle.lock();
        let broken = guard.query_row("SELECT EXISTS (SELECT 1 FROM pragma_foreign_key_check)", [], |row| row.get(0));
        if self.checked(broken.map_err(crate::statement::Failure::from))? {
            return Err(self.deferred_violation(&guard));
        }
        Ok(())
    }
}
