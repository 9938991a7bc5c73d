//! The PostgreSQL front end on literate cases: each file in `cases/postgres` is a list of statements with what comes
//! of them. `UPDATE_CASES=1` writes what comes now; read the difference as code.

mod support;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use rowferry_dialect::ir::{Ddl, Statement};
use rowferry_dialect::plan::{Bound, Context};
use rowferry_dialect::postgres::{self, types};
use rowferry_dialect::{Condition, Error};

fn context() -> Context {
    Context { user: "tester".to_owned(), database: "store".to_owned(), ..Context::default() }
}

fn bind_all(sql: &str) -> Vec<Result<Bound, Error>> {
    let schema = support::store();
    match postgres::parse(sql) {
        Ok(statements) => {
            statements.iter().map(|statement| postgres::bind(statement, &schema, &context(), &[])).collect()
        }
        Err(error) => vec![Err(error)],
    }
}

/// What a statement came to, in a few words.
fn summary(result: &Result<Bound, Error>) -> String {
    match result {
        Ok(bound) => {
            let mut text = kind(&bound.statement);
            if !bound.columns.is_empty() {
                let columns: Vec<String> = bound
                    .columns
                    .iter()
                    .map(|column| format!("{} {}", column.name, types::format_type(&column.ty)))
                    .collect();
                let _ = write!(text, " ({})", columns.join(", "));
            }
            if !bound.params.is_empty() {
                let params: Vec<String> = bound.params.iter().map(types::format_type).collect();
                let _ = write!(text, " params: {}", params.join(", "));
            }
            for notice in &bound.notices {
                let _ = write!(text, " NOTICE: {notice}");
            }
            text
        }
        Err(error) => {
            let mut text = format!("ERROR {}", error.condition().sqlstate());
            if let Some(position) = error.position {
                let _ = write!(text, " at {position}");
            }
            let _ = write!(text, ": {}", error.message);
            if let Some(detail) = &error.detail {
                let _ = write!(text, " DETAIL: {detail}");
            }
            if let Some(hint) = &error.hint {
                let _ = write!(text, " HINT: {hint}");
            }
            text
        }
    }
}

fn kind(statement: &Statement) -> String {
    let debug = format!("{statement:?}");
    let word = |text: &str| text.chars().take_while(|c| c.is_alphanumeric()).collect::<String>().to_lowercase();
    match statement {
        Statement::Ddl(ddl) => match &**ddl {
            Ddl::CreateTable(table) => {
                let mut text = format!("create table {}:", table.name);
                for column in &table.columns {
                    let _ = write!(text, " {} {}", column.name, types::format_type(&column.ty));
                    if column.not_null {
                        text.push_str(" not null");
                    }
                    if let Some(default) = &column.default {
                        let _ = write!(text, " default {}", default.text);
                    }
                    if column.identity.is_some() {
                        text.push_str(" identity");
                    }
                    if let Some(generated) = &column.generated {
                        let _ = write!(text, " generated {}", generated.text);
                    }
                    text.push(';');
                }
                for constraint in &table.constraints {
                    let _ = write!(text, " {} {};", constraint.name, word(&format!("{:?}", constraint.kind)));
                }
                text
            }
            Ddl::CreateIndex(index) => {
                let keys: Vec<&str> = index.keys.iter().map(|key| key.key.text.as_str()).collect();
                format!("create index {} ({})", index.name, keys.join(", "))
            }
            Ddl::CreateView(view) => format!("create view {} as {}", view.name, view.text),
            Ddl::AlterTable { actions, .. } => {
                let words: Vec<String> = actions.iter().map(|action| word(&format!("{action:?}"))).collect();
                format!("alter table {}", words.join(", "))
            }
            _ => word(debug.trim_start_matches("Ddl(")),
        },
        Statement::Dml(dml) => word(&format!("{:?}", dml.action)),
        _ => word(&debug),
    }
}

fn case_files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/postgres");
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder).expect("the cases are there").map(|entry| entry.expect("readable").path()).collect();
    files.sort();
    files
}

