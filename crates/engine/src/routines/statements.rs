//! Statements of SQL, and those that are texts.

use std::sync::Arc;

use rowferry_dialect::informix::spl::{Expression, RowSource, Sql};
use rowferry_dialect::informix::values::computed;
use rowferry_dialect::ir::Value;
use rowferry_dialect::{Condition, Error, Result, Type};

use super::interpreter::Frame;
use crate::cursor::Cursor;
use crate::session::{Outcome, Prepared};

/// A statement that PREPARE has named.
pub(super) struct NamedText {
    text: String,
}

/// A cursor that DECLARE has named.
pub(super) struct NamedCursor {
    statement: String,
    open: Option<Cursor>,
}

/// As many variables as values.
pub(super) fn check_count(targets: usize, values: usize) -> Result<()> {
    if targets == values {
        return Ok(());
    }
    let condition = if values > targets { Condition::RoutineTooManyValues } else { Condition::RoutineTooFewValues };
    Err(Error::new(condition, format!("{values} values for {targets} variables")))
}

impl<'r> Frame<'_, 'r> {
    /// So many rows were processed by the last statement.
    pub(super) fn processed(&mut self, rows: u64) {
        self.session.routine_state().set_rows_processed(rows);
        self.set_sqlcode(if rows == 0 { 100 } else { 0 });
    }

    /// A statement with its INTO.
    pub(super) fn sql(&mut self, sql: &'r Sql, into: &'r [usize], from: RowSource) -> Result<()> {
        if into.is_empty() {
            match self.execute(sql)? {
                // The rows of a routine that nobody wants; it has run to its end.
                Outcome::Rows(_) => self.set_sqlcode(0),
                Outcome::Done { rows, .. } if from == RowSource::Select => {
                    self.processed(rows);
                    if rows > 0 || !sql.statement.counts_rows() {
                        self.set_sqlcode(0);
                    }
                }
                Outcome::Done { .. } => self.set_sqlcode(0),
            }
            return Ok(());
        }
        let row = self.one_row(sql, from == RowSource::Call)?;
        if from == RowSource::Select {
            self.processed(u64::from(row.is_some()));
        }
        match row {
            Some(row) => {
                check_count(into.len(), row.len())?;
                for (slot, (value, ty)) in into.iter().zip(&row) {
                    self.assign(*slot, value, ty)?;
                }
            }
            // No row: the variables are NULL.
            None => {
                for slot in into {
                    self.assign(*slot, &Value::Null, &Type::Unknown)?;
                }
            }
        }
        Ok(())
    }

    /// EXECUTE IMMEDIATE.
    pub(super) fn immediate(&mut self, text: &'r Expression) -> Result<()> {
        let text = self.given_text(text, "EXECUTE IMMEDIATE")?;
        for parsed in self.session.parse(&text)? {
            let plan = self.session.prepare_parsed(&parsed, &[])?;
            if !plan.bound.params.is_empty() {
                return Err(Error::new(Condition::TooFewParameters, "EXECUTE IMMEDIATE takes no parameters"));
            }
            match self.session.execute(&plan, &[])? {
                Outcome::Done { rows, .. } => self.processed(rows),
                Outcome::Rows(_) if matches!(plan.bound.statement, rowferry_dialect::ir::Statement::CallRoutine(_)) => {
                }
                Outcome::Rows(_) => {
                    return Err(Error::new(Condition::RoutineStatement, "EXECUTE IMMEDIATE takes no query"));
                }
            }
            self.set_sqlcode(0);
        }
        Ok(())
    }

    fn given_text(&mut self, text: &'r Expression, what: &str) -> Result<String> {
        self.text(text)?
            .ok_or_else(|| Error::new(Condition::NullValueNotAllowed, format!("the text of {what} is NULL")))
    }

    /// PREPARE … FROM.
    pub(super) fn prepare(&mut self, name: &str, text: &'r Expression) -> Result<()> {
        let text = self.given_text(text, "PREPARE")?;
        // What is wrong with it shows now.
        self.prepared(&text)?;
        self.texts.insert(name.to_owned(), NamedText { text });
        Ok(())
    }

    fn prepared(&mut self, text: &str) -> Result<Arc<Prepared>> {
        let plan = self.session.prepare(text, &[])?;
        plan.ok_or_else(|| Error::new(Condition::SyntaxError, "the statement is empty"))
    }

    /// DECLARE … CURSOR FOR.
    pub(super) fn declare(&mut self, cursor: &str, statement: &str) -> Result<()> {
        if !self.texts.contains_key(statement) {
            return Err(unknown_statement(statement));
        }
        if self.cursors.contains_key(cursor) {
            return Err(Error::new(Condition::DuplicateCursor, format!("cursor ({cursor}) is declared already")));
        }
        self.cursors.insert(cursor.to_owned(), NamedCursor { statement: statement.to_owned(), open: None });
        Ok(())
    }

    /// OPEN … USING.
    pub(super) fn open(&mut self, name: &str, using: &[usize]) -> Result<()> {
        let cursor = self.cursors.get(name).ok_or_else(|| unknown_cursor(name))?;
        let text = self.texts.get(&cursor.statement).ok_or_else(|| unknown_statement(&cursor.statement))?.text.clone();
        let plan = self.prepared(&text)?;
        if plan.bound.params.len() != using.len() {
            let message = format!("the statement has {} parameters, USING {}", plan.bound.params.len(), using.len());
            return Err(Error::new(Condition::TooFewParameters, message));
        }
        let mut params = Vec::with_capacity(using.len());
        for (slot, ty) in using.iter().zip(&plan.bound.params) {
            params.push(computed(&self.value(*slot)?, &self.compiled_type(*slot), ty)?);
        }
        let Outcome::Rows(rows) = self.session.execute(&plan, &params)? else {
            return Err(Error::new(Condition::InvalidCursorDefinition, "a cursor needs a query"));
        };
        if let Some(cursor) = self.cursors.get_mut(name) {
            cursor.open = Some(rows);
        }
        self.set_sqlcode(0);
        Ok(())
    }

    /// FETCH … INTO: behind the last row SQLCODE is 100, and the variables stay as they are.
    pub(super) fn fetch(&mut self, name: &str, into: &[usize]) -> Result<()> {
        let cursor = self.cursors.get_mut(name).ok_or_else(|| unknown_cursor(name))?;
        let Some(rows) = &mut cursor.open else {
            return Err(Error::new(Condition::InvalidCursorState, format!("cursor ({name}) is not open")));
        };
        let types: Vec<Type> = rows.columns().iter().map(|column| column.ty.clone()).collect();
        let values: Option<Vec<Value>> =
            rows.next()?.map(|row| (0..row.len()).map(|at| row.get(at).to_value()).collect());
        let Some(values) = values else {
            self.processed(0);
            return Ok(());
        };
        check_count(into.len(), values.len())?;
        for ((slot, value), ty) in into.iter().zip(&values).zip(&types) {
            self.assign(*slot, value, ty)?;
        }
        self.processed(1);
        Ok(())
    }

    pub(super) fn close(&mut self, name: &str) -> Result<()> {
        let cursor = self.cursors.get_mut(name).ok_or_else(|| unknown_cursor(name))?;
        cursor.open = None;
        self.set_sqlcode(0);
        Ok(())
    }

    pub(super) fn free(&mut self, name: &str) -> Result<()> {
        if self.cursors.remove(name).is_none() && self.texts.remove(name).is_none() {
            return Err(unknown_statement(name));
        }
        Ok(())
    }

    fn compiled_type(&self, slot: usize) -> Type {
        self.compiled.types[slot].clone()
    }
}

fn unknown_statement(name: &str) -> Error {
    Error::new(Condition::InvalidSqlStatementName, format!("there is no prepared statement ({name})"))
}

fn unknown_cursor(name: &str) -> Error {
    Error::new(Condition::InvalidCursorName, format!("there is no cursor ({name})"))
}
