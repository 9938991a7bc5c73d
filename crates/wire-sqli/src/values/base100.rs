use std::fmt::Write;

use rowferry_wire::Malformed;

use super::Misfit;

/// Base-100 digits that a number may have: 32 decimal digits take 17, an interval of the widest qualifier 8.
const MAX_PAIRS: usize = 20;

/// The exponents that one byte holds.
const EXPONENTS: std::ops::RangeInclusive<i32> = -64..=63;

/// A number as `DECIMAL`, `MONEY`, `DATETIME` and `INTERVAL` send it: a sign, an exponent, digits in base 100.
///
/// Wire: byte 0 is `80 | (64 + exponent)`; then the digits, zero-filled to the width of the column. Negative: byte 0 is
/// `(64 + exponent) ^ 7f`, and the digits are complemented to 100 as one number. All zero: NULL. Zero: `80`.
/// Vectors: `type.dec*`, `type.dt.*`, `type.iv.*`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Base100 {
    negative: bool,
    /// How many of the digits stand before the point.
    exponent: i32,
    digits: [u8; MAX_PAIRS],
    len: usize,
}

impl Base100 {
    /// Zero.
    pub const ZERO: Self = Self { negative: false, exponent: 0, digits: [0; MAX_PAIRS], len: 0 };

    /// A number from its base-100 digits, the first `exponent` of which stand before the point.
    pub(super) fn from_pairs(negative: bool, exponent: i32, pairs: &[u8]) -> Result<Self, Misfit> {
        let leading = pairs.iter().take_while(|&&pair| pair == 0).count();
        let pairs = &pairs[leading..];
        let len = pairs.iter().rposition(|&pair| pair != 0).map_or(0, |last| last + 1);
        if len == 0 {
            return Ok(Self::ZERO);
        }
        let exponent = exponent - i32::try_from(leading).map_err(|_| Misfit::Range)?;
        if len > MAX_PAIRS || !EXPONENTS.contains(&exponent) {
            return Err(Misfit::Range);
        }
        let mut digits = [0; MAX_PAIRS];
        digits[..len].copy_from_slice(&pairs[..len]);
        Ok(Self { negative, exponent, digits, len })
    }

    /// Decodes a cell or a parameter; `None` is NULL. Digits that are missing count as zeros.
    pub fn decode(bytes: &[u8]) -> Result<Option<Self>, Malformed> {
        let Some((&head, tail)) = bytes.split_first() else { return Err(Malformed::new("length of a number")) };
        let used = tail.iter().rposition(|&digit| digit != 0).map_or(0, |last| last + 1);
        let tail = &tail[..used];
        if head == 0 && used == 0 {
            return Ok(None);
        }
        if used > MAX_PAIRS {
            return Err(Malformed::new("digits of a number"));
        }
        let negative = head & 0x80 == 0;
        let exponent = i32::from(if negative { head ^ 0x7f } else { head & 0x7f }) - 64;
        let mut digits = [0; MAX_PAIRS];
        digits[..used].copy_from_slice(tail);
        if digits[..used].iter().any(|&digit| digit > 99) {
            return Err(Malformed::new("digit of a number"));
        }
        if negative {
            complement(&mut digits[..used]);
        }
        Self::from_pairs(negative, exponent, &digits[..used])
            .map(Some)
            .map_err(|_| Malformed::new("exponent of a number"))
    }

    /// Appends the number in `width` bytes.
    pub fn encode(&self, width: usize, out: &mut Vec<u8>) -> Result<(), Misfit> {
        if self.len + 1 > width {
            return Err(Misfit::Range);
        }
        let end = out.len() + width;
        self.encode_short(out);
        out.resize(end, 0);
        Ok(())
    }

    /// Appends the number without trailing zeros, as parameters are sent.
    pub fn encode_short(&self, out: &mut Vec<u8>) {
        if self.len == 0 {
            out.push(0x80);
            return;
        }
        let biased = (self.exponent + 64) as u8;
        out.push(if self.negative { biased ^ 0x7f } else { 0x80 | biased });
        let start = out.len();
        out.extend_from_slice(&self.digits[..self.len]);
        if self.negative {
            complement(&mut out[start..]);
        }
    }

