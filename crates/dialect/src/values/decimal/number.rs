//! Whole numbers of any width and numbers of a scale, which decimals count with.

use std::cmp::Ordering;

use num_bigint::{BigInt, BigUint, Sign};

use super::{Decimal, MAX_DISPLAY_SCALE, MAX_SCALE, MAX_WHOLE_DIGITS, MIN_SIGNIFICANT_DIGITS};
use crate::{Condition, Error, Result};

/// `unscaled` × 10^-`scale`.
#[derive(Clone, Debug)]
pub struct Number {
    pub(in crate::values) unscaled: Integer,
    pub(in crate::values) scale: u32,
}

/// A whole number; small whenever it fits.
#[derive(Clone, Debug)]
pub(in crate::values) enum Integer {
    Small(i128),
    Big(BigInt),
}

impl Integer {
    pub(super) fn from_big(value: BigInt) -> Self {
        match i128::try_from(&value) {
            Ok(small) => Self::Small(small),
            Err(_) => Self::Big(value),
        }
    }

    pub(in crate::values) fn to_big(&self) -> BigInt {
        match self {
            Self::Small(value) => BigInt::from(*value),
            Self::Big(value) => value.clone(),
        }
    }

    pub(super) fn signum(&self) -> i32 {
        match self {
            Self::Small(value) => value.signum() as i32,
            Self::Big(value) => match value.sign() {
                Sign::Minus => -1,
                Sign::NoSign => 0,
                Sign::Plus => 1,
            },
        }
    }

    pub(super) fn negated(&self) -> Self {
        match self {
            Self::Small(value) => match value.checked_neg() {
                Some(value) => Self::Small(value),
                None => Self::Big(-BigInt::from(*value)),
            },
            Self::Big(value) => Self::from_big(-value),
        }
    }

    pub(super) fn add(&self, other: &Self) -> Self {
        if let (Self::Small(a), Self::Small(b)) = (self, other)
            && let Some(sum) = a.checked_add(*b)
        {
            return Self::Small(sum);
        }
        Self::from_big(self.to_big() + other.to_big())
    }

    pub(super) fn mul(&self, other: &Self) -> Self {
        if let (Self::Small(a), Self::Small(b)) = (self, other)
            && let Some(product) = a.checked_mul(*b)
        {
            return Self::Small(product);
        }
        Self::from_big(self.to_big() * other.to_big())
    }

    /// Quotient and remainder, both towards zero. `other` is not zero.
    pub(super) fn div_rem(&self, other: &Self) -> (Self, Self) {
        if let (Self::Small(a), Self::Small(b)) = (self, other)
            && let (Some(quotient), Some(remainder)) = (a.checked_div(*b), a.checked_rem(*b))
        {
            return (Self::Small(quotient), Self::Small(remainder));
        }
        let (a, b) = (self.to_big(), other.to_big());
        (Self::from_big(&a / &b), Self::from_big(&a % &b))
    }

    pub(super) fn compare(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Small(a), Self::Small(b)) => a.cmp(b),
            _ => self.to_big().cmp(&other.to_big()),
        }
    }

    /// Decimal digits; 0 for zero.
    fn digits(&self) -> u64 {
        match self {
            Self::Small(0) => 0,
            Self::Small(value) => u64::from(value.unsigned_abs().ilog10()) + 1,
            Self::Big(value) => digits_of_big(value),
        }
    }

    pub(super) fn times_power(&self, power: u32) -> Self {
        if power == 0 { self.clone() } else { self.mul(&power_of_ten(power)) }
    }

    /// This number divided by 10^`power`, rounded half away from zero.
    fn over_power_rounded(&self, power: u32) -> Self {
        if power == 0 {
            return self.clone();
        }
        let divisor = power_of_ten(power);
        let (quotient, remainder) = self.div_rem(&divisor);
        round_away(quotient, &remainder, &divisor, self.signum())
    }
}

