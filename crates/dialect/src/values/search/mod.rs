//! Text search: what `tsvector` and `tsquery` hold, how they are read and printed, and when one matches the other.

use crate::types::Reg;
use crate::{Condition, Error, Result};

pub mod matching;
pub mod query;
mod token;
pub mod vector;

pub use query::{Item, Query};
pub use vector::{Lexeme, Position, Vector};

/// The configurations that are here: object id and name.
pub const CONFIGURATIONS: &[(u32, &str)] = &[(3748, "simple"), (13164, "english")];
/// The dictionaries that are here: object id and name.
pub const DICTIONARIES: &[(u32, &str)] = &[(3765, "simple"), (13163, "english_stem")];

/// The name of an object id.
pub fn name(known: &[(u32, &'static str)], oid: u32) -> Option<&'static str> {
    known.iter().find(|(known, _)| *known == oid).map(|(_, name)| *name)
}

/// The configuration or dictionary of a name, which may tell its schema.
///
/// # Errors
/// `42602`, `42704`
pub fn oid_of(reg: Reg, text: &str) -> Result<u32> {
    let (kind, known) = match reg {
        Reg::Dictionary => ("dictionary", DICTIONARIES),
        _ => ("configuration", CONFIGURATIONS),
    };
    let invalid = || Error::new(Condition::InvalidName, "invalid name syntax");
    let name = crate::postgres::qualified_name(text).ok_or_else(invalid)?;
    let own = name.schema.as_deref().is_none_or(|schema| schema == "pg_catalog");
    let found = known.iter().find(|(_, known)| own && *known == name.name);
    found.map(|(oid, _)| *oid).ok_or_else(|| {
        let message = format!("text search {kind} \"{text}\" does not exist");
        Error::new(Condition::UndefinedObject, message)
    })
}
