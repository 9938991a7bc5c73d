//! What is on the wire: one file per family, each type with `decode` and `encode`.
//!
//! Types work on one payload; cutting packets and counting sequence numbers is the client's and the peer's part.

pub mod asked;
pub mod attributes;
pub mod auth;
pub mod bulk;
pub mod command;
pub mod execute;
pub mod handshake;
pub mod resultset;
pub mod session_state;
pub mod statement;
pub mod status;
