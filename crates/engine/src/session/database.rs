//! CREATE, DROP and ALTER DATABASE: databases are files, which no transaction can take back.

use std::time::{Duration, Instant};

use rowferry_dialect::access::Roles;
use rowferry_dialect::ir::{DatabaseChange, RoleSpec};
use rowferry_dialect::{Condition, Error, Result};

use super::Session;
use crate::Database;
use crate::databases::{Beginning, Databases, Siblings};
use crate::interrupt::{End, Wake};

/// How long sessions that are about to end may take, as in PostgreSQL.
const PATIENCE: Duration = Duration::from_secs(5);
/// The locales in which text is ordered as it is here: by code points.
const LOCALES: [&str; 5] = ["c", "posix", "c.utf-8", "c.utf8", "ucs_basic"];

impl Session {
    pub(super) fn change_database(&mut self, change: &DatabaseChange) -> Result<()> {
        self.need_no_block(change.tag())?;
        // Only Informix is told the name apart from the message.
        self.run_on_databases(change).map_err(|mut error| {
            (error.schema, error.table) = (None, None);
            error
        })
    }

    fn run_on_databases(&mut self, change: &DatabaseChange) -> Result<()> {
        let databases = self.database.shared.siblings.get().and_then(Siblings::databases);
        let databases = databases.ok_or_else(|| Error::internal("a database without a server"))?;
        match change {
            DatabaseChange::Create { name, template, owner, locales, facts } => {
                for locale in locales.iter().filter(|locale| !LOCALES.contains(&locale.to_ascii_lowercase().as_str())) {
                    let message = format!("text is ordered by its code points, not as in the locale \"{locale}\"");
                    self.warn(Condition::SuccessfulCompletion, &message);
                }
                self.create_database(&databases, name, template.as_deref(), owner.as_ref(), facts)
            }
            DatabaseChange::Drop { name, if_exists, force } => self.drop_database(&databases, name, *if_exists, *force),
            DatabaseChange::Rename { name, to } => self.rename_database(&databases, name, to),
        }
    }

