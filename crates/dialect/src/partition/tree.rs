//! Which partition a row belongs to.

use std::cmp::Ordering;
use std::sync::Arc;

use super::{Bound, Edge, Strategy, hash_of_row};
use crate::collation::Collation;
use crate::ir::Value;
use crate::schema::Relation;
use crate::values::{self, Decimal, Settings};
use crate::{Condition, Error, Result, Type};

/// A key of a level, with what is needed to compare and to show its values.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyType {
    /// The type.
    pub ty: Type,
    /// As an error shows the key.
    pub shown: String,
    /// The collation that orders its texts, where that is not the order of their bytes.
    pub collation: Option<Arc<Collation>>,
}

/// A partitioned table among others.
#[derive(Clone, Debug, PartialEq)]
pub struct Level {
    /// The table.
    pub relation: Arc<Relation>,
    /// How its rows are parted.
    pub strategy: Strategy,
    /// By what.
    pub keys: Vec<KeyType>,
    /// Where its key stands among those of all levels.
    pub first: usize,
    /// Its partitions.
    pub places: Vec<Place>,
}

/// A partition of a level.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// Which rows it has.
    pub values: Values,
    /// What it is.
    pub target: Target,
}

/// What a partition is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Target {
    /// A table with rows, by its number among the members of a family.
    Leaf(usize),
    /// A partitioned table, by its number among the levels.
    Level(usize),
    /// Nothing that the statement is about.
    Elsewhere,
}

/// A bound, its literals read as values.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// What no other has.
    Default,
    /// By the hash.
    Hash(u32, u32),
    /// By a list.
    List(Vec<Value>),
    /// By a range.
    Range(Edges, Edges),
}

/// An edge of a range.
pub type Edges = Vec<EdgeValue>;

/// A value of an edge.
#[derive(Clone, Debug, PartialEq)]
pub enum EdgeValue {
    /// MINVALUE.
    Min,
    /// A value.
    Value(Value),
    /// MAXVALUE.
    Max,
}

/// What a table above the one that a statement names asks of rows: they are those of one of its partitions.
#[derive(Clone, Debug, PartialEq)]
pub struct Above {
    /// The table, with all of its partitions.
    pub level: Level,
    /// The one that rows must be of, by its place.
    pub wanted: usize,
}

/// The partitions of a table, as far down as they go.
#[derive(Clone, Debug, PartialEq)]
pub struct Tree {
    /// The table that the statement names: what all rows must be.
    pub head: Arc<Relation>,
    /// Partitioned tables, the head first where it is one; a table that is none has none, and is leaf 0.
    pub levels: Vec<Level>,
    /// The partitioned tables above the head, the nearest first.
    pub above: Vec<Above>,
}

/// A row that is of no partition.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Misfit {
    /// No partition of this level has it.
    Nowhere(usize),
    /// It is not one of the table that the statement names.
    NotHere,
}

impl Values {
    /// The values of a bound.
    ///
    /// # Errors
    /// Those of the types' input functions.
    pub fn of(bound: &Bound, keys: &[KeyType], settings: &Settings) -> Result<Self> {
        let value = |at: usize, text: &str| {
            let ty = keys.get(at).map(|key| &key.ty).ok_or_else(|| Error::internal("a bound of too many values"))?;
            values::input(text, ty, settings)
        };
        let edges = |edges: &[Edge]| -> Result<Edges> {
            let edges = edges.iter().enumerate().map(|(at, edge)| match edge {
                Edge::Min => Ok(EdgeValue::Min),
                Edge::Max => Ok(EdgeValue::Max),
                Edge::Value(text) => value(at, text).map(EdgeValue::Value),
            });
            edges.collect()
        };
        Ok(match bound {
            Bound::Default => Self::Default,
            Bound::Hash { modulus, remainder } => Self::Hash(*modulus, *remainder),
            Bound::List(list) => {
                let list = list.iter().map(|one| one.as_ref().map_or(Ok(Value::Null), |text| value(0, text)));
                Self::List(list.collect::<Result<_>>()?)
            }
            Bound::Range { from, to } => Self::Range(edges(from)?, edges(to)?),
        })
    }
}

/// The order of two values of a key, however they are stored; NULL last.
pub fn order(left: &Value, right: &Value, key: &KeyType) -> Ordering {
    let ty = &key.ty;
    if let (Value::Text(left), Value::Text(right), Some(collation)) = (left, right, &key.collation) {
        return values::order::order_in(left, right, ty, collation);
    }
    let null = matches!(left, Value::Null) || matches!(right, Value::Null);
    if !null && ty.through_domains().is_decimal() {
        let decimals = (Decimal::from_stored(left.as_ref()), Decimal::from_stored(right.as_ref()));
        if let (Ok(left), Ok(right)) = decimals {
            return left.compare(&right);
        }
    }
    values::order::order(left, right, ty)
}

/// The order of two edges; what stands behind MINVALUE or MAXVALUE does not count.
pub fn order_of_edges(left: &[EdgeValue], right: &[EdgeValue], keys: &[KeyType]) -> Ordering {
    for ((left, right), key) in left.iter().zip(right).zip(keys) {
        let found = match (left, right) {
            (EdgeValue::Min, EdgeValue::Min) | (EdgeValue::Max, EdgeValue::Max) => return Ordering::Equal,
            (EdgeValue::Min, _) | (_, EdgeValue::Max) => Ordering::Less,
            (EdgeValue::Max, _) | (_, EdgeValue::Min) => Ordering::Greater,
            (EdgeValue::Value(left), EdgeValue::Value(right)) => order(left, right, key),
        };
        if found.is_ne() {
            return found;
        }
    }
    Ordering::Equal
}

