//! What a new partition's bound may be, beside those that are there.

use std::cmp::Ordering;

use super::tree::{EdgeValue, order};
use super::{KeyType, Level, Values, order_of_edges};
use crate::ir::Value;
use crate::values::{self, Settings};
use crate::{Condition, Error, Result};

/// A new partition's bound, with what its errors say.
#[derive(Clone, Copy, Debug)]
pub struct NewBound<'a> {
    /// The partition's name.
    pub name: &'a str,
    /// Its bound.
    pub values: &'a Values,
    /// Where the values stand in the statement: those of IN, those of FROM.
    pub places: &'a [Option<u32>],
}

fn refused(message: String) -> Error {
    Error::new(Condition::InvalidObjectDefinition, message)
}

impl NewBound<'_> {
    fn at(&self, error: Error, place: usize) -> Error {
        match self.places.get(place).copied().flatten() {
            Some(position) => error.at(position),
            None => error,
        }
    }

    fn overlaps(&self, other: &str, place: usize) -> Error {
        self.at(refused(format!("partition \"{}\" would overlap partition \"{other}\"", self.name)), place)
    }

    /// Refuses a bound that does not go with those of a level; `names` are the partitions', by place.
    ///
    /// # Errors
    /// `42P17`, `42P16`.
    pub fn check(&self, level: &Level, names: &[String], settings: &Settings) -> Result<()> {
        let others = || level.places.iter().map(|place| &place.values).zip(names);
        match self.values {
            Values::Default => match others().find(|(values, _)| **values == Values::Default) {
                Some((_, other)) => Err(refused(format!(
                    "partition \"{}\" conflicts with existing default partition \"{other}\"",
                    self.name
                ))),
                None => Ok(()),
            },
            Values::Hash(modulus, remainder) => self.check_hash((*modulus, *remainder), others()),
            Values::List(list) => {
                for (place, value) in list.iter().enumerate() {
                    let has = |values: &Values| match values {
                        Values::List(list) => list.iter().any(|one| order(one, value, &level.keys[0]).is_eq()),
                        _ => false,
                    };
                    if let Some((_, other)) = others().find(|(values, _)| has(values)) {
                        return Err(self.overlaps(other, place));
                    }
                }
                Ok(())
            }
            Values::Range(from, to) => self.check_range(from, to, level, others(), settings),
        }
    }

    /// Moduli are multiples of each other, so that remainders can be told apart.
    fn check_hash<'o>(
        &self,
        (modulus, remainder): (u32, u32),
        others: impl Iterator<Item = (&'o Values, &'o String)>,
    ) -> Result<()> {
        let mut known: Vec<(u32, u32, &String)> = others
            .filter_map(|(values, name)| match values {
                Values::Hash(modulus, remainder) => Some((*modulus, *remainder, name)),
                _ => None,
            })
            .collect();
        known.sort_by_key(|(modulus, remainder, _)| (*modulus, *remainder));
        let error = |detail: String| {
            let message = "every hash partition modulus must be a factor of the next larger modulus";
            Err(refused(message.to_owned()).detail(detail))
        };
        let below = known.iter().rev().find(|(other, ..)| *other <= modulus);
        match below {
            None => {
                if let Some((other, _, name)) = known.first()
                    && other % modulus != 0
                {
                    return error(format!(
                        "The new modulus {modulus} is not a factor of {other}, the modulus of existing partition \
                         \"{name}\"."
                    ));
                }
            }
            Some((other, _, name)) => {
                if modulus % other != 0 {
                    return error(format!(
                        "The new modulus {modulus} is not divisible by {other}, the modulus of existing partition \
                         \"{name}\"."
                    ));
                }
                if let Some((other, _, name)) = known.iter().find(|(other, ..)| *other > modulus)
                    && other % modulus != 0
                {
                    return error(format!(
                        "The new modulus {modulus} is not a factor of {other}, the modulus of existing partition \
                         \"{name}\"."
                    ));
                }
            }
        }
        let meets =
            |(other, rest, _): &&(u32, u32, &String)| remainder % modulus.min(*other) == rest % modulus.min(*other);
        match known.iter().find(meets) {
            Some((.., name)) => Err(self.overlaps(name, 0)),
            None => Ok(()),
        }
    }

    fn check_range<'o>(
        &self,
        from: &[EdgeValue],
        to: &[EdgeValue],
        level: &Level,
        others: impl Iterator<Item = (&'o Values, &'o String)>,
        settings: &Settings,
    ) -> Result<()> {
        if order_of_edges(from, to, &level.keys) != Ordering::Less {
            let error = refused(format!("empty range bound specified for partition \"{}\"", self.name));
            let (from, to) = (shown(from, &level.keys, settings)?, shown(to, &level.keys, settings)?);
            let detail = format!("Specified lower bound {from} is greater than or equal to upper bound {to}.");
            return Err(self.at(error.detail(detail), 0));
        }
        // The first one behind the lower edge that begins before the upper one.
        let mut met: Option<(&[EdgeValue], &String)> = None;
        for (values, name) in others {
            let Values::Range(start, end) = values else { continue };
            let meets =
                order_of_edges(start, to, &level.keys).is_lt() && order_of_edges(from, end, &level.keys).is_lt();
            if meets && met.is_none_or(|(first, _)| order_of_edges(start, first, &level.keys).is_lt()) {
                met = Some((start, name));
            }
        }
        match met {
            None => Ok(()),
            Some((start, name)) => {
                // Where it begins inside the new one, the upper edge is to blame.
                let upper = order_of_edges(from, start, &level.keys).is_lt();
                Err(self.overlaps(name, if upper { level.keys.len() } else { 0 }))
            }
        }
    }
}

