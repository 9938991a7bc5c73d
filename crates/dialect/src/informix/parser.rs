//! The token stream with its position; what every production uses.

use super::ast::{Node, NodeKind, ObjectName};
use super::lexer::{Token, TokenKind, position, tokens};
use crate::{Condition, Error, Result};

/// How deep expressions and queries may nest.
const MAX_DEPTH: usize = 200;
/// How tall a tree of expressions and queries may grow: chains such as `a + b + c` nest to the left without nesting in
/// the text, and everything behind the parser walks trees by recursion.
const MAX_HEIGHT: usize = 300;

/// Stands behind texts that are kept (of views, checks, triggers, routines) when their quotes delimit names: whoever reads
/// them later need not know whose session they are from.
pub(super) const DELIMITED: &str = " {DELIMIDENT}";

pub(super) struct Parser<'a> {
    pub text: &'a str,
    tokens: Vec<Token>,
    at: usize,
    /// Parameters seen so far in the statement.
    pub params: usize,
    /// The routine that is being parsed.
    pub spl: Option<Box<super::spl::Names>>,
    /// In the condition of CONNECT BY, where PRIOR is an operator.
    pub connects: bool,
    /// `"x"` is a name everywhere, as DELIMIDENT has it.
    pub delimited: bool,
    /// What the statement says and what has no effect here.
    pub idle: Vec<&'static str>,
    depth: usize,
    /// The height of the tallest tree in the production under way, at most.
    height: usize,
}

impl<'a> Parser<'a> {
    /// Reads a text as its end says: what is kept of a session with DELIMIDENT has [`DELIMITED`] behind it.
    pub fn new(text: &'a str) -> Result<Self> {
        match text.strip_suffix(DELIMITED) {
            Some(text) => Self::reading(text, true),
            None => Self::reading(text, false),
        }
    }

    /// Reads a text with DELIMIDENT, or without.
    pub fn reading(text: &'a str, delimited: bool) -> Result<Self> {
        Ok(Self {
            text,
            tokens: tokens(text)?,
            at: 0,
            params: 0,
            spl: None,
            connects: false,
            delimited,
            idle: Vec::new(),
            depth: 0,
            height: 0,
        })
    }

    pub fn peek(&self) -> &TokenKind {
        &self.tokens[self.at].kind
    }

    pub fn peek_at(&self, ahead: usize) -> &TokenKind {
        &self.tokens[(self.at + ahead).min(self.tokens.len() - 1)].kind
    }

    /// Where the next token begins, in bytes.
    pub fn start(&self) -> usize {
        self.tokens[self.at].start
    }

    /// Where the last token taken ended, in bytes.
    pub fn end(&self) -> usize {
        if self.at == 0 { 0 } else { self.tokens[self.at - 1].end }
    }

    pub fn take(&mut self) -> TokenKind {
        let kind = self.tokens[self.at].kind.clone();
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
        kind
    }

    /// The place of the next token, for [`Parser::reset`].
    pub fn mark(&self) -> usize {
        self.at
    }

    /// Goes back, or forth again, to a place.
    pub fn reset(&mut self, mark: usize) {
        self.at = mark;
    }

    pub fn at_end(&self) -> bool {
        *self.peek() == TokenKind::End
    }

