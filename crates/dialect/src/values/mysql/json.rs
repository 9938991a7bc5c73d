//! Documents as MySQL reads, prints and compares them.
//!
//! A document lies as its text in MySQL's normal form: members of an object by the length of their keys and then by
//! bytes, the last of equal keys, one blank behind a colon and a comma, numbers in one spelling. What a client writes with a
//! fraction is a double; a number that lies with other digits than its double prints is a decimal.
//!
//! Source: MySQL 9.7 Reference Manual, 13.5 "The JSON Data Type": "Normalization, Merging, and Autowrapping of JSON
//! Values", "Comparison and Ordering of JSON Values".

use std::borrow::Cow;

use serde_json::{Map, Number, Value as Json};

use super::numbers;
use crate::{Condition, Error, Result, work};

/// How deep a document may be.
const DEPTH: usize = 100;

/// Why a text is no document.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Refused {
    /// What is wrong, and at which byte.
    Text(&'static str, usize),
    /// It is deeper than a document may be.
    Depth,
}

impl Refused {
    /// The error for a value that is stored; which column it is for is told with it later.
    pub fn stored(&self) -> Error {
        match self {
            Self::Text(what, at) => not_stored(what, *at),
            Self::Depth => too_deep(),
        }
    }

    /// The error for an argument of a function, counted from 1.
    pub fn argument(&self, number: usize, function: &str) -> Error {
        match self {
            Self::Text(what, at) => {
                let message = format!(
                    "Invalid JSON text in argument {number} to function {function}: \"{what}\" at position {at}."
                );
                Error::new(Condition::InvalidTextRepresentation, message).with_mysql(3141, "22032")
            }
            Self::Depth => too_deep(),
        }
    }
}

/// The error for a value that is stored in a column of documents and is none.
pub fn not_stored(what: &str, at: usize) -> Error {
    let message = format!("Invalid JSON text: \"{what}\" at position {at}");
    Error::new(Condition::InvalidTextRepresentation, message).with_mysql(3140, "22032")
}

fn too_deep() -> Error {
    let message = "The JSON document exceeds the maximum depth.";
    Error::new(Condition::InvalidTextRepresentation, message).with_mysql(3157, "22032")
}

/// A text that a client has written as a document.
///
/// # Errors
/// Where it is none.
pub fn read(text: &str) -> std::result::Result<Json, Refused> {
    Reader { text, at: 0, is_kept: false }.document()
}

/// A document that lies somewhere: in a column, or as another function's value.
///
/// # Errors
/// Where it is none.
pub fn kept(text: &str) -> std::result::Result<Json, Refused> {
    Reader { text, at: 0, is_kept: true }.document()
}

/// A text as the document that it is stored as.
///
/// # Errors
/// Where it is none.
pub fn normal(text: &str) -> std::result::Result<String, Refused> {
    let document = read(text)?;
    let mut out = String::with_capacity(text.len());
    push(&document, &mut out);
    Ok(out)
}

/// A document that lies somewhere, in its normal form; what is none stays what it is.
pub fn shown(lying: &[u8]) -> Cow<'_, [u8]> {
    if is_normal(lying) {
        return Cow::Borrowed(lying);
    }
    match std::str::from_utf8(lying).ok().and_then(|text| kept(text).ok()) {
        Some(document) => {
            let mut out = String::with_capacity(lying.len());
            push(&document, &mut out);
            Cow::Owned(out.into_bytes())
        }
        None => Cow::Borrowed(lying),
    }
}

/// Appends a document in its normal form.
///
/// # Errors
/// When the text would be too long.
pub fn write(document: &Json, out: &mut String) -> Result<()> {
    match document {
        Json::Array(members) => {
            out.push('[');
            for (at, member) in members.iter().enumerate() {
                out.push_str(if at > 0 { ", " } else { "" });
                write(member, out)?;
            }
            out.push(']');
        }
        Json::Object(members) => {
            out.push('{');
            for (at, (key, member)) in ordered(members).into_iter().enumerate() {
                out.push_str(if at > 0 { ", " } else { "" });
                work::append_text(out, &Json::from(key.as_str()).to_string())?;
                out.push_str(": ");
                write(member, out)?;
            }
            out.push('}');
        }
        Json::Number(number) => out.push_str(&number_text(number)),
        other => work::append_text(out, &other.to_string())?,
    }
    Ok(())
}