    /// The digit that stands `place` before the point: place 1 is the units, 0 the first of the fraction.
    pub(super) fn pair(&self, place: i32) -> u8 {
        usize::try_from(self.exponent - place)
            .ok()
            .and_then(|index| self.digits[..self.len].get(index))
            .map_or(0, |&d| d)
    }

    /// The places of the first and the last digit that is not zero; `None` for zero.
    pub(super) fn places(&self) -> Option<(i32, i32)> {
        (self.len > 0).then(|| (self.exponent, self.exponent - self.len as i32 + 1))
    }

    /// The number times ten to the power of `scale`; `None` when digits would be lost, or 128 bits do not hold it.
    pub fn unscaled(&self, scale: u8) -> Option<i128> {
        let mut magnitude: i128 = 0;
        for &pair in &self.digits[..self.len] {
            magnitude = magnitude.checked_mul(100)?.checked_add(i128::from(pair))?;
        }
        let shift = i32::from(scale) - 2 * (self.len as i32 - self.exponent);
        let power = 10_i128.checked_pow(shift.unsigned_abs())?;
        let magnitude = if magnitude == 0 {
            0
        } else if shift >= 0 {
            magnitude.checked_mul(power)?
        } else if magnitude % power == 0 {
            magnitude / power
        } else {
            return None;
        };
        Some(if self.negative { -magnitude } else { magnitude })
    }

    /// True for numbers below zero.
    pub const fn is_negative(&self) -> bool {
        self.negative
    }

    /// Reads decimal text such as `-12.50` or `1e-130`, rounding half away from zero.
    ///
    /// With a scale: to so many digits after the point, and an error when more than `precision` digits remain. Without
    /// one: to `precision` significant digits.
    pub fn from_text(text: &str, precision: u8, scale: Option<u8>) -> Result<Self, Misfit> {
        if let Some(number) = Self::from_short_text(text.as_bytes(), precision, scale) {
            return number;
        }
        let (negative, mut digits, mut point) = split_text(text)?;
        let keep = match scale {
            Some(scale) => point + i64::from(scale),
            None => i64::from(precision),
        };
        if keep < digits.len() as i64 {
            let keep = usize::try_from(keep).ok();
            let round_up = keep.is_some_and(|keep| digits[keep] >= 5);
            digits.truncate(keep.unwrap_or(0));
            if round_up {
                increment(&mut digits, &mut point);
            }
        }
        if let Some(scale) = scale {
            let significant = digits.iter().position(|&digit| digit != 0).map(|lead| point - lead as i64);
            if significant.is_some_and(|whole| whole > i64::from(precision) - i64::from(scale)) {
                return Err(Misfit::Range);
            }
        }
        // Decimal digits pair up around the point.
        if point.rem_euclid(2) == 1 {
            digits.insert(0, 0);
            point += 1;
        }
        let pairs: Vec<u8> = digits.chunks(2).map(|pair| pair[0] * 10 + pair.get(1).copied().unwrap_or(0)).collect();
        let exponent = i32::try_from(point / 2).map_err(|_| Misfit::Range)?;
        Self::from_pairs(negative, exponent, &pairs)
    }

