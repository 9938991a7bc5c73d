//! `executemany`: rows from an iterator, encoded as the wire takes them.

use pyo3::prelude::*;
use pyo3::types::{PyIterator, PyList};
use rowferry_client::informix::Placeholder;
use rowferry_wire_sqli::client::{Client, Misuse, Outcome, Params};

use super::result::QueryResult;
use super::values::Encoder;

/// A statement for each of many rows of values.
pub struct Batch {
    begin: bool,
    placeholders: Vec<Placeholder>,
    rows: Py<PyIterator>,
    /// Rows taken from the iterator.
    taken: u64,
    /// What ends the batch once the rows that were sent are answered.
    pub failed: Option<PyErr>,
    /// How many rows may fail; none when the first failure ends the batch.
    go_on: Option<usize>,
    /// The failures of rows that ended nothing, in the order in which they were seen.
    errors: Vec<(u64, PyErr)>,
    /// Rows that were taken but never sent, in ascending order.
    unsent: Vec<u64>,
}

impl Batch {
    pub const fn new(begin: bool, placeholders: Vec<Placeholder>, rows: Py<PyIterator>, go_on: Option<usize>) -> Self {
        Self { begin, placeholders, rows, taken: 0, failed: None, go_on, errors: Vec::new(), unsent: Vec::new() }
    }

    /// The statement is described.
    pub fn start(&self, client: &mut Client) -> Result<(), Misuse> {
        match self.go_on {
            Some(_) => client.start_independent_batch(self.begin),
            None => client.start_batch(self.begin),
        }
    }

    /// Hands rows to the core until it has enough for now.
    pub fn fill(
        &mut self,
        py: Python<'_>,
        client: &mut Client,
        encoder: &mut Encoder<'_>,
        params: &mut Params,
    ) -> Result<(), Misuse> {
        let rows = self.rows.clone_ref(py).into_bound(py);
        loop {
            let row = match rows.clone().next() {
                None => return client.end_batch(),
                Some(Ok(row)) => row,
                // The rows themselves have failed: there are no more of them, whatever the caller chose.
                Some(Err(raised)) => {
                    self.failed = Some(raised);
                    return client.end_batch();
                }
            };
            let place = self.taken;
            self.taken += 1;
            if let Err(refused) = encoder.encode_all(&self.placeholders, &row, params) {
                // The rows before it are carried out; the error says which one was not.
                let _ = refused.value(py).setattr("row", place);
                if self.go_on.is_none() || !is_refusal(py, &refused) {
                    self.failed = Some(refused);
                    return client.end_batch();
                }
                self.unsent.push(place);
                if !self.add_failure(py, place, refused, client) {
                    return Ok(());
                }
                continue;
            }
            if !client.batch(params)? {
                return Ok(());
            }
        }
    }

    /// The place among all rows of the row that was sent as this one.
    pub fn place_of(&self, sent: u64) -> u64 {
        self.unsent.iter().fold(sent, |place, &unsent| if unsent <= place { place + 1 } else { place })
    }

    /// Remembers that a row has failed. False when too many have: then nothing more is sent.
    pub fn add_failure(&mut self, py: Python<'_>, place: u64, failure: PyErr, client: &mut Client) -> bool {
        // A traceback would keep the frames of the caller alive.
        failure.set_traceback(py, None);
        self.errors.push((place, failure));
        let go_on = self.errors.len() <= self.go_on.unwrap_or(0);
        if !go_on {
            client.abandon();
        }
        go_on
    }

    /// What the batch has done.
    pub fn result(&mut self, py: Python<'_>, outcome: Outcome) -> PyResult<QueryResult> {
        let mut errors = std::mem::take(&mut self.errors);
        errors.sort_by_key(|(place, _)| *place);
        let errors = PyList::new(py, errors.into_iter().map(|(_, error)| error.into_value(py)))?;
        Ok(QueryResult::of_batch(outcome, errors.unbind()))
    }
}

/// True for errors of the driver's own kind, which are about the row; anything else, such as an exhausted memory or an
/// interrupt, is not.
fn is_refusal(py: Python<'_>, raised: &PyErr) -> bool {
    py.import("rowferry.exceptions")
        .and_then(|module| module.getattr("Error"))
        .and_then(|class| raised.value(py).is_instance(&class))
        .unwrap_or(false)
}
