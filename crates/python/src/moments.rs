//! `datetime.date` and `datetime.datetime` from numbers that are known to be right.
//!
//! Python's constructors check what a decoder has checked before them. Where an import-time check shows that the objects
//! are laid out as the C headers say, they are filled directly; elsewhere the constructors are called.

use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::ffi;
use pyo3::prelude::*;

use crate::cells::Object;

static DIRECT: AtomicBool = AtomicBool::new(false);

/// Checks the layout. The datetime C API must have been imported.
pub fn import(py: Python<'_>) {
    DIRECT.store(layout_is_known(py).unwrap_or(false), Ordering::Relaxed);
}

/// True when moments are filled in directly.
pub fn is_direct() -> bool {
    DIRECT.load(Ordering::Relaxed)
}

fn layout_is_known(py: Python<'_>) -> PyResult<bool> {
    // SAFETY: the API is imported, so its types are there.
    let sizes = unsafe {
        let api = &*ffi::PyDateTimeAPI();
        ((*api.DateType).tp_basicsize as usize, (*api.DateTimeType).tp_basicsize as usize)
    };
    if sizes != (size_of::<ffi::PyDateTime_Date>(), size_of::<ffi::PyDateTime_DateTime>()) {
        return Ok(false);
    }
    let samples = [(1, 1, 1, 0, 0, 0, 0), (2026, 11, 21, 17, 58, 3, 123_456), (9999, 12, 31, 23, 59, 59, 999_999)];
    for (year, month, day, hour, minute, second, microsecond) in samples {
        // SAFETY: the GIL is held and the API is imported; the types are what the API's own constructors make.
        let pairs = unsafe {
            [
                (
                    fill_datetime(year, month, day, hour, minute, second, microsecond),
                    make_datetime(year, month, day, hour, minute, second, microsecond),
                ),
                (fill_date(year, month, day), make_date(year, month, day)),
            ]
        };
        for (ours, ordinary) in pairs {
            // SAFETY: new references, or null with an exception set.
            let (ours, ordinary) =
                unsafe { (Bound::from_owned_ptr_or_err(py, ours)?, Bound::from_owned_ptr_or_err(py, ordinary)?) };
            let same =
                |method: &str| -> PyResult<bool> { ours.call_method0(method)?.eq(ordinary.call_method0(method)?) };
            if !(ours.eq(&ordinary)?
                && same("__repr__")?
                && same("__hash__")?
                && same("__reduce__")?
                && same("timetuple")?
                && same("toordinal")?)
            {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// A `datetime.date`. The calendar must have the day.
#[inline]
pub fn date(year: u16, month: u8, day: u8) -> Object {
    // SAFETY: the GIL is held by whoever builds cells, and `import` has been called.
    unsafe { if is_direct() { fill_date(year, month, day) } else { make_date(year, month, day) } }
}

/// A `datetime.datetime` without zone. There must be such a moment.
#[inline]
pub fn datetime(year: u16, month: u8, day: u8, hour: u8, minute: u8, second: u8, microsecond: u32) -> Object {
    // SAFETY: the GIL is held by whoever builds cells, and `import` has been called.
    unsafe {
        if is_direct() {
            fill_datetime(year, month, day, hour, minute, second, microsecond)
        } else {
            make_datetime(year, month, day, hour, minute, second, microsecond)
        }
    }
}

/// # Safety
/// The GIL is held and the datetime C API is imported; the calendar has the day.
#[inline]
unsafe fn fill_date(year: u16, month: u8, day: u8) -> Object {
    // SAFETY: `tp_alloc` answers an object of the type's size, or null; the structure is that of the C headers.
    unsafe {
        let class = (*ffi::PyDateTimeAPI()).DateType;
        let Some(alloc) = (*class).tp_alloc else { return std::ptr::null_mut() };
        let object = alloc(class, 0);
        if !object.is_null() {
            let layout = object.cast::<ffi::PyDateTime_Date>();
            let [high, low] = year.to_be_bytes();
            (*layout).hashcode = -1;
            (*layout).hastzinfo = 0;
            (*layout).data = [high, low, month, day];
        }
        object
    }
}

/// # Safety
/// The GIL is held and the datetime C API is imported; there is such a moment.
#[inline]
unsafe fn fill_datetime(year: u16, month: u8, day: u8, hour: u8, minute: u8, second: u8, microsecond: u32) -> Object {
    // SAFETY: without a zone, `tp_alloc` answers an object that ends before the field `tzinfo`, or null.
    unsafe {
        let class = (*ffi::PyDateTimeAPI()).DateTimeType;
        let Some(alloc) = (*class).tp_alloc else { return std::ptr::null_mut() };
        let object = alloc(class, 0);
        if !object.is_null() {
            let layout = object.cast::<ffi::PyDateTime_DateTime>();
            let [high, low] = year.to_be_bytes();
            let [_, first, second_byte, third] = microsecond.to_be_bytes();
            (*layout).hashcode = -1;
            (*layout).hastzinfo = 0;
            (*layout).data = [high, low, month, day, hour, minute, second, first, second_byte, third];
            (*layout).fold = 0;
        }
        object
    }
}

/// # Safety
/// The GIL is held and the datetime C API is imported.
unsafe fn make_date(year: u16, month: u8, day: u8) -> Object {
    // SAFETY: the API is imported.
    unsafe {
        let api = &*ffi::PyDateTimeAPI();
        (api.Date_FromDate)(c_int::from(year), c_int::from(month), c_int::from(day), api.DateType)
    }
}

/// # Safety
/// The GIL is held and the datetime C API is imported.
unsafe fn make_datetime(year: u16, month: u8, day: u8, hour: u8, minute: u8, second: u8, microsecond: u32) -> Object {
    // SAFETY: the API is imported.
    unsafe {
        let api = &*ffi::PyDateTimeAPI();
        (api.DateTime_FromDateAndTime)(
            c_int::from(year),
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
