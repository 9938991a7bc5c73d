use pyo3::ffi;
use pyo3::prelude::*;
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
            *failed = Some(PyErr::fetch(py));
            Ok(())
        }
        Err(RowError::Malformed(malformed)) => Err(malformed.into()),
    }
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
