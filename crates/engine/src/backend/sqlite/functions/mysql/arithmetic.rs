//! Operators: division, remainders, bits, patterns.

use rowferry_dialect::ir::Value;
use rowferry_dialect::values::mysql::{folded, numbers, unsigned as wide};
use rowferry_dialect::values::{Decimal, ValueRef, misfit};
use rowferry_dialect::{Condition, Error, Result, Type, work};

use super::super::Row;
use super::super::call::{boolean, integer};
use super::fitting::{by_zero, nearest};
use super::{finite, number, out_of_range, unsigned};

pub(in super::super) const ROWS: &[Row] = &[
    Row::new("rf_mysql_divide", 2, |call| {
        let (left, right) = (call.decimal(0)?, call.decimal(1)?);
        if right.signum() == 0 { by_zero(call) } else { number(&kept_quotient(&left, &right)?) }
    }),
    Row::new("rf_mysql_rounded_divide", 2, |call| {
        let (left, right) = (call.decimal(0)?, call.decimal(1)?);
        if right.signum() == 0 { by_zero(call) } else { number(&quotient(&left, &right, scale(&left) + 4)?) }
    }),
    Row::new("rf_mysql_not_zero", 1, |call| {
        let is_zero = match call.value(0) {
            ValueRef::Integer(value) => value == 0,
            ValueRef::Real(value) => value == 0.0,
            _ => call.decimal(0)?.signum() == 0,
        };
        if is_zero { Err(Error::new(Condition::DivisionByZero, "Division by 0")) } else { Ok(call.owned(0)) }
    }),
    Row::new("rf_mysql_nearest", 3, |call| {
        let (digits, behind) = (call.integer(1)?, call.integer(2)?);
        number(&nearest(&call.decimal(0)?.rounded(behind), digits, behind)?.0)
    }),
    Row::new("rf_mysql_unsigned", 1, |call| {
        let value = call.decimal(0)?;
        if value.signum() < 0 || value.compare(&Decimal::parse("18446744073709551615")?).is_gt() {
            return Err(out_of_range("BIGINT UNSIGNED", &value.to_string()));
        }
        number(&value)
    }),
    Row::new("rf_mysql_wide_number", 1, |call| match call.value(0) {
        ValueRef::Blob(bytes) if let Some(number) = wide::of_bytes(bytes) => unsigned(number),
        _ => number(&call.decimal(0)?),
    }),
    // What is none meets the check of its column's type.
    Row::new("rf_mysql_wide", 1, |call| {
        Ok(wide::of_decimal(&call.decimal(0)?).map_or(Value::Integer(-1), wide::stored))
    }),
    Row::new("rf_narrow", 1, |call| match call.value(0) {
        value @ ValueRef::Blob(_) => Err(misfit(value, &Type::Int8)),
        _ => Ok(call.owned(0)),
    }),
    Row::new("rf_mysql_beside_wide", 1, |call| Ok(wide::beside(call.value(0)))),
    Row::new("rf_mysql_divide_double", 2, |call| match (call.float(0)?, call.float(1)?) {
        (_, 0.0) => by_zero(call),
        (left, right) => finite(left / right, &format!("({left} / {right})")),
    }),
    Row::new("rf_mysql_integer_divide", 2, |call| {
        let (left, right) = (call.decimal(0)?, call.decimal(1)?);
        if right.signum() == 0 {
            return by_zero(call);
        }
        let whole = left.div_truncated(&right)?.small().and_then(|(whole, _)| i64::try_from(whole).ok());
        whole.map_or_else(|| Err(out_of_range("BIGINT", &format!("({left} DIV {right})"))), integer)
    }),
    Row::new("rf_mysql_modulo", 2, |call| {
        let (left, right) = (call.decimal(0)?, call.decimal(1)?);
        if right.signum() == 0 { by_zero(call) } else { number(&left.rem(&right)?) }
    }),
    Row::new("rf_mysql_modulo_integer", 2, |call| match (call.integer(0)?, call.integer(1)?) {
        (_, 0) => by_zero(call),
        (left, right) => integer(left.wrapping_rem(right)),
    }),
    Row::new("rf_mysql_modulo_double", 2, |call| match (call.float(0)?, call.float(1)?) {
        (_, 0.0) => by_zero(call),
        (left, right) => Ok(Value::Real(left % right)),
    }),
    // The sign is that of the operation.
    Row::new("rf_mysql_bits", 3, |call| {
        let (left, right) = (bits_of(call.value(1))?, bits_of(call.value(2))?);
        unsigned(match call.text(0)? {
            "&" => left & right,
            "|" => left | right,
            "^" => left ^ right,
            "<<" => {
                if right < 64 {
                    left << right
                } else {
                    0
                }
            }
            _ => {
                if right < 64 {
                    left >> right
                } else {
                    0
                }
            }
        })
    }),
    Row::new("rf_mysql_bit_not", 1, |call| unsigned(!bits_of(call.value(0))?)),
    Row::new("rf_mysql_bit_count", 1, |call| integer(bits_of(call.value(0))?.count_ones())),
    // Strings of bytes of one length.
    Row::new("rf_mysql_bits_of_bytes", 3, |call| {
        let (left, right) = (call.bytes(1)?, call.bytes(2)?);
        if left.len() != right.len() {
            let message = "Binary operands of bitwise operators must be of equal length";
            return Err(Error::new(Condition::StringDataLengthMismatch, message).with_mysql(3513, "HY000"));
        }
        let op: fn(u8, u8) -> u8 = match call.text(0)? {
            "&" => |a, b| a & b,
            "|" => |a, b| a | b,
            _ => |a, b| a ^ b,
        };
        Ok(Value::Blob(left.iter().zip(right).map(|(a, b)| op(*a, *b)).collect()))
    }),
    // (bytes, bits, to the left)
    Row::new("rf_mysql_shifted_bytes", 3, |call| {
        let (bytes, bits, left) = (call.bytes(0)?, bits_of(call.value(1))?, call.integer(2)? != 0);
        Ok(Value::Blob(shifted(bytes, bits, left)))
    }),
    Row::new("rf_mysql_bytes_not", 1, |call| Ok(Value::Blob(call.bytes(0)?.iter().map(|byte| !byte).collect()))),
    Row::new("rf_mysql_bytes_bit_count", 1, |call| {
        integer(call.bytes(0)?.iter().map(|byte| i64::from(byte.count_ones())).sum::<i64>())
    }),
    // (text, pattern, escape)
    Row::new("rf_mysql_like", 3, |call| {
        let pattern = call.prepared(1, || Pattern::read(call.text(1)?, call.text(2)?, true))?;
        boolean(pattern.matches(call.text(0)?)?)
    }),
    Row::new("rf_mysql_like_binary", 3, |call| {
        let pattern = call.prepared(1, || Pattern::read(call.text(1)?, call.text(2)?, false))?;
        boolean(pattern.matches(call.text(0)?)?)
    }),
];

