//! The documents that a search finds, with their relevance.
//!
//! A word's weight is `log10(documents / documents with the word)`, or `log10(1.0001)` where all have it; a word that is read several
//! times for one search counts its documents as often. A document's relevance is the sum, over the words by which it was found, of
//! how often it has them times the square of the weight, in single precision. What `<`, `>` and `~` add is 1 and never more.
//!
//! Members are gone through three times: what stands without a sign, or with one that says how good, and words that are written as one;
//! then what must be; then what must not be. A group finds documents of its own, in the same three turns.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::query::{self, Member, Mode, Sign};
use super::words::{self, LONGEST, Words};
use crate::Result;

/// A document that has a word.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Posting {
    /// The document.
    pub row: i64,
    /// How often it has the word.
    pub count: u32,
}

/// Where documents are looked up.
pub trait Documents {
    /// What words are here.
    fn words(&self) -> &Words;
    /// How many documents there are, those without words among them.
    fn count(&mut self) -> Result<u64>;
    /// Those that have a word, which is kept.
    fn with_word(&mut self, word: &str) -> Result<Vec<Posting>>;
    /// Those that have words which begin so, by word, in the order of the words.
    fn with_beginning(&mut self, beginning: &str) -> Result<Vec<Vec<Posting>>>;
    /// The texts of a document, by column.
    fn texts(&mut self, row: i64) -> Result<Vec<String>>;
}

/// What has been found: documents with their relevance.
pub type Found = HashMap<i64, f64>;

/// A document that has been found.
#[derive(Clone, Debug, Default)]
struct Ranking {
    /// What signs have made of it.
    rank: f32,
    /// By which words, by their numbers.
    words: Vec<usize>,
}

/// A word of the search, or a beginning.
#[derive(Debug, Default)]
struct Counted {
    /// How many documents have been read that have it.
    documents: u64,
    /// How often they have it.
    counts: HashMap<i64, u32>,
}

type Rows = BTreeMap<i64, Ranking>;

struct Search<'d, D> {
    documents: &'d mut D,
    /// The words met, by their keys, and whether they are beginnings.
    numbers: HashMap<(Vec<u8>, bool), usize>,
    counted: Vec<Counted>,
    found: Rows,
    /// Something that must be has been met, in this group.
    narrowed: bool,
}

/// What a text finds.
///
/// # Errors
/// `42601` for what is no search in boolean mode; those of the documents.
pub fn search<D: Documents>(documents: &mut D, text: &str, mode: Mode) -> Result<Found> {
    let members = query::read(text, mode)?;
    let mut search =
        Search { documents, numbers: HashMap::new(), counted: Vec::new(), found: Rows::new(), narrowed: false };
    search.members(&members)?;
    if mode == Mode::Expanded {
        search.expand()?;
    }
    search.ranked()
}

