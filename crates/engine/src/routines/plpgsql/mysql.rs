//! Steps of MySQL's routines that PL/pgSQL has none like: handlers that go on behind what has failed, SIGNAL, cursors over
//! rows that are read when they are opened, rows that go to the client.

use std::ops::Range;
use std::sync::atomic::Ordering;

use rowferry_dialect::error::Severity;
use rowferry_dialect::ir::{Statement as Ir, Value};
use rowferry_dialect::mysql::routine::steps::{
    Asked, Destination, Information, MysqlStep, OfStatement, Reaction, Signal,
};
use rowferry_dialect::mysql::told::{Told, told};
use rowferry_dialect::postgres::plpgsql::{Block, Sql};
use rowferry_dialect::stored_function::{RoutineLanguage, StoredFunction};
use rowferry_dialect::{Condition, Error, Language, Result, Type};

use super::frame::{Flow, Frame};
use super::statements::{next_row, shape_of_cursor};
use super::variables::Slot;
use crate::routines::stored::Shape;
use crate::routines::{Answer, borrowed};
use crate::session::{Outcome, Prepared, Session};
use crate::spool::{Spool, SpoolReader};

/// A cursor that is open.
#[derive(Debug)]
pub(super) struct OpenCursor {
    shape: Shape,
    rows: SpoolReader,
}

/// What only MySQL's routines keep while they run.
#[derive(Debug, Default)]
pub(super) struct Reacting {
    /// The blocks around with handlers, the outermost first.
    blocks: Vec<(Option<String>, Range<usize>)>,
    /// An error is on its way out: no handler of the routine is for it.
    unhandled: bool,
    /// Open cursors, by their numbers.
    cursors: Vec<Option<OpenCursor>>,
    /// What the last statement has met: the diagnostics area.
    met: Vec<Told>,
    /// The errors whose handlers run, the innermost last.
    handled: Vec<(Error, Told)>,
}

fn own(code: u16, sqlstate: &'static str, message: impl Into<String>) -> Error {
    Error::new(Condition::RaiseException, message).with_mysql(code, sqlstate)
}

/// `1329`, which a loop over a cursor ends with.
fn no_data() -> Error {
    Error::new(Condition::NoDataFound, "No data - zero rows fetched, selected, or processed").with_mysql(1329, "02000")
}

/// What no handler is for.
fn ends_everything(error: &Error) -> bool {
    matches!(
        error.condition(),
        Condition::AdminShutdown
            | Condition::TransactionTimeout
            | Condition::ConnectionFailure
            | Condition::QueryCanceled
            | Condition::StalePlan
    )
}

impl Session {
    /// Does something in a routine's language, and for MySQL's in its database.
    pub(in crate::routines) fn in_language<T>(
        &mut self,
        function: &StoredFunction,
        run: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        if function.definition.language != RoutineLanguage::Mysql {
            return run(self);
        }
        let outer = self.speak(Language::Mysql);
        let result = match self.known_schema().search_path.first() {
            Some(first) if *first == function.namespace => run(self),
            _ => self.under_settings(&[("search_path".to_owned(), vec![function.namespace.clone()])], run),
        };
        self.speak(outer);
        result
    }
}

impl Frame<'_, '_> {
    /// It is a routine of MySQL's.
    pub(super) fn is_mysql(&self) -> bool {
        self.compiled.function.definition.language == RoutineLanguage::Mysql
    }

    /// Runs a block with what it declares.
    pub(super) fn reacting_block(&mut self, block: &Block) -> Result<Flow> {
        self.declare(block)?;
        for number in &block.cursors {
            self.close_quietly(*number);
        }
        if block.reactions.is_empty() {
            return self.steps(&block.steps);
        }
        let depth = self.reacting.blocks.len();
        self.reacting.blocks.push((block.label.clone(), block.reactions.clone()));
        let flow = self.steps(&block.steps);
        self.reacting.blocks.truncate(depth);
        flow
    }

