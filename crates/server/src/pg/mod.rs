//! The PostgreSQL door: joins `wire-pg` to the engine.
//!
//! ```text
//! startup ── TLS, who are you, which database ──► session ── commands ──► engine ── rows
//!                                                    │                       └─ values: stored form ⇄ wire
//!                                                    └─ report: errors and notices
//! ```
//!
//! One thread per session. Answers gather in a buffer and go out with one write at `Sync`, `Flush` or the end of a
//! simple query; when the buffer is full it goes out earlier, so that memory does not grow with a result.

mod cancel;
mod copy;
mod report;
mod session;
mod startup;
mod values;
mod wire;

use std::sync::Arc;

use rowferry_engine::{Condition, Databases, Error};
use rowferry_wire_pg::Backend;
use rowferry_wire_pg::messages::Severity;

use crate::auth::Gate;
use crate::{Connection, Door, Ending};
use cancel::CancelKeys;

/// PostgreSQL clients, and databases for them.
#[derive(Debug)]
pub struct PgDoor {
    databases: Databases,
    gate: Arc<Gate>,
    cancel_keys: CancelKeys,
}

impl PgDoor {
    /// Serves `databases` to whom the gate lets in.
    pub fn new(databases: Databases, gate: Arc<Gate>) -> Self {
        Self { databases, gate, cancel_keys: CancelKeys::default() }
    }
}

impl Door for PgDoor {
    fn name(&self) -> &'static str {
        "postgres"
    }

    fn serve(&self, connection: &mut Connection) -> Ending {
        match startup::open(self, connection) {
            Ok(session) => session.run(),
            Err(ending) => ending,
        }
    }

    fn refusal(&self, why: &str) -> Vec<u8> {
        let error = Error::new(Condition::TooManyConnections, "sorry, too many clients already").detail(why);
        let mut bytes = Vec::new();
        Backend::ErrorResponse(report::notice(&error, Severity::Fatal).into()).encode(&mut bytes);
        bytes
    }
}
