//! SQLite's side of a catalog table: one kind of virtual table for all of them.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ffi::{CStr, CString, c_int};
use std::marker::PhantomData;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use rowferry_dialect::Schema as _;
use rowferry_dialect::schema::RelationKind;
use rowferry_dialect::types::Storage;
use rusqlite::ffi;
use rusqlite::vtab::{
    Context as VtabContext, Filters, IndexConstraintOp, IndexInfo, Module, VTab, VTabConfig, VTabConnection, VTabCursor,
};
use rusqlite::{Connection, Error, Result};

use super::functions::raise;
use super::large_objects::LargeObjects;
use crate::catalog::cache::{Cache, Reader};
use crate::catalog::{Cell, Chunk, Chunks, Context, Described, Row, Table, columns_of, physical_name, table_by_oid};
use crate::database::Shared;
use crate::schema::SessionSchema;
use crate::session::state::State;

/// Makes a catalog relation known to a connection.
pub fn register(connection: &Connection, oid: u32, state: &Arc<State>) -> Result<()> {
    const MODULE: Module<'static, CatalogTable> = Module::eponymous_only_module();
    let table = table_by_oid(oid).ok_or_else(|| Error::ModuleError("a catalog that is not there".into()))?;
    let aux = Aux { table, state: Arc::downgrade(state) };
    connection.create_module(physical_name(table).as_str(), &MODULE, Some(aux))
}

/// Which table, for whom.
struct Aux {
    table: &'static Table,
    state: Weak<State>,
}

/// A connected table. SQLite's part comes first in memory.
#[repr(C)]
struct CatalogTable {
    base: ffi::sqlite3_vtab,
    table: &'static Table,
    state: Weak<State>,
    columns: usize,
    integers: Vec<bool>,
    /// How selective each column is.
    ranks: Vec<usize>,
    /// The column by which the rows of one relation can be made alone.
    one: Option<usize>,
    /// The only column by which rows that are read in chunks are looked up.
    chunks: Option<usize>,
}

// SAFETY: `repr(C)` with SQLite's part first.
unsafe impl<'vtab> VTab<'vtab> for CatalogTable {
    type Aux = Aux;
    type Cursor = Cursor<'vtab>;

    fn connect(
        db: &mut VTabConnection,
        aux: Option<&Aux>,
        _module_name: &[u8],
        _database_name: &[u8],
        _table_name: &[u8],
        _args: &[&[u8]],
    ) -> Result<(Cow<'static, CStr>, Self)> {
        let aux = aux.ok_or_else(|| Error::ModuleError("a catalog without a table".into()))?;
        db.config(VTabConfig::DirectOnly)?;
        let columns = columns_of(aux.table);
        let mut integers = Vec::with_capacity(columns.len());
        let mut declared = Vec::with_capacity(columns.len());
        let ranks = columns.iter().map(|column| rank(column.name)).collect();
        for Described { name, ty, .. } in &columns {
            let integer = ty.storage() == Storage::Integer;
            integers.push(integer);
            let words = match ty.storage() {
                Storage::Integer => "INTEGER",
                Storage::Real => "REAL",
                _ => "TEXT",
            };
            declared.push(format!("\"{name}\" {words}"));
        }
        let schema = format!("CREATE TABLE x ({})", declared.join(", "));
        let schema = CString::new(schema).map_err(|error| Error::ModuleError(error.to_string()))?;
        let table = Self {
            base: ffi::sqlite3_vtab::default(),
            table: aux.table,
            state: aux.state.clone(),
            columns: columns.len(),
            integers,
            ranks,
            one: aux.table.one.as_ref().and_then(|one| columns.iter().position(|column| column.name == one.column)),
            chunks: (aux.table.chunks.as_ref())
                .and_then(|chunks| columns.iter().position(|column| column.name == chunks.column)),
        };
        Ok((Cow::Owned(schema), table))
    }

