//! Events: their header, the description of a file's format, and the bodies that have no rows.

use rowferry_wire::{Malformed, Reader, open_enum};

use crate::lenenc;

open_enum! {
    /// What an event is.
    pub struct EventType(u8) {
        /// Never written.
        UNKNOWN = 0,
        /// Format description before MySQL 5.0.
        START_V3 = 1,
        /// A statement.
        QUERY = 2,
        /// The server stopped.
        STOP = 3,
        /// The log goes on in another file.
        ROTATE = 4,
        /// `LAST_INSERT_ID` or the next AUTO_INCREMENT of the statement that follows.
        INTVAR = 5,
        /// Part of LOAD DATA as a statement.
        SLAVE = 7,
        /// Part of LOAD DATA as a statement.
        APPEND_BLOCK = 9,
        /// Part of LOAD DATA as a statement.
        DELETE_FILE = 11,
        /// The seeds of `RAND()` for the statement that follows.
        RAND = 13,
        /// A user variable of the statement that follows.
        USER_VAR = 14,
        /// How the events of this file are laid out.
        FORMAT_DESCRIPTION = 15,
        /// Commit of a transaction.
        XID = 16,
        /// Part of LOAD DATA as a statement.
        BEGIN_LOAD_QUERY = 17,
        /// Part of LOAD DATA as a statement.
        EXECUTE_LOAD_QUERY = 18,
        /// A table that rows will be about.
        TABLE_MAP = 19,
        /// Rows inserted, MySQL 5.1 and MariaDB.
        WRITE_ROWS_V1 = 23,
        /// Rows changed, MySQL 5.1 and MariaDB.
        UPDATE_ROWS_V1 = 24,
        /// Rows deleted, MySQL 5.1 and MariaDB.
        DELETE_ROWS_V1 = 25,
        /// Something is missing in the log.
        INCIDENT = 26,
        /// Nothing happened; the server is there.
        HEARTBEAT = 27,
        /// May be ignored.
        IGNORABLE = 28,
        /// The text of the statement that changed the rows that follow, MySQL.
        ROWS_QUERY = 29,
        /// Rows inserted.
        WRITE_ROWS = 30,
        /// Rows changed.
        UPDATE_ROWS = 31,
        /// Rows deleted.
        DELETE_ROWS = 32,
        /// A transaction begins, MySQL.
        GTID = 33,
        /// A transaction without a number begins, MySQL.
        ANONYMOUS_GTID = 34,
        /// The transactions in all files before this one, MySQL.
        PREVIOUS_GTIDS = 35,
        /// Group replication's own.
        TRANSACTION_CONTEXT = 36,
        /// Group replication's own.
        VIEW_CHANGE = 37,
        /// A prepared XA transaction.
        XA_PREPARE = 38,
        /// Rows changed, with parts of JSON documents only.
        PARTIAL_UPDATE_ROWS = 39,
        /// A whole transaction, compressed.
        TRANSACTION_PAYLOAD = 40,
        /// Nothing happened; for files beyond 4 GiB.
        HEARTBEAT_V2 = 41,
        /// A transaction begins whose number may have a tag, MySQL 8.3.
        GTID_TAGGED = 42,
        /// The text of the statement that changed the rows that follow, MariaDB.
        ANNOTATE_ROWS = 160,
        /// Up to where the storage engines are safe, MariaDB.
        BINLOG_CHECKPOINT = 161,
        /// A transaction begins, MariaDB.
        MARIADB_GTID = 162,
        /// The last transaction of each domain and server before this file, MariaDB.
        MARIADB_GTID_LIST = 163,
        /// What follows is encrypted, MariaDB.
        START_ENCRYPTION = 164,
        /// A statement, compressed, MariaDB.
        QUERY_COMPRESSED = 165,
        /// Rows inserted, compressed, MariaDB.
        WRITE_ROWS_COMPRESSED_V1 = 166,
        /// Rows changed, compressed, MariaDB.
        UPDATE_ROWS_COMPRESSED_V1 = 167,
        /// Rows deleted, compressed, MariaDB.
        DELETE_ROWS_COMPRESSED_V1 = 168,
        /// Rows inserted, compressed, MariaDB.
        WRITE_ROWS_COMPRESSED = 169,
        /// Rows changed, compressed, MariaDB.
        UPDATE_ROWS_COMPRESSED = 170,
        /// Rows deleted, compressed, MariaDB.
        DELETE_ROWS_COMPRESSED = 171,
    }
}

