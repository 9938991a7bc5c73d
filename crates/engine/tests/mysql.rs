//! MySQL's SQL through a session, with the answers that MySQL gives.
//!
//! A case file is one database: statements, each ended by a line `----` and followed by its answer up to an empty line. A
//! query's answer is a line of its columns' names, joined by ` | `, and a line for each row, values as the text protocol
//! shows them; another statement's answer is `OK`, or the number of rows it changed; a failure is `ERROR <SQLSTATE>
//! <message>`. Lines that begin with `#` say where an answer comes from.
//!
//! `ROWFERRY_CASES=write cargo test -p rowferry-engine --test mysql` writes what is answered now beside the cases
//! (`*.actual`), to be read before it is believed.

mod support;

use std::fmt::Write as _;

use rowferry_engine::ir::Value;
use rowferry_engine::{Command, Error, Outcome, Result, Session, Type};
use support::cases::check_cases;
use support::{Fixture, mysql};

fn run(session: &mut Session, sql: &str) -> Result<String> {
    let mut out = String::new();
    for parsed in session.parse(sql)? {
        let plan = session.prepare_parsed(&parsed, &[])?;
        match session.execute(&plan, &[])? {
            Outcome::Done { command, rows } => {
                let counted = matches!(command, Command::Insert | Command::Update | Command::Delete);
                writeln!(out, "{}", if counted { rows.to_string() } else { "OK".to_owned() }).unwrap();
            }
            Outcome::Rows(mut cursor) => {
                let columns = plan.bound.columns.clone();
                let heads: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
                writeln!(out, "{}", heads.join(" | ")).unwrap();
                while let Some(row) = cursor.next()? {
                    let mut values = Vec::new();
                    for (at, column) in columns.iter().enumerate() {
                        values.push(shown(row.get(at).to_value(), &column.ty));
                    }
                    writeln!(out, "{}", values.join("|")).unwrap();
                }
            }
        }
    }
    Ok(out)
}

fn shown(value: Value, ty: &Type) -> String {
    match (&value, ty) {
        (Value::Null, _) => "NULL".to_owned(),
        (Value::Integer(number), _) => number.to_string(),
        (Value::Real(number), _) => number.to_string(),
        (Value::Blob(bytes), _) => String::from_utf8_lossy(bytes).into_owned(),
        (Value::Text(text), _) => text.clone(),
    }
}

fn answer(session: &mut Session, sql: &str) -> String {
    run(session, sql).unwrap_or_else(|error: Error| {
        session.fail();
        format!("ERROR {} {}\n", error.condition().sqlstate(), error.message)
    })
}

fn check(name: &str) {
    let fixture = Fixture::new();
    let database = fixture.open();
    let mut session = mysql(&database);
    check_cases("mysql", name, |sql| answer(&mut session, sql));
}

macro_rules! files {
    ($($name:ident),* $(,)?) => {$(
        #[test]
        fn $name() {
            check(stringify!($name));
        }
    )*};
}

files! { catalogs, documents, functions, statements }

#[test]
fn every_table_of_the_catalogs_can_be_read() {
    let fixture = Fixture::new();
    let database = fixture.open();
    let mut session = mysql(&database);
    run(&mut session, "CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, d DECIMAL(5,2) DEFAULT 1.5, KEY by_d (d))")
        .unwrap();
    run(&mut session, "CREATE VIEW v AS SELECT * FROM t").unwrap();
    let listed = run(
        &mut session,
        "SELECT CONCAT(TABLE_SCHEMA, '.', TABLE_NAME) FROM information_schema.tables WHERE TABLE_TYPE = 'SYSTEM VIEW'",
    );
    let listed = listed.unwrap();
    let names: Vec<&str> = listed.lines().skip(1).collect();
    assert!(names.len() > 35, "{names:?}");
    for name in names {
        let columns =
            run(&mut session, &format!("SELECT * FROM {name}")).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(columns.contains(" | "), "{name}");
    }
}
