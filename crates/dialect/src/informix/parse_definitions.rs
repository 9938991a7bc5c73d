//! CREATE, DROP, ALTER and RENAME: definitions of tables with their columns and constraints, of indexes and sequences.

use super::Logging;
use super::ast::{Alter, Ast, Column, ConstraintKind, CreateTable, DropKind, SequenceOptions, TableConstraint};
use super::lexer::TokenKind;
use super::parser::Parser;
use crate::Result;
use crate::schema::ReferentialAction;

impl Parser<'_> {
    pub(super) fn create(&mut self) -> Result<Ast> {
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
        if self.word("aggregate") {
            return self.create_aggregate();
        }
        if self.words(&["implicit", "cast"]) {
            return self.create_cast(true);
        }
        if self.words(&["explicit", "cast"]) || self.word("cast") {
            return self.create_cast(false);
        }
        if self.words(&["distinct", "type"]) {
            return self.create_type(false);
        }
        let unique = self.word("unique") || self.word("distinct");
        if self.word("cluster") {
            self.is_idle("CLUSTER");
        }
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
        if self.is_word("of") && self.is_word_at(1, "type") {
            return Err(self.unsupported("CREATE TABLE … OF TYPE"));
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

    /// How large a real server would make the pieces of a file.
    fn sizes(&mut self) -> bool {
        (self.words(&["extent", "size"]) || self.words(&["next", "size"])) && self.is_idle("EXTENT SIZE")
    }

    /// Where and how a real server would store the table: no matter here.
    pub fn storage_clauses(&mut self) -> Result<()> {
        loop {
            let (rowids, crcols) = (&["with", "rowids"], &["with", "crcols"]);
            if self.words(&["with", "no", "log"])
                || self.words(rowids) && self.is_idle("WITH ROWIDS")
                || self.words(crcols) && self.is_idle("WITH CRCOLS")
                || self.words(&["with", "audit"]) && self.is_idle("WITH AUDIT")
            {
                continue;
            }
            for word in ["vercols", "erkey", "replcheck"] {
                if self.is_word("with") && self.is_word_at(1, word) {
                    return Err(self.unsupported("WITH VERCOLS, ERKEY or REPLCHECK"));
                }
            }
            if self.word("in") && self.is_idle("IN dbspace") {
                self.name()?;
            } else if self.sizes() {
                self.unsigned()?;
            } else if self.words(&["lock", "mode"]) {
                if self.is_word("page") {
                    self.is_idle("LOCK MODE PAGE");
                }
                self.one_of(&["page", "row"])?;
            } else if self.word("put") && self.is_idle("PUT") {
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
                if !self.is_word("btree") {
                    self.is_idle("USING");
                }
                self.name()?;
                if self.is_sign("(") {
                    self.skip_parentheses()?;
                }
            } else if self.word("fillfactor") && self.is_idle("FILLFACTOR") {
                self.unsigned()?;
            } else if self.word("in") && self.is_idle("IN dbspace") {
                self.name()?;
            } else if self.sizes() {
                self.unsigned()?;
            } else if self.word("online")
                || self.word("compressed") && self.is_idle("COMPRESSED")
                || self.words(&["hash", "on"]) && self.is_idle("HASH ON")
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

    pub(super) fn drop(&mut self) -> Result<Ast> {
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
        } else if self.word("aggregate") {
            return self.drop_aggregate();
        } else if self.word("cast") {
            return self.drop_cast();
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

    pub(super) fn alter(&mut self) -> Result<Ast> {
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
            } else if self.words(&["lock", "mode"]) {
                self.one_of(&["page", "row"])?;
                actions.push(Alter::Nothing);
            } else if self.word("type") {
                self.one_of(&["standard", "raw", "operational", "static"])?;
                actions.push(Alter::Nothing);
            } else {
                return Err(self.unexpected());
            }
            if !self.sign(",") {
                return Ok(Ast::AlterTable { table, actions });
            }
        }
    }

    /// `(word)` or the word alone, of those that are known.
    fn one_of(&mut self, known: &[&str]) -> Result<()> {
        let enclosed = self.sign("(");
        if !known.iter().any(|word| self.word(word)) {
            return Err(self.unexpected());
        }
        if enclosed { self.expect_sign(")") } else { Ok(()) }
    }

    /// A column, perhaps with BEFORE, which says where in the table it goes.
    fn added_column(&mut self) -> Result<Alter> {
        let is_type = self.is_word("type");
        let column = self.column_definition()?;
        // A column of this name has a type of its own; what has none but a name is the table's type to be.
        if is_type && super::named_types::is_named(&column.ty.ty) {
            return Err(self.unsupported("ALTER TABLE … ADD TYPE"));
        }
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

    pub(super) fn rename(&mut self) -> Result<Ast> {
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
