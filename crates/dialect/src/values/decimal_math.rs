//! Roots, logarithms and powers of decimals, with PostgreSQL's scales.
//!
//! Computed in fixed point with guard digits enough that the last digit shown is rounded from the true value.

use num_bigint::{BigInt, BigUint, Sign};

use super::decimal::{Decimal, MAX_DISPLAY_SCALE, MIN_SIGNIFICANT_DIGITS, Number, power_of_ten};
use crate::{Condition, Error, Result, work};

/// Digits carried beyond those shown.
const GUARD: u32 = 12;
/// log10(e).
const LOG10_E: f64 = std::f64::consts::LOG10_E;

/// Square root.
pub fn sqrt(value: &Decimal) -> Result<Decimal> {
    let number = match value {
        Decimal::Finite(number) => number,
        Decimal::NegativeInfinity => return Err(power_error("cannot take square root of a negative number")),
        special => return Ok(special.clone()),
    };
    if number.signum() < 0 {
        return Err(power_error("cannot take square root of a negative number"));
    }
    // As in PostgreSQL, from the weight in digits of base 10,000.
    let weight = number.exponent().div_euclid(4);
    let result_weight = (weight + 1) * 2 - 1;
    let scale = (MIN_SIGNIFICANT_DIGITS - result_weight).max(i64::from(number.scale())).clamp(0, MAX_DISPLAY_SCALE);
    Ok(root(number, scale))
}

/// Square root with as many digits behind the point as the operand has.
pub fn sqrt_same_scale(value: &Decimal) -> Result<Decimal> {
    match value {
        Decimal::Finite(number) if number.signum() >= 0 => Ok(root(number, i64::from(number.scale()))),
        other => sqrt(other),
    }
}

fn root(number: &Number, scale: i64) -> Decimal {
    let digits = scale as u32 + 2;
    let root = fixed(number, 2 * digits).sqrt();
    Decimal::Finite(Number::from_big(root, digits).rounded(scale))
}

/// Natural logarithm.
pub fn ln(value: &Decimal) -> Result<Decimal> {
    let Some(number) = logarithm_operand(value)? else { return Ok(value.clone()) };
    let weight = ln_weight(number);
    let scale = (MIN_SIGNIFICANT_DIGITS - weight).max(i64::from(number.scale())).clamp(0, MAX_DISPLAY_SCALE);
    let digits = scale as u32 + GUARD;
    Ok(Decimal::Finite(Number::from_big(ln_fixed(number, digits), digits).rounded(scale)))
}

/// Logarithm to a base.
pub fn log(base: &Decimal, value: &Decimal) -> Result<Decimal> {
    let (base_number, number) = match (logarithm_operand(base)?, logarithm_operand(value)?) {
        (Some(base_number), Some(number)) => (base_number, number),
        _ if matches!(base, Decimal::NaN) || matches!(value, Decimal::NaN) => return Ok(Decimal::NaN),
        (None, None) => return Ok(Decimal::NaN),
        (None, Some(_)) => return Ok(Decimal::ZERO),
        (Some(_), None) => return Ok(Decimal::Infinity),
    };
    let base_weight = ln_weight(base_number);
    let value_weight = ln_weight(number);
    let scale = (MIN_SIGNIFICANT_DIGITS - (value_weight - base_weight))
        .max(i64::from(base_number.scale()))
        .max(i64::from(number.scale()))
        .clamp(0, MAX_DISPLAY_SCALE);
    let digits = scale as u32 + GUARD + base_weight.unsigned_abs() as u32 * 2;
    let denominator = ln_fixed(base_number, digits);
    if denominator.sign() == Sign::NoSign {
        return Err(super::decimal::division_by_zero());
    }
    let quotient = ln_fixed(number, digits) * power_of_ten(digits).to_big() / denominator;
    Ok(Decimal::Finite(Number::from_big(quotient, digits).rounded(scale)))
}

/// Beyond e to this power PostgreSQL says overflow, or zero.
const MAX_EXPONENT: f64 = 6_000.0;
/// Beyond this natural logarithm of a power that is not whole PostgreSQL says overflow, or zero.
const MAX_POWER: f64 = 6_020.0;

