//! The server's greeting and the client's answer.

use rowferry_wire::{Malformed, Reader, Secret, Writer};

use crate::lenenc;

/// Capability flags, the client's and the server's in common. The upper half is MariaDB's extension.
pub mod capability {
    /// Set by MySQL, clear when MariaDB's extended capabilities follow.
    pub const LONG_PASSWORD: u64 = 0x0001;
    /// Affected rows counts rows found, not rows changed.
    pub const FOUND_ROWS: u64 = 0x0002;
    /// Column flags have two bytes.
    pub const LONG_FLAG: u64 = 0x0004;
    /// The handshake names a database.
    pub const CONNECT_WITH_DB: u64 = 0x0008;
    /// Compressed packets (zlib).
    pub const COMPRESS: u64 = 0x0020;
    /// The client lets the server ask for its files.
    pub const LOCAL_FILES: u64 = 0x0080;
    /// Blanks may stand before the parenthesis of a function: a mode of the session.
    pub const IGNORE_SPACE: u64 = 0x0100;
    /// The protocol since MySQL 4.1; nothing else is spoken here.
    pub const PROTOCOL_41: u64 = 0x0200;
    /// The interactive time-out counts.
    pub const INTERACTIVE: u64 = 0x0400;
    /// TLS follows.
    pub const SSL: u64 = 0x0800;
    /// Status flags are sent.
    pub const TRANSACTIONS: u64 = 0x2000;
    /// Scrambles of 20 bytes.
    pub const SECURE_CONNECTION: u64 = 0x8000;
    /// Several statements in one query.
    pub const MULTI_STATEMENTS: u64 = 0x0001_0000;
    /// Several results of one query.
    pub const MULTI_RESULTS: u64 = 0x0002_0000;
    /// Several results of one execution.
    pub const PS_MULTI_RESULTS: u64 = 0x0004_0000;
    /// Authentication by named plugin.
    pub const PLUGIN_AUTH: u64 = 0x0008_0000;
    /// Connection attributes follow.
    pub const CONNECT_ATTRS: u64 = 0x0010_0000;
    /// The scramble has a length-encoded length.
    pub const PLUGIN_AUTH_LENENC: u64 = 0x0020_0000;
    /// OK tells changes of session state.
    pub const SESSION_TRACK: u64 = 0x0080_0000;
    /// OK in place of EOF.
    pub const DEPRECATE_EOF: u64 = 0x0100_0000;
    /// The metadata of results may be left out (MySQL 8.0.3).
    pub const OPTIONAL_METADATA: u64 = 0x0200_0000;
    /// Compressed packets (zstd; MySQL 8.0.18).
    pub const ZSTD: u64 = 0x0400_0000;
    /// Queries and executions carry named attributes (MySQL 8.0.23).
    pub const QUERY_ATTRIBUTES: u64 = 0x0800_0000;
    /// More than one factor may be asked for (MySQL 8.0.27).
    pub const MULTI_FACTOR: u64 = 0x1000_0000;
    /// `COM_STMT_BULK_EXECUTE` is understood (MariaDB 10.2).
    pub const MARIADB_BULK: u64 = 1 << 34;
    /// MariaDB: columns say what they are beyond their type, such as JSON or UUID.
    pub const MARIADB_EXTENDED_METADATA: u64 = 1 << 35;
    /// The columns of an execution are left out when they are those of the last (MariaDB 10.6).
    pub const MARIADB_CACHE_METADATA: u64 = 1 << 36;
    /// A bulk execution can answer for each of its rows (MariaDB 11.5).
    pub const MARIADB_UNIT_RESULTS: u64 = 1 << 37;
    /// All of MariaDB's own.
    pub const MARIADB: u64 = 0xffff_ffff << 32;
}

