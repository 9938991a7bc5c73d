//! Files of other databases beside a handle's own: for reading only.
//!
//! A statement that reads several databases needs their files in one handle, which SQLite calls attaching. They are
//! attached so that nothing can be written to them: a transaction of SQLite's that writes takes its lock on all files
//! that it could write to, and commits to several of them only in so far as nothing breaks in between.

use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::{Arc, Weak};

use rowferry_dialect::{Condition, Error};

use super::handle::{Calls, Handle};
use super::statement::Failure;
use crate::database::Shared;
use crate::schema::Reached;

/// So many other files SQLite has in one handle.
const MOST: usize = 10;

/// Another database's file.
#[derive(Debug)]
pub(super) struct Attached {
    alias: &'static str,
    database: Weak<Shared>,
    /// Transactions that had been committed there when it was last read.
    commits: u64,
    /// When it was last wanted.
    wanted: u64,
}

/// What became of a wish to have a file.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Attachment {
    /// It is here, and nobody has committed to it since it was wanted last.
    Same,
    /// It is here; somebody has, or it has just been attached.
    New,
}

/// A path as SQLite's names for files have it.
fn uri(path: &Path) -> String {
    let mut uri = String::from("file:");
    for &byte in path.as_os_str().as_bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'-' | b'_' | b'.') {
            uri.push(char::from(byte));
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
    }
    uri + "?mode=ro"
}

impl Handle {
    /// Some other database's file has been attached.
    pub fn has_attached(&self) -> bool {
        !self.attached.borrow().is_empty()
    }

    /// Makes a statement find the files of other databases; what it reads is told by `all`, this one by `reached`.
    ///
    /// # Errors
    /// `54000` where a statement wants more of them than there can be, and what SQLite says.
    pub fn attach(
        &self,
        reached: &Reached,
        database: &Arc<Shared>,
        all: &[Reached],
    ) -> Result<Result<Attachment, Failure>, Error> {
        if all.len() > MOST {
            let message = format!("a statement reads tables of at most {MOST} other databases");
            return Err(Error::new(Condition::ProgramLimitExceeded, message));
        }
        let now = self.attached.borrow().iter().map(|known| known.wanted).max().unwrap_or(0) + 1;
        let commits = database.commits();
        if let Some(known) = self.attached.borrow_mut().iter_mut().find(|known| known.alias == reached.alias)
            && std::ptr::eq(known.database.as_ptr(), Arc::as_ptr(database))
        {
            known.wanted = now;
            let same = std::mem::replace(&mut known.commits, commits) == commits;
            return Ok(Ok(if same { Attachment::Same } else { Attachment::New }));
        }
        Ok(self.attach_anew(reached, database, all, (now, commits)))
    }

    fn attach_anew(
        &self,
        reached: &Reached,
        database: &Arc<Shared>,
        all: &[Reached],
        (wanted, commits): (u64, u64),
    ) -> Result<Attachment, Failure> {
        self.detach(reached.alias)?;
        self.detach_gone();
        if self.attached.borrow().len() >= MOST {
            let attached = self.attached.borrow();
            let free = attached.iter().filter(|known| all.iter().all(|other| other.alias != known.alias));
            let mut free: Vec<_> = free.map(|known| (known.wanted, known.alias)).collect();
            drop(attached);
            free.sort_unstable();
            // One that is being read stays, and makes room when it is read no more.
            let freed = free.iter().map(|(_, alias)| self.detach(alias)).find(Result::is_ok);
            freed.unwrap_or(Ok(()))?;
        }
        self.learn_file();
        self.bare().execute(&format!("ATTACH DATABASE ?1 AS {}", reached.alias), [uri(&database.path)])?;
        let database = Arc::downgrade(database);
        self.attached.borrow_mut().push(Attached { alias: reached.alias, database, commits, wanted });
        Ok(Attachment::New)
    }

    /// Lets go of the files of databases that are no more; of those that are being read later.
    pub fn detach_gone(&self) {
        let gone = |known: &&Attached| known.database.strong_count() == 0;
        let gone: Vec<_> = self.attached.borrow().iter().filter(gone).map(|known| known.alias).collect();
        for alias in gone {
            let _ = self.detach(alias);
        }
    }

    fn detach(&self, alias: &'static str) -> Result<(), Failure> {
        if self.attached.borrow().iter().any(|known| known.alias == alias) {
            self.batch(&format!("DETACH DATABASE {alias}"), Calls::Nothing)?;
            self.attached.borrow_mut().retain(|known| known.alias != alias);
        }
        Ok(())
    }

    /// The number of an attached file's schema, as the transaction sees it.
    pub fn schema_number_of(&self, alias: &str) -> Result<i64, Failure> {
        Ok(self.bare().query_row(&format!("PRAGMA {alias}.schema_version"), [], |row| row.get(0))?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_names_of_files() {
        assert_eq!(uri(Path::new("/a b/c?d#e%.db")), "file:/a%20b/c%3Fd%23e%25.db?mode=ro");
    }
}
