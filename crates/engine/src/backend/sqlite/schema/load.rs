//! Reads a file's schema, whole or what a change has touched: SQLite's own description, and what the metadata tables add
//! to it.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use rowferry_dialect::schema::Relation;
use rusqlite::{Connection, Result};

use super::metadata;
use super::objects::Source;
use super::stored::Metadata;
use crate::schema::Snapshot;

/// Reads the schema of a database (`main` or `temp`). The caller holds a read transaction, or nobody can change it.
pub fn load(connection: &Connection, database: &'static str) -> Result<Snapshot> {
    let mut entries = Entries::default();
    entries.read_all(connection, database)?;
    let hidden = shadow_tables(connection, database)?;
    let metadata = Metadata::load(connection, database, None)?;
    let source = Source { connection, database, metadata: &metadata };
    let mut snapshot = Snapshot::default();
    snapshot.cookie = cookie(connection, database)?;
    source.add_collations(&mut snapshot);
    source.add_extensions(&mut snapshot);
    source.add_user_types(&mut snapshot);
    for name in entries.order.iter().filter(|name| !hidden.contains(*name)) {
        source.add_relation(&mut snapshot, &entries.by_table[name]);
    }
    source.add_objects(&mut snapshot);
    snapshot.resolve_row_types();
    let relations: Vec<Arc<Relation>> = snapshot.relations().cloned().collect();
    source.add_sequences(&mut snapshot, &relations);
    read_access(connection, database, &mut snapshot)?;
    note_schemas(&mut snapshot);
    snapshot.generation = crate::schema::next_generation();
    Ok(snapshot)
}

/// Notes in which schema everything is, where rights on databases ask for it.
fn note_schemas(snapshot: &mut Snapshot) {
    if !snapshot.roles.database().grants_databases() {
        if !snapshot.grants.schemas.is_empty() {
            Arc::make_mut(&mut snapshot.grants).schemas.clear();
        }
        return;
    }
    let mut names: HashMap<String, Arc<str>> = HashMap::new();
    let mut name = |schema: &str| names.entry(schema.to_owned()).or_insert_with(|| schema.into()).clone();
    let mut schemas: HashMap<u32, Arc<str>> =
        crate::catalog::names::NAMESPACES.iter().map(|(oid, schema)| (*oid, name(schema))).collect();
    schemas.extend(snapshot.namespaces.iter().map(|schema| (schema.oid, name(&schema.name))));
    schemas.extend(snapshot.relations().map(|relation| (relation.oid, name(&relation.namespace))));
    let sequences = snapshot.sequences().map(|details| &details.sequence);
    schemas.extend(sequences.map(|sequence| (sequence.oid, name(&sequence.namespace))));
    schemas.extend(snapshot.functions.iter().map(|function| (function.oid, name(&function.namespace))));
    if snapshot.grants.schemas != schemas {
        Arc::make_mut(&mut snapshot.grants).schemas = schemas;
    }
}

fn read_access(connection: &Connection, database: &str, snapshot: &mut Snapshot) -> Result<()> {
    let (roles, grants) = super::access::load(connection, database)?;
    snapshot.roles = Arc::new(roles);
    snapshot.grants = Arc::new(grants);
    Ok(())
}

/// What a change of the schema has touched in a database.
#[derive(Clone, Debug, Default)]
pub struct Touched {
    /// Objects whose entries in the metadata tables were made, changed or removed, and relations that are others now.
    pub oids: BTreeSet<u32>,
    /// Roles, owners or privileges are others now.
    pub access: bool,
}

