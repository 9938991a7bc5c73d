//! Ranges and multiranges: what they are, how they are compared and combined.
//!
//! Both are lists of [`Range`]s: a range has one or, when it is empty, none; a multirange has any number, in order and
//! apart from each other. A range of a discrete subtype is in its canonical form, `[lower,upper)`.
//!
//! The stored form is PostgreSQL's text ([`text`]) of the bounds' stored forms; of a subtype that is none of the built-in
//! range types', of the bounds' texts as they are printed without any settings.

pub mod binary;
pub mod text;

use std::cmp::Ordering;
use std::sync::Arc;

use super::{Decimal, Settings, ValueRef, date, input as read, misfit, order, timestamp};
use crate::ir::Value;
use crate::user_type::UserType;
use crate::{Condition, Error, Result, Type, work};

/// What ranges are of.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Subtype {
    /// `date`
    Date,
    /// `integer`
    Int4,
    /// `bigint`
    Int8,
    /// `numeric`
    Numeric,
    /// `timestamp`
    Timestamp,
    /// `timestamp with time zone`
    TimestampTz,
    /// The subtype of a type that a user has made. Its values lie dense, whatever they are: it has no canonical form.
    Other(Arc<Type>),
}

/// A value of the subtype.
#[derive(Clone, Debug)]
pub enum Point {
    /// A number.
    Decimal(Decimal),
    /// An integer, or a date's days, a timestamp's microseconds since 1970.
    Number(i64),
    /// A value of the subtype of a user's range type, which says what its order is.
    Other(Value, Arc<Type>),
}

impl Point {
    fn compare(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Number(a), Self::Number(b)) => a.cmp(b),
            (Self::Decimal(a), Self::Decimal(b)) => a.compare(b),
            (Self::Other(a, ty), Self::Other(b, _)) => order::order(a, b, ty),
            // Points of one subtype are of one kind.
            (a, b) => a.kind().cmp(&b.kind()),
        }
    }

    const fn kind(&self) -> u8 {
        match self {
            Self::Number(_) => 0,
            Self::Decimal(_) => 1,
            Self::Other(..) => 2,
        }
    }
}

impl Subtype {
    /// Its type.
    pub fn ty(&self) -> Type {
        match self {
            Self::Date => Type::Date,
            Self::Int4 => Type::Int4,
            Self::Int8 => Type::Int8,
            Self::Numeric => Type::Numeric(None),
            Self::Timestamp => Type::Timestamp(None),
            Self::TimestampTz => Type::TimestampTz(None),
            Self::Other(ty) => Type::clone(ty),
        }
    }

    /// A stored value.
    ///
    /// # Errors
    /// `XX001`
    pub fn point(&self, stored: ValueRef<'_>) -> Result<Point> {
        let wrong = || misfit(stored, &self.ty());
        Ok(match (self, stored) {
            (Self::Other(ty), stored) if ty.is_decimal() => {
                let value = Decimal::from_stored(stored).map_err(|_| wrong())?;
                Point::Other(Value::Text(value.to_string()), ty.clone())
            }
            (Self::Other(ty), stored) => Point::Other(stored.to_value(), ty.clone()),
            (Self::Numeric, stored) => Point::Decimal(Decimal::from_stored(stored).map_err(|_| wrong())?),
            (Self::Int4 | Self::Int8, ValueRef::Integer(value)) => Point::Number(value),
            (Self::Int4 | Self::Int8, ValueRef::Text(digits)) => {
                let number = std::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok());
                Point::Number(number.ok_or_else(wrong)?)
            }
            (Self::Date, ValueRef::Text(text)) => Point::Number(date::days(text)?),
            (Self::Timestamp | Self::TimestampTz, ValueRef::Text(text)) => Point::Number(timestamp::micros(text)?),
            _ => return Err(wrong()),
        })
    }

    /// The stored form.
    ///
    /// # Errors
    /// `22008`
    pub fn stored(&self, point: &Point) -> Result<Value> {
        Ok(match (self, point) {
            (_, Point::Other(value, _)) => value.clone(),
            (_, Point::Decimal(value)) => Value::Text(value.to_string()),
            (Self::Date, Point::Number(days)) => Value::Text(date::to_stored(*days)?),
            (Self::Timestamp, Point::Number(micros)) => Value::Text(timestamp::to_stored(*micros)?),
            (Self::TimestampTz, Point::Number(micros)) => Value::Text(timestamp::to_stored_tz(*micros)?),
            (_, Point::Number(number)) => Value::Integer(*number),
        })
    }

    /// Reads a bound as people write it.
    fn read(&self, text: &str, settings: &Settings) -> Result<Point> {
        match self {
            Self::Other(ty) => Ok(Point::Other(read(text, ty, settings)?, ty.clone())),
            known => known.point(read(text, &known.ty(), settings)?.as_ref()),
        }
    }

    /// Reads a bound of a stored range.
    fn bound(&self, text: &str) -> Result<Point> {
        match self {
            Self::Other(_) => {
                self.read(text, &Settings::default()).map_err(|_| misfit(ValueRef::Text(text.as_bytes()), &self.ty()))
            }
            known => known.point(ValueRef::Text(text.as_bytes())),
        }
    }

    /// The value after another one; `None` where there is none because values lie dense, or the value is infinite.
    fn next(&self, point: &Point) -> Result<Option<Point>> {
        let Point::Number(number) = point else { return Ok(None) };
        let overflow = |what| Error::new(Condition::NumericValueOutOfRange, format!("{what} out of range"));
        let next = number.checked_add(1);
        Ok(Some(Point::Number(match self {
            Self::Int4 => next.filter(|next| *next <= i32::MAX.into()).ok_or_else(|| overflow("integer"))?,
            Self::Int8 => next.ok_or_else(|| overflow("bigint"))?,
            Self::Date if ![i64::MIN, i64::MAX].contains(number) => date::check(number + 1)?,
            Self::Date | Self::Numeric | Self::Timestamp | Self::TimestampTz | Self::Other(_) => return Ok(None),
        })))
    }
}

