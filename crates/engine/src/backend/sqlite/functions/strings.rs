//! Text.

use std::borrow::Cow;
use std::collections::HashMap;

use rowferry_dialect::ir::Value;
use rowferry_dialect::values::{ValueRef, array};
use rowferry_dialect::{Condition, Error, Result, Type, work};
use unicode_normalization::UnicodeNormalization;

use super::call::{boolean, integer, text};
use super::{Call, Row};
use crate::catalog::names::quote_ident;

pub(super) const ROWS: &[Row] =
    &[
        // With a second argument a letter may become several, as ICU has it.
        Row::new("rf_lower", 1, |call| match call.len() {
            1 => mapped(call.text(0)?, lower),
            _ => text(call.text(0)?.to_lowercase()),
        })
        .optional(1),
        Row::new("rf_upper", 1, |call| match call.len() {
            1 => mapped(call.text(0)?, upper),
            _ => text(call.text(0)?.to_uppercase()),
        })
        .optional(1),
        Row::new("rf_initcap", 1, |call| initcap(call, lower, upper, char::is_alphanumeric)),
        // The collations C and POSIX know the letters of ASCII alone.
        Row::new("rf_initcap_ascii", 1, |call| {
            let letter = |c: char| c.is_ascii_alphanumeric();
            initcap(call, |c| c.to_ascii_lowercase(), |c| c.to_ascii_uppercase(), letter)
        }),
        Row::new("rf_substring", 2, substring).optional(1),
        Row::new("rf_bytea_substring", 2, bytea_substring).optional(1),
        Row::new("rf_overlay", 3, overlay).optional(1),
        Row::new("rf_translate", 3, translate),
        Row::new("rf_reverse", 1, reverse),
        Row::new("rf_repeat", 2, repeat),
        Row::new("rf_lpad", 2, |call| pad(call, true)).optional(1),
        Row::new("rf_rpad", 2, |call| pad(call, false)).optional(1),
        Row::new("rf_left", 2, |call| {
            let all = call.text(0)?;
            text(first(all, kept(all, call.integer(1)?))?)
        }),
        Row::new("rf_right", 2, |call| {
            let all = call.text(0)?;
            let dropped = all.chars().count() - kept(all, call.integer(1)?);
            text(&all[first(all, dropped)?.len()..])
        }),
        Row::new("rf_like_escape", 2, like_escape),
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
        Row::new("rf_string_to_array", 2, string_to_array).optional(1).lenient(),
        Row::new("rf_normalize", 1, |call| text(normalized(call)?)).optional(1),
        Row::new("rf_is_normalized", 1, |call| boolean(normalized(call)? == call.text(0)?)).optional(1),
        Row::new("rf_unistr", 1, unistr),
        Row::new("rf_parse_ident", 1, parse_ident).optional(1),
        // SQLite's own under the same names, which compare at every place and cannot be stopped.
        Row::new("instr", 2, instr),
        Row::new("replace", 3, replace),
    ];

/// The longest text or bytes that a function makes: SQLite's own limit.
const MAX_BYTES: usize = 1_000_000_000;

fn too_long() -> Error {
    Error::new(Condition::ProgramLimitExceeded, "requested length too large")
}

/// The first `count` characters.
fn first(all: &str, count: usize) -> Result<&str> {
    let (mut left, mut end) = (count, 0);
    for piece in work::pieces(all) {
        work::step(piece.len())?;
        // No piece has more characters than bytes.
        let characters = if left >= piece.len() { piece.chars().count() } else { left + 1 };
        if characters > left
            && let Some((at, _)) = piece.char_indices().nth(left)
        {
            return Ok(&all[..end + at]);
        }
        left -= characters.min(left).min(piece.chars().count());
        end += piece.len();
    }
    Ok(all)
}

