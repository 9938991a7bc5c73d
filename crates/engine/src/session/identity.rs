//! Who the session's user is: the role that has logged in, SET SESSION AUTHORIZATION, SET ROLE; and what that role may do.

use std::sync::Arc;

use rowferry_dialect::access::roles::{CHECKPOINT, SIGNAL_BACKEND};
use rowferry_dialect::access::{
    BOOTSTRAP, Identity, ObjectClass, Privileges, Rights, denied, not_owner, relation_words,
};
use rowferry_dialect::ir::{DmlAction, LockMode, Statement as Ir};
use rowferry_dialect::schema::{QualifiedName, Relation};
use rowferry_dialect::text_search::{self, Kind};
use rowferry_dialect::{Condition, Error, Result};

use super::state::State;
use super::{Prepared, Session};
use crate::schema::{SequenceDetails, SessionSchema};
use crate::settings::{self, Context};

/// A role that is gone, or that never was: it has no privileges.
const NOBODY: u32 = u32::MAX;

/// The names that settings give to roles.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct RoleNames {
    /// `session_authorization`.
    pub session: String,
    /// `role`; `none` is the session's.
    pub current: String,
    /// `informix.role`: the role that Informix's SET ROLE has enabled; `none` or nothing is none.
    pub enabled: String,
}

impl SessionSchema {
    /// Whoever has connected under the session's name.
    pub(crate) fn begin_identity(&mut self) {
        let login = self.role_oid(&self.user).unwrap_or(NOBODY);
        self.identity = Identity { login, session: login, current: login, enabled: None };
    }

    /// The default role of whoever has connected.
    pub(super) fn enable_role(&mut self, names: &RoleNames) {
        if !names.enabled.is_empty() {
            self.identity = self.identity_of(names);
        }
    }

    fn identity_of(&self, names: &RoleNames) -> Identity {
        let login = self.identity.login;
        let role = |name: &str| self.role_oid(name).unwrap_or(NOBODY);
        let session = if *names.session == *self.user { login } else { role(&names.session) };
        let current = if names.current == "none" { session } else { role(&names.current) };
        let member = |wanted: &u32| self.main.roles.is_member(session, *wanted);
        let enabled = if self.main.roles.is_simple() { None } else { self.role_oid(&names.enabled).filter(member) };
        Identity { login, session, current, enabled }
    }
}

impl Session {
    /// Takes over what SET ROLE and its kin have set.
    pub(super) fn sync_identity(&mut self) {
        let names = self.state.variables.read().role_names();
        if Arc::ptr_eq(&names, &self.role_names) {
            return;
        }
        let same = *names == *self.role_names;
        self.role_names = names;
        // A role that has got another name stays what it is.
        if !same {
            self.schema.identity = self.schema.identity_of(&self.role_names);
            self.schema_moved();
        }
    }

    /// Has the rights of another role from now on; the role that it was until now.
    pub(crate) fn act_as(&mut self, role: u32) -> u32 {
        let before = std::mem::replace(&mut self.schema.identity.current, role);
        if before != role {
            self.schema_moved();
        }
        before
    }

    /// The current role may have got another name.
    pub(super) fn sync_user(&mut self) {
        let name = self.schema.role_name(self.schema.identity.current).unwrap_or_default();
        if *self.user != *name {
            self.user = name.as_str().into();
            self.state.variables.write().set_user(&name);
            self.sync_path();
        }
    }

    /// What the session may do now: a REVOKE counts at once, even where a transaction still sees the schema as it was.
    pub(super) fn rights(&self) -> Rights {
        let mut rights = self.schema.rights();
        if !self.transaction.schema_changed {
            let newest = self.database.shared.current();
            rights.roles = rights.identity.seen_by(&newest.roles);
            rights.main = newest.grants.clone();
        }
        rights
    }

    /// Whether nobody but the bootstrap superuser can be asking.
    fn is_simple(&self) -> bool {
        self.schema.identity.current == BOOTSTRAP && self.schema.main.roles.is_simple()
    }

