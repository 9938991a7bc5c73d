use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use pyo3::prelude::*;
use rowferry_client::{Handle, Opening, Pump, Stream};
use rowferry_wire_sqli::URGENT_INTERRUPT;
use rowferry_wire_sqli::client::{Client, CursorOptions};

use super::commands::with_commands;
use super::driver::{self, Discarded, Driver, Step, transport_error};
use super::result::QueryResult;
use super::settings::SettingsRead;
use crate::errors::{Class, error};
use crate::gil::{GilPump, WaitError};
use crate::turns::{Turn, Turns};

/// A connection whose operations block the calling thread; other threads run meanwhile.
#[pyclass(frozen, module = "rowferry._core.informix")]
pub struct Wire {
    inner: Turns<Inner>,
    settings: SettingsRead,
    discarded: Discarded,
    /// A second handle on the socket, to interrupt a statement from another thread.
    socket: Mutex<Option<Handle>>,
}

struct Inner {
    pump: Option<GilPump<Client>>,
    driver: Driver,
}

impl Wire {
    /// Waits while another thread has the connection; refuses when this one has it, as in a `Row` factory.
    fn lock(&self, py: Python<'_>) -> PyResult<Turn<'_, Inner>> {
        self.inner.take(py)?.ok_or_else(|| driver::busy(py))
    }

    /// Starts an operation and moves bytes until it is over.
    fn run(&self, py: Python<'_>, start: impl FnOnce(&mut Driver, &mut Client) -> PyResult<()>) -> PyResult<Py<PyAny>> {
        let mut inner = self.lock(py)?;
        let Inner { pump, driver } = &mut *inner;
        let Some(pump) = pump else { return Err(driver::closed(py)) };
        self.discarded.close(pump.core());
        start(driver, pump.core())?;
        let outcome = Self::pump(py, pump, driver);
        if pump.core().is_closed() {
            inner.pump = None;
            *self.socket.lock().unwrap_or_else(PoisonError::into_inner) = None;
        }
        outcome
    }

    fn pump(py: Python<'_>, pump: &mut GilPump<Client>, driver: &mut Driver) -> PyResult<Py<PyAny>> {
        loop {
            let moved = match driver.step(py, pump.core())? {
                Step::Done(outcome) => return Ok(outcome),
                Step::Pending => pump.advance(py),
                Step::Flush => pump.flush(py),
            };
            if let Err(failure) = moved {
                if let WaitError::Transport(rowferry_client::Error::Closed) = failure
                    && let Some(meaning) = pump.core().means_closed()
                {
                    pump.core().disconnect();
                    let _ = driver.step(py, pump.core());
                    return Err(driver::broken(py, &meaning));
                }
                pump.core().disconnect();
                // Lets the driver forget the operation; what it says of the closed core is not the cause.
                let _ = driver.step(py, pump.core());
                // Who waited for as long as there was time has none left for another attempt.
                driver.displaced &= matches!(
                    failure,
                    WaitError::Transport(rowferry_client::Error::Closed | rowferry_client::Error::Io(..))
                );
                return Err(match failure {
                    WaitError::Raised(raised) => raised,
                    WaitError::Transport(failure) => transport_error(py, &failure, None),
                });
            }
        }
    }

    /// From the end of the login on the time-outs are those of statements.
    fn entered(&self, py: Python<'_>, outcome: Py<PyAny>) -> PyResult<Py<PyAny>> {
        if outcome.is_none(py)
            && let Some(pump) = &mut self.lock(py)?.pump
        {
            let set = pump.pump().stream_mut().set_timeouts(self.settings.timeouts());
            set.map_err(|cause| {
                let failure = rowferry_client::Error::Io(rowferry_client::Waiting::Connect, cause);
                transport_error(py, &failure, None)
            })?;
        }
        Ok(outcome)
    }

    fn session<T>(&self, py: Python<'_>, read: impl FnOnce(&Client) -> T) -> PyResult<T> {
        match &mut self.lock(py)?.pump {
            Some(pump) => Ok(read(pump.core())),
            None => Err(driver::closed(py)),
        }
    }
}

with_commands! { Wire:
    #[new]
    fn new(settings: &Bound<'_, PyAny>) -> PyResult<Self> {
        let settings = SettingsRead::of(settings)?;
        let driver = settings.driver()?;
        let inner = Turns::new(Inner { pump: None, driver });
        Ok(Self { inner, settings, discarded: Discarded::default(), socket: Mutex::new(None) })
    }

    /// Opens the socket and logs in. Answers None, where the server sends us instead, or a question of PAM: its style and
    /// text, for `answer`.
    fn login(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let (address, timeouts) = (self.settings.address(), self.settings.timeouts());
        let client = Client::new(self.settings.options())
            .map_err(|misuse| error(py, Class::Interface, None, &misuse.to_string()))?;
        // The login is part of connecting.
        let mut first = timeouts;
        first.read = match (timeouts.connect, timeouts.read) {
            (Some(connect), Some(read)) => Some(connect.max(read)),
            (connect, read) => connect.or(read),
        };
        let place = address.to_string();
        let failed = |failure| transport_error(py, &failure, Some(&place));
        let opening = Opening { bind: None, keepalive: self.settings.keepalive, speaks_first: true };
        let stream = py.detach(|| Stream::connect(&address, first, opening)).map_err(failed)?;
        let second = stream.handle();
        let mut pump = Pump::new(stream, client);
        if let Some(tls) = self.settings.tls(py)? {
            let started =
                tls.config(&address).and_then(|config| pump.channel_mut().start_tls(config, self.settings.tls_name()));
            started.map_err(failed)?;
        }
        {
            self.lock(py)?.pump = Some(GilPump::new(pump));
            *self.socket.lock().unwrap_or_else(PoisonError::into_inner) = Some(second);
        }
        let outcome = self.run(py, |driver, client| {
            driver.login(client);
            Ok(())
        })?;
        self.entered(py, outcome)
    }

    /// Answers a question of PAM, or acknowledges what is none; the outcome is as that of `login`.
    #[pyo3(signature = (answer=None))]
    fn answer(&self, py: Python<'_>, answer: Option<&[u8]>) -> PyResult<Py<PyAny>> {
        let outcome = self.run(py, |driver, client| driver.answer(py, client, answer))?;
        self.entered(py, outcome)
    }

    /// Interrupts the statement that another thread waits for; nothing when there is none.
    fn interrupt(&self, py: Python<'_>) -> PyResult<()> {
        // Nobody holds the lock of an idle connection: a late byte would hit the next statement.
        if self.inner.try_take().is_some() {
            return Ok(());
        }
        match &*self.socket.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(socket) => socket.send_urgent(URGENT_INTERRUPT).map_err(|cause| {
                let failure = rowferry_client::Error::Io(rowferry_client::Waiting::Write, cause);
                transport_error(py, &failure, None)
            }),
            None => Ok(()),
        }
    }

