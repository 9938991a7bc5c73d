//! Statements of SQL: values, rows, INTO, EXECUTE, assignments.

use std::sync::Arc;

use rowferry_dialect::error::Severity;
use rowferry_dialect::ir::{Statement as Ir, Transaction as Control, Value};
use rowferry_dialect::postgres::plpgsql::{Diagnostic, DynamicSql, Into, Place as Target, Sql, Target as Row};
use rowferry_dialect::values::array::{self, Array, Dimension};
use rowferry_dialect::{Condition, Error, Result, Type};

use super::frame::Frame;
use super::variables::{Slot, taken_apart};
use crate::cursor::Cursor;
use crate::routines::borrowed;
use crate::routines::running::Place;
use crate::routines::stored::{Shape, make_canonical};
use crate::session::{Outcome, Prepared};
use crate::settings::ExtraCheck;

/// The types of a cursor's columns.
pub(super) fn shape_of_cursor(cursor: &Cursor) -> Shape {
    cursor.columns().iter().map(|column| (column.name.clone(), column.ty.clone())).collect()
}

/// BEGIN, COMMIT, SAVEPOINT and their kin, but not SET TRANSACTION.
fn is_of_transactions(plan: &Prepared) -> bool {
    match &plan.bound.statement {
        Ir::Transaction(control) => !matches!(control, Control::SetModes { .. } | Control::ImportSnapshot(_)),
        _ => false,
    }
}

fn refuse_copy(plan: &Prepared) -> Result<()> {
    match &plan.bound.statement {
        Ir::Copy(_) => Err(Error::new(Condition::FeatureNotSupported, "cannot COPY to/from client in PL/pgSQL")),
        _ => Ok(()),
    }
}

/// The next row of a cursor, its values in the canonical form of their types.
pub(super) fn next_row(cursor: &mut Cursor) -> Result<Option<Vec<Value>>> {
    let Some(row) = cursor.next()? else { return Ok(None) };
    let mut values: Vec<Value> = (0..row.len()).map(|at| row.get(at).to_value()).collect();
    drop(row);
    for (value, column) in values.iter_mut().zip(cursor.columns()) {
        make_canonical(value, &column.ty)?;
    }
    Ok(Some(values))
}

impl Frame<'_, '_> {
    // Values.

    /// Runs a statement with the variables' values.
    pub(super) fn execute(&mut self, sql: &Sql) -> Result<Outcome> {
        self.execute_for(sql, &[])
    }

    /// The same, its columns as values of these types where MySQL's rules assign them.
    fn execute_for(&mut self, sql: &Sql, becomes: &[Type]) -> Result<Outcome> {
        let (plan, values) = self.plan_for(sql, becomes).map_err(|error| in_query(error, sql))?;
        if is_of_transactions(&plan) && !self.is_mysql() {
            return Err(Error::new(Condition::FeatureNotSupported, "unsupported transaction command in PL/pgSQL"));
        }
        refuse_copy(&plan)?;
        // An expression without tables is computed without a statement.
        let expression = sql.prefix > 0 && plan.uses.tables.is_empty();
        self.session.routine_state().running.runs((!expression).then(|| sql.clone()));
        self.run_plan(&plan, &values).map_err(|error| {
            // What is constant PostgreSQL computes when it plans.
            let simple = expression && (!values.is_empty() || error.context.is_some());
            if simple { error } else { in_statement(error, sql) }
        })
    }

    /// Runs a plan, if a function such as this may.
    fn run_plan(&mut self, plan: &Arc<Prepared>, values: &[Value]) -> Result<Outcome> {
        self.compiled.check_allowed(plan)?;
        self.session.execute(plan, values)
    }

    /// The value of an expression.
    pub(super) fn evaluate(&mut self, sql: &Sql) -> Result<(Value, Type)> {
        self.evaluate_for(sql, None)
    }

