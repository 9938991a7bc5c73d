//! What SQL gives names to: prepared statements (PREPARE, EXECUTE) and cursors (DECLARE, FETCH).

use std::sync::Arc;

use rowferry_dialect::ir::{Expr, FetchDirection, Query, Value};
use rowferry_dialect::lower::sqlite;
use rowferry_dialect::plan::{Command, ResultColumn};
use rowferry_dialect::values::{self, ValueRef};
use rowferry_dialect::{Condition, Error, Result, Type};

use super::transaction::Block;
use super::{Outcome, Prepared, Session};
use crate::cursor::Cursor;
use crate::memory::Charge;
use crate::plans::next_id;
use crate::spool::Spool;

/// A statement that PREPARE has named.
#[derive(Debug)]
pub(super) struct NamedStatement {
    /// Its text.
    pub text: String,
    /// Declared parameter types.
    pub params: Vec<Option<Type>>,
    /// Its plan.
    pub plan: Arc<Prepared>,
    /// For keeping it.
    _charge: Charge,
}

/// A cursor that DECLARE has named.
#[derive(Debug)]
pub(super) struct NamedCursor {
    /// Its query's columns.
    columns: Vec<ResultColumn>,
    rows: Rows,
    /// WITH HOLD: it outlives its transaction.
    hold: bool,
}

#[derive(Debug)]
enum Rows {
    /// Forward only: rows are pulled as they are fetched. The row where it stands is not kept.
    Forward { cursor: Cursor, at: i64 },
    /// SCROLL: rows that have been fetched can be fetched again. 0 is before the first.
    Scroll { cursor: Option<Cursor>, seen: Vec<Vec<Value>>, at: usize },
}

impl Session {
    pub(super) fn prepare_named(&mut self, name: &str, text: &str, params: &[Type]) -> Result<()> {
        if self.statements.contains_key(name) {
            return Err(Error::new(
                Condition::DuplicatePreparedStatement,
                format!("prepared statement \"{name}\" already exists"),
            ));
        }
        let params: Vec<Option<Type>> = params.iter().cloned().map(Some).collect();
        let plan = self.prepare(text, &params)?.ok_or_else(|| Error::internal("PREPARE of nothing"))?;
        let charge = plan.charge()?;
        self.statements
            .insert(name.to_owned(), NamedStatement { text: text.to_owned(), params, plan, _charge: charge });
        Ok(())
    }

    /// The plan of a prepared statement, for those who describe it.
    pub fn named_statement(&self, name: &str) -> Option<Arc<Prepared>> {
        self.statements.get(name).map(|statement| statement.plan.clone())
    }

    pub(super) fn execute_named(&mut self, name: &str, args: &[Expr]) -> Result<Outcome> {
        let Some(statement) = self.statements.get(name) else {
            return Err(Error::new(
                Condition::InvalidSqlStatementName,
                format!("prepared statement \"{name}\" does not exist"),
            ));
        };
        let (text, params) = (statement.text.clone(), statement.params.clone());
        let plan = self.prepare(&text, &params)?.ok_or_else(|| Error::internal("EXECUTE of nothing"))?;
        if plan.bound.params.len() != args.len() {
            return Err(Error::new(
                Condition::SyntaxError,
                format!("wrong number of parameters for prepared statement \"{name}\""),
            )
            .detail(format!("Expected {} parameters but got {}.", plan.bound.params.len(), args.len())));
        }
        let mut params = Vec::with_capacity(args.len());
        for (arg, ty) in args.iter().zip(&plan.bound.params) {
            params.push(self.constant(arg, ty)?);
        }
        self.dispatch(&plan, &params)
    }

    /// The value of an expression without columns, as a value of a type.
    fn constant(&mut self, expr: &Expr, ty: &Type) -> Result<Value> {
        let settings = self.state.settings();
        if let Some(value) = super::utility::literal(expr) {
            return convert(value.clone(), &expr.ty, ty, &settings);
        }
        let lowered = sqlite::expression(expr, &|_| String::new())?;
        let handle = self.handle()?;
        let guard = handle.lock();
        let value =
            guard.query_row(&format!("SELECT {}", lowered.sql), [], |row| row.get::<_, rusqlite::types::Value>(0));
        let value = self.checked(value.map_err(crate::statement::Failure::from))?;
        drop(guard);
        let value = match value {
            rusqlite::types::Value::Null => Value::Null,
            rusqlite::types::Value::Integer(value) => Value::Integer(value),
            rusqlite::types::Value::Real(value) => Value::Real(value),
            rusqlite::types::Value::Text(text) => Value::Text(text),
            rusqlite::types::Value::Blob(bytes) => Value::Blob(bytes),
        };
        convert(value, &expr.ty, ty, &settings)
    }