    /// A column that must equal something is looked up in an index; the best is the one that is most selective, which
    /// is an object id more often than a name, and a name more often than a kind. The next best says which of the rows
    /// that are found there are meant: of a relation's columns the one with a number.
    fn best_index(&self, info: &mut IndexInfo) -> Result<bool> {
        let mut equal: Vec<(usize, usize)> = Vec::new();
        for (at, constraint) in info.constraints().enumerate() {
            let column = constraint.column();
            if !constraint.is_usable()
                || constraint.operator() != IndexConstraintOp::SQLITE_INDEX_CONSTRAINT_EQ
                || column < 0
                || self.chunks.is_some_and(|only| column as usize != only)
                || info.collation(at).is_ok_and(|collation| collation != "BINARY")
            {
                continue;
            }
            equal.push((at, column as usize));
        }
        equal.sort_by_key(|(_, column)| self.ranks[*column]);
        equal.dedup_by_key(|(_, column)| *column);
        let Some(&(at, first)) = equal.first() else {
            info.set_idx_num(0);
            // As many as a table of columns has for each that a table of tables has.
            let rows = if self.ranks.contains(&3) && self.columns > 4 { 20_000 } else { 2_000 };
            info.set_estimated_cost(5.0 * f64::from(rows));
            info.set_estimated_rows(rows.into());
            return Ok(true);
        };
        info.constraint_usage(at).set_argv_index(1);
        let mut rows = ROWS_OF_RANK[self.ranks[first]];
        // Rows that are counted off a table cost far less than calls and queries beside them.
        info.set_estimated_cost(1.0 + rows as f64 / 4.0);
        let mut lookup = Lookup { first: Some(first), second: None };
        // Of many rows an IN beside would have each looked at as often as it has members.
        if let Some(&(at, second)) = equal.get(1)
            && self.ranks[first] <= RANK_OF_RELATION
        {
            info.constraint_usage(at).set_argv_index(2);
            lookup.second = Some(second);
            rows = (rows >> 4).max(1);
        }
        info.set_idx_num(lookup.number());
        info.set_estimated_rows(rows);
        Ok(true)
    }

    fn open(&'vtab mut self) -> Result<Cursor<'vtab>> {
        Ok(Cursor {
            base: ffi::sqlite3_vtab_cursor::default(),
            fixed: None,
            rows: None,
            chosen: Chosen::All(0),
            key: None,
            phantom: PhantomData,
        })
    }
}

/// The columns whose values a scan is told, as the number that SQLite keeps of them in a plan.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Lookup {
    first: Option<usize>,
    second: Option<usize>,
}

impl Lookup {
    const BITS: u32 = 12;

    fn number(self) -> c_int {
        let part = |column: Option<usize>| column.map_or(0, |column| column as c_int + 1);
        part(self.second) << Self::BITS | part(self.first)
    }

    fn of(number: c_int) -> Self {
        let part = |number: c_int| usize::try_from((number & ((1 << Self::BITS) - 1)) - 1).ok();
        Self { first: part(number), second: part(number >> Self::BITS) }
    }
}

/// How selective a column is, best first.
fn rank(name: &str) -> usize {
    const RELATIONS: [&str; 8] = ["relid", "objid", "objoid", "typid", "table_name", "roleid", "classid", "member"];
    match name {
        "oid" | "indexrelid" => 0,
        "relname" | "typname" | "nspname" | "rolname" | "proname" => 1,
        name if RELATIONS.iter().any(|part| name.ends_with(part)) => 2,
        name if name.ends_with("name") || name.ends_with("id") => 3,
        _ => 4,
    }
}

/// That of a column that says which relation, or which other object, a row belongs to.
const RANK_OF_RELATION: usize = 2;

/// Rows that a column of each rank is expected to leave.
const ROWS_OF_RANK: [i64; 5] = [1, 2, 20, 200, 1_000];

/// A table's rows, with an index for each column that has been looked up by.
#[derive(Debug)]
pub struct Rows {
    rows: Vec<Row>,
    indexes: Mutex<HashMap<usize, Arc<Index>>>,
}

/// Which rows have a value in a column.
type Index = HashMap<Key, Vec<u32>>;

#[derive(Debug, Eq, Hash, PartialEq)]
enum Key {
    Integer(i64),
    Text(Arc<str>),
}

impl Key {
    fn of(cell: &Cell) -> Option<Self> {
        match cell {
            Cell::Integer(value) => Some(Self::Integer(*value)),
            Cell::Text(text) => Some(Self::Text(text.clone())),
            Cell::Word(word) => Some(Self::Text((*word).into())),
            Cell::Null | Cell::Real(_) | Cell::Blob(_) => None,
        }
    }

    fn is(&self, cell: &Cell) -> bool {
        match (self, cell) {
            (Self::Integer(key), Cell::Integer(value)) => key == value,
            (Self::Text(key), Cell::Text(text)) => key == text,
            (Self::Text(key), Cell::Word(word)) => **key == **word,
            _ => false,
        }
    }
}

impl Rows {
    pub fn new(rows: Vec<Row>) -> Self {
        Self { rows, indexes: Mutex::default() }
    }

    /// The numbers of the rows that have a value in a column.
    fn having(&self, column: usize, key: &Key) -> Vec<u32> {
        self.index(column).get(key).cloned().unwrap_or_default()
    }