/// Flags of an event's header.
pub mod event_flag {
    /// The file was not closed: no meaning for its bytes.
    pub const BINLOG_IN_USE: u16 = 0x0001;
    /// Made up by the sender; stands in no file.
    pub const ARTIFICIAL: u16 = 0x0020;
    /// Who does not know the event may skip it.
    pub const IGNORABLE: u16 = 0x0080;
}

/// The first bytes of every event.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct EventHeader {
    /// Seconds since 1970, 0 for events that were made up.
    pub timestamp: u32,
    /// What it is.
    pub event_type: EventType,
    /// Where the change was made.
    pub server_id: u32,
    /// Bytes of the whole event, header and checksum included.
    pub size: u32,
    /// Where the next event begins in the file, modulo 4 GiB; 0 for events that were made up.
    pub position: u32,
    /// See [`event_flag`].
    pub flags: u16,
}

impl EventHeader {
    /// Bytes.
    pub const SIZE: usize = 19;

    /// Decodes the header and checks its size against the bytes of the event.
    pub fn decode(event: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(event);
        let header = Self {
            timestamp: reader.u32_le("event timestamp")?,
            event_type: EventType(reader.u8("event type")?),
            server_id: reader.u32_le("event server id")?,
            size: reader.u32_le("event size")?,
            position: reader.u32_le("event position")?,
            flags: reader.u16_le("event flags")?,
        };
        if header.size as usize != event.len() {
            return Err(Malformed::new("event size"));
        }
        Ok(header)
    }
}

/// What protects an event.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Checksum {
    /// Nothing.
    #[default]
    None,
    /// CRC32 in the last four bytes.
    Crc32,
}

/// How the events of a file are laid out.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Format {
    /// 4 since MySQL 5.0.
    pub version: u16,
    /// Who wrote the file.
    pub server_version: String,
    /// Seconds since 1970, 0 for files begun by a rotation.
    pub created: u32,
    /// Bytes of the fixed part of each type's body, from type 1 on.
    pub post_headers: Vec<u8>,
    /// What protects the events.
    pub checksum: Checksum,
}

impl Default for Format {
    fn default() -> Self {
        Self {
            version: 4,
            server_version: String::new(),
            created: 0,
            post_headers: Vec::new(),
            checksum: Checksum::None,
        }
    }
}

impl Format {
    /// Decodes a body. Servers that know checksums (MySQL 5.6.1, MariaDB 5.3) put the algorithm and a CRC32 behind it,
    /// whatever is in force.
    ///
    /// Wire: version `u16le`, server version in 50 bytes, created `u32le`, header length, lengths, algorithm, CRC32.
    pub fn decode(body: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(body);
        let version = reader.u16_le("binlog version")?;
        let name: [u8; 50] = reader.array("binlog server version")?;
        let end = name.iter().position(|&byte| byte == 0).unwrap_or(name.len());
        let server_version = String::from_utf8_lossy(&name[..end]).into_owned();
        let created = reader.u32_le("binlog creation time")?;
        if usize::from(reader.u8("binlog header length")?) != EventHeader::SIZE {
            return Err(Malformed::new("binlog header length"));
        }
        let mut lengths = reader.rest();
        let mut checksum = Checksum::None;
        if knows_checksums(&server_version) {
            let Some((rest, &[algorithm, ..])) = lengths.split_last_chunk::<5>() else {
                return Err(Malformed::new("binlog checksum algorithm"));
            };
            checksum = match algorithm {
                0 | 0xff => Checksum::None,
                1 => Checksum::Crc32,
                _ => return Err(Malformed::new("binlog checksum algorithm")),
            };
            lengths = rest;
        }
        Ok(Self { version, server_version, created, post_headers: lengths.to_vec(), checksum })
    }

    /// True when MariaDB wrote the file.
    pub fn is_mariadb(&self) -> bool {
        self.server_version.contains("MariaDB")
    }

    /// Bytes of the fixed part of a type's body; `usual` where the file does not say.
    pub fn post_header(&self, event_type: EventType, usual: u8) -> u8 {
        let known = usize::from(event_type.0).checked_sub(1).and_then(|at| self.post_headers.get(at));
        match known {
            None | Some(0) => usual,
            Some(&length) => length,
        }
    }
}

/// True from MySQL 5.6.1 and MariaDB 5.3 on.
fn knows_checksums(server_version: &str) -> bool {
    let mut numbers = server_version.split(|c: char| !c.is_ascii_digit()).map(|part| part.parse::<u32>().unwrap_or(0));
    let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    version >= (5, 6, 1) || (server_version.contains("MariaDB") && version >= (5, 3, 0))
}

/// The log goes on elsewhere.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Rotate {
    /// The next file.
    pub file: String,
    /// Where in it.
    pub position: u64,
}

