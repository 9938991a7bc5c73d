//! Session variables: SET, SHOW, RESET, and what becomes of them when a transaction ends.

mod spelled;
mod told;
mod worked_out;

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use rowferry_dialect::values::Settings;
use rowferry_dialect::{Condition, Error, Result};

use super::identity::RoleNames;
use super::transaction::isolation_name;
use crate::settings::{self, Form, Kind, SETTINGS, Setting};

pub(crate) use self::spelled::date_style;
use self::spelled::{complete_date_style, on_off, quote_name};
use self::worked_out::Frequent;
pub use self::worked_out::{MessageLevel, Modes, PlanMode};

/// The variables of one session: what it has set, over the table of [`crate::settings`].
#[derive(Clone, Debug)]
pub struct Variables {
    /// Set for the session, by lower-case name.
    session: BTreeMap<String, String>,
    /// Set for the transaction (SET LOCAL), by lower-case name.
    local: BTreeMap<String, String>,
    /// Values that RESET goes back to where they are not the table's: what the client connected with.
    initial: BTreeMap<String, String>,
    /// What the server tells of itself: its port, its limits.
    server: Arc<BTreeMap<&'static str, String>>,
    /// What to put back if the transaction does not commit.
    log: Vec<Change>,
    /// The modes of the transaction that is open; without one they are the defaults.
    transaction: Option<Modes>,
    settings: Arc<Settings>,
    search_path: Arc<[String]>,
    frequent: Frequent,
    /// Names that clients have been told about, with what they were told.
    told: BTreeMap<&'static str, String>,
    /// Something may have to be told.
    untold: bool,
    user: String,
    role_names: Arc<RoleNames>,
    /// What a door has told, when somebody has asked for it.
    told_by_door: OnceLock<Arc<str>>,
}

#[derive(Clone, Debug)]
struct Change {
    name: String,
    session: Option<String>,
    local: Option<String>,
}

impl Variables {
    /// The variables of a new session.
    pub fn new(user: &str, lock_timeout: Duration) -> Self {
        Self::on(user, lock_timeout, Arc::default())
    }

    /// The variables of a new session on a server that tells of itself: values as the table keeps them.
    pub fn on(user: &str, lock_timeout: Duration, server: Arc<BTreeMap<&'static str, String>>) -> Self {
        let mut variables = Self {
            session: BTreeMap::new(),
            local: BTreeMap::new(),
            initial: BTreeMap::new(),
            server,
            log: Vec::new(),
            transaction: None,
            settings: Arc::default(),
            search_path: Arc::new([]),
            frequent: Frequent::default(),
            told: BTreeMap::new(),
            untold: true,
            user: user.to_owned(),
            role_names: Arc::default(),
            told_by_door: OnceLock::new(),
        };
        variables.initial.insert("session_authorization".into(), user.to_owned());
        variables.initial.insert("lock_timeout".into(), lock_timeout.as_millis().to_string());
        variables.renew();
        variables
    }

    /// Whether they are on a server that tells this of itself.
    pub fn are_on(&self, server: &Arc<BTreeMap<&'static str, String>>) -> bool {
        Arc::ptr_eq(&self.server, server)
    }

    /// The same for another user, where they are those of a new session: most of it need not be worked out again.
    #[must_use]
    pub fn of(&self, user: &str) -> Self {
        let mut variables = self.clone();
        user.clone_into(&mut variables.user);
        variables.initial.insert("session_authorization".into(), user.to_owned());
        variables.renew_names();
        variables
    }

    /// Whose they are.
    pub fn user(&self) -> &str {
        &self.user
    }

    /// A value that RESET goes back to, and that the user cannot have set wrongly; as the table keeps it.
    pub fn set_initial(&mut self, name: &str, value: &str) {
        self.initial.insert(name.to_lowercase(), value.to_owned());
        self.renew();
    }

