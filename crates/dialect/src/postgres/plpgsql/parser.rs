//! The parser's state: tokens, scopes, variables; and the frame of a function.

use std::sync::Arc;

use super::lexer::{self, Kind, Token};
use super::{Block, Conflict, DeclaredType, Function, Scope, Sql, TRIGGER_VARIABLES, Variable, VariableKind};
use crate::schema::QualifiedName;
use crate::stored_function::{Definition, TypeRef};
use crate::{Condition, Error, Result, Type, stack};

pub(super) struct Parser<'a> {
    pub(super) source: &'a str,
    pub(super) find_type: &'a dyn Fn(&QualifiedName) -> Option<Type>,
    pub(super) definition: &'a Definition,
    pub(super) tokens: Vec<Token>,
    pub(super) at: usize,
    pub(super) variables: Vec<Variable>,
    pub(super) scopes: Vec<Scope>,
    /// The innermost scope.
    pub(super) scope: usize,
    pub(super) statements: usize,
    pub(super) writes: bool,
    /// Labels of loops and blocks around: the label, and whether it is a loop's.
    pub(super) around: Vec<(Option<String>, bool)>,
    /// Variables that hide others.
    pub(super) shadows: Vec<Error>,
    conflict: Conflict,
    depth: u32,
    name: &'a str,
    /// Counted lines: up to where, and how many.
    counted: (usize, u32),
}

impl<'a> Parser<'a> {
    pub(super) fn new(
        name: &'a str,
        definition: &'a Definition,
        find_type: &'a dyn Fn(&QualifiedName) -> Option<Type>,
    ) -> Result<Self> {
        Ok(Self {
            find_type,
            source: &definition.source,
            definition,
            tokens: lexer::tokens(&definition.source)?,
            at: 0,
            variables: Vec::new(),
            scopes: vec![Scope { parent: None, label: Some(name.to_owned()), names: Vec::new() }],
            scope: 0,
            statements: 0,
            writes: false,
            around: Vec::new(),
            shadows: Vec::new(),
            conflict: Conflict::Error,
            depth: 0,
            name,
            counted: (0, 1),
        })
    }

    /// The whole body.
    pub(super) fn function(mut self) -> Result<Function> {
        let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
        for (at, param) in self.definition.params.iter().enumerate() {
            let kind = match &param.ty {
                TypeRef::Is(Type::Record(_)) => VariableKind::Record,
                // What VARIADIC takes is an array.
                ty => VariableKind::Declared(DeclaredType::Is(ty.clone())),
            };
            let name = if param.name.is_empty() { format!("${}", at + 1) } else { param.name.clone() };
            let slot = self.add_variable(&name, kind, 0);
            if !param.name.is_empty() {
                self.scopes[0].names.push((format!("${}", at + 1), slot));
            }
            if param.mode.is_input() {
                inputs.push(slot);
            }
            if param.mode.is_output() {
                outputs.push(slot);
            }
        }
        let found = self.add_variable("found", VariableKind::Declared(DeclaredType::Is(TypeRef::Is(Type::Bool))), 0);
        let trigger = (self.definition.returns == TypeRef::Trigger).then(|| self.add_trigger_variables());
        self.options()?;
        let body = self.top_block()?;
        debug_assert_eq!(self.scope, 0, "{}", self.name);
        let calls = called(&self.tokens);
        Ok(Function {
            variables: self.variables,
            scopes: self.scopes,
            body,
            statements: self.statements,
            inputs,
            outputs,
            found,
            conflict: self.conflict,
            trigger,
            writes: self.writes,
            calls,
            shadows: self.shadows,
            cursors: Vec::new(),
            reactions: Vec::new(),
        })
    }

    fn add_trigger_variables(&mut self) -> [usize; 12] {
        TRIGGER_VARIABLES.map(|name| {
            let of = |ty: Type| VariableKind::Declared(DeclaredType::Is(TypeRef::Is(ty)));
            let kind = match name {
                "new" | "old" => VariableKind::Record,
                "tg_when" | "tg_level" | "tg_op" => of(Type::Text),
                "tg_relid" => of(Type::Oid),
                "tg_nargs" => of(Type::Int4),
                "tg_argv" => of(Type::Array(Box::new(Type::Text))),
                _ => of(Type::Name),
            };
            self.add_variable(name, kind, 0)
        })
    }

