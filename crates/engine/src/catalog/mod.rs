//! Catalogs: `pg_catalog`, `information_schema` and Informix's, as tables that any query can join.
//!
//! Each table is a row of [`tables`]: its name, its columns as PostgreSQL documents them, and a function that makes its
//! rows from the schema and the session. SQLite reads it as an eponymous virtual table ([`vtab`]); the rows are made
//! once for each generation of the schema, with an index for each column that is looked up by.

pub mod describe;
mod empty;
pub mod encodings;
mod fixed;
mod information_schema;
pub mod informix;
pub mod names;
mod pg_attribute;
mod pg_class;
mod pg_constraint;
mod pg_index;
mod pg_inherits;
mod pg_names;
mod pg_namespace;
mod pg_other;
pub mod pg_policy;
mod pg_proc;
mod pg_roles;
mod pg_sequence;
mod pg_settings;
mod pg_stat_activity;
pub mod pg_trigger;
mod pg_type;
mod pg_views;
pub mod signatures;
mod vtab;

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use rowferry_dialect::Language;
use rowferry_dialect::schema::{Column, Identity, Relation, RelationKind};
use rowferry_dialect::types::{Reg, Type};

use crate::database::Shared;
use crate::schema::SessionSchema;
use crate::session::state::State;

pub use pg_stat_activity::DATABASE;
pub use vtab::{Rows as CatalogRows, register};

/// A catalog table.
#[derive(Debug)]
pub struct Table {
    /// Its namespace.
    pub namespace: &'static str,
    /// Its name.
    pub name: &'static str,
    /// PostgreSQL's object id of it, where it has a fixed one.
    pub oid: u32,
    /// Columns with their types, as `name type, …`.
    pub columns: &'static str,
    /// Makes its rows.
    pub rows: fn(&Context<'_>) -> Vec<Row>,
    /// Its rows depend on more than the schema: they are made for each reader.
    pub live: bool,
}

/// What rows are made from.
pub struct Context<'a> {
    /// The schema as the session sees it.
    pub schema: &'a SessionSchema,
    /// The session.
    pub state: &'a Arc<State>,
    /// Its database.
    pub database: &'a Arc<Shared>,
}

/// A row, in the order of the table's columns.
pub type Row = Vec<Cell>;

/// A value of a catalog row.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// NULL.
    Null,
    /// Integers, oids, booleans.
    Integer(i64),
    /// Floats.
    Real(f64),
    /// Text, and arrays as JSON.
    Text(Arc<str>),
    /// Bytes.
    Blob(Arc<[u8]>),
}

macro_rules! integer_cells {
    ($($ty:ty),*) => {$(
        impl From<$ty> for Cell {
            fn from(value: $ty) -> Self {
                Self::Integer(i64::from(value))
            }
        }
    )*};
}

integer_cells!(bool, i16, i32, i64, u8, u32);

impl From<usize> for Cell {
    fn from(value: usize) -> Self {
        Self::Integer(value as i64)
    }
}

impl From<f64> for Cell {
    fn from(value: f64) -> Self {
        Self::Real(value)
    }
}

impl From<Vec<u8>> for Cell {
    fn from(value: Vec<u8>) -> Self {
        Self::Blob(value.into())
    }
}

impl From<&str> for Cell {
    fn from(value: &str) -> Self {
        Self::Text(value.into())
    }
}

impl From<&String> for Cell {
    fn from(value: &String) -> Self {
        Self::Text(value.as_str().into())
    }
}

impl From<String> for Cell {
    fn from(value: String) -> Self {
        Self::Text(value.into())
    }
}

impl<T: Into<Self>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

/// A row from values of different types.
#[macro_export]
#[doc(hidden)]
macro_rules! catalog_row {
    ($($value:expr),* $(,)?) => { vec![$($crate::catalog::Cell::from($value)),*] };
}

pub(crate) use catalog_row as row;

/// NULL, where [`row!`] cannot know a type.
pub const NULL: Cell = Cell::Null;

