//! What is asked of the variables with every statement, worked out of their texts when one of them has changed.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use jiff::tz::TimeZone;
use rowferry_dialect::ir::{ExplainFormat, Isolation};
use rowferry_dialect::mysql;
use rowferry_dialect::optimise::Passes;
use rowferry_dialect::postgres::StringRules;
use rowferry_dialect::values::{IntervalStyle, Settings, zone};
use rowferry_encodings::Encoding;

use super::spelled::{at_least, date_style, milliseconds, split_names};
use super::{INFORMIX_ROLE, Variables};
use crate::session::identity::RoleNames;
use crate::session::logged::{Explained, Logged, LoggedStatements};
use crate::session::transaction::isolation_from_name;
use crate::session::watched::{Track, TrackedFunctions, Wanted};
use crate::settings::{ExtraCheck, ExtraChecks};

/// Values that are asked for with every statement.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Frequent {
    statement_timeout: Duration,
    lock_timeout: Duration,
    timeouts: Timeouts,
    pub(super) defaults: Modes,
    /// synchronous_commit is not `off`.
    synchronous: bool,
    /// session_replication_role is `replica`.
    replica: bool,
    /// Which messages the client wants.
    messages: MessageLevel,
    /// `plan_cache_mode`.
    plans: PlanMode,
    /// `track_counts`.
    counts: bool,
    /// `rowferry.rewrite` and `enable_hashagg`.
    passes: Passes,
    /// What is wanted to be known of statements.
    wanted: Wanted,
    /// What PL/pgSQL looks for and refuses.
    extra_errors: ExtraChecks,
    /// What PL/pgSQL looks for and tells of.
    extra_warnings: ExtraChecks,
}

/// Whether texts that differ in their literals alone share a plan (`plan_cache_mode`).
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum PlanMode {
    /// When such a text comes for the second time.
    #[default]
    Auto,
    /// At once.
    Generic,
    /// Never: each text has a plan of its own.
    Custom,
}

/// The least important message that a client is sent (`client_min_messages`).
#[derive(Clone, Copy, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
pub enum MessageLevel {
    /// Everything there is.
    Debug,
    /// What is for the log, too.
    Log,
    /// Notices.
    #[default]
    Notice,
    /// Warnings.
    Warning,
    /// Errors alone.
    Error,
    /// What every client is told, whatever it wants.
    Info,
}

/// How a transaction is run.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Modes {
    /// Isolation level.
    pub isolation: Isolation,
    /// READ ONLY.
    pub read_only: bool,
    /// DEFERRABLE. A snapshot that is serializable without waiting is all there is: writers run one after the other.
    pub deferrable: bool,
}

impl Default for Modes {
    fn default() -> Self {
        Self { isolation: Isolation::ReadCommitted, read_only: false, deferrable: false }
    }
}

/// What may last how long; zero is for ever.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Timeouts {
    /// `idle_session_timeout`: silence outside a transaction.
    pub idle: Duration,
    /// `idle_in_transaction_session_timeout`: silence inside one.
    pub idle_in_transaction: Duration,
    /// `transaction_timeout`.
    pub transaction: Duration,
    /// `deadlock_timeout`: how long a wait lasts before a deadlock is looked for.
    pub deadlock: Duration,
    /// `client_connection_check_interval`: how often a session that is busy looks whether its client is still there.
    pub client_check: Duration,
}

impl Variables {
    /// The modes that a transaction begins with.
    pub fn defaults(&self) -> Modes {
        self.frequent.defaults
    }

    /// How values are printed and read. `now` is not in it.
    pub fn settings(&self) -> Arc<Settings> {
        self.settings.clone()
    }