    /// Refuses a plan for which the role has not the privileges.
    pub(super) fn check_needs(&mut self, prepared: &Arc<Prepared>) -> Result<()> {
        if prepared.bound.needs.is_empty() || self.is_simple() {
            return Ok(());
        }
        let plan = self.renew(prepared)?;
        let rights = self.rights();
        let of_table = matches!(&plan.bound.statement, Ir::Copy(copy) if copy.table);
        if !of_table {
            self.check_unaffected(&plan)?;
        }
        plan.bound.needs.check(&rights)?;
        if of_table { self.check_unaffected(&plan) } else { Ok(()) }
    }

    /// Refuses a plan in which policies have a say, where `row_security` is off: better no rows than not all of them.
    pub(super) fn check_unaffected(&self, plan: &Prepared) -> Result<()> {
        if plan.bound.needs.relations.iter().all(|need| need.secured.is_none()) {
            return Ok(());
        }
        let setting = self.state.variables.read().get("row_security");
        if setting.is_none_or(|value| value != "off") {
            return Ok(());
        }
        plan.bound.needs.check_unaffected(&self.rights())
    }

    /// An error without the values of rows that policies may hide.
    /// `changed` are the columns that the statement itself has said values of.
    pub(super) fn without_hidden_values(&self, mut error: Error, changed: &[usize]) -> Error {
        if error.detail.is_none() || self.is_simple() {
            return error;
        }
        let (Some(namespace), Some(table)) = (&error.schema, &error.table) else { return error };
        let Some(relation) = self.schema.lookup(&QualifiedName::new(namespace.clone(), table.clone())) else {
            return error;
        };
        let rights = self.rights();
        if !rights.is_secured(rights.role(), &relation) {
            let held = rights.held_by(rights.role(), ObjectClass::Relation, relation.oid).0;
            return if held.overlaps(Privileges::SELECT) {
                error
            } else {
                with_columns(error, &relation, &rights, changed)
            };
        }
        error.detail = match error.condition() {
            // Which key it is nobody has to know, but which table.
            Condition::ForeignKeyViolation | Condition::ForeignKeyViolationByParent => {
                let detail = error.detail.take().unwrap_or_default();
                detail.find(" is ").map(|at| format!("Key{}", &detail[at..]))
            }
            Condition::UniqueViolation | Condition::CheckViolation | Condition::NotNullViolation => None,
            _ => error.detail.take(),
        };
        error
    }

    /// LOCK TABLE.
    pub(super) fn check_lock(&self, relation: &Relation, mode: LockMode, role: u32) -> Result<()> {
        let changes = Privileges::UPDATE | Privileges::DELETE | Privileges::TRUNCATE;
        let enough = match mode {
            LockMode::AccessShare => Privileges::SELECT,
            LockMode::RowExclusive => changes | Privileges::INSERT,
            _ => changes,
        };
        let rights = self.rights();
        let held = rights.held_by(role, ObjectClass::Relation, relation.oid).0;
        if held.overlaps(enough) { Ok(()) } else { Err(denied(relation_words(relation), &relation.name)) }
    }

    /// Whether VACUUM or ANALYZE may look after a table; with a warning when not.
    pub(super) fn may_maintain(&self, relation: &Relation, verb: &str) -> bool {
        let rights = self.rights();
        let may = rights.owns(relation.oid) || rights.owns(rowferry_dialect::access::DATABASE);
        if !may {
            let message = format!("permission denied to {verb} \"{}\", skipping it", relation.name);
            self.warn(Condition::Warning, &message);
        }
        may
    }

    /// The role counts as the database's owner.
    pub(super) fn owns_database(&self) -> bool {
        self.rights().owns(rowferry_dialect::access::DATABASE)
    }

