//! GRANT, REVOKE, and roles.

use super::ast::{Access, Ast, Granted};
use super::lexer::TokenKind;
use super::parser::Parser;
use crate::Result;
use crate::access::Privileges;

/// Privileges on tables, views and sequences.
const OF_TABLES: &[(&str, Privileges)] = &[
    ("select", Privileges::SELECT),
    ("insert", Privileges::INSERT),
    ("update", Privileges::UPDATE),
    ("delete", Privileges::DELETE),
    ("references", Privileges::REFERENCES),
];

/// What Informix grants that has no counterpart here, by the first word.
const WITHOUT_COUNTERPART: &[(&str, &str)] = &[
    ("usage", "USAGE of types and languages, which everybody has"),
    ("index", "INDEX, which is its owner's alone"),
    ("alter", "ALTER, which is its owner's alone"),
    ("under", "UNDER"),
    ("setsessionauth", "SETSESSIONAUTH"),
    ("dbsecadm", "DBSECADM"),
    ("security", "a security label"),
    ("exemption", "an exemption"),
    ("fragment", "FRAGMENT privileges"),
    ("access", "ACCESS TO"),
];

impl Parser<'_> {
    /// GRANT and REVOKE; the word has not been taken.
    pub fn access(&mut self, grant: bool) -> Result<Ast> {
        self.take();
        let what = self.granted()?;
        if let Granted::Other(_) = what {
            while !self.at_end() && !self.is_sign(";") {
                self.take();
            }
            return Ok(Ast::Access(Box::new(Access { grant, what, ..Access::default() })));
        }
        self.expect_word(if grant { "to" } else { "from" })?;
        let grantees = self.list(Self::user_name)?;
        let mut access = Access { grant, what, grantees, ..Access::default() };
        if grant {
            access.grant_option = self.words(&["with", "grant", "option"]);
        } else if self.word("restrict") {
            access.restrict = true;
        } else {
            self.word("cascade");
        }
        if self.word("as") {
            access.grantor = Some(self.user_name()?);
        }
        Ok(Ast::Access(Box::new(access)))
    }

    /// Users may be written as strings.
    fn user_name(&mut self) -> Result<String> {
        match self.peek().clone() {
            TokenKind::String(name) => {
                self.take();
                Ok(name)
            }
            _ => self.name(),
        }
    }

    fn granted(&mut self) -> Result<Granted> {
        let alone = self.is_word_at(1, "to") || self.is_word_at(1, "from");
        for (word, level) in [("connect", Granted::Connect), ("resource", Granted::Resource), ("dba", Granted::Dba)] {
            if alone && self.word(word) {
                return Ok(level);
            }
        }
        if let Some((_, words)) = WITHOUT_COUNTERPART.iter().find(|(word, _)| !alone && self.is_word(word)) {
            return Ok(Granted::Other(words));
        }
        if self.words(&["default", "role"]) {
            let name = if self.is_word("from") || self.is_word("to") { None } else { Some(self.user_name()?) };
            return Ok(Granted::DefaultRole(name));
        }
        if self.words(&["execute", "on"]) {
            return self.granted_routine();
        }
        if self.word("all") {
            self.word("privileges");
            self.expect_word("on")?;
            return Ok(Granted::Table { privileges: Vec::new(), table: self.object_name()? });
        }
        if alone || !OF_TABLES.iter().any(|(word, _)| self.is_word(word)) {
            return Ok(Granted::Roles(self.list(Self::user_name)?));
        }
        let mut privileges = Vec::new();
        loop {
            if let Some((_, words)) = WITHOUT_COUNTERPART.iter().find(|(word, _)| self.is_word(word)) {
                return Ok(Granted::Other(words));
            }
            let Some((_, privilege)) = OF_TABLES.iter().find(|(word, _)| self.is_word(word)) else {
                return Err(self.unexpected());
            };
            self.take();
            let columns = if self.is_sign("(") { self.name_list()? } else { Vec::new() };
            privileges.push((*privilege, columns));
            if !self.sign(",") {
                break;
            }
        }
        self.expect_word("on")?;
        Ok(Granted::Table { privileges, table: self.object_name()? })
    }

    fn granted_routine(&mut self) -> Result<Granted> {
        let specific = self.word("specific");
        let function = match (self.word("function"), self.word("procedure")) {
            (true, _) => Some(true),
            (_, true) => Some(false),
            _ => {
                self.word("routine");
                None
            }
        };
        let name = self.object_name()?;
        let signature = self.routine_signature()?;
        Ok(Granted::Routine { name, function, specific, signature })
    }

    /// CREATE ROLE, DROP ROLE; the first word has not been taken.
    pub fn role(&mut self, create: bool) -> Result<Ast> {
        self.take();
        self.expect_word("role")?;
        let unless = if create { &["if", "not", "exists"][..] } else { &["if", "exists"] };
        let lenient = self.words(unless);
        Ok(Ast::Role { create, name: self.user_name()?, lenient })
    }

    /// The rest of SET ROLE; ROLE has been taken.
    pub fn set_role(&mut self) -> Result<Ast> {
        let default = self.word("default");
        let none = default || self.word("none") || self.word("null");
        Ok(Ast::SetRole { name: if none { None } else { Some(self.user_name()?) }, default })
    }
}
