//! Functions in SQL: their statements one after the other; the last one's rows are the result.

use std::sync::Arc;

use rowferry_dialect::ir::{Statement as Ir, Value};
use rowferry_dialect::postgres::routine::sql_language;
use rowferry_dialect::values::record::Row;
use rowferry_dialect::{Condition, Error, Result, Type};

use super::borrowed;
use super::stored::{Compiled, Returned, Returns};
use crate::session::{Outcome, Parsed, Prepared, Session};
use crate::spool::Spool;

pub(super) fn run(session: &mut Session, compiled: &Compiled, args: Vec<Value>) -> Result<Returned> {
    session.routine_state().running.enter_sql(&compiled.function);
    let result = run_statements(session, compiled, args);
    session.routine_state().running.leave();
    result
}

fn run_statements(session: &mut Session, compiled: &Compiled, args: Vec<Value>) -> Result<Returned> {
    let function = &compiled.function;
    let count = session.statements_of(compiled)?;
    let columns = compiled.returns.columns();
    let mut result = None;
    for at in 0..count {
        let last = at + 1 == count;
        session.routine_state().running.at_statement(at + 1);
        let in_statement = |error: Error| in_function(error, &function.name, at + 1);
        let plan = session.plan_of_statement(compiled, at).map_err(in_statement)?;
        let params =
            plan.bound.inside.iter().map(|index| args.get(*index).cloned().unwrap_or(Value::Null)).collect::<Vec<_>>();
        compiled.check_allowed(&plan).map_err(|mut error| {
            error.position = None;
            error.context(format!("SQL function \"{}\" during startup", function.name))
        })?;
        let outcome = session.execute(&plan, &params).map_err(in_statement)?;
        match outcome {
            Outcome::Rows(mut cursor) if last && !matches!(compiled.returns, Returns::Void) => {
                let types: Vec<Type> = cursor.columns().iter().map(|column| column.ty.clone()).collect();
                let whole = types.len() == 1 && takes_whole(compiled, &types[0]);
                let names: Vec<String> = cursor.columns().iter().map(|column| column.name.clone()).collect();
                let wanted = if whole { 1 } else { columns.unwrap_or(types.len()) };
                if wanted != types.len() {
                    return Err(mismatch(function.definition.returns.words()));
                }
                let (mut returned_types, mut returned_names, mut null) = (types.clone(), names, false);
                let mut rows = Spool::new(columns.unwrap_or(if whole { 0 } else { wanted }));
                while let Some(row) = cursor.next().map_err(in_statement)? {
                    let values: Vec<Value> = (0..row.len()).map(|at| row.get(at).to_value()).collect();
                    drop(row);
                    let (values, given) = match (whole, values.as_slice()) {
                        (false, _) => (values, types.clone()),
                        (true, [Value::Text(stored)]) => {
                            let row = Row::read(stored.as_bytes(), &types[0])?;
                            let live = row.live()?;
                            returned_names = live.iter().map(|(field, _)| field.name.clone()).collect();
                            let given: Vec<Type> = live.iter().map(|(field, _)| field.ty.clone()).collect();
                            (live.into_iter().map(|(_, value)| value).collect(), given)
                        }
                        (true, _) => {
                            null = true;
                            let count = columns.unwrap_or(1);
                            (vec![Value::Null; count], vec![Type::Unknown; count])
                        }
                    };
                    if rows.rows() == 0 && columns.is_none() {
                        rows = Spool::new(values.len());
                        returned_types.clone_from(&given);
                    }
                    let values = session.as_returned(&compiled.returns, values, &given)?;
                    if matches!(compiled.returns, Returns::Row(_)) {
                        session.check_returned_row(function, (!null).then_some(values.as_slice()))?;
                    }
                    rows.push(values.iter().map(borrowed))?;
                    if !function.definition.set {
                        break;
                    }
                }
                let types = match &compiled.returns {
                    Returns::Value(ty) => vec![ty.clone()],
                    Returns::Row(shape) => shape.iter().map(|(_, ty)| ty.clone()).collect(),
                    _ => returned_types,
                };
                result = Some(Returned { rows, types, names: returned_names, null, row: None });
            }
            Outcome::Rows(mut cursor) => while cursor.next().map_err(in_statement)?.is_some() {},
            Outcome::Done { .. } => {}
        }
    }
    let mut returned = result.unwrap_or_else(|| {
        let columns = columns.unwrap_or(1);
        Returned { null: true, ..Returned::of(Spool::new(columns), vec![Type::Unknown; columns]) }
    });
    if !function.definition.set && returned.rows.rows() == 0 {
        // One of void, too, returns NULL, where one in PL/pgSQL returns an empty text.
        let columns = returned.types.len();
        returned.rows.push((0..columns).map(|_| borrowed(&Value::Null)))?;
    }
    Ok(returned)
}