/// Every character mapped.
fn mapped(all: &str, mut map: impl FnMut(char) -> char) -> Result<Value> {
    let mut out = work::text(all.len())?;
    for piece in work::pieces(all) {
        work::step(piece.len())?;
        out.extend(piece.chars().map(&mut map));
    }
    text(out)
}

fn reverse(call: &Call<'_>) -> Result<Value> {
    let all = call.text(0)?;
    let mut out = work::text(all.len())?;
    let mut end = all.len();
    while end > 0 {
        let mut start = end.saturating_sub(work::STRIDE);
        while !all.is_char_boundary(start) {
            start += 1;
        }
        work::step(end - start)?;
        out.extend(all[start..end].chars().rev());
        end = start;
    }
    text(out)
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

pub(super) fn lower(c: char) -> char {
    let mut small = c.to_lowercase();
    match (small.next(), small.next()) {
        (Some(small), None) => small,
        _ => c,
    }
}

fn initcap(
    call: &Call<'_>,
    lower: fn(char) -> char,
    upper: fn(char) -> char,
    is_letter: fn(char) -> bool,
) -> Result<Value> {
    let mut inside = false;
    mapped(call.text(0)?, |c| {
        let shown = if inside { lower(c) } else { upper(c) };
        inside = is_letter(c);
        shown
    })
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
    let rest = &all[first(all, start)?.len()..];
    text(first(rest, end.saturating_sub(start))?)
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
    let head = first(all, (start - 1) as usize)?;
    let tail_at = usize::try_from((start - 1).saturating_add(count).max(0)).unwrap_or(usize::MAX);
    let tail = &all[first(all, tail_at)?.len()..];
    let mut out = work::text(head.len() + with.len() + tail.len())?;
    for part in [head, with, tail] {
        out.push_str(part);
    }
    text(out)
}

fn translate(call: &Call<'_>) -> Result<Value> {
    let mut to = call.text(2)?.chars();
    // The first of equal characters counts.
    let mut map: HashMap<char, Option<char>> = HashMap::new();
    for from in call.text(1)?.chars() {
        work::step(1)?;
        let to = to.next();
        map.entry(from).or_insert(to);
    }
    let all = call.text(0)?;
    let mut out = work::text(all.len())?;
    for piece in work::pieces(all) {
        work::step(piece.len() * 4)?;
        work::reserve_text(&mut out, piece.len() * 4)?;
        out.extend(piece.chars().filter_map(|c| map.get(&c).copied().unwrap_or(Some(c))));
    }
    text(out)
}

fn repeat(call: &Call<'_>) -> Result<Value> {
    let unit = call.text(0)?;
    let count = usize::try_from(call.integer(1)?.max(0)).map_err(|_| too_long())?;
    if unit.len().checked_mul(count).is_none_or(|bytes| bytes > MAX_BYTES) {
        return Err(too_long());
    }
    text(repeated(unit, unit.len() * count)?)
}

/// The first `length` bytes of a text without end that repeats `unit`; they end between characters.
fn repeated(unit: &str, length: usize) -> Result<String> {
    let mut out = work::text(length)?;
    // A stretch at a time, so that short units are not copied one by one.
    let stretch = if unit.len() < work::STRIDE {
        unit.repeat(work::STRIDE.min(length) / unit.len().max(1))
    } else {
        String::new()
    };
    for source in [stretch.as_str(), unit] {
        while !source.is_empty() && out.len() + source.len() <= length {
            work::step(source.len())?;
            out.push_str(source);
        }
    }
    out.push_str(&unit[..length - out.len()]);
    Ok(out)
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
        return text(first(all, width)?);
    }
    let characters = if fill.is_empty() { 0 } else { width - length };
    let whole = characters / fill.chars().count().max(1);
    let rest = first(fill, characters - whole * fill.chars().count())?;
    let padding = repeated(fill, whole * fill.len() + rest.len())?;
    let mut out = work::text(padding.len() + all.len())?;
    for part in if left { [padding.as_str(), all] } else { [all, padding.as_str()] } {
        out.push_str(part);
    }
    text(out)
}

