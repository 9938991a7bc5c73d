//! RETURN, RETURN NEXT, RETURN QUERY, and what a function gives back at its end; cursors.

use rowferry_dialect::ir::{FetchDirection, Value};
use rowferry_dialect::postgres::plpgsql::{Direction, OpenSource, Rows, Sql, Target, VariableKind};
use rowferry_dialect::postgres::types;
use rowferry_dialect::{Condition, Error, Result as Outcomes, Type};

use super::frame::Frame;
use super::statements::{in_statement, in_statement_text, next_row, shape_of_cursor};
use super::variables::{CURSOR_NAME, Slot, taken_apart};
use super::{has_outputs, is_void, returns_set};
use crate::routines::borrowed;
use crate::routines::running::Place;
use crate::routines::stored::{Returned, Returns, Shape};
use crate::session::Outcome;
use crate::spool::Spool;

/// What RETURN has given.
#[derive(Clone, Debug)]
pub(super) enum Result {
    /// A value of a type.
    Value(Value, Type),
    /// A row; `None` is NULL.
    Row(Option<(Shape, Vec<Value>)>),
}

/// The fields of a record must be those that are expected.
pub(in crate::routines) fn check_record<'a>(
    types_given: &[Type],
    expected: impl ExactSizeIterator<Item = &'a Type>,
) -> Outcomes<()> {
    let mismatch = |detail: String| {
        let message = "returned record type does not match expected record type";
        Err(Error::new(Condition::DatatypeMismatch, message).detail(detail))
    };
    let count = expected.len();
    for (at, (given, wanted)) in types_given.iter().zip(expected).enumerate() {
        if *given != Type::Unknown && !given.same_base(wanted) {
            let detail = format!(
                "Returned type {} does not match expected type {} in column {}.",
                types::words(given),
                types::words(wanted),
                at + 1
            );
            return mismatch(detail);
        }
    }
    if types_given.len() != count {
        let given = types_given.len();
        let detail = format!("Number of returned columns ({given}) does not match expected column count ({count}).");
        return mismatch(detail);
    }
    Ok(())
}

impl Frame<'_, '_> {
    fn is_set(&self) -> bool {
        returns_set((self.compiled, self.body))
    }

    /// RETURN.
    pub(super) fn return_value(&mut self, value: Option<&Sql>) -> Outcomes<()> {
        let Some(sql) = value else {
            return Ok(());
        };
        self.result = Some(match &self.compiled.returns {
            // The parser lets no value pass there.
            Returns::Void => return Ok(()),
            Returns::Value(ty) => {
                let ty = ty.clone();
                let (value, ty) = self.evaluate_for(sql, Some(&ty))?;
                Result::Value(value, ty)
            }
            Returns::Row(_) | Returns::Record | Returns::Trigger => Result::Row(self.evaluate_row(sql)?),
        });
        Ok(())
    }

    /// The body has ended without RETURN.
    pub(super) fn end_without_return(&mut self) -> Outcomes<()> {
        let definition = &self.compiled.function.definition;
        if definition.set || is_void(&self.compiled.returns) || has_outputs(self.body) || definition.procedure {
            return Ok(());
        }
        self.place = Place::Nowhere;
        if self.is_mysql() {
            if matches!(self.compiled.returns, Returns::Trigger) {
                return Ok(());
            }
            let message = format!("FUNCTION {} ended without RETURN", self.compiled.function.name);
            return Err(Error::new(Condition::NoFunctionReturn, message).with_mysql(1321, "2F005"));
        }
        let message = if matches!(self.compiled.returns, Returns::Trigger) {
            "control reached end of trigger procedure without RETURN"
        } else {
            "control reached end of function without RETURN"
        };
        Err(Error::new(Condition::NoFunctionReturn, message))
    }