    /// REINDEX of tables, of a schema's, or of all there are.
    pub(super) fn check_reindex(&self, tables: &[Arc<Relation>], all: Option<Option<&str>>) -> Result<()> {
        let rights = self.rights();
        if let Some(table) = tables.iter().find(|table| !rights.owns(table.oid)) {
            return Err(not_owner(relation_words(table), &table.name));
        }
        match all {
            Some(Some(schema)) if !rights.owns(self.schema.namespace_oid(schema)) => Err(not_owner("schema", schema)),
            Some(None) if !self.owns_database() => Err(not_owner("database", self.database.name())),
            _ => Ok(()),
        }
    }

    /// CHECKPOINT.
    pub(super) fn check_checkpoint(&self) -> Result<()> {
        let rights = self.rights();
        if rights.roles.has_privileges_of(rights.role(), CHECKPOINT) {
            return Ok(());
        }
        let message = "must be superuser or have privileges of pg_checkpoint to do CHECKPOINT";
        Err(Error::new(Condition::InsufficientPrivilege, message))
    }
}

impl State {
    /// Refuses a value of a setting that the session's roles may not give it.
    pub fn check_setting(&self, name: &str, value: Option<&str>) -> Result<()> {
        let schema = self.schema.read();
        let refused = |message: String| Err(Error::new(Condition::InsufficientPrivilege, message));
        let roles = &schema.main.roles;
        let lower = name.to_ascii_lowercase();
        if matches!(lower.as_str(), "role" | "session_authorization") && self.routines.acts_for_owner() {
            return refused(format!("cannot set parameter \"{lower}\" within security-definer function"));
        }
        let role = |name: &str| {
            schema
                .role_oid(name)
                .ok_or_else(|| Error::new(Condition::InvalidParameterValue, format!("role \"{name}\" does not exist")))
        };
        match (lower.as_str(), value) {
            ("role", Some(value)) if value != "none" => {
                let wanted = role(value)?;
                if !roles.is_member(schema.identity.session, wanted) {
                    return refused(format!("permission denied to set role \"{value}\""));
                }
            }
            ("informix.role", Some(value)) if value != "none" && !value.is_empty() => {
                if !roles.is_member(schema.identity.session, role(value)?) {
                    return refused(format!("no privilege to set to the role {value}"));
                }
            }
            ("session_authorization", Some(value)) => {
                let wanted = role(value)?;
                if wanted != schema.identity.login && !roles.is_superuser(schema.identity.login) {
                    return refused(format!("permission denied to set session authorization \"{value}\""));
                }
            }
            ("default_text_search_config", Some(value))
                if text_search::named(&*schema, Kind::Configuration, value).is_err() =>
            {
                let message = format!("invalid value for parameter \"{name}\": \"{value}\"");
                return Err(Error::new(Condition::InvalidParameterValue, message));
            }
            (name, _) => {
                let setting = settings::find(name);
                if schema.is_restricted() && setting.is_some_and(|setting| setting.context == Context::Superuser) {
                    return refused(format!("permission denied to set parameter \"{name}\""));
                }
            }
        }
        Ok(())
    }

    /// Refuses what a role may not do with a sequence.
    pub fn check_sequence(&self, details: &SequenceDetails, any: Privileges) -> Result<()> {
        let schema = self.schema.read();
        if !schema.is_restricted() {
            return Ok(());
        }
        let rights = schema.rights();
        let held = rights.held_by(rights.role(), ObjectClass::Sequence, details.sequence.oid).0;
        if held.overlaps(any)
            || any.contains(Privileges::UPDATE | Privileges::USAGE) && numbers_identity(&schema, &rights, details)
        {
            return Ok(());
        }
        Err(denied("sequence", &details.sequence.name))
    }

