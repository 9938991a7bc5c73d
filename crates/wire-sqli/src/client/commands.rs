//! What a caller can ask for.

use std::sync::Arc;

use super::operation::{Awaited, Operation, Running, Transaction};
use super::{Client, Misuse, Params, Prepared};
use crate::messages::{ClientMessage, NFetch, SetSavepoint, SimpleLob, SqlText};
use crate::{TooLong, Widths};

impl Client {
    /// Prepares SQL with so many `?`. Event: [`Event::Prepared`].
    pub fn prepare(&mut self, sql: &[u8], params: u16) -> Result<(), Misuse> {
        self.ready()?;
        let kept = self.kept.remove(sql);
        let sql: Arc<[u8]> = sql.into();
        if let Some(prepared) = kept {
            self.kept_order.retain(|key| **key != *sql);
            self.operation = Operation::Described(Running { prepared, sql, params, reused: true });
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
        let Operation::Described(running) = &self.operation else { return Err(self.not_now()) };
        let running = running.clone();
        let prepared = &running.prepared;
        let begin = begin && Transaction::of(prepared.statement_type) == Transaction::Unchanged;
        let widths = self.decoder.widths();
        let id = ClientMessage::Id(prepared.statement);
        let mut bytes = Vec::new();
        id.encode(&mut bytes, widths)?;
        if prepared.is_query() {
            self.cursors += 1;
            let name = format!("rowferry{:08x}", self.cursors);
            ClientMessage::CursorName(name.as_bytes()).encode(&mut bytes, widths)?;
            parameters.append_to(&mut bytes);
            ClientMessage::Open.encode(&mut bytes, widths)?;
            id.encode(&mut bytes, widths)?;
            ClientMessage::NFetch(NFetch { buffer: self.fetch_bytes, reserved: 0 }).encode(&mut bytes, widths)?;
        } else {
            parameters.append_to(&mut bytes);
            ClientMessage::Execute.encode(&mut bytes, widths)?;
        }
        ClientMessage::Eot.encode(&mut bytes, widths)?;
        self.send(bytes, Operation::Run(running), begin);
        Ok(())
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

    /// Fetches more rows of an open cursor. Events: [`Event::Row`]s, then [`Event::Done`].
    pub fn fetch(&mut self, prepared: &Arc<Prepared>) -> Result<(), Misuse> {
        self.ready()?;
        let fetch = NFetch { buffer: self.fetch_bytes, reserved: 0 };
        self.ask(&[ClientMessage::Id(prepared.statement), ClientMessage::NFetch(fetch)])?;
        self.operation = Operation::Fetch { prepared: Arc::clone(prepared) };
        Ok(())
    }

    /// Fetches the `BYTE` or `TEXT` value of a descriptor in a row of an open cursor. Event: [`Event::Blob`].
    pub fn fetch_blob(&mut self, prepared: &Prepared, descriptor: SimpleLob<'_>) -> Result<(), Misuse> {
        self.ready()?;
        let size = usize::try_from(descriptor.size()).unwrap_or(0);
        // Before the clean-up, which may close this very cursor.
        let widths = self.decoder.widths();
        let mut bytes = Vec::new();
        ClientMessage::Id(prepared.statement).encode(&mut bytes, widths)?;
        ClientMessage::FetchBlob(descriptor.0).encode(&mut bytes, widths)?;
        ClientMessage::Eot.encode(&mut bytes, widths)?;
        self.output.extend_from_slice(&bytes);
        self.awaited.push_back(Awaited::Operation);
        self.operation = Operation::Blob { size };
        Ok(())
    }

    /// Closes a cursor that has more rows. It is sent with the next operation, so it may be called at any time.
    pub fn close(&mut self, prepared: &Arc<Prepared>) {
        if !self.closed {
            self.close_cursor(prepared.statement);
            self.keep_or_release(Arc::clone(prepared));
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
