//! SCRAM-SHA-256 (RFC 5802, RFC 7677), as PostgreSQL uses it: the user name comes from the start-up packet, the one in
//! the exchange is ignored.
//!
//! Each state is a value that its message consumes. Nonces and salts are passed in: this crate has no randomness.

#[cfg(feature = "peer")]
mod client;
mod server;
mod verifier;

#[cfg(feature = "peer")]
pub use client::{ClientAwaitFinal, ClientAwaitFirst, start};
pub use server::{AwaitClientFinal, AwaitClientFirst, ChannelBinding};
pub use verifier::{DEFAULT_ITERATIONS, Verifier};

use std::fmt;

use hmac::{Hmac, Mac};
use sha2::{Digest, Sha256};

/// The mechanism's name.
pub const SCRAM_SHA_256: &str = "SCRAM-SHA-256";

/// The mechanism's name when it is bound to the TLS connection (RFC 5929's `tls-server-end-point`).
pub const SCRAM_SHA_256_PLUS: &str = "SCRAM-SHA-256-PLUS";

/// Bytes of SHA-256, and so of every key here.
pub(crate) const KEY_LEN: usize = 32;

/// The longest message that either side of an exchange may send, in bytes.
pub const MESSAGE_LIMIT: usize = 4_096;

/// Why the exchange ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ScramError {
    /// The peer's message is not what the mechanism prescribes; the text names what.
    Malformed(&'static str),
    /// The client asks for something that this server does not do; the text names it.
    Unsupported(&'static str),
    /// The client was kept from seeing that the channel can be bound.
    Downgraded,
    /// The proof is wrong: not this password.
    WrongPassword,
    /// The server could not prove that it knows the password: it is not the server.
    ServerNotAuthentic,
}

impl fmt::Display for ScramError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(what) => write!(f, "malformed SCRAM message: {what}"),
            Self::Unsupported(what) => write!(f, "unsupported in SCRAM: {what}"),
            Self::Downgraded => f.write_str("the client was not told that this server supports channel binding"),
            Self::WrongPassword => f.write_str("password authentication failed"),
            Self::ServerNotAuthentic => f.write_str("the server does not know the password either"),
        }
    }
}

impl std::error::Error for ScramError {}

pub(crate) fn hmac(key: &[u8], parts: &[&[u8]]) -> [u8; KEY_LEN] {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes keys of every length");
    for part in parts {
        mac.update(part);
    }
    mac.finalize().into_bytes().into()
}

pub(crate) fn sha256(bytes: &[u8]) -> [u8; KEY_LEN] {
    Sha256::digest(bytes).into()
}

pub(crate) fn xor(left: [u8; KEY_LEN], right: &[u8; KEY_LEN]) -> [u8; KEY_LEN] {
    let mut result = left;
    for (byte, other) in result.iter_mut().zip(right) {
        *byte ^= other;
    }
    result
}

/// The key that a password gives with a salt, after SASLprep; text that SASLprep refuses is used as it is, as
/// PostgreSQL does.
pub(crate) fn salted_password(password: &str, salt: &[u8], iterations: u32) -> [u8; KEY_LEN] {
    let prepared = stringprep::saslprep(password);
    let bytes = prepared.as_ref().map_or(password.as_bytes(), |text| text.as_bytes());
    let mut key = [0; KEY_LEN];
    pbkdf2::pbkdf2_hmac::<Sha256>(bytes, salt, iterations, &mut key);
    key
}

/// The attributes of a message, in order: `a=…,b=…`.
pub(crate) struct Attributes<'a> {
    rest: Option<&'a str>,
}

impl<'a> Attributes<'a> {
    pub(crate) fn new(message: &'a str) -> Self {
        Self { rest: Some(message) }
    }

    /// The value of the next attribute, which must be `name`.
    pub(crate) fn expect(&mut self, name: char, what: &'static str) -> Result<&'a str, ScramError> {
        let item = self.next_item().ok_or(ScramError::Malformed(what))?;
        item.strip_prefix(name).and_then(|item| item.strip_prefix('=')).ok_or(ScramError::Malformed(what))
    }

    pub(crate) fn next_item(&mut self) -> Option<&'a str> {
        let rest = self.rest?;
        match rest.split_once(',') {
            Some((item, rest)) => {
                self.rest = Some(rest);
                Some(item)
            }
            None => {
                self.rest = None;
                Some(rest)
            }
        }
    }
}

