//! Accounts as MySQL knows them: what a role has besides what PostgreSQL knows of it.
//!
//! MySQL's rights on a database, and on all of them, count for tables that are made later, and tell apart what
//! PostgreSQL leaves to owners (ALTER, DROP, INDEX). They are kept by the database's name, as MySQL keeps them; those on
//! a single table are its list of privileges ([`super::Acl`]).

use std::collections::BTreeMap;
use std::ops::{BitAnd, BitOr};

use super::{ObjectClass, Privileges};

/// A set of MySQL's rights.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct DatabaseRights(u32);

impl BitOr for DatabaseRights {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitAnd for DatabaseRights {
    type Output = Self;

    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

/// Each right with its words, in the order in which SHOW GRANTS has them.
const RIGHTS: &[(&str, DatabaseRights)] = &[
    ("SELECT", DatabaseRights::SELECT),
    ("INSERT", DatabaseRights::INSERT),
    ("UPDATE", DatabaseRights::UPDATE),
    ("DELETE", DatabaseRights::DELETE),
    ("CREATE", DatabaseRights::CREATE),
    ("DROP", DatabaseRights::DROP),
    ("REFERENCES", DatabaseRights::REFERENCES),
    ("INDEX", DatabaseRights::INDEX),
    ("ALTER", DatabaseRights::ALTER),
    ("CREATE TEMPORARY TABLES", DatabaseRights::TEMPORARY),
    ("LOCK TABLES", DatabaseRights::LOCK),
    ("EXECUTE", DatabaseRights::EXECUTE),
    ("CREATE VIEW", DatabaseRights::CREATE_VIEW),
    ("SHOW VIEW", DatabaseRights::SHOW_VIEW),
    ("CREATE ROUTINE", DatabaseRights::CREATE_ROUTINE),
    ("ALTER ROUTINE", DatabaseRights::ALTER_ROUTINE),
    ("EVENT", DatabaseRights::EVENT),
    ("TRIGGER", DatabaseRights::TRIGGER),
];

impl DatabaseRights {
    /// None.
    pub const NONE: Self = Self(0);
    /// SELECT.
    pub const SELECT: Self = Self(1);
    /// INSERT.
    pub const INSERT: Self = Self(1 << 1);
    /// UPDATE.
    pub const UPDATE: Self = Self(1 << 2);
    /// DELETE.
    pub const DELETE: Self = Self(1 << 3);
    /// CREATE: databases and tables.
    pub const CREATE: Self = Self(1 << 4);
    /// DROP: databases, tables and views; TRUNCATE, too.
    pub const DROP: Self = Self(1 << 5);
    /// REFERENCES.
    pub const REFERENCES: Self = Self(1 << 6);
    /// INDEX.
    pub const INDEX: Self = Self(1 << 7);
    /// ALTER.
    pub const ALTER: Self = Self(1 << 8);
    /// CREATE TEMPORARY TABLES.
    pub const TEMPORARY: Self = Self(1 << 9);
    /// LOCK TABLES.
    pub const LOCK: Self = Self(1 << 10);
    /// EXECUTE.
    pub const EXECUTE: Self = Self(1 << 11);
    /// CREATE VIEW.
    pub const CREATE_VIEW: Self = Self(1 << 12);
    /// SHOW VIEW.
    pub const SHOW_VIEW: Self = Self(1 << 13);
    /// CREATE ROUTINE.
    pub const CREATE_ROUTINE: Self = Self(1 << 14);
    /// ALTER ROUTINE.
    pub const ALTER_ROUTINE: Self = Self(1 << 15);
    /// EVENT.
    pub const EVENT: Self = Self(1 << 16);
    /// TRIGGER.
    pub const TRIGGER: Self = Self(1 << 17);
    /// All of them.
    pub const ALL: Self = Self((1 << 18) - 1);

    /// None of them.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// All of another set.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Without those of another set.
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// The right of some words, in upper case.
    pub fn of_words(words: &str) -> Option<Self> {
        RIGHTS.iter().find(|(known, _)| *known == words).map(|(_, right)| *right)
    }

    /// The words of each.
    pub fn words(self) -> Vec<&'static str> {
        RIGHTS.iter().filter(|(_, right)| self.contains(*right)).map(|(words, _)| *words).collect()
    }

