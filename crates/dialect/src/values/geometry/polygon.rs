//! Closed figures.

use super::number::{add, divide, less, loose, multiply, subtract};
use super::path::{least_distance, segments};
use super::{Circle, Path, Point, Rect, Segment};
use crate::Result;

/// A figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Polygon {
    /// At least one.
    pub points: Vec<Point>,
}

impl Polygon {
    /// The smallest rectangle around it.
    pub fn bounds(&self) -> Rect {
        Rect::around(&self.points)
    }

    fn sides(&self) -> impl Iterator<Item = Segment> + Clone {
        segments(&self.points, true)
    }

    /// The same points in the same or in the opposite order, wherever it begins.
    pub fn same(&self, other: &Self) -> bool {
        let count = self.points.len();
        if other.points.len() != count {
            return false;
        }
        let matches = |start: usize, step: usize| {
            (0..count).all(|at| other.points[(start + at * step) % count].same(self.points[at]))
        };
        // Backwards is forwards by all but one.
        (0..count).any(|start| matches(start, 1) || matches(start, count.saturating_sub(1).max(1)))
    }

    /// True when both have a point in common.
    ///
    /// # Errors
    /// `22003`, as for all that is computed here.
    pub fn overlaps(&self, other: &Self) -> Result<bool> {
        if !self.bounds().overlaps(other.bounds()) {
            return Ok(false);
        }
        for one in self.sides() {
            crate::work::check()?;
            for two in other.sides() {
                if one.meeting(two)?.is_some() {
                    return Ok(true);
                }
            }
        }
        Ok(contains(&other.points, self.points[0])? || contains(&self.points, other.points[0])?)
    }

