//! A file that is deleted, moved, replaced or overwritten while it is served, and rollback journals.
#![allow(clippy::disallowed_types, clippy::disallowed_methods, reason = "files are what is tested")]

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rowferry_engine::{Database, Journal, Options};
use support::{Ask, Fixture, postgres};

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// A served file with a hot log, and a backup of it from before its last transaction.
struct Served {
    fixture: Fixture,
    database: Database,
    backup: PathBuf,
}

impl Served {
    fn new() -> Self {
        let fixture = Fixture::new();
        let backup = fixture.directory.path().join("backup.db");
        let database = fixture.open();
        let mut session = postgres(&database);
        session.run("create table t (a int)");
        session.run("insert into t values (1)");
        fixture.outside().execute("VACUUM INTO ?1", [backup.to_str().unwrap()]).unwrap();
        session.run("insert into t values (2)");
        Self { fixture, database, backup }
    }

    fn path(&self) -> &Path {
        &self.fixture.path
    }

    /// All sessions are refused, new ones, too, and nothing has come into the file at the path when the server ends.
    fn refuses_and_leaves(self, words: &str) {
        let before = fs::read(self.path()).ok();
        let mut session = postgres(&self.database);
        let error = session.error("insert into t values (4)");
        assert_eq!(error.condition().sqlstate(), "58030");
        assert!(error.message.contains(words), "{}", error.message);
        assert!(error.hint.is_some());
        assert_eq!(session.fails("select 1"), "58030");
        assert_eq!(postgres(&self.database).fails("select * from t"), "58030");
        let Self { fixture, database, .. } = self;
        drop((session, database));
        assert!(before == fs::read(&fixture.path).ok(), "the file at the path has been written");
        assert!(!beside(&fixture.path, "-rowferry").exists());
        // Whoever opens it now sees what is there, and nothing of the database before.
        if before.is_some() {
            let count: i64 = fixture.outside().query_row("SELECT count(*) FROM t", [], |row| row.get(0)).unwrap();
            assert_eq!(count, 1);
        }
    }
}

#[test]
fn a_deleted_file_is_noticed() {
    let served = Served::new();
    fs::remove_file(served.path()).unwrap();
    served.refuses_and_leaves("deleted or moved away");
}

#[test]
fn a_file_moved_over_it_is_noticed_and_left_alone() {
    let served = Served::new();
    fs::rename(&served.backup, served.path()).unwrap();
    served.refuses_and_leaves("another file has taken the place");
}

#[test]
fn a_file_copied_over_it_is_noticed_and_left_alone() {
    let served = Served::new();
    fs::copy(&served.backup, served.path()).unwrap();
    served.refuses_and_leaves("overwritten by a program that does not use SQLite");
}

/// A mapped file of which most is cut off while a statement may still believe in it. Without the handler of the signal
/// this process would end here.
#[test]
#[cfg(target_os = "linux")]
fn a_mapped_file_that_is_cut_short_fails_the_statement_and_all_that_follow() {
    assert!(rowferry_engine::mapped::survive_losses());
    let fixture = Fixture::new();
    let database = fixture.open_with(Options { create: true, mapped: 1 << 30, ..Options::default() });
    let mut session = postgres(&database);
    session.run("create table t (a int primary key, b text)");
    session.run("insert into t select i, repeat('x', 1000) from generate_series(1, 5000) i");
    session.run("checkpoint");
    let mut other = postgres(&database);
    assert_eq!(other.run("select count(b) from t"), ["5000"]);
    assert_eq!(session.run("select sum(length(b)) from t"), ["5000000"]);
    let file = fs::OpenOptions::new().write(true).open(&fixture.path).unwrap();
    file.set_len(64 * 1024).unwrap();
    // Within the time in which statements that only read go without a look, and after it.
    for session in [&mut session, &mut other] {
        assert_eq!(session.fails("select sum(length(b)) from t"), "58030");
        assert_eq!(session.fails("select b from t where a = 4999"), "58030");
    }
    std::thread::sleep(Duration::from_millis(150));
    assert_eq!(session.fails("select 1"), "58030");
    assert_eq!(postgres(&database).fails("insert into t values (0, 'y')"), "58030");
    drop((session, other, database));
    assert_eq!(fs::metadata(&fixture.path).unwrap().len(), 64 * 1024, "the file at the path has been written");
}

