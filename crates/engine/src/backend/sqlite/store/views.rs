//! Views, which SQLite keeps, too, where it can: for those who look into the file without us.

use rowferry_dialect::ir::Query;
use rowferry_dialect::lower::sqlite;
use rowferry_dialect::lower::sqlite::create_table::quote;
use rowferry_dialect::schema::Relation;
use rusqlite::params;

use super::Store;
use super::tables::table_sql;
use crate::backend::Done;

/// True when the back end can keep a view of the query.
pub fn is_native(query: &Query) -> bool {
    sqlite::view(query).is_ok_and(|lowered| lowered.native)
}

impl Store<'_> {
    /// Keeps a view where others see it; false when the back end can make nothing of the query.
    pub fn make_view(&self, database: &str, name: &str, query: &Query) -> bool {
        let Some(lowered) = sqlite::view(query).ok().filter(|lowered| lowered.native) else { return false };
        let columns: Vec<String> = query.columns.iter().map(|column| quote(&column.name)).collect();
        let sql = format!("CREATE VIEW {database}.{} ({}) AS {}", quote(name), columns.join(", "), lowered.sql);
        match self.handle.bound().execute_batch(&sql) {
            Ok(()) => true,
            // Two columns of one name, say: SQLite is pickier about what it keeps than about what it runs.
            Err(error) => {
                tracing::debug!(view = name, %error, "no native view");
                false
            }
        }
    }

    /// Takes a view from where others see it.
    pub fn drop_view(&self, view: &Relation) -> Done {
        self.drop_in(view.physical.database, &format!("DROP VIEW {}", table_sql(view)))
    }

    /// True when others can read a view.
    pub fn is_readable(&self, view: &Relation) -> bool {
        self.handle.bound().prepare(&format!("SELECT * FROM {}", table_sql(view))).is_ok()
    }

    /// Notes that a view is kept where others see it, under its own name, or that it is not.
    pub fn note_view(&self, view: &Relation, kept: bool) -> Done {
        let name = if kept { "name" } else { "NULL" };
        let sql =
            format!("UPDATE {}.rowferry_objects SET physical_name = {name} WHERE oid = ?1", view.physical.database);
        self.execute(&sql, [view.oid])?;
        Ok(())
    }

    /// A view takes the place of another, which goes by its object id and has its comment.
    pub fn take_place(&self, database: &str, oid: u32, of: u32, comment: Option<&str>) -> Done {
        let sql = format!("UPDATE {database}.rowferry_objects SET oid = ?1, comment = ?2 WHERE oid = ?3");
        self.execute(&sql, params![of, comment, oid])?;
        Ok(())
    }

    /// Writes the default of a view's column.
    pub fn set_view_default(&self, view: &Relation, column: usize, text: Option<&str>) -> Done {
        let database = view.physical.database;
        let sql = format!("UPDATE {database}.rowferry_columns SET default_text = ?1 WHERE oid = ?2 AND position = ?3");
        self.execute(&sql, params![text, view.oid, column as i64])?;
        Ok(())
    }

    /// Gives a view's column another name.
    pub fn rename_view_column(&self, view: &Relation, column: usize, to: &str) -> Done {
        let database = view.physical.database;
        let sql = format!("UPDATE {database}.rowferry_columns SET name = ?1 WHERE oid = ?2 AND position = ?3");
        self.execute(&sql, params![to, view.oid, column as i64])?;
        Ok(())
    }
}
