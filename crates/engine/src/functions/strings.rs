//! Text and bytes.

use rowferry_dialect::ir::Value;
use rowferry_dialect::values::{array, bytea};
use rowferry_dialect::{Condition, Error, Result, Type};
use sha2::Digest;

use super::call::{boolean, integer, text};
use super::{Call, Row};
use crate::catalog::names::quote_ident;

pub(super) const ROWS: &[Row] =
    &[
        Row::new("rf_lower", 1, |call| text(call.text(0)?.chars().map(lower).collect::<String>())),
        Row::new("rf_upper", 1, |call| text(call.text(0)?.chars().map(upper).collect::<String>())),
        Row::new("rf_initcap", 1, initcap),
        Row::new("rf_substring", 2, substring).optional(1),
        Row::new("rf_bytea_substring", 2, bytea_substring).optional(1),
        Row::new("rf_overlay", 3, overlay).optional(1),
        Row::new("rf_translate", 3, translate),
        Row::new("rf_reverse", 1, |call| text(call.text(0)?.chars().rev().collect::<String>())),
        Row::new("rf_repeat", 2, repeat),
        Row::new("rf_lpad", 2, |call| pad(call, true)).optional(1),
        Row::new("rf_rpad", 2, |call| pad(call, false)).optional(1),
        Row::new("rf_left", 2, |call| {
            let all = call.text(0)?;
            text(first(all, kept(all, call.integer(1)?)))
        }),
        Row::new("rf_right", 2, |call| {
            let all = call.text(0)?;
            let dropped = all.chars().count() - kept(all, call.integer(1)?);
            text(&all[first(all, dropped).len()..])
        }),
        Row::new("rf_split_part", 3, split_part),
        Row::new("rf_starts_with", 2, |call| boolean(call.text(0)?.starts_with(call.text(1)?))),
        Row::new("rf_ascii", 1, |call| integer(call.text(0)?.chars().next().map_or(0, u32::from))),
        Row::new("rf_chr", 1, chr),
        Row::new("rf_format", 1, format).variadic().lenient(),
        Row::new("rf_quote_ident", 1, |call| text(quote_ident(call.text(0)?))),
        Row::new("rf_quote_literal", 1, |call| text(quote_literal(call.text(0)?))),
        Row::new("rf_quote_nullable", 1, |call| {
            if call.is_null(0) { text("NULL") } else { text(quote_literal(call.text(0)?)) }
        })
        .lenient(),
        Row::new("rf_md5", 1, |call| text(md5(call.bytes(0)?))),
        Row::new("rf_sha224", 1, |call| Ok(Value::Blob(sha2::Sha224::digest(call.bytes(0)?).to_vec()))),
        Row::new("rf_sha256", 1, |call| Ok(Value::Blob(sha2::Sha256::digest(call.bytes(0)?).to_vec()))),
        Row::new("rf_sha384", 1, |call| Ok(Value::Blob(sha2::Sha384::digest(call.bytes(0)?).to_vec()))),
        Row::new("rf_sha512", 1, |call| Ok(Value::Blob(sha2::Sha512::digest(call.bytes(0)?).to_vec()))),
        Row::new("rf_encode", 2, encode),
        Row::new("rf_decode", 2, decode),
        Row::new("rf_convert_from", 2, |call| {
            check_encoding(call.text(1)?)?;
            match std::str::from_utf8(call.bytes(0)?) {
                Ok(decoded) => text(decoded),
                Err(error) => {
                    let bytes = call.bytes(0)?;
                    let shown: Vec<String> =
                        bytes[error.valid_up_to()..].iter().take(4).map(|byte| format!("0x{byte:02x}")).collect();
                    let message = format!("invalid byte sequence for encoding \"UTF8\": {}", shown.join(" "));
                    Err(Error::new(Condition::CharacterNotInRepertoire, message))
                }
            }
        }),
        Row::new("rf_convert_to", 2, |call| {
            check_encoding(call.text(1)?)?;
            Ok(Value::Blob(call.bytes(0)?.to_vec()))
        }),
        Row::new("rf_bytea_concat", 2, |call| Ok(Value::Blob([call.bytes(0)?, call.bytes(1)?].concat()))),
        Row::new("rf_get_byte", 2, get_byte),
        Row::new("rf_string_to_array", 2, string_to_array).optional(1).lenient(),
        Row::new("rf_normalize", 1, normalize),
        Row::new("rf_unistr", 1, unistr),
        Row::new("rf_parse_ident", 1, parse_ident),
        Row::new("rf_like", 2, |call| like(call, false)).optional(1),
        Row::new("rf_ilike", 2, |call| like(call, true)).optional(1),
        Row::new("rf_matches", 2, matches).optional(1),
    ];

