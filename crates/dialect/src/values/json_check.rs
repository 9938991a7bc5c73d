//! Whether a text is JSON, and if it is not, where and why, in PostgreSQL's words.
//!
//! What reads JSON into values knows less about its faults; so it asks here when it has found one. A `json` is checked
//! here and nowhere else: what its escapes stand for does not matter before somebody wants to know.

use super::json;
use crate::{Condition, Error, Result, stack, work};

/// The text, if it is JSON; `escapes` says whether those of its strings must stand for characters.
///
/// # Errors
/// `22P02` with the token and the line; `22P05` for `\u0000`; `54001` for a text that nests too deeply.
pub fn check(text: &str, escapes: bool) -> Result<()> {
    let mut lexer = Lexer::new(text, escapes);
    lexer.next()?;
    let mut open: Vec<Open> = Vec::new();
    loop {
        // A value begins here.
        match lexer.token {
            Token::OpenObject => {
                enter(&mut open, Open::Object)?;
                lexer.next()?;
                match lexer.token {
                    Token::String => {
                        lexer.key()?;
                        continue;
                    }
                    Token::CloseObject => {}
                    _ => return Err(lexer.unexpected("string or \"}\"")),
                }
            }
            Token::OpenArray => {
                enter(&mut open, Open::Array)?;
                lexer.next()?;
                if lexer.token != Token::CloseArray {
                    continue;
                }
            }
            Token::String | Token::Scalar => {
                lexer.next()?;
                if !lexer.behind_value(&mut open)? {
                    return Ok(());
                }
                continue;
            }
            _ => return Err(lexer.unexpected("JSON value")),
        }
        // What was just opened is closed again, and is a value.
        open.pop();
        lexer.next()?;
        if !lexer.behind_value(&mut open)? {
            return Ok(());
        }
    }
}

/// The text without the members of objects that are null: nothing else of it changes but blanks and how strings are escaped.
///
/// # Errors
/// As [`check`].
pub fn strip_nulls(text: &str) -> Result<String> {
    check(text, true)?;
    let mut lexer = Lexer::new(text, true);
    let mut out = String::with_capacity(text.len());
    let mut open: Vec<Open> = Vec::new();
    let mut key = None;
    loop {
        lexer.next()?;
        let is_key = lexer.token == Token::String && open.last() == Some(&Open::Object) && key.is_none();
        match lexer.token {
            Token::End => return Ok(out),
            Token::Comma | Token::Colon => {}
            Token::String if is_key => key = Some(lexer.unquoted()?),
            Token::Scalar if key.is_some() && lexer.shown() == "null" => key = None,
            Token::CloseObject | Token::CloseArray => {
                open.pop();
                out.push_str(lexer.shown());
            }
            Token::OpenObject | Token::OpenArray | Token::String | Token::Scalar => {
                if !open.is_empty() && !out.ends_with(['{', '[']) {
                    out.push(',');
                }
                if let Some(key) = key.take() {
                    json::quote(&mut out, &key);
                    out.push(':');
                }
                match lexer.token {
                    Token::String => json::quote(&mut out, &lexer.unquoted()?),
                    Token::OpenObject => open.push(Open::Object),
                    Token::OpenArray => open.push(Open::Array),
                    _ => {}
                }
                if lexer.token != Token::String {
                    out.push_str(lexer.shown());
                }
            }
        }
    }
}

fn enter(open: &mut Vec<Open>, what: Open) -> Result<()> {
    if open.len() >= stack::MAX_DEPTH as usize {
        return Err(too_deep());
    }
    open.push(what);
    Ok(())
}

/// The error for a text that nests too deeply.
pub(super) fn too_deep() -> Error {
    Error::new(Condition::StatementTooComplex, "stack depth limit exceeded").hint(
        "Increase the configuration parameter \"max_stack_depth\" (currently 2048kB), after ensuring the platform's \
         stack depth limit is adequate.",
    )
}

/// What a value stands in.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Open {
    Array,
    Object,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Token {
    OpenObject,
    CloseObject,
    OpenArray,
    CloseArray,
    Comma,
    Colon,
    String,
    /// A number, `true`, `false` or `null`.
    Scalar,
    End,
}

