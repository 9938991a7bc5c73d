//! MySQL's binary JSON, and its text as the server spells it.
//!
//! A document is a type byte and a value. Containers hold counts, offsets from their own begin, then keys and values; in
//! the small form these take two bytes, in the large one four. Small scalars stand in place of their offset.

use std::borrow::Cow;
use std::fmt::Write;

use rowferry_wire::{Malformed, Reader};

use super::value::{Decimal, packed_datetime, packed_time};
use crate::types::ColumnType;

/// A value of a document.
#[derive(Clone, Debug, PartialEq)]
pub enum Json<'a> {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// An integer with a sign.
    Int(i64),
    /// An integer without.
    Unsigned(u64),
    /// A double.
    Double(f64),
    /// Text in UTF-8.
    String(&'a [u8]),
    /// A value of SQL that JSON has no type for: its type and bytes.
    Opaque(ColumnType, &'a [u8]),
    /// Values.
    Array(Vec<Self>),
    /// Keys and values, sorted by length and bytes of the key.
    Object(Vec<(Cow<'a, [u8]>, Self)>),
}

/// MySQL's own limit.
const DEPTH: usize = 100;

const SMALL_OBJECT: u8 = 0x00;
const LARGE_OBJECT: u8 = 0x01;
const SMALL_ARRAY: u8 = 0x02;
const LARGE_ARRAY: u8 = 0x03;
const LITERAL: u8 = 0x04;
const INT16: u8 = 0x05;
const UINT16: u8 = 0x06;
const INT32: u8 = 0x07;
const UINT32: u8 = 0x08;
const INT64: u8 = 0x09;
const UINT64: u8 = 0x0a;
const DOUBLE: u8 = 0x0b;
const STRING: u8 = 0x0c;
const OPAQUE: u8 = 0x0f;

impl<'a> Json<'a> {
    /// Decodes a document. No bytes at all are `null`: what NULL of a NOT NULL column became.
    pub fn decode(document: &'a [u8]) -> Result<Self, Malformed> {
        let Some((&kind, value)) = document.split_first() else { return Ok(Self::Null) };
        Decoder { budget: document.len() }.value(kind, value, 0)
    }

    /// The text, as `SELECT` answers it.
    pub fn text(&self) -> Result<String, Malformed> {
        let mut text = String::new();
        self.print(&mut text)?;
        Ok(text)
    }

    fn print(&self, text: &mut String) -> Result<(), Malformed> {
        match self {
            Self::Null => text.push_str("null"),
            Self::Bool(value) => text.push_str(if *value { "true" } else { "false" }),
            Self::Int(value) => put(text, format_args!("{value}")),
            Self::Unsigned(value) => put(text, format_args!("{value}")),
            Self::Double(value) => print_double(text, *value),
            Self::String(bytes) => print_string(text, bytes)?,
            Self::Opaque(column_type, bytes) => print_opaque(text, *column_type, bytes)?,
            Self::Array(values) => {
                text.push('[');
                for (at, value) in values.iter().enumerate() {
                    text.push_str(if at > 0 { ", " } else { "" });
                    value.print(text)?;
                }
                text.push(']');
            }
            Self::Object(members) => {
                text.push('{');
                for (at, (key, value)) in members.iter().enumerate() {
                    text.push_str(if at > 0 { ", " } else { "" });
                    print_string(text, key)?;
                    text.push_str(": ");
                    value.print(text)?;
                }
                text.push('}');
            }
        }
        Ok(())
    }
}

fn put(text: &mut String, arguments: std::fmt::Arguments<'_>) {
    // Writing to a `String` cannot fail.
    let _ = text.write_fmt(arguments);
}

struct Decoder {
    /// Bytes that may still be looked at: nothing of a sound document is looked at twice, so that offsets which refer to
    /// the same bytes again and again end in an error before they end in memory.
    budget: usize,
}

impl Decoder {
    fn spend(&mut self, bytes: usize) -> Result<(), Malformed> {
        self.budget = self.budget.checked_sub(bytes).ok_or(Malformed::new("JSON offsets"))?;
        Ok(())
    }

    fn value<'a>(&mut self, kind: u8, value: &'a [u8], depth: usize) -> Result<Json<'a>, Malformed> {
        let mut reader = Reader::new(value);
        let what = "JSON scalar";
        Ok(match kind {
            SMALL_OBJECT | LARGE_OBJECT | SMALL_ARRAY | LARGE_ARRAY => return self.container(kind, value, depth),
            LITERAL => match reader.u8(what)? {
                0 => Json::Null,
                1 => Json::Bool(true),
                2 => Json::Bool(false),
                _ => return Err(Malformed::new("JSON literal")),
            },
            INT16 => Json::Int(i64::from(reader.u16_le(what)? as i16)),
            UINT16 => Json::Unsigned(u64::from(reader.u16_le(what)?)),
            INT32 => Json::Int(i64::from(reader.u32_le(what)? as i32)),
            UINT32 => Json::Unsigned(u64::from(reader.u32_le(what)?)),
            INT64 => Json::Int(reader.u64_le(what)? as i64),
            UINT64 => Json::Unsigned(reader.u64_le(what)?),
            DOUBLE => Json::Double(reader.f64_le(what)?),
            STRING => {
                let len = length(&mut reader)?;
                self.spend(len)?;
                Json::String(reader.take(len, "JSON string")?)
            }
            OPAQUE => {
                let column_type = ColumnType(reader.u8(what)?);
                let len = length(&mut reader)?;
                self.spend(len)?;
                Json::Opaque(column_type, reader.take(len, "JSON opaque value")?)
            }
            _ => return Err(Malformed::new("JSON type")),
        })
    }

    fn container<'a>(&mut self, kind: u8, bytes: &'a [u8], depth: usize) -> Result<Json<'a>, Malformed> {
        if depth == DEPTH {
            return Err(Malformed::new("JSON depth"));
        }
        let is_large = matches!(kind, LARGE_OBJECT | LARGE_ARRAY);
        let is_object = matches!(kind, SMALL_OBJECT | LARGE_OBJECT);
        let number = |reader: &mut Reader<'_>| -> Result<usize, Malformed> {
            let what = "JSON offset";
            Ok(if is_large { reader.u32_le(what)? as usize } else { usize::from(reader.u16_le(what)?) })
        };
        let mut head = Reader::new(bytes);
        let count = number(&mut head)?;
        let size = number(&mut head)?;
        let bytes = bytes.get(..size).ok_or(Malformed::new("JSON container size"))?;
        let width = if is_large { 4 } else { 2 };
        let entry = 1 + width + if is_object { width + 2 } else { 0 };
        self.spend(head.fits(count, entry, "JSON container count")? * entry)?;
        let mut keys = Vec::new();
        if is_object {
            keys.reserve(count);
            for _ in 0..count {
                let offset = number(&mut head)?;
                let len = usize::from(head.u16_le("JSON key length")?);
                self.spend(len)?;
                let rest = bytes.get(offset..).ok_or(Malformed::new("JSON key"))?;
                keys.push(Cow::Borrowed(rest.get(..len).ok_or(Malformed::new("JSON key"))?));
            }
        }
        let mut values = Vec::with_capacity(count);
        for _ in 0..count {
            let kind = head.u8("JSON type")?;
            let place = head.take(width, "JSON offset")?;
            let is_inline = matches!(kind, LITERAL | INT16 | UINT16) || (is_large && matches!(kind, INT32 | UINT32));
            values.push(if is_inline {
                self.value(kind, place, depth + 1)?
            } else {
                let offset = number(&mut Reader::new(place))?;
                let value = bytes.get(offset..).ok_or(Malformed::new("JSON offset"))?;
                self.value(kind, value, depth + 1)?
            });
        }
        Ok(if is_object { Json::Object(keys.into_iter().zip(values).collect()) } else { Json::Array(values) })
    }
}

