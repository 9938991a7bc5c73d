//! What a session knows of itself, its variables, and locks that users agree upon.

use std::time::{Duration, Instant};

use rowferry_dialect::access::AccountFacts;
use rowferry_dialect::collation::Collation;
use rowferry_dialect::ir::{LockMode, Value};
use rowferry_dialect::mysql::variables::{self, Kind, Variable};
use rowferry_dialect::values::ValueRef;
use rowferry_dialect::values::mysql::numbers;
use rowferry_dialect::{Condition, Error, Result};
use sha2::{Digest as _, Sha256};

use super::super::call::{integer, text};
use super::super::{Call, Row, SessionState};
use super::{maybe, number};
use crate::locks::{AdvisoryKey, Hold};

pub(in super::super) const ROWS: &[Row] = &[
    Row::new("rf_mysql_database", 0, |call| maybe(database(&**call.context().state()), text)),
    // Who has logged in; who counts.
    Row::new("rf_mysql_user", 0, |call| {
        let state = call.context().state();
        text(format!("{}@{}", state.session_user(), host(&state.client_address())))
    }),
    Row::new("rf_mysql_current_user", 0, |call| {
        let state = call.context().state();
        let user = state.user();
        let roles = state.schema().rights().roles;
        let account = roles.oid(&user).and_then(|role| roles.database().accounts.get(&role));
        let host = AccountFacts::host(account.is_some_and(|account| account.local));
        text(format!("{user}@{host}"))
    }),
    // (user, host, statement)
    Row::new("rf_mysql_check_account", 3, |call| {
        let (user, host, statement) = (call.text(0)?, call.text(1)?, call.text(2)?);
        check_account(&**call.context().state(), user, host, statement)?;
        text(user.to_owned())
    }),
    Row::new("rf_mysql_connection_id", 0, |call| integer(call.context().state().pid())),
    Row::new("rf_mysql_last_insert_id", 0, |call| integer(call.context().state().last_serial().unwrap_or(0)))
        .optional(1)
        .volatile(),
    Row::new("rf_mysql_set_last_insert_id", 1, |call| {
        let number = call.integer(0)?;
        call.context().state().set_last_serial(number);
        integer(number)
    })
    .volatile(),
    // (mode, value, value that it becomes, …)
    Row::new("rf_mysql_changes", 1, |call| {
        let changed = (1..call.len()).step_by(2).any(|at| at + 1 < call.len() && call.value(at) != call.value(at + 1));
        match call.integer(0)? {
            -1 => integer(changed),
            mode => integer(call.context().state().mysql_changes(mode, changed)),
        }
    })
    .variadic()
    .lenient()
    .volatile(),
    // (number of the row that is there, number that the new one was to have)
    Row::new("rf_mysql_met", 2, |call| {
        let number = |at: usize| match call.value(at) {
            ValueRef::Integer(number) => Some(number),
            _ => None,
        };
        call.context().state().mysql_met(number(0), number(1));
        integer(true)
    })
    .lenient()
    .volatile(),
    Row::new("rf_mysql_into_one", 1, |call| match call.integer(0)? {
        1 => integer(1),
        _ => Err(Error::new(Condition::TooManyRows, "Result consisted of more than one row").with_mysql(1172, "42000")),
    })
    .volatile(),
    Row::new("rf_mysql_found_rows", 0, |call| integer(call.context().state().mysql_found_rows())).volatile(),
    // (rows without a limit, limit)
    Row::new("rf_mysql_set_found_rows", 2, |call| {
        call.context().state().set_mysql_found_rows(call.integer(0)?);
        Ok(call.owned(1))
    })
    .lenient()
    .volatile(),
    Row::new("rf_mysql_row_count", 0, |call| integer(call.context().state().rows_processed())).volatile(),
    Row::new("rf_mysql_sleep", 1, |call| {
        let seconds = call.float(0)?;
        if seconds < 0.0 {
            return Err(Error::new(Condition::InvalidParameterValue, "Incorrect arguments to sleep."));
        }
        call.context().state().sleep(Duration::from_secs_f64(seconds.min(31_536_000.0)))?;
        integer(0)
    })
    .volatile(),
    Row::new("rf_mysql_kill", 2, |call| {
        let pid = i32::try_from(call.integer(0)?).unwrap_or(-1);
        let state = call.context().state();
        let found = match call.boolean(1)? {
            true => state.terminate(pid, Duration::ZERO)?,
            false => state.cancel(pid)?,
        };
        match found {
            true => integer(0),
            false => Err(Error::new(Condition::UndefinedObject, format!("Unknown thread id: {}", call.integer(0)?))
                .with_mysql(1094, "HY000")),
        }
    })
    .volatile(),
    // Locks by name.
    Row::new("rf_mysql_get_lock", 2, |call| {
        let (key, seconds, state) = (key(call)?, call.float(1)?, call.context().state());
        let lock = |wait| state.advisory_lock(key, LockMode::Exclusive, Hold::Session, wait);
        if seconds < 0.0 {
            // For ever, whatever the session waits for rows.
            loop {
                match lock(true) {
                    Err(error) if error.condition() == Condition::LockNotAvailable => {}
                    taken => return integer(taken?),
                }
            }
        }
        let end = Instant::now() + Duration::from_secs_f64(seconds.min(31_536_000.0));
        loop {
            if lock(false)? {
                return integer(true);
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return integer(false);
            }
            state.sleep(left.min(Duration::from_millis(20)))?;
        }
    })
    .volatile(),
    Row::new("rf_mysql_release_lock", 1, |call| {
        let (key, state) = (key(call)?, call.context().state());
        match state.advisory_holder(key)? {
            None => Ok(Value::Null),
            Some(holder) if holder == state.pid() => integer(state.advisory_unlock(key, LockMode::Exclusive)?),
            Some(_) => integer(0),
        }
    })
    .volatile(),
    Row::new("rf_mysql_is_free_lock", 1, |call| integer(call.context().state().advisory_holder(key(call)?)?.is_none()))
        .volatile(),
    Row::new("rf_mysql_is_used_lock", 1, |call| maybe(call.context().state().advisory_holder(key(call)?)?, integer))
        .volatile(),
    Row::new("rf_mysql_release_all_locks", 0, |call| {
        integer(i64::try_from(call.context().state().advisory_unlock_all()?).unwrap_or(i64::MAX))
    })
    .volatile(),
    // Variables: (scope, name)
    Row::new("rf_mysql_variable", 2, |call| {
        let variable = known(call.text(1)?)?;
        let shown = shown(call, variable)?;
        maybe(shown, |shown| text(variables::selected(variable, &shown)))
    })
    .volatile(),
    Row::new("rf_mysql_variable_number", 2, |call| {
        let variable = known(call.text(1)?)?;
        let shown = shown(call, variable)?;
        maybe(shown, |shown| integer(numbers::integer_of_text(&variables::selected(variable, &shown))))
    })
    .volatile(),
    // (scope, name): as SHOW prints it
    Row::new("rf_mysql_variable_shown", 2, |call| maybe(shown(call, known(call.text(1)?)?)?, text)).volatile(),
    // (scope, name, value)
    Row::new("rf_mysql_set_variable", 3, |call| {
        let value = numbers::text_of(call.value(2));
        set(call, call.text(0)?, call.text(1)?, value.as_deref())?;
        Ok(Value::Null)
    })
    .lenient()
    .volatile(),
    // (character set, collation)
    Row::new("rf_mysql_set_names", 1, |call| {
        let charset = call.text(0)?.to_ascii_lowercase();
        let known = CHARSETS.iter().find(|(name, _)| *name == charset);
        let Some((_, collation)) = known else {
            return match charset.as_str() {
                "default" => Ok(Value::Null),
                _ => Err(Error::new(Condition::InvalidParameterValue, format!("Unknown character set: '{charset}'"))
                    .with_mysql(1115, "42000")),
            };
        };
        let collation = if call.len() > 1 { call.text(1)?.to_ascii_lowercase() } else { (*collation).to_owned() };
        if !Collation::of_mysql().iter().any(|known| known.name == collation) {
            let message = format!("Unknown collation: '{collation}'");
            return Err(Error::new(Condition::UndefinedObject, message).with_mysql(1273, "HY000"));
        }
        for name in ["character_set_client", "character_set_connection", "character_set_results"] {
            set(call, "", name, Some(&charset))?;
        }
        set(call, "", "collation_connection", Some(&collation))?;
        Ok(Value::Null)
    })
    .optional(1)
    .volatile(),
    Row::new("rf_mysql_user_variable", 1, |call| {
        maybe(user_variable(call)?, |value| maybe(numbers::text_of(value.as_ref()), text))
    })
    .volatile(),
    Row::new("rf_mysql_user_integer", 1, |call| {
        maybe(user_variable(call)?, |value| maybe(numbers::integer_of(value.as_ref()), integer))
    })
    .volatile(),
    Row::new("rf_mysql_user_decimal", 1, |call| {
        maybe(user_variable(call)?, |value| maybe(numbers::decimal_of(value.as_ref()), |value| number(&value)))
    })
    .volatile(),
    Row::new("rf_mysql_user_double", 1, |call| {
        maybe(user_variable(call)?, |value| maybe(numbers::double_of(value.as_ref()), |value| Ok(Value::Real(value))))
    })
    .volatile(),
    Row::new("rf_mysql_user_bytes", 1, |call| {
        maybe(user_variable(call)?, |value| match value {
            Value::Blob(bytes) => Ok(Value::Blob(bytes)),
            value => maybe(numbers::text_of(value.as_ref()), |text| Ok(Value::Blob(text.into_bytes()))),
        })
    })
    .volatile(),
    // (name, value, its kind)
    Row::new("rf_mysql_set_user_variable", 3, |call| {
        let (name, value) = (call.text(0)?, call.owned(1));
        let state = call.context().state();
        state.set_user_variable(name, value.clone())?;
        state.set_user_kind(name, call.text(2)?)?;
        Ok(value)
    })
    .lenient()
    .volatile(),
    Row::new("rf_mysql_refused", 1, |call| Err(Error::unsupported(call.text(0)?.to_owned()))).lenient().volatile(),
    Row::new("rf_mysql_charset", 1, |call| {
        text(if matches!(call.value(0), ValueRef::Text(_)) { "utf8mb4" } else { "binary" })
    })
    .lenient(),
    Row::new("rf_mysql_collation", 1, |call| {
        text(if matches!(call.value(0), ValueRef::Text(_)) { "utf8mb4_0900_ai_ci" } else { "binary" })
    })
    .lenient(),
];

