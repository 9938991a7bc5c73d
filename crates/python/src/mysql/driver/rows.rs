use pyo3::exceptions::PyUnicodeDecodeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyList;
use rowferry_wire_mysql::client::{Client, Failure};

use super::{Shape, broken};
use crate::cells;
use crate::collector;
use crate::mysql::columns::{Plan, RowError};
use crate::mysql::days::Days;

/// All rows of a result as they are made, until it is known how many there are.
#[derive(Default)]
pub struct Rows {
    rows: Vec<Py<PyAny>>,
    days: Days,
}

impl Rows {
    /// Builds the rows that have come. One that cannot be built is remembered; those behind it are read and dropped, so
    /// that the connection stays usable.
    pub fn read(
        &mut self,
        py: Python<'_>,
        client: &mut Client,
        plan: &Plan,
        shape: Shape,
        failed: &mut Option<PyErr>,
    ) -> PyResult<()> {
        let _pause = pause(py, plan, shape);
        let mut malformed = None;
        client.visit_rows(|payload| match self.push(py, payload, plan, shape, failed) {
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

    /// Builds a row.
    #[inline]
    pub fn push(
        &mut self,
        py: Python<'_>,
        payload: &[u8],
        plan: &Plan,
        shape: Shape,
        failed: &mut Option<PyErr>,
    ) -> Result<(), Failure> {
        if failed.is_some() {
            return Ok(());
        }
        match plan.row(payload, shape.binary, shape.as_dict, &mut self.days) {
            // SAFETY: a new reference to a live object.
            Ok(row) => self.rows.push(unsafe { Bound::from_owned_ptr(py, row) }.unbind()),
            Err(RowError::Raised) => *failed = Some(raised(py)),
            Err(RowError::Malformed(malformed)) => return Err(malformed.into()),
        }
        Ok(())
    }

    /// The rows as a tuple.
    pub fn into_tuple(self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        // SAFETY: a new tuple of this many places, each of which takes one reference over.
        unsafe {
            let tuple = Bound::from_owned_ptr_or_err(py, ffi::PyTuple_New(self.rows.len() as ffi::Py_ssize_t))?;
            for (at, row) in self.rows.into_iter().enumerate() {
                ffi::PyTuple_SET_ITEM(tuple.as_ptr(), at as ffi::Py_ssize_t, row.into_ptr());
            }
            Ok(tuple.unbind())
        }
    }
}

/// Keeps the collector from looking at everything else while rows are made that it has nothing to do with.
pub fn pause(py: Python<'_>, plan: &Plan, shape: Shape) -> Option<collector::Pause> {
    (plan.is_atomic() && !shape.as_dict).then(|| collector::Pause::new(py))
}

/// Builds a row. One that cannot be built is remembered; those behind it are read and dropped, so that the connection
/// stays usable.
#[inline]
pub fn push_row(
    py: Python<'_>,
    payload: &[u8],
    plan: &Plan,
    shape: Shape,
    rows: &Py<PyList>,
    days: &mut Days,
    failed: &mut Option<PyErr>,
) -> Result<(), Failure> {
    if failed.is_some() {
        return Ok(());
    }
    match plan.row(payload, shape.binary, shape.as_dict, days) {
        Ok(row) => {
            // SAFETY: the reference that `row` answered.
            *failed = unsafe { cells::append(rows.bind(py), row) }.err();
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