/// Decimal digits of a number, told from its bits wherever those decide.
fn digits_of_big(value: &BigInt) -> u64 {
    let bits = value.bits();
    if bits == 0 {
        return 0;
    }
    // A number of so many bits is at least 2^(bits - 1) and less than 2^bits.
    let least = ((bits - 1) as f64 * std::f64::consts::LOG10_2 - 1e-6).floor() as u64 + 1;
    let most = (bits as f64 * std::f64::consts::LOG10_2 + 1e-6).floor() as u64 + 1;
    if least == most {
        return least;
    }
    let limit = BigUint::from(10_u8).pow(least as u32);
    if *value.magnitude() >= limit { least + 1 } else { least }
}

/// `quotient`, moved away from zero by one if `remainder` is at least half of `divisor`.
fn round_away(quotient: Integer, remainder: &Integer, divisor: &Integer, sign: i32) -> Integer {
    let twice = remainder.add(remainder);
    let twice = if twice.signum() < 0 { twice.negated() } else { twice };
    let divisor = if divisor.signum() < 0 { divisor.negated() } else { divisor.clone() };
    if twice.compare(&divisor) == Ordering::Less { quotient } else { quotient.add(&Integer::Small(i128::from(sign))) }
}

pub(in crate::values) fn power_of_ten(power: u32) -> Integer {
    if power <= 38 { Integer::Small(10_i128.pow(power)) } else { Integer::Big(BigInt::from(10).pow(power)) }
}

impl Number {
    pub(super) fn new(unscaled: Integer, scale: u32) -> Self {
        Self { unscaled, scale }
    }

    pub(in crate::values) fn from_big(unscaled: BigInt, scale: u32) -> Self {
        Self::new(Integer::from_big(unscaled), scale)
    }

    /// The digits behind the point.
    pub fn scale(&self) -> u32 {
        self.scale
    }

    /// True for zero.
    pub fn is_zero(&self) -> bool {
        self.unscaled.signum() == 0
    }

    /// -1, 0 or 1.
    pub fn signum(&self) -> i32 {
        self.unscaled.signum()
    }

    /// Both as whole numbers of the greater scale, and that scale.
    pub(super) fn aligned(&self, other: &Self) -> (Integer, Integer, u32) {
        let scale = self.scale.max(other.scale);
        (self.unscaled.times_power(scale - self.scale), other.unscaled.times_power(scale - other.scale), scale)
    }

    pub(super) fn compare(&self, other: &Self) -> Ordering {
        if self.scale == other.scale {
            return self.unscaled.compare(&other.unscaled);
        }
        match self.signum().cmp(&other.signum()) {
            Ordering::Equal => {
                let (a, b, _) = self.aligned(other);
                a.compare(&b)
            }
            different => different,
        }
    }

    /// Rounded half away from zero to `scale` digits behind the point, or padded; a negative scale rounds to tens,
    /// hundreds, … and leaves none behind the point.
    pub fn rounded(&self, scale: i64) -> Self {
        if scale >= 0 {
            let scale = (scale as u64).min(u64::from(MAX_SCALE)) as u32;
            if scale >= self.scale {
                return Self::new(self.unscaled.times_power(scale - self.scale), scale);
            }
            return Self::new(self.unscaled.over_power_rounded(self.scale - scale), scale);
        }
        let drop = self.zeros_below(scale);
        Self::new(self.unscaled.over_power_rounded(self.scale.saturating_add(drop)).times_power(drop), 0)
    }

    /// Cut off towards zero behind `scale` digits, or padded.
    pub fn truncated(&self, scale: i64) -> Self {
        if scale >= 0 {
            let scale = (scale as u64).min(u64::from(MAX_SCALE)) as u32;
            if scale >= self.scale {
                return Self::new(self.unscaled.times_power(scale - self.scale), scale);
            }
            return Self::new(self.unscaled.div_rem(&power_of_ten(self.scale - scale)).0, scale);
        }
        let drop = self.zeros_below(scale);
        let whole = self.unscaled.div_rem(&power_of_ten(self.scale.saturating_add(drop))).0;
        Self::new(whole.times_power(drop), 0)
    }

