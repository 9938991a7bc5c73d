//! Single values and rows of a file, for messages and for what is decided before a row is written.

use rowferry_dialect::ir::{CreateTable, Expr, Query, Value};
use rowferry_dialect::lower::sqlite::{self, quote};
use rowferry_dialect::schema::Relation;
use rusqlite::types::{Value as Owned, ValueRef as Stored};

use super::handle::Handle;
use super::statement::Failure;
use crate::ValueRef;
use crate::session::state::State;

type Done<T> = std::result::Result<T, Failure>;

/// A value as SQLite takes it.
pub fn owned(value: &Value) -> Owned {
    match value {
        Value::Null => Owned::Null,
        Value::Integer(value) => Owned::Integer(*value),
        Value::Real(value) => Owned::Real(*value),
        Value::Text(text) => Owned::Text(text.clone()),
        Value::Blob(bytes) => Owned::Blob(bytes.clone()),
    }
}

/// A value that SQLite has given.
pub fn value(owned: Owned) -> Value {
    match owned {
        Owned::Null => Value::Null,
        Owned::Integer(value) => Value::Integer(value),
        Owned::Real(value) => Value::Real(value),
        Owned::Text(text) => Value::Text(text),
        Owned::Blob(bytes) => Value::Blob(bytes),
    }
}

impl Handle {
    /// The value of an expression without columns.
    ///
    /// # Errors
    /// `0A000` for what SQLite cannot be told.
    pub fn evaluate(&self, expr: &Expr) -> rowferry_dialect::Result<Done<Value>> {
        let lowered = sqlite::expression(expr, &|_| String::new())?;
        let found = self.bound().query_row(&format!("SELECT {}", lowered.sql), [], |row| row.get(0));
        Ok(found.map(value).map_err(Failure::from))
    }

    /// True when something holds for a row of a query without parameters, its values in the stored forms of their types.
    ///
    /// # Errors
    /// `0A000` for what SQLite cannot be told, and what is said of a row.
    pub fn any_row(
        &self,
        state: &std::sync::Arc<State>,
        query: &Query,
        wanted: &mut dyn FnMut(&[Value]) -> rowferry_dialect::Result<bool>,
    ) -> rowferry_dialect::Result<Done<bool>> {
        let program = sqlite::lower_kept_query(query)?;
        if let Err(failure) = self.make_known(&program.catalogs, state) {
            return Ok(Err(failure));
        }
        let mut found = || -> Done<rowferry_dialect::Result<bool>> {
            let mut statement = self.bound().prepare(&program.sql)?;
            let width = statement.column_count();
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                let values: Vec<Value> =
                    (0..width).map(|at| row.get(at).map(value)).collect::<rusqlite::Result<_>>()?;
                match wanted(&values) {
                    Ok(false) => {}
                    other => return Ok(other),
                }
            }
            Ok(Ok(false))
        };
        match found() {
            Ok(result) => result.map(Ok),
            Err(failure) => Ok(Err(failure)),
        }
    }

    /// The greatest identity of a table's rows, or 0; `given` counts those that it has ever given, too, where it gives
    /// none twice.
    pub fn last_identity(&self, relation: &Relation, given: bool) -> Done<i64> {
        let table = format!("{}.{}", quote(relation.physical.database), quote(&relation.physical.name));
        let greatest: i64 =
            self.bound().query_row(&format!("SELECT coalesce(max(rowid), 0) FROM {table}"), [], |row| row.get(0))?;
        if !given {
            return Ok(greatest);
        }
        let database = relation.physical.database;
        let sql = format!("SELECT coalesce(max(seq), 0) FROM {database}.sqlite_sequence WHERE name = ?1");
        let given: i64 = self.bound().query_row(&sql, [&relation.physical.name], |row| row.get(0))?;
        Ok(greatest.max(given))
    }

    /// Columns of the row with an identity; `None` where there is none.
    pub fn row_of(&self, relation: &Relation, columns: &[usize], identity: i64) -> Option<Vec<Value>> {
        let names: Vec<String> = columns.iter().map(|at| quote(&relation.columns[*at].name)).collect();
        let table = format!("{}.{}", quote(relation.physical.database), quote(&relation.physical.name));
        let sql = format!("SELECT {} FROM {table} WHERE rowid = ?1", names.join(", "));
        let read = |row: &rusqlite::Row<'_>| (0..columns.len()).map(|at| row.get(at).map(value)).collect();
        self.bound().query_row(&sql, [identity], read).ok()
    }

    /// The identity of the first row whose value in a column does not fit; `None` where all do, or where the table's own
    /// columns hide the identity.
    pub fn misfit(&self, relation: &Relation, column: &str, fits: impl Fn(ValueRef<'_>) -> bool) -> Done<Option<i64>> {
        let taken = |word: &str| relation.columns.iter().any(|column| column.name.eq_ignore_ascii_case(word));
        let Some(rowid) = ["rowid", "_rowid_", "oid"].into_iter().find(|word| !taken(word)) else {
            return Ok(None);
        };
        let (database, table) = (quote(relation.physical.database), quote(&relation.physical.name));
        let mut statement =
            self.bound().prepare(&format!("SELECT {rowid}, {} FROM {database}.{table}", quote(column)))?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let value = match row.get_ref(1)? {
                Stored::Null => ValueRef::Null,
                Stored::Integer(value) => ValueRef::Integer(value),
                Stored::Real(value) => ValueRef::Real(value),
                Stored::Text(bytes) => ValueRef::Text(bytes),
                Stored::Blob(bytes) => ValueRef::Blob(bytes),
            };
            if !fits(value) {
                return Ok(row.get(0).map(Some)?);
            }
        }
        Ok(None)
    }

    /// Makes a table of the session's own under a name, in the place of one that is there, with these rows.
    ///
    /// # Errors
    /// `0A000` for what SQLite cannot be told.
    pub fn make_temporary<'r>(
        &self,
        table: &CreateTable,
        name: &str,
        rows: impl Iterator<Item = &'r [Value]>,
    ) -> rowferry_dialect::Result<Done<()>> {
        let sql = sqlite::ddl::create_table(table, "temp", name, &|name| name.name.clone())?.sql;
        let holes = vec!["?"; table.columns.len()].join(", ");
        let insert = format!("INSERT INTO temp.{} VALUES ({holes})", quote(name));
        let fill = || -> Done<()> {
            self.bound().execute_batch(&format!("DROP TABLE IF EXISTS temp.{}", quote(name)))?;
            self.bound().execute_batch(&sql)?;
            let mut statement = self.bound().prepare(&insert)?;
            for row in rows {
                statement.execute(rusqlite::params_from_iter(row.iter().map(owned)))?;
            }
            Ok(())
        };
        Ok(fill())
    }
}
