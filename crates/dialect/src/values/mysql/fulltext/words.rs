//! The words of a text, and which of them are one under a collation.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use super::letters::is_letter;
use crate::collation::unicode::{SortKeys, VERSION};
use crate::collation::{Collation, Order};

/// The shortest word that is kept (`innodb_ft_min_token_size`), in characters.
pub const SHORTEST: usize = 3;

/// The longest (`innodb_ft_max_token_size`).
pub const LONGEST: usize = 84;

/// Words that are not kept (`information_schema.INNODB_FT_DEFAULT_STOPWORD`, in its order).
pub const STOPWORDS: &[&str] = &[
    "a", "about", "an", "are", "as", "at", "be", "by", "com", "de", "en", "for", "from", "how", "i", "in", "is", "it",
    "la", "of", "on", "or", "that", "the", "this", "to", "was", "what", "when", "where", "who", "will", "with", "und",
    "the", "www",
];

/// How words are kept; what was kept otherwise is kept anew.
const FORM: &str = "1";

/// Between what a word is by its letters alone, by all that its collation tells apart, and as it is written: no key has it.
const BETWEEN: u8 = 0;

/// The words of a text, in turn, however short or common they are.
pub fn of(text: &str) -> impl Iterator<Item = &str> {
    text.split(|character| !is_letter(character)).filter(|word| !word.is_empty())
}

/// How words are compared.
enum Comparison {
    /// By their bytes.
    Bytes,
    /// By their letters, without case and accents.
    Letters(SortKeys),
    /// By more than that; first by their letters.
    More { letters: SortKeys, all: SortKeys, collation: Arc<Collation> },
}

/// What words are under a collation.
pub struct Words {
    comparison: Comparison,
    stopwords: HashSet<Vec<u8>>,
    form: String,
}

impl std::fmt::Debug for Words {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Words").field("form", &self.form).finish_non_exhaustive()
    }
}

impl Words {
    /// Under a column's collation; without one, by bytes.
    pub fn under(collation: Option<&Arc<Collation>>) -> Arc<Self> {
        // There are as many as there are collations.
        static KNOWN: LazyLock<Mutex<HashMap<String, Arc<Words>>>> = LazyLock::new(Mutex::default);
        let key = match collation.map(|collation| &collation.order) {
            Some(Order::Unicode(tag)) => tag.clone(),
            Some(Order::Bytes) | None => String::new(),
        };
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(known.entry(key).or_insert_with(|| Arc::new(Self::made(collation))))
    }

    fn made(collation: Option<&Arc<Collation>>) -> Self {
        let (comparison, order) = match collation {
            Some(collation) => match &collation.order {
                Order::Unicode(tag) => (Self::comparison(tag, collation), format!("{VERSION} {tag}")),
                Order::Bytes => (Comparison::Bytes, String::new()),
            },
            None => (Comparison::Bytes, String::new()),
        };
        let mut words = Self { comparison, stopwords: HashSet::new(), form: format!("{FORM} {order}") };
        words.stopwords = STOPWORDS.iter().map(|word| words.key(word)).collect();
        words
    }

    fn comparison(tag: &str, collation: &Arc<Collation>) -> Comparison {
        let Some(letters) = SortKeys::of_letters(tag) else { return Comparison::Bytes };
        match SortKeys::of(tag) {
            Some(all) if !tag.contains("ks-level1") => {
                Comparison::More { letters, all, collation: Arc::clone(collation) }
            }
            _ => Comparison::Letters(letters),
        }
    }

    /// How words are kept, in words: what was kept in another form is worth nothing.
    pub fn form(&self) -> &str {
        &self.form
    }

    /// What is the same for words that are one.
    pub fn key(&self, word: &str) -> Vec<u8> {
        match &self.comparison {
            Comparison::Bytes => word.as_bytes().to_vec(),
            Comparison::Letters(letters) => letters.key(&word.to_lowercase()),
            Comparison::More { letters, all, .. } => {
                let word = word.to_lowercase();
                let mut key = letters.key(&word);
                key.push(BETWEEN);
                key.extend(all.key(&word));
                key
            }
        }
    }

    /// Under which key a word is kept: where the letters alone do not tell words apart, with the word itself.
    pub fn kept(&self, word: &str) -> Vec<u8> {
        let mut key = self.key(word);
        if let Comparison::More { .. } = self.comparison {
            key.push(BETWEEN);
            key.extend(word.to_lowercase().into_bytes());
        }
        key
    }

