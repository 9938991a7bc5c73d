//! Whether the file that is served is still the one at its path.
//!
//! SQLite keeps a file open and never looks at its name again. When somebody deletes the file, moves another one over it
//! or copies into it, transactions would go on to be acknowledged into nothing; and since the write-ahead log lies beside
//! the *name*, whoever opens the new file next would write the old file's pages over it. So:
//!
//! | what has happened                          | noticed by                                  | what becomes of the log             |
//! |--------------------------------------------|---------------------------------------------|-------------------------------------|
//! | deleted, moved away, moved over            | device and inode of the path                | set aside; goes into the old file   |
//! | copied over in place                       | written, and the log knows of no checkpoint | set aside; goes nowhere             |
//! | `-wal` or `-shm` deleted or replaced       | device and inode of their paths             | goes into the file, which is ours   |
//! | a page that was mapped is gone              | it was read ([`super::mapped`])             | stays; goes nowhere                 |
//! | any of these after the server was killed   | the note `-rowferry` beside the log         | the start is refused                |
//!
//! There is a look after a commit that checked out the log and at the first statement or commit after [`INTERVAL`]: three
//! `stat` calls. Before each commit between those the file alone is looked at, since what lies in a lost log is not lost. What
//! has been found is final: every statement from then on is refused, and it is logged once.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI64, AtomicU32, AtomicUsize, Ordering};

use libsqlite3_sys as ffi;
use parking_lot::Mutex;
use rowferry_dialect::{Condition, Error, Result};
use rusqlite::Connection;
use rusqlite::config::DbConfig;

use super::connection::Opened;
use super::mapped;
use super::statement::Failure;

/// How long statements that do not commit go without a look, in microseconds.
const INTERVAL: i64 = 100_000;

/// What a file is, whatever it is called.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Id {
    device: u64,
    inode: u64,
}

impl Id {
    fn of(metadata: &Metadata) -> Self {
        Self { device: metadata.dev(), inode: metadata.ino() }
    }

    /// That of the file at a path; `None` when there is none, or no way to know.
    fn at(path: &Path) -> Option<Self> {
        std::fs::metadata(path).ok().as_ref().map(Self::of)
    }
}

/// When the file was written last, in nanoseconds, and how long it is.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
struct Written {
    at: i64,
    length: u64,
}

impl Written {
    fn of(metadata: &Metadata) -> Self {
        Self {
            at: metadata.mtime().wrapping_mul(1_000_000_000).wrapping_add(metadata.mtime_nsec()),
            length: metadata.len(),
        }
    }
}

/// How far the log has been copied into the file: what the index of the log (`-shm`) says.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
struct Progress {
    /// Changes whenever the log begins anew.
    salt: [u32; 2],
    /// Frames that are in the file.
    done: u32,
    /// Frames that a checkpoint has begun to copy. Set before the first is written.
    begun: u32,
}

impl Progress {
    /// Places in the index, as 32-bit words of this machine: `WalIndexHdr.aSalt`, `WalCkptInfo.nBackfill` and
    /// `.nBackfillAttempted` of SQLite's file format.
    const SALT: usize = 32 / 4;
    const DONE: usize = 96 / 4;
    const BEGUN: usize = 128 / 4;
    /// Bytes up to the last of them.
    const BYTES: usize = 136;

    fn read(word: impl Fn(usize) -> u32) -> Self {
        Self { salt: [word(Self::SALT), word(Self::SALT + 1)], done: word(Self::DONE), begun: word(Self::BEGUN) }
    }

    /// True when no checkpoint is under way.
    fn rests(self) -> bool {
        self.done == self.begun
    }
}

/// What has become of the file.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Loss {
    /// Nothing is at its path.
    Gone,
    /// Another file is at its path.
    Replaced,
    /// It was written by something else than SQLite.
    Overwritten,
    /// The log or its index is not at its path; its suffix.
    LogGone(&'static str),
    /// A page of it could not be read where it is mapped.
    Unreadable,
    /// The system could not bring the log to the disk: what is there is not known.
    NotFlushed,
}

