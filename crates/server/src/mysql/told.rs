//! What clients are told that only MySQL's SQL knows, and what they say to the door instead of to the SQL: one place for
//! all that the door asks of its language.

use rowferry_dialect::ir::{Body, DmlAction, InsertSource, Statement};
use rowferry_dialect::mysql::SQL_MODE;
use rowferry_dialect::mysql::variables::DEFAULT_MODES;
use rowferry_engine::{Command, Error, Language, Prepared, Result, Session, TransactionStatus};
use rowferry_wire_mysql::messages::status::status_flag;

use super::report;

/// The language of sessions.
pub(super) const LANGUAGE: Language = Language::Mysql;

/// What a login says of the session that follows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Beginning<'l> {
    /// The default database; empty for none.
    pub(super) database: &'l str,
    /// Affected rows are those that were found, not those that were changed.
    pub(super) counts_found: bool,
    /// Blanks may stand before the parenthesis of a function, as `sql_mode` then says.
    pub(super) ignores_space: bool,
}

/// Something of a session that has changed, for clients that want to be told.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Change {
    /// The default database.
    Schema(String),
    /// A system variable, as `SELECT @@name` shows it.
    Variable(&'static str, String),
}

/// A session begins.
pub(super) fn begin(session: &mut Session, beginning: &Beginning<'_>) -> Result<()> {
    session.count_found_rows(beginning.counts_found);
    if beginning.ignores_space {
        session.begin_with(SQL_MODE, &format!("IGNORE_SPACE,{DEFAULT_MODES}"));
    }
    match beginning.database {
        "" => Ok(()),
        name => use_database(session, name).map(drop),
    }
}

/// Makes a database the default one.
pub(super) fn use_database(session: &mut Session, name: &str) -> Result<Change> {
    session.use_mysql_database(name)?;
    Ok(Change::Schema(name.to_owned()))
}

/// The session is as after its login, but for its default database: that stays.
pub(super) fn reset(session: &mut Session) -> Result<()> {
    let database = session.mysql_database();
    session.reset();
    session.use_mysql_database(&database)
}

/// The flags of the session's status.
pub(super) fn status(session: &Session) -> u16 {
    let in_transaction = session.transaction_status() != TransactionStatus::Idle;
    let autocommit = if is_autocommit(session) { status_flag::AUTOCOMMIT } else { 0 };
    let transaction = if in_transaction { status_flag::IN_TRANSACTION } else { 0 };
    // By this clients know how to write strings.
    let strings = if session.mysql_modes().no_backslash_escapes { status_flag::NO_BACKSLASH_ESCAPES } else { 0 };
    autocommit | transaction | strings
}

/// The number that clients are told of a statement's rows; 0 for none.
pub(super) fn last_insert_id(session: &Session, plan: &Prepared) -> u64 {
    if !matches!(plan.bound.statement, Statement::Dml(_)) {
        return 0;
    }
    session.told_number().and_then(|number| u64::try_from(number).ok()).unwrap_or(0)
}

/// How many warnings the last statement has left.
pub(super) fn warnings(session: &mut Session) -> u16 {
    u16::try_from(session.drain_notices().len()).unwrap_or(u16::MAX)
}

/// Each statement commits by itself.
fn is_autocommit(session: &Session) -> bool {
    let is_on = |value: String| !matches!(value.to_ascii_lowercase().as_str(), "0" | "off");
    session.variable("mysql.autocommit").is_none_or(is_on)
}

/// What a client was told last of what may change.
#[derive(Clone, Debug)]
pub(super) struct Tracked {
    autocommit: bool,
}

impl Tracked {
    /// As the session begins.
    pub(super) fn of(session: &Session) -> Self {
        Self { autocommit: is_autocommit(session) }
    }

    /// What has changed since it was asked last.
    pub(super) fn changes(&mut self, session: &mut Session) -> Vec<Change> {
        // PostgreSQL's variables mean nothing to MySQL's clients.
        session.drain_reports();
        let autocommit = is_autocommit(session);
        if std::mem::replace(&mut self.autocommit, autocommit) == autocommit {
            return Vec::new();
        }
        vec![Change::Variable("autocommit", if autocommit { "ON" } else { "OFF" }.to_owned())]
    }
}

/// What people are told of a statement's success.
pub(super) fn info(session: &Session, plan: &Prepared, command: Command, rows: u64, warnings: u16) -> String {
    match command {
        Command::Update => {
            let matched = session.rows_matched().max(rows);
            let changed = session.rows_changed(rows);
            format!("Rows matched: {matched}  Changed: {changed}  Warnings: {warnings}")
        }
        Command::Insert => match given_rows(plan) {
            Some(1) => String::new(),
            given => {
                // A row that is replaced, or updated instead, counts twice; one that IGNORE passes over does not count.
                let given = given.unwrap_or(rows);
                let duplicates = given.abs_diff(rows);
                format!("Records: {given}  Duplicates: {duplicates}  Warnings: {warnings}")
            }
        },
        // No row was copied that anybody would be told of.
        Command::Utility("ALTER TABLE" | "CREATE INDEX" | "DROP INDEX") => {
            format!("Records: 0  Duplicates: 0  Warnings: {warnings}")
        }
        _ if matches!(plan.bound.statement, Statement::CreateTableAs(_)) => {
            format!("Records: {rows}  Duplicates: 0  Warnings: {warnings}")
        }
        _ => String::new(),
    }
}

/// How many rows stand in an INSERT; `None` where a query tells.
fn given_rows(plan: &Prepared) -> Option<u64> {
    let Statement::Dml(dml) = &plan.bound.statement else { return None };
    let DmlAction::Insert { source, .. } = &dml.action else { return None };
    match source {
        InsertSource::Values(rows) => Some(rows.len() as u64),
        InsertSource::Query(query) => match &query.body {
            Body::Values(rows) => Some(rows.len() as u64),
            _ => None,
        },
        InsertSource::Defaults => Some(1),
    }
}

pub(super) use rowferry_dialect::mysql::print::quoted;

/// There is no session of this number.
pub(super) fn unknown_thread(number: u32) -> Error {
    report::own(1094, "HY000", format!("Unknown thread id: {number}"))
}
