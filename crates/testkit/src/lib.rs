//! Simulator, vectors and fault proxy for the tests; never published.
//!
//! - [`vectors`]: the golden byte vectors of `tests/vectors/`.
//! - [`Pair`]: a client core and a server core joined in memory, in pieces of any size.
//! - [`sqli`]: a SQLI server that answers from a script, in memory or on a socket.
//! - [`mutate`]: damaged bytes and texts from good ones.
//! - [`proxy`]: a TCP proxy that cuts, splits, delays and garbles.

// Tests are the outside world: files, sockets, threads and clocks belong here.
#![allow(clippy::disallowed_types, clippy::disallowed_methods)]

pub mod mutate;
mod pair;
pub mod proxy;
pub mod sqli;
pub mod vectors;

pub use pair::{Pair, Peer};