/// Statements of a case file: each ends at a line that begins with `=>`; lines that begin with `#` are prose.
fn cases(text: &str) -> Vec<(String, String)> {
    let mut cases = Vec::new();
    let mut sql = String::new();
    for line in text.lines() {
        if let Some(expected) = line.strip_prefix("=>") {
            cases.push((sql.trim().to_owned(), expected.trim().to_owned()));
            sql.clear();
        } else if !line.starts_with('#') {
            sql.push_str(line);
            sql.push('\n');
        }
    }
    assert!(sql.trim().is_empty(), "a statement without a result: {sql}");
    cases
}

#[test]
fn statements_come_to_what_the_cases_say() {
    let update = std::env::var_os("UPDATE_CASES").is_some();
    let mut wrong = Vec::new();
    for path in case_files() {
        let text = fs::read_to_string(&path).expect("readable");
        let mut written = String::new();
        let mut sql = String::new();
        for line in text.lines() {
            if let Some(expected) = line.strip_prefix("=>") {
                let results: Vec<String> = bind_all(sql.trim()).iter().map(summary).collect();
                let actual = results.join(" ;; ");
                if actual != expected.trim() {
                    wrong.push(format!(
                        "{}\n  {}\n  expected {}\n  actual   {actual}",
                        path.display(),
                        sql.trim(),
                        expected.trim()
                    ));
                }
                let _ = writeln!(written, "=> {actual}");
                sql.clear();
            } else {
                let _ = writeln!(written, "{line}");
                if !line.starts_with('#') {
                    sql.push_str(line);
                    sql.push('\n');
                }
            }
        }
        if update {
            fs::write(&path, written).expect("writable");
        }
    }
    assert!(update || wrong.is_empty(), "{} cases differ:\n{}", wrong.len(), wrong.join("\n"));
}

