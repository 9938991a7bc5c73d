//! Checks that need more than SQLite has, as temporary triggers on a handle: whoever else writes to the file lacks our
//! functions.

use rowferry_dialect::lower::sqlite::create_table::quote;
use rowferry_dialect::lower::sqlite::quote_text;
use rowferry_dialect::schema::Relation;

use super::handle::{Calls, Handle};
use super::statement::Failure;

/// The name of what enforces a check, on a handle.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Watch(String);

impl Handle {
    /// Has a table's check of this number looked at by each row that is written from here on.
    pub fn watch(
        &self,
        table: &Relation,
        number: usize,
        name: &str,
        sql: &str,
        each: &mut dyn FnMut(Watch),
    ) -> Result<(), Failure> {
        for event in ["INSERT", "UPDATE"] {
            let trigger = format!("rowferry_check_{}_{number}_{event}", table.oid);
            let sql = format!(
                "CREATE TEMP TRIGGER {} AFTER {event} ON {}.{} WHEN NOT ({sql})
                 BEGIN SELECT rf_check_failed({}, {}); END",
                quote(&trigger),
                table.physical.database,
                quote(&table.physical.name),
                quote_text(&table.name),
                quote_text(name),
            );
            self.batch(&sql, Calls::Named)?;
            each(Watch(trigger));
        }
        Ok(())
    }

    /// No longer, if it was.
    pub fn unwatch(&self, watch: &Watch) -> Result<(), Failure> {
        self.batch(&format!("DROP TRIGGER IF EXISTS temp.{}", quote(&watch.0)), Calls::Nothing)
    }
}
