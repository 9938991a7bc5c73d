//! Arithmetic that fails instead of overflowing, and mathematics.

use rowferry_dialect::ir::Value;
use rowferry_dialect::values::decimal::division_by_zero;
use rowferry_dialect::values::{Decimal, decimal_math, float, integer as int, to_char_number};
use rowferry_dialect::{Condition, Error, Result, Type, work};

use super::call::{decimal, integer, text};
use super::{Call, Row};

/// The rows of one width of integer.
macro_rules! integer_rows {
    ($($ty:ident: $add:literal $sub:literal $mul:literal $div:literal $rem:literal $neg:literal $abs:literal $shl:literal $shr:literal,)*) => {
        &[$(
            Row::new($add, 2, |call| checked(&Type::$ty, call.integer(0)?.checked_add(call.integer(1)?))),
            Row::new($sub, 2, |call| checked(&Type::$ty, call.integer(0)?.checked_sub(call.integer(1)?))),
            Row::new($mul, 2, |call| checked(&Type::$ty, call.integer(0)?.checked_mul(call.integer(1)?))),
            Row::new($div, 2, |call| {
                let divisor = call.integer(1)?;
                if divisor == 0 { return Err(division_by_zero()); }
                checked(&Type::$ty, call.integer(0)?.checked_div(divisor))
            }),
            Row::new($rem, 2, |call| {
                let divisor = call.integer(1)?;
                if divisor == 0 { return Err(division_by_zero()); }
                checked(&Type::$ty, Some(call.integer(0)?.wrapping_rem(divisor)))
            }),
            Row::new($neg, 1, |call| checked(&Type::$ty, call.integer(0)?.checked_neg())),
            Row::new($abs, 1, |call| checked(&Type::$ty, call.integer(0)?.checked_abs())),
            Row::new($shl, 2, |call| {
                let shifted = call.integer(0)?.wrapping_shl(call.integer(1)? as u32 % bits(&Type::$ty));
                integer(truncated(shifted, &Type::$ty))
            }),
            Row::new($shr, 2, |call| integer(call.integer(0)?.wrapping_shr(call.integer(1)? as u32 % bits(&Type::$ty)))),
        )*]
    };
}

const INTEGER_ROWS: &[Row] = integer_rows! {
    Int2: "rf_int2_add" "rf_int2_sub" "rf_int2_mul" "rf_int2_div" "rf_int2_mod" "rf_int2_neg" "rf_int2_abs" "rf_int2_shl" "rf_int2_shr",
    Int4: "rf_int4_add" "rf_int4_sub" "rf_int4_mul" "rf_int4_div" "rf_int4_mod" "rf_int4_neg" "rf_int4_abs" "rf_int4_shl" "rf_int4_shr",
    Int8: "rf_int8_add" "rf_int8_sub" "rf_int8_mul" "rf_int8_div" "rf_int8_mod" "rf_int8_neg" "rf_int8_abs" "rf_int8_shl" "rf_int8_shr",
};

/// Digits that a decimal has before its point at most.
const MAX_WHOLE_DIGITS: i64 = 131_072;

