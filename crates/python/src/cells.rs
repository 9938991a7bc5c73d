//! Python objects for cells, by the shortest way.
//!
//! Every function answers a new reference, or null with an exception set. The caller holds the GIL.

use std::ffi::{CStr, c_int};
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::{decimal, moments};

/// What Python's C API answers: a new reference, or null with an exception set.
pub type Object = *mut ffi::PyObject;

/// Whether tuples can be made without telling the collector of them first: up to Python 3.13 a tuple is its head, its
/// length and its places, and nothing else.
static UNTRACKED: AtomicBool = AtomicBool::new(false);

/// Must be called once before any other function here.
pub fn import(py: Python<'_>) -> PyResult<()> {
    UNTRACKED.store(py.version_info() < (3, 14), Ordering::Relaxed);
    // SAFETY: the GIL is held; the call fills pyo3's pointer to the datetime C API or sets an exception.
    unsafe {
        ffi::PyDateTime_IMPORT();
        if ffi::PyDateTimeAPI().is_null() {
            return Err(PyErr::fetch(py));
        }
    }
    moments::import(py);
    decimal::import(py)
}

/// `None`.
#[inline]
pub fn none() -> Object {
    // SAFETY: `None` is immortal or counted; the new reference is the caller's.
    unsafe {
        let none = ffi::Py_None();
        ffi::Py_INCREF(none);
        none
    }
}

/// Appends an object to a list, which keeps it in place of the caller.
///
/// # Errors
/// Python's, when there is no memory for it.
///
/// # Safety
/// `object` is a reference that the caller has, and gives up.
#[inline]
pub unsafe fn append(list: &Bound<'_, PyList>, object: Object) -> PyResult<()> {
    // SAFETY: both are live objects; the list takes a reference of its own.
    let appended = unsafe { ffi::PyList_Append(list.as_ptr(), object) };
    // SAFETY: as the caller says.
    unsafe { ffi::Py_DECREF(object) };
    if appended == 0 { Ok(()) } else { Err(PyErr::fetch(list.py())) }
}

/// A signed integer.
#[inline]
pub fn int(value: i64) -> Object {
    // SAFETY: the GIL is held.
    unsafe { ffi::PyLong_FromLongLong(value) }
}

/// An unsigned integer.
#[inline]
pub fn uint(value: u64) -> Object {
    // SAFETY: the GIL is held.
    unsafe { ffi::PyLong_FromUnsignedLongLong(value) }
}

/// A double.
#[inline]
pub fn float(value: f64) -> Object {
    // SAFETY: the GIL is held.
    unsafe { ffi::PyFloat_FromDouble(value) }
}

/// Bytes.
#[inline]
pub fn bytes(value: &[u8]) -> Object {
    // SAFETY: pointer and length are of one slice.
    unsafe { ffi::PyBytes_FromStringAndSize(value.as_ptr().cast(), value.len() as ffi::Py_ssize_t) }
}

/// Text in UTF-8; a `UnicodeDecodeError` when it is none.
#[inline]
pub fn text(value: &[u8]) -> Object {
    // SAFETY: a new ASCII string of this length has room for exactly these bytes; nobody else sees it yet.
    unsafe {
        let len = value.len() as ffi::Py_ssize_t;
        if value.len() < 2 || !is_ascii(value) {
            return ffi::PyUnicode_DecodeUTF8(value.as_ptr().cast(), len, c"strict".as_ptr());
        }
        let object = ffi::PyUnicode_New(len, 127);
        if !object.is_null() {
            ptr::copy_nonoverlapping(value.as_ptr(), ffi::PyUnicode_DATA(object).cast(), value.len());
        }
        object
    }
}

/// True when no byte has its uppermost bit set. Cells are short: the last bytes are looked at together, those before
/// them twice if need be.
#[inline]
fn is_ascii(bytes: &[u8]) -> bool {
    const UPPERMOST: u64 = 0x8080_8080_8080_8080;
    let mut seen = 0;
    match (bytes.first_chunk::<8>(), bytes.last_chunk::<8>()) {
        (Some(_), Some(last)) => {
            for eight in bytes.chunks_exact(8) {
                seen |= eight.first_chunk().map_or(UPPERMOST, |eight| u64::from_ne_bytes(*eight));
            }
            seen |= u64::from_ne_bytes(*last);
        }
        _ => {
            for byte in bytes {
                seen |= u64::from(*byte);
            }
        }
    }
    seen & UPPERMOST == 0
}

/// Text in an encoding that Python knows by name.
pub fn encoded_text(value: &[u8], encoding: &CStr) -> Object {
    // SAFETY: pointer and length are of one slice; the names are NUL-terminated.
    unsafe {
        let len = value.len() as ffi::Py_ssize_t;
        ffi::PyUnicode_Decode(value.as_ptr().cast(), len, encoding.as_ptr(), c"strict".as_ptr())
    }
}

/// A `datetime.date`; a `ValueError` when the calendar has no such day.
#[inline]
pub fn date(year: i32, month: u8, day: u8) -> Object {
    // SAFETY: `import` has filled the pointer.
    unsafe {
        let api = &*ffi::PyDateTimeAPI();
        (api.Date_FromDate)(year, c_int::from(month), c_int::from(day), api.DateType)
    }
}