    pub fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), TokenKind::Word(found) if found == word)
    }

    pub fn is_word_at(&self, ahead: usize, word: &str) -> bool {
        matches!(self.peek_at(ahead), TokenKind::Word(found) if found == word)
    }

    pub fn is_sign(&self, sign: &str) -> bool {
        matches!(self.peek(), TokenKind::Sign(found) if *found == sign)
    }

    pub fn is_sign_at(&self, ahead: usize, sign: &str) -> bool {
        matches!(self.peek_at(ahead), TokenKind::Sign(found) if *found == sign)
    }

    pub fn word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        if found {
            self.take();
        }
        found
    }

    /// Takes a sequence of words if all of them stand here.
    pub fn words(&mut self, words: &[&str]) -> bool {
        let found = words.iter().enumerate().all(|(ahead, word)| self.is_word_at(ahead, word));
        if found {
            self.at += words.len();
        }
        found
    }

    pub fn sign(&mut self, sign: &str) -> bool {
        let found = self.is_sign(sign);
        if found {
            self.take();
        }
        found
    }

    pub fn expect_word(&mut self, word: &str) -> Result<()> {
        if self.word(word) { Ok(()) } else { Err(self.unexpected()) }
    }

    pub fn expect_sign(&mut self, sign: &str) -> Result<()> {
        if self.sign(sign) { Ok(()) } else { Err(self.unexpected()) }
    }

    /// A syntax error at the next token.
    pub fn unexpected(&self) -> Error {
        let token = &self.tokens[self.at];
        let message = match token.kind {
            TokenKind::End => "syntax error at end of statement".to_owned(),
            _ => format!("syntax error at or near \"{}\"", &self.text[token.start..token.end]),
        };
        Error::new(Condition::SyntaxError, message).at(position(self.text, token.start))
    }

    /// An error at a byte of the text.
    pub fn error_at(&self, condition: Condition, message: impl Into<String>, at: usize) -> Error {
        Error::new(condition, message).at(position(self.text, at))
    }

    /// Notes that something in the statement has no effect here; true, for those who take one of several.
    pub fn is_idle(&mut self, what: &'static str) -> bool {
        if !self.idle.contains(&what) {
            self.idle.push(what);
        }
        true
    }

    pub fn unsupported(&self, feature: &str) -> Error {
        Error::unsupported(feature).at(position(self.text, self.start()))
    }

    /// Runs a production one level deeper.
    pub fn nested<T>(&mut self, production: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.error_at(
                Condition::StatementTooComplex,
                format!("the statement nests deeper than {MAX_DEPTH} levels"),
                self.start(),
            ));
        }
        let beside = std::mem::take(&mut self.height);
        let result = production(self);
        self.height = beside.max(self.height + 1);
        self.depth -= 1;
        result
    }

    /// Runs a production whose tree stands beside those before it, not on top of them.
    pub fn beside<T>(&mut self, production: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let beside = std::mem::take(&mut self.height);
        let result = production(self);
        self.height = beside.max(self.height);
        result
    }

    /// Counts one more link of a chain, which puts a level on top of what was parsed.
    pub fn link(&mut self) -> Result<()> {
        self.height += 1;
        if self.height > MAX_HEIGHT {
            return Err(self.error_at(
                Condition::StatementTooComplex,
                format!("a chain of operators is longer than {MAX_HEIGHT}; parentheses in its middle help"),
                self.start(),
            ));
        }
        Ok(())
    }

    /// A name: a word or a quoted name.
    pub fn name(&mut self) -> Result<String> {
        match self.peek() {
            TokenKind::Word(_) | TokenKind::Quoted(_) => match self.take() {
                TokenKind::Word(name) | TokenKind::Quoted(name) => Ok(name),
                _ => unreachable!("the token was looked at"),
            },
            _ => Err(self.unexpected()),
        }
    }

    /// A name with its byte.
    pub fn name_at(&mut self) -> Result<(String, usize)> {
        let at = self.start();
        Ok((self.name()?, at))
    }

    /// `database[@server]:owner.name`, every part but the last optional.
    pub fn object_name(&mut self) -> Result<ObjectName> {
        let mut at = self.start();
        let mut first = self.owner_or_name()?;
        let (mut database, mut server) = (None, None);
        if self.sign("@") {
            server = Some(self.name()?);
            if !self.is_sign(":") {
                return Err(self.unexpected());
            }
        }
        if self.sign(":") {
            database = Some(first);
            at = self.start();
            first = self.owner_or_name()?;
        }
        if self.sign(".") {
            at = self.start();
            let name = self.name()?;
            return Ok(ObjectName { database, server, owner: Some(first), name, at });
        }
        Ok(ObjectName { database, server, owner: None, name: first, at })
    }

    /// An owner may also be written as `'owner'`.
    fn owner_or_name(&mut self) -> Result<String> {
        if let (TokenKind::String(owner), true) = (self.peek().clone(), self.is_sign_at(1, ".")) {
            self.take();
            return Ok(owner);
        }
        self.name()
    }

    /// `(a, b, …)`
    pub fn name_list(&mut self) -> Result<Vec<String>> {
        self.expect_sign("(")?;
        let names = self.list(Self::name)?;
        self.expect_sign(")")?;
        Ok(names)
    }

    /// One or more, with commas between.
    pub fn list<T>(&mut self, mut member: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        let mut members = vec![member(self)?];
        while !self.before_action() && self.sign(",") {
            members.push(member(self)?);
        }
        Ok(members)
    }

    /// An unsigned whole number.
    pub fn unsigned(&mut self) -> Result<u32> {
        let TokenKind::Number(digits) = self.peek() else { return Err(self.unexpected()) };
        let number = digits.parse().map_err(|_| self.unexpected())?;
        self.take();
        Ok(number)
    }

    /// A whole number, perhaps signed.
    pub fn signed(&mut self) -> Result<i64> {
        let negative = self.sign("-");
        if !negative {
            self.sign("+");
        }
        let TokenKind::Number(digits) = self.peek() else { return Err(self.unexpected()) };
        let written = if negative { format!("-{digits}") } else { digits.clone() };
        let number = written.parse().map_err(|_| self.unexpected())?;
        self.take();
        Ok(number)
    }

    /// A number or a parameter (FIRST, SKIP).
    pub fn count(&mut self) -> Result<Node> {
        let at = self.start();
        match self.peek() {
            TokenKind::Number(_) => match self.take() {
                TokenKind::Number(digits) => Ok(Node { kind: NodeKind::Number(digits), at }),
                _ => unreachable!("the token was looked at"),
            },
            TokenKind::Param => self.param(),
            TokenKind::Word(name) => {
                let name = name.clone();
                let variable = self.variable(&name, at).ok_or_else(|| self.unexpected())?;
                self.take();
                Ok(variable)
            }
            _ => Err(self.unexpected()),
        }
    }

    /// True when [`Parser::count`] can be called `ahead` tokens from here.
    pub fn is_count_at(&self, ahead: usize) -> bool {
        match self.peek_at(ahead) {
            TokenKind::Number(_) | TokenKind::Param => true,
            TokenKind::Word(name) => self.is_variable(name),
            _ => false,
        }
    }

    /// The parameter that stands here.
    pub fn param(&mut self) -> Result<Node> {
        if self.spl.is_some() {
            return Err(self.unexpected());
        }
        let at = self.start();
        self.take();
        self.params += 1;
        Ok(Node { kind: NodeKind::Param(self.params - 1), at })
    }

    /// Passes over a balanced pair of parentheses and what stands between.
    pub fn skip_parentheses(&mut self) -> Result<()> {
        self.expect_sign("(")?;
        let mut open = 1;
        while open > 0 {
            if self.at_end() {
                return Err(self.unexpected());
            }
            match self.take() {
                TokenKind::Sign("(") => open += 1,
                TokenKind::Sign(")") => open -= 1,
                _ => {}
            }
        }
        Ok(())
    }

    /// The text between parentheses, as written.
    pub fn raw_parentheses(&mut self) -> Result<String> {
        let start = self.tokens[self.at].end;
        self.skip_parentheses()?;
        let end = self.tokens[self.at - 1].start;
        Ok(self.text[start..end].trim().to_owned())
    }
}
