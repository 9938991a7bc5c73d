use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use rowferry_client::Channel;
use rowferry_wire_mysql::client::Client;
use rowferry_wire_mysql::messages::handshake::capability;

use super::binlog;
use super::commands::with_commands;
use super::driver::{self, Driver};
use super::result::{Prepared, StateTuple, state_tuple};
use super::settings::Settings;
use crate::pump::aio::{OnLoop, with_protocol};
use crate::pump::limits::Limits;

/// A connection as an asyncio protocol. Operations answer futures of the loop.
///
/// Subclassed in Python by a class that is an `asyncio.BufferedProtocol`, too.
#[pyclass(frozen, subclass, module = "rowferry._core.mysql")]
pub struct AsyncWire {
    pump: OnLoop<Driver>,
}

impl AsyncWire {
    /// Begins what the server answers as soon as it can.
    fn run(
        slf: &Bound<'_, Self>,
        start: impl FnOnce(Python<'_>, &mut Driver, &mut Client) -> PyResult<()>,
    ) -> PyResult<Py<PyAny>> {
        slf.get().pump.run(slf, start)
    }

    /// Begins what may take any time.
    fn run_patiently(
        slf: &Bound<'_, Self>,
        start: impl FnOnce(Python<'_>, &mut Driver, &mut Client) -> PyResult<()>,
    ) -> PyResult<Py<PyAny>> {
        let pump = &slf.get().pump;
        pump.run_within(slf, pump.limits(), start)
    }

    fn driven<T>(&self, py: Python<'_>, work: impl FnOnce(&mut Driver, Option<&mut Client>) -> T) -> PyResult<T> {
        let inner = &mut *self.pump.lock(py)?;
        Ok(work(&mut inner.driver, Some(inner.channel.core_mut())))
    }

    fn with<T>(&self, py: Python<'_>, work: impl FnOnce(&mut Driver, &mut Client) -> T) -> PyResult<T> {
        let inner = &mut *self.pump.lock(py)?;
        Ok(work(&mut inner.driver, inner.channel.core_mut()))
    }

    fn session<T>(&self, py: Python<'_>, read: impl FnOnce(&Client) -> T) -> PyResult<T> {
        Ok(read(self.pump.lock(py)?.channel.core()))
    }
}

with_protocol! { with_commands! AsyncWire:
    #[new]
    fn new(py: Python<'_>, settings: Settings, event_loop: Py<PyAny>) -> PyResult<Self> {
        let driver = settings.driver(py)?;
        let channel = Channel::new(Client::new(settings.options(py)?));
        let limits = settings.limits();
        Ok(Self { pump: OnLoop::new(py, settings, driver, channel, event_loop, limits)? })
    }

    /// Waits for the login to be over.
    fn login(slf: &Bound<'_, Self>) -> PyResult<Py<PyAny>> {
        slf.get().pump.run_within(slf, Limits::default(), |_, driver, _| {
            driver.login();
            Ok(())
        })
    }

    /// Reads and drops what is still to come, whatever operation it belongs to. False when `most` bytes of rows were
    /// dropped and more is to come.
    #[pyo3(signature = (most=None))]
    fn drain(slf: &Bound<'_, Self>, most: Option<usize>) -> PyResult<Py<PyAny>> {
        let pump = &slf.get().pump;
        pump.run_within(slf, Limits { query: None, ..pump.limits() }, |_, driver, _| {
            driver.drain(most);
            Ok(())
        })
    }

    /// Takes whoever waits off the operation under way, which goes on: `drain` reads its answer away. None when nobody
    /// waits.
    fn detach(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        self.pump.detach(py)
    }

    /// The exception for an operation that `query_timeout` has ended.
    fn overdue_error(&self, py: Python<'_>) -> Py<PyAny> {
        driver::overdue(py, self.pump.limits().query).value(py).clone().unbind().into_any()
    }

    /// True when nothing is lost by ending the stream's statement on the server.
    #[getter]
    fn may_end_stream(&self, py: Python<'_>) -> PyResult<bool> {
        self.driven(py, |driver, _| driver.may_end_stream())
    }

    /// Waits for packets of the binary log, which go to `reader`.
    fn listen_binlog(slf: &Bound<'_, Self>, reader: Py<binlog::BinlogReader>) -> PyResult<Py<PyAny>> {
        Self::run_patiently(slf, |py, driver, client| binlog::listen(driver, py, client, &reader))
    }

    /// True when the connection can be used and nothing is left of its last use: no answer, no transaction.
    #[getter]
    fn is_clean(&self, py: Python<'_>) -> bool {
        self.pump.is_clean(py, Driver::is_clean)
    }

    /// What KILL takes.
    #[getter]
    fn connection_id(&self, py: Python<'_>) -> PyResult<u32> {
        self.session(py, |client| client.session().connection_id)
    }
}