/// The longest text or bytes that a function makes: SQLite's own limit.
const MAX_BYTES: usize = 1_000_000_000;

fn too_long() -> Error {
    Error::new(Condition::ProgramLimitExceeded, "requested length too large")
}

/// The first `count` characters.
fn first(all: &str, count: usize) -> &str {
    match all.char_indices().nth(count) {
        Some((end, _)) => &all[..end],
        None => all,
    }
}

/// How many characters `left(all, count)` keeps: a negative count is how many it leaves out.
fn kept(all: &str, count: i64) -> usize {
    let length = all.chars().count();
    if count >= 0 {
        length.min(usize::try_from(count).unwrap_or(length))
    } else {
        length.saturating_sub(usize::try_from(count.unsigned_abs()).unwrap_or(length))
    }
}

/// The capital letter, where one letter has one: `ß` stays, as in PostgreSQL.
fn upper(c: char) -> char {
    let mut capital = c.to_uppercase();
    match (capital.next(), capital.next()) {
        (Some(capital), None) => capital,
        _ => c,
    }
}

fn lower(c: char) -> char {
    let mut small = c.to_lowercase();
    match (small.next(), small.next()) {
        (Some(small), None) => small,
        _ => c,
    }
}

fn initcap(call: &Call<'_>) -> Result<Value> {
    let mut out = String::new();
    let mut inside = false;
    for c in call.text(0)?.chars() {
        if inside {
            out.push(lower(c));
        } else {
            out.push(upper(c));
        }
        inside = c.is_alphanumeric();
    }
    text(out)
}

/// Where `substring(… from start for count)` begins and ends, from 0; positions before the first count, too.
fn range(call: &Call<'_>) -> Result<(usize, usize)> {
    let start = call.integer(1)?;
    let end = match call.len() {
        2 => i64::MAX,
        _ => {
            let count = call.integer(2)?;
            if count < 0 {
                return Err(Error::new(Condition::SubstringError, "negative substring length not allowed"));
            }
            start.saturating_add(count)
        }
    };
    let place = |position: i64| usize::try_from(position.saturating_sub(1).max(0)).unwrap_or(usize::MAX);
    Ok((place(start), place(end)))
}

fn substring(call: &Call<'_>) -> Result<Value> {
    let (start, end) = range(call)?;
    let all = call.text(0)?;
    if all.is_ascii() {
        let end = end.min(all.len());
        return text(&all[start.min(end)..end]);
    }
    text(all.chars().skip(start).take(end.saturating_sub(start)).collect::<String>())
}

fn bytea_substring(call: &Call<'_>) -> Result<Value> {
    let (start, end) = range(call)?;
    let all = call.bytes(0)?;
    let end = end.min(all.len());
    Ok(Value::Blob(all[start.min(end)..end].to_vec()))
}

fn overlay(call: &Call<'_>) -> Result<Value> {
    let (all, with) = (call.text(0)?, call.text(1)?);
    let start = call.integer(2)?;
    if start < 1 {
        return Err(Error::new(Condition::SubstringError, "negative substring length not allowed"));
    }
    let count = if call.len() > 3 { call.integer(3)? } else { with.chars().count() as i64 };
    let head = first(all, (start - 1) as usize);
    let tail_at = usize::try_from((start - 1).saturating_add(count).max(0)).unwrap_or(usize::MAX);
    let tail = &all[first(all, tail_at).len()..];
    text(format!("{head}{with}{tail}"))
}