    /// Reads the texts that nearly all are: a few digits, none of which is to be rounded away. `None` for all others.
    fn from_short_text(text: &[u8], precision: u8, scale: Option<u8>) -> Option<Result<Self, Misfit>> {
        let (negative, number) = match text {
            [b'-', number @ ..] => (true, number),
            number => (false, number),
        };
        // Eighteen digits and a point: what is counted in 64 bits.
        if number.is_empty() || number.len() > 19 {
            return None;
        }
        let (mut units, mut digits, mut fraction) = (0_i64, 0, None);
        for byte in number {
            match byte {
                b'0'..=b'9' if digits < 18 => {
                    units = units * 10 + i64::from(byte - b'0');
                    digits += 1;
                }
                b'.' if fraction.is_none() => fraction = Some(digits),
                _ => return None,
            }
        }
        if digits == 0 {
            return None;
        }
        let fraction: u8 = fraction.map_or(0, |before| digits - before);
        // So many digits may stand in front of the last one there is.
        let most = match scale {
            Some(scale) if fraction <= scale => i32::from(precision) - i32::from(scale - fraction),
            None => i32::from(precision),
            Some(_) => return None,
        };
        let fits = most >= 18 || units < 10_i64.pow(most.max(0).unsigned_abs());
        match (fits, scale) {
            (true, _) => Some(Ok(Self::from_units(if negative { -units } else { units }, fraction))),
            (false, Some(_)) => Some(Err(Misfit::Range)),
            // It is to be rounded.
            (false, None) => None,
        }
    }

    /// The number from an integer.
    pub fn from_i64(value: i64) -> Self {
        Self::from_units(value, 0)
    }

    /// The number that is `units` of the last of `scale` digits after the point: `1250` and 2 are `12.50`.
    pub fn from_units(units: i64, scale: u8) -> Self {
        // Eleven pairs hold every u64, ten times it, too.
        let mut pairs = [0; 11];
        let (mut magnitude, mut places) = (units.unsigned_abs(), pairs.iter_mut().rev());
        if scale % 2 == 1
            && let Some(last) = places.next()
        {
            *last = (magnitude % 10) as u8 * 10;
            magnitude /= 10;
        }
        for pair in places {
            if magnitude == 0 {
                break;
            }
            *pair = (magnitude % 100) as u8;
            magnitude /= 100;
        }
        // No exponent here is out of range: a scale has one byte.
        let fraction = i32::from(scale.div_ceil(2).min(60));
        Self::from_pairs(units < 0, 11 - fraction, &pairs).unwrap_or(Self::ZERO)
    }

    /// Appends the number as decimal text: with exactly `scale` digits after the point (more, if there are more), or
    /// without one as few as say it, in scientific form when it is very large or very small.
    pub fn write_text(&self, scale: Option<u8>, out: &mut String) {
        if self.negative {
            out.push('-');
        }
        if scale.is_none() && self.len > 0 && !(-8..=20).contains(&self.exponent) {
            self.write_scientific(out);
            return;
        }
        let mut whole = String::new();
        for place in (1..=self.exponent).rev() {
            push_pair(self.pair(place), &mut whole);
        }
        let trimmed = whole.trim_start_matches('0');
        out.push_str(if trimmed.is_empty() { "0" } else { trimmed });
        let mut fraction = String::new();
        let last = self.places().map_or(1, |(_, last)| last);
        for place in (last..=0).rev() {
            push_pair(self.pair(place), &mut fraction);
        }
        let least = usize::from(scale.unwrap_or(0));
        while fraction.len() > least && fraction.ends_with('0') {
            fraction.pop();
        }
        while fraction.len() < least {
            fraction.push('0');
        }
        if !fraction.is_empty() {
            out.push('.');
            out.push_str(&fraction);
        }
    }

    /// The number as decimal text; see [`write_text`](Self::write_text).
    pub fn to_text(&self, scale: Option<u8>) -> String {
        let mut text = String::with_capacity(40);
        self.write_text(scale, &mut text);
        text
    }

    fn write_scientific(&self, out: &mut String) {
        let mut digits = String::new();
        for &pair in &self.digits[..self.len] {
            push_pair(pair, &mut digits);
        }
        let lead = digits.len() - digits.trim_start_matches('0').len();
        let exponent = self.exponent * 2 - lead as i32 - 1;
        let digits = digits.trim_matches('0');
        out.push_str(&digits[..1]);
        if digits.len() > 1 {
            out.push('.');
            out.push_str(&digits[1..]);
        }
        // Writing to a String cannot fail.
        let _ = write!(out, "E{exponent:+}");
    }
}

