//! `tsvector`: words in order, each with the places where it stands.

use std::cmp::Ordering;

use super::token::{Manner, Reader, quote};
use crate::{Condition, Error, Result};

/// The greatest number of bytes of a word, and one more.
pub const MAX_WORD: usize = 2048;
/// The greatest position, and one more.
pub const MAX_POSITION: u32 = 16384;
/// How many positions are kept of a word.
pub const MAX_POSITIONS: usize = 256;
/// Bytes that the words of a value may have.
const MAX_BYTES: usize = 1 << 20;

/// Where a word stands, and of what weight it is there: 0 for `D` to 3 for `A`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Position(u16);

impl Position {
    /// A position; those that are too great become the greatest.
    pub fn new(at: u32, weight: u8) -> Self {
        Self((u16::from(weight & 3) << 14) | at.min(MAX_POSITION - 1) as u16)
    }

    /// As it is on the wire.
    pub const fn from_bits(bits: u16) -> Self {
        Self(bits)
    }

    /// As it is on the wire.
    pub const fn bits(self) -> u16 {
        self.0
    }

    /// The place.
    pub fn at(self) -> u32 {
        u32::from(self.0 & 0x3fff)
    }

    /// The weight.
    pub const fn weight(self) -> u8 {
        (self.0 >> 14) as u8
    }
}

/// The letter of a weight.
///
/// # Errors
/// `22023`
pub fn weight_of(letter: &str) -> Result<u8> {
    Ok(match letter.chars().next() {
        Some('a' | 'A') => 3,
        Some('b' | 'B') => 2,
        Some('c' | 'C') => 1,
        Some('d' | 'D') => 0,
        other => {
            let message = format!("unrecognized weight: \"{}\"", other.unwrap_or_default());
            return Err(Error::new(Condition::InvalidParameterValue, message));
        }
    })
}

/// A word and its positions, in order; it may have none.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Lexeme {
    /// The word.
    pub word: String,
    /// Where it stands.
    pub positions: Vec<Position>,
}

/// Words in order, each once.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Vector {
    /// The words.
    pub lexemes: Vec<Lexeme>,
}

/// Puts positions in order, and each once, with its greatest weight; too many are left out.
fn settle(positions: &mut Vec<Position>) {
    positions.sort_by_key(|position| (position.at(), std::cmp::Reverse(position.weight())));
    positions.dedup_by_key(|position| position.at());
    positions.truncate(MAX_POSITIONS - 1);
}

impl Vector {
    /// Makes a vector of words in any order.
    ///
    /// # Errors
    /// `54000` when they are too many.
    pub fn of(mut lexemes: Vec<Lexeme>) -> Result<Self> {
        lexemes.sort_by(|a, b| a.word.cmp(&b.word));
        lexemes.dedup_by(|next, kept| {
            let same = next.word == kept.word;
            if same {
                kept.positions.append(&mut next.positions);
            }
            same
        });
        for lexeme in &mut lexemes {
            settle(&mut lexeme.positions);
        }
        let vector = Self { lexemes };
        let bytes = vector.bytes();
        if bytes > MAX_BYTES {
            let message = format!("string is too long for tsvector ({bytes} bytes, max {} bytes)", MAX_BYTES - 1);
            return Err(Error::new(Condition::ProgramLimitExceeded, message));
        }
        Ok(vector)
    }

    /// Reads a text.
    ///
    /// # Errors
    /// `42601`, `54000`
    pub fn parse(text: &str) -> Result<Self> {
        let mut reader = Reader::new(text, Manner::Vector);
        let mut lexemes = Vec::new();
        while let Some((word, positions)) = reader.word()? {
            if word.len() >= MAX_WORD {
                let message = format!("word is too long ({} bytes, max {} bytes)", word.len(), MAX_WORD - 1);
                return Err(Error::new(Condition::ProgramLimitExceeded, message));
            }
            lexemes.push(Lexeme { word, positions });
        }
        Self::of(lexemes)
    }

    /// Bytes that the words and positions have in PostgreSQL's layout.
    fn bytes(&self) -> usize {
        self.lexemes.iter().fold(0, |bytes, lexeme| {
            let bytes = bytes + lexeme.word.len();
            match lexeme.positions.len() {
                0 => bytes,
                count => bytes.next_multiple_of(2) + 2 + count * 2,
            }
        })
    }

