//! The SQLite back end.

pub mod create_table;
pub mod types;
