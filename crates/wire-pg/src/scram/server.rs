//! The server's half.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use subtle::ConstantTimeEq as _;

use super::{Attributes, KEY_LEN, ScramError, Verifier, is_nonce, utf8};

/// The only channel binding that there is for every version of TLS.
const END_POINT_FLAG: &str = "p=tls-server-end-point";

/// What ties the exchange to the TLS connection in which it takes place.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum ChannelBinding {
    /// Nothing: it was not offered.
    None,
    /// It was offered, and the client has chosen the mechanism without it.
    Offered,
    /// The client has chosen it; the data of `tls-server-end-point`.
    Chosen(Vec<u8>),
}

/// Awaits the client's first message.
#[derive(Clone, Debug)]
pub struct AwaitClientFirst {
    verifier: Verifier,
    nonce: String,
    binding: ChannelBinding,
}

impl AwaitClientFirst {
    /// `nonce` is the server's part: printable ASCII without commas, from at least 16 random bytes, never used twice.
    pub fn new(verifier: Verifier, nonce: impl Into<String>) -> Self {
        Self { verifier, nonce: nonce.into(), binding: ChannelBinding::None }
    }

    /// Expects the client to bind the channel, or not to, as the mechanism says that it has chosen.
    #[must_use]
    pub fn with_binding(mut self, binding: ChannelBinding) -> Self {
        self.binding = binding;
        self
    }

    /// Takes the client's first message; answers with the challenge.
    pub fn handle(self, message: &[u8]) -> Result<(String, AwaitClientFinal), ScramError> {
        let message = utf8(message, "client-first-message")?;
        // GS2 header: channel binding flag, authorisation identity.
        let mut parts = message.splitn(3, ',');
        match (parts.next(), &self.binding) {
            (Some("n"), ChannelBinding::None | ChannelBinding::Offered) => {}
            // `y`: the client could bind the channel but believes that we cannot.
            (Some("y"), ChannelBinding::None) => {}
            (Some("y"), ChannelBinding::Offered) => return Err(ScramError::Downgraded),
            (Some(END_POINT_FLAG), ChannelBinding::Chosen(_)) => {}
            (Some(flag), ChannelBinding::Chosen(_)) if flag.starts_with("p=") => {
                return Err(ScramError::Unsupported("another channel binding than tls-server-end-point"));
            }
            (Some(flag), _) if flag.starts_with("p=") => {
                return Err(ScramError::Unsupported("channel binding, which was not chosen"));
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
        let mut bound = header.as_bytes().to_vec();
        if let ChannelBinding::Chosen(data) = &self.binding {
            bound.extend_from_slice(data);
        }
        let challenge = format!("r={nonce},s={},i={}", BASE64.encode(&self.verifier.salt), self.verifier.iterations);
        let state = AwaitClientFinal {
            verifier: self.verifier,
            bound: BASE64.encode(bound),
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
    /// What the client must repeat: its header, and the channel's data.
    bound: String,
    nonce: String,
    client_first: String,
    server_first: String,
}

impl AwaitClientFinal {
    /// Takes the client's proof; answers with the server's own when it is right.
    pub fn handle(self, message: &[u8]) -> Result<String, ScramError> {
        let message = utf8(message, "client-final-message")?;
        let mut attributes = Attributes::new(message);
        if attributes.expect('c', "channel binding")? != self.bound {
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
