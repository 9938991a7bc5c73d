//! Reading a file through a mapping of it: a page is where the machine has it cached, and no call copies it.
//!
//! What cannot be read there is no error that a call returns, but a signal: a file that somebody has cut short, or a disk
//! that fails. By itself it would end the process. So the page that is missing is replaced by an empty one, the loss is
//! noted, and whoever looks next learns of it: the statement that was reading fails before it yields another row, and
//! the watch ([`super::file_watch`]) refuses all that follow on this file.
//!
//! That is done for mappings of whole files that are only read, as SQLite makes them of a database; any other, the index
//! of a log too, is not ours to judge.

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering};

use libsqlite3_sys as ffi;
use rusqlite::Connection;

/// Pages that were not there when they were read.
static LOSSES: AtomicUsize = AtomicUsize::new(0);
/// The files that they belong to.
static FILES: [Lost; 16] = [const { Lost { inode: AtomicU64::new(0), last: AtomicUsize::new(0) } }; 16];
/// The last page that was missing of a file for which there was no place in [`FILES`].
static OF_OTHERS: AtomicUsize = AtomicUsize::new(0);

/// A file of which pages were missing.
struct Lost {
    /// 0 while nothing is known here.
    inode: AtomicU64,
    /// Which of all [`LOSSES`] was its last.
    last: AtomicUsize,
}
thread_local! {
    /// Those that this thread has read. It needs no first use and no end, so that the handler may count here.
    static OF_THREAD: Cell<usize> = const { Cell::new(0) };
}
/// What handled the signal before: a `sigaction`, for the life of the process.
static FORMER: AtomicPtr<libc::sigaction> = AtomicPtr::new(std::ptr::null_mut());

/// From now on a page that is missing is noted in place of the end of the process. For programs in which nobody else maps
/// files that may be cut short. False where the system cannot do so, and mappings should not be used.
pub fn survive_losses() -> bool {
    static DONE: OnceLock<bool> = OnceLock::new();
    *DONE.get_or_init(|| {
        if !cfg!(target_os = "linux") {
            return false;
        }
        // SAFETY: the structures are zeroed before they are filled, as the system's documentation has it; the handler
        // does only what may be done in one.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) = missing;
            action.sa_sigaction = handler as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESTART;
            libc::sigemptyset(&mut action.sa_mask);
            let former = Box::into_raw(Box::new(std::mem::zeroed::<libc::sigaction>()));
            FORMER.store(former, Ordering::Release);
            libc::sigaction(libc::SIGBUS, &action, former) == 0
        }
    })
}

/// Maps up to so many bytes of a connection's file; SQLite itself has a limit of two GiB.
pub(super) fn map(connection: &Connection, bytes: u64) -> rusqlite::Result<()> {
    let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
    connection.pragma_update(Some("main"), "mmap_size", bytes)?;
    keep(connection);
    Ok(())
}

/// The methods of a file of SQLite's whose mapping stays; SQLite's part comes first.
#[repr(C)]
struct Methods {
    ours: ffi::sqlite3_io_methods,
    theirs: *const ffi::sqlite3_io_methods,
    /// How long the file was when the mapping was last given up.
    length: Cell<i64>,
}

/// Lets a mapping stay while the file is as long as it was.
///
/// SQLite gives it up whenever another handle has committed, since a file may have been cut short and have grown again
/// meanwhile; each reader would then map the file again after each commit, and fault its pages in. A shared mapping shows
/// what is in the file, whatever it was through; only where the file has another length it must be made anew.
fn keep(connection: &Connection) {
    let mut file: *mut ffi::sqlite3_file = std::ptr::null_mut();
    // SAFETY: the connection is open and used by this thread only; the control writes a pointer. The methods are SQLite's
    // public interface to its files; those of ours begin with a copy of them, live until the file is closed, and are
    // taken away then.
    unsafe {
        let argument = std::ptr::from_mut(&mut file).cast();
        let code =
            ffi::sqlite3_file_control(connection.handle(), c"main".as_ptr(), ffi::SQLITE_FCNTL_FILE_POINTER, argument);
        if code != ffi::SQLITE_OK || file.is_null() || (*file).pMethods.is_null() || (*(*file).pMethods).iVersion < 3 {
            return;
        }
        let theirs = (*file).pMethods;
        let mut ours = *theirs;
        ours.xClose = Some(close);
        ours.xUnfetch = Some(give_up);
        let methods = Box::new(Methods { ours, theirs, length: Cell::new(-1) });
        (*file).pMethods = Box::into_raw(methods).cast();
    }
}