fn translate(call: &Call<'_>) -> Result<Value> {
    let from: Vec<char> = call.text(1)?.chars().collect();
    let to: Vec<char> = call.text(2)?.chars().collect();
    let translated = call.text(0)?.chars().filter_map(|c| match from.iter().position(|f| *f == c) {
        Some(at) => to.get(at).copied(),
        None => Some(c),
    });
    text(translated.collect::<String>())
}

fn repeat(call: &Call<'_>) -> Result<Value> {
    let unit = call.text(0)?;
    let count = usize::try_from(call.integer(1)?.max(0)).map_err(|_| too_long())?;
    if unit.len().checked_mul(count).is_none_or(|bytes| bytes > MAX_BYTES) {
        return Err(too_long());
    }
    text(unit.repeat(count))
}

fn pad(call: &Call<'_>, left: bool) -> Result<Value> {
    let all = call.text(0)?;
    let width = usize::try_from(call.integer(1)?.max(0)).map_err(|_| too_long())?;
    let fill = if call.len() > 2 { call.text(2)? } else { " " };
    if width.saturating_mul(4) > MAX_BYTES {
        return Err(too_long());
    }
    let length = all.chars().count();
    if length >= width {
        return text(first(all, width));
    }
    let padding: String = fill.chars().cycle().take(if fill.is_empty() { 0 } else { width - length }).collect();
    text(if left { padding + all } else { all.to_owned() + &padding })
}

fn split_part(call: &Call<'_>) -> Result<Value> {
    let (all, separator, index) = (call.text(0)?, call.text(1)?, call.integer(2)?);
    if index == 0 {
        return Err(Error::new(Condition::InvalidParameterValue, "field position must not be zero"));
    }
    let parts: Vec<&str> = if separator.is_empty() { vec![all] } else { all.split(separator).collect() };
    let at = if index > 0 { index - 1 } else { parts.len() as i64 + index };
    text(usize::try_from(at).ok().and_then(|at| parts.get(at).copied()).unwrap_or(""))
}

fn chr(call: &Call<'_>) -> Result<Value> {
    let code = call.integer(0)?;
    if code == 0 {
        return Err(Error::new(Condition::ProgramLimitExceeded, "null character not permitted"));
    }
    match u32::try_from(code).ok().and_then(char::from_u32) {
        Some(c) => text(c),
        None => {
            let message = format!("requested character not valid for encoding: {code}");
            Err(Error::new(Condition::ProgramLimitExceeded, message))
        }
    }
}