fn split_part(call: &Call<'_>) -> Result<Value> {
    let (all, separator, index) = (call.text(0)?, call.text(1)?, call.integer(2)?);
    if index == 0 {
        return Err(Error::new(Condition::InvalidParameterValue, "field position must not be zero"));
    }
    if separator.is_empty() {
        return text(if index.abs() == 1 { all } else { "" });
    }
    let at = usize::try_from(index.unsigned_abs() - 1).unwrap_or(usize::MAX);
    let found = if index > 0 {
        nth(all.split(separator), at)?
    } else {
        // From the front, since a separator can overlap itself: the last parts are those of a search forward.
        let count = count(all.split(separator))?;
        count.checked_sub(at + 1).map_or(Ok(None), |at| nth(all.split(separator), at))?
    };
    text(found.unwrap_or(""))
}

/// Where `sought` begins, from 1: in characters, or in bytes if both are blobs; 0 when it is nowhere.
fn instr(call: &Call<'_>) -> Result<Value> {
    if let (ValueRef::Blob(all), ValueRef::Blob(sought)) = (call.value(0), call.value(1)) {
        return integer(find(all, sought)?.map_or(0, |at| at as i64 + 1));
    }
    let (all, sought) = (call.shown(0)?, call.shown(1)?);
    match all.find(&*sought) {
        Some(at) => {
            let mut characters = 0;
            for piece in work::pieces(&all[..at]) {
                work::step(piece.len())?;
                characters += piece.chars().count() as i64;
            }
            integer(characters + 1)
        }
        None => integer(0),
    }
}

/// Where bytes are found; their first byte is looked for first, and each place of it is a step.
fn find(all: &[u8], sought: &[u8]) -> Result<Option<usize>> {
    let Some(first) = sought.first() else { return Ok(Some(0)) };
    let mut at = 0;
    while all.len() - at >= sought.len() {
        let Some(found) = all[at..].iter().position(|byte| byte == first) else { return Ok(None) };
        work::step(found + 1)?;
        at += found;
        let same = all[at..].iter().zip(sought).take_while(|(a, b)| a == b).count();
        if same == sought.len() {
            return Ok(Some(at));
        }
        work::step(same)?;
        at += 1;
    }
    Ok(None)
}

/// Every `old` becomes `new`; an empty one is nowhere.
fn replace(call: &Call<'_>) -> Result<Value> {
    let (all, old, new) = (call.shown(0)?, call.shown(1)?, call.shown(2)?);
    if old.is_empty() {
        return text(&*all);
    }
    let mut out = work::text(all.len())?;
    let mut last = 0;
    for (at, _) in all.match_indices(&*old) {
        work::step(at - last + new.len() + 8)?;
        work::append_text(&mut out, &all[last..at])?;
        work::append_text(&mut out, &new)?;
        last = at + old.len();
    }
    work::append_text(&mut out, &all[last..])?;
    text(out)
}

fn nth<'a>(mut parts: impl Iterator<Item = &'a str>, at: usize) -> Result<Option<&'a str>> {
    for _ in 0..at {
        match parts.next() {
            Some(part) => work::step(part.len() + 1)?,
            None => return Ok(None),
        }
    }
    Ok(parts.next())
}

fn count<'a>(parts: impl Iterator<Item = &'a str>) -> Result<usize> {
    let mut count = 0;
    for part in parts {
        work::step(part.len() + 1)?;
        count += 1;
    }
    Ok(count)
}

