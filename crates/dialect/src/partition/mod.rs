//! Partitioned tables: the key by which their rows are parted, and the bounds of a partition.
//!
//! Both are kept as PostgreSQL prints them, so that a file shows what the catalogs show; see `docs/decisions/partitions.md`.

mod adopted;
mod check;
mod hash;
mod tree;

use std::fmt;

pub use adopted::{adopted_indexes, adopted_key, is_whole, parent_of_index};
pub use check::NewBound;
pub use hash::{hash, hash_of_row, is_hashed};
pub use tree::{
    Above, EdgeValue, Edges, KeyType, Level, Misfit, Place, Target, Tree, Values, not_of, order, order_of_edges,
};

/// The property of a table that says by what its rows are parted.
pub const PARTITION_BY: &str = "partition_by";
/// The property of a table that says which rows of its parent it has.
pub const PARTITION_BOUND: &str = "partition_bound";
/// How rows are parted.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Strategy {
    /// By a hash of the key.
    Hash,
    /// By lists of values.
    List,
    /// By ranges.
    Range,
}

impl Strategy {
    /// Every one.
    pub const EACH: [Self; 3] = [Self::Hash, Self::List, Self::Range];

    /// SQL's word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Hash => "HASH",
            Self::List => "LIST",
            Self::Range => "RANGE",
        }
    }

    /// The letter of `pg_partitioned_table.partstrat`.
    pub const fn letter(self) -> &'static str {
        match self {
            Self::Hash => "h",
            Self::List => "l",
            Self::Range => "r",
        }
    }
}

/// PARTITION BY.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Partitioning {
    /// How.
    pub strategy: Strategy,
    /// By what.
    pub keys: Vec<Key>,
}

/// A column or an expression by which rows are parted.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Key {
    /// The column's name; `None` is an expression.
    pub column: Option<String>,
    /// The expression's text, in PostgreSQL's SQL; a column's quoted name.
    pub text: String,
    /// COLLATE, where it is not the type's own: the collation's property, see [`crate::collation::Collation::property`].
    pub collation: Option<String>,
    /// The operator class, where it is not the type's own.
    pub opclass: Option<String>,
}

impl fmt::Display for Partitioning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (", self.strategy.word())?;
        for (at, key) in self.keys.iter().enumerate() {
            if at > 0 {
                f.write_str(", ")?;
            }
            write!(f, "{key}")?;
        }
        f.write_str(")")
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)?;
        if let Some(collation) = &self.collation {
            write!(f, " COLLATE {}", crate::postgres::quote_ident(collation))?;
        }
        if let Some(opclass) = &self.opclass {
            write!(f, " {opclass}")?;
        }
        Ok(())
    }
}

/// Which rows of its parent a partition has; values as literals of the keys' types.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Bound {
    /// Those that no other has.
    Default,
    /// WITH (MODULUS, REMAINDER).
    Hash {
        /// Modulus.
        modulus: u32,
        /// Remainder.
        remainder: u32,
    },
    /// IN; `None` is NULL.
    List(Vec<Option<String>>),
    /// FROM, and TO, which does not belong to it.
    Range {
        /// The lower edge.
        from: Vec<Edge>,
        /// The upper edge.
        to: Vec<Edge>,
    },
}

/// A value of an edge of a range.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Edge {
    /// MINVALUE.
    Min,
    /// A value's text, unquoted.
    Value(String),
    /// MAXVALUE.
    Max,
}

impl Bound {
    /// The strategy of a parent that such a partition fits; any for the default one.
    pub const fn strategy(&self) -> Option<Strategy> {
        match self {
            Self::Default => None,
            Self::Hash { .. } => Some(Strategy::Hash),
            Self::List(_) => Some(Strategy::List),
            Self::Range { .. } => Some(Strategy::Range),
        }
    }

