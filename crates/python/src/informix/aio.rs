use pyo3::intern;
use pyo3::prelude::*;
use rowferry_client::{Channel, Timeouts};
use rowferry_wire_sqli::URGENT_INTERRUPT;
use rowferry_wire_sqli::client::{Client, CursorOptions};

use super::commands::with_commands;
use super::driver::{Discarded, Driver, busy, transport_error};
use super::result::QueryResult;
use super::settings::SettingsRead;
use crate::errors::{Class, error};
use crate::pump::Conversation as _;
use crate::pump::aio::{OnLoop, with_protocol};
use crate::pump::limits::Limits;

/// A connection as an asyncio protocol. Operations answer futures of the loop.
///
/// Subclassed in Python by a class that is an `asyncio.BufferedProtocol`, too.
#[pyclass(frozen, subclass, module = "rowferry._core.informix")]
pub struct AsyncWire {
    pump: OnLoop<Driver>,
    discarded: Discarded,
}

impl AsyncWire {
    fn run(
        slf: &Bound<'_, Self>,
        start: impl FnOnce(Python<'_>, &mut Driver, &mut Client) -> PyResult<()>,
    ) -> PyResult<Py<PyAny>> {
        let this = slf.get();
        this.pump.run(slf, |py, driver, client| {
            if driver.is_busy() {
                return Err(busy(py));
            }
            this.discarded.close(client);
            start(py, driver, client)
        })
    }

    fn session<T>(&self, py: Python<'_>, read: impl FnOnce(&Client) -> T) -> PyResult<T> {
        Ok(read(self.pump.lock(py)?.channel.core()))
    }

    fn displaced(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.pump.lock(py)?.driver.shared.displaced)
    }
}

with_protocol! { with_commands! AsyncWire:
    #[new]
    fn new(py: Python<'_>, settings: &Bound<'_, PyAny>, event_loop: Py<PyAny>) -> PyResult<Self> {
        let settings = SettingsRead::of(settings)?;
        let driver = settings.driver()?;
        let client =
            Client::new(settings.options()).map_err(|misuse| error(py, Class::Interface, None, &misuse.to_string()))?;
        let mut channel = Channel::new(client);
        if let Some(encryption) = Driver::encryption(py, &settings)? {
            encryption.start(&mut channel).map_err(|failure| transport_error(py, &failure, None))?;
        }
        let Timeouts { read, write, .. } = settings.timeouts();
        let limits = Limits { read, write, ..Limits::default() };
        let pump = OnLoop::new(py, settings, driver, channel, event_loop, limits)?;
        Ok(Self { pump, discarded: Discarded::default() })
    }

    /// Waits for the login to be over. The outcome is None, where the server sends us instead, or a question of PAM: its
    /// style and text, for `answer`.
    fn login(slf: &Bound<'_, Self>) -> PyResult<Py<PyAny>> {
        slf.get().pump.run_within(slf, Limits::default(), |_, driver, client| {
            driver.login(client);
            Ok(())
        })
    }

    /// Answers a question of PAM, or acknowledges what is none; the outcome is as that of `login`.
    #[pyo3(signature = (answer=None))]
    fn answer(slf: &Bound<'_, Self>, answer: Option<&[u8]>) -> PyResult<Py<PyAny>> {
        Self::run(slf, |py, driver, client| driver.answer(py, client, answer))
    }

    /// Reads and drops what is still to come of the operation under way.
    fn drain(slf: &Bound<'_, Self>) -> PyResult<Py<PyAny>> {
        slf.get().pump.run_within(slf, Limits::default(), |_, driver, _| {
            driver.drain();
            Ok(())
        })
    }

    /// Interrupts the operation under way on the server; nothing when there is none.
    fn interrupt(&self, py: Python<'_>) -> PyResult<()> {
        let Some(socket) = self.pump.busy_socket(py)? else { return Ok(()) };
        let descriptor = socket.call_method0(intern!(py, "fileno"))?.extract()?;
        // SAFETY: the descriptor is the transport's, which is open while we hold its socket.
        unsafe { send_urgent(descriptor, URGENT_INTERRUPT) }.map_err(|cause| {
            let failure = rowferry_client::Error::Io(rowferry_client::Waiting::Write, cause);
            transport_error(py, &failure, None)
        })
    }
}

/// Sends one byte of urgent data to the socket of this number.
///
/// # Safety
///
/// It is an open socket, and stays so meanwhile.
unsafe fn send_urgent(descriptor: RawSocket, byte: u8) -> std::io::Result<()> {
    // SAFETY: as the caller says.
    #[cfg(unix)]
    let socket = unsafe { std::os::fd::BorrowedFd::borrow_raw(descriptor) };
    // SAFETY: as the caller says.
    #[cfg(windows)]
    let socket = unsafe { std::os::windows::io::BorrowedSocket::borrow_raw(descriptor) };
    socket2::SockRef::from(&socket).send_out_of_band(&[byte]).map(drop)
}

#[cfg(unix)]
type RawSocket = std::os::fd::RawFd;
#[cfg(windows)]
type RawSocket = std::os::windows::io::RawSocket;
