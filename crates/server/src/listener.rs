//! The accept loop.

use std::fmt;
use std::fs::File;
use std::io::{self, ErrorKind, Read as _, Write};
use std::net::{SocketAddr, TcpListener};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex;

use crate::config::{Endpoint, Limits};
use crate::connection::{Connection, Ending};
use crate::metrics::{Traffic, Vitals};
use crate::registry::Registry;
use crate::socket::{self, Peer, Socket};
use crate::socket_file::SocketFile;
use crate::threads::{Arrivals, Threads, Work};
use crate::tls::Tls;

/// Stack of a session's thread, in bytes. Only touched pages cost memory; the compiler and SQLite recurse over
/// expressions.
pub(crate) const SESSION_STACK: usize = 16 * 1024 * 1024;

/// How long to rest when accepting fails for want of descriptors or memory.
const ACCEPT_REST: Duration = Duration::from_millis(100);

/// How often clients of busy sessions are looked after, in milliseconds; how often each one is, its session decides.
const LOOK_AFTER_CLIENTS: libc::c_int = 250;

/// A protocol's way in.
pub trait Door: Send + Sync + 'static {
    /// The protocol's name, for the log.
    fn name(&self) -> &'static str;

    /// Speaks with a client until the end. Runs on a thread of its own; may block.
    ///
    /// The door authenticates within the handshake's time, calls [`Connection::admit`], asks
    /// [`Connection::stopping`] between commands, and says whatever the client must be told.
    fn serve(&self, connection: &mut Connection) -> Ending;

    /// What a client is told, whatever it has said, when there is no room for it and why; empty when the protocol has no
    /// words for it then.
    fn refusal(&self, _why: &str) -> Vec<u8> {
        Vec::new()
    }
}

/// An endpoint that is listened at.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Bound {
    /// The door's name.
    pub door: &'static str,
    /// The endpoint; a port 0 has become the port that was free.
    pub endpoint: Endpoint,
}

/// Why a server could not start.
#[derive(Debug)]
pub struct StartError {
    /// The endpoint concerned.
    pub endpoint: Endpoint,
    /// What the system says.
    pub error: io::Error,
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot listen at {}: {}", self.endpoint, self.error)
    }
}

impl std::error::Error for StartError {}

enum Listener {
    Tcp(TcpListener),
    /// With its name in the file system, unless it was handed over: then the name is somebody else's.
    Unix(UnixListener, #[allow(dead_code, reason = "held for its drop")] Option<SocketFile>),
}

struct Entrance {
    listener: Listener,
    door: Arc<dyn Door>,
    traffic: Arc<Traffic>,
}

/// A client who came by somebody of this process.
struct Introduced {
    stream: UnixStream,
    peer: SocketAddr,
    encrypted: bool,
}

/// Where introduced clients arrive.
struct Guests {
    door: Arc<dyn Door>,
    traffic: Arc<Traffic>,
    arrivals: Receiver<Introduced>,
    bell: UnixStream,
}

/// Brings clients to a door from within this process, and vouches for where they are: the door's rules and limits are those for
/// clients who come from there themselves. Cheap to clone.
#[derive(Clone)]
pub struct Introducer {
    arrivals: Sender<Introduced>,
    bell: Arc<UnixStream>,
}

impl fmt::Debug for Introducer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Introducer").finish_non_exhaustive()
    }
}

impl Introducer {
    /// A connection to the door, on which the door's protocol is to be spoken, for somebody at `peer`; `encrypted` says that
    /// nobody between them and us can read along.
    ///
    /// # Errors
    /// When there are no descriptors left, or the server has stopped.
    pub fn connect(&self, peer: SocketAddr, encrypted: bool) -> io::Result<UnixStream> {
        let (ours, theirs) = UnixStream::pair()?;
        let stopped = |_| io::Error::new(ErrorKind::NotConnected, "the server has stopped");
        self.arrivals.send(Introduced { stream: theirs, peer, encrypted }).map_err(stopped)?;
        // Full means that it was told before.
        let _ = (&*self.bell).write(&[0]);
        Ok(ours)
    }
}

/// Listens at its endpoints and gives each connection a thread.
pub struct Server {
    hall: Hall,
    guests: Option<Guests>,
    stopper: Stopper,
    beats: Arc<AtomicU64>,
}

