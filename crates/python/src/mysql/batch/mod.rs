//! `executemany`: a statement for many rows, in as few requests as the server takes.
//!
//! One request is on its way at a time, and the next is made meanwhile: the server never waits for us, and what comes
//! behind a row that it refuses has not been sent.

mod blame;
mod executions;
mod request;
mod source;
mod statement;

use std::collections::VecDeque;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyRange;
use rowferry_wire_mysql::client::{Client, Event};
use rowferry_wire_mysql::messages::resultset::TextRow;
use rowferry_wire_mysql::messages::status::{Ok as OkPacket, ServerError};

use super::columns::Plan;
use super::driver::{Driver, Operation, Rows, Shape, Shared, Step, broken, done, misused, out_of_place, server_error};
use super::result::{Draft, QueryResult};
use crate::errors::{Class, error};
use blame::{Diagnosis, row_of};
use request::{Maker, Request, Way};
use source::Source;
use statement::Statement;

/// The server's own number for a message beyond its `max_allowed_packet`.
const PACKET_TOO_LARGE: u16 = 1153;

/// "This command is not supported in the prepared statement protocol yet": not for many rows, at least.
const NOT_PREPARABLE: u16 = 1295;

/// What an answer belongs to.
enum Awaited {
    /// The server's `max_allowed_packet`.
    Limit,
    Preparation,
    /// An execution whose statement could not be prepared.
    Refusal,
    /// One of the queries about the last error.
    Diagnosis,
    /// What tells that the statements of a text are all answered.
    Ping,
    /// Rows from `first` on, of which `done` have been answered where each is.
    Rows {
        first: usize,
        rows: usize,
        way: Way,
        done: usize,
    },
}

/// The request that failed, while the server is asked which row it was.
struct Suspect {
    first: usize,
    rows: usize,
    error: PyErr,
    /// The questions have been sent.
    is_asked: bool,
}

/// Fewer rows than this are not worth the preparation of a statement.
const FEW: usize = 16;

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
    /// The server knows more of an error than its message says.
    asks: bool,
    current: Option<(Arc<Plan>, Shape)>,
    /// All rows of all results.
    rows: Option<(Arc<Plan>, Rows)>,
    total: OkPacket,
    failed: Option<PyErr>,
    suspect: Option<Suspect>,
    diagnosis: Diagnosis,
}

impl Driver {
    /// The text of an INSERT for all `rows` at once; of another statement, that for the last row.
    pub fn fill_many(
        &mut self,
        py: Python<'_>,
        client: &Client,
        sql: &Bound<'_, PyAny>,
        rows: &Bound<'_, PyAny>,
    ) -> PyResult<Vec<u8>> {
        let sql = self.fill(py, client, sql, None)?.to_vec();
        Statement::new(py, &sql, &self.encoding)?.text(&self.encoding, rows)
    }

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
            asks: client.session().is_mariadb,
            current: None,
            rows: None,
            total: OkPacket { status: client.session().status, ..OkPacket::default() },
            failed: None,
            suspect: None,
            diagnosis: Diagnosis::default(),
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
        if let Some(suspect) = &mut self.suspect {
            return Ok(!suspect.is_asked && self.ask(py, client)?);
        }
        let Some(request) = &mut self.ready else { return Ok(false) };
        let is_first = request.way == Way::Bulk && self.maker.may_be_declined() && request.first == 0;
        if is_first && request.rows < FEW && self.maker.source.is_over() {
            self.declined();
            return Ok(false);
        }
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
            && request.size() >= limit
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
        if request.way == Way::Joined {
            self.awaited.push_back(Awaited::Ping);
        }
        if let Some(request) = self.ready.take() {
            self.maker.recycle(request);
        }
        Ok(true)
    }

    /// A result has ended.
    fn add(&mut self, ok: OkPacket) {
        executions::add(&mut self.total, ok);
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
                self.declined();
            }
            Some(Awaited::Refusal) => {}
            Some(Awaited::Rows { way: Way::Bulk, .. })
                if refused.code == NOT_PREPARABLE && self.maker.may_be_declined() =>
            {
                self.declined();
            }
            Some(Awaited::Rows { first, rows, way, done }) => {
                let error = server_error(py, refused);
                let alone = rows == 1 || matches!(way, Way::Joined | Way::Single);
                if alone {
                    error.value(py).setattr("row", first + done)?;
                    self.failed.get_or_insert(error);
                } else if self.asks {
                    self.suspect = Some(Suspect { first, rows, error, is_asked: false });
                } else {
                    let row = row_of(refused).filter(|row| *row <= rows);
                    self.blame(py, Suspect { first, rows, error, is_asked: true }, row)?;
                }
            }
            Some(Awaited::Diagnosis | Awaited::Ping) => {}
            None => {}
        }
        self.current = None;
        Ok(())
    }

    /// Asks which row it was.
    fn ask(&mut self, py: Python<'_>, client: &mut Client) -> PyResult<bool> {
        let questions = Diagnosis::ask(client).map_err(|misuse| misused(py, misuse))?;
        self.awaited.extend((0..questions).map(|_| Awaited::Diagnosis));
        if let Some(suspect) = &mut self.suspect {
            suspect.is_asked = true;
        }
        Ok(true)
    }

    /// The server has said all that it knows: `row` counts from 1 on within the request.
    fn blame(&mut self, py: Python<'_>, suspect: Suspect, row: Option<usize>) -> PyResult<()> {
        let Suspect { first, rows, error, .. } = suspect;
        let exception = error.value(py);
        exception.setattr("row", row.filter(|row| *row <= rows).map(|row| first + row - 1))?;
        exception.setattr("rows", py.get_type::<PyRange>().call1((first, first + rows))?)?;
        self.failed.get_or_insert(error);
        Ok(())
    }

    /// The rows that are under way or ready come again as text.
    fn declined(&mut self) {
        self.ready = None;
        self.maker.declined();
        self.maker.source.give_back_error(self.stopped.take());
    }

    fn outcome(&mut self, py: Python<'_>) -> PyResult<Option<Step>> {
        if let Some(failed) = self.failed.take().or_else(|| self.stopped.take()) {
            return Err(failed);
        }
        let (plan, rows) = match self.rows.take() {
            Some((plan, rows)) => (Some(plan), Some(rows.into_tuple(py)?)),
            None => (None, None),
        };
        let draft = Draft { plan, rows, ok: std::mem::take(&mut self.total), more: false };
        Ok(done(py, QueryResult::chain(py, vec![draft], None)?))
    }
}