    fn index(&self, column: usize) -> Arc<Index> {
        let mut indexes = self.indexes.lock();
        let index = indexes.entry(column).or_insert_with(|| {
            let mut index = Index::new();
            for (at, row) in self.rows.iter().enumerate() {
                if let Some(key) = Key::of(&row[column]) {
                    index.entry(key).or_default().push(at as u32);
                }
            }
            Arc::new(index)
        });
        index.clone()
    }
}

/// Where rows of the schema that a session sees are kept: with the database, unless nobody else can see the same.
fn cache<'a>(schema: &SessionSchema, state: &'a State, database: &'a Shared) -> &'a Cache {
    if schema.temp.is_empty() && schema.overlay.is_none() { &database.catalogs } else { &state.catalogs }
}

/// The rows of a table for a session; for a look-up of one relation, perhaps that one's alone.
fn rows(table: &'static Table, state: &Arc<State>, relation: Option<u32>) -> Result<Found> {
    let database = state.database.upgrade().ok_or_else(|| Error::ModuleError("the database is closed".into()))?;
    let schema = state.schema();
    let context = Context { schema: &schema, state, database: &database };
    let finished = |made: Vec<Row>| {
        debug_assert!(made.iter().all(|row| row.len() == columns_of(table).len()), "{}", table.name);
        Arc::new(Rows::new(made))
    };
    if table.live {
        return Ok(Found { rows: finished((table.rows)(&context)), alone: false });
    }
    let (reader, cache) = (Reader::new(&schema, state), cache(&schema, state, &database));
    if let Some(rows) = cache.get(table, &reader) {
        return Ok(Found { rows, alone: false });
    }
    if let Some((one, oid)) = table.one.as_ref().zip(relation)
        && cache.is_rarely_asked(table, &reader)
    {
        // What is no table or view (an index, a sequence) is found in the whole alone.
        match schema.relation_by_oid(oid).filter(|relation| !matches!(relation.kind, RelationKind::Catalog)) {
            Some(relation) => return Ok(Found { rows: finished((one.rows)(&context, &relation)), alone: true }),
            None if crate::catalog::relation_by_oid(oid).is_some() => {
                return Ok(Found { rows: finished(Vec::new()), alone: true });
            }
            None => {}
        }
    }
    let rows = finished((table.rows)(&context));
    cache.put(table, &reader, rows.clone());
    Ok(Found { rows, alone: false })
}

/// Rows, of the whole table or of the one relation that was asked for.
struct Found {
    rows: Arc<Rows>,
    alone: bool,
}

/// A scan. SQLite's part comes first in memory.
#[repr(C)]
struct Cursor<'vtab> {
    base: ffi::sqlite3_vtab_cursor,
    fixed: Option<&'static Arc<Rows>>,
    rows: Option<Arc<Rows>>,
    chosen: Chosen,
    /// Of rows that are read in chunks: what they are looked up by.
    key: Option<i64>,
    phantom: PhantomData<&'vtab CatalogTable>,
}

/// Which rows, numbered from the fixed ones on.
enum Chosen {
    /// All rows from this one on.
    All(usize),
    /// These rows.
    Some(Vec<u32>, usize),
}

impl Cursor<'_> {
    fn table(&self) -> &CatalogTable {
        // SAFETY: SQLite sets `pVtab` to the table that opened the cursor, before it uses the cursor.
        unsafe { &*self.base.pVtab.cast::<CatalogTable>() }
    }

    fn at(&self) -> Option<usize> {
        match &self.chosen {
            Chosen::All(at) => (*at < self.fixed_len() + self.rows.as_ref()?.rows.len()).then_some(*at),
            Chosen::Some(rows, at) => rows.get(*at).map(|&row| row as usize),
        }
    }

    fn fixed_len(&self) -> usize {
        self.fixed.map_or(0, |fixed| fixed.rows.len())
    }

    fn row(&self) -> Option<&Row> {
        self.row_at(self.at()?)
    }

    fn row_at(&self, at: usize) -> Option<&Row> {
        match at.checked_sub(self.fixed_len()) {
            Some(at) => self.rows.as_ref()?.rows.get(at),
            None => self.fixed?.rows.get(at),
        }
    }

    /// Reads the rows that come next from the file.
    fn read_chunk(&mut self, chunks: &Chunks, state: &Arc<State>) -> Result<()> {
        let database = state.database.upgrade().ok_or_else(|| Error::ModuleError("the database is closed".into()))?;
        let schema = state.schema();
        let context = Context { schema: &schema, state, database: &database };
        let before = self.rows.take();
        let after = before.as_ref().and_then(|rows| rows.rows.last());
        let read = |connection: super::connection::Connection<'_>| {
            let objects = LargeObjects::new(connection, &state.interrupter);
            (chunks.read)(&context, objects, &Chunk { key: self.key, after })
        };
        let rows = state.running.with(read).map_err(raise)?;
        self.rows = Some(Arc::new(Rows::new(rows)));
        self.chosen = Chosen::All(0);
        Ok(())
    }

    /// The rows that have a value in a column.
    fn having(&self, column: usize, key: &Key, alone: bool) -> Vec<u32> {
        let mut found = self.fixed.map(|fixed| fixed.having(column, key)).unwrap_or_default();
        let offset = self.fixed_len() as u32;
        match &self.rows {
            // A few rows need no index.
            Some(rows) if alone => {
                let rows = rows.rows.iter().zip(offset..);
                found.extend(rows.filter(|(row, _)| key.is(&row[column])).map(|(_, at)| at));
            }
            Some(rows) => found.extend(rows.having(column, key).into_iter().map(|at| at + offset)),
            None => {}
        }
        found
    }
}

