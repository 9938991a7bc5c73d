//! Texts.

use std::borrow::Cow;

use base64::Engine as _;
use rowferry_dialect::ir::Value;
use rowferry_dialect::values::mysql::{folded_text, numbers};
use rowferry_dialect::values::{Decimal, ValueRef};
use rowferry_dialect::{Result, work};
use rowferry_encodings::Encoding;

use super::super::call::{integer, text};
use super::super::{Call, Row};
use super::arithmetic::{bits_of, single_folds};
use super::maybe;

pub(in super::super) const ROWS: &[Row] =
    &[
        Row::new("rf_mysql_concat", 1, |call| joined(call, 0, "")).variadic(),
        Row::new("rf_mysql_concat_ws", 1, |call| {
            if call.is_null(0) { Ok(Value::Null) } else { joined(call, 1, call.text(0)?) }
        })
        .variadic()
        .lenient(),
        Row::new("rf_mysql_concat_bytes", 1, |call| {
            let mut out = Vec::new();
            for at in 0..call.len() {
                work::append(&mut out, call.bytes(at)?)?;
            }
            Ok(Value::Blob(out))
        })
        .variadic(),
        Row::new("rf_mysql_char_length", 1, |call| match call.value(0) {
            ValueRef::Text(bytes) if bytes.is_ascii() => integer(i64::try_from(bytes.len()).unwrap_or(i64::MAX)),
            _ => integer(i64::try_from(call.text(0)?.chars().count()).unwrap_or(i64::MAX)),
        }),
        Row::new("rf_mysql_substring", 2, |call| {
            let count = if call.len() > 2 { call.integer(2)? } else { i64::MAX };
            text(part(call.text(0)?, call.integer(1)?, count))
        })
        .optional(1),
        Row::new("rf_mysql_substring_bytes", 2, |call| {
            let bytes = call.bytes(0)?;
            let count = if call.len() > 2 { call.integer(2)? } else { i64::MAX };
            let (start, end) = span(bytes.len(), call.integer(1)?, count);
            Ok(Value::Blob(bytes[start..end].to_vec()))
        })
        .optional(1),
        Row::new("rf_mysql_left", 2, |call| text(part(call.text(0)?, 1, call.integer(1)?))),
        Row::new("rf_mysql_right", 2, |call| {
            let (all, count) = (call.text(0)?, call.integer(1)?);
            let length = length(all);
            text(if count >= length { all } else { part(all, length - count.max(0) + 1, count) })
        }),
        // (what is looked for, where, from)
        Row::new("rf_mysql_locate", 2, |call| {
            let from = if call.len() > 2 { call.integer(2)? } else { 1 };
            locate(call.text(0)?, call.text(1)?, from)
        })
        .optional(1),
        Row::new("rf_mysql_insert", 4, |call| {
            let (all, start, count) = (call.text(0)?, call.integer(1)?, call.integer(2)?);
            let length = length(all);
            if start < 1 || start > length {
                return text(all);
            }
            let rest = length - start + 1;
            let count = if (0..=rest).contains(&count) { count } else { rest };
            let (head, tail) = (part(all, 1, start - 1), part(all, start + count, i64::MAX));
            let tail = if count == rest { "" } else { tail };
            let mut out = work::text(all.len() + call.length(3))?;
            for part in [head, call.text(3)?, tail] {
                out.push_str(part);
            }
            text(out)
        }),
        Row::new("rf_mysql_lpad", 3, |call| padded(call, true)),
        Row::new("rf_mysql_rpad", 3, |call| padded(call, false)),
        // (text, what is cut off, where)
        Row::new("rf_mysql_trim", 3, |call| {
            let (mut all, cut) = (call.text(0)?, call.text(1)?);
            let sides = match call.text(2)? {
                "leading" => 1,
                "trailing" => 2,
                _ => 3,
            };
            if !cut.is_empty() {
                while sides & 1 != 0 && all.starts_with(cut) {
                    all = &all[cut.len()..];
                }
                while sides & 2 != 0 && all.ends_with(cut) {
                    all = &all[..all.len() - cut.len()];
                }
            }
            text(all)
        }),
        Row::new("rf_mysql_repeat", 2, |call| {
            let all = call.text(0)?;
            let count = usize::try_from(call.integer(1)?).unwrap_or(0);
            match all.len().checked_mul(count) {
                Some(bytes) if bytes <= LONGEST => {
                    let mut out = work::text(bytes)?;
                    for _ in 0..count {
                        out.push_str(all);
                    }
                    text(out)
                }
                _ => Ok(Value::Null),
            }
        }),
        Row::new("rf_mysql_ascii", 1, |call| integer(call.bytes(0)?.first().copied().map_or(0, i64::from))),
        Row::new("rf_mysql_ord", 1, |call| {
            let first = call.text(0)?.chars().next();
            integer(first.map_or(0, |letter| {
                let mut bytes = [0; 4];
                letter.encode_utf8(&mut bytes).bytes().fold(0_i64, |number, byte| number << 8 | i64::from(byte))
            }))
        }),
        Row::new("rf_mysql_char", 1, |call| {
            let mut out = Vec::new();
            for at in 0..call.len() {
                if !call.is_null(at) {
                    let number = call.integer(at)? as u32;
                    let skipped = (number.leading_zeros() / 8).min(3) as usize;
                    out.extend_from_slice(&number.to_be_bytes()[skipped..]);
                }
            }
            Ok(Value::Blob(out))
        })
        .variadic()
        .lenient(),
        // (bytes, character set)
        Row::new("rf_mysql_first_byte", 1, |call| integer(call.bytes(0)?.first().copied().unwrap_or(0))),
        Row::new("rf_mysql_in_charset", 2, |call| {
            let set = CharacterSet::named(call.text(1)?);
            text(call.text(0)?.chars().map(|letter| if set.has(letter) { letter } else { '?' }).collect::<String>())
        }),
        Row::new("rf_mysql_encoded", 2, |call| {
            let set = CharacterSet::named(call.text(1)?);
            Ok(Value::Blob(call.text(0)?.chars().flat_map(|letter| set.bytes(letter)).collect()))
        }),
        Row::new("rf_mysql_char_text", 2, |call| maybe(letters(call.bytes(0)?, call.text(1)?), text)),
        Row::new("rf_mysql_hex", 1, |call| match call.value(0) {
            ValueRef::Integer(_) | ValueRef::Real(_) => text(format!("{:X}", bits_of(call.value(0))?)),
            _ => text(hex(call.bytes(0)?)?),
        }),
        Row::new("rf_mysql_hex_number", 1, |call| text(format!("{:X}", bits_of(call.value(0))?))),
        Row::new("rf_mysql_unhex", 1, |call| maybe(unhex(call.bytes(0)?), |bytes| Ok(Value::Blob(bytes)))),
        Row::new("rf_mysql_conv", 3, |call| {
            let digits = numbers::text_of(call.value(0)).unwrap_or_default();
            maybe(conv(&digits, call.integer(1)?, call.integer(2)?), text)
        }),
        // Of a number in base 10.
        Row::new("rf_mysql_base", 2, |call| {
            let digits = numbers::text_of(call.value(0)).unwrap_or_default();
            maybe(conv(&digits, 10, call.integer(1)?), text)
        }),
        Row::new("rf_mysql_format", 2, |call| {
            let locale = if call.len() > 2 { call.text(2)? } else { "en_US" };
            grouped(&call.decimal(0)?, call.integer(1)?, locale)
        })
        .optional(1),
        Row::new("rf_mysql_field", 2, |call| {
            if call.is_null(0) {
                return integer(0);
            }
            let texts = (0..call.len()).all(|at| call.is_null(at) || matches!(call.value(at), ValueRef::Text(_)));
            let wanted = if texts { Key::Text(folded_text(call.text(0)?)) } else { key(call, 0) };
            for at in (1..call.len()).filter(|at| !call.is_null(*at)) {
                let found = if texts { Key::Text(folded_text(call.text(at)?)) } else { key(call, at) };
                if found == wanted {
                    return integer(at as i64);
                }
            }
            integer(0)
        })
        .variadic()
        .lenient(),
        Row::new("rf_mysql_field_decimal", 2, |call| {
            if call.is_null(0) {
                return integer(0);
            }
            let wanted = call.decimal(0)?;
            for at in (1..call.len()).filter(|at| !call.is_null(*at)) {
                if call.decimal(at)?.compare(&wanted).is_eq() {
                    return integer(at as i64);
                }
            }
            integer(0)
        })
        .variadic()
        .lenient(),
        // How many of the numbers behind the first, in their order, are not greater than it; NULL is passed over.
        Row::new("rf_mysql_interval", 2, |call| {
            if call.is_null(0) {
                return integer(-1);
            }
            let value = call.float(0)?;
            for at in (1..call.len()).filter(|at| !call.is_null(*at)) {
                if call.float(at)? > value {
                    return integer(at as i64 - 1);
                }
            }
            integer(call.len() as i64 - 1)
        })
        .variadic()
        .lenient(),
        Row::new("rf_mysql_interval_decimal", 2, |call| {
            if call.is_null(0) {
                return integer(-1);
            }
            let value = call.decimal(0)?;
            for at in (1..call.len()).filter(|at| !call.is_null(*at)) {
                if call.decimal(at)?.compare(&value).is_gt() {
                    return integer(at as i64 - 1);
                }
            }
            integer(call.len() as i64 - 1)
        })
        .variadic()
        .lenient(),
        Row::new("rf_mysql_find_in_set", 2, |call| {
            let (wanted, set) = (folded_text(call.text(0)?), call.text(1)?);
            if set.is_empty() || wanted.contains(&',') {
                return integer(0);
            }
            let place = set.split(',').position(|member| folded_text(member) == wanted);
            integer(place.map_or(0, |place| place as i64 + 1))
        }),
        Row::new("rf_mysql_elt", 2, |call| {
            if call.is_null(0) {
                return Ok(Value::Null);
            }
            match usize::try_from(call.integer(0)?) {
                Ok(at) if at > 0 && at < call.len() => Ok(call.owned(at)),
                _ => Ok(Value::Null),
            }
        })
        .variadic()
        .lenient(),
        Row::new("rf_mysql_make_set", 2, |call| {
            if call.is_null(0) {
                return Ok(Value::Null);
            }
            let bits = bits_of(call.value(0))?;
            let mut parts = Vec::new();
            for at in (1..call.len()).take(64).filter(|at| bits >> (at - 1) & 1 == 1 && !call.is_null(*at)) {
                parts.push(call.text(at)?);
            }
            text(parts.join(","))
        })
        .variadic()
        .lenient(),
        Row::new("rf_mysql_export_set", 3, |call| {
            let bits = bits_of(call.value(0))?;
            let separator = if call.len() > 3 { call.text(3)? } else { "," };
            let count = if call.len() > 4 { call.integer(4)? } else { 64 };
            let count = if (0..=64).contains(&count) { count } else { 64 };
            let mut parts = Vec::new();
            for bit in 0..count {
                parts.push(call.text(if bits >> bit & 1 == 1 { 1 } else { 2 })?);
            }
            text(parts.join(separator))
        })
        .optional(2),
        Row::new("rf_mysql_substring_index", 3, |call| {
            text(substring_index(call.text(0)?, call.text(1)?, call.integer(2)?))
        }),
        Row::new("rf_mysql_quote", 1, |call| {
            if call.is_null(0) {
                return text("NULL");
            }
            let all = call.text(0)?;
            let mut out = work::text(all.len() + 2)?;
            out.push('\'');
            for letter in all.chars() {
                match letter {
                    '\'' | '\\' => out.extend(['\\', letter]),
                    '\0' => out.push_str("\\0"),
                    '\u{1a}' => out.push_str("\\Z"),
                    letter => out.push(letter),
                }
            }
            out.push('\'');
            text(out)
        })
        .lenient(),
        Row::new("rf_mysql_soundex", 1, |call| text(soundex(call.text(0)?))),
        Row::new("rf_mysql_strcmp", 2, |call| {
            integer(folded_text(call.text(0)?).cmp(&folded_text(call.text(1)?)) as i64)
        }),
        Row::new("rf_mysql_to_base64", 1, |call| {
            let coded = base64::engine::general_purpose::STANDARD.encode(call.bytes(0)?);
            let lines: Vec<Cow<'_, str>> = coded.as_bytes().chunks(76).map(String::from_utf8_lossy).collect();
            text(lines.join("\n"))
        }),
        Row::new("rf_mysql_from_base64", 1, |call| {
            let coded: Vec<u8> = call.bytes(0)?.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
            let bytes = base64::engine::general_purpose::STANDARD.decode(coded).ok();
            maybe(bytes, |bytes| Ok(Value::Blob(bytes)))
        }),
    ];