/// Character sets that clients may speak: all of them are told as UTF-8 here but binary, and the default collation of
/// each.
const CHARSETS: &[(&str, &str)] = &[
    ("ascii", "ascii_general_ci"),
    ("binary", "binary"),
    ("latin1", "latin1_swedish_ci"),
    ("utf8", "utf8mb3_general_ci"),
    ("utf8mb3", "utf8mb3_general_ci"),
    ("utf8mb4", "utf8mb4_0900_ai_ci"),
];

/// The value of a variable of the user's, where it has one.
fn user_variable(call: &Call<'_>) -> Result<Option<Value>> {
    Ok(call.context().state().user_variable(call.text(0)?).filter(|value| *value != Value::Null))
}

/// The schema that MySQL knows by the file's name.
const PUBLIC: &str = "public";

/// The default database: the first schema of the path.
fn database(state: &dyn SessionState) -> Option<String> {
    let first = state.search_path(false).into_iter().next()?;
    Some(if first == PUBLIC { state.database() } else { first })
}

/// A client's host.
pub fn host(address: &str) -> &str {
    let host = address.rsplit_once(':').map_or(address, |(host, _)| host);
    match host.trim_matches(['[', ']']) {
        "" | "127.0.0.1" | "::1" => "localhost",
        host => host,
    }
}

