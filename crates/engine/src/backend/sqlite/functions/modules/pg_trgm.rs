//! `pg_trgm`: how alike texts are, by the groups of three letters that they have in common.

use std::collections::BTreeMap;

use rowferry_dialect::ir::Value;
use rowferry_dialect::values::array::Array;
use rowferry_dialect::{Condition, Error, Result, work};
use serde_json::Value as Json;

use super::super::arrays::stored;
use super::super::call::boolean;
use super::{Call, Member};
use rowferry_dialect::scalar::citext::folded;

pub(super) const MEMBERS: &[Member] = &[
    Member::new("set_limit", |call| {
        let limit = call.float(0)? as f32;
        if !(0.0..=1.0).contains(&limit) {
            let message = format!("{limit} is outside the valid range for parameter \"{SIMILARITY}\" (0 .. 1)");
            return Err(Error::new(Condition::InvalidParameterValue, message));
        }
        call.context().state().set_variable(SIMILARITY, Some(&limit.to_string()), false)?;
        real(threshold(call, SIMILARITY)? as f32)
    }),
    Member::new("show_limit", |call| real(threshold(call, SIMILARITY)? as f32)),
    Member::new("show_trgm", |call| {
        stored(Array::of(set(call.text(0)?)?.iter().map(|group| Json::from(shown(*group))).collect()))
    }),
    Member::new("similarity", |call| real(similarity(call)?)),
    Member::new("similarity_op", |call| boolean(f64::from(similarity(call)?) >= threshold(call, SIMILARITY)?)),
    Member::new("word_similarity", |call| real(word_similarity(call, false)?)),
    Member::new("word_similarity_op", |call| {
        boolean(f64::from(word_similarity(call, false)?) >= threshold(call, WORD_SIMILARITY)?)
    }),
    Member::new("word_similarity_dist", |call| real(1.0 - word_similarity(call, false)?)),
    Member::new("strict_word_similarity", |call| real(word_similarity(call, true)?)),
    Member::new("strict_word_similarity_op", |call| {
        boolean(f64::from(word_similarity(call, true)?) >= threshold(call, STRICT_WORD_SIMILARITY)?)
    }),
    Member::new("strict_word_similarity_dist", |call| real(1.0 - word_similarity(call, true)?)),
];

/// Settings, with what they are where nobody has set them.
const SIMILARITY: &str = "pg_trgm.similarity_threshold";
const WORD_SIMILARITY: &str = "pg_trgm.word_similarity_threshold";
const STRICT_WORD_SIMILARITY: &str = "pg_trgm.strict_word_similarity_threshold";

fn threshold(call: &Call<'_>, name: &str) -> Result<f64> {
    let usual = match name {
        SIMILARITY => 0.3,
        WORD_SIMILARITY => 0.6,
        _ => 0.5,
    };
    let Some(set) = call.context().state().variable(name).filter(|value| !value.is_empty()) else { return Ok(usual) };
    match set.trim().parse::<f64>() {
        Ok(value) if (0.0..=1.0).contains(&value) => Ok(value),
        Ok(_) => {
            let message = format!("{set} is outside the valid range for parameter \"{name}\" (0 .. 1)");
            Err(Error::new(Condition::InvalidParameterValue, message))
        }
        Err(_) => {
            let message = format!("invalid value for parameter \"{name}\": \"{set}\"");
            Err(Error::new(Condition::InvalidParameterValue, message))
        }
    }
}

/// A float of single width.
fn real(value: f32) -> Result<Value> {
    Ok(Value::Real(f64::from(value)))
}

/// Three characters; of words, which have two blanks before them and one behind.
type Group = [char; 3];

/// A group in a text, and whether a word begins or ends with it.
struct Place {
    group: Group,
    begins: bool,
    ends: bool,
}

/// All groups of a text in their order.
fn places(text: &str) -> Result<Vec<Place>> {
    work::step(text.len() * 16)?;
    let mut all = Vec::new();
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        let padded: Vec<char> = format!("  {} ", folded(word)).chars().collect();
        let last = padded.len() - 3;
        let groups = padded.windows(3).enumerate();
        all.extend(groups.map(|(at, group)| Place {
            group: [group[0], group[1], group[2]],
            begins: at == 0,
            ends: at == last,
        }));
    }
    Ok(all)
}

/// A group as PostgreSQL keeps it: its bytes, or three bytes of a checksum where it has other characters than ASCII.
fn kept(group: Group) -> [u8; 3] {
    if group.iter().all(char::is_ascii) {
        return group.map(|c| c as u8);
    }
    let text: String = group.iter().collect();
    let sum = crc32(text.as_bytes());
    let [a, b, c, _] = sum.to_le_bytes();
    [a, b, c]
}

