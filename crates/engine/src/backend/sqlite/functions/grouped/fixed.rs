//! What is computed of a row's numbers: fixed-point integers as long as they fit, decimals of any width when not.
//!
//! Every step gives what the functions of one operator give, digit by digit: `rf_numeric_add` and its kin are the same
//! [`Decimal`]s, which begin where 128 bits end.

use rowferry_dialect::lower::sqlite::spec::Number;
use rowferry_dialect::values::{Decimal, ValueRef};
use rowferry_dialect::{Error, Result};

/// The row's arguments.
pub(super) trait Inputs {
    /// One of them.
    fn value(&self, at: usize) -> ValueRef<'_>;
}

/// A number of a row.
#[derive(Clone, Debug)]
pub(super) enum Fixed {
    Null,
    /// Digits, and how many of them are behind the point.
    Small(i128, u32),
    /// Wider, or none at all.
    Wide(Decimal),
}

const POWERS: [i128; 39] = {
    let mut powers = [1; 39];
    let mut at = 1;
    while at < 39 {
        powers[at] = powers[at - 1] * 10;
        at += 1;
    }
    powers
};

/// Powers of ten that a double has exactly, and that fifteen digits ask for.
const REAL_POWERS: [f64; 16] = [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];

/// Numbers of at most fifteen digits each have a double of their own.
const FIFTEEN_DIGITS: f64 = 1e15;

impl Fixed {
    pub(super) fn decimal(&self) -> Option<Decimal> {
        match self {
            Self::Null => None,
            Self::Small(unscaled, scale) => Some(Decimal::from_parts(*unscaled, *scale)),
            Self::Wide(decimal) => Some(decimal.clone()),
        }
    }

    fn of(decimal: Decimal) -> Self {
        match decimal.small() {
            Some((unscaled, scale)) => Self::Small(unscaled, scale),
            None => Self::Wide(decimal),
        }
    }

    /// A value of a NUMERIC column whose numbers have so many digits behind the point.
    #[inline]
    fn native(value: ValueRef<'_>, scale: u32) -> Result<Self> {
        match value {
            ValueRef::Null => return Ok(Self::Null),
            ValueRef::Integer(whole) if scale <= 15 => {
                return Ok(Self::Small(i128::from(whole) * POWERS[scale as usize], scale));
            }
            ValueRef::Real(real) if scale <= 15 => {
                let power = REAL_POWERS[scale as usize];
                let scaled = real * power;
                if scaled.abs() < FIFTEEN_DIGITS {
                    let nearest = (scaled + 0.5_f64.copysign(scaled)) as i64;
                    // Only the double that these very digits are read as.
                    if nearest as f64 / power == real {
                        return Ok(Self::Small(i128::from(nearest), scale));
                    }
                }
            }
            _ => {}
        }
        Self::spelled(value, scale)
    }

    /// What does not lie there as its column's type says: with all its digits, and no fewer than the type promises.
    #[cold]
    fn spelled(value: ValueRef<'_>, scale: u32) -> Result<Self> {
        let number = Decimal::from_stored(value)?;
        let short = number.finite().is_some_and(|finite| finite.scale() < scale);
        Ok(Self::of(if short { number.rounded(i64::from(scale)) } else { number }))
    }

    fn integer(value: ValueRef<'_>) -> Result<Self> {
        match value {
            ValueRef::Null => Ok(Self::Null),
            ValueRef::Integer(whole) => Ok(Self::Small(i128::from(whole), 0)),
            other => Decimal::from_stored(other).map(Self::of),
        }
    }

    fn stored(value: ValueRef<'_>) -> Result<Self> {
        match value {
            ValueRef::Null => Ok(Self::Null),
            other => Decimal::from_stored(other).map(Self::of),
        }
    }

    #[inline]
    fn add(&self, other: &Self) -> Result<Self> {
        if let (Self::Small(a, scale), Self::Small(b, other_scale)) = (self, other)
            && let Some((a, b, scale)) = aligned(*a, *scale, *b, *other_scale)
            && let Some(sum) = a.checked_add(b)
        {
            return Ok(Self::Small(sum, scale));
        }
        self.wide(other, Decimal::add)
    }

    #[inline]
    fn sub(&self, other: &Self) -> Result<Self> {
        if let (Self::Small(a, scale), Self::Small(b, other_scale)) = (self, other)
            && let Some((a, b, scale)) = aligned(*a, *scale, *b, *other_scale)
            && let Some(difference) = a.checked_sub(b)
        {
            return Ok(Self::Small(difference, scale));
        }
        self.wide(other, Decimal::sub)
    }

    #[inline]
    fn mul(&self, other: &Self) -> Result<Self> {
        if let (Self::Small(a, scale), Self::Small(b, other_scale)) = (self, other)
            && scale + other_scale <= 1_000
            && let Some(product) = times(*a, *b)
        {
            return Ok(Self::Small(product, scale + other_scale));
        }
        self.wide(other, Decimal::mul)
    }

    #[cold]
    fn wide(&self, other: &Self, compute: fn(&Decimal, &Decimal) -> Result<Decimal>) -> Result<Self> {
        match (self.decimal(), other.decimal()) {
            (Some(a), Some(b)) => compute(&a, &b).map(Self::of),
            _ => Ok(Self::Null),
        }
    }
}