/// Variables of the server are for superusers.
fn may_set_global(state: &dyn SessionState) -> bool {
    state.schema().rights().is_superuser()
}

/// Refuses to tell of an account that is not there, or of another's where only who makes accounts is told.
fn check_account(state: &dyn SessionState, user: &str, host: &str, statement: &str) -> Result<()> {
    let own = state.user();
    if user == own {
        return Ok(());
    }
    let rights = state.schema().rights();
    if !rights.roles.can(rights.role(), |role| role.create_role) {
        let message =
            format!("Access denied for user '{own}'@'{}' to database 'mysql'", self::host(&state.client_address()));
        return Err(Error::new(Condition::InsufficientPrivilege, message).with_mysql(1044, "42000"));
    }
    if rights.roles.find(user).is_some() {
        return Ok(());
    }
    Err(match statement {
        "SHOW GRANTS" => {
            let message = format!("There is no such grant defined for user '{user}' on host '{host}'");
            Error::new(Condition::UndefinedObject, message).with_mysql(1141, "42000")
        }
        _ => {
            let message = format!("Operation {statement} failed for '{user}'@'{host}'");
            Error::new(Condition::UndefinedObject, message).with_mysql(1396, "HY000")
        }
    })
}

/// The lock behind a name, of any case.
fn key(call: &Call<'_>) -> Result<AdvisoryKey> {
    let name = call.text(0)?;
    if name.is_empty() || name.chars().count() > 64 {
        return Err(Error::new(Condition::InvalidParameterValue, format!("Incorrect user-level lock name '{name}'.")));
    }
    let digest = Sha256::digest(name.to_lowercase().as_bytes());
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&digest[..8]);
    Ok(AdvisoryKey::single(i64::from_be_bytes(bytes)))
}

