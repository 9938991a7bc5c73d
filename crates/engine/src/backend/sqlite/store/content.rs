//! Rows that a change of the schema asks about, fills or rewrites.

use std::sync::Arc;

use rowferry_dialect::ir::{ColumnIndex, CreateIndex, Expr, Query, Text, Value};
use rowferry_dialect::lower::sqlite::create_table::quote;
use rowferry_dialect::lower::sqlite::{self, ddl};
use rowferry_dialect::schema::Relation;
use rowferry_dialect::values::Settings;
use rusqlite::params;

use super::tables::table_sql;
use super::{Source, Store};
use crate::backend::Done;
use crate::backend::sqlite::rows::{owned, value};
use crate::session::state::State;

impl Store<'_> {
    /// True when the query finds something: `SELECT EXISTS (…)`.
    fn finds(&self, sql: &str) -> Done<bool> {
        Ok(self.handle.bound().query_row(&format!("SELECT EXISTS ({sql})"), [], |row| row.get(0))?)
    }

    /// True when a table has rows.
    pub fn has_rows(&self, table: &Relation) -> Done<bool> {
        self.finds(&format!("SELECT 1 FROM {}", table_sql(table)))
    }

    /// True when a column holds a NULL.
    pub fn holds_null(&self, table: &Relation, column: &str) -> Done<bool> {
        self.finds(&format!("SELECT 1 FROM {} WHERE {} IS NULL", table_sql(table), quote(column)))
    }

    /// True when there is a row of which a condition is false.
    pub fn refuses(&self, table: &Relation, condition: &Expr) -> Done<bool> {
        let test = over_table(table, condition)?;
        self.finds(&format!("SELECT 1 FROM {} WHERE NOT ({test})", table_sql(table)))
    }

    /// True when there is a row in which some, but not all of the columns are NULL.
    pub fn mixes_nulls(&self, table: &Relation, columns: &[usize]) -> Done<bool> {
        let nulls: Vec<String> =
            columns.iter().map(|&at| format!("({} IS NULL)", quote(&table.columns[at].name))).collect();
        let (sum, count) = (nulls.join(" + "), nulls.len());
        self.finds(&format!("SELECT 1 FROM {} WHERE {sum} NOT IN (0, {count})", table_sql(table)))
    }

    /// The first row whose foreign key (by the number that the back end gives it) leads nowhere: its identity, where it has
    /// one.
    pub fn orphan(&self, table: &Relation, key: Option<i64>) -> Done<Option<Option<i64>>> {
        let sql = format!(
            "SELECT rowid FROM {0}.pragma_foreign_key_check(?1, '{0}') WHERE fkid = ?2 LIMIT 1",
            table.physical.database
        );
        let mut statement = self.handle.bound().prepare(&sql)?;
        let mut rows = statement.query(params![table.physical.name, key])?;
        Ok(rows.next()?.map(|row| row.get(0)).transpose()?)
    }

    /// Columns of the row with an identity; `None` where there is none.
    pub fn row_of(&self, table: &Relation, columns: &[usize], identity: i64) -> Option<Vec<Value>> {
        self.handle.row_of(table, columns, identity)
    }

    /// Values of columns, none of them NULL, that several rows share; `None` where there are none.
    pub fn shared_by_rows(&self, table: &Relation, columns: &[usize]) -> Option<Vec<Value>> {
        let names: Vec<String> = columns.iter().map(|&at| quote(&table.columns[at].name)).collect();
        let given: Vec<String> = names.iter().map(|name| format!("{name} IS NOT NULL")).collect();
        let sql = format!(
            "SELECT {0} FROM {1} WHERE {2} GROUP BY {0} HAVING count(*) > 1 LIMIT 1",
            names.join(", "),
            table_sql(table),
            given.join(" AND ")
        );
        let read = |row: &rusqlite::Row<'_>| (0..columns.len()).map(|at| row.get(at).map(value)).collect();
        self.handle.bound().query_row(&sql, [], read).ok()
    }

    /// Keys of a unique index to be, none of them NULL, that several rows share; `None` where there are none.
    pub fn shared_keys(&self, index: &CreateIndex) -> Option<Vec<Value>> {
        let names: Vec<&str> = index.table.columns.iter().map(|column| column.name.as_str()).collect();
        let lowered = |expr: &Expr| ddl::index_key(expr, &names).ok();
        let keys = index.keys.iter().map(|key| lowered(&key.key.expr)).collect::<Option<Vec<_>>>()?;
        let shown: Vec<&str> = keys.iter().map(|key| key.sql.as_str()).collect();
        let compared = keys.iter().map(|key| match &key.order {
            Some(order) => format!("{} COLLATE {order}", key.sql),
            None => key.sql.clone(),
        });
        let mut conditions: Vec<String> = match index.nulls_alike {
            true => vec!["true".to_owned()],
            false => shown.iter().map(|key| format!("{key} IS NOT NULL")).collect(),
        };
        if let Some(predicate) = &index.predicate {
            conditions.push(lowered(&predicate.expr)?.sql);
        }
        let sql = format!(
            "SELECT {} FROM {} WHERE {} GROUP BY {} HAVING count(*) > 1 LIMIT 1",
            shown.join(", "),
            table_sql(&index.table),
            conditions.join(" AND "),
            compared.collect::<Vec<_>>().join(", ")
        );
        let read = |row: &rusqlite::Row<'_>| (0..keys.len()).map(|at| row.get(at).map(value)).collect();
        self.handle.bound().query_row(&sql, [], read).ok()
    }

    /// Gives all rows a value in a column.
    pub fn fill(&self, table: &Relation, column: &str, value: &Expr) -> Done {
        let value = sqlite::expression(value, &|_| String::new())?.sql;
        self.batch(&format!("UPDATE {} SET {} = {value}", table_sql(table), quote(column)))
    }

    /// Computes a column of all rows; the table has columns of these names.
    pub fn compute(&self, table: &Relation, column: &str, value: &Text, names: &[&str]) -> Done {
        let value = ddl::over_columns(value, names, "")?.sql;
        self.batch(&format!("UPDATE {} SET {} = {value}", table_sql(table), quote(column)))
    }

    /// Gives all rows the next numbers of a sequence.
    pub fn number(&self, table: &Relation, column: &str, sequence: u32) -> Done {
        self.batch(&format!("UPDATE {} SET {} = rf_nextval({sequence})", table_sql(table), quote(column)))
    }

    /// What a column's rows are made of: an expression over the table as it is.
    pub fn source(&self, table: &Relation, value: &Expr) -> Done<Source> {
        Ok(Source(over_table(table, value)?))
    }

    /// A text stands in the place of another in all rows, or (in `arrays`) as a member of them.
    pub fn replace_text(&self, table: &Relation, column: usize, from: &str, to: &str, arrays: bool) -> Done {
        let (table, name) = (table_sql(table), quote(&table.columns[column].name));
        let sql = if arrays {
            format!("UPDATE {table} SET {name} = rf_array_replace('', {name}, ?1, ?2) WHERE instr({name}, ?1) > 0")
        } else {
            format!("UPDATE {table} SET {name} = ?2 WHERE {name} = ?1")
        };
        self.handle.bound().execute(&sql, [from, to])?;
        Ok(())
    }

    /// Deletes all rows of a table.
    pub fn empty(&self, table: &Relation) -> Done {
        self.batch(&format!("DELETE FROM {}", table_sql(table)))
    }

    /// Has foreign keys wait until the transaction ends, or looks at them again.
    pub fn defer_keys(&self, defer: bool) -> Done {
        self.batch(if defer { "PRAGMA defer_foreign_keys = ON" } else { "PRAGMA defer_foreign_keys = OFF" })
    }

    /// The first row of a query without parameters.
    pub fn first_row(&self, query: &Query, state: &Arc<State>) -> Done<Option<Vec<Value>>> {
        let program = sqlite::lower_query(query)?;
        self.handle.make_known(&program.catalogs, state)?;
        let read = |row: &rusqlite::Row<'_>| (0..query.columns.len()).map(|at| row.get(at).map(value)).collect();
        match self.handle.bound().query_row(&program.sql, [], read) {
            Ok(row) => Ok(Some(row)),
            Err(rusqlite::Error::QueryReturnedNoRows) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Writes a query's rows into a table of this name; how many there are.
    pub fn insert_query(
        &self,
        (database, name): (&str, &str),
        query: &Query,
        params: &[Value],
        settings: &Settings,
        state: &Arc<State>,
    ) -> Done<u64> {
        let program = sqlite::lower_query(query)?;
        let sql = format!("INSERT INTO {database}.{} {}", quote(name), program.sql);
        self.handle.make_known(&program.catalogs, state)?;
        let mut statement = self.handle.bound().prepare(&sql)?;
        for (index, used) in program.params.iter().enumerate() {
            let value = used.form.apply(&params[used.param], settings)?;
            statement.raw_bind_parameter(index + 1, owned(&value))?;
        }
        Ok(statement.raw_execute()? as u64)
    }
}

/// An expression over a table's own columns.
fn over_table(table: &Relation, expr: &Expr) -> rowferry_dialect::Result<String> {
    let lowered = sqlite::expression(expr, &|reference| match reference.column {
        ColumnIndex::At(at) => quote(table.columns.get(at).map_or("", |column| &column.name)),
        ColumnIndex::RowIdentity => "rowid".to_owned(),
    })?;
    Ok(lowered.sql)
}
