//! Back ends: IR in, the back end's SQL out.

pub mod parts;
pub mod postgres;
pub mod sqlite;

use crate::{Language, Type};

/// How the back end in use says a function: its cell of the function's row.
pub use sqlite::said::Said;
/// What the back end in use makes of a statement.
pub use sqlite::{Program, lower};

/// The name under which a file records that an object is in its back end's own words.
pub const NATIVE_NAME: &str = "sqlite";

/// A type in the words in which the back end in use keeps it in a definition.
pub fn kept_words(ty: &Type, language: Language) -> String {
    sqlite::types::words(ty, language)
}

/// The inverse of [`kept_words`]; words that it has never given are some type, too.
pub fn kept_type(words: &str, language: Language) -> Type {
    sqlite::types::parse(words, language)
}
