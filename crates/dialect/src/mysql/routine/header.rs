//! CREATE of a routine or trigger, up to its body.

use sqlparser::tokenizer::{Token, TokenWithSpan, Word};

use super::parser::Parser;
use super::{Altered, Characteristics, DataAccess, Kind, Parameter, Routine, TriggerHead, errors};
use crate::ir::TriggerEvent;
use crate::mysql::tokens::is_word;
use crate::postgres::plpgsql::{Conflict, DeclaredType, Function, TRIGGER_VARIABLES, VariableKind};
use crate::stored_function::{ParamMode, TypeRef};
use crate::{Error, Result, Type};

/// True for the tokens of a CREATE whose body may have semicolons.
pub(in crate::mysql) fn begins(tokens: &[TokenWithSpan]) -> bool {
    let mut words = tokens.iter().map(|token| &token.token).filter(|token| !matches!(token, Token::Whitespace(_)));
    if !words.next().is_some_and(|token| is_word(token, "create")) {
        return false;
    }
    // OR REPLACE, AGGREGATE and DEFINER = user@host stand between.
    for token in words.take(12) {
        match token {
            Token::Word(Word { value, quote_style: None, .. }) => match value.to_ascii_lowercase().as_str() {
                "procedure" | "function" | "trigger" | "event" => return true,
                "or" | "replace" | "aggregate" | "definer" | "current_user" => {}
                "table" | "view" | "index" | "unique" | "database" | "schema" | "temporary" | "sql" => return false,
                _ => {}
            },
            Token::Word(_)
            | Token::Eq
            | Token::AtSign
            | Token::SingleQuotedString(_)
            | Token::DoubleQuotedString(_)
            | Token::LParen
            | Token::RParen
            | Token::Mod
            | Token::Period
            | Token::Number(..) => {}
            _ => return false,
        }
    }
    false
}

