use pyo3::prelude::*;
use rowferry_client::Error;

use super::{Conversation, Step};
use crate::forks::Process;
use crate::gil::{GilPump, WaitError};

/// A conversation and the socket that it is held over, with a thread that waits for it.
pub struct Line<D: Conversation> {
    /// `None` before the login, and once the connection is closed or lost.
    pub pump: Option<GilPump<D::Client>>,
    /// The half without colour.
    pub driver: D,
    process: Process,
}

/// Why an operation ended without an outcome.
pub enum Halt {
    /// The conversation says so; the operation is over.
    Refused(PyErr),
    /// No more bytes could be moved; the operation is still under way.
    Stuck(WaitError),
}

impl<D: Conversation> Line<D> {
    /// Nothing is connected yet.
    pub fn new(driver: D) -> Self {
        Self { pump: None, driver, process: Process::current() }
    }

    /// True in the process that made the connection, false in those that were forked since: there it is the parent's.
    pub fn is_ours(&self) -> bool {
        self.process.is_this()
    }

    /// The core, while there is a connection.
    pub fn core(&mut self) -> Option<&mut D::Client> {
        self.pump.as_mut().map(GilPump::core)
    }

    /// Commands the core to begin an operation.
    ///
    /// # Errors
    /// The operation's own, and that of a connection that is closed or another process's.
    pub fn begin(
        &mut self,
        py: Python<'_>,
        start: impl FnOnce(Python<'_>, &mut D, &mut D::Client) -> PyResult<()>,
    ) -> PyResult<()> {
        if !self.is_ours() {
            return Err(D::forked(py));
        }
        match &mut self.pump {
            Some(pump) => start(py, &mut self.driver, pump.core()),
            None => Err(D::closed(py)),
        }
    }

    /// Moves bytes until the operation is over, or its deadline has passed.
    ///
    /// # Errors
    /// See [`Halt`].
    pub fn drive(&mut self, py: Python<'_>, settings: &D::Settings) -> Result<Py<PyAny>, Halt> {
        let Some(pump) = &mut self.pump else { return Err(Halt::Refused(D::closed(py))) };
        loop {
            let moved = match self.driver.step(py, pump.core()).map_err(Halt::Refused)? {
                Step::Done(outcome) => return Ok(outcome),
                // Of an answer without end, no wait is ever too long.
                Step::Pending | Step::Flush if pump.is_overdue() => Err(WaitError::Transport(Error::Interrupted)),
                Step::Pending => pump.advance(py),
                Step::Flush => pump.flush(py),
                Step::StartTls => {
                    let encryption = D::encryption(py, settings).map_err(Halt::Refused)?;
                    let started = pump.flush(py).and_then(|()| {
                        let channel = pump.pump().channel_mut();
                        let started = encryption.map_or(Ok(()), |encryption| encryption.start(channel));
                        started.map_err(WaitError::Transport)
                    });
                    D::tls_started(pump.core());
                    started
                }
            };
            moved.map_err(Halt::Stuck)?;
        }
    }

    /// Closes the core and has the driver forget what was under way.
    pub fn give_up(&mut self, py: Python<'_>) {
        if let Some(pump) = &mut self.pump {
            D::give_up(pump.core());
            // What the driver says of the closed core is not the cause.
            let _ = self.driver.step(py, pump.core());
        }
    }

    /// Lets go of a connection that the last operation has lost.
    pub fn settle(&mut self) {
        if self.core().is_some_and(|client| D::is_closed(client)) {
            self.pump = None;
        }
    }

    /// True while the connection can be used.
    pub fn is_open(&mut self) -> bool {
        self.is_ours() && self.core().is_some_and(|client| !D::is_closed(client))
    }

    /// True when the connection can be used as far as the kernel knows: its end may have come while nobody looked.
    pub fn is_quiet(&mut self) -> bool {
        self.is_open() && self.pump.as_mut().is_some_and(|pump| pump.pump().stream_mut().is_quiet())
    }
}
