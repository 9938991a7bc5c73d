//! Users, roles and rights as MySQL's statements change them: the file's roles, and what is kept of them besides.

use rowferry_dialect::access::acl::GrantChange;
use rowferry_dialect::access::{
    AccountFacts, Acl, AclItem, BOOTSTRAP, DATABASE, DatabaseRights, LevelRights, ObjectClass, Plugin, Privileges,
};
use rowferry_dialect::ir::{
    Account, AccountChange, AccountRights, AccountSecret, GrantRoles, Identified, RightsLevel, RoleOptions, RoleSpec,
};
use rowferry_dialect::schema::QualifiedName;
use rowferry_dialect::{Condition, Error, Schema as _};

use super::owners::Object;
use super::roles::may_make_roles;
use super::{Changer, Done};

/// The longest name of a user, in characters.
const LONGEST_USER: usize = 32;
/// The longest password that MySQL's clients prove.
const LONGEST_PASSWORD: usize = 256;

/// How PostgreSQL's verifiers begin.
const SCRAM: &str = "SCRAM-SHA-256$";

impl Changer<'_> {
    /// Runs a change of accounts.
    pub(super) fn change_accounts(&self, change: &AccountChange) -> Done {
        match change {
            AccountChange::Create { accounts, lenient, login } => self.create_accounts(accounts, *lenient, *login),
            AccountChange::Alter { accounts, lenient, locked, password } => {
                self.alter_accounts(accounts, *lenient, *locked, *password)
            }
            AccountChange::Drop { accounts, lenient, login } => self.drop_accounts(accounts, *lenient, *login),
            AccountChange::Rename(pairs) => self.rename_accounts(pairs),
            AccountChange::Roles { grant, roles, accounts, admin } => {
                self.change_memberships(*grant, roles, accounts, *admin)
            }
            AccountChange::Rights(rights) => self.change_rights(rights),
            AccountChange::RevokeAll { accounts } => self.revoke_all(accounts),
        }
    }

    /// The user's name that an account has.
    fn user_of(&self, account: &Account) -> String {
        let current = || self.role_name(self.schema().identity.current);
        account.user.clone().unwrap_or_else(current)
    }

    /// An account as messages call it.
    fn shown(&self, account: &Account) -> String {
        let user = self.user_of(account);
        let known = self.schema().role_oid(&user).map(|oid| self.facts(oid).local);
        let local = account.is_local().filter(|_| account.host.is_some()).or(known).unwrap_or(false);
        let host = account.host.as_deref().unwrap_or(AccountFacts::host(local));
        format!("'{user}'@'{host}'")
    }

    /// The role of an account; `None` where there is none.
    fn account(&self, account: &Account) -> Done<Option<u32>> {
        if account.is_local().is_none() {
            let host = account.host.as_deref().unwrap_or_default();
            return Err(Error::unsupported(format!(
                "the host '{host}' of an account, other than '%' and 'localhost',"
            ))
            .into());
        }
        let Some(user) = &account.user else { return Ok(Some(self.schema().identity.current)) };
        if user.is_empty() {
            return Err(Error::unsupported("an account of no name").into());
        }
        Ok(self.schema().role_oid(user))
    }

    /// What is kept of a role as an account.
    fn facts(&self, role: u32) -> AccountFacts {
        self.schema().main.roles.database().accounts.get(&role).cloned().unwrap_or_default()
    }

    fn keep(&self, role: u32, property: &str, value: Option<&str>) -> Done {
        self.store.set_property("main", DATABASE, &role.to_string(), property, value)?;
        self.touch_access("main");
        self.settle()
    }

    fn note(&self, code: u16, message: String) {
        let note = Error::new(Condition::SuccessfulCompletion, message).with_mysql(code, "HY000");
        self.session.state.notices.lock().push(note);
    }

    /// Refuses who may not change other accounts.
    fn check_may_make_accounts(&self) -> Done {
        let rights = self.rights();
        if may_make_roles(&rights.roles, rights.role()) {
            return Ok(());
        }
        Err(need("CREATE USER").into())
    }

    fn create_accounts(&self, accounts: &[Identified], lenient: bool, login: bool) -> Done {
        self.check_may_make_accounts()?;
        let verb = if login { "CREATE USER" } else { "CREATE ROLE" };
        let mut new = Vec::new();
        let mut there = Vec::new();
        for said in accounts {
            match self.account(&said.account)? {
                Some(_) if lenient => {
                    self.note(3163, format!("Authorization ID {} already exists.", self.shown(&said.account)));
                }
                Some(_) => there.push(self.shown(&said.account)),
                None => new.push(said),
            }
        }
        if !there.is_empty() {
            return Err(failed(verb, &there).into());
        }
        for said in new {
            let user = self.user_of(&said.account);
            if user.chars().count() > LONGEST_USER {
                let message =
                    format!("String '{user}' is too long for user name (should be no longer than {LONGEST_USER})");
                return Err(Error::new(Condition::NameTooLong, message).with_mysql(1470, "HY000").into());
            }
            let password = clear(&said.secret);
            self.create_role(&user, &RoleOptions { login: Some(login), password, ..RoleOptions::default() })?;
            self.settle()?;
            let role = self.role_named(&user)?;
            if said.account.is_local() == Some(true) {
                self.keep(role, AccountFacts::HOST, Some("localhost"))?;
            }
            self.keep_verifier(role, said)?;
        }
        Ok(())
    }

    /// Keeps what a statement says of a password, beside what PostgreSQL keeps of it.
    fn keep_verifier(&self, role: u32, said: &Identified) -> Done {
        let plugin = match said.plugin.as_deref().map(|name| (name, Plugin::of_name(name))) {
            None => None,
            Some((_, Some(plugin))) => Some(plugin),
            Some((name, None)) => {
                return Err(Error::unsupported(format!("the plugin '{name}' of an account")).into());
            }
        };
        // An account keeps to its plugin.
        let plugin = plugin.unwrap_or_else(|| self.facts(role).plugin());
        let without = Some(plugin.prefix()).filter(|_| plugin != Plugin::Caching);
        match &said.secret {
            AccountSecret::Unsaid if said.plugin.is_none() => Ok(()),
            AccountSecret::Unsaid => self.keep(role, AccountFacts::VERIFIER, without),
            AccountSecret::Clear(password) | AccountSecret::Kept(password) if password.is_empty() => {
                self.keep(role, AccountFacts::VERIFIER, without)
            }
            AccountSecret::Clear(password) if password.len() > LONGEST_PASSWORD => {
                Err(Error::unsupported(format!("a password of more than {LONGEST_PASSWORD} bytes")).into())
            }
            AccountSecret::Clear(password) => {
                let made = self.session.database.shared.options.mysql_verifier.map(|make| make(plugin, password));
                self.keep(role, AccountFacts::VERIFIER, made.as_deref())
            }
            AccountSecret::Kept(verifier) if verifier.starts_with(SCRAM) => {
                self.keep(role, AccountFacts::VERIFIER, None)
            }
            AccountSecret::Kept(verifier) => {
                if !is_verifier(verifier, plugin) {
                    let message = "The password hash doesn't have the expected format.";
                    return Err(Error::new(Condition::InvalidParameterValue, message).with_mysql(1827, "HY000").into());
                }
                // What PostgreSQL's clients would have to prove is not known.
                self.forget_password(role)?;
                self.keep(role, AccountFacts::VERIFIER, Some(verifier))
            }
        }
    }

    /// A role's password is set at another door: what is kept of it for MySQL's clients follows.
    pub(super) fn follow_password(&self, role: u32, clear: Option<&str>) -> Done {
        let facts = self.facts(role);
        if facts.verifier.is_none() {
            return Ok(());
        }
        let plugin = facts.plugin();
        let make = self.session.database.shared.options.mysql_verifier;
        let clear = clear.filter(|password| password.len() <= LONGEST_PASSWORD);
        let made = clear.zip(make).map(|(password, make)| make(plugin, password));
        let kept = made.as_deref().or(Some(plugin.prefix()).filter(|_| plugin != Plugin::Caching));
        self.store.set_property("main", DATABASE, &role.to_string(), AccountFacts::VERIFIER, kept)?;
        self.touch_access("main");
        Ok(())
    }

    fn alter_accounts(&self, accounts: &[Identified], lenient: bool, locked: Option<bool>, password: bool) -> Done {
        for said in accounts {
            let shown = self.shown(&said.account);
            let Some(role) = self.account(&said.account)? else {
                if lenient {
                    self.note(3162, format!("Authorization ID {shown} does not exist."));
                    continue;
                }
                if password {
                    let message = "Can't find any matching row in the user table";
                    return Err(Error::new(Condition::UndefinedObject, message).with_mysql(1133, "42000").into());
                }
                return Err(failed("ALTER USER", &[shown]).into());
            };
            let options = RoleOptions {
                login: locked.map(|locked| !locked),
                password: clear(&said.secret),
                ..RoleOptions::default()
            };
            let own = role == self.rights().role();
            if !own || matches!(said.secret, AccountSecret::Kept(_)) || locked.is_some() {
                self.check_may_make_accounts()?;
            }
            if said.plugin.is_some() && said.secret == AccountSecret::Unsaid {
                return Err(Error::unsupported("another plugin for an account without a new password").into());
            }
            if options != RoleOptions::default() || !own {
                self.alter_role(&RoleSpec::Named(self.user_of(&said.account)), &options)?;
            }
            self.settle()?;
            self.keep_verifier(role, said)?;
        }
        Ok(())
    }

    fn drop_accounts(&self, accounts: &[Account], lenient: bool, login: bool) -> Done {
        self.check_may_make_accounts()?;
        let verb = if login { "DROP USER" } else { "DROP ROLE" };
        let (mut going, mut missing) = (Vec::new(), Vec::new());
        for account in accounts {
            match self.account(account)? {
                Some(role) => going.push((role, account)),
                None if lenient => {
                    self.note(3162, format!("Authorization ID {} does not exist.", self.shown(account)));
                }
                None => missing.push(self.shown(account)),
            }
        }
        let rights = self.rights();
        let is_needed =
            |role: u32| role == BOOTSTRAP || role == rights.identity.current || role == rights.identity.session;
        missing.extend(going.iter().filter(|(role, _)| is_needed(*role)).map(|(_, account)| self.shown(account)));
        if !missing.is_empty() {
            return Err(failed(verb, &missing).into());
        }
        if going.iter().any(|(role, _)| rights.roles.is_superuser(*role)) && !rights.is_superuser() {
            return Err(need("SYSTEM_USER").into());
        }
        for (role, _) in &going {
            self.leave_nothing(*role)?;
        }
        let roles = going.iter().map(|(_, account)| RoleSpec::Named(self.user_of(account))).collect::<Vec<_>>();
        self.drop_roles(&roles, false)
    }

    /// Takes from a role what it has, as MySQL's users have nothing that stays: what it has made is the superuser's.
    fn leave_nothing(&self, role: u32) -> Done {
        let schema = self.schema();
        let rights = schema.rights();
        for object in self.all_objects(&schema) {
            self.revoke_from(&rights, &object, &[role])?;
            if rights.owner(object.oid) == role {
                self.settle()?;
                self.give_away(&object, BOOTSTRAP)?;
            }
        }
        self.settle()?;
        self.take_from_policies(&[role])?;
        self.reassign_large_objects(role, BOOTSTRAP)?;
        self.drop_large_objects_of(role)?;
        self.store.forget_default_lists_of(role)?;
        for default in rights.main.defaults.iter().filter(|default| default.role != role) {
            self.store.change_default_list(default.oid, &super::owned::without(&default.acl, &[role], default.role))?;
        }
        self.touch_access("main");
        self.settle()
    }

    fn rename_accounts(&self, pairs: &[(Account, Account)]) -> Done {
        self.check_may_make_accounts()?;
        for (from, to) in pairs {
            let shown = self.shown(from);
            let (known, taken) = (self.account(from)?, self.account(to)?);
            let Some(role) = known.filter(|role| taken.is_none_or(|taken| taken == *role)) else {
                return Err(failed("RENAME USER", &[shown]).into());
            };
            let rights = self.rights();
            if rights.roles.is_superuser(role) && !rights.is_superuser() {
                return Err(need("SYSTEM_USER").into());
            }
            let (old, new) = (self.user_of(from), self.user_of(to));
            if old != new {
                self.rename_role(&old, &new)?;
                self.settle()?;
            }
            let host = to.is_local().filter(|local| *local).map(AccountFacts::host);
            self.keep(role, AccountFacts::HOST, host)?;
        }
        Ok(())
    }

    fn change_memberships(&self, grant: bool, roles: &[Account], accounts: &[Account], admin: bool) -> Done {
        let known = |account: &Account| match self.account(account)? {
            Some(_) => Ok(self.user_of(account)),
            None => Err(unknown_authorization(&self.shown(account)).into()),
        };
        let roles = roles.iter().map(known).collect::<Done<Vec<String>>>()?;
        let members = accounts.iter().map(|account| Ok(RoleSpec::Named(known(account)?))).collect::<Done<Vec<_>>>()?;
        self.grant_roles(&GrantRoles { grant, roles, members, admin, grantor: None })
    }

    /// GRANT and REVOKE of rights.
    fn change_rights(&self, change: &AccountRights) -> Done {
        let mut grantees = Vec::new();
        for account in &change.accounts {
            match self.account(account)? {
                Some(role) => grantees.push((role, account)),
                None if change.grant => {
                    let message = "You are not allowed to create a user with GRANT";
                    return Err(Error::new(Condition::UndefinedObject, message).with_mysql(1410, "42000").into());
                }
                None => return Err(self.no_grant(account).into()),
            }
        }
        for (role, account) in grantees {
            match &change.level {
                RightsLevel::Everything => self.rights_on_all(change, role, account)?,
                RightsLevel::Database(schema) => {
                    let schema = self.schema_meant(schema.as_deref())?;
                    self.check_may_grant(change, Some(&schema))?;
                    self.change_level(change, role, account, Some(&schema))?;
                }
                RightsLevel::Table(schema, table) => {
                    let schema = self.schema_meant(schema.as_deref())?;
                    self.rights_on_table(change, role, account, &QualifiedName::new(schema, table.clone()))?;
                }
            }
            self.settle()?;
        }
        Ok(())
    }

    /// There is nothing that could be revoked.
    fn no_grant(&self, account: &Account) -> Error {
        let shown = self.shown(account);
        let (user, host) = shown.split_once('@').unwrap_or((&shown, "'%'"));
        let message = format!("There is no such grant defined for user {user} on host {host}");
        Error::new(Condition::UndefinedObject, message).with_mysql(1141, "42000")
    }

    /// The schema that a level names: the default database's, where it names none.
    fn schema_meant(&self, said: Option<&str>) -> Done<String> {
        let none = || Error::new(Condition::InvalidSchemaName, "No database selected").with_mysql(1046, "3D000");
        match said {
            Some(schema) => Ok(schema.to_owned()),
            None => Ok(self.schema().creation_namespace().ok_or_else(none)?),
        }
    }

    /// Refuses to let somebody give on what it must not.
    fn check_may_grant(&self, change: &AccountRights, schema: Option<&str>) -> Done {
        let rights = self.rights();
        let held = rights.database_rights(rights.role(), schema);
        let wanted = if change.all { DatabaseRights::ALL } else { change.rights };
        if rights.is_superuser() || held.grantable && held.rights.contains(wanted) {
            return Ok(());
        }
        Err(match schema {
            Some(schema) => self.session.denied_database(schema),
            None => need("GRANT OPTION"),
        }
        .into())
    }

    /// Rights on `*.*`. All of them make a superuser: nothing is refused to who may change every account.
    fn rights_on_all(&self, change: &AccountRights, role: u32, account: &Account) -> Done {
        self.check_may_grant(change, None)?;
        let name = || RoleSpec::Named(self.user_of(account));
        let is_superuser = self.rights().roles.is_superuser(role);
        if change.all {
            if !self.rights().is_superuser() {
                return Err(need("SUPER").into());
            }
            if !change.grant && role == BOOTSTRAP {
                return Err(Error::unsupported("REVOKE from the file's own superuser").into());
            }
            let flag = Some(change.grant);
            let options = RoleOptions { superuser: flag, create_role: flag, create_db: flag, ..RoleOptions::default() };
            self.alter_role(&name(), &options)?;
            self.settle()?;
            return match change.grant {
                true => Ok(()),
                false => self.keep(role, AccountFacts::RIGHTS, None),
            };
        }
        if !change.grant && is_superuser && (change.create_user || !change.rights.is_empty()) {
            return Err(Error::unsupported("REVOKE of single rights from who has ALL PRIVILEGES ON *.*").into());
        }
        if change.create_user {
            let rights = self.rights();
            if !may_make_roles(&rights.roles, rights.role()) {
                return Err(need("CREATE USER").into());
            }
            self.alter_role(&name(), &RoleOptions { create_role: Some(change.grant), ..RoleOptions::default() })?;
            self.settle()?;
        }
        self.change_level(change, role, account, None)
    }

    /// Rights on a database, or on all.
    fn change_level(&self, change: &AccountRights, role: u32, account: &Account, schema: Option<&str>) -> Done {
        let known = self.facts(role).rights.get(&schema.map(str::to_owned)).copied().unwrap_or_default();
        let wanted = if change.all { DatabaseRights::ALL } else { change.rights };
        let left = if change.grant {
            LevelRights {
                rights: known.rights | wanted,
                grantable: known.grantable || change.grant_option,
                seen: known.seen,
            }
        } else {
            if known.is_empty() && schema.is_some() {
                return Err(self.no_grant(account).into());
            }
            LevelRights {
                rights: known.rights.without(wanted),
                grantable: known.grantable && !change.grant_option,
                seen: known.seen,
            }
        };
        let stored = (!left.is_empty()).then(|| left.stored());
        self.keep(role, &AccountFacts::property(schema), stored.as_deref())
    }

    /// Rights on a table: what PostgreSQL's GRANT writes.
    fn rights_on_table(&self, change: &AccountRights, role: u32, account: &Account, name: &QualifiedName) -> Done {
        let object = self.object(ObjectClass::Relation, name)?;
        let rights = self.rights();
        let of = |rights: DatabaseRights| rights.privileges(ObjectClass::Relation);
        let whole = match change.all {
            // Emptying is for who may drop.
            true => of(DatabaseRights::ALL).without(Privileges::TRUNCATE),
            false => of(change.rights),
        };
        let columns = change.columns.iter().map(|(right, _)| of(*right));
        let wanted = columns.fold(whole, |all, privileges| all | privileges);
        let owner = rights.owner(object.oid);
        let list = rights.list(ObjectClass::Relation, object.oid);
        let schema = name.schema.as_deref().unwrap_or_default();
        let over_all = rights.database_rights(rights.role(), Some(schema));
        let may = rights.owns(object.oid)
            || rights.is_superuser()
            || over_all.grantable && of(over_all.rights).contains(wanted)
            || list.held_by(&rights.roles, rights.role(), owner, ObjectClass::Relation).1.contains(wanted);
        if !may {
            return Err(self.session.denied_table("GRANT", &object.name).into());
        }
        let has = |list: &Acl| list.0.iter().any(|item| item.grantee == role && item.grantee != owner);
        let of_columns = rights.main.columns.iter().any(|((oid, _), list)| *oid == object.oid && has(list));
        if !change.grant && !has(&list) && !of_columns {
            let shown = self.shown(account);
            let (user, host) = shown.split_once('@').unwrap_or((&shown, "'%'"));
            let message =
                format!("There is no such grant defined for user {user} on host {host} on table '{}'", object.name);
            return Err(Error::new(Condition::UndefinedObject, message).with_mysql(1147, "42000").into());
        }
        if !whole.is_empty() || change.grant_option {
            let mut list = list;
            let change_of_option = change.grant_option;
            let held = list.0.iter().filter(|item| item.grantee == role).fold(whole, |all, item| all | item.privileges);
            match change.grant {
                true => list.add(AclItem {
                    grantee: role,
                    grantor: owner,
                    privileges: whole,
                    // MySQL's option is for all that an account has at the level.
                    grantable: if change.grant_option { held } else { Privileges::NONE },
                }),
                false => {
                    let change = |privileges, grant_option| GrantChange {
                        grant: false,
                        grant_option,
                        cascade: true,
                        grantees: vec![role],
                        privileges,
                        grantor: owner,
                        owner,
                    };
                    list.change(&change(whole, false))?;
                    if change_of_option {
                        list.change(&change(held, true))?;
                    }
                }
            }
            self.write_list(object.database, object.oid, "", Some(&list))?;
        }
        let known = self.facts(role).rights.get(&Some(schema.to_owned())).copied().unwrap_or_default();
        if change.grant && !known.seen && schema != "public" {
            let seen = LevelRights { seen: true, ..known };
            self.keep(role, &AccountFacts::property(Some(schema)), Some(&seen.stored()))?;
        }
        for (right, names) in &change.columns {
            for column in names {
                self.right_on_column(change.grant, &object, column, of(*right), (role, owner))?;
                self.settle()?;
            }
        }
        Ok(())
    }
}

