//! Cancelling a statement from another thread, and statement time-outs.
//!
//! A back end's own way to interrupt stops every statement of a handle, suspended cursors included, and stays in force until
//! the last of them is reset. So the handle's progress handler asks here instead, and only the statement that is
//! running is stopped. Whatever else a session waits for (the write lock, a sleep) is woken, too.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};
use rowferry_dialect::{Condition, Error, Result, work};

use crate::memory;

const IDLE: u8 = 0;
const RUNNING: u8 = 1;
const CANCELLED: u8 = 2;
const TIMED_OUT: u8 = 3;
const OUT_OF_MEMORY: u8 = 4;

/// Stops what a session is doing, from any thread; does nothing while it is idle.
#[derive(Clone, Debug)]
pub struct Interrupter {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    state: AtomicU8,
    /// When the statement's time is over, in nanoseconds since `base`; 0 is never.
    deadline: AtomicU64,
    base: Instant,
    /// When the transaction's time is over, likewise.
    transaction_deadline: AtomicU64,
    /// Why the session is over: an [`End`], or 0.
    ended: AtomicU8,
    /// How often to look whether the client is still there, in milliseconds; 0 is never.
    client_check: AtomicU64,
    /// Statements of a routine run inside another statement, which alone begins and ends: see [`Interrupter::enter`].
    nested: AtomicU32,
    /// A statement runs that reads rows of its own parts: see [`Interrupter::hold`].
    held: AtomicU32,
    /// What the session may use of memory, in bytes.
    memory: usize,
    /// The session of another database in which a part of this one's work is done.
    lent: Mutex<Option<Interrupter>>,
    /// What stops the part of the statement's work that another server does.
    also: Also,
    /// Guards nothing but the condition variable's sleep.
    sleep: Mutex<()>,
    wake: Condvar,
}

/// What else is to be stopped.
#[derive(Debug, Default)]
struct Also(Mutex<Option<crate::upstream::Canceller>>);

impl Also {
    fn stop(&self) {
        let stop = self.0.lock().clone();
        if let Some(stop) = stop {
            stop.cancel(false);
        }
    }
}

/// Why a session ends that did not ask for it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[repr(u8)]
pub enum End {
    /// Somebody said so: `pg_terminate_backend`.
    Terminated = 1,
    /// `transaction_timeout`.
    TransactionTimeout = 2,
    /// The client is gone.
    ClientGone = 3,
}

impl End {
    fn of(code: u8) -> Option<Self> {
        [Self::Terminated, Self::TransactionTimeout, Self::ClientGone].into_iter().find(|end| *end as u8 == code)
    }

    /// What the client is told, if it can be told.
    pub fn error(self) -> Error {
        match self {
            Self::Terminated => {
                Error::new(Condition::AdminShutdown, "terminating connection due to administrator command")
            }
            Self::TransactionTimeout => {
                Error::new(Condition::TransactionTimeout, "terminating connection due to transaction timeout")
            }
            Self::ClientGone => Error::new(Condition::ConnectionFailure, "connection to client lost"),
        }
    }
}

/// A statement within which others run; see [`Interrupter::enter`].
#[derive(Debug)]
pub(crate) struct Nested {
    interrupter: Interrupter,
}

impl Drop for Nested {
    fn drop(&mut self) {
        self.interrupter.inner.nested.fetch_sub(1, Ordering::AcqRel);
    }
}

/// A statement that is not over when rows are at their end; see [`Interrupter::hold`].
#[derive(Debug)]
pub(crate) struct Held {
    interrupter: Interrupter,
}

