use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDict, PyMemoryView};
use rowferry_client::Channel;
use rowferry_wire_mysql::client::Client;
use rowferry_wire_mysql::messages::handshake::capability;

use super::binlog;
use super::driver::{self, Driver, Step, client_errno, gone, transport_error};
use super::limits::{Limits, Timers};
use super::result::{Prepared, StateTuple, state_tuple};
use super::settings::Settings;
use crate::direct::{Direct, Shortcut, UnderWay};
use crate::errors::{Class, error};
use crate::forks::Process;
use crate::space::ReceiveSpace;

/// A connection as an asyncio protocol. Operations answer futures of the loop.
///
/// Subclassed in Python by a class that is an `asyncio.BufferedProtocol`, too: the event loop reads straight into our
/// memory.
#[pyclass(frozen, subclass, module = "rowferry._core.mysql")]
pub struct AsyncWire {
    inner: Mutex<Inner>,
    settings: Settings,
    space: Py<ReceiveSpace>,
    view: Py<PyMemoryView>,
    event_loop: Py<PyAny>,
    create_future: Py<PyAny>,
    full: Arc<AtomicBool>,
    limits: Limits,
    /// The timer for the write time-out. Set and unset from within calls of the transport, when `inner` is in use.
    stalled: Mutex<Option<Py<PyAny>>>,
    process: Process,
}

struct Inner {
    channel: Channel<Client>,
    driver: Driver,
    transport: Option<Py<PyAny>>,
    write: Option<Py<PyAny>>,
    socket: Direct,
    shortcut: Shortcut,
    waiter: Option<Py<PyAny>>,
    /// While the waiter waits by the loop.
    under_way: Option<UnderWay>,
    timers: Timers,
    /// Done when the transport is closed.
    closed: Option<Py<PyAny>>,
    paused: bool,
    /// The transport takes no more bytes for now.
    full: Arc<AtomicBool>,
}

/// What a stream that nobody fetches may leave in memory.
const STREAM_BACKLOG: usize = 1024 * 1024;

impl Inner {
    /// Hands everything that waits to the transport.
    fn flush(&mut self, py: Python<'_>) -> PyResult<()> {
        loop {
            let output = self.channel.output().map_err(|failure| transport_error(py, &failure, None))?;
            if output.is_empty() {
                return Ok(());
            }
            let Some(write) = &self.write else { return Err(gone(py)) };
            if let Some(count) = self.socket.send(py, self.transport.as_ref(), output)? {
                self.channel.sent(count);
                continue;
            }
            let bytes = PyBytes::new(py, output);
            let count = output.len();
            // The transport copies what the kernel does not take at once. A closed one raises whatever its loop likes
            // (uvloop: RuntimeError); to us it is a lost connection.
            if let Err(cause) = write.call1(py, (bytes,)) {
                let message = format!("Lost connection to MySQL server during query ({})", cause.value(py));
                return Err(error(py, Class::Operational, Some(client_errno::SERVER_LOST), &message));
            }
            self.channel.sent(count);
        }
    }

    /// Polls until the operation is over or more bytes are needed, and wakes whoever waits.
    fn progress(&mut self, py: Python<'_>, settings: &Settings) -> PyResult<()> {
        while self.driver.is_busy() {
            let outcome = match self.driver.step(py, self.channel.core_mut()) {
                Ok(Step::Pending) => match self.flush(py) {
                    Ok(()) => break,
                    Err(failure) => Err(failure),
                },
                Ok(Step::Flush) => match self.flush(py) {
                    // The transport takes no more; `resume_writing` goes on.
                    Ok(()) if self.full.load(Ordering::Relaxed) => break,
                    Ok(()) => continue,
                    Err(failure) => Err(failure),
                },
                Ok(Step::StartTls) => match self.start_tls(py, settings) {
                    Ok(()) => continue,
                    Err(failure) => Err(failure),
                },
                Ok(Step::Done(value)) => Ok(value),
                Err(failure) => Err(failure),
            };
            self.wake(py, outcome)?;
        }
        if self.channel.core().is_closed() {
            self.abort(py)?;
        }
        Ok(())
    }