struct Lexer<'a> {
    text: &'a str,
    escapes: bool,
    token: Token,
    /// Where the token begins and ends.
    start: usize,
    end: usize,
    line: usize,
    line_start: usize,
}

const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

impl<'a> Lexer<'a> {
    fn new(text: &'a str, escapes: bool) -> Self {
        Self { text, escapes, token: Token::End, start: 0, end: 0, line: 1, line_start: 0 }
    }

    /// Behind a value: closes what ends here and goes on to where the next value begins; false at the end.
    fn behind_value(&mut self, open: &mut Vec<Open>) -> Result<bool> {
        loop {
            match (open.last(), self.token) {
                (None, Token::End) => return Ok(false),
                (None, _) => return Err(self.unexpected("end of input")),
                (Some(Open::Array), Token::Comma) => {
                    self.next()?;
                    return Ok(true);
                }
                (Some(Open::Object), Token::Comma) => {
                    self.next()?;
                    if self.token != Token::String {
                        return Err(self.unexpected("string"));
                    }
                    self.key()?;
                    return Ok(true);
                }
                (Some(Open::Array), Token::CloseArray) | (Some(Open::Object), Token::CloseObject) => {
                    open.pop();
                    self.next()?;
                }
                (Some(Open::Array), _) => return Err(self.unexpected("\",\" or \"]\"")),
                (Some(Open::Object), _) => return Err(self.unexpected("\",\" or \"}\"")),
            }
        }
    }

    /// Passes a key and its colon.
    fn key(&mut self) -> Result<()> {
        self.next()?;
        if self.token != Token::Colon {
            return Err(self.unexpected("\":\""));
        }
        self.next()
    }

    fn next(&mut self) -> Result<()> {
        work::step(1)?;
        let bytes = self.text.as_bytes();
        let mut at = self.end;
        while let Some(byte @ (b' ' | b'\t' | b'\n' | b'\r')) = bytes.get(at).copied() {
            at += 1;
            if byte == b'\n' {
                self.line += 1;
                self.line_start = at;
            }
        }
        self.start = at;
        let Some(byte) = bytes.get(at).copied() else {
            (self.token, self.end) = (Token::End, at);
            return Ok(());
        };
        let sign = match byte {
            b'{' => Token::OpenObject,
            b'}' => Token::CloseObject,
            b'[' => Token::OpenArray,
            b']' => Token::CloseArray,
            b',' => Token::Comma,
            b':' => Token::Colon,
            b'"' => {
                self.token = Token::String;
                return self.string();
            }
            b'-' | b'0'..=b'9' => {
                self.token = Token::Scalar;
                return self.number(at + usize::from(byte == b'-'));
            }
            _ => {
                let length = bytes[at..].iter().take_while(|byte| is_word(**byte)).count();
                self.end = at + length.max(1);
                self.token = Token::Scalar;
                let known = matches!(&bytes[at..self.end], b"true" | b"false" | b"null");
                return if known { Ok(()) } else { Err(self.invalid_token()) };
            }
        };
        (self.token, self.end) = (sign, at + 1);
        Ok(())
    }

    fn number(&mut self, mut at: usize) -> Result<()> {
        let bytes = self.text.as_bytes();
        let digits = |from: usize| bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let whole = match bytes.get(at) {
            Some(b'0') => 1,
            _ => digits(at),
        };
        at += whole;
        let mut valid = whole > 0;
        if bytes.get(at) == Some(&b'.') {
            let fraction = digits(at + 1);
            valid &= fraction > 0;
            at += 1 + fraction;
        }
        if matches!(bytes.get(at), Some(b'e' | b'E')) {
            at += 1 + usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
            let exponent = digits(at);
            valid &= exponent > 0;
            at += exponent;
        }
        let garbage = bytes[at..].iter().take_while(|byte| is_word(**byte)).count();
        self.end = at + garbage;
        if valid && garbage == 0 { Ok(()) } else { Err(self.invalid_token()) }
    }

