//! Many executions of one statement.

use std::sync::Arc;

use super::operation::{Operation, Running};
use super::{Client, Event, Failure, Misuse, Outcome, Params, Prepared, Step};
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
}

impl Client {
    /// Runs the statement of [`Event::Prepared`] once for each row of parameters that [`batch`](Self::batch) is given.
    /// Events: [`Event::BatchReady`] whenever rows can be given, at the end [`Event::Done`] with the sum of all rows.
    ///
    /// When a row fails, those before it have been executed, and neither it nor any behind it.
    pub fn start_batch(&mut self, begin: bool) -> Result<(), Misuse> {
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
        parameters.append_to(&mut batch.next);
        ClientMessage::Execute.encode(&mut batch.next, widths)?;
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
            let outcome = Outcome { rows: batch.rows, serial: batch.serial, more: false };
            let prepared = Arc::clone(&batch.prepared);
            self.operation = Operation::None;
            self.keep_or_release(prepared);
            return Ok(Step::Event(Event::Done(outcome)));
        }
        let mut bytes = Vec::with_capacity(batch.next.len() + 8);
        let encoded = ClientMessage::Id(batch.prepared.statement).encode(&mut bytes, widths);
        bytes.append(&mut batch.next);
        let encoded = encoded.and_then(|()| ClientMessage::Eot.encode(&mut bytes, widths));
        if encoded.is_err() {
            return Err(Failure::Unsupported("a batch of this size"));
        }
        batch.sent = std::mem::take(&mut batch.collected);
        let begin = std::mem::take(&mut batch.begin);
        let operation = std::mem::replace(&mut self.operation, Operation::None);
        self.send(bytes, operation, begin);
        Ok(Step::Again)
    }
}

impl Batch {
    pub(super) fn is_full(&self) -> bool {
        self.next.len() >= Client::BATCH_BYTES
    }
}