/// One end of a range.
#[derive(Clone, Debug)]
pub struct Bound {
    /// Where it is; `None` is nowhere: the range has no end on this side.
    pub point: Option<Point>,
    /// The point itself is in the range.
    pub inclusive: bool,
}

/// The side of a bound.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Side {
    Lower,
    Upper,
}

impl Bound {
    /// A bound; one that is nowhere includes nothing.
    pub fn new(point: Option<Point>, inclusive: bool) -> Self {
        Self { inclusive: inclusive && point.is_some(), point }
    }

    /// How far its innermost member lies from its point: just above, at it, just below.
    fn offset(&self, side: Side) -> i8 {
        match side {
            _ if self.inclusive => 0,
            Side::Lower => 1,
            Side::Upper => -1,
        }
    }

    fn compare(&self, side: Side, other: &Self, other_side: Side) -> Ordering {
        let beyond = |side| if side == Side::Lower { Ordering::Less } else { Ordering::Greater };
        match (&self.point, &other.point) {
            (None, None) if side == other_side => Ordering::Equal,
            (None, _) => beyond(side),
            (_, None) => beyond(other_side).reverse(),
            (Some(a), Some(b)) => a.compare(b).then(self.offset(side).cmp(&other.offset(other_side))),
        }
    }

    /// The bound that another range has where this one ends.
    fn flipped(&self) -> Self {
        Self::new(self.point.clone(), !self.inclusive)
    }
}

/// A range that is not empty.
#[derive(Clone, Debug)]
pub struct Range {
    /// Where it begins.
    pub lower: Bound,
    /// Where it ends.
    pub upper: Bound,
}

/// The error for bounds in the wrong order.
fn bounds_reversed() -> Error {
    Error::new(Condition::DataException, "range lower bound must be less than or equal to range upper bound")
}

/// The error for a result that one range cannot be; `what` is the operation.
fn not_contiguous(what: &str) -> Error {
    Error::new(Condition::DataException, format!("result of range {what} would not be contiguous"))
}

impl Range {
    /// The range between two bounds, in its canonical form; `None` when there is nothing between them.
    ///
    /// # Errors
    /// `22000` when the bounds are in the wrong order; `22003`, `22008` when the canonical form has no bound.
    pub fn new(subtype: &Subtype, mut lower: Bound, mut upper: Bound) -> Result<Option<Self>> {
        if let (Some(from), Some(to)) = (&lower.point, &upper.point) {
            match from.compare(to) {
                Ordering::Greater => return Err(bounds_reversed()),
                Ordering::Equal if !(lower.inclusive && upper.inclusive) => return Ok(None),
                _ => {}
            }
        }
        if let (Some(point), false) = (&lower.point, lower.inclusive)
            && let Some(next) = subtype.next(point)?
        {
            lower = Bound::new(Some(next), true);
        }
        if let (Some(point), true) = (&upper.point, upper.inclusive)
            && let Some(next) = subtype.next(point)?
        {
            upper = Bound::new(Some(next), false);
        }
        if let (Some(from), Some(to)) = (&lower.point, &upper.point)
            && from.compare(to).is_eq()
            && !(lower.inclusive && upper.inclusive)
        {
            return Ok(None);
        }
        Ok(Some(Self { lower, upper }))
    }