    /// What they allow on everything of a class in their database.
    pub fn privileges(self, class: ObjectClass) -> Privileges {
        let of_class: &[(Self, Privileges)] = match class {
            ObjectClass::Relation => &[
                (Self::SELECT, Privileges::SELECT),
                (Self::INSERT, Privileges::INSERT),
                (Self::UPDATE, Privileges::UPDATE),
                (Self::DELETE, Privileges::DELETE),
                (Self::DROP, Privileges::TRUNCATE),
                (Self::REFERENCES, Privileges::REFERENCES),
                (Self::TRIGGER, Privileges::TRIGGER),
            ],
            ObjectClass::Sequence => &[(Self::SELECT, Privileges::SELECT), (Self::INSERT, Privileges::USAGE)],
            ObjectClass::Routine => &[(Self::EXECUTE, Privileges::EXECUTE)],
            _ => &[],
        };
        let held = of_class.iter().filter(|(right, _)| self.contains(*right));
        held.fold(Privileges::NONE, |all, (_, privilege)| all | *privilege)
    }

    /// What privileges on a table are in MySQL's words.
    pub fn of_table(privileges: Privileges) -> Self {
        let of = |(one, right): (Privileges, Self)| if privileges.contains(one) { right } else { Self::NONE };
        [
            (Privileges::SELECT, Self::SELECT),
            (Privileges::INSERT, Self::INSERT),
            (Privileges::UPDATE, Self::UPDATE),
            (Privileges::DELETE, Self::DELETE),
            (Privileges::REFERENCES, Self::REFERENCES),
            (Privileges::TRIGGER, Self::TRIGGER),
        ]
        .into_iter()
        .fold(Self::NONE, |all, pair| all | of(pair))
    }
}

/// How an account proves who it is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Plugin {
    /// `mysql_native_password`.
    Native,
    /// `caching_sha2_password`, the usual one.
    Caching,
    /// `sha256_password`.
    Sha256,
}

impl Plugin {
    const ALL: [Self; 3] = [Self::Native, Self::Caching, Self::Sha256];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Native => "mysql_native_password",
            Self::Caching => "caching_sha2_password",
            Self::Sha256 => "sha256_password",
        }
    }

    /// How what is kept of its passwords begins; alone it is kept of an account without a password.
    pub const fn prefix(self) -> &'static str {
        match self {
            Self::Native => "*",
            Self::Caching => "$A$",
            Self::Sha256 => "$5$",
        }
    }

    /// The plugin of a name.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|plugin| plugin.name() == name)
    }

    /// The plugin of what is kept of a password.
    pub fn of_verifier(verifier: &str) -> Self {
        Self::ALL.into_iter().find(|plugin| verifier.starts_with(plugin.prefix())).unwrap_or(Self::Caching)
    }
}

/// Rights of an account at one level.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct LevelRights {
    /// Which.
    pub rights: DatabaseRights,
    /// WITH GRANT OPTION: it may give on what it has here.
    pub grantable: bool,
    /// It may look into the database, having been given something on a table there.
    pub seen: bool,
}

impl LevelRights {
    /// As a file keeps them: words with commas between.
    pub fn stored(self) -> String {
        let mut words = self.rights.words();
        if self.grantable {
            words.push("GRANT OPTION");
        }
        if self.seen {
            words.push("USAGE");
        }
        words.join(",")
    }

    /// Reads what [`Self::stored`] has written; words that nobody knows say nothing.
    pub fn from_stored(text: &str) -> Self {
        let mut read = Self::default();
        for words in text.split(',') {
            match DatabaseRights::of_words(words) {
                Some(right) => read.rights = read.rights | right,
                None => {
                    read.grantable |= words == "GRANT OPTION";
                    read.seen |= words == "USAGE";
                }
            }
        }
        read
    }

    /// Nothing at all.
    pub const fn is_empty(self) -> bool {
        self.rights.is_empty() && !self.grantable && !self.seen
    }

    /// What it allows on everything of a class in the database.
    pub fn privileges(self, class: ObjectClass) -> Privileges {
        match class {
            // Whoever may do something in a database may look into it.
            ObjectClass::Schema if !self.is_empty() => Privileges::USAGE,
            class => self.rights.privileges(class),
        }
    }
}

