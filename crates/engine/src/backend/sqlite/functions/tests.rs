//! Every function of the table is registered; families answer as PostgreSQL does.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use rowferry_dialect::functions::{self, FunctionKind, Said};
use rowferry_dialect::no_schema::NoSchema;
use rowferry_dialect::types::Reg;
use rowferry_dialect::values::{Settings, zone};
use rowferry_dialect::{Condition, Error, Language, Result, Schema};
use rusqlite::Connection;
use rusqlite::types::Value as SqliteValue;

use super::{Context, FAMILIES, SessionState, aggregate, register, rows_sources, sequences, take_error};

/// The names that the function table passes to `family` as the first argument, a text.
pub(super) fn operations_of(family: &str) -> Vec<&'static str> {
    let head = format!("{family}('");
    let templates = functions::all().filter_map(|row| match row.said {
        Said::Template(template) => Some(template),
        _ => None,
    });
    let calls = templates.filter_map(|template| Some(template.split_once(&head)?.1));
    calls.map(|call| call.split('\'').next().unwrap_or_default()).collect()
}

/// A session without a database behind it.
struct Nobody;

impl SessionState for Nobody {
    fn schema(&self) -> Arc<dyn Schema> {
        Arc::new(NoSchema)
    }
    fn language(&self) -> Language {
        Language::Postgres
    }
    fn user(&self) -> String {
        "ann".to_owned()
    }
    fn database(&self) -> String {
        "store".to_owned()
    }
    fn pid(&self) -> i32 {
        42
    }
    fn search_path(&self, _: bool) -> Vec<String> {
        vec!["public".to_owned()]
    }
    fn variable(&self, _: &str) -> Option<String> {
        None
    }
    fn set_variable(&self, _: &str, _: Option<&str>, _: bool) -> Result<()> {
        Ok(())
    }
    fn nextval(&self, _: u32) -> Result<i64> {
        Ok(1)
    }
    fn currval(&self, _: u32) -> Result<i64> {
        Ok(1)
    }
    fn setval(&self, _: u32, value: i64, _: bool) -> Result<i64> {
        Ok(value)
    }
    fn lastval(&self) -> Result<i64> {
        Ok(1)
    }
    fn sleep(&self, _: Duration) -> Result<()> {
        Ok(())
    }
    fn search_object(&self, oid: u32) -> Option<Arc<rowferry_dialect::text_search::SearchObject>> {
        rowferry_dialect::text_search::built_in_by_oid(oid).cloned()
    }

    fn object_oid(&self, _: Reg, name: &str) -> Result<u32> {
        Err(Error::new(Condition::UndefinedTable, format!("relation \"{name}\" does not exist")))
    }
}

/// What functions know of a session without a database.
pub(super) fn context() -> Arc<Context> {
    let context = Arc::new(Context::new(Arc::new(Nobody)));
    // 2024-05-06 12:30:00 UTC.
    let now = 1_714_998_600_000_000;
    let time_zone = zone::find("Europe/Vienna").unwrap();
    context.set_settings(&Arc::new(Settings { time_zone, now: Some(now), ..Settings::default() }));
    context.set_times(now, now);
    context
}

pub(super) fn connection() -> Connection {
    let connection = Connection::open_in_memory().unwrap();
    register(&connection, &context()).unwrap();
    connection
}

/// The first column of every row, as SQLite prints it.
fn rows(connection: &Connection, sql: &str) -> Result<Vec<String>> {
    let failed = |error: rusqlite::Error| take_error().unwrap_or_else(|| Error::internal(error.to_string()));
    let mut statement = connection.prepare(sql).map_err(failed)?;
    let mut found = statement.query([]).map_err(failed)?;
    let mut shown = Vec::new();
    while let Some(row) = found.next().map_err(failed)? {
        shown.push(match row.get::<_, SqliteValue>(0).unwrap() {
            SqliteValue::Null => "NULL".to_owned(),
            SqliteValue::Integer(value) => value.to_string(),
            SqliteValue::Real(value) => format!("{value:?}"),
            SqliteValue::Text(text) => text,
            SqliteValue::Blob(bytes) => format!("{bytes:02x?}"),
        });
    }
    Ok(shown)
}

