//! Interrupts: clients send one byte as TCP urgent data while their statement runs.
//!
//! The byte is not in the stream, and the session's own thread is busy: one thread watches the sockets of all sessions
//! for it. A byte that comes while nothing runs is dropped, since [`Interrupter`](rowferry_engine::Interrupter)s act on
//! running statements only.

use std::collections::HashMap;
use std::io::{self, PipeWriter, Read, Write};
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::sync::{Arc, LazyLock};

use parking_lot::Mutex;

type Interrupt = Arc<dyn Fn() + Send + Sync>;

struct Watched {
    socket: OwnedFd,
    interrupt: Interrupt,
}

struct Watch {
    sessions: Mutex<(u64, HashMap<u64, Watched>)>,
    /// A byte here makes the thread look at the sessions anew.
    wake: PipeWriter,
}

/// `None` when there is no pipe or thread to be had: then nobody can interrupt.
static WATCH: LazyLock<Option<Arc<Watch>>> = LazyLock::new(|| start().inspect_err(report).ok());

fn report(error: &io::Error) {
    tracing::warn!(%error, "statements of Informix clients cannot be interrupted");
}

fn start() -> io::Result<Arc<Watch>> {
    let (mut woken, wake) = io::pipe()?;
    let watch = Arc::new(Watch { sessions: Mutex::default(), wake });
    let shared = watch.clone();
    std::thread::Builder::new().name("informix-urgent".into()).spawn(move || {
        loop {
            let keys = wait(&shared, &mut woken);
            for key in keys {
                shared.urgent(key);
            }
        }
    })?;
    Ok(watch)
}

/// Waits until something happens; the sessions to which it happened.
fn wait(watch: &Watch, woken: &mut (impl Read + AsRawFd)) -> Vec<u64> {
    let poll = |fd: RawFd, events| libc::pollfd { fd, events, revents: 0 };
    let mut set = vec![poll(woken.as_raw_fd(), libc::POLLIN)];
    let mut keys = Vec::new();
    for (&key, watched) in &watch.sessions.lock().1 {
        set.push(poll(watched.socket.as_raw_fd(), libc::POLLPRI));
        keys.push(key);
    }
    // SAFETY: pointer and length are of one vector.
    let count = unsafe { libc::poll(set.as_mut_ptr(), set.len() as libc::nfds_t, -1) };
    if count <= 0 {
        return Vec::new();
    }
    if set[0].revents != 0 {
        // Any number of wakings is one look.
        let _ = woken.read(&mut [0; 64]);
    }
    keys.into_iter().zip(&set[1..]).filter(|(_, polled)| polled.revents != 0).map(|(key, _)| key).collect()
}

impl Watch {
    /// Takes the urgent byte of a session and interrupts what runs. A session whose client has gone is let go.
    fn urgent(&self, key: u64) {
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
        } else {
            sessions.1.remove(&key);
        }
    }

    fn wake(&self) {
        // A full pipe wakes, too.
        let _ = (&self.wake).write(&[1]);
    }
}

/// A session that is watched until this is dropped.
pub(super) struct Registration(u64);

/// Has `interrupt` called whenever an urgent byte comes on `socket`. `None` when it cannot be watched.
pub(super) fn watch(socket: RawFd, interrupt: impl Fn() + Send + Sync + 'static) -> Option<Registration> {
    let watch = WATCH.as_ref()?;
    // SAFETY: the session's own socket, open for the length of this call.
    let socket = unsafe { BorrowedFd::borrow_raw(socket) }.try_clone_to_owned().inspect_err(report).ok()?;
    let key = {
        let mut sessions = watch.sessions.lock();
        sessions.0 += 1;
        let key = sessions.0;
        sessions.1.insert(key, Watched { socket, interrupt: Arc::new(interrupt) });
        key
    };
    watch.wake();
    Some(Registration(key))
}

impl Drop for Registration {
    fn drop(&mut self) {
        if let Some(watch) = &*WATCH {
            watch.sessions.lock().1.remove(&self.0);
            watch.wake();
        }
    }
}
