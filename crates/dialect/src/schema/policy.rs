//! Row security of a table: whether it is on, and its policies.

use std::sync::Arc;

/// Row-level security of a table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RowSecurity {
    /// ENABLE ROW LEVEL SECURITY: without it policies are kept, and nobody asks them.
    pub enabled: bool,
    /// FORCE ROW LEVEL SECURITY: the owner is asked, too.
    pub forced: bool,
    /// Policies in the order of their names.
    pub policies: Vec<Arc<Policy>>,
}

/// A policy: which rows of a table some roles may see or store.
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    /// Object id.
    pub oid: u32,
    /// Name; unique among the table's.
    pub name: String,
    /// One of those that hold must hold; a restrictive one must hold in any case.
    pub permissive: bool,
    /// What it is about.
    pub command: PolicyCommand,
    /// Whom it is about, by object id; 0 is PUBLIC.
    pub roles: Vec<u32>,
    /// USING: the condition's text, in PostgreSQL's SQL.
    pub using: Option<String>,
    /// WITH CHECK: the condition's text.
    pub check: Option<String>,
    /// COMMENT ON POLICY.
    pub comment: Option<String>,
    /// What its conditions name.
    pub needs: Vec<crate::uses::Dependency>,
}

/// What a policy is about.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum PolicyCommand {
    /// ALL.
    All,
    /// DELETE.
    Delete,
    /// INSERT.
    Insert,
    /// SELECT.
    Select,
    /// UPDATE.
    Update,
}

impl PolicyCommand {
    /// Every one.
    pub const EACH: [Self; 5] = [Self::All, Self::Delete, Self::Insert, Self::Select, Self::Update];

    /// SQL's word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::All => "ALL",
            Self::Delete => "DELETE",
            Self::Insert => "INSERT",
            Self::Select => "SELECT",
            Self::Update => "UPDATE",
        }
    }

    /// The letter of `pg_policy.polcmd`.
    pub const fn letter(self) -> &'static str {
        match self {
            Self::All => "*",
            Self::Delete => "d",
            Self::Insert => "a",
            Self::Select => "r",
            Self::Update => "w",
        }
    }

    /// The command of SQL's word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::EACH.into_iter().find(|command| command.word().eq_ignore_ascii_case(word))
    }
}

impl RowSecurity {
    /// The policy of a name.
    pub fn policy(&self, name: &str) -> Option<&Arc<Policy>> {
        self.policies.iter().find(|policy| policy.name == name)
    }
}

impl Policy {
    /// True where a statement of a kind asks it.
    pub fn is_about(&self, command: PolicyCommand) -> bool {
        self.command == PolicyCommand::All || self.command == command
    }
}
