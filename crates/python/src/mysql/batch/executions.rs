use std::sync::Arc;

use pyo3::prelude::*;
use rowferry_wire_mysql::client::{Client, Event};
use rowferry_wire_mysql::messages::statement::{Params, StatementId};
use rowferry_wire_mysql::messages::status::Ok as OkPacket;

use super::source::Source;
use crate::errors::{Class, error};
use crate::mysql::columns::Plan;
use crate::mysql::driver::{
    Driver, Operation, Rows, Shape, Shared, Step, broken, done, misused, out_of_place, server_error,
};
use crate::mysql::result::{Draft, Prepared, QueryResult};
use crate::mysql::values::Encoding;

/// Executions that wait to be written take about this much memory.
const WORTH_SENDING: usize = 64 * 1024;

/// A prepared statement, executed for each row: the next executions are sent before the last are answered.
struct Executions {
    statement: StatementId,
    params: usize,
    encoding: Encoding,
    source: Source,
    shape: Shape,
    /// So many executions may be on their way.
    window: usize,
    sent: usize,
    answered: usize,
    /// What is wrong with the row behind those that were sent.
    stopped: Option<PyErr>,
    failed: Option<PyErr>,
    current: Option<Arc<Plan>>,
    rows: Option<(Arc<Plan>, Rows)>,
    total: OkPacket,
}

impl Driver {
    /// Runs a prepared statement for each of `rows`, with up to `window` executions on their way at a time.
    pub fn execute_each(
        &mut self,
        py: Python<'_>,
        client: &mut Client,
        prepared: &Prepared,
        rows: &Bound<'_, PyAny>,
        window: usize,
        as_dict: bool,
    ) -> PyResult<()> {
        self.begin(py, client)?;
        let (Some(statement), Some(params)) = (prepared.statement(), prepared.count()) else {
            return Err(error(py, Class::Programming, None, "the statement is not prepared"));
        };
        self.start(Executions {
            statement,
            params,
            encoding: self.encoding.share(py),
            source: Source::new(rows)?,
            shape: Shape { binary: true, as_dict },
            window: window.max(1),
            sent: 0,
            answered: 0,
            stopped: None,
            failed: None,
            current: None,
            rows: None,
            total: OkPacket { status: client.session().status, ..OkPacket::default() },
        });
        Ok(())
    }
}

impl Executions {
    /// Sends executions until enough are on their way. True when there is something to write.
    fn send(&mut self, py: Python<'_>, client: &mut Client) -> PyResult<bool> {
        // A window is filled again when half of it is empty, so that executions travel together.
        if self.sent - self.answered > self.window / 2 {
            return Ok(false);
        }
        let (before, mut bytes) = (self.sent, 0);
        while self.sent - self.answered < self.window && bytes < WORTH_SENDING && !self.is_over() {
            match self.next(py) {
                Ok(Some(params)) => {
                    client.execute(self.statement, &params).map_err(|misuse| misused(py, misuse))?;
                    bytes += params.size();
                    self.sent += 1;
                }
                Ok(None) => break,
                Err(wrong) => self.stopped = Some(wrong),
            }
        }
        Ok(self.sent > before)
    }

    fn is_over(&self) -> bool {
        self.failed.is_some() || self.stopped.is_some() || self.source.is_over()
    }

    /// The values of the next row; an error names it.
    fn next(&mut self, py: Python<'_>) -> PyResult<Option<Params>> {
        let Some(row) = self.source.next(py)? else { return Ok(None) };
        self.bind(py, &row).map(Some).inspect_err(|wrong| {
            // The attribute is there on all of our classes; others go without.
            let _ = wrong.value(py).setattr("row", self.source.position() - 1);
        })
    }

    fn bind(&self, py: Python<'_>, row: &Bound<'_, PyAny>) -> PyResult<Params> {
        let mut params = Params::default();
        for value in row.try_iter()? {
            self.encoding.bind(&mut params, &value?)?;
        }
        if params.len() == self.params {
            return Ok(params);
        }
        let message = format!("the statement has {} parameters, but {} values were given", self.params, params.len());
        Err(error(py, Class::Programming, None, &message))
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

impl Operation for Executions {
    fn before(&mut self, py: Python<'_>, client: &mut Client, _: &mut Shared) -> PyResult<Option<Step>> {
        if let (Some(plan), Some((_, rows))) = (&self.current, &mut self.rows) {
            rows.read(py, client, plan, self.shape, &mut self.failed)?;
        }
        if self.send(py, client)? {
            return Ok(Some(Step::Flush));
        }
        if self.sent > self.answered { Ok(None) } else { self.outcome(py) }
    }

    fn event(&mut self, py: Python<'_>, event: Event<'_>, shared: &mut Shared) -> PyResult<Option<Step>> {
        match event {
            Event::Columns(columns) => {
                let plan = shared.plan(py, columns)?;
                if self.rows.as_ref().is_none_or(|(known, _)| !known.is_like(&plan)) {
                    self.rows = Some((plan.clone(), Rows::default()));
                }
                self.current = Some(plan);
            }
            Event::Row(payload) => {
                if let (Some(plan), Some((_, rows))) = (&self.current, &mut self.rows) {
                    rows.push(py, payload, plan, self.shape, &mut self.failed)
                        .map_err(|failure| broken(py, &failure))?;
                }
            }
            Event::Done { ok, more } | Event::EndOfRows { ok, more } => {
                self.answered += usize::from(!more);
                self.current = None;
                if self.failed.is_none() {
                    add(&mut self.total, ok);
                }
            }
            Event::Error(refused) => {
                self.current = None;
                if self.failed.is_none() {
                    let error = server_error(py, &refused);
                    error.value(py).setattr("row", self.answered)?;
                    self.failed = Some(error);
                }
                self.answered += 1;
            }
            event => return Err(out_of_place(py, &event)),
        }
        Ok(None)
    }

    fn may_be_done(&self) -> bool {
        true
    }
}

/// A further result: counts add up, the rest is the last one's.
pub fn add(total: &mut OkPacket, ok: OkPacket) {
    let affected_rows = total.affected_rows + ok.affected_rows;
    let warnings = total.warnings.saturating_add(ok.warnings);
    *total = OkPacket { affected_rows, warnings, ..ok };
}
