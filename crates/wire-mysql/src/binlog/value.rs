//! Cells of row events. Storage engines wrote them: the forms differ from both protocols of a client.

use rowferry_wire::{Malformed, Reader};

use super::compressed;
use super::table::{BLOB_COMPRESSED, Column, VARCHAR_COMPRESSED};
use crate::messages::resultset::{DateTime, Time};
use crate::types::{CHARSET_BINARY, ColumnType};

/// An exact number, spelled as the server does. 65 digits, sign, point and a leading zero fit.
#[derive(Clone, Copy, Eq, PartialEq)]
pub struct Decimal {
    text: [u8; Self::ROOM],
    len: u8,
}

impl std::fmt::Debug for Decimal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&String::from_utf8_lossy(self.as_bytes()))
    }
}

/// Bytes that so many digits take, when they are not nine.
const DIGIT_BYTES: [usize; 10] = [0, 1, 1, 2, 2, 3, 3, 4, 4, 4];

impl Decimal {
    const ROOM: usize = 80;

    /// The spelling.
    pub fn as_bytes(&self) -> &[u8] {
        &self.text[..usize::from(self.len)]
    }

    /// Bytes of a number with so many digits, of which so many behind the point; `None` when there is no such type.
    pub const fn width(precision: u8, scale: u8) -> Option<usize> {
        if precision == 0 || precision > 65 || scale > precision {
            return None;
        }
        let whole = (precision - scale) as usize;
        let scale = scale as usize;
        Some(whole / 9 * 4 + DIGIT_BYTES[whole % 9] + scale / 9 * 4 + DIGIT_BYTES[scale % 9])
    }

    /// Reads a number of `precision` digits, of which `scale` stand behind the point.
    ///
    /// Wire: groups of nine digits as `u32` from the point outwards, the first and the last group in fewer bytes; all
    /// big endian, inverted below zero, the highest bit inverted always.
    pub fn decode(reader: &mut Reader<'_>, precision: u8, scale: u8) -> Result<Self, Malformed> {
        let width = Self::width(precision, scale).ok_or(Malformed::new("precision of a decimal"))?;
        let raw = reader.take(width, "decimal")?;
        let negative = raw.first().is_some_and(|first| first & 0x80 == 0);
        let mask = if negative { 0xff } else { 0 };
        let mut bytes = [0_u8; 32];
        for (to, from) in bytes.iter_mut().zip(raw) {
            *to = from ^ mask;
        }
        bytes[0] ^= 0x80;
        let mut number = Self { text: [0; Self::ROOM], len: 0 };
        if negative {
            number.push(b'-');
        }
        let mut groups = Reader::new(&bytes[..width]);
        let (whole, scale) = (usize::from(precision - scale), usize::from(scale));
        let mut begun = false;
        let sizes = std::iter::once(whole % 9).chain(std::iter::repeat_n(9, whole / 9));
        for digits in sizes.filter(|digits| *digits > 0) {
            let group = read_group(&mut groups, digits)?;
            if begun {
                number.push_digits(group, digits);
            } else if group > 0 {
                begun = true;
                number.push_digits(group, group.ilog10() as usize + 1);
            }
        }
        if !begun {
            number.push(b'0');
        }
        if scale > 0 {
            number.push(b'.');
            for digits in std::iter::repeat_n(9, scale / 9).chain(std::iter::once(scale % 9)).filter(|count| *count > 0)
            {
                let group = read_group(&mut groups, digits)?;
                number.push_digits(group, digits);
            }
        }
        Ok(number)
    }

    fn push(&mut self, byte: u8) {
        if let Some(place) = self.text.get_mut(usize::from(self.len)) {
            *place = byte;
            self.len += 1;
        }
    }

    fn push_digits(&mut self, mut group: u32, digits: usize) {
        let mut text = [b'0'; 9];
        for place in text.iter_mut().rev() {
            *place = b'0' + (group % 10) as u8;
            group /= 10;
        }
        text[9 - digits.min(9)..].iter().for_each(|digit| self.push(*digit));
    }
}

fn read_group(reader: &mut Reader<'_>, digits: usize) -> Result<u32, Malformed> {
    let bytes = reader.take(DIGIT_BYTES[digits], "decimal")?;
    let group = bytes.iter().fold(0_u32, |value, byte| value << 8 | u32::from(*byte));
    // More than its digits can say is no number.
    if group < 10_u32.pow(digits as u32) { Ok(group) } else { Err(Malformed::new("digits of a decimal")) }
}