/// The statements of a function.
#[derive(Debug)]
pub(super) struct Statements {
    parsed: Vec<Parsed>,
    plans: Vec<Option<Arc<Prepared>>>,
}

impl Session {
    /// How many statements a function has; they are parsed at its first call.
    fn statements_of(&mut self, compiled: &Compiled) -> Result<usize> {
        if let Some(known) = &*compiled.statements.lock() {
            return Ok(known.parsed.len());
        }
        let function = &compiled.function;
        let mut variables = sql_language::variables(function, &compiled.inputs, &self.schema())?;
        variables.collation.clone_from(&compiled.collation);
        let variables = Arc::new(variables);
        let parsed = sql_language::statements(function)?.into_iter();
        let parsed: Vec<Parsed> = parsed.map(|statement| Parsed::inside(statement, variables.clone())).collect();
        let count = parsed.len();
        *compiled.statements.lock() = Some(Statements { parsed, plans: vec![None; count] });
        Ok(count)
    }

    /// The plan of a function's statement. Queries and changes keep theirs from call to call.
    fn plan_of_statement(&mut self, compiled: &Compiled, at: usize) -> Result<Arc<Prepared>> {
        let found =
            compiled.statements.lock().as_ref().map(|known| (known.plans[at].clone(), known.parsed[at].clone()));
        let parsed = match found {
            Some((Some(plan), _)) if plan.bound.generation == self.generation() => return Ok(plan),
            Some((_, parsed)) => parsed,
            None => return Err(Error::internal("a function whose statements nobody has parsed")),
        };
        let plan = self.prepare_parsed(&parsed, &[])?;
        if matches!(plan.bound.statement, Ir::Query(_) | Ir::Dml(_) | Ir::Merge(_) | Ir::Rewritten(_))
            && let Some(known) = &mut *compiled.statements.lock()
        {
            known.plans[at] = Some(plan.clone());
        }
        Ok(plan)
    }

    /// A row in the types that a function returns.
    fn as_returned(&self, returns: &Returns, values: Vec<Value>, from: &[Type]) -> Result<Vec<Value>> {
        let to: Vec<&Type> = match returns {
            Returns::Value(ty) => vec![ty],
            Returns::Row(shape) => shape.iter().map(|(_, ty)| ty).collect(),
            _ => return Ok(values),
        };
        values.iter().zip(from).zip(to).map(|((value, from), to)| self.converted(value, from, to)).collect()
    }
}

/// A statement's only column is the whole row that a function returns.
fn takes_whole(compiled: &Compiled, given: &Type) -> bool {
    match &compiled.row {
        Some(Type::Record(_)) => {
            given.is_row() && matches!(compiled.returns, Returns::Record) || *given == Type::RECORD
        }
        Some(row) => row == given || *given == Type::RECORD,
        None => false,
    }
}

fn mismatch(words: String) -> Error {
    let message = format!("return type mismatch in function declared to return {words}");
    Error::new(Condition::InvalidFunctionDefinition, message)
}

fn in_function(mut error: Error, name: &str, statement: usize) -> Error {
    error.position = None;
    let line = super::running::sql_line(name, statement);
    let context = match error.context.take() {
        Some(inner) => format!("{inner}\n{line}"),
        None => line,
    };
    error.context(context)
}