fn shown(edges: &[EdgeValue], keys: &[KeyType], settings: &Settings) -> Result<String> {
    let shown = edges.iter().zip(keys).map(|(edge, key)| match edge {
        EdgeValue::Min => Ok("MINVALUE".to_owned()),
        EdgeValue::Max => Ok("MAXVALUE".to_owned()),
        EdgeValue::Value(value) => {
            let text = text_of(value, key, settings)?;
            let plain = crate::postgres::is_plain_literal(&key.ty, &text);
            Ok(if plain { text } else { format!("'{}'", text.replace('\'', "''")) })
        }
    });
    Ok(format!("({})", shown.collect::<Result<Vec<_>>>()?.join(", ")))
}

fn text_of(value: &Value, key: &KeyType, settings: &Settings) -> Result<String> {
    match (key.ty.through_domains(), value) {
        (crate::Type::Bool, Value::Integer(value)) => Ok(if *value == 0 { "false" } else { "true" }.to_owned()),
        (ty, value) => values::output(value, ty, settings),
    }
}

impl Values {
    /// The bound as a file keeps it.
    ///
    /// # Errors
    /// Those of the types' output functions.
    pub fn bound(&self, keys: &[KeyType]) -> Result<super::Bound> {
        let settings = Settings::default();
        let edges = |edges: &[EdgeValue]| -> Result<Vec<super::Edge>> {
            let edges = edges.iter().zip(keys).map(|(edge, key)| match edge {
                EdgeValue::Min => Ok(super::Edge::Min),
                EdgeValue::Max => Ok(super::Edge::Max),
                EdgeValue::Value(value) => text_of(value, key, &settings).map(super::Edge::Value),
            });
            edges.collect()
        };
        Ok(match self {
            Self::Default => super::Bound::Default,
            Self::Hash(modulus, remainder) => super::Bound::Hash { modulus: *modulus, remainder: *remainder },
            Self::List(list) => {
                let text = |value: &Value| match value {
                    Value::Null => Ok(None),
                    value => text_of(value, &keys[0], &settings).map(Some),
                };
                super::Bound::List(list.iter().map(text).collect::<Result<_>>()?)
            }
            Self::Range(from, to) => super::Bound::Range { from: edges(from)?, to: edges(to)? },
        })
    }

    /// The bound's text, as PostgreSQL prints it.
    ///
    /// # Errors
    /// Those of the types' output functions.
    pub fn text(&self, keys: &[KeyType]) -> Result<String> {
        let plain =
            |at: usize, text: &str| keys.get(at).is_some_and(|key| crate::postgres::is_plain_literal(&key.ty, text));
        Ok(self.bound(keys)?.text(&plain))
    }
}
