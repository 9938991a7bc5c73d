//! Blocks: DEFINE, ON EXCEPTION, statements.

use std::collections::HashMap;

use super::{Block, Expression, Handler, Names, STATEMENT_WORDS, Sql, Step, StepKind};
use crate::informix::Statement;
use crate::informix::ast::{Ast, Body, Item, Node, NodeKind, Query, Select};
use crate::informix::lexer::TokenKind;
use crate::informix::parser::Parser;
use crate::ir::Value;
use crate::{Condition, Result, Type};

/// How deep blocks may nest.
const MAX_NESTING: usize = 48;

impl Parser<'_> {
    /// What is known of the routine.
    ///
    /// # Panics
    /// Outside a routine.
    pub(super) fn names(&mut self) -> &mut Names {
        self.spl.as_deref_mut().expect("the parser is in a routine")
    }

    /// The variable of this name, as a parameter of the statement under way.
    pub fn variable(&mut self, name: &str, at: usize) -> Option<Node> {
        let slot = self.spl.as_deref()?.find(name)?;
        self.parameter_of(slot, at)
    }

    /// A variable as a parameter of the statement under way.
    pub fn parameter_of(&mut self, slot: usize, at: usize) -> Option<Node> {
        let names = self.spl.as_deref_mut()?;
        let index = match names.uses.iter().position(|used| *used == slot) {
            Some(index) => index,
            None => {
                names.uses.push(slot);
                names.uses.len() - 1
            }
        };
        Some(Node { kind: NodeKind::Param(index), at })
    }

    /// True inside a routine that has a variable of this name.
    pub fn is_variable(&self, name: &str) -> bool {
        self.spl.as_ref().is_some_and(|names| names.find(name).is_some())
    }

    /// True inside a routine that has a variable of this name which may be a row.
    pub fn is_row_variable(&self, name: &str) -> bool {
        let Some(names) = &self.spl else { return false };
        let ty = names.find(name).map(|slot| &names.variables[slot].ty);
        matches!(ty, Some(super::TypeRef::Is(Type::Composite(_)) | super::TypeRef::Like { .. }))
    }

    /// Keeps in mind that the routine calls this function.
    pub fn called(&mut self, name: &str) {
        if let Some(names) = &mut self.spl
            && !names.calls.iter().any(|known| known == name)
        {
            names.calls.push(name.to_owned());
        }
    }

    /// Takes the name of a variable that is given a value.
    pub(super) fn target(&mut self) -> Result<usize> {
        let (name, at) = self.name_at()?;
        if self.names().rows.is_some() && (self.is_sign(".") || self.names().find(&name).is_none()) {
            let (row, column) = if self.sign(".") { (Some(name.as_str()), self.name()?) } else { (None, name.clone()) };
            return self.row_target(row, &column).ok_or_else(|| {
                let message = format!("({name}) is not the new row");
                self.error_at(Condition::UndefinedVariable, message, at).column(name.clone())
            });
        }
        if self.is_sign(".") {
            return Err(self.unsupported("a field of a row variable as a target"));
        }
        self.names().find(&name).ok_or_else(|| {
            self.error_at(Condition::UndefinedVariable, format!("the variable ({name}) is not declared"), at)
                .column(name.clone())
        })
    }

    /// INTO variables behind a select list, where the statement takes them; another INTO is left alone.
    pub fn take_into(&mut self) -> Result<()> {
        if !self.is_word("into") || self.is_word_at(1, "temp") || self.spl.as_ref().is_none_or(|n| !n.takes_into) {
            return Ok(());
        }
        self.take();
        let into = self.list(Self::target)?;
        self.names().into = into;
        Ok(())
    }

    /// Runs a production whose variables are parameters of a statement of its own.
    pub(super) fn embedded(&mut self, production: impl FnOnce(&mut Self) -> Result<Ast>) -> Result<Sql> {
        let start = self.start();
        let outer = std::mem::take(&mut self.names().uses);
        let ast = production(self)?;
        let (end, delimited) = (self.end(), self.delimited);
        let names = self.names();
        let uses = std::mem::replace(&mut names.uses, outer);
        let id = names.statements;
        names.statements += 1;
        // The routine as a whole tells it.
        let idle = [].into();
        let statement = Statement { ast, text: names.text.clone(), start, end, params: uses.len(), delimited, idle };
        Ok(Sql { id, statement, uses })
    }

    /// An expression of the routine.
    pub(super) fn value(&mut self) -> Result<Expression> {
        self.value_of(Self::expression)
    }

    /// What a production yields, as an expression of the routine.
    pub(super) fn value_of(&mut self, production: impl FnOnce(&mut Self) -> Result<Node>) -> Result<Expression> {
        let sql = self.embedded(|parser| {
            let at = parser.start();
            Ok(Ast::Query(Box::new(query_of(vec![production(parser)?], at))))
        })?;
        Ok(simplified(sql))
    }

    /// Statements up to one of these words (or a handler's, loop's … end), with their declarations.
    pub(super) fn block(&mut self, ends: &[&str]) -> Result<Block> {
        if self.names().scopes.len() > MAX_NESTING {
            let message = format!("blocks nest deeper than {MAX_NESTING} levels");
            return Err(self.error_at(Condition::StatementTooComplex, message, self.start()));
        }
        self.names().scopes.push(HashMap::new());
        let jumps = self.names().jumps.len();
        let block = self.block_in_scope(ends);
        self.names().scopes.pop();
        let block = block?;
        // GOTO leads to a label of its own block, or of one around it.
        let labelled = |name: &String| block.steps.iter().any(|step| step.label.as_ref() == Some(name));
        let within = self.names().jumps.split_off(jumps);
        self.names().jumps.extend(within.into_iter().filter(|(name, _)| !labelled(name)));
        Ok(block)
    }

    fn block_in_scope(&mut self, ends: &[&str]) -> Result<Block> {
        let mut block = Block::default();
        loop {
            while self.sign(";") {}
            if self.is_word("define") {
                self.take();
                self.define(&mut block)?;
            } else if self.is_word("on") && self.is_word_at(1, "exception") {
                let handler = self.handler()?;
                block.handlers.push(handler);
            } else {
                break;
            }
        }
        loop {
            while self.sign(";") {}
            if ends.iter().any(|end| self.is_word(end)) {
                return Ok(block);
            }
            let line = self.line();
            let label = self.label()?;
            let kind = self.step(label.as_ref())?;
            block.steps.push(Step { label, kind, line });
            // The semicolon may be left out before an END, where a compound statement has ended, and, as examples of IBM's
            // manual have it, before the word or label that begins the next statement.
            let begins = self.is_sign("<") && self.is_sign_at(1, "<")
                || matches!(self.peek(), TokenKind::Word(word) if STATEMENT_WORDS.contains(&word.as_str()));
            let ended = begins || compound(block.steps.last()) || ends.iter().any(|end| self.is_word(end));
            if !self.sign(";") && !ended {
                return Err(self.unexpected());
            }
        }
    }

    /// The line of the next token, from 1.
    pub(super) fn line(&mut self) -> u32 {
        let (text, start) = (self.text.as_bytes(), self.start());
        let (counted, lines) = &mut self.names().counted;
        // Statements come in order, so that each line is counted once.
        let new = text[*counted..start.max(*counted)].iter().filter(|byte| **byte == b'\n').count();
        *counted = start.max(*counted);
        *lines += u32::try_from(new).unwrap_or(u32::MAX - 1);
        *lines + 1
    }

    /// `DEFINE [GLOBAL] a, b type [DEFAULT value]`; the word has been taken.
    fn define(&mut self, block: &mut Block) -> Result<()> {
        let global = self.word("global");
        let names = self.list(Self::name_at)?;
        // DEFINE f PROCEDURE says only that f is no built-in function.
        if self.word("procedure") || self.word("function") {
            return Ok(());
        }
        let ty = self.declared_type()?;
        let default = if global {
            self.expect_word("default")?;
            Some(self.value()?)
        } else {
            if self.is_word("default") {
                return Err(self.unsupported("DEFAULT of a variable that is not GLOBAL"));
            }
            None
        };
        for (name, at) in names {
            let slot = self.declare(name, ty.clone(), default.clone(), at)?;
            block.defines.push(slot);
        }
        if self.sign(";") { Ok(()) } else { Err(self.unexpected()) }
    }

    /// `ON EXCEPTION [IN (…)] [SET a, b, c] … END EXCEPTION [WITH RESUME]`
    fn handler(&mut self) -> Result<Handler> {
        self.take();
        self.take();
        let mut codes = Vec::new();
        if self.word("in") {
            self.expect_sign("(")?;
            codes = self.list(|parser| {
                let at = parser.start();
                let code = parser.signed()?;
                i32::try_from(code)
                    .map_err(|_| parser.error_at(Condition::SyntaxError, "the error number is out of range", at))
            })?;
            self.expect_sign(")")?;
        }
        let mut into = [None; 3];
        if self.word("set") {
            let at = self.start();
            let targets = self.list(Self::target)?;
            if targets.len() > into.len() {
                return Err(self.error_at(Condition::SyntaxError, "SET takes up to three variables here", at));
            }
            for (place, slot) in into.iter_mut().zip(targets) {
                *place = Some(slot);
            }
        }
        let handling = std::mem::replace(&mut self.names().handling, true);
        let body = self.block(&["end"])?;
        self.names().handling = handling;
        self.expect_word("end")?;
        self.expect_word("exception")?;
        let resume = self.words(&["with", "resume"]);
        Ok(Handler { codes, into, body, resume })
    }
}

