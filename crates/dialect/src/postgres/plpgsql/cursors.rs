//! OPEN, FETCH, MOVE, and what they share with loops over cursors.

use super::lexer::Kind;
use super::parser::Parser;
use super::{DeclaredType, Direction, OpenSource, Place, Sql, StepKind, VariableKind};
use crate::scalar::cursors::REFCURSOR;
use crate::stored_function::TypeRef;
use crate::{Condition, Result, Type};

impl Parser<'_> {
    /// A variable that holds a cursor's name.
    pub(super) fn cursor_variable(&mut self) -> Result<usize> {
        let start = self.token().start;
        let place = self.place_if_variable()?;
        let Some(Place { variable, field: None, .. }) = place else {
            let shown = &self.source[start..self.token().end];
            let message = format!("\"{shown}\" is not a known variable");
            return Err(self.error_at(Condition::SyntaxError, message, start));
        };
        let holds = match &self.variables[variable].kind {
            VariableKind::Cursor(_) => true,
            VariableKind::Declared(DeclaredType::Is(TypeRef::Is(Type::Scalar(row, _)))) => row.oid == REFCURSOR.oid,
            _ => false,
        };
        if !holds {
            let message = format!("variable \"{}\" must be of type cursor or refcursor", self.variables[variable].name);
            return Err(self.error_at(Condition::DatatypeMismatch, message, start));
        }
        Ok(variable)
    }

    /// `(value, name := value, …)` for a bound cursor.
    pub(super) fn cursor_arguments(&mut self, cursor: usize) -> Result<Vec<(usize, Sql)>> {
        let VariableKind::Cursor(bound) = self.variables[cursor].kind.clone() else { return Ok(Vec::new()) };
        let name = self.variables[cursor].name.clone();
        let start = self.token().start;
        let mut given: Vec<(usize, Sql)> = Vec::new();
        if !self.token().is_sign('(') {
            if bound.args.is_empty() {
                return Ok(given);
            }
            let message = format!("cursor \"{name}\" has arguments");
            return Err(self.error_at(Condition::SyntaxError, message, start));
        }
        if bound.args.is_empty() {
            let message = format!("cursor \"{name}\" has no arguments");
            return Err(self.error_at(Condition::SyntaxError, message, start));
        }
        self.at += 1;
        let ends = |token: &super::lexer::Token| token.is_sign(',') || token.is_sign(')');
        loop {
            let place = match (self.token().kind.clone(), self.ahead(1).kind.clone()) {
                (Kind::Name(argument, _), Kind::Assign | Kind::Sign('⇒')) => {
                    let found = bound.args.iter().position(|slot| self.variables[*slot].name == argument);
                    let Some(found) = found else {
                        let message = format!("cursor \"{name}\" has no argument named \"{argument}\"");
                        return Err(self.error_at(Condition::SyntaxError, message, self.token().start));
                    };
                    self.at += 2;
                    found
                }
                _ => given.len(),
            };
            let Some(slot) = bound.args.get(place).copied() else {
                let message = format!("too many arguments for cursor \"{name}\"");
                return Err(self.error_at(Condition::SyntaxError, message, self.token().start));
            };
            if given.iter().any(|(known, _)| *known == slot) {
                let argument = &self.variables[slot].name;
                let message =
                    format!("value for parameter \"{argument}\" of cursor \"{name}\" specified more than once");
                return Err(self.error_at(Condition::SyntaxError, message, self.token().start));
            }
            given.push((slot, self.expression_until(ends, ")")?));
            if !self.take_sign(',') {
                break;
            }
        }
        self.expect_sign(')')?;
        if given.len() < bound.args.len() {
            let message = format!("not enough arguments for cursor \"{name}\"");
            return Err(self.error_at(Condition::SyntaxError, message, start));
        }
        Ok(given)
    }

    pub(super) fn open_step(&mut self) -> Result<StepKind> {
        let cursor = self.cursor_variable()?;
        if let VariableKind::Cursor(bound) = &self.variables[cursor].kind {
            let scroll = bound.scroll;
            let args = self.cursor_arguments(cursor)?;
            self.expect_sign(';')?;
            return Ok(StepKind::Open { cursor, scroll, source: OpenSource::Bound(args) });
        }
        let scroll = self.scroll();
        self.expect("for")?;
        let source = if self.take("execute") {
            OpenSource::Dynamic(self.dynamic(|token| token.is_sign(';'), ";")?)
        } else {
            OpenSource::Query(self.statement_until(|token| token.is_sign(';'), ";")?)
        };
        self.at += 1;
        Ok(StepKind::Open { cursor, scroll, source })
    }

    /// The direction of FETCH and MOVE, with its FROM or IN.
    fn direction(&mut self) -> Result<Direction> {
        let count_ends = |token: &super::lexer::Token| token.is("from") || token.is("in");
        let direction = if self.take("next") {
            Direction::Next
        } else if self.take("prior") {
            Direction::Prior
        } else if self.take("first") {
            Direction::First
        } else if self.take("last") {
            Direction::Last
        } else if self.take("absolute") {
            Direction::Absolute(self.expression_until(count_ends, "FROM or IN")?)
        } else if self.take("relative") {
            Direction::Relative(self.expression_until(count_ends, "FROM or IN")?)
        } else if self.take("all") {
            Direction::Forward(None)
        } else if self.is("forward") || self.is("backward") {
            let backward = self.is("backward");
            self.at += 1;
            let count = if self.take("all") {
                None
            } else if count_ends(self.token()) {
                return self.source_of_fetch(if backward { Direction::Prior } else { Direction::Next });
            } else {
                Some(self.expression_until(count_ends, "FROM or IN")?)
            };
            if backward { Direction::Backward(count) } else { Direction::Forward(count) }
        } else if count_ends(self.token()) {
            Direction::Next
        } else {
            let at = self.at;
            // A cursor's name alone.
            if self.place_if_variable()?.is_some() && (self.is("into") || self.token().is_sign(';')) {
                self.at = at;
                return Ok(Direction::Next);
            }
            self.at = at;
            Direction::Forward(Some(self.expression_until(count_ends, "FROM or IN")?))
        };
        self.source_of_fetch(direction)
    }

    fn source_of_fetch(&mut self, direction: Direction) -> Result<Direction> {
        if !self.take("from") && !self.take("in") {
            let at_cursor = self.at;
            let cursor = self.place_if_variable()?.is_some();
            self.at = at_cursor;
            if !cursor {
                return Err(self.syntax_error());
            }
        }
        Ok(direction)
    }

    pub(super) fn fetch_step(&mut self) -> Result<StepKind> {
        let start = self.tokens[self.at - 1].start;
        let direction = self.direction()?;
        if matches!(direction, Direction::Forward(_) | Direction::Backward(_)) {
            let message = "FETCH statement cannot return multiple rows";
            return Err(self.error_at(Condition::FeatureNotSupported, message, start));
        }
        let cursor = self.cursor_variable()?;
        self.expect("into")?;
        let target = self.target()?;
        self.expect_sign(';')?;
        Ok(StepKind::Fetch { cursor, direction, into: Some(target) })
    }

    pub(super) fn move_step(&mut self) -> Result<StepKind> {
        let direction = self.direction()?;
        let cursor = self.cursor_variable()?;
        self.expect_sign(';')?;
        Ok(StepKind::Fetch { cursor, direction, into: None })
    }
}
