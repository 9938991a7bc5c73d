//! Session variables: SET, SHOW, RESET, and what becomes of them when a transaction ends.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use jiff::tz::TimeZone;
use rowferry_dialect::values::{DateOrder, DateStyle, IntervalStyle, Settings};
use rowferry_dialect::{Condition, Error, Result};

/// A variable that PostgreSQL knows.
#[derive(Debug)]
pub struct Variable {
    /// Its name as SHOW prints it; compared without regard to case.
    pub name: &'static str,
    /// Its value in a new session.
    pub default: &'static str,
    /// Which values it takes.
    pub kind: VariableKind,
    /// Clients are told when it changes.
    pub report: bool,
}

/// Which values a variable takes.
#[derive(Debug)]
pub enum VariableKind {
    /// `on`, `off`.
    Bool,
    /// DateStyle.
    DateStyle,
    /// Encodings: UTF-8 only.
    Encoding,
    /// One of these.
    Enum(&'static [&'static str]),
    /// A whole number.
    Integer(i64, i64),
    /// Cannot be set.
    Internal,
    /// A number.
    Real,
    /// A list of names.
    SearchPath,
    /// Any text.
    Text,
    /// Milliseconds, with units.
    Time,
    /// A time zone.
    TimeZone,
}

use VariableKind as K;

const fn variable(name: &'static str, default: &'static str, kind: VariableKind) -> Variable {
    Variable { name, default, kind, report: false }
}

const fn reported(name: &'static str, default: &'static str, kind: VariableKind) -> Variable {
    Variable { name, default, kind, report: true }
}

/// The version of PostgreSQL whose behaviour we follow, as `SHOW server_version` says it.
pub const SERVER_VERSION: &str = "18.1";

const ISOLATION: &[&str] = &["read uncommitted", "read committed", "repeatable read", "serializable"];
const MESSAGES: &[&str] =
    &["debug5", "debug4", "debug3", "debug2", "debug1", "log", "notice", "warning", "error", "fatal", "panic"];

