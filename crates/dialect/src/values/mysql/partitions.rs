//! How MySQL parts the rows of a table, and in which part a row is.
//!
//! The rows of a parted table lie together. What part a row is in is computed from it by one expression, the check that the
//! table has for it: a call of [`CHECK`] with the definition as its first argument, and with what the rows are parted by behind
//! that. So the definition stands in one place, the check refuses rows without a part, and a statement about some parts asks
//! the same of each row.

use std::cmp::Ordering;

use jiff::tz::TimeZone;
use serde_json::{Value as Json, json};

use super::super::ValueRef;
use super::fulltext::words::Words;
use super::{moments, unsigned};
use crate::collation::Collation;

/// The name of the check that parts a table; no name of MySQL's has this letter.
pub const NAME: &str = "partitions\u{10ffff}";

/// The function that the check calls, and the one that yields the place of a row's part, from 0.
pub const CHECK: &str = "mysql_partitioned";
/// See [`CHECK`].
pub const PLACE: &str = "mysql_partition";
/// True, or an error, for a place that must be one of some.
pub const WITHIN: &str = "mysql_within_partitions";

/// By what rows are parted.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Method {
    /// By ranges, each below a bound.
    Range,
    /// By lists of values.
    List,
    /// By the rest of a division.
    Hash,
    /// By a hash of columns.
    Key,
}

const METHODS: [(Method, &str); 4] =
    [(Method::Range, "RANGE"), (Method::List, "LIST"), (Method::Hash, "HASH"), (Method::Key, "KEY")];

impl Method {
    /// MySQL's word for it.
    pub fn word(self) -> &'static str {
        METHODS.iter().find(|(method, _)| *method == self).map_or("", |(_, word)| word)
    }

    /// The parts have values of their own.
    pub fn has_values(self) -> bool {
        matches!(self, Self::Range | Self::List)
    }
}

/// How the values of one column, or of the expression, are compared.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Kind {
    /// As integers.
    Integer,
    /// As integers of so many bytes, which a hash sees.
    Bytes(u8),
    /// As texts, under a collation.
    Text(String),
    /// As dates, or moments, whose texts stand in their order.
    Moment {
        /// They have a time.
        timed: bool,
    },
    /// As anything else: by what is stored.
    Stored,
}

/// A value of a part.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Bound {
    /// NULL, which is below all others.
    Null,
    /// A number.
    Number(i128),
    /// A text, or a moment.
    Text(String),
    /// MAXVALUE.
    Most,
}

/// A part.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Part {
    /// Its name.
    pub name: String,
    /// The row of values that those of RANGE are less than, or the rows of LIST.
    pub values: Vec<Vec<Bound>>,
    /// COMMENT.
    pub comment: String,
}

/// How a table is parted.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Partitioning {
    /// By what.
    pub method: Method,
    /// COLUMNS.
    pub columns: bool,
    /// LINEAR.
    pub linear: bool,
    /// KEY of the primary key, without naming its columns.
    pub of_key: bool,
    /// The parts were told by their names.
    pub named: bool,
    /// They were told by their number.
    pub counted: bool,
    /// How what rows are parted by is compared: one kind for each value.
    pub kinds: Vec<Kind>,
    /// The parts in their order.
    pub parts: Vec<Part>,
}

impl Bound {
    fn told(&self) -> Json {
        match self {
            Self::Null => Json::Null,
            Self::Number(number) => match i64::try_from(*number) {
                Ok(number) => json!(number),
                Err(_) => json!({ "number": number.to_string() }),
            },
            Self::Text(text) => json!(text),
            Self::Most => json!(true),
        }
    }

    fn read(told: &Json) -> Option<Self> {
        Some(match told {
            Json::Null => Self::Null,
            Json::Bool(true) => Self::Most,
            Json::Number(number) => Self::Number(number.as_i64()?.into()),
            Json::String(text) => Self::Text(text.clone()),
            Json::Object(of) => Self::Number(of.get("number")?.as_str()?.parse().ok()?),
            _ => return None,
        })
    }

    /// The order of two values of parts.
    pub fn compared(&self, other: &Self, kind: &Kind) -> Ordering {
        let rank = |bound: &Self| match bound {
            Self::Null => 0,
            Self::Number(_) | Self::Text(_) => 1,
            Self::Most => 2,
        };
        match (self, other) {
            (Self::Number(a), Self::Number(b)) => a.cmp(b),
            (Self::Text(a), Self::Text(b)) => compared_texts(a, b, kind),
            (a, b) => rank(a).cmp(&rank(b)),
        }
    }
}

