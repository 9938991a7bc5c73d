//! What an Informix statement answers, as the files of cases have it.

use std::fmt::Write as _;

use rowferry_dialect::informix::{casts, values::convert};
use rowferry_engine::ir::Value;
use rowferry_engine::{Error, Outcome, Result, Session, Type};

/// The answer of a text of statements.
pub fn run(session: &mut Session, sql: &str) -> Result<String> {
    let mut out = String::new();
    for parsed in session.parse(sql)? {
        let plan = session.prepare_parsed(&parsed, &[])?;
        match session.execute(&plan, &[])? {
            Outcome::Done { rows, .. } => {
                let counted = matches!(parsed.informix().map(|found| found.statement_type()), Some(3..=6 | 32 | 33));
                writeln!(out, "{}", if counted { rows.to_string() } else { "OK".to_owned() }).unwrap();
            }
            Outcome::Rows(mut cursor) => {
                let columns = plan.bound.columns.clone();
                let heads: Vec<String> =
                    columns.iter().map(|column| format!("{} {}", column.name, casts::shown(&column.ty))).collect();
                writeln!(out, "{}", heads.join(" | ")).unwrap();
                while let Some(row) = cursor.next()? {
                    let mut values = Vec::new();
                    for (at, column) in columns.iter().enumerate() {
                        values.push(shown(row.get(at).to_value(), &column.ty)?);
                    }
                    writeln!(out, "{}", values.join("|")).unwrap();
                }
            }
        }
    }
    Ok(out)
}

fn shown(value: Value, ty: &Type) -> Result<String> {
    Ok(match value {
        Value::Null => "NULL".to_owned(),
        Value::Real(number) if matches!(ty.without_distinct(), Type::Float4 | Type::Float8) => number.to_string(),
        value => match convert(&value, ty, &Type::Text)? {
            Value::Text(text) => text,
            other => format!("{other:?}"),
        },
    })
}

/// The same, with what a failure says.
pub fn answer(session: &mut Session, sql: &str) -> String {
    run(session, sql).unwrap_or_else(|error: Error| {
        session.fail();
        format!("ERROR {} {}\n", error.condition().informix_code(), error.message)
    })
}
