//! Parts of JSON documents that a PARTIAL_UPDATE_ROWS event changes.

use std::borrow::Cow;

use rowferry_wire::{Malformed, Reader};

use super::json::Json;
use crate::lenenc;

/// What happens at a path.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Operation {
    /// The value there is replaced.
    Replace,
    /// A member or an element is added.
    Insert,
    /// A member or an element is removed.
    Remove,
}

impl Operation {
    /// In lower case.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Replace => "replace",
            Self::Insert => "insert",
            Self::Remove => "remove",
        }
    }
}

/// One change.
#[derive(Clone, Debug, PartialEq)]
pub struct JsonDiff<'a> {
    /// What happens.
    pub operation: Operation,
    /// Where, as `$.member[0]`.
    pub path: &'a str,
    /// The new value; `None` for [`Operation::Remove`].
    pub value: Option<Json<'a>>,
}

/// A step of a path.
#[derive(Debug, Eq, PartialEq)]
enum Leg<'a> {
    Member(Cow<'a, [u8]>),
    Element(usize),
}

const WRONG_PATH: Malformed = Malformed::new("JSON diff path");

/// Reads all changes of a cell: operation, path, and but for removals the value, each with its length in front.
pub fn decode(bytes: &[u8]) -> Result<Vec<JsonDiff<'_>>, Malformed> {
    let mut reader = Reader::new(bytes);
    let mut diffs = Vec::new();
    while !reader.is_empty() {
        let operation = match reader.u8("JSON diff operation")? {
            0 => Operation::Replace,
            1 => Operation::Insert,
            2 => Operation::Remove,
            _ => return Err(Malformed::new("JSON diff operation")),
        };
        let path = lenenc::bytes(&mut reader, "JSON diff path")?;
        let path = std::str::from_utf8(path).map_err(|_| WRONG_PATH)?;
        let value = match operation {
            Operation::Remove => None,
            _ => Some(Json::decode(lenenc::bytes(&mut reader, "JSON diff value")?)?),
        };
        diffs.push(JsonDiff { operation, path, value });
    }
    Ok(diffs)
}

/// Changes a document.
pub fn apply<'a>(document: &mut Json<'a>, diffs: Vec<JsonDiff<'a>>) -> Result<(), Malformed> {
    for diff in diffs {
        let mut legs = parse_path(diff.path)?;
        let Some(last) = legs.pop() else {
            match (diff.operation, diff.value) {
                (Operation::Replace, Some(value)) => *document = value,
                _ => return Err(WRONG_PATH),
            }
            continue;
        };
        let mut place = &mut *document;
        for leg in legs {
            place = match (leg, place) {
                (Leg::Member(key), Json::Object(members)) => {
                    &mut members.iter_mut().find(|(name, _)| *name == key).ok_or(WRONG_PATH)?.1
                }
                (Leg::Element(at), Json::Array(values)) => values.get_mut(at).ok_or(WRONG_PATH)?,
                _ => return Err(WRONG_PATH),
            };
        }
        change(place, last, diff.operation, diff.value)?;
    }
    Ok(())
}

fn change<'a>(
    place: &mut Json<'a>,
    leg: Leg<'a>,
    operation: Operation,
    value: Option<Json<'a>>,
) -> Result<(), Malformed> {
    match (place, leg, operation, value) {
        (Json::Object(members), Leg::Member(key), operation, value) => {
            // Sorted by length first, then by bytes.
            let found =
                members.binary_search_by(|(name, _)| name.len().cmp(&key.len()).then_with(|| name.as_ref().cmp(&key)));
            match (found, operation, value) {
                (Ok(at), Operation::Replace, Some(value)) => members[at].1 = value,
                (Ok(at), Operation::Remove, _) => drop(members.remove(at)),
                (Err(at), Operation::Insert, Some(value)) => members.insert(at, (key, value)),
                _ => return Err(WRONG_PATH),
            }
        }
        (Json::Array(values), Leg::Element(at), Operation::Replace, Some(value)) => {
            *values.get_mut(at).ok_or(WRONG_PATH)? = value;
        }
        (Json::Array(values), Leg::Element(at), Operation::Remove, _) if at < values.len() => drop(values.remove(at)),
        // Beyond the end is at the end, as in JSON_ARRAY_INSERT.
        (Json::Array(values), Leg::Element(at), Operation::Insert, Some(value)) => {
            values.insert(at.min(values.len()), value);
        }
        _ => return Err(WRONG_PATH),
    }
    Ok(())
}

