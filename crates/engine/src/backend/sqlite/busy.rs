//! Waiting for locks of others.

use std::ffi::{c_int, c_void};
use std::time::{Duration, Instant};

use libsqlite3_sys as ffi;
use parking_lot::Mutex;
use rusqlite::Connection;

use crate::interrupt::{Interrupter, Wake};

/// Waits for a lock that somebody outside the server holds: as long as the session's lock time-out allows, and no
/// longer than its statement may run.
#[derive(Debug)]
pub struct BusyHandler {
    interrupter: Interrupter,
    timeout: Mutex<Duration>,
    since: Mutex<Option<Instant>>,
}

impl BusyHandler {
    /// Installs a handler; it must live as long as the connection.
    pub fn install(connection: &Connection, interrupter: Interrupter, timeout: Duration) -> Box<Self> {
        let handler = Box::new(Self { interrupter, timeout: Mutex::new(timeout), since: Mutex::default() });
        // SAFETY: the box's content does not move, and the handle drops its connection before the box.
        unsafe {
            ffi::sqlite3_busy_handler(
                connection.handle(),
                Some(Self::call),
                std::ptr::from_ref(&*handler).cast_mut().cast(),
            );
        }
        handler
    }

    /// Changes how long it waits; zero is for ever.
    pub fn set_timeout(&self, timeout: Duration) {
        *self.timeout.lock() = timeout;
    }

    unsafe extern "C" fn call(data: *mut c_void, count: c_int) -> c_int {
        // SAFETY: `data` is the handler, see `install`.
        let handler = unsafe { &*data.cast::<Self>() };
        let mut since = handler.since.lock();
        let now = Instant::now();
        let start = if count == 0 { *since.insert(now) } else { *since.get_or_insert(now) };
        let timeout = *handler.timeout.lock();
        let waited = now - start;
        if !timeout.is_zero() && waited >= timeout {
            return 0;
        }
        // Nobody tells when a lock of another process is free: ask again, less and less often.
        let pause = Duration::from_micros(200 << count.clamp(0, 8));
        let pause = if timeout.is_zero() { pause } else { pause.min(timeout - waited) };
        match handler.interrupter.wait(Some(pause), || false) {
            Wake::Stopped => 0,
            Wake::Ready | Wake::TimedOut => 1,
        }
    }
}