/// The factorial of a number that is not negative.
///
/// # Errors
/// `22003` when it has more digits than a decimal can have: from 32,178 on.
pub fn factorial(n: u32) -> Result<Decimal> {
    if n > 32_177 {
        return Err(super::decimal::overflow());
    }
    Ok(Decimal::Finite(Number::from_big(BigInt::from(product(2, u64::from(n))?), 0)))
}

/// The product of all numbers from `first` to `last`, by halves: factors of like sizes are multiplied fastest.
fn product(first: u64, last: u64) -> Result<BigUint> {
    if last < first + 16 {
        work::step(16)?;
        return Ok((first..=last).fold(BigUint::from(1_u8), |product, factor| product * factor));
    }
    let middle = first.midpoint(last);
    let (low, high) = (product(first, middle)?, product(middle + 1, last)?);
    work::step(low.bits() as usize)?;
    Ok(low * high)
}

/// e to a power.
pub fn exp(value: &Decimal) -> Result<Decimal> {
    let number = match value {
        Decimal::Finite(number) => number,
        Decimal::NegativeInfinity => return Ok(Decimal::ZERO),
        special => return Ok(special.clone()),
    };
    let natural = value.to_f64();
    let weight = (natural * LOG10_E).clamp(-2_000.0, 2_000.0);
    let scale = (MIN_SIGNIFICANT_DIGITS - weight as i64).max(i64::from(number.scale())).clamp(0, MAX_DISPLAY_SCALE);
    if natural >= MAX_EXPONENT {
        return Err(super::decimal::overflow());
    }
    if natural <= -MAX_EXPONENT {
        return Ok(Decimal::ZERO.rounded(scale));
    }
    let weight = natural * LOG10_E;
    let digits = (scale + (weight as i64).max(0)) as u32 + GUARD;
    let result = exp_fixed(&fixed(number, digits), digits);
    Ok(Decimal::Finite(Number::from_big(result, digits).rounded(scale)))
}

/// `base` to the power `exponent`.
pub fn power(base: &Decimal, exponent: &Decimal) -> Result<Decimal> {
    let (number, power) = match (base, exponent) {
        (Decimal::Finite(base), Decimal::Finite(exponent)) => (base, exponent),
        _ => return special_power(base, exponent),
    };
    if number.is_zero() {
        return match power.signum() {
            0 => Ok(Decimal::from_i64(1).rounded(MIN_SIGNIFICANT_DIGITS)),
            1 => Ok(Decimal::ZERO.rounded(MIN_SIGNIFICANT_DIGITS)),
            _ => Err(power_error("zero raised to a negative power is undefined")),
        };
    }
    let whole = exponent.truncated(0);
    let is_whole = whole == *exponent;
    if is_whole && let Ok(power) = exponent.to_integer(&crate::Type::Int4) {
        return power_integer(base, number, power);
    }
    if number.signum() < 0 && !is_whole {
        return Err(power_error("a negative number raised to a non-integer power yields a complex result"));
    }
    let magnitude = base.abs();
    let Some(magnitude_number) = magnitude.finite() else { return Ok(Decimal::NaN) };
    let natural = ln_f64(magnitude_number) * exponent.to_f64();
    if natural > MAX_POWER {
        return Err(super::decimal::overflow());
    }
    if natural < -MAX_POWER {
        return Ok(Decimal::ZERO.rounded(MAX_DISPLAY_SCALE));
    }
    let estimate = natural * LOG10_E;
    let scale = (MIN_SIGNIFICANT_DIGITS - estimate as i64)
        .max(i64::from(number.scale()))
        .max(i64::from(power.scale()))
        .clamp(0, MAX_DISPLAY_SCALE);
    if estimate < -(scale as f64) - 5.0 {
        return Ok(Decimal::ZERO.rounded(scale));
    }
    let digits = (scale + (estimate as i64).max(0)) as u32 + GUARD + power.exponent().max(0) as u32;
    let one = power_of_ten(digits).to_big();
    let log = ln_fixed(magnitude_number, digits) * fixed(power, digits) / &one;
    let result = exp_fixed(&log, digits);
    // A whole exponent beyond 32 bits still decides the sign.
    let odd =
        is_whole && number.signum() < 0 && !matches!(whole.rem(&Decimal::from_i64(2)), Ok(rest) if rest.signum() == 0);
    Ok(Decimal::Finite(Number::from_big(if odd { -result } else { result }, digits).rounded(scale)))
}

