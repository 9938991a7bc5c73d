//! The one door through which the GIL is released while a blocking pump waits.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use pyo3::prelude::*;
use rowferry_client::{Error, Pump};
use rowferry_wire::Core;

/// A pump whose waits let other Python threads run and notice signals.
pub struct GilPump<C> {
    pump: Pump<C>,
    /// What a signal handler raised while the pump waited.
    raised: Arc<Mutex<Option<PyErr>>>,
    /// When waits shall end.
    deadline: Arc<Mutex<Option<Instant>>>,
}

/// Why a wait ended without bytes.
pub enum WaitError {
    /// The transport failed.
    Transport(Error),
    /// A signal handler raised, as Ctrl-C does.
    Raised(PyErr),
}

/// When the waits of a pump shall end.
pub struct Deadline(Arc<Mutex<Option<Instant>>>);

impl Deadline {
    /// Ends the wait under way, within half a second, and every later one.
    pub fn pass(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }
}

impl<C: Core + Send> GilPump<C> {
    /// Watches signals during the waits of `pump`.
    pub fn new(mut pump: Pump<C>) -> Self {
        let raised = Arc::<Mutex<Option<PyErr>>>::default();
        let slot = raised.clone();
        let deadline = Arc::<Mutex<Option<Instant>>>::default();
        let until = deadline.clone();
        pump.set_keep_waiting(Box::new(move || {
            Python::attach(|py| match py.check_signals() {
                Ok(()) => !has_passed(&until),
                Err(error) => {
                    *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                    false
                }
            })
        }));
        Self { pump, raised, deadline }
    }

    /// Waits that last beyond this end with [`Error::Interrupted`]; `None` waits as long as the time-outs let.
    pub fn set_deadline(&mut self, deadline: Option<Instant>) {
        *self.deadline.lock().unwrap_or_else(PoisonError::into_inner) = deadline;
    }

    /// The deadline, for another thread to set while this one waits.
    pub fn deadline(&self) -> Deadline {
        Deadline(self.deadline.clone())
    }

    /// True once the deadline has passed.
    pub fn is_overdue(&self) -> bool {
        has_passed(&self.deadline)
    }

    /// The pump, to command its core.
    pub fn pump(&mut self) -> &mut Pump<C> {
        &mut self.pump
    }

    /// The core, to command and to poll.
    pub fn core(&mut self) -> &mut C {
        self.pump.core_mut()
    }

    /// Writes what waits and waits for bytes, with the GIL released.
    pub fn advance(&mut self, py: Python<'_>) -> Result<(), WaitError> {
        self.detached(py, Pump::advance)
    }

    /// Writes what waits, with the GIL released.
    pub fn flush(&mut self, py: Python<'_>) -> Result<(), WaitError> {
        self.detached(py, |pump| pump.flush().map(drop))
    }

    /// As [`Pump::flush_last`], with the GIL released.
    pub fn flush_last(&mut self, py: Python<'_>) -> Result<(), WaitError> {
        self.detached(py, Pump::flush_last)
    }

    fn detached(
        &mut self,
        py: Python<'_>,
        work: impl FnOnce(&mut Pump<C>) -> Result<(), Error> + Send,
    ) -> Result<(), WaitError> {
        let pump = &mut self.pump;
        py.detach(|| work(pump)).map_err(|error| {
            match (error, self.raised.lock().unwrap_or_else(PoisonError::into_inner).take()) {
                (Error::Interrupted, Some(raised)) => WaitError::Raised(raised),
                (error, _) => WaitError::Transport(error),
            }
        })
    }
}

fn has_passed(deadline: &Mutex<Option<Instant>>) -> bool {
    deadline.lock().unwrap_or_else(PoisonError::into_inner).is_some_and(|deadline| Instant::now() >= deadline)
}