    fn compare_lower(&self, other: &Self) -> Ordering {
        self.lower.compare(Side::Lower, &other.lower, Side::Lower)
    }

    fn compare_upper(&self, other: &Self) -> Ordering {
        self.upper.compare(Side::Upper, &other.upper, Side::Upper)
    }

    /// Its end against the beginning of another.
    fn upper_to_lower(&self, other: &Self) -> Ordering {
        self.upper.compare(Side::Upper, &other.lower, Side::Lower)
    }

    fn compare(&self, other: &Self) -> Ordering {
        self.compare_lower(other).then_with(|| self.compare_upper(other))
    }

    fn contains(&self, other: &Self) -> bool {
        self.compare_lower(other).is_le() && self.compare_upper(other).is_ge()
    }

    fn overlaps(&self, other: &Self) -> bool {
        self.upper_to_lower(other).is_ge() && other.upper_to_lower(self).is_ge()
    }

    /// True when another begins where this one ends.
    fn meets(&self, other: &Self) -> bool {
        match (&self.upper.point, &other.lower.point) {
            (Some(end), Some(start)) => end.compare(start).is_eq() && self.upper.inclusive != other.lower.inclusive,
            _ => false,
        }
    }

    /// The least range that contains both.
    fn merge(&self, other: &Self) -> Self {
        let lower = if self.compare_lower(other).is_le() { &self.lower } else { &other.lower };
        let upper = if self.compare_upper(other).is_ge() { &self.upper } else { &other.upper };
        Self { lower: lower.clone(), upper: upper.clone() }
    }

    /// What is in both.
    fn intersect(&self, other: &Self) -> Option<Self> {
        self.overlaps(other).then(|| {
            let lower = if self.compare_lower(other).is_ge() { &self.lower } else { &other.lower };
            let upper = if self.compare_upper(other).is_le() { &self.upper } else { &other.upper };
            Self { lower: lower.clone(), upper: upper.clone() }
        })
    }
}

/// The order of ranges and of multiranges: by their members, from left to right; what is empty comes first.
pub fn compare(left: &[Range], right: &[Range]) -> Ordering {
    let members = left.iter().zip(right).map(|(a, b)| a.compare(b)).find(|order| order.is_ne());
    members.unwrap_or_else(|| left.len().cmp(&right.len()))
}

/// Ranges in order; those that overlap or meet become one.
pub fn normalized(mut ranges: Vec<Range>) -> Vec<Range> {
    ranges.sort_by(Range::compare);
    let mut joined: Vec<Range> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match joined.last_mut() {
            Some(last) if last.overlaps(&range) || last.meets(&range) => *last = last.merge(&range),
            _ => joined.push(range),
        }
    }
    joined
}

/// The members from the first on that does not lie wholly before `range`.
fn reaching<'a>(ranges: &'a [Range], range: &Range) -> &'a [Range] {
    &ranges[ranges.partition_point(|member| member.upper_to_lower(range).is_lt())..]
}

/// The members that have something in common with `range`.
fn touching<'a>(ranges: &'a [Range], range: &'a Range) -> impl Iterator<Item = &'a Range> {
    reaching(ranges, range).iter().take_while(|member| member.overlaps(range))
}

/// `left @> right`
pub fn contains(left: &[Range], right: &[Range]) -> bool {
    right.iter().all(|inner| reaching(left, inner).first().is_some_and(|outer| outer.contains(inner)))
}

/// `ranges @> point`
pub fn contains_point(ranges: &[Range], point: &Point) -> bool {
    let single = Bound::new(Some(point.clone()), true);
    let single = Range { lower: single.clone(), upper: single };
    contains(ranges, &[single])
}

/// `left && right`
pub fn overlaps(left: &[Range], right: &[Range]) -> bool {
    right.iter().any(|range| touching(left, range).next().is_some())
}

/// Runs `test` on the first and last member of both; false when one is empty.
fn ends(left: &[Range], right: &[Range], test: impl Fn([&Range; 2], [&Range; 2]) -> bool) -> bool {
    match (left, right) {
        ([first, ..], [other_first, ..]) => {
            let (last, other_last) = (left.last().unwrap_or(first), right.last().unwrap_or(other_first));
            test([first, last], [other_first, other_last])
        }
        _ => false,
    }
}

