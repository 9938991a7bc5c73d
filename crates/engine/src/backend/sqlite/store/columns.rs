//! What is kept of a relation beside SQLite's own statement: of its columns, its constraints, and under names.

use std::collections::BTreeSet;

use rowferry_dialect::ir::{ColumnIndex, Expr};
use rowferry_dialect::lower::sqlite::create_table::quote;
use rowferry_dialect::lower::sqlite::expression;
use rowferry_dialect::lower::sqlite::types;
use rowferry_dialect::schema::{Physical, Relation};
use rowferry_dialect::uses::Dependency;
use rowferry_dialect::{Language, Type};
use rusqlite::params;

use super::{CheckRecord, ColumnRecord, Store};
use crate::backend::Done;
use crate::backend::sqlite::schema::metadata;

impl Store<'_> {
    /// Writes what there is to remember about a column.
    pub fn record_column(&self, database: &str, oid: u32, record: &ColumnRecord, sequence: Option<&str>) -> Done {
        let sql = format!(
            "INSERT INTO {database}.rowferry_columns
             (oid, name, position, type, default_text, identity, sequence, generated)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
             ON CONFLICT DO UPDATE SET type = excluded.type, default_text = excluded.default_text,
             identity = excluded.identity, sequence = excluded.sequence, generated = excluded.generated"
        );
        let ColumnRecord { name, position, ty, default_text, identity, generated, .. } = record;
        let position = *position as i64;
        self.execute(&sql, params![oid, name, position, ty, default_text, identity, sequence, generated])?;
        Ok(())
    }

    /// Writes a type that the column's own words do not say.
    pub fn record_type(&self, table: &Relation, column: usize, ty: &Type, language: Language) -> Done {
        let sql = format!(
            "INSERT INTO {}.rowferry_columns (oid, name, position, type) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT DO UPDATE SET type = excluded.type",
            table.physical.database
        );
        let name = &table.columns[column].name;
        self.execute(&sql, params![table.oid, name, column as i64, types::words(ty, language)])?;
        Ok(())
    }

    /// The column's own words say its type again.
    pub fn forget_type(&self, table: &Relation, column: usize) -> Done {
        let sql =
            format!("UPDATE {}.rowferry_columns SET type = NULL WHERE oid = ?1 AND name = ?2", table.physical.database);
        self.execute(&sql, params![table.oid, table.columns[column].name])?;
        Ok(())
    }

    /// Writes a column's default, and the sequence that it takes its numbers from.
    pub fn record_default(&self, table: &Relation, column: usize, text: Option<&str>, sequence: Option<&str>) -> Done {
        let sql = format!(
            "INSERT INTO {}.rowferry_columns (oid, name, position, default_text, sequence) VALUES (?1, ?2, ?3, ?4, ?5)
             ON CONFLICT DO UPDATE SET default_text = excluded.default_text, sequence = excluded.sequence",
            table.physical.database
        );
        self.execute(&sql, params![table.oid, table.columns[column].name, column as i64, text, sequence])?;
        Ok(())
    }

    /// Writes how a column is numbered.
    pub fn record_numbering(
        &self,
        table: &Relation,
        column: usize,
        identity: Option<&str>,
        sequence: Option<&str>,
    ) -> Done {
        let sql = format!(
            "INSERT INTO {}.rowferry_columns (oid, name, position, identity, sequence) VALUES (?1, ?2, ?3, ?4, ?5)
             ON CONFLICT DO UPDATE SET identity = excluded.identity, sequence = excluded.sequence,
             default_text = NULL",
            table.physical.database
        );
        self.execute(&sql, params![table.oid, table.columns[column].name, column as i64, identity, sequence])?;
        Ok(())
    }

    /// What SQLite numbers the next row of a table with, where that is greater than those that its rows have; with those
    /// that it has ever given, unless it goes `back`.
    pub fn number_rows_from(&self, table: &Relation, next: i64, back: bool) -> Done {
        let Physical { database, name } = &table.physical;
        let before = next.saturating_sub(1);
        let seq = if back { "?2" } else { "max(seq, ?2)" };
        let sql = format!("UPDATE {database}.sqlite_sequence SET seq = {seq} WHERE name = ?1");
        if self.execute(&sql, params![name, before])? == 0 {
            let sql = format!("INSERT INTO {database}.sqlite_sequence (name, seq) VALUES (?1, ?2)");
            self.execute(&sql, params![name, before])?;
        }
        Ok(())
    }

    /// The greatest of a column's integers, if it has any.
    pub fn greatest_number(&self, table: &Relation, column: usize) -> Done<Option<i64>> {
        let name = quote(&table.columns[column].name);
        let Physical { database, name: physical } = &table.physical;
        let sql = format!("SELECT max({name}) FROM {}.{}", quote(database), quote(physical));
        Ok(self.handle.bound().query_row(&sql, [], |row| row.get(0))?)
    }

    /// A column takes its numbers from no sequence any more.
    pub fn forget_numbering(&self, table: &Relation, column: usize) -> Done {
        let sql = format!(
            "UPDATE {}.rowferry_columns SET sequence = NULL, default_text = NULL WHERE oid = ?1 AND name = ?2",
            table.physical.database
        );
        self.execute(&sql, params![table.oid, table.columns[column].name])?;
        Ok(())
    }

    /// The sequence that columns are numbered by has another name.
    pub fn rename_numbering(&self, database: &str, from: &str, to: &str) -> Done {
        let sql = format!("UPDATE {database}.rowferry_columns SET sequence = ?2 WHERE sequence = ?1");
        self.execute(&sql, params![from, to])?;
        Ok(())
    }

    /// The same for the columns of one table.
    pub fn rename_numbering_of(&self, table: &Relation, from: &str, to: &str) -> Done {
        let database = table.physical.database;
        let sql = format!("UPDATE {database}.rowferry_columns SET sequence = ?1 WHERE oid = ?2 AND sequence = ?3");
        self.execute(&sql, params![to, table.oid, from])?;
        Ok(())
    }

    /// Writes what is said of a column.
    pub fn comment_column(&self, relation: &Relation, column: usize, text: Option<&str>) -> Done {
        let sql = format!(
            "INSERT INTO {}.rowferry_columns (oid, name, position, comment) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT DO UPDATE SET comment = excluded.comment",
            relation.physical.database
        );
        self.execute(&sql, params![relation.oid, relation.columns[column].name, column as i64, text])?;
        Ok(())
    }

    /// What is kept of a column goes with its name.
    pub fn rename_recorded_column(&self, table: &Relation, from: &str, to: &str) -> Done {
        let database = table.physical.database;
        let sql = format!("UPDATE {database}.rowferry_columns SET name = ?1 WHERE oid = ?2 AND name = ?3");
        self.execute(&sql, params![to, table.oid, from])?;
        Ok(())
    }

    /// Forgets what is kept of a column.
    pub fn forget_column(&self, table: &Relation, name: &str) -> Done {
        let sql = format!("DELETE FROM {}.rowferry_columns WHERE oid = ?1 AND name = ?2", table.physical.database);
        self.execute(&sql, params![table.oid, name])?;
        Ok(())
    }

    /// Writes the text of a default anew, if it is kept.
    pub fn rewrite_default(&self, table: &Relation, name: &str, text: &str) -> Done {
        let sql = format!(
            "UPDATE {}.rowferry_columns SET default_text = ?1 WHERE oid = ?2 AND name = ?3 AND default_text IS NOT NULL",
            table.physical.database
        );
        self.execute(&sql, params![text, table.oid, name])?;
        Ok(())
    }

    /// Writes the text of a generated column anew.
    pub fn rewrite_generated(&self, table: &Relation, name: &str, text: &str) -> Done {
        let sql = format!(
            "UPDATE {}.rowferry_columns SET generated = ?1 WHERE oid = ?2 AND name = ?3 AND generated IS NOT NULL",
            table.physical.database
        );
        self.execute(&sql, params![text, table.oid, name])?;
        Ok(())
    }

    /// A column is computed no more.
    pub fn forget_generated(&self, database: &str, table: u32, name: &str) -> Done {
        let sql = format!("UPDATE {database}.rowferry_columns SET generated = NULL WHERE oid = ?1 AND name = ?2");
        self.execute(&sql, params![table, name])?;
        Ok(())
    }

    /// Writes the text of an index's key anew.
    pub fn rewrite_index_key(&self, database: &str, index: u32, at: usize, text: &str) -> Done {
        let sql = format!("UPDATE {database}.rowferry_columns SET generated = ?1 WHERE oid = ?2 AND name = ?3");
        self.execute(&sql, params![text, index, at.to_string()])?;
        Ok(())
    }

    /// Writes the text of an index's condition anew, if it is kept.
    pub fn rewrite_predicate(&self, database: &str, index: u32, text: &str) -> Done {
        let sql =
            format!("UPDATE {database}.rowferry_objects SET definition = ?1 WHERE oid = ?2 AND definition IS NOT NULL");
        self.execute(&sql, params![text, index])?;
        Ok(())
    }

    /// Writes a check's text, and what the engine has to enforce.
    pub fn record_check(&self, database: &str, oid: u32, check: &CheckRecord) -> Done {
        let sql = format!(
            "INSERT OR REPLACE INTO {database}.rowferry_constraints (oid, name, kind, text, sql)
             VALUES (?1, ?2, 'check', ?3, ?4)"
        );
        self.execute(&sql, params![oid, check.name, check.text, check.sql])?;
        Ok(())
    }

    /// Writes a check's text anew, and what it is on a new row where the engine has to enforce it.
    pub fn rewrite_check(&self, table: &Relation, name: &str, text: &str, enforced: Option<&Expr>) -> Done {
        let lowered = enforced.map(|expr| {
            expression(expr, &|reference| match reference.column {
                ColumnIndex::At(at) => format!("NEW.{}", quote(&table.columns[at].name)),
                ColumnIndex::RowIdentity => "NEW.rowid".to_owned(),
            })
        });
        let sql = lowered.transpose()?.map(|lowered| lowered.sql);
        let update = format!(
            "UPDATE {}.rowferry_constraints SET text = ?1, sql = ?2 WHERE oid = ?3 AND name = ?4",
            table.physical.database
        );
        self.execute(&update, params![text, sql, table.oid, name])?;
        Ok(())
    }

    /// Writes a check's text anew, which means what it meant.
    pub fn rewrite_text_of_check(&self, table: &Relation, name: &str, text: &str) -> Done {
        let database = table.physical.database;
        let sql = format!("UPDATE {database}.rowferry_constraints SET text = ?1 WHERE oid = ?2 AND name = ?3");
        self.execute(&sql, params![text, table.oid, name])?;
        Ok(())
    }

    /// What is kept of a constraint goes with its name; false where nothing is.
    pub fn rename_recorded_constraint(&self, table: &Relation, from: &str, to: &str) -> Done<bool> {
        let database = table.physical.database;
        let sql = format!("UPDATE {database}.rowferry_constraints SET name = ?1 WHERE oid = ?2 AND name = ?3");
        Ok(self.execute(&sql, params![to, table.oid, from])? > 0)
    }

    /// Forgets what is kept of a constraint.
    pub fn forget_constraint(&self, table: &Relation, name: &str) -> Done {
        let sql = format!("DELETE FROM {}.rowferry_constraints WHERE oid = ?1 AND name = ?2", table.physical.database);
        self.execute(&sql, params![table.oid, name])?;
        Ok(())
    }

    /// Notes a fact about a relation, or a part of it; `None` strikes it.
    pub fn set_property(&self, database: &str, oid: u32, part: &str, name: &str, value: Option<&str>) -> Done {
        match value {
            Some(value) => {
                metadata::create_properties(self.handle.bound(), database)?;
                let sql = format!(
                    "INSERT OR REPLACE INTO {database}.rowferry_properties (oid, part, name, value)
                     VALUES (?1, ?2, ?3, ?4)"
                );
                self.execute(&sql, params![oid, part, name, value])?;
            }
            None if metadata::has_properties(self.handle.bound(), database)? => {
                let sql =
                    format!("DELETE FROM {database}.rowferry_properties WHERE oid = ?1 AND part = ?2 AND name = ?3");
                self.execute(&sql, params![oid, part, name])?;
            }
            None => {}
        }
        Ok(())
    }

    /// Notes what a view needs; one that needs nothing is noted, too.
    pub fn record_needs(&self, database: &str, oid: u32, needs: &BTreeSet<Dependency>) -> Done {
        metadata::create_dependencies(self.handle.bound(), database)?;
        let table = format!("{database}.rowferry_dependencies");
        self.execute(&format!("DELETE FROM {table} WHERE oid = ?1"), [oid])?;
        let sql = format!("INSERT INTO {table} (oid, target, target_column) VALUES (?1, ?2, ?3)");
        if needs.is_empty() {
            self.execute(&sql, params![oid, 0, ""])?;
        }
        for (target, column) in needs {
            self.execute(&sql, params![oid, target, column.as_deref().unwrap_or_default()])?;
        }
        Ok(())
    }
}
