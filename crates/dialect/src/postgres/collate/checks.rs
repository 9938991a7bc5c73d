//! What is refused in a collation, and where none is known.

use super::{AGGREGATE_RESULT, Derived, indeterminate, mismatch};
use crate::collation::Collation;
use crate::functions::{Function, FunctionKind};
use crate::ir::Expr;
use crate::stored_calls::{ROWS, VALUE};
use crate::{Condition, Error, Result, Type};

/// Rows cannot be ordered or grouped by what has two.
pub(super) fn check_key(derived: &Derived) -> Result<()> {
    match derived {
        Derived::Conflict(a, b) => Err(mismatch(a, b)),
        _ => Ok(()),
    }
}

pub(super) fn check_known(ty: &Type, derived: &Derived, what: &str) -> Result<()> {
    if derived.known().is_none() && Collation::of_type(ty).is_some() { Err(indeterminate(what)) } else { Ok(()) }
}

/// Refuses what is there for the order of bytes alone.
pub(super) fn check_bytes(derived: &Derived, what: &str) -> Result<()> {
    match derived.known() {
        Some(collation) if collation.is_unicode() => {
            Err(Error::unsupported(format!("{what} in the collation \"{}\"", collation.name)))
        }
        _ => Ok(()),
    }
}

/// Refuses what would have to know other capital letters than the database's own collation does.
pub(super) fn check_letters(derived: &Derived, what: &str) -> Result<()> {
    match derived.known() {
        Some(collation) if collation.knows_ascii_alone() || collation.has_letters_of_its_own() => {
            Err(Error::unsupported(format!("{what} in the collation \"{}\"", collation.name)))
        }
        _ => Ok(()),
    }
}

/// Refuses what looks into texts where texts of different bytes are equal.
pub(super) fn check_deterministic(derived: &Derived, what: &str) -> Result<()> {
    match derived.known() {
        Some(collation) if !collation.deterministic => {
            let message = format!("nondeterministic collations are not supported for {what}");
            Err(Error::new(Condition::FeatureNotSupported, message))
        }
        _ => Ok(()),
    }
}

/// Functions whose answer hangs on the collation.
pub(super) fn check_call(function: &'static Function, args: &[Expr], derived: &Derived) -> Result<()> {
    let Some(text) = args.iter().find(|arg| Collation::of_type(&arg.ty).is_some()) else { return Ok(()) };
    let name = function.name;
    match name {
        "lower" | "upper" => {
            check_known(&text.ty, derived, &format!("{name}() function"))?;
            match derived.known() {
                Some(collation) if collation.has_letters_of_its_own() => check_bytes(derived, &format!("{name}()")),
                _ => Ok(()),
            }
        }
        "initcap" => {
            check_known(&text.ty, derived, &format!("{name}() function"))?;
            check_bytes(derived, &format!("{name}()"))
        }
        "~*" | "!~*" => {
            check_known(&text.ty, derived, "regular expression")?;
            check_deterministic(derived, "regular expressions")?;
            check_letters(derived, "a regular expression without regard to case")
        }
        "~" | "!~" => {
            check_known(&text.ty, derived, "regular expression")?;
            check_deterministic(derived, "regular expressions")
        }
        _ if name.starts_with("regexp_") || name == "substring" && args.len() > 1 && args[1].ty.is_text() => {
            check_known(&text.ty, derived, "regular expression")?;
            check_deterministic(derived, "regular expressions")
        }
        "strpos" | "position" | "replace" | "split_part" | "starts_with" | "^@" | "string_to_array" => {
            check_known(&text.ty, derived, "string searching")?;
            check_deterministic(derived, "substring searches")
        }
        // Members are told apart by their bytes; only an order would differ.
        _ if function.kind == FunctionKind::Operator
            && matches!(name, "<" | "<=" | ">" | ">=")
            && derived.known().is_some_and(|collation| collation.is_unicode()) =>
        {
            check_bytes(derived, &format!("the operator {name}"))
        }
        // It is told the collation.
        VALUE | ROWS | AGGREGATE_RESULT => Ok(()),
        // What stands inside would have to be compared in this order.
        _ if name.starts_with("stored") => check_bytes(derived, "an aggregate of users of a text"),
        "@>" | "<@" | "&&" | "array_contains" | "array_contained" | "array_overlaps" | "array_position"
        | "array_positions" | "array_remove" | "array_replace"
            if derived.known().is_some_and(|collation| !collation.deterministic) =>
        {
            Err(Error::unsupported(format!("{name} of arrays in a nondeterministic collation")))
        }
        "width_bucket" | "array_sort" => check_bytes(derived, &format!("{name}()")),
        _ => Ok(()),
    }
}