/// The variables, in the order of their names. Those without an effect here are what clients set by habit.
pub static VARIABLES: &[Variable] = &[
    reported("application_name", "", K::Text),
    variable("array_nulls", "on", K::Bool),
    variable("backslash_quote", "safe_encoding", K::Enum(&["safe_encoding", "on", "off"])),
    variable("bytea_output", "hex", K::Enum(&["hex", "escape"])),
    variable("check_function_bodies", "on", K::Bool),
    reported("client_encoding", "UTF8", K::Encoding),
    variable("client_min_messages", "notice", K::Enum(MESSAGES)),
    variable("constraint_exclusion", "partition", K::Enum(&["partition", "on", "off"])),
    reported("DateStyle", "ISO, MDY", K::DateStyle),
    variable("deadlock_timeout", "1s", K::Time),
    variable("default_table_access_method", "heap", K::Text),
    variable("default_tablespace", "", K::Text),
    variable("default_text_search_config", "pg_catalog.english", K::Text),
    variable("default_toast_compression", "pglz", K::Text),
    variable("default_transaction_deferrable", "off", K::Bool),
    variable("default_transaction_isolation", "read committed", K::Enum(ISOLATION)),
    reported("default_transaction_read_only", "off", K::Bool),
    variable("enable_bitmapscan", "on", K::Bool),
    variable("enable_hashjoin", "on", K::Bool),
    variable("enable_indexscan", "on", K::Bool),
    variable("enable_mergejoin", "on", K::Bool),
    variable("enable_nestloop", "on", K::Bool),
    variable("enable_seqscan", "on", K::Bool),
    variable("enable_sort", "on", K::Bool),
    variable("escape_string_warning", "on", K::Bool),
    variable("extra_float_digits", "1", K::Integer(-15, 3)),
    variable("force_parallel_mode", "off", K::Text),
    variable("geqo", "on", K::Bool),
    variable("gin_fuzzy_search_limit", "0", K::Integer(0, i32::MAX as i64)),
    variable("idle_in_transaction_session_timeout", "0", K::Time),
    variable("idle_session_timeout", "0", K::Time),
    reported("in_hot_standby", "off", K::Internal),
    reported("integer_datetimes", "on", K::Internal),
    reported("IntervalStyle", "postgres", K::Enum(&["postgres", "postgres_verbose", "sql_standard", "iso_8601"])),
    reported("is_superuser", "on", K::Internal),
    variable("jit", "off", K::Bool),
    variable("lc_collate", "C", K::Internal),
    variable("lc_ctype", "C.UTF-8", K::Internal),
    variable("lc_messages", "C", K::Text),
    variable("lc_monetary", "C", K::Text),
    variable("lc_numeric", "C", K::Text),
    variable("lc_time", "C", K::Text),
    variable("lock_timeout", "0", K::Time),
    variable("log_min_duration_statement", "-1", K::Integer(-1, i32::MAX as i64)),
    variable("log_statement", "none", K::Text),
    variable("maintenance_work_mem", "64MB", K::Text),
    variable("max_connections", "100", K::Internal),
    variable("max_identifier_length", "63", K::Internal),
    variable("max_index_keys", "32", K::Internal),
    variable("max_parallel_workers_per_gather", "0", K::Integer(0, 1024)),
    variable("max_stack_depth", "2MB", K::Text),
    variable("password_encryption", "scram-sha-256", K::Enum(&["scram-sha-256", "md5"])),
    variable("plan_cache_mode", "auto", K::Enum(&["auto", "force_generic_plan", "force_custom_plan"])),
    variable("quote_all_identifiers", "off", K::Bool),
    variable("random_page_cost", "4", K::Real),
    variable("role", "none", K::Text),
    variable("row_security", "on", K::Bool),
    reported("scram_iterations", "4096", K::Integer(1, i32::MAX as i64)),
    reported("search_path", "\"$user\", public", K::SearchPath),
    reported("server_encoding", "UTF8", K::Internal),
    reported("server_version", SERVER_VERSION, K::Internal),
    variable("server_version_num", "180001", K::Internal),
    reported("session_authorization", "", K::Internal),
    variable("session_replication_role", "origin", K::Enum(&["origin", "replica", "local"])),
    variable("ssl", "off", K::Internal),
    reported("standard_conforming_strings", "on", K::Bool),
    variable("statement_timeout", "0", K::Time),
    variable("synchronize_seqscans", "on", K::Bool),
    variable("synchronous_commit", "on", K::Enum(&["local", "remote_write", "remote_apply", "on", "off"])),
    variable("temp_buffers", "8MB", K::Text),
    reported("TimeZone", "Etc/UTC", K::TimeZone),
    variable("timezone_abbreviations", "Default", K::Text),
    variable("transaction_deferrable", "off", K::Bool),
    variable("transaction_isolation", "read committed", K::Enum(ISOLATION)),
    variable("transaction_read_only", "off", K::Bool),
    variable("transaction_timeout", "0", K::Time),
    variable("transform_null_equals", "off", K::Bool),
    variable("wal_level", "replica", K::Internal),
    variable("work_mem", "4MB", K::Text),
    variable("xmlbinary", "base64", K::Enum(&["base64", "hex"])),
    variable("xmloption", "content", K::Enum(&["content", "document"])),
];

fn known(name: &str) -> Option<&'static Variable> {
    // SET TIME ZONE and the like have been spelt out by the front end.
    VARIABLES.iter().find(|variable| variable.name.eq_ignore_ascii_case(name))
}

/// The variables of one session.
#[derive(Debug)]
pub struct Variables {
    /// Set for the session, by lower-case name.
    session: BTreeMap<String, String>,
    /// Set for the transaction (SET LOCAL), by lower-case name.
    local: BTreeMap<String, String>,
    /// Values that RESET goes back to where they are not the table's: what the client connected with.
    initial: BTreeMap<String, String>,
    /// What to put back if the transaction does not commit.
    log: Vec<Change>,
    settings: Arc<Settings>,
    search_path: Arc<[String]>,
    statement_timeout: Duration,
    lock_timeout: Duration,
    /// Names that clients have been told about, with what they were told.
    told: BTreeMap<&'static str, String>,
    user: String,
}

#[derive(Debug)]
struct Change {
    name: String,
    session: Option<String>,
    local: Option<String>,
}

impl Variables {
    /// The variables of a new session.
    pub fn new(user: &str, lock_timeout: Duration) -> Self {
        let mut variables = Self {
            session: BTreeMap::new(),
            local: BTreeMap::new(),
            initial: BTreeMap::new(),
            log: Vec::new(),
            settings: Arc::default(),
            search_path: Arc::new([]),
            statement_timeout: Duration::ZERO,
            lock_timeout,
            told: BTreeMap::new(),
            user: user.to_owned(),
        };
        variables.initial.insert("session_authorization".into(), user.to_owned());
        variables.initial.insert("lock_timeout".into(), show_time(lock_timeout.as_millis() as i64));
        variables.renew();
        variables
    }

    /// A value that RESET goes back to, and that the user cannot have set wrongly.
    pub fn set_initial(&mut self, name: &str, value: &str) {
        self.initial.insert(name.to_lowercase(), value.to_owned());
        self.renew();
    }