fn power_integer(base: &Decimal, number: &Number, power: i64) -> Result<Decimal> {
    let scale = MIN_SIGNIFICANT_DIGITS.max(i64::from(number.scale())).min(MAX_DISPLAY_SCALE);
    // Magnitude first: nobody shall make us compute a million digits to find that they do not fit.
    let estimate = ln_f64(number) * LOG10_E * power as f64;
    if estimate > 131_072.0 {
        return Err(Error::new(Condition::NumericValueOutOfRange, "value overflows numeric format"));
    }
    if estimate < -(scale as f64) - 5.0 {
        return Ok(Decimal::ZERO.rounded(scale));
    }
    let working = scale + estimate.abs() as i64 + i64::from(GUARD) + 12;
    let mut result = Decimal::from_i64(1);
    let mut square = base.clone();
    let mut rest = power.unsigned_abs();
    while rest > 0 {
        if rest & 1 == 1 {
            result = limit(result.mul(&square)?, working, estimate);
        }
        rest >>= 1;
        if rest > 0 {
            square = limit(square.mul(&square)?, working, estimate);
        }
    }
    if power < 0 {
        let (Some(one), Some(divisor)) = (Decimal::from_i64(1).finite().cloned(), result.finite().cloned()) else {
            return Ok(Decimal::NaN);
        };
        let digits = working as u32;
        let quotient = fixed(&one, 2 * digits) / fixed(&divisor, digits);
        return Ok(Decimal::Finite(Number::from_big(quotient, digits).rounded(scale)));
    }
    Ok(result.rounded(scale))
}

/// Keeps a working value from growing digits that cannot reach the result.
fn limit(value: Decimal, working: i64, estimate: f64) -> Decimal {
    let scale = working + if estimate < 0.0 { (-estimate) as i64 } else { 0 };
    match value.finite() {
        Some(number) if i64::from(number.scale()) > scale => value.rounded(scale),
        _ => value,
    }
}

fn special_power(base: &Decimal, exponent: &Decimal) -> Result<Decimal> {
    let one = Decimal::from_i64(1);
    if matches!(exponent, Decimal::Finite(power) if power.is_zero()) || *base == one {
        return Ok(one);
    }
    if matches!(base, Decimal::NaN) || matches!(exponent, Decimal::NaN) {
        return Ok(Decimal::NaN);
    }
    if base.signum() == 0 && exponent.signum() < 0 {
        return Err(power_error("zero raised to a negative power is undefined"));
    }
    if base.signum() < 0 && matches!(exponent, Decimal::Finite(_)) && exponent.truncated(0) != *exponent {
        return Err(power_error("a negative number raised to a non-integer power yields a complex result"));
    }
    if base.abs() == one {
        return Ok(one);
    }
    Ok(infinite_power(base, exponent))
}

/// A power of which one operand is infinite, and none of the cases that have a result of their own.
fn infinite_power(base: &Decimal, exponent: &Decimal) -> Decimal {
    let one = Decimal::from_i64(1);
    let grows = base.abs().compare(&one) == std::cmp::Ordering::Greater;
    match exponent {
        Decimal::Infinity => {
            if grows {
                Decimal::Infinity
            } else {
                Decimal::ZERO
            }
        }
        Decimal::NegativeInfinity => {
            if grows {
                Decimal::ZERO
            } else {
                Decimal::Infinity
            }
        }
        _ if exponent.signum() < 0 => Decimal::ZERO,
        _ => {
            let odd = matches!(exponent.rem(&Decimal::from_i64(2)), Ok(rest) if rest.signum() != 0);
            if base.signum() < 0 && odd { Decimal::NegativeInfinity } else { Decimal::Infinity }
        }
    }
}

fn power_error(message: &str) -> Error {
    Error::new(Condition::InvalidArgumentForPower, message)
}

