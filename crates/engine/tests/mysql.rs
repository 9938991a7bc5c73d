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

#[path = "support/mysql_answers.rs"]
mod mysql_answers;

use std::sync::Arc;

use mysql_answers::{answer, answered, run, written};
use rowferry_engine::{Database, Options, Result, Session};
use support::cases::check_cases;
use support::{Fixture, mysql};

/// As [`run`], with the literals of a text that has come before as parameters; how many they are.
fn run_lifted(session: &mut Session, sql: &str) -> Result<(String, usize)> {
    let Some((plan, values)) = session.recall(sql) else { return Ok((run(session, sql)?, 0)) };
    let mut out = String::new();
    let text: Arc<str> = sql.into();
    let outcome = session.execute_as(&plan, &values, Some(&text));
    written(session, &mut out, outcome)?;
    Ok((out, values.len()))
}

/// A database whose roles may have passwords: what is kept of them shows them, so that cases can.
fn open(fixture: &Fixture) -> Database {
    fixture.open_with(Options {
        create: true,
        password_verifier: Some(|password| Ok(Some(format!("kept of {password}")))),
        mysql_verifier: Some(|plugin, password| format!("{}{password}", plugin.prefix())),
        ..Options::default()
    })
}

fn check(name: &str) {
    let fixture = Fixture::new();
    let database = open(&fixture);
    let mut session = mysql(&database);
    check_cases("mysql", name, |sql| answer(&mut session, sql));
    if std::env::var_os("ROWFERRY_CASES").is_some() {
        return;
    }
    // Once more, with literals as parameters wherever they may be.
    let fixture = Fixture::new();
    let database = open(&fixture);
    let mut session = mysql(&database);
    session.set_variable("plan_cache_mode", "force_generic_plan").unwrap();
    check_cases("mysql", name, |sql| {
        let found = run_lifted(&mut session, sql).map(|(answer, _)| answer);
        answered(&mut session, found)
    });
}

macro_rules! files {
    ($($name:ident),* $(,)?) => {$(
        #[test]
        fn $name() {
            check(stringify!($name));
        }
    )*};
}

files! {
    accounts, alterations, catalogs, changes, clients, compared, documents, frameworks, fulltext, functions, json_table, json_value, keys, late_keys, maintenance, nul, partitions, routines, several_keys, statements, unsigned, values, variables, views, zerofill,
}

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
        assert!(columns.lines().next().is_some_and(|heading| !heading.is_empty()), "{name}");
    }
}

#[test]
fn analyze_table_gathers_statistics_and_says_so() {
    let fixture = Fixture::new();
    let database = fixture.open();
    let mut session = mysql(&database);
    run(&mut session, "CREATE TABLE t (id INT PRIMARY KEY, a INT, KEY (a)); CREATE TABLE u (id INT PRIMARY KEY)")
        .unwrap();
    run(&mut session, "INSERT INTO t VALUES (1, 1), (2, 1), (3, 2); CREATE VIEW v AS SELECT id FROM t; BEGIN").unwrap();
    run(&mut session, "INSERT INTO u VALUES (1)").unwrap();
    let name = database.name();
    let expected =
        format!("Table | Op | Msg_type | Msg_text\n{name}.t|analyze|status|OK\n{name}.u|analyze|status|OK\n");
    let asked = format!("ANALYZE LOCAL TABLE t, {name}.u");
    assert_eq!(run(&mut session, &asked).unwrap(), expected);
    run(&mut session, "ROLLBACK").unwrap();
    // It has committed.
    assert_eq!(run(&mut session, "SELECT COUNT(*) AS n FROM u").unwrap(), "n\n1\n");
    let gathered: i64 = fixture.outside().query_row("SELECT COUNT(*) FROM sqlite_stat1", [], |row| row.get(0)).unwrap();
    assert!(gathered > 0);
}

