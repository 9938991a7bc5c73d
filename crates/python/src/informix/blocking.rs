use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use pyo3::prelude::*;
use rowferry_client::{Error, Handle, Opening, Pump, Stream};
use rowferry_wire_sqli::URGENT_INTERRUPT;
use rowferry_wire_sqli::client::{Client, CursorOptions};

use super::commands::with_commands;
use super::driver::{Discarded, Driver, broken, busy, closed, transport_error};
use super::result::QueryResult;
use super::settings::SettingsRead;
use crate::errors::{Class, error};
use crate::gil::{GilPump, WaitError};
use crate::pump::Conversation as _;
use crate::pump::blocking::{Halt, Line};
use crate::turns::{Turn, Turns};

/// A connection whose operations block the calling thread; other threads run meanwhile.
#[pyclass(frozen, module = "rowferry._core.informix")]
pub struct Wire {
    line: Turns<Line<Driver>>,
    settings: SettingsRead,
    discarded: Discarded,
    /// A second handle on the socket, to interrupt a statement from another thread.
    socket: Mutex<Option<Handle>>,
}

impl Wire {
    /// Waits while another thread has the connection; refuses when this one has it, as in a `Row` factory.
    fn lock(&self, py: Python<'_>) -> PyResult<Turn<'_, Line<Driver>>> {
        self.line.take(py)?.ok_or_else(|| busy(py))
    }

    /// Starts an operation and moves bytes until it is over.
    fn run(
        slf: &Bound<'_, Self>,
        start: impl FnOnce(Python<'_>, &mut Driver, &mut Client) -> PyResult<()>,
    ) -> PyResult<Py<PyAny>> {
        let (this, py) = (slf.get(), slf.py());
        let mut line = this.lock(py)?;
        line.begin(py, |py, driver, client| {
            this.discarded.close(client);
            start(py, driver, client)
        })?;
        let outcome = this.drive(py, &mut line);
        line.settle();
        if line.pump.is_none() {
            *this.socket.lock().unwrap_or_else(PoisonError::into_inner) = None;
        }
        outcome
    }

    fn drive(&self, py: Python<'_>, line: &mut Line<Driver>) -> PyResult<Py<PyAny>> {
        let failure = match line.drive(py, &self.settings) {
            Ok(outcome) => return Ok(outcome),
            Err(Halt::Refused(refused)) => return Err(refused),
            Err(Halt::Stuck(failure)) => failure,
        };
        // What the server had said before it closed may be why.
        let meant = match &failure {
            WaitError::Transport(Error::Closed) => line.core().and_then(|client| client.means_closed()),
            _ => None,
        };
        line.give_up(py);
        if let Some(meant) = meant {
            return Err(broken(py, &meant));
        }
        // Who waited for as long as there was time has none left for another attempt.
        line.driver.shared.displaced &= matches!(failure, WaitError::Transport(Error::Closed | Error::Io(..)));
        Err(match failure {
            WaitError::Raised(raised) => raised,
            WaitError::Transport(failure) => transport_error(py, &failure, None),
        })
    }

    /// From the end of the login on the time-outs are those of statements.
    fn entered(&self, py: Python<'_>, outcome: Py<PyAny>) -> PyResult<Py<PyAny>> {
        if outcome.is_none(py)
            && let Some(pump) = &mut self.lock(py)?.pump
        {
            let set = pump.pump().stream_mut().set_timeouts(self.settings.timeouts());
            set.map_err(|cause| {
                let failure = Error::Io(rowferry_client::Waiting::Connect, cause);
                transport_error(py, &failure, None)
            })?;
        }
        Ok(outcome)
    }

    fn session<T>(&self, py: Python<'_>, read: impl FnOnce(&Client) -> T) -> PyResult<T> {
        self.lock(py)?.core().map(|client| read(client)).ok_or_else(|| closed(py))
    }

    fn displaced(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.lock(py)?.driver.shared.displaced)
    }
}

with_commands! { Wire:
    #[new]
    fn new(settings: &Bound<'_, PyAny>) -> PyResult<Self> {
        let settings = SettingsRead::of(settings)?;
        let line = Turns::new(Line::new(settings.driver()?));
        Ok(Self { line, settings, discarded: Discarded::default(), socket: Mutex::new(None) })
    }

    /// Opens the socket and logs in. Answers None, where the server sends us instead, or a question of PAM: its style and
    /// text, for `answer`.
    fn login(slf: &Bound<'_, Self>) -> PyResult<Py<PyAny>> {
        let (this, py) = (slf.get(), slf.py());
        let settings = &this.settings;
        let client = Client::new(settings.options())
            .map_err(|misuse| error(py, Class::Interface, None, &misuse.to_string()))?;
        let address = settings.address();
        let place = address.to_string();
        let failed = |failure| transport_error(py, &failure, Some(&place));
        let opening = Opening { bind: None, keepalive: settings.keepalive, speaks_first: true };
        let first = settings.timeouts().of_login();
        let stream = py.detach(|| Stream::connect(&address, first, opening)).map_err(failed)?;
        let second = stream.handle();
        let mut pump = Pump::new(stream, client);
        if let Some(encryption) = Driver::encryption(py, settings)? {
            encryption.start(pump.channel_mut()).map_err(failed)?;
        }
        {
            this.lock(py)?.pump = Some(GilPump::new(pump));
            *this.socket.lock().unwrap_or_else(PoisonError::into_inner) = Some(second);
        }
        let outcome = Self::run(slf, |_, driver, client| {
            driver.login(client);
            Ok(())
        })?;
        this.entered(py, outcome)
    }

    /// Answers a question of PAM, or acknowledges what is none; the outcome is as that of `login`.
    #[pyo3(signature = (answer=None))]
    fn answer(slf: &Bound<'_, Self>, answer: Option<&[u8]>) -> PyResult<Py<PyAny>> {
        let outcome = Self::run(slf, |py, driver, client| driver.answer(py, client, answer))?;
        slf.get().entered(slf.py(), outcome)
    }

    /// Interrupts the statement that another thread waits for; nothing when there is none.
    fn interrupt(&self, py: Python<'_>) -> PyResult<()> {
        // Nobody holds the lock of an idle connection: a late byte would hit the next statement.
        if self.line.try_take().is_some() {
            return Ok(());
        }
        match &*self.socket.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(socket) => socket.send_urgent(URGENT_INTERRUPT).map_err(|cause| {
                let failure = Error::Io(rowferry_client::Waiting::Write, cause);
                transport_error(py, &failure, None)
            }),
            None => Ok(()),
        }
    }

