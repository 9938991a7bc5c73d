//! What compiling a statement may make is bounded, and grows no faster than the statement; whatever is refused leaves the
//! session as it was.

mod support;

use rowferry_dialect::budget;
use rowferry_engine::{Database, Options, Session};
use support::{Ask, Fixture, informix, postgres};

fn with_session(test: impl FnOnce(&mut Session)) {
    let fixture = Fixture::new();
    let database = fixture.open();
    test(&mut postgres(&database));
}

/// Nodes that compiling a statement makes.
fn nodes(session: &mut Session, sql: &str) -> usize {
    let _all = budget::begin(sql.len());
    session.prepare(sql, &[]).unwrap_or_else(|error| panic!("{}: {error}", &sql[..sql.len().min(80)]));
    budget::nodes()
}

/// Twice as much is asked for at most a little more than twice as much work.
fn grows_with_its_text(session: &mut Session, statement: &dyn Fn(usize) -> String, size: usize) {
    let (once, twice) = (nodes(session, &statement(size)), nodes(session, &statement(2 * size)));
    assert!(twice < once * 5 / 2, "{} nodes for {size}, {twice} for twice as much: {}", once, statement(2));
}

#[test]
fn long_statements_are_compiled_in_steps_that_grow_with_them() {
    with_session(|session| {
        session.run("CREATE TABLE t (a integer, b text, n numeric)");
        let members =
            |count: usize, member: &dyn Fn(usize) -> String| (0..count).map(member).collect::<Vec<_>>().join(", ");
        grows_with_its_text(session, &|n| format!("SELECT a IN ({}) FROM t", members(n, &|i| i.to_string())), 500);
        grows_with_its_text(session, &|n| format!("SELECT b IN ({}) FROM t", members(n, &|i| format!("'{i}'"))), 500);
        grows_with_its_text(session, &|n| format!("SELECT {} FROM t", vec!["a"; n].join(" + ")), 200);
        grows_with_its_text(session, &|n| format!("SELECT {} FROM t", vec!["n"; n].join(" * ")), 200);
        grows_with_its_text(session, &|n| format!("SELECT {}a{} FROM t", "abs(".repeat(n), ")".repeat(n)), 200);
        grows_with_its_text(session, &|n| format!("SELECT {} FROM t", members(n, &|i| format!("a + {i}"))), 200);
        grows_with_its_text(
            session,
            &|n| format!("INSERT INTO t VALUES {}", members(n, &|i| format!("({i}, 'x', 1)"))),
            200,
        );
        grows_with_its_text(session, &|n| format!("SELECT 1 FROM t WHERE {}", vec!["a = 1"; n].join(" OR ")), 200);
        let nested = |n: usize| format!("SELECT a FROM {}t{}", "(SELECT a FROM ".repeat(n), ") s".repeat(n));
        grows_with_its_text(session, &nested, 40);
        let chained = |n: usize| {
            let members = members(n, &|i| format!("c{} AS (SELECT a FROM c{i})", i + 1));
            format!("WITH c0 AS (SELECT a FROM t), {members} SELECT a FROM c{n}")
        };
        grows_with_its_text(session, &chained, 40);
    });
}

#[test]
fn a_list_of_fifty_thousand_members_is_no_burden() {
    with_session(|session| {
        let members: Vec<String> = (0..50_000).map(|at| at.to_string()).collect();
        let sql = format!("SELECT count(*) FROM generate_series(49990, 50010) g WHERE g IN ({})", members.join(","));
        assert_eq!(session.run(&sql), ["10"]);
        assert!(nodes(session, &sql) < 10 * members.len());
    });
}

/// A small budget, so that tests need not spend a great one.
fn small() -> budget::Compiling {
    budget::begin_with(50_000, 1 << 20)
}

/// Refused for what it would come to, and the session goes on, inside a transaction as PostgreSQL's does.
fn is_too_complex(session: &mut Session, sql: &str) {
    let error = {
        let _budget = small();
        session.error(sql)
    };
    assert_eq!((error.condition().sqlstate(), error.message.as_str()), ("54001", "statement too complex"), "{error:?}");
    assert_eq!(session.run("SELECT 1"), ["1"]);
    session.run("BEGIN");
    {
        let _budget = small();
        assert_eq!(session.fails(sql), "54001");
    }
    assert_eq!(session.fails("SELECT 1"), "25P02");
    session.run("ROLLBACK");
    assert_eq!(session.run("SELECT 2"), ["2"]);
}