fn compared_texts(a: &str, b: &str, kind: &Kind) -> Ordering {
    match kind {
        Kind::Text(collation) => match Collation::named(collation) {
            Some(collation) => collation.compare(a, b),
            None => a.cmp(b),
        },
        _ => a.cmp(b),
    }
}

impl Kind {
    fn told(&self) -> Json {
        match self {
            Self::Integer => json!("integer"),
            Self::Bytes(bytes) => json!(bytes),
            Self::Text(collation) => json!({ "text": collation }),
            Self::Moment { timed: true } => json!("moment"),
            Self::Moment { timed: false } => json!("date"),
            Self::Stored => json!("stored"),
        }
    }

    fn read(told: &Json) -> Option<Self> {
        Some(match told {
            Json::Number(bytes) => Self::Bytes(bytes.as_u64()?.try_into().ok()?),
            Json::Object(of) => Self::Text(of.get("text")?.as_str()?.to_owned()),
            Json::String(word) if word == "integer" => Self::Integer,
            Json::String(word) if word == "moment" => Self::Moment { timed: true },
            Json::String(word) if word == "date" => Self::Moment { timed: false },
            Json::String(word) if word == "stored" => Self::Stored,
            _ => return None,
        })
    }

    /// A stored value as one of a part.
    fn bound(&self, value: ValueRef<'_>) -> Bound {
        match (self, value) {
            (_, ValueRef::Null) => Bound::Null,
            (_, ValueRef::Integer(number)) => Bound::Number(number.into()),
            (Self::Integer | Self::Bytes(_), ValueRef::Blob(bytes)) => {
                Bound::Number(unsigned::of_bytes(bytes).unwrap_or_default().into())
            }
            (Self::Integer | Self::Bytes(_), ValueRef::Text(digits)) => {
                let digits = String::from_utf8_lossy(digits);
                Bound::Number(digits.split('.').next().and_then(|whole| whole.parse().ok()).unwrap_or_default())
            }
            (_, ValueRef::Real(number)) => Bound::Number(number as i128),
            (_, ValueRef::Text(text) | ValueRef::Blob(text)) => Bound::Text(String::from_utf8_lossy(text).into_owned()),
        }
    }
}

impl Partitioning {
    /// As the check has it.
    pub fn to_text(&self) -> String {
        let parts: Vec<Json> = self
            .parts
            .iter()
            .map(|part| {
                let rows: Vec<Json> =
                    part.values.iter().map(|row| Json::from(row.iter().map(Bound::told).collect::<Vec<_>>())).collect();
                json!([part.name, rows, part.comment])
            })
            .collect();
        json!({
            "method": self.method.word(),
            "columns": self.columns,
            "linear": self.linear,
            "of_key": self.of_key,
            "named": self.named,
            "counted": self.counted,
            "kinds": self.kinds.iter().map(Kind::told).collect::<Vec<_>>(),
            "parts": parts,
        })
        .to_string()
    }

    /// The inverse of [`Self::to_text`].
    pub fn of_text(text: &str) -> Option<Self> {
        let told: Json = serde_json::from_str(text).ok()?;
        let word = told["method"].as_str()?;
        let (method, _) = METHODS.into_iter().find(|(_, known)| *known == word)?;
        let part = |told: &Json| -> Option<Part> {
            let row = |row: &Json| row.as_array()?.iter().map(Bound::read).collect::<Option<Vec<_>>>();
            Some(Part {
                name: told[0].as_str()?.to_owned(),
                values: told[1].as_array()?.iter().map(row).collect::<Option<_>>()?,
                comment: told[2].as_str()?.to_owned(),
            })
        };
        Some(Self {
            method,
            columns: told["columns"].as_bool()?,
            linear: told["linear"].as_bool()?,
            of_key: told["of_key"].as_bool()?,
            named: told["named"].as_bool()?,
            counted: told["counted"].as_bool()?,
            kinds: told["kinds"].as_array()?.iter().map(Kind::read).collect::<Option<_>>()?,
            parts: told["parts"].as_array()?.iter().map(part).collect::<Option<_>>()?,
        })
    }

    /// The same with moments in the form in which they are stored and compared; `None` where one is none.
    pub fn comparable(&self) -> Option<Self> {
        let mut made = self.clone();
        for bounds in made.parts.iter_mut().flat_map(|part| &mut part.values) {
            for (bound, kind) in bounds.iter_mut().zip(&self.kinds) {
                if let (Bound::Text(text), Kind::Moment { timed }) = (&mut *bound, kind) {
                    let moment = moments::parse(text, &TimeZone::UTC)?;
                    *text = if *timed { moment.stored() } else { moment.date_text() };
                }
            }
        }
        Some(made)
    }