/// The byte of a letter in MySQL's latin1, which is Windows' code page 1252.
fn latin1(letter: char) -> Option<u8> {
    if letter.is_ascii() {
        return u8::try_from(letter).ok();
    }
    let mut bytes = Vec::new();
    Encoding::find("WIN1252")?.encode(letter.encode_utf8(&mut [0; 4]), &mut bytes).ok()?;
    bytes.first().copied()
}

/// A character set that a text may be converted to.
#[derive(Clone, Copy, PartialEq)]
enum CharacterSet {
    Ascii,
    Latin1,
    /// UTF-8 of at most three bytes.
    Utf8mb3,
    Ucs2,
    Utf16,
    Utf16Le,
    Utf32,
}

impl CharacterSet {
    /// Those that the converter lets through.
    fn named(name: &str) -> Self {
        match name {
            "ascii" => Self::Ascii,
            "latin1" => Self::Latin1,
            "ucs2" => Self::Ucs2,
            "utf16" => Self::Utf16,
            "utf16le" => Self::Utf16Le,
            "utf32" => Self::Utf32,
            _ => Self::Utf8mb3,
        }
    }

    fn has(self, letter: char) -> bool {
        match self {
            Self::Ascii => letter.is_ascii(),
            Self::Latin1 => latin1(letter).is_some(),
            Self::Utf8mb3 | Self::Ucs2 => u32::from(letter) <= 0xffff,
            Self::Utf16 | Self::Utf16Le | Self::Utf32 => true,
        }
    }