impl<D: Documents> Search<'_, D> {
    fn members(&mut self, members: &[(Sign, Member)]) -> Result<()> {
        // Words that are written as one have their turn with those that have no sign, whatever theirs is.
        let turn = |sign: Sign, member: &Member| match (sign, member) {
            (_, Member::Words(_)) => 0,
            (Sign::Must, _) => 1,
            (Sign::MustNot, _) => 2,
            _ => 0,
        };
        for now in 0..=2 {
            for (sign, member) in members.iter().filter(|(sign, member)| turn(*sign, member) == now) {
                self.member(*sign, member)?;
            }
        }
        Ok(())
    }

    fn member(&mut self, sign: Sign, member: &Member) -> Result<()> {
        match member {
            Member::Word { word, begins } => self.word(sign, word, *begins),
            Member::Words(words) => words.iter().try_for_each(|(word, begins)| self.word(sign, word, *begins)),
            Member::Phrase { text, within } => self.phrase(sign, text, *within),
            Member::Group(members) => {
                let around = (std::mem::take(&mut self.found), std::mem::take(&mut self.narrowed));
                self.members(members)?;
                let inner = std::mem::take(&mut self.found);
                (self.found, self.narrowed) = around;
                self.apply(sign, inner);
                Ok(())
            }
        }
    }

    /// The number of a word, and the documents that have it, counted.
    fn read(&mut self, word: &str, begins: bool) -> Result<(usize, Vec<i64>)> {
        let key = match begins {
            true => self.documents.words().beginning(word),
            false => self.documents.words().key(word),
        };
        let next = self.numbers.len();
        let number = *self.numbers.entry((key, begins)).or_insert(next);
        if number == self.counted.len() {
            self.counted.push(Counted::default());
        }
        let lists = match begins {
            true => self.documents.with_beginning(word)?,
            false if self.documents.words().keeps(word) => vec![self.documents.with_word(word)?],
            false => Vec::new(),
        };
        let counted = &mut self.counted[number];
        let mut rows = Vec::new();
        for posting in lists.into_iter().flatten() {
            counted.documents += 1;
            counted.counts.entry(posting.row).or_insert(posting.count);
            rows.push(posting.row);
        }
        rows.sort_unstable();
        rows.dedup();
        Ok((number, rows))
    }

    fn word(&mut self, sign: Sign, word: &str, begins: bool) -> Result<()> {
        // Where nothing is left to be taken out, or to stay, the word is not read, and so not counted.
        let is_settled = match sign {
            Sign::MustNot => true,
            Sign::Must => self.narrowed,
            _ => false,
        };
        if is_settled && self.found.is_empty() {
            return Ok(());
        }
        let (number, rows) = self.read(word, begins)?;
        let by = |row| (row, Ranking { rank: 0.0, words: vec![number] });
        self.apply(sign, rows.into_iter().map(by).collect());
        Ok(())
    }

    /// Documents with all words of a text behind one another in one column, the first of those that are not kept left out; or with
    /// all that are kept within so many words, of whatever columns.
    fn phrase(&mut self, sign: Sign, text: &str, within: Option<usize>) -> Result<()> {
        let mut all: Vec<&str> = words::of(text).filter(|word| word.chars().count() <= LONGEST).collect();
        if all.is_empty() {
            return Ok(());
        }
        let keeps = |word: &&str| self.documents.words().keeps(word);
        match within {
            Some(_) => all.retain(keeps),
            None => drop(all.drain(..all.iter().position(keeps).unwrap_or(all.len()))),
        }
        match all.as_slice() {
            [] => {
                self.apply(sign, Rows::new());
                return Ok(());
            }
            [word] => return self.word(sign, word, false),
            _ => {}
        }
        let mut numbers = Vec::new();
        let mut candidates: Option<Vec<i64>> = None;
        for word in &all {
            if !self.documents.words().keeps(word) {
                continue;
            }
            let (number, rows) = self.read(word, false)?;
            if !numbers.contains(&number) {
                numbers.push(number);
            }
            let is_nowhere = rows.is_empty();
            candidates = Some(match candidates {
                None => rows,
                Some(before) => {
                    let rows: HashSet<i64> = rows.into_iter().collect();
                    before.into_iter().filter(|row| rows.contains(row)).collect()
                }
            });
            if is_nowhere {
                // Those behind it are not read.
                break;
            }
        }
        let wanted: Vec<Vec<u8>> = all.iter().map(|word| self.documents.words().key(word)).collect();
        let mut found = Rows::new();
        for row in candidates.unwrap_or_default() {
            let texts = self.documents.texts(row)?;
            let keys = |text: &String| -> Vec<Vec<u8>> {
                words::of(text).map(|word| self.documents.words().key(word)).collect()
            };
            let holds = match within {
                None => texts.iter().any(|text| keys(text).windows(wanted.len()).any(|part| part == wanted)),
                // Where one column ends, the next begins.
                Some(within) => near(&texts.iter().flat_map(keys).collect::<Vec<_>>(), &wanted, within),
            };
            if holds {
                found.insert(row, Ranking { rank: 0.0, words: numbers.clone() });
            }
        }
        self.apply(sign, found);
        Ok(())
    }

    /// Takes documents in, or out, as a sign says.
    fn apply(&mut self, sign: Sign, rows: Rows) {
        match sign {
            Sign::None | Sign::Better | Sign::Worse => {
                for (row, ranking) in rows {
                    let known =
                        self.found.entry(row).or_insert_with(|| Ranking { rank: ranking.rank, words: Vec::new() });
                    known.take(&ranking.words);
                    match sign {
                        Sign::Better => known.shift(1.0),
                        Sign::Worse => known.shift(-1.0),
                        _ => {}
                    }
                }
            }
            Sign::Against => {
                for (row, ranking) in rows {
                    if let Some(known) = self.found.get_mut(&row) {
                        known.take(&ranking.words);
                        known.shift(-1.0);
                    }
                }
            }
            Sign::Must => {
                let before = std::mem::take(&mut self.found);
                for (row, mut ranking) in rows {
                    match before.get(&row) {
                        Some(known) => {
                            let mut words = known.words.clone();
                            std::mem::swap(&mut words, &mut ranking.words);
                            ranking.take(&words);
                            ranking.shift(known.rank);
                        }
                        None if self.narrowed => continue,
                        None => {}
                    }
                    self.found.insert(row, ranking);
                }
                self.narrowed = true;
            }
            Sign::MustNot => self.found.retain(|row, _| !rows.contains_key(row)),
        }
    }

    /// Searches for the other words of what has been found: for those by which nothing has.
    fn expand(&mut self) -> Result<()> {
        let rows: Vec<i64> = self.found.keys().copied().collect();
        let known: HashSet<usize> = self.found.values().flat_map(|ranking| ranking.words.iter().copied()).collect();
        let mut more: BTreeMap<Vec<u8>, String> = BTreeMap::new();
        for row in rows {
            for text in self.documents.texts(row)? {
                for word in words::of(&text).filter(|word| self.documents.words().keeps(word)) {
                    let key = self.documents.words().key(word);
                    let number = self.numbers.get(&(key.clone(), false));
                    if number.is_none_or(|number| !known.contains(number)) {
                        more.entry(key).or_insert_with(|| word.to_owned());
                    }
                }
            }
        }
        more.into_values().try_for_each(|word| self.word(Sign::None, &word, false))
    }

    fn ranked(self) -> Result<Found> {
        let all = self.documents.count()? as f64;
        let weights: Vec<f64> = self
            .counted
            .iter()
            .map(|counted| match counted.documents as f64 {
                documents if documents == all => 1.0001_f64.log10(),
                documents => (all / documents).log10(),
            })
            .collect();
        let relevance = |(row, ranking): (i64, Ranking)| {
            let mut words = ranking.words;
            words.sort_unstable();
            let sum = words.into_iter().fold(ranking.rank, |sum, number| {
                let count = self.counted[number].counts.get(&row).copied().unwrap_or(0);
                sum + (f64::from(count) * weights[number] * weights[number]) as f32
            });
            (row, f64::from(sum))
        };
        Ok(self.found.into_iter().map(relevance).collect())
    }
}

impl Ranking {
    fn take(&mut self, words: &[usize]) {
        for word in words {
            if !self.words.contains(word) {
                self.words.push(*word);
            }
        }
    }

    fn shift(&mut self, by: f32) {
        self.rank = (self.rank + by).clamp(-1.0, 1.0);
    }
}

/// All of the words stand within so many.
fn near(has: &[Vec<u8>], wanted: &[Vec<u8>], within: usize) -> bool {
    let holds = |part: &[Vec<u8>]| wanted.iter().all(|word| part.contains(word));
    has.windows(within.clamp(1, has.len().max(1))).any(holds)
}
