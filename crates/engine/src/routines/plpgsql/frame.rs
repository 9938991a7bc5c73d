//! A function that runs: blocks, steps, and what an error says of where it was.

use std::sync::Arc;

use rowferry_dialect::ir::Value;
use rowferry_dialect::postgres::plpgsql::{Block, Function, Place as Target, Step, StepKind, VariableKind};
use rowferry_dialect::{Condition, Error, Result};

use super::mysql::Reacting;
use super::variables::{CURSOR_NAME, Slot};
use crate::routines::running::Place;
use crate::routines::stored::{Compiled, Returned};
use crate::session::Session;
use crate::spool::Spool;

/// A function that runs.
pub(super) struct Frame<'s, 'f> {
    pub(super) session: &'s mut Session,
    pub(super) compiled: &'f Compiled,
    pub(super) body: &'f Arc<Function>,
    pub(super) slots: Vec<Slot>,
    /// Rows that a function of a set has returned so far.
    pub(super) returned: Spool,
    /// Types of the rows that a set of records has.
    pub(super) record_types: Vec<rowferry_dialect::Type>,
    /// What RETURN has given.
    pub(super) result: Option<super::returning::Result>,
    /// Rows of the last statement of SQL.
    pub(super) row_count: u64,
    /// The error whose handler runs, and where it was met.
    pub(super) caught: Option<(Error, Place)>,
    /// Where it is: the step's line and words, for the CONTEXT of messages.
    pub(super) place: Place,
    /// It may end the transaction.
    pub(super) ends_transactions: bool,
    /// What only MySQL's routines keep.
    pub(super) reacting: Reacting,
}

/// How a step has ended.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Flow {
    /// The next follows.
    Next,
    /// EXIT.
    Exit(Option<String>),
    /// CONTINUE.
    Continue(Option<String>),
    /// RETURN.
    Return,
}

impl<'s, 'f> Frame<'s, 'f> {
    pub(super) fn new(session: &'s mut Session, compiled: &'f Compiled, body: &'f Arc<Function>) -> Result<Self> {
        let mut frame = Self {
            slots: Self::fresh_slots(&compiled.kinds),
            returned: Spool::new(compiled.returns.columns().unwrap_or(0)),
            record_types: Vec::new(),
            result: None,
            row_count: 0,
            caught: None,
            place: Place::During("during initialization of execution state"),
            ends_transactions: false,
            reacting: Reacting::default(),
            session,
            compiled,
            body,
        };
        frame.set_found(false);
        Ok(frame)
    }

    /// Runs it as what it is declared to be.
    pub(super) fn run(mut self) -> Result<Returned> {
        let result = self.run_body().and_then(|()| self.returned());
        let place = self.place;
        result.map_err(|error| self.with_context(error, place))
    }

    /// Runs it as a trigger's; `None` is RETURN NULL.
    pub(super) fn run_trigger(&mut self) -> Result<Option<Vec<Value>>> {
        let result = self.run_body().and_then(|()| self.returned_row());
        let place = self.place;
        result.map_err(|error| self.with_context(error, place))
    }

    fn run_body(&mut self) -> Result<()> {
        let body = self.body.clone();
        match self.block(&body.body)? {
            Flow::Return => Ok(()),
            Flow::Next | Flow::Exit(_) | Flow::Continue(_) => self.end_without_return(),
        }
    }

    /// Adds where the error was met.
    fn with_context(&self, mut error: Error, place: Place) -> Error {
        // A place in the function's text is none in the client's.
        if let Some(position) = error.position.take() {
            error.internal_position.get_or_insert(position);
        }
        let line = self.context_line(place);
        error.context = Some(match error.context.take() {
            Some(inner) => format!("{inner}\n{line}"),
            None => line,
        });
        error
    }

    /// Where this function is, and those that have called it.
    pub(super) fn context(&self) -> String {
        let state = self.session.routine_state();
        state.running.at(self.place);
        state.running.context(self.session)
    }

    /// A line of CONTEXT.
    pub(super) fn context_line(&self, place: Place) -> String {
        place.line(self.session, &self.compiled.function)
    }

    /// Runs a block to its end.
    pub(super) fn block(&mut self, block: &Block) -> Result<Flow> {
        self.session.check_stack()?;
        let flow = match &block.handlers {
            None if self.is_mysql() => self.reacting_block(block),
            None => {
                self.declare(block)?;
                self.steps(&block.steps)
            }
            Some(handlers) => self.guarded(block, handlers),
        }?;
        Ok(match flow {
            Flow::Exit(Some(label)) if block.label.as_deref() == Some(label.as_str()) => Flow::Next,
            other => other,
        })
    }

