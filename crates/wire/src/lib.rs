//! What every wire core shares; knows no protocol.
//!
//! - [`Reader`] and [`Writer`]: checked reads, plain writes, both byte orders.
//! - [`open_enum!`]: protocol enumerations that keep the codes they do not know.
//! - [`Secret`]: text that never reaches `Debug` or a log.
//! - [`Core`]: the contract between a client core and the pump that moves its bytes.
//! - [`civil`]: days and calendar dates.
//! - [`digits`]: numbers out of ASCII digits.

#![forbid(unsafe_code)]

pub mod civil;
mod core;
pub mod digits;
mod open_enum;
mod reader;
mod secret;
mod writer;

pub use crate::core::{Core, ReceiveBuffer};
pub use reader::{Malformed, Reader};
pub use secret::Secret;
pub use writer::Writer;