fn known(name: &str) -> Result<&'static Variable> {
    variables::find(name).ok_or_else(|| variables::unknown(name))
}

/// A variable's value as SHOW prints it; `None` for NULL.
fn shown(call: &Call<'_>, variable: &Variable) -> Result<Option<String>> {
    let state = call.context().state();
    if variable.scope == variables::Scope::Session && call.text(0)?.eq_ignore_ascii_case("global") {
        return Err(Error::new(
            Condition::CantChangeRuntimeParam,
            format!("Variable '{}' is a SESSION variable", variable.name),
        ));
    }
    if call.text(0)?.eq_ignore_ascii_case("global") {
        return Ok(Some(variable.value.to_owned()));
    }
    Ok(value(&**state, variable))
}

/// What the session has.
fn value(state: &dyn SessionState, variable: &Variable) -> Option<String> {
    if let Some(set) = state.variable(&variables::kept_as(variable)) {
        return Some(set);
    }
    if variable.name == "warning_count" {
        return Some(state.warnings().to_string());
    }
    worked_out(variable, state.last_serial(), state.pid().unsigned_abs(), &state.server_address())
}

/// The value of a variable that the session has not set.
pub(crate) fn worked_out(variable: &Variable, serial: Option<i64>, pid: u32, address: &str) -> Option<String> {
    Some(match variable.name {
        "last_insert_id" | "identity" => serial.unwrap_or(0).to_string(),
        "pseudo_thread_id" => pid.to_string(),
        "port" => address.rsplit_once(':').map_or(variable.value, |(_, port)| port).to_owned(),
        "secure_file_priv" => return None,
        "timestamp" => {
            let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
            format!("{:.6}", now.as_secs_f64())
        }
        _ => variable.value.to_owned(),
    })
}

