use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyList};
use rowferry_wire_mysql::client::{Client, Event};
use rowferry_wire_mysql::messages::status::Ok as OkPacket;

use super::rows::{pause, push_row};
use super::{Operation, Shape, Shared, Step, broken, done, gone, out_of_place, refused};
use crate::mysql::columns::Plan;
use crate::mysql::days::Days;
use crate::mysql::result::{Draft, QueryResult};

/// A result whose rows are still on the wire.
pub struct RowStream {
    pub plan: Arc<Plan>,
    pub shape: Shape,
    failed: Option<PyErr>,
    days: Days,
}

/// The head of a result whose rows are fetched bit by bit.
pub struct OpenStream {
    pub shape: Shape,
}

impl Operation for OpenStream {
    fn event(&mut self, py: Python<'_>, event: Event<'_>, shared: &mut Shared) -> PyResult<Option<Step>> {
        match event {
            Event::Columns(columns) => {
                let plan = shared.plan(py, columns)?;
                shared.stream =
                    Some(RowStream { plan: plan.clone(), shape: self.shape, failed: None, days: Days::default() });
                let draft = Draft { plan: Some(plan), rows: None, ok: OkPacket::default(), more: false };
                QueryResult::chain(py, vec![draft], None).map(|result| done(py, result))
            }
            Event::Done { ok, more } => {
                shared.follows = more;
                let draft = Draft { plan: None, rows: None, ok, more };
                QueryResult::chain(py, vec![draft], None).map(|result| done(py, result))
            }
            Event::Error(error) => Err(refused(py, &error, shared)),
            event => Err(out_of_place(py, &event)),
        }
    }
}

/// The next rows of a stream.
pub struct Fetch {
    left: usize,
    rows: Py<PyList>,
}

impl Fetch {
    pub fn new(py: Python<'_>, most: usize) -> Self {
        Self { left: most, rows: PyList::empty(py).unbind() }
    }

    fn done(&self, py: Python<'_>) -> Step {
        Step::Done(self.rows.clone_ref(py).into_any())
    }
}

impl Operation for Fetch {
    fn before(&mut self, py: Python<'_>, client: &mut Client, shared: &mut Shared) -> PyResult<Option<Step>> {
        let Some(stream) = &mut shared.stream else { return Ok(Some(self.done(py))) };
        if let Some(error) = read_some(py, client, stream, &mut self.left, &self.rows)? {
            stream.failed = None;
            return Err(error);
        }
        Ok((self.left == 0).then(|| self.done(py)))
    }

    fn event(&mut self, py: Python<'_>, event: Event<'_>, shared: &mut Shared) -> PyResult<Option<Step>> {
        match event {
            Event::Row(payload) => {
                if let Some(stream) = &mut shared.stream {
                    push_row(py, payload, &stream.plan, stream.shape, &self.rows, &mut stream.days, &mut stream.failed)
                        .map_err(|failure| broken(py, &failure))?;
                    self.left -= 1;
                }
                Ok(None)
            }
            Event::EndOfRows { ok, more } => {
                shared.follows = more;
                shared.warnings = ok.warnings;
                match shared.stream.take().and_then(|stream| stream.failed) {
                    Some(error) => Err(error),
                    None => Ok(Some(self.done(py))),
                }
            }
            Event::Error(error) => Err(refused(py, &error, shared)),
            event => Err(out_of_place(py, &event)),
        }
    }

    fn pending(&self, py: Python<'_>) -> Step {
        // Rows that are here need not wait for those that are not.
        if self.rows.bind(py).is_empty() { Step::Pending } else { self.done(py) }
    }

    fn may_be_done(&self) -> bool {
        true
    }
}

/// Whatever comes is read and dropped, up to the end of the last command. The outcome is False when more than `left`
/// bytes of rows came and more is to come.
pub struct Drain {
    left: usize,
}

impl Drain {
    pub const fn new(most: usize) -> Self {
        Self { left: most }
    }
}

impl Operation for Drain {
    fn before(&mut self, py: Python<'_>, client: &mut Client, shared: &mut Shared) -> PyResult<Option<Step>> {
        for statement in shared.unsettled.drain(..) {
            // A closed connection has forgotten already.
            let _ = client.reset_statement(statement);
        }
        if client.awaited() == 0 {
            for statement in shared.orphans.drain(..) {
                // A closed connection has forgotten already.
                let _ = client.close_statement(statement);
            }
            shared.forget_stream();
            return Ok(Some(Step::Done(PyBool::new(py, true).to_owned().into_any().unbind())));
        }
        if client.is_uploading() {
            // The end of the file would make the server keep the part that it has got.
            client.abandon();
            return Err(gone(py));
        }
        client.visit_rows(|row| {
            self.left = self.left.saturating_sub(row.len());
            self.left > 0
        });
        Ok((self.left == 0).then(|| Step::Done(PyBool::new(py, false).to_owned().into_any().unbind())))
    }

    fn event(&mut self, _: Python<'_>, event: Event<'_>, shared: &mut Shared) -> PyResult<Option<Step>> {
        match event {
            Event::Row(payload) => self.left = self.left.saturating_sub(payload.len()),
            Event::Prepared(prepared) => shared.orphans.push(prepared.statement),
            _ => {}
        }
        Ok(None)
    }

    fn may_be_done(&self) -> bool {
        true
    }
}

/// Builds up to `left` of the rows that have come. Answers the error of a row that could not be built.
fn read_some(
    py: Python<'_>,
    client: &mut Client,
    stream: &mut RowStream,
    left: &mut usize,
    rows: &Py<PyList>,
) -> PyResult<Option<PyErr>> {
    let mut malformed = None;
    if *left == 0 {
        return Ok(None);
    }
    let RowStream { plan, shape, failed, days, .. } = stream;
    let pause = pause(py, plan, *shape);
    client.visit_rows(|payload| {
        *left -= 1;
        match push_row(py, payload, plan, *shape, rows, days, failed) {
            Ok(()) => *left > 0 && failed.is_none(),
            Err(failure) => {
                malformed = Some(failure);
                false
            }
        }
    });
    drop(pause);
    match malformed {
        Some(failure) => Err(broken(py, &failure)),
        None => Ok(stream.failed.take()),
    }
}
