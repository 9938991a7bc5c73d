//! Roles and who is a member of which.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{AccountFacts, DATABASE, Grants, Privileges};

/// The bootstrap superuser. In a file without other roles it is whoever has connected.
pub const BOOTSTRAP: u32 = 10;

/// `pg_database_owner`, of which the database's owner is the only member.
pub const DATABASE_OWNER: u32 = 6_171;
const READ_ALL_DATA: u32 = 6_181;
const WRITE_ALL_DATA: u32 = 6_182;
/// `pg_signal_backend`.
pub const SIGNAL_BACKEND: u32 = 4_200;
/// `pg_checkpoint`.
pub const CHECKPOINT: u32 = 4_544;
const MONITOR: u32 = 3_373;

/// PostgreSQL's predefined roles: they are there always, and nobody logs in as one.
pub const PREDEFINED: &[(u32, &str)] = &[
    (DATABASE_OWNER, "pg_database_owner"),
    (READ_ALL_DATA, "pg_read_all_data"),
    (WRITE_ALL_DATA, "pg_write_all_data"),
    (MONITOR, "pg_monitor"),
    (3_374, "pg_read_all_settings"),
    (3_375, "pg_read_all_stats"),
    (3_377, "pg_stat_scan_tables"),
    (4_569, "pg_read_server_files"),
    (4_570, "pg_write_server_files"),
    (4_571, "pg_execute_server_program"),
    (SIGNAL_BACKEND, "pg_signal_backend"),
    (CHECKPOINT, "pg_checkpoint"),
];

/// A role: a user, a group, or both.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Role {
    /// Object id.
    pub oid: u32,
    /// Name.
    pub name: String,
    /// SUPERUSER.
    pub superuser: bool,
    /// INHERIT: it has the privileges of the roles that it is a member of.
    pub inherit: bool,
    /// CREATEROLE.
    pub create_role: bool,
    /// CREATEDB.
    pub create_db: bool,
    /// LOGIN.
    pub login: bool,
    /// REPLICATION.
    pub replication: bool,
    /// BYPASSRLS.
    pub bypass_rls: bool,
    /// CONNECTION LIMIT; -1 is none.
    pub connection_limit: i32,
    /// PASSWORD: a SCRAM verifier.
    pub password: Option<String>,
    /// VALID UNTIL, as a timestamp is stored.
    pub valid_until: Option<String>,
    /// Settings with which its sessions begin, by name.
    pub config: BTreeMap<String, String>,
    /// COMMENT ON ROLE.
    pub comment: Option<String>,
}

impl Role {
    /// A role as CREATE ROLE without options makes it.
    pub fn new(oid: u32, name: impl Into<String>) -> Self {
        Self {
            oid,
            name: name.into(),
            superuser: false,
            inherit: true,
            create_role: false,
            create_db: false,
            login: false,
            replication: false,
            bypass_rls: false,
            connection_limit: -1,
            password: None,
            valid_until: None,
            config: BTreeMap::new(),
            comment: None,
        }
    }

    /// The bootstrap superuser.
    pub fn bootstrap(name: impl Into<String>) -> Self {
        Self {
            superuser: true,
            create_role: true,
            create_db: true,
            login: true,
            replication: true,
            bypass_rls: true,
            ..Self::new(BOOTSTRAP, name)
        }
    }
}

/// A role is a member of another.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Membership {
    /// The role.
    pub role: u32,
    /// Its member.
    pub member: u32,
    /// Who has granted it.
    pub grantor: u32,
    /// WITH ADMIN OPTION.
    pub admin: bool,
}

/// What a file says of itself as a database.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct DatabaseFacts {
    /// Settings with which all sessions begin, in every database (ALTER ROLE ALL SET).
    pub everywhere: BTreeMap<String, String>,
    /// Settings with which sessions begin, by role (0 is every one) and name.
    pub settings: BTreeMap<(u32, String), String>,
    /// COMMENT ON DATABASE.
    pub comment: Option<String>,
    /// CONNECTION LIMIT; -1 is none.
    pub connection_limit: i32,
    /// IS_TEMPLATE: whoever may make databases may copy it, and nobody drops it.
    pub is_template: bool,
    /// ALLOW_CONNECTIONS.
    pub allows_connections: bool,
    /// What MySQL knows of roles besides.
    pub accounts: BTreeMap<u32, AccountFacts>,
}

impl Default for DatabaseFacts {
    fn default() -> Self {
        Self {
            everywhere: BTreeMap::new(),
            settings: BTreeMap::new(),
            comment: None,
            connection_limit: -1,
            is_template: false,
            allows_connections: true,
            accounts: BTreeMap::new(),
        }
    }
}