impl Loss {
    fn error(self, path: &Path) -> Error {
        let path = path.display();
        let message = match self {
            Self::Gone => format!("the database file \"{path}\" has been deleted or moved away while it is served"),
            Self::Replaced => {
                format!("another file has taken the place of the database file \"{path}\" while it is served")
            }
            Self::Overwritten => {
                format!("the database file \"{path}\" has been overwritten by a program that does not use SQLite")
            }
            Self::LogGone(suffix) => {
                format!("\"{path}{suffix}\" has been deleted or replaced while its database is served")
            }
            Self::Unreadable => {
                return Error::new(
                    Condition::IoError,
                    format!("a part of the database file \"{path}\" could not be read"),
                )
                .detail("It was cut short by another program, or its disk fails. Statements are refused.")
                .hint("Look at the disk and at the file (rowferry check), then start the server again.");
            }
            Self::NotFlushed => {
                return Error::new(Condition::IoError, format!("could not flush \"{path}{WAL}\" to disk"))
                    .detail("Statements are refused; a power failure may lose the last transactions.")
                    .hint("Look at the disk, then start the server again.");
            }
        };
        Error::new(Condition::IoError, message)
            .detail("Statements are refused, and what is at the path is left as it is.")
            .hint("Stop the server before you touch the file; start it again to serve what is at the path now.")
    }

    /// True when the file that is open must not be written any more, not even from its log.
    fn forbids_checkpoint(self) -> bool {
        matches!(self, Self::Overwritten | Self::Unreadable | Self::NotFlushed)
    }
}

/// What there is a look at.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Scope {
    /// The database file.
    File,
    /// And its log, and the log's index.
    Everything,
}

/// Looks after one database file.
#[derive(Debug)]
pub struct FileWatch {
    path: PathBuf,
    /// It lies in a directory of our own, where nobody else has business.
    private: bool,
    lost: OnceLock<Loss>,
    /// When the next look is due, in microseconds since 1970.
    due: AtomicI64,
    /// Pages that were missing, of whatever file, at the last look.
    losses: AtomicUsize,
    /// Those that were missing before the file was opened.
    losses_before: usize,
    keeper: Mutex<Option<Keeper>>,
}

/// The handle that stays open, so that the file's log stays between sessions, and what was known at the last look.
#[derive(Debug)]
struct Keeper {
    connection: Connection,
    main: Id,
    log: Option<Log>,
}

/// What belongs to a file in WAL mode.
#[derive(Debug)]
struct Log {
    wal: Id,
    shm: Id,
    /// The index of the log, mapped by the keeper's connection.
    index: *const AtomicU32,
    progress: Progress,
    written: Written,
    /// Where the log was moved when the file was lost.
    aside: Option<PathBuf>,
}

// SAFETY: the map belongs to the keeper's connection, which stands beside it and is dropped with it; it is only read, by
// atomic loads.
unsafe impl Send for Log {}

impl FileWatch {
    /// A file that nobody watches yet; one in a directory of our own is not looked at.
    pub fn new(path: PathBuf, private: bool) -> Self {
        let losses = mapped::losses();
        Self {
            path,
            private,
            lost: OnceLock::new(),
            due: AtomicI64::new(0),
            losses: AtomicUsize::new(losses),
            losses_before: losses,
            keeper: Mutex::default(),
        }
    }

