//! How many bytes MySQL's own form of a document takes, which JSON_STORAGE_SIZE tells.
//!
//! Source: the binary format of JSON columns as MySQL's internals document describes it.

use rowferry_dialect::values::mysql::json;
use serde_json::Value as Json;

/// With the byte that says what it is.
pub(super) fn size(document: &Json) -> usize {
    1 + value(document)
}

fn value(document: &Json) -> usize {
    match document {
        Json::Null | Json::Bool(_) => 1,
        Json::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(value), _) if i16::try_from(value).is_ok() => 2,
            (Some(value), _) if i32::try_from(value).is_ok() => 4,
            (None, _) if json::number_type(number) == "DECIMAL" => decimal(&number.to_string()),
            (_, Some(value)) if u16::try_from(value).is_ok() => 2,
            (_, Some(value)) if u32::try_from(value).is_ok() => 4,
            _ => 8,
        },
        Json::String(text) => varied(text.len()) + text.len(),
        Json::Array(_) | Json::Object(_) => match container(document, 2) {
            small if small <= usize::from(u16::MAX) => small,
            _ => container(document, 4),
        },
    }
}

/// The number of members and of bytes, then an entry for each, then what has no room in its entry.
fn container(document: &Json, width: usize) -> usize {
    let behind = |member: &Json| match value(member) {
        _ if matches!(member, Json::Null | Json::Bool(_)) => 0,
        inner if matches!(member, Json::Number(_)) && inner <= width && inner < 8 => 0,
        inner => inner,
    };
    match document {
        Json::Array(members) => 2 * width + members.iter().map(|member| 1 + width + behind(member)).sum::<usize>(),
        Json::Object(members) => {
            let of_member = |(key, member): (&String, &Json)| width + 2 + key.len() + 1 + width + behind(member);
            2 * width + members.iter().map(of_member).sum::<usize>()
        }
        _ => 0,
    }
}

/// A length with seven bits to a byte.
fn varied(length: usize) -> usize {
    let bits = usize::BITS - length.leading_zeros();
    bits.div_ceil(7).max(1) as usize
}

/// What it is, its length, its digits in all and behind the point, then nine digits to four bytes.
fn decimal(written: &str) -> usize {
    const BYTES: [usize; 10] = [0, 1, 1, 2, 2, 3, 3, 4, 4, 4];
    let digits = written.trim_start_matches('-');
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let whole = whole.trim_start_matches('0').len();
    let bytes = |digits: usize| digits / 9 * 4 + BYTES[digits % 9];
    let inner = 2 + bytes(whole) + bytes(fraction.len());
    1 + varied(inner) + inner
}