/// Every statement of the corpus is valid PostgreSQL: it binds, or is refused by name.
#[test]
fn the_corpus_binds_or_names_what_is_missing() {
    let corpus = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/corpus.sql"))
        .expect("the corpus is there");
    let (mut bound, mut refused, mut failed) = (0, Vec::new(), Vec::new());
    for statement in corpus.split("\n\n").filter(|statement| !statement.trim().is_empty()) {
        for result in bind_all(statement) {
            match result {
                Ok(_) => bound += 1,
                Err(error) if error.condition() == Condition::FeatureNotSupported => {
                    refused.push(format!("{} [{}]", error.message, statement.lines().next().unwrap_or_default()));
                }
                Err(error) => failed.push(format!("{statement}\n{}", summary(&Err(error)))),
            }
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
    assert!(bound + refused.len() >= 170, "{bound} + {}", refused.len());
    assert!(refused.len() * 5 <= bound, "{bound} bound, refused:\n{}", refused.join("\n"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    /// Broken text ends in an error or a statement, never in a panic.
    #[test]
    fn broken_statements_never_panic(pick in any::<prop::sample::Index>(), cut in any::<prop::sample::Index>(), kind in 0..4_u8, with in any::<char>()) {
        let corpus = include_str!("cases/corpus.sql");
        let statements: Vec<&str> = corpus.split("\n\n").collect();
        let statement = pick.get(&statements);
        let places: Vec<usize> = statement.char_indices().map(|(at, _)| at).chain([statement.len()]).collect();
        let at = *cut.get(&places);
        let (head, tail) = statement.split_at(at);
        let rest = tail.chars().next().map_or("", |c| &tail[c.len_utf8()..]);
        let broken = match kind {
            0 => head.to_owned(),
            1 => tail.to_owned(),
            2 => format!("{head}{rest}"),
            _ => format!("{head}{with}{rest}"),
        };
        for result in bind_all(&broken) {
            if let Err(error) = result {
                prop_assert_ne!(error.condition(), Condition::InternalError, "{}: {}", broken, error);
            }
        }
    }

    /// Words in any order end in an error or a statement, never in a panic.
    #[test]
    fn shuffled_words_never_panic(words in prop::collection::vec(prop::sample::select(WORDS), 1..24)) {
        for result in bind_all(&words.join(" ")) {
            if let Err(error) = result {
                prop_assert_ne!(error.condition(), Condition::InternalError, "{}: {}", words.join(" "), error);
            }
        }
    }
}

const WORDS: &[&str] = &[
    "select",
    "from",
    "where",
    "orders",
    "customers",
    "o",
    "c",
    ",",
    "(",
    ")",
    "id",
    "name",
    "total",
    "=",
    "<",
    "and",
    "or",
    "not",
    "in",
    "exists",
    "group",
    "by",
    "order",
    "having",
    "count",
    "(*)",
    "sum",
    "1",
    "'x'",
    "null",
    "$1",
    "*",
    ".",
    "join",
    "left",
    "on",
    "using",
    "natural",
    "union",
    "all",
    "limit",
    "case",
    "when",
    "then",
    "else",
    "end",
    "cast",
    "as",
    "::",
    "int",
    "text",
    "array",
    "[",
    "]",
    "any",
    "over",
    "partition",
    "with",
    "recursive",
    "values",
    "insert",
    "into",
    "update",
    "set",
    "delete",
    "returning",
    "default",
    "distinct",
    "is",
    "between",
    "like",
    "row",
    "interval",
    "create",
    "table",
    "view",
    "index",
    "primary",
    "key",
    "references",
    "check",
    "drop",
    "alter",
    "add",
    "column",
    "generate_series",
    "unnest",
    "lateral",
    "for",
    "begin",
    "excluded",
    "conflict",
    "do",
    "nothing",
];

#[test]
fn case_files_are_well_formed() {
    for path in case_files() {
        let text = fs::read_to_string(&path).expect("readable");
        assert!(!cases(&text).is_empty(), "{}", path.display());
    }
}

#[test]
fn declared_parameter_types_are_kept() {
    let schema = support::store();
    let statement = &postgres::parse("select $1, $2").expect("parses")[0];
    let bound =
        postgres::bind(statement, &schema, &context(), &[Some(rowferry_dialect::Type::Int8), None]).expect("binds");
    assert_eq!(bound.params, [rowferry_dialect::Type::Int8, rowferry_dialect::Type::Text]);
}

#[test]
fn expressions_nest_up_to_a_limit() {
    // The plan of a deep statement is dropped on a stack such as a session has.
    let thread = std::thread::Builder::new().stack_size(16 * 1024 * 1024).spawn(|| {
        for (depth, binds) in [(30, true), (3_000, true), (7_000, false)] {
            let nested = format!("select {}1{}", "abs(".repeat(depth), ")".repeat(depth));
            for result in bind_all(&nested) {
                match result {
                    Ok(_) => assert!(binds, "{depth}"),
                    Err(error) => {
                        assert!(!binds, "{depth}");
                        assert_eq!(error.condition(), Condition::StatementTooComplex, "{error}");
                    }
                }
            }
        }
    });
    thread.expect("a thread can be had").join().expect("nothing panicked");
}

/// What binds can be said in SQLite, or is refused by name.
#[test]
fn the_corpus_lowers_or_names_what_is_missing() {
    let corpus = include_str!("cases/corpus.sql");
    let (mut lowered, mut refused, mut failed) = (0, Vec::new(), Vec::new());
    for statement in corpus.split("\n\n").filter(|statement| !statement.trim().is_empty()) {
        for bound in bind_all(statement).into_iter().flatten() {
            if !matches!(bound.statement, Statement::Query(_) | Statement::Dml(_)) {
                continue;
            }
            match rowferry_dialect::lower::sqlite::lower(&bound) {
                Ok(_) => lowered += 1,
                Err(error) if error.condition() == Condition::FeatureNotSupported => {
                    refused.push(format!("{} [{}]", error.message, statement));
                }
                Err(error) => failed.push(format!("{statement}\n{}", summary(&Err(error)))),
            }
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
    eprintln!("{}", refused.join("\n"));
    assert!(refused.len() * 5 <= lowered, "{lowered} lowered, refused:\n{}", refused.join("\n"));
}