/// Seven bits in each byte, the lowest first; the highest bit says that another follows.
fn length(reader: &mut Reader<'_>) -> Result<usize, Malformed> {
    let mut value = 0_u64;
    for at in 0..5 {
        let byte = reader.u8("JSON length")?;
        value |= u64::from(byte & 0x7f) << (7 * at);
        if byte & 0x80 == 0 {
            return usize::try_from(value).map_err(|_| Malformed::new("JSON length"));
        }
    }
    Err(Malformed::new("JSON length"))
}

fn print_string(text: &mut String, bytes: &[u8]) -> Result<(), Malformed> {
    let string = std::str::from_utf8(bytes).map_err(|_| Malformed::new("JSON text"))?;
    text.reserve(string.len() + 2);
    text.push('"');
    let mut begin = 0;
    for (at, byte) in bytes.iter().enumerate() {
        if !matches!(byte, 0..0x20 | b'"' | b'\\') {
            continue;
        }
        // What is escaped is ASCII: the text is cut between characters.
        text.push_str(&string[begin..at]);
        begin = at + 1;
        match byte {
            b'"' => text.push_str("\\\""),
            b'\\' => text.push_str("\\\\"),
            0x08 => text.push_str("\\b"),
            b'\t' => text.push_str("\\t"),
            b'\n' => text.push_str("\\n"),
            0x0c => text.push_str("\\f"),
            b'\r' => text.push_str("\\r"),
            other => put(text, format_args!("\\u{other:04x}")),
        }
    }
    text.push_str(&string[begin..]);
    text.push('"');
    Ok(())
}

