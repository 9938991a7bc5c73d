//! Arithmetic of `double precision` that fails where a result is none, and the comparisons that shapes use.

use crate::{Condition, Error, Result};

/// Numbers no further apart are equal to most comparisons.
pub const TOLERANCE: f64 = 1.0e-6;

fn overflow() -> Error {
    Error::new(Condition::NumericValueOutOfRange, "value out of range: overflow")
}

fn underflow() -> Error {
    Error::new(Condition::NumericValueOutOfRange, "value out of range: underflow")
}

/// A result that is infinite though no operand was.
fn bounded(result: f64, left: f64, right: f64) -> Result<f64> {
    let overflows = result.is_infinite() && !left.is_infinite() && !right.is_infinite();
    if overflows { Err(overflow()) } else { Ok(result) }
}

/// The sum.
///
/// # Errors
/// `22003`, as for all of these.
pub fn add(left: f64, right: f64) -> Result<f64> {
    bounded(left + right, left, right)
}

/// The difference.
///
/// # Errors
/// `22003`
pub fn subtract(left: f64, right: f64) -> Result<f64> {
    bounded(left - right, left, right)
}

/// The product.
///
/// # Errors
/// `22003`
pub fn multiply(left: f64, right: f64) -> Result<f64> {
    let result = left * right;
    if result == 0.0 && left != 0.0 && right != 0.0 {
        return Err(underflow());
    }
    bounded(result, left, right)
}

/// The quotient.
///
/// # Errors
/// `22012`, `22003`
pub fn divide(left: f64, right: f64) -> Result<f64> {
    if right == 0.0 && !left.is_nan() {
        return Err(Error::new(Condition::DivisionByZero, "division by zero"));
    }
    let result = left / right;
    if result == 0.0 && left != 0.0 && !right.is_infinite() {
        return Err(underflow());
    }
    bounded(result, left, 0.0)
}

/// The middle of two numbers.
///
/// # Errors
/// `22003`
pub fn middle(left: f64, right: f64) -> Result<f64> {
    divide(add(left, right)?, 2.0)
}

/// The length of the third side of a triangle with a right angle.
///
/// # Errors
/// `22003`
pub fn hypotenuse(x: f64, y: f64) -> Result<f64> {
    if x.is_infinite() || y.is_infinite() {
        return Ok(f64::INFINITY);
    }
    if x.is_nan() || y.is_nan() {
        return Ok(f64::NAN);
    }
    let (x, y) = (x.abs(), y.abs());
    let (long, short) = if x < y { (y, x) } else { (x, y) };
    if short == 0.0 {
        return Ok(long);
    }
    let ratio = short / long;
    let result = long * (1.0 + ratio * ratio).sqrt();
    if result.is_infinite() {
        Err(overflow())
    } else if result == 0.0 {
        Err(underflow())
    } else {
        Ok(result)
    }
}

/// Equality under which NaN is itself.
pub fn same(left: f64, right: f64) -> bool {
    left == right || (left.is_nan() && right.is_nan())
}

/// The order under which NaN is above all.
pub fn less(left: f64, right: f64) -> bool {
    !left.is_nan() && (right.is_nan() || left < right)
}

/// The lesser of two.
pub fn least(left: f64, right: f64) -> f64 {
    if less(left, right) { left } else { right }
}

/// The greater of two.
pub fn greatest(left: f64, right: f64) -> f64 {
    if less(right, left) { left } else { right }
}

/// Comparisons under which numbers are equal that are close to each other; nothing compares with NaN.
pub mod loose {
    use super::TOLERANCE;

    /// Close to zero.
    pub fn zero(number: f64) -> bool {
        number.abs() <= TOLERANCE
    }

    /// Close to each other.
    pub fn eq(left: f64, right: f64) -> bool {
        left == right || (left - right).abs() <= TOLERANCE
    }

    /// Not close to each other.
    pub fn ne(left: f64, right: f64) -> bool {
        left != right && (left - right).abs() > TOLERANCE
    }

    /// Clearly less.
    pub fn lt(left: f64, right: f64) -> bool {
        left + TOLERANCE < right
    }

    /// Less, or close.
    pub fn le(left: f64, right: f64) -> bool {
        left <= right + TOLERANCE
    }

    /// Clearly greater.
    pub fn gt(left: f64, right: f64) -> bool {
        left > right + TOLERANCE
    }

    /// Greater, or close.
    pub fn ge(left: f64, right: f64) -> bool {
        left + TOLERANCE >= right
    }
}
