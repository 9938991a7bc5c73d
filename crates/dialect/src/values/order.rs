//! The order of two stored values of a type, where nothing can go wrong: an index, a sort, a range's bounds.
//!
//! A value that does not have its type's form, which files written by others may hold, comes somewhere, and always at the
//! same place.

use std::cmp::Ordering;

use serde_json::Value as Json;

use super::array::Array;
use super::range::Subtype;
use super::record::Row as Record;
use super::{decimal, interval, time};
use crate::Type;
use crate::collation::Collation;
use crate::composite::live;
use crate::ir::Value;
use crate::postgres::types;
use crate::scalar::{Order, Scalar, ranges};
use crate::types::Storage;

/// The order of two values of a type; NULL last.
pub fn order(left: &Value, right: &Value, ty: &Type) -> Ordering {
    match (left, right) {
        (Value::Null, Value::Null) => Ordering::Equal,
        (Value::Null, _) => Ordering::Greater,
        (_, Value::Null) => Ordering::Less,
        (Value::Integer(a), Value::Integer(b)) => a.cmp(b),
        (Value::Blob(a), Value::Blob(b)) => a.cmp(b),
        (Value::Text(a), Value::Text(b)) if ty.storage() != Storage::Real => order_of_texts(a, b, ty),
        // A float, whose NaN is a text and greater than all others.
        (a, b) => match (real(a), real(b)) {
            (Some(a), Some(b)) => a.partial_cmp(&b).unwrap_or(Ordering::Equal),
            (a, b) => a.is_none().cmp(&b.is_none()),
        },
    }
}

fn real(value: &Value) -> Option<f64> {
    match value {
        Value::Real(number) => Some(*number),
        Value::Integer(number) => Some(*number as f64),
        _ => None,
    }
}

/// The order of two values of a type that lies as text.
pub fn order_of_texts(a: &str, b: &str, ty: &Type) -> Ordering {
    if a == b {
        return Ordering::Equal;
    }
    if let Some(collation) = Collation::of_domain(ty) {
        return order_in(a, b, ty, collation);
    }
    match ty.through_domains() {
        ty if ty.is_decimal() => decimal::compare_text(a, b),
        Type::Interval(_) => intervals(a, b),
        Type::TimeTz(_) => times(a, b),
        Type::Char(_) => blanks_aside(a, b),
        Type::Jsonb => compare_jsonb(a, b),
        Type::Scalar(Scalar { order: Order::By { compare, .. }, .. }, _) => compare(a, b),
        Type::Array(element) => compare_arrays(a, b, |a, b| order_of_texts(a, b, element)),
        ty if ty.is_row() => order_of_rows(a, b, ty),
        Type::User(user) => match (user.labels(), user.ordered_subtype()) {
            (Some(labels), _) => labels.compare(a, b),
            (None, Some(subtype)) => ranges::compare(a, b, &Subtype::Other(subtype)),
            (None, None) => a.cmp(b),
        },
        _ => a.cmp(b),
    }
}

/// The order of two texts, or arrays of texts, in a collation.
pub fn order_in(a: &str, b: &str, ty: &Type, collation: &Collation) -> Ordering {
    match ty.through_domains() {
        Type::Array(element) => compare_arrays(a, b, |a, b| order_in(a, b, element, collation)),
        Type::Char(_) => collation.compare(a.trim_end_matches(' '), b.trim_end_matches(' ')),
        _ => collation.compare(a, b),
    }
}

/// The order of two rows of a type where nothing can go wrong: an index, a sort.
pub fn order_of_rows(a: &str, b: &str, ty: &Type) -> Ordering {
    if a == b {
        return Ordering::Equal;
    }
    let (Ok(left), Ok(right)) = (Record::read(a.as_bytes(), ty), Record::read(b.as_bytes(), ty)) else {
        return a.cmp(b);
    };
    for ((at, a), (other, b)) in live(left.fields()).zip(live(right.fields())) {
        let (Ok(left), Ok(right)) = (left.value(at), right.value(other)) else { continue };
        let order = if types::oid(&a.ty) == types::oid(&b.ty) {
            match (&left, &right, &a.collation) {
                (Value::Text(left), Value::Text(right), Some(collation)) => order_in(left, right, &a.ty, collation),
                _ => order(&left, &right, &a.ty),
            }
        } else {
            types::oid(&a.ty).cmp(&types::oid(&b.ty))
        };
        if order.is_ne() {
            return order;
        }
    }
    live(left.fields()).count().cmp(&live(right.fields()).count())
}

