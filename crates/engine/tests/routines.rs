//! Routines in SPL, through a session.
#![allow(clippy::disallowed_methods, reason = "a statement is cancelled by another thread")]

mod support;

use rowferry_engine::{Condition, Outcome, Session};
use support::{Ask, Fixture, informix};

/// A session with these routines and a table of numbers.
fn session(fixture: &Fixture, routines: &[&str]) -> Session {
    let mut session = informix(&fixture.open());
    session.run("CREATE TABLE t (id INTEGER, name VARCHAR(20), price DECIMAL(8,2))");
    for (id, name, price) in [(1, "ann", "1.50"), (2, "bob", "2.25"), (3, "cid", "10.00")] {
        session.run(&format!("INSERT INTO t VALUES ({id}, '{name}', {price})"));
    }
    for routine in routines {
        session.run(routine);
    }
    session
}

/// Each case: a body of a function without parameters that returns one VARCHAR(100), and its rows.
fn table(cases: &[(&str, &[&str])]) {
    let fixture = Fixture::new();
    let mut session = session(&fixture, &[]);
    for (body, expected) in cases {
        session.run(&format!("CREATE OR REPLACE FUNCTION f() RETURNING VARCHAR(100); {body} END FUNCTION"));
        let rows = session.ask("EXECUTE FUNCTION f()").unwrap_or_else(|error| panic!("{body}: {error:?}"));
        assert_eq!(rows, *expected, "{body}");
    }
}