impl Parser<'_> {
    /// The whole statement, and how many of all tokens it takes.
    pub(super) fn create(mut self) -> Result<(Routine, usize)> {
        self.expect("create")?;
        let definer = if self.take("definer") {
            self.expect_token(&Token::Eq)?;
            Some(self.user()?)
        } else {
            None
        };
        if self.is("aggregate") {
            return Err(Error::unsupported("CREATE AGGREGATE FUNCTION"));
        }
        self.kind = match self.token() {
            token if is_word(token, "procedure") => Kind::Procedure,
            token if is_word(token, "function") => Kind::Function,
            token if is_word(token, "trigger") => return self.trigger(definer),
            token if is_word(token, "event") => return Err(Error::unsupported("CREATE EVENT")),
            _ => return Err(self.syntax_error()),
        };
        self.at += 1;
        let if_not_exists = self.take_all(&["if", "not", "exists"]);
        let (database, name) = self.qualified_name()?;
        self.name = match &database {
            Some(database) => format!("{database}.{name}"),
            None => format!("{}.{name}", self.database),
        };
        let (params, params_text) = self.parameters()?;
        let returns = match self.kind {
            Kind::Function => {
                if self.is("soname") {
                    return Err(Error::unsupported("CREATE FUNCTION … SONAME"));
                }
                self.expect("returns")?;
                Some(self.type_of()?)
            }
            _ => None,
        };
        let characteristics = self.characteristics()?;
        let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
        for param in &params {
            let kind = self.kind_of(&param.ty)?;
            let slot = self.add_variable(&param.name, kind, 0);
            if param.mode.is_input() {
                inputs.push(slot);
            }
            if param.mode.is_output() {
                outputs.push(slot);
            }
        }
        let (function, body) = self.body((inputs, outputs), None)?;
        if self.kind == Kind::Function && !self.returns {
            return Err(errors::no_return(&self.name));
        }
        let taken = self.taken();
        let routine = Routine {
            kind: self.kind,
            database,
            name,
            if_not_exists,
            definer,
            params,
            returns,
            characteristics,
            params_text,
            body,
            function,
            types: self.types,
        };
        Ok((routine, taken))
    }

    /// CREATE TRIGGER.
    fn trigger(mut self, definer: Option<String>) -> Result<(Routine, usize)> {
        self.at += 1;
        let if_not_exists = self.take_all(&["if", "not", "exists"]);
        let (database, name) = self.qualified_name()?;
        let before = match self.token() {
            token if is_word(token, "before") => true,
            token if is_word(token, "after") => false,
            _ => return Err(self.syntax_error()),
        };
        self.at += 1;
        let event = match self.token() {
            token if is_word(token, "insert") => TriggerEvent::Insert,
            token if is_word(token, "update") => TriggerEvent::Update,
            token if is_word(token, "delete") => TriggerEvent::Delete,
            _ => return Err(self.syntax_error()),
        };
        self.at += 1;
        self.expect("on")?;
        let table = self.qualified_name()?;
        for word in ["for", "each", "row"] {
            self.expect(word)?;
        }
        // A body never begins with either.
        let order = match (self.is("follows"), self.is("precedes")) {
            (false, false) => None,
            (follows, _) => {
                self.at += 1;
                Some((follows, self.any_name()?))
            }
        };
        self.name.clone_from(&name);
        self.kind = Kind::Trigger(TriggerHead { before, event, table, order });
        let slots = TRIGGER_VARIABLES.map(|variable| {
            let of = |ty: Type| VariableKind::Declared(DeclaredType::Is(TypeRef::Is(ty)));
            let is_row = matches!(variable, "new" | "old");
            let kind = match variable {
                "new" | "old" => VariableKind::Record,
                "tg_relid" => of(Type::Oid),
                "tg_nargs" => of(Type::Int4),
                "tg_argv" => of(Type::Array(Box::new(Type::Text))),
                _ => of(Type::Text),
            };
            // What only PL/pgSQL's triggers are told has no name here.
            let hidden = format!("{variable} ");
            self.add_variable(if is_row { variable } else { &hidden }, kind, 0)
        });
        let (function, body) = self.body(Default::default(), Some(slots))?;
        let taken = self.taken();
        let routine = Routine {
            kind: self.kind,
            database,
            name,
            if_not_exists,
            definer,
            params: Vec::new(),
            returns: None,
            characteristics: Characteristics::default(),
            params_text: String::new(),
            body,
            function,
            types: self.types,
        };
        Ok((routine, taken))
    }

    /// The body, and its text.
    fn body(
        &mut self,
        (inputs, outputs): (Vec<usize>, Vec<usize>),
        trigger: Option<[usize; 12]>,
    ) -> Result<(Function, String)> {
        let found = self.add_variable("found ", VariableKind::Declared(DeclaredType::Is(TypeRef::Is(Type::Bool))), 0);
        let from = self.at;
        self.open_scope();
        let body = self.whole_body()?;
        let text = self.between(from, self.at).to_owned();
        self.look_through(from, self.at)?;
        self.calls.sort();
        self.calls.dedup();
        let function = Function {
            variables: std::mem::take(&mut self.variables),
            scopes: std::mem::take(&mut self.scopes),
            body,
            statements: self.statements,
            inputs,
            outputs,
            found,
            conflict: Conflict::Variable,
            trigger,
            writes: self.writes,
            calls: std::mem::take(&mut self.calls),
            shadows: Vec::new(),
            cursors: std::mem::take(&mut self.cursors),
            reactions: std::mem::take(&mut self.reactions),
        };
        Ok((function, text))
    }

    /// `user`, `user@host`, CURRENT_USER.
    fn user(&mut self) -> Result<String> {
        let mut user = match self.token().clone() {
            Token::Word(Word { value, .. }) => value,
            Token::SingleQuotedString(text) | Token::DoubleQuotedString(text) => text,
            _ => return Err(self.syntax_error()),
        };
        self.at += 1;
        if user.eq_ignore_ascii_case("current_user") {
            if self.take_token(&Token::LParen) {
                self.expect_token(&Token::RParen)?;
            }
            return Ok("current_user".to_owned());
        }
        let host = match self.token().clone() {
            Token::AtSign => "@".to_owned(),
            Token::Word(Word { value, quote_style: None, .. }) if value.starts_with('@') => value,
            _ => return Ok(user),
        };
        self.at += 1;
        user.push_str(&host);
        if host == "@" {
            match self.token().clone() {
                Token::Word(Word { value, .. }) => user.push_str(&value),
                Token::SingleQuotedString(text) | Token::DoubleQuotedString(text) => user.push_str(&text),
                Token::Mod => user.push('%'),
                _ => return Err(self.syntax_error()),
            }
            self.at += 1;
        }
        Ok(user)
    }

    fn qualified_name(&mut self) -> Result<(Option<String>, String)> {
        let first = self.any_name()?;
        if self.take_token(&Token::Period) {
            return Ok((Some(first), self.any_name()?));
        }
        Ok((None, first))
    }

    fn parameters(&mut self) -> Result<(Vec<Parameter>, String)> {
        self.expect_token(&Token::LParen)?;
        let from = self.at;
        let mut params: Vec<Parameter> = Vec::new();
        while self.token() != &Token::RParen {
            if !params.is_empty() {
                self.expect_token(&Token::Comma)?;
            }
            let mut mode = ParamMode::In;
            if self.kind == Kind::Procedure {
                for (word, named) in [("in", ParamMode::In), ("out", ParamMode::Out), ("inout", ParamMode::InOut)] {
                    // A parameter may be called so, too.
                    if self.is(word) && matches!(self.ahead(1), Token::Word(_)) {
                        self.at += 1;
                        mode = named;
                        break;
                    }
                }
            }
            let name = self.any_name()?;
            if params.iter().any(|known| known.name.eq_ignore_ascii_case(&name)) {
                return Err(errors::duplicate("parameter", &name));
            }
            let ty = self.type_of()?;
            params.push(Parameter { mode, name, ty });
        }
        let text = if params.is_empty() { String::new() } else { self.between(from, self.at).to_owned() };
        self.at += 1;
        Ok((params, text))
    }

    /// COMMENT, DETERMINISTIC and their kin.
    pub(super) fn characteristics(&mut self) -> Result<Characteristics> {
        let mut of = Characteristics::default();
        while self.characteristic(&mut of)? {}
        Ok(of)
    }

    /// The characteristics of ALTER, which has no DETERMINISTIC.
    pub(super) fn altered(mut self) -> Result<Altered> {
        let mut altered = Altered::default();
        while self.token() != &Token::EOF {
            let (at, mut of) = (self.at, Characteristics::default());
            if self.are(&["deterministic"]) || self.are(&["not", "deterministic"]) || !self.characteristic(&mut of)? {
                return Err(self.syntax_error());
            }
            match &self.tokens[at].token {
                token if is_word(token, "comment") => altered.comment = Some(of.comment.unwrap_or_default()),
                token if is_word(token, "sql") => altered.invoker = Some(of.invoker),
                token if is_word(token, "language") => {}
                _ => altered.data = Some(of.data),
            }
        }
        Ok(altered)
    }

    fn characteristic(&mut self, of: &mut Characteristics) -> Result<bool> {
        if self.take("comment") {
            of.comment = Some(self.string()?).filter(|text| !text.is_empty());
        } else if self.take_all(&["language", "sql"]) || self.take_all(&["not", "deterministic"]) {
            of.deterministic &= is_word(&self.tokens[self.at - 1].token, "sql");
        } else if self.take("deterministic") {
            of.deterministic = true;
        } else if self.take_all(&["contains", "sql"]) {
            of.data = DataAccess::Contains;
        } else if self.take_all(&["no", "sql"]) {
            of.data = DataAccess::No;
        } else if self.take_all(&["reads", "sql", "data"]) {
            of.data = DataAccess::Reads;
        } else if self.take_all(&["modifies", "sql", "data"]) {
            of.data = DataAccess::Modifies;
        } else if self.take_all(&["sql", "security", "definer"]) {
            of.invoker = false;
        } else if self.take_all(&["sql", "security", "invoker"]) {
            of.invoker = true;
        } else {
            return Ok(false);
        }
        Ok(true)
    }
}
