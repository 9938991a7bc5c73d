//! A unix socket's name in the file system, and the lock beside it.
//!
//! The name outlives a server that is killed, and a name can be taken from a server that lives. So whoever listens holds
//! a lock on the file `NAME.lock` beside it, as long as it listens; the kernel gives the lock back whatever happens. The
//! process id in the file is what PostgreSQL's own servers look at.

use std::fs::{File, Metadata};
use std::io::{self, ErrorKind, Write as _};
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

/// How often to try again when the lock file is taken away between opening and locking it.
const TRIES: usize = 10;

/// A socket's name, gone with this value; the lock, too.
#[derive(Debug)]
pub(crate) struct SocketFile {
    path: PathBuf,
    /// Which file of this name is ours.
    id: (u64, u64),
    lock: PathBuf,
    #[allow(dead_code, reason = "held for the lock on it")]
    file: File,
}

impl SocketFile {
    /// Listens at `path`. The name of a server that is no more is taken over; that of one that lives is `AddrInUse`.
    pub(crate) fn bind(path: &Path, open_to_all: bool) -> io::Result<(UnixListener, Self)> {
        let mut lock = path.as_os_str().to_owned();
        lock.push(".lock");
        let lock = PathBuf::from(lock);
        let mut file = take_lock(&lock)?;
        // From here on no server of ours is in the way; one of others answers.
        let bound = match UnixListener::bind(path) {
            Err(error) if error.kind() == ErrorKind::AddrInUse => {
                if UnixStream::connect(path).is_ok() {
                    Err(error)
                } else {
                    std::fs::remove_file(path).and_then(|()| UnixListener::bind(path))
                }
            }
            other => other,
        };
        let prepared = bound.and_then(|listener| {
            let mode = if open_to_all { 0o777 } else { 0o700 };
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode))?;
            listener.set_nonblocking(true)?;
            file.set_len(0)?;
            writeln!(file, "{}", std::process::id())?;
            Ok((listener, id(&std::fs::symlink_metadata(path)?)))
        });
        match prepared {
            Ok((listener, id)) => Ok((listener, Self { path: path.to_owned(), id, lock, file })),
            Err(error) => {
                let _ = std::fs::remove_file(&lock);
                Err(error)
            }
        }
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        // Somebody else may have put another socket there.
        if std::fs::symlink_metadata(&self.path).is_ok_and(|found| id(&found) == self.id) {
            let _ = std::fs::remove_file(&self.path);
        }
        // While it is locked: a server that comes now and has opened it sees that it is gone, and makes another.
        let _ = std::fs::remove_file(&self.lock);
    }
}

fn id(metadata: &Metadata) -> (u64, u64) {
    (metadata.dev(), metadata.ino())
}

/// The lock file, locked; `AddrInUse` when a server has it.
fn take_lock(path: &Path) -> io::Result<File> {
    for _ in 0..TRIES {
        let mut options = File::options();
        let file = options.read(true).write(true).create(true).truncate(false).mode(0o600).open(path)?;
        // SAFETY: a plain system call on a descriptor that is open.
        if unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } != 0 {
            let error = io::Error::last_os_error();
            return Err(if error.kind() == ErrorKind::WouldBlock { ErrorKind::AddrInUse.into() } else { error });
        }
        // It may have been removed by its last owner before we had it.
        if std::fs::metadata(path).is_ok_and(|found| file.metadata().is_ok_and(|ours| id(&ours) == id(&found))) {
            return Ok(file);
        }
    }
    Err(ErrorKind::AddrInUse.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_taken_over_from_the_dead_and_not_from_the_living() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(".s.PGSQL.5432");
        let lock = directory.path().join(".s.PGSQL.5432.lock");
        // Killed: both names are there, nobody listens or holds the lock.
        drop(UnixListener::bind(&path).unwrap());
        std::fs::write(&lock, "1\n").unwrap();
        let (_listener, file) = SocketFile::bind(&path, false).unwrap();
        assert_eq!(std::fs::read_to_string(&lock).unwrap(), format!("{}\n", std::process::id()));
        assert_eq!(SocketFile::bind(&path, false).unwrap_err().kind(), ErrorKind::AddrInUse);
        assert!(UnixStream::connect(&path).is_ok());
        drop(file);
        assert!(!path.exists() && !lock.exists());
    }

    #[test]
    fn a_socket_of_somebody_else_is_left_alone() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("socket");
        let (_listener, file) = SocketFile::bind(&path, false).unwrap();
        std::fs::remove_file(&path).unwrap();
        let other = UnixListener::bind(&path).unwrap();
        drop(file);
        assert!(path.exists());
        // A server that is not ours holds no lock, but answers.
        assert_eq!(SocketFile::bind(&path, false).unwrap_err().kind(), ErrorKind::AddrInUse);
        assert!(!directory.path().join("socket.lock").exists());
        drop(other);
    }
}
