//! Triggers, with what PostgreSQL 15 answered to the same statements.
//!
//! The files in `triggers/` hold a statement, `----`, and the answer: notices, rows, or the error with its detail and
//! hint, up to an empty line. Each file is one session's.
#![allow(clippy::disallowed_types, clippy::disallowed_methods, reason = "files are what is read")]

mod support;

use std::fmt::Write as _;
use std::path::Path;

use rowferry_engine::{Outcome, Result, Session, ValueRef};
use support::{Ask, Fixture, informix, postgres};

/// A statement's rows as PostgreSQL prints them.
fn rows(session: &mut Session, sql: &str) -> Result<String> {
    let mut out = String::new();
    let Some(plan) = session.prepare(sql, &[])? else { return Ok(out) };
    if let Outcome::Rows(mut cursor) = session.execute(&plan, &[])? {
        let settings = session.settings();
        let types: Vec<_> = cursor.columns().iter().map(|column| column.ty.clone()).collect();
        while let Some(row) = cursor.next()? {
            for (at, ty) in types.iter().enumerate() {
                out.push_str(if at > 0 { "|" } else { "" });
                match row.get(at) {
                    ValueRef::Null => out.push_str("NULL"),
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

/// Notices, and rows or the error.
fn answer(session: &mut Session, sql: &str) -> String {
    let result = rows(session, sql);
    let mut out = String::new();
    for notice in session.drain_notices() {
        let severity = if notice.condition().sqlstate().starts_with("01") { "WARNING" } else { "NOTICE" };
        let _ = writeln!(out, "{severity}: {}", notice.message);
    }
    match result {
        Ok(rows) => out.push_str(&rows),
        Err(error) => {
            session.fail();
            let _ = writeln!(out, "ERROR {} {}", error.condition().sqlstate(), error.message);
            if let Some(detail) = &error.detail {
                let _ = writeln!(out, "DETAIL {}", detail.replace('\n', " / "));
            }
            if let Some(hint) = &error.hint {
                let _ = writeln!(out, "HINT {hint}");
            }
        }
    }
    out
}

#[test]
fn triggers_do_as_those_of_postgres() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/triggers");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let (mut wrong, mut count) = (String::new(), 0);
    for file in files {
        let fixture = Fixture::new();
        let mut session = postgres(&fixture.open());
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&file).unwrap();
        for case in text.split("\n\n").filter(|case| !case.trim().is_empty()) {
            let (sql, expected) = case.split_once("\n----").unwrap_or_else(|| panic!("{name}: no answer to {case}"));
            let got = answer(&mut session, sql);
            count += 1;
            if got.trim_matches('\n') != expected.trim_matches('\n') {
                let _ =
                    write!(wrong, "[{name}] {sql}\n-- expected\n{}\n-- got\n{got}\n\n", expected.trim_matches('\n'));
            }
        }
    }
    assert!(count > 0);
    assert!(wrong.is_empty(), "of {count} statements these answer otherwise:\n\n{wrong}");
}

const AUDITED: &str = "create table t (a int primary key, b varchar(20) default 'none');
    create table log (what text);
    create function note() returns trigger language plpgsql as $$
        begin insert into log values (tg_op || ' ' || coalesce(new.b, old.b));
        if tg_op = 'DELETE' then return old; end if; return new; end $$;
    create trigger note before insert or update or delete on t for each row execute function note()";

fn audited(session: &mut Session) {
    for statement in AUDITED.split(";\n    create ") {
        let create = if statement.starts_with("create") { "" } else { "create " };
        session.run(&format!("{create}{statement}"));
    }
}

#[test]
fn a_write_through_the_informix_door_runs_them_and_one_of_sqlite_does_not() {
    let fixture = Fixture::new();
    let database = fixture.open();
    let mut session = postgres(&database);
    audited(&mut session);
    let mut other = informix(&database);
    other.run("insert into t (a) values (1)");
    other.run("update t set b = 'two' where a = 1");
    other.run("delete from t");
    fixture.outside().execute("INSERT INTO t (a, b) VALUES (9, 'unseen')", []).unwrap();
    assert_eq!(session.run("select what from log"), ["INSERT none", "UPDATE two", "DELETE two"]);
}

#[test]
fn they_outlive_the_server() {
    let fixture = Fixture::new();
    audited(&mut postgres(&fixture.open()));
    let mut session = postgres(&fixture.open());
    session.run("insert into t values (1, 'later')");
    assert_eq!(session.run("select what from log"), ["INSERT later"]);
}
