//! What AGAINST asks for.
//!
//! Between words stand blanks; a text in quotation marks is a phrase. In boolean mode
//!
//! ```text
//! query  := { member }
//! member := [ "+" | "-" | "<" | ">" | "~" ] ( "(" query ")" | term | phrase [ "@" number ] )
//! term   := { "*" } letters [ "*" ]
//! ```
//!
//! Letters are whatever is neither blank nor one of those signs: a term may be several words, as `a.b` is.

use super::words::{self, LONGEST, SHORTEST};
use crate::{Condition, Error, Result};

/// How deep parentheses may nest.
const DEEPEST: usize = 200;

/// How a text is read.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Mode {
    /// Its words, and nothing else.
    Natural,
    /// The same; then the words of what has been found.
    Expanded,
    /// With signs.
    Boolean,
}

impl Mode {
    /// The mode of a word, as the function is told it.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "natural" => Self::Natural,
            "expansion" => Self::Expanded,
            "boolean" => Self::Boolean,
            _ => return None,
        })
    }

    /// The word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Natural => "natural",
            Self::Expanded => "expansion",
            Self::Boolean => "boolean",
        }
    }
}

/// What stands before a member.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Sign {
    /// Nothing: documents with it are among the found.
    None,
    /// `+`: only such.
    Must,
    /// `-`: none of such.
    MustNot,
    /// `~`: it counts against those that are found.
    Against,
    /// `>`: they are better.
    Better,
    /// `<`: they are worse.
    Worse,
}

/// A member of a query.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Member {
    /// A word, or the beginning of words.
    Word { word: String, begins: bool },
    /// Several words that are written as one.
    Words(Vec<(String, bool)>),
    /// Words behind one another, or as near to one another as is said.
    Phrase { text: String, within: Option<usize> },
    /// What stands in parentheses.
    Group(Vec<(Sign, Member)>),
}

/// The members of a text.
///
/// # Errors
/// `42601` as InnoDB's own parser tells it.
pub(super) fn read(text: &str, mode: Mode) -> Result<Vec<(Sign, Member)>> {
    if mode == Mode::Boolean {
        let mut parser = Parser { tokens: tokens(text), at: 0 };
        return parser.members(0);
    }
    let mut members = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (member, behind) = match phrase(rest) {
            Some((text, behind)) => (Some(Member::Phrase { text: text.to_owned(), within: None }), behind),
            None => {
                let ends = |(at, character): (usize, char)| {
                    character == '"' || character == '\n' || character == '%' || (character == ' ' && at > 0)
                };
                let end = rest.char_indices().find(|found| ends(*found)).map_or(rest.len(), |(at, _)| at);
                match end {
                    0 => (None, &rest[rest.chars().next().map_or(0, char::len_utf8)..]),
                    end => (term(&rest[..end], false), &rest[end..]),
                }
            }
        };
        members.extend(member.map(|member| (Sign::None, member)));
        rest = behind;
    }
    Ok(members)
}

/// A phrase at the beginning of a text, and what stands behind it.
fn phrase(rest: &str) -> Option<(&str, &str)> {
    let (text, behind) = rest.strip_prefix('"')?.split_once('"')?;
    (!text.contains('\n')).then_some((text, behind))
}

/// A term: what is too short or too long is no part of one of several words, but for the first that is short. `begins` is said of
/// its last.
fn term(letters: &str, begins: bool) -> Option<Member> {
    let mut found: Vec<(String, bool)> = Vec::new();
    for word in words::of(letters) {
        let length = word.chars().count();
        if length > LONGEST || (length < SHORTEST && !found.is_empty()) {
            continue;
        }
        found.push((word.to_owned(), false));
    }
    if let Some(last) = found.last_mut() {
        last.1 = begins;
    }
    match found.len() {
        0 => None,
        1 => found.pop().map(|(word, begins)| Member::Word { word, begins }),
        _ => Some(Member::Words(found)),
    }
}

#[derive(Clone, Debug, Eq, PartialEq)]
enum Token {
    Sign(char),
    Number(String),
    Term(String),
    Text(String),
    End,
}

impl Token {
    fn shown(&self) -> String {
        match self {
            Self::Sign(sign) => format!("'{sign}'"),
            Self::Number(_) => "FTS_NUMB".to_owned(),
            Self::Term(_) => "FTS_TERM".to_owned(),
            Self::Text(_) => "FTS_TEXT".to_owned(),
            Self::End => "$end".to_owned(),
        }
    }
}

const SIGNS: &[char] = &['*', '(', ')', '+', '-', '<', '>', '~', '@'];

fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if let Some((text, behind)) = phrase(rest) {
            tokens.push(Token::Text(text.to_owned()));
            rest = behind;
            continue;
        }
        if SIGNS.contains(&first) {
            tokens.push(Token::Sign(first));
            rest = &rest[first.len_utf8()..];
            continue;
        }
        let ends = |character: char| SIGNS.contains(&character) || matches!(character, '"' | ' ' | '\n' | '%');
        let end = rest.find(ends).unwrap_or(rest.len());
        if end == 0 {
            rest = &rest[first.len_utf8()..];
            continue;
        }
        let letters = &rest[..end];
        match letters.bytes().all(|byte| byte.is_ascii_digit()) {
            true => tokens.push(Token::Number(letters.to_owned())),
            false if letters.chars().all(|character| character == '\t') => {}
            false => tokens.push(Token::Term(letters.to_owned())),
        }
        rest = &rest[end..];
    }
    tokens
}

