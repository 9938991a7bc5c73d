use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use pyo3::prelude::*;
use rowferry_client::{Handle, Opening, Pump, Stream};
use rowferry_wire_sqli::URGENT_INTERRUPT;
use rowferry_wire_sqli::client::{Client, CursorOptions};

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

#[pymethods]
impl Wire {
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

    /// Runs a statement, in a transaction when `begin` is true.
    #[allow(clippy::too_many_arguments)] // Keywords of Python.
    #[pyo3(signature = (sql, args=None, begin=false, *, scroll=false, hold=false, name=None, files=None, query=false))]
    fn execute(
        &self,
        py: Python<'_>,
        sql: &Bound<'_, PyAny>,
        args: Option<&Bound<'_, PyAny>>,
        begin: bool,
        scroll: bool,
        hold: bool,
        name: Option<&str>,
        files: Option<Py<PyAny>>,
        query: bool,
    ) -> PyResult<Py<PyAny>> {
        let cursor = CursorOptions { name: name.map(|name| name.as_bytes().into()), scroll, hold };
        self.run(py, |driver, client| driver.execute(py, client, sql, args, begin, query, cursor, files))
    }

    /// Runs a statement for each row of values, in a transaction when `begin` is true. With `go_on`, so many rows may
    /// fail.
    #[pyo3(signature = (sql, rows, begin=false, *, go_on=None, files=None))]
    fn execute_many(
        &self,
        py: Python<'_>,
        sql: &Bound<'_, PyAny>,
        rows: &Bound<'_, PyAny>,
        begin: bool,
        go_on: Option<usize>,
        files: Option<Py<PyAny>>,
    ) -> PyResult<Py<PyAny>> {
        self.run(py, |driver, client| driver.execute_many(py, client, sql, rows, begin, go_on, files))
    }

    /// The next rows of a cursor.
    #[pyo3(signature = (result, files=None))]
    fn fetch(&self, py: Python<'_>, result: &QueryResult, files: Option<Py<PyAny>>) -> PyResult<Py<PyAny>> {
        self.run(py, |driver, client| driver.fetch(py, client, result, files))
    }

    /// Up to `count` rows of a scroll cursor, from this number (from 1) on; None is the last row.
    #[pyo3(signature = (result, row, count=1))]
    fn scroll(&self, py: Python<'_>, result: &QueryResult, row: Option<i32>, count: u16) -> PyResult<Py<PyAny>> {
        self.run(py, |driver, client| driver.scroll(py, client, result, row, count))
    }

    /// The database and the handle of a routine.
    fn find_routine(&self, py: Python<'_>, signature: &str) -> PyResult<Py<PyAny>> {
        self.run(py, |driver, client| driver.command(py, client, |client| client.find_routine(signature.as_bytes())))
    }

    /// Calls a routine by its handle; what it returns, as a list.
    #[pyo3(signature = (signature, database, handle, args, begin=false))]
    fn call_routine(
        &self,
        py: Python<'_>,
        signature: &str,
        database: &str,
        handle: i32,
        args: &Bound<'_, PyAny>,
        begin: bool,
    ) -> PyResult<Py<PyAny>> {
        self.run(py, |driver, client| driver.call_routine(py, client, signature, database, handle, args, begin))
    }

    /// Up to `size` bytes of an open smart large object, at its position or from this offset on.
    #[pyo3(signature = (lofd, size, offset=None))]
    fn lo_read(&self, py: Python<'_>, lofd: i16, size: usize, offset: Option<i64>) -> PyResult<Py<PyAny>> {
        self.run(py, |driver, client| driver.command(py, client, |client| client.lo_read(lofd, size, offset)))
    }

    /// Writes to an open smart large object, at its position. The count is how many bytes were taken.
    fn lo_write(&self, py: Python<'_>, lofd: i16, data: &[u8]) -> PyResult<Py<PyAny>> {
        self.run(py, |driver, client| driver.command(py, client, |client| client.lo_write(lofd, data)))
    }

    /// The next rows of a cursor, for `RowsToArrow` alone.
    fn fetch_raw(&self, py: Python<'_>, result: &QueryResult) -> PyResult<Py<PyAny>> {
        self.run(py, |driver, client| driver.fetch_raw(py, client, result))
    }

    /// Nobody will fetch from this cursor any more. Harmless at any time; it is closed with the next operation.
    fn discard(&self, result: &QueryResult) {
        self.discarded.add(result);
    }

    /// Begins a transaction.
    fn begin(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.run(py, |driver, client| driver.command(py, client, Client::begin))
    }

    /// Commits.
    fn commit(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.run(py, |driver, client| driver.command(py, client, Client::commit))
    }

    /// Rolls back.
    fn rollback(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.run(py, |driver, client| driver.command(py, client, Client::rollback))
    }

    /// Sets a savepoint.
    fn set_savepoint(&self, py: Python<'_>, name: &str) -> PyResult<Py<PyAny>> {
        self.run(py, |driver, client| driver.command(py, client, |client| client.set_savepoint(name.as_bytes())))
    }

    /// Rolls back to a savepoint.
    fn rollback_to_savepoint(&self, py: Python<'_>, name: &str) -> PyResult<Py<PyAny>> {
        self.run(py, |driver, client| {
            driver.command(py, client, |client| client.rollback_to_savepoint(name.as_bytes()))
        })
    }

    /// Releases a savepoint.
    fn release_savepoint(&self, py: Python<'_>, name: &str) -> PyResult<Py<PyAny>> {
        self.run(py, |driver, client| driver.command(py, client, |client| client.release_savepoint(name.as_bytes())))
    }

    /// Asks whether the server is there.
    fn ping(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.run(py, |driver, client| driver.command(py, client, Client::ping))
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

    /// The login has failed by which a server was sent more than one that is not known takes: another may have its place.
    #[getter]
    fn is_displaced(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.lock(py)?.driver.displaced)
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

    /// True while a transaction is under way that this client began.
    #[getter]
    fn in_transaction(&self, py: Python<'_>) -> PyResult<bool> {
        self.session(py, |client| client.session().in_transaction)
    }

    /// True when the database has transactions.
    #[getter]
    fn is_logged(&self, py: Python<'_>) -> PyResult<bool> {
        self.session(py, |client| client.session().logged)
    }

    /// True when the database is in ANSI mode.
    #[getter]
    fn is_ansi(&self, py: Python<'_>) -> PyResult<bool> {
        self.session(py, |client| client.session().is_ansi())
    }

    /// The server's version with its product name, as the login has it. Not the release.
    #[getter]
    fn server_version(&self, py: Python<'_>) -> PyResult<String> {
        self.session(py, |client| String::from_utf8_lossy(&client.session().server_version).into_owned())
    }

    /// What the server can do, as a mask.
    #[getter]
    fn server_capabilities(&self, py: Python<'_>) -> PyResult<Vec<u8>> {
        self.session(py, |client| client.session().server_capabilities.as_bytes().to_vec())
    }

    /// What both sides can do, as a mask.
    #[getter]
    fn capabilities(&self, py: Python<'_>) -> PyResult<Vec<u8>> {
        self.session(py, |client| client.session().capabilities.as_bytes().to_vec())
    }

    /// The TLS version and cipher; None in plain text.
    #[getter]
    fn tls_description(&self, py: Python<'_>) -> PyResult<Option<String>> {
        Ok(self.lock(py)?.pump.as_mut().and_then(|pump| pump.pump().channel().tls_description()))
    }
}