/// # Safety
/// The methods of `file` are [`Methods`].
unsafe extern "C" fn close(file: *mut ffi::sqlite3_file) -> c_int {
    // SAFETY: the caller's promise; nobody asks for the methods of a file that is closed.
    unsafe {
        let methods = Box::from_raw((*file).pMethods.cast::<Methods>().cast_mut());
        (*file).pMethods = methods.theirs;
        (*methods.theirs).xClose.map_or(ffi::SQLITE_OK, |close| close(file))
    }
}

/// Gives a page back, or, without a page, the mapping.
///
/// # Safety
/// The methods of `file` are [`Methods`].
unsafe extern "C" fn give_up(file: *mut ffi::sqlite3_file, at: ffi::sqlite3_int64, page: *mut c_void) -> c_int {
    // SAFETY: the caller's promise.
    unsafe {
        let methods = &*(*file).pMethods.cast::<Methods>();
        if page.is_null() {
            let mut length = -1;
            let known = (*methods.theirs).xFileSize.is_some_and(|size| size(file, &mut length) == ffi::SQLITE_OK);
            if known && methods.length.replace(length) == length {
                return ffi::SQLITE_OK;
            }
        }
        (*methods.theirs).xUnfetch.map_or(ffi::SQLITE_OK, |give_up| give_up(file, at, page))
    }
}

/// How many pages were missing so far, of all files.
#[inline]
pub(super) fn losses() -> usize {
    LOSSES.load(Ordering::Acquire)
}

/// How many pages were missing that the thread has read.
#[inline]
pub(super) fn losses_of_thread() -> usize {
    OF_THREAD.get()
}

/// A page of this file was missing since there were so many losses. (Of a file that is gone another may have the inode.)
pub(super) fn has_lost(inode: u64, since: usize) -> bool {
    let of_file =
        |file: &Lost| file.inode.load(Ordering::Acquire) == inode && file.last.load(Ordering::Acquire) > since;
    losses() > since && (OF_OTHERS.load(Ordering::Acquire) > since || FILES.iter().any(of_file))
}

/// Notes a loss; called by the handler.
fn note(inode: u64) {
    let number = LOSSES.fetch_add(1, Ordering::AcqRel) + 1;
    let is_free = |file: &&Lost| file.inode.compare_exchange(0, inode, Ordering::AcqRel, Ordering::Acquire).is_ok();
    let known = FILES.iter().find(|file| file.inode.load(Ordering::Acquire) == inode);
    match known.or_else(|| FILES.iter().find(is_free)) {
        Some(file) => file.last.store(number, Ordering::Release),
        None => OF_OTHERS.store(number, Ordering::Release),
    }
    OF_THREAD.set(OF_THREAD.get().wrapping_add(1));
}

/// Handles the signal: only system calls and atomics.
extern "C" fn missing(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the system hands a valid structure over; the address is read of a signal that has one.
    let (code, address) = unsafe { ((*info).si_code, (*info).si_addr() as usize) };
    if code == libc::BUS_ADRERR
        && let Some(inode) = file_mapped_at(address)
    {
        // SAFETY: the page lies in a mapping that is only read, of which nothing is there to be kept.
        let replaced = unsafe {
            let size = libc::sysconf(libc::_SC_PAGESIZE) as usize;
            let page = (address & !(size - 1)) as *mut c_void;
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED;
            libc::mmap(page, size, libc::PROT_READ, flags, -1, 0) != libc::MAP_FAILED
        };
        if replaced {
            note(inode);
            return;
        }
    }
    pass_on(signal, info, context);
}

/// What was there before decides; it is asked once, since the instruction runs again when it returns.
fn pass_on(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    let former = FORMER.load(Ordering::Acquire);
    // SAFETY: `former` is null or was filled by the system; a handler of three arguments is called as one.
    unsafe {
        if !former.is_null()
            && (*former).sa_flags & libc::SA_SIGINFO != 0
            && (*former).sa_sigaction != libc::SIG_DFL
            && (*former).sa_sigaction != libc::SIG_IGN
        {
            let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) =
                std::mem::transmute((*former).sa_sigaction);
            handler(signal, info, context);
        } else {
            libc::signal(signal, libc::SIG_DFL);
        }
    }
}

/// The inode of the file of which a mapping that is only read, and shared, has the address.
fn file_mapped_at(address: usize) -> Option<u64> {
    // SAFETY: a path that ends with NUL; the descriptor is closed below.
    let maps = unsafe { libc::open(c"/proc/self/maps".as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC) };
    if maps < 0 {
        return None;
    }
    let mut line = Line::default();
    let mut buffer = [0u8; 4096];
    let mut found = None;
    'read: loop {
        // SAFETY: the buffer has so many bytes.
        let read = unsafe { libc::read(maps, buffer.as_mut_ptr().cast(), buffer.len()) };
        let Some(bytes) = usize::try_from(read).ok().filter(|read| *read > 0) else { break };
        for &byte in &buffer[..bytes] {
            if byte != b'\n' {
                line.take(byte);
                continue;
            }
            if line.holds(address) {
                found = line.inode_if_only_read();
                break 'read;
            }
            line = Line::default();
        }
    }
    // SAFETY: it was opened above.
    unsafe { libc::close(maps) };
    found
}

