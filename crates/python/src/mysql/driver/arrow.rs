use pyo3::prelude::*;
use rowferry_wire_mysql::client::{Client, Event};

use super::stream::RowStream;
use super::{Driver, Operation, Shared, Step, broken, busy, out_of_place, refused};
use crate::mysql::arrow::{ArrowRows, Refused};
use crate::pump::Conversation as _;

/// Reading less than this takes less time than letting another thread run.
const WORTH_DETACHING: usize = 32 * 1024;

impl Driver {
    /// Reads up to `most` rows of the stream as a batch of Arrow's; the outcome is `None` behind the last row.
    pub fn fetch_arrow(&mut self, py: Python<'_>, most: usize) -> PyResult<()> {
        if self.is_busy() {
            return Err(busy(py));
        }
        let rows = match &self.shared.stream {
            Some(stream) => Some(ArrowRows::new(py, &stream.plan, most.max(1))?),
            None => None,
        };
        self.start(FetchArrow { rows });
        Ok(())
    }
}

/// The next rows of a stream, by columns.
struct FetchArrow {
    /// `None` when there is no stream, or none any more.
    rows: Option<ArrowRows>,
}

impl FetchArrow {
    fn done(&mut self, py: Python<'_>) -> PyResult<Option<Step>> {
        let batch = match &mut self.rows {
            Some(rows) => rows.take(py)?,
            None => None,
        };
        Ok(Some(Step::Done(batch.map_or_else(|| py.None(), Py::into_any))))
    }

    fn failed(&self, py: Python<'_>, refused: Refused) -> PyErr {
        match (refused, &self.rows) {
            (Refused::Malformed(malformed), _) => broken(py, &malformed.into()),
            (Refused::Value(at, what), Some(rows)) => rows.value_error(py, at, &what),
            (Refused::Value(_, what), None) => crate::errors::error(py, crate::errors::Class::Data, None, &what),
        }
    }
}

/// Appends the rows that have come, until the batch is full.
fn read_rows(client: &mut Client, rows: &mut ArrowRows, binary: bool) -> Result<(), Refused> {
    let mut places = Vec::new();
    loop {
        places.clear();
        let bytes = client.take_rows(rows.room(), &mut places);
        if places.is_empty() {
            return Ok(());
        }
        rows.push_rows(bytes, &places, binary)?;
    }
}

impl Operation for FetchArrow {
    fn before(&mut self, py: Python<'_>, client: &mut Client, shared: &mut Shared) -> PyResult<Option<Step>> {
        let (Some(RowStream { shape, .. }), Some(rows)) = (&shared.stream, &mut self.rows) else {
            return self.done(py);
        };
        if rows.room() > 0 {
            let binary = shape.binary;
            let outcome = if rows.is_free_of_python() && client.backlog() >= WORTH_DETACHING {
                py.detach(|| read_rows(client, rows, binary))
            } else {
                read_rows(client, rows, binary)
            };
            if let Err(refused) = outcome {
                if matches!(refused, Refused::Malformed(_)) {
                    // Nothing behind it can be understood.
                    client.abandon();
                }
                return Err(self.failed(py, refused));
            }
        }
        if self.rows.as_ref().is_some_and(|rows| rows.room() == 0) { self.done(py) } else { Ok(None) }
    }

    fn event(&mut self, py: Python<'_>, event: Event<'_>, shared: &mut Shared) -> PyResult<Option<Step>> {
        match event {
            Event::Row(payload) => {
                if let (Some(stream), Some(rows)) = (&shared.stream, &mut self.rows) {
                    let place = 0..payload.len();
                    let outcome = rows.push_rows(payload, std::slice::from_ref(&place), stream.shape.binary);
                    outcome.map_err(|refused| self.failed(py, refused))?;
                }
                Ok(None)
            }
            Event::EndOfRows { ok, more } => {
                shared.follows = more;
                shared.warnings = ok.warnings;
                shared.stream = None;
                self.done(py)
            }
            Event::Error(error) => Err(refused(py, &error, shared)),
            event => Err(out_of_place(py, &event)),
        }
    }

    fn may_be_done(&self) -> bool {
        true
    }
}