    /// The bytes of a letter; of a question mark for one that it has not.
    fn bytes(self, letter: char) -> Vec<u8> {
        let letter = if self.has(letter) { letter } else { '?' };
        let mut units = [0_u16; 2];
        match self {
            Self::Ascii | Self::Utf8mb3 => letter.to_string().into_bytes(),
            Self::Latin1 => latin1(letter).into_iter().collect(),
            Self::Ucs2 | Self::Utf16 => {
                letter.encode_utf16(&mut units).iter().flat_map(|unit| unit.to_be_bytes()).collect()
            }
            Self::Utf16Le => letter.encode_utf16(&mut units).iter().flat_map(|unit| unit.to_le_bytes()).collect(),
            Self::Utf32 => u32::from(letter).to_be_bytes().to_vec(),
        }
    }
}

/// Bytes of a character set as a text; `None` where they are none. Those of a fixed width are filled up with zeros in front.
fn letters(bytes: &[u8], charset: &str) -> Option<String> {
    let width = match charset {
        "ucs2" | "utf16" | "utf16le" => 2,
        "utf32" => 4,
        "latin1" => return Encoding::find("WIN1252")?.decode(bytes).ok(),
        "ascii" if !bytes.is_ascii() => return None,
        _ => return String::from_utf8(bytes.to_vec()).ok(),
    };
    let mut whole = vec![0; bytes.len().next_multiple_of(width) - bytes.len()];
    whole.extend_from_slice(bytes);
    let units = whole.chunks_exact(width).map(|unit| {
        let number = |value: u32, byte: &u8| value << 8 | u32::from(*byte);
        if charset == "utf16le" { unit.iter().rev().fold(0, number) } else { unit.iter().fold(0, number) }
    });
    if width == 4 {
        return units.map(char::from_u32).collect();
    }
    let units: Vec<u16> = units.map(u16::try_from).collect::<Result<_, _>>().ok()?;
    String::from_utf16(&units).ok()
}

