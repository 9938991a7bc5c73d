//! Roles, owners and privileges: CREATE ROLE and its kin, GRANT and REVOKE, OWNER TO.

use pg_query::protobuf::{
    self as pg, DefElem, DropBehavior, GrantTargetType, Node, ObjectType, RoleSpecType, RoleStmtType, node::Node as N,
};

use super::binder::Binder;
use super::names;
use super::utility::{is_true, text_of};
use crate::access::roles::DatabaseFacts;
use crate::access::{ObjectClass, Privileges};
use crate::ir::{
    AccessChange, Grant, GrantRoles, GrantTargets, LargeObjectAction, LargeObjectChange, RoleOptions, RoleSpec,
    SetVariable,
};
use crate::schema::QualifiedName;
use crate::{Condition, Error, Result};

impl Binder<'_> {
    /// Binds a statement about roles or privileges, with its completion tag; `None` for others.
    pub(super) fn access(&mut self, node: &N) -> Result<Option<(AccessChange, &'static str)>> {
        Ok(Some(match node {
            N::CreateRoleStmt(create) => (self.create_role(create)?, "CREATE ROLE"),
            N::AlterRoleStmt(alter) => (self.alter_role(alter)?, "ALTER ROLE"),
            N::AlterRoleSetStmt(alter) => {
                let role = alter.role.as_ref().map(role_spec);
                let database = Some(alter.database.clone()).filter(|name| !name.is_empty());
                (self.setting_of(role, database, alter.setstmt.as_ref())?, "ALTER ROLE")
            }
            N::AlterDatabaseSetStmt(alter) => {
                (self.setting_of(None, Some(alter.dbname.clone()), alter.setstmt.as_ref())?, "ALTER DATABASE")
            }
            N::AlterDatabaseStmt(alter) => {
                let facts = self.database_facts(&alter.options)?;
                (AccessChange::DatabaseFacts { database: alter.dbname.clone(), facts }, "ALTER DATABASE")
            }
            N::CommentStmt(comment) if comment.objtype() == ObjectType::ObjectDatabase => {
                let database = text_of(comment.object.as_deref());
                let text = Some(comment.comment.clone()).filter(|text| !text.is_empty());
                (AccessChange::DatabaseFacts { database, facts: vec![(DatabaseFacts::COMMENT, text)] }, "COMMENT")
            }
            N::DropRoleStmt(drop) => {
                (AccessChange::DropRoles { roles: role_specs(&drop.roles), if_exists: drop.missing_ok }, "DROP ROLE")
            }
            N::GrantRoleStmt(grant) => {
                (self.grant_roles(grant)?, if grant.is_grant { "GRANT ROLE" } else { "REVOKE ROLE" })
            }
            N::GrantStmt(grant) if grant.objtype() == ObjectType::ObjectLargeobject => {
                let objects = grant.objects.iter().map(large_object).collect::<Result<_>>()?;
                let tag = if grant.is_grant { "GRANT" } else { "REVOKE" };
                let action = LargeObjectAction::Grant(Box::new(self.grant(grant)?));
                (AccessChange::LargeObject(LargeObjectChange { objects, action }), tag)
            }
            N::GrantStmt(grant) => {
                (AccessChange::Grant(self.grant(grant)?), if grant.is_grant { "GRANT" } else { "REVOKE" })
            }
            N::AlterDefaultPrivilegesStmt(alter) => (self.default_privileges(alter)?, "ALTER DEFAULT PRIVILEGES"),
            N::ReassignOwnedStmt(reassign) => {
                let to = reassign.newrole.as_ref().map_or(RoleSpec::Current, role_spec);
                (AccessChange::ReassignOwned { roles: role_specs(&reassign.roles), to }, "REASSIGN OWNED")
            }
            N::DropOwnedStmt(drop) => {
                let cascade = drop.behavior() == DropBehavior::DropCascade;
                (AccessChange::DropOwned { roles: role_specs(&drop.roles), cascade }, "DROP OWNED")
            }
            N::RenameStmt(rename) if rename.rename_type() == ObjectType::ObjectRole => {
                let (role, to) = (rename.subname.clone(), rename.newname.clone());
                (AccessChange::RenameRole { role, to }, "ALTER ROLE")
            }
            N::CommentStmt(comment) if comment.objtype() == ObjectType::ObjectRole => {
                let role = text_of(comment.object.as_deref());
                let text = Some(comment.comment.clone()).filter(|text| !text.is_empty());
                (AccessChange::CommentRole { role, text }, "COMMENT")
            }
            N::CommentStmt(comment) if comment.objtype() == ObjectType::ObjectLargeobject => {
                let objects = comment.object.iter().map(|node| large_object(node)).collect::<Result<_>>()?;
                let text = Some(comment.comment.clone()).filter(|text| !text.is_empty());
                let action = LargeObjectAction::Comment(text);
                (AccessChange::LargeObject(LargeObjectChange { objects, action }), "COMMENT")
            }
            N::AlterOwnerStmt(alter) if alter.object_type() == ObjectType::ObjectLargeobject => {
                let objects = alter.object.iter().map(|node| large_object(node)).collect::<Result<_>>()?;
                let action = LargeObjectAction::Owner(alter.newowner.as_ref().map_or(RoleSpec::Current, role_spec));
                (AccessChange::LargeObject(LargeObjectChange { objects, action }), "ALTER LARGE OBJECT")
            }
            N::AlterOwnerStmt(alter) => match self.owner(alter)? {
                Some(found) => found,
                None => return Ok(None),
            },
            _ => return Ok(None),
        }))
    }

    /// ALTER ROLE … SET and ALTER DATABASE … SET.
    fn setting_of(
        &mut self,
        role: Option<RoleSpec>,
        database: Option<String>,
        set: Option<&pg::VariableSetStmt>,
    ) -> Result<AccessChange> {
        let Some(set) = set else { return Err(Error::internal("ALTER … SET of nothing")) };
        let current = set.kind() == pg::VariableSetKind::VarSetCurrent;
        if current {
            let set = SetVariable { name: Some(set.name.clone()), values: None, reset: false, local: false };
            return Ok(AccessChange::RoleSetting { role, database, set, current });
        }
        let crate::ir::Statement::Set(set) = self.set(set)? else {
            return Err(Error::unsupported("ALTER ROLE … SET of this setting"));
        };
        Ok(AccessChange::RoleSetting { role, database, set, current })
    }

    fn create_role(&mut self, create: &pg::CreateRoleStmt) -> Result<AccessChange> {
        let mut options = self.role_options(&create.options)?;
        if create.stmt_type() == RoleStmtType::RolestmtUser {
            options.login.get_or_insert(true);
        }
        Ok(AccessChange::CreateRole { name: create.role.clone(), options })
    }

    fn alter_role(&mut self, alter: &pg::AlterRoleStmt) -> Result<AccessChange> {
        let role = alter.role.as_ref().map_or(RoleSpec::Current, role_spec);
        let options = self.role_options(&alter.options)?;
        if options.members.is_empty() {
            return Ok(AccessChange::AlterRole { role, options });
        }
        // ALTER GROUP … ADD USER.
        let RoleSpec::Named(group) = role else { return Err(Error::unsupported("ALTER GROUP of this role")) };
        Ok(AccessChange::GrantRoles(GrantRoles {
            grant: alter.action > 0,
            roles: vec![group],
            members: options.members,
            admin: false,
            grantor: None,
        }))
    }

    fn role_options(&mut self, nodes: &[Node]) -> Result<RoleOptions> {
        let mut options = RoleOptions::default();
        let mut seen: Vec<&str> = Vec::new();
        for node in nodes {
            let Some(N::DefElem(option)) = &node.node else { continue };
            let name = option.defname.as_str();
            if seen.contains(&name) {
                let message = "conflicting or redundant options";
                return Err(self.error(Condition::SyntaxError, message, option.location));
            }
            seen.push(name);
            let flag = Some(is_true(option.arg.as_deref()));
            let roles = || match option.arg.as_deref().and_then(|node| node.node.as_ref()) {
                Some(N::List(list)) => role_specs(&list.items),
                _ => Vec::new(),
            };
            match name {
                "superuser" => options.superuser = flag,
                "inherit" => options.inherit = flag,
                "createrole" => options.create_role = flag,
                "createdb" => options.create_db = flag,
                "canlogin" => options.login = flag,
                "isreplication" => options.replication = flag,
                "bypassrls" => options.bypass_rls = flag,
                "connectionlimit" => options.connection_limit = Some(self.connection_limit(option)?),
                "password" => options.password = Some(option.arg.as_deref().map(|node| text_of(Some(node)))),
                "validUntil" => options.valid_until = Some(text_of(option.arg.as_deref())),
                "addroleto" => options.in_roles = roles(),
                "rolemembers" => options.members = roles(),
                "adminmembers" => options.admins = roles(),
                "sysid" => self.remark("SYSID can no longer be specified".to_owned()),
                other => return Err(self.unsupported(format!("the role option {other}"), option.location)),
            }
        }
        Ok(options)
    }

    fn connection_limit(&self, option: &DefElem) -> Result<i32> {
        let text = text_of(option.arg.as_deref());
        let limit = text.parse().ok().filter(|limit| *limit >= -1);
        limit.ok_or_else(|| Error::new(Condition::InvalidParameterValue, format!("invalid connection limit: {text}")))
    }

    fn grant_roles(&mut self, grant: &pg::GrantRoleStmt) -> Result<AccessChange> {
        let mut roles = Vec::with_capacity(grant.granted_roles.len());
        for node in &grant.granted_roles {
            let Some(N::AccessPriv(role)) = &node.node else { continue };
            if role.priv_name.is_empty() || !role.cols.is_empty() {
                let message = "column names cannot be included in GRANT/REVOKE ROLE";
                return Err(Error::new(Condition::InvalidGrantOperation, message));
            }
            roles.push(role.priv_name.clone());
        }
        let mut admin = false;
        for node in &grant.opt {
            let Some(N::DefElem(option)) = &node.node else { continue };
            if option.defname != "admin" {
                let words = format!("the {} option of a membership", option.defname.to_uppercase());
                return Err(self.unsupported(words, option.location));
            }
            admin = !grant.is_grant || option.arg.is_none() || is_true(option.arg.as_deref());
        }
        Ok(AccessChange::GrantRoles(GrantRoles {
            grant: grant.is_grant,
            roles,
            members: role_specs(&grant.grantee_roles),
            admin,
            grantor: grant.grantor.as_ref().map(role_spec),
        }))
    }

    fn grant(&mut self, grant: &pg::GrantStmt) -> Result<Grant> {
        let class = self.grant_class(grant.objtype())?;
        let mut privileges = Vec::with_capacity(grant.privileges.len());
        let mut all_of_columns = Vec::new();
        for node in &grant.privileges {
            let Some(N::AccessPriv(privilege)) = &node.node else { continue };
            let columns: Vec<String> = names::strings(&privilege.cols).into_iter().map(str::to_owned).collect();
            if privilege.priv_name.is_empty() {
                all_of_columns.extend(columns);
                continue;
            }
            let Some(one) = Privileges::of_word(&privilege.priv_name.to_uppercase()) else {
                let message = format!("unrecognized privilege type \"{}\"", privilege.priv_name);
                return Err(Error::new(Condition::SyntaxError, message));
            };
            privileges.push((one, columns));
        }
        let targets = match grant.targtype() {
            GrantTargetType::AclTargetAllInSchema => {
                let schemas = names::strings(&grant.objects).into_iter().map(str::to_owned).collect();
                GrantTargets::AllIn(schemas)
            }
            GrantTargetType::AclTargetDefaults => GrantTargets::Defaults,
            _ if class == ObjectClass::LargeObject => GrantTargets::Defaults,
            _ if class == ObjectClass::Routine => GrantTargets::Named(self.granted_functions(grant)?),
            _ if class == ObjectClass::Type => GrantTargets::Named(self.granted_types(grant)?),
            _ => GrantTargets::Named(self.granted_names(&grant.objects)?),
        };
        Ok(Grant {
            grant: grant.is_grant,
            grant_option: grant.grant_option,
            cascade: grant.behavior() == DropBehavior::DropCascade,
            grantor: grant.grantor.as_ref().map(role_spec),
            grantees: role_specs(&grant.grantees),
            privileges,
            all_of_columns,
            class,
            procedures: match grant.objtype() {
                ObjectType::ObjectFunction => Some(false),
                ObjectType::ObjectProcedure => Some(true),
                _ => None,
            },
            targets,
        })
    }

    /// Functions by their signatures.
    fn granted_functions(&mut self, grant: &pg::GrantStmt) -> Result<Vec<QualifiedName>> {
        let mut found = Vec::with_capacity(grant.objects.len());
        for node in &grant.objects {
            let function = self.named_function(node, grant.objtype(), false).map_err(|missing| {
                let own = matches!(&node.node, Some(N::ObjectWithArgs(named))
                    if names::strings(&named.objname).last().is_some_and(|n| !rowferry_facts::Function::named(n).is_empty()));
                if own { self.unsupported("GRANT ON FUNCTION of PostgreSQL's own", -1) } else { missing }
            })?;
            let function = function.ok_or_else(|| Error::internal("a function that is missing was found"))?;
            found.push(QualifiedName::new(function.namespace.clone(), function.signature()));
        }
        Ok(found)
    }

    /// Types of users; an array has the privileges of its members' type.
    fn granted_types(&self, grant: &pg::GrantStmt) -> Result<Vec<QualifiedName>> {
        let mut found = Vec::with_capacity(grant.objects.len());
        for node in &grant.objects {
            let name = match &node.node {
                Some(N::List(list)) => super::ddl::user_type::name_of_parts(&list.items),
                Some(N::TypeName(name)) => super::ddl::user_type::name_of_parts(&name.names),
                _ => return Err(self.unsupported("GRANT on this object", -1)),
            };
            let Some(ty) = self.schema.user_type(&name) else {
                let array = |ty: &std::sync::Arc<crate::user_type::UserType>| {
                    let there =
                        name.schema.as_ref().map_or(self.schema.is_in_path(&ty.namespace), |s| *s == ty.namespace);
                    there && ty.array_name() == name.name
                };
                let own = name.schema.as_deref().is_none_or(|schema| schema == "pg_catalog");
                let fact = rowferry_facts::Type::named(&name.name).filter(|_| own);
                if self.schema.user_types().iter().any(array) || fact.is_some_and(|fact| fact.category == 'A') {
                    return Err(Error::new(Condition::InvalidGrantOperation, "cannot set privileges of array types")
                        .hint("Set the privileges of the element type instead."));
                }
                if fact.is_some() {
                    return Err(self.unsupported("GRANT ON TYPE of PostgreSQL's own", -1));
                }
                return Err(Error::new(Condition::UndefinedObject, format!("type \"{name}\" does not exist")));
            };
            if grant.objtype() == ObjectType::ObjectDomain && ty.domain().is_none() {
                let message = format!("\"{}\" is not a domain", ty.name);
                return Err(Error::new(Condition::WrongObjectType, message));
            }
            found.push(QualifiedName::new(ty.namespace.clone(), ty.name.clone()));
        }
        Ok(found)
    }

    fn grant_class(&self, kind: ObjectType) -> Result<ObjectClass> {
        Ok(match kind {
            ObjectType::ObjectTable => ObjectClass::Relation,
            ObjectType::ObjectSequence => ObjectClass::Sequence,
            ObjectType::ObjectDatabase => ObjectClass::Database,
            ObjectType::ObjectSchema => ObjectClass::Schema,
            ObjectType::ObjectLargeobject => ObjectClass::LargeObject,
            ObjectType::ObjectFunction | ObjectType::ObjectProcedure | ObjectType::ObjectRoutine => {
                ObjectClass::Routine
            }
            ObjectType::ObjectType | ObjectType::ObjectDomain => ObjectClass::Type,
            other => {
                let words = super::refused::object(other);
                return Err(self.unsupported(format!("GRANT ON {words}"), -1));
            }
        })
    }

    fn granted_names(&self, nodes: &[Node]) -> Result<Vec<QualifiedName>> {
        let mut found = Vec::with_capacity(nodes.len());
        for node in nodes {
            found.push(match &node.node {
                Some(N::RangeVar(range)) => {
                    if !range.catalogname.is_empty() && range.catalogname != self.context.database {
                        return Err(self.unsupported("a reference to another database", range.location));
                    }
                    let schema = Some(range.schemaname.clone()).filter(|schema| !schema.is_empty());
                    QualifiedName { schema, name: range.relname.clone() }
                }
                Some(N::String(name)) => QualifiedName::bare(name.sval.clone()),
                _ => return Err(self.unsupported("GRANT on this object", -1)),
            });
        }
        Ok(found)
    }

    fn default_privileges(&mut self, alter: &pg::AlterDefaultPrivilegesStmt) -> Result<AccessChange> {
        let Some(action) = &alter.action else { return Err(Error::internal("default privileges without any")) };
        let (mut roles, mut schemas) = (Vec::new(), Vec::new());
        for node in &alter.options {
            let Some(N::DefElem(option)) = &node.node else { continue };
            let Some(N::List(list)) = option.arg.as_deref().and_then(|node| node.node.as_ref()) else { continue };
            match option.defname.as_str() {
                "roles" => roles = role_specs(&list.items),
                _ => schemas = names::strings(&list.items).into_iter().map(str::to_owned).collect(),
            }
        }
        let grant = self.grant(action)?;
        Ok(AccessChange::DefaultPrivileges { roles, schemas, grant })
    }

    /// ALTER SCHEMA, DATABASE, FUNCTION, TYPE, COLLATION and TEXT SEARCH … OWNER TO; `None` for other objects.
    fn owner(&mut self, alter: &pg::AlterOwnerStmt) -> Result<Option<(AccessChange, &'static str)>> {
        let to = alter.newowner.as_ref().map_or(RoleSpec::Current, role_spec);
        if super::ddl::is_function(alter.object_type()) {
            let (name, tag) = self.owned_function(alter)?;
            return Ok(Some((AccessChange::Owner { class: ObjectClass::Routine, name, to }, tag)));
        }
        if super::ddl::user_type::is_type(alter.object_type()) {
            let parts = match alter.object.as_deref().and_then(|node| node.node.as_ref()) {
                Some(N::List(list)) => list.items.as_slice(),
                Some(N::TypeName(name)) => name.names.as_slice(),
                _ => &[],
            };
            let name = super::ddl::user_type::name_of_parts(parts);
            let domain = alter.object_type() == ObjectType::ObjectDomain;
            let tag = if domain { "ALTER DOMAIN" } else { "ALTER TYPE" };
            return Ok(Some((AccessChange::Owner { class: ObjectClass::Type, name, to }, tag)));
        }
        if let Some(kind) = super::ddl::text_search::kind_of(alter.object_type()) {
            let object = self.owned_search_object(alter, kind)?;
            let name = QualifiedName::new(object.namespace.clone(), object.name.clone());
            let change = AccessChange::OwnerOf { oid: object.oid, kind: kind.words(), name, to };
            return Ok(Some((change, kind.tag(crate::text_search::Verb::Alter))));
        }
        if alter.object_type() == ObjectType::ObjectStatisticExt {
            let object = self.owned_statistics(alter)?;
            let name = QualifiedName::new(object.namespace.clone(), object.name.clone());
            let change = AccessChange::OwnerOf { oid: object.oid, kind: "statistics object", name, to };
            return Ok(Some((change, "ALTER STATISTICS")));
        }
        if alter.object_type() == ObjectType::ObjectOperator {
            let operator = self.owned_operator(alter)?;
            let name = QualifiedName::new(operator.namespace.clone(), operator.name.clone());
            let change = AccessChange::OwnerOf { oid: operator.oid, kind: "operator", name, to };
            return Ok(Some((change, "ALTER OPERATOR")));
        }
        if alter.object_type() == ObjectType::ObjectCollation {
            let collation = self.owned_collation(alter)?;
            let name = QualifiedName::new(collation.namespace.clone(), collation.name.clone());
            let change = AccessChange::OwnerOf { oid: collation.oid, kind: "collation", name, to };
            return Ok(Some((change, "ALTER COLLATION")));
        }
        let (class, tag) = match alter.object_type() {
            ObjectType::ObjectSchema => (ObjectClass::Schema, "ALTER SCHEMA"),
            ObjectType::ObjectDatabase => (ObjectClass::Database, "ALTER DATABASE"),
            _ => return Ok(None),
        };
        let name = QualifiedName::bare(text_of(alter.object.as_deref()));
        Ok(Some((AccessChange::Owner { class, name, to }, tag)))
    }
}

/// The number by which a statement names a large object.
fn large_object(node: &Node) -> Result<u32> {
    let text = text_of(Some(node));
    text.parse().map_err(|_| {
        let message = format!("value \"{text}\" is out of range for type oid");
        Error::new(Condition::NumericValueOutOfRange, message)
    })
}

/// A role as it is named.
pub(super) fn role_spec(spec: &pg::RoleSpec) -> RoleSpec {
    match spec.roletype() {
        RoleSpecType::RolespecPublic => RoleSpec::Public,
        RoleSpecType::RolespecCurrentRole | RoleSpecType::RolespecCurrentUser => RoleSpec::Current,
        RoleSpecType::RolespecSessionUser => RoleSpec::Session,
        RoleSpecType::RolespecCstring | RoleSpecType::Undefined => RoleSpec::Named(spec.rolename.clone()),
    }
}

fn role_specs(nodes: &[Node]) -> Vec<RoleSpec> {
    let spec = |node: &Node| match &node.node {
        Some(N::RoleSpec(spec)) => Some(role_spec(spec)),
        _ => None,
    };
    nodes.iter().filter_map(spec).collect()
}