    /// The number by which the system knows the socket, which is open as long as the connection is.
    fn fileno(&self, py: Python<'_>) -> PyResult<i32> {
        let socket = self.socket.lock().unwrap_or_else(PoisonError::into_inner);
        socket.as_ref().map(Handle::descriptor).ok_or_else(|| driver::closed(py))
    }

    /// Says good bye and closes.
    fn quit(&self, py: Python<'_>) -> PyResult<()> {
        let mut inner = self.lock(py)?;
        *self.socket.lock().unwrap_or_else(PoisonError::into_inner) = None;
        if let Some(mut pump) = inner.pump.take()
            && pump.core().exit().is_ok()
        {
            // The peer may have gone first; closed is closed.
            let _ = pump.flush_last(py);
        }
        Ok(())
    }

    /// Closes without a word.
    fn abort(&self, py: Python<'_>) -> PyResult<()> {
        let socket = self.socket.lock().unwrap_or_else(PoisonError::into_inner).take();
        // A thread that waits for an answer wakes, and gives its turn up. Not otherwise: the process may be a fork, whose
        // parent goes on with the same socket.
        if let Some(socket) = socket.filter(|_| self.inner.try_take().is_none()) {
            socket.shutdown();
        }
        self.lock(py)?.pump = None;
        Ok(())
    }

    /// True while the connection can be used.
    #[getter]
    fn is_open(&self) -> bool {
        // A connection in use by another thread is open.
        self.inner.try_take().is_none_or(|mut inner| inner.pump.as_mut().is_some_and(|pump| !pump.core().is_closed()))
    }

    /// False when an idle connection is known to be lost, without asking the server.
    #[getter]
    fn is_alive(&self) -> bool {
        self.inner.try_take().is_none_or(|mut inner| {
            inner.pump.as_mut().is_some_and(|pump| !pump.core().is_closed() && pump.pump().stream_mut().is_quiet())
        })
    }

    /// True while another thread has the connection.
    #[getter]
    fn is_busy(&self) -> bool {
        self.inner.try_take().is_none()
    }

    /// From now on an answer is waited for so many seconds, or for ever.
    #[pyo3(signature = (seconds))]
    fn limit_reads(&self, py: Python<'_>, seconds: Option<f64>) -> PyResult<()> {
        let Some(pump) = &mut self.lock(py)?.pump else { return Err(driver::closed(py)) };
        let stream = pump.pump().stream_mut();
        let mut timeouts = stream.timeouts();
        timeouts.read = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        stream.set_timeouts(timeouts).map_err(|cause| {
            let failure = rowferry_client::Error::Io(rowferry_client::Waiting::Read, cause);
            transport_error(py, &failure, None)
        })
    }

    /// The TLS version and cipher; None in plain text.
    #[getter]
    fn tls_description(&self, py: Python<'_>) -> PyResult<Option<String>> {
        Ok(self.lock(py)?.pump.as_mut().and_then(|pump| pump.pump().channel().tls_description()))
    }
}