#[test]
fn check_table_finds_what_is_wrong_with_that_table() {
    let fixture = Fixture::new();
    let database = fixture.open();
    let mut session = mysql(&database);
    run(
        &mut session,
        "CREATE TABLE p (id INT PRIMARY KEY); CREATE TABLE c (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES p \
         (id)); CREATE TABLE v (id INT PRIMARY KEY, a INT); CREATE TABLE i (id INT PRIMARY KEY, a INT, b INT, KEY (a)); \
         CREATE TABLE fine (id INT PRIMARY KEY)",
    )
    .unwrap();
    run(&mut session, "INSERT INTO p VALUES (1); INSERT INTO c VALUES (1, 1); INSERT INTO i VALUES (1, 1, 2)").unwrap();
    drop(session);
    drop(database);
    {
        let outside = fixture.outside();
        // A row that leads nowhere, a value that is no number, and an index that has another column's values.
        outside
            .execute_batch(
                "PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON; UPDATE c SET p = 9; \
                 INSERT INTO v VALUES (1, 'x'); PRAGMA writable_schema = ON",
            )
            .unwrap();
        let of_index = "type = 'index' AND tbl_name = 'i' AND sql IS NOT NULL";
        let sql: String = outside
            .query_row(&format!("SELECT sql FROM sqlite_schema WHERE {of_index}"), [], |row| row.get(0))
            .unwrap();
        let (head, keys) = sql.split_at(sql.rfind('(').unwrap());
        let other = format!("{head}{}", keys.replacen('a', "b", 1));
        assert_ne!(other, sql);
        outside.execute(&format!("UPDATE sqlite_schema SET sql = ?1 WHERE {of_index}"), [other]).unwrap();
    }
    let database = fixture.open();
    let mut session = mysql(&database);
    let checked = run(&mut session, "CHECK TABLE c, v, i, fine").unwrap();
    let of = |table: &str| -> Vec<&str> { checked.lines().filter_map(|line| line.strip_prefix(table)).collect() };
    assert_eq!(
        of("store.c|"),
        ["check|error|1 row of table \"c\" refer to rows that are not there", "check|error|Corrupt"],
        "{checked}"
    );
    assert!(of("store.v|")[0].contains("have a value in column \"a\" that is none of type"), "{checked}");
    assert!(of("store.i|")[0].contains("index"), "{checked}");
    assert_eq!(of("store.fine|"), ["check|status|OK"], "{checked}");
    // What indexes have of rows is not looked at, and OPTIMIZE makes them anew.
    assert_eq!(run(&mut session, "CHECK TABLE i QUICK").unwrap().lines().last(), Some("store.i|check|status|OK"));
    run(&mut session, "OPTIMIZE TABLE i").unwrap();
    assert_eq!(run(&mut session, "CHECK TABLE i").unwrap().lines().last(), Some("store.i|check|status|OK"));
}

/// Statements in an order: each stands for texts like it, with the number of literals that become parameters.
const LIFTED: &[(&str, usize)] = &[
    ("INSERT INTO l (id, small, big, d, f) VALUES (1, 2, 9000000000, 10.50, 1.5)", 5),
    ("INSERT INTO l (id, small, big, d, f) VALUES (2, -2, -3, '1.005', '7')", 5),
    ("INSERT INTO l (id, small) VALUES (3, 40000)", 2),
    ("INSERT INTO l (id, v, c, t) VALUES (3, 'it''s', \"a \\\"b\\\"\", 'x\\ny\\\\')", 4),
    ("INSERT INTO l (id, v) VALUES (4, 'much too long for it')", 2),
    ("INSERT INTO l (id, day, at, span) VALUES (4, '2024-02-29', '2024-02-29 10:11:12', '10:11:12')", 4),
    ("INSERT INTO l (id, day) VALUES (5, '2024-02-30')", 2),
    ("INSERT INTO l (id, day, at) VALUES (5, '24-2-9', '20240209101112')", 0),
    ("INSERT INTO l (id, e, j) VALUES (6, 'open', '{\"a\": 1}')", 3),
    ("INSERT INTO l (id, u) VALUES (7, 5)", 2),
    ("INSERT INTO l (id, u) VALUES (8, -5)", 2),
    ("INSERT INTO l (id, v) VALUES (1, 'again') ON DUPLICATE KEY UPDATE v = 'changed', small = small + 3", 4),
    ("REPLACE INTO l (id, v) VALUES (7, 'new')", 2),
    ("SELECT id, v FROM l WHERE id = 3", 1),
    ("SELECT id, v FROM l WHERE id = '3'", 1),
    ("SELECT id, v FROM l WHERE id = '3 apples'", 0),
    ("SELECT id, v FROM l WHERE v = 'IT\\'S'", 1),
    ("SELECT id, v FROM l WHERE v = 5", 1),
    ("SELECT id FROM l WHERE small IN (2, -2) OR d BETWEEN 10 AND 11.5 ORDER BY 1 LIMIT 0, 5", 6),
    ("SELECT id FROM l WHERE day = '2024-02-29' AND at >= '2024-02-29' AND span < '23:00:00'", 3),
    ("SELECT id FROM l WHERE day = '24-2-29'", 0),
    ("SELECT id FROM l WHERE day = '2024-02-29 10:00:00'", 0),
    ("SELECT id FROM l WHERE e = 'OPEN'", 1),
    ("SELECT id, 'x' AS x FROM l WHERE f > 1.25 AND v LIKE 'c%' HAVING id < 3", 1),
    ("SELECT small, COUNT(*) FROM l WHERE id <> 100 GROUP BY 1 HAVING COUNT(*) > 0 ORDER BY 1", 1),
    ("UPDATE l SET small = 5, v = 'z' WHERE id = 2 LIMIT 1", 4),
    ("DELETE FROM l WHERE id = 2", 1),
    ("SELECT * FROM l ORDER BY id", 0),
];

