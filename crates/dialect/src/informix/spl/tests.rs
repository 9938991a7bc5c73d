use super::*;

#[test]
fn a_variable_is_a_parameter_where_it_stands() {
    let text = "CREATE FUNCTION f(a INT, b CHAR(3)) RETURNING INT; DEFINE c INT;
        SELECT x INTO c FROM t WHERE y = b AND z = a AND w = b; RETURN c; END FUNCTION";
    let routine = parse(text).unwrap();
    let StepKind::Sql { sql, into, .. } = &routine.body.steps[0].kind else { panic!("{routine:?}") };
    // The variables: a, b, SQLCODE, c.
    assert_eq!((sql.uses.as_slice(), into.as_slice()), (&[1, 0][..], &[3][..]));
    assert_eq!(sql.statement.params(), 2);
    assert!(!routine.writes);
    assert_eq!(routine.body.steps[0].line, 2);
}

#[test]
fn what_a_routine_does_is_known() {
    let routine = parse(
        "CREATE DBA PROCEDURE p(a INT DEFAULT 1, OUT b INT) CALL q(a); INSERT INTO t VALUES (g(a)); END PROCEDURE
         DOCUMENT 'one', 'two'",
    )
    .unwrap();
    assert!(routine.writes && routine.dba && !routine.function);
    assert_eq!(routine.calls, ["q", "g"]);
    assert_eq!(routine.document, ["one", "two"]);
    assert_eq!(routine.params[1].mode, Mode::Out);
}
