//! The server's role: read what a client sends, write what it expects.
//!
//! [`Decoder`] yields [`ClientMessage`](crate::messages::ClientMessage)s; answers are
//! [`ServerMessage`](crate::messages::ServerMessage)s, each encoded into a `Vec<u8>` with
//! [`Decoder::widths`](crate::Decoder::widths); a row's cells are encoded by [`values::CellFormat`](crate::values::CellFormat).
//!
//! ```
//! use rowferry_wire_sqli::messages::{ClientMessage, Done, ServerMessage};
//! use rowferry_wire_sqli::server::Decoder;
//!
//! let mut decoder = Decoder::new();
//! decoder.push(&[0x00, 0x23, 0x00, 0x0c]);
//! let mut reply = Vec::new();
//! let widths = decoder.widths();
//! while let Some(message) = decoder.next()? {
//!     match message {
//!         ClientMessage::Begin => ServerMessage::Done(Done::default()).encode(&mut reply, widths)?,
//!         ClientMessage::Eot => ServerMessage::Eot.encode(&mut reply, widths)?,
//!         _ => unreachable!("only those two were sent"),
//!     }
//! }
//! assert!(reply.ends_with(&[0x00, 0x0c]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

/// Reads what a client sends.
pub type Decoder = crate::Decoder<crate::FromClient>;