    /// `#variable_conflict …` and its kin before the body.
    fn options(&mut self) -> Result<()> {
        while self.token().is_sign('#') {
            self.at += 1;
            let option = self.any_name()?;
            let value = self.any_name()?;
            match (option.as_str(), value.as_str()) {
                ("variable_conflict", "error") => self.conflict = Conflict::Error,
                ("variable_conflict", "use_column") => self.conflict = Conflict::Column,
                ("variable_conflict", "use_variable") => self.conflict = Conflict::Variable,
                ("print_strict_params", _) => return Err(Error::unsupported("#print_strict_params")),
                ("option", "dump") => {}
                _ => {
                    self.at -= 1;
                    return Err(self.syntax_error());
                }
            }
        }
        Ok(())
    }

    fn top_block(&mut self) -> Result<Block> {
        let label = self.label()?;
        let block = self.block(label)?;
        self.take_sign(';');
        if self.token().kind != Kind::End {
            return Err(self.syntax_error());
        }
        Ok(block)
    }

    // Tokens.

    pub(super) fn token(&self) -> &Token {
        &self.tokens[self.at.min(self.tokens.len() - 1)]
    }

    pub(super) fn ahead(&self, by: usize) -> &Token {
        &self.tokens[(self.at + by).min(self.tokens.len() - 1)]
    }

    pub(super) fn is(&self, word: &str) -> bool {
        self.token().is(word)
    }

    /// Goes behind a keyword if it stands here.
    pub(super) fn take(&mut self, word: &str) -> bool {
        let found = self.is(word);
        self.at += usize::from(found);
        found
    }

    pub(super) fn take_sign(&mut self, sign: char) -> bool {
        let found = self.token().is_sign(sign);
        self.at += usize::from(found);
        found
    }

    pub(super) fn expect(&mut self, word: &str) -> Result<()> {
        if self.take(word) { Ok(()) } else { Err(self.syntax_error()) }
    }

    pub(super) fn expect_sign(&mut self, sign: char) -> Result<()> {
        if self.take_sign(sign) { Ok(()) } else { Err(self.syntax_error()) }
    }

    /// Any name, be it a keyword.
    pub(super) fn any_name(&mut self) -> Result<String> {
        match &self.token().kind {
            Kind::Name(name, _) => {
                let name = name.clone();
                self.at += 1;
                Ok(name)
            }
            _ => Err(self.syntax_error()),
        }
    }

    pub(super) fn syntax_error(&self) -> Error {
        self.syntax_error_at(self.at)
    }

    pub(super) fn syntax_error_at(&self, token: usize) -> Error {
        let token = &self.tokens[token.min(self.tokens.len() - 1)];
        let message = match token.kind {
            Kind::End => "syntax error at end of input".to_owned(),
            _ => format!("syntax error at or near \"{}\"", &self.source[token.start..token.end]),
        };
        self.error_at(Condition::SyntaxError, message, token.start)
    }

    /// An error about a byte of the body.
    pub(super) fn error_at(&self, condition: Condition, message: impl Into<String>, offset: usize) -> Error {
        let before = self.source.get(..offset).unwrap_or_default();
        Error::new(condition, message).at(before.chars().count() as u32 + 1)
    }

    /// The line of a token, from 1. PostgreSQL does not count a line break that the body begins with.
    pub(super) fn line_of(&mut self, token: usize) -> u32 {
        let offset = self.tokens[token.min(self.tokens.len() - 1)].start;
        if offset < self.counted.0 {
            self.counted = (0, 1);
        }
        let (from, line) = self.counted;
        let breaks = self.source.as_bytes()[from..offset].iter().filter(|byte| **byte == b'\n').count();
        self.counted = (offset, line + breaks as u32);
        self.counted.1
    }

