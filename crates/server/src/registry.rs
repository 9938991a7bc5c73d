//! All connections: counted, limited, and reachable when the server stops.

use std::collections::HashMap;
use std::fmt;
use std::os::fd::RawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

/// How long a newcomer waits for those that were cut in its favour to leave. They wake at once.
const LEAVE_TIME: Duration = Duration::from_secs(1);

/// Stops what a session is doing, from another thread.
pub(crate) type Interrupt = Arc<dyn Fn() + Send + Sync>;

struct Entry {
    fd: RawFd,
    admitted: bool,
    /// It was told to go because others waited; do not choose it again.
    cut: bool,
    interrupt: Option<Interrupt>,
    watch: Option<Watch>,
}

/// What is done about a client that goes away while its statement runs.
pub(crate) struct Watch {
    /// How often to look, while a statement runs.
    pub(crate) interval: Box<dyn Fn() -> Option<Duration> + Send + Sync>,
    /// Ends the session.
    pub(crate) gone: Box<dyn Fn() + Send + Sync>,
    /// When it was looked last, or seen idle.
    pub(crate) looked: Instant,
}

#[derive(Default)]
struct Connections {
    entries: HashMap<u64, Entry>,
    next: u64,
}

impl Connections {
    /// How many have not authenticated yet, and how many of those were told to go.
    fn handshakes(&self) -> (usize, usize) {
        let handshakes = self.entries.values().filter(|entry| !entry.admitted);
        handshakes.fold((0, 0), |(all, cut), entry| (all + 1, cut + usize::from(entry.cut)))
    }
}

/// The connections of a server.
pub(crate) struct Registry {
    connections: Mutex<Connections>,
    /// Somebody left.
    left: Condvar,
    stopping: AtomicBool,
    /// Statements that run are not waited for when the server stops.
    hurried: AtomicBool,
    max_connections: usize,
    max_handshakes: usize,
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registry").field("connections", &self.len()).finish_non_exhaustive()
    }
}

impl Registry {
    pub(crate) fn new(max_connections: usize, max_handshakes: usize) -> Self {
        Self {
            connections: Mutex::default(),
            left: Condvar::new(),
            stopping: AtomicBool::new(false),
            hurried: AtomicBool::new(false),
            max_connections,
            max_handshakes: max_handshakes.max(1),
        }
    }

    /// Enters a connection that has yet to authenticate; the number it is known by from now on.
    ///
    /// When too many are at that point, the oldest of them is cut. `None` when even that does not help, because those
    /// that were cut do not leave.
    pub(crate) fn enter(&self, fd: RawFd) -> Option<u64> {
        let mut connections = self.connections.lock();
        let deadline = Instant::now() + LEAVE_TIME;
        let (mut all, mut cut) = connections.handshakes();
        while all >= 2 * self.max_handshakes {
            if self.left.wait_until(&mut connections, deadline).timed_out() {
                return None;
            }
            (all, cut) = connections.handshakes();
        }
        if all - cut >= self.max_handshakes {
            // Numbers only grow: the smallest is the oldest.
            let oldest = connections
                .entries
                .iter_mut()
                .filter(|(_, entry)| !entry.admitted && !entry.cut)
                .min_by_key(|(number, _)| **number);
            if let Some((number, entry)) = oldest {
                entry.cut = true;
                shut(entry.fd, libc::SHUT_RDWR);
                tracing::warn!(connection = number, "too many unauthenticated connections: the oldest is cut");
            }
        }
        connections.next += 1;
        let number = connections.next;
        connections.entries.insert(number, Entry { fd, admitted: false, cut: false, interrupt: None, watch: None });
        Some(number)
    }

    /// The connection has authenticated; false when there are too many sessions.
    pub(crate) fn admit(&self, number: u64) -> bool {
        let mut connections = self.connections.lock();
        if connections.entries.values().filter(|entry| entry.admitted).count() >= self.max_connections {
            return false;
        }
        if let Some(entry) = connections.entries.get_mut(&number) {
            entry.admitted = true;
        }
        true
    }

    pub(crate) fn set_interrupt(&self, number: u64, interrupt: Interrupt) {
        if let Some(entry) = self.connections.lock().entries.get_mut(&number) {
            entry.interrupt = Some(interrupt);
        }
    }

