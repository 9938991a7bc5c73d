use std::fmt;
use std::io::{self, ErrorKind};
use std::mem::MaybeUninit;
use std::net::ToSocketAddrs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use socket2::{Domain, SockAddr, Socket, TcpKeepalive, Type};

use crate::error::{Error, Waiting};
use crate::now;

/// Where a server listens.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Address {
    /// Host name or IP address, and port.
    Tcp(String, u16),
    /// Path of a unix socket.
    Unix(PathBuf),
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(host, port) if host.contains(':') => write!(f, "[{host}]:{port}"),
            Self::Tcp(host, port) => write!(f, "{host}:{port}"),
            Self::Unix(path) => write!(f, "{}", path.display()),
        }
    }
}

/// How long each kind of wait may last. `None` waits for ever.
#[derive(Clone, Copy, Debug, Default)]
pub struct Timeouts {
    /// Opening the socket, for each address that the name resolves to.
    pub connect: Option<Duration>,
    /// From a request to the next bytes of its answer.
    pub read: Option<Duration>,
    /// Until the peer has taken some of our bytes.
    pub write: Option<Duration>,
}

impl Timeouts {
    /// Those until the end of the login, which is a part of connecting: an answer may take as long as the longer of both.
    #[must_use]
    pub fn of_login(self) -> Self {
        let read = match (self.connect, self.read) {
            (Some(connect), Some(read)) => Some(connect.max(read)),
            (connect, read) => connect.or(read),
        };
        Self { read, ..self }
    }
}

/// Asked for on unix sockets and by default left to the kernel on TCP, whose buffers grow by themselves.
const UNIX_SOCKET_BUFFER: usize = 4 * 1024 * 1024;

/// A blocking read wakes this often, so that the caller's hook sees signals that came on another thread.
const WAKE_INTERVAL: Duration = Duration::from_millis(500);

/// What became of an attempt to move bytes.
#[derive(Debug, Eq, PartialEq)]
pub(crate) enum Moved {
    Bytes(usize),
    /// Nothing can move without waiting, or the wait was cut short to look for signals.
    Nothing,
}

/// How a socket is opened.
#[derive(Clone, Copy, Debug)]
pub struct Opening {
    /// The address of ours from which to connect, over TCP.
    pub bind: Option<std::net::IpAddr>,
    /// Have the kernel watch an idle TCP connection.
    pub keepalive: bool,
    /// The client has something to say at once: the kernel ends TCP's handshake with that, instead of with a packet of its
    /// own, and the server wakes when there is something to read.
    pub speaks_first: bool,
}

impl Default for Opening {
    fn default() -> Self {
        Self { bind: None, keepalive: true, speaks_first: false }
    }
}

/// A connected socket.
#[derive(Debug)]
pub struct Stream {
    socket: Arc<Socket>,
    timeouts: Timeouts,
    /// How long a read waits in the kernel at once; `None` before that was set.
    slice: Option<Duration>,
}

impl Stream {
    /// Connects to the first address that answers.
    pub fn connect(address: &Address, timeouts: Timeouts, opening: Opening) -> Result<Self, Error> {
        let failed = |error: io::Error| match error.kind() {
            ErrorKind::TimedOut | ErrorKind::WouldBlock => Error::TimedOut(Waiting::Connect),
            _ => Error::Io(Waiting::Connect, error),
        };
        match address {
            Address::Unix(path) => {
                let address = SockAddr::unix(path).map_err(failed)?;
                let socket = Socket::new(Domain::UNIX, Type::STREAM, None).map_err(failed)?;
                // A refusal to enlarge is no reason to fail: the default works, slower.
                let _ = socket.set_recv_buffer_size(UNIX_SOCKET_BUFFER);
                let _ = socket.set_send_buffer_size(UNIX_SOCKET_BUFFER);
                socket.connect(&address).map_err(failed)?;
                Self::from_socket(socket, timeouts).map_err(failed)
            }
            Address::Tcp(host, port) => {
                let mut last = None;
                for candidate in (host.as_str(), *port).to_socket_addrs().map_err(failed)? {
                    match Self::connect_tcp(candidate, timeouts, opening) {
                        Ok(stream) => return Ok(stream),
                        Err(error) => last = Some(error),
                    }
                }
                let none = || io::Error::new(ErrorKind::NotFound, "the name has no address");
                Err(failed(last.unwrap_or_else(none)))
            }
        }
    }

    fn connect_tcp(address: std::net::SocketAddr, timeouts: Timeouts, opening: Opening) -> io::Result<Self> {
        let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
        if let Some(ip) = opening.bind {
            socket.bind(&std::net::SocketAddr::new(ip, 0).into())?;
        }
        socket.set_tcp_nodelay(true)?;
        if opening.keepalive {
            socket.set_keepalive(true)?;
        }
        #[cfg(target_os = "linux")]
        if opening.speaks_first {
            // A kernel that does not delay the acknowledgement only sends a packet more.
            let _ = socket.set_tcp_quickack(false);
        }
        match timeouts.connect {
            Some(limit) => socket.connect_timeout(&address.into(), limit)?,
            None => socket.connect(&address.into())?,
        }
        Self::from_socket(socket, timeouts)
    }

    /// Takes over a connected socket of somebody else's.
    #[cfg(unix)]
    pub fn adopt(socket: std::os::fd::OwnedFd, timeouts: Timeouts) -> io::Result<Self> {
        let socket = Socket::from(socket);
        socket.set_nonblocking(false)?;
        Self::from_socket(socket, timeouts)
    }