fn chr(call: &Call<'_>) -> Result<Value> {
    let code = call.integer(0)?;
    if code == 0 {
        return Err(Error::new(Condition::ProgramLimitExceeded, "null character not permitted"));
    }
    let Ok(point) = u32::try_from(code) else {
        return Err(Error::new(Condition::InvalidParameterValue, "character number must be positive"));
    };
    match char::from_u32(point) {
        Some(c) => text(c),
        None => {
            let why = if point > u32::from(char::MAX) { "too large" } else { "not valid" };
            let message = format!("requested character {why} for encoding: {code}");
            Err(Error::new(Condition::ProgramLimitExceeded, message))
        }
    }
}

fn format(call: &Call<'_>) -> Result<Value> {
    if call.is_null(0) {
        return Ok(Value::Null);
    }
    let argument = |at: usize| if call.is_null(at) { Ok(None) } else { call.text(at).map(|text| Some(text.into())) };
    formatted(call.text(0)?, call.len(), &argument)
}

/// `format(pattern, texts…)`: `%s`, `%I`, `%L` with position, `-` and width. `count` counts the pattern, too.
pub(super) fn formatted<'a>(
    pattern: &str,
    count: usize,
    argument: &dyn Fn(usize) -> Result<Option<Cow<'a, str>>>,
) -> Result<Value> {
    let invalid = |message: &str| Error::new(Condition::InvalidParameterValue, message.to_owned());
    let too_few = || invalid("too few arguments for format()");
    let mut out = String::new();
    let mut next = 1;
    let mut chars = pattern.chars().peekable();
    while let Some(c) = chars.next() {
        work::step(1)?;
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
                if at == Some(0) {
                    return Err(invalid("format specifies argument 0, but arguments are numbered from 1"));
                }
                // The value comes from the argument behind that of the width.
                let at = at.unwrap_or(next);
                next = at + 1;
                if at >= count {
                    return Err(too_few());
                }
                // PostgreSQL reads it as an integer, whatever its type.
                let asked = match argument(at)? {
                    Some(asked) => rowferry_dialect::values::integer::parse(&asked, &Type::Int4)?,
                    None => 0,
                };
                left |= asked < 0;
                width = usize::try_from(asked.unsigned_abs()).ok();
            } else {
                width = number(&mut chars);
            }
        }
        let unterminated = || invalid("unterminated format() type specifier").hint("For a single \"%\" use \"%%\".");
        let kind = chars.next().ok_or_else(unterminated)?;
        if !matches!(kind, 's' | 'I' | 'L') {
            return Err(invalid(&format!("unrecognized format() type specifier \"{kind}\""))
                .hint("For a single \"%\" use \"%%\"."));
        }
        let at = position.unwrap_or(next);
        next = at + 1;
        if at >= count {
            return Err(too_few());
        }
        let shown = match (kind, argument(at)?) {
            ('s', None) => Cow::Borrowed(""),
            ('L', None) => Cow::Borrowed("NULL"),
            (_, None) => {
                return Err(Error::new(
                    Condition::NullValueNotAllowed,
                    "null values cannot be formatted as an SQL identifier",
                ));
            }
            ('s', Some(text)) => text,
            ('I', Some(text)) => quote_ident(&text).into(),
            (_, Some(text)) => quote_literal(&text).into(),
        };
        let width = width.unwrap_or(0);
        if width > MAX_BYTES / 4 {
            return Err(too_long());
        }
        let padding = repeated(" ", width.saturating_sub(shown.chars().count()))?;
        work::step(shown.len())?;
        for part in if left { [&*shown, &padding] } else { [&padding, &*shown] } {
            work::append_text(&mut out, part)?;
        }
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

/// The members that `string_to_array` and `string_to_table` make; `None` is NULL.
pub(super) fn split<'a>(
    all: &'a str,
    separator: Option<&'a str>,
    null: Option<&'a str>,
) -> Box<dyn Iterator<Item = Option<&'a str>> + 'a> {
    let parts: Box<dyn Iterator<Item = &'a str> + 'a> = match separator {
        _ if all.is_empty() => Box::new(std::iter::empty()),
        None => Box::new(all.char_indices().map(move |(at, c)| &all[at..at + c.len_utf8()])),
        Some("") => Box::new(std::iter::once(all)),
        Some(separator) => Box::new(all.split(separator)),
    };
    Box::new(parts.map(move |part| Some(part).filter(|part| Some(*part) != null)))
}

