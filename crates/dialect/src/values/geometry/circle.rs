//! Circles.

use super::number::{add, divide, less, loose, multiply, subtract};
use super::{Point, Polygon, Rect};
use crate::{Condition, Error, Result};

/// A circle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Circle {
    /// Its middle.
    pub center: Point,
    /// Half its width; not negative.
    pub radius: f64,
}

impl Circle {
    /// How many points the polygon of a circle has where none are asked for.
    pub const SIDES: i64 = 12;

    /// The same circle, loosely.
    pub fn same(self, other: Self) -> bool {
        ((self.radius.is_nan() && other.radius.is_nan()) || loose::eq(self.radius, other.radius))
            && self.center.same(other.center)
    }

    /// Its area.
    ///
    /// # Errors
    /// `22003`, as for all that is computed here.
    pub fn area(self) -> Result<f64> {
        multiply(multiply(self.radius, self.radius)?, std::f64::consts::PI)
    }

    /// Its left end.
    ///
    /// # Errors
    /// `22003`
    pub fn left(self) -> Result<f64> {
        subtract(self.center.x, self.radius)
    }

    /// Its right end.
    ///
    /// # Errors
    /// `22003`
    pub fn right(self) -> Result<f64> {
        add(self.center.x, self.radius)
    }

    /// Its lower end.
    ///
    /// # Errors
    /// `22003`
    pub fn bottom(self) -> Result<f64> {
        subtract(self.center.y, self.radius)
    }

    /// Its upper end.
    ///
    /// # Errors
    /// `22003`
    pub fn top(self) -> Result<f64> {
        add(self.center.y, self.radius)
    }

    /// True when both have a point in common.
    ///
    /// # Errors
    /// `22003`
    pub fn overlaps(self, other: Self) -> Result<bool> {
        Ok(loose::le(self.center.distance(other.center)?, add(self.radius, other.radius)?))
    }

    /// True when another is inside.
    ///
    /// # Errors
    /// `22003`
    pub fn contains(self, other: Self) -> Result<bool> {
        Ok(loose::le(self.center.distance(other.center)?, subtract(self.radius, other.radius)?))
    }

    /// True when a point is inside; this is no loose comparison.
    ///
    /// # Errors
    /// `22003`
    pub fn contains_point(self, point: Point) -> Result<bool> {
        Ok(self.center.distance(point)? <= self.radius)
    }

    /// How far another is.
    ///
    /// # Errors
    /// `22003`
    pub fn distance(self, other: Self) -> Result<f64> {
        let between = subtract(self.center.distance(other.center)?, add(self.radius, other.radius)?)?;
        Ok(not_negative(between))
    }

    /// How far a point is.
    ///
    /// # Errors
    /// `22003`
    pub fn distance_to_point(self, point: Point) -> Result<f64> {
        Ok(not_negative(subtract(point.distance(self.center)?, self.radius)?))
    }

    /// How far a polygon is.
    ///
    /// # Errors
    /// `22003`
    pub fn distance_to_polygon(self, polygon: &Polygon) -> Result<f64> {
        Ok(not_negative(subtract(polygon.distance_to_point(self.center)?, self.radius)?))
    }

    /// The rectangle inside that touches it with its corners.
    ///
    /// # Errors
    /// `22003`
    pub fn inner_rect(self) -> Result<Rect> {
        let delta = divide(self.radius, 2.0_f64.sqrt())?;
        Ok(Rect {
            high: Point::new(add(self.center.x, delta)?, add(self.center.y, delta)?),
            low: Point::new(subtract(self.center.x, delta)?, subtract(self.center.y, delta)?),
        })
    }

    /// The circle through the corners of a rectangle.
    ///
    /// # Errors
    /// `22003`
    pub fn around(rect: Rect) -> Result<Self> {
        let center = rect.center()?;
        Ok(Self { center, radius: center.distance(rect.high)? })
    }

    /// A figure of so many points on it.
    ///
    /// # Errors
    /// `0A000` for a circle without an inside, `22023` for less than two points, `54000` for too many.
    pub fn polygon(self, count: i64) -> Result<Polygon> {
        /// As many as a value of PostgreSQL's can hold.
        const MOST: i64 = 67_108_861;
        if loose::zero(self.radius) {
            let message = "cannot convert circle with radius zero to polygon";
            return Err(Error::new(Condition::FeatureNotSupported, message));
        }
        if count < 2 {
            return Err(Error::new(Condition::InvalidParameterValue, "must request at least 2 points"));
        }
        if count > MOST {
            return Err(Error::new(Condition::ProgramLimitExceeded, "too many points requested"));
        }
        crate::work::room_to_work(count as usize * size_of::<Point>())?;
        let step = divide(2.0 * std::f64::consts::PI, count as f64)?;
        let mut points = Vec::with_capacity(count as usize);
        for at in 0..count {
            let angle = multiply(step, at as f64)?;
            points.push(Point::new(
                subtract(self.center.x, multiply(self.radius, angle.cos())?)?,
                add(self.center.y, multiply(self.radius, angle.sin())?)?,
            ));
        }
        Ok(Polygon { points })
    }
}

fn not_negative(distance: f64) -> f64 {
    if less(distance, 0.0) { 0.0 } else { distance }
}