    /// The values of the parameters that come out.
    fn outputs(&self) -> Outcomes<(Vec<Value>, Vec<Type>)> {
        let mut values = Vec::new();
        let mut types = Vec::new();
        for slot in &self.body.outputs {
            let (value, ty) = self.whole(*slot)?;
            values.push(value);
            types.push(ty);
        }
        Ok((values, types))
    }

    /// What the function returns.
    pub(super) fn returned(&mut self) -> Outcomes<Returned> {
        let types: Vec<Type> = match &self.compiled.returns {
            Returns::Void => vec![Type::Void],
            Returns::Value(ty) => vec![ty.clone()],
            Returns::Row(shape) => shape.iter().map(|(_, ty)| ty.clone()).collect(),
            Returns::Record | Returns::Trigger => Vec::new(),
        };
        if self.is_set() {
            let rows = std::mem::take(&mut self.returned);
            let types = if types.is_empty() { self.record_types.clone() } else { types };
            return Ok(Returned::of(rows, types));
        }
        self.place = Place::During("while casting return value to function's return type");
        let result = self.result.take();
        let null = matches!(result, Some(Result::Row(None)));
        let names = match &result {
            Some(Result::Row(Some((shape, _)))) => shape.iter().map(|(name, _)| name.clone()).collect(),
            _ => Vec::new(),
        };
        let (row, types) = match (result, &self.compiled.returns) {
            (_, Returns::Void) => (vec![Value::Text(String::new())], types),
            (None, Returns::Row(_) | Returns::Value(_)) if has_outputs(self.body) => {
                let (mut values, given) = self.outputs()?;
                // A function's one parameter that holds a row is the whole row; a procedure's is the one column.
                if let ([ty], [value], Returns::Row(shape)) =
                    (given.as_slice(), values.as_slice(), &self.compiled.returns)
                    && self.body.outputs.len() == 1
                    && ty.is_row()
                    && !self.compiled.function.definition.procedure
                {
                    let row = taken_apart(value, ty)?;
                    values = row.map_or_else(|| vec![Value::Null; shape.len()], |(_, values)| values);
                }
                (values, types)
            }
            (Some(Result::Value(value, from)), Returns::Value(to)) => {
                let to = to.clone();
                (vec![self.converted(&value, &from, &to)?], types)
            }
            (Some(Result::Row(None)), Returns::Row(shape)) => {
                self.session.check_returned_row(&self.compiled.function, None)?;
                (vec![Value::Null; shape.len()], types)
            }
            (Some(Result::Row(Some((shape, values)))), Returns::Row(wanted)) => {
                check_record(
                    &shape.iter().map(|(_, ty)| ty.clone()).collect::<Vec<_>>(),
                    wanted.iter().map(|(_, ty)| ty).collect::<Vec<_>>().into_iter(),
                )?;
                self.session.check_returned_row(&self.compiled.function, Some(&values))?;
                (values, types)
            }
            (Some(Result::Row(Some((shape, values)))), _) => (values, shape.iter().map(|(_, ty)| ty.clone()).collect()),
            (Some(Result::Row(None)), _) => (vec![Value::Null], vec![Type::Unknown]),
            _ => (vec![Value::Null; types.len().max(1)], if types.is_empty() { vec![Type::Unknown] } else { types }),
        };
        let mut rows = Spool::new(row.len());
        rows.push(row.iter().map(borrowed))?;
        Ok(Returned { rows, types, names, null, row: None })
    }

    /// The row that the function of a trigger returns; `None` is NULL.
    pub(super) fn returned_row(&mut self) -> Outcomes<Option<Vec<Value>>> {
        if self.is_mysql() {
            return Ok(self.row_of_trigger());
        }
        let Some(Result::Row(Some((shape, values)))) = self.result.take() else { return Ok(None) };
        let new = self.body.trigger.map(|slots| [slots[0], slots[1]]).unwrap_or_default();
        let wanted = new.into_iter().find_map(|slot| self.compiled_shape(slot));
        if let Some(wanted) = wanted {
            self.place = Place::During("during function exit");
            check_record(
                &shape.iter().map(|(_, ty)| ty.clone()).collect::<Vec<_>>(),
                wanted.iter().map(|(_, ty)| ty).collect::<Vec<_>>().into_iter(),
            )?;
        }
        Ok(Some(values))
    }