    /// Takes the answer in the loop's place, if that has nothing else to do.
    fn receive_directly(&mut self, py: Python<'_>, settings: &Settings) -> PyResult<()> {
        if !self.shortcut.is_open() {
            return Ok(());
        }
        while self.shortcut.wait(py, &self.socket) {
            match self.socket.receive(&mut self.channel) {
                Ok(0) => break,
                Ok(_) => {
                    self.timers.hear();
                    self.progress(py, settings)?;
                }
                Err(failure) => return self.lost(py, transport_error(py, &failure, None)),
            }
            if !self.driver.is_busy() {
                self.shortcut.learn(true);
                return self.throttle(py);
            }
        }
        self.shortcut.learn(false);
        self.throttle(py)
    }

    fn start_tls(&mut self, py: Python<'_>, settings: &Settings) -> PyResult<()> {
        self.flush(py)?;
        let config = settings.tls(py)?.config(&settings.address());
        let started = config.and_then(|config| self.channel.start_tls(config, &settings.tls_name()));
        started.map_err(|failure| transport_error(py, &failure, None))?;
        self.channel.core_mut().tls_started();
        self.flush(py)
    }

    /// The operation is over: its outcome goes to the future, unless that was cancelled meanwhile.
    fn wake(&mut self, py: Python<'_>, outcome: PyResult<Py<PyAny>>) -> PyResult<()> {
        if outcome.is_err() && self.driver.is_busy() {
            // What failed was the transport or TLS: nothing more can come.
            self.channel.core_mut().abandon();
            let _ = self.driver.step(py, self.channel.core_mut());
        }
        self.timers.end(py)?;
        self.under_way = None;
        let Some(waiter) = self.waiter.take() else { return Ok(()) };
        if waiter.call_method0(py, intern!(py, "done"))?.is_truthy(py)? {
            return Ok(());
        }
        match outcome {
            Ok(value) => waiter.call_method1(py, intern!(py, "set_result"), (value,))?,
            Err(failure) => waiter.call_method1(py, intern!(py, "set_exception"), (failure,))?,
        };
        Ok(())
    }

    /// Nothing can come any more, for this reason.
    fn lost(&mut self, py: Python<'_>, reason: PyErr) -> PyResult<()> {
        self.channel.core_mut().abandon();
        if self.driver.is_busy() {
            let _ = self.driver.step(py, self.channel.core_mut());
            self.wake(py, Err(reason))?;
        }
        self.abort(py)
    }

    fn abort(&mut self, py: Python<'_>) -> PyResult<()> {
        self.write = None;
        self.socket = Direct::default();
        if let Some(transport) = self.transport.take() {
            transport.call_method0(py, intern!(py, "abort"))?;
        }
        Ok(())
    }

    /// Lets go of what is the parent's, without a word to it, to its event loop or to the server.
    fn forget(&mut self) {
        self.channel.core_mut().abandon();
        self.write = None;
        self.socket = Direct::default();
        self.waiter = None;
        self.under_way = None;
        self.transport = None;
    }

    /// Stops the flood of a stream that is not fetched, and lets it flow again.
    fn throttle(&mut self, py: Python<'_>) -> PyResult<()> {
        let Some(transport) = &self.transport else { return Ok(()) };
        let full = !self.driver.is_busy() && self.channel.core().backlog() > STREAM_BACKLOG;
        if full != self.paused {
            let method = if full { intern!(py, "pause_reading") } else { intern!(py, "resume_reading") };
            transport.call_method0(py, method)?;
            self.paused = full;
        }
        Ok(())
    }
}

