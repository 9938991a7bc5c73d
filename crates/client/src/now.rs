//! Moving bytes without waiting, and waiting for a bounded time: the one thing about sockets that each system has its own words for.

use std::io;
use std::mem::MaybeUninit;
use std::time::Duration;

use socket2::Socket;

#[cfg(unix)]
mod system {
    use super::{Duration, MaybeUninit, Socket, io};
    use std::os::fd::AsRawFd;

    /// The number by which the system knows it.
    pub(crate) fn number(socket: &Socket) -> i32 {
        socket.as_raw_fd()
    }

    /// Readies a socket for what is below.
    pub(crate) fn prepare(_: &Socket) -> io::Result<()> {
        Ok(())
    }

    /// Looks at what has come and leaves it there.
    pub(crate) fn peek(socket: &Socket, space: &mut [MaybeUninit<u8>]) -> io::Result<usize> {
        socket.recv_with_flags(space, libc::MSG_PEEK | libc::MSG_DONTWAIT)
    }

    /// Sends what the kernel takes now. With `more` it may keep bytes back for a moment.
    pub(crate) fn send(socket: &Socket, bytes: &[u8], more: bool) -> io::Result<usize> {
        #[cfg(target_os = "linux")]
        let more = if more { libc::MSG_MORE } else { 0 };
        #[cfg(not(target_os = "linux"))]
        let more = {
            let _ = more;
            0
        };
        socket.send_with_flags(bytes, libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL | more)
    }

    /// Receives what has come; with `wait` after waiting for it, as long as the socket's own time-out says.
    pub(crate) fn receive(
        socket: &Socket,
        space: &mut [MaybeUninit<u8>],
        wait: bool,
        _: Option<Duration>,
    ) -> io::Result<usize> {
        socket.recv_with_flags(space, if wait { 0 } else { libc::MSG_DONTWAIT })
    }

    /// Waits until the socket can be read or written, for so long at most.
    pub(crate) fn wait_for_both(socket: &Socket, limit: Duration) -> io::Result<()> {
        let mut poll = libc::pollfd { fd: socket.as_raw_fd(), events: libc::POLLIN | libc::POLLOUT, revents: 0 };
        let limit = libc::c_int::try_from(limit.as_millis()).unwrap_or(libc::c_int::MAX);
        // SAFETY: one valid pollfd, and its count.
        if unsafe { libc::poll(&raw mut poll, 1, limit) } < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }
}

/// Windows has no flag for "not now": the socket never waits by itself, and whoever wants to wait asks for that.
#[cfg(windows)]
mod system {
    use super::{Duration, MaybeUninit, Socket, io};
    use std::os::windows::io::AsRawSocket;

    use windows_sys::Win32::Networking::WinSock::{MSG_PEEK, POLLRDNORM, POLLWRNORM, SOCKET, WSAPOLLFD, WSAPoll};

    pub(crate) fn number(socket: &Socket) -> i32 {
        // Handles have 32 bits that count, also where they take 64.
        i32::try_from(socket.as_raw_socket()).unwrap_or(-1)
    }

    pub(crate) fn prepare(socket: &Socket) -> io::Result<()> {
        socket.set_nonblocking(true)
    }

    pub(crate) fn peek(socket: &Socket, space: &mut [MaybeUninit<u8>]) -> io::Result<usize> {
        socket.recv_with_flags(space, MSG_PEEK)
    }

    pub(crate) fn send(socket: &Socket, bytes: &[u8], _: bool) -> io::Result<usize> {
        socket.send(bytes)
    }

    pub(crate) fn receive(
        socket: &Socket,
        space: &mut [MaybeUninit<u8>],
        wait: bool,
        limit: Option<Duration>,
    ) -> io::Result<usize> {
        match socket.recv(space) {
            Err(error) if wait && error.kind() == io::ErrorKind::WouldBlock => {
                poll(socket, POLLRDNORM, limit)?;
                socket.recv(space)
            }
            received => received,
        }
    }

    pub(crate) fn wait_for_both(socket: &Socket, limit: Duration) -> io::Result<()> {
        poll(socket, POLLRDNORM | POLLWRNORM, Some(limit))
    }

    fn poll(socket: &Socket, events: i16, limit: Option<Duration>) -> io::Result<()> {
        let mut poll = WSAPOLLFD { fd: socket.as_raw_socket() as SOCKET, events, revents: 0 };
        let limit = limit.map_or(-1, |limit| i32::try_from(limit.as_millis()).unwrap_or(i32::MAX));
        // SAFETY: one valid WSAPOLLFD, and its count.
        if unsafe { WSAPoll(&raw mut poll, 1, limit) } < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }
}

pub(crate) use system::{number, peek, prepare, receive, send, wait_for_both};