/// The same of what is no longer than a text that is there.
fn push(document: &Json, out: &mut String) {
    match document {
        Json::Array(members) => {
            out.push('[');
            for (at, member) in members.iter().enumerate() {
                out.push_str(if at > 0 { ", " } else { "" });
                push(member, out);
            }
            out.push(']');
        }
        Json::Object(members) => {
            out.push('{');
            for (at, (key, member)) in ordered(members).into_iter().enumerate() {
                out.push_str(if at > 0 { ", " } else { "" });
                out.push_str(&Json::from(key.as_str()).to_string());
                out.push_str(": ");
                push(member, out);
            }
            out.push('}');
        }
        Json::Number(number) => out.push_str(&number_text(number)),
        other => out.push_str(&other.to_string()),
    }
}

/// A number as MySQL prints it: its exponent has no `+`.
pub fn number_text(number: &Number) -> String {
    number.to_string().replace('+', "")
}

/// The members of an object in their order.
pub fn ordered(members: &Map<String, Json>) -> Vec<(&String, &Json)> {
    let mut all: Vec<_> = members.iter().collect();
    all.sort_by(|(a, _), (b, _)| (a.len(), a.as_bytes()).cmp(&(b.len(), b.as_bytes())));
    all
}

/// A double as a member of a document.
pub fn double(value: f64) -> Json {
    number(&double_digits(value))
}

/// A decimal, or a whole number, as a member of a document.
pub fn number(digits: &str) -> Json {
    digits.parse::<Number>().map_or(Json::Null, Json::Number)
}

fn double_digits(value: f64) -> String {
    let digits = numbers::double_text(value);
    if digits.contains(['.', 'e']) { digits } else { format!("{digits}.0") }
}

/// What kind of a number of a document this is, as JSON_TYPE tells it.
pub fn number_type(number: &Number) -> &'static str {
    if number.is_i64() {
        return "INTEGER";
    }
    if number.is_u64() {
        return "UNSIGNED INTEGER";
    }
    let written = number_text(number);
    let is_double = written.contains(['e', 'E'])
        || written.contains('.') && written.parse::<f64>().is_ok_and(|value| double_digits(value) == written);
    if is_double { "DOUBLE" } else { "DECIMAL" }
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    is_kept: bool,
}

type Read<T> = std::result::Result<T, Refused>;

impl<'t> Reader<'t> {
    fn document(mut self) -> Read<Json> {
        self.blanks();
        if self.peek().is_none() {
            return Err(Refused::Text("The document is empty.", self.at));
        }
        let document = self.value(0)?;
        self.blanks();
        match self.peek() {
            None => Ok(document),
            Some(_) => self.fail("The document root must not be followed by other values."),
        }
    }

    fn fail<T>(&self, what: &'static str) -> Read<T> {
        Err(Refused::Text(what, self.at))
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn takes(&mut self, byte: u8) -> bool {
        let there = self.peek() == Some(byte);
        self.at += usize::from(there);
        there
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn value(&mut self, depth: usize) -> Read<Json> {
        if depth >= DEPTH {
            return Err(Refused::Depth);
        }
        match self.peek() {
            Some(b'n') => self.word("null", Json::Null),
            Some(b't') => self.word("true", Json::Bool(true)),
            Some(b'f') => self.word("false", Json::Bool(false)),
            Some(b'"') => self.string().map(Json::String),
            Some(b'[') => self.array(depth),
            Some(b'{') => self.object(depth),
            _ => self.number(),
        }
    }

    fn word(&mut self, word: &str, value: Json) -> Read<Json> {
        for byte in word.bytes() {
            if !self.takes(byte) {
                return self.fail("Invalid value.");
            }
        }
        Ok(value)
    }

    fn array(&mut self, depth: usize) -> Read<Json> {
        self.at += 1;
        let mut members = Vec::new();
        self.blanks();
        if self.takes(b']') {
            return Ok(Json::Array(members));
        }
        loop {
            members.push(self.value(depth + 1)?);
            self.blanks();
            if self.takes(b',') {
                self.blanks();
            } else if self.takes(b']') {
                return Ok(Json::Array(members));
            } else {
                return self.fail("Missing a comma or ']' after an array element.");
            }
        }
    }

    fn object(&mut self, depth: usize) -> Read<Json> {
        self.at += 1;
        let mut members = Map::new();
        self.blanks();
        if self.takes(b'}') {
            return Ok(Json::Object(members));
        }
        loop {
            if self.peek() != Some(b'"') {
                return self.fail("Missing a name for object member.");
            }
            let key = self.string()?;
            self.blanks();
            if !self.takes(b':') {
                return self.fail("Missing a colon after a name of object member.");
            }
            self.blanks();
            let value = self.value(depth + 1)?;
            members.insert(key, value);
            self.blanks();
            if self.takes(b',') {
                self.blanks();
            } else if self.takes(b'}') {
                return Ok(Json::Object(members));
            } else {
                return self.fail("Missing a comma or '}' after an object member.");
            }
        }
    }

    fn string(&mut self) -> Read<String> {
        self.at += 1;
        let mut out = String::new();
        loop {
            let rest = &self.text[self.at..];
            let plain = rest.bytes().position(|byte| byte < b' ' || matches!(byte, b'"' | b'\\'));
            let plain = plain.unwrap_or(rest.len());
            out.push_str(&rest[..plain]);
            self.at += plain;
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(out);
                }
                Some(b'\\') => {
                    let letter = self.escape()?;
                    out.push(letter);
                }
                Some(0) | None => return self.fail("Missing a closing quotation mark in string."),
                Some(_) => return self.fail("Invalid encoding in string."),
            }
        }
    }