/// `format(pattern, texts…)`: `%s`, `%I`, `%L` with position, `-` and width.
fn format(call: &Call<'_>) -> Result<Value> {
    if call.is_null(0) {
        return Ok(Value::Null);
    }
    let invalid = |message: &str| Error::new(Condition::InvalidParameterValue, message.to_owned());
    let too_few = || invalid("too few arguments for format()");
    let mut out = String::new();
    let mut next = 1;
    let mut chars = call.text(0)?.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        if chars.peek() == Some(&'%') {
            chars.next();
            out.push('%');
            continue;
        }
        let number = |chars: &mut std::iter::Peekable<std::str::Chars<'_>>| {
            let mut value: Option<usize> = None;
            while let Some(digit) = chars.peek().and_then(|c| c.to_digit(10)) {
                chars.next();
                value = Some(value.unwrap_or(0).saturating_mul(10).saturating_add(digit as usize));
            }
            value
        };
        let mut left = false;
        let mut position = None;
        let mut width = number(&mut chars);
        if width.is_some() && chars.peek() == Some(&'$') {
            chars.next();
            position = width.take();
            if position == Some(0) {
                return Err(invalid("format specifies argument 0, but arguments are numbered from 1"));
            }
        }
        if width.is_none() {
            while chars.peek() == Some(&'-') {
                chars.next();
                left = true;
            }
            if chars.peek() == Some(&'*') {
                chars.next();
                let at = number(&mut chars);
                if at.is_some() && chars.next() != Some('$') {
                    return Err(invalid("width argument position must be ended by \"$\""));
                }
                let at = at.unwrap_or_else(|| {
                    next += 1;
                    next - 1
                });
                if at >= call.len() {
                    return Err(too_few());
                }
                let asked: i64 = if call.is_null(at) { 0 } else { call.text(at)?.parse().unwrap_or(0) };
                left |= asked < 0;
                width = usize::try_from(asked.unsigned_abs()).ok();
            } else {
                width = number(&mut chars);
            }
        }
        let kind = chars.next().ok_or_else(|| invalid("unterminated format() type specifier"))?;
        if !matches!(kind, 's' | 'I' | 'L') {
            return Err(invalid(&format!("unrecognized format() type specifier \"{kind}\""))
                .hint("For a single \"%\" use \"%%\"."));
        }
        let at = position.unwrap_or(next);
        next = at + 1;
        if at >= call.len() {
            return Err(too_few());
        }
        let shown = match (kind, call.is_null(at)) {
            ('s', true) => String::new(),
            ('L', true) => "NULL".to_owned(),
            (_, true) => {
                return Err(Error::new(
                    Condition::NullValueNotAllowed,
                    "null values cannot be formatted as an SQL identifier",
                ));
            }
            ('s', false) => call.text(at)?.to_owned(),
            ('I', false) => quote_ident(call.text(at)?),
            _ => quote_literal(call.text(at)?),
        };
        let width = width.unwrap_or(0);
        if width > MAX_BYTES / 4 {
            return Err(too_long());
        }
        let padding = " ".repeat(width.saturating_sub(shown.chars().count()));
        out.push_str(&if left { shown + &padding } else { padding + &shown });
    }
    text(out)
}

/// A string literal.
pub(super) fn quote_literal(value: &str) -> String {
    let doubled = value.replace('\'', "''");
    if value.contains('\\') {
        format!(" E'{}'", doubled.replace('\\', "\\\\")).trim_start().to_owned()
    } else {
        format!("'{doubled}'")
    }
}

fn check_encoding(name: &str) -> Result<()> {
    if matches!(name.to_ascii_lowercase().replace(['-', '_'], "").as_str(), "utf8" | "unicode" | "sqlascii") {
        Ok(())
    } else {
        Err(Error::unsupported(format!("the encoding {name}")))
    }
}

fn encode(call: &Call<'_>) -> Result<Value> {
    let bytes = call.bytes(0)?;
    match call.text(1)?.to_ascii_lowercase().as_str() {
        "hex" => text(bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>()),
        "base64" => text(base64(bytes)),
        "escape" => {
            let mut out = String::new();
            for byte in bytes {
                match byte {
                    b'\\' => out.push_str("\\\\"),
                    0 | 0x80..=0xff => out.push_str(&format!("\\{byte:03o}")),
                    _ => out.push(char::from(*byte)),
                }
            }
            text(out)
        }
        other => Err(Error::new(Condition::InvalidParameterValue, format!("unrecognized encoding: \"{other}\""))),
    }
}

fn decode(call: &Call<'_>) -> Result<Value> {
    let shown = call.text(0)?;
    match call.text(1)?.to_ascii_lowercase().as_str() {
        "hex" => bytea::parse(&format!("\\x{shown}")).map(Value::Blob),
        "base64" => unbase64(shown).map(Value::Blob),
        "escape" => bytea::parse_escape(shown).map(Value::Blob),
        other => Err(Error::new(Condition::InvalidParameterValue, format!("unrecognized encoding: \"{other}\""))),
    }
}

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// RFC 2045 Base64: lines of 76 characters, none ended at the end.
fn base64(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len() / 3 * 4 + 4);
    let mut column = 0;
    for chunk in bytes.chunks(3) {
        if column == 76 {
            out.push('\n');
            column = 0;
        }
        let group = chunk.iter().fold(0_u32, |group, byte| group << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for at in 0..4 {
            let digit = BASE64[(group >> (18 - 6 * at)) as usize & 0x3f];
            out.push(if at <= chunk.len() { char::from(digit) } else { '=' });
        }
        column += 4;
    }
    out
}