    /// Refuses to disturb another session that is not the role's to disturb.
    pub fn check_signal(&self, other: &Self, verb: &str, what: &str) -> Result<()> {
        let schema = self.schema.read();
        let (role, roles) = (schema.identity.current, &schema.main.roles);
        if roles.is_superuser(role) {
            return Ok(());
        }
        let refused = |message: String| Err(Error::new(Condition::InsufficientPrivilege, message));
        let victim = if other.database_name == self.database_name {
            other.schema.read().identity.session
        } else {
            // Another file numbers its roles in its own way. Whom nobody knows here is as good as its first one.
            let there = other.schema.read();
            let name = there.role_name(there.identity.session);
            name.and_then(|name| roles.oid(&name)).unwrap_or(BOOTSTRAP)
        };
        if roles.is_superuser(victim) {
            let thing = if verb == "cancel" { "query" } else { "process" };
            return refused(format!("must be a superuser to {verb} superuser {thing}"));
        }
        if roles.has_privileges_of(role, victim) || roles.has_privileges_of(role, SIGNAL_BACKEND) {
            return Ok(());
        }
        refused(format!("must be a member of the role whose {what} or member of pg_signal_backend"))
    }

    /// The name of the role whose rights count.
    pub fn current_user(&self) -> String {
        let schema = self.schema.read();
        schema.role_name(schema.identity.current).unwrap_or_default()
    }

    /// The name of the role that SESSION_USER is.
    pub fn session_user(&self) -> String {
        let schema = self.schema.read();
        schema.role_name(schema.identity.session).unwrap_or_default()
    }
}

/// Whoever may insert into a table is given the numbers of its identity columns.
fn numbers_identity(schema: &SessionSchema, rights: &Rights, details: &SequenceDetails) -> bool {
    use rowferry_dialect::Schema as _;
    let Some((table, column)) = details.owner else { return false };
    let Some(table) = schema.relation_by_oid(table) else { return false };
    let identity = table.columns.get(column).is_some_and(|c| c.identity.is_some() && c.default.is_none());
    identity && rights.may(ObjectClass::Relation, table.oid, Privileges::INSERT)
}

/// The columns that a statement gives values.
pub(super) fn changed_columns(statement: &Ir) -> Vec<usize> {
    match statement {
        Ir::Dml(dml) => match &dml.action {
            DmlAction::Insert { columns, .. } => columns.clone(),
            DmlAction::Update { assignments, .. } => assignments.iter().map(|(at, _)| *at).collect(),
            DmlAction::Delete { .. } => Vec::new(),
        },
        _ => Vec::new(),
    }
}

/// An error about a row for somebody who may see some of its columns: those, and what the statement has said itself.
fn with_columns(mut error: Error, relation: &Relation, rights: &Rights, changed: &[usize]) -> Error {
    let readable =
        |column: &str| rights.column_held_by(rights.role(), relation.oid, column).0.overlaps(Privileges::SELECT);
    let all = |columns: &[usize]| {
        columns.iter().all(|at| relation.columns.get(*at).is_some_and(|column| readable(&column.name)))
    };
    match error.condition() {
        Condition::UniqueViolation => {
            let index = relation.indexes.iter().find(|index| Some(&index.name) == error.constraint.as_ref());
            let columns = index.and_then(|index| index.columns.iter().copied().collect::<Option<Vec<usize>>>());
            if !columns.is_some_and(|columns| all(&columns)) {
                error.detail = None;
            }
        }
        Condition::ForeignKeyViolation => {
            let key = relation.foreign_keys.iter().find(|key| Some(&key.name) == error.constraint.as_ref());
            if !key.is_some_and(|key| all(&key.columns)) {
                let detail = error.detail.take().unwrap_or_default();
                error.detail = detail.find(" is ").map(|at| format!("Key{}", &detail[at..]));
            }
        }
        Condition::CheckViolation | Condition::NotNullViolation => {
            let Some(row) = error.failing_row.take() else { return error };
            let columns = relation.columns.iter().zip(row.iter()).enumerate();
            let (names, values): (Vec<&str>, Vec<&str>) = columns
                .filter(|(at, (column, _))| changed.contains(at) || readable(&column.name))
                .map(|(_, (column, value))| (column.name.as_str(), value.as_str()))
                .unzip();
            error.detail = (!names.is_empty())
                .then(|| format!("Failing row contains ({}) = ({}).", names.join(", "), values.join(", ")));
        }
        _ => {}
    }
    error
}
