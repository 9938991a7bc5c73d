//! Built-in types that are rows: what such a type does stands in one file of its family, and everything else asks the
//! row.
//!
//! [`crate::Type`] names those types that the compiler itself has to know. All others of PostgreSQL are a
//! [`Type::Scalar`](crate::Type::Scalar) with a row from here. Names, categories, array types come from
//! [`rowferry_facts`]; a row adds how a value is read, printed, sent, received, stored and ordered. A new type is a row
//! in its family's `ROWS` (and rows for its functions).

pub mod bits;
pub mod citext;
pub mod cursors;
pub mod geometry;
pub mod hstore;
pub mod money;
pub mod network;
pub mod numbers;
pub mod ranges;
pub mod search;
pub mod snapshots;
pub mod vectors;

use std::cmp::Ordering;
use std::collections::HashMap;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::LazyLock;

use rowferry_facts as facts;

use crate::ir::Value;
use crate::types::Storage;
use crate::values::{Settings, ValueRef};
use crate::{Condition, Error, Result, Type};

/// A built-in type.
pub struct Scalar {
    /// Its name in `pg_type`.
    pub name: &'static str,
    /// The words that PostgreSQL prints, by SQL's standard.
    pub words: &'static str,
    /// Its object id.
    pub oid: u32,
    /// What stands between the members of an array's text.
    pub delimiter: char,
    /// How its values are stored: as integers or as text.
    pub storage: Storage,
    /// How they are ordered.
    pub order: Order,
    /// The modifiers in parentheses that it takes.
    pub modifiers: Modifiers,
    /// Conversions that do not go through the text; `None` from one leaves it to that.
    pub casts: Casts,
    /// Reads a text; gives the stored form.
    pub input: fn(&str, &Settings) -> Result<Value>,
    /// Prints a stored value, which has the row's storage.
    pub output: fn(&mut Vec<u8>, ValueRef<'_>, &Settings) -> Result<()>,
    /// Reads PostgreSQL's binary format; gives the stored form.
    pub receive: fn(&[u8]) -> Result<Value>,
    /// Writes a stored value in PostgreSQL's binary format.
    pub send: fn(&mut Vec<u8>, ValueRef<'_>) -> Result<()>,
}

/// How values of a type are ordered.
#[derive(Clone, Copy)]
pub enum Order {
    /// There is no order and no equality.
    None,
    /// There is equality, but no order.
    Unordered,
    /// As the stored form is: integers by value, text by its bytes.
    Stored,
    /// By a collation over the stored text.
    By {
        /// Its name.
        collation: &'static str,
        /// The name of the one for arrays of the type.
        of_arrays: &'static str,
        /// What it does.
        compare: fn(&str, &str) -> Ordering,
    },
}

/// Modifiers of a type.
#[derive(Clone, Copy)]
pub enum Modifiers {
    /// It takes none.
    None,
    /// A length, at least 1; [`Fit`] says what it asks of a value.
    Length(Fit),
}

/// Makes a stored value have a length: the value, the length, whether a cast was asked for (which may cut or fill).
pub type Fit = fn(&str, u32, bool) -> Result<String>;

/// Conversions of a type.
#[derive(Clone, Copy)]
pub struct Casts {
    /// A value of another type becomes one of this, with its modifier.
    pub from: fn(&Value, &Type, Option<u32>) -> Option<Result<Value>>,
    /// A value of this type becomes one of another.
    pub into: fn(&Value, &Type) -> Option<Result<Value>>,
}

impl Casts {
    /// All conversions go through the text.
    pub const TEXT: Self = Self { from: |_, _, _| None, into: |_, _| None };
}

static FAMILIES: &[&[&Scalar]] = &[
    bits::ROWS,
    cursors::ROWS,
    geometry::ROWS,
    money::ROWS,
    network::ROWS,
    numbers::ROWS,
    ranges::ROWS,
    search::ROWS,
    snapshots::ROWS,
    vectors::ROWS,
];

/// The families of extensions: their types are there where the extension is.
static OF_EXTENSIONS: &[&[&Scalar]] = &[citext::ROWS, hstore::ROWS];

/// Every row of PostgreSQL's own types.
pub fn all() -> impl Iterator<Item = &'static Scalar> {
    FAMILIES.iter().flat_map(|family| family.iter()).copied()
}

/// Every row of an extension's type.
pub fn of_extensions() -> impl Iterator<Item = &'static Scalar> {
    OF_EXTENSIONS.iter().flat_map(|family| family.iter()).copied()
}

/// The row with an object id, one of an extension's among them.
pub fn by_oid(oid: u32) -> Option<&'static Scalar> {
    static ROWS: LazyLock<HashMap<u32, &'static Scalar>> =
        LazyLock::new(|| all().chain(of_extensions()).map(|scalar| (scalar.oid, scalar)).collect());
    ROWS.get(&oid).copied()
}

/// The row of PostgreSQL's with a name of `pg_type`.
pub fn named(name: &str) -> Option<&'static Scalar> {
    static ROWS: LazyLock<HashMap<&'static str, &'static Scalar>> =
        LazyLock::new(|| all().map(|scalar| (scalar.name, scalar)).collect());
    ROWS.get(name).copied()
}

