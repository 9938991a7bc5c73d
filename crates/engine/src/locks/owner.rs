//! Who holds locks: one for each session.

use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};

use parking_lot::Mutex;
use rowferry_dialect::ir::LockMode;

use crate::interrupt::Interrupter;

/// A session as the lock manager knows it.
#[derive(Debug)]
pub struct Owner {
    /// What `pg_backend_pid()` says.
    pub pid: u32,
    pub(super) interrupter: Interrupter,
    /// Weak table locks of the transaction at hand: see [`super::Locks::weak`].
    pub(super) weak: Mutex<Vec<WeakLock>>,
    /// Tables on which it holds strong locks, as they are counted in [`super::Locks`].
    pub(super) strong: Mutex<Vec<u32>>,
    /// How many of its transaction's locks stand in the table of locks; a transaction without any ends without a look
    /// at it.
    pub(super) held: AtomicUsize,
    /// The transaction's number; 0 while it has none.
    pub(super) xid: AtomicI64,
}

/// A table lock in one of the three modes that do not conflict with each other.
#[derive(Clone, Copy, Debug)]
pub(super) struct WeakLock {
    pub relation: u32,
    pub mode: LockMode,
    /// The table of locks has it, too: somebody has asked for a mode that may conflict.
    pub transferred: bool,
}

/// How much an owner held at some moment: what ROLLBACK TO goes back to.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mark {
    pub(super) weak: usize,
    pub(super) held: u64,
}

impl Owner {
    /// An owner that holds nothing.
    pub fn new(pid: u32, interrupter: Interrupter) -> Self {
        Self {
            pid,
            interrupter,
            weak: Mutex::default(),
            strong: Mutex::default(),
            held: AtomicUsize::new(0),
            xid: AtomicI64::new(0),
        }
    }

    /// True when the transaction holds locks that others can see.
    pub fn holds_transaction_locks(&self) -> bool {
        self.held.load(Ordering::Acquire) > 0
    }

    /// True when there is nothing for the end of a transaction to do.
    pub fn is_clean(&self) -> bool {
        self.xid.load(Ordering::Acquire) == 0 && !self.holds_transaction_locks() && self.weak.lock().is_empty()
    }

    /// The transaction's number, if it has one.
    pub fn xid(&self) -> Option<i64> {
        Some(self.xid.load(Ordering::Acquire)).filter(|xid| *xid != 0)
    }
}
