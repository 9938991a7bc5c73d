//! Tables and indexes: SQLite's own statements.
//!
//! Three ways to alter a table, the cheapest that does it: SQLite's ALTER TABLE; a changed statement in `sqlite_schema`
//! where rows stay as they lie (a default, a check, a foreign key, the words of a type); a new table with the old one's
//! rows.

use rowferry_dialect::Error;
use rowferry_dialect::ir::{CreateIndex, CreateTable};
use rowferry_dialect::lower::sqlite::create_table::quote;
use rowferry_dialect::lower::sqlite::ddl;
use rowferry_dialect::schema::{QualifiedName, Relation};
use rusqlite::params;

use super::super::fulltext::FullText;
use super::{CheckRecord, ColumnRecord, Form, Source, Store};
use crate::backend::{Done, Failed};

/// What is to be remembered about a table that has been made.
#[derive(Debug)]
pub struct Made {
    /// About its columns.
    pub columns: Vec<ColumnRecord>,
    /// About its checks.
    pub checks: Vec<CheckRecord>,
}

/// What is to be remembered about an index that has been made.
#[derive(Debug)]
pub struct MadeIndex {
    /// Keys as written.
    pub keys: Vec<String>,
    /// The condition as written.
    pub predicate: Option<String>,
}

impl Store<'_> {
    /// Makes a table under a name; `target` gives the stored name of a referenced one.
    pub fn create_table(
        &self,
        table: &CreateTable,
        database: &str,
        name: &str,
        target: &dyn Fn(&QualifiedName) -> String,
    ) -> Done<Made> {
        let statements = ddl::create_table(table, database, name, target)?;
        self.batch(&statements.sql)?;
        if let Some(before) = statements.rowid_before {
            let sql = format!("INSERT INTO {database}.sqlite_sequence (name, seq) VALUES (?1, ?2)");
            self.execute(&sql, params![name, before])?;
        }
        Ok(Made { columns: statements.columns, checks: statements.checks })
    }

    /// Makes an index under a name.
    pub fn create_index(&self, index: &CreateIndex, name: &str) -> Done<MadeIndex> {
        let statements = ddl::create_index(index, name)?;
        self.batch(&statements.sql).map_err(|failed| match &failed {
            // Subqueries, and functions of which SQLite is not told that they are the same each time.
            Failed::Storage(failure) if failure.message.contains("prohibited in") => {
                let texts: Vec<&str> =
                    statements.keys.iter().chain(&statements.predicate).map(String::as_str).collect();
                Error::unsupported(format!("an index on ({})", texts.join(", "))).into()
            }
            _ => failed,
        })?;
        Ok(MadeIndex { keys: statements.keys, predicate: statements.predicate })
    }

    /// Drops a table with its indexes.
    pub fn drop_table(&self, table: &Relation) -> Done {
        self.drop_in(table.physical.database, &format!("DROP TABLE {}", table_sql(table)))
    }

    /// Drops the index of a name.
    pub fn drop_index(&self, table: &Relation, name: &str) -> Done {
        let database = table.physical.database;
        self.drop_in(database, &format!("DROP INDEX {database}.{}", quote(name)))
    }

    /// Drops a temporary relation, if it is there still.
    pub fn drop_temporary(&self, relation: &Relation) -> Done {
        let kind = if relation.keeps_rows() { "TABLE" } else { "VIEW" };
        self.drop_in("temp", &format!("DROP {kind} IF EXISTS temp.{}", quote(&relation.physical.name)))
    }

    /// Gives a table another name.
    pub fn rename_table(&self, table: &Relation, to: &str) -> Done {
        self.batch(&format!("ALTER TABLE {} RENAME TO {}", table_sql(table), quote(to)))
    }

    /// Gives a column another name, in views and checks, too.
    pub fn rename_column(&self, table: &Relation, from: &str, to: &str) -> Done {
        self.batch(&format!("ALTER TABLE {} RENAME COLUMN {} TO {}", table_sql(table), quote(from), quote(to)))
    }

    /// Drops a column that no key and no check names.
    pub fn drop_column(&self, table: &Relation, name: &str) -> Done {
        self.batch(&format!("ALTER TABLE {} DROP COLUMN {}", table_sql(table), quote(name)))
    }

    /// Gives an index another name.
    pub fn rename_index(&self, table: &Relation, from: &str, to: &str, unique: bool) -> Done {
        let database = table.physical.database;
        let sql: String = self.handle.bound().query_row(
            &format!("SELECT sql FROM {database}.sqlite_schema WHERE type = 'index' AND name = ?1"),
            [from],
            |row| row.get(0),
        )?;
        // SQLite keeps `CREATE [UNIQUE] INDEX name ON …`: the statement is made anew from ` ON ` on.
        let Some(on) = sql.find(" ON ") else {
            return Err(Error::internal("an index that cannot be read back").into());
        };
        let unique = if unique { "UNIQUE " } else { "" };
        self.drop_index(table, from)?;
        self.batch(&format!("CREATE {unique}INDEX {database}.{}{}", quote(to), &sql[on..]))
    }

    /// A table's statement, taken apart.
    pub fn form(&self, table: &Relation) -> Done<Form> {
        let sql: String = self.handle.bound().query_row(
            &format!("SELECT sql FROM {}.sqlite_schema WHERE type = 'table' AND name = ?1", table.physical.database),
            [&table.physical.name],
            |row| row.get(0),
        )?;
        Form::parse(&sql).ok_or_else(|| {
            Error::unsupported(format!("ALTER TABLE of \"{}\", which is no ordinary table", table.name)).into()
        })
    }

    /// Gives a table another form, in which its rows lie as they did.
    pub fn reshape(&self, table: &Relation, form: &Form) -> Done {
        let database = table.physical.database;
        let cookie = self.cookie(database)?;
        self.batch("PRAGMA writable_schema = ON")?;
        let changed = self.handle.bound().execute(
            &format!("UPDATE {database}.sqlite_schema SET sql = ?1 WHERE type = 'table' AND name = ?2"),
            params![form.to_sql(&table.physical.name), table.physical.name],
        );
        let bumped = self.handle.bound().execute_batch(&format!("PRAGMA {database}.schema_version = {}", cookie + 1));
        self.batch("PRAGMA writable_schema = RESET")?;
        changed?;
        bumped?;
        Ok(())
    }

    fn cookie(&self, database: &str) -> Done<i64> {
        Ok(self.handle.bound().query_row(&format!("PRAGMA {database}.schema_version"), [], |row| row.get(0))?)
    }

    /// Makes a table anew in another form, with the rows that `sources` compute (`None`: not copied), and its indexes but
    /// for some.
    ///
    /// The new table gets the old one's name by exchanging their names in `sqlite_schema`: dropping the old table under
    /// its own name would act on the foreign keys that lead to it.
    pub fn rewrite(&self, table: &Relation, form: &Form, sources: &[Option<Source>], gone_indexes: &[String]) -> Done {
        const NEW: &str = "rowferry_new";
        const OLD: &str = "rowferry_old";
        let database = table.physical.database;
        let name = &table.physical.name;
        let kept = self.lift_indexes(table, gone_indexes)?;
        let create = form.to_sql(NEW).replacen("CREATE TABLE ", &format!("CREATE TABLE {database}."), 1);
        self.batch(&create)?;
        let (targets, values): (Vec<String>, Vec<String>) =
            form.with_sources(sources).filter_map(|(column, source)| Some((quote(column), source?.0.clone()))).unzip();
        // The rowid is part of what a table is: Informix programs and cursors remember it.
        let rowid = !table.without_identity && !table.columns.iter().any(|column| column.row_identity);
        let (first_target, first_value) = if rowid { ("rowid, ", "rowid, ") } else { ("", "") };
        self.batch(&format!(
            "INSERT INTO {database}.{NEW} ({first_target}{}) SELECT {first_value}{} FROM {}",
            targets.join(", "),
            values.join(", "),
            table_sql(table)
        ))?;
        let cookie = self.cookie(database)?;
        let old = self.form(table)?;
        self.batch("PRAGMA writable_schema = ON")?;
        let exchanged = (|| -> rusqlite::Result<()> {
            self.exchange_name(database, name, OLD, &old)?;
            self.exchange_name(database, NEW, name, form)?;
            self.handle.bound().execute_batch(&format!("PRAGMA {database}.schema_version = {}", cookie + 1))
        })();
        self.batch("PRAGMA writable_schema = RESET")?;
        exchanged?;
        if self.has_counters(database)? {
            self.handle.bound().execute(&format!("DELETE FROM {database}.sqlite_sequence WHERE name = '{NEW}'"), [])?;
        }
        // What the old table counts by would go with it.
        self.drop_in(database, &format!("DROP TABLE {database}.{OLD}"))?;
        kept.iter().try_for_each(|sql| {
            let sql = if database == "temp" { with_temp(sql) } else { sql.clone() };
            self.batch(&sql)
        })
    }

    fn exchange_name(&self, database: &str, from: &str, to: &str, form: &Form) -> rusqlite::Result<()> {
        self.handle.bound().execute(
            &format!(
                "UPDATE {database}.sqlite_schema SET name = ?2, tbl_name = ?2, sql = ?3
                 WHERE type = 'table' AND name = ?1"
            ),
            params![from, to, form.to_sql(to)],
        )?;
        self.handle.bound().execute(
            &format!(
                "UPDATE {database}.sqlite_schema SET tbl_name = ?2,
                 name = 'sqlite_autoindex_' || ?2 || substr(name, length('sqlite_autoindex_' || ?1) + 1)
                 WHERE type = 'index' AND tbl_name = ?1"
            ),
            params![from, to],
        )?;
        Ok(())
    }

    /// Drops a table's indexes and triggers; the statements that make them again, but for some indexes.
    fn lift_indexes(&self, table: &Relation, gone: &[String]) -> Done<Vec<String>> {
        let database = table.physical.database;
        let sql = format!(
            "SELECT type, name, sql FROM {database}.sqlite_schema
             WHERE tbl_name = ?1 AND type IN ('index', 'trigger') AND sql IS NOT NULL"
        );
        let mut statement = self.handle.bound().prepare(&sql)?;
        let mut rows = statement.query([&table.physical.name])?;
        let (mut drops, mut kept) = (Vec::new(), Vec::new());
        while let Some(row) = rows.next()? {
            let (kind, object, sql): (String, String, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
            drops.push(format!("DROP {kind} {database}.{}", quote(&object)));
            // What notes the rows of a full-text index comes again when their words are taken in anew.
            if !gone.contains(&object) && FullText::of_trigger(&object).is_none() {
                kept.push(sql);
            }
        }
        drop(rows);
        drop(statement);
        drops.iter().try_for_each(|sql| self.drop_in(database, sql))?;
        Ok(kept)
    }

    /// True when SQLite keeps the greatest identities of tables: it does once there is a table that gives none twice.
    fn has_counters(&self, database: &str) -> Done<bool> {
        let sql = format!("SELECT 1 FROM {database}.sqlite_schema WHERE name = 'sqlite_sequence'");
        Ok(self.handle.bound().prepare_cached(&sql)?.exists([])?)
    }

    /// Forgets which identities a table has given.
    pub fn forget_identities(&self, table: &Relation) -> Done {
        let database = table.physical.database;
        if self.has_counters(database)? {
            let sql = format!("DELETE FROM {database}.sqlite_sequence WHERE name = ?1");
            self.handle.bound().execute(&sql, [&table.physical.name])?;
        }
        Ok(())
    }
}

/// A table's name in a statement.
pub(super) fn table_sql(table: &Relation) -> String {
    format!("{}.{}", table.physical.database, quote(&table.physical.name))
}

/// `sqlite_schema` keeps statements without their database.
fn with_temp(sql: &str) -> String {
    for (plain, temporary) in [
        ("CREATE INDEX ", "CREATE INDEX temp."),
        ("CREATE UNIQUE INDEX ", "CREATE UNIQUE INDEX temp."),
        ("CREATE TRIGGER ", "CREATE TEMP TRIGGER "),
    ] {
        if let Some(rest) = sql.strip_prefix(plain) {
            return format!("{temporary}{rest}");
        }
    }
    sql.to_owned()
}
