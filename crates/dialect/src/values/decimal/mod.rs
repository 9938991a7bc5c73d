//! Exact decimals of any width: `numeric`, and Informix's `DECIMAL` and `MONEY`.
//!
//! A value carries its display scale, as PostgreSQL's does: `1.50` stays `1.50`. The canonical text is a sign if
//! negative, at least one digit before the point, and exactly `scale` digits behind it; or `NaN`, `Infinity`,
//! `-Infinity`. Arithmetic runs in 128 bits while it fits there.

pub mod binary;
pub mod native;
mod number;
mod read;
mod stored;

use std::cmp::Ordering;
use std::fmt;

use self::read::{parse_general, parse_plain};
use super::{ValueRef, type_name};
use crate::ir::Value;
use crate::types::NumericModifier;
use crate::{Condition, Error, Result, Type};

pub use number::Number;
pub(super) use number::{Integer, overflow, power_of_ten};
pub use stored::{compare_text, fits, is_plain, scale_of, write};

/// The most digits behind the point.
pub const MAX_SCALE: u32 = 16_383;
/// The most digits before the point.
pub const MAX_WHOLE_DIGITS: u64 = 131_072;
/// The most digits behind the point that arithmetic makes by itself.
pub const MAX_DISPLAY_SCALE: i64 = 1_000;
/// The least number of significant digits of a quotient, a root, a logarithm.
pub const MIN_SIGNIFICANT_DIGITS: i64 = 16;

/// A decimal number.
#[derive(Clone, Debug)]
pub enum Decimal {
    /// Not a number; equal to itself and above everything else.
    NaN,
    /// Above every number.
    Infinity,
    /// Below every number.
    NegativeInfinity,
    /// A number.
    Finite(Number),
}

/// PostgreSQL's wire form of a decimal: digits of base 10,000.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Base10000 {
    /// The first digit counts 10,000^weight.
    pub weight: i16,
    /// Below zero.
    pub negative: bool,
    /// Decimal digits behind the point.
    pub scale: u16,
    /// Digits, 0 to 9,999 each, without zeros at either end.
    pub digits: Vec<i16>,
}

/// `division by zero`, SQLSTATE 22012.
pub fn division_by_zero() -> Error {
    Error::new(Condition::DivisionByZero, "division by zero")
}

impl Decimal {
    /// Zero.
    pub const ZERO: Self = Self::Finite(Number { unscaled: Integer::Small(0), scale: 0 });

    /// A whole number.
    pub fn from_i64(value: i64) -> Self {
        Self::Finite(Number::new(Integer::Small(i128::from(value)), 0))
    }

    /// `unscaled` × 10^-`scale`.
    pub fn from_parts(unscaled: i128, scale: u32) -> Self {
        Self::Finite(Number::new(Integer::Small(unscaled), scale))
    }

    /// A float's value to 15 significant digits, as PostgreSQL converts.
    pub fn from_f64(value: f64) -> Self {
        Self::from_float(value, 15)
    }

    /// A single's value to 6 significant digits, as PostgreSQL converts.
    pub fn from_f32(value: f32) -> Self {
        Self::from_float(f64::from(value), 6)
    }

    fn from_float(value: f64, digits: usize) -> Self {
        if value.is_nan() {
            return Self::NaN;
        }
        if value.is_infinite() {
            return if value > 0.0 { Self::Infinity } else { Self::NegativeInfinity };
        }
        let text = format!("{value:.*e}", digits - 1);
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let mantissa =
            if mantissa.contains('.') { mantissa.trim_end_matches('0').trim_end_matches('.') } else { mantissa };
        Self::parse(&format!("{mantissa}e{exponent}")).unwrap_or(Self::NaN)
    }

    /// A REAL of a column declared NUMERIC, whose digits are kept exactly up to the fifteenth.
    fn from_stored_real(value: f64) -> Self {
        if value.is_finite() { Self::parse(&format!("{value}")).unwrap_or(Self::NaN) } else { Self::from_f64(value) }
    }

