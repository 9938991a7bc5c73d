use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyMemoryView};
use rowferry_client::Channel;
use rowferry_wire_sqli::URGENT_INTERRUPT;
use rowferry_wire_sqli::client::{Client, CursorOptions};

use super::commands::with_commands;
use super::driver::{self, Discarded, Driver, Step, transport_error};
use super::result::QueryResult;
use super::settings::SettingsRead;
use crate::direct::{Direct, Shortcut, UnderWay};
use crate::errors::{Class, error};
use crate::space::ReceiveSpace;

/// A connection as an asyncio protocol. Operations answer futures of the loop.
///
/// Subclassed in Python by a class that is an `asyncio.BufferedProtocol`, too: the event loop reads straight into our
/// memory.
#[pyclass(frozen, subclass, module = "rowferry._core.informix")]
pub struct AsyncWire {
    inner: Mutex<Inner>,
    discarded: Discarded,
    /// The transport has enough to write for now. Set in the middle of a write, so it stands beside the lock.
    paused: Arc<AtomicBool>,
    space: Py<ReceiveSpace>,
    view: Py<PyMemoryView>,
    event_loop: Py<PyAny>,
    create_future: Py<PyAny>,
    /// How often bytes came.
    arrivals: std::sync::atomic::AtomicU64,
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
    /// Done when the transport is closed.
    closed: Option<Py<PyAny>>,
    paused: Arc<AtomicBool>,
}

impl Inner {
    /// Hands everything that waits to the transport.
    fn flush(&mut self, py: Python<'_>) -> PyResult<()> {
        loop {
            let output = self.channel.output().map_err(|failure| transport_error(py, &failure, None))?;
            if output.is_empty() {
                return Ok(());
            }
            let Some(write) = &self.write else { return Err(driver::closed(py)) };
            if let Some(count) = self.socket.send(py, self.transport.as_ref(), output)? {
                self.channel.sent(count);
                continue;
            }
            let bytes = PyBytes::new(py, output);
            let count = output.len();
            // The transport copies what the kernel does not take at once. uvloop raises RuntimeError for a closed one.
            write.call1(py, (bytes,)).map_err(|cause| {
                error(py, Class::Operational, None, &format!("connection lost: {}", cause.value(py)))
            })?;
            self.channel.sent(count);
        }
    }

