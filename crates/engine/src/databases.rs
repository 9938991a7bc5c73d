//! Databases by name: the one that is served, and the files of a directory beside it.
//!
//! A database of the directory is the file `NAME.db` in it. What its transactions are (Informix asks for that when a
//! database is made) stands in the file's `application_id`; a file of somebody else's is a database with a log.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use rowferry_dialect::informix::Logging;
use rowferry_dialect::{Condition, Error, Result};

use crate::backend::file_watch::NOTE;
use crate::{Database, Options};

/// What a database's file is called behind its name.
const EXTENSION: &str = "db";
/// The longest name, as in Informix.
const MAX_NAME: usize = 128;
/// `application_id` of a database without a log is this, of the others this plus a number: "Rf" and two bytes.
const MARK: i32 = 0x5266_0000;

/// All databases of a server. Cloning is cheap.
#[derive(Clone, Debug)]
pub struct Databases {
    shared: Arc<Shared>,
}

/// What knows the databases beside one, without keeping them.
#[derive(Clone, Debug, Default)]
pub struct Siblings(Weak<Shared>);

#[derive(Debug)]
struct Shared {
    main: Database,
    directory: Option<PathBuf>,
    options: Options,
    /// Those of the directory that have been opened.
    open: Mutex<HashMap<String, Database>>,
}

impl Databases {
    /// One database; others cannot be made.
    pub fn single(main: Database) -> Self {
        Self::of(main, None, Options::default())
    }

    /// A database and those of a directory, which are opened with `options`.
    pub fn with_directory(main: Database, directory: PathBuf, options: Options) -> Self {
        Self::of(main, Some(directory), options)
    }

    fn of(main: Database, directory: Option<PathBuf>, options: Options) -> Self {
        let shared = Arc::new(Shared { main, directory, options, open: Mutex::default() });
        shared.main.shared.siblings.set(Siblings(Arc::downgrade(&shared))).ok();
        Self { shared }
    }

    /// The database that is always there.
    pub fn main(&self) -> &Database {
        &self.shared.main
    }

    /// The database of a name.
    ///
    /// # Errors
    /// `3D000` (-329) when there is none, and whatever opening its file fails with.
    pub fn open(&self, name: &str) -> Result<Database> {
        if name == self.main().name() {
            return Ok(self.main().clone());
        }
        let path = self.shared.path(name).filter(|path| path.is_file()).ok_or_else(|| missing(name))?;
        let mut open = self.shared.open.lock();
        if let Some(database) = open.get(name) {
            return Ok(database.clone());
        }
        let logging = logging_of(&path)?;
        self.shared.keep(&mut open, name, &path, logging)
    }

    /// Names of all databases, in order, with what their transactions are.
    pub fn list(&self) -> Vec<(String, Logging)> {
        self.shared.list()
    }

    /// Makes a database.
    ///
    /// # Errors
    /// `42P04` (-330) when there is one of this name, `0A000` when the server has no directory for others, `42602` for a
    /// name that cannot be one.
    pub fn create(&self, name: &str, logging: Logging) -> Result<Database> {
        if name == self.main().name() {
            return Err(exists(name));
        }
        let Some(directory) = &self.shared.directory else {
            return Err(Error::new(
                Condition::FeatureNotSupported,
                "CREATE DATABASE needs a place for its file: start the server with --databases DIRECTORY",
            ));
        };
        if self.shared.options.read_only {
            return Err(Error::new(Condition::ReadOnlySqlTransaction, "the server does not write"));
        }
        if !is_name(name) {
            return Err(Error::new(Condition::InvalidName, format!("\"{name}\" cannot be a database's name")));
        }
        let path = directory.join(format!("{name}.{EXTENSION}"));
        let mut open = self.shared.open.lock();
        // Whoever makes the file has made the database.
        match std::fs::File::create_new(&path) {
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => return Err(exists(name)),
            Err(error) => {
                return Err(Error::new(
                    Condition::IoError,
                    format!("could not create \"{}\": {error}", path.display()),
                ));
            }
        }
        let made = mark(&path, logging).and_then(|()| self.shared.keep(&mut open, name, &path, logging));
        if made.is_err() {
            // The file is ours and empty: nothing is lost with it.
            let _ = std::fs::remove_file(&path);
        }
        made
    }

    /// Removes a database and its files.
    ///
    /// # Errors
    /// `3D000` (-329) when there is none, `55006` when it has sessions or is the one that is served.
    pub fn drop(&self, name: &str) -> Result<()> {
        let used = || Error::new(Condition::DatabaseInUse, format!("database {name} is in use")).table("", name);
        if name == self.main().name() {
            return Err(used());
        }
        let path = self.shared.path(name).filter(|path| path.is_file()).ok_or_else(|| missing(name))?;
        let mut open = self.shared.open.lock();
        if open.get(name).is_some_and(|database| database.sessions() > 0) {
            return Err(used());
        }
        if self.shared.options.read_only {
            return Err(Error::new(Condition::ReadOnlySqlTransaction, "the server does not write"));
        }
        open.remove(name);
        let removed = std::fs::remove_file(&path);
        for suffix in ["-wal", "-shm", NOTE] {
            let mut beside = path.clone().into_os_string();
            beside.push(suffix);
            // Most often SQLite has removed them already.
            let _ = std::fs::remove_file(beside);
        }
        removed.map_err(|error| {
            Error::new(Condition::IoError, format!("could not remove \"{}\": {error}", path.display()))
        })
    }
}

