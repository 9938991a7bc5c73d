//! Where the meaning of a text's strings and numbers is not the parser's: strings under `standard_conforming_strings =
//! off` and `backslash_quote = off`, and numbers that PostgreSQL takes since version 16 only (`0x1F`, `1_000`).
//!
//! A text whose strings mean something else is spelled anew, `'a\\b'` as `E'a\\b'`, before anything else sees it: what
//! is kept of it (the statements of routines and views, the key of its plan) means the same to everybody then.

use std::ops::Range;
use std::sync::Arc;

use super::parse::{self, Parsed};
use crate::error::Severity;
use crate::{Condition, Error, Result};

/// What a session says of strings.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct StringRules {
    /// `standard_conforming_strings`: a backslash in a plain string is a character like any other.
    pub standard: bool,
    /// `escape_string_warning`: where it is not, plain strings with backslashes are warned of.
    pub warn: bool,
    /// `\'` may stand for a quote where backslashes escape.
    pub backslash_quote: bool,
}

impl StringRules {
    /// What the parser takes for granted.
    pub const STANDARD: Self = Self { standard: true, warn: true, backslash_quote: true };

    /// Nothing about texts needs to be looked at.
    pub fn is_usual(self) -> bool {
        self.standard && self.backslash_quote
    }
}

/// A text whose strings mean to the parser what they mean to the session.
#[derive(Debug)]
pub struct Respelled {
    /// The text.
    pub text: String,
    /// What the session is told of the strings in it.
    pub warnings: Vec<Error>,
    original: String,
    inserted: Arc<[usize]>,
}

/// Spells the strings of a text anew.
///
/// # Errors
/// `0A000` for `U&'…'` where backslashes escape in plain strings, `22P06` for `\'` where that is not taken.
pub fn respell(sql: &str, rules: StringRules) -> Result<Respelled> {
    let mut respelled =
        Respelled { text: String::new(), warnings: Vec::new(), original: sql.to_owned(), inserted: Arc::default() };
    let (mut inserted, mut copied) = (Vec::new(), 0);
    let mut scanner = Scanner { bytes: sql.as_bytes(), at: 0, standard: rules.standard };
    let mut before = Kind::Other;
    while let Some(token) = scanner.next() {
        crate::work::step(token.range.len())?;
        let place = || parse::position_of(sql, token.range.start);
        match token.kind {
            Kind::UnicodeString if !rules.standard => return Err(unicode_string().at(place())),
            Kind::String { quotes: true, .. } if !rules.backslash_quote => return Err(unsafe_quote().at(place())),
            Kind::String { plain: true, first: Some(first), .. } if !rules.standard => {
                if rules.warn {
                    respelled.warnings.push(nonstandard(first).at(place()));
                }
                let start = token.range.start;
                respelled.text.push_str(&sql[copied..start]);
                // `n'…'` is `nchar E'…'`; `name'…'` is a name and a string.
                let inserts = match before {
                    Kind::National => "char E",
                    _ if start > 0 && is_name_part(sql.as_bytes()[start - 1]) => " E",
                    _ => "E",
                };
                inserted.extend((0..inserts.len()).map(|at| respelled.text.len() + at));
                respelled.text.push_str(inserts);
                copied = start;
            }
            _ => {}
        }
        before = token.kind;
    }
    respelled.text.push_str(&sql[copied..]);
    respelled.inserted = inserted.into();
    Ok(respelled)
}

impl Respelled {
    /// Its statements, as [`super::parse`] finds them; places are those of the text as it was.
    ///
    /// # Errors
    /// Those of [`super::parse`].
    pub fn parse(&self, rules: StringRules) -> Result<Vec<Parsed>> {
        // Errors show the text as it was written.
        parse::check(&self.original, rules)?;
        parse::parse_with(&self.text, self.inserted.clone())
    }
}

/// Whether backslashes in its strings would mean something else if the rule for them were another one.
pub fn depends_on_rules(sql: &str) -> bool {
    let mut scanner = Scanner { bytes: sql.as_bytes(), at: 0, standard: false };
    while let Some(token) = scanner.next() {
        if matches!(token.kind, Kind::UnicodeString | Kind::String { plain: true, first: Some(_), .. }) {
            return true;
        }
    }
    false
}

/// Refuses numbers and parameters with letters behind them, as PostgreSQL 15 does. The text has been parsed.
pub(super) fn check_numbers(sql: &str, standard: bool) -> Result<()> {
    if !may_hold_junk(sql.as_bytes()) {
        return Ok(());
    }
    let mut scanner = Scanner { bytes: sql.as_bytes(), at: 0, standard };
    while let Some(token) = scanner.next() {
        let what = match token.kind {
            Kind::Number { junk: true } => "numeric literal",
            Kind::Parameter { junk: true } => "parameter",
            _ => continue,
        };
        let near = &sql[token.range.clone()];
        return Err(trailing_junk(what, near).at(parse::position_of(sql, token.range.start)));
    }
    Ok(())
}

