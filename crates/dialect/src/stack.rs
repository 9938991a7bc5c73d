//! Room on the stack for recursion over a statement.
//!
//! PostgreSQL lets a statement nest as deep as its stack is, and programs write chains of thousands of operators. So the
//! compiler's recursions take more stack when what the thread has is used up, and what bounds a statement is a depth
//! ([`MAX_DEPTH`]) that is far from every real one.

use crate::{Condition, Error, Result};

/// How deep a statement may nest, counted in expressions, queries and members of FROM on the way down. Behind the
/// compiler come walks with small frames (dropping, copying, the back end's own), which a session's stack bears at this depth.
pub const MAX_DEPTH: u32 = 6_000;

/// With less than this left, a recursion goes on elsewhere: what one level of it needs at most, and calls of C besides.
const RED_ZONE: usize = 512 * 1024;
/// What is taken at a time; only pages that are touched cost memory.
const CHUNK: usize = 8 * 1024 * 1024;

/// Runs one level of a recursion, on a new piece of stack when little is left of this one.
///
/// # Errors
/// `53200` when there is no memory for it; else the level's own.
pub fn deeper<T>(level: impl FnOnce() -> Result<T>) -> Result<T> {
    if stacker::remaining_stack().is_none_or(|left| left >= RED_ZONE) {
        return level();
    }
    if !is_available(CHUNK) {
        return Err(Error::new(Condition::OutOfMemory, "out of memory").detail("There is none for a larger stack."));
    }
    stacker::grow(CHUNK, level)
}

/// Runs what needs so many bytes of stack and cannot ask for them on its way: generated code, a C library. `None` when
/// there is no memory for it: then it has not run.
pub fn with_room<T>(bytes: usize, run: impl FnOnce() -> T) -> Option<T> {
    let wanted = bytes + RED_ZONE;
    if stacker::remaining_stack().is_none_or(|left| left >= wanted) {
        return Some(run());
    }
    is_available(wanted).then(|| stacker::grow(wanted, run))
}

/// True when a piece of this size can be had. Taking a stack would panic otherwise.
fn is_available(bytes: usize) -> bool {
    Vec::<u8>::new().try_reserve_exact(bytes).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(depth: u64) -> Result<u64> {
        let frame = std::hint::black_box([depth; 128]);
        if depth == 0 { Ok(0) } else { Ok(frame[7] + deeper(|| sum(depth - 1))?) }
    }

    #[test]
    fn a_recursion_goes_deeper_than_its_thread() {
        let thread = std::thread::Builder::new().stack_size(1024 * 1024);
        let result = thread.spawn(|| sum(20_000)).unwrap().join().unwrap().unwrap();
        assert_eq!(result, 20_000 * 20_001 / 2);
    }
}