impl Siblings {
    /// All databases; none when nobody serves them any more.
    pub fn list(&self) -> Vec<(String, Logging)> {
        self.0.upgrade().map(|shared| shared.list()).unwrap_or_default()
    }
}

impl Shared {
    fn path(&self, name: &str) -> Option<PathBuf> {
        let directory = self.directory.as_ref()?;
        is_name(name).then(|| directory.join(format!("{name}.{EXTENSION}")))
    }

    fn keep(
        self: &Arc<Self>,
        open: &mut HashMap<String, Database>,
        name: &str,
        path: &Path,
        logging: Logging,
    ) -> Result<Database> {
        let options = Options { logging, create: false, ..self.options.clone() };
        let database = Database::open(path, options)?;
        database.shared.siblings.set(Siblings(Arc::downgrade(self))).ok();
        open.insert(name.to_owned(), database.clone());
        Ok(database)
    }

    fn list(&self) -> Vec<(String, Logging)> {
        let mut found = vec![(self.main.name().to_owned(), self.main.logging())];
        let entries = self.directory.iter().filter_map(|directory| std::fs::read_dir(directory).ok()).flatten();
        for entry in entries.filter_map(std::result::Result::ok) {
            let path = entry.path();
            let name = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
            let is_ours = path.extension().is_some_and(|extension| extension == EXTENSION) && is_name(name);
            if !is_ours || name == self.main.name() {
                continue;
            }
            // One that is open here is not opened again: with any descriptor of it that is closed, the locks go that
            // SQLite holds in this process, and another program may take the log away.
            let known = self.open.lock().get(name).map(Database::logging);
            // A file that cannot be read is no database.
            if let Ok(logging) = known.map_or_else(|| logging_of(&path), Ok) {
                found.push((name.to_owned(), logging));
            }
        }
        found.sort_by(|a, b| a.0.cmp(&b.0));
        found
    }
}

/// Letters, digits and underscores: a name leads nowhere but into the directory.
fn is_name(name: &str) -> bool {
    let begins = name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_');
    begins && name.len() <= MAX_NAME && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

fn missing(name: &str) -> Error {
    Error::new(Condition::InvalidCatalogName, format!("database {name} is not served here")).table("", name)
}

fn exists(name: &str) -> Error {
    Error::new(Condition::DuplicateDatabase, format!("database {name} exists")).table("", name)
}

/// What transactions of a file are: four bytes of its header, so that nothing has to be opened.
fn logging_of(path: &Path) -> Result<Logging> {
    use std::io::Read as _;
    let mut header = Vec::with_capacity(72);
    let failed = |error: std::io::Error| {
        Error::new(Condition::IoError, format!("could not read \"{}\": {error}", path.display()))
    };
    std::fs::File::open(path).map_err(failed)?.take(72).read_to_end(&mut header).map_err(failed)?;
    if !header.is_empty() && !header.starts_with(b"SQLite format 3\0") {
        return Err(Error::new(Condition::IoError, format!("\"{}\" is no SQLite database", path.display())));
    }
    let id = header.get(68..72).map(|bytes| i32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]));
    Ok(match id.unwrap_or_default().wrapping_sub(MARK) {
        0 => Logging::None,
        2 => Logging::Buffered,
        3 => Logging::Ansi,
        _ => Logging::Log,
    })
}

fn mark(path: &Path, logging: Logging) -> Result<()> {
    let number = match logging {
        Logging::None => 0,
        Logging::Log => 1,
        Logging::Buffered => 2,
        Logging::Ansi => 3,
    };
    let marked = rusqlite::Connection::open(path)
        .and_then(|connection| connection.pragma_update(None, "application_id", MARK + number));
    marked.map_err(|error| Error::new(Condition::IoError, format!("could not write \"{}\": {error}", path.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn databases_are_made_found_again_and_dropped() {
        let directory = tempfile::tempdir().unwrap();
        let main = Database::memory("main", Options::default()).unwrap();
        let databases = Databases::with_directory(main.clone(), directory.path().into(), Options::default());
        for (name, logging) in [("plain", Logging::None), ("logged", Logging::Log), ("ansi", Logging::Ansi)] {
            assert_eq!(databases.create(name, logging).unwrap().logging(), logging);
        }
        let listed = |databases: &Databases| databases.list().into_iter().map(|(name, _)| name).collect::<Vec<_>>();
        assert_eq!(listed(&databases), ["ansi", "logged", "main", "plain"]);
        assert_eq!(databases.create("plain", Logging::Log).unwrap_err().condition().informix_code(), -330);
        drop(databases);
        let databases = Databases::with_directory(main, directory.path().into(), Options::default());
        assert_eq!(databases.open("plain").unwrap().logging(), Logging::None);
        assert_eq!(databases.open("ansi").unwrap().logging(), Logging::Ansi);
        databases.drop("plain").unwrap();
        assert_eq!(databases.open("plain").unwrap_err().condition().informix_code(), -329);
        assert_eq!(listed(&databases), ["ansi", "logged", "main"]);
    }

    #[test]
    fn a_name_leads_nowhere_else() {
        let directory = tempfile::tempdir().unwrap();
        let main = Database::memory("main", Options::default()).unwrap();
        let databases = Databases::with_directory(main.clone(), directory.path().into(), Options::default());
        for name in ["../x", "a/b", "", ".", "a.b", "x\0", "Ünder"] {
            assert!(databases.create(name, Logging::Log).is_err(), "{name}");
            assert!(databases.open(name).is_err(), "{name}");
        }
        assert!(Databases::single(main).create("x", Logging::Log).is_err());
    }
}
