//! PostgreSQL's binary formats of ranges (flags, then the bounds that there are, each behind its length) and multiranges
//! (a count, then ranges, each behind its length).
//!
//! The bounds of built-in range types are read and written here; those of users' types by whoever knows the formats of all
//! types, and is asked for each of them.

use rowferry_wire::civil::DAYS_TO_2000;
use rowferry_wire::{Malformed, Reader};

use super::{Bound, Point, Range, Subtype, normalized};
use crate::values::datetime_text::{DAY, INFINITY, NEGATIVE_INFINITY};
use crate::values::{date, decimal, timestamp};
use crate::{Condition, Error, Result, work};

const EMPTY: u8 = 0x01;
const LOWER_INCLUSIVE: u8 = 0x02;
const UPPER_INCLUSIVE: u8 = 0x04;
const LOWER_INFINITE: u8 = 0x08;
const UPPER_INFINITE: u8 = 0x10;

/// Microseconds from 1970-01-01 to the day that PostgreSQL counts from.
const MICROS_TO_2000: i64 = DAYS_TO_2000 * DAY;

fn malformed(error: Malformed) -> Error {
    Error::new(Condition::InvalidBinaryRepresentation, format!("Cannot read: {}.", error.what))
}

/// Appends what `write` does behind its length.
fn sized(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>) -> Result<()>) -> Result<()> {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    write(out)?;
    let length = (out.len() - start - 4) as u32;
    out[start..start + 4].copy_from_slice(&length.to_be_bytes());
    Ok(())
}

/// The error for a bound of a user's type where only those of the built-in ones are known.
fn of_a_user() -> Error {
    Error::internal("the binary format of a user's range type")
}

fn send_point(out: &mut Vec<u8>, point: &Point, subtype: &Subtype) -> Result<()> {
    let number = match point {
        Point::Decimal(value) => {
            decimal::binary::send(out, value);
            return Ok(());
        }
        Point::Number(number) => *number,
        Point::Other(..) => return Err(of_a_user()),
    };
    let beyond = |_| Error::internal("a bound beyond its type");
    match subtype {
        Subtype::Int4 => out.extend_from_slice(&i32::try_from(number).map_err(beyond)?.to_be_bytes()),
        Subtype::Date => {
            let days = match number {
                INFINITY => i32::MAX,
                NEGATIVE_INFINITY => i32::MIN,
                days => i32::try_from(days - DAYS_TO_2000).map_err(beyond)?,
            };
            out.extend_from_slice(&days.to_be_bytes());
        }
        Subtype::Timestamp | Subtype::TimestampTz if number != INFINITY && number != NEGATIVE_INFINITY => {
            out.extend_from_slice(&(number - MICROS_TO_2000).to_be_bytes());
        }
        Subtype::Int8 | Subtype::Numeric | Subtype::Timestamp | Subtype::TimestampTz => {
            out.extend_from_slice(&number.to_be_bytes());
        }
        Subtype::Other(_) => return Err(of_a_user()),
    }
    Ok(())
}

fn receive_point(bytes: &[u8], subtype: &Subtype) -> Result<Point> {
    let mut reader = Reader::new(bytes);
    let reader = &mut reader;
    let point = match subtype {
        Subtype::Numeric => Point::Decimal(decimal::binary::receive(reader)?),
        Subtype::Int4 => Point::Number(reader.i32("int4").map_err(malformed)?.into()),
        Subtype::Int8 => Point::Number(reader.i64("int8").map_err(malformed)?),
        Subtype::Date => Point::Number(match reader.i32("date").map_err(malformed)? {
            i32::MAX => INFINITY,
            i32::MIN => NEGATIVE_INFINITY,
            days => date::check(i64::from(days) + DAYS_TO_2000)?,
        }),
        Subtype::Timestamp | Subtype::TimestampTz => {
            Point::Number(match reader.i64("timestamp").map_err(malformed)? {
                infinite @ (INFINITY | NEGATIVE_INFINITY) => infinite,
                micros => {
                    let micros = micros
                        .checked_add(MICROS_TO_2000)
                        .ok_or_else(|| Error::new(Condition::DatetimeFieldOverflow, "timestamp out of range"))?;
                    timestamp::check(micros)?
                }
            })
        }
        Subtype::Other(_) => return Err(of_a_user()),
    };
    reader.finish("bytes after a bound").map_err(malformed)?;
    Ok(point)
}

