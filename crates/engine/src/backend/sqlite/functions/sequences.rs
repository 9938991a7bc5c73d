//! `nextval`, which numbers the rows of bulk inserts: called once a row, it goes past what other functions go through, and
//! keeps its way to the sequence for as long as the statement runs.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::Arc;

use libsqlite3_sys as ffi;
use rowferry_dialect::{Condition, Error, Result};
use rusqlite::{Connection, OptionalExtension as _};

use super::{Context, Numbers};

/// What SQLite calls.
type Function = unsafe extern "C" fn(*mut ffi::sqlite3_context, c_int, *mut *mut ffi::sqlite3_value);

/// Names in SQLite, how many arguments they have, and what is called.
const FUNCTIONS: &[(&CStr, c_int, Function)] = &[(c"rf_nextval", 1, nextval), (c"rf_next_rowid", 4, next_rowid)];

/// The names.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    FUNCTIONS.iter().filter_map(|(name, ..)| name.to_str().ok())
}

/// Makes the function at this place known to a connection.
pub(super) fn register(connection: &Connection, at: usize, context: &Arc<Context>) -> rusqlite::Result<()> {
    let (name, arguments, function) = FUNCTIONS[at];
    let context = Box::into_raw(Box::new(Arc::clone(context)));
    // SAFETY: the handle is open; the context is a box that `drop_context` takes back, also when this fails.
    let code = unsafe {
        ffi::sqlite3_create_function_v2(
            connection.handle(),
            name.as_ptr(),
            arguments,
            ffi::SQLITE_UTF8 | ffi::SQLITE_INNOCUOUS,
            context.cast(),
            Some(function),
            None,
            None,
            Some(drop_context),
        )
    };
    match code {
        ffi::SQLITE_OK => Ok(()),
        code => Err(rusqlite::Error::SqliteFailure(ffi::Error::new(code), None)),
    }
}

unsafe extern "C" fn drop_context(context: *mut c_void) {
    // SAFETY: it is the box that `register` has made, which SQLite gives back once.
    drop(unsafe { Box::from_raw(context.cast::<Arc<Context>>()) });
}

/// What one run of a statement keeps at a place where it asks a sequence for numbers.
struct Place {
    numbers: Box<dyn Numbers>,
    lead: Lead,
}

unsafe extern "C" fn drop_place(place: *mut c_void) {
    // SAFETY: it is the box that `first` has made, which SQLite gives back once.
    drop(unsafe { Box::from_raw(place.cast::<Place>()) });
}

/// Whether SQLite would come by itself to the number that the next row is given.
///
/// Left alone, it gives a row the number behind the greatest in the table, without looking for its place. That is the
/// sequence's number when the row before has that sequence's number before, is in the table, and nothing else has
/// changed meanwhile. Each of these is seen in what SQLite says of its last insert and of its changes; where one is
/// not seen, the row is given its number.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Lead {
    /// So many rows were given numbers; it is not worth a look at the table yet.
    Few(u32),
    /// The row of this number was the greatest of all, when so many changes had been made.
    Last { number: i64, changes: i64 },
    /// Not known, in this run of the statement.
    Lost,
}

/// As many rows are numbered before a look at the table is worth its while.
const FEW: u32 = 16;

impl Lead {
    /// How things stand when a row has been given a number; true if SQLite would give it the same.
    fn take(&mut self, number: i64, inserted: i64, changes: i64) -> bool {
        let (next, same) = match *self {
            Self::Last { number: last, changes: then } if inserted == last && changes == then && number > last => {
                (Self::Last { number, changes }, last.checked_add(1) == Some(number))
            }
            Self::Few(count) => (Self::Few(count + 1), false),
            _ => (Self::Lost, false),
        };
        *self = next;
        same
    }
}

/// `rf_nextval(sequence)`.
unsafe extern "C" fn nextval(raw: *mut ffi::sqlite3_context, _: c_int, args: *mut *mut ffi::sqlite3_value) {
    // SAFETY: SQLite calls with a context of its own and as many arguments as were announced.
    unsafe {
        match place(raw).and_then(|place| place.numbers.next()) {
            Some(number) => ffi::sqlite3_result_int64(raw, number),
            None => first(raw, *args),
        }
    }
}