    /// What the kept keys begin with of words that begin so.
    pub fn beginning(&self, beginning: &str) -> Vec<u8> {
        match &self.comparison {
            Comparison::Bytes => beginning.as_bytes().to_vec(),
            Comparison::Letters(letters) | Comparison::More { letters, .. } => letters.key(&beginning.to_lowercase()),
        }
    }

    /// What the kept keys begin with of words that are this one.
    pub fn whole(&self, word: &str) -> Vec<u8> {
        let mut key = self.key(word);
        if let Comparison::More { .. } = self.comparison {
            key.push(BETWEEN);
        }
        key
    }

    /// Whether keys of one word go on behind [`Self::whole`].
    pub fn is_spelled(&self) -> bool {
        matches!(self.comparison, Comparison::More { .. })
    }

    /// A word that is kept under this key begins so. Its key begins as [`Self::beginning`] says.
    pub fn begins(&self, kept: &[u8], beginning: &str) -> bool {
        let Comparison::More { collation, .. } = &self.comparison else { return true };
        let spelled = kept.rsplit(|byte| *byte == BETWEEN).next().unwrap_or_default();
        let Ok(spelled) = std::str::from_utf8(spelled) else { return false };
        let beginning = beginning.to_lowercase();
        let ends = spelled.char_indices().map(|(at, _)| at).chain([spelled.len()]);
        ends.map(|end| &spelled[..end]).any(|part| collation.compare(part, &beginning).is_eq())
    }

    /// A word is kept at all, by its length and by what it is.
    pub fn keeps(&self, word: &str) -> bool {
        let length = word.chars().count();
        (SHORTEST..=LONGEST).contains(&length) && !self.is_stopword(word)
    }

    fn is_stopword(&self, word: &str) -> bool {
        match self.comparison {
            // Case is of no account here, whatever the collation.
            Comparison::Bytes => STOPWORDS.iter().any(|known| known.eq_ignore_ascii_case(word)),
            _ => self.stopwords.contains(&self.key(word)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn under(name: &str) -> Arc<Words> {
        Words::under(Collation::named(name))
    }

    #[test]
    fn words_are_what_stands_between_other_characters() {
        let words: Vec<&str> = of("don't x-ray, foo_bar a''b 日本語テキスト; Straße!").collect();
        assert_eq!(words, ["don", "t", "x", "ray", "foo_bar", "a", "b", "日本語テキスト", "Straße"]);
        assert_eq!(of("'.-").count(), 0);
    }

    #[test]
    fn words_are_one_as_their_collation_says() {
        let letters = under("utf8mb4_0900_ai_ci");
        assert_eq!(letters.key("École"), letters.key("ecole"));
        assert_eq!(letters.key("Straße"), letters.key("STRASSE"));
        assert_ne!(letters.key("masse"), letters.key("mast"));
        let accents = under("utf8mb4_0900_as_ci");
        assert_eq!(accents.key("École"), accents.key("école"));
        assert_ne!(accents.key("École"), accents.key("ecole"));
        let bytes = under("utf8mb4_bin");
        assert_ne!(bytes.key("A"), bytes.key("a"));
        assert_ne!(letters.form(), accents.form());
    }

    /// What a search for the beginnings of words relies on.
    #[test]
    fn the_key_of_a_beginning_begins_the_key() {
        let letters = under("utf8mb4_0900_ai_ci");
        for word in
            ["strasse", "Ångström", "日本語テキスト", "naïve", "мир", "αβγ", "a1_b2", "ﬁnally", "ქართული", "aжb"]
        {
            for (at, _) in word.char_indices() {
                let (whole, part) = (letters.kept(word), letters.beginning(&word[..at]));
                assert!(whole.starts_with(&part), "{word} {at}: {part:x?} {whole:x?}");
            }
        }
        let accents = under("utf8mb4_0900_as_ci");
        let kept = accents.kept("Résumé");
        assert!(kept.starts_with(&accents.beginning("res")) && kept.starts_with(&accents.whole("résumé")));
        assert!(accents.begins(&kept, "RÉS") && !accents.begins(&kept, "res"));
    }

    #[test]
    fn short_and_common_words_are_not_kept() {
        let letters = under("utf8mb4_0900_ai_ci");
        assert!(letters.keeps("fox") && letters.keeps(&"x".repeat(LONGEST)));
        assert!(!["ox", "The", "Thé", ""].iter().any(|word| letters.keeps(word)));
        assert!(!letters.keeps(&"x".repeat(LONGEST + 1)));
        assert!(!under("utf8mb4_bin").keeps("THE"));
    }
}