/// An array of numbers as it is stored.
pub fn array<T: ToString>(members: impl IntoIterator<Item = T>) -> String {
    let members: Vec<String> = members.into_iter().map(|member| member.to_string()).collect();
    format!("[{}]", members.join(","))
}

/// An array of texts as it is stored.
pub fn text_array<'a>(members: impl IntoIterator<Item = &'a str>) -> String {
    let members: Vec<String> = members.into_iter().map(|member| serde_json::Value::from(member).to_string()).collect();
    format!("[{}]", members.join(","))
}

/// Every catalog table.
pub fn tables() -> impl Iterator<Item = &'static Table> {
    [
        empty::TABLES,
        fixed::TABLES,
        information_schema::TABLES,
        pg_attribute::TABLES,
        pg_class::TABLES,
        pg_constraint::TABLES,
        pg_index::TABLES,
        pg_inherits::TABLES,
        pg_names::TABLES,
        pg_namespace::TABLES,
        pg_other::TABLES,
        pg_proc::TABLES,
        pg_roles::TABLES,
        pg_sequence::TABLES,
        pg_settings::TABLES,
        pg_stat_activity::TABLES,
        pg_policy::TABLES,
        pg_trigger::TABLES,
        pg_type::TABLES,
        pg_views::TABLES,
    ]
    .into_iter()
    .chain(informix::FAMILIES)
    .flatten()
}

/// A catalog table with what the compiler sees of it.
struct Entry {
    table: &'static Table,
    relation: Arc<Relation>,
}

static ENTRIES: LazyLock<Vec<Entry>> =
    LazyLock::new(|| tables().map(|table| Entry { table, relation: Arc::new(relation_of(table)) }).collect());

static BY_NAME: LazyLock<HashMap<(&'static str, &'static str), usize>> = LazyLock::new(|| {
    ENTRIES.iter().enumerate().map(|(at, entry)| ((entry.table.namespace, entry.table.name), at)).collect()
});

/// The catalog table of a name.
pub fn relation(namespace: &str, name: &str) -> Option<Arc<Relation>> {
    let at = BY_NAME.get(&(namespace, name)).copied().or_else(|| {
        // SQLite's names know no case.
        let lower = (namespace.to_lowercase(), name.to_lowercase());
        BY_NAME.get(&(lower.0.as_str(), lower.1.as_str())).copied()
    });
    at.map(|at| ENTRIES[at].relation.clone())
}

/// The catalog table with an object id.
pub fn relation_by_oid(oid: u32) -> Option<Arc<Relation>> {
    relations().find(|relation| relation.oid == oid).cloned()
}

/// Every catalog table as the compiler sees it.
pub fn relations<'a>() -> impl Iterator<Item = &'a Arc<Relation>> {
    ENTRIES.iter().map(|entry| &entry.relation)
}

fn relation_of(table: &Table) -> Relation {
    let language = if table.namespace == crate::schema::INFORMIX { Language::Informix } else { Language::Postgres };
    let columns = columns_of(table.columns)
        .into_iter()
        .map(|(name, ty)| Column {
            name: name.to_owned(),
            ty,
            not_null: is_serial(table, name),
            default: None,
            identity: is_serial(table, name).then_some(Identity { always: true, zero_is_next: false, sequence: None }),
            generated: None,
            rowid_alias: false,
        })
        .collect();
    Relation {
        oid: match (table.oid, informix::number(table)) {
            // Between the views of PostgreSQL and the first of users' objects.
            (0, Some(number)) => 16_100 + number,
            // Views of PostgreSQL have no fixed id; below the first of users' there is room for these.
            (0, None) => {
                12_000 + crate::schema::metadata::derived_oid("catalog", table.namespace, &[table.name]) % 4_000
            }
            (oid, _) => oid,
        },
        namespace: table.namespace.to_owned(),
        name: table.name.to_owned(),
        database: "main",
        physical_name: physical_name(table),
        language,
        kind: RelationKind::Catalog,
        columns,
        indexes: Vec::new(),
        foreign_keys: Vec::new(),
        checks: Vec::new(),
        without_rowid: false,
        triggers: Vec::new(),
        heritage: None,
        security: None,
    }
}

