//! Authentication: what plugins send after the handshake, and how they scramble.

use rowferry_wire::{Malformed, Reader, Writer};
use rsa::pkcs8::DecodePublicKey;
use rsa::rand_core::{CryptoRng, RngCore};
use rsa::{Oaep, RsaPublicKey};
use sha1::{Digest, Sha1};
use sha2::Sha256;

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
}

/// The server wants another plugin.
///
/// Wire: header `FE`, the plugin NUL-terminated, its data up to the end (a nonce, with a NUL behind it).
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct AuthSwitchRequest {
    /// The plugin to use.
    pub plugin: String,
    /// What to scramble with.
    pub nonce: Vec<u8>,
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
        let nonce = reader.rest();
        Ok(Self { plugin, nonce: nonce.strip_suffix(&[0]).unwrap_or(nonce).to_vec() })
    }

    /// Appends the payload.
    pub fn encode(&self, bytes: &mut Vec<u8>) {
        Writer::new(bytes).u8(Self::HEADER).terminated(self.plugin.as_bytes()).terminated(&self.nonce);
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

fn xor(mut left: Vec<u8>, right: &[u8]) -> Vec<u8> {
    for (byte, other) in left.iter_mut().zip(right) {
        *byte ^= other;
    }
    left
}

/// `SHA1(password) XOR SHA1(nonce, SHA1(SHA1(password)))`; empty for an empty password.
pub fn scramble_native(password: &[u8], nonce: &[u8]) -> Vec<u8> {
    if password.is_empty() {
        return Vec::new();
    }
    let once = Sha1::digest(password);
    let mixed = Sha1::new().chain_update(nonce).chain_update(Sha1::digest(once)).finalize();
    xor(once.to_vec(), &mixed)
}

/// `SHA256(password) XOR SHA256(SHA256(SHA256(password)), nonce)`; empty for an empty password.
pub fn scramble_sha256(password: &[u8], nonce: &[u8]) -> Vec<u8> {
    if password.is_empty() {
        return Vec::new();
    }
    let once = Sha256::digest(password);
    let mixed = Sha256::new().chain_update(Sha256::digest(once)).chain_update(nonce).finalize();
    xor(once.to_vec(), &mixed)
}

/// The password and a NUL, mixed with the nonce, under the server's RSA key (OAEP with SHA-1).
///
/// `seed` must be fresh random bytes each time. `key` is PEM.
pub fn encrypt_password(password: &[u8], nonce: &[u8], key: &[u8], seed: [u8; 32]) -> Result<Vec<u8>, Malformed> {
    let key = std::str::from_utf8(key).map_err(|_| Malformed::new("RSA public key"))?;
    let key = RsaPublicKey::from_public_key_pem(key.trim()).map_err(|_| Malformed::new("RSA public key"))?;
    if nonce.is_empty() {
        return Err(Malformed::new("nonce"));
    }
    let mut clear = password.to_vec();
    clear.push(0);
    for (at, byte) in clear.iter_mut().enumerate() {
        *byte ^= nonce[at % nonce.len()];
    }
    key.encrypt(&mut Seeded { seed, counter: 0 }, Oaep::new::<Sha1>(), &clear)
        .map_err(|_| Malformed::new("RSA public key too short for the password"))
}

/// The given random bytes, stretched by SHA-256 over a counter: entropy is an argument here.
struct Seeded {
    seed: [u8; 32],
    counter: u64,
}

impl RngCore for Seeded {
    fn next_u32(&mut self) -> u32 {
        rsa::rand_core::impls::next_u32_via_fill(self)
    }

    fn next_u64(&mut self) -> u64 {
        rsa::rand_core::impls::next_u64_via_fill(self)
    }

    fn fill_bytes(&mut self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(32) {
            let block = Sha256::new().chain_update(self.seed).chain_update(self.counter.to_le_bytes()).finalize();
            chunk.copy_from_slice(&block[..chunk.len()]);
            self.counter += 1;
        }
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), rsa::rand_core::Error> {
        self.fill_bytes(bytes);
        Ok(())
    }
}

impl CryptoRng for Seeded {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scrambles_undo_as_a_server_does_it() {
        let (password, nonce) = (b"secret".as_slice(), b"01234567890123456789".as_slice());
        let stored = Sha1::digest(Sha1::digest(password));
        let mixed = Sha1::new().chain_update(nonce).chain_update(stored).finalize();
        let once = xor(scramble_native(password, nonce), &mixed);
        assert_eq!(Sha1::digest(once), stored);
        let stored = Sha256::digest(Sha256::digest(password));
        let mixed = Sha256::new().chain_update(stored).chain_update(nonce).finalize();
        let once = xor(scramble_sha256(password, nonce), &mixed);
        assert_eq!(Sha256::digest(once), stored);
        assert!(scramble_native(b"", nonce).is_empty() && scramble_sha256(b"", nonce).is_empty());
    }
}
