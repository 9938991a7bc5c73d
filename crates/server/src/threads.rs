//! Threads for sessions. One whose session has ended waits a while for the next: to make a thread, its stack and its guard
//! pages, and to take them down again, costs more than the login of a client.
//!
//! On Linux threads that wait let clients in by themselves ([`Arrivals`]): a client who is handed over costs two switches of
//! context more.

use std::collections::VecDeque;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsRawFd as _, RawFd};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// How many threads wait for a session at most.
const MOST_IDLE: usize = 16;
/// How long one waits before it ends.
const KEPT: Duration = Duration::from_secs(1);

/// What a thread is to do. True when the thread can be used again: nothing has panicked on it.
pub(crate) type Work = Box<dyn FnOnce() -> bool + Send>;

/// Clients who come to the doors.
pub(crate) trait Arrivals: Send + Sync {
    /// The listening sockets, which do not block.
    fn sockets(&self) -> Vec<RawFd>;

    /// Lets in who has come to a socket, by its place among them: its session. `None` when nobody has, or somebody else was
    /// quicker.
    fn welcome(&self, socket: usize) -> Option<Work>;

    /// Another thread looks for them, too: it is to be asked first.
    fn give_way(&self);
}

#[derive(Default)]
struct State {
    /// Work that a waiting thread will take.
    work: VecDeque<Work>,
    /// Threads that wait.
    idle: usize,
    /// Where threads have waited, for the next.
    places: Vec<Place>,
    /// No thread waits any more.
    closed: bool,
}

struct Shared {
    state: Mutex<State>,
    /// A byte for each piece of work that was handed over, and for each thread that is to end.
    bell: UnixStream,
    rings: UnixStream,
    arrivals: Option<Weak<dyn Arrivals>>,
    stack: usize,
}

/// Threads that run a session each, one after the other. When it is dropped, those that wait end.
pub(crate) struct Threads {
    shared: Arc<Shared>,
}

impl Threads {
    /// Threads with stacks of so many bytes. Those that wait let clients in where the system can wake one of them alone.
    ///
    /// # Errors
    /// When there are no descriptors left.
    pub(crate) fn new(stack: usize, arrivals: Option<Weak<dyn Arrivals>>) -> io::Result<Self> {
        let (bell, rings) = UnixStream::pair()?;
        bell.set_nonblocking(true)?;
        rings.set_nonblocking(true)?;
        Ok(Self { shared: Arc::new(Shared { state: Mutex::default(), bell, rings, arrivals, stack }) })
    }

    /// Has work done by a thread that waits, or by a new one.
    ///
    /// # Errors
    /// When no thread can be had; the work is dropped.
    pub(crate) fn run(&self, work: Work) -> io::Result<()> {
        let mut state = self.shared.state.lock();
        if state.idle > state.work.len() {
            state.work.push_back(work);
            drop(state);
            self.shared.ring();
            return Ok(());
        }
        drop(state);
        self.shared.spawn(work)
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        let mut state = self.shared.state.lock();
        state.closed = true;
        for _ in 0..state.idle {
            self.shared.ring();
        }
    }
}

impl Shared {
    fn spawn(self: &Arc<Self>, work: Work) -> io::Result<()> {
        let shared = Arc::clone(self);
        let thread = std::thread::Builder::new().name("session".into()).stack_size(self.stack);
        thread.spawn(move || shared.work_on(work)).map(drop)
    }

    fn ring(&self) {
        // Full means that there are more bytes than threads.
        let _ = (&self.rings).write(&[0]);
    }

    fn work_on(self: &Arc<Self>, first: Work) {
        let mut work = Some(first);
        while let Some(next) = work {
            let usable = next();
            // What belonged to the session must not meet the next one, nor be held while the thread waits.
            rowferry_engine::memory::session_ends();
            work = if usable { self.wait() } else { None };
        }
    }

