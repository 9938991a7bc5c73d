//! Memory that an event loop reads into.

use std::cell::UnsafeCell;
use std::ffi::c_int;

use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;

/// A block of memory of fixed size and place, lent to the event loop through the buffer protocol.
///
/// asyncio's `BufferedProtocol` has the kernel write here, whatever else happens; so the block never moves and lives as
/// long as any view of it.
#[pyclass(frozen, module = "rowferry._core")]
pub struct ReceiveSpace {
    bytes: Box<[UnsafeCell<u8>]>,
}

// SAFETY: the bytes are only touched with the GIL held (or by a view that Python code holds, whose contents are mere
// bytes from a peer: any value is valid, and `read` copies them out).
unsafe impl Sync for ReceiveSpace {}

impl ReceiveSpace {
    /// One read of the event loop takes at most this much.
    pub const SIZE: usize = 256 * 1024;

    /// A zeroed block. The kernel provides its pages when they are first written to.
    pub fn new() -> Self {
        let bytes = Box::into_raw(vec![0_u8; Self::SIZE].into_boxed_slice());
        // SAFETY: `UnsafeCell<u8>` has the layout of `u8`, and the box is given up above.
        Self { bytes: unsafe { Box::from_raw(bytes as *mut [UnsafeCell<u8>]) } }
    }

    /// Hands the first `count` bytes to `take`; fewer when the block is shorter.
    pub fn read<T>(&self, count: usize, take: impl FnOnce(&[u8]) -> T) -> T {
        let count = count.min(self.bytes.len());
        // SAFETY: `UnsafeCell<u8>` has the layout of `u8`, the range is within the block, and nobody writes while the
        // GIL is held by us: the event loop has just finished its read.
        let bytes = unsafe { std::slice::from_raw_parts(self.bytes.as_ptr().cast::<u8>(), count) };
        take(bytes)
    }
}

#[pymethods]
impl ReceiveSpace {
    unsafe fn __getbuffer__(slf: Bound<'_, Self>, view: *mut ffi::Py_buffer, flags: c_int) -> PyResult<()> {
        if view.is_null() {
            return Err(PyBufferError::new_err("no view to fill"));
        }
        let bytes = &slf.get().bytes;
        let (pointer, len) = (bytes.as_ptr().cast::<u8>().cast_mut(), bytes.len() as ffi::Py_ssize_t);
        // SAFETY: `view` is valid by the buffer protocol; the block lives as long as the object, whose reference the
        // view takes.
        let outcome = unsafe { ffi::PyBuffer_FillInfo(view, slf.as_ptr(), pointer.cast(), len, 0, flags) };
        if outcome == 0 { Ok(()) } else { Err(PyErr::fetch(slf.py())) }
    }

    unsafe fn __releasebuffer__(&self, _view: *mut ffi::Py_buffer) {}
}