/// A line of `/proc/self/maps`, byte by byte: `7f00-7f10 r--s 00000000 fe:00 1234   /a/path`.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
struct Line {
    start: usize,
    end: usize,
    rights: [u8; 4],
    inode: u64,
    /// Which field is being read, and how much of it was.
    field: usize,
    length: usize,
    /// The last four bytes.
    tail: [u8; 4],
}

impl Line {
    fn take(&mut self, byte: u8) {
        self.tail = [self.tail[1], self.tail[2], self.tail[3], byte];
        let ends = match self.field {
            0 => byte == b'-',
            _ => byte == b' ',
        };
        if ends && self.field < 6 {
            self.field += 1;
            self.length = 0;
            return;
        }
        let digit = (byte as char).to_digit(16).unwrap_or(0);
        match self.field {
            0 => self.start = self.start << 4 | digit as usize,
            1 => self.end = self.end << 4 | digit as usize,
            2 if self.length < 4 => self.rights[self.length] = byte,
            5 => self.inode = self.inode.wrapping_mul(10).wrapping_add(digit.into()),
            _ => {}
        }
        self.length += 1;
    }

    fn holds(&self, address: usize) -> bool {
        (self.start..self.end).contains(&address)
    }

    fn inode_if_only_read(&self) -> Option<u64> {
        (self.rights == *b"r--s" && self.tail != *b"-shm" && self.inode != 0).then_some(self.inode)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> Line {
        let mut line = Line::default();
        text.bytes().for_each(|byte| line.take(byte));
        line
    }

    #[test]
    fn lines_of_maps_are_read() {
        let database = line("7f3c00000000-7f3c00010000 r--s 00000000 fe:00 1234567                    /srv/a b/app.db");
        assert!(database.holds(0x7f3c_0000_0000) && database.holds(0x7f3c_0000_ffff));
        assert!(!database.holds(0x7f3c_0001_0000));
        assert_eq!(database.inode_if_only_read(), Some(1_234_567));
        let index = line("7f3c00000000-7f3c00010000 r--s 00000000 fe:00 99 /srv/app.db-shm");
        assert_eq!(index.inode_if_only_read(), None);
        for other in ["7f00-7f10 rw-s 00000000 fe:00 99 /srv/app.db-shm", "7f00-7f10 r-xp 00000000 fe:00 9 /lib/x.so"] {
            assert_eq!(line(other).inode_if_only_read(), None, "{other}");
        }
        assert_eq!(line("7f00-7f10 r--s 00000000 00:00 0 ").inode_if_only_read(), None);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_page_that_is_gone_is_empty_and_noted() {
        use std::os::fd::AsRawFd as _;
        use std::os::unix::fs::MetadataExt as _;

        // Far more than a page anywhere, before the cut and behind it.
        const LENGTH: usize = 4 << 20;
        const CUT: usize = 1 << 20;
        assert!(survive_losses());
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), vec![7u8; LENGTH]).unwrap();
        let inode = std::fs::metadata(file.path()).unwrap().ino();
        // SAFETY: a mapping of a file that is open, which lies as long as the test.
        let start = unsafe {
            let (rights, flags) = (libc::PROT_READ, libc::MAP_SHARED);
            libc::mmap(std::ptr::null_mut(), LENGTH, rights, flags, file.as_file().as_raw_fd(), 0).cast::<u8>()
        };
        // SAFETY: within the mapping.
        assert_eq!(unsafe { start.add(2 * CUT).read_volatile() }, 7);
        let (before, before_all) = (losses_of_thread(), losses());
        file.as_file().set_len(CUT as u64).unwrap();
        // SAFETY: within the mapping; what the file has no longer is replaced.
        assert_eq!(unsafe { start.add(2 * CUT).read_volatile() }, 0);
        assert_eq!(losses_of_thread(), before + 1);
        for at in (2 * CUT..LENGTH).step_by(4096) {
            // SAFETY: as above.
            assert_eq!(unsafe { start.add(at).read_volatile() }, 0);
        }
        assert!(losses() > before_all);
        assert!(has_lost(inode, before_all));
        assert!(!has_lost(inode, losses()), "a file that was opened later");
        assert!(!has_lost(inode + 1, before_all));
        // SAFETY: as above.
        assert_eq!(unsafe { start.add(100).read_volatile() }, 7);
    }
}
