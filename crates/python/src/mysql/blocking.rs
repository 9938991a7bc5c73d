use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyBytes, PyDict};
use rowferry_client::{Error, Opening, Pump, Stream, Timeouts, Waiting};
use rowferry_wire_mysql::client::Client;
use rowferry_wire_mysql::messages::handshake::capability;

use super::binlog;
use super::commands::with_commands;
use super::driver::{self, Driver, gone, transport_error};
use super::result::{Prepared, StateTuple, state_tuple};
use super::settings::Settings;
use crate::gil::{Deadline, GilPump, WaitError};
use crate::pump::blocking::{Halt, Line};

/// A connection whose operations block the calling thread; other threads run meanwhile.
#[pyclass(frozen, module = "rowferry._core.mysql")]
pub struct Wire {
    line: Mutex<Line<Driver>>,
    settings: Settings,
    /// What `settings` were read from, for a connection beside this one.
    source: Py<PyAny>,
    /// By which another thread ends a wait.
    deadline: Mutex<Option<Deadline>>,
    /// What KILL takes; known also when the connection is lost, and while another thread waits for the server.
    connection_id: AtomicU32,
}

/// What takes too long and is ended gets this long to be over.
const GRACE: Duration = Duration::from_secs(5);

impl Wire {
    fn lock(&self, py: Python<'_>) -> PyResult<MutexGuard<'_, Line<Driver>>> {
        self.line.try_lock().map_err(|_| driver::busy(py))
    }

    /// Starts an operation and moves bytes until it is over.
    fn run(
        slf: &Bound<'_, Self>,
        start: impl FnOnce(Python<'_>, &mut Driver, &mut Client) -> PyResult<()>,
    ) -> PyResult<Py<PyAny>> {
        let (this, py) = (slf.get(), slf.py());
        let limits = this.settings.limits();
        match limits.query {
            Some(limit) => this.run_within(py, Some(limit), start),
            None => this.run_until(py, limits.whole, false, start),
        }
    }

    /// A thread is as patient with anything.
    fn run_patiently(
        slf: &Bound<'_, Self>,
        start: impl FnOnce(Python<'_>, &mut Driver, &mut Client) -> PyResult<()>,
    ) -> PyResult<Py<PyAny>> {
        Self::run(slf, start)
    }

    /// The same; what takes longer than `limit` is ended on the server.
    fn run_within(
        &self,
        py: Python<'_>,
        limit: Option<Duration>,
        start: impl FnOnce(Python<'_>, &mut Driver, &mut Client) -> PyResult<()>,
    ) -> PyResult<Py<PyAny>> {
        self.run_until(py, limit, true, start)
    }

    /// The same; what takes longer is given up unless it `may_end` on the server.
    fn run_until(
        &self,
        py: Python<'_>,
        limit: Option<Duration>,
        may_end: bool,
        start: impl FnOnce(Python<'_>, &mut Driver, &mut Client) -> PyResult<()>,
    ) -> PyResult<Py<PyAny>> {
        let mut line = self.lock(py)?;
        line.begin(py, start)?;
        if let Some(pump) = &mut line.pump {
            pump.set_deadline(limit.map(|limit| Instant::now() + limit));
        }
        let outcome = self.drive(py, &mut line, may_end);
        line.settle();
        outcome
    }

    /// Moves bytes until the operation is over. `may_end`: one that is overdue is ended on the server, not given up.
    fn drive(&self, py: Python<'_>, line: &mut Line<Driver>, may_end: bool) -> PyResult<Py<PyAny>> {
        let failure = match line.drive(py, &self.settings) {
            Ok(outcome) => return Ok(outcome),
            Err(Halt::Refused(refused)) => return Err(refused),
            Err(Halt::Stuck(WaitError::Transport(Error::Interrupted))) if may_end => return Err(self.end(py, line)),
            Err(Halt::Stuck(failure)) => failure,
        };
        line.give_up(py);
        Err(match failure {
            WaitError::Raised(raised) => raised,
            WaitError::Transport(Error::Interrupted) => transport_error(py, &Error::TimedOut(Waiting::Connect), None),
            WaitError::Transport(failure) => transport_error(py, &failure, None),
        })
    }

    /// The operation takes too long: ends it on the server and reads away what still comes. What is not over soon costs
    /// the connection.
    fn end(&self, py: Python<'_>, line: &mut Line<Driver>) -> PyErr {
        static KILL: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        let overdue = driver::overdue(py, self.settings.limits().query);
        let number = line.core().map_or(0, |client| client.session().connection_id);
        line.driver.drain(None);
        let ended = KILL
            .import(py, "rowferry.mysql._cancel", "kill_query")
            .and_then(|kill| kill.call1((&self.source, number)))
            .and_then(|_| {
                if let Some(pump) = &mut line.pump {
                    pump.set_deadline(Some(Instant::now() + GRACE));
                }
                self.drive(py, line, false)
            })
            .and_then(|_| {
                // The kill may have come too late for its statement: then it hits this one.
                line.begin(py, |py, driver, client| driver.discard(py, client, b"DO 0"))?;
                self.drive(py, line, false)
            });
        let Err(failure) = ended else { return overdue };
        line.give_up(py);
        if failure.is_instance_of::<PyException>(py) { overdue } else { failure }
    }

    /// A stream was ended. That is no error as long as the connection stands, or was closed to end it.
    fn ended(py: Python<'_>, line: &mut Line<Driver>, failure: PyErr) -> PyResult<()> {
        line.settle();
        if driver::is_overdue(py, &failure) { Ok(()) } else { Err(failure) }
    }

    fn driven<T>(&self, py: Python<'_>, work: impl FnOnce(&mut Driver, Option<&mut Client>) -> T) -> PyResult<T> {
        let Line { pump, driver, .. } = &mut *self.lock(py)?;
        Ok(work(driver, pump.as_mut().map(GilPump::core)))
    }

    fn with<T>(&self, py: Python<'_>, work: impl FnOnce(&mut Driver, &mut Client) -> T) -> PyResult<T> {
        self.driven(py, |driver, client| Ok(work(driver, client.ok_or_else(|| gone(py))?)))?
    }

    fn session<T>(&self, py: Python<'_>, read: impl FnOnce(&Client) -> T) -> PyResult<T> {
        self.with(py, |_, client| read(client))
    }
}

/// Takes over the connected socket with this descriptor.
#[cfg(unix)]
fn adopt(descriptor: i32, timeouts: Timeouts) -> std::io::Result<Stream> {
    use std::os::fd::{FromRawFd, OwnedFd};
    // SAFETY: the caller has made a descriptor for us alone.
    Stream::adopt(unsafe { OwnedFd::from_raw_fd(descriptor) }, timeouts)
}

#[cfg(not(unix))]
fn adopt(_: i32, _: Timeouts) -> std::io::Result<Stream> {
    Err(std::io::Error::new(std::io::ErrorKind::Unsupported, "sockets of the caller's can be used on Unix only"))
}

with_commands! { Wire:
    #[new]
    fn new(py: Python<'_>, source: Py<PyAny>) -> PyResult<Self> {
        let settings: Settings = source.extract(py)?;
        let line = Mutex::new(Line::new(settings.driver(py)?));
        let deadline = Mutex::new(None);
        Ok(Self { line, settings, source, deadline, connection_id: AtomicU32::new(0) })
    }

    /// Opens the socket, or takes over the descriptor of one that is connected, and logs in.
    #[pyo3(signature = (socket=None))]
    fn login(&self, py: Python<'_>, socket: Option<i32>) -> PyResult<()> {
        let (address, timeouts) = (self.settings.address(), self.settings.timeouts());
        let opening = Opening { bind: self.settings.bind_address(), ..Opening::default() };
        let client = Client::new(self.settings.options(py)?);
        // The greeting and the login are part of connecting.
        let first = timeouts.of_login();
        let place = address.to_string();
        let failed = |py, failure| transport_error(py, &failure, Some(&place));
        let stream = match socket {
            Some(socket) => adopt(socket, first).map_err(|cause| Error::Io(Waiting::Connect, cause)),
            None => py.detach(|| Stream::connect(&address, first, opening)),
        };
        let stream = stream.map_err(|failure| failed(py, failure))?;
        {
            let pump = GilPump::new(Pump::new(stream, client));
            *self.deadline.lock().unwrap_or_else(PoisonError::into_inner) = Some(pump.deadline());
            self.lock(py)?.pump = Some(pump);
        }
        // Also a server that says a little all the time has to come to an end.
        self.run_until(py, timeouts.connect, false, |_, driver, _| {
            driver.login();
            Ok(())
        })?;
        let mut line = self.lock(py)?;
        if let Some(pump) = &mut line.pump {
            self.connection_id.store(pump.core().session().connection_id, Ordering::Relaxed);
            let stream = pump.pump().stream_mut();
            let set = stream.set_timeouts(timeouts);
            let set = set.and_then(|()| self.settings.limits().query.map_or(Ok(()), |limit| stream.wake_within(limit)));
            set.map_err(|cause| failed(py, Error::Io(Waiting::Connect, cause)))?;
        }
        Ok(())
    }

    /// Reads and drops what is still to come. False when `most` bytes of rows were dropped and more is to come.
    #[pyo3(signature = (most=None))]
    fn drain(&self, py: Python<'_>, most: Option<usize>) -> PyResult<Py<PyAny>> {
        if self.lock(py)?.pump.is_none() {
            return Ok(PyBool::new(py, true).to_owned().into_any().unbind());
        }
        self.run_within(py, None, |_, driver, _| {
            driver.drain(most);
            Ok(())
        })
    }

    /// Leaves nothing of a stream on the wire: what is not read away within `most` bytes of rows and `patience` seconds
    /// is ended on the server, if it only reads.
    fn end_stream(&self, py: Python<'_>, most: usize, patience: f64) -> PyResult<()> {
        let limit = Duration::try_from_secs_f64(patience).ok();
        let (most, limit) = if self.lock(py)?.driver.may_end_stream() { (Some(most), limit) } else { (None, None) };
        let drained = self.run_within(py, limit, |_, driver, _| {
            driver.drain(most);
            Ok(())
        });
        match drained {
            Ok(over) if over.is_truthy(py)? => Ok(()),
            Ok(_) => {
                let mut line = self.lock(py)?;
                if line.pump.is_none() {
                    return Err(gone(py));
                }
                let ended = self.end(py, &mut line);
                Self::ended(py, &mut line, ended)
            }
            Err(failure) => Self::ended(py, &mut *self.lock(py)?, failure),
        }
    }

    /// Waits for packets of the binary log, which go to `reader`.
    fn listen_binlog(&self, py: Python<'_>, reader: Py<binlog::BinlogReader>) -> PyResult<Py<PyAny>> {
        let mut line = self.lock(py)?;
        line.begin(py, |py, driver, client| binlog::listen(driver, py, client, &reader))?;
        // Whatever deadline another thread has set stays set.
        let outcome = self.drive(py, &mut line, false);
        line.settle();
        outcome
    }

    /// Ends `listen_binlog`, under way in another thread, within half a second; the connection is then lost.
    fn interrupt(&self) {
        if let Some(deadline) = &*self.deadline.lock().unwrap_or_else(PoisonError::into_inner) {
            deadline.pass();
        }
    }

    /// Says good bye and closes.
    fn quit(&self, py: Python<'_>) -> PyResult<()> {
        let mut line = self.lock(py)?;
        if let Some(mut pump) = line.pump.take()
            && line.is_ours()
            && pump.core().quit().is_ok()
        {
            // The peer may have gone first; closed is closed.
            let _ = pump.flush(py);
        }
        Ok(())
    }

    /// Closes without a word.
    fn abort(&self, py: Python<'_>) -> PyResult<()> {
        self.lock(py)?.pump = None;
        Ok(())
    }

    /// True while the connection can be used.
    #[getter]
    fn is_open(&self, py: Python<'_>) -> bool {
        // A connection in use by another thread is open.
        self.lock(py).map_or(true, |mut line| line.is_open())
    }

    /// True when the connection can be used and nothing is left of its last use: no answer, no transaction.
    #[getter]
    fn is_clean(&self, py: Python<'_>) -> bool {
        let clean = |mut line: MutexGuard<'_, Line<Driver>>| {
            let Line { pump, driver, .. } = &mut *line;
            pump.as_mut().is_some_and(|pump| driver.is_clean(pump.core())) && line.is_ours()
        };
        self.lock(py).is_ok_and(clean)
    }

    /// True when the connection can be used as far as the kernel knows: its end may have come while nobody looked.
    #[getter]
    fn is_quiet(&self, py: Python<'_>) -> bool {
        self.lock(py).map_or(true, |mut line| line.is_quiet())
    }

    /// What KILL takes.
    #[getter]
    fn connection_id(&self) -> u32 {
        self.connection_id.load(Ordering::Relaxed)
    }

    /// The TLS version and cipher; None in plain text.
    #[getter]
    fn tls_description(&self, py: Python<'_>) -> PyResult<Option<String>> {
        Ok(self.lock(py)?.pump.as_mut().and_then(|pump| pump.pump().channel().tls_description()))
    }
}
