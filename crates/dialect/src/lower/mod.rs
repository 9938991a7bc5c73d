//! Back ends: IR in, the back end's SQL out.

pub mod sqlite;
