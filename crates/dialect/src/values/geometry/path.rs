//! Points one after the other, open or closed.

use super::number::{add, divide, less, loose, multiply, subtract};
use super::{Point, Polygon, Rect, Segment};
use crate::{Condition, Error, Result};

/// A path.
#[derive(Clone, Debug, PartialEq)]
pub struct Path {
    /// The last point is not joined with the first.
    pub open: bool,
    /// At least one.
    pub points: Vec<Point>,
}

/// The segments of points: from the last to the first, too, when they are closed.
pub(super) fn segments(points: &[Point], closed: bool) -> impl Iterator<Item = Segment> + Clone {
    let closing = if closed { points.last().zip(points.first()) } else { None };
    let closing = closing.map(|(last, first)| Segment::new(*last, *first));
    closing.into_iter().chain(points.windows(2).map(|pair| Segment::new(pair[0], pair[1])))
}

/// The least of the distances between segments; `None` when there are none.
pub(super) fn least_distance(
    ours: impl Iterator<Item = Segment>,
    theirs: impl Iterator<Item = Segment> + Clone,
) -> Result<Option<f64>> {
    let mut least: Option<f64> = None;
    for one in ours {
        crate::work::check()?;
        for other in theirs.clone() {
            let (_, distance) = one.closest_to(other)?;
            if least.is_none_or(|least| less(distance, least)) {
                least = Some(distance);
            }
        }
    }
    Ok(least)
}

impl Path {
    /// Its segments.
    pub fn segments(&self) -> impl Iterator<Item = Segment> + Clone {
        segments(&self.points, !self.open)
    }

    /// The area inside; open paths have none.
    ///
    /// # Errors
    /// `22003`, as for all that is computed here.
    pub fn area(&self) -> Result<Option<f64>> {
        if self.open {
            return Ok(None);
        }
        let mut area = 0.0;
        let behind = self.points.iter().skip(1).chain(self.points.first());
        for (point, next) in self.points.iter().zip(behind) {
            area = add(area, multiply(point.x, next.y)?)?;
            area = subtract(area, multiply(point.y, next.x)?)?;
        }
        divide(area.abs(), 2.0).map(Some)
    }

    /// The length of all segments.
    ///
    /// # Errors
    /// `22003`
    pub fn length(&self) -> Result<f64> {
        self.segments().try_fold(0.0, |sum, segment| add(sum, segment.length()?))
    }

    /// True when two paths have a point in common.
    ///
    /// # Errors
    /// `22003`
    pub fn meets(&self, other: &Self) -> Result<bool> {
        if !Rect::around(&self.points).overlaps(Rect::around(&other.points)) {
            return Ok(false);
        }
        for one in self.segments() {
            crate::work::check()?;
            for two in other.segments() {
                if one.meeting(two)?.is_some() {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// How far another is; `None` when one has no segment.
    ///
    /// # Errors
    /// `22003`
    pub fn distance(&self, other: &Self) -> Result<Option<f64>> {
        least_distance(self.segments(), other.segments())
    }

    /// How far a point is from the nearest segment.
    ///
    /// # Errors
    /// `22003`
    pub fn distance_to_point(&self, point: Point) -> Result<f64> {
        let mut least = None;
        for segment in self.segments() {
            let (_, distance) = segment.closest(point)?;
            if least.is_none_or(|least| less(distance, least)) {
                least = Some(distance);
            }
        }
        Ok(least.unwrap_or(0.0))
    }

    /// True when a point is on an open path, or inside a closed one.
    ///
    /// # Errors
    /// `22003`
    pub fn contains(&self, point: Point) -> Result<bool> {
        if !self.open {
            return super::polygon::contains(&self.points, point);
        }
        for segment in self.segments() {
            let by_way_of_it = add(point.distance(segment.start)?, point.distance(segment.end)?)?;
            if loose::eq(by_way_of_it, segment.length()?) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// One path behind the other; `None` when one is closed.
    pub fn joined(mut self, other: Self) -> Option<Self> {
        (self.open && other.open).then(|| {
            self.points.extend(other.points);
            self
        })
    }

    /// The same path with each point changed.
    ///
    /// # Errors
    /// What the change raises.
    pub fn with_points(mut self, change: impl Fn(Point) -> Result<Point>) -> Result<Self> {
        for point in &mut self.points {
            *point = change(*point)?;
        }
        Ok(self)
    }

    /// The figure that a closed path encloses.
    ///
    /// # Errors
    /// `22023` for an open path.
    pub fn into_polygon(self) -> Result<Polygon> {
        if self.open {
            let message = "open path cannot be converted to polygon";
            return Err(Error::new(Condition::InvalidParameterValue, message));
        }
        Ok(Polygon { points: self.points })
    }
}