/// A `datetime.datetime` without zone; a `ValueError` when there is no such moment.
#[inline]
pub fn datetime(year: i32, month: u8, day: u8, hour: u8, minute: u8, second: u8, microsecond: u32) -> Object {
    // SAFETY: `import` has filled the pointer.
    unsafe {
        let api = &*ffi::PyDateTimeAPI();
        (api.DateTime_FromDateAndTime)(
            year,
            c_int::from(month),
            c_int::from(day),
            c_int::from(hour),
            c_int::from(minute),
            c_int::from(second),
            microsecond as c_int,
            ffi::Py_None(),
            api.DateTimeType,
        )
    }
}

/// A `datetime.time` without zone.
#[inline]
pub fn time(hour: u8, minute: u8, second: u8, microsecond: u32) -> Object {
    // SAFETY: `import` has filled the pointer.
    unsafe {
        let api = &*ffi::PyDateTimeAPI();
        (api.Time_FromTime)(
            c_int::from(hour),
            c_int::from(minute),
            c_int::from(second),
            microsecond as c_int,
            ffi::Py_None(),
            api.TimeType,
        )
    }
}

/// A `datetime.timedelta`, normalised by Python.
#[inline]
pub fn timedelta(days: i32, seconds: i32, microseconds: i32) -> Object {
    // SAFETY: `import` has filled the pointer.
    unsafe {
        let api = &*ffi::PyDateTimeAPI();
        (api.Delta_FromDelta)(days, seconds, microseconds, 1, api.DeltaType)
    }
}

/// An exact number from its decimal spelling (`-12.50`), as `decimal.Decimal`.
#[inline]
pub fn decimal(text: &[u8]) -> Object {
    decimal::from_ascii(text, 2)
}

/// The same where so many digits are most likely behind the point; others are read, too, slower.
#[inline]
pub fn scaled_decimal(text: &[u8], decimals: u8) -> Object {
    decimal::from_ascii(text, decimals)
}

/// A tuple of `len` cells. On failure of a cell everything built so far is given back.
///
/// `atomic` promises that no cell can be part of a reference cycle; the tuple is then none of the collector's business.
#[inline]
pub fn tuple(len: usize, atomic: bool, mut cell: impl FnMut(usize) -> Object) -> Object {
    // SAFETY: every index below `len` is set once in a tuple that nobody else has seen; a tuple given back half filled
    // is fine for its destructor, which skips nulls.
    unsafe {
        let tuple = ffi::PyTuple_New(len as ffi::Py_ssize_t);
        if tuple.is_null() {
            return tuple;
        }
        for at in 0..len {
            let object = cell(at);
            if object.is_null() {
                ffi::Py_DECREF(tuple);
                return ptr::null_mut();
            }
            ffi::PyTuple_SET_ITEM(tuple, at as ffi::Py_ssize_t, object);
        }
        if atomic && len > 0 {
            ffi::PyObject_GC_UnTrack(tuple.cast());
        }
        tuple
    }
}

/// A tuple under construction. Dropped before it is finished, it gives everything back.
pub struct NewTuple {
    tuple: Object,
    at: usize,
    len: usize,
}

impl NewTuple {
    /// An empty tuple of `len` places; `None` with an exception set when there is no memory.
    ///
    /// `atomic` promises that no cell can be part of a reference cycle; the tuple is then none of the collector's business.
    #[inline]
    pub fn new(len: usize, atomic: bool) -> Option<Self> {
        // SAFETY: the GIL is held. A tuple made by the second way has everything but its places filled, as `PyTuple_New`
        // does it before it tells the collector; see `UNTRACKED`.
        let tuple = unsafe {
            if atomic && len > 0 && UNTRACKED.load(Ordering::Relaxed) {
                let tuple: Object = ffi::PyObject_GC_NewVar(&raw mut ffi::PyTuple_Type, len as ffi::Py_ssize_t);
                if !tuple.is_null() {
                    let places = (*tuple.cast::<ffi::PyTupleObject>()).ob_item.as_mut_ptr();
                    ptr::write_bytes(places, 0, len);
                }
                tuple
            } else {
                let tuple = ffi::PyTuple_New(len as ffi::Py_ssize_t);
                if atomic && len > 0 && !tuple.is_null() {
                    // The empty one is shared and stays as it is.
                    ffi::PyObject_GC_UnTrack(tuple.cast());
                }
                tuple
            }
        };
        (!tuple.is_null()).then_some(Self { tuple, at: 0, len })
    }

    /// Puts an object into the next place; `None` when it is null, which leaves an exception set.
    ///
    /// # Panics
    /// When the tuple is full.
    #[inline]
    pub fn push(&mut self, object: Object) -> Option<()> {
        assert!(self.at < self.len, "more cells than places");
        if object.is_null() {
            return None;
        }
        // SAFETY: a place of a tuple that nobody else has seen, set for the first time.
        unsafe { ffi::PyTuple_SET_ITEM(self.tuple, self.at as ffi::Py_ssize_t, object) };
        self.at += 1;
        Some(())
    }

    /// The tuple; all places must have been filled.
    #[inline]
    pub fn finish(self) -> Object {
        std::mem::ManuallyDrop::new(self).tuple
    }
}

impl Drop for NewTuple {
    fn drop(&mut self) {
        // SAFETY: ours and nobody else's; the destructor skips places that are not filled.
        unsafe { ffi::Py_DECREF(self.tuple) };
    }
}
