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

/// Nobody answers for the thread any more.
pub fn release() {
    DONE.set(0);
    let _before = SUPERVISOR.with(|current| current.replace(None));
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

/// Appends bytes to a value that grows: where `extend_from_slice` would grow it, this asks first.
///
/// # Errors
/// As [`room`].
#[inline]
pub fn append(out: &mut Vec<u8>, more: &[u8]) -> Result<()> {
    reserve(out, more.len())?;
    out.extend_from_slice(more);
    Ok(())
}

/// Makes room for so many bytes more in a value that grows, as [`Vec::reserve`] does.
///
/// # Errors
/// As [`room`].
#[inline]
pub fn reserve(out: &mut Vec<u8>, more: usize) -> Result<()> {
    if out.capacity() - out.len() >= more { Ok(()) } else { grow(out, more) }
}

#[cold]
fn grow(out: &mut Vec<u8>, more: usize) -> Result<()> {
    let needed = out.len().saturating_add(more);
    if needed < SMALL {
        out.reserve(more);
        return Ok(());
    }
    if needed > LONGEST_VALUE {
        return Err(too_large(needed));
    }
    // Twice what there is, so that not every byte moves all others; just enough when there is no room for that.
    let doubled = needed.max(out.capacity().saturating_mul(2)).min(LONGEST_VALUE);
    let capacity = if room_to_work(doubled - out.capacity()).is_ok() { doubled } else { needed };
    room_to_work(capacity - out.capacity())?;
    out.try_reserve_exact(capacity - out.len()).map_err(|_| out_of_memory(capacity))
}

/// [`append`] for texts.
///
/// # Errors
/// As [`room`].
#[inline]
pub fn append_text(out: &mut String, more: &str) -> Result<()> {
    reserve_text(out, more.len())?;
    out.push_str(more);
    Ok(())
}

/// [`reserve`] for texts.
///
/// # Errors
/// As [`room`].
#[inline]
pub fn reserve_text(out: &mut String, more: usize) -> Result<()> {
    if out.capacity() - out.len() >= more {
        return Ok(());
    }
    let mut bytes = std::mem::take(out).into_bytes();
    let result = reserve(&mut bytes, more);
    // SAFETY: nothing was written: they are the text's bytes as before.
    *out = unsafe { String::from_utf8_unchecked(bytes) };
    result
}

/// Bytes to be read by somebody else's code, each stretch of them a step.
#[derive(Debug)]
pub struct Stepping<'a> {
    rest: &'a [u8],
    /// Why the work must not go on, if it must not: the reader itself can only say that reading failed.
    pub stopped: Option<Error>,
}

impl<'a> Stepping<'a> {
    /// Reads these bytes.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes, stopped: None }
    }
}

impl std::io::Read for Stepping<'_> {
    #[inline]
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.rest.len().min(buffer.len()).min(STRIDE);
        if let Err(error) = step(count) {
            self.stopped = Some(error);
            return Err(std::io::ErrorKind::Other.into());
        }
        let (read, rest) = self.rest.split_at(count);
        buffer[..count].copy_from_slice(read);
        self.rest = rest;
        Ok(count)
    }
}

/// What somebody else's code writes, kept within the limits, each stretch of it a step.
#[derive(Debug, Default)]
pub struct Gathering {
    /// What has been written.
    pub bytes: Vec<u8>,
    /// Why the work must not go on, if it must not.
    pub stopped: Option<Error>,
}

impl std::io::Write for Gathering {
    #[inline]
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match append(&mut self.bytes, bytes).and_then(|()| step(bytes.len())) {
            Ok(()) => Ok(bytes.len()),
            Err(error) => {
                self.stopped = Some(error);
                Err(std::io::ErrorKind::Other.into())
            }
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
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
        assert_eq!(step(STRIDE).unwrap_err().condition(), Condition::QueryCanceled);
        assert_eq!(check().unwrap_err().condition(), Condition::QueryCanceled);
    }

    #[test]
    fn gives_room_within_the_limits_only() {
        supervise(Arc::new(Counting::default()));
        assert!(text(1 << 20).unwrap().capacity() >= 1 << 20);
        assert_eq!(text(2 << 20).unwrap_err().condition(), Condition::OutOfMemory);
        assert_eq!(bytes(LONGEST_VALUE + 1).unwrap_err().condition(), Condition::ProgramLimitExceeded);
    }

    #[test]
    fn grows_within_the_limits_only() {
        supervise(Arc::new(Counting::default()));
        let mut out = "ß".to_owned();
        let more = "x".repeat(300_000);
        for _ in 0..4 {
            append_text(&mut out, &more).unwrap();
        }
        assert_eq!(out.len(), 2 + 4 * more.len());
        let error = append_text(&mut out, &more.repeat(5)).unwrap_err();
        assert_eq!(error.condition(), Condition::OutOfMemory);
        assert_eq!(out.len(), 2 + 4 * more.len());
    }

    #[test]
    fn cuts_between_characters() {
        let text = format!("x{}", "ß".repeat(STRIDE));
        let cut: Vec<&str> = pieces(&text).collect();
        assert!(cut.len() == 3 && cut.iter().all(|piece| piece.len() <= STRIDE));
        assert_eq!(cut.concat(), text);
    }
}
