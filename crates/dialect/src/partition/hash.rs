//! PostgreSQL's hash functions: `hashtext` and its kin, and where a row of a hash-partitioned table lies.
//!
//! They are the published lookup3 functions of Bob Jenkins with a seed, applied to each type's own bytes.

use crate::ir::Value;
use crate::values::{Decimal, date, time, timestamp, uuid};
use crate::{Error, Result, Type};

/// What PostgreSQL mixes into the hashes of partition keys.
const SEED: u64 = 0x7A5B_2236_7996_DCFD;
const START: u32 = 0x9e37_79b9;

/// True for a type whose hash is known.
pub fn is_hashed(ty: &Type) -> bool {
    matches!(
        ty.through_domains(),
        Type::Bool
            | Type::Int2
            | Type::Int4
            | Type::Int8
            | Type::Oid
            | Type::Float4
            | Type::Float8
            | Type::Numeric(_)
            | Type::Text
            | Type::Varchar(_)
            | Type::Char(_)
            | Type::Name
            | Type::Bytea
            | Type::Date
            | Type::Time(_)
            | Type::Timestamp(_)
            | Type::TimestampTz(_)
    ) || is_uuid(ty)
}

fn is_uuid(ty: &Type) -> bool {
    crate::postgres::types::oid(ty.through_domains()) == 2950
}

/// The hash of a key's values, of which the remainder says the partition.
///
/// # Errors
/// `0A000` for a type whose hash is not known; `XX001` for a stored value that does not have its type's form.
pub fn hash_of_row<'v>(keys: impl Iterator<Item = (&'v Value, &'v Type)>) -> Result<u64> {
    let mut row = 0_u64;
    for (value, ty) in keys {
        if !matches!(value, Value::Null) {
            row = combined(row, hash(value, ty.through_domains(), SEED)?);
        }
    }
    Ok(row)
}

fn combined(a: u64, b: u64) -> u64 {
    a ^ b.wrapping_add(0x49a0_f4dd_15e5_a8e3).wrapping_add(a << 54).wrapping_add(a >> 7)
}

/// The hash of a value: what PostgreSQL's extended hash function of its type returns for a seed; its lower half is, with
/// the seed 0, what the plain one returns.
///
/// # Errors
/// As [`hash_of_row`].
pub fn hash(value: &Value, ty: &Type, seed: u64) -> Result<u64> {
    Ok(match (ty, value) {
        (Type::Bool | Type::Int2 | Type::Int4 | Type::Oid, Value::Integer(number)) => of_word(seed, *number as u32),
        (Type::Int8, Value::Integer(number)) => of_long(seed, *number),
        (Type::Float4 | Type::Float8, value) => match value {
            Value::Real(number) => of_float(seed, *number),
            Value::Integer(number) => of_float(seed, *number as f64),
            // Infinities are numbers there; what is a text is NaN.
            _ => of_float(seed, f64::NAN),
        },
        (Type::Numeric(_), value) => of_decimal(seed, &Decimal::from_stored(value.as_ref())?)?,
        (Type::Text | Type::Varchar(_) | Type::Name, Value::Text(text)) => of_bytes(seed, text.as_bytes()),
        (Type::Char(_), Value::Text(text)) => of_bytes(seed, text.trim_end_matches(' ').as_bytes()),
        (Type::Bytea, Value::Blob(bytes)) => of_bytes(seed, bytes),
        (Type::Date, Value::Text(text)) => of_word(seed, (date::days(text.as_bytes())? - DAYS_TO_2000) as u32),
        (Type::Time(_), Value::Text(text)) => of_long(seed, time::micros(text.as_bytes())?),
        (Type::Timestamp(_) | Type::TimestampTz(_), Value::Text(text)) => {
            of_long(seed, since_2000(timestamp::micros(text.as_bytes())?))
        }
        (ty, Value::Text(text)) if is_uuid(ty) => of_bytes(seed, &uuid::bytes(text)?),
        (ty, _) => {
            let words = crate::postgres::types::words(ty);
            return Err(Error::unsupported(format!("the hash of a value of type {words}")));
        }
    })
}

/// 1970-01-01 to 2000-01-01.
const DAYS_TO_2000: i64 = 10_957;

/// Microseconds since 2000; infinities stay what they are.
fn since_2000(micros: i64) -> i64 {
    match micros {
        i64::MIN | i64::MAX => micros,
        micros => micros.wrapping_sub(DAYS_TO_2000 * 86_400_000_000),
    }
}

fn of_long(seed: u64, number: i64) -> u64 {
    let (low, high) = (number as u32, (number >> 32) as u32);
    of_word(seed, low ^ if number >= 0 { high } else { !high })
}

fn of_float(seed: u64, number: f64) -> u64 {
    if number == 0.0 {
        return seed;
    }
    let number = if number.is_nan() { f64::NAN } else { number };
    of_bytes(seed, &number.to_bits().to_le_bytes())
}

