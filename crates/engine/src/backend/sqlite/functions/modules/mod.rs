//! Functions of extensions, one file a module.
//!
//! A connection knows two functions for all of them: their first argument is the name of the source that the facts bind a
//! function to. What has another value at each call goes by [`Row::volatile`]'s twin.

mod citext;
mod hstore;
mod pg_stat_statements;
mod pg_trgm;
mod pgcrypto;
mod tablefunc;
mod uuid;
mod words;

use std::collections::HashMap;
use std::sync::LazyLock;

use rowferry_dialect::ir::Value;
use rowferry_dialect::{Error, Result};

pub(super) use pgcrypto::ciphers;

use super::rows::Source;
use super::rows_sources::{Arguments, none};
use super::{Call, Row};

/// A function of an extension.
pub(super) struct Member {
    /// The source's name in the facts, or a name of ours.
    name: &'static str,
    /// NULL in, NULL out.
    strict: bool,
    /// What it does.
    call: fn(&Call<'_>) -> Result<Value>,
}

impl Member {
    /// A strict function.
    const fn new(name: &'static str, call: fn(&Call<'_>) -> Result<Value>) -> Self {
        Self { name, strict: true, call }
    }

    /// The function sees NULLs.
    const fn lenient(self) -> Self {
        Self { strict: false, ..self }
    }
}

/// A function of an extension that returns rows; NULL in, no rows out.
type RowsMember = (&'static str, fn(&Arguments<'_>) -> Result<Source>);

const MODULES: &[&[Member]] = &[
    citext::MEMBERS,
    hstore::MEMBERS,
    pg_stat_statements::MEMBERS,
    pg_trgm::MEMBERS,
    pgcrypto::MEMBERS,
    uuid::MEMBERS,
    words::MEMBERS,
];
const ROWS_MODULES: &[&[RowsMember]] = &[hstore::ROWS, pg_stat_statements::ROWS, tablefunc::ROWS];

pub(super) const ROWS: &[Row] = &[
    Row::new("rf_module", 1, call).variadic().lenient(),
    Row::new("rf_module_volatile", 1, call).variadic().lenient().volatile(),
];

fn member(name: &str) -> Result<&'static Member> {
    static MEMBERS: LazyLock<HashMap<&'static str, &'static Member>> =
        LazyLock::new(|| MODULES.iter().flat_map(|module| module.iter()).map(|member| (member.name, member)).collect());
    MEMBERS.get(name).copied().ok_or_else(|| missing(name))
}

fn missing(name: &str) -> Error {
    Error::internal(format!("no extension has a function {name}"))
}

fn call(call: &Call<'_>) -> Result<Value> {
    let member = call.prepared(0, || member(call.text(0)?))?;
    let call = call.rest();
    if member.strict && (0..call.len()).any(|at| call.is_null(at)) {
        return Ok(Value::Null);
    }
    (member.call)(&call)
}

/// The rows of a function of an extension.
pub(super) fn rows(call: &Arguments<'_>) -> Result<Source> {
    let name = call.needed(0)?;
    let mut all = ROWS_MODULES.iter().flat_map(|module| module.iter());
    let (_, open) = all.find(|(known, _)| *known == name).ok_or_else(|| missing(name))?;
    let call = call.rest();
    if call.any_null() { none() } else { open(&call) }
}

#[cfg(test)]
mod tests {
    use rowferry_dialect::functions::{FunctionKind, Said, of_extensions};

    use super::*;

    #[test]
    fn every_row_of_an_extension_has_its_function() {
        let of_rows =
            |name: &str| ROWS_MODULES.iter().flat_map(|module| module.iter()).any(|(known, _)| *known == name);
        for row in of_extensions() {
            if let Said::Module(name) = row.said {
                let known = if row.kind == FunctionKind::SetReturning { of_rows(name) } else { member(name).is_ok() };
                assert!(known, "{} {name}", row.name);
            }
        }
    }

    #[test]
    fn names_are_unique() {
        let mut seen = std::collections::HashSet::new();
        assert!(MODULES.iter().flat_map(|module| module.iter()).all(|member| seen.insert(member.name)));
    }
}
