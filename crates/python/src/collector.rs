//! Python's garbage collector, kept from running while many objects are made at once.
//!
//! It runs by the number of new containers. Rows cannot be part of a cycle, so all that it would do during a batch of
//! them is to look at everything else again and again.

use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::ffi;
use pyo3::prelude::*;

/// Whether one thread at a time runs: the switch of the collector is the interpreter's, and other threads must not see
/// it off.
static HAS_GIL: AtomicBool = AtomicBool::new(false);

/// Must be called once before the collector is paused.
pub fn import(py: Python<'_>) -> PyResult<()> {
    let sys = py.import("sys")?;
    let enabled = match sys.getattr_opt("_is_gil_enabled")? {
        Some(enabled) => enabled.call0()?.is_truthy()?,
        None => true,
    };
    HAS_GIL.store(enabled, Ordering::Relaxed);
    Ok(())
}

/// No collection while this lives. Whoever makes one must not release the GIL before it is dropped, nor run Python code.
pub struct Pause {
    was_enabled: c_int,
}

impl Pause {
    /// Turns the collector off if it is on.
    pub fn new(_: Python<'_>) -> Self {
        // SAFETY: the GIL is held, as the token says.
        let was_enabled = if HAS_GIL.load(Ordering::Relaxed) { unsafe { ffi::PyGC_Disable() } } else { 0 };
        Self { was_enabled }
    }
}

impl Drop for Pause {
    fn drop(&mut self) {
        if self.was_enabled != 0 {
            // SAFETY: the GIL is still held.
            unsafe { ffi::PyGC_Enable() };
        }
    }
}
