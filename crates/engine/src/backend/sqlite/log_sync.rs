//! Commits that wait for the disk together.
//!
//! SQLite writes a commit into the write-ahead log and, with `synchronous=FULL`, waits for the disk while it holds the
//! write lock: whoever wants to commit next waits for that wait, too. Here it does not wait (`synchronous=NORMAL`). A session
//! that has committed passes the write lock on and then waits until the log is on disk up to its commit; those that
//! wait meanwhile share the next flush. The log is written and recovered in order, so a commit that is safe makes those before
//! it safe. Others may see a commit a moment before it is safe.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::OnceLock;

use parking_lot::{Condvar, Mutex};

/// Flushes the log of one database file.
#[derive(Debug, Default)]
pub struct LogSync {
    /// The log. SQLite locks the file and the log's index, never the log: closing this handle takes no lock away.
    log: OnceLock<File>,
    turns: Mutex<Turns>,
    flushed: Condvar,
}

#[derive(Debug, Default)]
struct Turns {
    /// Commits that have asked to be made safe.
    asked: u64,
    /// How many of them are.
    safe: u64,
    /// How often the log was flushed.
    flushes: u64,
    /// Somebody is at it.
    flushing: bool,
    /// Why nothing will be safe any more: after a flush that failed nobody knows what is on disk.
    failed: Option<(io::ErrorKind, String)>,
}

impl LogSync {
    /// Takes charge of a log that exists.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn begin(&self, log: &Path) -> io::Result<()> {
        let file = File::options().read(true).write(true).open(log)?;
        let _ = self.log.set(file);
        Ok(())
    }

    /// Waits until everything that was committed before this call is on disk. Without a log it is at once.
    ///
    /// # Errors
    /// What the system said when it could not flush, then and ever after.
    pub fn wait(&self) -> io::Result<()> {
        match self.log.get() {
            Some(log) => self.wait_with(|| log.sync_data()),
            None => Ok(()),
        }
    }

    /// How often the log was flushed.
    pub fn syncs(&self) -> u64 {
        self.turns.lock().flushes
    }

    fn wait_with(&self, flush: impl Fn() -> io::Result<()>) -> io::Result<()> {
        let mut turns = self.turns.lock();
        turns.asked += 1;
        let mine = turns.asked;
        loop {
            if turns.safe >= mine {
                return Ok(());
            }
            if let Some((kind, message)) = &turns.failed {
                return Err(io::Error::new(*kind, message.clone()));
            }
            if turns.flushing {
                self.flushed.wait(&mut turns);
                continue;
            }
            turns.flushing = true;
            let all = turns.asked;
            let outcome = parking_lot::MutexGuard::unlocked(&mut turns, &flush);
            turns.flushing = false;
            turns.flushes += 1;
            match outcome {
                Ok(()) => turns.safe = all,
                Err(error) => turns.failed = Some((error.kind(), error.to_string())),
            }
            self.flushed.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Arc, Barrier, mpsc};

    use super::*;

    #[test]
    fn those_who_wait_meanwhile_share_the_next_flush() {
        let sync = Arc::new(LogSync::default());
        let flushes = Arc::new(AtomicUsize::new(0));
        let (go_on, first_flush) = (Arc::new(Barrier::new(2)), Arc::new(Barrier::new(2)));
        let first = {
            let (sync, flushes, go_on, begun) = (sync.clone(), flushes.clone(), go_on.clone(), first_flush.clone());
            std::thread::spawn(move || {
                sync.wait_with(|| {
                    if flushes.fetch_add(1, Ordering::SeqCst) == 0 {
                        begun.wait();
                        go_on.wait();
                    }
                    Ok(())
                })
            })
        };
        first_flush.wait();
        let others: Vec<_> = (0..8)
            .map(|_| {
                let (sync, flushes) = (sync.clone(), flushes.clone());
                std::thread::spawn(move || {
                    sync.wait_with(|| {
                        flushes.fetch_add(1, Ordering::SeqCst);
                        Ok(())
                    })
                })
            })
            .collect();
        while sync.turns.lock().asked < 9 {
            std::thread::yield_now();
        }
        // What was asked for during a flush is not made safe by it.
        assert_eq!(sync.turns.lock().safe, 0);
        go_on.wait();
        first.join().unwrap().unwrap();
        others.into_iter().for_each(|other| other.join().unwrap().unwrap());
        assert_eq!(flushes.load(Ordering::SeqCst), 2);
    }

    #[test]
    fn a_flush_that_failed_is_final() {
        let sync = Arc::new(LogSync::default());
        let refused = sync.wait_with(|| Err(io::Error::other("the disk is on fire")));
        assert_eq!(refused.unwrap_err().to_string(), "the disk is on fire");
        let (sender, receiver) = mpsc::channel();
        let again = sync.wait_with(|| sender.send(()).map_err(io::Error::other));
        assert_eq!(again.unwrap_err().to_string(), "the disk is on fire");
        assert!(receiver.try_recv().is_err(), "nothing is flushed any more");
    }

    #[test]
    fn nothing_is_acknowledged_after_a_flush_that_failed() {
        let directory = tempfile::tempdir().unwrap();
        let options = crate::Options { create: true, ..crate::Options::default() };
        let database = crate::Database::open(&directory.path().join("app.db"), options).unwrap();
        assert!(database.shared.make_safe().is_ok());
        database.shared.log_sync.turns.lock().failed = Some((io::ErrorKind::Other, "the disk is on fire".into()));
        let mut session = database.session(crate::SessionOptions::new("ada", crate::Language::Postgres));
        let plan = session.prepare("create table t (a int)", &[]).unwrap().unwrap();
        for _ in 0..2 {
            let error = session.execute(&plan, &[]).unwrap_err();
            assert_eq!(error.condition().sqlstate(), "58030");
            assert!(error.message.contains("could not flush"), "{}", error.message);
        }
    }

    #[test]
    fn without_a_log_nothing_waits() {
        LogSync::default().wait().unwrap();
    }
}
