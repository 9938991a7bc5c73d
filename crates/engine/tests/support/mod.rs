//! What the engine's tests share.
#![allow(dead_code, reason = "each test uses a part of it")]

pub mod answers;
pub mod cases;

use std::path::PathBuf;

use rowferry_engine::ir::Value;
use rowferry_engine::{Database, Error, Language, Options, Outcome, Result, Session, SessionOptions, ValueRef};

/// A database in a directory of its own.
pub struct Fixture {
    pub directory: tempfile::TempDir,
    pub path: PathBuf,
}

impl Fixture {
    pub fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("store.db");
        Self { directory, path }
    }

    pub fn open(&self) -> Database {
        self.open_with(Options { create: true, ..Options::default() })
    }

    pub fn open_with(&self, options: Options) -> Database {
        Database::open(&self.path, options).unwrap()
    }

    /// The file through SQLite alone, as somebody else sees it.
    pub fn outside(&self) -> rusqlite::Connection {
        rusqlite::Connection::open(&self.path).unwrap()
    }
}

pub fn postgres(database: &Database) -> Session {
    database.session(SessionOptions::new("ada", Language::Postgres))
}

pub fn informix(database: &Database) -> Session {
    database.session(SessionOptions::new("ada", Language::Informix))
}

pub fn mysql(database: &Database) -> Session {
    database.session(SessionOptions::new("ada", Language::Mysql))
}

/// What a test asks of a session.
pub trait Ask {
    /// Runs a text; rows as texts, joined by `|`; the number of changed rows for other statements.
    fn ask(&mut self, sql: &str) -> Result<Vec<String>>;
    /// Runs a text that must work.
    fn run(&mut self, sql: &str) -> Vec<String>;
    /// The SQLSTATE with which a text fails.
    fn fails(&mut self, sql: &str) -> String;
    /// The error with which a text fails.
    fn error(&mut self, sql: &str) -> Error;
}

impl Ask for Session {
    fn ask(&mut self, sql: &str) -> Result<Vec<String>> {
        ask_with(self, sql, &[])
    }

    fn run(&mut self, sql: &str) -> Vec<String> {
        self.ask(sql).unwrap_or_else(|error| panic!("{sql}: {error} ({error:?})"))
    }

    fn fails(&mut self, sql: &str) -> String {
        self.error(sql).condition().sqlstate().to_owned()
    }

    fn error(&mut self, sql: &str) -> Error {
        match self.ask(sql) {
            Ok(rows) => panic!("{sql} should fail, yields {rows:?}"),
            Err(error) => error,
        }
    }
}

/// As a door does it: a failure aborts the transaction wherever it comes from.
pub fn ask_with(session: &mut Session, sql: &str, params: &[Value]) -> Result<Vec<String>> {
    let result = try_ask(session, sql, params);
    if result.is_err() {
        session.fail();
    }
    result
}

fn try_ask(session: &mut Session, sql: &str, params: &[Value]) -> Result<Vec<String>> {
    let Some(plan) = session.prepare(sql, &[])? else { return Ok(Vec::new()) };
    match session.execute(&plan, params)? {
        Outcome::Done { rows, .. } => Ok(vec![rows.to_string()]),
        Outcome::Rows(mut cursor) => {
            let mut lines = Vec::new();
            while let Some(row) = cursor.next()? {
                let values: Vec<String> = (0..row.len()).map(|column| shown(row.get(column))).collect();
                lines.push(values.join("|"));
            }
            Ok(lines)
        }
    }
}

pub fn shown(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::Null => "NULL".into(),
        ValueRef::Integer(value) => value.to_string(),
        ValueRef::Real(value) => value.to_string(),
        ValueRef::Text(text) => String::from_utf8_lossy(text).into_owned(),
        ValueRef::Blob(bytes) => format!("{bytes:?}"),
    }
}
