//! `citext`, of the extension of that name: text whose letters' case says nothing.
//!
//! Stored as it was written; compared by its small letters.

use std::cmp::Ordering;

use super::{Casts, Modifiers, Order, Scalar, as_stored, stored_text};
use crate::ir::Value;
use crate::types::Storage;
use crate::{Condition, Error, Type};

/// The rows.
pub(super) static ROWS: &[&Scalar] = &[&CITEXT];

/// Text without case.
pub static CITEXT: Scalar = Scalar {
    name: "citext",
    words: "citext",
    oid: 14_151,
    delimiter: ',',
    storage: Storage::Text,
    order: Order::By { collation: "rf_citext", of_arrays: "rf_array_citext", compare },
    modifiers: Modifiers::None,
    casts: Casts {
        from: |value, from, _| match (value, from) {
            // What fills a `char` is no part of it.
            (Value::Text(text), Type::Char(_) | Type::Nchar(_)) => {
                Some(Ok(Value::Text(text.trim_end_matches(' ').to_owned())))
            }
            _ => None,
        },
        into: |_, _| None,
    },
    input: |text, _| Ok(Value::Text(text.to_owned())),
    output: as_stored,
    receive: |bytes| match std::str::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => Ok(Value::Text(text.to_owned())),
        _ => {
            let message = "invalid byte sequence for encoding \"UTF8\"";
            Err(Error::new(Condition::CharacterNotInRepertoire, message))
        }
    },
    send: |out, value| {
        out.extend_from_slice(stored_text(value)?.as_bytes());
        Ok(())
    },
};

/// The small letter of a character, as `lower` has it: one for one.
fn small(c: char) -> char {
    if c.is_ascii() {
        return c.to_ascii_lowercase();
    }
    let mut small = c.to_lowercase();
    match (small.next(), small.next()) {
        (Some(small), None) => small,
        _ => c,
    }
}

/// The order of two texts without their case.
pub fn compare(left: &str, right: &str) -> Ordering {
    left.chars().map(small).cmp(right.chars().map(small))
}

/// A text in small letters, as it is compared.
pub fn folded(text: &str) -> String {
    text.chars().map(small).collect()
}

/// True for the type, and for domains over it.
pub fn is_citext(ty: &Type) -> bool {
    matches!(ty.through_domains(), Type::Scalar(scalar, _) if **scalar == CITEXT)
}

#[cfg(test)]
mod tests {
    use super::super::round_trip::{ascends, check};
    use super::*;

    #[test]
    fn values_keep_their_case_and_do_not_compare_by_it() {
        check(&CITEXT, &[("Aä", "Aä"), ("", ""), (" x ", " x ")]);
        ascends(&CITEXT, &["", "Aardvark", "aardvarks", "AARDWOLF", "b", "C"]);
        assert_eq!((compare("ÄPFEL", "äpfel"), compare("a", "B")), (Ordering::Equal, Ordering::Less));
        assert_eq!(folded("ÄB c"), "äb c");
    }
}