    /// Parses what stands one level deeper.
    pub(super) fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth >= stack::MAX_DEPTH {
            return Err(Error::new(Condition::StatementTooComplex, "stack depth limit exceeded"));
        }
        self.depth += 1;
        let result = stack::deeper(|| parse(self));
        self.depth -= 1;
        result
    }

    /// `<<label>>`, if it stands here.
    pub(super) fn label(&mut self) -> Result<Option<String>> {
        if self.token().kind != Kind::Label("<<") {
            return Ok(None);
        }
        self.at += 1;
        let label = self.any_name()?;
        if self.token().kind != Kind::Label(">>") {
            return Err(self.syntax_error());
        }
        self.at += 1;
        Ok(Some(label))
    }

    /// The label that may be repeated behind END.
    pub(super) fn end_label(&mut self, label: Option<&str>) -> Result<()> {
        let Kind::Name(name, _) = &self.token().kind else { return Ok(()) };
        let (name, start) = (name.clone(), self.token().start);
        self.at += 1;
        match label {
            Some(label) if label == name => Ok(()),
            Some(label) => Err(self.error_at(
                Condition::SyntaxError,
                format!("end label \"{name}\" differs from block's label \"{label}\""),
                start,
            )),
            None => Err(self.error_at(
                Condition::SyntaxError,
                format!("end label \"{name}\" specified for unlabeled block"),
                start,
            )),
        }
    }

    // Scopes and variables.

    /// A scope within the one of now, which it becomes.
    pub(super) fn open_scope(&mut self, label: Option<String>) -> usize {
        let outer = self.scope;
        self.scopes.push(Scope { parent: Some(outer), label, names: Vec::new() });
        self.scope = self.scopes.len() - 1;
        outer
    }

    /// A variable in the innermost scope.
    pub(super) fn add_variable(&mut self, name: &str, kind: VariableKind, line: u32) -> usize {
        let slot = self.variables.len();
        self.variables.push(Variable {
            name: name.to_owned(),
            kind,
            collation: None,
            constant: false,
            not_null: false,
            default: None,
            line,
        });
        let scope = self.scope;
        self.scopes[scope].names.push((name.to_owned(), slot));
        slot
    }

    /// The variable of a name.
    pub(super) fn find(&self, name: &str) -> Option<usize> {
        let mut scope = Some(self.scope);
        while let Some(at) = scope {
            let names = &self.scopes[at].names;
            if let Some((_, slot)) = names.iter().rev().find(|(known, _)| known == name) {
                return Some(*slot);
            }
            scope = self.scopes[at].parent;
        }
        None
    }

    /// The variable of a name in the scope of a label.
    pub(super) fn find_labelled(&self, label: &str, name: &str) -> Option<usize> {
        let mut scope = Some(self.scope);
        while let Some(at) = scope {
            let known = &self.scopes[at];
            if known.label.as_deref() == Some(label) {
                return known.names.iter().rev().find(|(known, _)| known == name).map(|(_, slot)| *slot);
            }
            scope = known.parent;
        }
        None
    }

    /// A variable holds rows.
    pub(super) fn is_row(&self, slot: usize) -> bool {
        match &self.variables[slot].kind {
            VariableKind::Record => true,
            VariableKind::Declared(DeclaredType::Is(TypeRef::Row(_))) => true,
            VariableKind::Declared(DeclaredType::Is(TypeRef::Is(ty))) => ty.is_row(),
            VariableKind::Declared(DeclaredType::Like(other)) => self.is_row(*other),
            _ => false,
        }
    }

    /// A new statement of SQL.
    pub(super) fn new_sql(&mut self, text: String, prefix: usize) -> Sql {
        let id = self.statements;
        self.statements += 1;
        let names = self.scopes[self.scope].names.len();
        Sql { id, text: Arc::from(text), prefix, assignment: None, scope: self.scope, names }
    }
}

/// Every name that parentheses follow: among them are the functions that a text calls.
pub(super) fn called(tokens: &[Token]) -> Vec<String> {
    let pairs = tokens.windows(2).filter(|pair| pair[1].is_sign('('));
    let mut names: Vec<String> = pairs
        .filter_map(|pair| match &pair[0].kind {
            Kind::Name(name, _) => Some(name.clone()),
            _ => None,
        })
        .collect();
    names.sort();
    names.dedup();
    names
}