/// Two numbers with the longer fraction of both.
#[inline]
pub(super) fn aligned(a: i128, scale: u32, b: i128, other: u32) -> Option<(i128, i128, u32)> {
    if scale == other {
        return Some((a, b, scale));
    }
    let (short, long) = (scale.min(other), scale.max(other));
    let power = *POWERS.get((long - short) as usize)?;
    if scale < other { Some((times(a, power)?, b, long)) } else { Some((a, times(b, power)?, long)) }
}

/// A product; most factors fit 64 bits, and their product then fits 128.
#[inline]
fn times(a: i128, b: i128) -> Option<i128> {
    match (i64::try_from(a), i64::try_from(b)) {
        (Ok(a), Ok(b)) => Some(i128::from(a) * i128::from(b)),
        _ => a.checked_mul(b),
    }
}

/// Computes all numbers of a row.
#[inline]
pub(super) fn compute(nodes: &[Number], row: &impl Inputs, out: &mut Vec<Fixed>) -> Result<()> {
    out.clear();
    for node in nodes {
        let number = match *node {
            Number::Native(input, scale) => Fixed::native(row.value(input), scale)?,
            Number::Integer(input) => Fixed::integer(row.value(input))?,
            Number::Stored(input) => Fixed::stored(row.value(input))?,
            Number::Constant(unscaled, scale) => Fixed::Small(unscaled, scale),
            Number::Null => Fixed::Null,
            Number::Add(a, b) => out[a].add(&out[b])?,
            Number::Sub(a, b) => out[a].sub(&out[b])?,
            Number::Mul(a, b) => out[a].mul(&out[b])?,
            Number::Neg(a) => Fixed::Small(0, 0).sub(&out[a])?,
            Number::Choice(input, then, otherwise) => {
                out[if is_true(row.value(input)) { then } else { otherwise }].clone()
            }
        };
        out.push(number);
    }
    Ok(())
}

/// A condition that holds.
pub(super) fn is_true(value: ValueRef<'_>) -> bool {
    match value {
        ValueRef::Integer(value) => value != 0,
        ValueRef::Real(value) => value != 0.0,
        _ => false,
    }
}

/// A float; NaN lies there as a text.
pub(super) fn float(value: ValueRef<'_>) -> Result<f64> {
    match value {
        ValueRef::Real(value) => Ok(value),
        ValueRef::Integer(value) => Ok(value as f64),
        ValueRef::Null => Err(Error::internal("NULL is no float")),
        other => rowferry_dialect::values::cast::float_of(&other.to_value()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Row<'a>(&'a [ValueRef<'a>]);

    impl Inputs for Row<'_> {
        fn value(&self, at: usize) -> ValueRef<'_> {
            self.0[at]
        }
    }

    fn last(nodes: &[Number], row: &[ValueRef<'_>]) -> String {
        let mut out = Vec::new();
        compute(nodes, &Row(row), &mut out).unwrap();
        out.pop().and_then(|number| number.decimal()).map_or("NULL".to_owned(), |number| number.to_string())
    }

    #[test]
    fn numbers_of_a_column_have_its_digits() {
        let nodes = [Number::Native(0, 2)];
        assert_eq!(last(&nodes, &[ValueRef::Real(12.5)]), "12.50");
        assert_eq!(last(&nodes, &[ValueRef::Integer(-12)]), "-12.00");
        assert_eq!(last(&nodes, &[ValueRef::Real(-0.07)]), "-0.07");
        assert_eq!(last(&nodes, &[ValueRef::Real(9_999_999_999_999.99)]), "9999999999999.99");
        // Somebody else has written it.
        assert_eq!(last(&nodes, &[ValueRef::Real(0.125)]), "0.125");
        assert_eq!(last(&nodes, &[ValueRef::Text(b"NaN")]), "NaN");
        assert_eq!(last(&nodes, &[ValueRef::Null]), "NULL");
    }

    #[test]
    fn what_does_not_fit_is_computed_all_the_same() {
        let nodes = [Number::Stored(0), Number::Stored(1), Number::Mul(0, 1), Number::Add(2, 0), Number::Sub(3, 1)];
        let (a, b) = ("9".repeat(30), "9".repeat(30));
        let row = [ValueRef::Text(a.as_bytes()), ValueRef::Text(b.as_bytes())];
        assert_eq!(last(&nodes[..3], &row), format!("{}8{}1", "9".repeat(29), "0".repeat(29)));
        assert_eq!(last(&nodes, &row), last(&nodes[..3], &row));
        let tenth = [Number::Stored(0), Number::Constant(1, 1), Number::Add(0, 1), Number::Neg(2)];
        assert_eq!(last(&tenth, &[ValueRef::Text(b"1.005")]), "-1.105");
    }

    #[test]
    fn a_choice_is_one_of_both() {
        let nodes = [Number::Native(1, 2), Number::Constant(0, 0), Number::Choice(0, 0, 1)];
        assert_eq!(last(&nodes, &[ValueRef::Integer(1), ValueRef::Real(1.5)]), "1.50");
        assert_eq!(last(&nodes, &[ValueRef::Integer(0), ValueRef::Real(1.5)]), "0");
        assert_eq!(last(&nodes, &[ValueRef::Null, ValueRef::Real(1.5)]), "0");
    }
}
