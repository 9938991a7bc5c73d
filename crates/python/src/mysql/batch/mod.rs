//! `executemany`: a statement for many rows, in as few requests as the server takes.
//!
//! One request is on its way at a time, and the next is made meanwhile: the server never waits for us, and what comes
//! behind a row that it refuses has not been sent.

mod request;
mod source;
mod statement;

use std::collections::VecDeque;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyList;
use rowferry_wire_mysql::client::{Client, Event};
use rowferry_wire_mysql::messages::resultset::TextRow;
use rowferry_wire_mysql::messages::status::{Ok as OkPacket, ServerError};

use super::columns::Plan;
use super::driver::{
    Driver, Operation, Shape, Shared, Step, broken, misused, out_of_place, push_row, read_rows, server_error,
};
use super::result::{Draft, QueryResult};
use crate::errors::{Class, error};
use request::{Maker, Request, Way};
use source::Source;
use statement::Statement;

/// The server's own number for a message beyond its `max_allowed_packet`.
const PACKET_TOO_LARGE: u16 = 1153;

/// What an answer belongs to.
enum Awaited {
    /// The server's `max_allowed_packet`.
    Limit,
    Preparation,
    /// An execution whose statement could not be prepared.
    Refusal,
    /// Rows from `first` on, of which `done` have been answered where each is.
    Rows {
        first: usize,
        rows: usize,
        way: Way,
        done: usize,
    },
}

/// See the module.
struct Batch {
    maker: Maker,
    as_dict: bool,
    ready: Option<Request>,
    /// What is wrong with the row behind those that are ready: raised when they are through.
    stopped: Option<PyErr>,
    awaited: VecDeque<Awaited>,
    /// The statement's preparation has been asked for.
    preparing: bool,
    asked_limit: bool,
    current: Option<(Arc<Plan>, Shape)>,
    /// All rows of all results.
    rows: Option<(Arc<Plan>, Py<PyList>)>,
    total: OkPacket,
    failed: Option<PyErr>,
}

impl Driver {
    /// Runs `sql` for each of `rows`. Requests are at most `most` bytes long, unless a single row is longer.
    pub fn execute_many(
        &mut self,
        py: Python<'_>,
        client: &mut Client,
        sql: &Bound<'_, PyAny>,
        rows: &Bound<'_, PyAny>,
        most: usize,
        as_dict: bool,
    ) -> PyResult<()> {
        self.begin(py, client)?;
        let sql = self.fill(py, client, sql, None)?.to_vec();
        let statement = Statement::new(py, &sql, &self.encoding)?;
        let source = Source::new(rows)?;
        self.start(Batch {
            maker: Maker::new(statement, source, self.encoding.share(py), client, most),
            as_dict,
            ready: None,
            stopped: None,
            awaited: VecDeque::new(),
            preparing: false,
            asked_limit: false,
            current: None,
            rows: None,
            total: OkPacket { status: client.session().status, ..OkPacket::default() },
            failed: None,
        });
        Ok(())
    }
}

impl Batch {
    /// Sends what is ready, if its turn has come.
    fn send(&mut self, py: Python<'_>, client: &mut Client, shared: &Shared) -> PyResult<bool> {
        let misuse = |misuse| misused(py, misuse);
        if !self.awaited.is_empty() || self.failed.is_some() {
            return Ok(false);
        }
        let Some(request) = &mut self.ready else { return Ok(false) };
        if shared.packet_limit.is_none() && !self.asked_limit && !(request.is_small() && self.maker.source.is_over()) {
            self.asked_limit = true;
            client.query(b"SELECT @@max_allowed_packet").map_err(misuse)?;
            self.awaited.push_back(Awaited::Limit);
            if !request.is_small() {
                // One row alone is large: whether the server takes it must be known first.
                return Ok(true);
            }
        }
        if let Some(limit) = shared.packet_limit
            && request.size() > limit
        {
            let message = format!(
                "row {} takes {} bytes, but the server's max_allowed_packet is {limit}: nothing of it was sent",
                request.first,
                request.size()
            );
            let large = error(py, Class::Operational, Some(PACKET_TOO_LARGE), &message);
            large.value(py).setattr("row", request.first)?;
            self.failed = Some(large);
            self.ready = None;
            return Ok(false);
        }
        if request.way == Way::Bulk
            && self.maker.prepared.is_none()
            && !self.preparing
            && let Some(marked) = &self.maker.statement.marked
        {
            self.preparing = true;
            client.prepare(&marked.sql).map_err(misuse)?;
            self.awaited.push_back(Awaited::Preparation);
        }
        request.send(client).map_err(misuse)?;
        self.awaited.push_back(Awaited::Rows { first: request.first, rows: request.rows, way: request.way, done: 0 });
        if let Some(request) = self.ready.take() {
            self.maker.recycle(request);
        }
        Ok(true)
    }

    /// A result has ended.
    fn add(&mut self, ok: OkPacket) {
        let total = &mut self.total;
        total.affected_rows += ok.affected_rows;
        total.warnings = total.warnings.saturating_add(ok.warnings);
        total.last_insert_id = ok.last_insert_id;
        total.status = ok.status;
        total.info = ok.info;
        self.current = None;
    }