    /// True when another is inside.
    ///
    /// # Errors
    /// `22003`
    pub fn contains(&self, other: &Self) -> Result<bool> {
        if !self.bounds().contains(other.bounds()) {
            return Ok(false);
        }
        for side in other.sides() {
            if !self.contains_segment(side, 0)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// True when a point is inside or on a side.
    ///
    /// # Errors
    /// `22003`
    pub fn contains_point(&self, point: Point) -> Result<bool> {
        contains(&self.points, point)
    }

    /// How far another is.
    ///
    /// # Errors
    /// `22003`
    pub fn distance(&self, other: &Self) -> Result<Option<f64>> {
        if self.overlaps(other)? {
            return Ok(Some(0.0));
        }
        least_distance(self.sides(), other.sides())
    }

    /// How far a point is; 0 inside.
    ///
    /// # Errors
    /// `22003`
    pub fn distance_to_point(&self, point: Point) -> Result<f64> {
        if self.contains_point(point)? {
            return Ok(0.0);
        }
        let Some((first, last)) = self.points.first().zip(self.points.last()) else { return Ok(0.0) };
        let (_, mut least) = Segment::new(*first, *last).closest(point)?;
        for side in segments(&self.points, false) {
            let (_, distance) = side.closest(point)?;
            if less(distance, least) {
                least = distance;
            }
        }
        Ok(least)
    }

    /// A circle about the middle of all points, as far out as they are on the average.
    ///
    /// # Errors
    /// `22003`
    pub fn circle(&self) -> Result<Circle> {
        let count = self.points.len() as f64;
        let sum = self.points.iter().try_fold(Point::new(0.0, 0.0), |sum, point| sum.plus(*point))?;
        let center = Point::new(divide(sum.x, count)?, divide(sum.y, count)?);
        let distances = self.points.iter().try_fold(0.0, |sum, point| add(sum, point.distance(center)?))?;
        Ok(Circle { center, radius: divide(distances, count)? })
    }

    /// The path around it.
    pub fn into_path(self) -> Path {
        Path { open: false, points: self.points }
    }

    /// True when a segment is inside, as far as the sides from number `from` on say so.
    fn contains_segment(&self, tested: Segment, from: usize) -> Result<bool> {
        crate::stack::deeper(|| self.contains_part(tested, from))
    }

    fn contains_part(&self, tested: Segment, from: usize) -> Result<bool> {
        crate::work::check()?;
        let count = self.points.len();
        let mut crossed = false;
        let mut before = self.points[if from == 0 { count - 1 } else { from - 1 }];
        for at in from..count {
            let side = Segment::new(before, self.points[at]);
            before = side.end;
            let inside = match (side.contains(tested.start)?, side.contains(tested.end)?) {
                (true, true) => return Ok(true),
                (true, false) => self.contains_beyond(tested, side, at + 1)?,
                (false, true) => self.contains_beyond(Segment::new(tested.end, tested.start), side, at + 1)?,
                (false, false) => match tested.meeting(side)? {
                    // Each of the parts on both sides of the crossing.
                    Some(point) => {
                        crossed = true;
                        self.contains_segment(Segment::new(tested.start, point), at + 1)?
                            && self.contains_segment(Segment::new(tested.end, point), at + 1)?
                    }
                    None => true,
                },
            };
            if !inside {
                return Ok(false);
            }
        }
        if crossed {
            return Ok(true);
        }
        self.contains_point(tested.start.middle(tested.end)?)
    }

    /// The same for a segment that begins on a side: what lies beyond the side's end, if that is on the segment.
    fn contains_beyond(&self, tested: Segment, side: Segment, from: usize) -> Result<bool> {
        let ends: &[Point] = if tested.start.same(side.start) {
            &[side.end]
        } else if tested.start.same(side.end) {
            &[side.start]
        } else {
            &[side.start, side.end]
        };
        for end in ends {
            if tested.contains(*end)? {
                return self.contains_segment(Segment::new(tested.end, *end), from);
            }
        }
        Ok(true)
    }
}

impl From<Rect> for Polygon {
    fn from(rect: Rect) -> Self {
        let Rect { high, low } = rect;
        Self { points: vec![low, Point::new(low.x, high.y), high, Point::new(high.x, low.y)] }
    }
}

/// True when a point is inside a figure of some points, or on a side: a ray from it to the right crosses more sides one
/// way than the other.
pub(super) fn contains(points: &[Point], point: Point) -> Result<bool> {
    let mut total = 0;
    let Some(first) = points.first() else { return Ok(false) };
    let mut before = first.minus(point)?;
    for next in points.iter().skip(1).chain([first]) {
        let next = next.minus(point)?;
        match crossing(next, before)? {
            Crossing::On => return Ok(true),
            Crossing::Counts(count) => total += count,
        }
        before = next;
    }
    Ok(total != 0)
}

/// How a side crosses the ray.
enum Crossing {
    /// The ray's beginning is on the side.
    On,
    /// Twice for a whole crossing, once for one that begins or ends on the ray; negative downwards.
    Counts(i32),
}

/// How the side from one point to another crosses the ray from the origin to the right.
fn crossing(to: Point, from: Point) -> Result<Crossing> {
    use Crossing::{Counts, On};
    if loose::zero(to.y) {
        return Ok(if loose::zero(to.x) {
            On
        } else if loose::gt(to.x, 0.0) {
            if loose::zero(from.y) {
                if loose::gt(from.x, 0.0) { Counts(0) } else { On }
            } else {
                Counts(if loose::lt(from.y, 0.0) { 1 } else { -1 })
            }
        } else if loose::zero(from.y) && !loose::lt(from.x, 0.0) {
            On
        } else {
            Counts(0)
        });
    }
    let direction = if loose::gt(to.y, 0.0) { 1 } else { -1 };
    let is_beyond = |number: f64| if direction < 0 { loose::lt(number, 0.0) } else { loose::gt(number, 0.0) };
    if loose::zero(from.y) {
        return Ok(Counts(if loose::lt(from.x, 0.0) { 0 } else { direction }));
    }
    if is_beyond(from.y) {
        return Ok(Counts(0));
    }
    if loose::ge(to.x, 0.0) && loose::gt(from.x, 0.0) {
        return Ok(Counts(2 * direction));
    }
    if loose::lt(to.x, 0.0) && loose::le(from.x, 0.0) {
        return Ok(Counts(0));
    }
    let side = subtract(multiply(subtract(to.x, from.x)?, to.y)?, multiply(subtract(to.y, from.y)?, to.x)?)?;
    Ok(if loose::zero(side) {
        On
    } else if is_beyond(side) {
        Counts(0)
    } else {
        Counts(2 * direction)
    })
}