/// The schema after a change of ours: what was before, and what the change has touched read anew.
///
/// New rows of `sqlite_schema` stand behind `last_row`, its last one before the change. Others that have changed belong
/// to relations that are touched.
pub fn refresh(
    connection: &Connection,
    database: &'static str,
    before: &Snapshot,
    touched: &Touched,
    last_row: i64,
) -> Result<Snapshot> {
    let mut entries = Entries::default();
    entries.read(connection, database, "rowid > ?1", last_row)?;
    let mut oids = touched.oids.clone();
    let mut relations = BTreeSet::new();
    let mut found: Vec<u32> = oids.iter().copied().filter(|oid| before.relation_by_oid(*oid).is_some()).collect();
    loop {
        // A row that one relation has left may be another's now: then that one is read, too.
        let named = entries.order.iter().filter_map(|name| before.relation_by_physical_name(name));
        found.extend(named.map(|relation| relation.oid).filter(|oid| !relations.contains(oid)));
        if found.is_empty() {
            break;
        }
        for oid in found.drain(..) {
            let Some((relation, details)) = before.relation_by_oid(oid).zip(before.details(oid)) else { continue };
            relations.insert(oid);
            oids.insert(oid);
            oids.extend(relation.indexes.iter().map(|index| index.oid));
            oids.extend(before.sequences_of(oid).map(|details| details.sequence.oid));
            for row in &details.schema_rows {
                entries.read(connection, database, "rowid = ?1", *row)?;
            }
        }
    }
    let metadata = Metadata::load(connection, database, Some(&oids))?;
    let source = Source { connection, database, metadata: &metadata };
    let mut snapshot = before.clone();
    snapshot.cookie = cookie(connection, database)?;
    relations.iter().for_each(|oid| snapshot.remove_relation(*oid));
    oids.iter().for_each(|oid| forget(&mut snapshot, *oid));
    source.add_collations(&mut snapshot);
    source.add_extensions(&mut snapshot);
    source.add_user_types(&mut snapshot);
    let mut changed = Vec::new();
    for name in &entries.order {
        changed.extend(source.add_relation(&mut snapshot, &entries.by_table[name]));
    }
    source.add_objects(&mut snapshot);
    snapshot.resolve_row_types();
    if !Arc::ptr_eq(&snapshot.user_types, &before.user_types) {
        let renewed = snapshot.functions.iter().map(|function| Arc::new(function.renewed(&snapshot.user_types)));
        snapshot.functions = Arc::new(renewed.collect());
    }
    let changed: Vec<Arc<Relation>> =
        changed.iter().filter_map(|oid| snapshot.relation_by_oid(*oid)).cloned().collect();
    source.add_sequences(&mut snapshot, &changed);
    if touched.access {
        read_access(connection, database, &mut snapshot)?;
    }
    note_schemas(&mut snapshot);
    snapshot.generation = crate::schema::next_generation();
    #[cfg(debug_assertions)]
    check(connection, database, &snapshot)?;
    Ok(snapshot)
}

/// What a change has left must be what reading everything would give.
#[cfg(debug_assertions)]
fn check(connection: &Connection, database: &'static str, snapshot: &Snapshot) -> Result<()> {
    // Large schemas would make every change slow again.
    if snapshot.relations().nth(64).is_some() {
        return Ok(());
    }
    let counted = rows_read();
    let difference = snapshot.difference(&load(connection, database)?);
    ROWS_READ.set(counted);
    debug_assert_eq!(difference.as_deref().unwrap_or_default(), "", "a change of the schema was followed wrongly");
    Ok(())
}

/// Strikes everything but relations that an object id may stand for.
fn forget(snapshot: &mut Snapshot, oid: u32) {
    snapshot.remove_sequence(oid);
    if snapshot.comments.contains_key(&oid) {
        Arc::make_mut(&mut snapshot.comments).remove(&oid);
    }
    if snapshot.namespaces.iter().any(|namespace| namespace.oid == oid) {
        Arc::make_mut(&mut snapshot.namespaces).retain(|namespace| namespace.oid != oid);
    }
    if snapshot.synonyms.iter().any(|synonym| synonym.oid == oid) {
        Arc::make_mut(&mut snapshot.synonyms).retain(|synonym| synonym.oid != oid);
    }
    if snapshot.routines.iter().any(|routine| routine.oid == oid) {
        Arc::make_mut(&mut snapshot.routines).retain(|routine| routine.oid != oid);
    }
    if snapshot.functions.iter().any(|function| function.oid == oid) {
        Arc::make_mut(&mut snapshot.functions).retain(|function| function.oid != oid);
    }
    if snapshot.user_type_by_oid(oid).is_some() {
        Arc::make_mut(&mut snapshot.user_types).retain(|ty| ty.kept_as() != oid);
    }
    if snapshot.collations.iter().any(|collation| collation.oid == oid) {
        Arc::make_mut(&mut snapshot.collations).retain(|collation| collation.oid != oid);
    }
    if snapshot.search_objects.iter().any(|object| object.oid == oid) {
        Arc::make_mut(&mut snapshot.search_objects).retain(|object| object.oid != oid);
    }
    if snapshot.statistics.iter().any(|object| object.oid == oid) {
        Arc::make_mut(&mut snapshot.statistics).retain(|object| object.oid != oid);
    }
    if snapshot.operators.iter().any(|operator| operator.oid == oid) {
        Arc::make_mut(&mut snapshot.operators).retain(|operator| operator.oid != oid);
    }
    for casts in [&mut snapshot.casts, &mut snapshot.dropped_casts] {
        if casts.iter().any(|cast| cast.oid == oid) {
            Arc::make_mut(casts).retain(|cast| cast.oid != oid);
        }
    }
    if snapshot.extensions.iter().any(|extension| extension.oid == oid) {
        Arc::make_mut(&mut snapshot.extensions).retain(|extension| extension.oid != oid);
    }
    if snapshot.informix_casts.iter().any(|cast| cast.oid == oid) {
        Arc::make_mut(&mut snapshot.informix_casts).retain(|cast| cast.oid != oid);
    }
    if snapshot.aggregates.iter().any(|aggregate| aggregate.oid == oid) {
        Arc::make_mut(&mut snapshot.aggregates).retain(|aggregate| aggregate.oid != oid);
    }
    if snapshot.types.iter().any(|ty| ty.oid == oid) {
        Arc::make_mut(&mut snapshot.types).retain(|ty| ty.oid != oid);
    }
}

