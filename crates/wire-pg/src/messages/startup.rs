//! The packets that open a connection. They have no tag: a number where the version stands says what they are.

use rowferry_wire::{Malformed, Reader, Writer};

use super::untagged;

/// The number that asks to cancel another session's statement.
pub const CANCEL_REQUEST: u32 = 80_877_102;
/// The number that asks for TLS.
pub const SSL_REQUEST: u32 = 80_877_103;
/// The number that asks for GSSAPI encryption.
pub const GSSENC_REQUEST: u32 = 80_877_104;

/// Version 3.0, which every client since 2003 speaks.
pub const PROTOCOL_3_0: ProtocolVersion = ProtocolVersion { major: 3, minor: 0 };
/// Version 3.2 of PostgreSQL 18: longer cancel keys. (3.1 was never used.)
pub const PROTOCOL_3_2: ProtocolVersion = ProtocolVersion { major: 3, minor: 2 };

/// The longest key of a cancel request, in bytes.
pub const MAX_CANCEL_KEY: usize = 256;

/// The most parameters that a start-up message may carry; no client sends a tenth of it.
const MAX_PARAMETERS: usize = 1_000;

/// A version of the protocol.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct ProtocolVersion {
    /// 3 for everything still alive.
    pub major: u16,
    /// 0 or 2.
    pub minor: u16,
}

/// What a client says first.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum StartupPacket<'a> {
    /// Stop that session's statement; no answer is sent.
    Cancel(CancelRequest<'a>),
    /// May we speak under GSSAPI encryption?
    GssEncRequest,
    /// May we speak under TLS?
    SslRequest,
    /// Let us begin.
    Startup(StartupMessage<'a>),
}

/// Which session's statement to stop.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CancelRequest<'a> {
    /// The session's number, from `BackendKeyData`.
    pub process: u32,
    /// The proof that the asker may: 4 bytes in protocol 3.0, up to 256 in 3.2.
    pub key: &'a [u8],
}

/// The version and the settings with which a client opens a session.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct StartupMessage<'a> {
    /// The version that the client would like.
    pub version: ProtocolVersion,
    /// `user`, `database`, `application_name` and others, in the order sent.
    pub parameters: Vec<(&'a [u8], &'a [u8])>,
}

impl<'a> StartupMessage<'a> {
    /// The value of the parameter `name`; the last one if it was sent twice, as in PostgreSQL.
    pub fn parameter(&self, name: &str) -> Option<&'a [u8]> {
        self.parameters.iter().rev().find(|(key, _)| *key == name.as_bytes()).map(|(_, value)| *value)
    }
}

impl<'a> StartupPacket<'a> {
    /// Decodes the body of a start-up packet, which is what follows its length word.
    pub fn decode(body: &'a [u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(body);
        let number = reader.u32("protocol version")?;
        let packet = match number {
            CANCEL_REQUEST => {
                let process = reader.u32("CancelRequest process")?;
                let key = reader.rest();
                if key.len() < 4 || key.len() > MAX_CANCEL_KEY {
                    return Err(Malformed::new("CancelRequest key"));
                }
                return Ok(Self::Cancel(CancelRequest { process, key }));
            }
            GSSENC_REQUEST => Self::GssEncRequest,
            SSL_REQUEST => Self::SslRequest,
            _ => {
                let version = ProtocolVersion { major: (number >> 16) as u16, minor: number as u16 };
                // Other majors lay the rest out differently; whoever reads the version refuses them.
                if version.major != 3 {
                    return Ok(Self::Startup(StartupMessage { version, parameters: Vec::new() }));
                }
                let mut parameters = Vec::new();
                loop {
                    let name = reader.until_nul("startup parameter name")?;
                    if name.is_empty() {
                        break;
                    }
                    if parameters.len() == MAX_PARAMETERS {
                        return Err(Malformed::new("number of startup parameters"));
                    }
                    parameters.push((name, reader.until_nul("startup parameter value")?));
                }
                Self::Startup(StartupMessage { version, parameters })
            }
        };
        reader.finish("bytes after the end of the startup packet")?;
        Ok(packet)
    }

    /// Appends the whole packet, length included.
    pub fn encode(&self, out: &mut Vec<u8>) {
        untagged(out, |w| self.encode_body(w));
    }

    fn encode_body(&self, writer: &mut Writer<'_>) {
        match self {
            Self::Cancel(request) => {
                writer.u32(CANCEL_REQUEST).u32(request.process).raw(request.key);
            }
            Self::GssEncRequest => {
                writer.u32(GSSENC_REQUEST);
            }
            Self::SslRequest => {
                writer.u32(SSL_REQUEST);
            }
            Self::Startup(message) => {
                writer.u16(message.version.major).u16(message.version.minor);
                for (name, value) in &message.parameters {
                    writer.terminated(name).terminated(value);
                }
                writer.u8(0);
            }
        }
    }
}
