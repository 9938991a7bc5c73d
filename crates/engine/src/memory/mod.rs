//! What clients' statements may use of the machine's memory.
//!
//! Three things together keep one client's statement from ending the server:
//!
//! - everything is counted: Rust's allocations by [`CountingAllocator`], the back end's by an allocator of ours that refuses
//!   what is too much (in `backend`), both on the thread that makes them, since a session is a thread;
//! - loops over a client's data ask through [`rowferry_dialect::work`] while they grow, and before they allocate much at
//!   once, so that what is too much is an error (`53200`) and never a failed allocation, which Rust answers by ending the
//!   process;
//! - the limits leave room for what is between two questions.
//!
//! A session's limit is its database's option; the server's is the process's ([`set_server_limit`]). When the server's
//! is reached those fail who use much, and the others go on.

pub mod machine;

mod allocator;

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicIsize, Ordering};

use rowferry_dialect::{Condition, Error, Result};

pub use allocator::CountingAllocator;

/// A thread tells the process of its use when it has changed by so much: the process's count is rarely touched.
const BATCH: isize = 256 * 1024;

/// Sessions that use less than this go on when the server's memory is at its end: the others have to give way.
const MODEST: isize = 16 << 20;

/// The same when even that has not helped, and more than a quarter above the limit is in use.
const LEAST: isize = 4 << 20;

/// No limit.
pub const UNLIMITED: usize = isize::MAX as usize;

/// Bytes in use by all threads.
static TOTAL: AtomicIsize = AtomicIsize::new(0);
/// The most that they may use.
static SERVER_LIMIT: AtomicIsize = AtomicIsize::new(isize::MAX);
/// The system has refused an allocation: whoever uses much must give way now.
static PRESSED: AtomicBool = AtomicBool::new(false);

/// A thread's memory.
pub(crate) struct Use {
    /// By Rust, since the thread began: allocated less freed.
    rust: Cell<isize>,
    /// By the back end.
    pub(crate) backend: Cell<isize>,
    /// Change that [`TOTAL`] does not know of.
    unreported: Cell<isize>,
    /// What `rust` was when the session last held nothing: things that sessions share are made by one and freed by
    /// another, so the count since the thread began drifts.
    baseline: Cell<isize>,
    /// Rust's memory that outlives statements: see [`Charge`].
    kept: Cell<isize>,
    /// The session's limit.
    limit: Cell<isize>,
    /// The back end was refused memory since this was last asked.
    pub(crate) refused: Cell<bool>,
}

thread_local! {
    // Nothing in it needs to be dropped, so that it can be used as long as the thread allocates.
    pub(crate) static USE: Use = const {
        Use {
            rust: Cell::new(0),
            backend: Cell::new(0),
            unreported: Cell::new(0),
            baseline: Cell::new(0),
            kept: Cell::new(0),
            limit: Cell::new(isize::MAX),
            refused: Cell::new(false),
        }
    };
}

impl Use {
    #[inline]
    pub(crate) fn count(&self, cell: &Cell<isize>, change: isize) {
        cell.set(cell.get() + change);
        let unreported = self.unreported.get() + change;
        if unreported.unsigned_abs() < BATCH as usize {
            self.unreported.set(unreported);
        } else {
            self.unreported.set(0);
            TOTAL.fetch_add(unreported, Ordering::Relaxed);
        }
    }

    /// Bytes that the thread's session uses.
    fn session(&self) -> isize {
        (self.rust.get() - self.baseline.get()).max(0) + self.backend.get() + self.kept.get().max(0)
    }

    /// Which limit so many bytes more would exceed.
    pub(crate) fn exceeded(&self, more: isize) -> Option<Limit> {
        let session = self.session().saturating_add(more);
        if session > self.limit.get() {
            return Some(Limit::Session(self.limit.get()));
        }
        if session <= LEAST {
            return None;
        }
        let limit = SERVER_LIMIT.load(Ordering::Relaxed);
        let total = TOTAL.load(Ordering::Relaxed).saturating_add(more);
        let over = if session > MODEST {
            total > limit || PRESSED.load(Ordering::Relaxed)
        } else {
            total > limit.saturating_add(limit / 4)
        };
        over.then_some(Limit::Server(limit))
    }
}

#[derive(Clone, Copy)]
pub(crate) enum Limit {
    Session(isize),
    Server(isize),
}

impl Limit {
    #[cold]
    fn error(self, bytes: usize) -> Error {
        let error = Error::new(Condition::OutOfMemory, "out of memory");
        match self {
            Self::Session(limit) if bytes > 0 => {
                error.detail(format!("Failed on request of size {bytes}: a session may use {} MB.", limit >> 20))
            }
            Self::Session(limit) => {
                error.detail(format!("The session uses more than the {} MB that it may.", limit >> 20))
            }
            Self::Server(isize::MAX) => error.detail("The system has no more memory for the server."),
            Self::Server(limit) => {
                error.detail(format!("The sessions together use the {} MB that the server may.", limit >> 20))
            }
        }
        .hint("See the server's options --session-memory and --memory-limit.")
    }
}