impl Rotate {
    /// Wire: position `u64le`, then the file's name.
    pub fn decode(body: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(body);
        let position = reader.u64_le("rotate position")?;
        let file = String::from_utf8(reader.rest().to_vec()).map_err(|_| Malformed::new("rotate file"))?;
        Ok(Self { file, position })
    }
}

/// A statement.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Query {
    /// The connection that ran it.
    pub thread_id: u32,
    /// Seconds.
    pub execution_time: u32,
    /// What the server answered to its client, 0 when all was well.
    pub error_code: u16,
    /// The session's state: a coded list.
    pub status_variables: Vec<u8>,
    /// The default database.
    pub schema: Vec<u8>,
    /// The statement's text, in the character set of the client that sent it.
    pub sql: Vec<u8>,
}

impl Query {
    /// Wire: thread `u32le`, seconds `u32le`, length of the schema, error `u16le`, length of the variables `u16le`;
    /// variables, schema, NUL, text.
    pub fn decode(body: &[u8], format: &Format) -> Result<Self, Malformed> {
        let mut reader = Reader::new(body);
        let thread_id = reader.u32_le("query thread")?;
        let execution_time = reader.u32_le("query seconds")?;
        let schema_len = usize::from(reader.u8("query schema length")?);
        let error_code = reader.u16_le("query error")?;
        let variables_len = match format.post_header(EventType::QUERY, 13) {
            // Before MySQL 5.0 there were none.
            ..13 => 0,
            _ => usize::from(reader.u16_le("query variables length")?),
        };
        let status_variables = reader.take(variables_len, "query variables")?.to_vec();
        let schema = reader.take(schema_len, "query schema")?.to_vec();
        if reader.u8("query schema end")? != 0 {
            return Err(Malformed::new("query schema end"));
        }
        let sql = reader.rest().to_vec();
        Ok(Self { thread_id, execution_time, error_code, status_variables, schema, sql })
    }
}

/// `LAST_INSERT_ID` or the next number of AUTO_INCREMENT for the statement that follows.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct IntVar {
    /// 1 for `LAST_INSERT_ID`, 2 for `INSERT_ID`.
    pub kind: u8,
    /// The number.
    pub value: u64,
}

impl IntVar {
    /// Wire: kind, value `u64le`.
    pub fn decode(body: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(body);
        let value = Self { kind: reader.u8("intvar kind")?, value: reader.u64_le("intvar value")? };
        reader.finish("intvar trailer")?;
        Ok(value)
    }
}

/// The value of a user variable.
#[derive(Clone, Debug, PartialEq)]
pub enum UserValue {
    /// NULL.
    Null,
    /// An integer with a sign.
    Int(i64),
    /// An integer without.
    Unsigned(u64),
    /// A double.
    Real(f64),
    /// An exact number, as the storage engine has it: precision, scale, bytes.
    Decimal(String),
    /// Text in this collation.
    Text {
        /// The collation's number; 63 for bytes.
        collation: u32,
        /// The bytes.
        bytes: Vec<u8>,
    },
}

/// A user variable that the statement that follows reads.
#[derive(Clone, Debug, PartialEq)]
pub struct UserVar {
    /// Without `@`.
    pub name: Vec<u8>,
    /// What it is.
    pub value: UserValue,
}

impl UserVar {
    /// Wire: length `u32le` and name; whether it is NULL; type, collation `u32le`, length `u32le`, value, flags.
    pub fn decode(body: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(body);
        let len = reader.u32_le("variable name length")?;
        let name = reader.take(len as usize, "variable name")?.to_vec();
        if reader.u8("variable null flag")? != 0 {
            return Ok(Self { name, value: UserValue::Null });
        }
        let kind = reader.u8("variable type")?;
        let collation = reader.u32_le("variable collation")?;
        let len = reader.u32_le("variable length")?;
        let bytes = reader.take(len as usize, "variable value")?;
        let is_unsigned = reader.peek_u8().is_some_and(|flags| flags & 0x01 != 0);
        let mut inner = Reader::new(bytes);
        let value = match kind {
            0 => UserValue::Text { collation, bytes: inner.rest().to_vec() },
            1 => UserValue::Real(inner.f64_le("variable value")?),
            2 if is_unsigned => UserValue::Unsigned(inner.u64_le("variable value")?),
            2 => UserValue::Int(inner.u64_le("variable value")? as i64),
            4 => {
                let [precision, scale] = inner.array("variable precision")?;
                let text = super::value::Decimal::decode(&mut inner, precision, scale)?;
                UserValue::Decimal(String::from_utf8_lossy(text.as_bytes()).into_owned())
            }
            _ => return Err(Malformed::new("variable type")),
        };
        inner.finish("variable value")?;
        Ok(Self { name, value })
    }
}

