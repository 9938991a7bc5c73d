//! The tokens of PL/pgSQL: PostgreSQL's, with their places, so that SQL can be cut out of a body.

use crate::postgres::spelling::comment_end;
use crate::{Condition, Error, Result};

/// What a token is.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Kind {
    /// A name, folded; true when it stood in quotes and is no keyword.
    Name(String, bool),
    /// `$n`
    Param(i32),
    /// A text in quotes of any kind, decoded.
    Text(String),
    /// A number.
    Number,
    /// `..`
    Dots,
    /// `:=` or `=`, as PL/pgSQL assigns.
    Assign,
    /// `<<` or `>>`
    Label(&'static str),
    /// Any other character.
    Sign(char),
    /// The end of the text.
    End,
}

/// A token with its bytes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) start: usize,
    pub(super) end: usize,
}

impl Token {
    /// The keyword of this spelling.
    pub(super) fn is(&self, word: &str) -> bool {
        matches!(&self.kind, Kind::Name(name, false) if name == word)
    }

    pub(super) fn is_sign(&self, sign: char) -> bool {
        self.kind == Kind::Sign(sign)
    }
}

/// Splits a body.
pub(super) fn tokens(source: &str) -> Result<Vec<Token>> {
    let mut lexer = Lexer { source, bytes: source.as_bytes(), at: 0 };
    let mut found = Vec::new();
    loop {
        let token = lexer.next()?;
        crate::work::step(token.end - token.start + 32)?;
        let end = token.kind == Kind::End;
        found.push(token);
        if end {
            return Ok(found);
        }
    }
}

struct Lexer<'a> {
    source: &'a str,
    bytes: &'a [u8],
    at: usize,
}

