//! CREATE, ALTER, DROP and COMMENT ON POLICY; ROW LEVEL SECURITY of tables.

use std::sync::Arc;

use pg_query::protobuf::{self as pg, Node, node::Node as N};

use super::super::access::role_spec;
use super::super::binder::Binder;
use super::super::names;
use crate::access::{not_owner, relation_words};
use crate::error::Severity;
use crate::ir::{ChangePolicy, Ddl, Part, PolicyChange, PolicyParts, RoleSpec, Statement};
use crate::schema::{PolicyCommand, QualifiedName, Relation};
use crate::{Condition, Error, Result};

impl Binder<'_> {
    pub(super) fn create_policy(&mut self, create: &pg::CreatePolicyStmt) -> Result<Ddl> {
        let table = self.table_of_policy(create.table.as_ref())?;
        let Some(command) = PolicyCommand::from_word(&create.cmd_name) else {
            return Err(Error::internal(format!("a policy for {}", create.cmd_name)));
        };
        check_parts(command, create.qual.is_some(), create.with_check.is_some(), true)?;
        let parts = self.policy_parts(&create.roles, create.qual.as_deref(), create.with_check.as_deref(), &table)?;
        if table.policy(&create.policy_name).is_some() {
            return Err(exists(&create.policy_name, &table));
        }
        let (name, permissive) = (create.policy_name.clone(), create.permissive);
        let change = PolicyChange::Create { name, permissive, command, parts };
        Ok(Ddl::Policy(Box::new(ChangePolicy { table, change })))
    }

    pub(super) fn alter_policy(&mut self, alter: &pg::AlterPolicyStmt) -> Result<Ddl> {
        let table = self.table_of_policy(alter.table.as_ref())?;
        let Some(policy) = table.policy(&alter.policy_name).cloned() else {
            return Err(missing(&alter.policy_name, &table));
        };
        check_parts(policy.command, alter.qual.is_some(), alter.with_check.is_some(), false)?;
        let mut parts = self.policy_parts(&alter.roles, alter.qual.as_deref(), alter.with_check.as_deref(), &table)?;
        if alter.roles.is_empty() {
            parts.roles = None;
        }
        Ok(Ddl::Policy(Box::new(ChangePolicy { table, change: PolicyChange::Alter(policy, parts) })))
    }

    /// DROP POLICY name ON table.
    pub(super) fn drop_policy(&mut self, drop: &pg::DropStmt) -> Result<Statement> {
        let nothing = Ok(Statement::Nothing { tag: "DROP POLICY" });
        let Some(N::List(list)) = drop.objects.first().and_then(|node| node.node.as_ref()) else { return nothing };
        let (name, policy) = on_table(&names::strings(&list.items));
        let Some(table) = self.dropped_from(&name, drop.missing_ok)? else { return nothing };
        let Some(policy) = table.policy(&policy).cloned() else {
            if drop.missing_ok {
                self.remark(format!("policy \"{policy}\" for relation \"{name}\" does not exist, skipping"));
                return nothing;
            }
            return Err(missing(&policy, &table));
        };
        // Nothing depends on a policy.
        Ok(changed(table, PolicyChange::Drop(policy)))
    }

    /// ALTER POLICY name ON table RENAME TO.
    pub(super) fn rename_policy(&mut self, rename: &pg::RenameStmt) -> Result<Statement> {
        let table = self.table_of_policy(rename.relation.as_ref())?;
        if table.policy(&rename.newname).is_some() {
            return Err(exists(&rename.newname, &table));
        }
        let Some(policy) = table.policy(&rename.subname).cloned() else {
            return Err(missing(&rename.subname, &table));
        };
        Ok(changed(table, PolicyChange::Rename(policy, rename.newname.clone())))
    }

    /// COMMENT ON POLICY name ON table.
    pub(super) fn comment_on_policy(&mut self, parts: &[String], text: Option<String>) -> Result<Ddl> {
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        let (name, policy) = on_table(&parts);
        let Some(table) = self.schema.relation(&name) else {
            return Err(Error::new(Condition::UndefinedTable, format!("relation \"{name}\" does not exist")));
        };
        let Some(policy) = table.policy(&policy).cloned() else { return Err(missing(&policy, &table)) };
        Ok(Ddl::Policy(Box::new(ChangePolicy { table, change: PolicyChange::Comment(policy, text) })))
    }

    fn table_of_policy(&mut self, range: Option<&pg::RangeVar>) -> Result<Arc<Relation>> {
        let Some(range) = range else { return Err(Error::internal("a policy without its table")) };
        let relation = self.relation(range)?;
        let rights = self.schema.rights();
        if !rights.owns(relation.oid) {
            return Err(not_owner(relation_words(&relation), &relation.name));
        }
        self.own_table(range)
    }

    fn policy_parts(
        &mut self,
        roles: &[Node],
        using: Option<&Node>,
        check: Option<&Node>,
        table: &Arc<Relation>,
    ) -> Result<PolicyParts> {
        let mut named: Vec<RoleSpec> = roles
            .iter()
            .filter_map(|node| match &node.node {
                Some(N::RoleSpec(spec)) => Some(role_spec(spec)),
                _ => None,
            })
            .collect();
        if named.contains(&RoleSpec::Public) && named.len() > 1 {
            let message = "ignoring specified roles other than PUBLIC";
            let hint = "All roles are members of the PUBLIC role.";
            let warning = Error::new(Condition::InvalidParameterValue, message).hint(hint);
            self.notices.push(warning.with_severity(Severity::Warning));
            named = vec![RoleSpec::Public];
        }
        let mut text = |node: Option<&Node>| node.map(|node| self.policy_text(node, table)).transpose();
        Ok(PolicyParts { using: text(using)?, check: text(check)?, roles: Some(named) })
    }
}

