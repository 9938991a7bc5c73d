//! SQL in, plan out; no database linked.
//!
//! ```text
//! postgres ─┐                                   ┌─ lower ── the back end's SQL, and what to bind
//! informix ─┼─ bind and type against a Schema ─ ir ─┤
//! (mysql) ──┘        by the dialect's own rules     └─ lower::postgres, for tests
//! ```
//!
//! A front end parses one statement and *binds* it: names become [`ir::RelId`]s and column positions, every expression
//! has a [`Type`], conversions that the dialect does silently are explicit casts. The IR knows neither a dialect nor a
//! back end. What a front end or a back end cannot do ends in [`Condition::FeatureNotSupported`], naming the feature.
//!
//! - [`access`]: roles, owners and privileges;
//! - `bind`: what SQL asks of a statement in any dialect;
//! - [`types`]: the types that the IR knows, and how each is stored;
//! - [`values`]: text input and output of each type, and the canonical stored form;
//! - [`schema`]: what a front end asks about the database;
//! - [`heritage`]: tables that inherit from tables;
//! - [`partition`]: tables whose rows are parted among others;
//! - [`stored_function`]: functions that users have made in PostgreSQL's way;
//! - [`stored_calls`]: calls of them in bound statements;
//! - [`user_type`]: types that users have made;
//! - [`uses`]: what a stored query names;
//! - [`ir`]: statements, queries and expressions;
//! - [`functions`]: the one table of functions and operators;
//! - [`optimise`]: what is rewritten between a front end and a back end, so that answers come faster;
//! - [`plan`]: what the engine caches and the doors describe to clients;
//! - [`work`]: how long work over a client's data stays stoppable, and within its memory;
//! - [`error`]: conditions with the codes that each wire gives them.

#![forbid(unsafe_op_in_unsafe_fn)]

pub mod access;
mod bind;
pub mod budget;
pub mod collation;
pub mod composite;
pub mod error;
pub mod exclusion;
pub mod extension;
pub mod foreign_key;
pub mod functions;
pub mod heritage;
pub mod informix;
pub mod ir;
pub mod lower;
pub mod mysql;
pub mod no_schema;
pub mod optimise;
pub mod partition;
pub mod pins;
pub mod plan;
pub mod postgres;
pub mod scalar;
pub mod schema;
mod secrets;
pub mod stack;
pub mod statistics;
pub mod stored_aggregate;
pub mod stored_calls;
pub mod stored_function;
pub mod text_search;
pub mod types;
pub mod user_cast;
pub mod user_operator;
pub mod user_type;
pub mod uses;
pub mod values;
pub mod work;

pub use error::{Condition, Error, Result};
pub use schema::Schema;
pub use secrets::mask_secrets;
pub use types::Type;

/// A source dialect: whose grammar and whose typing rules a statement follows.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Language {
    /// Informix SQL.
    Informix,
    /// MySQL's SQL.
    Mysql,
    /// PostgreSQL.
    Postgres,
    /// The back end's own: objects in a file that were not made through us.
    Native,
}

impl Language {
    /// A statement that fails is undone alone, and not its transaction with it.
    pub const fn undoes_statements(self) -> bool {
        matches!(self, Self::Informix | Self::Mysql)
    }

    /// The name under which the language is recorded in a database file.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Informix => "informix",
            Self::Mysql => "mysql",
            Self::Postgres => "postgres",
            Self::Native => lower::NATIVE_NAME,
        }
    }

    /// The language recorded as `name`.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Informix, Self::Mysql, Self::Postgres, Self::Native].into_iter().find(|language| language.name() == name)
    }
}