    fn close_quietly(&mut self, number: usize) {
        if let Some(cursor) = self.reacting.cursors.get_mut(number) {
            *cursor = None;
        }
    }

    /// A step has failed: what becomes of it.
    pub(super) fn react(&mut self, error: Error) -> Result<Flow> {
        if self.reacting.unhandled || ends_everything(&error) {
            return Err(error);
        }
        let what = told(&error);
        match self.handle(&what, &error)? {
            Some(flow) => Ok(flow),
            None => {
                self.reacting.unhandled = true;
                Err(error)
            }
        }
    }

    /// Runs the handler for a condition, of the innermost block that has one; `None` where no block has.
    fn handle(&mut self, what: &Told, error: &Error) -> Result<Option<Flow>> {
        let body = self.body.clone();
        for depth in (0..self.reacting.blocks.len()).rev() {
            let (label, reactions) = self.reacting.blocks[depth].clone();
            let closeness = |reaction: &Reaction| {
                reaction.conditions.iter().filter_map(|met| met.fits(what.code, &what.sqlstate)).max()
            };
            let fitting = body.reactions[reactions].iter().filter(|reaction| closeness(reaction).is_some());
            // Of several that fit alike the first counts.
            let Some(reaction) = fitting.rev().max_by_key(|reaction| closeness(reaction)) else { continue };
            // While a handler runs, it is the blocks around its own that are asked.
            let inner = self.reacting.blocks.split_off(depth);
            self.reacting.met = vec![what.clone()];
            self.reacting.handled.push((error.clone(), what.clone()));
            let flow = self.steps(&reaction.steps);
            self.reacting.handled.pop();
            self.reacting.blocks.extend(inner);
            return Ok(Some(match flow? {
                Flow::Next if reaction.exit => Flow::Exit(label),
                other => other,
            }));
        }
        Ok(None)
    }

    /// What is met without an error: a handler may be for it, else it is a warning.
    fn note(&mut self, error: Error) -> Result<Flow> {
        let what = told(&error);
        if let Some(flow) = self.handle(&what, &error)? {
            return Ok(flow);
        }
        self.reacting.met = vec![what];
        self.session.remark(error.with_severity(Severity::Warning));
        Ok(Flow::Next)
    }

    /// Runs a step.
    pub(super) fn mysql_step(&mut self, step: &MysqlStep) -> Result<Flow> {
        if !matches!(step, MysqlStep::Diagnostics { .. } | MysqlStep::Signal(_)) {
            self.reacting.met.clear();
        }
        match step {
            MysqlStep::Sql { sql, into: None } => self.mysql_sql(sql),
            MysqlStep::Sql { sql, into: Some(into) } => self.select_into(sql, into),
            MysqlStep::Open(number) => self.open_rows(*number).map(|()| Flow::Next),
            MysqlStep::Fetch(number, into) => self.fetch_row(*number, into).map(|()| Flow::Next),
            MysqlStep::Close(number) => {
                if self.reacting.cursors.get(*number).is_none_or(Option::is_none) {
                    return Err(own(1326, "24000", "Cursor is not open"));
                }
                self.close_quietly(*number);
                Ok(Flow::Next)
            }
            MysqlStep::Signal(signal) => self.signal(signal),
            MysqlStep::Diagnostics { stacked, asked } => self.tell(*stacked, asked).map(|()| Flow::Next),
        }
    }

    /// Runs a statement's plan; what it has done is undone alone where a handler may go on behind it.
    fn run_mysql(&mut self, sql: &Sql, becomes: &[Type]) -> Result<Outcome> {
        let (plan, values) = self.plan_for(sql, becomes)?;
        self.check_unused(&plan)?;
        let writes = plan.bound.effects.writes && matches!(plan.bound.statement, Ir::Dml(_) | Ir::Merge(_));
        self.session.routine_state().running.runs(Some(sql.clone()));
        if !writes || self.reacting.blocks.is_empty() || !self.session.is_within_statement() {
            return self.session.execute(&plan, &values);
        }
        self.session.begin_subtransaction()?;
        match self.session.execute(&plan, &values) {
            Ok(outcome) => {
                self.session.end_subtransaction()?;
                Ok(outcome)
            }
            Err(error) => {
                self.session.undo_subtransaction()?;
                Err(error)
            }
        }
    }

