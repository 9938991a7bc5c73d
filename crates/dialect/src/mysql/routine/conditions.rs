//! Handlers, SIGNAL, GET DIAGNOSTICS.

use sqlparser::tokenizer::{Token, Word};

use super::errors;
use super::parser::{Named, Parser};
use super::steps::{Asked, Information, Met, MysqlStep, OfStatement, Reaction, Signal};
use crate::postgres::plpgsql::StepKind;
use crate::{Error, Result};

impl Parser<'_> {
    /// The code behind SQLSTATE.
    pub(super) fn sqlstate(&mut self) -> Result<String> {
        self.expect("sqlstate")?;
        let _ = self.take("value");
        let state = self.string()?;
        let is_code = state.len() == 5 && state.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase());
        if !is_code || state.starts_with("00") {
            return Err(errors::bad_sqlstate(&state));
        }
        Ok(state)
    }

    fn condition_named(&self, name: &str) -> Result<Named> {
        let mut all = self.levels.iter().rev().flat_map(|level| &level.conditions);
        let found = all.find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, named)| named.clone());
        found.ok_or_else(|| errors::no_condition(name))
    }

    /// `{CONTINUE | EXIT} HANDLER FOR condition, … statement`
    pub(super) fn handler(&mut self) -> Result<Reaction> {
        if self.is("undo") {
            return Err(Error::unsupported("UNDO of a handler"));
        }
        let exit = self.is("exit");
        self.at += 1;
        self.expect("handler")?;
        self.expect("for")?;
        let mut conditions = Vec::new();
        loop {
            let met = self.met()?;
            if conditions.contains(&met) {
                return Err(errors::duplicate_handler());
            }
            conditions.push(met);
            if !self.take_token(&Token::Comma) {
                break;
            }
        }
        // Labels around the block are not seen from here.
        let hidden: Vec<bool> = self.labels.iter().map(|label| label.hidden).collect();
        self.labels.iter_mut().for_each(|label| label.hidden = true);
        let steps = self.statement();
        self.labels.iter_mut().zip(hidden).for_each(|(label, hidden)| label.hidden = hidden);
        Ok(Reaction { exit, conditions, steps: steps? })
    }

    fn met(&mut self) -> Result<Met> {
        match self.token().clone() {
            Token::Number(digits, _) => {
                let at = self.at;
                self.at += 1;
                match digits.parse() {
                    Ok(number) if number > 0 => Ok(Met::Number(number)),
                    _ => Err(self.syntax_error_at(at)),
                }
            }
            Token::Word(Word { quote_style: None, .. }) if self.is("sqlstate") => Ok(Met::State(self.sqlstate()?)),
            Token::Word(_) => {
                if self.take("sqlwarning") {
                    return Ok(Met::Warning);
                }
                if self.take_all(&["not", "found"]) {
                    return Ok(Met::NotFound);
                }
                if self.take("sqlexception") {
                    return Ok(Met::Exception);
                }
                let name = self.any_name()?;
                Ok(match self.condition_named(&name)? {
                    Named::Number(number) => Met::Number(number),
                    Named::State(state) => Met::State(state),
                })
            }
            _ => Err(self.syntax_error()),
        }
    }

    /// SIGNAL, RESIGNAL.
    pub(super) fn signal(&mut self, again: bool) -> Result<StepKind> {
        self.at += 1;
        let state = match self.token() {
            Token::Word(_) if self.is("sqlstate") => Some(self.sqlstate()?),
            Token::Word(_) if self.is("set") => None,
            Token::Word(_) => {
                let name = self.any_name()?;
                match self.condition_named(&name)? {
                    Named::State(state) => Some(state),
                    Named::Number(_) => return Err(errors::condition_without_sqlstate()),
                }
            }
            _ => None,
        };
        if state.is_none() && !again {
            return Err(self.syntax_error());
        }
        let mut items = Vec::new();
        if self.take("set") {
            loop {
                let at = self.at;
                let word = self.any_name()?;
                let item = information(&word).filter(|item| *item != Information::State);
                let item = item.ok_or_else(|| self.syntax_error_at(at))?;
                if items.iter().any(|(known, _)| *known == item) {
                    return Err(errors::duplicate_item(&word.to_uppercase()));
                }
                self.expect_token(&Token::Eq)?;
                items.push((item, self.expression()?));
                if !self.take_token(&Token::Comma) {
                    break;
                }
            }
        }
        Ok(StepKind::Mysql(MysqlStep::Signal(Box::new(Signal { again, state, items }))))
    }

    /// GET DIAGNOSTICS.
    pub(super) fn diagnostics(&mut self) -> Result<StepKind> {
        self.at += 1;
        let stacked = self.take("stacked");
        if !stacked {
            let _ = self.take("current");
        }
        self.expect("diagnostics")?;
        let asked = if self.take("condition") {
            let number = self.expression_before_item()?;
            let mut items = Vec::new();
            loop {
                let destination = self.destination()?;
                self.expect_token(&Token::Eq)?;
                let at = self.at;
                let word = self.any_name()?;
                items.push((destination, information(&word).ok_or_else(|| self.syntax_error_at(at))?));
                if !self.take_token(&Token::Comma) {
                    break;
                }
            }
            Asked::Condition(number, items)
        } else {
            let mut items = Vec::new();
            loop {
                let destination = self.destination()?;
                self.expect_token(&Token::Eq)?;
                let item = match (self.take("number"), self.take("row_count")) {
                    (true, _) => OfStatement::Number,
                    (_, true) => OfStatement::RowCount,
                    _ => return Err(self.syntax_error()),
                };
                items.push((destination, item));
                if !self.take_token(&Token::Comma) {
                    break;
                }
            }
            Asked::Statement(items)
        };
        Ok(StepKind::Mysql(MysqlStep::Diagnostics { stacked, asked }))
    }

    /// The number of a condition: a literal or a variable.
    fn expression_before_item(&mut self) -> Result<crate::postgres::plpgsql::Sql> {
        let at = self.at;
        if !matches!(self.token(), Token::Word(_) | Token::Number(..) | Token::SingleQuotedString(_)) {
            return Err(self.syntax_error());
        }
        self.at += 1;
        let text = format!("SELECT {}", self.between(at, self.at));
        Ok(self.new_sql(text, "SELECT ".len()))
    }
}

/// The item of a word.
fn information(word: &str) -> Option<Information> {
    Information::ALL.iter().find(|(known, _)| known.eq_ignore_ascii_case(word)).map(|(_, item)| *item)
}