/// Digits behind the point.
pub(super) fn scale(value: &Decimal) -> i64 {
    value.finite().map_or(0, |number| i64::from(number.scale()))
}

/// A quotient as MySQL works with it: cut off behind so many groups of nine digits as it takes to show four digits more
/// than the dividend has.
pub(super) fn kept_quotient(left: &Decimal, right: &Decimal) -> Result<Decimal> {
    let groups = |digits: i64| (digits + 8) / 9 * 9;
    let (of_left, of_right) = (scale(left), scale(right));
    let (left_groups, right_groups) = (groups(of_left), groups(of_right));
    let more = (4 - (left_groups - of_left) - (right_groups - of_right)).max(0);
    let digits = u32::try_from(groups(left_groups + right_groups + more)).unwrap_or(0);
    let whole = left.mul(&Decimal::parse(&format!("1e{digits}"))?)?.div_truncated(right)?;
    whole.mul(&Decimal::from_parts(1, digits))
}

/// A quotient with so many digits behind the point, the most of MySQL being 30.
pub(super) fn quotient(left: &Decimal, right: &Decimal, scale: i64) -> Result<Decimal> {
    let scale = scale.clamp(0, 30);
    // One digit more decides how it is rounded.
    let digits = u32::try_from(scale + 1).unwrap_or(0);
    let whole = left.mul(&Decimal::parse(&format!("1e{digits}"))?)?.div_truncated(right)?;
    Ok(whole.mul(&Decimal::from_parts(1, digits))?.rounded(scale))
}

