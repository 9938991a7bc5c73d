//! Functions that return rows about catalogs: `pg_get_keywords`, `pg_options_to_table`, `aclexplode`.

use rowferry_dialect::ir::Value;
use rowferry_dialect::scalar::snapshots::Snapshot;
use rowferry_dialect::schema::QualifiedName;
use rowferry_dialect::types::Reg;
use rowferry_dialect::values::array::Array;
use rowferry_dialect::{Condition, Error, Result};
use rowferry_facts as facts;
use serde_json::Value as Json;

use super::administration::privilege;
use super::rows::Source;
use super::rows_sources::Arguments;
use super::strings::texts;
use crate::catalog::object_identity::Identity;
use crate::catalog::partitions;

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

/// PostgreSQL's keywords: word, category, whether a label needs no AS, both in words.
pub(super) fn keywords() -> Source {
    Box::new(facts::Keyword::all().iter().map(|keyword| {
        let category = match keyword.category {
            'C' => "unreserved (cannot be function or type name)",
            'R' => "reserved",
            'T' => "reserved (can be function or type name)",
            _ => "unreserved",
        };
        let label = if keyword.bare { "can be bare label" } else { "requires AS" };
        let letter = keyword.category.to_string();
        Ok(vec![
            text(keyword.word),
            Value::Text(letter),
            Value::Integer(keyword.bare.into()),
            text(category),
            text(label),
        ])
    }))
}

/// The members of an array of texts; none of NULL.
fn members(call: &Arguments<'_>) -> Result<Vec<String>> {
    let Some(stored) = call.text(0)? else { return Ok(Vec::new()) };
    let members = Array::read(stored.as_bytes())?.members.into_iter();
    Ok(members.filter_map(|member| if let Json::String(text) = member { Some(text) } else { None }).collect())
}

/// `name=value` apart.
pub(super) fn options(call: &Arguments<'_>) -> Result<Source> {
    let rows = members(call)?.into_iter().map(|option| {
        Ok(match option.split_once('=') {
            Some((name, value)) => vec![text(name), text(value)],
            None => vec![Value::Text(option), Value::Null],
        })
    });
    Ok(Box::new(rows))
}

/// A list of privileges apart: who has given it, to whom, what, whether it may be given on.
pub(super) fn privileges(call: &Arguments<'_>) -> Result<Source> {
    let state = call.context.state();
    let role = |name: &str| match name {
        "" => Ok(0),
        name => state.object_oid(Reg::Role, name),
    };
    let mut rows = Vec::new();
    for item in members(call)? {
        let wrong = || Error::new(Condition::InvalidTextRepresentation, format!("\"{item}\" is no list of privileges"));
        let (grantee, rest) = split_name(&item).ok_or_else(wrong)?;
        let (letters, grantor) = rest.strip_prefix('=').and_then(|rest| rest.split_once('/')).ok_or_else(wrong)?;
        let (grantee, grantor) = (i64::from(role(grantee)?), i64::from(role(grantor)?));
        let mut letters = letters.chars().peekable();
        while let Some(letter) = letters.next() {
            let word = privilege(letter).ok_or_else(wrong)?;
            let with_grant = letters.next_if_eq(&'*').is_some();
            rows.push(Ok(vec![
                Value::Integer(grantor),
                Value::Integer(grantee),
                text(word),
                Value::Integer(with_grant.into()),
            ]));
        }
    }
    Ok(Box::new(rows.into_iter()))
}

/// How an extension can be updated: each has the one version that is built in.
pub(super) fn extension_paths(call: &Arguments<'_>) -> Result<Source> {
    if let Some(name) = call.text(0)? {
        let known = name == "plpgsql" || facts::Extension::all().iter().any(|extension| extension.name == name);
        if !known {
            let message = format!("extension \"{name}\" is not available");
            return Err(Error::new(Condition::FeatureNotSupported, message));
        }
    }
    Ok(Box::new(std::iter::empty()))
}

/// The references among PostgreSQL's catalogs.
pub(super) fn foreign_keys(call: &Arguments<'_>) -> Result<Source> {
    let schema = call.context.state().schema();
    let mut rows = Vec::new();
    for key in facts::CatalogForeignKey::all() {
        let oid = |name: &str| {
            let name = QualifiedName { schema: Some("pg_catalog".to_owned()), name: name.to_owned() };
            schema.relation(&name).map_or(Value::Null, |relation| Value::Integer(relation.oid.into()))
        };
        let columns = |names: &[&str]| texts(names.iter().map(|name| Some(*name))).map(Value::Text);
        rows.push(Ok(vec![
            oid(key.table),
            columns(&key.columns)?,
            oid(key.referenced),
            columns(&key.referenced_columns)?,
            Value::Integer(key.is_array.into()),
            Value::Integer(key.is_optional.into()),
        ]));
    }
    Ok(Box::new(rows.into_iter()))
}

/// What a sequence was made with: one row.
pub(super) fn sequence_parameters(call: &Arguments<'_>) -> Result<Source> {
    let Some(oid) = relation(call)? else { return Ok(Box::new(std::iter::once(Ok(vec![Value::Null; 7])))) };
    let row =
        call.context.state().sequence_parameters(oid).ok_or_else(|| match call.context.state().is_visible(oid) {
            None => Error::new(Condition::UndefinedTable, format!("relation with OID {oid} does not exist")),
            Some(_) => Error::internal(format!("cache lookup failed for sequence {oid}")),
        })?;
    Ok(Box::new(std::iter::once(Ok(row))))
}

