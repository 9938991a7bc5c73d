//! What an aggregate of ours over many columns is told: which of its arguments are keys, what is computed of the others,
//! and what is gathered of that. The lowering writes it, as a text that stands in the statement; the engine reads it.

use std::fmt;

use crate::values::moments::Unit;

/// A node's place in [`Spec::nodes`].
pub type Node = usize;
/// An argument's place, keys included, the text itself not.
pub type Input = usize;

/// What to do with each row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spec {
    /// So many arguments, the first, are keys.
    pub keys: usize,
    /// Keys that are decimals in their canonical text: `1.0` and `1.00` are one.
    pub decimals: Vec<Input>,
    /// Keys that are timestamps, to be cut off to a unit.
    pub truncated: Vec<(Input, Unit)>,
    /// Groups come in the order of their keys.
    pub sorted: bool,
    /// What is computed of numbers; each node after those that it takes.
    pub nodes: Vec<Number>,
    /// What is gathered.
    pub aggregates: Vec<Gathered>,
}

/// A number that is computed of a row.
#[derive(Clone, Debug, PartialEq)]
pub enum Number {
    /// An argument from a NUMERIC column with so many digits behind the point.
    Native(Input, u32),
    /// An integer.
    Integer(Input),
    /// A decimal in its canonical text.
    Stored(Input),
    /// A constant: its digits, and how many of them are behind the point.
    Constant(i128, u32),
    /// NULL.
    Null,
    /// Sum.
    Add(Node, Node),
    /// Difference.
    Sub(Node, Node),
    /// Product.
    Mul(Node, Node),
    /// Negation.
    Neg(Node),
    /// The one where the argument is true, else the other.
    Choice(Input, Node, Node),
}

/// An aggregate.
#[derive(Clone, Debug, PartialEq)]
pub struct Gathered {
    /// Which.
    pub what: Gather,
    /// FILTER: the argument must be true.
    pub filter: Option<Input>,
    /// Each value counts once: that of the argument.
    pub distinct: Option<Input>,
}

/// What is gathered of the rows of a group.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Gather {
    /// How many there are.
    Rows,
    /// How many have the argument.
    Count(Input),
    /// The sum, a decimal.
    Sum(Node),
    /// The average, a decimal.
    Average(Node),
    /// The sum of integers, a `bigint`.
    IntegerSum(Node),
    /// The sum of floats.
    FloatSum(Input),
    /// The average of floats.
    FloatAverage(Input),
    /// The least; of a NUMERIC column with so many digits behind the point.
    Least(Input, Option<u32>),
    /// The greatest, likewise.
    Greatest(Input, Option<u32>),
    /// That of the first row.
    First(Input),
}

impl fmt::Display for Spec {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}{}", self.keys, if self.sorted { "s" } else { "" })?;
        for key in &self.decimals {
            write!(out, " key.{key}")?;
        }
        for (key, unit) in &self.truncated {
            write!(out, " cut:{}.{key}", unit.word())?;
        }
        for node in &self.nodes {
            out.write_str(" ")?;
            match node {
                Number::Native(input, scale) => write!(out, "n.{input}.{scale}")?,
                Number::Integer(input) => write!(out, "i.{input}")?,
                Number::Stored(input) => write!(out, "t.{input}")?,
                Number::Constant(unscaled, scale) => write!(out, "c.{unscaled}.{scale}")?,
                Number::Null => out.write_str("_")?,
                Number::Add(a, b) => write!(out, "+.{a}.{b}")?,
                Number::Sub(a, b) => write!(out, "-.{a}.{b}")?,
                Number::Mul(a, b) => write!(out, "*.{a}.{b}")?,
                Number::Neg(a) => write!(out, "~.{a}")?,
                Number::Choice(input, a, b) => write!(out, "?.{input}.{a}.{b}")?,
            }
        }
        for Gathered { what, filter, distinct } in &self.aggregates {
            out.write_str(" ")?;
            match what {
                Gather::Rows => out.write_str("rows")?,
                Gather::Count(input) => write!(out, "count.{input}")?,
                Gather::Sum(node) => write!(out, "sum.{node}")?,
                Gather::Average(node) => write!(out, "avg.{node}")?,
                Gather::IntegerSum(node) => write!(out, "whole.{node}")?,
                Gather::FloatSum(input) => write!(out, "fsum.{input}")?,
                Gather::FloatAverage(input) => write!(out, "favg.{input}")?,
                Gather::Least(input, None) => write!(out, "min.{input}")?,
                Gather::Least(input, Some(scale)) => write!(out, "min.{input}.{scale}")?,
                Gather::Greatest(input, None) => write!(out, "max.{input}")?,
                Gather::Greatest(input, Some(scale)) => write!(out, "max.{input}.{scale}")?,
                Gather::First(input) => write!(out, "first.{input}")?,
            }
            if let Some(input) = filter {
                write!(out, ":w{input}")?;
            }
            if let Some(input) = distinct {
                write!(out, ":d{input}")?;
            }
        }
        Ok(())
    }
}

