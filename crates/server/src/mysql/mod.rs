//! The MySQL door: joins `wire-mysql` to the engine.
//!
//! ```text
//! login ── TLS, who are you, prove it ──► session ── commands ──► engine ── rows
//!            ▲                               ├─ values: stored form ⇄ wire, in text and in binary
//!            └────── CHANGE_USER ◄───────────├─ report: errors as numbers, SQLSTATEs and MySQL's words
//!                                            └─ told: what MySQL's clients are told that only its SQL knows
//! ```
//!
//! One thread per session. A command is answered before the next is read; its answer goes out when it is whole, or is
//! long.

mod literals;
mod login;
mod proved;
mod report;
mod session;
mod told;
mod values;
mod wire;

use std::sync::{Arc, OnceLock};
use std::time::Instant;

use rowferry_engine::{Condition, Databases, Error};
use rowferry_wire_mysql::server::{Key, SharedKey};

use crate::auth::{Gate, random};
use crate::{Connection, Door, Ending};

/// The version that clients are told, unless it is set. They look for what a server of this version has.
pub const SERVER_VERSION: &str = "8.0.36-rowferry";

/// MySQL clients, and databases for them.
#[derive(Debug)]
pub struct MysqlDoor {
    databases: Databases,
    gate: Arc<Gate>,
    version: String,
    /// For passwords that nothing else protects; made at the first need.
    key: OnceLock<Option<SharedKey>>,
    /// Whose passwords have been proved, so that their scrambles are enough.
    proved: proved::Proved,
    started: Instant,
}

impl MysqlDoor {
    /// Serves `databases` to whom the gate lets in.
    pub fn new(databases: Databases, gate: Arc<Gate>) -> Self {
        Self {
            databases,
            gate,
            version: SERVER_VERSION.into(),
            key: OnceLock::new(),
            proved: proved::Proved::default(),
            started: Instant::now(),
        }
    }

    /// Tells clients another version; what the server does stays the same.
    #[must_use]
    pub fn with_version(mut self, version: impl Into<String>) -> Self {
        self.version = version.into();
        self
    }

    /// The key for passwords without TLS; `None` where none can be made.
    fn key(&self) -> Option<SharedKey> {
        let make = || match Key::generate(random()) {
            Ok(key) => Some(Arc::new(key)),
            Err(error) => {
                tracing::error!(%error, "there is no key for passwords without TLS");
                None
            }
        };
        self.key.get_or_init(make).clone()
    }
}

impl Door for MysqlDoor {
    fn name(&self) -> &'static str {
        "mysql"
    }

    fn serve(&self, connection: &mut Connection) -> Ending {
        match login::open(self, connection) {
            Ok(session) => session.run(),
            Err(ending) => ending,
        }
    }

    fn refusal(&self, why: &str) -> Vec<u8> {
        let error = Error::new(Condition::TooManyConnections, "Too many connections").detail(why);
        wire::first_words(&report::server_error(&error))
    }
}
