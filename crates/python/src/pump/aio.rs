use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyMemoryView};
use rowferry_client::Channel;

use super::limits::{Limits, Timers};
use super::{Conversation, Step};
use crate::direct::{Direct, Shortcut, UnderWay};
use crate::forks::Process;
use crate::space::ReceiveSpace;

/// A conversation that an event loop moves the bytes of: what is behind an asyncio protocol. Operations answer futures of
/// the loop.
///
/// The class that Python sees is subclassed there by one that is an `asyncio.BufferedProtocol`, too: the event loop reads
/// straight into our memory.
pub struct OnLoop<D: Conversation> {
    inner: Mutex<Inner<D>>,
    settings: D::Settings,
    space: Py<ReceiveSpace>,
    view: Py<PyMemoryView>,
    event_loop: Py<PyAny>,
    create_future: Py<PyAny>,
    /// The transport takes no more bytes for now. Set amid our own writes, so it stands beside the lock.
    full: Arc<AtomicBool>,
    limits: Limits,
    /// The timer for the write time-out. Set and unset from within calls of the transport, when `inner` is in use.
    stalled: Mutex<Option<Py<PyAny>>>,
    process: Process,
}

/// What the operations of one connection share.
pub struct Inner<D: Conversation> {
    /// The core and what waits to be sent.
    pub channel: Channel<D::Client>,
    /// The half without colour.
    pub driver: D,
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
    full: Arc<AtomicBool>,
}

/// What a stream that nobody fetches may leave in memory.
const STREAM_BACKLOG: usize = 1024 * 1024;

impl<D: Conversation> Inner<D> {
    /// Hands everything that waits to the transport.
    fn flush(&mut self, py: Python<'_>) -> PyResult<()> {
        loop {
            let output = self.channel.output().map_err(|failure| D::transport_error(py, &failure, None))?;
            if output.is_empty() {
                return Ok(());
            }
            let Some(write) = &self.write else { return Err(D::closed(py)) };
            if let Some(count) = self.socket.send(py, self.transport.as_ref(), output)? {
                self.channel.sent(count);
                continue;
            }
            let bytes = PyBytes::new(py, output);
            let count = output.len();
            // The transport copies what the kernel does not take at once. A closed one raises whatever its loop likes
            // (uvloop: RuntimeError); to us it is a lost connection.
            write.call1(py, (bytes,)).map_err(|cause| D::lost(py, Some(&cause.value(py).to_string())))?;
            self.channel.sent(count);
        }
    }

    /// Polls until the operation is over or more bytes are needed, and wakes whoever waits.
    fn progress(&mut self, py: Python<'_>, settings: &D::Settings) -> PyResult<()> {
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
        if D::is_closed(self.channel.core()) {
            self.abort(py)?;
        }
        Ok(())
    }

