//! Whole sessions at the servers' halves of the conversations, in memory: what a client says behind its login, answered in
//! ways that what it says chooses. The first byte says in which pieces it comes, and how the client comes in.

use rowferry_wire_pg::messages::{Frontend, PROTOCOL_3_0, StartupMessage, StartupPacket};
use rowferry_wire_pg::server::{Inbox, Server, Utf8};

#[path = "../../crates/wire-pg/tests/session/mod.rs"]
mod pg_session;
#[path = "../../crates/wire-sqli/tests/session/mod.rs"]
mod sqli_session;

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

/// Informix: a client's messages. The login packet, which is no message, was answered.
pub fn sqli(data: &[u8]) {
    let Some((&mode, said)) = data.split_first() else { return };
    let step = if mode & 2 == 0 { usize::MAX } else { 1 };
    sqli_session::play(said, step, mode % 2 == 1);
}