fn unbase64(shown: &str) -> Result<Vec<u8>> {
    let invalid = |message: String| Error::new(Condition::InvalidParameterValue, message);
    let mut out = Vec::with_capacity(shown.len() / 4 * 3);
    let mut group = 0_u32;
    let mut count = 0;
    let mut padding = 0;
    for c in shown.chars().filter(|c| !c.is_ascii_whitespace()) {
        let digit = match c {
            '=' => {
                padding += 1;
                0
            }
            c => match BASE64.iter().position(|digit| char::from(*digit) == c) {
                Some(digit) if padding == 0 => digit as u32,
                _ => return Err(invalid(format!("invalid symbol \"{c}\" found while decoding base64 sequence"))),
            },
        };
        group = group << 6 | digit;
        count += 1;
        if count == 4 {
            if padding > 2 {
                return Err(invalid("invalid base64 end sequence".to_owned()));
            }
            out.extend_from_slice(&group.to_be_bytes()[1..4 - padding]);
            group = 0;
            count = 0;
        }
    }
    if count != 0 {
        return Err(invalid("invalid base64 end sequence".to_owned())
            .hint("Input data is missing padding, is truncated, or is otherwise corrupted."));
    }
    Ok(out)
}

fn get_byte(call: &Call<'_>) -> Result<Value> {
    let (bytes, at) = (call.bytes(0)?, call.integer(1)?);
    match usize::try_from(at).ok().and_then(|at| bytes.get(at)) {
        Some(byte) => integer(*byte),
        None => {
            let message = format!("index {at} out of valid range, 0..{}", bytes.len() as i64 - 1);
            Err(Error::new(Condition::IllegalSubscript, message))
        }
    }
}

/// The members that `string_to_array` and `string_to_table` make; `None` is NULL.
pub(super) fn split<'a>(all: &'a str, separator: Option<&str>, null: Option<&str>) -> Vec<Option<&'a str>> {
    let parts: Vec<&str> = match separator {
        _ if all.is_empty() => Vec::new(),
        None => all.char_indices().map(|(at, c)| &all[at..at + c.len_utf8()]).collect(),
        Some("") => vec![all],
        Some(separator) => all.split(separator).collect(),
    };
    parts.into_iter().map(|part| if Some(part) == null { None } else { Some(part) }).collect()
}

fn string_to_array(call: &Call<'_>) -> Result<Value> {
    if call.is_null(0) {
        return Ok(Value::Null);
    }
    let separator = if call.is_null(1) { None } else { Some(call.text(1)?) };
    let null = if call.given(2).is_some() { Some(call.text(2)?) } else { None };
    let parts = split(call.text(0)?, separator, null);
    text(texts(parts.into_iter()))
}

/// The stored array of texts.
pub(super) fn texts<'a>(members: impl Iterator<Item = Option<&'a str>>) -> String {
    use rowferry_dialect::values::ValueRef;
    let members = members.map(|member| member.map_or(ValueRef::Null, |member| ValueRef::Text(member.as_bytes())));
    array::from_elements(members, &Type::Text)
}

fn normalize(call: &Call<'_>) -> Result<Value> {
    let all = call.text(0)?;
    if all.is_ascii() {
        return text(all);
    }
    Err(Error::unsupported("normalize() of text outside ASCII"))
}

fn unistr(call: &Call<'_>) -> Result<Value> {
    let invalid = || Error::new(Condition::SyntaxError, "invalid Unicode escape");
    let mut out = String::new();
    let mut rest = call.text(0)?;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let (digits, skip) = match rest.as_bytes().first() {
            Some(b'\\') => {
                out.push('\\');
                rest = &rest[1..];
                continue;
            }
            Some(b'u') => (4, 1),
            Some(b'U') => (8, 1),
            Some(b'+') => (6, 1),
            _ => (4, 0),
        };
        let code = rest.get(skip..skip + digits).and_then(|code| u32::from_str_radix(code, 16).ok());
        out.push(code.and_then(char::from_u32).ok_or_else(invalid)?);
        rest = &rest[skip + digits..];
    }
    out.push_str(rest);
    text(out)
}

