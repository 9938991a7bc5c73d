//! Databases by name: the one that is served, and the files of a directory beside it.
//!
//! A database of the directory is the file `NAME.db` in it, where all but small letters, digits, `_` and `-` is written
//! `%XX`. What its transactions are (Informix asks for that when a database is made) stands in the file's header; a file of
//! somebody else's is a database with a log.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use rowferry_dialect::informix::Logging;
use rowferry_dialect::{Condition, Error, Result};

use crate::backend::{BESIDE, logging_of, set_logging, whole_files};
use crate::database::Shared as Opened;
use crate::{Database, Options};

/// What a database's file is called behind its name.
const EXTENSION: &str = "db";
/// The longest name, as in Informix.
const MAX_NAME: usize = 128;
/// The longest name of a file, without its extension and what is put behind that.
const MAX_FILE_NAME: usize = 240;
/// How long a database that is to go waits for its last sessions to end.
const LEAVE_TIME: Duration = Duration::from_millis(300);
/// Object ids of the databases of a directory begin here: far above those of what is in them.
const FIRST_OID: u32 = 3_000_000_000;

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
    /// Those that are being made.
    making: Mutex<HashSet<String>>,
}

/// What a new database begins as.
#[derive(Clone, Debug)]
pub struct Beginning<'a> {
    /// What is in it: this one's contents, or (`None`) nothing.
    pub template: Option<&'a Database>,
    /// Whose roles it has when nothing else is in it.
    pub roles_of: &'a Database,
    /// The role whose it is, where there are roles.
    pub owner: &'a str,
    /// What is said of it.
    pub facts: &'a [(&'static str, Option<String>)],
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
        let (open, making) = Default::default();
        let shared = Arc::new(Shared { main, directory, options, open, making });
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
        let path = self.shared.existing(name)?;
        let mut open = self.shared.open.lock();
        if let Some(database) = open.get(name) {
            return Ok(database.clone());
        }
        let logging = logging_of(&path)?;
        self.shared.keep(&mut open, name, &path, logging)
    }

    /// The object id of a database by its name, for a directory has no other order that stays.
    pub(crate) fn oid(&self, name: &str) -> u32 {
        if name == self.main().name() { crate::catalog::DATABASE } else { oid_of(name) }
    }

    /// Those that are open in this process.
    pub(crate) fn opened(&self) -> Vec<Arc<Opened>> {
        let main = std::iter::once(self.main().shared.clone());
        main.chain(self.shared.open.lock().values().map(|database| database.shared.clone())).collect()
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
        if !is_plain(name) {
            return Err(Error::new(Condition::InvalidName, format!("\"{name}\" cannot be a database's name")));
        }
        self.make(name, logging, |path| set_logging(path, logging))
    }

    /// Makes a database that begins as another, or with the roles of another.
    ///
    /// # Errors
    /// As [`Self::create`].
    pub fn create_as(&self, name: &str, beginning: &Beginning<'_>) -> Result<Database> {
        let logging = beginning.template.map_or(Logging::Log, Database::logging);
        self.make(name, logging, |path| {
            match beginning.template {
                Some(template) => whole_files::copy(&template.shared, path)?,
                None => whole_files::begin(path, &beginning.roles_of.shared)?,
            }
            set_logging(path, logging)?;
            whole_files::note_facts(path, beginning.facts)?;
            whole_files::give_to(path, beginning.owner)
        })
    }

    fn make(&self, name: &str, logging: Logging, write: impl FnOnce(&Path) -> Result<()>) -> Result<Database> {
        if name == self.main().name() {
            return Err(exists(name));
        }
        let path = self.shared.place(name)?;
        let _maker = Maker::begin(&self.shared, name, &path)?;
        // Nobody sees it before it is whole.
        let mut unfinished = path.clone().into_os_string();
        unfinished.push(".new");
        let unfinished = PathBuf::from(unfinished);
        remove_files(&unfinished);
        let made = write(&unfinished).and_then(|()| {
            let mut open = self.shared.open.lock();
            std::fs::rename(&unfinished, &path).map_err(|error| not_made(&path, &error))?;
            if let Some(directory) = path.parent().and_then(|directory| std::fs::File::open(directory).ok()) {
                // A file whose name is lost when the power fails was never made.
                let _ = directory.sync_all();
            }
            self.shared.keep(&mut open, name, &path, logging)
        });
        if made.is_err() {
            remove_files(&unfinished);
        }
        made
    }

    /// Removes a database and its files.
    ///
    /// # Errors
    /// `3D000` (-329) when there is none, `55006` when it has sessions or is the one that is served.
    pub fn drop(&self, name: &str) -> Result<()> {
        if name == self.main().name() {
            return Err(in_use(name));
        }
        let path = self.shared.existing(name)?;
        self.shared.let_leave(name);
        let mut open = self.shared.open.lock();
        self.shared.close(&mut open, name)?;
        let removed = std::fs::remove_file(&path);
        remove_files(&path);
        removed.map_err(|error| {
            Error::new(Condition::IoError, format!("could not remove \"{}\": {error}", path.display()))
        })
    }

    /// Gives a database another name.
    ///
    /// # Errors
    /// As [`Self::drop`]; `42P04` when there is one of the new name.
    pub fn rename(&self, name: &str, to: &str) -> Result<()> {
        if name == self.main().name() {
            return Err(in_use(name));
        }
        let path = self.shared.existing(name)?;
        if to == self.main().name() {
            return Err(exists(to));
        }
        let target = self.shared.place(to)?;
        let _maker = Maker::begin(&self.shared, to, &target)?;
        self.shared.let_leave(name);
        let mut open = self.shared.open.lock();
        self.shared.close(&mut open, name)?;
        // The log first: without the file it means nothing, and the file without it would lack what is in it.
        for suffix in BESIDE.into_iter().chain([""]) {
            let from = beside(&path, suffix);
            let moved = std::fs::rename(&from, beside(&target, suffix));
            match moved {
                Err(error) if !suffix.is_empty() && error.kind() == std::io::ErrorKind::NotFound => {}
                moved => moved.map_err(|error| not_made(&target, &error))?,
            }
        }
        Ok(())
    }
}

