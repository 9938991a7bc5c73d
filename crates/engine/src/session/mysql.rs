//! What statements of MySQL's do besides: some are several of ours, definitions commit, and without autocommit the first
//! statement begins a transaction.

use std::sync::Arc;

use rowferry_dialect::ir::{DmlAction, Expr, ExprKind, InsertSource, Statement as Ir, TransactionModes, Value, walk};
use rowferry_dialect::mysql::{self, Control};
use rowferry_dialect::plan::Command;
use rowferry_dialect::schema::QualifiedName;
use rowferry_dialect::{Condition, Error, Result, Schema as _};

use super::parsed::Parsed;
use super::state::Told;
use super::transaction::Block;
use super::{Outcome, Prepared, Session};

/// The setting behind `autocommit`.
const AUTOCOMMIT: &str = "mysql.autocommit";

impl Session {
    /// Runs a statement of MySQL's.
    pub(super) fn execute_mysql(
        &mut self,
        prepared: &Arc<Prepared>,
        params: &[Value],
        text: Option<&Arc<str>>,
    ) -> Result<Outcome> {
        let statement = prepared.parsed.postgres();
        let parts = statement.map(|statement| statement.then().to_vec()).unwrap_or_default();
        let silent = statement.is_some_and(|statement| statement.is_silent());
        let defines = !parts.is_empty() || matches!(prepared.bound.statement, Ir::Ddl(_) | Ir::CreateTableAs(_));
        if defines && !self.inner && self.transaction.block == Block::Explicit {
            self.end_commit()?;
        } else if self.transaction.block == Block::None && self.begins_by_itself(prepared) {
            self.begin(TransactionModes::default())?;
        }
        if self.transaction.block == Block::None
            && matches!(prepared.bound.statement, Ir::Query(_) | Ir::Dml(_))
            && !silent
        {
            // The statement was the transaction.
            self.next_modes = TransactionModes::default();
        }
        match statement.and_then(|statement| statement.control().cloned()) {
            Some(Control::Use(database)) => self.use_mysql_database(&database)?,
            Some(Control::Kill { number, query }) => self.kill(number, query)?,
            None => {}
        }
        let before = {
            let mut sequences = self.state.sequences.lock();
            sequences.told = None;
            sequences.serial
        };
        if parts.is_empty() {
            let outcome = self.execute_one(prepared, params, text)?;
            if let Outcome::Done { command: Command::Insert | Command::Update | Command::Delete, rows } = &outcome {
                self.routine_state().set_rows_processed(*rows);
                self.first_of_numbered(prepared, params, *rows, before);
            }
            return if silent { silenced(outcome) } else { Ok(outcome) };
        }
        self.as_one_transaction(|session| {
            let mut last = Outcome::Done { command: Command::Utility(""), rows: 0 };
            for part in &parts {
                if part.unless().is_some_and(|name| session.has_mysql_type(name)) {
                    continue;
                }
                let plan = session.prepare_parsed(&Parsed::of_part(part), &[])?;
                last = silenced(session.execute_one(&plan, &[], text)?)?;
            }
            Ok(last)
        })
    }

    /// LAST_INSERT_ID is the number that the first of the rows gave itself, and what it was where all were given theirs.
    fn first_of_numbered(&self, prepared: &Prepared, params: &[Value], rows: u64, before: Option<i64>) {
        let Ir::Dml(dml) = &prepared.bound.statement else { return };
        let DmlAction::Insert { columns, source, on_conflict } = &dml.action else { return };
        let mut sequences = self.state.sequences.lock();
        let Some(Told::Row(last)) = sequences.told else { return };
        if rows == 0 {
            (sequences.serial, sequences.told) = (before, None);
            return;
        }
        let numbered = dml.target.columns.iter().position(|column| column.row_identity && column.identity.is_some());
        if on_conflict.is_some() || prepared.triggers.is_some() || numbered.is_none() {
            return;
        }
        let at = numbered.and_then(|numbered| columns.iter().position(|column| *column == numbered));
        // Of those at the end, how many were not given a number.
        let own = match (source, at) {
            (_, None) => rows,
            (InsertSource::Values(all), Some(at)) => {
                let own = |row: &&Vec<Expr>| row.get(at).is_none_or(|value| asks_for_number(value, params));
                all.iter().rev().take_while(own).count() as u64
            }
            _ => return,
        };
        match own.checked_sub(1).and_then(|before| i64::try_from(before).ok()) {
            Some(before) => {
                sequences.serial = Some(last - before);
                sequences.told = Some(Told::Row(last - before));
            }
            None => sequences.serial = before,
        }
    }

