//! GRANT, REVOKE and roles: Informix's words for the privileges of [`crate::access`].

use super::Binder;
use crate::access::{ObjectClass, Privileges};
use crate::informix::ast::{Access, Granted, ObjectName, UserChange};
use crate::ir::{self, AccessChange, Ddl, Grant, GrantRoles, GrantTargets, RoleOptions, RoleSpec, SetVariable};
use crate::schema::{QualifiedName, RelationKind};
use crate::{Error, Result};

/// The setting that says which role is enabled.
const ENABLED: &str = "informix.role";

impl Binder<'_> {
    /// GRANT and REVOKE. In a file without roles everybody may do everything, and nothing can be taken from anybody.
    pub(super) fn access(&mut self, access: &Access) -> Result<ir::Statement> {
        let tag = if access.grant { "GRANT" } else { "REVOKE" };
        if self.schema.rights().roles.is_simple() {
            return match access.grant {
                true => {
                    self.without_effect("GRANT, as every user may do everything,")?;
                    Ok(ir::Statement::Nothing { tag })
                }
                false => Err(Error::unsupported("REVOKE, as every user may do everything,")),
            };
        }
        let database = QualifiedName::bare(&self.context.database);
        let change = match &access.what {
            Granted::Other(words) => {
                return Err(Error::unsupported(format!("{tag} of {words},")));
            }
            Granted::Roles(roles) => AccessChange::GrantRoles(GrantRoles {
                grant: access.grant,
                roles: roles.clone(),
                members: access.grantees.iter().map(|name| role(name)).collect(),
                admin: access.grant_option,
                grantor: access.grantor.as_ref().map(|name| role(name)),
            }),
            Granted::DefaultRole(name) => self.default_role(access, name.as_deref())?,
            Granted::Dba => self.dba(access)?,
            Granted::Connect => privileges(access, ObjectClass::Database, Privileges::CONNECT, database),
            Granted::Resource => {
                privileges(access, ObjectClass::Schema, Privileges::CREATE, QualifiedName::bare("public"))
            }
            Granted::Table { privileges, table } => self.of_table(access, privileges, table)?,
            Granted::Routine { name, function, specific, signature } => {
                let routine = self.routine_named(name, *function, *specific, signature.as_deref())?;
                let named = QualifiedName::bare(&routine.signature);
                privileges(access, ObjectClass::Routine, Privileges::EXECUTE, named)
            }
        };
        Ok(self.change_access(change, tag))
    }

    /// DBA is what a superuser of the file is.
    fn dba(&self, access: &Access) -> Result<AccessChange> {
        let [user] = access.grantees.as_slice() else {
            return Err(Error::unsupported("DBA for several users in one statement"));
        };
        let options = RoleOptions { superuser: Some(access.grant), ..RoleOptions::default() };
        Ok(AccessChange::AlterRole { role: role(user), options })
    }

    /// The setting with which a role's sessions begin.
    fn default_role(&self, access: &Access, name: Option<&str>) -> Result<AccessChange> {
        let [user] = access.grantees.as_slice() else {
            return Err(Error::unsupported("a default role for several users in one statement"));
        };
        let roles = self.schema.rights().roles;
        let member = match (role(user), name) {
            (RoleSpec::Named(user), Some(name)) if access.grant => {
                let both = roles.oid(&user).zip(roles.oid(name));
                both.is_none_or(|(user, role)| roles.is_member(user, role))
            }
            _ => true,
        };
        if !member {
            return Err(Error::unsupported("a default role of somebody who is no member of it")
                .hint("GRANT it to the user first."));
        }
        let values = if access.grant { name.map(|name| vec![name.to_owned()]) } else { None };
        let set = SetVariable { name: Some(ENABLED.into()), reset: values.is_none(), values, local: false };
        let role = match role(user) {
            RoleSpec::Public => None,
            named => Some(named),
        };
        Ok(AccessChange::RoleSetting { role, database: None, set, current: false })
    }

    /// SET ROLE: a role's privileges count beside the user's own. Without roles there is nothing to be enabled.
    pub(super) fn set_role(&mut self, name: Option<&str>, default: bool) -> Result<ir::Statement> {
        if self.schema.rights().roles.is_simple() {
            self.without_effect("SET ROLE, as every user may do everything,")?;
            return Ok(ir::Statement::Nothing { tag: "SET ROLE" });
        }
        let values = if default { None } else { Some(vec![name.unwrap_or("none").to_owned()]) };
        let set = SetVariable { name: Some(ENABLED.into()), values, reset: default, local: false };
        Ok(ir::Statement::Set(set))
    }

    fn of_table(
        &mut self,
        access: &Access,
        wanted: &[(Privileges, Vec<String>)],
        table: &ObjectName,
    ) -> Result<AccessChange> {
        let relation = self.relation(table)?;
        // Names of columns are found whatever their case.
        let column = |name: &String| {
            let known = relation.columns.iter().find(|column| column.name.eq_ignore_ascii_case(name));
            known.map_or_else(|| name.clone(), |column| column.name.clone())
        };
        // Who may SELECT from a sequence takes its numbers.
        let of_sequence = |privilege: Privileges| match relation.kind {
            RelationKind::Sequence { .. } if privilege == Privileges::SELECT => privilege | Privileges::USAGE,
            _ => privilege,
        };
        let wanted =
            wanted.iter().map(|(privilege, columns)| (of_sequence(*privilege), columns.iter().map(column).collect()));
        let named = QualifiedName::new(relation.namespace.clone(), relation.name.clone());
        Ok(AccessChange::Grant(Grant { privileges: wanted.collect(), ..grant(access, ObjectClass::Relation, named) }))
    }

    /// CREATE ROLE, DROP ROLE.
    pub(super) fn role_change(&mut self, create: bool, name: &str, lenient: bool) -> Result<ir::Statement> {
        let tag = if create { "CREATE ROLE" } else { "DROP ROLE" };
        let roles = self.schema.rights().roles;
        if roles.is_simple() {
            self.without_effect(&format!("{tag}, as every user may do everything,"))?;
            return Ok(ir::Statement::Nothing { tag });
        }
        if create && lenient && roles.oid(name).is_some() {
            return Ok(ir::Statement::Nothing { tag });
        }
        let name = name.to_owned();
        let change = match create {
            true => AccessChange::CreateRole { name, options: RoleOptions::default() },
            false => AccessChange::DropRoles { roles: vec![RoleSpec::Named(name)], if_exists: lenient },
        };
        Ok(self.change_access(change, tag))
    }

    /// CREATE USER and its kin: roles that can log in. The first of them makes the file one with roles.
    pub(super) fn user_change(&mut self, name: &str, change: &UserChange) -> ir::Statement {
        let name = name.to_owned();
        let (change, tag) = match change {
            UserChange::Create { password, locked } => {
                let options = RoleOptions {
                    login: Some(!locked),
                    password: password.clone().map(Some),
                    ..RoleOptions::default()
                };
                (AccessChange::CreateRole { name, options }, "CREATE USER")
            }
            UserChange::Alter { password, locked } => {
                let options = RoleOptions {
                    login: locked.map(|locked| !locked),
                    password: password.clone(),
                    ..RoleOptions::default()
                };
                (AccessChange::AlterRole { role: RoleSpec::Named(name), options }, "ALTER USER")
            }
            UserChange::Drop => {
                (AccessChange::DropRoles { roles: vec![RoleSpec::Named(name)], if_exists: false }, "DROP USER")
            }
            UserChange::Rename(to) => (AccessChange::RenameRole { role: name, to: to.clone() }, "RENAME USER"),
        };
        self.change_access(change, tag)
    }

    fn change_access(&mut self, change: AccessChange, tag: &'static str) -> ir::Statement {
        self.effects.writes = true;
        self.effects.schema = true;
        ir::Statement::Ddl(Box::new(Ddl::Access { change: Box::new(change), tag }))
    }
}

fn role(name: &str) -> RoleSpec {
    if name.eq_ignore_ascii_case("public") { RoleSpec::Public } else { RoleSpec::Named(name.to_owned()) }
}

fn privileges(access: &Access, class: ObjectClass, privilege: Privileges, named: QualifiedName) -> AccessChange {
    AccessChange::Grant(Grant { privileges: vec![(privilege, Vec::new())], ..grant(access, class, named) })
}

/// What a statement says of all privileges. Whoever revokes takes what was granted on, unless RESTRICT forbids it.
fn grant(access: &Access, class: ObjectClass, named: QualifiedName) -> Grant {
    Grant {
        grant: access.grant,
        grant_option: access.grant_option,
        cascade: !access.grant && !access.restrict,
        grantor: access.grantor.as_ref().map(|name| role(name)),
        grantees: access.grantees.iter().map(|name| role(name)).collect(),
        privileges: Vec::new(),
        all_of_columns: Vec::new(),
        class,
        procedures: None,
        targets: GrantTargets::Named(vec![named]),
    }
}