#[test]
fn literals_that_are_parameters_mean_what_they_meant() {
    let answers = |mode: &str| {
        let fixture = Fixture::new();
        let database = fixture.open();
        let mut session = mysql(&database);
        run(
            &mut session,
            "CREATE TABLE l (id INT PRIMARY KEY, small SMALLINT, big BIGINT, u INT UNSIGNED, d DECIMAL(8,2), f DOUBLE, \
             v VARCHAR(10), c CHAR(8), t TEXT, day DATE, at DATETIME, span TIME, e ENUM('open', 'shut'), j JSON, KEY (v), \
             KEY (day))",
        )
        .unwrap();
        session.set_variable("plan_cache_mode", mode).unwrap();
        let mut answers = Vec::new();
        for (sql, _) in LIFTED {
            let found = run_lifted(&mut session, sql);
            let lifted = found.as_ref().map_or(0, |(_, lifted)| *lifted);
            answers.push((answered(&mut session, found.map(|(answer, _)| answer)), lifted));
        }
        answers
    };
    let (plain, generic) = (answers("force_custom_plan"), answers("force_generic_plan"));
    for (((sql, lifted), plain), generic) in LIFTED.iter().zip(plain).zip(generic) {
        assert_eq!(plain.0, generic.0, "{sql}");
        assert_eq!(plain.1, 0);
        if !generic.0.starts_with("ERROR") {
            assert_eq!(generic.1, *lifted, "{sql}");
        }
    }
}

#[test]
fn who_counts_rows_that_are_found_is_told_of_those_that_stay_as_they_are() {
    let fixture = Fixture::new();
    let database = fixture.open();
    let mut session = mysql(&database);
    run(&mut session, "CREATE TABLE t (id INT PRIMARY KEY, a INT)").unwrap();
    run(&mut session, "INSERT INTO t VALUES (1, 1), (2, 2)").unwrap();
    assert_eq!(run(&mut session, "UPDATE t SET a = 1").unwrap(), "1\n");
    assert_eq!(session.rows_matched(), 2);
    session.count_found_rows(true);
    assert_eq!(run(&mut session, "UPDATE t SET a = 1").unwrap(), "2\n");
    assert_eq!(run(&mut session, "INSERT INTO t VALUES (1, 1) ON DUPLICATE KEY UPDATE a = 1").unwrap(), "1\n");
    session.count_found_rows(false);
    assert_eq!(run(&mut session, "INSERT INTO t VALUES (1, 1) ON DUPLICATE KEY UPDATE a = 1").unwrap(), "0\n");
}

#[test]
fn found_rows_are_those_of_the_last_query() {
    let fixture = Fixture::new();
    let database = fixture.open();
    let mut session = mysql(&database);
    session.rows_yielded(3);
    assert_eq!(run(&mut session, "SELECT FOUND_ROWS()").unwrap(), "FOUND_ROWS()\n3\n");
}