/// The server's first message.
///
/// Wire: protocol version `0A`, server version NUL-terminated, connection id `u32le`, 8 bytes of nonce, a NUL,
/// capabilities low `u16le`, collation `u8`, status `u16le`, capabilities high `u16le`, nonce length `u8`, 6 reserved
/// bytes, MariaDB's capabilities `u32le` (reserved in MySQL), the rest of the nonce (at least 13 bytes, NUL at the
/// end), the plugin's name NUL-terminated.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Handshake {
    /// As the server spells it, MariaDB's compatibility prefix included.
    pub server_version: String,
    /// What `KILL` takes.
    pub connection_id: u32,
    /// 20 bytes to scramble with.
    pub nonce: Vec<u8>,
    /// See [`capability`].
    pub capabilities: u64,
    /// The server's default collation.
    pub collation: u8,
    /// See [`status_flag`](super::status::status_flag).
    pub status: u16,
    /// The plugin that the nonce is for.
    pub plugin: String,
}

impl Handshake {
    /// The only version spoken here.
    pub const VERSION: u8 = 10;

    /// Decodes a payload.
    pub fn decode(payload: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(payload);
        if reader.u8("protocol version")? != Self::VERSION {
            return Err(Malformed::new("protocol version"));
        }
        let server_version = String::from_utf8_lossy(reader.until_nul("server version")?).into_owned();
        let connection_id = reader.u32_le("connection id")?;
        let mut nonce = reader.take(8, "nonce")?.to_vec();
        reader.u8("filler")?;
        let low = reader.u16_le("capabilities")?;
        let collation = reader.u8("collation")?;
        let status = reader.u16_le("status")?;
        let high = reader.u16_le("capabilities")?;
        let nonce_len = reader.u8("nonce length")?;
        reader.take(6, "reserved")?;
        let extended = reader.u32_le("MariaDB capabilities")?;
        let mut capabilities = u64::from(low) | u64::from(high) << 16;
        if capabilities & capability::LONG_PASSWORD == 0 {
            capabilities |= u64::from(extended) << 32;
        }
        let mut plugin = String::new();
        if capabilities & capability::SECURE_CONNECTION != 0 {
            let tail = reader.take(usize::from(nonce_len).saturating_sub(8).max(13), "nonce")?;
            nonce.extend_from_slice(tail.strip_suffix(&[0]).unwrap_or(tail));
        }
        if capabilities & capability::PLUGIN_AUTH != 0 {
            let rest = reader.rest();
            // MySQL before 5.5.10 forgot the NUL.
            plugin = String::from_utf8_lossy(rest.strip_suffix(&[0]).unwrap_or(rest)).into_owned();
        }
        Ok(Self { server_version, connection_id, nonce, capabilities, collation, status, plugin })
    }

    /// Appends the payload.
    pub fn encode(&self, bytes: &mut Vec<u8>) {
        let (first, tail) = self.nonce.split_at(self.nonce.len().min(8));
        let mut writer = Writer::new(bytes);
        writer.u8(Self::VERSION).terminated(self.server_version.as_bytes()).u32_le(self.connection_id);
        writer.raw(first).u8(0).u16_le(self.capabilities as u16).u8(self.collation).u16_le(self.status);
        writer
            .u16_le((self.capabilities >> 16) as u16)
            .u8(u8::try_from(self.nonce.len() + 1).unwrap_or(u8::MAX))
            .raw(&[0; 6]);
        let extended = if self.capabilities & capability::LONG_PASSWORD == 0 { self.capabilities >> 32 } else { 0 };
        writer.u32_le(extended as u32).terminated(tail).terminated(self.plugin.as_bytes());
    }

    /// True when the server is MariaDB.
    pub fn is_mariadb(&self) -> bool {
        self.server_version.contains("MariaDB") || self.server_version.starts_with("5.5.5-")
    }
}

/// The fixed part of the client's answer; alone, it asks for TLS.
///
/// Wire: capabilities `u32le`, largest packet `u32le`, collation `u8`, 19 reserved bytes, MariaDB's capabilities
/// `u32le` (reserved in MySQL).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct SslRequest {
    /// See [`capability`].
    pub capabilities: u64,
    /// The largest packet that the client takes.
    pub max_packet: u32,
    /// What the connection's text is in.
    pub collation: u8,
}

