//! Row-level security: whom the policies of a table concern.

use super::{PUBLIC, Rights};
use crate::schema::{Policy, PolicyCommand, Relation};
use crate::{Condition, Error};

impl Rights {
    /// Whether a role sees of a table what its policies show: superusers, those with BYPASSRLS and, unless it is forced, the
    /// owner see everything.
    pub fn is_secured(&self, role: u32, relation: &Relation) -> bool {
        let Some(security) = relation.security.as_ref().filter(|security| security.enabled) else { return false };
        if self.roles.can(role, |role| role.bypass_rls) {
            return false;
        }
        security.forced || !self.roles.has_privileges_of(role, self.owner(relation.oid))
    }

    /// The policies of a table that a role is asked for a command, permissive ones or restrictive ones, in the order of
    /// their names.
    pub fn policies_of<'a>(
        &'a self,
        role: u32,
        relation: &'a Relation,
        command: PolicyCommand,
        permissive: bool,
    ) -> impl Iterator<Item = &'a Policy> {
        let concerns = move |policy: &&Policy| {
            policy.permissive == permissive
                && policy.is_about(command)
                && policy.roles.iter().any(|named| *named == PUBLIC || self.roles.has_privileges_of(role, *named))
        };
        relation.policies().iter().map(|policy| &**policy).filter(concerns)
    }
}

/// `row_security` is off, and policies would take rows away.
pub fn would_be_affected(relation: &Relation, owner: bool) -> Error {
    let message = format!("query would be affected by row-level security policy for table \"{}\"", relation.name);
    let error = Error::new(Condition::InsufficientPrivilege, message);
    if !owner {
        return error;
    }
    error.hint("To disable the policy for the table's owner, use ALTER TABLE NO FORCE ROW LEVEL SECURITY.")
}
