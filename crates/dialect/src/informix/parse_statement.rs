//! Statements other than queries.

use super::ast::{Ast, DropKind, InsertSource, Node, NodeKind, Renamed};
use super::lexer::TokenKind;
use super::parser::Parser;
use crate::Result;
use crate::ir::{Isolation, TransactionModes};

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
            "insert" | "delete" if self.is_word_at(2, "table") && self.is_sign_at(3, "(") => {
                Err(self.unsupported("a change of TABLE(…), of a collection,"))
            }
            "update" if self.is_word_at(1, "table") && self.is_sign_at(2, "(") => {
                Err(self.unsupported("a change of TABLE(…), of a collection,"))
            }
            "insert" => self.insert(),
            "update" if self.is_word_at(1, "statistics") => self.update_statistics(),
            "update" => self.update(),
            "delete" => self.delete(),
            "create" if self.is_word_at(1, "role") => self.role(true),
            "drop" if self.is_word_at(1, "role") => self.role(false),
            "create" | "alter" | "drop" | "rename" if self.is_word_at(1, "user") => self.user(),
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
                if self.word("exclusive") {
                    self.is_idle("EXCLUSIVE");
                }
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
    pub(super) fn rest(&mut self, statement: i16, tag: &'static str) -> Result<Ast> {
        while !self.at_end() && !self.is_sign(";") {
            self.take();
        }
        self.is_idle(tag);
        Ok(Ast::Nothing { statement, tag })
    }

    pub(super) fn quoted(&mut self) -> Result<String> {
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
        self.is_idle(tag);
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
        // Their numbers on servers are not known; clients treat all definitions alike.
        Ast::User { .. } => 14,
        Ast::LockTable(..) => 10,
        Ast::UnlockTable(_) => 11,
        Ast::Database { .. } => 1,
        Ast::CloseDatabase => 31,
        Ast::CreateDatabase { .. } => 12,
        Ast::DropDatabase { .. } => 13,
        Ast::Execute { .. } => 56,
        Ast::CreateRoutine(_) => 53,
        // The numbers that servers have for them are not known; clients treat all DDL alike.
        Ast::CreateType { .. } | Ast::CreateCast { .. } | Ast::CreateAggregate { .. } | Ast::CreateTrigger(_) => 14,
        Ast::DropType { .. } | Ast::DropCast { .. } | Ast::DropAggregate { .. } | Ast::DropTrigger { .. } => 15,
        Ast::DropRoutine { .. } => 54,
    }
}

/// True for a literal NULL.
pub(super) fn is_null(node: &Node) -> bool {
    node.kind == NodeKind::Null
}