/// SET.
fn set(call: &Call<'_>, scope: &str, name: &str, value: Option<&str>) -> Result<()> {
    let state = call.context().state();
    let variable = known(name)?;
    let value = value.filter(|value| !value.eq_ignore_ascii_case("default") || variable.kind == Kind::Text);
    let read = variables::read(variable, scope, value)?;
    if scope == "global" && !may_set_global(&**call.context().state()) {
        let message = "Access denied; you need (at least one of) the SUPER or SYSTEM_VARIABLES_ADMIN privilege(s) for \
                       this operation";
        return Err(Error::new(Condition::InsufficientPrivilege, message).with_mysql(1227, "42000"));
    }
    if scope == "global" {
        return if read == variable.value || variable.settable == variables::Settable::Hint {
            Ok(())
        } else {
            Err(Error::unsupported(format!("SET GLOBAL {name}")))
        };
    }
    match variable.name {
        "character_set_client" | "character_set_connection" | "character_set_results"
            if !read.is_empty() && !CHARSETS.iter().any(|(known, _)| read.eq_ignore_ascii_case(known)) =>
        {
            let message = format!("Unknown character set: '{read}'");
            return Err(Error::new(Condition::InvalidParameterValue, message).with_mysql(1115, "42000"));
        }
        "last_insert_id" | "identity" => {
            state.set_last_serial(numbers::integer_of_text(&read));
            return Ok(());
        }
        "time_zone" => {
            let zone = if read.eq_ignore_ascii_case("system") { "UTC".to_owned() } else { named_zone(&read)? };
            state.set_lasting("timezone", &zone)?;
        }
        "innodb_lock_wait_timeout" => {
            let millis = numbers::integer_of_text(&read).saturating_mul(1_000).min(i64::from(i32::MAX));
            state.set_lasting("lock_timeout", &millis.to_string())?;
        }
        "wait_timeout" => {
            let millis = numbers::integer_of_text(&read).saturating_mul(1_000).min(i64::from(i32::MAX));
            state.set_lasting("idle_session_timeout", &millis.to_string())?;
        }
        "max_execution_time" => {
            let millis = numbers::integer_of_text(&read).min(i64::from(i32::MAX));
            state.set_lasting("statement_timeout", &millis.to_string())?;
        }
        "foreign_key_checks" => {
            state.set_lasting("session_replication_role", if read == "OFF" { "replica" } else { "origin" })?;
        }
        "transaction_isolation" | "tx_isolation" => {
            state.set_lasting("default_transaction_isolation", &read.to_ascii_lowercase().replace('-', " "))?;
        }
        "transaction_read_only" | "tx_read_only" => {
            let word = if read == "ON" { "on" } else { "off" };
            state.set_lasting("default_transaction_read_only", word)?;
        }
        _ => {}
    }
    state.set_lasting(&variables::kept_as(variable), &read)
}

/// A zone in the words of PostgreSQL: its offsets have the other sign when they stand alone.
fn named_zone(name: &str) -> Result<String> {
    let unknown = || {
        Error::new(Condition::InvalidParameterValue, format!("Unknown or incorrect time zone: '{name}'"))
            .with_mysql(1298, "HY000")
    };
    match name.as_bytes().first() {
        Some(sign @ (b'+' | b'-')) => {
            let (hours, minutes) = name[1..].split_once(':').ok_or_else(unknown)?;
            let number = |part: &str| part.parse::<u32>().ok().filter(|_| (1..=2).contains(&part.len()));
            let hours = number(hours).filter(|hours| *hours <= 14).ok_or_else(unknown)?;
            let minutes = number(minutes).filter(|minutes| *minutes < 60).ok_or_else(unknown)?;
            let sign = char::from(*sign);
            let turned = if sign == '+' { '-' } else { '+' };
            Ok(format!("<{sign}{hours:02}:{minutes:02}>{turned}{hours:02}:{minutes:02}"))
        }
        _ if rowferry_dialect::values::zone::find(name).is_some() => Ok(name.to_owned()),
        _ => Err(unknown()),
    }
}