fn cookie(connection: &Connection, database: &str) -> Result<i64> {
    connection.query_row(&format!("PRAGMA {database}.schema_version"), [], |row| row.get(0))
}

/// How many rows this thread has read to describe schemas, SQLite's and our own: what a test counts.
pub fn rows_read() -> u64 {
    ROWS_READ.get()
}

std::thread_local! {
    static ROWS_READ: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

pub(super) fn count_row() {
    ROWS_READ.set(ROWS_READ.get() + 1);
}

/// A row of `sqlite_schema`.
pub(super) struct Entry {
    pub(super) row: i64,
    pub(super) kind: String,
    pub(super) name: String,
    pub(super) sql: Option<String>,
}

/// Rows of `sqlite_schema` by the table that they belong to, in lower case.
#[derive(Default)]
struct Entries {
    by_table: HashMap<String, Vec<Entry>>,
    /// The tables, in order; none that users are not shown.
    order: Vec<String>,
}

impl Entries {
    fn read_all(&mut self, connection: &Connection, database: &str) -> Result<()> {
        self.read(connection, database, "rowid > ?1", i64::MIN)
    }

    fn read(&mut self, connection: &Connection, database: &str, rows: &str, bound: i64) -> Result<()> {
        let mut statement = connection.prepare_cached(&format!(
            "SELECT rowid, type, name, tbl_name, sql FROM {database}.sqlite_schema WHERE {rows}"
        ))?;
        let mut rows = statement.query([bound])?;
        while let Some(row) = rows.next()? {
            count_row();
            let table: String = row.get(3)?;
            let entry = Entry { row: row.get(0)?, kind: row.get(1)?, name: row.get(2)?, sql: row.get(4)? };
            // Triggers of our own come and go between changes of the schema.
            if metadata::is_internal(&table) || (entry.kind == "trigger" && metadata::is_internal(&entry.name)) {
                continue;
            }
            let table = table.to_lowercase();
            let known = self.by_table.entry(table.clone()).or_insert_with(|| {
                self.order.push(table);
                Vec::new()
            });
            if !known.iter().any(|other| other.row == entry.row) {
                known.push(entry);
            }
        }
        Ok(())
    }
}

/// Tables that belong to a virtual table, in lower case.
fn shadow_tables(connection: &Connection, database: &str) -> Result<HashSet<String>> {
    let mut statement = connection.prepare(&format!("PRAGMA {database}.table_list"))?;
    let mut rows = statement.query([])?;
    let mut found = HashSet::new();
    while let Some(row) = rows.next()? {
        let (schema, name, kind): (String, String, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
        if schema == database && kind == "shadow" {
            found.insert(name.to_lowercase());
        }
    }
    Ok(found)
}

/// A pragma about an object, as a statement: SQLite's functions of the same names are tables of `main`, and a transaction
/// that has changed temporary tables alone must not look into that.
pub(super) fn pragma<'c>(
    connection: &'c Connection,
    database: &str,
    name: &str,
    object: &str,
) -> Result<rusqlite::Statement<'c>> {
    connection.prepare(&format!("PRAGMA {database}.{name}({})", rowferry_dialect::lower::sqlite::quote_text(object)))
}
