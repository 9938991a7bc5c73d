//! The statements that make and change policies.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::access::RoleSpec;
use crate::schema::{Policy, PolicyCommand, Relation};
use crate::uses::Dependency;

/// What is said of a policy; `None` leaves it as it is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PolicyParts {
    /// TO.
    pub roles: Option<Vec<RoleSpec>>,
    /// USING: the text, and what it names.
    pub using: Option<(String, BTreeSet<Dependency>)>,
    /// WITH CHECK: the text, and what it names.
    pub check: Option<(String, BTreeSet<Dependency>)>,
}

/// A change of a table's policies.
#[derive(Clone, Debug, PartialEq)]
pub enum PolicyChange {
    /// CREATE POLICY.
    Create {
        /// Its name.
        name: String,
        /// AS PERMISSIVE; RESTRICTIVE otherwise.
        permissive: bool,
        /// FOR.
        command: PolicyCommand,
        /// The rest.
        parts: PolicyParts,
    },
    /// ALTER POLICY.
    Alter(Arc<Policy>, PolicyParts),
    /// DROP POLICY.
    Drop(Arc<Policy>),
    /// ALTER POLICY … RENAME TO.
    Rename(Arc<Policy>, String),
    /// COMMENT ON POLICY; `None` removes it.
    Comment(Arc<Policy>, Option<String>),
}

/// A change of a table's policies, and the table.
#[derive(Clone, Debug, PartialEq)]
pub struct ChangePolicy {
    /// The table.
    pub table: Arc<Relation>,
    /// The change.
    pub change: PolicyChange,
}