    fn compiled_shape(&self, slot: usize) -> Option<Shape> {
        match &self.slots[slot] {
            Slot::Row { shape, .. } => Some(shape.clone()),
            _ => None,
        }
    }

    /// Adds a row to those that are returned.
    fn add_row(&mut self, values: &[Value]) -> Outcomes<()> {
        self.returned.push(values.iter().map(borrowed))
    }

    /// RETURN NEXT.
    pub(super) fn return_next(&mut self, value: Option<&Sql>) -> Outcomes<()> {
        if !self.is_set() {
            let message = "cannot use RETURN NEXT in a non-SETOF function";
            return Err(Error::new(Condition::DatatypeMismatch, message));
        }
        let Some(sql) = value else {
            if !has_outputs(self.body) {
                return Err(Error::new(Condition::SyntaxError, "RETURN NEXT must have a parameter"));
            }
            let (mut values, types) = self.outputs()?;
            if let ([ty], [value], Returns::Row(shape)) = (types.as_slice(), values.as_slice(), &self.compiled.returns)
                && ty.is_row()
            {
                let row = taken_apart(value, ty)?;
                values = row.map_or_else(|| vec![Value::Null; shape.len()], |(_, values)| values);
            }
            return self.add_row(&values);
        };
        if has_outputs(self.body) {
            let message = "RETURN NEXT cannot have a parameter in function with OUT parameters";
            return Err(Error::new(Condition::DatatypeMismatch, message));
        }
        if let Some(slot) = self.named_row(sql) {
            self.check_is_assigned(slot)?;
        }
        match self.compiled.returns.clone() {
            Returns::Value(ty) => {
                let (value, from) = self.evaluate(sql)?;
                let value = self.session.converted(&value, &from, &ty)?;
                self.add_row(&[value])
            }
            Returns::Row(wanted) => {
                let row = self.evaluate_row(sql)?;
                let Some((shape, values)) = row else {
                    return self.add_row(&vec![Value::Null; wanted.len()]);
                };
                let given: Vec<Type> = shape.iter().map(|(_, ty)| ty.clone()).collect();
                check_record(&given, wanted.iter().map(|(_, ty)| ty).collect::<Vec<_>>().into_iter()).map_err(
                    |mut error| {
                        "wrong record type supplied in RETURN NEXT".clone_into(&mut error.message);
                        error
                    },
                )?;
                self.session.check_returned_row(&self.compiled.function, Some(&values))?;
                self.add_row(&values)
            }
            _ => {
                let Some((shape, values)) = self.evaluate_row(sql)? else { return Ok(()) };
                self.take_record_types(&shape)?;
                self.add_row(&values)
            }
        }
    }

    /// The first row of a set of records says what their fields are.
    fn take_record_types(&mut self, shape: &Shape) -> Outcomes<()> {
        let given: Vec<Type> = shape.iter().map(|(_, ty)| ty.clone()).collect();
        if self.returned.rows() == 0 {
            self.returned = Spool::new(given.len());
            self.record_types = given;
            return Ok(());
        }
        let known = self.record_types.clone();
        check_record(&given, known.iter())
    }

