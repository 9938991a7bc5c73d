//! Transactions between sessions, as PostgreSQL means them.
#![allow(clippy::disallowed_types, clippy::disallowed_methods, reason = "threads and files are what is tested")]

mod support;

use std::time::Duration;

use rowferry_engine::{Options, Outcome, TransactionStatus};
use support::{Ask, Fixture, informix, postgres};

fn store() -> (Fixture, rowferry_engine::Database) {
    let fixture = Fixture::new();
    let database = fixture.open();
    postgres(&database).run("create table t (id int primary key, name text not null)");
    (fixture, database)
}

#[test]
fn each_statement_of_read_committed_sees_what_others_have_committed() {
    let (_fixture, database) = store();
    let (mut one, mut two) = (postgres(&database), postgres(&database));
    one.run("begin");
    assert_eq!(one.run("select count(*) from t"), ["0"]);
    two.run("insert into t values (1, 'a')");
    assert_eq!(one.run("select count(*) from t"), ["1"]);
    one.run("insert into t values (2, 'b')");
    assert_eq!(two.run("select count(*) from t"), ["1"]);
    one.run("commit");
    assert_eq!(two.run("select count(*) from t"), ["2"]);
}

#[test]
fn repeatable_read_keeps_its_snapshot_and_refuses_to_write_on_an_old_one() {
    let (_fixture, database) = store();
    let (mut one, mut two) = (postgres(&database), postgres(&database));
    one.run("begin isolation level repeatable read");
    assert_eq!(one.run("select count(*) from t"), ["0"]);
    two.run("insert into t values (1, 'a')");
    assert_eq!(one.run("select count(*) from t"), ["0"]);
    assert_eq!(one.fails("insert into t values (2, 'b')"), "40001");
    assert_eq!(one.fails("select 1"), "25P02");
    one.run("rollback");
    assert_eq!(one.run("select count(*) from t"), ["1"]);
    one.run("begin isolation level serializable");
    assert_eq!(one.run("select count(*) from t"), ["1"]);
    one.run("insert into t values (2, 'b')");
    one.run("commit");
    assert_eq!(two.run("select count(*) from t"), ["2"]);
}

#[test]
fn an_error_aborts_the_transaction_until_rollback() {
    let (_fixture, database) = store();
    let mut session = postgres(&database);
    session.run("begin");
    session.run("insert into t values (1, 'a')");
    assert_eq!(session.fails("insert into t values (1, 'b')"), "23505");
    assert_eq!(session.transaction_status(), TransactionStatus::Failed);
    assert_eq!(session.fails("select 1"), "25P02");
    let plan = session.prepare("commit", &[]).unwrap().unwrap();
    let Outcome::Done { command, .. } = session.execute(&plan, &[]).unwrap() else { panic!("rows") };
    assert_eq!(command, rowferry_engine::Command::Utility("ROLLBACK"));
    assert_eq!(session.transaction_status(), TransactionStatus::Idle);
    assert_eq!(session.run("select count(*) from t"), ["0"]);
}

#[test]
fn an_error_undoes_one_statement_only_for_informix() {
    let (_fixture, database) = store();
    let mut session = informix(&database);
    session.run("begin work");
    session.run("insert into t values (1, 'a')");
    assert_eq!(session.fails("insert into t values (1, 'b')"), "23505");
    session.run("insert into t values (2, 'b')");
    session.run("commit work");
    assert_eq!(session.run("select id from t order by id"), ["1", "2"]);
}

#[test]
fn savepoints_nest_and_names_repeat() {
    let (_fixture, database) = store();
    let mut session = postgres(&database);
    session.run("begin");
    session.run("savepoint a");
    session.run("insert into t values (1, 'a')");
    session.run("savepoint a");
    session.run("insert into t values (2, 'b')");
    assert_eq!(session.fails("insert into t values (2, 'b')"), "23505");
    session.run("rollback to a");
    assert_eq!(session.run("select id from t"), ["1"]);
    session.run("release a");
    session.run("rollback to a");
    assert_eq!(session.run("select count(*) from t"), ["0"]);
    session.run("insert into t values (3, 'c')");
    assert_eq!(session.fails("rollback to b"), "3B001");
    session.run("rollback to a");
    session.run("insert into t values (4, 'd')");
    session.run("commit");
    assert_eq!(session.run("select id from t"), ["4"]);
}