/// Bytes as one number, shifted by some bits; there are as many as before.
fn shifted(bytes: &[u8], bits: u64, left: bool) -> Vec<u8> {
    let whole = usize::try_from(bits / 8).unwrap_or(usize::MAX);
    let rest = (bits % 8) as u32;
    let at = |place: Option<usize>| place.and_then(|place| bytes.get(place)).copied().unwrap_or(0);
    let one = |place: usize| match left {
        true => {
            let from = place.checked_add(whole);
            let next = from.and_then(|from| from.checked_add(1));
            at(from) << rest | at(next).checked_shr(8 - rest).unwrap_or(0)
        }
        false => {
            let from = place.checked_sub(whole);
            let before = from.and_then(|from| from.checked_sub(1));
            at(from) >> rest | at(before).checked_shl(8 - rest).unwrap_or(0)
        }
    };
    (0..bytes.len()).map(one).collect()
}

/// The 64 bits of any value.
pub(super) fn bits_of(value: ValueRef<'_>) -> Result<u64> {
    Ok(match value {
        ValueRef::Null => 0,
        ValueRef::Integer(value) => value as u64,
        ValueRef::Real(value) if value < 0.0 => numbers::integer_of_double(value) as u64,
        ValueRef::Real(value) => value.round_ties_even() as u64,
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
            let text = String::from_utf8_lossy(bytes);
            let prefix = numbers::prefix(&text);
            // A decimal is rounded; a text that is a number, too.
            if prefix.contains(['e', 'E']) {
                return bits_of(ValueRef::Real(numbers::double_of_text(prefix)));
            }
            let whole = numbers::integer_of_decimal(&numbers::decimal_of_text(prefix));
            if whole < 0 {
                i64::try_from(whole).unwrap_or(i64::MIN) as u64
            } else {
                u64::try_from(whole).unwrap_or(u64::MAX)
            }
        }
    })
}

/// A pattern of LIKE.
#[derive(Clone)]
pub(super) struct Pattern {
    parts: Vec<Part>,
    folds: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum Part {
    /// This character.
    Is(char),
    /// `_`
    Any,
    /// `%`
    Many,
}

impl Pattern {
    pub(super) fn read(pattern: &str, escape: &str, folds: bool) -> Result<Self> {
        let mut escapes = escape.chars();
        let escape = escapes.next();
        if escapes.next().is_some() {
            return Err(Error::new(Condition::InvalidEscapeSequence, "Incorrect arguments to ESCAPE"));
        }
        let mut parts = Vec::new();
        let mut letters = pattern.chars();
        while let Some(letter) = letters.next() {
            match letter {
                letter if Some(letter) == escape => plain(letters.next().unwrap_or(letter), folds, &mut parts),
                '%' if parts.last() == Some(&Part::Many) => {}
                '%' => parts.push(Part::Many),
                '_' => parts.push(Part::Any),
                letter => plain(letter, folds, &mut parts),
            }
        }
        Ok(Self { parts, folds })
    }

    pub(super) fn matches(&self, text: &str) -> Result<bool> {
        let text: Vec<char> = if self.folds { single_folds(text) } else { text.chars().collect() };
        let (mut at, mut part) = (0, 0);
        let mut back = None;
        let mut steps = 0;
        loop {
            steps += 1;
            if steps % 4_096 == 0 {
                work::step(4_096)?;
            }
            match self.parts.get(part) {
                Some(Part::Many) => {
                    back = Some((part + 1, at));
                    part += 1;
                    continue;
                }
                Some(Part::Any) if at < text.len() => {
                    (at, part) = (at + 1, part + 1);
                    continue;
                }
                Some(Part::Is(letter)) if text.get(at) == Some(letter) => {
                    (at, part) = (at + 1, part + 1);
                    continue;
                }
                None if at == text.len() => return Ok(true),
                _ => {}
            }
            match back {
                Some((from, start)) if start < text.len() => {
                    back = Some((from, start + 1));
                    (part, at) = (from, start + 1);
                }
                _ => return Ok(false),
            }
        }
    }
}

fn plain(letter: char, folds: bool, parts: &mut Vec<Part>) {
    parts.push(Part::Is(if folds { single_fold(letter) } else { letter }));
}

/// A character as it is compared, where one stands for one.
pub(super) fn single_fold(letter: char) -> char {
    if letter.is_ascii() {
        return letter.to_ascii_lowercase();
    }
    let mut found = Vec::new();
    folded(letter, &mut found);
    match found.as_slice() {
        [single] => *single,
        _ => letter,
    }
}

/// A text's characters as they are compared, as many as there are.
pub(super) fn single_folds(text: &str) -> Vec<char> {
    text.chars().map(single_fold).collect()
}
