//! Every function that reads a long text, array or JSON asks, as it goes, whether it may go on.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rowferry_dialect::{Condition, Error, Result, work};
use rusqlite::Connection;
use rusqlite::types::Value;

use super::{
    Row, arrays, bits, bytea, conversions, encodings, json, json_change, like, regex, strings, subscripts, take_error,
    tests,
};

/// Functions that need not ask beyond the first time.
const EXEMPT: &[&str] = &[
    // They look at a few bytes or at the labels of a type, or only copy, search or hash at the speed of memory.
    "rf_array_fill",
    "rf_ascii",
    "rf_bits_get",
    "rf_bits_overlay",
    "rf_bits_set",
    "rf_bits_substring",
    "rf_bytea_bit_count",
    "rf_bytea_concat",
    "rf_bytea_get_bit",
    "rf_bytea_overlay",
    "rf_bytea_set_bit",
    "rf_name_get",
    "rf_set_byte",
    "rf_bytea_substring",
    "rf_chr",
    "rf_convert",
    "rf_convert_from",
    "rf_convert_to",
    "rf_enum_range",
    "rf_get_byte",
    "rf_hash",
    "rf_json_typeof",
    "rf_length_in",
    "rf_normalize",
    "rf_quote_ident",
    "rf_quote_literal",
    "rf_quote_nullable",
    "rf_starts_with",
    "instr",
    // A long pattern is none of SQLite's.
    "rf_glob",
];

/// Bytes of a long argument: several stretches of work.
const LONG: usize = 5 * work::STRIDE;

/// Lets work go on the first time it asks, when a function is called, and no more.
#[derive(Default)]
struct Once(AtomicUsize);

impl work::Supervisor for Once {
    fn proceed(&self) -> Result<()> {
        match self.0.fetch_add(1, Ordering::Relaxed) {
            0 => Ok(()),
            _ => Err(Error::new(Condition::QueryCanceled, "stop")),
        }
    }

    fn room(&self, _: usize) -> Result<()> {
        Ok(())
    }
}

fn long_values() -> Vec<Value> {
    let repeated = |unit: &str| unit.repeat(LONG / unit.len());
    let members = |unit: &str| repeated(unit).trim_end_matches(',').to_owned();
    let keys: Vec<String> = (0..LONG / 16).map(|key| format!("\"{key}\":{key}")).collect();
    vec![
        Value::Text(repeated("ab,g ")),
        Value::Text(repeated("ß,")),
        Value::Text(repeated("00")),
        Value::Text(repeated("\\\\0041")),
        Value::Text(members("a.").trim_end_matches('.').to_owned()),
        Value::Text(format!("[{}]", members("1,"))),
        Value::Text(format!("[{}]", members("\"a\","))),
        Value::Text(format!("{{{}}}", keys.join(","))),
        Value::Blob(vec![0; LONG]),
    ]
}

fn short_values() -> Vec<Value> {
    let texts = ["hex", "base64", ",", "[1]", "[\"b\"]", "text", "a", "g", "101", "%a"];
    let mut values: Vec<Value> = texts.iter().map(|text| Value::Text((*text).to_owned())).collect();
    values.push(Value::Integer(LONG as i64 / 2));
    values
}

/// True if the call was stopped in the middle.
fn is_stopped(connection: &Connection, sql: &str, args: &[Value]) -> bool {
    take_error();
    work::supervise(Arc::new(Once::default()));
    let result = connection.query_row(sql, rusqlite::params_from_iter(args), |_| Ok(()));
    work::supervise(Arc::new(Unsupervised));
    result.is_err() && take_error().is_some_and(|error| error.condition() == Condition::QueryCanceled)
}

/// Nobody stops anything.
struct Unsupervised;

impl work::Supervisor for Unsupervised {
    fn proceed(&self) -> Result<()> {
        Ok(())
    }

    fn room(&self, _: usize) -> Result<()> {
        Ok(())
    }
}

/// True if some call of the function with a long argument can be stopped.
fn can_be_stopped(connection: &Connection, row: &Row, long: &[Value], short: &[Value]) -> bool {
    let most = if row.most == Row::MANY { row.least.max(4) } else { row.most };
    (row.least.max(1)..=most).any(|count| {
        let places: Vec<String> = (1..=count).map(|place| format!("?{place}")).collect();
        let sql = format!("SELECT {}({})", row.name, places.join(", "));
        (0..usize::from(count.min(3))).any(|at| {
            long.iter().any(|long| {
                short.iter().any(|short| {
                    let mut args = vec![short.clone(); usize::from(count)];
                    args[at] = long.clone();
                    // The last one is often a number.
                    let mut counted = args.clone();
                    counted[usize::from(count) - 1] = Value::Integer(2);
                    is_stopped(connection, &sql, &args) || is_stopped(connection, &sql, &counted)
                })
            })
        })
    })
}

#[test]
fn functions_on_long_arguments_can_be_stopped() {
    let connection = tests::connection();
    let (long, short) = (long_values(), short_values());
    let families = [
        arrays::ROWS,
        bits::ROWS,
        bytea::ROWS,
        conversions::ROWS,
        encodings::ROWS,
        json::ROWS,
        json_change::ROWS,
        like::ROWS,
        regex::ROWS,
        strings::ROWS,
        subscripts::ROWS,
    ];
    let rows = families.into_iter().flatten();
    let deaf: Vec<&str> = rows
        .filter(|row| !EXEMPT.contains(&row.name) && !can_be_stopped(&connection, row, &long, &short))
        .map(|row| row.name)
        .collect();
    assert!(deaf.is_empty(), "they go on to their end whatever happens: {deaf:?}");
}
