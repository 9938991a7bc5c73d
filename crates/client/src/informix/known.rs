//! Servers that take all that sets a session up together with the login: who connects to one again saves a round trip.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::Address;

/// How long it is believed that the same server is still there.
const BELIEVED: Duration = Duration::from_secs(5);
/// How many are remembered.
const MOST: usize = 64;

/// Where, and whose session of which database.
type Key = (Address, Vec<u8>, Vec<u8>, Option<Vec<u8>>);

static KNOWN: LazyLock<Mutex<HashMap<Key, Instant>>> = LazyLock::new(Mutex::default);

/// A session that is to be opened, as it is remembered.
#[derive(Clone, Debug)]
pub struct Known(Key);

impl Known {
    /// Of a session at an address.
    pub fn of(address: Address, user: &[u8], server: &[u8], database: Option<&[u8]>) -> Self {
        Self((address, user.to_vec(), server.to_vec(), database.map(<[u8]>::to_vec)))
    }

    /// True when such a session was opened a moment ago, and the server said that it takes groups ahead.
    pub fn takes_groups_ahead(&self) -> bool {
        let known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(&self.0).is_some_and(|when| when.elapsed() < BELIEVED)
    }

    /// Such a session was opened.
    pub fn opened(&self, takes_groups_ahead: bool) {
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        if !takes_groups_ahead {
            known.remove(&self.0);
            return;
        }
        if known.len() >= MOST {
            known.retain(|_, when| when.elapsed() < BELIEVED);
        }
        if known.len() < MOST {
            known.insert(self.0.clone(), Instant::now());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_opened_is_known_until_it_is_not() {
        let of = |database| Known::of(Address::Tcp("known.example".into(), 1), b"user", b"server", database);
        let known = of(None);
        assert!(!known.takes_groups_ahead());
        known.opened(true);
        assert!(known.takes_groups_ahead());
        assert!(!of(Some(b"other")).takes_groups_ahead());
        known.opened(false);
        assert!(!known.takes_groups_ahead());
    }
}
