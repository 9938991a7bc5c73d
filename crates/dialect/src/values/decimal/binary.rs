//! PostgreSQL's binary format of `numeric`: four words, then digits of base 10,000.

use rowferry_wire::{Malformed, Reader};

use super::{Base10000, Decimal};
use crate::{Condition, Error, Result};

/// The sign words.
pub(super) const POSITIVE: u16 = 0x0000;
pub(super) const NEGATIVE: u16 = 0x4000;
const NAN: u16 = 0xc000;
const INFINITY: u16 = 0xd000;
const NEGATIVE_INFINITY: u16 = 0xf000;

/// Appends a decimal.
pub fn send(out: &mut Vec<u8>, value: &Decimal) {
    let mut words = |digits: u16, weight: i16, sign: u16, scale: u16| {
        for word in [digits, weight as u16, sign, scale] {
            out.extend_from_slice(&word.to_be_bytes());
        }
    };
    // PostgreSQL tells the bits of an infinity's sign for digits behind the point, too.
    let (special, scale) = match value {
        Decimal::NaN => (NAN, 0),
        Decimal::Infinity => (INFINITY, 0x20),
        Decimal::NegativeInfinity => (NEGATIVE_INFINITY, 0x20),
        Decimal::Finite(_) => (POSITIVE, 0),
    };
    match value.to_base10000() {
        Some(parts) => {
            let sign = if parts.negative { NEGATIVE } else { POSITIVE };
            words(parts.digits.len() as u16, parts.weight, sign, parts.scale);
            for digit in parts.digits {
                out.extend_from_slice(&digit.to_be_bytes());
            }
        }
        None => words(0, 0, special, scale),
    }
}

/// Reads a decimal.
///
/// # Errors
/// `22P03`
pub fn receive(reader: &mut Reader<'_>) -> Result<Decimal> {
    let malformed =
        |error: Malformed| Error::new(Condition::InvalidBinaryRepresentation, format!("Cannot read: {}.", error.what));
    let count = usize::from(reader.u16("numeric digits").map_err(malformed)?);
    let weight = reader.i16("numeric weight").map_err(malformed)?;
    let sign = reader.u16("numeric sign").map_err(malformed)?;
    let scale = reader.u16("numeric scale").map_err(malformed)?;
    reader.fits(count, 2, "numeric digits").map_err(malformed)?;
    let digits = (0..count)
        .map(|_| reader.i16("numeric digit"))
        .collect::<std::result::Result<Vec<_>, _>>()
        .map_err(malformed)?;
    match sign {
        POSITIVE | NEGATIVE => {
            Decimal::from_base10000(&Base10000 { weight, negative: sign == NEGATIVE, scale, digits })
        }
        NAN => Ok(Decimal::NaN),
        INFINITY => Ok(Decimal::Infinity),
        NEGATIVE_INFINITY => Ok(Decimal::NegativeInfinity),
        _ => Err(Error::new(Condition::InvalidBinaryRepresentation, "invalid sign in external \"numeric\" value")),
    }
}