    /// Begins to watch the file that `connection` has open and has read from; the connection is kept.
    ///
    /// # Errors
    /// `58030` when the file was replaced while it was being opened.
    pub fn begin(&self, Opened(connection): Opened) -> Result<()> {
        let moved = || Loss::Replaced.error(&self.path);
        let metadata = std::fs::metadata(&self.path).map_err(|_| moved())?;
        if has_moved(&connection) {
            return Err(moved());
        }
        let log = match index_of_log(&connection) {
            Some(index) => {
                let id =
                    |suffix| Id::at(&beside(&self.path, suffix)).ok_or_else(|| Loss::LogGone(suffix).error(&self.path));
                Some(Log {
                    wal: id(WAL)?,
                    shm: id(SHM)?,
                    index,
                    progress: Progress::default(),
                    written: Written::of(&metadata),
                    aside: None,
                })
            }
            None => None,
        };
        let mut keeper = Keeper { connection, main: Id::of(&metadata), log };
        if let Some(log) = &mut keeper.log {
            // In this order: a checkpoint in between makes a difference that is explained at the next look.
            log.progress = log.read();
            log.written = std::fs::metadata(&self.path).as_ref().map(Written::of).unwrap_or_default();
            // Only this handle brings the log into the file at the end, since only it asks first whether it may.
            keeper.connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false).map_err(internal)?;
            Note::of(keeper.main, log).write(&self.path);
        }
        *self.keeper.lock() = Some(keeper);
        Ok(())
    }

    /// Works on the handle that stays open, on a file that is still the one that is served; `None` when there is none.
    ///
    /// # Errors
    /// As [`FileWatch::look`].
    pub fn with_connection<T>(&self, work: impl FnOnce(&Connection) -> T) -> Result<Option<T>> {
        self.look()?;
        Ok(self.keeper.lock().as_ref().map(|keeper| work(&keeper.connection)))
    }

    /// True once the file has been opened.
    pub fn is_watched(&self) -> bool {
        self.keeper.lock().is_some()
    }

    /// A look at everything.
    ///
    /// # Errors
    /// `58030` when the file is not the one that is served.
    pub fn look(&self) -> Result<()> {
        self.look_at(Scope::Everything)
    }

    /// A look before a commit.
    ///
    /// # Errors
    /// As [`FileWatch::look`].
    pub fn look_before_commit(&self) -> Result<()> {
        let now = crate::session::state::now();
        self.look_at(if self.falls_due(now) { Scope::Everything } else { Scope::File })
    }

    fn look_at(&self, scope: Scope) -> Result<()> {
        if let Some(loss) = self.lost.get() {
            return Err(loss.error(&self.path));
        }
        if self.private {
            return Ok(());
        }
        let mut keeper = self.keeper.lock();
        let Some(keeper) = keeper.as_mut() else { return Ok(()) };
        self.losses.store(mapped::losses(), Ordering::Relaxed);
        let unreadable = mapped::has_lost(keeper.main.inode, self.losses_before).then_some(Loss::Unreadable);
        match keeper.look(&self.path, scope)?.or(unreadable) {
            None => Ok(()),
            Some(loss) => {
                self.lose(keeper, loss);
                Err(loss.error(&self.path))
            }
        }
    }

    /// After a commit: takes note of what it did to the log, so that what is written next is not put down to it.
    pub fn committed(&self) {
        if self.private {
            return;
        }
        let moved_on = {
            let keeper = self.keeper.lock();
            keeper.as_ref().and_then(|keeper| keeper.log.as_ref()).is_some_and(|log| log.read() != log.progress)
        };
        // Rare: the log has begun anew, or was checked out. What is found wrong is told to the next who asks.
        if moved_on {
            let _ = self.look();
        }
    }

    /// A look if there was none lately. `now` is in microseconds since 1970.
    ///
    /// # Errors
    /// As [`FileWatch::look`].
    #[inline]
    pub fn look_at_times(&self, now: i64) -> Result<()> {
        if self.lost.get().is_none() && !self.falls_due(now) && mapped::losses() == self.losses.load(Ordering::Relaxed)
        {
            return Ok(());
        }
        self.look()
    }

    /// True when there was no look at everything for [`INTERVAL`]: the caller takes one.
    #[inline]
    fn falls_due(&self, now: i64) -> bool {
        let due = self.due.load(Ordering::Relaxed);
        // A clock that was set back must not put the next look off for long.
        if now < due && due - now <= INTERVAL {
            return false;
        }
        self.due.store(now.saturating_add(INTERVAL), Ordering::Relaxed);
        true
    }

    /// The log could not be brought to the disk: statements are refused from now on.
    pub fn could_not_flush(&self, cause: &std::io::Error) -> Error {
        tracing::error!(path = %self.path.display(), %cause, "the log could not be flushed");
        if let Some(keeper) = self.keeper.lock().as_mut() {
            self.lose(keeper, Loss::NotFlushed);
        }
        Loss::NotFlushed.error(&self.path)
    }

    /// Why a handle cannot be used that SQLite itself has found to be on a file that was moved.
    pub fn moved(&self) -> Error {
        self.lost.get().unwrap_or(&Loss::Replaced).error(&self.path)
    }

    /// Says so, once, and keeps the log away from what is at the path now.
    fn lose(&self, keeper: &mut Keeper, loss: Loss) {
        if self.lost.set(loss).is_err() {
            return;
        }
        let error = loss.error(&self.path);
        tracing::error!(path = %self.path.display(), "{}; statements are refused until the server is restarted", error.message);
        // From now on files are removed by us, if at all: SQLite removes them by their names.
        if let Err(error) = keeper.connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true) {
            tracing::error!(%error, "the log cannot be kept");
        }
        match loss {
            Loss::Gone | Loss::Replaced | Loss::Overwritten => keeper.set_log_aside(&self.path),
            // What was acknowledged is safe in the file, even if the server is killed now. Waits for nobody.
            Loss::LogGone(_) => keeper.checkpoint("PASSIVE"),
            // Nor would the file be brought there: recovery goes by the log.
            Loss::NotFlushed | Loss::Unreadable => {}
        }
        remove(&beside(&self.path, NOTE));
    }

    /// Closes the file for good, after the last session. Its log goes into it if it is still the one that is served.
    pub fn close(&self) {
        let Some(mut keeper) = self.keeper.lock().take() else { return };
        if self.lost.get().is_none() {
            match keeper.look(&self.path, Scope::Everything) {
                Ok(None) => {}
                Ok(Some(loss)) => self.lose(&mut keeper, loss),
                Err(error) => tracing::error!(%error, "the database file cannot be looked at"),
            }
        }
        let Some(loss) = self.lost.get() else {
            let had_log = keeper.log.is_some();
            drop(keeper);
            // With the log's end; it stays while another program has the file open.
            if had_log && !beside(&self.path, WAL).exists() {
                remove(&beside(&self.path, NOTE));
            }
            return;
        };
        if loss.forbids_checkpoint() {
            return;
        }
        keeper.checkpoint("TRUNCATE");
        // All of it is in the old file now, wherever that is.
        if let Some(aside) = keeper.log.as_ref().and_then(|log| log.aside.as_deref())
            && std::fs::metadata(aside).is_ok_and(|metadata| metadata.len() == 0)
        {
            remove(aside);
        }
    }
}