/// A name that a database is being made under, for as long as that takes.
struct Maker<'a> {
    shared: &'a Shared,
    name: String,
}

impl<'a> Maker<'a> {
    fn begin(shared: &'a Shared, name: &str, path: &Path) -> Result<Self> {
        let begun = shared.making.lock().insert(name.to_owned());
        if !begun {
            return Err(exists(name));
        }
        let maker = Self { shared, name: name.to_owned() };
        if path.exists() { Err(exists(name)) } else { Ok(maker) }
    }
}

impl Drop for Maker<'_> {
    fn drop(&mut self) {
        self.shared.making.lock().remove(&self.name);
    }
}

impl Siblings {
    /// All databases; none when nobody serves them any more.
    pub fn list(&self) -> Vec<(String, Logging)> {
        self.0.upgrade().map(|shared| shared.list()).unwrap_or_default()
    }

    /// All databases, to be opened and made; `None` when nobody serves them any more.
    pub(crate) fn databases(&self) -> Option<Databases> {
        Some(Databases { shared: self.0.upgrade()? })
    }
}

impl Shared {
    /// Where a database of the directory is, or would be.
    fn path(&self, name: &str) -> Option<PathBuf> {
        let directory = self.directory.as_ref()?;
        is_name(name).then(|| directory.join(format!("{}.{EXTENSION}", file_name(name))))
    }

    fn existing(&self, name: &str) -> Result<PathBuf> {
        self.path(name).filter(|path| path.is_file()).ok_or_else(|| missing(name))
    }

    /// Where a new database goes.
    fn place(&self, name: &str) -> Result<PathBuf> {
        if self.directory.is_none() {
            let message = "CREATE DATABASE needs a place for its file: start the server with --databases DIRECTORY";
            return Err(Error::new(Condition::FeatureNotSupported, message));
        }
        self.check_writes()?;
        let bad = || Error::new(Condition::InvalidName, format!("\"{name}\" cannot be a database's name"));
        self.path(name).ok_or_else(bad)
    }

    fn check_writes(&self) -> Result<()> {
        if self.options.read_only {
            return Err(Error::new(Condition::ReadOnlySqlTransaction, "the server does not write"));
        }
        Ok(())
    }

    /// Waits a moment for the sessions of a database to end: those whose clients have just said good-bye are about to, as
    /// clients do not wait for it.
    fn let_leave(&self, name: &str) {
        let database = self.open.lock().get(name).cloned();
        if let Some(database) = database {
            database.shared.wait_until_left(LEAVE_TIME);
        }
    }

    /// Closes a database that nobody is in.
    fn close(&self, open: &mut HashMap<String, Database>, name: &str) -> Result<()> {
        if open.get(name).is_some_and(|database| database.sessions() > 0) {
            return Err(in_use(name));
        }
        self.check_writes()?;
        open.remove(name);
        Ok(())
    }

    fn keep(
        self: &Arc<Self>,
        open: &mut HashMap<String, Database>,
        name: &str,
        path: &Path,
        logging: Logging,
    ) -> Result<Database> {
        let options = Options { logging, create: false, ..self.options.clone() };
        let database = Database::open_as(name, path, options)?;
        database.shared.take_announced(&self.main.shared);
        database.shared.siblings.set(Siblings(Arc::downgrade(self))).ok();
        open.insert(name.to_owned(), database.clone());
        Ok(database)
    }