    /// Polls until the operation is over or more bytes are needed, and wakes whoever waits.
    fn progress(&mut self, py: Python<'_>) -> PyResult<()> {
        while self.driver.is_busy() {
            let outcome = match self.driver.step(py, self.channel.core_mut()) {
                Ok(Step::Pending) => match self.flush(py) {
                    Ok(()) => break,
                    Err(failure) => Err(failure),
                },
                Ok(Step::Flush) => match self.flush(py) {
                    // What is made meanwhile would pile up in the transport.
                    Ok(()) if self.paused.load(Ordering::Relaxed) => break,
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
    fn receive_directly(&mut self, py: Python<'_>) -> PyResult<()> {
        if !self.shortcut.is_open() {
            return Ok(());
        }
        while self.shortcut.wait(py, &self.socket) {
            match self.socket.receive(&mut self.channel) {
                Ok(0) => break,
                Ok(_) => self.progress(py)?,
                Err(failure) => return self.lost(py, transport_error(py, &failure, None)),
            }
            if !self.driver.is_busy() {
                self.shortcut.learn(true);
                return Ok(());
            }
        }
        self.shortcut.learn(false);
        Ok(())
    }

    /// The operation is over: its outcome goes to the future, unless that was cancelled meanwhile.
    fn wake(&mut self, py: Python<'_>, outcome: PyResult<Py<PyAny>>) -> PyResult<()> {
        if outcome.is_err() && self.driver.is_busy() {
            // What failed was the transport or TLS: nothing more can come.
            self.channel.core_mut().disconnect();
            let _ = self.driver.step(py, self.channel.core_mut());
        }
        self.under_way = None;
        let Some(waiter) = self.waiter.take() else { return Ok(()) };
        if waiter.call_method0(py, intern!(py, "done"))?.is_truthy(py)? {
            if let Ok(value) = &outcome
                && let Ok(result) = value.bind(py).cast::<QueryResult>()
            {
                result.get().close_unread(self.channel.core_mut());
            }
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
        self.channel.core_mut().disconnect();
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
}

impl AsyncWire {
    fn lock(&self, py: Python<'_>) -> PyResult<MutexGuard<'_, Inner>> {
        self.inner.try_lock().map_err(|_| driver::busy(py))
    }

    fn run(&self, py: Python<'_>, start: impl FnOnce(&mut Driver, &mut Client) -> PyResult<()>) -> PyResult<Py<PyAny>> {
        let mut inner = self.lock(py)?;
        let Inner { channel, driver, .. } = &mut *inner;
        if driver.is_busy() {
            return Err(driver::busy(py));
        }
        self.discarded.close(channel.core_mut());
        start(driver, channel.core_mut())?;
        let waiter = self.wait(py, &mut inner)?;
        if inner.driver.is_busy() {
            inner.receive_directly(py)?;
        }
        if inner.driver.is_busy() {
            inner.under_way = Some(UnderWay::begin());
        }
        Ok(waiter)
    }

    fn session<T>(&self, py: Python<'_>, read: impl FnOnce(&Client) -> T) -> PyResult<T> {
        Ok(read(self.lock(py)?.channel.core()))
    }

    /// A future for the operation under way, which begins at once.
    fn wait(&self, py: Python<'_>, inner: &mut Inner) -> PyResult<Py<PyAny>> {
        let waiter = self.create_future.call0(py)?;
        inner.waiter = Some(waiter.clone_ref(py));
        inner.under_way = None;
        // A statement that is prepared already is on its way after this.
        inner.progress(py)?;
        Ok(waiter)
    }
}

with_commands! { AsyncWire:
    #[new]
    fn new(py: Python<'_>, settings: &Bound<'_, PyAny>, event_loop: Py<PyAny>) -> PyResult<Self> {
        let settings = SettingsRead::of(settings)?;
        let driver = settings.driver()?;
        let client =
            Client::new(settings.options()).map_err(|misuse| error(py, Class::Interface, None, &misuse.to_string()))?;
        let mut channel = Channel::new(client);
        if let Some(tls) = settings.tls(py)? {
            let started =
                tls.config(&settings.address()).and_then(|config| channel.start_tls(config, settings.tls_name()));
            started.map_err(|failure| transport_error(py, &failure, None))?;
        }
        let space = Py::new(py, ReceiveSpace::new())?;
        let view = PyMemoryView::from(space.bind(py).as_any())?.unbind();
        let create_future = event_loop.getattr(py, intern!(py, "create_future"))?;
        let paused = Arc::new(AtomicBool::new(false));
        let (transport, write, waiter, under_way, closed) = (None, None, None, None, None);
        // Silence is watched from Python, behind the call that begins an operation: nothing may wait within it.
        let may_wait = settings.timeouts().read.is_none();
        let shortcut = if may_wait { Shortcut::of(event_loop.bind(py)) } else { Shortcut::default() };
        let socket = Direct::default();
        let paused_too = paused.clone();
        let inner = Inner {
            channel,
            driver,
            transport,
            write,
            socket,
            shortcut,
            waiter,
            under_way,
            closed,
            paused: paused_too,
        };
        let (inner, discarded) = (Mutex::new(inner), Discarded::default());
        Ok(Self { inner, discarded, paused, space, view, event_loop, create_future, arrivals: 0.into() })
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
        self.arrivals.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let mut inner = self.lock(py)?;
        let received = self.space.get().read(count, |bytes| inner.channel.receive(bytes));
        if let Err(failure) = received {
            return inner.lost(py, transport_error(py, &failure, None));
        }
        inner.progress(py)
    }

    fn eof_received(&self, py: Python<'_>) -> PyResult<()> {
        let mut inner = self.lock(py)?;
        inner.channel.received_eof();
        inner.progress(py)
    }

    fn connection_lost(&self, py: Python<'_>, cause: Option<Py<PyAny>>) -> PyResult<()> {
        let mut inner = self.lock(py)?;
        let message = match cause {
            Some(cause) => format!("connection lost: {}", cause.bind(py).str()?),
            None => "connection lost: the server closed it".to_owned(),
        };
        inner.transport = None;
        inner.socket = Direct::default();
        inner.lost(py, error(py, Class::Operational, None, &message))?;
        if let Some(closed) = inner.closed.take()
            && !closed.call_method0(py, intern!(py, "done"))?.is_truthy(py)?
        {
            closed.call_method1(py, intern!(py, "set_result"), (py.None(),))?;
        }
        Ok(())
    }

    fn pause_writing(&self) {
        self.paused.store(true, Ordering::Relaxed);
    }

    fn resume_writing(&self, py: Python<'_>) -> PyResult<()> {
        self.paused.store(false, Ordering::Relaxed);
        self.lock(py)?.progress(py)
    }

    /// Waits for the login to be over. The outcome is None, where the server sends us instead, or a question of PAM: its
    /// style and text, for `answer`.
    fn login(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let mut inner = self.lock(py)?;
        let Inner { channel, driver, .. } = &mut *inner;
        driver.login(channel.core_mut());
        self.wait(py, &mut inner)
    }

    /// Answers a question of PAM, or acknowledges what is none; the outcome is as that of `login`.
    #[pyo3(signature = (answer=None))]
    fn answer(&self, py: Python<'_>, answer: Option<&[u8]>) -> PyResult<Py<PyAny>> {
        self.run(py, |driver, client| driver.answer(py, client, answer))
    }

    /// Reads and drops what is still to come of the operation under way.
    fn drain(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let mut inner = self.lock(py)?;
        inner.driver.drain();
        self.wait(py, &mut inner)
    }

    /// Interrupts the operation under way on the server; nothing when there is none.
    fn interrupt(&self, py: Python<'_>) -> PyResult<()> {
        let inner = self.lock(py)?;
        let (true, Some(transport)) = (inner.driver.is_busy(), &inner.transport) else { return Ok(()) };
        let socket = transport.call_method1(py, intern!(py, "get_extra_info"), (intern!(py, "socket"),))?;
        if socket.is_none(py) {
            return Ok(());
        }
        let descriptor = socket.call_method0(py, intern!(py, "fileno"))?.extract(py)?;
        // SAFETY: the descriptor is the transport's, which is open while we hold it.
        unsafe { send_urgent(descriptor, URGENT_INTERRUPT) }.map_err(|cause| {
            let failure = rowferry_client::Error::Io(rowferry_client::Waiting::Write, cause);
            transport_error(py, &failure, None)
        })
    }

    /// Says good bye and closes; the future is done when the transport is closed.
    fn quit(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let mut inner = self.lock(py)?;
        let closed = self.create_future.call0(py)?;
        match inner.transport.take() {
            Some(transport) => {
                if inner.channel.core_mut().exit().is_ok() {
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
        let loop_closed = self.event_loop.call_method0(py, intern!(py, "is_closed"))?.is_truthy(py)?;
        if loop_closed {
            // No loop will ever run the transport's clean-up: close its socket by hand.
            inner.channel.core_mut().disconnect();
            inner.write = None;
            inner.waiter = None;
            inner.under_way = None;
            if let Some(transport) = inner.transport.take() {
                close_socket(py, &transport)?;
            }
            return Ok(());
        }
        inner.lost(py, error(py, Class::Operational, None, "the connection was closed"))
    }

    /// True while the connection can be used.
    #[getter]
    fn is_open(&self, py: Python<'_>) -> bool {
        self.lock(py).map_or(true, |inner| inner.transport.is_some() && !inner.channel.core().is_closed())
    }

    /// How often bytes came. A server that sends is not silent, however long an answer takes.
    #[getter]
    fn arrivals(&self) -> u64 {
        self.arrivals.load(std::sync::atomic::Ordering::Relaxed)
    }

    /// True while an answer is awaited.
    #[getter]
    fn is_busy(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.lock(py)?.driver.is_busy())
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

/// Sends one byte of urgent data to the socket of this number.
///
/// # Safety
///
/// It is an open socket, and stays so meanwhile.
unsafe fn send_urgent(descriptor: RawSocket, byte: u8) -> std::io::Result<()> {
    // SAFETY: as the caller says.
    #[cfg(unix)]
    let socket = unsafe { std::os::fd::BorrowedFd::borrow_raw(descriptor) };
    // SAFETY: as the caller says.
    #[cfg(windows)]
    let socket = unsafe { std::os::windows::io::BorrowedSocket::borrow_raw(descriptor) };
    socket2::SockRef::from(&socket).send_out_of_band(&[byte]).map(drop)
}

#[cfg(unix)]
type RawSocket = std::os::fd::RawFd;
#[cfg(windows)]
type RawSocket = std::os::windows::io::RawSocket;
