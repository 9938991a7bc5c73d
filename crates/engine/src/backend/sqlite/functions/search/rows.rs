//! Functions of text search that return rows.

use rowferry_dialect::ir::Value;
use rowferry_dialect::values::array::Array;
use rowferry_dialect::values::search::Vector;
use rowferry_dialect::{Condition, Error, Result};
use serde_json::Value as Json;

use super::configuration;
use super::parser::{TYPES, Tokens};
use crate::functions::Context;

/// Rows that are all made at once.
pub(in crate::backend::sqlite::functions) type Table = Vec<Vec<Value>>;

fn text(value: impl Into<String>) -> Value {
    Value::Text(value.into())
}

fn array(members: Vec<Json>) -> Result<Value> {
    Ok(Value::Text(Array::of(members).stored()?))
}

/// There is one parser; it is asked for by name or object id.
fn check_parser(parser: &Value) -> Result<()> {
    const DEFAULT: i64 = 3722;
    let unknown = |shown: String| Error::new(Condition::UndefinedObject, shown);
    match parser {
        Value::Text(name) if matches!(name.as_str(), "default" | "pg_catalog.default") => Ok(()),
        Value::Integer(DEFAULT) => Ok(()),
        Value::Text(name) => Err(unknown(format!("text search parser \"{name}\" does not exist"))),
        Value::Integer(oid) => Err(Error::internal(format!("cache lookup failed for text search parser {oid}"))),
        _ => Ok(()),
    }
}

/// `ts_token_type`
pub(in crate::backend::sqlite::functions) fn ts_token_type(parser: &Value) -> Result<Table> {
    check_parser(parser)?;
    let row =
        |(at, (name, words)): (usize, &(&str, &str))| vec![Value::Integer(at as i64 + 1), text(*name), text(*words)];
    Ok(TYPES.iter().enumerate().map(row).collect())
}

/// `ts_parse`
pub(in crate::backend::sqlite::functions) fn ts_parse(parser: &Value, document: &str) -> Result<Table> {
    check_parser(parser)?;
    let mut tokens = Tokens::new(document);
    let mut rows = Vec::new();
    while let Some((kind, token)) = tokens.next()? {
        rows.push(vec![Value::Integer(i64::from(kind)), text(token)]);
    }
    Ok(rows)
}

/// `ts_debug`
pub(in crate::backend::sqlite::functions) fn ts_debug(context: &Context, oid: i64, document: &str) -> Result<Table> {
    let configuration = configuration(context, oid)?;
    let mut tokens = Tokens::new(document);
    let mut rows = Vec::new();
    while let Some((kind, token)) = tokens.next()? {
        let (alias, words) = TYPES[usize::from(kind) - 1];
        let mut row = vec![text(alias), text(words), text(token)];
        match configuration.dictionary(kind) {
            Some(dictionary) => {
                row.push(array(vec![Json::from(dictionary.oid())])?);
                row.push(Value::Integer(i64::from(dictionary.oid())));
                row.push(array(dictionary.lexize(token).into_iter().map(Json::String).collect())?);
            }
            None => row.extend([array(Vec::new())?, Value::Null, Value::Null]),
        }
        rows.push(row);
    }
    Ok(rows)
}

/// `unnest(tsvector)`
pub(in crate::backend::sqlite::functions) fn unnest(stored: &str) -> Result<Table> {
    let letter = |weight| Json::from(["D", "C", "B", "A"][usize::from(weight)]);
    let row = |lexeme: rowferry_dialect::values::search::Lexeme| {
        let mut row = vec![text(lexeme.word)];
        if lexeme.positions.is_empty() {
            row.extend([Value::Null, Value::Null]);
        } else {
            row.push(array(lexeme.positions.iter().map(|position| Json::from(position.at())).collect())?);
            row.push(array(lexeme.positions.iter().map(|position| letter(position.weight())).collect())?);
        }
        Ok(row)
    };
    Vector::parse(stored)?.lexemes.into_iter().map(row).collect()
}
