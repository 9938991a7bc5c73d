//! The seam: what lowers statements, runs them, and knows what is stored.
//!
//! Front ends bind a statement to the neutral representation; a [`Backend`] makes a program of it and runs that on sessions
//! of its own. The engine is compiled for one of them, [`InUse`]: nothing is called through a table when rows are read. What
//! stands outside of this folder knows it by the names that this module gives.

mod sqlite;

use std::sync::Arc;

use rowferry_dialect::ir::{Cte, Dml, Merge, Query, Statement as Ir};
use rowferry_dialect::lower::parts::ByRows;
use rowferry_dialect::plan::Bound;
use rowferry_dialect::{Error, Result};

use crate::database::Shared;
use crate::interrupt::Interrupter;
use crate::schema::Snapshot;
use crate::session::state::State;

pub use sqlite::{
    Attachment, BESIDE, CatalogRows, CheckRecord, ColumnRecord, Counted, Entry, Fact, Failure, Form, Guard, Handle,
    LogSync, Mark, NewColumn, Operation, PlanIndex, PlanStep, PlanWay, Point, PrivilegeRow, Running, SharedHandle,
    Source, Sqlite as InUse, Statement, Step, Store, Target, UNICODE_VERSION, Watch, WeakHandle, backup, changes,
    check_file, errors, file_watch, fulltext, functions, greatest_identity, is_native, logging_of, mapped, mentions,
    read_counter, rules_words, same_columns, schema, set_logging, size_of, size_of_file, store_counter, whole_files,
};

pub use sqlite::FileState;
pub use sqlite::{LargeObject, LargeObjects, MAX_LARGE_OBJECT};

/// What the back end in use runs for a statement.
pub type Program = <InUse as Backend>::Program;

/// What the schema is read through, and functions run their own statements on.
pub type Connection<'c> = <InUse as Backend>::Reader<'c>;

/// A failure of a change of the schema.
#[derive(Debug)]
pub enum Failed {
    /// The back end's.
    Storage(Failure),
    /// Our own.
    Other(Error),
}

/// What a step of a change comes to.
pub type Done<T = ()> = std::result::Result<T, Failed>;

impl From<Failure> for Failed {
    fn from(failure: Failure) -> Self {
        Self::Storage(failure)
    }
}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        Self::Other(error)
    }
}

/// A back end.
pub trait Backend {
    /// What it runs for a statement.
    type Program;
    /// A session of its own, which one of ours and its cursors share.
    type Session;
    /// What it reads the schema through.
    type Reader<'c>;
    /// What has gone wrong, in its own words.
    type Failure;

    /// The program of a query or a change.
    ///
    /// # Errors
    /// `0A000` for what the back end cannot be told.
    fn lower(bound: &Bound) -> Result<Self::Program>;

    /// The program of a query that is part of another statement.
    ///
    /// # Errors
    /// As [`Self::lower`].
    fn lower_query(query: &Query, rows: Yield) -> Result<Self::Program>;

    /// The program of a change that is part of another statement.
    ///
    /// # Errors
    /// As [`Self::lower`].
    fn lower_change(dml: &Dml, rows: Yield) -> Result<Self::Program>;

    /// True for a query or a change that is not told to the back end as a whole: the engine takes it apart, and runs its
    /// parts one after the other.
    fn runs_in_parts(statement: &Ir) -> bool;

    /// A change as a query of rows and a statement for each.
    ///
    /// # Errors
    /// `0A000` for what cannot be taken apart.
    fn by_rows(dml: &Dml) -> Result<ByRows>;

    /// MERGE as a query of rows and a statement for each.
    ///
    /// # Errors
    /// As [`Self::by_rows`].
    fn merge_by_rows(merge: &Merge) -> Result<ByRows>;

    /// Where what a change returns has to be asked for by a query of its own: the change, returning columns alone, and that
    /// query over it.
    fn returned_apart(dml: &Dml) -> Option<(Cte, Query)>;

    /// A statement of our own in the back end's words, with so many parameters.
    fn native(text: &str, params: usize) -> Self::Program;

    /// Opens a session.
    ///
    /// # Errors
    /// What stands in the way, in the back end's words.
    fn session(of: &Opening<'_>) -> std::result::Result<Self::Session, Self::Failure>;

    /// Describes what is stored: `main` is what all sessions share, `temp` is this one's own.
    ///
    /// # Errors
    /// As [`Self::session`].
    fn load(through: Self::Reader<'_>, database: &'static str) -> std::result::Result<Snapshot, Self::Failure>;
}

/// Who gets what a program yields.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Yield {
    /// The client.
    Sent,
    /// Other parts of the statement: each value in the stored form of its type.
    Kept,
}

/// For whom a session is opened.
#[derive(Debug)]
pub struct Opening<'a> {
    /// The database.
    pub database: &'a Shared,
    /// The session that it is for.
    pub state: &'a Arc<State>,
    /// What functions know of that session.
    pub functions: &'a Arc<crate::functions::Context>,
    /// Stops it.
    pub interrupter: &'a Interrupter,
}