    /// The next work of this thread; `None` when it should end.
    fn wait(self: &Arc<Self>) -> Option<Work> {
        let mut state = self.state.lock();
        if state.closed || state.idle >= MOST_IDLE {
            return None;
        }
        state.idle += 1;
        let place = state.places.pop();
        drop(state);
        let place = match place.map_or_else(|| Place::new(self), Ok) {
            Ok(place) => place,
            Err(error) => {
                tracing::debug!(%error, "a thread cannot wait for a session");
                self.leave(None);
                return None;
            }
        };
        let deadline = Instant::now() + KEPT;
        let work = loop {
            match place.wait(&self.bell, deadline) {
                Came::Client(socket) => {
                    // Nobody is let in any more when they are gone, whoever else may hold the socket.
                    let Some(arrivals) = self.arrivals.as_ref().and_then(Weak::upgrade) else { break None };
                    // To let somebody in may take a while, and wait for sessions to end: nobody hands work to this thread then.
                    self.leave(None);
                    let work = arrivals.welcome(socket);
                    let mut state = self.state.lock();
                    if work.is_some() || state.closed {
                        state.places.push(place);
                        return work;
                    }
                    state.idle += 1;
                }
                Came::Ring => {
                    // Another thread may have been quicker.
                    let _ = (&self.bell).read(&mut [0]);
                    let mut state = self.state.lock();
                    let work = state.work.pop_front();
                    if work.is_some() || state.closed {
                        break work;
                    }
                }
                // It may have come with the end of the wait.
                Came::Nobody => break self.state.lock().work.pop_front(),
            }
        };
        self.leave(Some(place));
        work
    }

    /// A thread waits no more. What was handed to the threads that wait, and to it with them, is done all the same.
    fn leave(self: &Arc<Self>, place: Option<Place>) {
        let mut state = self.state.lock();
        state.idle -= 1;
        state.places.extend(place);
        let left = if state.work.len() > state.idle { state.work.pop_front() } else { None };
        drop(state);
        if let Some(work) = left
            && let Err(error) = self.spawn(work)
        {
            tracing::error!(%error, "cannot start a thread for a connection");
        }
    }
}

/// What has ended a wait.
enum Came {
    /// Somebody, to this socket.
    Client(usize),
    /// Work, or the end.
    Ring,
    /// Nothing in time.
    Nobody,
}

/// Where a thread waits.
#[cfg(target_os = "linux")]
struct Place {
    events: epoll::Events,
}

#[cfg(target_os = "linux")]
impl Place {
    /// The key of the bell; those of sockets are their places.
    const BELL: u64 = u64::MAX;

    fn new(shared: &Shared) -> io::Result<Self> {
        let events = epoll::Events::new()?;
        events.add(shared.bell.as_raw_fd(), Self::BELL)?;
        if let Some(arrivals) = shared.arrivals.as_ref().and_then(Weak::upgrade) {
            for (at, socket) in (0..).zip(arrivals.sockets()) {
                events.add(socket, at)?;
            }
            arrivals.give_way();
        }
        Ok(Self { events })
    }

    fn wait(&self, _bell: &UnixStream, deadline: Instant) -> Came {
        match self.events.wait(deadline) {
            None => Came::Nobody,
            Some(Self::BELL) => Came::Ring,
            Some(socket) => usize::try_from(socket).map_or(Came::Nobody, Came::Client),
        }
    }
}

/// Where a thread waits.
#[cfg(not(target_os = "linux"))]
struct Place;

#[cfg(not(target_os = "linux"))]
impl Place {
    fn new(_shared: &Shared) -> io::Result<Self> {
        Ok(Self)
    }

    fn wait(&self, bell: &UnixStream, deadline: Instant) -> Came {
        let left = deadline.saturating_duration_since(Instant::now()).as_millis();
        let mut poll = libc::pollfd { fd: bell.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: one structure, alive during the call, and its count is given.
        let ready = unsafe { libc::poll(&mut poll, 1, libc::c_int::try_from(left).unwrap_or(libc::c_int::MAX)) };
        if ready > 0 { Came::Ring } else { Came::Nobody }
    }
}

/// Sets of descriptors of which the kernel wakes one waiting thread alone.
#[cfg(target_os = "linux")]
pub(crate) mod epoll {
    use std::io;
    use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd, RawFd};
    use std::time::Instant;