impl AsyncWire {
    fn lock(&self, py: Python<'_>) -> PyResult<MutexGuard<'_, Inner>> {
        self.inner.try_lock().map_err(|_| driver::busy(py))
    }

    /// Begins what the server answers as soon as it can.
    fn run(slf: &Bound<'_, Self>, start: impl FnOnce(&mut Driver, &mut Client) -> PyResult<()>) -> PyResult<Py<PyAny>> {
        let (this, py) = (slf.get(), slf.py());
        let (mut inner, waiter) = this.begin(py, start)?;
        if inner.driver.is_busy() {
            inner.timers.begin(this.event_loop.bind(py), slf, this.limits)?;
            inner.receive_directly(py, &this.settings)?;
        }
        if inner.driver.is_busy() {
            inner.under_way = Some(UnderWay::begin());
        }
        Ok(waiter)
    }

    /// Begins what may take any time.
    fn run_within(
        slf: &Bound<'_, Self>,
        limits: Limits,
        start: impl FnOnce(&mut Driver, &mut Client) -> PyResult<()>,
    ) -> PyResult<Py<PyAny>> {
        let (this, py) = (slf.get(), slf.py());
        let (mut inner, waiter) = this.begin(py, start)?;
        if inner.driver.is_busy() {
            inner.timers.begin(this.event_loop.bind(py), slf, limits)?;
        }
        Ok(waiter)
    }

    /// Begins an operation, sends what it has to say, and takes what is here already. A future for its outcome.
    fn begin(
        &self,
        py: Python<'_>,
        start: impl FnOnce(&mut Driver, &mut Client) -> PyResult<()>,
    ) -> PyResult<(MutexGuard<'_, Inner>, Py<PyAny>)> {
        if !self.process.is_this() {
            return Err(driver::forked(py));
        }
        let mut inner = self.lock(py)?;
        let Inner { channel, driver, .. } = &mut *inner;
        start(driver, channel.core_mut())?;
        let waiter = self.create_future.call0(py)?;
        inner.waiter = Some(waiter.clone_ref(py));
        inner.under_way = None;
        inner.timers.end(py)?;
        if let Err(failure) = inner.flush(py) {
            // Raised here and now, so that no future carries it, too.
            inner.waiter = None;
            inner.lost(py, failure.clone_ref(py))?;
            return Err(failure);
        }
        if inner.driver.may_be_done() || inner.channel.core().backlog() > 0 || inner.paused {
            // Rows of a stream may be here already.
            inner.progress(py, &self.settings)?;
            inner.throttle(py)?;
        }
        Ok((inner, waiter))
    }
}

impl AsyncWire {
    /// Looks after the write time-out whether fewer than `waiting` bytes are still to be sent.
    fn watch_writing(slf: &Bound<'_, Self>, waiting: usize) -> PyResult<()> {
        let (this, py) = (slf.get(), slf.py());
        let Some(limit) = this.limits.write else { return Ok(()) };
        let stuck = slf.getattr(intern!(py, "stuck"))?;
        let call = (limit.as_secs_f64(), stuck, waiting);
        let timer = this.event_loop.call_method1(py, intern!(py, "call_later"), call)?;
        *this.stalled.lock().unwrap_or_else(PoisonError::into_inner) = Some(timer);
        Ok(())
    }

    /// The server takes bytes again, or is gone.
    fn unstall(&self, py: Python<'_>) -> PyResult<()> {
        match self.stalled.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(timer) => timer.call_method0(py, intern!(py, "cancel")).map(drop),
            None => Ok(()),
        }
    }
}

#[pymethods]
impl AsyncWire {
    #[new]
    fn new(py: Python<'_>, settings: Settings, event_loop: Py<PyAny>) -> PyResult<Self> {
        let driver = settings.driver(py)?;
        let channel = Channel::new(Client::new(settings.options(py)?));
        let space = Py::new(py, ReceiveSpace::new())?;
        let view = PyMemoryView::from(space.bind(py).as_any())?.unbind();
        let create_future = event_loop.getattr(py, intern!(py, "create_future"))?;
        let full = Arc::<AtomicBool>::default();
        let inner = Inner {
            channel,
            driver,
            transport: None,
            write: None,
            socket: Direct::default(),
            shortcut: Shortcut::of(event_loop.bind(py)),
            waiter: None,
            under_way: None,
            timers: Timers::default(),
            closed: None,
            paused: false,
            full: full.clone(),
        };
        Ok(Self {
            inner: Mutex::new(inner),
            limits: settings.limits(),
            settings,
            space,
            view,
            event_loop,
            create_future,
            full,
            stalled: Mutex::default(),
            process: Process::current(),
        })
    }