/// `rf_next_rowid(sequence, database, table, column)`: the next number for a row that is inserted next, with it as its
/// rowid; NULL, which SQLite takes for leave to number the row, where it would come to the same.
unsafe extern "C" fn next_rowid(raw: *mut ffi::sqlite3_context, _: c_int, args: *mut *mut ffi::sqlite3_value) {
    // SAFETY: as above; the handle is open and this thread's while it runs a function.
    unsafe {
        let Some(place) = place(raw) else { return first(raw, *args) };
        let Some(number) = place.numbers.next() else { return first(raw, *args) };
        let db = ffi::sqlite3_context_db_handle(raw);
        let changes = ffi::sqlite3_total_changes64(db);
        if place.lead.take(number, ffi::sqlite3_last_insert_rowid(db), changes) {
            return ffi::sqlite3_result_null(raw);
        }
        if place.lead == Lead::Few(FEW) {
            place.lead = match leads(db, args, number) {
                true => {
                    // Until this row is in the table, its number must not be that of the last insert by chance.
                    ffi::sqlite3_set_last_insert_rowid(db, !number);
                    Lead::Last { number, changes }
                }
                false => Lead::Lost,
            };
        }
        ffi::sqlite3_result_int64(raw, number);
    }
}

/// What the statement has kept at this place.
///
/// # Safety
///
/// The context is that of a call that runs; the reference is given up before SQLite is told to keep something else.
unsafe fn place<'a>(raw: *mut ffi::sqlite3_context) -> Option<&'a mut Place> {
    // SAFETY: only `first` lets SQLite keep something, a `Place`; calls of one statement do not overlap.
    unsafe { ffi::sqlite3_get_auxdata(raw, 0).cast::<Place>().as_mut() }
}

/// The number by the long way; the next ones will take the short one, if there is one.
///
/// # Safety
///
/// The context is that of a call that runs, the argument its first.
unsafe fn first(raw: *mut ffi::sqlite3_context, sequence: *mut ffi::sqlite3_value) {
    // SAFETY: as said; the user data is the box that `register_one` has made, which lives as long as the function.
    let (context, sequence) = unsafe {
        if ffi::sqlite3_value_type(sequence) == ffi::SQLITE_NULL {
            return ffi::sqlite3_result_null(raw);
        }
        (&*ffi::sqlite3_user_data(raw).cast::<Arc<Context>>(), ffi::sqlite3_value_int64(sequence))
    };
    let found = catch_unwind(AssertUnwindSafe(|| {
        let sequence = u32::try_from(sequence).map_err(|_| no_oid(sequence))?;
        let number = context.state().nextval(sequence)?;
        Ok((number, context.state().numbers(sequence)))
    }));
    let found: Result<_> = found.unwrap_or_else(|_| Err(Error::internal("nextval has failed")));
    // SAFETY: the context is that of a call that runs; SQLite drops the place when the run of the statement ends.
    unsafe {
        match found {
            Ok((number, numbers)) => {
                ffi::sqlite3_result_int64(raw, number);
                if let Some(numbers) = numbers {
                    let place = Box::into_raw(Box::new(Place { numbers, lead: Lead::Few(0) }));
                    ffi::sqlite3_set_auxdata(raw, 0, place.cast(), Some(drop_place));
                }
            }
            Err(error) => fail(raw, error),
        }
    }
}

fn no_oid(value: i64) -> Error {
    Error::new(Condition::NumericValueOutOfRange, format!("\"{value}\" is no object identifier"))
}

/// Fails as other functions do.
///
/// # Safety
///
/// The context is that of a call that runs.
unsafe fn fail(raw: *mut ffi::sqlite3_context, error: Error) {
    let message = CString::new(super::raise(error).to_string()).unwrap_or_default();
    // SAFETY: as said; SQLite copies the text.
    unsafe { ffi::sqlite3_result_error(raw, message.as_ptr(), -1) };
}

