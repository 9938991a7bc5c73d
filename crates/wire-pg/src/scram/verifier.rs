//! What a server keeps of a password.

use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use subtle::ConstantTimeEq as _;

use super::{KEY_LEN, ScramError, hmac, salted_password, sha256, xor};

/// Rounds of the key derivation for passwords that we hash ourselves: PostgreSQL's default.
pub const DEFAULT_ITERATIONS: u32 = 4_096;

/// More rounds than this would make each log-in a denial of service.
const MAX_ITERATIONS: u32 = 10_000_000;

/// What a server keeps of a password: enough to check a proof, not enough to make one.
///
/// Its text form is PostgreSQL's, as in `pg_authid`: `SCRAM-SHA-256$<iterations>:<salt>$<StoredKey>:<ServerKey>`.
#[derive(Clone, Eq, PartialEq)]
pub struct Verifier {
    pub(super) iterations: u32,
    pub(super) salt: Vec<u8>,
    pub(super) stored_key: [u8; KEY_LEN],
    pub(super) server_key: [u8; KEY_LEN],
}

impl Verifier {
    /// Hashes `password`. `salt` comes from the caller's random source: 16 bytes, new for each user.
    pub fn from_password(password: &str, salt: &[u8], iterations: u32) -> Self {
        let salted = salted_password(password, salt, iterations);
        let client_key = hmac(&salted, &[b"Client Key"]);
        Self {
            iterations,
            salt: salt.to_vec(),
            stored_key: sha256(&client_key),
            server_key: hmac(&salted, &[b"Server Key"]),
        }
    }

    /// A verifier that no password satisfies, for users that do not exist: they see the same exchange, with a salt that
    /// is the same at every attempt, so that names cannot be probed. `secret` is the server's own, random at start.
    pub fn mock(user: &[u8], secret: &[u8]) -> Self {
        let salt = hmac(secret, &[b"salt", user])[..16].to_vec();
        Self {
            iterations: DEFAULT_ITERATIONS,
            salt,
            stored_key: hmac(secret, &[b"stored", user]),
            server_key: hmac(secret, &[b"server", user]),
        }
    }

    /// Checks a password that came in the clear, for protocols without SCRAM. Takes the same time whatever the answer.
    pub fn accepts(&self, password: &str) -> bool {
        let salted = salted_password(password, &self.salt, self.iterations);
        let client_key = hmac(&salted, &[b"Client Key"]);
        sha256(&client_key).ct_eq(&self.stored_key).into()
    }

    /// What a password that this verifier accepts is remembered by, under a secret of whoever remembers it: of another
    /// verifier or password it is another.
    pub fn remembered(&self, password: &str, secret: &[u8; KEY_LEN]) -> [u8; KEY_LEN] {
        hmac(secret, &[&self.stored_key, &self.server_key, password.as_bytes()])
    }

    /// Checks the client's proof over the messages exchanged, and answers the server's signature over them.
    pub(super) fn check(&self, messages: &[&[u8]], proof: &[u8; KEY_LEN]) -> Result<[u8; KEY_LEN], ScramError> {
        let client_key = xor(hmac(&self.stored_key, messages), proof);
        if bool::from(sha256(&client_key).ct_eq(&self.stored_key)) {
            Ok(hmac(&self.server_key, messages))
        } else {
            Err(ScramError::WrongPassword)
        }
    }
}

impl fmt::Debug for Verifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Verifier").field("iterations", &self.iterations).finish_non_exhaustive()
    }
}

impl fmt::Display for Verifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "SCRAM-SHA-256${}:{}${}:{}",
            self.iterations,
            BASE64.encode(&self.salt),
            BASE64.encode(self.stored_key),
            BASE64.encode(self.server_key)
        )
    }
}

/// The text is no verifier of SCRAM-SHA-256.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct NotAVerifier;

impl fmt::Display for NotAVerifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not of the form SCRAM-SHA-256$<iterations>:<salt>$<StoredKey>:<ServerKey>")
    }
}

impl std::error::Error for NotAVerifier {}

impl FromStr for Verifier {
    type Err = NotAVerifier;

    fn from_str(text: &str) -> Result<Self, NotAVerifier> {
        let parse = || {
            let (parameters, keys) = text.strip_prefix("SCRAM-SHA-256$")?.split_once('$')?;
            let (iterations, salt) = parameters.split_once(':')?;
            let (stored_key, server_key) = keys.split_once(':')?;
            let iterations = iterations.parse().ok().filter(|n| (1..=MAX_ITERATIONS).contains(n))?;
            Some(Self {
                iterations,
                salt: BASE64.decode(salt).ok().filter(|salt| !salt.is_empty())?,
                stored_key: BASE64.decode(stored_key).ok()?.try_into().ok()?,
                server_key: BASE64.decode(server_key).ok()?.try_into().ok()?,
            })
        };
        parse().ok_or(NotAVerifier)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_form_round_trips() {
        let verifier = Verifier::from_password("pencil", b"0123456789abcdef", 4096);
        assert_eq!(verifier.to_string().parse(), Ok(verifier.clone()));
        for text in [
            "",
            "pencil",
            "SCRAM-SHA-256$",
            "SCRAM-SHA-256$0:AAAA$AAAA:AAAA",
            "SCRAM-SHA-256$4096:AAAA$AAAA:AAAA",
            "SCRAM-SHA-256$99999999:AAAA$AAAA:AAAA",
            "md5abcdef",
        ] {
            assert_eq!(text.parse::<Verifier>(), Err(NotAVerifier), "{text:?}");
        }
    }

    #[test]
    fn checks_passwords_in_the_clear() {
        let verifier = Verifier::from_password("pencil", b"0123456789abcdef", 4096);
        assert!(verifier.accepts("pencil"));
        assert!(!verifier.accepts("pencil "));
        assert!(!Verifier::mock(b"nobody", b"secret").accepts(""));
    }

    #[test]
    fn debug_shows_no_keys() {
        let shown = format!("{:?}", Verifier::from_password("pencil", b"0123456789abcdef", 4096));
        assert_eq!(shown, "Verifier { iterations: 4096, .. }");
    }
}