fn string_to_array(call: &Call<'_>) -> Result<Value> {
    if call.is_null(0) {
        return Ok(Value::Null);
    }
    let separator = if call.is_null(1) { None } else { Some(call.text(1)?) };
    let null = if call.given(2).is_some() { Some(call.text(2)?) } else { None };
    text(texts(split(call.text(0)?, separator, null))?)
}

/// The stored array of texts.
pub(super) fn texts<'a>(members: impl Iterator<Item = Option<&'a str>>) -> Result<String> {
    let mut out = "[".to_owned();
    for member in members {
        if out.len() > 1 {
            out.push(',');
        }
        let length = member.map_or(4, str::len);
        work::step(length + 4)?;
        work::reserve_text(&mut out, length + 4)?;
        let member = member.map_or(ValueRef::Null, |member| ValueRef::Text(member.as_bytes()));
        array::push_element(&mut out, member, &Type::Text);
    }
    out.push(']');
    Ok(out)
}

/// A normal form of Unicode by its name.
fn normal_form(call: &Call<'_>) -> Result<fn(&str) -> String> {
    let form = if call.len() > 1 { call.text(1)? } else { "NFC" };
    Ok(match form.to_ascii_uppercase().as_str() {
        "NFC" => |text| text.nfc().collect(),
        "NFD" => |text| text.nfd().collect(),
        "NFKC" => |text| text.nfkc().collect(),
        "NFKD" => |text| text.nfkd().collect(),
        _ => {
            let message = format!("invalid normalization form: {form}");
            return Err(Error::new(Condition::InvalidParameterValue, message));
        }
    })
}

fn normalized(call: &Call<'_>) -> Result<String> {
    let normalize = normal_form(call)?;
    let all = call.text(0)?;
    // What is decomposed can be eighteen times as long.
    work::room_to_work(all.len().saturating_mul(18))?;
    work::step(all.len().saturating_mul(8))?;
    Ok(normalize(all))
}

/// Why an escape of Unicode is none.
fn bad_escape() -> Error {
    Error::new(Condition::SyntaxError, "invalid Unicode escape")
        .hint("Unicode escapes must be \\XXXX, \\+XXXXXX, \\uXXXX, or \\UXXXXXXXX.")
}

fn unistr(call: &Call<'_>) -> Result<Value> {
    let bad_pair = || Error::new(Condition::SyntaxError, "invalid Unicode surrogate pair");
    let mut out = String::new();
    let mut rest = call.text(0)?;
    // The first half of a character beyond 16 bits.
    let mut half: Option<u32> = None;
    while let Some(at) = rest.find('\\') {
        work::step(at + 1)?;
        if half.is_some() && at > 0 {
            return Err(bad_pair());
        }
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let (digits, skip) = match rest.as_bytes().first() {
            Some(b'\\') => {
                if half.is_some() {
                    return Err(bad_pair());
                }
                out.push('\\');
                rest = &rest[1..];
                continue;
            }
            Some(b'u') => (4, 1),
            Some(b'U') => (8, 1),
            Some(b'+') => (6, 1),
            _ => (4, 0),
        };
        let digits = rest.get(skip..skip + digits).filter(|code| code.bytes().all(|digit| digit.is_ascii_hexdigit()));
        let digits = digits.ok_or_else(bad_escape)?;
        let code = u32::from_str_radix(digits, 16).map_err(|_| bad_escape())?;
        if code == 0 || code > 0x10_ffff {
            let message = format!("invalid Unicode code point: {code:04X}");
            return Err(Error::new(Condition::InvalidParameterValue, message));
        }
        match (half.take(), code) {
            (None, 0xd800..=0xdbff) => half = Some(code),
            (None, _) => out.push(char::from_u32(code).ok_or_else(bad_pair)?),
            (Some(first), 0xdc00..=0xdfff) => {
                let code = 0x1_0000 + ((first & 0x3ff) << 10) + (code & 0x3ff);
                out.push(char::from_u32(code).ok_or_else(bad_pair)?);
            }
            (Some(_), _) => return Err(bad_pair()),
        }
        rest = &rest[skip + digits.len()..];
    }
    if half.is_some() {
        return Err(bad_pair());
    }
    out.push_str(rest);
    text(out)
}

