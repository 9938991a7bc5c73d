//! Statements: prepared, described, bound, executed.

use std::sync::Arc;

use rowferry_dialect::informix;
use rowferry_dialect::ir::{self, Value};
use rowferry_engine::{Condition, Error, Outcome, Prepared, ResultColumn, Type, ValueRef, mask_secrets, smart_objects};
use rowferry_wire_sqli::StatementType;
use rowferry_wire_sqli::messages::{
    Describe, Done, GeneratedKeys, InputDescribe, InsertDone, Param, ServerMessage, SqlText, StatementId, Tuple,
};

use super::{Commands, Failure, Next, Obeyed, Pending, Resume};
use crate::Ending;
use crate::sqli::cursor::Statement;
use crate::sqli::values::{Bound, RowContext, WireColumn, bound, description, encode_cell, wire_code};

impl Commands {
    pub(super) fn statement(&mut self) -> Obeyed<&mut Statement> {
        let current = self.current;
        self.statements.get(current).ok_or_else(|| {
            Error::new(Condition::InvalidSqlStatementName, format!("there is no statement {current}")).into()
        })
    }

    /// Prepares a text; yields the statement's number, which is the current one from then on.
    pub(super) fn prepare(&mut self, text: SqlText<'_>) -> Obeyed<usize> {
        let sql = self.code_set.decode_sql(text.sql);
        tracing::debug!(sql = &*mask_secrets(&sql), "prepare");
        let mut parsed = if self.delimited { informix::parse_delimited(&sql) } else { informix::parse(&sql) }?;
        let parts: Vec<String> = match parsed.len() {
            0 | 1 => Vec::new(),
            _ => parsed.iter().map(|part| part.text().to_owned()).collect(),
        };
        for part in parsed.iter().take(parts.len()) {
            if part.control().is_some() || part.params() > 0 || matches!(part.statement_type(), 2 | 56) {
                let message = "among several statements: a query, a parameter, or a change of the database";
                return Err(Error::unsupported(message).into());
            }
        }
        let Some(statement) = parsed.drain(..).next() else {
            return Err(Error::new(Condition::SyntaxError, "the statement is empty").at(1).into());
        };
        let control = statement.control();
        let (code_set, widths) = (self.code_set, self.server.widths());
        let prepared = match &control {
            Some(_) => None,
            // What later ones mean may depend on what earlier ones do.
            None if !parts.is_empty() => None,
            None => self.session()?.prepare(&sql, &[])?,
        };
        let described = prepared.as_ref().map(|prepared| informix::described(&prepared.bound)).unwrap_or_default();
        let columns = described
            .iter()
            .map(|column| WireColumn::new(column, code_set, widths))
            .collect::<Result<Arc<[_]>, Error>>()?;
        let id = self.statements.insert(Statement {
            kind: statement.statement_type(),
            control,
            parts,
            prepared,
            columns,
            keys: None,
            for_update: statement.for_update(),
            requested: None,
            bound: Vec::new(),
            cursor_name: None,
            positioned: false,
            putting: None,
            scroll: false,
            hold: false,
            cursor: None,
            auto_free: false,
        });
        if let Some(id) = id
            && let Some(statement) = self.statements.get(id)
        {
            statement.positioned =
                statement.prepared.as_ref().is_some_and(|prepared| informix::has_position(&prepared.bound));
        }
        let Some(id) = id else {
            return Err(Error::new(Condition::InsufficientResources, "too many prepared statements").into());
        };
        self.current = id;
        Ok(id)
    }

    pub(super) fn describe(&mut self) -> Obeyed {
        let id = StatementId(i16::try_from(self.current).unwrap_or(i16::MAX));
        let statement = self.statement()?;
        let kind = StatementType(statement.kind as u16);
        let columns = statement.columns.clone();
        let described = columns.iter().map(|column| (&column.name[..], column.description(), column.declared_width()));
        let message = ServerMessage::Describe(Describe::of_columns(kind, id, described));
        self.send(&message);
        self.describe_keys()
    }

