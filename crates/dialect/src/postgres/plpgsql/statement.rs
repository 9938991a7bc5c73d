//! Statements of PL/pgSQL.

use super::lexer::Kind;
use super::parser::Parser;
use super::{
    Block, DeclaredType, Diagnostic, Direction, DynamicSql, Handler, Handlers, Into, Level, OpenSource, Place, Raise,
    RaiseOption, Rows, Sql, Step, StepKind, Target, Trapped, VariableKind,
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
        Ok(Block { label, declares, steps, handlers })
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

    fn unknown_condition(&self, name: &str, start: usize) -> Error {
        self.error_at(Condition::UndefinedObject, format!("unrecognized exception condition \"{name}\""), start)
    }

    /// The code behind SQLSTATE.
    fn sqlstate(&mut self) -> Result<String> {
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
            "commit" | "rollback" => self.transaction_step(if word == "commit" { "COMMIT" } else { "ROLLBACK" })?,
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
        let place = self.place(true)?;
        if self.token().kind != Kind::Assign {
            return Err(self.syntax_error());
        }
        self.at += 1;
        Ok(StepKind::Assign(place, self.expression_to_end()?))
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

    /// What stands between LOOP and END LOOP.
    fn loop_body(&mut self, label: Option<&str>) -> Result<Vec<Step>> {
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

    fn for_step(&mut self, label: Option<String>) -> Result<StepKind> {
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

    fn foreach_step(&mut self, label: Option<String>) -> Result<StepKind> {
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

    fn exit_step(&mut self, again: bool) -> Result<StepKind> {
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
            let error = self.error_at(Condition::DatatypeMismatch, message, start);
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

    fn raise_step(&mut self) -> Result<Raise> {
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

    /// The text of EXECUTE with its USING, up to a token that ends it, which stays.
    fn dynamic(&mut self, is_end: impl Fn(&super::lexer::Token) -> bool, expected: &str) -> Result<DynamicSql> {
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
            let place = self.place(true)?;
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

    fn transaction_step(&mut self, word: &'static str) -> Result<StepKind> {
        self.writes = true;
        if self.take("and") {
            self.take("no");
            self.expect("chain")?;
        }
        self.expect_sign(';')?;
        Ok(StepKind::Transaction(word))
    }

    // Cursors.

    /// A variable that holds a cursor's name.
    fn cursor_variable(&mut self) -> Result<usize> {
        let start = self.token().start;
        let place = self.place_if_variable()?;
        let Some(Place { variable, field: None, .. }) = place else {
            let shown = &self.source[start..self.token().end];
            let message = format!("\"{shown}\" is not a known variable");
            return Err(self.error_at(Condition::SyntaxError, message, start));
        };
        let holds = match &self.variables[variable].kind {
            VariableKind::Cursor(_) => true,
            VariableKind::Declared(DeclaredType::Is(TypeRef::Is(ty))) => ty.is_text(),
            _ => false,
        };
        if !holds {
            let message = format!("variable \"{}\" must be of type cursor or refcursor", self.variables[variable].name);
            return Err(self.error_at(Condition::DatatypeMismatch, message, start));
        }
        Ok(variable)
    }

    /// `(value, name := value, …)` for a bound cursor.
    fn cursor_arguments(&mut self, cursor: usize) -> Result<Vec<(usize, Sql)>> {
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

    fn open_step(&mut self) -> Result<StepKind> {
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

    fn fetch_step(&mut self) -> Result<StepKind> {
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

    fn move_step(&mut self) -> Result<StepKind> {
        let direction = self.direction()?;
        let cursor = self.cursor_variable()?;
        self.expect_sign(';')?;
        Ok(StepKind::Fetch { cursor, direction, into: None })
    }
}

/// Five digits and capital letters.
pub(super) fn is_sqlstate(code: &str) -> bool {
    code.len() == 5 && code.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase())
}
