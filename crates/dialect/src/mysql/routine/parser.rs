//! Tokens of a routine, and what is known while it is read.

use pg_query::protobuf::node::Node as N;
use sqlparser::dialect::MySqlDialect;
use sqlparser::parser::Parser as SqlParser;
use sqlparser::tokenizer::{Token, TokenWithSpan, Word};

use super::steps::{Declared, Reaction};
use super::{Kind, TypeOf, errors};
use crate::mysql::tokens::is_word;
use crate::mysql::{tree, types};
use crate::postgres::plpgsql::{DeclaredType, Scope, Sql, Variable, VariableKind};
use crate::postgres::routine::type_of_name;
use crate::schema::QualifiedName;
use crate::stored_function::TypeRef;
use crate::{Condition, Error, Result, Type, stack};

/// Who knows the types that users have made; `None` while nobody is asked.
pub(crate) type Finder<'f> = Option<&'f dyn Fn(&QualifiedName) -> Option<Type>>;

/// How deep blocks may nest.
const DEEPEST: u32 = 200;

/// A label of a block or loop.
pub(super) struct Label {
    pub(super) name: String,
    /// It is a loop's.
    pub(super) repeats: bool,
    /// A handler stands between: neither LEAVE nor ITERATE crosses it.
    pub(super) hidden: bool,
}

/// What a name declared by DECLARE … CONDITION stands for.
#[derive(Clone)]
pub(super) enum Named {
    Number(u16),
    State(String),
}

/// The declarations of a block.
#[derive(Default)]
pub(super) struct Level {
    pub(super) conditions: Vec<(String, Named)>,
    /// Cursors, by their numbers.
    pub(super) cursors: Vec<(String, usize)>,
}

/// Reads a routine.
pub(super) struct Parser<'t> {
    pub(super) sql: &'t str,
    pub(super) database: &'t str,
    pub(super) lines: tree::Lines<'t>,
    find: Finder<'t>,
    /// All but blanks.
    pub(super) tokens: Vec<TokenWithSpan>,
    /// Where each of them stands in the text, in bytes.
    places: Vec<(usize, usize)>,
    /// How many of all tokens come before each of them, itself included.
    counted: Vec<usize>,
    pub(super) at: usize,
    pub(super) depth: u32,
    pub(super) kind: Kind,
    pub(super) name: String,
    pub(super) variables: Vec<Variable>,
    pub(super) scopes: Vec<Scope>,
    pub(super) scope: usize,
    pub(super) labels: Vec<Label>,
    /// Labels that nobody has written.
    pub(super) made_labels: usize,
    pub(super) levels: Vec<Level>,
    pub(super) cursors: Vec<Declared>,
    pub(super) reactions: Vec<Reaction>,
    pub(super) statements: usize,
    pub(super) writes: bool,
    pub(super) returns: bool,
    pub(super) calls: Vec<String>,
    pub(super) types: Vec<(String, N)>,
}

impl<'t> Parser<'t> {
    pub(super) fn new((sql, database): (&'t str, &'t str), tokens: &[TokenWithSpan], find: Finder<'t>) -> Self {
        let offsets = tree::offsets(sql, tokens);
        let mut parser = Self {
            sql,
            database,
            lines: tree::Lines::new(sql),
            find,
            tokens: Vec::with_capacity(tokens.len()),
            places: Vec::with_capacity(tokens.len()),
            counted: Vec::with_capacity(tokens.len()),
            at: 0,
            depth: 0,
            kind: Kind::Procedure,
            name: String::new(),
            variables: Vec::new(),
            scopes: vec![Scope::default()],
            scope: 0,
            labels: Vec::new(),
            made_labels: 0,
            levels: Vec::new(),
            cursors: Vec::new(),
            reactions: Vec::new(),
            statements: 0,
            writes: false,
            returns: false,
            calls: Vec::new(),
            types: Vec::new(),
        };
        for ((at, token), place) in tokens.iter().enumerate().zip(offsets) {
            if !matches!(token.token, Token::Whitespace(_)) {
                parser.tokens.push(token.clone());
                parser.places.push(place);
                parser.counted.push(at + 1);
            }
        }
        parser
    }

