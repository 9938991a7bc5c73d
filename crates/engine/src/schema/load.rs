//! Reads a file's schema: SQLite's own description, and what the metadata tables add to it.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use rowferry_dialect::lower::sqlite::create_table::{ConstraintText, IndexText, Kind, TableText};
use rowferry_dialect::lower::sqlite::{quote, types};
use rowferry_dialect::schema::{
    Check, Column, ColumnDefault, ForeignKey, Identity, Index, IndexKey, QualifiedName, ReferentialAction, Relation,
    RelationKind, Routine, Sequence,
};
use rowferry_dialect::uses::Dependency;
use rowferry_dialect::{Language, Type};
use rusqlite::{Connection, Result};

use super::metadata::{self, derived_oid};
use super::{Details, Namespace, PG_TEMP, PUBLIC, SequenceDetails, Snapshot, Synonym};

/// Reads the schema of a database (`main` or `temp`). The caller holds a read transaction, or nobody can change it.
pub fn load(connection: &Connection, database: &'static str) -> Result<Snapshot> {
    let mut entries = Entries::default();
    entries.read_all(connection, database)?;
    let hidden = shadow_tables(connection, database)?;
    let metadata = Metadata::load(connection, database, None)?;
    let source = Source { connection, database, metadata: &metadata };
    let mut snapshot = Snapshot::default();
    snapshot.cookie = cookie(connection, database)?;
    for name in entries.order.iter().filter(|name| !hidden.contains(*name)) {
        source.add_relation(&mut snapshot, &entries.by_table[name]);
    }
    source.add_objects(&mut snapshot);
    let relations: Vec<Arc<Relation>> = snapshot.relations().cloned().collect();
    source.add_sequences(&mut snapshot, &relations);
    snapshot.generation = super::next_generation();
    Ok(snapshot)
}