    /// The place of the part that a row of such values is in; `None` where there is none. Its values are
    /// [comparable](Self::comparable).
    pub fn place(&self, values: &[ValueRef<'_>]) -> Option<usize> {
        let count = u64::try_from(self.parts.len()).ok().filter(|count| *count > 0)?;
        let chosen = |hash: u64| usize::try_from(if self.linear { linear(hash, count) } else { hash % count }).ok();
        match self.method {
            Method::Hash => {
                let number = match self.kinds.first()?.bound(*values.first()?) {
                    Bound::Number(number) => number,
                    _ => 0,
                };
                match self.linear {
                    // The low bits of a number below zero are those of its two's complement.
                    true => chosen(number as u64),
                    false => usize::try_from(number.unsigned_abs() % u128::from(count)).ok(),
                }
            }
            Method::Key => {
                let mut hash = Hash { first: 1, second: 4 };
                for (value, kind) in values.iter().zip(&self.kinds) {
                    hash.take(*value, kind);
                }
                chosen(hash.first & 0xffff_ffff)
            }
            Method::Range => {
                let row = self.row(values);
                self.parts.iter().position(|part| {
                    part.values.first().is_some_and(|bounds| self.compared(&row, bounds) == Ordering::Less)
                })
            }
            Method::List => {
                let row = self.row(values);
                let has = |part: &Part| part.values.iter().any(|listed| self.compared(&row, listed) == Ordering::Equal);
                self.parts.iter().position(has)
            }
        }
    }

    fn row(&self, values: &[ValueRef<'_>]) -> Vec<Bound> {
        values.iter().zip(&self.kinds).map(|(value, kind)| kind.bound(*value)).collect()
    }

    /// The order of two rows of values.
    pub fn compared(&self, row: &[Bound], other: &[Bound]) -> Ordering {
        let pairs = row.iter().zip(other).zip(&self.kinds);
        let mut orders = pairs.map(|((a, b), kind)| a.compared(b, kind));
        orders.find(|order| *order != Ordering::Equal).unwrap_or(Ordering::Equal)
    }

    /// The places of parts by their names; the name that is none's otherwise.
    ///
    /// # Errors
    /// That name.
    pub fn places<'n>(&self, names: impl IntoIterator<Item = &'n str>) -> Result<Vec<usize>, String> {
        let place = |name: &str| self.parts.iter().position(|part| part.name.eq_ignore_ascii_case(name));
        names.into_iter().map(|name| place(name).ok_or_else(|| name.to_owned())).collect()
    }
}

/// LINEAR: by the powers of two, so that few rows move where a part is added.
fn linear(hash: u64, count: u64) -> u64 {
    let mask = count.next_power_of_two() - 1;
    let chosen = hash & mask;
    if chosen < count { chosen } else { hash & (mask >> 1) }
}

/// A hash of the values of columns, in MySQL's way for integers.
struct Hash {
    first: u64,
    second: u64,
}

impl Hash {
    fn take(&mut self, value: ValueRef<'_>, kind: &Kind) {
        match (kind, value) {
            (_, ValueRef::Null) => self.first ^= (self.first << 1) | 1,
            (Kind::Bytes(width), value) => {
                let Bound::Number(number) = kind.bound(value) else { return };
                let bytes = number.to_le_bytes();
                let bytes = &bytes[..usize::from(*width).min(bytes.len())];
                // MySQL hashes a number's bytes as if they were a text of latin1_swedish_ci.
                let end = bytes.iter().rposition(|byte| *byte != b' ').map_or(0, |last| last + 1);
                let letters: Vec<u8> = bytes[..end].iter().copied().map(latin1_order).collect();
                self.bytes(&letters);
            }
            (Kind::Text(collation), ValueRef::Text(text)) => {
                let text = String::from_utf8_lossy(text);
                self.bytes(&Words::under(Collation::named(collation)).key(&text));
            }
            (_, ValueRef::Text(bytes) | ValueRef::Blob(bytes)) => self.bytes(bytes),
            (_, ValueRef::Integer(number)) => self.bytes(&number.to_le_bytes()),
            // Equal numbers have equal bytes.
            (_, ValueRef::Real(number)) => self.bytes(&(number + 0.0).to_le_bytes()),
        }
    }