#[test]
fn an_open_transaction_is_not_committed_into_a_lost_file() {
    let served = Served::new();
    let mut writer = postgres(&served.database);
    writer.run("begin");
    writer.run("insert into t values (3)");
    fs::rename(&served.backup, served.path()).unwrap();
    assert_eq!(writer.fails("commit"), "58030");
    writer.ask("rollback").unwrap();
    drop(writer);
    served.refuses_and_leaves("another file");
}

#[test]
fn a_file_replaced_when_nobody_writes_is_left_alone_at_the_end() {
    let served = Served::new();
    let backup = fs::read(&served.backup).unwrap();
    fs::rename(&served.backup, served.path()).unwrap();
    let Served { fixture, database, .. } = served;
    drop(database);
    assert!(backup == fs::read(&fixture.path).unwrap(), "the backup has been written");
    assert!(!beside(&fixture.path, "-wal").exists());
}

#[test]
fn what_was_acknowledged_goes_with_a_file_that_was_moved_away() {
    let served = Served::new();
    let elsewhere = served.fixture.directory.path().join("elsewhere.db");
    fs::rename(served.path(), &elsewhere).unwrap();
    assert_eq!(postgres(&served.database).fails("insert into t values (3)"), "58030");
    drop(served.database);
    let moved = rusqlite::Connection::open(&elsewhere).unwrap();
    let sum: i64 = moved.query_row("SELECT sum(a) FROM t", [], |row| row.get(0)).unwrap();
    assert_eq!(sum, 3);
}

#[test]
fn a_deleted_log_loses_nothing_that_was_acknowledged() {
    for suffix in ["-wal", "-shm"] {
        let served = Served::new();
        fs::remove_file(beside(served.path(), suffix)).unwrap();
        let error = postgres(&served.database).error("insert into t values (3)");
        assert!(error.message.contains(suffix), "{}", error.message);
        drop(served.database);
        let sum: i64 = served.fixture.outside().query_row("SELECT sum(a) FROM t", [], |row| row.get(0)).unwrap();
        assert_eq!(sum, 3, "{suffix}");
    }
}

#[test]
fn other_programs_may_write_and_check_the_log_out() {
    let served = Served::new();
    let outside = served.fixture.outside();
    let mut session = postgres(&served.database);
    for number in 3..30_i32 {
        outside.execute("INSERT INTO t VALUES (?1)", [number]).unwrap();
        let how = ["PASSIVE", "RESTART", "TRUNCATE"][number as usize % 3];
        outside.query_row(&format!("PRAGMA wal_checkpoint({how})"), [], |_| Ok(())).unwrap();
        session.run(&format!("insert into t values ({})", 100 + number));
    }
    outside.execute_batch("VACUUM").unwrap();
    session.run("insert into t values (1000)");
    assert_eq!(session.run("select count(*) from t"), ["57"]);
}

/// What a killed server leaves: the files as they are while it runs, under the same inodes.
fn killed() -> (Fixture, PathBuf) {
    let served = Served::new();
    let directory = served.fixture.directory.path().join("left");
    fs::create_dir(&directory).unwrap();
    for suffix in ["", "-wal", "-shm", "-rowferry"] {
        let from = beside(served.path(), suffix);
        fs::hard_link(&from, beside(&directory.join("store.db"), suffix)).unwrap();
    }
    // SQLite truncates the log that it has brought into the file, and ours would remove it: leave the process's hands
    // on it until the end.
    std::mem::forget(served.database);
    let path = directory.join("store.db");
    (Fixture { directory: served.fixture.directory, path }, served.backup)
}

#[test]
fn a_file_replaced_after_a_kill_is_not_opened_with_the_log_of_the_other() {
    let (fixture, backup) = killed();
    fs::rename(&backup, &fixture.path).unwrap();
    let before = fs::read(&fixture.path).unwrap();
    let error = Database::open(&fixture.path, Options::default()).unwrap_err();
    assert_eq!(error.condition().sqlstate(), "58030");
    assert!(error.message.contains("was replaced after the server was killed"), "{}", error.message);
    assert!(before == fs::read(&fixture.path).unwrap());
    // As the hint has it.
    for suffix in ["-wal", "-shm", "-rowferry"] {
        fs::remove_file(beside(&fixture.path, suffix)).unwrap();
    }
    let database = Database::open(&fixture.path, Options::default()).unwrap();
    assert_eq!(postgres(&database).run("select a from t"), ["1"]);
}