impl Spec {
    /// What a text of ours says; `None` for any other.
    pub fn read(text: &str) -> Option<Self> {
        let mut words = text.split(' ');
        let first = words.next()?;
        let (keys, sorted) = first.strip_suffix('s').map_or((first, false), |keys| (keys, true));
        let mut spec = Self { keys: keys.parse().ok()?, sorted, ..Self::default() };
        for word in words {
            if let Some(cut) = word.strip_prefix("cut:") {
                let (unit, key) = cut.split_once('.')?;
                let key = key.parse().ok().filter(|key| *key < spec.keys)?;
                spec.truncated.push((key, Unit::parse(unit)?));
                continue;
            }
            let mut marks = word.split(':');
            let mut parts = marks.next()?.split('.');
            let name = parts.next()?;
            let numbers: Vec<i128> = parts.map(str::parse).collect::<Result<_, _>>().ok()?;
            if let ("key", [key]) = (name, numbers.as_slice()) {
                spec.decimals.push(place(*key).filter(|key| *key < spec.keys)?);
                continue;
            }
            if let Some(node) = number(name, &numbers, spec.nodes.len()) {
                spec.nodes.push(node);
                continue;
            }
            let mut gathered =
                Gathered { what: gather(name, &numbers, spec.nodes.len())?, filter: None, distinct: None };
            for mark in marks {
                let (kind, input) = mark.split_at_checked(1)?;
                let input = input.parse().ok()?;
                match kind {
                    "w" => gathered.filter = Some(input),
                    "d" => gathered.distinct = Some(input),
                    _ => return None,
                }
            }
            spec.aggregates.push(gathered);
        }
        Some(spec)
    }

    /// So many arguments it speaks of.
    pub fn inputs(&self) -> usize {
        let of_node = |node: &Number| match node {
            Number::Native(input, _) | Number::Integer(input) | Number::Stored(input) | Number::Choice(input, ..) => {
                input + 1
            }
            _ => 0,
        };
        let of_gathered = |gathered: &Gathered| {
            let of_what = match gathered.what {
                Gather::Count(input)
                | Gather::FloatSum(input)
                | Gather::FloatAverage(input)
                | Gather::Least(input, _)
                | Gather::Greatest(input, _)
                | Gather::First(input) => input + 1,
                Gather::Rows | Gather::Sum(_) | Gather::Average(_) | Gather::IntegerSum(_) => 0,
            };
            let next = |input: Option<Input>| input.map_or(0, |input| input + 1);
            of_what.max(next(gathered.filter)).max(next(gathered.distinct))
        };
        let nodes = self.nodes.iter().map(of_node);
        nodes.chain(self.aggregates.iter().map(of_gathered)).fold(self.keys, usize::max)
    }
}

