//! What is gathered of a group: a cell for each thing, which several aggregates may share.

use std::cmp::Ordering;

use rowferry_dialect::ir::Value;
use rowferry_dialect::lower::sqlite::spec::{Gather, Gathered, Input, Node, Spec};
use rowferry_dialect::values::{Decimal, ValueRef, float, integer};
use rowferry_dialect::{Condition, Error, Result, Type};

use super::super::aggregate::NumericSum;
use super::fixed::{Fixed, Inputs, aligned, float as float_of, is_true};

/// What a cell gathers.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Rows,
    Count(Input),
    Sum(Node),
    Float(Input),
    Extreme(Input, Ordering),
    First(Input),
}

/// A cell and when a row counts for it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct CellPlan {
    kind: Kind,
    filter: Option<Input>,
    /// Rows of which this argument is another one count; in which of the group's sets of values.
    distinct: Option<(Input, usize)>,
}

/// How an aggregate's value comes out of a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Shown {
    Count,
    Sum,
    Average,
    Whole,
    FloatSum,
    FloatAverage,
    Value,
    /// Spelled out with so many digits behind the point.
    Native(u32),
}

/// All cells of a group, and what is shown of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Plan {
    pub(super) cells: Vec<CellPlan>,
    shown: Vec<(usize, Shown)>,
    /// Sets of values that a group has.
    pub(super) sets: usize,
}

impl Plan {
    pub(super) fn of(spec: &Spec) -> Self {
        let mut plan = Self::default();
        for gathered in &spec.aggregates {
            let shown = plan.add(gathered);
            plan.shown.push(shown);
        }
        plan
    }

    fn add(&mut self, gathered: &Gathered) -> (usize, Shown) {
        let (kind, shown) = match gathered.what {
            Gather::Rows => (Kind::Rows, Shown::Count),
            Gather::Count(input) => (Kind::Count(input), Shown::Count),
            Gather::Sum(node) => (Kind::Sum(node), Shown::Sum),
            Gather::Average(node) => (Kind::Sum(node), Shown::Average),
            Gather::IntegerSum(node) => (Kind::Sum(node), Shown::Whole),
            Gather::FloatSum(input) => (Kind::Float(input), Shown::FloatSum),
            Gather::FloatAverage(input) => (Kind::Float(input), Shown::FloatAverage),
            Gather::Least(input, scale) => {
                (Kind::Extreme(input, Ordering::Less), scale.map_or(Shown::Value, Shown::Native))
            }
            Gather::Greatest(input, scale) => {
                (Kind::Extreme(input, Ordering::Greater), scale.map_or(Shown::Value, Shown::Native))
            }
            Gather::First(input) => (Kind::First(input), Shown::Value),
        };
        let distinct = gathered.distinct.map(|input| {
            self.sets += 1;
            (input, self.sets - 1)
        });
        let cell = CellPlan { kind, filter: gathered.filter, distinct };
        // What has a set of its own is shared by none.
        let place = self.cells.iter().position(|known| *known == cell).unwrap_or_else(|| {
            self.cells.push(cell);
            self.cells.len() - 1
        });
        (place, shown)
    }

    pub(super) fn width(&self) -> usize {
        self.shown.len()
    }

    /// The values of a group's aggregates.
    pub(super) fn values(&self, cells: &[Cell], out: &mut Vec<Value>) -> Result<()> {
        for (at, shown) in &self.shown {
            out.push(shown.of(&cells[*at])?);
        }
        Ok(())
    }
}

/// What has been gathered.
#[derive(Default)]
pub(super) enum Cell {
    #[default]
    Empty,
    Count(i64),
    /// Rows, digits, digits behind the point.
    Sum(i64, i128, u32),
    /// Beyond 128 bits, or of what is no number.
    WideSum(Box<NumericSum>),
    Float(i64, f64),
    Value(Value),
}

impl CellPlan {
    /// Which argument must be another one for the row to count, and in which set that is known.
    pub(super) fn distinct(&self) -> Option<(Input, usize)> {
        self.distinct
    }

    /// True when FILTER lets the row pass.
    #[inline]
    pub(super) fn passes(&self, row: &impl Inputs) -> bool {
        self.filter.is_none_or(|input| is_true(row.value(input)))
    }

    /// A row comes in.
    #[inline]
    pub(super) fn step(&self, cell: &mut Cell, row: &impl Inputs, numbers: &[Fixed]) -> Result<()> {
        match self.kind {
            Kind::Rows => cell.count(),
            Kind::Count(input) => {
                if row.value(input) != ValueRef::Null {
                    cell.count();
                }
            }
            Kind::Sum(node) => return cell.add(&numbers[node]),
            Kind::Float(input) => {
                let value = row.value(input);
                if value != ValueRef::Null {
                    return cell.add_float(float_of(value)?);
                }
            }
            Kind::Extreme(input, wanted) => {
                let value = row.value(input);
                let better = match cell {
                    _ if value == ValueRef::Null => false,
                    Cell::Value(known) => order(value, known.as_ref()) == wanted,
                    _ => true,
                };
                if better {
                    cell.hold(value);
                }
            }
            Kind::First(input) => {
                if matches!(cell, Cell::Empty) {
                    *cell = Cell::Value(row.value(input).to_value());
                }
            }
        }
        Ok(())
    }
}

impl Cell {
    /// Keeps a value in the place of another, whose memory serves again.
    fn hold(&mut self, value: ValueRef<'_>) {
        if let (Self::Value(Value::Text(known)), ValueRef::Text(bytes)) = (&mut *self, value)
            && let Ok(text) = std::str::from_utf8(bytes)
        {
            known.clear();
            known.push_str(text);
            return;
        }
        *self = Self::Value(value.to_value());
    }

