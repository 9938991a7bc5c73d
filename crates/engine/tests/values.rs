//! Values of every type under a session's settings, with the answers that PostgreSQL gave.
//!
//! The files in `values/` hold what those in `compiled/` hold (a statement, `----`, the answer of PostgreSQL 15 up to an
//! empty line). Each file is one session's, so that settings made by one statement hold for those behind it.
#![allow(clippy::disallowed_types, clippy::disallowed_methods, reason = "files are what is read")]

mod support;

use std::fmt::Write as _;
use std::path::Path;

use rowferry_engine::{Database, Outcome, Result, Session};
use support::{Fixture, postgres};

/// A statement's rows as PostgreSQL prints them.
fn answer(session: &mut Session, sql: &str) -> Result<String> {
    let mut out = String::new();
    let Some(plan) = session.prepare(sql, &[])? else { return Ok(out) };
    let settings = session.settings();
    if let Outcome::Rows(mut cursor) = session.execute(&plan, &[])? {
        let types: Vec<_> = cursor.columns().iter().map(|column| column.ty.clone()).collect();
        while let Some(row) = cursor.next()? {
            for (at, ty) in types.iter().enumerate() {
                if at > 0 {
                    out.push('|');
                }
                match row.get(at) {
                    rowferry_engine::ValueRef::Null => out.push_str("NULL"),
                    value => {
                        let mut text = Vec::new();
                        rowferry_dialect::values::write(&mut text, value, ty, &settings)?;
                        out.push_str(&String::from_utf8_lossy(&text));
                    }
                }
            }
            out.push('\n');
        }
    }
    Ok(out)
}

fn run(database: &Database, text: &str, name: &str, wrong: &mut String) -> usize {
    let mut session = postgres(database);
    answer(&mut session, "set timezone = 'Europe/Vienna'").unwrap();
    let mut count = 0;
    for case in text.split("\n\n").filter(|case| !case.trim().is_empty()) {
        let (sql, expected) = case.split_once("\n----").unwrap_or_else(|| panic!("{name}: no answer to {case}"));
        let expected = expected.trim_matches('\n');
        count += 1;
        let got = match answer(&mut session, sql) {
            Ok(rows) => rows,
            Err(error) => {
                session.fail();
                format!("ERROR {}", error.condition().sqlstate())
            }
        };
        if got.trim_end_matches('\n') != expected {
            let _ = write!(wrong, "[{name}] {sql}\n-- expected\n{expected}\n-- got\n{got}\n\n");
        }
    }
    count
}

#[test]
fn answers_are_those_of_postgres() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/values");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let (mut wrong, mut count) = (String::new(), 0);
    for file in files {
        let fixture = Fixture::new();
        let text = std::fs::read_to_string(&file).unwrap();
        count += run(&fixture.open(), &text, &file.file_stem().unwrap().to_string_lossy(), &mut wrong);
    }
    assert!(count > 0);
    assert!(wrong.is_empty(), "of {count} statements these answer otherwise:\n\n{wrong}");
}
