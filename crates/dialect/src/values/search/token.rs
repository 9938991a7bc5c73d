//! The words of a `tsvector`'s or `tsquery`'s text: bare or in quotes, with backslashes.

use super::vector::Position;
use crate::{Condition, Error, Result};

/// How words end.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Manner {
    /// In a `tsvector`: positions may follow.
    Vector,
    /// In a `tsquery`: operators end words.
    Query,
    /// The same in a text of `websearch_to_tsquery`, where no quote begins a word.
    Web,
}

impl Manner {
    fn ends_at(self, c: char) -> bool {
        self != Self::Vector && is_operator(c)
    }
}

/// True for a character that begins an operator.
pub(super) fn is_operator(c: char) -> bool {
    matches!(c, '!' | '&' | '|' | '(' | ')' | '<')
}

/// A text that is read from its beginning.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reader<'a> {
    pub(super) whole: &'a str,
    pub(super) rest: &'a str,
    manner: Manner,
}

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a str, manner: Manner) -> Self {
        // What PostgreSQL reads ends at a zero; a text has none.
        Self { whole: text, rest: text, manner }
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    pub(super) fn advance(&mut self) {
        let mut chars = self.rest.chars();
        chars.next();
        self.rest = chars.as_str();
    }

    pub(super) fn syntax_error(&self) -> Error {
        let what = if self.manner == Manner::Vector { "tsvector" } else { "tsquery" };
        Error::new(Condition::SyntaxError, format!("syntax error in {what}: \"{}\"", self.whole))
    }

    fn escaped(&mut self, word: &mut String) -> Result<()> {
        self.advance();
        let Some(c) = self.peek() else {
            let message = format!("there is no escaped character: \"{}\"", self.whole);
            return Err(Error::new(Condition::SyntaxError, message));
        };
        word.push(c);
        self.advance();
        Ok(())
    }

    /// The next word; `None` at the end. In a `tsvector` with the positions behind it.
    pub(super) fn word(&mut self) -> Result<Option<(String, Vec<Position>)>> {
        while self.peek().is_some_and(char::is_whitespace) {
            self.advance();
        }
        let mut word = String::new();
        match self.peek() {
            None => return Ok(None),
            Some('\'') if self.manner != Manner::Web => {
                self.advance();
                self.quoted(&mut word)?;
                if word.is_empty() {
                    return Err(self.syntax_error());
                }
            }
            Some(c) if self.manner.ends_at(c) => return Err(self.syntax_error()),
            Some(_) => self.bare(&mut word)?,
        }
        let mut positions = Vec::new();
        if self.manner == Manner::Vector && self.peek() == Some(':') {
            self.advance();
            self.positions(&mut positions)?;
        }
        Ok(Some((word, positions)))
    }

    fn opens_phrase(&self, c: char) -> bool {
        self.manner == Manner::Web && c == '"'
    }

    fn bare(&mut self, word: &mut String) -> Result<()> {
        let mut first = true;
        while let Some(c) = self.peek() {
            if c == '\\' && self.manner != Manner::Web {
                self.escaped(word)?;
            } else if !first && (c.is_whitespace() || self.manner.ends_at(c) || c == ':' || self.opens_phrase(c)) {
                break;
            } else {
                word.push(c);
                self.advance();
            }
            first = false;
        }
        if word.is_empty() { Err(self.syntax_error()) } else { Ok(()) }
    }

    fn quoted(&mut self, word: &mut String) -> Result<()> {
        loop {
            match self.peek() {
                None => return Err(self.syntax_error()),
                Some('\\') => self.escaped(word)?,
                Some('\'') => {
                    self.advance();
                    if self.peek() != Some('\'') {
                        return Ok(());
                    }
                    word.push('\'');
                    self.advance();
                }
                Some(c) => {
                    word.push(c);
                    self.advance();
                }
            }
        }
    }

    /// `1A,2,3*`
    fn positions(&mut self, positions: &mut Vec<Position>) -> Result<()> {
        loop {
            if !self.peek().is_some_and(|c| c.is_ascii_digit()) {
                return Err(self.syntax_error());
            }
            let mut number: u32 = 0;
            while let Some(digit) = self.peek().and_then(|c| c.to_digit(10)) {
                number = number.saturating_mul(10).saturating_add(digit);
                self.advance();
            }
            if number == 0 {
                let message = format!("wrong position info in tsvector: \"{}\"", self.whole);
                return Err(Error::new(Condition::SyntaxError, message));
            }
            let mut position = Position::new(number, 0);
            loop {
                let Some(c) = self.peek() else {
                    positions.push(position);
                    return Ok(());
                };
                let weight = match c {
                    'a' | 'A' | '*' => 3,
                    'b' | 'B' => 2,
                    'c' | 'C' => 1,
                    'd' | 'D' => 0,
                    ',' => break,
                    c if c.is_whitespace() => {
                        positions.push(position);
                        return Ok(());
                    }
                    c if c.is_ascii_digit() => {
                        self.advance();
                        continue;
                    }
                    _ => return Err(self.syntax_error()),
                };
                if position.weight() != 0 {
                    return Err(self.syntax_error());
                }
                position = Position::new(number, weight);
                self.advance();
            }
            positions.push(position);
            self.advance();
        }
    }
}

/// Prints a word in quotes.
pub(super) fn quote(out: &mut String, word: &str) {
    out.push('\'');
    for c in word.chars() {
        if matches!(c, '\'' | '\\') {
            out.push(c);
        }
        out.push(c);
    }
    out.push('\'');
}