/// Digits to the base 10,000 without zeros at either end, and where the point stands.
fn of_decimal(seed: u64, number: &Decimal) -> Result<u64> {
    let Some(parts) = number.to_base10000() else {
        return if number.finite().is_none() {
            Ok(seed)
        } else {
            Err(Error::unsupported("the hash of a numeric of this size"))
        };
    };
    let first = parts.digits.iter().position(|digit| *digit != 0);
    let Some(first) = first else { return Ok(seed.wrapping_sub(1)) };
    let last = parts.digits.iter().rposition(|digit| *digit != 0).unwrap_or(first);
    let bytes: Vec<u8> = parts.digits[first..=last].iter().flat_map(|digit| digit.to_le_bytes()).collect();
    let weight = i64::from(parts.weight) - first as i64;
    Ok(of_bytes(seed, &bytes) ^ weight as u64)
}

/// The three words of the hash.
struct State {
    a: u32,
    b: u32,
    c: u32,
}

impl State {
    fn new(seed: u64, length: u32) -> Self {
        let start = START.wrapping_add(length).wrapping_add(3_923_095);
        let mut state = Self { a: start, b: start, c: start };
        if seed != 0 {
            state.a = state.a.wrapping_add((seed >> 32) as u32);
            state.b = state.b.wrapping_add(seed as u32);
            state.mix();
        }
        state
    }

    fn mix(&mut self) {
        let Self { a, b, c } = self;
        for (left, right, third, turn) in
            [(0, 2, 1, 4), (1, 0, 2, 6), (2, 1, 0, 8), (0, 2, 1, 16), (1, 0, 2, 19), (2, 1, 0, 4)]
        {
            let mut words = [*a, *b, *c];
            words[left] = words[left].wrapping_sub(words[right]) ^ words[right].rotate_left(turn);
            words[right] = words[right].wrapping_add(words[third]);
            [*a, *b, *c] = words;
        }
    }

    fn finish(mut self) -> u64 {
        let Self { a, b, c } = &mut self;
        *c = (*c ^ *b).wrapping_sub(b.rotate_left(14));
        *a = (*a ^ *c).wrapping_sub(c.rotate_left(11));
        *b = (*b ^ *a).wrapping_sub(a.rotate_left(25));
        *c = (*c ^ *b).wrapping_sub(b.rotate_left(16));
        *a = (*a ^ *c).wrapping_sub(c.rotate_left(4));
        *b = (*b ^ *a).wrapping_sub(a.rotate_left(14));
        *c = (*c ^ *b).wrapping_sub(b.rotate_left(24));
        u64::from(*b) << 32 | u64::from(*c)
    }
}

fn of_word(seed: u64, word: u32) -> u64 {
    let mut state = State::new(seed, 4);
    state.a = state.a.wrapping_add(word);
    state.finish()
}

fn of_bytes(seed: u64, bytes: &[u8]) -> u64 {
    let mut state = State::new(seed, bytes.len() as u32);
    let word = |bytes: &[u8], at: usize| {
        (0..4).fold(0_u32, |word, byte| word | u32::from(*bytes.get(at + byte).unwrap_or(&0)) << (8 * byte))
    };
    let mut whole = bytes.chunks_exact(12);
    for part in whole.by_ref() {
        state.a = state.a.wrapping_add(word(part, 0));
        state.b = state.b.wrapping_add(word(part, 4));
        state.c = state.c.wrapping_add(word(part, 8));
        state.mix();
    }
    let rest = whole.remainder();
    state.a = state.a.wrapping_add(word(rest, 0));
    state.b = state.b.wrapping_add(word(rest, 4));
    // The lowest byte of the third word is the length's.
    state.c = state.c.wrapping_add(word(rest, 8) << 8);
    state.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hashed(value: &Value, ty: &Type) -> i64 {
        hash(value, ty, SEED).unwrap() as i64
    }

    #[test]
    fn hashes_are_those_of_postgresql() {
        // `SELECT hashint4extended(1, 8816678312871386365)` and its kin.
        let text = |text: &str| Value::Text(text.to_owned());
        let uuid = crate::postgres::types::from_oid(2950).unwrap();
        let recorded = [
            (Value::Integer(1), Type::Int4, 5968994663651403477),
            (Value::Integer(-1), Type::Int4, -5017072347659237694),
            (Value::Integer(-1), Type::Int8, -5017072347659237694),
            (Value::Integer(-5_000_000_000), Type::Int8, -4482100988868492312),
            (text(""), Type::Text, -5700645584453517373),
            (text("abc"), Type::Text, 3628778498291917250),
            (text("abc  "), Type::Char(5), 3628778498291917250),
            (text("abcdefghijkl"), Type::Varchar(None), -7876791541613377658),
            (text("abcdefghijklmnopqrstuvwxyz"), Type::Text, -7171292135076916904),
            (text("1234567.0089"), Type::Numeric(None), -7287720263581723538),
            (text("0"), Type::Numeric(None), 8816678312871386364),
            (text("120000"), Type::Numeric(None), 932259317597961880),
            (text("-0.50"), Type::Numeric(None), 1392207227984804232),
            (Value::Real(1.5), Type::Float8, -2826383321045882978),
            (text("NaN"), Type::Float8, -6475869854796787835),
            (text("2020-01-02 03:04:05.678"), Type::Timestamp(None), 3704636783105729031),
            (text("03:04:05.678"), Type::Time(None), 2091735016739878599),
            (text("2020-01-02"), Type::Date, 3515149738037471712),
            (text("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"), uuid, 424513190990560493),
        ];
        for (value, ty, expected) in recorded {
            assert_eq!(hashed(&value, &ty), expected, "{value:?} as {ty:?}");
        }
    }
}
