//! GRANT, REVOKE, and roles.

use super::ast::{Access, Ast, Granted, UserChange};
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

    /// CREATE, ALTER, DROP and RENAME USER; the first word has not been taken.
    pub fn user(&mut self) -> Result<Ast> {
        let creates = self.word("create");
        let alters = !creates && self.word("alter");
        let drops = !creates && !alters && self.word("drop");
        if !creates && !alters && !drops {
            self.expect_word("rename")?;
        }
        self.expect_word("user")?;
        let name = self.user_name()?;
        let change = if creates {
            self.created_user()?
        } else if alters {
            self.altered_user()?
        } else if drops {
            UserChange::Drop
        } else {
            self.expect_word("to")?;
            UserChange::Rename(self.user_name()?)
        };
        Ok(Ast::User { name, change })
    }

    /// `[WITH [PASSWORD 'word'] [ACCOUNT LOCK | UNLOCK] [PROPERTIES …]]`
    fn created_user(&mut self) -> Result<UserChange> {
        let (mut password, mut locked) = (None, false);
        if self.word("with") {
            if self.word("password") {
                password = Some(self.quoted()?);
            }
            locked = self.account()?.unwrap_or(false);
            if self.word("properties") {
                self.surrogate()?;
            }
        }
        Ok(UserChange::Create { password, locked })
    }

    /// `[ACCOUNT LOCK | UNLOCK] [{ADD | MODIFY} …] [DROP …]`
    fn altered_user(&mut self) -> Result<UserChange> {
        let at = self.start();
        let (mut password, locked) = (None, self.account()?);
        let sets = self.word("add") || self.word("modify");
        if sets || self.word("drop") {
            if self.word("password") {
                password = Some(if sets { Some(self.quoted()?) } else { None });
            } else if sets {
                self.surrogate()?;
            } else {
                return Err(self.unsupported("taking a user's properties of the operating system away"));
            }
        }
        if self.start() == at {
            return Err(self.unexpected());
        }
        Ok(UserChange::Alter { password, locked })
    }

    /// `ACCOUNT LOCK`, `ACCOUNT UNLOCK`
    fn account(&mut self) -> Result<Option<bool>> {
        if !self.word("account") {
            return Ok(None);
        }
        let locks = self.word("lock");
        if !locks {
            self.expect_word("unlock")?;
        }
        Ok(Some(locks))
    }

    /// Whose rights a user has in the operating system: nobody's here, as no statement reaches its files. What would make
    /// somebody an administrator of the server is refused.
    fn surrogate(&mut self) -> Result<()> {
        let at = self.start();
        loop {
            if self.is_word("authorization") {
                return Err(self.unsupported("AUTHORIZATION (GRANT DBA makes an administrator of the database),"));
            }
            if self.word("uid") {
                let _ = self.unsigned()?;
            } else if self.word("user") {
                self.user_name()?;
            } else if self.word("home") {
                self.quoted()?;
            } else if self.word("group") {
                self.expect_sign("(")?;
                self.list(|parser| {
                    if matches!(parser.peek(), TokenKind::Number(_)) {
                        parser.unsigned().map(drop)
                    } else {
                        parser.user_name().map(drop)
                    }
                })?;
                self.expect_sign(")")?;
            } else if self.start() == at {
                return Err(self.unexpected());
            } else {
                return Ok(());
            }
        }
    }

    /// The rest of SET ROLE; ROLE has been taken.
    pub fn set_role(&mut self) -> Result<Ast> {
        let default = self.word("default");
        let none = default || self.word("none") || self.word("null");
        Ok(Ast::SetRole { name: if none { None } else { Some(self.user_name()?) }, default })
    }
}