    fn list(&self) -> Vec<(String, Logging)> {
        let mut found = vec![(self.main.name().to_owned(), self.main.logging())];
        let entries = self.directory.iter().filter_map(|directory| std::fs::read_dir(directory).ok()).flatten();
        for entry in entries.filter_map(std::result::Result::ok) {
            let path = entry.path();
            let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
            let is_ours = path.extension().is_some_and(|extension| extension == EXTENSION);
            let Some(name) = name_of(stem).filter(|name| is_ours && *name != self.main.name()) else { continue };
            // One that is open here is not opened again: with any descriptor of it that is closed, the locks go that
            // the back end holds in this process, and another program may take the log away.
            let known = self.open.lock().get(&name).map(Database::logging);
            // A file that cannot be read is no database.
            if let Ok(logging) = known.map_or_else(|| logging_of(&path), Ok) {
                found.push((name, logging));
            }
        }
        found.sort_by(|a, b| a.0.cmp(&b.0));
        found
    }
}

/// What stands beside a database's file.
fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut beside = path.to_path_buf().into_os_string();
    beside.push(suffix);
    beside.into()
}

/// Removes a file that nobody has open, with what stands beside it; most often all of it is gone already.
fn remove_files(path: &Path) {
    for suffix in BESIDE.into_iter().chain(["", "-journal"]) {
        let _ = std::fs::remove_file(beside(path, suffix));
    }
}

/// FNV-1a of the name, above [`FIRST_OID`].
fn oid_of(name: &str) -> u32 {
    let hash = name
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    FIRST_OID + (hash % u64::from(u32::MAX - FIRST_OID)) as u32
}

/// Whether a database can have the name.
fn is_name(name: &str) -> bool {
    !name.is_empty() && name.len() <= MAX_NAME && file_name(name).len() <= MAX_FILE_NAME && !name.contains('\0')
}

/// Letters, digits and underscores: what Informix lets be a name.
fn is_plain(name: &str) -> bool {
    let begins = name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_');
    begins && name.len() <= MAX_NAME && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

/// What a database's file is called: it leads nowhere but into the directory, and differs in more than capitals.
fn file_name(name: &str) -> String {
    use std::fmt::Write as _;
    let mut written = String::with_capacity(name.len());
    for byte in name.bytes() {
        if byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_' || byte == b'-' {
            written.push(char::from(byte));
        } else {
            let _ = write!(written, "%{byte:02X}");
        }
    }
    written
}

/// The database that a file is, by its name without the extension.
fn name_of(stem: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(stem.len());
    let mut rest = stem.as_bytes();
    while let Some((&first, behind)) = rest.split_first() {
        if first == b'%' {
            let (digits, behind) = behind.split_at_checked(2)?;
            bytes.push(u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?);
            rest = behind;
        } else {
            bytes.push(first);
            rest = behind;
        }
    }
    // A file that would be written in another way is not found by its name either.
    String::from_utf8(bytes).ok().filter(|name| is_name(name) && file_name(name) == stem)
}

fn missing(name: &str) -> Error {
    Error::new(Condition::InvalidCatalogName, format!("database \"{name}\" does not exist")).table("", name)
}

fn exists(name: &str) -> Error {
    Error::new(Condition::DuplicateDatabase, format!("database \"{name}\" already exists")).table("", name)
}

fn in_use(name: &str) -> Error {
    Error::new(Condition::DatabaseInUse, format!("database \"{name}\" is being accessed by other users"))
        .table("", name)
}

fn not_made(path: &Path, error: &std::io::Error) -> Error {
    Error::new(Condition::IoError, format!("could not create \"{}\": {error}", path.display()))
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
        let empty = Beginning { template: None, roles_of: &main, owner: "postgres", facts: &[] };
        for name in ["../x", "a/b", ".", "a.b", "Ünder", "My-App", "%41"] {
            databases.create_as(name, &empty).unwrap();
            assert_eq!(databases.open(name).unwrap().name(), name);
            assert!(databases.list().iter().any(|(listed, _)| listed == name), "{name}");
        }
        for name in ["", "x\0", &"ü".repeat(64)] {
            assert!(databases.create_as(name, &empty).is_err(), "{name}");
        }
        assert_eq!(
            std::fs::read_dir(directory.path().parent().unwrap())
                .unwrap()
                .filter(|entry| { entry.as_ref().is_ok_and(|entry| entry.file_name() == "x.db") })
                .count(),
            0
        );
        assert!(Databases::single(main).create("x", Logging::Log).is_err());
    }
}