/// The longest text that a function makes: `max_allowed_packet`. A longer one is NULL.
pub(super) const LONGEST: usize = 64 * 1_024 * 1_024;

/// What a value is compared by, where not all are texts.
#[derive(PartialEq)]
enum Key {
    Text(Vec<char>),
    Number(f64),
}

fn key(call: &Call<'_>, at: usize) -> Key {
    Key::Number(numbers::double_of(call.value(at)).unwrap_or(0.0))
}

fn joined(call: &Call<'_>, from: usize, separator: &str) -> Result<Value> {
    let mut out = String::new();
    let mut first = true;
    for at in (from..call.len()).filter(|at| !call.is_null(*at)) {
        if !first {
            work::append_text(&mut out, separator)?;
        }
        work::append_text(&mut out, &numbers::text_of(call.value(at)).unwrap_or_default())?;
        first = false;
    }
    if out.len() > LONGEST { Ok(Value::Null) } else { text(out) }
}

/// Characters of a text.
pub(super) fn length(all: &str) -> i64 {
    all.chars().count() as i64
}

/// The places of a part that begins at a place from 1, or from the end when negative.
fn span(length: usize, start: i64, count: i64) -> (usize, usize) {
    let whole = length as i64;
    let start = match start {
        0 => return (0, 0),
        start if start > 0 => start - 1,
        back => whole.saturating_add(back),
    };
    if start < 0 || start >= whole || count <= 0 {
        return (0, 0);
    }
    let end = start.saturating_add(count).min(whole);
    (start as usize, end as usize)
}