    #[inline]
    fn count(&mut self) {
        match self {
            Self::Count(count) => *count += 1,
            _ => *self = Self::Count(1),
        }
    }

    #[inline]
    fn add(&mut self, number: &Fixed) -> Result<()> {
        if let Fixed::Small(more, more_scale) = number {
            match self {
                Self::Sum(count, sum, scale) if *scale == *more_scale => {
                    if let Some(total) = sum.checked_add(*more) {
                        *sum = total;
                        *count += 1;
                        return Ok(());
                    }
                }
                Self::Sum(count, sum, scale) => {
                    if let Some((a, b, longest)) = aligned(*sum, *scale, *more, *more_scale)
                        && let Some(total) = a.checked_add(b)
                    {
                        (*sum, *scale) = (total, longest);
                        *count += 1;
                        return Ok(());
                    }
                }
                Self::Empty => {
                    *self = Self::Sum(1, *more, *more_scale);
                    return Ok(());
                }
                _ => {}
            }
        }
        match number.decimal() {
            Some(decimal) => self.add_wide(&decimal),
            None => Ok(()),
        }
    }

    #[cold]
    fn add_wide(&mut self, number: &Decimal) -> Result<()> {
        if !matches!(self, Self::WideSum(_)) {
            let mut wide = Box::<NumericSum>::default();
            if let Self::Sum(count, sum, scale) = self {
                wide.add(&Decimal::from_parts(*sum, *scale))?;
                wide.count = *count;
            }
            *self = Self::WideSum(wide);
        }
        match self {
            Self::WideSum(wide) => wide.add(number),
            _ => Ok(()),
        }
    }

    fn add_float(&mut self, more: f64) -> Result<()> {
        match self {
            Self::Float(count, sum) => {
                let finite_before = sum.is_finite();
                *sum += more;
                *count += 1;
                if sum.is_infinite() && finite_before && more.is_finite() {
                    return Err(Error::new(Condition::NumericValueOutOfRange, "value out of range: overflow"));
                }
            }
            _ => *self = Self::Float(1, more),
        }
        Ok(())
    }

    fn total(&self) -> Option<(i64, Decimal)> {
        match self {
            Self::Sum(count, sum, scale) => Some((*count, Decimal::from_parts(*sum, *scale))),
            Self::WideSum(wide) => Some((wide.count, wide.total())),
            _ => None,
        }
    }
}

impl Shown {
    fn of(self, cell: &Cell) -> Result<Value> {
        Ok(match self {
            Self::Count => match cell {
                Cell::Count(count) => Value::Integer(*count),
                _ => Value::Integer(0),
            },
            Self::Sum => cell.total().map_or(Value::Null, |(_, sum)| Value::Text(sum.to_string())),
            Self::Average => match cell.total() {
                Some((count, sum)) => Value::Text(sum.div(&Decimal::from_i64(count))?.to_string()),
                None => Value::Null,
            },
            Self::Whole => match cell {
                Cell::Sum(_, sum, 0) => {
                    Value::Integer(i64::try_from(*sum).map_err(|_| integer::out_of_range(&Type::Int8))?)
                }
                Cell::Empty => Value::Null,
                _ => return Err(integer::out_of_range(&Type::Int8)),
            },
            Self::FloatSum => match cell {
                Cell::Float(_, sum) => float::to_value(*sum),
                _ => Value::Null,
            },
            Self::FloatAverage => match cell {
                Cell::Float(count, sum) => float::to_value(*sum / *count as f64),
                _ => Value::Null,
            },
            Self::Value => match cell {
                Cell::Value(value) => value.clone(),
                _ => Value::Null,
            },
            Self::Native(scale) => match cell {
                Cell::Value(value) => {
                    let number = Decimal::from_stored(value.as_ref())?;
                    let short = number.finite().is_some_and(|finite| finite.scale() < scale);
                    let number = if short { number.rounded(i64::from(scale)) } else { number };
                    Value::Text(number.to_string())
                }
                _ => Value::Null,
            },
        })
    }
}

/// SQLite's order of values: numbers, texts, bytes.
pub(super) fn order(a: ValueRef<'_>, b: ValueRef<'_>) -> Ordering {
    let class = |value: &ValueRef<'_>| match value {
        ValueRef::Null => 0,
        ValueRef::Integer(_) | ValueRef::Real(_) => 1,
        ValueRef::Text(_) => 2,
        ValueRef::Blob(_) => 3,
    };
    match (a, b) {
        (ValueRef::Integer(a), ValueRef::Integer(b)) => a.cmp(&b),
        (ValueRef::Real(a), ValueRef::Real(b)) => a.total_cmp(&b),
        (ValueRef::Integer(a), ValueRef::Real(b)) => with_real(a, b),
        (ValueRef::Real(a), ValueRef::Integer(b)) => with_real(b, a).reverse(),
        (ValueRef::Text(a), ValueRef::Text(b)) | (ValueRef::Blob(a), ValueRef::Blob(b)) => a.cmp(b),
        (a, b) => class(&a).cmp(&class(&b)),
    }
}

fn with_real(a: i64, b: f64) -> Ordering {
    if b >= 9_223_372_036_854_775_808.0 {
        return Ordering::Less;
    }
    if b < -9_223_372_036_854_775_808.0 {
        return Ordering::Greater;
    }
    // Its whole part fits, and what is behind the point decides where that is equal.
    a.cmp(&(b as i64)).then_with(|| 0.0_f64.total_cmp(&(b.fract() + 0.0)))
}
