//! Cancel requests: they come over connections of their own and name a session by number and secret.

use std::collections::HashMap;

use parking_lot::Mutex;
use rowferry_engine::Interrupter;

/// The sessions that can be asked to stop their statement.
#[derive(Debug, Default)]
pub(super) struct CancelKeys {
    sessions: Mutex<HashMap<u32, Entry>>,
}

struct Entry {
    key: Vec<u8>,
    interrupter: Interrupter,
}

impl std::fmt::Debug for Entry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Entry")
    }
}

/// A session's place in [`CancelKeys`]; it is given up when this is dropped.
#[derive(Debug)]
pub(super) struct Registration<'a> {
    keys: &'a CancelKeys,
    process: u32,
}

impl CancelKeys {
    pub(super) fn register(&self, process: u32, key: Vec<u8>, interrupter: Interrupter) -> Registration<'_> {
        self.sessions.lock().insert(process, Entry { key, interrupter });
        Registration { keys: self, process }
    }

    /// Interrupts the session `process` if `key` is its secret. False when there is no such session or secret.
    pub(super) fn cancel(&self, process: u32, key: &[u8]) -> bool {
        let sessions = self.sessions.lock();
        match sessions.get(&process) {
            Some(entry) if equal(&entry.key, key) => {
                entry.interrupter.interrupt();
                true
            }
            _ => false,
        }
    }
}

impl Drop for Registration<'_> {
    fn drop(&mut self) {
        self.keys.sessions.lock().remove(&self.process);
    }
}

/// Compares secrets in a time that does not tell how much of them is right.
fn equal(left: &[u8], right: &[u8]) -> bool {
    left.len() == right.len() && left.iter().zip(right).fold(0, |difference, (a, b)| difference | (a ^ b)) == 0
}