/// How a column's cells are laid out: resolved once for each table map.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[allow(missing_docs, reason = "each is the type of its name")]
pub enum Layout {
    /// Bytes, and whether there is no sign.
    Int {
        width: u8,
        is_unsigned: bool,
    },
    Float,
    Double,
    Decimal {
        precision: u8,
        scale: u8,
    },
    Year,
    Date,
    /// `HHMMSS` in 3 bytes, before MySQL 5.6.4.
    OldTime,
    /// `YYYYMMDDHHMMSS` in 8 bytes, before MySQL 5.6.4.
    OldDateTime,
    /// Seconds in 4 bytes, before MySQL 5.6.4.
    OldTimestamp,
    /// With so many digits of a fraction.
    Time {
        decimals: u8,
    },
    DateTime {
        decimals: u8,
    },
    Timestamp {
        decimals: u8,
    },
    /// So many bytes.
    Bit {
        width: u8,
    },
    Enum {
        width: u8,
    },
    Set {
        width: u8,
    },
    /// A length of so many bytes in front.
    Bytes {
        length_width: u8,
    },
    /// The same with zeros cut off from the end: BINARY.
    Padded {
        length_width: u8,
        size: u16,
    },
    /// The same, compressed.
    Compressed {
        length_width: u8,
    },
    Json {
        length_width: u8,
    },
    Null,
}

