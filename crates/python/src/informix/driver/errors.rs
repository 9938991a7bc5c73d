use pyo3::exceptions::{PyOverflowError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use rowferry_client::informix;
use rowferry_wire_sqli::client::{Failure, Misuse, SqlError};

use crate::errors::{Class, error};

/// Python's words for values that its types do not hold, in the class that PEP 249 has for them.
pub fn not_built(py: Python<'_>, cause: PyErr) -> PyErr {
    if !cause.is_instance_of::<PyValueError>(py) && !cause.is_instance_of::<PyOverflowError>(py) {
        return cause;
    }
    let raised = error(py, Class::Data, None, &format!("a value cannot be read: {}", cause.value(py)));
    raised.set_cause(py, Some(cause));
    raised
}

/// The exception for what the server refused.
pub fn server_error(py: Python<'_>, refused: &SqlError) -> PyErr {
    static MAKE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let make = || -> PyResult<PyErr> {
        let make = MAKE.import(py, "rowferry.informix._errors", "server_error")?;
        let kind = match informix::error_kind(refused.sqlcode) {
            informix::Kind::Data => "DataError",
            informix::Kind::Database => "DatabaseError",
            informix::Kind::Integrity => "IntegrityError",
            informix::Kind::Operational => "OperationalError",
            informix::Kind::Programming => "ProgrammingError",
            informix::Kind::NotSupported => "NotSupportedError",
        };
        let token = String::from_utf8_lossy(&refused.token);
        let message = informix::message(refused);
        let arguments = (kind, message, refused.sqlcode, refused.isam, refused.offset, token, refused.row);
        Ok(PyErr::from_value(make.call1(arguments)?))
    };
    make().unwrap_or_else(|error| error)
}

/// The exception for a conversation that cannot go on.
pub fn broken(py: Python<'_>, failure: &Failure) -> PyErr {
    let class = match failure {
        Failure::Unsupported(_) => Class::NotSupported,
        Failure::Unexpected { .. } => Class::Internal,
        _ => Class::Operational,
    };
    error(py, class, None, &failure.to_string())
}

/// The exception for a transport that does not move bytes any more.
pub fn transport_error(py: Python<'_>, failure: &rowferry_client::Error, connecting: Option<&str>) -> PyErr {
    use rowferry_client::{Error, Waiting};
    let message = match (failure, connecting) {
        (Error::Io(Waiting::Connect, _) | Error::TimedOut(Waiting::Connect), Some(place)) => {
            format!("cannot connect to {place}: {failure}")
        }
        _ => return lost(py, &failure.to_string()),
    };
    error(py, Class::Operational, None, &message)
}

/// The exception for a connection that is lost, for this reason.
pub fn lost(py: Python<'_>, reason: &str) -> PyErr {
    error(py, Class::Operational, None, &format!("connection lost: {reason}"))
}

/// The exception for what the server says out of turn.
pub fn out_of_place(py: Python<'_>, what: &str) -> PyErr {
    error(py, Class::Internal, None, &format!("event out of place: {what}"))
}

pub fn misused(py: Python<'_>, misuse: Misuse) -> PyErr {
    match misuse {
        Misuse::Busy => busy(py),
        Misuse::Closed | Misuse::NotConnected => closed(py),
        Misuse::TooLong(too_long) => error(py, Class::Data, None, &too_long.to_string()),
    }
}

/// The exception for a closed connection.
pub fn closed(py: Python<'_>) -> PyErr {
    error(py, Class::Interface, None, "the connection is closed")
}

/// The exception for a second operation on a busy connection.
pub fn busy(py: Python<'_>) -> PyErr {
    let message = "another operation is under way on this connection; use one connection for each task or thread";
    error(py, Class::Interface, None, message)
}

/// The exception for a connection that is the parent's of this process.
pub fn forked(py: Python<'_>) -> PyErr {
    let message = "the connection was made before this process was forked and belongs to its parent; connect anew";
    error(py, Class::Operational, None, message)
}
