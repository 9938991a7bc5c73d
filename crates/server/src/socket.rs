//! A blocking stream socket whose reads obey a deadline.

use std::fmt;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

/// Who is at the other end.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Peer {
    /// A program somewhere.
    Tcp(SocketAddr),
    /// A program on this machine.
    Unix,
}

impl Peer {
    /// True when the peer runs on this machine.
    pub fn is_local(&self) -> bool {
        match self {
            Self::Tcp(address) => address.ip().is_loopback(),
            Self::Unix => true,
        }
    }
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => address.fmt(f),
            Self::Unix => f.write_str("unix"),
        }
    }
}

/// What a read waits for at most.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Patience {
    /// For ever.
    Unlimited,
    /// This long for each read.
    Each(Duration),
    /// Until this moment, however many reads it takes: a peer that sends a byte now and then gains nothing.
    Until(Instant),
}

#[derive(Debug)]
enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

/// A connected socket.
#[derive(Debug)]
pub(crate) struct Socket {
    stream: Stream,
    patience: Patience,
    /// The time-out that the kernel has now, to save system calls.
    kernel_timeout: Option<Duration>,
}

macro_rules! either {
    ($self:expr, $stream:ident => $body:expr) => {
        match &$self.stream {
            Stream::Tcp($stream) => $body,
            Stream::Unix($stream) => $body,
        }
    };
}

/// Linux gives the sockets that a listener accepts the listener's options, but not that it does not block.
const INHERITS: bool = cfg!(target_os = "linux");

/// Sets on a listening socket what all sockets that it accepts are to have: once, instead of for each of them.
pub(crate) fn prepare_listener(listener: &TcpListener, write_timeout: Duration) -> io::Result<()> {
    if INHERITS { set_options(&socket2::SockRef::from(listener), write_timeout) } else { Ok(()) }
}

fn set_options(socket: &socket2::SockRef<'_>, write_timeout: Duration) -> io::Result<()> {
    socket.set_tcp_nodelay(true)?;
    // A peer that vanished without a word is noticed within minutes instead of two hours.
    let keepalive = socket2::TcpKeepalive::new()
        .with_time(Duration::from_secs(60))
        .with_interval(Duration::from_secs(20))
        .with_retries(4);
    socket.set_tcp_keepalive(&keepalive)?;
    socket.set_write_timeout(Some(write_timeout))
}

impl Socket {
    /// A socket that a listener which [`prepare_listener`] has seen has accepted.
    pub(crate) fn tcp(stream: TcpStream, write_timeout: Duration) -> io::Result<Self> {
        if !INHERITS {
            stream.set_nonblocking(false)?;
            set_options(&socket2::SockRef::from(&stream), write_timeout)?;
        }
        Ok(Self { stream: Stream::Tcp(stream), patience: Patience::Unlimited, kernel_timeout: None })
    }

    pub(crate) fn unix(stream: UnixStream, write_timeout: Duration) -> io::Result<Self> {
        if !INHERITS {
            stream.set_nonblocking(false)?;
        }
        stream.set_write_timeout(Some(write_timeout))?;
        Ok(Self { stream: Stream::Unix(stream), patience: Patience::Unlimited, kernel_timeout: None })
    }

    /// Where the peer has met us; `None` for what came over no network.
    pub(crate) fn local(&self) -> Option<SocketAddr> {
        match &self.stream {
            Stream::Tcp(stream) => stream.local_addr().ok(),
            Stream::Unix(_) => None,
        }
    }

    /// The name of the user of this machine who has opened the other end.
    ///
    /// # Errors
    /// `Unsupported` for what is no unix socket, `NotFound` for a user without a name.
    pub(crate) fn peer_user(&self) -> io::Result<String> {
        match &self.stream {
            Stream::Tcp(_) => Err(ErrorKind::Unsupported.into()),
            Stream::Unix(stream) => user_name(peer_id(stream)?),
        }
    }

    pub(crate) fn set_patience(&mut self, patience: Patience) {
        self.patience = patience;
    }