impl DatabaseFacts {
    /// How the property of a setting begins, whose part is the role.
    pub const SETTING: &str = "setting ";
    /// How the property of a setting of every database begins.
    pub const SETTING_EVERYWHERE: &str = "setting_everywhere ";
    /// The property of the comment.
    pub const COMMENT: &str = "comment";
    /// The property of CONNECTION LIMIT.
    pub const CONNECTION_LIMIT: &str = "connection_limit";
    /// The property of IS_TEMPLATE.
    pub const IS_TEMPLATE: &str = "is_template";
    /// The property of ALLOW_CONNECTIONS.
    pub const ALLOWS_CONNECTIONS: &str = "allow_connections";

    /// Takes in a fact as a file keeps it; one that it does not know says nothing.
    pub fn take(&mut self, part: &str, name: &str, value: String) {
        match name {
            Self::COMMENT => self.comment = Some(value),
            Self::CONNECTION_LIMIT => self.connection_limit = value.parse().unwrap_or(-1),
            Self::IS_TEMPLATE => self.is_template = value == "true",
            Self::ALLOWS_CONNECTIONS => self.allows_connections = value != "false",
            _ => {
                if name.starts_with("mysql_")
                    && let Ok(role) = part.parse()
                    && self.accounts.entry(role).or_default().take(name, &value)
                {
                    return;
                }
                if let Some(setting) = name.strip_prefix(Self::SETTING_EVERYWHERE) {
                    self.everywhere.insert(setting.to_owned(), value);
                } else if let (Some(setting), Ok(role)) = (name.strip_prefix(Self::SETTING), part.parse()) {
                    self.settings.insert((role, setting.to_owned()), value);
                }
            }
        }
    }

    /// Somebody has rights of MySQL's on databases.
    pub fn grants_databases(&self) -> bool {
        self.accounts.values().any(|account| !account.rights.is_empty())
    }

    /// The settings of a role, or of every one.
    pub fn settings_of(&self, role: u32) -> impl Iterator<Item = (&String, &String)> {
        self.settings.iter().filter(move |((of, _), _)| *of == role).map(|((_, name), value)| (name, value))
    }
}

/// The roles of a file.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Roles {
    roles: BTreeMap<u32, Arc<Role>>,
    memberships: Vec<Membership>,
    /// The owner of the database.
    database_owner: Option<u32>,
    database: Arc<DatabaseFacts>,
    /// Whoever asks, and the role whose privileges count for it whether it inherits or not.
    enabled: Option<(u32, u32)>,
}

impl Roles {
    /// Roles as they have been read.
    pub fn new(roles: impl IntoIterator<Item = Role>, memberships: Vec<Membership>, grants: &Grants) -> Self {
        let roles: BTreeMap<u32, Arc<Role>> = roles.into_iter().map(|role| (role.oid, Arc::new(role))).collect();
        Self { roles, memberships, database_owner: grants.owners.get(&DATABASE).copied(), ..Self::default() }
    }

    /// The same, with what the file says of itself.
    pub fn of_database(mut self, facts: DatabaseFacts) -> Self {
        self.database = Arc::new(facts);
        self
    }

    /// The same, where a member has a role's privileges whether it inherits or not.
    #[must_use]
    pub fn enabling(&self, member: u32, role: u32) -> Self {
        Self { enabled: Some((member, role)), ..self.clone() }
    }

    /// What the file says of itself as a database.
    pub fn database(&self) -> &DatabaseFacts {
        &self.database
    }

    /// There is no role but the bootstrap superuser, which then is whoever has connected.
    pub fn is_simple(&self) -> bool {
        self.roles.keys().all(|oid| *oid == BOOTSTRAP)
    }

