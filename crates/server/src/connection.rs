//! A connection as a door sees it.

use std::fmt;
use std::io::{self, ErrorKind, Read, Write};
use std::net::SocketAddr;
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use rowferry_engine::{End, Interrupter};
use rustls::{ServerConnection, StreamOwned};

use crate::config::Limits;
use crate::metrics::Traffic;
use crate::registry::{Registry, Watch, hung_up};
use crate::socket::{Patience, Peer, Socket};
use crate::tls::Tls;

/// How long, and for how many bytes, a peer that was told an error may go on sending.
const LINGER: Duration = Duration::from_millis(500);
const LINGER_BYTES: usize = 1024 * 1024;

/// How a connection ended, for the log. A door returns it; whatever had to be said to the peer has been said.
#[derive(Debug)]
pub enum Ending {
    /// The client said goodbye.
    Goodbye,
    /// The client closed without a word.
    Gone,
    /// Nothing to do with a session: a cancel request, a probe.
    Brief(&'static str),
    /// The client was not let in; why.
    Refused(String),
    /// The client broke the protocol; how.
    Protocol(String),
    /// The client said nothing, or took nothing, for too long; what it was waited for.
    TimedOut(&'static str),
    /// The session was ended by somebody else, or by one of its own limits; what the client was told.
    Ended(String),
    /// The server stops.
    Stopped,
    /// The connection broke.
    Broken(io::Error),
    /// The session could not go on, by our fault.
    Failed(String),
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Goodbye => f.write_str("closed by the client"),
            Self::Gone => f.write_str("client gone without goodbye"),
            Self::Brief(what) => f.write_str(what),
            Self::Refused(why) => write!(f, "refused: {why}"),
            Self::Protocol(how) => write!(f, "protocol violation: {how}"),
            Self::TimedOut(what) => write!(f, "timed out: {what}"),
            Self::Ended(why) => write!(f, "ended: {why}"),
            Self::Stopped => f.write_str("the server stops"),
            Self::Broken(error) => write!(f, "connection broke: {error}"),
            Self::Failed(why) => write!(f, "failed: {why}"),
        }
    }
}

/// The server is full; tell the client in the protocol's own way.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct TooManyConnections {
    /// The limit that was reached.
    pub limit: usize,
}

enum Transport {
    Plain(Socket),
    Tls(Box<StreamOwned<ServerConnection, Socket>>),
    /// For the moment in which the socket moves from the one to the other.
    Moving,
}

/// A client's connection: a byte stream with time-outs, on a thread of its own.
///
/// It begins in its *handshake*: all reads together obey [`Limits::handshake_timeout`], and it can be cut in favour of
/// newer ones. [`admit`](Connection::admit) ends that.
pub struct Connection {
    transport: Transport,
    peer: Peer,
    number: u64,
    registry: Arc<Registry>,
    limits: Arc<Limits>,
    tls: Option<Arc<Tls>>,
    /// What binds an authentication to this TLS connection.
    end_point: Option<Arc<[u8]>>,
    /// Nobody can read along, for other reasons than TLS of ours.
    vouched: bool,
    traffic: Arc<Traffic>,
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").field("number", &self.number).field("peer", &self.peer).finish_non_exhaustive()
    }
}

impl Connection {
    pub(crate) fn new(
        mut socket: Socket,
        peer: Peer,
        number: u64,
        registry: Arc<Registry>,
        limits: Arc<Limits>,
        tls: Option<Arc<Tls>>,
        traffic: Arc<Traffic>,
    ) -> Self {
        socket.set_patience(Patience::Until(Instant::now() + limits.handshake_timeout));
        traffic.open.fetch_add(1, Ordering::Relaxed);
        let transport = Transport::Plain(socket);
        Self { transport, peer, number, registry, limits, tls, end_point: None, vouched: false, traffic }
    }

    /// Counts as encrypted from now on: whoever brought the client speaks TLS with it.
    pub(crate) fn vouch(&mut self) {
        self.vouched = true;
    }

    /// The connection's number, unique in this process: what the log calls it.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Who is at the other end.
    pub fn peer(&self) -> &Peer {
        &self.peer
    }

    /// The name of the user of this machine at the other end of a unix socket.
    pub(crate) fn peer_user(&self) -> io::Result<String> {
        match &self.transport {
            Transport::Plain(socket) => socket.peer_user(),
            Transport::Tls(_) | Transport::Moving => Err(ErrorKind::Unsupported.into()),
        }
    }