/// Where clients come in, by whichever thread looks for them.
struct Hall {
    entrances: Vec<Entrance>,
    registry: Arc<Registry>,
    limits: Arc<Limits>,
    tls: Option<Arc<Tls>>,
    wake: UnixStream,
    /// A descriptor to give up when there is no other, so that the client can be told.
    spare: Mutex<Option<File>>,
    /// Clients get their numbers in the order in which they have come, whichever threads let them in: where there are too many,
    /// the first to go is the one who came first.
    in_order: Mutex<()>,
    /// What the server's own thread looks at: it lets in whom no other thread does.
    #[cfg(target_os = "linux")]
    own: Mutex<crate::threads::epoll::Events>,
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").field("registry", &self.hall.registry).finish_non_exhaustive()
    }
}

/// Stops a running server; cheap to clone.
#[derive(Clone, Debug)]
pub struct Stopper {
    registry: Arc<Registry>,
    wake: Arc<UnixStream>,
}

impl Stopper {
    /// As [`stop`](Stopper::stop), but statements that run are interrupted now instead of after the grace.
    pub fn stop_now(&self) {
        self.registry.hurry();
        self.stop();
    }

    /// Asks the server to stop. Returns at once; [`Server::run`] returns when all is over.
    pub fn stop(&self) {
        self.registry.begin_stop();
        // Full means that it was told before.
        let _ = (&*self.wake).write(&[0]);
    }
}

impl Server {
    /// A server without entrances.
    pub fn new(limits: Limits, tls: Option<Arc<Tls>>) -> io::Result<Self> {
        let (wake, waker) = UnixStream::pair()?;
        wake.set_nonblocking(true)?;
        waker.set_nonblocking(true)?;
        let registry = Arc::new(Registry::new(limits.max_connections, limits.max_handshakes));
        let stopper = Stopper { registry: Arc::clone(&registry), wake: Arc::new(waker) };
        Ok(Self {
            hall: Hall {
                entrances: Vec::new(),
                registry,
                limits: Arc::new(limits),
                tls,
                wake,
                spare: Mutex::new(spare_descriptor()),
                in_order: Mutex::default(),
                #[cfg(target_os = "linux")]
                own: Mutex::new(crate::threads::epoll::Events::new()?),
            },
            guests: None,
            stopper,
            beats: Arc::default(),
        })
    }

    /// Listens at `endpoint` for clients of `door`.
    ///
    /// `open_to_all` lets every user of the machine use a unix socket; otherwise only the server's own user can.
    pub fn listen(&mut self, endpoint: &Endpoint, door: Arc<dyn Door>, open_to_all: bool) -> Result<Bound, StartError> {
        let fail = |error| StartError { endpoint: endpoint.clone(), error };
        let (listener, endpoint) = match endpoint {
            Endpoint::Tcp(address) => bind_tcp(*address)
                .and_then(|listener| {
                    let address = listener.local_addr()?;
                    Ok((Listener::Tcp(listener), Endpoint::Tcp(address)))
                })
                .map_err(fail)?,
            Endpoint::Unix(path) => {
                let (listener, file) = SocketFile::bind(path, open_to_all).map_err(fail)?;
                (Listener::Unix(listener, Some(file)), Endpoint::Unix(path.clone()))
            }
        };
        let bound = Bound { door: door.name(), endpoint };
        self.enter(listener, door);
        Ok(bound)
    }

    /// Takes over a socket that somebody else listens at: a service manager, which hands it over when we start.
    pub fn adopt(&mut self, handed: HandedSocket, door: Arc<dyn Door>) -> Bound {
        let HandedSocket { listener, endpoint } = handed;
        let bound = Bound { door: door.name(), endpoint };
        self.enter(listener, door);
        bound
    }

    fn enter(&mut self, listener: Listener, door: Arc<dyn Door>) {
        if let Listener::Tcp(listener) = &listener
            && let Err(error) = socket::prepare_listener(listener, self.hall.limits.write_timeout)
        {
            // Where these are not the sockets' that it accepts, they only lack what saves time and notices lost peers.
            tracing::warn!(%error, "options of a listening socket");
        }
        let traffic = self.traffic_of(door.name());
        self.hall.entrances.push(Entrance { listener, door, traffic });
    }