    /// When a read that begins now gives up.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        match self.patience {
            Patience::Unlimited => None,
            Patience::Each(timeout) => Instant::now().checked_add(timeout),
            Patience::Until(deadline) => Some(deadline),
        }
    }

    /// Waits until there is something to read, here or at `other`, which comes second; true when it is here.
    ///
    /// # Errors
    /// `TimedOut` behind the deadline.
    pub(crate) fn wait_with(&self, other: BorrowedFd<'_>, deadline: Option<Instant>) -> io::Result<bool> {
        let asked = |fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
        let mut asked = [asked(self.fd()), asked(other.as_raw_fd())];
        loop {
            let left = match deadline {
                None => -1,
                Some(deadline) => {
                    // Rounded up, so that the last part of a millisecond is not waited for in circles.
                    let left = deadline.saturating_duration_since(Instant::now());
                    libc::c_int::try_from(left.as_micros().div_ceil(1_000)).unwrap_or(libc::c_int::MAX)
                }
            };
            // SAFETY: two structures, alive during the call, and their count is given.
            let ready = unsafe { libc::poll(asked.as_mut_ptr(), 2, left) };
            if ready > 0 {
                return Ok(asked[0].revents != 0);
            }
            if ready == 0 && left == 0 {
                return Err(ErrorKind::TimedOut.into());
            }
            if ready < 0 {
                let error = io::Error::last_os_error();
                if error.kind() != ErrorKind::Interrupted {
                    return Err(error);
                }
            }
        }
    }

    pub(crate) fn fd(&self) -> RawFd {
        either!(self, stream => stream.as_raw_fd())
    }

    /// The next byte without taking it; `None` at the end of the stream.
    pub(crate) fn peek(&mut self) -> io::Result<Option<u8>> {
        self.apply_patience()?;
        let mut buffer = [std::mem::MaybeUninit::uninit(); 1];
        loop {
            let socket = either!(self, stream => socket2::SockRef::from(stream));
            match socket.peek(&mut buffer) {
                Ok(0) => return Ok(None),
                // SAFETY: the kernel filled the one byte that it says it did.
                Ok(_) => return Ok(Some(unsafe { buffer[0].assume_init() })),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(as_timeout(error)),
            }
        }
    }

    /// A handle of its own on the same socket.
    pub(crate) fn second(&self) -> io::Result<std::os::fd::OwnedFd> {
        either!(self, stream => std::os::fd::AsFd::as_fd(stream).try_clone_to_owned())
    }

    /// Nothing more will be sent.
    pub(crate) fn shutdown_write(&self) -> io::Result<()> {
        either!(self, stream => stream.shutdown(std::net::Shutdown::Write))
    }

    /// True when a read would not wait.
    pub(crate) fn input_waits(&self) -> bool {
        let descriptor = either!(&self, stream => stream.as_raw_fd());
        let mut asked = libc::pollfd { fd: descriptor, events: libc::POLLIN, revents: 0 };
        // SAFETY: one pollfd, alive during the call, which does not wait.
        unsafe { libc::poll(&mut asked, 1, 0) > 0 }
    }

    /// Has the kernel end the next read in time.
    fn apply_patience(&mut self) -> io::Result<()> {
        if let Some(wanted) = self.other_timeout()? {
            // The kernel takes zero for "for ever".
            let timeout = wanted.map(|timeout| timeout.max(Duration::from_millis(1)));
            either!(self, stream => stream.set_read_timeout(timeout))?;
            self.kernel_timeout = wanted;
        }
        Ok(())
    }

    /// The time-out that the next read needs, where it is another than the kernel's.
    fn other_timeout(&self) -> io::Result<Option<Option<Duration>>> {
        let wanted = match self.patience {
            Patience::Unlimited => None,
            Patience::Each(timeout) => Some(timeout),
            Patience::Until(deadline) => match deadline.checked_duration_since(Instant::now()) {
                Some(left) if !left.is_zero() => Some(left),
                _ => return Err(ErrorKind::TimedOut.into()),
            },
        };
        // What is left until a moment shrinks from read to read; a time-out that is a little longer does as well.
        let near = |kernel: Duration, wanted: Duration| kernel >= wanted && kernel - wanted <= wanted / 16;
        let serves = match (self.patience, self.kernel_timeout, wanted) {
            (Patience::Until(_), Some(kernel), Some(wanted)) => near(kernel, wanted),
            (_, kernel, wanted) => kernel == wanted,
        };
        Ok(if serves { None } else { Some(wanted) })
    }

    /// Reads what is there already; `None` when a read would have to wait.
    fn read_at_once(&self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        // SAFETY: the buffer is alive during the call, and its length is given.
        let count = unsafe { libc::recv(self.fd(), buffer.as_mut_ptr().cast(), buffer.len(), libc::MSG_DONTWAIT) };
        match usize::try_from(count) {
            Ok(count) => Ok(Some(count)),
            Err(_) => match io::Error::last_os_error() {
                error if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => Ok(None),
                error => Err(error),
            },
        }
    }
}