    /// Whoever waits holds this object, and is held by it: the collector has to see that, to find tasks that no loop will
    /// run again.
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.event_loop)?;
        visit.call(&self.create_future)?;
        // One that is in use is no garbage.
        if let Ok(inner) = self.inner.try_lock() {
            for object in [&inner.waiter, &inner.closed, &inner.transport, &inner.write].into_iter().flatten() {
                visit.call(object)?;
            }
        }
        Ok(())
    }

    fn __clear__(&self) {
        let Ok(mut inner) = self.inner.try_lock() else { return };
        let held = [inner.waiter.take(), inner.closed.take(), inner.transport.take(), inner.write.take()];
        // Dropping runs other people's code.
        drop(inner);
        drop(held);
    }

    fn connection_made(&self, py: Python<'_>, transport: Py<PyAny>) -> PyResult<()> {
        let mut inner = self.lock(py)?;
        inner.write = Some(transport.getattr(py, intern!(py, "write"))?);
        inner.socket = Direct::of(transport.bind(py))?;
        inner.transport = Some(transport);
        Ok(())
    }

    fn get_buffer(&self, py: Python<'_>, _sizehint: isize) -> Py<PyMemoryView> {
        self.view.clone_ref(py)
    }

    fn buffer_updated(&self, py: Python<'_>, count: usize) -> PyResult<()> {
        let mut inner = self.lock(py)?;
        inner.timers.hear();
        let received = self.space.get().read(count, |bytes| inner.channel.receive(bytes));
        if let Err(failure) = received {
            return inner.lost(py, transport_error(py, &failure, None));
        }
        inner.progress(py, &self.settings)?;
        inner.throttle(py)
    }

    fn eof_received(&self, py: Python<'_>) -> PyResult<()> {
        let mut inner = self.lock(py)?;
        inner.channel.received_eof();
        inner.progress(py, &self.settings)
    }

    fn connection_lost(&self, py: Python<'_>, cause: Option<Py<PyAny>>) -> PyResult<()> {
        let mut inner = self.lock(py)?;
        let cause = match cause {
            Some(cause) => format!(" ({})", cause.bind(py).str()?),
            None => String::new(),
        };
        let message = format!("Lost connection to MySQL server during query{cause}");
        inner.transport = None;
        inner.socket = Direct::default();
        self.unstall(py)?;
        inner.lost(py, error(py, Class::Operational, Some(client_errno::SERVER_LOST), &message))?;
        if let Some(closed) = inner.closed.take()
            && !closed.call_method0(py, intern!(py, "done"))?.is_truthy(py)?
        {
            closed.call_method1(py, intern!(py, "set_result"), (py.None(),))?;
        }
        Ok(())
    }

    /// Nothing may have come for as long as the read time-out.
    fn timed_out(slf: &Bound<'_, Self>) -> PyResult<()> {
        let (this, py) = (slf.get(), slf.py());
        let mut inner = this.lock(py)?;
        let limit = this.limits.read.unwrap_or_default();
        // A server that is still being told cannot answer yet; the write time-out watches that.
        if this.full.load(Ordering::Relaxed) {
            inner.timers.hear();
        }
        if !inner.timers.is_silent(this.event_loop.bind(py), slf, limit)? {
            return Ok(());
        }
        let message = "Lost connection to MySQL server during query (timed out while reading)";
        inner.lost(py, error(py, Class::Operational, Some(client_errno::SERVER_LOST), message))
    }

    /// The server may have taken nothing for as long as the write time-out: `waiting` bytes were to be sent before.
    fn stuck(slf: &Bound<'_, Self>, waiting: usize) -> PyResult<()> {
        let (this, py) = (slf.get(), slf.py());
        let Some(transport) = this.lock(py)?.transport.as_ref().map(|transport| transport.clone_ref(py)) else {
            return Ok(());
        };
        let left: usize = transport.call_method0(py, intern!(py, "get_write_buffer_size"))?.extract(py)?;
        if left < waiting {
            return Self::watch_writing(slf, left);
        }
        let message = "Lost connection to MySQL server during query (timed out while writing)";
        this.lock(py)?.lost(py, error(py, Class::Operational, Some(client_errno::SERVER_LOST), message))
    }

    /// Takes whoever waits off the operation under way, which goes on: `drain` reads its answer away. None when nobody
    /// waits.
    fn detach(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        let mut inner = self.lock(py)?;
        inner.timers.end(py)?;
        inner.under_way = None;
        Ok(inner.waiter.take())
    }

    /// The exception for an operation that `query_timeout` has ended.
    fn overdue_error(&self, py: Python<'_>) -> Py<PyAny> {
        driver::overdue(py, self.limits.query).value(py).clone().unbind().into_any()
    }

    /// The transport's buffer is full. Called amid our own writes, so it must not lock.
    fn pause_writing(slf: &Bound<'_, Self>) -> PyResult<()> {
        slf.get().full.store(true, Ordering::Relaxed);
        Self::watch_writing(slf, usize::MAX)
    }

    /// The transport takes bytes again.
    fn resume_writing(&self, py: Python<'_>) -> PyResult<()> {
        self.full.store(false, Ordering::Relaxed);
        self.unstall(py)?;
        match self.inner.try_lock() {
            Ok(mut inner) => inner.progress(py, &self.settings),
            // Called amid our own writes: whoever writes looks at the flag.
            Err(_) => Ok(()),
        }
    }

    /// Waits for the login to be over.
    fn login(slf: &Bound<'_, Self>) -> PyResult<Py<PyAny>> {
        Self::run_within(slf, Limits::default(), |driver, _| {
            driver.login();
            Ok(())
        })
    }

    /// Runs SQL, with `args` filled in, and answers its first result.
    #[pyo3(signature = (sql, args=None, as_dict=false))]
    fn query(
        slf: &Bound<'_, Self>,
        sql: &Bound<'_, PyAny>,
        args: Option<&Bound<'_, PyAny>>,
        as_dict: bool,
    ) -> PyResult<Py<PyAny>> {
        Self::run(slf, |driver, client| driver.query(slf.py(), client, sql, args, as_dict))
    }

    /// Runs SQL and answers the head of its first result; rows are fetched by `fetch`.
    #[pyo3(signature = (sql, args=None, as_dict=false))]
    fn open_stream(
        slf: &Bound<'_, Self>,
        sql: &Bound<'_, PyAny>,
        args: Option<&Bound<'_, PyAny>>,
        as_dict: bool,
    ) -> PyResult<Py<PyAny>> {
        Self::run(slf, |driver, client| driver.open_stream(slf.py(), client, sql, args, as_dict))
    }

    /// Goes on to the result behind a stream.
    fn next_stream(slf: &Bound<'_, Self>, as_dict: bool) -> PyResult<Py<PyAny>> {
        Self::run(slf, |driver, _| driver.next_stream(slf.py(), as_dict))
    }

    /// Up to `most` rows of the stream; fewer only at its end.
    fn fetch(slf: &Bound<'_, Self>, most: usize) -> PyResult<Py<PyAny>> {
        Self::run(slf, |driver, _| driver.fetch(slf.py(), most))
    }

    /// Up to `most` rows of the stream as a batch of Arrow's; None behind the last.
    fn fetch_arrow(slf: &Bound<'_, Self>, most: usize) -> PyResult<Py<PyAny>> {
        Self::run(slf, |driver, _| driver.fetch_arrow(slf.py(), most))
    }

    /// Reads and drops what is still to come, whatever operation it belongs to. False when `most` bytes of rows were
    /// dropped and more is to come.
    #[pyo3(signature = (most=None))]
    fn drain(slf: &Bound<'_, Self>, most: Option<usize>) -> PyResult<Py<PyAny>> {
        Self::run_within(slf, Limits { query: None, ..slf.get().limits }, |driver, _| {
            driver.drain(most);
            Ok(())
        })
    }

    /// True when nothing is lost by ending the stream's statement on the server.
    #[getter]
    fn may_end_stream(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.lock(py)?.driver.may_end_stream())
    }

    /// Prepares a statement with `?` for values.
    fn prepare(slf: &Bound<'_, Self>, sql: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        Self::run(slf, |driver, client| driver.prepare(slf.py(), client, sql))
    }

    /// A statement with `?` for each `%s`, which its first execution prepares; None when it has other placeholders, or
    /// some inside quotes.
    fn statement(&self, py: Python<'_>, sql: &Bound<'_, PyAny>) -> PyResult<Option<Prepared>> {
        let mut inner = self.lock(py)?;
        let Inner { channel, driver, .. } = &mut *inner;
        driver.statement(channel.core(), sql)
    }

    /// Runs a prepared statement and answers its first result.
    #[pyo3(signature = (prepared, args=None, as_dict=false))]
    fn execute(
        slf: &Bound<'_, Self>,
        prepared: &Bound<'_, Prepared>,
        args: Option<&Bound<'_, PyAny>>,
        as_dict: bool,
    ) -> PyResult<Py<PyAny>> {
        Self::run(slf, |driver, client| driver.execute(slf.py(), client, prepared, args, as_dict))
    }

    /// Runs a prepared statement for each of `rows` and answers one result for all; up to `window` executions are on
    /// their way at a time.
    #[pyo3(signature = (prepared, rows, window, as_dict=false))]
    fn execute_each(
        slf: &Bound<'_, Self>,
        prepared: &Prepared,
        rows: &Bound<'_, PyAny>,
        window: usize,
        as_dict: bool,
    ) -> PyResult<Py<PyAny>> {
        Self::run(slf, |driver, client| driver.execute_each(slf.py(), client, prepared, rows, window, as_dict))
    }

    /// Runs SQL for each of `rows` and answers one result for all. Requests are at most `most` bytes long, unless a
    /// single row is longer.
    #[pyo3(signature = (sql, rows, most, as_dict=false))]
    fn execute_many(
        slf: &Bound<'_, Self>,
        sql: &Bound<'_, PyAny>,
        rows: &Bound<'_, PyAny>,
        most: usize,
        as_dict: bool,
    ) -> PyResult<Py<PyAny>> {
        Self::run(slf, |driver, client| driver.execute_many(slf.py(), client, sql, rows, most, as_dict))
    }

    /// Sends a LOAD DATA LOCAL whose file is pushed; answers the name that the server asks for.
    #[pyo3(signature = (sql, args=None))]
    fn begin_file(
        slf: &Bound<'_, Self>,
        sql: &Bound<'_, PyAny>,
        args: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Py<PyAny>> {
        Self::run(slf, |driver, client| driver.begin_file(slf.py(), client, sql, args))
    }

    /// Sends a piece of that file; done when the transport takes the next.
    fn push_file(slf: &Bound<'_, Self>, piece: &[u8]) -> PyResult<Py<PyAny>> {
        Self::run(slf, |driver, client| driver.push_file(slf.py(), client, piece))
    }

    /// Ends that file and answers the statement's result.
    fn end_file(slf: &Bound<'_, Self>) -> PyResult<Py<PyAny>> {
        Self::run(slf, |driver, client| driver.end_file(slf.py(), client))
    }

    /// Forgets a prepared statement. The message travels with the next request.
    fn forget(&self, py: Python<'_>, prepared: &Prepared) -> PyResult<()> {
        let Some(statement) = prepared.statement() else { return Ok(()) };
        // A closed connection has forgotten already.
        let _ = self.lock(py)?.channel.core_mut().close_statement(statement);
        Ok(())
    }

    /// Introduces us as a replica.
    fn register_replica(slf: &Bound<'_, Self>, server_id: u32, host: String, port: u16) -> PyResult<Py<PyAny>> {
        Self::run_within(slf, slf.get().limits, |driver, client| {
            binlog::register(driver, slf.py(), client, server_id, host, port)
        })
    }

    /// Asks for the binary log and takes what comes first; `listen_binlog` takes the rest.
    fn dump_binlog(
        slf: &Bound<'_, Self>,
        request: binlog::DumpRequest,
        reader: Py<binlog::BinlogReader>,
    ) -> PyResult<Py<PyAny>> {
        Self::run_within(slf, slf.get().limits, |driver, client| {
            binlog::dump(driver, slf.py(), client, &request)?;
            binlog::listen(driver, slf.py(), client, &reader)
        })
    }

    /// Waits for packets of the binary log, which go to `reader`.
    fn listen_binlog(slf: &Bound<'_, Self>, reader: Py<binlog::BinlogReader>) -> PyResult<Py<PyAny>> {
        Self::run_within(slf, slf.get().limits, |driver, client| binlog::listen(driver, slf.py(), client, &reader))
    }

    /// Asks whether the server is there.
    fn ping(slf: &Bound<'_, Self>) -> PyResult<Py<PyAny>> {
        Self::run(slf, |driver, client| driver.command(slf.py(), client, Client::ping))
    }

    /// Forgets all session state but the login.
    fn reset(slf: &Bound<'_, Self>) -> PyResult<Py<PyAny>> {
        Self::run(slf, |driver, client| driver.command(slf.py(), client, Client::reset))
    }

    /// Sends statements whose rows do not matter, all in one write, before them COM_RESET_CONNECTION if `reset`.
    #[pyo3(signature = (statements, reset=false))]
    fn set_up(slf: &Bound<'_, Self>, statements: &Bound<'_, PyAny>, reset: bool) -> PyResult<Py<PyAny>> {
        Self::run(slf, |driver, client| driver.set_up(slf.py(), client, statements, reset))
    }

    /// Logs in again on the same connection, as `settings` say.
    fn change_user(slf: &Bound<'_, Self>, settings: Settings) -> PyResult<Py<PyAny>> {
        let options = settings.options(slf.py())?;
        Self::run(slf, |driver, client| driver.change_user(slf.py(), client, options))
    }

    /// Changes the default database.
    fn select_database(slf: &Bound<'_, Self>, name: &str) -> PyResult<Py<PyAny>> {
        Self::run(slf, |driver, client| {
            driver.command(slf.py(), client, |client| client.select_database(name.as_bytes()))
        })
    }

    /// Says good bye and closes; the future is done when the transport is closed.
    fn quit(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let mut inner = self.lock(py)?;
        let closed = self.create_future.call0(py)?;
        if !self.process.is_this() {
            inner.forget();
        }
        match inner.transport.take() {
            Some(transport) => {
                if inner.channel.core_mut().quit().is_ok() {
                    // The peer may have gone first; closed is closed.
                    let _ = inner.flush(py);
                }
                inner.write = None;
                inner.closed = Some(closed.clone_ref(py));
                transport.call_method0(py, intern!(py, "close"))?;
            }
            None => {
                closed.call_method1(py, intern!(py, "set_result"), (py.None(),))?;
            }
        }
        Ok(closed)
    }

    /// Closes without a word. Harmless at any time, even when the loop is closed.
    fn abort(&self, py: Python<'_>) -> PyResult<()> {
        let mut inner = self.lock(py)?;
        if !self.process.is_this() {
            inner.forget();
            return Ok(());
        }
        let loop_closed = self.event_loop.call_method0(py, intern!(py, "is_closed"))?.is_truthy(py)?;
        if loop_closed {
            // No loop will ever run the transport's clean-up: close its socket by hand.
            inner.channel.core_mut().abandon();
            inner.write = None;
            inner.waiter = None;
            inner.under_way = None;
            if let Some(transport) = inner.transport.take() {
                close_socket(py, &transport)?;
            }
            return Ok(());
        }
        let message = "the connection was closed";
        inner.lost(py, error(py, Class::Operational, Some(client_errno::SERVER_LOST), message))
    }

    /// Sends these named values with every later statement.
    fn set_attributes(&self, py: Python<'_>, attributes: &Bound<'_, PyDict>) -> PyResult<()> {
        let mut inner = self.lock(py)?;
        let Inner { channel, driver, .. } = &mut *inner;
        driver.set_attributes(py, channel.core_mut(), attributes)
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
        let Inner { channel, driver, .. } = &mut *inner;
        Ok(PyBytes::new(py, driver.fill(py, channel.core(), sql, args)?))
    }

    /// SQL with the list of values of an INSERT repeated for each of `rows`; of other statements, that of the last row.
    fn mogrify_many<'py>(
        &self,
        py: Python<'py>,
        sql: &Bound<'_, PyAny>,
        rows: &Bound<'_, PyAny>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let mut inner = self.lock(py)?;
        let Inner { channel, driver, .. } = &mut *inner;
        Ok(PyBytes::new(py, &driver.fill_many(py, channel.core(), sql, rows)?))
    }

    /// SQL with `?` for each `%s`; None when it has other placeholders, or some inside quotes.
    fn question_marks(&self, py: Python<'_>, sql: &Bound<'_, PyAny>) -> PyResult<Option<Py<PyBytes>>> {
        self.lock(py)?.driver.encoding.question_marks(sql)
    }

    /// The SQL literal of a value.
    fn literal<'py>(&self, py: Python<'py>, value: &Bound<'_, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
        let mut literal = Vec::new();
        let mut inner = self.lock(py)?;
        let Inner { channel, driver, .. } = &mut *inner;
        driver.obey(channel.core());
        driver.encoding.put_literal(&mut literal, value)?;
        Ok(PyBytes::new(py, &literal))
    }

    /// True while the connection can be used.
    #[getter]
    fn is_open(&self, py: Python<'_>) -> bool {
        let open = |inner: MutexGuard<'_, Inner>| inner.transport.is_some() && !inner.channel.core().is_closed();
        self.process.is_this() && self.lock(py).map_or(true, open)
    }

    /// True when the connection can be used and nothing is left of its last use: no answer, no transaction.
    #[getter]
    fn is_clean(&self, py: Python<'_>) -> bool {
        let clean =
            |inner: MutexGuard<'_, Inner>| inner.transport.is_some() && inner.driver.is_clean(inner.channel.core());
        self.process.is_this() && self.lock(py).is_ok_and(clean)
    }

    /// True while an answer is awaited.
    #[getter]
    fn is_busy(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.lock(py)?.driver.is_busy())
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
        Ok(self.lock(py)?.channel.core().session().server_version.clone())
    }

    /// What KILL takes.
    #[getter]
    fn connection_id(&self, py: Python<'_>) -> PyResult<u32> {
        Ok(self.lock(py)?.channel.core().session().connection_id)
    }

    /// The server's status flags.
    #[getter]
    fn server_status(&self, py: Python<'_>) -> PyResult<u16> {
        Ok(self.lock(py)?.channel.core().session().status)
    }

    /// The default database, as far as the server has told; None when it has not.
    #[getter]
    fn schema(&self, py: Python<'_>) -> PyResult<Option<String>> {
        Ok(self.lock(py)?.channel.core().session().state.schema.clone())
    }

    /// What the server has told of changes: database, variables, GTIDs, transaction's state and characteristics.
    #[getter]
    fn session_state(&self, py: Python<'_>) -> PyResult<StateTuple> {
        Ok(state_tuple(&self.lock(py)?.channel.core().session().state))
    }

    /// True when the server tells of changes of session state.
    #[getter]
    fn tracks_session(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.lock(py)?.channel.core().session().has(capability::SESSION_TRACK))
    }

    /// Python's name of the character set that statements are in; None for UTF-8.
    #[getter]
    fn codec(&self, py: Python<'_>) -> PyResult<Option<String>> {
        Ok(self.lock(py)?.driver.encoding.name.clone())
    }

    /// The plugin that let us in.
    #[getter]
    fn auth_plugin(&self, py: Python<'_>) -> PyResult<String> {
        Ok(self.lock(py)?.channel.core().session().auth_plugin.clone())
    }

    /// The TLS version and cipher; None in plain text.
    #[getter]
    fn tls_description(&self, py: Python<'_>) -> PyResult<Option<String>> {
        Ok(self.lock(py)?.channel.tls_description())
    }
}

/// Closes the socket of a transport whose loop is closed.
fn close_socket(py: Python<'_>, transport: &Py<PyAny>) -> PyResult<()> {
    static CLOSE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let close = CLOSE.import(py, "rowferry._base.transports", "close_without_loop")?;
    close.call1((transport,)).map(drop)
}