impl Changer<'_> {
    /// A right on one column.
    fn right_on_column(
        &self,
        grant: bool,
        object: &Object,
        column: &str,
        privileges: Privileges,
        (role, owner): (u32, u32),
    ) -> Done {
        let relation = self.schema().relation_by_oid(object.oid);
        let found = relation.iter().flat_map(|relation| &relation.columns).find(|known| {
            // Names of columns are found whatever their case.
            known.name.eq_ignore_ascii_case(column)
        });
        let Some(found) = found else {
            let message = format!("Unknown column '{column}' in '{}'", object.name);
            return Err(Error::new(Condition::UndefinedColumn, message).with_mysql(1054, "42S22").into());
        };
        let mut list = self.rights().column_list(object.oid, &found.name).cloned().unwrap_or_default();
        if grant {
            list.add(AclItem { grantee: role, grantor: owner, privileges, grantable: Privileges::NONE });
        } else {
            let grantees = vec![role];
            let (grant_option, cascade, grantor) = (false, true, owner);
            list.change(&GrantChange { grant, grant_option, cascade, grantees, privileges, grantor, owner })?;
        }
        let list = Some(&list).filter(|list| !list.0.is_empty());
        self.write_list(object.database, object.oid, &found.name, list)
    }

    /// REVOKE ALL PRIVILEGES, GRANT OPTION.
    fn revoke_all(&self, accounts: &[Account]) -> Done {
        self.check_may_make_accounts()?;
        for account in accounts {
            let Some(role) = self.account(account)? else {
                let message = "Can't revoke all privileges for one or more of the requested users";
                return Err(Error::new(Condition::UndefinedObject, message).with_mysql(1269, "HY000").into());
            };
            if role == BOOTSTRAP {
                return Err(Error::unsupported("REVOKE from the file's own superuser").into());
            }
            let name = RoleSpec::Named(self.user_of(account));
            let no = Some(false);
            self.alter_role(
                &name,
                &RoleOptions { superuser: no, create_role: no, create_db: no, ..Default::default() },
            )?;
            self.settle()?;
            let schema = self.schema();
            let rights = schema.rights();
            for object in self.all_objects(&schema) {
                self.revoke_from(&rights, &object, &[role])?;
            }
            for level in self.facts(role).rights.keys() {
                self.keep(role, &AccountFacts::property(level.as_deref()), None)?;
            }
            self.settle()?;
        }
        Ok(())
    }
}

