//! Orders that are not the order of bytes.
//!
//! `decimal` has the name and meaning of the collation of SQLite's own `decimal` extension, so that a file with indexes
//! under it can be used from the shell.

use std::cmp::Ordering;

use rowferry_dialect::values::{decimal, interval, time};
use rusqlite::Connection;

/// Registers the collations.
pub(super) fn register(connection: &Connection) -> rusqlite::Result<()> {
    connection.create_collation("decimal", decimal::compare_text)?;
    connection.create_collation("rf_interval", |a, b| interval::compare_stored(a.as_bytes(), b.as_bytes()))?;
    connection.create_collation("rf_timetz", |a, b| time::compare_stored(a.as_bytes(), b.as_bytes()))?;
    connection.create_collation("rf_array", compare_arrays)?;
    connection.create_collation("rf_jsonb", super::json::compare_jsonb)
}

/// Element by element, then by length; nested arrays too. Elements are told by their JSON kinds, since a collation
/// knows no types: numbers by value, strings as decimals when both are, else by bytes; NULL comes last.
fn compare_arrays(left: &str, right: &str) -> Ordering {
    use serde_json::Value as Json;
    fn compare(left: &Json, right: &Json) -> Ordering {
        match (left, right) {
            (Json::Null, Json::Null) => Ordering::Equal,
            (Json::Null, _) => Ordering::Greater,
            (_, Json::Null) => Ordering::Less,
            (Json::Number(a), Json::Number(b)) => decimal::compare_text(&a.to_string(), &b.to_string()),
            (Json::String(a), Json::String(b)) => a.cmp(b),
            (Json::Array(a), Json::Array(b)) => {
                a.iter().zip(b).map(|(a, b)| compare(a, b)).find(|order| order.is_ne()).unwrap_or(a.len().cmp(&b.len()))
            }
            _ => left.to_string().cmp(&right.to_string()),
        }
    }
    if left == right {
        return Ordering::Equal;
    }
    match (serde_json::from_str(left), serde_json::from_str(right)) {
        (Ok(left), Ok(right)) => compare(&left, &right),
        _ => left.cmp(right),
    }
}