/// What a change of the schema has touched in a database.
#[derive(Clone, Debug, Default)]
pub struct Touched {
    /// Objects whose entries in the metadata tables were made, changed or removed, and relations that are others now.
    pub oids: BTreeSet<u32>,
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
    let mut changed = Vec::new();
    for name in &entries.order {
        changed.extend(source.add_relation(&mut snapshot, &entries.by_table[name]));
    }
    source.add_objects(&mut snapshot);
    let changed: Vec<Arc<Relation>> =
        changed.iter().filter_map(|oid| snapshot.relation_by_oid(*oid)).cloned().collect();
    source.add_sequences(&mut snapshot, &changed);
    snapshot.generation = super::next_generation();
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
    if snapshot.namespaces.iter().any(|namespace| namespace.oid == oid) {
        Arc::make_mut(&mut snapshot.namespaces).retain(|namespace| namespace.oid != oid);
    }
    if snapshot.synonyms.iter().any(|synonym| synonym.oid == oid) {
        Arc::make_mut(&mut snapshot.synonyms).retain(|synonym| synonym.oid != oid);
    }
    if snapshot.routines.iter().any(|routine| routine.oid == oid) {
        Arc::make_mut(&mut snapshot.routines).retain(|routine| routine.oid != oid);
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

fn count_row() {
    ROWS_READ.set(ROWS_READ.get() + 1);
}

/// A row of `sqlite_schema`.
struct Entry {
    row: i64,
    kind: String,
    name: String,
    sql: Option<String>,
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
    let mut statement = connection.prepare(&format!(
        "SELECT lower(name) FROM {database}.pragma_table_list WHERE schema = '{database}' AND type = 'shadow'"
    ))?;
    let rows = statement.query_map([], |row| row.get(0))?;
    rows.collect()
}

/// The metadata tables' rows.
#[derive(Default)]
struct Metadata {
    objects: BTreeMap<u32, Object>,
    by_physical_name: HashMap<(String, String), u32>,
    columns: HashMap<u32, Vec<ColumnRow>>,
    constraints: HashMap<u32, Vec<ConstraintRow>>,
    sequences: BTreeMap<u32, SequenceRow>,
    needs: HashMap<u32, Vec<Dependency>>,
}

struct Object {
    kind: String,
    namespace: String,
    name: String,
    physical_name: Option<String>,
    language: Language,
    definition: Option<String>,
    comment: Option<String>,
}

struct ColumnRow {
    name: String,
    ty: Option<String>,
    default_text: Option<String>,
    identity: Option<String>,
    sequence: Option<String>,
    generated: Option<String>,
    comment: Option<String>,
}

struct ConstraintRow {
    name: String,
    kind: String,
    text: Option<String>,
    sql: Option<String>,
}

struct SequenceRow {
    ty: String,
    start: i64,
    increment: i64,
    min: i64,
    max: i64,
    cycle: bool,
    owner_table: Option<String>,
    owner_column: Option<String>,
}

/// Reads rows of a metadata table: all, or those of some objects.
fn each_row(
    connection: &Connection,
    query: &str,
    order: &str,
    only: Option<&BTreeSet<u32>>,
    mut visit: impl FnMut(&rusqlite::Row<'_>) -> Result<()>,
) -> Result<()> {
    let filter = if only.is_some() { "WHERE oid = ?1" } else { "WHERE ?1 IS NULL" };
    let mut statement = connection.prepare_cached(&format!("{query} {filter} ORDER BY {order}"))?;
    let mut visit_all = |oid: Option<u32>| -> Result<()> {
        let mut rows = statement.query([oid])?;
        while let Some(row) = rows.next()? {
            count_row();
            visit(row)?;
        }
        Ok(())
    };
    match only {
        Some(oids) => oids.iter().try_for_each(|oid| visit_all(Some(*oid))),
        None => visit_all(None),
    }
}

impl Metadata {
    fn load(connection: &Connection, database: &str, only: Option<&BTreeSet<u32>>) -> Result<Self> {
        let mut metadata = Self::default();
        if only.is_some_and(BTreeSet::is_empty) || !metadata::exist(connection, database)? {
            return Ok(metadata);
        }
        let query = format!(
            "SELECT oid, kind, namespace, name, physical_name, language, definition, comment FROM {database}.rowferry_objects"
        );
        each_row(connection, &query, "oid", only, |row| {
            let oid = row.get(0)?;
            let language: String = row.get(5)?;
            let object = Object {
                kind: row.get(1)?,
                namespace: row.get(2)?,
                name: row.get(3)?,
                physical_name: row.get(4)?,
                language: Language::from_name(&language).unwrap_or(Language::Sqlite),
                definition: row.get(6)?,
                comment: row.get(7)?,
            };
            if let Some(name) = &object.physical_name {
                metadata.by_physical_name.insert((object.kind.clone(), name.to_lowercase()), oid);
            }
            metadata.objects.insert(oid, object);
            Ok(())
        })?;
        metadata.load_parts(connection, database, only)?;
        if metadata::has_dependencies(connection, database)? {
            let query = format!("SELECT oid, target, target_column FROM {database}.rowferry_dependencies");
            each_row(connection, &query, "oid, target, target_column", only, |row| {
                let (target, column): (u32, String) = (row.get(1)?, row.get(2)?);
                let needs = metadata.needs.entry(row.get(0)?).or_default();
                // A row of nothing says that there is nothing else to say.
                if target != 0 {
                    needs.push((target, (!column.is_empty()).then_some(column)));
                }
                Ok(())
            })?;
        }
        Ok(metadata)
    }

    fn load_parts(&mut self, connection: &Connection, database: &str, only: Option<&BTreeSet<u32>>) -> Result<()> {
        let query = format!(
            "SELECT oid, name, type, default_text, identity, sequence, generated, comment FROM {database}.rowferry_columns"
        );
        each_row(connection, &query, "oid, position", only, |row| {
            self.columns.entry(row.get(0)?).or_default().push(ColumnRow {
                name: row.get(1)?,
                ty: row.get(2)?,
                default_text: row.get(3)?,
                identity: row.get(4)?,
                sequence: row.get(5)?,
                generated: row.get(6)?,
                comment: row.get(7)?,
            });
            Ok(())
        })?;
        let query = format!("SELECT oid, name, kind, text, sql FROM {database}.rowferry_constraints");
        each_row(connection, &query, "oid, name", only, |row| {
            self.constraints.entry(row.get(0)?).or_default().push(ConstraintRow {
                name: row.get(1)?,
                kind: row.get(2)?,
                text: row.get(3)?,
                sql: row.get(4)?,
            });
            Ok(())
        })?;
        let query = format!(
            "SELECT oid, type, start, increment, min, max, cycle, owner_table, owner_column FROM {database}.rowferry_sequences"
        );
        each_row(connection, &query, "oid", only, |row| {
            let sequence = SequenceRow {
                ty: row.get(1)?,
                start: row.get(2)?,
                increment: row.get(3)?,
                min: row.get(4)?,
                max: row.get(5)?,
                cycle: row.get(6)?,
                owner_table: row.get(7)?,
                owner_column: row.get(8)?,
            };
            self.sequences.insert(row.get(0)?, sequence);
            Ok(())
        })
    }

    fn object(&self, kind: &str, physical_name: &str) -> Option<(u32, &Object)> {
        let oid = *self.by_physical_name.get(&(kind.to_owned(), physical_name.to_lowercase()))?;
        Some((oid, &self.objects[&oid]))
    }

    fn columns(&self, oid: u32) -> &[ColumnRow] {
        self.columns.get(&oid).map_or(&[], Vec::as_slice)
    }

    fn column(&self, oid: u32, name: &str) -> Option<&ColumnRow> {
        self.columns(oid).iter().find(|column| column.name.eq_ignore_ascii_case(name))
    }

    fn constraints(&self, oid: u32) -> &[ConstraintRow] {
        self.constraints.get(&oid).map_or(&[], Vec::as_slice)
    }
}

/// Where objects are read from.
#[derive(Clone, Copy)]
struct Source<'a> {
    connection: &'a Connection,
    database: &'static str,
    metadata: &'a Metadata,
}

impl Source<'_> {
    /// Enters the table or view to which some rows of `sqlite_schema` belong; its object id.
    fn add_relation(&self, snapshot: &mut Snapshot, entries: &[Entry]) -> Option<u32> {
        let entry = entries.iter().find(|entry| matches!(entry.kind.as_str(), "table" | "view"))?;
        let loader = Loader { source: *self, known: snapshot, entries, entry };
        match if entry.kind == "table" { loader.table() } else { loader.view() } {
            Ok((relation, mut details)) => {
                details.schema_rows = entries.iter().map(|entry| entry.row).collect();
                let oid = relation.oid;
                snapshot.add_relation(relation, details);
                Some(oid)
            }
            // A virtual table whose module is not here, a view on tables that are gone: the rest can still be served.
            Err(error) => {
                tracing::warn!(object = entry.name, %error, "left out of the schema");
                None
            }
        }
    }

    /// Enters what SQLite knows nothing of.
    fn add_objects(&self, snapshot: &mut Snapshot) {
        for (&oid, object) in &self.metadata.objects {
            match object.kind.as_str() {
                "synonym" => {
                    let definition = object.definition.as_deref().unwrap_or_default();
                    let (schema, name) = definition.split_once('.').unwrap_or((super::PUBLIC, definition));
                    let target = QualifiedName::new(schema, name);
                    let (namespace, name) = (object.namespace.clone(), object.name.clone());
                    let synonyms = Arc::make_mut(&mut snapshot.synonyms);
                    synonyms.push(Synonym { oid, namespace, name, target });
                    synonyms.sort_by_key(|synonym| synonym.oid);
                }
                "schema" => {
                    let namespaces = Arc::make_mut(&mut snapshot.namespaces);
                    namespaces.push(Namespace { oid, name: object.name.clone() });
                    namespaces.sort_by_key(|namespace| namespace.oid);
                }
                "routine" => {
                    let name = object.name.split('(').next().unwrap_or_default().to_owned();
                    let definition = object.definition.clone().unwrap_or_default();
                    let routines = Arc::make_mut(&mut snapshot.routines);
                    routines.push(Arc::new(Routine::new(oid, name, object.name.clone(), definition)));
                    routines.sort_by_key(|routine| routine.oid);
                }
                kind @ ("row type" | "distinct type") => self.add_type(snapshot, oid, object, kind == "row type"),
                "view" if object.physical_name.is_none() => {
                    let (relation, details) = engine_view(oid, object, self.database, self.metadata);
                    snapshot.add_relation(relation, details);
                }
                _ => {}
            }
        }
    }

    fn add_type(&self, snapshot: &mut Snapshot, oid: u32, object: &Object, is_row: bool) {
        let words = object.definition.as_deref().unwrap_or_default();
        match rowferry_dialect::informix::type_from_words(words) {
            Ok(ty) => {
                let types = Arc::make_mut(&mut snapshot.types);
                let name = object.name.clone();
                types.push(Arc::new(rowferry_dialect::schema::NamedType { oid, name, is_row, ty }));
                types.sort_by_key(|ty| ty.oid);
            }
            Err(error) => tracing::warn!(object = object.name, %error, "left out of the schema"),
        }
    }

    /// Enters sequences: those with entries, and those that number the rowids of some relations.
    fn add_sequences(&self, snapshot: &mut Snapshot, relations: &[Arc<Relation>]) {
        for (&oid, row) in &self.metadata.sequences {
            let Some(object) = self.metadata.objects.get(&oid) else { continue };
            let owner = row.owner_table.as_deref().zip(row.owner_column.as_deref()).and_then(|(table, column)| {
                let relation = snapshot.relation_by_physical_name(table)?;
                Some((relation.oid, relation.column(column)?))
            });
            snapshot.add_sequence(SequenceDetails {
                sequence: Arc::new(Sequence {
                    oid,
                    namespace: object.namespace.clone(),
                    name: object.name.clone(),
                    ty: types::parse(&row.ty, Language::Postgres),
                }),
                database: self.database,
                start: row.start,
                increment: row.increment,
                min: row.min,
                max: row.max,
                cycle: row.cycle,
                owner,
                rowid_of: None,
                comment: object.comment.clone(),
            });
        }
        relations.iter().for_each(|relation| self.add_rowid_sequence(snapshot, relation));
    }

    /// A rowid that numbers a column is a sequence, too, under the name that PostgreSQL would have given it.
    fn add_rowid_sequence(&self, snapshot: &mut Snapshot, relation: &Relation) {
        let numbered = relation.columns.iter().enumerate().find(|(_, column)| column.rowid_alias);
        let Some((at, column)) = numbered.filter(|(_, column)| column.identity.is_some()) else { return };
        let name = format!("{}_{}_seq", relation.name, column.name);
        if snapshot.sequence(&relation.namespace, &name).is_some() {
            return;
        }
        snapshot.add_sequence(SequenceDetails {
            sequence: Arc::new(Sequence {
                oid: derived_oid("sequence", self.database, &[&relation.oid.to_string(), &column.name]),
                namespace: relation.namespace.clone(),
                name,
                ty: column.ty.clone(),
            }),
            database: self.database,
            start: 1,
            increment: 1,
            min: 1,
            max: super::integer_range(&column.ty).1,
            cycle: false,
            owner: Some((relation.oid, at)),
            rowid_of: Some(relation.physical_name.clone()),
            comment: None,
        });
    }
}

/// One object on its way into the snapshot.
struct Loader<'a> {
    source: Source<'a>,
    /// What has been read before it.
    known: &'a Snapshot,
    /// The rows of `sqlite_schema` that belong to it.
    entries: &'a [Entry],
    /// Its own.
    entry: &'a Entry,
}

