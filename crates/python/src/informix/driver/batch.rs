//! `executemany`: rows from an iterator, encoded as the wire takes them.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyIterator, PyList};
use rowferry_client::informix::wants_list;
use rowferry_wire_sqli::client::{Client, Misuse, Outcome, Prepared, SqlError};

use super::statement::text_of;
use super::texts::Text;
use super::{Driver, Operation, Shared, Step, done, misused, prepare, server_error};
use crate::errors::{Class, error};
use crate::informix::files::Files;
use crate::informix::result::QueryResult;
use crate::informix::values::Encoder;

/// A statement for each of many rows of values.
struct Batch {
    begin: bool,
    statement: Arc<Text>,
    rows: Py<PyIterator>,
    /// Rows taken from the iterator.
    taken: u64,
    /// What ends the batch once the rows that were sent are answered.
    failed: Option<PyErr>,
    /// How many rows may fail; none when the first failure ends the batch.
    go_on: Option<usize>,
    /// The failures of rows that ended nothing, in the order in which they were seen.
    errors: Vec<(u64, PyErr)>,
    /// Rows that were taken but never sent, in ascending order.
    unsent: Vec<u64>,
}

impl Driver {
    /// Runs a statement for each row of values; when `begin` is true, within a transaction. Rows that fail end it, or,
    /// when `go_on` is given, only more than so many.
    #[allow(clippy::too_many_arguments)] // They are the caller's.
    pub fn execute_many(
        &mut self,
        py: Python<'_>,
        client: &mut Client,
        sql: &Bound<'_, PyAny>,
        rows: &Bound<'_, PyAny>,
        begin: bool,
        go_on: Option<usize>,
        files: Option<Py<PyAny>>,
    ) -> PyResult<()> {
        self.check(py, client)?;
        self.shared.files = Files::new(files);
        let rows = rows.try_iter()?.unbind();
        let text = text_of(sql)?;
        let known = self.shared.text(text)?;
        if wants_list(&known.statement.sql) {
            let message = "a list for IN is a value of `execute` alone: it makes the statement another for each length";
            return Err(error(py, Class::Programming, None, message));
        }
        prepare(py, client, &known.encoded, known.statement.params.len())?;
        self.start(Batch::new(begin, known, rows, go_on));
        Ok(())
    }
}

impl Batch {
    const fn new(begin: bool, statement: Arc<Text>, rows: Py<PyIterator>, go_on: Option<usize>) -> Self {
        Self { begin, statement, rows, taken: 0, failed: None, go_on, errors: Vec::new(), unsent: Vec::new() }
    }

    /// The statement is described.
    fn start(&self, client: &mut Client) -> Result<(), Misuse> {
        match self.go_on {
            Some(_) => client.start_independent_batch(self.begin),
            None => client.start_batch(self.begin),
        }
    }

    /// Hands rows to the core until it has enough for now.
    fn fill(&mut self, py: Python<'_>, client: &mut Client, shared: &mut Shared) -> Result<(), Misuse> {
        let Shared { encoding, params, scratch, .. } = shared;
        let mut encoder = Encoder { encoding, widths: client.widths(), scratch, lists: None };
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
            if let Err(refused) = encoder.encode_all(&self.statement.statement.params, &row, params) {
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
    fn place_of(&self, sent: u64) -> u64 {
        self.unsent.iter().fold(sent, |place, &unsent| if unsent <= place { place + 1 } else { place })
    }

    /// Remembers that a row has failed. False when too many have: then nothing more is sent.
    fn add_failure(&mut self, py: Python<'_>, place: u64, failure: PyErr, client: &mut Client) -> bool {
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
    fn result(&mut self, py: Python<'_>, outcome: Outcome) -> PyResult<QueryResult> {
        let mut errors = std::mem::take(&mut self.errors);
        errors.sort_by_key(|(place, _)| *place);
        let errors = PyList::new(py, errors.into_iter().map(|(_, error)| error.into_value(py)))?;
        Ok(QueryResult::of_batch(outcome, errors.unbind()))
    }
}

impl Operation for Batch {
    fn prepared(
        &mut self,
        py: Python<'_>,
        prepared: Arc<Prepared>,
        client: &mut Client,
        _: &mut Shared,
    ) -> PyResult<()> {
        if prepared.is_query() {
            client.abandon();
            let message = "executemany is not for SELECT and other statements that return rows; use execute";
            return Err(error(py, Class::NotSupported, None, message));
        }
        self.start(client).map_err(|misuse| misused(py, misuse))
    }

    fn batch_ready(&mut self, py: Python<'_>, client: &mut Client, shared: &mut Shared) -> PyResult<Option<Step>> {
        // What was collected before is on its way while the next rows are encoded.
        self.fill(py, client, shared).map_err(|misuse| misused(py, misuse))?;
        Ok(Some(Step::Flush))
    }

    fn row_failed(&mut self, py: Python<'_>, refused: SqlError, client: &mut Client) {
        let row = self.place_of(refused.row.unwrap_or(0));
        self.add_failure(py, row, server_error(py, &SqlError { row: Some(row), ..refused }), client);
    }

    fn done(
        &mut self,
        py: Python<'_>,
        outcome: Outcome,
        _: &mut Client,
        shared: &mut Shared,
    ) -> PyResult<Option<Step>> {
        match self.failed.take().or_else(|| shared.files.failed.take()) {
            Some(failed) => Err(failed),
            None => done(py, self.result(py, outcome)?).map(Some),
        }
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