/// A cell.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs, reason = "each is the type of its name")]
pub enum Value<'a> {
    Int(i64),
    Unsigned(u64),
    Float(f32),
    Double(f64),
    Decimal(Decimal),
    Year(u16),
    Date(DateTime),
    DateTime(DateTime, u8),
    /// Seconds since 1970 in UTC (0 and no microseconds: the zero date), microseconds, digits of the fraction.
    Timestamp(u32, u32, u8),
    Time(Time),
    /// The most significant byte first.
    Bits(&'a [u8]),
    /// The member's number from 1; 0 for the empty text of invalid values.
    Enum(u16),
    /// A bit for each member, the first lowest.
    Set(u64),
    Bytes(&'a [u8]),
    /// Zeros are to be added up to this size.
    Padded(&'a [u8], usize),
    /// To be expanded by [`expand`].
    Compressed(&'a [u8]),
    /// MySQL's binary JSON.
    Json(&'a [u8]),
    Null,
}

/// The bytes of a [`Value::Compressed`].
pub fn expand(bytes: &[u8]) -> Result<Vec<u8>, Malformed> {
    compressed::expand_column(bytes)
}

impl Layout {
    /// The layout of a column. A sign is assumed where nothing is known of it. An error for types that no server logs.
    pub fn of(column: &Column) -> Result<Self, Malformed> {
        let metadata = column.metadata;
        let is_unsigned = column.is_unsigned.unwrap_or(false);
        let length_width = metadata as u8;
        let int = |width| Self::Int { width, is_unsigned };
        let blob = |width: u16| match width {
            1..=4 => Ok(width as u8),
            _ => Err(Malformed::new("length of a BLOB's length")),
        };
        let decimals = |most: u16| if metadata <= most { Ok(metadata as u8) } else { Err(Malformed::new("fraction")) };
        // One length byte up to 255 bytes, two beyond.
        let of_length = |size: u16| if size < 256 { 1 } else { 2 };
        Ok(match column.column_type {
            ColumnType::TINY => int(1),
            ColumnType::SHORT => int(2),
            ColumnType::INT24 => int(3),
            ColumnType::LONG => int(4),
            ColumnType::LONGLONG => int(8),
            ColumnType::FLOAT => Self::Float,
            ColumnType::DOUBLE => Self::Double,
            ColumnType::NEWDECIMAL => {
                let [precision, scale] = metadata.to_be_bytes();
                Decimal::width(precision, scale).ok_or(Malformed::new("precision of a decimal"))?;
                Self::Decimal { precision, scale }
            }
            ColumnType::YEAR => Self::Year,
            ColumnType::DATE | ColumnType::NEWDATE => Self::Date,
            ColumnType::TIME => Self::OldTime,
            ColumnType::DATETIME => Self::OldDateTime,
            ColumnType::TIMESTAMP => Self::OldTimestamp,
            ColumnType::TIME2 => Self::Time { decimals: decimals(6)? },
            ColumnType::DATETIME2 => Self::DateTime { decimals: decimals(6)? },
            ColumnType::TIMESTAMP2 => Self::Timestamp { decimals: decimals(6)? },
            ColumnType::BIT => {
                let bits = (metadata >> 8) * 8 + (metadata & 0xff);
                if bits == 0 || bits > 64 || metadata & 0xff > 7 {
                    return Err(Malformed::new("width of BIT"));
                }
                Self::Bit { width: bits.div_ceil(8) as u8 }
            }
            ColumnType::ENUM if matches!(metadata, 1 | 2) => Self::Enum { width: length_width },
            ColumnType::SET if matches!(metadata, 1..=8) => Self::Set { width: length_width },
            ColumnType::STRING | ColumnType::VAR_STRING if column.collation == Some(u32::from(CHARSET_BINARY)) => {
                Self::Padded { length_width: of_length(metadata), size: metadata }
            }
            ColumnType::VARCHAR | ColumnType::STRING | ColumnType::VAR_STRING => {
                Self::Bytes { length_width: of_length(metadata) }
            }
            VARCHAR_COMPRESSED => Self::Compressed { length_width: of_length(metadata) },
            BLOB_COMPRESSED => Self::Compressed { length_width: blob(metadata)? },
            ColumnType::BLOB
            | ColumnType::TINY_BLOB
            | ColumnType::MEDIUM_BLOB
            | ColumnType::LONG_BLOB
            | ColumnType::VECTOR
            | ColumnType::GEOMETRY => Self::Bytes { length_width: blob(metadata)? },
            ColumnType::JSON => Self::Json { length_width: blob(metadata)? },
            ColumnType::NULL => Self::Null,
            _ => return Err(Malformed::new("column type")),
        })
    }

    /// Reads a cell that is not NULL.
    #[inline]
    pub fn decode<'a>(self, reader: &mut Reader<'a>) -> Result<Value<'a>, Malformed> {
        Ok(match self {
            Self::Int { width, is_unsigned } => integer(reader, width, is_unsigned)?,
            Self::Bytes { length_width } => Value::Bytes(counted(reader, length_width)?),
            Self::Decimal { precision, scale } => Value::Decimal(Decimal::decode(reader, precision, scale)?),
            Self::DateTime { decimals } => {
                let packed = big_endian(reader, 5)?.wrapping_sub(1 << 39) & ((1 << 40) - 1);
                let microsecond = fraction(reader, decimals)?;
                let month = packed >> 22;
                let value = DateTime {
                    year: (month / 13) as u16,
                    month: (month % 13) as u8,
                    day: (packed >> 17 & 31) as u8,
                    hour: (packed >> 12 & 31) as u8,
                    minute: (packed >> 6 & 63) as u8,
                    second: (packed & 63) as u8,
                    microsecond,
                };
                Value::DateTime(value, decimals)
            }
            Self::Timestamp { decimals } => {
                let seconds = reader.u32("timestamp")?;
                Value::Timestamp(seconds, fraction(reader, decimals)?, decimals)
            }
            Self::Double => Value::Double(reader.f64_le("double")?),
            Self::Float => Value::Float(reader.f32_le("float")?),
            Self::Date => {
                let [a, b, c] = reader.array("date")?;
                Value::Date(old_date(u32::from_le_bytes([a, b, c, 0])))
            }
            Self::Enum { width } => Value::Enum(little_endian(reader, width)? as u16),
            Self::Set { width } => Value::Set(little_endian(reader, width)?),
            Self::Year => Value::Year(match reader.u8("year")? {
                0 => 0,
                year => 1900 + u16::from(year),
            }),
            Self::Time { decimals } => Value::Time(time(reader, decimals)?),
            Self::Bit { width } => Value::Bits(reader.take(usize::from(width), "bits")?),
            Self::Json { length_width } => Value::Json(counted(reader, length_width)?),
            Self::Padded { length_width, size } => {
                let bytes = counted(reader, length_width)?;
                Value::Padded(bytes, bytes.len().max(usize::from(size)))
            }
            Self::Compressed { length_width } => Value::Compressed(counted(reader, length_width)?),
            Self::OldTimestamp => Value::Timestamp(reader.u32_le("timestamp")?, 0, 0),
            Self::OldDateTime => {
                let packed = reader.u64_le("datetime")?;
                let (date, time) = (packed / 1_000_000, packed % 1_000_000);
                Value::DateTime(
                    DateTime {
                        year: (date / 10_000 % 10_000) as u16,
                        month: (date / 100 % 100) as u8,
                        day: (date % 100) as u8,
                        hour: (time / 10_000) as u8,
                        minute: (time / 100 % 100) as u8,
                        second: (time % 100) as u8,
                        microsecond: 0,
                    },
                    0,
                )
            }
            Self::OldTime => {
                let [a, b, c] = reader.array("time")?;
                let packed = i32::from_le_bytes([a, b, c, if c & 0x80 != 0 { 0xff } else { 0 }]);
                let hours = packed.unsigned_abs() / 10_000;
                Value::Time(Time {
                    negative: packed < 0,
                    days: hours / 24,
                    hours: (hours % 24) as u8,
                    minutes: (packed.unsigned_abs() / 100 % 100) as u8,
                    seconds: (packed.unsigned_abs() % 100) as u8,
                    microseconds: 0,
                })
            }
            Self::Null => Value::Null,
        })
    }
}

#[inline]
fn integer<'a>(reader: &mut Reader<'_>, width: u8, is_unsigned: bool) -> Result<Value<'a>, Malformed> {
    let what = "integer";
    Ok(match (width, is_unsigned) {
        (4, false) => Value::Int(i64::from(reader.u32_le(what)? as i32)),
        (8, false) => Value::Int(reader.u64_le(what)? as i64),
        (1, false) => Value::Int(i64::from(reader.i8(what)?)),
        (2, false) => Value::Int(i64::from(reader.u16_le(what)? as i16)),
        (_, false) => {
            let [a, b, c] = reader.array(what)?;
            Value::Int(i64::from(i32::from_le_bytes([0, a, b, c]) >> 8))
        }
        (4, true) => Value::Unsigned(u64::from(reader.u32_le(what)?)),
        (8, true) => Value::Unsigned(reader.u64_le(what)?),
        (1, true) => Value::Unsigned(u64::from(reader.u8(what)?)),
        (2, true) => Value::Unsigned(u64::from(reader.u16_le(what)?)),
        (_, true) => {
            let [a, b, c] = reader.array(what)?;
            Value::Unsigned(u64::from(u32::from_le_bytes([a, b, c, 0])))
        }
    })
}

