//! Rows as values of types, for forms that keep them: a column is what its database says that it is.

use std::io;
use std::sync::Arc;

use arrow_schema::{DataType, Field, TimeUnit};

use crate::Failure;

/// Takes the rows of one statement, as values.
pub trait Rows {
    /// Rows with these columns are to come; there is at least one column.
    fn begin(&mut self, columns: Vec<Field>) -> io::Result<()>;
    /// A row, with as many cells as there are columns.
    fn row(&mut self, cells: &[Value<'_>]) -> io::Result<()>;
    /// There are no more rows. What the statement did is kept only after this.
    fn end(&mut self) -> io::Result<()>;
    /// A remark of the database.
    fn notice(&mut self, text: &str) -> io::Result<()>;
}

/// A value of a row.
#[derive(Clone, Debug, PartialEq)]
pub enum Value<'a> {
    /// NULL.
    Null,
    /// A whole number.
    Int(i64),
    /// A whole number without a sign.
    UInt(u64),
    /// An IEEE single.
    Single(f32),
    /// An IEEE double.
    Double(f64),
    /// Microseconds.
    Micros(i64),
    /// Days since 1970.
    Days(i64),
    /// Bytes as they are.
    Bytes(&'a [u8]),
    /// Any other value as PostgreSQL spells it where `DateStyle` is ISO and `bytea_output` hex.
    Spelled(&'a [u8]),
    /// No value of the column's type, and why.
    Wrong(String),
}

/// A column that may be NULL, as all may: joins and outer levels of grouping make NULLs of any column.
pub fn column(name: &str, data_type: DataType) -> Field {
    Field::new(name, data_type, true)
}

/// An exact number of so many digits, so many of them behind the point. Text beyond 38 digits: Arrow has longer decimals, but of
/// those some readers silently make floating point numbers, and others refuse the file.
pub fn decimal(precision: i64, scale: i64) -> DataType {
    // A negative scale is zeros before the point, one beyond the precision zeros behind it.
    let (precision, scale) = (precision.max(scale) - scale.min(0), scale.max(0));
    match (u8::try_from(precision), i8::try_from(scale)) {
        (Ok(precision @ 1..=38), Ok(scale)) => DataType::Decimal128(precision, scale),
        _ => DataType::Utf8,
    }
}

/// Date and time without a zone.
pub fn timestamp() -> DataType {
    DataType::Timestamp(TimeUnit::Microsecond, None)
}

/// A moment.
pub fn moment() -> DataType {
    DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()))
}

/// A time of day.
pub fn time() -> DataType {
    DataType::Time64(TimeUnit::Microsecond)
}

/// An array of elements, named as Parquet names them.
pub fn list(element: DataType) -> DataType {
    DataType::List(Arc::new(Field::new("element", element, true)))
}

/// A statement that has no rows to write.
pub fn no_rows() -> Failure {
    Failure::new("the statement answers no rows: there is nothing to write")
        .hint("choose another form to run it: --format table")
}
