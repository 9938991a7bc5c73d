//! Numbers.

use std::sync::{Arc, Mutex};

use rowferry_dialect::ir::Value;
use rowferry_dialect::values::Decimal;
use rowferry_dialect::values::mysql::numbers;
use rowferry_dialect::{Condition, Error, Result};

use super::super::Row;
use super::super::call::integer;
use super::{finite, number, out_of_range};

pub(in super::super) const ROWS: &[Row] = &[
    Row::new("rf_mysql_abs_integer", 1, |call| {
        let value = call.integer(0)?;
        value.checked_abs().map_or_else(|| Err(out_of_range("BIGINT", &format!("abs({value})"))), integer)
    }),
    Row::new("rf_mysql_abs_decimal", 1, |call| number(&call.decimal(0)?.abs())),
    Row::new("rf_mysql_abs", 1, |call| Ok(Value::Real(call.float(0)?.abs()))),
    Row::new("rf_mysql_ceil_decimal", 1, |call| whole(&call.decimal(0)?.ceil(), "ceiling")),
    Row::new("rf_mysql_floor_decimal", 1, |call| whole(&call.decimal(0)?.floor(), "floor")),
    Row::new("rf_mysql_ceil", 1, |call| Ok(Value::Real(call.float(0)?.ceil()))),
    Row::new("rf_mysql_floor", 1, |call| Ok(Value::Real(call.float(0)?.floor()))),
    // (number, digits, 1 to cut off)
    Row::new("rf_mysql_round_integer", 3, |call| {
        let (value, digits, cuts) = (call.integer(0)?, call.integer(1)?, call.boolean(2)?);
        if digits >= 0 {
            return integer(value);
        }
        let Some(unit) = u32::try_from(-digits).ok().and_then(|digits| 10_i128.checked_pow(digits)) else {
            return integer(0);
        };
        let value = i128::from(value);
        let half = if cuts { 0 } else { unit / 2 * value.signum() };
        let rounded = (value + half) / unit * unit;
        i64::try_from(rounded)
            .map_or_else(|_| Err(out_of_range("BIGINT", &format!("round({value},{digits})"))), integer)
    }),
    Row::new("rf_mysql_round_decimal", 3, |call| {
        let (value, digits) = (call.decimal(0)?, call.integer(1)?.clamp(-100, 30));
        let rounded = if call.boolean(2)? { value.truncated(digits) } else { value.rounded(digits) };
        number(&rounded)
    }),
    Row::new("rf_mysql_round", 3, |call| Ok(Value::Real(rounded(call.float(0)?, call.integer(1)?, call.boolean(2)?)))),
    Row::new("rf_mysql_power", 2, |call| {
        let (base, exponent) = (call.float(0)?, call.float(1)?);
        finite(base.powf(exponent), &format!("pow({base},{exponent})"))
    }),
    Row::new("rf_mysql_exp", 1, |call| {
        let value = call.float(0)?;
        finite(value.exp(), &format!("exp({value})"))
    }),
    Row::new("rf_mysql_sqrt", 1, |call| Ok(or_null(call.float(0)?.sqrt()))),
    Row::new("rf_mysql_ln", 1, |call| logarithm(call.float(0)?, f64::ln)),
    Row::new("rf_mysql_log2", 1, |call| logarithm(call.float(0)?, f64::log2)),
    Row::new("rf_mysql_log10", 1, |call| logarithm(call.float(0)?, f64::log10)),
    Row::new("rf_mysql_log", 2, |call| {
        let (base, value) = (call.float(0)?, call.float(1)?);
        Ok(if base <= 0.0 || base == 1.0 || value <= 0.0 { Value::Null } else { Value::Real(value.ln() / base.ln()) })
    }),
    Row::new("rf_mysql_sign", 1, |call| {
        let value = call.float(0)?;
        integer(if value > 0.0 {
            1
        } else if value < 0.0 {
            -1
        } else {
            0
        })
    }),
    Row::new("rf_mysql_sin", 1, |call| Ok(or_null(call.float(0)?.sin()))),
    Row::new("rf_mysql_cos", 1, |call| Ok(or_null(call.float(0)?.cos()))),
    Row::new("rf_mysql_tan", 1, |call| Ok(or_null(call.float(0)?.tan()))),
    Row::new("rf_mysql_cot", 1, |call| {
        let value = call.float(0)?;
        finite(1.0 / value.tan(), &format!("cot({value})"))
    }),
    Row::new("rf_mysql_asin", 1, |call| Ok(or_null(call.float(0)?.asin()))),
    Row::new("rf_mysql_acos", 1, |call| Ok(or_null(call.float(0)?.acos()))),
    Row::new("rf_mysql_atan", 1, |call| Ok(Value::Real(call.float(0)?.atan()))),
    Row::new("rf_mysql_atan2", 2, |call| Ok(Value::Real(call.float(0)?.atan2(call.float(1)?)))),
    Row::new("rf_mysql_radians", 1, |call| Ok(Value::Real(call.float(0)? * (std::f64::consts::PI / 180.0)))),
    Row::new("rf_mysql_degrees", 1, |call| Ok(Value::Real(call.float(0)? * (180.0 / std::f64::consts::PI)))),
    Row::new("rf_mysql_rand", 0, |call| Ok(Value::Real(call.context().state().random()))).volatile(),
    // Numbers that follow a seed, a row each.
    Row::new("rf_mysql_rand_from", 1, |call| {
        let seed = if call.is_null(0) { 0 } else { call.integer(0)? };
        let numbers = call.prepared(0, || Ok(Arc::new(Mutex::new(Random::of(seed)))))?;
        let next = numbers.lock().map_or(0.0, |mut numbers| numbers.next());
        Ok(Value::Real(next))
    })
    .lenient()
    .volatile(),
    Row::new("rf_mysql_crc32", 1, |call| {
        let mut sum = flate2::Crc::new();
        sum.update(call.bytes(0)?);
        integer(sum.sum())
    }),
    Row::new("rf_mysql_format_bytes", 1, |call| {
        let value = call.float(0)?;
        let units = [("EiB", 60), ("PiB", 50), ("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)];
        let found = units.into_iter().find(|(_, power)| value.abs() >= 2_f64.powi(*power));
        super::super::call::text(match found {
            Some((unit, power)) => format!("{:.2} {unit}", value / 2_f64.powi(power)),
            None => format!("{:>4} bytes", value.trunc()),
        })
    }),
    Row::new("rf_mysql_format_pico_time", 1, |call| {
        let value = call.float(0)?;
        let units = [("d", 8.64e16), ("h", 3.6e15), ("min", 6e13), ("s", 1e12), ("ms", 1e9), ("us", 1e6), ("ns", 1e3)];
        let found = units.into_iter().find(|(_, least)| value.abs() >= *least);
        super::super::call::text(match found {
            Some((unit, least)) => format!("{:.2} {unit}", value / least),
            None => format!("{:>3} ps", value.trunc()),
        })
    }),
];

fn or_null(value: f64) -> Value {
    if value.is_nan() { Value::Null } else { Value::Real(value) }
}

fn logarithm(value: f64, of: fn(f64) -> f64) -> Result<Value> {
    Ok(if value <= 0.0 { Value::Null } else { Value::Real(of(value)) })
}

/// A whole decimal as an integer.
fn whole(value: &Decimal, function: &str) -> Result<Value> {
    i64::try_from(numbers::integer_of_decimal(value)).map(Value::Integer).map_err(|_| {
        Error::new(Condition::NumericValueOutOfRange, format!("BIGINT value is out of range in '{function}({value})'"))
    })
}

/// A double with so many digits behind the point.
fn rounded(value: f64, digits: i64, cuts: bool) -> f64 {
    let power = 10_f64.powi(i32::try_from(digits.unsigned_abs()).unwrap_or(i32::MAX));
    let scaled = if digits < 0 { value / power } else { value * power };
    if digits < 0 && power.is_infinite() {
        return 0.0;
    }
    if !scaled.is_finite() || !power.is_finite() {
        return value;
    }
    let whole = if cuts { scaled.trunc() } else { scaled.round_ties_even() };
    if digits < 0 { whole * power } else { whole / power }
}

/// MySQL's generator.
struct Random {
    first: u64,
    second: u64,
}

impl Random {
    const LIMIT: u64 = 0x3fff_ffff;

    fn of(seed: i64) -> Self {
        let seed = seed as u32;
        Self {
            first: u64::from(seed.wrapping_mul(0x1_0001).wrapping_add(55_555_555)) % Self::LIMIT,
            second: u64::from(seed.wrapping_mul(0x1000_0001)) % Self::LIMIT,
        }
    }

    fn next(&mut self) -> f64 {
        self.first = (self.first * 3 + self.second) % Self::LIMIT;
        self.second = (self.first + self.second + 33) % Self::LIMIT;
        self.first as f64 / Self::LIMIT as f64
    }
}
