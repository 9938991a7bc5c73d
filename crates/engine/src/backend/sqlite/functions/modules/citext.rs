//! `citext`: functions of text that do not look at case.

use std::cmp::Ordering;

use rowferry_dialect::scalar::citext::{compare, folded};
use rowferry_dialect::{Result, work};

use super::super::call::{integer, text};
use super::{Call, Member};
use rowferry_dialect::ir::Value;

pub(super) const MEMBERS: &[Member] = &[
    Member::new("citext_cmp", |call| integer(compare(call.text(0)?, call.text(1)?) as i32)),
    Member::new("citext_smaller", |call| {
        let (left, right) = (call.text(0)?, call.text(1)?);
        text(if compare(left, right) == Ordering::Less { left } else { right })
    }),
    Member::new("citext_larger", |call| {
        let (left, right) = (call.text(0)?, call.text(1)?);
        text(if compare(left, right) == Ordering::Greater { left } else { right })
    }),
    // Flags with which a regular expression is matched: without case, unless `c` says otherwise.
    Member::new("citext_flags", |call| {
        let flags = call.text(0)?;
        text(if flags.contains('c') { flags.to_owned() } else { format!("{flags}i") })
    }),
    Member::new("citext_strpos", |call| {
        let (all, sought) = (folded(call.text(0)?), folded(call.text(1)?));
        work::step(all.len() + sought.len())?;
        integer(all.find(&sought).map_or(0, |at| all[..at].chars().count() as i64 + 1))
    }),
    Member::new("citext_replace", |call| {
        let new = call.text(2)?;
        let parts = split(call.text(0)?, call.text(1)?)?;
        let mut out = work::text(0)?;
        for (at, part) in parts.into_iter().enumerate() {
            if at > 0 {
                work::append_text(&mut out, new)?;
            }
            work::append_text(&mut out, part)?;
        }
        text(out)
    }),
    Member::new("citext_split_part", split_part),
    Member::new("citext_translate", |call| {
        let (from, to) = (call.text(1)?, call.text(2)?);
        let once = |all: &str, from: &str| -> Result<String> {
            let from: Vec<char> = from.chars().collect();
            let to: Vec<char> = to.chars().collect();
            work::step(all.len() * from.len().max(1))?;
            Ok(all
                .chars()
                .filter_map(|c| match from.iter().position(|other| *other == c) {
                    Some(at) => to.get(at).copied(),
                    None => Some(c),
                })
                .collect())
        };
        text(once(&once(call.text(0)?, &from.to_lowercase())?, &from.to_uppercase())?)
    }),
];

/// The parts between the places where another text stands in any case.
fn split<'a>(all: &'a str, separator: &str) -> Result<Vec<&'a str>> {
    let separator = folded(separator);
    if separator.is_empty() {
        return Ok(vec![all]);
    }
    let mut parts = Vec::new();
    let mut start = 0;
    let mut at = 0;
    while at < all.len() {
        work::step(1)?;
        match matched(&all[at..], &separator) {
            Some(length) => {
                parts.push(&all[start..at]);
                at += length;
                start = at;
            }
            None => at += all[at..].chars().next().map_or(1, char::len_utf8),
        }
    }
    parts.push(&all[start..]);
    Ok(parts)
}

/// How many bytes at the beginning of a text are a folded one.
fn matched(text: &str, wanted: &str) -> Option<usize> {
    let mut characters = text.char_indices();
    for wanted in wanted.chars() {
        let (_, c) = characters.next()?;
        if !folded(c.encode_utf8(&mut [0; 4])).starts_with(wanted) {
            return None;
        }
    }
    Some(text.len() - characters.as_str().len())
}

/// As a member of the array of parts: NULL where there is none, also for places counted from the end.
fn split_part(call: &Call<'_>) -> Result<Value> {
    let (all, separator) = (call.text(0)?, call.text(1)?);
    // As a pattern nothing parts all characters.
    let parts = if separator.is_empty() && !all.is_empty() {
        all.char_indices().map(|(at, c)| &all[at..at + c.len_utf8()]).collect()
    } else {
        split(all, separator)?
    };
    let at = usize::try_from(call.integer(2)?).ok().and_then(|place| place.checked_sub(1));
    at.and_then(|at| parts.get(at)).map_or(Ok(Value::Null), |part| text(*part))
}
