//! BEGIN … END, its declarations, loops and branches.

use sqlparser::tokenizer::{Token, Word};

use super::parser::{Label, Level, Named, Parser};
use super::steps::{Declared, MysqlStep, Reaction};
use super::{Kind, errors};
use crate::mysql::tokens::is_word;
use crate::postgres::plpgsql::{Block, Sql, Step, StepKind, VariableKind};
use crate::{Error, Result};

/// What may still be declared in a block.
#[derive(Clone, Copy, Eq, Ord, PartialEq, PartialOrd)]
enum Stage {
    Variables,
    Cursors,
    Handlers,
}

impl Parser<'_> {
    /// The one statement that a body is.
    pub(super) fn whole_body(&mut self) -> Result<Block> {
        self.levels.push(Level::default());
        let steps = self.statement()?;
        self.levels.pop();
        Ok(Block { steps, ..Block::default() })
    }

    /// Statements, each with its semicolon, up to one of these words, which stays.
    pub(super) fn steps(&mut self, ends: &[&str]) -> Result<Vec<Step>> {
        let mut steps = Vec::new();
        while !ends.iter().any(|word| self.is(word)) {
            steps.extend(self.statement()?);
            self.expect_token(&Token::SemiColon)?;
        }
        Ok(steps)
    }

    /// A statement; SET of several variables is several steps.
    pub(super) fn statement(&mut self) -> Result<Vec<Step>> {
        self.nested(Self::statement_inner)
    }

    fn statement_inner(&mut self) -> Result<Vec<Step>> {
        let (at, line) = (self.at, self.line_of(self.at));
        let one = |kind| Ok(vec![Step { kind, line }]);
        let Token::Word(Word { value, quote_style, .. }) = self.token().clone() else {
            return Err(self.syntax_error());
        };
        if self.ahead(1) == &Token::Colon {
            self.at += 2;
            return one(self.labelled(value)?);
        }
        if quote_style.is_some() {
            return Err(self.syntax_error());
        }
        let word = value.to_ascii_lowercase();
        match word.as_str() {
            "begin" => one(StepKind::Block(self.block(None)?)),
            "loop" | "while" | "repeat" => one(self.repeated(None)?),
            "if" => one(self.if_step()?),
            "case" => one(self.case_step()?),
            "leave" | "iterate" => {
                self.at += 1;
                let name = self.any_name()?;
                let label = self.label_around(&word.to_uppercase(), &name)?;
                one(StepKind::Exit { again: word == "iterate", label: Some(label), when: None })
            }
            "return" => {
                if self.kind != Kind::Function {
                    return Err(errors::return_outside());
                }
                self.at += 1;
                self.returns = true;
                one(StepKind::Return(Some(self.expression()?)))
            }
            "open" | "close" => {
                self.at += 1;
                let cursor = self.cursor()?;
                let step = if word == "open" { MysqlStep::Open(cursor) } else { MysqlStep::Close(cursor) };
                one(StepKind::Mysql(step))
            }
            "fetch" => {
                self.at += 1;
                if self.take("next") {
                    self.expect("from")?;
                } else {
                    let _ = self.take("from");
                }
                let cursor = self.cursor()?;
                self.expect("into")?;
                let into = self.destinations()?;
                one(StepKind::Mysql(MysqlStep::Fetch(cursor, into)))
            }
            "signal" | "resignal" => one(self.signal(word == "resignal")?),
            "get" => one(self.diagnostics()?),
            "declare" => Err(self.late_declaration(at)),
            "set" => self.set_steps(line),
            _ => one(self.sql_step(&word)?),
        }
    }

    /// DECLARE behind the statements of a block.
    fn late_declaration(&self, at: usize) -> Error {
        self.syntax_error_at(at + 1)
    }

    /// What stands behind a label.
    fn labelled(&mut self, label: String) -> Result<StepKind> {
        if self.labels.iter().any(|known| known.name.eq_ignore_ascii_case(&label)) {
            return Err(errors::redefined_label(&label));
        }
        match self.token() {
            token if is_word(token, "begin") => Ok(StepKind::Block(self.block(Some(label))?)),
            _ => self.repeated(Some(label)),
        }
    }

    /// The label that may be repeated behind END.
    fn end_label(&mut self, label: Option<&str>) -> Result<()> {
        let Token::Word(Word { value, .. }) = self.token().clone() else { return Ok(()) };
        if label.is_none_or(|label| !label.eq_ignore_ascii_case(&value)) {
            // Behind a body there may stand the rest of another text.
            return Err(errors::unmatched_end(&value));
        }
        self.at += 1;
        Ok(())
    }

    /// `BEGIN … END [label]`
    fn block(&mut self, label: Option<String>) -> Result<Block> {
        self.expect("begin")?;
        if self.is("not") {
            return Err(Error::unsupported("BEGIN NOT ATOMIC"));
        }
        let outer = self.open_scope();
        self.levels.push(Level::default());
        let written = label.clone();
        let label = label.unwrap_or_else(|| {
            self.made_labels += 1;
            // No name has a blank at its end.
            format!("{} ", self.made_labels)
        });
        self.labels.push(Label { name: label.clone(), repeats: false, hidden: false });
        let mut block = Block { label: Some(label), ..Block::default() };
        self.declarations(&mut block)?;
        block.steps = self.steps(&["end"])?;
        self.at += 1;
        self.end_label(written.as_deref())?;
        self.labels.pop();
        self.levels.pop();
        self.scope = outer;
        Ok(block)
    }

    fn declarations(&mut self, block: &mut Block) -> Result<()> {
        let mut stage = Stage::Variables;
        let mut reactions: Vec<Reaction> = Vec::new();
        while self.take("declare") {
            if self.is("continue") || self.is("exit") || self.is("undo") {
                stage = Stage::Handlers;
                let reaction = self.handler()?;
                let twice = |met| reactions.iter().any(|known| known.conditions.contains(met));
                if reaction.conditions.iter().any(twice) {
                    return Err(errors::duplicate_handler());
                }
                reactions.push(reaction);
            } else if is_word(self.ahead(1), "cursor") {
                if stage > Stage::Cursors {
                    return Err(errors::cursor_too_late());
                }
                stage = Stage::Cursors;
                block.cursors.push(self.declare_cursor()?);
            } else {
                if stage > Stage::Variables {
                    return Err(errors::variable_too_late());
                }
                if is_word(self.ahead(1), "condition") {
                    self.declare_condition()?;
                } else {
                    block.declares.extend(self.declare_variables()?);
                }
            }
            self.expect_token(&Token::SemiColon)?;
        }
        let first = self.reactions.len();
        self.reactions.append(&mut reactions);
        block.reactions = first..self.reactions.len();
        Ok(())
    }

    /// `name, … type [DEFAULT value]`
    fn declare_variables(&mut self) -> Result<Vec<usize>> {
        let line = self.line_of(self.at);
        let mut names: Vec<String> = Vec::new();
        loop {
            let name = self.any_name()?;
            let known = self.scopes[self.scope].names.iter().map(|(known, _)| known).chain(&names);
            if known.into_iter().any(|known| known.eq_ignore_ascii_case(&name)) {
                return Err(errors::duplicate("variable", &name));
            }
            names.push(name);
            if !self.take_token(&Token::Comma) {
                break;
            }
        }
        if self.are(&["row"]) || self.are(&["type", "of"]) {
            return Err(Error::unsupported("TYPE OF and ROW"));
        }
        let ty = self.type_of()?;
        let kind = self.kind_of(&ty)?;
        let default = if self.take("default") { Some(self.expression()?) } else { None };
        let mut made = Vec::new();
        for name in names {
            let slot = self.add_variable(&name, kind.clone(), line);
            self.variables[slot].default.clone_from(&default);
            made.push(slot);
        }
        Ok(made)
    }

    /// `name CURSOR FOR query`
    fn declare_cursor(&mut self) -> Result<usize> {
        let name = self.any_name()?;
        self.at += 1;
        self.expect("for")?;
        let level = self.levels.last();
        if level.is_some_and(|level| level.cursors.iter().any(|(known, _)| known.eq_ignore_ascii_case(&name))) {
            return Err(errors::duplicate("cursor", &name));
        }
        let query = self.cursor_query()?;
        let number = self.cursors.len();
        self.cursors.push(Declared { name: name.clone(), query });
        if let Some(level) = self.levels.last_mut() {
            level.cursors.push((name, number));
        }
        Ok(number)
    }

    /// `name CONDITION FOR value`
    fn declare_condition(&mut self) -> Result<()> {
        let name = self.any_name()?;
        self.at += 1;
        self.expect("for")?;
        let level = self.levels.last();
        if level.is_some_and(|level| level.conditions.iter().any(|(known, _)| known.eq_ignore_ascii_case(&name))) {
            return Err(errors::duplicate("condition", &name));
        }
        let named = match self.token().clone() {
            Token::Number(digits, _) => {
                self.at += 1;
                Named::Number(digits.parse().map_err(|_| self.syntax_error_at(self.at - 1))?)
            }
            _ => Named::State(self.sqlstate()?),
        };
        if let Some(level) = self.levels.last_mut() {
            level.conditions.push((name, named));
        }
        Ok(())
    }

    /// The cursor of a name.
    pub(super) fn cursor(&mut self) -> Result<usize> {
        let name = self.any_name()?;
        let mut cursors = self.levels.iter().rev().flat_map(|level| &level.cursors);
        let found = cursors.find(|(known, _)| known.eq_ignore_ascii_case(&name)).map(|(_, number)| *number);
        found.ok_or_else(|| errors::no_cursor(&name))
    }

    /// LOOP, WHILE, REPEAT.
    fn repeated(&mut self, label: Option<String>) -> Result<StepKind> {
        let word = match self.token() {
            Token::Word(Word { value, quote_style: None, .. }) => value.to_ascii_lowercase(),
            _ => return Err(self.syntax_error()),
        };
        if !matches!(word.as_str(), "loop" | "while" | "repeat") {
            return Err(self.syntax_error());
        }
        self.at += 1;
        if let Some(name) = &label {
            self.labels.push(Label { name: name.clone(), repeats: true, hidden: false });
        }
        let condition = if word == "while" {
            let condition = self.expression()?;
            self.expect("do")?;
            Some(condition)
        } else {
            None
        };
        let mut body = self.steps(if word == "repeat" { &["until"] } else { &["end"] })?;
        if word == "repeat" {
            let line = self.line_of(self.at);
            self.at += 1;
            let until = self.expression()?;
            let leave = Step { kind: StepKind::Exit { again: false, label: None, when: Some(until) }, line };
            body.push(leave);
        }
        self.expect("end")?;
        self.expect(&word)?;
        self.end_label(label.as_deref())?;
        if label.is_some() {
            self.labels.pop();
        }
        Ok(StepKind::Loop { label, condition, body })
    }

    fn if_step(&mut self) -> Result<StepKind> {
        self.at += 1;
        let mut branches = Vec::new();
        loop {
            let condition = self.expression()?;
            self.expect("then")?;
            branches.push((condition, self.some_steps(&["elseif", "else", "end"])?));
            if !self.take("elseif") {
                break;
            }
        }
        let otherwise = if self.take("else") { self.some_steps(&["end"])? } else { Vec::new() };
        self.expect("end")?;
        self.expect("if")?;
        Ok(StepKind::If { branches, otherwise })
    }

    /// Statements, at least one.
    fn some_steps(&mut self, ends: &[&str]) -> Result<Vec<Step>> {
        let at = self.at;
        let steps = self.steps(ends)?;
        if at == self.at { Err(self.syntax_error()) } else { Ok(steps) }
    }

    fn case_step(&mut self) -> Result<StepKind> {
        self.at += 1;
        let outer = self.open_scope();
        let subject = if self.is("when") {
            None
        } else {
            let value = self.expression()?;
            let name = format!("case {} ", self.variables.len());
            // Its type is that of the value, and known when that has been computed.
            let slot = self.add_variable(&name, VariableKind::Record, 0);
            Some((slot, name, value))
        };
        let mut branches = Vec::new();
        while self.take("when") {
            let condition = match &subject {
                None => self.expression()?,
                Some((_, name, _)) => {
                    let name = name.clone();
                    let value = self.expression()?;
                    let text = format!("SELECT `{name}` = ({})", &value.text[value.prefix..]);
                    Sql { text: text.into(), prefix: "SELECT ".len(), ..value }
                }
            };
            self.expect("then")?;
            branches.push((condition, self.some_steps(&["when", "else", "end"])?));
        }
        if branches.is_empty() {
            return Err(self.syntax_error());
        }
        let otherwise = if self.take("else") { Some(self.some_steps(&["end"])?) } else { None };
        self.expect("end")?;
        self.expect("case")?;
        self.scope = outer;
        Ok(StepKind::Case { subject: subject.map(|(slot, _, value)| (slot, value)), branches, otherwise })
    }
}