    /// What the client wants of the keys that the current INSERT makes: of its one column that numbers itself.
    pub(super) fn want_keys(&mut self, wanted: &GeneratedKeys<'_>) -> Obeyed {
        let (code_set, widths) = (self.code_set, self.server.widths());
        let statement = self.statement()?;
        let Some(ir::Statement::Dml(dml)) = statement.prepared.as_ref().map(|prepared| &prepared.bound.statement)
        else {
            return Ok(());
        };
        if statement.kind != INSERT {
            return Ok(());
        }
        let columns = &dml.target.columns;
        let serial = columns.iter().position(|column| column.identity.is_some());
        let asked: Vec<usize> = match wanted {
            GeneratedKeys::All => serial.into_iter().collect(),
            GeneratedKeys::Numbers(numbers) => numbers
                .iter()
                .map(|number| {
                    let at = usize::try_from(*number).ok().and_then(|number| number.checked_sub(1));
                    at.filter(|at| *at < columns.len()).ok_or_else(|| no_column(&number.to_string()))
                })
                .collect::<Result<_, Error>>()?,
            GeneratedKeys::Names(names) => names
                .iter()
                .map(|name| {
                    let name = code_set.decode(name)?;
                    columns
                        .iter()
                        .position(|column| column.name.eq_ignore_ascii_case(&name))
                        .ok_or_else(|| no_column(&name))
                })
                .collect::<Result<_, Error>>()?,
        };
        if asked.iter().any(|at| Some(*at) != serial) {
            return Err(Error::unsupported("a generated key of a column that is no SERIAL").into());
        }
        let described = asked.iter().map(|at| {
            let column = &columns[*at];
            let shown = ResultColumn {
                name: column.name.clone(),
                ty: column.ty.clone(),
                origin: Some((dml.target.oid, *at)),
                not_null: true,
                identity: true,
                listed: None,
            };
            WireColumn::new(&shown, code_set, widths)
        });
        let keys: Arc<[WireColumn]> = described.collect::<Result<_, Error>>()?;
        self.statement()?.keys = (!keys.is_empty()).then_some(keys);
        Ok(())
    }

    /// Describes the keys that are wanted, if any.
    pub(super) fn describe_keys(&mut self) -> Obeyed {
        let id = StatementId(i16::try_from(self.current).unwrap_or(i16::MAX));
        let statement = self.statement()?;
        let Some(keys) = statement.keys.clone() else { return Ok(()) };
        let kind = StatementType(statement.kind as u16);
        let described = keys.iter().map(|column| (&column.name[..], column.description(), column.declared_width()));
        let message = ServerMessage::KeyDescribe(Describe::of_columns(kind, id, described));
        self.send(&message);
        Ok(())
    }

    /// Sends the keys of the row that was inserted last.
    fn send_keys(&mut self, keys: &[WireColumn], serial: i64) -> Obeyed {
        let mut payload = Vec::new();
        let mut context = RowContext {
            code_set: self.code_set,
            widths: self.server.widths(),
            objects: &mut self.objects,
            statement: self.current,
            session: None,
        };
        for column in keys {
            encode_cell(column, column.format, ValueRef::Integer(serial), &mut context, &mut payload)?;
        }
        self.send(&ServerMessage::KeyTuple(Tuple { warnings: 0, payload: &payload }));
        Ok(())
    }

    pub(super) fn describe_input(&mut self) -> Obeyed {
        let statement = self.statement()?;
        let mut types: Vec<Type> =
            statement.prepared.as_ref().map(|prepared| prepared.bound.params.clone()).unwrap_or_default();
        if statement.prepared.as_ref().is_some_and(|prepared| informix::current_of(&prepared.bound).is_some()) {
            // The row where a cursor stands is for us to know.
            types.pop();
        }
        let codes: Vec<_> = types.iter().map(|ty| wire_code(ty, false)).collect();
        let params = codes.iter().map(|code| description(code, false)).collect();
        self.send(&ServerMessage::InputDescribe(InputDescribe { params }));
        Ok(())
    }

