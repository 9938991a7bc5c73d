//! Past the event loop's transport, where it would be a detour.
//!
//! **Writing.** A request is nearly always smaller than what the kernel takes at once: uvloop keeps what is written until
//! the end of the round, asyncio asks a selector that has nothing to say. So the bytes go to the socket, unless the
//! transport still has some that were given to it before; what the kernel does not take is the transport's.
//!
//! **Reading.** While the loop has nothing else to do, an answer is waited for in its place: see [`Shortcut`]. The transport
//! stays the reader of everything else, and of the end of a connection.

use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use rowferry_client::Channel;
use rowferry_wire::Core;

use crate::forks::Process;

/// The transport's socket.
#[derive(Default)]
pub struct Direct {
    /// Its number; `None` when there is none to be had, or the transport is closed.
    descriptor: Option<i32>,
    /// The transport was given bytes and may have them still.
    is_behind: bool,
}

impl Direct {
    /// The socket of a transport that has just been made.
    pub fn of(transport: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = transport.py();
        if cfg!(not(unix)) {
            // The loops of Windows have begun a write before they let us know.
            return Ok(Self::default());
        }
        let socket = transport.call_method1(intern!(py, "get_extra_info"), (intern!(py, "socket"),))?;
        let descriptor =
            if socket.is_none() { None } else { socket.call_method0(intern!(py, "fileno"))?.extract().ok() };
        Ok(Self { descriptor: descriptor.filter(|number| *number >= 0), is_behind: false })
    }

    /// Sends what the kernel takes now, and says how much. `None` when the transport has to take `bytes`.
    pub fn send(&mut self, py: Python<'_>, transport: Option<&Py<PyAny>>, bytes: &[u8]) -> PyResult<Option<usize>> {
        let (Some(descriptor), Some(transport)) = (self.descriptor, transport) else { return Ok(None) };
        if self.is_behind {
            let waiting: usize = transport.call_method0(py, intern!(py, "get_write_buffer_size"))?.extract(py)?;
            if waiting > 0 {
                return Ok(None);
            }
            self.is_behind = false;
        }
        match send_now(descriptor, bytes) {
            Some(count) if count > 0 => Ok(Some(count)),
            // Full or broken: the transport waits for room, and knows how to tell of a loss.
            _ => {
                self.is_behind = true;
                Ok(None)
            }
        }
    }

    /// False once the kernel knows that the peer has hung up, whether the loop has looked since or not.
    pub fn is_quiet(&self) -> bool {
        self.descriptor.is_none_or(|descriptor| !has_hung_up(descriptor))
    }

    /// Reads what is there into the channel's own memory, and says how much it was: 0 when the transport had better look,
    /// at the end of a connection or an error.
    pub fn receive<C: Core>(&self, channel: &mut Channel<C>) -> Result<usize, rowferry_client::Error> {
        let Some(descriptor) = self.descriptor else { return Ok(0) };
        let count = receive_now(descriptor, channel.receive_space(LEAST_READ));
        if count > 0 {
            channel.received(count)?;
        }
        Ok(count)
    }
}

/// Sends what the kernel takes, to the open socket of this number.
#[cfg(unix)]
fn send_now(descriptor: i32, bytes: &[u8]) -> Option<usize> {
    // SAFETY: pointer and length are of one slice. The transport closes its socket behind `connection_lost`, which makes us
    // forget the number, so it is no other's.
    let sent =
        unsafe { libc::send(descriptor, bytes.as_ptr().cast(), bytes.len(), libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL) };
    usize::try_from(sent).ok()
}

#[cfg(not(unix))]
fn send_now(_: i32, _: &[u8]) -> Option<usize> {
    None
}

/// Reads what has come to the open socket of this number; 0 for nothing, an end, an error.
#[cfg(unix)]
fn receive_now(descriptor: i32, space: &mut [u8]) -> usize {
    // SAFETY: pointer and length are of one slice, which nobody else has; the number as in `send_now`.
    let count = unsafe { libc::recv(descriptor, space.as_mut_ptr().cast(), space.len(), libc::MSG_DONTWAIT) };
    usize::try_from(count).unwrap_or(0)
}

