use std::collections::VecDeque;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use rowferry_client::mysql::question_marks;
use rowferry_wire_mysql::client::{Client, Event};
use rowferry_wire_mysql::messages::statement::{Params, StatementId};

use super::long_data::LongValue;
use super::{Collect, Driver, Operation, Shape, Shared, Step, misused, out_of_place, refused, server_error};
use crate::errors::{Class, error};
use crate::mysql::result::Prepared;

impl Driver {
    /// A statement that its first execution prepares, with `?` for each `%s` of `sql`; `None` when that cannot be.
    pub fn statement(&mut self, client: &Client, sql: &Bound<'_, PyAny>) -> PyResult<Option<Prepared>> {
        self.obey(client);
        let Some((sql, names)) = self.encoding.mark(sql)? else { return Ok(None) };
        let counted = question_marks(&sql, !self.encoding.no_backslash_escapes);
        let mut statement = Prepared::new(sql, counted);
        statement.names = names;
        Ok(Some(statement))
    }

    /// Prepares a statement.
    pub fn prepare(&mut self, py: Python<'_>, client: &mut Client, sql: &Bound<'_, PyAny>) -> PyResult<()> {
        self.begin(py, client)?;
        let sql = self.fill(py, client, sql, None)?.to_vec();
        client.prepare(&sql).map_err(|misuse| misused(py, misuse))?;
        self.start(Prepare { sql });
        Ok(())
    }

    /// Runs a prepared statement and collects its results. One that is not prepared yet is prepared in the same write
    /// where the server allows that.
    pub fn execute(
        &mut self,
        py: Python<'_>,
        client: &mut Client,
        prepared: &Bound<'_, Prepared>,
        args: Option<&Bound<'_, PyAny>>,
        as_dict: bool,
    ) -> PyResult<()> {
        self.begin(py, client)?;
        let mut params = Params::default();
        let mut long = VecDeque::new();
        let ordered;
        let args = match args {
            Some(args) => match in_order(prepared.get(), args)? {
                Some(values) => {
                    ordered = values;
                    Some(ordered.as_any())
                }
                None => Some(args),
            },
            None => None,
        };
        if let Some(args) = args {
            for value in args.try_iter()? {
                let value = value?;
                let at = params.len();
                if let Some(value) = LongValue::of_value(&value, &self.encoding)? {
                    params.long(value.is_text());
                    long.push_back((at, value));
                } else if let Err(unfit) = self.encoding.bind(&mut params, &value) {
                    let Some(value) = LongValue::of_stream(&value, &self.encoding)? else { return Err(unfit) };
                    params.long(false);
                    long.push_back((at, value));
                }
            }
        }
        let statement = prepared.get();
        if let Some(count) = statement.count() {
            check_count(py, count, params.len())?;
        }
        let collect = Collect::new(Shape { binary: true, as_dict });
        if let Some(number) = statement.statement() {
            if long.is_empty() {
                client.execute(number, &params).map_err(|misuse| misused(py, misuse))?;
                self.start(collect);
            } else {
                let stage = Stage::Prepared(params);
                self.start(Execution { prepared: prepared.clone().unbind(), stage, long, sent: false, collect });
            }
            return Ok(());
        }
        client.prepare(&statement.sql).map_err(|misuse| misused(py, misuse))?;
        let together = client.executes_last_prepared() && statement.counted.is_some() && long.is_empty();
        let stage = if together {
            client.execute(StatementId::LAST_PREPARED, &params).map_err(|misuse| misused(py, misuse))?;
            Stage::Together
        } else {
            Stage::Preparing(params)
        };
        self.start(Execution { prepared: prepared.clone().unbind(), stage, long, sent: false, collect });
        Ok(())
    }
}

/// The values of a dict in the order in which the statement names them; `None` for values that come in a sequence.
fn in_order<'py>(statement: &Prepared, args: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyTuple>>> {
    let py = args.py();
    let wrong = |message: &str| error(py, Class::Programming, None, message);
    match (statement.names.as_slice(), args.cast::<PyDict>()) {
        // SQLAlchemy gives an empty dict to statements without parameters.
        ([], Ok(_)) if statement.counted == Some(0) => Ok(Some(PyTuple::empty(py))),
        ([], Ok(_)) => Err(wrong("the statement has `%s`, but the parameters are a dict: use `%(name)s`")),
        ([], Err(_)) => Ok(None),
        (_, Err(_)) => Err(wrong("the statement has `%(name)s`, but the parameters are no dict: use `%s`")),
        (names, Ok(dict)) => {
            let value = |name: &String| {
                let missing = || wrong(&format!("the parameters have no value for `%({name})s`"));
                dict.get_item(name)?.ok_or_else(missing)
            };
            let values = names.iter().map(value).collect::<PyResult<Vec<_>>>()?;
            PyTuple::new(py, values).map(Some)
        }
    }
}

fn check_count(py: Python<'_>, count: usize, given: usize) -> PyResult<()> {
    if given == count {
        return Ok(());
    }
    let message = format!("the statement has {count} parameters, but {given} values were given");
    Err(error(py, Class::Programming, None, &message))
}