    /// `1442`: a function or trigger changes no table of the statement that has called it.
    fn check_unused(&self, plan: &Prepared) -> Result<()> {
        let Ir::Dml(dml) = &plan.bound.statement else { return Ok(()) };
        if !self.session.routine_state().is_used_around(dml.target.oid) {
            return Ok(());
        }
        let message = format!(
            "Can't update table '{}' in stored function/trigger because it is already used by statement which invoked \
             this stored function/trigger.",
            dml.target.name
        );
        Err(own(1442, "HY000", message))
    }

    /// A statement has changed so many rows, or read one into variables: what ROW_COUNT is, and what CALL tells in the end.
    fn counted(&mut self, rows: u64) {
        self.row_count = rows;
        self.session.routine_state().called.store(rows, Ordering::Relaxed);
    }

    /// A statement of SQL; what it yields goes to the client.
    fn mysql_sql(&mut self, sql: &Sql) -> Result<Flow> {
        let noted = self.session.notices_so_far();
        match self.run_mysql(sql, &[])? {
            Outcome::Done { rows, .. } => self.counted(rows),
            Outcome::Rows(mut cursor) => {
                self.session.check_answers_client()?;
                cursor.read_ahead()?;
                self.session.routine_state().answer(Answer { rows: cursor, outputs: false });
                self.counted(0);
            }
        }
        self.warned(noted)
    }

    /// Handlers of warnings are for those that a statement has given.
    fn warned(&mut self, noted: usize) -> Result<Flow> {
        let Some(warning) = self.session.warning_since(noted) else { return Ok(Flow::Next) };
        let what = told(&warning);
        self.reacting.met = vec![what.clone()];
        Ok(self.handle(&what, &warning)?.unwrap_or(Flow::Next))
    }

    /// The types of destinations, where all are variables of the routine.
    fn types_of(&self, into: &[Destination]) -> Vec<Type> {
        let of = |destination: &Destination| match destination {
            Destination::Place(place) => match &place.field {
                Some(field) => self.field(place.variable, field).map(|(_, ty)| ty),
                None => Some(self.slot_type(place.variable)),
            },
            Destination::User(_) => None,
        };
        into.iter().map(of).collect::<Option<Vec<Type>>>().unwrap_or_default()
    }

    /// SELECT … INTO.
    fn select_into(&mut self, sql: &Sql, into: &[Destination]) -> Result<Flow> {
        let types = self.types_of(into);
        let noted = self.session.notices_so_far();
        let Outcome::Rows(mut cursor) = self.run_mysql(sql, &types)? else {
            return Err(Error::internal("a query without rows"));
        };
        let shape = shape_of_cursor(&cursor);
        if shape.len() != into.len() {
            return Err(own(1222, "21000", "The used SELECT statements have a different number of columns"));
        }
        let Some(row) = next_row(&mut cursor)? else {
            drop(cursor);
            self.counted(0);
            return self.note(no_data());
        };
        let more = cursor.next()?.is_some();
        drop(cursor);
        if more {
            return Err(own(1172, "42000", "Result consisted of more than one row"));
        }
        self.counted(1);
        for ((destination, value), (_, ty)) in into.iter().zip(&row).zip(shape.iter()) {
            self.give(destination, value, ty)?;
        }
        self.warned(noted)
    }

    /// Gives a destination a value of a type.
    fn give(&mut self, destination: &Destination, value: &Value, ty: &Type) -> Result<()> {
        match destination {
            Destination::Place(place) => self.assign_place(place, value, ty),
            Destination::User(name) => self.session.set_user_variable(name, value, ty),
        }
    }

