//! Lines without end, and the parts of lines between two points.

use super::Point;
use super::number::{self, add, divide, hypotenuse, less, loose, multiply, subtract};
use crate::{Condition, Error, Result};

/// The line of `ax + by + c = 0`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// The factor of x.
    pub a: f64,
    /// The factor of y.
    pub b: f64,
    /// The constant.
    pub c: f64,
}

/// The part of a line between two points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Segment {
    /// One end.
    pub start: Point,
    /// The other.
    pub end: Point,
}

impl Line {
    /// The line of a slope through a point.
    ///
    /// # Errors
    /// `22003`, as for all that is computed here.
    pub fn of_slope(point: Point, slope: f64) -> Result<Self> {
        if slope.is_infinite() {
            return Ok(Self { a: -1.0, b: 0.0, c: point.x });
        }
        if slope == 0.0 {
            return Ok(Self { a: 0.0, b: -1.0, c: point.y });
        }
        // Adding zero makes no difference but to a negative zero.
        Ok(Self { a: slope, b: -1.0, c: subtract(point.y, multiply(slope, point.x)?)? + 0.0 })
    }

    /// The line through two points.
    ///
    /// # Errors
    /// `22023` when they are the same.
    pub fn through(one: Point, other: Point) -> Result<Self> {
        if one.same(other) {
            let message = "invalid line specification: must be two distinct points";
            return Err(Error::new(Condition::InvalidParameterValue, message));
        }
        Self::of_slope(one, one.slope(other)?)
    }

    /// Its slope.
    ///
    /// # Errors
    /// `22003`
    pub fn slope(self) -> Result<f64> {
        if loose::zero(self.a) {
            Ok(0.0)
        } else if loose::zero(self.b) {
            Ok(f64::INFINITY)
        } else {
            divide(self.a, -self.b)
        }
    }

    fn slope_across(self) -> Result<f64> {
        if loose::zero(self.a) {
            Ok(f64::INFINITY)
        } else if loose::zero(self.b) {
            Ok(0.0)
        } else {
            divide(self.b, self.a)
        }
    }