    /// Takes the answer in the loop's place, if that has nothing else to do.
    fn receive_directly(&mut self, py: Python<'_>, settings: &D::Settings) -> PyResult<()> {
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
                Err(failure) => return self.lost(py, D::transport_error(py, &failure, None)),
            }
            if !self.driver.is_busy() {
                self.shortcut.learn(true);
                return self.throttle(py);
            }
        }
        self.shortcut.learn(false);
        self.throttle(py)
    }

    fn start_tls(&mut self, py: Python<'_>, settings: &D::Settings) -> PyResult<()> {
        self.flush(py)?;
        if let Some(encryption) = D::encryption(py, settings)? {
            encryption.start(&mut self.channel).map_err(|failure| D::transport_error(py, &failure, None))?;
        }
        D::tls_started(self.channel.core_mut());
        self.flush(py)
    }

    /// The operation is over: its outcome goes to the future, unless that was cancelled meanwhile.
    fn wake(&mut self, py: Python<'_>, outcome: PyResult<Py<PyAny>>) -> PyResult<()> {
        if outcome.is_err() && self.driver.is_busy() {
            // What failed was the transport or TLS: nothing more can come.
            D::give_up(self.channel.core_mut());
            let _ = self.driver.step(py, self.channel.core_mut());
        }
        self.timers.end(py)?;
        self.under_way = None;
        let Some(waiter) = self.waiter.take() else { return Ok(()) };
        if waiter.call_method0(py, intern!(py, "done"))?.is_truthy(py)? {
            if let Ok(value) = &outcome {
                D::drop_outcome(value.bind(py), self.channel.core_mut());
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
        D::give_up(self.channel.core_mut());
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
        D::give_up(self.channel.core_mut());
        self.write = None;
        self.socket = Direct::default();
        self.waiter = None;
        self.under_way = None;
        self.transport = None;
    }

    /// Stops the flood of a stream that is not fetched, and lets it flow again.
    fn throttle(&mut self, py: Python<'_>) -> PyResult<()> {
        let Some(transport) = &self.transport else { return Ok(()) };
        let full = !self.driver.is_busy() && D::backlog(self.channel.core()) > STREAM_BACKLOG;
        if full != self.paused {
            let method = if full { intern!(py, "pause_reading") } else { intern!(py, "resume_reading") };
            transport.call_method0(py, method)?;
            self.paused = full;
        }
        Ok(())
    }

    /// True while there is a transport and the core can use it.
    fn is_open(&self) -> bool {
        self.transport.is_some() && !D::is_closed(self.channel.core())
    }
}

impl<D: Conversation> OnLoop<D> {
    /// A connection by this loop, whose transport is still to come.
    ///
    /// # Errors
    /// Python's, for a loop that is none.
    pub fn new(
        py: Python<'_>,
        settings: D::Settings,
        driver: D,
        channel: Channel<D::Client>,
        event_loop: Py<PyAny>,
        limits: Limits,
    ) -> PyResult<Self> {
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
            settings,
            space,
            view,
            event_loop,
            create_future,
            full,
            limits,
            stalled: Mutex::default(),
            process: Process::current(),
        })
    }

    /// How long operations may take.
    pub const fn limits(&self) -> Limits {
        self.limits
    }

    /// What the operations share.
    ///
    /// # Errors
    /// That of a busy connection, when it is called amid an operation.
    pub fn lock(&self, py: Python<'_>) -> PyResult<MutexGuard<'_, Inner<D>>> {
        self.inner.try_lock().map_err(|_| D::busy(py))
    }

    /// Begins what the server answers as soon as it can. `wire` is the object that has us.
    ///
    /// # Errors
    /// The operation's own, and those of the connection.
    pub fn run(
        &self,
        wire: &Bound<'_, PyAny>,
        start: impl FnOnce(Python<'_>, &mut D, &mut D::Client) -> PyResult<()>,
    ) -> PyResult<Py<PyAny>> {
        let py = wire.py();
        let (mut inner, waiter) = self.begin(py, start)?;
        if inner.driver.is_busy() {
            inner.timers.begin(self.event_loop.bind(py), wire, self.limits)?;
            inner.receive_directly(py, &self.settings)?;
        }
        if inner.driver.is_busy() {
            inner.under_way = Some(UnderWay::begin());
        }
        Ok(waiter)
    }

    /// Begins what may take any time.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn run_within(
        &self,
        wire: &Bound<'_, PyAny>,
        limits: Limits,
        start: impl FnOnce(Python<'_>, &mut D, &mut D::Client) -> PyResult<()>,
    ) -> PyResult<Py<PyAny>> {
        let py = wire.py();
        let (mut inner, waiter) = self.begin(py, start)?;
        if inner.driver.is_busy() {
            inner.timers.begin(self.event_loop.bind(py), wire, limits)?;
        }
        Ok(waiter)
    }

    /// Begins an operation, sends what it has to say, and takes what is here already. A future for its outcome.
    fn begin(
        &self,
        py: Python<'_>,
        start: impl FnOnce(Python<'_>, &mut D, &mut D::Client) -> PyResult<()>,
    ) -> PyResult<(MutexGuard<'_, Inner<D>>, Py<PyAny>)> {
        if !self.process.is_this() {
            return Err(D::forked(py));
        }
        let mut inner = self.lock(py)?;
        let Inner { channel, driver, .. } = &mut *inner;
        start(py, driver, channel.core_mut())?;
        let waiter = self.create_future.call0(py)?;
        inner.waiter = Some(waiter.clone_ref(py));
        inner.under_way = None;
        inner.timers.end(py)?;
        if inner.driver.may_be_done() || D::backlog(inner.channel.core()) > 0 || inner.paused {
            // Rows of a stream may be here already, or a statement is prepared.
            inner.progress(py, &self.settings)?;
            inner.throttle(py)?;
        } else if let Err(failure) = inner.flush(py) {
            // Raised here and now, so that no future carries it, too.
            inner.waiter = None;
            inner.lost(py, failure.clone_ref(py))?;
            return Err(failure);
        }
        Ok((inner, waiter))
    }

    /// Looks after the write time-out whether fewer than `waiting` bytes are still to be sent.
    fn watch_writing(&self, wire: &Bound<'_, PyAny>, waiting: usize) -> PyResult<()> {
        let py = wire.py();
        let Some(limit) = self.limits.write else { return Ok(()) };
        let stuck = wire.getattr(intern!(py, "stuck"))?;
        let call = (limit.as_secs_f64(), stuck, waiting);
        let timer = self.event_loop.call_method1(py, intern!(py, "call_later"), call)?;
        *self.stalled.lock().unwrap_or_else(PoisonError::into_inner) = Some(timer);
        Ok(())
    }

    /// The server takes bytes again, or is gone.
    fn unstall(&self, py: Python<'_>) -> PyResult<()> {
        match self.stalled.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(timer) => timer.call_method0(py, intern!(py, "cancel")).map(drop),
            None => Ok(()),
        }
    }

    /// Whoever waits holds the wire, and is held by it: the collector has to see that, to find tasks that no loop will
    /// run again.
    pub fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
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

    /// The collector has found nobody who holds the wire from outside.
    pub fn clear(&self) {
        let Ok(mut inner) = self.inner.try_lock() else { return };
        let held = [inner.waiter.take(), inner.closed.take(), inner.transport.take(), inner.write.take()];
        // Dropping runs other people's code.
        drop(inner);
        drop(held);
    }

    /// The loop has made a transport.
    pub fn connection_made(&self, py: Python<'_>, transport: Py<PyAny>) -> PyResult<()> {
        let mut inner = self.lock(py)?;
        inner.write = Some(transport.getattr(py, intern!(py, "write"))?);
        inner.socket = Direct::of(transport.bind(py))?;
        inner.transport = Some(transport);
        Ok(())
    }

    /// Where the loop reads into.
    pub fn buffer(&self, py: Python<'_>) -> Py<PyMemoryView> {
        self.view.clone_ref(py)
    }

    /// The loop has read so many bytes.
    pub fn buffer_updated(&self, py: Python<'_>, count: usize) -> PyResult<()> {
        let mut inner = self.lock(py)?;
        inner.timers.hear();
        let received = self.space.get().read(count, |bytes| inner.channel.receive(bytes));
        if let Err(failure) = received {
            return inner.lost(py, D::transport_error(py, &failure, None));
        }
        inner.progress(py, &self.settings)?;
        inner.throttle(py)
    }

    /// The server will say nothing more.
    pub fn eof_received(&self, py: Python<'_>) -> PyResult<()> {
        let mut inner = self.lock(py)?;
        inner.channel.received_eof();
        inner.progress(py, &self.settings)
    }

    /// The transport is closed, or lost for this reason.
    pub fn connection_lost(&self, py: Python<'_>, cause: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let mut inner = self.lock(py)?;
        let cause = cause.map(|cause| cause.str()).transpose()?.map(|cause| cause.to_string());
        inner.transport = None;
        inner.socket = Direct::default();
        self.unstall(py)?;
        inner.lost(py, D::lost(py, cause.as_deref()))?;
        if let Some(closed) = inner.closed.take()
            && !closed.call_method0(py, intern!(py, "done"))?.is_truthy(py)?
        {
            closed.call_method1(py, intern!(py, "set_result"), (py.None(),))?;
        }
        Ok(())
    }

    /// Nothing may have come for as long as the read time-out.
    pub fn timed_out(&self, wire: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = wire.py();
        let mut inner = self.lock(py)?;
        let limit = self.limits.read.unwrap_or_default();
        // A server that is still being told cannot answer yet; the write time-out watches that.
        if self.full.load(Ordering::Relaxed) {
            inner.timers.hear();
        }
        if !inner.timers.is_silent(self.event_loop.bind(py), wire, limit)? {
            return Ok(());
        }
        inner.lost(py, D::lost(py, Some("timed out while reading")))
    }

    /// The server may have taken nothing for as long as the write time-out: `waiting` bytes were to be sent before.
    pub fn stuck(&self, wire: &Bound<'_, PyAny>, waiting: usize) -> PyResult<()> {
        let py = wire.py();
        let Some(transport) = self.lock(py)?.transport.as_ref().map(|transport| transport.clone_ref(py)) else {
            return Ok(());
        };
        let left: usize = transport.call_method0(py, intern!(py, "get_write_buffer_size"))?.extract(py)?;
        if left < waiting {
            return self.watch_writing(wire, left);
        }
        self.lock(py)?.lost(py, D::lost(py, Some("timed out while writing")))
    }

    /// Takes whoever waits off the operation under way, which goes on. None when nobody waits.
    pub fn detach(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        let mut inner = self.lock(py)?;
        inner.timers.end(py)?;
        inner.under_way = None;
        Ok(inner.waiter.take())
    }

    /// The transport's buffer is full. Called amid our own writes, so it must not lock.
    pub fn pause_writing(&self, wire: &Bound<'_, PyAny>) -> PyResult<()> {
        self.full.store(true, Ordering::Relaxed);
        self.watch_writing(wire, usize::MAX)
    }

    /// The transport takes bytes again.
    pub fn resume_writing(&self, py: Python<'_>) -> PyResult<()> {
        self.full.store(false, Ordering::Relaxed);
        self.unstall(py)?;
        match self.inner.try_lock() {
            Ok(mut inner) => inner.progress(py, &self.settings),
            // Called amid our own writes: whoever writes looks at the flag.
            Err(_) => Ok(()),
        }
    }

    /// Says good bye and closes; the future is done when the transport is closed.
    pub fn quit(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let mut inner = self.lock(py)?;
        let closed = self.create_future.call0(py)?;
        if !self.process.is_this() {
            inner.forget();
        }
        match inner.transport.take() {
            Some(transport) => {
                if D::say_good_bye(inner.channel.core_mut()) {
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
    pub fn abort(&self, py: Python<'_>) -> PyResult<()> {
        let mut inner = self.lock(py)?;
        if !self.process.is_this() {
            inner.forget();
            return Ok(());
        }
        let loop_closed = self.event_loop.call_method0(py, intern!(py, "is_closed"))?.is_truthy(py)?;
        if loop_closed {
            // No loop will ever run the transport's clean-up: close its socket by hand.
            D::give_up(inner.channel.core_mut());
            inner.write = None;
            inner.waiter = None;
            inner.under_way = None;
            if let Some(transport) = inner.transport.take() {
                close_socket(py, &transport)?;
            }
            return Ok(());
        }
        inner.lost(py, D::aborted(py))
    }

    /// True while the connection can be used.
    pub fn is_open(&self, py: Python<'_>) -> bool {
        self.process.is_this() && self.lock(py).map_or(true, |inner| inner.is_open())
    }

    /// True when the connection can be used as far as the kernel knows: its end may have come while no loop looked.
    pub fn is_quiet(&self, py: Python<'_>) -> bool {
        self.process.is_this() && self.lock(py).map_or(true, |inner| inner.is_open() && inner.socket.is_quiet())
    }

    /// True when the connection can be used and `is_clean` says so of what its last use has left.
    pub fn is_clean(&self, py: Python<'_>, is_clean: impl FnOnce(&D, &D::Client) -> bool) -> bool {
        let clean = |inner: MutexGuard<'_, Inner<D>>| {
            inner.transport.is_some() && is_clean(&inner.driver, inner.channel.core())
        };
        self.process.is_this() && self.lock(py).is_ok_and(clean)
    }

    /// The transport's socket while an operation is under way.
    ///
    /// # Errors
    /// Python's, for a transport that shows none.
    pub fn busy_socket<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let inner = self.lock(py)?;
        let (true, Some(transport)) = (inner.driver.is_busy(), &inner.transport) else { return Ok(None) };
        let socket = transport.bind(py).call_method1(intern!(py, "get_extra_info"), (intern!(py, "socket"),))?;
        Ok(Some(socket).filter(|socket| !socket.is_none()))
    }
}

/// Closes the socket of a transport whose loop is closed.
fn close_socket(py: Python<'_>, transport: &Py<PyAny>) -> PyResult<()> {
    static CLOSE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let close = CLOSE.import(py, "rowferry._base.transports", "close_without_loop")?;
    close.call1((transport,)).map(drop)
}

/// The methods of an asyncio protocol, before those that a class has of its own, all handed on to `$commands`, which makes
/// one block of them. The class has the pump as `pump`.
macro_rules! with_protocol {
    ($commands:ident! $wire:ident: $($own:tt)*) => {
        $commands! { $wire:
            fn __traverse__(
                &self,
                visit: pyo3::gc::PyVisit<'_>,
            ) -> Result<(), pyo3::gc::PyTraverseError> {
                self.pump.traverse(&visit)
            }

            fn __clear__(&self) {
                self.pump.clear();
            }

            fn connection_made(&self, py: Python<'_>, transport: Py<PyAny>) -> PyResult<()> {
                self.pump.connection_made(py, transport)
            }

            fn get_buffer(&self, py: Python<'_>, _sizehint: isize) -> Py<pyo3::types::PyMemoryView> {
                self.pump.buffer(py)
            }

            fn buffer_updated(&self, py: Python<'_>, count: usize) -> PyResult<()> {
                self.pump.buffer_updated(py, count)
            }

            fn eof_received(&self, py: Python<'_>) -> PyResult<()> {
                self.pump.eof_received(py)
            }

            fn connection_lost(&self, py: Python<'_>, cause: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
                self.pump.connection_lost(py, cause)
            }

            fn pause_writing(slf: &Bound<'_, Self>) -> PyResult<()> {
                slf.get().pump.pause_writing(slf)
            }

            fn resume_writing(&self, py: Python<'_>) -> PyResult<()> {
                self.pump.resume_writing(py)
            }

            /// Nothing may have come for as long as the read time-out.
            fn timed_out(slf: &Bound<'_, Self>) -> PyResult<()> {
                slf.get().pump.timed_out(slf)
            }

            /// The server may have taken nothing for as long as the write time-out: `waiting` bytes were to be sent before.
            fn stuck(slf: &Bound<'_, Self>, waiting: usize) -> PyResult<()> {
                slf.get().pump.stuck(slf, waiting)
            }

            /// Says good bye and closes; the future is done when the transport is closed.
            fn quit(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
                self.pump.quit(py)
            }

            /// Closes without a word. Harmless at any time, even when the loop is closed.
            fn abort(&self, py: Python<'_>) -> PyResult<()> {
                self.pump.abort(py)
            }

            /// True while the connection can be used.
            #[getter]
            fn is_open(&self, py: Python<'_>) -> bool {
                self.pump.is_open(py)
            }

            /// True when the connection can be used as far as the kernel knows: its end may have come while no loop looked.
            #[getter]
            fn is_quiet(&self, py: Python<'_>) -> bool {
                self.pump.is_quiet(py)
            }

            /// True while an answer is awaited.
            #[getter]
            fn is_busy(&self, py: Python<'_>) -> PyResult<bool> {
                Ok($crate::pump::Conversation::is_busy(&self.pump.lock(py)?.driver))
            }

            /// The TLS version and cipher; None in plain text.
            #[getter]
            fn tls_description(&self, py: Python<'_>) -> PyResult<Option<String>> {
                Ok(self.pump.lock(py)?.channel.tls_description())
            }

            $($own)*
        }
    };
}

pub(crate) use with_protocol;