/// Fifteen digits on either side of the point stand without an exponent.
const MOST_PLACES: i32 = 15;

fn print_double(text: &mut String, value: f64) {
    let shortest = format!("{:e}", value.abs());
    let (mantissa, exponent) = shortest.split_once('e').unwrap_or((&shortest, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    if value.is_sign_negative() && (value != 0.0 || digits == "0") {
        text.push('-');
    }
    // Where the point stands, counted from the first digit.
    let point = exponent + 1;
    let len = digits.len() as i32;
    if value == 0.0 {
        text.push_str("0.0");
    } else if !(1 - MOST_PLACES..=MOST_PLACES).contains(&point) {
        let (first, rest) = digits.split_at(1);
        let dot = if rest.is_empty() { "" } else { "." };
        put(text, format_args!("{first}{dot}{rest}e{exponent}"));
    } else if point <= 0 {
        put(text, format_args!("0.{}{digits}", "0".repeat(point.unsigned_abs() as usize)));
    } else if point >= len {
        put(text, format_args!("{digits}{}.0", "0".repeat((point - len) as usize)));
    } else {
        let (whole, part) = digits.split_at(point as usize);
        put(text, format_args!("{whole}.{part}"));
    }
}

fn print_opaque(text: &mut String, column_type: ColumnType, bytes: &[u8]) -> Result<(), Malformed> {
    let packed = || -> Result<i64, Malformed> {
        let bytes = bytes.try_into().map_err(|_| Malformed::new("JSON date or time"))?;
        Ok(i64::from_le_bytes(bytes))
    };
    match column_type {
        ColumnType::NEWDECIMAL => {
            let mut reader = Reader::new(bytes);
            let [precision, scale] = reader.array("JSON decimal")?;
            let number = Decimal::decode(&mut reader, precision, scale)?;
            reader.finish("JSON decimal")?;
            text.push_str(&String::from_utf8_lossy(number.as_bytes()));
        }
        ColumnType::DATE => {
            let date = packed_datetime(packed()?);
            put(text, format_args!("\"{:04}-{:02}-{:02}\"", date.year, date.month, date.day));
        }
        ColumnType::DATETIME | ColumnType::TIMESTAMP => {
            let moment = packed_datetime(packed()?);
            put(text, format_args!("\"{:04}-{:02}-{:02} ", moment.year, moment.month, moment.day));
            put(text, format_args!("{:02}:{:02}:{:02}.", moment.hour, moment.minute, moment.second));
            put(text, format_args!("{:06}\"", moment.microsecond));
        }
        ColumnType::TIME => {
            let time = packed_time(packed()?);
            let sign = if time.negative { "-" } else { "" };
            let hours = time.days * 24 + u32::from(time.hours);
            put(text, format_args!("\"{sign}{hours:02}:{:02}:{:02}.", time.minutes, time.seconds));
            put(text, format_args!("{:06}\"", time.microseconds));
        }
        other => {
            put(text, format_args!("\"base64:type{}:", other.0));
            print_base64(text, bytes);
            text.push('"');
        }
    }
    Ok(())
}

/// As the server does: a line ends after 76 characters, and its end is escaped.
fn print_base64(text: &mut String, bytes: &[u8]) {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (at, group) in bytes.chunks(3).enumerate() {
        if at > 0 && at % 19 == 0 {
            text.push_str("\\n");
        }
        let bits = group.iter().fold(0_u32, |value, byte| value << 8 | u32::from(*byte)) << (8 * (3 - group.len()));
        for place in 0..4 {
            let sextet = bits >> (18 - 6 * place) & 63;
            text.push(if place > group.len() { '=' } else { char::from(ALPHABET[sextet as usize]) });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(document: &[u8]) -> String {
        Json::decode(document).and_then(|json| json.text()).unwrap()
    }

    #[test]
    fn containers_and_scalars_are_spelled_as_the_server_does() {
        // {"a": 1, "b": ["x", null, 70000]}
        let document = [
            &[SMALL_OBJECT, 2, 0, 40, 0][..],
            &[18, 0, 1, 0, 19, 0, 1, 0],
            &[INT16, 1, 0, SMALL_ARRAY, 20, 0],
            b"ab",
            &[3, 0, 20, 0, STRING, 13, 0, LITERAL, 0, 0, INT32, 15, 0],
            &[1, b'x', 0x70, 0x11, 1, 0, 0],
        ]
        .concat();
        assert_eq!(text(&document), r#"{"a": 1, "b": ["x", null, 70000]}"#);
        for cut in 1..document.len() - 1 {
            assert!(Json::decode(&document[..cut]).is_err(), "{cut}");
        }
        assert_eq!(text(b""), "null");
        assert_eq!(text(&[STRING, 5, b'"', b'\\', b'\n', 1, b'x']), r#""\"\\\n\u0001x""#);
        assert_eq!(text(&[OPAQUE, 246, 4, 3, 2, 0x81, 50]), "1.50");
        assert_eq!(text(&[OPAQUE, 252, 2, 0xff, 0xfe]), r#""base64:type252://4=""#);
    }

    #[test]
    fn doubles_are_spelled_as_the_server_does() {
        for (value, spelled) in [
            (1.0, "1.0"),
            (-0.5, "-0.5"),
            (1e14, "100000000000000.0"),
            (1e15, "1e15"),
            (1.5e300, "1.5e300"),
            (1e-15, "0.000000000000001"),
            (1e-16, "1e-16"),
            (0.001, "0.001"),
            (123.456, "123.456"),
            (0.0, "0.0"),
        ] {
            let mut text = String::new();
            print_double(&mut text, value);
            assert_eq!(text, spelled);
        }
    }

    #[test]
    fn offsets_that_meet_again_end_in_an_error() {
        // An array of two references to an array of two references to …, thirty deep: a billion values in 300 bytes.
        let mut document = vec![SMALL_ARRAY];
        let depth = 30_u16;
        for level in 0..depth {
            let size = (depth - level) * 10 + 4;
            document.extend_from_slice(&[2, 0]);
            document.extend_from_slice(&size.to_le_bytes());
            document.extend_from_slice(&[SMALL_ARRAY, 10, 0, SMALL_ARRAY, 10, 0]);
        }
        document.extend_from_slice(&[0, 0, 4, 0]);
        assert_eq!(Json::decode(&document), Err(Malformed::new("JSON offsets")));
    }

    #[test]
    fn depth_is_limited() {
        let mut document = vec![SMALL_ARRAY];
        for level in 0..120_u16 {
            let size = (120 - level) * 7 + 4;
            document.extend_from_slice(&[1, 0]);
            document.extend_from_slice(&size.to_le_bytes());
            document.extend_from_slice(&[SMALL_ARRAY, 7, 0]);
        }
        document.extend_from_slice(&[0, 0, 4, 0]);
        assert_eq!(Json::decode(&document), Err(Malformed::new("JSON depth")));
    }
}