    fn traffic_of(&self, door: &'static str) -> Arc<Traffic> {
        let same = self.hall.entrances.iter().find(|entrance| entrance.traffic.door == door);
        same.map_or_else(|| Arc::new(Traffic::new(door)), |entrance| entrance.traffic.clone())
    }

    /// What brings clients to `door` from within this process.
    ///
    /// # Errors
    /// When there are no descriptors left.
    pub fn introducer(&mut self, door: Arc<dyn Door>) -> io::Result<Introducer> {
        let (bell, rings) = UnixStream::pair()?;
        bell.set_nonblocking(true)?;
        rings.set_nonblocking(true)?;
        let (sender, arrivals) = channel();
        let traffic = self.traffic_of(door.name());
        self.guests = Some(Guests { door, traffic, arrivals, bell });
        Ok(Introducer { arrivals: sender, bell: Arc::new(rings) })
    }

    /// How the server is, for who tells others: of the doors that it has by now.
    pub fn vitals(&self) -> Vitals {
        let mut traffic: Vec<Arc<Traffic>> = Vec::new();
        for entrance in &self.hall.entrances {
            if !traffic.iter().any(|known| Arc::ptr_eq(known, &entrance.traffic)) {
                traffic.push(entrance.traffic.clone());
            }
        }
        Vitals { registry: Arc::clone(&self.hall.registry), beats: self.beats(), traffic }
    }

    /// Grows as long as [`run`](Server::run) looks after its clients, a few times a second.
    pub fn beats(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.beats)
    }

    /// What ends [`run`](Server::run).
    pub fn stopper(&self) -> Stopper {
        self.stopper.clone()
    }

    /// Accepts until the [`Stopper`] is used, then ends all sessions and returns.
    pub fn run(self) -> io::Result<()> {
        let Self { hall, guests, beats, .. } = self;
        let hall = Arc::new(hall);
        let (registry, limits) = (Arc::clone(&hall.registry), Arc::clone(&hall.limits));
        let arrivals: Weak<Hall> = Arc::downgrade(&hall);
        let threads = Threads::new(SESSION_STACK, Some(arrivals))?;
        let mut polls: Vec<libc::pollfd> = hall
            .looked_at()?
            .into_iter()
            .chain([hall.wake.as_raw_fd()])
            .chain(guests.as_ref().map(|guests| guests.bell.as_raw_fd()))
            .map(|fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 })
            .collect();
        while !registry.stopping() {
            // SAFETY: the array outlives the call and its length is the one given.
            let ready = unsafe { libc::poll(polls.as_mut_ptr(), polls.len() as libc::nfds_t, LOOK_AFTER_CLIENTS) };
            beats.fetch_add(1, Ordering::Relaxed);
            registry.look_after_clients();
            if ready < 0 {
                let error = io::Error::last_os_error();
                if error.kind() == ErrorKind::Interrupted {
                    continue;
                }
                return Err(error);
            }
            for (at, entrance) in hall.entrances.iter().enumerate() {
                // Where all are looked at by one descriptor, that is the first. Now and then they are looked at all the same: a
                // thread that was told of a client and of other work at once has done the other.
                let poll = if hall.looks_at_each() { at } else { 0 };
                if (ready == 0 || polls.get(poll).is_some_and(|poll| poll.revents != 0))
                    && let Some(connection) = hall.let_in(entrance)
                {
                    take(&threads, &entrance.door, connection);
                }
            }
            hall.welcome_guests(guests.as_ref(), &threads);
        }
        // Nobody new comes in, and the unix sockets' names go, before the sessions are ended.
        drop(hall);
        tracing::info!(connections = registry.len(), "stopping");
        let left = registry.stop(limits.stop_grace);
        if left > 0 {
            tracing::warn!(connections = left, "connections that would not end were left behind");
        }
        Ok(())
    }
}

