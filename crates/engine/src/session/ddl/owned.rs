//! What belongs to roles: why a role cannot be dropped, REASSIGN OWNED, DROP OWNED.

use std::sync::Arc;

use rowferry_dialect::access::{Acl, BOOTSTRAP, DATABASE, ObjectClass, Rights, relation_words};
use rowferry_dialect::ir::{CollationChange, OperatorChange, RoleSpec};
use rowferry_dialect::postgres::quote_ident;
use rowferry_dialect::schema::{QualifiedName, Relation};
use rowferry_dialect::{Condition, Error, Schema as _};

use super::function::{database_of, described_function};
use super::operator::shown_operator;
use super::owners::Object;
use super::roles::refused;
use super::{Changer, Done};
use crate::schema::SessionSchema;

impl Changer<'_> {
    /// Every object that has an owner, those of the catalogs left out, by object id.
    pub(super) fn all_objects(&self, schema: &SessionSchema) -> Vec<Object> {
        let mut objects = Vec::new();
        let mut add = |class, oid, database, kind, name: &str, namespace| {
            objects.push(Object { class, oid, database, kind, name: name.to_owned(), namespace });
        };
        for relation in schema.user_relations() {
            let kind = relation_words(relation);
            let namespace = schema.namespace_oid(&relation.namespace);
            add(ObjectClass::Relation, relation.oid, relation.physical.database, kind, &relation.name, namespace);
        }
        for details in schema.sequences() {
            let sequence = &details.sequence;
            let namespace = schema.namespace_oid(&sequence.namespace);
            add(ObjectClass::Sequence, sequence.oid, details.database, "sequence", &sequence.name, namespace);
        }
        for (oid, name) in crate::catalog::names::NAMESPACES {
            add(ObjectClass::Schema, *oid, "main", "schema", name, 0);
        }
        for namespace in schema.main.namespaces.iter() {
            add(ObjectClass::Schema, namespace.oid, "main", "schema", &namespace.name, 0);
        }
        add(ObjectClass::Database, DATABASE, "main", "database", self.session.database.name(), 0);
        for ty in schema.main.user_types.iter().filter(|ty| ty.kept_as() == ty.oid && !ty.is_row_type()) {
            let namespace = schema.namespace_oid(&ty.namespace);
            add(ObjectClass::Type, ty.oid, "main", "type", &ty.name, namespace);
        }
        // These have owners and no privileges.
        for collation in schema.main.collations.iter() {
            let namespace = schema.namespace_oid(&collation.namespace);
            add(ObjectClass::Type, collation.oid, "main", "collation", &collation.name, namespace);
        }
        for operator in schema.main.operators.iter() {
            let namespace = schema.namespace_oid(&operator.namespace);
            add(ObjectClass::Type, operator.oid, "main", "operator", &operator.name, namespace);
        }
        for object in schema.main.search_objects.iter() {
            let namespace = schema.namespace_oid(&object.namespace);
            add(ObjectClass::Type, object.oid, "main", object.kind().words(), &object.name, namespace);
        }
        for object in schema.main.statistics.iter() {
            let namespace = schema.namespace_oid(&object.namespace);
            add(ObjectClass::Type, object.oid, "main", "statistics object", &object.name, namespace);
        }
        for routine in schema.main.routines.iter() {
            add(ObjectClass::Routine, routine.oid, "main", "function", &routine.signature, 0);
        }
        for function in schema.stored_functions() {
            let namespace = schema.namespace_oid(&function.namespace);
            add(
                ObjectClass::Routine,
                function.oid,
                database_of(function),
                "function",
                &function.signature(),
                namespace,
            );
        }
        objects.sort_by_key(|object| object.oid);
        objects
    }

    /// An object as messages about dependencies call it: with its schema where its name alone does not find it.
    fn described(schema: &SessionSchema, object: &Object) -> String {
        if let Some(function) = schema.function_by_oid(object.oid) {
            return described_function(schema, &function);
        }
        if let Some(operator) = schema.main.operators.iter().find(|operator| operator.oid == object.oid) {
            return shown_operator(schema, operator);
        }
        if let Some(ty) = schema.main.user_type_by_oid(object.oid) {
            return format!("type {}", ty.shown());
        }
        let visible = object.namespace == 0
            || crate::catalog::names::class_oid(schema, &QualifiedName::bare(object.name.clone())) == Some(object.oid);
        // A routine in SPL is called by its signature.
        let name = if object.class == ObjectClass::Routine { object.name.clone() } else { quote_ident(&object.name) };
        if visible {
            return format!("{} {name}", object.kind);
        }
        let namespace = crate::catalog::names::namespace_name(schema, object.namespace).unwrap_or_default();
        format!("{} {}.{name}", object.kind, quote_ident(&namespace))
    }

    /// Refuses to drop a role that something belongs to or that has privileges.
    pub(super) fn check_unused(&self, role: u32, name: &str) -> Done {
        let schema = self.schema();
        let rights = schema.rights();
        let mut lines = Vec::new();
        let mentions = |list: &Acl, owner: u32| owner != role && list.roles().any(|known| known == role);
        for object in self.all_objects(&schema) {
            let owner = rights.owner(object.oid);
            let shown = || Self::described(&schema, &object);
            if owner == role {
                lines.push(format!("owner of {}", shown()));
            }
            if rights.stored_list(object.oid).is_some_and(|list| mentions(list, owner)) {
                lines.push(format!("privileges for {}", shown()));
            }
            let Some(relation) = schema.relation_by_oid(object.oid) else { continue };
            for column in &relation.columns {
                if rights.column_list(object.oid, &column.name).is_some_and(|list| mentions(list, owner)) {
                    lines.push(format!("privileges for column {} of {}", column.name, shown()));
                }
            }
        }
        for (table, policy) in schema.policies().filter(|(_, policy)| policy.roles.contains(&role)) {
            lines.push(format!("target of policy {} on {}", policy.name, super::describe(table)));
        }
        lines.extend(self.default_lines(&schema, &rights, role));
        lines.extend(self.large_object_lines(role)?);
        if lines.is_empty() {
            return Ok(());
        }
        let message = format!("role \"{name}\" cannot be dropped because some objects depend on it");
        Err(Error::new(Condition::DependentObjectsStillExist, message).detail(lines.join("\n")).into())
    }

    fn default_lines(&self, schema: &SessionSchema, rights: &Rights, role: u32) -> Vec<String> {
        let mut lines = Vec::new();
        for default in &rights.main.defaults {
            let what = match default.class {
                ObjectClass::Sequence => "sequences",
                ObjectClass::Routine => "functions",
                ObjectClass::Type => "types",
                ObjectClass::Schema => "schemas",
                _ => "relations",
            };
            let inside = crate::catalog::names::namespace_name(schema, default.namespace);
            let inside = inside.map(|name| format!(" in schema {name}")).unwrap_or_default();
            let of = self.role_name(default.role);
            let shown = format!("default privileges on new {what} belonging to role {of}{inside}");
            if default.role == role {
                lines.push(format!("owner of {shown}"));
            } else if default.acl.roles().any(|known| known == role) {
                lines.push(format!("privileges for {shown}"));
            }
        }
        lines
    }

    /// The roles of REASSIGN and DROP OWNED, whose objects the user must have the right to handle.
    fn owners(&self, specs: &[RoleSpec], verb: &str, denied: &str) -> Done<Vec<u32>> {
        let roles = specs.iter().map(|role| self.role(role)).collect::<Done<Vec<u32>>>()?;
        let rights = self.rights();
        if !roles.iter().all(|role| rights.roles.has_privileges_of(rights.role(), *role)) {
            return Err(refused(denied).into());
        }
        if roles.contains(&BOOTSTRAP) {
            let message = format!(
                "cannot {verb} objects owned by role {} because they are required by the database system",
                self.role_name(BOOTSTRAP)
            );
            return Err(Error::new(Condition::DependentObjectsStillExist, message).into());
        }
        Ok(roles)
    }

    pub(super) fn reassign_owned(&self, roles: &[RoleSpec], to: &RoleSpec) -> Done {
        let denied = "permission denied to reassign objects";
        let roles = self.owners(roles, "reassign ownership of", denied)?;
        let to = self.role(to)?;
        let rights = self.rights();
        if !rights.roles.has_privileges_of(rights.role(), to) {
            return Err(refused(denied).into());
        }
        let schema = self.schema();
        for object in self.all_objects(&schema) {
            if roles.contains(&rights.owner(object.oid)) {
                self.give_away(&object, to)?;
                self.settle()?;
            }
        }
        roles.iter().try_for_each(|role| self.reassign_large_objects(*role, to))
    }

    pub(super) fn drop_owned(&self, roles: &[RoleSpec], cascade: bool) -> Done {
        let roles = self.owners(roles, "drop", "permission denied to drop objects")?;
        let schema = self.schema();
        let rights = schema.rights();
        for object in self.all_objects(&schema) {
            self.revoke_from(&rights, &object, &roles)?;
        }
        self.take_from_policies(&roles)?;
        roles.iter().try_for_each(|role| self.drop_large_objects_of(*role))?;
        for role in &roles {
            self.store.forget_default_lists_of(*role)?;
        }
        for default in rights.main.defaults.iter().filter(|default| !roles.contains(&default.role)) {
            self.store.change_default_list(default.oid, &without(&default.acl, &roles, default.role))?;
        }
        self.touch_access("main");
        self.settle()?;
        let owned = |oid: u32| roles.contains(&rights.owner(oid));
        let relations: Vec<Arc<Relation>> =
            schema.user_relations().filter(|relation| owned(relation.oid)).cloned().collect();
        let (views, tables): (Vec<_>, Vec<_>) = relations.into_iter().partition(|relation| !relation.keeps_rows());
        let all: Vec<_> = tables.into_iter().chain(views).collect();
        if !all.is_empty() {
            self.drop_relations(&all, cascade)?;
            self.settle()?;
        }
        for details in schema.sequences().filter(|details| owned(details.sequence.oid)) {
            if self.schema().sequence_by_oid(details.sequence.oid).is_some() {
                self.forget(details.database, details.sequence.oid)?;
            }
        }
        self.settle()?;
        self.drop_rest_of(&schema, &owned, cascade)?;
        let namespaces: Vec<_> = schema.main.namespaces.iter().filter(|namespace| owned(namespace.oid)).collect();
        for namespace in namespaces {
            self.drop_schemas(std::slice::from_ref(&namespace.name), cascade)?;
            self.settle()?;
        }
        Ok(())
    }

    /// Drops functions, types, collations, and objects of text search and statistics.
    fn drop_rest_of(&self, schema: &SessionSchema, owned: &dyn Fn(u32) -> bool, cascade: bool) -> Done {
        let operators: Vec<_> = schema.main.operators.iter().filter(|operator| owned(operator.oid)).cloned().collect();
        if !operators.is_empty() {
            self.change_operator(&OperatorChange::Drop { operators, cascade })?;
            self.settle()?;
        }
        let functions: Vec<u32> = schema.main.functions.iter().map(|f| f.oid).filter(|oid| owned(*oid)).collect();
        self.drop_functions(&functions, cascade)?;
        self.settle()?;
        let types = schema.main.user_types.iter().filter(|ty| owned(ty.oid) && !ty.is_row_type());
        self.drop_user_types(&types.cloned().collect::<Vec<_>>(), cascade)?;
        self.settle()?;
        let collations: Vec<_> = schema.main.collations.iter().filter(|c| owned(c.oid)).cloned().collect();
        if !collations.is_empty() {
            self.change_collation(&CollationChange::Drop { collations, cascade })?;
            self.settle()?;
        }
        for object in schema.main.search_objects.iter().filter(|object| owned(object.oid)) {
            self.drop_search_object(object, cascade)?;
            self.settle()?;
        }
        for object in schema.main.statistics.iter().filter(|object| owned(object.oid)) {
            // It may have gone with its table.
            if self.schema().main.statistics.iter().any(|known| known.oid == object.oid) {
                self.forget("main", object.oid)?;
            }
        }
        self.settle()
    }

    /// Takes from roles what they have been granted on an object.
    pub(super) fn revoke_from(&self, rights: &Rights, object: &Object, roles: &[u32]) -> Done {
        let owner = rights.owner(object.oid);
        let concerned = |list: &Acl| list.0.iter().any(|item| roles.contains(&item.grantee) && item.grantee != owner);
        if let Some(list) = rights.stored_list(object.oid).filter(|list| concerned(list)) {
            self.write_list(object.database, object.oid, "", Some(&without(list, roles, owner)))?;
        }
        let grants = if object.database == "temp" { &rights.temp } else { &rights.main };
        for ((oid, column), list) in &grants.columns {
            if *oid == object.oid && concerned(list) {
                let left = without(list, roles, owner);
                self.write_list(object.database, *oid, column, Some(&left).filter(|left| !left.0.is_empty()))?;
            }
        }
        Ok(())
    }
}

/// A list without what some roles have been granted, and without what they have granted on.
pub(super) fn without(list: &Acl, roles: &[u32], owner: u32) -> Acl {
    let gone = |role: u32| role != owner && roles.contains(&role);
    Acl(list.0.iter().filter(|item| !gone(item.grantee) && !gone(item.grantor)).copied().collect())
}
