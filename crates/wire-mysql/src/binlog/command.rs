//! What a replica asks for.

use rowferry_wire::Writer;

/// `COM_BINLOG_DUMP`.
pub const BINLOG_DUMP: u8 = 0x12;
/// `COM_REGISTER_SLAVE`.
pub const REGISTER_REPLICA: u8 = 0x15;
/// `COM_BINLOG_DUMP_GTID`.
pub const BINLOG_DUMP_GTID: u8 = 0x1e;

/// Flags of a dump.
pub mod dump_flag {
    /// End at the end of the log instead of waiting for more.
    pub const NON_BLOCK: u16 = 0x01;
    /// MariaDB: the replica takes the text of statements in front of their rows.
    pub const SEND_ANNOTATE_ROWS: u16 = 0x02;
    /// The GTID set counts, not the file.
    pub const THROUGH_GTID: u16 = 0x04;
}

/// Introduces us as a replica; answered by OK.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct RegisterReplica {
    /// Our number, unlike that of every other replica.
    pub server_id: u32,
    /// What `SHOW REPLICAS` should say of us; at most 255 bytes each.
    pub host: String,
    /// Idem.
    pub port: u16,
}

impl RegisterReplica {
    /// Appends the payload behind the command's byte.
    ///
    /// Wire: server id `u32le`; host, user and password with a length byte each; port `u16le`, rank `u32le`, source id
    /// `u32le`.
    pub fn encode(&self, bytes: &mut Vec<u8>) {
        let mut writer = Writer::new(bytes);
        let host = &self.host.as_bytes()[..self.host.len().min(60)];
        writer.u32_le(self.server_id).u8(host.len() as u8).raw(host).u8(0).u8(0);
        writer.u16_le(self.port).u32_le(0).u32_le(0);
    }
}

/// Asks for the log from a position on.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct BinlogDump {
    /// Our number.
    pub server_id: u32,
    /// See [`dump_flag`].
    pub flags: u16,
    /// The file; empty for the oldest, or where MariaDB's `@slave_connect_state` says.
    pub file: String,
    /// Where in it; 4 is its beginning.
    pub position: u32,
}

impl BinlogDump {
    /// Appends the payload behind the command's byte: position `u32le`, flags `u16le`, server id `u32le`, file.
    pub fn encode(&self, bytes: &mut Vec<u8>) {
        let mut writer = Writer::new(bytes);
        writer.u32_le(self.position).u16_le(self.flags).u32_le(self.server_id).raw(self.file.as_bytes());
    }
}

/// Asks a MySQL server for everything beyond a set of transactions.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct BinlogDumpGtid {
    /// Our number.
    pub server_id: u32,
    /// See [`dump_flag`]; [`dump_flag::THROUGH_GTID`] is added.
    pub flags: u16,
    /// The set, as [`GtidSet::encode`](super::gtid::GtidSet::encode) has it.
    pub gtids: Vec<u8>,
}

impl BinlogDumpGtid {
    /// Appends the payload behind the command's byte.
    ///
    /// Wire: flags `u16le`, server id `u32le`, length of the file's name `u32le` (none here), position `u64le`, length
    /// of the set `u32le`, the set.
    pub fn encode(&self, bytes: &mut Vec<u8>) {
        let mut writer = Writer::new(bytes);
        writer.u16_le(self.flags | dump_flag::THROUGH_GTID).u32_le(self.server_id).u32_le(0).u64_le(4);
        writer.u32_le(self.gtids.len() as u32).raw(&self.gtids);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_laid_out_as_the_servers_read_them() {
        let mut bytes = Vec::new();
        BinlogDump { server_id: 7, flags: 1, file: "b.1".into(), position: 4 }.encode(&mut bytes);
        assert_eq!(bytes, b"\x04\0\0\0\x01\0\x07\0\0\0b.1");
        bytes.clear();
        RegisterReplica { server_id: 7, host: "h".into(), port: 3306 }.encode(&mut bytes);
        assert_eq!(bytes, b"\x07\0\0\0\x01h\0\0\xea\x0c\0\0\0\0\0\0\0\0");
        bytes.clear();
        BinlogDumpGtid { server_id: 7, flags: 1, gtids: vec![9; 2] }.encode(&mut bytes);
        assert_eq!(bytes, b"\x05\0\x07\0\0\0\0\0\0\0\x04\0\0\0\0\0\0\0\x02\0\0\0\x09\x09");
    }
}
