//! Bodies, parsed.

use super::{Function, StepKind, parse};
use crate::stored_function::Definition;

fn parsed(source: &str) -> crate::Result<Function> {
    parse("f", &Definition::inline(source.to_owned()), &|_| None)
}

fn error(source: &str) -> String {
    parsed(source).expect_err("is wrong").message.clone()
}

#[test]
fn sql_is_cut_out_of_a_body() {
    let function = parsed(
        "DECLARE x int := 1; r record; BEGIN SELECT a, b INTO STRICT r FROM t WHERE c = x; x := x + 1; PERFORM g(x); END",
    )
    .expect("parses");
    let [select, assign, perform] = function.body.steps.as_slice() else { panic!("three steps") };
    match &select.kind {
        StepKind::Sql { sql, into: Some(into) } => {
            assert_eq!(&*sql.text, "SELECT a, b               FROM t WHERE c = x");
            assert!(into.strict);
        }
        other => panic!("{other:?}"),
    }
    assert!(matches!(&assign.kind, StepKind::Assign(_, sql) if &*sql.text == "SELECT x + 1"));
    assert!(matches!(&perform.kind, StepKind::Perform(sql) if &*sql.text == "SELECT g(x)"));
    assert!(!function.writes && function.calls == ["g"]);
}

#[test]
fn errors_are_postgresql_s() {
    assert_eq!(error("BEGIN x := 1; END"), "\"x\" is not a known variable");
    assert_eq!(error("BEGIN IF true LOOP END IF; END"), "missing \"THEN\" at end of SQL expression");
    assert_eq!(error("BEGIN EXIT; END"), "EXIT cannot be used outside a loop, unless it has a label");
    assert_eq!(error("DECLARE a int; a text; BEGIN END"), "duplicate declaration at or near \"a\"");
    assert_eq!(error("DECLARE a CONSTANT int := 1; BEGIN a := 2; END"), "variable \"a\" is declared CONSTANT");
    assert_eq!(error("BEGIN RAISE NOTICE '% %', 1; END"), "too few parameters specified for RAISE");
    assert_eq!(error("BEGIN x"), "syntax error at end of input");
}