/// The operand if it is finite, `None` if the result is the operand itself (NaN, infinity).
fn logarithm_operand(value: &Decimal) -> Result<Option<&Number>> {
    match value {
        Decimal::NaN | Decimal::Infinity => Ok(None),
        Decimal::Finite(number) if number.signum() > 0 => Ok(Some(number)),
        Decimal::Finite(number) if number.is_zero() => {
            Err(Error::new(Condition::InvalidArgumentForLogarithm, "cannot take logarithm of zero"))
        }
        _ => Err(Error::new(Condition::InvalidArgumentForLogarithm, "cannot take logarithm of a negative number")),
    }
}

/// The number as a whole count of 10^-digits, cut off.
fn fixed(number: &Number, digits: u32) -> BigInt {
    let unscaled = number.unscaled.to_big();
    if digits >= number.scale {
        unscaled * power_of_ten(digits - number.scale).to_big()
    } else {
        unscaled / power_of_ten(number.scale - digits).to_big()
    }
}

/// The natural logarithm of the magnitude, roughly, for estimates.
fn ln_f64(number: &Number) -> f64 {
    let exponent = number.exponent();
    if let super::decimal::Integer::Big(big) = &number.unscaled {
        // The first 53 bits decide; the others only say how large it is.
        let shift = big.bits().saturating_sub(64);
        let head = u64::try_from(big.magnitude() >> shift).unwrap_or(u64::MAX) as f64;
        return head.ln() + shift as f64 * std::f64::consts::LN_2 - f64::from(number.scale) * std::f64::consts::LN_10;
    }
    let digits: String = number.unscaled.to_big().magnitude().to_str_radix(10).chars().take(17).collect();
    let mantissa: f64 = format!("{}.{}", &digits[..1], &digits[1..]).parse().unwrap_or(1.0);
    mantissa.ln() + exponent as f64 * std::f64::consts::LN_10
}

/// The decimal exponent of the logarithm: what decides how many digits of it are shown.
fn ln_weight(number: &Number) -> i64 {
    let value = Decimal::Finite(number.clone());
    let near = |text: &str| Decimal::parse(text).unwrap_or(Decimal::NaN);
    let close_to_one = value.compare(&near("0.9")).is_ge() && value.compare(&near("1.1")).is_le();
    if close_to_one {
        return match value.sub(&Decimal::from_i64(1)) {
            Ok(Decimal::Finite(difference)) if !difference.is_zero() => difference.exponent(),
            _ => 0,
        };
    }
    let log = ln_f64(number).abs();
    if log == 0.0 { 0 } else { log.log10() as i64 }
}

/// ln, in fixed point: the argument is brought near 1 by square roots, then 2·atanh((x−1)/(x+1)).
///
/// A number of many digits before or behind the point is taken apart first: ln (m × 10^e) = ln m + e × ln 10, with no
/// more digits of m than can reach the result.
fn ln_fixed(number: &Number, digits: u32) -> BigInt {
    let exponent = number.exponent();
    if exponent.abs() > 50 {
        let digits_in = digits + 10;
        let places = (exponent + i64::from(number.scale)) as u32;
        let unscaled = number.unscaled.to_big();
        let mantissa = if places > digits_in {
            Number::from_big(unscaled / power_of_ten(places - digits_in).to_big(), digits_in)
        } else {
            Number::from_big(unscaled, places)
        };
        let ten = Number::from_big(BigInt::from(10), 0);
        let sum = ln_fixed(&mantissa, digits_in) + ln_fixed(&ten, digits_in) * exponent;
        return sum / power_of_ten(10).to_big();
    }
    // x = m × 10^e with 0.1 ≤ m < 1 would need ln 10 as well; roots alone converge fast enough and need nothing.
    let digits_in = digits + 20 + exponent.unsigned_abs() as u32;
    let one = power_of_ten(digits_in).to_big();
    let mut x = fixed(number, digits_in);
    let threshold: BigInt = &one / 1_000;
    let mut doublings = 0;
    while {
        let distance = &x - &one;
        BigInt::from(distance.magnitude().clone()) > threshold
    } && doublings < 64
    {
        x = (x * &one).sqrt();
        doublings += 1;
    }
    let y: BigInt = (&x - &one) * &one / (&x + &one);
    let y2: BigInt = &y * &y / &one;
    let mut term = y.clone();
    let mut sum = y;
    let mut k = 3;
    loop {
        term = term * &y2 / &one;
        if term.sign() == Sign::NoSign {
            break;
        }
        sum += &term / k;
        k += 2;
    }
    let result: BigInt = (sum * 2) << doublings;
    result / power_of_ten(digits_in - digits).to_big()
}