impl Lexer<'_> {
    fn peek(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn skip_blanks(&mut self) -> Result<()> {
        loop {
            match (self.peek(0), self.peek(1)) {
                (b' ' | b'\t' | b'\n' | b'\r' | 0x0c, _) => self.at += 1,
                (b'-', b'-') => {
                    while self.at < self.bytes.len() && self.bytes[self.at] != b'\n' {
                        self.at += 1;
                    }
                }
                (b'/', b'*') => self.comment()?,
                _ => return Ok(()),
            }
        }
    }

    fn comment(&mut self) -> Result<()> {
        let end = comment_end(self.bytes, self.at);
        self.at = end.ok_or_else(|| unterminated("/* comment", &self.source[self.at..]))?;
        Ok(())
    }

    fn next(&mut self) -> Result<Token> {
        self.skip_blanks()?;
        let start = self.at;
        let kind = self.kind()?;
        Ok(Token { kind, start, end: self.at })
    }

    fn kind(&mut self) -> Result<Kind> {
        if self.at >= self.bytes.len() {
            return Ok(Kind::End);
        }
        let start = self.at;
        Ok(match (self.peek(0), self.peek(1)) {
            (b'e' | b'E', b'\'') => {
                self.at += 1;
                Kind::Text(self.quoted(true)?)
            }
            (b'b' | b'B' | b'x' | b'X' | b'n' | b'N', b'\'') => {
                self.at += 1;
                Kind::Text(self.quoted(false)?)
            }
            (b'\'', _) => Kind::Text(self.quoted(false)?),
            (b'"', _) => {
                let end = self.closing(b'"')?;
                let name = self.source[start + 1..end].replace("\"\"", "\"");
                Kind::Name(name, true)
            }
            (byte, _) if is_name_start(byte) => {
                while is_name_part(self.peek(0)) {
                    self.at += 1;
                }
                Kind::Name(self.source[start..self.at].to_lowercase(), false)
            }
            (b'$', digit) if digit.is_ascii_digit() => {
                self.at += 1;
                while self.peek(0).is_ascii_digit() {
                    self.at += 1;
                }
                Kind::Param(self.source[start + 1..self.at].parse().unwrap_or(i32::MAX))
            }
            (b'$', _) => self.dollar_quoted()?,
            (digit, _) if digit.is_ascii_digit() => self.number(),
            (b'.', b'.') => {
                self.at += 2;
                Kind::Dots
            }
            (b'.', digit) if digit.is_ascii_digit() => self.number(),
            (b':', b'=') => {
                self.at += 2;
                Kind::Assign
            }
            (b'=', b'>') | (b':', b':') => {
                self.at += 2;
                Kind::Sign(if self.bytes[start] == b'=' { '⇒' } else { '∷' })
            }
            (b'=', _) => {
                self.at += 1;
                Kind::Assign
            }
            (b'<', b'<') => {
                self.at += 2;
                Kind::Label("<<")
            }
            (b'>', b'>') => {
                self.at += 2;
                Kind::Label(">>")
            }
            (b'<' | b'>' | b'!', b'=' | b'>') => {
                self.at += 2;
                Kind::Sign('≠')
            }
            _ => {
                let sign = self.source[start..].chars().next().unwrap_or(' ');
                self.at += sign.len_utf8();
                Kind::Sign(sign)
            }
        })
    }

    fn number(&mut self) -> Kind {
        while self.peek(0).is_ascii_digit() {
            self.at += 1;
        }
        // `1..5` is a range.
        if self.peek(0) == b'.' && self.peek(1) != b'.' {
            self.at += 1;
            while self.peek(0).is_ascii_digit() {
                self.at += 1;
            }
        }
        let exponent = match (self.peek(0), self.peek(1), self.peek(2)) {
            (b'e' | b'E', digit, _) if digit.is_ascii_digit() => 1,
            (b'e' | b'E', b'+' | b'-', digit) if digit.is_ascii_digit() => 2,
            _ => 0,
        };
        if exponent > 0 {
            self.at += exponent;
            while self.peek(0).is_ascii_digit() {
                self.at += 1;
            }
        }
        Kind::Number
    }

    /// Goes behind the closing quote, doubled ones being content; where it stands.
    fn closing(&mut self, quote: u8) -> Result<usize> {
        let start = self.at;
        self.at += 1;
        while self.at < self.bytes.len() {
            if self.peek(0) != quote {
                self.at += 1;
            } else if self.peek(1) == quote {
                self.at += 2;
            } else {
                self.at += 1;
                return Ok(self.at - 1);
            }
        }
        let what = if quote == b'"' { "quoted identifier" } else { "quoted string" };
        Err(unterminated(what, &self.source[start..]))
    }

    fn quoted(&mut self, escapes: bool) -> Result<String> {
        let start = self.at;
        if !escapes {
            let end = self.closing(b'\'')?;
            return Ok(self.source[start + 1..end].replace("''", "'"));
        }
        let mut text = String::new();
        self.at += 1;
        loop {
            let rest = &self.source[self.at.min(self.source.len())..];
            let mut characters = rest.chars();
            match characters.next() {
                None => return Err(unterminated("quoted string", &self.source[start..])),
                Some('\'') if rest[1..].starts_with('\'') => {
                    text.push('\'');
                    self.at += 2;
                }
                Some('\'') => {
                    self.at += 1;
                    return Ok(text);
                }
                Some('\\') => {
                    let escaped = characters.next().unwrap_or('\\');
                    self.at += 1 + escaped.len_utf8();
                    text.push(match escaped {
                        'n' => '\n',
                        't' => '\t',
                        'r' => '\r',
                        'b' => '\u{8}',
                        'f' => '\u{c}',
                        '0'..='7' => {
                            self.at -= 1;
                            self.by_code(3, 8).filter(char::is_ascii).unwrap_or(escaped)
                        }
                        'x' => self.by_code(2, 16).filter(char::is_ascii).unwrap_or(escaped),
                        'u' => self.by_code(4, 16).unwrap_or(escaped),
                        'U' => self.by_code(8, 16).unwrap_or(escaped),
                        other => other,
                    });
                }
                Some(character) => {
                    text.push(character);
                    self.at += character.len_utf8();
                }
            }
        }
    }

    /// The character whose code stands here, in so many digits at most.
    fn by_code(&mut self, most: usize, radix: u32) -> Option<char> {
        let digits = self.source[self.at..].chars().take(most).take_while(|c| c.is_digit(radix)).count();
        let code = u32::from_str_radix(&self.source[self.at..self.at + digits], radix).ok();
        let character = code.and_then(char::from_u32).filter(|character| *character != '\0')?;
        self.at += digits;
        Some(character)
    }

    fn dollar_quoted(&mut self) -> Result<Kind> {
        let start = self.at;
        let mut end = start + 1;
        while self.bytes.get(end).is_some_and(|byte| is_name_part(*byte) && *byte != b'$') {
            end += 1;
        }
        if self.bytes.get(end) != Some(&b'$') {
            self.at += 1;
            return Ok(Kind::Sign('$'));
        }
        let tag = &self.source[start..=end];
        let inner = &self.source[end + 1..];
        let Some(length) = inner.find(tag) else {
            return Err(unterminated("dollar-quoted string", &self.source[start..]));
        };
        self.at = end + 1 + length + tag.len();
        Ok(Kind::Text(inner[..length].to_owned()))
    }
}

fn is_name_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80
}

fn is_name_part(byte: u8) -> bool {
    is_name_start(byte) || byte.is_ascii_digit() || byte == b'$'
}

fn unterminated(what: &str, near: &str) -> Error {
    Error::new(Condition::SyntaxError, format!("unterminated {what} at or near \"{near}\""))
}
