//! Commits that wait for the disk together.
//!
//! SQLite writes a commit into the write-ahead log and, with `synchronous=FULL`, waits for the disk while it holds the
//! write lock: whoever wants to commit next waits for that wait, too. Here it does not wait (`synchronous=NORMAL`). A session
//! that has committed passes the write lock on and then waits until the log is on disk up to its commit; those that
//! wait meanwhile share the next flush. The log is written and recovered in order, so a commit that is safe makes those before
//! it safe. Others may see a commit a moment before it is safe.
//!
//! A flush that must also note that the file has grown costs several times one that need not (measured on ext4: 0.2 to 4 ms
//! beside 0.1). So the log is given zeros to grow into, ahead of what is written. SQLite reads a log up to the first frame whose
//! checksum is wrong, and zeros are no frame.

use std::fs::File;
use std::io::{self, Seek as _, SeekFrom};
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::{Condvar, Mutex};

/// A log below this length is left alone: many files see a few commits only.
const RESERVE_FROM: u64 = 64 * 1024;
/// How far ahead of what is written the log is filled at most.
const RESERVE_MOST: u64 = 1024 * 1024;

/// Flushes the log of one database file.
#[derive(Debug, Default)]
pub struct LogSync {
    /// The log. SQLite locks the file and the log's index, never the log: closing this handle takes no lock away.
    log: OnceLock<File>,
    /// How long the log is with the zeros that were last put behind it.
    reserved: AtomicU64,
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

    /// Puts zeros behind a log that has grown beyond those that were there, as many as it has bytes, up to a megabyte. To be
    /// called by whoever holds SQLite's write lock, so that nobody writes behind the log's end meanwhile. The next flush brings
    /// them to the disk; when they cannot be written, the log grows by itself.
    pub fn reserve(&self) {
        let Some(mut log) = self.log.get() else { return };
        // Not `metadata`: it asks for the times, too, and the next write to a file whose times somebody has asked for must note
        // one of its own (Linux 6.13 and newer), which the flush behind it then waits for: half as long again.
        let Ok(length) = log.seek(SeekFrom::End(0)) else { return };
        if length < RESERVE_FROM || length == self.reserved.load(Ordering::Relaxed) {
            return;
        }
        static ZEROS: [u8; 64 * 1024] = [0; 64 * 1024];
        let end = length + length.min(RESERVE_MOST);
        let mut at = length;
        while at < end {
            let part = (end - at).min(ZEROS.len() as u64) as usize;
            match log.write_at(&ZEROS[..part], at) {
                Ok(written) if written > 0 => at += written as u64,
                _ => break,
            }
        }
        self.reserved.store(at, Ordering::Relaxed);
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
    fn a_log_grows_into_zeros_and_is_read_back_after_a_crash() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("app.db");
        let options = crate::Options { create: true, ..crate::Options::default() };
        let database = crate::Database::open(&path, options).unwrap();
        let mut session = database.session(crate::SessionOptions::new("ada", crate::Language::Postgres));
        let mut run = |sql: &str| {
            let plan = session.prepare(sql, &[]).unwrap().unwrap();
            session.execute(&plan, &[]).unwrap();
        };
        run("create table t (a int)");
        let log = super::super::file_watch::log_of(&path);
        let length = || std::fs::metadata(&log).unwrap().len();
        let mut lengths = Vec::new();
        for number in 0..100 {
            run(&format!("insert into t values ({number})"));
            lengths.push(length());
        }
        let grown = lengths.windows(2).filter(|pair| pair[0] >= RESERVE_FROM && pair[0] != pair[1]).count();
        assert!((1..=8).contains(&grown), "{lengths:?}");
        assert!(database.shared.log_sync.reserved.load(Ordering::Relaxed) == length());
        // What a kill would leave: the file and its log, zeros at its end.
        let copy = directory.path().join("copy.db");
        std::fs::copy(&path, &copy).unwrap();
        std::fs::copy(&log, super::super::file_watch::log_of(&copy)).unwrap();
        let recovered = rusqlite::Connection::open(&copy).unwrap();
        let rows = recovered
            .query_row("SELECT count(*), sum(a) FROM t", [], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?)));
        assert_eq!(rows.unwrap(), (100, 4950));
    }

    #[test]
    fn without_a_log_nothing_waits() {
        LogSync::default().wait().unwrap();
    }
}
