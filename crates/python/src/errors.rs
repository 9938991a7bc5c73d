//! From Rust errors to the exception classes of `rowferry.exceptions`.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyModule};

/// A class of `rowferry.exceptions`, by its name there.
#[derive(Clone, Copy, Debug)]
pub enum Class {
    Data,
    Interface,
    Internal,
    NotSupported,
    Operational,
    Programming,
    UnsupportedType,
}

impl Class {
    const fn name(self) -> &'static str {
        match self {
            Self::Data => "DataError",
            Self::Interface => "InterfaceError",
            Self::Internal => "InternalError",
            Self::NotSupported => "NotSupportedError",
            Self::Operational => "OperationalError",
            Self::Programming => "ProgrammingError",
            Self::UnsupportedType => "UnsupportedType",
        }
    }
}

fn exceptions(py: Python<'_>) -> PyResult<&Bound<'_, PyModule>> {
    static MODULE: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    Ok(MODULE.get_or_try_init(py, || py.import("rowferry.exceptions").map(Bound::unbind))?.bind(py))
}

/// An exception whose first argument is the driver's own number, as MySQL users know it, or the message alone.
pub fn error(py: Python<'_>, class: Class, errno: Option<u16>, message: &str) -> PyErr {
    build(py, class, errno, message).unwrap_or_else(|error| error)
}

fn build(py: Python<'_>, class: Class, errno: Option<u16>, message: &str) -> PyResult<PyErr> {
    let class = exceptions(py)?.getattr(class.name())?;
    let exception = match errno {
        Some(errno) => {
            let keywords = PyDict::new(py);
            keywords.set_item("errno", errno)?;
            class.call((errno, message), Some(&keywords))?
        }
        None => class.call1((message,))?,
    };
    Ok(PyErr::from_value(exception))
}
