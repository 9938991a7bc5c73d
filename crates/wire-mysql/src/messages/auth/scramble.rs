//! Passwords mixed with the server's nonce, or under its RSA key.

use rowferry_wire::Malformed;
use rsa::pkcs8::DecodePublicKey;
use rsa::rand_core::{CryptoRng, RngCore};
use rsa::{Oaep, RsaPublicKey};
use sha1::{Digest, Sha1};
use sha2::Sha256;

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
    // MySQL writes its own key file with a NUL at the end.
    let key = key.trim_matches(|letter: char| letter.is_whitespace() || letter == '\0');
    let key = RsaPublicKey::from_public_key_pem(key).map_err(|_| Malformed::new("RSA public key"))?;
    if nonce.is_empty() {
        return Err(Malformed::new("nonce"));
    }
    let mut clear = password.to_vec();
    clear.push(0);
    for (at, byte) in clear.iter_mut().enumerate() {
        *byte ^= nonce[at % nonce.len()];
    }
    key.encrypt(&mut Seeded::new(seed), Oaep::new::<Sha1>(), &clear)
        .map_err(|_| Malformed::new("RSA public key too short for the password"))
}

/// The given random bytes, stretched by SHA-256 over a counter: entropy is an argument here.
pub(crate) struct Seeded {
    seed: [u8; 32],
    counter: u64,
}

impl Seeded {
    pub(crate) const fn new(seed: [u8; 32]) -> Self {
        Self { seed, counter: 0 }
    }
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
