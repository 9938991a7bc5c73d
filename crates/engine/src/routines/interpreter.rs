//! Blocks, variables, expressions.

use std::collections::HashMap;
use std::sync::Arc;

use rowferry_dialect::informix::spl::{self, Block, Expression, LoopName, Sql, Step, StepKind};
use rowferry_dialect::informix::values::{DateFormat, computed, convert_dated, within_bytes};
use rowferry_dialect::informix::{self, casts};
use rowferry_dialect::ir::Value;
use rowferry_dialect::{Condition, Error, Result, Type};

use super::statements::{NamedCursor, NamedText};
use super::{Args, Compiled, actions, borrowed};
use crate::session::{Outcome, Parsed, Prepared, Session};
use crate::spool::Spool;

/// A routine that runs.
pub(super) struct Frame<'s, 'r> {
    pub(super) session: &'s mut Session,
    pub(super) compiled: &'r Compiled,
    /// The variables' values; `None` has none, not even NULL.
    values: Vec<Option<Value>>,
    /// Strings are as long as their bytes.
    multibyte: bool,
    dates: Option<DateFormat>,
    /// What it has returned so far.
    pub(super) returned: Spool,
    /// The blocks around the running step, the outermost first.
    pub(super) blocks: Vec<&'r Block>,
    /// The error whose handler runs.
    pub(super) current: Option<Error>,
    pub(super) texts: HashMap<String, NamedText>,
    pub(super) cursors: HashMap<String, NamedCursor>,
}

/// How a step has ended.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Flow<'r> {
    /// The next follows.
    Next,
    /// GOTO.
    Goto(&'r str),
    /// EXIT.
    Exit(Option<LoopName>),
    /// CONTINUE.
    Continue(Option<LoopName>),
    /// RETURN.
    Return,
}

/// Why a block did not run to its end.
#[derive(Debug)]
pub(super) enum Stop {
    /// An error for which nobody has looked for a handler.
    Fresh(Error),
    /// An error that no block of the routine handles.
    Unhandled(Error),
    /// A handler of the block at this depth has run: the block is over.
    Handled(usize),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Fresh(error)
    }
}

/// Runs a routine.
pub(super) fn run(session: &mut Session, compiled: &Compiled, args: Args) -> Result<Spool> {
    let mut frame = Frame {
        values: vec![None; compiled.types.len()],
        multibyte: session.is_multibyte(),
        dates: session.dates(),
        returned: Spool::new(compiled.returns.len()),
        blocks: Vec::new(),
        current: None,
        texts: HashMap::new(),
        cursors: HashMap::new(),
        session,
        compiled,
    };
    for (slot, arg) in args.into_iter().enumerate() {
        match (arg, &compiled.parsed.params[slot].default) {
            (Some(value), _) => frame.values[slot] = Some(value),
            (None, Some(default)) => frame.assign_expression(slot, default)?,
            (None, None) => {}
        }
    }
    frame.set_sqlcode(0);
    actions::read_row(frame.session, compiled, &mut frame.values)?;
    let before = frame.row_values();
    match frame.block(&compiled.parsed.body) {
        Ok(_) | Err(Stop::Handled(_)) => {}
        Err(Stop::Fresh(error) | Stop::Unhandled(error)) => return Err(error),
    }
    if let Some(before) = before {
        actions::write_row(frame.session, compiled, &before, &frame.values)?;
    }
    Ok(frame.returned)
}

/// Runs a trigger's actions.
pub(super) fn run_actions(session: &mut Session, compiled: &Compiled) -> Result<()> {
    run(session, compiled, Args::new()).map(drop)
}

