//! Snapshots that one session lets others read: `pg_export_snapshot`, SET TRANSACTION SNAPSHOT.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use parking_lot::Mutex;

use crate::backend::FileState;

/// A snapshot that a transaction has exported.
#[derive(Debug)]
pub struct Exported {
    /// What it sees.
    pub state: FileState,
    /// How many transactions the server had committed when it was taken.
    pub commits: u64,
    /// The transaction is SERIALIZABLE.
    pub serializable: bool,
    /// It is READ ONLY.
    pub read_only: bool,
}

/// The snapshots of a database that can be imported.
#[derive(Debug, Default)]
pub struct Registry {
    next: AtomicU32,
    known: Mutex<HashMap<String, Arc<Exported>>>,
}

impl Registry {
    /// Lets others import a snapshot as long as the offer stands.
    pub fn offer(self: &Arc<Self>, pid: u32, exported: Exported) -> Offer {
        let number = self.next.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
        let name = format!("{pid:08X}-{number:08X}-1");
        self.known.lock().insert(name.clone(), Arc::new(exported));
        Offer { registry: self.clone(), name }
    }

    /// The snapshot of a name.
    pub fn find(&self, name: &str) -> Option<Arc<Exported>> {
        self.known.lock().get(name).cloned()
    }
}

/// A snapshot can be imported until this is dropped.
#[derive(Debug)]
pub struct Offer {
    registry: Arc<Registry>,
    /// The name by which it is imported.
    pub name: String,
}

impl Drop for Offer {
    fn drop(&mut self) {
        self.registry.known.lock().remove(&self.name);
    }
}