    /// A value that stays whatever becomes of the transaction.
    pub fn set_lasting(&mut self, name: &str, value: &str) -> Result<()> {
        let key = name.to_lowercase();
        let value = match settings::find(&key) {
            Some(setting) => {
                settings::changeable(setting)?;
                settings::read(setting, value)?
            }
            None => value.to_owned(),
        };
        self.initial.insert(key, value);
        self.renew();
        Ok(())
    }

    /// Forgets values of these variables that [`Variables::set_lasting`] has set.
    pub fn forget_lasting(&mut self, prefix: &str) {
        self.initial.retain(|name, _| !name.starts_with(prefix));
        self.renew();
    }

    /// What is set now is what RESET goes back to: the settings of the start-up packet.
    pub fn keep_as_initial(&mut self, name: &str) {
        let key = name.to_lowercase();
        if let Some(value) = self.session.remove(&key) {
            self.initial.insert(key, value);
        }
        self.commit();
    }

    /// A variable as SHOW prints it; `None` when there is none of this name.
    pub fn get(&self, name: &str) -> Option<String> {
        let kept = self.kept(name)?;
        Some(settings::find(name).map_or_else(|| kept.to_owned(), |setting| settings::show(setting, kept)))
    }

    /// A variable as the table keeps it.
    pub(crate) fn kept(&self, name: &str) -> Option<&str> {
        let lower;
        let key = if name.bytes().any(|byte| byte.is_ascii_uppercase()) {
            lower = name.to_ascii_lowercase();
            lower.as_str()
        } else {
            name
        };
        if let Some(value) = self.of_transaction(key) {
            return Some(value);
        }
        let set = self.local.get(key).or_else(|| self.session.get(key)).map(String::as_str);
        set.or_else(|| self.reset_value(key))
    }

    /// What RESET goes back to.
    pub(crate) fn reset_value(&self, key: &str) -> Option<&str> {
        let given = self.initial.get(key).or_else(|| self.server.get(key));
        given.map(String::as_str).or_else(|| settings::find(key).map(|setting| setting.value))
    }