#[test]
fn schema_changes_are_part_of_the_transaction() {
    let (_fixture, database) = store();
    let (mut one, mut two) = (postgres(&database), postgres(&database));
    one.run("begin");
    one.run("create table u (id int)");
    one.run("insert into u values (7)");
    assert_eq!(one.run("select id from u"), ["7"]);
    assert_eq!(two.fails("select id from u"), "42P01");
    one.run("rollback");
    assert_eq!(one.fails("select id from u"), "42P01");
    one.run("begin");
    one.run("savepoint s");
    one.run("create table u (id int)");
    one.run("rollback to s");
    assert_eq!(one.fails("select id from u"), "42P01");
    one.run("rollback");
    one.run("create table u (id int)");
    assert_eq!(two.run("select id from u"), Vec::<String>::new());
}

#[test]
fn read_only_transactions_do_not_write() {
    let (_fixture, database) = store();
    let mut session = postgres(&database);
    session.run("begin read only");
    assert_eq!(
        session.error("insert into t values (1, 'a')").message,
        "cannot execute INSERT in a read-only transaction"
    );
    session.run("rollback");
    session.run("set default_transaction_read_only = on");
    session.run("begin");
    assert_eq!(session.fails("create table u (id int)"), "25006");
}

#[test]
fn a_lost_client_rolls_back_and_lets_the_next_writer_in() {
    let (_fixture, database) = store();
    let mut one = postgres(&database);
    one.run("begin");
    one.run("insert into t values (1, 'a')");
    drop(one);
    let mut two = postgres(&database);
    two.run("insert into t values (1, 'b')");
    assert_eq!(two.run("select name from t"), ["b"]);
    assert_eq!(database.sessions(), 1);
}

#[test]
fn a_second_writer_waits_for_its_turn_or_its_time() {
    let (_fixture, database) = store();
    let (mut one, mut two) = (postgres(&database), postgres(&database));
    one.run("begin");
    one.run("insert into t values (1, 'a')");
    two.run("set lock_timeout = '20ms'");
    assert_eq!(two.fails("insert into t values (2, 'b')"), "55P03");
    two.run("set lock_timeout = 0");
    two.run("set statement_timeout = '20ms'");
    assert_eq!(two.error("insert into t values (2, 'b')").message, "canceling statement due to statement timeout");
    two.run("set statement_timeout = 0");
    let waiting = std::thread::spawn(move || two.run("insert into t values (2, 'b')"));
    one.run("commit");
    assert_eq!(waiting.join().unwrap(), ["1"]);
    assert_eq!(one.run("select count(*) from t"), ["2"]);
}

