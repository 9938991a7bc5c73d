//! The conversations of a replica.

use rowferry_wire::Malformed;

use super::{Client, Conversation, Event, Failure, Misuse, Outcome};
use crate::binlog::command::{
    BINLOG_DUMP, BINLOG_DUMP_GTID, BinlogDump, BinlogDumpGtid, REGISTER_REPLICA, RegisterReplica,
};
use crate::messages::command::Command;
use crate::messages::status::Ok as OkPacket;
use crate::packet::{self, Place};

impl Client {
    /// Introduces us as a replica. Event: [`Event::Done`].
    pub fn register_replica(&mut self, replica: &RegisterReplica) -> Result<(), Misuse> {
        let mut payload = Vec::new();
        replica.encode(&mut payload);
        self.command(Command(REGISTER_REPLICA), &payload, Conversation::Simple)
    }

    /// Asks for the log from a position on. Events: [`Event::Row`] for each packet, with the zero in front; at the
    /// log's end, where that was asked for, [`Event::EndOfRows`].
    pub fn dump_binlog(&mut self, dump: &BinlogDump) -> Result<(), Misuse> {
        let mut payload = Vec::new();
        dump.encode(&mut payload);
        self.command(Command(BINLOG_DUMP), &payload, Conversation::Binlog)
    }

    /// Asks a MySQL server for everything beyond a set of transactions. Events as those of
    /// [`dump_binlog`](Self::dump_binlog).
    pub fn dump_binlog_gtid(&mut self, dump: &BinlogDumpGtid) -> Result<(), Misuse> {
        let mut payload = Vec::new();
        dump.encode(&mut payload);
        self.command(Command(BINLOG_DUMP_GTID), &payload, Conversation::Binlog)
    }

    /// Tells a server with semi-synchronous replication that everything up to this place has arrived.
    ///
    /// Wire: magic EF, position `u64le`, file.
    pub fn acknowledge_binlog(&mut self, file: &str, position: u64) -> Result<(), Misuse> {
        self.ready()?;
        let mut payload = vec![0xef];
        payload.extend_from_slice(&position.to_le_bytes());
        payload.extend_from_slice(file.as_bytes());
        self.put(&payload);
        // Both sides begin to count anew, and not at the same moment.
        self.inbox.is_numbered = false;
        Ok(())
    }
}

/// A packet of a dump.
pub(super) fn handle(payload: &[u8], place: Place) -> Result<Outcome, Failure> {
    match payload.first() {
        Some(&OkPacket::HEADER) => Ok(Outcome::Row(place)),
        Some(&OkPacket::END_HEADER) if payload.len() < packet::MAX_PAYLOAD => {
            Ok(Outcome::Event(Event::EndOfRows { ok: OkPacket::default(), more: false }))
        }
        Some(&got) => Err(Failure::Unexpected { state: "an event of the binary log", got }),
        None => Err(Malformed::new("empty message").into()),
    }
}
