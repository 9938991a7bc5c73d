//! Blocking pumps: sockets, TLS and time-outs around the client cores.
//!
//! From the wire upwards: [`Stream`] is a connected socket with time-outs; [`TlsOptions`] and the TLS layer sit behind
//! [`Channel`], which joins a client core (plain or behind TLS) to whatever moves its bytes; [`Pump`] moves them over a
//! `Stream`, blocking. An event loop uses `Channel` alone and moves the bytes itself. [`mysql::Connection`]
//! is the smallest complete driver on top, for the command line.

// This crate is the outside world: sockets, clocks and certificate files live here.
#![allow(clippy::disallowed_types, clippy::disallowed_methods)]

mod channel;
mod error;
pub mod informix;
mod legible;
pub mod mysql;
mod now;
pub mod postgres;
mod pump;
mod stream;
mod tls;
mod url;

pub use channel::Channel;
pub use error::{Error, Waiting};
pub use legible::legible;
pub use pump::{KeepWaiting, Pump};
pub use stream::{Address, Handle, Opening, Stream, Timeouts};
pub use tls::{PassPhrase, TlsMode, TlsOptions};
pub use url::{Url, UrlError};