/// Appends a bound.
type SendPoint<'a> = &'a mut dyn FnMut(&mut Vec<u8>, &Point) -> Result<()>;

/// Reads a bound.
type ReceivePoint<'a> = &'a mut dyn FnMut(&[u8]) -> Result<Point>;

fn send_one(out: &mut Vec<u8>, range: &Range, point: SendPoint<'_>) -> Result<()> {
    let flag = |set: bool, flag: u8| if set { flag } else { 0 };
    out.push(
        flag(range.lower.inclusive, LOWER_INCLUSIVE)
            | flag(range.upper.inclusive, UPPER_INCLUSIVE)
            | flag(range.lower.point.is_none(), LOWER_INFINITE)
            | flag(range.upper.point.is_none(), UPPER_INFINITE),
    );
    for at in [&range.lower.point, &range.upper.point].into_iter().flatten() {
        sized(out, |out| point(out, at))?;
    }
    Ok(())
}

/// Appends a range or a multirange of a built-in type.
pub fn send(out: &mut Vec<u8>, ranges: &[Range], multirange: bool, subtype: &Subtype) -> Result<()> {
    send_with(out, ranges, multirange, &mut |out, point| send_point(out, point, subtype))
}

/// Appends a range or a multirange; `point` appends a bound.
///
/// # Errors
/// Those of `point`.
pub fn send_with(out: &mut Vec<u8>, ranges: &[Range], multirange: bool, point: SendPoint<'_>) -> Result<()> {
    if multirange {
        out.extend_from_slice(&(ranges.len() as u32).to_be_bytes());
        return ranges.iter().try_for_each(|range| sized(out, |out| send_one(out, range, point)));
    }
    match ranges.first() {
        Some(range) => send_one(out, range, point),
        None => {
            out.push(EMPTY);
            Ok(())
        }
    }
}

/// Reads a range of a built-in type.
pub fn receive_range(bytes: &[u8], subtype: &Subtype) -> Result<Vec<Range>> {
    receive_one(bytes, subtype, &mut |bytes| receive_point(bytes, subtype))
}

/// Reads a multirange of a built-in type.
pub fn receive_multirange(bytes: &[u8], subtype: &Subtype) -> Result<Vec<Range>> {
    receive_with(bytes, true, subtype, &mut |bytes| receive_point(bytes, subtype))
}

/// Reads a range or a multirange; `point` reads a bound.
///
/// # Errors
/// `22P03`, and those of `point`.
pub fn receive_with(bytes: &[u8], multirange: bool, subtype: &Subtype, point: ReceivePoint<'_>) -> Result<Vec<Range>> {
    if !multirange {
        return receive_one(bytes, subtype, point);
    }
    let mut reader = Reader::new(bytes);
    let count = reader.u32("number of ranges").map_err(malformed)?;
    let count = reader.fits(count as usize, 5, "ranges").map_err(malformed)?;
    let mut ranges = Vec::new();
    for _ in 0..count {
        let length = reader.u32("length of a range").map_err(malformed)?;
        let bytes = reader.take(length as usize, "range").map_err(malformed)?;
        work::step(size_of::<Range>())?;
        ranges.extend(receive_one(bytes, subtype, point)?);
    }
    reader.finish("bytes after the multirange").map_err(malformed)?;
    Ok(normalized(ranges))
}

fn receive_one(bytes: &[u8], subtype: &Subtype, point: ReceivePoint<'_>) -> Result<Vec<Range>> {
    let mut reader = Reader::new(bytes);
    let flags = reader.u8("range flags").map_err(malformed)?;
    let mut bound = |infinite: u8, inclusive: u8| -> Result<Bound> {
        if flags & (EMPTY | infinite) != 0 {
            return Ok(Bound::new(None, false));
        }
        let length = reader.u32("length of a range's bound").map_err(malformed)?;
        let bytes = reader.take(length as usize, "range bound").map_err(malformed)?;
        Ok(Bound::new(Some(point(bytes)?), flags & inclusive != 0))
    };
    let lower = bound(LOWER_INFINITE, LOWER_INCLUSIVE)?;
    let upper = bound(UPPER_INFINITE, UPPER_INCLUSIVE)?;
    reader.finish("bytes after the range").map_err(malformed)?;
    if flags & EMPTY != 0 { Ok(Vec::new()) } else { Ok(Range::new(subtype, lower, upper)?.into_iter().collect()) }
}