/// ENABLE, DISABLE, FORCE and NO FORCE ROW LEVEL SECURITY as a property of the table; `None` for another action.
pub(super) fn row_security(command: &pg::AlterTableCmd) -> Option<crate::ir::AlterTable> {
    use pg::AlterTableType as T;
    let (name, on) = match command.subtype() {
        T::AtEnableRowSecurity => ("row_security", true),
        T::AtDisableRowSecurity => ("row_security", false),
        T::AtForceRowSecurity => ("force_row_security", true),
        T::AtNoForceRowSecurity => ("force_row_security", false),
        _ => return None,
    };
    let value = on.then(|| "on".to_owned());
    Some(crate::ir::AlterTable::SetProperty { part: Part::Table, name: name.to_owned(), value })
}

/// Which conditions a policy for a command can have.
fn check_parts(command: PolicyCommand, using: bool, check: bool, new: bool) -> Result<()> {
    use PolicyCommand::{Delete, Insert, Select};
    let message = match command {
        Select | Delete if check && new => "WITH CHECK cannot be applied to SELECT or DELETE",
        Select | Delete if check => "only USING expression allowed for SELECT, DELETE",
        Insert if using => "only WITH CHECK expression allowed for INSERT",
        _ => return Ok(()),
    };
    Err(Error::new(Condition::SyntaxError, message))
}

fn changed(table: Arc<Relation>, change: PolicyChange) -> Statement {
    Statement::Ddl(Box::new(Ddl::Policy(Box::new(ChangePolicy { table, change }))))
}

/// A table's name and the policy's, which stands last.
fn on_table(parts: &[&str]) -> (QualifiedName, String) {
    match parts {
        [.., schema, table, name] => (QualifiedName::new(*schema, *table), (*name).to_owned()),
        [table, name] => (QualifiedName::bare(*table), (*name).to_owned()),
        _ => (QualifiedName::bare(""), String::new()),
    }
}

fn missing(name: &str, table: &Relation) -> Error {
    let message = format!("policy \"{name}\" for table \"{}\" does not exist", table.name);
    Error::new(Condition::UndefinedObject, message)
}

fn exists(name: &str, table: &Relation) -> Error {
    let message = format!("policy \"{name}\" for table \"{}\" already exists", table.name);
    Error::new(Condition::DuplicateObject, message)
}