#[test]
fn what_doubles_at_each_level_is_refused() {
    with_session(|session| {
        let levels = |open: &str, close: &str| format!("SELECT {}1{}", open.repeat(40), close.repeat(40));
        is_too_complex(session, &levels("(", " BETWEEN 0 AND 5)::integer"));
        is_too_complex(session, &levels("CASE ", " WHEN 1 THEN 1 WHEN 2 THEN 2 ELSE 3 END"));
    });
}

#[test]
fn a_text_for_the_back_end_that_doubles_at_each_level_is_refused() {
    with_session(|session| {
        let sql = format!("SELECT {}1{}", "nullif(greatest(".repeat(40), ", 2), 3)".repeat(40));
        is_too_complex(session, &sql);
    });
}

#[test]
fn views_that_name_the_one_below_twice_are_refused_when_they_come_to_too_much() {
    with_session(|session| {
        session.run("CREATE VIEW v0 AS SELECT 1 AS a");
        let mut refused = None;
        for level in 1..40 {
            let below = level - 1;
            let sql = format!("CREATE VIEW v{level} AS SELECT a FROM v{below} UNION ALL SELECT a FROM v{below}");
            let budget = small();
            let result = session.ask(&sql);
            drop(budget);
            if let Err(error) = result {
                refused = Some((level, error));
                break;
            }
        }
        let (level, error) = refused.expect("a view of 2^40 rows");
        assert_eq!(error.condition().sqlstate(), "54001", "{error:?}");
        assert!(level > 8, "views of {level} levels are real");
        assert_eq!(session.run("SELECT count(*) FROM v6"), ["64"]);
    });
}

#[test]
fn a_join_that_views_make_too_wide_is_cut_into_parts() {
    with_session(|session| {
        session.run("CREATE TABLE t (a integer)");
        session.run("INSERT INTO t VALUES (7)");
        session.run("CREATE VIEW v0 AS SELECT a FROM t");
        for level in 1..=8 {
            let below = level - 1;
            session.run(&format!("CREATE VIEW v{level} AS SELECT x.a FROM v{below} x, v{below} y"));
            assert_eq!(session.run(&format!("SELECT a FROM v{level}")), ["7"]);
            assert_eq!(session.run(&format!("SELECT count(*) FROM v{level}")), ["1"]);
        }
        assert_eq!(session.run("WITH rows AS (SELECT FROM t) SELECT count(*) FROM rows"), ["1"]);
    });
}

#[test]
fn informix_statements_have_the_same_budget() {
    let fixture = Fixture::new();
    let database: Database = fixture.open_with(Options { create: true, ..Options::default() });
    let mut session = informix(&database);
    session.run("CREATE TABLE t (a INTEGER)");
    session.run("INSERT INTO t VALUES (1)");
    let members: Vec<String> = (0..5_000).map(|at| at.to_string()).collect();
    assert_eq!(session.run(&format!("SELECT COUNT(*) FROM t WHERE a IN ({})", members.join(","))), ["1"]);
    session.run("CREATE VIEW v0 (a) AS SELECT a FROM t");
    for level in 1..=7 {
        let below = level - 1;
        session.run(&format!("CREATE VIEW v{level} (a) AS SELECT x.a FROM v{below} x, v{below} y"));
    }
    assert_eq!(session.run("SELECT COUNT(*) FROM v7"), ["1"]);
}

/// Calls of calls, each too short to ask by itself whether it may go on, whose arguments are computed first.
#[test]
fn a_tree_of_calls_ends_with_its_time() {
    with_session(|session| {
        session.run("CREATE FUNCTION f0(a integer) RETURNS integer LANGUAGE sql AS 'SELECT a + a'");
        for level in 1..30 {
            let below = level - 1;
            session.run(&format!(
                "CREATE FUNCTION f{level}(a integer) RETURNS integer LANGUAGE sql AS 'SELECT f{below}(a) - f{below}(a)'"
            ));
        }
        session.run("SET statement_timeout = 200");
        assert_eq!(session.fails("SELECT f29(1)"), "57014");
        assert_eq!(session.fails("SELECT f29(g) FROM generate_series(1, 2) g"), "57014");
        assert_eq!(session.run("SELECT f1(1)"), ["0"]);
    });
}
