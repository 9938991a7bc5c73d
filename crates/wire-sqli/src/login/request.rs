use rowferry_wire::{Malformed, Reader, Writer};

use super::{CAPABILITY_LEVEL, Packet, Password, expect, marker, put_packet, put_text, text};
use crate::{DecodeError, TooLong};

/// The client's first packet: who it is and where it wants to go.
///
/// The password is clear text. Vectors: `login.request.*`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LoginRequest {
    /// Options of the header; 0.
    pub options: u16,
    /// The client's floating point: `IEEEM` is big-endian.
    pub float_type: Vec<u8>,
    /// The requested service, NUL padded: `sqlexec`.
    pub service: [u8; 12],
    /// Version of the client; `9.280` for IBM JDBC and its like.
    pub client_version: Vec<u8>,
    /// Serial number of the client.
    pub client_serial: Vec<u8>,
    /// `sqli`.
    pub application_id: Vec<u8>,
    /// The protocol level ([`CAPABILITY_LEVEL`]) and two zeros.
    pub levels: [i32; 3],
    /// 1: an internet user.
    pub user_type: u16,
    /// User name.
    pub user: Vec<u8>,
    /// Its password; empty when there is none.
    pub password: Password,
    /// `ol`, NUL padded, and the protocol family, 61.
    pub connection_type: ([u8; 8], i32),
    /// `tlitcp`, NUL padded, and 1.
    pub network_type: ([u8; 8], i32),
    /// The request code, 11, and its option bits, 3.
    pub request: (u16, i32),
    /// DBSERVERNAME.
    pub server: Vec<u8>,
    /// Always empty: a real server answers `SQ_DBOPEN` with -759 after a name here.
    pub database: Vec<u8>,
    /// Always zeros.
    pub unused: [u16; 4],
    /// The tagged blocks, in the order of the wire.
    pub blocks: Vec<RequestBlock>,
}

/// A tagged block of [`LoginRequest`].
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum RequestBlock {
    /// 106: environment variables.
    Environment(Vec<(Vec<u8>, Vec<u8>)>),
    /// 107: the process.
    Process(ProcessInfo),
    /// 116: the application.
    Application(ApplicationInfo),
    /// Another tag with a counted body, as it seems.
    Unknown(u16, Vec<u8>),
}

/// The process at one end.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct ProcessInfo {
    /// 0.
    pub reserved: i32,
    /// Process id.
    pub pid: i32,
    /// Thread id or 0.
    pub thread: i32,
    /// Host name.
    pub host: Vec<u8>,
    /// Terminal.
    pub terminal: Vec<u8>,
    /// Working directory.
    pub directory: Vec<u8>,
}

impl ProcessInfo {
    pub(super) fn decode(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        let what = "process block";
        Ok(Self {
            reserved: reader.i32(what)?,
            pid: reader.i32(what)?,
            thread: reader.i32(what)?,
            host: text(reader, what)?,
            terminal: text(reader, what)?,
            directory: text(reader, what)?,
        })
    }

    pub(super) fn encode(&self, w: &mut Writer<'_>) -> Result<(), TooLong> {
        w.u16(marker::PROCESS).i32(self.reserved).i32(self.pid).i32(self.thread);
        put_text(w, &self.host, "host name")?;
        put_text(w, &self.terminal, "name of the terminal")?;
        put_text(w, &self.directory, "working directory")
    }
}

/// The program at one end.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct ApplicationInfo {
    /// User id.
    pub uid: i32,
    /// Group id.
    pub gid: i32,
    /// Name or path.
    pub name: Vec<u8>,
}

impl ApplicationInfo {
    pub(super) fn decode(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        let what = "application block";
        let len = usize::from(reader.u16(what)?);
        let mut block = Reader::new(reader.take(len, what)?);
        let info = Self { uid: block.i32(what)?, gid: block.i32(what)?, name: text(&mut block, what)? };
        block.finish(what)?;
        Ok(info)
    }

    pub(super) fn encode(&self, w: &mut Writer<'_>) -> Result<(), TooLong> {
        let name = if self.name.is_empty() { 0 } else { self.name.len() + 1 };
        let what = "name of the application";
        let len = u16::try_from(10 + name).map_err(|_| TooLong { what, limit: usize::from(u16::MAX) - 11 })?;
        w.u16(marker::APPLICATION).u16(len).i32(self.uid).i32(self.gid);
        put_text(w, &self.name, what)
    }
}

fn padded<const N: usize>(name: &[u8]) -> [u8; N] {
    let mut bytes = [0; N];
    bytes[..name.len()].copy_from_slice(name);
    bytes
}

impl LoginRequest {
    /// A request as pure clients make it, without environment, process and application.
    pub fn new(user: &[u8], password: &[u8], server: &[u8]) -> Self {
        Self {
            options: 0,
            float_type: b"IEEEM".to_vec(),
            service: padded(b"sqlexec"),
            client_version: b"9.280".to_vec(),
            client_serial: b"RDS#R000000".to_vec(),
            application_id: b"sqli".to_vec(),
            levels: [CAPABILITY_LEVEL, 0, 0],
            user_type: 1,
            user: user.to_vec(),
            password: Password(password.to_vec()),
            connection_type: (padded(b"ol"), 61),
            network_type: (padded(b"tlitcp"), 1),
            request: (11, 3),
            server: server.to_vec(),
            database: Vec::new(),
            unused: [0; 4],
            blocks: Vec::new(),
        }
    }