    fn escape(&mut self) -> Read<char> {
        let start = self.at;
        let failed = |what| Err(Refused::Text(what, start));
        self.at += 1;
        let Some(sign) = self.peek() else { return failed("Invalid escape character in string.") };
        self.at += 1;
        Ok(match sign {
            b'"' | b'\\' | b'/' => char::from(sign),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                const WRONG: &str = "Incorrect hex digit after \\u escape in string.";
                const HALF: &str = "The surrogate pair in string is invalid.";
                let Some(first) = self.hex() else { return failed(WRONG) };
                let code = match first {
                    0xd800..=0xdbff => {
                        if !(self.takes(b'\\') && self.takes(b'u')) {
                            return failed(HALF);
                        }
                        match self.hex() {
                            Some(second @ 0xdc00..=0xdfff) => 0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00),
                            Some(_) => return failed(HALF),
                            None => return failed(WRONG),
                        }
                    }
                    code => code,
                };
                match char::from_u32(code) {
                    Some(letter) => letter,
                    None => return failed(HALF),
                }
            }
            _ => return failed("Invalid escape character in string."),
        })
    }

    fn hex(&mut self) -> Option<u32> {
        let digits = self.text.as_bytes().get(self.at..self.at + 4)?;
        let mut code = 0;
        for digit in digits {
            code = code << 4 | char::from(*digit).to_digit(16)?;
        }
        self.at += 4;
        Some(code)
    }

    fn digits(&mut self) -> usize {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        self.at - start
    }

    fn number(&mut self) -> Read<Json> {
        let start = self.at;
        self.takes(b'-');
        if !self.takes(b'0') && self.digits() == 0 {
            return self.fail("Invalid value.");
        }
        let mut is_whole = true;
        if self.takes(b'.') {
            is_whole = false;
            if self.digits() == 0 {
                return self.fail("Miss fraction part in number.");
            }
        }
        let mut has_exponent = false;
        if self.takes(b'e') || self.takes(b'E') {
            has_exponent = true;
            if !self.takes(b'-') {
                self.takes(b'+');
            }
            if self.digits() == 0 {
                return self.fail("Miss exponent in number.");
            }
        }
        let written = &self.text[start..self.at];
        if is_whole && !has_exponent {
            if let Ok(value) = written.parse::<i64>() {
                return Ok(Json::from(value));
            }
            if let Ok(value) = written.parse::<u64>() {
                return Ok(Json::from(value));
            }
        }
        // A decimal.
        if self.is_kept && !has_exponent {
            return Ok(number(written));
        }
        match written.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(double(value)),
            _ => Err(Refused::Text("Number too big to be stored in double.", start)),
        }
    }
}

/// True for a text that is a document's normal form; false, too, where that would take long to find out.
fn is_normal(text: &[u8]) -> bool {
    let mut scan = Scan { text, at: 0 };
    scan.value(0) && scan.at == text.len()
}

struct Scan<'t> {
    text: &'t [u8],
    at: usize,
}

impl<'t> Scan<'t> {
    fn takes(&mut self, wanted: &[u8]) -> bool {
        let there = self.text[self.at..].starts_with(wanted);
        self.at += if there { wanted.len() } else { 0 };
        there
    }