impl Keeper {
    /// What has become of the file since the last look.
    fn look(&mut self, path: &Path, scope: Scope) -> Result<Option<Loss>> {
        let progress = self.log.as_ref().map(Log::read);
        let metadata = match std::fs::metadata(path) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Some(Loss::Gone)),
            Err(error) => {
                let message = format!("the database file \"{}\" cannot be looked at: {error}", path.display());
                return Err(Error::new(Condition::IoError, message));
            }
        };
        if Id::of(&metadata) != self.main {
            return Ok(Some(Loss::Replaced));
        }
        let (Some(log), Some(progress)) = (&mut self.log, progress) else { return Ok(None) };
        let written = Written::of(&metadata);
        if written != log.written {
            // In WAL mode nothing but a checkpoint writes to the file, and each says so in the index before it begins.
            if progress == log.progress && progress.rests() && log.read() == progress {
                return Ok(Some(Loss::Overwritten));
            }
        }
        if scope == Scope::Everything {
            for (suffix, id) in [(WAL, log.wal), (SHM, log.shm)] {
                if Id::at(&beside(path, suffix)) != Some(id) {
                    return Ok(Some(Loss::LogGone(suffix)));
                }
            }
        }
        if written != log.written || progress != log.progress {
            log.written = written;
            log.progress = progress;
            Note::of(self.main, log).write(path);
        }
        Ok(None)
    }

    /// Takes the log out of the way of whoever opens what is at the path now.
    fn set_log_aside(&mut self, path: &Path) {
        let Some(log) = &mut self.log else { return };
        let (wal, shm) = (beside(path, WAL), beside(path, SHM));
        if Id::at(&wal) == Some(log.wal) {
            let seconds = crate::session::state::now() / 1_000_000;
            let aside = beside(path, &format!("{WAL}.replaced-{seconds}"));
            match std::fs::rename(&wal, &aside) {
                Ok(()) => {
                    tracing::warn!(path = %aside.display(), "the write-ahead log of the lost database is set aside");
                    log.aside = Some(aside);
                }
                Err(error) => tracing::error!(path = %wal.display(), %error, "the log cannot be set aside"),
            }
        }
        if Id::at(&shm) == Some(log.shm) {
            remove(&shm);
        }
    }

    fn checkpoint(&self, how: &str) {
        if self.log.is_none() {
            return;
        }
        let _ = self.connection.busy_timeout(std::time::Duration::ZERO);
        let done = self.connection.query_row(&format!("PRAGMA wal_checkpoint({how})"), [], |row| row.get::<_, bool>(0));
        match done {
            Ok(false) => {}
            Ok(true) => tracing::warn!("the log could not be brought into the file: it is in use"),
            Err(error) => tracing::error!(%error, "the log could not be brought into the file"),
        }
    }
}