/// The object that is asked about; `None` where a part of the question is NULL.
fn identity(call: &Arguments<'_>) -> Result<Option<Identity>> {
    let (Some(catalog), Some(oid), Some(column)) = (call.integer(0)?, call.integer(1)?, call.integer(2)?) else {
        return Ok(None);
    };
    let number = |number: i64| u32::try_from(number).unwrap_or_default();
    let column = i32::try_from(column).unwrap_or_default();
    call.context.state().identify_object(number(catalog), number(oid), column).map(Some)
}

/// An object by its names: what it is, its schema, its name, all in one.
pub(super) fn identified(call: &Arguments<'_>) -> Result<Source> {
    let shown = |part: Option<String>| part.map_or(Value::Null, Value::Text);
    let row = match identity(call)? {
        Some(found) => {
            vec![Value::Text(found.kind), shown(found.schema), shown(found.name), shown(found.identity)]
        }
        None => vec![Value::Null; 4],
    };
    Ok(Box::new(std::iter::once(Ok(row))))
}

/// An object by its names as an address: what it is, names, what stands behind them.
pub(super) fn addressed(call: &Arguments<'_>) -> Result<Source> {
    let list = |names: &[String]| texts(names.iter().map(|name| Some(name.as_str()))).map(Value::Text);
    let row = match identity(call)? {
        Some(Identity { kind, address: Some((names, behind)), .. }) => {
            vec![Value::Text(kind), list(&names)?, list(&behind)?]
        }
        Some(Identity { kind, address: None, .. }) => vec![Value::Text(kind), Value::Null, Value::Null],
        None => vec![Value::Null; 3],
    };
    Ok(Box::new(std::iter::once(Ok(row))))
}

/// The object that names mean: its catalog's object id, its own, and the number of a column.
pub(super) fn object_address(call: &Arguments<'_>) -> Result<Source> {
    let names = |at: usize| -> Result<Option<Vec<String>>> {
        let Some(stored) = call.text(at)? else { return Ok(None) };
        let name = |member| match member {
            Json::String(text) => Ok(text),
            _ => {
                let message = "name or argument lists may not contain nulls";
                Err(Error::new(Condition::InvalidParameterValue, message))
            }
        };
        Array::read(stored.as_bytes())?.members.into_iter().map(name).collect::<Result<_>>().map(Some)
    };
    let row = match (call.text(0)?, names(1)?, names(2)?) {
        (Some(kind), Some(names), Some(behind)) => {
            let (catalog, oid, column) = call.context.state().object_address(kind, &names, &behind)?;
            vec![Value::Integer(catalog.into()), Value::Integer(oid.into()), Value::Integer(column.into())]
        }
        _ => vec![Value::Null; 3],
    };
    Ok(Box::new(std::iter::once(Ok(row))))
}

/// The transactions that a snapshot tells to be running; as texts, since numbers of the type `xid8` are those.
pub(super) fn running(call: &Arguments<'_>, as_texts: bool) -> Result<Source> {
    let running = match call.text(0)? {
        Some(snapshot) => Snapshot::read(snapshot)?.running,
        None => Vec::new(),
    };
    let value = move |number: i64| if as_texts { Value::Text(number.to_string()) } else { Value::Integer(number) };
    Ok(Box::new(running.into_iter().map(move |number| Ok(vec![value(number)]))))
}

/// The relation that is asked about.
fn relation(call: &Arguments<'_>) -> Result<Option<u32>> {
    Ok(call.integer(0)?.and_then(|oid| u32::try_from(oid).ok()))
}

/// A partitioned table with its partitions: object id, parent, whether it is a leaf, level.
pub(super) fn partition_tree(call: &Arguments<'_>) -> Result<Source> {
    let schema = call.context.state().schema();
    let tree = relation(call)?.map(|root| partitions::tree(&*schema, root)).unwrap_or_default();
    Ok(Box::new(tree.into_iter().map(|(oid, parent, leaf, level)| {
        let parent = parent.map_or(Value::Null, |parent| Value::Integer(parent.into()));
        Ok(vec![Value::Integer(oid.into()), parent, Value::Integer(leaf.into()), Value::Integer(level)])
    })))
}

/// A partition with the tables above it.
pub(super) fn partition_ancestors(call: &Arguments<'_>) -> Result<Source> {
    let schema = call.context.state().schema();
    let above = relation(call)?.map(|partition| partitions::ancestors(&*schema, partition)).unwrap_or_default();
    Ok(Box::new(above.into_iter().map(|oid| Ok(vec![Value::Integer(oid.into())]))))
}

/// The role before the sign of equality, in quotes perhaps, and the rest.
fn split_name(item: &str) -> Option<(&str, &str)> {
    let end = match item.strip_prefix('"') {
        Some(quoted) => quoted.find("\"=")? + 2,
        None => item.find('=')?,
    };
    Some(item.split_at(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_end_before_the_sign() {
        assert_eq!(split_name("ada=r/bob"), Some(("ada", "=r/bob")));
        assert_eq!(split_name("=r/bob"), Some(("", "=r/bob")));
        assert_eq!(split_name("\"a=b\"=r/bob"), Some(("\"a=b\"", "=r/bob")));
        assert_eq!(split_name("ada"), None);
    }

    #[test]
    fn keywords_are_postgresqls() {
        let rows: Vec<_> = keywords().map(Result::unwrap).collect();
        assert!(rows.len() > 400);
        let select = rows.iter().find(|row| row[0] == text("select")).unwrap();
        assert_eq!(select[1..], [text("R"), Value::Integer(1), text("reserved"), text("can be bare label")]);
    }
}
