//! Orders that are not the order of bytes.
//!
//! `decimal` has the name and meaning of the collation of SQLite's own `decimal` extension, so that a file with indexes
//! under it can be used from the shell.

use std::cmp::Ordering;

use rowferry_dialect::Type;
use rowferry_dialect::lower::sqlite::{
    ENUM_ARRAY_COLLATION, ENUM_COLLATION, ROW_ARRAY_COLLATION, ROW_COLLATION, UNICODE_COLLATION,
};
use rowferry_dialect::scalar::{self, Order};
use rowferry_dialect::user_type::{Labels, from_told};
use rowferry_dialect::values::array::Array;
use rowferry_dialect::values::{decimal, interval, time};
use rusqlite::Connection;
use serde_json::Value as Json;

use super::composite;

/// Registers the collations.
pub(super) fn register(connection: &Connection) -> rusqlite::Result<()> {
    connection.create_collation("decimal", decimal::compare_text)?;
    connection.create_collation("rf_interval", intervals)?;
    connection.create_collation("rf_timetz", times)?;
    connection.create_collation("rf_array", |a, b| compare_arrays(a, b, Ord::cmp))?;
    connection.create_collation("rf_array_bpchar", |a, b| compare_arrays(a, b, blanks_aside))?;
    connection.create_collation("rf_array_decimal", |a, b| compare_arrays(a, b, decimal::compare_text))?;
    connection.create_collation("rf_array_interval", |a, b| compare_arrays(a, b, intervals))?;
    connection.create_collation("rf_array_timetz", |a, b| compare_arrays(a, b, times))?;
    connection.create_collation("rf_array_jsonb", |a, b| compare_arrays(a, b, super::json::compare_jsonb))?;
    connection.create_collation("rf_jsonb", super::json::compare_jsonb)?;
    // Types of one family may share an order; registered twice, it is the same.
    for scalar in scalar::all() {
        if let Order::By { collation, of_arrays, compare } = scalar.order {
            connection.create_collation(collation, compare)?;
            connection.create_collation(of_arrays, move |a, b| compare_arrays(a, b, compare))?;
        }
    }
    connection.collation_needed(of_name)
}

/// A collation when SQLite meets its name: an enum or row type's, whose name holds the labels or the type, one of an
/// extension's type, or a locale's order.
fn of_name(connection: &Connection, name: &str) -> rusqlite::Result<()> {
    if let Some(compare) = name.strip_prefix(UNICODE_COLLATION).and_then(super::unicode_order::named) {
        return connection.create_collation(name, compare);
    }
    for scalar in scalar::of_extensions() {
        let Order::By { collation, of_arrays, compare } = scalar.order else { continue };
        if name == collation {
            return connection.create_collation(name, compare);
        }
        if name == of_arrays {
            return connection.create_collation(name, move |a: &str, b: &str| compare_arrays(a, b, compare));
        }
    }
    let records = |a: &str, b: &str| composite::order_of_rows(a, b, &Type::RECORD);
    match name {
        "rf_record" => return connection.create_collation(name, records),
        "rf_array_record" => {
            return connection.create_collation(name, move |a: &str, b: &str| compare_arrays(a, b, records));
        }
        _ => {}
    }
    if let Some(labels) = name.strip_prefix(ENUM_COLLATION).and_then(Labels::from_texts) {
        connection.create_collation(name, move |a: &str, b: &str| labels.compare(a, b))?;
    } else if let Some(labels) = name.strip_prefix(ENUM_ARRAY_COLLATION).and_then(Labels::from_texts) {
        connection.create_collation(name, move |a: &str, b: &str| compare_arrays(a, b, |a, b| labels.compare(a, b)))?;
    } else if let Some(ty) = name.strip_prefix(ROW_COLLATION).and_then(from_told) {
        connection.create_collation(name, move |a: &str, b: &str| composite::order_of_rows(a, b, &ty))?;
    } else if let Some(ty) = name.strip_prefix(ROW_ARRAY_COLLATION).and_then(from_told) {
        let rows = move |a: &str, b: &str| composite::order_of_rows(a, b, &ty);
        connection.create_collation(name, move |a: &str, b: &str| compare_arrays(a, b, &rows))?;
    }
    Ok(())
}

/// As `bpchar` compares: blanks at the end do not count.
pub(super) fn blanks_aside(a: &str, b: &str) -> Ordering {
    a.trim_end_matches(' ').cmp(b.trim_end_matches(' '))
}

pub(super) fn intervals(a: &str, b: &str) -> Ordering {
    interval::compare_stored(a.as_bytes(), b.as_bytes())
}

pub(super) fn times(a: &str, b: &str) -> Ordering {
    time::compare_stored(a.as_bytes(), b.as_bytes())
}

/// Element by element, then by their number, then by the dimensions. Elements are told by their JSON kinds: numbers by
/// value, a float's `NaN` and infinities too; strings as the element's type wants; NULL comes last.
pub(super) fn compare_arrays(left: &str, right: &str, strings: impl Fn(&str, &str) -> Ordering) -> Ordering {
    if left == right {
        return Ordering::Equal;
    }
    let (Ok(left), Ok(right)) = (Array::read(left.as_bytes()), Array::read(right.as_bytes())) else {
        return left.cmp(right);
    };
    let pairs = left.members.iter().zip(&right.members);
    let elements = pairs.map(|(a, b)| self::elements(a, b, &strings)).find(|order| order.is_ne());
    let shape = |array: &Array| {
        let sizes: Vec<_> = array.dimensions.iter().map(|one| one.length).collect();
        let lower: Vec<_> = array.dimensions.iter().map(|one| one.lower).collect();
        (array.members.len(), sizes.len(), sizes, lower)
    };
    elements.unwrap_or_else(|| shape(&left).cmp(&shape(&right)))
}

/// The order of two elements of arrays of one type.
pub(super) fn elements(left: &Json, right: &Json, strings: impl Fn(&str, &str) -> Ordering) -> Ordering {
    match (left, right) {
        (Json::Null, Json::Null) => Ordering::Equal,
        (Json::Null, _) => Ordering::Greater,
        (_, Json::Null) => Ordering::Less,
        (Json::String(a), Json::String(b)) => strings(a, b),
        (Json::Number(a), Json::Number(b)) => decimal::compare_text(&a.to_string(), &b.to_string()),
        (a, b) => decimal::compare_text(&bare(a), &bare(b)),
    }
}

fn bare(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_compare_element_by_element() {
        let less = [
            ("[9]", "[10]"),
            ("[1,2]", "[1,2,0]"),
            ("[1,2,0]", "[2]"),
            ("[5]", "[null]"),
            ("[1e300]", "[\"Infinity\"]"),
            ("[\"Infinity\"]", "[\"NaN\"]"),
            ("[1,2]", "[[1,2]]"),
            ("[1,2]", "{\"lower\":[2],\"members\":[1,2]}"),
            ("{\"lower\":[0],\"members\":[1,2]}", "[1,2]"),
            ("[]", "[null]"),
        ];
        for (a, b) in less {
            assert_eq!(compare_arrays(a, b, Ord::cmp), Ordering::Less, "{a} {b}");
            assert_eq!(compare_arrays(b, a, Ord::cmp), Ordering::Greater, "{b} {a}");
        }
        assert_eq!(compare_arrays("[\"9\"]", "[\"10.0\"]", decimal::compare_text), Ordering::Less);
        assert_eq!(compare_arrays("[\"10\"]", "[\"10.0\"]", decimal::compare_text), Ordering::Equal);
    }
}