    /// The same as it is assigned to a type by MySQL's rules, where it is MySQL's.
    pub(super) fn evaluate_for(&mut self, sql: &Sql, becomes: Option<&Type>) -> Result<(Value, Type)> {
        let becomes = becomes.filter(|_| self.is_mysql());
        let Outcome::Rows(mut cursor) = self.execute_for(sql, becomes.map_or(&[], std::slice::from_ref))? else {
            return Ok((Value::Null, Type::Unknown));
        };
        let shape = shape_of_cursor(&cursor);
        if shape.len() != 1 {
            let text = &sql.text[sql.prefix..];
            let message = format!("query \"{text}\" returned {} columns", shape.len());
            return Err(Error::new(Condition::SyntaxError, message));
        }
        let table = self.reads_tables(sql);
        let row = next_row(&mut cursor).map_err(|error| if table { in_statement(error, sql) } else { error })?;
        let Some(mut row) = row else { return Ok((Value::Null, shape[0].1.clone())) };
        if cursor.next()?.is_some() {
            let text = &sql.text[sql.prefix..];
            let message = format!("query \"{text}\" returned more than one row");
            return Err(Error::new(Condition::CardinalityViolation, message));
        }
        Ok((row.swap_remove(0), shape[0].1.clone()))
    }

    fn reads_tables(&self, sql: &Sql) -> bool {
        let known = self.compiled.plans.lock().get(&sql.id).cloned();
        known.is_some_and(|known| known.reads_tables())
    }

    /// The row that an expression yields; `None` is NULL.
    pub(super) fn evaluate_row(&mut self, sql: &Sql) -> Result<Option<(Shape, Vec<Value>)>> {
        // A variable that is a row NULL stays one.
        if let Some(slot) = self.named_row(sql) {
            return self.held_row(slot);
        }
        let (value, ty) = self.evaluate(sql)?;
        if ty.is_row() {
            return taken_apart(&value, &ty);
        }
        if value == Value::Null {
            return Ok(None);
        }
        let message = match self.place {
            Place::Step(_, "RETURN" | "RETURN NEXT") => {
                "cannot return non-composite value from function returning composite type"
            }
            _ => "cannot assign non-composite value to a record variable",
        };
        Err(Error::new(Condition::DatatypeMismatch, message))
    }

    /// The variable of rows whose name is all of an expression.
    pub(super) fn named_row(&self, sql: &Sql) -> Option<usize> {
        let name = sql.text[sql.prefix..].trim().to_lowercase();
        let mut scope = Some(sql.scope);
        while let Some(at) = scope {
            let defined = &self.body.scopes[at];
            if let Some((_, slot)) = defined.names.iter().rev().find(|(known, _)| *known == name) {
                return self.holds_rows(*slot).then_some(*slot);
            }
            scope = defined.parent;
        }
        None
    }

    /// A condition; unknown is not true.
    pub(super) fn is_true(&mut self, sql: &Sql) -> Result<bool> {
        let (value, ty) = self.evaluate_for(sql, Some(&Type::Bool))?;
        let value = self.session.converted(&value, &ty, &Type::Bool)?;
        Ok(matches!(value, Value::Integer(number) if number != 0))
    }

    /// A value converted to a type; `None` is NULL.
    pub(super) fn evaluate_as(&mut self, sql: &Sql, ty: &Type) -> Result<Option<Value>> {
        let (value, from) = self.evaluate(sql)?;
        let value = self.session.converted(&value, &from, ty)?;
        Ok(if value == Value::Null { None } else { Some(value) })
    }

    /// A text as a user sees the value; `None` is NULL.
    pub(super) fn evaluate_text(&mut self, sql: &Sql) -> Result<Option<String>> {
        if let Some(slot) = self.named_row(sql) {
            let row = if self.is_assigned(slot) { self.held_row(slot)? } else { None };
            return row.map(|(shape, values)| self.row_as_text(&shape, &values)).transpose();
        }
        let (value, ty) = self.evaluate(sql)?;
        if value == Value::Null {
            return Ok(None);
        }
        rowferry_dialect::values::output(&value, &ty, &self.session.settings()).map(Some)
    }

    /// A row as a user sees it.
    fn row_as_text(&self, shape: &Shape, values: &[Value]) -> Result<String> {
        let settings = self.session.settings();
        let mut fields = Vec::with_capacity(values.len());
        for (value, (_, ty)) in values.iter().zip(shape.iter()) {
            fields.push(match value {
                Value::Null => None,
                value => Some(rowferry_dialect::values::output(value, ty, &settings)?),
            });
        }
        Ok(rowferry_dialect::values::record::output(fields.iter().map(Option::as_deref)))
    }

