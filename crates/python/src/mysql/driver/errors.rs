use std::time::Duration;

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use rowferry_wire_mysql::client::{Failure, Misuse};
use rowferry_wire_mysql::messages::status::ServerError;

use crate::errors::{Class, error};

/// Client errors, by the numbers that MySQL's own client library gave them.
pub mod client_errno {
    pub const CANNOT_CONNECT: u16 = 2003;
    pub const SERVER_GONE: u16 = 2006;
    pub const SERVER_LOST: u16 = 2013;
    pub const OUT_OF_SYNC: u16 = 2014;
    pub const TLS: u16 = 2026;
    pub const MALFORMED: u16 = 2027;
    pub const AUTH_PLUGIN: u16 = 2059;
    pub const LOCAL_FILE_REFUSED: u16 = 2068;
    /// The server's own number for statements that its limits end.
    pub const QUERY_TIMEOUT: u16 = 3024;
}

/// The exception for what the server refused.
pub fn server_error(py: Python<'_>, refused: &ServerError) -> PyErr {
    static MAKE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let make = || -> PyResult<PyErr> {
        let make = MAKE.import(py, "rowferry.mysql.err", "server_error")?;
        Ok(PyErr::from_value(make.call1((refused.code, &refused.sqlstate, &refused.message))?))
    };
    make().unwrap_or_else(|error| error)
}

/// The exception for a conversation that cannot go on.
pub fn broken(py: Python<'_>, failure: &Failure) -> PyErr {
    let (class, errno) = match failure {
        Failure::Closed => (Class::Operational, client_errno::SERVER_LOST),
        Failure::Malformed(_) | Failure::TooLarge { .. } => (Class::Operational, client_errno::MALFORMED),
        Failure::OutOfSequence { .. } | Failure::Unexpected { .. } => (Class::Internal, client_errno::OUT_OF_SYNC),
        Failure::Unsupported(_) => (Class::NotSupported, client_errno::AUTH_PLUGIN),
        _ => (Class::Internal, client_errno::OUT_OF_SYNC),
    };
    error(py, class, Some(errno), &failure.to_string())
}

/// True for what [`broken`] makes: the conversation cannot go on. What the server says has an SQLSTATE.
pub fn is_of_the_wire(py: Python<'_>, failure: &PyErr) -> bool {
    let value = failure.value(py);
    let errno = value.getattr(intern!(py, "errno")).and_then(|errno| errno.extract::<u16>());
    // An operation that is refused for being out of turn has the same number, but did nothing to the wire.
    let class = match errno {
        Ok(client_errno::MALFORMED) => "OperationalError",
        Ok(client_errno::OUT_OF_SYNC) => "InternalError",
        _ => return false,
    };
    value.get_type().name().is_ok_and(|name| name == class)
        && value.getattr(intern!(py, "sqlstate")).is_ok_and(|sqlstate| sqlstate.is_none())
}

/// The exception for a transport that does not move bytes any more.
pub fn transport_error(py: Python<'_>, failure: &rowferry_client::Error, connecting: Option<&str>) -> PyErr {
    use rowferry_client::{Error, Waiting};
    match (failure, connecting) {
        (Error::Tls(_), _) => error(py, Class::Operational, Some(client_errno::TLS), &failure.to_string()),
        (Error::Io(Waiting::Connect, _) | Error::TimedOut(Waiting::Connect), Some(place)) => {
            let message = format!("Can't connect to MySQL server on '{place}' ({failure})");
            error(py, Class::Operational, Some(client_errno::CANNOT_CONNECT), &message)
        }
        _ => lost(py, Some(&failure.to_string())),
    }
}

/// The exception for a connection that is lost, for this reason.
pub fn lost(py: Python<'_>, reason: Option<&str>) -> PyErr {
    let reason = reason.map(|reason| format!(" ({reason})")).unwrap_or_default();
    let message = format!("Lost connection to MySQL server during query{reason}");
    error(py, Class::Operational, Some(client_errno::SERVER_LOST), &message)
}

/// The exception for a request out of place.
pub fn misused(py: Python<'_>, misuse: Misuse) -> PyErr {
    error(py, Class::Interface, Some(0), &misuse.to_string())
}

/// The exception for a connection that was lost before.
pub fn gone(py: Python<'_>) -> PyErr {
    let message = "MySQL server has gone away (the connection was lost)";
    error(py, Class::Operational, Some(client_errno::SERVER_GONE), message)
}

/// The exception for a connection that is the parent's of this process.
pub fn forked(py: Python<'_>) -> PyErr {
    let message = "the connection was made before this process was forked and belongs to its parent; connect anew";
    error(py, Class::Operational, Some(client_errno::SERVER_GONE), message)
}

/// The exception for an operation that was ended for taking too long.
pub fn overdue(py: Python<'_>, limit: Option<Duration>) -> PyErr {
    let seconds = limit.unwrap_or_default().as_secs_f64();
    let message = format!("the statement took longer than query_timeout ({seconds} s) and was ended");
    error(py, Class::Operational, Some(client_errno::QUERY_TIMEOUT), &message)
}

/// True for what [`overdue`] makes.
pub fn is_overdue(py: Python<'_>, failure: &PyErr) -> bool {
    let errno = failure.value(py).getattr("errno").and_then(|errno| errno.extract::<u16>());
    errno.is_ok_and(|errno| errno == client_errno::QUERY_TIMEOUT)
}

/// The exception for a second operation on a busy connection.
pub fn busy(py: Python<'_>) -> PyErr {
    let message = "another operation is under way on this connection; use one connection for each task or thread";
    error(py, Class::Interface, Some(client_errno::OUT_OF_SYNC), message)
}
