//! Who are you? `Authentication*` of the server, and the client's answers, which share the tag `p`.

use rowferry_wire::{Malformed, Reader, Writer};

use super::{put_text, text};

const OK: u32 = 0;
const CLEARTEXT_PASSWORD: u32 = 3;
const MD5_PASSWORD: u32 = 5;
const SASL: u32 = 10;
const SASL_CONTINUE: u32 = 11;
const SASL_FINAL: u32 = 12;

/// The most SASL mechanisms that a server may offer us.
const MAX_MECHANISMS: usize = 64;

/// A step of the authentication, from the server.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Authentication<'a> {
    /// The client may come in.
    Ok,
    /// The password, please, as it is.
    CleartextPassword,
    /// The password hashed twice with this salt.
    Md5Password([u8; 4]),
    /// The names of the SASL mechanisms to choose from, the preferred first.
    Sasl(Vec<&'a str>),
    /// A challenge of the chosen mechanism.
    SaslContinue(&'a [u8]),
    /// The mechanism's last word.
    SaslFinal(&'a [u8]),
    /// A method that this core does not know, by its number.
    Other(u32, &'a [u8]),
}

impl<'a> Authentication<'a> {
    pub(super) fn decode(reader: &mut Reader<'a>) -> Result<Self, Malformed> {
        Ok(match reader.u32("Authentication method")? {
            OK => Self::Ok,
            CLEARTEXT_PASSWORD => Self::CleartextPassword,
            MD5_PASSWORD => Self::Md5Password(reader.array("Authentication salt")?),
            SASL => {
                let mut mechanisms = Vec::new();
                loop {
                    let name = text(reader, "SASL mechanism")?;
                    if name.is_empty() {
                        break Self::Sasl(mechanisms);
                    }
                    if mechanisms.len() == MAX_MECHANISMS {
                        return Err(Malformed::new("number of SASL mechanisms"));
                    }
                    mechanisms.push(name);
                }
            }
            SASL_CONTINUE => Self::SaslContinue(reader.rest()),
            SASL_FINAL => Self::SaslFinal(reader.rest()),
            method => Self::Other(method, reader.rest()),
        })
    }

    pub(super) fn encode(&self, writer: &mut Writer<'_>) {
        match self {
            Self::Ok => {
                writer.u32(OK);
            }
            Self::CleartextPassword => {
                writer.u32(CLEARTEXT_PASSWORD);
            }
            Self::Md5Password(salt) => {
                writer.u32(MD5_PASSWORD).raw(salt);
            }
            Self::Sasl(mechanisms) => {
                writer.u32(SASL);
                for name in mechanisms {
                    put_text(writer, name);
                }
                writer.u8(0);
            }
            Self::SaslContinue(data) => {
                writer.u32(SASL_CONTINUE).raw(data);
            }
            Self::SaslFinal(data) => {
                writer.u32(SASL_FINAL).raw(data);
            }
            Self::Other(method, data) => {
                writer.u32(*method).raw(data);
            }
        }
    }
}

/// The client's choice of mechanism and its first message: the body of a `p` message.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SaslInitialResponse<'a> {
    /// The chosen mechanism.
    pub mechanism: &'a [u8],
    /// Its first message, when the mechanism lets the client begin.
    pub data: Option<&'a [u8]>,
}

impl<'a> SaslInitialResponse<'a> {
    /// Decodes the body of a `p` message that answers [`Authentication::Sasl`].
    pub fn decode(body: &'a [u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(body);
        let mechanism = reader.until_nul("SASL mechanism")?;
        let data = super::query::value(&mut reader, "SASL initial response")?;
        reader.finish("bytes after the SASL initial response")?;
        Ok(Self { mechanism, data })
    }

    /// Appends the body, for [`Frontend::Password`](super::Frontend::Password).
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mut writer = Writer::new(out);
        writer.terminated(self.mechanism);
        super::query::put_value(&mut writer, self.data);
    }
}
