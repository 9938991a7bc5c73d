//! What the end of a group of the server means to the operation under way.

use std::sync::Arc;

use super::operation::{Awaited, Operation, Running, Transaction, serial_of};
use super::{Client, Event, Failure, Outcome, Prepared, SqlError, Step, statement};

/// Errors that mean: the statement was prepared before its tables changed.
pub(super) const STALE: [i16; 4] = [-710, -206, -217, -258];

/// Errors to `SQ_BEGIN` that mean: this database has no transactions.
pub(super) const NO_TRANSACTIONS: [i16; 2] = [-201, -256];

/// A `SQ_BEGIN` inside a transaction.
pub(super) const ALREADY_IN_TRANSACTION: i16 = -535;

impl Client {
    pub(super) fn end_of_group(&mut self) -> Result<Step, Failure> {
        let mut reply = std::mem::take(&mut self.reply);
        match self.awaited.pop_front() {
            Some(Awaited::Cleanup) | None => return Ok(Step::Again),
            Some(Awaited::Operation) => {}
        }
        if reply.error.is_none() && reply.done.is_none() && self.operation.ends_in_done() {
            return Err(Failure::Unexpected { state: self.operation.name(), got: "the end without a result" });
        }
        let error = reply.error.take();
        let outcome = Outcome { rows: reply.done.map_or(0, |done| done.rows), serial: serial_of(&reply), more: false };
        match std::mem::replace(&mut self.operation, Operation::None) {
            Operation::Connect(connect) => self.connected_further(connect, reply, error),
            Operation::Prepare { sql, params, .. } => match (error, reply.prepared) {
                (Some(error), _) => Ok(Step::Event(Event::Error(error))),
                (None, Some(prepared)) => {
                    let running = Running { prepared: Arc::new(prepared), sql, params, reused: false };
                    self.operation = Operation::Described(running);
                    Ok(Step::Again)
                }
                (None, None) => Err(Failure::Unexpected { state: "preparing", got: "the end without a description" }),
            },
            Operation::Begin { then, next } => match error {
                Some(error) if NO_TRANSACTIONS.contains(&error.sqlcode) => {
                    self.session.logged = false;
                    self.go_on(then, *next)
                }
                Some(error) if error.sqlcode != ALREADY_IN_TRANSACTION => {
                    if let Some(prepared) = next.prepared() {
                        self.release(prepared.statement);
                    }
                    Ok(Step::Event(Event::Error(error)))
                }
                _ => {
                    self.session.in_transaction = true;
                    self.go_on(then, *next)
                }
            },
            Operation::Run(running) => self.ran(running, error, outcome, reply.done.is_some()),
            Operation::Batch(mut batch) => {
                if let Some(mut error) = error {
                    error.row = Some(batch.done + reply.count);
                    self.release(batch.prepared.statement);
                    return Ok(Step::Event(Event::Error(error)));
                }
                if reply.count != batch.sent {
                    return Err(Failure::Unexpected { state: "running a batch", got: "another number of results" });
                }
                batch.done += std::mem::take(&mut batch.sent);
                batch.rows = batch.rows.saturating_add(reply.affected);
                batch.serial = outcome.serial;
                self.operation = Operation::Batch(batch);
                Ok(Step::Again)
            }
            Operation::Fetch { prepared } => match error {
                Some(error) => {
                    self.close_cursor(prepared.statement);
                    self.release(prepared.statement);
                    Ok(Step::Event(Event::Error(error)))
                }
                None => Ok(self.fetched(prepared, outcome, reply.done.is_some())),
            },
            Operation::Blob { size } => match error {
                Some(error) => Ok(Step::Event(Event::Error(error))),
                None if reply.blob.len() == size => Ok(Step::Event(Event::Blob(reply.blob))),
                None => Err(Failure::Unexpected { state: "fetching a value", got: "less than its size" }),
            },
            Operation::Simple(transaction) => {
                if let Some(error) = error {
                    return Ok(Step::Event(Event::Error(error)));
                }
                self.session.apply(transaction);
                Ok(Step::Event(Event::Done(outcome)))
            }
            Operation::Exit => {
                self.closed = true;
                Ok(Step::Event(Event::Done(outcome)))
            }
            operation @ (Operation::None | Operation::Described(_)) => {
                self.operation = operation;
                Err(Failure::Unexpected { state: "nothing was asked", got: "the end of a group" })
            }
        }
    }

    /// A statement was run.
    pub(super) fn ran(
        &mut self,
        running: Running,
        error: Option<SqlError>,
        outcome: Outcome,
        ended: bool,
    ) -> Result<Step, Failure> {
        let prepared = running.prepared;
        if let Some(error) = error {
            if prepared.is_query() {
                self.close_cursor(prepared.statement);
            }
            self.release(prepared.statement);
            if running.reused && STALE.contains(&error.sqlcode) {
                self.forget_kept();
                self.must(|client| client.send_prepare(running.sql, running.params))?;
                return Ok(Step::Again);
            }
            return Ok(Step::Event(Event::Error(error)));
        }
        if prepared.is_query() {
            return Ok(self.fetched(prepared, outcome, ended));
        }
        self.session.apply(Transaction::of(prepared.statement_type));
        if statement::changes_schema(prepared.statement_type) {
            self.forget_kept();
        }
        self.keep_or_release(prepared);
        Ok(Step::Event(Event::Done(outcome)))
    }

    /// A fetch is over; when it was the last, so is the cursor.
    pub(super) fn fetched(&mut self, prepared: Arc<Prepared>, outcome: Outcome, ended: bool) -> Step {
        if ended && !prepared.has_lobs() {
            self.close_cursor(prepared.statement);
            self.keep_or_release(prepared);
        }
        Step::Event(Event::Done(Outcome { more: !ended, ..outcome }))
    }

    pub(super) fn go_on(&mut self, then: Vec<u8>, next: Operation) -> Result<Step, Failure> {
        self.output.extend_from_slice(&then);
        self.awaited.push_back(Awaited::Operation);
        self.operation = next;
        Ok(Step::Again)
    }
}
