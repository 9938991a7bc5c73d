//! SQL cut out of a body: expressions, statements, INTO, types.

use super::lexer::{Kind, Token};
use super::parser::Parser;
use super::{Into, Place, Sql, Target};
use crate::postgres::raw;
use crate::{Condition, Result};
use pg_query::protobuf::node::Node as N;

/// What SELECT needs before an expression to be a statement.
const BEFORE_EXPRESSION: &str = "SELECT ";

impl Parser<'_> {
    /// The end of the SQL that begins here: the first of `ends` outside parentheses, which must come.
    fn extent(&mut self, is_end: impl Fn(&Token) -> bool, expected: &str) -> Result<(usize, usize)> {
        let start = self.token().start;
        let mut depth = 0_i32;
        loop {
            let token = self.token();
            if depth == 0 && is_end(token) {
                break;
            }
            match token.kind {
                Kind::Sign('(' | '[') => depth += 1,
                Kind::Sign(')' | ']') => {
                    depth -= 1;
                    if depth < 0 {
                        return Err(self.error_at(Condition::SyntaxError, "mismatched parentheses", token.start));
                    }
                }
                Kind::End | Kind::Sign(';') => {
                    if depth != 0 {
                        return Err(self.error_at(Condition::SyntaxError, "mismatched parentheses", token.start));
                    }
                    if token.kind == Kind::End {
                        return Err(self.syntax_error());
                    }
                    let message = format!("missing \"{expected}\" at end of SQL expression");
                    return Err(self.error_at(Condition::SyntaxError, message, token.start));
                }
                _ => {}
            }
            self.at += 1;
        }
        let end = if self.at == 0 { start } else { self.tokens[self.at - 1].end.max(start) };
        Ok((start, end))
    }

    /// An expression up to the first token that ends it, which stays.
    pub(super) fn expression_until(&mut self, is_end: impl Fn(&Token) -> bool, expected: &str) -> Result<Sql> {
        let (start, end) = self.extent(is_end, expected)?;
        if start >= end {
            let message = format!("missing expression at or near \"{}\"", self.near());
            return Err(self.error_at(Condition::SyntaxError, message, self.token().start));
        }
        let text = format!("{BEFORE_EXPRESSION}{}", &self.source[start..end]);
        self.check(&text, BEFORE_EXPRESSION.len(), start)?;
        Ok(self.new_sql(text, BEFORE_EXPRESSION.len()))
    }

    /// What stands here, for messages.
    fn near(&self) -> String {
        let token = self.token();
        self.source[token.start..token.end].to_owned()
    }

    /// An expression up to a keyword, which is taken.
    pub(super) fn expression_to(&mut self, word: &str) -> Result<Sql> {
        let expected = word.to_uppercase();
        let sql = self.expression_until(|token| token.is(word), &expected)?;
        self.at += 1;
        Ok(sql)
    }

    /// An expression up to a semicolon, which is taken.
    pub(super) fn expression_to_end(&mut self) -> Result<Sql> {
        let sql = self.expression_until(|token| token.is_sign(';'), ";")?;
        self.at += 1;
        Ok(sql)
    }

    /// A list of expressions between commas, up to a token that ends it, which stays.
    pub(super) fn expressions_until(&mut self, is_end: impl Fn(&Token) -> bool, expected: &str) -> Result<Vec<Sql>> {
        let mut found = Vec::new();
        loop {
            found.push(self.expression_until(|token| token.is_sign(',') || is_end(token), expected)?);
            if !self.take_sign(',') {
                return Ok(found);
            }
        }
    }

    /// A statement of SQL from a place on, up to a token that ends it, which stays.
    pub(super) fn statement_until(&mut self, is_end: impl Fn(&Token) -> bool, expected: &str) -> Result<Sql> {
        let (start, end) = self.extent(is_end, expected)?;
        let text = self.source[start..end].to_owned();
        self.check(&text, 0, start)?;
        Ok(self.new_sql(text, 0))
    }

    /// Asks PostgreSQL's parser about a text, whose bytes behind `prefix` stand at `start` in the body.
    pub(super) fn check(&mut self, text: &str, prefix: usize, start: usize) -> Result<()> {
        match raw::parse(text) {
            Ok(statements) if statements.len() == 1 => {
                self.writes |= may_write(&statements[0].tree);
                Ok(())
            }
            Ok(_) => Err(self.error_at(Condition::SyntaxError, "a single statement is expected", start)),
            Err(error) => {
                let position = usize::try_from(error.position).unwrap_or(0);
                let before = text.chars().take(position.saturating_sub(1)).map(char::len_utf8).sum::<usize>();
                let place = start + before.saturating_sub(prefix);
                let mut message = error.message;
                if message == "syntax error at end of input" {
                    message = format!("syntax error at or near \"{}\"", self.near());
                    if self.token().kind == Kind::End {
                        "syntax error at end of input".clone_into(&mut message);
                    }
                }
                Err(self.error_at(Condition::SyntaxError, message, place))
            }
        }
    }

    /// A statement of SQL from a token on, up to its semicolon, which is taken; INTO is taken out.
    pub(super) fn sql_statement(&mut self, from: usize, takes_into: bool) -> Result<(Sql, Option<Into>)> {
        let start = self.tokens[from].start;
        self.at = from;
        let mut depth = 0_i32;
        let mut into: Option<(Into, usize, usize)> = None;
        let mut before = "";
        let first = match &self.tokens[from].kind {
            Kind::Name(name, false) => name.clone(),
            _ => String::new(),
        };
        // CREATE FUNCTION … BEGIN ATOMIC … END has semicolons of its own.
        let defines = first == "create"
            && self.tokens[from + 1..].iter().take(3).any(|token| token.is("function") || token.is("procedure"));
        let mut begun = 0_u32;
        let takes_into = takes_into && first != "import" && !defines;
        loop {
            let token = self.token().clone();
            match &token.kind {
                Kind::Sign('(' | '[') => depth += 1,
                Kind::Sign(')' | ']') => depth -= 1,
                Kind::Sign(';') if depth <= 0 && begun == 0 => break,
                Kind::End => return Err(self.syntax_error()),
                Kind::Name(name, false) if defines && (name == "begin" || begun > 0 && name == "case") => begun += 1,
                Kind::Name(name, false) if defines && name == "end" => begun = begun.saturating_sub(1),
                // INSERT INTO and MERGE INTO are no INTO of ours.
                Kind::Name(name, false) if name == "into" && takes_into && !matches!(before, "insert" | "merge") => {
                    if into.is_some() {
                        return Err(self.error_at(
                            Condition::SyntaxError,
                            "INTO specified more than once",
                            token.start,
                        ));
                    }
                    self.at += 1;
                    let strict = self.take("strict");
                    let target = self.target()?;
                    let end = self.tokens[self.at - 1].end;
                    into = Some((Into { target, strict }, token.start, end));
                    before = "";
                    continue;
                }
                _ => {}
            }
            before = match &token.kind {
                Kind::Name(name, false) if name == "insert" => "insert",
                Kind::Name(name, false) if name == "merge" => "merge",
                _ => "",
            };
            self.at += 1;
        }
        let end = self.tokens[self.at - 1].end;
        let text = match &into {
            Some((_, from, to)) => {
                let blank = " ".repeat(to - from);
                format!("{}{blank}{}", &self.source[start..*from], &self.source[*to..end.max(*to)])
                    .trim_end()
                    .to_owned()
            }
            None => self.source[start..end].to_owned(),
        };
        self.check(&text, 0, start)?;
        self.at += 1;
        Ok((self.new_sql(text, 0), into.map(|(into, ..)| into)))
    }

    /// The targets of INTO and of loops.
    pub(super) fn target(&mut self) -> Result<Target> {
        let first = self.place(true)?;
        let whole = first.field.is_none() && first.subscripts.is_empty();
        if whole && self.is_row(first.variable) {
            if self.token().is_sign(',') {
                let message = "record variable cannot be part of multiple-item INTO list";
                return Err(self.error_at(Condition::SyntaxError, message, self.tokens[self.at - 1].start));
            }
            return Ok(Target::Row(first.variable));
        }
        let mut places = vec![first];
        while self.take_sign(',') {
            let start = self.token().start;
            let place = self.place(true)?;
            if place.field.is_none() && place.subscripts.is_empty() && self.is_row(place.variable) {
                let message = format!("\"{}\" is not a scalar variable", self.variables[place.variable].name);
                return Err(self.error_at(Condition::SyntaxError, message, start));
            }
            places.push(place);
        }
        Ok(Target::Places(places))
    }

    /// The variable, or the part of it, that a name here means; it must be one that can be assigned to.
    pub(super) fn place(&mut self, known: bool) -> Result<Place> {
        let start = self.at;
        let place = self.place_if_variable()?;
        match place {
            Some(place) => {
                let variable = &self.variables[place.variable];
                if variable.constant {
                    let message = format!("variable \"{}\" is declared CONSTANT", variable.name);
                    return Err(self.error_at(Condition::ErrorInAssignment, message, self.tokens[start].start));
                }
                Ok(place)
            }
            None if known && matches!(self.tokens[start].kind, Kind::Name(..)) => {
                let mut end = start;
                while self.tokens[end + 1].is_sign('.') && matches!(self.tokens[end + 2].kind, Kind::Name(..)) {
                    end += 2;
                }
                let (from, to) = (self.tokens[start].start, self.tokens[end].end);
                let message = format!("\"{}\" is not a known variable", &self.source[from..to]);
                Err(self.error_at(Condition::SyntaxError, message, from))
            }
            None => Err(self.syntax_error_at(start)),
        }
    }

    /// The same, where something else may stand; nothing is taken then.
    pub(super) fn place_if_variable(&mut self) -> Result<Option<Place>> {
        let start = self.at;
        let mut names = Vec::new();
        match &self.token().kind {
            Kind::Name(name, _) => names.push(name.clone()),
            Kind::Param(number) => names.push(format!("${number}")),
            _ => return Ok(None),
        }
        self.at += 1;
        while self.token().is_sign('.') {
            let Kind::Name(name, _) = &self.ahead(1).kind else { break };
            names.push(name.clone());
            self.at += 2;
        }
        let words: Vec<&str> = names.iter().map(String::as_str).collect();
        let labelled = |label: &str, name: &str| self.find_labelled(label, name);
        let found = match words.as_slice() {
            [name] => self.find(name).map(|slot| (slot, None)),
            [first, second] => match self.find(first) {
                Some(slot) if self.is_row(slot) => Some((slot, Some(*second))),
                _ => labelled(first, second).map(|slot| (slot, None)),
            },
            [label, name, field] => {
                labelled(label, name).filter(|slot| self.is_row(*slot)).map(|slot| (slot, Some(*field)))
            }
            _ => None,
        };
        let Some((variable, field)) = found else {
            self.at = start;
            return Ok(None);
        };
        let field = field.map(str::to_owned);
        let mut subscripts = Vec::new();
        while self.take_sign('[') {
            subscripts.push(self.expression_until(|token| token.is_sign(']'), "]")?);
            self.at += 1;
        }
        Ok(Some(Place { variable, field, subscripts }))
    }
}

/// A statement that may change something by itself: the functions that it calls apart.
pub(crate) fn may_write(statement: &N) -> bool {
    let N::SelectStmt(select) = statement else { return true };
    let members = select.with_clause.iter().flat_map(|with| &with.ctes);
    select.into_clause.is_some()
        || members.filter_map(|member| member.node.as_ref()).any(|member| match member {
            N::CommonTableExpr(member) => {
                let query = member.ctequery.as_deref().and_then(|query| query.node.as_ref());
                query.is_none_or(may_write)
            }
            _ => true,
        })
}