    // Assignments.

    pub(super) fn assign(&mut self, place: &Target, sql: &Sql) -> Result<()> {
        if place.field.is_none() && place.subscripts.is_empty() && self.holds_rows(place.variable) {
            let row = self.evaluate_row(sql)?;
            return self.assign_row(place.variable, row);
        }
        let becomes = match &place.field {
            _ if !self.is_mysql() => None,
            Some(field) => self.field(place.variable, field).map(|(_, ty)| ty),
            None => Some(self.slot_type(place.variable)),
        };
        let (value, ty) = self.evaluate_for(sql, becomes.as_ref())?;
        self.assign_place(place, &value, &ty)
    }

    /// Gives something that can be assigned to a value of a type.
    pub(super) fn assign_place(&mut self, place: &Target, value: &Value, from: &Type) -> Result<()> {
        if !place.subscripts.is_empty() {
            return self.assign_member(place, value, from);
        }
        match &place.field {
            Some(field) => self.assign_field(place.variable, field, value, from),
            None => self.assign_value(place.variable, value, from),
        }
    }

    /// `array[index] := value`
    fn assign_member(&mut self, place: &Target, value: &Value, from: &Type) -> Result<()> {
        let (held, ty) = match &place.field {
            Some(field) => self.field(place.variable, field).unwrap_or((Value::Null, Type::Unknown)),
            None => (self.held(place.variable), self.slot_type(place.variable)),
        };
        let array_type = ty.through_domains().clone();
        let Type::Array(element) = &array_type else {
            let words = rowferry_dialect::postgres::types::words(&ty);
            let message = format!("cannot subscript type {words} because it does not support subscripting");
            return Err(Error::new(Condition::DatatypeMismatch, message));
        };
        let mut indexes = Vec::with_capacity(place.subscripts.len());
        for subscript in &place.subscripts {
            let Some(Value::Integer(index)) = self.evaluate_as(subscript, &Type::Int4)? else {
                let message = "array subscript in assignment must not be null";
                return Err(Error::new(Condition::NullValueNotAllowed, message));
            };
            indexes.push(index);
        }
        let value = self.session.converted(value, from, element)?;
        let array = match &held {
            Value::Text(stored) => Array::read(stored.as_bytes())?,
            _ => Array::default(),
        };
        let stored = Value::Text(with_member(array, &indexes, &value, element)?.stored()?);
        let whole = Target { subscripts: Vec::new(), ..place.clone() };
        self.assign_place(&whole, &stored, &array_type)
    }

    /// Gives the targets of INTO or of a loop a row; `None` is no row.
    pub(super) fn assign_target(&mut self, target: &Row, shape: &Shape, row: Option<Vec<Value>>) -> Result<()> {
        match target {
            Row::Row(slot) => match row {
                Some(values) => self.assign_row(*slot, Some((shape.clone(), values))),
                None => {
                    // Not NULL, but a row of NULLs.
                    let (shape, fixed) = match &self.slots[*slot] {
                        Slot::Row { shape, fixed: true, .. } => (shape.clone(), true),
                        _ => (shape.clone(), false),
                    };
                    let values = vec![Value::Null; shape.len()];
                    self.slots[*slot] = Slot::Row { shape, values, null: false, fixed };
                    Ok(())
                }
            },
            Row::Places(places) => {
                self.check_fields(places.len(), shape.len())?;
                for (at, place) in places.iter().enumerate() {
                    let value = row.as_ref().and_then(|row| row.get(at)).cloned().unwrap_or(Value::Null);
                    let ty = shape.get(at).map_or(Type::Unknown, |(_, ty)| ty.clone());
                    self.assign_place(place, &value, &ty)?;
                }
                Ok(())
            }
        }
    }

