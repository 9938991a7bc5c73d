//! MySQL's system variables, one a row: what `SELECT @@x`, SET and SHOW VARIABLES read.
//!
//! A session keeps what it has set as its own variable `mysql.x`. What has an effect here says so by its row; what has
//! none takes the value that is true already, and others are refused.

use crate::{Condition, Error, Result};

/// The version that clients are told: the dialect is that of MySQL 8.0.
pub const VERSION: &str = "8.0.36-rowferry";

/// What values a variable has.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Kind {
    /// 0 or 1, shown as OFF and ON.
    Truth,
    /// A whole number from one to another.
    Number(i64, i64),
    /// A number with a fraction.
    Real,
    /// One of these words.
    Word(&'static [&'static str]),
    /// Some of these words, with commas between.
    Words(&'static [&'static str]),
    /// A text.
    Text,
}

/// Who has a value of it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Scope {
    /// The server alone.
    Global,
    /// Each session, and the server for new ones.
    Both,
    /// Each session alone.
    Session,
}

/// What SET does.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Settable {
    /// It is kept, and has its effect.
    Effective,
    /// It is kept; nothing here depends on it: a hint to a server that works in another way.
    Hint,
    /// It must be the value that it has.
    Only,
    /// Nobody sets it: `1238`.
    Never,
}

/// Where its value comes from, unless a session has set it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Origin {
    /// The row.
    Row,
    /// It is worked out when it is asked for.
    Session,
}

/// A system variable.
#[derive(Debug)]
pub struct Variable {
    /// Its name, in small letters.
    pub name: &'static str,
    /// Its value in a new session, as SHOW prints it.
    pub value: &'static str,
    /// Its values.
    pub kind: Kind,
    /// Who has it.
    pub scope: Scope,
    /// What SET does.
    pub settable: Settable,
    /// Where its value comes from.
    pub origin: Origin,
}

use Kind::{Number, Real, Text, Truth, Word, Words};
use Origin::{Row, Session as Worked};
use Scope::{Both, Global, Session};
use Settable::{Effective, Hint, Never, Only};

const fn row(
    name: &'static str,
    value: &'static str,
    kind: Kind,
    scope: Scope,
    settable: Settable,
    origin: Origin,
) -> Variable {
    Variable { name, value, kind, scope, settable, origin }
}

const MANY: Kind = Number(0, i64::MAX);
/// The levels of isolation.
const LEVELS: &[&str] = &["READ-UNCOMMITTED", "READ-COMMITTED", "REPEATABLE-READ", "SERIALIZABLE"];
/// The modes of SQL.
pub const MODES: &[&str] = &[
    "ALLOW_INVALID_DATES",
    "ANSI",
    "ANSI_QUOTES",
    "ERROR_FOR_DIVISION_BY_ZERO",
    "HIGH_NOT_PRECEDENCE",
    "IGNORE_SPACE",
    "NO_AUTO_CREATE_USER",
    "NO_AUTO_VALUE_ON_ZERO",
    "NO_BACKSLASH_ESCAPES",
    "NO_DIR_IN_CREATE",
    "NO_ENGINE_SUBSTITUTION",
    "NO_UNSIGNED_SUBTRACTION",
    "NO_ZERO_DATE",
    "NO_ZERO_IN_DATE",
    "ONLY_FULL_GROUP_BY",
    "PAD_CHAR_TO_FULL_LENGTH",
    "PIPES_AS_CONCAT",
    "REAL_AS_FLOAT",
    "STRICT_ALL_TABLES",
    "STRICT_TRANS_TABLES",
    "TIME_TRUNCATE_FRACTIONAL",
    "TRADITIONAL",
];
/// Modes that would change what a statement means, and are not there.
const MODES_REFUSED: &[&str] =
    &["ALLOW_INVALID_DATES", "HIGH_NOT_PRECEDENCE", "PAD_CHAR_TO_FULL_LENGTH", "TIME_TRUNCATE_FRACTIONAL"];
/// The modes of a new session.
pub const DEFAULT_MODES: &str = "ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,\
    ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION";

