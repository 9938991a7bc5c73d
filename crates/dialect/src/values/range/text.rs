//! The texts of ranges, `[1,5)`, and of multiranges, `{[1,5),[7,9)}`.

use std::borrow::Cow;

use super::{Bound, Point, Range, Subtype, normalized};
use crate::values::{Settings, ValueRef, write};
use crate::{Condition, Error, Result, work};

/// The word for a range without members.
pub const EMPTY: &str = "empty";

/// A range's bounds as they are written.
struct Bounds<'a> {
    lower: Option<Cow<'a, str>>,
    lower_inclusive: bool,
    upper: Option<Cow<'a, str>>,
    upper_inclusive: bool,
}

fn malformed(what: &str, text: &str, detail: &str) -> Error {
    Error::new(Condition::InvalidTextRepresentation, format!("malformed {what} literal: \"{text}\"")).detail(detail)
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

fn skip_spaces(text: &str) -> &str {
    text.trim_start_matches(|c: char| c.is_ascii() && is_space(c as u8))
}

/// What stands behind the word `empty`, in letters of any size.
fn after_empty(text: &str) -> Option<&str> {
    let (word, rest) = text.split_at_checked(EMPTY.len())?;
    word.eq_ignore_ascii_case(EMPTY).then_some(rest)
}

/// A bound and what stands behind it; `None` for one that is left out.
fn bound(rest: &str) -> std::result::Result<(Option<Cow<'_, str>>, &str), &'static str> {
    const CUT_SHORT: &str = "Unexpected end of input.";
    let bytes = rest.as_bytes();
    if matches!(bytes.first(), Some(b',' | b')' | b']')) {
        return Ok((None, rest));
    }
    // The end of a bound that is written plainly.
    let special = bytes.iter().position(|byte| matches!(byte, b',' | b')' | b']' | b'"' | b'\\')).ok_or(CUT_SHORT)?;
    if !matches!(bytes[special], b'"' | b'\\') {
        return Ok((Some(Cow::Borrowed(&rest[..special])), &rest[special..]));
    }
    let mut read = String::new();
    let mut quoted = false;
    let mut letters = rest.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        match letter {
            ',' | ')' | ']' if !quoted => return Ok((Some(Cow::Owned(read)), &rest[at..])),
            '\\' => read.push(letters.next().ok_or(CUT_SHORT)?.1),
            '"' if quoted && letters.next_if(|(_, next)| *next == '"').is_some() => read.push('"'),
            '"' => quoted = !quoted,
            other => read.push(other),
        }
    }
    Err(CUT_SHORT)
}

/// The bounds of a range; `None` for `empty`.
fn bounds(text: &str) -> Result<Option<Bounds<'_>>> {
    let wrong = |detail: &str| malformed("range", text, detail);
    let start = skip_spaces(text);
    if let Some(rest) = after_empty(start) {
        return if skip_spaces(rest).is_empty() { Ok(None) } else { Err(wrong("Junk after \"empty\" key word.")) };
    }
    let lower_inclusive = start.starts_with('[');
    let Some(rest) = start.strip_prefix(['[', '(']) else {
        return Err(wrong("Missing left parenthesis or bracket."));
    };
    let (lower, rest) = bound(rest).map_err(wrong)?;
    let Some(rest) = rest.strip_prefix(',') else { return Err(wrong("Missing comma after lower bound.")) };
    let (upper, rest) = bound(rest).map_err(wrong)?;
    let upper_inclusive = rest.starts_with(']');
    let Some(rest) = rest.strip_prefix([']', ')']) else { return Err(wrong("Too many commas.")) };
    if !skip_spaces(rest).is_empty() {
        return Err(wrong("Junk after right parenthesis or bracket."));
    }
    Ok(Some(Bounds { lower, lower_inclusive, upper, upper_inclusive }))
}

/// Calls `each` for the texts of a multirange's members.
fn members<'a>(text: &'a str, mut each: impl FnMut(&'a str) -> Result<()>) -> Result<()> {
    let wrong = |detail: &str| malformed("multirange", text, detail);
    let cut_short = || wrong("Unexpected end of input.");
    let Some(mut rest) = skip_spaces(text).strip_prefix('{') else { return Err(wrong("Missing left brace.")) };
    rest = skip_spaces(rest);
    if let Some(behind) = rest.strip_prefix('}') {
        rest = behind;
    } else {
        loop {
            rest = skip_spaces(rest);
            if rest.is_empty() {
                return Err(cut_short());
            }
            rest = if rest.starts_with(['[', '(']) {
                let end = member_end(rest).ok_or_else(cut_short)?;
                each(&rest[..end])?;
                &rest[end..]
            } else {
                after_empty(rest).ok_or_else(|| wrong("Expected range start."))?
            };
            rest = skip_spaces(rest);
            if let Some(behind) = rest.strip_prefix(',') {
                rest = behind;
            } else if let Some(behind) = rest.strip_prefix('}') {
                rest = behind;
                break;
            } else if rest.is_empty() {
                return Err(cut_short());
            } else {
                return Err(wrong("Expected comma or end of multirange."));
            }
        }
    }
    if skip_spaces(rest).is_empty() { Ok(()) } else { Err(wrong("Junk after closing right brace.")) }
}

