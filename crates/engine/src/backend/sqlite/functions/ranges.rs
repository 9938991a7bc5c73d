//! Ranges and multiranges. The last argument of each function says which range type it is about: a built-in one's object
//! id, or a user's definition.
//!
//! A range is at most one [`Range`], a multirange any number, so that most functions treat both alike.

use std::collections::VecDeque;

use rowferry_dialect::ir::Value;
use rowferry_dialect::scalar::ranges::{self, multirange_of};
use rowferry_dialect::user_type::from_told;
use rowferry_dialect::values::ValueRef;
use rowferry_dialect::values::range::{self, Bound, Range, Subtype, text};
use rowferry_dialect::{Condition, Error, Result, work};
use serde_json::Value as Json;

use super::aggregate::Accumulator;
use super::call::{boolean, integer};
use super::{Call, Row, arrays};

/// What a function does with two values, each a range or a multirange.
macro_rules! relation {
    ($name:literal, $test:expr) => {
        Row::new($name, 3, |call| {
            let (left, right) = (ranges_at(call, 0)?, ranges_at(call, 1)?);
            let test: fn(&[Range], &[Range]) -> bool = $test;
            boolean(test(&left, &right))
        })
    };
}

/// A question about one end.
macro_rules! end {
    ($name:literal, $test:expr) => {
        Row::new($name, 2, |call| {
            let ranges = ranges_at(call, 0)?;
            let test: fn(&Range, &Range) -> bool = $test;
            boolean(matches!((ranges.first(), ranges.last()), (Some(first), Some(last)) if test(first, last)))
        })
    };
}

pub(super) const ROWS: &[Row] = &[
    Row::new("rf_make_range", 3, make_range).optional(1).lenient(),
    Row::new("rf_make_multirange", 1, make_multirange).variadic().lenient(),
    Row::new("rf_make_multirange_of_array", 2, make_multirange_of_array),
    Row::new("rf_range_lower", 2, |call| {
        let ranges = ranges_at(call, 0)?;
        point(call, ranges.first().map(|range| &range.lower))
    }),
    Row::new("rf_range_upper", 2, |call| {
        let ranges = ranges_at(call, 0)?;
        point(call, ranges.last().map(|range| &range.upper))
    }),
    Row::new("rf_range_isempty", 2, |call| boolean(ranges_at(call, 0)?.is_empty())),
    end!("rf_range_lower_inc", |first, _| first.lower.inclusive),
    end!("rf_range_upper_inc", |_, last| last.upper.inclusive),
    end!("rf_range_lower_inf", |first, _| first.lower.point.is_none()),
    end!("rf_range_upper_inf", |_, last| last.upper.point.is_none()),
    Row::new("rf_range_merge", 2, |call| {
        let mut all = Vec::new();
        for at in 0..call.len() - 1 {
            all.extend(ranges_at(call, at)?);
        }
        stored(call, &range::merged(&all).into_iter().collect::<Vec<_>>(), false)
    })
    .optional(1),
    relation!("rf_range_overlaps", range::overlaps),
    relation!("rf_range_before", range::before),
    relation!("rf_range_after", |left, right| range::before(right, left)),
    relation!("rf_range_overleft", range::over_left),
    relation!("rf_range_overright", range::over_right),
    relation!("rf_range_adjacent", range::adjacent),
    relation!("rf_range_contains", range::contains),
    relation!("rf_range_contained_by", |left, right| range::contains(right, left)),
    Row::new("rf_range_contains_elem", 3, |call| contains_element(call, 0, 1)),
    Row::new("rf_elem_contained_by_range", 3, |call| contains_element(call, 1, 0)),
    Row::new("rf_range_cmp", 3, |call| integer(range::compare(&ranges_at(call, 0)?, &ranges_at(call, 1)?) as i8)),
    Row::new("rf_range_union", 3, |call| {
        let union = range::union_of_ranges(ranges_at(call, 0)?, ranges_at(call, 1)?)?;
        stored(call, &union, false)
    }),
    Row::new("rf_range_minus", 3, |call| {
        let left = range::minus_of_ranges(&subtype(call)?, ranges_at(call, 0)?, &ranges_at(call, 1)?)?;
        stored(call, &left, false)
    }),
    Row::new("rf_range_intersect", 3, |call| {
        stored(call, &range::intersect(&ranges_at(call, 0)?, &ranges_at(call, 1)?), false)
    }),
    Row::new("rf_multirange_union", 3, |call| {
        stored(call, &range::union(ranges_at(call, 0)?, ranges_at(call, 1)?), true)
    }),
    Row::new("rf_multirange_minus", 3, |call| {
        stored(call, &range::minus(&subtype(call)?, ranges_at(call, 0)?, &ranges_at(call, 1)?)?, true)
    }),
    Row::new("rf_multirange_intersect", 3, |call| {
        stored(call, &range::intersect(&ranges_at(call, 0)?, &ranges_at(call, 1)?), true)
    }),
];

/// What the ranges of a call are of.
fn subtype(call: &Call<'_>) -> Result<Subtype> {
    let at = call.len() - 1;
    let none = || Error::internal("a function is told of no range type");
    if let ValueRef::Integer(oid) = call.value(at) {
        return u32::try_from(oid).ok().and_then(ranges::subtype_by_oid).cloned().ok_or_else(none);
    }
    call.prepared(at, || ranges::subtype(&from_told(call.text(at)?).ok_or_else(none)?).ok_or_else(none))
}

