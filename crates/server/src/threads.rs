//! Threads for sessions. One whose session has ended waits a while for the next: to make a thread, its stack and its guard
//! pages, and to take them down again, costs more than the login of a client.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

/// How many threads wait for a session at most.
const MOST_IDLE: usize = 16;
/// How long one waits before it ends.
const KEPT: Duration = Duration::from_secs(1);

/// What a thread is to do. True when the thread can be used again: nothing has panicked on it.
pub(crate) type Work = Box<dyn FnOnce() -> bool + Send>;

#[derive(Default)]
struct State {
    /// Work that a waiting thread will take.
    work: VecDeque<Work>,
    /// Threads that wait.
    idle: usize,
    /// No thread waits any more.
    closed: bool,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    work: Condvar,
}

/// Threads that run a session each, one after the other. When it is dropped, those that wait end.
pub(crate) struct Threads {
    shared: Arc<Shared>,
    stack: usize,
}

impl Threads {
    /// Threads with stacks of so many bytes.
    pub(crate) fn new(stack: usize) -> Self {
        Self { shared: Arc::default(), stack }
    }

    /// Has work done by a thread that waits, or by a new one.
    ///
    /// # Errors
    /// When no thread can be had; the work is dropped.
    pub(crate) fn run(&self, work: Work) -> io::Result<()> {
        let mut state = self.shared.state.lock();
        if state.idle > state.work.len() {
            state.work.push_back(work);
            drop(state);
            self.shared.work.notify_one();
            return Ok(());
        }
        drop(state);
        let shared = Arc::clone(&self.shared);
        std::thread::Builder::new()
            .name("session".into())
            .stack_size(self.stack)
            .spawn(move || shared.work_on(work))?;
        Ok(())
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        self.shared.state.lock().closed = true;
        self.shared.work.notify_all();
    }
}

impl Shared {
    fn work_on(&self, first: Work) {
        let mut work = Some(first);
        while let Some(next) = work {
            let usable = next();
            // What belonged to the session must not meet the next one, nor be held while the thread waits.
            rowferry_engine::memory::session_ends();
            work = if usable { self.wait() } else { None };
        }
    }

    /// The next work of this thread; `None` when it should end.
    fn wait(&self) -> Option<Work> {
        let mut state = self.state.lock();
        if state.closed || state.idle >= MOST_IDLE {
            return None;
        }
        state.idle += 1;
        let deadline = Instant::now() + KEPT;
        let work = loop {
            if let Some(work) = state.work.pop_front() {
                break Some(work);
            }
            if state.closed || self.work.wait_until(&mut state, deadline).timed_out() {
                // It may have come with the end of the wait.
                break state.work.pop_front();
            }
        };
        state.idle -= 1;
        work
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread::ThreadId;

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(20);

    /// Runs one piece of work and answers which thread it was, once that thread is about to wait.
    fn run(threads: &Threads, usable: bool) -> ThreadId {
        let (told, hear) = mpsc::channel();
        threads
            .run(Box::new(move || {
                told.send(std::thread::current().id()).unwrap();
                usable
            }))
            .unwrap();
        hear.recv_timeout(PATIENCE).unwrap()
    }

    fn until_idle(threads: &Threads, count: usize) {
        let deadline = Instant::now() + PATIENCE;
        while threads.shared.state.lock().idle != count {
            assert!(Instant::now() < deadline, "no thread waits");
            std::thread::yield_now();
        }
    }

    #[test]
    fn a_thread_takes_the_next_session() {
        let threads = Threads::new(1 << 20);
        let first = run(&threads, true);
        until_idle(&threads, 1);
        assert_eq!(run(&threads, true), first);
    }

    #[test]
    fn a_thread_on_which_a_session_has_panicked_is_not_used_again() {
        let threads = Threads::new(1 << 20);
        let first = run(&threads, false);
        assert_ne!(run(&threads, true), first);
        until_idle(&threads, 1);
    }

    #[test]
    fn work_is_done_at_once_while_other_work_runs() {
        let threads = Threads::new(1 << 20);
        let (go, wait) = mpsc::channel::<()>();
        threads.run(Box::new(move || wait.recv_timeout(PATIENCE).is_ok())).unwrap();
        run(&threads, true);
        go.send(()).unwrap();
        until_idle(&threads, 2);
    }

    #[test]
    fn threads_that_wait_end_with_the_server() {
        let threads = Threads::new(1 << 20);
        run(&threads, true);
        until_idle(&threads, 1);
        let shared = Arc::clone(&threads.shared);
        drop(threads);
        let deadline = Instant::now() + PATIENCE;
        while shared.state.lock().idle != 0 {
            assert!(Instant::now() < deadline, "the thread still waits");
            std::thread::yield_now();
        }
    }
}
