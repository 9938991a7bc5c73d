//! MERGE, synonyms, changes of names, and the statements that a real server has and this one has not.

use super::ast::{Assignment, Ast, DropKind, Merge, Node, NodeKind, ObjectName, Renamed, Source};
use super::lexer::TokenKind;
use super::parser::Parser;
use crate::{Error, Result};

/// Statements that are correct and have nothing to do here, by their first words: there are no fragments, no violations
/// tables, and nothing to optimise by hand.
const NOTHING: &[(&[&str], i16, &str)] = &[
    (&["alter", "fragment"], 126, "ALTER FRAGMENT"),
    (&["set", "debug"], 57, "SET DEBUG FILE"),
    (&["save", "external"], 180, "SAVE EXTERNAL DIRECTIVES"),
];

/// Statements that are refused by their names.
const REFUSED: &[(&[&str], &str)] = &[
    (&["create", "or"], "CREATE OR REPLACE"),
    (&["create", "external"], "CREATE EXTERNAL TABLE"),
    (&["create", "schema"], "CREATE SCHEMA"),
    (&["create", "default"], "CREATE DEFAULT USER"),
    (&["alter", "default"], "ALTER DEFAULT USER"),
    (&["drop", "default"], "DROP DEFAULT USER"),
    (&["set", "user"], "SET USER PASSWORD"),
    (&["create", "opaque"], "CREATE OPAQUE TYPE"),
    (&["create", "secondary"], "CREATE ACCESS_METHOD"),
    (&["create", "primary"], "CREATE ACCESS_METHOD"),
    (&["create", "access_method"], "CREATE ACCESS_METHOD"),
    (&["create", "opclass"], "CREATE OPCLASS"),
    (&["drop", "opclass"], "DROP OPCLASS"),
    (&["create", "xadatasource"], "CREATE XADATASOURCE"),
    (&["create", "security"], "CREATE SECURITY LABEL"),
    (&["create", "trusted"], "CREATE TRUSTED CONTEXT"),
    (&["alter", "function"], "ALTER FUNCTION"),
    (&["alter", "procedure"], "ALTER PROCEDURE"),
    (&["alter", "routine"], "ALTER ROUTINE"),
    (&["alter", "security"], "ALTER SECURITY LABEL"),
    (&["alter", "trusted"], "ALTER TRUSTED CONTEXT"),
    (&["rename", "database"], "RENAME DATABASE"),
    (&["rename", "security"], "RENAME SECURITY"),
    (&["set", "session"], "SET SESSION AUTHORIZATION"),
    (&["set", "encryption"], "SET ENCRYPTION PASSWORD of other than quoted strings"),
    (&["set", "connection"], "SET CONNECTION"),
    (&["set", "descriptor"], "SET DESCRIPTOR"),
    (&["set", "deferred_prepare"], "SET DEFERRED_PREPARE"),
    (&["start", "violations"], "START VIOLATIONS TABLE"),
    (&["stop", "violations"], "STOP VIOLATIONS TABLE"),
    (&["allocate"], "ALLOCATE"),
    (&["check", "table"], "CHECK TABLE"),
    (&["close"], "CLOSE, which belongs to the client,"),
    (&["connect"], "CONNECT, which belongs to the client,"),
    (&["deallocate"], "DEALLOCATE"),
    (&["declare"], "DECLARE, which belongs to the client,"),
    (&["describe"], "DESCRIBE, which belongs to the client,"),
    (&["disconnect"], "DISCONNECT, which belongs to the client,"),
    (&["execute", "immediate"], "EXECUTE IMMEDIATE outside a routine"),
    (&["fetch"], "FETCH, which belongs to the client,"),
    (&["flush"], "FLUSH, which belongs to the client,"),
    (&["free"], "FREE, which belongs to the client,"),
    (&["info"], "INFO, which belongs to dbaccess,"),
    (&["load"], "LOAD, which belongs to dbaccess,"),
    (&["open"], "OPEN, which belongs to the client,"),
    (&["output"], "OUTPUT, which belongs to dbaccess,"),
    (&["prepare"], "PREPARE, which belongs to the client,"),
    (&["put"], "PUT, which belongs to the client,"),
    (&["repair", "table"], "REPAIR TABLE"),
    (&["unload"], "UNLOAD, which belongs to dbaccess,"),
    (&["whenever"], "WHENEVER, which belongs to the client,"),
];