    fn string(&mut self) -> Result<()> {
        let bytes = self.text.as_bytes();
        let mut at = self.start;
        let mut high = None;
        loop {
            at += 1;
            match bytes.get(at) {
                None => {
                    self.end = at;
                    return Err(self.invalid_token());
                }
                Some(b'"') => break,
                Some(byte) if *byte < 0x20 => {
                    self.end = at;
                    return Err(self.syntax(format!("Character with value 0x{byte:02x} must be escaped.")));
                }
                Some(b'\\') => {
                    at += 1;
                    match bytes.get(at) {
                        None => {
                            self.end = at;
                            return Err(self.invalid_token());
                        }
                        Some(b'u') => {
                            let code = self.four_digits(at)?;
                            at += 4;
                            if self.escapes {
                                self.end = at + 1;
                                high = self.surrogate(code, high)?;
                            }
                            continue;
                        }
                        Some(byte) => {
                            if self.escapes && high.is_some() {
                                self.end = at + 1;
                                return Err(self.low_surrogate());
                            }
                            if !matches!(byte, b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') {
                                self.start = at;
                                self.end = at + self.width(at);
                                return Err(self.syntax(format!("Escape sequence \"\\{}\" is invalid.", self.shown())));
                            }
                        }
                    }
                }
                Some(_) => {
                    if high.is_some() {
                        self.end = at + self.width(at);
                        return Err(self.low_surrogate());
                    }
                }
            }
        }
        self.end = at + 1;
        if high.is_some() { Err(self.low_surrogate()) } else { Ok(()) }
    }

    /// The number behind the `u` at a place.
    fn four_digits(&mut self, at: usize) -> Result<u32> {
        let mut code = 0;
        for place in at + 1..at + 5 {
            match self.text.as_bytes().get(place) {
                None => {
                    self.end = place;
                    return Err(self.invalid_token());
                }
                Some(byte) => match char::from(*byte).to_digit(16) {
                    Some(digit) => code = code * 16 + digit,
                    None => {
                        self.end = place + self.width(place);
                        return Err(self.syntax("\"\\u\" must be followed by four hexadecimal digits.".to_owned()));
                    }
                },
            }
        }
        Ok(code)
    }

    /// The high surrogate that waits for its low one after this code.
    fn surrogate(&self, code: u32, high: Option<u32>) -> Result<Option<u32>> {
        match (code, high) {
            (0xd800..=0xdbff, None) => Ok(Some(code)),
            (0xd800..=0xdbff, Some(_)) => {
                Err(self.syntax("Unicode high surrogate must not follow a high surrogate.".to_owned()))
            }
            (0xdc00..=0xdfff, Some(_)) => Ok(None),
            (0xdc00..=0xdfff, None) | (_, Some(_)) => Err(self.low_surrogate()),
            (0, None) => {
                let error = Error::new(Condition::UntranslatableCharacter, "unsupported Unicode escape sequence");
                Err(error.detail("\\u0000 cannot be converted to text.").context(self.place()))
            }
            _ => Ok(None),
        }
    }

    fn low_surrogate(&self) -> Error {
        self.syntax("Unicode low surrogate must follow a high surrogate.".to_owned())
    }

    /// Bytes of the character at a place.
    /// What the string that is the token stands for.
    fn unquoted(&self) -> Result<String> {
        serde_json::from_str(self.shown()).map_err(|_| self.invalid_token())
    }

    fn width(&self, at: usize) -> usize {
        self.text.get(at..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8)
    }

    /// The token as it is written.
    fn shown(&self) -> &str {
        self.text.get(self.start..self.end).unwrap_or("")
    }

    fn unexpected(&self, wanted: &str) -> Error {
        if self.token == Token::End {
            return self.syntax("The input string ended unexpectedly.".to_owned());
        }
        self.syntax(format!("Expected {wanted}, but found \"{}\".", self.shown()))
    }

    fn invalid_token(&self) -> Error {
        self.syntax(format!("Token \"{}\" is invalid.", self.shown()))
    }

    fn syntax(&self, detail: String) -> Error {
        Error::new(Condition::InvalidTextRepresentation, "invalid input syntax for type json")
            .detail(detail)
            .context(self.place())
    }