    /// A stored value of a decimal type, native or text.
    pub fn from_stored(value: ValueRef<'_>) -> Result<Self> {
        match value {
            ValueRef::Integer(value) => Ok(Self::from_i64(value)),
            ValueRef::Real(value) => Ok(Self::from_stored_real(value)),
            ValueRef::Text(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) => Self::parse(text),
                Err(_) => Err(super::misfit(value, &Type::Numeric(None))),
            },
            ValueRef::Null | ValueRef::Blob(_) => Err(super::misfit(value, &Type::Numeric(None))),
        }
    }

    /// Reads a decimal: blanks around, sign, digits with a point, exponent, `NaN`, `Infinity`.
    pub fn parse(text: &str) -> Result<Self> {
        if let Some(number) = parse_plain(text.as_bytes()) {
            return Ok(Self::Finite(number));
        }
        parse_general(text)
    }

    /// The number, unless it is NaN or infinite.
    pub fn finite(&self) -> Option<&Number> {
        match self {
            Self::Finite(number) => Some(number),
            _ => None,
        }
    }

    /// `unscaled` and `scale` of a number whose digits fit 128 bits.
    pub fn small(&self) -> Option<(i128, u32)> {
        match self {
            Self::Finite(Number { unscaled: Integer::Small(unscaled), scale }) => Some((*unscaled, *scale)),
            _ => None,
        }
    }

    /// This value under a type's modifiers: rounded to the scale, refused when too wide.
    pub fn constrained(self, ty: &Type) -> Result<Self> {
        match ty {
            Type::Numeric(Some(modifier)) | Type::Money(modifier) => self.fit(*modifier),
            Type::FloatingDecimal(precision) => Ok(match self {
                Self::Finite(number) if !number.is_zero() => {
                    let scale = i64::from(*precision) - 1 - number.exponent();
                    let number = if i64::from(number.scale) > scale { number.rounded(scale) } else { number };
                    Self::Finite(number.trimmed())
                }
                Self::Finite(_) => Self::ZERO,
                special => special,
            }),
            _ => Ok(self),
        }
    }

    fn fit(self, modifier: NumericModifier) -> Result<Self> {
        let NumericModifier { precision, scale } = modifier;
        let overflow = || Error::new(Condition::NumericValueOutOfRange, "numeric field overflow");
        let number = match self {
            Self::NaN => return Ok(self),
            Self::Infinity | Self::NegativeInfinity => {
                return Err(overflow().detail(format!(
                    "A field with precision {precision}, scale {scale} cannot hold an infinite value."
                )));
            }
            Self::Finite(number) => number.rounded(i64::from(scale)),
        };
        let whole = i64::from(precision) - i64::from(scale);
        if !number.is_zero() && number.exponent() >= whole {
            let bound = if whole == 0 { "1".to_owned() } else { format!("10^{whole}") };
            return Err(overflow().detail(format!(
                "A field with precision {precision}, scale {scale} must round to an absolute value less than {bound}."
            )));
        }
        Ok(Self::Finite(number))
    }

    /// Sum.
    pub fn add(&self, other: &Self) -> Result<Self> {
        match (self, other) {
            (Self::Finite(a), Self::Finite(b)) => {
                let (a, b, scale) = a.aligned(b);
                Number::new(a.add(&b), scale).check_range()
            }
            (Self::NaN, _) | (_, Self::NaN) => Ok(Self::NaN),
            (Self::Infinity, Self::NegativeInfinity) | (Self::NegativeInfinity, Self::Infinity) => Ok(Self::NaN),
            (Self::Finite(_), infinite) | (infinite, _) => Ok(infinite.clone()),
        }
    }

    /// Difference.
    pub fn sub(&self, other: &Self) -> Result<Self> {
        self.add(&other.neg())
    }

    /// Product.
    pub fn mul(&self, other: &Self) -> Result<Self> {
        match (self, other) {
            (Self::Finite(a), Self::Finite(b)) => {
                let product = Number::new(a.unscaled.mul(&b.unscaled), a.scale + b.scale);
                let product = if product.scale > MAX_SCALE { product.rounded(i64::from(MAX_SCALE)) } else { product };
                product.check_range()
            }
            (Self::NaN, _) | (_, Self::NaN) => Ok(Self::NaN),
            _ => Ok(match self.signum() * other.signum() {
                0 => Self::NaN,
                sign if sign > 0 => Self::Infinity,
                _ => Self::NegativeInfinity,
            }),
        }
    }

    /// Quotient, to at least sixteen significant digits.
    pub fn div(&self, other: &Self) -> Result<Self> {
        match (self, other) {
            (Self::NaN, _) | (_, Self::NaN) => Ok(Self::NaN),
            (_, Self::Finite(b)) if b.is_zero() => Err(division_by_zero()),
            (Self::Finite(a), Self::Finite(b)) => a.quotient(b, a.quotient_scale(b)).check_range(),
            (Self::Finite(_), _) => Ok(Self::ZERO),
            (_, Self::Finite(b)) => {
                Ok(if self.signum() * b.signum() > 0 { Self::Infinity } else { Self::NegativeInfinity })
            }
            _ => Ok(Self::NaN),
        }
    }

    /// Quotient cut off to a whole number (`div(a, b)`).
    pub fn div_truncated(&self, other: &Self) -> Result<Self> {
        match (self, other) {
            (Self::Finite(a), Self::Finite(b)) if !b.is_zero() => {
                let (a, b, _) = a.aligned(b);
                Ok(Self::Finite(Number::new(a.div_rem(&b).0, 0)))
            }
            _ => self.div(other),
        }
    }

    /// Remainder, with the sign of the dividend.
    pub fn rem(&self, other: &Self) -> Result<Self> {
        match (self, other) {
            (Self::NaN, _) | (_, Self::NaN) => Ok(Self::NaN),
            (_, Self::Finite(b)) if b.is_zero() => Err(division_by_zero()),
            (Self::Finite(a), Self::Finite(b)) => {
                let (a, b, scale) = a.aligned(b);
                Ok(Self::Finite(Number::new(a.div_rem(&b).1, scale)))
            }
            (Self::Finite(_), _) => Ok(self.clone()),
            _ => Ok(Self::NaN),
        }
    }

    /// Negation.
    pub fn neg(&self) -> Self {
        match self {
            Self::NaN => Self::NaN,
            Self::Infinity => Self::NegativeInfinity,
            Self::NegativeInfinity => Self::Infinity,
            Self::Finite(number) => Self::Finite(Number::new(number.unscaled.negated(), number.scale)),
        }
    }

    /// Absolute value.
    pub fn abs(&self) -> Self {
        if self.signum() < 0 { self.neg() } else { self.clone() }
    }

    /// -1, 0 or 1; 0 for NaN.
    pub fn signum(&self) -> i32 {
        match self {
            Self::NaN => 0,
            Self::Infinity => 1,
            Self::NegativeInfinity => -1,
            Self::Finite(number) => number.signum(),
        }
    }

    /// Order by value; scales do not count. NaN is equal to itself and above everything.
    pub fn compare(&self, other: &Self) -> Ordering {
        let rank = |value: &Self| match value {
            Self::NegativeInfinity => 0,
            Self::Finite(_) => 1,
            Self::Infinity => 2,
            Self::NaN => 3,
        };
        match (self, other) {
            (Self::Finite(a), Self::Finite(b)) => a.compare(b),
            _ => rank(self).cmp(&rank(other)),
        }
    }

    /// Rounded half away from zero; see [`Number::rounded`].
    pub fn rounded(&self, scale: i64) -> Self {
        self.map(|number| number.rounded(scale))
    }

    /// Cut off towards zero; see [`Number::truncated`].
    pub fn truncated(&self, scale: i64) -> Self {
        self.map(|number| number.truncated(scale))
    }

    /// The greatest whole number that is not greater.
    pub fn floor(&self) -> Self {
        self.map(|number| {
            let whole = number.truncated(0);
            if number.signum() < 0 && !number.is_whole() {
                Number::new(whole.unscaled.add(&Integer::Small(-1)), 0)
            } else {
                whole
            }
        })
    }

    /// The least whole number that is not less.
    pub fn ceil(&self) -> Self {
        self.neg().floor().neg()
    }

    /// Without zeros at the end of the fraction.
    pub fn trimmed(&self) -> Self {
        self.map(Number::trimmed)
    }

    fn map(&self, change: impl FnOnce(&Number) -> Number) -> Self {
        match self {
            Self::Finite(number) => Self::Finite(change(number)),
            special => special.clone(),
        }
    }

    /// Rounded to a whole number of an integer type.
    pub fn to_integer(&self, ty: &Type) -> Result<i64> {
        let number = match self {
            Self::Finite(number) => number.rounded(0),
            Self::NaN => {
                let message = format!("cannot convert NaN to {}", type_name(ty));
                return Err(Error::new(Condition::FeatureNotSupported, message));
            }
            _ => {
                let message = format!("cannot convert infinity to {}", type_name(ty));
                return Err(Error::new(Condition::FeatureNotSupported, message));
            }
        };
        match number.unscaled {
            Integer::Small(value) => {
                let value = i64::try_from(value).map_err(|_| super::integer::out_of_range(ty))?;
                super::integer::checked(value, ty)
            }
            Integer::Big(_) => Err(super::integer::out_of_range(ty)),
        }
    }

    /// The nearest float; infinite when it is too large.
    pub fn to_f64(&self) -> f64 {
        match self {
            Self::NaN => f64::NAN,
            Self::Infinity => f64::INFINITY,
            Self::NegativeInfinity => f64::NEG_INFINITY,
            Self::Finite(_) => self.to_string().parse().unwrap_or(f64::NAN),
        }
    }

    /// The form in which a NUMERIC column of `scale` digits behind the point holds this value, for comparison with
    /// such a column: exact when the column can hold it, otherwise a number between the same two neighbours.
    pub fn to_native(&self, scale: i64) -> Value {
        let number = match self {
            Self::Finite(number) => number,
            Self::NaN => return Value::Text("NaN".to_owned()),
            special => return Value::Real(special.to_f64()),
        };
        let cut = number.truncated(scale);
        let exact = cut.compare(number) == Ordering::Equal;
        if exact
            && cut.is_whole()
            && let Integer::Small(whole) = cut.truncated(0).unscaled
            && let Ok(whole) = i64::try_from(whole)
        {
            return Value::Integer(whole);
        }
        if exact {
            return Value::Real(Self::Finite(cut).to_f64());
        }
        // Half a unit behind the last kept digit: 16 digits, which a double keeps apart from both neighbours.
        let half = Number::new(Integer::Small(i128::from(5 * number.signum())), (scale.max(0) + 1) as u32);
        let (a, b, scale) = cut.aligned(&half);
        Value::Real(Self::Finite(Number::new(a.add(&b), scale)).to_f64())
    }

    /// The digits of base 10,000 that PostgreSQL's binary format carries; `None` for NaN and infinities.
    pub fn to_base10000(&self) -> Option<Base10000> {
        let number = self.finite()?;
        let mut result = Base10000 { scale: number.scale as u16, ..Base10000::default() };
        if number.is_zero() {
            return Some(result);
        }
        result.negative = number.signum() < 0;
        // Digits of base 10,000 are counted from the point: pad the fraction to whole groups.
        let pad = (4 - number.scale % 4) % 4;
        let groups_behind = i64::from((number.scale + pad) / 4);
        let mut text = match &number.unscaled {
            Integer::Small(value) => value.unsigned_abs().to_string(),
            Integer::Big(value) => value.magnitude().to_str_radix(10),
        };
        text.extend(std::iter::repeat_n('0', pad as usize));
        let lead = (4 - text.len() % 4) % 4;
        let text = format!("{}{text}", "0".repeat(lead));
        let mut digits: Vec<i16> = text
            .as_bytes()
            .chunks(4)
            .map(|chunk| chunk.iter().fold(0, |digit, byte| digit * 10 + i16::from(byte - b'0')))
            .collect();
        let mut weight = digits.len() as i64 - groups_behind - 1;
        let zeros = digits.iter().take_while(|digit| **digit == 0).count();
        digits.drain(..zeros);
        weight -= zeros as i64;
        while digits.last() == Some(&0) {
            digits.pop();
        }
        result.weight = weight as i16;
        result.digits = digits;
        Some(result)
    }

    /// The number with these digits of base 10,000.
    pub fn from_base10000(parts: &Base10000) -> Result<Self> {
        if parts.digits.iter().any(|digit| !(0..10_000).contains(digit)) || u32::from(parts.scale) > MAX_SCALE {
            return Err(Error::new(
                Condition::InvalidBinaryRepresentation,
                "invalid digit in external \"numeric\" value",
            ));
        }
        let mut text = String::with_capacity(parts.digits.len() * 4 + 1);
        for digit in &parts.digits {
            text.push_str(&format!("{digit:04}"));
        }
        let unscaled = if text.len() <= 38 {
            Integer::Small(text.parse().unwrap_or(0))
        } else {
            Integer::from_big(text.parse().unwrap_or_default())
        };
        let unscaled = if parts.negative { unscaled.negated() } else { unscaled };
        // The last digit counts 10,000^(weight - count + 1).
        let shift = (i64::from(parts.weight) - parts.digits.len() as i64 + 1) * 4;
        let number = if shift >= 0 {
            Number::new(unscaled.times_power(shift as u32), 0)
        } else {
            Number::new(unscaled, shift.unsigned_abs() as u32)
        };
        // Digits behind the announced scale are cut off, as PostgreSQL does.
        number.truncated(i64::from(parts.scale)).check_range()
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = match self {
            Self::NaN => return f.write_str("NaN"),
            Self::Infinity => return f.write_str("Infinity"),
            Self::NegativeInfinity => return f.write_str("-Infinity"),
            Self::Finite(number) => number,
        };
        let text = match &number.unscaled {
            Integer::Small(value) => value.unsigned_abs().to_string(),
            Integer::Big(value) => value.magnitude().to_str_radix(10),
        };
        if number.signum() < 0 {
            f.write_str("-")?;
        }
        let scale = number.scale as usize;
        if scale == 0 {
            return f.write_str(&text);
        }
        if text.len() > scale {
            let (whole, fraction) = text.split_at(text.len() - scale);
            write!(f, "{whole}.{fraction}")
        } else {
            write!(f, "0.{text:0>scale$}")
        }
    }
}