    /// Where the other end has met us; `None` for what came over no network.
    pub fn local(&self) -> Option<SocketAddr> {
        match &self.transport {
            Transport::Plain(socket) => socket.local(),
            Transport::Tls(stream) => stream.sock.local(),
            Transport::Moving => None,
        }
    }

    /// The server's limits.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// True once [`start_tls`](Connection::start_tls) has succeeded.
    pub fn is_encrypted(&self) -> bool {
        self.vouched || matches!(self.transport, Transport::Tls(_))
    }

    /// The version of TLS and the cipher suite, as OpenSSL calls them; `None` in the clear.
    pub fn encryption(&self) -> Option<(&'static str, String)> {
        let Transport::Tls(stream) = &self.transport else { return None };
        let version = match stream.conn.protocol_version()? {
            rustls::ProtocolVersion::TLSv1_2 => "TLSv1.2",
            _ => "TLSv1.3",
        };
        let suite = stream.conn.negotiated_cipher_suite().map(|suite| format!("{:?}", suite.suite()));
        Some((version, suite.unwrap_or_default().replace("TLS13_", "TLS_")))
    }

    /// True when [`start_tls`](Connection::start_tls) can succeed.
    pub fn can_encrypt(&self) -> bool {
        self.tls.is_some() && !self.is_encrypted() && self.peer != Peer::Unix
    }

    /// True when this connection must be encrypted and is not. What does not leave the machine's kernel is exempt.
    pub(crate) fn lacks_encryption(&self) -> bool {
        self.peer != Peer::Unix && !self.is_encrypted() && self.tls.as_ref().is_some_and(|tls| tls.required())
    }

    /// The data of the channel binding `tls-server-end-point`; `None` in the clear, and where the certificate has none.
    pub(crate) fn end_point(&self) -> Option<&[u8]> {
        self.end_point.as_deref()
    }

    /// The certificate that the client has shown, in DER, of an authority that the server knows.
    pub(crate) fn client_certificate(&self) -> Option<&[u8]> {
        match &self.transport {
            Transport::Tls(stream) => stream.conn.peer_certificates()?.first().map(|certificate| certificate.as_ref()),
            Transport::Plain(_) | Transport::Moving => None,
        }
    }

