//! RAISE.

use super::lexer::Kind;
use super::parser::Parser;
use super::{Level, Raise, RaiseOption};
use crate::{Condition, Error, Result};

impl Parser<'_> {
    pub(super) fn raise_step(&mut self) -> Result<Raise> {
        let start = self.tokens[self.at - 1].start;
        let mut raise = Raise {
            level: Level::Exception,
            sqlstate: None,
            condition: None,
            format: None,
            values: Vec::new(),
            options: Vec::new(),
        };
        if self.take_sign(';') {
            return Ok(raise);
        }
        let levels = [
            ("exception", Level::Exception),
            ("warning", Level::Warning),
            ("notice", Level::Notice),
            ("info", Level::Info),
            ("log", Level::Log),
            ("debug", Level::Debug),
        ];
        if let Some((_, level)) = levels.into_iter().find(|(word, _)| self.is(word)) {
            raise.level = level;
            self.at += 1;
        }
        if self.is(";") || self.token().is_sign(';') {
            return Err(self.syntax_error());
        }
        match self.token().kind.clone() {
            Kind::Text(format) => {
                self.at += 1;
                raise.format = Some(format);
                while self.take_sign(',') {
                    let value = self
                        .expression_until(|token| token.is_sign(',') || token.is_sign(';') || token.is("using"), ";")?;
                    raise.values.push(value);
                }
            }
            Kind::Name(word, false) if word == "using" => {}
            Kind::Name(word, false) if word == "sqlstate" => {
                self.at += 1;
                let code = self.sqlstate()?;
                raise.condition = Some(code.clone());
                raise.sqlstate = Some(code);
            }
            Kind::Name(name, _) => {
                let start = self.token().start;
                self.at += 1;
                let code = super::sqlstates_of(&name).first().map(|code| (*code).to_owned());
                raise.sqlstate = Some(code.ok_or_else(|| self.unknown_condition(&name, start))?);
                raise.condition = Some(name);
            }
            _ => return Err(self.syntax_error()),
        }
        if self.take("using") {
            self.raise_options(&mut raise)?;
        }
        self.expect_sign(';')?;
        self.check_raise(&raise, start)?;
        Ok(raise)
    }

    fn raise_options(&mut self, raise: &mut Raise) -> Result<()> {
        use RaiseOption as Option;
        const OPTIONS: &[(&str, RaiseOption)] = &[
            ("errcode", Option::Code),
            ("message", Option::Message),
            ("detail", Option::Detail),
            ("hint", Option::Hint),
            ("column", Option::Column),
            ("constraint", Option::Constraint),
            ("datatype", Option::DataType),
            ("table", Option::Table),
            ("schema", Option::Schema),
        ];
        loop {
            let start = self.token().start;
            let word = self.any_name()?;
            let Some((_, option)) = OPTIONS.iter().find(|(known, _)| *known == word) else {
                let message = format!("unrecognized RAISE statement option at or near \"{word}\"");
                return Err(self.error_at(Condition::SyntaxError, message, start));
            };
            if self.token().kind != Kind::Assign {
                return Err(self.error_at(
                    Condition::SyntaxError,
                    format!("syntax error, expected \"=\" at or near \"{}\"", {
                        let token = self.token();
                        &self.source[token.start..token.end]
                    }),
                    self.token().start,
                ));
            }
            self.at += 1;
            let value = self.expression_until(|token| token.is_sign(',') || token.is_sign(';'), ";")?;
            raise.options.push((*option, value));
            if !self.take_sign(',') {
                return Ok(());
            }
        }
    }

    /// As many `%` as values.
    fn check_raise(&self, raise: &Raise, start: usize) -> Result<()> {
        let Some(format) = &raise.format else { return Ok(()) };
        let places = format.replace("%%", "").matches('%').count();
        let message = match raise.values.len().cmp(&places) {
            std::cmp::Ordering::Less => "too few parameters specified for RAISE",
            std::cmp::Ordering::Greater => "too many parameters specified for RAISE",
            std::cmp::Ordering::Equal => return Ok(()),
        };
        let _ = start;
        Err(Error::new(Condition::SyntaxError, message))
    }
}
