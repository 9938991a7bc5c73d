//! Informix's values: how they are read from text, stored, and converted from type to type.
//!
//! The stored form of a DATETIME or INTERVAL is what Informix prints, with all the digits of its qualifier and without
//! leading blanks; so DATETIMEs of one qualifier sort as text. Errors are Informix's own conditions.

pub mod arithmetic;
pub mod calendar;
pub mod composite;
mod convert;
mod dates;
mod datetime;
mod decimal;
mod document;
pub mod encrypted;
mod format;
mod interval;
pub mod strings;

pub use convert::{computed, convert, fits_integer, string_length, within_bytes};
pub use dates::{DateFormat, convert_dated};
pub use datetime::{Moment, date_from_days, date_to_days, parse_date};
pub use decimal::Decimal;
pub use document::Document;
pub use format::{moment_from_text, moment_to_text, number_from_text, number_to_text};
pub use interval::Span;
