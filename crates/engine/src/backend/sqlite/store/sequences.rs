//! Sequences: their parameters, their state, and whose they are.

use rowferry_dialect::Language;
use rowferry_dialect::ir::CreateSequence;
use rowferry_dialect::lower::sqlite::types;
use rowferry_dialect::schema::Relation;
use rusqlite::params;

use super::Store;
use crate::backend::Done;
use crate::backend::sqlite::counters;
use crate::backend::sqlite::schema::metadata;
use crate::schema::SequenceDetails;

impl Store<'_> {
    /// Writes a new sequence; `owner` is a table's stored name and a column.
    pub fn record_sequence(
        &self,
        database: &str,
        oid: u32,
        sequence: &CreateSequence,
        owner: Option<(&str, &str)>,
        stamp: i64,
    ) -> Done {
        metadata::create_stamps(self.handle.bound(), database)?;
        let sql = format!(
            "INSERT INTO {database}.rowferry_sequences
             (oid, type, start, increment, min, max, cycle, last_value, is_called, owner_table, owner_column,
              cache, stamp)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?3, 0, ?8, ?9, ?10, ?11)"
        );
        self.execute(
            &sql,
            params![
                oid,
                types::words(&sequence.ty, Language::Postgres),
                sequence.start,
                sequence.increment,
                sequence.min,
                sequence.max,
                sequence.cycle,
                owner.map(|(table, _)| table),
                owner.map(|(_, column)| column),
                sequence.cache,
                stamp,
            ],
        )?;
        Ok(())
    }

    /// Writes a sequence's parameters.
    pub fn change_sequence(&self, database: &str, oid: u32, sequence: &CreateSequence) -> Done {
        metadata::create_stamps(self.handle.bound(), database)?;
        let sql = format!(
            "UPDATE {database}.rowferry_sequences SET type = ?2, start = ?3, increment = ?4, min = ?5, max = ?6,
             cycle = ?7, cache = ?8 WHERE oid = ?1"
        );
        self.execute(
            &sql,
            params![
                oid,
                types::words(&sequence.ty, Language::Postgres),
                sequence.start,
                sequence.increment,
                sequence.min,
                sequence.max,
                sequence.cycle,
                sequence.cache
            ],
        )?;
        Ok(())
    }

    /// A sequence's next number is this one, under another stamp.
    pub fn restart_sequence(&self, database: &str, oid: u32, next: i64, stamp: i64) -> Done {
        metadata::create_stamps(self.handle.bound(), database)?;
        let sql = format!(
            "UPDATE {database}.rowferry_sequences SET last_value = ?2, is_called = 0, stamp = ?3 WHERE oid = ?1"
        );
        self.execute(&sql, params![oid, next, stamp])?;
        Ok(())
    }

    /// The greatest identity of the table whose rows' identities a sequence numbers.
    pub fn greatest_identity(&self, details: &SequenceDetails) -> Done<Option<i64>> {
        Ok(counters::greatest_identity(self.handle.connection(), details)?)
    }

    /// Writes which column a sequence belongs to.
    pub fn set_sequence_owner(&self, database: &str, oid: u32, owner: Option<(&Relation, usize)>) -> Done {
        let sql =
            format!("UPDATE {database}.rowferry_sequences SET owner_table = ?2, owner_column = ?3 WHERE oid = ?1");
        let table = owner.map(|(table, _)| table.physical.name.as_str());
        let column = owner.map(|(table, at)| table.columns[at].name.as_str());
        self.execute(&sql, params![oid, table, column])?;
        Ok(())
    }

    /// The table that sequences belong to has another stored name.
    pub fn move_owned_sequences(&self, table: &Relation, to: &str) -> Done {
        let database = table.physical.database;
        let sql = format!("UPDATE {database}.rowferry_sequences SET owner_table = ?1 WHERE owner_table = ?2");
        self.execute(&sql, params![to, table.physical.name])?;
        Ok(())
    }

    /// The column that sequences belong to has another name.
    pub fn rename_owned_sequences(&self, table: &Relation, from: &str, to: &str) -> Done {
        let database = table.physical.database;
        let sql = format!(
            "UPDATE {database}.rowferry_sequences SET owner_column = ?1 WHERE owner_table = ?2 AND owner_column = ?3"
        );
        self.execute(&sql, params![to, table.physical.name, from])?;
        Ok(())
    }

    /// The sequences that belong to a column.
    pub fn sequences_owned_by(&self, table: &Relation, column: &str) -> Done<Vec<u32>> {
        let database = table.physical.database;
        let sql = format!("SELECT oid FROM {database}.rowferry_sequences WHERE owner_table = ?1 AND owner_column = ?2");
        let mut statement = self.handle.bound().prepare(&sql)?;
        let oids = statement.query_map(params![table.physical.name, column], |row| row.get(0))?;
        Ok(oids.collect::<rusqlite::Result<_>>()?)
    }
}