/// What is kept of a role as an account of MySQL's.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct AccountFacts {
    /// What is kept of its password in MySQL's form, which begins with its plugin's [prefix](Plugin::prefix).
    pub verifier: Option<String>,
    /// Its host is `localhost`: it comes in from this machine alone.
    pub local: bool,
    /// Its rights by the schema that is the database; none is `*.*`.
    pub rights: BTreeMap<Option<String>, LevelRights>,
}

impl AccountFacts {
    /// The property of its verifier, whose part is the role.
    pub const VERIFIER: &str = "mysql_verifier";
    /// The property of its host.
    pub const HOST: &str = "mysql_host";
    /// The property of its rights on `*.*`.
    pub const RIGHTS: &str = "mysql_rights";
    /// How the property of its rights on a database begins.
    pub const RIGHTS_ON: &str = "mysql_rights ";

    /// The property of rights at a level.
    pub fn property(level: Option<&str>) -> String {
        match level {
            None => Self::RIGHTS.to_owned(),
            Some(schema) => format!("{}{schema}", Self::RIGHTS_ON),
        }
    }

    /// Takes in a fact as a file keeps it; false where it is none of these.
    pub(super) fn take(&mut self, name: &str, value: &str) -> bool {
        match name {
            Self::VERIFIER => self.verifier = Some(value.to_owned()),
            Self::HOST => self.local = value == "localhost",
            Self::RIGHTS => drop(self.rights.insert(None, LevelRights::from_stored(value))),
            _ => match name.strip_prefix(Self::RIGHTS_ON) {
                Some(schema) => drop(self.rights.insert(Some(schema.to_owned()), LevelRights::from_stored(value))),
                None => return false,
            },
        }
        true
    }

    /// Its rights in a database, those on all of them with them.
    pub fn in_schema(&self, schema: Option<&str>) -> LevelRights {
        let at = |level: Option<&str>| self.rights.get(&level.map(str::to_owned)).copied().unwrap_or_default();
        let everywhere = at(None);
        let Some(schema) = schema else { return everywhere };
        let here = at(Some(schema));
        LevelRights {
            rights: everywhere.rights | here.rights,
            grantable: everywhere.grantable || here.grantable,
            seen: here.seen,
        }
    }

    /// How it proves who it is.
    pub fn plugin(&self) -> Plugin {
        self.verifier.as_deref().map_or(Plugin::Caching, Plugin::of_verifier)
    }

    /// What is kept of its password; none where it has none.
    pub fn password(&self) -> Option<&str> {
        self.verifier.as_deref().filter(|verifier| *verifier != Plugin::of_verifier(verifier).prefix())
    }

    /// The host as it is told.
    pub const fn host(local: bool) -> &'static str {
        if local { "localhost" } else { "%" }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rights_read_as_they_are_written() {
        let rights = DatabaseRights::SELECT | DatabaseRights::SHOW_VIEW;
        let some = LevelRights { rights, grantable: true, seen: false };
        assert_eq!(some.stored(), "SELECT,SHOW VIEW,GRANT OPTION");
        assert_eq!(LevelRights::from_stored(&some.stored()), some);
        assert_eq!(LevelRights::from_stored("FLY,DROP").rights, DatabaseRights::DROP);
        assert_eq!(DatabaseRights::ALL.words().len(), RIGHTS.len());
    }

    #[test]
    fn rights_on_all_databases_count_in_each() {
        let mut facts = AccountFacts::default();
        assert!(facts.take("mysql_rights", "SELECT") && facts.take("mysql_rights shop", "INSERT,GRANT OPTION"));
        assert!(!facts.take("setting x", "1"));
        let shop = facts.in_schema(Some("shop"));
        assert_eq!(
            (shop.stored().as_str(), facts.in_schema(Some("x")).stored().as_str()),
            ("SELECT,INSERT,GRANT OPTION", "SELECT")
        );
        assert_eq!(shop.rights.privileges(ObjectClass::Relation), Privileges::SELECT | Privileges::INSERT);
        assert_eq!(shop.privileges(ObjectClass::Schema), Privileges::USAGE);
    }
}