pub(crate) fn utf8<'a>(message: &'a [u8], what: &'static str) -> Result<&'a str, ScramError> {
    if message.len() > MESSAGE_LIMIT {
        return Err(ScramError::Malformed("message length"));
    }
    std::str::from_utf8(message).map_err(|_| ScramError::Malformed(what))
}

/// Printable ASCII without commas, as the RFC wants nonces.
pub(crate) fn is_nonce(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| (0x21..=0x7e).contains(&b) && b != b',')
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLIENT_NONCE: &str = "rOprNGfwEbeRWgbNEkqO";
    const SERVER_NONCE: &str = "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0";

    /// The exchange of RFC 7677, section 3, with the user name that it has.
    #[test]
    fn speaks_the_exchange_of_the_rfc() {
        let verifier = Verifier::from_password("pencil", &salt(), 4096);
        let first = AwaitClientFirst::new(verifier, SERVER_NONCE);
        let (server_first, state) = first.handle(format!("n,,n=user,r={CLIENT_NONCE}").as_bytes()).unwrap();
        assert_eq!(
            server_first,
            "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"
        );
        let server_final = state
            .handle(
                b"c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,\
                  p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=",
            )
            .unwrap();
        assert_eq!(server_final, "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=");
    }

    fn salt() -> Vec<u8> {
        use base64::Engine as _;
        base64::engine::general_purpose::STANDARD.decode("W22ZaJ0SNY7soEsUEjb6gQ==").unwrap()
    }

    fn exchange(server_password: &str, client_password: &str) -> Result<(), ScramError> {
        let verifier = Verifier::from_password(server_password, b"0123456789abcdef", 4096);
        let server = AwaitClientFirst::new(verifier, SERVER_NONCE);
        let (message, client) = start(&rowferry_wire::Secret::new(client_password), CLIENT_NONCE);
        let (message, server) = server.handle(message.as_bytes())?;
        let (message, client) = client.handle(message.as_bytes())?;
        let message = server.handle(message.as_bytes())?;
        client.handle(message.as_bytes())
    }

    #[test]
    fn our_client_satisfies_our_server() {
        for password in ["pencil", "", "pâsswörd", "a,b=c", "\u{fb01}\u{a0}"] {
            assert_eq!(exchange(password, password), Ok(()), "{password:?}");
        }
        // SASLprep makes these equal: a ligature and its letters.
        assert_eq!(exchange("fi", "\u{fb01}"), Ok(()));
    }

    #[test]
    fn a_wrong_password_is_noticed_by_the_server() {
        assert_eq!(exchange("pencil", "Pencil"), Err(ScramError::WrongPassword));
    }

    #[test]
    fn a_server_without_the_password_is_noticed_by_the_client() {
        let (_, client) = start(&rowferry_wire::Secret::new("pencil"), CLIENT_NONCE);
        let (_, client) = client.handle(format!("r={CLIENT_NONCE}x,s=W22Z,i=4096").as_bytes()).unwrap();
        assert_eq!(
            client.handle(b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="),
            Err(ScramError::ServerNotAuthentic)
        );
    }

    #[test]
    fn refuses_what_the_mechanism_does_not_allow() {
        let verifier = Verifier::from_password("pencil", &salt(), 4096);
        let handle = |message: &str| {
            AwaitClientFirst::new(verifier.clone(), SERVER_NONCE).handle(message.as_bytes()).map(|(m, _)| m)
        };
        assert!(handle("y,,n=,r=abc").is_ok());
        assert!(matches!(handle("p=tls-unique,,n=,r=abc"), Err(ScramError::Unsupported(_))));
        assert!(matches!(handle("n,a=other,n=,r=abc"), Err(ScramError::Unsupported(_))));
        assert!(matches!(handle("n,,m=ext,n=,r=abc"), Err(ScramError::Unsupported(_))));
        for message in ["", "n", "n,", "n,,", "n,,n=", "n,,n=,r=", "n,,n=,r=a b", "x,,n=,r=abc", "n,,r=abc,n="] {
            assert!(matches!(handle(message), Err(ScramError::Malformed(_))), "{message:?}");
        }
        let long = format!("n,,n=,r={}", "a".repeat(MESSAGE_LIMIT));
        assert_eq!(handle(&long), Err(ScramError::Malformed("message length")));
        assert!(AwaitClientFirst::new(verifier.clone(), SERVER_NONCE).handle(b"n,,n=\xff,r=a").is_err());

        let proof = "dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=";
        let nonce = format!("{CLIENT_NONCE}{SERVER_NONCE}");
        for (message, expected) in [
            (format!("c=eSws,r={nonce},p={proof}"), ScramError::Malformed("channel binding")),
            (format!("c=biws,r={CLIENT_NONCE},p={proof}"), ScramError::Malformed("nonce")),
            (format!("c=biws,r={nonce}"), ScramError::Malformed("proof")),
            (format!("c=biws,r={nonce},p=AAAA"), ScramError::Malformed("proof")),
            (format!("c=biws,r={nonce},p={}", proof.replace('d', "e")), ScramError::WrongPassword),
        ] {
            let (_, state) = AwaitClientFirst::new(verifier.clone(), SERVER_NONCE)
                .handle(format!("n,,n=user,r={CLIENT_NONCE}").as_bytes())
                .unwrap();
            assert_eq!(state.handle(message.as_bytes()), Err(expected), "{message:?}");
        }
    }

    #[test]
    fn binds_to_the_channel_that_both_ends_see() {
        let verifier = Verifier::from_password("pencil", &salt(), 4096);
        let first = |binding, message: &str| {
            AwaitClientFirst::new(verifier.clone(), SERVER_NONCE).with_binding(binding).handle(message.as_bytes())
        };
        let chosen = || ChannelBinding::Chosen(b"certificate".to_vec());
        // The other end sees another certificate: somebody stands between.
        let (_, state) = first(chosen(), "p=tls-server-end-point,,n=,r=abc").unwrap();
        let of = |data: &str| {
            use base64::Engine as _;
            base64::engine::general_purpose::STANDARD.encode(format!("p=tls-server-end-point,,{data}"))
        };
        let last = |data| format!("c={},r=abc{SERVER_NONCE},p={}", of(data), "A".repeat(43) + "=");
        let wrong = state.clone().handle(last("other").as_bytes());
        assert_eq!(wrong, Err(ScramError::Malformed("channel binding")));
        // The same certificate: now it is the password that counts.
        assert_eq!(state.handle(last("certificate").as_bytes()), Err(ScramError::WrongPassword));
        // The mechanism and its flag must say the same.
        assert_eq!(first(chosen(), "n,,n=,r=abc").unwrap_err(), ScramError::Malformed("channel binding flag"));
        assert_eq!(first(chosen(), "y,,n=,r=abc").unwrap_err(), ScramError::Malformed("channel binding flag"));
        assert!(matches!(first(chosen(), "p=tls-unique,,n=,r=abc"), Err(ScramError::Unsupported(_))));
        // A client that can bind and believes that we cannot was lied to.
        assert_eq!(first(ChannelBinding::Offered, "y,,n=,r=abc").unwrap_err(), ScramError::Downgraded);
        assert!(first(ChannelBinding::Offered, "n,,n=,r=abc").is_ok());
        assert!(first(ChannelBinding::None, "y,,n=,r=abc").is_ok());
    }

    proptest::proptest! {
        #[test]
        fn random_messages_end_in_an_error(first in "\\PC{0,80}", last in "\\PC{0,80}") {
            let verifier = Verifier::from_password("pencil", b"salt", 1);
            let _ = AwaitClientFirst::new(verifier.clone(), SERVER_NONCE).handle(first.as_bytes());
            let (_, state) = AwaitClientFirst::new(verifier, SERVER_NONCE).handle(b"n,,n=,r=abc").unwrap();
            proptest::prop_assert!(state.handle(last.as_bytes()).is_err());
            let (_, client) = start(&rowferry_wire::Secret::new("pencil"), CLIENT_NONCE);
            proptest::prop_assert!(client.handle(first.as_bytes()).is_err());
        }
    }
}
