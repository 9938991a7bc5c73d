//! Authentication: what plugins send after the handshake, and how they scramble.

mod scramble;
mod signature;
mod verifier;

use rowferry_wire::{Malformed, Reader, Writer};

pub(crate) use scramble::Seeded;
pub use scramble::{encrypt_password, scramble_native, scramble_sha256};
pub use signature::{ParsecSalt, sign_ed25519, sign_parsec};
pub use verifier::{LONGEST_PASSWORD, Verifier, accepts_sha256_scramble, double_sha256};

/// Names of the plugins that are spoken here.
pub mod plugin {
    /// SHA-1 challenge and response.
    pub const NATIVE_PASSWORD: &str = "mysql_native_password";
    /// SHA-256 challenge and response with the server's cache, else the password itself, protected.
    pub const CACHING_SHA2_PASSWORD: &str = "caching_sha2_password";
    /// The password itself, protected.
    pub const SHA256_PASSWORD: &str = "sha256_password";
    /// The password itself; only where the transport protects it.
    pub const CLEAR_PASSWORD: &str = "mysql_clear_password";
    /// MariaDB: a signature under a key that is the password's hash.
    pub const ED25519: &str = "client_ed25519";
    /// MariaDB 11.6: a signature under a key that is the password, salted and stretched.
    pub const PARSEC: &str = "parsec";
    /// MariaDB's PAM: questions and answers in clear text.
    pub const DIALOG: &str = "dialog";

    /// What `plugin` scrambles with, of the data that it was asked for with.
    ///
    /// A nonce for a hash is of bytes other than NUL, with a NUL behind it. One that is signed (32 bytes) is of any bytes,
    /// and nothing stands behind it: its last may be 0.
    pub fn nonce<'a>(plugin: &str, data: &'a [u8]) -> &'a [u8] {
        match plugin {
            ED25519 | PARSEC => data,
            _ => data.strip_suffix(&[0]).unwrap_or(data),
        }
    }
}

/// The server wants another plugin.
///
/// Wire: header `FE`, the plugin NUL-terminated, its data up to the end.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct AuthSwitchRequest {
    /// The plugin to use.
    pub plugin: String,
    /// The plugin's own: [what to scramble with](plugin::nonce), or a first question.
    pub data: Vec<u8>,
}

impl AuthSwitchRequest {
    /// The first byte.
    pub const HEADER: u8 = 0xfe;

    /// Decodes a payload. One byte alone asks for the password scheme before 4.1, which is refused as malformed.
    pub fn decode(payload: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(payload);
        if reader.u8("auth switch header")? != Self::HEADER {
            return Err(Malformed::new("auth switch header"));
        }
        let plugin = String::from_utf8_lossy(reader.until_nul("auth switch plugin")?).into_owned();
        Ok(Self { plugin, data: reader.rest().to_vec() })
    }

    /// Appends the payload.
    pub fn encode(&self, bytes: &mut Vec<u8>) {
        Writer::new(bytes).u8(Self::HEADER).terminated(self.plugin.as_bytes()).raw(&self.data);
    }
}

/// The server is content with the last factor and wants the next (MySQL 8.0.27).
///
/// Wire: header `02`, the plugin NUL-terminated, its data up to the end, as in [`AuthSwitchRequest`].
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct AuthNextFactor {
    /// The plugin to use.
    pub plugin: String,
    /// As in [`AuthSwitchRequest`].
    pub data: Vec<u8>,
}

impl AuthNextFactor {
    /// The first byte.
    pub const HEADER: u8 = 0x02;

    /// Decodes a payload.
    pub fn decode(payload: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(payload);
        if reader.u8("next factor header")? != Self::HEADER {
            return Err(Malformed::new("next factor header"));
        }
        let plugin = String::from_utf8_lossy(reader.until_nul("next factor plugin")?).into_owned();
        Ok(Self { plugin, data: reader.rest().to_vec() })
    }

    /// Appends the payload.
    pub fn encode(&self, bytes: &mut Vec<u8>) {
        Writer::new(bytes).u8(Self::HEADER).terminated(self.plugin.as_bytes()).raw(&self.data);
    }
}

/// A question of the `dialog` plugin: its kind, and the text to show.
///
/// Wire: `u8` kind (2 or 3 for an ordinary question, 4 or 5 for a password; odd when it is the last), text to the end.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct DialogQuestion<'a> {
    /// The answer is a secret.
    pub is_secret: bool,
    /// Nothing is asked after this.
    pub is_last: bool,
    /// What to show, in the server's words; often `Password: `.
    pub text: &'a [u8],
}

impl<'a> DialogQuestion<'a> {
    /// Decodes a question.
    pub fn decode(data: &'a [u8]) -> Result<Self, Malformed> {
        match data.split_first() {
            Some((&kind @ 2..=5, text)) => Ok(Self {
                is_secret: kind & 4 != 0,
                is_last: kind & 1 != 0,
                text: text.strip_suffix(&[0]).unwrap_or(text),
            }),
            _ => Err(Malformed::new("kind of a dialog question")),
        }
    }
}

/// A plugin's own message, header `01`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct AuthMoreData {
    /// What the plugin makes of it.
    pub data: Vec<u8>,
}

impl AuthMoreData {
    /// The first byte.
    pub const HEADER: u8 = 0x01;
    /// `caching_sha2_password`: the cache knew the scramble; OK follows.
    pub const FAST_AUTH_OK: u8 = 0x03;
    /// `caching_sha2_password`: send the password itself, protected.
    pub const FULL_AUTH: u8 = 0x04;
    /// From the client, `caching_sha2_password`: send your public key.
    pub const REQUEST_KEY: u8 = 0x02;
    /// From the client, `sha256_password`: send your public key.
    pub const SHA256_REQUEST_KEY: u8 = 0x01;

    /// Decodes a payload.
    pub fn decode(payload: &[u8]) -> Result<Self, Malformed> {
        match payload.split_first() {
            Some((&Self::HEADER, data)) => Ok(Self { data: data.to_vec() }),
            _ => Err(Malformed::new("auth data header")),
        }
    }

    /// Appends the payload.
    pub fn encode(&self, bytes: &mut Vec<u8>) {
        Writer::new(bytes).u8(Self::HEADER).raw(&self.data);
    }
}
