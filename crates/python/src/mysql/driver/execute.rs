use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rowferry_client::mysql::question_marks;
use rowferry_wire_mysql::client::{Client, Event};
use rowferry_wire_mysql::messages::statement::{Params, StatementId};

use super::{Collect, Driver, Operation, Shape, Shared, Step, misused, out_of_place, refused, server_error};
use crate::errors::{Class, error};
use crate::mysql::result::Prepared;

impl Driver {
    /// A statement that its first execution prepares, with `?` for each `%s` of `sql`; `None` when that cannot be.
    pub fn statement(&mut self, py: Python<'_>, client: &Client, sql: &Bound<'_, PyAny>) -> PyResult<Option<Prepared>> {
        self.obey(client);
        let Some(marked) = self.encoding.question_marks(sql)? else { return Ok(None) };
        let marked: &Bound<'_, PyBytes> = marked.bind(py);
        let sql = marked.as_bytes().to_vec();
        let counted = question_marks(&sql, !self.encoding.no_backslash_escapes);
        Ok(Some(Prepared::new(sql, counted)))
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
        if let Some(args) = args {
            for value in args.try_iter()? {
                self.encoding.bind(&mut params, &value?)?;
            }
        }
        let statement = prepared.get();
        if let Some(count) = statement.count() {
            check_count(py, count, params.len())?;
        }
        let collect = Collect::new(Shape { binary: true, as_dict });
        if let Some(number) = statement.statement() {
            client.execute(number, &params).map_err(|misuse| misused(py, misuse))?;
            self.start(collect);
            return Ok(());
        }
        client.prepare(&statement.sql).map_err(|misuse| misused(py, misuse))?;
        let together = client.executes_last_prepared() && statement.counted.is_some();
        let stage = if together {
            client.execute(StatementId::LAST_PREPARED, &params).map_err(|misuse| misused(py, misuse))?;
            Stage::Together
        } else {
            Stage::Preparing(params)
        };
        self.start(FirstExecution { prepared: prepared.clone().unbind(), stage, collect });
        Ok(())
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

/// The preparation of a statement and its first execution.
struct FirstExecution {
    prepared: Py<Prepared>,
    stage: Stage,
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
    /// The preparation was refused. The answer to the execution is awaited, whatever it is.
    Refused(PyErr),
}

impl Operation for FirstExecution {
    fn before(&mut self, py: Python<'_>, client: &mut Client, shared: &mut Shared) -> PyResult<Option<Step>> {
        match &self.stage {
            Stage::Executing => self.collect.before(py, client, shared),
            Stage::Prepared(params) => {
                let prepared = self.prepared.get();
                check_count(py, prepared.count().unwrap_or_default(), params.len())?;
                if let Some(number) = prepared.statement() {
                    client.execute(number, params).map_err(|misuse| misused(py, misuse))?;
                }
                self.stage = Stage::Executing;
                Ok(None)
            }
            Stage::Refused(error) => {
                client.visit_rows(|_| true);
                if client.awaited() == 0 { Err(error.clone_ref(py)) } else { Ok(None) }
            }
            Stage::Together | Stage::Preparing(_) => Ok(None),
        }
    }

    fn event(&mut self, py: Python<'_>, event: Event<'_>, shared: &mut Shared) -> PyResult<Option<Step>> {
        match (&mut self.stage, event) {
            (Stage::Executing, event) => return self.collect.event(py, event, shared),
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
            (Stage::Refused(_), _) => {}
            (_, event) => return Err(out_of_place(py, &event)),
        }
        Ok(None)
    }
}
