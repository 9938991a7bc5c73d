//! LOOP, WHILE, FOR, FOREACH; EXIT and CONTINUE.

use super::lexer::Kind;
use super::parser::Parser;
use super::{DeclaredType, Place, Rows, Step, StepKind, Target, VariableKind};
use crate::stored_function::TypeRef;
use crate::{Condition, Result, Type};

impl Parser<'_> {
    /// What stands between LOOP and END LOOP.
    pub(super) fn loop_body(&mut self, label: Option<&str>) -> Result<Vec<Step>> {
        if self.is("loop") && self.tokens[self.at - 1].is("loop") {
            return Err(self.syntax_error());
        }
        self.around.push((label.map(str::to_owned), true));
        let steps = self.steps(&["end"])?;
        self.around.pop();
        self.expect("end")?;
        self.expect("loop")?;
        self.end_label(label)?;
        self.expect_sign(';')?;
        Ok(steps)
    }

    pub(super) fn for_step(&mut self, label: Option<String>) -> Result<StepKind> {
        let outer = self.open_scope(label.clone());
        let step = self.for_inner(label)?;
        self.scope = outer;
        Ok(step)
    }

    fn for_inner(&mut self, label: Option<String>) -> Result<StepKind> {
        let targets = self.at;
        let target_start = self.token().start;
        // What comes behind IN says what the names before it are.
        while !self.is("in") {
            match self.token().kind {
                Kind::Name(..) | Kind::Sign('.' | ',') | Kind::Param(_) => self.at += 1,
                _ => return Err(self.syntax_error()),
            }
        }
        let behind = self.at + 1;
        let missing = "loop variable of loop over rows must be a record variable or list of scalar variables";
        if self.tokens[behind].is("execute") {
            let target = self.loop_target(targets, behind, target_start, missing)?;
            self.at += 1;
            let rows = Rows::Dynamic(self.dynamic(|token| token.is("loop"), "LOOP")?);
            self.at += 1;
            return self.for_rows(label, target, rows);
        }
        // A cursor's name alone.
        self.at = behind;
        if let Some(Place { variable, field: None, .. }) = self.place_if_variable()?
            && let VariableKind::Cursor(_) = self.variables[variable].kind
            && (self.is("loop") || self.token().is_sign('('))
        {
            return self.for_cursor(label, targets, variable);
        }
        self.at = behind;
        let reverse = self.take("reverse");
        if self.has_dots() {
            return self.for_numbers(label, targets, reverse);
        }
        if reverse {
            let message = "cannot specify REVERSE in query FOR loop";
            return Err(self.error_at(Condition::SyntaxError, message, self.tokens[behind].start));
        }
        let target = self.loop_target(targets, behind, target_start, missing)?;
        let query = self.statement_until(|token| token.is("loop"), "LOOP")?;
        self.at += 1;
        self.for_rows(label, target, Rows::Query(query))
    }

    /// `..` comes before LOOP.
    fn has_dots(&self) -> bool {
        let mut depth = 0_i32;
        for token in &self.tokens[self.at..] {
            match token.kind {
                Kind::Sign('(' | '[') => depth += 1,
                Kind::Sign(')' | ']') => depth -= 1,
                Kind::Dots if depth == 0 => return true,
                Kind::Sign(';') | Kind::End => return false,
                _ if token.is("loop") => return false,
                _ => {}
            }
        }
        false
    }

    fn loop_target(&mut self, from: usize, behind: usize, start: usize, missing: &str) -> Result<Target> {
        self.at = from;
        if self.place_if_variable()?.is_none() {
            return Err(self.error_at(Condition::DatatypeMismatch, missing, start));
        }
        self.at = from;
        let target = self.target()?;
        if self.at + 1 != behind {
            return Err(self.syntax_error());
        }
        self.at = behind;
        Ok(target)
    }

    fn for_rows(&mut self, label: Option<String>, target: Target, rows: Rows) -> Result<StepKind> {
        let body = self.loop_body(label.as_deref())?;
        Ok(StepKind::ForRows { label, target, rows, body })
    }

    fn for_cursor(&mut self, label: Option<String>, targets: usize, cursor: usize) -> Result<StepKind> {
        let args = self.cursor_arguments(cursor)?;
        self.expect("loop")?;
        let at = self.at;
        let (line, name) = (self.line_of(targets), self.tokens[targets].clone());
        let Kind::Name(name, _) = name.kind else { return Err(self.syntax_error_at(targets)) };
        self.at = at;
        // The loop's variable is a record of its own.
        let variable = self.add_variable(&name, VariableKind::Record, line);
        let body = self.loop_body(label.as_deref())?;
        Ok(StepKind::ForRows { label, target: Target::Row(variable), rows: Rows::Cursor(cursor, args), body })
    }

    fn for_numbers(&mut self, label: Option<String>, targets: usize, reverse: bool) -> Result<StepKind> {
        let from = self.expression_until(|token| token.kind == Kind::Dots, "..")?;
        self.at += 1;
        let to = self.expression_until(|token| token.is("by") || token.is("loop"), "LOOP")?;
        let by = if self.take("by") { Some(self.expression_until(|token| token.is("loop"), "LOOP")?) } else { None };
        self.expect("loop")?;
        let (line, name) = (self.line_of(targets), self.tokens[targets].clone());
        let Kind::Name(name, _) = name.kind else { return Err(self.syntax_error_at(targets)) };
        if !self.tokens[targets + 1].is("in") {
            let message = "integer FOR loop must have only one target variable";
            return Err(self.error_at(Condition::SyntaxError, message, self.tokens[targets].start));
        }
        let int = VariableKind::Declared(DeclaredType::Is(TypeRef::Is(Type::Int4)));
        let variable = self.add_variable(&name, int, line);
        let body = self.loop_body(label.as_deref())?;
        Ok(StepKind::ForNumbers { label, variable, bounds: Box::new((from, to, by)), reverse, body })
    }

    pub(super) fn foreach_step(&mut self, label: Option<String>) -> Result<StepKind> {
        let target = self.target()?;
        let slice = if self.take("slice") {
            let token = self.token().clone();
            let slice = self.source[token.start..token.end].parse().map_err(|_| self.syntax_error())?;
            self.at += 1;
            slice
        } else {
            0
        };
        self.expect("in")?;
        self.expect("array")?;
        let array = self.expression_to("loop")?;
        let body = self.loop_body(label.as_deref())?;
        Ok(StepKind::ForEach { label, target, slice, array, body })
    }

    pub(super) fn exit_step(&mut self, again: bool) -> Result<StepKind> {
        let word = if again { "CONTINUE" } else { "EXIT" };
        let at = self.at - 1;
        let mut label = None;
        if !self.is("when")
            && let Kind::Name(name, _) = self.token().kind.clone()
        {
            let start = self.token().start;
            self.at += 1;
            match self.around.iter().rev().find(|(known, _)| known.as_deref() == Some(name.as_str())) {
                Some((_, true)) => {}
                Some((_, false)) if !again => {}
                Some(_) => {
                    let message = format!("block label \"{name}\" cannot be used in CONTINUE");
                    return Err(self.error_at(Condition::SyntaxError, message, start));
                }
                None => {
                    let message =
                        format!("there is no label \"{name}\" attached to any block or loop enclosing this statement");
                    return Err(self.error_at(Condition::SyntaxError, message, start));
                }
            }
            label = Some(name);
        } else if !self.around.iter().any(|(_, is_loop)| *is_loop) {
            let message = if again {
                "CONTINUE cannot be used outside a loop".to_owned()
            } else {
                format!("{word} cannot be used outside a loop, unless it has a label")
            };
            return Err(self.error_at(Condition::SyntaxError, message, self.tokens[at].start));
        }
        let when = if self.take("when") {
            Some(self.expression_to_end()?)
        } else {
            self.expect_sign(';')?;
            None
        };
        Ok(StepKind::Exit { again, label, when })
    }
}
