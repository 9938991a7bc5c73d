//! SQLite: handles, statements, failures, the file and its log.

mod attached;
pub mod backup;
mod busy;
mod catalog;
pub mod changes;
mod checks;
mod connection;
mod counters;
pub mod errors;
mod explain;
mod file_state;
pub mod file_watch;
pub mod fulltext;
pub mod functions;
mod handle;
mod inspect;
mod large_objects;
mod log_sync;
mod maintenance;
pub mod mapped;
mod mark;
mod memory;
mod open;
mod rows;
pub mod schema;
mod session;
mod statement;
mod store;
mod transaction;
pub mod whole_files;

pub use attached::Attachment;
pub use catalog::Rows as CatalogRows;
pub use checks::Watch;
pub use rowferry_dialect::lower::sqlite::{UNICODE_VERSION, rules_words};

pub use connection::Running;
pub use counters::{greatest_identity, read_counter, store_counter};
pub use explain::{Counted, Index as PlanIndex, Operation, PlanStep, Target, Way as PlanWay};
pub use file_state::FileState;
pub use handle::{Guard, Handle, SharedHandle, WeakHandle};
pub use large_objects::{LargeObject, LargeObjects, MAX_BYTES as MAX_LARGE_OBJECT};
pub use log_sync::LogSync;
pub use maintenance::{size_of, size_of_file};
pub use mark::{BESIDE, logging_of, set_logging};
pub use open::check_file;
pub use session::Sqlite;
pub use statement::{Failure, Statement, Step};
pub use store::{
    CheckRecord, ColumnRecord, Entry, Fact, Form, Mark, NewColumn, PrivilegeRow, Source, Store, is_native, mentions,
    same_columns,
};
pub use transaction::Point;