/// Every variable, by name.
pub static VARIABLES: &[Variable] = &[
    row("activate_all_roles_on_login", "OFF", Truth, Global, Only, Row),
    row("auto_generate_certs", "OFF", Truth, Global, Never, Row),
    row("auto_increment_increment", "1", Number(1, 65_535), Both, Only, Row),
    row("auto_increment_offset", "1", Number(1, 65_535), Both, Only, Row),
    row("autocommit", "ON", Truth, Both, Effective, Row),
    row("automatic_sp_privileges", "ON", Truth, Global, Only, Row),
    row("back_log", "128", MANY, Global, Never, Row),
    row("basedir", "/usr/", Text, Global, Never, Row),
    row("big_tables", "OFF", Truth, Both, Hint, Row),
    row("bind_address", "*", Text, Global, Never, Row),
    row("block_encryption_mode", "aes-128-ecb", Text, Both, Effective, Row),
    row("bulk_insert_buffer_size", "8388608", MANY, Both, Hint, Row),
    row("character_set_client", "utf8mb4", Text, Both, Effective, Row),
    row("character_set_connection", "utf8mb4", Text, Both, Effective, Row),
    row("character_set_database", "utf8mb4", Text, Both, Only, Row),
    row("character_set_filesystem", "binary", Text, Both, Only, Row),
    row("character_set_results", "utf8mb4", Text, Both, Effective, Row),
    row("character_set_server", "utf8mb4", Text, Both, Only, Row),
    row("character_set_system", "utf8mb3", Text, Global, Never, Row),
    row("character_sets_dir", "/usr/share/mysql/charsets/", Text, Global, Never, Row),
    row("collation_connection", "utf8mb4_0900_ai_ci", Text, Both, Effective, Row),
    row("collation_database", "utf8mb4_0900_ai_ci", Text, Both, Only, Row),
    row("collation_server", "utf8mb4_0900_ai_ci", Text, Both, Hint, Row),
    row("completion_type", "NO_CHAIN", Word(&["NO_CHAIN", "CHAIN", "RELEASE"]), Both, Only, Row),
    row("connect_timeout", "10", Number(2, 31_536_000), Global, Only, Row),
    row("cte_max_recursion_depth", "1000", MANY, Both, Hint, Row),
    row("datadir", "/var/lib/mysql/", Text, Global, Never, Row),
    row("default_authentication_plugin", "caching_sha2_password", Text, Global, Never, Row),
    row("default_collation_for_utf8mb4", "utf8mb4_0900_ai_ci", Text, Both, Only, Row),
    row("default_storage_engine", "InnoDB", Text, Both, Only, Row),
    row("default_tmp_storage_engine", "InnoDB", Text, Both, Only, Row),
    row("default_week_format", "0", Number(0, 7), Both, Only, Row),
    row("div_precision_increment", "4", Number(0, 30), Both, Only, Row),
    row("error_count", "0", MANY, Session, Never, Worked),
    row("event_scheduler", "OFF", Word(&["ON", "OFF", "DISABLED"]), Global, Only, Row),
    row("explicit_defaults_for_timestamp", "ON", Truth, Both, Only, Row),
    row("external_user", "", Text, Session, Never, Row),
    row("foreign_key_checks", "ON", Truth, Both, Effective, Row),
    row("ft_min_word_len", "4", MANY, Global, Never, Row),
    row("general_log", "OFF", Truth, Global, Only, Row),
    row("group_concat_max_len", "4294967295", Number(4, i64::MAX), Both, Hint, Row),
    row("gtid_mode", "OFF", Word(&["OFF"]), Global, Only, Row),
    row("have_compress", "YES", Text, Global, Never, Row),
    row("have_dynamic_loading", "NO", Text, Global, Never, Row),
    row("have_geometry", "NO", Text, Global, Never, Row),
    row("have_openssl", "YES", Text, Global, Never, Row),
    row("have_profiling", "NO", Text, Global, Never, Row),
    row("have_query_cache", "NO", Text, Global, Never, Row),
    row("have_rtree_keys", "NO", Text, Global, Never, Row),
    row("have_ssl", "YES", Text, Global, Never, Row),
    row("have_statement_timeout", "YES", Text, Global, Never, Row),
    row("have_symlink", "DISABLED", Text, Global, Never, Row),
    row("hostname", "localhost", Text, Global, Never, Worked),
    row("identity", "0", Number(0, i64::MAX), Session, Effective, Worked),
    row("information_schema_stats_expiry", "86400", MANY, Both, Hint, Row),
    row("init_connect", "", Text, Global, Only, Row),
    row("innodb_autoinc_lock_mode", "2", MANY, Global, Never, Row),
    row("innodb_buffer_pool_size", "134217728", MANY, Global, Hint, Row),
    row("innodb_default_row_format", "dynamic", Text, Global, Only, Row),
    row("innodb_file_per_table", "ON", Truth, Global, Hint, Row),
    row("innodb_flush_log_at_trx_commit", "1", Number(0, 2), Global, Only, Row),
    row("innodb_ft_enable_stopword", "ON", Truth, Both, Only, Row),
    row("innodb_ft_max_token_size", "84", MANY, Global, Never, Row),
    row("innodb_ft_min_token_size", "3", MANY, Global, Never, Row),
    row("innodb_ft_server_stopword_table", "", Text, Global, Only, Row),
    row("innodb_ft_user_stopword_table", "", Text, Both, Only, Row),
    row("innodb_lock_wait_timeout", "50", Number(1, 1_073_741_824), Both, Effective, Row),
    row("innodb_read_only", "OFF", Truth, Global, Never, Row),
    row("innodb_strict_mode", "ON", Truth, Both, Hint, Row),
    row("innodb_version", "8.0.36", Text, Global, Never, Row),
    row("insert_id", "0", MANY, Session, Only, Row),
    row("interactive_timeout", "28800", Number(1, 31_536_000), Both, Hint, Row),
    row("join_buffer_size", "262144", MANY, Both, Hint, Row),
    row("keep_files_on_create", "OFF", Truth, Both, Hint, Row),
    row("key_buffer_size", "8388608", MANY, Global, Hint, Row),
    row("large_files_support", "ON", Truth, Global, Never, Row),
    row("last_insert_id", "0", Number(0, i64::MAX), Session, Effective, Worked),
    row("lc_messages", "en_US", Text, Both, Only, Row),
    row("lc_time_names", "en_US", Text, Both, Only, Row),
    row("license", "Apache-2.0 OR MIT", Text, Global, Never, Row),
    row("local_infile", "ON", Truth, Global, Only, Row),
    row("lock_wait_timeout", "31536000", Number(1, 31_536_000), Both, Hint, Row),
    row("log_bin", "OFF", Truth, Global, Never, Row),
    row("log_bin_trust_function_creators", "OFF", Truth, Global, Hint, Row),
    row("log_error", "stderr", Text, Global, Never, Row),
    row("long_query_time", "10.000000", Real, Both, Hint, Row),
    row("low_priority_updates", "OFF", Truth, Both, Hint, Row),
    row("lower_case_file_system", "OFF", Truth, Global, Never, Row),
    row("lower_case_table_names", "0", Number(0, 2), Global, Never, Row),
    row("mandatory_roles", "", Text, Global, Only, Row),
    row("max_allowed_packet", "67108864", Number(1_024, 1_073_741_824), Both, Hint, Row),
    row("max_connect_errors", "100", MANY, Global, Hint, Row),
    row("max_connections", "151", Number(1, 100_000), Global, Hint, Row),
    row("max_error_count", "1024", Number(0, 65_535), Both, Hint, Row),
    row("max_execution_time", "0", Number(0, 4_294_967_295), Both, Effective, Row),
    row("max_heap_table_size", "16777216", MANY, Both, Hint, Row),
    row("max_join_size", "18446744073709551615", Text, Both, Hint, Row),
    row("max_length_for_sort_data", "4096", MANY, Both, Hint, Row),
    row("max_prepared_stmt_count", "16382", MANY, Global, Hint, Row),
    row("max_seeks_for_key", "18446744073709551615", Text, Both, Hint, Row),
    row("max_sort_length", "1024", MANY, Both, Hint, Row),
    row("max_sp_recursion_depth", "0", Number(0, 255), Both, Hint, Row),
    row("max_user_connections", "0", MANY, Both, Hint, Row),
    row("net_buffer_length", "16384", Number(1_024, 1_048_576), Both, Hint, Row),
    row("net_read_timeout", "30", Number(1, 31_536_000), Both, Hint, Row),
    row("net_retry_count", "10", MANY, Both, Hint, Row),
    row("net_write_timeout", "60", Number(1, 31_536_000), Both, Hint, Row),
    row("new", "OFF", Truth, Both, Hint, Row),
    row("old_alter_table", "OFF", Truth, Both, Hint, Row),
    row("optimizer_prune_level", "1", Number(0, 1), Both, Hint, Row),
    row("optimizer_search_depth", "62", Number(0, 62), Both, Hint, Row),
    row("optimizer_switch", "", Text, Both, Hint, Row),
    row("optimizer_trace", "enabled=off,one_line=off", Text, Both, Only, Row),
    row("performance_schema", "OFF", Truth, Global, Never, Row),
    row("pid_file", "", Text, Global, Never, Row),
    row("plugin_dir", "/usr/lib/mysql/plugin/", Text, Global, Never, Row),
    row("port", "3306", Number(0, 65_535), Global, Never, Worked),
    row("preload_buffer_size", "32768", MANY, Both, Hint, Row),
    row("print_identified_with_as_hex", "OFF", Truth, Both, Hint, Row),
    row("profiling", "OFF", Truth, Both, Only, Row),
    row("profiling_history_size", "15", Number(0, 100), Both, Hint, Row),
    row("protocol_version", "10", MANY, Global, Never, Row),
    row("proxy_user", "", Text, Session, Never, Row),
    row("pseudo_thread_id", "0", MANY, Session, Only, Worked),
    row("query_alloc_block_size", "8192", MANY, Both, Hint, Row),
    row("query_cache_size", "0", MANY, Global, Only, Row),
    row("query_cache_type", "OFF", Truth, Both, Only, Row),
    row("query_prealloc_size", "8192", MANY, Both, Hint, Row),
    row("rand_seed1", "0", MANY, Session, Only, Row),
    row("rand_seed2", "0", MANY, Session, Only, Row),
    row("range_alloc_block_size", "4096", MANY, Both, Hint, Row),
    row("range_optimizer_max_mem_size", "8388608", MANY, Both, Hint, Row),
    row("read_buffer_size", "131072", MANY, Both, Hint, Row),
    row("read_only", "OFF", Truth, Global, Only, Row),
    row("read_rnd_buffer_size", "262144", MANY, Both, Hint, Row),
    row("require_secure_transport", "OFF", Truth, Global, Only, Row),
    row("secure_file_priv", "NULL", Text, Global, Never, Row),
    row("server_id", "1", MANY, Global, Only, Row),
    row("server_uuid", "00000000-0000-0000-0000-000000000000", Text, Global, Never, Row),
    row("session_track_gtids", "OFF", Word(&["OFF", "OWN_GTID", "ALL_GTIDS"]), Both, Only, Row),
    row("session_track_schema", "ON", Truth, Both, Effective, Row),
    row("session_track_state_change", "OFF", Truth, Both, Only, Row),
    row(
        "session_track_system_variables",
        "time_zone,autocommit,character_set_client,character_set_results,character_set_connection",
        Text,
        Both,
        Hint,
        Row,
    ),
    row("show_create_table_verbosity", "OFF", Truth, Both, Hint, Row),
    row("show_old_temporals", "OFF", Truth, Both, Hint, Row),
    row("skip_external_locking", "ON", Truth, Global, Never, Row),
    row("skip_name_resolve", "ON", Truth, Global, Never, Row),
    row("skip_networking", "OFF", Truth, Global, Never, Row),
    row("skip_show_database", "OFF", Truth, Global, Never, Row),
    row("slow_query_log", "OFF", Truth, Global, Only, Row),
    row("socket", "", Text, Global, Never, Worked),
    row("sort_buffer_size", "262144", MANY, Both, Hint, Row),
    row("sql_auto_is_null", "OFF", Truth, Both, Only, Row),
    row("sql_big_selects", "ON", Truth, Both, Hint, Row),
    row("sql_buffer_result", "OFF", Truth, Both, Hint, Row),
    row("sql_generate_invisible_primary_key", "OFF", Truth, Both, Only, Row),
    row("sql_log_bin", "ON", Truth, Session, Hint, Row),
    row("sql_log_off", "OFF", Truth, Both, Hint, Row),
    row("sql_mode", DEFAULT_MODES, Words(MODES), Both, Effective, Row),
    row("sql_notes", "ON", Truth, Both, Hint, Row),
    row("sql_quote_show_create", "ON", Truth, Both, Hint, Row),
    row("sql_require_primary_key", "OFF", Truth, Both, Only, Row),
    row("sql_safe_updates", "OFF", Truth, Both, Effective, Row),
    row("sql_select_limit", "18446744073709551615", Text, Both, Effective, Row),
    row("sql_warnings", "OFF", Truth, Both, Hint, Row),
    row("ssl_ca", "", Text, Global, Never, Row),
    row("ssl_cert", "", Text, Global, Never, Row),
    row("ssl_cipher", "", Text, Global, Never, Row),
    row("ssl_key", "", Text, Global, Never, Row),
    row("storage_engine", "InnoDB", Text, Both, Only, Row),
    row("super_read_only", "OFF", Truth, Global, Only, Row),
    row("sync_binlog", "1", MANY, Global, Hint, Row),
    row("system_time_zone", "UTC", Text, Global, Never, Row),
    row("table_definition_cache", "2000", MANY, Global, Hint, Row),
    row("table_open_cache", "4000", MANY, Global, Hint, Row),
    row("thread_cache_size", "9", MANY, Global, Hint, Row),
    row("thread_handling", "one-thread-per-connection", Text, Global, Never, Row),
    row("thread_stack", "1048576", MANY, Global, Never, Row),
    row("time_zone", "SYSTEM", Text, Both, Effective, Row),
    row("timestamp", "0.000000", Real, Session, Only, Worked),
    row("tls_version", "TLSv1.2,TLSv1.3", Text, Global, Never, Row),
    row("tmp_table_size", "16777216", MANY, Both, Hint, Row),
    row("tmpdir", "/tmp", Text, Global, Never, Row),
    row("transaction_alloc_block_size", "8192", MANY, Both, Hint, Row),
    row("transaction_isolation", "READ-COMMITTED", Word(LEVELS), Both, Effective, Row),
    row("transaction_prealloc_size", "4096", MANY, Both, Hint, Row),
    row("transaction_read_only", "OFF", Truth, Both, Effective, Row),
    row("tx_isolation", "READ-COMMITTED", Word(LEVELS), Both, Effective, Row),
    row("tx_read_only", "OFF", Truth, Both, Effective, Row),
    row("unique_checks", "ON", Truth, Both, Hint, Row),
    row("updatable_views_with_limit", "YES", Word(&["YES", "NO"]), Both, Hint, Row),
    row("use_secondary_engine", "ON", Word(&["OFF", "ON", "FORCED"]), Session, Hint, Row),
    row("version", VERSION, Text, Global, Never, Row),
    row("version_comment", "Rowferry: MySQL's protocol over a file", Text, Global, Never, Row),
    row("version_compile_machine", std::env::consts::ARCH, Text, Global, Never, Row),
    row("version_compile_os", std::env::consts::OS, Text, Global, Never, Row),
    row("wait_timeout", "28800", Number(1, 31_536_000), Both, Hint, Row),
    row("warning_count", "0", MANY, Session, Never, Worked),
    row("windowing_use_high_precision", "ON", Truth, Both, Hint, Row),
];