#[cfg(not(unix))]
fn receive_now(_: i32, _: &mut [u8]) -> usize {
    0
}

/// Whether the peer of the open socket of this number will send nothing more.
#[cfg(unix)]
fn has_hung_up(descriptor: i32) -> bool {
    #[cfg(target_os = "linux")]
    let asked = libc::POLLRDHUP;
    // What has come must be read first to see the end; the loop does that.
    #[cfg(not(target_os = "linux"))]
    let asked = 0;
    let mut polled = libc::pollfd { fd: descriptor, events: asked, revents: 0 };
    // SAFETY: one entry, as the count says; the number as in `send_now`.
    let count = unsafe { libc::poll(&raw mut polled, 1, 0) };
    count > 0 && polled.revents & (asked | libc::POLLHUP | libc::POLLERR | libc::POLLNVAL) != 0
}

#[cfg(not(unix))]
fn has_hung_up(_: i32) -> bool {
    false
}

/// How much room a direct read asks for: most answers that come at once are smaller.
const LEAST_READ: usize = 16 * 1024;

/// After two statements were seen under way at once, so many wait by the loop: they overlap there.
const CROWDED: u32 = 64;

/// A connection that other events interrupt tries less often, at most each so many statements.
const RAREST: u32 = 256;

/// Statements that wait by an event loop, in this process.
static UNDER_WAY: AtomicUsize = AtomicUsize::new(0);

/// How many statements shall still wait by the loop since two were under way at once.
static STILL_CROWDED: AtomicU32 = AtomicU32::new(0);

/// An event loop that has nothing to do but wait for us, waited for in its place.
///
/// A round through asyncio's loop costs a client as much as a short statement. While nothing is ready to run, all that the
/// loop could do is wait for its selector, until its next timer; so we wait for that, with the GIL released, and return to
/// the loop if it is something else than our answer: another socket, the timer, a signal, a call of another thread.
/// Nobody waits longer than with the loop, and what became ready before our answer comes before it. Loops that do not show
/// what they have to do (uvloop) or that watch how long callbacks take (asyncio's debug mode) run as ever, and so does a
/// crowd: statements that overlap belong into the loop.
#[derive(Debug, Default)]
pub struct Shortcut {
    loop_: Option<Insight>,
    /// How many statements wait by the loop before the next try.
    rest: u32,
    /// What `rest` was when the last try was in vain.
    last_rest: u32,
}

/// What asyncio's own loops show of themselves.
#[derive(Debug)]
struct Insight {
    event_loop: Py<PyAny>,
    /// Callbacks that are ready to run.
    ready: Py<PyAny>,
    /// Timers, the next first.
    scheduled: Py<PyAny>,
    /// The number of the selector's epoll.
    selector: i32,
}

impl Insight {
    #[cfg(target_os = "linux")]
    fn of(event_loop: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = event_loop.py();
        let ready = event_loop.getattr(intern!(py, "_ready"))?;
        let scheduled = event_loop.getattr(intern!(py, "_scheduled"))?;
        event_loop.getattr(intern!(py, "_stopping"))?;
        ready.len()?;
        scheduled.len()?;
        if event_loop.call_method0(intern!(py, "get_debug"))?.is_truthy()? {
            return Err(PyTypeError::new_err("it would take the wait for a slow callback"));
        }
        let selector = event_loop.getattr(intern!(py, "_selector"))?;
        if !selector.get_type().is(&py.import("selectors")?.getattr("EpollSelector")?) {
            return Err(PyTypeError::new_err("not the selector that we know"));
        }
        let selector = selector.call_method0(intern!(py, "fileno"))?.extract()?;
        Ok(Self {
            event_loop: event_loop.clone().unbind(),
            ready: ready.unbind(),
            scheduled: scheduled.unbind(),
            selector,
        })
    }

    #[cfg(not(target_os = "linux"))]
    fn of(_: &Bound<'_, PyAny>) -> PyResult<Self> {
        Err(PyTypeError::new_err("only epoll is waited for"))
    }