/// A query of one row without FROM.
pub(super) fn query_of(items: Vec<Node>, at: usize) -> Query {
    let items = items.into_iter().map(|expr| Item { expr, alias: None }).collect();
    let select = Select {
        distinct: false,
        items,
        from: Vec::new(),
        filter: None,
        connect: None,
        group_by: Vec::new(),
        having: None,
    };
    Query {
        ctes: Vec::new(),
        body: Body::Select(Box::new(select)),
        order_by: Vec::new(),
        siblings: false,
        skip: None,
        first: None,
        for_update: false,
        update_of: Vec::new(),
        into: None,
        at,
    }
}

/// A variable or a constant needs no query.
pub(super) fn simplified(sql: Sql) -> Expression {
    let node = match &sql.statement.ast {
        Ast::Query(query) => match &query.body {
            Body::Select(select) => select.items.first().map(|item| &item.expr.kind),
            Body::Set { .. } => None,
        },
        _ => None,
    };
    match node {
        Some(NodeKind::Param(index)) => Expression::Variable(sql.uses[*index]),
        Some(NodeKind::Null) => Expression::Literal(Value::Null, Type::Unknown),
        Some(NodeKind::String(text)) => Expression::Literal(Value::Text(text.clone()), Type::Unknown),
        Some(NodeKind::Number(digits)) => match digits.parse::<i32>() {
            Ok(number) => Expression::Literal(Value::Integer(number.into()), Type::Int4),
            Err(_) => Expression::Sql(Box::new(sql)),
        },
        _ => Expression::Sql(Box::new(sql)),
    }
}

/// True for a statement that an END of its own has ended.
fn compound(step: Option<&Step>) -> bool {
    matches!(
        step.map(|step| &step.kind),
        Some(
            StepKind::Block(_)
                | StepKind::For { .. }
                | StepKind::Foreach { .. }
                | StepKind::If { .. }
                | StepKind::Loop { .. }
        )
    )
}

/// The literal, for those that look at tokens only.
pub(super) fn is_name(token: &TokenKind) -> bool {
    matches!(token, TokenKind::Word(_) | TokenKind::Quoted(_))
}
