use rowferry_wire::{Malformed, Reader, Writer};

use super::request::{ApplicationInfo, ProcessInfo};
use super::{CAPABILITY_LEVEL, Packet, expect, marker, put_packet, put_text, text};
use crate::{DecodeError, TooLong};

rowferry_wire::open_enum! {
    /// What a login packet is.
    pub struct PacketType(u8) {
        /// The client asks.
        CONNECT = 1,
        /// The server is content.
        ACCEPT = 2,
        /// The server refuses.
        REJECT = 3,
        /// The server sends the client elsewhere.
        REDIRECT = 13,
    }
}

/// The server's answer to a login request: accepted, rejected or redirected, all in one layout.
///
/// Vectors: `login.accept`, `login.reject.*`, `login.redirect`, `real.login.accept.fork`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LoginReply {
    /// Which.
    pub kind: PacketType,
    /// Options of the header; 1000 hexadecimal from real servers.
    pub options: u16,
    /// The server's floating point; values travel in big-endian whatever it says.
    pub float_type: Vec<u8>,
    /// `srvinfx`, NUL padded.
    pub service: [u8; 12],
    /// The version with its product name. Not the release: 12.10 says 9.56.
    pub version: Vec<u8>,
    /// The serial number with its label.
    pub serial: Vec<u8>,
    /// DBSERVERNAME.
    pub server: Vec<u8>,
    /// The protocol level ([`CAPABILITY_LEVEL`]) and two zeros.
    pub levels: [i32; 3],
    /// 0.
    pub reserved: u16,
    /// Two optional strings, empty.
    pub optional: [Vec<u8>; 2],
    /// `on`, 61, `soctcp`, 0.
    pub network: [u8; 24],
    /// The tagged blocks, in the order of the wire.
    pub blocks: Vec<ReplyBlock>,
    /// True when the end marker is there, which a redirect may omit.
    pub ended: bool,
}

/// A tagged block of [`LoginReply`].
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum ReplyBlock {
    /// 102: the result.
    Result(LoginResult),
    /// 103: where to go instead, as `server=host|port`, after an ignored word.
    Redirect(u16, Vec<u8>),
    /// 107: the server's process.
    Process(ProcessInfo),
    /// 116: the server's program.
    Application(ApplicationInfo),
    /// Another tag with a counted body, such as 110 with four zero bytes.
    Unknown(u16, Vec<u8>),
}

/// The block that says whether the login succeeded.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct LoginResult {
    /// Six skipped bytes.
    pub reserved: (u16, i32),
    /// 0, or an SQL code such as -951.
    pub service_error: i16,
    /// Error of the operating system, or 0.
    pub os_error: i16,
    /// Bits of [`warning`](crate::messages::warning).
    pub warnings: u16,
    /// Messages, each after an ignored word. Not seen on any wire.
    pub messages: Vec<(u16, Vec<u8>)>,
}

/// The program of a server that takes groups ahead, see [`LoginReply::taking_groups_ahead`].
const TAKES_AHEAD: &[u8] = b"rowferry, takes groups ahead";

impl LoginReply {
    /// The acceptance of a login, by a server of this version and name.
    pub fn accept(version: &[u8], serial: &[u8], server: &[u8], warnings: u16) -> Self {
        let mut network = [0; 24];
        network[..2].copy_from_slice(b"on");
        network[11] = 61;
        network[12..18].copy_from_slice(b"soctcp");
        let mut service = [0; 12];
        service[..7].copy_from_slice(b"srvinfx");
        Self {
            kind: PacketType::ACCEPT,
            options: 0x1000,
            float_type: b"IEEEI".to_vec(),
            service,
            version: version.to_vec(),
            serial: serial.to_vec(),
            server: server.to_vec(),
            levels: [CAPABILITY_LEVEL, 0, 0],
            reserved: 0,
            optional: [Vec::new(), Vec::new()],
            network,
            blocks: vec![
                ReplyBlock::Result(LoginResult { warnings, ..LoginResult::default() }),
                ReplyBlock::Process(ProcessInfo::default()),
                ReplyBlock::Unknown(110, vec![0; 4]),
                ReplyBlock::Application(ApplicationInfo::default()),
            ],
            ended: true,
        }
    }

    /// Says, as the name of the server's program, that the client may send what sets the session up together with its
    /// capabilities, before it knows the server's. Ours does: it saves a round trip. No other client looks at it.
    #[must_use]
    pub fn taking_groups_ahead(mut self) -> Self {
        for block in &mut self.blocks {
            if let ReplyBlock::Application(application) = block {
                application.name = TAKES_AHEAD.to_vec();
            }
        }
        self
    }

    /// Whether the server says [so](LoginReply::taking_groups_ahead).
    pub fn takes_groups_ahead(&self) -> bool {
        self.blocks
            .iter()
            .any(|block| matches!(block, ReplyBlock::Application(application) if application.name == TAKES_AHEAD))
    }

    /// The rejection of a login with an SQL code such as -951 (user or password).
    ///
    /// informix-driver shows the longest printable run of the packet, so `message` stands where the version would.
    pub fn reject(service_error: i16, message: &[u8], server: &[u8]) -> Self {
        let mut reply = Self::accept(message, b" ", server, 0);
        reply.kind = PacketType::REJECT;
        reply.blocks[0] = ReplyBlock::Result(LoginResult { service_error, ..LoginResult::default() });
        reply
    }

    /// What the server decided.
    pub fn result(&self) -> Option<&LoginResult> {
        self.blocks.iter().find_map(|block| match block {
            ReplyBlock::Result(result) => Some(result),
            _ => None,
        })
    }