impl Read for Socket {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // A time-out is of use to who waits alone: the first words of a client are often there.
        if self.other_timeout()?.is_some()
            && let Some(count) = self.read_at_once(buffer)?
        {
            return Ok(count);
        }
        self.apply_patience()?;
        loop {
            match either!(self, stream => { let mut stream = stream; stream.read(buffer) }) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                other => return other.map_err(as_timeout),
            }
        }
    }
}

impl Write for Socket {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        either!(self, stream => { let mut stream = stream; stream.write(bytes) }).map_err(as_timeout)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Linux says "would block" when a time-out ends a blocking call.
fn as_timeout(error: io::Error) -> io::Error {
    if error.kind() == ErrorKind::WouldBlock { ErrorKind::TimedOut.into() } else { error }
}
/// The number of the user at the other end.
#[cfg(target_os = "linux")]
fn peer_id(stream: &UnixStream) -> io::Result<libc::uid_t> {
    let mut credentials = libc::ucred { pid: 0, uid: 0, gid: 0 };
    let mut length = size_of::<libc::ucred>() as libc::socklen_t;
    // SAFETY: the structure is alive during the call, its length is the one given.
    let code = unsafe {
        libc::getsockopt(
            stream.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PEERCRED,
            std::ptr::from_mut(&mut credentials).cast(),
            &mut length,
        )
    };
    if code == 0 { Ok(credentials.uid) } else { Err(io::Error::last_os_error()) }
}

/// The number of the user at the other end.
#[cfg(not(target_os = "linux"))]
fn peer_id(stream: &UnixStream) -> io::Result<libc::uid_t> {
    let (mut user, mut group) = (0, 0);
    // SAFETY: two numbers, alive during the call.
    let code = unsafe { libc::getpeereid(stream.as_raw_fd(), &mut user, &mut group) };
    if code == 0 { Ok(user) } else { Err(io::Error::last_os_error()) }
}

/// A user's name, as the system's list of users has it.
fn user_name(id: libc::uid_t) -> io::Result<String> {
    let mut buffer = vec![0; 16 * 1024];
    let mut entry = std::mem::MaybeUninit::<libc::passwd>::uninit();
    let mut found = std::ptr::null_mut();
    // SAFETY: the entry and the buffer, whose length is given, are alive during the call.
    let code = unsafe { libc::getpwuid_r(id, entry.as_mut_ptr(), buffer.as_mut_ptr(), buffer.len(), &mut found) };
    if code != 0 {
        return Err(io::Error::from_raw_os_error(code));
    }
    if found.is_null() {
        return Err(ErrorKind::NotFound.into());
    }
    // SAFETY: there is an entry, so it has been filled; its name is NUL-terminated and lies in the buffer.
    let name = unsafe { std::ffi::CStr::from_ptr((*found).pw_name) };
    Ok(name.to_string_lossy().into_owned())
}