    /// OPEN: its rows are read now, so that what happens meanwhile does not change them.
    fn open_rows(&mut self, number: usize) -> Result<()> {
        if self.reacting.cursors.get(number).is_some_and(Option::is_some) {
            return Err(own(1325, "24000", "Cursor is already open"));
        }
        let body = self.body.clone();
        let declared = body.cursors.get(number).ok_or_else(|| Error::internal("a cursor that is not there"))?;
        let Outcome::Rows(mut cursor) = self.run_mysql(&declared.query, &[])? else {
            return Err(Error::internal("a cursor without rows"));
        };
        let shape = shape_of_cursor(&cursor);
        let mut rows = Spool::new(shape.len());
        while let Some(row) = next_row(&mut cursor)? {
            rows.push(row.iter().map(borrowed))?;
        }
        drop(cursor);
        let rows = rows.into_reader()?;
        if self.reacting.cursors.len() <= number {
            self.reacting.cursors.resize_with(number + 1, || None);
        }
        self.reacting.cursors[number] = Some(OpenCursor { shape, rows });
        Ok(())
    }

    /// FETCH.
    fn fetch_row(&mut self, number: usize, into: &[Destination]) -> Result<()> {
        let Some(Some(cursor)) = self.reacting.cursors.get_mut(number) else {
            return Err(own(1326, "24000", "Cursor is not open"));
        };
        if cursor.shape.len() != into.len() {
            return Err(own(1328, "HY000", "Incorrect number of FETCH variables"));
        }
        if !cursor.rows.advance()? {
            return Err(no_data());
        }
        let row: Vec<Value> = (0..cursor.rows.columns()).map(|at| cursor.rows.column(at).to_value()).collect();
        let shape = cursor.shape.clone();
        for ((destination, value), (_, ty)) in into.iter().zip(&row).zip(shape.iter()) {
            self.give(destination, value, ty)?;
        }
        Ok(())
    }

    /// What has come out of the parameters of a procedure goes into the variables that were given for them.
    pub(super) fn take_outputs(&mut self, sql: &Sql) -> Result<()> {
        let outputs = std::mem::take(&mut *self.session.routine_state().outputs.lock());
        for (names, value, ty) in outputs {
            let Some(target) = self.find_target(sql.scope, &names) else {
                return Err(own(1327, "42000", format!("Undeclared variable: {}", names.join("."))));
            };
            self.assign_place(&target, &value, &ty)?;
        }
        Ok(())
    }

    /// SIGNAL, RESIGNAL.
    fn signal(&mut self, signal: &Signal) -> Result<Flow> {
        let before = if signal.again { self.reacting.handled.last().cloned() } else { None };
        if signal.again && before.is_none() {
            return Err(own(1645, "0K000", "RESIGNAL when handler not active"));
        }
        let state = match (&signal.state, &before) {
            (Some(state), _) => state.clone(),
            (None, Some((_, before))) => before.sqlstate.clone(),
            (None, None) => "45000".to_owned(),
        };
        let (code, message) = match (state.get(..2), &before, &signal.state) {
            (_, Some((_, before)), None) => (before.code, before.message.clone()),
            (Some("01"), ..) => (1642, "Unhandled user-defined warning condition".to_owned()),
            (Some("02"), ..) => (1643, "Unhandled user-defined not found condition".to_owned()),
            _ => (1644, "Unhandled user-defined exception condition".to_owned()),
        };
        let condition = match (&before, &signal.state) {
            (Some((error, _)), None) => error.condition(),
            _ => Condition::RaiseException,
        };
        let mut error = Error::new(condition, message).with_mysql(code, "HY000").with_chosen_sqlstate(&state);
        for (item, sql) in &signal.items {
            let (value, ty) = self.evaluate_for(sql, None)?;
            if value == Value::Null {
                let word = Information::ALL.iter().find(|(_, known)| known == item).map_or("", |(word, _)| *word);
                let message = format!("Variable '{word}' can't be set to the value of 'NULL'");
                return Err(own(1231, "42000", message));
            }
            let text = rowferry_dialect::values::output(&value, &ty, &self.session.settings())?;
            match item {
                Information::Message => error.message = text,
                Information::Number => {
                    let number: u16 = text.parse().ok().filter(|number| *number > 0).ok_or_else(|| {
                        let message = format!("Variable 'MYSQL_ERRNO' can't be set to the value of '{text}'");
                        own(1231, "42000", message)
                    })?;
                    error = error.with_mysql(number, "HY000");
                }
                Information::Column => error.column = Some(text),
                Information::Constraint => error.constraint = Some(text),
                Information::Schema => error.schema = Some(text),
                Information::Table => error.table = Some(text),
                _ => {}
            }
        }
        if state.starts_with("01") {
            return self.note(error);
        }
        Err(error)
    }

