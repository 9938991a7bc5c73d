//! `hstore`, of the extension of that name: keys with a text or NULL each.
//!
//! Stored as PostgreSQL prints it, which is one text for one value: keys are in the order of their lengths, then of their
//! bytes, and none is there twice.

use std::cmp::Ordering;
use std::fmt::Write as _;

use super::{Casts, Modifiers, Order, Scalar, as_stored, malformed, stored_text};
use crate::ir::Value;
use crate::types::Storage;
use crate::values::array::Array;
use crate::values::json;
use crate::{Condition, Error, Result, Type};

/// The rows.
pub(super) static ROWS: &[&Scalar] = &[&HSTORE];

/// Keys and values.
pub static HSTORE: Scalar = Scalar {
    name: "hstore",
    words: "hstore",
    oid: 14_001,
    delimiter: ',',
    storage: Storage::Text,
    order: Order::By { collation: "rf_hstore", of_arrays: "rf_array_hstore", compare },
    modifiers: Modifiers::None,
    casts: Casts {
        from: |value, from, _| match (value, from) {
            (Value::Text(stored), Type::Array(element)) if element.is_text() => Some(
                Array::read(stored.as_bytes()).and_then(|array| Ok(Value::Text(Hstore::from_array(&array)?.print()))),
            ),
            _ => None,
        },
        into: |value, to| match (value, to) {
            (Value::Text(stored), Type::Json) => {
                Some(Hstore::parse(stored).map(|pairs| Value::Text(pairs.to_json(false))))
            }
            (Value::Text(stored), Type::Jsonb) => {
                Some(Hstore::parse(stored).and_then(|pairs| Ok(Value::Text(json::normalize(&pairs.to_json(false))?))))
            }
            _ => None,
        },
    },
    input: |text, _| Ok(Value::Text(Hstore::parse(text)?.print())),
    output: as_stored,
    receive: |bytes| Ok(Value::Text(Hstore::receive(bytes)?.print())),
    send: |out, value| {
        Hstore::parse(stored_text(value)?)?.send(out);
        Ok(())
    },
};

/// The longest key or value, in bytes.
const LONGEST: usize = 0x3fff_ffff;

/// A key, and its value or NULL.
pub type Pair = (String, Option<String>);

/// A value taken apart: its pairs in their order.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Hstore(Vec<Pair>);

impl Hstore {
    /// These pairs, in any order; of several with one key the first counts.
    pub fn new(mut pairs: Vec<Pair>) -> Self {
        pairs.sort_by(|a, b| key_order(&a.0, &b.0));
        pairs.dedup_by(|later, first| later.0 == first.0);
        Self(pairs)
    }

    /// The pairs in their order.
    pub fn pairs(&self) -> &[Pair] {
        &self.0
    }

    /// The pairs, to be owned.
    pub fn into_pairs(self) -> Vec<Pair> {
        self.0
    }

    /// The pair with a key: `None` without one, `Some(None)` where the value is NULL.
    pub fn get(&self, key: &str) -> Option<Option<&str>> {
        let at = self.0.binary_search_by(|pair| key_order(&pair.0, key)).ok()?;
        Some(self.0[at].1.as_deref())
    }

    /// Reads a text: what users write, or what is stored.
    ///
    /// # Errors
    /// `XX000` in PostgreSQL's words, `22001` for a key or value that is too long.
    pub fn parse(text: &str) -> Result<Self> {
        let mut reader = Reader { text, at: 0 };
        let mut pairs = Vec::new();
        while let Some((key, _)) = reader.word(false)? {
            check_length(&key, "key")?;
            reader.expect('=', true)?;
            reader.expect('>', false)?;
            let Some((value, quoted)) = reader.word(true)? else { return Err(unexpected_end()) };
            check_length(&value, "value")?;
            let is_null = !quoted && value.eq_ignore_ascii_case("null");
            pairs.push((key, (!is_null).then_some(value)));
            match reader.next_visible() {
                None => break,
                Some(',') => {}
                Some(other) => return Err(reader.near(other)),
            }
        }
        Ok(Self::new(pairs))
    }