    /// A variable as SHOW prints it; `None` when there is none of this name.
    pub fn get(&self, name: &str) -> Option<String> {
        self.get_ref(name).map(str::to_owned)
    }

    fn get_ref(&self, name: &str) -> Option<&str> {
        let key = name.to_lowercase();
        let set = self.local.get(&key).or_else(|| self.session.get(&key)).or_else(|| self.initial.get(&key));
        set.map(String::as_str).or_else(|| known(name).map(|variable| variable.default))
    }

    /// SET; `None` is DEFAULT.
    ///
    /// # Errors
    /// `42704` for a name that is neither known nor of the form `class.name`; `22023` for a value that it does not
    /// take; `55P02` is spelt `42501` here for those that cannot be set.
    pub fn set(&mut self, name: &str, value: Option<&str>, local: bool) -> Result<()> {
        let key = name.to_lowercase();
        let variable = known(&key);
        if variable.is_none() && !is_custom(&key) {
            return Err(Error::new(
                Condition::UndefinedObject,
                format!("unrecognized configuration parameter \"{name}\""),
            ));
        }
        if let Some(Variable { kind: K::Internal, name, .. }) = variable {
            return Err(Error::new(
                Condition::InsufficientPrivilege,
                format!("parameter \"{name}\" cannot be changed"),
            ));
        }
        let value = match (value, variable) {
            (None, _) => None,
            (Some(value), Some(variable)) => Some(canonical(variable, value)?),
            (Some(value), None) => Some(value.to_owned()),
        };
        self.log.push(Change {
            session: self.session.get(&key).cloned(),
            local: self.local.get(&key).cloned(),
            name: key.clone(),
        });
        let map = if local { &mut self.local } else { &mut self.session };
        match value {
            Some(value) => {
                map.insert(key.clone(), value);
            }
            None => {
                map.remove(&key);
            }
        }
        if !local {
            self.local.remove(&key);
        }
        self.renew();
        Ok(())
    }

    /// RESET ALL.
    pub fn reset_all(&mut self) {
        let names: Vec<String> = self.session.keys().chain(self.local.keys()).cloned().collect();
        for name in names {
            self.log.push(Change { session: self.session.remove(&name), local: self.local.remove(&name), name });
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
        if !self.local.is_empty() {
            self.local.clear();
            self.renew();
        }
    }

    /// Variables that clients are told about and have not been told.
    pub fn drain_reports(&mut self) -> Vec<(String, String)> {
        let mut reports = Vec::new();
        for variable in VARIABLES.iter().filter(|variable| variable.report) {
            let value = self.get(variable.name).unwrap_or_default();
            if self.told.get(variable.name) != Some(&value) {
                self.told.insert(variable.name, value.clone());
                reports.push((variable.name.to_owned(), value));
            }
        }
        reports
    }

    /// Every variable with its value, by name.
    pub fn all(&self) -> Vec<(String, String)> {
        let mut all: BTreeMap<String, (String, String)> = VARIABLES
            .iter()
            .map(|variable| {
                let value = self.get(variable.name).unwrap_or_default();
                (variable.name.to_lowercase(), (variable.name.to_owned(), value))
            })
            .collect();
        for name in self.session.keys().chain(self.local.keys()) {
            all.entry(name.clone()).or_insert_with(|| (name.clone(), self.get(name).unwrap_or_default()));
        }
        all.into_values().collect()
    }

    /// How values are printed and read. `now` is not in it.
    pub fn settings(&self) -> Arc<Settings> {
        self.settings.clone()
    }

    /// Where names without a schema are looked for.
    pub fn search_path(&self) -> Arc<[String]> {
        self.search_path.clone()
    }

    /// How long a statement may run; zero is for ever.
    pub fn statement_timeout(&self) -> Duration {
        self.statement_timeout
    }

    /// How long a statement waits for the write lock; zero is for ever.
    pub fn lock_timeout(&self) -> Duration {
        self.lock_timeout
    }

    /// Works out what is asked for often.
    fn renew(&mut self) {
        let value = |name: &str| self.get_ref(name).unwrap_or_default();
        let (date_style, date_order) = date_style(value("DateStyle")).unwrap_or_default();
        let settings = Settings {
            time_zone: time_zone(value("TimeZone")).unwrap_or(TimeZone::UTC),
            date_order,
            date_style,
            interval_style: match value("IntervalStyle") {
                "postgres_verbose" => IntervalStyle::PostgresVerbose,
                "sql_standard" => IntervalStyle::SqlStandard,
                "iso_8601" => IntervalStyle::Iso8601,
                _ => IntervalStyle::Postgres,
            },
            bytea_hex: value("bytea_output") == "hex",
            extra_float_digits: value("extra_float_digits").parse().unwrap_or(1),
            now: None,
            names: None,
        };
        let path: Vec<String> = split_names(value("search_path"))
            .into_iter()
            .map(|name| if name == "$user" { self.user.clone() } else { name })
            .collect();
        let statement_timeout = milliseconds(value("statement_timeout"));
        let lock_timeout = milliseconds(value("lock_timeout"));
        self.settings = Arc::new(settings);
        if *self.search_path != *path {
            self.search_path = path.into();
        }
        self.statement_timeout = statement_timeout;
        self.lock_timeout = lock_timeout;
    }
}

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

/// `class.name`, as applications invent them.
fn is_custom(name: &str) -> bool {
    let part = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '$');
    name.split_once('.').is_some_and(|(class, rest)| part(class) && rest.split('.').all(part))
}

