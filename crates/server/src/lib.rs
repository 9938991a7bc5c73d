//! Listeners, TLS, authentication and the sessions that join a wire to the engine.
//!
//! - [`Server`]: binds the endpoints, accepts, limits and counts connections, stops gracefully.
//! - [`Door`]: what a protocol implements. It gets one [`Connection`] at a time, on a thread of its own, and says in
//!   an [`Ending`] how it went. `pg`, `sqli` and `mysql` are the doors.
//! - [`auth`]: who may come in.
//! - [`tls`]: certificates, given or generated.
//! - [`aside`]: what is answered over HTTP beside the doors; [`metrics`] is, and the page of `rowferry-web`.
//!
//! Threads and blocking sockets on purpose: SQLite calls block, a connection is a session, and a long statement must
//! not stall a neighbour.

// The server is the outside world: sockets, clocks, threads and files live here.
#![allow(clippy::disallowed_types, clippy::disallowed_methods)]

pub mod aside;
pub mod auth;
mod bell;
mod capacity;
mod config;
mod connection;
pub mod http;
mod kit;
mod listener;
pub mod metrics;
pub mod mysql;
pub mod pg;
mod registry;
mod socket;
mod socket_file;
pub mod sqli;
mod texts;
mod threads;
pub mod tls;

pub use capacity::Capacity;
pub use config::{Endpoint, Limits, ParseEndpointError};
pub use connection::{Connection, Ending, TooManyConnections};
pub use listener::{Bound, Door, HandedSocket, Introducer, Server, StartError, Stopper};
pub use mysql::MysqlDoor;
pub use socket::Peer;
pub use sqli::SqliDoor;

/// Makes every file that this process creates from now on readable and writable by its own user only (umask 077).
///
/// SQLite gives what it makes beside a database (`-wal`, `-shm`, `-journal`) the permissions of the database's file.
pub fn keep_new_files_private() {
    // SAFETY: a plain system call, which cannot fail.
    unsafe { libc::umask(0o077) };
}