/// A row of `pragma_table_xinfo`.
struct ColumnInfo {
    name: String,
    declared: String,
    not_null: bool,
    default: Option<String>,
    key: usize,
    hidden: i64,
}

impl Loader<'_> {
    /// Who the object is: oid, namespace, name, language, whether it has an entry.
    fn identity(&self, kind: &str) -> (u32, String, String, Language, Option<&Object>) {
        match self.source.metadata.object(kind, &self.entry.name) {
            Some((oid, object)) => (oid, object.namespace.clone(), object.name.clone(), object.language, Some(object)),
            None => {
                let oid = derived_oid("relation", self.source.database, &[&self.entry.name.to_lowercase()]);
                (oid, self.namespace().to_owned(), self.entry.name.clone(), Language::Sqlite, None)
            }
        }
    }

    fn namespace(&self) -> &'static str {
        if self.source.database == "temp" { PG_TEMP } else { PUBLIC }
    }

    fn column_infos(&self) -> Result<Vec<ColumnInfo>> {
        let mut statement = self.source.connection.prepare_cached(
            "SELECT name, type, \"notnull\", dflt_value, pk, hidden FROM pragma_table_xinfo(?1, ?2) WHERE hidden <> 1",
        )?;
        let rows = statement.query_map([self.entry.name.as_str(), self.source.database], |row| {
            count_row();
            Ok(ColumnInfo {
                name: row.get(0)?,
                declared: row.get::<_, Option<String>>(1)?.unwrap_or_default(),
                not_null: row.get(2)?,
                default: row.get(3)?,
                key: row.get::<_, i64>(4)? as usize,
                hidden: row.get(5)?,
            })
        })?;
        rows.collect()
    }

    fn table(&self) -> Result<(Relation, Details)> {
        let (oid, namespace, name, language, object) = self.identity("table");
        let text = self.entry.sql.as_deref().and_then(TableText::parse);
        let infos = self.column_infos()?;
        let without_rowid = match &text {
            Some(text) => text.is_without_rowid(),
            None => self.source.connection.query_row(
                "SELECT wr FROM pragma_table_list(?2) WHERE schema = ?1",
                [self.source.database, self.entry.name.as_str()],
                |row| row.get(0),
            )?,
        };
        let mut details = Details {
            comment: object.and_then(|object| object.comment.clone()),
            sql: self.entry.sql.clone(),
            recorded: object.is_some(),
            triggers: self.triggers(),
            ..Details::default()
        };
        let mut indexes = self.indexes(oid, &name, language, &infos, text.as_ref(), &mut details)?;
        let key: Vec<usize> = {
            let mut key: Vec<(usize, usize)> = infos.iter().enumerate().map(|(at, info)| (info.key, at)).collect();
            key.retain(|(place, _)| *place > 0);
            key.sort_unstable();
            key.into_iter().map(|(_, at)| at).collect()
        };
        let rowid_alias =
            (key.len() == 1 && !without_rowid && !indexes.iter().any(|index| index.primary)).then(|| key[0]);
        if !key.is_empty() && !indexes.iter().any(|index| index.primary) {
            let constraint = text.as_ref().and_then(|text| named(text, Kind::PrimaryKey, &[]));
            let name = constraint.unwrap_or_else(|| format!("{name}_pkey"));
            let keys = key.iter().map(|&at| IndexKey { text: infos[at].name.clone(), descending: false }).collect();
            let oid = derived_oid("index", self.source.database, &[&oid.to_string(), &name]);
            let columns = key.iter().copied().map(Some).collect();
            let primary =
                Index { oid, name, columns, keys, unique: true, primary: true, constraint: true, predicate: None };
            indexes.insert(0, primary);
            details.index_names.insert(0, String::new());
        }
        let mut columns = Vec::with_capacity(infos.len());
        for (at, info) in infos.iter().enumerate() {
            let recorded = self.source.metadata.column(oid, &info.name);
            if let Some(comment) = recorded.and_then(|row| row.comment.clone()) {
                details.column_comments.insert(at, comment);
            }
            columns.push(column(info, recorded, language, text.as_ref(), rowid_alias == Some(at), without_rowid));
        }
        let foreign_keys = self.foreign_keys(oid, &name, &namespace, &columns, text.as_ref(), &mut details)?;
        let checks = self.checks(oid, &name, text.as_ref(), &mut details);
        let relation = Relation {
            oid,
            namespace,
            name,
            database: self.source.database,
            physical_name: self.entry.name.clone(),
            language,
            kind: RelationKind::Table,
            columns,
            indexes,
            foreign_keys,
            checks,
            without_rowid,
        };
        Ok((relation, details))
    }

    /// Columns of a view that have no type. SQLite shows them as BLOB, like those that are declared so.
    fn typeless_columns(&self, infos: &[ColumnInfo]) -> Result<Vec<usize>> {
        let shown: Vec<usize> = (0..infos.len()).filter(|at| infos[*at].declared == "BLOB").collect();
        if shown.is_empty() {
            return Ok(shown);
        }
        let sql = format!("SELECT * FROM {}.{}", quote(self.source.database), quote(&self.entry.name));
        let statement = self.source.connection.prepare(&sql)?;
        let declared: Vec<bool> = statement.columns().map(|column| column.decl_type().is_some()).collect();
        Ok(shown.into_iter().filter(|at| declared.get(*at) == Some(&false)).collect())
    }

    fn view(&self) -> Result<(Relation, Details)> {
        let (oid, namespace, name, language, object) = self.identity("view");
        let mut details = Details {
            comment: object.and_then(|object| object.comment.clone()),
            sql: self.entry.sql.clone(),
            recorded: object.is_some(),
            native_view: true,
            triggers: self.triggers(),
            needs: self.source.metadata.needs.get(&oid).cloned(),
            ..Details::default()
        };
        let definition = object.and_then(|object| object.definition.clone());
        let columns = match &definition {
            Some(_) => view_columns(self.source.metadata.columns(oid), language),
            None => {
                let mut infos = self.column_infos()?;
                for at in self.typeless_columns(&infos)? {
                    infos[at].declared.clear();
                }
                infos.iter().map(|info| column(info, None, Language::Sqlite, None, false, false)).collect()
            }
        };
        for (at, row) in self.source.metadata.columns(oid).iter().enumerate() {
            if let Some(comment) = &row.comment {
                details.column_comments.insert(at, comment.clone());
            }
        }
        let kind = definition.map_or(RelationKind::NativeView, |definition| RelationKind::View { definition });
        let relation = Relation {
            oid,
            namespace,
            name,
            database: self.source.database,
            physical_name: self.entry.name.clone(),
            language,
            kind,
            columns,
            indexes: Vec::new(),
            foreign_keys: Vec::new(),
            checks: Vec::new(),
            without_rowid: false,
        };
        Ok((relation, details))
    }

    fn triggers(&self) -> Vec<(String, String)> {
        let of_table = self.entries.iter().filter(|entry| entry.kind == "trigger");
        of_table.map(|entry| (entry.name.clone(), entry.sql.clone().unwrap_or_default())).collect()
    }

    /// The table's indexes, the primary key's first; a rowid has none.
    fn indexes(
        &self,
        oid: u32,
        table: &str,
        language: Language,
        infos: &[ColumnInfo],
        text: Option<&TableText>,
        details: &mut Details,
    ) -> Result<Vec<Index>> {
        struct Listed {
            name: String,
            unique: bool,
            origin: String,
        }
        let mut statement = self
            .source
            .connection
            .prepare_cached("SELECT name, \"unique\", origin FROM pragma_index_list(?1, ?2) ORDER BY seq DESC")?;
        let listed: Vec<Listed> = statement
            .query_map([self.entry.name.as_str(), self.source.database], |row| {
                count_row();
                Ok(Listed { name: row.get(0)?, unique: row.get(1)?, origin: row.get(2)? })
            })?
            .collect::<Result<_>>()?;
        let mut statement = self.source.connection.prepare_cached(
            "SELECT cid, name, \"desc\" FROM pragma_index_xinfo(?1, ?2) WHERE key = 1 ORDER BY seqno",
        )?;
        let mut indexes: Vec<(Index, String)> = Vec::with_capacity(listed.len());
        for entry in listed {
            let rows: Vec<(i64, Option<String>, bool)> = statement
                .query_map([entry.name.as_str(), self.source.database], |row| {
                    Ok((row.get(0)?, row.get(1)?, row.get(2)?))
                })?
                .collect::<Result<_>>()?;
            let sql = self.entries.iter().find(|other| other.kind == "index" && other.name == entry.name);
            let declared = sql.and_then(|other| other.sql.as_deref()).and_then(IndexText::parse);
            let recorded = self.source.metadata.object("index", &entry.name);
            let texts: &[ColumnRow] = recorded.map_or(&[], |(oid, _)| self.source.metadata.columns(oid));
            let mut columns = Vec::with_capacity(rows.len());
            let mut keys = Vec::with_capacity(rows.len());
            for (at, (_, name, descending)) in rows.into_iter().enumerate() {
                // Positions count visible columns, SQLite's numbers all of them: the name decides.
                let column = name.as_ref().and_then(|name| infos.iter().position(|info| info.name == *name));
                let ours = texts.get(at).and_then(|row| row.generated.clone());
                let native = || declared.as_ref().and_then(|d| d.keys.get(at).map(|key| d.text(key).to_owned()));
                let text = match name {
                    Some(name) => name,
                    None => ours.or_else(native).unwrap_or_default(),
                };
                columns.push(column);
                keys.push(IndexKey { text, descending });
            }
            let constraint = entry.origin != "c";
            let primary = entry.origin == "pk";
            let column_names: Vec<String> = keys.iter().map(|key| key.text.clone()).collect();
            let name = if constraint {
                let kind = if primary { Kind::PrimaryKey } else { Kind::Unique };
                let given = text.and_then(|text| named(text, kind, &column_names));
                given.unwrap_or_else(|| {
                    if primary { format!("{table}_pkey") } else { format!("{table}_{}_key", column_names.join("_")) }
                })
            } else {
                recorded.map_or_else(|| entry.name.clone(), |(_, object)| object.name.clone())
            };
            let predicate = match recorded {
                Some((_, object)) if object.definition.is_some() => object.definition.clone(),
                _ => declared.as_ref().and_then(|d| d.predicate.as_ref().map(|span| d.text(span).to_owned())),
            };
            let index_oid = match recorded {
                Some((oid, _)) => oid,
                None => derived_oid("index", self.source.database, &[&oid.to_string(), &name]),
            };
            let index =
                Index { oid: index_oid, name, columns, keys, unique: entry.unique, primary, constraint, predicate };
            indexes.push((index, entry.name));
        }
        let _ = language;
        indexes.sort_by_key(|(index, _)| !index.primary);
        let (indexes, names) = indexes.into_iter().unzip();
        details.index_names = names;
        Ok(indexes)
    }

    fn foreign_keys(
        &self,
        oid: u32,
        table: &str,
        namespace: &str,
        columns: &[Column],
        text: Option<&TableText>,
        details: &mut Details,
    ) -> Result<Vec<ForeignKey>> {
        struct Part {
            id: i64,
            target: String,
            from: String,
            to: Option<String>,
            on_update: String,
            on_delete: String,
        }
        let mut statement = self.source.connection.prepare_cached(
            "SELECT id, \"table\", \"from\", \"to\", on_update, on_delete FROM pragma_foreign_key_list(?1, ?2)
             ORDER BY id DESC, seq",
        )?;
        let parts: Vec<Part> = statement
            .query_map([self.entry.name.as_str(), self.source.database], |row| {
                count_row();
                Ok(Part {
                    id: row.get(0)?,
                    target: row.get(1)?,
                    from: row.get(2)?,
                    to: row.get(3)?,
                    on_update: row.get(4)?,
                    on_delete: row.get(5)?,
                })
            })?
            .collect::<Result<_>>()?;
        let mut declared: Vec<&ConstraintText> = text
            .into_iter()
            .flat_map(|text| text.all_constraints())
            .map(|(_, constraint)| constraint)
            .filter(|constraint| constraint.kind == Kind::ForeignKey)
            .collect();
        let mut keys = Vec::new();
        for group in parts.chunk_by(|a, b| a.id == b.id) {
            let names: Vec<String> = group.iter().map(|part| part.from.clone()).collect();
            let place = declared.iter().position(|constraint| same_names(&constraint.columns, &names));
            let constraint = place.map(|place| declared.remove(place));
            let name = constraint
                .and_then(|constraint| constraint.name.clone())
                .unwrap_or_else(|| format!("{table}_{}_fkey", names.join("_")));
            let deferred = constraint.zip(text).is_some_and(|(constraint, text)| {
                text.text(&constraint.span).to_ascii_uppercase().contains("INITIALLY DEFERRED")
            });
            let target = self.target(&group[0].target, namespace);
            keys.push(ForeignKey {
                oid: derived_oid("constraint", self.source.database, &[&oid.to_string(), &name]),
                name,
                columns: names
                    .iter()
                    .filter_map(|name| columns.iter().position(|column| column.name.eq_ignore_ascii_case(name)))
                    .collect(),
                target,
                target_columns: group.iter().filter_map(|part| part.to.clone()).collect(),
                on_delete: action(&group[0].on_delete),
                on_update: action(&group[0].on_update),
                deferred,
            });
            details.foreign_key_ids.push(group[0].id);
        }
        Ok(keys)
    }

    /// The name of the table that SQLite knows by this one.
    fn target(&self, physical_name: &str, namespace: &str) -> QualifiedName {
        if let Some((_, object)) = self.source.metadata.object("table", physical_name) {
            return QualifiedName::new(object.namespace.clone(), object.name.clone());
        }
        let known = self.known.relation_by_physical_name(physical_name);
        match known.filter(|table| self.known.details(table.oid).is_some_and(|details| details.recorded)) {
            Some(table) => QualifiedName::new(table.namespace.clone(), table.name.clone()),
            None => QualifiedName::new(namespace, physical_name),
        }
    }

    fn checks(&self, oid: u32, table: &str, text: Option<&TableText>, details: &mut Details) -> Vec<Check> {
        let mut checks: Vec<Check> = Vec::new();
        let recorded = self.source.metadata.constraints(oid);
        let mut add = |name: String, native_text: Option<String>| {
            let row = recorded.iter().find(|row| row.name.eq_ignore_ascii_case(&name) && row.kind == "check");
            let native = native_text.is_some();
            let text = row.and_then(|row| row.text.clone()).or(native_text).unwrap_or_default();
            let oid = derived_oid("constraint", self.source.database, &[&oid.to_string(), &name]);
            checks.push(Check { oid, name, text, native });
        };
        let mut unnamed = 0_usize;
        for (column, constraint) in text.into_iter().flat_map(|text| text.all_constraints()) {
            if constraint.kind != Kind::Check {
                continue;
            }
            let name = constraint.name.clone().unwrap_or_else(|| {
                unnamed += 1;
                let base = column.map_or_else(|| format!("{table}_check"), |c| format!("{table}_{}_check", c.name));
                if unnamed == 1 { base } else { format!("{base}{unnamed}") }
            });
            add(name, text.map(|text| text.text(&constraint.inner).trim().to_owned()));
        }
        for row in recorded.iter().filter(|row| row.kind == "check") {
            if let Some(sql) = &row.sql {
                add(row.name.clone(), None);
                details.engine_checks.push((row.name.clone(), sql.clone()));
            }
        }
        checks
    }
}

