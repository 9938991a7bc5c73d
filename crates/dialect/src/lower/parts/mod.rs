//! Statements that a back end is not told as a whole: what they change is decided by a query, and each row is changed by a
//! statement of its own.
//!
//! Whether a statement has to be taken apart is the back end's affair. How it is done is said in the representation alone, so
//! that any back end that needs it may ask for it.

mod by_rows;
mod merge;
mod returning;

use crate::Language;
use crate::ir::{Dml, Query};

pub use by_rows::{by_rows, runs_in_parts};
pub use merge::merge_by_rows;
pub use returning::{apart, reads_changed};

/// A change whose rows are decided on before the first of them is changed: a query of what is to be done, and the statements
/// that do it for one of its rows.
///
/// The query's first column is the identity of the row to be changed, NULL when there is none; its second which of
/// `actions` is meant, NULL for none. The actions' parameters are the query's columns.
#[derive(Clone, Debug, PartialEq)]
pub struct ByRows {
    /// What is to be done.
    pub rows: Query,
    /// UPDATE or DELETE of the row of that identity, INSERT of another.
    pub actions: Vec<Dml>,
    /// What becomes of a row that is to be changed again.
    pub again: Again,
}

/// What becomes of a row that a statement is to change for the second time.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Again {
    /// It is an error, in the words of the statement's language.
    Refused(Language),
    /// It stays as it has been changed.
    Passed,
}
