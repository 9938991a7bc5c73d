//! The SQL functions that compiled statements call: everything named `rf_…` in the function table and in the lowering.
//!
//! One file per family, each with a table of [`Row`]s (and of [`Aggregate`]s, of [`Rows`] for functions that return
//! rows); [`register`] hands them to a connection. Values arrive and leave in their stored form. A failure is a
//! [`rowferry_dialect::Error`]: SQLite can carry only its text, so [`raise`] keeps the whole for [`take_error`].

mod accumulators;
mod administration;
mod aggregate;
mod arrays;
mod bits;
mod bytea;
mod call;
mod cast;
mod collation;
mod column_encryption;
mod composite;
mod context;
mod conversions;
mod datetime;
mod domains;
mod encodings;
mod frames;
mod geometry;
mod grouped;
mod informix;
mod json;
mod json_change;
mod json_records;
mod jsonpath;
mod jsonpath_datetime;
pub(super) mod known;
mod large_objects;
mod lateral;
mod like;
mod locks;
mod modules;
mod money;
mod mysql;
mod network;
mod numbers;
mod ordered_set;
mod privileges;
mod ranges;
mod regex;
mod regression;
mod rows;
mod rows_catalogs;
mod rows_sources;
mod search;
mod sequences;
mod stored_aggregate;
mod strings;
mod subscripts;
mod system;
mod trigonometry;
mod variadic;

use std::cell::RefCell;
use std::sync::Arc;

use rowferry_dialect::{Error, Result, work};
use rusqlite::Connection;
use rusqlite::functions::FunctionFlags;
use rusqlite::types::{ToSqlOutput, Value as SqliteValue};

use rowferry_dialect::ir::Value;

pub(crate) use call::Call;
pub use context::{Context, Definition, Numbers, Queried, RoutineRows, SessionState, Times};
pub(crate) use domains::{Checker, OnceChecker};
pub(super) use json::write as write_json;
pub use mysql::info::host as host_of;
pub(crate) use mysql::info::worked_out;
pub use privileges::{Named, Question};
pub use regex::first_groups;
pub(crate) use search::search_vector;

/// A scalar function.
pub(crate) struct Row {
    /// Its name in SQLite.
    name: &'static str,
    /// Least number of arguments.
    least: u8,
    /// Greatest number of arguments; [`Row::MANY`] is no limit.
    most: u8,
    /// NULL in, NULL out.
    strict: bool,
    /// The same arguments give the same result within a statement: SQLite may call it once.
    steady: bool,
    /// What it does.
    call: fn(&Call<'_>) -> Result<Value>,
}

/// Arguments of more bytes than this together are weighed before the function is called: it will copy them.
const LARGE: usize = 256 * 1024;
/// How often it copies them at least: into the result, which SQLite copies.
const COPIES: usize = 2;

impl Row {
    /// No limit of arguments.
    const MANY: u8 = u8::MAX;

    /// A strict function of so many arguments.
    const fn new(name: &'static str, arguments: u8, call: fn(&Call<'_>) -> Result<Value>) -> Self {
        Self { name, least: arguments, most: arguments, strict: true, steady: true, call }
    }

    /// So many arguments more may follow.
    const fn optional(self, count: u8) -> Self {
        Self { most: self.most + count, ..self }
    }

    /// Any number of arguments may follow.
    const fn variadic(self) -> Self {
        Self { most: Self::MANY, ..self }
    }

    /// The function sees NULLs.
    const fn lenient(self) -> Self {
        Self { strict: false, ..self }
    }

    /// Each call counts.
    const fn volatile(self) -> Self {
        Self { steady: false, ..self }
    }
}