pub(super) fn one(sql: &str) -> String {
    rows(&connection(), &format!("SELECT {sql}")).unwrap_or_else(|error| panic!("{sql}: {error}")).remove(0)
}

pub(super) fn state_of(sql: &str) -> &'static str {
    match rows(&connection(), &format!("SELECT {sql}")) {
        Ok(rows) => panic!("{sql}: {rows:?}"),
        Err(error) => error.condition().sqlstate(),
    }
}

/// Names that begin with `rf_` in a template.
/// The functions that a template calls, not the collations that it names.
fn names_in(template: &str) -> Vec<String> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let words: Vec<&str> = template.split(|c: char| !is_name(c)).filter(|word| !word.is_empty()).collect();
    let is_call = |at: usize| words[at].starts_with("rf_") && (at == 0 || words[at - 1] != "COLLATE");
    (0..words.len()).filter(|at| is_call(*at)).map(|at| words[at].to_owned()).collect()
}

#[test]
fn every_function_of_the_table_is_registered() {
    let mut known: BTreeSet<String> = FAMILIES.iter().copied().flatten().map(|row| row.name.to_owned()).collect();
    known.extend(aggregate::names().map(str::to_owned));
    known.extend(rows_sources::SOURCES.iter().map(|rows| rows.name.to_str().unwrap().to_owned()));
    known.extend(sequences::names().map(str::to_owned));
    let mut missing = BTreeSet::new();
    for function in functions::all() {
        let names = match function.said {
            Said::Function(name)
            | Said::Infix(name)
            | Said::OfRanges(name)
            | Said::Prefix(name)
            | Said::Template(name) => names_in(name),
            // The rows of a catalog's relation.
            Said::Special("catalog") => Vec::new(),
            Said::Special(word) if function.kind == FunctionKind::SetReturning => vec![format!("rf_{word}")],
            // Extensions' functions are registered under one name.
            Said::Special(_) | Said::Module(_) => Vec::new(),
        };
        missing.extend(names.into_iter().filter(|name| !known.contains(name)));
    }
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn every_function_takes_the_arguments_of_the_table() {
    let scalar = |name: &str| FAMILIES.iter().copied().flatten().find(|row| row.name == name);
    for function in functions::all() {
        let Said::Function(name) = function.said else { continue };
        let Some(row) = scalar(name) else { continue };
        let most = function.args.len();
        let least = most - function.optional;
        assert!(usize::from(row.least) <= least, "{name} takes {least} arguments");
        assert!(most <= usize::from(row.most), "{name} takes {most} arguments");
        if function.variadic {
            assert_eq!(row.most, super::Row::MANY, "{name} is variadic");
        }
        assert!(!row.strict || function.strict, "{name} sees NULLs");
    }
}

#[test]
fn integers_overflow_with_an_error() {
    assert_eq!(one("rf_int4_add(2147483646, 1)"), "2147483647");
    assert_eq!(state_of("rf_int4_add(2147483647, 1)"), "22003");
    assert_eq!(state_of("rf_int8_mul(9223372036854775807, 2)"), "22003");
    assert_eq!(state_of("rf_int4_div(1, 0)"), "22012");
    assert_eq!(one("rf_int4_div(-7, 2)"), "-3");
    assert_eq!(one("rf_int4_mod(-7, 2)"), "-1");
    assert_eq!(one("rf_int4_add(NULL, 1)"), "NULL");
}

#[test]
fn decimals_are_exact() {
    assert_eq!(one("rf_numeric_mul('0.1', '3')"), "0.3");
    assert_eq!(one("rf_numeric_add('12345678901234567890.1', '0.01')"), "12345678901234567890.11");
    assert_eq!(one("rf_numeric_text(12.5, 2)"), "12.50");
    assert_eq!(one("'1.50' = '1.5' COLLATE decimal"), "1");
    assert_eq!(
        rows(
            &connection(),
            "SELECT rf_numeric_sum(value) FROM (VALUES ('0.10'), ('0.2'), (NULL))  AS t(value)"
                .replace("AS t(value)", "")
                .replace("value)", "column1)")
                .as_str()
        )
        .unwrap(),
        ["0.30"]
    );
    assert_eq!(one("rf_numeric_avg(column1) FROM (VALUES ('1'), ('2'))"), "1.5000000000000000");
    assert_eq!(one("rf_numeric_sum(column1) FROM (VALUES (NULL))"), "NULL");
    assert_eq!(one("rf_numeric_stddev_samp(column1) FROM (VALUES ('1'), ('2'), ('4'))"), "1.5275252316519467");
}

#[test]
fn floats_keep_nan_and_fail_on_overflow() {
    assert_eq!(one("rf_float8_add('NaN', 1.0)"), "NaN");
    assert_eq!(state_of("rf_float8_mul(1e300, 1e300)"), "22003");
    assert_eq!(one("rf_float8_sqrt(2.0)"), "1.4142135623730951");
    assert_eq!(state_of("rf_float8_ln(0.0)"), "2201E");
}

#[test]
fn aggregates_slide_over_windows() {
    let connection = connection();
    let window = "OVER (ORDER BY column1 ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)";
    let values = "FROM (VALUES (1), (2), (4))";
    for (call, expected) in [
        ("rf_int8_sum(column1)", ["1", "3", "6"]),
        ("rf_numeric_sum(column1)", ["1", "3", "6"]),
        ("rf_float8_sum(column1)", ["1.0", "3.0", "6.0"]),
        ("rf_string_agg(column1, '-')", ["1", "1-2", "2-4"]),
        ("rf_array_agg(column1)", ["[1]", "[1,2]", "[2,4]"]),
        ("rf_bit_or(column1)", ["1", "3", "6"]),
    ] {
        // string_agg takes text.
        let call = call.replace("rf_string_agg(column1", "rf_string_agg(CAST(column1 AS TEXT)");
        assert_eq!(rows(&connection, &format!("SELECT {call} {window} {values}")).unwrap(), expected, "{call}");
    }
}

#[test]
fn text_functions() {
    for (sql, result) in [
        ("rf_substring('hello', 2, 3)", "ell"),
        ("rf_substring('hello', -1, 4)", "he"),
        ("rf_substring('höllo', 2)", "öllo"),
        ("rf_left('hello', -2)", "hel"),
        ("rf_right('hello', 2)", "lo"),
        ("rf_right('hello', -2)", "llo"),
        ("rf_lpad('7', 3, '0')", "007"),
        ("rf_split_part('a,b,c', ',', -1)", "c"),
        ("rf_initcap('hELLO wORLD')", "Hello World"),
        ("rf_translate('12345', '143', 'ax')", "a2x5"),
        ("rf_overlay('Txxxxas', 'hom', 2, 4)", "Thomas"),
        ("rf_format('Hello %s, %1$s %I %L', 'World', 'a b', 'it''s')", "Hello World, World \"a b\" 'it''s'"),
        ("rf_format('|%10s|%-5s|', 'x', 'y')", "|         x|y    |"),
        ("rf_md5('abc')", "900150983cd24fb0d6963f7d28e17f72"),
        ("rf_encode(x'010203ff', 'base64')", "AQID/w=="),
        ("rf_decode('AQID/w==', 'base64')", "[01, 02, 03, ff]"),
        ("rf_encode(rf_sha256(x''), 'hex')", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("rf_quote_ident('Order')", "\"Order\""),
        ("rf_quote_ident('select')", "\"select\""),
        ("rf_quote_literal('a\\b')", "E'a\\\\b'"),
        ("rf_string_to_array('a,,b', ',', '')", "[\"a\",null,\"b\"]"),
        ("rf_like('hello', 'h%o')", "1"),
        ("rf_like('Hello', 'h%')", "0"),
        ("rf_ilike('HELLO', 'h_ll%')", "1"),
        ("rf_like('a%b', 'a\\%b')", "1"),
        ("rf_like('a%b', 'a!%b', '!')", "1"),
        ("rf_matches('Smith', 'S[lm]?t*')", "1"),
        ("rf_matches('Smith', '[^S]*')", "0"),
    ] {
        assert_eq!(one(sql), result, "{sql}");
    }
    assert_eq!(state_of("rf_like('ab', 'a\\')"), "22025");
    assert_eq!(state_of("rf_substring('abc', 1, -1)"), "22011");
    assert_eq!(state_of("rf_split_part('a', ',', 0)"), "22023");
}

#[test]
fn regular_expressions() {
    for (sql, result) in [
        ("rf_regex_match('foobar', '^foo', '')", "1"),
        ("rf_regex_match('FOO', 'foo', 'i')", "1"),
        ("rf_regex_match('a' || char(10) || 'b', 'a.b', '')", "1"),
        ("rf_regex_match('a' || char(10) || 'b', '^b$', '')", "0"),
        ("rf_regex_match('a' || char(10) || 'b', '^b$', 'n')", "1"),
        ("rf_regexp_replace('foobarbaz', 'b(..)', 'X\\1Y', 'g')", "fooXarYXazY"),
        ("rf_regexp_replace('foobarbaz', 'b..', 'X')", "fooXbaz"),
        ("rf_regexp_match('foobarbequebaz', '(bar)(beque)')", "[\"bar\",\"beque\"]"),
        ("rf_regexp_split_to_array('hello world', '\\s+')", "[\"hello\",\"world\"]"),
        ("rf_regex_substring('foobar', 'o(.)b')", "o"),
        ("rf_regex_match('one word', '\\mword\\M', '')", "1"),
        ("rf_regex_match('a]b', '[]x]', '')", "1"),
        ("rf_regex_match('a&b', 'a[&&]b', '')", "1"),
        ("rf_regex_match('abcabc', '(abc)\\1', '')", "1"),
    ] {
        assert_eq!(one(sql), result, "{sql}");
    }
    assert_eq!(state_of("rf_regex_match('a', '(', '')"), "2201B");
}

#[test]
fn dates_and_times() {
    for (sql, result) in [
        ("rf_now()", "2024-05-06 12:30:00+00"),
        ("rf_current_date()", "2024-05-06"),
        ("rf_localtimestamp()", "2024-05-06 14:30:00"),
        ("rf_date_add('2024-05-06', 30)", "2024-06-05"),
        ("rf_date_diff('2024-05-06', '2024-04-06')", "30"),
        ("rf_timestamp_add_interval('2024-01-31', '1 mon')", "2024-02-29 00:00:00"),
        ("rf_timestamptz_add_interval('2026-03-28 11:00:00+00', '1 day')", "2026-03-29 10:00:00+00"),
        ("rf_timestamp_diff('2024-05-06 12:00:00', '2024-05-01 00:00:00')", "5 days 12:00:00"),
        ("rf_extract_date('year', '2024-05-06')", "2024"),
        ("rf_extract_date('month', 'infinity')", "NULL"),
        ("rf_extract_timestamptz('hour', '2024-05-06 12:30:00+00')", "14"),
        ("rf_date_trunc_timestamp('month', '2024-05-06 12:30:00')", "2024-05-01 00:00:00"),
        ("rf_date_trunc_timestamptz('day', '2024-05-06 12:30:00+00')", "2024-05-05 22:00:00+00"),
        ("rf_to_char_timestamptz('2024-05-06 12:30:00+00', 'YYYY-MM-DD HH24:MI TZ')", "2024-05-06 14:30 CEST"),
        ("rf_timezone_from_utc('America/New_York', '2024-05-06 12:30:00+00')", "2024-05-06 08:30:00"),
        ("rf_age('2001-04-10', '1957-06-13')", "43 years 9 mons 27 days"),
        ("rf_make_date(2024, 2, 29)", "2024-02-29"),
        ("rf_make_interval(1, 2, 3, 4)", "1 year 2 mons 25 days"),
        ("rf_to_timestamp(1714998600.5)", "2024-05-06 12:30:00.5+00"),
        ("rf_to_date('05 Dec 2000', 'DD Mon YYYY')", "2000-12-05"),
    ] {
        assert_eq!(one(sql), result, "{sql}");
    }
    assert_eq!(state_of("rf_extract_date('hour', '2024-05-06')"), "0A000");
    assert_eq!(state_of("rf_extract_timestamp('foo', '2024-05-06 00:00:00')"), "22023");
    assert_eq!(state_of("rf_make_date(2024, 13, 1)"), "22008");
}

#[test]
fn json_functions() {
    for (sql, result) in [
        ("rf_json_get('{\"a\": {\"b\" :1}}', 'a')", "{\"b\" :1}"),
        ("rf_json_get_text('{\"a\":\"x\\ny\"}', 'a')", "x\ny"),
        ("rf_json_get_text('{\"a\":null}', 'a')", "NULL"),
        ("rf_json_get_at('[1,[2,3]]', -1)", "[2,3]"),
        ("rf_json_path_text('{\"a\":[1,{\"b\":\"c\"}]}', '[\"a\",\"1\",\"b\"]')", "c"),
        ("rf_jsonb_contains('{\"a\": 1, \"b\": [1, 2]}', '{\"b\": [2]}')", "1"),
        ("rf_jsonb_contains('{\"a\": 1}', '{\"a\": 1, \"c\": 2}')", "0"),
        ("rf_jsonb_concat('{\"a\": 1}', '{\"b\": 2}')", "{\"a\": 1, \"b\": 2}"),
        ("rf_jsonb_set('{\"a\": [1, 2]}', '[\"a\",\"1\"]', '9')", "{\"a\": [1, 9]}"),
        ("rf_jsonb_delete('{\"a\": 1, \"b\": 2}', 'a')", "{\"b\": 2}"),
        ("rf_jsonb_exists('[\"a\", \"b\"]', 'b')", "1"),
        ("rf_json_typeof('[1]')", "array"),
        ("rf_json_array_length('[1,2,3]')", "3"),
        ("rf_to_json('2024-05-06 12:30:00+00', 'timestamptz')", "\"2024-05-06T14:30:00+02:00\""),
        ("rf_to_json('[1,0]', 'boolean[]')", "[true,false]"),
        ("rf_to_json('1.50', 'numeric text')", "1.50"),
        ("rf_json_build_object('a', 'text', 1, 'integer')", "{\"a\" : 1}"),
        ("rf_jsonb_build_array(1, 'integer', 'x', 'text')", "[1, \"x\"]"),
        ("rf_json_agg(column1, 'text') FROM (VALUES ('a'), (NULL))", "[\"a\", null]"),
        ("'{\"a\": 1.0}' = '{\"a\": 1}' COLLATE rf_jsonb", "1"),
    ] {
        assert_eq!(one(sql), result, "{sql}");
    }
    assert_eq!(state_of("rf_json_array_length('{}')"), "22023");
}

#[test]
fn arrays() {
    for (sql, result) in [
        ("rf_make_array(1, NULL, 2)", "[1,null,2]"),
        ("rf_make_array('1.50', 'x')", "[\"1.50\",\"x\"]"),
        ("rf_array_get('[10,20]', 2)", "20"),
        ("rf_array_get('[10,20]', 3)", "NULL"),
        ("rf_array_length('[[1,2],[3,4],[5,6]]', 2)", "2"),
        ("rf_array_append('[1]', 2)", "[1,2]"),
        ("rf_array_cat('[1]', '[2,3]')", "[1,2,3]"),
        ("rf_array_position('rf_array', '[\"a\",\"b\"]', 'b')", "2"),
        ("rf_array_contains('rf_array', '[1,2,3]', '[3,1]')", "1"),
        ("rf_array_overlaps('rf_array', '[1,2]', '[2,3]')", "1"),
        ("rf_array_remove('rf_array', '[1,2,1]', 1)", "[2]"),
        ("rf_array_to_string('[1,null,3]', 'integer', ',', '*')", "1,*,3"),
    ] {
        assert_eq!(one(sql), result, "{sql}");
    }
}

#[test]
fn functions_that_return_rows() {
    let connection = connection();
    for (sql, expected) in [
        ("SELECT c0 FROM rf_generate_series_int(1, 3)", vec!["1", "2", "3"]),
        ("SELECT c0 FROM rf_generate_series_int(3, 1, -2)", vec!["3", "1"]),
        ("SELECT c0 FROM rf_generate_series_numeric('1', '2', '0.5')", vec!["1", "1.5", "2.0"]),
        (
            "SELECT c0 FROM rf_generate_series_timestamp('2024-01-31', '2024-04-01', '1 mon')",
            vec!["2024-01-31 00:00:00", "2024-02-29 00:00:00", "2024-03-29 00:00:00"],
        ),
        ("SELECT c0 FROM rf_unnest('[1,null,\"x\"]')", vec!["1", "NULL", "x"]),
        ("SELECT ordinality FROM rf_unnest('[\"a\",\"b\"]')", vec!["1", "2"]),
        ("SELECT c1 FROM rf_json_each('{\"a\":1,\"b\":[2]}')", vec!["1", "[2]"]),
        ("SELECT c0 FROM rf_json_object_keys('{\"a\":1,\"b\":2}')", vec!["a", "b"]),
        ("SELECT c0 FROM rf_regexp_matches('foobarbaz', 'b(.)', 'g')", vec!["[\"a\"]", "[\"a\"]"]),
        ("SELECT s.c0 FROM (VALUES (2), (1)) AS v, rf_generate_series_int(1, v.column1) AS s", vec!["1", "2", "1"]),
        ("SELECT c0 FROM rf_string_to_table('a,b', ',')", vec!["a", "b"]),
        ("SELECT c0 FROM rf_generate_series_int(1, NULL)", vec![]),
    ] {
        assert_eq!(rows(&connection, sql).unwrap(), expected, "{sql}");
    }
    assert_eq!(
        rows(&connection, "SELECT c0 FROM rf_generate_series_int(1, 2, 0)").unwrap_err().condition().sqlstate(),
        "22023"
    );
    // Pulled, not collected.
    assert_eq!(
        rows(&connection, "SELECT c0 FROM rf_generate_series_int(1, 9000000000000000000) LIMIT 2").unwrap(),
        ["1", "2"]
    );
}

#[test]
fn conversions_at_run_time() {
    for (sql, result) in [
        ("rf_cast('42', 'text', 'integer', 'e')", "42"),
        ("rf_cast('1.005', 'numeric text', 'numeric(10,2)', 'e')", "1.01"),
        ("rf_cast('2024-05-06 14:30', 'text', 'timestamptz', 'e')", "2024-05-06 12:30:00+00"),
        ("rf_cast('abcdef', 'text', 'varchar(3)', 'e')", "abc"),
        ("rf_cast(NULL, 'text', 'integer', 'e')", "NULL"),
        ("rf_limit(NULL)", "-1"),
    ] {
        assert_eq!(one(sql), result, "{sql}");
    }
    assert_eq!(state_of("rf_cast('x', 'text', 'integer', 'e')"), "22P02");
    assert_eq!(state_of("rf_cast('abcdef', 'text', 'varchar(3)', 'a')"), "22001");
    assert_eq!(state_of("rf_not_null(NULL, 't', 'c')"), "23502");
    assert_eq!(state_of("rf_limit(-1)"), "2201W");
}

#[test]
fn session_functions() {
    assert_eq!(one("rf_current_user()"), "ann");
    assert_eq!(one("rf_current_schemas(1)"), "[\"public\"]");
    assert_eq!(one("rf_format_type(1043, 14)"), "character varying(10)");
    assert_eq!(one("rf_format_type(23, NULL)"), "integer");
    assert_eq!(one("rf_to_regclass('missing')"), "NULL");
    assert_eq!(state_of("rf_current_setting('no.such')"), "42704");
    assert_eq!(one("rf_pg_size_pretty(10240)"), "10 kB");
    assert_eq!(one("length(rf_gen_random_uuid())"), "36");
}
