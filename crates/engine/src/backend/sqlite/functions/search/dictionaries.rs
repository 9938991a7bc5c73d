//! Configurations and dictionaries: what tokens become.

use std::sync::LazyLock;

use rowferry_dialect::values::search::vector::MAX_WORD;
use rowferry_dialect::values::search::{Lexeme, Position, Vector};
use rowferry_dialect::{Condition, Error, Result};
use rust_stemmers::{Algorithm, Stemmer};

use super::parser::{Tokens, kind};

/// What a configuration does with words.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Configuration {
    /// Words are as they stand.
    Simple,
    /// Words of English.
    English,
}

/// What makes lexemes of a token.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Dictionary {
    /// Lower case.
    Simple,
    /// Stems of English words.
    EnglishStem,
}

impl Configuration {
    /// The one with an object id.
    pub(super) fn by_oid(oid: u32) -> Option<Self> {
        match oid {
            3748 => Some(Self::Simple),
            13164 => Some(Self::English),
            _ => None,
        }
    }

    /// What reads tokens of a type; `None` for those that are left out.
    pub(super) fn dictionary(self, token: u8) -> Option<Dictionary> {
        match token {
            0 | kind::BLANK | kind::TAG | kind::PROTOCOL | kind::ENTITY => None,
            _ if self == Self::Simple => Some(Dictionary::Simple),
            // asciiword, word, hword_part, hword_asciipart, asciihword, hword
            1 | 2 | 10 | 11 | 16 | 17 => Some(Dictionary::EnglishStem),
            _ => Some(Dictionary::Simple),
        }
    }
}

/// Words that English has too many of.
const ENGLISH_STOP_WORDS: &str = "i me my myself we our ours ourselves you your yours yourself yourselves he him his \
    himself she her hers herself it its itself they them their theirs themselves what which who whom this that these \
    those am is are was were be been being have has had having do does did doing a an the and but if or because as \
    until while of at by for with about against between into through during before after above below to from up down \
    in out on off over under again further then once here there when where why how all any both each few more most \
    other some such no nor not only own same so than too very s t can will just don should now";

static STOP_WORDS: LazyLock<std::collections::HashSet<&str>> =
    LazyLock::new(|| ENGLISH_STOP_WORDS.split_whitespace().collect());
static ENGLISH: LazyLock<Stemmer> = LazyLock::new(|| Stemmer::create(Algorithm::English));

/// Letter by letter.
pub(super) fn lower(text: &str) -> String {
    text.chars()
        .map(|c| {
            let mut lower = c.to_lowercase();
            match (lower.next(), lower.next()) {
                (Some(only), None) => only,
                _ => c,
            }
        })
        .collect()
}

impl Dictionary {
    /// The one with an object id.
    pub(super) fn by_oid(oid: u32) -> Option<Self> {
        match oid {
            3765 => Some(Self::Simple),
            13163 => Some(Self::EnglishStem),
            _ => None,
        }
    }

    /// Its object id.
    pub(super) const fn oid(self) -> u32 {
        match self {
            Self::Simple => 3765,
            Self::EnglishStem => 13163,
        }
    }

    /// The lexeme of a token; `None` for a stop word.
    pub(super) fn lexize(self, token: &str) -> Option<String> {
        /// Longer words have no stems.
        const LONGEST: usize = 1000;
        let word = lower(token);
        match self {
            Self::Simple => Some(word),
            Self::EnglishStem if word.len() > LONGEST => Some(word),
            Self::EnglishStem if word.is_empty() || STOP_WORDS.contains(word.as_str()) => None,
            Self::EnglishStem => Some(ENGLISH.stem(&word).into_owned()),
        }
    }
}

/// Words found so far, and where the last stood.
#[derive(Default)]
pub(super) struct Words {
    pub(super) found: Vec<(String, u32)>,
    pub(super) position: u32,
}

impl Words {
    /// Adds those of a text.
    pub(super) fn add(&mut self, configuration: Configuration, text: &str) -> Result<()> {
        let mut tokens = Tokens::new(text);
        while let Some((kind, token)) = tokens.next()? {
            if token.len() >= MAX_WORD {
                rowferry_dialect::work::step(1)?;
                return Err(too_long());
            }
            let Some(dictionary) = configuration.dictionary(kind) else { continue };
            self.position += 1;
            if let Some(word) = dictionary.lexize(token) {
                self.found.push((word, self.position));
            }
        }
        Ok(())
    }

    /// All of them.
    pub(super) fn vector(self) -> Result<Vector> {
        let lexeme = |(word, position)| Lexeme { word, positions: vec![Position::new(position, 0)] };
        Vector::of(self.found.into_iter().map(lexeme).collect())
    }
}

fn too_long() -> Error {
    Error::new(Condition::ProgramLimitExceeded, "word is too long to be indexed")
        .detail("Words longer than 2047 characters are ignored.")
}