#[test]
fn many_writers_lose_nothing() {
    let (_fixture, database) = store();
    postgres(&database).run("create table counters (id int primary key, n int not null)");
    postgres(&database).run("insert into counters values (1, 0)");
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let database = database.clone();
            std::thread::spawn(move || {
                let mut session = postgres(&database);
                for _ in 0..50 {
                    session.run("begin");
                    session.run("update counters set n = n + 1 where id = 1");
                    session.run("commit");
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(postgres(&database).run("select n from counters"), ["200"]);
}

#[test]
fn cancel_stops_the_statement_and_nothing_else() {
    let (_fixture, database) = store();
    let mut session = postgres(&database);
    let interrupter = session.interrupter();
    interrupter.interrupt();
    assert_eq!(session.run("select 1"), ["1"]);
    let endless = "with recursive n(x) as (select 1 union all select x + 1 from n) select count(*) from n";
    let thread = std::thread::spawn(move || {
        let sqlstate = session.fails(endless);
        (session, sqlstate)
    });
    while !thread.is_finished() {
        interrupter.interrupt();
        std::thread::yield_now();
    }
    let (mut session, sqlstate) = thread.join().unwrap();
    assert_eq!(sqlstate, "57014");
    assert_eq!(session.run("select 1"), ["1"]);
}

#[test]
fn a_statement_has_its_time() {
    let (_fixture, database) = store();
    let mut session = postgres(&database);
    session.run("set statement_timeout = '10ms'");
    let endless = "with recursive n(x) as (select 1 union all select x + 1 from n) select count(*) from n";
    assert_eq!(session.error(endless).message, "canceling statement due to statement timeout");
}

#[test]
fn an_open_cursor_sees_nothing_of_later_writes() {
    let (_fixture, database) = store();
    let mut session = postgres(&database);
    session.run("insert into t select g, 'x' from (values (1), (2), (3), (4)) as v(g)");
    let plan = session.prepare("select id from t order by id", &[]).unwrap().unwrap();
    let Outcome::Rows(mut cursor) = session.execute(&plan, &[]).unwrap() else { panic!("no rows") };
    assert_eq!(cursor.next().unwrap().map(|row| support::shown(row.get(0))).as_deref(), Some("1"));
    session.run("delete from t where id > 2");
    session.run("insert into t values (9, 'y')");
    session.run("drop table t");
    let mut rest = Vec::new();
    while let Some(row) = cursor.next().unwrap() {
        rest.push(support::shown(row.get(0)));
    }
    assert_eq!(rest, ["2", "3", "4"]);
}

#[test]
fn an_implicit_block_commits_or_rolls_back_as_one() {
    let (_fixture, database) = store();
    let mut session = postgres(&database);
    session.begin_implicit();
    session.run("insert into t values (1, 'a')");
    session.run("insert into t values (2, 'b')");
    session.end_implicit().unwrap();
    session.begin_implicit();
    session.run("insert into t values (3, 'c')");
    // The failure ends it at once, locks and all.
    assert_eq!(session.fails("insert into t values (1, 'd')"), "23505");
    assert_eq!(session.run("select count(*) from t"), ["2"]);
    session.end_implicit().unwrap();
    assert_eq!(session.run("select count(*) from t"), ["2"]);
}

#[test]
fn variables_follow_their_transaction() {
    let (_fixture, database) = store();
    let mut session = postgres(&database);
    session.run("begin");
    session.run("set application_name = 'inside'");
    session.run("rollback");
    assert_eq!(session.run("show application_name"), [""]);
    session.run("begin");
    session.run("set local application_name = 'inside'");
    assert_eq!(session.run("show application_name"), ["inside"]);
    session.run("commit");
    assert_eq!(session.run("show application_name"), [""]);
    assert_eq!(session.fails("show no_such_thing"), "42704");
    session.run("begin isolation level serializable");
    assert_eq!(session.run("show transaction_isolation"), ["serializable"]);
    session.run("commit");
    assert_eq!(session.run("show transaction_isolation"), ["read committed"]);
}

#[test]
fn a_writer_outside_is_waited_for() {
    let (fixture, database) = store();
    let outside = fixture.outside();
    outside.execute_batch("begin immediate; insert into t values (1, 'outside')").unwrap();
    let mut session = postgres(&database);
    session.run("set lock_timeout = '20ms'");
    assert_eq!(session.fails("insert into t values (2, 'inside')"), "55P03");
    assert_eq!(session.run("select count(*) from t"), ["0"]);
    session.run("set lock_timeout = 0");
    let waiting = std::thread::spawn(move || {
        session.run("insert into t values (2, 'inside')");
        session
    });
    outside.execute_batch("commit").unwrap();
    let mut session = waiting.join().unwrap();
    assert_eq!(session.run("select count(*) from t"), ["2"]);
}

#[test]
fn options_limit_what_a_database_does() {
    let (fixture, database) = store();
    drop(database);
    let options = Options { read_only: true, lock_timeout: Duration::from_millis(10), ..Options::default() };
    let database = fixture.open_with(options);
    let mut session = postgres(&database);
    assert_eq!(session.run("select count(*) from t"), ["0"]);
    assert_eq!(session.fails("insert into t values (1, 'a')"), "25006");
    assert_eq!(session.run("show lock_timeout"), ["10ms"]);
}
