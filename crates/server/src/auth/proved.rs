//! Passwords in the clear that have been right: to look at one takes thousands of rounds of a hash, which is meant for who
//! finds the hashes, not for who connects a hundred times a second.
//!
//! What is kept is kept in memory alone, under a secret of the process: a keyed hash of verifier and password. With another
//! password the verifier is another, so that nothing has to be forgotten.

use std::collections::HashSet;
use std::sync::LazyLock;

use parking_lot::Mutex;
use rowferry_wire_pg::scram::Verifier;

use super::random;

/// So many are kept; with more all are looked at anew.
const MOST: usize = 4_096;

/// What is kept, and the secret under which it is.
struct Proved {
    secret: [u8; 32],
    known: Mutex<HashSet<[u8; 32]>>,
}

static PROVED: LazyLock<Proved> = LazyLock::new(|| Proved { secret: random(), known: Mutex::default() });

/// Whether a password is the one of a verifier.
pub(super) fn accepts(verifier: &Verifier, password: &str) -> bool {
    PROVED.accepts(verifier, password)
}

impl Proved {
    fn accepts(&self, verifier: &Verifier, password: &str) -> bool {
        let remembered = verifier.remembered(password, &self.secret);
        if self.known.lock().contains(&remembered) {
            return true;
        }
        let right = verifier.accepts(password);
        if right {
            let mut known = self.known.lock();
            if known.len() >= MOST {
                known.clear();
            }
            known.insert(remembered);
        }
        right
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_right_is_known_again_and_nothing_else() {
        let proved = Proved { secret: [7; 32], known: Mutex::default() };
        let ada = Verifier::from_password("pencil", b"0123456789abcdef", 4_096);
        let bob = Verifier::from_password("pencil", b"fedcba9876543210", 4_096);
        for _ in 0..2 {
            assert!(!proved.accepts(&ada, "Pencil"));
            assert!(proved.accepts(&ada, "pencil"));
        }
        assert_eq!(proved.known.lock().len(), 1);
        assert!(proved.accepts(&bob, "pencil"));
        assert_eq!(proved.known.lock().len(), 2);
        let other = Verifier::from_password("pen", b"0123456789abcdef", 4_096);
        assert!(!proved.accepts(&other, "pencil"));
    }
}