/// exp, in fixed point: halved until small, Taylor, squared back.
fn exp_fixed(x: &BigInt, digits: u32) -> BigInt {
    let digits_in = digits + 20;
    let one = power_of_ten(digits_in).to_big();
    let mut x = x * power_of_ten(20).to_big();
    let mut halvings = 0;
    let threshold: BigInt = &one / 100;
    while BigInt::from(x.magnitude().clone()) > threshold {
        x >>= 1;
        halvings += 1;
    }
    let mut term = one.clone();
    let mut sum = one.clone();
    let mut k = 1;
    loop {
        term = term * &x / &one / k;
        if term.magnitude().bits() <= 1 {
            break;
        }
        sum += &term;
        k += 1;
    }
    for _ in 0..halvings {
        sum = &sum * &sum / &one;
    }
    sum / power_of_ten(20).to_big()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(text: &str) -> Decimal {
        Decimal::parse(text).unwrap()
    }

    #[test]
    fn agrees_with_postgres() {
        // Answers of PostgreSQL 15.
        for (value, root) in [
            ("2", "1.414213562373095"),
            ("0", "0.000000000000000"),
            ("1000000", "1000.0000000000000"),
            ("0.0001", "0.01000000000000000"),
            ("144.00", "12.000000000000000"),
        ] {
            assert_eq!(sqrt(&decimal(value)).unwrap().to_string(), root, "sqrt {value}");
        }
        for (value, log) in [
            ("2", "0.6931471805599453"),
            ("10", "2.3025850929940457"),
            ("1.0000001", "0.00000009999999500000033"),
            ("12345.678", "9.4210613212918320"),
            ("1", "0.0000000000000000"),
        ] {
            assert_eq!(ln(&decimal(value)).unwrap().to_string(), log, "ln {value}");
        }
        for (value, result) in [
            ("1", "2.7182818284590452"),
            ("0", "1.0000000000000000"),
            ("10", "22026.465794806717"),
            ("-5.5", "0.004086771438464067"),
        ] {
            assert_eq!(exp(&decimal(value)).unwrap().to_string(), result, "exp {value}");
        }
        for (base, exponent, result) in [
            ("2", "3", "8.0000000000000000"),
            ("2", "-2", "0.2500000000000000"),
            ("2", "0.5", "1.4142135623730950"),
            ("10", "20", "100000000000000000000.0000000000000000"),
            ("1.05", "10", "1.6288946267774414"),
            ("-2", "3", "-8.0000000000000000"),
        ] {
            assert_eq!(power(&decimal(base), &decimal(exponent)).unwrap().to_string(), result, "{base} ^ {exponent}");
        }
        assert_eq!(log(&decimal("10"), &decimal("100")).unwrap().to_string(), "2.0000000000000000");
        assert_eq!(log(&decimal("2"), &decimal("10")).unwrap().to_string(), "3.3219280948873623");
    }

    #[test]
    fn refuses_what_has_no_answer() {
        assert_eq!(sqrt(&decimal("-1")).unwrap_err().condition().sqlstate(), "2201F");
        assert_eq!(ln(&decimal("0")).unwrap_err().condition().sqlstate(), "2201E");
        assert_eq!(power(&decimal("-2"), &decimal("0.5")).unwrap_err().condition().sqlstate(), "2201F");
        assert_eq!(power(&decimal("0"), &decimal("-1")).unwrap_err().condition().sqlstate(), "2201F");
        assert_eq!(power(&decimal("10"), &decimal("1000000")).unwrap_err().condition().sqlstate(), "22003");
    }
}
