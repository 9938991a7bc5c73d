//! CREATE, ALTER and DROP ROLE, and who is a member of which.

use rowferry_dialect::access::roles::{BOOTSTRAP, DATABASE_OWNER, DatabaseFacts, PREDEFINED, Role, Roles};
use rowferry_dialect::access::{DATABASE, not_owner};
use rowferry_dialect::ir::{GrantRoles, RoleOptions, RoleSpec, SetVariable};
use rowferry_dialect::values::timestamp;
use rowferry_dialect::{Condition, Error, Language};

use super::owners::no_role;
use super::{Changer, Done};
use crate::backend::Fact;
use crate::databases::Siblings;
use crate::settings;

impl Changer<'_> {
    pub(super) fn create_role(&self, name: &str, options: &RoleOptions) -> Done {
        let rights = self.rights();
        let superuser = rights.is_superuser();
        for (wanted, words) in [
            (options.superuser, "superusers"),
            (options.replication, "replication users"),
            (options.bypass_rls, "bypassrls users"),
        ] {
            if wanted == Some(true) && !superuser {
                return Err(refused(format!("must be superuser to create {words}")).into());
            }
        }
        if !may_make_roles(&rights.roles, rights.role()) {
            return Err(refused("permission denied to create role").into());
        }
        check_name(name)?;
        if self.schema().role_oid(name).is_some() {
            return Err(exists(name).into());
        }
        self.keep_bootstrap()?;
        let oid = self.record("main", "role", "", name, None, Language::Postgres, None)?;
        let mut role = Role::new(oid, name);
        self.apply(&mut role, options)?;
        self.write_role(&role)?;
        self.settle()?;
        for parent in &options.in_roles {
            let parent = self.role(parent)?;
            self.add_members(parent, &[oid], rights.role(), false)?;
        }
        for (members, admin) in [(&options.admins, true), (&options.members, false)] {
            let members = members.iter().map(|member| self.role(member)).collect::<Done<Vec<u32>>>()?;
            self.add_members(oid, &members, rights.role(), admin)?;
        }
        Ok(())
    }

    /// Whoever makes the first role of a file is its bootstrap superuser from then on, under this name.
    fn keep_bootstrap(&self) -> Done {
        let schema = self.schema();
        if !schema.main.roles.is_simple() {
            return Ok(());
        }
        self.store.name_bootstrap(&schema.user)?;
        self.write_role(&Role::bootstrap(&*schema.user))?;
        self.settle()
    }

    fn apply(&self, role: &mut Role, options: &RoleOptions) -> Done {
        let set = |flag: &mut bool, wanted: Option<bool>| *flag = wanted.unwrap_or(*flag);
        set(&mut role.superuser, options.superuser);
        set(&mut role.inherit, options.inherit);
        set(&mut role.create_role, options.create_role);
        set(&mut role.create_db, options.create_db);
        set(&mut role.login, options.login);
        set(&mut role.replication, options.replication);
        set(&mut role.bypass_rls, options.bypass_rls);
        role.connection_limit = options.connection_limit.unwrap_or(role.connection_limit);
        if let Some(until) = &options.valid_until {
            let settings = self.session.state.settings();
            let until = timestamp::parse_tz(until, &settings).and_then(timestamp::to_stored_tz)?;
            role.valid_until = Some(until);
        }
        match &options.password {
            None => {}
            Some(None) => {
                role.password = None;
                self.follow_password(role.oid, None)?;
            }
            Some(Some(password)) => {
                let Some(verifier) = self.session.database.shared.options.password_verifier else {
                    return Err(Error::unsupported("PASSWORD where nobody can log in").into());
                };
                role.password =
                    if password.is_empty() { None } else { verifier(password).map_err(Error::unsupported)? };
                // A verifier says nothing of the password but what it is.
                let clear =
                    role.password.as_deref().filter(|kept| *kept != password.as_str()).map(|_| password.as_str());
                self.follow_password(role.oid, clear)?;
                if role.password.is_none() {
                    let message = "empty string is not a valid password, clearing password";
                    self.notice(Condition::SuccessfulCompletion, message.to_owned());
                }
            }
        }
        Ok(())
    }

    fn write_role(&self, role: &Role) -> Done {
        self.store.write_role(role)?;
        self.touch_access("main");
        Ok(())
    }

    /// A role as it is; predefined ones cannot be changed.
    fn known_role(&self, oid: u32) -> Done<Role> {
        if oid == BOOTSTRAP {
            self.keep_bootstrap()?;
        }
        let schema = self.schema();
        match schema.main.roles.get(oid) {
            Some(role) => Ok(Role::clone(role)),
            None => Err(reserved(&self.role_name(oid)).into()),
        }
    }

    /// Nothing is kept of a role's password that PostgreSQL's clients could prove.
    pub(super) fn forget_password(&self, role: u32) -> Done {
        let mut role = self.known_role(role)?;
        role.password = None;
        self.write_role(&role)
    }

    pub(super) fn alter_role(&self, role: &RoleSpec, options: &RoleOptions) -> Done {
        let mut role = self.known_role(self.role(role)?)?;
        let rights = self.rights();
        let asking = rights.role();
        if !rights.is_superuser() {
            if role.superuser || options.superuser.is_some() {
                let message = "must be superuser to alter superuser roles or change superuser attribute";
                return Err(refused(message).into());
            }
            if role.replication || options.replication.is_some() {
                let message = "must be superuser to alter replication roles or change replication attribute";
                return Err(refused(message).into());
            }
            if options.bypass_rls.is_some() {
                return Err(refused("must be superuser to change bypassrls attribute").into());
            }
            let password_only = RoleOptions { password: options.password.clone(), ..RoleOptions::default() };
            let own_password = options.password.is_some() && *options == password_only && role.oid == asking;
            if !may_make_roles(&rights.roles, asking) && !own_password {
                return Err(refused("permission denied").into());
            }
        }
        self.apply(&mut role, options)?;
        self.write_role(&role)
    }

    pub(super) fn role_setting(
        &self,
        role: Option<&RoleSpec>,
        database: Option<&str>,
        set: &SetVariable,
        current: bool,
    ) -> Done {
        let set = &SetVariable {
            name: set.name.as_deref().map(|name| setting_name(name, set.values.is_some())).transpose()?,
            ..set.clone()
        };
        let role = match (role, database) {
            (None, None) => {
                if !self.rights().is_superuser() {
                    return Err(refused("must be superuser to alter settings globally").into());
                }
                return self.kept_setting(None, set, current);
            }
            (None, Some(database)) => {
                self.own_database(database)?;
                if !self.session.owns_database() {
                    return Err(not_owner("database", database).into());
                }
                return self.database_setting(0, set, current);
            }
            (Some(role), _) => role,
        };
        let mut role = self.known_role(self.role(role)?)?;
        let rights = self.rights();
        if role.superuser && !rights.is_superuser() {
            return Err(refused("must be superuser to alter superusers").into());
        }
        if !may_make_roles(&rights.roles, rights.role()) && role.oid != rights.role() {
            return Err(refused("permission denied").into());
        }
        if let Some(database) = database {
            self.own_database(database)?;
            return self.database_setting(role.oid, set, current);
        }
        match (&set.name, self.new_setting(set, current)?) {
            (None, _) => role.config.clear(),
            (Some(name), None) => {
                role.config.remove(name);
            }
            (Some(name), Some(value)) => {
                role.config.insert(name.clone(), value);
            }
        }
        self.write_role(&role)
    }

    /// The value that a setting is to have; `None` for none.
    fn new_setting(&self, set: &SetVariable, current: bool) -> Done<Option<String>> {
        let Some(name) = &set.name else { return Ok(None) };
        if current {
            let unknown = || {
                let message = format!("unrecognized configuration parameter \"{name}\"");
                Error::new(Condition::UndefinedObject, message)
            };
            return Ok(Some(self.session.variable(name).ok_or_else(unknown)?));
        }
        let Some(values) = &set.values else { return Ok(None) };
        let value = values.join(", ");
        if let Some(setting) = settings::find(name) {
            settings::changeable(setting)?;
            settings::read(setting, &value)?;
        }
        Ok(Some(value))
    }

    /// A setting of all sessions of a role in this database; of everybody's for 0.
    fn database_setting(&self, role: u32, set: &SetVariable, current: bool) -> Done {
        self.kept_setting(Some(role), set, current)
    }

    /// The same; without a role one of all sessions in all databases, as far as this file is theirs.
    fn kept_setting(&self, role: Option<u32>, set: &SetVariable, current: bool) -> Done {
        let value = self.new_setting(set, current)?;
        let known = self.schema().main.roles.database().clone();
        let names: Vec<String> = match (&set.name, role) {
            (Some(name), _) => vec![name.clone()],
            (None, Some(role)) => known.settings_of(role).map(|(name, _)| name.clone()).collect(),
            (None, None) => known.everywhere.into_keys().collect(),
        };
        let part = role.map(|role| role.to_string()).unwrap_or_default();
        let kind = if role.is_some() { DatabaseFacts::SETTING } else { DatabaseFacts::SETTING_EVERYWHERE };
        for name in names {
            let property = format!("{kind}{name}");
            self.store.set_property("main", DATABASE, &part, &property, value.as_deref())?;
        }
        self.touch_access("main");
        Ok(())
    }

    /// ALTER DATABASE … WITH, and COMMENT ON DATABASE.
    pub(super) fn note_facts(&self, database: &str, facts: &[(&'static str, Option<String>)]) -> Done {
        self.own_database(database)?;
        if !self.session.owns_database() {
            return Err(not_owner("database", database).into());
        }
        for (name, value) in facts {
            if *name == DatabaseFacts::ALLOWS_CONNECTIONS && value.as_deref() == Some("false") {
                let message = "cannot disallow connections for current database";
                return Err(Error::new(Condition::InvalidParameterValue, message).into());
            }
            self.store.set_property("main", DATABASE, "", name, value.as_deref())?;
        }
        self.touch_access("main");
        Ok(())
    }

    /// What is kept of a database is kept in its file: that of the session.
    fn own_database(&self, name: &str) -> Done {
        if name == self.session.database.name() {
            return Ok(());
        }
        let databases = self.session.database.shared.siblings.get().and_then(Siblings::databases);
        if !databases.is_some_and(|all| all.list().iter().any(|(known, _)| known == name)) {
            let message = format!("database \"{name}\" does not exist");
            return Err(Error::new(Condition::InvalidCatalogName, message).into());
        }
        let hint = format!("Connect to \"{name}\".");
        Err(Error::unsupported("ALTER or COMMENT of another database than the session's").hint(hint).into())
    }

    pub(super) fn rename_role(&self, name: &str, to: &str) -> Done {
        let role = self.known_role(self.role_named(name)?)?;
        let rights = self.rights();
        let unsupported = |message: &str| Error::new(Condition::FeatureNotSupported, message);
        if role.oid == rights.identity.session {
            return Err(unsupported("session user cannot be renamed").into());
        }
        if role.oid == rights.identity.current {
            return Err(unsupported("current user cannot be renamed").into());
        }
        check_name(to)?;
        if self.schema().role_oid(to).is_some() {
            return Err(exists(to).into());
        }
        if role.superuser && !rights.is_superuser() {
            return Err(refused("must be superuser to rename superusers").into());
        }
        if !may_make_roles(&rights.roles, rights.role()) {
            return Err(refused("permission denied to rename role").into());
        }
        self.store.change_entry("main", role.oid, Fact::Name, Some(to))?;
        self.touch_access("main");
        Ok(())
    }

    pub(super) fn comment_role(&self, name: &str, text: Option<&str>) -> Done {
        let role = self.known_role(self.role_named(name)?)?;
        let rights = self.rights();
        if role.superuser && !rights.is_superuser() {
            let name = &role.name;
            return Err(refused(format!("must be superuser to comment on role {name}")).into());
        }
        if !may_make_roles(&rights.roles, rights.role()) {
            return Err(refused("must have CREATEROLE privilege").into());
        }
        self.store.change_entry("main", role.oid, Fact::Comment, text)?;
        self.touch_access("main");
        Ok(())
    }

    pub(super) fn drop_roles(&self, roles: &[RoleSpec], if_exists: bool) -> Done {
        let rights = self.rights();
        if !may_make_roles(&rights.roles, rights.role()) {
            return Err(refused("permission denied to drop role").into());
        }
        let mut going = Vec::with_capacity(roles.len());
        for role in roles {
            let RoleSpec::Named(name) = role else {
                let message = "cannot use special role specifier in DROP ROLE";
                return Err(Error::new(Condition::InvalidParameterValue, message).into());
            };
            let Some(oid) = self.schema().role_oid(name) else {
                if if_exists {
                    self.notice(Condition::SuccessfulCompletion, format!("role \"{name}\" does not exist, skipping"));
                    continue;
                }
                return Err(no_role(name).into());
            };
            let in_use = |message: &str| Error::new(Condition::ObjectInUse, message);
            if oid == rights.identity.current {
                return Err(in_use("current user cannot be dropped").into());
            }
            if oid == rights.identity.session {
                return Err(in_use("session user cannot be dropped").into());
            }
            let needed = || {
                let message = format!("cannot drop role {name} because it is required by the database system");
                Error::new(Condition::DependentObjectsStillExist, message)
            };
            if oid == BOOTSTRAP || PREDEFINED.iter().any(|(known, _)| *known == oid) {
                return Err(needed().into());
            }
            if rights.roles.is_superuser(oid) && !rights.is_superuser() {
                return Err(refused("must be superuser to drop superusers").into());
            }
            self.check_unused(oid, name)?;
            going.push(oid);
        }
        for oid in going {
            self.store.forget_role(oid)?;
            self.forget("main", oid)?;
            self.touch_access("main");
        }
        Ok(())
    }

    /// GRANT and REVOKE of roles.
    pub(super) fn grant_roles(&self, grant: &GrantRoles) -> Done {
        let members = grant.members.iter().map(|member| self.role(member)).collect::<Done<Vec<u32>>>()?;
        let asking = self.rights().role();
        let grantor = grant.grantor.as_ref().map_or(Ok(asking), |grantor| self.role(grantor))?;
        for name in &grant.roles {
            let role = self.role_named(name)?;
            if grant.grant {
                self.add_members(role, &members, grantor, grant.admin)?;
            } else {
                self.remove_members(role, &members, grant.admin)?;
            }
        }
        Ok(())
    }

    fn check_admin(&self, role: u32) -> Done {
        let rights = self.rights();
        if rights.roles.is_superuser(role) {
            if !rights.is_superuser() {
                return Err(refused("must be superuser to alter superusers").into());
            }
        } else if !may_make_roles(&rights.roles, rights.role()) && !rights.roles.is_admin(rights.role(), role) {
            return Err(refused(format!("must have admin option on role \"{}\"", self.role_name(role))).into());
        }
        Ok(())
    }

    fn add_members(&self, role: u32, members: &[u32], grantor: u32, admin: bool) -> Done {
        if members.is_empty() {
            return Ok(());
        }
        self.check_admin(role)?;
        let rights = self.rights();
        if role == DATABASE_OWNER {
            let message = "role \"pg_database_owner\" cannot have explicit members";
            return Err(Error::new(Condition::InternalError, message).into());
        }
        if grantor != rights.role() && !rights.is_superuser() {
            return Err(refused("must be superuser to set grantor").into());
        }
        for &member in members {
            if member == DATABASE_OWNER {
                let message = "role \"pg_database_owner\" cannot be a member of any role";
                return Err(Error::new(Condition::InternalError, message).into());
            }
            let schema = self.schema();
            let roles = &schema.main.roles;
            let name = |oid| self.role_name(oid);
            if role == member || roles.is_really_member(role, member) {
                let message = format!("role \"{}\" is a member of role \"{}\"", name(role), name(member));
                return Err(Error::new(Condition::InvalidGrantOperation, message).into());
            }
            let known = roles.memberships().iter().find(|known| known.role == role && known.member == member);
            if known.is_some_and(|known| known.admin || !admin) {
                let message = format!("role \"{}\" is already a member of role \"{}\"", name(member), name(role));
                self.notice(Condition::SuccessfulCompletion, message);
                continue;
            }
            self.store.write_member(role, member, grantor, admin)?;
            self.touch_access("main");
            self.settle()?;
        }
        Ok(())
    }

    fn remove_members(&self, role: u32, members: &[u32], admin_only: bool) -> Done {
        self.check_admin(role)?;
        for &member in members {
            if !self.store.remove_member(role, member, admin_only)? {
                let (member, role) = (self.role_name(member), self.role_name(role));
                self.notice(Condition::Warning, format!("role \"{member}\" is not a member of role \"{role}\""));
            }
        }
        self.touch_access("main");
        self.settle()
    }
}

/// A setting's name as it is kept; one that nobody knows can be struck alone.
fn setting_name(name: &str, set: bool) -> Result<String, Error> {
    if let Some(setting) = settings::find(name) {
        return Ok(setting.name.to_owned());
    }
    // Whose these are is no setting among the others, and names with a point are free.
    if !set || name.contains('.') || matches!(name, "role" | "session_authorization") {
        return Ok(name.to_owned());
    }
    let message = format!("unrecognized configuration parameter \"{name}\"");
    Err(Error::new(Condition::UndefinedObject, message))
}

pub(super) fn may_make_roles(roles: &Roles, oid: u32) -> bool {
    roles.can(oid, |role| role.create_role)
}

pub(super) fn refused(message: impl Into<String>) -> Error {
    Error::new(Condition::NoDbaPermission, message)
}

fn exists(name: &str) -> Error {
    Error::new(Condition::DuplicateObject, format!("role \"{name}\" already exists"))
}

fn reserved(name: &str) -> Error {
    Error::new(Condition::ReservedName, format!("role name \"{name}\" is reserved"))
        .detail("Role names starting with \"pg_\" are reserved.")
}

fn check_name(name: &str) -> Result<(), Error> {
    if name.starts_with("pg_") { Err(reserved(name)) } else { Ok(()) }
}
