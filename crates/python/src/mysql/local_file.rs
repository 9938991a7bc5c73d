//! LOAD DATA LOCAL: which files the server gets, and their way to it.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rowferry_client::mysql::local_files;
use rowferry_wire_mysql::client::{Client, Event};

use super::driver::{Driver, Operation, Shared, Step, client_errno, gone, misused, out_of_place};
use crate::errors::{Class, error};

/// A file is read and written in pieces of this size.
const PIECE: usize = 256 * 1024;

/// Which files the server may be given.
#[derive(Debug, Default)]
pub enum Allowed {
    /// None.
    #[default]
    Nothing,
    /// Those that the statement names.
    Named,
    /// Those that the statement names, and that are among these files or below these directories.
    Within(Vec<PathBuf>),
}

/// Where the content comes from.
enum Content {
    File(File),
    /// What is pushed by the caller.
    Pushed,
    /// Nothing: the server gets an empty file.
    Refused,
}

/// Files of a connection, whichever operation is under way.
#[derive(Default)]
pub struct LocalFiles {
    allowed: Allowed,
    /// The operation's text may name files.
    named: bool,
    /// The caller pushes the content.
    pushes: bool,
    /// Whatever is asked for is refused, and nobody wants to know.
    is_quiet: bool,
    content: Option<Content>,
    /// Why the server did not get what it asked for, or not all of it: the operation's outcome.
    failed: Option<PyErr>,
    /// The name that was asked for, and whose content the caller will push.
    wanted: Option<Vec<u8>>,
}

/// The path that the server's bytes say.
#[cfg(unix)]
fn named_by(name: &[u8]) -> io::Result<PathBuf> {
    use std::os::unix::ffi::OsStrExt;
    Ok(Path::new(std::ffi::OsStr::from_bytes(name)).to_path_buf())
}

#[cfg(not(unix))]
fn named_by(name: &[u8]) -> io::Result<PathBuf> {
    std::str::from_utf8(name).map(PathBuf::from).map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))
}

/// Opens a regular file. Who has put a link or a pipe in its place meanwhile gains nothing by it.
fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
    }
    options.read(true).open(path)
}

impl LocalFiles {
    pub const fn new(allowed: Allowed) -> Self {
        Self { allowed, named: false, pushes: false, is_quiet: false, content: None, failed: None, wanted: None }
    }

    /// The text of the operation that begins may name files; or content will be pushed for the one that it names.
    pub const fn begin(&mut self, pushes: bool) {
        self.named = true;
        self.pushes = pushes;
    }

    /// Nobody waits for the outcome any more.
    pub const fn refuse_quietly(&mut self) {
        self.is_quiet = true;
    }

    /// The operation is over. Answers what must be raised in place of its outcome.
    pub fn end(&mut self) -> Option<PyErr> {
        self.named = false;
        self.is_quiet = false;
        self.content = None;
        self.failed.take()
    }

    /// The name that waits for the caller's content.
    pub const fn wanted(&mut self) -> Option<Vec<u8>> {
        self.wanted.take()
    }

    /// The server asks for a file. `sql` is what it was told.
    pub fn asked(&mut self, py: Python<'_>, name: Vec<u8>, sql: &[u8], backslash_escapes: bool) {
        if self.is_quiet {
            self.content = Some(Content::Refused);
            return;
        }
        let named = self.named && local_files(sql, backslash_escapes).contains(&name);
        self.content = Some(match self.judge(py, &name, named) {
            Ok(Some(file)) => Content::File(file),
            Ok(None) => {
                self.wanted = Some(name);
                Content::Pushed
            }
            Err(refusal) => {
                self.failed = Some(refusal);
                Content::Refused
            }
        });
    }

