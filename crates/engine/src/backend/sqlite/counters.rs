//! Counters of sequences as a file keeps them: in a table of ours, or as SQLite's own for the rowids of a table.

use rowferry_dialect::lower::sqlite::create_table::quote;
use rusqlite::{OptionalExtension as _, params};

use super::connection::Connection;
use super::statement::Failure;
use crate::schema::SequenceDetails;
use crate::session::sequences::Counter;

type Done<T> = std::result::Result<T, Failure>;

/// A counter as the file has it.
pub fn read_counter(connection: Connection<'_>, details: &SequenceDetails) -> Done<Counter> {
    let connection = connection.bound();
    let database = details.database;
    if let Some(table) = &details.rowid_of {
        let counted = if has_sqlite_sequence(connection, database)? {
            connection
                .prepare_cached(&format!("SELECT seq FROM {database}.sqlite_sequence WHERE name = ?1"))?
                .query_row([table], |row| row.get(0))
                .optional()?
        } else {
            None
        };
        let quoted = quote(table);
        let greatest: Option<i64> =
            connection.query_row(&format!("SELECT max(rowid) FROM {database}.{quoted}"), [], |row| row.get(0))?;
        let last: Option<i64> = counted.max(greatest);
        return Ok(Counter::at(last.unwrap_or(details.start), last.is_some(), i64::MIN));
    }
    let (last, called): (i64, bool) = connection
        .prepare_cached(&format!("SELECT last_value, is_called FROM {database}.rowferry_sequences WHERE oid = ?1"))?
        .query_row([details.sequence.oid], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(Counter::at(last, called, i64::MIN))
}

/// The greatest rowid of the table whose rowids the sequence numbers.
pub fn greatest_identity(connection: Connection<'_>, details: &SequenceDetails) -> Done<Option<i64>> {
    let connection = connection.bound();
    let Some(table) = &details.numbers_rowids_of else { return Ok(None) };
    let quoted = quote(table);
    Ok(connection
        .prepare_cached(&format!("SELECT max(rowid) FROM {}.{quoted}", details.database))?
        .query_row([], |row| row.get(0))?)
}

/// Writes a counter into the file.
pub fn store_counter(connection: Connection<'_>, details: &SequenceDetails, counter: Counter) -> Done<()> {
    let connection = connection.bound();
    let database = details.database;
    let Counter { last, called, .. } = counter;
    if let Some(table) = &details.rowid_of {
        // Without AUTOINCREMENT the rowid counts from what lies in the table; there is nothing to set.
        if has_sqlite_sequence(connection, database)? {
            let seq = if called { last } else { last - 1 };
            let changed = connection
                .prepare_cached(&format!("UPDATE {database}.sqlite_sequence SET seq = ?2 WHERE name = ?1"))?
                .execute(params![table, seq])?;
            if changed == 0 {
                connection
                    .prepare_cached(&format!("INSERT INTO {database}.sqlite_sequence (name, seq) VALUES (?1, ?2)"))?
                    .execute(params![table, seq])?;
            }
        }
        return Ok(());
    }
    let sql = format!("UPDATE {database}.rowferry_sequences SET last_value = ?2, is_called = ?3 WHERE oid = ?1");
    if details.stamp != 0 {
        connection.prepare_cached(&format!("{sql} AND stamp = ?4"))?.execute(params![
            details.sequence.oid,
            last,
            called,
            details.stamp
        ])?;
        return Ok(());
    }
    // Tables of older versions have no stamps.
    match connection.prepare_cached(&format!("{sql} AND stamp = 0")) {
        Ok(mut statement) => statement.execute(params![details.sequence.oid, last, called])?,
        Err(_) => connection.prepare_cached(&sql)?.execute(params![details.sequence.oid, last, called])?,
    };
    Ok(())
}

fn has_sqlite_sequence(connection: &rusqlite::Connection, database: &str) -> Done<bool> {
    Ok(connection
        .prepare_cached(&format!("SELECT 1 FROM {database}.sqlite_schema WHERE name = 'sqlite_sequence'"))?
        .exists([])?)
}