#[inline]
fn counted<'a>(reader: &mut Reader<'a>, width: u8) -> Result<&'a [u8], Malformed> {
    let len = match width {
        1 => usize::from(reader.u8("length of bytes")?),
        2 => usize::from(reader.u16_le("length of bytes")?),
        _ => little_endian(reader, width)? as usize,
    };
    reader.take(len, "bytes")
}

fn little_endian(reader: &mut Reader<'_>, width: u8) -> Result<u64, Malformed> {
    let bytes = reader.take(usize::from(width), "number")?;
    Ok(bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte)))
}

#[inline]
fn big_endian(reader: &mut Reader<'_>, width: usize) -> Result<u64, Malformed> {
    let bytes = reader.take(width, "number")?;
    Ok(bytes.iter().fold(0, |value, byte| value << 8 | u64::from(*byte)))
}

/// Microseconds in as many bytes as their digits need.
#[inline]
fn fraction(reader: &mut Reader<'_>, decimals: u8) -> Result<u32, Malformed> {
    Ok(match decimals {
        0 => 0,
        1 | 2 => u32::from(reader.u8("fraction")?) * 10_000,
        3 | 4 => u32::from(reader.u16("fraction")?) * 100,
        _ => big_endian(reader, 3)? as u32,
    })
}

/// Bits: day 5, month 4, year 15.
fn old_date(packed: u32) -> DateTime {
    DateTime {
        year: (packed >> 9) as u16,
        month: (packed >> 5 & 15) as u8,
        day: (packed & 31) as u8,
        ..DateTime::default()
    }
}

/// Sign 1, unused 1, hours 10, minutes 6, seconds 6 bits and the fraction; below zero the whole is its complement.
fn time(reader: &mut Reader<'_>, decimals: u8) -> Result<Time, Malformed> {
    let fraction_width = usize::from(decimals.div_ceil(2));
    let packed = big_endian(reader, 3 + fraction_width)? as i64;
    let fraction_bits = 8 * fraction_width as u32;
    let signed = packed - (1 << (23 + fraction_bits));
    let size = signed.unsigned_abs();
    let (whole, part) = (size >> fraction_bits, size & ((1 << fraction_bits) - 1));
    let hours = (whole >> 12 & 1023) as u32;
    Ok(Time {
        negative: signed < 0,
        days: hours / 24,
        hours: (hours % 24) as u8,
        minutes: (whole >> 6 & 63) as u8,
        seconds: (whole & 63) as u8,
        microseconds: part as u32 * [1, 10_000, 100, 1][fraction_width.min(3)],
    })
}