/// Where the range that a text begins with ends.
fn member_end(text: &str) -> Option<usize> {
    let mut quoted = false;
    let mut bytes = text.bytes().enumerate();
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'\\' => {
                bytes.next();
            }
            b'"' => quoted = !quoted,
            b']' | b')' if !quoted => return Some(at + 1),
            _ => {}
        }
    }
    None
}

/// The texts of a stored multirange's members.
pub fn stored_members(stored: &str) -> Result<Vec<&str>> {
    let mut found = Vec::new();
    members(stored, |member| {
        found.push(member);
        work::step(size_of::<&str>())
    })?;
    Ok(found)
}

/// Reads a range as people write it.
pub fn read_range(text: &str, subtype: &Subtype, settings: &Settings) -> Result<Vec<Range>> {
    let Some(bounds) = bounds(text)? else { return Ok(Vec::new()) };
    let read = |bound: Option<Cow<'_, str>>| bound.map(|text| subtype.read(&text, settings)).transpose();
    let lower = Bound::new(read(bounds.lower)?, bounds.lower_inclusive);
    let upper = Bound::new(read(bounds.upper)?, bounds.upper_inclusive);
    Ok(Range::new(subtype, lower, upper)?.into_iter().collect())
}

/// Reads a multirange as people write it.
pub fn read_multirange(text: &str, subtype: &Subtype, settings: &Settings) -> Result<Vec<Range>> {
    let mut ranges = Vec::new();
    members(text, |member| {
        work::step(size_of::<Range>())?;
        ranges.extend(read_range(member, subtype, settings)?);
        Ok(())
    })?;
    Ok(normalized(ranges))
}

/// Reads a stored range or multirange.
pub fn from_stored(stored: &str, subtype: &Subtype) -> Result<Vec<Range>> {
    let range = |text| -> Result<Option<Range>> {
        let Some(bounds) = bounds(text)? else { return Ok(None) };
        let point = |bound: Option<Cow<'_, str>>| bound.map(|text| subtype.bound(&text)).transpose();
        let lower = Bound::new(point(bounds.lower)?, bounds.lower_inclusive);
        Ok(Some(Range { lower, upper: Bound::new(point(bounds.upper)?, bounds.upper_inclusive) }))
    };
    if !stored.starts_with('{') {
        return Ok(range(stored)?.into_iter().collect());
    }
    let mut ranges = Vec::new();
    members(stored, |member| {
        work::step(size_of::<Range>())?;
        ranges.extend(range(member)?);
        Ok(())
    })?;
    Ok(ranges)
}

/// Appends a range; `point` appends a bound's text.
fn push_range(
    out: &mut Vec<u8>,
    range: &Range,
    point: &mut dyn FnMut(&mut Vec<u8>, &Point) -> Result<()>,
) -> Result<()> {
    let mut bound = |out: &mut Vec<u8>, bound: &Bound| {
        let Some(at) = &bound.point else { return Ok(()) };
        let start = out.len();
        point(out, at)?;
        quote(out, start);
        Ok::<_, Error>(())
    };
    out.push(if range.lower.inclusive { b'[' } else { b'(' });
    bound(out, &range.lower)?;
    out.push(b',');
    bound(out, &range.upper)?;
    out.push(if range.upper.inclusive { b']' } else { b')' });
    Ok(())
}

/// Puts what stands in `out` from `start` on in quotes, where a bound has to be.
fn quote(out: &mut Vec<u8>, start: usize) {
    let special = |byte: &u8| is_space(*byte) || b"()[],\"\\".contains(byte);
    if out.len() > start && !out[start..].iter().any(special) {
        return;
    }
    let bound = out.split_off(start);
    out.push(b'"');
    for byte in bound {
        if matches!(byte, b'"' | b'\\') {
            out.push(byte);
        }
        out.push(byte);
    }
    out.push(b'"');
}

fn push_all(
    out: &mut Vec<u8>,
    ranges: &[Range],
    multirange: bool,
    point: &mut dyn FnMut(&mut Vec<u8>, &Point) -> Result<()>,
) -> Result<()> {
    if !multirange {
        return match ranges.first() {
            Some(range) => push_range(out, range, point),
            None => {
                out.extend_from_slice(EMPTY.as_bytes());
                Ok(())
            }
        };
    }
    out.push(b'{');
    for (at, range) in ranges.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        work::step(32)?;
        push_range(out, range, point)?;
    }
    out.push(b'}');
    Ok(())
}

/// Appends the text that the user sees.
pub fn print(
    out: &mut Vec<u8>,
    ranges: &[Range],
    multirange: bool,
    subtype: &Subtype,
    settings: &Settings,
) -> Result<()> {
    let ty = subtype.ty();
    push_all(out, ranges, multirange, &mut |out, point| match point {
        Point::Other(value, ty) => write(out, value.as_ref(), ty, settings),
        point => write(out, subtype.stored(point)?.as_ref(), &ty, settings),
    })
}

/// The stored form.
pub fn to_stored(ranges: &[Range], multirange: bool, subtype: &Subtype) -> Result<String> {
    let mut out = Vec::new();
    push_all(&mut out, ranges, multirange, &mut |out, point| {
        if let Point::Other(value, ty) = point {
            return write(out, value.as_ref(), ty, &Settings::default());
        }
        match subtype.stored(point)?.as_ref() {
            ValueRef::Text(text) => out.extend_from_slice(text),
            number => write(out, number, &subtype.ty(), &Settings::default())?,
        }
        Ok(())
    })?;
    String::from_utf8(out).map_err(|_| Error::internal("a range's bound is not a text"))
}
