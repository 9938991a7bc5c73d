//! The statements of SPL.

use super::block::is_name;
use super::{Block, Expression, ForValue, LoopName, RowSource, Sql, StepKind};
use crate::informix::ast::{Ast, Body, Call, Node, NodeKind, ObjectName, Query, Source};
use crate::informix::lexer::TokenKind;
use crate::informix::parser::Parser;
use crate::ir::CompareOp;
use crate::{Condition, Result};

impl Parser<'_> {
    /// One statement, without its semicolon.
    pub(super) fn step(&mut self, label: Option<&String>) -> Result<StepKind> {
        let TokenKind::Word(word) = self.peek().clone() else { return Err(self.unexpected()) };
        match word.as_str() {
            "begin" if !self.is_word_at(1, "work") => {
                self.take();
                let block = self.block(&["end"])?;
                self.expect_word("end")?;
                Ok(StepKind::Block(block))
            }
            "let" => self.let_step(),
            "if" => self.if_step(),
            "case" => self.case_step(),
            "for" => self.for_step(label.cloned()),
            "foreach" => self.foreach_step(label.cloned()),
            "while" => {
                self.take();
                let condition = Some(self.value()?);
                self.word("loop");
                self.loop_step(label.cloned(), condition, "while")
            }
            "loop" => {
                self.take();
                self.loop_step(label.cloned(), None, "loop")
            }
            "exit" => {
                self.take();
                let (name, when) = self.loop_exit()?;
                Ok(StepKind::Exit(name, when))
            }
            "continue" => {
                self.take();
                let (name, when) = self.loop_exit()?;
                Ok(StepKind::Continue(name, when))
            }
            "return" => self.return_step(),
            "raise" => self.raise_step(),
            "call" => {
                self.take();
                let sql = self.embedded(Self::routine_call)?;
                let into =
                    if self.word("returning") || self.word("into") { self.list(Self::target)? } else { Vec::new() };
                Ok(StepKind::Sql { sql: Box::new(sql), into, from: RowSource::Call })
            }
            "execute" => self.execute_step(),
            "prepare" | "declare" | "open" | "fetch" | "close" | "free" => self.cursor_step(&word),
            "system" => Err(self.unsupported("SYSTEM: commands of the operating system")),
            "goto" => {
                self.take();
                let (name, at) = self.name_at()?;
                let names = self.names();
                if names.handling {
                    let message = "GOTO cannot stand in ON EXCEPTION";
                    return Err(self.error_at(Condition::SyntaxError, message, at));
                }
                names.jumps.push((name.clone(), at));
                Ok(StepKind::Goto(name))
            }
            "trace" => {
                self.take();
                self.skip_statement();
                Ok(StepKind::Nothing)
            }
            "set" if self.is_word_at(1, "debug") => {
                self.skip_statement();
                Ok(StepKind::Nothing)
            }
            "define" => Err(self.error_at(
                Condition::SyntaxError,
                "DEFINE stands before the other statements of its block",
                self.start(),
            )),
            "database" => Err(self.forbidden("DATABASE")),
            "create" if self.creates_database() => Err(self.forbidden("CREATE DATABASE")),
            "drop" if self.is_word_at(1, "database") => Err(self.forbidden("DROP DATABASE")),
            _ => self.sql_step(),
        }
    }

    fn forbidden(&self, what: &str) -> crate::Error {
        self.error_at(Condition::RoutineStatement, format!("{what} cannot stand in a routine"), self.start())
    }

    fn creates_database(&self) -> bool {
        self.is_word_at(1, "database")
    }

    fn skip_statement(&mut self) {
        while !self.at_end() && !self.is_sign(";") {
            self.take();
        }
    }

    /// `<<name>>`
    pub(super) fn label(&mut self) -> Result<Option<String>> {
        if !(self.is_sign("<") && self.is_sign_at(1, "<")) {
            return Ok(None);
        }
        self.take();
        self.take();
        let (name, at) = self.name_at()?;
        self.expect_sign(">")?;
        self.expect_sign(">")?;
        if self.names().labels.contains(&name) {
            let message = format!("the label ({name}) stands twice in the routine");
            return Err(self.error_at(Condition::SyntaxError, message, at));
        }
        self.names().labels.push(name.clone());
        Ok(Some(name))
    }

    /// The label that may be repeated behind a loop's end.
    fn end_label(&mut self, label: Option<&String>) -> Result<()> {
        if label.is_some() && is_name(self.peek()) && self.is_sign_at(1, ";") {
            self.name()?;
        }
        Ok(())
    }

    /// A statement of plain SQL.
    fn sql_step(&mut self) -> Result<StepKind> {
        self.names().takes_into = true;
        let sql = self.embedded(|parser| parser.statement_in_routine());
        self.names().takes_into = false;
        let sql = sql?;
        let into = std::mem::take(&mut self.names().into);
        self.note(&sql.statement.ast);
        if matches!(&sql.statement.ast, Ast::Query(query) if query.into.is_none()) && into.is_empty() {
            return Err(self.error_at(Condition::SyntaxError, "a SELECT in a routine needs INTO", sql.statement.start));
        }
        Ok(StepKind::Sql { sql: Box::new(sql), into, from: RowSource::Select })
    }

    fn statement_in_routine(&mut self) -> Result<Ast> {
        let mut ast = self.statement()?;
        self.place_current_of(&mut ast)?;
        Ok(ast)
    }

    /// Keeps in mind what a statement does to the database.
    fn note(&mut self, ast: &Ast) {
        let writes = match ast {
            Ast::Query(query) => query.into.is_some() || query.for_update,
            Ast::Execute { .. } | Ast::Nothing { .. } | Ast::SetOther { .. } | Ast::SetLockMode(_) => false,
            _ => true,
        };
        self.names().writes |= writes;
    }

    /// WHERE CURRENT OF a cursor of FOREACH is a condition on the row's place, which the cursor reads along.
    fn place_current_of(&mut self, ast: &mut Ast) -> Result<()> {
        let (Ast::Update { filter, current_of, .. } | Ast::Delete { filter, current_of, .. }) = ast else {
            return Ok(());
        };
        let Some(cursor) = current_of.clone() else { return Ok(()) };
        let at = self.start();
        let names = self.names();
        let Some((_, slot, used)) = names.cursors.iter_mut().rev().find(|(name, _, _)| *name == cursor) else {
            let message = format!("cursor ({cursor}) is not one of a FOREACH around this statement");
            return Err(self.error_at(Condition::InvalidCursorName, message, at));
        };
        *used = true;
        let slot = *slot;
        let index = names.uses.len();
        names.uses.push(slot);
        let rowid = Node { kind: NodeKind::Name(vec!["rowid".into()]), at };
        let place = Node { kind: NodeKind::Param(index), at };
        *filter = Some(Node { kind: NodeKind::Compare(CompareOp::Equal, Box::new(rowid), Box::new(place)), at });
        Ok(())
    }

    /// `LET a = …`, `LET a, b = …, …`, `LET a, b = f(…)`, `LET a, b = (SELECT …)`
    fn let_step(&mut self) -> Result<StepKind> {
        self.take();
        let at = self.start();
        let into = self.list(Self::target)?;
        self.expect_sign("=")?;
        let first = self.embedded(|parser| {
            let at = parser.start();
            Ok(match parser.expression()? {
                // A call alone may change data, and may return several values.
                Node { kind: NodeKind::Call(call), at } if !call.star && !call.distinct && call.over.is_none() => {
                    let name = ObjectName { database: None, server: None, owner: None, name: call.name, at };
                    Ast::Execute { name, args: call.args }
                }
                Node { kind: NodeKind::Scalar(query), .. } => Ast::Query(query),
                other => Ast::Query(Box::new(super::block::query_of(vec![other], at))),
            })
        })?;
        if !self.is_sign(",") {
            match &first.statement.ast {
                Ast::Execute { .. } => return Ok(StepKind::Sql { sql: Box::new(first), into, from: RowSource::Call }),
                Ast::Query(query) if query.selects_from() => {
                    return Ok(StepKind::Sql { sql: Box::new(first), into, from: RowSource::Let });
                }
                _ => {}
            }
        }
        let mut values = vec![super::block::simplified(as_value(first))];
        while self.sign(",") {
            values.push(self.value()?);
        }
        if values.len() != into.len() {
            let message = format!("LET has {} variables and {} values", into.len(), values.len());
            return Err(self.error_at(Condition::SyntaxError, message, at));
        }
        Ok(StepKind::Let { into, values })
    }

    fn if_step(&mut self) -> Result<StepKind> {
        self.take();
        let mut branches = Vec::new();
        let mut otherwise = None;
        loop {
            let condition = self.value()?;
            self.expect_word("then")?;
            branches.push((condition, self.block(&["elif", "else", "end"])?));
            if self.word("elif") {
                continue;
            }
            if self.word("else") {
                otherwise = Some(self.block(&["end"])?);
            }
            self.expect_word("end")?;
            self.expect_word("if")?;
            return Ok(StepKind::If { branches, otherwise });
        }
    }

    /// `CASE value WHEN constant THEN … ELSE … END CASE`: comparisons, for each of which the value is read again.
    fn case_step(&mut self) -> Result<StepKind> {
        self.take();
        let operand = self.mark();
        let searched = self.is_word("when");
        if !searched {
            self.value()?;
        }
        let mut branches = Vec::new();
        while self.word("when") {
            let condition = self.value_of(|parser| {
                if searched {
                    return parser.expression();
                }
                let at = parser.start();
                let here = parser.mark();
                parser.reset(operand);
                let left = Box::new(parser.expression()?);
                parser.reset(here);
                let right = Box::new(parser.expression()?);
                Ok(Node { kind: NodeKind::Compare(CompareOp::Equal, left, right), at })
            })?;
            self.expect_word("then")?;
            branches.push((condition, self.block(&["when", "else", "end"])?));
        }
        if branches.is_empty() {
            return Err(self.unexpected());
        }
        let otherwise = if self.word("else") { Some(self.block(&["end"])?) } else { None };
        self.expect_word("end")?;
        self.expect_word("case")?;
        Ok(StepKind::If { branches, otherwise })
    }

    fn loop_step(
        &mut self,
        label: Option<String>,
        condition: Option<Expression>,
        word: &'static str,
    ) -> Result<StepKind> {
        let body = self.block(&["end"])?;
        self.expect_word("end")?;
        if !self.word("loop") {
            self.expect_word(word)?;
        }
        self.end_label(label.as_ref())?;
        Ok(StepKind::Loop { label, condition, word, body })
    }

    /// `FOR v = a TO b [STEP c]`, `FOR v IN (…)`
    fn for_step(&mut self, label: Option<String>) -> Result<StepKind> {
        self.take();
        let variable = self.target()?;
        let values = if self.sign("=") {
            vec![self.for_value()?]
        } else {
            self.expect_word("in")?;
            self.expect_sign("(")?;
            let values = self.list(Self::for_value)?;
            self.expect_sign(")")?;
            values
        };
        self.word("loop");
        let body = self.block(&["end"])?;
        self.expect_word("end")?;
        if !self.word("loop") {
            self.expect_word("for")?;
        }
        self.end_label(label.as_ref())?;
        Ok(StepKind::For { label, variable, values, body })
    }

    fn for_value(&mut self) -> Result<ForValue> {
        let first = self.value()?;
        if !self.word("to") {
            return Ok(ForValue::One(first));
        }
        let last = self.value()?;
        let step = if self.word("step") { Some(self.value()?) } else { None };
        Ok(ForValue::Range(first, last, step))
    }

    /// `FOREACH [cursor [WITH HOLD] FOR] SELECT … INTO … | EXECUTE … INTO …`
    fn foreach_step(&mut self, label: Option<String>) -> Result<StepKind> {
        self.take();
        self.words(&["with", "hold"]);
        let mut cursor = None;
        if is_name(self.peek())
            && (self.is_word_at(1, "for") || (self.is_word_at(1, "with") && self.is_word_at(2, "hold")))
        {
            cursor = Some(self.name()?);
            self.words(&["with", "hold"]);
            self.expect_word("for")?;
        }
        let at = self.start();
        let mut place = None;
        let (mut rows, into) = if self.is_word("execute") || self.is_word("call") {
            self.take();
            if !self.word("function") {
                self.word("procedure");
            }
            let rows = self.embedded(Self::routine_call)?;
            let into = if self.word("into") || self.word("returning") { self.list(Self::target)? } else { Vec::new() };
            (rows, into)
        } else {
            self.names().takes_into = true;
            let rows = self.embedded(|parser| Ok(Ast::Query(Box::new(parser.query()?))));
            self.names().takes_into = false;
            let rows = rows?;
            let into = std::mem::take(&mut self.names().into);
            if let Some(cursor) = cursor {
                let ty = super::TypeRef::Is(crate::Type::Int8);
                let names = self.names();
                let slot = names.variables.len();
                names.variables.push(super::Variable {
                    name: format!("rowid of {cursor}"),
                    ty,
                    global: None,
                    row: None,
                });
                names.cursors.push((cursor, slot, false));
                place = Some(slot);
            }
            (rows, into)
        };
        if into.is_empty() {
            return Err(self.error_at(Condition::SyntaxError, "FOREACH needs INTO", at));
        }
        self.word("loop");
        let body = self.block(&["end"])?;
        if place.is_some() && !self.names().cursors.pop().is_some_and(|(_, _, used)| used) {
            place = None;
        }
        if let (Some(_), Ast::Query(query)) = (place, &mut rows.statement.ast)
            && !placed(query, at)
        {
            let message = "WHERE CURRENT OF needs a cursor over the rows of one table";
            return Err(self.error_at(Condition::InvalidCursorDefinition, message, at));
        }
        self.expect_word("end")?;
        if !self.word("loop") {
            self.expect_word("foreach")?;
        }
        self.end_label(label.as_ref())?;
        Ok(StepKind::Foreach { label, rows: Box::new(rows), into, place, body })
    }

    /// What follows EXIT and CONTINUE.
    fn loop_exit(&mut self) -> Result<(Option<LoopName>, Option<Expression>)> {
        let mut name = None;
        if is_name(self.peek()) && !self.is_word("when") {
            let word = self.name()?;
            let kinds = ["for", "foreach", "while", "loop"];
            name = Some(match kinds.into_iter().find(|kind| *kind == word) {
                Some(kind) => LoopName::Kind(kind),
                None => LoopName::Label(word),
            });
            // EXIT LOOP label
            if matches!(name, Some(LoopName::Kind(_))) && is_name(self.peek()) && !self.is_word("when") {
                name = Some(LoopName::Label(self.name()?));
            }
        }
        let when = if self.word("when") { Some(self.value()?) } else { None };
        Ok((name, when))
    }

    fn return_step(&mut self) -> Result<StepKind> {
        self.take();
        let mut values = Vec::new();
        if !self.is_sign(";") && !self.is_word("with") && !self.is_word("end") && !self.at_end() {
            values = self.list(Self::value)?;
        }
        let resume = self.words(&["with", "resume"]);
        self.names().iterator |= resume;
        let call = match values.as_slice() {
            [Expression::Sql(sql)] => called(sql).map(Box::new),
            _ => None,
        };
        Ok(StepKind::Return { values, call, resume })
    }

    fn raise_step(&mut self) -> Result<StepKind> {
        self.take();
        self.expect_word("exception")?;
        let code = self.value()?;
        let isam = if self.sign(",") { Some(self.value()?) } else { None };
        let text = if self.sign(",") { Some(self.value()?) } else { None };
        Ok(StepKind::Raise { code, isam, text })
    }

    fn execute_step(&mut self) -> Result<StepKind> {
        self.take();
        if self.word("immediate") {
            self.names().writes = true;
            return Ok(StepKind::Immediate(self.value()?));
        }
        if !self.word("function") {
            self.expect_word("procedure")?;
        }
        let sql = self.embedded(Self::routine_call)?;
        let into = if self.word("into") || self.word("returning") { self.list(Self::target)? } else { Vec::new() };
        Ok(StepKind::Sql { sql: Box::new(sql), into, from: RowSource::Call })
    }

    /// Statements that are texts, and their cursors.
    fn cursor_step(&mut self, word: &str) -> Result<StepKind> {
        if word == "close" && self.is_word_at(1, "database") {
            return Err(self.forbidden("CLOSE DATABASE"));
        }
        self.take();
        let name = self.name()?;
        Ok(match word {
            "prepare" => {
                self.expect_word("from")?;
                self.names().writes = true;
                StepKind::Prepare { statement: name, text: self.value()? }
            }
            "declare" => {
                self.expect_word("cursor")?;
                self.words(&["with", "hold"]);
                self.expect_word("for")?;
                StepKind::Declare { cursor: name, statement: self.name()? }
            }
            "open" => {
                let using = if self.word("using") { self.list(Self::target)? } else { Vec::new() };
                self.words(&["with", "reoptimization"]);
                StepKind::Open { cursor: name, using }
            }
            "fetch" => {
                self.expect_word("into")?;
                StepKind::Fetch { cursor: name, into: self.list(Self::target)? }
            }
            "close" => StepKind::Close(name),
            _ => StepKind::Free(name),
        })
    }
}