    /// The variables of a block get their first values.
    pub(super) fn declare(&mut self, block: &Block) -> Result<()> {
        for slot in &block.declares {
            let body = self.body.clone();
            let variable = &body.variables[*slot];
            self.place = Place::Declaration(variable.line);
            self.reset(*slot);
            if let VariableKind::Cursor(_) = &variable.kind {
                // Its name is its own, so that FETCH finds it, unless it is given another.
                self.slots[*slot] = Slot::Value { ty: CURSOR_NAME, value: Value::Text(variable.name.clone()) };
            }
            if let Some(default) = &variable.default {
                if self.is_mysql() {
                    self.assign(&Target::variable(*slot), default)?;
                } else if self.holds_rows(*slot) {
                    let row = self.evaluate_row(default)?;
                    self.assign_row(*slot, row)?;
                } else {
                    let (value, ty) = self.evaluate(default)?;
                    self.assign_value(*slot, &value, &ty)?;
                }
            } else if let Slot::Value { ty, value } = &self.slots[*slot] {
                // NULL may be no value of a domain.
                self.session.check_domains(value, ty)?;
            } else {
                self.check_row(*slot)?;
            }
        }
        Ok(())
    }

    pub(super) fn steps(&mut self, steps: &[Step]) -> Result<Flow> {
        for step in steps {
            let flow = match self.step(step) {
                Err(error) if self.is_mysql() => self.react(error)?,
                flow => flow?,
            };
            if flow != Flow::Next {
                return Ok(flow);
            }
        }
        Ok(Flow::Next)
    }

    fn step(&mut self, step: &Step) -> Result<Flow> {
        self.place = Place::Step(step.line, step.kind.words());
        self.session.routine_state().running.at(self.place);
        self.check_interrupt()?;
        let flow = self.step_kind(&step.kind, step.line)?;
        Ok(flow)
    }

    /// An endless function ends when its statement is cancelled.
    pub(super) fn check_interrupt(&self) -> Result<()> {
        if self.session.interrupter().must_stop() { Err(self.session.interrupter().error()) } else { Ok(()) }
    }

    fn step_kind(&mut self, kind: &StepKind, line: u32) -> Result<Flow> {
        match kind {
            StepKind::Assert(condition, message) => self.assert(condition, message.as_ref())?,
            StepKind::Assign(place, value) => self.assign(place, value)?,
            StepKind::Block(block) => return self.block(block),
            StepKind::Call(sql) => self.call(sql)?,
            StepKind::Case { subject, branches, otherwise } => {
                return self.case(subject.as_ref(), branches, otherwise.as_deref());
            }
            StepKind::Close(cursor) => self.close(*cursor)?,
            StepKind::Dynamic { text, into } => self.dynamic(text, into.as_ref())?,
            StepKind::Exit { again, label, when } => {
                if match when {
                    Some(when) => self.is_true(when)?,
                    None => true,
                } {
                    let label = label.clone();
                    return Ok(if *again { Flow::Continue(label) } else { Flow::Exit(label) });
                }
            }
            StepKind::Fetch { cursor, direction, into } => self.fetch(*cursor, direction, into.as_ref())?,
            StepKind::ForNumbers { label, variable, bounds, reverse, body } => {
                return self.for_numbers(label.as_deref(), *variable, bounds, *reverse, body);
            }
            StepKind::ForRows { label, target, rows, body } => {
                return self.for_rows(label.as_deref(), target, rows, body);
            }
            StepKind::ForEach { label, target, slice, array, body } => {
                return self.for_each(label.as_deref(), target, *slice, array, body);
            }
            StepKind::Diagnostics { stacked, items } => self.diagnostics(*stacked, items)?,
            StepKind::If { branches, otherwise } => {
                for (condition, steps) in branches {
                    if self.is_true(condition)? {
                        return self.steps(steps);
                    }
                }
                return self.steps(otherwise);
            }
            StepKind::Loop { label, condition, body } => {
                let place = Place::Step(line, kind.words());
                return self.plain_loop(label.as_deref(), condition.as_ref(), body, place);
            }
            StepKind::Mysql(step) => return self.mysql_step(step),
            StepKind::Open { cursor, scroll, source } => self.open(*cursor, *scroll, source)?,
            StepKind::Perform(sql) => self.perform(sql)?,
            StepKind::Raise(raise) => self.raise(raise)?,
            StepKind::Return(value) => {
                self.return_value(value.as_ref())?;
                return Ok(Flow::Return);
            }
            StepKind::ReturnNext(value) => self.return_next(value.as_ref())?,
            StepKind::ReturnQuery(rows) => self.return_query(rows)?,
            StepKind::Sql { sql, into } => self.sql(sql, into.as_ref())?,
            StepKind::Transaction { commit, chain } => {
                if !self.ends_transactions {
                    let message = "invalid transaction termination";
                    return Err(Error::new(Condition::InvalidTransactionTermination, message));
                }
                self.session.end_transaction_in_routine(*commit, *chain)?;
            }
        }
        Ok(Flow::Next)
    }

    /// FOUND.
    pub(super) fn set_found(&mut self, found: bool) {
        let slot = self.body.found;
        if let Slot::Value { value, .. } = &mut self.slots[slot] {
            *value = Value::Integer(found.into());
        }
    }
}