fn column(
    info: &ColumnInfo,
    recorded: Option<&ColumnRow>,
    language: Language,
    text: Option<&TableText>,
    rowid_alias: bool,
    without_rowid: bool,
) -> Column {
    let words = recorded.and_then(|row| row.ty.as_deref()).unwrap_or(&info.declared);
    let mut ty = types::parse(words, language);
    // SQLite stores what comes under a type of no known name; only its own rule tells how it then compares.
    if language == Language::Sqlite && words.is_empty() {
        ty = Type::Text;
    }
    let generated = matches!(info.hidden, 2 | 3).then(|| {
        let native = || {
            let text = text?;
            let constraints = &text.column(&info.name)?.constraints;
            let generated = constraints.iter().find(|constraint| constraint.kind == Kind::Generated)?;
            Some(text.text(&generated.inner).trim().to_owned())
        };
        recorded.and_then(|row| row.generated.clone()).or_else(native).unwrap_or_default()
    });
    let identity = match recorded.and_then(|row| row.identity.as_deref()) {
        Some(kind) => Some(Identity {
            always: kind == "always",
            zero_is_next: kind == "serial",
            sequence: recorded.and_then(|row| row.sequence.as_deref()).map(split_name),
        }),
        // SQLite numbers every rowid that is left out, so its own tables behave like this.
        None if rowid_alias && language == Language::Sqlite => {
            Some(Identity { always: false, zero_is_next: false, sequence: None })
        }
        None => None,
    };
    let default = match (recorded.and_then(|row| row.default_text.clone()), &info.default) {
        (Some(text), native) => Some(ColumnDefault { text, native: native.is_some() }),
        (None, Some(text)) => Some(ColumnDefault { text: text.clone(), native: true }),
        (None, None) => None,
    };
    Column {
        name: info.name.clone(),
        ty,
        not_null: info.not_null || rowid_alias || (without_rowid && info.key > 0),
        default: default.filter(|_| generated.is_none()),
        identity,
        generated,
        rowid_alias,
    }
}