impl Drop for Held {
    fn drop(&mut self) {
        self.interrupter.inner.held.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Why a wait ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Wake {
    /// What was waited for has come.
    Ready,
    /// The statement was cancelled, or its time is over.
    Stopped,
    /// The wait's own time is over.
    TimedOut,
}

impl Interrupter {
    pub(crate) fn new(memory: usize) -> Self {
        Self {
            inner: Arc::new(Inner {
                state: AtomicU8::new(IDLE),
                deadline: AtomicU64::new(0),
                transaction_deadline: AtomicU64::new(0),
                ended: AtomicU8::new(0),
                client_check: AtomicU64::new(0),
                base: Instant::now(),
                nested: AtomicU32::new(0),
                held: AtomicU32::new(0),
                memory,
                lent: Mutex::default(),
                also: Also::default(),
                sleep: Mutex::new(()),
                wake: Condvar::new(),
            }),
        }
    }

    /// The running statement fails with `57014`; without one nothing happens.
    pub fn interrupt(&self) {
        if self.inner.state.compare_exchange(RUNNING, CANCELLED, Ordering::AcqRel, Ordering::Acquire).is_ok() {
            self.wake();
            self.inner.also.stop();
        }
        if let Some(lent) = &*self.inner.lent.lock() {
            lent.interrupt();
        }
    }

    /// Who stops the statement stops this, too, until nothing is said any more.
    pub(crate) fn also(&self, stop: Option<crate::upstream::Canceller>) {
        *self.inner.also.0.lock() = stop;
    }

    /// Who stops this session's work stops that one's, until nobody is lent any more.
    pub(crate) fn lend(&self, to: Option<Self>) {
        *self.inner.lent.lock() = to;
    }

    /// The session is over: what it does ends at once, and it does nothing any more.
    pub fn end(&self, why: End) {
        let _ = self.inner.ended.compare_exchange(0, why as u8, Ordering::AcqRel, Ordering::Acquire);
        let _ = self.inner.state.compare_exchange(RUNNING, CANCELLED, Ordering::AcqRel, Ordering::Acquire);
        if let Some(lent) = &*self.inner.lent.lock() {
            lent.end(why);
        }
        self.inner.also.stop();
        self.wake();
    }

    /// Why the session is over, if it is.
    pub fn ended(&self) -> Option<End> {
        End::of(self.inner.ended.load(Ordering::Acquire))
    }

    /// How often to look whether the client is still there; `None` while no statement runs, or if nobody is to look.
    pub fn client_check(&self) -> Option<Duration> {
        let millis = self.inner.client_check.load(Ordering::Relaxed);
        (millis > 0 && self.is_armed()).then(|| Duration::from_millis(millis))
    }

    /// How often to look whether the client is still there; zero is never.
    pub(crate) fn set_client_check(&self, interval: Duration) {
        self.inner.client_check.store(interval.as_millis() as u64, Ordering::Relaxed);
    }

    /// When the transaction's time is over; `None` is never.
    pub(crate) fn set_transaction_deadline(&self, left: Option<Duration>) {
        let deadline = left.map_or(0, |left| ((self.inner.base.elapsed() + left).as_nanos() as u64).max(1));
        self.inner.transaction_deadline.store(deadline, Ordering::Relaxed);
    }

    /// How long the transaction may go on; `None` is for ever.
    pub(crate) fn transaction_time_left(&self) -> Option<Duration> {
        match self.inner.transaction_deadline.load(Ordering::Relaxed) {
            0 => None,
            nanos => Some(Duration::from_nanos(nanos).saturating_sub(self.inner.base.elapsed())),
        }
    }

    /// Wakes the session if it waits.
    pub(crate) fn wake(&self) {
        // Taking the mutex closes the gap between the waiter's last look and its sleep.
        drop(self.inner.sleep.lock());
        self.inner.wake.notify_all();
    }

    /// A statement begins: from now on it can be cancelled.
    pub(crate) fn arm(&self, timeout: Duration) {
        if self.is_nested() {
            return;
        }
        let deadline = if timeout.is_zero() { 0 } else { (self.inner.base.elapsed() + timeout).as_nanos() as u64 };
        self.inner.deadline.store(deadline, Ordering::Relaxed);
        self.inner.state.store(RUNNING, Ordering::Release);
        self.supervise();
    }

    /// The work that this thread does from now on is this session's: [`work`] asks here whether it may go on.
    #[inline]
    pub(crate) fn supervise(&self) {
        if !work::is_supervised_by(Arc::as_ptr(&self.inner).cast()) {
            memory::set_session_limit(self.inner.memory);
            work::supervise(self.inner.clone());
        }
    }

    /// The statement is over.
    pub(crate) fn disarm(&self) {
        if self.is_nested() || self.inner.held.load(Ordering::Acquire) > 0 {
            return;
        }
        self.inner.state.store(IDLE, Ordering::Release);
    }

    /// Somebody has handled the error of the running statement's cancellation: it goes on, and its time is over only once.
    pub(crate) fn go_on(&self) {
        if self.ended().is_some() {
            return;
        }
        self.inner.deadline.store(0, Ordering::Relaxed);
        for stopped in [CANCELLED, TIMED_OUT] {
            let _ = self.inner.state.compare_exchange(stopped, RUNNING, Ordering::AcqRel, Ordering::Acquire);
        }
    }

    /// Statements that begin and end from now until the guard is dropped are parts of the one that runs.
    pub(crate) fn enter(&self) -> Nested {
        self.inner.nested.fetch_add(1, Ordering::AcqRel);
        Nested { interrupter: self.clone() }
    }

    /// The statement goes on until the guard is dropped, whatever rows come to their end meanwhile: those of its parts, of
    /// arguments that are computed first, of a cursor that it fetches from. It can be stopped all the time.
    pub(crate) fn hold(&self) -> Held {
        self.inner.held.fetch_add(1, Ordering::AcqRel);
        Held { interrupter: self.clone() }
    }

    /// True while a routine's statements run inside another statement.
    pub(crate) fn is_nested(&self) -> bool {
        self.inner.nested.load(Ordering::Acquire) > 0
    }

    /// How many calls of routines are under way, one inside the other.
    pub(crate) fn depth(&self) -> u32 {
        self.inner.nested.load(Ordering::Acquire)
    }

    /// True while a statement runs.
    pub(crate) fn is_armed(&self) -> bool {
        self.inner.state.load(Ordering::Acquire) != IDLE
    }

    /// True when the statement must stop.
    pub(crate) fn must_stop(&self) -> bool {
        self.inner.must_stop()
    }

    /// The error of a stopped statement.
    pub(crate) fn error(&self) -> Error {
        self.inner.error()
    }

    /// Sleeps until `ready` holds, the statement is stopped, or `timeout` (if any) is over.
    pub(crate) fn wait(&self, timeout: Option<Duration>, mut ready: impl FnMut() -> bool) -> Wake {
        let until = timeout.map(|timeout| Instant::now() + timeout);
        let mut sleep = self.inner.sleep.lock();
        loop {
            if ready() {
                return Wake::Ready;
            }
            if self.must_stop() {
                return Wake::Stopped;
            }
            if until.is_some_and(|until| Instant::now() >= until) {
                return Wake::TimedOut;
            }
            let instant = |nanos: &AtomicU64| match nanos.load(Ordering::Relaxed) {
                0 => None,
                nanos => Some(self.inner.base + Duration::from_nanos(nanos)),
            };
            let (deadline, transaction) = (instant(&self.inner.deadline), instant(&self.inner.transaction_deadline));
            match [until, deadline, transaction].into_iter().flatten().min() {
                Some(instant) => {
                    self.inner.wake.wait_until(&mut sleep, instant);
                }
                None => self.inner.wake.wait(&mut sleep),
            }
        }
    }
}

impl Inner {
    fn must_stop(&self) -> bool {
        match self.state.load(Ordering::Acquire) {
            CANCELLED | TIMED_OUT | OUT_OF_MEMORY => true,
            RUNNING => {
                if memory::check().is_err() {
                    self.stop(OUT_OF_MEMORY);
                    return true;
                }
                let deadline = self.deadline.load(Ordering::Relaxed);
                let transaction = self.transaction_deadline.load(Ordering::Relaxed);
                if deadline == 0 && transaction == 0 {
                    return self.ended.load(Ordering::Acquire) != 0;
                }
                let now = self.base.elapsed().as_nanos() as u64;
                if transaction != 0 && now >= transaction {
                    let why = End::TransactionTimeout as u8;
                    let _ = self.ended.compare_exchange(0, why, Ordering::AcqRel, Ordering::Acquire);
                    let _ = self.state.compare_exchange(RUNNING, CANCELLED, Ordering::AcqRel, Ordering::Acquire);
                    return true;
                }
                if deadline == 0 || now < deadline {
                    return self.ended.load(Ordering::Acquire) != 0;
                }
                self.stop(TIMED_OUT);
                true
            }
            _ => false,
        }
    }

    fn stop(&self, reason: u8) {
        // Whatever came first is what is told.
        let _ = self.state.compare_exchange(RUNNING, reason, Ordering::AcqRel, Ordering::Acquire);
    }

    fn error(&self) -> Error {
        if let Some(end) = End::of(self.ended.load(Ordering::Acquire)) {
            return end.error();
        }
        let reason = match self.state.load(Ordering::Acquire) {
            OUT_OF_MEMORY => return memory::exhausted(),
            TIMED_OUT => "canceling statement due to statement timeout",
            _ => "canceling statement due to user request",
        };
        Error::new(Condition::QueryCanceled, reason)
    }
}

impl work::Supervisor for Inner {
    fn proceed(&self) -> Result<()> {
        if self.must_stop() { Err(self.error()) } else { Ok(()) }
    }

    fn room(&self, bytes: usize) -> Result<()> {
        memory::room(bytes)
    }
}
