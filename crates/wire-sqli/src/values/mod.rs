//! Cells of rows and parameters.
//!
//! [`CellFormat`] is resolved once per column and then decodes or encodes every cell of it; [`Cell`] is one value.
//! Numbers, dates and times with fields travel in base 100: [`Base100`], [`DateTime`], [`Interval`].
//! Rows and collections are read by [`composite`].

mod base100;
mod cell;
pub mod composite;
mod datetime;
mod int8;
mod interval;

use std::fmt;

pub use base100::Base100;
pub use cell::{Cell, CellFormat, decode_row, encode_row};
pub use datetime::DateTime;
pub use int8::{decode_int8, encode_int8};
pub use interval::Interval;

/// Why a value has no representation in the format asked for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Misfit {
    /// Text that is not a number, date, time or interval of the wanted form.
    Invalid,
    /// A value of another kind than the column's.
    Kind,
    /// Beyond the range, precision or qualifier; or the very value that the wire uses for NULL.
    Range,
    /// More bytes than the column holds.
    TooLong,
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Invalid => "the text does not have the form of the type",
            Self::Kind => "the value is of another kind than the column",
            Self::Range => "the value is out of the range of the type",
            Self::TooLong => "the value is longer than the column",
        })
    }
}

impl std::error::Error for Misfit {}
