//! The PostgreSQL frontend/backend protocol, versions 3.0 and 3.2, as a sans-IO core.
//!
//! Bytes come in, messages and bytes go out; there is no socket, clock, thread or source of randomness here.
//!
//! - [`frame`]: cuts exactly one message off the bytes that came, within limits.
//! - [`messages`]: every message, encoded and decoded in the same file; [`Frontend`] and [`Backend`] are their unions.
//! - [`scram`]: SCRAM-SHA-256 as a value per state, with the nonce passed in.
//! - [`server`]: the server role: what a client wants, and how it is answered.
//! - `client` (feature `peer`): the client role, for `rowferry query` and the simulator.
//!
//! Source: PostgreSQL 18 documentation, chapter 54, "Frontend/Backend Protocol".

#![forbid(unsafe_code)]

#[cfg(feature = "peer")]
pub mod client;
pub mod frame;
pub mod messages;
pub mod scram;
pub mod server;

pub use frame::{Frame, FrameError, FrameLimits};
pub use messages::{Backend, Frontend};
pub use rowferry_wire::{Malformed, Secret};

rowferry_wire::open_enum! {
    /// How a value is written: in its type's text form or in its binary form.
    pub struct Format(u16) {
        /// As text in the client encoding, without a terminator.
        TEXT = 0,
        /// As the type's `send` function writes it.
        BINARY = 1,
    }
}