/// The families of scalar functions.
const FAMILIES: &[&[Row]] = &[
    accumulators::ROWS,
    administration::ROWS,
    arrays::ROWS,
    bits::ROWS,
    bytea::ROWS,
    cast::ROWS,
    composite::ROWS,
    datetime::ROWS,
    conversions::ROWS,
    domains::ROWS,
    encodings::ROWS,
    frames::ROWS,
    geometry::ROWS,
    column_encryption::ROWS,
    informix::ROWS,
    json::ROWS,
    json_change::ROWS,
    json_records::ROWS,
    jsonpath::ROWS,
    like::ROWS,
    large_objects::ROWS,
    locks::ROWS,
    modules::ROWS,
    money::ROWS,
    mysql::arithmetic::ROWS,
    mysql::codes::ROWS,
    mysql::conversions::ROWS,
    mysql::dates::ROWS,
    mysql::fitting::ROWS,
    mysql::info::ROWS,
    mysql::json::ROWS,
    mysql::fulltext::ROWS,
    mysql::json_schema::ROWS,
    mysql::partitions::ROWS,
    mysql::json_table::ROWS,
    mysql::numbers::ROWS,
    mysql::patterns::ROWS,
    mysql::strings::ROWS,
    network::ROWS,
    numbers::ROWS,
    numbers::WIDTHS,
    privileges::ROWS,
    ranges::ROWS,
    regex::ROWS,
    search::ROWS,
    stored_aggregate::ROWS,
    strings::ROWS,
    subscripts::ROWS,
    system::ROWS,
    trigonometry::ROWS,
    variadic::ROWS,
];

/// Makes every function, aggregate, table-valued function and collation known to a connection.
pub fn register(connection: &Connection, context: &Arc<Context>) -> rusqlite::Result<()> {
    begin(connection, context)?;
    // SAFETY: the connection is open, and the caller's.
    unsafe { known::learn_all(connection.handle()) };
    Ok(())
}

/// Makes collations known to a connection, and lets it learn functions when they are named.
pub(super) fn begin(connection: &Connection, context: &Arc<Context>) -> rusqlite::Result<()> {
    jsonpath::look_at_patterns();
    known::begin(connection, context)?;
    grouped::register(connection)?;
    collation::register(connection)
}

fn register_row(connection: &Connection, row: &'static Row, context: &Arc<Context>) -> rusqlite::Result<()> {
    let mut flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_INNOCUOUS;
    if row.steady {
        flags |= FunctionFlags::SQLITE_DETERMINISTIC;
    }
    let counts: Vec<i32> =
        if row.most == Row::MANY { vec![-1] } else { (row.least..=row.most).map(i32::from).collect() };
    for count in counts {
        let context = Arc::clone(context);
        connection.create_scalar_function(row.name, count, flags, move |raw| {
            let call = Call::new(raw, &context);
            let weight = call.weigh();
            if row.strict && weight.any_null {
                return Ok(Output(Value::Null));
            }
            if weight.bytes > LARGE {
                work::room_to_work(weight.bytes * COPIES).and_then(|()| work::check()).map_err(raise)?;
            }
            if call.len() < usize::from(row.least) {
                return Err(raise(Error::internal(format!("{} wants {} arguments", row.name, row.least))));
            }
            (row.call)(&call).map(Output).map_err(raise)
        })?;
    }
    Ok(())
}

/// A result on its way to SQLite.
pub(crate) struct Output(pub(crate) Value);

impl rusqlite::ToSql for Output {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match &self.0 {
            Value::Null => ToSqlOutput::Owned(SqliteValue::Null),
            Value::Integer(value) => ToSqlOutput::Owned(SqliteValue::Integer(*value)),
            Value::Real(value) => ToSqlOutput::Owned(SqliteValue::Real(*value)),
            Value::Text(text) => ToSqlOutput::Borrowed(rusqlite::types::ValueRef::Text(text.as_bytes())),
            Value::Blob(bytes) => ToSqlOutput::Borrowed(rusqlite::types::ValueRef::Blob(bytes)),
        })
    }
}

thread_local! {
    static RAISED: RefCell<Option<Error>> = const { RefCell::new(None) };
}

/// Keeps an error for [`take_error`] and gives SQLite its text.
pub fn raise(error: Error) -> rusqlite::Error {
    let message = error.message.clone();
    RAISED.with(|raised| *raised.borrow_mut() = Some(error));
    rusqlite::Error::UserFunctionError(message.into())
}

/// The error that a function of this thread raised last; asked for after a step has failed.
pub fn take_error() -> Option<Error> {
    RAISED.with(|raised| raised.borrow_mut().take())
}

#[cfg(test)]
mod stopping;
#[cfg(test)]
mod tests;