    /// RETURN QUERY.
    pub(super) fn return_query(&mut self, rows: &Rows) -> Outcomes<()> {
        if !self.is_set() {
            let message = "cannot use RETURN QUERY in a non-SETOF function";
            return Err(Error::new(Condition::DatatypeMismatch, message));
        }
        let (outcome, text) = match rows {
            Rows::Dynamic(dynamic) => {
                let (outcome, text) = self.run_dynamic(dynamic)?;
                (outcome, Some(text))
            }
            Rows::Query(sql) => (self.execute(sql)?, None),
            Rows::Cursor(..) => return Ok(()),
        };
        let Outcome::Rows(mut cursor) = outcome else {
            return Err(Error::new(Condition::SyntaxError, "query is not a SELECT"));
        };
        let shape = shape_of_cursor(&cursor);
        let given: Vec<Type> = shape.iter().map(|(_, ty)| ty.clone()).collect();
        let wanted: Option<Vec<Type>> = match &self.compiled.returns {
            Returns::Value(ty) => Some(vec![ty.clone()]),
            Returns::Row(shape) => Some(shape.iter().map(|(_, ty)| ty.clone()).collect()),
            _ => None,
        };
        match &wanted {
            Some(wanted) => check_record(&given, wanted.iter()).map_err(|mut error| {
                "structure of query does not match function result type".clone_into(&mut error.message);
                match (rows, &text) {
                    (Rows::Query(sql), _) => in_statement(error, sql),
                    (_, Some(text)) => in_statement_text(error, text),
                    _ => error,
                }
            })?,
            None => self.take_record_types(&shape)?,
        }
        let mut count = 0;
        loop {
            let row = next_row(&mut cursor).map_err(|error| match (rows, &text) {
                (Rows::Query(sql), _) => in_statement(error, sql),
                (_, Some(text)) => in_statement_text(error, text),
                _ => error,
            })?;
            let Some(row) = row else { break };
            count += 1;
            self.add_row(&row)?;
        }
        self.row_count = count;
        self.set_found(count > 0);
        Ok(())
    }

    // Cursors.

    /// The name that a cursor's variable holds.
    fn cursor_name(&self, cursor: usize) -> Outcomes<String> {
        match self.held(cursor) {
            Value::Text(name) => Ok(name),
            _ => {
                let name = &self.body.variables[cursor].name;
                let message = format!("cursor variable \"{name}\" is null");
                Err(Error::new(Condition::NullValueNotAllowed, message))
            }
        }
    }

    /// OPEN.
    pub(super) fn open(&mut self, cursor: usize, scroll: Option<bool>, source: &OpenSource) -> Outcomes<()> {
        match source {
            OpenSource::Bound(args) => self.open_bound(cursor, args).map(|_| ()),
            OpenSource::Query(sql) => {
                let (plan, params) = self.plan_of(sql)?;
                let name = self.new_cursor_name(cursor)?;
                self.session
                    .open_cursor(&name, &plan, &params, scroll != Some(false))
                    .map_err(|error| in_statement(error, sql))?;
                self.slots[cursor] = Slot::Value { ty: CURSOR_NAME, value: Value::Text(name) };
                Ok(())
            }
            OpenSource::Dynamic(dynamic) => {
                let Some(text) = self.evaluate_text(&dynamic.text)? else {
                    let message = "query string argument of EXECUTE is null";
                    return Err(Error::new(Condition::NullValueNotAllowed, message));
                };
                let (mut values, mut types) = (Vec::new(), Vec::new());
                for value in &dynamic.using {
                    let (value, ty) = self.evaluate(value)?;
                    values.push(value);
                    types.push(Some(ty));
                }
                let plan = self.session.prepare(&text, &types)?.ok_or_else(|| {
                    Error::new(Condition::InvalidCursorDefinition, "cannot open empty query as cursor")
                })?;
                values.truncate(plan.bound.params.len());
                let name = self.new_cursor_name(cursor)?;
                self.session
                    .open_cursor(&name, &plan, &values, scroll != Some(false))
                    .map_err(|error| in_statement_text(error, &text))?;
                self.slots[cursor] = Slot::Value { ty: CURSOR_NAME, value: Value::Text(name) };
                Ok(())
            }
        }
    }

