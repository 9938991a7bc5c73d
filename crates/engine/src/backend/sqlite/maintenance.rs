//! VACUUM, ANALYZE, REINDEX on SQLite's file, and how large things are in it.
//!
//! | PostgreSQL           | here                                                                                     |
//! |----------------------|------------------------------------------------------------------------------------------|
//! | VACUUM [FULL]        | the file is written anew, without what is free in it (`VACUUM`)                          |
//! | VACUUM t             | nothing is left to do: SQLite uses the space of deleted rows again at once               |
//! | VACUUM FULL t        | as VACUUM FULL                                                                           |
//! | ANALYZE [t]          | statistics for SQLite's planner (`ANALYZE`)                                              |
//! | REINDEX              | the indexes of the tables named are made anew (`REINDEX`)                                |
//! | CHECKPOINT           | the write-ahead log goes into the file, and is cut off where nobody reads it (`PRAGMA`)  |

use rowferry_dialect::lower::sqlite::create_table::quote;
use rowferry_dialect::schema::Relation;

use rusqlite::OptionalExtension as _;

use super::connection::Connection;
use super::handle::{Calls, Handle};
use super::statement::Failure;

type Done<T = ()> = std::result::Result<T, Failure>;

impl Handle {
    /// Writes the file anew, without what is free in it.
    pub fn compact(&self) -> Done {
        self.prepare_to_write()?;
        self.run("VACUUM main")
    }

    /// Gathers statistics about a table, or all.
    pub fn analyze(&self, table: Option<&Relation>) -> Done {
        let sql = table.map_or_else(|| "ANALYZE main".to_owned(), |table| format!("ANALYZE {}", physical(table)));
        self.batch(&sql, Calls::Stored)
    }

    /// How many rows a table had when it was analyzed; `None` where nobody knows.
    pub fn analyzed_rows(&self, table: &Relation) -> Done<Option<i64>> {
        let database = &table.physical.database;
        let sql = format!("SELECT stat FROM \"{database}\".sqlite_stat1 WHERE tbl = ?1 ORDER BY idx IS NULL LIMIT 1");
        // Nothing is kept of a table without rows, nor of a file in which no table has any.
        let Ok(mut statement) = self.bound().prepare_cached(&sql) else { return Ok(Some(0)) };
        let stat: Option<String> = statement.query_row([&table.physical.name], |row| row.get(0)).optional()?;
        Ok(stat.map_or(Some(0), |stat| stat.split(' ').next().and_then(|rows| rows.parse().ok())))
    }

    /// Makes the indexes of a table anew.
    pub fn reindex(&self, table: &Relation) -> Done {
        self.batch(&format!("REINDEX {}", physical(table)), Calls::Stored)
    }

    /// Deletes all rows of a temporary table.
    pub fn empty_temporary(&self, table: &Relation) -> Done {
        self.batch(&format!("DELETE FROM temp.{}", quote(&table.physical.name)), Calls::Stored)
    }
}

/// Bytes of the whole file.
pub fn size_of_file(connection: Connection<'_>) -> Done<i64> {
    let connection = connection.bound();
    let sql = "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()";
    Ok(connection.query_row(sql, [], |row| row.get(0))?)
}

/// Bytes of tables and indexes, by their stored names.
pub fn size_of<'n>(connection: Connection<'_>, names: impl Iterator<Item = &'n str>) -> Done<i64> {
    let connection = connection.bound();
    let sql = "SELECT coalesce(sum(pgsize), 0) FROM dbstat WHERE name = ?1 AND aggregate = TRUE";
    let mut statement = connection.prepare_cached(sql)?;
    let mut bytes = 0;
    for name in names {
        bytes += statement.query_row([name], |row| row.get::<_, i64>(0))?;
    }
    Ok(bytes)
}

fn physical(table: &Relation) -> String {
    format!("\"{}\".\"{}\"", table.physical.database, table.physical.name.replace('"', "\"\""))
}
