//! Cancelling from another thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

const IDLE: u8 = 0;
const RUNNING: u8 = 1;
const CANCELLED: u8 = 2;

/// Stops what a session is doing, from any thread; does nothing while it is idle.
#[derive(Clone, Debug)]
pub struct Interrupter {
    state: Arc<AtomicU8>,
}

impl Interrupter {
    pub(crate) fn new() -> Self {
        Self { state: Arc::new(AtomicU8::new(IDLE)) }
    }

    /// The running statement fails with `57014`; without one nothing happens.
    pub fn interrupt(&self) {
        let _ = self.state.compare_exchange(RUNNING, CANCELLED, Ordering::AcqRel, Ordering::Acquire);
    }
}
