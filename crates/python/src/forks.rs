//! Whose process a connection is of. A socket that a fork has doubled belongs to the parent: whatever the child said on
//! it, or took out of an event loop's selector, would be the parent's.

use std::sync::atomic::{AtomicU32, Ordering};

use pyo3::prelude::*;

/// How often this process came out of a fork.
static FORKS: AtomicU32 = AtomicU32::new(0);

/// The process that something was made in.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Process(u32);

impl Process {
    /// The running one.
    pub fn current() -> Self {
        Self(FORKS.load(Ordering::Relaxed))
    }

    /// True in the process that made it, false in those that were forked since.
    pub fn is_this(self) -> bool {
        self == Self::current()
    }
}

/// Called by Python in each new child.
#[pyfunction]
fn forked() {
    FORKS.fetch_add(1, Ordering::Relaxed);
    crate::direct::forget_the_parents();
}

/// Has Python tell of forks.
pub fn watch(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let os = module.py().import("os")?;
    // Absent where there is no fork.
    if let Ok(register) = os.getattr("register_at_fork") {
        let arguments = pyo3::types::PyDict::new(module.py());
        arguments.set_item("after_in_child", wrap_pyfunction!(forked, module)?)?;
        register.call((), Some(&arguments))?;
    }
    Ok(())
}