impl Hall {
    fn welcome_guests(&self, guests: Option<&Guests>, threads: &Threads) {
        let Some(guests) = guests else { return };
        // What rang is taken before what has come is looked for: nobody waits for a ring that was missed.
        let mut rings = [0; 64];
        while matches!((&guests.bell).read(&mut rings), Ok(1..)) {}
        for Introduced { stream, peer, encrypted } in guests.arrivals.try_iter() {
            match Socket::unix(stream, self.limits.write_timeout) {
                Ok(socket) => {
                    let connection =
                        self.enter(&guests.traffic, guests.door.name(), socket, Peer::Tcp(peer), encrypted);
                    if let Some(connection) = connection {
                        take(threads, &guests.door, connection);
                    }
                }
                Err(error) => tracing::error!(%error, "an introduced connection"),
            }
        }
    }

    /// What the server's own thread waits at for clients.
    #[cfg(target_os = "linux")]
    fn looked_at(&self) -> io::Result<Vec<RawFd>> {
        let own = self.own.lock();
        for (at, socket) in (0..).zip(self.sockets()) {
            own.add(socket, at)?;
        }
        Ok(vec![own.descriptor()])
    }

    /// What the server's own thread waits at for clients.
    #[cfg(not(target_os = "linux"))]
    fn looked_at(&self) -> io::Result<Vec<RawFd>> {
        Ok(self.sockets())
    }

    /// Whether it waits at each socket, or at what looks at all of them.
    const fn looks_at_each(&self) -> bool {
        cfg!(not(target_os = "linux"))
    }

    /// Accepts with the spare descriptor, tells the client that there is no room, and closes; false when there was none.
    fn turn_away(&self, entrance: &Entrance) -> bool {
        let mut spare = self.spare.lock();
        if spare.take().is_none() {
            *spare = spare_descriptor();
            return false;
        }
        let refusal = entrance.door.refusal("The server has no file descriptor left for the session.");
        // It is told without waiting: a few bytes fit into any socket's buffer, and the client may be gone.
        match &entrance.listener {
            Listener::Tcp(listener) => {
                let _ = listener.accept().and_then(|(mut stream, _)| stream.write_all(&refusal));
            }
            Listener::Unix(listener, _) => {
                let _ = listener.accept().and_then(|(mut stream, _)| stream.write_all(&refusal));
            }
        }
        *spare = spare_descriptor();
        true
    }

    /// The client who has come to an entrance, when there is one.
    fn accept(&self, entrance: &Entrance) -> Option<(Socket, Peer)> {
        let write_timeout = self.limits.write_timeout;
        let accepted = match &entrance.listener {
            Listener::Tcp(listener) => listener
                .accept()
                .and_then(|(stream, address)| Ok((Socket::tcp(stream, write_timeout)?, Peer::Tcp(address)))),
            Listener::Unix(listener, _) => {
                listener.accept().and_then(|(stream, _)| Ok((Socket::unix(stream, write_timeout)?, Peer::Unix)))
            }
        };
        match accepted {
            Ok(accepted) => return Some(accepted),
            // The client left before we looked, or another thread was quicker.
            Err(error)
                if matches!(
                    error.kind(),
                    ErrorKind::WouldBlock | ErrorKind::ConnectionAborted | ErrorKind::Interrupted
                ) => {}
            Err(error)
                if matches!(error.raw_os_error(), Some(libc::EMFILE | libc::ENFILE)) && self.turn_away(entrance) =>
            {
                entrance.traffic.refused.fetch_add(1, Ordering::Relaxed);
                tracing::error!(%error, "no descriptor is left: the connection is refused");
            }
            Err(error) => {
                tracing::error!(%error, "cannot accept");
                // Not busily: the waiting connection stays ready until a descriptor is free. A stop still wakes us.
                let mut poll = libc::pollfd { fd: self.wake.as_raw_fd(), events: libc::POLLIN, revents: 0 };
                // SAFETY: one structure, and its count is given.
                unsafe { libc::poll(&mut poll, 1, ACCEPT_REST.as_millis() as libc::c_int) };
            }
        }
        None
    }