/// A quick look for what may be a number with letters in it: most texts have none outside of strings.
fn may_hold_junk(bytes: &[u8]) -> bool {
    enum Inside {
        Digits,
        Nothing,
        Word,
    }
    let mut inside = Inside::Nothing;
    for byte in bytes {
        inside = match inside {
            Inside::Digits if is_name_start(*byte) => return true,
            Inside::Digits if byte.is_ascii_digit() || *byte == b'.' => Inside::Digits,
            Inside::Word if is_name_part(*byte) => Inside::Word,
            _ if byte.is_ascii_digit() || *byte == b'$' => Inside::Digits,
            _ if is_name_start(*byte) => Inside::Word,
            _ => Inside::Nothing,
        };
    }
    false
}

fn trailing_junk(what: &str, near: &str) -> Error {
    Error::new(Condition::SyntaxError, format!("trailing junk after {what} at or near \"{near}\""))
}

fn unicode_string() -> Error {
    Error::new(Condition::FeatureNotSupported, "unsafe use of string constant with Unicode escapes")
        .detail("String constants with Unicode escapes cannot be used when standard_conforming_strings is off.")
}

fn unsafe_quote() -> Error {
    Error::new(Condition::NonstandardUseOfEscapeCharacter, "unsafe use of \\' in a string literal")
        .hint("Use '' to write quotes in strings. \\' is insecure in client-only encodings.")
}

fn nonstandard(first: u8) -> Error {
    let (message, hint) = match first {
        b'\'' => (
            "nonstandard use of \\' in a string literal",
            "Use '' to write quotes in strings, or use the escape string syntax (E'...').",
        ),
        b'\\' => (
            "nonstandard use of \\\\ in a string literal",
            "Use the escape string syntax for backslashes, e.g., E'\\\\'.",
        ),
        _ => (
            "nonstandard use of escape in a string literal",
            "Use the escape string syntax for escapes, e.g., E'\\r\\n'.",
        ),
    };
    Error::new(Condition::NonstandardUseOfEscapeCharacter, message).hint(hint).with_severity(Severity::Warning)
}

/// What a token is, as far as it matters here.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Kind {
    /// A string; `plain` without E in front, `first` the character behind its first backslash where those escape,
    /// `quotes` when `\'` is in it.
    String { plain: bool, first: Option<u8>, quotes: bool },
    /// The letter of `n'…'`.
    National,
    /// `U&'…'`
    UnicodeString,
    /// A number; `junk` with letters behind it.
    Number { junk: bool },
    /// `$1`
    Parameter { junk: bool },
    /// Anything else.
    Other,
}

#[derive(Debug)]
pub(super) struct Token {
    pub(super) kind: Kind,
    /// Its bytes.
    pub(super) range: Range<usize>,
}

/// Walks over the tokens of a text. What does not end, ends with the text: the parser says that it does not.
pub(super) struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
    standard: bool,
}

impl<'a> Scanner<'a> {
    /// For a text whose strings are standard ones.
    pub(super) fn standard(sql: &'a str) -> Self {
        Self { bytes: sql.as_bytes(), at: 0, standard: true }
    }

