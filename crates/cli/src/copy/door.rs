//! A SQLite file through our own PostgreSQL door, in this process: what a file holds is then told and taken by the code that
//! serves it, types, sequences and constraints included.

use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;

use rowferry_client::Url;
use rowferry_engine::{Database, Databases, Journal, Options};
use rowferry_server::auth::{Gate, Users};
use rowferry_server::pg::PgDoor;
use rowferry_server::{Endpoint, Limits, Server, Stopper};

use crate::Failure;

/// The port in the socket's name; nobody listens at it.
const PORT: u16 = 5432;

/// An open door. It closes when this is dropped.
pub(super) struct Door {
    directory: PathBuf,
    database: String,
    stopper: Stopper,
    thread: Option<JoinHandle<()>>,
}

impl Door {
    /// Opens the file; what is only read is left as it is. A file in WAL mode must be opened for writing for that: whoever
    /// may only read cannot tidy up its WAL in the end. Its sessions do not write.
    pub(super) fn open(path: &Path, is_target: bool) -> Result<Self, Failure> {
        let fail = |what: String| Failure::new(format!("cannot open `{}`: {what}", path.display()));
        if is_target {
            crate::check_directory_of(path)?;
        }
        let options = Options {
            journal: if is_target { Journal::Wal } else { Journal::Keep },
            create: is_target,
            read_only: !is_target && std::fs::OpenOptions::new().write(true).open(path).is_err(),
            // Writers of other connections of ours are waited for: a table without a key is one transaction, however long.
            lock_timeout: std::time::Duration::from_secs(86_400),
            ..Options::default()
        };
        let database = Database::open(path, options).map_err(|error| fail(error.message.clone()))?;
        let name = database.name().to_owned();
        let directory = private_directory().map_err(|error| fail(format!("no directory for a socket: {error}")))?;
        let gate = Arc::new(Gate::new(Users::none()));
        let mut server = Server::new(Limits::default(), None).map_err(|error| fail(error.to_string()))?;
        let socket = Endpoint::Unix(directory.join(format!(".s.PGSQL.{PORT}")));
        let door = Arc::new(PgDoor::new(Databases::single(database), gate));
        server.listen(&socket, door, false).map_err(|error| fail(error.to_string()))?;
        let stopper = server.stopper();
        let thread = std::thread::Builder::new()
            .name("door".into())
            .spawn(move || {
                if let Err(error) = server.run() {
                    tracing::error!(%error, "the door to the file failed");
                }
            })
            .map_err(|error| fail(format!("cannot start a thread: {error}")))?;
        Ok(Self { directory, database: name, stopper, thread: Some(thread) })
    }

    /// How our client reaches it.
    pub(super) fn url(&self) -> Result<Url, Failure> {
        let mut url = Url::parse("postgresql://").map_err(|error| Failure::new(error.to_string()))?;
        url.user = "rowferry".into();
        url.database.clone_from(&self.database);
        url.options.push(("host".into(), self.directory.display().to_string()));
        url.options.push(("port".into(), PORT.to_string()));
        Ok(url)
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        self.stopper.stop_now();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        // The server has removed its socket.
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

/// A new directory that nobody else may look into, with a path short enough for a socket.
fn private_directory() -> std::io::Result<PathBuf> {
    remove_those_of_the_dead();
    for attempt in 0.. {
        let path = PathBuf::from("/tmp").join(format!("rowferry-copy-{}-{attempt}", std::process::id()));
        match std::fs::DirBuilder::new().mode(0o700).create(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists && attempt < 1_000 => {}
            made => return made.map(|()| path),
        }
    }
    unreachable!("the range has no end")
}

/// Removes the directories of copies that were killed.
fn remove_those_of_the_dead() {
    let Ok(entries) = std::fs::read_dir("/tmp") else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let process =
            name.to_str().and_then(|name| name.strip_prefix("rowferry-copy-")?.split('-').next()?.parse().ok());
        let is_dead = process.is_some_and(|process: u32| !Path::new("/proc").join(process.to_string()).exists());
        if is_dead && Path::new("/proc/self").exists() {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}