    pub(super) fn deallocate(&mut self, name: Option<&str>) -> Result<()> {
        match name {
            None => self.statements.clear(),
            Some(name) => {
                self.statements.remove(name).ok_or_else(|| {
                    Error::new(
                        Condition::InvalidSqlStatementName,
                        format!("prepared statement \"{name}\" does not exist"),
                    )
                })?;
            }
        }
        Ok(())
    }

    pub(super) fn declare(
        &mut self,
        prepared: &Arc<Prepared>,
        name: &str,
        scroll: bool,
        hold: bool,
        query: &Query,
        params: &[Value],
    ) -> Result<()> {
        if self.transaction.block == Block::None && !hold {
            return Err(Error::new(
                Condition::NoActiveSqlTransaction,
                "DECLARE CURSOR can only be used in transaction blocks",
            ));
        }
        if self.cursors.contains_key(name) {
            return Err(Error::new(Condition::DuplicateCursor, format!("cursor \"{name}\" already exists")));
        }
        let columns: Vec<ResultColumn> = query
            .columns
            .iter()
            .map(|column| ResultColumn {
                name: column.name.clone(),
                ty: column.ty.clone(),
                origin: None,
                not_null: false,
                identity: false,
            })
            .collect();
        let mut bound = prepared.bound.clone();
        bound.statement = rowferry_dialect::ir::Statement::Query(Box::new(query.clone()));
        bound.columns = columns.clone();
        let plan = Arc::new(Prepared {
            program: Some(sqlite::lower_query(query)?),
            bound,
            command: Command::Fetch,
            id: next_id(),
            parsed: prepared.parsed.clone(),
            declared: prepared.declared.clone(),
            size: prepared.size,
        });
        let Outcome::Rows(cursor) = self.run_query(&plan, params)? else {
            return Err(Error::internal("a query without rows"));
        };
        let rows = if scroll {
            Rows::Scroll { cursor: Some(cursor), seen: Vec::new(), at: 0 }
        } else {
            Rows::Forward { cursor, at: 0 }
        };
        self.cursors.insert(name.to_owned(), NamedCursor { columns, rows, hold });
        Ok(())
    }

    /// The columns of a cursor, for those who describe a FETCH.
    pub fn cursor_columns(&self, name: &str) -> Option<&[ResultColumn]> {
        self.cursors.get(name).map(|cursor| cursor.columns.as_slice())
    }

    pub(super) fn fetch(
        &mut self,
        prepared: &Arc<Prepared>,
        name: &str,
        direction: FetchDirection,
        no_rows: bool,
    ) -> Result<Outcome> {
        let Some(cursor) = self.cursors.get_mut(name) else {
            return Err(Error::new(Condition::InvalidCursorName, format!("cursor \"{name}\" does not exist")));
        };
        let columns = cursor.columns.clone();
        let mut spool = Spool::new(columns.len());
        match &mut cursor.rows {
            Rows::Forward { cursor, at } => forward(cursor, at, direction, &mut spool)?,
            Rows::Scroll { cursor, seen, at } => scroll(cursor, seen, at, direction, &mut spool)?,
        }
        let count = spool.rows();
        if no_rows {
            return Ok(Outcome::Done { command: Command::Move, rows: count });
        }
        let mut bound = prepared.bound.clone();
        bound.columns = columns;
        let plan = Arc::new(Prepared {
            bound,
            command: Command::Fetch,
            program: None,
            id: next_id(),
            parsed: prepared.parsed.clone(),
            declared: Vec::new(),
            size: 0,
        });
        self.rows(&plan, spool)
    }

    pub(super) fn close_cursor(&mut self, name: Option<&str>) -> Result<()> {
        match name {
            None => self.cursors.clear(),
            Some(name) => {
                self.cursors.remove(name).ok_or_else(|| {
                    Error::new(Condition::InvalidCursorName, format!("cursor \"{name}\" does not exist"))
                })?;
            }
        }
        Ok(())
    }

    /// After a transaction's end, cursors without HOLD are gone.
    pub(super) fn end_cursors(&mut self) {
        if self.transaction.block == Block::None {
            self.cursors.retain(|_, cursor| cursor.hold);
        }
    }
}

