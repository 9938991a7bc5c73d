//! Texts that differ in their literals alone share a plan, and mean what they meant without.

mod support;

use std::fmt::Write as _;
use std::sync::Arc;

use rowferry_engine::{Outcome, Session};
use support::{Ask, Fixture, postgres};

const TABLES: &str = "create type mood as enum ('sad', 'ok', 'happy');
create domain positive as int check (value > 0);
create table t (
    id int primary key, small smallint, big bigint, real_one real, double_one float8, n numeric, n2 numeric(10, 2),
    a text, v varchar(5), c char(4), b boolean, d date, at timestamp, tz timestamptz, tm time, iv interval,
    u uuid, j jsonb, js json, bin bytea, m mood, p positive, arr int[], net inet
);
create index t_a on t (a);
create index t_n on t (n);
create index t_d on t (d);
create index t_open on t (big) where v = 'open';
create index t_lower on t (lower(a));
create table other (t_id int references t, label text collate \"C\", kind text)";

/// What a text comes to.
#[derive(Debug, Eq, PartialEq)]
struct Answer {
    text: String,
    failed: bool,
}

/// Runs texts as a simple query does; with the number of values that were lifted out of each.
fn ask(session: &mut Session, sql: &str) -> (Answer, usize) {
    let (lifted, outcome) = match session.recall(sql) {
        Some((plan, values)) => {
            let text: Arc<str> = sql.into();
            (values.len(), session.execute_as(&plan, &values, Some(&text)))
        }
        None => {
            let plan = session.parse(sql).and_then(|parsed| session.prepare_parsed(&parsed[0], &[]));
            (0, plan.and_then(|plan| session.execute(&plan, &[])))
        }
    };
    let (mut answer, mut failed) = (String::new(), false);
    match outcome {
        Err(error) => {
            failed = true;
            write!(answer, "{} {} {:?} {:?}", error.sqlstate(), error.message, error.detail, error.position).unwrap();
            session.fail();
        }
        Ok(Outcome::Done { command, rows }) => write!(answer, "{command:?} {rows}").unwrap(),
        Ok(Outcome::Rows(mut cursor)) => loop {
            match cursor.next() {
                Ok(Some(row)) => {
                    let values = (0..row.len()).map(|index| format!("{:?}", row.get(index)));
                    writeln!(answer, "{}", values.collect::<Vec<_>>().join(" ")).unwrap();
                }
                Ok(None) => break,
                Err(error) => {
                    failed = true;
                    write!(answer, "{} {} {:?}", error.sqlstate(), error.message, error.position).unwrap();
                    break;
                }
            }
        },
    }
    (Answer { text: answer, failed }, lifted)
}

fn session(fixture: &Fixture, mode: &str) -> Session {
    let database = fixture.open();
    let mut session = postgres(&database);
    for statement in TABLES.split(";\n") {
        session.run(statement);
    }
    session.run(&format!("set plan_cache_mode = {mode}"));
    session
}

/// Statements in an order: each stands for texts like it, with the number of literals that become parameters.
const STATEMENTS: &[(&str, usize)] = &[
    ("insert into t (id, small, big, real_one, double_one, n, n2) values (1, 2, 3, 1.5, 2.5, 10.50, 7)", 7),
    (
        "insert into t (id, small, big, real_one, double_one, n, n2) values (2, -2, 9000000000, -0.1, 1e300, 1e-20, 1.005)",
        7,
    ),
    ("insert into t (id, small) values (3, 40000)", 2),
    ("insert into t (id, a, v, c, b, d) values (3, 'it''s', 'abc', 'x ', 't', '2024-02-29')", 6),
    ("insert into t (id, a, v, c, b, d) values (4, 'open', 'abcdef', 'x', 'no', '2024-02-30')", 6),
    ("insert into t (id, a, v, c, b, d) values (4, 'open', 'abcde', 'toolong', 'no', '2024-02-01')", 6),
    ("insert into t (id, a, v, c, b, d) values (4, 'open', 'abcde', 'y', 'no', '2023-12-31')", 6),
    (
        "insert into t (id, at, tz, tm, iv) values (5, '2024-01-01 10:00', '2024-01-01 10:00+02', '10:30', '1 day 2 hours')",
        5,
    ),
    (
        "insert into t (id, u, j, js, bin) values (6, 'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11', '{\"b\":1,\"a\":[1, 2]}', '{\"b\" : 1}', '\\x00ff')",
        5,
    ),
    ("insert into t (id, u, j) values (7, 'nouuid', '{}')", 3),
    ("insert into t (id, u, j) values (7, null, '{bad')", 2),
    ("insert into t (id, m) values (8, 'ok')", 1),
    ("insert into t (id, p) values (9, 5)", 2),
    ("insert into t (id, p) values (10, -5)", 2),
    ("insert into t (id, arr, net) values (11, '{1,2}', '10.0.0.1')", 1),
    ("insert into t (id, a) values (12, 'multi'), (13, default), (14, null)", 4),
    ("insert into t (id, a) values (1, 'twice')", 2),
    (
        "insert into t (id, a) values (1, 'twice') on conflict (id) do update set a = 'again', big = t.big + 1 where t.id < 5 returning id, a, 'x'",
        5,
    ),
    ("insert into other values (1, 'one', 'k'), (3, 'three', 'K')", 6),
    ("insert into other values (99, 'none', 'k')", 3),
    ("select id, a from t where id = 3", 1),
    ("select id, a from t where id = -3", 1),
    ("select id, a from t where id = '3'", 1),
    ("select id, a from t where id = 'x'", 1),
    ("select id, a from t where 3 <= id order by 1 limit 2 offset 1", 3),
    ("select id, a from t where 3 <= id order by 2 limit 2 offset 1", 3),
    ("select id from t where small = 2 or big in (3, 9000000000) or n = 10.5 order by id", 4),
    ("select id from t where n > 5 and n < 11.00", 2),
    ("select id from t where n2 = 1.01", 1),
    ("select id from t where real_one = 1.5 or double_one > 2 order by id", 2),
    ("select id from t where a = 'open'", 1),
    ("select id from t where v = 'abcde' and c = 'y   '", 2),
    ("select id from t where d between '2023-01-01' and '2024-12-31' order by id", 2),
    ("select id from t where d < '2024-01-01'::date", 1),
    ("select id from t where d < 'tomorrow' and d < 'infinity' order by id", 0),
    ("select id from t where at >= '2024-01-01'::timestamp and tz < '2025-01-01'::timestamptz", 2),
    ("select id from t where iv > '1 day' and tm < '11:00'", 2),
    ("select id from t where u = 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'", 1),
    ("select id, j from t where j = '{\"a\": [1, 2], \"b\": 1}'", 1),
    ("select id from t where bin = '\\x00ff'", 1),
    ("select id from t where m = 'ok'", 0),
    ("select id from t where m = 'nomood'", 0),
    ("select id from t where b = 'f'", 1),
    ("select id from t where net = '10.0.0.1'", 0),
    (
        "select t.id, o.label from t join other o on o.t_id = t.id and o.kind = 'k' where t.id in (select t_id from other where label <> 'two')",
        2,
    ),
    ("select count(*) from t where a like 'o%' and id > 1", 1),
    ("select a || 'x', 1 from t where id = 3", 1),
    ("select pg_typeof('x'), pg_typeof(1), pg_typeof(1.0) from t where id = 1", 1),
    ("select 'x' as a union all select a from t where id = 4", 1),
    ("with w as (select id from t where id > 5) select * from w where id < 8 order by id", 2),
    ("select id, sum(id) over (order by id rows 1 preceding) from t where id < 4", 1),
    ("select id from t where id = 5000000000", 1),
    ("select id from t where id = 1.5 or small = 2.0", 2),
    ("update t set a = 'changed', big = big + 1, n = n * 1.10, d = '2024-03-01' where id = 1", 5),
    ("update t set small = 70000 where id = 1", 2),
    ("update t set v = 'much too long' where id = 1", 2),
    ("select id, a, big, n, d from t where id = 1", 1),
    ("update t set a = o.label from other o where o.t_id = t.id and o.kind = 'K'", 1),
    ("delete from other where t_id = 1", 1),
    ("delete from t where id = 3", 1),
    ("select id, small, big, n, n2, a, v, c, b, d, at, tz, tm, iv, m, p from t where id < 100 order by id", 1),
];

#[test]
fn a_shared_plan_answers_as_each_text_alone() {
    let (one, two) = (Fixture::new(), Fixture::new());
    let (mut shared, mut alone) = (session(&one, "force_generic_plan"), session(&two, "force_custom_plan"));
    let mut others = Vec::new();
    for (sql, expected) in STATEMENTS {
        for at in ["first", "again"] {
            let (answer, lifted) = ask(&mut shared, sql);
            let (right, none) = ask(&mut alone, sql);
            assert_eq!(answer, right, "{at}: {sql}");
            assert_eq!(none, 0);
            // A literal that its type does not take is told by the text itself.
            if lifted != *expected && !(right.failed && lifted == 0) {
                others.push(format!("{sql}: {lifted} literals are lifted"));
            }
        }
    }
    assert!(others.is_empty(), "{}", others.join("\n"));
}

#[test]
fn a_text_of_a_known_shape_needs_no_plan_of_its_own() {
    let fixture = Fixture::new();
    let mut session = session(&fixture, "auto");
    let text = |id: i32| format!("select id from t where id = {id}");
    assert!(session.recall(&text(1)).is_none());
    ask(&mut session, &text(1));
    let (second, values) = session.recall(&text(2)).expect("its shape has come before");
    let (third, _) = session.recall(&text(3)).expect("its shape is known");
    assert!(Arc::ptr_eq(&second, &third));
    assert_eq!(format!("{values:?}"), "[Integer(2)]");
    // A schema that has changed has plans of its own.
    session.run("create table another (x int)");
    assert!(session.recall(&text(4)).is_none_or(|(plan, _)| !Arc::ptr_eq(&plan, &third)));
    session.run("set standard_conforming_strings = off");
    assert!(session.recall(&text(5)).is_none());
}

#[test]
fn a_partial_index_is_still_used() {
    let fixture = Fixture::new();
    let mut session = session(&fixture, "force_generic_plan");
    let (_, lifted) = ask(&mut session, "select big from t where v = 'open' and big > 1 order by big");
    assert_eq!(lifted, 0, "with a parameter the index could not be used");
}