#[test]
fn a_function_returns_what_it_computes() {
    let fixture = Fixture::new();
    let mut session = session(
        &fixture,
        &["CREATE FUNCTION twice(n INTEGER) RETURNING INTEGER AS doubled;
             DEFINE r INTEGER;
             LET r = n * 2;
             IF r > 100 THEN LET r = 100; END IF;
             RETURN r;
           END FUNCTION DOCUMENT 'doubles', 'up to 100'"],
    );
    assert_eq!(session.run("EXECUTE FUNCTION twice(21)"), ["42"]);
    assert_eq!(session.run("EXECUTE FUNCTION twice(n = 70)"), ["100"]);
    assert_eq!(session.run("SELECT twice(id) FROM t WHERE twice(id) > 3 ORDER BY 1"), ["4", "6"]);
    assert_eq!(session.run("EXECUTE FUNCTION twice(NULL)"), ["NULL"]);
    let plan = session.prepare("EXECUTE FUNCTION twice(?)", &[]).unwrap().unwrap();
    assert_eq!(plan.bound.columns[0].name, "doubled");
    assert_eq!(plan.bound.params, [rowferry_engine::Type::Int4]);
}

#[test]
fn control_flow() {
    table(&[
        ("DEFINE a, b INT; LET a, b = 1, 2; LET a, b = b, a; RETURN a || '-' || b;", &["2-1"]),
        ("DEFINE i INT; FOR i = 1 TO 3 RETURN i WITH RESUME; END FOR;", &["1", "2", "3"]),
        (
            "DEFINE i INT; FOR i IN (5 TO 1 STEP -2, 9, 7 TO 8) RETURN i WITH RESUME; END FOR;",
            &["5", "3", "1", "9", "7", "8"],
        ),
        ("DEFINE i INT; FOR i = 3 TO 1 RETURN i WITH RESUME; END FOR", &["3", "2", "1"]),
        (
            "DEFINE i INT; LET i = 0; WHILE i < 10 LET i = i + 1; IF i = 2 THEN CONTINUE WHILE; END IF;
             IF i > 4 THEN EXIT WHILE; END IF; RETURN i WITH RESUME; END WHILE;",
            &["1", "3", "4"],
        ),
        (
            "DEFINE i, j INT; LET i = 0; <<outer>> LOOP LET i = i + 1; FOR j = 1 TO 5
               EXIT outer WHEN i = 3; CONTINUE outer WHEN j = 2; RETURN i || '/' || j WITH RESUME;
             END FOR; END LOOP outer;",
            &["1/1", "2/1"],
        ),
        ("IF 1 > 2 THEN RETURN 'a'; ELIF 2 > 1 THEN RETURN 'b'; ELSE RETURN 'c'; END IF;", &["b"]),
        ("DEFINE n INT; LET n = NULL; IF n > 1 THEN RETURN 'a'; ELSE RETURN 'b'; END IF;", &["b"]),
        (
            "DEFINE n INT; LET n = 2; CASE n WHEN 1 THEN RETURN 'one'; WHEN 2 THEN RETURN 'two'; ELSE RETURN 'many'; END CASE;",
            &["two"],
        ),
        ("DEFINE x INT; LET x = 1; BEGIN DEFINE x INT; LET x = 2; END RETURN x;", &["1"]),
        ("RETURN;", &[]),
        ("DEFINE s VARCHAR(10); FOR s IN ('x', 'y') RETURN s WITH RESUME; END FOR;", &["x", "y"]),
        ("TRACE ON; RETURN 'traced';", &["traced"]),
    ]);
}

#[test]
fn statements_take_variables() {
    table(&[
        ("DEFINE n VARCHAR(20); SELECT name INTO n FROM t WHERE t.id = 2; RETURN n;", &["bob"]),
        ("DEFINE n, m VARCHAR(20); SELECT name, price INTO n, m FROM t WHERE id = 3; RETURN n || m;", &["cid10.00"]),
        ("DEFINE n VARCHAR(20); LET n = 'x'; SELECT name INTO n FROM t WHERE id = 99; RETURN nvl(n, 'none');", &["none"]),
        // A name is a variable's first.
        ("DEFINE id INT; LET id = 1; RETURN (SELECT count(*) FROM t WHERE id = 1);", &["3"]),
        ("DEFINE k INT; LET k = 2; RETURN (SELECT max(name) FROM t WHERE id <= k);", &["bob"]),
        ("DEFINE a, b INT; LET a, b = (SELECT min(id), max(id) FROM t); RETURN a || '..' || b;", &["1..3"]),
        (
            "DEFINE i INT; DEFINE n LIKE t.name; FOREACH SELECT id, name INTO i, n FROM t ORDER BY id DESC
               RETURN n || i WITH RESUME; END FOREACH;",
            &["cid3", "bob2", "ann1"],
        ),
        (
            "DEFINE p DECIMAL(8,2); DEFINE s DECIMAL(10,2); LET s = 0; FOREACH c FOR SELECT price INTO p FROM t
               LET s = s + p; END FOREACH; RETURN s;",
            &["13.75"],
        ),
        (
            "DEFINE k INT; DEFINE n VARCHAR(20); LET k = 2; FOREACH SELECT FIRST k name INTO n FROM t ORDER BY name
               RETURN n WITH RESUME; END FOREACH;",
            &["ann", "bob"],
        ),
        ("INSERT INTO t VALUES (9, 'x', 1); RETURN dbinfo('sqlca.sqlerrd2') || (SELECT count(*) FROM t);", &["14"]),
        ("UPDATE t SET price = price + 1 WHERE id < 3; RETURN dbinfo('sqlca.sqlerrd2');", &["2"]),
        ("DELETE FROM t WHERE id = 77; RETURN sqlcode;", &["100"]),
        (
            "DEFINE i INT; FOREACH c FOR SELECT id INTO i FROM t WHERE id < 9
               IF i = 2 THEN DELETE FROM t WHERE CURRENT OF c; ELSE UPDATE t SET name = 'n' || i WHERE CURRENT OF c; END IF;
             END FOREACH;
             FOREACH SELECT id INTO i FROM t ORDER BY id RETURN i || (SELECT max(name) FROM t WHERE t.id = i) WITH RESUME; END FOREACH",
            &["1n1", "3n3", "9x"],
        ),
        (
            "CREATE TEMP TABLE w (a INT) WITH NO LOG; INSERT INTO w VALUES (5); EXECUTE IMMEDIATE 'INSERT INTO w VALUES (6)';
             RETURN (SELECT sum(a) FROM w);",
            &["11"],
        ),
        (
            "DEFINE k, n INT; LET k = 4; PREPARE s FROM 'SELECT a FROM w WHERE a > ? ORDER BY a'; DECLARE c CURSOR FOR s; OPEN c USING k;
             WHILE 1 = 1 FETCH c INTO n; IF sqlcode != 0 THEN EXIT WHILE; END IF; RETURN n WITH RESUME; END WHILE;
             CLOSE c; FREE c; FREE s; DROP TABLE w;",
            &["5", "6"],
        ),
    ]);
}

#[test]
fn exceptions() {
    table(&[
        (
            "DEFINE e, i INT; DEFINE m VARCHAR(50); ON EXCEPTION SET e, i, m RETURN e || ':' || i || ':' || m; END EXCEPTION;
             RAISE EXCEPTION -746, 3, 'no';",
            &["-746:3:no"],
        ),
        (
            "DEFINE e INT; ON EXCEPTION IN (-1202) SET e RETURN e WITH RESUME; END EXCEPTION WITH RESUME;
             LET e = 1 / 0; RETURN 'on';",
            &["-1202", "on"],
        ),
        (
            "DEFINE e INT; ON EXCEPTION IN (-206) SET e RETURN 'outer' || e; END EXCEPTION;
             BEGIN ON EXCEPTION IN (-1202) RETURN 'wrong'; END EXCEPTION; SELECT a INTO e FROM nowhere; END
             RETURN 'not here';",
            &["outer-206"],
        ),
        // Without RESUME the block ends, and what stands behind it goes on.
        (
            "BEGIN ON EXCEPTION END EXCEPTION; RAISE EXCEPTION -746; RETURN 'not here' WITH RESUME; END RETURN 'behind';",
            &["behind"],
        ),
        (
            "DEFINE i, n INT; FOR i = 1 TO 3 BEGIN ON EXCEPTION END EXCEPTION; IF i = 2 THEN LET n = 'x'; END IF;
               RETURN i WITH RESUME; END END FOR;",
            &["1", "3"],
        ),
        // An error in a handler is the business of the blocks around it.
        (
            "DEFINE e INT; ON EXCEPTION SET e RETURN 'outer' || e; END EXCEPTION;
             BEGIN ON EXCEPTION IN (-746) RAISE EXCEPTION -20001; END EXCEPTION; RAISE EXCEPTION -746; END",
            &["outer-20001"],
        ),
    ]);
}

#[test]
fn errors_leave_with_their_codes() {
    let fixture = Fixture::new();
    let mut session = session(&fixture, &[]);
    for (body, code, isam) in [
        ("RAISE EXCEPTION -746, 0, 'stop';", -746, 0),
        ("RAISE EXCEPTION -20123, -7, 'mine';", -20123, -7),
        ("DEFINE a INT; RETURN a;", -696, 0),
        ("RETURN 1, 2;", -655, 0),
        ("RETURN 1 / 0;", -1202, 0),
        ("RETURN nosuch(1);", -674, 0),
        ("DEFINE a INT; SELECT id INTO a FROM t;", -284, 0),
        ("DEFINE a INT; SELECT x INTO a FROM nowhere;", -206, -111),
        ("DEFINE a SMALLINT; LET a = 70000;", -1214, 0),
        ("DEFINE a INT; EXECUTE FUNCTION many() INTO a;", -686, 0),
        ("DEFINE a, b INT; EXECUTE FUNCTION many() INTO a, b;", -686, 0),
    ] {
        session.run("CREATE OR REPLACE FUNCTION many() RETURNING INT; RETURN 1 WITH RESUME; RETURN 2; END FUNCTION");
        session.run(&format!("CREATE OR REPLACE FUNCTION f() RETURNING INT; {body} END FUNCTION"));
        let error = session.error("EXECUTE FUNCTION f()");
        assert_eq!((error.informix_code(), error.isam_code()), (code, isam), "{body}: {error:?}");
        assert_eq!(error.position, None, "{body}");
    }
    assert_eq!(session.error("EXECUTE FUNCTION f(1)").informix_code(), -674);
}

#[test]
fn a_wrong_text_is_refused_where_it_is_wrong() {
    let fixture = Fixture::new();
    let mut session = session(&fixture, &[]);
    for (sql, condition) in [
        ("CREATE FUNCTION f() RETURNING INT; LET = 1; END FUNCTION", Condition::SyntaxError),
        ("CREATE FUNCTION f() RETURNING INT; LET a = 1; END FUNCTION", Condition::UndefinedVariable),
        ("CREATE FUNCTION f() RETURNING INT; DEFINE a INT; DEFINE a INT; END FUNCTION", Condition::DuplicateObject),
        ("CREATE FUNCTION f() RETURNING INT; RETURN ?; END FUNCTION", Condition::SyntaxError),
        ("CREATE FUNCTION f() RETURNING INT; RETURN 1; END PROCEDURE", Condition::SyntaxError),
        ("CREATE FUNCTION f() RETURNING INT; SELECT id FROM t; END FUNCTION", Condition::SyntaxError),
        ("CREATE FUNCTION f(a LIKE nowhere.x) RETURNING INT; RETURN 1; END FUNCTION", Condition::UndefinedTable),
        ("CREATE FUNCTION f(a LIKE t.x) RETURNING INT; RETURN 1; END FUNCTION", Condition::UndefinedColumn),
        ("CREATE FUNCTION f() RETURNING INT; SYSTEM 'ls'; END FUNCTION", Condition::FeatureNotSupported),
        ("CREATE FUNCTION f() RETURNING INT; DEFINE a REFERENCES TEXT; END FUNCTION", Condition::FeatureNotSupported),
        ("CREATE FUNCTION f() RETURNING INT; IF 1 = 1 THEN RETURN 1; END FUNCTION", Condition::SyntaxError),
    ] {
        let error = session.error(sql);
        assert_eq!(error.condition(), condition, "{sql}: {error}");
        assert!(error.position.is_some(), "{sql}");
    }
    let deep = format!("CREATE PROCEDURE p() {} {} END PROCEDURE", "BEGIN ".repeat(5_000), "END ".repeat(5_000));
    assert_eq!(session.error(&deep).condition(), Condition::StatementTooComplex);
}

#[test]
fn procedures_change_data_and_end_transactions() {
    let fixture = Fixture::new();
    let mut session = session(
        &fixture,
        &[
            "CREATE PROCEDURE add(i INT, n VARCHAR(20) DEFAULT 'nobody') INSERT INTO t VALUES (i, n, 0); END PROCEDURE",
            "CREATE PROCEDURE both(i INT) BEGIN WORK; CALL add(i); CALL add(i + 1, 'x'); COMMIT WORK; END PROCEDURE",
            "CREATE PROCEDURE fails(i INT) BEGIN WORK; CALL add(i); ROLLBACK WORK; RAISE EXCEPTION -746, 0, 'undone'; END PROCEDURE",
            "CREATE FUNCTION added(i INT) RETURNING INT; CALL add(i); RETURN i; END FUNCTION",
        ],
    );
    let count = |session: &mut Session| session.run("SELECT count(*) FROM t").remove(0);
    session.run("EXECUTE PROCEDURE add(10)");
    assert_eq!(session.run("SELECT name FROM t WHERE id = 10"), ["nobody"]);
    session.run("EXECUTE PROCEDURE both(11)");
    assert_eq!(count(&mut session), "6");
    assert_eq!(session.error("EXECUTE PROCEDURE fails(13)").informix_code(), -746);
    assert_eq!(count(&mut session), "6");
    // In a transaction of the caller's the changes are the caller's.
    session.run("BEGIN WORK");
    session.run("EXECUTE PROCEDURE add(20)");
    session.run("ROLLBACK WORK");
    assert_eq!(count(&mut session), "6");
    session.run("BEGIN WORK");
    assert_eq!(session.error("EXECUTE PROCEDURE both(30)").informix_code(), -535);
    session.run("ROLLBACK WORK");
    // A query may call what changes data, a data change may not.
    assert_eq!(session.run("SELECT added(40) FROM t WHERE id = 1"), ["40"]);
    assert_eq!(count(&mut session), "7");
    assert_eq!(session.error("UPDATE t SET price = added(50) WHERE id = 1").informix_code(), -675);
    assert_eq!(count(&mut session), "7");
    assert_eq!(session.error("SELECT added(60) + nosuch(1) FROM t").informix_code(), -674);
}

#[test]
fn functions_are_found_by_their_arguments() {
    let fixture = Fixture::new();
    let mut session = session(
        &fixture,
        &[
            "CREATE FUNCTION what(a INTEGER) RETURNING CHAR(10); RETURN 'int'; END FUNCTION",
            "CREATE FUNCTION what(a DATE) RETURNING CHAR(10); RETURN 'date'; END FUNCTION",
            "CREATE FUNCTION what(a VARCHAR(10), b INT) RETURNING CHAR(10) SPECIFIC what_two; RETURN 'two'; END FUNCTION",
            "CREATE FUNCTION upper(a INTEGER) RETURNING INTEGER; RETURN a + 1; END FUNCTION",
        ],
    );
    assert_eq!(session.run("EXECUTE FUNCTION what(1)"), ["int"]);
    assert_eq!(session.run("EXECUTE FUNCTION what(TODAY)"), ["date"]);
    assert_eq!(session.run("EXECUTE FUNCTION what('x', 2)"), ["two"]);
    assert_eq!(session.run("EXECUTE FUNCTION what(b = 2, a = 'x')"), ["two"]);
    assert_eq!(session.run("SELECT upper(id) FROM t WHERE id = 1"), ["2"]);
    assert_eq!(session.run("SELECT upper(name) FROM t WHERE id = 1"), ["ANN"]);
    assert_eq!(
        session.error("CREATE FUNCTION what(x INT) RETURNING INT; RETURN 1; END FUNCTION").informix_code(),
        -673
    );
    session.run("CREATE FUNCTION IF NOT EXISTS what(x INT) RETURNING INT; RETURN 1; END FUNCTION");
    assert_eq!(session.error("DROP FUNCTION what").informix_code(), -9700);
    session.run("DROP FUNCTION what(INTEGER)");
    session.run("DROP SPECIFIC FUNCTION what_two");
    session.run("DROP ROUTINE what");
    session.run("DROP FUNCTION IF EXISTS what");
    assert_eq!(session.error("DROP FUNCTION what").informix_code(), -674);
    assert_eq!(session.error("DROP PROCEDURE upper").informix_code(), -674);
}

#[test]
fn rows_of_a_function_are_a_table() {
    let fixture = Fixture::new();
    let mut session = session(
        &fixture,
        &["CREATE FUNCTION upto(n INT) RETURNING INT AS number, VARCHAR(10) AS word;
             DEFINE i INT; FOR i = 1 TO n RETURN i, 'n' || i WITH RESUME; END FOR;
           END FUNCTION"],
    );
    assert_eq!(session.run("EXECUTE FUNCTION upto(2)"), ["1|n1", "2|n2"]);
    assert_eq!(session.run("SELECT * FROM TABLE(FUNCTION upto(2)) AS x(a, b)"), ["1|n1", "2|n2"]);
    assert_eq!(
        session.run("SELECT t.name, u.word FROM t, TABLE(FUNCTION upto(2)) AS u WHERE t.id = u.number ORDER BY 1"),
        ["ann|n1", "bob|n2"]
    );
    session.run("CREATE TABLE copies (a INT, b VARCHAR(10))");
    assert_eq!(session.run("INSERT INTO copies EXECUTE FUNCTION upto(3)"), ["3"]);
    assert_eq!(session.run("SELECT count(*) FROM copies"), ["3"]);
    assert_eq!(session.error("SELECT upto(1) FROM t").informix_code(), -684);
    // Ten thousand rows: more than are kept in memory at once.
    assert_eq!(session.run("SELECT count(*), max(number) FROM TABLE(FUNCTION upto(10000)) AS u"), ["10000|10000"]);
}

#[test]
fn recursion_has_a_limit_and_globals_are_the_sessions() {
    let fixture = Fixture::new();
    let mut session = session(
        &fixture,
        &[
            "CREATE FUNCTION fact(n INT) RETURNING DECIMAL(30,0); IF n < 2 THEN RETURN 1; END IF; RETURN n * fact(n - 1); END FUNCTION",
            "CREATE FUNCTION down(n INT) RETURNING INT; DEFINE r INT; IF n = 0 THEN RETURN 0; END IF; LET r = down(n - 1); RETURN r + 1; END FUNCTION",
            "CREATE FUNCTION count_up() RETURNING INT; DEFINE GLOBAL g INT DEFAULT 10; LET g = g + 1; RETURN g; END FUNCTION",
        ],
    );
    assert_eq!(session.run("EXECUTE FUNCTION fact(25)"), ["15511210043330985984000000"]);
    assert_eq!(session.run("EXECUTE FUNCTION down(50)"), ["50"]);
    assert_eq!(session.error("EXECUTE FUNCTION down(1000)").condition(), Condition::RoutineTooDeep);
    assert_eq!(session.error("EXECUTE FUNCTION fact(1000)").condition(), Condition::RoutineTooDeep);
    assert_eq!(session.run("EXECUTE FUNCTION count_up()"), ["11"]);
    assert_eq!(session.run("EXECUTE FUNCTION count_up()"), ["12"]);
    let mut other = informix(session.database());
    assert_eq!(other.run("EXECUTE FUNCTION count_up()"), ["11"]);
}

#[test]
fn an_endless_routine_can_be_cancelled() {
    let fixture = Fixture::new();
    let mut session = session(
        &fixture,
        &[
            "CREATE PROCEDURE forever() DEFINE i INT; LET i = 0; WHILE 1 = 1
               BEGIN ON EXCEPTION END EXCEPTION; FOREACH SELECT id INTO i FROM t LET i = i + 1; END FOREACH; END
             END WHILE; END PROCEDURE",
            "CREATE FUNCTION spin() RETURNING INT; LOOP END LOOP; RETURN 1; END FUNCTION",
            "CREATE FUNCTION jump() RETURNING INT; <<again>> GOTO again; RETURN 1; END FUNCTION",
        ],
    );
    for sql in [
        "EXECUTE PROCEDURE forever()",
        "EXECUTE FUNCTION spin()",
        "SELECT spin() + 1 FROM t",
        "EXECUTE FUNCTION jump()",
    ] {
        let interrupter = session.interrupter();
        let stop = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
        let done = stop.clone();
        let thread = std::thread::spawn(move || {
            while !done.load(std::sync::atomic::Ordering::Relaxed) {
                interrupter.interrupt();
                std::thread::yield_now();
            }
        });
        let error = session.error(sql);
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        thread.join().unwrap();
        assert_eq!(error.condition(), Condition::QueryCanceled, "{sql}: {error:?}");
        assert_eq!(session.run("SELECT count(*) FROM t"), ["3"]);
    }
}

#[test]
fn routines_are_part_of_the_schema_and_of_transactions() {
    let fixture = Fixture::new();
    let mut session = session(&fixture, &["CREATE FUNCTION one() RETURNING INT; RETURN 1; END FUNCTION"]);
    let mut other = informix(session.database());
    assert_eq!(other.run("EXECUTE FUNCTION one()"), ["1"]);
    session.run("BEGIN WORK");
    session.run("CREATE FUNCTION two() RETURNING INT; RETURN one() + 1; END FUNCTION");
    assert_eq!(session.run("EXECUTE FUNCTION two()"), ["2"]);
    assert_eq!(other.error("EXECUTE FUNCTION two()").informix_code(), -674);
    session.run("ROLLBACK WORK");
    assert_eq!(session.error("EXECUTE FUNCTION two()").informix_code(), -674);
    session.run("CREATE OR REPLACE FUNCTION one() RETURNING INT; RETURN 7; END FUNCTION");
    assert_eq!(other.run("EXECUTE FUNCTION one()"), ["7"]);
    // A statement that was prepared before calls the new one, unless its columns are others.
    let plan = other.prepare("EXECUTE FUNCTION one()", &[]).unwrap().unwrap();
    session.run("CREATE OR REPLACE FUNCTION one() RETURNING INT; RETURN 8; END FUNCTION");
    let Outcome::Rows(mut cursor) = other.execute(&plan, &[]).unwrap() else { panic!("rows are expected") };
    assert_eq!(support::shown(cursor.next().unwrap().unwrap().get(0)), "8");
    drop(cursor);
    session.run("CREATE OR REPLACE FUNCTION one() RETURNING DATE; RETURN TODAY; END FUNCTION");
    assert_eq!(other.execute(&plan, &[]).unwrap_err().condition(), Condition::StalePlan);
    session.run("CREATE OR REPLACE FUNCTION one() RETURNING INT; RETURN 7; END FUNCTION");
    // The tables that a routine names may change, or come later.
    session.run(
        "CREATE FUNCTION rows() RETURNING INT; DEFINE n INT; SELECT count(*) INTO n FROM later; RETURN n; END FUNCTION",
    );
    assert_eq!(session.error("EXECUTE FUNCTION rows()").informix_code(), -206);
    session.run("CREATE TABLE later (a INT)");
    assert_eq!(session.run("EXECUTE FUNCTION rows()"), ["0"]);
    session.run("ALTER TABLE later ADD b INT");
    session.run("INSERT INTO later VALUES (1, 2)");
    assert_eq!(session.run("EXECUTE FUNCTION rows()"), ["1"]);
    drop((session, other));
    let mut again = informix(&fixture.open());
    assert_eq!(again.run("EXECUTE FUNCTION rows()"), ["1"]);
}

#[test]
fn the_catalog_knows_routines() {
    let fixture = Fixture::new();
    let mut session = session(
        &fixture,
        &[
            "CREATE FUNCTION pair(a INTEGER, b CHAR(10)) RETURNING INT AS x, DECIMAL(8,2) AS y WITH (NOT VARIANT); RETURN 1, 2; END FUNCTION DOCUMENT 'two'",
            "CREATE PROCEDURE nothing() END PROCEDURE",
        ],
    );
    assert_eq!(
        session.run("SELECT procname, isproc, numargs, variant, paramtypes FROM sysprocedures ORDER BY procname"),
        ["nothing|t|0|1|", "pair|f|2|0|integer,char"]
    );
    assert_eq!(
        session.run(
            "SELECT c.paramid, c.paramname, c.paramtype, c.paramlen, c.paramattr FROM sysproccolumns c, sysprocedures p
             WHERE c.procid = p.procid AND p.procname = 'pair' ORDER BY 1"
        ),
        ["1|a|2|4|1", "2|b|0|10|1", "3|x|2|4|3", "4|y|5|2050|3"]
    );
    assert_eq!(
        session
            .run("SELECT data FROM sysprocbody b, sysprocedures p WHERE b.procid = p.procid AND procname = 'nothing'"),
        ["CREATE PROCEDURE nothing() END PROCEDURE"]
    );
    assert_eq!(session.run("SELECT data FROM sysprocbody WHERE datakey = 'D'"), ["two"]);
    // What IBM's JDBC driver asks for getProcedureColumns.
    assert_eq!(
        session.run(
            "SELECT p.procname, get_data_type(pc.paramtype, pc.paramxid, 0), schema_bufflen(pc.paramtype, pc.paramlen),
             main:ifx_param_types(p.procid), main:ifx_ret_types(p.procid)
             FROM sysprocedures p, sysproccolumns pc WHERE p.procid = pc.procid AND pc.paramid > 2 ORDER BY pc.paramid"
        ),
        ["pair|4|4|integer,char|integer,decimal", "pair|3|10|integer,char|integer,decimal"]
    );
}

#[test]
fn a_call_has_as_many_arguments_as_servers_take() {
    let fixture = Fixture::new();
    let many = |count: usize| {
        let params: Vec<String> = (1..=count).map(|at| format!("p{at} INT DEFAULT {at}")).collect();
        let sum: Vec<String> = (1..=count).step_by(20).map(|at| format!("p{at}")).collect();
        let (params, sum) = (params.join(", "), sum.join(" + "));
        [
            format!("CREATE FUNCTION f{count}({params}) RETURNING INT, INT; RETURN p{count}, {sum}; END FUNCTION"),
            format!("CREATE FUNCTION g{count}({params}) RETURNING INT; RETURN p{count} - p1; END FUNCTION"),
        ]
    };
    let ([f100, g100], [f341, g341]) = (many(100), many(341));
    let mut session = session(&fixture, &[&f100, &g100, &f341, &g341]);
    for count in [100, 341] {
        let args: Vec<String> = (1..=count).map(|at| (at * 2).to_string()).collect();
        let args = args.join(", ");
        let sum: usize = (1..=count).step_by(20).map(|at| at * 2).sum();
        let row = format!("{}|{sum}", count * 2);
        assert_eq!(session.run(&format!("EXECUTE FUNCTION f{count}({args})")), [row.as_str()]);
        assert_eq!(
            session.run(&format!("SELECT a, b FROM TABLE(FUNCTION f{count}({args})) AS t(a, b)")),
            [row.as_str()]
        );
        let nulls = args.replacen("40", "NULL", 1);
        let rows = session.run(&format!("SELECT a FROM TABLE(FUNCTION f{count}({nulls})) AS t(a, b)"));
        assert_eq!(rows, [(count * 2).to_string()]);
        let last = (count * 2 - 2).to_string();
        assert_eq!(session.run(&format!("SELECT g{count}({args}) FROM t WHERE id = 1")), [last.as_str()]);
        // Beyond the sixty-fourth some are given, others are their defaults.
        let named = format!("p1 = 5, p{} = 90, p{count} = 7", count - 10);
        assert_eq!(session.run(&format!("SELECT g{count}({named}) FROM t WHERE id = 1")), ["2"]);
        assert_eq!(session.run(&format!("SELECT g{count}() FROM t WHERE id = 1")), [(count - 1).to_string().as_str()]);
        session.run("CREATE TABLE IF NOT EXISTS filled (n INT)");
        session.run(&format!("INSERT INTO filled SELECT g{count}({args}) FROM t"));
    }
    let params: Vec<String> = (1..=342).map(|at| format!("p{at} INT")).collect();
    let error = session.ask(&format!("CREATE PROCEDURE p({}) END PROCEDURE", params.join(", "))).unwrap_err();
    assert_eq!(error.condition(), Condition::TooManyArguments);
}

#[test]
fn of_routines_with_one_name_the_nearest_is_called_whichever_was_made_first() {
    let types = ["INT", "BIGINT", "DECIMAL(8,2)", "FLOAT", "VARCHAR(20)", "DATE", "DATETIME YEAR TO SECOND"];
    let calls = [
        ("1::SMALLINT", "INT"),
        ("1", "INT"),
        ("1::BIGINT", "BIGINT"),
        ("1.5", "DECIMAL(8,2)"),
        ("1.5::FLOAT", "FLOAT"),
        ("1::SMALLFLOAT", "FLOAT"),
        ("'x'", "VARCHAR(20)"),
        ("'x'::LVARCHAR", "VARCHAR(20)"),
        ("'x'::CHAR(3)", "VARCHAR(20)"),
        ("TODAY", "DATE"),
        ("CURRENT YEAR TO FRACTION(5)", "DATETIME YEAR TO SECOND"),
    ];
    for backwards in [false, true] {
        let fixture = Fixture::new();
        let mut made: Vec<String> = types
            .iter()
            .map(|ty| format!("CREATE FUNCTION which(p {ty}) RETURNING VARCHAR(40); RETURN '{ty}'; END FUNCTION"))
            .collect();
        if backwards {
            made.reverse();
        }
        let mut session = session(&fixture, &made.iter().map(String::as_str).collect::<Vec<_>>());
        for (arg, expected) in calls {
            assert_eq!(session.run(&format!("EXECUTE FUNCTION which({arg})")), [expected], "{arg}, {backwards}");
            assert_eq!(
                session.run(&format!("SELECT which({arg}) FROM t WHERE id = 1")),
                [expected],
                "{arg}, {backwards}"
            );
        }
    }
}