    /// Where the server sends the client: `server=host|port`.
    pub fn redirect(&self) -> Option<&[u8]> {
        self.blocks.iter().find_map(|block| match block {
            ReplyBlock::Redirect(_, detail) => Some(&detail[..]),
            _ => None,
        })
    }

    /// Appends the packet to `out`. On error `out` is as before.
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), TooLong> {
        put_packet(out, self.kind.0, self.options, |w| self.put(w))
    }

    fn put(&self, w: &mut Writer<'_>) -> Result<(), TooLong> {
        w.u16(marker::ASSOCIATION).u16(marker::BINARY).i32(61);
        put_text(w, &self.float_type, "float type")?;
        w.u16(marker::PARAMETERS).raw(&self.service);
        put_text(w, &self.version, "server version")?;
        put_text(w, &self.serial, "server serial number")?;
        put_text(w, &self.server, "server name")?;
        for level in self.levels {
            w.i32(level);
        }
        w.u16(self.reserved);
        for text in &self.optional {
            counted(w, text, "optional text")?;
        }
        w.raw(&self.network);
        for block in &self.blocks {
            match block {
                ReplyBlock::Result(result) => {
                    w.u16(marker::RESPONSE).u16(result.reserved.0).i32(result.reserved.1);
                    w.i16(result.service_error).i16(result.os_error).u16(result.warnings);
                    let limit = usize::from(u16::MAX);
                    let count = u16::try_from(result.messages.len());
                    w.u16(count.map_err(|_| TooLong { what: "messages", limit })?);
                    for (word, text) in &result.messages {
                        w.u16(*word);
                        counted(w, text, "message")?;
                    }
                }
                ReplyBlock::Redirect(word, detail) => {
                    w.u16(marker::REDIRECT).u16(*word);
                    counted(w, detail, "redirection")?;
                }
                ReplyBlock::Process(process) => process.encode(w)?,
                ReplyBlock::Application(application) => application.encode(w)?,
                ReplyBlock::Unknown(tag, body) => {
                    w.u16(*tag);
                    counted(w, body, "block of the login packet")?;
                }
            }
        }
        if self.ended {
            w.u16(marker::END);
        }
        Ok(())
    }
}

/// Writes bytes after their `u16` length.
fn counted(w: &mut Writer<'_>, bytes: &[u8], what: &'static str) -> Result<(), TooLong> {
    let len = u16::try_from(bytes.len()).map_err(|_| TooLong { what, limit: usize::from(u16::MAX) })?;
    w.u16(len).raw(bytes);
    Ok(())
}

fn take_counted(reader: &mut Reader<'_>, what: &'static str) -> Result<Vec<u8>, Malformed> {
    let len = usize::from(reader.u16(what)?);
    Ok(reader.take(len, what)?.to_vec())
}

impl Packet for LoginReply {
    fn accepts(kind: u8) -> bool {
        matches!(PacketType(kind), PacketType::ACCEPT | PacketType::REJECT | PacketType::REDIRECT)
    }

    fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let reader = &mut Reader::new(bytes);
        reader.take(2, "header")?;
        let kind = PacketType(reader.u8("header")?);
        reader.u8("header")?;
        let options = reader.u16("header")?;
        expect(reader, marker::ASSOCIATION, "association marker")?;
        expect(reader, marker::BINARY, "binary marker")?;
        reader.i32("protocol family")?;
        let float_type = text(reader, "float type")?;
        expect(reader, marker::PARAMETERS, "parameter marker")?;
        let service = reader.array("service")?;
        let version = text(reader, "server version")?;
        let serial = text(reader, "server serial number")?;
        let server = text(reader, "server name")?;
        let levels = [reader.i32("level")?, reader.i32("level")?, reader.i32("level")?];
        let reserved = reader.u16("reserved word")?;
        let optional = [take_counted(reader, "optional text")?, take_counted(reader, "optional text")?];
        let network = reader.array("network type")?;
        let mut blocks = Vec::new();
        let mut ended = false;
        while !reader.is_empty() {
            blocks.push(match reader.u16("block marker")? {
                marker::END => {
                    ended = true;
                    break;
                }
                marker::RESPONSE => ReplyBlock::Result(Self::decode_result(reader)?),
                marker::REDIRECT => {
                    ReplyBlock::Redirect(reader.u16("redirection")?, take_counted(reader, "redirection")?)
                }
                marker::PROCESS => ReplyBlock::Process(ProcessInfo::decode(reader)?),
                marker::APPLICATION => ReplyBlock::Application(ApplicationInfo::decode(reader)?),
                tag => ReplyBlock::Unknown(tag, take_counted(reader, "unknown block")?),
            });
        }
        reader.finish("end of the login packet")?;
        Ok(Self {
            kind,
            options,
            float_type,
            service,
            version,
            serial,
            server,
            levels,
            reserved,
            optional,
            network,
            blocks,
            ended,
        })
    }
}

impl LoginReply {
    fn decode_result(reader: &mut Reader<'_>) -> Result<LoginResult, Malformed> {
        let what = "result of the login";
        let reserved = (reader.u16(what)?, reader.i32(what)?);
        let (service_error, os_error) = (reader.i16(what)?, reader.i16(what)?);
        let warnings = reader.u16(what)?;
        let count = usize::from(reader.u16(what)?);
        let count = reader.fits(count, 4, what)?;
        let mut messages = Vec::with_capacity(count);
        for _ in 0..count {
            messages.push((reader.u16(what)?, take_counted(reader, what)?));
        }
        Ok(LoginResult { reserved, service_error, os_error, warnings, messages })
    }
}