/// So many characters from a place.
fn part(all: &str, start: i64, count: i64) -> &str {
    if all.is_ascii() {
        let (start, end) = span(all.len(), start, count);
        return &all[start..end];
    }
    let (start, end) = span(all.chars().count(), start, count);
    let place = |character: usize| all.char_indices().nth(character).map_or(all.len(), |(at, _)| at);
    let begin = place(start);
    let rest = &all[begin..];
    &rest[..rest.char_indices().nth(end - start).map_or(rest.len(), |(at, _)| at)]
}

fn locate(wanted: &str, all: &str, from: i64) -> Result<Value> {
    let (wanted, all) = (single_folds(wanted), single_folds(all));
    let Some(from) = usize::try_from(from - 1).ok().filter(|from| *from <= all.len()) else { return integer(0) };
    if wanted.is_empty() {
        return integer(from as i64 + 1);
    }
    work::step(all.len())?;
    let found = all[from..].windows(wanted.len()).position(|part| part == wanted);
    integer(found.map_or(0, |at| (from + at) as i64 + 1))
}

fn padded(call: &Call<'_>, left: bool) -> Result<Value> {
    let (all, wanted, pad) = (call.text(0)?, call.integer(1)?, call.text(2)?);
    let length = length(all);
    if wanted < 0 || wanted as usize > LONGEST {
        return Ok(Value::Null);
    }
    if wanted <= length {
        return text(part(all, 1, wanted));
    }
    if pad.is_empty() {
        return text("");
    }
    let missing = (wanted - length) as usize;
    let mut out = work::text(all.len() + missing * pad.chars().map(char::len_utf8).max().unwrap_or(1))?;
    if !left {
        out.push_str(all);
    }
    out.extend(pad.chars().cycle().take(missing));
    if left {
        out.push_str(all);
    }
    text(out)
}

/// Bytes in capital digits.
pub(super) fn hex(bytes: &[u8]) -> Result<String> {
    let mut out = work::text(bytes.len() * 2)?;
    for byte in bytes {
        for digit in [byte >> 4, byte & 15] {
            out.push(char::from(b"0123456789ABCDEF"[usize::from(digit)]));
        }
    }
    Ok(out)
}

/// Bytes of digits; an odd first digit is a byte of its own.
pub(super) fn unhex(digits: &[u8]) -> Option<Vec<u8>> {
    let value = |digit: &u8| char::from(*digit).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let (odd, pairs) = digits.split_at(digits.len() % 2);
    let mut out = Vec::with_capacity(digits.len() / 2 + 1);
    for digit in odd {
        out.push(value(digit)?);
    }
    for pair in pairs.chunks_exact(2) {
        out.push(value(&pair[0])? << 4 | value(&pair[1])?);
    }
    Some(out)
}