/// A variable by its name, of any case.
pub fn find(name: &str) -> Option<&'static Variable> {
    let name = name.to_ascii_lowercase();
    VARIABLES.binary_search_by(|row| row.name.cmp(name.as_str())).ok().map(|at| &VARIABLES[at])
}

/// The name under which a session keeps it.
pub fn kept_as(variable: &Variable) -> String {
    let name = match variable.name {
        "tx_isolation" => "transaction_isolation",
        "tx_read_only" => "transaction_read_only",
        "identity" => "last_insert_id",
        name => name,
    };
    format!("mysql.{name}")
}

/// `1193`: there is no such variable.
pub fn unknown(name: &str) -> Error {
    Error::new(Condition::UndefinedObject, format!("Unknown system variable '{name}'")).with_mysql(1193, "HY000")
}

/// True for one whose values SELECT shows as numbers.
pub fn is_number(name: &str) -> bool {
    find(name).is_some_and(|row| matches!(row.kind, Kind::Truth | Kind::Number(..)))
}

/// True for a variable that is a number without a sign.
pub fn is_unsigned(name: &str) -> bool {
    find(name).is_some_and(|row| matches!(row.kind, Kind::Number(least, _) if least >= 0))
}

/// A value as SELECT shows it: ON is 1.
pub fn selected(variable: &Variable, shown: &str) -> String {
    match (variable.kind, shown) {
        (Kind::Truth, "ON") => "1".to_owned(),
        (Kind::Truth, _) => "0".to_owned(),
        (_, shown) => shown.to_owned(),
    }
}

