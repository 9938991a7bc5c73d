//! MySQL's catalogs: its `information_schema`, what tools ask of `performance_schema` and of the database `mysql`.
//!
//! They lie in namespaces of their own, which sessions of MySQL's language alone find under MySQL's names
//! ([`namespace`]). A database of MySQL's is a schema of the file; the file's `public` is the one that is called as the
//! file is.

mod accounts;
mod definitions;
mod keys;
mod partitions;
mod server;
mod tables;
mod types;
mod words;

use std::sync::Arc;

use rowferry_dialect::access::{ObjectClass, Privileges, Rights};
use rowferry_dialect::mysql::{TABLE_COLLATION, VIRTUAL};
use rowferry_dialect::schema::Relation;

use super::{Context, Row, Table, row};
use crate::schema::{Details, INFORMATION_SCHEMA, PG_TEMP, PUBLIC};

/// The schema of MySQL's own types, whose tables are those of the database `mysql`.
const MYSQL: &str = "mysql";
const PERFORMANCE_SCHEMA: &str = "performance_schema";
/// What the namespaces of these tables begin with.
const PREFIX: &str = "mysql_";

/// The catalog, in MySQL's letters, in every row that has one.
const DEF: &str = "def";
const CHARSET: &str = "utf8mb4";
const COLLATION: &str = "utf8mb4_0900_ai_ci";

/// The families.
pub(super) const FAMILIES: [&[Table]; 6] =
    [accounts::TABLES, definitions::TABLES, keys::TABLES, partitions::TABLES, server::TABLES, tables::TABLES];

/// A table's place among these, from 1; `None` for tables of others.
pub(super) fn number(table: &Table) -> Option<u32> {
    let mut all = FAMILIES.into_iter().flatten();
    let at = all.position(|other| other.namespace == table.namespace && other.name == table.name)?;
    u32::try_from(at + 1).ok()
}

/// True for the namespace of one of these tables.
pub fn is_ours(namespace: &str) -> bool {
    FAMILIES.into_iter().flatten().any(|table| table.namespace == namespace)
}

/// The table that a session of MySQL's language names.
pub fn relation(schema: &str, name: &str) -> Option<Arc<Relation>> {
    super::relation(namespace(schema)?, &name.to_ascii_lowercase())
}

/// Where the tables of a schema are that a session of MySQL's language names.
fn namespace(schema: &str) -> Option<&'static str> {
    let is = |name: &str| schema.eq_ignore_ascii_case(name);
    if is(INFORMATION_SCHEMA) {
        Some("mysql_information_schema")
    } else if is(PERFORMANCE_SCHEMA) {
        Some("mysql_performance_schema")
    } else if is(MYSQL) {
        Some("mysql_mysql")
    } else {
        None
    }
}

/// A table of `information_schema`.
const fn of_schema(name: &'static str, columns: &'static str, rows: fn(&Context<'_>) -> Vec<Row>) -> Table {
    in_namespace("mysql_information_schema", name, columns, rows)
}

const fn in_namespace(
    namespace: &'static str,
    name: &'static str,
    columns: &'static str,
    rows: fn(&Context<'_>) -> Vec<Row>,
) -> Table {
    Table { namespace, name, columns, rows, live: false, one: None, chunks: None }
}

/// The databases by their names, each with the schema behind it; MySQL's own have none.
fn databases(context: &Context<'_>) -> Vec<(String, Option<String>)> {
    let mut all: Vec<(String, Option<String>)> =
        [INFORMATION_SCHEMA, MYSQL, PERFORMANCE_SCHEMA].iter().map(|name| ((*name).to_owned(), None)).collect();
    all.push((context.database.name.clone(), Some(PUBLIC.to_owned())));
    let is_shown = |name: &str| {
        ![MYSQL, PUBLIC].contains(&name) && rowferry_dialect::Schema::may(context.schema, name, Privileges::USAGE)
    };
    let made = context.schema.main.namespaces.iter().filter(|made| is_shown(&made.name));
    all.extend(made.map(|made| (made.name.clone(), Some(made.name.clone()))));
    all.sort();
    all
}

/// The database of a schema.
fn database<'a>(context: &'a Context<'_>, namespace: &'a str) -> &'a str {
    if namespace == PUBLIC || namespace == PG_TEMP { &context.database.name } else { namespace }
}