    fn peek(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    pub(super) fn next(&mut self) -> Option<Token> {
        self.skip_blanks();
        if self.at >= self.bytes.len() {
            return None;
        }
        let start = self.at;
        let kind = self.kind();
        self.at = self.at.min(self.bytes.len());
        Some(Token { kind, range: start..self.at })
    }

    fn kind(&mut self) -> Kind {
        match (self.peek(0), self.peek(1), self.peek(2)) {
            (b'\'', ..) => self.string(true, !self.standard),
            // What follows is a plain string; this says its type.
            (b'n' | b'N', b'\'', _) => {
                self.at += 1;
                Kind::National
            }
            (b'e' | b'E', b'\'', _) => {
                self.at += 1;
                self.string(false, true)
            }
            (b'b' | b'B' | b'x' | b'X', b'\'', _) => {
                self.at += 1;
                self.string(false, false);
                Kind::Other
            }
            (b'u' | b'U', b'&', b'\'') => {
                self.at += 2;
                self.string(false, false);
                Kind::UnicodeString
            }
            (b'u' | b'U', b'&', b'"') => {
                self.at += 2;
                self.quoted_name()
            }
            (b'"', ..) => self.quoted_name(),
            (b'$', digit, _) if digit.is_ascii_digit() => {
                self.at += 1;
                self.skip_while(|byte| byte.is_ascii_digit());
                Kind::Parameter { junk: self.junk() }
            }
            (b'$', ..) => self.dollar_quoted(),
            (byte, ..) if is_name_start(byte) => {
                self.skip_while(is_name_part);
                Kind::Other
            }
            (b'.', b'.', _) => {
                self.at += 2;
                Kind::Other
            }
            (digit, ..) if digit.is_ascii_digit() => self.number(),
            (b'.', digit, _) if digit.is_ascii_digit() => self.number(),
            _ => {
                self.at += 1;
                Kind::Other
            }
        }
    }

    fn skip_while(&mut self, goes_on: impl Fn(u8) -> bool) {
        while self.bytes.get(self.at).is_some_and(|byte| goes_on(*byte)) {
            self.at += 1;
        }
    }

    fn skip_blanks(&mut self) {
        loop {
            match (self.peek(0), self.peek(1)) {
                (b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c, _) => self.at += 1,
                (b'-', b'-') => self.skip_while(|byte| byte != b'\n' && byte != b'\r'),
                (b'/', b'*') => self.at = comment_end(self.bytes, self.at).unwrap_or(self.bytes.len()),
                _ => return,
            }
        }
    }

    /// A string from its quote on, with what continues it on further lines.
    fn string(&mut self, plain: bool, escapes: bool) -> Kind {
        let (mut first, mut quotes) = (None, false);
        self.at += 1;
        while self.at < self.bytes.len() {
            match (self.peek(0), self.peek(1)) {
                (b'\'', b'\'') => self.at += 2,
                (b'\'', _) => {
                    self.at += 1;
                    match self.continued() {
                        Some(quote) => self.at = quote + 1,
                        None => break,
                    }
                }
                (b'\\', escaped) if escapes => {
                    first = first.or(Some(escaped));
                    quotes |= escaped == b'\'';
                    self.at += 2;
                }
                _ => self.at += 1,
            }
        }
        Kind::String { plain, first, quotes }
    }

    /// Where the quote stands that continues a string which has ended: behind nothing but blanks and comments to the
    /// ends of lines, with one end of a line at least.
    fn continued(&self) -> Option<usize> {
        let (mut at, mut newline) = (self.at, false);
        loop {
            match (self.bytes.get(at)?, self.bytes.get(at + 1)) {
                (b'\n' | b'\r', _) => (at, newline) = (at + 1, true),
                (b' ' | b'\t' | 0x0b | 0x0c, _) => at += 1,
                (b'-', Some(b'-')) => {
                    while self.bytes.get(at).is_some_and(|byte| !matches!(byte, b'\n' | b'\r')) {
                        at += 1;
                    }
                }
                (b'\'', _) if newline => return Some(at),
                _ => return None,
            }
        }
    }

    fn quoted_name(&mut self) -> Kind {
        self.at += 1;
        while self.at < self.bytes.len() {
            match (self.peek(0), self.peek(1)) {
                (b'"', b'"') => self.at += 2,
                (b'"', _) => {
                    self.at += 1;
                    break;
                }
                _ => self.at += 1,
            }
        }
        Kind::Other
    }

    fn dollar_quoted(&mut self) -> Kind {
        let start = self.at;
        self.at += 1;
        self.skip_while(|byte| is_name_part(byte) && byte != b'$');
        if self.peek(0) != b'$' {
            self.at = start + 1;
            return Kind::Other;
        }
        self.at += 1;
        let tag = &self.bytes[start..self.at];
        let inner = &self.bytes[self.at..];
        self.at += match inner.windows(tag.len()).position(|window| window == tag) {
            Some(length) => length + tag.len(),
            None => inner.len(),
        };
        Kind::Other
    }

    fn number(&mut self) -> Kind {
        self.skip_while(|byte| byte.is_ascii_digit());
        // `1..5` are two numbers.
        if self.peek(0) == b'.' && self.peek(1) != b'.' {
            self.at += 1;
            self.skip_while(|byte| byte.is_ascii_digit());
        }
        let exponent = match (self.peek(0), self.peek(1), self.peek(2)) {
            (b'e' | b'E', digit, _) if digit.is_ascii_digit() => 1,
            (b'e' | b'E', b'+' | b'-', digit) if digit.is_ascii_digit() => 2,
            _ => 0,
        };
        if exponent > 0 {
            self.at += exponent;
            self.skip_while(|byte| byte.is_ascii_digit());
        }
        Kind::Number { junk: self.junk() }
    }

    /// Goes behind the letters that stand where none may.
    fn junk(&mut self) -> bool {
        let junk = is_name_start(self.peek(0));
        if junk {
            self.skip_while(is_name_part);
        }
        junk
    }
}

fn is_name_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80
}

fn is_name_part(byte: u8) -> bool {
    is_name_start(byte) || byte.is_ascii_digit() || byte == b'$'
}

