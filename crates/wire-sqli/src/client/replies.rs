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
/// There is none to commit or roll back: it has ended without a word, as with a COMMIT that failed.
pub(super) const NOT_IN_TRANSACTION: i16 = -255;

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
        if reply.error.is_none() && reply.done.is_none() && reply.tuples == 0 && self.operation.fetches() {
            // To take it for the end would turn one damaged byte into rows that are silently missing, and to ask on could
            // last for ever.
            return Err(Failure::Unexpected { state: "fetching", got: "neither rows nor their end" });
        }
        let error = reply.error.take();
        let ended = reply.done.is_some();
        let rows = reply.done.map_or(0, |done| done.rows);
        let outcome = Outcome { rows, serial: serial_of(&reply), ..Outcome::default() };
        match std::mem::replace(&mut self.operation, Operation::None) {
            Operation::Connect(connect) => self.connected_further(connect, reply, error),
            Operation::Prepare { sql, params, .. } => match (error, reply.prepared) {
                (None, None) if reply.unsupported.is_some() => {
                    let (statement, why) = reply.unsupported.unwrap_or_default();
                    self.release(statement);
                    Ok(Step::Event(Event::Unsupported(why)))
                }
                (Some(error), _) => Ok(Step::Event(Event::Error(error))),
                (None, Some(prepared)) => {
                    let running = Running {
                        prepared: Arc::new(prepared),
                        sql,
                        params,
                        reused: false,
                        stays_open: false,
                        scrolls: false,
                    };
                    self.operation = Operation::Described(running);
                    Ok(Step::Again)
                }
                (None, None) => Err(Failure::Unexpected { state: "preparing", got: "the end without a description" }),
            },
            Operation::Begin { then, next, groups } => match error {
                Some(error) if NO_TRANSACTIONS.contains(&error.sqlcode) => {
                    self.session.logged = false;
                    self.go_on(then, groups, *next)
                }
                Some(error) if error.sqlcode != ALREADY_IN_TRANSACTION => {
                    if let Some(prepared) = next.prepared() {
                        self.release(prepared.statement);
                    }
                    Ok(Step::Event(Event::Error(error)))
                }
                _ => {
                    self.session.in_transaction = true;
                    self.go_on(then, groups, *next)
                }
            },
            Operation::Run(running) => self.ran(running, error, outcome, ended),
            Operation::Batch(batch) => self.batch_answered(batch, &reply, error, outcome),
            Operation::Fetch { prepared, stays_open } => match error {
                Some(error) => {
                    self.close_cursor(prepared.statement);
                    self.release(prepared.statement);
                    Ok(Step::Event(Event::Error(error)))
                }
                None => Ok(self.fetched(prepared, stays_open, outcome, ended)),
            },
            Operation::Blob { size } => match error {
                Some(error) => Ok(Step::Event(Event::Error(error))),
                None if reply.blob.len() == size => Ok(Step::Event(Event::Blob(reply.blob))),
                None => Err(Failure::Unexpected { state: "fetching a value", got: "less than its size" }),
            },
            Operation::Scroll { prepared, groups, position, error: earlier } => {
                let position = reply.position.map(i64::from).filter(|_| reply.tuples > 0).or(position);
                let error = earlier.or(error);
                self.scrolled(prepared, groups - 1, position, error)
            }
            Operation::FindRoutine => match (error, reply.routine) {
                (Some(error), _) => Ok(Step::Event(Event::Error(error))),
                (None, Some((database, handle))) => Ok(Step::Event(Event::Routine(database, handle))),
                (None, None) => Err(Failure::Unexpected { state: "looking for a routine", got: "the end without one" }),
            },
            Operation::Call => match (error, reply.returned) {
                (Some(error), _) => Ok(Step::Event(Event::Error(error))),
                (None, returned) => Ok(Step::Event(Event::Returned(returned.unwrap_or_default()))),
            },
            Operation::LoRead { .. } => Ok(Step::Event(match error {
                Some(error) => Event::Error(error),
                None => Event::LoData(reply.blob),
            })),
            Operation::LoWrite { written } => Ok(Step::Event(match error {
                Some(error) => Event::Error(error),
                None => Event::Done(Outcome { rows: written, ..Outcome::default() }),
            })),
            Operation::Simple(transaction) => {
                if let Some(error) = error {
                    self.session.hear(&error);
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
            self.session.hear(&error);
            return Ok(Step::Event(Event::Error(error)));
        }
        if prepared.is_query() {
            let ended = ended && !running.scrolls;
            return Ok(self.fetched(prepared, running.stays_open, outcome, ended));
        }
        self.session.apply(Transaction::of(prepared.statement_type));
        if statement::changes_schema(prepared.statement_type) {
            self.forget_kept();
        }
        self.keep_or_release(prepared);
        Ok(Step::Event(Event::Done(outcome)))
    }

    /// A fetch is over; when it was the last, so is the cursor.
    pub(super) fn fetched(&mut self, prepared: Arc<Prepared>, stays_open: bool, outcome: Outcome, ended: bool) -> Step {
        let open = !ended || stays_open || prepared.has_lobs();
        if !open {
            self.close_cursor(prepared.statement);
            self.keep_or_release(prepared);
        }
        Step::Event(Event::Done(Outcome { more: !ended, open, ..outcome }))
    }

    /// A request for a row of a scroll cursor was answered; so many are not.
    fn scrolled(
        &mut self,
        prepared: Arc<Prepared>,
        groups: usize,
        position: Option<i64>,
        error: Option<SqlError>,
    ) -> Result<Step, Failure> {
        if groups > 0 {
            self.operation = Operation::Scroll { prepared, groups, position, error };
            return Ok(Step::Again);
        }
        if let Some(error) = error {
            self.close_cursor(prepared.statement);
            self.release(prepared.statement);
            return Ok(Step::Event(Event::Error(error)));
        }
        let position = position.unwrap_or(0);
        Ok(Step::Event(Event::Done(Outcome { more: true, open: true, position, ..Outcome::default() })))
    }

    pub(super) fn go_on(&mut self, then: Vec<u8>, groups: usize, next: Operation) -> Result<Step, Failure> {
        self.output.extend_from_slice(&then);
        self.awaited.extend(std::iter::repeat_n(Awaited::Operation, groups));
        self.operation = next;
        Ok(Step::Again)
    }
}