/// True if a number is greater than every rowid of the table that the arguments name, and the next row would have the
/// number behind it if SQLite numbered it.
///
/// # Safety
///
/// The handle is open and runs the call; the arguments are those of `rf_next_rowid`.
unsafe fn leads(db: *mut ffi::sqlite3, args: *mut *mut ffi::sqlite3_value, number: i64) -> bool {
    // SAFETY: as said; a connection made from a handle does not close it, and the texts are copied before anything else
    // is done with the arguments.
    let (connection, texts) = unsafe {
        let Ok(connection) = Connection::from_handle(db) else { return false };
        let text = |at: usize| {
            let text: *const c_char = ffi::sqlite3_value_text(*args.add(at)).cast();
            if text.is_null() { CString::default() } else { CStr::from_ptr(text).to_owned() }
        };
        (connection, [text(1), text(2), text(3)])
    };
    let [database, table, column] = &texts;
    let (mut is_key, mut counts_apart) = (0, 0);
    // SAFETY: the handle is open, the names are texts of ours, and SQLite writes two integers.
    let known = unsafe {
        ffi::sqlite3_table_column_metadata(
            db,
            database.as_ptr(),
            table.as_ptr(),
            column.as_ptr(),
            ptr::null_mut(),
            ptr::null_mut(),
            ptr::null_mut(),
            &mut is_key,
            &mut counts_apart,
        )
    };
    // AUTOINCREMENT remembers numbers of rows that are gone.
    if known != ffi::SQLITE_OK || is_key == 0 || counts_apart != 0 {
        return false;
    }
    let [Ok(database), Ok(table), Ok(column)] = [database.to_str(), table.to_str(), column.to_str()] else {
        return false;
    };
    let greatest = catch_unwind(AssertUnwindSafe(|| greatest(&connection, database, table, column)));
    matches!(greatest, Ok(Ok(Some(greatest))) if number > greatest)
}

/// The greatest number in a column of a table that has no triggers of SQLite's, which may insert, too.
fn greatest(connection: &Connection, database: &str, table: &str, column: &str) -> rusqlite::Result<Option<i64>> {
    let quote = rowferry_dialect::lower::sqlite::create_table::quote;
    let triggers = format!(
        "SELECT 1 FROM (SELECT type, tbl_name FROM {database}.sqlite_schema UNION ALL
                        SELECT type, tbl_name FROM temp.sqlite_schema)
         WHERE type = 'trigger' AND tbl_name = ?1 COLLATE NOCASE",
        database = quote(database)
    );
    if connection.query_row(&triggers, [table], |_| Ok(())).optional()?.is_some() {
        return Ok(None);
    }
    let greatest = format!("SELECT max({}) FROM {}.{}", quote(column), quote(database), quote(table));
    connection.query_row(&greatest, [], |row| row.get(0))
}

#[cfg(test)]
mod tests {
    use super::Lead;

    fn lead(number: i64) -> Lead {
        Lead::Last { number, changes: 5 }
    }

    #[test]
    fn a_row_is_left_to_sqlite_only_behind_the_one_that_was_inserted_last() {
        let mut state = lead(7);
        assert!(state.take(8, 7, 5));
        assert!(state.take(9, 8, 5));
        assert_eq!(state, lead(9));
    }

    #[test]
    fn a_number_that_others_have_taken_is_a_gap_behind_which_it_goes_on() {
        let mut state = lead(7);
        assert!(!state.take(9, 7, 5));
        assert!(state.take(10, 9, 5));
    }

    #[test]
    fn what_is_not_as_expected_ends_it_for_this_run() {
        // The row before is not in the table, something else was changed, the numbers go back.
        for (number, inserted, changes) in [(8, 6, 5), (8, 7, 6), (7, 7, 5), (1, 7, 5)] {
            let mut state = lead(7);
            assert!(!state.take(number, inserted, changes));
            assert_eq!(state, Lead::Lost);
            assert!(!state.take(8, 7, 5));
        }
    }
}