impl<'r> Frame<'_, 'r> {
    /// The variables' values, where some are a trigger's.
    fn row_values(&self) -> Option<Vec<Option<Value>>> {
        let of_rows = self.compiled.parsed.variables.iter().any(|variable| variable.row.is_some());
        of_rows.then(|| self.values.clone())
    }

    /// Runs a block to its end.
    pub(super) fn block(&mut self, block: &'r Block) -> Result<Flow<'r>, Stop> {
        self.session.check_stack()?;
        for slot in &block.defines {
            self.define(*slot)?;
        }
        let depth = self.blocks.len();
        self.blocks.push(block);
        let result = self.steps(block);
        self.blocks.truncate(depth);
        match result {
            Err(Stop::Handled(at)) if at == depth => Ok(Flow::Next),
            other => other,
        }
    }

    fn steps(&mut self, block: &'r Block) -> Result<Flow<'r>, Stop> {
        let mut at = 0;
        while let Some(step) = block.steps.get(at) {
            let flow = match self.step(step) {
                Err(Stop::Fresh(error)) => self.handle(error)?,
                other => other?,
            };
            at = match flow {
                Flow::Next => at + 1,
                Flow::Goto(label) => match block.steps.iter().position(|step| step.label.as_deref() == Some(label)) {
                    Some(found) => found,
                    None => return Ok(Flow::Goto(label)),
                },
                other => return Ok(other),
            };
        }
        Ok(Flow::Next)
    }

    /// An endless routine ends when its statement is cancelled.
    pub(super) fn check_interrupt(&self) -> Result<()> {
        if self.session.interrupter().must_stop() { Err(self.session.interrupter().error()) } else { Ok(()) }
    }

    fn step(&mut self, step: &'r Step) -> Result<Flow<'r>, Stop> {
        self.check_interrupt()?;
        match &step.kind {
            StepKind::Block(block) => return self.block(block),
            StepKind::If { branches, otherwise } => {
                for (condition, block) in branches {
                    if self.is_true(condition)? {
                        return self.block(block);
                    }
                }
                if let Some(block) = otherwise {
                    return self.block(block);
                }
            }
            StepKind::Let { into, values } => {
                let mut found = Vec::with_capacity(values.len());
                for value in values {
                    found.push(self.evaluate(value)?);
                }
                for (slot, (value, ty)) in into.iter().zip(found) {
                    self.assign(*slot, &value, &ty)?;
                }
            }
            StepKind::Exit(name, when) => {
                if self.holds(when.as_ref())? {
                    return Ok(Flow::Exit(name.clone()));
                }
            }
            StepKind::Continue(name, when) => {
                if self.holds(when.as_ref())? {
                    return Ok(Flow::Continue(name.clone()));
                }
            }
            StepKind::Return { values, call, resume } => {
                self.return_values(values, call.as_deref())?;
                if !resume {
                    return Ok(Flow::Return);
                }
            }
            StepKind::Raise { code, isam, text } => {
                let error = self.raise(code, isam.as_ref(), text.as_ref())?;
                return Err(error.into());
            }
            StepKind::For { label, variable, values, body } => {
                return self.for_loop(label.as_deref(), *variable, values, body);
            }
            StepKind::Foreach { label, rows, into, place, body } => {
                return self.foreach(label.as_deref(), rows, into, *place, body);
            }
            StepKind::Loop { label, condition, word, body } => {
                return self.plain_loop(label.as_deref(), condition.as_ref(), word, body);
            }
            StepKind::Sql { sql, into, from } => self.sql(sql, into, *from)?,
            StepKind::Immediate(text) => self.immediate(text)?,
            StepKind::Prepare { statement, text } => self.prepare(statement, text)?,
            StepKind::Declare { cursor, statement } => self.declare(cursor, statement)?,
            StepKind::Open { cursor, using } => self.open(cursor, using)?,
            StepKind::Fetch { cursor, into } => self.fetch(cursor, into)?,
            StepKind::Close(cursor) => self.close(cursor)?,
            StepKind::Free(name) => self.free(name)?,
            StepKind::Goto(label) => return Ok(Flow::Goto(label)),
            StepKind::Nothing => {}
        }
        Ok(Flow::Next)
    }

    /// WHEN, which may be left out.
    fn holds(&mut self, when: Option<&'r Expression>) -> Result<bool> {
        when.map_or(Ok(true), |when| self.is_true(when))
    }

    /// RETURN.
    fn return_values(&mut self, values: &'r [Expression], call: Option<&'r Sql>) -> Result<()> {
        let returns = &self.compiled.returns;
        let found = match call {
            Some(sql) => self.one_row(sql, true)?.unwrap_or_else(|| vec![(Value::Null, Type::Unknown); returns.len()]),
            None => values.iter().map(|value| self.evaluate(value)).collect::<Result<_>>()?,
        };
        // A RETURN without values ends the routine and returns no row.
        if found.is_empty() {
            return Ok(());
        }
        if found.len() != returns.len() {
            let message = format!("RETURN has {} values, RETURNING {}", found.len(), returns.len());
            return Err(Error::new(Condition::ReturnCountMismatch, message));
        }
        let mut row = Vec::with_capacity(found.len());
        for ((value, from), to) in found.iter().zip(returns) {
            row.push(self.converted(value, from, to)?);
        }
        self.returned.push(row.iter().map(borrowed))
    }

    // Variables.

    /// A variable at the beginning of its block.
    fn define(&mut self, slot: usize) -> Result<()> {
        let variable = &self.compiled.parsed.variables[slot];
        let Some(default) = &variable.global else {
            self.values[slot] = None;
            return Ok(());
        };
        let known = self.session.routine_state().globals.lock().contains_key(&variable.name);
        if !known {
            self.assign_expression(slot, default)?;
        }
        Ok(())
    }

    fn variable(&self, slot: usize) -> &'r spl::Variable {
        &self.compiled.parsed.variables[slot]
    }

    /// A variable's value.
    pub(super) fn value(&self, slot: usize) -> Result<Value> {
        let variable = self.variable(slot);
        if variable.global.is_some() {
            let globals = self.session.routine_state().globals.lock();
            let (ty, value) = globals.get(&variable.name).cloned().unwrap_or((Type::Unknown, Value::Null));
            drop(globals);
            return computed(&value, &ty, &self.compiled.types[slot]);
        }
        self.values[slot].clone().ok_or_else(|| {
            let message = format!("the variable ({}) has no value", variable.name);
            Error::new(Condition::VariableWithoutValue, message).column(&*variable.name)
        })
    }

    /// A value of another type, in which dates have the session's form where they become text or were some.
    fn converted(&mut self, value: &Value, from: &Type, to: &Type) -> Result<Value> {
        if *value != Value::Null && from != to && (from.distinct().is_some() || to.distinct().is_some()) {
            return self.cast_unasked(value, from, to);
        }
        match self.dates {
            Some(_) if *value != Value::Null && (*from == Type::Date) != (*to == Type::Date) => {
                convert_dated(value, from, to, self.dates)
            }
            _ => computed(value, from, to),
        }
    }

    /// A value where a DISTINCT type takes part: by an implicit cast.
    fn cast_unasked(&mut self, value: &Value, from: &Type, to: &Type) -> Result<Value> {
        // A quoted string is a CHAR.
        let from = if *from == Type::Unknown { &Type::Char(1) } else { from };
        let found = casts::find(&self.session.schema(), from, to, true).ok_or_else(|| casts::no_cast(from, to))?;
        let Some(name) = found.definition.function else { return computed(value, from, to) };
        let call = Parsed::of_routine(informix::Statement::call_with_one(&name));
        let plan = self.session.prepare_parsed(&call, &[Some(found.from)])?;
        let Outcome::Rows(mut cursor) = self.session.execute(&plan, std::slice::from_ref(value))? else {
            return Ok(Value::Null);
        };
        let ty = cursor.columns().first().map_or(Type::Unknown, |column| column.ty.clone());
        let found = cursor.next()?.map_or(Value::Null, |row| row.get(0).to_value());
        computed(&found, &ty, to)
    }

    /// Gives a variable a value of a type, converted to its own.
    pub(super) fn assign(&mut self, slot: usize, value: &Value, from: &Type) -> Result<()> {
        let ty = &self.compiled.types[slot];
        let mut value = self.converted(value, from, ty)?;
        if self.multibyte {
            value = within_bytes(value, ty)?;
        }
        let variable = self.variable(slot);
        if variable.global.is_some() {
            self.session.routine_state().globals.lock().insert(variable.name.clone(), (ty.clone(), value));
        } else {
            self.values[slot] = Some(value);
        }
        Ok(())
    }

    fn assign_expression(&mut self, slot: usize, value: &'r Expression) -> Result<()> {
        let (value, ty) = self.evaluate(value)?;
        self.assign(slot, &value, &ty)
    }

    /// What SQLCODE says from now on.
    pub(super) fn set_sqlcode(&mut self, code: i64) {
        if let Some(slot) = self.compiled.parsed.sqlcode {
            self.values[slot] = Some(Value::Integer(code));
        }
    }

    // Expressions.

    /// A value and its type.
    pub(super) fn evaluate(&mut self, expression: &'r Expression) -> Result<(Value, Type)> {
        match expression {
            Expression::Literal(value, ty) => Ok((value.clone(), ty.clone())),
            Expression::Variable(slot) => Ok((self.value(*slot)?, self.compiled.types[*slot].clone())),
            Expression::Sql(sql) => {
                let row = self.one_row(sql, false)?;
                Ok(row.and_then(|row| row.into_iter().next()).unwrap_or((Value::Null, Type::Unknown)))
            }
        }
    }

    /// A condition; unknown is not true.
    pub(super) fn is_true(&mut self, expression: &'r Expression) -> Result<bool> {
        let (value, ty) = self.evaluate(expression)?;
        let value = computed(&value, &ty, &Type::Bool)?;
        Ok(matches!(value, Value::Integer(number) if number != 0))
    }

    /// A whole number; `None` is NULL.
    pub(super) fn integer(&mut self, expression: &'r Expression) -> Result<Option<i64>> {
        let (value, ty) = self.evaluate(expression)?;
        match computed(&value, &ty, &Type::Int8)? {
            Value::Integer(number) => Ok(Some(number)),
            _ => Ok(None),
        }
    }

    /// A text; `None` is NULL.
    pub(super) fn text(&mut self, expression: &'r Expression) -> Result<Option<String>> {
        let (value, ty) = self.evaluate(expression)?;
        match computed(&value, &ty, &Type::Text)? {
            Value::Text(text) => Ok(Some(text)),
            _ => Ok(None),
        }
    }

    // Statements.

    /// A statement's plan for the schema of today.
    fn plan(&mut self, sql: &'r Sql) -> Result<Arc<Prepared>> {
        self.session.refresh_schema();
        let generation = self.session.generation();
        let known = self.compiled.plans.lock()[sql.id].clone();
        if let Some(plan) = known
            && plan.bound.generation == generation
        {
            return Ok(plan);
        }
        let types: Vec<Option<Type>> = sql.uses.iter().map(|slot| Some(self.compiled.types[*slot].clone())).collect();
        let plan = self.session.prepare_parsed(&Parsed::of_routine(sql.statement.clone()), &types)?;
        self.compiled.plans.lock()[sql.id] = Some(plan.clone());
        Ok(plan)
    }

    /// Runs a statement with the variables' values.
    pub(super) fn execute(&mut self, sql: &'r Sql) -> Result<Outcome> {
        let plan = self.plan(sql)?;
        let mut params = Vec::with_capacity(sql.uses.len());
        for slot in &sql.uses {
            params.push(self.value(*slot)?);
        }
        self.session.execute(&plan, &params)
    }

    /// The only row of a statement, with its columns' types; `None` when there is none.
    ///
    /// # Errors
    /// `21000` when there are more.
    pub(super) fn one_row(&mut self, sql: &'r Sql, call: bool) -> Result<Option<Vec<(Value, Type)>>> {
        let Outcome::Rows(mut cursor) = self.execute(sql)? else { return Ok(None) };
        let types: Vec<Type> = cursor.columns().iter().map(|column| column.ty.clone()).collect();
        let Some(row) = cursor.next()? else { return Ok(None) };
        let values: Vec<Value> = (0..row.len()).map(|at| row.get(at).to_value()).collect();
        drop(row);
        if cursor.next()?.is_some() {
            return Err(if call {
                Error::new(Condition::RoutineManyRows, "the routine has returned more than one row")
            } else {
                Error::new(Condition::CardinalityViolation, "a subquery has returned not exactly one row")
            });
        }
        Ok(Some(values.into_iter().zip(types).collect()))
    }
}