    /// The number by which the system knows the socket, which is open as long as the connection is.
    fn fileno(&self, py: Python<'_>) -> PyResult<i32> {
        let socket = self.socket.lock().unwrap_or_else(PoisonError::into_inner);
        socket.as_ref().map(Handle::descriptor).ok_or_else(|| closed(py))
    }

    /// Says good bye and closes.
    fn quit(&self, py: Python<'_>) -> PyResult<()> {
        let mut line = self.lock(py)?;
        *self.socket.lock().unwrap_or_else(PoisonError::into_inner) = None;
        if let Some(mut pump) = line.pump.take()
            && line.is_ours()
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
        if let Some(socket) = socket.filter(|_| self.line.try_take().is_none()) {
            socket.shutdown();
        }
        self.lock(py)?.pump = None;
        Ok(())
    }

    /// True while the connection can be used.
    #[getter]
    fn is_open(&self) -> bool {
        // A connection in use by another thread is open.
        self.line.try_take().is_none_or(|mut line| line.is_open())
    }

    /// True when the connection can be used as far as the kernel knows: its end may have come while nobody looked.
    #[getter]
    fn is_quiet(&self) -> bool {
        self.line.try_take().is_none_or(|mut line| line.is_quiet())
    }

    /// True while another thread has the connection.
    #[getter]
    fn is_busy(&self) -> bool {
        self.line.try_take().is_none()
    }

    /// From now on an answer is waited for so many seconds, or for ever.
    #[pyo3(signature = (seconds))]
    fn limit_reads(&self, py: Python<'_>, seconds: Option<f64>) -> PyResult<()> {
        let Some(pump) = &mut self.lock(py)?.pump else { return Err(closed(py)) };
        let stream = pump.pump().stream_mut();
        let mut timeouts = stream.timeouts();
        timeouts.read = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        stream.set_timeouts(timeouts).map_err(|cause| {
            let failure = Error::Io(rowferry_client::Waiting::Read, cause);
            transport_error(py, &failure, None)
        })
    }

    /// The TLS version and cipher; None in plain text.
    #[getter]
    fn tls_description(&self, py: Python<'_>) -> PyResult<Option<String>> {
        Ok(self.lock(py)?.pump.as_mut().and_then(|pump| pump.pump().channel().tls_description()))
    }
}
