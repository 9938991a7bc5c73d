//! Rust's allocations, counted.

#[cfg(not(target_env = "musl"))]
use std::alloc::System as Heap;
use std::alloc::{GlobalAlloc, Layout};
use std::sync::atomic::Ordering;

// musl's own has one lock for all threads, and costs a server twice to three times the processor.
#[cfg(target_env = "musl")]
use mimalloc::MiMalloc as Heap;

use super::{PRESSED, USE};

/// The system's allocator (musl's is replaced) with a count per thread; a program that serves makes it its `#[global_allocator]`.
///
/// Counting costs about a nanosecond. When the system has no memory left (which the limits should prevent), sessions
/// that use much are told to give way and the allocation waits a little for them; only then it fails, which ends the
/// process.
#[derive(Debug)]
pub struct CountingAllocator;

/// How often, and with which rest between (in microseconds), an allocation that failed is tried again.
const TRIES: usize = 200;
const REST: u32 = 10_000;

#[inline]
fn count(change: isize) {
    USE.with(|usage| usage.count(&usage.rust, change));
}

/// Tries again while others give way.
#[cold]
fn insist(allocate: impl Fn() -> *mut u8) -> *mut u8 {
    PRESSED.store(true, Ordering::Relaxed);
    let mut found = std::ptr::null_mut();
    for _ in 0..TRIES {
        // SAFETY: it takes a number.
        unsafe { libc::usleep(REST) };
        found = allocate();
        if !found.is_null() {
            break;
        }
    }
    PRESSED.store(false, Ordering::Relaxed);
    found
}

// SAFETY: every call goes to the system's allocator as it is; what is counted on the way is memory of the thread that
// needs no allocation, and nothing here unwinds.
unsafe impl GlobalAlloc for CountingAllocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise, as in all of these.
        let mut found = unsafe { Heap.alloc(layout) };
        if found.is_null() {
            // SAFETY: as above.
            found = insist(|| unsafe { Heap.alloc(layout) });
        }
        if !found.is_null() {
            count(layout.size() as isize);
        }
        found
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        let mut found = unsafe { Heap.alloc_zeroed(layout) };
        if found.is_null() {
            // SAFETY: as above.
            found = insist(|| unsafe { Heap.alloc_zeroed(layout) });
        }
        if !found.is_null() {
            count(layout.size() as isize);
        }
        found
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { Heap.dealloc(block, layout) };
        count(-(layout.size() as isize));
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above.
        let mut found = unsafe { Heap.realloc(block, layout, size) };
        if found.is_null() {
            // SAFETY: a block that could not be moved is still there.
            found = insist(|| unsafe { Heap.realloc(block, layout, size) });
        }
        if !found.is_null() {
            count(size as isize - layout.size() as isize);
        }
        found
    }
}
