//! Queries as text.

use std::sync::Arc;

use rowferry_dialect::ir::{Statement, Value};
use rowferry_dialect::mysql::load_data::LoadData;
use rowferry_engine::{Answer, Command, Condition, Cursor, Error, Outcome, Prepared, mask_secrets};
use rowferry_wire_mysql::messages::handshake::capability;
use rowferry_wire_mysql::messages::status::{Ok as OkPacket, status_flag};

use super::{MysqlSession, Obeyed};
use crate::mysql::values::RowWriter;
use crate::mysql::{report, told};

/// A statement to run.
pub(super) struct Asked<'a> {
    pub(super) plan: &'a Arc<Prepared>,
    pub(super) values: &'a [Value],
    /// The text, where other texts share the plan.
    pub(super) text: Option<&'a Arc<str>>,
    /// Its rows are sent in binary.
    pub(super) binary: bool,
    /// Other statements of the same command follow.
    pub(super) more: bool,
}

impl MysqlSession<'_> {
    pub(super) fn query(&mut self, sql: &[u8]) -> Obeyed {
        let text = self.statement(sql)?;
        self.questions += 1;
        tracing::debug!(connection = self.wire.connection.number(), sql = &*mask_secrets(&text), "query");
        if let Some((plan, values)) = self.session.recall(&text) {
            let shared = (!values.is_empty()).then_some(&text);
            return self.run_statement(&Asked {
                plan: &plan,
                values: &values,
                text: shared,
                binary: false,
                more: false,
            });
        }
        if let Some(load) = LoadData::parse(&text)? {
            return self.load_data(&load);
        }
        if is_single(&text) {
            // What has come before need not be parsed.
            let plan = self.session.prepare(&text, &[])?.ok_or_else(empty)?;
            return self.run_plain(&plan, false);
        }
        let parsed = self.session.parse(&text)?;
        if parsed.is_empty() {
            return Err(empty().into());
        }
        if parsed.len() > 1 && !self.wire.server.has(capability::MULTI_STATEMENTS) {
            let near = parsed[1].text().trim_start();
            let message = format!("syntax error at or near \"{}\"", near.replace('"', "'"));
            return Err(Error::new(Condition::SyntaxError, message).into());
        }
        for (index, statement) in parsed.iter().enumerate() {
            let more = index + 1 < parsed.len();
            let plan = self.session.prepare_parsed(statement, &[])?;
            self.run_plain(&plan, more)?;
        }
        Ok(())
    }

    fn run_plain(&mut self, plan: &Arc<Prepared>, more: bool) -> Obeyed {
        if !plan.bound.params.is_empty() {
            return Err(Error::new(Condition::SyntaxError, "syntax error at or near \"?\"").into());
        }
        self.run_statement(&Asked { plan, values: &[], text: None, binary: false, more })
    }

    /// Runs a statement and sends its answer.
    pub(super) fn run_statement(&mut self, asked: &Asked<'_>) -> Obeyed {
        let outcome = self.session.execute_as(asked.plan, asked.values, asked.text);
        // What a procedure has had for the client before it failed the client is told, too.
        for answer in self.session.take_answers() {
            self.send_answer(answer, asked.binary)?;
        }
        match outcome? {
            Outcome::Rows(mut cursor) => {
                let writer = RowWriter::of(&mut self.session, cursor.plan(), cursor.columns(), asked.binary);
                self.wire.server.columns(&writer.definitions, told::status(&self.session), false);
                self.send_rows(&mut cursor, &writer, None)?;
                drop(cursor);
                self.session.end_implicit()?;
                self.end_of_rows(more_flag(asked.more));
            }
            Outcome::Done { command, rows } => {
                self.session.end_implicit()?;
                self.done(asked.plan, command, rows, asked.more);
            }
        }
        self.wire.relieve()?;
        Ok(())
    }

    /// Sends rows of a procedure; its own answer follows.
    fn send_answer(&mut self, answer: Answer, binary: bool) -> Obeyed {
        // Of prepared statements mysql2 for Node says nothing of its own, and reads all results.
        let several = self.wire.server.has(capability::MULTI_RESULTS);
        if !(several || binary && self.wire.server.has(capability::PS_MULTI_RESULTS)) {
            let message = "PROCEDURE can't return a result set in the given context";
            return Err(report::own(1312, "0A000", message).into());
        }
        let Answer { mut rows, outputs } = answer;
        if outputs && !self.wire.server.has(capability::PS_MULTI_RESULTS) {
            return Ok(());
        }
        let writer = RowWriter::of(&mut self.session, rows.plan(), rows.columns(), binary);
        let of_outputs = if outputs { status_flag::PS_OUT_PARAMS } else { 0 };
        let flags = more_flag(true) | of_outputs;
        self.wire.server.columns(&writer.definitions, told::status(&self.session) | flags, false);
        self.send_rows(&mut rows, &writer, None)?;
        let ok = self.ok(OkPacket { status: flags, ..OkPacket::default() });
        self.wire.server.end_of_rows(&ok);
        Ok(())
    }

    /// Tells that a statement without rows is done.
    fn done(&mut self, plan: &Prepared, command: Command, rows: u64, more: bool) {
        if let Some(name) = plan.used_database() {
            self.changed.push(told::Change::Schema(name.to_owned()));
        }
        let warnings = told::warnings(&mut self.session);
        let affected_rows = match command {
            Command::Select if matches!(plan.bound.statement, Statement::CreateTableAs(_)) => rows,
            // A query whose rows nobody sees has changed none.
            Command::Select => 0,
            // A database is one row.
            Command::Utility("CREATE SCHEMA") => 1,
            _ => rows,
        };
        self.send_ok(OkPacket {
            affected_rows,
            last_insert_id: told::last_insert_id(&self.session, plan),
            status: more_flag(more),
            warnings,
            info: told::info(&self.session, plan, command, rows, warnings),
            state: Vec::new(),
        });
    }

    pub(super) fn end_of_rows(&mut self, flags: u16) {
        let warnings = told::warnings(&mut self.session);
        let ok = self.ok(OkPacket { status: flags, warnings, ..OkPacket::default() });
        self.wire.server.end_of_rows(&ok);
    }

    /// Sends rows: true when the cursor is at its end, false when `limit` was reached before.
    pub(super) fn send_rows(&mut self, cursor: &mut Cursor, writer: &RowWriter, limit: Option<u64>) -> Obeyed<bool> {
        if cursor.columns().len() != writer.definitions.len() {
            // The client was told of other columns.
            return Err(Error::stale_plan().into());
        }
        let settings = cursor.shown().unwrap_or_else(|| self.session.settings());
        let mut rows = 0;
        loop {
            if limit == Some(rows) {
                return Ok(false);
            }
            let Some(row) = cursor.next()? else {
                self.session.rows_yielded(rows);
                return Ok(true);
            };
            rows += 1;
            let mut cells = self.wire.server.row();
            if let Err((index, error)) = writer.write(&mut cells, &row, &settings) {
                drop(cells);
                drop(row);
                let name = cursor.columns()[index].name.clone();
                let place = format!("{} (row {rows} of the result, column {name})", error.message);
                return Err(Error::new(error.condition(), place).into());
            }
            cells.finish();
            drop(row);
            self.wire.relieve()?;
        }
    }
}

/// True for a text that cannot be several statements.
fn is_single(text: &str) -> bool {
    !text.trim_end_matches(|letter: char| letter == ';' || letter.is_whitespace()).contains(';')
}

fn empty() -> Error {
    report::own(1065, "42000", "Query was empty")
}

pub(super) fn more_flag(more: bool) -> u16 {
    if more { status_flag::MORE_RESULTS } else { 0 }
}
