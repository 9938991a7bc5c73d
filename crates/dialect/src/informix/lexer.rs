//! Words, literals and signs of Informix SQL.
//!
//! Comments are `--` to the end of the line, `/* … */` and `{ … }`, none of them nested. A brace directly behind SET,
//! MULTISET, LIST or ROW opens a collection instead. `"x"` is a string or, where only a name can stand, a quoted name
//! (the parser decides, so both settings of DELIMIDENT work where they are unambiguous).

use crate::{Condition, Error, Result};

/// A token and where it stands, in bytes of the text.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Token {
    pub kind: TokenKind,
    pub start: usize,
    pub end: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum TokenKind {
    /// An unquoted word, folded to lower case.
    Word(String),
    /// `"…"`, without its quotes.
    Quoted(String),
    /// `'…'`, without its quotes.
    String(String),
    /// A number as written.
    Number(String),
    /// `?`
    Param,
    /// A sign.
    Sign(&'static str),
    /// The end of the text.
    End,
}

/// Signs, longest first.
const SIGNS: &[&str] = &[
    "::", "||", "<=", ">=", "<>", "!=", "==", "(", ")", "[", "]", "{", "}", ",", ".", ";", ":", "+", "-", "*", "/",
    "=", "<", ">", "@",
];

/// The position of a byte in a text: 1-based, in characters.
pub(super) fn position(text: &str, byte: usize) -> u32 {
    let byte = (0..=byte.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
    u32::try_from(text[..byte].chars().count()).unwrap_or(u32::MAX - 1) + 1
}

/// Cuts a text into tokens; the last is [`TokenKind::End`].
pub(super) fn tokens(text: &str) -> Result<Vec<Token>> {
    let bytes = text.as_bytes();
    let mut tokens: Vec<Token> = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        let byte = bytes[at];
        if byte.is_ascii_whitespace() || byte == 0 {
            at += 1;
            continue;
        }
        if bytes[at..].starts_with(b"--") {
            at = text[at..].find('\n').map_or(bytes.len(), |length| at + length + 1);
            continue;
        }
        if bytes[at..].starts_with(b"/*") {
            let length = text[at + 2..].find("*/").ok_or_else(|| open_comment(text, start))?;
            at += 2 + length + 2;
            continue;
        }
        if byte == b'{' && !opens_collection(tokens.last()) {
            let length = text[at..].find('}').ok_or_else(|| open_comment(text, start))?;
            at += length + 1;
            continue;
        }
        let kind = match byte {
            b'\'' | b'"' => {
                let (value, end) = quoted(text, at, byte)?;
                at = end;
                if byte == b'"' { TokenKind::Quoted(value) } else { TokenKind::String(value) }
            }
            b'0'..=b'9' => {
                at = number(bytes, at);
                TokenKind::Number(text[start..at].to_owned())
            }
            b'.' if bytes.get(at + 1).is_some_and(u8::is_ascii_digit) && !names_end(tokens.last(), start) => {
                at = number(bytes, at);
                TokenKind::Number(text[start..at].to_owned())
            }
            // Money: the currency's sign says nothing more.
            b'$' if bytes.get(at + 1).is_some_and(u8::is_ascii_digit) => {
                at = number(bytes, at + 1);
                TokenKind::Number(text[start + 1..at].to_owned())
            }
            b'?' => {
                at += 1;
                TokenKind::Param
            }
            _ => {
                let first = text[at..].chars().next().unwrap_or(' ');
                if first.is_alphabetic() || first == '_' {
                    at += text[at..]
                        .find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$'))
                        .unwrap_or(text.len() - at);
                    TokenKind::Word(text[start..at].to_lowercase())
                } else {
                    let sign = SIGNS.iter().find(|sign| text[at..].starts_with(**sign)).ok_or_else(|| {
                        Error::new(Condition::SyntaxError, format!("syntax error at or near \"{first}\""))
                            .at(position(text, start))
                    })?;
                    at += sign.len();
                    TokenKind::Sign(sign)
                }
            }
        };
        tokens.push(Token { kind, start, end: at });
    }
    tokens.push(Token { kind: TokenKind::End, start: text.len(), end: text.len() });
    Ok(tokens)
}

fn open_comment(text: &str, start: usize) -> Error {
    Error::new(Condition::SyntaxError, "a comment is not closed").at(position(text, start))
}

/// A brace behind these words opens a collection, not a comment.
fn opens_collection(last: Option<&Token>) -> bool {
    matches!(last, Some(Token { kind: TokenKind::Word(word), .. }) if matches!(word.as_str(), "set" | "multiset" | "list"))
}

/// A point directly behind a name belongs to the name: `t.1` is not a number.
fn names_end(last: Option<&Token>, start: usize) -> bool {
    last.is_some_and(|token| token.end == start && matches!(token.kind, TokenKind::Word(_) | TokenKind::Quoted(_)))
}

fn quoted(text: &str, start: usize, quote: u8) -> Result<(String, usize)> {
    let bytes = text.as_bytes();
    let mut value = String::new();
    let mut from = start + 1;
    loop {
        let Some(length) = bytes[from..].iter().position(|&byte| byte == quote) else {
            return Err(
                Error::new(Condition::UnterminatedString, "a quoted string is not closed").at(position(text, start))
            );
        };
        value.push_str(&text[from..from + length]);
        from += length + 1;
        if bytes.get(from) != Some(&quote) {
            return Ok((value, from));
        }
        value.push(char::from(quote));
        from += 1;
    }
}

fn number(bytes: &[u8], start: usize) -> usize {
    let digits = |mut at: usize| {
        while bytes.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        at
    };
    let mut at = digits(start);
    if bytes.get(at) == Some(&b'.') {
        at = digits(at + 1);
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
        let end = digits(at + 1 + sign);
        if end > at + 1 + sign {
            at = end;
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<TokenKind> {
        tokens(text).unwrap().into_iter().map(|token| token.kind).collect()
    }

    #[test]
    fn comments_of_every_kind_are_skipped() {
        assert_eq!(
            kinds("a -- x\n/* ' */ { ? } b"),
            [TokenKind::Word("a".into()), TokenKind::Word("b".into()), TokenKind::End]
        );
    }

    #[test]
    fn a_brace_behind_a_collection_word_is_no_comment() {
        assert_eq!(kinds("set{1}").len(), 5);
        assert_eq!(kinds("select {1} x").len(), 3);
    }

    #[test]
    fn quotes_are_doubled_and_backslashes_are_plain() {
        assert_eq!(kinds(r"'it''s \'")[0], TokenKind::String(r"it's \".into()));
        assert_eq!(tokens("'open").unwrap_err().condition(), Condition::UnterminatedString);
    }

    #[test]
    fn numbers_names_and_casts() {
        assert_eq!(
            kinds("1.5e-3::int t.c .5"),
            [
                TokenKind::Number("1.5e-3".into()),
                TokenKind::Sign("::"),
                TokenKind::Word("int".into()),
                TokenKind::Word("t".into()),
                TokenKind::Sign("."),
                TokenKind::Word("c".into()),
                TokenKind::Number(".5".into()),
                TokenKind::End
            ]
        );
    }

    #[test]
    fn positions_count_characters() {
        assert_eq!(position("ä?", 2), 2);
    }
}