impl SslRequest {
    /// Decodes a payload that ends here.
    pub fn decode(payload: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(payload);
        let request = Self::read(&mut reader)?;
        reader.finish("SSL request trailer")?;
        Ok(request)
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        let low = reader.u32_le("client capabilities")?;
        let max_packet = reader.u32_le("largest packet")?;
        let collation = reader.u8("collation")?;
        reader.take(19, "reserved")?;
        let extended = reader.u32_le("MariaDB capabilities")?;
        let mut capabilities = u64::from(low);
        if capabilities & capability::LONG_PASSWORD == 0 {
            capabilities |= u64::from(extended) << 32;
        }
        Ok(Self { capabilities, max_packet, collation })
    }

    /// Appends the payload.
    pub fn encode(self, bytes: &mut Vec<u8>) {
        let mut writer = Writer::new(bytes);
        writer.u32_le(self.capabilities as u32).u32_le(self.max_packet).u8(self.collation).raw(&[0; 19]);
        let extended = if self.capabilities & capability::LONG_PASSWORD == 0 { self.capabilities >> 32 } else { 0 };
        writer.u32_le(extended as u32);
    }
}

/// The client's answer to the greeting.
///
/// Wire: the fields of [`SslRequest`], the user NUL-terminated, the scramble with its length, the database and the
/// plugin NUL-terminated, the attributes as length-encoded pairs, the level for zstd `u8`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct HandshakeResponse {
    /// Capabilities, packet size, collation.
    pub head: SslRequest,
    /// Who connects.
    pub user: String,
    /// What the plugin makes of the password.
    pub scramble: Vec<u8>,
    /// Empty when none is wanted.
    pub database: String,
    /// The plugin that made the scramble.
    pub plugin: String,
    /// What the program says of itself.
    pub attributes: Vec<(String, String)>,
    /// How hard the server shall try with zstd.
    pub zstd_level: u8,
}

impl HandshakeResponse {
    /// Decodes a payload. Clients are many: a NUL may be missing at the end, and something may stand behind it.
    pub fn decode(payload: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(payload);
        let head = SslRequest::read(&mut reader)?;
        let has = |flag| head.capabilities & flag != 0;
        let user = text(until_nul(&mut reader));
        let scramble = if has(capability::PLUGIN_AUTH_LENENC) {
            lenenc::bytes(&mut reader, "scramble")?
        } else {
            let len = reader.u8("scramble length")?;
            reader.take(usize::from(len), "scramble")?
        };
        let scramble = scramble.to_vec();
        let database = if has(capability::CONNECT_WITH_DB) { text(until_nul(&mut reader)) } else { String::new() };
        let plugin = if has(capability::PLUGIN_AUTH) { text(until_nul(&mut reader)) } else { String::new() };
        let mut attributes = Vec::new();
        if has(capability::CONNECT_ATTRS) && !reader.is_empty() {
            attributes = read_attributes(&mut reader)?;
        }
        let zstd_level = if has(capability::ZSTD) { reader.u8("zstd level")? } else { 0 };
        Ok(Self { head, user, scramble, database, plugin, attributes, zstd_level })
    }

    /// Appends the payload. `head.capabilities` decide which fields are present.
    pub fn encode(&self, bytes: &mut Vec<u8>) {
        let has = |flag| self.head.capabilities & flag != 0;
        self.head.encode(bytes);
        let mut writer = Writer::new(bytes);
        writer.terminated(self.user.as_bytes());
        if has(capability::PLUGIN_AUTH_LENENC) {
            lenenc::put_bytes(&mut writer, &self.scramble);
        } else {
            writer.u8(self.scramble.len() as u8).raw(&self.scramble);
        }
        if has(capability::CONNECT_WITH_DB) {
            writer.terminated(self.database.as_bytes());
        }
        if has(capability::PLUGIN_AUTH) {
            writer.terminated(self.plugin.as_bytes());
        }
        if has(capability::CONNECT_ATTRS) {
            put_attributes(&mut writer, &self.attributes);
        }
        if has(capability::ZSTD) {
            writer.u8(self.zstd_level);
        }
    }
}

