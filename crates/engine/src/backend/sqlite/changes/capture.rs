//! What keeps changes: tables and triggers in the file.

use rowferry_dialect::lower::sqlite::create_table::quote;
use rowferry_dialect::lower::sqlite::quote_text;
use rowferry_dialect::schema::Relation;
use rowferry_dialect::{Condition, Error};
use rusqlite::{Connection, OptionalExtension as _, Result, params};

use super::{KEPT, TABLE};
use crate::backend::sqlite::handle::Handle;
use crate::backend::sqlite::statement::Failure;
use crate::schema::{PUBLIC, Snapshot};

/// How triggers are named: this, the operation, the table.
const TRIGGER: &str = "rowferry_capture_";
const OPERATIONS: [&str; 3] = ["insert", "update", "delete"];

/// Old changes are forgotten so many at a time, by whoever writes the next that is a multiple of it.
const AT_ONCE: u64 = 1_000;

/// How many columns one call of `json_object` takes: SQLite's functions take 100 arguments at most in old versions.
const COLUMNS_AT_ONCE: usize = 40;

/// True when the file keeps changes, or has kept some.
pub(super) fn exists(connection: &Connection) -> Result<bool> {
    connection.table_exists(Some("main"), TABLE)
}

/// Makes what all captures share, or sets how much is kept.
pub(super) fn prepare(connection: &Connection, keep: Option<u64>) -> Result<()> {
    if !exists(connection)? {
        connection.execute_batch(&format!(
            "CREATE TABLE {TABLE} (
                 position INTEGER PRIMARY KEY,
                 operation TEXT NOT NULL,
                 table_name TEXT NOT NULL,
                 row_id INTEGER,
                 changed_at INTEGER NOT NULL,
                 before TEXT,
                 after TEXT
             );
             CREATE TABLE rowferry_change_commits (
                 last INTEGER PRIMARY KEY,
                 first INTEGER NOT NULL,
                 xid INTEGER NOT NULL,
                 committed_at INTEGER NOT NULL
             );
             CREATE TABLE rowferry_change_limits (kept INTEGER NOT NULL);
             INSERT INTO rowferry_change_limits VALUES ({KEPT});
             CREATE TRIGGER rowferry_changes_limit AFTER INSERT ON {TABLE} WHEN NEW.position % {AT_ONCE} = 0 BEGIN
                 DELETE FROM {TABLE} WHERE position <= NEW.position - (SELECT kept FROM rowferry_change_limits);
                 DELETE FROM rowferry_change_commits
                 WHERE last <= NEW.position - (SELECT kept FROM rowferry_change_limits);
             END"
        ))?;
    }
    if let Some(keep) = keep {
        let keep = i64::try_from(keep).unwrap_or(i64::MAX).max(1);
        connection.execute("UPDATE rowferry_change_limits SET kept = ?1", [keep])?;
    }
    Ok(())
}

/// The table of a name, as clients call it: `orders`, or `sales.orders`.
pub(super) fn find<'s>(snapshot: &'s Snapshot, name: &str) -> std::result::Result<&'s Relation, Error> {
    let found = snapshot
        .relation(PUBLIC, name)
        .or_else(|| name.split_once('.').and_then(|(schema, table)| snapshot.relation(schema, table)));
    let Some(table) = found else {
        return Err(Error::new(Condition::UndefinedTable, format!("table \"{name}\" does not exist")));
    };
    if !table.keeps_rows() || table.is_materialized() {
        let message = format!("\"{name}\" is no table: its rows are made from those of others");
        return Err(Error::new(Condition::WrongObjectType, message).hint("Name the tables that they come from."));
    }
    if table.partitioning.is_some() {
        let message = format!("\"{name}\" is partitioned: its rows lie in its partitions");
        return Err(Error::new(Condition::WrongObjectType, message).hint("Name the partitions."));
    }
    Ok(table)
}

/// Keeps the changes of a table, by the name that SQLite has for it.
pub(super) fn capture(connection: &Connection, table: &str) -> Result<()> {
    release(connection, table)?;
    let columns = columns(connection, table)?;
    let identity = identity(connection, table, &columns)?;
    let (old, new) = (row("OLD", &columns), row("NEW", &columns));
    for operation in OPERATIONS {
        let (of, before, after) = match operation {
            "insert" => ("NEW", "NULL", new.as_str()),
            "update" => ("OLD", old.as_str(), new.as_str()),
            _ => ("OLD", old.as_str(), "NULL"),
        };
        let identity = identity.map_or_else(|| "NULL".to_owned(), |name| format!("{of}.{name}"));
        connection.execute_batch(&format!(
            "CREATE TRIGGER {trigger} AFTER {operation} ON {table} BEGIN
                 INSERT INTO {TABLE} (operation, table_name, row_id, changed_at, before, after)
                 VALUES ('{operation}', {name}, {identity},
                     CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER), {before}, {after});
             END",
            trigger = quote(&trigger(operation, table)),
            name = quote_text(table),
            table = quote(table),
        ))?;
    }
    Ok(())
}

/// Keeps the changes of a table no more; false when they were not.
pub(super) fn release(connection: &Connection, table: &str) -> Result<bool> {
    let sql = "SELECT name FROM main.sqlite_schema
               WHERE type = 'trigger' AND substr(name, 1, length(?1)) = ?1 AND tbl_name = ?2 COLLATE NOCASE";
    let mut statement = connection.prepare_cached(sql)?;
    let names = statement.query_map([TRIGGER, table], |row| row.get::<_, String>(0))?.collect::<Result<Vec<_>>>()?;
    drop(statement);
    for name in &names {
        connection.execute_batch(&format!("DROP TRIGGER main.{}", quote(name)))?;
    }
    Ok(!names.is_empty())
}

