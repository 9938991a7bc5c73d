//! Files of statements with their answers: a file is one database.
//!
//! Each statement is ended by a line `----` and followed by its answer up to an empty line; lines that begin with `#` say
//! where an answer comes from.

use std::fmt::Write as _;
use std::path::Path;

/// A statement with the answer that is expected.
pub struct Case {
    pub line: usize,
    pub comments: String,
    pub sql: String,
    pub answer: String,
}

/// The cases of a file's text.
pub fn cases(text: &str) -> Vec<Case> {
    let mut cases = Vec::new();
    let mut case = Case { line: 1, comments: String::new(), sql: String::new(), answer: String::new() };
    let mut answering = false;
    for (at, line) in text.lines().chain([""]).enumerate() {
        if answering {
            if !line.is_empty() {
                writeln!(case.answer, "{line}").unwrap();
                continue;
            }
            answering = false;
            let next = Case { line: at + 2, comments: String::new(), sql: String::new(), answer: String::new() };
            cases.push(std::mem::replace(&mut case, next));
        } else if line == "----" {
            answering = true;
        } else if line.starts_with('#') || (line.is_empty() && case.sql.is_empty()) {
            writeln!(case.comments, "{line}").unwrap();
        } else {
            writeln!(case.sql, "{line}").unwrap();
        }
    }
    assert!(case.sql.is_empty(), "a statement without ---- at the end: {}", case.sql);
    cases
}

/// Compares what `answer` says with `tests/FOLDER/NAME.txt`; with `ROWFERRY_CASES` writes it beside the file instead
/// (`*.actual`), to be read before it is believed.
pub fn check_cases(folder: &str, name: &str, mut answer: impl FnMut(&str) -> String) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(folder).join(format!("{name}.txt"));
    let text = std::fs::read_to_string(&path).unwrap();
    let mut actual = String::new();
    let mut failures = String::new();
    for case in cases(&text) {
        let found = answer(&case.sql);
        write!(actual, "{}{}----\n{found}\n", case.comments, case.sql).unwrap();
        if found != case.answer {
            let at = case.line;
            write!(failures, "line {at}: {}expected:\n{}answered:\n{found}\n", case.sql, case.answer).unwrap();
        }
    }
    if std::env::var_os("ROWFERRY_CASES").is_some() {
        std::fs::write(path.with_extension("actual"), actual).unwrap();
    } else {
        assert!(failures.is_empty(), "{name}:\n{failures}");
    }
}