impl Parser<'_> {
    fn begins(&self, words: &[&str]) -> bool {
        words.iter().enumerate().all(|(ahead, word)| self.is_word_at(ahead, word))
    }

    /// A statement that is passed over, if one stands here.
    pub fn passed_over(&mut self) -> Option<Ast> {
        let (_, statement, tag) = NOTHING.iter().find(|(words, ..)| self.begins(words))?;
        self.pass_statement();
        Some(Ast::Nothing { statement: *statement, tag })
    }

    /// The refusal of the statement that stands here, if it is a known one.
    pub fn refusal(&self) -> Option<Error> {
        REFUSED.iter().find(|(words, _)| self.begins(words)).map(|(_, name)| self.unsupported(name))
    }

    /// The rest of SET CONSTRAINTS, INDEXES or TRIGGERS: nothing can be disabled here.
    pub fn object_mode(&mut self) -> Result<Ast> {
        if self.word("triggers") {
            let table = if self.word("for") { Some(self.object_name()?) } else { None };
            let names = if table.is_none() { self.list(Self::object_name)? } else { Vec::new() };
            let disabled = self.word("disabled");
            if !disabled {
                self.expect_word("enabled")?;
            }
            return Ok(Ast::SetTriggers { table, names, disabled });
        }
        if self.is_word("constraints") && !self.is_word_at(1, "for") {
            self.take();
            let names = if self.word("all") { Vec::new() } else { self.list(Self::object_name)? };
            let deferred = self.word("deferred");
            if deferred || self.word("immediate") {
                return Ok(Ast::SetConstraints { names, deferred });
            }
        }
        while !self.at_end() && !self.is_sign(";") {
            if self.is_word("disabled") || self.is_word("filtering") {
                return Err(self.unsupported("disabling of constraints and indexes"));
            }
            self.take();
        }
        Ok(Ast::SetOther { statement: 55, tag: "SET CONSTRAINTS" })
    }

    /// `UPDATE STATISTICS [LOW | MEDIUM | HIGH] [FOR TABLE [name] …]`: how exact and of what, the back end decides itself.
    pub fn update_statistics(&mut self) -> Result<Ast> {
        let mut table = None;
        while !self.at_end() && !self.is_sign(";") {
            if self.words(&["for", "table"]) && !self.at_end() && !self.is_sign("(") {
                table = Some(self.object_name()?);
            } else if self.is_word("procedure") || self.is_word("function") || self.is_word("routine") {
                self.pass_statement();
                // Routines are compiled when they are called.
                return Ok(Ast::Nothing { statement: 30, tag: "UPDATE STATISTICS" });
            } else {
                self.take();
            }
        }
        Ok(Ast::UpdateStatistics(table))
    }

    pub fn pass_statement(&mut self) {
        while !self.at_end() && !self.is_sign(";") {
            self.take();
        }
    }

    /// `FOR target` of a synonym whose name is next.
    pub fn synonym(&mut self) -> Result<Ast> {
        let if_not_exists = self.words(&["if", "not", "exists"]);
        let name = self.object_name()?;
        self.expect_word("for")?;
        Ok(Ast::CreateSynonym { name, target: self.object_name()?, if_not_exists })
    }

    /// MERGE INTO target USING source ON condition WHEN …
    pub fn merge(&mut self) -> Result<Ast> {
        self.take();
        self.expect_word("into")?;
        let table = self.object_name()?;
        let alias = self.alias()?;
        self.expect_word("using")?;
        let source: Source = self.source_primary()?;
        self.expect_word("on")?;
        let condition = self.expression()?;
        let mut merge = Merge { table, alias, source, condition, update: None, delete: false, insert: None };
        while self.word("when") {
            let at_matched = self.start();
            let matched = !self.word("not");
            self.expect_word("matched")?;
            self.expect_word("then")?;
            if matched && self.word("update") {
                self.expect_word("set")?;
                if merge.update.is_some() || merge.delete {
                    return Err(self.error_at(crate::Condition::SyntaxError, "WHEN MATCHED stands twice", at_matched));
                }
                merge.update = Some(self.list(Self::assignment)?);
            } else if matched {
                self.expect_word("delete")?;
                if merge.update.is_some() || merge.delete {
                    return Err(self.error_at(crate::Condition::SyntaxError, "WHEN MATCHED stands twice", at_matched));
                }
                merge.delete = true;
            } else {
                self.expect_word("insert")?;
                if merge.insert.is_some() {
                    return Err(self.error_at(
                        crate::Condition::SyntaxError,
                        "WHEN NOT MATCHED stands twice",
                        at_matched,
                    ));
                }
                let columns = if self.is_sign("(") { self.insert_columns()? } else { Vec::new() };
                self.expect_word("values")?;
                self.expect_sign("(")?;
                let values = self.list(Self::expression)?;
                self.expect_sign(")")?;
                merge.insert = Some((columns, values));
            }
        }
        if merge.update.is_none() && !merge.delete && merge.insert.is_none() {
            return Err(self.unexpected());
        }
        Ok(Ast::Merge(Box::new(merge)))
    }

    /// `(a, t.b, …)`
    pub fn insert_columns(&mut self) -> Result<Vec<(String, usize)>> {
        self.expect_sign("(")?;
        let columns = self.list(Self::column_at)?;
        self.expect_sign(")")?;
        Ok(columns)
    }

    /// A column's name, which a table's may precede.
    pub fn column_at(&mut self) -> Result<(String, usize)> {
        let mut column = self.name_at()?;
        while self.sign(".") {
            column = self.name_at()?;
        }
        Ok(column)
    }

    /// `a = 1`, `(a, b) = (1, 2)`, `(a, b) = (SELECT …)`
    pub fn assignment(&mut self) -> Result<Assignment> {
        if self.is_sign("(") {
            let columns = self.insert_columns()?;
            self.expect_sign("=")?;
            // A query that fills several columns may stand in parentheses of its own.
            let values = if self.opens_query() && !self.is_sign_at(1, "(") {
                vec![self.expression()?]
            } else {
                self.expect_sign("(")?;
                let values = self.list(Self::expression)?;
                self.expect_sign(")")?;
                values
            };
            return Ok(Assignment { columns, values });
        }
        let column = self.column_at()?;
        if !self.sign("[") {
            self.expect_sign("=")?;
            return Ok(Assignment { columns: vec![column], values: vec![self.expression()?] });
        }
        let from = self.unsigned()?;
        let to = if self.sign(",") { Some(self.unsigned()?) } else { None };
        self.expect_sign("]")?;
        self.expect_sign("=")?;
        let value = Box::new(self.expression()?);
        let (name, at) = column.clone();
        let whole = Box::new(Node { kind: NodeKind::Name(vec![name]), at });
        let kind = NodeKind::Spliced { column: whole, from, to, value };
        Ok(Assignment { columns: vec![column], values: vec![Node { kind, at }] })
    }

    /// RENAME SEQUENCE, INDEX, CONSTRAINT; the kind is next.
    pub fn rename_other(&mut self) -> Result<Option<Ast>> {
        let kind = if self.word("sequence") {
            Renamed::Sequence
        } else if self.word("index") {
            Renamed::Index
        } else if self.word("constraint") {
            Renamed::Constraint
        } else {
            return Ok(None);
        };
        let name: ObjectName = self.object_name()?;
        self.expect_word("to")?;
        Ok(Some(Ast::RenameOther { kind, name, to: self.name()? }))
    }

    /// Several names behind DROP, of which Informix takes one.
    pub fn drop_synonym(&mut self) -> Result<Ast> {
        let if_exists = self.words(&["if", "exists"]);
        let name = self.object_name()?;
        Ok(Ast::Drop { kind: DropKind::Synonym, name, if_exists, cascade: false })
    }

    /// FRAGMENT BY, PARTITION BY and their lists: where a real server would keep rows. It takes what it can follow and
    /// leaves the rest to the caller.
    pub fn fragmentation(&mut self) -> bool {
        let begins = (self.is_word("fragment") || self.is_word("partition")) && self.is_word_at(1, "by");
        if !begins {
            return false;
        }
        self.is_idle("FRAGMENT BY");
        let mut depth = 0;
        loop {
            match self.peek() {
                TokenKind::End => return true,
                TokenKind::Sign(";") if depth == 0 => return true,
                TokenKind::Sign("(") => depth += 1,
                TokenKind::Sign(")") if depth == 0 => return true,
                TokenKind::Sign(")") => depth -= 1,
                TokenKind::Word(word)
                    if depth == 0 && matches!(word.as_str(), "extent" | "next" | "lock" | "put" | "using") =>
                {
                    return true;
                }
                TokenKind::Word(word) if depth == 0 && word == "with" && !self.is_word_at(1, "remainder") => {
                    return true;
                }
                _ => {}
            }
            self.take();
        }
    }
}
