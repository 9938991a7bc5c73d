//! Informix's values: how they are read from text, stored, and converted from type to type.
//!
//! The stored form of a DATETIME or INTERVAL is what Informix prints, with all the digits of its qualifier and without
//! leading blanks; so DATETIMEs of one qualifier sort as text. Errors are Informix's own conditions.

pub mod arithmetic;
mod convert;
mod datetime;
mod decimal;
mod interval;

pub use convert::{convert, fits_integer};
pub use datetime::{Moment, date_from_days, date_to_days, parse_date};
pub use decimal::Decimal;
pub use interval::Span;
