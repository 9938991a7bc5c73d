//! Many executions of one statement.

use std::sync::Arc;

use super::operation::{Operation, Reply, Running};
use super::{Client, Event, Failure, Misuse, Outcome, Params, Prepared, SqlError, Step};
use crate::messages::ClientMessage;

/// A batch of executions, sent in groups of which one is under way while the next is collected.
#[derive(Debug)]
pub(super) struct Batch {
    pub(super) prepared: Arc<Prepared>,
    /// Executions of the group under way.
    pub(super) sent: u64,
    /// Executions whose success was told.
    pub(super) done: u64,
    pub(super) rows: i64,
    pub(super) serial: i64,
    /// Messages of the next group.
    pub(super) next: Vec<u8>,
    /// Executions in it.
    pub(super) collected: u64,
    pub(super) ended: bool,
    pub(super) begin: bool,
    /// Each execution is a group of its own, so that one that fails stops no other.
    pub(super) independent: bool,
}

impl Client {
    /// Runs the statement of [`Event::Prepared`] once for each row of parameters that [`batch`](Self::batch) is given.
    /// Events: [`Event::BatchReady`] whenever rows can be given, at the end [`Event::Done`] with the sum of all rows.
    ///
    /// When a row fails, those before it have been executed, and neither it nor any behind it.
    pub fn start_batch(&mut self, begin: bool) -> Result<(), Misuse> {
        self.start(begin, false)
    }

    /// As [`start_batch`](Self::start_batch), but rows that fail stop no others: each is told by
    /// [`Event::RowFailed`].
    pub fn start_independent_batch(&mut self, begin: bool) -> Result<(), Misuse> {
        self.start(begin, true)
    }

    fn start(&mut self, begin: bool, independent: bool) -> Result<(), Misuse> {
        match std::mem::replace(&mut self.operation, Operation::None) {
            Operation::Described(Running { prepared, .. }) => {
                self.operation = Operation::Batch(Batch {
                    prepared,
                    sent: 0,
                    done: 0,
                    rows: 0,
                    serial: 0,
                    next: Vec::new(),
                    collected: 0,
                    ended: false,
                    begin,
                    independent,
                });
                Ok(())
            }
            other => {
                self.operation = other;
                Err(self.not_now())
            }
        }
    }

    /// Adds a row to the batch; true when another one may follow at once.
    pub fn batch(&mut self, parameters: &Params) -> Result<bool, Misuse> {
        let widths = self.decoder.widths();
        let Operation::Batch(batch) = &mut self.operation else { return Err(Misuse::Busy) };
        if batch.independent {
            ClientMessage::Id(batch.prepared.statement).encode(&mut batch.next, widths)?;
        }
        parameters.append_to(&mut batch.next);
        ClientMessage::Execute.encode(&mut batch.next, widths)?;
        if batch.independent {
            ClientMessage::Eot.encode(&mut batch.next, widths)?;
        }
        batch.collected += 1;
        Ok(!batch.is_full())
    }

    /// No more rows follow.
    pub fn end_batch(&mut self) -> Result<(), Misuse> {
        let Operation::Batch(batch) = &mut self.operation else { return Err(Misuse::Busy) };
        batch.ended = true;
        Ok(())
    }

    /// Sends or finishes a batch of which no group is under way.
    pub(super) fn step_batch(&mut self) -> Result<Step, Failure> {
        let widths = self.decoder.widths();
        let Operation::Batch(batch) = &mut self.operation else { return Ok(Step::Again) };
        if !batch.ended && !batch.is_full() {
            return Ok(Step::Event(Event::BatchReady));
        }
        if batch.collected == 0 {
            let outcome = Outcome { rows: batch.rows, serial: batch.serial, ..Outcome::default() };
            let prepared = Arc::clone(&batch.prepared);
            self.operation = Operation::None;
            self.keep_or_release(prepared);
            return Ok(Step::Event(Event::Done(outcome)));
        }
        let mut bytes = Vec::with_capacity(batch.next.len() + 8);
        if batch.independent {
            bytes.append(&mut batch.next);
        } else {
            let encoded = ClientMessage::Id(batch.prepared.statement).encode(&mut bytes, widths);
            bytes.append(&mut batch.next);
            let encoded = encoded.and_then(|()| ClientMessage::Eot.encode(&mut bytes, widths));
            encoded.map_err(|_| Failure::Unsupported("a batch of this size"))?;
        }
        batch.sent = std::mem::take(&mut batch.collected);
        let begin = std::mem::take(&mut batch.begin);
        let groups = if batch.independent { usize::try_from(batch.sent).unwrap_or(usize::MAX) } else { 1 };
        let operation = std::mem::replace(&mut self.operation, Operation::None);
        self.send_groups(bytes, groups, operation, begin);
        Ok(Step::Again)
    }

    /// A group of a batch was answered.
    pub(super) fn batch_answered(
        &mut self,
        mut batch: Batch,
        reply: &Reply,
        error: Option<SqlError>,
        outcome: Outcome,
    ) -> Result<Step, Failure> {
        if let Some(mut error) = error {
            error.row = Some(if batch.independent { batch.done } else { batch.done + reply.count });
            if !batch.independent {
                self.release(batch.prepared.statement);
                return Ok(Step::Event(Event::Error(error)));
            }
            batch.done += 1;
            batch.sent -= 1;
            self.operation = Operation::Batch(batch);
            return Ok(Step::Event(Event::RowFailed(error)));
        }
        let answered = if batch.independent { 1 } else { batch.sent };
        if reply.count != answered {
            return Err(Failure::Unexpected { state: "running a batch", got: "another number of results" });
        }
        batch.done += answered;
        batch.sent -= answered;
        batch.rows = batch.rows.saturating_add(reply.affected);
        batch.serial = outcome.serial;
        self.operation = Operation::Batch(batch);
        Ok(Step::Again)
    }
}

impl Batch {
    pub(super) fn is_full(&self) -> bool {
        self.next.len() >= Client::BATCH_BYTES
    }
}
