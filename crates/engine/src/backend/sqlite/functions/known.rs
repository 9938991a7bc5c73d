//! Which of our functions a connection knows.
//!
//! There are hundreds, and what SQLite keeps of each would be most of what an idle session costs. So a connection is told of a
//! function when a text that names it is prepared. Whoever prepares a text otherwise than through
//! [`Statement`](super::super::statement::Statement) says so before: [`learn`], or [`learn_all`].

use std::collections::{HashMap, HashSet};
use std::ffi::{CStr, c_void};
use std::sync::{Arc, LazyLock};

use libsqlite3_sys as ffi;
use parking_lot::Mutex;
use rusqlite::Connection;

use super::{Context, FAMILIES, Row, aggregate, rows, rows_sources, sequences, stored_aggregate};

/// What names of ours begin with, those aside that stand in the place of SQLite's own.
const PREFIX: &str = "rf_";

/// The name under which a connection keeps what it knows.
const KEPT_AS: &CStr = c"rowferry_known_functions";

/// Something that a connection can be told of.
#[derive(Clone, Copy)]
enum Known {
    Scalar(&'static Row),
    Aggregate(&'static aggregate::Row, bool),
    StoredAggregate(bool),
    Sequence(usize),
    Rows(&'static rows::Rows),
}

impl Known {
    fn register(self, connection: &Connection, name: &str, context: &Arc<Context>) -> rusqlite::Result<()> {
        match self {
            Self::Scalar(row) => super::register_row(connection, row, context),
            Self::Aggregate(row, distinct) => aggregate::register(connection, row, name, distinct, context),
            Self::StoredAggregate(distinct) => stored_aggregate::register(connection, name, distinct, context),
            Self::Sequence(at) => sequences::register(connection, at, context),
            Self::Rows(of) => rows::register(connection, of, context),
        }
    }
}

/// All of them, by name. A name may stand for several numbers of arguments.
static ALL: LazyLock<HashMap<String, Vec<Known>>> = LazyLock::new(|| {
    let mut all: HashMap<String, Vec<Known>> = HashMap::new();
    let mut add = |name: String, known| all.entry(name).or_default().push(known);
    for row in FAMILIES.iter().copied().flatten() {
        add(row.name.to_owned(), Known::Scalar(row));
    }
    for (name, row, distinct) in aggregate::each() {
        add(name, Known::Aggregate(row, distinct));
    }
    for (name, distinct) in stored_aggregate::NAMES {
        add(name.to_owned(), Known::StoredAggregate(distinct));
    }
    for (at, name) in sequences::names().enumerate() {
        add(name.to_owned(), Known::Sequence(at));
    }
    for of in rows_sources::SOURCES {
        add(of.name.to_string_lossy().into_owned(), Known::Rows(of));
    }
    all
});

/// What a connection keeps.
struct Kept {
    context: Arc<Context>,
    names: Mutex<Names>,
}

#[derive(Default)]
struct Names {
    some: HashSet<&'static str>,
    all: bool,
}

impl Kept {
    fn learn(&self, connection: &Connection, names: &mut Names, name: &str) -> rusqlite::Result<()> {
        let Some((name, known)) = ALL.get_key_value(name) else { return Ok(()) };
        if names.all || !names.some.insert(name) {
            return Ok(());
        }
        known.iter().try_for_each(|known| known.register(connection, name, &self.context))
    }

    fn learn_all(&self, connection: &Connection) -> rusqlite::Result<()> {
        let mut names = self.names.lock();
        if !names.all {
            let ours = ALL.keys().filter(|name| name.starts_with(PREFIX));
            ours.into_iter().try_for_each(|name| self.learn(connection, &mut names, name))?;
            *names = Names { some: HashSet::new(), all: true };
        }
        Ok(())
    }
}

unsafe extern "C" fn drop_kept(kept: *mut c_void) {
    // SAFETY: it is the box that `begin` has made, which SQLite gives back once.
    drop(unsafe { Box::from_raw(kept.cast::<Kept>()) });
}

/// Lets a connection learn functions from here on. Those in the place of SQLite's own it knows from the beginning: nothing in
/// a text tells whose is meant.
pub(super) fn begin(connection: &Connection, context: &Arc<Context>) -> rusqlite::Result<()> {
    for (name, known) in ALL.iter().filter(|(name, _)| !name.starts_with(PREFIX)) {
        known.iter().try_for_each(|known| known.register(connection, name, context))?;
    }
    let kept = Box::new(Kept { context: Arc::clone(context), names: Mutex::default() });
    // SAFETY: the handle is open; the box goes with it, also when this fails.
    let code = unsafe {
        let kept = Box::into_raw(kept).cast();
        ffi::sqlite3_set_clientdata(connection.handle(), KEPT_AS.as_ptr(), kept, Some(drop_kept))
    };
    match code {
        ffi::SQLITE_OK => Ok(()),
        code => Err(rusqlite::Error::SqliteFailure(ffi::Error::new(code), None)),
    }
}

/// What a connection keeps, and the connection as the binding has it; `None` for one without functions of ours.
///
/// # Safety
/// `db` is open and is used under its lock by this thread, as long as what is returned is used.
unsafe fn of<'a>(db: *mut ffi::sqlite3) -> Option<(&'a Kept, Connection)> {
    // SAFETY: the caller's promise; the box lives as long as the connection, and nobody changes it.
    unsafe {
        let kept = ffi::sqlite3_get_clientdata(db, KEPT_AS.as_ptr()).cast::<Kept>().as_ref()?;
        // It is not closed when this goes.
        Some((kept, Connection::from_handle(db).ok()?))
    }
}

/// Tells a connection of the functions that a text names. What it cannot be told is missed when the text is prepared.
///
/// # Safety
/// `db` is open and is used under its lock by this thread.
pub(in super::super) unsafe fn learn(db: *mut ffi::sqlite3, sql: &str) {
    let mut found = sql.match_indices(PREFIX).peekable();
    if found.peek().is_none() {
        return;
    }
    // SAFETY: the caller's promise.
    let Some((kept, connection)) = (unsafe { of(db) }) else { return };
    let mut names = kept.names.lock();
    let goes_on = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    for (at, _) in found.filter(|(at, _)| !sql[..*at].ends_with(goes_on)) {
        let rest = &sql[at..];
        let end = rest.find(|letter| !goes_on(letter)).unwrap_or(rest.len());
        if let Err(error) = kept.learn(&connection, &mut names, &rest[..end]) {
            tracing::warn!(%error, function = &rest[..end], "SQLite was not told of a function");
        }
    }
}

/// Tells a connection of all functions.
///
/// # Safety
/// As of [`learn`].
pub(in super::super) unsafe fn learn_all(db: *mut ffi::sqlite3) {
    // SAFETY: the caller's promise.
    if let Some((kept, connection)) = unsafe { of(db) }
        && let Err(error) = kept.learn_all(&connection)
    {
        tracing::warn!(%error, "SQLite was not told of all functions");
    }
}

/// How many names a connection has been told of.
///
/// # Safety
/// As of [`learn`].
#[cfg(test)]
unsafe fn count(db: *mut ffi::sqlite3) -> usize {
    // SAFETY: the caller's promise.
    match unsafe { of(db) } {
        Some((kept, _)) if kept.names.lock().all => ALL.len(),
        Some((kept, _)) => kept.names.lock().some.len(),
        None => 0,
    }
}

/// True for a message about a function of ours that the connection was not told of: what stands in the file's schema calls
/// it, not the text.
pub(in super::super) fn is_missing(message: &str) -> bool {
    ["no such function: rf_", "unknown function: rf_", "no such table: rf_"]
        .iter()
        .any(|begin| message.starts_with(begin))
}

#[cfg(test)]
mod tests {
    use super::super::tests::context;
    use super::*;

    #[test]
    fn a_connection_is_told_of_what_texts_name() {
        let connection = Connection::open_in_memory().unwrap();
        begin(&connection, &context()).unwrap();
        let calls = |sql: &str| connection.prepare(sql).map(drop);
        // SAFETY: the connection is this thread's.
        let db = unsafe { connection.handle() };
        assert!(is_missing(&calls("SELECT rf_lower('A')").unwrap_err().to_string()));
        // SAFETY: as above.
        unsafe { learn(db, "SELECT rf_lower('A'), xrf_upper, 'rf_nothing_of_the_kind'") };
        // SAFETY: as above.
        assert_eq!(unsafe { count(db) }, 1);
        calls("SELECT rf_lower('A')").unwrap();
        calls("SELECT pi(), instr('ab', 'b')").unwrap();
        // SAFETY: as above.
        unsafe { learn_all(db) };
        // SAFETY: as above.
        assert_eq!(unsafe { count(db) }, ALL.len());
        calls("SELECT rf_upper('a'), rf_lower('b')").unwrap();
    }
}