    /// A connection in the registry; `vouched` is encrypted without our doing. `None` when there is no room for it.
    fn enter(
        &self,
        traffic: &Arc<Traffic>,
        door: &str,
        socket: Socket,
        peer: Peer,
        vouched: bool,
    ) -> Option<Connection> {
        traffic.accepted.fetch_add(1, Ordering::Relaxed);
        let Some(number) = self.registry.enter(socket.fd()) else {
            traffic.refused.fetch_add(1, Ordering::Relaxed);
            tracing::warn!(door, %peer, "too many unauthenticated connections: refused");
            return None;
        };
        let (registry, limits) = (Arc::clone(&self.registry), Arc::clone(&self.limits));
        let mut connection =
            Connection::new(socket, peer, number, registry, limits, self.tls.clone(), Arc::clone(traffic));
        if vouched {
            connection.vouch();
        }
        Some(connection)
    }

    /// The client who has come to an entrance, in the registry.
    fn let_in(&self, entrance: &Entrance) -> Option<Connection> {
        let _in_order = self.in_order.lock();
        let (socket, peer) = self.accept(entrance)?;
        self.enter(&entrance.traffic, entrance.door.name(), socket, peer, false)
    }
}

/// Gives a connection its thread.
fn take(threads: &Threads, door: &Arc<dyn Door>, connection: Connection) {
    let (name, peer) = (door.name(), connection.peer().clone());
    let serving = Arc::clone(door);
    // A thread that does not start must not take the connection with it.
    let connection = Arc::new(Mutex::new(Some(connection)));
    let waiting = Arc::clone(&connection);
    let session = threads.run(Box::new(move || {
        let Some(connection) = waiting.lock().take() else { return true };
        run_session(serving, connection)
    }));
    if let Err(error) = session {
        tracing::error!(door = name, %peer, %error, "cannot start a thread for the connection");
        if let Some(mut connection) = connection.lock().take() {
            // It may be gone; there is nothing else that we can do for it.
            let _ = connection.write_all(&door.refusal("The server cannot start a thread for the session."));
            connection.linger();
        }
    }
}

impl Arrivals for Hall {
    fn sockets(&self) -> Vec<RawFd> {
        let sockets = self.entrances.iter().map(|entrance| match &entrance.listener {
            Listener::Tcp(listener) => listener.as_raw_fd(),
            Listener::Unix(listener, _) => listener.as_raw_fd(),
        });
        sockets.collect()
    }

    fn welcome(&self, socket: usize) -> Option<Work> {
        let entrance = self.entrances.get(socket)?;
        let connection = self.let_in(entrance)?;
        // Whoever stops the server meanwhile finds the connection in the registry, or has been seen here.
        if self.registry.stopping() {
            return None;
        }
        let door = Arc::clone(&entrance.door);
        Some(Box::new(move || run_session(door, connection)))
    }

    fn give_way(&self) {
        #[cfg(target_os = "linux")]
        {
            let own = self.own.lock();
            for (at, socket) in (0..).zip(self.sockets()) {
                // Who looks at it again comes last. Where that fails, this thread does not look at it any more.
                if let Err(error) = own.remove(socket).and_then(|()| own.add(socket, at)) {
                    tracing::error!(%error, "a listening socket cannot be looked at");
                }
            }
        }
    }
}

/// A listening socket that was made by somebody else.
pub struct HandedSocket {
    listener: Listener,
    endpoint: Endpoint,
}

impl fmt::Debug for HandedSocket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HandedSocket").field("endpoint", &self.endpoint).finish_non_exhaustive()
    }
}

impl HandedSocket {
    /// A descriptor that must be a stream socket, of TCP or of this machine, which listens already.
    ///
    /// # Errors
    /// `InvalidInput` when it is anything else.
    pub fn new(descriptor: OwnedFd) -> io::Result<Self> {
        let invalid = |what| io::Error::new(ErrorKind::InvalidInput, what);
        let socket = socket2::Socket::from(descriptor);
        // What is no socket at all fails here.
        let address = socket.local_addr()?;
        if socket.r#type()? != socket2::Type::STREAM {
            return Err(invalid("it is no stream socket"));
        }
        if !socket.is_listener()? {
            return Err(invalid("it is a socket that does not listen"));
        }
        socket.set_nonblocking(true)?;
        if let Some(address) = address.as_socket() {
            return Ok(Self { listener: Listener::Tcp(socket.into()), endpoint: Endpoint::Tcp(address) });
        }
        if !address.is_unix() {
            return Err(invalid("it is neither a TCP nor a unix socket"));
        }
        let path = address.as_pathname().ok_or_else(|| invalid("it is a unix socket without a path"))?.to_owned();
        let listener = UnixListener::from(OwnedFd::from(socket));
        Ok(Self { listener: Listener::Unix(listener, None), endpoint: Endpoint::Unix(path) })
    }

    /// Where it listens.
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }
}

