//! Accounts and their rights as MySQL's statements say them.

use crate::access::accounts::DatabaseRights;

/// An account as a statement names it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Account {
    /// The user; `None` is CURRENT_USER.
    pub user: Option<String>,
    /// The host, where it is said.
    pub host: Option<String>,
}

impl Account {
    /// Hosts that mean this machine.
    const LOCAL: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

    /// Whether it comes in from this machine alone; `None` for a host of which nothing is known here.
    pub fn is_local(&self) -> Option<bool> {
        match self.host.as_deref() {
            None | Some("%" | "") => Some(false),
            Some(host) => Self::LOCAL.iter().any(|local| host.eq_ignore_ascii_case(local)).then_some(true),
        }
    }
}

/// What is said of a password.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum AccountSecret {
    /// Nothing.
    Unsaid,
    /// BY: the password.
    Clear(String),
    /// AS: what a server keeps of it.
    Kept(String),
}

/// IDENTIFIED.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Identified {
    /// Whose password.
    pub account: Account,
    /// WITH.
    pub plugin: Option<String>,
    /// BY and AS.
    pub secret: AccountSecret,
}

/// A change of accounts.
#[derive(Clone, Debug, PartialEq)]
pub enum AccountChange {
    /// CREATE USER, CREATE ROLE.
    Create {
        /// Who.
        accounts: Vec<Identified>,
        /// IF NOT EXISTS.
        lenient: bool,
        /// They can log in.
        login: bool,
    },
    /// ALTER USER, SET PASSWORD.
    Alter {
        /// Who.
        accounts: Vec<Identified>,
        /// IF EXISTS.
        lenient: bool,
        /// ACCOUNT LOCK, UNLOCK.
        locked: Option<bool>,
        /// SET PASSWORD.
        password: bool,
    },
    /// DROP USER, DROP ROLE.
    Drop {
        /// Who.
        accounts: Vec<Account>,
        /// IF EXISTS.
        lenient: bool,
        /// DROP USER.
        login: bool,
    },
    /// RENAME USER.
    Rename(Vec<(Account, Account)>),
    /// GRANT and REVOKE of roles.
    Roles {
        /// GRANT.
        grant: bool,
        /// Which.
        roles: Vec<Account>,
        /// To whom, from whom.
        accounts: Vec<Account>,
        /// WITH ADMIN OPTION.
        admin: bool,
    },
    /// GRANT and REVOKE of rights.
    Rights(AccountRights),
    /// REVOKE ALL PRIVILEGES, GRANT OPTION.
    RevokeAll {
        /// From whom.
        accounts: Vec<Account>,
    },
}

/// GRANT and REVOKE of rights.
#[derive(Clone, Debug, PartialEq)]
pub struct AccountRights {
    /// GRANT.
    pub grant: bool,
    /// ALL PRIVILEGES.
    pub all: bool,
    /// Which, on the whole.
    pub rights: DatabaseRights,
    /// Which, of single columns.
    pub columns: Vec<(DatabaseRights, Vec<String>)>,
    /// CREATE USER.
    pub create_user: bool,
    /// WITH GRANT OPTION, REVOKE GRANT OPTION.
    pub grant_option: bool,
    /// On what.
    pub level: RightsLevel,
    /// To whom, from whom.
    pub accounts: Vec<Account>,
}

/// On what rights are granted.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum RightsLevel {
    /// `*.*`.
    Everything,
    /// `database.*`, by its schema; `None` is the default database.
    Database(Option<String>),
    /// `database.table`.
    Table(Option<String>, String),
}
