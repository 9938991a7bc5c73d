//! SQL texts through the front ends: parsed, bound against the tests' store, lowered to SQLite.

use std::sync::LazyLock;

use rowferry_client::mysql::{Outline, Template, split_insert};
use rowferry_dialect::lower::sqlite;
use rowferry_dialect::plan::Context;
use rowferry_dialect::{informix as ifx, postgres as pg};

use crate::support;

static STORE: LazyLock<support::Store> = LazyLock::new(support::store);

/// PostgreSQL's SQL.
pub fn postgres(data: &[u8]) {
    let Ok(sql) = std::str::from_utf8(data) else { return };
    let Ok(statements) = pg::parse(sql) else { return };
    let context = Context { user: "tester".to_owned(), database: "store".to_owned(), ..Context::default() };
    for statement in &statements {
        if let Ok(bound) = pg::bind(statement, &*STORE, &context, &[]) {
            let _ = sqlite::lower(&bound);
        }
    }
}

/// Informix's SQL.
pub fn informix(data: &[u8]) {
    let Ok(sql) = std::str::from_utf8(data) else { return };
    let Ok(statements) = ifx::parse(sql) else { return };
    for multibyte in [false, true] {
        let context = ifx::Context {
            user: "tester".to_owned(),
            database: "store".to_owned(),
            server: "rowferry".to_owned(),
            asked_from: None,
            multibyte,
            dates: None,
            strict: false,
        };
        for statement in &statements {
            if let Ok(bound) = ifx::bind(statement, &*STORE, &context, &[]) {
                let _ = sqlite::lower(&bound);
            }
        }
    }
    // What a dump says of views and expressions.
    let _ = ifx::in_postgres::view(sql, &["a", "b"], &|_| None);
    let _ = ifx::in_postgres::expression(sql, std::collections::BTreeSet::new());
}

/// A routine in SPL.
pub fn spl(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(routine) = ifx::spl::parse(text) else { return };
    let _ = (routine.signature(&*STORE), routine.param_types(&*STORE), routine.result_columns(&*STORE));
}

/// What the MySQL driver takes apart itself: placeholders, ends of statements, lists of values. The first byte says
/// whether a backslash escapes.
pub fn mysql_template(data: &[u8]) {
    let Some((&mode, sql)) = data.split_first() else { return };
    let escapes = mode % 2 == 0;
    let _ = Template::parse(sql, escapes);
    let outline = Outline::of(sql, escapes);
    assert!(outline.end <= sql.len(), "the end is behind the text");
    if let Some(parts) = split_insert(sql, escapes) {
        assert!(parts.head.end <= parts.values.start && parts.values.end <= parts.tail.start);
        assert!(parts.tail.end <= sql.len(), "the rest is behind the text");
    }
}
