use pyo3::exceptions::PyUnicodeDecodeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyList;
use rowferry_wire_mysql::client::{Client, Failure};

use super::{Shape, broken};
use crate::mysql::columns::{Plan, RowError};

/// Builds a row. One that cannot be built is remembered; those behind it are read and dropped, so that the connection
/// stays usable.
#[inline]
pub fn push_row(
    py: Python<'_>,
    payload: &[u8],
    plan: &Plan,
    shape: Shape,
    rows: &Py<PyList>,
    failed: &mut Option<PyErr>,
) -> Result<(), Failure> {
    if failed.is_some() {
        return Ok(());
    }
    match plan.row(payload, shape.binary, shape.as_dict) {
        Ok(row) => {
            // SAFETY: both are live objects; the list takes a reference of its own.
            let appended = unsafe { ffi::PyList_Append(rows.as_ptr(), row) };
            // SAFETY: the reference that `row` answered.
            unsafe { ffi::Py_DECREF(row) };
            if appended != 0 {
                *failed = Some(PyErr::fetch(py));
            }
            Ok(())
        }
        Err(RowError::Raised) => {
            *failed = Some(raised(py));
            Ok(())
        }
        Err(RowError::Malformed(malformed)) => Err(malformed.into()),
    }
}

/// What was raised while a row was built. What a codec raises becomes the driver's own error, which is one of a codec,
/// too.
#[cold]
fn raised(py: Python<'_>) -> PyErr {
    static UNDECODABLE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let raised = PyErr::fetch(py);
    if !raised.is_instance_of::<PyUnicodeDecodeError>(py) {
        return raised;
    }
    let undecodable = UNDECODABLE.import(py, "rowferry.mysql.err", "undecodable");
    undecodable.and_then(|make| make.call1((raised.value(py),))).map_or(raised, PyErr::from_value)
}

/// Builds the rows that have come. A row that cannot be built is remembered; those behind it are read and dropped, so
/// that the connection stays usable.
pub fn read_rows(
    py: Python<'_>,
    client: &mut Client,
    plan: &Plan,
    rows: &Py<PyList>,
    shape: Shape,
    failed: &mut Option<PyErr>,
) -> PyResult<()> {
    let mut malformed = None;
    client.visit_rows(|payload| match push_row(py, payload, plan, shape, rows, failed) {
        Ok(()) => true,
        Err(failure) => {
            malformed = Some(failure);
            false
        }
    });
    match malformed {
        Some(failure) => Err(broken(py, &failure)),
        None => Ok(()),
    }
}
