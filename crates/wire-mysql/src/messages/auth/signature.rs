//! MariaDB's plugins that prove the password by an Ed25519 signature.

use ed25519_dalek::hazmat::{ExpandedSecretKey, raw_sign};
use ed25519_dalek::{Signer, SigningKey, VerifyingKey};
use pbkdf2::pbkdf2_hmac;
use rowferry_wire::{Malformed, Reader};
use sha2::{Digest, Sha512};

/// `client_ed25519`: the nonce signed by the key that SHA-512 makes of the password, which may have any length.
///
/// RFC 8032 with the password in place of the 32 bytes of a secret key.
pub fn sign_ed25519(password: &[u8], nonce: &[u8]) -> Vec<u8> {
    let hash: [u8; 64] = Sha512::digest(password).into();
    let secret = ExpandedSecretKey::from_bytes(&hash);
    let public = VerifyingKey::from(&secret);
    raw_sign::<Sha512>(&secret, nonce, &public).to_bytes().to_vec()
}

/// What `parsec` stores beside the public key: how the password is salted and stretched.
///
/// Wire: `50` ("P" for PBKDF2), the factor `u8`, the salt to the end.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ParsecSalt<'a> {
    /// PBKDF2 runs 1024 << `factor` rounds.
    pub factor: u8,
    /// The salt.
    pub salt: &'a [u8],
}

impl<'a> ParsecSalt<'a> {
    const PBKDF2: u8 = b'P';
    /// What MariaDB itself takes at most; a hostile server could otherwise keep us busy for hours.
    const MAX_FACTOR: u8 = 3;

    /// Decodes the server's second message.
    pub fn decode(data: &'a [u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(data);
        if reader.u8("parsec algorithm")? != Self::PBKDF2 {
            return Err(Malformed::new("parsec algorithm"));
        }
        let factor = reader.u8("parsec factor")?;
        if factor > Self::MAX_FACTOR {
            return Err(Malformed::new("parsec factor"));
        }
        Ok(Self { factor, salt: reader.rest() })
    }
}

/// `parsec`: our own nonce of 32 bytes, then the signature over the server's and ours.
pub fn sign_parsec(password: &[u8], salt: ParsecSalt<'_>, server_nonce: &[u8], client_nonce: [u8; 32]) -> Vec<u8> {
    let mut secret = [0; 32];
    pbkdf2_hmac::<Sha512>(password, salt.salt, 1024 << salt.factor, &mut secret);
    let signed = [server_nonce, &client_nonce].concat();
    let signature = SigningKey::from_bytes(&secret).sign(&signed);
    [client_nonce.as_slice(), &signature.to_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_hold_under_the_key_that_the_server_stores() {
        let nonce = [7; 32];
        let hash: [u8; 64] = Sha512::digest(b"secret").into();
        let stored = VerifyingKey::from(&ExpandedSecretKey::from_bytes(&hash));
        let signature = sign_ed25519(b"secret", &nonce);
        let signature = ed25519_dalek::Signature::from_slice(&signature).expect("64 bytes");
        stored.verify_strict(&nonce, &signature).expect("signed by the password");
    }

    #[test]
    fn parsec_refuses_what_would_keep_it_busy() {
        assert_eq!(ParsecSalt::decode(b"P\x02salt"), Ok(ParsecSalt { factor: 2, salt: b"salt" }));
        assert!(ParsecSalt::decode(b"P\x04salt").is_err());
        assert!(ParsecSalt::decode(b"Q\x00salt").is_err());
        assert!(ParsecSalt::decode(b"P").is_err());
    }
}