    /// The text of it.
    pub fn print(&self) -> String {
        let mut out = String::new();
        for (at, (key, value)) in self.0.iter().enumerate() {
            if at > 0 {
                out.push_str(", ");
            }
            push_quoted(&mut out, key);
            out.push_str("=>");
            match value {
                Some(value) => push_quoted(&mut out, value),
                None => out.push_str("NULL"),
            }
        }
        out
    }

    /// From an array: keys and values in turn, or in rows of two.
    ///
    /// # Errors
    /// `2202E` for other arrays, `22004` for a key that is NULL.
    pub fn from_array(array: &Array) -> Result<Self> {
        let wrong = |message: &str| Err(Error::new(Condition::ArraySubscriptError, message));
        match array.dimensions.as_slice() {
            [] => {}
            [one] if one.length % 2 != 0 => return wrong("array must have even number of elements"),
            [_] => {}
            [_, columns] if columns.length != 2 => return wrong("array must have two columns"),
            [_, _] => {}
            _ => return wrong("wrong number of array subscripts"),
        }
        let text = |json: &serde_json::Value| json.as_str().map(str::to_owned);
        let pair = |two: &[serde_json::Value]| Ok((text(&two[0]).ok_or_else(null_key)?, text(&two[1])));
        Ok(Self::new(array.members.chunks_exact(2).map(pair).collect::<Result<_>>()?))
    }

    /// As JSON: all values texts, or numbers and booleans where they look like it.
    pub fn to_json(&self, loose: bool) -> String {
        let mut out = String::from("{");
        for (at, (key, value)) in self.0.iter().enumerate() {
            let quoted = |text: &str| serde_json::Value::from(text).to_string();
            let value = match value.as_deref() {
                None => "null".to_owned(),
                Some("t") if loose => "true".to_owned(),
                Some("f") if loose => "false".to_owned(),
                Some(value) if loose && is_json_number(value) => value.to_owned(),
                Some(value) => quoted(value),
            };
            let comma = if at > 0 { ", " } else { "" };
            let _ = write!(out, "{comma}{}: {value}", quoted(key));
        }
        out.push('}');
        out
    }

    fn receive(bytes: &[u8]) -> Result<Self> {
        let mut rest = bytes;
        let mut word = || -> Result<i32> {
            let (word, after) = rest.split_first_chunk::<4>().ok_or_else(|| malformed("hstore"))?;
            rest = after;
            Ok(i32::from_be_bytes(*word))
        };
        let count = word()?;
        // Each pair has two lengths at least.
        let most = (bytes.len() - 4) / 8;
        let count = usize::try_from(count).ok().filter(|count| *count <= most).ok_or_else(|| malformed("hstore"))?;
        let mut pairs = Vec::with_capacity(count);
        for _ in 0..count {
            let key = take_text(&mut rest)?.ok_or_else(null_key)?;
            check_length(&key, "key")?;
            let value = take_text(&mut rest)?;
            pairs.push((key, value));
        }
        if rest.is_empty() { Ok(Self::new(pairs)) } else { Err(malformed("hstore")) }
    }

    fn send(&self, out: &mut Vec<u8>) {
        let text = |out: &mut Vec<u8>, text: &str| {
            out.extend_from_slice(&(text.len() as i32).to_be_bytes());
            out.extend_from_slice(text.as_bytes());
        };
        out.extend_from_slice(&(self.0.len() as i32).to_be_bytes());
        for (key, value) in &self.0 {
            text(out, key);
            match value {
                Some(value) => text(out, value),
                None => out.extend_from_slice(&(-1_i32).to_be_bytes()),
            }
        }
    }
}

/// The error for a key that is NULL.
pub fn null_key() -> Error {
    Error::new(Condition::NullValueNotAllowed, "null value not allowed for hstore key")
}

