//! `tsvector` and `tsquery`.
//!
//! Stored as PostgreSQL prints them. Both have an order that says nothing but serves keys and DISTINCT.

use std::cmp::Ordering;

use super::{Casts, Modifiers, Order, Scalar, as_stored, stored_text};
use crate::Result;
use crate::ir::Value;
use crate::types::Storage;
use crate::values::search::{Query, Vector};

/// The rows.
pub(super) static ROWS: &[&Scalar] = &[&TSVECTOR, &TSQUERY];

/// Words and where they stand.
pub static TSVECTOR: Scalar = Scalar {
    name: "tsvector",
    words: "tsvector",
    oid: 3614,
    delimiter: ',',
    storage: Storage::Text,
    order: Order::By { collation: "rf_tsvector", of_arrays: "rf_tsvector_array", compare: compare_vectors },
    modifiers: Modifiers::None,
    casts: Casts::TEXT,
    input: |text, _| Ok(Value::Text(Vector::parse(text)?.print())),
    output: as_stored,
    receive: |bytes| Ok(Value::Text(Vector::receive(bytes)?.print())),
    send: |out, value| {
        Vector::parse(stored_text(value)?)?.send(out);
        Ok(())
    },
};

/// What is asked of words.
pub static TSQUERY: Scalar = Scalar {
    name: "tsquery",
    words: "tsquery",
    oid: 3615,
    delimiter: ',',
    storage: Storage::Text,
    order: Order::By { collation: "rf_tsquery", of_arrays: "rf_tsquery_array", compare: compare_queries },
    modifiers: Modifiers::None,
    casts: Casts::TEXT,
    input: |text, _| stored_query(&Query::parse(text)?),
    output: as_stored,
    receive: |bytes| stored_query(&Query::receive(bytes)?),
    send: |out, value| {
        Query::parse(stored_text(value)?)?.send(out);
        Ok(())
    },
};

fn stored_query(query: &Query) -> Result<Value> {
    Ok(Value::Text(query.print()?))
}

fn compare_vectors(left: &str, right: &str) -> Ordering {
    match (Vector::parse(left), Vector::parse(right)) {
        (Ok(one), Ok(other)) => one.compare(&other),
        _ => left.cmp(right),
    }
}

fn compare_queries(left: &str, right: &str) -> Ordering {
    match (Query::parse(left), Query::parse(right)) {
        (Ok(one), Ok(other)) => one.compare(&other),
        _ => left.cmp(right),
    }
}
