//! The moment as of which the source is read, and the connections that read it.
//!
//! | way      | who reads                                                                                       |
//! |----------|-------------------------------------------------------------------------------------------------|
//! | `Each`   | several connections, each statement at its own time                                             |
//! | `Shared` | several connections, all in the snapshot that one more of them, the keeper, holds and has named |
//! | `Alone`  | one connection, all of whose statements stand in one transaction                                |
//!
//! A reader that is lost in a shared moment is replaced by another one that joins it; a lone one takes its moment along.

use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use clap::ValueEnum;

use super::model::Kind;
use super::peer::{Peer, Place, Trouble};
use crate::Failure;
use crate::stop::Stop;

/// As of when the rows are read.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(super) enum AsOf {
    /// One moment where the source has that for several connections at once, else each table at its own time
    Any,
    /// One moment, through one connection where it must be; what cannot is refused
    One,
    /// Each table, and each part of it, at its own time
    Each,
}

/// How long somebody waits for a reader before the stop is looked at again.
const PAUSE: Duration = Duration::from_millis(100);

/// How often the keeper is asked whether it is still there.
const LOOK: Duration = Duration::from_secs(30);

/// How often a moment is taken anew that nobody could join.
const ATTEMPTS: usize = 10;

enum Way {
    Each,
    Shared { keeper: Box<dyn Peer>, name: String, seen: Instant },
    Alone,
}

struct Held {
    way: Way,
    idle: Vec<Box<dyn Peer>>,
    /// Those that there are, idle or lent.
    readers: usize,
    /// So many there may be.
    most: usize,
    /// Why it is not one moment.
    why_not: Option<String>,
}

/// The moment as of which the source is read, and its readers.
pub(super) struct Moment<'a> {
    from: &'a Place,
    stop: &'a Stop,
    as_of: AsOf,
    jobs: usize,
    held: Mutex<Held>,
    freed: Condvar,
}

impl<'a> Moment<'a> {
    /// Every statement reads what is there at its own time.
    pub(super) fn each(from: &'a Place, stop: &'a Stop, jobs: usize, why_not: Option<String>) -> Self {
        let held = Held { way: Way::Each, idle: Vec::new(), readers: 0, most: jobs, why_not };
        Self { from, stop, as_of: AsOf::Each, jobs, held: Mutex::new(held), freed: Condvar::new() }
    }

    /// Takes the moment, which is now, for these tables.
    pub(super) fn take(
        from: &'a Place,
        stop: &'a Stop,
        as_of: AsOf,
        jobs: usize,
        tables: &[&str],
    ) -> Result<Self, Trouble> {
        let moment = Self { as_of, ..Self::each(from, stop, jobs, None) };
        if as_of != AsOf::Each {
            let mut attempt = 1;
            while !moment.begin(tables, attempt == ATTEMPTS)? {
                attempt += 1;
            }
        }
        Ok(moment)
    }

    /// Begins it; false when nobody could join and it is to be tried again.
    fn begin(&self, tables: &[&str], is_last: bool) -> Result<bool, Trouble> {
        let mut peer = self.from.open(self.stop)?;
        if let Some(why) = refused(peer.keep_moment(tables))? {
            return self.not_one(self.lock(), why).map(|()| true);
        }
        let why = match peer.share_moment() {
            Ok(name) => {
                let mut held = self.lock();
                // A connection that is not to be had now is asked for again when it is needed.
                while held.readers < self.jobs
                    && let Ok(mut reader) = self.from.open(self.stop)
                {
                    match refused(reader.join_moment(&name))? {
                        None => {
                            held.idle.push(reader);
                            held.readers += 1;
                        }
                        Some(why) if is_last => {
                            return self.not_one(held, why).map(|()| true);
                        }
                        // Of a file that had not been written to since it was opened, and is now.
                        Some(_) => {
                            held.idle.clear();
                            held.readers = 0;
                            return Ok(false);
                        }
                    }
                }
                if held.readers == 0 {
                    // The server has no connection more: whoever would keep it reads.
                    (held.way, held.idle, held.readers, held.most) = (Way::Alone, vec![peer], 1, 1);
                } else {
                    held.way = Way::Shared { keeper: peer, name, seen: Instant::now() };
                }
                return Ok(true);
            }
            Err(Trouble::Failed(failure)) => first_line(&failure),
            Err(other) => return Err(other),
        };
        // Those who write to a file without a write-ahead log wait as long as somebody reads: only for those who ask for it.
        if self.as_of == AsOf::Any && (self.jobs > 1 || self.from.kind == Kind::Sqlite) {
            let why = format!("{why}; --as-of one reads through one connection");
            return self.not_one(self.lock(), why).map(|()| true);
        }
        peer.run("ROLLBACK")?;
        if let Some(why) = refused(peer.keep_moment(tables))? {
            return self.not_one(self.lock(), why).map(|()| true);
        }
        let mut held = self.lock();
        (held.way, held.idle, held.readers, held.most) = (Way::Alone, vec![peer], 1, 1);
        Ok(true)
    }