/// The checksum that PostgreSQL takes there: the usual table, gone through the other way about.
fn crc32(bytes: &[u8]) -> u32 {
    let row = |index: u32| (0..8).fold(index, |sum, _| if sum & 1 == 1 { sum >> 1 ^ 0xedb8_8320 } else { sum >> 1 });
    !bytes.iter().fold(u32::MAX, |sum, byte| row((sum >> 24 ^ u32::from(*byte)) & 0xff) ^ sum << 8)
}

fn shown(group: [u8; 3]) -> String {
    let printable = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b' ';
    if group.iter().all(printable) {
        return group.iter().map(|byte| char::from(*byte)).collect();
    }
    format!("0x{:02x}{:02x}{:02x}", group[0], group[1], group[2])
}

/// The different groups of a text, in order: bytes count with their sign.
fn set(text: &str) -> Result<Vec<[u8; 3]>> {
    let mut all: Vec<[u8; 3]> = places(text)?.into_iter().map(|place| kept(place.group)).collect();
    all.sort_by_key(|group| group.map(|byte| byte as i8));
    all.dedup();
    Ok(all)
}

fn share(count: usize, left: usize, right: usize) -> f32 {
    count as f32 / (left + right - count) as f32
}

fn similarity(call: &Call<'_>) -> Result<f32> {
    let (left, right) = (set(call.text(0)?)?, set(call.text(1)?)?);
    if left.is_empty() || right.is_empty() {
        return Ok(0.0);
    }
    let count = left.iter().filter(|group| right.contains(group)).count();
    work::step(left.len() * right.len())?;
    Ok(share(count, left.len(), right.len()))
}

/// The greatest similarity of a text and any part of another; of whole words, where it is strict.
fn word_similarity(call: &Call<'_>, strict: bool) -> Result<f32> {
    let wanted: Vec<[u8; 3]> = places(call.text(0)?)?.into_iter().map(|place| kept(place.group)).collect();
    let places = places(call.text(1)?)?;
    // Each different group has a number, and is found in the first text or not.
    let mut numbers: BTreeMap<[u8; 3], (usize, bool)> = BTreeMap::new();
    for group in &wanted {
        let next = numbers.len();
        numbers.entry(*group).or_insert((next, true));
    }
    let size = numbers.len();
    let text: Vec<(usize, bool)> = places
        .iter()
        .map(|place| {
            let next = numbers.len();
            *numbers.entry(kept(place.group)).or_insert((next, false))
        })
        .collect();
    best_part(&places, &text, numbers.len(), size, strict)
}

/// Moves the bounds of a part over a text, as PostgreSQL does: the upper one over all of it, the lower one to where the part
/// is most alike.
fn best_part(places: &[Place], text: &[(usize, bool)], groups: usize, size: usize, strict: bool) -> Result<f32> {
    let mut last: Vec<Option<usize>> = vec![None; groups];
    let (mut count, mut length) = (0, 0);
    let mut lower = strict.then_some(0);
    let mut best = 0.0_f32;
    for (at, (group, found)) in text.iter().enumerate() {
        if lower.is_some() || *found {
            if last[*group].is_none() {
                length += 1;
                count += usize::from(*found);
            }
            last[*group] = Some(at);
        }
        if !(if strict { places[at].ends } else { *found }) {
            continue;
        }
        let from = *lower.get_or_insert_with(|| {
            length = 1;
            at
        });
        let mut here = share(count, size, length);
        let (mut tried_count, mut tried_length) = (count, length);
        let mut chosen = from;
        work::step(at + 1 - from)?;
        for place in from..=at {
            if !strict || places[place].begins {
                let tried = share(tried_count, size, tried_length);
                if tried > here {
                    here = tried;
                    (count, length, chosen) = (tried_count, tried_length, place);
                }
            }
            let (group, found) = text[place];
            if last[group] == Some(place) {
                tried_length -= 1;
                tried_count -= usize::from(found);
            }
        }
        best = best.max(here);
        for place in from..chosen {
            if last[text[place].0] == Some(place) {
                last[text[place].0] = None;
            }
        }
        lower = Some(chosen);
    }
    Ok(best)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What PostgreSQL 15 shows under a locale of UTF-8.
    #[test]
    fn groups_are_those_of_postgresql() {
        let shown = |text: &str| set(text).unwrap().into_iter().map(shown).collect::<Vec<_>>();
        assert_eq!(shown("é"), ["0xe69b54", "0xe82c48"]);
        assert_eq!(shown("a-B"), ["  a", "  b", " a ", " b "]);
    }
}
