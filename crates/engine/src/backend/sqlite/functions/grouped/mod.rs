//! Groups by hashing, aggregates that take an expression as a whole, and windows: `rf_group`, `rf_groups`, `rf_fused`, `rf_window`.
//!
//! SQLite sorts rows to group them, and calls a function for each operator and each aggregate of each row. Instead, one
//! aggregate is told by its first argument ([`Spec`]) what to do with the others: which are keys, what is computed of the
//! numbers among them, what is gathered. It keeps all groups itself; a table-valued function then yields their rows. It all
//! stands in one statement: what goes from the one to the other is the number under which the groups are [`kept`].
//!
//! What there is no memory for goes to files, a part of the groups in each ([`groups`]).

mod cells;
mod fixed;
mod groups;
mod kept;
mod numbers;
mod table;
mod windows;

use std::ffi::{CString, c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};

use rowferry_dialect::ir::Value;
use rowferry_dialect::lower::sqlite::spec::Spec;
use rowferry_dialect::lower::sqlite::window_spec::WindowSpec;
use rowferry_dialect::values::ValueRef;
use rowferry_dialect::{Error, Result};
use rusqlite::{Connection, ffi};

use fixed::Inputs;
use groups::{Finished, Groups};
use numbers::Numbers;
use windows::Windows;

/// Makes the functions known to a connection.
pub(super) fn register(connection: &Connection) -> rusqlite::Result<()> {
    // SAFETY: the names are C strings, and the functions hold no data of their own.
    unsafe {
        let handle = connection.handle();
        aggregate(handle, c"rf_group", -1, step, finish_groups)?;
        aggregate(handle, c"rf_fused", -1, step, finish_one)?;
        aggregate(handle, c"rf_window", -1, step_windows, finish_windows)?;
        aggregate(handle, c"rf_row_numbers", 1, step_numbers, finish_numbers)?;
    }
    table::register(connection)
}

type Step = unsafe extern "C" fn(*mut ffi::sqlite3_context, c_int, *mut *mut ffi::sqlite3_value);
type Finish = unsafe extern "C" fn(*mut ffi::sqlite3_context);

unsafe fn aggregate(
    handle: *mut ffi::sqlite3,
    name: &std::ffi::CStr,
    arguments: c_int,
    step: Step,
    finish: Finish,
) -> rusqlite::Result<()> {
    let flags = ffi::SQLITE_UTF8 | ffi::SQLITE_DETERMINISTIC | ffi::SQLITE_INNOCUOUS;
    // SAFETY: the caller's promise; neither function has data that would have to be dropped.
    let code = unsafe {
        ffi::sqlite3_create_function_v2(
            handle,
            name.as_ptr(),
            arguments,
            flags,
            std::ptr::null_mut(),
            None,
            Some(step),
            Some(finish),
            None,
        )
    };
    if code == ffi::SQLITE_OK { Ok(()) } else { Err(rusqlite::Error::SqliteFailure(ffi::Error::new(code), None)) }
}

/// The arguments behind the first.
struct Arguments<'a>(&'a [*mut ffi::sqlite3_value]);

impl Inputs for Arguments<'_> {
    #[inline]
    fn value(&self, at: usize) -> ValueRef<'_> {
        let value = self.0[at];
        // SAFETY: SQLite's values live as long as the call, and a text is asked for before its length.
        unsafe {
            match ffi::sqlite3_value_type(value) {
                ffi::SQLITE_INTEGER => ValueRef::Integer(ffi::sqlite3_value_int64(value)),
                ffi::SQLITE_FLOAT => ValueRef::Real(ffi::sqlite3_value_double(value)),
                ffi::SQLITE_TEXT => {
                    let text = ffi::sqlite3_value_text(value);
                    ValueRef::Text(slice(text, ffi::sqlite3_value_bytes(value)))
                }
                ffi::SQLITE_BLOB => {
                    let bytes = ffi::sqlite3_value_blob(value);
                    ValueRef::Blob(slice(bytes.cast(), ffi::sqlite3_value_bytes(value)))
                }
                _ => ValueRef::Null,
            }
        }
    }
}

