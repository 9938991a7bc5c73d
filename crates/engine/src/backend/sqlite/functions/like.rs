//! LIKE, ILIKE and Informix's MATCHES.

use rowferry_dialect::ir::Value;
use rowferry_dialect::{Condition, Error, Result, work};

use super::call::boolean;
use super::strings::lower;
use super::{Call, Row};

pub(super) const ROWS: &[Row] = &[
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
        boolean(matches_like(&chars(subject, lower)?, &chars(pattern, lower)?, escape)?)
    } else {
        boolean(matches_like(&chars(subject, |c| c)?, &chars(pattern, |c| c)?, escape)?)
    }
}

fn chars(text: &str, map: impl Fn(char) -> char) -> Result<Vec<char>> {
    work::room_to_work(text.len() * size_of::<char>())?;
    let mut chars = Vec::with_capacity(text.len());
    for piece in work::pieces(text) {
        work::step(piece.len())?;
        chars.extend(piece.chars().map(&map));
    }
    Ok(chars)
}

/// One place of a pattern.
enum Element {
    One(char),
    AnyOne,
    AnyMany,
    Set(Vec<(char, char)>, bool),
}

fn matches_like(subject: &[char], pattern: &[char], escape: Option<char>) -> Result<bool> {
    work::room_to_work(pattern.len() * size_of::<Element>())?;
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
    matches_elements(subject, &elements)
}

/// Greedy with one place to come back to: linear for usual patterns, never worse than subject × pattern.
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
    let (subject, pattern) = (chars(call.text(0)?, |c| c)?, chars(call.text(1)?, |c| c)?);
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