    /// Rests for so long, or until the client is gone or the server stops.
    pub(crate) fn pause(&self, pause: Duration) {
        #[cfg(target_os = "linux")]
        const GONE: libc::c_short = libc::POLLRDHUP;
        #[cfg(not(target_os = "linux"))]
        const GONE: libc::c_short = 0;
        let Some(fd) = self.socket_fd() else { return };
        let deadline = Instant::now() + pause;
        let mut poll = libc::pollfd { fd, events: GONE, revents: 0 };
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let left = libc::c_int::try_from(left.as_millis()).unwrap_or(libc::c_int::MAX);
            // SAFETY: one structure, alive during the call, and its count is given.
            let ready = unsafe { libc::poll(&mut poll, 1, left) };
            let interrupted = ready < 0 && io::Error::last_os_error().kind() == ErrorKind::Interrupted;
            if !interrupted || left == 0 {
                return;
            }
        }
    }

    /// The next byte without taking it, before anything else was read; `None` at the end of the stream.
    pub fn peek(&mut self) -> io::Result<Option<u8>> {
        match &mut self.transport {
            Transport::Plain(socket) => socket.peek(),
            Transport::Tls(_) | Transport::Moving => Err(ErrorKind::Unsupported.into()),
        }
    }

    /// Everything from now on is under TLS. The caller has no byte left that the client sent before.
    pub fn start_tls(&mut self) -> io::Result<()> {
        self.start_tls_after(&[])
    }

    /// The same, when the caller has read the beginning of the handshake already.
    pub fn start_tls_after(&mut self, mut read: &[u8]) -> io::Result<()> {
        let Some(config) = self.tls.as_ref().map(|tls| tls.config()) else {
            return Err(ErrorKind::Unsupported.into());
        };
        let session = ServerConnection::new(config.rustls).map_err(io::Error::other)?;
        match std::mem::replace(&mut self.transport, Transport::Moving) {
            Transport::Plain(socket) => {
                let mut stream = Box::new(StreamOwned::new(session, socket));
                while !read.is_empty() {
                    stream.conn.read_tls(&mut read)?;
                    if let Err(error) = stream.conn.process_new_packets() {
                        // The alert says why; the client may be gone.
                        let _ = stream.conn.write_tls(&mut stream.sock);
                        return Err(io::Error::new(ErrorKind::InvalidData, error));
                    }
                }
                while stream.conn.is_handshaking() {
                    stream.conn.complete_io(&mut stream.sock)?;
                }
                self.transport = Transport::Tls(stream);
                self.end_point = config.end_point;
                Ok(())
            }
            other => {
                self.transport = other;
                Err(ErrorKind::Unsupported.into())
            }
        }
    }

    /// The client has authenticated: it is a session now, and silence is measured by
    /// [`expect_command`](Connection::expect_command).
    pub fn admit(&mut self) -> Result<(), TooManyConnections> {
        if !self.registry.admit(self.number) {
            self.traffic.refused.fetch_add(1, Ordering::Relaxed);
            return Err(TooManyConnections { limit: self.registry.max_connections() });
        }
        self.set_patience(Patience::Unlimited);
        self.expect_command(false, None);
        Ok(())
    }

    /// Which silence is allowed from now on: the server's, outside or inside a transaction, or the session's own when
    /// that is shorter. True when it is the session's.
    pub fn expect_command(&mut self, in_transaction: bool, own: Option<Duration>) -> bool {
        let servers = if in_transaction { self.limits.idle_in_transaction_timeout } else { self.limits.idle_timeout };
        let (limit, is_own) = match (servers, own) {
            (Some(servers), Some(own)) if servers <= own => (Some(servers), false),
            (_, Some(own)) => (Some(own), true),
            (servers, None) => (servers, false),
        };
        self.set_patience(limit.map_or(Patience::Unlimited, Patience::Each));
        is_own
    }

    fn set_patience(&mut self, patience: Patience) {
        match &mut self.transport {
            Transport::Plain(socket) => socket.set_patience(patience),
            Transport::Tls(stream) => stream.sock.set_patience(patience),
            Transport::Moving => {}
        }
    }

    /// The socket's number, to be watched for urgent data; `None` while the socket moves to TLS.
    pub(crate) fn socket_fd(&self) -> Option<std::os::fd::RawFd> {
        match &self.transport {
            Transport::Plain(socket) => Some(socket.fd()),
            Transport::Tls(stream) => Some(stream.sock.fd()),
            Transport::Moving => None,
        }
    }

    /// What stops this session's statement, when the server cannot wait for it.
    pub fn on_interrupt(&self, interrupt: impl Fn() + Send + Sync + 'static) {
        self.registry.set_interrupt(self.number, Arc::new(interrupt));
    }

    /// Ends the session when the client goes away while one of its statements runs.
    pub fn look_after(&self, interrupter: &Interrupter) {
        let (busy, end) = (interrupter.clone(), interrupter.clone());
        self.registry.set_watch(
            self.number,
            Watch {
                interval: Box::new(move || busy.client_check()),
                gone: Box::new(move || end.end(End::ClientGone)),
                looked: Instant::now(),
            },
        );
    }

    /// As [`Connection::look_after`], for a client that goes from database to database.
    pub fn look_after_whichever(&self, current: Arc<parking_lot::Mutex<Option<Interrupter>>>) {
        let busy = Arc::clone(&current);
        self.registry.set_watch(
            self.number,
            Watch {
                interval: Box::new(move || busy.lock().as_ref()?.client_check()),
                gone: Box::new(move || {
                    if let Some(interrupter) = &*current.lock() {
                        interrupter.end(End::ClientGone);
                    }
                }),
                looked: Instant::now(),
            },
        );
    }

    /// Wakes a read that waits, from any thread: it says "end of stream".
    pub fn waker(&self) -> impl Fn() + Send + Sync + 'static {
        let (registry, number) = (Arc::clone(&self.registry), self.number);
        move || registry.wake(number)
    }

    /// True when the server stops: finish the statement, say goodbye, return [`Ending::Stopped`].
    ///
    /// A read that waits is woken with "end of stream" for it, so ask after each of these.
    pub fn stopping(&self) -> bool {
        self.registry.stopping()
    }

    /// Reads some bytes; 0 at the end of the stream. `TimedOut` when the client was silent for too long.
    pub fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let result = match &mut self.transport {
            Transport::Plain(socket) => socket.read(buffer),
            Transport::Tls(stream) => stream.read(buffer),
            Transport::Moving => Err(ErrorKind::NotConnected.into()),
        };
        match result {
            // A peer that closes without TLS's own goodbye has closed all the same.
            Err(error) if matches!(error.kind(), ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset) => Ok(0),
            Ok(count) => {
                self.traffic.received.fetch_add(count as u64, Ordering::Relaxed);
                Ok(count)
            }
            other => other,
        }
    }

    /// When a read that begins now gives up, by what [`Connection::expect_command`] has said.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        match &self.transport {
            Transport::Plain(socket) => socket.deadline(),
            Transport::Tls(stream) => stream.sock.deadline(),
            Transport::Moving => None,
        }
    }

    /// Waits until the client has sent something or is gone, or until the bell rings: true when a read is next.
    ///
    /// # Errors
    /// `TimedOut` behind the deadline, and those of a read.
    pub(crate) fn wait_or_bell(&mut self, bell: BorrowedFd<'_>, deadline: Option<Instant>) -> io::Result<bool> {
        loop {
            match &mut self.transport {
                Transport::Plain(socket) => return socket.wait_with(bell, deadline),
                Transport::Tls(stream) => {
                    // What has been read from the socket already may hold data.
                    let state = stream.conn.process_new_packets();
                    while stream.conn.wants_write() {
                        stream.conn.write_tls(&mut stream.sock)?;
                    }
                    let state = state.map_err(|error| io::Error::new(ErrorKind::InvalidData, error))?;
                    if state.plaintext_bytes_to_read() > 0 || state.peer_has_closed() {
                        return Ok(true);
                    }
                    if !stream.sock.wait_with(bell, deadline)? {
                        return Ok(false);
                    }
                    // A part of a record, or one without data, is not worth a read that would wait for more.
                    if stream.conn.read_tls(&mut stream.sock)? == 0 {
                        return Ok(true);
                    }
                }
                Transport::Moving => return Err(ErrorKind::NotConnected.into()),
            }
        }
    }

    /// True when a read would not have to wait: bytes, or the end of the stream, are there.
    pub fn input_waits(&self) -> bool {
        match &self.transport {
            Transport::Plain(socket) => socket.input_waits(),
            // Under TLS waiting bytes may be no data at all; the caller then writes what it has, which is never wrong.
            Transport::Tls(_) | Transport::Moving => false,
        }
    }

    /// A handle of its own on the client's socket, for whoever passes bytes on in both directions at once.
    ///
    /// # Errors
    /// `Unsupported` under TLS, and the system's.
    pub fn second_handle(&self) -> io::Result<std::os::fd::OwnedFd> {
        match &self.transport {
            Transport::Plain(socket) => socket.second(),
            Transport::Tls(_) | Transport::Moving => Err(ErrorKind::Unsupported.into()),
        }
    }

    /// True when the peer has closed its end already: nobody reads what is written now.
    pub(crate) fn peer_has_closed(&self) -> bool {
        self.socket_fd().is_some_and(hung_up)
    }

    /// Writes all bytes. `TimedOut` when the peer took none for [`Limits::write_timeout`].
    pub fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match &mut self.transport {
            Transport::Plain(socket) => socket.write_all(bytes),
            Transport::Tls(stream) => stream.write_all(bytes).and_then(|()| stream.flush()),
            Transport::Moving => Err(ErrorKind::NotConnected.into()),
        }?;
        self.traffic.sent.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        Ok(())
    }
}

