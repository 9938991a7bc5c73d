//! A back end behind a session: plans, transactions, types, functions, catalogs.
//!
//! ```text
//! Database ── one file: schema snapshot, plan cache, locks, session registry             (shared, cheap to clone)
//!    └── Session ── one client: back end's handle, transaction, variables, cached statements  (one thread at a time)
//!           └── Cursor ── one running query: its rows are pulled                          (may outlive other statements)
//! ```
//!
//! A door gives a session SQL text and values in their stored form and gets rows in their stored form back; wires and
//! their encodings are unknown here. Every failure is a [`rowferry_dialect::Error`].

// The engine is the outside world: it opens files, reads clocks and waits for other threads.
#![allow(clippy::disallowed_types, clippy::disallowed_methods)]

mod backend;
pub mod catalog;
mod cursor;
mod database;
mod databases;
mod exported;
pub use backend::{backup, changes, functions, mapped};
mod host_rules;
mod interrupt;
mod large_objects;
mod locks;
mod login;
mod measurements;
pub mod memory;
pub mod notifications;
mod options;
mod plans;
mod routines;
pub mod schema;
mod session;
pub mod settings;
pub mod smart_objects;
mod spool;
pub(crate) mod statistics;
pub mod upstream;

pub use cursor::{Cursor, Row};
pub use database::{Database, JournalModes, session_number};
pub use databases::Databases;
pub use host_rules::{HostRule, HostRules, NameMapping, NameMappings};
pub use interrupt::{End, Interrupter};
pub use login::Login;
pub use measurements::{BUCKETS, Kind, Measurements, STATES};
pub use options::{Durability, Journal, Options, SessionOptions};
pub use routines::Answer;
pub use rowferry_dialect::informix::Logging;
pub use rowferry_dialect::plan::{Bound, Command, Effects, ResultColumn};
pub use rowferry_dialect::values::ValueRef;
pub use rowferry_dialect::{Condition, Error, Language, Result, Type, ir, mask_secrets};
pub use session::{
    CalledFunction, DoorPart, Each, Finding, FindingKind, Looked, MessageLevel, Outcome, Parsed, Place, Prepared,
    Resume, Session, TransactionStatus, message_level,
};
pub use spool::anonymous_file;