    /// So many of all tokens have been taken.
    pub(super) fn taken(&self) -> usize {
        self.at.checked_sub(1).and_then(|at| self.counted.get(at)).copied().unwrap_or(0)
    }

    // Tokens.

    pub(super) fn token(&self) -> &Token {
        self.ahead(0)
    }

    pub(super) fn ahead(&self, count: usize) -> &Token {
        self.tokens.get(self.at + count).map_or(&Token::EOF, |token| &token.token)
    }

    /// The byte where a token begins; behind the last the text's end.
    pub(super) fn start_of(&self, at: usize) -> usize {
        self.places.get(at).map_or(self.sql.len(), |place| place.0)
    }

    /// The byte behind the token before this one.
    pub(super) fn end_before(&self, at: usize) -> usize {
        at.checked_sub(1).and_then(|at| self.places.get(at)).map_or(0, |place| place.1)
    }

    /// The text from one token up to another.
    pub(super) fn between(&self, from: usize, to: usize) -> &'t str {
        self.sql.get(self.start_of(from)..self.end_before(to).max(self.start_of(from))).unwrap_or_default()
    }

    pub(super) fn line_of(&self, at: usize) -> u32 {
        let line = |at: usize| self.tokens.get(at).map_or(0, |token| token.span.start.line);
        // From the beginning of the routine.
        u32::try_from(line(at).saturating_sub(line(0))).unwrap_or(u32::MAX).saturating_add(1)
    }

    /// A word without quotes stands here.
    pub(super) fn is(&self, word: &str) -> bool {
        is_word(self.token(), word)
    }

    pub(super) fn are(&self, words: &[&str]) -> bool {
        words.iter().enumerate().all(|(at, word)| is_word(self.ahead(at), word))
    }

    pub(super) fn take(&mut self, word: &str) -> bool {
        let found = self.is(word);
        self.at += usize::from(found);
        found
    }

    pub(super) fn take_all(&mut self, words: &[&str]) -> bool {
        let found = self.are(words);
        self.at += if found { words.len() } else { 0 };
        found
    }

    pub(super) fn take_token(&mut self, token: &Token) -> bool {
        let found = self.token() == token;
        self.at += usize::from(found);
        found
    }

    pub(super) fn expect(&mut self, word: &str) -> Result<()> {
        if self.take(word) { Ok(()) } else { Err(self.syntax_error()) }
    }

    pub(super) fn expect_token(&mut self, token: &Token) -> Result<()> {
        if self.take_token(token) { Ok(()) } else { Err(self.syntax_error()) }
    }

    /// A name, in quotes or not.
    pub(super) fn any_name(&mut self) -> Result<String> {
        match self.token() {
            Token::Word(Word { value, .. }) if !value.starts_with('@') => {
                let name = value.clone();
                self.at += 1;
                Ok(name)
            }
            _ => Err(self.syntax_error()),
        }
    }

    /// A string.
    pub(super) fn string(&mut self) -> Result<String> {
        match self.token() {
            Token::SingleQuotedString(text) | Token::DoubleQuotedString(text) => {
                let text = text.clone();
                self.at += 1;
                Ok(text)
            }
            _ => Err(self.syntax_error()),
        }
    }

    /// What stands here is not what is wanted.
    pub(super) fn syntax_error(&self) -> Error {
        self.syntax_error_at(self.at)
    }

    pub(super) fn syntax_error_at(&self, at: usize) -> Error {
        let line = self.tokens.get(at).or(self.tokens.last()).map_or(1, |token| token.span.start.line);
        tree::syntax_error(self.sql, self.start_of(at), line)
    }

    /// One level down.
    pub(super) fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth >= DEEPEST {
            return Err(Error::new(Condition::StatementTooComplex, "the statement nests too deeply"));
        }
        self.depth += 1;
        let result = stack::deeper(|| parse(self));
        self.depth -= 1;
        result
    }

    // Scopes and variables.

    pub(super) fn open_scope(&mut self) -> usize {
        let outer = self.scope;
        self.scopes.push(Scope { parent: Some(outer), label: None, names: Vec::new() });
        self.scope = self.scopes.len() - 1;
        outer
    }

    pub(super) fn add_variable(&mut self, name: &str, kind: VariableKind, line: u32) -> usize {
        let slot = self.variables.len();
        self.variables.push(Variable {
            name: name.to_owned(),
            kind,
            collation: None,
            constant: false,
            not_null: false,
            default: None,
            line,
        });
        self.scopes[self.scope].names.push((name.to_owned(), slot));
        slot
    }

    /// The variable of a name, of any case.
    pub(super) fn find(&self, name: &str) -> Option<usize> {
        let mut scope = Some(self.scope);
        while let Some(at) = scope {
            let names = &self.scopes[at].names;
            if let Some((_, slot)) = names.iter().rev().find(|(known, _)| known.eq_ignore_ascii_case(name)) {
                return Some(*slot);
            }
            scope = self.scopes[at].parent;
        }
        None
    }

    pub(super) fn new_sql(&mut self, text: String, prefix: usize) -> Sql {
        let id = self.statements;
        self.statements += 1;
        let names = self.scopes[self.scope].names.len();
        Sql { id, text: text.into(), prefix, assignment: None, scope: self.scope, names }
    }

    // Types.

    /// A type with its CHARACTER SET.
    pub(super) fn type_of(&mut self) -> Result<TypeOf> {
        let from = self.at;
        let to = self.statement_end();
        let mut parser = SqlParser::new(&MySqlDialect {}).with_tokens_with_locations(self.tokens[from..to].to_vec());
        let Ok(ty) = parser.parse_data_type() else { return Err(self.syntax_error()) };
        self.at = from + parser.index();
        loop {
            if self.take_all(&["character", "set"]) || self.take("charset") || self.take("collate") {
                match self.token() {
                    Token::SingleQuotedString(_) | Token::DoubleQuotedString(_) => self.at += 1,
                    _ => drop(self.any_name()?),
                }
            } else {
                break;
            }
        }
        let declared = types::declared(&ty)?;
        if let Some(name) = declared.domain {
            let made = types::made(&name).ok_or_else(|| Error::unsupported(format!("the type {name}")))?;
            if !self.types.iter().any(|(known, _)| *known == name) {
                self.types.push((name, made));
            }
        }
        let written = self.between(from, self.at);
        // What ENUM names stays as it is.
        let words = if written.contains('\'') { written.to_owned() } else { written.to_lowercase() };
        Ok(TypeOf { words, name: declared.name })
    }

    /// What a variable of a type holds.
    pub(super) fn kind_of(&self, ty: &TypeOf) -> Result<VariableKind> {
        let of = type_of_name(&ty.name)?;
        let of = match (&of, self.find) {
            (TypeRef::Row(name), Some(find)) => {
                let missing = || Error::new(Condition::UndefinedObject, format!("type \"{name}\" does not exist"));
                TypeRef::Is(find(name).ok_or_else(missing)?)
            }
            _ => of,
        };
        Ok(VariableKind::Declared(DeclaredType::Is(of)))
    }

    /// The token that ends the statement that stands here: a semicolon, or what is behind all.
    pub(super) fn statement_end(&self) -> usize {
        let rest = &self.tokens[self.at.min(self.tokens.len())..];
        self.at + rest.iter().position(|token| token.token == Token::SemiColon).unwrap_or(rest.len())
    }

    /// It is a function or a trigger, which a statement calls.
    pub(super) fn is_called_by_statements(&self) -> bool {
        self.kind != Kind::Procedure
    }

    /// FUNCTION or TRIGGER, for messages.
    pub(super) fn kind_word(&self) -> &'static str {
        match self.kind {
            Kind::Trigger(_) => "trigger",
            _ => "function",
        }
    }

    /// A label that stands around, which LEAVE or ITERATE names.
    pub(super) fn label_around(&self, word: &str, name: &str) -> Result<String> {
        let found = self.labels.iter().rev().take_while(|label| !label.hidden);
        let mut found = found.filter(|label| label.name.eq_ignore_ascii_case(name));
        match found.next() {
            Some(label) if word == "LEAVE" || label.repeats => Ok(label.name.clone()),
            _ => Err(errors::no_label(word, name)),
        }
    }
}