    /// How many digits before the point a negative scale clears; one more than there are clears them all.
    fn zeros_below(&self, scale: i64) -> u32 {
        let whole = self.unscaled.digits() + 1;
        scale.unsigned_abs().min(whole) as u32
    }

    /// The exponent of the first significant digit; 0 for zero.
    pub fn exponent(&self) -> i64 {
        match self.unscaled.digits() {
            0 => 0,
            digits => digits as i64 - 1 - i64::from(self.scale),
        }
    }

    /// Weight and value of the first digit of base 10,000, on which PostgreSQL bases the scale of quotients.
    fn leading(&self) -> (i64, i64) {
        if self.is_zero() {
            return (0, 0);
        }
        let weight = self.exponent().div_euclid(4);
        let places = weight * 4 + i64::from(self.scale);
        let magnitude = if self.signum() < 0 { self.unscaled.negated() } else { self.unscaled.clone() };
        let first = if places >= 0 {
            magnitude.div_rem(&power_of_ten(places as u32)).0
        } else {
            magnitude.times_power(places.unsigned_abs() as u32)
        };
        match first {
            Integer::Small(first) => (weight, first as i64),
            Integer::Big(_) => (weight, 0),
        }
    }

    /// The scale of `self / other`: at least sixteen significant digits, and no less than either operand's scale.
    pub(super) fn quotient_scale(&self, other: &Self) -> u32 {
        let (weight1, first1) = self.leading();
        let (weight2, first2) = other.leading();
        let mut weight = weight1 - weight2;
        if first1 <= first2 {
            weight -= 1;
        }
        let scale = MIN_SIGNIFICANT_DIGITS - weight * 4;
        scale.max(i64::from(self.scale)).max(i64::from(other.scale)).clamp(0, MAX_DISPLAY_SCALE) as u32
    }

    /// `self / other` at `scale`, rounded half away from zero; `other` is not zero.
    pub(super) fn quotient(&self, other: &Self, scale: u32) -> Self {
        let shift = i64::from(scale) + i64::from(other.scale) - i64::from(self.scale);
        let (numerator, denominator) = if shift >= 0 {
            (self.unscaled.times_power(shift as u32), other.unscaled.clone())
        } else {
            (self.unscaled.clone(), other.unscaled.times_power(shift.unsigned_abs() as u32))
        };
        let (quotient, remainder) = numerator.div_rem(&denominator);
        let sign = self.signum() * other.signum();
        Self::new(round_away(quotient, &remainder, &denominator, sign), scale)
    }

    pub(super) fn is_whole(&self) -> bool {
        self.scale == 0 || self.unscaled.div_rem(&power_of_ten(self.scale)).1.signum() == 0
    }

    /// Without zeros at the end of the fraction.
    pub(super) fn trimmed(&self) -> Self {
        let mut number = self.clone();
        let ten = Integer::Small(10);
        while number.scale > 0 {
            let (quotient, remainder) = number.unscaled.div_rem(&ten);
            if remainder.signum() != 0 {
                break;
            }
            number = Self::new(quotient, number.scale - 1);
        }
        number
    }

    pub(super) fn check_range(self) -> Result<Decimal> {
        if let Integer::Small(_) = self.unscaled {
            return Ok(Decimal::Finite(self));
        }
        let whole = self.unscaled.digits().saturating_sub(u64::from(self.scale));
        if whole > MAX_WHOLE_DIGITS {
            return Err(overflow());
        }
        Ok(Decimal::Finite(self))
    }
}

pub(in crate::values) fn overflow() -> Error {
    Error::new(Condition::NumericValueOutOfRange, "value overflows numeric format")
}