/// A new login on the same connection: what follows the command's code.
///
/// Wire: the user NUL-terminated, the scramble behind a byte of length, the database NUL-terminated, the collation
/// `u16le`, the plugin NUL-terminated, the attributes as length-encoded pairs.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ChangeUser {
    /// Who logs in.
    pub user: String,
    /// What the plugin makes of the password; at most 255 bytes.
    pub scramble: Vec<u8>,
    /// Empty when none is wanted.
    pub database: String,
    /// What the connection's text is in.
    pub collation: u16,
    /// The plugin that made the scramble.
    pub plugin: String,
    /// What the program says of itself.
    pub attributes: Vec<(String, String)>,
}

impl ChangeUser {
    /// Decodes what follows the command's code.
    pub fn decode(argument: &[u8], capabilities: u64) -> Result<Self, Malformed> {
        let mut reader = Reader::new(argument);
        let user = text(until_nul(&mut reader));
        let len = reader.u8("scramble length")?;
        let scramble = reader.take(usize::from(len), "scramble")?.to_vec();
        let database = text(until_nul(&mut reader));
        // Old clients stop here.
        let collation = if reader.is_empty() { 0 } else { reader.u16_le("collation")? };
        let has = |flag| capabilities & flag != 0;
        let plugin = if has(capability::PLUGIN_AUTH) { text(until_nul(&mut reader)) } else { String::new() };
        let mut attributes = Vec::new();
        if has(capability::CONNECT_ATTRS) && !reader.is_empty() {
            attributes = read_attributes(&mut reader)?;
        }
        Ok(Self { user, scramble, database, collation, plugin, attributes })
    }

    /// Appends the payload behind the command's code. `capabilities` decide which fields are present.
    pub fn encode(&self, capabilities: u64, bytes: &mut Vec<u8>) {
        let mut writer = Writer::new(bytes);
        writer.terminated(self.user.as_bytes()).u8(self.scramble.len() as u8).raw(&self.scramble);
        writer.terminated(self.database.as_bytes()).u16_le(self.collation);
        if capabilities & capability::PLUGIN_AUTH != 0 {
            writer.terminated(self.plugin.as_bytes());
        }
        if capabilities & capability::CONNECT_ATTRS != 0 {
            put_attributes(&mut writer, &self.attributes);
        }
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Up to a NUL, or to the end.
fn until_nul<'a>(reader: &mut Reader<'a>) -> &'a [u8] {
    let terminated = reader.clone().until_nul("text");
    match terminated {
        Ok(text) => {
            let _ = reader.until_nul("text");
            text
        }
        Err(_) => reader.rest(),
    }
}

fn read_attributes(reader: &mut Reader<'_>) -> Result<Vec<(String, String)>, Malformed> {
    let mut pairs = Reader::new(lenenc::bytes(reader, "attributes")?);
    let mut attributes = Vec::new();
    while !pairs.is_empty() {
        let name = lenenc::bytes(&mut pairs, "attribute name")?;
        attributes.push((text(name), text(lenenc::bytes(&mut pairs, "attribute value")?)));
    }
    Ok(attributes)
}

fn put_attributes(writer: &mut Writer<'_>, attributes: &[(String, String)]) {
    let mut pairs = Vec::new();
    let mut pairs_writer = Writer::new(&mut pairs);
    for (name, value) in attributes {
        lenenc::put_bytes(&mut pairs_writer, name.as_bytes());
        lenenc::put_bytes(&mut pairs_writer, value.as_bytes());
    }
    lenenc::put_bytes(writer, &pairs);
}

/// Who connects, with what: what a client core must know before the greeting comes.
#[derive(Clone, Debug, Default)]
pub struct Login {
    /// The account's name.
    pub user: String,
    /// Empty when there is none.
    pub password: Secret,
    /// Empty when none is wanted.
    pub database: String,
}
