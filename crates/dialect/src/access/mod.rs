//! Who may do what: roles, owners, and the privileges that have been granted.
//!
//! - [`accounts`]: what MySQL knows of a role besides;
//! - [`roles`]: roles and their memberships;
//! - [`acl`]: privileges, lists of grants, and what GRANT and REVOKE make of them;
//! - [`Grants`]: the owners and lists of the objects of one database;
//! - [`Rights`]: all of it as one role sees it. Superusers pass every check, and a file without roles has no others.

pub mod accounts;
pub mod acl;
mod check;
mod item_text;
pub mod roles;
mod row_security;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

pub use accounts::{AccountFacts, DatabaseRights, LevelRights, Plugin};
pub use acl::{Acl, AclItem, ObjectClass, Privileges};
pub use check::{Need, Needs, behind, denied, denied_as, is_open, not_owner, relation_words};
pub(crate) use item_text::read_item;
pub use item_text::{ItemText, LETTERS, bit_of_word};
pub use roles::{BOOTSTRAP, Membership, Role, Roles};
pub use row_security::would_be_affected;

/// The object id of the served database.
pub const DATABASE: u32 = 16_383;

/// PUBLIC, as a grantee.
pub const PUBLIC: u32 = 0;

/// Privileges that objects get when they are made: ALTER DEFAULT PRIVILEGES.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct DefaultAcl {
    /// Its own object id.
    pub oid: u32,
    /// Whose objects.
    pub role: u32,
    /// In which schema; 0 is any.
    pub namespace: u32,
    /// Of which class.
    pub class: ObjectClass,
    /// The privileges: the whole list without a schema, what is added to it with one.
    pub acl: Acl,
}

/// Owners and privileges of the objects of one database (`main`, `temp`), as far as anything has been said of them.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Grants {
    /// Owners that are not the bootstrap superuser.
    pub owners: HashMap<u32, u32>,
    /// Lists of objects whose privileges are not those that they are born with.
    pub lists: HashMap<u32, Acl>,
    /// Lists of columns.
    pub columns: BTreeMap<(u32, String), Acl>,
    /// ALTER DEFAULT PRIVILEGES.
    pub defaults: Vec<DefaultAcl>,
    /// The schemas of relations, sequences and functions, and those themselves, where MySQL's rights on databases ask for
    /// them.
    pub schemas: HashMap<u32, Arc<str>>,
}

/// Who asks.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Identity {
    /// The role that has logged in.
    pub login: u32,
    /// SET SESSION AUTHORIZATION.
    pub session: u32,
    /// SET ROLE; the one whose rights count.
    pub current: u32,
    /// Informix's SET ROLE: one whose rights count beside those of the session's.
    pub enabled: Option<u32>,
}

impl Default for Identity {
    fn default() -> Self {
        Self { login: BOOTSTRAP, session: BOOTSTRAP, current: BOOTSTRAP, enabled: None }
    }
}

/// Rights as one role has them, at one moment.
#[derive(Clone, Debug, Default)]
pub struct Rights {
    /// Who asks.
    pub identity: Identity,
    /// The roles.
    pub roles: Arc<Roles>,
    /// The file's objects.
    pub main: Arc<Grants>,
    /// The session's temporary objects.
    pub temp: Arc<Grants>,
}

impl Identity {
    /// The roles as this session has them.
    pub fn seen_by(&self, roles: &Arc<Roles>) -> Arc<Roles> {
        match self.enabled {
            // Unless it has been revoked meanwhile.
            Some(role) if roles.is_member(self.session, role) && !roles.has_privileges_of(self.session, role) => {
                Arc::new(roles.enabling(self.session, role))
            }
            _ => roles.clone(),
        }
    }
}

impl Rights {
    /// The role whose rights count.
    pub fn role(&self) -> u32 {
        self.identity.current
    }

    /// Nothing is refused to it.
    pub fn is_superuser(&self) -> bool {
        self.roles.is_superuser(self.role())
    }

    /// An object's owner.
    pub fn owner(&self, oid: u32) -> u32 {
        let known = self.main.owners.get(&oid).or_else(|| self.temp.owners.get(&oid)).copied();
        known.unwrap_or_else(|| born_owner(oid))
    }

    /// What has been granted on an object; `None` when nothing has been said.
    pub fn stored_list(&self, oid: u32) -> Option<&Acl> {
        self.main.lists.get(&oid).or_else(|| self.temp.lists.get(&oid))
    }

    /// What is granted on an object, said or not.
    pub fn list(&self, class: ObjectClass, oid: u32) -> Acl {
        self.stored_list(oid).cloned().unwrap_or_else(|| born_list(class, oid, self.owner(oid)))
    }

    /// What has been granted on a column.
    pub fn column_list(&self, oid: u32, column: &str) -> Option<&Acl> {
        let key = (oid, column.to_owned());
        self.main.columns.get(&key).or_else(|| self.temp.columns.get(&key))
    }

