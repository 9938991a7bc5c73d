//! Reads and keeps the schema of a file: what SQLite says of it, and our tables beside.

pub mod access;
mod deferrable;
mod load;
pub mod metadata;
mod objects;
mod relation;
mod stored;

pub use load::{Touched, load, refresh, rows_read};
pub(crate) use relation::{
    DEFERRABLE, INDEX_METHOD, MATERIALIZED_VIEW, NO_INHERIT, NOT_VALID, NULLS_ALIKE, PRIMARY, TWIN, UNPOPULATED,
};