#[test]
fn a_file_overwritten_after_a_kill_is_not_opened_with_the_log_of_the_other() {
    let (fixture, backup) = killed();
    fs::copy(&backup, &fixture.path).unwrap();
    let error = Database::open(&fixture.path, Options::default()).unwrap_err();
    assert!(error.message.contains("was written by another program"), "{}", error.message);
    assert!(fs::read(&backup).unwrap() == fs::read(&fixture.path).unwrap());
}

#[test]
fn keep_leaves_the_journal_mode_and_wal_says_that_it_changed_it() {
    let fixture = Fixture::new();
    fixture.outside().execute_batch("PRAGMA journal_mode = PERSIST; CREATE TABLE t (a INTEGER)").unwrap();
    // Persist is a mode of the connection; the file knows WAL and not WAL.
    let mode = || -> String { fixture.outside().query_row("PRAGMA journal_mode", [], |row| row.get(0)).unwrap() };
    let database = fixture.open_with(Options { journal: Journal::Keep, ..Options::default() });
    let mut session = postgres(&database);
    session.run("insert into t values (1)");
    assert_eq!(session.run("select a from t"), ["1"]);
    assert_eq!((database.journal().before.as_str(), database.journal().now.as_str()), ("delete", "delete"));
    drop((session, database));
    assert_eq!(mode(), "delete");
    let database = fixture.open();
    assert_eq!((database.journal().before.as_str(), database.journal().now.as_str()), ("delete", "wal"));
    drop(database);
    assert_eq!(mode(), "wal");
}

fn kept() -> (Fixture, Database) {
    let fixture = Fixture::new();
    fixture.outside().execute_batch("CREATE TABLE t (a INTEGER); INSERT INTO t VALUES (1), (2)").unwrap();
    let lock_timeout = Duration::from_millis(50);
    let database = fixture.open_with(Options { journal: Journal::Keep, lock_timeout, ..Options::default() });
    (fixture, database)
}

#[test]
fn with_a_rollback_journal_a_reader_makes_the_writer_wait_until_its_lock_time_out() {
    let (_fixture, database) = kept();
    let (mut reader, mut writer) = (postgres(&database), postgres(&database));
    reader.run("begin isolation level repeatable read");
    assert_eq!(reader.run("select a from t order by a"), ["1", "2"]);
    let error = writer.error("insert into t values (3)");
    assert_eq!(error.condition().sqlstate(), "55P03", "{error:?}");
    reader.run("commit");
    writer.run("insert into t values (4)");
    assert_eq!(reader.run("select a from t order by a"), ["1", "2", "4"]);
}

#[test]
fn with_a_rollback_journal_nobody_waits_for_the_writer_with_a_snapshot_in_hand() {
    let (_fixture, database) = kept();
    let (mut reader, mut writer) = (postgres(&database), postgres(&database));
    // For ever, if they waited for each other.
    reader.run("set lock_timeout = 0");
    reader.run("begin isolation level repeatable read");
    reader.run("select a from t");
    writer.run("begin");
    writer.run("insert into t values (3)");
    assert_eq!(reader.fails("insert into t values (4)"), "40001");
    reader.run("rollback");
    writer.run("commit");
}

#[test]
fn with_a_rollback_journal_a_lock_held_outside_is_a_lock_time_out() {
    let (fixture, database) = kept();
    let outside = fixture.outside();
    outside.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let mut session = postgres(&database);
    assert_eq!(session.fails("select a from t"), "55P03");
    assert_eq!(session.fails("insert into t values (3)"), "55P03");
    outside.execute_batch("COMMIT").unwrap();
    assert_eq!(session.run("select count(*) from t"), ["2"]);
}

#[test]
fn with_a_rollback_journal_a_replaced_file_is_noticed() {
    let (fixture, database) = kept();
    let backup = fixture.directory.path().join("backup.db");
    fixture.outside().execute("VACUUM INTO ?1", [backup.to_str().unwrap()]).unwrap();
    postgres(&database).run("insert into t values (3)");
    fs::rename(&backup, &fixture.path).unwrap();
    assert_eq!(postgres(&database).fails("insert into t values (4)"), "58030");
    drop(database);
    let count: i64 = fixture.outside().query_row("SELECT count(*) FROM t", [], |row| row.get(0)).unwrap();
    assert_eq!(count, 2);
}
