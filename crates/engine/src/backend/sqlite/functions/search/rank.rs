//! How well a text matches a query.

use std::cmp::Ordering;

use rowferry_dialect::values::search::matching::{Found, Places, Words, matches};
use rowferry_dialect::values::search::{Item, Lexeme, Position, Query, Vector};
use rowferry_dialect::{Condition, Error, Result, work};

/// Of a word of weight `D`, `C`, `B`, `A`.
pub(super) const WEIGHTS: [f32; 4] = [0.1, 0.2, 0.4, 1.0];

/// What a rank is divided by: bits of the last argument.
mod norm {
    pub(super) const LOG_LENGTH: i64 = 1;
    pub(super) const LENGTH: i64 = 2;
    pub(super) const EXTENT_DISTANCE: i64 = 4;
    pub(super) const WORDS: i64 = 8;
    pub(super) const LOG_WORDS: i64 = 16;
    pub(super) const PLUS_ONE: i64 = 32;
}

/// Where a word stands of which that is not known.
const UNKNOWN_PLACE: i64 = 16383;

/// The weights of an argument.
pub(super) fn weights(given: &[f32]) -> Result<[f32; 4]> {
    let mut weights = WEIGHTS;
    if given.len() < weights.len() {
        return Err(Error::new(Condition::ArraySubscriptError, "array of weight is too short"));
    }
    for (weight, given) in weights.iter_mut().zip(given) {
        if *given >= 0.0 {
            *weight = *given;
        }
        if *weight > 1.0 {
            return Err(Error::new(Condition::InvalidParameterValue, "weight out of range"));
        }
    }
    Ok(weights)
}

fn length(vector: &Vector) -> usize {
    vector.lexemes.iter().map(|lexeme| lexeme.positions.len().max(1)).sum()
}

/// The words of a query, in order and each once.
fn words(query: &Query) -> Vec<(&str, bool)> {
    let mut words: Vec<(&str, bool)> = query
        .items()
        .iter()
        .filter_map(|item| match item {
            Item::Word { word, prefix, .. } => Some((word.as_str(), *prefix)),
            _ => None,
        })
        .collect();
    words.sort_by(|a, b| a.0.cmp(b.0));
    words.dedup_by(|next, kept| next.0 == kept.0);
    words
}

/// `ts_rank`
pub(super) fn rank(weights: &[f32; 4], vector: &Vector, query: &Query, method: i64) -> Result<f32> {
    if vector.lexemes.is_empty() || query.is_empty() {
        return Ok(0.0);
    }
    let together = matches!(query.items()[0], Item::And | Item::Phrase(_));
    let mut rank = if together { rank_together(weights, vector, query)? } else { rank_each(weights, vector, query) };
    if rank < 0.0 {
        rank = 1e-20;
    }
    let divided = |rank: f32, by: f64| (f64::from(rank) / by) as f32;
    let words = vector.lexemes.len();
    if method & norm::LOG_LENGTH != 0 {
        rank = divided(rank, ((length(vector) + 1) as f64).ln() / 2.0_f64.ln());
    }
    if method & norm::LENGTH != 0 {
        rank /= length(vector) as f32;
    }
    if method & norm::WORDS != 0 {
        rank /= words as f32;
    }
    if method & norm::LOG_WORDS != 0 {
        rank = divided(rank, ((words + 1) as f64).ln() / 2.0_f64.ln());
    }
    if method & norm::PLUS_ONE != 0 {
        rank /= rank + 1.0;
    }
    Ok(rank)
}

/// By how far apart words are.
fn closeness(distance: i64) -> f32 {
    if distance > 100 {
        return 1e-30;
    }
    (1.0 / (1.005 + 0.05 * (f64::from(distance as f32) / 1.5 - 2.0).exp())) as f32
}

/// The places of a word with their weights, and whether they are known.
fn places(lexeme: &Lexeme, unknown: i64) -> (Vec<(i64, u8)>, bool) {
    if lexeme.positions.is_empty() {
        return (vec![(unknown, 0)], false);
    }
    let place = |position: &Position| (i64::from(position.at()), position.weight());
    (lexeme.positions.iter().map(place).collect(), true)
}

/// The places of a word in a vector with their weights, and whether they are known.
type Sighted = (Vec<(i64, u8)>, bool);

fn rank_together(weights: &[f32; 4], vector: &Vector, query: &Query) -> Result<f32> {
    let words = words(query);
    if words.len() < 2 {
        return Ok(rank_each(weights, vector, query));
    }
    let weight = |weight: u8| weights[usize::from(weight)];
    let mut rank: f32 = -1.0;
    let mut earlier: Vec<Option<Sighted>> = Vec::new();
    for (word, prefix) in words {
        work::check()?;
        let mut last = None;
        for lexeme in vector.find(word, prefix) {
            let (here, known) = places(lexeme, UNKNOWN_PLACE);
            for (there, there_known) in earlier.iter().flatten() {
                for (at, one) in &here {
                    for (other_at, other) in there {
                        let mut distance = (at - other_at).abs();
                        if distance == 0 && known && *there_known {
                            continue;
                        }
                        if distance == 0 {
                            distance = UNKNOWN_PLACE + 1;
                        }
                        let product = weight(*one) * weight(*other) * closeness(distance);
                        let near = f64::from(product).sqrt() as f32;
                        rank = if rank < 0.0 {
                            near
                        } else {
                            (1.0 - (1.0 - f64::from(rank)) * (1.0 - f64::from(near))) as f32
                        };
                    }
                }
            }
            last = Some((here, known));
        }
        earlier.push(last);
    }
    Ok(rank)
}