/// Where the comment ends that begins at a place with `/*`; comments nest. `None` for one that does not end.
pub(super) fn comment_end(bytes: &[u8], start: usize) -> Option<usize> {
    let mut depth = 0_usize;
    let mut at = start;
    while let Some(two) = bytes.get(at..at + 2) {
        match two {
            b"/*" => depth += 1,
            b"*/" => depth -= 1,
            _ => {
                at += 1;
                continue;
            }
        }
        at += 2;
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const OFF: StringRules = StringRules { standard: false, warn: true, backslash_quote: true };

    fn respelled(sql: &str) -> Respelled {
        respell(sql, OFF).expect("has no unsafe strings")
    }

    #[test]
    fn plain_strings_with_backslashes_become_escape_strings() {
        for (given, expected) in [
            (r"select 'a\\b', 'c'", r"select E'a\\b', 'c'"),
            (r"select 'a\'b''c\\' || 'd'", r"select E'a\'b''c\\' || 'd'"),
            (r"select n'a\\b', N'a'", r"select nchar E'a\\b', N'a'"),
            (
                r#"select E'\\', "\\", b'01', $$'\\'$$, $a$ '\\' $a$ -- '\\'"#,
                r#"select E'\\', "\\", b'01', $$'\\'$$, $a$ '\\' $a$ -- '\\'"#,
            ),
            ("select 'a' -- one\n  'b\\\\'", "select E'a' -- one\n  'b\\\\'"),
            (r"select 'a' 'b\\'", r"select 'a' E'b\\'"),
            (r"select/* '\\' /* */ '\\' */'\\'", r"select/* '\\' /* */ '\\' */E'\\'"),
            (r"select name'\\'", r"select name E'\\'"),
            ("select 'never\\", "select E'never\\"),
        ] {
            assert_eq!(respelled(given).text, expected);
        }
    }

    #[test]
    fn each_string_is_warned_of_once() {
        let found = respelled("select 'ä', 'a\\'b\\\\', 'a\\\\', 'a\\n'");
        let told: Vec<_> = found.warnings.iter().map(|warning| (warning.message.as_str(), warning.position)).collect();
        assert_eq!(
            told,
            [
                ("nonstandard use of \\' in a string literal", Some(13)),
                ("nonstandard use of \\\\ in a string literal", Some(23)),
                ("nonstandard use of escape in a string literal", Some(30)),
            ]
        );
        assert!(respell("select 'a\\\\'", StringRules { warn: false, ..OFF }).expect("safe").warnings.is_empty());
    }

    #[test]
    fn unsafe_strings_are_refused() {
        let error = respell("select U&'\\0061'", OFF).expect_err("is unsafe");
        assert_eq!((error.sqlstate(), error.position), ("0A000", Some(8)));
        assert!(respell("select U&\"a\"", OFF).is_ok());
        let rules = StringRules { backslash_quote: false, ..StringRules::STANDARD };
        let error = respell("select E'a\\'b'", rules).expect_err("is unsafe");
        assert_eq!((error.sqlstate(), error.position), ("22P06", Some(8)));
        assert!(respell("select 'a\\'", rules).is_ok());
    }

    #[test]
    fn places_are_those_of_the_text_as_it_was() {
        let found = respelled("select 'a\\\\', 'b\\\\'; selec 1");
        assert_eq!(found.parse(OFF).expect_err("is no SQL").position, Some(22));
        let found = respelled("select 'a\\\\', 'b\\\\', x");
        let statements = found.parse(OFF).expect("parses");
        let x = found.text.find('x').expect("is there");
        assert_eq!(statements[0].position(x as i32), Some(22));
        let first = found.text.find('E').expect("is there");
        assert_eq!(statements[0].position(first as i32), Some(8));
    }

    #[test]
    fn numbers_have_no_letters_behind_them() {
        for (sql, near) in [
            ("select 0x1F", "numeric literal at or near \"0x1F\""),
            ("select -1_000", "numeric literal at or near \"1_000\""),
            ("select 1.5_5", "numeric literal at or near \"1.5_5\""),
            ("select .5_1", "numeric literal at or near \".5_1\""),
            ("select 1e1_0", "numeric literal at or near \"1e1_0\""),
            ("select $1a", "parameter at or near \"$1a\""),
        ] {
            assert_eq!(super::super::parse(sql).expect_err(sql).message, format!("trailing junk after {near}"));
        }
        for sql in ["select a1_2, '1_000', $$0x1F$$, \"1_0\", $1, 1e5, 1.5, a.b1c", "select 1 as a1, t1.x2_3 from t1"] {
            assert!(super::super::parse(sql).is_ok(), "{sql}");
        }
    }
}