impl Operation for Batch {
    fn before(&mut self, py: Python<'_>, client: &mut Client, shared: &mut Shared) -> PyResult<Option<Step>> {
        if let (Some((plan, shape)), Some((_, rows))) = (&self.current, &mut self.rows) {
            rows.read(py, client, plan, *shape, &mut self.failed)?;
        }
        loop {
            if self.send(py, client, shared)? {
                return Ok(Some(Step::Flush));
            }
            let failed = self.failed.is_some() || self.suspect.is_some();
            let makes = self.ready.is_none() && !failed && self.stopped.is_none();
            if makes && !self.maker.source.is_over() {
                (self.ready, self.stopped) = self.maker.next(py, shared.packet_limit);
                continue;
            }
            if !self.awaited.is_empty() {
                return Ok(None);
            }
            if let Some(suspect) = self.suspect.take() {
                self.blame(py, suspect, self.diagnosis.row())?;
            }
            for statement in shared.orphans.drain(..) {
                // Nothing is answered; a closed connection has forgotten already.
                let _ = client.close_statement(statement);
            }
            return self.outcome(py);
        }
    }

    fn event(&mut self, py: Python<'_>, event: Event<'_>, shared: &mut Shared) -> PyResult<Option<Step>> {
        match (event, self.awaited.front_mut()) {
            (Event::Prepared(prepared), Some(Awaited::Preparation)) => {
                self.maker.prepared = Some(prepared.statement);
                // Closed at the end, also when that comes early.
                shared.orphans.push(prepared.statement);
                self.awaited.pop_front();
            }
            (Event::Columns(_), Some(Awaited::Limit | Awaited::Diagnosis)) => {}
            (Event::Row(payload), Some(Awaited::Diagnosis)) => {
                self.diagnosis.take(payload).map_err(|malformed| broken(py, &malformed.into()))?;
            }
            (Event::Row(payload), Some(Awaited::Limit)) => {
                let cell = TextRow::new(payload).cell().map_err(|malformed| broken(py, &malformed.into()))?;
                let limit = cell.and_then(|cell| std::str::from_utf8(cell).ok()).and_then(|cell| cell.parse().ok());
                shared.packet_limit = Some(limit.unwrap_or(usize::MAX));
            }
            (Event::EndOfRows { .. }, Some(Awaited::Limit | Awaited::Diagnosis))
            | (Event::Done { .. }, Some(Awaited::Diagnosis | Awaited::Ping)) => {
                self.awaited.pop_front();
            }
            (Event::Columns(columns), Some(Awaited::Rows { way, .. })) => {
                let shape = Shape { binary: *way == Way::Bulk, as_dict: self.as_dict };
                let plan = shared.plan(py, columns)?;
                // Results of other columns than the first cannot be read as its rows.
                if self.rows.as_ref().is_none_or(|(known, _)| !known.is_like(&plan)) {
                    self.rows = Some((plan.clone(), Rows::default()));
                }
                self.current = Some((plan, shape));
            }
            (Event::Row(payload), Some(Awaited::Rows { .. })) => {
                if let (Some((plan, shape)), Some((_, rows))) = (&self.current, &mut self.rows) {
                    rows.push(py, payload, plan, *shape, &mut self.failed).map_err(|failure| broken(py, &failure))?;
                }
            }
            (Event::Done { ok, more } | Event::EndOfRows { ok, more }, Some(Awaited::Rows { done, .. })) => {
                *done += 1;
                self.maker.accepted();
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
