//! Bit strings, as their digits.

use rowferry_dialect::ir::Value;
use rowferry_dialect::scalar::bits::digits;
use rowferry_dialect::{Condition, Error, Result, work};

use super::call::{integer, text};
use super::{Call, Row};

pub(super) const ROWS: &[Row] = &[
    Row::new("rf_bits_count", 1, |call| {
        let mut count = 0;
        for chunk in bits(call, 0)?.as_bytes().chunks(work::STRIDE) {
            work::step(chunk.len())?;
            count += chunk.iter().filter(|bit| **bit == b'1').count() as i64;
        }
        integer(count)
    }),
    Row::new("rf_bits_get", 2, |call| {
        let bits = bits(call, 0)?.as_bytes();
        integer(i64::from(bits[place(call, bits)?] == b'1'))
    }),
    Row::new("rf_bits_set", 3, set),
    Row::new("rf_bits_overlay", 3, overlay).optional(1),
    Row::new("rf_bits_position", 2, |call| {
        let (all, part) = (bits(call, 0)?, bits(call, 1)?);
        if all.is_empty() {
            return integer(0);
        }
        work::step(all.len())?;
        integer(all.find(part).map_or(0, |at| at as i64 + 1))
    }),
    Row::new("rf_bits_substring", 2, |call| {
        let length = if call.len() > 2 { Some(call.integer(2)?) } else { None };
        text(substring(bits(call, 0)?, call.integer(1)?, length)?)
    })
    .optional(1),
    Row::new("rf_bits_and", 2, |call| combine(call, "AND", |a, b| a & b)),
    Row::new("rf_bits_or", 2, |call| combine(call, "OR", |a, b| a | b)),
    Row::new("rf_bits_xor", 2, |call| combine(call, "XOR", |a, b| a ^ b)),
    Row::new("rf_bits_not", 1, |call| {
        let bits = bits(call, 0)?;
        let mut out = work::text(bits.len())?;
        for chunk in bits.as_bytes().chunks(work::STRIDE) {
            work::step(chunk.len())?;
            out.extend(chunk.iter().map(|bit| if *bit == b'1' { '0' } else { '1' }));
        }
        text(out)
    }),
    Row::new("rf_bits_shift_left", 2, |call| shift(bits(call, 0)?, call.integer(1)?)),
    Row::new("rf_bits_shift_right", 2, |call| shift(bits(call, 0)?, call.integer(1)?.saturating_neg())),
];

/// The digits of an argument.
fn bits<'a>(call: &'a Call<'_>, argument: usize) -> Result<&'a str> {
    digits(call.bytes(argument)?)
}

/// The place of a bit that the second argument numbers from 0.
fn place(call: &Call<'_>, bits: &[u8]) -> Result<usize> {
    let at = call.integer(1)?;
    usize::try_from(at).ok().filter(|at| *at < bits.len()).ok_or_else(|| {
        let last = bits.len() as i64 - 1;
        Error::new(Condition::ArraySubscriptError, format!("bit index {at} out of valid range (0..{last})"))
    })
}

fn set(call: &Call<'_>) -> Result<Value> {
    let bits = bits(call, 0)?;
    let at = place(call, bits.as_bytes())?;
    let new = match call.integer(2)? {
        0 => '0',
        1 => '1',
        _ => return Err(Error::new(Condition::InvalidParameterValue, "new bit must be 0 or 1")),
    };
    let mut out = work::text(bits.len())?;
    out.push_str(&bits[..at]);
    out.push(new);
    out.push_str(&bits[at + 1..]);
    text(out)
}

fn substring(bits: &str, from: i64, length: Option<i64>) -> Result<String> {
    let end = match length {
        Some(length) if length < 0 => {
            return Err(Error::new(Condition::SubstringError, "negative substring length not allowed"));
        }
        Some(length) => from.saturating_add(length),
        None => i64::MAX,
    };
    let clamp = |place: i64| usize::try_from(place.saturating_sub(1)).unwrap_or(0).min(bits.len());
    let (start, end) = (clamp(from), clamp(end.max(1)));
    let mut out = work::text(end.saturating_sub(start))?;
    out.push_str(bits.get(start..end).unwrap_or(""));
    Ok(out)
}

fn overlay(call: &Call<'_>) -> Result<Value> {
    let (bits, new, from) = (bits(call, 0)?, bits(call, 1)?, call.integer(2)?);
    let length = if call.len() > 3 { call.integer(3)? } else { new.len() as i64 };
    if from <= 0 {
        return Err(Error::new(Condition::SubstringError, "negative substring length not allowed"));
    }
    let mut out = substring(bits, 1, Some(from.saturating_sub(1)))?;
    work::reserve_text(&mut out, new.len() + bits.len())?;
    out.push_str(new);
    out.push_str(&substring(bits, from.saturating_add(length), None)?);
    text(out)
}

fn combine(call: &Call<'_>, what: &str, operation: fn(u8, u8) -> u8) -> Result<Value> {
    let (left, right) = (bits(call, 0)?.as_bytes(), bits(call, 1)?.as_bytes());
    work::step(left.len().max(right.len()))?;
    if left.len() != right.len() {
        let message = format!("cannot {what} bit strings of different sizes");
        return Err(Error::new(Condition::StringDataLengthMismatch, message));
    }
    let mut out = work::text(left.len())?;
    for (left, right) in left.chunks(work::STRIDE).zip(right.chunks(work::STRIDE)) {
        work::step(left.len())?;
        let bits = left.iter().zip(right).map(|(a, b)| operation(a & 1, b & 1));
        out.extend(bits.map(|bit| char::from(b'0' + bit)));
    }
    text(out)
}

/// Bits moved to the left, or to the right; their number stays.
fn shift(bits: &str, by: i64) -> Result<Value> {
    let gap = usize::try_from(by.unsigned_abs()).unwrap_or(usize::MAX).min(bits.len());
    let mut out = work::text(bits.len())?;
    work::step(bits.len())?;
    let zeros = std::iter::repeat_n('0', gap);
    if by >= 0 {
        out.push_str(&bits[gap..]);
        out.extend(zeros);
    } else {
        out.extend(zeros);
        out.push_str(&bits[..bits.len() - gap]);
    }
    text(out)
}