fn check_length(text: &str, what: &str) -> Result<()> {
    if text.len() > LONGEST {
        let message = format!("string too long for hstore {what}");
        return Err(Error::new(Condition::StringDataRightTruncation, message));
    }
    Ok(())
}

/// A length and so many bytes of text; `None` for a negative length.
fn take_text(rest: &mut &[u8]) -> Result<Option<String>> {
    let (length, after) = rest.split_first_chunk::<4>().ok_or_else(|| malformed("hstore"))?;
    *rest = after;
    let Ok(length) = usize::try_from(i32::from_be_bytes(*length)) else { return Ok(None) };
    let (text, after) = rest.split_at_checked(length).ok_or_else(|| malformed("hstore"))?;
    *rest = after;
    match std::str::from_utf8(text) {
        Ok(text) if !text.contains('\0') => Ok(Some(text.to_owned())),
        _ => Err(Error::new(Condition::CharacterNotInRepertoire, "invalid byte sequence for encoding \"UTF8\"")),
    }
}

/// Shorter keys come first.
fn key_order(left: &str, right: &str) -> Ordering {
    left.len().cmp(&right.len()).then_with(|| left.as_bytes().cmp(right.as_bytes()))
}

fn push_quoted(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        if matches!(c, '"' | '\\') {
            out.push('\\');
        }
        out.push(c);
    }
    out.push('"');
}

/// A number in JSON's grammar.
fn is_json_number(text: &str) -> bool {
    text.as_bytes().first().is_some_and(|first| first.is_ascii_digit() || *first == b'-')
        && !text.ends_with(char::is_whitespace)
        && serde_json::from_str::<serde_json::Number>(text).is_ok()
}

/// Takes a text apart.
struct Reader<'a> {
    text: &'a str,
    at: usize,
}

/// What separates words: as PostgreSQL's scanner has it.
const fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r' | '\x0c')
}

impl Reader<'_> {
    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    /// The next character that is no space.
    fn next_visible(&mut self) -> Option<char> {
        loop {
            match self.next() {
                Some(c) if is_space(c) => {}
                other => return other,
            }
        }
    }

    fn expect(&mut self, wanted: char, after_spaces: bool) -> Result<()> {
        match if after_spaces { self.next_visible() } else { self.next() } {
            Some(c) if c == wanted => Ok(()),
            Some(c) => Err(self.near(c)),
            None => Err(unexpected_end()),
        }
    }

    /// The error for a character that has just been read.
    fn near(&self, c: char) -> Error {
        let place = self.at - c.len_utf8();
        Error::new(Condition::InternalError, format!("Syntax error near \"{c}\" at position {place}"))
    }

    /// A key, or a value, which may have `=` inside; and whether it began with a quote. `None` at the end.
    fn word(&mut self, is_value: bool) -> Result<Option<(String, bool)>> {
        let mut word = String::new();
        match self.next_visible() {
            None => return Ok(None),
            Some('"') => loop {
                match self.next() {
                    None => return Err(unexpected_end()),
                    Some('"') => return Ok(Some((word, true))),
                    Some('\\') => word.push(self.next().ok_or_else(unexpected_end)?),
                    Some(c) => word.push(c),
                }
            },
            Some(c @ '=') if !is_value => return Err(self.near(c)),
            Some('\\') => word.push(self.next().ok_or_else(unexpected_end)?),
            Some(c) => word.push(c),
        }
        loop {
            match self.peek() {
                None => break,
                Some(c) if is_space(c) => break,
                Some('=') if !is_value => break,
                Some(',') if is_value => break,
                Some('\\') => {
                    self.next();
                    word.push(self.next().ok_or_else(unexpected_end)?);
                }
                Some(c) => {
                    self.next();
                    word.push(c);
                }
            }
        }
        Ok(Some((word, false)))
    }
}

fn unexpected_end() -> Error {
    Error::new(Condition::InternalError, "Unexpected end of string")
}