/// Complements digits to 100 as one number; the operation is its own inverse.
fn complement(digits: &mut [u8]) {
    let Some(last) = digits.iter().rposition(|&digit| digit != 0) else { return };
    for digit in &mut digits[..last] {
        *digit = 99 - *digit;
    }
    digits[last] = 100 - digits[last];
}

fn push_pair(pair: u8, out: &mut String) {
    out.push(char::from(b'0' + pair / 10));
    out.push(char::from(b'0' + pair % 10));
}

/// Splits text into sign, decimal digits and how many of them stand before the point.
fn split_text(text: &str) -> Result<(bool, Vec<u8>, i64), Misfit> {
    let text = text.trim();
    let (negative, text) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    let (number, shift) = match text.find(['e', 'E']) {
        Some(at) => (&text[..at], text[at + 1..].parse::<i32>().map_err(|_| Misfit::Invalid)?),
        None => (text, 0),
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() && fraction.is_empty() {
        return Err(Misfit::Invalid);
    }
    if whole.len() + fraction.len() > MAX_TEXT_DIGITS {
        return Err(Misfit::TooLong);
    }
    let mut digits = Vec::with_capacity(whole.len() + fraction.len() + 1);
    for byte in whole.bytes().chain(fraction.bytes()) {
        match byte {
            b'0'..=b'9' => digits.push(byte - b'0'),
            _ => return Err(Misfit::Invalid),
        }
    }
    let mut point = whole.len() as i64 + i64::from(shift);
    let lead = digits.iter().take_while(|&&digit| digit == 0).count();
    digits.drain(..lead);
    point -= lead as i64;
    if digits.is_empty() {
        point = 0;
    }
    Ok((negative && !digits.is_empty(), digits, point))
}

/// Longer decimal text is refused.
const MAX_TEXT_DIGITS: usize = 4096;

/// Adds one to the last digit.
fn increment(digits: &mut Vec<u8>, point: &mut i64) {
    for digit in digits.iter_mut().rev() {
        if *digit < 9 {
            *digit += 1;
            return;
        }
        *digit = 0;
    }
    digits.insert(0, 1);
    *point += 1;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoded(text: &str, precision: u8, scale: Option<u8>) -> String {
        let number = Base100::from_text(text, precision, scale).unwrap();
        let mut out = Vec::new();
        let encoded_length = (u16::from(precision) << 8) | u16::from(scale.unwrap_or(255));
        number.encode(crate::types::decimal_width(encoded_length), &mut out).unwrap();
        assert_eq!(Base100::decode(&out), Ok(Some(number)), "{text}");
        out.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn the_worked_examples() {
        assert_eq!(encoded("123.4500", 8, Some(4)), "c201172d00");
        assert_eq!(encoded("-123.4500", 8, Some(4)), "3d624c3700");
        assert_eq!(encoded("0", 8, Some(4)), "8000000000");
        assert_eq!(encoded("0.1", 1, Some(1)), "c00a");
        assert_eq!(encoded("-0.001", 3, Some(3)), "405a00");
        assert_eq!(encoded("1e-130", 32, None), format!("8001{}", "00".repeat(16)));
        assert_eq!(encoded("-1e125", 32, None), format!("005a{}", "00".repeat(16)));
        assert_eq!(encoded("3.14159", 16, None), "c1030e0f5a0000000000");
        assert_eq!(encoded("-1234.56", 10, Some(2)), "3d57412c0000");
    }

    #[test]
    fn rounds_half_away_from_zero() {
        for (text, precision, scale, want) in [
            ("1.005", 5, Some(2), "1.01"),
            ("-1.005", 5, Some(2), "-1.01"),
            ("0.004", 5, Some(2), "0.00"),
            ("0.0005", 5, Some(2), "0.00"),
            ("9.999", 5, Some(2), "10.00"),
            ("0.5", 5, Some(0), "1"),
            ("99999", 3, None, "100000"),
            ("12345", 3, None, "12300"),
            ("0.00012345", 3, None, "0.000123"),
        ] {
            assert_eq!(Base100::from_text(text, precision, scale).unwrap().to_text(scale), want, "{text}");
        }
    }

    #[test]
    fn refuses_what_does_not_fit() {
        assert_eq!(Base100::from_text("1000", 5, Some(2)), Err(Misfit::Range));
        assert_eq!(Base100::from_text("999.996", 5, Some(2)), Err(Misfit::Range));
        assert_eq!(Base100::from_text("1e130", 32, None), Err(Misfit::Range));
        for text in ["", "-", ".", "1x", "1e", "--1", "1.2.3", "NaN", "1e99999999999"] {
            assert_eq!(Base100::from_text(text, 32, None), Err(Misfit::Invalid), "{text}");
        }
    }

    #[test]
    fn extremes_as_text() {
        let text = |text: &str| Base100::from_text(text, 32, None).unwrap().to_text(None);
        assert_eq!(text("1e-130"), "1E-130");
        assert_eq!(text("-1.5e125"), "-1.5E+125");
        assert_eq!(text("12345678901234567890123456789012"), "12345678901234567890123456789012");
        assert_eq!(text("00012.3400"), "12.34");
        assert_eq!(text("-0"), "0");
        assert_eq!(Base100::from_i64(i64::MIN).to_text(None), "-9223372036854775808");
        assert_eq!(Base100::from_i64(-100).to_text(Some(2)), "-100.00");
    }

    #[test]
    fn unscaled_numbers_lose_no_digit() {
        let unscaled = |text: &str, scale| Base100::from_text(text, 32, None).unwrap().unscaled(scale);
        assert_eq!(unscaled("123.45", 4), Some(1_234_500));
        assert_eq!(unscaled("-0.001", 3), Some(-1));
        assert_eq!(unscaled("0.5", 1), Some(5));
        assert_eq!(unscaled("0", 30), Some(0));
        assert_eq!(unscaled("99999999999999999999999999999999", 0), Some(10_i128.pow(32) - 1));
        assert_eq!(unscaled("0.12345", 4), None);
        assert_eq!(unscaled("1e125", 0), None);
    }

    #[test]
    fn units_are_their_text() {
        for units in [0, 1, -1, 9, 10, 99, 100, 12_345, -12_345, 1_000_000, 999_999_999_999_999, i64::MAX, i64::MIN] {
            for scale in 0..=18 {
                let digits = format!("{:0width$}", units.unsigned_abs(), width = usize::from(scale) + 1);
                let (whole, fraction) = digits.split_at(digits.len() - usize::from(scale));
                let text = format!("{}{whole}.{fraction}", if units < 0 { "-" } else { "" });
                assert_eq!(Ok(Base100::from_units(units, scale)), Base100::from_text(&text, 32, None), "{text}");
            }
        }
    }

    #[test]
    fn short_texts_are_read_as_long_ones() {
        let parts = ["", "0", "00", "7", "10", "99", "100", "12345", "999999999", "123456789012345678"];
        for (whole, fraction) in parts.iter().flat_map(|whole| parts.iter().map(move |fraction| (whole, fraction))) {
            for text in [format!("{whole}.{fraction}"), format!("-{whole}.{fraction}"), format!("-{whole}{fraction}")] {
                // A blank makes it one of those that are read at length.
                let long = format!(" {text}");
                for precision in [1, 2, 5, 9, 16, 18, 19, 32] {
                    for scale in [None, Some(0), Some(1), Some(2), Some(5), Some(16), Some(32)] {
                        let scale = scale.filter(|scale| *scale <= precision);
                        let read = |text| Base100::from_text(text, precision, scale);
                        assert_eq!(read(&text), read(&long), "{text} as ({precision}, {scale:?})");
                    }
                }
            }
        }
    }

    #[test]
    fn refuses_digits_beyond_99() {
        assert!(Base100::decode(&[0xc1, 100]).is_err());
        assert!(Base100::decode(&[0x3e, 0xff, 1]).is_err());
        assert!(Base100::decode(&[]).is_err());
        assert_eq!(Base100::decode(&[0]), Ok(None));
    }
}