/// Any descriptor.
fn spare_descriptor() -> Option<File> {
    File::open("/dev/null").ok()
}

/// Speaks with a client until the end; false when that was a panic, which may have left anything on its thread.
fn run_session(door: Arc<dyn Door>, mut connection: Connection) -> bool {
    let number = connection.number();
    let peer = connection.peer().clone();
    tracing::debug!(door = door.name(), connection = number, %peer, "connected");
    let served = std::panic::catch_unwind(AssertUnwindSafe(|| door.serve(&mut connection)));
    let sound = served.is_ok();
    let ending = served.unwrap_or_else(|panic| Ending::Failed(format!("panic: {}", panic_text(&*panic))));
    // Before the connection leaves the registry: when the last one has, nobody but the server's owner holds the database,
    // so that its file is closed in order.
    let door = {
        let name = door.name();
        drop(door);
        name
    };
    match &ending {
        Ending::Goodbye | Ending::Brief(_) | Ending::Ended(_) | Ending::Stopped => {
            tracing::info!(door, connection = number, %peer, %ending, "disconnected");
        }
        Ending::Gone | Ending::Refused(_) | Ending::Protocol(_) | Ending::TimedOut(_) | Ending::Broken(_) => {
            tracing::warn!(door, connection = number, %peer, %ending, "disconnected");
        }
        Ending::Failed(_) => tracing::error!(door, connection = number, %peer, %ending, "disconnected"),
    }
    if matches!(ending, Ending::Refused(_) | Ending::Protocol(_)) && !connection.stopping() {
        connection.linger();
    }
    sound
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("without a message")
}