    /// Looks whether there are as many values as targets, where that has been asked for.
    pub(super) fn check_fields(&mut self, targets: usize, values: usize) -> Result<()> {
        if targets == values {
            return Ok(());
        }
        let check = ExtraCheck::StrictMultiAssignment;
        let Some(is_error) = self.session.extra_check(check) else { return Ok(()) };
        // Each target without a value is told of, and all values without a target at once.
        for _ in 0..targets.saturating_sub(values).max(1) {
            let message = "number of source and target fields in assignment does not match";
            let place = if is_error { "extra_errors" } else { "extra_warnings" };
            let error = Error::new(Condition::DatatypeMismatch, message)
                .detail(format!("{} check of {place} is active.", check.word()))
                .hint("Make sure the query returns the exact list of columns.");
            self.found_wrong(error, is_error)?;
        }
        Ok(())
    }

    /// Something that one has asked to be looked for: an error, or a warning.
    fn found_wrong(&mut self, mut error: Error, is_error: bool) -> Result<()> {
        if is_error {
            return Err(error);
        }
        error.context = Some(self.context());
        self.session.remark(error.with_severity(Severity::Warning));
        Ok(())
    }

    // Statements.

    /// A statement of SQL.
    pub(super) fn sql(&mut self, sql: &Sql, into: Option<&Into>) -> Result<()> {
        let outcome = self.execute(sql)?;
        let in_this = |error: Error| in_statement(error, sql);
        self.finish(outcome, into, true).map_err(|failed| match failed {
            Failed::Running(error) => in_this(error),
            Failed::Ours(error) => error,
        })?;
        Ok(())
    }

    /// Takes what a statement yields: its rows into targets, its count.
    fn finish(&mut self, outcome: Outcome, into: Option<&Into>, picky: bool) -> std::result::Result<(), Failed> {
        match (outcome, into) {
            (Outcome::Done { rows, .. }, None) => {
                self.row_count = rows;
                self.set_found(rows > 0);
                Ok(())
            }
            (Outcome::Done { .. }, Some(_)) => Err(Failed::Ours(Error::new(
                Condition::SyntaxError,
                "INTO used with a command that cannot return data",
            ))),
            (Outcome::Rows(_), None) => Err(Failed::Ours(
                Error::new(Condition::SyntaxError, "query has no destination for result data")
                    .hint("If you want to discard the results of a SELECT, use PERFORM instead."),
            )),
            (Outcome::Rows(mut cursor), Some(into)) => {
                let shape = shape_of_cursor(&cursor);
                let changed = cursor.rows_affected();
                let first = next_row(&mut cursor).map_err(Failed::Running)?;
                // Of a change all rows have been changed already, and more than one is an error.
                let refused = match into.strict || picky && changed > 0 {
                    true => Some(true),
                    false if picky => self.session.extra_check(ExtraCheck::TooManyRows),
                    false => None,
                };
                if let Some(is_error) = refused.filter(|_| first.is_some())
                    && cursor.next().map_err(Failed::Running)?.is_some()
                {
                    let error = Error::new(Condition::TooManyRows, "query returned more than one row")
                        .hint("Make sure the query returns a single row, or use LIMIT 1.");
                    self.found_wrong(error, is_error).map_err(Failed::Ours)?;
                }
                drop(cursor);
                if first.is_none() && into.strict {
                    return Err(Failed::Ours(Error::new(Condition::NoDataFound, "query returned no rows")));
                }
                self.row_count = u64::from(first.is_some());
                self.set_found(first.is_some());
                self.assign_target(&into.target, &shape, first).map_err(Failed::Ours)
            }
        }
    }

    /// PERFORM.
    pub(super) fn perform(&mut self, sql: &Sql) -> Result<()> {
        let mut rows = 0;
        match self.execute(sql)? {
            Outcome::Rows(mut cursor) => {
                while cursor.next().map_err(|error| in_statement(error, sql))?.is_some() {
                    rows += 1;
                }
            }
            Outcome::Done { rows: changed, .. } => rows = changed,
        }
        self.row_count = rows;
        self.set_found(rows > 0);
        Ok(())
    }

