//! `refcursor`: the name of a cursor, by which clients fetch from what a function has opened. Two names have no `=`.

use super::{Casts, Modifiers, Order, Scalar, as_stored, stored_text};
use crate::ir::Value;
use crate::types::Storage;
use crate::{Condition, Error};

/// The rows.
pub(super) static ROWS: &[&Scalar] = &[&REFCURSOR];

/// The name of a cursor.
pub static REFCURSOR: Scalar = Scalar {
    name: "refcursor",
    words: "refcursor",
    oid: 1790,
    delimiter: ',',
    storage: Storage::Text,
    order: Order::None,
    modifiers: Modifiers::None,
    casts: Casts::TEXT,
    input: |text, _| Ok(Value::Text(text.to_owned())),
    output: as_stored,
    receive: |bytes| {
        let text = std::str::from_utf8(bytes).map_err(|_| {
            Error::new(Condition::CharacterNotInRepertoire, "invalid byte sequence for encoding \"UTF8\"")
        })?;
        Ok(Value::Text(text.to_owned()))
    },
    send: |out, value| {
        out.extend_from_slice(stored_text(value)?.as_bytes());
        Ok(())
    },
};
