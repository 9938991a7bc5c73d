//! How long operations may take: timers for event loops, deadlines for threads.

use std::time::{Duration, Instant};

use pyo3::intern;
use pyo3::prelude::*;

/// The time-outs of a connection. `None` waits for ever.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    /// How long the server may say nothing while an answer is awaited.
    pub read: Option<Duration>,
    /// How long the server may take nothing of what is sent.
    pub write: Option<Duration>,
    /// How long an operation may take as a whole before it is ended on the server.
    pub query: Option<Duration>,
    /// How long a blocking operation may take as a whole before the connection is given up.
    pub whole: Option<Duration>,
}

/// The timers of an event loop that bound the operation under way.
#[derive(Debug, Default)]
pub struct Timers {
    read: Option<Py<PyAny>>,
    query: Option<Py<PyAny>>,
    /// When the server was heard last, or the operation began.
    heard: Option<Instant>,
}

impl Timers {
    /// An operation begins. `wire.timed_out` is called when the server may be silent for too long, `wire.overdue` when
    /// the whole takes too long.
    pub fn begin(&mut self, event_loop: &Bound<'_, PyAny>, wire: &Bound<'_, PyAny>, limits: Limits) -> PyResult<()> {
        let py = event_loop.py();
        if let Some(limit) = limits.read {
            self.heard = Some(Instant::now());
            self.read = Some(call_later(event_loop, limit, wire.getattr(intern!(py, "timed_out"))?)?);
        }
        if let Some(limit) = limits.query {
            self.query = Some(call_later(event_loop, limit, wire.getattr(intern!(py, "overdue"))?)?);
        }
        Ok(())
    }

    /// Bytes have moved.
    pub fn hear(&mut self) {
        if self.read.is_some() {
            self.heard = Some(Instant::now());
        }
    }

    /// The read timer has rung: true when the server was silent for all of the limit, else it is set anew.
    pub fn is_silent(
        &mut self,
        event_loop: &Bound<'_, PyAny>,
        wire: &Bound<'_, PyAny>,
        limit: Duration,
    ) -> PyResult<bool> {
        self.read = None;
        let left = limit.saturating_sub(self.heard.map_or(limit, |heard| heard.elapsed()));
        // Loops ring up to their clock's resolution early.
        if left < Duration::from_millis(1) {
            return Ok(true);
        }
        self.read = Some(call_later(event_loop, left, wire.getattr(intern!(wire.py(), "timed_out"))?)?);
        Ok(false)
    }

    /// The operation is over.
    pub fn end(&mut self, py: Python<'_>) -> PyResult<()> {
        for timer in [self.read.take(), self.query.take()].into_iter().flatten() {
            timer.call_method0(py, intern!(py, "cancel"))?;
        }
        Ok(())
    }
}

/// Has the loop call `callback`.
fn call_later(event_loop: &Bound<'_, PyAny>, after: Duration, callback: Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
    let name = intern!(event_loop.py(), "call_later");
    Ok(event_loop.call_method1(name, (after.as_secs_f64(), callback))?.unbind())
}
