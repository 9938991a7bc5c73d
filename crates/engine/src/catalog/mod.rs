//! Catalogs: `pg_catalog`, `information_schema` and Informix's, as tables that any query can join.
//!
//! Each table is a row of [`tables`]: its name, its columns as PostgreSQL documents them, and a function that makes its
//! rows from the schema and the session. The back end reads it as a table of its own (`catalog.rs` there); the rows are made
//! once for each generation of the schema, with an index for each column that is looked up by.

pub mod cache;
pub mod describe;
mod empty;
pub mod fixed;
mod information_elements;
mod information_privileges;
mod information_routines;
mod information_schema;
mod information_standard;
mod information_types;
mod information_usage;
pub mod informix;
pub mod mysql;
pub mod names;
pub mod object_address;
pub mod object_identity;
pub mod object_names;
pub mod partitions;
mod pg_attribute;
mod pg_class;
mod pg_constraint;
mod pg_depend;
mod pg_extension;
mod pg_hba_file_rules;
mod pg_index;
mod pg_inherits;
mod pg_largeobject;
mod pg_names;
mod pg_namespace;
mod pg_other;
pub mod pg_policy;
mod pg_proc;
pub mod pg_rewrite;
mod pg_roles;
mod pg_sequence;
mod pg_settings;
mod pg_shdepend;
mod pg_stat_activity;
mod pg_stat_counts;
pub mod pg_stat_statements;
pub mod pg_statistic_ext;
pub mod pg_trigger;
mod pg_ts;
mod pg_type;
mod pg_views;
pub mod signatures;
pub mod standard_types;
pub mod system_indexes;
pub mod user_ranges;
pub mod visibility;

pub use information_schema::referenced_index;
pub use pg_views::default_comment;

use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

use foldhash::HashMap;
use rowferry_dialect::schema::{Column, Identity, Physical, Relation, RelationKind};
use rowferry_dialect::types::Type;
use rowferry_dialect::{Language, Result, postgres};
use rowferry_facts as facts;

use crate::backend::LargeObjects;
use crate::database::Shared;
use crate::schema::{SessionSchema, lower_case};
use crate::session::state::State;

pub use pg_class::filenode;
pub use pg_stat_activity::DATABASE;
pub use pg_stat_counts::statistic;

/// A catalog table.
#[derive(Debug)]
pub struct Table {
    /// Its namespace.
    pub namespace: &'static str,
    /// Its name.
    pub name: &'static str,
    /// Informix's columns with their types, as `name type, …`; PostgreSQL's are in its facts.
    pub columns: &'static str,
    /// Makes its rows.
    pub rows: fn(&Context<'_>) -> Vec<Row>,
    /// Its rows depend on more than the schema: they are made for each reader.
    pub live: bool,
    /// How to make the rows of one relation alone.
    pub one: Option<OfRelation>,
    /// How to read them from the file, where they are too many to be kept; `rows` is not asked then.
    pub chunks: Option<Chunks>,
}

/// Rows that are read from the file, some at a time.
#[derive(Debug)]
pub struct Chunks {
    /// The column by which they can be looked up.
    pub column: &'static str,
    /// Reads those that come next; none at the end.
    pub read: ReadChunk,
}

/// Reads the rows that come next.
pub type ReadChunk = fn(&Context<'_>, LargeObjects<'_>, &Chunk<'_>) -> Result<Vec<Row>>;

/// Which rows come next.
#[derive(Debug)]
pub struct Chunk<'a> {
    /// Only those that have this in the column.
    pub key: Option<i64>,
    /// Those behind this one.
    pub after: Option<&'a Row>,
}

/// The rows of one relation: what a look-up needs before the whole table has been worth making.
#[derive(Debug)]
pub struct OfRelation {
    /// The column that has the relation's object id.
    pub column: &'static str,
    /// Makes its rows.
    pub rows: fn(&Context<'_>, &Arc<Relation>) -> Vec<Row>,
}

impl Table {
    /// A relation of PostgreSQL's catalog.
    const fn pg_catalog(name: &'static str, rows: fn(&Context<'_>) -> Vec<Row>) -> Self {
        Self { namespace: crate::schema::PG_CATALOG, name, columns: "", rows, live: false, one: None, chunks: None }
    }

    /// A relation of the standard's catalog.
    const fn information_schema(name: &'static str, rows: fn(&Context<'_>) -> Vec<Row>) -> Self {
        Self {
            namespace: crate::schema::INFORMATION_SCHEMA,
            name,
            columns: "",
            rows,
            live: false,
            one: None,
            chunks: None,
        }
    }

