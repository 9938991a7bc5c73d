//! Groups that wait to be read, by numbers. They are gone with the value that holds their number, whatever becomes of the
//! statement; who reads them keeps them for as long. A number that is none of these finds nothing.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};

use parking_lot::Mutex;

use super::groups::Finished;

static KEPT: LazyLock<Mutex<HashMap<u64, Arc<Finished>>>> = LazyLock::new(Mutex::default);
static NEXT: AtomicU64 = AtomicU64::new(1);

/// Keeps groups under a number that none had before.
pub(super) fn keep(groups: Finished) -> u64 {
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    KEPT.lock().insert(number, Arc::new(groups));
    number
}

/// The groups with a number.
pub(super) fn find(number: u64) -> Option<Arc<Finished>> {
    KEPT.lock().get(&number).cloned()
}

/// Nobody can ask for them any more.
pub(super) fn forget(number: u64) {
    // They are dropped when the lock is free again: there may be many.
    let _gone = KEPT.lock().remove(&number);
}