impl Log {
    fn read(&self) -> Progress {
        // SAFETY: the map is 32 KiB long and lives as long as the keeper's connection; words are aligned.
        Progress::read(|word| unsafe { (*self.index.add(word)).load(Ordering::Acquire) })
    }
}

/// What stands beside a file in WAL mode while it is served, and stays when the server is killed: to which file the log
/// belongs. One line of a fixed length, written over in place.
#[derive(Debug, Eq, PartialEq)]
struct Note {
    /// Which start of the machine it was: the index and device numbers mean nothing after the next.
    boot: String,
    main: Id,
    wal: Id,
    written: Written,
    progress: Progress,
}

impl Note {
    fn of(main: Id, log: &Log) -> Self {
        Self { boot: boot(), main, wal: log.wal, written: log.written, progress: log.progress }
    }

    fn write(&self, path: &Path) {
        use std::io::Write as _;
        use std::os::unix::fs::OpenOptionsExt as _;
        let path = beside(path, NOTE);
        let mut options = std::fs::OpenOptions::new();
        let file = options.write(true).create(true).truncate(false).mode(0o600).open(&path);
        if let Err(error) = file.and_then(|mut file| file.write_all(self.to_string().as_bytes())) {
            tracing::debug!(path = %path.display(), %error, "cannot note to which file the log belongs");
        }
    }

    fn read(path: &Path) -> Option<Self> {
        let text = std::fs::read_to_string(beside(path, NOTE)).ok()?;
        let mut words = text.split_ascii_whitespace();
        if (words.next(), words.next()) != (Some("rowferry"), Some("1")) {
            return None;
        }
        let boot = words.next()?.to_owned();
        let mut numbers = words.map(|word| u64::from_str_radix(word, 16).ok());
        let mut number = || numbers.next().flatten();
        Some(Self {
            boot,
            main: Id { device: number()?, inode: number()? },
            wal: Id { device: number()?, inode: number()? },
            written: Written { at: number()?.cast_signed(), length: number()? },
            progress: Progress {
                salt: [u32::try_from(number()?).ok()?, u32::try_from(number()?).ok()?],
                done: u32::try_from(number()?).ok()?,
                begun: u32::try_from(number()?).ok()?,
            },
        })
    }
}

impl std::fmt::Display for Note {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "rowferry 1 {:>36}", self.boot)?;
        let Self { main, wal, written, progress, .. } = self;
        for number in [main.device, main.inode, wal.device, wal.inode, written.at.cast_unsigned(), written.length] {
            write!(f, " {number:016x}")?;
        }
        for number in [progress.salt[0], progress.salt[1], progress.done, progress.begun] {
            write!(f, " {number:08x}")?;
        }
        f.write_str("\n")
    }
}

/// Refuses a file beside which the log of another one lies: SQLite would write the other's pages over it.
///
/// # Errors
/// `58030`, saying what can be done.
pub fn check_log(path: &Path) -> Result<()> {
    let Some(note) = Note::read(path) else { return Ok(()) };
    let (Ok(main), Ok(wal)) = (std::fs::metadata(path), std::fs::metadata(beside(path, WAL))) else { return Ok(()) };
    let same_boot = note.boot == boot();
    let is = |noted: Id, found: Id| noted.inode == found.inode && (!same_boot || noted.device == found.device);
    // A log of somebody else's, or an empty one: not what the note is about.
    if wal.len() == 0 || !is(note.wal, Id::of(&wal)) {
        return Ok(());
    }
    let replaced = !is(note.main, Id::of(&main));
    let overwritten = || same_boot && Written::of(&main) != note.written && index_rests(path, note.progress);
    if !replaced && !overwritten() {
        return Ok(());
    }
    let shown = path.display();
    let what = if replaced { "replaced" } else { "written by another program" };
    Err(Error::new(
        Condition::IoError,
        format!("\"{shown}\" was {what} after the server was killed, and the write-ahead log of the database before lies beside it"),
    )
    .detail(format!("Applying \"{shown}{WAL}\" to another file destroys that file."))
    .hint(format!(
        "To serve the file as it is, remove \"{shown}{WAL}\", \"{shown}{SHM}\" and \"{shown}{NOTE}\". If you know that the log \
         belongs to the file nevertheless, remove \"{shown}{NOTE}\" only."
    )))
}

