//! SQLite: handles, statements, failures, the file and its log.

mod busy;
mod catalog;
pub mod errors;
pub mod file_watch;
mod handle;
mod log_sync;
mod memory;
mod open;
pub mod schema;
mod session;
mod statement;

pub use catalog::Rows as CatalogRows;
pub use handle::{Guard, Handle, SharedHandle, WeakHandle};
pub use log_sync::LogSync;
pub use open::check_file;
pub use session::Sqlite;
pub use statement::{Failure, Statement, Step};
