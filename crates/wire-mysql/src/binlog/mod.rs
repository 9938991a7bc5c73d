//! The binary log, as a replica reads it.
//!
//! [`command`] asks for it; [`reader::Reader`] takes the packets of the stream, checks them, and answers
//! [`reader::Item`]s; [`table::TableMap`] says what the columns of a [`rows::RowsEvent`] are, [`value`] and [`json`]
//! read its cells. Everything here is a pure function of bytes, or a state machine over them.
//!
//! Sources: MySQL's `libbinlogevents` documentation of each event, MariaDB's knowledge base ("Replication protocol"),
//! and the logs of MariaDB 10.11 and 11.8 and MySQL 9.7 that the tests read.

pub mod command;
mod compressed;
pub mod event;
pub mod gtid;
pub mod json;
pub mod json_diff;
pub mod mariadb_gtid;
pub mod reader;
pub mod rows;
pub mod table;
pub mod tagged;
pub mod value;

use std::fmt;

use rowferry_wire::Malformed;

/// Why the log cannot be read on.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Fault {
    /// Bytes that do not say what their place requires.
    Malformed(Malformed),
    /// An event whose CRC32 is not that of its bytes.
    Checksum {
        /// The event's type code.
        event: event::EventType,
        /// Where the event ends in its file.
        position: u32,
    },
    /// An honest gap.
    Unsupported(String),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(malformed) => write!(f, "binary log: {malformed}"),
            Self::Checksum { event, position } => {
                write!(
                    f,
                    "binary log: the checksum of the {event:?} event that ends at position {position} is wrong: \
                     it was damaged on its way or on the server's disk"
                )
            }
            Self::Unsupported(what) => write!(f, "binary log: {what}"),
        }
    }
}

impl std::error::Error for Fault {}

impl From<Malformed> for Fault {
    fn from(malformed: Malformed) -> Self {
        Self::Malformed(malformed)
    }
}