/// The statement of a value: EXECUTE of a call becomes a query of it.
fn as_value(mut sql: Sql) -> Sql {
    if let Ast::Execute { name, args } = sql.statement.ast {
        let call = Call { database: name.database, ..Call::of(name.name, args) };
        let node = Node { kind: NodeKind::Call(Box::new(call)), at: name.at };
        sql.statement.ast = Ast::Query(Box::new(super::block::query_of(vec![node], name.at)));
    }
    sql
}

/// The call that a value is, if it is nothing but one.
fn called(sql: &Sql) -> Option<Sql> {
    let Ast::Query(query) = &sql.statement.ast else { return None };
    let Body::Select(select) = &query.body else { return None };
    let [item] = select.items.as_slice() else { return None };
    let NodeKind::Call(call) = &item.expr.kind else { return None };
    if !select.from.is_empty() || call.star || call.distinct || call.over.is_some() {
        return None;
    }
    let database = call.database.clone();
    let name = ObjectName { database, server: None, owner: None, name: call.name.clone(), at: item.expr.at };
    let mut sql = sql.clone();
    sql.statement.ast = Ast::Execute { name, args: call.args.clone() };
    Some(sql)
}

/// Lets a query of one table read each row's place along, as its last column; false for other queries.
fn placed(query: &mut Query, at: usize) -> bool {
    let Body::Select(select) = &mut query.body else { return false };
    let [Source::Table { name, alias }] = select.from.as_slice() else { return false };
    if select.distinct || !select.group_by.is_empty() || select.having.is_some() {
        return false;
    }
    let shown = alias.clone().unwrap_or_else(|| name.name.clone());
    let rowid = Node { kind: NodeKind::Name(vec![shown, "rowid".into()]), at };
    select.items.push(crate::informix::ast::Item { expr: rowid, alias: None });
    true
}

impl Query {
    /// True for a query that reads tables, or is made of several.
    fn selects_from(&self) -> bool {
        match &self.body {
            Body::Select(select) => !select.from.is_empty(),
            Body::Set { .. } => true,
        }
    }
}

impl Block {
    /// True when nothing stands in it.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }
}