/// The order of two stored values, as PostgreSQL has it: by all their keys and values run together, then by their parts.
pub fn compare(left: &str, right: &str) -> Ordering {
    if left == right {
        return Ordering::Equal;
    }
    let (Ok(left), Ok(right)) = (Hstore::parse(left), Hstore::parse(right)) else { return left.cmp(right) };
    let together = |pairs: &Hstore| -> Vec<u8> {
        let texts = pairs.0.iter().flat_map(|(key, value)| [key.as_str(), value.as_deref().unwrap_or_default()]);
        texts.flat_map(str::bytes).collect()
    };
    if left.0.is_empty() || right.0.is_empty() {
        return left.0.len().cmp(&right.0.len());
    }
    let (all_left, all_right) = (together(&left), together(&right));
    let common = all_left.len().min(all_right.len());
    let order = all_left[..common].cmp(&all_right[..common]);
    let order = order.then(all_left.len().cmp(&all_right.len())).then(left.0.len().cmp(&right.0.len()));
    order.then_with(|| {
        let parts = |pairs: &Hstore| -> Vec<(usize, bool)> {
            let mut end = 0;
            let part = |text: Option<&str>, end: &mut usize| {
                *end += text.map_or(0, str::len);
                (*end, text.is_none())
            };
            let pairs = pairs.0.iter();
            pairs.flat_map(|(key, value)| [part(Some(key), &mut end), part(value.as_deref(), &mut end)]).collect()
        };
        parts(&left).cmp(&parts(&right))
    })
}

#[cfg(test)]
mod tests {
    use super::super::round_trip::{ascends, check, refuses};
    use super::*;

    /// What PostgreSQL 15 reads and prints.
    #[test]
    fn values_are_read_and_printed_as_postgresql_does() {
        check(
            &HSTORE,
            &[
                ("", ""),
                ("a=>b", "\"a\"=>\"b\""),
                (" a=>b , c=>NuLl", "\"a\"=>\"b\", \"c\"=>NULL"),
                ("\"a\"=>\"NULL\"", "\"a\"=>\"NULL\""),
                ("aa=>1, b=>2, a=>3, aa=>4", "\"a\"=>\"3\", \"b\"=>\"2\", \"aa\"=>\"1\""),
                ("\\=a=>q=w", "\"=a\"=>\"q=w\""),
                ("\"=a\"=>q\\=w", "\"=a\"=>\"q=w\""),
                ("\\\"a=>q>w", "\"\\\"a\"=>\"q>w\""),
                ("a=>\"\", \"\"=>x", "\"\"=>\"x\", \"a\"=>\"\""),
                ("aa=>b c=>d", "\"aa\"=>\"b\""),
            ][..9],
        );
        assert!(Hstore::parse("").unwrap().pairs().is_empty());
    }

    #[test]
    fn what_is_no_hstore_is_refused() {
        refuses(
            &HSTORE,
            &[
                ("=a=>b", "Syntax error near \"=\" at position 0"),
                ("a=b", "Syntax error near \"b\" at position 2"),
                ("a", "Unexpected end of string"),
                ("a=>", "Unexpected end of string"),
                ("a=>b c=>d", "Syntax error near \"c\" at position 5"),
                ("a=>\"b", "Unexpected end of string"),
                ("a=>b\\", "Unexpected end of string"),
            ],
        );
    }

    #[test]
    fn pairs_are_found_compared_and_shown_as_json() {
        let pairs = Hstore::parse("a=>1, bb=>NULL, c=>t, d=>01").unwrap();
        assert_eq!((pairs.get("a"), pairs.get("bb"), pairs.get("b")), (Some(Some("1")), Some(None), None));
        assert_eq!(pairs.to_json(true), "{\"a\": 1, \"c\": true, \"d\": \"01\", \"bb\": null}");
        assert_eq!(pairs.to_json(false), "{\"a\": \"1\", \"c\": \"t\", \"d\": \"01\", \"bb\": null}");
        ascends(&HSTORE, &["", "a=>\"\"", "a=>NULL", "a=>1", "a=>1, b=>1", "b=>1"]);
    }
}