    /// How many milliseconds the loop would wait now, as `epoll_wait` counts; `None` when it has something to do.
    fn leisure(&self, py: Python<'_>) -> PyResult<Option<i32>> {
        if self.ready.bind(py).len()? > 0 || self.event_loop.getattr(py, intern!(py, "_stopping"))?.is_truthy(py)? {
            return Ok(None);
        }
        let scheduled = self.scheduled.bind(py);
        if scheduled.len()? == 0 {
            return Ok(Some(-1));
        }
        let when: f64 = scheduled.get_item(0)?.getattr(intern!(py, "_when"))?.extract()?;
        let now: f64 = self.event_loop.call_method0(py, intern!(py, "time"))?.extract(py)?;
        // As the loop rounds it. A day is as long as asyncio waits at most.
        let left = ((when - now) * 1e3).ceil().min(86_400_000.0);
        Ok((left >= 1.0).then_some(left as i32))
    }
}

impl Shortcut {
    /// For a connection of this loop.
    pub fn of(event_loop: &Bound<'_, PyAny>) -> Self {
        Self { loop_: Insight::of(event_loop).ok(), ..Self::default() }
    }

    /// True when the statement that was just sent may be waited for in the loop's place.
    pub fn is_open(&mut self) -> bool {
        if self.loop_.is_none() {
            return false;
        }
        if UNDER_WAY.load(Ordering::Relaxed) > 0 {
            STILL_CROWDED.store(CROWDED, Ordering::Relaxed);
            return false;
        }
        let crowded = STILL_CROWDED.load(Ordering::Relaxed);
        if crowded > 0 {
            STILL_CROWDED.store(crowded - 1, Ordering::Relaxed);
            return false;
        }
        if self.rest > 0 {
            self.rest -= 1;
            return false;
        }
        true
    }

    /// Waits, with the GIL released, until the loop has something to do; true when that is about our socket.
    pub fn wait(&self, py: Python<'_>, socket: &Direct) -> bool {
        let (Some(insight), Some(descriptor)) = (&self.loop_, socket.descriptor.filter(|_| !socket.is_behind)) else {
            return false;
        };
        // A loop that is not what we took it for has no leisure.
        let leisure = insight.leisure(py).unwrap_or(None);
        leisure.is_some_and(|milliseconds| is_next(py, insight.selector, descriptor, milliseconds))
    }

    /// The answer came without the loop, or something else did.
    pub fn learn(&mut self, came: bool) {
        if came {
            self.last_rest = 0;
        } else {
            self.last_rest = (self.last_rest * 2).clamp(1, RAREST);
            self.rest = self.last_rest;
        }
    }
}

#[cfg(target_os = "linux")]
fn is_next(py: Python<'_>, selector: i32, descriptor: i32, milliseconds: i32) -> bool {
    let mut event = libc::epoll_event { events: 0, u64: 0 };
    // SAFETY: room for one event, as the count says. The selector is its loop's, in whose thread we are: nobody closes it
    // meanwhile. Its events tell of states, so that what we see here the loop sees again.
    let count = py.detach(|| unsafe { libc::epoll_wait(selector, &raw mut event, 1, milliseconds) });
    // Python stores the number of the descriptor there.
    count == 1 && event.u64 & 0xffff_ffff == u64::from(descriptor.cast_unsigned())
}

#[cfg(not(target_os = "linux"))]
const fn is_next(_: Python<'_>, _: i32, _: i32, _: i32) -> bool {
    false
}

/// None of the statements that waited before a fork waits in the child.
pub fn forget_the_parents() {
    UNDER_WAY.store(0, Ordering::Relaxed);
}

/// A statement that waits by the event loop.
#[derive(Debug)]
pub struct UnderWay(Process);

impl UnderWay {
    /// Counted until it is dropped.
    pub fn begin() -> Self {
        UNDER_WAY.fetch_add(1, Ordering::Relaxed);
        Self(Process::current())
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        if self.0.is_this() {
            UNDER_WAY.fetch_sub(1, Ordering::Relaxed);
        }
    }
}