fn rank_each(weights: &[f32; 4], vector: &Vector, query: &Query) -> f32 {
    let words = words(query);
    let mut rank: f32 = 0.0;
    for (word, prefix) in &words {
        for lexeme in vector.find(word, *prefix) {
            let (places, _) = places(lexeme, 0);
            let (mut sum, mut best, mut best_at) = (0.0_f32, -1.0_f32, 0);
            for (at, (_, weight)) in places.iter().enumerate() {
                let weight = weights[usize::from(*weight)];
                sum += weight / ((at + 1) * (at + 1)) as f32;
                if weight > best {
                    (best, best_at) = (weight, at);
                }
            }
            let own = best + sum - best / ((best_at + 1) * (best_at + 1)) as f32;
            // The sum of 1/n².
            rank = (f64::from(rank) + f64::from(own) / 1.644_934_066_85) as f32;
        }
    }
    if words.is_empty() { rank } else { rank / words.len() as f32 }
}

/// A place where words of the query stand.
struct Spot {
    position: Position,
    items: Vec<usize>,
}

/// The spots of a text that were looked at.
#[derive(Default)]
struct Seen {
    /// For each item of the query the places of its word.
    places: Vec<Vec<i64>>,
}

impl Seen {
    fn new(query: &Query) -> Self {
        Self { places: vec![Vec::new(); query.items().len()] }
    }

    fn add(&mut self, spot: &Spot) {
        let at = i64::from(spot.position.at());
        for item in &spot.items {
            let places = &mut self.places[*item];
            if let Err(place) = places.binary_search(&at) {
                places.insert(place, at);
            }
        }
    }
}

impl Words for Seen {
    fn find(&self, _: &Query, at: usize, places: Option<&mut Places>) -> Found {
        if self.places[at].is_empty() {
            return Found::No;
        }
        if let Some(places) = places {
            places.at.clone_from(&self.places[at]);
        }
        Found::Yes
    }
}

fn spots(vector: &Vector, query: &Query) -> Vec<Spot> {
    let mut all: Vec<(Position, &str, usize)> = Vec::new();
    for (at, item) in query.items().iter().enumerate() {
        let Item::Word { word, weights, prefix } = item else { continue };
        for lexeme in vector.find(word, *prefix) {
            let fitting =
                lexeme.positions.iter().filter(|position| *weights == 0 || weights & (1 << position.weight()) != 0);
            all.extend(fitting.map(|position| (*position, lexeme.word.as_str(), at)));
        }
    }
    let order = |a: &(Position, &str, usize), b: &(Position, &str, usize)| -> Ordering {
        (a.0.at().cmp(&b.0.at())).then(a.0.weight().cmp(&b.0.weight())).then(a.1.cmp(b.1))
    };
    all.sort_by(order);
    let mut spots: Vec<Spot> = Vec::new();
    let mut before: Option<(Position, &str)> = None;
    for (position, word, item) in all {
        match spots.last_mut() {
            Some(spot) if before == Some((position, word)) => spot.items.push(item),
            _ => spots.push(Spot { position, items: vec![item] }),
        }
        before = Some((position, word));
    }
    spots
}

/// The next shortest stretch that matches, from a spot on: its first and last spot, and where to look next.
fn cover(spots: &[Spot], query: &Query, mut from: usize) -> Result<Option<(usize, usize, usize)>> {
    loop {
        let mut seen = Seen::new(query);
        let mut end = None;
        for (at, spot) in spots.iter().enumerate().skip(from) {
            seen.add(spot);
            if matches(query, &seen)? {
                end = (spot.position.at() > 0).then_some(at);
                break;
            }
        }
        let Some(end) = end else { return Ok(None) };
        let mut seen = Seen::new(query);
        for at in (from..=end).rev() {
            seen.add(&spots[at]);
            if matches(query, &seen)? {
                return Ok(Some((at, end, at + 1)));
            }
        }
        from += 1;
    }
}

/// `ts_rank_cd`
pub(super) fn rank_by_covers(weights: &[f32; 4], vector: &Vector, query: &Query, method: i64) -> Result<f32> {
    let spots = spots(vector, query);
    if spots.is_empty() {
        return Ok(0.0);
    }
    let inverse = weights.map(|weight| 1.0 / f64::from(weight));
    let (mut rank, mut distances, mut before, mut extents) = (0.0, 0.0, 0.0, 0);
    let mut from = 0;
    while let Some((begin, end, next)) = cover(&spots, query, from)? {
        work::check()?;
        from = next;
        let sum: f64 =
            spots[begin..=end].iter().fold(0.0, |sum, spot| sum + inverse[usize::from(spot.position.weight())]);
        let own = (end - begin + 1) as f64 / sum;
        let (p, q) = (i64::from(spots[begin].position.at()), i64::from(spots[end].position.at()));
        let within = (end - begin) as i64;
        let noise = if (q - p) < within { within / 2 } else { q - p - within };
        rank += own / (1 + noise) as f64;
        let middle = (q + p) as f64 / 2.0;
        if extents > 0 && middle > before {
            distances += 1.0 / (middle - before);
        }
        before = middle;
        extents += 1;
    }
    let words = vector.lexemes.len();
    if method & norm::LOG_LENGTH != 0 {
        rank /= ((length(vector) + 1) as f64).ln();
    }
    if method & norm::LENGTH != 0 {
        rank /= length(vector) as f64;
    }
    if method & norm::EXTENT_DISTANCE != 0 && extents > 0 && distances > 0.0 {
        rank /= f64::from(extents) / distances;
    }
    if method & norm::WORDS != 0 {
        rank /= words as f64;
    }
    if method & norm::LOG_WORDS != 0 {
        rank /= ((words + 1) as f64).ln() / 2.0_f64.ln();
    }
    if method & norm::PLUS_ONE != 0 {
        rank /= rank + 1.0;
    }
    Ok(rank as f32)
}
