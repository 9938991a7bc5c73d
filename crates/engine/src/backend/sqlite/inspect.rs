//! Looks at a whole file for what is wrong with it.

use rowferry_dialect::lower::sqlite::create_table::quote;
use rowferry_dialect::schema::Relation;
use rowferry_dialect::values::ValueRef;
use rusqlite::types::ValueRef as Stored;

use super::handle::{Calls, Handle};
use super::schema::metadata;
use super::statement::Failure;
use crate::schema::PUBLIC;

type Done<T = ()> = std::result::Result<T, Failure>;

/// How many sentences SQLite is asked for.
const MOST: u32 = 1_000;

/// An entry of ours about something that the file does not have.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Orphan {
    /// What it is said to be: `table`, `index`, `view`.
    pub kind: String,
    /// Its name.
    pub name: String,
}

impl Handle {
    /// What SQLite finds wrong with pages, records and indexes; empty when all is well.
    pub fn integrity(&self) -> Done<Vec<String>> {
        self.learn_file();
        let mut statement = self.bound().prepare(&format!("PRAGMA main.integrity_check({MOST})"))?;
        let rows = statement.query_map([], |row| row.get::<_, String>(0))?;
        let found = rows.collect::<rusqlite::Result<Vec<_>>>()?;
        Ok(found.into_iter().filter(|line| line != "ok").collect())
    }

    /// As [`Self::integrity`], of one table and its indexes. `quick` does not compare these with the rows.
    pub fn integrity_of(&self, table: &Relation, quick: bool) -> Done<Vec<String>> {
        self.learn_file();
        let pragma = if quick { "quick_check" } else { "integrity_check" };
        let (database, name) = (&table.physical.database, quote(&table.physical.name));
        let mut statement = self.bound().prepare(&format!("PRAGMA {database}.{pragma}({name})"))?;
        let rows = statement.query_map([], |row| row.get::<_, String>(0))?;
        let found = rows.collect::<rusqlite::Result<Vec<_>>>()?;
        Ok(found.into_iter().filter(|line| line != "ok").collect())
    }

    /// Makes all indexes anew.
    pub fn reindex_all(&self) -> Done {
        self.learn_file();
        self.prepare_to_write()?;
        self.batch("REINDEX", Calls::Stored)
    }

    /// Our entries about tables, views and indexes that are not in the file.
    pub fn orphans(&self) -> Done<Vec<Orphan>> {
        let connection = self.bound();
        if !metadata::exist(connection, "main")? {
            return Ok(Vec::new());
        }
        let sql = "SELECT kind, namespace, name FROM main.rowferry_objects AS o
                   WHERE kind IN ('table', 'index') AND physical_name IS NOT NULL AND NOT EXISTS (
                       SELECT 1 FROM main.sqlite_schema AS s
                       WHERE s.name = o.physical_name COLLATE NOCASE AND s.type = o.kind)
                   ORDER BY kind, namespace, name";
        let mut statement = connection.prepare(sql)?;
        let rows = statement.query_map([], |row| {
            let (kind, namespace, name): (_, String, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
            let name = if namespace == PUBLIC { name } else { format!("{namespace}.{name}") };
            Ok(Orphan { kind, name })
        })?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// Reads every value of a table: the row's identity, the column by position, the value.
    pub fn each_value(&self, table: &Relation, each: &mut dyn FnMut(Option<i64>, usize, ValueRef<'_>)) -> Done {
        let taken = |word: &str| table.columns.iter().any(|column| column.name.eq_ignore_ascii_case(word));
        let identity = ["rowid", "_rowid_", "oid"].into_iter().find(|word| !taken(word));
        let identity = identity.filter(|_| !table.without_identity).unwrap_or("NULL");
        let columns: String = table.columns.iter().map(|column| format!(", {}", quote(&column.name))).collect();
        // Without an index: it may be the index that is wrong.
        let mut statement = self.bound().prepare(&format!(
            "SELECT {identity}{columns} FROM {}.{} NOT INDEXED",
            table.physical.database,
            quote(&table.physical.name)
        ))?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let identity = row.get(0)?;
            for at in 0..table.columns.len() {
                let value = match row.get_ref(at + 1)? {
                    Stored::Null => ValueRef::Null,
                    Stored::Integer(value) => ValueRef::Integer(value),
                    Stored::Real(value) => ValueRef::Real(value),
                    Stored::Text(bytes) => ValueRef::Text(bytes),
                    Stored::Blob(bytes) => ValueRef::Blob(bytes),
                };
                each(identity, at, value);
            }
        }
        Ok(())
    }

    /// The greatest and the least integer in a column.
    pub fn bounds(&self, table: &Relation, column: &str) -> Done<Option<(i64, i64)>> {
        let column = quote(column);
        let sql = format!(
            "SELECT max({column}), min({column}) FROM {}.{} WHERE typeof({column}) = 'integer'",
            table.physical.database,
            quote(&table.physical.name)
        );
        let bounds = self.bound().query_row(&sql, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let (greatest, least): (Option<i64>, Option<i64>) = bounds;
        Ok(greatest.zip(least))
    }

    /// The greatest number of a column that an index has in order, or the table.
    pub fn greatest(&self, table: &Relation, column: &str) -> Done<Option<i64>> {
        let name = quote(&table.physical.name);
        let sql = format!("SELECT max({}) FROM {}.{name}", quote(column), table.physical.database);
        Ok(self.bound().query_row(&sql, [], |row| row.get(0))?)
    }

    /// Views of SQLite's that name what is not there, and what that is; the schema has left them out.
    pub fn dead_views(&self) -> Done<Vec<(String, String)>> {
        let connection = self.bound();
        let mut statement =
            connection.prepare("SELECT name FROM main.sqlite_schema WHERE type = 'view' ORDER BY name")?;
        let names = statement.query_map([], |row| row.get::<_, String>(0))?.collect::<rusqlite::Result<Vec<_>>>()?;
        let why = |name: &str| connection.prepare(&format!("SELECT * FROM main.{}", quote(name))).err();
        let dead = names.into_iter().filter_map(|name| why(&name).map(|error| (name, Failure::from(error).message)));
        Ok(dead.collect())
    }

    /// Why a write to a table would fail before it looks at a row: a trigger of SQLite's that names what is not there.
    pub fn cannot_write(&self, table: &Relation) -> Option<String> {
        let name = format!("{}.{}", table.physical.database, quote(&table.physical.name));
        let column = table.columns.iter().find(|column| column.generated.is_none())?;
        let column = quote(&column.name);
        let statements = [
            format!("DELETE FROM {name}"),
            format!("UPDATE {name} SET {column} = {column}"),
            format!("INSERT INTO {name} ({column}) VALUES (NULL)"),
        ];
        statements.iter().find_map(|sql| self.bound().prepare(sql).err()).map(|error| Failure::from(error).message)
    }
}
