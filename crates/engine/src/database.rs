//! One database file.

use std::path::Path;
use std::sync::Arc;

use rowferry_dialect::Result;

use crate::{Options, Session, SessionOptions};

/// One database file, shared by all its sessions. Cloning is cheap.
#[derive(Clone, Debug)]
pub struct Database {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    name: String,
}

impl Database {
    /// Opens a file.
    ///
    /// # Errors
    /// `58P01` when there is none and `options.create` is false; `XX001` when it is not a SQLite database.
    pub fn open(path: &Path, _options: Options) -> Result<Self> {
        let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        Ok(Self { shared: Arc::new(Shared { name }) })
    }

    /// A new database that is gone with the last handle to it.
    pub fn memory(name: &str, _options: Options) -> Result<Self> {
        Ok(Self { shared: Arc::new(Shared { name: name.to_owned() }) })
    }

    /// Begins a session; SQLite's handle is opened at the first statement.
    pub fn session(&self, options: SessionOptions) -> Session {
        Session::new(self.clone(), options)
    }

    /// The database's name: the file's, without its extension.
    pub fn name(&self) -> &str {
        &self.shared.name
    }
}