/// The preparation of a statement.
struct Prepare {
    sql: Vec<u8>,
}

impl Operation for Prepare {
    fn event(&mut self, py: Python<'_>, event: Event<'_>, shared: &mut Shared) -> PyResult<Option<Step>> {
        match event {
            Event::Prepared(prepared) => {
                let statement = Prepared::new(std::mem::take(&mut self.sql), None);
                statement.is(prepared.statement, prepared.params);
                Ok(Some(Step::Done(Py::new(py, statement)?.into_any())))
            }
            Event::Error(error) => Err(refused(py, &error, shared)),
            event => Err(out_of_place(py, &event)),
        }
    }
}

/// The execution of a statement that must be prepared first, or whose long values must be sent first.
struct Execution {
    prepared: Py<Prepared>,
    stage: Stage,
    /// Values that are sent before the execution, each with the number of its parameter.
    long: VecDeque<(usize, LongValue)>,
    /// Pieces of them were sent.
    sent: bool,
    collect: Collect,
}

enum Stage {
    /// The answer to the preparation is awaited; the execution was sent with it.
    Together,
    /// The answer to the preparation is awaited, then these values are sent.
    Preparing(Params),
    /// The statement is prepared, these values are to be sent.
    Prepared(Params),
    Executing,
    /// The statement did not run to its end: the server may still hold pieces of its long values.
    Failed(PyErr),
    /// What is still awaited does not matter: this is the outcome.
    Refused(PyErr),
}

impl Execution {
    /// Sends the next piece of the long values, or executes.
    fn send(&mut self, py: Python<'_>, client: &mut Client) -> PyResult<Option<Step>> {
        let Stage::Prepared(params) = &mut self.stage else { return Ok(None) };
        let prepared = self.prepared.get();
        let Some(number) = prepared.statement() else { return Ok(None) };
        if !self.sent {
            check_count(py, prepared.count().unwrap_or_default(), params.len())?;
        }
        while let Some((at, value)) = self.long.front_mut() {
            let parameter = *at as u16;
            let more = value.next(py, |piece| {
                client.send_long_data(number, parameter, piece).map_err(|misuse| misused(py, misuse))
            })?;
            if more {
                self.sent = true;
                return Ok(Some(Step::Flush));
            }
            params.set_long(*at, value.is_text());
            self.long.pop_front();
        }
        client.execute(number, params).map_err(|misuse| misused(py, misuse))?;
        self.stage = Stage::Executing;
        Ok(None)
    }
}

impl Operation for Execution {
    fn before(&mut self, py: Python<'_>, client: &mut Client, shared: &mut Shared) -> PyResult<Option<Step>> {
        match &self.stage {
            Stage::Executing => return self.collect.before(py, client, shared),
            Stage::Prepared(_) => match self.send(py, client) {
                Err(raised) if self.sent => self.stage = Stage::Failed(raised),
                outcome => return outcome,
            },
            _ => {}
        }
        if let Stage::Failed(raised) = &self.stage {
            let raised = raised.clone_ref(py);
            if let Some(number) = self.prepared.get().statement() {
                client.reset_statement(number).map_err(|misuse| misused(py, misuse))?;
            }
            self.sent = false;
            self.stage = Stage::Refused(raised);
        }
        if let Stage::Refused(error) = &self.stage {
            client.visit_rows(|_| true);
            if client.awaited() == 0 {
                return Err(error.clone_ref(py));
            }
        }
        Ok(None)
    }

    fn event(&mut self, py: Python<'_>, event: Event<'_>, shared: &mut Shared) -> PyResult<Option<Step>> {
        match (&mut self.stage, event) {
            (Stage::Executing, event) => match self.collect.event(py, event, shared) {
                // Some servers refuse every execution after this one as long as they hold the pieces.
                Err(failed) if self.sent => self.stage = Stage::Failed(failed),
                Ok(Some(done)) => {
                    self.sent = false;
                    return Ok(Some(done));
                }
                outcome => return outcome,
            },
            (Stage::Together, Event::Prepared(prepared)) => {
                self.prepared.get().is(prepared.statement, prepared.params);
                self.stage = Stage::Executing;
            }
            (Stage::Preparing(params), Event::Prepared(prepared)) => {
                self.prepared.get().is(prepared.statement, prepared.params);
                self.stage = Stage::Prepared(std::mem::take(params));
            }
            (Stage::Together, Event::Error(error)) => self.stage = Stage::Refused(server_error(py, &error)),
            (Stage::Preparing(_), Event::Error(error)) => return Err(refused(py, &error, shared)),
            (Stage::Refused(_) | Stage::Failed(_), _) => {}
            (_, event) => return Err(out_of_place(py, &event)),
        }
        Ok(None)
    }

    fn may_be_done(&self) -> bool {
        matches!(self.stage, Stage::Prepared(_))
    }

    fn abandon(&mut self, shared: &mut Shared) {
        if self.sent {
            shared.unsettled.extend(self.prepared.get().statement());
        }
    }
}