/// The families of this file.
pub(super) const ROWS: &[Row] = &[
    Row::new("rf_int8_xor", 2, |call| integer(call.integer(0)? ^ call.integer(1)?)),
    Row::new("rf_int4_gcd", 2, |call| {
        let gcd = gcd(call.integer(0)?.unsigned_abs(), call.integer(1)?.unsigned_abs());
        checked(&Type::Int4, i64::try_from(gcd).ok())
    }),
    Row::new("rf_int8_gcd", 2, |call| {
        let gcd = gcd(call.integer(0)?.unsigned_abs(), call.integer(1)?.unsigned_abs());
        checked(&Type::Int8, i64::try_from(gcd).ok())
    }),
    Row::new("rf_int4_lcm", 2, |call| lcm(call, &Type::Int4)),
    Row::new("rf_int8_lcm", 2, |call| lcm(call, &Type::Int8)),
    Row::new("rf_factorial", 1, factorial),
    Row::new("rf_to_hex4", 1, |call| text(format!("{:x}", call.integer(0)? as i32))),
    Row::new("rf_to_hex8", 1, |call| text(format!("{:x}", call.integer(0)?))),
    Row::new("rf_width_bucket", 4, width_bucket),
    Row::new("rf_width_bucket_numeric", 4, width_bucket_numeric),
    Row::new("rf_numeric_gcd", 2, |call| decimal(&numeric_gcd(&call.decimal(0)?, &call.decimal(1)?)?)),
    Row::new("rf_numeric_lcm", 2, |call| decimal(&numeric_lcm(&call.decimal(0)?, &call.decimal(1)?)?)),
    Row::new("rf_send", 2, |call| {
        Ok(Value::Blob(match call.text(0)? {
            "float4" => (call.float(1)? as f32).to_be_bytes().to_vec(),
            "float8" => call.float(1)?.to_be_bytes().to_vec(),
            "int2" => (call.integer(1)? as i16).to_be_bytes().to_vec(),
            "int4" => (call.integer(1)? as i32).to_be_bytes().to_vec(),
            "int8" => call.integer(1)?.to_be_bytes().to_vec(),
            name => return Err(Error::internal(format!("no binary form of {name}"))),
        }))
    }),
    Row::new("rf_random", 0, |call| Ok(Value::Real(call.context().state().random()))).volatile(),
    Row::new("rf_to_char_int", 2, |call| {
        text(to_char_number::format(&Decimal::from_i64(call.integer(0)?), call.text(1)?)?)
    }),
    Row::new("rf_to_char_numeric", 2, |call| text(to_char_number::format(&call.decimal(0)?, call.text(1)?)?)),
    Row::new("rf_to_char_float4", 2, |call| text(to_char_number::format_float(call.float(0)?, 6, call.text(1)?)?)),
    Row::new("rf_to_char_float8", 2, |call| text(to_char_number::format_float(call.float(0)?, 15, call.text(1)?)?)),
    Row::new("rf_to_number", 2, |call| {
        to_char_number::read(call.text(0)?, call.text(1)?)?.map_or(Ok(Value::Null), |number| decimal(&number))
    }),
    // Floats.
    Row::new("rf_float8_add", 2, |call| binary(call, |a, b| a + b, false)),
    Row::new("rf_float8_sub", 2, |call| binary(call, |a, b| a - b, false)),
    Row::new("rf_float8_mul", 2, |call| binary(call, |a, b| a * b, true)),
    Row::new("rf_float8_div", 2, |call| {
        not_zero(call)?;
        binary(call, |a, b| a / b, true)
    }),
    Row::new("rf_float4_add", 2, |call| binary4(call, |a, b| a + b, false)),
    Row::new("rf_float4_sub", 2, |call| binary4(call, |a, b| a - b, false)),
    Row::new("rf_float4_mul", 2, |call| binary4(call, |a, b| a * b, true)),
    Row::new("rf_float4_div", 2, |call| {
        not_zero(call)?;
        binary4(call, |a, b| a / b, true)
    }),
    Row::new("rf_float8_neg", 1, |call| unary(call, |a| -a)),
    Row::new("rf_float8_abs", 1, |call| unary(call, f64::abs)),
    Row::new("rf_float8_ceil", 1, |call| unary(call, f64::ceil)),
    Row::new("rf_float8_floor", 1, |call| unary(call, f64::floor)),
    Row::new("rf_float8_round", 1, |call| unary(call, f64::round_ties_even)),
    Row::new("rf_float8_trunc", 1, |call| unary(call, f64::trunc)),
    Row::new("rf_float8_sign", 1, |call| {
        unary(call, |a| {
            if a > 0.0 {
                1.0
            } else if a < 0.0 {
                -1.0
            } else {
                // Of what is no number, too.
                0.0
            }
        })
    }),
    Row::new("rf_float8_cbrt", 1, |call| unary(call, f64::cbrt)),
    Row::new("rf_float8_sqrt", 1, |call| {
        if call.float(0)? < 0.0 {
            return Err(power_error("cannot take square root of a negative number"));
        }
        unary(call, f64::sqrt)
    }),
    Row::new("rf_float8_exp", 1, |call| {
        let argument = call.float(0)?;
        result(argument.exp(), argument.is_infinite(), argument.is_infinite())
    }),
    Row::new("rf_float8_ln", 1, |call| logarithm(call, f64::ln)),
    Row::new("rf_float8_log10", 1, |call| logarithm(call, f64::log10)),
    Row::new("rf_float8_power", 2, float_power),
    Row::new("rf_float8_sin", 1, |call| angle(call, f64::sin)),
    Row::new("rf_float8_cos", 1, |call| angle(call, f64::cos)),
    Row::new("rf_float8_tan", 1, |call| angle(call, f64::tan)),
    Row::new("rf_float8_cot", 1, |call| angle(call, |a| 1.0 / a.tan())),
    Row::new("rf_float8_asin", 1, |call| ratio(call, f64::asin)),
    Row::new("rf_float8_acos", 1, |call| ratio(call, f64::acos)),
    Row::new("rf_float8_atan", 1, |call| unary(call, f64::atan)),
    Row::new("rf_float8_atan2", 2, |call| binary(call, f64::atan2, false)),
    // What is too large is infinite here, and no error.
    Row::new("rf_float8_sinh", 1, |call| result(call.float(0)?.sinh(), true, true)),
    Row::new("rf_float8_cosh", 1, |call| result(call.float(0)?.cosh(), true, true)),
    Row::new("rf_float8_tanh", 1, |call| unary(call, f64::tanh)),
    // Names of SQLite's own, which the bundled library leaves out.
    Row::new("pi", 0, |_| Ok(Value::Real(std::f64::consts::PI))),
    Row::new("degrees", 1, |call| unary(call, f64::to_degrees)),
    Row::new("radians", 1, |call| unary(call, f64::to_radians)),
    // Exact decimals.
    Row::new("rf_numeric_add", 2, |call| decimal(&call.decimal(0)?.add(&call.decimal(1)?)?)),
    Row::new("rf_numeric_sub", 2, |call| decimal(&call.decimal(0)?.sub(&call.decimal(1)?)?)),
    Row::new("rf_numeric_mul", 2, |call| decimal(&call.decimal(0)?.mul(&call.decimal(1)?)?)),
    Row::new("rf_numeric_div", 2, |call| decimal(&call.decimal(0)?.div(&call.decimal(1)?)?)),
    Row::new("rf_numeric_div_trunc", 2, |call| decimal(&call.decimal(0)?.div_truncated(&call.decimal(1)?)?)),
    Row::new("rf_numeric_mod", 2, |call| decimal(&call.decimal(0)?.rem(&call.decimal(1)?)?)),
    Row::new("rf_numeric_neg", 1, |call| decimal(&call.decimal(0)?.neg())),
    Row::new("rf_numeric_abs", 1, |call| decimal(&call.decimal(0)?.abs())),
    Row::new("rf_numeric_ceil", 1, |call| decimal(&call.decimal(0)?.ceil())),
    Row::new("rf_numeric_floor", 1, |call| decimal(&call.decimal(0)?.floor())),
    Row::new("rf_numeric_round", 2, |call| {
        let rounded = call.decimal(0)?.rounded(call.integer(1)?);
        // A number next to the greatest may be rounded beyond it.
        if rounded.finite().is_some_and(|number| number.exponent() >= MAX_WHOLE_DIGITS) {
            return Err(out_of_range("value overflows numeric format"));
        }
        decimal(&rounded)
    }),
    Row::new("rf_numeric_trunc", 2, |call| decimal(&call.decimal(0)?.truncated(call.integer(1)?))),
    Row::new("rf_numeric_sign", 1, |call| match call.decimal(0)? {
        Decimal::NaN => text("NaN"),
        number => text(number.signum().to_string()),
    }),
    Row::new("rf_numeric_sqrt", 1, |call| decimal(&decimal_math::sqrt(&call.decimal(0)?)?)),
    Row::new("rf_numeric_exp", 1, |call| decimal(&decimal_math::exp(&call.decimal(0)?)?)),
    Row::new("rf_numeric_ln", 1, |call| decimal(&decimal_math::ln(&call.decimal(0)?)?)),
    Row::new("rf_numeric_log10", 1, |call| decimal(&decimal_math::log(&Decimal::from_i64(10), &call.decimal(0)?)?)),
    Row::new("rf_numeric_log", 2, |call| decimal(&decimal_math::log(&call.decimal(0)?, &call.decimal(1)?)?)),
    Row::new("rf_numeric_power", 2, |call| decimal(&decimal_math::power(&call.decimal(0)?, &call.decimal(1)?)?)),
    Row::new("rf_numeric_scale", 1, |call| scale(&call.decimal(0)?)),
    Row::new("rf_numeric_min_scale", 1, |call| scale(&call.decimal(0)?.trimmed())),
    Row::new("rf_numeric_trim_scale", 1, |call| decimal(&call.decimal(0)?.trimmed())),
];