    /// The name that the variable holds, or one that is free.
    fn new_cursor_name(&mut self, cursor: usize) -> Outcomes<String> {
        let variable = &self.body.variables[cursor];
        match self.held(cursor) {
            Value::Text(name) if !name.is_empty() => Ok(name),
            _ if variable.constant => {
                let message = format!("variable \"{}\" is declared CONSTANT", variable.name);
                Err(Error::new(Condition::ErrorInAssignment, message))
            }
            _ => Ok(self.session.free_cursor_name()),
        }
    }

    /// Opens a cursor for its own query; its name.
    pub(super) fn open_bound(&mut self, cursor: usize, args: &[(usize, Sql)]) -> Outcomes<String> {
        let body = self.body.clone();
        let VariableKind::Cursor(bound) = &body.variables[cursor].kind else {
            return Err(Error::internal("a cursor without its query"));
        };
        for (slot, value) in args {
            let (value, ty) = self.evaluate(value)?;
            self.assign_value(*slot, &value, &ty)?;
        }
        let (plan, params) = self.plan_of(&bound.query)?;
        let name = self.new_cursor_name(cursor)?;
        self.session
            .open_cursor(&name, &plan, &params, bound.scroll != Some(false))
            .map_err(|error| in_statement(error, &bound.query))?;
        self.slots[cursor] = Slot::Value { ty: CURSOR_NAME, value: Value::Text(name.clone()) };
        Ok(name)
    }

    /// The next row of a cursor with its shape.
    pub(super) fn fetch_one(&mut self, name: &str) -> Outcomes<(Shape, Option<Vec<Value>>)> {
        self.fetch_from(name, FetchDirection::Forward(1))
    }

    fn fetch_from(&mut self, name: &str, direction: FetchDirection) -> Outcomes<(Shape, Option<Vec<Value>>)> {
        let Outcome::Rows(mut cursor) = self.session.fetch_cursor(name, direction, false)? else {
            return Ok((Shape::from([]), None));
        };
        let shape = shape_of_cursor(&cursor);
        let row = next_row(&mut cursor)?;
        Ok((shape, row))
    }

    fn count(&mut self, sql: &Sql) -> Outcomes<i64> {
        match self.evaluate_as(sql, &Type::Int4)? {
            Some(Value::Integer(count)) => Ok(count),
            _ => Err(Error::new(Condition::NullValueNotAllowed, "relative or absolute cursor position is null")),
        }
    }

    /// FETCH, MOVE.
    pub(super) fn fetch(&mut self, cursor: usize, direction: &Direction, into: Option<&Target>) -> Outcomes<()> {
        let name = self.cursor_name(cursor)?;
        let direction = match direction {
            Direction::Next => FetchDirection::Forward(1),
            Direction::Prior => FetchDirection::Backward(1),
            Direction::First => FetchDirection::Absolute(1),
            Direction::Last => FetchDirection::Absolute(-1),
            Direction::Absolute(sql) => FetchDirection::Absolute(self.count(sql)?),
            Direction::Relative(sql) => FetchDirection::Relative(self.count(sql)?),
            Direction::Forward(None) => FetchDirection::Forward(i64::MAX),
            Direction::Backward(None) => FetchDirection::Backward(i64::MAX),
            Direction::Forward(Some(sql)) => FetchDirection::Forward(self.count(sql)?),
            Direction::Backward(Some(sql)) => FetchDirection::Backward(self.count(sql)?),
        };
        let Some(target) = into else {
            let outcome = self.session.fetch_cursor(&name, direction, true)?;
            let rows = if let Outcome::Done { rows, .. } = outcome { rows } else { 0 };
            self.row_count = rows;
            self.set_found(rows > 0);
            return Ok(());
        };
        let (shape, row) = self.fetch_from(&name, direction)?;
        self.row_count = u64::from(row.is_some());
        self.set_found(row.is_some());
        self.assign_target(target, &shape, row)
    }

    /// CLOSE.
    pub(super) fn close(&mut self, cursor: usize) -> Outcomes<()> {
        let name = self.cursor_name(cursor)?;
        self.session.close_named_cursor(&name)
    }
}