    /// Takes over a connected socket.
    pub fn from_socket(socket: Socket, timeouts: Timeouts) -> io::Result<Self> {
        now::prepare(&socket)?;
        let mut stream = Self { socket: Arc::new(socket), timeouts, slice: None };
        stream.set_timeouts(timeouts)?;
        Ok(stream)
    }

    /// Changes the time-outs of later waits.
    pub fn set_timeouts(&mut self, timeouts: Timeouts) -> io::Result<()> {
        self.timeouts = timeouts;
        let slice = timeouts.read.map_or(WAKE_INTERVAL, |limit| limit.min(WAKE_INTERVAL));
        self.wait_at_most(slice)
    }

    fn wait_at_most(&mut self, slice: Duration) -> io::Result<()> {
        let slice = Some(slice.max(Duration::from_millis(1)));
        if self.slice != slice {
            self.socket.set_read_timeout(slice)?;
            self.slice = slice;
        }
        Ok(())
    }

    /// Has blocking reads wake so often that a limit of this length is noticed about when it has passed.
    pub fn wake_within(&mut self, limit: Duration) -> io::Result<()> {
        let parts = limit.as_nanos().div_ceil(WAKE_INTERVAL.as_nanos()).max(1);
        let slice = limit / u32::try_from(parts).unwrap_or(u32::MAX);
        let slice = self.timeouts.read.map_or(slice, |read| read.min(slice)).min(WAKE_INTERVAL);
        self.wait_at_most(slice)
    }

    /// The time-outs in force.
    pub const fn timeouts(&self) -> Timeouts {
        self.timeouts
    }

    /// Turns keep-alive probes off, or on with the idle time before the first.
    pub fn set_keepalive(&self, idle: Option<Duration>) -> io::Result<()> {
        match idle {
            Some(idle) => self.socket.set_tcp_keepalive(&TcpKeepalive::new().with_time(idle)),
            None => self.socket.set_keepalive(false),
        }
    }

    /// A second handle on the same socket, for cancelling from another thread. The socket closes with the last of them.
    pub fn handle(&self) -> Handle {
        Handle(Arc::clone(&self.socket))
    }

    /// True while the peer has neither closed nor sent anything: how the socket of an idle connection should be.
    pub fn is_quiet(&self) -> bool {
        let mut byte = [MaybeUninit::<u8>::uninit()];
        now::peek(&self.socket, &mut byte)
            .is_err_and(|error| matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted))
    }

    /// Writes what the kernel takes now. With `more` it may keep bytes back for a moment (200 ms on Linux), to send them
    /// together with what comes next.
    pub(crate) fn try_send(&self, bytes: &[u8], more: bool) -> Result<Moved, Error> {
        loop {
            match now::send(&self.socket, bytes, more) {
                Ok(count) => return Ok(Moved::Bytes(count)),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(Moved::Nothing),
                Err(error) => return Err(lost(Waiting::Write, error)),
            }
        }
    }

    /// Reads what has come; waits for a slice of time when `wait` is set.
    pub(crate) fn try_receive(&self, space: &mut [u8], wait: bool) -> Result<Moved, Error> {
        // SAFETY: `MaybeUninit<u8>` has the layout of `u8`, and `recv` only ever writes initialised bytes to it.
        let space = unsafe { &mut *(std::ptr::from_mut(space) as *mut [MaybeUninit<u8>]) };
        match now::receive(&self.socket, space, wait, self.slice) {
            Ok(0) => Err(Error::Closed),
            Ok(count) => Ok(Moved::Bytes(count)),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => Ok(Moved::Nothing),
            Err(error) if error.kind() == ErrorKind::Interrupted => Ok(Moved::Nothing),
            Err(error) => Err(lost(Waiting::Read, error)),
        }
    }

    /// Waits for a slice of time until the socket can be read or written.
    pub(crate) fn poll_both(&self) -> Result<(), Error> {
        match now::wait_for_both(&self.socket, WAKE_INTERVAL) {
            Err(error) if error.kind() != ErrorKind::Interrupted => Err(Error::Io(Waiting::Write, error)),
            _ => Ok(()),
        }
    }
}

/// A second handle on the socket of a [`Stream`].
#[derive(Debug)]
pub struct Handle(Arc<Socket>);

impl Handle {
    /// Sends one byte of urgent (out-of-band) data.
    pub fn send_urgent(&self, byte: u8) -> io::Result<()> {
        self.0.send_out_of_band(&[byte]).map(drop)
    }

    /// The number by which the system knows the socket, as long as the stream is there.
    #[must_use]
    pub fn descriptor(&self) -> i32 {
        now::number(&self.0)
    }

    /// Ends both directions at once; a thread that waits on the socket wakes.
    pub fn shutdown(&self) {
        // The peer may have gone first; either way the socket is of no further use.
        let _ = self.0.shutdown(std::net::Shutdown::Both);
    }
}

/// A wait that began now and knows when it has lasted too long.
pub(crate) struct Deadline(Option<Instant>);

impl Deadline {
    pub(crate) fn after(limit: Option<Duration>) -> Self {
        Self(limit.map(|limit| Instant::now() + limit))
    }

    pub(crate) fn check(&self, waiting: Waiting) -> Result<(), Error> {
        match self.0 {
            Some(deadline) if Instant::now() >= deadline => Err(Error::TimedOut(waiting)),
            _ => Ok(()),
        }
    }
}

fn lost(waiting: Waiting, error: io::Error) -> Error {
    match error.kind() {
        ErrorKind::ConnectionReset | ErrorKind::BrokenPipe | ErrorKind::ConnectionAborted | ErrorKind::NotConnected => {
            Error::Closed
        }
        _ => Error::Io(waiting, error),
    }
}