    /// What the client's texts are in, where that is not UTF-8.
    pub fn client_encoding(&self) -> Option<&'static Encoding> {
        self.settings.client_encoding
    }

    /// Where names without a schema are looked for.
    pub fn search_path(&self) -> Arc<[String]> {
        self.search_path.clone()
    }

    /// How long a statement may run; zero is for ever.
    pub fn statement_timeout(&self) -> Duration {
        self.frequent.statement_timeout
    }

    /// How long a statement waits for the write lock; zero is for ever.
    pub fn lock_timeout(&self) -> Duration {
        self.frequent.lock_timeout
    }

    /// A setting that is a time; zero where there is none of this name.
    pub fn duration(&self, name: &str) -> Duration {
        milliseconds(self.kept(name).unwrap_or_default())
    }

    /// Changes come from elsewhere: neither ordinary triggers nor foreign keys look at them.
    pub fn is_replica(&self) -> bool {
        self.frequent.replica
    }

    /// Whether a commit waits until it is safe on disk, as far as the server's durability allows.
    pub fn is_synchronous(&self) -> bool {
        self.frequent.synchronous
    }

    /// Whether texts that differ in their literals alone share a plan.
    pub fn plan_mode(&self) -> PlanMode {
        self.frequent.plans
    }

    /// Whether what statements read and change is counted.
    pub fn counts(&self) -> bool {
        self.frequent.counts
    }

    /// What is done to make statements faster.
    pub fn passes(&self) -> Passes {
        self.frequent.passes
    }

    /// What is wanted to be known of statements.
    pub fn wanted(&self) -> Wanted {
        self.frequent.wanted
    }

    /// Which messages the client wants.
    pub fn message_level(&self) -> MessageLevel {
        self.frequent.messages
    }

    /// What PL/pgSQL has been asked to look for: whether it is an error (or a warning), `None` when it is not looked for.
    pub(crate) fn extra_check(&self, check: ExtraCheck) -> Option<bool> {
        if self.frequent.extra_errors.has(check) {
            return Some(true);
        }
        self.frequent.extra_warnings.has(check).then_some(false)
    }

    /// What may last how long besides statements and waits for locks.
    pub fn timeouts(&self) -> Timeouts {
        self.frequent.timeouts
    }

    /// Works out what is asked for often.
    pub(super) fn renew(&mut self) {
        let value = |name: &str| self.kept(name).unwrap_or_default();
        let (date_style, date_order) = date_style(value("datestyle")).unwrap_or_default();
        let client_encoding = Encoding::find(value("client_encoding")).filter(|encoding| !encoding.is_utf8());
        let settings = Settings {
            time_zone: zone::for_session(value("timezone")).map_or(TimeZone::UTC, |(zone, _)| zone),
            date_order,
            date_style,
            interval_style: match value("intervalstyle") {
                "postgres_verbose" => IntervalStyle::PostgresVerbose,
                "sql_standard" => IntervalStyle::SqlStandard,
                "iso_8601" => IntervalStyle::Iso8601,
                _ => IntervalStyle::Postgres,
            },
            bytea_hex: value("bytea_output") == "hex",
            client_encoding,
            extra_float_digits: value("extra_float_digits").parse().unwrap_or(1),
            strings: StringRules {
                standard: value("standard_conforming_strings") != "off",
                warn: value("escape_string_warning") != "off",
                backslash_quote: match value("backslash_quote") {
                    "on" => true,
                    "off" => false,
                    _ => client_encoding.is_none_or(|encoding| !encoding.is_client_only()),
                },
            },
            zero_dates: self.kept(mysql::SQL_MODE).is_some_and(|modes| mysql::Modes::of(modes).zero_dates),
            now: None,
            names: None,
        };
        let frequent = Frequent {
            statement_timeout: milliseconds(value("statement_timeout")),
            lock_timeout: milliseconds(value("lock_timeout")),
            timeouts: Timeouts {
                idle: milliseconds(value("idle_session_timeout")),
                idle_in_transaction: milliseconds(value("idle_in_transaction_session_timeout")),
                transaction: milliseconds(value("transaction_timeout")),
                deadlock: milliseconds(value("deadlock_timeout")),
                client_check: milliseconds(value("client_connection_check_interval")),
            },
            defaults: Modes {
                isolation: isolation_from_name(value("default_transaction_isolation")),
                read_only: value("default_transaction_read_only") == "on",
                deferrable: value("default_transaction_deferrable") == "on",
            },
            synchronous: value("synchronous_commit") != "off",
            replica: value("session_replication_role") == "replica",
            messages: match value("client_min_messages") {
                "warning" => MessageLevel::Warning,
                "error" => MessageLevel::Error,
                "log" => MessageLevel::Log,
                level if level.starts_with("debug") => MessageLevel::Debug,
                _ => MessageLevel::Notice,
            },
            plans: match value("plan_cache_mode") {
                "force_generic_plan" => PlanMode::Generic,
                "force_custom_plan" => PlanMode::Custom,
                _ => PlanMode::Auto,
            },
            counts: value("track_counts") != "off",
            passes: Passes {
                // No setting of PostgreSQL: it is there to compare with, and must not be set.
                rewrite: value("rowferry.rewrite") != "off",
                hash: value("enable_hashagg") != "off",
            },
            wanted: Wanted {
                track: match value("pg_stat_statements.track") {
                    "none" => Track::None,
                    "all" => Track::All,
                    _ => Track::Top,
                },
                no_utility: value("pg_stat_statements.track_utility") == "off",
                query_id: match value("compute_query_id") {
                    "on" => Some(true),
                    "off" => Some(false),
                    _ => None,
                },
                functions: match value("track_functions") {
                    "pl" => TrackedFunctions::Procedural,
                    "all" => TrackedFunctions::All,
                    _ => TrackedFunctions::None,
                },
                logged: Logged {
                    statements: match value("log_statement") {
                        "ddl" => LoggedStatements::Ddl,
                        "mod" => LoggedStatements::Mod,
                        "all" => LoggedStatements::All,
                        _ => LoggedStatements::None,
                    },
                    durations: value("log_duration") == "on",
                    least: at_least(value("log_min_duration_statement")),
                    parameter: value("log_parameter_max_length").parse().ok(),
                    explained: at_least(value("auto_explain.log_min_duration")).map(|least| Explained {
                        least,
                        format: match value("auto_explain.log_format") {
                            "json" => ExplainFormat::Json,
                            "xml" => ExplainFormat::Xml,
                            "yaml" => ExplainFormat::Yaml,
                            _ => ExplainFormat::Text,
                        },
                        verbose: value("auto_explain.log_verbose") == "on",
                        nested: value("auto_explain.log_nested_statements") == "on",
                    }),
                },
            },
            extra_errors: ExtraChecks::read(value("plpgsql.extra_errors")).unwrap_or_default(),
            extra_warnings: ExtraChecks::read(value("plpgsql.extra_warnings")).unwrap_or_default(),
        };
        self.settings = Arc::new(settings);
        self.told_by_door = OnceLock::new();
        self.frequent = frequent;
        self.untold = true;
        self.renew_names();
    }

    /// Works out what hangs on the user.
    pub(super) fn renew_names(&mut self) {
        let value = |name: &str| self.kept(name).unwrap_or_default();
        let mut path: Vec<String> = Vec::new();
        for name in split_names(value("search_path")) {
            let name = if name == "$user" { self.user.clone() } else { name };
            // Named twice, a schema is looked into once.
            if !path.contains(&name) {
                path.push(name);
            }
        }
        let (session, current) = (value("session_authorization"), value("role"));
        let enabled = self.kept(INFORMIX_ROLE).unwrap_or_default();
        let known = &self.role_names;
        if known.session != session || known.current != current || known.enabled != enabled {
            let (session, current, enabled) = (session.to_owned(), current.to_owned(), enabled.to_owned());
            self.role_names = Arc::new(RoleNames { session, current, enabled });
        }
        if *self.search_path != *path {
            self.search_path = path.into();
        }
    }
}
