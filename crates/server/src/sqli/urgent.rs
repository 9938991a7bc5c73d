//! Interrupts: clients send one byte as TCP urgent data while their statement runs.
//!
//! The byte is not in the stream, and the session's own thread is busy: one thread looks at the sockets of all sessions
//! for it, now and then while any of them works, and sleeps otherwise. It does not wait for the sockets: the kernel wakes
//! whoever waits for urgent data of a socket with everything that comes on it, and each statement would cost two switches
//! of context. A byte that comes while nothing runs is dropped, since [`Interrupter`](rowferry_engine::Interrupter)s act on
//! running statements only.

use std::cell::Cell;
use std::collections::HashMap;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, OnceLock};
use std::thread::Thread;
use std::time::Duration;

use parking_lot::Mutex;

type Interrupt = Arc<dyn Fn() + Send + Sync>;

struct Watched {
    socket: OwnedFd,
    interrupt: Interrupt,
}

/// How long an urgent byte may lie before it is looked for.
const TICK: Duration = Duration::from_millis(20);

/// The kernel keeps the set, so that sessions come and go without waking the thread.
struct Watch {
    events: OwnedFd,
    sessions: Mutex<(u64, HashMap<u64, Watched>)>,
    /// How often a session has begun to work, and how often it has ended: the difference is how many work now.
    begun: AtomicU64,
    ended: AtomicU64,
    /// The thread sleeps until a session begins to work.
    asleep: AtomicBool,
    thread: OnceLock<Thread>,
}

/// `None` when there is no thread to be had: then nobody can interrupt.
static WATCH: LazyLock<Option<Arc<Watch>>> = LazyLock::new(|| start().inspect_err(report).ok());

fn report(error: &io::Error) {
    tracing::warn!(%error, "statements of Informix clients cannot be interrupted");
}

fn start() -> io::Result<Arc<Watch>> {
    // SAFETY: takes no memory of ours.
    let events = unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) };
    if events < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor is new, and nobody else's.
    let events = unsafe { OwnedFd::from_raw_fd(events) };
    let watch = Arc::new(Watch {
        events,
        sessions: Mutex::default(),
        begun: AtomicU64::new(0),
        ended: AtomicU64::new(0),
        asleep: AtomicBool::new(false),
        thread: OnceLock::new(),
    });
    let shared = watch.clone();
    let handle = std::thread::Builder::new().name("informix-urgent".into()).spawn(move || shared.run())?;
    let _ = watch.thread.set(handle.thread().clone());
    Ok(watch)
}

impl Watch {
    fn run(&self) -> ! {
        let mut seen = 0;
        loop {
            std::thread::sleep(TICK);
            for (key, ended) in self.look() {
                self.urgent(key, ended);
            }
            let begun = self.begun.load(Ordering::SeqCst);
            if begun == seen && begun == self.ended.load(Ordering::SeqCst) {
                self.asleep.store(true, Ordering::SeqCst);
                // Who begins after this look sees that we sleep, and wakes us.
                while self.begun.load(Ordering::SeqCst) == seen {
                    std::thread::park();
                }
                self.asleep.store(false, Ordering::SeqCst);
            }
            seen = begun;
        }
    }

    /// A session begins to work.
    fn begin(&self) {
        self.begun.fetch_add(1, Ordering::SeqCst);
        if self.asleep.load(Ordering::SeqCst)
            && self.asleep.swap(false, Ordering::SeqCst)
            && let Some(thread) = self.thread.get()
        {
            thread.unpark();
        }
    }

    /// The sessions to which something has happened, and whether their connections have ended.
    fn look(&self) -> Vec<(u64, bool)> {
        let mut happened = [libc::epoll_event { events: 0, u64: 0 }; 16];
        // SAFETY: pointer and length are of one array.
        let count = unsafe {
            libc::epoll_wait(self.events.as_raw_fd(), happened.as_mut_ptr(), happened.len() as libc::c_int, 0)
        };
        let ends = (libc::EPOLLHUP | libc::EPOLLERR) as u32;
        let happened = happened.iter().take(usize::try_from(count).unwrap_or(0));
        happened.map(|event| (event.u64, event.events & ends != 0)).collect()
    }

    fn control(&self, operation: libc::c_int, socket: &OwnedFd, key: u64) -> io::Result<()> {
        let mut event = libc::epoll_event { events: libc::EPOLLPRI as u32, u64: key };
        // SAFETY: both descriptors are open, and the structure outlives the call.
        let done = unsafe { libc::epoll_ctl(self.events.as_raw_fd(), operation, socket.as_raw_fd(), &raw mut event) };
        if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }

