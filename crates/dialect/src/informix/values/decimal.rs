//! Decimal numbers as text: rounding to a scale, counting digits.

use crate::types::NumericModifier;
use crate::{Condition, Error, Result};

/// A decimal: sign, digits without leading zeros, and where the point stands.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Decimal {
    /// Below zero.
    pub negative: bool,
    /// Digits, most significant first; empty for zero.
    pub digits: Vec<u8>,
    /// How many of the digits stand behind the point; negative for trailing zeros that are not written out.
    pub scale: i32,
}

/// Exponents beyond this are refused before any digit is written.
const MAX_EXPONENT: i32 = 400;

impl Decimal {
    /// A number in text, with or without an exponent; blanks around it are skipped.
    ///
    /// # Errors
    /// `22P02` (-1213) for anything else.
    pub fn parse(text: &str) -> Result<Self> {
        let invalid =
            || Error::new(Condition::InvalidTextRepresentation, format!("\"{}\" is not a number", text.trim()));
        let trimmed = text.trim();
        let (negative, unsigned) = match trimmed.as_bytes().first() {
            Some(b'-') => (true, &trimmed[1..]),
            Some(b'+') => (false, &trimmed[1..]),
            _ => (false, trimmed),
        };
        let (mantissa, exponent) = match unsigned.find(['e', 'E']) {
            Some(at) => (&unsigned[..at], unsigned[at + 1..].parse::<i32>().map_err(|_| invalid())?),
            None => (unsigned, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        if (whole.is_empty() && fraction.is_empty())
            || !whole.bytes().chain(fraction.bytes()).all(|byte| byte.is_ascii_digit())
            || exponent.abs() > MAX_EXPONENT
        {
            return Err(invalid());
        }
        let digits = whole.bytes().chain(fraction.bytes()).map(|byte| byte - b'0').collect();
        let scale = i32::try_from(fraction.len()).map_err(|_| invalid())? - exponent;
        Ok(Self { negative, digits, scale }.normal())
    }

    fn normal(mut self) -> Self {
        let zeros = self.digits.iter().take_while(|&&digit| digit == 0).count();
        self.digits.drain(..zeros);
        if self.digits.is_empty() {
            self.negative = false;
        }
        self
    }

    /// Rounded half away from zero to so many digits behind the point; digits are added when there are fewer.
    #[must_use]
    pub fn rescaled(mut self, scale: i32) -> Self {
        if scale >= self.scale {
            let zeros = if self.digits.is_empty() { 0 } else { (scale - self.scale) as usize };
            self.digits.resize(self.digits.len() + zeros, 0);
            self.scale = scale;
            return self;
        }
        let cut = (self.scale - scale) as usize;
        if cut > self.digits.len() {
            return Self { negative: false, digits: Vec::new(), scale };
        }
        let kept = self.digits.len() - cut;
        let up = self.digits[kept] >= 5;
        self.digits.truncate(kept);
        self.scale = scale;
        if up {
            let mut at = kept;
            loop {
                if at == 0 {
                    self.digits.insert(0, 1);
                    break;
                }
                at -= 1;
                if self.digits[at] == 9 {
                    self.digits[at] = 0;
                } else {
                    self.digits[at] += 1;
                    break;
                }
            }
        }
        self.normal()
    }

    /// Fitted to DECIMAL(p,s).
    ///
    /// # Errors
    /// `22003` (-1226) for a number that is too large.
    pub fn fitted(self, modifier: NumericModifier) -> Result<Self> {
        let fitted = self.rescaled(modifier.scale.into());
        if fitted.digits.len() > usize::from(modifier.precision) {
            return Err(too_large());
        }
        Ok(fitted)
    }

    /// Fitted to DECIMAL(p): p significant digits.
    pub fn floating(self, precision: u8) -> Self {
        let excess = self.digits.len() as i32 - i32::from(precision);
        let scale = self.scale - excess.max(0);
        let mut fitted = if excess > 0 { self.rescaled(scale) } else { self };
        while fitted.scale > 0 && fitted.digits.last() == Some(&0) {
            fitted.digits.pop();
            fitted.scale -= 1;
        }
        if fitted.digits.is_empty() {
            fitted.scale = 0;
        }
        fitted
    }

    /// The quotient in 32 digits, without zeros at the end.
    ///
    /// # Errors
    /// -1202 for a divisor of zero.
    pub fn divided(&self, divisor: &Self) -> Result<Self> {
        const DIGITS: usize = 33;
        let (numerator, denominator) = (self.clone().normal(), divisor.clone().normal());
        if denominator.digits.is_empty() {
            return Err(Error::new(Condition::DivisionByZero, "division by zero"));
        }
        let mut rest: Vec<u8> = Vec::new();
        let mut digits: Vec<u8> = Vec::new();
        let mut taken = 0;
        let mut scale = self.scale - divisor.scale;
        // One digit more than is kept; zeros are brought down behind the numerator's own.
        while taken < numerator.digits.len()
            || digits.iter().skip_while(|&&digit| digit == 0).count() < DIGITS && !rest.is_empty()
        {
            rest.push(numerator.digits.get(taken).copied().unwrap_or(0));
            if taken >= numerator.digits.len() {
                scale += 1;
            }
            taken += 1;
            let zeros = rest.iter().take_while(|&&digit| digit == 0).count();
            rest.drain(..zeros);
            let mut digit = 0;
            while at_least(&rest, &denominator.digits) {
                subtract(&mut rest, &denominator.digits);
                digit += 1;
            }
            digits.push(digit);
        }
        let quotient = Self { negative: self.negative != divisor.negative, digits, scale };
        Ok(quotient.normal().floating(32))
    }

    /// Rounded to a whole number that fits 64 bits.
    pub fn to_integer(&self) -> Option<i64> {
        if self.digits.len() as i32 - self.scale > 20 {
            return None;
        }
        // Informix cuts the fraction off when a decimal becomes an integer.
        let mut whole = self.clone();
        if whole.scale > 0 {
            let cut = (whole.scale as usize).min(whole.digits.len());
            whole.digits.truncate(whole.digits.len() - cut);
        } else {
            whole = whole.rescaled(0);
        }
        let magnitude = whole.digits.iter().try_fold(0_i128, |sum, &digit| Some(sum * 10 + i128::from(digit)))?;
        i64::try_from(if self.negative { -magnitude } else { magnitude }).ok()
    }
}

/// True when a whole number, without zeros in front, is not less than another.
fn at_least(left: &[u8], right: &[u8]) -> bool {
    left.len() > right.len() || left.len() == right.len() && left >= right
}

/// Subtracts a whole number from one that is not less.
fn subtract(left: &mut Vec<u8>, right: &[u8]) {
    let offset = left.len() - right.len();
    let mut borrow = 0;
    for at in (0..left.len()).rev() {
        let taken = borrow + if at >= offset { right[at - offset] } else { 0 };
        borrow = u8::from(left[at] < taken);
        left[at] = left[at] + borrow * 10 - taken;
    }
    let zeros = left.iter().take_while(|&&digit| digit == 0).count();
    left.drain(..zeros);
}

fn too_large() -> Error {
    Error::new(Condition::NumericValueOutOfRange, "the number is too large for its DECIMAL")
}

impl std::fmt::Display for Decimal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.negative && !self.digits.is_empty() {
            f.write_str("-")?;
        }
        let scale = self.scale.max(0) as usize;
        let mut digits: String = self.digits.iter().map(|digit| char::from(b'0' + digit)).collect();
        if self.scale < 0 && !digits.is_empty() {
            digits.extend(std::iter::repeat_n('0', self.scale.unsigned_abs() as usize));
        }
        if digits.len() <= scale {
            digits = format!("{}{digits}", "0".repeat(scale + 1 - digits.len()));
        }
        let (whole, fraction) = digits.split_at(digits.len() - scale);
        f.write_str(whole)?;
        if !fraction.is_empty() {
            write!(f, ".{fraction}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotients_have_32_digits() {
        for (left, right, quotient) in [
            ("1", "3", "0.33333333333333333333333333333333"),
            ("2", "3", "0.66666666666666666666666666666667"),
            ("7", "2", "3.5"),
            ("10", "5", "2"),
            ("1000000", "1", "1000000"),
            ("-7.89", "3", "-2.63"),
            ("0", "5", "0"),
            ("1", "0.0007", "1428.5714285714285714285714285714"),
            ("100", "8", "12.5"),
            ("1e30", "3e-2", "33333333333333333333333333333333"),
        ] {
            let found = Decimal::parse(left).unwrap().divided(&Decimal::parse(right).unwrap()).unwrap();
            assert_eq!(found.to_string(), quotient, "{left}/{right}");
        }
        assert!(Decimal::parse("1").unwrap().divided(&Decimal::parse("0").unwrap()).is_err());
    }

    #[test]
    fn decimals_are_fitted_to_their_type() {
        let modifier = NumericModifier { precision: 6, scale: 2 };
        for (text, fitted) in [
            ("1.005", "1.01"),
            ("-1234.56", "-1234.56"),
            ("0", "0.00"),
            ("9.999", "10.00"),
            ("1e2", "100.00"),
            (" .5 ", "0.50"),
        ] {
            assert_eq!(Decimal::parse(text).unwrap().fitted(modifier).unwrap().to_string(), fitted);
        }
        assert!(Decimal::parse("12345.6").unwrap().fitted(modifier).is_err());
        assert_eq!(Decimal::parse("3.14159000").unwrap().floating(4).to_string(), "3.142");
        assert_eq!(Decimal::parse("1.50").unwrap().floating(16).to_string(), "1.5");
        assert_eq!(Decimal::parse("1e-130").unwrap().floating(32).to_string(), format!("0.{}1", "0".repeat(129)));
        for text in ["", "x", "1.2.3", "1e", "1e999", "--1"] {
            assert!(Decimal::parse(text).is_err(), "{text}");
        }
        assert_eq!(Decimal::parse("-2.9").unwrap().to_integer(), Some(-2));
        assert_eq!(Decimal::parse("99999999999999999999").unwrap().to_integer(), None);
    }
}