    /// The value of an environment variable of the client.
    pub fn variable(&self, name: &str) -> Option<&[u8]> {
        self.blocks.iter().find_map(|block| match block {
            RequestBlock::Environment(entries) => {
                entries.iter().find(|(key, _)| key == name.as_bytes()).map(|(_, value)| &value[..])
            }
            _ => None,
        })
    }

    /// The client's program, if it said.
    pub fn application(&self) -> Option<&ApplicationInfo> {
        self.blocks.iter().find_map(|block| match block {
            RequestBlock::Application(application) => Some(application),
            _ => None,
        })
    }

    /// The client's process, if it said.
    pub fn process(&self) -> Option<&ProcessInfo> {
        self.blocks.iter().find_map(|block| match block {
            RequestBlock::Process(process) => Some(process),
            _ => None,
        })
    }

    /// Appends the packet to `out`. On error `out` is as before.
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), TooLong> {
        put_packet(out, super::PacketType::CONNECT.0, self.options, |w| self.put(w))
    }

    fn put(&self, w: &mut Writer<'_>) -> Result<(), TooLong> {
        w.u16(marker::ASSOCIATION).u16(marker::BINARY).i32(61);
        put_text(w, &self.float_type, "float type")?;
        w.u16(marker::PARAMETERS).raw(&self.service);
        put_text(w, &self.client_version, "client version")?;
        put_text(w, &self.client_serial, "client serial number")?;
        put_text(w, &self.application_id, "application id")?;
        for level in self.levels {
            w.i32(level);
        }
        w.u16(self.user_type);
        put_text(w, &self.user, "user name")?;
        put_text(w, &self.password.0, "password")?;
        w.raw(&self.connection_type.0).i32(self.connection_type.1);
        w.raw(&self.network_type.0).i32(self.network_type.1);
        w.u16(marker::CONNECT).u16(self.request.0).i32(self.request.1);
        put_text(w, &self.server, "server name")?;
        put_text(w, &self.database, "database name")?;
        for word in self.unused {
            w.u16(word);
        }
        for block in &self.blocks {
            match block {
                RequestBlock::Environment(entries) => {
                    let what = "environment";
                    let count = u16::try_from(entries.len()).map_err(|_| TooLong { what, limit: 65_535 })?;
                    w.u16(marker::ENVIRONMENT).u16(count);
                    for (name, value) in entries {
                        put_text(w, name, what)?;
                        put_text(w, value, what)?;
                    }
                }
                RequestBlock::Process(process) => process.encode(w)?,
                RequestBlock::Application(application) => application.encode(w)?,
                RequestBlock::Unknown(tag, body) => {
                    let what = "block of the login packet";
                    let len = u16::try_from(body.len()).map_err(|_| TooLong { what, limit: 65_535 })?;
                    w.u16(*tag).u16(len).raw(body);
                }
            }
        }
        w.u16(marker::END);
        Ok(())
    }
}

impl Packet for LoginRequest {
    fn accepts(kind: u8) -> bool {
        kind == super::PacketType::CONNECT.0
    }

    fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let reader = &mut Reader::new(bytes);
        reader.take(4, "header")?;
        let options = reader.u16("header")?;
        expect(reader, marker::ASSOCIATION, "association marker")?;
        expect(reader, marker::BINARY, "binary marker")?;
        reader.i32("protocol family")?;
        let float_type = text(reader, "float type")?;
        expect(reader, marker::PARAMETERS, "parameter marker")?;
        let service = reader.array("service")?;
        let client_version = text(reader, "client version")?;
        let client_serial = text(reader, "client serial number")?;
        let application_id = text(reader, "application id")?;
        let levels = [reader.i32("level")?, reader.i32("level")?, reader.i32("level")?];
        let user_type = reader.u16("user type")?;
        let user = text(reader, "user name")?;
        let password = Password(text(reader, "password")?);
        let connection_type = (reader.array("connection type")?, reader.i32("connection type")?);
        let network_type = (reader.array("network type")?, reader.i32("network type")?);
        expect(reader, marker::CONNECT, "connect marker")?;
        let request = (reader.u16("request code")?, reader.i32("request options")?);
        let server = text(reader, "server name")?;
        let database = text(reader, "database name")?;
        let mut unused = [0; 4];
        for word in &mut unused {
            *word = reader.u16("unused words")?;
        }
        let mut blocks = Vec::new();
        loop {
            blocks.push(match reader.u16("block marker")? {
                marker::END => break,
                marker::ENVIRONMENT => {
                    let what = "environment block";
                    let count = usize::from(reader.u16(what)?);
                    let count = reader.fits(count, 4, what)?;
                    let mut entries = Vec::with_capacity(count);
                    for _ in 0..count {
                        entries.push((text(reader, what)?, text(reader, what)?));
                    }
                    RequestBlock::Environment(entries)
                }
                marker::PROCESS => RequestBlock::Process(ProcessInfo::decode(reader)?),
                marker::APPLICATION => RequestBlock::Application(ApplicationInfo::decode(reader)?),
                tag => {
                    let len = usize::from(reader.u16("unknown block")?);
                    RequestBlock::Unknown(tag, reader.take(len, "unknown block")?.to_vec())
                }
            });
        }
        reader.finish("end of the login packet")?;
        Ok(Self {
            options,
            float_type,
            service,
            client_version,
            client_serial,
            application_id,
            levels,
            user_type,
            user,
            password,
            connection_type,
            network_type,
            request,
            server,
            database,
            unused,
            blocks,
        })
    }
}