fn bind_tcp(address: SocketAddr) -> io::Result<TcpListener> {
    let listener = TcpListener::bind(address)?;
    // A connection that vanishes between poll and accept must not block the loop.
    listener.set_nonblocking(true)?;
    Ok(listener)
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;
    use std::net::TcpStream;
    use std::thread::JoinHandle;

    use super::*;

    /// Sends back what comes; a session from its first byte on. `P` panics.
    struct Echo;

    impl Door for Echo {
        fn name(&self) -> &'static str {
            "echo"
        }

        fn serve(&self, connection: &mut Connection) -> Ending {
            let mut buffer = [0; 64];
            let mut admitted = false;
            loop {
                match connection.read(&mut buffer) {
                    Ok(0) if connection.stopping() => {
                        let _ = connection.write_all(b"bye");
                        return Ending::Stopped;
                    }
                    Ok(0) => return Ending::Gone,
                    Ok(count) => {
                        if !std::mem::replace(&mut admitted, true) && connection.admit().is_err() {
                            let _ = connection.write_all(b"full");
                            return Ending::Refused("full".into());
                        }
                        assert_ne!(buffer[0], b'P', "asked to panic");
                        if let Err(error) = connection.write_all(&buffer[..count]) {
                            return Ending::Broken(error);
                        }
                    }
                    Err(error) if error.kind() == ErrorKind::TimedOut => return Ending::TimedOut("bytes"),
                    Err(error) => return Ending::Broken(error),
                }
            }
        }
    }

    fn start(limits: Limits) -> (SocketAddr, Stopper, JoinHandle<io::Result<()>>) {
        let mut server = Server::new(limits, None).unwrap();
        let endpoint = Endpoint::parse_tcp(":0", 0).unwrap();
        let Endpoint::Tcp(address) = server.listen(&endpoint, Arc::new(Echo), false).unwrap().endpoint else {
            panic!("a TCP endpoint became another")
        };
        let stopper = server.stopper();
        (address, stopper, std::thread::spawn(|| server.run()))
    }

    fn connect(address: SocketAddr) -> TcpStream {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream
    }

    /// Sends `text`; what comes back until `len` bytes or the end.
    fn ask(stream: &mut TcpStream, text: &[u8], len: usize) -> Vec<u8> {
        let _ = stream.write_all(text);
        let mut answer = Vec::new();
        let _ = stream.take(len as u64).read_to_end(&mut answer);
        answer
    }

    #[test]
    fn many_clients_and_guests_at_once_are_all_served() {
        let mut server = Server::new(Limits::default(), None).unwrap();
        let endpoint = Endpoint::parse_tcp(":0", 0).unwrap();
        let Endpoint::Tcp(address) = server.listen(&endpoint, Arc::new(Echo), false).unwrap().endpoint else {
            panic!("a TCP endpoint became another")
        };
        let introducer = server.introducer(Arc::new(Echo)).unwrap();
        let stopper = server.stopper();
        let server = std::thread::spawn(|| server.run());
        let clients = (0..8).map(|of| {
            let introducer = introducer.clone();
            std::thread::spawn(move || {
                for _ in 0..50 {
                    if of < 5 {
                        assert_eq!(ask(&mut connect(address), b"hello", 5), b"hello");
                        continue;
                    }
                    let mut guest = introducer.connect("127.0.0.1:1".parse().unwrap(), true).unwrap();
                    guest.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
                    guest.write_all(b"guest").unwrap();
                    let mut answer = [0; 5];
                    guest.read_exact(&mut answer).unwrap();
                    assert_eq!(&answer, b"guest");
                }
            })
        });
        clients.collect::<Vec<_>>().into_iter().for_each(|client| client.join().unwrap());
        stopper.stop();
        server.join().unwrap().unwrap();
    }

    #[test]
    fn stops_gracefully_and_says_goodbye() {
        let (address, stopper, server) = start(Limits::default());
        let mut client = connect(address);
        assert_eq!(ask(&mut client, b"hello", 5), b"hello");
        stopper.stop();
        assert_eq!(ask(&mut client, b"", 100), b"bye");
        server.join().unwrap().unwrap();
        assert!(TcpStream::connect(address).is_err());
    }

    #[test]
    fn tells_the_one_too_many_and_keeps_serving() {
        let (address, stopper, server) = start(Limits { max_connections: 1, ..Limits::default() });
        let mut first = connect(address);
        assert_eq!(ask(&mut first, b"a", 1), b"a");
        assert_eq!(ask(&mut connect(address), b"b", 100), b"full");
        assert_eq!(ask(&mut first, b"c", 1), b"c");
        stopper.stop();
        server.join().unwrap().unwrap();
    }

    #[test]
    fn silent_peers_cannot_keep_others_out() {
        let (address, stopper, server) = start(Limits { max_handshakes: 2, ..Limits::default() });
        let mut silent: Vec<TcpStream> = (0..20).map(|_| connect(address)).collect();
        assert_eq!(ask(&mut connect(address), b"hello", 5), b"hello");
        // The oldest was cut to make room.
        assert_eq!(ask(&mut silent[0], b"", 1), b"");
        stopper.stop();
        server.join().unwrap().unwrap();
    }

    #[test]
    fn silence_in_the_handshake_ends() {
        let limits = Limits { handshake_timeout: Duration::from_millis(50), ..Limits::default() };
        let (address, stopper, server) = start(limits);
        assert_eq!(ask(&mut connect(address), b"", 1), b"");
        stopper.stop();
        server.join().unwrap().unwrap();
    }

    #[test]
    fn a_panic_ends_one_session_only() {
        let (address, stopper, server) = start(Limits::default());
        assert_eq!(ask(&mut connect(address), b"P", 1), b"");
        assert_eq!(ask(&mut connect(address), b"x", 1), b"x");
        stopper.stop();
        server.join().unwrap().unwrap();
    }

    #[test]
    fn takes_over_the_name_of_a_dead_server_but_not_of_a_living_one() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(".s.PGSQL.5432");
        drop(UnixListener::bind(&path).unwrap());
        assert!(path.exists());
        let mut server = Server::new(Limits::default(), None).unwrap();
        let endpoint = Endpoint::Unix(path.clone());
        server.listen(&endpoint, Arc::new(Echo), false).unwrap();
        let mut second = Server::new(Limits::default(), None).unwrap();
        assert_eq!(second.listen(&endpoint, Arc::new(Echo), false).unwrap_err().error.kind(), ErrorKind::AddrInUse);
        server.stopper().stop();
        server.run().unwrap();
        assert!(!path.exists());
    }
}