    /// CALL: what comes out of its parameters goes into the variables that were given for them.
    pub(super) fn call(&mut self, sql: &Sql) -> Result<()> {
        let (plan, values) = self.plan(sql).map_err(|error| in_query(error, sql))?;
        self.compiled.check_allowed(&plan).map_err(|error| in_statement(error, sql))?;
        let targets = match &plan.bound.statement {
            Ir::CallProcedure(call) if !self.is_mysql() => self.call_targets(sql, call)?,
            _ => Vec::new(),
        };
        let ends = self.ends_transactions;
        let outcome = self.session.handing_on_transactions(ends, |session| session.execute(&plan, &values));
        let outcome = outcome.map_err(|error| in_statement(error, sql))?;
        if self.is_mysql() {
            return self.take_outputs(sql);
        }
        let Outcome::Rows(mut cursor) = outcome else { return Ok(()) };
        let shape = shape_of_cursor(&cursor);
        let Some(row) = next_row(&mut cursor)? else { return Ok(()) };
        drop(cursor);
        for ((target, value), (_, ty)) in targets.into_iter().zip(&row).zip(shape.iter()) {
            self.assign_place(&target, value, ty)?;
        }
        Ok(())
    }

    /// The variables for the parameters of a procedure that come out.
    fn call_targets(&self, sql: &Sql, call: &rowferry_dialect::ir::CallProcedure) -> Result<Vec<Target>> {
        let given = rowferry_dialect::postgres::routine::call_arguments(&sql.text)?;
        let mut targets = Vec::new();
        for (at, param) in call.function.definition.params.iter().enumerate() {
            if !param.mode.is_output() {
                continue;
            }
            let named = given.iter().find(|(name, _)| name.as_deref() == Some(param.name.as_str()));
            let names = named.or_else(|| given.get(at).filter(|(name, _)| name.is_none())).map(|(_, names)| names);
            let Some(target) = names.and_then(|names| self.find_target(sql.scope, names)) else {
                let name = &param.name;
                let message = format!(
                    "procedure parameter \"{name}\" is an output parameter but corresponding argument is not writable"
                );
                return Err(Error::new(Condition::SyntaxError, message));
            };
            let variable = &self.body.variables[target.variable];
            if variable.constant {
                let message = format!("variable \"{}\" is declared CONSTANT", variable.name);
                return Err(Error::new(Condition::ErrorInAssignment, message));
            }
            targets.push(target);
        }
        Ok(targets)
    }

    /// The variable, or the field of one, that names mean: `variable`, `row.field`, `label.variable`, `label.row.field`.
    pub(super) fn find_target(&self, scope: usize, names: &[String]) -> Option<Target> {
        let last = names.last()?;
        let row = names.iter().rev().nth(1).and_then(|row| self.find_variable(scope, row));
        match row.filter(|slot| self.holds_rows(*slot)) {
            Some(row) => Some(Target { field: Some(last.clone()), ..Target::variable(row) }),
            None => self.find_variable(scope, last).map(Target::variable),
        }
    }

    fn find_variable(&self, scope: usize, name: &str) -> Option<usize> {
        let mut scope = Some(scope);
        while let Some(at) = scope {
            let defined = &self.body.scopes[at];
            let same = |known: &str| if self.is_mysql() { known.eq_ignore_ascii_case(name) } else { known == name };
            if let Some((_, slot)) = defined.names.iter().rev().find(|(known, _)| same(known)) {
                return Some(*slot);
            }
            scope = defined.parent;
        }
        None
    }

    // EXECUTE.

    /// Runs the text of EXECUTE.
    pub(super) fn run_dynamic(&mut self, dynamic: &DynamicSql) -> Result<(Outcome, String)> {
        let Some(text) = self.evaluate_text(&dynamic.text)? else {
            return Err(Error::new(Condition::NullValueNotAllowed, "query string argument of EXECUTE is null"));
        };
        let (mut values, mut types) = (Vec::new(), Vec::new());
        for value in &dynamic.using {
            let (value, ty) = self.evaluate(value)?;
            values.push(value);
            types.push(Some(if ty == Type::Unknown { Type::Text } else { ty }));
        }
        let in_text = |error: Error| in_query_text(error, &text);
        let statements = self.session.parse(&text).map_err(in_text)?;
        let mut last = Outcome::Done { command: rowferry_dialect::plan::Command::Utility(""), rows: 0 };
        for parsed in statements {
            let plan = self.session.prepare_parsed(&parsed, &types).map_err(in_text)?;
            if is_of_transactions(&plan) {
                let message = "EXECUTE of transaction commands is not implemented";
                return Err(Error::new(Condition::FeatureNotSupported, message));
            }
            refuse_copy(&plan)?;
            let mut params = values.clone();
            params.truncate(plan.bound.params.len());
            if params.len() < plan.bound.params.len() {
                let message = format!("there is no parameter ${}", params.len() + 1);
                return Err(in_text(Error::new(Condition::UndefinedParameter, message)));
            }
            last = self.run_plan(&plan, &params).map_err(|error| in_statement_text(error, &text))?;
        }
        Ok((last, text))
    }

