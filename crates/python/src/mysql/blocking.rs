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
use super::driver::{self, Driver, Step, gone, transport_error};
use super::result::{Prepared, StateTuple, state_tuple};
use super::settings::Settings;
use crate::forks::Process;
use crate::gil::{Deadline, GilPump, WaitError};

/// A connection whose operations block the calling thread; other threads run meanwhile.
#[pyclass(frozen, module = "rowferry._core.mysql")]
pub struct Wire {
    inner: Mutex<Inner>,
    settings: Settings,
    /// What `settings` were read from, for a connection beside this one.
    source: Py<PyAny>,
    process: Process,
    /// By which another thread ends a wait.
    deadline: Mutex<Option<Deadline>>,
    /// What KILL takes; known also when the connection is lost, and while another thread waits for the server.
    connection_id: AtomicU32,
}

struct Inner {
    pump: Option<GilPump<Client>>,
    driver: Driver,
    /// A second handle on the socket is not needed: closing drops the pump.
    closed: bool,
}

/// What takes too long and is ended gets this long to be over.
const GRACE: Duration = Duration::from_secs(5);

impl Wire {
    fn lock(&self, py: Python<'_>) -> PyResult<MutexGuard<'_, Inner>> {
        self.inner.try_lock().map_err(|_| driver::busy(py))
    }

    /// Starts an operation and moves bytes until it is over.
    fn run(&self, py: Python<'_>, start: impl FnOnce(&mut Driver, &mut Client) -> PyResult<()>) -> PyResult<Py<PyAny>> {
        let limits = self.settings.limits();
        match limits.query {
            Some(limit) => self.run_within(py, Some(limit), start),
            None => self.run_until(py, limits.whole, false, start),
        }
    }

    /// The same; what takes longer than `limit` is ended on the server.
    fn run_within(
        &self,
        py: Python<'_>,
        limit: Option<Duration>,
        start: impl FnOnce(&mut Driver, &mut Client) -> PyResult<()>,
    ) -> PyResult<Py<PyAny>> {
        self.run_until(py, limit, true, start)
    }

    /// The same; what takes longer is given up unless it `may_end` on the server.
    fn run_until(
        &self,
        py: Python<'_>,
        limit: Option<Duration>,
        may_end: bool,
        start: impl FnOnce(&mut Driver, &mut Client) -> PyResult<()>,
    ) -> PyResult<Py<PyAny>> {
        let mut inner = self.lock(py)?;
        if !self.process.is_this() {
            return Err(driver::forked(py));
        }
        let Inner { pump, driver, .. } = &mut *inner;
        let Some(pump) = pump else { return Err(gone(py)) };
        start(driver, pump.core())?;
        pump.set_deadline(limit.map(|limit| Instant::now() + limit));
        let outcome = self.pump(py, pump, driver, may_end);
        if pump.core().is_closed() {
            inner.pump = None;
        }
        outcome
    }

    /// Moves bytes until the operation is over. `may_end`: one that is overdue is ended on the server, not given up.
    fn pump(
        &self,
        py: Python<'_>,
        pump: &mut GilPump<Client>,
        driver: &mut Driver,
        may_end: bool,
    ) -> PyResult<Py<PyAny>> {
        loop {
            let moved = match driver.step(py, pump.core())? {
                Step::Done(outcome) => return Ok(outcome),
                // Of an answer without end, no wait is ever too long.
                Step::Pending | Step::Flush if pump.is_overdue() => Err(WaitError::Transport(Error::Interrupted)),
                Step::Pending => pump.advance(py),
                Step::Flush => pump.flush(py),
                Step::StartTls => {
                    let name = self.settings.tls_name();
                    let started = self.settings.tls(py)?.config(&self.settings.address());
                    let started = started.and_then(|config| pump.pump().start_tls(config, &name));
                    pump.core().tls_started();
                    started.map_err(WaitError::Transport)
                }
            };
            if let Err(failure) = moved {
                if may_end && matches!(failure, WaitError::Transport(Error::Interrupted)) {
                    return Err(self.end(py, pump, driver));
                }
                pump.core().abandon();
                // Lets the driver forget the operation; what it says of the closed core is not the cause.
                let _ = driver.step(py, pump.core());
                return Err(match failure {
                    WaitError::Raised(raised) => raised,
                    WaitError::Transport(Error::Interrupted) => {
                        transport_error(py, &Error::TimedOut(Waiting::Connect), None)
                    }
                    WaitError::Transport(failure) => transport_error(py, &failure, None),
                });
            }
        }
    }
}

impl Wire {
    /// The operation takes too long: ends it on the server and reads away what still comes. What is not over soon costs
    /// the connection.
    fn end(&self, py: Python<'_>, pump: &mut GilPump<Client>, driver: &mut Driver) -> PyErr {
        static KILL: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        let overdue = driver::overdue(py, self.settings.limits().query);
        let number = pump.core().session().connection_id;
        driver.drain(None);
        let ended = KILL
            .import(py, "rowferry.mysql._cancel", "kill_query")
            .and_then(|kill| kill.call1((&self.source, number)))
            .and_then(|_| {
                pump.set_deadline(Some(Instant::now() + GRACE));
                self.pump(py, pump, driver, false)
            })
            .and_then(|_| {
                // The kill may have come too late for its statement: then it hits this one.
                driver.discard(py, pump.core(), b"DO 0")?;
                self.pump(py, pump, driver, false)
            });
        let Err(failure) = ended else { return overdue };
        pump.core().abandon();
        let _ = driver.step(py, pump.core());
        if failure.is_instance_of::<PyException>(py) { overdue } else { failure }
    }
}

impl Wire {
    /// A stream was ended. That is no error as long as the connection stands, or was closed to end it.
    fn ended(&self, py: Python<'_>, mut inner: MutexGuard<'_, Inner>, failure: PyErr) -> PyResult<()> {
        if inner.pump.as_mut().is_some_and(|pump| pump.core().is_closed()) {
            inner.pump = None;
        }
        if driver::is_overdue(py, &failure) { Ok(()) } else { Err(failure) }
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

#[pymethods]
impl Wire {
    #[new]
    fn new(py: Python<'_>, source: Py<PyAny>) -> PyResult<Self> {
        let settings: Settings = source.extract(py)?;
        let driver = settings.driver(py)?;
        let inner = Mutex::new(Inner { pump: None, driver, closed: false });
        let (process, deadline) = (Process::current(), Mutex::new(None));
        Ok(Self { inner, settings, source, process, deadline, connection_id: AtomicU32::new(0) })
    }

    /// Opens the socket, or takes over the descriptor of one that is connected, and logs in.
    #[pyo3(signature = (socket=None))]
    fn login(&self, py: Python<'_>, socket: Option<i32>) -> PyResult<()> {
        let (address, timeouts) = (self.settings.address(), self.settings.timeouts());
        let opening = Opening { bind: self.settings.bind_address(), ..Opening::default() };
        let client = Client::new(self.settings.options(py)?);
        // The greeting and the login are part of connecting.
        let mut first = timeouts;
        first.read = match (timeouts.connect, timeouts.read) {
            (Some(connect), Some(read)) => Some(connect.max(read)),
            (connect, read) => connect.or(read),
        };
        let place = address.to_string();
        let failed = |py, failure| transport_error(py, &failure, Some(&place));
        let stream = match socket {
            Some(socket) => adopt(socket, first).map_err(|cause| Error::Io(Waiting::Connect, cause)),
            None => py.detach(|| Stream::connect(&address, first, opening)),
        };
        let stream = stream.map_err(|failure| failed(py, failure))?;
        {
            let mut inner = self.lock(py)?;
            let pump = GilPump::new(Pump::new(stream, client));
            *self.deadline.lock().unwrap_or_else(PoisonError::into_inner) = Some(pump.deadline());
            inner.pump = Some(pump);
            inner.closed = false;
        }
        // Also a server that says a little all the time has to come to an end.
        self.run_until(py, timeouts.connect, false, |driver, _| {
            driver.login();
            Ok(())
        })?;
        let mut inner = self.lock(py)?;
        if let Some(pump) = &mut inner.pump {
            self.connection_id.store(pump.core().session().connection_id, Ordering::Relaxed);
            let stream = pump.pump().stream_mut();
            let set = stream.set_timeouts(timeouts);
            let set = set.and_then(|()| self.settings.limits().query.map_or(Ok(()), |limit| stream.wake_within(limit)));
            set.map_err(|cause| failed(py, Error::Io(Waiting::Connect, cause)))?;
        }
        Ok(())
    }

    /// Runs SQL, with `args` filled in, and answers its first result.
    #[pyo3(signature = (sql, args=None, as_dict=false))]
    fn query(
        &self,
        py: Python<'_>,
        sql: &Bound<'_, PyAny>,
        args: Option<&Bound<'_, PyAny>>,
        as_dict: bool,
    ) -> PyResult<Py<PyAny>> {
        self.run(py, |driver, client| driver.query(py, client, sql, args, as_dict))
    }

    /// Runs SQL and answers the head of its first result; rows are fetched by `fetch`.
    #[pyo3(signature = (sql, args=None, as_dict=false))]
    fn open_stream(
        &self,
        py: Python<'_>,
        sql: &Bound<'_, PyAny>,
        args: Option<&Bound<'_, PyAny>>,
        as_dict: bool,
    ) -> PyResult<Py<PyAny>> {
        self.run(py, |driver, client| driver.open_stream(py, client, sql, args, as_dict))
    }

    /// Goes on to the result behind a stream.
    fn next_stream(&self, py: Python<'_>, as_dict: bool) -> PyResult<Py<PyAny>> {
        self.run(py, |driver, _| driver.next_stream(py, as_dict))
    }

    /// Up to `most` rows of the stream; fewer only at its end.
    fn fetch(&self, py: Python<'_>, most: usize) -> PyResult<Py<PyAny>> {
        self.run(py, |driver, _| driver.fetch(py, most))
    }

    /// Up to `most` rows of the stream as a batch of Arrow's; None behind the last.
    fn fetch_arrow(&self, py: Python<'_>, most: usize) -> PyResult<Py<PyAny>> {
        self.run(py, |driver, _| driver.fetch_arrow(py, most))
    }

    /// Reads and drops what is still to come. False when `most` bytes of rows were dropped and more is to come.
    #[pyo3(signature = (most=None))]
    fn drain(&self, py: Python<'_>, most: Option<usize>) -> PyResult<Py<PyAny>> {
        if self.lock(py)?.pump.is_none() {
            return Ok(PyBool::new(py, true).to_owned().into_any().unbind());
        }
        self.run_within(py, None, |driver, _| {
            driver.drain(most);
            Ok(())
        })
    }

    /// Leaves nothing of a stream on the wire: what is not read away within `most` bytes of rows and `patience` seconds
    /// is ended on the server, if it only reads.
    fn end_stream(&self, py: Python<'_>, most: usize, patience: f64) -> PyResult<()> {
        let limit = Duration::try_from_secs_f64(patience).ok();
        let (most, limit) = if self.lock(py)?.driver.may_end_stream() { (Some(most), limit) } else { (None, None) };
        let drained = self.run_within(py, limit, |driver, _| {
            driver.drain(most);
            Ok(())
        });
        match drained {
            Ok(over) if over.is_truthy(py)? => Ok(()),
            Ok(_) => {
                let mut inner = self.lock(py)?;
                let Inner { pump, driver, .. } = &mut *inner;
                let Some(pump) = pump else { return Err(gone(py)) };
                let ended = self.end(py, pump, driver);
                self.ended(py, inner, ended)
            }
            Err(failure) => {
                let inner = self.lock(py)?;
                self.ended(py, inner, failure)
            }
        }
    }

    /// Prepares a statement with `?` for values.
    fn prepare(&self, py: Python<'_>, sql: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        self.run(py, |driver, client| driver.prepare(py, client, sql))
    }

    /// A statement with `?` for each `%s`, which its first execution prepares; None when it has other placeholders, or
    /// some inside quotes.
    fn statement(&self, py: Python<'_>, sql: &Bound<'_, PyAny>) -> PyResult<Option<Prepared>> {
        let mut inner = self.lock(py)?;
        let Inner { pump, driver, .. } = &mut *inner;
        let Some(pump) = pump else { return Err(gone(py)) };
        driver.statement(pump.core(), sql)
    }

    /// Runs a prepared statement and answers its first result.
    #[pyo3(signature = (prepared, args=None, as_dict=false))]
    fn execute(
        &self,
        py: Python<'_>,
        prepared: &Bound<'_, Prepared>,
        args: Option<&Bound<'_, PyAny>>,
        as_dict: bool,
    ) -> PyResult<Py<PyAny>> {
        self.run(py, |driver, client| driver.execute(py, client, prepared, args, as_dict))
    }

    /// Runs a prepared statement for each of `rows` and answers one result for all; up to `window` executions are on
    /// their way at a time.
    #[pyo3(signature = (prepared, rows, window, as_dict=false))]
    fn execute_each(
        &self,
        py: Python<'_>,
        prepared: &Prepared,
        rows: &Bound<'_, PyAny>,
        window: usize,
        as_dict: bool,
    ) -> PyResult<Py<PyAny>> {
        self.run(py, |driver, client| driver.execute_each(py, client, prepared, rows, window, as_dict))
    }

    /// Runs SQL for each of `rows` and answers one result for all. Requests are at most `most` bytes long, unless a
    /// single row is longer.
    #[pyo3(signature = (sql, rows, most, as_dict=false))]
    fn execute_many(
        &self,
        py: Python<'_>,
        sql: &Bound<'_, PyAny>,
        rows: &Bound<'_, PyAny>,
        most: usize,
        as_dict: bool,
    ) -> PyResult<Py<PyAny>> {
        self.run(py, |driver, client| driver.execute_many(py, client, sql, rows, most, as_dict))
    }

    /// Sends a LOAD DATA LOCAL whose file is pushed; answers the name that the server asks for.
    #[pyo3(signature = (sql, args=None))]
    fn begin_file(
        &self,
        py: Python<'_>,
        sql: &Bound<'_, PyAny>,
        args: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Py<PyAny>> {
        self.run(py, |driver, client| driver.begin_file(py, client, sql, args))
    }

    /// Sends a piece of that file.
    fn push_file(&self, py: Python<'_>, piece: &[u8]) -> PyResult<Py<PyAny>> {
        self.run(py, |driver, client| driver.push_file(py, client, piece))
    }

    /// Ends that file and answers the statement's result.
    fn end_file(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.run(py, |driver, client| driver.end_file(py, client))
    }

    /// Forgets a prepared statement. The message travels with the next request.
    fn forget(&self, py: Python<'_>, prepared: &Prepared) -> PyResult<()> {
        let Some(statement) = prepared.statement() else { return Ok(()) };
        match &mut self.lock(py)?.pump {
            Some(pump) => {
                // A closed connection has forgotten already.
                let _ = pump.core().close_statement(statement);
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// Introduces us as a replica.
    fn register_replica(&self, py: Python<'_>, server_id: u32, host: String, port: u16) -> PyResult<Py<PyAny>> {
        self.run(py, |driver, client| binlog::register(driver, py, client, server_id, host, port))
    }

    /// Asks for the binary log and takes what comes first; `listen_binlog` takes the rest.
    fn dump_binlog(
        &self,
        py: Python<'_>,
        request: binlog::DumpRequest,
        reader: Py<binlog::BinlogReader>,
    ) -> PyResult<Py<PyAny>> {
        self.run(py, |driver, client| {
            binlog::dump(driver, py, client, &request)?;
            binlog::listen(driver, py, client, &reader)
        })
    }

    /// Waits for packets of the binary log, which go to `reader`.
    fn listen_binlog(&self, py: Python<'_>, reader: Py<binlog::BinlogReader>) -> PyResult<Py<PyAny>> {
        let mut inner = self.lock(py)?;
        let Inner { pump, driver, .. } = &mut *inner;
        let Some(pump) = pump else { return Err(gone(py)) };
        binlog::listen(driver, py, pump.core(), &reader)?;
        // Whatever deadline another thread has set stays set.
        let outcome = self.pump(py, pump, driver, false);
        if pump.core().is_closed() {
            inner.pump = None;
        }
        outcome
    }

    /// Ends `listen_binlog`, under way in another thread, within half a second; the connection is then lost.
    fn interrupt(&self) {
        if let Some(deadline) = &*self.deadline.lock().unwrap_or_else(PoisonError::into_inner) {
            deadline.pass();
        }
    }

    /// Asks whether the server is there.
    fn ping(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.run(py, |driver, client| driver.command(py, client, Client::ping))
    }

    /// Forgets all session state but the login.
    fn reset(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.run(py, |driver, client| driver.command(py, client, Client::reset))
    }

    /// Sends statements whose rows do not matter, all in one write, before them COM_RESET_CONNECTION if `reset`.
    #[pyo3(signature = (statements, reset=false))]
    fn set_up(&self, py: Python<'_>, statements: &Bound<'_, PyAny>, reset: bool) -> PyResult<Py<PyAny>> {
        self.run(py, |driver, client| driver.set_up(py, client, statements, reset))
    }

    /// Logs in again on the same connection, as `settings` say.
    fn change_user(&self, py: Python<'_>, settings: Settings) -> PyResult<Py<PyAny>> {
        let options = settings.options(py)?;
        self.run(py, |driver, client| driver.change_user(py, client, options))
    }

    /// Changes the default database.
    fn select_database(&self, py: Python<'_>, name: &str) -> PyResult<Py<PyAny>> {
        self.run(py, |driver, client| driver.command(py, client, |client| client.select_database(name.as_bytes())))
    }

    /// Says good bye and closes.
    fn quit(&self, py: Python<'_>) -> PyResult<()> {
        let mut inner = self.lock(py)?;
        if let Some(mut pump) = inner.pump.take()
            && self.process.is_this()
            && pump.core().quit().is_ok()
        {
            // The peer may have gone first; closed is closed.
            let _ = pump.flush(py);
        }
        inner.closed = true;
        Ok(())
    }

    /// Closes without a word.
    fn abort(&self, py: Python<'_>) -> PyResult<()> {
        let mut inner = self.lock(py)?;
        inner.pump = None;
        inner.closed = true;
        Ok(())
    }

    /// Sends these named values with every later statement.
    fn set_attributes(&self, py: Python<'_>, attributes: &Bound<'_, PyDict>) -> PyResult<()> {
        let mut inner = self.lock(py)?;
        let Inner { pump, driver, .. } = &mut *inner;
        let Some(pump) = pump else { return Err(gone(py)) };
        driver.set_attributes(py, pump.core(), attributes)
    }

    /// SQL with `args` filled in, as it would be sent.
    #[pyo3(signature = (sql, args=None))]
    fn mogrify<'py>(
        &self,
        py: Python<'py>,
        sql: &Bound<'_, PyAny>,
        args: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let mut inner = self.lock(py)?;
        let Inner { pump, driver, .. } = &mut *inner;
        let Some(pump) = pump else { return Err(gone(py)) };
        Ok(PyBytes::new(py, driver.fill(py, pump.core(), sql, args)?))
    }

    /// SQL with the list of values of an INSERT repeated for each of `rows`; of other statements, that of the last row.
    fn mogrify_many<'py>(
        &self,
        py: Python<'py>,
        sql: &Bound<'_, PyAny>,
        rows: &Bound<'_, PyAny>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let mut inner = self.lock(py)?;
        let Inner { pump, driver, .. } = &mut *inner;
        let Some(pump) = pump else { return Err(gone(py)) };
        Ok(PyBytes::new(py, &driver.fill_many(py, pump.core(), sql, rows)?))
    }

    /// SQL with `?` for each `%s`; None when it has other placeholders, or some inside quotes.
    fn question_marks(&self, py: Python<'_>, sql: &Bound<'_, PyAny>) -> PyResult<Option<Py<PyBytes>>> {
        self.lock(py)?.driver.encoding.question_marks(sql)
    }

    /// The SQL literal of a value.
    fn literal<'py>(&self, py: Python<'py>, value: &Bound<'_, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
        let mut literal = Vec::new();
        let mut inner = self.lock(py)?;
        let Inner { pump, driver, .. } = &mut *inner;
        if let Some(pump) = pump {
            driver.obey(pump.core());
        }
        driver.encoding.put_literal(&mut literal, value)?;
        Ok(PyBytes::new(py, &literal))
    }

    /// True while the connection can be used.
    #[getter]
    fn is_open(&self, py: Python<'_>) -> bool {
        let open = |pump: &mut GilPump<Client>| !pump.core().is_closed();
        // A connection in use by another thread is open.
        self.process.is_this() && self.lock(py).map_or(true, |mut inner| inner.pump.as_mut().is_some_and(open))
    }

    /// True when the connection can be used and nothing is left of its last use: no answer, no transaction.
    #[getter]
    fn is_clean(&self, py: Python<'_>) -> bool {
        let clean = |mut inner: MutexGuard<'_, Inner>| {
            let Inner { pump, driver, .. } = &mut *inner;
            pump.as_mut().is_some_and(|pump| driver.is_clean(pump.core()))
        };
        self.process.is_this() && self.lock(py).is_ok_and(clean)
    }

    /// True when the connection can be used as far as the kernel knows: its end may have come while nobody looked.
    #[getter]
    fn is_quiet(&self, py: Python<'_>) -> bool {
        let quiet = |pump: &mut GilPump<Client>| !pump.core().is_closed() && pump.pump().stream_mut().is_quiet();
        self.process.is_this() && self.lock(py).map_or(true, |mut inner| inner.pump.as_mut().is_some_and(quiet))
    }

    /// True while rows of a stream, or results behind it, are still on the wire.
    #[getter]
    fn is_streaming(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.lock(py)?.driver.is_streaming())
    }

    /// How many warnings the server counted for the stream that ended last.
    #[getter]
    fn stream_warnings(&self, py: Python<'_>) -> PyResult<u16> {
        Ok(self.lock(py)?.driver.stream_warnings())
    }

    /// The server's version, as it spells it.
    #[getter]
    fn server_version(&self, py: Python<'_>) -> PyResult<String> {
        self.session(py, |client| client.session().server_version.clone())
    }

    /// What KILL takes.
    #[getter]
    fn connection_id(&self) -> u32 {
        self.connection_id.load(Ordering::Relaxed)
    }

    /// The server's status flags.
    #[getter]
    fn server_status(&self, py: Python<'_>) -> PyResult<u16> {
        self.session(py, |client| client.session().status)
    }

    /// The default database, as far as the server has told; None when it has not.
    #[getter]
    fn schema(&self, py: Python<'_>) -> PyResult<Option<String>> {
        self.session(py, |client| client.session().state.schema.clone())
    }

    /// What the server has told of changes: database, variables, GTIDs, transaction's state and characteristics.
    #[getter]
    fn session_state(&self, py: Python<'_>) -> PyResult<StateTuple> {
        self.session(py, |client| state_tuple(&client.session().state))
    }

    /// True when the server tells of changes of session state.
    #[getter]
    fn tracks_session(&self, py: Python<'_>) -> PyResult<bool> {
        self.session(py, |client| client.session().has(capability::SESSION_TRACK))
    }

    /// Python's name of the character set that statements are in; None for UTF-8.
    #[getter]
    fn codec(&self, py: Python<'_>) -> PyResult<Option<String>> {
        Ok(self.lock(py)?.driver.encoding.name.clone())
    }

    /// The plugin that let us in.
    #[getter]
    fn auth_plugin(&self, py: Python<'_>) -> PyResult<String> {
        self.session(py, |client| client.session().auth_plugin.clone())
    }

    /// The TLS version and cipher; None in plain text.
    #[getter]
    fn tls_description(&self, py: Python<'_>) -> PyResult<Option<String>> {
        Ok(self.lock(py)?.pump.as_mut().and_then(|pump| pump.pump().channel().tls_description()))
    }
}

impl Wire {
    fn session<T>(&self, py: Python<'_>, read: impl FnOnce(&Client) -> T) -> PyResult<T> {
        match &mut self.lock(py)?.pump {
            Some(pump) => Ok(read(pump.core())),
            None => Err(gone(py)),
        }
    }
}
