//! Statements about roles, owners and privileges.

use super::account::AccountChange;
use super::statement::SetVariable;
use crate::access::{ObjectClass, Privileges};
use crate::schema::QualifiedName;

/// A role as a statement names it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum RoleSpec {
    /// PUBLIC.
    Public,
    /// CURRENT_USER, CURRENT_ROLE.
    Current,
    /// SESSION_USER.
    Session,
    /// A name.
    Named(String),
}

/// A change of roles, owners or privileges.
#[derive(Clone, Debug, PartialEq)]
pub enum AccessChange {
    /// CREATE ROLE, USER, GROUP.
    CreateRole {
        /// The name.
        name: String,
        /// What is said of it.
        options: RoleOptions,
    },
    /// ALTER ROLE, USER.
    AlterRole {
        /// The role.
        role: RoleSpec,
        /// What is to be otherwise.
        options: RoleOptions,
    },
    /// ALTER ROLE … SET, ALTER DATABASE … SET; `None` is ALL roles.
    RoleSetting {
        /// The role.
        role: Option<RoleSpec>,
        /// The database whose sessions are meant; `None` is every one.
        database: Option<String>,
        /// The setting.
        set: SetVariable,
        /// FROM CURRENT: its value is the session's.
        current: bool,
    },
    /// ALTER ROLE … RENAME TO.
    RenameRole {
        /// The role.
        role: String,
        /// Its new name.
        to: String,
    },
    /// COMMENT ON ROLE.
    CommentRole {
        /// The role.
        role: String,
        /// The comment.
        text: Option<String>,
    },
    /// ALTER DATABASE … WITH, COMMENT ON DATABASE.
    DatabaseFacts {
        /// The database.
        database: String,
        /// What is to be said of it, by the names of [`DatabaseFacts`](crate::access::roles::DatabaseFacts); `None` strikes.
        facts: Vec<(&'static str, Option<String>)>,
    },
    /// DROP ROLE.
    DropRoles {
        /// The roles.
        roles: Vec<RoleSpec>,
        /// IF EXISTS.
        if_exists: bool,
    },
    /// GRANT and REVOKE of roles.
    GrantRoles(GrantRoles),
    /// GRANT and REVOKE of privileges.
    Grant(Grant),
    /// ALTER DEFAULT PRIVILEGES.
    DefaultPrivileges {
        /// FOR ROLE; none is the current one.
        roles: Vec<RoleSpec>,
        /// IN SCHEMA; none is any.
        schemas: Vec<String>,
        /// What is granted.
        grant: Grant,
    },
    /// ALTER, COMMENT ON and GRANT ON LARGE OBJECT.
    LargeObject(LargeObjectChange),
    /// ALTER … OWNER TO.
    Owner {
        /// What kind of object.
        class: ObjectClass,
        /// Which.
        name: QualifiedName,
        /// The new owner.
        to: RoleSpec,
    },
    /// The same of an object that is known already.
    OwnerOf {
        /// Object id.
        oid: u32,
        /// What messages call its kind.
        kind: &'static str,
        /// Its name, with its schema.
        name: QualifiedName,
        /// The new owner.
        to: RoleSpec,
    },
    /// REASSIGN OWNED.
    ReassignOwned {
        /// Whose objects.
        roles: Vec<RoleSpec>,
        /// The new owner.
        to: RoleSpec,
    },
    /// What MySQL's statements change.
    Account(AccountChange),
    /// DROP OWNED.
    DropOwned {
        /// Whose objects and privileges.
        roles: Vec<RoleSpec>,
        /// CASCADE.
        cascade: bool,
    },
}

/// What is said of a role; `None` leaves it as it is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RoleOptions {
    /// SUPERUSER.
    pub superuser: Option<bool>,
    /// INHERIT.
    pub inherit: Option<bool>,
    /// CREATEROLE.
    pub create_role: Option<bool>,
    /// CREATEDB.
    pub create_db: Option<bool>,
    /// LOGIN.
    pub login: Option<bool>,
    /// REPLICATION.
    pub replication: Option<bool>,
    /// BYPASSRLS.
    pub bypass_rls: Option<bool>,
    /// CONNECTION LIMIT.
    pub connection_limit: Option<i32>,
    /// PASSWORD; the inner `None` is NULL.
    pub password: Option<Option<String>>,
    /// VALID UNTIL, as it is written.
    pub valid_until: Option<String>,
    /// IN ROLE.
    pub in_roles: Vec<RoleSpec>,
    /// ROLE: those who become members.
    pub members: Vec<RoleSpec>,
    /// ADMIN: those who become members and may make others so.
    pub admins: Vec<RoleSpec>,
}

/// GRANT and REVOKE of roles.
#[derive(Clone, Debug, PartialEq)]
pub struct GrantRoles {
    /// GRANT; REVOKE otherwise.
    pub grant: bool,
    /// The roles that are granted.
    pub roles: Vec<String>,
    /// To whom, from whom.
    pub members: Vec<RoleSpec>,
    /// WITH ADMIN OPTION, ADMIN OPTION FOR.
    pub admin: bool,
    /// GRANTED BY.
    pub grantor: Option<RoleSpec>,
}

/// GRANT and REVOKE of privileges.
#[derive(Clone, Debug, PartialEq)]
pub struct Grant {
    /// GRANT; REVOKE otherwise.
    pub grant: bool,
    /// WITH GRANT OPTION, GRANT OPTION FOR.
    pub grant_option: bool,
    /// CASCADE.
    pub cascade: bool,
    /// GRANTED BY.
    pub grantor: Option<RoleSpec>,
    /// To whom, from whom.
    pub grantees: Vec<RoleSpec>,
    /// Privileges with the columns that they are for; none is ALL.
    pub privileges: Vec<(Privileges, Vec<String>)>,
    /// ALL PRIVILEGES (columns): the columns.
    pub all_of_columns: Vec<String>,
    /// What kind of object: a relation may turn out to be a sequence.
    pub class: ObjectClass,
    /// Of all routines: procedures alone, or all others; `None` is both.
    pub procedures: Option<bool>,
    /// Which.
    pub targets: GrantTargets,
}

/// The objects of GRANT and REVOKE.
#[derive(Clone, Debug, PartialEq)]
pub enum GrantTargets {
    /// These.
    Named(Vec<QualifiedName>),
    /// All in these schemas.
    AllIn(Vec<String>),
    /// Those to come: of ALTER DEFAULT PRIVILEGES.
    Defaults,
}

/// A change of what is known of large objects beside their bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct LargeObjectChange {
    /// Which.
    pub objects: Vec<u32>,
    /// What.
    pub action: LargeObjectAction,
}

/// What is changed of large objects.
#[derive(Clone, Debug, PartialEq)]
pub enum LargeObjectAction {
    /// OWNER TO.
    Owner(RoleSpec),
    /// COMMENT ON.
    Comment(Option<String>),
    /// GRANT and REVOKE.
    Grant(Box<Grant>),
}
