//! Writing past the event loop's transport.
//!
//! A request is nearly always smaller than what the kernel takes at once, and the transport then is a detour: uvloop keeps
//! what is written until the end of the round, asyncio asks a selector that has nothing to say. So the bytes go to the
//! socket, unless the transport still has some that were given to it before; what the kernel does not take is the
//! transport's.

use pyo3::intern;
use pyo3::prelude::*;

/// The transport's socket.
#[derive(Default)]
pub struct Direct {
    /// Its number; `None` when there is none to be had, or the transport is closed.
    descriptor: Option<i32>,
    /// The transport was given bytes and may have them still.
    is_behind: bool,
}

impl Direct {
    /// The socket of a transport that has just been made.
    pub fn of(transport: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = transport.py();
        if cfg!(not(unix)) {
            // The loops of Windows have begun a write before they let us know.
            return Ok(Self::default());
        }
        let socket = transport.call_method1(intern!(py, "get_extra_info"), (intern!(py, "socket"),))?;
        let descriptor =
            if socket.is_none() { None } else { socket.call_method0(intern!(py, "fileno"))?.extract().ok() };
        Ok(Self { descriptor: descriptor.filter(|number| *number >= 0), is_behind: false })
    }

    /// Sends what the kernel takes now, and says how much. `None` when the transport has to take `bytes`.
    pub fn send(&mut self, py: Python<'_>, transport: Option<&Py<PyAny>>, bytes: &[u8]) -> PyResult<Option<usize>> {
        let (Some(descriptor), Some(transport)) = (self.descriptor, transport) else { return Ok(None) };
        if self.is_behind {
            let waiting: usize = transport.call_method0(py, intern!(py, "get_write_buffer_size"))?.extract(py)?;
            if waiting > 0 {
                return Ok(None);
            }
            self.is_behind = false;
        }
        match send_now(descriptor, bytes) {
            Some(count) if count > 0 => Ok(Some(count)),
            // Full or broken: the transport waits for room, and knows how to tell of a loss.
            _ => {
                self.is_behind = true;
                Ok(None)
            }
        }
    }
}

/// Sends what the kernel takes, to the open socket of this number.
#[cfg(unix)]
fn send_now(descriptor: i32, bytes: &[u8]) -> Option<usize> {
    // SAFETY: pointer and length are of one slice. The transport closes its socket behind `connection_lost`, which makes us forget
    // the number, so it is no other's.
    let sent =
        unsafe { libc::send(descriptor, bytes.as_ptr().cast(), bytes.len(), libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL) };
    usize::try_from(sent).ok()
}

#[cfg(not(unix))]
fn send_now(_: i32, _: &[u8]) -> Option<usize> {
    None
}
