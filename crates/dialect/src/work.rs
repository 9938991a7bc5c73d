//! Work over a client's data, asked now and then whether it may go on.
//!
//! A statement can be cancelled, run out of time or out of memory while one function is busy with a gigabyte. So every
//! loop whose length a client decides tells [`step`] how much it has done, and whoever is about to allocate what a
//! client's numbers decide asks [`room`] first. Both are cheap enough for inner loops: a step adds two numbers and asks
//! nobody until [`STRIDE`] units have come together.
//!
//! Who answers is the thread's [`Supervisor`]: the engine installs that of the running statement. Without one (tests,
//! tools) everything may go on.
//!
//! ```
//! use rowferry_dialect::{Result, work};
//!
//! fn sum(bytes: &[u8]) -> Result<u64> {
//!     let mut sum = 0;
//!     for chunk in bytes.chunks(work::STRIDE) {
//!         work::step(chunk.len())?;
//!         sum += chunk.iter().map(|&byte| u64::from(byte)).sum::<u64>();
//!     }
//!     Ok(sum)
//! }
//! # assert_eq!(sum(&[1, 2]), Ok(3));
//! ```

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use crate::{Condition, Error, Result};

/// Units of work between two questions: bytes read or written, members, digits multiplied; a unit is some nanoseconds.
pub const STRIDE: usize = 64 * 1024;

/// The longest value in bytes, PostgreSQL's limit of one allocation.
pub const LONGEST_VALUE: usize = 0x3fff_ffff;

/// Less than this needs no question before it is allocated: the next [`step`] notices what has come together.
const SMALL: usize = 64 * 1024;

/// Who may stop the thread's work.
pub trait Supervisor: Send + Sync {
    /// An error when the work must end: the statement was cancelled, its time is over, or it uses too much memory.
    fn proceed(&self) -> Result<()>;
    /// An error when there is no room for so many bytes more.
    fn room(&self, bytes: usize) -> Result<()>;
}

thread_local! {
    static DONE: Cell<usize> = const { Cell::new(0) };
    static SUPERVISOR: RefCell<Option<Arc<dyn Supervisor>>> = const { RefCell::new(None) };
}

/// From now on this supervisor answers for the thread, until another takes over.
pub fn supervise(supervisor: Arc<dyn Supervisor>) {
    // The one before it is dropped outside the borrow.
    let _before = SUPERVISOR.with(|current| current.replace(Some(supervisor)));
}

/// True when `supervisor` answers for the thread.
pub fn is_supervised_by(supervisor: *const ()) -> bool {
    SUPERVISOR
        .with(|current| current.borrow().as_ref().is_some_and(|current| Arc::as_ptr(current).cast() == supervisor))
}

/// So many units of work are done; now and then this asks whether the work may go on.
///
/// # Errors
/// `57014` when the statement was cancelled or its time is over, `53200` when it uses too much memory.
#[inline]
pub fn step(units: usize) -> Result<()> {
    let done = DONE.get().saturating_add(units);
    if done < STRIDE {
        DONE.set(done);
        return Ok(());
    }
    check()
}

/// Asks at once whether the work may go on: before and after work that cannot be cut into steps.
///
/// # Errors
/// As [`step`].
#[cold]
pub fn check() -> Result<()> {
    DONE.set(0);
    SUPERVISOR.with(|current| current.borrow().as_ref().map_or(Ok(()), |supervisor| supervisor.proceed()))
}

/// A value of so many bytes is about to be allocated.
///
/// # Errors
/// `54000` beyond [`LONGEST_VALUE`], `53200` when the session or the server has no room for it.
#[inline]
pub fn room(bytes: usize) -> Result<()> {
    if bytes < SMALL { Ok(()) } else { large_room(bytes) }
}

#[cold]
fn large_room(bytes: usize) -> Result<()> {
    if bytes > LONGEST_VALUE {
        return Err(too_large(bytes));
    }
    room_to_work(bytes)
}

/// So many bytes are about to be allocated that are no single value: memory to work in.
///
/// # Errors
/// `53200` when the session or the server has no room for it.
pub fn room_to_work(bytes: usize) -> Result<()> {
    SUPERVISOR.with(|current| current.borrow().as_ref().map_or(Ok(()), |supervisor| supervisor.room(bytes)))
}

/// An empty text with room for so many bytes.
///
/// # Errors
/// As [`room`].
pub fn text(capacity: usize) -> Result<String> {
    room(capacity)?;
    let mut text = String::new();
    text.try_reserve_exact(capacity).map_err(|_| out_of_memory(capacity))?;
    Ok(text)
}

/// No bytes yet, with room for so many.
///
/// # Errors
/// As [`room`].
pub fn bytes(capacity: usize) -> Result<Vec<u8>> {
    room(capacity)?;
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(capacity).map_err(|_| out_of_memory(capacity))?;
    Ok(bytes)
}

/// A text in pieces of at most [`STRIDE`] bytes, cut between characters.
pub fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let mut end = rest.len().min(STRIDE);
        while !rest.is_char_boundary(end) {
            end -= 1;
        }
        let (piece, others) = rest.split_at(end);
        rest = others;
        Some(piece)
    })
}

/// A value longer than any may be.
#[cold]
pub fn too_large(bytes: usize) -> Error {
    Error::new(Condition::ProgramLimitExceeded, format!("invalid memory alloc request size {bytes}"))
}

/// An allocation that the system has refused.
#[cold]
pub fn out_of_memory(bytes: usize) -> Error {
    Error::new(Condition::OutOfMemory, "out of memory").detail(format!("Failed on request of size {bytes}."))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[derive(Default)]
    struct Counting {
        asked: AtomicUsize,
        stop: bool,
    }

    impl Supervisor for Counting {
        fn proceed(&self) -> Result<()> {
            self.asked.fetch_add(1, Ordering::Relaxed);
            if self.stop { Err(Error::new(Condition::QueryCanceled, "stop")) } else { Ok(()) }
        }

        fn room(&self, bytes: usize) -> Result<()> {
            if bytes > 1 << 20 { Err(out_of_memory(bytes)) } else { Ok(()) }
        }
    }

    #[test]
    fn asks_once_a_stride() {
        let supervisor = Arc::new(Counting::default());
        supervise(supervisor.clone());
        for _ in 0..10 * STRIDE {
            step(1).unwrap();
        }
        assert_eq!(supervisor.asked.load(Ordering::Relaxed), 10);
    }

    #[test]
    fn stops_when_told() {
        supervise(Arc::new(Counting { stop: true, ..Counting::default() }));
        assert_eq!(step(STRIDE).unwrap_err().condition, Condition::QueryCanceled);
        assert_eq!(check().unwrap_err().condition, Condition::QueryCanceled);
    }

    #[test]
    fn gives_room_within_the_limits_only() {
        supervise(Arc::new(Counting::default()));
        assert!(text(1 << 20).unwrap().capacity() >= 1 << 20);
        assert_eq!(text(2 << 20).unwrap_err().condition, Condition::OutOfMemory);
        assert_eq!(bytes(LONGEST_VALUE + 1).unwrap_err().condition, Condition::ProgramLimitExceeded);
    }

    #[test]
    fn cuts_between_characters() {
        let text = format!("x{}", "ß".repeat(STRIDE));
        let cut: Vec<&str> = pieces(&text).collect();
        assert!(cut.len() == 3 && cut.iter().all(|piece| piece.len() <= STRIDE));
        assert_eq!(cut.concat(), text);
    }
}
