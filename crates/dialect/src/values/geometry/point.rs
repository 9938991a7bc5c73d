//! Points, which are also numbers of two parts: products turn and stretch.

use super::number::{self, add, divide, hypotenuse, loose, multiply, subtract};
use crate::Result;

/// A point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// From left to right.
    pub x: f64,
    /// From below to above.
    pub y: f64,
}

impl Point {
    /// A point.
    pub const fn new(x: f64, y: f64) -> Self {
        Self { x, y }
    }

    /// The same point, loosely; with a NaN only what is just the same.
    pub fn same(self, other: Self) -> bool {
        if [self.x, self.y, other.x, other.y].iter().any(|number| number.is_nan()) {
            return number::same(self.x, other.x) && number::same(self.y, other.y);
        }
        loose::eq(self.x, other.x) && loose::eq(self.y, other.y)
    }

    /// How far another is.
    ///
    /// # Errors
    /// `22003`, as for all that is computed here.
    pub fn distance(self, other: Self) -> Result<f64> {
        hypotenuse(subtract(self.x, other.x)?, subtract(self.y, other.y)?)
    }

    /// The slope of the line through both; infinite for one straight up.
    ///
    /// # Errors
    /// `22003`
    pub fn slope(self, other: Self) -> Result<f64> {
        if loose::eq(self.x, other.x) {
            Ok(f64::INFINITY)
        } else if loose::eq(self.y, other.y) {
            Ok(0.0)
        } else {
            divide(subtract(self.y, other.y)?, subtract(self.x, other.x)?)
        }
    }

    /// The slope of a line at right angles with that.
    ///
    /// # Errors
    /// `22003`
    pub fn slope_across(self, other: Self) -> Result<f64> {
        if loose::eq(self.x, other.x) {
            Ok(0.0)
        } else if loose::eq(self.y, other.y) {
            Ok(f64::INFINITY)
        } else {
            divide(subtract(self.x, other.x)?, subtract(other.y, self.y)?)
        }
    }

    /// Half way to another.
    ///
    /// # Errors
    /// `22003`
    pub fn middle(self, other: Self) -> Result<Self> {
        Ok(Self::new(number::middle(self.x, other.x)?, number::middle(self.y, other.y)?))
    }

    /// The sum.
    ///
    /// # Errors
    /// `22003`
    pub fn plus(self, other: Self) -> Result<Self> {
        Ok(Self::new(add(self.x, other.x)?, add(self.y, other.y)?))
    }

    /// The difference.
    ///
    /// # Errors
    /// `22003`
    pub fn minus(self, other: Self) -> Result<Self> {
        Ok(Self::new(subtract(self.x, other.x)?, subtract(self.y, other.y)?))
    }

    /// The product.
    ///
    /// # Errors
    /// `22003`
    pub fn times(self, other: Self) -> Result<Self> {
        Ok(Self::new(
            subtract(multiply(self.x, other.x)?, multiply(self.y, other.y)?)?,
            add(multiply(self.x, other.y)?, multiply(self.y, other.x)?)?,
        ))
    }

    /// The quotient.
    ///
    /// # Errors
    /// `22012`, `22003`
    pub fn over(self, other: Self) -> Result<Self> {
        let norm = add(multiply(other.x, other.x)?, multiply(other.y, other.y)?)?;
        Ok(Self::new(
            divide(add(multiply(self.x, other.x)?, multiply(self.y, other.y)?)?, norm)?,
            divide(subtract(multiply(self.y, other.x)?, multiply(self.x, other.y)?)?, norm)?,
        ))
    }
}
