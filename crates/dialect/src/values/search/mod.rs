//! Text search: what `tsvector` and `tsquery` hold, how they are read and printed, and when one matches the other.

pub mod matching;
pub mod query;
mod token;
pub mod vector;

pub use query::{Item, Query};
pub use vector::{Lexeme, Position, Vector};
