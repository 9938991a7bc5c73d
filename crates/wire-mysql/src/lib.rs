//! The MySQL and MariaDB protocol as a sans-IO core.
//!
//! [`messages`] hold what is on the wire, each type with `decode` and `encode`; [`client::Client`] is the client's half
//! of every conversation, fed and drained by a pump through [`rowferry_wire::Core`]. Nothing here knows sockets,
//! clocks or randomness: the same bytes always give the same events. [`server::Server`] is the server's half; `peer`, behind
//! the feature of that name, plays a server's part by a script, for tests.

#![forbid(unsafe_code)]

pub mod binlog;
pub mod client;
mod compression;
mod lenenc;
pub mod messages;
mod packet;
#[cfg(feature = "peer")]
pub mod peer;
pub mod server;
pub mod types;

pub use compression::Algorithm;
pub use packet::MAX_PAYLOAD;
