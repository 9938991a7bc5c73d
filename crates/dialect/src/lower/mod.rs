//! Back ends: IR in, the back end's SQL out.

pub mod postgres;
pub mod sqlite;
