//! Signals that end a subcommand in order.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rowferry_engine::Interrupter;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::Failure;

/// How often is looked.
const INTERVAL: Duration = Duration::from_millis(100);

/// Whether somebody wants the subcommand to end.
#[derive(Clone, Debug)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// From now on SIGINT, SIGTERM and SIGHUP ask, and do no more.
    pub fn watch() -> Result<Self, Failure> {
        let asked = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            signal_hook::flag::register(signal, Arc::clone(&asked))
                .map_err(|error| Failure::new(format!("cannot watch for signals: {error}")))?;
        }
        Ok(Self(asked))
    }

    /// True once somebody has asked.
    pub fn asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Waits for a moment, or until somebody asks.
    pub fn pause(&self) {
        if !self.asked() {
            // A signal does not wake it, so it is short.
            std::thread::park_timeout(INTERVAL);
        }
    }

    /// Interrupts a session when somebody asks, as long as the guard lives.
    pub fn interrupts(&self, interrupter: Interrupter) -> Result<Guard, Failure> {
        let over = Arc::new(AtomicBool::new(false));
        let (stop, ended) = (self.clone(), Arc::clone(&over));
        let thread = std::thread::Builder::new().name("interrupt".into()).spawn(move || {
            while !ended.load(Ordering::Relaxed) {
                if stop.asked() {
                    interrupter.interrupt();
                    return;
                }
                std::thread::park_timeout(INTERVAL);
            }
        });
        let thread = thread.map_err(|error| Failure::new(format!("cannot start a thread: {error}")))?;
        Ok(Guard { over, thread: Some(thread) })
    }
}

/// See [`Stop::interrupts`].
#[derive(Debug)]
pub struct Guard {
    over: Arc<AtomicBool>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            let _ = thread.join();
        }
    }
}