fn parse_ident(call: &Call<'_>) -> Result<Value> {
    let all = call.text(0)?;
    let invalid =
        || Error::new(Condition::InvalidParameterValue, format!("string is not a valid identifier: \"{all}\""));
    let mut parts = Vec::new();
    let mut rest = all.trim();
    loop {
        if let Some(quoted) = rest.strip_prefix('"') {
            let mut name = String::new();
            let mut chars = quoted.chars().peekable();
            loop {
                match chars.next() {
                    Some('"') if chars.peek() == Some(&'"') => {
                        chars.next();
                        name.push('"');
                    }
                    Some('"') => break,
                    Some(c) => name.push(c),
                    None => return Err(invalid()),
                }
            }
            rest = &quoted[quoted.len() - chars.collect::<String>().len()..];
            parts.push(name);
        } else {
            let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$')).unwrap_or(rest.len());
            if end == 0 || rest.starts_with(|c: char| c.is_ascii_digit()) {
                return Err(invalid());
            }
            parts.push(rest[..end].to_lowercase());
            rest = &rest[end..];
        }
        rest = rest.trim_start();
        if rest.is_empty() {
            break;
        }
        rest = rest.strip_prefix('.').ok_or_else(invalid)?.trim_start();
    }
    text(texts(parts.iter().map(|part| Some(part.as_str()))))
}

/// `LIKE` as the standard has it: case counts, and the escape character is a backslash unless told.
fn like(call: &Call<'_>, any_case: bool) -> Result<Value> {
    let escape = match call.len() {
        2 => Some('\\'),
        _ => {
            let escape = call.text(2)?;
            let mut chars = escape.chars();
            let first = chars.next();
            if chars.next().is_some() {
                return Err(Error::new(Condition::InvalidEscapeSequence, "invalid escape string")
                    .hint("Escape string must be empty or one character."));
            }
            first
        }
    };
    let (subject, pattern) = (call.text(0)?, call.text(1)?);
    if any_case {
        boolean(matches_like(&fold(subject), &fold(pattern), escape)?)
    } else {
        boolean(matches_like(&chars(subject), &chars(pattern), escape)?)
    }
}

fn chars(text: &str) -> Vec<char> {
    text.chars().collect()
}

fn fold(text: &str) -> Vec<char> {
    text.chars().map(lower).collect()
}

/// One place of a pattern.
enum Element {
    One(char),
    AnyOne,
    AnyMany,
    Set(Vec<(char, char)>, bool),
}

fn matches_like(subject: &[char], pattern: &[char], escape: Option<char>) -> Result<bool> {
    let mut elements = Vec::with_capacity(pattern.len());
    let mut rest = pattern.iter().copied();
    while let Some(c) = rest.next() {
        elements.push(if Some(c) == escape {
            Element::One(rest.next().ok_or_else(|| {
                Error::new(Condition::InvalidEscapeSequence, "LIKE pattern must not end with escape character")
            })?)
        } else {
            match c {
                '%' => Element::AnyMany,
                '_' => Element::AnyOne,
                c => Element::One(c),
            }
        });
    }
    Ok(matches_elements(subject, &elements))
}