    /// EXECUTE.
    pub(super) fn dynamic(&mut self, dynamic: &DynamicSql, into: Option<&Into>) -> Result<()> {
        let (outcome, text) = self.run_dynamic(dynamic)?;
        // FOUND stays what it was.
        let found = self.held(self.body.found);
        let result = match (outcome, into) {
            (Outcome::Rows(mut cursor), None) => {
                let mut rows = 0;
                while cursor.next().map_err(|error| in_statement_text(error, &text))?.is_some() {
                    rows += 1;
                }
                self.row_count = rows;
                Ok(())
            }
            (outcome, into) => self.finish(outcome, into, false).map_err(|failed| match failed {
                Failed::Running(error) => in_statement_text(error, &text),
                Failed::Ours(error) => error,
            }),
        };
        self.set_found(found == Value::Integer(1));
        result
    }

    // Diagnostics.

    /// GET DIAGNOSTICS.
    pub(super) fn diagnostics(&mut self, stacked: bool, items: &[(Target, Diagnostic)]) -> Result<()> {
        let caught = self.caught.clone();
        if stacked && caught.is_none() {
            let message = "GET STACKED DIAGNOSTICS cannot be used outside an exception handler";
            return Err(Error::new(Condition::StackedDiagnosticsOutsideHandler, message));
        }
        for (place, item) in items {
            let error = caught.as_ref().map(|(error, _)| error);
            let text = |field: Option<&String>| Value::Text(field.cloned().unwrap_or_default());
            let (value, ty) = match item {
                Diagnostic::RowCount => (Value::Integer(self.row_count as i64), Type::Int8),
                Diagnostic::RoutineOid => (Value::Integer(self.compiled.function.oid.into()), Type::Oid),
                Diagnostic::Context => (Value::Text(self.context()), Type::Text),
                Diagnostic::Sqlstate => {
                    (Value::Text(error.map(|error| error.sqlstate().to_owned()).unwrap_or_default()), Type::Text)
                }
                Diagnostic::Message => {
                    (Value::Text(error.map(|error| error.message.clone()).unwrap_or_default()), Type::Text)
                }
                Diagnostic::Detail => (text(error.and_then(|error| error.detail.as_ref())), Type::Text),
                Diagnostic::Hint => (text(error.and_then(|error| error.hint.as_ref())), Type::Text),
                Diagnostic::ErrorContext => (text(error.and_then(|error| error.context.as_ref())), Type::Text),
                Diagnostic::Column => (text(error.and_then(|error| error.column.as_ref())), Type::Text),
                Diagnostic::Constraint => (text(error.and_then(|error| error.constraint.as_ref())), Type::Text),
                Diagnostic::DataType => (text(error.and_then(|error| error.data_type.as_ref())), Type::Text),
                Diagnostic::Table => (text(error.and_then(|error| error.table.as_ref())), Type::Text),
                Diagnostic::Schema => (text(error.and_then(|error| error.schema.as_ref())), Type::Text),
            };
            self.assign_place(place, &value, &ty)?;
        }
        Ok(())
    }

    /// Where a loop's or a block's own part goes on.
    pub(super) fn at(&mut self, place: Place) {
        self.place = place;
    }

    /// The plan of a statement, for those who run it themselves.
    pub(super) fn plan_of(&mut self, sql: &Sql) -> Result<(Arc<Prepared>, Vec<Value>)> {
        self.plan(sql).map_err(|error| in_query(error, sql))
    }
}