/// Informix's clients are told of a SERIAL column by a type of its own.
fn is_serial(table: &Table, column: &str) -> bool {
    table.columns.split(", ").any(|part| part.strip_suffix(" serial").is_some_and(|name| name == column))
}

/// SQLite's name of the virtual table.
pub fn physical_name(table: &Table) -> String {
    format!("{}.{}", table.namespace, table.name)
}

/// Reads `name type, …`.
pub fn columns_of(spec: &'static str) -> Vec<(&'static str, Type)> {
    spec.split(',')
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .map(|part| {
            let (name, ty) = part.split_once(' ').unwrap_or((part, "text"));
            (name, type_of(ty.trim()))
        })
        .collect()
}

/// The types of catalog columns by their names; `pg_node_tree`, `aclitem` and their kin are shown as text.
fn type_of(name: &str) -> Type {
    if let Some(element) = name.strip_suffix("[]") {
        return Type::Array(Box::new(type_of(element)));
    }
    match name {
        "bool" => Type::Bool,
        "bigint" => Type::Int8,
        "bytea" => Type::Bytea,
        "char" => Type::InternalChar,
        "date" => Type::Date,
        "float4" => Type::Float4,
        "float8" => Type::Float8,
        "int2" => Type::Int2,
        "int4" => Type::Int4,
        "name" => Type::Name,
        "oid" => Type::Oid,
        "regclass" => Type::Reg(Reg::Class),
        "regproc" => Type::Reg(Reg::Proc),
        "regtype" => Type::Reg(Reg::Type),
        "timestamp" => Type::Timestamp(None),
        "timestamptz" => Type::TimestampTz(None),
        "smallint" => Type::Int2,
        "integer" => Type::Int4,
        "varchar" => Type::Varchar(None),
        "text" => Type::Text,
        // Informix's catalogs have its own words: `varchar(128)`, `serial`.
        words => rowferry_dialect::informix::type_from_words(words).unwrap_or(Type::Text),
    }
}

/// The user who owns everything: PostgreSQL's bootstrap superuser.
pub const OWNER: u32 = 10;

#[cfg(test)]
mod tests {
    use super::*;

    /// Tables that show columns of later versions, too, or not all of PostgreSQL 15's.
    const OTHERWISE: &[&str] = &[
        "pg_attribute",
        "pg_class",
        "pg_constraint",
        "pg_stat_user_tables",
        "pg_stats",
        "pg_subscription",
        "routines",
    ];

    #[test]
    fn tables_have_the_columns_of_postgresql() {
        for table in tables()
            .filter(|table| [crate::schema::PG_CATALOG, crate::schema::INFORMATION_SCHEMA].contains(&table.namespace))
        {
            let facts = rowferry_facts::Column::all().iter();
            let facts = facts.filter(|column| (column.schema, column.relation) == (table.namespace, table.name));
            let facts: Vec<&str> = facts.map(|column| column.name).collect();
            let ours: Vec<&str> = columns_of(table.columns).into_iter().map(|(name, _)| name).collect();
            assert!(!facts.is_empty(), "PostgreSQL 15 has no {}", table.name);
            assert_eq!(ours == facts, !OTHERWISE.contains(&table.name), "{}: {ours:?} {facts:?}", table.name);
        }
    }

    #[test]
    fn names_and_ids_are_unique() {
        let mut oids = HashMap::new();
        let mut names = HashMap::new();
        for relation in relations() {
            assert_eq!(oids.insert(relation.oid, relation.name.clone()), None, "{}", relation.name);
            assert_eq!(names.insert(relation.physical_name.clone(), ()), None, "{}", relation.name);
            assert!(relation.oid < crate::schema::metadata::FIRST_OID);
        }
    }
}
