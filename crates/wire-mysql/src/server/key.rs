//! The server's key, under which clients send their password where nothing else protects it.

use rowferry_wire::Malformed;
use rsa::pkcs8::{EncodePublicKey, LineEnding};
use rsa::{Oaep, RsaPrivateKey};
use sha1::Sha1;

use crate::messages::auth::Seeded;

/// Bits of a key.
const BITS: usize = 2_048;

/// An RSA key, and what clients are told of it.
#[derive(Clone)]
pub struct Key {
    private: RsaPrivateKey,
    public: String,
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Key").finish_non_exhaustive()
    }
}

impl Key {
    /// A new key. `seed` must be fresh random bytes.
    ///
    /// # Errors
    /// When none can be made of it.
    pub fn generate(seed: [u8; 32]) -> Result<Self, Malformed> {
        let private = RsaPrivateKey::new(&mut Seeded::new(seed), BITS).map_err(|_| Malformed::new("RSA key"))?;
        Self::of(private)
    }

    /// A key that is there already.
    ///
    /// # Errors
    /// When its public half cannot be written.
    pub fn of(private: RsaPrivateKey) -> Result<Self, Malformed> {
        let public = private.to_public_key().to_public_key_pem(LineEnding::LF);
        Ok(Self { private, public: public.map_err(|_| Malformed::new("RSA key"))? })
    }

    /// The public half, in PEM.
    pub fn public(&self) -> &str {
        &self.public
    }

    /// The password that a client has mixed with `nonce` and put under the key; `seed` blinds the work.
    pub(crate) fn password(&self, packed: &[u8], nonce: &[u8], seed: [u8; 32]) -> Option<Vec<u8>> {
        let mut random = Seeded::new(seed);
        let mixed = self.private.decrypt_blinded(&mut random, Oaep::new::<Sha1>(), packed).ok()?;
        let mut clear: Vec<u8> = mixed.iter().zip(nonce.iter().cycle()).map(|(byte, mask)| byte ^ mask).collect();
        (clear.pop() == Some(0)).then_some(clear)
    }
}
