//! The client's half.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use rowferry_wire::Secret;
use subtle::ConstantTimeEq as _;

use super::{Attributes, KEY_LEN, ScramError, hmac, is_nonce, salted_password, sha256, utf8, xor};

/// What a server may ask of us; more would let a hostile one keep us busy for minutes.
const MAX_ITERATIONS: u32 = 1_000_000;

/// Begins: the client's first message, and the state that awaits its answer.
///
/// `nonce` is printable ASCII without commas, from at least 16 random bytes, never used twice.
pub fn start(password: &Secret, nonce: &str) -> (String, ClientAwaitFirst) {
    let bare = format!("n=,r={nonce}");
    let message = format!("n,,{bare}");
    (message, ClientAwaitFirst { password: password.clone(), nonce: nonce.to_owned(), bare })
}

/// Awaits the server's challenge.
#[derive(Clone, Debug)]
pub struct ClientAwaitFirst {
    password: Secret,
    nonce: String,
    bare: String,
}

impl ClientAwaitFirst {
    /// Takes the challenge; answers with the proof.
    pub fn handle(self, message: &[u8]) -> Result<(String, ClientAwaitFinal), ScramError> {
        let message = utf8(message, "server-first-message")?;
        let mut attributes = Attributes::new(message);
        let nonce = attributes.expect('r', "nonce")?;
        if !nonce.starts_with(&self.nonce) || nonce.len() == self.nonce.len() || !is_nonce(nonce) {
            return Err(ScramError::Malformed("nonce"));
        }
        let salt = BASE64.decode(attributes.expect('s', "salt")?).map_err(|_| ScramError::Malformed("salt"))?;
        let iterations = attributes
            .expect('i', "iteration count")?
            .parse()
            .ok()
            .filter(|count| (1..=MAX_ITERATIONS).contains(count))
            .ok_or(ScramError::Malformed("iteration count"))?;
        let salted = salted_password(self.password.expose(), &salt, iterations);
        let client_key = hmac(&salted, &[b"Client Key"]);
        let without_proof = format!("c=biws,r={nonce}");
        let messages: [&[u8]; 5] = [self.bare.as_bytes(), b",", message.as_bytes(), b",", without_proof.as_bytes()];
        let proof = xor(hmac(&sha256(&client_key), &messages), &client_key);
        let signature = hmac(&hmac(&salted, &[b"Server Key"]), &messages);
        Ok((format!("{without_proof},p={}", BASE64.encode(proof)), ClientAwaitFinal { signature }))
    }
}

/// Awaits the server's own proof.
#[derive(Clone)]
pub struct ClientAwaitFinal {
    signature: [u8; KEY_LEN],
}

impl std::fmt::Debug for ClientAwaitFinal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ClientAwaitFinal")
    }
}

impl ClientAwaitFinal {
    /// Takes the server's proof: without it, this is not the server that knows the password.
    pub fn handle(self, message: &[u8]) -> Result<(), ScramError> {
        let message = utf8(message, "server-final-message")?;
        let signature = Attributes::new(message).expect('v', "server signature")?;
        let signature = BASE64.decode(signature).map_err(|_| ScramError::Malformed("server signature"))?;
        if bool::from(signature.ct_eq(&self.signature)) { Ok(()) } else { Err(ScramError::ServerNotAuthentic) }
    }
}
