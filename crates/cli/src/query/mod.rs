//! `rowferry query URL SQL`: ask any database that we can reach, and show the answer to people or programs.

mod output;

pub use output::{Column, Format, Kind, Printer};
