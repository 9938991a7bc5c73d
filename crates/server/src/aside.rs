//! What is answered beside the doors, over HTTP: figures, and a page to look at.
//!
//! A thread accepts, and whoever has come in is answered on a thread of his own: one who does not read keeps nobody else
//! waiting. Who asks while too many are being answered is turned away, and one address cannot take all places.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsRawFd as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use parking_lot::Mutex;

/// How often [`Answering::look`] is called at least, in milliseconds.
const LOOK: libc::c_int = 250;

/// How long to rest when accepting fails.
const REST: Duration = Duration::from_millis(100);

/// What answers.
pub trait Answering: Send + Sync + 'static {
    /// What its threads are called.
    const NAME: &'static str;

    /// How many are answered at a time.
    const MOST: usize;

    /// The same for one address.
    const MOST_OF_ONE: usize;

    /// Answers whoever has come in, on a thread of his own.
    ///
    /// # Errors
    /// What broke the connection; nobody is there to be told.
    fn answer(&self, stream: TcpStream, peer: SocketAddr) -> io::Result<()>;

    /// Is called some times a second, on the thread that accepts.
    fn look(&self) {}
}

/// Where somebody will answer.
#[derive(Debug)]
pub struct Listening {
    listener: TcpListener,
    address: SocketAddr,
}

impl Listening {
    /// Listens at an address; nobody is answered yet. A port 0 becomes one that is free.
    ///
    /// # Errors
    /// What the system says.
    pub fn at(address: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        // Who has gone again before being accepted is not waited for.
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        Ok(Self { listener, address })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Begins to answer.
    ///
    /// # Errors
    /// What the system says.
    pub fn answer<A: Answering>(self, answering: A) -> io::Result<Aside> {
        let Self { listener, address } = self;
        let over = Arc::new(AtomicBool::new(false));
        let ends = Arc::clone(&over);
        let crowd = Arc::new(Crowd { answering, busy: Mutex::default() });
        let thread = Builder::new().name(A::NAME.into()).spawn(move || {
            while !ends.load(Ordering::Acquire) {
                if somebody_waits(&listener) {
                    match listener.accept() {
                        Ok((stream, peer)) => crowd.take(stream, peer),
                        Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                        // No descriptor is left, or the like: then not busily.
                        Err(_) => std::thread::sleep(REST),
                    }
                }
                crowd.answering.look();
            }
        })?;
        Ok(Aside { address, over, thread: Some(thread) })
    }
}

/// Answers at an address until it is dropped.
#[derive(Debug)]
pub struct Aside {
    address: SocketAddr,
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Aside {
    /// Where it answers.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Aside {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            // It waits for nobody; who is being answered is left to the process's end.
            let _ = thread.join();
        }
    }
}

/// Waits a moment for somebody to accept.
fn somebody_waits(listener: &TcpListener) -> bool {
    let mut poll = libc::pollfd { fd: listener.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: one descriptor, which is open.
    unsafe { libc::poll(&raw mut poll, 1, LOOK) > 0 }
}

/// Those who are being answered.
struct Crowd<A> {
    answering: A,
    /// How many, by address.
    busy: Mutex<HashMap<IpAddr, usize>>,
}

impl<A: Answering> Crowd<A> {
    fn take(self: &Arc<Self>, stream: TcpStream, peer: SocketAddr) {
        let Some(place) = Place::take(self, peer.ip().to_canonical()) else { return };
        let spawned = Builder::new().name(A::NAME.into()).spawn(move || {
            // Who has asked may be gone.
            let _ = place.crowd.answering.answer(stream, peer);
        });
        if let Err(error) = spawned {
            tracing::warn!(%error, "nobody can be answered: {}", A::NAME);
        }
    }
}

/// One of them, until it is dropped.
struct Place<A> {
    crowd: Arc<Crowd<A>>,
    from: IpAddr,
}

impl<A: Answering> Place<A> {
    fn take(crowd: &Arc<Crowd<A>>, from: IpAddr) -> Option<Self> {
        let mut busy = crowd.busy.lock();
        let of = busy.get(&from).copied().unwrap_or(0);
        if of >= A::MOST_OF_ONE || busy.values().sum::<usize>() >= A::MOST {
            return None;
        }
        busy.insert(from, of + 1);
        Some(Self { crowd: Arc::clone(crowd), from })
    }
}

impl<A> Drop for Place<A> {
    fn drop(&mut self) {
        let mut busy = self.crowd.busy.lock();
        match busy.get_mut(&self.from) {
            Some(count) if *count > 1 => *count -= 1,
            _ => drop(busy.remove(&self.from)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::sync::mpsc;

    use super::*;

    /// Greets, and holds whoever has come until it is told to let go.
    struct Host(Mutex<mpsc::Receiver<()>>);

    impl Answering for Host {
        const NAME: &'static str = "host";
        const MOST: usize = 8;
        const MOST_OF_ONE: usize = 1;

        fn answer(&self, mut stream: TcpStream, _: SocketAddr) -> io::Result<()> {
            stream.set_nonblocking(false)?;
            stream.write_all(b"!")?;
            let _ = self.0.lock().recv();
            Ok(())
        }
    }

    /// What somebody hears who comes in.
    fn heard(address: SocketAddr) -> (TcpStream, usize) {
        let mut stream = TcpStream::connect(address).unwrap();
        let count = stream.read(&mut [0]).unwrap_or(0);
        (stream, count)
    }

    #[test]
    fn one_address_has_its_places_and_gets_them_back() {
        let (release, held) = mpsc::channel();
        let listening = Listening::at("127.0.0.1:0".parse().unwrap()).unwrap();
        let aside = listening.answer(Host(Mutex::new(held))).unwrap();
        let (first, count) = heard(aside.address());
        assert_eq!(count, 1);
        assert_eq!(heard(aside.address()).1, 0, "a second one of the same address is turned away");
        release.send(()).unwrap();
        drop(first);
        let again = (0..200).any(|_| {
            std::thread::sleep(Duration::from_millis(10));
            heard(aside.address()).1 == 1
        });
        assert!(again, "a place that is left can be taken");
        drop(release);
        let address = aside.address();
        drop(aside);
        assert!(TcpListener::bind(address).is_ok() || TcpStream::connect(address).is_err());
    }
}
