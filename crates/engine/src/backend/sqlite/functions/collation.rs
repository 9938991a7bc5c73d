//! Orders that are not the order of bytes.
//!
//! `decimal` has the name and meaning of the collation of SQLite's own `decimal` extension, so that a file with indexes
//! under it can be used from the shell.

use std::sync::Arc;

use rowferry_dialect::Type;
use rowferry_dialect::collation::unicode;
use rowferry_dialect::lower::sqlite::{
    ENUM_ARRAY_COLLATION, ENUM_COLLATION, RANGE_ARRAY_COLLATION, RANGE_COLLATION, ROW_ARRAY_COLLATION, ROW_COLLATION,
    UNICODE_ARRAY_COLLATION, UNICODE_COLLATION,
};
use rowferry_dialect::scalar::{self, Order, ranges};
use rowferry_dialect::user_type::{Labels, from_told, subtype_from_words};
use rowferry_dialect::values::order::{blanks_aside, compare_arrays, compare_jsonb, intervals, order_of_rows, times};
use rowferry_dialect::values::range::Subtype;
use rowferry_dialect::values::{decimal, mysql};
use rusqlite::Connection;

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
    connection.create_collation("rf_array_jsonb", |a, b| compare_arrays(a, b, compare_jsonb))?;
    connection.create_collation("rf_jsonb", compare_jsonb)?;
    connection.create_collation("rf_mysql_json", mysql::json::compare)?;
    // Types of one family may share an order; registered twice, it is the same.
    for scalar in scalar::all() {
        if let Order::By { collation, of_arrays, compare } = scalar.order {
            connection.create_collation(collation, compare)?;
            connection.create_collation(of_arrays, move |a, b| compare_arrays(a, b, compare))?;
        }
    }
    connection.collation_needed(of_name)
}

/// A collation when SQLite meets its name: an enum, row or range type's, whose name holds the labels or the type, one of an
/// extension's type, or a locale's order.
fn of_name(connection: &Connection, name: &str) -> rusqlite::Result<()> {
    if let Some(compare) = name.strip_prefix(UNICODE_COLLATION).and_then(unicode::named) {
        return connection.create_collation(name, compare);
    }
    if let Some(compare) = name.strip_prefix(UNICODE_ARRAY_COLLATION).and_then(unicode::named) {
        return connection.create_collation(name, move |a: &str, b: &str| compare_arrays(a, b, &compare));
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
    let records = |a: &str, b: &str| order_of_rows(a, b, &Type::RECORD);
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
        connection.create_collation(name, move |a: &str, b: &str| order_of_rows(a, b, &ty))?;
    } else if let Some(ty) = name.strip_prefix(ROW_ARRAY_COLLATION).and_then(from_told) {
        let rows = move |a: &str, b: &str| order_of_rows(a, b, &ty);
        connection.create_collation(name, move |a: &str, b: &str| compare_arrays(a, b, &rows))?;
    } else if let Some(subtype) = name.strip_prefix(RANGE_COLLATION).and_then(subtype_of) {
        connection.create_collation(name, move |a: &str, b: &str| ranges::compare(a, b, &subtype))?;
    } else if let Some(subtype) = name.strip_prefix(RANGE_ARRAY_COLLATION).and_then(subtype_of) {
        let ranges = move |a: &str, b: &str| ranges::compare(a, b, &subtype);
        connection.create_collation(name, move |a: &str, b: &str| compare_arrays(a, b, &ranges))?;
    }
    Ok(())
}

fn subtype_of(words: &str) -> Option<Subtype> {
    Some(Subtype::Other(Arc::new(subtype_from_words(words)?)))
}