    /// Takes the urgent byte of a session and interrupts what runs. A session whose client has gone is let go.
    ///
    /// No byte is no end: the session's own thread may have read past it meanwhile, whereupon the kernel forgets it. That
    /// thread was waiting for a command, so there was nothing to interrupt.
    fn urgent(&self, key: u64, ended: bool) {
        let mut sessions = self.sessions.lock();
        let Some(watched) = sessions.1.get(&key) else { return };
        let mut byte = 0u8;
        // SAFETY: the byte is ours; the descriptor is open as long as the entry is there.
        let got = unsafe {
            let flags = libc::MSG_OOB | libc::MSG_DONTWAIT;
            libc::recv(watched.socket.as_raw_fd(), (&raw mut byte).cast(), 1, flags)
        };
        if got == 1 {
            let interrupt = watched.interrupt.clone();
            drop(sessions);
            interrupt();
        } else if ended && let Some(gone) = sessions.1.remove(&key) {
            self.forget(key, gone);
        }
    }

    /// Ends the watching: closing our descriptor would not, as the session has another of the same socket.
    fn forget(&self, key: u64, watched: Watched) {
        // It was added, and only once.
        let _ = self.control(libc::EPOLL_CTL_DEL, &watched.socket, key);
    }
}

/// A session that is watched until this is dropped. It works from the beginning.
pub(super) struct Registration {
    watch: Arc<Watch>,
    key: u64,
    works: Cell<bool>,
}

/// Has `interrupt` called whenever an urgent byte comes on `socket` while the session works. `None` when it cannot be
/// watched.
pub(super) fn watch(socket: RawFd, interrupt: impl Fn() + Send + Sync + 'static) -> Option<Registration> {
    let watch = WATCH.as_ref()?;
    // SAFETY: the session's own socket, open for the length of this call.
    let socket = unsafe { BorrowedFd::borrow_raw(socket) }.try_clone_to_owned().inspect_err(report).ok()?;
    let mut sessions = watch.sessions.lock();
    sessions.0 += 1;
    let key = sessions.0;
    watch.control(libc::EPOLL_CTL_ADD, &socket, key).inspect_err(report).ok()?;
    sessions.1.insert(key, Watched { socket, interrupt: Arc::new(interrupt) });
    drop(sessions);
    watch.begin();
    Some(Registration { watch: watch.clone(), key, works: Cell::new(true) })
}

impl Registration {
    /// The session works on what its client has sent.
    pub(super) fn work(&self) {
        if !self.works.replace(true) {
            self.watch.begin();
        }
    }

    /// The session waits for its client: there is nothing to interrupt.
    pub(super) fn rest(&self) {
        if self.works.replace(false) {
            self.watch.ended.fetch_add(1, Ordering::SeqCst);
        }
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        self.rest();
        let watched = self.watch.sessions.lock().1.remove(&self.key);
        if let Some(watched) = watched {
            self.watch.forget(self.key, watched);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};
    use std::sync::mpsc;

    use super::*;

    /// A session that is watched, what its client writes to, and where interrupts come out.
    fn watched() -> (Registration, TcpStream, TcpStream, mpsc::Receiver<()>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (session, _) = listener.accept().unwrap();
        let (interrupted, interrupts) = mpsc::channel();
        let registration = watch(session.as_raw_fd(), move || {
            let _ = interrupted.send(());
        });
        (registration.unwrap(), client, session, interrupts)
    }

    fn send_urgent(client: &TcpStream) {
        // SAFETY: one byte of a constant.
        let sent = unsafe { libc::send(client.as_raw_fd(), c"B".as_ptr().cast(), 1, libc::MSG_OOB) };
        assert_eq!(sent, 1);
    }

    #[test]
    fn a_byte_that_the_session_has_read_past_does_not_end_the_watching() {
        let (registration, client, _session, interrupts) = watched();
        // What the thread does when the kernel has told it of a byte that is gone when it looks.
        registration.watch.urgent(registration.key, false);
        send_urgent(&client);
        interrupts.recv_timeout(Duration::from_secs(20)).expect("the session is watched no more");
    }

    #[test]
    fn whoever_begins_to_work_wakes_the_thread_that_looks() {
        let (registration, client, _session, interrupts) = watched();
        for _ in 0..3 {
            registration.rest();
            // Long enough for the thread to fall asleep, if no other test keeps it awake.
            std::thread::sleep(TICK * 4);
            registration.work();
            send_urgent(&client);
            interrupts.recv_timeout(Duration::from_secs(20)).expect("nobody looks");
        }
    }
}