/// A value that SET has been given, as SHOW prints it; `None` is DEFAULT.
///
/// # Errors
/// What nobody sets, what has no effect here, and values that it does not take.
pub fn read(variable: &Variable, scope: &str, value: Option<&str>) -> Result<String> {
    let name = variable.name;
    let wrong = |value: &str| {
        Error::new(
            Condition::InvalidParameterValue,
            format!("Variable '{name}' can't be set to the value of '{value}'"),
        )
        .with_mysql(1231, "42000")
    };
    match (variable.settable, variable.scope, scope) {
        (Settable::Never, ..) => {
            let message = format!("Variable '{name}' is a read only variable");
            return Err(Error::new(Condition::CantChangeRuntimeParam, message).with_mysql(1238, "HY000"));
        }
        (_, Scope::Global, "" | "session") => {
            let message = format!("Variable '{name}' is a GLOBAL variable and should be set with SET GLOBAL");
            return Err(Error::new(Condition::CantChangeRuntimeParam, message).with_mysql(1229, "HY000"));
        }
        (_, Scope::Session, "global") => {
            let message = format!("Variable '{name}' is a SESSION variable and can't be used with SET GLOBAL");
            return Err(Error::new(Condition::CantChangeRuntimeParam, message).with_mysql(1228, "HY000"));
        }
        _ => {}
    }
    let Some(value) = value else { return Ok(variable.value.to_owned()) };
    let read = match variable.kind {
        Kind::Truth => match value.to_ascii_uppercase().as_str() {
            "1" | "ON" | "TRUE" => "ON".to_owned(),
            "0" | "OFF" | "FALSE" => "OFF".to_owned(),
            _ => return Err(wrong(value)),
        },
        // A number beyond the bounds becomes the nearest, with a warning.
        Kind::Number(least, most) => match value.parse::<i64>() {
            Ok(number) => number.clamp(least, most).to_string(),
            Err(_) => {
                let message = format!("Incorrect argument type to variable '{name}'");
                return Err(Error::new(Condition::InvalidParameterValue, message).with_mysql(1232, "42000"));
            }
        },
        Kind::Real => value.parse::<f64>().map(|number| format!("{number:.6}")).map_err(|_| wrong(value))?,
        Kind::Word(words) => {
            let by_number = value.parse::<usize>().ok().and_then(|at| words.get(at));
            let by_name = words.iter().find(|word| word.eq_ignore_ascii_case(value));
            by_name.or(by_number).map(|word| (*word).to_owned()).ok_or_else(|| wrong(value))?
        }
        Kind::Words(words) => modes(words, value).ok_or_else(|| wrong(value))?,
        Kind::Text => value.to_owned(),
    };
    if variable.name == "sql_mode"
        && let Some(mode) = read.split(',').find(|mode| MODES_REFUSED.contains(mode))
    {
        return Err(Error::unsupported(format!("the SQL mode {mode}")));
    }
    if variable.settable == Settable::Only && !read.eq_ignore_ascii_case(variable.value) {
        return Err(Error::unsupported(format!("SET {name} = {read}")));
    }
    Ok(read)
}