/// A number from one base in another; a negative base has signs.
fn conv(digits: &str, from: i64, to: i64) -> Option<String> {
    let base = |base: i64| u32::try_from(base.unsigned_abs()).ok().filter(|base| (2..=36).contains(base));
    let (read, write) = (base(from)?, base(to)?);
    let digits = digits.trim_start();
    let (negative, digits) = match digits.as_bytes().first() {
        Some(b'-') => (true, &digits[1..]),
        Some(b'+') => (false, &digits[1..]),
        _ => (false, digits),
    };
    let limit = if from < 0 { i128::from(i64::MAX) + i128::from(negative) } else { i128::from(u64::MAX) };
    let mut number = 0_i128;
    for digit in digits.chars().map_while(|letter| letter.to_digit(read)) {
        number = (number * i128::from(read) + i128::from(digit)).min(limit);
    }
    let number = if negative { -number } else { number };
    let (sign, mut left) = match (to < 0, number as u64 as i64) {
        (true, signed) if signed < 0 => ("-", signed.unsigned_abs()),
        (_, bits) => ("", bits as u64),
    };
    let mut out = Vec::new();
    loop {
        let digit = char::from_digit((left % u64::from(write)) as u32, write)?;
        out.push(digit.to_ascii_uppercase());
        left /= u64::from(write);
        if left == 0 {
            break;
        }
    }
    Some(sign.chars().chain(out.into_iter().rev()).collect())
}

/// A number with its thousands apart.
fn grouped(value: &Decimal, digits: i64, locale: &str) -> Result<Value> {
    let rounded = value.rounded(digits.clamp(0, 30)).to_string();
    let (sign, rounded) = rounded.strip_prefix('-').map_or(("", rounded.as_str()), |rest| ("-", rest));
    let (whole, fraction) = rounded.split_once('.').map_or((rounded, None), |(whole, part)| (whole, Some(part)));
    let language = locale.split('_').next().unwrap_or_default().to_ascii_lowercase();
    let (point, thousands) = match language.as_str() {
        "de" if locale.eq_ignore_ascii_case("de_CH") => (".", "'"),
        "da" | "de" | "es" | "id" | "is" | "it" | "nl" | "pt" | "ro" | "tr" | "vi" | "el"
            if !locale.eq_ignore_ascii_case("es_MX") && !locale.eq_ignore_ascii_case("it_CH") =>
        {
            (",", ".")
        }
        "fr" | "pl" | "bg" | "hr" | "sl" => (",", ""),
        "cs" | "fi" | "nb" | "no" | "ru" | "sk" | "sv" | "uk" | "hu" => (",", " "),
        _ => (".", ","),
    };
    let mut out = sign.to_owned();
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at).is_multiple_of(3) {
            out.push_str(thousands);
        }
        out.push(digit);
    }
    if let Some(fraction) = fraction {
        out.push_str(point);
        out.push_str(fraction);
    }
    text(out)
}

fn substring_index<'a>(all: &'a str, delimiter: &str, count: i64) -> &'a str {
    if delimiter.is_empty() || count == 0 {
        return "";
    }
    let nth = usize::try_from(count.unsigned_abs() - 1).unwrap_or(usize::MAX);
    if count > 0 {
        all.match_indices(delimiter).nth(nth).map_or(all, |(at, _)| &all[..at])
    } else {
        all.rmatch_indices(delimiter).nth(nth).map_or(all, |(at, _)| &all[at + delimiter.len()..])
    }
}

fn soundex(all: &str) -> String {
    const CODES: &[u8; 26] = b"01230120022455012623010202";
    let code = |letter: char| {
        let place = usize::try_from(u32::from(letter.to_ascii_uppercase()).wrapping_sub(u32::from('A'))).ok()?;
        CODES.get(place).copied()
    };
    let mut letters = all.chars().filter(|letter| letter.is_alphabetic());
    let Some(first) = letters.next() else { return String::new() };
    let mut out: String = first.to_uppercase().collect();
    let mut last = code(first);
    for letter in letters {
        let found = code(letter);
        match found {
            // Vowels part equal codes in none of MySQL's versions.
            Some(b'0') => {}
            Some(digit) if found != last => {
                out.push(char::from(digit));
                last = found;
            }
            Some(_) => {}
            None => {}
        }
    }
    while out.chars().count() < 4 {
        out.push('0');
    }
    out
}