    /// A relation of PostgreSQL's catalog whose rows are read some at a time.
    const fn in_chunks(name: &'static str, column: &'static str, read: ReadChunk) -> Self {
        Self { chunks: Some(Chunks { column, read }), ..Self::pg_catalog(name, |_| Vec::new()) }
    }

    /// The same, with rows of each reader's own.
    const fn live(self) -> Self {
        Self { live: true, ..self }
    }

    /// The same; the rows of a relation, whose object id is in `column`, can be made alone.
    const fn one(self, column: &'static str, rows: fn(&Context<'_>, &Arc<Relation>) -> Vec<Row>) -> Self {
        Self { one: Some(OfRelation { column, rows }), ..self }
    }

    /// What PostgreSQL says of it; nothing of Informix's.
    fn facts(&self) -> Option<&'static facts::Relation> {
        facts::Relation::named(self.namespace, self.name)
    }
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
    /// Text that is everywhere the same.
    Word(&'static str),
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

impl From<Cell> for rowferry_dialect::ir::Value {
    fn from(cell: Cell) -> Self {
        match cell {
            Cell::Null => Self::Null,
            Cell::Integer(value) => Self::Integer(value),
            Cell::Real(value) => Self::Real(value),
            Cell::Text(text) => Self::Text(text.to_string()),
            Cell::Word(word) => Self::Text(word.to_owned()),
            Cell::Blob(bytes) => Self::Blob(bytes.to_vec()),
        }
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

/// A letter of PostgreSQL's one-letter codes.
fn letter(letter: char) -> Cell {
    const ASCII: &str =
        " !\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~";
    match (letter as usize).checked_sub(0x20).and_then(|at| ASCII.get(at..=at)) {
        Some(word) => Cell::Word(word),
        None => Cell::from(letter.encode_utf8(&mut [0; 4]) as &str),
    }
}

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
        fixed::TABLES,
        information_elements::TABLES,
        information_privileges::TABLES,
        information_routines::TABLES,
        information_schema::TABLES,
        information_standard::TABLES,
        information_types::TABLES,
        information_usage::TABLES,
        pg_attribute::TABLES,
        pg_class::TABLES,
        pg_constraint::TABLES,
        pg_depend::TABLES,
        pg_extension::TABLES,
        pg_index::TABLES,
        partitions::TABLES,
        pg_inherits::TABLES,
        pg_largeobject::TABLES,
        pg_names::TABLES,
        pg_namespace::TABLES,
        pg_other::TABLES,
        pg_proc::TABLES,
        pg_roles::TABLES,
        pg_sequence::TABLES,
        pg_shdepend::TABLES,
        pg_hba_file_rules::TABLES,
        pg_settings::TABLES,
        pg_stat_activity::TABLES,
        pg_stat_counts::TABLES,
        pg_stat_statements::TABLES,
        pg_policy::TABLES,
        pg_rewrite::TABLES,
        pg_statistic_ext::TABLES,
        pg_trigger::TABLES,
        pg_ts::TABLES,
        pg_type::TABLES,
        pg_views::TABLES,
    ]
    .into_iter()
    .chain(informix::FAMILIES)
    .chain(mysql::FAMILIES)
    .flatten()
    .chain(empty::tables())
}

/// A catalog table with what the compiler sees of it.
struct Entry {
    table: &'static Table,
    relation: Arc<Relation>,
    /// PostgreSQL has a view there.
    view: bool,
}

static ENTRIES: LazyLock<Vec<Entry>> = LazyLock::new(|| {
    let entry = |table| Entry {
        table,
        relation: Arc::new(relation_of(table)),
        view: table.facts().is_some_and(|facts| facts.kind == 'v'),
    };
    tables().map(entry).collect()
});

static BY_OID: LazyLock<HashMap<u32, usize>> =
    LazyLock::new(|| ENTRIES.iter().enumerate().map(|(at, entry)| (entry.relation.oid, at)).collect());

static BY_NAME: LazyLock<HashMap<(&'static str, &'static str), usize>> = LazyLock::new(|| {
    ENTRIES.iter().enumerate().map(|(at, entry)| ((entry.table.namespace, entry.table.name), at)).collect()
});

/// The catalog table of a name.
pub fn relation(namespace: &str, name: &str) -> Option<Arc<Relation>> {
    let at = BY_NAME.get(&(namespace, name)).copied().or_else(|| {
        // Names in a file know no case.
        match (lower_case(namespace), lower_case(name)) {
            (Cow::Borrowed(_), Cow::Borrowed(_)) => None,
            lower => BY_NAME.get(&(&*lower.0, &*lower.1)).copied(),
        }
    });
    at.map(|at| ENTRIES[at].relation.clone())
}

/// The catalog table with an object id.
pub fn relation_by_oid(oid: u32) -> Option<Arc<Relation>> {
    BY_OID.get(&oid).map(|at| ENTRIES[*at].relation.clone())
}

/// What makes the rows of the catalog table with an object id.
pub fn table_by_oid(oid: u32) -> Option<&'static Table> {
    BY_OID.get(&oid).map(|at| ENTRIES[*at].table)
}

