//! Runs a file of cases, and tells what each statement is on a PostgreSQL back end.
//!
//! `two_back_ends postgres|informix FILE…` writes a line of JSON for each statement: `sql`, what it answers here (`rows`,
//! each a list of texts or nulls, or `error`, an SQLSTATE), `ordered` when the order of its rows is asked for, and
//! `lowered`, its SQL for PostgreSQL, or `refused`, what PostgreSQL cannot be told. Behind a change that was refused stands
//! `mirror`, statements that make all tables there what they are here. Whoever reads it runs the lowered statements there,
//! and compares.

use std::path::Path;

use rowferry_dialect::Type;
use rowferry_dialect::lower::postgres;
use rowferry_dialect::postgres::types::import;
use rowferry_dialect::values::{self, Settings, zone};
use rowferry_engine::ir::{Body, CastContext, From, Statement, Value};
use rowferry_engine::{Database, Error, Language, Options, Outcome, Result, Session, SessionOptions};
use serde_json::{Value as Json, json};

/// The time zone of the recorded cases.
const ZONE: &str = "Europe/Vienna";

/// The statements of a file of cases: they end at a line `----`, their answers at an empty line.
fn statements(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let (mut sql, mut answering) = (String::new(), false);
    for line in text.lines() {
        match (answering, line) {
            (true, "") => answering = false,
            (true, _) => {}
            (false, "----") => {
                answering = true;
                found.push(std::mem::take(&mut sql));
            }
            (false, line) if sql.is_empty() && (line.is_empty() || line.starts_with('#') || line.starts_with("--")) => {
            }
            (false, line) => {
                sql.push_str(line);
                sql.push('\n');
            }
        }
    }
    found
}

/// A statement's rows as PostgreSQL would print them.
fn rows(session: &mut Session, plan: &std::sync::Arc<rowferry_engine::Prepared>) -> Result<Json> {
    let settings = Settings { time_zone: zone::find(ZONE).expect("a known time zone"), ..Settings::default() };
    let columns = plan.bound.columns.clone();
    let Outcome::Rows(mut cursor) = session.execute(plan, &[])? else { return Ok(json!([])) };
    let mut rows = Vec::new();
    while let Some(row) = cursor.next()? {
        let mut members = Vec::with_capacity(columns.len());
        for (at, column) in columns.iter().enumerate() {
            members.push(match row.get(at).to_value() {
                Value::Null => Json::Null,
                value => {
                    let told = import(&column.ty);
                    // Its fields are units there.
                    let value = match column.ty {
                        Type::QualifiedInterval(_) => {
                            values::cast(&value, &column.ty, &told, CastContext::Implicit, &settings)?
                        }
                        _ => value,
                    };
                    Json::String(values::output(&value, &told, &settings)?)
                }
            });
        }
        rows.push(Json::Array(members));
    }
    Ok(Json::Array(rows))
}

/// Every value of a query's rows, as texts.
fn texts(found: &Json) -> Vec<Vec<Option<String>>> {
    let rows = found.as_array().into_iter().flatten();
    rows.map(|row| {
        let values = row.as_array().into_iter().flatten();
        values.map(|value| value.as_str().map(str::to_owned)).collect()
    })
    .collect()
}

/// Statements that make the tables which PostgreSQL can hold what they are here.
fn mirror(session: &mut Session, language: Language) -> Result<Vec<String>> {
    let tables = match language {
        Language::Informix => "select tabname from systables where tabtype = 'T' and tabid > 99",
        _ => "select relname from pg_class where relkind = 'r' and oid >= 16384",
    };
    let mut statements = Vec::new();
    let Some(plan) = session.prepare(tables, &[])? else { return Ok(statements) };
    for name in texts(&rows(session, &plan)?).into_iter().flatten().flatten() {
        let Some(plan) = session.prepare(&format!("select * from {name}"), &[])? else { continue };
        let Statement::Query(query) = &plan.bound.statement else { continue };
        let Body::Select(select) = &query.body else { continue };
        let Some(From::Relation { relation, .. }) = &select.from else { continue };
        statements.push(postgres::table(relation));
        let relation = relation.clone();
        statements.extend(texts(&rows(session, &plan)?).iter().map(|row| postgres::row(&relation, row)));
        statements.extend(postgres::numbers(&relation));
    }
    Ok(statements)
}

/// What becomes of one statement.
fn case(session: &mut Session, sql: &str, language: Language) -> Json {
    let failed = |session: &mut Session, error: Error| {
        session.fail();
        json!({ "sql": sql, "error": error.condition().sqlstate(), "message": error.to_string() })
    };
    let plan = match session.prepare(sql, &[]) {
        Ok(Some(plan)) => plan,
        Ok(None) => return json!({ "sql": sql, "refused": "nothing" }),
        Err(error) => return failed(session, error),
    };
    let statement = &plan.bound.statement;
    let ordered = matches!(statement, Statement::Query(query) if !query.order_by.is_empty());
    let lowered = if postgres::is_spelled_out(statement) { Ok(String::new()) } else { postgres::lower(&plan.bound) };
    let mut found = match rows(session, &plan) {
        Ok(rows) => json!({ "sql": sql, "rows": rows, "ordered": ordered }),
        Err(error) => failed(session, error),
    };
    let (key, text) = match lowered {
        Ok(lowered) => ("lowered", lowered),
        Err(error) => ("refused", error.message.clone()),
    };
    let changes = key == "refused" && !matches!(plan.bound.statement, Statement::Query(_));
    found[key] = Json::String(text);
    if changes {
        found["mirror"] = json!(mirror(session, language).unwrap_or_default());
    }
    found
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let language = match arguments.next().as_deref() {
        Some("postgres") => Language::Postgres,
        Some("informix") => Language::Informix,
        _ => panic!("two_back_ends postgres|informix FILE…"),
    };
    for file in arguments {
        let directory = tempfile::tempdir().expect("a directory for the database");
        let path = directory.path().join("store.db");
        let database = Database::open(&path, Options { create: true, ..Options::default() }).expect("a database");
        let mut session = database.session(SessionOptions::new("ada", language));
        if language == Language::Postgres {
            case(&mut session, &format!("SET TimeZone = '{ZONE}'"), language);
        }
        let name = Path::new(&file).file_stem().map(|name| name.to_string_lossy().into_owned());
        for sql in statements(&std::fs::read_to_string(&file).expect("a file of cases")) {
            let mut found = case(&mut session, &sql, language);
            found["file"] = json!(name);
            println!("{found}");
        }
    }
}