    /// The end of the line up to the fault.
    fn place(&self) -> String {
        let line = self.text.get(self.line_start..self.end).unwrap_or("");
        let mut from = 0;
        while line.len() - from >= 50 {
            from += line[from..].chars().next().map_or(1, char::len_utf8);
        }
        if from <= 3 {
            from = 0;
        }
        let before = if from > 0 { "..." } else { "" };
        let more =
            self.token != Token::End && !matches!(self.text.as_bytes().get(self.end), None | Some(b'\n' | b'\r'));
        let behind = if more { "..." } else { "" };
        format!("JSON data, line {}: {before}{}{behind}", self.line, &line[from..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(text: &str) -> (String, String) {
        let error = check(text, true).unwrap_err();
        (error.detail.clone().unwrap_or_default(), error.context.clone().unwrap_or_default())
    }

    /// What PostgreSQL 15 answers.
    #[test]
    fn faults_are_told_in_postgresqls_words() {
        for (text, detail, context) in [
            ("''", "Token \"'\" is invalid.", "JSON data, line 1: '..."),
            ("\"abc", "Token \"\"abc\" is invalid.", "JSON data, line 1: \"abc"),
            ("\"abc\ndef\"", "Character with value 0x0a must be escaped.", "JSON data, line 1: \"abc"),
            ("\"\\v\"", "Escape sequence \"\\v\" is invalid.", "JSON data, line 1: \"\\v..."),
            ("01", "Token \"01\" is invalid.", "JSON data, line 1: 01"),
            ("1.3ex100", "Token \"1.3ex100\" is invalid.", "JSON data, line 1: 1.3ex100"),
            ("[1,2,]", "Expected JSON value, but found \"]\".", "JSON data, line 1: [1,2,]"),
            ("[1,2", "The input string ended unexpectedly.", "JSON data, line 1: [1,2"),
            ("{\"abc\"}", "Expected \":\", but found \"}\".", "JSON data, line 1: {\"abc\"}"),
            ("{1:\"abc\"}", "Expected string or \"}\", but found \"1\".", "JSON data, line 1: {1..."),
            ("{\"abc\":1:2}", "Expected \",\" or \"}\", but found \":\".", "JSON data, line 1: {\"abc\":1:..."),
            ("{\"abc\":1,3}", "Expected string, but found \"3\".", "JSON data, line 1: {\"abc\":1,3..."),
            ("true false", "Expected end of input, but found \"false\".", "JSON data, line 1: true false"),
            ("", "The input string ended unexpectedly.", "JSON data, line 1: "),
            ("\"\\u\"", "\"\\u\" must be followed by four hexadecimal digits.", "JSON data, line 1: \"\\u\""),
            (
                "{\"a\":\n\"\\ud83d\\ud83d\"}",
                "Unicode high surrogate must not follow a high surrogate.",
                "JSON data, line 2: ",
            ),
            (
                "{ \"a\":  \"\\ude04X\" }",
                "Unicode low surrogate must follow a high surrogate.",
                "JSON data, line 1: { \"a\":  \"\\ude04...",
            ),
        ] {
            let (found, place) = fault(text);
            assert_eq!(found, detail, "{text}");
            if !text.contains('\n') {
                assert_eq!(place, context, "{text}");
            }
        }
        assert_eq!(check("\"\\u0000\"", true).unwrap_err().condition().sqlstate(), "22P05");
        let deep = "[".repeat(10_000);
        assert_eq!(check(&deep, true).unwrap_err().condition().sqlstate(), "54001");
    }

    #[test]
    fn what_is_json_is_taken() {
        for text in [
            "{}",
            "[]",
            " [1, -2.5e+3 , \"a\\u00e9\\\\\", {\"a\": {\"b\": []}, \"c\":null}] ",
            "\"\\ud83d\\ude04\"",
            "0",
        ] {
            check(text, true).unwrap();
        }
        // Nobody has asked yet what this stands for.
        check("\"\\ud83d\"", false).unwrap();
        check("\"\\u0000\"", false).unwrap();
        assert!(check("\"\\ud83d\"", true).is_err());
    }
}