/// As `bpchar` compares: blanks at the end do not count.
pub fn blanks_aside(a: &str, b: &str) -> Ordering {
    a.trim_end_matches(' ').cmp(b.trim_end_matches(' '))
}

/// The order of two intervals.
pub fn intervals(a: &str, b: &str) -> Ordering {
    interval::compare_stored(a.as_bytes(), b.as_bytes())
}

/// The order of two times of day with offsets.
pub fn times(a: &str, b: &str) -> Ordering {
    time::compare_stored(a.as_bytes(), b.as_bytes())
}

/// Element by element, then by their number, then by the dimensions. Elements are told by their JSON kinds: numbers by
/// value, a float's `NaN` and infinities too; strings as the element's type wants; NULL comes last.
pub fn compare_arrays(left: &str, right: &str, strings: impl Fn(&str, &str) -> Ordering) -> Ordering {
    if left == right {
        return Ordering::Equal;
    }
    let (Ok(left), Ok(right)) = (Array::read(left.as_bytes()), Array::read(right.as_bytes())) else {
        return left.cmp(right);
    };
    let pairs = left.members.iter().zip(&right.members);
    let elements = pairs.map(|(a, b)| elements(a, b, &strings)).find(|order| order.is_ne());
    let shape = |array: &Array| {
        let sizes: Vec<_> = array.dimensions.iter().map(|one| one.length).collect();
        let lower: Vec<_> = array.dimensions.iter().map(|one| one.lower).collect();
        (array.members.len(), sizes.len(), sizes, lower)
    };
    elements.unwrap_or_else(|| shape(&left).cmp(&shape(&right)))
}

/// The order of two elements of arrays of one type.
pub fn elements(left: &Json, right: &Json, strings: impl Fn(&str, &str) -> Ordering) -> Ordering {
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

/// PostgreSQL's order of `jsonb`: objects, arrays, booleans, numbers, strings, null from the greatest down; larger
/// containers above smaller ones.
pub fn compare_jsonb(left: &str, right: &str) -> Ordering {
    fn rank(value: &Json) -> u8 {
        match value {
            Json::Null => 0,
            Json::String(_) => 1,
            Json::Number(_) => 2,
            Json::Bool(_) => 3,
            Json::Array(_) => 4,
            Json::Object(_) => 5,
        }
    }
    fn compare(left: &Json, right: &Json) -> Ordering {
        match (left, right) {
            (Json::String(a), Json::String(b)) => a.cmp(b),
            (Json::Number(a), Json::Number(b)) => decimal::compare_text(&a.to_string(), &b.to_string()),
            (Json::Bool(a), Json::Bool(b)) => a.cmp(b),
            (Json::Array(a), Json::Array(b)) => a.len().cmp(&b.len()).then_with(|| {
                a.iter().zip(b).map(|(a, b)| compare(a, b)).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
            }),
            (Json::Object(a), Json::Object(b)) => a.len().cmp(&b.len()).then_with(|| {
                let pairs = a.iter().zip(b);
                pairs
                    .map(|((key_a, a), (key_b, b))| key_a.cmp(key_b).then_with(|| compare(a, b)))
                    .find(|order| order.is_ne())
                    .unwrap_or(Ordering::Equal)
            }),
            _ => rank(left).cmp(&rank(right)),
        }
    }
    if left == right {
        return Ordering::Equal;
    }
    match (serde_json::from_str(left), serde_json::from_str(right)) {
        // A scalar by itself counts as an array of one.
        (Ok(Json::Array(left)), Ok(right)) if left.is_empty() && rank(&right) < 4 => Ordering::Less,
        (Ok(left), Ok(Json::Array(right))) if right.is_empty() && rank(&left) < 4 => Ordering::Greater,
        (Ok(left), Ok(right)) => compare(&left, &right),
        _ => left.cmp(right),
    }
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
