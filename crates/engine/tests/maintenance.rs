//! VACUUM, ANALYZE, REINDEX, CHECKPOINT and SET CONSTRAINTS do what they say.
#![allow(clippy::disallowed_types, clippy::disallowed_methods, reason = "files are what is tested")]

mod support;

use rowferry_engine::Condition;
use support::{Ask, Fixture, informix, postgres};

const FILL: &str = "insert into t select i, repeat('x', 1000) from generate_series(1, 2000) i";

fn length(fixture: &Fixture, extension: &str) -> u64 {
    std::fs::metadata(fixture.path.with_extension(extension)).map_or(0, |metadata| metadata.len())
}

#[test]
fn vacuum_gives_the_space_of_deleted_rows_back() {
    let fixture = Fixture::new();
    let database = fixture.open();
    let mut session = postgres(&database);
    session.run("create table t (id int, filling text)");
    session.run(FILL);
    session.run("delete from t where id > 10");
    session.run("checkpoint");
    let before = length(&fixture, "db");
    assert!(before > 1_000_000, "{before}");
    session.run("vacuum t");
    assert_eq!(length(&fixture, "db"), before);
    session.run("vacuum (full, analyze)");
    assert!(length(&fixture, "db") < before / 4, "{before}, now {}", length(&fixture, "db"));
    assert_eq!(session.run("select count(*), min(id), max(id) from t"), ["10|1|10"]);
    assert_eq!(postgres(&database).run("select count(*) from t"), ["10"]);
}

#[test]
fn vacuum_runs_neither_in_a_transaction_nor_under_one() {
    let fixture = Fixture::new();
    let database = fixture.open();
    let (mut one, mut two) = (postgres(&database), postgres(&database));
    one.run("create table t (id int)");
    one.run("begin");
    one.run("select * from t");
    two.run("set lock_timeout = '20ms'");
    assert_eq!(two.fails("vacuum"), "55P03");
    one.run("commit");
    one.run("begin");
    for statement in ["vacuum", "reindex database store", "reindex (concurrently) table t"] {
        assert_eq!(one.fails(statement), "25001", "{statement}");
        one.run("rollback");
        one.run("begin");
    }
    two.run("vacuum");
    one.run("commit");
    assert_eq!(two.fails("vacuum (nonsense)"), "42601");
    assert_eq!(two.fails("vacuum t (id)"), "0A000");
    assert_eq!(two.fails("vacuum nosuch"), "42P01");
}

#[test]
fn analyze_and_update_statistics_leave_statistics() {
    let fixture = Fixture::new();
    let database = fixture.open();
    let mut session = postgres(&database);
    session.run("create table t (id int primary key, a int)");
    session.run("create table u (id int primary key)");
    session.run("create index t_a on t (a)");
    session.run("insert into t select i, i % 7 from generate_series(1, 700) i");
    session.run("insert into u values (1)");
    session.run("create view v as select 1 as x");
    let of = |table: &str| -> i64 {
        let sql = "SELECT count(*) FROM sqlite_stat1 WHERE tbl = ?1";
        fixture.outside().query_row(sql, [table], |row| row.get(0)).unwrap_or(0)
    };
    session.run("analyze t (a)");
    assert_eq!((of("t") > 0, of("u")), (true, 0));
    session.run("analyze v");
    assert_eq!(session.drain_notices().pop().map(|notice| notice.condition()), Some(Condition::Warning));
    informix(&database).run("update statistics high for table u");
    assert!(of("u") > 0);
    assert_eq!(session.fails("analyze t (nosuch)"), "42703");
    // SQLite's table of statistics is nobody's.
    assert_eq!(session.run("select count(*) from pg_class where relname like 'sqlite%'"), ["0"]);
}