    fn lock(&self) -> MutexGuard<'_, Held> {
        // What a thread that panicked has left is as it was before.
        self.held.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// It is not one moment, or not any more.
    fn not_one(&self, mut held: MutexGuard<'_, Held>, why: String) -> Result<(), Trouble> {
        held.readers -= held.idle.len();
        held.idle.clear();
        (held.way, held.most) = (Way::Each, self.jobs);
        held.why_not.get_or_insert(why);
        self.freed.notify_all();
        self.still_may(&held)
    }

    /// Whoever wants one moment has it.
    fn still_may(&self, held: &Held) -> Result<(), Trouble> {
        match &held.why_not {
            Some(why) if self.as_of == AsOf::One => {
                Err(Failure::new(format!("{}: the rows cannot be read as of one moment: {why}", self.from.shown))
                    .into())
            }
            _ => Ok(()),
        }
    }

    /// True where the moment goes with its only reader.
    pub(super) fn is_alone(&self) -> bool {
        matches!(self.lock().way, Way::Alone)
    }

    /// Reads with a connection of its own, which is waited for. `go_on` says whether it is still worth it.
    pub(super) fn read<T>(
        &self,
        go_on: &dyn Fn() -> Result<(), Trouble>,
        work: impl FnOnce(&mut Box<dyn Peer>) -> Result<T, Trouble>,
    ) -> Result<T, Trouble> {
        let (mut peer, joined) = self.reader(go_on)?;
        let done = work(&mut peer);
        let mut held = self.lock();
        match &done {
            Ok(_) if joined == !matches!(held.way, Way::Each) => held.idle.push(peer),
            // It is of a moment that is over.
            Ok(_) => held.readers -= 1,
            Err(Trouble::Lost(why)) => {
                held.readers -= 1;
                if matches!(held.way, Way::Alone) {
                    let why = format!("the connection that read it was lost: {why}");
                    self.not_one(held, why)?;
                }
            }
            // The copy ends.
            Err(_) => {}
        }
        self.freed.notify_all();
        done
    }

    /// A connection to read with, and whether it is of the moment.
    fn reader(&self, go_on: &dyn Fn() -> Result<(), Trouble>) -> Result<(Box<dyn Peer>, bool), Trouble> {
        loop {
            go_on()?;
            self.look_after_keeper()?;
            let mut held = self.lock();
            self.still_may(&held)?;
            let joined = !matches!(held.way, Way::Each);
            if let Some(peer) = held.idle.pop() {
                return Ok((peer, joined));
            }
            if held.readers >= held.most {
                drop(self.freed.wait_timeout(held, PAUSE));
                continue;
            }
            held.readers += 1;
            let name = if let Way::Shared { name, .. } = &held.way { Some(name.clone()) } else { None };
            drop(held);
            let opened = self.from.open(self.stop).and_then(|mut peer| match &name {
                Some(name) => Ok(refused(peer.join_moment(name))?.map_or(Ok(peer), Err)),
                None => Ok(Ok(peer)),
            });
            match opened {
                Ok(Ok(peer)) => return Ok((peer, joined)),
                Ok(Err(why)) => {
                    let mut held = self.lock();
                    held.readers -= 1;
                    self.not_one(held, why)?;
                }
                Err(trouble) => {
                    let mut held = self.lock();
                    held.readers -= 1;
                    // The server lets no more in: those that there are do it.
                    if held.readers == 0 || !matches!(trouble, Trouble::Failed(_)) {
                        return Err(trouble);
                    }
                    held.most = held.readers;
                }
            }
        }
    }

    /// Asks the keeper from time to time whether it is still there, which also keeps those between from ending its connection.
    fn look_after_keeper(&self) -> Result<(), Trouble> {
        let mut held = self.lock();
        let Way::Shared { keeper, seen, .. } = &mut held.way else { return Ok(()) };
        if seen.elapsed() < LOOK {
            return Ok(());
        }
        *seen = Instant::now();
        match keeper.ask("SELECT 1") {
            Ok(_) => Ok(()),
            Err(Trouble::Stopped) => Err(Trouble::Stopped),
            Err(Trouble::Lost(why) | Trouble::Failed(Failure { message: why, .. })) => {
                self.not_one(held, format!("the connection that kept it was lost: {why}"))
            }
        }
    }

    /// All is read: whether that was as of one moment.
    pub(super) fn end(&self) -> Result<bool, Trouble> {
        if let Way::Shared { seen, .. } = &mut self.lock().way {
            *seen = Instant::now().checked_sub(LOOK).unwrap_or(*seen);
        }
        self.look_after_keeper()?;
        let held = self.lock();
        self.still_may(&held)?;
        Ok(!matches!(held.way, Way::Each))
    }

    /// Why it is not one moment, where that was not what was wanted.
    pub(super) fn why_not(&self) -> Option<String> {
        self.lock().why_not.clone()
    }
}

/// What the server says against it, where that is all there is against it.
fn refused(done: Result<(), Trouble>) -> Result<Option<String>, Trouble> {
    match done {
        Ok(()) => Ok(None),
        Err(Trouble::Failed(failure)) => Ok(Some(first_line(&failure))),
        Err(other) => Err(other),
    }
}

/// It becomes a part of a sentence.
fn first_line(failure: &Failure) -> String {
    crate::output::visible(failure.message.lines().next().unwrap_or_default())
}
