//! Taking an answer that comes at once, before the event loop is gone back to.
//!
//! A server that is near has answered a small statement within some microseconds. Waiting for it where the statement was
//! sent saves a round of the event loop: its selector, its queue, the task's second step. A look that finds nothing is time
//! for nothing, so whoever looks in vain stops looking for a while.
//!
//! Nobody starves by it: a look is short, nobody looks while another statement of the process waits for its answer, and
//! after some answers in a row the next one goes through the loop, whatever.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use pyo3::prelude::*;

/// Statements of all connections whose answer is awaited through an event loop.
static WAITING: AtomicUsize = AtomicUsize::new(0);

/// The future of an operation under way.
#[derive(Debug)]
pub struct Waiting(Py<PyAny>);

impl Waiting {
    /// Somebody waits for `future`, as long as this lives.
    pub fn for_(future: Py<PyAny>) -> Self {
        WAITING.fetch_add(1, Ordering::Relaxed);
        Self(future)
    }

    /// The future.
    pub fn future(&self) -> &Py<PyAny> {
        &self.0
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        WAITING.fetch_sub(1, Ordering::Relaxed);
    }
}

/// How long a look lasts at most.
pub const PATIENCE: Duration = Duration::from_micros(100);
/// Answers in a row that are taken without the event loop.
const IN_A_ROW: u8 = 16;
/// How long they may take together.
const FOR_SO_LONG: Duration = Duration::from_millis(1);
/// How much is gained by a look that finds an answer, by weight, and how much may be gained.
const GAIN: u8 = 1;
const MOST: u8 = 8;
/// What a look in vain costs.
const LOSS: u8 = 2;
/// Operations without a look when nothing is left; then one is made again.
const REST: u16 = 256;

/// Whether looking pays, on one connection.
#[derive(Debug)]
pub struct Eagerness {
    credit: u8,
    rest: u16,
    row: u8,
    row_began: Option<Instant>,
}

impl Default for Eagerness {
    fn default() -> Self {
        Self { credit: MOST / 2, rest: 0, row: 0, row_began: None }
    }
}

impl Eagerness {
    /// Whether to look for the answer of a statement that has just been sent.
    pub fn looks(&mut self) -> bool {
        if self.credit == 0 {
            self.rest -= 1;
            if self.rest > 0 {
                return false;
            }
            self.credit = 1;
        }
        // The one that has just been sent waits, too.
        if WAITING.load(Ordering::Relaxed) > 1 || self.row >= IN_A_ROW {
            return false;
        }
        let began = *self.row_began.get_or_insert_with(Instant::now);
        self.row == 0 || began.elapsed() < FOR_SO_LONG
    }

    /// A look has found bytes, or has not.
    pub fn looked(&mut self, found: bool) {
        if found {
            self.row += 1;
            self.credit = (self.credit + GAIN).min(MOST);
        } else {
            self.credit = self.credit.saturating_sub(LOSS);
            if self.credit == 0 {
                self.rest = REST;
            }
        }
    }

    /// The event loop has run.
    pub fn loop_ran(&mut self) {
        self.row = 0;
        self.row_began = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looking_in_vain_ends_and_is_tried_again() {
        let mut eagerness = Eagerness::default();
        let mut looks = 0;
        for _ in 0..1_000 {
            if eagerness.looks() {
                looks += 1;
                eagerness.looked(false);
            }
            eagerness.loop_ran();
        }
        // Twice at first, then once in a while.
        assert_eq!(looks, 2 + 998 / usize::from(REST));
    }

    #[test]
    fn the_loop_runs_after_some_answers_in_a_row() {
        let mut eagerness = Eagerness::default();
        let mut row = 0;
        while eagerness.looks() {
            eagerness.looked(true);
            row += 1;
        }
        assert!(row <= IN_A_ROW);
        eagerness.loop_ran();
        assert!(eagerness.looks());
    }

    #[test]
    fn what_has_found_answers_goes_on_looking() {
        let mut eagerness = Eagerness::default();
        for _ in 0..20 {
            assert!(eagerness.looks());
            eagerness.looked(true);
            eagerness.loop_ran();
        }
        for _ in 0..MOST / LOSS - 1 {
            assert!(eagerness.looks());
            eagerness.looked(false);
            eagerness.loop_ran();
        }
        assert!(eagerness.looks());
    }
}