    /// Its text.
    pub fn print(&self) -> String {
        let mut out = String::new();
        for (at, lexeme) in self.lexemes.iter().enumerate() {
            if at > 0 {
                out.push(' ');
            }
            quote(&mut out, &lexeme.word);
            for (at, position) in lexeme.positions.iter().enumerate() {
                out.push(if at == 0 { ':' } else { ',' });
                out.push_str(&position.at().to_string());
                match position.weight() {
                    3 => out.push('A'),
                    2 => out.push('B'),
                    1 => out.push('C'),
                    _ => {}
                }
            }
        }
        out
    }

    /// Reads PostgreSQL's binary form.
    ///
    /// # Errors
    /// `22P03` and its kin
    pub fn receive(bytes: &[u8]) -> Result<Self> {
        let wrong = || Error::new(Condition::InvalidBinaryRepresentation, "invalid tsvector");
        let (count, mut rest) = bytes.split_first_chunk::<4>().ok_or_else(wrong)?;
        let mut lexemes: Vec<Lexeme> = Vec::new();
        for _ in 0..u32::from_be_bytes(*count) {
            let end = rest.iter().position(|byte| *byte == 0).ok_or_else(wrong)?;
            let word = std::str::from_utf8(&rest[..end]).map_err(|_| wrong())?;
            if word.len() >= MAX_WORD {
                return Err(Error::new(Condition::ProgramLimitExceeded, "invalid tsvector: lexeme too long"));
            }
            let (positions, behind) = rest[end + 1..].split_first_chunk::<2>().ok_or_else(wrong)?;
            let size = usize::from(u16::from_be_bytes(*positions)) * 2;
            let packed = behind.get(..size).ok_or_else(wrong)?;
            let positions =
                packed.chunks_exact(2).map(|two| Position::from_bits(u16::from_be_bytes([two[0], two[1]]))).collect();
            lexemes.push(Lexeme { word: word.to_owned(), positions });
            rest = &behind[size..];
        }
        if rest.is_empty() { Self::of(lexemes) } else { Err(wrong()) }
    }

    /// Writes PostgreSQL's binary form.
    pub fn send(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&(self.lexemes.len() as u32).to_be_bytes());
        for lexeme in &self.lexemes {
            out.extend_from_slice(lexeme.word.as_bytes());
            out.push(0);
            out.extend_from_slice(&(lexeme.positions.len() as u16).to_be_bytes());
            for position in &lexeme.positions {
                out.extend_from_slice(&position.bits().to_be_bytes());
            }
        }
    }

    /// The words that are this one, or that begin with it.
    pub fn find(&self, word: &str, prefix: bool) -> &[Lexeme] {
        let start = self.lexemes.partition_point(|lexeme| *lexeme.word < *word);
        let rest = &self.lexemes[start..];
        let count = if prefix {
            rest.iter().take_while(|lexeme| lexeme.word.starts_with(word)).count()
        } else {
            usize::from(rest.first().is_some_and(|lexeme| lexeme.word == word))
        };
        &rest[..count]
    }

    /// Both, the second's positions behind the first's.
    ///
    /// # Errors
    /// `54000`
    pub fn joined(mut self, other: &Self) -> Result<Self> {
        let last = self.lexemes.iter().filter_map(|lexeme| lexeme.positions.last()).map(|last| last.at()).max();
        let last = last.unwrap_or(0);
        for lexeme in &other.lexemes {
            let shifted =
                lexeme.positions.iter().map(|position| Position::new(position.at() + last, position.weight()));
            self.lexemes.push(Lexeme { word: lexeme.word.clone(), positions: shifted.collect() });
        }
        Self::of(self.lexemes)
    }

    /// The order of PostgreSQL, which has no meaning.
    pub fn compare(&self, other: &Self) -> Ordering {
        let size = |vector: &Self| 8 + vector.lexemes.len() * 4 + vector.bytes();
        size(self).cmp(&size(other)).then_with(|| self.lexemes.len().cmp(&other.lexemes.len())).then_with(|| {
            let pairs = self.lexemes.iter().zip(&other.lexemes);
            pairs.map(|(a, b)| compare_lexemes(a, b)).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
        })
    }
}

fn compare_lexemes(a: &Lexeme, b: &Lexeme) -> Ordering {
    // What is greater comes first, but for the words.
    (b.positions.is_empty().cmp(&a.positions.is_empty()).reverse())
        .then_with(|| a.word.cmp(&b.word))
        .then_with(|| b.positions.len().cmp(&a.positions.len()))
        .then_with(|| {
            let pairs = a.positions.iter().zip(&b.positions);
            let compare =
                |(a, b): (&Position, &Position)| b.at().cmp(&a.at()).then_with(|| b.weight().cmp(&a.weight()));
            pairs.map(compare).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
        })
}
