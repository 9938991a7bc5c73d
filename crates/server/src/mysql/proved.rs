//! Passwords that have been proved: what `caching_sha2_password` keeps in memory, so that a scramble is enough next time.

use std::collections::HashMap;

use parking_lot::Mutex;
use rowferry_wire_mysql::messages::auth::{accepts_sha256_scramble, double_sha256};

/// How many users are kept in mind; when there are more, all prove their passwords anew.
const KEPT: usize = 1_000;

/// Of each user what is kept of its password for good, and what tells its scrambles.
#[derive(Default)]
pub(super) struct Proved(Mutex<HashMap<String, (String, [u8; 32])>>);

impl std::fmt::Debug for Proved {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Proved").finish_non_exhaustive()
    }
}

impl Proved {
    /// A user has proved a password of which `identity` is kept.
    pub(super) fn keep(&self, user: &str, identity: String, password: &str) {
        let mut kept = self.0.lock();
        if kept.len() >= KEPT && !kept.contains_key(user) {
            kept.clear();
        }
        kept.insert(user.to_owned(), (identity, double_sha256(password.as_bytes())));
    }

    /// Whether a scramble is that of the password which the user has proved, and still has; `None` where it has not.
    pub(super) fn accepts(&self, user: &str, identity: &str, nonce: &[u8], scramble: &[u8]) -> Option<bool> {
        let kept = self.0.lock();
        let (_, double) = kept.get(user).filter(|(known, _)| known == identity)?;
        Some(accepts_sha256_scramble(double, nonce, scramble))
    }
}

#[cfg(test)]
mod tests {
    use rowferry_wire_mysql::messages::auth::scramble_sha256;

    use super::*;

    #[test]
    fn a_scramble_is_enough_until_the_password_is_another() {
        let (proved, nonce) = (Proved::default(), b"01234567890123456789");
        let scramble = scramble_sha256(b"secret", nonce);
        assert_eq!(proved.accepts("ada", "v1", nonce, &scramble), None);
        proved.keep("ada", "v1".to_owned(), "secret");
        assert_eq!(proved.accepts("ada", "v1", nonce, &scramble), Some(true));
        assert_eq!(proved.accepts("ada", "v1", nonce, &scramble_sha256(b"Secret", nonce)), Some(false));
        assert_eq!(proved.accepts("ada", "v2", nonce, &scramble), None);
        assert_eq!(proved.accepts("bob", "v1", nonce, &scramble), None);
    }

    #[test]
    fn memory_is_bounded() {
        let proved = Proved::default();
        (0..KEPT * 2).for_each(|at| proved.keep(&at.to_string(), String::new(), "x"));
        assert!(proved.0.lock().len() <= KEPT);
    }
}
