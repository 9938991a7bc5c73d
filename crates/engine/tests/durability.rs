//! Kill -9 during writes: what was acknowledged is there, what was not is not.
#![allow(clippy::disallowed_types, clippy::disallowed_methods, reason = "a process is killed on purpose")]

mod support;

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use rowferry_engine::{Database, Durability, Options};
use support::{Ask, Fixture, postgres};

/// Set for the process that is going to be killed: the file that it writes to.
const FILE: &str = "ROWFERRY_TEST_KILLED_WRITER";

/// Writes rows and tells each one that was committed, until it is killed. It is a test so that the test below can find
/// it in this very program; on its own it does nothing.
#[test]
fn writer_to_be_killed() {
    let Ok(path) = std::env::var(FILE) else { return };
    let options = Options { durability: Durability::Full, ..Options::default() };
    let mut session = postgres(&Database::open(path.as_ref(), options).unwrap());
    for round in 0_i64.. {
        session.run("begin");
        session.run(&format!("insert into t values ({}, 'first')", 2 * round));
        session.run(&format!("insert into t values ({}, 'second')", 2 * round + 1));
        session.run("commit");
        println!("committed {round}");
    }
}

#[test]
fn what_changes_nothing_does_not_wait_for_the_disk() {
    let fixture = Fixture::new();
    let mut session = postgres(&fixture.open());
    session.run("create table t (id int primary key, name text)");
    session.run("insert into t values (1, 'one')");
    let mut flushes_of = |statement: &str| {
        let asked = "select wal_sync from pg_stat_wal";
        let before: u64 = session.run(asked)[0].parse().unwrap();
        session.run(statement);
        session.run(asked)[0].parse::<u64>().unwrap() - before
    };
    assert_eq!(flushes_of("insert into t values (1, 'again') on conflict do nothing"), 0);
    assert_eq!(flushes_of("update t set name = 'two' where id = 2"), 0);
    assert_eq!(flushes_of("update t set name = 'none' where id = 1"), 1);
    assert_eq!(flushes_of("delete from t where id = 2"), 0);
    assert_eq!(flushes_of("create table u (id int)"), 1);
    assert_eq!(flushes_of("truncate t"), 1);
}

#[test]
fn a_killed_server_loses_nothing_that_it_acknowledged() {
    let fixture = Fixture::new();
    postgres(&fixture.open()).run("create table t (id int primary key, name text)");
    let mut known = -1;
    for kill_after in [1, 7, 23] {
        postgres(&fixture.open()).run("delete from t");
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "writer_to_be_killed", "--nocapture"])
            .env(FILE, &fixture.path)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let committed =
            lines.map_while(Result::ok).filter_map(|line| line.strip_prefix("committed ")?.parse::<i64>().ok());
        for round in committed {
            known = round;
            if round == kill_after {
                // SIGKILL. What it still prints before it dies was committed, too, but not read by anybody.
                child.kill().unwrap();
                break;
            }
        }
        child.wait().unwrap();
        assert_eq!(known, kill_after);
        let mut session = postgres(&fixture.open());
        let there: i64 = session.run("select count(*) from t")[0].parse().unwrap();
        assert!(there >= 2 * (known + 1), "{there} rows of {known} acknowledged rounds");
        assert_eq!(there % 2, 0, "half a transaction is there");
        assert_eq!(
            session.run(&format!("select count(*) from t where id < {}", 2 * (known + 1))),
            [(2 * (known + 1)).to_string()]
        );
        let check: String = fixture.outside().query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
        assert_eq!(check, "ok");
    }
}