    /// The three settings that are the transaction's.
    fn of_transaction(&self, key: &str) -> Option<&'static str> {
        let modes = || self.transaction.unwrap_or(self.frequent.defaults);
        match key {
            "transaction_isolation" => Some(isolation_name(modes().isolation)),
            "transaction_read_only" => Some(on_off(modes().read_only)),
            "transaction_deferrable" => Some(on_off(modes().deferrable)),
            _ => None,
        }
    }

    /// Where a value comes from, as `pg_settings` says it.
    pub(crate) fn source(&self, key: &str) -> &'static str {
        if self.local.contains_key(key) || self.session.contains_key(key) {
            "session"
        } else if self.initial.contains_key(key) && !matches!(key, "lock_timeout" | "session_authorization") {
            "client"
        } else if self.initial.contains_key(key) || self.server.contains_key(key) {
            "command line"
        } else {
            "default"
        }
    }

    /// SET of a list of values.
    ///
    /// # Errors
    /// As [`Variables::set`]; `22023` for several values where one is taken.
    pub fn set_list(&mut self, name: &str, values: &[String], local: bool) -> Result<()> {
        let kind = settings::find(name).map(|setting| &setting.kind);
        let value = match (kind, values) {
            (Some(Kind::Text(Form::Names)), _) => {
                values.iter().map(|value| quote_name(value)).collect::<Vec<_>>().join(", ")
            }
            (_, [value]) => value.clone(),
            (Some(Kind::Text(Form::DateStyle)), _) => values.join(", "),
            _ => {
                let message = format!("SET {name} takes only one argument");
                return Err(Error::new(Condition::InvalidParameterValue, message));
            }
        };
        self.set(name, Some(&value), local)
    }

    /// SET; `None` is DEFAULT. The settings of the transaction itself are set by SET TRANSACTION.
    ///
    /// # Errors
    /// `42704` for a name that is neither known nor of the form `class.name`; `22023` for a value that it does not
    /// take; `55P02` for those that cannot be set; `0A000` for values that would have no effect here.
    pub fn set(&mut self, name: &str, value: Option<&str>, local: bool) -> Result<()> {
        let key = name.to_lowercase();
        let setting = settings::find(&key);
        if let (Some(setting), Some(now)) = (setting, self.of_transaction(&key)) {
            return self.set_in_transaction(setting, now, value);
        }
        let value = match setting {
            Some(setting) => {
                settings::changeable(setting)?;
                let value = value.map(|value| match setting.kind {
                    Kind::Text(Form::DateStyle) => complete_date_style(value, self.kept(&key).unwrap_or_default()),
                    _ => value.to_owned(),
                });
                value.map(|value| settings::read(setting, &value)).transpose()?
            }
            None => {
                check_custom(name, &key, value.is_some() || self.initial.contains_key(&key))?;
                // Once named it is there, and empty when nothing is set.
                self.initial.entry(key.clone()).or_default();
                value.map(str::to_owned)
            }
        };
        if key == "session_authorization" && self.kept("role") != Some("none") {
            self.set("role", Some("none"), local)?;
        }
        self.log.push(Change {
            session: self.session.get(&key).cloned(),
            local: self.local.get(&key).cloned(),
            name: key.clone(),
        });
        let value = value.or_else(|| self.reset_value(&key).map(str::to_owned)).unwrap_or_default();
        if local {
            self.local.insert(key.clone(), value);
        } else {
            self.local.remove(&key);
            // RESET leaves nothing behind.
            if self.reset_value(&key) == Some(value.as_str()) {
                self.session.remove(&key);
            } else {
                self.session.insert(key.clone(), value);
            }
        }
        // What the Informix door tells of itself is nothing that is worked out.
        if !key.starts_with("informix.") || key == INFORMIX_ROLE {
            self.renew();
        } else {
            self.told_by_door = OnceLock::new();
        }
        Ok(())
    }

    /// `set_config` of a setting that is the transaction's. A query has run by then: the one that calls it.
    fn set_in_transaction(&mut self, setting: &Setting, now: &str, value: Option<&str>) -> Result<()> {
        let value = settings::read(setting, value.unwrap_or(setting.value))?;
        let refused = |message: &str| Err(Error::new(Condition::ActiveSqlTransaction, message));
        match setting.name {
            _ if value == now => Ok(()),
            "transaction_isolation" => refused("SET TRANSACTION ISOLATION LEVEL must be called before any query"),
            "transaction_deferrable" => refused("SET TRANSACTION [NOT] DEFERRABLE must be called before any query"),
            _ if value == "off" => refused("transaction read-write mode must be set before any query"),
            _ => {
                self.transaction = self.transaction.map(|modes| Modes { read_only: true, ..modes });
                Ok(())
            }
        }
    }

    /// Whether statements may not write.
    pub(crate) fn is_read_only(&self) -> bool {
        self.transaction.unwrap_or(self.frequent.defaults).read_only
    }

    /// Whether `set_config` has made the transaction READ ONLY, or something else has.
    pub(crate) fn made_read_only(&self) -> bool {
        self.transaction.is_some_and(|modes| modes.read_only)
    }

    /// What the settings call the roles; another value when they have changed.
    pub(super) fn role_names(&self) -> Arc<RoleNames> {
        self.role_names.clone()
    }

    /// The user is called otherwise now: `$user` of the search path.
    pub(super) fn set_user(&mut self, user: &str) {
        user.clone_into(&mut self.user);
        self.renew();
    }

    /// RESET ALL. Who the user is does not change by it.
    pub fn reset_all(&mut self) {
        let names: Vec<String> = self.session.keys().chain(self.local.keys()).cloned().collect();
        for name in names {
            if !matches!(name.as_str(), "role" | "session_authorization" | INFORMIX_ROLE) {
                self.log.push(Change { session: self.session.remove(&name), local: self.local.remove(&name), name });
            }
        }
        self.renew();
    }

    /// How much has been set in this transaction: a mark for [`Variables::undo`].
    pub fn mark(&self) -> usize {
        self.log.len()
    }

    /// Takes back what was set behind a mark: ROLLBACK (of all, or to a savepoint).
    pub fn undo(&mut self, mark: usize) {
        if self.log.len() <= mark {
            return;
        }
        while self.log.len() > mark {
            let Some(change) = self.log.pop() else { break };
            put(&mut self.session, &change.name, change.session);
            put(&mut self.local, &change.name, change.local);
        }
        self.renew();
    }

    /// The transaction has committed: what was set for it alone goes, the rest stays.
    pub fn commit(&mut self) {
        self.log.clear();
        self.transaction = None;
        if !self.local.is_empty() {
            self.local.clear();
            self.renew();
        }
    }

    /// A transaction runs with these modes, as `SHOW transaction_isolation` and its kin tell.
    pub fn set_transaction(&mut self, modes: Modes) {
        self.transaction = Some(modes);
    }

    /// Variables that clients are told about and have not been told.
    pub fn drain_reports(&mut self) -> Vec<(String, String)> {
        if !std::mem::take(&mut self.untold) {
            return Vec::new();
        }
        let mut reports = Vec::new();
        for setting in SETTINGS.iter().filter(|setting| setting.report) {
            let value = self.get(setting.name).unwrap_or_default();
            if self.told.get(setting.name) != Some(&value) {
                self.told.insert(setting.name, value.clone());
                reports.push((setting.name.to_owned(), value));
            }
        }
        reports
    }

    /// Names that the application has invented, in order.
    pub fn custom(&self) -> impl Iterator<Item = &str> {
        self.initial.keys().map(String::as_str).filter(|name| name.contains('.'))
    }

    /// What SHOW ALL lists: name, value, and what is to be said about it.
    pub fn all(&self) -> Vec<(String, String, &'static str)> {
        let value = |name: &str| self.get(name).unwrap_or_default();
        let listed = SETTINGS.iter().filter(|setting| !setting.hidden);
        let mut all: Vec<_> = listed
            .map(|setting| (setting.name.to_owned(), value(setting.name), setting.meaning.words()))
            .chain(self.custom().map(|name| (name.to_owned(), value(name), "of the application")))
            .collect();
        all.sort_by_cached_key(|(name, ..)| name.to_lowercase());
        all
    }
}