    /// The server refused the request in front.
    fn refused(&mut self, py: Python<'_>, refused: &ServerError, shared: &mut Shared) -> PyResult<()> {
        match self.awaited.pop_front() {
            Some(Awaited::Limit) => shared.packet_limit = Some(usize::MAX),
            Some(Awaited::Preparation) => {
                // The execution that went out with it is refused as well. As text, the statement runs or fails for a
                // reason of its own.
                self.awaited.clear();
                self.awaited.push_back(Awaited::Refusal);
                self.ready = None;
                self.maker.give_up_preparing();
            }
            Some(Awaited::Refusal) => {}
            Some(Awaited::Rows { first, rows, way, done }) => {
                let exception = server_error(py, refused);
                let row = match way {
                    Way::Joined | Way::Single => Some(first + done),
                    _ if rows == 1 => Some(first),
                    _ => row_of(&refused.message).filter(|row| *row <= rows).map(|row| first + row - 1),
                };
                exception.value(py).setattr("row", row)?;
                self.failed.get_or_insert(exception);
            }
            None => {}
        }
        self.current = None;
        Ok(())
    }

    fn outcome(&mut self, py: Python<'_>) -> PyResult<Option<Step>> {
        if let Some(failed) = self.failed.take().or_else(|| self.stopped.take()) {
            return Err(failed);
        }
        let (plan, rows) = match self.rows.take() {
            Some((plan, rows)) => (Some(plan), Some(rows.bind(py).to_tuple().unbind().into_any())),
            None => (None, None),
        };
        let draft = Draft { plan, rows, ok: std::mem::take(&mut self.total), more: false };
        Ok(Step::done(py, QueryResult::chain(py, vec![draft], None)?))
    }
}

/// The row that a message names at its end, from 1 on: `Data too long for column 'a' at row 7`.
fn row_of(message: &str) -> Option<usize> {
    let (_, row) = message.rsplit_once(" at row ")?;
    row.parse().ok().filter(|row| *row > 0)
}

impl Operation for Batch {
    fn before(&mut self, py: Python<'_>, client: &mut Client, shared: &mut Shared) -> PyResult<Option<Step>> {
        if let (Some((plan, shape)), Some((_, rows))) = (&self.current, &self.rows) {
            read_rows(py, client, plan, rows, *shape, &mut self.failed)?;
        }
        loop {
            if self.send(py, client, shared)? {
                return Ok(Some(Step::Flush));
            }
            let makes = self.ready.is_none() && self.failed.is_none() && self.stopped.is_none();
            if makes && !self.maker.source.is_over() {
                (self.ready, self.stopped) = self.maker.next(py, shared.packet_limit);
                continue;
            }
            if !self.awaited.is_empty() {
                return Ok(None);
            }
            if let Some(statement) = self.maker.prepared.take() {
                // Nothing is answered; a closed connection has forgotten already.
                let _ = client.close_statement(statement);
            }
            return self.outcome(py);
        }
    }

    fn event(&mut self, py: Python<'_>, event: Event<'_>, shared: &mut Shared) -> PyResult<Option<Step>> {
        match (event, self.awaited.front_mut()) {
            (Event::Prepared(prepared), Some(Awaited::Preparation)) => {
                self.maker.prepared(prepared.statement);
                self.awaited.pop_front();
            }
            (Event::Columns(_), Some(Awaited::Limit)) => {}
            (Event::Row(payload), Some(Awaited::Limit)) => {
                let cell = TextRow::new(payload).cell().map_err(|malformed| broken(py, &malformed.into()))?;
                let limit = cell.and_then(|cell| std::str::from_utf8(cell).ok()).and_then(|cell| cell.parse().ok());
                shared.packet_limit = Some(limit.unwrap_or(usize::MAX));
            }
            (Event::EndOfRows { .. }, Some(Awaited::Limit)) => {
                self.awaited.pop_front();
            }
            (Event::Columns(columns), Some(Awaited::Rows { way, .. })) => {
                let shape = Shape { binary: *way == Way::Bulk, as_dict: self.as_dict };
                let plan = shared.plan(py, columns)?;
                // Results of other columns than the first cannot be read as its rows.
                if self
                    .rows
                    .as_ref()
                    .is_none_or(|(known, _)| known.columns.definitions.len() != plan.columns.definitions.len())
                {
                    self.rows = Some((plan.clone(), PyList::empty(py).unbind()));
                }
                self.current = Some((plan, shape));
            }
            (Event::Row(payload), Some(Awaited::Rows { .. })) => {
                if let (Some((plan, shape)), Some((_, rows))) = (&self.current, &self.rows) {
                    push_row(py, payload, plan, *shape, rows, &mut self.failed)
                        .map_err(|failure| broken(py, &failure))?;
                }
            }
            (Event::Done { ok, more } | Event::EndOfRows { ok, more }, Some(Awaited::Rows { done, .. })) => {
                *done += 1;
                if !more {
                    self.awaited.pop_front();
                }
                self.add(ok);
            }
            (Event::Error(refused), Some(_)) => self.refused(py, &refused, shared)?,
            (event, _) => return Err(out_of_place(py, &event)),
        }
        Ok(None)
    }

    fn may_be_done(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::row_of;

    #[test]
    fn a_message_names_its_row_at_the_end() {
        assert_eq!(row_of("Data too long for column 'a' at row 7"), Some(7));
        assert_eq!(row_of("Duplicate entry 'x at row 7' for key 't.PRIMARY'"), None);
        assert_eq!(row_of("Out of range at row 0"), None);
        assert_eq!(row_of("Column 'a' cannot be null"), None);
    }
}