/// What a value is looked up by.
fn key(value: &rusqlite::types::ValueRef<'_>, integer: bool) -> Option<Key> {
    use rusqlite::types::ValueRef;
    match value {
        ValueRef::Integer(value) => Some(Key::Integer(*value)),
        ValueRef::Real(value) if value.fract() == 0.0 => Some(Key::Integer(*value as i64)),
        ValueRef::Text(text) => {
            let text = String::from_utf8_lossy(text);
            if integer { text.trim().parse().ok().map(Key::Integer) } else { Some(Key::Text(text.as_ref().into())) }
        }
        _ => None,
    }
}

// SAFETY: `repr(C)` with SQLite's part first.
unsafe impl VTabCursor for Cursor<'_> {
    fn filter(&mut self, idx_num: c_int, _idx_str: Option<&str>, args: &Filters<'_>) -> Result<()> {
        let (read, state) = (self.table().table, self.table().state.upgrade());
        let state = state.ok_or_else(|| Error::ModuleError("the session is over".into()))?;
        self.fixed = crate::catalog::fixed::rows(read);
        let table = self.table();
        let lookup = Lookup::of(idx_num);
        let mut given = args.iter();
        let mut value_of = |column: Option<usize>| column.map(|column| key(&given.next()?, table.integers[column]));
        let (column, key, second) = (lookup.first, value_of(lookup.first).flatten(), value_of(lookup.second));
        if let Some(chunks) = &read.chunks {
            let known = match (column, key) {
                (None, _) => None,
                (Some(_), Some(Key::Integer(key))) => Some(key),
                // Nothing equals NULL, or a text.
                (Some(_), _) => Some(-1),
            };
            self.key = known;
            return self.read_chunk(chunks, &state);
        }
        let relation = match &key {
            Some(Key::Integer(oid)) if column.is_some() && column == table.one => u32::try_from(*oid).ok(),
            _ => None,
        };
        let found = rows(read, &state, relation)?;
        self.rows = Some(found.rows);
        let chosen = match (column, key) {
            (None, _) => Chosen::All(0),
            (Some(column), Some(key)) => {
                let mut found = self.having(column, &key, found.alone);
                if let Some((column, key)) = lookup.second.zip(second) {
                    let meant = |row: &Row| key.as_ref().is_some_and(|key| key.is(&row[column]));
                    found.retain(|&at| self.row_at(at as usize).is_some_and(meant));
                }
                Chosen::Some(found, 0)
            }
            (Some(_), None) => Chosen::Some(Vec::new(), 0),
        };
        self.chosen = chosen;
        Ok(())
    }

    fn next(&mut self) -> Result<()> {
        match &mut self.chosen {
            Chosen::All(at) | Chosen::Some(_, at) => *at += 1,
        }
        if let Some(chunks) = &self.table().table.chunks
            && self.at().is_none()
            && self.rows.as_ref().is_some_and(|rows| !rows.rows.is_empty())
        {
            let state = self.table().state.upgrade();
            let state = state.ok_or_else(|| Error::ModuleError("the session is over".into()))?;
            return self.read_chunk(chunks, &state);
        }
        Ok(())
    }

    fn eof(&self) -> bool {
        self.at().is_none()
    }

    fn column(&self, context: &mut VtabContext, column: c_int) -> Result<()> {
        let cell = self.row().and_then(|row| row.get(column as usize));
        match cell {
            None | Some(Cell::Null) => context.set_result(rusqlite::types::Null),
            Some(Cell::Integer(value)) => context.set_result(value),
            Some(Cell::Real(value)) => context.set_result(value),
            Some(Cell::Text(text)) => context.set_result(text.as_ref()),
            Some(Cell::Word(word)) => context.set_result(word),
            Some(Cell::Blob(bytes)) => context.set_result(&**bytes),
        }
    }

    fn rowid(&self) -> Result<i64> {
        Ok(self.at().unwrap_or(0) as i64)
    }
}