    fn value(&mut self, depth: usize) -> bool {
        match self.text.get(self.at) {
            _ if depth >= DEPTH => false,
            Some(b'n') => self.takes(b"null"),
            Some(b't') => self.takes(b"true"),
            Some(b'f') => self.takes(b"false"),
            Some(b'"') => self.string().is_some(),
            Some(b'[') => {
                self.at += 1;
                if self.takes(b"]") {
                    return true;
                }
                loop {
                    if !self.value(depth + 1) {
                        return false;
                    }
                    if self.takes(b"]") {
                        return true;
                    }
                    if !self.takes(b", ") {
                        return false;
                    }
                }
            }
            Some(b'{') => {
                self.at += 1;
                if self.takes(b"}") {
                    return true;
                }
                let mut before: Option<&[u8]> = None;
                loop {
                    let Some(key) = self.string() else { return false };
                    let follows = before.is_none_or(|before| (before.len(), before) < (key.len(), key));
                    // The length of a key is that of what its signs mean.
                    if !follows || key.contains(&b'\\') || !self.takes(b": ") || !self.value(depth + 1) {
                        return false;
                    }
                    before = Some(key);
                    if self.takes(b"}") {
                        return true;
                    }
                    if !self.takes(b", ") {
                        return false;
                    }
                }
            }
            _ => self.number(),
        }
    }

    fn string(&mut self) -> Option<&'t [u8]> {
        if !self.takes(b"\"") {
            return None;
        }
        let start = self.at;
        loop {
            match *self.text.get(self.at)? {
                b'"' => {
                    self.at += 1;
                    return self.text.get(start..self.at - 1);
                }
                b'\\' => match *self.text.get(self.at + 1)? {
                    b'"' | b'\\' | b'b' | b'f' | b'n' | b'r' | b't' => self.at += 2,
                    // Signs without a letter of their own; whoever writes one does so rarely.
                    _ => return None,
                },
                ..b' ' => return None,
                _ => self.at += 1,
            }
        }
    }

    fn number(&mut self) -> bool {
        let start = self.at;
        while matches!(self.text.get(self.at), Some(b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E')) {
            self.at += 1;
        }
        let written = &self.text[start..self.at];
        let digits = written.strip_prefix(b"-").unwrap_or(written);
        let is_short = (1..=18).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit);
        if is_short {
            return digits[0] != b'0' || written == b"0";
        }
        let Ok(written) = std::str::from_utf8(written) else { return false };
        matches!(kept(written), Ok(Json::Number(number)) if number_text(&number) == written)
    }
}

/// Bytes that are ordered as documents are: NULL, numbers, texts, objects, arrays, truths.
///
/// # Errors
/// When the statement is interrupted.
pub fn push_order(json: &Json, out: &mut Vec<u8>) -> Result<()> {
    work::step(1)?;
    // A text ends before a longer one goes on.
    let push_text = |text: &str, out: &mut Vec<u8>| {
        for byte in text.bytes() {
            out.push(byte);
            if byte == 0 {
                out.push(0xff);
            }
        }
        out.extend([0, 0]);
    };
    match json {
        Json::Null => out.push(1),
        Json::Number(number) => {
            out.push(2);
            push_number(&number.to_string(), out);
        }
        Json::String(text) => {
            out.push(3);
            push_text(text, out);
        }
        // The one with fewer members, then by keys and values.
        Json::Object(members) => {
            out.push(4);
            out.extend((members.len() as u64).to_be_bytes());
            for (name, member) in ordered(members) {
                out.extend((name.len() as u64).to_be_bytes());
                push_text(name, out);
                push_order(member, out)?;
            }
        }
        Json::Array(members) => {
            out.push(5);
            members.iter().try_for_each(|member| push_order(member, out))?;
            out.push(0);
        }
        Json::Bool(truth) => out.extend([6, u8::from(*truth)]),
    }
    Ok(())
}