/// True when the index of a log says that there was no checkpoint since.
fn index_rests(path: &Path, since: Progress) -> bool {
    use std::io::Read as _;
    let mut bytes = [0; Progress::BYTES];
    let read = std::fs::File::open(beside(path, SHM)).and_then(|mut file| file.read_exact(&mut bytes));
    let word = |word: usize| {
        let at = word * 4;
        u32::from_ne_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
    };
    read.is_ok() && since.rests() && Progress::read(word) == since
}

/// The suffixes of what lies beside a file.
const WAL: &str = "-wal";
const SHM: &str = "-shm";
/// Where the log of a file is.
pub fn log_of(path: &Path) -> PathBuf {
    beside(path, WAL)
}

/// Ours: see [`Note`].
pub const NOTE: &str = "-rowferry";

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

fn remove(path: &Path) {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            tracing::warn!(path = %path.display(), %error, "cannot remove a file");
        }
        _ => {}
    }
}

/// Which start of the machine this is; a dash where nobody says.
fn boot() -> String {
    let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let id = id.trim();
    if id.is_empty() { "-".to_owned() } else { id.to_owned() }
}

fn internal(error: rusqlite::Error) -> Error {
    Error::internal(Failure::from(error).message)
}

/// Whether the file that a connection has open is no longer the one at its path, as SQLite sees it.
fn has_moved(connection: &Connection) -> bool {
    let mut moved: std::ffi::c_int = 0;
    // SAFETY: the connection is open and used by this thread only; the control writes an int.
    unsafe {
        let argument = std::ptr::from_mut(&mut moved).cast();
        ffi::sqlite3_file_control(connection.handle(), c"main".as_ptr(), ffi::SQLITE_FCNTL_HAS_MOVED, argument);
    }
    moved != 0
}

/// The index of the log that a connection in WAL mode has mapped: its first part, which never moves. `None` in other modes.
fn index_of_log(connection: &Connection) -> Option<*const AtomicU32> {
    /// `WALINDEX_PGSZ`: SQLite maps the index in pieces of this size.
    const PIECE: std::ffi::c_int = 32 * 1024;
    let mode: String = connection.query_row("PRAGMA main.journal_mode", [], |row| row.get(0)).ok()?;
    if !mode.eq_ignore_ascii_case("wal") {
        return None;
    }
    let mut file: *mut ffi::sqlite3_file = std::ptr::null_mut();
    let mut map: *mut std::ffi::c_void = std::ptr::null_mut();
    // SAFETY: the connection is open, used by this thread only, and has read in WAL mode, so that the piece is mapped:
    // asking for it again (`bExtend` 0) tells where. The methods are SQLite's public interface to its files.
    unsafe {
        let argument = std::ptr::from_mut(&mut file).cast();
        let code =
            ffi::sqlite3_file_control(connection.handle(), c"main".as_ptr(), ffi::SQLITE_FCNTL_FILE_POINTER, argument);
        if code != ffi::SQLITE_OK || file.is_null() || (*file).pMethods.is_null() {
            return None;
        }
        let shm_map = (*(*file).pMethods).xShmMap?;
        if shm_map(file, 0, PIECE, 0, &mut map) != ffi::SQLITE_OK || map.is_null() {
            return None;
        }
    }
    Some(map.cast_const().cast())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_reads_as_it_was_written() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.db");
        let note = Note {
            boot: boot(),
            main: Id { device: 1, inode: u64::MAX },
            wal: Id { device: 1, inode: 3 },
            written: Written { at: -5, length: 4096 },
            progress: Progress { salt: [7, u32::MAX], done: 9, begun: 10 },
        };
        note.write(&path);
        assert_eq!(Note::read(&path), Some(note));
        for text in ["", "rowferry 1 x 1 2", "rowferry 2 x 1 2 3 4 5 6 7 8 9 a", "\u{fffd}"] {
            std::fs::write(beside(&path, NOTE), text).unwrap();
            assert_eq!(Note::read(&path), None, "{text}");
        }
    }
}