/// The integer widths' rows.
pub(super) const WIDTHS: &[Row] = INTEGER_ROWS;

fn checked(ty: &Type, value: Option<i64>) -> Result<Value> {
    match value {
        Some(value) => integer(int::checked(value, ty)?),
        None => Err(int::out_of_range(ty)),
    }
}

const fn bits(ty: &Type) -> u32 {
    match ty {
        // As in C: 16-bit operands are shifted as 32-bit ones.
        Type::Int2 | Type::Int4 => 32,
        _ => 64,
    }
}

fn truncated(value: i64, ty: &Type) -> i64 {
    match ty {
        Type::Int2 => i64::from(value as i16),
        Type::Int4 => i64::from(value as i32),
        _ => value,
    }
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

fn lcm(call: &Call<'_>, ty: &Type) -> Result<Value> {
    let (a, b) = (call.integer(0)?, call.integer(1)?);
    if a == 0 || b == 0 {
        return integer(0);
    }
    let divisor = gcd(a.unsigned_abs(), b.unsigned_abs());
    let multiple = (a.unsigned_abs() / divisor).checked_mul(b.unsigned_abs());
    checked(ty, multiple.and_then(|multiple| i64::try_from(multiple).ok()))
}

fn factorial(call: &Call<'_>) -> Result<Value> {
    let n = call.integer(0)?;
    if n < 0 {
        return Err(out_of_range("factorial of a negative number is undefined"));
    }
    decimal(&decimal_math::factorial(u32::try_from(n).unwrap_or(u32::MAX))?)
}

/// The faults that bounds and a count of buckets can have.
fn check_buckets(count: i64, any_nan: bool, bounds_infinite: bool, bounds_equal: bool) -> Result<()> {
    let invalid = |message: &str| Err(Error::new(Condition::InvalidArgumentForWidthBucket, message));
    if count <= 0 {
        return invalid("count must be greater than zero");
    }
    if any_nan {
        return invalid("operand, lower bound, and upper bound cannot be NaN");
    }
    if bounds_infinite {
        return invalid("lower and upper bounds must be finite");
    }
    if bounds_equal { invalid("lower bound cannot equal upper bound") } else { Ok(()) }
}

fn width_bucket(call: &Call<'_>) -> Result<Value> {
    let (operand, low, high) = (call.float(0)?, call.float(1)?, call.float(2)?);
    let count = call.integer(3)?;
    let any_nan = operand.is_nan() || low.is_nan() || high.is_nan();
    check_buckets(count, any_nan, low.is_infinite() || high.is_infinite(), low == high)?;
    let (operand, low, high) = if low < high { (operand, low, high) } else { (-operand, -low, -high) };
    let bucket = if operand < low {
        0
    } else if operand >= high {
        count + 1
    } else {
        // Halves, where the distance is beyond the greatest float.
        let share = match high - low {
            distance if distance.is_finite() => (operand - low) / distance,
            _ => (operand / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0),
        };
        ((share * count as f64) as i64).min(count - 1) + 1
    };
    checked(&Type::Int4, Some(bucket))
}

fn width_bucket_numeric(call: &Call<'_>) -> Result<Value> {
    let (operand, low, high) = (call.decimal(0)?, call.decimal(1)?, call.decimal(2)?);
    let count = call.integer(3)?;
    let nan = |number: &Decimal| *number == Decimal::NaN;
    let any_nan = nan(&operand) || nan(&low) || nan(&high);
    let infinite = low.finite().is_none() || high.finite().is_none();
    check_buckets(count, any_nan, infinite, low == high)?;
    let (operand, low, high) =
        if low.compare(&high).is_lt() { (operand, low, high) } else { (operand.neg(), low.neg(), high.neg()) };
    let bucket = if operand.compare(&low).is_lt() {
        0
    } else if operand.compare(&high).is_ge() {
        count + 1
    } else {
        let share = operand.sub(&low)?.mul(&Decimal::from_i64(count))?;
        share.div_truncated(&high.sub(&low)?)?.to_integer(&Type::Int8)?.min(count - 1) + 1
    };
    checked(&Type::Int4, Some(bucket))
}

/// The greatest number of which both are multiples, with the longer fraction of both; `NaN` where one is endless.
fn numeric_gcd(a: &Decimal, b: &Decimal) -> Result<Decimal> {
    let (Some(first), Some(second)) = (a.finite(), b.finite()) else { return Ok(Decimal::NaN) };
    let scale = i64::from(first.scale().max(second.scale()));
    let (mut a, mut b) = (a.abs(), b.abs());
    while b.signum() != 0 {
        work::step(64)?;
        let rest = a.rem(&b)?;
        (a, b) = (b, rest);
    }
    Ok(a.rounded(scale))
}

fn numeric_lcm(a: &Decimal, b: &Decimal) -> Result<Decimal> {
    let (Some(first), Some(second)) = (a.finite(), b.finite()) else { return Ok(Decimal::NaN) };
    let scale = i64::from(first.scale().max(second.scale()));
    if a.signum() == 0 || b.signum() == 0 {
        return Ok(Decimal::from_i64(0).rounded(scale));
    }
    let multiple = a.div_truncated(&numeric_gcd(a, b)?)?.mul(b)?.abs();
    Ok(multiple.rounded(scale))
}

fn out_of_range(message: &str) -> Error {
    Error::new(Condition::NumericValueOutOfRange, message)
}

fn power_error(message: &str) -> Error {
    Error::new(Condition::InvalidArgumentForPower, message)
}

fn not_zero(call: &Call<'_>) -> Result<()> {
    if call.float(1)? == 0.0 && !call.float(0)?.is_nan() { Err(division_by_zero()) } else { Ok(()) }
}

/// A float result: infinite from finite operands is an overflow, zero from others an underflow.
fn result(value: f64, operand_infinite: bool, may_be_zero: bool) -> Result<Value> {
    if value.is_infinite() && !operand_infinite {
        return Err(out_of_range("value out of range: overflow"));
    }
    if value == 0.0 && !may_be_zero {
        return Err(out_of_range("value out of range: underflow"));
    }
    Ok(float::to_value(value))
}

fn unary(call: &Call<'_>, compute: fn(f64) -> f64) -> Result<Value> {
    let argument = call.float(0)?;
    result(compute(argument), argument.is_infinite(), true)
}

fn binary(call: &Call<'_>, compute: fn(f64, f64) -> f64, checks_underflow: bool) -> Result<Value> {
    let (a, b) = (call.float(0)?, call.float(1)?);
    let may_be_zero = !checks_underflow || a == 0.0 || b == 0.0 || b.is_infinite();
    result(compute(a, b), a.is_infinite() || b.is_infinite(), may_be_zero)
}

fn binary4(call: &Call<'_>, compute: fn(f32, f32) -> f32, checks_underflow: bool) -> Result<Value> {
    let (a, b) = (call.float(0)? as f32, call.float(1)? as f32);
    let may_be_zero = !checks_underflow || a == 0.0 || b == 0.0 || b.is_infinite();
    result(f64::from(compute(a, b)), a.is_infinite() || b.is_infinite(), may_be_zero)
}

fn logarithm(call: &Call<'_>, compute: fn(f64) -> f64) -> Result<Value> {
    let argument = call.float(0)?;
    let error = |message| Err(Error::new(Condition::InvalidArgumentForLogarithm, message));
    if argument == 0.0 {
        return error("cannot take logarithm of zero");
    }
    if argument < 0.0 {
        return error("cannot take logarithm of a negative number");
    }
    unary(call, compute)
}

fn float_power(call: &Call<'_>) -> Result<Value> {
    let (base, exponent) = (call.float(0)?, call.float(1)?);
    if base == 0.0 && exponent < 0.0 {
        return Err(power_error("zero raised to a negative power is undefined"));
    }
    if base < 0.0 && exponent.is_finite() && exponent.fract() != 0.0 {
        return Err(power_error("a negative number raised to a non-integer power yields a complex result"));
    }
    let may_be_zero = base == 0.0 || base.is_infinite() || exponent.is_infinite();
    result(base.powf(exponent), base.is_infinite() || exponent.is_infinite(), may_be_zero)
}

fn angle(call: &Call<'_>, compute: fn(f64) -> f64) -> Result<Value> {
    let argument = call.float(0)?;
    if argument.is_infinite() {
        return Err(out_of_range("input is out of range"));
    }
    // A pole (cot 0) is infinite in PostgreSQL too.
    Ok(float::to_value(compute(argument)))
}

fn ratio(call: &Call<'_>, compute: fn(f64) -> f64) -> Result<Value> {
    let argument = call.float(0)?;
    if !argument.is_nan() && !(-1.0..=1.0).contains(&argument) {
        return Err(out_of_range("input is out of range"));
    }
    Ok(float::to_value(compute(argument)))
}

fn scale(number: &Decimal) -> Result<Value> {
    Ok(number.finite().map_or(Value::Null, |number| Value::Integer(i64::from(number.scale()))))
}
