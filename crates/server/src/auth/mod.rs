//! Who may come in.
//!
//! With users, everybody proves a password: over SCRAM-SHA-256 where the protocol has it. Without users everybody is
//! trusted, which the command line allows on loopback only, and says.

mod password_file;

use std::collections::HashMap;
use std::fmt;

pub use password_file::PasswordFileError;
use rand::RngCore as _;
use rowferry_wire_pg::scram::{DEFAULT_ITERATIONS, Verifier};

/// Bytes of a fresh salt.
const SALT_LEN: usize = 16;

/// The users and what is kept of their passwords. Empty: everybody is trusted.
#[derive(Clone, Default)]
pub struct Users {
    verifiers: HashMap<String, Verifier>,
    /// For users that do not exist: see [`Verifier::mock`].
    mock_secret: [u8; 32],
}

impl fmt::Debug for Users {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Users").field("count", &self.verifiers.len()).finish_non_exhaustive()
    }
}

impl Users {
    /// Nobody: everybody is trusted.
    pub fn none() -> Self {
        Self { verifiers: HashMap::new(), mock_secret: random() }
    }

    /// Adds a user, or replaces one. `password` is the password itself or a verifier as PostgreSQL stores it
    /// (`SCRAM-SHA-256$…`).
    pub fn add(&mut self, name: &str, password: &str) {
        let verifier = password
            .parse()
            .unwrap_or_else(|_| Verifier::from_password(password, &random::<SALT_LEN>(), DEFAULT_ITERATIONS));
        self.verifiers.insert(name.to_owned(), verifier);
    }

    /// True when there is no user, and so no password to prove.
    pub fn is_empty(&self) -> bool {
        self.verifiers.is_empty()
    }

    /// How many users there are.
    pub fn len(&self) -> usize {
        self.verifiers.len()
    }

    /// What the exchange with `name` needs. For a name that is no user it is a verifier that nothing satisfies, so that
    /// names cannot be probed.
    pub fn verifier(&self, name: &[u8]) -> Verifier {
        std::str::from_utf8(name)
            .ok()
            .and_then(|name| self.verifiers.get(name))
            .cloned()
            .unwrap_or_else(|| Verifier::mock(name, &self.mock_secret))
    }

    /// Checks a password that came in the clear; always true without users. As slow for a wrong name as for a wrong
    /// password.
    pub fn accepts(&self, name: &str, password: &str) -> bool {
        self.is_empty() || self.verifier(name.as_bytes()).accepts(password)
    }
}

/// Random bytes from the system.
pub(crate) fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    rand::rng().fill_bytes(&mut bytes);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_names_and_passwords() {
        let mut users = Users::none();
        assert!(users.accepts("anybody", ""));
        users.add("ada", "pencil");
        let stored = Verifier::from_password("secret", b"0123456789abcdef", 4096).to_string();
        users.add("bob", &stored);
        assert!(users.accepts("ada", "pencil"));
        assert!(users.accepts("bob", "secret"));
        for (name, password) in [("ada", "secret"), ("bob", &stored), ("eve", ""), ("", "")] {
            assert!(!users.accepts(name, password), "{name}");
        }
    }

    #[test]
    fn an_unknown_name_gets_the_same_salt_each_time() {
        let mut users = Users::none();
        users.add("ada", "pencil");
        assert_eq!(users.verifier(b"eve"), users.verifier(b"eve"));
        assert_ne!(users.verifier(b"eve"), users.verifier(b"mallory"));
    }
}
