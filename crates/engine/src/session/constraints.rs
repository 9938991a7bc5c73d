//! SET CONSTRAINTS: when foreign keys are checked.
//!
//! SQLite knows keys that wait for COMMIT by their declaration, and one switch that makes all of them wait. Informix
//! means that switch. PostgreSQL's ALL DEFERRED is for keys declared DEFERRABLE INITIALLY IMMEDIATE, which the schema does not tell
//! from others; keys that wait already go on waiting. ALL IMMEDIATE checks at once and after every change that follows.

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
    pub(super) fn set_constraints(&mut self, deferred: bool) -> Result<()> {
        let informix = self.language() == Language::Informix;
        if self.transaction.block == Block::None {
            if informix {
                return Err(Error::new(Condition::NoActiveSqlTransaction, "not in a transaction"));
            }
            let message = "SET CONSTRAINTS can only be used in transaction blocks";
            self.warn(Condition::NoActiveSqlTransaction, message);
            return Ok(());
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
        if matches!(self.transaction.open, Open::Write { .. }) { self.apply_checking() } else { Ok(()) }
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
