//! Numbers of transactions: given to those that write or lock, never twice.

use std::collections::{HashSet, VecDeque};
use std::sync::atomic::{AtomicI64, Ordering};

use parking_lot::Mutex;

use super::Owner;

/// Of how many transactions the end is remembered.
const REMEMBERED: i64 = 1_000_000;

/// Transactions in a second that can be numbered before the numbers of a later run of the server would be reached.
const PER_SECOND_BITS: u32 = 16;

/// The counter, and what has become of the last transactions.
#[derive(Debug)]
pub struct Xids {
    first: i64,
    next: AtomicI64,
    aborted: Mutex<Aborted>,
}

#[derive(Debug, Default)]
struct Aborted {
    known: HashSet<i64>,
    order: VecDeque<i64>,
}

/// What has become of a transaction.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum TransactionStatus {
    /// Committed.
    Committed,
    /// Rolled back.
    Aborted,
    /// Too long ago to tell.
    Forgotten,
    /// There has been none of this number.
    Future,
}

impl Default for Xids {
    /// The file has no place for the counter. It begins with the time, so that a later run never repeats the numbers
    /// of an earlier one.
    fn default() -> Self {
        let seconds = crate::session::state::now() / 1_000_000 - 1_577_836_800;
        Self::starting_at(seconds.max(1) << PER_SECOND_BITS)
    }
}

impl Xids {
    fn starting_at(first: i64) -> Self {
        Self { first, next: AtomicI64::new(first), aborted: Mutex::default() }
    }

    /// The number of the owner's transaction, given now if it has none.
    pub fn assign(&self, owner: &Owner) -> i64 {
        if let Some(xid) = owner.xid() {
            return xid;
        }
        let xid = self.next.fetch_add(1, Ordering::AcqRel);
        owner.xid.store(xid, Ordering::Release);
        xid
    }

    /// The number that the next transaction will be given.
    pub fn next(&self) -> i64 {
        self.next.load(Ordering::Acquire)
    }

    pub(super) fn end(&self, owner: &Owner, committed: bool) {
        let xid = owner.xid.swap(0, Ordering::AcqRel);
        if xid != 0 && !committed {
            let mut aborted = self.aborted.lock();
            aborted.known.insert(xid);
            aborted.order.push_back(xid);
            while aborted.order.front().is_some_and(|oldest| *oldest + REMEMBERED < xid) {
                if let Some(oldest) = aborted.order.pop_front() {
                    aborted.known.remove(&oldest);
                }
            }
        }
    }

    /// What has become of a transaction that no session has at hand.
    pub fn status(&self, xid: i64) -> TransactionStatus {
        let next = self.next();
        if xid >= next {
            TransactionStatus::Future
        } else if xid < self.first || xid + REMEMBERED < next {
            TransactionStatus::Forgotten
        } else if self.aborted.lock().known.contains(&xid) {
            TransactionStatus::Aborted
        } else {
            TransactionStatus::Committed
        }
    }
}