/// The role that Informix's SET ROLE has enabled; what a role's sessions begin with is its default role.
pub(super) const INFORMIX_ROLE: &str = "informix.role";

fn put(map: &mut BTreeMap<String, String>, name: &str, value: Option<String>) {
    match value {
        Some(value) => {
            map.insert(name.to_owned(), value);
        }
        None => {
            map.remove(name);
        }
    }
}

/// A name that PostgreSQL does not know must be `class.name`, as applications invent them; `new` when it is set.
fn check_custom(name: &str, key: &str, new: bool) -> Result<()> {
    let first = |c: char| c.is_alphabetic() || c == '_' || !c.is_ascii();
    let part = |part: &str| part.starts_with(first) && part.chars().all(|c| first(c) || c.is_ascii_digit() || c == '$');
    if !new || !key.contains('.') {
        let message = format!("unrecognized configuration parameter \"{name}\"");
        return Err(Error::new(Condition::UndefinedObject, message));
    }
    if key.starts_with("plpgsql.") {
        let message = format!("invalid configuration parameter name \"{name}\"");
        return Err(Error::new(Condition::InvalidName, message).detail("\"plpgsql\" is a reserved prefix."));
    }
    if !key.split('.').all(part) {
        let message = format!("invalid configuration parameter name \"{name}\"");
        return Err(Error::new(Condition::InvalidName, message)
            .detail("Custom parameter names must be two or more simple identifiers separated by dots."));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables() -> Variables {
        Variables::new("ada", Duration::from_secs(30))
    }

    #[test]
    fn values_are_shown_as_postgres_shows_them() {
        let mut variables = variables();
        for (name, given, shown) in [
            ("statement_timeout", "90000", "90s"),
            ("statement_timeout", "1.5min", "90s"),
            ("statement_timeout", "1500", "1500ms"),
            ("datestyle", "dmy", "ISO, DMY"),
            ("DateStyle", "German", "German, DMY"),
            ("timezone", "Europe/Berlin", "Europe/Berlin"),
            ("jit", "1", "on"),
            ("synchronous_commit", "false", "off"),
            ("client_encoding", "utf-8", "UTF8"),
            ("client_encoding", "latin-1", "LATIN1"),
            ("client_encoding", "SQL_ASCII", "SQL_ASCII"),
            ("my.var", "x", "x"),
        ] {
            variables.set(name, Some(given), false).unwrap();
            assert_eq!(variables.get(name).as_deref(), Some(shown));
        }
        assert_eq!(variables.statement_timeout(), Duration::from_millis(1_500));
        assert_eq!(variables.lock_timeout(), Duration::from_secs(30));
    }

    #[test]
    fn wrong_values_are_refused() {
        let mut variables = variables();
        let condition = |name, value| variables.set(name, Some(value), false).map_err(|error| error.condition());
        let mut condition = condition;
        assert_eq!(condition("no_such", "1"), Err(Condition::UndefinedObject));
        assert_eq!(condition("TimeZone", "Nowhere/Land"), Err(Condition::InvalidParameterValue));
        assert_eq!(condition("statement_timeout", "1 parsec"), Err(Condition::InvalidParameterValue));
        assert_eq!(condition("extra_float_digits", "9"), Err(Condition::InvalidParameterValue));
        assert_eq!(condition("server_version", "9"), Err(Condition::CantChangeRuntimeParam));
        assert_eq!(condition("client_encoding", "mule_internal"), Err(Condition::FeatureNotSupported));
        assert_eq!(condition("client_encoding", "latin-0"), Err(Condition::InvalidParameterValue));
    }

    #[test]
    fn transactions_take_back_what_they_set() {
        let mut variables = variables();
        variables.set("application_name", Some("before"), false).unwrap();
        variables.commit();
        variables.set("application_name", Some("inside"), false).unwrap();
        let mark = variables.mark();
        variables.set("application_name", Some("local"), true).unwrap();
        assert_eq!(variables.get("application_name").as_deref(), Some("local"));
        variables.undo(mark);
        assert_eq!(variables.get("application_name").as_deref(), Some("inside"));
        variables.undo(0);
        assert_eq!(variables.get("application_name").as_deref(), Some("before"));
        variables.set("application_name", Some("local"), true).unwrap();
        variables.commit();
        assert_eq!(variables.get("application_name").as_deref(), Some("before"));
        variables.reset_all();
        assert_eq!(variables.get("application_name").as_deref(), Some(""));
    }

    #[test]
    fn a_search_path_is_a_list_of_names() {
        let mut variables = variables();
        assert_eq!(*variables.search_path(), ["ada".to_owned(), "public".to_owned()]);
        variables.set("search_path", Some("Sales, \"Odd, \"\"one\", public"), false).unwrap();
        assert_eq!(*variables.search_path(), ["sales".to_owned(), "Odd, \"one".to_owned(), "public".to_owned()]);
    }

    #[test]
    fn reports_tell_what_changed() {
        let mut variables = variables();
        assert!(variables.drain_reports().iter().any(|(name, _)| name == "server_version"));
        assert!(variables.drain_reports().is_empty());
        variables.set("TimeZone", Some("UTC"), false).unwrap();
        assert_eq!(variables.drain_reports(), [("TimeZone".to_owned(), "UTC".to_owned())]);
    }
}
