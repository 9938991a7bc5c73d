//! Rectangles with upright sides: `box`.

use super::number::{self, greatest, least, less, loose, multiply, subtract};
use super::{Line, Point, Segment};
use crate::Result;

/// A rectangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rect {
    /// The upper right corner.
    pub high: Point,
    /// The lower left corner.
    pub low: Point,
}

impl Rect {
    /// The rectangle between two points.
    pub fn between(one: Point, other: Point) -> Self {
        let order = |a: f64, b: f64| if less(b, a) { (a, b) } else { (b, a) };
        let ((right, left), (above, below)) = (order(one.x, other.x), order(one.y, other.y));
        Self { high: Point::new(right, above), low: Point::new(left, below) }
    }

    /// The smallest one around some points.
    pub fn around(points: &[Point]) -> Self {
        let first = points.first().copied().unwrap_or(Point::new(0.0, 0.0));
        points.iter().skip(1).fold(Self { high: first, low: first }, |rect, point| Self {
            high: Point::new(greatest(point.x, rect.high.x), greatest(point.y, rect.high.y)),
            low: Point::new(least(point.x, rect.low.x), least(point.y, rect.low.y)),
        })
    }

    /// The smallest one around both.
    pub fn union(self, other: Self) -> Self {
        Self {
            high: Point::new(greatest(self.high.x, other.high.x), greatest(self.high.y, other.high.y)),
            low: Point::new(least(self.low.x, other.low.x), least(self.low.y, other.low.y)),
        }
    }

    /// What both have of the plane.
    pub fn common(self, other: Self) -> Option<Self> {
        self.overlaps(other).then(|| Self {
            high: Point::new(least(self.high.x, other.high.x), least(self.high.y, other.high.y)),
            low: Point::new(greatest(self.low.x, other.low.x), greatest(self.low.y, other.low.y)),
        })
    }

    /// The same corners, loosely.
    pub fn same(self, other: Self) -> bool {
        self.high.same(other.high) && self.low.same(other.low)
    }

    /// True when both have a point in common.
    pub fn overlaps(self, other: Self) -> bool {
        loose::le(self.low.x, other.high.x)
            && loose::le(other.low.x, self.high.x)
            && loose::le(self.low.y, other.high.y)
            && loose::le(other.low.y, self.high.y)
    }

    /// True when another is inside.
    pub fn contains(self, other: Self) -> bool {
        loose::ge(self.high.x, other.high.x)
            && loose::le(self.low.x, other.low.x)
            && loose::ge(self.high.y, other.high.y)
            && loose::le(self.low.y, other.low.y)
    }

    /// True when a point is inside; this is no loose comparison.
    pub fn contains_point(self, point: Point) -> bool {
        self.high.x >= point.x && self.low.x <= point.x && self.high.y >= point.y && self.low.y <= point.y
    }

    /// True when both ends of a segment are inside.
    pub fn contains_segment(self, segment: Segment) -> bool {
        self.contains_point(segment.start) && self.contains_point(segment.end)
    }

    /// From left to right.
    ///
    /// # Errors
    /// `22003`, as for all that is computed here.
    pub fn width(self) -> Result<f64> {
        subtract(self.high.x, self.low.x)
    }

    /// From below to above.
    ///
    /// # Errors
    /// `22003`
    pub fn height(self) -> Result<f64> {
        subtract(self.high.y, self.low.y)
    }

    /// Its area.
    ///
    /// # Errors
    /// `22003`
    pub fn area(self) -> Result<f64> {
        multiply(self.width()?, self.height()?)
    }

    /// The point in its middle.
    ///
    /// # Errors
    /// `22003`
    pub fn center(self) -> Result<Point> {
        Ok(Point::new(number::middle(self.high.x, self.low.x)?, number::middle(self.high.y, self.low.y)?))
    }

    /// From the upper right corner to the lower left.
    pub const fn diagonal(self) -> Segment {
        Segment::new(self.high, self.low)
    }

    /// Its four sides, in the order in which PostgreSQL looks at them.
    fn sides(self) -> [Segment; 4] {
        let upper_left = Point::new(self.low.x, self.high.y);
        let lower_right = Point::new(self.high.x, self.low.y);
        [
            Segment::new(self.low, upper_left),
            Segment::new(self.high, upper_left),
            Segment::new(self.low, lower_right),
            Segment::new(self.high, lower_right),
        ]
    }

    /// True when a line touches it.
    ///
    /// # Errors
    /// `22003`
    pub fn meets_line(self, line: Line) -> Result<bool> {
        for side in self.sides() {
            if side.meeting_line(line)?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// True when a segment touches it or is inside.
    ///
    /// # Errors
    /// `22003`
    pub fn meets(self, segment: Segment) -> Result<bool> {
        if !Self::between(segment.start, segment.end).overlaps(self) {
            return Ok(false);
        }
        if self.contains_point(segment.start) || self.contains_point(segment.end) {
            return Ok(true);
        }
        for side in self.sides() {
            if side.meeting(segment)?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Its point that is closest to a point, and how far it is.
    ///
    /// # Errors
    /// `22003`
    pub fn closest(self, point: Point) -> Result<(Point, f64)> {
        if self.contains_point(point) {
            return Ok((point, 0.0));
        }
        self.closest_side(|side| side.closest(point))
    }

    /// Its point that is closest to a segment, and how far it is. Where they meet it is the segment's point that is
    /// closest to the middle.
    ///
    /// # Errors
    /// `22003`
    pub fn closest_to(self, segment: Segment) -> Result<(Point, f64)> {
        if self.meets(segment)? {
            return Ok((segment.closest(self.center()?)?.0, 0.0));
        }
        self.closest_side(|side| side.closest_to(segment))
    }

    fn closest_side(self, measure: impl Fn(Segment) -> Result<(Point, f64)>) -> Result<(Point, f64)> {
        let [first, rest @ ..] = self.sides();
        let mut best = measure(first)?;
        for side in rest {
            let found = measure(side)?;
            if less(found.1, best.1) {
                best = found;
            }
        }
        Ok(best)
    }
}