/// Why a statement's rows could not be taken.
enum Failed {
    /// It has failed while it ran.
    Running(Error),
    /// They are not what is wanted.
    Ours(Error),
}

/// An error of a statement that could not be made ready: it points into the statement's text.
fn in_query(mut error: Error, sql: &Sql) -> Error {
    if let Some(position) = error.position.take()
        && error.internal_query.is_none()
    {
        error.internal_position = Some(position.saturating_sub(sql.prefix as u32).max(1));
        error.internal_query = Some(sql.text[sql.prefix..].to_owned());
        return error;
    }
    if error.internal_query.is_some() { error } else { in_statement(error, sql) }
}

fn in_query_text(mut error: Error, text: &str) -> Error {
    if let Some(position) = error.position.take()
        && error.internal_query.is_none()
    {
        error.internal_position = Some(position);
        error.internal_query = Some(text.to_owned());
    }
    if error.internal_query.is_some() { error } else { in_statement_text(error, text) }
}

/// An error of a statement that has run.
pub(super) fn in_statement(error: Error, sql: &Sql) -> Error {
    with_line(error, statement_line(sql))
}

/// A line of CONTEXT.
pub(in crate::routines) fn statement_line(sql: &Sql) -> String {
    if let Some(assignment) = &sql.assignment {
        return format!("PL/pgSQL assignment \"{assignment}\"");
    }
    let words = if sql.prefix > 0 { "SQL expression" } else { "SQL statement" };
    format!("{words} \"{}\"", &sql.text[sql.prefix..])
}

pub(super) fn in_statement_text(error: Error, text: &str) -> Error {
    with_line(error, format!("SQL statement \"{text}\""))
}

fn with_line(mut error: Error, line: String) -> Error {
    error.position = None;
    error.context = Some(match error.context.take() {
        Some(inner) => format!("{inner}\n{line}"),
        None => line,
    });
    error
}

/// An array with another member; one of one dimension grows with NULLs up to it.
fn with_member(mut array: Array, indexes: &[i64], value: &Value, element: &Type) -> Result<Array> {
    let mut text = String::new();
    array::push_element(&mut text, borrowed(value), element);
    let member: serde_json::Value =
        serde_json::from_str(&text).map_err(|error| Error::internal(format!("a member that is no JSON: {error}")))?;
    if array.dimensions.is_empty() {
        // The first member says where the array begins.
        let dimensions: Option<Vec<Dimension>> =
            indexes.iter().map(|index| Some(Dimension { lower: i32::try_from(*index).ok()?, length: 1 })).collect();
        let dimensions = dimensions.ok_or_else(array::too_many_elements)?;
        Array::check_size(&dimensions)?;
        return Ok(Array::with_bounds(dimensions, vec![member]));
    }
    if array.dimensions.len() != indexes.len() {
        return Err(Error::new(Condition::IllegalSubscript, "wrong number of array subscripts"));
    }
    if let ([index], [dimension]) = (indexes, array.dimensions.as_mut_slice()) {
        let lower = i64::from(dimension.lower).min(*index);
        let upper = dimension.upper().max(*index);
        let before = usize::try_from(i64::from(dimension.lower) - lower).map_err(|_| array::too_many_elements())?;
        let length = usize::try_from(upper - lower + 1).map_err(|_| array::too_many_elements())?;
        let lower = i32::try_from(lower).map_err(|_| array::too_many_elements())?;
        *dimension = Dimension { lower, length };
        Array::check_size(std::slice::from_ref(dimension))?;
        rowferry_dialect::work::room_to_work((length - array.members.len()) * size_of::<serde_json::Value>())?;
        array.members.splice(0..0, std::iter::repeat_n(serde_json::Value::Null, before));
        array.members.resize(length, serde_json::Value::Null);
    }
    let mut offset = 0;
    for (index, dimension) in indexes.iter().zip(&array.dimensions) {
        let place = dimension
            .place(*index)
            .ok_or_else(|| Error::new(Condition::IllegalSubscript, "array subscript out of range"))?;
        offset = offset * dimension.length + place;
    }
    array.members[offset] = member;
    Ok(array)
}
