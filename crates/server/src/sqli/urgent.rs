//! Interrupts: clients send one byte as TCP urgent data while their statement runs.
//!
//! The byte is not in the stream, and the session's own thread is busy: one thread watches the sockets of all sessions
//! for it. A byte that comes while nothing runs is dropped, since [`Interrupter`](rowferry_engine::Interrupter)s act on
//! running statements only.

use std::collections::HashMap;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::sync::{Arc, LazyLock};

use parking_lot::Mutex;

type Interrupt = Arc<dyn Fn() + Send + Sync>;

struct Watched {
    socket: OwnedFd,
    interrupt: Interrupt,
}

/// The kernel keeps the set, so that sessions come and go without waking the thread: it would cost each of them two
/// switches of context.
struct Watch {
    events: OwnedFd,
    sessions: Mutex<(u64, HashMap<u64, Watched>)>,
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
    let watch = Arc::new(Watch { events, sessions: Mutex::default() });
    let shared = watch.clone();
    std::thread::Builder::new().name("informix-urgent".into()).spawn(move || {
        loop {
            for (key, ended) in shared.wait() {
                shared.urgent(key, ended);
            }
        }
    })?;
    Ok(watch)
}

impl Watch {
    /// Waits until something happens; the sessions to which it happened, and whether their connections have ended.
    fn wait(&self) -> Vec<(u64, bool)> {
        let mut happened = [libc::epoll_event { events: 0, u64: 0 }; 16];
        // SAFETY: pointer and length are of one array.
        let count = unsafe {
            libc::epoll_wait(self.events.as_raw_fd(), happened.as_mut_ptr(), happened.len() as libc::c_int, -1)
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

/// A session that is watched until this is dropped.
pub(super) struct Registration(u64);

/// Has `interrupt` called whenever an urgent byte comes on `socket`. `None` when it cannot be watched.
pub(super) fn watch(socket: RawFd, interrupt: impl Fn() + Send + Sync + 'static) -> Option<Registration> {
    let watch = WATCH.as_ref()?;
    // SAFETY: the session's own socket, open for the length of this call.
    let socket = unsafe { BorrowedFd::borrow_raw(socket) }.try_clone_to_owned().inspect_err(report).ok()?;
    let mut sessions = watch.sessions.lock();
    sessions.0 += 1;
    let key = sessions.0;
    watch.control(libc::EPOLL_CTL_ADD, &socket, key).inspect_err(report).ok()?;
    sessions.1.insert(key, Watched { socket, interrupt: Arc::new(interrupt) });
    Some(Registration(key))
}

impl Drop for Registration {
    fn drop(&mut self) {
        if let Some(watch) = &*WATCH {
            let watched = watch.sessions.lock().1.remove(&self.0);
            if let Some(watched) = watched {
                watch.forget(self.0, watched);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_byte_that_the_session_has_read_past_does_not_end_the_watching() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (session, _) = listener.accept().unwrap();
        let (interrupted, interrupts) = mpsc::channel();
        let watched = watch(session.as_raw_fd(), move || {
            let _ = interrupted.send(());
        })
        .unwrap();
        // What the thread does when the kernel has told it of a byte that is gone when it looks.
        WATCH.as_ref().unwrap().urgent(watched.0, false);
        // SAFETY: one byte of a constant.
        let sent = unsafe { libc::send(client.as_raw_fd(), c"B".as_ptr().cast(), 1, libc::MSG_OOB) };
        assert_eq!(sent, 1);
        interrupts.recv_timeout(Duration::from_secs(20)).expect("the session is watched no more");
    }
}