    fn create_database(
        &mut self,
        databases: &Databases,
        name: &str,
        template: Option<&str>,
        owner: Option<&RoleSpec>,
        facts: &[(&'static str, Option<String>)],
    ) -> Result<()> {
        if !self.may_make_databases(databases) {
            return Err(Error::new(Condition::InsufficientPrivilege, "permission denied to create database"));
        }
        let owner = self.owner_to_be(owner)?;
        let template = template.map(|name| databases.open(name).map_err(|error| missing_template(error, name)));
        let template = template.transpose()?;
        if let Some(template) = &template {
            let is_template = template.shared.current().roles.database().is_template;
            if !is_template && !self.may_do_all(databases) && !self.owns(template) {
                let message = format!("permission denied to copy database \"{}\"", template.name());
                return Err(Error::new(Condition::InsufficientPrivilege, message));
            }
            self.wait_for_others(template, |others| {
                let message = format!("source database \"{}\" is being accessed by other users", template.name());
                Error::new(Condition::DatabaseInUse, message).detail(others)
            })?;
        }
        let beginning = Beginning { template: template.as_ref(), roles_of: &self.database, owner: &owner, facts };
        databases.create_as(name, &beginning)?;
        Ok(())
    }

    fn drop_database(&mut self, databases: &Databases, name: &str, if_exists: bool, force: bool) -> Result<()> {
        let database = match self.changeable(databases, name) {
            Err(error) if if_exists && error.condition() == Condition::InvalidCatalogName => {
                self.warn(Condition::SuccessfulCompletion, &format!("database \"{name}\" does not exist, skipping"));
                return Ok(());
            }
            other => other?,
        };
        if name == self.database.name() {
            return Err(Error::new(Condition::DatabaseInUse, "cannot drop the currently open database"));
        }
        if database.shared.current().roles.database().is_template {
            return Err(Error::new(Condition::WrongObjectType, "cannot drop a template database"));
        }
        if force {
            self.end_sessions(&database)?;
        }
        self.alone(databases, database, |databases| databases.drop(name))
    }

    fn rename_database(&mut self, databases: &Databases, name: &str, to: &str) -> Result<()> {
        let database = self.changeable(databases, name)?;
        if !self.may_make_databases(databases) {
            return Err(Error::new(Condition::InsufficientPrivilege, "permission denied to rename database"));
        }
        if name == self.database.name() {
            return Err(Error::new(Condition::FeatureNotSupported, "current database cannot be renamed"));
        }
        self.alone(databases, database, |databases| databases.rename(name, to))
    }

    /// A database that the role may drop or rename.
    fn changeable(&self, databases: &Databases, name: &str) -> Result<Database> {
        let database = databases.open(name)?;
        if !self.may_do_all(databases) && !self.owns(&database) {
            return Err(Error::new(Condition::InsufficientPrivilege, format!("must be owner of database {name}")));
        }
        if name == databases.main().name() && name != self.database.name() {
            let message = format!("database \"{name}\" is the one that the server was started for");
            return Err(Error::new(Condition::DatabaseInUse, message));
        }
        Ok(database)
    }

    /// Does what needs a database that nobody is in.
    fn alone(
        &mut self,
        databases: &Databases,
        database: Database,
        run: impl Fn(&Databases) -> Result<()>,
    ) -> Result<()> {
        let used = |others| {
            let message = format!("database \"{}\" is being accessed by other users", database.name());
            Error::new(Condition::DatabaseInUse, message).detail(others)
        };
        self.wait_for_others(&database, used)?;
        drop(database);
        // Whoever comes in between is told of.
        run(databases)
    }

    /// Waits until nobody but this session is in a database, for as long as PostgreSQL does.
    fn wait_for_others(&self, database: &Database, used: impl Fn(String) -> Error) -> Result<()> {
        let others = || database.shared.sessions().iter().filter(|other| other.pid != self.state.pid).count();
        let until = Instant::now() + PATIENCE;
        loop {
            let count = others();
            if count == 0 {
                return Ok(());
            }
            if Instant::now() >= until {
                let plural = if count == 1 { "is 1 other session" } else { "are # other sessions" };
                return Err(used(format!("There {} using the database.", plural.replace('#', &count.to_string()))));
            }
            let interrupter = &self.state.interrupter;
            if interrupter.wait(Some(Duration::from_millis(20)), || false) == Wake::Stopped {
                return Err(interrupter.error());
            }
        }
    }

    /// FORCE.
    fn end_sessions(&self, database: &Database) -> Result<()> {
        let sessions = database.shared.sessions();
        for other in &sessions {
            self.state.check_signal(other, "terminate", "process is being terminated")?;
        }
        for other in sessions {
            other.interrupter.end(End::Terminated);
            let wake = other.waker.lock().clone();
            if let Some(wake) = wake {
                wake();
            }
        }
        Ok(())
    }

    /// The name of the role that a new database is to belong to.
    fn owner_to_be(&self, owner: Option<&RoleSpec>) -> Result<String> {
        let Some(RoleSpec::Named(name)) = owner else { return Ok(self.state.current_user()) };
        let missing = || Error::new(Condition::UndefinedObject, format!("role \"{name}\" does not exist"));
        let role = self.schema.role_oid(name).ok_or_else(missing)?;
        let rights = self.rights();
        if !rights.roles.is_member(rights.role(), role) {
            let message = format!("must be member of role \"{name}\"");
            return Err(Error::new(Condition::InsufficientPrivilege, message));
        }
        Ok(name.clone())
    }

    /// CREATEDB, here and in the database that the server was started for, whose roles are the server's.
    fn may_make_databases(&self, databases: &Databases) -> bool {
        self.is_allowed(databases, |roles, role| roles.can(role, |role| role.create_db))
    }

    fn may_do_all(&self, databases: &Databases) -> bool {
        self.is_allowed(databases, |roles, role| roles.is_superuser(role))
    }

    fn is_allowed(&self, databases: &Databases, allowed: impl Fn(&Roles, u32) -> bool) -> bool {
        let rights = self.rights();
        if !allowed(&rights.roles, rights.role()) {
            return false;
        }
        let main = databases.main().shared.current();
        main.roles.is_simple()
            || main.roles.oid(&self.state.current_user()).is_some_and(|role| allowed(&main.roles, role))
    }

    /// Whether the role owns a database; a role of another file is known by its name.
    fn owns(&self, database: &Database) -> bool {
        let snapshot = database.shared.current();
        let rights = rowferry_dialect::access::Rights {
            roles: snapshot.roles.clone(),
            main: snapshot.grants.clone(),
            ..Default::default()
        };
        let owner = rights.owner(rowferry_dialect::access::DATABASE);
        let role = snapshot.roles.oid(&self.state.current_user());
        role.is_some_and(|role| snapshot.roles.is_member(role, owner))
    }
}

fn missing_template(error: Error, name: &str) -> Error {
    if error.condition() != Condition::InvalidCatalogName {
        return error;
    }
    Error::new(Condition::InvalidCatalogName, format!("template database \"{name}\" does not exist"))
}