/// The value as SHOW will print it.
fn canonical(variable: &Variable, value: &str) -> Result<String> {
    let invalid = || {
        Error::new(
            Condition::InvalidParameterValue,
            format!("invalid value for parameter \"{}\": \"{value}\"", variable.name),
        )
    };
    Ok(match &variable.kind {
        K::Bool => {
            if truth(value).ok_or_else(|| {
                Error::new(
                    Condition::InvalidParameterValue,
                    format!("parameter \"{}\" requires a Boolean value", variable.name),
                )
            })? {
                "on".into()
            } else {
                "off".into()
            }
        }
        K::DateStyle => {
            let (style, order) = date_style(value).ok_or_else(invalid)?;
            let style = match style {
                DateStyle::German => "German",
                DateStyle::Iso => "ISO",
                DateStyle::Postgres => "Postgres",
                DateStyle::Sql => "SQL",
            };
            let order = match order {
                DateOrder::Dmy => "DMY",
                DateOrder::Mdy => "MDY",
                DateOrder::Ymd => "YMD",
            };
            format!("{style}, {order}")
        }
        K::Encoding => {
            let name: String = value.chars().filter(char::is_ascii_alphanumeric).collect();
            match name.to_ascii_lowercase().as_str() {
                "utf8" | "unicode" | "" => "UTF8".into(),
                "sqlascii" => "SQL_ASCII".into(),
                _ => {
                    return Err(Error::new(
                        Condition::FeatureNotSupported,
                        format!("conversion between {value} and UTF8 is not supported"),
                    )
                    .hint("Use client_encoding UTF8."));
                }
            }
        }
        K::Enum(allowed) => {
            let found = allowed.iter().find(|allowed| allowed.eq_ignore_ascii_case(value));
            let truth =
                || truth(value).and_then(|truth| allowed.iter().find(|a| **a == if truth { "on" } else { "off" }));
            (*found
                .or_else(truth)
                .ok_or_else(|| invalid().hint(format!("Available values: {}.", allowed.join(", "))))?)
            .to_owned()
        }
        K::Integer(least, greatest) => {
            let number: i64 = value.trim().parse().map_err(|_| invalid())?;
            if number < *least || number > *greatest {
                return Err(Error::new(
                    Condition::InvalidParameterValue,
                    format!(
                        "{number} is outside the valid range for parameter \"{}\" ({least} .. {greatest})",
                        variable.name
                    ),
                ));
            }
            number.to_string()
        }
        K::Real => value.trim().parse::<f64>().map_err(|_| invalid())?.to_string(),
        K::Time => show_time(parse_time(value).ok_or_else(|| {
            invalid().hint("Valid units for this parameter are \"us\", \"ms\", \"s\", \"min\", \"h\", and \"d\".")
        })?),
        K::TimeZone => {
            time_zone(value).ok_or_else(invalid)?;
            // Offsets and names alike are shown as they were given.
            value.trim().to_owned()
        }
        K::SearchPath | K::Text | K::Internal => value.to_owned(),
    })
}

fn truth(value: &str) -> Option<bool> {
    let value = value.trim().to_ascii_lowercase();
    let is = |word: &str| word.starts_with(&value);
    match value.as_str() {
        "" | "o" => None,
        "1" => Some(true),
        "0" => Some(false),
        _ if is("on") || is("true") || is("yes") => Some(true),
        _ if is("off") || is("false") || is("no") => Some(false),
        _ => None,
    }
}

