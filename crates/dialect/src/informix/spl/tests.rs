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

#[test]
fn a_text_that_ends_anywhere_is_an_error_and_no_panic() {
    let text = "CREATE FUNCTION f(INOUT a INT DEFAULT 1, b LIKE t.c) RETURNING INT AS x, DATE WITH (NOT VARIANT);
        DEFINE GLOBAL g INT DEFAULT 1; DEFINE c, d CHAR(3);
        ON EXCEPTION IN (-206, -310) SET c, d RAISE EXCEPTION c, d, 'x'; END EXCEPTION WITH RESUME;
        <<l>> FOR a IN (1 TO 3 STEP 2, 5) LET c, d = f(a), (SELECT max(x) FROM t WHERE y = a); EXIT l WHEN a = 2; END FOR;
        FOREACH cur WITH HOLD FOR SELECT FIRST a x, y INTO c, d FROM t WHERE z MATCHES c
            UPDATE t SET x = c WHERE CURRENT OF cur; END FOREACH;
        CASE a WHEN 1 THEN CALL p(a) RETURNING c; ELSE EXECUTE PROCEDURE q(b = 2) INTO c, d; END CASE;
        WHILE a < 3 BEGIN WORK; COMMIT WORK; EXECUTE IMMEDIATE c || d; END WHILE;
        IF EXISTS (SELECT 1 FROM t) THEN RETURN 1, TODAY WITH RESUME; ELIF a = 1 THEN RETURN; ELSE TRACE OFF; END IF;
        END FUNCTION DOCUMENT 'a', 'b'";
    parse(text).unwrap();
    for end in (0..text.len()).filter(|end| text.is_char_boundary(*end)) {
        let whole = text[..end].trim_end().ends_with("END FUNCTION") || end > text.find("DOCUMENT").unwrap();
        assert!(whole || parse(&text[..end]).is_err(), "{}", &text[..end]);
    }
}