/// `namespace.name` of a sequence as the metadata tables write it.
fn split_name(text: &str) -> QualifiedName {
    match text.split_once('.') {
        Some((namespace, name)) => QualifiedName::new(namespace, name),
        None => QualifiedName::bare(text),
    }
}

fn view_columns(rows: &[ColumnRow], language: Language) -> Vec<Column> {
    rows.iter()
        .map(|row| Column {
            name: row.name.clone(),
            ty: row.ty.as_deref().map_or(Type::Text, |words| types::parse(words, language)),
            not_null: false,
            default: None,
            identity: None,
            generated: None,
            rowid_alias: false,
        })
        .collect()
}

/// A view that SQLite could not express.
fn engine_view(oid: u32, object: &Object, database: &'static str, metadata: &Metadata) -> (Relation, Details) {
    let relation = Relation {
        oid,
        namespace: object.namespace.clone(),
        name: object.name.clone(),
        database,
        physical_name: super::physical_name(&object.namespace, &object.name),
        language: object.language,
        kind: RelationKind::View { definition: object.definition.clone().unwrap_or_default() },
        columns: view_columns(metadata.columns(oid), object.language),
        indexes: Vec::new(),
        foreign_keys: Vec::new(),
        checks: Vec::new(),
        without_rowid: false,
    };
    let needs = metadata.needs.get(&oid).cloned();
    let mut details = Details { comment: object.comment.clone(), recorded: true, needs, ..Details::default() };
    for (at, row) in metadata.columns(oid).iter().enumerate() {
        if let Some(comment) = &row.comment {
            details.column_comments.insert(at, comment.clone());
        }
    }
    (relation, details)
}

/// The name that a constraint of a kind on these columns was given (any columns, when none are named).
fn named(text: &TableText, kind: Kind, columns: &[String]) -> Option<String> {
    text.all_constraints()
        .map(|(_, constraint)| constraint)
        .find(|constraint| constraint.kind == kind && (columns.is_empty() || same_names(&constraint.columns, columns)))?
        .name
        .clone()
}

fn same_names(a: &[String], b: &[String]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.eq_ignore_ascii_case(b))
}

fn action(words: &str) -> ReferentialAction {
    match words.to_ascii_uppercase().as_str() {
        "CASCADE" => ReferentialAction::Cascade,
        "RESTRICT" => ReferentialAction::Restrict,
        "SET NULL" => ReferentialAction::SetNull,
        "SET DEFAULT" => ReferentialAction::SetDefault,
        _ => ReferentialAction::NoAction,
    }
}