/// The most that all sessions of this process may use together, in bytes.
pub fn set_server_limit(bytes: usize) {
    SERVER_LIMIT.store(isize::try_from(bytes).unwrap_or(isize::MAX), Ordering::Relaxed);
}

/// The most that all sessions of this process may use together, in bytes.
pub(crate) fn server_limit() -> usize {
    usize::try_from(SERVER_LIMIT.load(Ordering::Relaxed)).unwrap_or(0)
}

/// Bytes that all threads use, as far as they are counted.
pub fn in_use() -> usize {
    usize::try_from(TOTAL.load(Ordering::Relaxed)).unwrap_or(0)
}

/// Bytes that this thread's session uses.
pub fn session_use() -> usize {
    USE.with(|usage| usize::try_from(usage.session()).unwrap_or(0))
}

/// The thread's work is that of a session with this limit.
pub(crate) fn set_session_limit(bytes: usize) {
    USE.with(|usage| usage.limit.set(isize::try_from(bytes).unwrap_or(isize::MAX)));
}

/// The session holds nothing in Rust's memory but what has a [`Charge`].
pub(crate) fn begin_anew() {
    USE.with(|usage| usage.baseline.set(usage.rust.get()));
}

/// An error when the thread's session, or all together, use more than they may.
#[inline]
pub(crate) fn check() -> Result<()> {
    match USE.with(|usage| usage.exceeded(0)) {
        None => Ok(()),
        Some(limit) => Err(limit.error(0)),
    }
}

/// An error when there is no room for so many bytes more.
pub(crate) fn room(bytes: usize) -> Result<()> {
    match USE.with(|usage| usage.exceeded(isize::try_from(bytes).unwrap_or(isize::MAX))) {
        None => Ok(()),
        Some(limit) => Err(limit.error(bytes)),
    }
}

/// The error of a statement for which there was no memory.
pub(crate) fn exhausted() -> Error {
    USE.with(|usage| usage.exceeded(0).unwrap_or(Limit::Session(usage.limit.get()))).error(0)
}

/// True when the back end was refused memory on this thread since the last call.
pub(crate) fn take_refusal() -> bool {
    USE.with(|usage| usage.refused.replace(false))
}

/// Where the thread's count of Rust's memory stands, for [`since`].
pub(crate) fn mark() -> isize {
    USE.with(|usage| usage.rust.get())
}

/// Bytes of Rust's memory that the thread has made, and kept, since a [`mark`].
pub(crate) fn since(mark: isize) -> usize {
    usize::try_from(USE.with(|usage| usage.rust.get()) - mark).unwrap_or(0)
}

/// The thread's session is over: nothing of it stays with the thread, which may end, or serve another. What it has not told
/// the process yet is told.
pub fn session_ends() {
    rowferry_dialect::work::release();
    crate::smart_objects::forget();
    // An error of a function that nobody has asked for.
    drop(crate::backend::functions::take_error());
    USE.with(|usage| {
        let unreported = usage.unreported.replace(0);
        TOTAL.fetch_add(unreported, Ordering::Relaxed);
        // What others have freed, or have yet to free, of what this session made would be the next one's.
        for count in [&usage.rust, &usage.backend, &usage.baseline, &usage.kept] {
            count.set(0);
        }
        usage.limit.set(isize::MAX);
        usage.refused.set(false);
    });
}

/// Memory that a session keeps beyond its statement, such as a prepared statement; given back when dropped.
#[derive(Debug, Default)]
pub struct Charge(isize);

impl Charge {
    /// Charges the thread's session with so many bytes.
    ///
    /// # Errors
    /// `53200` when the session has no room for them.
    pub fn new(bytes: usize) -> Result<Self> {
        room(bytes)?;
        let bytes = isize::try_from(bytes).unwrap_or(isize::MAX);
        USE.with(|usage| usage.kept.set(usage.kept.get().saturating_add(bytes)));
        Ok(Self(bytes))
    }

    /// Charges the thread's session with so many bytes more.
    ///
    /// # Errors
    /// `53200` when the session has no room for them.
    pub fn grow(&mut self, bytes: usize) -> Result<()> {
        let more = Self::new(bytes)?;
        self.0 = self.0.saturating_add(more.0);
        std::mem::forget(more);
        Ok(())
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        USE.with(|usage| usage.kept.set(usage.kept.get().saturating_sub(self.0)));
    }
}
