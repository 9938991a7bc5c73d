//! The orders of the Unicode Collation Algorithm, by locale.

use std::cmp::Ordering;
use std::panic::{RefUnwindSafe, UnwindSafe};

use icu_collator::options::{AlternateHandling, CaseLevel, CollatorOptions, Strength};
use icu_collator::{Collator, CollatorBorrowed, CollatorPreferences};
use icu_locale_core::Locale;

/// The version of the orders: that of the crate whose data they are.
pub const VERSION: &str = "2.4.0";

/// What stands before the locale where texts are equal that the order does not tell apart.
pub const EQUAL: &str = "=";

/// What stands behind a locale of which blanks at the end of texts say nothing.
pub const PADS: &str = "-x-pad";

/// The order that a collation's name tells: the version of the orders and a locale. `None` for another version, whose
/// indexes may be in another order, and for what is no locale.
pub fn named(
    words: &str,
) -> Option<impl Fn(&str, &str) -> Ordering + Send + Sync + UnwindSafe + RefUnwindSafe + 'static> {
    let (version, locale) = words.split_once(' ')?;
    if version != VERSION {
        return None;
    }
    let (equal, locale) = match locale.strip_prefix(EQUAL) {
        Some(locale) => (true, locale),
        None => (false, locale),
    };
    of_locale(locale, equal)
}

/// Texts as a locale orders them; those that are equal to it, by their bytes unless they are `equal`.
pub(super) fn of_locale(
    tag: &str,
    equal: bool,
) -> Option<impl Fn(&str, &str) -> Ordering + Send + Sync + UnwindSafe + RefUnwindSafe + 'static> {
    let locale: Locale = tag.parse().ok()?;
    let collator = Collator::try_new(CollatorPreferences::from(&locale), options(tag)).ok()?;
    let pads = tag.ends_with(PADS);
    Some(move |a: &str, b: &str| {
        let (a, b) = if pads { (a.trim_end_matches(' '), b.trim_end_matches(' ')) } else { (a, b) };
        collator.compare(a, b).then_with(|| if equal { Ordering::Equal } else { a.cmp(b) })
    })
}

/// Bytes that stand in the order of texts; they are the same for texts that are equal.
pub struct SortKeys(CollatorBorrowed<'static>);

impl SortKeys {
    /// Those of a locale's order.
    pub fn of(tag: &str) -> Option<Self> {
        Self::with(tag, options(tag))
    }

    /// The same by letters alone: the key of a text begins with those of its beginnings.
    pub fn of_letters(tag: &str) -> Option<Self> {
        let mut options = options(tag);
        options.strength = Some(Strength::Primary);
        Self::with(tag, options)
    }

    fn with(tag: &str, options: CollatorOptions) -> Option<Self> {
        let locale: Locale = tag.parse().ok()?;
        Collator::try_new(CollatorPreferences::from(&locale), options).ok().map(Self)
    }

    /// The key of a text.
    pub fn key(&self, text: &str) -> Vec<u8> {
        let mut key = Vec::new();
        let Ok(()) = self.0.write_sort_key_to(text, &mut key);
        key
    }
}

/// What a tag asks of the order beyond its language.
fn options(tag: &str) -> CollatorOptions {
    let mut options = CollatorOptions::default();
    let asked = |key: &str| {
        let (_, extension) = tag.split_once("-u-")?;
        let mut parts = extension.split('-').skip_while(|part| *part != key);
        parts.next()?;
        parts.next()
    };
    options.strength = match asked("ks") {
        Some("level1") => Some(Strength::Primary),
        Some("level2") => Some(Strength::Secondary),
        Some("level3") => Some(Strength::Tertiary),
        Some("level4") => Some(Strength::Quaternary),
        _ => None,
    };
    options.alternate_handling = match asked("ka") {
        Some("shifted") => Some(AlternateHandling::Shifted),
        Some("noignore") => Some(AlternateHandling::NonIgnorable),
        _ => None,
    };
    options.case_level = match asked("kc") {
        Some("true") => Some(CaseLevel::On),
        Some("false") => Some(CaseLevel::Off),
        _ => None,
    };
    options
}

#[cfg(test)]
mod tests {
    use crate::collation::{Collation, Order};

    use super::*;

    fn sorted(locale: &str, words: &str) -> String {
        let compare = of_locale(locale, false).unwrap_or_else(|| panic!("{locale} is no locale"));
        let mut words: Vec<&str> = words.split(' ').collect();
        words.sort_by(|a, b| compare(a, b));
        words.join(" ")
    }

    #[test]
    fn every_locale_has_an_order() {
        for collation in Collation::all() {
            let Order::Unicode(locale) = &collation.order else { continue };
            let compare = of_locale(locale, false).unwrap_or_else(|| panic!("{locale} has none"));
            assert_eq!(
                (compare("a", "b"), compare("b", "a"), compare("a", "a")),
                (Ordering::Less, Ordering::Greater, Ordering::Equal)
            );
        }
    }

    /// As PostgreSQL 15 with ICU 72 orders them.
    #[test]
    fn locales_order_as_their_languages_do() {
        for (locale, words) in [
            ("und", "_a a A á b B ß sz Z"),
            ("sv", "a z å ä ö"),
            ("de", "a ä b o ö z"),
            ("cs", "c d h ch i"),
            ("es", "n ñ o"),
        ] {
            let shuffled: Vec<&str> = words.split(' ').rev().collect();
            let expected = if locale == "und" { "_a a A á b B ß sz Z" } else { words };
            assert_eq!(sorted(locale, &shuffled.join(" ")), expected, "{locale}");
        }
    }

    #[test]
    fn a_tag_asks_for_more_than_a_language() {
        for (tag, a, b, wanted) in [
            ("und-u-ks-level2", "abc", "ABC", Ordering::Equal),
            ("und-u-kc-true-ks-level1", "cote", "côte", Ordering::Equal),
            ("und-u-kc-true-ks-level1", "Cote", "cote", Ordering::Greater),
            ("und-u-kn-true", "A-21", "A-123", Ordering::Less),
            ("und-u-ka-shifted", "de-luge", "deanza", Ordering::Greater),
            ("und-u-kf-upper", "aaa", "AAA", Ordering::Greater),
            ("de-u-co-phonebk", "Goldmann", "Götz", Ordering::Greater),
            ("de", "Goldmann", "Götz", Ordering::Less),
        ] {
            let compare = of_locale(tag, true).unwrap_or_else(|| panic!("{tag} is no locale"));
            assert_eq!(compare(a, b), wanted, "{tag}");
        }
    }

    #[test]
    fn another_version_is_another_order() {
        assert!(named(&format!("{VERSION} de")).is_some());
        assert!(named("0.1 de").is_none() && named("de").is_none());
        assert!(named(&format!("{VERSION} no locale!")).is_none());
        let lock = include_str!("../../../../Cargo.lock");
        let data = format!("name = \"icu_collator_data\"\nversion = \"{VERSION}\"");
        assert!(lock.contains(&data), "the orders are of another version than their names say");
    }
}
