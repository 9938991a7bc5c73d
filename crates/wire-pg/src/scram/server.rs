//! The server's half.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use subtle::ConstantTimeEq as _;

use super::{Attributes, KEY_LEN, ScramError, Verifier, is_nonce, utf8};

/// Awaits the client's first message.
#[derive(Clone, Debug)]
pub struct AwaitClientFirst {
    verifier: Verifier,
    nonce: String,
}

impl AwaitClientFirst {
    /// `nonce` is the server's part: printable ASCII without commas, from at least 16 random bytes, never used twice.
    pub fn new(verifier: Verifier, nonce: impl Into<String>) -> Self {
        Self { verifier, nonce: nonce.into() }
    }

    /// Takes the client's first message; answers with the challenge.
    pub fn handle(self, message: &[u8]) -> Result<(String, AwaitClientFinal), ScramError> {
        let message = utf8(message, "client-first-message")?;
        // GS2 header: channel binding flag, authorisation identity.
        let mut parts = message.splitn(3, ',');
        match parts.next() {
            // `y`: the client could bind the channel but believes that we cannot. It is right.
            Some("n" | "y") => {}
            Some(flag) if flag.starts_with("p=") => {
                return Err(ScramError::Unsupported("channel binding, which was not offered"));
            }
            _ => return Err(ScramError::Malformed("channel binding flag")),
        }
        match parts.next() {
            Some("") => {}
            Some(_) => return Err(ScramError::Unsupported("authorization identity")),
            None => return Err(ScramError::Malformed("authorization identity")),
        }
        let bare = parts.next().ok_or(ScramError::Malformed("client-first-message"))?;
        let header = &message[..message.len() - bare.len()];
        if bare.starts_with("m=") {
            return Err(ScramError::Unsupported("mandatory extension"));
        }
        let mut attributes = Attributes::new(bare);
        attributes.expect('n', "user name")?;
        let client_nonce = attributes.expect('r', "nonce")?;
        if !is_nonce(client_nonce) {
            return Err(ScramError::Malformed("nonce"));
        }
        let nonce = format!("{client_nonce}{}", self.nonce);
        let challenge = format!("r={nonce},s={},i={}", BASE64.encode(&self.verifier.salt), self.verifier.iterations);
        let state = AwaitClientFinal {
            verifier: self.verifier,
            header: BASE64.encode(header),
            nonce,
            client_first: bare.to_owned(),
            server_first: challenge.clone(),
        };
        Ok((challenge, state))
    }
}

/// Awaits the client's proof.
#[derive(Clone, Debug)]
pub struct AwaitClientFinal {
    verifier: Verifier,
    header: String,
    nonce: String,
    client_first: String,
    server_first: String,
}

impl AwaitClientFinal {
    /// Takes the client's proof; answers with the server's own when it is right.
    pub fn handle(self, message: &[u8]) -> Result<String, ScramError> {
        let message = utf8(message, "client-final-message")?;
        let mut attributes = Attributes::new(message);
        if attributes.expect('c', "channel binding")? != self.header {
            return Err(ScramError::Malformed("channel binding"));
        }
        let nonce = attributes.expect('r', "nonce")?;
        if !bool::from(nonce.as_bytes().ct_eq(self.nonce.as_bytes())) {
            return Err(ScramError::Malformed("nonce"));
        }
        // Extensions may stand between; the proof is last.
        let (without_proof, proof) = message.rsplit_once(",p=").ok_or(ScramError::Malformed("proof"))?;
        let proof: [u8; KEY_LEN] =
            BASE64.decode(proof).ok().and_then(|bytes| bytes.try_into().ok()).ok_or(ScramError::Malformed("proof"))?;
        let signature = self.verifier.check(
            &[self.client_first.as_bytes(), b",", self.server_first.as_bytes(), b",", without_proof.as_bytes()],
            &proof,
        )?;
        Ok(format!("v={}", BASE64.encode(signature)))
    }
}
