//! Where in a file a value lies that its column's type does not allow.
//!
//! A file takes any value in any column, and text of any bytes. A result tells only its own row, which helps nobody to
//! find the culprit; this looks for it, once something has failed.

use rowferry_dialect::plan::ResultColumn;

use rowferry_dialect::{Error, Schema as _};

use super::Session;
use crate::ValueRef;

/// A column of a table, and a row of it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Place {
    namespace: String,
    /// The table.
    pub table: String,
    /// Its column.
    pub column: String,
    /// The row's rowid, where the table has rowids.
    pub rowid: Option<i64>,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "table \"{}\", column \"{}\"", self.table, self.column)?;
        match self.rowid {
            Some(rowid) => write!(f, ", rowid {rowid}"),
            None => Ok(()),
        }
    }
}

impl Place {
    /// The error, with the names of table and column in their fields.
    #[must_use]
    pub fn name_in(&self, error: Error) -> Error {
        error.table(self.namespace.clone(), self.table.clone()).column(self.column.clone())
    }
}

impl Session {
    /// The first value of a table's column that does not fit; `None` when the result's column is no table's.
    ///
    /// Reads the table, in the session's own transaction, until the value is found or the statement is cancelled.
    pub fn find_misfit(&self, column: &ResultColumn, fits: impl Fn(ValueRef<'_>) -> bool) -> Option<Place> {
        let (oid, position) = column.origin?;
        let relation = self.schema.relation_by_oid(oid)?;
        let name = relation.columns.get(position)?.name.clone();
        let mut place =
            Place { namespace: relation.namespace.clone(), table: relation.name.clone(), column: name, rowid: None };
        if !relation.keeps_rows() || relation.without_identity {
            return Some(place);
        }
        let handle = self.handle.as_ref()?.lock();
        // Cancelled, or changed meanwhile: then it is not said.
        place.rowid = handle.misfit(&relation, &place.column, fits).ok().flatten();
        Some(place)
    }
}