    /// GET DIAGNOSTICS.
    fn tell(&mut self, stacked: bool, asked: &Asked) -> Result<()> {
        if stacked && self.reacting.handled.is_empty() {
            return Err(own(1887, "0Z002", "GET STACKED DIAGNOSTICS when handler not active"));
        }
        let handled = self.reacting.handled.last().cloned();
        let met = match (stacked, &handled) {
            (true, Some((_, what))) => vec![what.clone()],
            _ => self.reacting.met.clone(),
        };
        match asked {
            Asked::Statement(items) => {
                for (destination, item) in items {
                    let number = match item {
                        OfStatement::Number => met.len() as u64,
                        OfStatement::RowCount => self.row_count,
                    };
                    self.give(destination, &Value::Integer(number.cast_signed()), &Type::Int8)?;
                }
            }
            Asked::Condition(number, items) => {
                let number = self.evaluate_for(number, Some(&Type::Int8))?.0;
                let at = match number {
                    Value::Integer(number) => usize::try_from(number).ok().and_then(|number| number.checked_sub(1)),
                    _ => None,
                };
                let Some(what) = at.and_then(|at| met.get(at)) else {
                    return Err(own(1758, "35000", "Invalid condition number"));
                };
                let error = handled.map(|(error, _)| error);
                let of =
                    |field: fn(&Error) -> Option<&String>| error.as_ref().and_then(field).cloned().unwrap_or_default();
                for (destination, item) in items {
                    let text = match item {
                        Information::Message => what.message.clone(),
                        Information::State => what.sqlstate.clone(),
                        Information::Number => {
                            self.give(destination, &Value::Integer(what.code.into()), &Type::Int8)?;
                            continue;
                        }
                        Information::Column => of(|error| error.column.as_ref()),
                        Information::Constraint => of(|error| error.constraint.as_ref()),
                        Information::Schema => of(|error| error.schema.as_ref()),
                        Information::Table => of(|error| error.table.as_ref()),
                        Information::ClassOrigin | Information::SubclassOrigin => {
                            let standard = what.sqlstate.starts_with(|first: char| ('0'..='4').contains(&first))
                                && what.sqlstate != "45000";
                            if standard { "ISO 9075" } else { "MySQL" }.to_owned()
                        }
                        Information::Catalog | Information::ConstraintCatalog => "def".to_owned(),
                        Information::ConstraintSchema | Information::Cursor => String::new(),
                    };
                    self.give(destination, &Value::Text(text), &Type::Text)?;
                }
            }
        }
        Ok(())
    }

    /// The row of a trigger as its body has left it.
    pub(super) fn row_of_trigger(&self) -> Option<Vec<Value>> {
        let [new, old, ..] = self.body.trigger?;
        [new, old].into_iter().find_map(|slot| match &self.slots[slot] {
            Slot::Row { values, null: false, .. } => Some(values.clone()),
            _ => None,
        })
    }
}