#[test]
fn reindex_makes_an_index_anew() {
    for reindex in ["reindex table t", "reindex index t_a", "reindex schema public", "reindex database store"] {
        let fixture = Fixture::new();
        let database = fixture.open();
        let mut session = postgres(&database);
        session.run("create table t (a int, b int)");
        session.run("create index t_a on t (a)");
        session.run("insert into t select i, 100 - i from generate_series(1, 50) i");
        let outside = fixture.outside();
        // The index says that it is over b, and has the values of a.
        outside.pragma_update(None, "writable_schema", true).unwrap();
        outside.execute("UPDATE sqlite_schema SET sql = replace(sql, '(a)', '(b)') WHERE name = 't_a'", []).unwrap();
        outside
            .execute("UPDATE sqlite_schema SET sql = replace(sql, '(\"a\")', '(\"b\")') WHERE name = 't_a'", [])
            .unwrap();
        outside.pragma_update(None, "writable_schema", "RESET").unwrap();
        outside.execute_batch("PRAGMA schema_version = 777").unwrap();
        let sound =
            || -> String { fixture.outside().query_row("PRAGMA integrity_check(1)", [], |row| row.get(0)).unwrap() };
        assert_ne!(sound(), "ok");
        let mut session = postgres(&database);
        session.run(reindex);
        assert_eq!(sound(), "ok", "{reindex}");
    }
}

#[test]
fn a_checkpoint_empties_the_log_also_inside_a_transaction() {
    let fixture = Fixture::new();
    let database = fixture.open();
    let mut session = postgres(&database);
    session.run("create table t (id int, filling text)");
    session.run(FILL);
    assert!(length(&fixture, "db-wal") > 0);
    session.run("checkpoint");
    assert_eq!(length(&fixture, "db-wal"), 0);
    session.run("insert into t values (0, 'y')");
    session.run("begin");
    session.run("checkpoint");
    session.run("commit");
    assert_eq!(length(&fixture, "db-wal"), 0);
    assert!(session.drain_notices().is_empty());
    // What a snapshot reads stays where it is.
    let mut reader = postgres(&database);
    reader.run("begin isolation level repeatable read");
    reader.run("select count(*) from t");
    session.run("insert into t values (-1, 'z')");
    session.run("checkpoint");
    assert_eq!(session.drain_notices().len(), 1);
    reader.run("commit");
}

#[test]
fn constraints_can_be_checked_before_commit() {
    let fixture = Fixture::new();
    let database = fixture.open();
    let mut session = postgres(&database);
    session.run("create table p (id int primary key)");
    session.run("create table c (p int references p deferrable initially deferred)");
    session.run("begin");
    session.run("insert into c values (1)");
    assert_eq!(session.fails("set constraints all immediate"), "23503");
    session.run("rollback");
    session.run("begin");
    session.run("set constraints all immediate");
    assert_eq!(session.fails("insert into c values (1)"), "23503");
    session.run("rollback");
    session.run("begin");
    session.run("set constraints all immediate");
    session.run("set constraints all deferred");
    session.run("insert into c values (1)");
    session.run("insert into p values (1)");
    session.run("set constraints all immediate");
    session.run("commit");
    session.run("set constraints all immediate");
    assert_eq!(session.drain_notices()[0].condition(), Condition::NoActiveSqlTransaction);
    // One constraint alone waits, or does not.
    session.run("create table d (p int references p deferrable)");
    session.run("begin");
    session.run("set constraints d_p_fkey deferred");
    session.run("insert into d values (2)");
    assert_eq!(session.fails("set constraints d_p_fkey immediate"), "23503");
    session.run("rollback");
    assert_eq!(session.fails("set constraints nobody_fkey immediate"), "42704");
}

#[test]
fn informix_constraints_wait_for_commit_when_they_are_told_to() {
    let fixture = Fixture::new();
    let database = fixture.open();
    let mut session = informix(&database);
    session.run("create table p (id int primary key)");
    session.run("create table c (p int references p (id))");
    session.run("begin work");
    assert!(session.ask("insert into c values (1)").is_err());
    session.run("set constraints all deferred");
    session.run("insert into c values (1)");
    session.run("insert into p values (1)");
    session.run("commit work");
    session.run("begin work");
    session.run("set constraints all deferred");
    session.run("insert into c values (2)");
    assert!(session.ask("set constraints all immediate").is_err());
    assert!(session.ask("commit work").is_err());
    assert_eq!(session.run("select count(*) from c"), ["1"]);
    assert_eq!(session.error("revoke all on c from public").informix_code(), -999);
}
