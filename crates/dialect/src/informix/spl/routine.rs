//! CREATE FUNCTION, CREATE PROCEDURE: what stands around the body.

use std::collections::HashMap;

use super::{Mode, Names, Param, Return, Routine, RowNames, TypeRef, Variable};
use crate::informix::ast::{Ast, CreateRoutine};
use crate::informix::lexer::TokenKind;
use crate::informix::parser::Parser;
use crate::ir::TriggerEvent;
use crate::schema::QualifiedName;
use crate::{Condition, Result, Type};

impl Parser<'_> {
    /// What follows CREATE [DBA] [OR REPLACE]; `start` is where CREATE stands.
    pub fn create_routine(&mut self, start: usize, dba: bool, or_replace: bool) -> Result<Ast> {
        if self.spl.is_some() {
            return Err(self.error_at(
                Condition::RoutineStatement,
                "a routine cannot be created within a routine",
                start,
            ));
        }
        self.spl = Some(Box::new(Names { text: self.text.into(), ..Names::default() }));
        let result = self.routine(dba);
        self.spl = None;
        let (routine, if_not_exists, at) = result?;
        let text = (start, self.end());
        Ok(Ast::CreateRoutine(Box::new(CreateRoutine { routine, or_replace, if_not_exists, text, at })))
    }

    fn routine(&mut self, dba: bool) -> Result<(Routine, bool, usize)> {
        let function = self.word("function");
        if !function {
            self.expect_word("procedure")?;
        }
        let if_not_exists = self.words(&["if", "not", "exists"]);
        let name = self.object_name()?;
        let mut routine = Routine {
            name: name.name,
            owner: name.owner,
            specific: None,
            function,
            dba,
            not_variant: false,
            params: Vec::new(),
            returns: Vec::new(),
            variables: Vec::new(),
            sqlcode: None,
            of_table: None,
            body: super::Block::default(),
            statements: 0,
            document: Vec::new(),
            writes: false,
            iterator: false,
            calls: Vec::new(),
        };
        self.names().scopes.push(HashMap::new());
        self.expect_sign("(")?;
        if !self.is_sign(")") {
            routine.params = self.list(Self::parameter)?;
        }
        self.expect_sign(")")?;
        if !self.is_variable("sqlcode") {
            let at = self.start();
            routine.sqlcode = Some(self.declare("sqlcode".into(), TypeRef::Is(Type::Int4), None, at)?);
        }
        if self.word("referencing") {
            let table = QualifiedName::bare("");
            let event = TriggerEvent::Update;
            let mut rows = RowNames { table, old: None, new: None, sets_row: false, event, instead: false };
            self.row_names(None, &mut rows)?;
            self.expect_word("for")?;
            let table = self.object_name()?;
            rows.table = QualifiedName { schema: table.owner, name: table.name };
            routine.of_table = Some(rows.table.clone());
            self.names().rows = Some(rows);
        }
        if self.word("returning") || self.word("returns") {
            routine.returns = self.list(|parser| {
                let ty = parser.declared_type()?;
                let name = if parser.word("as") { Some(parser.name()?) } else { None };
                Ok(Return { name, ty })
            })?;
        }
        if self.word("specific") {
            routine.specific = Some(self.object_name()?.name);
        }
        if self.word("with") {
            self.modifiers(&mut routine)?;
        }
        if self.is_word("external") {
            return Err(self.unsupported("a routine written in C or Java"));
        }
        self.sign(";");
        let end = if function { "function" } else { "procedure" };
        routine.body = self.block(&["end"])?;
        self.expect_word("end")?;
        self.expect_word(end)?;
        if let Some((name, at)) = self.names().jumps.first().cloned() {
            let message = format!("GOTO finds no label ({name}) in a block around it");
            return Err(self.error_at(Condition::SyntaxError, message, at));
        }
        let names = std::mem::take(self.names());
        routine.variables = names.variables;
        routine.statements = names.statements;
        routine.writes = names.writes;
        routine.iterator = names.iterator;
        routine.calls = names.calls;
        // A semicolon may stand before DOCUMENT, too.
        if self.is_sign(";") && self.is_word_at(1, "document") {
            self.take();
        }
        if self.word("document") {
            routine.document = self.list(|parser| match parser.peek().clone() {
                TokenKind::String(text) | TokenKind::Quoted(text) => {
                    parser.take();
                    Ok(text)
                }
                _ => Err(parser.unexpected()),
            })?;
        }
        if self.words(&["with", "listing", "in"]) {
            self.take();
        }
        Ok((routine, if_not_exists, name.at))
    }

    /// `[IN|OUT|INOUT] name type [DEFAULT value]`
    fn parameter(&mut self) -> Result<Param> {
        let mode = match self.peek() {
            TokenKind::Word(word) if !matches!(self.peek_at(1), TokenKind::Sign(_)) && !self.is_word_at(1, "like") => {
                match word.as_str() {
                    "in" => Some(Mode::In),
                    "out" => Some(Mode::Out),
                    "inout" => Some(Mode::InOut),
                    _ => None,
                }
            }
            _ => None,
        };
        if mode.is_some() {
            self.take();
        }
        let (name, at) = self.name_at()?;
        let ty = self.declared_type()?;
        let default = if self.word("default") { Some(self.value()?) } else { None };
        self.declare(name.clone(), ty.clone(), None, at)?;
        Ok(Param { name, ty, default, mode: mode.unwrap_or_default() })
    }

    /// A type, LIKE a column's, or REFERENCES to a large object.
    pub(super) fn declared_type(&mut self) -> Result<TypeRef> {
        let at = self.start();
        if self.word("references") {
            let _ = self.type_name()?;
            return Err(crate::Error::unsupported("a variable of type BYTE or TEXT (REFERENCES)")
                .at(crate::informix::lexer::position(self.text, at)));
        }
        if self.word("like") {
            let table = self.object_name()?;
            // `table.column` reads as an owner and a name; `owner.table.column` has one more.
            let (schema, name, column) = if self.sign(".") {
                (table.owner, table.name, self.name()?)
            } else {
                match table.owner {
                    Some(owner) => (None, owner, table.name),
                    None => return Err(self.unexpected()),
                }
            };
            return Ok(TypeRef::Like { table: QualifiedName { schema, name }, column });
        }
        let ty = self.type_name()?;
        if ty.serial.is_some() {
            return Err(self.error_at(Condition::SyntaxError, "a variable cannot be SERIAL", at));
        }
        if matches!(ty.ty, Type::Byte | Type::TextBlob) {
            return Err(crate::Error::unsupported("a variable of type BYTE or TEXT")
                .at(crate::informix::lexer::position(self.text, at)));
        }
        Ok(TypeRef::Is(ty.ty))
    }

    /// Makes a variable known from here on.
    pub(super) fn declare(
        &mut self,
        name: String,
        ty: TypeRef,
        global: Option<super::Expression>,
        at: usize,
    ) -> Result<usize> {
        let names = self.names();
        let slot = names.variables.len();
        if let Some(scope) = names.scopes.last_mut()
            && scope.insert(name.clone(), slot).is_some()
        {
            let message = format!("the variable ({name}) is declared twice");
            return Err(self.error_at(Condition::DuplicateObject, message, at));
        }
        self.names().variables.push(Variable { name, ty, global, row: None });
        Ok(slot)
    }

    /// DROP FUNCTION, PROCEDURE, ROUTINE, SPECIFIC …; DROP has been taken.
    pub fn drop_routine(&mut self) -> Result<Ast> {
        let specific = self.word("specific");
        let function = if self.word("function") {
            Some(true)
        } else if self.word("procedure") {
            Some(false)
        } else {
            self.expect_word("routine")?;
            None
        };
        let if_exists = self.words(&["if", "exists"]);
        let name = self.object_name()?;
        let signature = self.routine_signature()?;
        Ok(Ast::DropRoutine { name, function, specific, signature, if_exists })
    }

    /// `(type, …)`, if it stands here.
    pub fn routine_signature(&mut self) -> Result<Option<Vec<Type>>> {
        if !self.sign("(") {
            return Ok(None);
        }
        let types =
            if self.is_sign(")") { Vec::new() } else { self.list(|parser| parser.type_name().map(|ty| ty.ty))? };
        self.expect_sign(")")?;
        Ok(Some(types))
    }

    /// `WITH (NOT VARIANT, …)`: promises to an optimizer that is not there.
    fn modifiers(&mut self, routine: &mut Routine) -> Result<()> {
        self.expect_sign("(")?;
        loop {
            if self.words(&["not", "variant"]) {
                routine.not_variant = true;
            } else if self.word("variant") || self.word("handlesnulls") || self.word("iterator") {
            } else {
                // name or name = value
                self.name()?;
                if self.sign("=") {
                    self.take();
                }
            }
            if !self.sign(",") {
                break;
            }
        }
        self.expect_sign(")")
    }
}
