//! The Informix door: joins `wire-sqli` to the engine.
//!
//! ```text
//! login ── who are you ──► session ── groups of messages ──► statement ── rows
//!                             ├─ values: stored form ⇄ wire        └─ cursor
//!                             ├─ objects: BYTE, TEXT, smart large objects, the client's files
//!                             └─ report: errors as codes and tokens
//! ```
//!
//! One thread per session. The client's messages come in groups, each answered by exactly one group; answers gather in
//! a buffer that goes out when no more input waits, so that a client may write many groups before it reads.

mod bson;
mod composites;
mod cursor;
mod fast_path;
mod login;
mod objects;
mod pam;
mod report;
mod session;
mod store;
mod text;
mod urgent;
mod values;

use std::sync::Arc;

use rowferry_engine::Databases;

use crate::auth::Gate;
use crate::{Connection, Door, Ending};

/// What clients are told as the server's name, whatever name they ask for.
pub(crate) const SERVER_NAME: &str = "rowferry";

/// Informix clients, and databases for them.
#[derive(Debug)]
pub struct SqliDoor {
    databases: Databases,
    gate: Arc<Gate>,
    pam: bool,
}

impl SqliDoor {
    /// Serves `databases` to whom the gate lets in.
    ///
    /// Clients open them by their names (the files', without extension), and the first as `sysmaster`, too.
    pub fn new(databases: Databases, gate: Arc<Gate>) -> Self {
        Self { databases, gate, pam: false }
    }

    /// Has users asked for their password after the login, as servers with PAM do, instead of taking the one of the
    /// login packet. Without users nobody is asked.
    #[must_use]
    pub fn with_pam(mut self, pam: bool) -> Self {
        self.pam = pam;
        self
    }
}

impl Door for SqliDoor {
    fn name(&self) -> &'static str {
        "informix"
    }

    fn serve(&self, connection: &mut Connection) -> Ending {
        match login::open(self, connection) {
            Ok(session) => session.run(),
            Err(ending) => ending,
        }
    }
}