/// The password itself, where it is said.
fn clear(secret: &AccountSecret) -> Option<Option<String>> {
    match secret {
        AccountSecret::Clear(password) => Some(Some(password.clone()).filter(|password| !password.is_empty())),
        AccountSecret::Kept(verifier) if verifier.is_empty() => Some(None),
        // PostgreSQL's form, as SHOW CREATE USER tells it of who was made at that door.
        AccountSecret::Kept(verifier) if verifier.starts_with(SCRAM) => Some(Some(verifier.clone())),
        _ => None,
    }
}

/// What a server keeps of a password under a plugin, in MySQL's own form.
fn is_verifier(text: &str, plugin: Plugin) -> bool {
    let Some(rest) = text.strip_prefix(plugin.prefix()) else { return false };
    match plugin {
        Plugin::Native => rest.len() == 40 && rest.bytes().all(|digit| digit.is_ascii_hexdigit()),
        // Twenty bytes of salt, and forty-three digits.
        Plugin::Sha256 => rest.len() == 64 && rest.as_bytes()[20] == b'$',
        Plugin::Caching => match rest.split_once('$') {
            Some((steps, rest)) => {
                steps.len() == 3 && steps.bytes().all(|digit| digit.is_ascii_hexdigit()) && rest.len() == 63
            }
            None => false,
        },
    }
}

/// Somebody would need a right on everything.
fn need(right: &str) -> Error {
    let message = format!("Access denied; you need (at least one of) the {right} privilege(s) for this operation");
    Error::new(Condition::NoDbaPermission, message).with_mysql(1227, "42000")
}

/// A statement that fails for some accounts does nothing for any.
fn failed(verb: &str, accounts: &[String]) -> Error {
    let message = format!("Operation {verb} failed for {}", accounts.join(","));
    Error::new(Condition::UndefinedObject, message).with_mysql(1396, "HY000")
}

pub(crate) fn unknown_authorization(shown: &str) -> Error {
    let message = format!("Unknown authorization ID {}", shown.replace('\'', "`"));
    Error::new(Condition::UndefinedObject, message).with_mysql(3523, "HY000")
}