    /// The roles that have been made, and the bootstrap superuser once it has a name.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Role>> {
        self.roles.values()
    }

    /// Who is a member of what, the predefined memberships left out.
    pub fn memberships(&self) -> &[Membership] {
        &self.memberships
    }

    /// The role with an object id; predefined ones have none.
    pub fn get(&self, oid: u32) -> Option<&Arc<Role>> {
        self.roles.get(&oid)
    }

    /// The role of a name; predefined ones have none.
    pub fn find(&self, name: &str) -> Option<&Arc<Role>> {
        self.roles.values().find(|role| role.name == name)
    }

    /// The object id of a role's name.
    pub fn oid(&self, name: &str) -> Option<u32> {
        let predefined = || PREDEFINED.iter().find(|(_, known)| *known == name).map(|(oid, _)| *oid);
        self.find(name).map(|role| role.oid).or_else(predefined)
    }

    /// The name of a role.
    pub fn name(&self, oid: u32) -> Option<&str> {
        let predefined = || PREDEFINED.iter().find(|(known, _)| *known == oid).map(|(_, name)| *name);
        self.roles.get(&oid).map(|role| role.name.as_str()).or_else(predefined)
    }

    /// Nothing is refused to the role.
    pub fn is_superuser(&self, oid: u32) -> bool {
        oid == BOOTSTRAP || self.roles.get(&oid).is_some_and(|role| role.superuser)
    }

    /// Whether an attribute lets a role do something; superusers may do all.
    pub fn can(&self, oid: u32, attribute: impl Fn(&Role) -> bool) -> bool {
        self.is_superuser(oid) || self.roles.get(&oid).is_some_and(|role| attribute(role))
    }

    /// The roles that a role is a member of, itself first; through roles that inherit only, if asked so.
    pub fn memberships_of(&self, member: u32, inherited: bool) -> Vec<u32> {
        let mut all = vec![member];
        let mut at = 0;
        while at < all.len() {
            let member = all[at];
            at += 1;
            let inherits = !inherited || self.roles.get(&member).is_none_or(|role| role.inherit);
            let mut add = |role: u32| {
                if !all.contains(&role) {
                    all.push(role);
                }
            };
            self.enabled.iter().filter(|(known, _)| *known == member).for_each(|(_, role)| add(*role));
            if !inherits {
                continue;
            }
            self.memberships.iter().filter(|known| known.member == member).for_each(|known| add(known.role));
            if self.database_owner.unwrap_or(BOOTSTRAP) == member {
                add(DATABASE_OWNER);
            }
            if member == MONITOR {
                [3_374, 3_375, 3_377].into_iter().for_each(add);
            }
        }
        all
    }

    /// The role's privileges include another's: superusers have all.
    pub fn has_privileges_of(&self, member: u32, role: u32) -> bool {
        member == role || self.is_superuser(member) || self.memberships_of(member, true).contains(&role)
    }

    /// A role may become another by SET ROLE.
    pub fn is_member(&self, member: u32, role: u32) -> bool {
        member == role || self.is_superuser(member) || self.is_really_member(member, role)
    }

    /// As [`Self::is_member`], superusers being nothing special.
    pub fn is_really_member(&self, member: u32, role: u32) -> bool {
        self.memberships_of(member, false).contains(&role)
    }

    /// A role may grant membership in another to others.
    pub fn is_admin(&self, member: u32, role: u32) -> bool {
        if self.is_superuser(member) {
            return true;
        }
        let through = self.memberships_of(member, false);
        self.memberships.iter().any(|known| known.role == role && known.admin && through.contains(&known.member))
    }

    /// What `pg_read_all_data` and `pg_write_all_data` allow a role on every table.
    pub fn over_all_data(&self, role: u32) -> Privileges {
        if self.memberships.is_empty() {
            return Privileges::NONE;
        }
        let through = self.memberships_of(role, true);
        let mut held = Privileges::NONE;
        if through.contains(&READ_ALL_DATA) {
            held = held | Privileges::SELECT;
        }
        if through.contains(&WRITE_ALL_DATA) {
            held = held | Privileges::INSERT | Privileges::UPDATE | Privileges::DELETE;
        }
        held
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn roles() -> Roles {
        let mut shy = Role::new(103, "shy");
        shy.inherit = false;
        let made =
            vec![Role::bootstrap("ada"), Role::new(101, "staff"), Role::new(102, "bob"), shy, Role::new(104, "x")];
        let member = |role, member, admin| Membership { role, member, grantor: BOOTSTRAP, admin };
        let memberships = vec![member(101, 102, true), member(101, 103, false), member(103, 104, false)];
        Roles::new(made, memberships, &Grants::default())
    }

    #[test]
    fn privileges_pass_through_roles_that_inherit() {
        let roles = roles();
        assert!(roles.has_privileges_of(102, 101) && roles.is_member(102, 101));
        assert!(!roles.has_privileges_of(103, 101) && roles.is_member(103, 101));
        assert!(!roles.has_privileges_of(104, 101) && roles.has_privileges_of(104, 103) && roles.is_member(104, 101));
        assert!(roles.is_admin(102, 101) && !roles.is_admin(103, 101) && roles.is_admin(BOOTSTRAP, 104));
        assert!(roles.has_privileges_of(BOOTSTRAP, 101) && !roles.is_really_member(BOOTSTRAP, 101));
        assert!(roles.is_really_member(BOOTSTRAP, DATABASE_OWNER) && !roles.is_really_member(102, DATABASE_OWNER));
    }

    #[test]
    fn a_file_with_nobody_but_the_bootstrap_superuser_is_simple() {
        assert!(Roles::default().is_simple());
        assert!(Roles::new([Role::bootstrap("ada")], Vec::new(), &Grants::default()).is_simple());
        assert!(!roles().is_simple());
    }
}
