//! SQLite's allocations, counted, and refused when they are too much: SQLite then fails the statement.

use std::ffi::{c_int, c_void};
use std::sync::Once;

use libsqlite3_sys as ffi;

use crate::memory::{Limit, USE, Use};

/// A block's size stands in front of it; SQLite wants blocks at multiples of 8.
const HEADER: usize = 8;

/// Smaller blocks are not refused before the session is well beyond its limit: what ends a statement needs some, too.
const SMALL: usize = 64 * 1024;
const GRACE: isize = 8 << 20;

/// Small blocks that a handle has at hand: their size, and how many. SQLite's own forty are 48 kB a handle, and none of the
/// statements that were counted took fewer instructions for them.
const LOOKASIDE: (c_int, c_int) = (1_200, 8);

/// Makes SQLite of this process use it; has an effect before the first handle is opened only.
///
/// SQLite's own count of its memory, behind a lock that all threads share, is switched off with it.
pub fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let methods = ffi::sqlite3_mem_methods {
            xMalloc: Some(allocate),
            xFree: Some(free),
            xRealloc: Some(reallocate),
            xSize: Some(size),
            xRoundup: Some(round_up),
            xInit: Some(begin),
            xShutdown: Some(end),
            pAppData: std::ptr::null_mut(),
        };
        // SAFETY: SQLite copies the structure; the functions obey what it asks of them.
        let codes = unsafe {
            [
                ffi::sqlite3_config(ffi::SQLITE_CONFIG_MALLOC, std::ptr::from_ref(&methods)),
                ffi::sqlite3_config(ffi::SQLITE_CONFIG_MEMSTATUS, 0 as c_int),
                // Pages are taken one by one when they are read, not twenty before the first.
                ffi::sqlite3_config(
                    ffi::SQLITE_CONFIG_PAGECACHE,
                    std::ptr::null_mut::<c_void>(),
                    0 as c_int,
                    0 as c_int,
                ),
                ffi::sqlite3_config(ffi::SQLITE_CONFIG_LOOKASIDE, LOOKASIDE.0, LOOKASIDE.1),
            ]
        };
        if codes != [ffi::SQLITE_OK; 4] {
            tracing::debug!("SQLite is in use already: its memory is not counted");
        }
    });
}

/// True when the thread's session may not have a block of so many bytes.
fn refuses(usage: &Use, bytes: usize) -> bool {
    let beyond = if bytes < SMALL { GRACE } else { 0 };
    let refused = match usage.exceeded(bytes as isize - beyond) {
        None => false,
        // The server's limit is for those who take much.
        Some(Limit::Server(_)) => bytes >= SMALL,
        Some(Limit::Session(_)) => true,
    };
    if refused {
        usage.refused.set(true);
    }
    refused
}

unsafe extern "C" fn allocate(bytes: c_int) -> *mut c_void {
    let Ok(bytes) = usize::try_from(bytes) else { return std::ptr::null_mut() };
    USE.with(|usage| {
        if refuses(usage, bytes) {
            return std::ptr::null_mut();
        }
        // SAFETY: any size can be asked for.
        let block = unsafe { libc::malloc(bytes + HEADER) };
        if block.is_null() {
            usage.refused.set(true);
            return block;
        }
        usage.count(&usage.backend, bytes as isize);
        // SAFETY: the block has room for its header, and is aligned for it.
        unsafe {
            block.cast::<u64>().write(bytes as u64);
            block.byte_add(HEADER)
        }
    })
}

unsafe extern "C" fn free(block: *mut c_void) {
    if block.is_null() {
        return;
    }
    // SAFETY: SQLite gives back what `allocate` has made.
    unsafe {
        let start = block.byte_sub(HEADER);
        let bytes = start.cast::<u64>().read();
        libc::free(start);
        USE.with(|usage| usage.count(&usage.backend, -(bytes as isize)));
    }
}

unsafe extern "C" fn reallocate(block: *mut c_void, bytes: c_int) -> *mut c_void {
    let Ok(bytes) = usize::try_from(bytes) else { return std::ptr::null_mut() };
    USE.with(|usage| {
        // SAFETY: as in `free`; SQLite's blocks here are never null.
        unsafe {
            let start = block.byte_sub(HEADER);
            let before = start.cast::<u64>().read() as usize;
            if bytes > before && refuses(usage, bytes - before) {
                return std::ptr::null_mut();
            }
            let moved = libc::realloc(start, bytes + HEADER);
            if moved.is_null() {
                usage.refused.set(true);
                return moved;
            }
            usage.count(&usage.backend, bytes as isize - before as isize);
            moved.cast::<u64>().write(bytes as u64);
            moved.byte_add(HEADER)
        }
    })
}

unsafe extern "C" fn size(block: *mut c_void) -> c_int {
    if block.is_null() {
        return 0;
    }
    // SAFETY: as in `free`; sizes were given as `c_int`.
    unsafe { block.byte_sub(HEADER).cast::<u64>().read() as c_int }
}

unsafe extern "C" fn round_up(bytes: c_int) -> c_int {
    bytes.saturating_add(7) & !7
}

unsafe extern "C" fn begin(_: *mut c_void) -> c_int {
    ffi::SQLITE_OK
}

unsafe extern "C" fn end(_: *mut c_void) {}
