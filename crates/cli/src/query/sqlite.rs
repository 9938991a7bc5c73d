//! A SQLite file, asked in PostgreSQL's SQL through the same engine that `serve` uses.

use std::fmt::Write as _;
use std::io::Write;
use std::path::Path;

use rowferry_engine::{
    Command, Cursor, Database, Error, Journal, Language, Options, Outcome, ResultColumn, SessionOptions, Type, ValueRef,
};

use rowferry_dialect::values::{self, Settings};

use super::{Column, Kind, Printer, caret, changed};
use crate::Failure;

pub(super) fn ask<W: Write>(path: &Path, sql: &str, printer: &mut Printer<W>) -> Result<(), Failure> {
    // A look at a file leaves it as it is.
    let options = Options { journal: Journal::Keep, ..Options::default() };
    let database = Database::open(path, options).map_err(|error| failure(&error, sql))?;
    let mut options = SessionOptions::new("rowferry", Language::Postgres);
    options.application_name = "rowferry query".into();
    let mut session = database.session(options);
    let fail = |error: Error| failure(&error, sql);
    let statements = session.parse(sql).map_err(fail)?;
    for statement in &statements {
        // Several statements are one transaction, as in PostgreSQL: all of them or none.
        session.begin_implicit();
        let prepared = session.prepare_parsed(statement, &[]).map_err(fail)?;
        if !prepared.bound.params.is_empty() {
            return Err(Failure::new("the statement has parameters").hint("write the values into the statement"));
        }
        match session.execute(&prepared, &[]).map_err(fail)? {
            Outcome::Rows(mut cursor) => print(&mut cursor, &session.settings(), sql, printer)?,
            Outcome::Done { command, rows } => printer.done(&match command {
                Command::Utility(words) => words.to_owned(),
                _ => changed(rows),
            })?,
        }
        for notice in session.drain_notices() {
            eprintln!("notice: {}", notice.message);
        }
    }
    session.end_implicit().map_err(fail)
}

fn print<W: Write>(
    cursor: &mut Cursor,
    settings: &Settings,
    sql: &str,
    printer: &mut Printer<W>,
) -> Result<(), Failure> {
    let types: Vec<Type> = cursor.columns().iter().map(|column| column.ty.clone()).collect();
    printer.begin(cursor.columns().iter().map(column).collect())?;
    while let Some(row) = cursor.next().map_err(|error| failure(&error, sql))? {
        let shown = |(index, ty): (usize, &Type)| match (ty, row.get(index)) {
            (Type::Reg(_), value @ ValueRef::Integer(_)) => named(ty, value, settings),
            (_, value) => text(ty, value),
        };
        printer.row(types.iter().enumerate().map(shown).collect())?;
    }
    Ok(())
}

/// The name of an object that is stored as its number.
fn named(ty: &Type, value: ValueRef<'_>, settings: &Settings) -> Option<String> {
    let mut out = Vec::new();
    match values::write(&mut out, value, ty, settings) {
        Ok(()) => String::from_utf8(out).ok(),
        Err(_) => text(ty, value),
    }
}

fn column(column: &ResultColumn) -> Column {
    let kind = match column.ty {
        Type::Bool => Kind::Boolean,
        Type::Int2
        | Type::Int4
        | Type::Int8
        | Type::Oid
        | Type::Float4
        | Type::Float8
        | Type::Numeric(_)
        | Type::FloatingDecimal(_)
        | Type::Money(_) => Kind::Number,
        _ => Kind::Text,
    };
    Column { name: column.name.clone(), kind }
}

/// A stored value as people read it.
fn text(ty: &Type, value: ValueRef<'_>) -> Option<String> {
    let scale = match ty {
        Type::Numeric(Some(modifier)) | Type::Money(modifier) => usize::try_from(modifier.scale).unwrap_or(0),
        _ => 0,
    };
    Some(match value {
        ValueRef::Null => return None,
        ValueRef::Integer(number) if *ty == Type::Bool => if number == 0 { "f" } else { "t" }.into(),
        ValueRef::Integer(number) if scale > 0 => format!("{number}.{:0<scale$}", ""),
        ValueRef::Integer(number) => number.to_string(),
        // NUMERIC columns of up to 15 digits are stored as SQLite numbers, exact when rounded to their scale.
        ValueRef::Real(number) if scale > 0 => format!("{number:.scale$}"),
        ValueRef::Real(number) => number.to_string(),
        ValueRef::Text(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        ValueRef::Blob(bytes) => bytes.iter().fold("\\x".to_owned(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        }),
    })
}

fn failure(error: &Error, sql: &str) -> Failure {
    let mut message = format!("{} (SQLSTATE {})", error.message, error.condition().sqlstate());
    if let Some(detail) = &error.detail {
        let _ = write!(message, "\n{detail}");
    }
    if let Some(position) = error.position {
        message.push_str(&caret(sql, position));
    }
    Failure { message, hint: error.hint.clone() }
}

#[cfg(test)]
mod tests {
    use rowferry_dialect::types::NumericModifier;

    use super::*;

    #[test]
    fn numerics_keep_their_scale() {
        let money = Type::Numeric(Some(NumericModifier { precision: 10, scale: 2 }));
        assert_eq!(text(&money, ValueRef::Real(12.5)).as_deref(), Some("12.50"));
        assert_eq!(text(&money, ValueRef::Integer(-3)).as_deref(), Some("-3.00"));
        assert_eq!(text(&Type::Bool, ValueRef::Integer(1)).as_deref(), Some("t"));
        assert_eq!(text(&Type::Bytea, ValueRef::Blob(b"\x00\xff")).as_deref(), Some("\\x00ff"));
        assert_eq!(text(&Type::Text, ValueRef::Null), None);
    }
}