/// `left << right`
pub fn before(left: &[Range], right: &[Range]) -> bool {
    ends(left, right, |[_, last], [first, _]| last.upper_to_lower(first).is_lt())
}

/// `left &< right`
pub fn over_left(left: &[Range], right: &[Range]) -> bool {
    ends(left, right, |[_, last], [_, other]| last.compare_upper(other).is_le())
}

/// `left &> right`
pub fn over_right(left: &[Range], right: &[Range]) -> bool {
    ends(left, right, |[first, _], [other, _]| first.compare_lower(other).is_ge())
}

/// `left -|- right`
pub fn adjacent(left: &[Range], right: &[Range]) -> bool {
    ends(left, right, |[first, last], [other_first, other_last]| last.meets(other_first) || other_last.meets(first))
}

/// What is in both.
pub fn intersect(left: &[Range], right: &[Range]) -> Vec<Range> {
    right.iter().flat_map(|range| touching(left, range).filter_map(|member| member.intersect(range))).collect()
}

/// What is in either.
pub fn union(left: Vec<Range>, right: Vec<Range>) -> Vec<Range> {
    normalized(left.into_iter().chain(right).collect())
}

/// What is in the first and not in the second.
///
/// # Errors
/// None that a canonical bound would raise.
pub fn minus(subtype: &Subtype, left: Vec<Range>, right: &[Range]) -> Result<Vec<Range>> {
    let mut rest = Vec::with_capacity(left.len());
    for range in left {
        let mut remains = Some(range.clone());
        for taken in touching(right, &range) {
            work::step(size_of::<Range>())?;
            let Some(range) = remains.take() else { break };
            if range.compare_lower(taken).is_lt() {
                rest.extend(Range::new(subtype, range.lower.clone(), taken.lower.flipped())?);
            }
            if range.compare_upper(taken).is_gt() {
                remains = Range::new(subtype, taken.upper.flipped(), range.upper)?;
            }
        }
        rest.extend(remains);
    }
    Ok(rest)
}

/// The union of two ranges.
///
/// # Errors
/// `22000` when there is a gap between them.
pub fn union_of_ranges(left: Vec<Range>, right: Vec<Range>) -> Result<Vec<Range>> {
    one(union(left, right), "union")
}

/// The difference of two ranges.
///
/// # Errors
/// `22000` when the second would leave a gap.
pub fn minus_of_ranges(subtype: &Subtype, left: Vec<Range>, right: &[Range]) -> Result<Vec<Range>> {
    one(minus(subtype, left, right)?, "difference")
}

fn one(ranges: Vec<Range>, what: &str) -> Result<Vec<Range>> {
    if ranges.len() > 1 { Err(not_contiguous(what)) } else { Ok(ranges) }
}

/// The least range that contains all of them.
pub fn merged(ranges: &[Range]) -> Option<Range> {
    ranges.iter().cloned().reduce(|all, range| all.merge(&range))
}

/// Reads a range or multirange of a user's type as people write it; gives the stored form.
///
/// # Errors
/// As for built-in types.
pub fn input(text: &str, user: &UserType, settings: &Settings) -> Result<String> {
    let (subtype, multirange) = of_user(user)?;
    let read = if multirange { text::read_multirange } else { text::read_range };
    text::to_stored(&read(text, &subtype, settings)?, multirange, &subtype)
}

/// Appends the text of a stored range or multirange of a user's type.
///
/// # Errors
/// `XX001` for a text that is none.
pub fn write(out: &mut Vec<u8>, stored: &[u8], user: &UserType, settings: &Settings) -> Result<()> {
    let (subtype, multirange) = of_user(user)?;
    let text = std::str::from_utf8(stored).map_err(|_| super::misfit(ValueRef::Text(stored), &subtype.ty()))?;
    text::print(out, &text::from_stored(text, &subtype)?, multirange, &subtype, settings)
}

/// What the ranges of a user's type are of, and whether it is a multirange type.
///
/// # Errors
/// Internal ones for other types.
pub fn of_user(user: &UserType) -> Result<(Subtype, bool)> {
    let subtype =
        user.ordered_subtype().ok_or_else(|| Error::internal(format!("{} is no range type", user.shown())))?;
    Ok((Subtype::Other(subtype), user.range().is_none()))
}

#[cfg(test)]
mod tests;