/// Tables whose changes are kept, by the names that SQLite has for them now.
pub(super) fn captured(connection: &Connection) -> Result<Vec<String>> {
    let sql = "SELECT DISTINCT tbl_name FROM main.sqlite_schema
               WHERE type = 'trigger' AND substr(name, 1, length(?1)) = ?1 ORDER BY tbl_name";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map([TRIGGER], |row| row.get(0))?;
    rows.collect()
}

/// Keeps the changes of all captured tables in their form and under their names of now: another program may have renamed
/// them, or added columns.
pub(super) fn renew(connection: &Connection) -> Result<()> {
    let tables = captured(connection)?;
    for table in &tables {
        release(connection, table)?;
    }
    tables.iter().try_for_each(|table| capture(connection, table))
}

/// Forgets changes up to a position, but for the newest.
pub(super) fn forget(connection: &Connection, up_to: i64) -> Result<usize> {
    let newest = "(SELECT max(position) FROM rowferry_changes)";
    let gone =
        connection.execute(&format!("DELETE FROM {TABLE} WHERE position <= ?1 AND position < {newest}"), [up_to])?;
    connection.execute("DELETE FROM rowferry_change_commits WHERE last <= ?1", [up_to])?;
    Ok(gone)
}

fn trigger(operation: &str, table: &str) -> String {
    format!("{TRIGGER}{operation}_{table}")
}

/// A table's columns, those that it computes included.
fn columns(connection: &Connection, table: &str) -> Result<Vec<String>> {
    let mut statement = connection.prepare("SELECT name FROM pragma_table_xinfo(?1, 'main') WHERE hidden <> 1")?;
    let names = statement.query_map([table], |row| row.get::<_, String>(0))?.collect::<Result<Vec<_>>>()?;
    Ok(names.into_iter().filter(|name| name != "rowferry_no_column").collect())
}

/// By what name the table's rows tell their rowid; `None` when they have none, or it is hidden by columns.
fn identity(connection: &Connection, table: &str, columns: &[String]) -> Result<Option<&'static str>> {
    let free = |name: &&str| !columns.iter().any(|column| column.eq_ignore_ascii_case(name));
    let Some(name) = ["rowid", "_rowid_", "oid"].into_iter().find(free) else { return Ok(None) };
    let has_rowid = "SELECT wr = 0 FROM pragma_table_list WHERE schema = 'main' AND name = ?1";
    let has_rowid = connection.query_row(has_rowid, [table], |row| row.get(0)).optional()?.unwrap_or(false);
    Ok(has_rowid.then_some(name))
}

/// A row as JSON, by functions that every SQLite has: an object, or an array of such for a table of many columns.
fn row(of: &str, columns: &[String]) -> String {
    let objects: Vec<String> = columns
        .chunks(COLUMNS_AT_ONCE)
        .map(|columns| {
            let members: Vec<String> = columns
                .iter()
                .map(|column| {
                    let value = format!("{of}.{}", quote(column));
                    format!(
                        "{}, CASE typeof({value}) WHEN 'real' THEN json_object('real', printf('%!.17g', {value})) \
                         WHEN 'blob' THEN json_object('blob', hex({value})) ELSE {value} END",
                        quote_text(column)
                    )
                })
                .collect();
            format!("json_object({})", members.join(", "))
        })
        .collect();
    match objects.as_slice() {
        [] => "json_object()".to_owned(),
        [one] => one.clone(),
        many => format!("json_array({})", many.join(", ")),
    }
}

/// Tables whose changes are not kept for the moment: their form is about to change.
#[derive(Debug, Default)]
pub struct Lifted(Vec<(String, i64)>);

impl Handle {
    /// Before the schema changes: what keeps changes names the columns of its table.
    pub fn lift_captures(&self) -> std::result::Result<Lifted, Failure> {
        let connection = self.bound();
        if !exists(connection)? {
            return Ok(Lifted::default());
        }
        let lifted = captured(connection)?.into_iter().map(|table| {
            release(connection, &table)?;
            let find = "SELECT rootpage FROM main.sqlite_schema WHERE type = 'table' AND name = ?1";
            let root = connection.query_row(find, [&table], |row| row.get(0))?;
            Ok((table, root))
        });
        Ok(Lifted(lifted.collect::<Result<_>>()?))
    }

    /// After it has changed: for the tables that are still there, whatever they are called and however they look now.
    pub fn restore_captures(&self, lifted: &Lifted) -> std::result::Result<(), Failure> {
        let connection = self.bound();
        for (table, root) in &lifted.0 {
            // A table that was made anew has the old one's name; one that has another name lies where it lay.
            let find = "SELECT name FROM main.sqlite_schema WHERE type = 'table' AND (name = ?1 OR rootpage = ?2)
                        ORDER BY name <> ?1 LIMIT 1";
            let now: Option<String> = connection.query_row(find, params![table, root], |row| row.get(0)).optional()?;
            if let Some(now) = now {
                capture(connection, &now)?;
            }
        }
        Ok(())
    }

    /// Before a commit: notes which changes are this transaction's.
    pub(in crate::backend::sqlite) fn note_changes(
        &self,
        first: i64,
        xid: i64,
        now: i64,
    ) -> std::result::Result<(), Failure> {
        let sql = "INSERT INTO main.rowferry_change_commits (first, last, xid, committed_at)
                   SELECT ?1, newest, ?2, ?3 FROM (SELECT max(position) AS newest FROM main.rowferry_changes)
                   WHERE newest >= ?1";
        self.bare().prepare_cached(sql)?.execute(params![first, xid, now])?;
        Ok(())
    }
}