/// The parts of a number of MySQL's JSON or of old logs: sign, year × 13 + month, day, hour, minute, second, and 24 bits
/// of microseconds.
pub(super) fn packed_datetime(packed: i64) -> DateTime {
    let size = packed.unsigned_abs();
    let (whole, microsecond) = (size >> 24, (size & 0xff_ffff) as u32);
    let (date, time) = (whole >> 17, whole & 0x1_ffff);
    let month = date >> 5;
    DateTime {
        year: (month / 13) as u16,
        month: (month % 13) as u8,
        day: (date & 31) as u8,
        hour: (time >> 12) as u8,
        minute: (time >> 6 & 63) as u8,
        second: (time & 63) as u8,
        microsecond,
    }
}

/// Idem for durations.
pub(super) fn packed_time(packed: i64) -> Time {
    let size = packed.unsigned_abs();
    let (whole, microseconds) = (size >> 24, (size & 0xff_ffff) as u32);
    let hours = (whole >> 12 & 1023) as u32;
    Time {
        negative: packed < 0,
        days: hours / 24,
        hours: (hours % 24) as u8,
        minutes: (whole >> 6 & 63) as u8,
        seconds: (whole & 63) as u8,
        microseconds,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(column_type: u8, metadata: u16, bytes: &[u8]) -> Value<'_> {
        let column = Column { column_type: ColumnType(column_type), metadata, ..Column::default() };
        let mut reader = Reader::new(bytes);
        let value = Layout::of(&column).unwrap().decode(&mut reader).unwrap();
        assert!(reader.is_empty());
        value
    }

    #[test]
    fn decimals_are_spelled_as_the_server_does() {
        let spelled = |precision, scale, bytes: &[u8]| {
            let number = Decimal::decode(&mut Reader::new(bytes), precision, scale).unwrap();
            String::from_utf8(number.as_bytes().to_vec()).unwrap()
        };
        // MySQL's own example: 1234567890.1234 and its negative.
        assert_eq!(spelled(14, 4, &[0x81, 0x0d, 0xfb, 0x38, 0xd2, 0x04, 0xd2]), "1234567890.1234");
        assert_eq!(spelled(14, 4, &[0x7e, 0xf2, 0x04, 0xc7, 0x2d, 0xfb, 0x2d]), "-1234567890.1234");
        assert_eq!(spelled(3, 2, &[0x80, 0x05]), "0.05");
        assert_eq!(spelled(3, 2, &[0x7f, 0xcd]), "-0.50");
        assert_eq!(spelled(2, 2, &[0x80 | 99]), "0.99");
        assert_eq!(spelled(1, 0, &[0x80]), "0");
        assert!(Decimal::decode(&mut Reader::new(&[0x80 | 100]), 2, 2).is_err());
        assert!(Decimal::decode(&mut Reader::new(&[0x80]), 66, 0).is_err());
        assert!(Decimal::decode(&mut Reader::new(&[0x80]), 3, 4).is_err());
        assert!(Decimal::decode(&mut Reader::new(&[0x80]), 9, 0).is_err());
    }

    #[test]
    fn integers_keep_their_sign() {
        assert_eq!(cell(1, 0, &[0xff]), Value::Int(-1));
        assert_eq!(cell(2, 0, &[0xfe, 0xff]), Value::Int(-2));
        assert_eq!(cell(9, 0, &[0xfd, 0xff, 0xff]), Value::Int(-3));
        assert_eq!(cell(9, 0, &[0, 0, 0x80]), Value::Int(-8_388_608));
        assert_eq!(cell(3, 0, &[0xfc, 0xff, 0xff, 0xff]), Value::Int(-4));
        let column = Column { column_type: ColumnType::INT24, is_unsigned: Some(true), ..Column::default() };
        let layout = Layout::of(&column).unwrap();
        assert_eq!(layout.decode(&mut Reader::new(&[0xff; 3])), Ok(Value::Unsigned(16_777_215)));
    }

    #[test]
    fn times_keep_sign_and_fraction() {
        // -00:00:00.5 and 838:59:59 as MySQL stores them.
        let half = Time { negative: true, microseconds: 500_000, ..Time::default() };
        assert_eq!(cell(0x13, 1, &[0x7f, 0xff, 0xff, 0xce]), Value::Time(half));
        let most = Time { days: 34, hours: 22, minutes: 59, seconds: 59, ..Time::default() };
        assert_eq!(cell(0x13, 0, &[0xb4, 0x6e, 0xfb]), Value::Time(most));
    }

    #[test]
    fn types_without_a_layout_are_refused() {
        for (column_type, metadata) in
            [(246, 0x0003), (16, 0x0900), (16, 0), (252, 5), (0x12, 7), (247, 3), (14 + 6, 0)]
        {
            let column = Column { column_type: ColumnType(column_type), metadata, ..Column::default() };
            assert!(Layout::of(&column).is_err(), "{column_type}");
        }
    }
}