impl Connection {
    /// Lets the peer read the last thing that it was told: a socket that is closed while bytes wait in it is reset, and
    /// what was sent may be lost.
    pub(crate) fn linger(&mut self) {
        let socket = match &mut self.transport {
            Transport::Plain(socket) => socket,
            Transport::Tls(stream) => {
                stream.conn.send_close_notify();
                let _ = stream.conn.write_tls(&mut stream.sock);
                &mut stream.sock
            }
            Transport::Moving => return,
        };
        if socket.shutdown_write().is_err() {
            return;
        }
        socket.set_patience(Patience::Until(Instant::now() + LINGER));
        let mut buffer = [0; 4096];
        let mut left = LINGER_BYTES;
        while left > 0 {
            match socket.read(&mut buffer) {
                Ok(0) | Err(_) => return,
                Ok(count) => left = left.saturating_sub(count),
            }
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        if let Transport::Tls(stream) = &mut self.transport {
            stream.conn.send_close_notify();
            // The peer may be gone; there is nobody left to tell.
            let _ = stream.conn.write_tls(&mut stream.sock);
        }
        // Before the socket closes, so that its descriptor is never another's while it stands in the registry.
        self.registry.leave(self.number);
        self.traffic.open.fetch_sub(1, Ordering::Relaxed);
    }
}