/// Every catalog table as the compiler sees it, but for the views of extensions.
pub fn relations<'a>() -> impl Iterator<Item = &'a Arc<Relation>> {
    let everywhere = ENTRIES.iter().filter(|entry| entry.table.namespace != pg_stat_statements::HERE);
    everywhere.map(|entry| &entry.relation)
}

/// The same without those of Informix, whose schemas are none of PostgreSQL's: pg_dump asks in which schema everything is.
pub fn postgres_relations<'a>() -> impl Iterator<Item = &'a Arc<Relation>> {
    use crate::schema::{INFORMATION_SCHEMA, PG_CATALOG};
    relations().filter(|relation| [PG_CATALOG, INFORMATION_SCHEMA].contains(&relation.namespace.as_str()))
}

/// The place of a relation among PostgreSQL's.
fn position(table: &Table) -> u32 {
    let found = facts::Relation::all().iter().position(|row| (row.schema, row.name) == (table.namespace, table.name));
    found.unwrap_or_default() as u32
}

/// PostgreSQL has a view where we have a virtual table.
pub fn is_view(relation: &Relation) -> bool {
    match relation.kind {
        RelationKind::View { .. } | RelationKind::NativeView => true,
        RelationKind::Catalog => BY_OID.get(&relation.oid).is_some_and(|at| ENTRIES[*at].view),
        RelationKind::Table | RelationKind::MaterializedView { .. } | RelationKind::Sequence { .. } => false,
    }
}

fn relation_of(table: &Table) -> Relation {
    let language = if table.namespace == crate::schema::INFORMIX { Language::Informix } else { Language::Postgres };
    let columns = columns_of(table)
        .into_iter()
        .map(|Described { name, ty, not_null }| Column {
            name: name.to_owned(),
            ty,
            not_null: not_null || is_serial(table, name),
            default: None,
            identity: is_serial(table, name).then_some(Identity { always: true, zero_is_next: false, sequence: None }),
            generated: None,
            row_identity: false,
            collation: None,
        })
        .collect();
    Relation {
        oid: match (table.facts().map_or(0, |facts| facts.oid), informix::number(table)) {
            // Between the views of PostgreSQL and the first of users' objects.
            (0, Some(number)) => 16_100 + number,
            (0, None) if mysql::is_ours(table.namespace) => 16_250 + mysql::number(table).unwrap_or_default(),
            (0, None) if table.namespace == pg_stat_statements::HERE => pg_stat_statements::oid(table.name),
            // initdb numbers views of PostgreSQL; so do we.
            (0, None) => 12_000 + position(table),
            (oid, _) => oid,
        },
        namespace: table.namespace.to_owned(),
        name: table.name.to_owned(),
        physical: Physical::shared(physical_name(table)),
        language,
        kind: RelationKind::Catalog,
        columns,
        dropped: Vec::new(),
        indexes: Vec::new(),
        foreign_keys: Vec::new(),
        checks: Vec::new(),
        without_identity: false,
        triggers: Vec::new(),
        heritage: None,
        partitioning: None,
        security: None,
        rules: Vec::new(),
    }
}

/// Informix's clients are told of a SERIAL column by a type of its own.
fn is_serial(table: &Table, column: &str) -> bool {
    table.columns.split(", ").any(|part| part.strip_suffix(" serial").is_some_and(|name| name == column))
}

/// The back end's name of it.
pub fn physical_name(table: &Table) -> String {
    format!("{}.{}", table.namespace, table.name)
}

/// A column of a table.
pub struct Described {
    /// Name.
    pub name: &'static str,
    /// Type.
    pub ty: Type,
    /// It is never NULL.
    pub not_null: bool,
}