/// A transaction begins (MySQL).
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Gtid {
    /// True when the transaction may have statements besides rows.
    pub may_have_statements: bool,
    /// The server that made it, or the name that it was given; zeros for anonymous ones.
    pub uuid: [u8; 16],
    /// The tag; empty for none.
    pub tag: String,
    /// Its number; 0 for anonymous ones.
    pub number: u64,
    /// The newest transaction that this one may depend on, counted in this file.
    pub last_committed: i64,
    /// The number of this one, counted in this file.
    pub sequence_number: i64,
    /// Microseconds since 1970 of its commit on this server; 0 when unknown.
    pub immediate_commit: u64,
    /// Microseconds since 1970 of its commit where it was made; 0 when unknown.
    pub original_commit: u64,
    /// Bytes of the whole transaction, 0 when unknown.
    pub transaction_length: u64,
    /// The version of the server that made it, as 80036 for 8.0.36; 0 when unknown.
    pub original_version: u32,
    /// The version of this server; 0 when unknown.
    pub immediate_version: u32,
}

impl Gtid {
    /// Wire: flags, UUID, number `u64le`; type of clock (2), last committed and sequence number `u64le`; commit time in
    /// 7 bytes, its highest bit saying that the original one follows; length; version `u32le`, likewise.
    pub fn decode(body: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(body);
        let mut gtid = Self {
            may_have_statements: reader.u8("GTID flags")? & 0x01 != 0,
            uuid: reader.array("GTID uuid")?,
            number: reader.u64_le("GTID number")?,
            ..Self::default()
        };
        // Each of these came with a later version.
        if reader.peek_u8() != Some(2) {
            return Ok(gtid);
        }
        reader.u8("GTID clock")?;
        gtid.last_committed = reader.u64_le("GTID last committed")? as i64;
        gtid.sequence_number = reader.u64_le("GTID sequence number")? as i64;
        if reader.remaining() < 7 {
            return Ok(gtid);
        }
        let micros = |reader: &mut Reader<'_>| -> Result<u64, Malformed> {
            let [a, b, c, d, e, f, g] = reader.array("GTID commit time")?;
            Ok(u64::from_le_bytes([a, b, c, d, e, f, g, 0]))
        };
        const SECOND_FOLLOWS: u64 = 1 << 55;
        let first = micros(&mut reader)?;
        gtid.immediate_commit = first & !SECOND_FOLLOWS;
        gtid.original_commit = if first & SECOND_FOLLOWS != 0 { micros(&mut reader)? } else { gtid.immediate_commit };
        if !reader.is_empty() {
            gtid.transaction_length = lenenc::integer(&mut reader, "GTID transaction length")?;
        }
        if !reader.is_empty() {
            let version = reader.u32_le("GTID server version")?;
            gtid.immediate_version = version & 0x7fff_ffff;
            gtid.original_version = match version >> 31 {
                0 => gtid.immediate_version,
                _ => reader.u32_le("GTID original version")?,
            };
        }
        Ok(gtid)
    }
}

/// An identifier that is no UTF-8 would not be one.
pub(super) fn name(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_are_known_by_version() {
        for (version, known) in [
            ("5.5.62-log", false),
            ("5.6.0", false),
            ("5.6.1", true),
            ("8.0.36", true),
            ("9.7.0", true),
            ("5.3.12-MariaDB", true),
            ("10.11.14-MariaDB-log", true),
            ("", false),
        ] {
            assert_eq!(knows_checksums(version), known, "{version}");
        }
    }

    #[test]
    fn a_header_must_tell_the_size_of_its_event() {
        let mut event = vec![0; 23];
        event[4] = EventType::XID.0;
        event[9] = 23;
        assert_eq!(EventHeader::decode(&event).map(|header| header.event_type), Ok(EventType::XID));
        event.push(0);
        assert!(EventHeader::decode(&event).is_err());
        assert!(EventHeader::decode(&event[..10]).is_err());
    }

    #[test]
    fn a_statement_must_fit_its_lengths() {
        let mut body = b"\x07\0\0\0\x01\0\0\0\x02\0\0\x01\0xs1\0SELECT".to_vec();
        let query = Query::decode(&body, &Format::default()).unwrap();
        assert_eq!((query.thread_id, query.schema.as_slice(), query.sql.as_slice()), (7, &b"s1"[..], &b"SELECT"[..]));
        body[8] = 200;
        assert!(Query::decode(&body, &Format::default()).is_err());
    }
}
