//! DECLARE.

use super::lexer::Kind;
use super::parser::Parser;
use super::{BoundCursor, DeclaredType, VariableKind};
use crate::schema::QualifiedName;
use crate::stored_function::TypeRef;
use crate::{Condition, Result, Type};

impl Parser<'_> {
    /// The declarations behind DECLARE; the variables that they make.
    pub(super) fn declarations(&mut self) -> Result<Vec<usize>> {
        let mut made = Vec::new();
        while !self.is("begin") && !self.is("declare") && self.token().kind != Kind::End {
            if self.token().kind == Kind::Label("<<") {
                let message = "block label must be placed before DECLARE, not after";
                return Err(self.error_at(Condition::SyntaxError, message, self.token().start));
            }
            let at = self.at;
            let line = self.line_of(at);
            let name = self.new_variable_name()?;
            if self.take("alias") {
                self.alias(&name)?;
                continue;
            }
            let scroll = self.scroll();
            if self.is("cursor") {
                made.push(self.cursor(&name, scroll, line)?);
                continue;
            }
            made.push(self.variable(&name, line)?);
        }
        // Further DECLAREs continue the first.
        if self.take("declare") {
            made.extend(self.declarations()?);
        }
        Ok(made)
    }

    /// A name that is free in this scope.
    fn new_variable_name(&mut self) -> Result<String> {
        let at = self.at;
        let quoted = matches!(self.token().kind, Kind::Name(_, true));
        let name = self.any_name()?;
        if !quoted && super::statement::is_reserved(&name) {
            return Err(self.syntax_error_at(at));
        }
        if self.scopes[self.scope].names.iter().any(|(known, _)| *known == name) {
            let near = &self.source[self.tokens[at].start..self.tokens[at].end];
            let message = format!("duplicate declaration at or near \"{near}\"");
            return Err(self.error_at(Condition::SyntaxError, message, self.tokens[at].start));
        }
        self.note_shadow(&name, at);
        Ok(name)
    }

    /// Remembers a name that hides a variable of a block around.
    fn note_shadow(&mut self, name: &str, token: usize) {
        if self.find(name).is_some() {
            let message = format!("variable \"{name}\" shadows a previously defined variable");
            let shadow = self.error_at(Condition::DuplicateAlias, message, self.tokens[token].start);
            self.shadows.push(shadow);
        }
    }

    /// `name ALIAS FOR other`
    fn alias(&mut self, name: &str) -> Result<()> {
        self.expect("for")?;
        let start = self.token().start;
        let Some(place) = self.place_if_variable()? else {
            let shown = &self.source[start..self.token().end];
            let message = format!("variable \"{shown}\" does not exist");
            return Err(self.error_at(Condition::UndefinedColumn, message, start));
        };
        self.expect_sign(';')?;
        let scope = self.scope;
        self.scopes[scope].names.push((name.to_owned(), place.variable));
        Ok(())
    }

    /// SCROLL, NO SCROLL.
    pub(super) fn scroll(&mut self) -> Option<bool> {
        if self.take("scroll") {
            return Some(true);
        }
        if self.is("no") && self.ahead(1).is("scroll") {
            self.at += 2;
            return Some(false);
        }
        None
    }

    /// `name CURSOR (args) FOR query`
    fn cursor(&mut self, name: &str, scroll: Option<bool>, line: u32) -> Result<usize> {
        self.at += 1;
        let outer = self.open_scope(None);
        let mut args = Vec::new();
        if self.take_sign('(') {
            loop {
                let at = self.at;
                let arg = self.any_name()?;
                self.note_shadow(&arg, at);
                let ty = self.declared_type(|token| token.is_sign(',') || token.is_sign(')'))?;
                args.push(self.add_variable(&arg, kind_of(ty), line));
                if !self.take_sign(',') {
                    break;
                }
            }
            self.expect_sign(')')?;
        }
        if !self.take("for") && !self.take("is") {
            return Err(self.syntax_error());
        }
        let query = self.statement_until(|token| token.is_sign(';'), ";")?;
        self.at += 1;
        self.scope = outer;
        let cursor = BoundCursor { args, query, scroll };
        Ok(self.add_variable(name, VariableKind::Cursor(Box::new(cursor)), line))
    }

    /// `name [CONSTANT] type [COLLATE …] [NOT NULL] [{DEFAULT | := | =} value]`
    fn variable(&mut self, name: &str, line: u32) -> Result<usize> {
        let constant = self.take("constant");
        let ty = self.declared_type(|token| {
            token.is_sign(';')
                || token.kind == Kind::Assign
                || token.is("not")
                || token.is("default")
                || token.is("collate")
        })?;
        let mut collation = None;
        if self.take("collate") {
            let mut name = QualifiedName::bare(self.any_name()?);
            while self.take_sign('.') {
                name = QualifiedName::new(name.name, self.any_name()?);
            }
            collation = Some(name);
        }
        let start = self.token().start;
        let not_null = self.take("not");
        if not_null {
            self.expect("null")?;
        }
        let default = if self.take_sign(';') {
            None
        } else if self.take("default") || self.token().kind == Kind::Assign {
            if self.token().kind == Kind::Assign {
                self.at += 1;
            }
            Some(self.expression_to_end()?)
        } else {
            return Err(self.syntax_error());
        };
        if not_null && default.is_none() {
            let message = format!("variable \"{name}\" must have a default value, since it's declared NOT NULL");
            return Err(self.error_at(Condition::NullValueNotAllowed, message, start));
        }
        let slot = self.add_variable(name, kind_of(ty), line);
        let variable = &mut self.variables[slot];
        variable.collation = collation;
        (variable.constant, variable.not_null, variable.default) = (constant, not_null, default);
        Ok(slot)
    }

    /// A type up to a token that ends it.
    fn declared_type(&mut self, is_end: impl Fn(&super::lexer::Token) -> bool) -> Result<DeclaredType> {
        let from = self.at;
        let mut depth = 0_i32;
        while depth > 0 || !is_end(self.token()) {
            match self.token().kind {
                Kind::Sign('(' | '[') => depth += 1,
                Kind::Sign(')' | ']') => depth -= 1,
                Kind::End => return Err(self.syntax_error()),
                _ => {}
            }
            self.at += 1;
        }
        if from == self.at {
            let message = format!("missing data type declaration at or near \"{}\"", self.near_token());
            return Err(self.error_at(Condition::SyntaxError, message, self.token().start));
        }
        let tokens = &self.tokens[from..self.at];
        let (start, end) = (tokens[0].start, tokens[tokens.len() - 1].end);
        let percent = tokens.iter().position(|token| token.is_sign('%'));
        if let Some(percent) = percent {
            let names: Vec<String> = tokens[..percent]
                .iter()
                .filter_map(|token| match &token.kind {
                    Kind::Name(name, _) => Some(name.clone()),
                    Kind::Param(number) => Some(format!("${number}")),
                    _ => None,
                })
                .collect();
            let of_row = tokens.get(percent + 1).is_some_and(|token| token.is("rowtype"));
            let of_type = tokens.get(percent + 1).is_some_and(|token| token.is("type"));
            if !(of_row || of_type) || tokens.len() > percent + 2 {
                return Err(self.syntax_error_at(from + percent + 1));
            }
            return self.copied_type(&names, of_row, start);
        }
        let words = &self.source[start..end];
        if tokens.len() == 1 && tokens[0].is("record") {
            return Ok(DeclaredType::Is(TypeRef::Is(Type::RECORD)));
        }
        crate::postgres::routine::type_from_text(words)
            .map(|ty| match &ty {
                TypeRef::Row(name) => (self.find_type)(name).map_or(ty, TypeRef::Is),
                TypeRef::Rows(name) => {
                    (self.find_type)(name).map_or(ty, |found| TypeRef::Is(Type::Array(Box::new(found))))
                }
                _ => ty,
            })
            .map(DeclaredType::Is)
            .map_err(|error| self.error_at(error.condition(), error.message.clone(), start))
    }

    fn near_token(&self) -> String {
        let token = self.token();
        self.source[token.start..token.end].to_owned()
    }

    /// `%TYPE`, `%ROWTYPE`.
    fn copied_type(&self, names: &[String], of_row: bool, start: usize) -> Result<DeclaredType> {
        let words: Vec<&str> = names.iter().map(String::as_str).collect();
        let table = |parts: &[&str]| match parts {
            [schema, name] | [_, schema, name] => QualifiedName::new(*schema, *name),
            parts => QualifiedName::bare(parts.last().copied().unwrap_or_default()),
        };
        if of_row {
            return Ok(DeclaredType::Is(TypeRef::Row(table(&words))));
        }
        let variable = match words.as_slice() {
            [name] => self.find(name),
            [label, name] => self.find_labelled(label, name),
            _ => None,
        };
        if let Some(slot) = variable {
            return Ok(DeclaredType::Like(slot));
        }
        match words.as_slice() {
            [parts @ .., column] if !parts.is_empty() => Ok(DeclaredType::Column(table(parts), (*column).to_owned())),
            _ => {
                let message = format!("variable \"{}\" does not exist", words.join("."));
                Err(self.error_at(Condition::UndefinedColumn, message, start))
            }
        }
    }
}

/// What a variable of a type holds.
fn kind_of(ty: DeclaredType) -> VariableKind {
    match ty {
        DeclaredType::Is(TypeRef::Is(Type::Record(_))) => VariableKind::Record,
        ty => VariableKind::Declared(ty),
    }
}