impl PartialEq for Decimal {
    fn eq(&self, other: &Self) -> bool {
        self.compare(other) == Ordering::Equal
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(text: &str) -> Decimal {
        Decimal::parse(text).unwrap()
    }

    #[test]
    fn arithmetic_has_the_scale_of_postgres() {
        let cases: [(&str, &str, &str, &str); 12] = [
            ("1.5", "+", "1.25", "2.75"),
            ("0.1", "*", "3", "0.3"),
            ("1.50", "*", "2", "3.00"),
            ("1", "/", "3", "0.33333333333333333333"),
            ("1.5", "/", "3", "0.50000000000000000000"),
            ("10", "/", "2.5", "4.0000000000000000"),
            ("123456789", "/", "7", "17636684.142857142857"),
            ("1", "/", "0.000001", "1000000.000000000000"),
            ("-7", "%", "3", "-1"),
            ("7.5", "%", "-2", "1.5"),
            ("2", "/", "3", "0.66666666666666666667"),
            ("99999999999999999999999999999999999999", "+", "1", "100000000000000000000000000000000000000"),
        ];
        for (a, op, b, result) in cases {
            let (a, b) = (decimal(a), decimal(b));
            let value = match op {
                "+" => a.add(&b),
                "*" => a.mul(&b),
                "/" => a.div(&b),
                _ => a.rem(&b),
            };
            assert_eq!(value.unwrap().to_string(), result, "{a} {op} {b}");
        }
        assert_eq!(decimal("1").div(&decimal("0")).unwrap_err().condition().sqlstate(), "22012");
    }

    #[test]
    fn rounds_half_away_from_zero() {
        for (text, scale, rounded) in [
            ("2.5", 0, "3"),
            ("-2.5", 0, "-3"),
            ("1.005", 2, "1.01"),
            ("1.5", 3, "1.500"),
            ("1250", -2, "1300"),
            ("4", -1, "0"),
            ("5", -1, "10"),
            ("7", -5, "0"),
        ] {
            assert_eq!(decimal(text).rounded(scale).to_string(), rounded, "{text}");
        }
        assert_eq!(decimal("-1.5").floor().to_string(), "-2");
        assert_eq!(decimal("-1.5").ceil().to_string(), "-1");
        assert_eq!(decimal("1.59").truncated(1).to_string(), "1.5");
    }

    #[test]
    fn modifiers_round_and_refuse() {
        let ty = Type::Numeric(Some(NumericModifier { precision: 5, scale: 2 }));
        assert_eq!(decimal("1.5").constrained(&ty).unwrap().to_string(), "1.50");
        assert_eq!(decimal("999.994").constrained(&ty).unwrap().to_string(), "999.99");
        let error = decimal("999.995").constrained(&ty).unwrap_err();
        assert_eq!(error.to_string(), "numeric field overflow");
        assert_eq!(
            error.detail.as_deref(),
            Some("A field with precision 5, scale 2 must round to an absolute value less than 10^3.")
        );
        assert_eq!(decimal("1234567.5").constrained(&Type::FloatingDecimal(4)).unwrap().to_string(), "1235000");
        assert_eq!(decimal("1.50").constrained(&Type::FloatingDecimal(4)).unwrap().to_string(), "1.5");
    }

    #[test]
    fn native_form_stays_between_its_neighbours() {
        assert_eq!(decimal("12.50").to_native(2), Value::Real(12.5));
        assert_eq!(decimal("12.00").to_native(2), Value::Integer(12));
        let Value::Real(between) = decimal("0.120000000000000000001").to_native(2) else { panic!("a real") };
        assert!(between > 0.12 && between < 0.13);
        let Value::Real(between) = decimal("-0.120000000000000000001").to_native(2) else { panic!("a real") };
        assert!(between < -0.12 && between > -0.13);
    }

    #[test]
    fn base_10000_goes_and_comes() {
        for text in [
            "0",
            "0.00",
            "1",
            "-12345.678",
            "0.0001",
            "0.00001",
            "10000",
            "100000000",
            "12345678901234567890123456789012345678901234.5",
        ] {
            let parts = decimal(text).to_base10000().unwrap();
            assert_eq!(Decimal::from_base10000(&parts).unwrap().to_string(), text);
        }
        let parts = decimal("12345.678").to_base10000().unwrap();
        assert_eq!((parts.weight, parts.scale, parts.digits), (1, 3, vec![1, 2345, 6780]));
    }
}
