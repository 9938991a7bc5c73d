//! Owners, and the rows that keep them and what is granted.

use rowferry_dialect::access::{Acl, BOOTSTRAP, DATABASE, ObjectClass, Privileges, Rights, denied, not_owner};
use rowferry_dialect::ir::{AccessChange, RoleSpec};
use rowferry_dialect::schema::{QualifiedName, Relation};
use rowferry_dialect::{Condition, Error, Schema as _};

use super::{Changer, Done};
use crate::backend::PrivilegeRow;

/// An object that has an owner and privileges.
#[derive(Clone, Debug)]
pub(super) struct Object {
    /// What it is.
    pub class: ObjectClass,
    /// Its object id.
    pub oid: u32,
    /// Where it is kept.
    pub database: &'static str,
    /// What messages call its kind.
    pub kind: &'static str,
    /// Its name.
    pub name: String,
    /// Its schema's object id; 0 where it is in none.
    pub namespace: u32,
}

impl Changer<'_> {
    /// Runs a change of roles, owners or privileges.
    pub(super) fn change_access(&self, change: &AccessChange) -> Done {
        self.store.keep_access("main")?;
        match change {
            AccessChange::CreateRole { name, options } => self.create_role(name, options),
            AccessChange::AlterRole { role, options } => self.alter_role(role, options),
            AccessChange::RoleSetting { role, database, set, current } => {
                self.role_setting(role.as_ref(), database.as_deref(), set, *current)
            }
            AccessChange::DatabaseFacts { database, facts } => self.note_facts(database, facts),
            AccessChange::RenameRole { role, to } => self.rename_role(role, to),
            AccessChange::CommentRole { role, text } => self.comment_role(role, text.as_deref()),
            AccessChange::DropRoles { roles, if_exists } => self.drop_roles(roles, *if_exists),
            AccessChange::GrantRoles(grant) => self.grant_roles(grant),
            AccessChange::Grant(grant) => self.grant(grant),
            AccessChange::LargeObject(change) => self.change_large_objects(change),
            AccessChange::DefaultPrivileges { roles, schemas, grant } => self.default_privileges(roles, schemas, grant),
            AccessChange::Owner { class, name, to } => self.change_owner(*class, name, to),
            AccessChange::OwnerOf { oid, kind, name, to } => {
                let namespace = self.schema().namespace_oid(name.schema.as_deref().unwrap_or_default());
                let (oid, name) = (*oid, name.name.clone());
                let class = ObjectClass::Type;
                self.change_owner_of(Object { class, oid, database: "main", kind, name, namespace }, to)
            }
            AccessChange::Account(change) => self.change_accounts(change),
            AccessChange::ReassignOwned { roles, to } => self.reassign_owned(roles, to),
            AccessChange::DropOwned { roles, cascade } => self.drop_owned(roles, *cascade),
        }
    }

    /// Rights as the steps until now have left them.
    pub(super) fn rights(&self) -> Rights {
        self.schema().rights()
    }

    /// The role that a statement names.
    pub(super) fn role(&self, spec: &RoleSpec) -> Done<u32> {
        let identity = self.schema().identity;
        match spec {
            RoleSpec::Public => Err(no_role("public").into()),
            RoleSpec::Current => Ok(identity.current),
            RoleSpec::Session => Ok(identity.session),
            RoleSpec::Named(name) => self.role_named(name),
        }
    }

    /// The role of a name.
    pub(super) fn role_named(&self, name: &str) -> Done<u32> {
        self.schema().role_oid(name).ok_or_else(|| no_role(name).into())
    }

    pub(super) fn role_name(&self, oid: u32) -> String {
        self.schema().role_name(oid).unwrap_or_else(|| oid.to_string())
    }

    /// An object has come into being: whose it is, and what it is born with.
    pub(super) fn give_birth(&self, database: &str, kind: &str, namespace: &str, oid: u32) -> Done {
        let class = match kind {
            "table" | "view" | "materialized view" => ObjectClass::Relation,
            "sequence" => ObjectClass::Sequence,
            "schema" => ObjectClass::Schema,
            "routine" | "function" | "informix aggregate" => ObjectClass::Routine,
            "row type" | "distinct type" | "type" => ObjectClass::Type,
            // These have owners and no privileges.
            "collation"
            | "operator"
            | "search configuration"
            | "search dictionary"
            | "statistics"
            | "informix cast" => {
                return match self.schema().identity.current {
                    BOOTSTRAP => Ok(()),
                    owner => self.write_owner(database, oid, owner),
                };
            }
            _ => return Ok(()),
        };
        let schema = self.schema();
        let owner = schema.identity.current;
        if owner != BOOTSTRAP {
            self.write_owner(database, oid, owner)?;
        }
        if schema.main.grants.defaults.is_empty() {
            return Ok(());
        }
        let namespace = if class == ObjectClass::Schema { 0 } else { schema.namespace_oid(namespace) };
        match schema.main.grants.for_new(class, owner, namespace) {
            Some(list) => self.write_list(database, oid, "", Some(&list)),
            None => Ok(()),
        }
    }

    fn write_owner(&self, database: &str, oid: u32, owner: u32) -> Done {
        self.store.write_owner(database, oid, owner)?;
        self.touch_access(database);
        Ok(())
    }

    /// Keeps what is granted on an object or column; `None` is what it was born with.
    pub(super) fn write_list(&self, database: &str, oid: u32, column: &str, list: Option<&Acl>) -> Done {
        self.store.write_list(database, oid, column, list)?;
        self.touch_access(database);
        Ok(())
    }

    /// An object is gone, and its privileges with it.
    pub(super) fn forget_privileges(&self, database: &str, oid: u32) -> Done {
        if self.store.forget_privileges(database, oid)? {
            self.touch_access(database);
        }
        Ok(())
    }

    /// A schema is gone, and the privileges that objects in it would have been born with.
    pub(super) fn forget_defaults(&self, namespace: u32) -> Done {
        if self.store.forget_default_lists_in(namespace)? {
            self.touch_access("main");
        }
        Ok(())
    }

    /// A column has another name, or (`None`) is gone.
    pub(super) fn move_column_privileges(&self, relation: &Relation, from: &str, to: Option<&str>) -> Done {
        let database = relation.physical.database;
        if self.store.move_column_privileges(database, relation.oid, from, to)? {
            self.touch_access(database);
        }
        Ok(())
    }

    /// What is kept of an object's owner and privileges.
    pub(super) fn privilege_rows(&self, database: &str, oid: u32) -> Done<Vec<PrivilegeRow>> {
        self.store.privilege_rows(database, oid)
    }

    /// Gives an object back what was kept of it.
    pub(super) fn put_privilege_rows(&self, database: &str, rows: &[PrivilegeRow]) -> Done {
        for row in rows {
            self.store.put_privilege_row(database, row)?;
            self.touch_access(database);
        }
        Ok(())
    }

    /// Gives an object to another role, with what the old owner has granted.
    pub(super) fn give_to(&self, database: &'static str, oid: u32, owner: u32) -> Done {
        let rights = self.rights();
        let old = rights.owner(oid);
        if let Some(list) = rights.stored_list(oid) {
            self.write_list(database, oid, "", Some(&list.with_owner(old, owner)))?;
        }
        let grants = if database == "temp" { &rights.temp } else { &rights.main };
        for ((_, column), list) in grants.columns.iter().filter(|((of, _), _)| *of == oid) {
            self.write_list(database, oid, column, Some(&list.with_owner(old, owner)))?;
        }
        self.write_owner(database, oid, owner)
    }

    /// ALTER … OWNER TO.
    fn change_owner(&self, class: ObjectClass, name: &QualifiedName, to: &RoleSpec) -> Done {
        let object = match class {
            ObjectClass::Relation => match self.owned_relation(name)? {
                Some(object) => object,
                None => return Ok(()),
            },
            class => self.object(class, name)?,
        };
        self.change_owner_of(object, to)
    }

    fn change_owner_of(&self, object: Object, to: &RoleSpec) -> Done {
        let to = self.role(to)?;
        let rights = self.rights();
        if rights.owner(object.oid) == to {
            return Ok(());
        }
        if !rights.is_superuser() {
            if !rights.owns(object.oid) {
                let shown = (object.kind == "type")
                    .then(|| rowferry_dialect::postgres::regtype::shown_in(&self.schema(), object.oid, None));
                return Err(not_owner(object.kind, &shown.flatten().unwrap_or(object.name)).into());
            }
            self.check_member(&rights, to)?;
            let inside = |class, oid| {
                rights.roles.is_superuser(to) || { rights.held_by(to, class, oid).0.contains(Privileges::CREATE) }
            };
            if object.namespace != 0 && object.database == "main" && !inside(ObjectClass::Schema, object.namespace) {
                let schema = crate::catalog::names::namespace_name(&self.schema(), object.namespace);
                return Err(denied("schema", &schema.unwrap_or_default()).into());
            }
            if object.class == ObjectClass::Schema && !rights.may(ObjectClass::Database, DATABASE, Privileges::CREATE) {
                return Err(denied("database", self.session.database.name()).into());
            }
            if object.class == ObjectClass::Database && !rights.roles.can(rights.role(), |role| role.create_db) {
                return Err(Error::new(
                    Condition::InsufficientPrivilege,
                    "permission denied to change owner of database",
                )
                .into());
            }
        }
        self.give_away(&object, to)
    }

    /// Gives an object with the sequences of its columns to another role.
    pub(super) fn give_away(&self, object: &Object, to: u32) -> Done {
        let schema = self.schema();
        if let Some(relation) = schema.relation_by_oid(object.oid).filter(|_| object.class == ObjectClass::Relation) {
            self.entry(&relation)?;
        }
        self.give_to(object.database, object.oid, to)?;
        for details in schema.sequences_of(object.oid) {
            self.give_to(details.database, details.sequence.oid, to)?;
        }
        Ok(())
    }

    /// A role gives something to one that it is a member of.
    pub(super) fn check_member(&self, rights: &Rights, role: u32) -> Done {
        if rights.roles.is_member(rights.role(), role) {
            return Ok(());
        }
        let message = format!("must be member of role \"{}\"", self.role_name(role));
        Err(Error::new(Condition::InsufficientPrivilege, message).into())
    }

    /// The relation or sequence of ALTER … OWNER TO; `None` for an index, whose owner is its table's.
    fn owned_relation(&self, name: &QualifiedName) -> Done<Option<Object>> {
        let schema = self.schema();
        if let Some(details) = schema.sequence_details(name) {
            if let Some(table) = details.owner.and_then(|(table, _)| schema.relation_by_oid(table)) {
                let sequence = &details.sequence.name;
                let message = format!("cannot change owner of sequence \"{sequence}\"");
                return Err(Error::new(Condition::FeatureNotSupported, message)
                    .detail(format!("Sequence \"{sequence}\" is linked to table \"{}\".", table.name))
                    .into());
            }
        } else if let Some((relation, at)) = schema.index(name).filter(|_| schema.relation(name).is_none()) {
            let message = format!("cannot change owner of index \"{}\"", relation.indexes[at].name);
            let hint = "Change the ownership of the index's table, instead.";
            self.session.state.notices.lock().push(Error::new(Condition::Warning, message).hint(hint));
            return Ok(None);
        }
        self.object(ObjectClass::Relation, name).map(Some)
    }
}

pub(super) fn no_role(name: &str) -> Error {
    Error::new(Condition::UndefinedObject, format!("role \"{name}\" does not exist"))
}
