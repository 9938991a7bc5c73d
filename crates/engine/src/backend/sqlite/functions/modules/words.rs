//! `unaccent`, and those functions of `fuzzystrmatch` that are not about how English sounds in whole.

use rowferry_dialect::ir::Value;
use rowferry_dialect::{Condition, Error, Result, work};
use rowferry_facts::unaccented;

use super::super::call::{integer, text};
use super::{Call, Member};

pub(super) const MEMBERS: &[Member] = &[
    Member::new("unaccent_dict", |call| {
        if call.len() == 2 {
            let name = call.text(0)?;
            if name.rsplit('.').next() != Some("unaccent") {
                let message = format!("text search dictionary \"{name}\" does not exist");
                return Err(Error::new(Condition::UndefinedObject, message));
            }
        }
        let given = call.text(call.len() - 1)?;
        work::step(given.len())?;
        let mut out = work::text(given.len())?;
        for c in given.chars() {
            match unaccented(c) {
                Some(becomes) => work::append_text(&mut out, becomes)?,
                None => work::append_text(&mut out, c.encode_utf8(&mut [0; 4]))?,
            }
        }
        text(out)
    }),
    Member::new("levenshtein", |call| distance(call, [1; 3], None)),
    Member::new("levenshtein_with_costs", |call| distance(call, costs(call)?, None)),
    Member::new("levenshtein_less_equal", |call| distance(call, [1; 3], Some(call.integer(2)?))),
    Member::new("levenshtein_less_equal_with_costs", |call| distance(call, costs(call)?, Some(call.integer(5)?))),
    Member::new("soundex", |call| text(soundex(call.text(0)?))),
    Member::new("difference", |call| {
        let (left, right) = (soundex(call.text(0)?), soundex(call.text(1)?));
        // Words without a letter sound alike.
        if left.is_empty() && right.is_empty() {
            return integer(4);
        }
        integer(left.bytes().zip(right.bytes()).filter(|(a, b)| a == b).count() as i64)
    }),
];

/// The longest text that is compared, in characters.
const LONGEST: usize = 255;

/// What inserting, deleting and exchanging a character cost.
fn costs(call: &Call<'_>) -> Result<[i64; 3]> {
    Ok([call.integer(2)?, call.integer(3)?, call.integer(4)?])
}

/// What it costs to make one text of another; where more than a greatest is known to be needed, one more than that.
fn distance(call: &Call<'_>, [insert, delete, exchange]: [i64; 3], most: Option<i64>) -> Result<Value> {
    let source: Vec<char> = call.text(0)?.chars().collect();
    let target: Vec<char> = call.text(1)?.chars().collect();
    if source.len() > LONGEST || target.len() > LONGEST {
        let message = format!("levenshtein argument exceeds maximum length of {LONGEST} characters");
        return Err(Error::new(Condition::InvalidParameterValue, message));
    }
    work::step(source.len() * target.len())?;
    let mut row: Vec<i64> = (0..=target.len() as i64).map(|count| count * insert).collect();
    for (at, from) in source.iter().enumerate() {
        let mut before = row[0];
        row[0] = (at as i64 + 1) * delete;
        for (place, to) in target.iter().enumerate() {
            let exchanged = before + if from == to { 0 } else { exchange };
            before = row[place + 1];
            row[place + 1] = exchanged.min(row[place] + insert).min(before + delete);
        }
    }
    let found = row[target.len()];
    // It is an int4, which PostgreSQL counts in.
    if row.iter().any(|cost| i32::try_from(*cost).is_err()) {
        return Err(Error::new(Condition::NumericValueOutOfRange, "levenshtein distance out of range"));
    }
    integer(match most {
        // Of an empty text the whole distance is known at once.
        Some(most) if most >= 0 && found > most && !source.is_empty() && !target.is_empty() => most + 1,
        _ => found,
    })
}

/// A word's first letter and three digits for the consonants behind it.
fn soundex(word: &str) -> String {
    // The digit of each letter from A to Z; 0 for those that say nothing.
    const DIGITS: &[u8; 26] = b"01230120022455012623010202";
    let digit = |byte: u8| match byte.to_ascii_uppercase() {
        upper @ b'A'..=b'Z' => DIGITS[usize::from(upper - b'A')],
        other => other,
    };
    let mut letters = word.bytes().skip_while(|byte| !byte.is_ascii_alphabetic());
    let Some(first) = letters.next() else { return String::new() };
    let mut out = vec![first.to_ascii_uppercase()];
    let mut last = first;
    for byte in letters {
        if out.len() == 4 {
            break;
        }
        if byte.is_ascii_alphabetic() && digit(byte) != digit(last) && digit(byte) != b'0' {
            out.push(digit(byte));
        }
        last = byte;
    }
    out.resize(4, b'0');
    String::from_utf8_lossy(&out).into_owned()
}