    fn bytes(&mut self, bytes: &[u8]) {
        for byte in bytes {
            let mixed = (self.first & 63).wrapping_add(self.second).wrapping_mul(u64::from(*byte));
            self.first ^= mixed.wrapping_add(self.first << 8);
            self.second = self.second.wrapping_add(3);
        }
    }
}

/// Where a letter stands in latin1_swedish_ci: capital and small ones are alike, and most accents do not count.
fn latin1_order(letter: u8) -> u8 {
    match letter {
        b'a'..=b'z' => letter - 32,
        0xc0..=0xc3 | 0xe0..=0xe3 => b'A',
        0xc4 | 0xc6 | 0xe4 | 0xe6 => b'\\',
        0xc5 | 0xe5 => b'[',
        0xc7 | 0xe7 => b'C',
        0xc8..=0xcb | 0xe8..=0xeb => b'E',
        0xcc..=0xcf | 0xec..=0xef => b'I',
        0xd0 | 0xf0 => b'D',
        0xd1 | 0xf1 => b'N',
        0xd2..=0xd5 | 0xf2..=0xf5 => b'O',
        0xd6 | 0xf6 => b']',
        0xd8 | 0xf8 => 0xd8,
        0xd9..=0xdb | 0xf9..=0xfb => b'U',
        0xdc | 0xdd | 0xfc | 0xfd => b'Y',
        0xde | 0xfe => 0xde,
        _ => letter,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(name: &str, values: Vec<Vec<Bound>>) -> Part {
        Part { name: name.to_owned(), values, comment: String::new() }
    }

    fn parted(method: Method, kinds: Vec<Kind>, parts: Vec<Part>) -> Partitioning {
        let (columns, linear, of_key, named, counted) = (false, false, false, true, false);
        Partitioning { method, columns, linear, of_key, named, counted, kinds, parts }
    }

    #[test]
    fn a_definition_is_read_as_it_was_told() {
        let rows = vec![vec![Bound::Number(i128::from(u64::MAX)), Bound::Text("it's".to_owned())]];
        let kinds =
            vec![Kind::Integer, Kind::Text("utf8mb4_bin".to_owned()), Kind::Bytes(4), Kind::Moment { timed: true }];
        let mut of =
            parted(Method::Range, kinds, vec![part("p0", rows), part("p1", vec![vec![Bound::Most, Bound::Null]])]);
        of.parts[1].comment = "last".to_owned();
        assert_eq!(Partitioning::of_text(&of.to_text()), Some(of));
        assert_eq!(Partitioning::of_text("{}"), None);
    }

    #[test]
    fn nothing_is_below_all_values_of_ranges() {
        let bounds = [10, 20].map(|bound| part("p", vec![vec![Bound::Number(bound)]]));
        let of = parted(Method::Range, vec![Kind::Integer], bounds.to_vec());
        let place = |value| of.place(&[value]);
        assert_eq!(place(ValueRef::Null), Some(0));
        assert_eq!([9, 10, 19, 20].map(|n| place(ValueRef::Integer(n))), [Some(0), Some(1), Some(1), None]);
        // A BIGINT UNSIGNED beyond 2^63-1.
        assert_eq!(place(ValueRef::Blob(&u64::MAX.to_be_bytes())), None);
    }

    #[test]
    fn texts_of_lists_are_compared_under_their_collation() {
        let of = |collation: &str| {
            let listed = vec![vec![Bound::Text("a".to_owned())], vec![Bound::Null]];
            parted(Method::List, vec![Kind::Text(collation.to_owned())], vec![part("p", listed)])
        };
        let (any, exact) = (of("utf8mb4_0900_ai_ci"), of("utf8mb4_bin"));
        assert_eq!(any.place(&[ValueRef::Text(b"A")]), Some(0));
        assert_eq!(exact.place(&[ValueRef::Text(b"A")]), None);
        assert_eq!(exact.place(&[ValueRef::Null]), Some(0));
    }

    #[test]
    fn rows_are_hashed_as_mysql_does() {
        let parts = |count: usize| (0..count).map(|_| part("p", Vec::new())).collect::<Vec<_>>();
        let mut of = parted(Method::Hash, vec![Kind::Integer], parts(6));
        assert_eq!([7, -7, 0].map(|n| of.place(&[ValueRef::Integer(n)])), [Some(1), Some(1), Some(0)]);
        of.linear = true;
        // The manual's: 2003 is in 3, 1998 in 2, of six.
        assert_eq!([2003, 1998].map(|n| of.place(&[ValueRef::Integer(n)])), [Some(3), Some(2)]);
    }
}