/// `$`, then `.name`, `."quoted name"` or `[number]` each.
fn parse_path(path: &str) -> Result<Vec<Leg<'_>>, Malformed> {
    let mut rest = path.strip_prefix('$').ok_or(WRONG_PATH)?;
    let mut legs = Vec::new();
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix('[') {
            let (number, after) = after.split_once(']').ok_or(WRONG_PATH)?;
            legs.push(Leg::Element(number.parse().map_err(|_| WRONG_PATH)?));
            rest = after;
        } else if let Some(after) = rest.strip_prefix(".\"") {
            let (key, after) = quoted(after)?;
            legs.push(Leg::Member(key));
            rest = after;
        } else {
            let after = rest.strip_prefix('.').ok_or(WRONG_PATH)?;
            let end = after.find(['.', '[']).unwrap_or(after.len());
            if end == 0 {
                return Err(WRONG_PATH);
            }
            legs.push(Leg::Member(Cow::Borrowed(&after.as_bytes()[..end])));
            rest = &after[end..];
        }
    }
    Ok(legs)
}

/// The text up to a quotation mark, without JSON's escapes, and what follows the mark.
fn quoted(text: &str) -> Result<(Cow<'_, [u8]>, &str), Malformed> {
    let end = text.find(['"', '\\']).ok_or(WRONG_PATH)?;
    if text.as_bytes()[end] == b'"' {
        return Ok((Cow::Borrowed(&text.as_bytes()[..end]), &text[end + 1..]));
    }
    let mut key = String::from(&text[..end]);
    let mut letters = text[end..].char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return Ok((Cow::Owned(key.into_bytes()), &text[end + at + 1..])),
            '\\' => key.push(match letters.next().ok_or(WRONG_PATH)?.1 {
                'b' => '\u{8}',
                'f' => '\u{c}',
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                // Only control characters are spelled so: no surrogates.
                'u' => {
                    let code = (0..4).try_fold(0, |code, _| Some(code << 4 | letters.next()?.1.to_digit(16)?));
                    code.and_then(char::from_u32).ok_or(WRONG_PATH)?
                }
                other => other,
            }),
            other => key.push(other),
        }
    }
    Err(WRONG_PATH)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Json<'static> {
        let key = |name: &'static str| Cow::Borrowed(name.as_bytes());
        let list = Json::Array(vec![Json::Int(1), Json::Int(2)]);
        Json::Object(vec![(key("a"), Json::Int(1)), (key("x y"), list), (key("long"), Json::Null)])
    }

    fn applied(operation: Operation, path: &'static str, value: Option<Json<'static>>) -> Result<String, Malformed> {
        let mut document = sample();
        apply(&mut document, vec![JsonDiff { operation, path, value }])?;
        document.text()
    }

    #[test]
    fn changes_land_at_their_path() {
        let nine = || Some(Json::Int(9));
        for (operation, path, value, text) in [
            (Operation::Replace, "$.a", nine(), r#"{"a": 9, "x y": [1, 2], "long": null}"#),
            (Operation::Replace, "$.\"x y\"[1]", nine(), r#"{"a": 1, "x y": [1, 9], "long": null}"#),
            (Operation::Insert, "$.\"x y\"[1]", nine(), r#"{"a": 1, "x y": [1, 9, 2], "long": null}"#),
            (Operation::Insert, "$.bb", nine(), r#"{"a": 1, "bb": 9, "x y": [1, 2], "long": null}"#),
            (Operation::Insert, "$.\"q\\\"\\u0041\"", nine(), r#"{"a": 1, "q\"A": 9, "x y": [1, 2], "long": null}"#),
            (Operation::Remove, "$.long", None, r#"{"a": 1, "x y": [1, 2]}"#),
            (Operation::Remove, "$.\"x y\"[0]", None, r#"{"a": 1, "x y": [2], "long": null}"#),
            (Operation::Replace, "$", nine(), "9"),
        ] {
            assert_eq!(applied(operation, path, value).as_deref(), Ok(text), "{path}");
        }
    }

    #[test]
    fn changes_that_do_not_fit_are_refused() {
        for (operation, path) in [
            (Operation::Replace, "$.b"),
            (Operation::Insert, "$.a"),
            (Operation::Remove, "$[0]"),
            (Operation::Remove, "$.\"x y\"[2]"),
            (Operation::Replace, "$.a.b"),
            (Operation::Remove, "$"),
            (Operation::Remove, "a"),
            (Operation::Remove, "$."),
            (Operation::Remove, "$[x]"),
            (Operation::Remove, "$.\"a"),
        ] {
            let value = (operation != Operation::Remove).then_some(Json::Null);
            assert_eq!(applied(operation, path, value), Err(WRONG_PATH), "{path}");
        }
    }

    #[test]
    fn a_cell_is_read_to_its_end() {
        let cell = b"\x00\x03$.a\x03\x05\x07\x00\x02\x03$.b";
        let diffs = decode(cell).unwrap();
        assert_eq!((diffs.len(), diffs[0].value.clone(), diffs[1].path), (2, Some(Json::Int(7)), "$.b"));
        for cut in [1, 4, 6, 7, 10, 12] {
            assert!(decode(&cell[..cut]).is_err(), "{cut}");
        }
    }
}
