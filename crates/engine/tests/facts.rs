//! What PostgreSQL says of itself, through the catalogs: answers as PostgreSQL 15 gives them.
#![allow(clippy::disallowed_types, clippy::disallowed_methods, reason = "files are what is tested")]

mod support;

use support::{Ask, Fixture, postgres};

fn all(query: &str) -> Vec<String> {
    let fixture = Fixture::new();
    postgres(&fixture.open()).run(query)
}

#[test]
fn catalogs_have_postgresql_s_rows() {
    // count(*), sum(oid) of those that initdb does not number for itself.
    for (table, answer) in [
        ("pg_am", "7|11915"),
        ("pg_cast", "229|2316106"),
        ("pg_operator", "799|1387666"),
        ("pg_opfamily", "146|484799"),
        ("pg_opclass", "177|1693833"),
        ("pg_amop", "945|9896040"),
        ("pg_amproc", "696|7201860"),
        ("pg_proc", "3229|8162360"),
        ("pg_type", "313|1587242"),
        ("pg_collation", "3|2001"),
        ("pg_conversion", "128|571744"),
        ("pg_language", "3|39"),
    ] {
        let rows = all(&format!("select count(*), sum(oid::bigint) from {table} where oid < 12000"));
        assert_eq!(rows, [answer], "{table}");
    }
}

#[test]
fn object_identifiers_of_functions_and_types_are_names() {
    assert_eq!(
        all("select oid::regproc::text from pg_proc where oid in (31, 750, 1064, 1299, 2108) order by pg_proc.oid"),
        ["byteaout", "array_in", "bpchar_smaller", "now", "pg_catalog.sum"]
    );
    assert_eq!(
        all(
            "select oid::regprocedure::text from pg_proc where oid in (31, 750, 1299, 2108, 2147, 3064) order by pg_proc.oid"
        ),
        [
            "byteaout(bytea)",
            "array_in(cstring,oid,integer)",
            "now()",
            "sum(integer)",
            "count(\"any\")",
            "gist_point_distance(internal,point,smallint,oid,internal)",
        ]
    );
    assert_eq!(
        all("select 'now'::regproc::oid, 'sum(int4)'::regprocedure::oid, 'inet'::regtype::oid, \
             'double precision[]'::regtype::oid, to_regproc('sum'), to_regtype('nix')"),
        ["1299|2108|869|1022|NULL|NULL"]
    );
    assert_eq!(
        all("select 869::oid::regtype::text, 22::regtype::text, 1007::regtype::text"),
        ["inet|int2vector|integer[]"]
    );
    assert_eq!(
        all(
            "select 96::regoper::text, 96::regoperator::text, 558::regoperator::text, '||/(NONE, float8)'::regoperator::oid, \
             '^@'::regoper::oid, '-(integer,bigint)'::regoperator::text"
        ),
        ["pg_catalog.=|=(integer,integer)|-(NONE,integer)|597|3877|-(integer,bigint)"]
    );
}

#[test]
fn names_of_functions_must_be_one_s() {
    let fixture = Fixture::new();
    let mut session = postgres(&fixture.open());
    for (text, sqlstate, message) in [
        ("'sum'::regproc", "42725", "more than one function named \"sum\""),
        ("'nix'::regproc", "42883", "function \"nix\" does not exist"),
        ("'nix(int)'::regprocedure", "42883", "function \"nix(int)\" does not exist"),
        ("'nix'::regtype", "42704", "type \"nix\" does not exist"),
        ("'='::regoper", "42725", "more than one operator named ="),
        ("'nix'::regoper", "42883", "operator does not exist: nix"),
        ("'=(int4)'::regoperator", "42P02", "missing argument"),
        ("'=(int4,inet)'::regoperator", "42883", "operator does not exist: =(int4,inet)"),
    ] {
        let error = session.error(&format!("select {text}"));
        assert_eq!((error.condition().sqlstate(), error.message.as_str()), (sqlstate, message), "{text}");
        assert_eq!(error.position, Some(8), "{text}");
        session.fail();
    }
    session.run("create function now(int) returns int language sql as 'select $1'");
    assert_eq!(session.fails("select 'now'::regproc"), "42725");
    session.fail();
    assert_eq!(session.run("select 'now(int)'::regprocedure::oid > 16000, 1299::regproc::text"), ["1|pg_catalog.now"]);
}

#[test]
fn signatures_of_functions_are_printed() {
    assert_eq!(
        all(
            "select pg_get_function_arguments(oid), pg_get_function_identity_arguments(oid), pg_get_function_result(oid) \
             from pg_proc where proname in ('parse_ident', 'json_each', 'rank', 'concat') order by oid"
        ),
        [
            "str text, strict boolean DEFAULT true|str text, strict boolean|text[]",
            "VARIADIC \"any\"|VARIADIC \"any\"|text",
            "||bigint",
            "from_json json, OUT key text, OUT value json|from_json json, OUT key text, OUT value json|SETOF record",
            "VARIADIC \"any\" ORDER BY VARIADIC \"any\"|VARIADIC \"any\" ORDER BY VARIADIC \"any\"|bigint",
        ]
    );
}

#[test]
fn encodings_have_numbers() {
    assert_eq!(
        all(
            "select pg_encoding_to_char(6), pg_encoding_to_char(41), pg_encoding_to_char(99), pg_char_to_encoding('latin1'), \
             pg_char_to_encoding('windows-1252'), pg_char_to_encoding('nix')"
        ),
        ["UTF8|SHIFT_JIS_2004||8|24|-1"]
    );
}

#[test]
fn arguments_by_name_take_postgresql_s_names_and_defaults() {
    let fixture = Fixture::new();
    let mut session = postgres(&fixture.open());
    let query = "select make_interval(2, days => 2, hours => '3'), jsonb_path_exists('{}', path => '$'), \
                 (select value from json_each(from_json => '{\"a\":1}'))";
    assert_eq!(session.run(query), ["2 years 2 days 03:00:00|1|1"]);
    for (call, message) in [
        ("make_interval(foo => 1)", "function make_interval(foo => integer) does not exist"),
        ("make_interval(1, years => 2)", "function make_interval(integer, years => integer) does not exist"),
        ("lower(str => 'a')", "function lower(str => unknown) does not exist"),
        ("make_interval(years => 1, years => 2)", "argument name \"years\" used more than once"),
        ("make_interval(years => 1, 2)", "positional argument cannot follow named argument"),
    ] {
        assert_eq!(session.error(&format!("select {call}")).message, message);
        session.fail();
    }
}

#[test]
fn what_postgresql_would_call_is_told_apart_from_what_it_has_not() {
    let fixture = Fixture::new();
    let mut session = postgres(&fixture.open());
    for (call, sqlstate, message) in [
        ("lower(1)", "42883", "function lower(integer) does not exist"),
        ("date_part('a', 'b')", "42725", "function date_part(unknown, unknown) is not unique"),
        ("unnest('a')", "42725", "function unnest(unknown) is not unique"),
        ("num_nulls()", "42883", "function num_nulls() does not exist"),
        ("'1' + '2'", "42725", "operator is not unique: unknown + unknown"),
        ("- '1'", "42725", "operator is not unique: - unknown"),
        ("true + true", "42883", "operator does not exist: boolean + boolean"),
        ("'{}'::json = '{}'::json", "42883", "operator does not exist: json = json"),
        ("'1' <-> '2'", "42725", "operator is not unique: unknown <-> unknown"),
    ] {
        let error = session.error(&format!("select {call}"));
        assert_eq!((error.condition().sqlstate(), error.message.as_str()), (sqlstate, message), "{call}");
        session.fail();
    }
}