/// Bytes that are ordered as numbers are, exactly: a sign, the place of the first digit, the digits.
fn push_number(written: &str, out: &mut Vec<u8>) {
    let (is_negative, rest) = written.strip_prefix('-').map_or((false, written), |rest| (true, rest));
    let (mantissa, exponent) = rest.split_once(['e', 'E']).unwrap_or((rest, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all: Vec<u8> = whole.bytes().chain(fraction.bytes()).collect();
    let Some(first) = all.iter().position(|digit| *digit != b'0') else { return out.push(1) };
    let last = all.iter().rposition(|digit| *digit != b'0').unwrap_or(first);
    let place = exponent.parse::<i64>().unwrap_or(0) + whole.len() as i64 - first as i64;
    out.push(if is_negative { 0 } else { 2 });
    let start = out.len();
    out.extend((place.cast_unsigned() ^ 1 << 63).to_be_bytes());
    out.extend(&all[first..=last]);
    out.push(0);
    if is_negative {
        out[start..].iter_mut().for_each(|byte| *byte = !*byte);
    }
}

/// The order of two documents that lie somewhere, by their values.
pub fn compare(left: &str, right: &str) -> std::cmp::Ordering {
    if left == right {
        return std::cmp::Ordering::Equal;
    }
    let key = |text: &str| {
        let mut key = Vec::new();
        // Who compares cannot fail: what is no document is ordered by its text.
        match kept(text) {
            Ok(document) => match push_order(&document, &mut key) {
                Ok(()) => key,
                Err(_) => text.as_bytes().to_vec(),
            },
            Err(_) => text.as_bytes().to_vec(),
        }
    };
    key(left).cmp(&key(right))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_has_one_form() {
        let normal = |text: &str| super::normal(text).unwrap();
        assert_eq!(normal(r#"{"bb":1,"a":[1,2.50,1e2],"a":[]}"#), r#"{"a": [], "bb": 1}"#);
        let numbers = "[-0,-0.0,1e-7,123456789012345678901234567890,18446744073709551615,1e15,1e14]";
        let shown = "[0, -0.0, 0.0000001, 1.2345678901234568e29, 18446744073709551615, 1e15, 100000000000000.0]";
        assert_eq!(normal(numbers), shown);
        assert!(is_normal(shown.as_bytes()));
        assert_eq!(normal(r#""\u0001\/\u00e9\ud83d\ude00\n""#), r#""\u0001/é😀\n""#);
        for other in
            ["[1,2]", "[1 ]", "{\"b\": 1, \"a\": 2}", "{\"a\": 1, \"a\": 2}", "1.50e1", "1e+20", "-0", "01", "", "[1, "]
        {
            assert!(!is_normal(other.as_bytes()), "{other}");
        }
        assert!(is_normal(br#"{"a": [1.50, true, null, "x\n"], "bb": {}}"#));
        assert_eq!(shown_text("[1.50,2e0]"), "[1.50, 2.0]");
        assert_eq!(shown_text("no document"), "no document");
    }

    fn shown_text(text: &str) -> String {
        String::from_utf8(shown(text.as_bytes()).into_owned()).unwrap()
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        let refused = |text: &str| match read(text).unwrap_err() {
            Refused::Text(what, at) => (what, at),
            Refused::Depth => ("depth", 0),
        };
        assert_eq!(refused("{\"a\":1,}"), ("Missing a name for object member.", 7));
        assert_eq!(refused("tru"), ("Invalid value.", 3));
        assert_eq!(refused("\"é\" x"), ("The document root must not be followed by other values.", 5));
        assert_eq!(refused("\"a\\ud800\\u0041\""), ("The surrogate pair in string is invalid.", 2));
        assert_eq!(refused("[1e400]"), ("Number too big to be stored in double.", 1));
        assert_eq!(refused(&"[".repeat(101)), ("depth", 0));
        assert!(read(&("[".repeat(100) + &"]".repeat(100))).is_ok());
    }

    #[test]
    fn documents_are_ordered_by_their_values() {
        let order = [
            "null",
            "-1e10",
            "-1.5",
            "-1",
            "0",
            "1e-3",
            "1",
            "1.1",
            "2",
            "9007199254740992.0",
            "9007199254740993",
            "1e20",
            "\"\"",
            "\"a\"",
            "\"aa\"",
            "\"b\"",
            "{}",
            "{\"b\": 1}",
            "{\"b\": 2}",
            "{\"aa\": 1}",
            "{\"a\": 1, \"b\": 0}",
            "[]",
            "[1]",
            "[1, 2]",
            "[2]",
            "false",
            "true",
        ];
        for pair in order.windows(2) {
            assert_eq!(compare(pair[0], pair[1]), std::cmp::Ordering::Less, "{pair:?}");
        }
        for (left, right) in
            [("1", "1.0"), ("1.10", "1.1"), ("-0.0", "0"), ("100", "1e2"), ("{\"a\":1}", "{\"a\": 1.0}")]
        {
            assert_eq!(compare(left, right), std::cmp::Ordering::Equal, "{left} {right}");
        }
    }
}
