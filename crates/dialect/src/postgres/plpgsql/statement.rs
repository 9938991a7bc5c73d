//! Statements of PL/pgSQL; loops, RAISE and cursors stand in files of their own.

use std::sync::Arc;

use super::lexer::Kind;
use super::parser::Parser;
use super::{
    Block, DeclaredType, Diagnostic, DynamicSql, Handler, Handlers, Into, Rows, Sql, Step, StepKind, Trapped,
    VariableKind,
};
use crate::stored_function::TypeRef;
use crate::{Condition, Error, Result, Type};

/// Words that no variable is called by.
const RESERVED: &[&str] = &[
    "all", "begin", "by", "case", "declare", "else", "end", "execute", "for", "foreach", "from", "if", "in", "into",
    "loop", "not", "null", "or", "strict", "then", "to", "using", "when", "while",
];

/// True for those.
pub(super) fn is_reserved(word: &str) -> bool {
    RESERVED.contains(&word)
}

impl Parser<'_> {
    /// `[DECLARE …] BEGIN … [EXCEPTION …] END [label]`
    pub(super) fn block(&mut self, label: Option<String>) -> Result<Block> {
        self.nested(|parser| parser.block_inner(label))
    }

    fn block_inner(&mut self, label: Option<String>) -> Result<Block> {
        let outer = self.open_scope(label.clone());
        let declares = if self.take("declare") { self.declarations()? } else { Vec::new() };
        self.expect("begin")?;
        self.around.push((label.clone(), false));
        let steps = self.steps(&["end", "exception"])?;
        let handlers = if self.take("exception") { Some(self.handlers()?) } else { None };
        self.expect("end")?;
        self.around.pop();
        self.end_label(label.as_deref())?;
        self.scope = outer;
        Ok(Block { label, declares, steps, handlers, reactions: 0..0, cursors: Vec::new() })
    }

    /// Statements up to one of these words, which stays.
    pub(super) fn steps(&mut self, ends: &[&str]) -> Result<Vec<Step>> {
        let mut steps = Vec::new();
        while !ends.iter().any(|word| self.is(word)) {
            if self.token().kind == Kind::End {
                return Err(self.syntax_error());
            }
            if let Some(step) = self.step()? {
                steps.push(step);
            }
        }
        Ok(steps)
    }

    fn handlers(&mut self) -> Result<Handlers> {
        let outer = self.open_scope(None);
        let text = || VariableKind::Declared(DeclaredType::Is(TypeRef::Is(Type::Text)));
        let sqlstate = self.add_variable("sqlstate", text(), 0);
        let sqlerrm = self.add_variable("sqlerrm", text(), 0);
        let mut handlers = Vec::new();
        while self.take("when") {
            let mut conditions = Vec::new();
            loop {
                conditions.extend(self.trapped()?);
                if !self.take("or") {
                    break;
                }
            }
            self.expect("then")?;
            let steps = self.steps(&["when", "end"])?;
            handlers.push(Handler { conditions, steps });
        }
        if handlers.is_empty() {
            return Err(self.syntax_error());
        }
        self.scope = outer;
        Ok(Handlers { sqlstate, sqlerrm, handlers })
    }

    /// A condition of WHEN.
    fn trapped(&mut self) -> Result<Vec<Trapped>> {
        let start = self.token().start;
        let name = self.any_name()?;
        if name == "others" {
            return Ok(vec![Trapped::Others]);
        }
        if name == "sqlstate" {
            return Ok(vec![Trapped::State(self.sqlstate()?)]);
        }
        let codes = super::sqlstates_of(&name);
        if codes.is_empty() {
            return Err(self.unknown_condition(&name, start));
        }
        Ok(codes.into_iter().map(|code| Trapped::State(code.to_owned())).collect())
    }

    pub(super) fn unknown_condition(&self, name: &str, start: usize) -> Error {
        self.error_at(Condition::UndefinedObject, format!("unrecognized exception condition \"{name}\""), start)
    }

    /// The code behind SQLSTATE.
    pub(super) fn sqlstate(&mut self) -> Result<String> {
        let Kind::Text(code) = &self.token().kind else { return Err(self.syntax_error()) };
        let code = code.clone();
        if !is_sqlstate(&code) {
            let message = "invalid SQLSTATE code";
            return Err(self.error_at(Condition::SyntaxError, message, self.token().start));
        }
        self.at += 1;
        Ok(code)
    }

    /// One statement; `None` for NULL.
    fn step(&mut self) -> Result<Option<Step>> {
        let at = self.at;
        let line = self.line_of(at);
        let label = self.label()?;
        let labelled = label.is_some();
        let kind = self.nested(|parser| parser.step_kind(label))?;
        if labelled
            && !matches!(
                kind,
                Some(
                    StepKind::Block(_)
                        | StepKind::Loop { .. }
                        | StepKind::ForNumbers { .. }
                        | StepKind::ForRows { .. }
                        | StepKind::ForEach { .. }
                )
            )
        {
            return Err(self.syntax_error_at(at));
        }
        Ok(kind.map(|kind| Step { kind, line }))
    }

    fn step_kind(&mut self, label: Option<String>) -> Result<Option<StepKind>> {
        let at = self.at;
        let Kind::Name(word, quoted) = self.token().kind.clone() else {
            return match self.token().kind {
                Kind::Param(_) => self.assignment().map(Some),
                _ => Err(self.syntax_error()),
            };
        };
        let next = self.ahead(1).kind.clone();
        let assigned = next == Kind::Assign || matches!(next, Kind::Sign('[' | '.'));
        if quoted || (assigned && !is_reserved(&word)) {
            return self.assignment().map(Some);
        }
        self.at += 1;
        let kind = match word.as_str() {
            "begin" | "declare" => {
                self.at = at;
                let block = self.block(label)?;
                self.expect_sign(';')?;
                StepKind::Block(block)
            }
            "if" => self.if_step()?,
            "case" => self.case_step()?,
            "loop" => {
                let body = self.loop_body(label.as_deref())?;
                StepKind::Loop { label, condition: None, body }
            }
            "while" => {
                let condition = self.expression_to("loop")?;
                let body = self.loop_body(label.as_deref())?;
                StepKind::Loop { label, condition: Some(condition), body }
            }
            "for" => self.for_step(label)?,
            "foreach" => self.foreach_step(label)?,
            "exit" => self.exit_step(false)?,
            "continue" => self.exit_step(true)?,
            "return" => self.return_step()?,
            "raise" => StepKind::Raise(Box::new(self.raise_step()?)),
            "assert" => self.assert_step()?,
            "execute" => self.execute_step()?,
            "perform" => self.perform_step(at)?,
            "get" => self.diagnostics_step()?,
            "open" => self.open_step()?,
            "fetch" => self.fetch_step()?,
            "move" => self.move_step()?,
            "close" => {
                let cursor = self.cursor_variable()?;
                self.expect_sign(';')?;
                StepKind::Close(cursor)
            }
            "null" => {
                self.expect_sign(';')?;
                return Ok(None);
            }
            "commit" | "rollback" => self.transaction_step(word == "commit")?,
            "call" | "do" => {
                let (sql, _) = self.sql_statement(at, false)?;
                self.writes = true;
                StepKind::Call(sql)
            }
            _ => {
                if is_reserved(&word) {
                    return Err(self.syntax_error_at(at));
                }
                let (sql, into) = self.sql_statement(at, true)?;
                StepKind::Sql { sql, into }
            }
        };
        Ok(Some(kind))
    }

    fn assignment(&mut self) -> Result<StepKind> {
        let start = self.token().start;
        let place = self.place(true)?;
        if self.token().kind != Kind::Assign {
            return Err(self.syntax_error());
        }
        self.at += 1;
        let value = self.expression_to_end()?;
        // The semicolon has been taken.
        let end = self.tokens[self.at - 1].start;
        let assignment = Some(Arc::from(self.source[start..end].trim_end()));
        Ok(StepKind::Assign(place, Sql { assignment, ..value }))
    }

    fn if_step(&mut self) -> Result<StepKind> {
        let mut branches = Vec::new();
        loop {
            let condition = self.expression_to("then")?;
            let steps = self.steps(&["elsif", "elseif", "else", "end"])?;
            branches.push((condition, steps));
            if !self.take("elsif") && !self.take("elseif") {
                break;
            }
        }
        let otherwise = if self.take("else") { self.steps(&["end"])? } else { Vec::new() };
        self.expect("end")?;
        self.expect("if")?;
        self.expect_sign(';')?;
        Ok(StepKind::If { branches, otherwise })
    }

    fn case_step(&mut self) -> Result<StepKind> {
        let outer = self.open_scope(None);
        let subject = if self.is("when") {
            None
        } else {
            let value = self.expression_until(|token| token.is("when"), "WHEN")?;
            let name = format!("__Case__Variable_{}__", self.variables.len() + 1);
            let slot = self.add_variable(&name, VariableKind::Record, 0);
            // Its type is that of the value, and known when that has been computed.
            Some((slot, name, value))
        };
        let mut branches = Vec::new();
        while self.take("when") {
            let condition = match &subject {
                None => self.expression_to("then")?,
                Some((_, name, _)) => {
                    let name = name.clone();
                    let list = self.expression_to("then")?;
                    let text = format!("SELECT \"{name}\" IN ({})", &list.text[list.prefix..]);
                    Sql { text: text.into(), prefix: "SELECT ".len(), ..list }
                }
            };
            let steps = self.steps(&["when", "else", "end"])?;
            branches.push((condition, steps));
        }
        if branches.is_empty() {
            return Err(self.syntax_error());
        }
        let otherwise = if self.take("else") { Some(self.steps(&["end"])?) } else { None };
        self.expect("end")?;
        self.expect("case")?;
        self.expect_sign(';')?;
        self.scope = outer;
        Ok(StepKind::Case { subject: subject.map(|(slot, _, value)| (slot, value)), branches, otherwise })
    }

    fn return_step(&mut self) -> Result<StepKind> {
        if self.take("next") {
            if self.take_sign(';') {
                return Ok(StepKind::ReturnNext(None));
            }
            return Ok(StepKind::ReturnNext(Some(self.expression_to_end()?)));
        }
        if self.take("query") {
            let rows = if self.take("execute") {
                Rows::Dynamic(self.dynamic(|token| token.is_sign(';'), ";")?)
            } else {
                Rows::Query(self.statement_until(|token| token.is_sign(';'), ";")?)
            };
            self.at += 1;
            return Ok(StepKind::ReturnQuery(rows));
        }
        let start = self.token().start;
        let wrong = self.definition.wrong_return();
        if self.token().is_sign(';') {
            if wrong.is_none() {
                let message = "missing expression at or near \";\"";
                return Err(self.error_at(Condition::SyntaxError, message, start));
            }
            self.at += 1;
            return Ok(StepKind::Return(None));
        }
        if let Some((message, hint)) = wrong {
            let condition =
                if self.definition.procedure { Condition::SyntaxError } else { Condition::DatatypeMismatch };
            let error = self.error_at(condition, message, start);
            return Err(match hint {
                Some(hint) => error.hint(hint),
                None => error,
            });
        }
        Ok(StepKind::Return(Some(self.expression_to_end()?)))
    }

    fn assert_step(&mut self) -> Result<StepKind> {
        let condition = self.expression_until(|token| token.is_sign(',') || token.is_sign(';'), ";")?;
        let message =
            if self.take_sign(',') { Some(self.expression_until(|token| token.is_sign(';'), ";")?) } else { None };
        self.expect_sign(';')?;
        Ok(StepKind::Assert(condition, message))
    }

    /// The text of EXECUTE with its USING, up to a token that ends it, which stays.
    pub(super) fn dynamic(
        &mut self,
        is_end: impl Fn(&super::lexer::Token) -> bool,
        expected: &str,
    ) -> Result<DynamicSql> {
        self.writes = true;
        let text = self.expression_until(|token| token.is("using") || is_end(token), expected)?;
        let using = if self.take("using") { self.expressions_until(&is_end, expected)? } else { Vec::new() };
        Ok(DynamicSql { text, using })
    }

    fn execute_step(&mut self) -> Result<StepKind> {
        self.writes = true;
        let ends = |token: &super::lexer::Token| token.is("into") || token.is("using") || token.is_sign(';');
        let text = self.expression_until(ends, ";")?;
        let (mut into, mut using) = (None, None);
        loop {
            let start = self.token().start;
            if self.take("into") {
                if into.is_some() {
                    return Err(self.syntax_error_at(self.at - 1));
                }
                let strict = self.take("strict");
                into = Some(Into { target: self.target()?, strict });
            } else if self.take("using") {
                if using.is_some() {
                    return Err(self.syntax_error_at(self.at - 1));
                }
                using = Some(self.expressions_until(|token| token.is("into") || token.is_sign(';'), ";")?);
            } else if self.take_sign(';') {
                break;
            } else {
                let _ = start;
                return Err(self.syntax_error());
            }
        }
        Ok(StepKind::Dynamic { text: DynamicSql { text, using: using.unwrap_or_default() }, into })
    }

    fn perform_step(&mut self, at: usize) -> Result<StepKind> {
        let from = self.tokens[at].end;
        while !self.token().is_sign(';') {
            if self.token().kind == Kind::End {
                return Err(self.syntax_error());
            }
            self.at += 1;
        }
        let end = self.tokens[self.at - 1].end;
        let text = format!("SELECT{}", &self.source[from..end.max(from)]);
        self.check(&text, "SELECT".len(), from)?;
        self.at += 1;
        Ok(StepKind::Perform(self.new_sql(text, 0)))
    }

    fn diagnostics_step(&mut self) -> Result<StepKind> {
        use Diagnostic as D;
        const ITEMS: &[(&str, Diagnostic)] = &[
            ("row_count", D::RowCount),
            ("pg_routine_oid", D::RoutineOid),
            ("pg_context", D::Context),
            ("returned_sqlstate", D::Sqlstate),
            ("message_text", D::Message),
            ("pg_exception_detail", D::Detail),
            ("pg_exception_hint", D::Hint),
            ("pg_exception_context", D::ErrorContext),
            ("column_name", D::Column),
            ("constraint_name", D::Constraint),
            ("pg_datatype_name", D::DataType),
            ("table_name", D::Table),
            ("schema_name", D::Schema),
        ];
        let stacked = self.take("stacked");
        if !stacked {
            self.take("current");
        }
        self.expect("diagnostics")?;
        let mut items = Vec::new();
        loop {
            let start = self.at;
            let place = self.place(true)?;
            if place.field.is_none() && place.subscripts.is_empty() && self.is_row(place.variable) {
                let message = format!("\"{}\" is not a scalar variable", self.variables[place.variable].name);
                return Err(self.error_at(Condition::SyntaxError, message, self.tokens[start].start));
            }
            if self.token().kind != Kind::Assign {
                return Err(self.syntax_error());
            }
            self.at += 1;
            let at = self.at;
            let word = self.any_name()?;
            let Some((_, item)) = ITEMS.iter().find(|(known, _)| *known == word) else {
                let message = format!("unrecognized GET DIAGNOSTICS item at or near \"{word}\"");
                return Err(self.error_at(Condition::SyntaxError, message, self.tokens[at].start));
            };
            let of_current = matches!(item, D::RowCount | D::RoutineOid | D::Context);
            if of_current == stacked && *item != D::RoutineOid {
                let words = if stacked { "GET STACKED DIAGNOSTICS" } else { "GET CURRENT DIAGNOSTICS" };
                let message = format!("diagnostics item {} is not allowed in {words}", word.to_uppercase());
                return Err(self.error_at(Condition::SyntaxError, message, self.tokens[at].start));
            }
            items.push((place, *item));
            if !self.take_sign(',') {
                break;
            }
        }
        self.expect_sign(';')?;
        Ok(StepKind::Diagnostics { stacked, items })
    }

    fn transaction_step(&mut self, commit: bool) -> Result<StepKind> {
        self.writes = true;
        let mut chain = false;
        if self.take("and") {
            chain = !self.take("no");
            self.expect("chain")?;
        }
        self.expect_sign(';')?;
        Ok(StepKind::Transaction { commit, chain })
    }
}

/// Five digits and capital letters.
pub(super) fn is_sqlstate(code: &str) -> bool {
    code.len() == 5 && code.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase())
}