    /// As PostgreSQL prints it; `plain` says of each key whether its values stand without quotes.
    pub fn text(&self, plain: &dyn Fn(usize, &str) -> bool) -> String {
        let value = |at: usize, text: &str| {
            if plain(at, text) { text.to_owned() } else { format!("'{}'", text.replace('\'', "''")) }
        };
        let edges = |edges: &[Edge]| {
            let shown = edges.iter().enumerate().map(|(at, edge)| match edge {
                Edge::Min => "MINVALUE".to_owned(),
                Edge::Max => "MAXVALUE".to_owned(),
                Edge::Value(text) => value(at, text),
            });
            shown.collect::<Vec<_>>().join(", ")
        };
        match self {
            Self::Default => "DEFAULT".to_owned(),
            Self::Hash { modulus, remainder } => {
                format!("FOR VALUES WITH (modulus {modulus}, remainder {remainder})")
            }
            Self::List(values) => {
                let shown = values.iter().map(|one| one.as_ref().map_or("NULL".to_owned(), |text| value(0, text)));
                format!("FOR VALUES IN ({})", shown.collect::<Vec<_>>().join(", "))
            }
            Self::Range { from, to } => format!("FOR VALUES FROM ({}) TO ({})", edges(from), edges(to)),
        }
    }

    /// Reads what [`Self::text`] has written; `None` for what somebody else has.
    pub fn read(text: &str) -> Option<Self> {
        if text == "DEFAULT" {
            return Some(Self::Default);
        }
        let rest = text.strip_prefix("FOR VALUES ")?;
        if let Some(rest) = rest.strip_prefix("WITH (modulus ") {
            let (modulus, remainder) = rest.strip_suffix(')')?.split_once(", remainder ")?;
            return Some(Self::Hash { modulus: modulus.parse().ok()?, remainder: remainder.parse().ok()? });
        }
        if let Some(rest) = rest.strip_prefix("IN (") {
            let (words, rest) = words(rest)?;
            let values = words.into_iter().map(|word| match word {
                Word::Bare("NULL") => None,
                word => Some(word.text()),
            });
            return rest.is_empty().then(|| Self::List(values.collect()));
        }
        let (from, rest) = words(rest.strip_prefix("FROM (")?)?;
        let (to, rest) = words(rest.strip_prefix(" TO (")?)?;
        let edges = |words: Vec<Word<'_>>| {
            let edge = |word| match word {
                Word::Bare("MINVALUE") => Edge::Min,
                Word::Bare("MAXVALUE") => Edge::Max,
                word => Edge::Value(word.text()),
            };
            words.into_iter().map(edge).collect()
        };
        rest.is_empty().then(|| Self::Range { from: edges(from), to: edges(to) })
    }
}

/// A literal of a bound.
enum Word<'a> {
    Bare(&'a str),
    Quoted(String),
}

impl Word<'_> {
    fn text(self) -> String {
        match self {
            Self::Bare(text) => text.to_owned(),
            Self::Quoted(text) => text,
        }
    }
}

/// Literals up to the closing parenthesis, and what stands behind it.
fn words(mut text: &str) -> Option<(Vec<Word<'_>>, &str)> {
    let mut words = Vec::new();
    loop {
        if let Some(quoted) = text.strip_prefix('\'') {
            let mut value = String::new();
            let mut rest = quoted;
            loop {
                let (part, behind) = rest.split_once('\'')?;
                value.push_str(part);
                match behind.strip_prefix('\'') {
                    Some(more) => {
                        value.push('\'');
                        rest = more;
                    }
                    None => {
                        rest = behind;
                        break;
                    }
                }
            }
            words.push(Word::Quoted(value));
            text = rest;
        } else {
            let end = text.find([',', ')'])?;
            words.push(Word::Bare(&text[..end]));
            text = &text[end..];
        }
        match text.strip_prefix(", ") {
            Some(more) => text = more,
            None => return Some((words, text.strip_prefix(')')?)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_read_back() {
        for text in [
            "DEFAULT",
            "FOR VALUES WITH (modulus 8, remainder 3)",
            "FOR VALUES IN ('a', 'it''s, (so)', NULL)",
            "FOR VALUES FROM ('1', MINVALUE) TO ('10', MAXVALUE)",
        ] {
            let bound = Bound::read(text).unwrap();
            assert_eq!(bound.text(&|_, _| false), text);
        }
        let ranges = Bound::read("FOR VALUES FROM (1) TO (10)").unwrap();
        assert_eq!(ranges.text(&|_, _| true), "FOR VALUES FROM (1) TO (10)");
        for text in ["", "FOR VALUES", "FOR VALUES IN (", "FOR VALUES IN ('a)", "FOR VALUES FROM (1)", "default"] {
            assert_eq!(Bound::read(text), None, "{text}");
        }
    }
}
