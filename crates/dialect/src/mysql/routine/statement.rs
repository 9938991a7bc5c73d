//! SQL of a routine: expressions, statements, INTO, SET.

use sqlparser::ast::Ident;
use sqlparser::dialect::MySqlDialect;
use sqlparser::parser::Parser as SqlParser;
use sqlparser::tokenizer::{Span, Token, TokenWithSpan, Word};

use super::parser::Parser;
use super::steps::{Destination, MysqlStep};
use super::{Kind, errors, header};
use crate::ir::TriggerEvent;
use crate::mysql::expressions::user_variable;
use crate::mysql::tokens::is_word;
use crate::mysql::{tree, variables};
use crate::postgres::plpgsql::{Place, Sql, Step, StepKind, may_write};
use crate::{Error, Result};

/// What SELECT needs before an expression to be a statement.
const BEFORE_EXPRESSION: &str = "SELECT ";

/// Statements that yield rows.
const WITH_ROWS: &[&str] =
    &["select", "with", "values", "table", "show", "describe", "desc", "explain", "check", "analyze"];

impl Parser<'_> {
    /// An expression.
    pub(super) fn expression(&mut self) -> Result<Sql> {
        let (from, to) = (self.at, self.statement_end());
        let tokens = tree::respelled(&self.tokens[from..to]);
        let mut parser = SqlParser::new(&MySqlDialect {}).with_tokens_with_locations(tokens);
        let parsed = parser.parse_expr();
        let next = parser.peek_token_ref().span.start;
        let rest = self.tokens[from..to].iter().position(|token| token.span.start == next);
        self.at = rest.map_or(to, |rest| from + rest);
        if parsed.is_err() || self.at == from {
            return Err(self.syntax_error());
        }
        let mut tokens = vec![TokenWithSpan { token: Token::make_keyword("SELECT"), span: Span::empty() }];
        tokens.extend_from_slice(&self.tokens[from..self.at]);
        self.check(&tokens, (from, self.at))?;
        let text = format!("{BEFORE_EXPRESSION}{}", self.between(from, self.at));
        Ok(self.new_sql(text, BEFORE_EXPRESSION.len()))
    }

    /// Asks the parser of statements about these tokens; whether they may change something.
    fn check(&mut self, tokens: &[TokenWithSpan], (from, to): (usize, usize)) -> Result<()> {
        let range = self.start_of(from)..self.end_before(to);
        let made =
            tree::statement((self.sql, self.database, crate::mysql::Modes::default()), tokens, range, &self.lines)?;
        if let Some(error) = made.failed {
            return Err(*error);
        }
        self.writes |= made.trees.iter().any(|(tree, _)| may_write(tree));
        Ok(())
    }

    /// The query of a cursor.
    pub(super) fn cursor_query(&mut self) -> Result<Sql> {
        let (from, to) = (self.at, self.statement_end());
        if !["select", "with", "values", "table"].iter().any(|word| self.is(word)) && self.token() != &Token::LParen {
            return Err(errors::cursor_of_no_query());
        }
        if self.place_of_into(from, to).is_some() {
            return Err(errors::cursor_with_into());
        }
        let tokens = self.tokens[from..to].to_vec();
        self.check(&tokens, (from, to))?;
        self.at = to;
        let text = self.between(from, to).to_owned();
        Ok(self.new_sql(text, 0))
    }

    /// Where INTO stands outside parentheses.
    fn place_of_into(&self, from: usize, to: usize) -> Option<usize> {
        let mut depth = 0_usize;
        for at in from..to {
            match &self.tokens[at].token {
                Token::LParen => depth += 1,
                Token::RParen => depth = depth.saturating_sub(1),
                token if depth == 0 && is_word(token, "into") => return Some(at),
                _ => {}
            }
        }
        None
    }

    /// A statement of SQL, which begins with this word.
    pub(super) fn sql_step(&mut self, word: &str) -> Result<StepKind> {
        let (from, to) = (self.at, self.statement_end());
        self.check_allowed(word)?;
        let has_rows = WITH_ROWS.contains(&word);
        let into = if has_rows && word != "show" { self.place_of_into(from, to) } else { None };
        let Some(place) = into else {
            if has_rows && self.is_called_by_statements() {
                return Err(errors::result_set(self.kind_word()));
            }
            let tokens = self.tokens[from..to].to_vec();
            self.check(&tokens, (from, to))?;
            self.at = to;
            let text = self.between(from, to).to_owned();
            let sql = self.new_sql(text, 0);
            if word == "call" {
                self.writes = true;
                if let Some(Token::Word(Word { value, .. })) = self.tokens[from + 1..to]
                    .iter()
                    .rev()
                    .map(|token| &token.token)
                    .find(|token| matches!(token, Token::Word(_)))
                    && self.tokens[from..to].iter().all(|token| token.token != Token::LParen)
                {
                    self.calls.push(value.to_lowercase());
                }
                return Ok(StepKind::Call(sql));
            }
            return Ok(StepKind::Mysql(MysqlStep::Sql { sql, into: None }));
        };
        self.at = place + 1;
        if self.is("outfile") || self.is("dumpfile") {
            return Err(Error::unsupported("SELECT … INTO OUTFILE"));
        }
        let destinations = self.destinations()?;
        let behind = self.at;
        if behind > to || self.place_of_into(behind, to).is_some() {
            return Err(self.syntax_error());
        }
        let mut tokens = self.tokens[from..place].to_vec();
        tokens.extend_from_slice(&self.tokens[behind..to]);
        self.check(&tokens, (from, to))?;
        let (begin, end) = (self.start_of(place), self.end_before(behind));
        let blank = " ".repeat(end - begin);
        let text = format!("{}{blank}{}", &self.sql[self.start_of(from)..begin], &self.sql[end..self.end_before(to)]);
        self.at = to;
        let sql = self.new_sql(text.trim_end().to_owned(), 0);
        Ok(StepKind::Mysql(MysqlStep::Sql { sql, into: Some(destinations) }))
    }

    /// Refuses what does not stand in routines, or not in functions and triggers.
    fn check_allowed(&self, word: &str) -> Result<()> {
        let called = self.is_called_by_statements();
        match word {
            "use" => return Err(errors::not_in_routines("USE")),
            "lock" | "unlock" => return Err(errors::not_in_routines("LOCK")),
            "load" => return Err(errors::not_in_routines("LOAD DATA")),
            "prepare" | "execute" | "deallocate" if called => return Err(errors::dynamic_sql()),
            "start" | "commit" if called => return Err(errors::commits()),
            "rollback" if called && !self.are(&["rollback", "to"]) && !self.are(&["rollback", "work", "to"]) => {
                return Err(errors::commits());
            }
            "create" | "alter" | "drop" => {
                let rest = &self.tokens[self.at..];
                if word == "create" && header::begins(rest) {
                    let kinds = ["procedure", "function", "trigger", "event"];
                    let found = rest.iter().find_map(|token| kinds.iter().find(|kind| is_word(&token.token, kind)));
                    return Err(errors::within_routine(&found.copied().unwrap_or_default().to_uppercase()));
                }
                if word != "create" {
                    let kinds = ["procedure", "function"];
                    if let Some(kind) = kinds.iter().find(|kind| is_word(self.ahead(1), kind)) {
                        return Err(errors::changes_routine(&kind.to_uppercase()));
                    }
                }
                if called && !is_word(self.ahead(1), "temporary") {
                    return Err(errors::commits());
                }
            }
            "truncate" | "rename" | "grant" | "revoke" | "optimize" | "repair" | "flush" if called => {
                return Err(errors::commits());
            }
            _ => {}
        }
        Ok(())
    }

    /// The targets of INTO.
    pub(super) fn destinations(&mut self) -> Result<Vec<Destination>> {
        let mut all = Vec::new();
        loop {
            all.push(self.destination()?);
            if !self.take_token(&Token::Comma) {
                return Ok(all);
            }
        }
    }

    /// A variable of the routine or of the user.
    pub(super) fn destination(&mut self) -> Result<Destination> {
        let Token::Word(word) = self.token().clone() else { return Err(self.syntax_error()) };
        if word.quote_style.is_none()
            && word.value.starts_with('@')
            && let Some(name) = user_variable(&Ident::new(word.value.clone()))
        {
            self.at += 1;
            return Ok(Destination::User(name));
        }
        let name = self.any_name()?;
        match self.find(&name) {
            Some(slot) => Ok(Destination::Place(Place::variable(slot))),
            None => Err(errors::no_variable(&name)),
        }
    }

    /// SET.
    pub(super) fn set_steps(&mut self, line: u32) -> Result<Vec<Step>> {
        let behind = self.ahead(1);
        let whole = ["names", "character", "charset", "transaction", "password", "role"];
        let scoped = ["session", "local", "global"].iter().any(|word| is_word(behind, word))
            && is_word(self.ahead(2), "transaction");
        let named = !matches!(self.ahead(2), Token::Eq | Token::Assignment);
        if scoped || named && whole.iter().any(|word| is_word(behind, word)) {
            return Ok(vec![Step { kind: self.sql_step("set")?, line }]);
        }
        self.at += 1;
        let mut steps = Vec::new();
        loop {
            steps.push(Step { kind: self.set_step()?, line });
            if !self.take_token(&Token::Comma) {
                return Ok(steps);
            }
        }
    }

    fn set_step(&mut self) -> Result<StepKind> {
        let from = self.at;
        let Token::Word(word) = self.token().clone() else { return Err(self.syntax_error()) };
        let is_assigned = |parser: &Self, at: usize| matches!(parser.ahead(at), Token::Eq | Token::Assignment);
        if !word.value.starts_with('@') || word.quote_style.is_some() {
            if is_assigned(self, 1) {
                if let Some(slot) = self.find(&word.value) {
                    self.at += 2;
                    return Ok(StepKind::Assign(Place::variable(slot), self.expression()?));
                }
                if variables::find(&word.value).is_none() {
                    return Err(variables::unknown(&word.value));
                }
            } else if self.ahead(1) == &Token::Period
                && is_assigned(self, 3)
                && let Some(slot) = self.row_of_trigger(&word.value)?
            {
                self.at += 2;
                let field = Some(self.any_name()?);
                self.at += 1;
                let value = self.expression()?;
                return Ok(StepKind::Assign(Place { field, ..Place::variable(slot) }, value));
            }
        }
        // A variable of the user's or of the server's.
        while !matches!(self.token(), Token::Eq | Token::Assignment | Token::SemiColon | Token::EOF) {
            self.at += 1;
        }
        if !is_assigned(self, 0) {
            return Err(self.syntax_error());
        }
        self.at += 1;
        let (before, begins) = (self.statements, self.at);
        self.expression()?;
        // Its value is a part of it.
        self.statements = before;
        let mut text = format!("SET {}", self.between(from, self.at));
        if let [TokenWithSpan { token: Token::Word(word), .. }] = &self.tokens[begins..self.at]
            && self.find(&word.value).is_some()
        {
            // A word alone would stand for itself.
            text = format!("SET {} ({})", self.between(from, begins), self.between(begins, self.at));
        }
        let mut tokens = vec![TokenWithSpan { token: Token::make_keyword("SET"), span: Span::empty() }];
        tokens.extend_from_slice(&self.tokens[from..self.at]);
        self.check(&tokens, (from, self.at))?;
        let sql = self.new_sql(text, 0);
        Ok(StepKind::Mysql(MysqlStep::Sql { sql, into: None }))
    }

    /// NEW of a trigger, where it can be changed.
    fn row_of_trigger(&self, name: &str) -> Result<Option<usize>> {
        let Kind::Trigger(head) = &self.kind else { return Ok(None) };
        if name.eq_ignore_ascii_case("old") {
            return Err(errors::fixed_row("OLD", ""));
        }
        if !name.eq_ignore_ascii_case("new") {
            return Ok(None);
        }
        if head.event == TriggerEvent::Delete {
            return Err(errors::no_row("NEW", "DELETE"));
        }
        if !head.before {
            return Err(errors::fixed_row("NEW", "after "));
        }
        Ok(self.find("new"))
    }

    /// Looks through the tokens of a body: which functions it may call, and whether a trigger has the rows that it names.
    pub(super) fn look_through(&mut self, from: usize, to: usize) -> Result<()> {
        let mut names = Vec::new();
        for at in from..to {
            let Token::Word(word) = &self.tokens[at].token else { continue };
            match self.tokens.get(at + 1).map(|token| &token.token) {
                Some(Token::LParen) => names.push(word.value.to_lowercase()),
                Some(Token::Period) => {
                    let Kind::Trigger(head) = &self.kind else { continue };
                    let missing = match head.event {
                        TriggerEvent::Insert => "OLD",
                        TriggerEvent::Delete => "NEW",
                        _ => continue,
                    };
                    if word.value.eq_ignore_ascii_case(missing) && self.tokens[at - 1].token != Token::Period {
                        return Err(errors::no_row(missing, head.event.words()));
                    }
                }
                _ => {}
            }
        }
        self.calls.append(&mut names);
        Ok(())
    }
}