/// The columns of a table.
pub fn columns_of(table: &Table) -> Vec<Described> {
    if table.facts().is_some() {
        let facts = facts::Relation::columns(table.namespace, table.name).iter();
        return facts
            .map(|column| Described {
                name: column.name,
                ty: type_of_fact(column.type_name),
                not_null: column.not_null,
            })
            .collect();
    }
    let of_facts = table.namespace == pg_stat_statements::HERE || mysql::is_ours(table.namespace);
    let type_of = if of_facts { type_of_fact } else { type_of };
    let parts = table.columns.split(',').map(str::trim).filter(|part| !part.is_empty());
    parts
        .map(|part| {
            let (name, ty) = part.split_once(' ').unwrap_or((part, "text"));
            Described { name, ty: type_of(ty.trim()), not_null: false }
        })
        .collect()
}

/// How the types of PostgreSQL's columns are read: domains as what they are over; the types of
/// statistics, which nobody else may have, as text.
fn type_of_fact(name: &str) -> Type {
    if let Some(domain) = standard_types::named(name) {
        return type_of_fact(domain.base);
    }
    let Some(fact) = facts::Type::named(name) else { return Type::Text };
    postgres::types::from_oid(fact.oid).unwrap_or_else(|| match fact.element {
        0 => Type::Text,
        _ => Type::Array(Box::new(Type::Text)),
    })
}

/// The types of Informix's catalog columns by their names.
fn type_of(name: &str) -> Type {
    match name {
        "char" => Type::InternalChar,
        "int2" => Type::Int2,
        "int4" => Type::Int4,
        "text" => Type::Text,
        // Its own words: `varchar(128)`, `serial`.
        words => rowferry_dialect::informix::type_from_words(words).unwrap_or(Type::Text),
    }
}

/// The user who owns everything: PostgreSQL's bootstrap superuser.
pub const OWNER: u32 = 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_relation_of_postgresql_is_there() {
        let ours: std::collections::HashSet<_> = tables().map(|table| (table.namespace, table.name)).collect();
        for relation in facts::Relation::all() {
            assert!(ours.contains(&(relation.schema, relation.name)), "{}.{}", relation.schema, relation.name);
        }
        let standard = [crate::schema::PG_CATALOG, crate::schema::INFORMATION_SCHEMA];
        let others = tables().filter(|table| standard.contains(&table.namespace) && table.facts().is_none());
        assert_eq!(others.map(|table| table.name).collect::<Vec<_>>(), [""; 0], "PostgreSQL 15 does not have these");
    }

    #[test]
    fn relations_have_the_columns_of_postgresql_in_its_order() {
        for facts in facts::Relation::all() {
            let ours = relation(facts.schema, facts.name).unwrap();
            let names: Vec<&str> = ours.columns.iter().map(|column| column.name.as_str()).collect();
            let theirs = facts::Relation::columns(facts.schema, facts.name);
            assert_eq!(names, theirs.iter().map(|column| column.name).collect::<Vec<_>>(), "{}", facts.name);
            for (column, fact) in ours.columns.iter().zip(theirs) {
                let known = facts::Type::named(fact.type_name).map(|ty| ty.oid);
                // What is read as another type is named as its own in `pg_attribute`.
                let read_as_text = matches!(
                    fact.type_name,
                    "anyarray"
                        | "pg_ndistinct"
                        | "pg_dependencies"
                        | "pg_mcv_list"
                        | "_pg_statistic"
                        | "int2vector"
                        | "oidvector"
                );
                match known {
                    Some(oid) if !read_as_text => {
                        assert_eq!(postgres::types::oid(&column.ty), oid, "{}.{}", facts.name, fact.name);
                    }
                    Some(_) => {}
                    None => assert!(standard_types::named(fact.type_name).is_some(), "{}", fact.type_name),
                }
            }
        }
    }

    #[test]
    fn letters_are_words() {
        for code in 0x20..0x7f_u8 {
            let word = char::from(code).to_string();
            assert!(matches!(letter(char::from(code)), Cell::Word(shown) if shown == word), "{word}");
        }
        assert_eq!(letter('é'), Cell::from("é"));
    }

    #[test]
    fn names_and_ids_are_unique() {
        let mut oids = HashMap::default();
        let mut names = HashMap::default();
        for relation in relations() {
            assert_eq!(oids.insert(relation.oid, relation.name.clone()), None, "{}", relation.name);
            assert_eq!(names.insert(relation.physical.name.clone(), ()), None, "{}", relation.name);
            assert!(relation.oid < crate::schema::metadata::FIRST_OID);
        }
    }
}