/// # Safety
/// `bytes` points to `length` bytes, or is null.
unsafe fn slice<'a>(bytes: *const u8, length: c_int) -> &'a [u8] {
    match usize::try_from(length) {
        // SAFETY: by the caller's promise.
        Ok(length) if length > 0 && !bytes.is_null() => unsafe { std::slice::from_raw_parts(bytes, length) },
        _ => &[],
    }
}

/// The state of one run of an aggregate: a pointer in memory of SQLite's, null before the first row.
unsafe fn state<T>(context: *mut ffi::sqlite3_context, size: usize) -> *mut *mut T {
    // SAFETY: SQLite calls us with a context of an aggregate.
    unsafe { ffi::sqlite3_aggregate_context(context, size as c_int) }.cast()
}

unsafe extern "C" fn step(context: *mut ffi::sqlite3_context, count: c_int, values: *mut *mut ffi::sqlite3_value) {
    let begun = |told: &str, given: usize| Some(Groups::new(Spec::read(told).filter(|spec| spec.inputs() <= given)?));
    // SAFETY: SQLite hands on as many values as it says.
    unsafe { told_step(context, count, values, begun, |groups, row| groups.step(row)) }
}

unsafe extern "C" fn step_windows(
    context: *mut ffi::sqlite3_context,
    count: c_int,
    values: *mut *mut ffi::sqlite3_value,
) {
    let begun =
        |told: &str, given: usize| Some(Windows::new(WindowSpec::read(told).filter(|spec| spec.inputs() <= given)?));
    // SAFETY: SQLite hands on as many values as it says.
    unsafe { told_step(context, count, values, begun, |windows, row| windows.step(row)) }
}

