//! COMMIT and ROLLBACK of procedures and of DO.

use rowferry_dialect::{Condition, Error, Result};

use super::Session;
use super::transaction::Block;

impl Session {
    /// Takes what a routine has been told of the CALL or DO that is about to run: whether it may end the transaction. It may when
    /// the client itself has sent it outside a transaction block, or when a routine has that may do so itself.
    pub(crate) fn takes_transactions(&mut self) -> bool {
        let told = std::mem::take(&mut self.may_end_transaction);
        let alone = matches!(self.transaction.block, Block::None | Block::Pipeline);
        told || alone && !self.inner && !self.interrupter.is_nested()
    }

    /// A routine has begun in the transaction, which counts as a query: its isolation level is fixed.
    pub(crate) fn transaction_is_used(&mut self) {
        self.transaction.used = true;
    }

    /// Runs a CALL or DO of a routine that may end the transaction, which then may, too.
    pub(crate) fn handing_on_transactions<T>(&mut self, may: bool, run: impl FnOnce(&mut Self) -> T) -> T {
        self.may_end_transaction = may;
        let result = run(self);
        self.may_end_transaction = false;
        result
    }

    /// The loops of routines go on behind the transaction's end, with the rows that they have still to read. What fails then
    /// fails the transaction.
    fn hold_cursors(&mut self) -> Result<()> {
        self.hold_pinned_portals();
        let handle = self.handle()?;
        let guard = handle.lock();
        for cursor in guard.cursors() {
            if cursor.is_live() {
                cursor.materialise(&guard, &self.interrupter)?;
            }
            if let Some(error) = cursor.failure() {
                return Err(error);
            }
        }
        Ok(())
    }

    /// COMMIT or ROLLBACK of a routine that may end the transaction: the next one begins at once, with the modes of this
    /// one where `chain` says so.
    pub(crate) fn end_transaction_in_routine(&mut self, commit: bool, chain: bool) -> Result<()> {
        if !self.transaction.savepoints.is_empty() {
            let message = if commit {
                "cannot commit while a subtransaction is active"
            } else {
                "cannot roll back while a subtransaction is active"
            };
            return Err(Error::new(Condition::InvalidTransactionTermination, message));
        }
        if self.routine_state().is_looping_over_changes() {
            let message = "cannot perform transaction commands inside a cursor loop that is not read-only";
            return Err(Error::new(Condition::ObjectNotInPrerequisiteState, message));
        }
        self.hold_cursors()?;
        let (block, modes) = (self.transaction.block, self.modes());
        let result = if commit {
            self.end_commit()
        } else {
            self.end_rollback();
            Ok(())
        };
        self.start_transaction(block);
        if chain {
            self.set_modes(modes)?;
        }
        let statement = {
            let mut activity = self.state.activity.lock();
            activity.state = "active";
            activity.statement_start
        };
        self.renew_functions(statement);
        self.refresh_schema();
        result
    }
}
