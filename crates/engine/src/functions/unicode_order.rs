//! The orders of the Unicode Collation Algorithm, by locale.

use std::cmp::Ordering;

use icu_collator::options::CollatorOptions;
use icu_collator::{Collator, CollatorPreferences};
use icu_locale_core::Locale;
use rowferry_dialect::lower::sqlite::UNICODE_VERSION;

/// The order that a collation's name tells: the version of the orders and a locale. `None` for another version, whose
/// indexes may be in another order, and for what is no locale.
pub(super) fn named(words: &str) -> Option<impl Fn(&str, &str) -> Ordering + Send + Sync + 'static> {
    let (version, locale) = words.split_once(' ')?;
    if version != UNICODE_VERSION {
        return None;
    }
    of_locale(locale)
}

/// Texts as a locale orders them; those that are equal to it, by their bytes.
fn of_locale(locale: &str) -> Option<impl Fn(&str, &str) -> Ordering + Send + Sync + 'static> {
    let locale: Locale = locale.parse().ok()?;
    let collator = Collator::try_new(CollatorPreferences::from(&locale), CollatorOptions::default()).ok()?;
    Some(move |a: &str, b: &str| collator.compare(a, b).then_with(|| a.cmp(b)))
}

#[cfg(test)]
mod tests {
    use rowferry_dialect::collation::{Collation, Order};

    use super::*;

    fn sorted(locale: &str, words: &str) -> String {
        let compare = of_locale(locale).unwrap_or_else(|| panic!("{locale} is no locale"));
        let mut words: Vec<&str> = words.split(' ').collect();
        words.sort_by(|a, b| compare(a, b));
        words.join(" ")
    }

    #[test]
    fn every_locale_has_an_order() {
        for collation in Collation::all() {
            let Order::Unicode(locale) = &collation.order else { continue };
            let compare = of_locale(locale).unwrap_or_else(|| panic!("{locale} has none"));
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
    fn another_version_is_another_order() {
        assert!(named(&format!("{UNICODE_VERSION} de")).is_some());
        assert!(named("0.1 de").is_none() && named("de").is_none());
        assert!(named(&format!("{UNICODE_VERSION} no locale!")).is_none());
        let lock = include_str!("../../../../Cargo.lock");
        let data = format!("name = \"icu_collator_data\"\nversion = \"{UNICODE_VERSION}\"");
        assert!(lock.contains(&data), "the orders are of another version than their names say");
    }
}