fn convert(value: Value, from: &Type, to: &Type, settings: &values::Settings) -> Result<Value> {
    values::cast(&value, from, to, rowferry_dialect::ir::CastContext::Assignment, settings)
}

/// FETCH from a cursor that only goes forward.
fn forward(cursor: &mut Cursor, at: &mut i64, direction: FetchDirection, spool: &mut Spool) -> Result<()> {
    let backward = || {
        Error::new(Condition::ObjectNotInPrerequisiteState, "cursor can only scan forward")
            .hint("Declare it with SCROLL option to enable backward scan.")
    };
    let (skip, count) = match direction {
        FetchDirection::Forward(0) | FetchDirection::Relative(0) => return Err(backward()),
        FetchDirection::Forward(count) if count > 0 => (0, count),
        FetchDirection::Relative(offset) if offset > 0 => (offset - 1, 1),
        FetchDirection::Absolute(row) if row > *at => (row - *at - 1, 1),
        _ => return Err(backward()),
    };
    let mut wanted = 0;
    while wanted < skip.saturating_add(count) {
        let Some(row) = cursor.next()? else { break };
        *at += 1;
        if wanted >= skip {
            spool.push((0..row.len()).map(|column| row.get(column)))?;
        }
        wanted += 1;
    }
    Ok(())
}

/// FETCH from a cursor that goes both ways: what has been read is kept.
fn scroll(
    cursor: &mut Option<Cursor>,
    seen: &mut Vec<Vec<Value>>,
    at: &mut usize,
    direction: FetchDirection,
    spool: &mut Spool,
) -> Result<()> {
    let mut read_to = |seen: &mut Vec<Vec<Value>>, row: usize| -> Result<()> {
        while seen.len() < row {
            let Some(open) = cursor else { break };
            let Some(row) = open.next()? else {
                *cursor = None;
                break;
            };
            seen.push((0..row.len()).map(|column| owned(row.get(column))).collect());
        }
        Ok(())
    };
    let mut push = |seen: &[Vec<Value>], row: usize| match row.checked_sub(1).and_then(|row| seen.get(row)) {
        Some(values) => spool.push(values.iter().map(borrowed)),
        None => Ok(()),
    };
    let go_to = |row: i64| usize::try_from(row.max(0)).unwrap_or(usize::MAX);
    match direction {
        FetchDirection::Forward(0) | FetchDirection::Relative(0) => push(seen, *at)?,
        FetchDirection::Forward(count) if count > 0 => {
            for _ in 0..count {
                read_to(seen, at.saturating_add(1))?;
                *at = (*at + 1).min(seen.len() + 1);
                if *at > seen.len() {
                    break;
                }
                push(seen, *at)?;
            }
        }
        FetchDirection::Forward(count) | FetchDirection::Backward(count) => {
            for _ in 0..count.unsigned_abs() {
                *at = at.saturating_sub(1);
                if *at == 0 {
                    break;
                }
                push(seen, *at)?;
            }
        }
        FetchDirection::Absolute(row) if row < 0 => {
            read_to(seen, usize::MAX)?;
            *at = go_to(seen.len() as i64 + 1 + row);
            push(seen, *at)?;
        }
        FetchDirection::Absolute(_) | FetchDirection::Relative(_) => {
            let target = match direction {
                FetchDirection::Relative(offset) => go_to((*at as i64).saturating_add(offset)),
                FetchDirection::Absolute(row) => go_to(row),
                FetchDirection::Forward(_) | FetchDirection::Backward(_) => *at,
            };
            read_to(seen, target)?;
            *at = target.min(seen.len() + 1);
            push(seen, *at)?;
        }
    }
    Ok(())
}

fn owned(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(value) => Value::Integer(value),
        ValueRef::Real(value) => Value::Real(value),
        ValueRef::Text(text) => Value::Text(String::from_utf8_lossy(text).into_owned()),
        ValueRef::Blob(bytes) => Value::Blob(bytes.to_vec()),
    }
}

fn borrowed(value: &Value) -> ValueRef<'_> {
    match value {
        Value::Null => ValueRef::Null,
        Value::Integer(value) => ValueRef::Integer(*value),
        Value::Real(value) => ValueRef::Real(*value),
        Value::Text(text) => ValueRef::Text(text.as_bytes()),
        Value::Blob(bytes) => ValueRef::Blob(bytes),
    }
}