/// Some of the words in their order, with those that they stand for.
fn modes(words: &[&str], value: &str) -> Option<String> {
    const TRADITIONAL: &[&str] = &[
        "STRICT_TRANS_TABLES",
        "STRICT_ALL_TABLES",
        "NO_ZERO_IN_DATE",
        "NO_ZERO_DATE",
        "ERROR_FOR_DIVISION_BY_ZERO",
        "NO_ENGINE_SUBSTITUTION",
    ];
    const ANSI: &[&str] = &["REAL_AS_FLOAT", "PIPES_AS_CONCAT", "ANSI_QUOTES", "IGNORE_SPACE", "ONLY_FULL_GROUP_BY"];
    // As MySQL prints them.
    const ORDER: &[&str] = &[
        "REAL_AS_FLOAT",
        "PIPES_AS_CONCAT",
        "ANSI_QUOTES",
        "IGNORE_SPACE",
        "ONLY_FULL_GROUP_BY",
        "NO_UNSIGNED_SUBTRACTION",
        "NO_DIR_IN_CREATE",
        "ANSI",
        "NO_AUTO_VALUE_ON_ZERO",
        "NO_BACKSLASH_ESCAPES",
        "STRICT_TRANS_TABLES",
        "STRICT_ALL_TABLES",
        "NO_ZERO_IN_DATE",
        "NO_ZERO_DATE",
        "ALLOW_INVALID_DATES",
        "ERROR_FOR_DIVISION_BY_ZERO",
        "TRADITIONAL",
        "HIGH_NOT_PRECEDENCE",
        "NO_AUTO_CREATE_USER",
        "NO_ENGINE_SUBSTITUTION",
        "PAD_CHAR_TO_FULL_LENGTH",
        "TIME_TRUNCATE_FRACTIONAL",
    ];
    let mut set = Vec::new();
    for word in value.split(',').map(|word| word.trim().to_ascii_uppercase()).filter(|word| !word.is_empty()) {
        let known = words.iter().find(|known| **known == word)?;
        set.push(*known);
        match *known {
            "TRADITIONAL" => set.extend(TRADITIONAL),
            "ANSI" => set.extend(ANSI),
            _ => {}
        }
    }
    let found: Vec<&str> = ORDER.iter().copied().filter(|word| set.contains(word)).collect();
    Some(found.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_in_order_and_hold_their_own_values() {
        for pair in VARIABLES.windows(2) {
            assert!(pair[0].name < pair[1].name, "{}", pair[1].name);
        }
        for row in VARIABLES.iter().filter(|row| row.settable != Settable::Never) {
            let scope = if row.scope == Scope::Global { "global" } else { "session" };
            assert_eq!(read(row, scope, Some(row.value)).unwrap(), row.value, "{}", row.name);
        }
    }

    #[test]
    fn values_are_read_as_mysql_does() {
        let set = |name: &str, value: &str| read(find(name).unwrap(), "", Some(value));
        assert_eq!(set("autocommit", "0").unwrap(), "OFF");
        assert_eq!(set("SQL_MODE", "strict_trans_tables, ANSI_QUOTES").unwrap(), "ANSI_QUOTES,STRICT_TRANS_TABLES");
        assert_eq!(set("sql_mode", "").unwrap(), "");
        assert!(set("sql_mode", "nonsense").is_err());
        assert_eq!(set("transaction_isolation", "read-committed").unwrap(), "READ-COMMITTED");
        assert_eq!(set("version", "9").unwrap_err().condition(), Condition::CantChangeRuntimeParam);
        assert_eq!(set("div_precision_increment", "6").unwrap_err().condition(), Condition::FeatureNotSupported);
        assert_eq!(set("max_connections", "5").unwrap_err().condition(), Condition::CantChangeRuntimeParam);
        assert_eq!(read(find("wait_timeout").unwrap(), "", None).unwrap(), "28800");
        assert!(find("no_such").is_none());
        assert!(is_number("autocommit") && !is_number("sql_mode"));
    }
}
