//! The queue of writers.
//!
//! SQLite has one writer at a time and answers everybody else with SQLITE_BUSY, first come or not. Inside one server
//! the sessions queue here instead: strictly in the order in which they came, each until its lock time-out.
//!
//! There is no deadlock by construction. This is the only lock that a session waits for while it holds anything: the
//! one that holds it waits for nobody in the server (readers never block in WAL mode, SQLite's own lock can only be
//! held outside, and is waited for with a time-out), and a session asks for it only when it does not hold it already.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use rowferry_dialect::{Condition, Error, Result};

use crate::interrupt::{Interrupter, Wake};

/// The queue of one database.
#[derive(Debug, Default)]
pub struct WriterQueue {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    taken: bool,
    waiting: VecDeque<Arc<Waiter>>,
}

#[derive(Debug)]
struct Waiter {
    granted: AtomicBool,
    interrupter: Interrupter,
}

/// The right to write; gives it to the next in the queue when dropped.
#[derive(Debug)]
pub struct Permit {
    queue: Arc<WriterQueue>,
}

impl WriterQueue {
    /// Waits for its turn; a zero `timeout` waits for ever.
    ///
    /// # Errors
    /// `55P03` after `timeout`; `57014` when the statement is cancelled meanwhile.
    pub fn acquire(self: &Arc<Self>, timeout: Duration, interrupter: &Interrupter) -> Result<Permit> {
        let waiter = {
            let mut state = self.state.lock();
            if !state.taken {
                state.taken = true;
                return Ok(Permit { queue: self.clone() });
            }
            let waiter = Arc::new(Waiter { granted: AtomicBool::new(false), interrupter: interrupter.clone() });
            state.waiting.push_back(waiter.clone());
            waiter
        };
        let timeout = (!timeout.is_zero()).then_some(timeout);
        let wake = interrupter.wait(timeout, || waiter.granted.load(Ordering::Acquire));
        let mut state = self.state.lock();
        // The grant may have come between the wake-up and here: then it is ours to keep or to hand on.
        if waiter.granted.load(Ordering::Acquire) {
            drop(state);
            let permit = Permit { queue: self.clone() };
            return if wake == Wake::Stopped { Err(interrupter.error()) } else { Ok(permit) };
        }
        state.waiting.retain(|other| !Arc::ptr_eq(other, &waiter));
        Err(match wake {
            Wake::Stopped => interrupter.error(),
            _ => lock_timeout(),
        })
    }

    /// How many sessions wait.
    pub fn waiting(&self) -> usize {
        self.state.lock().waiting.len()
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut state = self.queue.state.lock();
        match state.waiting.pop_front() {
            Some(next) => {
                next.granted.store(true, Ordering::Release);
                drop(state);
                next.interrupter.wake();
            }
            None => state.taken = false,
        }
    }
}

/// The write lock did not come in time.
pub fn lock_timeout() -> Error {
    Error::new(Condition::LockNotAvailable, "canceling statement due to lock timeout")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn armed() -> Interrupter {
        let interrupter = Interrupter::new(crate::memory::UNLIMITED);
        interrupter.arm(Duration::ZERO);
        interrupter
    }

    #[test]
    fn turns_come_in_order() {
        let queue = Arc::new(WriterQueue::default());
        let first = queue.acquire(Duration::ZERO, &armed()).unwrap();
        let order = Arc::new(Mutex::new(Vec::new()));
        let mut threads = Vec::new();
        for number in 0..8 {
            let (queue, order) = (queue.clone(), order.clone());
            let before = queue.waiting();
            let waiting = queue.clone();
            threads.push(std::thread::spawn(move || {
                let permit = queue.acquire(Duration::ZERO, &armed()).unwrap();
                order.lock().push(number);
                drop(permit);
            }));
            while waiting.waiting() == before {
                std::thread::yield_now();
            }
        }
        drop(first);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(*order.lock(), (0..8).collect::<Vec<_>>());
    }

    #[test]
    fn a_wait_ends_with_its_time_or_a_cancel() {
        let queue = Arc::new(WriterQueue::default());
        let _held = queue.acquire(Duration::ZERO, &armed()).unwrap();
        let error = queue.acquire(Duration::from_millis(5), &armed()).unwrap_err();
        assert_eq!(error.condition(), Condition::LockNotAvailable);
        let interrupter = armed();
        let other = interrupter.clone();
        let thread = {
            let queue = queue.clone();
            std::thread::spawn(move || queue.acquire(Duration::ZERO, &other).unwrap_err())
        };
        while queue.waiting() == 0 {
            std::thread::yield_now();
        }
        interrupter.interrupt();
        assert_eq!(thread.join().unwrap().condition(), Condition::QueryCanceled);
        assert_eq!(queue.waiting(), 0);
    }
}