    /// The number that clients are told of the last statement's rows: what LAST_INSERT_ID(n) said, the one that the first
    /// gave itself, or the one that the last was given.
    pub fn told_number(&self) -> Option<i64> {
        self.state.sequences.lock().told.map(|(Told::Said(number) | Told::Row(number))| number)
    }

    /// KILL.
    ///
    /// # Errors
    /// `42704` (1094) where there is no such session, `42501` where it is another user's.
    fn kill(&self, number: u64, query: bool) -> Result<()> {
        let known = u32::try_from(number).ok();
        let found = match known {
            Some(number) if query => self.cancel_other(number)?,
            Some(number) => self.end_other(number)?,
            None => false,
        };
        if found {
            return Ok(());
        }
        let message = format!("Unknown thread id: {number}");
        Err(Error::new(Condition::UndefinedObject, message).with_mysql(1094, "HY000"))
    }

    /// USE: names without a database are looked for there. The file's own database is called as the file.
    ///
    /// # Errors
    /// `3D000` (1049) for one that is not there.
    pub fn use_mysql_database(&mut self, name: &str) -> Result<()> {
        self.refresh_schema();
        let schema = if name.eq_ignore_ascii_case(self.database.name()) { "public" } else { name };
        // Those that every server has.
        let is_own = matches!(schema, "mysql" | "information_schema" | "performance_schema" | "sys");
        if !is_own && !self.schema.has_namespace(schema) {
            return Err(Error::new(Condition::InvalidCatalogName, format!("Unknown database '{name}'")));
        }
        let path = rowferry_dialect::postgres::quote_ident(schema);
        self.state.variables.write().set("search_path", Some(&path), false)?;
        self.sync_variables();
        Ok(())
    }

    /// Without autocommit, what reads or writes begins a transaction.
    fn begins_by_itself(&self, prepared: &Prepared) -> bool {
        let off = |value: String| matches!(value.to_ascii_lowercase().as_str(), "0" | "off");
        !self.inner
            && matches!(prepared.bound.statement, Ir::Query(_) | Ir::Dml(_))
            && self.state.variables.read().get(AUTOCOMMIT).is_some_and(off)
            && !prepared.parsed.postgres().is_some_and(|statement| statement.is_silent())
    }

    /// A type of MySQL's is there; the schema of them all, for no name.
    fn has_mysql_type(&self, name: &str) -> bool {
        match name {
            "" => self.schema.has_namespace(mysql::types::SCHEMA),
            name => self.schema.user_type(&QualifiedName::new(mysql::types::SCHEMA, name)).is_some(),
        }
    }
}

impl Prepared {
    /// The database that becomes the session's when it runs: USE of MySQL's.
    pub fn used_database(&self) -> Option<&str> {
        match self.parsed.postgres()?.control()? {
            Control::Use(database) => Some(database),
            Control::Kill { .. } => None,
        }
    }
}

/// A value of a column that numbers itself leaves it to do so.
fn asks_for_number(value: &Expr, params: &[Value]) -> bool {
    let ExprKind::Numbered { given, .. } = &value.kind else { return true };
    let Some(given) = given else { return true };
    let mut asks = false;
    walk::expr(given, &mut |part| {
        if let ExprKind::Param(number) = &part.kind {
            asks |= match params.get(*number) {
                None | Some(Value::Null | Value::Integer(0)) => true,
                Some(Value::Text(text)) => text.trim() == "0",
                Some(_) => false,
            };
        }
        true
    });
    asks
}

/// An outcome without the rows.
fn silenced(outcome: Outcome) -> Result<Outcome> {
    match outcome {
        Outcome::Rows(mut cursor) => {
            while cursor.next()?.is_some() {}
            Ok(Outcome::Done { command: Command::Utility(""), rows: 0 })
        }
        done => Ok(done),
    }
}