/// A range or multirange.
fn ranges_at(call: &Call<'_>, at: usize) -> Result<Vec<Range>> {
    text::from_stored(call.text(at)?, &subtype(call)?)
}

fn stored(call: &Call<'_>, ranges: &[Range], multirange: bool) -> Result<Value> {
    Ok(Value::Text(text::to_stored(ranges, multirange, &subtype(call)?)?))
}

/// A bound's point; NULL where there is none.
fn point(call: &Call<'_>, bound: Option<&Bound>) -> Result<Value> {
    match bound.and_then(|bound| bound.point.as_ref()) {
        Some(point) => subtype(call)?.stored(point),
        None => Ok(Value::Null),
    }
}

fn contains_element(call: &Call<'_>, ranges: usize, element: usize) -> Result<Value> {
    let element = subtype(call)?.point(call.value(element))?;
    boolean(range::contains_point(&ranges_at(call, ranges)?, &element))
}

/// The lower and the upper bound, then perhaps the letters that say which of them the range includes.
fn make_range(call: &Call<'_>) -> Result<Value> {
    let flags = match call.len() {
        3 => "[)",
        _ if call.is_null(2) => {
            let message = "range constructor flags argument must not be null";
            return Err(Error::new(Condition::DataException, message));
        }
        _ => call.text(2)?,
    };
    let (lower_inclusive, upper_inclusive) = match flags {
        "[)" => (true, false),
        "[]" => (true, true),
        "(]" => (false, true),
        "()" => (false, false),
        _ => {
            return Err(Error::new(Condition::SyntaxError, "invalid range bound flags")
                .hint("Valid values are \"[]\", \"[)\", \"(]\", and \"()\"."));
        }
    };
    let subtype = subtype(call)?;
    let point = |at| call.given(at).map(|value| subtype.point(value)).transpose();
    let lower = Bound::new(point(0)?, lower_inclusive);
    let upper = Bound::new(point(1)?, upper_inclusive);
    let range: Vec<Range> = Range::new(&subtype, lower, upper)?.into_iter().collect();
    stored(call, &range, false)
}

fn null_member() -> Error {
    Error::new(Condition::NullValueNotAllowed, "multirange values cannot contain null members")
}

/// Any number of ranges.
fn make_multirange(call: &Call<'_>) -> Result<Value> {
    let count = call.len() - 1;
    if count == 1 {
        return if call.is_null(0) { Ok(Value::Null) } else { Ok(multirange_of(call.text(0)?)) };
    }
    let mut all = Vec::new();
    for at in 0..count {
        if call.is_null(at) {
            return Err(null_member());
        }
        all.extend(ranges_at(call, at)?);
    }
    stored(call, &range::normalized(all), true)
}

fn make_multirange_of_array(call: &Call<'_>) -> Result<Value> {
    let array = arrays::parse(call.text(0)?)?;
    if array.dimensions.len() > 1 {
        let message = "multiranges cannot be constructed from multidimensional arrays";
        return Err(Error::new(Condition::CardinalityViolation, message));
    }
    let subtype = subtype(call)?;
    let mut all = Vec::new();
    for member in &array.members {
        let Json::String(member) = member else { return Err(null_member()) };
        work::step(size_of::<Range>())?;
        all.extend(text::from_stored(member, &subtype)?);
    }
    stored(call, &range::normalized(all), true)
}

/// What an aggregate makes of its rows.
#[derive(Clone, Copy, Eq, PartialEq)]
pub(super) enum Gather {
    /// The multirange of all of them.
    Union,
    /// The range that all of them have in common.
    RangeIntersection,
    /// The multirange that all of them have in common.
    MultirangeIntersection,
}

/// The rows of a group or frame; none is lost, since a frame's may leave again.
pub(super) struct Ranges {
    gather: Gather,
    subtype: Option<Subtype>,
    rows: VecDeque<Vec<Range>>,
}

impl Ranges {
    pub(super) fn new(gather: Gather) -> Self {
        Self { gather, subtype: None, rows: VecDeque::new() }
    }
}

impl Accumulator for Ranges {
    fn step(&mut self, call: &Call<'_>) -> Result<()> {
        let row = ranges_at(call, 0)?;
        work::step(row.len() * size_of::<Range>())?;
        self.subtype = Some(subtype(call)?);
        self.rows.push_back(row);
        Ok(())
    }

    fn inverse(&mut self, _: &Call<'_>) -> Result<()> {
        self.rows.pop_front();
        Ok(())
    }

    fn value(&mut self) -> Result<Value> {
        let (Some(subtype), Some(first)) = (&self.subtype, self.rows.front()) else { return Ok(Value::Null) };
        let result = match self.gather {
            Gather::Union => range::normalized(self.rows.iter().flatten().cloned().collect()),
            Gather::RangeIntersection | Gather::MultirangeIntersection => {
                self.rows.iter().skip(1).fold(first.clone(), |common, row| range::intersect(&common, row))
            }
        };
        let multirange = self.gather != Gather::RangeIntersection;
        Ok(Value::Text(text::to_stored(&result, multirange, subtype)?))
    }
}
