//! LIKE, ILIKE and Informix's MATCHES.

use rowferry_dialect::ir::Value;
use rowferry_dialect::lower::sqlite::{GLOB_OF_LIKE, glob_of_like};
use rowferry_dialect::{Condition, Error, Result, work};

use super::call::boolean;
use super::strings::lower;
use super::{Call, Row};

pub(super) const ROWS: &[Row] = &[
    Row::new(GLOB_OF_LIKE, 1, |call| Ok(glob_of_like(call.text(0)?).map_or(Value::Null, Value::Text))),
    Row::new("rf_like", 2, |call| like(call, false)).optional(1),
    Row::new("rf_ilike", 2, |call| like(call, true)).optional(1),
    Row::new("rf_matches", 2, matches).optional(1),
];

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
        let (subject, pattern) = (lowered(subject, None)?, lowered(pattern, Some(escape))?);
        return boolean(matches_like(&subject, &pattern, Some('\\'))?);
    }
    boolean(matches_like(subject, pattern, escape)?)
}

/// A text in lower case, character by character; a pattern with a backslash where it had its own escape character.
fn lowered(text: &str, pattern: Option<Option<char>>) -> Result<String> {
    work::room_to_work(text.len())?;
    let mut out = String::with_capacity(text.len());
    let mut escaped = false;
    for piece in work::pieces(text) {
        work::step(piece.len())?;
        for c in piece.chars() {
            match pattern {
                Some(escape) if !escaped && Some(c) == escape => {
                    escaped = true;
                    out.push('\\');
                    continue;
                }
                Some(_) if !escaped && c == '\\' => out.push('\\'),
                _ => {}
            }
            escaped = false;
            out.push(lower(c));
        }
    }
    Ok(out)
}

fn chars(text: &str) -> Result<Vec<char>> {
    work::room_to_work(text.len() * size_of::<char>())?;
    let mut chars = Vec::with_capacity(text.len());
    for piece in work::pieces(text) {
        work::step(piece.len())?;
        chars.extend(piece.chars());
    }
    Ok(chars)
}

/// What stands at the beginning of a pattern.
enum Mark<'a> {
    /// The bytes of one character.
    One(&'a [u8]),
    AnyOne,
    AnyMany,
}

/// The mark at `at` of a pattern, and where the next one begins; `None` at the pattern's end.
fn mark<'a>(pattern: &'a str, at: usize, escape: &[u8]) -> Result<Option<(Mark<'a>, usize)>> {
    let bytes = pattern.as_bytes();
    let Some(first) = bytes.get(at) else { return Ok(None) };
    if !escape.is_empty() && begins(&bytes[at..], escape) {
        let start = at + escape.len();
        if start == bytes.len() {
            let message = "LIKE pattern must not end with escape character";
            return Err(Error::new(Condition::InvalidEscapeSequence, message));
        }
        let end = start + width(bytes[start]);
        return Ok(Some((Mark::One(&bytes[start..end]), end)));
    }
    let end = at + width(*first);
    Ok(Some(match first {
        b'%' => (Mark::AnyMany, end),
        b'_' => (Mark::AnyOne, end),
        _ => (Mark::One(&bytes[at..end]), end),
    }))
}

/// The bytes of a character of UTF-8 by its first one.
fn width(first: u8) -> usize {
    match first {
        ..0xc0 => 1,
        0xc0..0xe0 => 2,
        0xe0..0xf0 => 3,
        0xf0.. => 4,
    }
}

/// Whether a text begins with a character. Most are of one byte, and a call that compares memory costs more than that.
fn begins(text: &[u8], character: &[u8]) -> bool {
    text[0] == character[0] && (character.len() == 1 || text.starts_with(character))
}

/// Whether a text is like a pattern, byte by byte. As PostgreSQL, it finds a pattern that ends with its escape character only
/// when it gets there.
///
/// Greedy with one place to come back to: linear for usual patterns, never worse than subject × pattern.
fn matches_like(subject: &str, pattern: &str, escape: Option<char>) -> Result<bool> {
    let mut escape_bytes = [0; 4];
    let escape = escape.map_or(&[][..], |escape| escape.encode_utf8(&mut escape_bytes).as_bytes());
    let text = subject.as_bytes();
    let (mut at, mut place) = (0, 0);
    // Where the text goes on that `%` has taken so far, and what stands behind it.
    let mut retry: Option<(usize, usize)> = None;
    work::step(text.len().min(pattern.len()))?;
    while at < text.len() {
        let fits = match mark(pattern, place, escape)? {
            Some((Mark::AnyMany, next)) => {
                if next == pattern.len() {
                    return Ok(true);
                }
                retry = Some((at, next));
                place = next;
                continue;
            }
            Some((Mark::AnyOne, next)) => {
                place = next;
                at += width(text[at]);
                true
            }
            Some((Mark::One(bytes), next)) if begins(&text[at..], bytes) => {
                place = next;
                at += bytes.len();
                true
            }
            _ => false,
        };
        if !fits {
            let Some((start, behind)) = retry else { return Ok(false) };
            work::step(at - start + 1)?;
            at = start + width(text[start]);
            place = behind;
            retry = Some((at, behind));
        }
    }
    let rest = &pattern.as_bytes()[place..];
    Ok(rest.iter().all(|byte| *byte == b'%') && (rest.is_empty() || escape != b"%"))
}

/// One place of a pattern of `MATCHES`.
enum Element {
    One(char),
    AnyOne,
    AnyMany,
    Set(Vec<(char, char)>, bool),
}

/// As [`matches_like`] goes.
fn matches_elements(subject: &[char], elements: &[Element]) -> Result<bool> {
    let (mut at, mut element) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    while at < subject.len() {
        work::step(2)?;
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
            return Ok(false);
        }
    }
    Ok(elements[element..].iter().all(|element| matches!(element, Element::AnyMany)))
}

/// Informix's `MATCHES`: `*`, `?`, `[a-z]`, `[^a-z]`.
fn matches(call: &Call<'_>) -> Result<Value> {
    let escape = if call.len() > 2 { call.text(2)?.chars().next() } else { Some('\\') };
    let (subject, pattern) = (chars(call.text(0)?)?, chars(call.text(1)?)?);
    work::room_to_work(pattern.len() * size_of::<Element>())?;
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
    boolean(matches_elements(&subject, &elements)?)
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
