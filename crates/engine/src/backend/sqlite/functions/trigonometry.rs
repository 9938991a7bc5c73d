//! Trigonometry in degrees, exact where the angle is, and the inverse hyperbolic functions.

use rowferry_dialect::values::float;
use rowferry_dialect::{Condition, Error, Result};

use super::Row;

/// One function for all: its first argument says which.
pub(super) const ROWS: &[Row] = &[Row::new("rf_trigonometry", 2, |call| {
    let argument = call.float(1)?;
    let other = if call.len() > 2 { call.float(2)? } else { 0.0 };
    let within = |fits: bool| if fits || argument.is_nan() { Ok(()) } else { Err(out_of_range()) };
    let result = match call.text(0)? {
        "asinh" => libm::inverse_sinh(argument),
        "acosh" => {
            within(argument >= 1.0)?;
            libm::inverse_cosh(argument)
        }
        "atanh" => {
            within((-1.0..=1.0).contains(&argument))?;
            if argument.abs() == 1.0 { f64::INFINITY.copysign(argument) } else { libm::inverse_tanh(argument) }
        }
        "asind" => {
            within((-1.0..=1.0).contains(&argument))?;
            if argument < 0.0 { -arc_sine(-argument) } else { arc_sine(argument) }
        }
        "acosd" => {
            within((-1.0..=1.0).contains(&argument))?;
            if argument < 0.0 { 90.0 + arc_sine(-argument) } else { arc_cosine(argument) }
        }
        "atand" => argument.atan() / 1_f64.atan() * 45.0,
        "atan2d" => argument.atan2(other) / 1_f64.atan() * 45.0,
        name => {
            within(!argument.is_infinite())?;
            by_quadrant(name, argument)?
        }
    };
    Ok(float::to_value(result))
})
.optional(1)];

fn out_of_range() -> Error {
    Error::new(Condition::NumericValueOutOfRange, "input is out of range")
}

/// The C library's own functions, which PostgreSQL answers with, too.
mod libm {
    unsafe extern "C" {
        safe fn asinh(value: f64) -> f64;
        safe fn acosh(value: f64) -> f64;
        safe fn atanh(value: f64) -> f64;
    }

    pub(super) fn inverse_sinh(value: f64) -> f64 {
        asinh(value)
    }

    pub(super) fn inverse_cosh(value: f64) -> f64 {
        acosh(value)
    }

    pub(super) fn inverse_tanh(value: f64) -> f64 {
        atanh(value)
    }
}

/// A function of an angle in degrees, by way of the angle between 0 and 90 degrees.
fn by_quadrant(name: &str, angle: f64) -> Result<f64> {
    if angle.is_nan() {
        return Ok(angle);
    }
    let odd = name != "cosd";
    let mut angle = angle % 360.0;
    let mut sign = 1.0;
    if angle < 0.0 {
        angle = -angle;
        sign = if odd { -sign } else { sign };
    }
    if angle > 180.0 {
        angle = 360.0 - angle;
        sign = if odd { -sign } else { sign };
    }
    if angle > 90.0 {
        angle = 180.0 - angle;
        sign = if name == "sind" { sign } else { -sign };
    }
    let value = match name {
        "sind" => return Ok(sign * sine(angle)),
        "cosd" => return Ok(sign * cosine(angle)),
        "tand" => sign * (sine(angle) / cosine(angle) / (sine(45.0) / cosine(45.0))),
        "cotd" => sign * (cosine(angle) / sine(angle) / (cosine(45.0) / sine(45.0))),
        _ => return Err(Error::internal(format!("no function of degrees: {name}"))),
    };
    // Zero has no sign here.
    Ok(if value == 0.0 { 0.0 } else { value })
}

/// Sine up to 30 degrees, which is a half there.
fn sine_to_30(angle: f64) -> f64 {
    (angle * RADIANS).sin() / (30.0 * RADIANS).sin() / 2.0
}

/// Cosine up to 60 degrees, which is a half there.
fn cosine_to_60(angle: f64) -> f64 {
    1.0 - (1.0 - (angle * RADIANS).cos()) / (1.0 - (60.0 * RADIANS).cos()) / 2.0
}

fn sine(angle: f64) -> f64 {
    if angle <= 30.0 { sine_to_30(angle) } else { cosine_to_60(90.0 - angle) }
}

fn cosine(angle: f64) -> f64 {
    if angle <= 60.0 { cosine_to_60(angle) } else { sine_to_30(90.0 - angle) }
}

fn arc_sine(value: f64) -> f64 {
    if value <= 0.5 { value.asin() / 0.5_f64.asin() * 30.0 } else { 90.0 - value.acos() / 0.5_f64.acos() * 60.0 }
}

fn arc_cosine(value: f64) -> f64 {
    if value <= 0.5 { 90.0 - value.asin() / 0.5_f64.asin() * 30.0 } else { value.acos() / 0.5_f64.acos() * 60.0 }
}

/// One degree.
const RADIANS: f64 = 0.017_453_292_519_943_295;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_angles_have_exact_values() {
        for (name, angle, value) in [
            ("sind", 30.0, 0.5),
            ("sind", 150.0, 0.5),
            ("sind", -90.0, -1.0),
            ("sind", 360.0, 0.0),
            ("cosd", 60.0, 0.5),
            ("cosd", 120.0, -0.5),
            ("cosd", 270.0, 0.0),
            ("tand", 45.0, 1.0),
            ("tand", 135.0, -1.0),
            ("tand", 180.0, 0.0),
            ("cotd", 45.0, 1.0),
            ("cotd", 0.0, f64::INFINITY),
        ] {
            assert_eq!(by_quadrant(name, angle).unwrap(), value, "{name}({angle})");
        }
        assert_eq!((arc_sine(0.5), arc_sine(1.0), arc_cosine(0.5), arc_cosine(0.0)), (30.0, 90.0, 60.0, 90.0));
    }
}
