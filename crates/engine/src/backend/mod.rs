//! The seam: what carries out statements.
//!
//! Front ends bind a statement, a back end lowers and runs it. There is one so far, [`sqlite`]; the rest of the engine knows
//! it by the names that this module gives, and needs nothing else of it.

mod sqlite;

pub use sqlite::{
    BusyHandler, CatalogRows, Failure, Guard, Handle, LogSync, SharedHandle, Statement, Step, WeakHandle, check_file,
    errors, file_watch, schema,
};