impl Scalar {
    /// What PostgreSQL says of it.
    pub fn facts(&self) -> &'static facts::Type {
        facts::Type::by_oid(self.oid).expect("every row is a type of PostgreSQL's")
    }

    /// The collation under which stored values are compared, unless the stored form's own order does.
    pub fn collation(&self) -> Option<&'static str> {
        match self.order {
            Order::By { collation, .. } => Some(collation),
            Order::None | Order::Unordered | Order::Stored => None,
        }
    }

    /// A stored value with the modifier that its place asks for.
    ///
    /// # Errors
    /// What the type raises where a value has another length: `22026`, `22001`.
    pub fn fit(&self, value: Value, modifier: Option<u32>, asked: bool) -> Result<Value> {
        match (self.modifiers, modifier, value) {
            (Modifiers::Length(fit), Some(length), Value::Text(text)) => Ok(Value::Text(fit(&text, length, asked)?)),
            (_, _, value) => Ok(value),
        }
    }
}

impl PartialEq for Scalar {
    fn eq(&self, other: &Self) -> bool {
        self.oid == other.oid
    }
}

impl Eq for Scalar {}

impl Hash for Scalar {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.oid.hash(state);
    }
}

impl fmt::Debug for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// Prints a text that is stored as it is printed.
fn as_stored(out: &mut Vec<u8>, value: ValueRef<'_>, _: &Settings) -> Result<()> {
    out.extend_from_slice(stored_text(value)?.as_bytes());
    Ok(())
}

/// The stored text.
fn stored_text(value: ValueRef<'_>) -> Result<&str> {
    match value {
        ValueRef::Text(bytes) => std::str::from_utf8(bytes).map_err(|_| corrupted()),
        _ => Err(corrupted()),
    }
}

/// The stored integer.
fn stored_integer(value: ValueRef<'_>) -> Result<i64> {
    match value {
        ValueRef::Integer(value) => Ok(value),
        _ => Err(corrupted()),
    }
}

fn corrupted() -> Error {
    Error::new(Condition::DataCorrupted, "the stored value does not have its type's form")
}

/// The error for a binary value of a wrong length or with fields that cannot be.
fn malformed(name: &str) -> Error {
    Error::new(Condition::InvalidBinaryRepresentation, format!("Cannot read: {name}."))
}

/// A binary value of a fixed size.
fn fixed<const N: usize>(bytes: &[u8], name: &str) -> Result<[u8; N]> {
    bytes.try_into().map_err(|_| malformed(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_types_of_postgresql() {
        let mut seen = std::collections::HashSet::new();
        for scalar in all().chain(of_extensions()) {
            let facts = scalar.facts();
            assert_eq!(facts.name, scalar.name);
            assert_eq!(facts.delimiter, scalar.delimiter);
            assert!(facts.array != 0 || scalar.oid == vectors::PG_NODE_TREE.oid, "{}", scalar.name);
            assert!(matches!(scalar.storage, Storage::Integer | Storage::Text), "{}", scalar.name);
            assert!(seen.insert(scalar.oid), "{}", scalar.name);
        }
    }
}

/// Values of each row that must come back from every form, for the tests of the families.
#[cfg(test)]
pub(crate) mod round_trip {
    use super::*;

    /// Input, and the text that PostgreSQL prints of it.
    pub(crate) fn check(scalar: &Scalar, cases: &[(&str, &str)]) {
        let settings = Settings::default();
        for (given, printed) in cases {
            let stored = (scalar.input)(given, &settings).unwrap_or_else(|error| panic!("{given}: {error:?}"));
            let mut text = Vec::new();
            (scalar.output)(&mut text, stored.as_ref(), &settings).expect("a stored value is printed");
            assert_eq!(String::from_utf8(text).unwrap(), *printed, "{given}");
            assert_eq!((scalar.input)(printed, &settings).expect("what is printed is read"), stored, "{given}");
            let mut bytes = Vec::new();
            (scalar.send)(&mut bytes, stored.as_ref()).expect("a stored value is sent");
            assert_eq!((scalar.receive)(&bytes).expect("what is sent is received"), stored, "{given}");
            for end in 0..bytes.len() {
                let _ = (scalar.receive)(&bytes[..end]);
            }
        }
    }

    /// Texts that are refused, with PostgreSQL's words.
    pub(crate) fn refuses(scalar: &Scalar, cases: &[(&str, &str)]) {
        for (given, message) in cases {
            let error = (scalar.input)(given, &Settings::default()).expect_err(given);
            assert_eq!(error.message, *message);
        }
    }

    /// Values from the least to the greatest.
    pub(crate) fn ascends(scalar: &Scalar, texts: &[&str]) {
        let stored: Vec<Value> =
            texts.iter().map(|text| (scalar.input)(text, &Settings::default()).expect("a value")).collect();
        for (at, pair) in stored.windows(2).enumerate() {
            let order = match (&pair[0], &pair[1], scalar.order) {
                (Value::Text(a), Value::Text(b), Order::By { compare, .. }) => compare(a, b),
                (Value::Text(a), Value::Text(b), Order::Stored) => a.cmp(b),
                (Value::Integer(a), Value::Integer(b), _) => a.cmp(b),
                other => panic!("{other:?}", other = (other.0, other.1)),
            };
            assert_eq!(order, Ordering::Less, "{} < {}", texts[at], texts[at + 1]);
        }
    }
}
