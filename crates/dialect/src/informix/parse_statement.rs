//! Statements other than queries.

use super::Logging;
use super::ast::{
    Alter, Ast, Column, ConstraintKind, CreateTable, DropKind, InsertSource, Node, NodeKind, Renamed, SequenceOptions,
    TableConstraint,
};
use super::lexer::TokenKind;
use super::parser::Parser;
use crate::Result;
use crate::ir::{Isolation, TransactionModes};
use crate::schema::ReferentialAction;

impl Parser<'_> {
    /// One statement, up to a semicolon or the end.
    pub fn statement(&mut self) -> Result<Ast> {
        let TokenKind::Word(word) = self.peek().clone() else {
            if self.is_sign("(") && self.opens_query() {
                return Ok(Ast::Query(Box::new(self.query()?)));
            }
            return Err(self.unexpected());
        };
        if let Some(nothing) = self.passed_over() {
            return Ok(nothing);
        }
        let refusal = self.refusal();
        let result = self.statement_of(&word);
        // What the grammar does not know at all, but Informix does, is refused by its name.
        match (result, refusal) {
            (Err(error), Some(refusal)) if error.condition() == crate::Condition::SyntaxError => Err(refusal),
            (result, _) => result,
        }
    }

    fn statement_of(&mut self, word: &str) -> Result<Ast> {
        match word {
            "select" | "with" => Ok(Ast::Query(Box::new(self.query()?))),
            "insert" => self.insert(),
            "update" if self.is_word_at(1, "statistics") => self.update_statistics(),
            "update" => self.update(),
            "delete" => self.delete(),
            "create" if self.is_word_at(1, "role") => self.role(true),
            "drop" if self.is_word_at(1, "role") => self.role(false),
            "create" => self.create(),
            "drop" => self.drop(),
            "alter" => self.alter(),
            "rename" => self.rename(),
            "truncate" => {
                self.take();
                self.word("table");
                let table = self.object_name()?;
                for words in [&["drop", "storage"][..], &["reuse", "storage"], &["keep", "statistics"]] {
                    self.words(words);
                }
                Ok(Ast::Truncate(table))
            }
            "begin" => {
                self.take();
                self.word("work");
                self.words(&["without", "replication"]);
                Ok(Ast::Begin)
            }
            "commit" => {
                self.take();
                self.word("work");
                Ok(Ast::Commit)
            }
            "rollback" => {
                self.take();
                self.word("work");
                if self.words(&["to", "savepoint"]) {
                    return Ok(Ast::Rollback(Some(if self.at_end() { String::new() } else { self.name()? })));
                }
                Ok(Ast::Rollback(None))
            }
            "savepoint" => {
                self.take();
                let name = self.name()?;
                self.word("unique");
                Ok(Ast::Savepoint(name))
            }
            "release" => {
                self.take();
                self.expect_word("savepoint")?;
                Ok(Ast::ReleaseSavepoint(self.name()?))
            }
            "set" => self.set(),
            "lock" => {
                self.take();
                self.expect_word("table")?;
                let table = self.object_name()?;
                self.expect_word("in")?;
                let exclusive = !self.word("share");
                if exclusive {
                    self.expect_word("exclusive")?;
                }
                self.expect_word("mode")?;
                Ok(Ast::LockTable(table, exclusive))
            }
            "unlock" => {
                self.take();
                self.expect_word("table")?;
                Ok(Ast::UnlockTable(self.object_name()?))
            }
            "database" => {
                self.take();
                let name = self.database_name()?;
                self.word("exclusive");
                Ok(Ast::Database { name })
            }
            "close" => {
                self.take();
                self.expect_word("database")?;
                Ok(Ast::CloseDatabase)
            }
            "execute" => {
                self.take();
                if !self.word("function") {
                    self.expect_word("procedure")?;
                }
                self.routine_call()
            }
            "call" => {
                self.take();
                self.routine_call()
            }
            "merge" => self.merge(),
            "grant" => self.access(true),
            "revoke" => self.access(false),
            _ => Err(self.unexpected()),
        }
    }

    /// Whatever follows is taken and has nothing to do here.
    fn rest(&mut self, statement: i16, tag: &'static str) -> Result<Ast> {
        while !self.at_end() && !self.is_sign(";") {
            self.take();
        }
        Ok(Ast::Nothing { statement, tag })
    }

    fn quoted(&mut self) -> Result<String> {
        let (TokenKind::String(text) | TokenKind::Quoted(text)) = self.peek().clone() else {
            return Err(self.unexpected());
        };
        self.take();
        Ok(text)
    }

    fn database_name(&mut self) -> Result<String> {
        let name = match self.peek().clone() {
            TokenKind::String(name) => {
                self.take();
                name
            }
            _ => self.name()?,
        };
        if self.sign("@") {
            self.name()?;
        }
        Ok(name)
    }

    pub(super) fn if_not_exists(&mut self) -> bool {
        self.words(&["if", "not", "exists"])
    }

    pub(super) fn if_exists(&mut self) -> bool {
        self.words(&["if", "exists"])
    }

    fn insert(&mut self) -> Result<Ast> {
        self.take();
        self.expect_word("into")?;
        let table = self.object_name()?;
        let columns = if self.is_sign("(") && !self.opens_query() { self.insert_columns()? } else { Vec::new() };
        let source = if self.word("values") {
            InsertSource::Values(self.list(|parser| {
                parser.expect_sign("(")?;
                let row = parser.list(Self::expression)?;
                parser.expect_sign(")")?;
                Ok(row)
            })?)
        } else if self.word("execute") {
            if !self.word("function") {
                self.expect_word("procedure")?;
            }
            let Ast::Execute { name, args } = self.routine_call()? else { return Err(self.unexpected()) };
            InsertSource::Routine { name, args }
        } else {
            InsertSource::Query(Box::new(self.query()?))
        };
        Ok(Ast::Insert { table, columns, source })
    }

    fn where_clause(&mut self) -> Result<(Option<Node>, Option<String>)> {
        if !self.word("where") {
            return Ok((None, None));
        }
        if self.words(&["current", "of"]) {
            return Ok((None, Some(self.name()?)));
        }
        Ok((Some(self.expression()?), None))
    }

    fn update(&mut self) -> Result<Ast> {
        self.take();
        self.word("only");
        let table = self.object_name()?;
        let alias = self.alias()?;
        self.expect_word("set")?;
        let set = if self.is_sign("*") && self.is_sign_at(1, "=") {
            return Err(self.unsupported("SET * = (…)"));
        } else {
            self.list(Self::assignment)?
        };
        let (filter, current_of) = self.where_clause()?;
        Ok(Ast::Update { table, alias, set, filter, current_of })
    }

    fn delete(&mut self) -> Result<Ast> {
        self.take();
        self.word("from");
        let table = self.object_name()?;
        let alias = self.alias()?;
        let (filter, current_of) = self.where_clause()?;
        Ok(Ast::Delete { table, alias, filter, current_of })
    }

    fn set(&mut self) -> Result<Ast> {
        self.take();
        if self.word("isolation") {
            self.word("to");
            let isolation = if self.words(&["dirty", "read"]) {
                self.words(&["with", "warning"]);
                Isolation::ReadUncommitted
            } else if self.words(&["committed", "read"]) {
                self.words(&["last", "committed"]);
                Isolation::ReadCommitted
            } else if self.words(&["cursor", "stability"]) {
                Isolation::ReadCommitted
            } else if self.words(&["repeatable", "read"]) {
                Isolation::RepeatableRead
            } else {
                return Err(self.unexpected());
            };
            self.words(&["retain", "update", "locks"]);
            return Ok(Ast::SetIsolation(isolation));
        }
        if self.word("transaction") {
            let mut modes = TransactionModes::default();
            loop {
                if self.words(&["isolation", "level"]) {
                    modes.isolation = Some(if self.words(&["read", "uncommitted"]) {
                        Isolation::ReadUncommitted
                    } else if self.words(&["read", "committed"]) {
                        Isolation::ReadCommitted
                    } else if self.words(&["repeatable", "read"]) {
                        Isolation::RepeatableRead
                    } else if self.word("serializable") {
                        Isolation::Serializable
                    } else {
                        return Err(self.unexpected());
                    });
                } else if self.words(&["read", "only"]) {
                    modes.read_only = Some(true);
                } else if self.words(&["read", "write"]) {
                    modes.read_only = Some(false);
                } else {
                    return Err(self.unexpected());
                }
                if !self.sign(",") {
                    return Ok(Ast::SetTransaction(modes));
                }
            }
        }
        if self.words(&["lock", "mode", "to"]) {
            if self.words(&["not", "wait"]) {
                return Ok(Ast::SetLockMode(Some(0)));
            }
            self.expect_word("wait")?;
            let seconds =
                if matches!(self.peek(), TokenKind::Number(_)) { Some(i64::from(self.unsigned()?)) } else { None };
            return Ok(Ast::SetLockMode(seconds));
        }
        let (statement, tag) = match self.peek() {
            TokenKind::Word(word) => match word.as_str() {
                "log" | "buffered" => (49, "SET LOG"),
                "explain" => (50, "SET EXPLAIN"),
                "optimization" => (52, "SET OPTIMIZATION"),
                "constraints" | "indexes" | "triggers" => {
                    return self.object_mode();
                }
                "role" => {
                    self.take();
                    return self.set_role();
                }
                "encryption" if self.is_word_at(1, "password") => {
                    self.take();
                    self.take();
                    let at = self.start();
                    let password = self.quoted()?;
                    let hint = if self.words(&["with", "hint"]) { self.quoted()? } else { String::new() };
                    return Ok(Ast::SetEncryption { password, hint, at });
                }
                "dataskip" | "pdqpriority" | "environment" | "statement" | "collation" | "no" | "autofree" => {
                    (48, "SET")
                }
                _ => return Err(self.unexpected()),
            },
            _ => return Err(self.unexpected()),
        };
        while !self.at_end() && !self.is_sign(";") {
            self.take();
        }
        Ok(Ast::SetOther { statement, tag })
    }

    pub fn routine_call(&mut self) -> Result<Ast> {
        let name = self.object_name()?;
        self.expect_sign("(")?;
        self.called(&name.name);
        let args = if self.is_sign(")") { Vec::new() } else { self.list(Self::argument)? };
        self.expect_sign(")")?;
        Ok(Ast::Execute { name, args })
    }

    fn create(&mut self) -> Result<Ast> {
        let start = self.start();
        self.take();
        if self.word("database") {
            let if_not_exists = self.if_not_exists();
            let name = self.name()?;
            if self.word("in") {
                self.name()?;
            }
            let mut logging = Logging::None;
            if self.word("with") {
                logging = if self.word("buffered") { Logging::Buffered } else { Logging::Log };
                self.expect_word("log")?;
                if self.words(&["mode", "ansi"]) {
                    logging = Logging::Ansi;
                }
            }
            return Ok(Ast::CreateDatabase { name, logging, if_not_exists });
        }
        let temporary = self.word("temp");
        if !temporary {
            self.word("raw");
            self.word("standard");
        }
        if self.word("table") {
            return self.create_table(temporary);
        }
        if temporary {
            return Err(self.unexpected());
        }
        if self.words(&["row", "type"]) {
            return self.create_type(true);
        }
        if self.words(&["distinct", "type"]) {
            return self.create_type(false);
        }
        let unique = self.word("unique") || self.word("distinct");
        self.word("cluster");
        if self.word("index") {
            return self.create_index(unique);
        }
        if self.word("view") {
            let if_not_exists = self.if_not_exists();
            let name = self.object_name()?;
            let columns = if self.is_sign("(") { self.name_list()? } else { Vec::new() };
            self.expect_word("as")?;
            let start = self.start();
            let query = Box::new(self.query()?);
            let text = (start, self.end());
            let checked = self.words(&["with", "check", "option"]);
            return Ok(Ast::CreateView { checked, name, columns, query, text, if_not_exists });
        }
        if self.word("sequence") {
            return self.create_sequence();
        }
        if self.word("synonym") || self.words(&["public", "synonym"]) || self.words(&["private", "synonym"]) {
            return self.synonym();
        }
        let mut dba = self.word("dba");
        let or_replace = self.words(&["or", "replace"]);
        dba |= self.word("dba");
        if self.is_word("function") || self.is_word("procedure") {
            return self.create_routine(start, dba, or_replace);
        }
        if !dba && self.is_word("trigger") {
            return self.create_trigger(start, or_replace);
        }
        Err(self.unexpected())
    }

    fn create_table(&mut self, temporary: bool) -> Result<Ast> {
        let if_not_exists = self.if_not_exists();
        let name = self.object_name()?;
        let mut table =
            CreateTable { name, temporary, if_not_exists, columns: Vec::new(), constraints: Vec::new(), query: None };
        if self.word("as") {
            table.query = Some(self.query()?);
            self.storage_clauses()?;
            return Ok(Ast::CreateTable(Box::new(table)));
        }
        self.expect_sign("(")?;
        loop {
            if self.is_table_constraint() {
                let constraint = self.table_constraint()?;
                table.constraints.push(constraint);
            } else {
                let column = self.column_definition()?;
                table.columns.push(column);
            }
            if !self.sign(",") {
                break;
            }
        }
        self.expect_sign(")")?;
        self.storage_clauses()?;
        Ok(Ast::CreateTable(Box::new(table)))
    }

    fn is_table_constraint(&self) -> bool {
        let TokenKind::Word(word) = self.peek() else { return false };
        match word.as_str() {
            "primary" => self.is_word_at(1, "key"),
            "foreign" => self.is_word_at(1, "key"),
            "unique" | "distinct" | "check" => self.is_sign_at(1, "("),
            "constraint" => {
                matches!(self.peek_at(2), TokenKind::Word(next) if matches!(next.as_str(), "primary" | "foreign" | "unique" | "distinct" | "check"))
            }
            _ => false,
        }
    }

    fn table_constraint(&mut self) -> Result<TableConstraint> {
        let at = self.start();
        let mut name = self.constraint_name()?;
        let kind = if self.words(&["primary", "key"]) {
            ConstraintKind::PrimaryKey(self.name_list()?)
        } else if self.word("unique") || self.word("distinct") {
            ConstraintKind::Unique(self.name_list()?)
        } else if self.word("check") {
            self.check()?
        } else {
            self.expect_word("foreign")?;
            self.expect_word("key")?;
            let columns = self.name_list()?;
            self.references(columns)?
        };
        name = name.or(self.constraint_name()?);
        self.constraint_mode()?;
        Ok(TableConstraint { name, kind, at })
    }

    /// `CONSTRAINT name`, which may also stand behind.
    fn constraint_name(&mut self) -> Result<Option<String>> {
        if !self.word("constraint") {
            return Ok(None);
        }
        let name = self.object_name()?.name;
        self.constraint_mode()?;
        Ok(Some(name))
    }

    /// ENABLED, which is what constraints and indexes are here; the other modes are refused.
    fn constraint_mode(&mut self) -> Result<()> {
        for (word, refused) in [
            ("disabled", "DISABLED, of a constraint or an index,"),
            ("filtering", "FILTERING of a constraint or an index"),
            ("novalidate", "NOVALIDATE of a constraint"),
        ] {
            if self.is_word(word) {
                return Err(self.unsupported(refused));
            }
        }
        if self.word("enabled") { self.constraint_mode() } else { Ok(()) }
    }

    fn check(&mut self) -> Result<ConstraintKind> {
        self.expect_sign("(")?;
        let start = self.start();
        let condition = self.expression()?;
        let text = (start, self.end());
        self.expect_sign(")")?;
        Ok(ConstraintKind::Check(condition, text))
    }

    fn references(&mut self, columns: Vec<String>) -> Result<ConstraintKind> {
        self.expect_word("references")?;
        let target = self.object_name()?;
        let target_columns = if self.is_sign("(") { self.name_list()? } else { Vec::new() };
        let on_delete = if self.words(&["on", "delete", "cascade"]) {
            ReferentialAction::Cascade
        } else {
            ReferentialAction::NoAction
        };
        Ok(ConstraintKind::ForeignKey { columns, target, target_columns, on_delete })
    }

    fn column_definition(&mut self) -> Result<Column> {
        let (name, at) = self.name_at()?;
        let ty = self.type_name()?;
        let mut column = Column { name, ty, default: None, not_null: false, constraints: Vec::new(), at };
        loop {
            let at = self.start();
            if self.word("default") {
                let start = self.start();
                let value = self.expression()?;
                column.default = Some((value, (start, self.end())));
                continue;
            }
            if self.words(&["not", "null"]) {
                column.not_null = true;
                self.constraint_name()?;
                continue;
            }
            if self.word("null") {
                continue;
            }
            let mut constraint = self.constraint_name()?;
            let kind = if self.words(&["not", "null"]) {
                column.not_null = true;
                continue;
            } else if self.words(&["primary", "key"]) {
                ConstraintKind::PrimaryKey(vec![column.name.clone()])
            } else if self.word("unique") || self.word("distinct") {
                ConstraintKind::Unique(vec![column.name.clone()])
            } else if self.word("check") {
                self.check()?
            } else if self.is_word("references") {
                self.references(vec![column.name.clone()])?
            } else if constraint.is_some() {
                return Err(self.unexpected());
            } else {
                break;
            };
            constraint = constraint.or(self.constraint_name()?);
            self.constraint_mode()?;
            column.constraints.push(TableConstraint { name: constraint, kind, at });
        }
        Ok(column)
    }

    /// Where and how a real server would store the table: no matter here.
    pub fn storage_clauses(&mut self) -> Result<()> {
        loop {
            if self.words(&["with", "no", "log"])
                || self.words(&["with", "rowids"])
                || self.words(&["with", "crcols"])
                || self.words(&["with", "audit"])
            {
                continue;
            }
            if self.word("in") {
                self.name()?;
            } else if self.words(&["extent", "size"]) || self.words(&["next", "size"]) {
                self.unsigned()?;
            } else if self.words(&["lock", "mode"]) {
                if self.sign("(") {
                    self.name()?;
                    self.expect_sign(")")?;
                } else {
                    self.name()?;
                }
            } else if self.word("put") {
                self.list(|parser| {
                    parser.name()?;
                    parser.expect_word("in")?;
                    parser.skip_parentheses()?;
                    if parser.is_sign("(") { parser.skip_parentheses() } else { Ok(()) }
                })?;
            } else if !self.fragmentation() {
                return Ok(());
            }
        }
    }

    fn create_index(&mut self, unique: bool) -> Result<Ast> {
        let if_not_exists = self.if_not_exists();
        let name = self.object_name()?;
        self.expect_word("on")?;
        let table = self.object_name()?;
        self.expect_sign("(")?;
        let mut ends = Vec::new();
        let keys = self.list(|parser| {
            let key = parser.expression()?;
            ends.push(parser.end());
            let descending = parser.word("desc");
            if !descending {
                parser.word("asc");
            }
            Ok((key, descending))
        })?;
        self.expect_sign(")")?;
        loop {
            if self.word("using") {
                self.name()?;
                if self.is_sign("(") {
                    self.skip_parentheses()?;
                }
            } else if self.word("fillfactor") {
                self.unsigned()?;
            } else if self.word("in") {
                self.name()?;
            } else if self.words(&["extent", "size"]) || self.words(&["next", "size"]) {
                self.unsigned()?;
            } else if self.word("online")
                || self.word("compressed")
                || self.words(&["hash", "on"])
                || self.fragmentation()
            {
            } else if self.is_word("enabled") || self.is_word("disabled") || self.is_word("filtering") {
                self.constraint_mode()?;
            } else {
                break;
            }
        }
        Ok(Ast::CreateIndex { name, table, unique, if_not_exists, keys, ends })
    }

    fn create_sequence(&mut self) -> Result<Ast> {
        let if_not_exists = self.if_not_exists();
        let name = self.object_name()?;
        let options = self.sequence_options()?;
        Ok(Ast::CreateSequence { name, if_not_exists, options })
    }

    fn alter_sequence(&mut self) -> Result<Ast> {
        let name = self.object_name()?;
        Ok(Ast::AlterSequence { name, options: self.sequence_options()? })
    }

    fn sequence_options(&mut self) -> Result<SequenceOptions> {
        let mut options = SequenceOptions::default();
        loop {
            if self.word("increment") {
                self.word("by");
                options.increment = Some(self.signed()?);
            } else if self.word("start") {
                self.word("with");
                options.start = Some(self.signed()?);
            } else if self.word("restart") {
                options.restart = Some(if self.word("with") { Some(self.signed()?) } else { None });
            } else if self.word("minvalue") {
                options.min = Some(self.signed()?);
            } else if self.word("maxvalue") {
                options.max = Some(self.signed()?);
            } else if self.word("cycle") {
                options.cycle = Some(true);
            } else if self.word("nocycle") {
                options.cycle = Some(false);
            } else if self.word("cache") {
                self.unsigned()?;
            } else if !["nominvalue", "nomaxvalue", "nocache", "order", "noorder"].iter().any(|word| self.word(word)) {
                return Ok(options);
            }
        }
    }

    fn drop(&mut self) -> Result<Ast> {
        self.take();
        if self.word("database") {
            let if_exists = self.if_exists();
            return Ok(Ast::DropDatabase { name: self.name()?, if_exists });
        }
        let kind = if self.word("table") {
            DropKind::Table
        } else if self.word("view") {
            DropKind::View
        } else if self.word("index") {
            DropKind::Index
        } else if self.word("sequence") {
            DropKind::Sequence
        } else if self.word("trigger") {
            let if_exists = self.if_exists();
            return Ok(Ast::DropTrigger { name: self.object_name()?, if_exists });
        } else if self.word("synonym") {
            return self.drop_synonym();
        } else if self.words(&["row", "type"]) || self.word("type") {
            return self.drop_type();
        } else if self.is_word("specific") || ["function", "procedure", "routine"].iter().any(|w| self.is_word(w)) {
            return self.drop_routine();
        } else {
            return Err(self.unexpected());
        };
        let if_exists = self.if_exists();
        let name = self.object_name()?;
        // Without a keyword, what depends on the object goes with it.
        let cascade = self.word("cascade") || !self.word("restrict");
        if kind == DropKind::Index {
            self.word("online");
        }
        Ok(Ast::Drop { kind, name, if_exists, cascade })
    }

    fn alter(&mut self) -> Result<Ast> {
        self.take();
        if self.word("index") {
            return self.rest(47, "ALTER INDEX");
        }
        if self.word("sequence") {
            return self.alter_sequence();
        }
        if ["function", "procedure", "routine"].iter().any(|word| self.is_word(word)) {
            return self.rest(53, "ALTER FUNCTION");
        }
        self.expect_word("table")?;
        let table = self.object_name()?;
        let mut actions = Vec::new();
        loop {
            if self.words(&["add", "rowids"])
                || self.words(&["drop", "rowids"])
                || self.words(&["add", "crcols"])
                || self.words(&["drop", "crcols"])
            {
                actions.push(Alter::Nothing);
            } else if self.words(&["add", "constraint"]) {
                let if_not_exists = self.if_not_exists();
                let added = if self.sign("(") {
                    let added = self.list(Self::added_constraint)?;
                    self.expect_sign(")")?;
                    added
                } else {
                    vec![self.added_constraint()?]
                };
                actions.extend(added.into_iter().map(|constraint| Alter::AddConstraint { constraint, if_not_exists }));
            } else if self.word("add") {
                if self.sign("(") {
                    actions.extend(self.list(Self::added_column)?);
                    self.expect_sign(")")?;
                } else {
                    actions.push(self.added_column()?);
                }
            } else if self.words(&["drop", "constraint"]) {
                let if_exists = self.if_exists();
                let names = if self.sign("(") {
                    let names = self.list(Self::name)?;
                    self.expect_sign(")")?;
                    names
                } else {
                    vec![self.name()?]
                };
                actions.extend(names.into_iter().map(|name| Alter::DropConstraint { name, if_exists }));
            } else if self.word("drop") {
                if self.sign("(") {
                    let names = self.list(Self::name_at)?;
                    self.expect_sign(")")?;
                    actions.push(Alter::Drop(names));
                } else {
                    actions.push(Alter::Drop(vec![self.name_at()?]));
                }
            } else if self.word("modify") {
                if self.is_word("next") || self.is_word("extent") {
                    self.storage_clauses()?;
                    actions.push(Alter::Nothing);
                } else if self.sign("(") {
                    for column in self.list(Self::column_definition)? {
                        actions.push(Alter::Modify(column));
                    }
                    self.expect_sign(")")?;
                } else {
                    actions.push(Alter::Modify(self.column_definition()?));
                }
            } else if self.is_word("lock") || self.is_word("type") {
                self.take();
                while !self.at_end() && !self.is_sign(";") && !self.is_sign(",") {
                    self.take();
                }
                actions.push(Alter::Nothing);
            } else {
                return Err(self.unexpected());
            }
            if !self.sign(",") {
                return Ok(Ast::AlterTable { table, actions });
            }
        }
    }

    /// A column, perhaps with BEFORE, which says where in the table it goes.
    fn added_column(&mut self) -> Result<Alter> {
        let column = self.column_definition()?;
        let before = if self.word("before") { Some(self.name_at()?) } else { None };
        Ok(Alter::Add(column, before))
    }

    /// A constraint whose name stands before or behind.
    fn added_constraint(&mut self) -> Result<TableConstraint> {
        if self.is_table_constraint() {
            return self.table_constraint();
        }
        let name = self.object_name()?.name;
        let mut constraint = self.table_constraint()?;
        constraint.name = Some(name);
        Ok(constraint)
    }

    fn rename(&mut self) -> Result<Ast> {
        self.take();
        if self.word("table") {
            let table = self.object_name()?;
            self.expect_word("to")?;
            return Ok(Ast::RenameTable { table, to: self.name()? });
        }
        if let Some(renamed) = self.rename_other()? {
            return Ok(renamed);
        }
        self.expect_word("column")?;
        let table = self.object_name()?;
        // `table.column`: what reads as an owner and a name is a table and a column.
        let at = table.at;
        let (table, column) = match table.owner.clone() {
            Some(owner) => {
                let column = (table.name.clone(), at);
                (super::ast::ObjectName { owner: None, name: owner, ..table }, column)
            }
            None => return Err(self.unexpected()),
        };
        let (table, column) = if self.sign(".") {
            let owner = table.name.clone();
            let name = column.0;
            (super::ast::ObjectName { owner: Some(owner), name, at, ..table }, self.name_at()?)
        } else {
            (table, column)
        };
        self.expect_word("to")?;
        Ok(Ast::RenameColumn { table, column, to: self.name()? })
    }
}

