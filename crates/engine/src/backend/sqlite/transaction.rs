//! A session's transaction in SQLite: where it begins, to which points it can go back, how it ends.

use libsqlite3_sys as ffi;

use super::handle::{Calls, Handle};
use super::statement::Failure;

type Done<T = ()> = std::result::Result<T, Failure>;

/// A point to which a transaction can go back.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Point {
    /// Before a change of the schema.
    Change,
    /// Before the parts of a statement.
    Parts,
    /// Before a statement.
    Statement,
    /// A savepoint of the user's, counted from the outermost.
    User(usize),
}

impl Point {
    /// Setting it, going back to it, forgetting it; those of the user's have numbers.
    const fn words(self) -> Option<[&'static str; 3]> {
        match self {
            Self::Change => Some(["SAVEPOINT rowferry_ddl", "ROLLBACK TO rowferry_ddl", "RELEASE rowferry_ddl"]),
            Self::Parts => Some(["SAVEPOINT rowferry_parts", "ROLLBACK TO rowferry_parts", "RELEASE rowferry_parts"]),
            Self::Statement => {
                Some(["SAVEPOINT rowferry_statement", "ROLLBACK TO rowferry_statement", "RELEASE rowferry_statement"])
            }
            Self::User(_) => None,
        }
    }
}

impl Handle {
    /// Begins a transaction that has not looked into the file.
    pub fn begin(&self) -> Done {
        self.begin_with("BEGIN")
    }

    /// Begins a transaction that reads one state of the file throughout.
    pub fn begin_snapshot(&self) -> Done {
        self.begin_with("BEGIN")?;
        // BEGIN alone takes no snapshot; reading anything does.
        self.run("SELECT 1 FROM main.sqlite_schema LIMIT 1")
    }

    /// Begins a transaction that may write, on the newest state of the file.
    pub fn begin_writing(&self) -> Done {
        self.begin_with("BEGIN IMMEDIATE")
    }

    /// A transaction may write sooner or later.
    fn begin_with(&self, sql: &'static str) -> Done {
        self.take_first_change();
        self.prepare_to_write()?;
        // What was written before, such as counters, waits for nobody.
        self.has_written();
        self.run(sql)
    }

    /// A transaction that has not looked into the file may write to it from here on.
    pub fn start_writing(&self) -> Done {
        // In files that give no pages back it takes the lock, and does nothing; in others it is asked for little.
        self.batch("PRAGMA main.incremental_vacuum(1)", Calls::Nothing)
    }

    /// Commits a transaction that has written; `xid` is asked for its number where changes of rows are kept. What it has
    /// written is no news to the counters of sequences.
    pub fn commit(&self, xid: impl FnOnce() -> i64) -> Done {
        if let Some(first) = self.take_first_change() {
            self.note_changes(first, xid(), crate::session::state::now())?;
        }
        drop(self.compared());
        self.run("COMMIT")?;
        self.compared_at(self.data_version());
        Ok(())
    }

    /// Commits a transaction that has written nothing but counters of sequences.
    pub fn commit_counters(&self) -> Done {
        self.run("COMMIT")
    }

    /// Undoes the transaction.
    pub fn roll_back(&self) -> Done {
        self.take_first_change();
        self.run("ROLLBACK")
    }

    /// Sets a point.
    pub fn set_point(&self, point: Point) -> Done {
        self.at_point(point, 0, "SAVEPOINT")
    }

    /// Goes back to a point, which stays.
    pub fn go_back_to(&self, point: Point) -> Done {
        self.at_point(point, 1, "ROLLBACK TO")
    }

    /// Forgets a point; what has been done since stays.
    pub fn forget_point(&self, point: Point) -> Done {
        self.at_point(point, 2, "RELEASE")
    }

    fn at_point(&self, point: Point, at: usize, verb: &str) -> Done {
        match (point, point.words()) {
            (_, Some(words)) => self.run(words[at]),
            (Point::User(number), None) => self.batch(&format!("{verb} rowferry_{number}"), Calls::Nothing),
            (_, None) => Ok(()),
        }
    }

    /// The number of the schema that the transaction sees.
    pub fn schema_number(&self) -> Done<i64> {
        Ok(self.bare().prepare_cached("PRAGMA main.schema_version")?.query_row([], |row| row.get(0))?)
    }

    /// Has foreign keys wait for the end of the transaction, or be looked at by the statement that changes a row.
    pub fn let_keys_wait(&self, wait: bool) -> Done {
        self.run(if wait { "PRAGMA defer_foreign_keys = ON" } else { "PRAGMA defer_foreign_keys = OFF" })
    }

    /// Has foreign keys looked at, or not. SQLite lets that be changed outside its transactions alone.
    pub fn look_at_keys(&self, look: bool) -> Done {
        self.batch(if look { "PRAGMA foreign_keys = ON" } else { "PRAGMA foreign_keys = OFF" }, Calls::Nothing)
    }

    /// True when foreign keys are broken that are looked at later.
    pub fn has_open_keys(&self) -> bool {
        let (mut open, mut unused) = (0, 0);
        // SAFETY: the handle is open as long as `self` lives, and SQLite writes two integers.
        let code = unsafe {
            ffi::sqlite3_db_status(self.bare().handle(), ffi::SQLITE_DBSTATUS_DEFERRED_FKS, &mut open, &mut unused, 0)
        };
        code != ffi::SQLITE_OK || open != 0
    }

    /// True while foreign keys wait for COMMIT.
    pub fn defers_keys(&self) -> Done<bool> {
        Ok(self.bare().query_row("PRAGMA defer_foreign_keys", [], |row| row.get(0))?)
    }

    /// Foreign keys of a database's tables, or of one of them, that do not hold: the table, SQLite's number of the key, and the
    /// row's identity.
    pub fn broken_keys(&self, database: &str, table: Option<&str>) -> Done<Vec<(String, i64, Option<i64>)>> {
        let sql = "SELECT \"table\", fkid, rowid FROM pragma_foreign_key_check(?2, ?1)";
        let mut statement = self.bare().prepare(sql)?;
        let rows = statement.query_map((database, table), |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }
}