    /// True for the same line, in whatever numbers.
    ///
    /// # Errors
    /// `22003`
    pub fn same(self, other: Self) -> Result<bool> {
        let pairs = [(self.a, other.a), (self.b, other.b), (self.c, other.c)];
        if pairs.iter().any(|(left, right)| left.is_nan() || right.is_nan()) {
            return Ok(pairs.iter().all(|(left, right)| number::same(*left, *right)));
        }
        let ratio = match pairs.iter().find(|(_, right)| !loose::zero(*right)) {
            Some((left, right)) => divide(*left, *right)?,
            None => 1.0,
        };
        for (left, right) in pairs {
            if !loose::eq(left, multiply(ratio, right)?) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// True for lines at right angles.
    ///
    /// # Errors
    /// `22003`
    pub fn is_across(self, other: Self) -> Result<bool> {
        if loose::zero(self.a) {
            return Ok(loose::zero(other.b));
        }
        if loose::zero(other.a) {
            return Ok(loose::zero(self.b));
        }
        if loose::zero(self.b) {
            return Ok(loose::zero(other.a));
        }
        if loose::zero(other.b) {
            return Ok(loose::zero(self.a));
        }
        Ok(loose::eq(divide(multiply(self.a, other.a)?, multiply(self.b, other.b)?)?, -1.0))
    }

    /// Where two lines meet.
    ///
    /// # Errors
    /// `22003`
    pub fn meeting(self, other: Self) -> Result<Option<Point>> {
        // The one that is solved for y must not be upright.
        let (first, second) = if !loose::zero(self.b) {
            (self, other)
        } else if !loose::zero(other.b) {
            (other, self)
        } else {
            return Ok(None);
        };
        if loose::eq(second.a, multiply(first.a, divide(second.b, first.b)?)?) {
            return Ok(None);
        }
        let x = divide(
            subtract(multiply(first.b, second.c)?, multiply(second.b, first.c)?)?,
            subtract(multiply(first.a, second.b)?, multiply(second.a, first.b)?)?,
        )?;
        let y = divide(-add(multiply(first.a, x)?, first.c)?, first.b)?;
        Ok(Some(Point::new(x + 0.0, y + 0.0)))
    }

    /// How far lines are that do not meet; 0 for others.
    ///
    /// # Errors
    /// `22003`
    pub fn distance(self, other: Self) -> Result<f64> {
        if self.meeting(other)?.is_some() {
            return Ok(0.0);
        }
        let usable = |number: f64| !loose::zero(number) && !number.is_nan();
        let ratio = if usable(self.a) && usable(other.a) {
            divide(self.a, other.a)?
        } else if usable(self.b) && usable(other.b) {
            divide(self.b, other.b)?
        } else {
            1.0
        };
        divide(subtract(self.c, multiply(ratio, other.c)?)?.abs(), hypotenuse(self.a, self.b)?)
    }

    /// The point of the line that is closest to a point, and how far it is.
    ///
    /// # Errors
    /// `22003`
    pub fn closest(self, point: Point) -> Result<(Point, f64)> {
        let across = Self::of_slope(point, self.slope_across()?)?;
        match across.meeting(self)? {
            Some(found) => Ok((found, found.distance(point)?)),
            None => Ok((point, f64::NAN)),
        }
    }

    /// True when a point is on the line.
    ///
    /// # Errors
    /// `22003`
    pub fn contains(self, point: Point) -> Result<bool> {
        let sum = add(multiply(self.a, point.x)?, multiply(self.b, point.y)?)?;
        Ok(loose::zero(add(sum, self.c)?))
    }
}

impl Segment {
    /// A segment.
    pub const fn new(start: Point, end: Point) -> Self {
        Self { start, end }
    }

    /// How long it is.
    ///
    /// # Errors
    /// `22003`
    pub fn length(self) -> Result<f64> {
        self.start.distance(self.end)
    }

    /// Its slope.
    ///
    /// # Errors
    /// `22003`
    pub fn slope(self) -> Result<f64> {
        self.start.slope(self.end)
    }

    /// The slope of a line at right angles with it.
    ///
    /// # Errors
    /// `22003`
    pub fn slope_across(self) -> Result<f64> {
        self.start.slope_across(self.end)
    }

    /// The point half way between its ends.
    ///
    /// # Errors
    /// `22003`
    pub fn middle(self) -> Result<Point> {
        self.start.middle(self.end)
    }

    fn line(self) -> Result<Line> {
        Line::of_slope(self.start, self.slope()?)
    }

    /// The same ends, in the same order.
    pub fn same(self, other: Self) -> bool {
        self.start.same(other.start) && self.end.same(other.end)
    }

    /// True when a point is on it.
    ///
    /// # Errors
    /// `22003`
    pub fn contains(self, point: Point) -> Result<bool> {
        let by_way_of_it = point.distance(self.start)? + point.distance(self.end)?;
        Ok(loose::eq(by_way_of_it, self.length()?))
    }

    /// Where it meets another.
    ///
    /// # Errors
    /// `22003`
    pub fn meeting(self, other: Self) -> Result<Option<Point>> {
        match self.meeting_line(other.line()?)? {
            Some(point) if other.contains(point)? => Ok(Some(point)),
            _ => Ok(None),
        }
    }

    /// Where it meets a line; just an end where that is close.
    ///
    /// # Errors
    /// `22003`
    pub fn meeting_line(self, line: Line) -> Result<Option<Point>> {
        let Some(point) = self.line()?.meeting(line)? else { return Ok(None) };
        if !self.contains(point)? {
            return Ok(None);
        }
        Ok(Some(if self.start.same(point) {
            self.start
        } else if self.end.same(point) {
            self.end
        } else {
            point
        }))
    }

    /// Its point that is closest to a point, and how far it is.
    ///
    /// # Errors
    /// `22003`
    pub fn closest(self, point: Point) -> Result<(Point, f64)> {
        let across = Line::of_slope(point, self.slope_across()?)?;
        let (found, _) = self.closest_to_line(across)?;
        Ok((found, found.distance(point)?))
    }

    /// Its point that is closest to a line, and how far it is.
    ///
    /// # Errors
    /// `22003`
    pub fn closest_to_line(self, line: Line) -> Result<(Point, f64)> {
        if let Some(point) = self.meeting_line(line)? {
            return Ok((point, 0.0));
        }
        let (_, from_start) = line.closest(self.start)?;
        let (_, from_end) = line.closest(self.end)?;
        Ok(if from_start < from_end { (self.start, from_start) } else { (self.end, from_end) })
    }

    /// Its point that is closest to another segment, and how far it is.
    ///
    /// # Errors
    /// `22003`
    pub fn closest_to(self, other: Self) -> Result<(Point, f64)> {
        if let Some(point) = self.meeting(other)? {
            return Ok((point, 0.0));
        }
        let mut best = self.closest(other.start)?;
        let mut consider = |found: (Point, f64)| {
            if less(found.1, best.1) {
                best = found;
            }
        };
        consider(self.closest(other.end)?);
        consider((self.start, other.closest(self.start)?.1));
        consider((self.end, other.closest(self.end)?.1));
        Ok(best)
    }
}
