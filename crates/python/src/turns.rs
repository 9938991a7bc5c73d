//! One thread at a time has a connection; the others wait for their turn.

use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use pyo3::prelude::*;

/// How long a thread waits before it looks for signals.
const SLICE: Duration = Duration::from_millis(50);

/// What the threads share.
pub struct Turns<T> {
    inner: Mutex<T>,
    /// The thread whose turn it is, 0 when nobody's.
    owner: AtomicUsize,
}

/// The turn of this thread, which ends with it.
pub struct Turn<'a, T> {
    guard: MutexGuard<'a, T>,
    owner: &'a AtomicUsize,
}

/// A number of the calling thread that no other thread has meanwhile.
fn this_thread() -> usize {
    thread_local!(static MARK: u8 = const { 0 });
    MARK.with(|mark| std::ptr::from_ref(mark).addr())
}

impl<T: Send> Turns<T> {
    pub const fn new(inner: T) -> Self {
        Self { inner: Mutex::new(inner), owner: AtomicUsize::new(0) }
    }

    fn begin<'a>(&'a self, guard: MutexGuard<'a, T>) -> Turn<'a, T> {
        self.owner.store(this_thread(), Ordering::Relaxed);
        Turn { guard, owner: &self.owner }
    }

    /// The turn, when nobody has it.
    pub fn try_take(&self) -> Option<Turn<'_, T>> {
        self.inner.try_lock().map(|guard| self.begin(guard))
    }

    /// Waits for the turn with the GIL released. `None` when this very thread has it: it would wait for ever.
    pub fn take(&self, py: Python<'_>) -> PyResult<Option<Turn<'_, T>>> {
        loop {
            if let Some(turn) = self.try_take() {
                return Ok(Some(turn));
            }
            if self.owner.load(Ordering::Relaxed) == this_thread() {
                return Ok(None);
            }
            // The lock is given back at once: guards do not cross the GIL's release. Whoever is first then has the turn.
            py.detach(|| drop(self.inner.try_lock_for(SLICE)));
            py.check_signals()?;
        }
    }
}

impl<T> Deref for Turn<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.guard
    }
}

impl<T> DerefMut for Turn<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.guard
    }
}

impl<T> Drop for Turn<'_, T> {
    fn drop(&mut self) {
        self.owner.store(0, Ordering::Relaxed);
    }
}
