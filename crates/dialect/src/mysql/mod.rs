//! The MySQL front end: a parser for MySQL's SQL, whose trees are made into those that PostgreSQL's parser would make of
//! what they mean. The binder of [`crate::postgres`] binds them by MySQL's rules for names, conversions and truth
//! ([`crate::postgres::Rules`]), so that there is one binder for both.
//!
//! - `tree`: from a text to its statements; `statements`, `queries`, `expressions`, `definitions`, `alter`: their trees;
//! - `accounts`: users, roles, GRANT and REVOKE;
//! - `partitions`: how rows of a table are parted;
//! - [`types`]: MySQL's types as those of the file;
//! - `maintenance`: ANALYZE, CHECK, CHECKSUM, OPTIMIZE and REPAIR TABLE;
//! - [`load_data`]: LOAD DATA, which the door runs, as the client has the file;
//! - [`shape`]: texts without their literals, for plans that they share;
//! - [`routine`]: stored routines and triggers; `routines`: the statements that make, change and call them;
//! - [`told`]: errors as clients are told of them;
//! - [`print`]: what a schema keeps, in MySQL's words;
//! - `show`: SHOW and DESCRIBE as queries over the catalogs.

mod accounts;
mod alter;
mod build;
pub(crate) use build::UNNAMED;
mod changes;
mod definitions;
pub mod errors;
mod expressions;
mod fulltext;
mod grammar;
pub mod json_table;
mod key_options;
mod late_keys;
mod lift;
pub mod load_data;
mod maintenance;
mod modes;
mod modifiers;
pub(crate) mod partitions;
pub mod print;
mod queries;
pub mod routine;
mod routines;
pub(crate) mod show;
mod statements;
pub(crate) use self::changes::IGNORE;
mod tokens;
pub mod told;
mod tree;
pub mod types;
pub mod variables;
mod views;

pub(crate) use definitions::{COLLATION, OF_TABLE};
pub use late_keys::LateKey;
pub(crate) use lift::content;
pub use lift::shape;
pub use maintenance::{Maintained, Maintenance, Work};
pub use modes::{Modes, SQL_MODE};
pub(crate) use partitions::{PARTITIONS, SAMPLED};
pub use tree::parameters;
pub(crate) use tree::statements;

use crate::ir::{Account, AccountChange};
pub use crate::postgres::mysql_partitioning as partitioning;

/// What a query in parentheses is called that has something behind these.
pub(crate) const PARENTHESIZED: &str = "_";

/// The property of a column that is computed and was declared VIRTUAL.
pub const VIRTUAL: &str = "mysql_virtual";

/// The access method of a full-text index.
pub const FULLTEXT: &str = "fulltext";

/// MATCH … AGAINST is a call of this with the word of its mode behind it: of the text, and of the columns.
pub(crate) const MATCH: &str = "mysql_match_";

/// The property of a key that was said to be of the first characters of a column: how many, behind the key's place from 1.
pub const PREFIX: &str = "mysql_prefix ";

/// The option, and the property, of a key that has a comment: PostgreSQL's COMMENT ON INDEX is the same.
pub(crate) const KEY_COMMENT: &str = "index_comment";

/// The option, and the property, of a key that is INVISIBLE.
pub const INVISIBLE: &str = "index_invisible";

/// The property of a table that has another collation than the usual for columns that say none.
pub const TABLE_COLLATION: &str = "mysql_collation";

/// What a statement does that is about sessions, and about no rows.
#[derive(Clone, Debug, PartialEq)]
pub enum Control {
    /// USE: names without a database are looked for there from now on.
    Use(String),
    /// KILL of a session, or of its statement alone.
    Kill {
        /// The session's number.
        number: u64,
        /// QUERY: the session goes on.
        query: bool,
    },
    /// PREPARE: a statement gets a name.
    Prepare {
        /// The name, in small letters.
        name: String,
        /// Its text, or the variable that has it.
        from: PreparedFrom,
    },
    /// EXECUTE of such a statement.
    Execute {
        /// The name, in small letters.
        name: String,
        /// The variables whose values its parameters have.
        using: Vec<String>,
    },
    /// DEALLOCATE PREPARE.
    Deallocate(String),
    /// SELECT … INTO: there should be a row.
    Into,
    /// A change of users, roles or rights.
    Account(Box<AccountChange>),
    /// SET ROLE and SET DEFAULT ROLE: each of some accounts must have each of some roles, whose rights count already.
    Roles {
        /// The roles; of all there are, for none.
        roles: Vec<Account>,
        /// The accounts.
        accounts: Vec<Account>,
    },

    /// SHOW … FROM: the database is there.
    Of(String),
    /// ANALYZE, CHECK, CHECKSUM, OPTIMIZE and REPAIR TABLE.
    Maintain(Maintenance),
}

/// Where the text of a prepared statement stands.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum PreparedFrom {
    /// In the statement.
    Text(String),
    /// In a variable of the user's.
    Variable(String),
}

/// What stands between the names of the users' variables and their kinds.
const KINDS: char = '\u{1}';

/// The kind of value that a variable of the user's has, by all of them.
pub fn user_kind<'k>(kinds: &'k str, name: &str) -> Option<&'k str> {
    let mut words = kinds.split(KINDS);
    while let (Some(known), Some(kind)) = (words.next(), words.next()) {
        if known == name {
            return Some(kind);
        }
    }
    None
}

/// The kinds with that of one more variable.
pub fn with_user_kind(kinds: &str, name: &str, kind: &str) -> String {
    let mut out = String::new();
    let mut words = kinds.split(KINDS);
    while let (Some(known), Some(kind)) = (words.next(), words.next()) {
        if known != name {
            out.extend([known, "\u{1}", kind, "\u{1}"]);
        }
    }
    out.extend([name, "\u{1}", kind, "\u{1}"]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_variables_are_found_by_their_names() {
        let kinds = with_user_kind(&with_user_kind("", "a", "integer"), "b", "text");
        assert_eq!(
            [user_kind(&kinds, "a"), user_kind(&kinds, "b"), user_kind(&kinds, "c")],
            [Some("integer"), Some("text"), None]
        );
        assert_eq!(user_kind(&with_user_kind(&kinds, "a", "text"), "a"), Some("text"));
    }
}