/// `parse_ident(text[, strict])`
fn parse_ident(call: &Call<'_>) -> Result<Value> {
    let all = call.text(0)?;
    let strict = call.len() < 2 || call.boolean(1)?;
    let invalid =
        || Error::new(Condition::InvalidParameterValue, format!("string is not a valid identifier: \"{all}\""));
    let is_space = |c: char| matches!(c, ' ' | '\t' | '\n' | '\r' | '\x0b' | '\x0c');
    let mut parts: Vec<String> = Vec::new();
    let mut rest = all.trim_start_matches(is_space);
    let mut behind_dot = false;
    loop {
        work::step(8)?;
        if let Some(quoted) = rest.strip_prefix('"') {
            let unclosed = || invalid().detail("String has unclosed double quotes.");
            let mut name = String::new();
            let mut behind = quoted;
            loop {
                let (part, more) = behind.split_once('"').ok_or_else(unclosed)?;
                work::step(part.len() + 1)?;
                name.push_str(part);
                behind = more;
                match behind.strip_prefix('"') {
                    Some(more) => {
                        name.push('"');
                        behind = more;
                    }
                    None => break,
                }
            }
            if name.is_empty() {
                return Err(invalid().detail("Quoted identifier must not be empty."));
            }
            rest = behind;
            parts.push(name);
        } else {
            let begins = |c: char| c.is_ascii_alphabetic() || c == '_' || !c.is_ascii();
            let goes_on = |c: char| begins(c) || c.is_ascii_digit() || c == '$';
            let end = rest.find(|c| !goes_on(c)).unwrap_or(rest.len());
            if !rest.starts_with(begins) {
                return Err(if rest.starts_with('.') {
                    invalid().detail("No valid identifier before \".\".")
                } else if behind_dot {
                    invalid().detail("No valid identifier after \".\".")
                } else {
                    invalid()
                });
            }
            work::step(end)?;
            parts.push(rest[..end].chars().map(|c| c.to_ascii_lowercase()).collect());
            rest = &rest[end..];
        }
        rest = rest.trim_start_matches(is_space);
        match rest.strip_prefix('.') {
            Some(more) => rest = more.trim_start_matches(is_space),
            None if rest.is_empty() || !strict => break,
            None => return Err(invalid()),
        }
        behind_dot = true;
    }
    text(texts(parts.iter().map(|part| Some(part.as_str())))?)
}

/// A pattern of LIKE with another escape character, as one with a backslash.
fn like_escape(call: &Call<'_>) -> Result<Value> {
    let (pattern, escape) = (call.text(0)?, call.text(1)?);
    let mut chars = escape.chars();
    let escape = chars.next();
    if chars.next().is_some() {
        return Err(Error::new(Condition::InvalidEscapeSequence, "invalid escape string")
            .hint("Escape string must be empty or one character."));
    }
    let mut out = work::text(pattern.len() * 2)?;
    let mut escaped = false;
    for c in pattern.chars() {
        work::step(1)?;
        match c {
            c if Some(c) == escape && !escaped => {
                out.push('\\');
                escaped = true;
                continue;
            }
            '\\' if !escaped => out.push_str("\\\\"),
            c => out.push(c),
        }
        escaped = false;
    }
    text(out)
}
