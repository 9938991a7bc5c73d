//! What a file says of somebody who wants to log in.

use std::collections::BTreeMap;
use std::sync::Arc;

use rowferry_dialect::access::{
    AccountFacts, BOOTSTRAP, DATABASE, ObjectClass, Plugin, Privileges, Rights, Role, denied_as,
};
use rowferry_dialect::values::timestamp;
use rowferry_dialect::{Condition, Error, Result};

use crate::Database;
use crate::schema::Snapshot;

/// What a file says of somebody who wants to log in.
///
/// A file without roles lets everybody in, as its superuser; one with roles those that have LOGIN.
#[derive(Clone, Debug, Default)]
pub struct Login {
    /// What is kept of the role's password.
    pub verifier: Option<String>,
    /// What is kept of it for MySQL's clients.
    pub mysql_verifier: Option<String>,
    /// How those prove it.
    pub plugin: Option<Plugin>,
    /// The role cannot log in (NOLOGIN), though its password may be right.
    pub locked: bool,
    /// As an account of MySQL's its host is `localhost`.
    pub local: bool,
    /// The password is no longer valid.
    pub expired: bool,
    /// Settings with which the session begins.
    pub settings: Vec<(String, String)>,
    refusal: Option<Error>,
}

impl Login {
    /// Refuses who may not log in; to be told after the password has been proved.
    ///
    /// # Errors
    /// `28000` for a role that is not there or has no LOGIN, `53300` for one that has as many sessions as it may.
    pub fn check(&self) -> Result<()> {
        self.refusal.clone().map_or(Ok(()), Err)
    }
}

impl Database {
    /// What the file says of a user who wants to log in.
    pub fn login(&self, user: &str) -> Login {
        let snapshot = self.shared.current();
        let roles = &snapshot.roles;
        let of_database =
            |role: u32| roles.database().settings_of(role).map(|(name, value)| (name.clone(), value.clone()));
        let account = |role: u32| roles.database().accounts.get(&role);
        let has_password = |role: &Arc<Role>| {
            role.password.is_some() || account(role.oid).is_some_and(|account| account.password().is_some())
        };
        // Where nobody but the bootstrap superuser is known, everybody comes in as it, unless it has a password.
        if roles.is_simple() && !roles.get(BOOTSTRAP).is_some_and(has_password) {
            let mut settings = roles.database().everywhere.clone();
            settings.extend(of_database(0));
            settings.extend(roles.get(BOOTSTRAP).into_iter().flat_map(|role| role.config.clone()));
            settings.extend(of_database(BOOTSTRAP));
            let refusal = self.closed(&snapshot);
            return Login { settings: settings.into_iter().collect(), refusal, ..Login::default() };
        }
        let Some(role) = roles.find(user) else {
            let error = refused(format!("role \"{user}\" does not exist"));
            return Login { refusal: Some(error), ..Login::default() };
        };
        let account = account(role.oid);
        Login {
            verifier: role.password.clone(),
            mysql_verifier: account.and_then(|account| account.password().map(str::to_owned)),
            plugin: account.map(AccountFacts::plugin),
            locked: !role.login,
            local: account.is_some_and(|account| account.local),
            expired: is_expired(role),
            // What is nearer to the session counts.
            settings: (roles.database().everywhere.clone().into_iter())
                .chain(of_database(0))
                .chain(role.config.clone())
                .chain(of_database(role.oid))
                .collect::<BTreeMap<String, String>>()
                .into_iter()
                .collect(),
            refusal: self
                .refusal(role, &snapshot)
                .or_else(|| self.closed(&snapshot))
                .or_else(|| self.full(role, &snapshot)),
        }
    }

    /// Whether a user is a role, or a member of it, being a superuser aside.
    pub fn is_member(&self, user: &str, role: &str) -> bool {
        let snapshot = self.shared.current();
        let roles = &snapshot.roles;
        user == role
            || roles.oid(user).zip(roles.oid(role)).is_some_and(|(user, role)| roles.is_really_member(user, role))
    }

    /// ALLOW_CONNECTIONS false.
    fn closed(&self, snapshot: &Snapshot) -> Option<Error> {
        let message = format!("database \"{}\" is not currently accepting connections", self.name());
        (!snapshot.roles.database().allows_connections)
            .then(|| Error::new(Condition::ObjectNotInPrerequisiteState, message))
    }

    /// CONNECTION LIMIT of the database.
    fn full(&self, role: &Role, snapshot: &Snapshot) -> Option<Error> {
        let limit = snapshot.roles.database().connection_limit;
        let limit = usize::try_from(limit).ok().filter(|_| !role.superuser)?;
        let message = format!("too many connections for database \"{}\"", self.name());
        (self.shared.sessions().len() >= limit).then(|| Error::new(Condition::TooManyConnections, message))
    }

    fn refusal(&self, role: &Role, snapshot: &Snapshot) -> Option<Error> {
        if !role.login {
            return Some(refused(format!("role \"{}\" is not permitted to log in", role.name)));
        }
        let rights = Rights { roles: snapshot.roles.clone(), main: snapshot.grants.clone(), ..Rights::default() };
        let held = rights.held_by(role.oid, ObjectClass::Database, DATABASE).0;
        if !held.contains(Privileges::CONNECT) {
            let detail = "User does not have CONNECT privilege.";
            let name = format!("\"{}\"", self.name());
            return Some(denied_as(Condition::NoConnectPermission, "database", &name).detail(detail));
        }
        let limit = usize::try_from(role.connection_limit).ok().filter(|_| !role.superuser)?;
        let sessions = self.shared.sessions();
        let open = sessions.iter().filter(|state| state.schema.read().identity.login == role.oid).count();
        (open >= limit).then(|| {
            Error::new(Condition::TooManyConnections, format!("too many connections for role \"{}\"", role.name))
        })
    }
}

fn is_expired(role: &Role) -> bool {
    let Some(until) = &role.valid_until else { return false };
    let until = timestamp::parse_tz(until, &Default::default());
    until.is_ok_and(|until| until < crate::session::state::now())
}

fn refused(message: String) -> Error {
    Error::new(Condition::InvalidAuthorizationSpecification, message)
}
