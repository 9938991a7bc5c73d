//! Ctrl-C while a statement runs.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use signal_hook::consts::SIGINT;
use signal_hook::iterator::Signals;

use crate::Failure;
use crate::conversation::Canceller;

/// How often somebody who waits looks whether it was pressed.
const LOOK: Duration = Duration::from_millis(50);

/// Obeys Ctrl-C on a thread of its own: the statement is stopped, not the shell.
#[derive(Clone)]
pub(super) struct Interrupts {
    statement: Arc<Mutex<Option<Canceller>>>,
    pressed: Arc<AtomicBool>,
}

impl Interrupts {
    /// From now on Ctrl-C does not end the process, unless it is pressed a third time while a statement does not stop.
    pub(super) fn watch() -> Result<Self, Failure> {
        let cannot = |error: std::io::Error| Failure::new(format!("cannot watch for Ctrl-C: {error}"));
        let mut signals = Signals::new([SIGINT]).map_err(cannot)?;
        let watched = Self { statement: Arc::default(), pressed: Arc::default() };
        let told = watched.clone();
        std::thread::Builder::new()
            .name("interrupts".into())
            .spawn(move || {
                let mut unheeded = 0;
                for _ in signals.forever() {
                    told.pressed.store(true, Ordering::SeqCst);
                    match &*told.statement.lock().unwrap_or_else(PoisonError::into_inner) {
                        Some(cancel) => {
                            unheeded += 1;
                            if unheeded > 2 {
                                let _ = signal_hook::low_level::emulate_default_handler(SIGINT);
                            }
                            cancel();
                        }
                        None => unheeded = 0,
                    }
                }
            })
            .map_err(cannot)?;
        Ok(watched)
    }

    /// Lets Ctrl-C stop a statement while `work` runs it.
    pub(super) fn during<T>(&self, canceller: Option<Canceller>, work: impl FnOnce() -> T) -> T {
        let set = |canceller| *self.statement.lock().unwrap_or_else(PoisonError::into_inner) = canceller;
        self.pressed.store(false, Ordering::SeqCst);
        set(canceller);
        let done = work();
        set(None);
        done
    }

    /// Waits; false when Ctrl-C was pressed meanwhile, or since the last statement began.
    pub(super) fn wait(&self, time: Duration) -> bool {
        let end = Instant::now() + time;
        loop {
            if self.pressed.swap(false, Ordering::SeqCst) {
                return false;
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return true;
            }
            std::thread::sleep(left.min(LOOK));
        }
    }
}