    /// The file, `None` for one that is pushed.
    fn judge(&self, py: Python<'_>, name: &[u8], named: bool) -> PyResult<Option<File>> {
        let shown = String::from_utf8_lossy(name);
        let refuse = |why: &str| {
            let message = format!("the server asks for the file '{shown}' of this client: refused, because {why}");
            error(py, Class::Operational, Some(client_errno::LOCAL_FILE_REFUSED), &message)
        };
        if matches!(self.allowed, Allowed::Nothing) {
            return Err(refuse("`local_infile` is not set"));
        }
        if !named {
            return Err(refuse("the statement does not name it"));
        }
        if self.pushes {
            return Ok(None);
        }
        let unreadable = |cause: io::Error| {
            let message = format!("Can't read the local file '{shown}' ({cause})");
            error(py, Class::Operational, Some(FILE_NOT_FOUND), &message)
        };
        // Links are followed first: what counts is where the file is.
        let path = named_by(name).and_then(|path| path.canonicalize()).map_err(unreadable)?;
        if let Allowed::Within(places) = &self.allowed {
            let is_within = |place: &PathBuf| place.canonicalize().is_ok_and(|place| path.starts_with(place));
            if !places.iter().any(is_within) {
                return Err(refuse("it is outside of what `local_infile` allows"));
            }
        }
        // A pipe or a device might keep us waiting for ever.
        if !path.metadata().map_err(unreadable)?.is_file() {
            return Err(refuse("it is no regular file; give its content to `load_data`"));
        }
        open(&path).map(Some).map_err(unreadable)
    }

    /// Sends the next piece, when a file is under way.
    #[inline]
    pub fn advance(&mut self, py: Python<'_>, client: &mut Client) -> PyResult<Option<Step>> {
        match self.content {
            None => Ok(None),
            Some(_) => self.send(py, client).map(Some),
        }
    }

    fn send(&mut self, py: Python<'_>, client: &mut Client) -> PyResult<Step> {
        let mut piece = Vec::new();
        let more = match &mut self.content {
            Some(Content::File(file)) => match py.detach(|| file.take(PIECE as u64).read_to_end(&mut piece)) {
                Ok(count) => count > 0,
                Err(cause) => {
                    let message = format!("reading the local file failed ({cause}); the server has got a part of it");
                    self.failed = Some(error(py, Class::Operational, Some(FILE_NOT_FOUND), &message));
                    false
                }
            },
            Some(Content::Pushed) => {
                self.content = None;
                return Ok(Step::Done(
                    PyBytes::new(py, self.wanted.as_deref().unwrap_or_default()).into_any().unbind(),
                ));
            }
            Some(Content::Refused) | None => false,
        };
        if more {
            client.put_file(&piece).map_err(|misuse| misused(py, misuse))?;
        } else {
            self.content = None;
            client.end_file().map_err(|misuse| misused(py, misuse))?;
        }
        Ok(Step::Flush)
    }
}

/// The server's own number for a file that is not there.
const FILE_NOT_FOUND: u16 = 1017;

/// Writes a piece out.
struct Push {
    is_out: bool,
}

impl Operation for Push {
    fn before(&mut self, py: Python<'_>, client: &mut Client, _: &mut Shared) -> PyResult<Option<Step>> {
        if client.is_closed() {
            return Err(gone(py));
        }
        let step = if self.is_out { Step::Done(py.None()) } else { Step::Flush };
        self.is_out = true;
        Ok(Some(step))
    }

    fn event(&mut self, py: Python<'_>, event: Event<'_>, _: &mut Shared) -> PyResult<Option<Step>> {
        Err(out_of_place(py, &event))
    }

    fn may_be_done(&self) -> bool {
        true
    }
}

impl Driver {
    /// Sends a LOAD DATA LOCAL whose file the caller pushes. The outcome is the name that the server asks for; the
    /// statement's result when it asks for none.
    pub fn begin_file(
        &mut self,
        py: Python<'_>,
        client: &mut Client,
        sql: &Bound<'_, PyAny>,
        args: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        self.query(py, client, sql, args, false)?;
        self.files().begin(true);
        Ok(())
    }

    /// Sends a piece of that file.
    pub fn push_file(&mut self, py: Python<'_>, client: &mut Client, piece: &[u8]) -> PyResult<()> {
        if client.is_closed() {
            return Err(gone(py));
        }
        client.put_file(piece).map_err(|misuse| misused(py, misuse))?;
        self.start(Push { is_out: false });
        Ok(())
    }

    /// Ends that file and waits for the statement's result.
    pub fn end_file(&mut self, py: Python<'_>, client: &mut Client) -> PyResult<()> {
        if client.is_closed() {
            return Err(gone(py));
        }
        client.end_file().map_err(|misuse| misused(py, misuse))?;
        self.resume();
        Ok(())
    }
}
