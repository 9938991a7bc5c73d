use std::sync::Arc;

use pyo3::prelude::*;
use rowferry_wire_mysql::client::{Client, Event};

use super::rows::Rows;
use super::{Operation, Shape, Shared, Step, broken, done, out_of_place, server_error};
use crate::mysql::columns::Plan;
use crate::mysql::result::{Draft, QueryResult};

/// Results are collected until the last.
pub struct Collect {
    shape: Shape,
    drafts: Vec<Draft>,
    current: Option<Current>,
    failed: Option<PyErr>,
}

struct Current {
    plan: Arc<Plan>,
    rows: Rows,
}

impl Collect {
    pub const fn new(shape: Shape) -> Self {
        Self { shape, drafts: Vec::new(), current: None, failed: None }
    }
}

impl Operation for Collect {
    fn before(&mut self, py: Python<'_>, client: &mut Client, _: &mut Shared) -> PyResult<Option<Step>> {
        if let Some(Current { plan, rows }) = &mut self.current {
            rows.read(py, client, plan, self.shape, &mut self.failed)?;
        }
        Ok(None)
    }

    fn event(&mut self, py: Python<'_>, event: Event<'_>, shared: &mut Shared) -> PyResult<Option<Step>> {
        match event {
            Event::Columns(columns) => {
                self.current = Some(Current { plan: shared.plan(py, columns)?, rows: Rows::default() });
                Ok(None)
            }
            Event::Row(payload) => {
                // Only rows that the fast way leaves over come here: those of 16 MiB and more.
                if let Some(Current { plan, rows }) = &mut self.current {
                    rows.push(py, payload, plan, self.shape, &mut self.failed)
                        .map_err(|failure| broken(py, &failure))?;
                }
                Ok(None)
            }
            Event::Done { ok, more } | Event::EndOfRows { ok, more } => {
                let (plan, rows) = match self.current.take() {
                    Some(Current { plan, rows }) => (Some(plan), Some(rows.into_tuple(py)?)),
                    None => (None, None),
                };
                self.drafts.push(Draft { plan, rows, ok, more: false });
                if more {
                    return Ok(None);
                }
                match self.failed.take() {
                    Some(error) => Err(error),
                    None => {
                        QueryResult::chain(py, std::mem::take(&mut self.drafts), None).map(|result| done(py, result))
                    }
                }
            }
            Event::Error(refused) => {
                let refused = server_error(py, &refused);
                if let Some(error) = self.failed.take() {
                    return Err(error);
                }
                if self.drafts.is_empty() {
                    return Err(refused);
                }
                QueryResult::chain(py, std::mem::take(&mut self.drafts), Some(refused)).map(|result| done(py, result))
            }
            event => Err(out_of_place(py, &event)),
        }
    }
}
