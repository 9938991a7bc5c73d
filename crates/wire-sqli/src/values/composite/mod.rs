//! `ROW`, `SET`, `MULTISET` and `LIST`: as text, which a client gets that asked for no other form, and with a description
//! ([`Described`]), as IBM's JDBC driver binds and reads them.
//!
//! `SQ_DESCRIBE` names the type in SQL's words, `ROW(name varchar(50), age integer)`, which [`CompositeType`] reads; the
//! cell is a literal, `ROW('Alice',30         )`, which [`CompositeType::parse`] reads by that type. Numbers may be
//! padded with blanks, strings stand in quotes and double them inside. The fields of a named row type are not told;
//! there numbers are read as the literal says: whole ones as integers, others as decimals.

mod described;
mod ty;
mod value;

pub use described::{Described, Node, decode, encode};
pub use ty::{CollectionKind, CompositeType, ElementType};
pub use value::Element;

/// Composites within composites: more are refused.
pub const MAX_DEPTH: usize = 32;
