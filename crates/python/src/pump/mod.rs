//! What moves the bytes of a connection, for every protocol: [`blocking`] with a thread, [`aio`] with an event loop.
//!
//! A protocol brings a [`Conversation`]: the half without colour, which commands and polls its core. Its classes for Python
//! hold one of the two pumps, and its commands, which are written once for both.

pub mod aio;
pub mod blocking;
pub mod limits;

use pyo3::prelude::*;
use rowferry_client::{Address, Channel, Error, TlsOptions};
use rowferry_wire::Core;

/// What the pump should do next.
pub enum Step {
    /// Write what waits, then wait for bytes.
    Pending,
    /// Write what waits, then step again: there is more to send.
    Flush,
    /// Flush, set TLS up, tell the core.
    StartTls,
    /// The operation is over; this is its outcome.
    Done(Py<PyAny>),
}

/// How to encrypt.
pub struct Encryption {
    /// What is asked of TLS.
    pub tls: TlsOptions,
    /// Where the server listens.
    pub address: Address,
    /// The name that the certificate must be issued for.
    pub name: String,
}

impl Encryption {
    /// Encrypts what the channel carries from here on.
    ///
    /// # Errors
    /// For certificates and keys that cannot be used.
    pub fn start<C: Core>(&self, channel: &mut Channel<C>) -> Result<(), Error> {
        channel.start_tls(self.tls.config(&self.address)?, &self.name)
    }
}

/// The conversations of a connection, whatever moves its bytes.
pub trait Conversation: Send {
    /// The protocol's core.
    type Client: Core + Send;
    /// How the connection was asked for.
    type Settings: Send + Sync;

    /// True while an answer is awaited.
    fn is_busy(&self) -> bool;

    /// True when the operation that has just begun may go on, or be over, without another byte.
    fn may_be_done(&self) -> bool;

    /// Polls the core until the operation is over or bytes must move.
    ///
    /// # Errors
    /// What the operation ends with.
    fn step(&mut self, py: Python<'_>, client: &mut Self::Client) -> PyResult<Step>;

    /// How to encrypt; `None` for plain text.
    ///
    /// # Errors
    /// Python's, for settings that mean nothing.
    fn encryption(py: Python<'_>, settings: &Self::Settings) -> PyResult<Option<Encryption>>;

    /// What is sent from here on is encrypted.
    fn tls_started(_: &mut Self::Client) {}

    /// True when the core says and takes nothing more.
    fn is_closed(client: &Self::Client) -> bool;

    /// Closes the core: nothing can come any more.
    fn give_up(client: &mut Self::Client);

    /// Has the core say good bye; false when it cannot any more.
    fn say_good_bye(client: &mut Self::Client) -> bool;

    /// How many bytes have come that nobody has asked for yet.
    fn backlog(_: &Self::Client) -> usize {
        0
    }

    /// The outcome of an operation for which nobody waits any more.
    fn drop_outcome(_: &Bound<'_, PyAny>, _: &mut Self::Client) {}

    /// The exception for a transport that does not move bytes any more.
    fn transport_error(py: Python<'_>, failure: &Error, connecting: Option<&str>) -> PyErr;

    /// The exception for a connection that is lost, for this reason.
    fn lost(py: Python<'_>, reason: Option<&str>) -> PyErr;

    /// The exception for what was under way on a connection that somebody has closed.
    fn aborted(py: Python<'_>) -> PyErr;

    /// The exception for a connection that was closed or lost before.
    fn closed(py: Python<'_>) -> PyErr;

    /// The exception for a second operation on a busy connection.
    fn busy(py: Python<'_>) -> PyErr;

    /// The exception for a connection that is the parent's of this process.
    fn forked(py: Python<'_>) -> PyErr;
}