impl Level {
    /// The level's own key among the values of all keys.
    fn own<'v>(&self, keys: &'v [Value]) -> &'v [Value] {
        keys.get(self.first..self.first + self.keys.len()).unwrap_or(&[])
    }

    /// The place that a row with such keys belongs to.
    ///
    /// # Errors
    /// `0A000` for a value of which no hash is known.
    pub fn place(&self, keys: &[Value]) -> Result<Option<usize>> {
        let own = self.own(keys);
        let found = match self.strategy {
            Strategy::Hash => {
                let hash = hash_of_row(own.iter().zip(self.keys.iter().map(|key| &key.ty)))?;
                self.places.iter().position(|place| match place.values {
                    Values::Hash(modulus, remainder) => {
                        modulus > 0 && hash % u64::from(modulus) == u64::from(remainder)
                    }
                    _ => false,
                })
            }
            Strategy::List => {
                let Some((value, key)) = own.first().zip(self.keys.first()) else { return Ok(None) };
                self.places.iter().position(|place| match &place.values {
                    Values::List(list) => list.iter().any(|one| order(one, value, key).is_eq()),
                    _ => false,
                })
            }
            Strategy::Range if own.contains(&Value::Null) => None,
            Strategy::Range => {
                let row: Edges = own.iter().cloned().map(EdgeValue::Value).collect();
                self.places.iter().position(|place| match &place.values {
                    Values::Range(from, to) => {
                        order_of_edges(from, &row, &self.keys).is_le() && order_of_edges(&row, to, &self.keys).is_lt()
                    }
                    _ => false,
                })
            }
        };
        Ok(found.or_else(|| self.default_place()))
    }

    /// The place of the default partition.
    pub fn default_place(&self) -> Option<usize> {
        self.places.iter().position(|place| place.values == Values::Default)
    }

    /// No partition has a row with such keys.
    fn nowhere(&self, keys: &[Value], settings: &Settings) -> Error {
        let message = format!("no partition of relation \"{}\" found for row", self.relation.name);
        let (namespace, name) = (self.relation.namespace.clone(), self.relation.name.clone());
        let error = Error::new(Condition::CheckViolation, message).table(namespace, name);
        let shown = self.own(keys).iter().zip(&self.keys).map(|(value, key)| shown(value, &key.ty, settings));
        let Ok(shown) = shown.collect::<Result<Vec<_>>>() else { return error };
        let names: Vec<&str> = self.keys.iter().map(|key| key.shown.as_str()).collect();
        error.detail(format!(
            "Partition key of the failing row contains ({}) = ({}).",
            names.join(", "),
            shown.join(", ")
        ))
    }
}

impl Tree {
    /// How many values the keys of all levels have.
    pub fn width(&self) -> usize {
        let below = self.levels.iter().map(|level| level.keys.len()).sum::<usize>();
        below + self.above.iter().map(|above| above.level.keys.len()).sum::<usize>()
    }

    /// The leaf of a row with such keys.
    ///
    /// # Errors
    /// `0A000` for a value of which no hash is known.
    pub fn leaf(&self, keys: &[Value]) -> Result<std::result::Result<usize, Misfit>> {
        for above in &self.above {
            if above.level.place(keys)? != Some(above.wanted) {
                return Ok(Err(Misfit::NotHere));
            }
        }
        if self.levels.is_empty() {
            return Ok(Ok(0));
        }
        let mut at = 0;
        loop {
            let level = self.levels.get(at).ok_or_else(|| Error::internal("a partitioned table that there is not"))?;
            match level.place(keys)?.map(|place| level.places[place].target) {
                Some(Target::Leaf(leaf)) => return Ok(Ok(leaf)),
                Some(Target::Level(next)) => at = next,
                Some(Target::Elsewhere) | None => return Ok(Err(Misfit::Nowhere(at))),
            }
        }
    }

    /// What is said of a row that fits nowhere; `row` are the values of the head's columns.
    pub fn error(&self, misfit: Misfit, keys: &[Value], row: &[Value], settings: &Settings) -> Error {
        match misfit {
            Misfit::Nowhere(at) => self.levels[at].nowhere(keys, settings),
            Misfit::NotHere => not_of(&self.head, row, settings),
        }
    }
}

/// A row is none of a partition's.
pub fn not_of(partition: &Relation, row: &[Value], settings: &Settings) -> Error {
    let message = format!("new row for relation \"{}\" violates partition constraint", partition.name);
    let (namespace, name) = (partition.namespace.clone(), partition.name.clone());
    let error = Error::new(Condition::CheckViolation, message).table(namespace, name);
    if partition.columns.iter().any(|column| column.generated.is_some()) {
        // What is computed of the row nobody has computed yet.
        return error;
    }
    let shown = row.iter().zip(&partition.columns).map(|(value, column)| shown(value, &column.ty, settings));
    match shown.collect::<Result<Vec<_>>>() {
        Ok(shown) => error.failing_row(shown),
        Err(_) => error,
    }
}

/// PostgreSQL shows so many bytes of a value in such messages.
const SHOWN: usize = 64;

fn shown(value: &Value, ty: &Type, settings: &Settings) -> Result<String> {
    if *value == Value::Null {
        return Ok("null".to_owned());
    }
    let mut text = values::output(value, ty, settings)?;
    if text.len() > SHOWN {
        let end = (0..=SHOWN).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        text.truncate(end);
        text.push_str("...");
    }
    Ok(text)
}
