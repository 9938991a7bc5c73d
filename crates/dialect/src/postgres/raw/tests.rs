//! The trees that are read in place are those that the library serialises.

use std::fs;
use std::path::{Path, PathBuf};

use super::*;

/// The trees of a text as the library serialises them, or its message.
fn serialised(sql: &str) -> Result<Vec<node::Node>, String> {
    let tree = pg_query::parse(sql, 0).map_err(|error| match error {
        pg_query::Error::Parse(message) => message,
        other => panic!("{sql}: {other}"),
    })?;
    Ok(tree.protobuf.stmts.into_iter().filter_map(|statement| statement.stmt?.node).collect())
}

/// Compares both; true for a text that parses.
#[track_caller]
fn same(sql: &str) -> bool {
    let (read, expected) = (parse(sql), serialised(sql));
    match (&read, &expected) {
        (Ok(read), Ok(expected)) => {
            assert_eq!(read.len(), expected.len(), "{sql}");
            for (statement, expected) in read.iter().zip(expected) {
                assert!(*statement.tree == *expected, "{sql}\n{:#?}\n{expected:#?}", *statement.tree);
            }
        }
        (Err(error), Err(message)) => assert_eq!(error.message, *message, "{sql}"),
        _ => {
            panic!("{sql}: read {}, serialised {expected:?}", read.map_or_else(|error| error.message, |_| "it".into()))
        }
    }
    expected.is_ok()
}

/// The statements of the files of recorded conversations in a directory.
fn recorded(directory: &Path) -> Vec<String> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(directory).expect("is there").map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let texts = files.iter().filter(|file| file.extension().is_some_and(|kind| kind == "txt"));
    let cases = texts.map(|file| fs::read_to_string(file).expect("is text"));
    cases
        .flat_map(|text| {
            let parts: Vec<&str> = text.split("\n\n").filter_map(|case| Some(case.split_once("\n----")?.0)).collect();
            parts.into_iter().map(str::to_owned).collect::<Vec<_>>()
        })
        .collect()
}

#[test]
fn every_recorded_statement_is_read_as_it_is_serialised() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let directories =
        ["tests/python/postgres/sessions", "crates/engine/tests/compiled", "crates/engine/tests/triggers"];
    let parsed = directories
        .iter()
        .flat_map(|directory| recorded(&root.join(directory)))
        .filter(|statement| same(statement))
        .count();
    assert!(parsed > 9_000, "{parsed} statements parse");
}

#[test]
fn every_kind_of_literal_is_read_as_it_is_serialised() {
    for sql in
        ["select 1, 1.5, 1e3, 'ä', null, true, b'01', x'ff', 99999999999, -1, e'\\u00e4', $1", "", ";;", "select"]
    {
        same(sql);
    }
}