fn place(number: i128) -> Option<usize> {
    usize::try_from(number).ok()
}

fn digits(number: i128) -> Option<u32> {
    u32::try_from(number).ok()
}

fn number(name: &str, numbers: &[i128], known: usize) -> Option<Number> {
    let node = |number: i128| place(number).filter(|node| *node < known);
    Some(match (name, numbers) {
        ("n", [input, scale]) => Number::Native(place(*input)?, digits(*scale)?),
        ("i", [input]) => Number::Integer(place(*input)?),
        ("t", [input]) => Number::Stored(place(*input)?),
        ("c", [unscaled, scale]) => Number::Constant(*unscaled, digits(*scale)?),
        ("_", []) => Number::Null,
        ("+", [a, b]) => Number::Add(node(*a)?, node(*b)?),
        ("-", [a, b]) => Number::Sub(node(*a)?, node(*b)?),
        ("*", [a, b]) => Number::Mul(node(*a)?, node(*b)?),
        ("~", [a]) => Number::Neg(node(*a)?),
        ("?", [input, a, b]) => Number::Choice(place(*input)?, node(*a)?, node(*b)?),
        _ => return None,
    })
}

fn gather(name: &str, numbers: &[i128], known: usize) -> Option<Gather> {
    let node = |number: i128| place(number).filter(|node| *node < known);
    Some(match (name, numbers) {
        ("rows", []) => Gather::Rows,
        ("count", [input]) => Gather::Count(place(*input)?),
        ("sum", [a]) => Gather::Sum(node(*a)?),
        ("avg", [a]) => Gather::Average(node(*a)?),
        ("whole", [a]) => Gather::IntegerSum(node(*a)?),
        ("fsum", [input]) => Gather::FloatSum(place(*input)?),
        ("favg", [input]) => Gather::FloatAverage(place(*input)?),
        ("min", [input]) => Gather::Least(place(*input)?, None),
        ("min", [input, scale]) => Gather::Least(place(*input)?, Some(digits(*scale)?)),
        ("max", [input]) => Gather::Greatest(place(*input)?, None),
        ("max", [input, scale]) => Gather::Greatest(place(*input)?, Some(digits(*scale)?)),
        ("first", [input]) => Gather::First(place(*input)?),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let spec = Spec {
            keys: 2,
            decimals: vec![1],
            truncated: vec![(0, Unit::Quarter)],
            sorted: true,
            nodes: vec![
                Number::Native(2, 2),
                Number::Constant(-100, 2),
                Number::Sub(1, 0),
                Number::Integer(3),
                Number::Mul(2, 3),
                Number::Null,
                Number::Choice(4, 4, 5),
                Number::Neg(6),
                Number::Add(7, 0),
                Number::Stored(5),
            ],
            aggregates: vec![
                Gathered { what: Gather::Rows, filter: Some(4), distinct: None },
                Gathered { what: Gather::Sum(8), filter: None, distinct: None },
                Gathered { what: Gather::Average(9), filter: Some(4), distinct: Some(6) },
                Gathered { what: Gather::IntegerSum(3), filter: None, distinct: None },
                Gathered { what: Gather::Count(7), filter: None, distinct: None },
                Gathered { what: Gather::Least(8, Some(2)), filter: None, distinct: None },
                Gathered { what: Gather::Greatest(8, None), filter: None, distinct: None },
                Gathered { what: Gather::First(9), filter: None, distinct: None },
                Gathered { what: Gather::FloatSum(1), filter: None, distinct: None },
                Gathered { what: Gather::FloatAverage(1), filter: None, distinct: None },
            ],
        };
        assert_eq!(Spec::read(&spec.to_string()), Some(spec.clone()));
        assert_eq!(spec.inputs(), 10);
        assert_eq!(Spec::read("1 +.0.1"), None);
        assert_eq!(Spec::read("1 cut:month.1"), None);
        assert_eq!(Spec::read("x"), None);
    }
}
