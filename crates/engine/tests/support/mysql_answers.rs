//! What a MySQL statement answers, as the files of cases have it.

use std::fmt::Write as _;

use rowferry_dialect::values::mysql::unsigned::{is_wide, of_bytes};
use rowferry_engine::ir::Value;
use rowferry_engine::{Answer, Command, Error, Outcome, Result, Session, Type};

/// The answer of a text of statements.
pub fn run(session: &mut Session, sql: &str) -> Result<String> {
    let mut out = String::new();
    for parsed in session.parse(sql)? {
        let plan = session.prepare_parsed(&parsed, &[])?;
        let outcome = session.execute(&plan, &[]);
        written(session, &mut out, outcome)?;
    }
    Ok(out)
}

/// Writes a statement's answer behind the rows that procedures have had for the client. What they have had before they
/// failed is told, too.
pub fn written(session: &mut Session, out: &mut String, outcome: Result<Outcome>) -> Result<()> {
    let answers: Vec<Answer> = session.take_answers();
    let some = !answers.is_empty();
    answers.into_iter().try_for_each(|answer| write(out, Outcome::Rows(answer.rows)))?;
    match outcome {
        Ok(outcome) => write(out, outcome),
        Err(error) if some => {
            session.fail();
            out.push_str(&failed(&error));
            Ok(())
        }
        Err(error) => Err(error),
    }
}

fn failed(error: &Error) -> String {
    format!("ERROR {} {}\n", error.condition().sqlstate(), error.message)
}

fn write(out: &mut String, outcome: Outcome) -> Result<()> {
    match outcome {
        Outcome::Done { command, rows } => {
            let counted = matches!(command, Command::Insert | Command::Update | Command::Delete);
            writeln!(out, "{}", if counted { rows.to_string() } else { "OK".to_owned() }).unwrap();
        }
        Outcome::Rows(mut cursor) => {
            let columns = cursor.columns().to_vec();
            let heads: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
            writeln!(out, "{}", heads.join(" | ")).unwrap();
            while let Some(row) = cursor.next()? {
                let mut values = Vec::new();
                for (at, column) in columns.iter().enumerate() {
                    values.push(shown(row.get(at).to_value(), &column.ty));
                }
                writeln!(out, "{}", values.join("|")).unwrap();
            }
        }
    }
    Ok(())
}

fn shown(value: Value, ty: &Type) -> String {
    match (&value, ty) {
        (Value::Null, _) => "NULL".to_owned(),
        (Value::Integer(number), _) => number.to_string(),
        (Value::Real(number), _) => number.to_string(),
        (Value::Blob(bytes), ty)
            if is_wide(ty)
                && let Some(number) = of_bytes(bytes) =>
        {
            number.to_string()
        }
        (Value::Blob(bytes), _) => String::from_utf8_lossy(bytes).into_owned(),
        (Value::Text(text), _) => text.clone(),
    }
}

/// The answer of a text of statements, or its failure.
pub fn answer(session: &mut Session, sql: &str) -> String {
    let found = run(session, sql);
    answered(session, found)
}

/// What is found, or why it is not.
pub fn answered(session: &mut Session, found: Result<String>) -> String {
    found.unwrap_or_else(|error: Error| {
        session.fail();
        failed(&error)
    })
}