/// The statement type that Informix gives a statement when it describes it (ESQL/C's DESCRIBE).
pub(super) fn statement_type(ast: &Ast) -> i16 {
    match ast {
        Ast::Query(query) if query.into.is_some() => 3,
        Ast::Query(_) => 2,
        Ast::Insert { .. } => 6,
        Ast::Update { current_of: Some(_), .. } => 7,
        Ast::Update { filter: Some(_), .. } => 4,
        Ast::Update { .. } => 33,
        Ast::Delete { current_of: Some(_), .. } => 8,
        Ast::Delete { filter: Some(_), .. } => 5,
        Ast::Delete { .. } => 32,
        Ast::CreateTable(table) if table.temporary => 45,
        Ast::CreateTable(_) => 14,
        Ast::CreateIndex { .. } => 16,
        Ast::CreateView { .. } => 40,
        Ast::CreateSynonym { .. } => 43,
        Ast::CreateSequence { .. } => 186,
        Ast::AlterTable { .. } => 29,
        Ast::RenameTable { .. } => 20,
        Ast::RenameColumn { .. } => 21,
        Ast::RenameOther { kind, .. } => match kind {
            Renamed::Sequence => 189,
            Renamed::Index => 164,
            Renamed::Constraint => 185,
        },
        Ast::AlterSequence { .. } => 187,
        Ast::Merge(_) => 190,
        Ast::Drop { kind, .. } => match kind {
            DropKind::Index => 17,
            DropKind::Sequence => 188,
            DropKind::Synonym => 44,
            DropKind::Table => 15,
            DropKind::View => 41,
        },
        Ast::Truncate(_) => 174,
        Ast::Begin => 34,
        Ast::Commit => 35,
        Ast::Rollback(None) => 36,
        Ast::Rollback(Some(_)) | Ast::Savepoint(_) | Ast::ReleaseSavepoint(_) => 37,
        Ast::SetIsolation(_) | Ast::SetTransaction(_) => 48,
        Ast::SetLockMode(_) => 46,
        Ast::SetConstraints { .. } | Ast::SetTriggers { .. } => 55,
        Ast::UpdateStatistics(_) => 30,
        Ast::SetRole { .. } | Ast::SetEncryption { .. } => 48,
        Ast::SetOther { statement, .. } | Ast::Nothing { statement, .. } => *statement,
        Ast::Access(access) => 18 + i16::from(!access.grant),
        Ast::Role { create, .. } => 134 - i16::from(*create),
        Ast::LockTable(..) => 10,
        Ast::UnlockTable(_) => 11,
        Ast::Database { .. } => 1,
        Ast::CloseDatabase => 31,
        Ast::CreateDatabase { .. } => 12,
        Ast::DropDatabase { .. } => 13,
        Ast::Execute { .. } => 56,
        Ast::CreateRoutine(_) => 53,
        // The numbers that servers have for them are not known; clients treat all DDL alike.
        Ast::CreateType { .. } | Ast::CreateTrigger(_) => 14,
        Ast::DropType { .. } | Ast::DropTrigger { .. } => 15,
        Ast::DropRoutine { .. } => 54,
    }
}

/// True for a literal NULL.
pub(super) fn is_null(node: &Node) -> bool {
    node.kind == NodeKind::Null
}
