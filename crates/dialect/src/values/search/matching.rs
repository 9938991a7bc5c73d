//! When a text matches a query.

use super::query::{Item, Query};
use super::vector::Vector;
use crate::Result;
use crate::stack::deeper;

/// What is known of a match.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Found {
    /// There is none.
    No,
    /// There is one.
    Yes,
    /// There may be one: positions are not known.
    Maybe,
}

/// Where a part of a query matches.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// The places of the last words of matches, in order.
    pub at: Vec<i64>,
    /// The places are those where it does not match.
    negated: bool,
    /// How many places before its last word a match begins.
    width: i64,
}

/// A text that is asked for words.
pub trait Words {
    /// Whether a word of the query is there; where, if that is asked.
    fn find(&self, query: &Query, at: usize, places: Option<&mut Places>) -> Found;
}

impl Words for Vector {
    fn find(&self, query: &Query, at: usize, mut places: Option<&mut Places>) -> Found {
        let Item::Word { word, weights, prefix } = &query.items()[at] else { return Found::No };
        let mut found = Found::No;
        for lexeme in self.find(word, *prefix) {
            if lexeme.positions.is_empty() {
                // Words without positions match whatever weight is wanted.
                match &mut places {
                    Some(places) => {
                        places.at.clear();
                        return Found::Maybe;
                    }
                    None => return Found::Yes,
                }
            }
            let mut fitting =
                lexeme.positions.iter().filter(|position| *weights == 0 || weights & (1 << position.weight()) != 0);
            match &mut places {
                Some(places) => places.at.extend(fitting.map(|position| i64::from(position.at()))),
                None if fitting.next().is_some() => return Found::Yes,
                None => {}
            }
        }
        if let Some(places) = places
            && !places.at.is_empty()
        {
            places.at.sort_unstable();
            places.at.dedup();
            found = Found::Yes;
        }
        found
    }
}

/// Whether a text matches a query.
///
/// # Errors
/// `53200`, `57014`
pub fn matches(query: &Query, words: &impl Words) -> Result<bool> {
    if query.is_empty() {
        return Ok(false);
    }
    Ok(holds(query, 0, words)? != Found::No)
}

fn holds(query: &Query, at: usize, words: &impl Words) -> Result<Found> {
    Ok(match query.items()[at] {
        Item::Word { .. } | Item::Stop => words.find(query, at, None),
        Item::Not => match deeper(|| holds(query, at + 1, words))? {
            Found::No => Found::Yes,
            Found::Yes => Found::No,
            Found::Maybe => Found::Maybe,
        },
        Item::And => match deeper(|| holds(query, query.left(at), words))? {
            Found::No => Found::No,
            left => match deeper(|| holds(query, at + 1, words))? {
                Found::Yes => left,
                right => right,
            },
        },
        Item::Or => match deeper(|| holds(query, query.left(at), words))? {
            Found::Yes => Found::Yes,
            left => match deeper(|| holds(query, at + 1, words))? {
                Found::No => left,
                right => right,
            },
        },
        // Without positions there is no phrase.
        Item::Phrase(_) => match places(query, at, words, &mut Places::default())? {
            Found::Yes => Found::Yes,
            Found::No | Found::Maybe => Found::No,
        },
    })
}

/// Which places of two lists count.
#[derive(Clone, Copy)]
struct Kept {
    left_only: bool,
    right_only: bool,
    both: bool,
}

/// Merges places, shifted to the places where the whole ends.
fn merge(left: (&[i64], i64), right: (&[i64], i64), kept: Kept) -> Vec<i64> {
    let mut out = Vec::new();
    let mut lefts = left.0.iter().map(|at| at + left.1).peekable();
    let mut rights = right.0.iter().map(|at| at + right.1).peekable();
    loop {
        let (at, keep) = match (lefts.peek().copied(), rights.peek().copied()) {
            (None, None) => return out,
            (Some(l), Some(r)) if l == r => {
                lefts.next();
                rights.next();
                (l, kept.both)
            }
            (Some(l), r) if r.is_none_or(|r| l < r) => {
                lefts.next();
                (l, kept.left_only)
            }
            (_, Some(r)) => {
                rights.next();
                (r, kept.right_only)
            }
            (Some(_), None) => return out,
        };
        if keep && at > 0 {
            out.push(at);
        }
    }
}

/// Where a part of a phrase matches.
fn places(query: &Query, at: usize, words: &impl Words, out: &mut Places) -> Result<Found> {
    crate::work::check()?;
    let item = &query.items()[at];
    match item {
        Item::Word { .. } | Item::Stop => return Ok(words.find(query, at, Some(out))),
        Item::Not => {
            return Ok(match deeper(|| places(query, at + 1, words, out))? {
                Found::No => {
                    // Nowhere becomes everywhere.
                    out.negated = true;
                    Found::Yes
                }
                Found::Yes if out.at.is_empty() && out.negated => {
                    out.negated = false;
                    Found::No
                }
                Found::Yes => {
                    out.negated = !out.negated;
                    Found::Yes
                }
                Found::Maybe => Found::Maybe,
            });
        }
        Item::And | Item::Or | Item::Phrase(_) => {}
    }
    let (mut left, mut right) = (Places::default(), Places::default());
    let is_or = *item == Item::Or;
    let left_found = deeper(|| places(query, query.left(at), words, &mut left))?;
    if left_found == Found::No && !is_or {
        return Ok(Found::No);
    }
    let right_found = deeper(|| places(query, at + 1, words, &mut right))?;
    match (left_found, right_found) {
        (Found::No, Found::No) => return Ok(Found::No),
        (_, Found::No) if !is_or => return Ok(Found::No),
        (Found::Maybe, _) | (_, Found::Maybe) => return Ok(Found::Maybe),
        _ => {}
    }
    if left_found == Found::No {
        left.width = 0;
    }
    if right_found == Found::No {
        right.width = 0;
    }
    let (left_by, right_by);
    if let Item::Phrase(distance) = item {
        let distance = i64::from(*distance);
        (left_by, right_by) = (distance + right.width, 0);
        out.width = distance + left.width + right.width;
    } else {
        let width = left.width.max(right.width);
        (left_by, right_by) = (width - left.width, width - right.width);
        out.width = width;
    }
    let kept = |left_only, right_only, both| Kept { left_only, right_only, both };
    let (kept, negated) = match (is_or, left.negated, right.negated) {
        (false, true, true) => (kept(true, true, true), true),
        (false, true, false) => (kept(false, true, false), false),
        (false, false, true) => (kept(true, false, false), false),
        (false, false, false) => (kept(false, false, true), false),
        (true, true, true) => (kept(false, false, true), true),
        (true, true, false) => (kept(true, false, false), true),
        (true, false, true) => (kept(false, true, false), true),
        (true, false, false) => (kept(true, true, true), false),
    };
    out.at = merge((&left.at, left_by), (&right.at, right_by), kept);
    out.negated = negated;
    Ok(if negated || !out.at.is_empty() { Found::Yes } else { Found::No })
}