    pub(super) fn bind(&mut self, params: &[Param<'_>]) -> Obeyed {
        let code_set = self.code_set;
        let values =
            params.iter().map(|param| bound(param, code_set, &self.objects)).collect::<Result<Vec<Bound>, Error>>()?;
        self.statement()?.bound = values;
        Ok(())
    }

    /// The next of the bound BYTE and TEXT values has come.
    pub(super) fn value(&mut self, bytes: Vec<u8>) -> Obeyed {
        let code_set = self.code_set;
        let Some(value) = self.statement()?.bound.iter_mut().find(|value| value.awaits_data) else {
            return Err(Error::new(Condition::ProtocolViolation, "more data than bound values").into());
        };
        value.value =
            if value.ty == Type::TextBlob { Value::Text(code_set.decode(&bytes)?) } else { Value::Blob(bytes) };
        value.awaits_data = false;
        Ok(())
    }

    /// The bound values in the forms that the statement's parameters have.
    pub(super) fn arguments(&mut self) -> Obeyed<(Arc<Prepared>, Vec<Value>)> {
        let (code_set, dates) = (self.code_set, self.dates);
        let statement = self.statement()?;
        let Some(prepared) = statement.prepared.clone() else {
            return Err(Error::internal("a statement of the door's own has no plan").into());
        };
        let positions = usize::from(informix::current_of(&prepared.bound).is_some());
        let wanted = &prepared.bound.params[..prepared.bound.params.len() - positions];
        if wanted.len() != statement.bound.len() {
            let (needed, given) = (wanted.len(), statement.bound.len());
            let message = format!("the statement has {needed} parameters, but {given} values are bound");
            return Err(Error::new(Condition::TooFewParameters, message).into());
        }
        let mut values = statement
            .bound
            .iter()
            .zip(wanted)
            .map(|(value, ty)| value.stored(ty, code_set, dates))
            .collect::<Result<Vec<_>, Error>>()?;
        if let Some(cursor) = informix::current_of(&prepared.bound) {
            values.push(Value::Integer(self.position(cursor)?));
        }
        Ok((prepared, values))
    }

    /// The rowid of the row where a cursor stands.
    fn position(&mut self, name: &str) -> Obeyed<i64> {
        let Some(statement) = self.statements.by_cursor(name) else {
            return Err(Error::new(Condition::InvalidCursorName, format!("cursor {name} is not known"))
                .table("", name)
                .into());
        };
        let Some(cursor) = &statement.cursor else { return Err(Self::not_open()) };
        if !cursor.is_positioned() {
            let message = "the cursor's query is not FOR UPDATE of one table";
            return Err(Error::new(Condition::InvalidCursorDefinition, message).into());
        }
        cursor.position.ok_or_else(|| {
            Error::new(Condition::NoCurrentRow, format!("cursor {name} stands at no row")).table("", name).into()
        })
    }

    pub(super) fn resume(&mut self, resume: Resume) -> Result<Next, Ending> {
        let result = match resume {
            Resume::Execute => self.execute(),
            Resume::Open => self.open_cursor(),
        };
        match result {
            Ok(next) => Ok(next),
            Err(Failure::Error(error)) => {
                self.failed(&error);
                Ok(Next::Go)
            }
            Err(Failure::End(ending)) => Err(ending),
        }
    }

    pub(super) fn execute(&mut self) -> Obeyed<Next> {
        let statement = self.statement()?;
        if statement.is_query() {
            return Err(Error::new(Condition::DuplicateCursor, "a SELECT statement cannot be executed; open it").into());
        }
        if let Some(control) = statement.control.clone() {
            self.control(&control)?;
            return Ok(Next::Go);
        }
        if !statement.parts.is_empty() {
            let parts = statement.parts.clone();
            return self.execute_parts(&parts);
        }
        let kind = statement.kind;
        match statement.prepared.as_ref().map(|prepared| &prepared.bound.statement) {
            Some(ir::Statement::Transaction(ir::Transaction::Begin(_))) => {
                self.begin(true)?;
                return Ok(Next::Go);
            }
            Some(ir::Statement::Transaction(ir::Transaction::Commit { .. })) => {
                self.commit()?;
                return Ok(Next::Go);
            }
            Some(ir::Statement::Transaction(ir::Transaction::Rollback { .. })) => {
                self.rollback()?;
                return Ok(Next::Go);
            }
            _ => {}
        }
        let (prepared, values) = self.arguments()?;
        self.begin_if_ansi()?;
        let outcome = match self.session()?.execute(&prepared, &values) {
            Ok(outcome) => outcome,
            Err(error) => return wanted_file(error, Resume::Execute),
        };
        self.log_remarks()?;
        let rows = match outcome {
            Outcome::Done { rows, .. } => rows,
            // A routine without described columns still returns something, which nobody wants.
            Outcome::Rows(cursor) => cursor.rows_affected(),
        };
        let mut done = Done { rows: i64::try_from(rows).unwrap_or(i64::MAX), ..Done::default() };
        if kind == INSERT {
            let serial = if rows > 0 { self.session()?.last_serial().unwrap_or(0) } else { 0 };
            let mut inserted = InsertDone::default();
            match self.identity_type() {
                Some(Type::IfxInt8) => inserted.serial8 = Some(serial),
                Some(Type::Int8) => inserted.bigserial = serial,
                Some(_) => done.serial = i32::try_from(serial).unwrap_or(0),
                None => {}
            }
            inserted.serial8.get_or_insert(0);
            let keys = self.statement()?.keys.clone();
            if let (Some(keys), true) = (keys, rows > 0) {
                self.send_keys(&keys, serial)?;
            }
            self.send(&ServerMessage::InsertDone(inserted));
        }
        self.send(&ServerMessage::Done(done));
        Ok(Next::Go)
    }

    /// Several statements at once, up to the first that fails.
    /// What a statement has been passed over for is logged: the wire has no words for it.
    fn log_remarks(&mut self) -> Obeyed {
        for remark in self.session()?.drain_notices() {
            tracing::info!(remark = %remark.message, "said to an Informix client, who cannot be told");
        }
        Ok(())
    }

    fn execute_parts(&mut self, parts: &[String]) -> Obeyed<Next> {
        let mut rows = 0;
        self.begin_if_ansi()?;
        for part in parts {
            let Some(prepared) = self.session()?.prepare(part, &[])? else { continue };
            if let ir::Statement::Transaction(
                ir::Transaction::Begin(_) | ir::Transaction::Commit { .. } | ir::Transaction::Rollback { .. },
            ) = &prepared.bound.statement
            {
                return Err(Error::unsupported("BEGIN, COMMIT or ROLLBACK among several statements").into());
            }
            rows = match self.session()?.execute(&prepared, &[])? {
                Outcome::Done { rows, .. } => rows,
                Outcome::Rows(cursor) => cursor.rows_affected(),
            };
        }
        self.send(&ServerMessage::Done(Done { rows: i64::try_from(rows).unwrap_or(i64::MAX), ..Done::default() }));
        Ok(Next::Go)
    }

    /// The type of the column of an INSERT's table that numbers itself.
    pub(super) fn identity_type(&mut self) -> Option<Type> {
        let current = self.current;
        let prepared = self.statements.get(current)?.prepared.clone()?;
        let rowferry_dialect::ir::Statement::Dml(dml) = &prepared.bound.statement else { return None };
        dml.target.columns.iter().find(|column| column.identity.is_some()).map(|column| column.ty.clone())
    }
}

/// Informix's number for an INSERT.
const INSERT: i16 = 6;

fn no_column(name: &str) -> Error {
    Error::new(Condition::UndefinedColumn, format!("column {name} is not in the table")).column(name)
}

/// A statement that failed because it wants a file of the client's is run again once the file is there.
pub(super) fn wanted_file(error: Error, resume: Resume) -> Obeyed<Next> {
    match smart_objects::with(smart_objects::SmartObjects::take_wanted) {
        Some(name) => Ok(Next::Files(Pending::Read(name, resume))),
        None => Err(error.into()),
    }
}