    /// The privileges of a role on an object, with those that it may grant.
    pub fn held_by(&self, role: u32, class: ObjectClass, oid: u32) -> (Privileges, Privileges) {
        if self.roles.is_superuser(role) {
            let all = Privileges::all_of(class);
            return (all, all);
        }
        let owner = self.owner(oid);
        let (mut held, mut grantable) = match self.stored_list(oid) {
            Some(list) => list.held_by(&self.roles, role, owner, class),
            None => born_list(class, oid, owner).held_by(&self.roles, role, owner, class),
        };
        if class == ObjectClass::Relation {
            held = held | self.roles.over_all_data(role);
        }
        if class == ObjectClass::Schema && !self.roles.over_all_data(role).is_empty() {
            held = held | Privileges::USAGE;
        }
        if self.roles.database().grants_databases() {
            held = held | self.database_rights(role, self.schema_of(oid)).privileges(class);
        }
        grantable = grantable & Privileges::all_of(class);
        (held, grantable)
    }

    /// The schema that something is in, or is, as far as [`Grants::schemas`] knows.
    fn schema_of(&self, oid: u32) -> Option<&str> {
        self.main.schemas.get(&oid).map(|schema| &**schema)
    }

    /// MySQL's rights of a role in the database that is a schema, or on all of them (`None`), those of the roles that it
    /// is a member of with them.
    pub fn database_rights(&self, role: u32, schema: Option<&str>) -> LevelRights {
        if self.roles.is_superuser(role) {
            return LevelRights { rights: DatabaseRights::ALL, grantable: true, seen: true };
        }
        let facts = self.roles.database();
        let mut held = LevelRights::default();
        for role in self.roles.memberships_of(role, true) {
            let Some(account) = facts.accounts.get(&role) else { continue };
            let own = account.in_schema(schema);
            held = LevelRights {
                rights: held.rights | own.rights,
                grantable: held.grantable || own.grantable,
                seen: held.seen || own.seen,
            };
        }
        held
    }

    /// Whether the role that asks holds some of MySQL's rights in the database that is a schema.
    pub fn may_in(&self, schema: &str, wanted: DatabaseRights) -> bool {
        self.roles.database().grants_databases()
            && self.database_rights(self.role(), Some(schema)).rights.contains(wanted)
    }

    /// The privileges of a role on a column by the column's own list, with those that it may grant.
    pub fn column_held_by(&self, role: u32, oid: u32, column: &str) -> (Privileges, Privileges) {
        let owner = self.owner(oid);
        match self.column_list(oid, column) {
            Some(list) => list.held_by(&self.roles, role, owner, ObjectClass::Column),
            None => Acl::default().held_by(&self.roles, role, owner, ObjectClass::Column),
        }
    }

    /// Whether the role that asks holds all of some privileges on an object.
    pub fn may(&self, class: ObjectClass, oid: u32, wanted: Privileges) -> bool {
        self.is_superuser() || self.held_by(self.role(), class, oid).0.contains(wanted)
    }

    /// Whether the role that asks counts as the owner.
    pub fn owns(&self, oid: u32) -> bool {
        self.roles.has_privileges_of(self.role(), self.owner(oid))
    }
}

/// The namespace `public`.
const NAMESPACE_PUBLIC: u32 = 2_200;

/// Namespaces that everybody may use: those of the catalogs, and a session's own temporary one.
const COMMON_NAMESPACES: &[u32] = &[11, 13_000, 13_001, 13_002];

fn born_owner(oid: u32) -> u32 {
    if oid == NAMESPACE_PUBLIC { roles::DATABASE_OWNER } else { BOOTSTRAP }
}

/// What is granted on an object of which nothing has been said.
fn born_list(class: ObjectClass, oid: u32, owner: u32) -> Acl {
    let everybody = |privileges| AclItem { grantee: PUBLIC, grantor: owner, privileges, grantable: Privileges::NONE };
    match class {
        ObjectClass::Schema if oid == NAMESPACE_PUBLIC => {
            let all = Privileges::all_of(class);
            let of_owner = AclItem { grantee: owner, grantor: owner, privileges: all, grantable: Privileges::NONE };
            Acl(vec![of_owner, everybody(Privileges::USAGE)])
        }
        ObjectClass::Schema if COMMON_NAMESPACES.contains(&oid) => {
            let mut list = Acl::of_new(class, owner);
            list.0.push(everybody(Privileges::USAGE));
            list
        }
        class => Acl::of_new(class, owner),
    }
}

impl Grants {
    /// Nothing has been said of anything.
    pub fn is_empty(&self) -> bool {
        self.owners.is_empty() && self.lists.is_empty() && self.columns.is_empty() && self.defaults.is_empty()
    }

    /// The privileges that a new object gets: those of its class, as ALTER DEFAULT PRIVILEGES has changed them; `None`
    /// when it has not.
    pub fn for_new(&self, class: ObjectClass, owner: u32, namespace: u32) -> Option<Acl> {
        let default = |namespace: u32| {
            self.defaults.iter().find(|d| d.role == owner && d.namespace == namespace && d.class == class)
        };
        let (global, local) = (default(0), (namespace != 0).then(|| default(namespace)).flatten());
        if global.is_none() && local.is_none() {
            return None;
        }
        let born = Acl::of_new(class, owner);
        let mut list = global.map_or_else(|| born.clone(), |default| default.acl.clone());
        for item in local.iter().flat_map(|default| &default.acl.0) {
            list.add(*item);
        }
        (!list.same_as(&born)).then_some(list)
    }
}
