//! What a caller can ask for.

use std::sync::Arc;

use super::operation::{Awaited, Operation, Running, Transaction};
use super::{Client, CursorOptions, Misuse, Params};
use crate::messages::{ClientMessage, SetSavepoint, SqlText};
use crate::{TooLong, Widths};

impl Client {
    /// Prepares SQL with so many `?`. Event: [`Event::Prepared`].
    pub fn prepare(&mut self, sql: &[u8], params: u16) -> Result<(), Misuse> {
        self.ready()?;
        let kept = self.kept.remove(sql);
        let sql: Arc<[u8]> = sql.into();
        if let Some(prepared) = kept {
            self.kept_order.retain(|key| **key != *sql);
            self.operation = Operation::Described(Running {
                prepared,
                sql,
                params,
                reused: true,
                stays_open: false,
                scrolls: false,
            });
            return Ok(());
        }
        Ok(self.send_prepare(sql, params)?)
    }

    pub(super) fn send_prepare(&mut self, sql: Arc<[u8]>, params: u16) -> Result<(), TooLong> {
        let text = SqlText { params, sql: &sql };
        self.ask(&[ClientMessage::Prepare(text), ClientMessage::NDescribe, ClientMessage::WantDone])?;
        let key = (self.keep > 0).then(|| Box::from(&sql[..]));
        self.operation = Operation::Prepare { key, sql, params };
        Ok(())
    }

    /// Runs the statement of [`Event::Prepared`]; when `begin` is true and no transaction is under way, after beginning
    /// one. Events: for a query [`Event::Row`]s, in any case [`Event::Done`].
    pub fn run(&mut self, parameters: &Params, begin: bool) -> Result<(), Misuse> {
        self.run_cursor(parameters, begin, &CursorOptions::default())
    }

    /// Gives up the statement of [`Event::Prepared`], or the rows of a batch that were not sent yet. A batch goes on to
    /// its [`Event::Done`]; after [`Event::Prepared`] the connection is idle at once.
    pub fn abandon(&mut self) {
        match &mut self.operation {
            Operation::Described(running) => {
                let prepared = Arc::clone(&running.prepared);
                self.operation = Operation::None;
                self.keep_or_release(prepared);
            }
            Operation::Batch(batch) => {
                batch.next.clear();
                batch.collected = 0;
                batch.ended = true;
            }
            _ => {}
        }
    }

    /// Begins a transaction. Event: [`Event::Done`].
    pub fn begin(&mut self) -> Result<(), Misuse> {
        self.simple(&[ClientMessage::Begin], Transaction::Begins)
    }

    /// Commits. Event: [`Event::Done`].
    pub fn commit(&mut self) -> Result<(), Misuse> {
        self.simple(&[ClientMessage::Commit], Transaction::Ends)
    }

    /// Rolls back. Event: [`Event::Done`].
    pub fn rollback(&mut self) -> Result<(), Misuse> {
        self.simple(&[ClientMessage::Rollback(0)], Transaction::Ends)
    }

    /// Sets a savepoint. Event: [`Event::Done`].
    pub fn set_savepoint(&mut self, name: &[u8]) -> Result<(), Misuse> {
        self.simple(&[ClientMessage::SetSavepoint(SetSavepoint { name, unique: 0 })], Transaction::Unchanged)
    }

    /// Rolls back to a savepoint. Event: [`Event::Done`].
    pub fn rollback_to_savepoint(&mut self, name: &[u8]) -> Result<(), Misuse> {
        self.simple(&[ClientMessage::RollbackToSavepoint(name)], Transaction::Unchanged)
    }

    /// Releases a savepoint. Event: [`Event::Done`].
    pub fn release_savepoint(&mut self, name: &[u8]) -> Result<(), Misuse> {
        self.simple(&[ClientMessage::ReleaseSavepoint(name)], Transaction::Unchanged)
    }

    /// Asks whether the server is there. Event: [`Event::Done`].
    pub fn ping(&mut self) -> Result<(), Misuse> {
        self.simple(&[ClientMessage::Version], Transaction::Unchanged)
    }

    /// Says good bye. Event: [`Event::Done`], after which the connection is closed.
    pub fn exit(&mut self) -> Result<(), Misuse> {
        self.ready()?;
        self.flush_cleanup();
        ClientMessage::Exit.encode(&mut self.output, Widths::default())?;
        self.awaited.push_back(Awaited::Operation);
        self.operation = Operation::Exit;
        Ok(())
    }

    pub(super) fn simple(&mut self, messages: &[ClientMessage<'_>], transaction: Transaction) -> Result<(), Misuse> {
        self.ready()?;
        self.ask(messages)?;
        self.operation = Operation::Simple(transaction);
        Ok(())
    }

    pub(super) const fn ready(&self) -> Result<(), Misuse> {
        match self.operation {
            _ if self.closed => Err(Misuse::Closed),
            Operation::None => Ok(()),
            Operation::Connect(_) => Err(Misuse::NotConnected),
            _ => Err(Misuse::Busy),
        }
    }

    /// Why a command that needs a certain state cannot be given in another.
    pub(super) const fn not_now(&self) -> Misuse {
        match self.ready() {
            Err(misuse) => misuse,
            Ok(()) => Misuse::Busy,
        }
    }
}
