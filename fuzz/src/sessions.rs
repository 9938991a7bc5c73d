//! Whole sessions at the servers' halves of the conversations, in memory: what a client says behind its login, answered in
//! ways that what it says chooses. The first byte says in which pieces it comes, and whether the login is the input's, too.

use rowferry_wire_pg::messages::{Frontend, PROTOCOL_3_0, StartupMessage, StartupPacket};
use rowferry_wire_pg::server::{Inbox, Server, Utf8};

#[path = "../../crates/wire-pg/tests/session/mod.rs"]
mod pg_session;

/// PostgreSQL: a frontend's messages.
pub fn pg(data: &[u8]) {
    let Some((&mode, rest)) = data.split_first() else { return };
    let mut said = Vec::new();
    if mode % 2 == 0 {
        let parameters = vec![(&b"user"[..], &b"ada"[..])];
        StartupPacket::Startup(StartupMessage { version: PROTOCOL_3_0, parameters }).encode(&mut said);
        Frontend::Password(b"secret\0").encode(&mut said);
    }
    said.extend_from_slice(rest);
    let step = if mode & 2 == 0 { usize::MAX } else { 1 };
    pg_session::play(&mut Server::new(1 << 16, Utf8), &mut Inbox::with_step(64), &said, step);
}