    /// A set.
    pub(crate) struct Events(OwnedFd);

    impl Events {
        pub(crate) fn new() -> io::Result<Self> {
            // SAFETY: takes no memory of ours.
            let events = unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) };
            if events < 0 {
                return Err(io::Error::last_os_error());
            }
            // SAFETY: the descriptor is new, and nobody else's.
            Ok(Self(unsafe { OwnedFd::from_raw_fd(events) }))
        }

        /// Looks for what can be read; of several sets with a thread that waits, the one that was first is told.
        pub(crate) fn add(&self, descriptor: RawFd, key: u64) -> io::Result<()> {
            let wanted = (libc::EPOLLIN | libc::EPOLLEXCLUSIVE) as u32;
            self.control(libc::EPOLL_CTL_ADD, descriptor, libc::epoll_event { events: wanted, u64: key })
        }

        /// Looks no more.
        pub(crate) fn remove(&self, descriptor: RawFd) -> io::Result<()> {
            self.control(libc::EPOLL_CTL_DEL, descriptor, libc::epoll_event { events: 0, u64: 0 })
        }

        fn control(&self, operation: libc::c_int, descriptor: RawFd, mut event: libc::epoll_event) -> io::Result<()> {
            // SAFETY: the structure outlives the call; a number that is no open descriptor is an error.
            let done = unsafe { libc::epoll_ctl(self.descriptor(), operation, descriptor, &raw mut event) };
            if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
        }

        /// The key of a descriptor that can be read; `None` when none can in time.
        pub(crate) fn wait(&self, deadline: Instant) -> Option<u64> {
            let mut event = libc::epoll_event { events: 0, u64: 0 };
            loop {
                let left = deadline.saturating_duration_since(Instant::now()).as_micros().div_ceil(1_000);
                let left = libc::c_int::try_from(left).unwrap_or(libc::c_int::MAX);
                // SAFETY: one structure, alive during the call, and its count is given.
                match unsafe { libc::epoll_wait(self.descriptor(), &raw mut event, 1, left) } {
                    0 => return None,
                    1.. => return Some(event.u64),
                    _ if io::Error::last_os_error().kind() == io::ErrorKind::Interrupted => {}
                    _ => return None,
                }
            }
        }

        /// Can be read when one of its descriptors can.
        pub(crate) fn descriptor(&self) -> RawFd {
            self.0.as_raw_fd()
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread::ThreadId;

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(20);

    /// Runs one piece of work and answers which thread it was, once that thread is about to wait.
    fn run(threads: &Threads, usable: bool) -> ThreadId {
        let (told, hear) = mpsc::channel();
        threads
            .run(Box::new(move || {
                told.send(std::thread::current().id()).unwrap();
                usable
            }))
            .unwrap();
        hear.recv_timeout(PATIENCE).unwrap()
    }

    fn until_idle(threads: &Threads, count: usize) {
        let deadline = Instant::now() + PATIENCE;
        while threads.shared.state.lock().idle != count {
            assert!(Instant::now() < deadline, "no thread waits");
            std::thread::yield_now();
        }
    }

    #[test]
    fn a_thread_takes_the_next_session() {
        let threads = Threads::new(1 << 20, None).unwrap();
        let first = run(&threads, true);
        until_idle(&threads, 1);
        assert_eq!(run(&threads, true), first);
    }

    #[test]
    fn a_thread_on_which_a_session_has_panicked_is_not_used_again() {
        let threads = Threads::new(1 << 20, None).unwrap();
        let first = run(&threads, false);
        assert_ne!(run(&threads, true), first);
        until_idle(&threads, 1);
    }

    #[test]
    fn work_is_done_at_once_while_other_work_runs() {
        let threads = Threads::new(1 << 20, None).unwrap();
        let (go, wait) = mpsc::channel::<()>();
        threads.run(Box::new(move || wait.recv_timeout(PATIENCE).is_ok())).unwrap();
        run(&threads, true);
        go.send(()).unwrap();
        until_idle(&threads, 2);
    }

    #[test]
    fn threads_that_wait_end_with_the_server() {
        let threads = Threads::new(1 << 20, None).unwrap();
        run(&threads, true);
        until_idle(&threads, 1);
        let shared = Arc::clone(&threads.shared);
        drop(threads);
        let deadline = Instant::now() + PATIENCE;
        while shared.state.lock().idle != 0 {
            assert!(Instant::now() < deadline, "the thread still waits");
            std::thread::yield_now();
        }
    }

    #[cfg(target_os = "linux")]
    struct Visitors {
        listener: std::net::TcpListener,
        served: Mutex<mpsc::Sender<ThreadId>>,
    }

    #[cfg(target_os = "linux")]
    impl Arrivals for Visitors {
        fn sockets(&self) -> Vec<RawFd> {
            vec![self.listener.as_raw_fd()]
        }

        fn welcome(&self, _socket: usize) -> Option<Work> {
            let (visitor, _) = self.listener.accept().ok()?;
            let served = self.served.lock().clone();
            Some(Box::new(move || {
                drop(visitor);
                served.send(std::thread::current().id()).is_ok()
            }))
        }

        fn give_way(&self) {}
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_thread_that_waits_lets_clients_in_until_nobody_is_let_in() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let (served, hear) = mpsc::channel();
        let visitors = Arc::new(Visitors { listener, served: Mutex::new(served) });
        let arrivals: Weak<Visitors> = Arc::downgrade(&visitors);
        let threads = Threads::new(1 << 20, Some(arrivals)).unwrap();
        let first = run(&threads, true);
        for _ in 0..3 {
            until_idle(&threads, 1);
            std::net::TcpStream::connect(address).unwrap();
            assert_eq!(hear.recv_timeout(PATIENCE).unwrap(), first);
        }
        // Work is handed to it as ever.
        until_idle(&threads, 1);
        assert_eq!(run(&threads, true), first);
        until_idle(&threads, 1);
        // Somebody else holds the socket, and clients still come to it.
        let kept = visitors.listener.try_clone().unwrap();
        drop(visitors);
        std::net::TcpStream::connect(address).unwrap();
        until_idle(&threads, 0);
        drop(kept);
    }

    /// Lets somebody in when it is told to.
    #[cfg(target_os = "linux")]
    struct SlowVisitors {
        listener: std::net::TcpListener,
        begun: Mutex<mpsc::Sender<()>>,
        go: Mutex<mpsc::Receiver<()>>,
        went: Mutex<mpsc::Sender<bool>>,
    }

    #[cfg(target_os = "linux")]
    impl Arrivals for SlowVisitors {
        fn sockets(&self) -> Vec<RawFd> {
            vec![self.listener.as_raw_fd()]
        }

        fn welcome(&self, _socket: usize) -> Option<Work> {
            let (visitor, _) = self.listener.accept().ok()?;
            self.begun.lock().send(()).unwrap();
            let went = self.go.lock().recv_timeout(PATIENCE).is_ok();
            self.went.lock().send(went).unwrap();
            Some(Box::new(move || {
                drop(visitor);
                true
            }))
        }

        fn give_way(&self) {}
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn work_does_not_wait_for_a_thread_that_lets_somebody_in() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let ((begun, begins), (goes, go), (went, ended)) = (mpsc::channel(), mpsc::channel(), mpsc::channel());
        let (begun, go, went) = (Mutex::new(begun), Mutex::new(go), Mutex::new(went));
        let visitors = Arc::new(SlowVisitors { listener, begun, go, went });
        let arrivals: Weak<SlowVisitors> = Arc::downgrade(&visitors);
        let threads = Threads::new(1 << 20, Some(arrivals)).unwrap();
        run(&threads, true);
        until_idle(&threads, 1);
        std::net::TcpStream::connect(address).unwrap();
        begins.recv_timeout(PATIENCE).unwrap();
        threads.run(Box::new(move || goes.send(()).is_ok())).unwrap();
        assert!(ended.recv_timeout(2 * PATIENCE).unwrap(), "the work was left to the thread that waits for it");
    }
}