/// `ISO, MDY` in any order and case; what is left out stays as it is by default.
fn date_style(value: &str) -> Option<(DateStyle, DateOrder)> {
    let (mut style, mut order) = (None, None);
    for word in value.split(',').map(|word| word.trim().to_ascii_lowercase()).filter(|word| !word.is_empty()) {
        match word.as_str() {
            "iso" => style = Some(DateStyle::Iso),
            "sql" => style = Some(DateStyle::Sql),
            "postgres" | "postgresql" => style = Some(DateStyle::Postgres),
            "german" => style = Some(DateStyle::German),
            "dmy" | "euro" | "european" => order = Some(DateOrder::Dmy),
            "mdy" | "us" | "noneuro" | "noneuropean" => order = Some(DateOrder::Mdy),
            "ymd" => order = Some(DateOrder::Ymd),
            "default" => (style, order) = (Some(DateStyle::Iso), Some(DateOrder::Mdy)),
            _ => return None,
        }
    }
    let german = style == Some(DateStyle::German);
    Some((style.unwrap_or_default(), order.unwrap_or(if german { DateOrder::Dmy } else { DateOrder::Mdy })))
}

/// A zone by name, or by hours (or `±HH[:MM]`) east of Greenwich.
fn time_zone(value: &str) -> Option<TimeZone> {
    let value = value.trim();
    if value.eq_ignore_ascii_case("utc") || value.eq_ignore_ascii_case("z") || value.eq_ignore_ascii_case("gmt") {
        return Some(TimeZone::UTC);
    }
    if value.starts_with(|c: char| c == '+' || c == '-' || c.is_ascii_digit()) {
        let (negative, digits) = match value.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, value.strip_prefix('+').unwrap_or(value)),
        };
        let mut parts = digits.split(':');
        let hours: f64 = parts.next()?.parse().ok()?;
        let minutes: f64 = parts.next().map_or(Some(0.0), |part| part.parse().ok())?;
        let seconds = (hours * 3_600.0 + minutes * 60.0) as i32;
        let offset = jiff::tz::Offset::from_seconds(if negative { -seconds } else { seconds }).ok()?;
        return Some(TimeZone::fixed(offset));
    }
    TimeZone::get(value).ok()
}

/// Milliseconds of `5`, `5s`, `1.5min`; a bare number is milliseconds.
fn parse_time(value: &str) -> Option<i64> {
    let value = value.trim();
    let end = value.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(value.len());
    let number: f64 = value[..end].trim().parse().ok()?;
    let scale = match &value[end..] {
        "" | "ms" => 1.0,
        "us" => 0.001,
        "s" => 1_000.0,
        "min" => 60_000.0,
        "h" => 3_600_000.0,
        "d" => 86_400_000.0,
        _ => return None,
    };
    let milliseconds = (number * scale).round();
    (0.0..=f64::from(i32::MAX)).contains(&milliseconds).then_some(milliseconds as i64)
}

/// With the largest unit that leaves no remainder.
fn show_time(milliseconds: i64) -> String {
    if milliseconds == 0 {
        return "0".into();
    }
    let units = [(86_400_000, "d"), (3_600_000, "h"), (60_000, "min"), (1_000, "s")];
    let unit = units.into_iter().find(|(size, _)| milliseconds % size == 0);
    unit.map_or_else(|| format!("{milliseconds}ms"), |(size, name)| format!("{}{name}", milliseconds / size))
}

fn milliseconds(value: &str) -> Duration {
    Duration::from_millis(parse_time(value).and_then(|value| u64::try_from(value).ok()).unwrap_or(0))
}

/// Names between commas, perhaps in double quotes.
fn split_names(list: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut name = String::new();
    let (mut quoted, mut any) = (false, false);
    let mut chars = list.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => {
                chars.next();
                name.push('"');
            }
            '"' => {
                quoted = !quoted;
                any = true;
            }
            ',' if !quoted => {
                names.push(std::mem::take(&mut name));
                any = false;
            }
            c if c.is_whitespace() && !quoted => {}
            c if quoted => name.push(c),
            c => name.extend(c.to_lowercase()),
        }
    }
    if any || !name.is_empty() {
        names.push(name);
    }
    names.retain(|name| !name.is_empty());
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables() -> Variables {
        Variables::new("ada", Duration::from_secs(30))
    }

    #[test]
    fn names_are_in_order_and_defaults_are_valid() {
        assert!(VARIABLES.is_sorted_by_key(|variable| variable.name.to_lowercase()));
        for variable in VARIABLES {
            assert_eq!(canonical(variable, variable.default).unwrap(), variable.default, "{}", variable.name);
        }
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
        assert_eq!(condition("server_version", "9"), Err(Condition::InsufficientPrivilege));
        assert_eq!(condition("client_encoding", "latin1"), Err(Condition::FeatureNotSupported));
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
