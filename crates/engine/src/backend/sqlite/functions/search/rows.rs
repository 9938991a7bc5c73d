//! Functions of text search that return rows.

use std::collections::BTreeMap;

use rowferry_dialect::ir::Value;
use rowferry_dialect::scalar::search::TSVECTOR;
use rowferry_dialect::values::array::Array;
use rowferry_dialect::values::search::Vector;
use rowferry_dialect::values::search::vector::weight_of;
use rowferry_dialect::{Condition, Error, Result, Type, work};
use serde_json::Value as Json;

use super::configuration;
use super::parser::Tokens;
use crate::functions::Context;
use rowferry_dialect::text_search::TOKENS as TYPES;

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
        let dictionaries = configuration.dictionaries(kind);
        row.push(array(dictionaries.iter().map(|dictionary| Json::from(dictionary.oid)).collect())?);
        let mut chosen = dictionaries.first().map(|dictionary| (dictionary.oid, None));
        for dictionary in dictionaries {
            if let Some(lexeme) = dictionary.lexize(token)? {
                chosen = Some((dictionary.oid, Some(lexeme)));
                break;
            }
        }
        row.push(chosen.as_ref().map_or(Value::Null, |(oid, _)| Value::Integer(i64::from(*oid))));
        row.push(match chosen {
            Some((_, Some(lexeme))) => array(lexeme.into_iter().map(Json::String).collect())?,
            _ => Value::Null,
        });
        rows.push(row);
    }
    Ok(rows)
}

/// `ts_stat`: how often each word stands in the vectors that a query finds, at places of some weights.
pub(in crate::backend::sqlite::functions) fn ts_stat(context: &Context, query: &str, weights: &str) -> Result<Table> {
    let mut counted = 0_u8;
    for weight in weights.chars() {
        counted |= weight_of(&weight.to_string()).map_or(0, |weight| 1 << weight);
    }
    let found = context.state().query(query)?;
    let is_vector = |ty: &Type| ty.through_domains() == &Type::Scalar(&TSVECTOR, None);
    if found.columns.len() != 1 || !is_vector(&found.columns[0].1) {
        let message = "ts_stat query must return one tsvector column";
        return Err(Error::new(Condition::InvalidParameterValue, message));
    }
    let mut words: BTreeMap<String, (i64, i64)> = BTreeMap::new();
    for row in &found.rows {
        let [Value::Text(stored)] = row.as_slice() else { continue };
        for lexeme in Vector::parse(stored)?.lexemes {
            work::step(lexeme.word.len())?;
            let wanted = lexeme.positions.iter().filter(|position| counted & (1 << position.weight()) != 0);
            let entries = match counted {
                0 => lexeme.positions.len().max(1),
                _ => wanted.count(),
            };
            if entries > 0 {
                let (documents, all) = words.entry(lexeme.word).or_default();
                *documents += 1;
                *all += entries as i64;
            }
        }
    }
    let row = |(word, (documents, entries)): (String, (i64, i64))| {
        vec![Value::Text(word), Value::Integer(documents), Value::Integer(entries)]
    };
    Ok(words.into_iter().map(row).collect())
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
