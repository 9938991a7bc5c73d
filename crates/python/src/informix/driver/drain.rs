use std::sync::Arc;

use pyo3::prelude::*;
use rowferry_wire_sqli::client::{Client, Outcome, Prepared, SqlError};

use super::{Answer, Driver, Operation, Shared, Step};
use crate::informix::columns::Plan;
use crate::informix::files::Files;

/// Whatever comes is read and dropped, up to the end of the operation under way; its cursor is closed.
struct Drain(Option<Arc<Plan>>);

impl Drain {
    fn close(&self, client: &mut Client) {
        if let Some(plan) = &self.0 {
            client.close(&plan.prepared);
        }
    }
}

impl Driver {
    /// Reads and drops what is still to come of the operation under way.
    pub fn drain(&mut self) {
        let plan = self.operation.take().and_then(|operation| operation.cursor());
        self.shared.files = Files::default();
        self.start(Drain(plan));
    }
}

impl Operation for Drain {
    fn before(&mut self, py: Python<'_>, client: &mut Client, _: &mut Shared) -> PyResult<Option<Step>> {
        if client.is_idle() {
            return Ok(Some(Step::Done(py.None())));
        }
        client.visit_rows(|_| true);
        Ok(None)
    }

    fn prepared(&mut self, _: Python<'_>, _: Arc<Prepared>, client: &mut Client, _: &mut Shared) -> PyResult<()> {
        client.abandon();
        Ok(())
    }

    fn blob(&mut self, py: Python<'_>, _: Vec<u8>, client: &mut Client, _: &mut Shared) -> PyResult<Option<Step>> {
        self.close(client);
        Ok(Some(Step::Done(py.None())))
    }

    fn done(
        &mut self,
        py: Python<'_>,
        outcome: Outcome,
        client: &mut Client,
        _: &mut Shared,
    ) -> PyResult<Option<Step>> {
        if outcome.open {
            self.close(client);
        }
        Ok(Some(Step::Done(py.None())))
    }

    fn answered(&mut self, py: Python<'_>, _: Answer, _: &mut Shared) -> PyResult<Step> {
        Ok(Step::Done(py.None()))
    }

    fn refused(&mut self, py: Python<'_>, _: SqlError, _: &mut Client, _: &mut Shared) -> PyResult<Step> {
        Ok(Step::Done(py.None()))
    }

    fn cursor(&self) -> Option<Arc<Plan>> {
        self.0.clone()
    }

    fn drains(&self) -> bool {
        true
    }
}
