//! Parts of bytes: their bits, patterns, what is trimmed and laid over.

use rowferry_dialect::ir::Value;
use rowferry_dialect::{Condition, Error, Result, partition, postgres, work};

use super::call::{boolean, integer};
use super::{Call, Row};

pub(super) const ROWS: &[Row] = &[
    Row::new("rf_hash", 2, hash).optional(1),
    Row::new("rf_get_byte", 2, |call| {
        let (bytes, at) = (call.bytes(0)?, call.integer(1)?);
        integer(bytes[place(at, bytes.len())?])
    }),
    Row::new("rf_set_byte", 3, |call| {
        let (mut bytes, at) = (call.bytes(0)?.to_vec(), call.integer(1)?);
        let place = place(at, bytes.len())?;
        bytes[place] = call.integer(2)? as u8;
        Ok(Value::Blob(bytes))
    }),
    Row::new("rf_bytea_get_bit", 2, |call| {
        let (bytes, at) = (call.bytes(0)?, call.integer(1)?);
        let place = place(at, bytes.len().saturating_mul(8))?;
        integer(bytes[place / 8] >> (place % 8) & 1)
    }),
    Row::new("rf_bytea_set_bit", 3, set_bit),
    Row::new("rf_bytea_bit_count", 1, |call| {
        integer(call.bytes(0)?.iter().map(|byte| i64::from(byte.count_ones())).sum::<i64>())
    }),
    Row::new("rf_bytea_overlay", 3, overlay).optional(1),
    Row::new("rf_bytea_trim", 3, trim),
    Row::new("rf_bytea_like", 2, like).optional(1),
];

/// The hash of a value of a type, whose object id follows it: of 32 bits, or with a seed of 64.
fn hash(call: &Call<'_>) -> Result<Value> {
    let oid = call.integer(1)? as u32;
    let ty = postgres::types::from_oid(oid).ok_or_else(|| Error::internal("a hash of no type"))?;
    let value = call.owned(0);
    match call.given(2) {
        None => integer(i64::from(partition::hash(&value, &ty, 0)? as i32)),
        Some(_) => integer(partition::hash(&value, &ty, call.integer(2)? as u64)? as i64),
    }
}

/// An index as a place among so many.
fn place(at: i64, count: usize) -> Result<usize> {
    usize::try_from(at).ok().filter(|place| *place < count).ok_or_else(|| {
        let message = format!("index {at} out of valid range, 0..{}", count as i64 - 1);
        Error::new(Condition::IllegalSubscript, message)
    })
}

fn set_bit(call: &Call<'_>) -> Result<Value> {
    let (mut bytes, at) = (call.bytes(0)?.to_vec(), call.integer(1)?);
    let place = place(at, bytes.len().saturating_mul(8))?;
    let mask = 1 << (place % 8);
    match call.integer(2)? {
        0 => bytes[place / 8] &= !mask,
        1 => bytes[place / 8] |= mask,
        _ => return Err(Error::new(Condition::InvalidParameterValue, "new bit must be 0 or 1")),
    }
    Ok(Value::Blob(bytes))
}

/// `overlay(all placing with from start[ for count])`
fn overlay(call: &Call<'_>) -> Result<Value> {
    let (all, with, start) = (call.bytes(0)?, call.bytes(1)?, call.integer(2)?);
    if start < 1 {
        return Err(Error::new(Condition::SubstringError, "negative substring length not allowed"));
    }
    let count = if call.len() > 3 { call.integer(3)? } else { with.len() as i64 };
    let place = |at: i64| usize::try_from(at.max(0)).unwrap_or(usize::MAX).min(all.len());
    let (head, tail) = (&all[..place(start - 1)], &all[place((start - 1).saturating_add(count))..]);
    let mut out = work::bytes(head.len() + with.len() + tail.len())?;
    for part in [head, with, tail] {
        out.extend_from_slice(part);
    }
    Ok(Value::Blob(out))
}

/// Bytes without some others at their ends: 1 is the beginning, 2 the end, 3 both.
fn trim(call: &Call<'_>) -> Result<Value> {
    let (mut all, others, ends) = (call.bytes(0)?, call.bytes(1)?, call.integer(2)?);
    let mut is_other = [false; 256];
    for byte in others {
        work::step(1)?;
        is_other[usize::from(*byte)] = true;
    }
    if ends & 1 != 0 {
        while let [first, rest @ ..] = all
            && is_other[usize::from(*first)]
        {
            work::step(1)?;
            all = rest;
        }
    }
    if ends & 2 != 0 {
        while let [rest @ .., last] = all
            && is_other[usize::from(*last)]
        {
            work::step(1)?;
            all = rest;
        }
    }
    Ok(Value::Blob(all.to_vec()))
}

/// LIKE on bytes.
fn like(call: &Call<'_>) -> Result<Value> {
    let escape = match call.len() {
        2 => Some(b'\\'),
        _ => match call.bytes(2)? {
            [] => None,
            [escape] => Some(*escape),
            _ => {
                return Err(Error::new(Condition::InvalidEscapeSequence, "invalid escape string")
                    .hint("Escape string must be empty or one character."));
            }
        },
    };
    let (subject, pattern) = (call.bytes(0)?, call.bytes(1)?);
    // Where to go on when what follows the last `%` does not match: one byte farther in the subject.
    let mut again: Option<(usize, usize)> = None;
    let (mut at, mut next) = (0, 0);
    loop {
        work::step(1)?;
        let (wanted, width) = match pattern.get(next) {
            Some(b'%') if escape != Some(b'%') => {
                again = Some((at, next + 1));
                next += 1;
                continue;
            }
            Some(byte) if Some(*byte) == escape => match pattern.get(next + 1) {
                Some(escaped) => (Some(Some(*escaped)), 2),
                None => {
                    let message = "LIKE pattern must not end with escape character";
                    return Err(Error::new(Condition::InvalidEscapeSequence, message));
                }
            },
            Some(b'_') => (Some(None), 1),
            Some(byte) => (Some(Some(*byte)), 1),
            None => (None, 0),
        };
        let fits = match (wanted, subject.get(at)) {
            (None, None) => return boolean(true),
            (Some(None), Some(_)) => true,
            (Some(Some(wanted)), Some(byte)) => wanted == *byte,
            _ => false,
        };
        if fits {
            (at, next) = (at + 1, next + width);
            continue;
        }
        let Some((from, behind)) = again.filter(|(from, _)| *from < subject.len()) else { return boolean(false) };
        again = Some((from + 1, behind));
        (at, next) = (from + 1, behind);
    }
}