/// Greedy with one place to come back to: linear for usual patterns, never worse than subject × pattern.
fn matches_elements(subject: &[char], elements: &[Element]) -> bool {
    let (mut at, mut element) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    while at < subject.len() {
        let fits = match elements.get(element) {
            Some(Element::AnyMany) => {
                retry = Some((at, element));
                element += 1;
                continue;
            }
            Some(Element::AnyOne) => true,
            Some(Element::One(c)) => *c == subject[at],
            Some(Element::Set(ranges, negated)) => {
                ranges.iter().any(|(low, high)| (*low..=*high).contains(&subject[at])) != *negated
            }
            None => false,
        };
        if fits {
            at += 1;
            element += 1;
        } else if let Some((start, many)) = retry {
            retry = Some((start + 1, many));
            at = start + 1;
            element = many + 1;
        } else {
            return false;
        }
    }
    elements[element..].iter().all(|element| matches!(element, Element::AnyMany))
}

/// Informix's `MATCHES`: `*`, `?`, `[a-z]`, `[^a-z]`.
fn matches(call: &Call<'_>) -> Result<Value> {
    let escape = if call.len() > 2 { call.text(2)?.chars().next() } else { Some('\\') };
    let (subject, pattern) = (chars(call.text(0)?), chars(call.text(1)?));
    let mut elements = Vec::with_capacity(pattern.len());
    let mut at = 0;
    while let Some(c) = pattern.get(at).copied() {
        at += 1;
        if Some(c) == escape && at < pattern.len() {
            elements.push(Element::One(pattern[at]));
            at += 1;
            continue;
        }
        elements.push(match c {
            '*' => Element::AnyMany,
            '?' => Element::AnyOne,
            '[' => match set(&pattern[at..], escape) {
                Some((element, length)) => {
                    at += length;
                    element
                }
                None => Element::One('['),
            },
            c => Element::One(c),
        });
    }
    boolean(matches_elements(&subject, &elements))
}

/// The set behind a `[`, and how many characters it has with its `]`; `None` if it is not closed.
fn set(pattern: &[char], escape: Option<char>) -> Option<(Element, usize)> {
    let mut at = 0;
    let negated = pattern.first() == Some(&'^');
    at += usize::from(negated);
    let mut ranges = Vec::new();
    let begin = at;
    loop {
        let mut c = *pattern.get(at)?;
        if c == ']' && at > begin {
            return Some((Element::Set(ranges, negated), at + 1));
        }
        if Some(c) == escape {
            at += 1;
            c = *pattern.get(at)?;
        }
        at += 1;
        if pattern.get(at) == Some(&'-') && pattern.get(at + 1).is_some_and(|high| *high != ']') {
            let high = pattern[at + 1];
            ranges.push((c, high));
            at += 2;
        } else {
            ranges.push((c, c));
        }
    }
}

/// MD5 (RFC 1321): asked for by clients as a checksum, of no use for secrets.
fn md5(bytes: &[u8]) -> String {
    const SHIFTS: [u32; 16] = [7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21];
    let mut state: [u32; 4] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476];
    let mut message = bytes.to_vec();
    message.push(0x80);
    while message.len() % 64 != 56 {
        message.push(0);
    }
    message.extend_from_slice(&(bytes.len() as u64).wrapping_mul(8).to_le_bytes());
    for block in message.chunks(64) {
        let words: Vec<u32> =
            block.chunks(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect();
        let [mut a, mut b, mut c, mut d] = state;
        for step in 0..64 {
            let (mix, word) = match step / 16 {
                0 => ((b & c) | (!b & d), step),
                1 => ((d & b) | (!d & c), (5 * step + 1) % 16),
                2 => (b ^ c ^ d, (3 * step + 5) % 16),
                _ => (c ^ (b | !d), 7 * step % 16),
            };
            // The constants are the sines of the step numbers.
            let constant = (((step + 1) as f64).sin().abs() * 4_294_967_296.0) as u32;
            let sum = a.wrapping_add(mix).wrapping_add(constant).wrapping_add(words[word]);
            (a, d, c) = (d, c, b);
            b = b.wrapping_add(sum.rotate_left(SHIFTS[step / 16 * 4 + step % 4]));
        }
        for (sum, part) in state.iter_mut().zip([a, b, c, d]) {
            *sum = sum.wrapping_add(part);
        }
    }
    state.iter().flat_map(|word| word.to_le_bytes()).map(|byte| format!("{byte:02x}")).collect()
}
