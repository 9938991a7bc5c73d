//! Files that are whole or not there: an answer gets its name when all of it is written.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::{Handle, Signals};

use crate::{Failure, check_directory_of};

/// A file under a name of its own until [`finish`](Self::finish); when that does not come, it is removed.
pub struct Whole {
    destination: PathBuf,
    /// Nothing where the place is written at once: a pipe, a device.
    partial: Option<Partial>,
}

struct Partial {
    path: PathBuf,
    signals: Handle,
}

impl Whole {
    /// Makes the file beside its place. One that is there stays as it is for now; what is written is as private as it.
    ///
    /// # Errors
    ///
    /// When no file can be made there.
    pub fn create(path: &Path) -> Result<(Self, File), Failure> {
        check_directory_of(path)?;
        let cannot = |error: io::Error| Failure::new(format!("cannot write `{}`: {error}", path.display()));
        // A link stays a link.
        let destination = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let before = std::fs::metadata(&destination).ok();
        if before.as_ref().is_some_and(|found| !found.is_file()) {
            let file = OpenOptions::new().write(true).open(&destination).map_err(cannot)?;
            return Ok((Self { destination, partial: None }, file));
        }
        let name = destination.file_name().unwrap_or_default().to_string_lossy();
        let path = destination.with_file_name(format!(".{name}.{}.partial", std::process::id()));
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        if let Some(found) = &before {
            // No one else may read it before its permissions are those of the one that it replaces.
            options.mode(found.mode() & 0o600);
        }
        let file = options.open(&path).map_err(cannot)?;
        let signals = removing(&path).map_err(|error| {
            let _ = std::fs::remove_file(&path);
            cannot(error)
        })?;
        let whole = Self { destination, partial: Some(Partial { path, signals }) };
        if let Some(found) = &before {
            file.set_permissions(std::fs::Permissions::from_mode(found.mode() & 0o7777)).map_err(cannot)?;
        }
        Ok((whole, file))
    }

    /// Gives it its name.
    ///
    /// # Errors
    ///
    /// When it cannot have it; it is removed then.
    pub fn finish(self) -> Result<(), Failure> {
        let Some(partial) = &self.partial else { return Ok(()) };
        std::fs::rename(&partial.path, &self.destination)
            .map_err(|error| Failure::new(format!("cannot write `{}`: {error}", self.destination.display())))
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        // Renamed, it is no longer there.
        let _ = std::fs::remove_file(&self.path);
        self.signals.close();
    }
}

/// Signals that end the program remove the file first.
fn removing(path: &Path) -> io::Result<Handle> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    let handle = signals.handle();
    let path = path.to_owned();
    std::thread::Builder::new().name("signals".into()).spawn(move || {
        if let Some(signal) = signals.forever().next() {
            let _ = std::fs::remove_file(&path);
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        }
    })?;
    Ok(handle)
}
