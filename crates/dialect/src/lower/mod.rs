//! Back ends: IR in, the back end's SQL out.

pub mod postgres;
pub mod sqlite;

/// The name under which a file records that an object is in its back end's own words.
pub const NATIVE_NAME: &str = "sqlite";