fn unexpected(token: &Token, expected: &str) -> Error {
    let expected = if expected.is_empty() { String::new() } else { format!(", expecting {expected}") };
    let message = format!("syntax error, unexpected {}{expected}", token.shown());
    Error::new(Condition::SyntaxError, message).with_mysql(1064, "42000")
}

struct Parser {
    tokens: Vec<Token>,
    at: usize,
}

impl Parser {
    fn peek(&self) -> &Token {
        self.tokens.get(self.at).unwrap_or(&Token::End)
    }

    fn take(&mut self) -> Token {
        let token = self.peek().clone();
        self.at += 1;
        token
    }

    fn took(&mut self, sign: char) -> bool {
        let found = *self.peek() == Token::Sign(sign);
        self.at += usize::from(found);
        found
    }

    fn members(&mut self, depth: usize) -> Result<Vec<(Sign, Member)>> {
        if depth > DEEPEST {
            return Err(Error::new(Condition::StatementTooComplex, "the search nests too deeply"));
        }
        let mut members = Vec::new();
        loop {
            let sign = match self.peek() {
                Token::End if depth == 0 => return Ok(members),
                Token::Sign(')') if depth > 0 => {
                    self.at += 1;
                    return Ok(members);
                }
                Token::Sign(')' | '@') if depth == 0 => return Err(unexpected(self.peek(), "$end")),
                Token::Sign('+') => Sign::Must,
                Token::Sign('-') => Sign::MustNot,
                Token::Sign('~') => Sign::Against,
                Token::Sign('>') => Sign::Better,
                Token::Sign('<') => Sign::Worse,
                _ => Sign::None,
            };
            self.at += usize::from(sign != Sign::None);
            if self.took('(') {
                members.push((sign, Member::Group(self.members(depth + 1)?)));
                continue;
            }
            members.extend(self.member()?.map(|member| (sign, member)));
        }
    }

    /// A term or a phrase; nothing for what has no words.
    fn member(&mut self) -> Result<Option<Member>> {
        let mut starred = false;
        while self.took('*') {
            starred = true;
        }
        match self.take() {
            Token::Term(letters) | Token::Number(letters) => {
                let begins = self.took('*');
                Ok(term(&letters, begins))
            }
            Token::Text(text) if !starred => {
                let within = match self.took('@') {
                    false => None,
                    true => match self.take() {
                        Token::Number(digits) => Some(digits.parse().unwrap_or(usize::MAX)),
                        other => return Err(unexpected(&other, "FTS_NUMB")),
                    },
                };
                Ok(Some(Member::Phrase { text, within }))
            }
            other if starred => Err(unexpected(&other, "FTS_TERM or FTS_NUMB or '*'")),
            other => Err(unexpected(&other, "")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(word: &str) -> Member {
        Member::Word { word: word.to_owned(), begins: false }
    }

    #[test]
    fn signs_are_read_in_boolean_mode_alone() {
        let read = |text: &str| read(text, Mode::Boolean).unwrap();
        assert_eq!(
            read("+a -\"b c\"@2"),
            [(Sign::Must, word("a")), (Sign::MustNot, Member::Phrase { text: "b c".to_owned(), within: Some(2) })]
        );
        assert_eq!(
            read("one,zz,two*"),
            [(Sign::None, Member::Words(vec![("one".to_owned(), false), ("two".to_owned(), true)]))]
        );
        assert_eq!(
            read("**a* (>b)"),
            [
                (Sign::None, Member::Word { word: "a".to_owned(), begins: true }),
                (Sign::None, Member::Group(vec![(Sign::Better, word("b"))]))
            ]
        );
        assert_eq!(super::read("+a* (b", Mode::Natural).unwrap(), [(Sign::None, word("a")), (Sign::None, word("b"))]);
    }

    #[test]
    fn what_is_no_query_is_told_as_innodb_tells_it() {
        for (text, message) in [
            ("*", "unexpected $end, expecting FTS_TERM or FTS_NUMB or '*'"),
            ("*(", "unexpected '(', expecting FTS_TERM or FTS_NUMB or '*'"),
            ("+-a", "unexpected '-'"),
            ("a)", "unexpected ')', expecting $end"),
            ("(a @", "unexpected '@'"),
            ("(a", "unexpected $end"),
            ("a@b", "unexpected '@', expecting $end"),
            ("\"a\" @x", "unexpected FTS_TERM, expecting FTS_NUMB"),
            ("\"a\"*", "unexpected $end, expecting FTS_TERM or FTS_NUMB or '*'"),
            ("a +", "unexpected $end"),
        ] {
            let error = read(text, Mode::Boolean).unwrap_err();
            assert_eq!(error.message, format!("syntax error, {message}"), "{text}");
        }
    }
}