/// The tables and views of users with which the reader may do something. Temporary tables are not told of, as in MySQL.
fn relations<'a>(context: &'a Context<'_>) -> impl Iterator<Item = &'a Arc<Relation>> {
    let all = context.schema.user_relations();
    let rights = context.schema.is_restricted().then(|| context.schema.rights());
    let is_shown = |relation: &Relation| rights.as_ref().is_none_or(|rights| may_something(rights, relation));
    let mut shown: Vec<&Arc<Relation>> = all
        .filter(|relation| relation.namespace != PG_TEMP && relation.namespace != MYSQL && is_shown(relation))
        .collect();
    shown.sort_by(|a, b| (&a.namespace, &a.name).cmp(&(&b.namespace, &b.name)));
    shown.into_iter()
}

/// Whether the role that asks may do something with a relation, be it with one of its columns.
fn may_something(rights: &Rights, relation: &Relation) -> bool {
    let role = rights.role();
    let of_column = |name: &str| !rights.column_held_by(role, relation.oid, name).0.is_empty();
    rights.owns(relation.oid)
        || !rights.held_by(role, ObjectClass::Relation, relation.oid).0.is_empty()
        || !rights.database_rights(role, Some(&relation.namespace)).rights.is_empty()
        || relation.columns.iter().any(|column| of_column(&column.name))
}

/// What SHOW tells of: temporary tables, and what they do not hide.
fn shown<'a>(context: &'a Context<'_>) -> impl Iterator<Item = &'a Arc<Relation>> {
    let all = || context.schema.user_relations().filter(|relation| relation.namespace == PG_TEMP);
    let hidden = move |named: &Relation| {
        named.namespace == PUBLIC && all().any(|temporary| temporary.name.eq_ignore_ascii_case(&named.name))
    };
    all().chain(relations(context).filter(move |relation| !hidden(relation)))
}

/// These tables themselves, as the session sees them: their database, their name in capitals, their columns.
fn own_tables() -> impl Iterator<Item = (&'static str, String, &'static Table)> {
    FAMILIES.into_iter().flatten().filter(|table| !table.name.starts_with("rowferry_")).map(|table| {
        let database = table.namespace.strip_prefix(PREFIX).unwrap_or_default();
        let name = if database == INFORMATION_SCHEMA { table.name.to_ascii_uppercase() } else { table.name.to_owned() };
        (database, name, table)
    })
}

/// A column was declared VIRTUAL.
fn is_virtual(details: Option<&Details>, column: &str) -> bool {
    details.is_some_and(|details| details.properties.get(column, VIRTUAL).is_some())
}

/// The collation that a table has for columns that say none.
fn table_collation(details: Option<&Details>) -> &str {
    details.and_then(|details| details.properties.get("", TABLE_COLLATION)).unwrap_or(COLLATION)
}

/// A name of a key without its table's before it.
fn key_name<'a>(relation: &Relation, name: &'a str) -> &'a str {
    name.strip_prefix(relation.name.as_str()).and_then(|rest| rest.strip_prefix('.')).unwrap_or(name)
}

fn yes(truth: bool) -> &'static str {
    if truth { "YES" } else { "NO" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_as_many_columns_as_are_said() {
        for table in FAMILIES.into_iter().flatten() {
            let names: Vec<&str> =
                table.columns.split(", ").filter_map(|part| part.split_once(' ')).map(|(name, _)| name).collect();
            let mut unique = names.clone();
            unique.sort_unstable();
            unique.dedup();
            assert_eq!(unique.len(), names.len(), "{}", table.name);
        }
    }

    #[test]
    fn names_lead_to_namespaces() {
        assert_eq!(namespace("INFORMATION_SCHEMA"), Some("mysql_information_schema"));
        assert_eq!(namespace("public"), None);
    }
}