/// A row for an aggregate that is told by its first argument what to do with so many others.
///
/// # Safety
/// The context is of an aggregate whose state is a `T`, and `values` are so many.
unsafe fn told_step<T>(
    context: *mut ffi::sqlite3_context,
    count: c_int,
    values: *mut *mut ffi::sqlite3_value,
    begun: impl FnOnce(&str, usize) -> Option<T>,
    step: impl FnOnce(&mut T, &Arguments<'_>) -> Result<()>,
) {
    guarded(context, || {
        // SAFETY: SQLite hands on as many values as it says, and zeroed memory of the size that is asked for.
        let (values, place) = unsafe {
            (std::slice::from_raw_parts(values, count as usize), state::<T>(context, size_of::<*mut T>()).as_mut())
        };
        let place = place.ok_or_else(|| Error::internal("no memory for an aggregate"))?;
        let Some((first, values)) = values.split_first() else {
            return Err(Error::internal("an aggregate of nothing"));
        };
        if place.is_null() {
            let told = match Arguments(std::slice::from_ref(first)).value(0) {
                ValueRef::Text(text) => std::str::from_utf8(text).ok().and_then(|told| begun(told, values.len())),
                _ => None,
            };
            let begun = told.ok_or_else(|| Error::internal("an aggregate that is not told what to do"))?;
            *place = Box::into_raw(Box::new(begun));
        }
        // SAFETY: made above, and nobody else has it before the last call.
        step(unsafe { &mut **place }, &Arguments(values))
    });
}

unsafe extern "C" fn step_numbers(
    context: *mut ffi::sqlite3_context,
    count: c_int,
    values: *mut *mut ffi::sqlite3_value,
) {
    guarded(context, || {
        // SAFETY: as in `step`.
        let (values, place) = unsafe {
            (
                std::slice::from_raw_parts(values, count as usize),
                state::<Numbers>(context, size_of::<*mut Numbers>()).as_mut(),
            )
        };
        let place: &mut *mut Numbers = place.ok_or_else(|| Error::internal("no memory for an aggregate"))?;
        if place.is_null() {
            *place = Box::into_raw(Box::default());
        }
        // SAFETY: made above, and nobody else has it before the last call.
        unsafe { &mut **place }.step(Arguments(values).value(0))
    });
}

/// What a run has come to; `None` when there was no row.
///
/// # Safety
/// The context is of an aggregate whose state is a `T`.
unsafe fn taken<T>(context: *mut ffi::sqlite3_context) -> Option<Box<T>> {
    // SAFETY: as in `step`; the pointer is a box's, and is forgotten here.
    unsafe {
        let place = state::<T>(context, 0).as_mut()?;
        let state = std::mem::replace(place, std::ptr::null_mut());
        (!state.is_null()).then(|| Box::from_raw(state))
    }
}

/// All groups, for `rf_groups`: eight bytes that say under which number they are kept.
unsafe extern "C" fn finish_groups(context: *mut ffi::sqlite3_context) {
    guarded(context, || {
        // SAFETY: SQLite's last call of a run.
        match unsafe { taken::<Groups>(context) } {
            Some(groups) => keep(context, groups.finish()?),
            None => Ok(()),
        }
    });
}

/// The same of numbers.
unsafe extern "C" fn finish_numbers(context: *mut ffi::sqlite3_context) {
    guarded(context, || {
        // SAFETY: SQLite's last call of a run.
        match unsafe { taken::<Numbers>(context) } {
            Some(numbers) => keep(context, numbers.finish()?),
            None => Ok(()),
        }
    });
}

/// The same of windows, and 0 where there was no room for their rows.
unsafe extern "C" fn finish_windows(context: *mut ffi::sqlite3_context) {
    guarded(context, || {
        // SAFETY: SQLite's last call of a run.
        let Some(windows) = (unsafe { taken::<Windows>(context) }) else { return Ok(()) };
        match windows.finish()? {
            Some(computed) => keep(context, Finished::of_windows(computed)),
            // SAFETY: the context is that of the call.
            None => unsafe {
                ffi::sqlite3_result_int(context, 0);
                Ok(())
            },
        }
    });
}

fn keep(context: *mut ffi::sqlite3_context, finished: Finished) -> Result<()> {
    let number = kept::keep(finished);
    let bytes = Box::into_raw(Box::new(number.to_le_bytes()));
    // SAFETY: the box has as many bytes, and SQLite drops it with the value, which lives as long as anybody can ask.
    unsafe { ffi::sqlite3_result_blob(context, bytes.cast(), size_of::<u64>() as c_int, Some(forget)) };
    Ok(())
}

unsafe extern "C" fn forget(number: *mut c_void) {
    // SAFETY: it is the box that was handed to SQLite.
    let number = unsafe { Box::from_raw(number.cast::<[u8; 8]>()) };
    kept::forget(u64::from_le_bytes(*number));
}

/// The one value of the one group.
unsafe extern "C" fn finish_one(context: *mut ffi::sqlite3_context) {
    guarded(context, || {
        // SAFETY: SQLite's last call of a run.
        let value = match unsafe { taken::<Groups>(context) } {
            Some(groups) => groups.only()?,
            None => Value::Null,
        };
        // SAFETY: SQLite copies texts and bytes.
        unsafe {
            match &value {
                Value::Null => ffi::sqlite3_result_null(context),
                Value::Integer(value) => ffi::sqlite3_result_int64(context, *value),
                Value::Real(value) => ffi::sqlite3_result_double(context, *value),
                Value::Text(text) => ffi::sqlite3_result_text64(
                    context,
                    text.as_ptr().cast::<c_char>(),
                    text.len() as u64,
                    ffi::SQLITE_TRANSIENT(),
                    ffi::SQLITE_UTF8 as u8,
                ),
                Value::Blob(bytes) => ffi::sqlite3_result_blob64(
                    context,
                    bytes.as_ptr().cast(),
                    bytes.len() as u64,
                    ffi::SQLITE_TRANSIENT(),
                ),
            }
        }
        Ok(())
    });
}

/// No panic leaves us into C, and an error becomes the statement's.
fn guarded(context: *mut ffi::sqlite3_context, work: impl FnOnce() -> Result<()>) {
    let failed = match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(())) => return,
        Ok(Err(error)) => error,
        Err(_) => Error::internal("an aggregate has panicked"),
    };
    let message = CString::new(failed.message.replace('\0', " ")).unwrap_or_default();
    let _ = super::raise(failed);
    // SAFETY: SQLite copies the message.
    unsafe { ffi::sqlite3_result_error(context, message.as_ptr(), -1) };
}