    pub(crate) fn set_watch(&self, number: u64, watch: Watch) {
        if let Some(entry) = self.connections.lock().entries.get_mut(&number) {
            entry.watch = Some(watch);
        }
    }

    /// A read of this connection that waits, or the next one, says "end of stream".
    pub(crate) fn wake(&self, number: u64) {
        if let Some(entry) = self.connections.lock().entries.get(&number) {
            shut(entry.fd, libc::SHUT_RD);
        }
    }

    /// Looks whether the clients of sessions that are busy are still there, and ends those whose client is not.
    pub(crate) fn look_after_clients(&self) {
        let now = Instant::now();
        for entry in self.connections.lock().entries.values_mut() {
            let Some(watch) = &mut entry.watch else { continue };
            match (watch.interval)() {
                Some(interval) if now.duration_since(watch.looked) < interval => {}
                Some(_) => {
                    watch.looked = now;
                    if hung_up(entry.fd) {
                        (watch.gone)();
                    }
                }
                None => watch.looked = now,
            }
        }
    }

    /// The connection is about to be closed. Must come before its descriptor is.
    pub(crate) fn leave(&self, number: u64) {
        self.connections.lock().entries.remove(&number);
        self.left.notify_all();
    }

    pub(crate) fn len(&self) -> usize {
        self.connections.lock().entries.len()
    }

    pub(crate) fn max_connections(&self) -> usize {
        self.max_connections
    }

    pub(crate) fn stopping(&self) -> bool {
        self.stopping.load(Ordering::Acquire)
    }

    pub(crate) fn begin_stop(&self) {
        self.stopping.store(true, Ordering::Release);
    }

    /// Takes the rest of the grace away from a stop that has begun or will begin.
    pub(crate) fn hurry(&self) {
        self.hurried.store(true, Ordering::Release);
        // Under the lock, so that whoever is about to wait has seen it or hears this.
        let _connections = self.connections.lock();
        self.left.notify_all();
    }

    /// Ends all connections: idle ones at once, busy ones when their statement ends, at the latest after `grace`.
    /// Returns how many had to be left behind.
    pub(crate) fn stop(&self, grace: Duration) -> usize {
        self.begin_stop();
        // A read that waits returns "end of stream"; the session then sees that we are stopping and says goodbye.
        self.for_each(|entry| shut(entry.fd, libc::SHUT_RD));
        if self.wait_empty(grace, || self.hurried.load(Ordering::Acquire)) == 0 {
            return 0;
        }
        tracing::info!(connections = self.len(), "grace is over: statements are interrupted");
        self.for_each(|entry| {
            if let Some(interrupt) = &entry.interrupt {
                interrupt();
            }
        });
        if self.wait_empty(Duration::from_secs(2), || false) == 0 {
            return 0;
        }
        // Whoever is still here waits for a peer that takes no bytes.
        self.for_each(|entry| shut(entry.fd, libc::SHUT_RDWR));
        self.wait_empty(Duration::from_secs(2), || false)
    }

    fn for_each(&self, act: impl Fn(&Entry)) {
        self.connections.lock().entries.values().for_each(act);
    }

    /// Waits until all have left, for so long, or until it is `enough`; how many are left.
    fn wait_empty(&self, timeout: Duration, enough: impl Fn() -> bool) -> usize {
        let deadline = Instant::now() + timeout;
        let mut connections = self.connections.lock();
        while !connections.entries.is_empty() && !enough() {
            if self.left.wait_until(&mut connections, deadline).timed_out() {
                break;
            }
        }
        connections.entries.len()
    }
}

/// True when the peer has closed its end.
pub(crate) fn hung_up(fd: RawFd) -> bool {
    let mut asked = libc::pollfd { fd, events: libc::POLLRDHUP, revents: 0 };
    // SAFETY: one pollfd, alive during the call, which does not wait. The descriptor is that socket's: see `shut`.
    unsafe {
        libc::poll(&mut asked, 1, 0) > 0 && asked.revents & (libc::POLLRDHUP | libc::POLLHUP | libc::POLLERR) != 0
    }
}

fn shut(fd: RawFd, how: libc::c_int) {
    // SAFETY: a plain system call on a number. Entries leave the registry, under its lock, before their descriptor is
    // closed, so that the number still is that socket. A socket that the peer has closed answers with an error, which
    // is as good.
    unsafe {
        libc::shutdown(fd, how);
    }
}
